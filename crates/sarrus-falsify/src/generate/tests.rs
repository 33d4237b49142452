//! Describes what the generator reaches of the registries.

use super::generate;
use crate::campaign::kinds;
use crate::scene::{SceneFile, SceneValue, tokens};
use sarrus::catalogue;
use std::collections::HashSet;

/// Scenes that are generated for the tests of coverage; nothing is run.
const SCENES: u64 = 12_000;

/// Kinds and keys that are left out, with the reason: section, kind (all of them where empty), key (the whole kind where empty).
const LEFT_OUT: &[(&str, &str, &str, &str)] = &[
    ("shapes", "mesh", "", "needs a file beside the model"),
    ("shapes", "convex", "", "needs a file beside the model"),
    ("flexible", "modal", "mass", "needs a file of a matrix"),
    ("flexible", "modal", "stiffness", "needs a file of a matrix"),
    ("flexible", "modal", "nodes", "needs a file of nodes"),
    ("flexible", "modal", "at", "places the nodes of a file"),
    ("flexible", "modal", "angle", "places the nodes of a file"),
    ("flexible", "modal", "orientation", "places the nodes of a file"),
    ("flexible", "", "color", "is drawn alone"),
    ("sections", "", "", "the profile of a member gives one of the ways of stating it; see `flexible`"),
    ("measures", "", "", "results alone; columns of other elements are compared"),
    ("constraints", "rolling_disc", "axis", "`axis_on` says the same"),
    ("joints", "universal", "axis_on", "`axis` says the same"),
    ("joints", "planar", "axis_on", "`axis` says the same"),
];

#[test]
fn a_scene_depends_on_seed_and_index_alone() {
    for index in [0, 5, 77, 4711] {
        assert_eq!(generate(3, index).toml(), generate(3, index).toml());
    }
    let texts: HashSet<String> = (0..50).map(|i| generate(3, i).toml()).collect();
    assert_eq!(texts.len(), 50);
    assert_ne!(generate(3, 5).toml(), generate(4, 5).toml());
}

/// Section, kind and key of everything that scenes write.
fn written() -> HashSet<(String, String, String)> {
    let mut out = HashSet::new();
    for index in 0..SCENES {
        let scene: SceneFile = generate(1, index);
        for (section, kind) in kinds(&scene) {
            out.insert((section, kind, String::new()));
        }
        for e in &scene.elements {
            let kind = if e.section == "bodies" && e.kind().is_empty() { "rigid" } else { e.kind() };
            match &e.value {
                SceneValue::Table(table) => {
                    for (key, value) in table {
                        out.insert((e.section.into(), kind.into(), key.clone()));
                        shapes(key, value, &mut out);
                    }
                }
                SceneValue::Raw(text) => {
                    let kind = text.split('\'').nth(1).unwrap_or("").to_string();
                    for part in text.split('=') {
                        let key = tokens(part).last().unwrap_or("").to_string();
                        out.insert((e.section.into(), kind.clone(), key));
                    }
                }
                _ => {}
            }
            if e.section == "ground" {
                shapes("shape", &e.value, &mut out);
            }
        }
    }
    out
}

fn shapes(key: &str, value: &SceneValue, out: &mut HashSet<(String, String, String)>) {
    match value {
        SceneValue::Table(table) if key == "shape" => {
            let kind = crate::scene::get(table, "kind").and_then(SceneValue::text).unwrap_or("").to_string();
            out.insert(("shapes".into(), kind.clone(), String::new()));
            out.extend(table.iter().map(|(k, _)| ("shapes".to_string(), kind.clone(), k.clone())));
        }
        SceneValue::List(list) => list.iter().for_each(|v| shapes(key, v, out)),
        _ => {}
    }
}

fn is_left_out(section: &str, kind: &str, key: &str) -> bool {
    let fits = |(s, k, name, _): &&(&str, &str, &str, &str)| {
        *s == section && (k.is_empty() || *k == kind) && (name.is_empty() || *name == key)
    };
    LEFT_OUT.iter().any(|entry| fits(&entry))
}

#[test]
fn every_registered_kind_and_key_is_generated() {
    let written = written();
    let has = |section: &str, kind: &str, key: &str| {
        written.contains(&(section.to_string(), kind.to_string(), key.to_string()))
    };
    let mut missing = Vec::new();
    for family in sarrus::schema::families() {
        for info in &family.kinds {
            // contacts and events have one kind, which the file does not say
            let kind = if ["contacts", "events"].contains(&family.section) { "" } else { info.kind };
            if !has(family.section, kind, "")
                && family.section != "bodies"
                && !is_left_out(family.section, kind, "")
            {
                missing.push(format!("{} {kind}", family.section));
                continue;
            }
            // planar and spatial kinds of one name share the keys that are written
            let keys = info.keys.iter().filter(|k| !k.doc.contains("not available yet"));
            for key in keys.filter(|k| info.kind != "point" || family.section != "bodies" || k.name == "at") {
                if !has(family.section, kind, key.name) && !is_left_out(family.section, kind, key.name) {
                    missing.push(format!("{} {kind}: {}", family.section, key.name));
                }
            }
        }
    }
    for (family, key) in
        [("integrators", "integrator"), ("formulations", "formulation"), ("stabilizations", "stabilization")]
    {
        for entry in catalogue::family(family) {
            if !has(key, entry.name, "") {
                missing.push(format!("{key} {}", entry.name));
            }
        }
    }
    for entry in catalogue::family("shapes") {
        if !has("shapes", entry.name, "") && !is_left_out("shapes", entry.name, "") {
            missing.push(format!("shape {}", entry.name));
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "the generator does not write:\n{}", missing.join("\n"));
}
