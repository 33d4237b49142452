//! Functions given by a program: their names, which nothing in the files may have.

use super::definitions::Definitions;
use super::{Done, Loader, sections};
use sarrus_model::expr::builtin;
use sarrus_model::functions::{Functions, MOST_ARGUMENTS};
use sarrus_model::scope::ScopeData;
use sarrus_model::{Diagnostic, Span};

/// Refuses names that no function can have, and more arguments than a call takes.
pub fn check_names(functions: &Functions) -> Done {
    for function in functions.iter() {
        let name = function.name();
        if let Some(d) = sections::bad_name(name, "function", Span::NONE) {
            return Err(d.note(SOURCE));
        }
        if name.contains('.') {
            let message = format!("a function given by a program has no dot in its name: `{name}`");
            return Err(Diagnostic::bare(message));
        }
        if builtin(name).is_some() {
            let message = format!("`{name}` is a built-in function, and given by the program too");
            return Err(Diagnostic::bare(message).hint("choose another name"));
        }
        if let Some(n) = function.arguments().filter(|n| *n > MOST_ARGUMENTS) {
            let message =
                format!("function `{name}` wants {n} arguments: a call takes {MOST_ARGUMENTS} at most");
            return Err(Diagnostic::bare(message).note(SOURCE));
        }
    }
    Ok(())
}

const SOURCE: &str = "the function is given by the program that loads the model";

/// The error for something of a file that has the name of such a function.
pub fn name_conflict(name: &str, what: &str, span: Span) -> Diagnostic {
    let message = format!("{what} `{name}` has the name of a function given by the program");
    Diagnostic::new(span, message).hint("give one of them another name")
}

impl Loader {
    /// Refuses parameters, points, functions and tables of a file with such a name.
    pub(super) fn check_given(&mut self, scope: &ScopeData, definitions: &Definitions<'_>) {
        let own = definitions.names();
        let points = scope
            .points
            .keys()
            .map(|name| (name.as_str(), "point", definitions.parameter_span(name).unwrap_or(Span::NONE)));
        for (name, what, span) in own.into_iter().chain(points) {
            if self.functions.get(name).is_some() {
                self.fail(name_conflict(name, what, span));
            }
        }
    }
}
