//! Small motions, rest, and prescribed motion, against closed forms and against runs.

use sarrus::analysis::{Linearization, ModeKind, ModesReport, OperatingPoint, SetupError};
use sarrus::analysis::{equilibrium, linearize, modes, prescribed};
use sarrus::prelude::*;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

const G: f64 = 9.81;

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn about(text: &str, about: OperatingPoint) -> ModesReport {
    let (model, system) = load(text);
    modes(&model, &system, about).unwrap()
}

fn frequencies(report: &ModesReport) -> Vec<f64> {
    report.modes.iter().filter_map(|m| m.frequency).map(|f| TAU * f).collect()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} instead of {expected}");
}

/// A rod of length 1 hung at its end, displaced by `angle` from hanging.
fn pendulum(angle: f64, more: &str) -> String {
    format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 1.0\n\
         points.P = \"polar(1, -90 deg + {angle})\"\n\
         bodies.rod = {{ from = [0, 0], to = \"P\", mass = 2.0 }}\n\
         joints.O = {{ kind = \"revolute\", bodies = [\"ground\", \"rod\"], at = [0, 0]{more} }}\n"
    )
}

#[test]
fn a_pendulum_swings_with_its_frequency_and_stands_on_its_head_with_its_rate() {
    // I about the pivot is m l²/3
    let omega = (1.5 * G).sqrt();
    let hanging = about(&pendulum(0.0, ""), OperatingPoint::Start);
    assert!(hanging.equilibrium && hanging.stable == Some(true), "{hanging:?}");
    assert_eq!(hanging.modes.len(), 1);
    close(frequencies(&hanging)[0], omega, 1e-14);
    assert_eq!(hanging.modes[0].bodies[0].share, 1.0);

    let upright = about(&pendulum(std::f64::consts::PI, ""), OperatingPoint::Start);
    assert!(upright.equilibrium && upright.stable == Some(false), "{upright:?}");
    let kinds: Vec<ModeKind> = upright.modes.iter().map(|m| m.kind).collect();
    assert!(kinds.contains(&ModeKind::Growth) && kinds.contains(&ModeKind::Decay), "{kinds:?}");
    close(upright.modes[0].eigenvalue[0].abs(), omega, 1e-14);
}

/// I ω̈ + c ω̇ + m g l/2 = 0: s = -c/2I ± i √(ω² - (c/2I)²).
#[test]
fn damping_turns_frequencies_into_decaying_ones() {
    let (c, inertia) = (0.4, 2.0 / 3.0);
    let report = about(&pendulum(0.0, ", damping = 0.4"), OperatingPoint::Start);
    let (omega, sigma) = ((1.5 * G).sqrt(), c / (2.0 * inertia));
    let [re, im] = report.modes[0].eigenvalue;
    close(re, -sigma, 1e-12);
    close(im, (omega * omega - sigma * sigma).sqrt(), 1e-12);
    close(report.modes[0].damping_ratio.unwrap(), sigma / omega, 1e-12);
    assert_eq!(report.stable, Some(true));
}

/// Two cranks of length l and a coupler that stays level: (2 m l²/3 + M l²) θ̈ + (m + M) g l θ = 0.
#[test]
fn a_hanging_parallelogram_has_the_frequency_of_its_cranks_and_coupler() {
    let (m, coupler, l) = (1.5, 3.0, 0.4);
    let text = format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 1.0\n\
         bodies.a = {{ from = [0, 0], to = [0, -{l}], mass = {m} }}\n\
         bodies.b = {{ from = [1, 0], to = [1, -{l}], mass = {m} }}\n\
         bodies.c = {{ from = [0, -{l}], to = [1, -{l}], mass = {coupler} }}\n\
         joints.A = {{ kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0] }}\n\
         joints.B = {{ kind = \"revolute\", bodies = [\"ground\", \"b\"], at = [1, 0] }}\n\
         joints.C = {{ kind = \"revolute\", bodies = [\"a\", \"c\"], at = [0, -{l}] }}\n\
         joints.D = {{ kind = \"revolute\", bodies = [\"c\", \"b\"], at = [1, -{l}] }}\n"
    );
    let report = about(&text, OperatingPoint::Start);
    assert_eq!((report.positions, report.speeds, report.modes.len()), (1, 1, 1));
    let omega = ((m + coupler) * G / (l * (2.0 * m / 3.0 + coupler))).sqrt();
    close(frequencies(&report)[0], omega, 1e-13);
}

