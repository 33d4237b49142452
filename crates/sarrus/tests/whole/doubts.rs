//! Notes on what a model says and its author may not mean, and none on models that mean it.

use crate::common::{load, read};
use sarrus::analysis::Simulation;
use sarrus::prelude::*;
use sarrus_zoo::MODELS;
use std::path::Path;
use std::sync::Arc;

const DOUBTS: [&str; 5] = [
    "away from its bodies",
    "free fall",
    "ground alone",
    "kinetic energy at the start",
    "shapes overlap at the start",
];

fn doubts(model: Model, system: &Arc<System>) -> Vec<String> {
    let mut begun =
        Simulation::new(Arc::new(model), system, &Simulate { record: false, ..Simulate::default() })
            .unwrap_or_else(|e| panic!("{e}"));
    begun.report().notes.into_iter().filter(|note| DOUBTS.iter().any(|doubt| note.contains(doubt))).collect()
}

fn of(text: &str) -> Vec<String> {
    let (model, system) = load(text);
    let checked = check(&model, &system).unwrap();
    let found = doubts(model, &system);
    let log: Vec<&String> = checked.notes.iter().filter(|n| DOUBTS.iter().any(|d| n.contains(d))).collect();
    assert_eq!(found.iter().collect::<Vec<_>>(), log, "`check` and `run` tell the same");
    found
}

const CHAIN: &str = "space = 'planar'\n\
    bodies.a = { from = [0, 0], to = [1, 0], mass = 1 }\nbodies.b = { from = [1, 0], to = [2, 0], mass = 1 }\n\
    joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }\n";

#[test]
fn a_joint_far_from_its_bodies_is_named() {
    let with = |at: &str| {
        of(&format!("{CHAIN}joints.B = {{ kind = 'revolute', bodies = ['a', 'b'], at = [{at}, 0] }}"))
    };
    let found = with("1000");
    assert!(found.len() == 1 && found[0].contains("joint `B`") && found[0].contains("998.5 m"), "{found:?}");
    assert!(with("1").is_empty() && with("8").is_empty());
}

#[test]
fn a_body_that_nothing_holds_is_named() {
    let joint = "joints.B = { kind = 'revolute', bodies = ['a', 'b'], at = [1, 0] }\n";
    let found = of(CHAIN);
    assert!(found.len() == 1 && found[0].contains("`b`") && found[0].contains("free fall"), "{found:?}");
    assert!(of(&format!("{CHAIN}{joint}")).is_empty());
    let spring =
        "forces.s = { kind = 'spring', bodies = ['a', 'b'], ends = [[0.5, 0], [1.5, 0]], stiffness = 10 }\n";
    assert!(of(&format!("{CHAIN}{spring}")).is_empty());
    // no weight, or thrown
    assert!(of(&format!("gravity = [0, 0]\n{CHAIN}")).is_empty());
    assert!(of(&format!("{CHAIN}initial.b.velocity = [1, 0]\n")).is_empty());
    // alone, it is the model
    assert!(of("space = 'planar'\nbodies.b = { from = [1, 0], to = [2, 0], mass = 1 }\n").is_empty());
}

#[test]
fn a_force_on_the_ground_is_named() {
    let force = |body: &str| {
        of(&format!(
            "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
            forces.push = {{ kind = 'force', body = '{body}', at = [1, 0], force = [1, 0] }}"
        ))
    };
    let found = force("ground");
    assert!(found.len() == 1 && found[0].contains("`push`"), "{found:?}");
    assert!(force("a").is_empty());
}

#[test]
fn a_speed_in_other_units_is_noted() {
    let rotating = |rate: &str| {
        of(&format!(
            "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
            joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }}\ninitial.A.rate = {rate}"
        ))
    };
    let found = rotating("1e5");
    assert!(found.len() == 1 && found[0].contains("kinetic energy at the start"), "{found:?}");
    // 30 000 rpm
    assert!(rotating("3000").is_empty());
}

/// Two spheres of radius 0.1, `x` apart, over a floor, and what joins them.
fn spheres(x: f64, more: &str) -> Vec<String> {
    of(&format!(
        "ground.shape = {{ kind = 'half_space' }}\n\
         bodies.a = {{ at = [0, 0, 1], mass = 1, shape = {{ kind = 'sphere', radius = 0.1 }} }}\n\
         bodies.b = {{ at = [{x}, 0, 1], mass = 1, shape = {{ kind = 'sphere', radius = 0.1 }} }}\n\
         contacts.floor = {{ between = [['a', 'b'], 'ground'], law = {{ kind = 'linear', stiffness = 1e4 }} }}\n{more}"
    ))
}

#[test]
fn shapes_that_overlap_without_a_contact_are_named() {
    let found = spheres(0.125, "");
    let depth = "`a` and `b` by 0.075";
    assert!(found.len() == 1 && found[0].contains(depth), "{found:?}");
    // apart, touching, and so near to it that a rounded coordinate explains it
    for x in [0.3, 0.2, 0.199999] {
        assert_eq!(spheres(x, ""), Vec::<String>::new(), "{x}");
    }
}

