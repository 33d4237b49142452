//! Each oracle agrees with a right run and catches one that is not.

use super::{ORACLES, Oracle, OracleVerdict, SceneRun};
use crate::rng::Rng;
use crate::run::{RunEnd, run};
use crate::scene::{Expected, SceneElement, SceneFile, SceneTable};
use crate::table;
use sarrus::analysis::Trajectory;
use sarrus::model::Diagnostic;

fn scene(elements: Vec<(&'static str, &str, SceneTable)>, initial: SceneTable) -> SceneFile {
    let element = |(section, name, table): (&'static str, &str, SceneTable)| SceneElement {
        section,
        name: name.into(),
        value: table.into(),
    };
    SceneFile {
        planar: true,
        gravity: [0.0, -9.81, 0.0],
        elements: elements.into_iter().map(element).collect(),
        initial,
        run: table!["t_end" => 0.5],
        every: 0.0025,
        ..SceneFile::default()
    }
}

/// A double pendulum with a damped hinge.
fn pendulums() -> SceneFile {
    let body = |x: f64| table!["at" => [x, 0.0], "mass" => 1.5, "inertia" => 0.1];
    let hinge = |a: &str, b: &str, x: f64| table!["kind" => "revolute", "bodies" => [a, b], "at" => [x, 0.0]];
    let mut damped = hinge("a", "b", 1.0);
    damped.extend(table!["damping" => 0.1]);
    let elements = vec![
        ("bodies", "a", body(0.5)),
        ("bodies", "b", body(1.5)),
        ("joints", "p", hinge("ground", "a", 0.0)),
        ("joints", "q", damped),
    ];
    scene(elements, table!["p.rate" => 1.0])
}

/// Two bodies on a spring, falling.
fn falling() -> SceneFile {
    let body = |x: f64| table!["at" => [x, 0.0], "mass" => 1.5, "inertia" => 0.1];
    let spring = table!["kind" => "spring", "bodies" => ["a", "b"], "ends" => [[0.1, 0.1], [1.0, 0.0]], "stiffness" => 30.0];
    let mut all = scene(
        vec![("bodies", "a", body(0.0)), ("bodies", "b", body(1.0)), ("forces", "s", spring)],
        table!["a.velocity" => [1.0, 2.0], "a.rate" => 2.0],
    );
    let value = |i: usize| 0.0 + 1.0 * i as f64 * 0.0025;
    all.expected =
        vec![Expected { column: "t".into(), values: (0..201).map(value).collect(), tolerance: 1e-9 }];
    all
}

/// Holds what is changed of a row at a time: its cells, by the indices of columns.
type Change<'a> = dyn Fn(f64, &dyn Fn(&str) -> usize, &mut [f64]) + 'a;

/// A run with every row changed: `f` of the time, the names and the row.
fn tampered(run: &RunEnd, f: &Change) -> RunEnd {
    let RunEnd::Done(outcome) = run else { panic!("{run:?}") };
    let mut outcome = outcome.clone();
    let old = &outcome.trajectory;
    let mut new = Trajectory::new(old.names().to_vec(), old.units().to_vec());
    let index_of = |name: &str| old.index(name).unwrap_or_else(|| panic!("no column {name}"));
    for row in old.rows() {
        let cells = new.push();
        cells.copy_from_slice(row);
        f(row[0], &index_of, cells);
    }
    outcome.trajectory = new;
    RunEnd::Done(outcome)
}

fn oracle(name: &str) -> &'static Oracle {
    ORACLES.iter().find(|o| o.name == name).expect("a registered oracle")
}

/// The oracle agrees with the run as it is, and not with the tampered one.
fn catches(name: &str, scene: SceneFile, f: &Change) {
    let right = run(&scene);
    let judge = |run: RunEnd| {
        // oracles that choose an element choose none now and then
        (0..8)
            .map(|i| (oracle(name).judge)(&mut SceneRun::of(scene.clone(), run.clone()), &mut Rng::new(1, i)))
            .find(|v| *v != OracleVerdict::Silent)
    };
    assert_eq!(judge(right.clone()), Some(OracleVerdict::Agrees), "{name}");
    let verdict = judge(tampered(&right, f));
    assert!(matches!(verdict, Some(OracleVerdict::Wrong(_))), "{name}: {verdict:?}");
}

