//! The schema names every section and every key of every kind.

use sarrus_io::schema::{KindInfo, SchemaFamily, schema};
use sarrus_model::key::{Key, KeyType};

const SHAPE: &[Key] = &[Key::new("radius", KeyType::Number, "", "m")];
const BODY: &[Key] = &[
    Key::new("mass", KeyType::Number, "from the shape", "kg"),
    Key::new("inertia", KeyType::Inertia, "", "kg m²"),
    Key::new("shape", KeyType::Tables(SHAPE), "", "what it looks like"),
];

#[test]
fn the_schema_follows_from_the_keys() {
    let kinds = vec![KindInfo { kind: "rigid", doc: "a rigid body", keys: BODY }];
    let families = [
        SchemaFamily { section: "bodies", default_kind: Some("rigid"), or_expression: false, kinds },
        SchemaFamily {
            section: "measures",
            default_kind: None,
            or_expression: true,
            kinds: vec![KindInfo { kind: "energy", doc: "energy of bodies", keys: &[] }],
        },
    ];
    let s = schema(&families);
    let properties = s["properties"].as_object().unwrap();
    for section in sarrus_io::SECTIONS {
        assert!(properties.contains_key(section.name), "{}", section.name);
    }
    let body = &s["properties"]["bodies"]["additionalProperties"]["anyOf"][0];
    assert_eq!(body["properties"]["mass"]["description"], "kg (default: from the shape)");
    assert_eq!(body["additionalProperties"], false);
    assert!(body["properties"]["note"].is_object());
    let measure = &s["properties"]["measures"]["additionalProperties"]["anyOf"];
    assert_eq!(measure[0]["required"][0], "kind");
    assert_eq!(measure[1]["$ref"], "#/$defs/number");
    assert!(s["properties"]["run"]["properties"]["t_end"].is_object());
    assert_eq!(s["properties"]["repeat"]["additionalProperties"]["required"][0], "for");

    // every reference leads somewhere
    let text = s.to_string();
    for part in text.split("\"$ref\":\"#").skip(1) {
        let path = part.split('"').next().unwrap();
        assert!(s.pointer(path).is_some(), "{path}");
    }
}
