//! Describes what contradicts and what only rounds: redundant mechanisms in even motion, drivers that no motion follows together, and the
//! digits that redundant loops keep.

use crate::common::{load, outcome};
use sarrus::analysis::{RunOverrides, prescribed};
use sarrus::prelude::*;

/// A balanced shaft of length |a| on two bearings along `a`, spinning freely at `rate`; five of ten rows are redundant.
fn shaft(a: [f64; 3], angle: f64, rate: f64) -> String {
    let [x, y, z] = a;
    let length = (x * x + y * y + z * z).sqrt();
    let (inertia, end) = (0.02 * length * length, 10.0 / rate);
    // the limit is absolute: at 10⁷ m/s rounding alone is larger than the default
    let velocity = (1e-13 * rate * length).max(1e-7);
    format!(
        "gravity = [0, 0, 0]\ninitial.A.rate = {rate:?}\nrun.t_end = {end:?}\nrun.certify.velocity = {velocity:?}\nparameters.a = [{x:?}, {y:?}, {z:?}]\n\
         bodies.shaft = {{ at = 'a', orientation = {{ axis = 'a', angle = {angle} }}, mass = 1, inertia = [{inertia:?}, {inertia:?}, {inertia:?}] }}\n\
         joints.A = {{ kind = 'revolute', bodies = ['ground', 'shaft'], at = [0, 0, 0], axis = 'a' }}\n\
         joints.B = {{ kind = 'revolute', bodies = ['ground', 'shaft'], at = 'a', axis = 'a' }}"
    )
}

fn spins_on(a: [f64; 3], angle: f64, rate: f64) {
    let outcome = outcome(&load(&shaft(a, angle, rate)));
    let column: Vec<f64> = outcome.trajectory.column("A.rate").unwrap().collect();
    assert!(outcome.report.certificate.passed, "{a:?} {rate}: {:?}", outcome.report.certificate);
    assert!(column.iter().all(|w| (w - rate).abs() < 1e-9 * rate), "{a:?} {rate}: {column:?}");
}

#[test]
fn a_balanced_shaft_on_two_bearings_spins_on_in_every_orientation() {
    for k in 0..8 {
        let sign = |bit: u32| if k >> bit & 1 == 1 { -1.0 } else { 1.0 };
        spins_on([sign(0), 2.0 * sign(1), 2.0 * sign(2)], 0.7, 7.3);
        let t = f64::from(k);
        spins_on([t.sin(), (1.7 * t).cos(), (2.3 * t + 0.4).sin()], 0.3 + t, 7.3);
    }
}

#[test]
fn a_balanced_shaft_spins_on_at_every_speed_and_size() {
    for rate in [1e-3, 1.0, 1e4] {
        for size in [1e-3, 1.0, 1e3] {
            spins_on([size, 2.0 * size, -0.7 * size], 0.7, rate);
        }
    }
}

/// Two shafts at `angle` degrees, coupled by a universal joint; the first driven at an even rate.
fn hooke(angle: f64) -> String {
    format!(
        "gravity = [0, 0, 0]\nparameters.be = '{angle} deg'\nrun.t_end = 2\nrun.rtol = 1e-9\n\
         bodies.inn = {{ at = [-0.5, 0, 0], mass = 1, inertia = [0.01, 0.02, 0.02] }}\n\
         bodies.out = {{ at = ['0.5*cos(be)', '0.5*sin(be)', 0], orientation = {{ axis = [0, 0, 1], angle = 'be' }}, mass = 1, inertia = [0.01, 0.02, 0.02] }}\n\
         joints.bi = {{ kind = 'revolute', bodies = ['ground', 'inn'], at = [-0.5, 0, 0], axis = [1, 0, 0] }}\n\
         joints.bo = {{ kind = 'revolute', bodies = ['ground', 'out'], at = ['0.5*cos(be)', '0.5*sin(be)', 0], axis = ['cos(be)', 'sin(be)', 0] }}\n\
         joints.u = {{ kind = 'universal', bodies = ['inn', 'out'], at = [0, 0, 0], axis = [0, 0, 1], axis2 = ['-sin(be)', 'cos(be)', 0] }}\n\
         drivers.d = {{ kind = 'joint', joint = 'bi', angle = 'pi*t' }}"
    )
}

