//! Parameters, points, functions and tables of one file.

use super::overrides::{ParameterOverrides, ParameterValue};
use super::{sections, tables};
use sarrus_model::dimension::Dimension;
use sarrus_model::expr::{Expr, FileFunction, Inferred, NoNames, Quantity, builtin};
use sarrus_model::model::Locals;
use sarrus_model::scope::{ElementScope, ScopeData, expression_error};
use sarrus_model::units::unit_named;
use sarrus_model::{Data, Diagnostic, Span, Table, Text, Value};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DefinitionKind {
    Parameter,
    Point,
    Table,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DefinitionState {
    New,
    /// Waits for what it depends on.
    Open,
    Done,
    Failed,
}

pub(super) struct Definition {
    pub kind: DefinitionKind,
    pub name: String,
    pub span: Span,
    pub given: ParameterValue,
    /// The table of a parameter with `min` and `max`.
    pub limits: Option<Arc<Table>>,
    pub locals: Option<Arc<Locals>>,
    pub state: DefinitionState,
}

/// The definitions of one file.
pub struct Definitions<'a> {
    pub(super) list: Vec<Definition>,
    pub(super) index: HashMap<String, usize>,
    pub(super) functions: HashMap<String, (Arc<FileFunction>, Span)>,
    folder: &'a Path,
}

impl<'a> Definitions<'a> {
    /// None yet; CSV files are searched for in `folder`.
    pub fn new(folder: &'a Path) -> Self {
        Definitions { list: Vec::new(), index: HashMap::new(), functions: HashMap::new(), folder }
    }

