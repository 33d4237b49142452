//! Through singular positions: accelerations beside and on them, and whole runs.

use sarrus::prelude::*;
use sarrus::solve::integrators::{self, Because, Flow, Observer, Samples, integrate};
use sarrus::solve::{
    Control, Dynamics, Ode, Options, PassageRecord, Problem, Regularize, State, StepError, StepInfo, Steps,
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
    let vdot =
        vec![0.5 * e[0], 0.5 * e[1], aa, e[0] + 0.25 * l[0], e[1] + 0.25 * l[1], ab];
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

fn dynamics<'a>(m: &'a mut Mechanism, kind: Regularize, steps: Steps) -> Dynamics<'a, Mechanism> {
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let stabilization = stabilizations::make("projection", &none).unwrap();
    let mut d = Dynamics::new(m, formulation, stabilization).unwrap();
    d.regularize(kind, steps).unwrap();
    d
}

#[test]
fn accelerations_are_exact_on_and_beside_the_fold() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    for d in [0.0, 1e-14, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 2e-2] {
        for d in [d, -d] {
            let t = FOLDED + d;
            let (s, vdot) = robot_state(&system, t);
            let mut m = system.mechanism();
            m.accept(&s);
            let mut dynamics = dynamics(&mut m, Regularize::Jets, Steps::Fixed);
            dynamics.begin_step(2e-2);
            let found = dynamics.evaluate(&s).unwrap().vdot.clone();
            let (a, b) = (robot_torques(&s, &found, 9.81), robot_torques(&s, &vdot, 9.81));
            println!("{d:8.1e}: {a:?} {b:?} {:.1e} {:.1e} {:?}", (a[0] - b[0]).abs(), (a[1] - b[1]).abs(), dynamics.passages());
        }
    }
}

/// Looks at every step of a run.
struct Look<F>(F);

impl<F: FnMut(&mut Dynamics<'_, Mechanism>, &State)> Observer<Dynamics<'_, Mechanism>> for Look<F> {
    fn step(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, _: &StepInfo) -> Flow {
        (self.0)(ode, s);
        Flow::Continue
    }
}

/// How a run is made.
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
    mut look: impl FnMut(&mut Dynamics<'_, Mechanism>, &State),
) -> Result<Vec<PassageRecord>, StepError> {
    let kind = integrators::find(how.integrator).unwrap();
    let mut method = (kind.new)(&Options::new()).unwrap();
    let step = (!kind.adaptive).then_some(how.size);
    let mut control = Control::new(how.size, 1e-2 * how.size, step).unwrap();
    let mut m = system.mechanism();
    m.accept(s);
    let mut d = dynamics(&mut m, how.kind, if kind.adaptive { Steps::Chosen } else { Steps::Fixed });
    for &stop in stops {
        let mut observer = Look(&mut look);
        let ended = integrate(&mut d, &mut method, &mut control, s, stop, &mut Samples::none(), &mut observer);
        if let Because::Failed(error) = ended.because {
            return Err(error);
        }
    }
    Ok(d.passages().to_vec())
}

#[test]
fn scratch_robot() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("g", "9.81")]);
    let run = |kind, integrator, size, landing: Option<f64>| {
        let mut s = robot_state(&system, 0.0).0;
        let mut stops: Vec<f64> = landing.into_iter().collect();
        stops.push(2.0 * FOLDED);
        let mut worst = 0.0_f64;
        let mut steps = 0;
        let done = go(&system, &mut s, How { kind, integrator, size }, &stops, |d, s| {
            steps += 1;
            let (on, vdot) = robot_state(&system, s.t);
            let exact = robot_torques(&on, &vdot, 9.81);
            let found = match d.evaluate(s) {
                Ok(a) => robot_torques(s, &a.vdot.clone(), 9.81),
                Err(_) => [f64::NAN; 2],
            };
            for i in 0..2 {
                worst = worst.max((found[i] - exact[i]).abs());
                if found[i].is_nan() { worst = f64::INFINITY; }
            }
        });
        (worst, steps, done)
    };
    for (integrator, size) in [("rk4", 1e-2), ("rk4", 1e-3), ("dop853", 1e-6), ("dop853", 1e-8), ("dop853", 1e-10)] {
        for landing in [None, Some(0.0), Some(1e-12), Some(1e-9), Some(1e-7), Some(1e-5), Some(1e-4)] {
            print!("{integrator} {size:.0e} {landing:?}:");
            for kind in [Regularize::Jets, Regularize::Amirouche, Regularize::Off] {
                let (worst, steps, done) = run(kind, integrator, size, landing.map(|d| FOLDED + d));
                print!("  {kind:?} {worst:.1e} ({steps}{})", match &done { Ok(p) => format!(", {} at {:?} gap {:?}", p.len(), p.first().map(|p| p.at - FOLDED), p.first().map(|p| p.gap)), Err(e) => format!(", {e}") });
            }
            println!();
        }
    }
}