/// ω₂ = ω₁ cos β / (1 - sin²β sin²θ), with θ = 0 where the cross stands as in the model pose, or a quarter of a revolution later.
#[test]
fn a_driven_universal_joint_keeps_its_law_at_every_angle() {
    for degrees in [0.0, 10.0, 30.0, 45.0, 60.0] {
        let outcome = outcome(&load(&hooke(degrees)));
        assert!(outcome.report.certificate.passed, "{degrees}: {:?}", outcome.report.certificate);
        let column = |name| outcome.trajectory.column(name).unwrap().collect::<Vec<f64>>();
        let (t, rate) = (column("t"), column("bo.rate"));
        let (sin, cos) = f64::to_radians(degrees).sin_cos();
        let law = |phase: f64| {
            let error = |(t, w): (&f64, &f64)| {
                let theta = std::f64::consts::PI * t + phase;
                (w.abs() - std::f64::consts::PI * cos / (1.0 - (sin * theta.sin()).powi(2))).abs()
            };
            t.iter().zip(&rate).map(error).fold(0.0, f64::max)
        };
        let error = law(0.0).min(law(std::f64::consts::FRAC_PI_2));
        assert!(error < 1e-6, "{degrees}: {error}");
    }
}

/// A parallelogram whose two cranks are driven.
fn parallelogram(first: &str, second: &str, third: &str) -> String {
    format!(
        "space = 'planar'\nrun.t_end = 1\n\
         points.A = [0, 0]\npoints.B = 'polar(0.2, 60 deg)'\npoints.C = [0.6, 0]\npoints.D = 'C + polar(0.2, 60 deg)'\n\
         bodies.crank = {{ from = 'A', to = 'B', mass = 1 }}\nbodies.coupler = {{ from = 'B', to = 'D', mass = 2 }}\n\
         bodies.rocker = {{ from = 'C', to = 'D', mass = 1.25 }}\n\
         joints.A = {{ kind = 'revolute', bodies = ['ground', 'crank'], at = 'A', reads = 0 }}\n\
         joints.B = {{ kind = 'revolute', bodies = ['crank', 'coupler'], at = 'B' }}\n\
         joints.D = {{ kind = 'revolute', bodies = ['coupler', 'rocker'], at = 'D' }}\n\
         joints.C = {{ kind = 'revolute', bodies = ['ground', 'rocker'], at = 'C', reads = 0 }}\n\
         drivers.d1 = {{ kind = 'joint', joint = 'A', {first} }}\n\
         drivers.d2 = {{ kind = 'joint', joint = 'C', {second} }}\n{third}"
    )
}

const THIRD: &str = "drivers.d3 = { kind = 'joint', joint = 'A', angle = 't' }";

fn says(text: &str, names: &[&str], not: &[&str]) {
    names.iter().for_each(|name| assert!(text.contains(name), "no {name}: {text}"));
    not.iter().for_each(|name| assert!(!text.contains(name), "{name}: {text}"));
}

#[test]
fn drivers_whose_rates_contradict_are_named_before_the_run() {
    let (model, system) = load(&parallelogram("rate = 5", "rate = 6", ""));
    let error = simulate(&model, &system, &Simulate::default(), &mut ()).err().unwrap().to_string();
    says(&error, &["`d1` and `d2` contradict each other at t = 0", "leave out one"], &["joint"]);
}

#[test]
fn the_smallest_set_of_contradicting_drivers_is_named() {
    let (model, system) = load(&parallelogram("angle = 't'", "angle = '1.5*t'", THIRD));
    let error = simulate(&model, &system, &Simulate::default(), &mut ()).err().unwrap().to_string();
    says(&error, &["`d2` and `d3` contradict each other"], &["`d1`"]);
}

