//! `[initial]` and `[guess]`: paths and values.

use super::elements::name_text;
use super::repeat::Repeats;
use super::{Done, Loader, sections};
use sarrus_model::expr::is_name;
use sarrus_model::model::{Locals, sum_of_columns, sum_text};
use sarrus_model::scope::ElementScope;
use sarrus_model::value::Entry;
use sarrus_model::{Data, Diagnostic, Element, Section, Setting, Table};
use std::collections::HashMap;
use std::sync::Arc;

impl Loader {
    /// The settings of a file.
    pub(super) fn settings(&mut self, root: &Table, scope: u32, repeats: &Repeats<'_>) {
        for section in [Section::Initial, Section::Guess] {
            let mut seen = HashMap::new();
            for (table, locals) in repeats.with(root) {
                if let Some(value) = table.get(section.name()) {
                    let done = sections::table(value, section.name())
                        .and_then(|table| self.setting_table(table, "", section, scope, locals, &mut seen));
                    if let Err(d) = done {
                        self.fail(match locals {
                            Some(l) => d.note(l.describe()),
                            None => d,
                        });
                    }
                }
            }
        }
    }

    /// The settings of the case, which replace the file's.
    pub(super) fn case_settings(&mut self, case: Option<&Table>) {
        let Some(value) = case.and_then(|c| c.get("initial")) else { return };
        if self.model.scopes.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.model.initial);
        let done = sections::table(value, "initial")
            .and_then(|table| self.setting_table(table, "", Section::Initial, 0, None, &mut HashMap::new()));
        let over = std::mem::replace(&mut self.model.initial, before);
        for setting in over {
            match self.model.initial.iter_mut().find(|s| s.path == setting.path) {
                Some(slot) => *slot = setting,
                None => self.model.initial.push(setting),
            }
        }
        if let Err(d) = done {
            self.fail(d);
        }
    }

    /// Dotted keys are tables in tables: a path ends where the value is not a table.
    fn setting_table(
        &mut self,
        table: &Table,
        before: &str,
        section: Section,
        scope: u32,
        locals: Option<&Arc<Locals>>,
        seen: &mut HashMap<String, sarrus_model::Span>,
    ) -> Done {
        for e in &table.entries {
            if before.is_empty() && ["note", "extra"].contains(&&*e.key) {
                continue;
            }
            let data = &self.model.scopes[scope as usize];
            let own = ElementScope::new(data, locals.map(|l| &**l)).expand(&name_text(e), e.key_span)?;
            if !own.split('.').all(is_name) {
                if before.is_empty() && sum_of_columns(&own).is_some() {
                    self.setting(e, own, section, scope, locals, seen)?;
                    continue;
                }
                return Err(Diagnostic::new(e.key_span, format!("`{own}` is not a name"))
                    .hint("a path such as A.angle, or a sum of columns such as \"a.vx - 2*b.vx\""));
            }
            let path = format!("{before}{own}");
            match &e.value.data {
                Data::Table(inner) => {
                    self.setting_table(inner, &format!("{path}."), section, scope, locals, seen)?
                }
                _ => self.setting(e, path, section, scope, locals, seen)?,
            }
        }
        Ok(())
    }

    fn setting(
        &mut self,
        e: &Entry,
        path: String,
        section: Section,
        scope: u32,
        locals: Option<&Arc<Locals>>,
        seen: &mut HashMap<String, sarrus_model::Span>,
    ) -> Done {
        if !path.contains('.') {
            return Err(Diagnostic::new(e.key_span, format!("[{}]: `{path}` is not a path", section.name()))
                .hint("such as A.angle or ball.velocity"));
        }
        let full = |path: &str| self.model.resolve(&self.model.scopes[scope as usize], path);
        let path = match sum_of_columns(&path).filter(|terms| terms.len() > 1 || path != terms[0].1) {
            Some(mut terms) => {
                terms.iter_mut().for_each(|(_, name)| *name = full(name));
                sum_text(&terms)
            }
            None => full(&path),
        };
        if let Some(first) = seen.insert(path.clone(), e.key_span) {
            return Err(Diagnostic::new(
                e.key_span,
                format!("[{}]: `{path}` is given twice", section.name()),
            )
            .also(first, "first here"));
        }
        let mut table = Table { entries: Vec::new(), span: e.value.span };
        table.set("value", e.key_span, e.value.clone());
        let element = Element {
            name: path.clone(),
            kind: String::new(),
            section,
            table: Arc::new(table),
            span: e.key_span,
            scope,
            locals: locals.cloned(),
        };
        let list = if section == Section::Initial { &mut self.model.initial } else { &mut self.model.guess };
        list.push(Setting { path, span: e.key_span, element });
        Ok(())
    }
}

impl<'t> Repeats<'t> {
    /// The file itself, then every entry with every index.
    pub fn with<'r>(&'r self, root: &'r Table) -> impl Iterator<Item = (&'r Table, Option<&'r Arc<Locals>>)> {
        let repeated = self.list.iter().flat_map(|r| {
            let table: &'r Table = r.table;
            r.indices.iter().map(move |l| (table, Some(l)))
        });
        std::iter::once((root, None)).chain(repeated)
    }
}
