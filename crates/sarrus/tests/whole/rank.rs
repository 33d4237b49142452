//! One decision on rank: assembly, check, formulations and reports say the same.

use sarrus::analysis::{RunOverrides, check};
use sarrus::model::settings::MethodChoice;
use sarrus::prelude::*;
use std::sync::Arc;

/// A door on two hinges whose axes differ by `e`.
const DOOR: &str = "
format = 'sarrus/1'
gravity = [0, 0, -9.81]
[parameters]
e = 0
[bodies]
door = { at = [0.4, 0, 1], mass = 20, inertia = [7, 8, 1.2] }
[joints]
low = { kind = 'revolute', bodies = ['ground', 'door'], at = [0, 0, 0.5], axis = [0, 0, 1] }
high = { kind = 'revolute', bodies = ['ground', 'door'], at = [0, 0, 1.5], axis = ['sin(e)', 0, 'cos(e)'] }
[run]
t_end = 1
";

/// A bob on a turning shaft, with an inertia far below m l² = 1 kg m².
const BOB: &str = "
format = 'sarrus/1'
points = { O = [0, 0, 0], B = [0.6, 0, -0.8] }
run.t_end = 1
[parameters]
I = 1e-9
[initial]
bearing.rate = 2
hinge.rate = 1
[bodies]
shaft = { at = [0, 0, 0], mass = 1, inertia = [0.5, 0.5, 0.5] }
bob = { at = 'B', mass = 1.0, inertia = ['I', 'I', 'I'] }
[joints]
bearing = { kind = 'revolute', bodies = ['ground', 'shaft'], at = 'O', axis = [0, 0, 1] }
hinge = { kind = 'revolute', bodies = ['shaft', 'bob'], at = 'O', axis = [0, 1, 0] }
";

/// Two screws that a gear ties and a nut joins: one degree of freedom, four redundant rows, regular everywhere.
const SCREWS: &str = "
format = 'sarrus/1'
gravity = [0, 0, -9.81]
run.t_end = 0.5
[bodies]
a = { at = [0, 0, 0.5], mass = 1, inertia = [1e-3, 1e-3, 1e-3] }
b = { at = [0.2, 0, 0.5], mass = 1, inertia = [1e-3, 1e-3, 1e-3] }
nut = { at = [0.1, 0, 0.3], mass = 2, inertia = [1e-3, 1e-3, 1e-3] }
[joints]
A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 0, 1] }
B = { kind = 'revolute', bodies = ['ground', 'b'], at = [0.2, 0, 0], axis = [0, 0, 1] }
SA = { kind = 'screw', bodies = ['a', 'nut'], at = [0, 0, 0.3], axis = [0, 0, 1], lead = 0.01 }
SB = { kind = 'screw', bodies = ['b', 'nut'], at = [0.2, 0, 0.3], axis = [0, 0, 1], lead = -0.01 }
[constraints]
gear = { kind = 'coupler', coordinates = ['A.angle', 'B.angle'], factors = [1, 1] }
";