#[test]
fn drivers_that_drift_apart_end_the_run_with_both_names_and_the_time() {
    for later in ["t + 0.1*t^2", "t + 0.1*t^3", "t + 1e-6*t^2", "t + max(t - 0.5, 0)^3"] {
        let (model, system) = load(&parallelogram("angle = 't'", &format!("angle = '{later}'"), ""));
        let report = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap().report;
        assert_eq!(report.status, Status::Failed, "{later}: {}", report.reason);
        says(&report.reason, &["`d1` and `d2` contradict each other at t = ", "leave out one"], &[]);
        let failure = report.failure.unwrap();
        let since = if later.contains("max") { 0.5 } else { 0.0 };
        assert!((since..1.0).contains(&failure.t), "{later}: {}", failure.t);
    }
}

/// A jump or a kink from which on two drivers differ, by rates or by positions: `run` and `inverse` name its time, with limits and without.
#[test]
fn drivers_that_contradict_each_other_from_a_jump_on_are_named_at_it() {
    let slide = |first: &str, second: &str, own: &str| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
             joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0]{own} }}\n\
             drivers.d1 = {{ kind = 'joint', joint = 'J', {first} }}\ndrivers.d2 = {{ kind = 'joint', joint = 'J', {second} }}\n\
             run.t_end = 2\noutput.every = 0.1"
        )
    };
    let speeds = ["speed = 0.1", "speed = 'if(t < 1, 0.1, 0.2)'"];
    let kink = ["position = '0.1*t'", "position = '0.1*t + max(0, 1e-3*(t - 1))'"];
    let loops =
        parallelogram("rate = 0.5", "rate = 'if(t < 1, 0.5, 0.6)'", "").replace("t_end = 1", "t_end = 2");
    for text in [
        slide(speeds[0], speeds[1], ""),
        slide(speeds[0], speeds[1], ", limits = [-9, 9]"),
        slide(kink[0], kink[1], ""),
        slide(kink[0], kink[1], ", limits = [-9, 9]"),
        slide(kink[0], speeds[1], ""),
        loops,
    ] {
        let (model, system) = load(&text);
        let run = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap().report;
        let inverse = prescribed(&model, &system, &RunOverrides::default()).unwrap().report;
        for (status, reason, t) in
            [(run.status, run.reason, run.t_end), (inverse.status, inverse.reason, inverse.t_end)]
        {
            assert_eq!(status, Status::Failed, "{text}");
            says(&reason, &["`d1` and `d2` contradict each other at t = 1 ("], &[]);
            assert!((t - 1.0).abs() < 1e-9, "{t}");
        }
    }
}

/// Returns why a run ends, or does not begin.
fn failure(text: &str) -> String {
    let (model, system) = load(text);
    match simulate(&model, &system, &Simulate::default(), &mut ()) {
        Ok(out) => {
            assert_eq!(out.report.status, Status::Failed, "{text}");
            out.report.reason
        }
        Err(error) => error.to_string(),
    }
}

/// Against locks, constraints and joints as against other drivers: elements and time are named.
#[test]
fn what_a_driver_contradicts_is_named_with_the_time() {
    let driven = |more: &str| parallelogram("angle = 't'", "angle = 't'", more).replace("drivers.d2", "#");
    let locked = |at: &str, joint: &str| {
        let keys = format!("at = '{joint}', reads = 0");
        driven("").replace(&keys, &format!("{keys}, lock_at = {at}"))
    };
    let distance =
        "constraints.rod = { kind = 'distance', bodies = ['ground', 'rocker'], ends = ['A', 'D'] }";
    let gear =
        "constraints.gear = { kind = 'coupler', coordinates = ['A.angle', 'C.angle'], factors = [1, 2] }";
    let post = "bodies.post = { at = [0.6, 0.1], mass = 1, inertia = 1 }\n\
        joints.F = { kind = 'fixed', bodies = ['ground', 'post'], at = [0.6, 0.1] }\n\
        joints.G = { kind = 'fixed', bodies = ['post', 'rocker'], at = [0.6, 0.1] }";
    let apart = |first, second| parallelogram(first, second, "").replace("'A', angle", "'B', angle");
    for (text, names) in [
        (locked("0.3", "C"), ["driver `d1`", "lock `C", "t = 0.3"]),
        (locked("0.3", "A"), ["driver `d1`", "lock `A", "t = 0.3"]),
        (locked("0", "C"), ["driver `d1`", "lock `C", "t = 0"]),
        (driven(distance), ["driver `d1`", "constraint `rod`", "t = 0"]),
        (driven(gear), ["driver `d1`", "constraint `gear`", "t = 0"]),
        (driven(post), ["driver `d1`", "joint `G`", "t = 0"]),
        (
            apart("angle = 't'", "angle = 't'").replace("joint = 'C'", "joint = 'D'"),
            ["`d1`", "`d2`", "t = 0"],
        ),
        (parallelogram("rate = 't'", "rate = '2*t'", ""), ["`d1`", "`d2`", "t = 0.0"]),
        (
            parallelogram("angle = 't'", "angle = 't'", "")
                .replace("joint = 'C', angle = 't'", "joint = 'A', angle = 'sin(t)'"),
            ["`d1`", "`d2`", "t = "],
        ),
    ] {
        says(&failure(&text), &names, &[]);
    }
}

