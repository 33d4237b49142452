//! Assembly: what is kept, what is found, and what is refused with names.

use sarrus_analysis::{AssemblyError, Outcome, RunOverrides, SetupError, Simulate, Status, simulate};
use sarrus_io::{LoadOptions, load_str};
use sarrus_system::compile;
use std::sync::Arc;

fn try_run(text: &str) -> Result<Outcome, SetupError> {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model =
        load_str("test.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|e| panic!("{e:?}")));
    let overrides = RunOverrides { t_end: Some(0.5), every: Some(0.5), ..RunOverrides::default() };
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
}

fn run(text: &str) -> Outcome {
    let outcome = try_run(text).unwrap_or_else(|e| panic!("{e}: {:?}", e.diagnostics()));
    assert_eq!(outcome.report.status, Status::Completed, "{:?}", outcome.report.reason);
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.certificate);
    outcome
}

fn first(outcome: &Outcome, column: &str) -> f64 {
    outcome.trajectory.column(column).and_then(|mut c| c.next()).unwrap_or_else(|| panic!("no {column}"))
}

/// A beam welded at both ends carries half its weight at each, which least norm finds.
#[test]
fn an_overconstrained_structure_at_rest_stays_there() {
    let beam = run("
        bodies.b = { from = [0, 0, 0], to = [2, 0, 0], mass = 3 }
        joints.A = { kind = 'fixed', bodies = ['ground', 'b'], at = [0, 0, 0] }
        joints.B = { kind = 'fixed', bodies = ['ground', 'b'], at = [2, 0, 0] }");
    for column in ["A.fz", "B.fz"] {
        assert!((first(&beam, column) - 1.5 * 9.81).abs() < 1e-9);
        assert!((beam.trajectory.last(column).unwrap() - 1.5 * 9.81).abs() < 1e-9);
    }
    let plate = run("
        space = 'planar'
        bodies.b = { from = [-1, 0], to = [1, 0], mass = 3 }
        joints.A = { kind = 'revolute', bodies = ['ground', 'b'], at = [-1, 0] }
        joints.B = { kind = 'revolute', bodies = ['ground', 'b'], at = [1, 0] }");
    assert!((plate.trajectory.last("A.fy").unwrap() - 1.5 * 9.81).abs() < 1e-9);
}

/// 0.5 m at a lead of 0.1 m are five turns, though the pose after each is the same.
#[test]
fn turns_that_assembly_makes_are_counted() {
    let screw = run("
        bodies.b = { from = [0, 0, 0], to = [0, 0, 1], mass = 3 }
        joints.A = { kind = 'screw', bodies = ['ground', 'b'], at = [0, 0, 0], axis = [0, 0, 1], lead = 0.1 }
        initial.A.position = 0.5");
    assert!((first(&screw, "A.position") - 0.5).abs() < 1e-12);
    assert!((first(&screw, "A.angle") - 10.0 * std::f64::consts::PI).abs() < 1e-9);
    let coupled = run("
        gravity = [0, 0, 0]
        bodies.a = { at = [0, 0, 0], mass = 3, inertia = [1, 1, 1] }
        bodies.b = { at = [1, 0, 0], mass = 3, inertia = [1, 1, 1] }
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 0, 1] }
        joints.B = { kind = 'revolute', bodies = ['ground', 'b'], at = [1, 0, 0], axis = [0, 0, 1] }
        constraints.c = { kind = 'coupler', coordinates = ['A.angle', 'B.angle'], factors = [1, -2] }
        initial.A.angle = 20");
    assert!((first(&coupled, "B.angle") - 10.0).abs() < 1e-9);
}

const FOUR_BAR: &str = "
    space = 'planar'
    bodies.crank = { from = [0, 0], to = [0.1, 0.17], mass = 1 }
    bodies.coupler = { at = [0.3, 0.2], angle = '10 deg', mass = 2, inertia = 0.03 }
    bodies.rocker = { at = [0.45, 0.1], angle = '70 deg', mass = 1, inertia = 0.01 }
    joints.A = { kind = 'revolute', bodies = ['ground', 'crank'], at = [0, 0] }
    joints.B = { kind = 'revolute', bodies = ['crank', 'coupler'], on = [[0.0986, 0], [-0.2, 0]] }
    joints.C = { kind = 'revolute', bodies = ['coupler', 'rocker'], on = [[0.2, 0], [0.125, 0]] }
    joints.D = { kind = 'revolute', bodies = ['ground', 'rocker'], on = [[0.4, 0], [-0.125, 0]] }
";

#[test]
fn rough_poses_are_closed_and_initial_values_kept_exactly() {
    let closed = run(&format!("{FOUR_BAR}\ninitial.A.angle = '60 deg'\ninitial.A.rate = 2"));
    assert!((first(&closed, "A.angle") - 60_f64.to_radians()).abs() < 1e-12);
    assert!((first(&closed, "A.rate") - 2.0).abs() < 1e-12);
    assert!(first(&closed, "violation.position") < 1e-12 && first(&closed, "violation.velocity") < 1e-12);
}

#[test]
fn parts_that_cannot_meet_are_named_with_their_distance() {
    let apart = FOUR_BAR.replace("[[0.4, 0], [-0.125, 0]]", "[[4.4, 0], [-0.125, 0]]");
    match try_run(&apart) {
        Err(SetupError::Assembly(AssemblyError::Positions { apart, .. })) => {
            assert!(apart.iter().any(|(name, _)| name == "joint `D`" || name == "joint `C`"), "{apart:?}");
            let total: f64 = apart.iter().map(|(_, error)| error).sum();
            assert!(total > 1.0, "{apart:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn initial_values_that_contradict_each_other_are_named() {
    let both = format!("{FOUR_BAR}\ninitial.A.rate = 2\ninitial.crank.rate = 3");
    let error = try_run(&both).unwrap_err();
    assert!(matches!(error, SetupError::Assembly(AssemblyError::Velocities { .. })), "{error:?}");
    let hint = error.diagnostics()[0].hint.clone().unwrap();
    assert!(hint.contains("`A.rate`") && hint.contains("`crank.rate`"), "{hint}");
}

#[test]
fn what_would_have_no_effect_is_refused() {
    for (setting, message) in [
        ("guess.A.rate = 3", "would have no effect"),
        (
            "controllers.c = { kind = 'pid', input = 'A.angle', kp = 1, ki = 1 }\ninitial.c.out = 3",
            "is an output",
        ),
    ] {
        let error = try_run(&format!("{FOUR_BAR}\n{setting}")).unwrap_err();
        let diagnostic = &error.diagnostics()[0];
        assert!(diagnostic.message.contains(message) && diagnostic.hint.is_some(), "{diagnostic:?}");
    }
}

#[test]
fn a_driver_without_a_slope_at_the_start_is_named() {
    let error =
        try_run(&format!("{FOUR_BAR}\ndrivers.d = {{ kind = 'joint', joint = 'A', angle = 'sqrt(t)' }}"))
            .unwrap_err();
    let diagnostic = &error.diagnostics()[0];
    assert!(diagnostic.message.contains("driver `d`") && diagnostic.hint.is_some(), "{diagnostic:?}");
}
