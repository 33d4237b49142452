//! JSON to the same tree of values; strict: no comments, no trailing commas.

use crate::native::verbatim;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use sarrus_model::value::Entry;
use sarrus_model::{Data, Diagnostic, Span, Table, Text, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Parses JSON; the first thing that is wrong is the error.
pub fn parse(text: &str, file: u32) -> Result<Table, Diagnostic> {
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let result = parse_to_ast(text, &CollectOptions::default(), &strict).map_err(|e| {
        Diagnostic::new(span(file, e.range()), format!("JSON: {}", lower(&e.kind().to_string())))
    })?;
    match result.value {
        Some(ast::Value::Object(o)) => object(text, file, o),
        Some(other) => Err(Diagnostic::new(span(file, other.range()), "JSON: a model is an object")),
        None => Err(Diagnostic::new(Span { file, start: 0, end: 0 }, "JSON: the file is empty")),
    }
}

/// The text with a small first letter, as all messages have it.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|c| c.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn span(file: u32, at: jsonc_parser::common::Range) -> Span {
    Span { file, start: at.start as u32, end: at.end as u32 }
}

fn object(text: &str, file: u32, o: ast::Object<'_>) -> Result<Table, Diagnostic> {
    let at = span(file, o.range);
    let mut entries: Vec<Entry> = Vec::with_capacity(o.properties.len());
    let mut seen: HashMap<Arc<str>, Span> = HashMap::new();
    for p in o.properties {
        let key_span = span(file, p.name.range());
        let key: Arc<str> = p.name.as_str().into();
        if let Some(first) = seen.insert(key.clone(), key_span) {
            return Err(Diagnostic::new(key_span, format!("JSON: duplicate key `{key}`"))
                .also(first, format!("`{key}` stands here already")));
        }
        entries.push(Entry { key, key_span, value: value(text, file, p.value)? });
    }
    Ok(Table { entries, span: at })
}

fn value(text: &str, file: u32, v: ast::Value<'_>) -> Result<Value, Diagnostic> {
    let range = v.range();
    let at = span(file, range);
    let data = match v {
        ast::Value::BooleanLit(b) => Data::Bool(b.value),
        ast::Value::NumberLit(n) => Data::Number(
            n.value.parse().map_err(|_| Diagnostic::new(at, format!("`{}` is not a number", n.value)))?,
        ),
        ast::Value::StringLit(s) => {
            Data::Text(Text::at(s.value.as_ref(), verbatim(text, range.start..range.end, &s.value)))
        }
        ast::Value::Array(list) => {
            Data::List(list.elements.into_iter().map(|v| value(text, file, v)).collect::<Result<_, _>>()?)
        }
        ast::Value::Object(o) => Data::Table(Arc::new(object(text, file, o)?)),
        ast::Value::NullKeyword(_) => {
            return Err(Diagnostic::new(at, "null has no meaning here").hint("leave the key out"));
        }
    };
    Ok(Value { data, span: at })
}
