//! Describes what was read from a model, kept for the resolved file.
//!
//! The resolved file holds what the kinds understood, so it is written from what their readers returned:
//! every number after evaluation, every world vector after the include's transform.

use crate::model::Section;
use std::collections::HashMap;

/// A resolved value.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolvedValue {
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<ResolvedValue>),
    /// A table, in order.
    Table(Vec<(String, ResolvedValue)>),
}

impl ResolvedValue {
    /// A list of numbers.
    pub fn numbers(values: &[f64]) -> Self {
        ResolvedValue::List(values.iter().map(|v| ResolvedValue::Number(*v)).collect())
    }

    /// A vector: two numbers where the space is planar.
    pub fn vector(v: [f64; 3], planar: bool) -> Self {
        ResolvedValue::numbers(&v[..if planar { 2 } else { 3 }])
    }
}

/// Marks where a value was read: an element, the tables inside it, the key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPath {
    /// The element's section.
    pub section: Section,
    /// The element's full name.
    pub element: String,
    /// Keys from the outside in; a number picks an entry of a list of tables.
    pub path: Vec<String>,
}

/// Everything that was read, by element.
#[derive(Debug, Default)]
pub struct ValueRecorder {
    elements: HashMap<(Section, String), Vec<(String, ResolvedValue)>>,
}

impl ValueRecorder {
    /// Notes a value; a later one for the same place replaces it.
    pub fn insert(&mut self, path: &KeyPath, value: ResolvedValue) {
        let table = self.elements.entry((path.section, path.element.clone())).or_default();
        insert(table, &path.path, value);
    }

    /// Notes that a table is there, though nothing in it may be read.
    pub fn touch(&mut self, path: &KeyPath) {
        let table = self.elements.entry((path.section, path.element.clone())).or_default();
        open(table, &path.path);
    }

    /// Forgets a value: another key says the same in the resolved file.
    pub fn remove(&mut self, path: &KeyPath) {
        let Some((key, outer)) = path.path.split_last() else { return };
        let mut table = self.elements.get_mut(&(path.section, path.element.clone()));
        for name in outer {
            table = table.and_then(|entries| match entries.iter_mut().find(|(k, _)| k == name) {
                Some((_, ResolvedValue::Table(inner))) => Some(inner),
                _ => None,
            });
        }
        if let Some(table) = table {
            table.retain(|(k, _)| k != key);
        }
    }

    /// Returns what was read of an element.
    pub fn element(&self, section: Section, name: &str) -> Option<&[(String, ResolvedValue)]> {
        self.elements.get(&(section, name.to_string())).map(Vec::as_slice)
    }
}

/// Puts a value under a path of keys, making the tables on the way.
fn insert(table: &mut Vec<(String, ResolvedValue)>, path: &[String], value: ResolvedValue) {
    let Some((key, rest)) = path.split_first() else { return };
    let position = match table.iter().position(|(k, _)| k == key) {
        Some(p) => p,
        None => {
            table.push((key.clone(), ResolvedValue::Table(Vec::new())));
            table.len() - 1
        }
    };
    let slot = &mut table[position].1;
    if rest.is_empty() {
        *slot = value;
    } else {
        if !matches!(slot, ResolvedValue::Table(_)) {
            *slot = ResolvedValue::Table(Vec::new());
        }
        if let ResolvedValue::Table(inner) = slot {
            insert(inner, rest, value);
        }
    }
}

/// Makes the tables on a path.
fn open(table: &mut Vec<(String, ResolvedValue)>, path: &[String]) {
    let Some((key, rest)) = path.split_first() else { return };
    if !table.iter().any(|(k, _)| k == key) {
        table.push((key.clone(), ResolvedValue::Table(Vec::new())));
    }
    if let Some((_, ResolvedValue::Table(inner))) = table.iter_mut().find(|(k, _)| k == key) {
        open(inner, rest);
    }
}

/// Tables keyed `0`, `1`, … by [`KeyPath::path`] as lists.
pub fn with_lists(value: ResolvedValue) -> ResolvedValue {
    match value {
        ResolvedValue::Table(entries) => {
            let entries: Vec<(String, ResolvedValue)> =
                entries.into_iter().map(|(k, v)| (k, with_lists(v))).collect();
            let counted = entries.iter().enumerate().all(|(i, (k, _))| *k == i.to_string());
            if counted && !entries.is_empty() {
                ResolvedValue::List(entries.into_iter().map(|(_, v)| v).collect())
            } else {
                ResolvedValue::Table(entries)
            }
        }
        other => other,
    }
}
