//! Revolutions: counted at any speed, right between steps, and not certified where fixed steps cannot resolve them.

use crate::common::{load, outcome};
use sarrus::prelude::*;
use sarrus::solve::integrators::KINDS;

/// Axes, torque and inertia such that an angle is t² (or a multiple) [rad].
const SPATIAL: &str = r#"
gravity = [0, 0, 0]
"#;

const ROTOR: &str = r#"
[bodies]
rotor = { at = [0, 0, 0], mass = 1, inertia = [0.03, 0.03, 0.05], markers = { p = { on = [0.1, 0, 0] } } }
[joints]
J = { kind = "revolute", bodies = ["ground", "rotor"], at = [0, 0, 0] }
[forces]
T = { kind = "torque", body = "rotor", torque = [0, 0, 0.1] }
"#;

const COUNTER: &str = r#"
[bodies]
a = { at = [0, 0, 0], mass = 1, inertia = [0.03, 0.03, 0.05] }
b = { at = [0, 0, 0.1], mass = 1, inertia = [0.03, 0.03, 0.05] }
[joints]
A = { kind = "revolute", bodies = ["ground", "a"], at = [0, 0, 0] }
J = { kind = "revolute", bodies = ["a", "b"], at = [0, 0, 0] }
[forces]
T = { kind = "torque", body = "a", torque = [0, 0, -0.05] }
U = { kind = "torque", body = "b", torque = [0, 0, 0.05] }
"#;

const COUPLED: &str = r#"
[bodies]
rotor = { at = [0, 0, 0], mass = 1, inertia = [0.03, 0.03, 0.05] }
wheel = { at = [1, 0, 0], mass = 1, inertia = [0.03, 0.03, 0.05] }
[joints]
K = { kind = "revolute", bodies = ["ground", "rotor"], at = [0, 0, 0] }
J = { kind = "revolute", bodies = ["ground", "wheel"], at = [1, 0, 0] }
[constraints]
c = { kind = "coupler", coordinates = ["J.angle", "K.angle"], factors = [1, 3] }
[forces]
T = { kind = "torque", body = "rotor", torque = [0, 0, 0.5] }
"#;

const ON_BEAM: &str = r#"
[sections]
r = { kind = "circle", radius = 0.01 }
[flexible]
b = { kind = "beam", from = [0, 0, 0], to = [0.5, 0, 0], section = "r", material = "steel", elements = 2, damping = 1e-3 }
[bodies]
rotor = { at = [0.5, 0, 0], mass = 1, inertia = [0.05, 0.03, 0.03] }
[joints]
clamp = { kind = "fixed", bodies = ["ground", "b.start"], at = [0, 0, 0] }
J = { kind = "revolute", bodies = ["b.end", "rotor"], at = [0.5, 0, 0], axis = [1, 0, 0] }
[forces]
T = { kind = "torque", body = "rotor", torque = [0.1, 0, 0] }
"#;

const PLANAR: &str = r#"
space = "planar"
gravity = [0, 0]
[bodies]
w = { at = [0, 0], mass = 1, inertia = 0.05 }
[joints]
J = { kind = "revolute", bodies = ["ground", "w"], at = [0, 0] }
[forces]
T = { kind = "torque", body = "w", torque = 0.1 }
"#;

fn run_with(text: &str, run: &str) -> Outcome {
    outcome(&load(&format!("{text}\n[run]\n{run}\n")))
}

fn spatial(text: &str, run: &str) -> Outcome {
    run_with(&format!("{SPATIAL}{text}"), run)
}

/// The last angle, which is to be `exact`, of a run that is certified.
#[track_caller]
fn assert_counted(out: &Outcome, exact: f64, tolerance: f64, what: &str) {
    let angle = out.trajectory.last("J.angle").unwrap();
    assert!((angle - exact).abs() < tolerance, "{what}: {angle} for {exact}");
    assert!(out.report.certificate.passed, "{what}: {:?} {:?}", out.report.certificate, out.report.notes);
}

