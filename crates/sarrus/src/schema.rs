//! The JSON Schema of the model file, from the registries.

use sarrus_io::schema::{KindInfo, SchemaFamily, schema};
use sarrus_model::Key;
use sarrus_solve::{formulations, integrators, stabilizations};
use sarrus_system::row_options::ROW_KEYS;
use sarrus_system::{
    bodies, constraints, contact, controllers, drivers, events, flexible, forces, joints, measures,
};
use std::sync::LazyLock;

/// The schema as indented JSON.
pub fn json_schema() -> String {
    let mut value = schema(&families());
    for (key, names) in methods() {
        if let Some(entry) = value.pointer_mut(&format!("/properties/run/properties/{key}")) {
            // a name or a table of options; editors complete the names
            entry["examples"] = names.into();
        }
    }
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

/// Names of methods by the key of `[run]` that takes them.
fn methods() -> [(&'static str, Vec<&'static str>); 3] {
    [
        ("formulation", formulations::KINDS.iter().map(|k| k.name).collect()),
        ("stabilization", stabilizations::KINDS.iter().map(|k| k.name).collect()),
        ("integrator", integrators::KINDS.iter().map(|k| k.name).collect()),
    ]
}

/// The sections whose entries have a kind, with all kinds and their keys.
pub fn families() -> Vec<SchemaFamily> {
    let family = |section, default_kind, or_expression, kinds| SchemaFamily {
        section,
        default_kind,
        or_expression,
        kinds,
    };
    vec![
        family(
            "bodies",
            Some("rigid"),
            false,
            bodies::KINDS.iter().map(|&(kind, doc)| KindInfo { kind, doc, keys: bodies::KEYS }).collect(),
        ),
        family("flexible", None, false, kinds(flexible::KINDS.iter().map(|k| (k.name, k.doc, k.keys)))),
        family(
            "sections",
            None,
            false,
            kinds(flexible::section::KINDS.iter().map(|k| (k.name, k.doc, k.keys))),
        ),
        family("joints", None, false, JOINTS.clone()),
        family("constraints", None, false, CONSTRAINTS.clone()),
        family("drivers", None, false, DRIVERS.clone()),
        family("forces", None, false, FORCES.clone()),
        family(
            "contacts",
            Some(contact::KIND.0),
            false,
            kinds(std::iter::once((contact::KIND.0, contact::KIND.1, contact::KEYS))),
        ),
        family("controllers", None, false, kinds(controllers::KINDS.iter().map(|k| (k.name, k.doc, k.keys)))),
        family("measures", None, true, kinds(measures::KINDS.iter().map(|k| (k.name, k.doc, k.keys)))),
        family(
            "events",
            Some(events::KIND.0),
            false,
            kinds(std::iter::once((events::KIND.0, events::KIND.1, events::KEYS))),
        ),
    ]
}

type SchemaRow = (&'static str, &'static str, &'static [Key]);

fn kinds(rows: impl Iterator<Item = SchemaRow>) -> Vec<KindInfo> {
    rows.map(|(kind, doc, keys)| KindInfo { kind, doc, keys }).collect()
}

/// A kind whose keys are those of its family and its own; made once, so that they may live as long as the program.
fn with_common(kind: &'static str, doc: &'static str, own: &[Key], common: &[Key]) -> KindInfo {
    KindInfo { kind, doc, keys: Vec::leak([own, common].concat()) }
}

static JOINTS: LazyLock<Vec<KindInfo>> = LazyLock::new(|| {
    joints::KINDS
        .iter()
        .map(|k| with_common(k.name, k.doc, &sarrus_system::compile::joint_keys(k), &[]))
        .collect()
});

static CONSTRAINTS: LazyLock<Vec<KindInfo>> = LazyLock::new(|| {
    constraints::KINDS.iter().map(|k| with_common(k.name, k.doc, k.keys, ROW_KEYS)).collect()
});

static DRIVERS: LazyLock<Vec<KindInfo>> =
    LazyLock::new(|| drivers::KINDS.iter().map(|k| with_common(k.name, k.doc, k.keys, ROW_KEYS)).collect());

static FORCES: LazyLock<Vec<KindInfo>> = LazyLock::new(|| {
    forces::KINDS.iter().map(|k| with_common(k.name, k.doc, k.keys, forces::COMMON_KEYS)).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_every_method() {
        let value: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
        for (key, names) in methods() {
            let known = value["properties"]["run"]["properties"][key]["examples"].as_array().unwrap();
            assert!(!names.is_empty() && names.iter().all(|n| known.iter().any(|k| k == n)), "{key}");
        }
    }

    #[test]
    fn the_schema_is_json_and_knows_every_kind() {
        let text = json_schema();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["properties"]["format"]["const"], "sarrus/1");
        for family in families() {
            let any =
                value["properties"][family.section]["additionalProperties"]["anyOf"].as_array().unwrap();
            for kind in &family.kinds {
                let found = any.iter().any(|s| s["properties"]["kind"]["const"] == kind.kind);
                assert!(found, "{} `{}`", family.section, kind.kind);
            }
        }
    }

    #[test]
    fn a_joint_takes_the_keys_of_all_joints_and_its_own() {
        let value: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
        let joints = value["properties"]["joints"]["additionalProperties"]["anyOf"].as_array().unwrap();
        let screw = joints.iter().find(|s| s["properties"]["kind"]["const"] == "screw").unwrap();
        for key in ["bodies", "at", "on", "axis", "lead", "note"] {
            assert!(screw["properties"].get(key).is_some(), "{key}");
        }
    }
}
