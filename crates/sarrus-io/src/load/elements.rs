//! Bodies, joints, forces and the like: names, `if`, kinds.

use super::repeat::Repeats;
use super::{Done, Loader, given, sections};
use sarrus_model::materials::{KEYS, Material};
use sarrus_model::model::{Locals, NameEntry};
use sarrus_model::scope::{ElementScope, ScopeData};
use sarrus_model::value::{Entry, Text};
use sarrus_model::{Data, Diagnostic, Element, Reader, Section, Span, Table, Value};
use std::sync::Arc;

/// A key as a name to be expanded, with its place.
pub fn name_text(entry: &Entry) -> Text {
    // a quoted key begins one byte after its span
    let quoted = (entry.key_span.end - entry.key_span.start) as usize == entry.key.len() + 2;
    let plain = (entry.key_span.end - entry.key_span.start) as usize == entry.key.len();
    let start = if quoted { Some(entry.key_span.start + 1) } else { plain.then_some(entry.key_span.start) };
    Text::at(entry.key.clone(), start)
}

impl Loader {
    /// All elements of a file.
    pub(super) fn elements(&mut self, root: &Table, scope: &ScopeData, index: u32, repeats: &Repeats<'_>) {
        for section in Section::ELEMENTS {
            self.section(root, section, &[None], scope, index);
        }
        for repeat in &repeats.list {
            let indices: Vec<Option<&Arc<Locals>>> = repeat.indices.iter().map(Some).collect();
            for section in Section::ELEMENTS {
                self.section(repeat.table, section, &indices, scope, index);
            }
        }
    }

    fn section(
        &mut self,
        table: &Table,
        section: Section,
        indices: &[Option<&Arc<Locals>>],
        scope: &ScopeData,
        index: u32,
    ) {
        let Some(value) = table.get(section.name()) else { return };
        let entries = match sections::table(value, section.name()) {
            Ok(table) => &table.entries,
            Err(d) => return self.fail(d),
        };
        // an entry is prepared once, however often it is repeated
        let prepared: Vec<Result<Prepared<'_>, Diagnostic>> =
            entries.iter().map(|e| Prepared::new(e, section)).collect();
        let mut good = Vec::with_capacity(prepared.len());
        for p in prepared {
            match p {
                Ok(p) => good.push(p),
                Err(d) => self.fail(d),
            }
        }
        let mut failed = vec![false; good.len()];
        for locals in indices {
            for (p, failed) in good.iter().zip(&mut failed) {
                // one index shows what is wrong with all
                if !*failed && let Err(d) = self.element(p, section, *locals, scope, index) {
                    *failed = true;
                    self.fail(match locals {
                        Some(l) => d.note(l.describe()),
                        None => d,
                    });
                }
            }
        }
    }

    fn element(
        &mut self,
        p: &Prepared<'_>,
        section: Section,
        locals: Option<&Arc<Locals>>,
        scope: &ScopeData,
        index: u32,
    ) -> Done {
        let context = ElementScope::new(scope, locals.map(|l| &**l));
        let own = context.expand(&p.name, p.span)?;
        if let Some(d) = sections::bad_name(&own, section.singular(), p.span) {
            return Err(d);
        }
        let name = format!("{}{own}", scope.prefix);
        if let Some(condition) = p.condition
            && !context.flag(condition)?
        {
            self.model.removed.insert(name, p.span);
            return Ok(());
        }
        let element = Element {
            name,
            kind: p.kind.clone(),
            section,
            table: p.table.clone(),
            span: p.span,
            scope: index,
            locals: locals.cloned(),
        };
        if section == Section::Bodies && self.model.aliases.contains_key(&element.name) {
            self.replaced.push(Element { section: Section::Ground, ..element });
            return Ok(());
        }
        if self.functions.get(&own).is_some() {
            return Err(given::name_conflict(&own, section.singular(), p.span));
        }
        if let Some((other, at)) = self.owner(&element.name) {
            return Err(sections::twice(&element.name, section.singular(), p.span, other, at));
        }
        let Some(list) = self.model.elements_mut(section) else { return Ok(()) };
        let named = NameEntry { section, index: list.len() as u32, span: p.span };
        let name = element.name.clone();
        list.push(element);
        self.model.names.insert(name, named);
        Ok(())
    }

    /// `[materials]`, which have names of their own.
    pub(super) fn materials(&mut self, root: &Table, scope: u32, repeats: &Repeats<'_>) {
        for (table, locals) in repeats.with(root) {
            let Some(value) = table.get("materials") else { continue };
            let entries = match sections::table(value, "materials") {
                Ok(table) => &table.entries,
                Err(d) => return self.fail(d),
            };
            for e in entries {
                if let Err(d) = self.material(e, scope, locals) {
                    self.fail(d);
                }
            }
        }
    }