#[test]
fn panics_and_bare_refusals_are_caught() {
    let judge = |name, run| (oracle(name).judge)(&mut SceneRun::of(pendulums(), run), &mut Rng::new(1, 1));
    assert!(matches!(judge("panic", RunEnd::Panicked("x".into())), OracleVerdict::Wrong(_)));
    assert!(matches!(judge("hint", RunEnd::Refused(vec![Diagnostic::bare("x")])), OracleVerdict::Wrong(_)));
    assert_eq!(judge("hint", RunEnd::Refused(vec![Diagnostic::bare("x").hint("y")])), OracleVerdict::Agrees);
}

#[test]
fn numbers_that_are_not_finite_are_caught() {
    catches("finite", pendulums(), &|t, at, row| {
        row[at("p.fx")] = if t > 0.3 { f64::NAN } else { row[at("p.fx")] }
    });
}

#[test]
fn a_position_that_is_not_the_integral_of_its_velocity_is_caught() {
    catches("kinematics", pendulums(), &|t, at, row| row[at("a.x")] += if t > 0.3 { 0.01 } else { 0.0 });
}

#[test]
fn a_wrong_reaction_is_caught() {
    // the damped hinge is no plain joint: the bodies of another pair are needed
    let mut scene = pendulums();
    scene.elements[3].value = table!["kind" => "revolute", "bodies" => ["a", "b"], "at" => [1.0, 0.0]].into();
    catches("newton", scene, &|_, at, row| row[at("q.fx")] *= 1.001);
}

#[test]
fn a_change_of_momentum_is_caught() {
    catches("momentum", falling(), &|t, at, row| row[at("a.vx")] += 1e-3 * t);
}

#[test]
fn wrong_energies_are_caught() {
    catches("energy", falling(), &|_, at, row| row[at("energy.kinetic")] *= 1.0 + 1e-6);
    // both consistent with each other, and not with the work
    catches("energy", pendulums(), &|t, at, row| {
        let factor = 1.0 + 0.01 * t;
        for c in ["a.vx", "a.vy", "a.rate", "b.vx", "b.vy", "b.rate"] {
            row[at(c)] *= factor;
        }
        row[at("energy.kinetic")] *= factor * factor;
    });
}

#[test]
fn a_departure_from_a_closed_form_is_caught() {
    catches("closed_form", falling(), &|_, at, row| row[at("t")] *= 1.0 + 1e-6);
}

#[test]
fn another_motion_is_caught_by_every_rewritten_model() {
    let bent = |t: f64, at: &dyn Fn(&str) -> usize, row: &mut [f64]| row[at("b.x")] += 0.02 * t * t;
    let names = ["renamed", "permuted", "resolved", "placed", "mirrored", "split_body", "doubled_joint"];
    names.iter().for_each(|name| catches(name, pendulums(), &bent));
}

#[test]
fn another_motion_is_caught_by_other_methods() {
    let bent = |t: f64, at: &dyn Fn(&str) -> usize, row: &mut [f64]| row[at("b.x")] += 0.02 * t * t;
    ["tolerance", "fixed_steps"].iter().for_each(|name| catches(name, pendulums(), &bent));
    // other methods may be refused, or not be certified: one of them decides
    let wrong = tampered(&run(&pendulums()), &bent);
    let judge =
        |i| (oracle("method").judge)(&mut SceneRun::of(pendulums(), wrong.clone()), &mut Rng::new(1, i));
    assert!((0..12).any(|i| matches!(judge(i), OracleVerdict::Wrong(_))));
}

#[test]
fn every_oracle_is_tested_here() {
    let text = include_str!("tests.rs");
    for oracle in ORACLES {
        assert!(text.contains(&format!("\"{}\"", oracle.name)), "{}", oracle.name);
    }
}
