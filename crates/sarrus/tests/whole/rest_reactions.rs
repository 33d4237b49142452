//! Reactions at rest that are not unique are named, as a run that starts there names them.

use sarrus::analysis::{EquilibriumReport, Simulate, equilibrium, simulate};
use sarrus::prelude::*;
use std::sync::Arc;

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn at_rest(text: &str) -> EquilibriumReport {
    let (model, system) = load(text);
    equilibrium(&model, &system).unwrap_or_else(|e| panic!("{e}\n{text}")).report
}

fn in_a_run(text: &str) -> Vec<String> {
    let (model, system) = load(text);
    simulate(&model, &system, &Simulate::default(), &mut ()).unwrap().report.reactions.not_unique
}

/// A plate of 2 kg on segments at these places, whose feet are `above` the floor, with a contact for each segment.
fn table(legs: &[[f64; 2]], above: f64) -> String {
    let shape = |(i, [x, y]): (usize, &[f64; 2])| {
        format!("{{ kind = \"sphere\", radius = 0.05, on = [{x}, {y}, -0.45], name = \"leg{i}\" }}")
    };
    let shapes: Vec<String> = legs.iter().enumerate().map(shape).collect();
    let contacts: String = (0..legs.len())
        .map(|i| {
            format!("contacts.c{i} = {{ between = [\"b.leg{i}\", \"ground\"], method = \"impulsive\" }}\n")
        })
        .collect();
    format!(
        "format = \"sarrus/1\"\nrun.t_end = 0.01\nground.shape = {{ kind = \"half_space\" }}\n\
         bodies.b = {{ at = [0, 0, {}], mass = 2, inertia = [0.1, 0.1, 0.1], shape = [{}] }}\n{contacts}",
        0.5 + above,
        shapes.join(", ")
    )
}

const LEGS: [[f64; 2]; 4] = [[0.3, 0.3], [0.3, -0.3], [-0.3, 0.3], [-0.3, -0.3]];

#[test]
fn four_legs_on_a_floor_share_a_weight_in_many_ways_and_three_do_not() {
    for above in [0.0, 0.3] {
        let report = at_rest(&table(&LEGS, above));
        let all: Vec<String> = (0..4).map(|i| format!("c{i}.force")).collect();
        assert_eq!(report.reactions_not_unique, all, "{above}");
        // of least norm
        for name in &all {
            assert!((report.values[name] - 0.25 * 2.0 * 9.81).abs() < 1e-9, "{name}");
        }
        let three = [LEGS[0], LEGS[1], [-0.3, 0.0]];
        let report = at_rest(&table(&three, above));
        assert!(report.reactions_not_unique.is_empty(), "{:?}", report.reactions_not_unique);
        assert!((report.values["c2.force"] - 9.81).abs() < 1e-9);
    }
    assert_eq!(at_rest(&table(&LEGS, 0.0)).reactions_not_unique, in_a_run(&table(&LEGS, 0.0)));
}

/// Two arms whose angles are one, with limits.
fn arms(limits: [f64; 2]) -> String {
    let arm = |name: &str, joint: &str, x: f64, limit: f64| {
        format!(
            "bodies.{name} = {{ from = [{x}, 0], to = [{}, 0], mass = 2 }}\n\
             joints.{joint} = {{ kind = \"revolute\", bodies = [\"ground\", \"{name}\"], at = [{x}, 0], limits = [{limit}, 1] }}\n",
            x + 1.0
        )
    };
    format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 0.01\n{}{}\
         constraints.g = {{ kind = \"coupler\", coordinates = [\"j.angle\", \"k.angle\"], factors = [1, -1] }}\n",
        arm("a", "j", 0.0, limits[0]),
        arm("b", "k", 2.0, limits[1])
    )
}

#[test]
fn two_limits_of_coupled_joints_share_their_torque_in_many_ways_and_one_does_not() {
    let due = ["j.tz", "k.tz", "g.force"];
    for limit in [0.0, -0.3] {
        assert_eq!(at_rest(&arms([limit, limit])).reactions_not_unique, due);
    }
    assert_eq!(in_a_run(&arms([0.0, 0.0])), due);
    let report = at_rest(&arms([-0.3, -0.4]));
    assert!(report.reactions_not_unique.is_empty());
    // m g l/2 cos of the angle, of both arms
    assert!((report.values["j.tz"] - 2.0 * 9.81 * 0.3_f64.cos()).abs() < 1e-9);
}

#[test]
fn a_limit_of_a_joint_that_a_driver_holds_there_shares_its_torque_with_that() {
    let text = "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 0.01\n\
        bodies.a = { from = [0, 0], to = [1, 0], mass = 2 }\n\
        joints.j = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0], limits = [0, 1] }\n\
        drivers.d = { kind = \"joint\", joint = \"j\", angle = \"0\" }\n";
    let report = at_rest(text);
    assert_eq!(report.reactions_not_unique, in_a_run(text));
    assert_eq!(report.reactions_not_unique, ["j.tz", "d.torque"]);
}

#[test]
fn two_hinges_of_a_door_are_named_component_by_component() {
    let hinge = |name: &str, z: f64| {
        format!(
            "joints.{name} = {{ kind = \"revolute\", bodies = [\"ground\", \"door\"], at = [0, 0, {z}], axis = [0, 0, 1] }}\n"
        )
    };
    let text = format!(
        "format = \"sarrus/1\"\nrun.t_end = 0.01\nbodies.door = {{ at = [0.4, 0, 1], mass = 20, inertia = [1, 2, 3] }}\n{}{}",
        hinge("low", 0.2),
        hinge("high", 1.8)
    );
    let report = at_rest(&text);
    assert_eq!(report.reactions_not_unique, in_a_run(&text));
    assert!(report.reactions_not_unique.iter().any(|name| name == "low.fz"));
}
