//! Describes what happens between rows: peaks of columns, rows at instants, rotations that rows do not show.

use crate::common::{load, outcome};
use sarrus::analysis::{InstantSide, PeakReport};
use sarrus::prelude::*;

const G: f64 = 9.81;

fn peak(run: &Outcome, column: &str) -> PeakReport {
    *run.report.peaks.get(column).unwrap_or_else(|| panic!("no peaks of {column}"))
}

/// A uniform bar of 1.5 m and 2 kg that starts level, with two rows in 9.5 s. At the bottom ω² = 3 g/l, and the hinge bears 5/2 m g;
/// it bears nothing of the weight where the bar is level.
#[test]
fn peaks_between_two_rows_are_those_of_the_closed_form() {
    let run = outcome(&load(
        "space = 'planar'\nbodies.bar = { from = [0, 0], to = [1.5, 0], mass = 2 }\n\
         joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\nrun.t_end = 9.5\noutput.every = 9.5\n",
    ));
    assert_eq!(run.trajectory.len(), 2);
    let rate = (3.0 * G / 1.5).sqrt();
    let near = |found: f64, exact: f64| {
        // never above, and below by a part of the range that is not searched for
        let off = found.abs() / exact.abs() - 1.0;
        assert!(off < 1e-6 && off > -5e-4, "{found} where {exact} is exact");
    };
    near(peak(&run, "A.rate").min, -rate);
    near(peak(&run, "A.rate").max, rate);
    near(peak(&run, "A.fy").max, 2.5 * 2.0 * G);
    near(peak(&run, "bar.y").min, -0.75);
    // the force is largest where the bar hangs, whichever swing it was
    let quarter = peak(&run, "A.fy").t_max;
    assert!(quarter > 0.5 && quarter < 9.5, "{quarter}");
    // the rows have missed all of it
    assert!(run.trajectory.column("A.fy").unwrap().all(|force| force < 40.0));
}

const DROP: &str = "space = 'planar'\nground.shape = { kind = 'half_space' }\n\
    bodies.ball = { at = [0, 0.3], mass = 2, shape = { kind = 'disc', radius = 0.1 } }\n\
    run.t_end = 0.5\noutput.every = 0.1\n";

/// Dropped from 0.2 m on a spring of 1e5 N/m without loss: k d²/2 = m g (h + d).
#[test]
fn the_largest_contact_force_is_found_between_rows_and_has_a_row_of_its_own() {
    let text = format!(
        "{DROP}contacts.floor = {{ between = ['ball', 'ground'], law = {{ kind = 'linear', stiffness = 1e5 }} }}\n"
    );
    let run = outcome(&load(&text));
    let (k, weight, h) = (1e5, 2.0 * G, 0.2);
    let exact = weight + (weight * weight + 2.0 * k * weight * h).sqrt();
    let found = peak(&run, "floor.force");
    assert!((found.max / exact - 1.0).abs() < 1e-4, "{} where {exact} is exact", found.max);
    assert_eq!(found.min, 0.0);
    assert!(run.report.contacts[0].largest_force >= found.max);
    let rows = run.trajectory.column("floor.force").unwrap();
    assert!(rows.fold(0.0, f64::max) < 0.5 * exact, "a regular row has met it");
    let instants = &run.instants;
    let of = |side: InstantSide, what: &str| {
        instants.log.iter().position(|log| *log == (side, what.to_string())).expect("a row")
    };
    let force = instants.rows.index("floor.force").unwrap();
    let row = instants.rows.row(of(InstantSide::Peak, "floor.force")).unwrap();
    assert!((row[force] / exact - 1.0).abs() < 1e-2);
    // where it first touches
    let t = (2.0 * h / G).sqrt();
    let (before, after) = (of(InstantSide::Before, "contact"), of(InstantSide::After, "contact"));
    let times = [before, after].map(|row| instants.rows.row(row).unwrap()[0]);
    assert_eq!(times[0], times[1]);
    assert!((times[0] - t).abs() < 1e-7, "{} where {t} is exact", times[0]);
}

/// A rigid floor that returns half of the speed.
#[test]
fn an_impact_has_a_row_before_it_and_one_after() {
    let text = format!(
        "{DROP}contacts.floor = {{ between = ['ball', 'ground'], method = 'impulsive', restitution = 0.5 }}\n"
    );
    let run = outcome(&load(&text));
    let rows = &run.instants.rows;
    let speed = rows.index("ball.vy").unwrap();
    let [before, after] = [0, 1].map(|row| rows.row(row).unwrap());
    assert_eq!(run.instants.log[0], (InstantSide::Before, "floor".to_string()));
    assert_eq!(run.instants.log[1], (InstantSide::After, "floor".to_string()));
    let v = (2.0 * G * 0.2).sqrt();
    assert_eq!(before[0], after[0]);
    assert!((before[speed] + v).abs() < 1e-6 && (after[speed] - 0.5 * v).abs() < 1e-6);
    // both sides count as peaks
    let peak = peak(&run, "ball.vy");
    assert!((peak.min + v).abs() < 1e-6 && (peak.max - 0.5 * v).abs() < 1e-6, "{peak:?}");
}

