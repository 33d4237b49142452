//! Through singular positions: accelerations beside and on them, and whole runs.

use sarrus::prelude::*;
use sarrus::solve::integrators::{self, Because, Observer, Proceed, Samples, integrate};
use sarrus::solve::{
    Crossing, Dynamics, Ode, Options, Problem, Regularize, SingularityRecord, State, StepControl, StepError,
    StepInfo, StepMode,
};
use sarrus::solve::{formulations, stabilizations};
use sarrus::system::Mechanism;
use std::sync::Arc;

fn load(text: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    let set = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

/// Time at which the second arm of the robot is folded back [s].
const FOLDED: f64 = 0.4203125096583034;

/// Angles, rates and accelerations of the robot's joints at `t`, after [Amirouche1991] with its misprints put right.
fn robot_motion(t: f64) -> [[f64; 3]; 2] {
    use sarrus::math::{Jet, Real};
    let x = (Jet::<3>::variable(t) * -1.0 + FOLDED) * 2.0;
    let q2 = (x / 2f64.sqrt()).asin() * 2.0 + std::f64::consts::PI;
    let half = Jet::constant(0.5);
    let q1 = half.atan2(x) - (q2.sin() * 0.5).atan2(q2.cos() * 0.5 + 1.0);
    [[q1.c[0], q1.c[1], 2.0 * q1.c[2]], [q2.c[0], q2.c[1], 2.0 * q2.c[2]]]
}

/// The state of the two arms for joint angles and rates, and, with the accelerations, v̇.
fn robot_state(system: &System, t: f64) -> (State, Vec<f64>) {
    let [[q1, w1, a1], [q2, w2, a2]] = robot_motion(t);
    let (a, b) = (q1, q1 + q2);
    let (wa, wb, aa, ab) = (w1, w1 + w2, a1, a1 + a2);
    let mut s = system.start();
    s.t = t;
    let (ca, sa, cb, sb) = (a.cos(), a.sin(), b.cos(), b.sin());
    s.q = vec![0.5 * ca, 0.5 * sa, a, ca + 0.25 * cb, sa + 0.25 * sb, b];
    s.v = vec![-0.5 * sa * wa, 0.5 * ca * wa, wa, -sa * wa - 0.25 * sb * wb, ca * wa + 0.25 * cb * wb, wb];
    let e = [-sa * aa - ca * wa * wa, ca * aa - sa * wa * wa];
    let l = [-sb * ab - cb * wb * wb, cb * ab - sb * wb * wb];
    let vdot = vec![0.5 * e[0], 0.5 * e[1], aa, e[0] + 0.25 * l[0], e[1] + 0.25 * l[1], ab];
    (s, vdot)
}

/// Torques of shoulder and elbow that make the arms move with v̇ under gravity g: virtual power of M v̇ - f.
fn robot_torques(s: &State, vdot: &[f64], g: f64) -> [f64; 2] {
    let (masses, inertias) = ([2.0, 1.0], [1.0 / 6.0, 1.0 / 48.0]);
    let elbow = [s.q[2].cos(), s.q[2].sin()];
    let about = |p: [f64; 2], body: usize| {
        let k = 3 * body;
        let arm = [s.q[k] - p[0], s.q[k + 1] - p[1]];
        let force = [masses[body] * vdot[k], masses[body] * (vdot[k + 1] + g)];
        arm[0] * force[1] - arm[1] * force[0] + inertias[body] * vdot[k + 2]
    };
    [about([0.0; 2], 0) + about([0.0; 2], 1), about(elbow, 1)]
}

fn dynamics<'a>(m: &'a mut Mechanism, kind: Regularize, steps: StepMode) -> Dynamics<'a, Mechanism> {
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let stabilization = stabilizations::make("projection", &none).unwrap();
    let mut d = Dynamics::new(m, formulation, stabilization).unwrap();
    d.regularize(kind, steps).unwrap();
    d
}

/// Checks every step of a run.
struct Inspect<F>(F);