/// Newmark has slowed the body from 2.6 rad in a step to 2.1 by then.
#[test]
fn an_iteration_that_is_lost_in_long_steps_says_how_long_they_may_be() {
    let rotor = "gravity = [0, 0, -9.81]\nrun.t_end = 0.5\nrun.integrator = 'newmark'\nrun.step = 0.026\ninitial.A.rate = 100\n\
        bodies.r = { at = [0.02, 0, 0.2], orientation = { axis = [0, 1, 0], angle = 0.3 }, mass = 2, inertia = [0.05, 0.03, 0.08] }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'r'], at = [0, 0, 0], axis = [0, 0.3, 1] }";
    says(&failure(rotor), &["bodies turn by 2.1 rad", "steps of 1.2e-2 s or less"], &[]);
}

#[test]
fn drivers_that_agree_are_followed_together() {
    let run = outcome(&load(&parallelogram("angle = '7*t + 0.3*t^2'", "angle = '7*t + 0.3*t^2'", "")));
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
}

/// The overconstrained loop of six revolutes on the edges of a cube \[Bricard1897\], falling from rest.
const BRICARD: &str = "gravity = [0, -9.81, 0]\n\
    run.t_end = 5\nrun.rtol = 1e-12\nrun.atol = 1e-14\n\
    bodies.b1 = { at = [0.5, 0, 0], mass = 1, inertia = [0.001, 0.0833, 0.0833] }\n\
    bodies.b2 = { at = [1, -0.5, 0], mass = 1, inertia = [0.0833, 0.001, 0.0833] }\n\
    bodies.b3 = { at = [1, -1, 0.5], mass = 1, inertia = [0.0833, 0.0833, 0.001] }\n\
    bodies.b4 = { at = [0.5, -1, 1], mass = 1, inertia = [0.001, 0.0833, 0.0833] }\n\
    bodies.b5 = { at = [0, -0.5, 1], mass = 1, inertia = [0.0833, 0.001, 0.0833] }\n\
    joints.J1 = { kind = 'revolute', bodies = ['ground', 'b1'], at = [0, 0, 0], axis = [0, 1, 0] }\n\
    joints.J2 = { kind = 'revolute', bodies = ['b1', 'b2'], at = [1, 0, 0], axis = [0, 0, 1] }\n\
    joints.J3 = { kind = 'revolute', bodies = ['b2', 'b3'], at = [1, -1, 0], axis = [1, 0, 0] }\n\
    joints.J4 = { kind = 'revolute', bodies = ['b3', 'b4'], at = [1, -1, 1], axis = [0, 1, 0] }\n\
    joints.J5 = { kind = 'revolute', bodies = ['b4', 'b5'], at = [0, -1, 1], axis = [0, 0, 1] }\n\
    joints.J6 = { kind = 'revolute', bodies = ['b5', 'ground'], at = [0, 0, 1], axis = [1, 0, 0] }\n";

#[test]
fn proximal_keeps_the_digits_of_a_redundant_loop() {
    for formulation in ["proximal", "null_space"] {
        let run = outcome(&load(&format!("run.formulation = '{formulation}'\n{BRICARD}")));
        let drift = run.report.energy.max_drift;
        assert!(drift < 1e-11, "{formulation}: {drift:e}");
    }
}