/// A four-bar of unequal links that hangs out of balance: its period over small swings about the rest that is found.
#[test]
fn a_four_bar_swings_about_its_rest_with_the_frequency_of_its_mode() {
    let text = "format = \"sarrus/1\"\nspace = \"planar\"\nrun = { t_end = 4.0, rtol = 1e-11, atol = 1e-13 }\n\
         points = { A = [0, 0], B = \"polar(0.3, -70 deg)\", D = [0.8, 0.1], C = \"meet(D, 0.5, B, 0.7)\" }\n\
         bodies.a = { from = \"A\", to = \"B\", mass = 1.0 }\n\
         bodies.c = { from = \"B\", to = \"C\", mass = 2.0 }\n\
         bodies.b = { from = \"D\", to = \"C\", mass = 0.7 }\n\
         joints.A = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = \"A\", stiffness = 0.3 }\n\
         joints.B = { kind = \"revolute\", bodies = [\"a\", \"c\"], at = \"B\" }\n\
         joints.C = { kind = \"revolute\", bodies = [\"c\", \"b\"], at = \"C\" }\n\
         joints.D = { kind = \"revolute\", bodies = [\"ground\", \"b\"], at = \"D\" }\n";
    let (model, system) = load(text);
    let rest = equilibrium(&model, &system).unwrap();
    assert!(rest.report.residual < 1e-11 && rest.report.potential[1] < rest.report.potential[0]);
    let report = modes(&model, &system, OperatingPoint::Equilibrium).unwrap();
    assert_eq!(report.stable, Some(true));
    let omega = frequencies(&report)[0];

    // a swing of 1e-4 rad: its period differs by the square of that
    let angle = rest.report.values["A.angle"];
    let swing = format!("{text}initial = {{ A.angle = {} }}\noutput.every = 1e-3\n", angle + 1e-4);
    let (model, system) = load(&swing);
    let run = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap();
    let angles: Vec<f64> = run.trajectory.column("A.angle").unwrap().map(|a| a - angle).collect();
    let times: Vec<f64> = run.trajectory.column("t").unwrap().collect();
    let falls: Vec<f64> = (1..angles.len())
        .filter(|&i| angles[i - 1] > 0.0 && angles[i] <= 0.0)
        .map(|i| times[i - 1] + (times[i] - times[i - 1]) * angles[i - 1] / (angles[i - 1] - angles[i]))
        .collect();
    let periods = (falls.len() - 1) as f64;
    close(TAU * periods / (falls.last().unwrap() - falls[0]), omega, 3e-7);
}

/// Two rods on ball joints: in each of two planes the double pendulum, and each rod rotates about itself.
#[test]
fn a_spatial_double_pendulum_has_each_frequency_twice_and_two_free_spins() {
    let text = "format = \"sarrus/1\"\nrun.t_end = 1.0\n\
         bodies.upper = { from = [0, 0, 0], to = [0, 0, -1], mass = 1.0, shape = { kind = \"rod\", radius = 0.05 } }\n\
         bodies.lower = { from = [0, 0, -1], to = [0, 0, -2], mass = 1.0, shape = { kind = \"rod\", radius = 0.05 } }\n\
         joints.O = { kind = \"spherical\", bodies = [\"ground\", \"upper\"], at = [0, 0, 0] }\n\
         joints.P = { kind = \"spherical\", bodies = [\"upper\", \"lower\"], at = [0, 0, -1] }\n";
    let report = about(text, OperatingPoint::Start);
    assert_eq!((report.positions, report.modes.len()), (6, 6));
    // about its middle a rod of radius r has 1/12 + r²/4
    let inertia = 1.0 / 12.0 + 0.05 * 0.05 / 4.0;
    let (a, b, d) = (inertia + 0.25 + 1.0, 0.5, inertia + 0.25);
    let (k, l) = (1.5 * G, 0.5 * G);
    // (a λ - k)(d λ - l) = (b λ)²
    let (p, q, r) = (a * d - b * b, -(a * l + d * k), k * l);
    let root = (q * q - 4.0 * p * r).sqrt();
    let expected = [(-q - root) / (2.0 * p), (-q + root) / (2.0 * p)].map(f64::sqrt);
    let found = frequencies(&report);
    assert_eq!(found.len(), 4, "{report:?}");
    for (found, expected) in found.iter().zip([expected[0], expected[0], expected[1], expected[1]]) {
        close(*found, expected, 1e-12);
    }
    assert_eq!(report.modes.iter().filter(|m| m.kind == ModeKind::Free).count(), 2);
}

