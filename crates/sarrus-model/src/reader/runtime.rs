//! Expressions that are evaluated while the model runs.

use super::Reader;
use crate::Result;
use crate::diagnostic::Span;
use crate::expr::{Expr, Quantity};
use crate::model::Locals;
use crate::record::KeyPath;
use crate::transform::{Matrix3, NO_PART};
use crate::value::{Data, Text, Value};
use std::sync::Arc;

/// An expression of the file, parsed, to be compiled by [`crate::Model::compile`].
#[derive(Clone, Debug)]
pub struct RuntimeExpr {
    /// The tree.
    pub expr: Arc<Expr>,
    /// Marks where it stands.
    pub span: Span,
    /// Index of the file's scope.
    pub scope: u32,
    /// Index values of the element.
    pub locals: Option<Arc<Locals>>,
    /// Marks where its text begins in the file, if it stands there letter by letter.
    pub(super) verbatim: Option<u32>,
    /// Marks where the resolved file has it.
    pub(super) path: Option<Arc<KeyPath>>,
}

impl RuntimeExpr {
    /// Returns how far this condition is from changing; see [`Expr::margin`].
    pub fn margin(&self) -> RuntimeExpr {
        RuntimeExpr { expr: Arc::new(self.expr.margin()), path: None, verbatim: None, ..self.clone() }
    }

    /// Returns where it calls the function `name`; the whole of it where that cannot be determined.
    pub fn span_of_call(&self, name: &str) -> Span {
        let call = self.expr.calls().into_iter().find(|(called, _)| called == name);
        match (call, self.verbatim) {
            (Some((_, at)), Some(start)) if self.span.is_some() => {
                let index_of = |offset: usize| start + offset as u32;
                Span { file: self.span.file, start: index_of(at.start), end: index_of(at.end) }
            }
            _ => self.span,
        }
    }
}

/// A vector of expressions, or one vector expression, in world or body axes of the model.
#[derive(Clone, Debug)]
pub struct RuntimeVector {
    pub(super) components: VectorComponents,
    /// Marks where it stands.
    pub span: Span,
    pub(super) path: Option<Arc<KeyPath>>,
}

impl RuntimeVector {
    /// Index of the file's scope.
    pub fn scope(&self) -> u32 {
        match &self.components {
            VectorComponents::Whole(e) => e.scope,
            VectorComponents::Each(list) => list.iter().flatten().next().map_or(0, |e| e.scope),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum VectorComponents {
    /// One expression with the value of a vector.
    Whole(RuntimeExpr),
    /// One expression per component; none: left free.
    Each(Vec<Option<RuntimeExpr>>),
}

/// Describes how the components of a vector go through the include's transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComponentMap {
    /// Not at all: the numbers mean no direction.
    Plain,
    /// A world point.
    Point,
    /// A world vector that a mirror reflects.
    Polar,
    /// A world vector that a mirror reflects and reverses.
    Axial,
    /// A vector in body axes that a mirror reflects.
    Local,
    /// A vector in body axes that a mirror reflects and reverses.
    LocalAxial,
}

impl Reader<'_> {
    /// An expression, or a number.
    pub fn expression(&self, key: &str) -> Result<Option<RuntimeExpr>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let mut expr = self.runtime(key, value)?;
        expr.path = self.is_recording().then(|| Arc::new(self.key_path(key)));
        Ok(Some(expr))
    }

    /// An expression that must be given.
    pub fn require_expression(&self, key: &str) -> Result<RuntimeExpr> {
        self.expression(key)?.ok_or_else(|| self.missing(key))
    }

    /// The angle of a body in a planar model, against x of the file: it turns with the file, and a mirror reverses it.
    pub fn heading_expression(&self, key: &str) -> Result<Option<RuntimeExpr>> {
        let Some(expr) = self.axial_expression(key)? else { return Ok(None) };
        let rotation = self.transform().angle;
        if rotation == 0.0 {
            return Ok(Some(expr));
        }
        let text = format!("({}) + {}", expr.expr.text(), Quantity::Number(rotation));
        Ok(Some(RuntimeExpr { path: expr.path.clone(), ..self.combined(key, &text, expr.span)? }))
    }

