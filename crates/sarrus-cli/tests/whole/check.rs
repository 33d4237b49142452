//! `sarrus check` about redundancy: what it prints and what its JSON holds.

use crate::common::{json, sarrus};

fn said(arguments: &[&str]) -> String {
    let done = sarrus(arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    done.stdout
}

#[test]
fn every_joint_has_its_line() {
    let text = said(&["check", "models/four_bar_spatial.toml"]);
    for part in [
        "20 rows, rank 17, 3 redundant",
        "J1   fx fy unique   fz tx ty NOT unique   3 of 5 directions",
        "J4   fx fy unique   fz tx ty NOT unique",
        "3 redundancies shared by J1, J2, J3, J4",
        "tolerance 1.0e-5, margin",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    // its numbers add up
    assert!(!text.contains("in all"), "{text}");
    let text = said(&["check", "models/coupler_spatial.toml"]);
    for part in
        ["3 redundancies shared by J1, J2, J4, J5", "in all", "7 redundancies among J1, J2, J3, J4, J5, J6"]
    {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let text = said(&["check", "models/four_bar.toml"]);
    assert!(text.contains("all of them are unique") && !text.contains("NOT unique"), "{text}");
}

#[test]
fn a_large_model_is_summed_up_unless_all_is_asked_for() {
    let large = ["check", "models/n_four_bar_spatial.toml", "--set", "n=100"];
    let text = said(&large);
    assert!(text.lines().count() < 30, "{text}");
    for part in [
        "301 joints such as A0   fx fy unique   fz tx ty NOT unique",
        "100 times 3 redundancies shared by 4 elements",
        "pivots of the factors",
        "random multipliers say",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let text = said(&[&large[..], &["--all"]].concat());
    assert!(text.lines().count() > 400, "{}", text.lines().count());
}

#[test]
fn the_json_has_reactions_sets_and_mobility() {
    let r = json(&said(&["check", "models/door.toml", "--json", "--distribute", "stiffness"]));
    assert_eq!((&r["mobility"]["here"], &r["mobility"]["structural"]), (&1.into(), &1.into()));
    let joint = &r["reactions"][1];
    assert_eq!((&joint["name"], &joint["family"]), (&"J2".into(), &"joint".into()));
    assert_eq!(joint["unique"].as_array().unwrap().len(), 0);
    assert_eq!(joint["not_unique"].as_array().unwrap().len(), 5);
    assert_eq!(r["redundant_sets"][0]["redundant"], 5);
    for key in ["margin", "nonzero", "starts", "iterations"] {
        assert!(r["uniqueness"][key].as_f64().unwrap() > 0.0, "{key}");
    }
    // no component of the door is unique
    assert!(r["uniqueness"]["zero"].is_null());
    assert_eq!(r["distribution"]["by"], "stiffness");
    assert!(r["along"].is_null());
}

#[test]
fn along_and_distribution_are_said_in_words() {
    let text = said(&["check", "models/door.toml", "--along", "--distribute", "stiffness"]);
    for part in [
        "distributed by stiffness over 2 joints",
        "98.10",
        "49.05",
        "along the motion: 1001 instants",
        "throughout",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn distribution_without_compliance_is_refused_with_a_hint() {
    let done = sarrus(&["check", "models/coupler.toml", "--distribute", "stiffness"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("no joint has a `compliance`") && done.stderr.contains("hint"),
        "{}",
        done.stderr
    );
    let done = sarrus(&["check", "models/door.toml", "--distribute", "luck"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
}

#[test]
fn a_run_says_in_one_line_that_reactions_are_not_unique() {
    let done = sarrus(&["run", "models/four_bar_spatial.toml", "--t-end", "0.1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let line = done.stderr.lines().find(|l| l.contains("not unique")).unwrap_or_default();
    assert!(line.contains("12 components") && line.contains("minimum-norm"), "{}", done.stderr);
    let done = sarrus(&["run", "models/four_bar.toml", "--t-end", "0.1"]);
    assert!(!done.stderr.contains("not unique"), "{}", done.stderr);
}
