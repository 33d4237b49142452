//! A JSON Schema of the model file, from the tables of keys, for editors.
//!
//! The schema knows names and types; what only the program can check (that a body exists, that an
//! expression parses) it leaves alone.

use crate::load::{INCLUDE_KEYS, SECTIONS, TABLE_KEYS};
use sarrus_model::key::{COMMON, Key, KeyType};
use sarrus_model::{fluids, materials, settings};
use serde_json::{Map, Value, json};

/// One kind of a family.
#[derive(Clone, Copy, Debug)]
pub struct KindInfo {
    /// `kind` in the file.
    pub kind: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// Its keys, without those that all elements take.
    pub keys: &'static [Key],
}

/// A section whose entries have a `kind`.
#[derive(Clone, Debug)]
pub struct SchemaFamily {
    /// As written in the file.
    pub section: &'static str,
    /// Holds what holds where `kind` is left out.
    pub default_kind: Option<&'static str>,
    /// True if an entry may be a bare expression.
    pub or_expression: bool,
    /// The kinds.
    pub kinds: Vec<KindInfo>,
}

/// The schema of a whole file, with the kinds of each family.
pub fn schema(families: &[SchemaFamily]) -> Value {
    let mut sections = Map::new();
    for s in SECTIONS {
        let mut of = match families.iter().find(|f| f.section == s.name) {
            Some(family) => named(family_entry(family)),
            None => section(s.name),
        };
        describe(&mut of, s.doc);
        sections.insert(s.name.into(), of);
    }
    let mut repeated = Map::new();
    repeated.insert(
        "for".into(),
        json!({ "oneOf": [string(), list(string())], "description": "such as \"i = 1 to n\"" }),
    );
    repeated.insert("if".into(), reference("flag"));
    for s in SECTIONS.iter().filter(|s| s.repeats) {
        repeated.insert(s.name.into(), json!({ "$ref": format!("#/properties/{}", s.name) }));
    }
    let repeated = closed(repeated, &["for"]);
    if let Some(repeat) = sections.get_mut("repeat") {
        repeat["additionalProperties"] = repeated;
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sarrus/1",
        "description": "A multibody model",
        "type": "object",
        "required": ["format"],
        "properties": sections,
        "additionalProperties": false,
        "$defs": definitions(),
    })
}

/// The types that keys refer to.
fn definitions() -> Value {
    let number = reference("number");
    json!({
        "number": { "type": ["number", "string"], "description": "a number or an expression" },
        "flag": { "type": ["boolean", "string"], "description": "true, false or a condition" },
        "vector": { "oneOf": [
            { "type": "string", "description": "a vector expression or the name of a point" },
            { "type": "array", "items": number, "minItems": 2, "maxItems": 3 },
        ] },
        "local": { "oneOf": [
            { "type": "string", "description": "a marker's name or a vector expression" },
            { "type": "array", "minItems": 2, "maxItems": 3 },
        ] },
        "method": { "oneOf": [
            { "type": "string" },
            { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } } },
        ] },
        "orientation": { "oneOf": [
            { "type": "array", "items": number, "minItems": 4, "maxItems": 4, "description": "[w, x, y, z]" },
            keys(sarrus_model::reader::ORIENTATION),
        ] },
    })
}

fn section(name: &str) -> Value {
    match name {
        "format" => json!({ "const": "sarrus/1" }),
        "space" => json!({ "enum": ["spatial", "planar"] }),
        "name" | "note" => string(),
        "extra" => json!({}),
        "gravity" => reference("vector"),
        "parameters" => named(json!({ "oneOf": [
            { "type": ["number", "boolean", "string", "array"] },
            { "type": "object", "required": ["value"], "additionalProperties": false, "properties": {
                "value": { "type": ["number", "boolean", "string", "array"] },
                "min": reference("number"), "max": reference("number"), "note": string(), "extra": {},
            } },
        ] })),
        "points" => named(reference("vector")),
        "functions" => named(reference("number")),
        "initial" | "guess" => json!({ "type": "object" }),
        "run" => keys(settings::RUN_KEYS),
        "output" => keys(settings::OUTPUT_KEYS),
        "view" => keys(settings::VIEW_KEYS),
        "materials" => named(keys(materials::KEYS)),
        "fluids" => named(keys(fluids::KEYS)),
        "tables" => named(keys(TABLE_KEYS)),
        "include" => named(keys(INCLUDE_KEYS)),
        "cases" => named(json!({ "type": "object", "additionalProperties": false, "properties": {
            "set": { "type": "object" },
            "initial": { "$ref": "#/properties/initial" },
            "run": { "$ref": "#/properties/run" },
            "output": { "$ref": "#/properties/output" },
            "note": string(), "extra": {},
        } })),
        _ => json!({ "type": "object" }),
    }
}

/// An entry of a family: one of its kinds.
fn family_entry(family: &SchemaFamily) -> Value {
    let mut any: Vec<Value> = family
        .kinds
        .iter()
        .map(|k| {
            let mut object = keys(k.keys);
            object["properties"]["kind"] = json!({ "const": k.kind, "description": k.doc });
            if family.default_kind != Some(k.kind) {
                object["required"] = json!(["kind"]);
            }
            describe(&mut object, k.doc);
            object
        })
        .collect();
    if family.or_expression {
        any.push(reference("number"));
    }
    json!({ "anyOf": any })
}

/// A table with the keys and those common to all.
fn keys(list: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in list.iter().chain(COMMON) {
        if properties.contains_key(key.name) {
            continue;
        }
        let mut ty = of_type(&key.ty);
        let doc = match key.default {
            "" => key.doc.to_string(),
            default => format!("{} (default: {default})", key.doc),
        };
        describe(&mut ty, &doc);
        properties.insert(key.name.into(), ty);
    }
    closed(properties, &[])
}

/// The schema of a type.
fn of_type(ty: &KeyType) -> Value {
    match ty {
        KeyType::Number | KeyType::Expression => reference("number"),
        KeyType::Numbers | KeyType::Expressions => json!({ "oneOf": [string(), list(reference("number"))] }),
        KeyType::Matrix => list(list(reference("number"))),
        KeyType::Flag => reference("flag"),
        KeyType::Choice(names) => json!({ "enum": names }),
        KeyType::Text | KeyType::Name | KeyType::Body => string(),
        KeyType::Names => json!({ "oneOf": [string(), list(string())] }),
        KeyType::Bodies => list(string()),
        KeyType::Point | KeyType::Vector => reference("vector"),
        KeyType::Axial => json!({ "anyOf": [reference("vector"), reference("number")] }),
        KeyType::Points | KeyType::Vectors => list(reference("vector")),
        KeyType::Local | KeyType::LocalVector => reference("local"),
        KeyType::Inertia => json!({ "anyOf": [
            reference("number"), reference("vector"), list(reference("vector")),
        ] }),
        KeyType::Orientation => reference("orientation"),
        KeyType::Method => reference("method"),
        KeyType::Table(list) => keys(list),
        KeyType::Tables(of) => json!({ "oneOf": [keys(of), list(keys(of))] }),
        KeyType::Map(of) => named(of_type(of)),
        KeyType::Either(a, b) => json!({ "anyOf": [of_type(a), of_type(b)] }),
        KeyType::Any => json!({}),
    }
}

fn string() -> Value {
    json!({ "type": "string" })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A table whose keys are names.
fn named(of: Value) -> Value {
    json!({ "type": "object", "additionalProperties": of })
}

fn closed(properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn describe(schema: &mut Value, doc: &str) {
    if let Some(object) = schema.as_object_mut() {
        object.insert("description".into(), json!(doc));
    }
}