    /// `[sections]` or `[fluids]`, which have names of their own.
    pub(super) fn apart(&mut self, section: Section, root: &Table, scope: u32, repeats: &Repeats<'_>) {
        for (table, locals) in repeats.with(root) {
            let Some(value) = table.get(section.name()) else { continue };
            let entries = match sections::table(value, section.name()) {
                Ok(table) => &table.entries,
                Err(d) => return self.fail(d),
            };
            for e in entries {
                if let Err(d) = self.one_apart(section, e, scope, locals) {
                    self.fail(d);
                }
            }
        }
    }

    fn one_apart(&mut self, section: Section, e: &Entry, scope: u32, locals: Option<&Arc<Locals>>) -> Done {
        let prepared = Prepared::new(e, section)?;
        let what = section.singular();
        let data = &self.model.scopes[scope as usize];
        let context = ElementScope::new(data, locals.map(|l| &**l));
        let own = context.expand(&prepared.name, e.key_span)?;
        if let Some(d) = sections::bad_name(&own, what, e.key_span) {
            return Err(d);
        }
        if let Some(condition) = prepared.condition
            && !context.flag(condition)?
        {
            return Ok(());
        }
        let name = format!("{}{own}", data.prefix);
        if let Some(other) = self.model.elements(section).iter().find(|s| s.name == name) {
            return Err(Diagnostic::new(e.key_span, format!("there are two {what}s `{name}`"))
                .also(other.span, format!("the {what} `{name}` is defined here")));
        }
        let Prepared { kind, table, span, .. } = prepared;
        let locals = locals.cloned();
        let element = Element { name, kind, section, table, span, scope, locals };
        self.model.elements_mut(section).into_iter().for_each(|list| list.push(element.clone()));
        Ok(())
    }

    fn material(&mut self, e: &Entry, scope: u32, locals: Option<&Arc<Locals>>) -> Done {
        let data = &self.model.scopes[scope as usize];
        let own = ElementScope::new(data, locals.map(|l| &**l)).expand(&name_text(e), e.key_span)?;
        if let Some(d) = sections::bad_name(&own, "material", e.key_span) {
            return Err(d);
        }
        let element = Element {
            name: format!("{}{own}", data.prefix),
            kind: String::new(),
            section: Section::Materials,
            table: sections::table(&e.value, &e.key)?.clone(),
            span: e.key_span,
            scope,
            locals: locals.cloned(),
        };
        let reader = Reader::new(&self.model, &element, KEYS)?;
        if !reader.flag_or("if", true)? {
            return Ok(());
        }
        let material = Material::read(&reader)?;
        if self.model.materials.iter().any(|m| m.name == material.name) {
            return Err(Diagnostic::new(e.key_span, format!("there are two materials `{}`", material.name)));
        }
        self.model.materials.push(material);
        Ok(())
    }
}

/// Holds what all indices of an entry have in common.
struct Prepared<'t> {
    name: Text,
    span: Span,
    kind: String,
    table: Arc<Table>,
    condition: Option<&'t Value>,
}

impl<'t> Prepared<'t> {
    fn new(entry: &'t Entry, section: Section) -> Result<Self, Diagnostic> {
        let span = entry.key_span;
        let name = name_text(entry);
        let table = match (&entry.value.data, section) {
            (Data::Table(table), _) => table.clone(),
            // a measure may be a bare expression
            (Data::Text(_) | Data::Number(_), Section::Measures) => {
                let mut table = Table { entries: Vec::new(), span: entry.value.span };
                table.set("expression", span, entry.value.clone());
                let kind = "expression".to_string();
                return Ok(Prepared { name, span, kind, table: Arc::new(table), condition: None });
            }
            _ => {
                let message = format!(
                    "{} `{}`: expected a table, found {}",
                    section.singular(),
                    entry.key,
                    entry.value.describe()
                );
                return Err(Diagnostic::new(entry.value.span, message));
            }
        };
        let kind = match (table.get("kind"), section) {
            (Some(v), _) => sections::text(v, "kind")?.to_string(),
            (None, Section::Bodies) => "rigid".to_string(),
            (None, Section::Events) => "event".to_string(),
            (None, Section::Contacts) => "contact".to_string(),
            (None, Section::Fluids) => "fluid".to_string(),
            (None, _) => {
                let message = format!("{} `{}` needs `kind`", section.singular(), entry.key);
                let hint = format!("`sarrus list {}` shows what there is", section.name());
                return Err(Diagnostic::new(span, message).hint(hint));
            }
        };
        let condition = match &entry.value.data {
            Data::Table(t) => t.get("if"),
            _ => None,
        };
        Ok(Prepared { name, span, kind, table, condition })
    }
}