/// The assembled start of a model.
fn start(model: &Model, system: &Arc<System>) -> State {
    sarrus::analysis::assemble(model, system, Default::default()).unwrap().state
}

/// The crank's angular acceleration of the equal-length slider-crank on its own branch, of one freedom.
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
fn scratch_slider() {
    let text = sarrus_zoo::model("slider_crank_equal").unwrap();
    for (tilt, m) in [(0.0, 1.0), (25f64.to_radians(), 3.0)] {
        let (model, system) = load(text, &[("tilt", &tilt.to_string()), ("m", &m.to_string())]);
        for (integrator, size) in [("rk4", 1e-2), ("rk4", 1e-3), ("dop853", 1e-6), ("dop853", 1e-8), ("dop853", 1e-10)] {
            let run = |kind, stops: &[f64]| {
                let mut s = start(&model, &system);
                let (mut worst, mut branch, mut steps) = (0.0_f64, 0.0_f64, 0);
                let mut mm = system.mechanism();
                let e0 = mm.energy(&s);
                let mut drift = 0.0_f64;
                let begun = std::time::Instant::now();
                let done = go(&system, &mut s, How { kind, integrator, size }, stops, |d, s| {
                    steps += 1;
                    let exact = crank_acceleration(s.q[2], s.v[2], tilt, m);
                    let found = d.evaluate(s).map_or(f64::INFINITY, |a| a.vdot[2]);
                    worst = worst.max((found - exact).abs());
                    branch = branch.max((s.q[2] + s.q[5]).sin().abs());
                    let e = mm.energy(s);
                    drift = drift.max((e.kinetic + e.potential - e0.kinetic - e0.potential).abs());
                });
                println!("{tilt:.2} {integrator} {size:.0e} {kind:?} a {worst:.1e} branch {branch:.1e} energy {drift:.1e} steps {steps} {:.2} s {}", begun.elapsed().as_secs_f64(), match &done { Ok(p) => format!("{} gaps {:.1e}", p.len(), p.iter().fold(0.0_f64, |m, p| m.max(p.gap))), Err(e) => format!("{e}") });
                done.unwrap_or_default()
            };
            let found = run(Regularize::Jets, &[4.0]);
            run(Regularize::Off, &[4.0]);
            for d in [0.0, 1e-7, 1e-5] {
                let mut stops: Vec<f64> = found.iter().map(|p| p.at + d).collect();
                stops.push(4.0);
                println!("  landing {d:.0e}");
                run(Regularize::Jets, &stops);
                run(Regularize::Off, &stops);
            }
        }
    }
}

#[test]
fn scratch_row() {
    let text = sarrus_zoo::model("n_four_bar").unwrap();
    for n in [1, 2, 10] {
        let (model, system) = load(text, &[("n", &n.to_string())]);
        let (n1, n) = (n as f64 + 1.0, n as f64);
        let k = (n1 / 2.0 + n) / (n1 / 3.0 + n) * 9.81;
        for (integrator, size) in [("rk4", 1e-2), ("dop853", 1e-8)] {
            let run = |kind, stops: &[f64]| {
                let mut s = start(&model, &system);
                let (mut worst, mut branch, mut steps) = (0.0_f64, 0.0_f64, 0);
                let mut mm = system.mechanism();
                let e0 = mm.energy(&s);
                let mut drift = 0.0_f64;
                let begun = std::time::Instant::now();
                let done = go(&system, &mut s, How { kind, integrator, size }, stops, |d, s| {
                    steps += 1;
                    let exact = -k * s.q[2].cos();
                    let found = d.evaluate(s).map_or(f64::INFINITY, |a| a.vdot[2]);
                    worst = worst.max((found - exact).abs());
                    let bar = system.directory.bodies.iter().find(|b| b.name == "bar1").unwrap().q;
                    branch = branch.max(s.q[bar + 2].abs());
                    let e = mm.energy(s);
                    drift = drift.max((e.kinetic + e.potential - e0.kinetic - e0.potential).abs());
                });
                println!("{n} {integrator} {size:.0e} {kind:?} a {worst:.1e} branch {branch:.1e} energy {drift:.1e} steps {steps} {:.2} s {}", begun.elapsed().as_secs_f64(), match &done { Ok(p) => format!("{} gaps {:.1e} losses {:?}", p.len(), p.iter().fold(0.0_f64, |m, p| m.max(p.gap)), p.iter().map(|p| p.losses).collect::<Vec<_>>()), Err(e) => format!("{e}") });
                done.unwrap_or_default()
            };
            let found = run(Regularize::Jets, &[3.0]);
            if std::env::var_os("PASS").is_some() { continue; }
            run(Regularize::Off, &[3.0]);
            for d in [0.0, 1e-7, 1e-5] {
                let mut stops: Vec<f64> = found.iter().map(|p| p.at + d).collect();
                stops.push(3.0);
                println!("  landing {d:.0e}");
                run(Regularize::Jets, &stops);
                run(Regularize::Off, &stops);
            }
        }
    }
}

