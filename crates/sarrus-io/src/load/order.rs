//! The order in which definitions are evaluated: any in the file, no cycles.
//!
//! Values depend on each other through the names in their expressions. They are evaluated depth first
//! with a stack of their own, because a chain of 100 000 points, each from the one before, is a normal
//! model and would overflow the program's stack.

use super::definitions::{DefinitionState, Definitions};
use super::overrides::ParameterValue;
use sarrus_model::expr::Expr;
use sarrus_model::model::Locals;
use sarrus_model::scope::{ElementScope, ScopeData};
use sarrus_model::{Data, Diagnostic, Span, Text, Value};

impl Definitions<'_> {
    /// Evaluates a definition and whatever it needs.
    pub(super) fn evaluate_one(&mut self, start: usize, scope: &mut ScopeData, errors: &mut Vec<Diagnostic>) {
        let mut stack = vec![start];
        while let Some(&top) = stack.last() {
            if matches!(self.list[top].state, DefinitionState::Done | DefinitionState::Failed) {
                stack.pop();
                continue;
            }
            self.list[top].state = DefinitionState::Open;
            let needs = match self.needs(top, scope) {
                Ok(needs) => needs,
                Err(d) => {
                    self.give_up(top, errors, Some(d));
                    stack.pop();
                    continue;
                }
            };
            if needs.iter().any(|n| self.list[*n].state == DefinitionState::Failed) {
                // what it depends on has been reported
                self.give_up(top, errors, None);
                stack.pop();
            } else if let Some(&open) = needs.iter().find(|n| self.list[**n].state == DefinitionState::Open) {
                let d = self.cycle(&stack, open);
                for i in &stack {
                    if self.list[*i].state == DefinitionState::Open {
                        self.list[*i].state = DefinitionState::Failed;
                    }
                }
                errors.push(d);
                stack.pop();
            } else if needs.is_empty() {
                let done = self.finish(top, scope);
                match done {
                    Ok(()) => self.list[top].state = DefinitionState::Done,
                    Err(d) => self.give_up(top, errors, Some(d)),
                }
                stack.pop();
            } else {
                stack.extend(needs);
            }
        }
    }

    fn give_up(&mut self, i: usize, errors: &mut Vec<Diagnostic>, d: Option<Diagnostic>) {
        self.list[i].state = DefinitionState::Failed;
        if let Some(d) = d {
            errors.push(match &self.list[i].locals {
                Some(l) => d.note(l.describe()),
                None => d,
            });
        }
    }

    fn cycle(&self, stack: &[usize], open: usize) -> Diagnostic {
        let mut ring: Vec<&str> = stack
            .iter()
            .skip_while(|i| **i != open)
            .filter(|i| self.list[**i].state == DefinitionState::Open)
            .map(|i| self.list[*i].name.as_str())
            .collect();
        ring.push(&self.list[open].name);
        let shown =
            if ring.len() > 8 { [&ring[..4], &["…"], &ring[ring.len() - 3..]].concat() } else { ring };
        Diagnostic::new(self.list[open].span, format!("`{}` depends on itself", self.list[open].name))
            .hint(shown.join(" -> "))
    }

    /// Returns what a definition needs that is not evaluated yet.
    fn needs(&self, i: usize, scope: &ScopeData) -> Result<Vec<usize>, Diagnostic> {
        let d = &self.list[i];
        let mut out = Vec::new();
        let locals = d.locals.as_deref();
        if let ParameterValue::Value(v) = &d.given {
            self.needs_of_value(v, locals, scope, &mut out)?;
        }
        for v in d.limits.iter().flat_map(|t| [t.get("min"), t.get("max")]).flatten() {
            self.needs_of_value(v, locals, scope, &mut out)?;
        }
        Ok(out)
    }

    fn needs_of_value(
        &self,
        value: &Value,
        locals: Option<&Locals>,
        scope: &ScopeData,
        out: &mut Vec<usize>,
    ) -> Result<(), Diagnostic> {
        match &value.data {
            Data::Text(t) => out.extend(self.needs_of_text(t, value.span, locals, scope)?),
            Data::List(list) => {
                for v in list {
                    self.needs_of_value(v, locals, scope, out)?;
                }
            }
            // of a table only its points are evaluated
            Data::Table(t) => {
                if let Some(v) = t.get("points") {
                    self.needs_of_value(v, locals, scope, out)?;
                }
            }
            Data::Bool(_) | Data::Number(_) => {}
        }
        Ok(())
    }

    /// Returns what a string needs that is not evaluated yet.
    pub(super) fn needs_of_text(
        &self,
        text: &Text,
        span: Span,
        locals: Option<&Locals>,
        scope: &ScopeData,
    ) -> Result<Vec<usize>, Diagnostic> {
        let mut out = Vec::new();
        for index in text.parts_with_index() {
            if let Ok(expr) = &index.expr {
                self.needs_of_expr(expr, locals, &mut out);
            }
        }
        if !out.is_empty() {
            // names are complete only when their `{…}` have values
            return Ok(out);
        }
        let context = ElementScope::new(scope, locals);
        self.needs_of_expr(&*context.parse(text, span)?, locals, &mut out);
        Ok(out)
    }

    fn needs_of_expr(&self, expr: &Expr, locals: Option<&Locals>, out: &mut Vec<usize>) {
        let mut names = expr.paths();
        let mut calls = expr.calls();
        // functions bring the names in their bodies, each once
        let mut seen: Vec<String> = Vec::new();
        while let Some((call, at)) = calls.pop() {
            if seen.contains(&call) {
                continue;
            }
            match self.functions.get(&call) {
                Some((f, _)) => {
                    names.extend(f.body.paths());
                    calls.extend(f.body.calls());
                }
                None => names.push((call.clone(), at)),
            }
            seen.push(call);
        }
        for (path, _) in names {
            let head = path.split('.').next().unwrap_or("");
            if locals.is_some_and(|l| l.get(head).is_some()) {
                continue;
            }
            if let Some(&i) = self.index.get(head)
                && self.list[i].state != DefinitionState::Done
            {
                out.push(i);
            }
        }
    }
}
