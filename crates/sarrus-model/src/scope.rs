//! The names of one file: parameters, points, functions, tables, and how its names become the model's.
//!
//! Every file instance has its own scope: a file included twice has two, with other parameters, another
//! prefix and another place.

use crate::Result;
use crate::diagnostic::{Diagnostic, Span};
use crate::dimension::Dimension;
use crate::expr::{Expr, ExprError, FileFunction, Inferred, Lookup, Quantity, Scope};
use crate::functions::Functions;
use crate::model::{Locals, Model};
use crate::tables::Curve;
use crate::transform::Transform;
use crate::value::{Data, TemplateIndex, Text, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// A file that an element names.
#[derive(Clone, Debug, Default)]
pub struct NamedFile {
    /// Marks where it is, from anywhere.
    pub path: String,
    /// Holds what it says.
    pub text: String,
}

/// The names of a file that are known once it is loaded.
#[derive(Clone, Debug, Default)]
pub struct ScopeData {
    /// Holds what stands before its names in the model: `left.`, or nothing.
    pub prefix: String,
    /// Index of its text in the sources.
    pub file: u32,
    /// True if its space is planar.
    pub planar: bool,
    /// Marks where it is evaluated.
    pub transform: Transform,
    /// `[parameters]`
    pub parameters: HashMap<String, Quantity>,
    /// `[points]`, in the file's own world.
    pub points: HashMap<String, Quantity>,
    /// Dimensions of parameters and points whose values have units.
    pub dimensions: HashMap<String, Inferred>,
    /// `[functions]`
    pub functions: HashMap<String, Arc<FileFunction>>,
    /// `[tables]`
    pub tables: HashMap<String, Arc<Curve>>,
    /// Functions given by the program that loads the file; the same in every file of a model.
    pub given: Functions,
    /// The files that elements name, by name as written.
    pub texts: HashMap<String, NamedFile>,
    /// Holds what is in the files that shapes name, by name as written.
    pub files: HashMap<String, Arc<[u8]>>,
    /// The points behind the tables, for the resolved file.
    pub table_points: HashMap<String, Vec<[f64; 2]>>,
}

impl ScopeData {
    /// Returns what a name without dots stands for on loading.
    fn own(&self, name: &str) -> Option<Lookup> {
        if let Some(q) = self.parameters.get(name) {
            return Some(Lookup::Value(*q));
        }
        if let Some(q) = self.points.get(name) {
            return Some(Lookup::Point(*q));
        }
        if let Some(f) = self.functions.get(name) {
            return Some(Lookup::Function(f.clone()));
        }
        if let Some(c) = self.tables.get(name) {
            return Some(Lookup::Table(c.clone()));
        }
        self.given.get(name).map(|f| Lookup::Given(f.clone()))
    }
}

impl Scope for ScopeData {
    fn lookup(&self, path: &str) -> Option<Lookup> {
        self.own(path)
    }

    fn dimension(&self, path: &str) -> Inferred {
        self.dimensions.get(path).copied().unwrap_or_default()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.parameters.keys().cloned().collect();
        names.extend(self.points.keys().cloned());
        names.extend(self.functions.keys().cloned());
        names.extend(self.tables.keys().cloned());
        names.extend(self.given.iter().map(|f| f.name().to_owned()));
        names.sort();
        names
    }
}

/// The names that one element may use: its file's and the index values of its `repeat`.
#[derive(Clone, Copy)]
pub struct ElementScope<'a> {
    scope: &'a ScopeData,
    locals: Option<&'a Locals>,
}

impl Scope for ElementScope<'_> {
    fn lookup(&self, path: &str) -> Option<Lookup> {
        if let Some(x) = self.locals.and_then(|l| l.get(path)) {
            return Some(Lookup::Value(Quantity::Number(x)));
        }
        self.scope.own(path)
    }

    fn dimension(&self, path: &str) -> Inferred {
        match self.locals.and_then(|l| l.get(path)) {
            Some(_) => Inferred::Number,
            None => self.scope.dimension(path),
        }
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.scope.names();
        names.extend(self.locals.iter().flat_map(|l| l.values.iter().map(|(n, _)| n.to_string())));
        names
    }

    fn of_function(&self, _name: &str) -> Option<&dyn Scope> {
        // a function does not see the index of the element that calls it
        Some(self.scope)
    }
}

impl<'a> ElementScope<'a> {
    /// The names of a file with index values.
    pub fn new(scope: &'a ScopeData, locals: Option<&'a Locals>) -> Self {
        ElementScope { scope, locals }
    }