impl<F: FnMut(&mut Dynamics<'_, Mechanism>, &State)> Observer<Dynamics<'_, Mechanism>> for Inspect<F> {
    fn step(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, _: &StepInfo) -> Proceed {
        (self.0)(ode, s);
        Proceed::Continue
    }
}

/// Describes how a run is made.
#[derive(Clone, Copy)]
struct How {
    kind: Regularize,
    integrator: &'static str,
    /// Step of a method with fixed steps, tolerance of the others.
    size: f64,
}

/// Runs `system` from `s` over the `stops`, each of which ends a step.
fn go(
    system: &Arc<System>,
    s: &mut State,
    how: How,
    stops: &[f64],
    mut check: impl FnMut(&mut Dynamics<'_, Mechanism>, &State),
) -> Result<Vec<SingularityRecord>, StepError> {
    let kind = integrators::find(how.integrator).unwrap();
    let mut method = (kind.new)(&Options::new()).unwrap();
    let step = (!kind.adaptive).then_some(how.size);
    let mut control = StepControl::new(how.size, 1e-2 * how.size, step).unwrap();
    let mut m = system.mechanism();
    m.accept(s);
    let mut d =
        dynamics(&mut m, how.kind, if kind.adaptive { StepMode::Chosen(how.size) } else { StepMode::Fixed });
    for &stop in stops {
        let mut observer = Inspect(&mut check);
        let ended =
            integrate(&mut d, &mut method, &mut control, s, stop, &mut Samples::none(), &mut observer);
        if let Because::Failed(error) = ended.because {
            return Err(error);
        }
    }
    Ok(d.passages().to_vec())
}

/// The assembled start of a model.
fn start(model: &Model, system: &Arc<System>) -> State {
    sarrus::analysis::assemble(model, system, Default::default()).unwrap().state
}

/// The crank's angular acceleration of the equal-length slider-crank on its own branch, of one degree of freedom.
fn crank_acceleration(angle: f64, rate: f64, tilt: f64, m: f64) -> f64 {
    let (s, c) = angle.sin_cos();
    let (crank, rod, slider) = (1.0, m, 0.5);
    // ½ I(θ) θ̇²: crank and slider, and the rod with its centre at (3/2 cos θ, 1/2 sin θ)
    let inertia = crank / 3.0 + rod * (2.25 * s * s + 0.25 * c * c + 1.0 / 12.0) + slider * 4.0 * s * s;
    let slope = rod * 4.0 * s * c + slider * 8.0 * s * c;
    let (gx, gy) = (9.81 * tilt.sin(), -9.81 * tilt.cos());
    let force = gx * (-0.5 * crank - 1.5 * rod - 2.0 * slider) * s + gy * (0.5 * crank + 0.5 * rod) * c;
    (force - 0.5 * slope * rate * rate) / inertia
}

#[test]
fn accelerations_are_exact_on_and_beside_the_fold() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    for d in [0.0, 1e-14, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 2e-2] {
        for d in [d, -d] {
            let (s, vdot) = robot_state(&system, FOLDED + d);
            let mut m = system.mechanism();
            m.accept(&s);
            let mut dynamics = dynamics(&mut m, Regularize::Jets, StepMode::Fixed);
            dynamics.begin_step(2e-2);
            let found = dynamics.evaluate(&s).unwrap().vdot.clone();
            let (ours, exact) = (robot_torques(&s, &found, 9.81), robot_torques(&s, &vdot, 9.81));
            // rounding of the state, and at the far end the Taylor series: 0.07 rad to the eighth, times some tens
            for (a, b) in ours.iter().zip(exact) {
                assert!((a - b).abs() < 2e-11, "{d:e}: {ours:?} {exact:?}");
            }
            let [record] = dynamics.passages() else { panic!("{d:e}: {:?}", dynamics.passages()) };
            assert_eq!((record.crossing, record.losses), (Crossing::Passed, 1), "{d:e}");
            // the instant is found by its tangent: off by the square of the distance
            assert!((record.at - FOLDED).abs() < 1e-13 + d * d, "{d:e}: {}", record.at);
        }
    }
}

/// Largest error of the robot's torques at the ends of steps [N m], with a step that ends at `landing`.
fn robot_error(
    how: How,
    landing: Option<f64>,
    s: State,
    system: &Arc<System>,
) -> (f64, Vec<SingularityRecord>) {
    let mut s = s;
    let mut stops: Vec<f64> = landing.into_iter().collect();
    stops.push(2.0 * FOLDED);
    let mut worst = 0.0_f64;
    let passages = go(system, &mut s, how, &stops, |d, s| {
        let (on, vdot) = robot_state(system, s.t);
        let exact = robot_torques(&on, &vdot, 9.81);
        let found = d.evaluate(s).map_or([f64::INFINITY; 2], |a| robot_torques(s, &a.vdot, 9.81));
        worst = (0..2).fold(worst, |worst, i| worst.max((found[i] - exact[i]).abs()));
    });
    (worst, passages.unwrap_or_default())
}

const LANDINGS: [Option<f64>; 7] =
    [None, Some(0.0), Some(1e-12), Some(1e-9), Some(1e-7), Some(1e-5), Some(1e-4)];

#[test]
fn the_robot_folds_with_smooth_torques_wherever_a_step_ends() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    let start = robot_state(&system, 0.0).0;
    for (integrator, size) in [
        ("rk4", 1e-2),
        ("rk4", 1e-3),
        ("dop853", 1e-6),
        ("dop853", 1e-8),
        ("dop853", 1e-10),
        ("rk45", 1e-7),
        ("abm", 1e-8),
    ] {
        for landing in LANDINGS {
            let how = How { kind: Regularize::Jets, integrator, size };
            let (worst, passages) = robot_error(how, landing.map(|d| FOLDED + d), start.clone(), &system);
            assert!(worst < 1e-6, "{integrator} {size:e} {landing:?}: {worst:e}");
            assert_eq!(passages.len(), 1, "{integrator} {size:e} {landing:?}: {passages:?}");
            assert_eq!(passages[0].residue, None, "{passages:?}");
            assert!(passages[0].gap < 1e-12, "{passages:?}");
        }
    }
}

