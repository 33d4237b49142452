//! The resolved file says the same as the model it comes from, bit for bit.

#[allow(dead_code)]
mod common;

use sarrus_io::{LoadOptions, load, load_str, write_resolved};
use sarrus_model::record::ResolvedValue;
use sarrus_model::settings::RunSettings;

fn recording() -> LoadOptions {
    LoadOptions { record: true, ..Default::default() }
}

fn sorted(n: common::Numbers) -> Vec<(String, u64)> {
    let mut list = n.0;
    list.sort();
    list
}

fn shown((name, bits): &(String, u64)) -> (String, f64) {
    (name.clone(), f64::from_bits(*bits))
}

/// Reads the model, writes it, reads that and compares every number.
fn round_trip(model: sarrus_model::Model) -> String {
    let before = common::read_all(&model).unwrap_or_else(|d| panic!("{}", d.render(&model.sources)));
    let text = write_resolved(&model, &[]);
    let again =
        load_str("model.toml", &text, &recording()).unwrap_or_else(|f| panic!("{}\n{text}", f.render()));
    let after = common::read_all(&again).unwrap_or_else(|d| panic!("{}\n{text}", d.render(&again.sources)));
    let (before, after) = (sorted(before), sorted(after));
    let lost: Vec<_> = before.iter().filter(|x| !after.contains(x)).map(shown).collect();
    let new: Vec<_> = after.iter().filter(|x| !before.contains(x)).map(shown).collect();
    assert!(before == after, "lost {lost:?}, new {new:?} in\n{text}");
    assert_eq!(model.gravity, again.gravity);
    assert_eq!(RunSettings::read(&model).unwrap().t_end, RunSettings::read(&again).unwrap().t_end);
    // and once more: nothing moves
    assert_eq!(write_resolved(&again, &[]), text);
    text
}

const PART: &str = r#"format = "sarrus/1"
parameters = { l = 0.3, w = 2, e = [0, "-sin(10 deg)", "cos(10 deg)"] }
points = { P = ["l/3", 2, 3], Q = "P + 0.45*e" }
functions."ramp(x)" = "w*x + lift(x)"
tables.lift = { points = [[0, 0], [1, "l"], [2, 0.1]], interpolation = "cubic" }
materials.metal = { density = "7.8 kg/m^3" }
initial = { hub.velocity = [1, 2, "l"], pin.angle = "5 deg" }
ground.markers.C = { on = [0, 1, "l"] }
[bodies]
hub = { at = "P", orientation = { euler = "zxz", angles = [0.1, "l", 3] }, mass = "1/3", com = [0.1, "l", 0.3], inertia = [[2, "l", 0], ["l", 2, 0.2], [0, 0.2, 2]], markers = { tip = { at = "Q" }, top = { on = ["l", 0, 0], orientation_on = { axis = "e", angle = 1 } } }, shape = { kind = "sphere", radius = "l/7" } }
rack = { at = [0, 4, 0], material = "metal", note = "the rack" }
[joints]
pin = { kind = "revolute", bodies = ["ground", "hub"], at = "P", axis = "e", damping = "l*1e-3", limits = ["-inf", "pi"] }
slide = { kind = "prismatic", bodies = ["rack", "hub"], on = [[0, 0, "l"], "tip"], stop = { stiffness = "1 N/mm" } }
[forces]
push = { kind = "force", body = "hub", at = "Q", force = ["ramp(t)", "-w*hub.vx", 0] }
turn = { kind = "force", body = "hub", force = "cross(e, [0, sin(w*t), 0])" }
[drivers]
motor = { kind = "joint", joint = "pin", angle = "l*t^2/3" }
way = { kind = "point", body = "hub", at = "P", position = ["t", "free", "l"] }
[measures]
power = "pin.rate*w"
[run]
t_end = "l*10"
stabilization = { kind = "baumgarte", alpha = "1/l", beta = "auto" }
"#;

#[test]
fn a_plain_model_survives() {
    let text = round_trip(load_str("part.toml", PART, &recording()).unwrap());
    for gone in ["parameters", "points.", "functions", "repeat", "include"] {
        assert!(!text.contains(gone), "{gone} in\n{text}");
    }
    assert!(text.contains("[0.1, 0.3, 0.3]"), "{text}");
}

#[test]
fn the_models_of_the_format_survive() {
    for name in ["four_bar", "double_pendulum", "n_four_bar", "deployment"] {
        let path = format!("{}/tests/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        // keys that the small kinds of this test do not know
        let text =
            text.replace(", lock_at = 0", "").replace("upper.omega = [0, 0, 1], lower.omega = [0, 0, 1]", "");
        round_trip(load_str(&format!("{name}.toml"), &text, &recording()).unwrap());
    }
}

#[test]
fn included_files_survive_turned_and_mirrored() {
    let temp = std::env::temp_dir().join(format!("sarrus-io-resolved-{}", std::process::id()));
    std::fs::create_dir_all(&temp).unwrap();
    std::fs::write(temp.join("part.toml"), PART.replace("\"free\"", "2")).unwrap();
    for text in [
        "at = [1, 2, 3]",
        "mirror = 'y'",
        "mirror = 'x', at = [0.1, 0.2, 0.3], orientation = { axis = [1, 2, 3], angle = 0.4 }",
        "ground = 'chassis', replace = { rack = 'chassis' }, at = [0, 0, 0.1], mirror = 'z'",
    ] {
        let outer = format!(
            r#"format = "sarrus/1"
            bodies.chassis = {{ at = [0.3, 0, 0], orientation = {{ x = [1, 1, 0], z = [0, 0, 1] }}, mass = 3 }}
            include.a = {{ file = "part.toml", {text} }}
            include.b = {{ file = "part.toml", set = {{ l = 0.7 }}, {text} }}
            measures.both = "a.hub.vx + b.hub.vx""#
        );
        std::fs::write(temp.join("outer.toml"), outer).unwrap();
        let model = load(temp.join("outer.toml"), &recording()).unwrap_or_else(|f| panic!("{}", f.render()));
        round_trip(model);
    }
    std::fs::remove_dir_all(&temp).unwrap();
}

#[test]
fn the_command_line_is_laid_over_run() {
    let model = load_str("part.toml", PART, &recording()).unwrap();
    common::read_all(&model).unwrap();
    let text = write_resolved(&model, &[("t_end", ResolvedValue::Number(0.1 + 0.2))]);
    let again = load_str("model.toml", &text, &LoadOptions::default()).unwrap();
    assert_eq!(RunSettings::read(&again).unwrap().t_end, Some(0.1 + 0.2));
}
