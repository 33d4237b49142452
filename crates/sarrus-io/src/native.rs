//! TOML to the tree of values.

use crate::quick;
use sarrus_model::value::Entry;
use sarrus_model::{Data, Diagnostic, Span, Table, Text, Value};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses TOML; the first thing that is wrong is the error.
pub fn parse(text: &str, file: u32) -> Result<Table, Diagnostic> {
    quick::parse(text, file).map_or_else(|| parse_all(text, file), Ok)
}

/// The same with all that TOML has.
pub fn parse_all(text: &str, file: u32) -> Result<Table, Diagnostic> {
    let document = DeTable::parse(text).map_err(|e| {
        let at = e.span().unwrap_or(0..0);
        Diagnostic::new(span(file, at), format!("TOML: {}", e.message()))
    })?;
    table(text, file, document)
}

fn span(file: u32, at: std::ops::Range<usize>) -> Span {
    // files are far below 4 GiB
    Span { file, start: at.start as u32, end: at.end as u32 }
}

fn table(text: &str, file: u32, t: Spanned<DeTable<'_>>) -> Result<Table, Diagnostic> {
    let at = span(file, t.span());
    let mut entries = Vec::with_capacity(t.get_ref().len());
    for (key, v) in t.into_inner() {
        let key_span = span(file, key.span());
        entries.push(Entry { key: key.into_inner().as_ref().into(), key_span, value: value(text, file, v)? });
    }
    // the parser sorts by name; an element's place in the file is its index in the results
    entries.sort_by_key(|e| e.key_span.start);
    Ok(Table { entries, span: at })
}

fn value(text: &str, file: u32, v: Spanned<DeValue<'_>>) -> Result<Value, Diagnostic> {
    let range = v.span();
    let at = span(file, range.clone());
    let bad = |what: String| Diagnostic::new(at, what);
    let data = match v.into_inner() {
        DeValue::Boolean(b) => Data::Bool(b),
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(n) => Data::Number(n as f64),
            // beyond 64 bits it is still a number
            Err(_) => Data::Number(i.as_str().parse().map_err(|_| bad(format!("`{i}` is not a number")))?),
        },
        DeValue::Float(f) => {
            Data::Number(f.as_str().parse().map_err(|_| bad(format!("`{f}` is not a number")))?)
        }
        DeValue::String(s) => Data::Text(Text::at(s.as_ref(), verbatim(text, range, &s))),
        DeValue::Datetime(_) => return Err(bad("a date has no meaning here".into())),
        DeValue::Array(list) => {
            Data::List(list.into_iter().map(|v| value(text, file, v)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(t) => Data::Table(Arc::new(table(text, file, Spanned::new(range, t))?)),
    };
    Ok(Value { data, span: at })
}

/// Returns where the content of a string literal begins, if the literal says it letter by letter.
pub fn verbatim(text: &str, range: std::ops::Range<usize>, content: &str) -> Option<u32> {
    let quotes = [1, 3].into_iter().find(|q| text.get(range.start + q..range.end - q) == Some(content))?;
    Some((range.start + quotes) as u32)
}