/// A fast top on its point is stable above ω₃ = 2 √(m g l I₁)/I₃ and falls below; its nutation and precession rates are the
/// roots of I₁ s² - I₃ ω₃ s + m g l = 0.
#[test]
fn a_spinning_top_is_stable_only_when_fast() {
    let top = |spin: f64| {
        format!(
            "format = \"sarrus/1\"\nrun.t_end = 1.0\n\
             bodies.top = {{ at = [0, 0, 0.5], mass = 2.0, inertia = [0.1, 0.1, 0.2] }}\n\
             joints.O = {{ kind = \"spherical\", bodies = [\"ground\", \"top\"], at = [0, 0, 0] }}\n\
             initial.top.omega = [0, 0, {spin}]\n"
        )
    };
    let (i1, i3, mgl) = (0.1 + 2.0 * 0.25, 0.2, 2.0 * G * 0.5);
    let critical = 2.0 * f64::sqrt(mgl * i1) / i3;
    let grows = |spin: f64| {
        let report = about(&top(spin), OperatingPoint::Start);
        report.modes.iter().any(|m| m.eigenvalue[0] > 1e-3)
    };
    assert!(grows(0.9 * critical) && !grows(1.1 * critical));

    // seen from the ground
    let spin = 2.0 * critical;
    let report = about(&top(spin), OperatingPoint::Start);
    assert_eq!(report.stable, Some(true));
    let root = ((i3 * spin).powi(2) - 4.0 * i1 * mgl).sqrt();
    for rate in [(i3 * spin + root) / (2.0 * i1), (i3 * spin - root) / (2.0 * i1)] {
        assert!(frequencies(&report).iter().any(|f| (f - rate).abs() < 1e-11 * rate), "{rate}: {report:?}");
    }
}

/// A ball on a plane rolls: five positions are free (two ways to roll, three turns), three velocities.
#[test]
fn rolling_leaves_more_positions_free_than_velocities() {
    let text = "format = \"sarrus/1\"\nrun.t_end = 1.0\n\
         bodies.ball = { at = [0, 0, 0.1], mass = 1.0, shape = { kind = \"sphere\", radius = 0.1 } }\n\
         constraints.rolling = { kind = \"rolling_ball\", body = \"ball\", radius = 0.1 }\n\
         forces.pull = { kind = \"spring\", bodies = [\"ground\", \"ball\"], ends = [[0, 0, 1.1], [0, 0, 0.1]], stiffness = 50, rest = 0.5 }\n";
    let report = about(text, OperatingPoint::Start);
    assert_eq!((report.positions, report.speeds), (5, 3));
    // sideways stiffness T/l of a spring under tension T, against 7/5 of the mass
    let omega = (50.0 * 0.5 / 1.0 / 1.4_f64).sqrt();
    let found = frequencies(&report);
    assert_eq!(found.len(), 2, "{report:?}");
    found.iter().for_each(|f| close(*f, omega, 1e-7));
}

#[test]
fn a_pendulum_comes_to_rest_hanging_wherever_it_starts() {
    for degrees in [10.0_f64, 80.0, 100.0, 179.0, -60.0] {
        let (model, system) = load(&pendulum(degrees.to_radians(), ""));
        let rest = equilibrium(&model, &system).unwrap();
        let angle = rest.report.values["O.angle"];
        assert!((angle.rem_euclid(TAU) - (TAU - FRAC_PI_2)).abs() < 1e-10, "{degrees}: {angle}");
        close(rest.report.values["O.fy"], 2.0 * G, 1e-12);
        assert!(rest.report.values["O.fx"].abs() < 1e-9);
    }
}

