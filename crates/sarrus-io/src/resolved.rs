//! The model as resolved: parameters, points, `repeat` and `include` gone, every pose and point a number.
//!
//! Written from what was read (see [`sarrus_model::record`]): load with
//! [`LoadOptions::record`](crate::LoadOptions::record), compile, then write. Loading the text again gives the
//! same numbers bit for bit.

use sarrus_model::record::{ResolvedValue, ValueRecorder, with_lists};
use sarrus_model::settings::{OutputSettings, RunSettings};
use sarrus_model::tables::{Interpolation, Outside};
use sarrus_model::{Data, Element, Model, Section, Value};
use std::fmt::Write as _;

/// A table in the order of the text.
type OrderedEntries = Vec<(String, ResolvedValue)>;

/// The text of `model.toml`. `run` is laid over `[run]`: what the command line asked for.
///
/// A model that was not loaded with [`LoadOptions::record`](crate::LoadOptions::record) has nothing to write
/// but its header.
pub fn write_resolved(model: &Model, run: &[(&str, ResolvedValue)]) -> String {
    // these two record themselves when they are read
    let _ = (RunSettings::read(model), OutputSettings::read(model));
    let empty = ValueRecorder::default();
    let guard = model.recorder.as_ref().and_then(|r| r.lock().ok());
    let recorder = guard.as_deref().unwrap_or(&empty);

    let mut out = String::from("# Written by sarrus: the model as resolved.\nformat = \"sarrus/1\"\n");
    let planar = model.is_planar();
    line(&mut out, "name", &ResolvedValue::Text(model.name.clone()));
    line(&mut out, "space", &ResolvedValue::Text(if planar { "planar" } else { "spatial" }.into()));
    line(&mut out, "gravity", &ResolvedValue::vector(model.gravity, planar));
    if let Some(note) = &model.note {
        line(&mut out, "note", &ResolvedValue::Text(note.clone()));
    }
    section(&mut out, "tables", tables(model));
    section(&mut out, "materials", materials(model));
    let cross = model.sections.iter().map(|e| (e.name.clone(), element(model, recorder, e)));
    section(&mut out, "sections", cross.collect());
    let fluids = model.fluids.iter().map(|e| (e.name.clone(), element(model, recorder, e)));
    section(&mut out, "fluids", fluids.collect());
    section(&mut out, "ground", attached(model, recorder, "ground"));
    for s in Section::ELEMENTS {
        let elements = model.elements(s).iter().map(|e| (e.name.clone(), element(model, recorder, e)));
        section(&mut out, s.name(), elements.collect());
    }
    for (name, list) in [("initial", &model.initial), ("guess", &model.guess)] {
        let read = |s: &sarrus_model::Setting| {
            let (key, value) = recorder.element(s.element.section, &s.path)?.first()?;
            // a file that is turned says another column
            let path = if key == "value" { &s.path } else { key };
            Some((path.clone(), value.clone()))
        };
        section(&mut out, name, list.iter().filter_map(read).collect());
    }
    let mut settings = recorder.element(Section::Run, "run").unwrap_or_default().to_vec();
    for (key, value) in run {
        settings.retain(|(k, _)| k != key);
        settings.push((key.to_string(), value.clone()));
    }
    section(&mut out, "run", settings);
    section(&mut out, "output", recorder.element(Section::Output, "output").unwrap_or_default().to_vec());
    let view = model.view.table.entries.iter().filter_map(|e| Some((e.key.to_string(), raw(&e.value)?)));
    section(&mut out, "view", view.collect());
    with_functions(model, out)
}

/// The text, with a remark on functions that must be given to load it again.
fn with_functions(model: &Model, text: String) -> String {
    let called = |name: &str| text.contains(&format!("{name}("));
    let given = model.scopes.first().into_iter().flat_map(|scope| scope.given.iter());
    let names: Vec<&str> = given.map(|f| f.name()).filter(|name| called(name)).collect();
    if names.is_empty() {
        return text;
    }
    format!("# Calls functions that a program gives: {}.\n{text}", names.join(", "))
}

/// An element as its kind read it.
fn element(model: &Model, recorder: &ValueRecorder, e: &Element) -> ResolvedValue {
    let mut read = recorder.element(e.section, &e.name).unwrap_or_default().to_vec();
    if e.kind == "expression" && e.section == Section::Measures {
        return match read.into_iter().find(|(k, _)| k == "expression") {
            Some((_, value)) => value,
            None => ResolvedValue::Table(Vec::new()),
        };
    }
    read.retain(|(k, _)| k != "kind" && k != "if");
    let mut entries = vec![("kind".to_string(), ResolvedValue::Text(e.kind.clone()))];
    if e.section == Section::Fluids {
        // there is only one kind
        entries.clear();
    }
    entries.append(&mut read);
    if e.section == Section::Bodies {
        merge(&mut entries, attached(model, recorder, &e.name));
    }
    for key in ["note", "extra"] {
        if let Some(value) = e.table.get(key).and_then(raw) {
            entries.push((key.to_string(), value));
        }
    }
    ResolvedValue::Table(entries)
}