    /// A scalar of rotation or torque in a planar model: a mirror reverses it.
    pub fn axial_expression(&self, key: &str) -> Result<Option<RuntimeExpr>> {
        let Some(mut expr) = self.expression(key)? else { return Ok(None) };
        if self.handedness() < 0.0 {
            let text = format!("-({})", expr.expr.text());
            expr = RuntimeExpr { path: expr.path.clone(), ..self.combined(key, &text, expr.span)? };
        }
        Ok(Some(expr))
    }

    /// A vector of expressions in the space's dimension; `"free"` leaves a component alone where `free`
    /// is set.
    pub fn expressions(&self, key: &str, map: ComponentMap, free: bool) -> Result<Option<RuntimeVector>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let n = if self.is_planar() { 2 } else { 3 };
        let path = self.is_recording().then(|| Arc::new(self.key_path(key)));
        let components = match &value.data {
            Data::List(list) => {
                if list.len() != n {
                    return Err(self.at(
                        value.span,
                        format!("`{key}` of {}: expected {n} components, found {}", self.title(), list.len()),
                    ));
                }
                let component = |v: &Value| match &v.data {
                    Data::Text(t) if free && t.as_str() == "free" => Ok(None),
                    _ => self.runtime(key, v).map(Some),
                };
                VectorComponents::Each(list.iter().map(component).collect::<Result<_>>()?)
            }
            Data::Text(_) => VectorComponents::Whole(self.runtime(key, value)?),
            _ => return Err(self.expected(key, "a list of expressions or a vector expression", value)),
        };
        let components = match self.rotation_map(map) {
            None => components,
            Some((q, d)) => self.rotate_components(key, value.span, &components, &q, d, n)?,
        };
        Ok(Some(RuntimeVector { components, span: value.span, path }))
    }

    /// A vector of expressions in the space's dimension, of points that go to Q c + d: `path = ["cos(s)", "sin(s)"]`.
    pub fn points_along(
        &self,
        key: &str,
        map: Option<&(Matrix3, [f64; 3])>,
    ) -> Result<Option<RuntimeVector>> {
        match self.expressions(key, ComponentMap::Plain, false)? {
            None => Ok(None),
            Some(vector) => match map {
                None => Ok(Some(vector)),
                Some((q, d)) => {
                    let n = if self.is_planar() { 2 } else { 3 };
                    let components =
                        self.rotate_components(key, vector.span, &vector.components, q, *d, n)?;
                    Ok(Some(RuntimeVector { components, ..vector }))
                }
            },
        }
    }

    /// A table of expressions whose keys the file chooses: `rates = { x = "-x" }`.
    pub fn map_of_expressions(&self, key: &str) -> Result<Vec<(String, Span, RuntimeExpr)>> {
        let Some(inner) = self.map(key)? else { return Ok(Vec::new()) };
        let mut out = Vec::with_capacity(inner.table.len());
        for entry in &inner.table.entries {
            if let Some(expr) = inner.expression(&entry.key)? {
                out.push((entry.key.to_string(), entry.key_span, expr));
            }
        }
        Ok(out)
    }

    /// A table of expressions by path, such as `set = { ctl.x = "1" }`: full paths, with the prefix of the file.
    pub fn settings(&self, key: &str) -> Result<Vec<(String, Span, RuntimeExpr)>> {
        let mut out = Vec::new();
        let Some(map) = self.map(key)? else { return Ok(out) };
        let mut open: Vec<(String, Reader)> = vec![(String::new(), map)];
        while let Some((path, reader)) = open.pop() {
            for entry in &reader.table.entries {
                let name =
                    reader.context().expand_key(&entry.key).map_err(|m| reader.at(entry.key_span, m))?;
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                if let Data::Table(table) = &entry.value.data {
                    let inner = Reader { table, span: entry.value.span, ..reader.clone() };
                    open.push((path, inner));
                    continue;
                }
                let full = self.model.resolve(self.scope(), &path);
                let mut expr = reader.runtime(&entry.key, &entry.value)?;
                if self.is_recording() {
                    let mut key_path = self.key_path(key);
                    key_path.path.push(full.clone());
                    expr.path = Some(Arc::new(key_path));
                }
                out.push((full, entry.key_span, expr));
            }
        }
        Ok(out)
    }

    /// A table of numbers whose keys the file chooses: `states = { x = 0 }`.
    pub fn map_of_numbers(&self, key: &str) -> Result<Vec<(String, Span, f64)>> {
        let Some(inner) = self.map(key)? else { return Ok(Vec::new()) };
        let mut out = Vec::with_capacity(inner.table.len());
        for entry in &inner.table.entries {
            out.push((entry.key.to_string(), entry.key_span, inner.number(&entry.key)?));
        }
        Ok(out)
    }

    /// Parses a value; nothing is evaluated yet.
    fn runtime(&self, key: &str, value: &Value) -> Result<RuntimeExpr> {
        let (expr, verbatim) = match &value.data {
            Data::Number(x) if x.is_finite() => {
                let expr = Expr::parse(&Quantity::Number(*x).to_string());
                (expr.map(Arc::new).map_err(|e| self.at(value.span, e.message))?, None)
            }
            Data::Number(x) => {
                return Err(
                    self.at(value.span, format!("`{key}` of {} must be finite, it is {x}", self.title()))
                );
            }
            Data::Text(text) => {
                let expr = self.context().parse(text, value.span).map_err(|d| self.noted(d))?;
                (expr, text.verbatim().filter(|_| !text.is_template()))
            }
            _ => return Err(self.expected(key, "a number or an expression", value)),
        };
        Ok(RuntimeExpr {
            expr,
            span: value.span,
            scope: self.element.scope,
            locals: self.element.locals.clone(),
            verbatim,
            path: None,
        })
    }

    /// An expression made of the file's.
    fn combined(&self, key: &str, text: &str, span: Span) -> Result<RuntimeExpr> {
        self.runtime(key, &Value { data: Data::Text(Text::new(text)), span })
    }

    /// The matrix and offset of the include's transform, where it changes anything.
    fn rotation_map(&self, map: ComponentMap) -> Option<(Matrix3, [f64; 3])> {
        let t = self.transform();
        if t.is_identity() {
            return None;
        }
        let diagonal =
            |s: f64| std::array::from_fn(|i| std::array::from_fn(|j| if i == j { s * t.l[i] } else { 0.0 }));
        match map {
            ComponentMap::Plain => None,
            ComponentMap::Point => Some((t.q, t.d)),
            ComponentMap::Polar => Some((t.q, [0.0; 3])),
            ComponentMap::Axial => Some((t.q.map(|row| row.map(|x| t.sign() * x)), [0.0; 3])),
            ComponentMap::Local => Some((diagonal(1.0), [0.0; 3])),
            ComponentMap::LocalAxial => Some((diagonal(t.sign()), [0.0; 3])),
        }
    }

    /// Q c + d, as expressions.
    fn rotate_components(
        &self,
        key: &str,
        span: Span,
        components: &VectorComponents,
        q: &Matrix3,
        d: [f64; 3],
        n: usize,
    ) -> Result<VectorComponents> {
        let number = |x: f64| Quantity::Number(x).to_string();
        let mut out = Vec::with_capacity(n);
        for i in 0..n {
            let mut text = match components {
                VectorComponents::Whole(e) => {
                    let row: Vec<String> = q[i][..n].iter().map(|x| number(*x)).collect();
                    format!("dot([{}], {})", row.join(", "), e.expr.text())
                }
                VectorComponents::Each(list) => {
                    let used: Vec<usize> = (0..n).filter(|j| q[i][*j].abs() > NO_PART).collect();
                    let free = used.iter().filter(|j| list[**j].is_none()).count();
                    if free > 0 {
                        if used.len() > 1 {
                            return Err(self
                                .at(
                                    span,
                                    format!(
                                        "`{key}` of {}: a free component in a file that is turned",
                                        self.title()
                                    ),
                                )
                                .hint("turn the file by quarter turns, or leave no component free"));
                        }
                        out.push(None);
                        continue;
                    }
                    let terms: Vec<String> = used
                        .iter()
                        .filter_map(|j| {
                            let e = list[*j].as_ref()?;
                            Some(format!("{}*({})", number(q[i][*j]), e.expr.text()))
                        })
                        .collect();
                    if terms.is_empty() { "0".to_string() } else { terms.join(" + ") }
                }
            };
            if d[i] != 0.0 {
                text = format!("{text} + {}", number(d[i]));
            }
            out.push(Some(self.combined(key, &text, span)?));
        }
        Ok(VectorComponents::Each(out))
    }
}