/// A torque, even of zero, is a force without a potential: what counts is its work.
#[test]
fn a_four_bar_comes_to_rest_whatever_kinds_of_forces_act() {
    for phi in ["0", "40 deg", "60 deg", "90 deg", "120 deg", "200 deg", "300 deg"] {
        let text = sarrus_zoo::model("four_bar").unwrap().replace("torque = 3.0", "torque = 0.0");
        let options = LoadOptions { set: vec![("phi".into(), phi.into())], ..LoadOptions::default() };
        let model = load_str("four_bar.toml", &text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
        let system = Arc::new(compile(&model).unwrap());
        let rest = equilibrium(&model, &system).unwrap_or_else(|e| panic!("{phi}: {e}"));
        assert!(rest.report.residual < 1e-8, "{phi}: {:?}", rest.report);
        assert!((rest.report.potential[1] + 0.7983).abs() < 1e-3, "{phi}: {:?}", rest.report.potential);
    }
}

/// The middle of a chain that hangs between two points, 2 m of 20 links over 1 m: by symmetry half the weight at each end, and
/// joints on the polygon of forces.
#[test]
fn a_hanging_chain_is_the_polygon_of_its_forces() {
    let n = 20;
    let mut text = String::from(
        "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 1.0\nparameters = { n = 20, l = 0.1, w = \"acos(0.5)\" }\n\
         [repeat.links]\nfor = \"i = 1 to n\"\n\
         points.\"P{i}\" = [\"0.05*i\", \"-l*sin(w)*(n/2 - abs(i - n/2))\"]\n\
         bodies.\"link{i}\" = { from = \"P{i-1}\", to = \"P{i}\", mass = 0.1 }\n\
         joints.\"J{i}\" = { kind = \"revolute\", bodies = [\"link{i-1}\", \"link{i}\"], at = \"P{i-1}\", if = \"i > 1\" }\n\
         [points]\nP0 = [0, 0]\n[joints]\n",
    );
    text.push_str("first = { kind = \"revolute\", bodies = [\"ground\", \"link1\"], at = \"P0\" }\n");
    text.push_str("last = { kind = \"revolute\", bodies = [\"link20\", \"ground\"], at = \"P20\" }\n");
    let (model, system) = load(&text);
    let rest = equilibrium(&model, &system).unwrap();
    let value = |name: String| rest.report.values[&name];
    let (fx, fy) = (value("first.fx".into()), value("first.fy".into()));
    close(fy, 0.5 * f64::from(n) * 0.1 * G, 1e-9);
    for i in 1..=n {
        // link i is carried along the mean of the forces at its two ends
        let below = fy - 0.1 * G * (f64::from(i) - 0.5);
        let (x, y) = (value(format!("link{i}.angle")).cos(), value(format!("link{i}.angle")).sin());
        let across = (-fx) * y + below * x;
        assert!(across.abs() < 1e-8 * fy, "link {i}: {across}");
    }
}

#[test]
fn what_falls_for_ever_has_no_rest() {
    let (model, system) = load(
        "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 1.0\nbodies.stone = { at = [0, 0], mass = 1.0, inertia = 1.0 }\n",
    );
    assert!(matches!(equilibrium(&model, &system), Err(SetupError::NoEquilibrium { .. })));
}

const DRIVEN: &str = "format = \"sarrus/1\"\nspace = \"planar\"\nrun = { t_end = 2.0, rtol = 1e-11, atol = 1e-13 }\n\
     points = { A = [0, 0], B = [0, 0.3], D = [0.8, 0], C = \"meet(B, 0.9, D, 0.6)\" }\n\
     bodies.a = { from = \"A\", to = \"B\", mass = 1.0 }\n\
     bodies.c = { from = \"B\", to = \"C\", mass = 2.0 }\n\
     bodies.b = { from = \"D\", to = \"C\", mass = 0.7 }\n\
     joints.A = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = \"A\" }\n\
     joints.B = { kind = \"revolute\", bodies = [\"a\", \"c\"], at = \"B\" }\n\
     joints.C = { kind = \"revolute\", bodies = [\"c\", \"b\"], at = \"C\" }\n\
     joints.D = { kind = \"revolute\", bodies = [\"ground\", \"b\"], at = \"D\" }\n\
     drivers.motor = { kind = \"joint\", joint = \"A\", angle = \"pi/2 + 3*t + 0.5*sin(4*t)\" }\n";

/// A crank-rocker through more than a rotation: positions, reactions and the motor's torque are those of a run, which integrates.
#[test]
fn a_driven_four_bar_moves_and_loads_as_a_run_says() {
    let (model, system) = load(DRIVEN);
    let run = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap();
    let motion = prescribed(&model, &system, &RunOverrides::default()).unwrap();
    assert_eq!(motion.report.status, Status::Completed, "{}", motion.report.reason);
    assert_eq!(motion.trajectory.len(), run.trajectory.len());
    for column in ["A.angle", "D.angle", "c.x", "c.vy", "motor.torque", "C.fx", "D.fy"] {
        let pair = motion.trajectory.column(column).unwrap().zip(run.trajectory.column(column).unwrap());
        let size = run.trajectory.column(column).unwrap().fold(0.0_f64, |a, x| a.max(x.abs()));
        for (a, b) in pair {
            assert!((a - b).abs() < 1e-8 * size, "{column}: {a} instead of {b}");
        }
    }
    let effort = &motion.report.drivers[0];
    assert_eq!((effort.column.as_str(), effort.unit, effort.unique), ("motor.torque", "N m", true));
    let largest = run.trajectory.column("motor.torque").unwrap().fold(0.0_f64, |a, x| a.max(x.abs()));
    close(effort.largest.abs(), largest, 1e-7);
}

/// The same with samples so far apart that a step of prediction would leave the branch.
#[test]
fn samples_far_apart_stay_on_their_branch() {
    let (model, system) = load(DRIVEN);
    let at = |every: f64| {
        let overrides = RunOverrides { every: Some(every), t_end: Some(8.0), ..RunOverrides::default() };
        prescribed(&model, &system, &overrides).unwrap().trajectory
    };
    let fine = at(0.01);
    for every in [0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.7, 2.0, 8.0] {
        let coarse = at(every);
        assert_eq!(coarse.len(), (8.0_f64 / every).ceil() as usize + 1, "{every}");
        for column in ["c.x", "D.angle", "motor.torque"] {
            close(coarse.last(column).unwrap(), fine.last(column).unwrap(), 1e-10);
        }
    }
}

#[test]
fn a_motion_that_drivers_leave_open_is_refused_and_one_out_of_reach_ends_where_it_ends() {
    let (model, system) = load(&DRIVEN.replace("drivers.motor", "extra.motor"));
    assert!(matches!(
        prescribed(&model, &system, &RunOverrides::default()),
        Err(SetupError::NotDriven { free: 1 })
    ));

    // links that cannot follow: D is too far for the crank to turn all the way
    let text = DRIVEN.replace("meet(B, 0.9, D, 0.6)", "meet(B, 0.5, D, 0.45)");
    let (model, system) = load(&text);
    let motion = prescribed(&model, &system, &RunOverrides::default()).unwrap();
    assert_eq!(motion.report.status, Status::Failed);
    assert!(motion.report.t_end > 0.0 && motion.report.t_end < 2.0, "{}", motion.report.reason);
    assert!(motion.trajectory.len() > 1);
}

/// About a moving state A is the derivative of the motion: after a short time two neighbouring runs are apart by exp(A t).
#[test]
fn about_a_moving_state_neighbours_part_as_the_linearization_says() {
    let text = pendulum(1.0, "") + "initial.O.rate = 2.0\n";
    let (model, system) = load(&text);
    let (mut mechanism, state) = {
        let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
        let mut m = system.mechanism();
        m.set_discrete(&start.discrete);
        (m, start.state)
    };
    let Linearization { A, positions, speeds, .. } = linearize(&mut mechanism, &state).unwrap();
    assert_eq!((positions, speeds), (1, 1));
    // θ̈ = -ω² sin θ, about θ = 1: in ξ and η the derivative is -ω² cos θ whatever the scale of the basis
    close(A[2], -1.5 * G * 1.0_f64.cos(), 1e-12);
    close(A[1], 1.0, 1e-12);
    assert!(A[0].abs() < 1e-12 && A[3].abs() < 1e-12, "{A:?}");
}

/// The same program as an angle, and as a rate: one position is exact, the other integrated.
#[test]
fn rates_are_followed_as_positions_are() {
    let (model, system) = load(DRIVEN);
    let exact = prescribed(&model, &system, &RunOverrides::default()).unwrap();
    let rate = DRIVEN.replace("angle = \"pi/2 + 3*t + 0.5*sin(4*t)\"", "rate = \"3 + 2*cos(4*t)\"");
    assert_ne!(rate, DRIVEN);
    let (model, system) = load(&rate);
    let found = prescribed(&model, &system, &RunOverrides::default()).unwrap();
    assert_eq!(found.report.status, Status::Completed, "{}", found.report.reason);
    for column in ["D.angle", "c.x", "c.vy", "motor.torque", "C.fx", "energy.work"] {
        let size = exact.trajectory.column(column).unwrap().fold(0.0_f64, |a, x| a.max(x.abs()));
        for (a, b) in found.trajectory.column(column).unwrap().zip(exact.trajectory.column(column).unwrap()) {
            assert!((a - b).abs() < 1e-9 * size, "{column}: {a} instead of {b}");
        }
    }
}

/// A plate led by the velocity of a point and its rate: x = sin t, from J v = -Φ_t alone.
#[test]
fn a_point_led_by_its_velocity_goes_where_that_leads() {
    let (model, system) = load(
        "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, 0]\nrun.t_end = 2.0\n\
         bodies.plate = { at = [0, 0], mass = 2.0, inertia = 0.5 }\n\
         drivers.lead = { kind = \"point\", body = \"plate\", velocity = [\"cos(t)\", \"t\"], rate = \"t^2\" }\n",
    );
    let found = prescribed(&model, &system, &RunOverrides::default()).unwrap();
    let (t, x) = (found.trajectory.last("t").unwrap(), found.trajectory.last("plate.x").unwrap());
    assert!((x - t.sin()).abs() < 1e-11, "{x}");
    assert!((found.trajectory.last("lead.fx").unwrap() + 2.0 * t.sin()).abs() < 1e-10);
    assert!((found.trajectory.last("plate.angle").unwrap() - t.powi(3) / 3.0).abs() < 1e-11);
}

/// The tip of two arms is led through the folded position, with a sample on it. Without gravity the motion after it mirrors that before,
/// so torques are odd about it, and zero there; work is what the kinetic energy grows by.
#[test]
fn prescribed_motion_passes_a_singular_position_with_finite_torques() {
    let (model, system) = load(sarrus_zoo::model("two_arm_robot").unwrap());
    let x0 = 0.5 + (0.25_f64 - (60.0_f64.to_radians().sin() - 0.5).powi(2)).sqrt();
    let every = x0 / 2.0 / 8.0;
    let found =
        prescribed(&model, &system, &RunOverrides { every: Some(every), ..RunOverrides::default() }).unwrap();
    assert_eq!(found.report.status, Status::Completed, "{}", found.report.reason);
    let [singular] = &found.report.singular[..] else { panic!("{:?}", found.report.singular) };
    assert_eq!((singular.outcome, singular.reactions), ("passed", "bounded"));
    assert!((singular.t - 8.0 * every).abs() < 1e-5, "{} {}", singular.t, 8.0 * every);
    assert!(singular.elements.iter().any(|e| e.contains("tip")), "{:?}", singular.elements);
    assert!(found.report.notes.iter().any(|n| n.contains("singular position")), "{:?}", found.report.notes);
    let column = |name: &str| found.trajectory.column(name).unwrap().collect::<Vec<f64>>();
    let (x, fx, fy) = (column("lower.x"), column("tip.fx"), column("tip.fy"));
    assert_eq!(x.len(), 17);
    // the tip is at (x0 - 2 t, 1/2); about the shoulder at the origin
    let torque = |i: usize| (x0 - 2.0 * every * i as f64) * fy[i] - 0.5 * fx[i];
    let scale = torque(0).abs();
    assert!((scale - 2.0645).abs() < 1e-4, "{scale}");
    for i in 0..=8 {
        assert!(
            (torque(8 - i) + torque(8 + i)).abs() < 1e-7 * scale,
            "{i}: {} {}",
            torque(8 - i),
            torque(8 + i)
        );
    }
    assert!(torque(8).abs() < 1e-7, "{}", torque(8));
    let (work, kinetic) = (column("energy.work"), column("energy.kinetic"));
    assert!(work.iter().any(|w| w.abs() > 0.1), "{work:?}");
    for (w, k) in work.iter().zip(&kinetic) {
        assert!((w - (k - kinetic[0])).abs() < 1e-7, "{w} {}", k - kinetic[0]);
    }
}

/// A chain let go from the horizontal comes to hang in about as many steps however many links it has.
#[test]
fn a_long_chain_is_found_hanging() {
    for n in [20, 200] {
        let options = LoadOptions { set: vec![("n".into(), n.to_string())], ..LoadOptions::default() };
        let model = load_str("chain.toml", sarrus_zoo::model("chain").unwrap(), &options).unwrap();
        let system = Arc::new(compile(&model).unwrap());
        let rest = equilibrium(&model, &system).unwrap_or_else(|e| panic!("{n}: {e}"));
        assert!((rest.report.values["tip.z"] + 1.0).abs() < 1e-9, "{n}: {:?}", rest.report);
        close(rest.report.values["J1.fz"], G, 1e-9);
        assert!(rest.report.iterations < 40, "{n}: {}", rest.report.iterations);
    }
}

/// A parallelogram laid flat can fold over as well: one degree of freedom more than beside it.
#[test]
fn modes_in_a_singular_position_are_refused_by_name() {
    let text = "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, 0]\nrun.t_end = 1.0\n\
         bodies.a = { from = [0, 0], to = [1, 0], mass = 1 }\n\
         bodies.c = { from = [1, 0], to = [3, 0], mass = 1 }\n\
         bodies.b = { from = [2, 0], to = [3, 0], mass = 1 }\n\
         bodies.free = { at = [5, 5], mass = 1, inertia = 1 }\n\
         joints.A = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0] }\n\
         joints.B = { kind = \"revolute\", bodies = [\"a\", \"c\"], at = [1, 0] }\n\
         joints.C = { kind = \"revolute\", bodies = [\"c\", \"b\"], at = [3, 0] }\n\
         joints.D = { kind = \"revolute\", bodies = [\"ground\", \"b\"], at = [2, 0] }\n";
    let (model, system) = load(text);
    match modes(&model, &system, OperatingPoint::Start) {
        Err(SetupError::SingularPosition { more: 1, elements, .. }) => {
            assert_eq!(elements, ["A", "B", "C", "D"]);
        }
        other => panic!("{other:?}"),
    }
    // redundant everywhere is not singular
    let (model, system) = load(sarrus_zoo::model("sarrus").unwrap());
    let report = modes(&model, &system, OperatingPoint::Start).unwrap();
    assert_eq!(report.positions, 1);
}

/// Gravity along the hinges of a door drives it nowhere: what is left of its terms is rounding.
#[test]
fn a_door_is_free() {
    let (model, system) = load(sarrus_zoo::model("door").unwrap());
    let report = modes(&model, &system, OperatingPoint::Equilibrium).unwrap();
    let kinds: Vec<ModeKind> = report.modes.iter().map(|m| m.kind).collect();
    assert_eq!((kinds.as_slice(), report.stable), ([ModeKind::Free].as_slice(), Some(true)), "{report:?}");
}

/// `false` may stand in quotes, as a flag of the command line has it, and is named where something else stands there.
#[test]
fn singular_positions_are_left_alone_with_false_in_quotes_or_without() {
    use sarrus::model::settings::{Regularization, RunSettings};
    let with = |value: &str| {
        let text = pendulum(0.1, "").replace("run.t_end", &format!("run.regularize = {value}\nrun.t_end"));
        load_str("test.toml", &text, &LoadOptions::default())
    };
    for value in ["false", "\"false\""] {
        let run = RunSettings::read(&with(value).unwrap()).unwrap();
        assert_eq!(run.regularize, Regularization::Off, "{value}");
    }
    let wrong = with("\"nothing\"").unwrap_err().render();
    assert!(wrong.contains("false") && wrong.contains("amirouche"), "{wrong}");
}

/// A steel bar of 1 m, 20 mm by 10 mm, from the origin to `to`, with `more` on its line and in the model.
fn steel_bar(to: &str, on_line: &str, more: &str) -> String {
    format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 0.1\n\
         materials.st = {{ density = 7800, young = 2.1e11, poisson = 0.3 }}\n\
         sections.s = {{ kind = \"rectangle\", width = \"20 mm\", height = \"10 mm\" }}\n\
         flexible.b = {{ kind = \"beam\", from = [0, 0], to = {to}, section = \"s\", material = \"st\", {on_line} }}\n{more}"
    )
}

/// ω² = 3 g/2 l, 10⁻¹¹ of the stiffest mode's; bending adds (ω/ω_bending)² = 2e-4 of it, rounding at most 1e-3.
#[test]
fn a_steel_bar_on_a_hinge_swings_as_a_rod_and_falls_from_standing() {
    let hinge = "joints.h = { kind = \"revolute\", bodies = [\"ground\", \"b.start\"], at = [0, 0] }\n";
    let omega = (1.5 * G).sqrt();
    for n in [4, 16] {
        let bar =
            |to: &str| about(&steel_bar(to, &format!("elements = {n}"), hinge), OperatingPoint::Equilibrium);
        let hanging = bar("[0, -1]");
        assert_eq!((hanging.equilibrium, hanging.stable), (true, Some(true)), "{:?}", hanging.notes);
        close(frequencies(&hanging)[0], omega, 1e-3);
        let upright = bar("[0, 1]");
        assert_eq!((upright.equilibrium, upright.stable), (true, Some(false)), "{:?}", upright.notes);
        let growth: Vec<&_> = upright.modes.iter().filter(|m| m.kind == ModeKind::Growth).collect();
        assert_eq!(growth.len(), 1);
        close(growth[0].eigenvalue[0], omega, 1e-3);
    }
}

/// EI w⁗ + P w″ + ρA s² w = 0, clamped and free: w of cos p x and cos q x with p² + q² = P/EI, p² q² = ρA s²/EI. P is 4 % above the
/// critical load, which 16 elements have to (π/32)²/12 = 8e-4: 2 % of s².
#[test]
fn a_cantilever_beyond_its_critical_load_grows_away() {
    let (EI, rhoA, P) = (2.1e11 * 0.02 * 0.01_f64.powi(3) / 12.0, 7800.0 * 2e-4, 900.0);
    let a: f64 = P / EI;
    let end = |s: f64| {
        let root = (a * a - 4.0 * rhoA * s * s / EI).sqrt();
        let [p, q] = [(a + root) / 2.0, (a - root) / 2.0].map(f64::sqrt);
        let moment = [q * q * q.cos() - p * p * p.cos(), q * q.sin() - p * p.sin()];
        let shear = [p * p * q * q.sin() - p * q * q * p.sin(), q * q * p.cos() - p * p * q.cos()];
        moment[0] * shear[1] - moment[1] * shear[0]
    };
    let (mut low, mut high) = (1.0, 18.0);
    assert!(end(low) * end(high) < 0.0, "{} {}", end(low), end(high));
    for _ in 0..60 {
        let s = 0.5 * (low + high);
        if end(s) * end(low) > 0.0 { low = s } else { high = s }
    }
    let more = "gravity = [0, 0]\n\
         joints.clamp = { kind = \"fixed\", bodies = [\"ground\", \"b.start\"], at = [0, 0] }\n\
         forces.p = { kind = \"force\", body = \"b.end\", at = [1, 0], force = [-900, 0] }\n";
    let report = about(&steel_bar("[1, 0]", "elements = 16", more), OperatingPoint::Equilibrium);
    assert_eq!(report.stable, Some(false), "{:?}", report.notes);
    close(report.modes.iter().map(|m| m.eigenvalue[0]).fold(0.0, f64::max), low, 0.02);
}

/// D = β K: ω₁ = 1.8751² √(EI/ρA l⁴), ζ₁ = β ω₁/2, though the fastest mode's damping is 10⁹ times the first's. A load across bends
/// the beam by 1 % of its length, and couples the modes by the square of that.
#[test]
fn a_damped_cantilever_keeps_its_slow_modes() {
    let omega = 1.875_104_f64.powi(2) * (2.1e11 * 0.02 * 0.01_f64.powi(3) / 12.0 / (7800.0 * 2e-4)).sqrt();
    for (load, tolerance) in [(0.0, 1e-6), (10.0, 1e-3)] {
        let more = format!(
            "gravity = [0, 0]\n\
             joints.clamp = {{ kind = \"fixed\", bodies = [\"ground\", \"b.start\"], at = [0, 0] }}\n\
             forces.p = {{ kind = \"force\", body = \"b.end\", at = [1, 0], force = [0, -{load:?}] }}\n"
        );
        let report =
            about(&steel_bar("[1, 0]", "elements = 16, damping = 1e-3", &more), OperatingPoint::Equilibrium);
        assert_eq!(report.stable, Some(true), "{:?}", report.notes);
        assert!(report.modes.iter().all(|m| matches!(m.kind, ModeKind::Oscillation | ModeKind::Decay)));
        let found = frequencies(&report)[0];
        close(found, omega, 2e-3);
        close(report.modes[0].damping_ratio.unwrap(), 0.5e-3 * found, tolerance);
    }
}

/// A bar with a small one on a spring at its end, whose stiffness k hides stiffnesses of ε²k.
fn stiff_pair(k: &str, joint: &str, gravity: &str) -> ModesReport {
    about(
        &format!(
            "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 1.0\n{gravity}\n\
             bodies.a = {{ from = [0, 0], to = [0, -1], mass = 1.0 }}\n\
             bodies.b = {{ from = [0, -1], to = [0, -1.01], mass = 0.001 }}\n\
             joints.A = {{ kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0]{joint} }}\n\
             joints.B = {{ kind = \"revolute\", bodies = [\"a\", \"b\"], at = [0, -1], stiffness = {k} }}\n"
        ),
        OperatingPoint::Equilibrium,
    )
}

#[test]
fn a_mode_that_rounding_hides_is_free_only_where_nothing_drives_it() {
    let none = "gravity = [0, 0]";
    for k in ["1e5", "1e9", "1e12", "1e16", "1e20"] {
        let modes = stiff_pair(k, "", "");
        assert_eq!(modes.stable, Some(true), "{k}: {:?}", modes.notes);
        close(frequencies(&modes)[0], (1.5 * G).sqrt(), 2e-3);
        let modes = stiff_pair(k, ", stiffness = 0.1", none);
        assert_eq!(modes.stable, Some(true), "{k}: {:?}", modes.notes);
        close(frequencies(&modes)[0], 0.3_f64.sqrt(), 2e-3);
    }

    // by its weight, by a soft spring, by nothing
    for (joint, gravity, kind, stable) in [
        ("", "", ModeKind::Undecided, None),
        (", stiffness = 0.1", none, ModeKind::Undecided, None),
        ("", none, ModeKind::Free, Some(true)),
    ] {
        let report = stiff_pair("1e32", joint, gravity);
        assert_eq!(
            (report.modes[0].kind, report.stable),
            (kind, stable),
            "{joint} {gravity}: {:?}",
            report.notes
        );
        assert_eq!(
            report.notes.iter().any(|n| n.contains("slower than")),
            stable.is_none(),
            "{:?}",
            report.notes
        );
    }
}

/// A trolley on its rail and the spin of a governor, whose struts and weights act across what is free. The trolley's drive is sampled: what
/// it does is left out, and whether the trolley is stable with it is not said.
#[test]
fn freedoms_beside_springs_and_weights_stay_free() {
    for (name, stable) in [("trolley", None), ("governor", Some(true))] {
        let (model, system) = load(sarrus_zoo::model(name).unwrap());
        let report = modes(&model, &system, OperatingPoint::Equilibrium).unwrap();
        let free = report.modes.iter().filter(|m| m.kind == ModeKind::Free).count();
        assert_eq!((free, report.stable), (1, stable), "{name}: {:?}", report.notes);
        assert_eq!(
            report.notes.iter().any(|n| n.contains("sampled") && n.contains("drive")),
            stable.is_none()
        );
    }
}
