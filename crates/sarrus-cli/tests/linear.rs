//! `sarrus modes`, `equilibrium` and `inverse`: what they print, and what their JSON holds.

mod common;

use common::{json, sarrus};

fn answer(arguments: &[&str]) -> serde_json::Value {
    json(&sarrus(arguments).stdout)
}

#[test]
fn modes_are_listed_with_frequency_and_who_moves() {
    let done = sarrus(&["modes", "models/double_pendulum.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for part in ["stable at t = 0 s, 6 freedoms", "swings", "Hz", "free", "lower"] {
        assert!(done.stdout.contains(part), "`{part}` is missing in\n{}", done.stdout);
    }
    let report = answer(&["modes", "models/double_pendulum.toml", "--matrix"]);
    assert_eq!(report["modes"].as_array().unwrap().len(), 6);
    assert_eq!(report["A"].as_array().unwrap().len(), 12);
    assert_eq!(report["stable"], true);
    assert!(answer(&["modes", "models/double_pendulum.toml", "--json"])["A"].is_null());
}

#[test]
fn a_state_on_the_way_can_be_asked_about_and_one_beyond_the_run_too() {
    let report = answer(&["modes", "models/pendulum.toml", "--about", "0.25", "--json"]);
    assert_eq!((report["t"].as_f64(), report["equilibrium"].as_bool()), (Some(0.25), Some(false)));
    let wrong = sarrus(&["modes", "models/pendulum.toml", "--about", "noon"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("neither `equilibrium`, `start` nor a time"), "{}", wrong.stderr);
}

#[test]
fn a_rest_is_shown_with_its_reactions() {
    let done = sarrus(&["equilibrium", "models/double_pendulum.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("at rest") && done.stdout.contains("fz = 19.62"), "{}", done.stdout);
    let report = answer(&["equilibrium", "models/double_pendulum.toml", "--json"]);
    let z = report["values"]["lower.z"].as_f64().unwrap();
    assert!((z + 1.5).abs() < 1e-9, "{z}");
}

#[test]
fn a_motion_that_is_not_prescribed_is_refused_with_a_hint() {
    let done = sarrus(&["inverse", "models/four_bar.toml"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("1 freedom left to move by itself"), "{}", done.stderr);
    assert!(done.stderr.contains("[drivers]"), "{}", done.stderr);
}