/// The printed start is rounded to six digits; projection brings it onto the constraints.
#[test]
fn a_rounded_start_folds_as_well() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    let mut s = robot_state(&system, 0.0).0;
    s.q.iter_mut().chain(&mut s.v).for_each(|x| *x = (*x * 1e6).round() / 1e6);
    let mut m = system.mechanism();
    dynamics(&mut m, Regularize::Off, StepMode::Fixed).project(&mut s).unwrap();
    let how = How { kind: Regularize::Jets, integrator: "rk4", size: 1e-3 };
    let (worst, _) = robot_error(how, None, s, &system);
    assert!(worst < 1e-6, "{worst:e}");
}

/// The rows of the paper drop terms that vanish only at the singular position itself: an error of the size of their window. Plain
/// accelerations are good unless a step ends near it.
#[test]
fn the_rows_of_the_paper_are_regular_but_not_exact() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    let start = robot_state(&system, 0.0).0;
    let error = |kind, landing: Option<f64>| {
        robot_error(How { kind, integrator: "rk4", size: 1e-3 }, landing, start.clone(), &system).0
    };
    for landing in [None, Some(FOLDED), Some(FOLDED + 1e-5)] {
        let paper = error(Regularize::Amirouche, landing);
        assert!((1e-4..2e-2).contains(&paper), "{landing:?}: {paper:e}");
        // steps that are longer than the window
        let long = How { kind: Regularize::Amirouche, integrator: "dop853", size: 1e-8 };
        let (paper, passages) = robot_error(long, landing, start.clone(), &system);
        assert!((1e-4..2e-2).contains(&paper), "{landing:?}: {paper:e}");
        assert_eq!(passages.len(), 1, "{landing:?}: {passages:?}");
    }
    let plain = error(Regularize::Off, Some(FOLDED + 1e-5));
    assert!(plain > 1e-2, "{plain:e}");
}