#[test]
fn overlaps_that_a_contact_or_a_connection_explains_are_not_named() {
    let law = "law = { kind = 'linear', stiffness = 1e4 }";
    let third = "bodies.c = { at = [0.06, 0, 1.5], mass = 1, inertia = [1, 1, 1] }\n";
    for more in [
        format!("contacts.pair = {{ between = ['b', 'a'], {law} }}"),
        format!("contacts.all = {{ between = ['*', '*'], {law} }}"),
        "joints.j = { kind = 'spherical', bodies = ['a', 'b'], at = [0.06, 0, 1] }".to_string(),
        "constraints.d = { kind = 'distance', bodies = ['a', 'b'], ends = [[0, 0, 1], [0.125, 0, 1]] }".into(),
        "forces.s = { kind = 'spring', bodies = ['a', 'b'], ends = [[0, 0, 1], [0.125, 0, 1]], stiffness = 10 }".into(),
        format!(
            "{third}joints.j = {{ kind = 'spherical', bodies = ['a', 'c'], at = [0, 0, 1] }}\n\
             joints.k = {{ kind = 'spherical', bodies = ['c', 'b'], at = [0.125, 0, 1] }}"
        ),
    ] {
        assert_eq!(spheres(0.125, &more), Vec::<String>::new(), "{more}");
    }
    // two bodies between them are too many, and a contact of one of them with another names no pair
    let chain = "bodies.d = { at = [0.1, 0, 1.5], mass = 1, inertia = [1, 1, 1] }\n\
        joints.j = { kind = 'spherical', bodies = ['a', 'c'], at = [0, 0, 1] }\n\
        joints.k = { kind = 'spherical', bodies = ['c', 'd'], at = [0.08, 0, 1.5] }\n\
        joints.l = { kind = 'spherical', bodies = ['d', 'b'], at = [0.125, 0, 1] }";
    assert_eq!(spheres(0.125, &format!("{third}{chain}")).len(), 1);
    let beside = "bodies.c = { at = [2, 0, 1.5], mass = 1, shape = { kind = 'sphere', radius = 0.1 } }\n\
        contacts.pair = { between = ['c', ['a', 'b']], law = { kind = 'linear', stiffness = 1e4 } }";
    assert_eq!(spheres(0.125, beside).len(), 1);
}

#[test]
fn planar_links_of_one_mechanism_may_cross() {
    let planar = |joints: &str| {
        of(&format!(
            "space = 'planar'\nground.shape = {{ kind = 'half_space', on = [0, -1] }}\n\
             bodies.a = {{ from = [0, 0], to = [1, 0], mass = 1, shape = {{ kind = 'capsule', radius = 0.1 }} }}\n\
             bodies.b = {{ from = [0.5, -0.5], to = [0.5, 0.5], mass = 1, shape = {{ kind = 'capsule', radius = 0.1 }} }}\n\
             bodies.c = {{ from = [0, 0], to = [0, 1], mass = 1 }}\nbodies.d = {{ from = [0, 1], to = [0.5, 0.5], mass = 1 }}\n\
             gravity = [0, 0]\n\
             contacts.floor = {{ between = [['a', 'b'], 'ground'], law = {{ kind = 'linear', stiffness = 1e4 }} }}\n{joints}"
        ))
    };
    let joint = |name: &str, bodies: &str, at: &str| {
        format!("joints.{name} = {{ kind = 'revolute', bodies = [{bodies}], at = [{at}] }}\n")
    };
    let open = joint("A", "'a', 'c'", "0, 0") + &joint("B", "'c', 'd'", "0, 1");
    // half the length of one, and both radii
    assert!(planar(&open)[0].contains("`a` and `b` by 0.7"), "{:?}", planar(&open));
    assert_eq!(planar(&(open + &joint("C", "'d', 'b'", "0.5, 0.5"))), Vec::<String>::new());
}

#[test]
fn shipped_models_and_listings_of_the_guide_raise_no_doubts() {
    for (name, text) in MODELS {
        let model = load_str(name, text, &LoadOptions::default()).unwrap();
        let system = Arc::new(compile(&model).unwrap());
        assert_eq!(doubts(model, &system), Vec::<String>::new(), "{name}");
    }
    let guide = include_str!("../../../../docs/model-file.md");
    let listings = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let whole = listings.filter_map(|text| text.strip_prefix("format = \"sarrus/1\"\n"));
    // those that read files or functions of their own are no models by themselves
    let loaded: Vec<_> = whole.filter_map(|text| Some((text, read(text, Path::new("")).ok()?))).collect();
    assert!(loaded.len() > 10, "{}", loaded.len());
    for (text, (model, system)) in loaded {
        assert_eq!(doubts(model, &system), Vec::<String>::new(), "{text}");
    }
}
