//! `sarrus check`, `list`, `schema`, help.

use crate::common::{json, sarrus};

#[test]
fn check_counts_a_four_bar() {
    let done = sarrus(&["check", "models/four_bar.toml", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let r = json(&done.stdout);
    assert_eq!(
        (&r["size"]["bodies"], &r["size"]["velocities"], &r["constraints"]["rows"]),
        (&3.into(), &9.into(), &8.into())
    );
    assert_eq!((&r["constraints"]["rank"], &r["dof"]), (&8.into(), &1.into()));
    assert!(r["constraints"]["rank_margin"].as_f64().unwrap() > 1e3);
    assert_eq!(r["redundant_groups"].as_array().unwrap().len(), 0);
}

#[test]
fn check_finds_what_is_redundant_in_the_sarrus_linkage() {
    let done = sarrus(&["check", "models/sarrus.toml", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let r = json(&done.stdout);
    assert_eq!(r["redundancy"], "structural");
    assert_eq!(r["dof"], 1);
    let groups = r["redundant_groups"].as_array().unwrap();
    let redundant: i64 = groups.iter().map(|g| g["redundant"].as_i64().unwrap()).sum();
    assert_eq!(redundant, r["constraints"]["redundant"].as_i64().unwrap());
    assert_eq!(r["counted_mobility"].as_i64().unwrap() + redundant, 1);
}

#[test]
fn check_says_it_in_words() {
    let done = sarrus(&["check", "models/mcpherson_overconstrained.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for part in [
        "31 rows, rank 26, 5 redundant",
        "mobility",
        "overconstrained",
        "structural",
        "proximal + projection",
    ] {
        assert!(done.stdout.contains(part), "`{part}` is missing in\n{}", done.stdout);
    }
}

/// A straight chain held at both ends can only begin to move: the rank is lost in this position alone.
#[test]
fn check_tells_a_singular_position_from_redundancy() {
    let done = sarrus(&["check", "models/chain.toml", "--set", "n=4", "--set", "held=true", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let r = json(&done.stdout);
    assert_eq!(r["constraints"]["redundant"], 1);
    assert_ne!(r["redundancy"], "structural");
}

#[test]
fn list_names_every_family() {
    let done = sarrus(&["list"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for word in [
        "joints",
        "revolute",
        "rolling_disc",
        "spring",
        "pid",
        "steel",
        "proximal",
        "baumgarte",
        "dop853",
        "four_bar",
    ] {
        assert!(done.stdout.contains(word), "{word}");
    }
    let done = sarrus(&["list", "integrators", "--json"]);
    let list = json(&done.stdout);
    let names: Vec<&str> =
        list["integrators"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    let explicit = ["euler", "rk4", "rk23", "rk45", "dop853", "abm", "staggered", "park1987"];
    let implicit =
        ["trapezoidal", "generalized_alpha", "hht", "newmark", "bdf", "radau5", "linearly_implicit_euler"];
    assert_eq!(names, [&explicit[..], &implicit].concat());
    let done = sarrus(&["list", "joints", "--markdown"]);
    assert!(done.stdout.contains("## joints\n\n### `revolute` (spatial)"), "{}", done.stdout);
}

#[test]
fn the_schema_is_json() {
    let done = sarrus(&["schema"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(json(&done.stdout)["properties"]["format"]["const"], "sarrus/1");
}

#[test]
fn help_shows_examples() {
    for command in ["run", "check", "list"] {
        let done = sarrus(&[command, "--help"]);
        assert_eq!(done.code, 0);
        assert!(
            done.stdout.contains("Examples:") && done.stdout.contains(&format!("sarrus {command} ")),
            "{command}"
        );
    }
}

#[test]
fn every_shipped_model_passes_its_check() {
    for &(name, _) in sarrus_zoo::MODELS {
        let done = sarrus(&["check", &format!("models/{name}.toml"), "--json"]);
        assert_eq!(done.code, 0, "{name}: {}", done.stderr);
        let r = json(&done.stdout);
        let counts = sarrus_zoo::COUNTS.iter().find(|c| c.model == name).expect("every model has its counts");
        let found = ["rows", "rank"].map(|key| r["constraints"][key].as_u64().unwrap() as usize);
        assert_eq!(found, [counts.rows, counts.rank], "{name}");
        assert_eq!(r["size"]["velocities"], counts.velocities, "{name}");
    }
}