/// Baumgarte's terms carry over to the rows of the next derivative: what is violated in a window decays as outside.
#[test]
fn the_robot_folds_under_baumgarte_too() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    let mut s = robot_state(&system, 0.0).0;
    let mut options = Options::new();
    options.set("alpha", 20.0).set("beta", 20.0);
    let formulation = formulations::make("proximal", &Options::new()).unwrap();
    let mut m = system.mechanism();
    let mut d =
        Dynamics::new(&mut m, formulation, stabilizations::make("baumgarte", &options).unwrap()).unwrap();
    d.regularize(Regularize::Jets, StepMode::Fixed).unwrap();
    let mut method = (integrators::find("rk4").unwrap().new)(&Options::new()).unwrap();
    let mut control = StepControl::new(1e-6, 1e-8, Some(1e-3)).unwrap();
    let mut worst = 0.0_f64;
    for stop in [FOLDED, 2.0 * FOLDED] {
        let mut style = Inspect(|_: &mut Dynamics<'_, Mechanism>, s: &State| {
            let exact = robot_state(&system, s.t).0;
            let off = s.q.iter().zip(&exact.q).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            worst = worst.max(off);
        });
        let ended =
            integrate(&mut d, &mut method, &mut control, &mut s, stop, &mut Samples::none(), &mut style);
        assert_eq!(ended.because, Because::End);
    }
    assert!(worst < 1e-8, "{worst:e}");
    assert_eq!(d.passages().len(), 1);
}

/// Holds what a run of a mechanism of one degree of freedom shows.
#[derive(Debug, Default)]
struct Seen {
    /// Largest error of the acceleration against the reduced equation.
    acceleration: f64,
    /// Largest change of the energy [J].
    drift: f64,
    passages: Vec<SingularityRecord>,
}

/// Runs over `stops`; `error` is that of the acceleration at a state.
fn watch(
    model: &Model,
    system: &Arc<System>,
    how: How,
    stops: &[f64],
    error: impl Fn(&State, &[f64]) -> f64,
) -> Seen {
    let mut s = start(model, system);
    let mut m = system.mechanism();
    let mut energy = |s: &State| m.energy(s).kinetic + m.energy(s).potential;
    let before = energy(&s);
    let mut seen = Seen::default();
    let passages = go(system, &mut s, how, stops, |d, s| {
        let found = d.evaluate(s).map_or(f64::INFINITY, |a| error(s, &a.vdot));
        seen.acceleration = seen.acceleration.max(found);
        seen.drift = seen.drift.max((energy(s) - before).abs());
    });
    seen.passages = passages.unwrap_or_else(|e| panic!("{e}"));
    seen
}

/// Runs with steps that end at or beside every singular position; these are found by short steps, whose run comes last.
fn watch_landings(
    model: &Model,
    system: &Arc<System>,
    how: How,
    t_end: f64,
    error: impl Fn(&State, &[f64]) -> f64,
) -> Vec<Seen> {
    let times = How { kind: Regularize::Jets, integrator: "rk4", size: 1e-3 };
    let first = watch(model, system, times, &[t_end], &error);
    assert!(!first.passages.is_empty());
    let mut all = Vec::new();
    for d in [0.0, 1e-7, 1e-5] {
        let mut stops: Vec<f64> = first.passages.iter().map(|p| p.at + d).collect();
        stops.push(t_end);
        all.push(watch(model, system, how, &stops, &error));
    }
    all.push(first);
    all
}