fn load(text: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    let set = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn run(text: &str, set: &[(&str, &str)], overrides: RunOverrides) -> Outcome {
    let (model, system) = load(text, set);
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{set:?}: {e} {:?}", e.diagnostics()))
}

/// The rank of the start is, for every method, that of the geometry: 5 of 10 rows up to a misfit of 1e-5, and 6 above.
#[test]
fn a_door_moves_for_all_commands_or_for_none() {
    let rotating = DOOR.replace("[run]", "[initial]\nlow.rate = 2\n[run]");
    for e in ["0", "1e-12", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "5e-6", "1e-5", "2e-5", "1e-4", "1e-2"] {
        let set = [("e", e)];
        let (model, system) = load(DOOR, &set);
        let checked = check(&model, &system).unwrap();
        let moves = checked.dof == Some(1);
        let misfit: f64 = e.parse().unwrap();
        assert!(moves || misfit > 5e-6, "{e}: {:?}", checked.dof);
        assert!(!moves || misfit < 5e-5, "{e}: {:?}", checked.dof);
        assert_eq!(checked.mobility.structural, checked.dof, "{e}");
        let says =
            |notes: &[String]| notes.iter().any(|n| n.contains("nearly depend") && n.contains("`low`"));
        // the singular value is two thirds of the angle
        let sigma = 0.667 * misfit;
        assert_eq!(says(&checked.notes), sigma > 1e-10 && sigma < 1e-4, "{e}: {:?}", checked.notes);

        let at_rest = run(DOOR, &set, RunOverrides::default()).report;
        assert_eq!((at_rest.dof, at_rest.constraints.rank), (checked.dof, checked.constraints.rank), "{e}");
        assert!(at_rest.certificate.passed, "{e}: {:?}", at_rest.certificate);
        let (model, system) = load(&rotating, &set);
        match simulate(&model, &system, &Simulate { record: true, ..Simulate::default() }, &mut ()) {
            Ok(outcome) => {
                assert!(moves && outcome.report.dof == Some(1), "{e}: it swings");
                let end = outcome.trajectory.column("low.angle").unwrap().last().unwrap();
                assert!((end - 2.0).abs() < 1e-3, "{e}: {end}");
                assert_eq!(says(&outcome.report.notes), says(&checked.notes), "{e}");
                // the misfit shows in the positions: what is certified is within the limit
                let off = outcome.report.violation.position.max;
                assert_eq!(outcome.report.certificate.passed, off <= 1e-8, "{e}: {off:e}");
                assert!(off < 4.0 * misfit + 1e-13, "{e}: {off:e}");
            }
            Err(error) => assert!(!moves && error.to_string().contains("no velocities"), "{e}: {error}"),
        }
    }
}

#[test]
fn every_formulation_swings_the_door_that_check_lets_move() {
    let rotating = DOOR.replace("[run]", "[initial]\nlow.rate = 2\n[run]");
    let kinds =
        ["proximal", "partitioned", "null_space", "pseudo_inverse", "udwadia_kalaba", "least_squares_1"];
    let more = ["least_squares_2", "udwadia_phohomsiri", "augmented_lagrangian"];
    for kind in kinds.into_iter().chain(more) {
        for e in ["1e-7", "2e-6"] {
            let choice = MethodChoice { kind: kind.into(), ..MethodChoice::default() };
            let overrides =
                RunOverrides { formulation: Some(choice), t_end: Some(0.5), ..RunOverrides::default() };
            let outcome = run(&rotating, &[("e", e)], overrides);
            let end = outcome.trajectory.column("low.angle").unwrap().last().unwrap();
            assert!((end - 1.0).abs() < 1e-3, "{kind} {e}: {end} {}", outcome.report.reason);
        }
    }
}

/// Rates of independent joints are kept whatever the inertia, and the motion tends to that of a point mass.
#[test]
fn light_bodies_make_no_rows_dependent() {
    let mut ends = Vec::new();
    for inertia in ["1", "1e-3", "1e-6", "1e-8", "1e-9", "1e-10", "1e-11", "1e-12"] {
        let (model, system) = load(BOB, &[("I", inertia)]);
        let checked = check(&model, &system).unwrap();
        assert_eq!((checked.dof, checked.constraints.redundant), (Some(2), Some(0)), "{inertia}");
        let overrides = RunOverrides { t_end: Some(0.1), ..RunOverrides::default() };
        let outcome = run(BOB, &[("I", inertia)], overrides);
        let first = |name: &str| outcome.trajectory.column(name).unwrap().next().unwrap();
        let off = (first("bearing.rate") - 2.0).abs().max((first("hinge.rate") - 1.0).abs());
        assert!(off < 1e-9, "{inertia}: {off:e}");
        assert_eq!(outcome.report.status, Status::Completed, "{inertia}: {}", outcome.report.reason);
        ends.push(outcome.trajectory.column("hinge.angle").unwrap().last().unwrap());
    }
    let last = ends[ends.len() - 1];
    assert!(ends[2..].iter().all(|x| (x - last).abs() < 1e-5), "{ends:?}");
}

/// Chains of rods with a light one between heavy ones, closed at both ends and open.
#[test]
fn chains_with_light_links_have_the_rank_of_their_geometry() {
    for inertia in ["1e-12", "1e-10", "1e-9", "1e-6", "1e-3", "1"] {
        let text = "
format = 'sarrus/1'
gravity = [0, 0, -9.81]
run.t_end = 0.1
[parameters]
I = 1
[bodies]
b1 = { at = [0.5, 0, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }
b2 = { at = [1.5, 0, 0], mass = 1, inertia = ['I', 'I', 'I'] }
b3 = { at = [2.5, 0, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }
b4 = { at = [3.5, 0, 0], mass = 1, inertia = ['I', 'I', 'I'] }
[joints]
A = { kind = 'revolute', bodies = ['ground', 'b1'], at = [0, 0, 0], axis = [0, 1, 0] }
B = { kind = 'revolute', bodies = ['b1', 'b2'], at = [1, 0, 0], axis = [0, 1, 0] }
C = { kind = 'spherical', bodies = ['b2', 'b3'], at = [2, 0, 0] }
D = { kind = 'revolute', bodies = ['b3', 'b4'], at = [3, 0, 0], axis = [0, 0, 1] }
[initial]
A.rate = 1
B.rate = -2
D.rate = 3
";
        let (model, system) = load(text, &[("I", inertia)]);
        let checked = check(&model, &system).unwrap();
        assert_eq!((checked.dof, checked.constraints.redundant), (Some(6), Some(0)), "{inertia}");
        let start = sarrus::analysis::assemble(&model, &system, Default::default());
        assert!(start.is_ok_and(|start| start.report.velocity_error < 1e-9), "{inertia}");
        // accelerations of lighter links lose their digits: such a run fails, and says so
        if inertia.parse::<f64>().unwrap() < 1e-6 {
            continue;
        }
        let report = run(text, &[("I", inertia)], RunOverrides::default()).report;
        assert_eq!(report.status, Status::Completed, "{inertia}: {}", report.reason);
        assert_eq!(report.dof, Some(6), "{inertia}");
    }
}

/// The threefold-symmetric trihedral linkage of Bricard: six hinges at unit distances, neighbours at right angles, with angles θ and φ in
/// turn, cos θ + cos φ + cos θ cos φ = 0.
fn bricard(theta: f64, inertia: f64) -> String {
    let c = theta.cos();
    let phi = (-c / (1.0 + c)).acos();
    // frame of each hinge: x along the link before, z along the hinge
    let (mut p, mut x, mut z) = ([0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let add = |a: [f64; 3], s: f64, b: [f64; 3]| [0, 1, 2].map(|k| a[k] + s * b[k]);
    let mut hinges = Vec::new();
    for i in 0..6 {
        hinges.push((p, z));
        let angle: f64 = if i % 2 == 0 { theta } else { phi };
        let y = cross(z, x);
        x = add(x.map(|a| a * angle.cos()), angle.sin(), y);
        p = add(p, 1.0, x);
        // twist by ±90° about the link
        z = if i % 2 == 0 { cross(x, z) } else { cross(z, x) };
    }
    let closed = p.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
    assert!(closed < 1e-12, "the linkage does not close: {p:?}");
    let list = |v: [f64; 3]| format!("[{:?}, {:?}, {:?}]", v[0], v[1], v[2]);
    let mut text = String::from("format = 'sarrus/1'\ngravity = [0, 0, -9.81]\nrun.t_end = 0.5\n[bodies]\n");
    for i in 1..6 {
        let middle = add(hinges[i].0.map(|a| 0.5 * a), 0.5, hinges[(i + 1) % 6].0);
        text += &format!(
            "b{i} = {{ at = {}, mass = 1, inertia = [{inertia}, {inertia}, {inertia}] }}\n",
            list(middle)
        );
    }
    text += "[joints]\n";
    for (i, (at, axis)) in hinges.iter().enumerate() {
        let name = |k: usize| if k.is_multiple_of(6) { "ground".to_string() } else { format!("b{}", k % 6) };
        let (a, b) = (name(i + 5), name(i));
        text += &format!(
            "J{i} = {{ kind = 'revolute', bodies = ['{a}', '{b}'], at = {}, axis = {} }}\n",
            list(*at),
            list(*axis)
        );
    }
    text
}

/// One degree of freedom, one redundant row, regular; light links make rows weak in the metric of M, but no position singular.
#[test]
fn regular_overconstrained_mechanisms_are_not_singular_at_rest() {
    for degrees in [70.0_f64, 115.0] {
        for inertia in [0.1, 1e-2, 1e-4] {
            let text = bricard(degrees.to_radians(), inertia);
            let (model, system) = load(&text, &[]);
            let checked = check(&model, &system).unwrap();
            assert_eq!(
                (checked.dof, checked.constraints.redundant),
                (Some(1), Some(1)),
                "{degrees} {inertia}"
            );
            let report = run(&text, &[], RunOverrides::default()).report;
            assert!(report.singular.is_empty(), "{degrees} {inertia}: {:?}", report.singular);
            assert!(report.certificate.passed, "{degrees} {inertia}: {:?}", report.certificate);
        }
    }
    let report = run(SCREWS, &[], RunOverrides::default()).report;
    assert_eq!((report.dof, report.constraints.redundant), (Some(1), Some(4)));
    assert!(report.singular.is_empty(), "{:?}", report.singular);
}