    /// The file's scope.
    pub fn scope(&self) -> &'a ScopeData {
        self.scope
    }

    /// Parses a string as an expression, `{…}` expanded first.
    pub fn parse(&self, text: &Text, span: Span) -> Result<Arc<Expr>> {
        if text.is_template() {
            let expanded = self.expand(text, span)?;
            return Expr::parse(&expanded).map(Arc::new).map_err(|e| whole(e, span, &expanded));
        }
        text.expr().map(Arc::clone).map_err(|e| expression_error(e, text, span))
    }

    /// The value of a string on loading.
    pub fn evaluate(&self, text: &Text, span: Span) -> Result<Quantity> {
        if text.is_template() {
            let expanded = self.expand(text, span)?;
            return Expr::parse(&expanded)
                .and_then(|e| e.evaluate(self, self.scope.planar))
                .map_err(|e| whole(e, span, &expanded));
        }
        text.expr()
            .map_err(|e| expression_error(e, text, span))?
            .evaluate(self, self.scope.planar)
            .map_err(|e| expression_error(&e, text, span))
    }

    /// The dimension of a value, from its units. Units in it that do not fit each other are an error; a text that is no expression has
    /// no dimension.
    pub fn dimension_of(&self, value: &Value) -> Result<Inferred> {
        match &value.data {
            Data::Number(_) => Ok(Inferred::Number),
            Data::Text(_) if !self.may_have_units(value) => Ok(Inferred::Unknown),
            Data::Text(text) => match self.parse(text, value.span) {
                Ok(expr) => expr.dimension(self).map_err(|e| match text.is_template() {
                    true => whole(e, value.span, expr.text()),
                    false => expression_error(&e, text, value.span),
                }),
                Err(_) => Ok(Inferred::Unknown),
            },
            Data::List(list) => {
                let mut all = Inferred::Unknown;
                for inner in list {
                    if let known @ Inferred::Known(_) = self.dimension_of(inner)? {
                        all = known;
                    }
                }
                Ok(all)
            }
            Data::Bool(_) | Data::Table(_) => Ok(Inferred::Unknown),
        }
    }

    /// Returns whether a unit may stand in a value or in what it names.
    pub fn may_have_units(&self, value: &Value) -> bool {
        let text = match &value.data {
            Data::Text(text) => text,
            Data::List(list) => return list.iter().any(|inner| self.may_have_units(inner)),
            _ => return false,
        };
        let scope = self.scope;
        text.may_have_units()
            || !(scope.functions.is_empty() && scope.tables.is_empty())
            || scope.dimensions.values().any(|d| matches!(d, Inferred::Known(_)))
    }

    /// Refuses a value whose units are none of those `allowed`; a list component by component.
    pub fn check_dimension(
        &self,
        value: &Value,
        allowed: &[Dimension],
        title: &dyn Fn() -> String,
    ) -> Result<()> {
        if let Data::List(list) = &value.data {
            return list.iter().try_for_each(|inner| self.check_dimension(inner, allowed, title));
        }
        let Inferred::Known(found) = self.dimension_of(value)? else { return Ok(()) };
        if allowed.is_empty() || allowed.iter().any(|wanted| wanted.fits(found)) {
            return Ok(());
        }
        let wanted: Vec<String> = allowed.iter().map(Dimension::to_string).collect();
        let hint = "write a number with a fitting unit, or a plain number in SI";
        let message = format!("{}: expected {}, found {found}", title(), wanted.join(" or "));
        Err(Diagnostic::new(value.span, message).hint(hint))
    }

    /// The value of a number, flag, string or list of two or three numbers on loading.
    pub fn quantity(&self, value: &Value) -> Result<Quantity> {
        let bad = |message: String| Diagnostic::new(value.span, message);
        match &value.data {
            Data::Number(x) if x.is_nan() => Err(bad("expected a number, found nan".into())),
            Data::Number(x) => Ok(Quantity::Number(*x)),
            Data::Bool(b) => Ok(Quantity::Flag(*b)),
            Data::Text(text) => self.evaluate(text, value.span),
            Data::List(list) if (2..=3).contains(&list.len()) => {
                let mut v = [0.0; 3];
                for (x, c) in v.iter_mut().zip(list) {
                    *x = self.number(c)?;
                }
                Ok(Quantity::Vector { v, n: list.len() })
            }
            Data::List(list) => Err(bad(format!("a vector has 2 or 3 components, this has {}", list.len()))),
            Data::Table(_) => Err(bad("expected a number or a vector, found a table".into())),
        }
    }

    /// The value of a finite number on loading.
    pub fn number(&self, value: &Value) -> Result<f64> {
        let found = match &value.data {
            Data::List(_) | Data::Table(_) => value.describe(),
            _ => match self.quantity(value)? {
                Quantity::Number(x) if x.is_finite() => return Ok(x),
                Quantity::Number(x) => {
                    return Err(Diagnostic::new(value.span, format!("expected a finite number, found {x}")));
                }
                other => other.kind(),
            },
        };
        Err(Diagnostic::new(value.span, format!("expected a number, found {found}"))
            .maybe_hint(Diagnostic::example("…", "a number")))
    }

    /// The value of a flag on loading.
    pub fn flag(&self, value: &Value) -> Result<bool> {
        let found = match &value.data {
            Data::Bool(b) => return Ok(*b),
            Data::Text(_) => match self.quantity(value)? {
                Quantity::Flag(b) => return Ok(b),
                Quantity::Number(x) => return Ok(x != 0.0),
                other => other.kind(),
            },
            _ => value.describe(),
        };
        Err(Diagnostic::new(value.span, format!("expected true, false or a condition, found {found}"))
            .maybe_hint(Diagnostic::example("…", "true")))
    }

    /// A string with every `{…}` replaced by the whole number it evaluates to.
    pub fn expand(&self, text: &Text, span: Span) -> Result<String> {
        use std::fmt::Write as _;
        if !text.is_template() {
            return Ok(text.to_string());
        }
        let mut out = String::with_capacity(text.len() + 8);
        for part in text.parts() {
            out.push_str(&part.literal);
            if let Some(index) = &part.index {
                let n = self.whole_number(index).map_err(|mut e| {
                    e.at = e.at.start + index.offset..e.at.end + index.offset;
                    expression_error(&e, text, span)
                })?;
                let _ = write!(out, "{n}");
            }
        }
        Ok(out)
    }

    /// A key with every `{…}` expanded; the error is a message.
    pub fn expand_key(&self, key: &str) -> std::result::Result<String, String> {
        self.expand(&Text::new(key), Span::NONE).map_err(|d| d.message)
    }

    /// The value of the inside of `{…}`.
    fn whole_number(&self, index: &TemplateIndex) -> std::result::Result<i64, ExprError> {
        let value = index.expr.as_ref().map_err(Clone::clone)?.evaluate(self, self.scope.planar)?;
        let fail = |what: String| ExprError {
            message: format!("`{{{}}}` must be a whole number, it is {what}", index.text),
            hint: None,
            at: 0..index.text.len(),
        };
        let Quantity::Number(x) = value else { return Err(fail(value.kind().into())) };
        whole_number(x).ok_or_else(|| fail(x.to_string()))
    }
}

