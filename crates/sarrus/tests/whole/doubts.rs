//! Notes on what a model says and its author may not mean, and none on models that mean it.

use crate::common::{load, read};
use sarrus::analysis::Simulation;
use sarrus::prelude::*;
use sarrus_zoo::MODELS;
use std::path::Path;
use std::sync::Arc;

const DOUBTS: [&str; 4] =
    ["away from its bodies", "free fall", "ground alone", "kinetic energy at the start"];

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
    let told: Vec<&String> = checked.notes.iter().filter(|n| DOUBTS.iter().any(|d| n.contains(d))).collect();
    assert_eq!(found.iter().collect::<Vec<_>>(), told, "`check` and `run` tell the same");
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
    let turning = |rate: &str| {
        of(&format!(
            "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
            joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }}\ninitial.A.rate = {rate}"
        ))
    };
    let found = turning("1e5");
    assert!(found.len() == 1 && found[0].contains("kinetic energy at the start"), "{found:?}");
    // 30 000 rpm
    assert!(turning("3000").is_empty());
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
