//! Parameters set from outside: by the command line, a case, or the including file.

use super::Done;
use super::sections;
use sarrus_model::expr::{Inferred, Quantity};
use sarrus_model::value::Text;
use sarrus_model::{Data, Diagnostic, Sources, Span, Table, Value};

/// Parameters set from outside; a later one is stronger.
#[derive(Default)]
pub struct ParameterOverrides {
    list: Vec<Override>,
}

struct Override {
    path: String,
    given: ParameterValue,
    span: Span,
    used: bool,
    /// Given on the command line or by a program, not in a file.
    typed: bool,
}

/// Holds what a parameter is set to.
#[derive(Clone)]
pub enum ParameterValue {
    /// A value to be evaluated among the file's own parameters.
    Value(Value),
    /// A value known already, with the dimension of its units: the including file's.
    Known(Quantity, Inferred),
}

impl ParameterOverrides {
    /// `set` of a case.
    pub fn case(&mut self, case: &Table) -> Done {
        match case.get("set") {
            None => Ok(()),
            Some(set) => {
                self.flatten(sections::table(set, "set")?, "");
                Ok(())
            }
        }
    }

    /// Dotted keys are tables in tables; a parameter's own table has `value`.
    fn flatten(&mut self, table: &Table, prefix: &str) {
        for e in &table.entries {
            let path = format!("{prefix}{}", e.key);
            match &e.value.data {
                Data::Table(inner) if inner.get("value").is_none() => {
                    self.flatten(inner, &format!("{path}."))
                }
                _ => self.push(path, ParameterValue::Value(e.value.clone()), e.key_span),
            }
        }
    }

    /// `--set name=value`.
    pub fn command_line(&mut self, set: &[(String, String)], sources: &mut Sources) -> Done {
        for (path, text) in set {
            let shown = format!("{path}={text}");
            let file = sources.add("--set", shown.as_str());
            let start = path.len() as u32 + 1;
            let span = Span { file, start, end: shown.len() as u32 };
            let data = match text.trim() {
                "true" => Data::Bool(true),
                "false" => Data::Bool(false),
                "" => return Err(Diagnostic::new(span, format!("`{path}` is set to nothing"))),
                _ => Data::Text(Text::at(text.as_str(), Some(start))),
            };
            let key_span = Span { file, start: 0, end: path.len() as u32 };
            let given = ParameterValue::Value(Value { data, span });
            self.list.push(Override { path: path.clone(), given, span: key_span, used: false, typed: true });
        }
        Ok(())
    }

    /// A value from the including file, weaker than all there is.
    pub fn weaker(&mut self, path: String, value: (Quantity, Inferred), span: Span) {
        self.list.insert(
            0,
            Override {
                path,
                given: ParameterValue::Known(value.0, value.1),
                span,
                used: false,
                typed: false,
            },
        );
    }

    fn push(&mut self, path: String, given: ParameterValue, span: Span) {
        self.list.push(Override { path, given, span, used: false, typed: false });
    }

    /// Returns whether the parameter is set from the command line or by a program.
    pub fn is_typed(&self, name: &str) -> bool {
        self.list.iter().rev().find(|o| o.path == name).is_some_and(|o| o.typed)
    }

    /// Returns what a parameter is set to.
    pub fn find(&mut self, name: &str) -> Option<(ParameterValue, Span)> {
        let mut found = None;
        for o in self.list.iter_mut().filter(|o| o.path == name) {
            o.used = true;
            found = Some((o.given.clone(), o.span));
        }
        found
    }

    /// Those that belong to the included file `name`.
    pub fn inside(&mut self, name: &str) -> ParameterOverrides {
        let mut list = Vec::new();
        for o in &mut self.list {
            if let Some(rest) = o.path.strip_prefix(name).and_then(|r| r.strip_prefix('.')) {
                o.used = true;
                list.push(Override {
                    path: rest.to_string(),
                    given: o.given.clone(),
                    span: o.span,
                    used: false,
                    typed: o.typed,
                });
            }
        }
        ParameterOverrides { list }
    }

    /// Those that name no parameter of the file and no include.
    pub fn unused(&self, root: &Table) -> Vec<(String, Span)> {
        // names of includes made by `repeat` are known only later: any include takes dotted paths
        let includes = root.get("include").is_some() || root.get("repeat").is_some();
        self.list
            .iter()
            .filter(|o| !(o.used || includes && o.path.contains('.')))
            .map(|o| (o.path.clone(), o.span))
            .collect()
    }

    /// Dotted ones that no include took.
    pub fn lost(&self) -> Vec<(String, Span)> {
        self.list.iter().filter(|o| !o.used).map(|o| (o.path.clone(), o.span)).collect()
    }
}