/// A motor that switches at 0.25 s: the acceleration is 0 before it and torque/inertia after it.
#[test]
fn a_force_that_switches_has_a_row_before_it_and_one_after() {
    let run = outcome(&load(
        "space = 'planar'\ngravity = [0, 0]\nbodies.w = { at = [0, 0], mass = 1, inertia = 0.5 }\n\
         joints.J = { kind = 'revolute', bodies = ['ground', 'w'], at = [0, 0] }\n\
         forces.motor = { kind = 'torque', body = 'w', torque = 'if(t < 0.25, 0, 2)' }\nrun.t_end = 0.5\noutput.every = 0.2\n",
    ));
    let rows = &run.instants.rows;
    let alpha = rows.index("w.alpha").unwrap();
    let log: Vec<_> = run.instants.log.iter().map(|(side, what)| (*side, what.as_str())).collect();
    assert_eq!(log, [(InstantSide::Before, "switch"), (InstantSide::After, "switch")]);
    let found = [0, 1].map(|row| rows.row(row).unwrap()[alpha]);
    assert!(found[0].abs() < 1e-12 && (found[1] - 4.0).abs() < 1e-12, "{found:?}");
}

const SPIN: &str = "space = 'planar'\nbodies.w = { at = [0, 0], mass = 1, shape = { kind = 'disc', radius = 0.1 } }\n\
    joints.J = { kind = 'revolute', bodies = ['ground', 'w'], at = [0, 0] }\n\
    drivers.d = { kind = 'joint', joint = 'J', angle = '3000 rpm*t' }\n";

/// 50 revolutions a second with a row every 0.06 s.
#[test]
fn rows_that_do_not_show_a_rotation_are_noted_with_the_body_and_a_remedy() {
    let run = outcome(&load(&format!("{SPIN}run.t_end = 6\noutput.every = 0.06\n")));
    let is_note = |note: &&String| note.contains("between two rows");
    let note = run.report.notes.iter().find(is_note).expect("a note");
    assert!(
        note.contains("`w`") && note.contains("3.000 revolutions") && note.contains("= 0.001 "),
        "{note}"
    );
    assert!(run.report.certificate.passed);
    let fine = outcome(&load(&format!("{SPIN}run.t_end = 0.1\noutput.every = 0.001\n")));
    assert!(fine.report.notes.iter().find(is_note).is_none());
}

/// In space too, where orientations do not count revolutions: a free body that spins about a principal axis.
#[test]
fn rotations_in_space_are_noted_too() {
    let run = outcome(&load(
        "gravity = [0, 0, 0]\nbodies.top = { at = [0, 0, 0], mass = 1, inertia = [1, 1, 2] }\n\
         initial.top = { omega = [0, 0, '20*pi'] }\nrun.t_end = 1\noutput.every = 0.1\n",
    ));
    assert!(run.report.notes.iter().any(|note| note.contains("`top` rotates by 1.000 revolutions")));
}

/// The coupler passes dead centres within a millisecond, half of the time between two rows: what ten times the rows show is found.
#[test]
fn peaks_of_a_fast_mechanism_are_those_of_many_rows() {
    let (model, system) = {
        let text = sarrus_zoo::model("four_bar").expect("a shipped model");
        let model = load_str("four_bar.toml", text, &LoadOptions::default()).unwrap();
        let system = std::sync::Arc::new(compile(&model).unwrap());
        (model, system)
    };
    let run = |every: f64| {
        let overrides = RunOverrides { every: Some(every), ..RunOverrides::default() };
        simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap()
    };
    let (few, many) = (run(2e-3), run(1e-4));
    for column in ["A.fx", "A.fy", "C.fx", "rocker.alpha"] {
        let range = |run: &Trajectory| {
            let column = || run.column(column).unwrap();
            [column().fold(f64::INFINITY, f64::min), column().fold(f64::NEG_INFINITY, f64::max)]
        };
        let (PeakReport { min, max, .. }, [low, high]) = (peak(&few, column), range(&many.trajectory));
        assert!((min - low).max(high - max) < 0.01 * (high - low), "{column}: {min} {low} {max} {high}");
    }
    // rows alone miss it by far
    let rows = few.trajectory.column("A.fx").unwrap().fold(0.0, f64::min);
    assert!(peak(&few, "A.fx").min < 1.1 * rows);
}

/// Rows are the same to the bit whether peaks are searched for, and without them the report has none.
#[test]
fn peaks_change_no_row() {
    for law in ["law = { kind = 'linear', stiffness = 1e5 }", "method = 'impulsive', restitution = 0.5"] {
        let text = format!("{DROP}contacts.floor = {{ between = ['ball', 'ground'], {law} }}\n");
        let (with, without) =
            (outcome(&load(&text)), outcome(&load(&format!("{text}output.peaks = false\n"))));
        assert_eq!(with.trajectory, without.trajectory);
        assert_eq!(with.report.counts.steps, without.report.counts.steps);
        assert!(without.report.peaks.is_empty() && !with.report.peaks.is_empty());
    }
}
