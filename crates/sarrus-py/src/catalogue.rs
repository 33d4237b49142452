//! The registries as plain data, from which the package makes its builders, their signatures and stubs.

use pyo3::prelude::*;
use sarrus::catalogue::{FAMILIES, family};
use sarrus::io::{INCLUDE_KEYS, TABLE_KEYS};
use sarrus::model::key::{COMMON, KeyType};
use sarrus::model::{Key, fluids, materials, settings, suggest};
use sarrus::system::{bodies, shapes};

/// Marks what the file format names and this version does not have.
const LATER: &str = "not available yet";

/// A key: name, type, default in words, line.
type KeyRow = (&'static str, String, &'static str, &'static str);
/// A kind: name, line, keys.
type KindRow = (String, String, Vec<KeyRow>);
/// A kind as `sarrus list` has it: name, line, remark, keys or options.
type Listed = (String, String, String, Vec<KeyRow>);

/// Every section whose entries have a kind: its name, the kind that need not be said, whether an entry may be an
/// expression, and the kinds with their keys. Shapes come last, as a section of their own.
#[pyfunction]
pub fn families() -> Vec<(&'static str, Option<&'static str>, bool, Vec<KindRow>)> {
    let mut all: Vec<_> = sarrus::schema::families()
        .into_iter()
        .map(|f| {
            let kinds = f.kinds.iter().map(|k| (k.kind.to_string(), k.doc.to_string(), with_common(k.keys)));
            (f.section, f.default_kind, f.or_expression, kinds.collect())
        })
        .collect();
    let forms = shapes::KINDS.iter().filter(|k| !k.doc.contains(LATER));
    let forms = forms.map(|k| {
        // what is no dimension of any kind, such as where it is and what it is for, all kinds take
        let common = |key: &Key| shapes::KINDS.iter().all(|kind| !kind.accepted.contains(&key.name));
        let keys = shapes::KEYS.iter().filter(|key| k.accepted.contains(&key.name) || common(key));
        (k.name.to_string(), k.doc.to_string(), rows(keys))
    });
    all.push(("shapes", None, false, forms.collect()));
    all
}

/// Tables that have keys and no kind.
#[pyfunction]
pub fn tables() -> Vec<(&'static str, Vec<KeyRow>)> {
    vec![
        ("run", rows(settings::RUN_KEYS.iter())),
        ("output", rows(settings::OUTPUT_KEYS.iter())),
        ("view", rows(settings::VIEW_KEYS.iter())),
        ("ground", rows(bodies::GROUND_KEYS.iter())),
        ("materials", with_common(materials::KEYS)),
        ("fluids", with_common(fluids::KEYS)),
        ("tables", with_common(TABLE_KEYS)),
        ("include", with_common(INCLUDE_KEYS)),
    ]
}

/// What `sarrus list` shows: families with kinds, each with a line, a remark and its keys or options.
#[pyfunction]
pub fn kinds() -> Vec<(&'static str, Vec<Listed>)> {
    FAMILIES
        .iter()
        .map(|name| {
            let entries = family(name).into_iter().map(|e| {
                let keys = e.keys.into_iter().map(|k| (k.name, k.accepted, k.default, k.doc));
                (e.name.to_string(), e.doc, e.remark, keys.collect())
            });
            (*name, entries.collect())
        })
        .collect()
}

/// The JSON Schema of the model file.
#[pyfunction]
pub fn schema() -> String {
    sarrus::schema::json_schema()
}

/// The nearest of some words, as a hint.
#[pyfunction]
pub fn did_you_mean(word: &str, known: Vec<String>) -> Option<String> {
    suggest::did_you_mean(word, known)
}

fn with_common(keys: &[Key]) -> Vec<KeyRow> {
    let common = COMMON.iter().filter(|c| keys.iter().all(|k| k.name != c.name));
    rows(keys.iter().chain(common))
}

fn rows<'a>(keys: impl Iterator<Item = &'a Key>) -> Vec<KeyRow> {
    let now = keys.filter(|k| !k.doc.contains(LATER) && k.name != "kind");
    now.map(|k| (k.name, type_of(&k.ty), k.default, k.doc)).collect()
}

/// A type as an annotation; the names in it are those of `sarrus.types`.
fn type_of(ty: &KeyType) -> String {
    match ty {
        KeyType::Number => "Number".into(),
        KeyType::Numbers => "Numbers".into(),
        KeyType::Matrix => "Matrix".into(),
        KeyType::Flag => "Flag".into(),
        KeyType::Choice(words) => {
            let words: Vec<String> = words.iter().map(|w| format!("{w:?}")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        KeyType::Text | KeyType::Name | KeyType::Body => "str".into(),
        KeyType::Names => "str | Sequence[str]".into(),
        KeyType::Bodies => "Sequence[str]".into(),
        KeyType::Point | KeyType::Vector => "Vector".into(),
        KeyType::Points | KeyType::Vectors => "Sequence[Vector]".into(),
        KeyType::Axial => "Vector | Number".into(),
        KeyType::Local | KeyType::LocalVector => "Local".into(),
        KeyType::Inertia => "Number | Vector | Matrix".into(),
        KeyType::Orientation => "Orientation".into(),
        KeyType::Expression => "Number".into(),
        KeyType::Expressions => "Numbers".into(),
        KeyType::Method => "Method".into(),
        KeyType::Table(_) => "Table".into(),
        KeyType::Tables(_) => "Table | Sequence[Table]".into(),
        KeyType::Map(inner) => format!("Mapping[str, {}]", type_of(inner)),
        KeyType::Either(a, b) => {
            let (a, b) = (type_of(a), type_of(b));
            if a == b { a } else { format!("{a} | {b}") }
        }
        KeyType::Any => "Any".into(),
    }
}
