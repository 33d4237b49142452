//! Expressions of the file to programs: names resolved, parameters folded.

use super::runtime::{RuntimeExpr, RuntimeVector, VectorComponents};
use crate::Result;
use crate::diagnostic::Diagnostic;
use crate::expr::{Bind, Lookup, Program, Scope};
use crate::model::Model;
use crate::record::{KeyPath, ResolvedValue};
use crate::scope::{ElementScope, expression_error};
use crate::value::Text;

/// The names of an expression at run time.
struct RunScope<'a> {
    model: &'a Model,
    context: ElementScope<'a>,
    own: &'a [&'a str],
    /// The names of a function's body: neither the element's own nor its index.
    function: Option<&'a RunScope<'a>>,
}

impl Scope for RunScope<'_> {
    fn lookup(&self, path: &str) -> Option<Lookup> {
        // names that only this element knows, such as `length` in a spring, come first
        if self.own.contains(&path) {
            return Some(Lookup::Runtime(path.to_string()));
        }
        let head = path.split('.').next().unwrap_or(path);
        if self.own.contains(&head) {
            return None;
        }
        let scope = self.context.scope();
        let full = || self.model.resolve(scope, path);
        match self.context.lookup(head) {
            // a point may share its name with an element, which alone exists at run time
            Some(Lookup::Point(q)) => {
                let exists = self.model.names.contains_key(&self.model.resolve(scope, head));
                match (exists, path == head) {
                    (true, _) => Some(Lookup::Runtime(full())),
                    (false, true) => Some(Lookup::Point(q)),
                    (false, false) => None,
                }
            }
            Some(known) => (path == head).then_some(known),
            None => Some(Lookup::Runtime(full())),
        }
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.context.names();
        names.extend(self.own.iter().map(|n| n.to_string()));
        names
    }

    fn of_function(&self, _name: &str) -> Option<&dyn Scope> {
        self.function.map(|f| f as &dyn Scope)
    }
}

impl Model {
    /// Compiles an expression with the value of a number.
    ///
    /// `own` are names that only this element knows (`length` in a spring's tension); they reach `bind` as
    /// they are. All other names reach it in full, with the prefix of their file; parameters do not.
    pub fn compile(&self, e: &RuntimeExpr, own: &[&str], bind: &mut Bind<'_>) -> Result<Program> {
        let mut programs = self.programs(e, own, bind)?;
        match (programs.len(), programs.pop()) {
            (1, Some(program)) => {
                if let Some(path) = &e.path {
                    self.insert_with(path, || plain(&program));
                }
                Ok(program)
            }
            _ => Err(self.noted(e, Diagnostic::new(e.span, "expected a number, found a vector"))),
        }
    }

    /// Compiles a vector: 2 components where the space is planar, else 3; none for a free one.
    pub fn compile_vector(
        &self,
        v: &RuntimeVector,
        own: &[&str],
        bind: &mut Bind<'_>,
    ) -> Result<Vec<Option<Program>>> {
        let n = if self.is_planar() { 2 } else { 3 };
        let programs: Vec<Option<Program>> = match &v.components {
            VectorComponents::Whole(e) => {
                let mut programs = self.programs(e, own, bind)?;
                if programs.len() == 1 {
                    return Err(self.noted(e, Diagnostic::new(e.span, "expected a vector, found a number")));
                }
                programs.truncate(n);
                programs.into_iter().map(Some).collect()
            }
            VectorComponents::Each(list) => {
                let each =
                    |e: &Option<RuntimeExpr>| e.as_ref().map(|e| self.compile(e, own, bind)).transpose();
                list.iter().map(each).collect::<Result<_>>()?
            }
        };
        if let Some(path) = &v.path {
            let free = || ResolvedValue::Text("free".into());
            self.insert_with(path, || {
                ResolvedValue::List(programs.iter().map(|p| p.as_ref().map_or_else(free, plain)).collect())
            });
        }
        Ok(programs)
    }

    fn programs(&self, e: &RuntimeExpr, own: &[&str], bind: &mut Bind<'_>) -> Result<Vec<Program>> {
        let scope = &self.scopes[(e.scope as usize).min(self.scopes.len() - 1)];
        let function =
            RunScope { model: self, context: ElementScope::new(scope, None), own: &[], function: None };
        let context = ElementScope::new(scope, e.locals.as_deref());
        let names = RunScope { model: self, context, own, function: Some(&function) };
        e.expr.compile(&names, bind, self.is_planar()).map_err(|error| {
            let text = Text::at(e.expr.text(), e.verbatim);
            self.noted(e, expression_error(&error, &text, e.span))
        })
    }

    fn noted(&self, e: &RuntimeExpr, d: Diagnostic) -> Diagnostic {
        match &e.locals {
            Some(locals) => d.note(locals.describe()),
            None => d,
        }
    }

    fn insert_with(&self, path: &KeyPath, value: impl FnOnce() -> ResolvedValue) {
        if let Some(Ok(mut recorder)) = self.recorder.as_ref().map(|r| r.lock()) {
            recorder.insert(path, value());
        }
    }
}

fn plain(program: &Program) -> ResolvedValue {
    match program.is_constant() {
        Some(x) => ResolvedValue::Number(x),
        None => ResolvedValue::Text(program.to_string()),
    }
}