#[test]
fn scratch_miss() {
    let text = sarrus_zoo::model("slider_crank_equal").unwrap();
    for gap in [1e-12, 1e-8, -1e-8, 1e-6, -1e-6, 1e-4, -1e-4, 1e-3, -1e-3] {
        let (model, system) = load(text, &[("gap", &gap.to_string())]);
        let run = |how: How, t: f64| {
            let mut s = start(&model, &system);
            let mut mm = system.mechanism();
            let e0 = mm.energy(&s);
            let (mut drift, mut steps) = (0.0_f64, 0);
            let done = go(&system, &mut s, how, &[t], |_, s| {
                steps += 1;
                let e = mm.energy(s);
                drift = drift.max((e.kinetic + e.potential - e0.kinetic - e0.potential).abs());
            });
            (s, drift, steps, done)
        };
        let t = 0.5;
        let (reference, drift, steps, done) = run(How { kind: Regularize::Off, integrator: "dop853", size: 1e-11 }, t);
        println!("gap {gap:.0e}: reference drift {drift:.1e} steps {steps} {:?} {:?}", done.is_ok(), &reference.q[..3]);
        for (integrator, size) in [("rk4", 1e-2), ("rk4", 1e-3), ("dop853", 1e-6), ("dop853", 1e-9)] {
            for kind in [Regularize::Jets, Regularize::Off] {
                let (s, drift, steps, done) = run(How { kind, integrator, size }, t);
                let error = s.q.iter().zip(&reference.q).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
                println!("   {integrator} {size:.0e} {kind:?} error {error:.1e} drift {drift:.1e} steps {steps} {}", match &done { Ok(p) => format!("{:?}", p.iter().map(|p| (p.crossing, p.gap, p.at)).collect::<Vec<_>>()), Err(e) => format!("{e}") });
            }
        }
    }
}

#[test]
fn scratch_stop() {
    let (_, system) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("v", "-2")]);
    for (integrator, size) in [("rk4", 1e-2), ("rk4", 1e-3), ("dop853", 1e-6), ("dop853", 1e-9)] {
        for kind in [Regularize::Jets, Regularize::Off] {
            let (model, _) = load(sarrus_zoo::model("two_arm_robot").unwrap(), &[("v", "-2"), ("x0", "0.5 + sqrt(0.25 - (sin(60 deg) - 0.5)^2)")]);
            let mut s = start(&model, &system);
            let mut last = 0.0;
            let done = go(&system, &mut s, How { kind, integrator, size }, &[0.6], |_, s| last = s.t);
            println!("stop: {integrator} {size:.0e} {kind:?} {last} {}", match &done { Ok(p) => format!("{:?} {:?}", s.q, p), Err(e) => format!("{e}") });
        }
    }
}

#[test]
fn scratch_space() {
    let text = sarrus_zoo::model("n_four_bar_spatial").unwrap();
    for n in [1, 2, 3] {
        let (model, system) = load(text, &[("n", &n.to_string())]);
        let (n1, n) = (n as f64 + 1.0, n as f64);
        let k = (n1 / 2.0 + n) / (n1 / 3.0 + n) * 9.81;
        for (integrator, size) in [("rk4", 1e-2), ("dop853", 1e-8)] {
            let run = |kind, stops: &[f64]| {
                let mut s = start(&model, &system);
                let (mut worst, mut steps) = (0.0_f64, 0);
                let mut mm = system.mechanism();
                let e0 = mm.energy(&s);
                let mut drift = 0.0_f64;
                let begun = std::time::Instant::now();
                let done = go(&system, &mut s, How { kind, integrator, size }, stops, |d, s| {
                    steps += 1;
                    let exact = -k * 2.0 * s.q[0];
                    let found = d.evaluate(s).map_or(f64::INFINITY, |a| a.vdot[5]);
                    worst = worst.max((found - exact).abs());
                    let e = mm.energy(s);
                    drift = drift.max((e.kinetic + e.potential - e0.kinetic - e0.potential).abs());
                });
                println!("space {n} {integrator} {size:.0e} {kind:?} a {worst:.1e} energy {drift:.1e} steps {steps} {:.2} s {}", begun.elapsed().as_secs_f64(), match &done { Ok(p) => format!("{} gaps {:.1e} losses {:?}", p.len(), p.iter().fold(0.0_f64, |m, p| m.max(p.gap)), p.iter().map(|p| p.losses).collect::<Vec<_>>()), Err(e) => format!("{e}") });
                done.unwrap_or_default()
            };
            let found = run(Regularize::Jets, &[3.0]);
            run(Regularize::Off, &[3.0]);
            for d in [0.0, 1e-7] {
                let mut stops: Vec<f64> = found.iter().map(|p| p.at + d).collect();
                stops.push(3.0);
                println!("  landing {d:.0e}");
                run(Regularize::Jets, &stops);
                run(Regularize::Off, &stops);
            }
        }
    }
}
