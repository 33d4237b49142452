//! Contacts are never passed over: gaps are bounded over each step.

use crate::common::run_by as run;
use sarrus::prelude::*;

fn column<'a>(outcome: &'a Outcome, column: &str) -> impl Iterator<Item = f64> + 'a {
    let index = outcome.trajectory.index(column).unwrap_or_else(|| panic!("no column {column}"));
    outcome.trajectory.rows().map(move |row| row[index])
}

const SOFT: &str = "law = { kind = 'linear', stiffness = 1e6, restitution = 0.5 }";
const RIGID: &str = "method = 'impulsive', restitution = 0.5";

/// Defines what a ball falls on, with its top at z = 0.
const TARGETS: [&str; 5] = [
    "{ kind = 'plane' }",
    "{ kind = 'half_space' }",
    "{ kind = 'box', size = [1, 1, 0.1], on = [0, 0, -0.05] }",
    "{ kind = 'disc', radius = 0.5, thickness = 0.1, on = [0, 0, -0.05] }",
    "{ kind = 'capsule', radius = 0.1, length = 1, on = [0, 0, -0.1] }",
];

#[test]
fn a_ball_dropped_from_any_height_bounces_off_every_shape() {
    for (target, contact) in TARGETS.iter().flat_map(|target| [(target, SOFT), (target, RIGID)]) {
        for (height, integrator) in [(0.3, "dop853"), (2.0, "dop853"), (3.1, "rk45"), (6.0, "dop853")] {
            let text = format!(
                "format = 'sarrus/1'
                ground.shape = {target}
                run.t_end = {}
                output.every = 0.01
                bodies.b = {{ at = [0, 0, {}], mass = 1, shape = {{ kind = 'sphere', radius = 0.05 }} }}
                contacts.c = {{ between = ['b', 'ground'], {contact} }}",
                1.5 * (2.0 * height / 9.81_f64).sqrt(),
                height + 0.05
            );
            let outcome = run(&text, integrator, None);
            let report = &outcome.report;
            let name = format!("{target} {contact} {height} {integrator}");
            assert_eq!(report.status, Status::Completed, "{name}: {}", report.reason);
            assert_eq!(report.contacts[0].onsets, 1, "{name}");
            let speed = (2.0 * 9.81 * height).sqrt();
            let (first, tolerance) = (report.contacts[0].fastest_onset, 1e-3 * speed);
            assert!((first - speed).abs() < tolerance, "{name}: {first} for {speed}");
            let least = column(&outcome, "b.z").fold(f64::INFINITY, f64::min);
            assert!(least > 0.03, "{name}: z = {least}");
            // half a fall's time after the touch it is at the top, e² of the height
            let last = column(&outcome, "b.z").last().unwrap();
            assert!((last - 0.05 - 0.25 * height).abs() < 0.01 * height, "{name}: top at z = {last}");
        }
    }
}

/// A ball of 1 mm at 1000 m/s against a wall of 1 mm.
#[test]
fn a_bullet_does_not_pass_a_thin_wall() {
    let soft = "law = { kind = 'linear', stiffness = 1e9, restitution = 1 }";
    for (contact, integrator, step) in [
        (soft, "dop853", None),
        (soft, "rk45", None),
        ("method = 'impulsive', restitution = 1", "dop853", None),
        ("method = 'impulsive', restitution = 1", "rk4", Some(1e-3)),
    ] {
        let text = format!(
            "format = 'sarrus/1'
            gravity = [0, 0, 0]
            run.t_end = 0.01
            initial.b.velocity = [1000, 0, 0]
            ground.shape = {{ kind = 'box', size = [0.001, 1, 1], on = [1, 0, 0] }}
            bodies.b = {{ at = [0, 0, 0], mass = 1e-3, shape = {{ kind = 'sphere', radius = 0.001 }} }}
            contacts.c = {{ between = ['b', 'ground'], {contact} }}"
        );
        let outcome = run(&text, integrator, step);
        assert_eq!(outcome.report.contacts[0].onsets, 1, "{contact} {integrator}");
        let last = column(&outcome, "b.vx").last().unwrap();
        assert!((last + 1000.0).abs() < 1.0, "{contact} {integrator}: {last}");
    }
}

