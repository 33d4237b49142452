//! Reads one element's table by key, typed.
//!
//! A kind opens a [`Reader`] with its table of [`Key`]s: a key that is not among them is an error with a
//! suggestion. Numbers are evaluated in the scope of the element's file, world vectors go through the
//! include's transform, names get its prefix. Every error carries the place of the value.

mod bodies;
mod compile;
mod frames;
mod numbers;
mod runtime;
mod vectors;

pub use bodies::{BodyPoint, BodyRef, SideNames};
pub use frames::{BodyFrame, MARKER_KEYS, MarkerFrame, ORIENTATION, WrittenInertia};
pub use runtime::{ComponentMap, RuntimeExpr, RuntimeVector};

use crate::Result;
use crate::diagnostic::{Diagnostic, Span};
use crate::dimension::Dimension;
use crate::key::{COMMON, COMMON_NESTED, Key};
use crate::model::{Element, Model, Section, Setting};
use crate::record::{KeyPath, ResolvedValue};
use crate::scope::{ElementScope, ScopeData};
use crate::suggest::suggest;
use crate::transform::Transform;
use crate::value::{Data, Table, Value};

/// A typed view of a table.
#[derive(Clone)]
pub struct Reader<'a> {
    model: &'a Model,
    element: &'a Element,
    table: &'a Table,
    /// Keys that lead from the element's table to this one.
    path: Vec<String>,
    /// Marks where errors about the table as a whole point.
    span: Span,
}

impl<'a> Reader<'a> {
    /// Opens an element; a key that is neither in `keys` nor common to all elements is an error.
    pub fn new(model: &'a Model, element: &'a Element, keys: &[Key]) -> Result<Self> {
        let reader = Reader::open(model, element);
        reader.check(keys, true)?;
        Ok(reader)
    }

    /// Opens an element without checking its keys.
    pub fn open(model: &'a Model, element: &'a Element) -> Self {
        Reader { model, element, table: &element.table, path: Vec::new(), span: element.span }
    }

    /// Opens an entry of `[initial]` or `[guess]`; its value has the key `value`.
    pub fn setting(model: &'a Model, setting: &'a Setting) -> Self {
        Reader::open(model, &setting.element)
    }

    /// Refuses keys that are not listed; [`Reader::new`] has done it. Returns whether units may stand in a quantity.
    pub fn check(&self, keys: &[Key], common: bool) -> Result<bool> {
        let context = self.context();
        let mut units = false;
        for entry in &self.table.entries {
            let key = &*entry.key;
            let own = keys.iter().find(|k| k.name == key);
            if let Some(own) = own.filter(|own| own.ty.is_quantity() && context.may_have_units(&entry.value))
            {
                units = true;
                self.check_dimension(key, &entry.value, &own.dimensions())?;
            }
            let known = own.is_some()
                || COMMON_NESTED.contains(&key)
                || (common && COMMON.iter().any(|k| k.name == key));
            if !known {
                // keys that are known only to be refused are no advice
                let names: Vec<&str> =
                    keys.iter().filter(|k| !k.doc.contains("not available")).map(|k| k.name).collect();
                let hint = suggest(key, &names).map(|k| format!("did you mean `{k}`?"));
                let hint =
                    hint.or_else(|| (!names.is_empty()).then(|| format!("it takes: {}", names.join(" "))));
                return Err(self
                    .at(entry.key_span, format!("{} has no key `{key}`", self.title()))
                    .maybe_hint(hint));
            }
        }
        Ok(units)
    }

    fn check_dimension(&self, key: &str, value: &Value, allowed: &[Dimension]) -> Result<()> {
        let title = || format!("`{key}` of {}", self.title());
        self.context().check_dimension(value, allowed, &title).map_err(|d| self.noted(d))
    }

    /// Refuses units of keys that name one for lengths and one for angles, `[N/m, N m/rad]`: number `which` alone is allowed.
    pub fn check_units(&self, keys: &[Key], which: usize) -> Result<()> {
        let context = self.context();
        for entry in self.table.entries.iter().filter(|entry| context.may_have_units(&entry.value)) {
            let own = keys.iter().find(|k| *k.name == *entry.key && k.ty.is_quantity());
            if let Some([translation, rotation]) = own.map(Key::dimensions).as_deref() {
                self.check_dimension(&entry.key, &entry.value, &[[*translation, *rotation][which.min(1)]])?;
            }
        }
        Ok(())
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// The element.
    pub fn element(&self) -> &'a Element {
        self.element
    }

