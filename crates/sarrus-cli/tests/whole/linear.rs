//! `sarrus modes`, `equilibrium` and `inverse`: what they print, and what their JSON holds.

use crate::common::{arg, folder, json, model, sarrus};

fn answer(arguments: &[&str]) -> serde_json::Value {
    json(&sarrus(arguments).stdout)
}

#[test]
fn modes_are_listed_with_frequency_and_who_moves() {
    let done = sarrus(&["modes", "models/double_pendulum.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for part in [
        "stable at rest, 6 degrees of freedom, 2 of them free: nothing drives them back",
        "swings",
        "Hz",
        "free",
        "lower",
    ] {
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
    let before = sarrus(&["modes", "models/pendulum.toml", "--about", "-1"]);
    assert_eq!(before.code, 2);
    assert!(before.stderr.contains("t = -1 s is before the start"), "{}", before.stderr);
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
fn loads_in_parts_give_a_row_for_each_part() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\n\
         sections.s = { kind = 'given', EA = 1e4, GA = 1e4, EI = 100, rhoA = 1, rhoI = 10 }\n\
         flexible.X = { kind = 'beam', from = [0, 0], to = [10, 0], section = 's', elements = 4 }\n\
         joints.wall = { kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0] }\n\
         forces.M = { kind = 'torque', body = 'X.end', torque = 20 }\n";
    let (file, dir) = (model("load_steps_model", text), folder("load_steps"));
    let done = sarrus(&["equilibrium", arg(&file), "--load-steps", "4", "--out", arg(&dir)]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("moved farthest") && done.stdout.contains("0.7500"), "{}", done.stdout);
    let csv = std::fs::read_to_string(dir.join("trajectory.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let angle = rows[0].iter().position(|name| *name == "X.node4.angle").unwrap();
    assert_eq!((rows[0][0], rows.len()), ("load", 5));
    for (k, row) in rows[1..].iter().enumerate() {
        let share = 0.25 * (k + 1) as f64;
        assert_eq!(row[0].parse::<f64>(), Ok(share));
        // M L/EI, times the share of it
        let rotation: f64 = row[angle].parse().unwrap();
        assert!((rotation - 2.0 * share).abs() < 1e-9, "{rotation}");
    }
    let report = json(&std::fs::read_to_string(dir.join("report.json")).unwrap());
    assert_eq!(report["load_steps"].as_array().map(Vec::len), Some(4));
    let none = sarrus(&["equilibrium", arg(&file), "--load-steps", "0"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
}

#[test]
fn a_motion_that_is_not_prescribed_is_refused_with_a_hint() {
    let done = sarrus(&["inverse", "models/four_bar.toml"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("1 degree of freedom is left to move by itself"), "{}", done.stderr);
    assert!(done.stderr.contains("[drivers]"), "{}", done.stderr);
}

#[test]
fn a_freedom_that_nothing_drives_back_is_called_free() {
    let done = sarrus(&["modes", "models/door.toml"]);
    assert!(done.stdout.contains("1 degree of freedom, free: nothing drives it back"), "{}", done.stdout);
    assert!(!done.stdout.contains("Hz"), "{}", done.stdout);
}

/// With rolling, more positions than velocities are free, and a mode is of either: the headline counts what the table lists.
#[test]
fn the_headline_of_modes_counts_those_of_the_table() {
    let done = sarrus(&["modes", "models/rolling_ball.toml"]);
    let free = done.stdout.lines().filter(|line| line.trim_start().starts_with("free ")).count();
    let headline = format!("{free} of the 6 modes are free: nothing drives them back");
    assert!(free == 4 && done.stdout.contains(&headline), "{}", done.stdout);
}

#[test]
fn what_passes_singular_positions_may_be_named_only_where_it_acts() {
    let staggered = ["--integrator", "staggered", "--step", "1e-3", "--regularize", "amirouche"];
    let done = sarrus(&[&["run", "models/pendulum.toml"], &staggered[..]].concat());
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("regularize `amirouche` would have no effect"), "{}", done.stderr);
}

#[test]
fn a_prescribed_motion_says_where_it_is_singular_and_what_work_it_needs() {
    let done = sarrus(&["inverse", "models/two_arm_robot.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("singular position at t = 0.42031"), "{}", done.stderr);
    let report = answer(&["inverse", "models/two_arm_robot.toml", "--json"]);
    assert_eq!(report["singular"][0]["outcome"], "passed");
}

#[test]
fn reactions_that_are_not_unique_at_rest_are_named_in_text_and_json() {
    let done = sarrus(&["equilibrium", "models/door.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("not unique, the values of least norm are shown: J1.fx"), "{}", done.stdout);
    let report = answer(&["equilibrium", "models/door.toml", "--json"]);
    assert_eq!(report["reactions_not_unique"].as_array().unwrap().len(), 10);
    let unique = answer(&["equilibrium", "models/double_pendulum.toml", "--json"]);
    assert_eq!(unique["reactions_not_unique"], serde_json::json!([]));
}