/// A bar of 1 m at 300 rad/s whose tip sweeps over a ball that stands still; it rotates by many revolutions in the run.
#[test]
fn the_tip_of_a_spinning_bar_meets_a_ball_between_two_steps() {
    for (contact, shape) in [
        ("method = 'impulsive', restitution = 1", "{ kind = 'box', size = [1, 0.01, 0.01] }"),
        (
            "law = { kind = 'linear', stiffness = 1e8, restitution = 1 }",
            "{ kind = 'capsule', length = 1, radius = 0.005 }",
        ),
    ] {
        let text = format!(
            "format = 'sarrus/1'
            gravity = [0, 0, 0]
            run.t_end = 0.012
            initial.bar.omega = [0, 0, 300]
            bodies.bar = {{ at = [0, 0, 0], mass = 1, shape = {shape} }}
            bodies.ball = {{ at = [0, 0.49, 0], mass = 0.01, shape = {{ kind = 'sphere', radius = 0.005 }} }}
            contacts.c = {{ between = ['bar', 'ball'], {contact} }}"
        );
        let outcome = run(&text, "dop853", None);
        assert_eq!(outcome.report.status, Status::Completed, "{contact}: {}", outcome.report.reason);
        assert!(outcome.report.contacts[0].onsets >= 1, "{contact}");
        let hit =
            (column(&outcome, "ball.vx").last().unwrap()).hypot(column(&outcome, "ball.vy").last().unwrap());
        assert!(hit > 100.0, "{contact}: {hit}");
    }
}

/// Two balls that pass each other with overlap or clearance of a part of their radius.
#[test]
fn grazing_balls_meet_if_they_overlap_and_only_then() {
    for (offset, meets) in [(1.0 - 1e-6, true), (1.0 + 1e-6, false), (0.9, true), (1.1, false)] {
        let text = format!(
            "format = 'sarrus/1'
            gravity = [0, 0, 0]
            run.t_end = 10
            initial = {{ a.velocity = [1, 0, 0], b.velocity = [-1, 0, 0] }}
            bodies.a = {{ at = [-1, 0, 0], mass = 1, shape = {{ kind = 'sphere', radius = 0.05 }} }}
            bodies.b = {{ at = [1, {}, 0], mass = 1, shape = {{ kind = 'sphere', radius = 0.05 }} }}
            contacts.c = {{ between = ['a', 'b'], method = 'impulsive', restitution = 0.5 }}",
            0.1 * offset
        );
        let outcome = run(&text, "dop853", None);
        assert_eq!(outcome.report.contacts[0].onsets > 0, meets, "offset {offset}");
    }
}

#[test]
fn an_overlap_at_the_start_is_reported_and_does_not_stall_the_run() {
    let text = "format = 'sarrus/1'
        ground.shape = { kind = 'half_space' }
        run = { t_end = 0.01, max_steps = 5000 }
        bodies.ball = { at = [0, 0, 0.02], material = 'steel', shape = { kind = 'sphere', radius = 0.05 } }
        contacts.floor = { between = ['ball', 'ground'], law = { kind = 'hertz', restitution = 0.8 } }";
    let outcome = run(text, "dop853", None);
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    let note = outcome.report.notes.iter().find(|note| note.contains("contact `floor` overlaps"));
    assert!(
        note.is_some_and(|note| note.contains("3.0000e-2 m") && note.contains(" J ")),
        "{:?}",
        outcome.report.notes
    );
}

/// A block that slides on the ground from the start, held by a rigid contact.
#[test]
fn a_rigid_contact_that_is_closed_from_the_start_counts_as_touched() {
    let text = "format = 'sarrus/1'
        space = 'planar'
        run.t_end = 0.5
        initial.block.vx = 2
        ground.shape = { kind = 'half_space' }
        bodies.block = { at = [0, 0.05], mass = 2, shape = { kind = 'box', size = [0.2, 0.1] } }
        contacts.f = { between = ['block', 'ground'], method = 'impulsive', friction = { mu = 0.3 } }";
    let outcome = run(text, "dop853", None);
    assert_eq!(outcome.report.contacts[0].onsets, 2, "two corners");
    assert!(outcome.report.certificate.passed);
}