    /// Takes the definitions of a file or of one index of a `repeat`.
    pub fn add_sections(
        &mut self,
        table: &Table,
        locals: Option<&Arc<Locals>>,
        scope: &ScopeData,
        overrides: &mut ParameterOverrides,
    ) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        for (section, kind) in [
            ("parameters", DefinitionKind::Parameter),
            ("points", DefinitionKind::Point),
            ("tables", DefinitionKind::Table),
        ] {
            let Some(value) = table.get(section) else { continue };
            match sections::table(value, section) {
                Err(d) => errors.push(d),
                Ok(t) => {
                    for e in &t.entries {
                        let name = match ElementScope::new(scope, locals.map(|l| &**l)).expand_key(&e.key) {
                            Ok(name) => name,
                            Err(message) => {
                                errors.push(Diagnostic::new(e.key_span, message));
                                continue;
                            }
                        };
                        let added = self.add(kind, name, e.key_span, &e.value, locals, overrides);
                        errors.extend(added.err());
                    }
                }
            }
        }
        if let Some(value) = table.get("functions") {
            match sections::table(value, "functions") {
                Err(d) => errors.push(d),
                Ok(t) => {
                    for e in &t.entries {
                        errors.extend(self.add_function(&e.key, e.key_span, &e.value).err());
                    }
                }
            }
        }
        errors
    }

    fn add(
        &mut self,
        kind: DefinitionKind,
        name: String,
        span: Span,
        value: &Value,
        locals: Option<&Arc<Locals>>,
        overrides: &mut ParameterOverrides,
    ) -> Result<(), Diagnostic> {
        let what = ["parameter", "point", "table"][kind as usize];
        if let Some(d) = sections::bad_name(&name, what, span) {
            return Err(d);
        }
        if name.contains('.') {
            return Err(Diagnostic::new(span, format!("a {what} has no dot in its name: `{name}`")));
        }
        if let Some(&other) = self.index.get(&name) {
            let other = &self.list[other];
            let theirs = ["parameter", "point", "table"][other.kind as usize];
            return Err(sections::twice(&name, what, span, theirs, other.span));
        }
        let mut limits = None;
        let mut given = ParameterValue::Value(value.clone());
        if let (DefinitionKind::Parameter, Data::Table(t)) = (kind, &value.data) {
            sections::known(t, &format!("parameter `{name}`"), &["value", "min", "max", "note", "extra"])?;
            let Some(inner) = t.get("value") else {
                return Err(Diagnostic::new(value.span, format!("parameter `{name}` needs `value`")));
            };
            given = ParameterValue::Value(inner.clone());
            limits = Some(t.clone());
        }
        if kind == DefinitionKind::Parameter
            && let Some((set, _)) = overrides.find(&name)
        {
            if let (ParameterValue::Value(new), ParameterValue::Value(old)) = (&set, &given) {
                same_unit(&name, old, new, overrides.is_typed(&name))?;
            }
            given = match set {
                // a case may repeat the whole table
                ParameterValue::Value(Value { data: Data::Table(t), span }) => match t.get("value") {
                    Some(inner) => ParameterValue::Value(inner.clone()),
                    None => return Err(Diagnostic::new(span, format!("parameter `{name}` needs `value`"))),
                },
                other => other,
            };
        }
        self.index.insert(name.clone(), self.list.len());
        let locals = locals.cloned();
        self.list.push(Definition { kind, name, span, given, limits, locals, state: DefinitionState::New });
        Ok(())
    }

    fn add_function(&mut self, signature: &str, span: Span, value: &Value) -> Result<(), Diagnostic> {
        let text = match &value.data {
            Data::Text(t) => t.clone(),
            Data::Number(x) => Text::new(Quantity::Number(*x).to_string()),
            _ => {
                let found = value.describe();
                return Err(Diagnostic::new(
                    value.span,
                    format!("`{signature}`: expected an expression, found {found}"),
                ));
            }
        };
        let body = text.expr().map_err(|e| expression_error(e, &text, value.span))?;
        let function = FileFunction::new(signature, Expr::clone(body)).map_err(|e| {
            Diagnostic::new(span, e.message).maybe_hint(e.hint.or(Some("such as \"bump(x, w)\"".into())))
        })?;
        if builtin(&function.name).is_some() {
            return Err(Diagnostic::new(span, format!("`{}` is a built-in function", function.name)));
        }
        if let Some((_, at)) = self.functions.get(&function.name) {
            return Err(sections::twice(&function.name, "function", span, "function", *at));
        }
        self.functions.insert(function.name.clone(), (Arc::new(function), span));
        Ok(())
    }

    /// Evaluates everything into the scope.
    pub fn evaluate_all(&mut self, scope: &mut ScopeData) -> Vec<Diagnostic> {
        self.share_functions(scope);
        let mut errors = Vec::new();
        for i in 0..self.list.len() {
            self.evaluate_one(i, scope, &mut errors);
        }
        errors
    }

    /// The value of a string, with whatever it needs evaluated first: for the bounds of a `repeat`.
    pub fn evaluate_text(
        &mut self,
        text: &Text,
        span: Span,
        locals: Option<&Locals>,
        scope: &mut ScopeData,
    ) -> Result<Quantity, Diagnostic> {
        self.share_functions(scope);
        let mut errors = Vec::new();
        for i in self.needs_of_text(text, span, locals, scope)? {
            self.evaluate_one(i, scope, &mut errors);
        }
        match errors.into_iter().next() {
            Some(d) => Err(d),
            None => ElementScope::new(scope, locals).evaluate(text, span),
        }
    }

    fn share_functions(&self, scope: &mut ScopeData) {
        for (name, (f, _)) in &self.functions {
            scope.functions.entry(name.clone()).or_insert_with(|| f.clone());
        }
    }

    /// Evaluates one whose needs are met.
    pub(super) fn finish(&self, i: usize, scope: &mut ScopeData) -> Result<(), Diagnostic> {
        let d = &self.list[i];
        let context = ElementScope::new(scope, d.locals.as_deref());
        if d.kind == DefinitionKind::Table {
            let ParameterValue::Value(value) = &d.given else { return Ok(()) };
            let (points, curve) = tables::read(&d.name, value, &context, self.folder)?;
            scope.tables.insert(d.name.clone(), Arc::new(curve));
            scope.table_points.insert(d.name.clone(), points);
            return Ok(());
        }
        let (quantity, span, dimension) = match &d.given {
            ParameterValue::Known(q, dimension) => (*q, d.span, *dimension),
            ParameterValue::Value(v) => (context.quantity(v)?, v.span, context.dimension_of(v)?.named()),
        };
        if d.kind == DefinitionKind::Point {
            let wanted = if scope.planar { 2 } else { 3 };
            match quantity {
                Quantity::Vector { v, n } if n == wanted && v.iter().all(|x| x.is_finite()) => {}
                Quantity::Vector { n, .. } if n == wanted => {
                    return Err(Diagnostic::new(span, format!("point `{}` is not finite", d.name)));
                }
                Quantity::Vector { n, .. } => {
                    let message = format!("point `{}`: expected {wanted} numbers, found {n}", d.name);
                    return Err(Diagnostic::new(span, message));
                }
                other => {
                    let message =
                        format!("point `{}`: expected {wanted} numbers, found {}", d.name, other.kind());
                    return Err(Diagnostic::new(span, message));
                }
            }
            if let ParameterValue::Value(v) = &d.given {
                context.check_dimension(v, &[Dimension::LENGTH], &|| format!("point `{}`", d.name))?;
            }
            scope.points.insert(d.name.clone(), quantity);
            scope.dimensions.insert(d.name.clone(), dimension);
            return Ok(());
        }
        if let Some(t) = &d.limits {
            self.check_limits(&d.name, t, quantity, span, &context)?;
        }
        scope.parameters.insert(d.name.clone(), quantity);
        scope.dimensions.insert(d.name.clone(), dimension);
        Ok(())
    }

    fn check_limits(
        &self,
        name: &str,
        table: &Table,
        q: Quantity,
        span: Span,
        context: &ElementScope<'_>,
    ) -> Result<(), Diagnostic> {
        for (key, sign) in [("min", 1.0), ("max", -1.0)] {
            let Some(v) = table.get(key) else { continue };
            let limit = context.number(v)?;
            let Quantity::Number(x) = q else {
                return Err(Diagnostic::new(
                    v.span,
                    format!("`{key}` of parameter `{name}`: only numbers have limits"),
                ));
            };
            if sign * (x - limit) < 0.0 {
                let side = if key == "min" { "below its min" } else { "above its max" };
                return Err(Diagnostic::new(span, format!("parameter `{name}` is {x}, {side} {limit}"))
                    .also(v.span, format!("the `{key}` of `{name}`")));
            }
        }
        Ok(())
    }

    /// The parameters' names.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter(|d| d.kind == DefinitionKind::Parameter).map(|d| d.name.as_str())
    }

    /// The names that share the namespace of the elements: all but points.
    pub fn names(&self) -> Vec<(&str, &'static str, Span)> {
        let own = self.list.iter().filter(|d| d.kind != DefinitionKind::Point).map(|d| {
            (d.name.as_str(), if d.kind == DefinitionKind::Parameter { "parameter" } else { "table" }, d.span)
        });
        let functions = self.functions.iter().map(|(n, (_, span))| (n.as_str(), "function", *span));
        let mut names: Vec<_> = own.chain(functions).collect();
        names.sort_by_key(|(_, _, span)| span.start);
        names
    }

    /// The place of a parameter or point.
    pub fn parameter_span(&self, name: &str) -> Option<Span> {
        self.index.get(name).map(|i| self.list[*i].span)
    }
}

