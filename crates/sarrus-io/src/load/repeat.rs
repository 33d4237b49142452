//! `[repeat]`: sections written once for many indices.

use super::definitions::Definitions;
use super::{Done, Loader, sections};
use crate::MAX_ELEMENTS;
use sarrus_model::expr::{Quantity, is_name};
use sarrus_model::model::Locals;
use sarrus_model::scope::{ElementScope, ScopeData, whole_number};
use sarrus_model::suggest::did_you_mean;
use sarrus_model::value::{Text, Value};
use sarrus_model::{Data, Diagnostic, Span, Table};
use std::sync::Arc;

/// The entries of `[repeat]`, each with its indices.
pub struct Repeats<'t> {
    pub list: Vec<Repeat<'t>>,
}

/// One entry.
pub struct Repeat<'t> {
    pub table: &'t Table,
    pub indices: Vec<Arc<Locals>>,
}

/// One `i = 1 to n`.
struct IndexRange {
    name: Arc<str>,
    first: Text,
    last: Text,
    span: Span,
}

impl<'t> Repeats<'t> {
    /// Reads the entries and counts their indices.
    pub fn read(
        loader: &mut Loader,
        root: &'t Table,
        definitions: &mut Definitions<'_>,
        scope: &mut ScopeData,
    ) -> Done<Self> {
        let mut list = Vec::new();
        let Some(value) = root.get("repeat") else { return Ok(Repeats { list }) };
        for e in &sections::table(value, "repeat")?.entries {
            let table = sections::table(&e.value, &e.key)?;
            check(table, &e.key)?;
            if let Some(condition) = table.get("if") {
                let holds = match &condition.data {
                    Data::Text(t) => {
                        let q = definitions.evaluate_text(t, condition.span, None, scope)?;
                        q.flag().unwrap_or(false)
                    }
                    _ => ElementScope::new(scope, None).flag(condition)?,
                };
                if !holds {
                    continue;
                }
            }
            let Some(spec) = table.get("for") else {
                return Err(Diagnostic::new(
                    e.key_span,
                    format!("entry `{}` of [repeat] needs `for`", e.key),
                )
                .hint("such as for = \"i = 1 to n\""));
            };
            let ranges = ranges(spec)?;
            for r in &ranges {
                if let Some(at) = definitions.parameter_span(&r.name) {
                    return Err(Diagnostic::new(
                        r.span,
                        format!("the index `{}` has the name of a parameter or point", r.name),
                    )
                    .also(at, format!("`{}` is defined here", r.name)));
                }
            }
            let per_index = made_by(table).max(1);
            let mut indices = Vec::new();
            let mut partial = Locals { entry: e.key.clone(), values: Vec::new() };
            let capacity = MAX_ELEMENTS.saturating_sub(loader.count) / per_index;
            combine(&ranges, &mut partial, definitions, scope, &mut indices, capacity)?;
            loader.count += indices.len() * per_index;
            list.push(Repeat { table, indices });
        }
        Ok(Repeats { list })
    }
}

/// Returns how many elements one index makes.
fn made_by(table: &Table) -> usize {
    table.entries.iter().filter_map(|e| e.value.as_table()).map(|t| t.len()).sum()
}

fn check(table: &Table, name: &str) -> Done {
    for e in &table.entries {
        if ["for", "if"].contains(&&*e.key) {
            continue;
        }
        match sections::info(&e.key) {
            Some(s) if s.repeats => {}
            Some(s) => {
                let d = Diagnostic::new(e.key_span, format!("[{}] cannot be repeated", s.name));
                return Err(match s.name {
                    "repeat" => d.hint("a list in `for` makes all combinations"),
                    _ => d,
                });
            }
            None => {
                let names = sections::SECTIONS.iter().filter(|s| s.repeats).map(|s| s.name).chain(["for"]);
                return Err(Diagnostic::new(
                    e.key_span,
                    format!("entry `{name}` of [repeat] has no key `{}`", e.key),
                )
                .maybe_hint(did_you_mean(&e.key, names)));
            }
        }
    }
    Ok(())
}

fn ranges(value: &Value) -> Done<Vec<IndexRange>> {
    match &value.data {
        Data::Text(t) => Ok(vec![range(t, value.span)?]),
        Data::List(list) => list
            .iter()
            .map(|v| match &v.data {
                Data::Text(t) => range(t, v.span),
                _ => {
                    Err(Diagnostic::new(v.span, format!("`for`: expected a string, found {}", v.describe())))
                }
            })
            .collect(),
        _ => {
            Err(Diagnostic::new(value.span, format!("`for`: expected a string, found {}", value.describe()))
                .hint("such as \"i = 1 to n\""))
        }
    }
}

fn range(text: &Text, span: Span) -> Done<IndexRange> {
    let wrong = || {
        Diagnostic::new(span, format!("`for`: `{}` is not a range", text.as_str()))
            .hint("such as \"i = 1 to n\"")
    };
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (first, last) = rest.split_once(" to ").ok_or_else(wrong)?;
    let name = name.trim();
    if !is_name(name) || first.trim().is_empty() || last.trim().is_empty() {
        return Err(wrong());
    }
    if let Some(d) = sections::bad_name(name, "index", span) {
        return Err(d);
    }
    // places inside the string, for errors in a bound
    let part = |s: &str| {
        let offset = s.as_ptr() as usize - text.as_str().as_ptr() as usize;
        Text::at(s, text.verbatim().map(|v| v + offset as u32))
    };
    Ok(IndexRange { name: name.into(), first: part(first), last: part(last), span })
}

/// All combinations; a later range may use the indices of the earlier ones.
fn combine(
    ranges: &[IndexRange],
    partial: &mut Locals,
    definitions: &mut Definitions<'_>,
    scope: &mut ScopeData,
    out: &mut Vec<Arc<Locals>>,
    capacity: usize,
) -> Done {
    let Some((range, rest)) = ranges.split_first() else {
        if out.len() >= capacity {
            return Err(Diagnostic::bare(format!("[repeat] makes more than {MAX_ELEMENTS} elements")));
        }
        out.push(Arc::new(partial.clone()));
        return Ok(());
    };
    let mut bound = |text: &Text| -> Done<i64> {
        let q = definitions.evaluate_text(text, range.span, Some(partial), scope)?;
        let Quantity::Number(x) = q else {
            return Err(Diagnostic::new(
                range.span,
                format!("the bound `{}` is {}", text.as_str().trim(), q.kind()),
            ));
        };
        whole_number(x).ok_or_else(|| {
            Diagnostic::new(
                range.span,
                format!("the bound `{}` must be a whole number, it is {x}", text.as_str().trim()),
            )
        })
    };
    let (first, last) = (bound(&range.first)?, bound(&range.last)?);
    if last.saturating_sub(first) >= capacity as i64 {
        return Err(Diagnostic::new(range.span, format!("[repeat] makes more than {MAX_ELEMENTS} elements")));
    }
    for i in first..=last {
        partial.values.push((range.name.clone(), i as f64));
        let done = combine(rest, partial, definitions, scope, out, capacity);
        partial.values.pop();
        done.map_err(|d| if d.at.is_none() { Diagnostic { at: Some(range.span), ..d } } else { d })?;
    }
    Ok(())
}