    /// The table that is read.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// The scope of the element's file.
    pub fn scope(&self) -> &'a ScopeData {
        // a loader numbers scopes itself; a model built by hand has the first
        &self.model.scopes[(self.element.scope as usize).min(self.model.scopes.len() - 1)]
    }

    /// Returns where the element's file is evaluated.
    pub fn transform(&self) -> &'a Transform {
        &self.scope().transform
    }

    /// -1 in a mirrored file, else 1: the sign by which a scalar of rotation or torque about a fixed
    /// polar direction changes.
    pub fn handedness(&self) -> f64 {
        self.transform().sign()
    }

    /// Returns whether the space is planar.
    pub fn is_planar(&self) -> bool {
        self.model.is_planar()
    }

    /// `joint `A``, or `stop of joint `A`` for a table inside it.
    pub fn title(&self) -> String {
        match self.path.as_slice() {
            [] => self.element.title(),
            path => format!("`{}` of {}", path.join("."), self.element.title()),
        }
    }

    /// Returns whether a key is given.
    pub fn has(&self, key: &str) -> bool {
        self.table.entry(key).is_some()
    }

    /// The value of a key, unread.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.table.get(key)
    }

    /// Returns where the value of a key stands; the element where it is not given.
    pub fn span(&self, key: &str) -> Span {
        self.value(key).map_or(self.span, |v| v.span)
    }

    /// Returns which of several keys is given: none, or exactly one.
    pub fn one_of(&self, keys: &[&'static str]) -> Result<Option<&'static str>> {
        let given: Vec<&'static str> = keys.iter().copied().filter(|k| self.has(k)).collect();
        match given.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            [a, b, ..] => Err(self.both(a, b)),
        }
    }

    /// The error for two keys that exclude each other.
    pub fn both(&self, a: &str, b: &str) -> Diagnostic {
        let message = format!("{} takes `{a}` or `{b}`, not both", self.title());
        self.error(b, message).hint(format!("leave out `{a}` or `{b}`"))
    }

    /// Returns which of several keys is given; one must be.
    pub fn require_one_of(&self, keys: &[&'static str]) -> Result<&'static str> {
        self.one_of(keys)?.ok_or_else(|| {
            let names: Vec<String> = keys.iter().map(|k| format!("`{k}`")).collect();
            self.element_error(format!("{} needs {}", self.title(), names.join(" or ")))
                .hint(format!("give one of them; {}", self.listing()))
        })
    }

    /// An error at the value of a key, or at the element where it is not given.
    pub fn error(&self, key: &str, message: impl Into<String>) -> Diagnostic {
        self.at(self.span(key), message)
    }

    /// An error about the element as a whole.
    pub fn element_error(&self, message: impl Into<String>) -> Diagnostic {
        self.at(self.span, message)
    }

    /// The error for a key that must be given.
    pub fn missing(&self, key: &str) -> Diagnostic {
        self.element_error(format!("{} needs `{key}`", self.title()))
            .hint(format!("add `{key} = …` to it; {}", self.listing()))
    }

    /// Reports a user where the keys of the element are explained.
    fn listing(&self) -> String {
        match self.element.section {
            section @ (Section::Flexible
            | Section::Joints
            | Section::Constraints
            | Section::Drivers
            | Section::Forces
            | Section::Contacts
            | Section::Controllers
            | Section::Measures
            | Section::Events
            | Section::Materials
            | Section::Sections) => {
                format!("`sarrus list {}` explains the keys of each kind", section.name())
            }
            _ => "docs/model-file.md explains its keys".into(),
        }
    }

    /// An error at a place, with the index of a repeated element.
    pub fn at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let d = Diagnostic::new(if span.is_some() { span } else { self.span }, message);
        match &self.element.locals {
            Some(locals) => d.note(locals.describe()),
            None => d,
        }
    }

    /// The error for a value of the wrong type.
    fn expected(&self, key: &str, what: &str, value: &Value) -> Diagnostic {
        self.at(
            value.span,
            format!("`{key}` of {}: expected {what}, found {}", self.title(), value.describe()),
        )
        .hint(Diagnostic::example(key, what).unwrap_or_else(|| self.listing()))
    }

    /// The names that expressions of this element may use on loading.
    pub fn context(&self) -> ElementScope<'a> {
        ElementScope::new(self.scope(), self.element.locals.as_deref())
    }

    /// A table inside this one, with its own keys.
    pub fn sub(&self, key: &str, keys: &[Key]) -> Result<Option<Reader<'a>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match &value.data {
            Data::Table(_) => Ok(Some(self.inside(key, None, value, keys)?)),
            _ => Err(self.expected(key, "a table", value)),
        }
    }

    /// A table or a list of tables inside this one.
    pub fn subs(&self, key: &str, keys: &[Key]) -> Result<Vec<Reader<'a>>> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        match &value.data {
            Data::Table(_) => Ok(vec![self.inside(key, None, value, keys)?]),
            Data::List(list) => {
                list.iter().enumerate().map(|(i, v)| self.inside(key, Some(i), v, keys)).collect()
            }
            _ => Err(self.expected(key, "a table or a list of tables", value)),
        }
    }

    /// A table whose keys the file chooses, each holding a table: `markers`.
    pub fn map_of_tables(&self, key: &str, keys: &[Key]) -> Result<Vec<(String, Reader<'a>)>> {
        let Some(outer) = self.map(key)? else { return Ok(Vec::new()) };
        let mut out = Vec::with_capacity(outer.table.len());
        for entry in &outer.table.entries {
            let name = outer.context().expand_key(&entry.key).map_err(|m| outer.at(entry.key_span, m))?;
            let Data::Table(_) = entry.value.data else {
                return Err(outer.expected(&entry.key, "a table", &entry.value));
            };
            let inner = outer.inside(&name, None, &entry.value, keys)?;
            out.push((name, inner));
        }
        Ok(out)
    }

    /// A table whose keys the file chooses: read each key of the reader it returns.
    pub fn map(&self, key: &str) -> Result<Option<Reader<'a>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::Table(table) = &value.data else { return Err(self.expected(key, "a table", value)) };
        let mut path = self.path.clone();
        path.push(key.to_string());
        let reader = Reader { table, path, span: value.span, ..self.clone() };
        reader.touch();
        Ok(Some(reader))
    }

    fn inside(&self, key: &str, index: Option<usize>, value: &'a Value, keys: &[Key]) -> Result<Reader<'a>> {
        let reader = self.nested(key, index, value, keys)?;
        reader.touch();
        if let Some(Data::Text(kind)) = reader.table.get("kind").map(|v| &v.data) {
            reader.record("kind", || ResolvedValue::Text(kind.to_string()));
        }
        Ok(reader)
    }

    /// A table that the resolved file writes in another form.
    fn nested<'v>(
        &self,
        key: &str,
        index: Option<usize>,
        value: &'v Value,
        keys: &[Key],
    ) -> Result<Reader<'v>>
    where
        'a: 'v,
    {
        let Data::Table(table) = &value.data else { return Err(self.expected(key, "a table", value)) };
        let mut path = self.path.clone();
        path.push(key.to_string());
        path.extend(index.map(|i| i.to_string()));
        let reader = Reader { model: self.model, element: self.element, table, path, span: value.span };
        reader.check(keys, true)?;
        Ok(reader)
    }

    /// Notes that this table is there.
    fn touch(&self) {
        if let Some(Ok(mut recorder)) = self.model.recorder.as_ref().map(|r| r.lock()) {
            let path = self.path.clone();
            let element = self.element.name.clone();
            recorder.touch(&KeyPath { section: self.element.section, element, path });
        }
    }

    /// Notes a value for the resolved file: what a kind found out itself, such as the length of a bar.
    pub fn record(&self, key: &str, value: impl FnOnce() -> ResolvedValue) {
        if let Some(recorder) = &self.model.recorder {
            let path = self.key_path(key);
            if let Ok(mut recorder) = recorder.lock() {
                recorder.insert(&path, value());
            }
        }
    }

    /// Leaves a key out of the resolved file: another says the same there.
    pub fn unrecord(&self, key: &str) {
        if let Some(recorder) = &self.model.recorder {
            let path = self.key_path(key);
            if let Ok(mut recorder) = recorder.lock() {
                recorder.remove(&path);
            }
        }
    }

    /// Returns whether what is read is kept for a resolved file.
    pub fn is_recording(&self) -> bool {
        self.model.recorder.is_some()
    }

    fn key_path(&self, key: &str) -> KeyPath {
        let mut path = self.path.clone();
        path.push(key.to_string());
        KeyPath { section: self.element.section, element: self.element.name.clone(), path }
    }
}