/// Refuses a unit of another dimension than the file's, and a plain number typed for a parameter that the file writes with a unit
/// other than that of SI: either may be meant.
fn same_unit(name: &str, old: &Value, new: &Value, typed: bool) -> Result<(), Diagnostic> {
    let expr = |value: &Value| value.as_text().and_then(|text| text.expr().ok().cloned());
    let (Some(old), Some(set)) = (expr(old), expr(new)) else { return Ok(()) };
    let Ok(Inferred::Known(wanted)) = old.dimension(&NoNames) else { return Ok(()) };
    if let Ok(Inferred::Known(found)) = set.dimension(&NoNames)
        && !found.fits(wanted)
    {
        let message = format!("parameter `{name}`: expected {wanted}, found {found}");
        return Err(Diagnostic::new(new.span, message).hint(format!("the file says `{}`", old.text())));
    }
    let (true, Some(Some(unit)), Some(None)) = (typed, old.literal(), set.literal()) else { return Ok(()) };
    let is_si = unit.split(['*', '/']).all(|word| {
        let own = word.split('^').next().and_then(|word| unit_named(word.trim()));
        own.is_some_and(|own| own.numerator == own.denominator)
    });
    let text = set.text().trim();
    if is_si || text.parse() == Ok(0.0) {
        return Ok(());
    }
    let message = format!("parameter `{name}` is written in {unit}: the unit of {text} is not clear");
    let hint = format!("write `{name}={text} {unit}`, or the unit of SI: it is {wanted}");
    Err(Diagnostic::new(new.span, message).hint(hint))
}