#[test]
fn revolutions_are_counted_by_every_adaptive_integrator() {
    let adaptive = KINDS.iter().filter(|kind| kind.adaptive).map(|kind| format!("\"{}\"", kind.name));
    let others =
        ["generalized_alpha", "staggered"].map(|name| format!("{{ kind = \"{name}\", adaptive = \"yes\" }}"));
    for integrator in adaptive.chain(others) {
        for (text, exact) in [(ROTOR, 100.0), (COUNTER, 100.0), (COUPLED, -150.0)] {
            let run = format!("t_end = 10\nintegrator = {integrator}\ncertify = {{ energy = 1e-4 }}");
            assert_counted(&spatial(text, &run), exact, 2e-2, &integrator);
        }
        let run = format!("t_end = 10\nintegrator = {integrator}\ncertify = {{ energy = 1e-4 }}");
        assert_counted(&run_with(PLANAR, &run), 100.0, 2e-2, &integrator);
    }
}

#[test]
fn revolutions_are_counted_in_joint_coordinates() {
    assert_counted(&spatial(COUNTER, "t_end = 10\ncoordinates = \"joint\""), 100.0, 1e-6, "joint");
}

#[test]
fn revolutions_of_a_rotor_on_a_beam_are_counted_by_default() {
    let out = spatial(ON_BEAM, "t_end = 10");
    assert_counted(&out, 100.0, 1e-6, &out.report.method.integrator);
    assert!(out.report.notes.iter().any(|n| n.contains("the rotation of a step was bounded")));
}

#[test]
fn fixed_steps_that_cannot_resolve_a_rotation_are_not_certified() {
    for kind in KINDS.iter().filter(|kind| !kind.adaptive) {
        let out = spatial(ROTOR, &format!("t_end = 60\nstep = 0.06\nintegrator = \"{}\"", kind.name));
        let rotation = out.report.certificate.rotation.unwrap();
        assert!(!rotation.passed && !out.report.certificate.passed, "{}", kind.name);
        assert!(rotation.value > rotation.limit, "{}: {rotation:?}", kind.name);
        assert!(out.report.notes.iter().any(|n| n.contains("rotates `rotor`")), "{:?}", out.report.notes);
    }
}

#[test]
fn fixed_steps_that_resolve_a_rotation_count_it() {
    for kind in KINDS.iter().filter(|kind| !kind.adaptive) {
        let out = spatial(ROTOR, &format!("t_end = 2\nstep = 1e-3\nintegrator = \"{}\"", kind.name));
        let rotation = out.report.certificate.rotation.unwrap();
        assert!(rotation.passed, "{}: {rotation:?}", kind.name);
        let angle = out.trajectory.last("J.angle").unwrap();
        assert!((angle - 4.0).abs() < 4.0 * 1e-3, "{}: {angle}", kind.name);
    }
}

/// Also in fixed steps of more than a revolution, which are not certified.
#[test]
fn rows_inside_a_step_follow_the_rotation() {
    for (integrator, step) in
        [("radau5", ""), ("bdf", ""), ("generalized_alpha", "step = 0.25\n"), ("staggered", "step = 0.05\n")]
    {
        let run = format!("t_end = 20\n{step}integrator = \"{integrator}\"\n[output]\nevery = 0.013");
        let out = spatial(ROTOR, &run);
        let rows = out.trajectory.column("rotor.p.x").unwrap();
        for (x, t) in rows.zip(out.trajectory.column("t").unwrap()) {
            assert!(
                (x - 0.1 * (t * t).cos()).abs() < 1e-6,
                "{integrator} at t = {t}: {x} for {}",
                0.1 * (t * t).cos()
            );
        }
    }
}

#[test]
fn events_in_angles_come_in_their_revolution() {
    for integrator in ["auto", "radau5", "bdf", "dop853", "abm"] {
        let text = ROTOR.replace("at = [0, 0, 0] }\n[forces]", "at = [0, 0, 0], lock_at = 100 }\n[forces]");
        let out = spatial(&text, &format!("t_end = 12\nintegrator = \"{integrator}\""));
        assert_eq!(out.report.events.len(), 1, "{integrator}");
        assert!((out.report.events[0].t - 10.0).abs() < 1e-5, "{integrator}: {}", out.report.events[0].t);
        assert!((out.trajectory.last("J.angle").unwrap() - 100.0).abs() < 1e-6, "{integrator}");
    }
}

#[test]
fn slow_rotations_bound_no_step() {
    let out = spatial(ROTOR, "t_end = 0.5\nintegrator = \"dop853\"");
    assert!(!out.report.notes.iter().any(|n| n.contains("rotation of a step")), "{:?}", out.report.notes);
    assert!(out.report.certificate.rotation.is_some_and(|r| r.passed && r.value < 1.0));
}