#[test]
fn the_equal_slider_crank_passes_under_symmetric_and_under_tilted_load() {
    let text = sarrus_zoo::model("slider_crank_equal").unwrap();
    for (tilt, m) in [(0.0_f64, 1.0_f64), (25f64.to_radians(), 3.0)] {
        let (model, system) = load(text, &[("tilt", &format!("{tilt} rad")), ("m", &m.to_string())]);
        for (integrator, size) in [("rk4", 1e-3), ("dop853", 1e-8)] {
            let how = How { kind: Regularize::Jets, integrator, size };
            let error = |s: &State, vdot: &[f64]| {
                let off_branch = (s.q[2] + s.q[5]).sin().abs();
                (vdot[2] - crank_acceleration(s.q[2], s.v[2], tilt, m)).abs() + off_branch
            };
            for seen in watch_landings(&model, &system, how, 2.0, error) {
                let what = format!("tilt {tilt} {integrator}: {seen:?}");
                // rounding, magnified twice by the inverse of the angle of the window
                assert!(seen.acceleration < 1e-8 && seen.drift < 1e-6, "{what}");
                assert!(!seen.passages.is_empty(), "{what}");
                for p in &seen.passages {
                    assert_eq!((p.crossing, p.losses), (Crossing::Passed, 1), "{what}");
                    // only a load across the branches makes the force in the rod grow without bound
                    assert_eq!(p.residue.is_some(), tilt > 0.0, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_second_freedom_passes_too() {
    let (model, system) = load(sarrus_zoo::model("slider_crank_equal").unwrap(), &[("pendulum", "true")]);
    let drifts: Vec<f64> = [("rk4", 1e-3), ("dop853", 1e-9)]
        .into_iter()
        .flat_map(|(integrator, size)| {
            let how = How { kind: Regularize::Jets, integrator, size };
            // crank and rod stay mirror images whatever the pendulum does
            let error = |s: &State, vdot: &[f64]| (vdot[2] + vdot[5]).abs() + (s.q[2] + s.q[5]).sin().abs();
            watch_landings(&model, &system, how, 1.5, error)
        })
        .map(|seen| {
            assert!(seen.acceleration < 1e-6 && !seen.passages.is_empty(), "{seen:?}");
            seen.drift
        })
        .collect();
    assert!(drifts.iter().all(|d| *d < 1e-6), "{drifts:?}");
}

/// θ'' = -k cos θ of the row of n parallelograms.
fn row_constant(n: usize) -> f64 {
    let n = n as f64;
    ((n + 1.0) / 2.0 + n) / ((n + 1.0) / 3.0 + n) * 9.81
}

#[test]
fn rows_of_parallelograms_pass_in_line_wherever_a_step_ends() {
    for n in [1, 2, 10] {
        let (model, system) = load(sarrus_zoo::model("n_four_bar").unwrap(), &[("n", &n.to_string())]);
        let k = row_constant(n);
        for (integrator, size) in [("rk4", 1e-2), ("dop853", 1e-8)] {
            let how = How { kind: Regularize::Jets, integrator, size };
            let error = |s: &State, vdot: &[f64]| (vdot[2] + k * s.q[2].cos()).abs();
            for seen in watch_landings(&model, &system, how, 1.5, error) {
                let what = format!("n = {n} {integrator}: {seen:?}");
                assert!(seen.acceleration < 1e-6 && seen.drift < 1e-4, "{what}");
                assert!(!seen.passages.is_empty() && seen.passages.iter().all(|p| p.losses == n), "{what}");
            }
        }
    }
}

/// Redundant and singular at once: three rows of each loop say nothing new, and a fourth becomes dependent.
#[test]
fn parallelograms_on_hinges_in_space_pass_in_line() {
    // the last one by the sparse factors
    for n in [1, 2, 5] {
        let (model, system) =
            load(sarrus_zoo::model("n_four_bar_spatial").unwrap(), &[("n", &n.to_string())]);
        let k = row_constant(n);
        for (integrator, size) in [("rk4", 1e-2), ("dop853", 1e-8)] {
            let how = How { kind: Regularize::Jets, integrator, size };
            let error = |s: &State, vdot: &[f64]| (vdot[5] + k * 2.0 * s.q[0]).abs();
            for seen in watch_landings(&model, &system, how, 1.0, error) {
                let what = format!("n = {n} {integrator}: {seen:?}");
                assert!(seen.acceleration < 1e-6 && seen.drift < 1e-4, "{what}");
                assert!(!seen.passages.is_empty() && seen.passages.iter().all(|p| p.losses == n), "{what}");
            }
        }
    }
}

/// A rod longer or shorter than the crank by parts of 10⁻⁸ and more: the branches do not cross, and the mechanism swings over or turns
/// back within no time. Against steps a hundred times as accurate, without windows.
#[test]
fn near_misses_take_the_right_branch() {
    let text = sarrus_zoo::model("slider_crank_equal").unwrap();
    for gap in [1e-8_f64, -1e-8, 1e-6, -1e-6, 1e-4, -1e-4, 1e-3, -1e-3] {
        let (model, system) = load(text, &[("gap", &gap.to_string())]);
        let run = |kind, integrator, size| {
            let mut s = start(&model, &system);
            let passages = go(&system, &mut s, How { kind, integrator, size }, &[0.5], |_, _| {});
            (s, passages.unwrap_or_else(|e| panic!("gap {gap:e} {integrator} {size:e}: {e}")))
        };
        let (reference, _) = run(Regularize::Off, "dop853", 1e-11);
        for (integrator, size, tolerance) in
            [("rk4", 1e-2, 1e-3), ("rk4", 1e-3, 1e-4), ("dop853", 1e-8, 1e-6)]
        {
            let (s, passages) = run(Regularize::Jets, integrator, size);
            let error = s.q.iter().zip(&reference.q).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            let what = format!("gap {gap:e} {integrator} {size:e}: {error:e} {passages:?}");
            assert!(error < tolerance, "{what}");
            assert!(passages.iter().all(|p| p.crossing != Crossing::Passed), "{what}");
            // half of it, times the length of the crank, is what the rows leave
            if gap.abs() < 1e-5 {
                assert!((passages[0].gap - 0.5 * gap.abs()).abs() < 0.01 * gap.abs(), "{what}");
            }
        }
    }
}

/// A gap below what counts is passed as a crossing.
#[test]
fn a_gap_of_rounding_is_none() {
    let (model, system) = load(sarrus_zoo::model("slider_crank_equal").unwrap(), &[("gap", "1e-12")]);
    let mut s = start(&model, &system);
    let how = How { kind: Regularize::Jets, integrator: "rk4", size: 1e-3 };
    let passages = go(&system, &mut s, how, &[0.5], |_, _| {}).unwrap();
    assert_eq!(passages.iter().map(|p| p.crossing).collect::<Vec<_>>(), [Crossing::Passed]);
}

/// The tip led out of reach: straight arms are the end, at x = √2.
#[test]
fn an_arm_led_out_of_reach_comes_to_an_end() {
    let (model, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("v", "-2")]);
    let x0 = 2.0 * FOLDED;
    let reach = (2f64.sqrt() - x0) / 2.0;
    for (integrator, step) in [("rk4", Some(1e-2)), ("rk4", Some(1e-3)), ("dop853", None)] {
        let choice = sarrus::model::settings::MethodChoice { kind: integrator.into(), ..Default::default() };
        let overrides =
            RunOverrides { integrator: Some(choice), step, t_end: Some(0.4), ..RunOverrides::default() };
        let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
        let report = run.report;
        assert_eq!(report.status, Status::Failed, "{integrator} {step:?}");
        assert!((report.failure.unwrap().t - reach).abs() < 1e-6, "{}", report.reason);
        assert!(report.reason.contains("end of its range"), "{}", report.reason);
        let last = report.singular.last().unwrap();
        assert_eq!(last.outcome, "end_of_range", "{integrator}: {last:?}");
    }
}

/// Where a slider-crank turns back nothing loses rank.
#[test]
fn ordinary_dead_points_are_not_flagged() {
    for (r, l) in [("0.1 m", "0.2 m"), ("0.1 m", "0.15 m")] {
        let (model, system) = load(sarrus_zoo::model("slider_crank").unwrap(), &[("r", r), ("l", l)]);
        for (integrator, size) in [("rk4", 1e-2), ("dop853", 1e-6)] {
            let mut s = start(&model, &system);
            let how = How { kind: Regularize::Jets, integrator, size };
            let passages = go(&system, &mut s, how, &[2.0], |_, _| {}).unwrap();
            assert!(passages.is_empty(), "{r} {l} {integrator}: {passages:?}");
        }
    }
}

/// What a run shows of its singular positions: in the report, among the events, with names.
#[test]
fn a_report_names_what_was_passed() {
    let (model, system) = load(sarrus_zoo::model("slider_crank_equal").unwrap(), &[]);
    let overrides = RunOverrides { t_end: Some(1.0), ..RunOverrides::default() };
    let report = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap().report;
    assert_eq!(report.method.regularize, "jets");
    let first = &report.singular[0];
    assert_eq!((first.outcome, first.rank_losses, first.reactions), ("passed", 1, "unbounded"));
    assert!(first.enter < first.t && first.t < first.leave, "{first:?}");
    let mut names = first.elements.clone();
    names.sort();
    assert_eq!(names, ["joint `A`", "joint `B`", "joint `O`", "joint `guide`"]);
    let marker = &report.events[0];
    assert_eq!((marker.name.as_str(), marker.t), ("singular position", first.t));
    assert!(report.certificate.passed, "{:?}", report.certificate);

    // and nothing where it is not asked for
    let off = sarrus::model::settings::Regularization::Off;
    let overrides = RunOverrides { t_end: Some(1.0), regularize: Some(off), ..RunOverrides::default() };
    let report = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap().report;
    assert_eq!((report.method.regularize, report.singular.len()), ("false", 0));
}

/// Looking for singular positions costs little where none is near: next to nothing is decomposed after the first step, where nothing is
/// known yet.
#[test]
fn ordinary_mechanisms_are_hardly_looked_at() {
    for name in [
        "four_bar",
        "bennett",
        "four_bar_spatial",
        "mcpherson_overconstrained",
        "strandbeest",
        "rolling_disc",
    ] {
        let (model, system) = load(sarrus_zoo::model(name).unwrap(), &[]);
        let mut s = start(&model, &system);
        let mut m = system.mechanism();
        m.accept(&s);
        let mut d = dynamics(&mut m, Regularize::Jets, StepMode::Fixed);
        let mut method = (integrators::find("rk4").unwrap().new)(&Options::new()).unwrap();
        let mut control = StepControl::new(1e-6, 1e-8, Some(1e-3)).unwrap();
        integrate(&mut d, &mut method, &mut control, &mut s, 0.5, &mut Samples::none(), &mut ());
        assert!(
            10 * d.checks() <= d.counts().rhs && d.passages().is_empty(),
            "{name}: {} of {}",
            d.checks(),
            d.counts().rhs
        );
    }
}

/// Forty loops at once, by the sparse factors: a step that ends in line.
#[test]
fn forty_parallelograms_pass_in_line() {
    let (model, system) = load(sarrus_zoo::model("n_four_bar").unwrap(), &[("n", "40")]);
    let k = row_constant(40);
    // from rest in the reduced equation, to the first position in line
    let how = How { kind: Regularize::Jets, integrator: "rk4", size: 1e-2 };
    let error = |s: &State, vdot: &[f64]| (vdot[2] + k * s.q[2].cos()).abs();
    let line = 0.7215838427768;
    for landing in [line, line + 1e-7] {
        let seen = watch(&model, &system, how, &[landing, 0.76], error);
        assert!(seen.acceleration < 1e-6 && seen.drift < 2e-4, "{seen:?}");
        assert_eq!(seen.passages.iter().map(|p| p.losses).collect::<Vec<_>>(), [40], "{seen:?}");
    }
}

/// Parallelograms of unequal masses under tilted gravity: the load across the branches does not vanish in line. The reduced equation
/// is (Σ mᵢ/3 + Σ m) θ'' = (Σ mᵢ/2 + Σ m) (g × direction).
#[test]
fn unequal_parallelograms_pass_under_tilted_load() {
    let text = sarrus_zoo::model("n_four_bar")
        .unwrap()
        .replace("to = [\"i\", 1], mass = 1.0", "to = [\"i\", 1], mass = \"1 + 0.7*i\"")
        .replace("to = [\"i\", 1], mass = 1.0 }", "to = [\"i\", 1], mass = 0.4 }")
        .replace("space = \"planar\"", "space = \"planar\"\ngravity = [4, -9]");
    let (model, system) = load(&text, &[]);
    // links of 1, 1.7 and 2.4 kg; the two couplers have what the file gives them
    let couplers: f64 =
        system.directory.bodies.iter().filter(|b| b.name.starts_with("bar")).map(|b| b.mass).sum();
    let (inertia, weight) = (5.1 / 3.0 + couplers, 5.1 / 2.0 + couplers);
    for (integrator, size) in [("rk4", 1e-2), ("dop853", 1e-8)] {
        let how = How { kind: Regularize::Jets, integrator, size };
        let error = |s: &State, vdot: &[f64]| {
            let (sin, cos) = s.q[2].sin_cos();
            (vdot[2] - weight / inertia * (-9.0 * cos - 4.0 * sin)).abs()
        };
        for seen in watch_landings(&model, &system, how, 1.5, error) {
            let what = format!("{integrator}: {seen:?}");
            assert!(seen.acceleration < 1e-6 && seen.drift < 1e-4, "{what}");
            assert!(seen.passages.iter().all(|p| p.losses == 2 && p.residue.is_some()), "{what}");
        }
    }
}

/// Beside a singular position both ways to the reactions must agree, within the rounding that the plain one magnifies.
#[test]
fn reactions_in_a_window_are_those_outside_it() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    for d in [-1e-2, -3e-3, 5e-3, 1.5e-2] {
        let (s, _) = robot_state(&system, FOLDED + d);
        let lambda = |kind| {
            let mut m = system.mechanism();
            m.accept(&s);
            let mut dynamics = dynamics(&mut m, kind, StepMode::Fixed);
            dynamics.begin_step(2e-2);
            dynamics.evaluate(&s).unwrap().lambda.clone()
        };
        for (inside, outside) in lambda(Regularize::Jets).iter().zip(lambda(Regularize::Off)) {
            assert!((inside - outside).abs() < 1e-8, "{d:e}: {inside} {outside}");
        }
    }
}

/// (t - t*) λ of the plain equations, on both sides at some distance, against the residue that the crossing tells.
#[test]
fn the_residue_is_that_of_the_reactions_nearby() {
    let (model, system) = load(sarrus_zoo::model("slider_crank_equal").unwrap(), &[]);
    let how = How { kind: Regularize::Jets, integrator: "rk4", size: 1e-3 };
    let first = watch(&model, &system, how, &[0.6], |_, _| 0.0).passages[0].clone();
    let (residue, row) = first.residue.unwrap();
    let mut products = Vec::new();
    let mut s = start(&model, &system);
    go(&system, &mut s, how, &[0.6], |_, s| {
        let x = s.t - first.at;
        if (0.005..0.011).contains(&x.abs()) {
            let mut m = system.mechanism();
            m.accept(s);
            let lambda = dynamics(&mut m, Regularize::Off, StepMode::Fixed).evaluate(s).unwrap().lambda[row];
            products.push((x, x * lambda));
        }
    })
    .unwrap();
    // the intercept of a line through both sides leaves what is quadratic in 0.04 rad
    let n = products.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| products.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let slope = (mean(&|p| p.0 * p.1) - x * y) / (mean(&|p| p.0 * p.0) - x * x);
    let intercept = (y - slope * x).abs();
    assert!(n > 10.0 && (intercept - residue).abs() < 0.01 * residue, "{intercept} {residue}");
}

/// The work of drivers is booked through the singular position, where a step ends; under gravity along x their multipliers have a pole
/// there.
#[test]
fn the_robot_keeps_its_books_through_the_fold() {
    let text = sarrus_zoo::model("two_arm_robot").unwrap();
    for gravity in ["[0, \"-g\"]", "[\"-g\", 0]"] {
        let text = text.replace("[0, \"-g\"]", gravity);
        let (model, system) = load(&text, &[("g", "9.81")]);
        for step in [FOLDED / 42.0, FOLDED / 42.0 + 1e-8, 1e-2] {
            let overrides = RunOverrides { step: Some(step), ..RunOverrides::default() };
            let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
            let what = format!("{gravity} {step}: {:?} {:?}", run.report.certificate, run.report.singular);
            assert!(run.report.certificate.passed, "{what}");
            let [singular] = &run.report.singular[..] else { panic!("{what}") };
            let bounded = gravity.starts_with("[0");
            assert_eq!(singular.reactions, if bounded { "bounded" } else { "unbounded" }, "{what}");
            for column in ["shoulder.fx", "shoulder.fy", "elbow.fx", "elbow.fy"] {
                let most = run.trajectory.column(column).unwrap().fold(0.0_f64, |m, x| m.max(x.abs()));
                assert!(!bounded || most < 200.0, "{what}: {column} reaches {most}");
            }
        }
    }
}

/// On the singular position itself bounded reactions are their limit from both sides.
#[test]
fn reactions_on_the_fold_are_interpolated() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    let lambda = |d: f64| {
        let (s, _) = robot_state(&system, FOLDED + d);
        let mut m = system.mechanism();
        m.accept(&s);
        let mut dynamics = dynamics(&mut m, Regularize::Jets, StepMode::Fixed);
        dynamics.begin_step(1e-2);
        dynamics.evaluate(&s).unwrap().lambda.clone()
    };
    let (before, on, after) = (lambda(-2e-3), lambda(0.0), lambda(2e-3));
    for i in 0..on.len() {
        let limit = 0.5 * (before[i] + after[i]);
        // the states around are made by two terms of a series over 0.05 rad
        assert!((on[i] - limit).abs() < 1e-3 * (1.0 + limit.abs()), "row {i}: {} {limit}", on[i]);
    }
}