/// Markers and shapes that a body has from elsewhere.
fn attached(model: &Model, recorder: &ValueRecorder, body: &str) -> OrderedEntries {
    let mut out = OrderedEntries::new();
    for a in model.attachments.iter().filter(|a| a.body == body) {
        for (key, value) in recorder.element(Section::Ground, &a.element.name).unwrap_or_default() {
            match (key.as_str(), value) {
                ("markers", ResolvedValue::Table(markers)) => {
                    let named = markers.iter().map(|(n, v)| (format!("{}{n}", a.prefix), v.clone()));
                    merge(&mut out, vec![(key.clone(), ResolvedValue::Table(named.collect()))]);
                }
                ("shape", shape) if a.shapes => merge(&mut out, vec![(key.clone(), shape.clone())]),
                _ => {}
            }
        }
    }
    out
}

/// Adds entries; tables are joined, shapes listed.
fn merge(into: &mut OrderedEntries, more: OrderedEntries) {
    for (key, value) in more {
        let Some((_, there)) = into.iter_mut().find(|(k, _)| *k == key) else {
            into.push((key, value));
            continue;
        };
        *there = match (with_lists(std::mem::replace(there, ResolvedValue::Flag(false))), with_lists(value)) {
            (ResolvedValue::Table(mut a), ResolvedValue::Table(b)) if key == "markers" => {
                a.extend(b);
                ResolvedValue::Table(a)
            }
            (a, b) => {
                let list = |p: ResolvedValue| if let ResolvedValue::List(l) = p { l } else { vec![p] };
                ResolvedValue::List([list(a), list(b)].concat())
            }
        };
    }
}

fn tables(model: &Model) -> OrderedEntries {
    let mut out = OrderedEntries::new();
    for scope in &model.scopes {
        let mut names: Vec<&String> = scope.tables.keys().collect();
        names.sort();
        for name in names {
            let curve = &scope.tables[name];
            let points = scope.table_points.get(name).map(Vec::as_slice).unwrap_or_default();
            let points = ResolvedValue::List(points.iter().map(|p| ResolvedValue::numbers(p)).collect());
            let interpolation = match curve.interpolation() {
                Interpolation::Linear => "linear",
                Interpolation::Cubic => "cubic",
                Interpolation::Step => "step",
            };
            let outside = match curve.outside() {
                Outside::Hold => "hold",
                Outside::Extend => "extend",
                Outside::Error => "error",
                Outside::Repeat => "repeat",
            };
            let entries = vec![
                ("points".to_string(), points),
                ("interpolation".to_string(), ResolvedValue::Text(interpolation.into())),
                ("outside".to_string(), ResolvedValue::Text(outside.into())),
            ];
            out.push((curve.name().to_string(), ResolvedValue::Table(entries)));
        }
    }
    out
}

fn materials(model: &Model) -> OrderedEntries {
    let material = |m: &sarrus_model::materials::Material| {
        let numbers = [
            ("density", m.density),
            ("young", m.young),
            ("poisson", m.poisson),
            ("damping", m.damping),
            ("restitution", m.restitution),
            ("friction", m.friction),
        ];
        let mut entries: OrderedEntries =
            numbers.iter().filter_map(|(k, v)| Some((k.to_string(), ResolvedValue::Number((*v)?)))).collect();
        entries.extend(m.color.clone().map(|c| ("color".to_string(), ResolvedValue::Text(c))));
        (m.name.clone(), ResolvedValue::Table(entries))
    };
    model.materials.iter().map(material).collect()
}

/// A value as it stands in the file.
fn raw(value: &Value) -> Option<ResolvedValue> {
    Some(match &value.data {
        Data::Bool(b) => ResolvedValue::Flag(*b),
        Data::Number(x) => ResolvedValue::Number(*x),
        Data::Text(t) => ResolvedValue::Text(t.to_string()),
        Data::List(list) => ResolvedValue::List(list.iter().filter_map(raw).collect()),
        Data::Table(t) => ResolvedValue::Table(
            t.entries.iter().filter_map(|e| Some((e.key.to_string(), raw(&e.value)?))).collect(),
        ),
    })
}

/// `[name]` and a line per entry.
fn section(out: &mut String, name: &str, entries: OrderedEntries) {
    if entries.is_empty() {
        return;
    }
    let _ = write!(out, "\n[{name}]\n");
    for (key, value) in entries {
        line(out, &key, &with_lists(value));
    }
}

fn line(out: &mut String, name: &str, value: &ResolvedValue) {
    key(out, name);
    out.push_str(" = ");
    write_value(out, value);
    out.push('\n');
}

fn key(out: &mut String, name: &str) {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { out.push_str(name) } else { quoted(out, name) }
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn write_value(out: &mut String, value: &ResolvedValue) {
    match value {
        ResolvedValue::Flag(b) => {
            let _ = write!(out, "{b}");
        }
        // the shortest digits that read back to the same number
        ResolvedValue::Number(x) if x.is_nan() => out.push_str("nan"),
        ResolvedValue::Number(x) => {
            let _ = write!(out, "{x:?}");
        }
        ResolvedValue::Text(t) => quoted(out, t),
        ResolvedValue::List(list) => {
            out.push('[');
            for (i, v) in list.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_value(out, v);
            }
            out.push(']');
        }
        ResolvedValue::Table(entries) => {
            out.push_str("{ ");
            for (i, (k, v)) in entries.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                key(out, k);
                out.push_str(" = ");
                write_value(out, v);
            }
            out.push_str(" }");
        }
    }
}