/// The whole number that `x` is: to roundoff, as an index may be computed, such as (n - 1)/3*3.
pub fn whole_number(x: f64) -> Option<i64> {
    let n = x.round();
    ((x - n).abs() <= 1e-9 * n.abs().max(1.0) && n.abs() <= 9.0e15).then_some(n as i64)
}

/// An error of an expression at its index in the file.
pub fn expression_error(e: &ExprError, text: &Text, span: Span) -> Diagnostic {
    let at = match text.verbatim() {
        Some(start) if span.is_some() && e.at.end <= text.len() => {
            // an error at the end of the text points at its closing quote
            let from = start + e.at.start as u32;
            Span { file: span.file, start: from, end: (start + e.at.end as u32).max(from + 1) }
        }
        _ => span,
    };
    Diagnostic::new(at, e.message.clone()).maybe_hint(e.hint.clone())
}

/// An error of an expression whose `{…}` were expanded.
fn whole(e: ExprError, span: Span, expanded: &str) -> Diagnostic {
    Diagnostic::new(span, e.message).maybe_hint(e.hint).note(format!("the expression is `{expanded}`"))
}

/// A body of an included file that is another body of the model.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The full name of the body it is.
    pub body: String,
    /// Marks where the file's own body stands in the model pose.
    pub frame: crate::transform::Frame,
}

/// Paths that begin with these are the model's, not a file's.
const GLOBAL: [&str; 3] = ["t", "energy", "violation"];

impl Model {
    /// The full name of `path` as the file of `scope` writes it.
    pub fn resolve(&self, scope: &ScopeData, path: &str) -> String {
        let head = path.split('.').next().unwrap_or(path);
        if GLOBAL.contains(&head) || (head == "ground" && scope.prefix.is_empty()) {
            return path.to_string();
        }
        let full = format!("{}{path}", scope.prefix);
        match self.alias(&full) {
            None => full,
            Some((own, alias, rest)) => {
                let marker = rest.split('.').next().unwrap_or("");
                if rest.is_empty() {
                    alias.body.clone()
                } else if self.attached.contains(&format!("{own}.{marker}")) {
                    format!("{}.{own}.{rest}", alias.body)
                } else {
                    format!("{}.{rest}", alias.body)
                }
            }
        }
    }

    /// The alias that a full path begins with, and what follows it.
    pub fn alias<'p>(&self, full: &'p str) -> Option<(&'p str, &Alias, &'p str)> {
        if self.aliases.is_empty() {
            return None;
        }
        let ends = full.match_indices('.').map(|(i, _)| i).chain([full.len()]);
        ends.filter_map(|i| {
            let own = &full[..i];
            Some((own, self.aliases.get(own)?, full.get(i + 1..).unwrap_or("")))
        })
        .next()
    }
}
