//! `[cases]`: variants laid over the file.

use super::{Done, Loader, sections};
use sarrus_model::suggest::did_you_mean;
use sarrus_model::{Case, Diagnostic, Table};
use std::sync::Arc;

impl Loader {
    /// Reads the list of cases and returns the one that is asked for.
    pub(super) fn cases(&mut self, root: &Table, wanted: Option<&str>) -> Done<Option<Arc<Table>>> {
        let mut found = None;
        if let Some(value) = root.get("cases") {
            for e in &sections::table(value, "cases")?.entries {
                let table = sections::table(&e.value, &e.key)?;
                let title = format!("case `{}`", e.key);
                sections::known(table, &title, &["set", "initial", "run", "output", "note", "extra"])?;
                if let Some(d) = sections::bad_name(&e.key, "case", e.key_span) {
                    return Err(d);
                }
                let note = table.get("note").and_then(|v| v.as_text()).map(|t| t.to_string());
                self.model.cases.push(Case { name: e.key.to_string(), note, span: e.key_span });
                if wanted == Some(&*e.key) {
                    found = Some(table.clone());
                }
            }
        }
        if let (Some(name), None) = (wanted, &found) {
            let names: Vec<&str> = self.model.cases.iter().map(|c| c.name.as_str()).collect();
            let hint = did_you_mean(name, &names).unwrap_or_else(|| match names.is_empty() {
                true => "the file has no [cases]".into(),
                false => format!("the file has: {}", names.join(" ")),
            });
            return Err(Diagnostic::bare(format!("case `{name}` does not exist")).hint(hint));
        }
        self.model.case = wanted.map(str::to_string);
        Ok(found)
    }
}
