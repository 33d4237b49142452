//! The tree of a model file, every node with its index in the text.
//!
//! Whether a string is a name, an expression or a text depends on the key it stands under, so strings
//! stay strings here. A parsed form is kept beside the text: an entry of `[repeat]` is shared by all its
//! indices and is parsed once.

use crate::diagnostic::Span;
use crate::expr::{Expr, ExprError};
use std::sync::{Arc, OnceLock};

/// A string of the file, with its parsed forms made on first use. Behind a pointer: most values are numbers, and small.
#[derive(Clone, Debug, Default)]
pub struct Text(Arc<Content>);

/// Holds what a string is.
#[derive(Debug, Default)]
struct Content {
    text: Arc<str>,
    verbatim: Option<u32>,
    template: bool,
    units: bool,
    parsed: OnceLock<std::result::Result<Arc<Expr>, Box<ExprError>>>,
    parts: OnceLock<Box<[TextPart]>>,
}

/// A stretch of a string: letters, then perhaps a `{…}`.
#[derive(Clone, Debug)]
pub struct TextPart {
    /// The letters before the bracket.
    pub literal: Box<str>,
    /// Holds what stands in the bracket, if there is one.
    pub index: Option<TemplateIndex>,
}

/// The inside of a `{…}`.
#[derive(Clone, Debug)]
pub struct TemplateIndex {
    /// Its first byte in the string.
    pub offset: usize,
    /// Its text.
    pub text: Box<str>,
    /// Its expression.
    pub expr: std::result::Result<Expr, ExprError>,
}

/// Returns whether a number is followed by a space and a letter, or by two spaces. It costs less than parsing.
fn has_unit(text: &[u8]) -> bool {
    let in_text = |w: &[u8]| {
        (w[0].is_ascii_digit() || w[0] == b'.' || w[0] == b'}')
            && w[1].is_ascii_whitespace()
            && (w[2].is_ascii_alphabetic() || w[2].is_ascii_whitespace())
    };
    text.windows(3).any(in_text)
}

impl Text {
    /// A string that does not come from a file.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Text::at(text, None)
    }

    /// A string whose content begins at the byte `start` of its file.
    pub fn at(text: impl Into<Arc<str>>, start: Option<u32>) -> Self {
        let text = text.into();
        // elements of a `repeat` share their texts: these are searched once
        let (template, units) = (text.contains('{'), has_unit(text.as_bytes()));
        Text(Arc::new(Content { text, verbatim: start, template, units, ..Content::default() }))
    }

    /// Returns where the content begins in the file, if it stands there letter by letter (no escapes).
    pub fn verbatim(&self) -> Option<u32> {
        self.0.verbatim
    }

    /// The content.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The content as an expression; parsed on first use.
    pub fn expr(&self) -> std::result::Result<&Arc<Expr>, &ExprError> {
        let parse = || Expr::parse(&self.0.text).map(Arc::new).map_err(Box::new);
        self.0.parsed.get_or_init(parse).as_ref().map_err(|e| &**e)
    }

    /// Returns whether it holds a `{…}`.
    pub fn is_template(&self) -> bool {
        self.0.template
    }

    /// Returns whether a unit may stand in it: a number, a space and a letter.
    pub fn may_have_units(&self) -> bool {
        self.0.units
    }

    /// The insides of its `{…}`.
    pub fn parts_with_index(&self) -> impl Iterator<Item = &TemplateIndex> {
        let parts = if self.is_template() { self.parts() } else { &[] };
        parts.iter().filter_map(|p| p.index.as_ref())
    }

    /// The content split at its `{…}`; parsed on first use. A bracket that is not closed reaches to the end.
    pub fn parts(&self) -> &[TextPart] {
        self.0.parts.get_or_init(|| split(&self.0.text).into())
    }
}

fn split(text: &str) -> Vec<TextPart> {
    let mut parts = Vec::new();
    let mut done = 0;
    while let Some(open) = text[done..].find('{').map(|i| done + i) {
        let close = text[open..].find('}').map(|i| open + i);
        let inside = &text[open + 1..close.unwrap_or(text.len())];
        let expr = match close {
            Some(_) => Expr::parse(inside),
            None => Err(ExprError { message: "a `{` is not closed".into(), hint: None, at: 0..inside.len() }),
        };
        let index = TemplateIndex { offset: open + 1, text: inside.into(), expr };
        parts.push(TextPart { literal: text[done..open].into(), index: Some(index) });
        done = close.map_or(text.len(), |c| c + 1);
    }
    parts.push(TextPart { literal: text[done..].into(), index: None });
    parts
}

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::new(text)
    }
}

/// Holds what a value is.
#[derive(Clone, Debug)]
pub enum Data {
    /// `true` or `false`.
    Bool(bool),
    /// An integer or a float.
    Number(f64),
    /// A string: a name, an expression or a text, as the key says.
    Text(Text),
    /// A list.
    List(Vec<Value>),
    /// A table; shared, since repeated elements have the same one.
    Table(Arc<Table>),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Value {
    /// Holds what it is.
    pub data: Data,
    /// Marks where it stands.
    pub span: Span,
}

impl Value {
    /// A value that does not come from a file.
    pub fn new(data: Data) -> Self {
        Value { data, span: Span::NONE }
    }

    /// Returns what it is, in words for an error: `a number`, `a string`.
    pub fn describe(&self) -> &'static str {
        match &self.data {
            Data::Bool(true) => "true",
            Data::Bool(false) => "false",
            Data::Number(_) => "a number",
            Data::Text(_) => "a string",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }

    /// The table, if it is one.
    pub fn as_table(&self) -> Option<&Arc<Table>> {
        match &self.data {
            Data::Table(t) => Some(t),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&Text> {
        match &self.data {
            Data::Text(t) => Some(t),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(l) => Some(l),
            _ => None,
        }
    }
}

/// One `key = value` of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key as written.
    pub key: Arc<str>,
    /// Marks where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Value,
}

/// A table, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Marks where the table stands; its key where it is spread over the file.
    pub span: Span,
}

impl Table {
    /// The value of a key. Linear: tables of elements are short.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entry(key).map(|e| &e.value)
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| &*e.key == key)
    }

    /// Sets a key, replacing its value where it stands.
    pub fn set(&mut self, key: &str, key_span: Span, value: Value) {
        match self.entries.iter_mut().find(|e| &*e.key == key) {
            Some(e) => *e = Entry { key: e.key.clone(), key_span, value },
            None => self.entries.push(Entry { key: key.into(), key_span, value }),
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| &*e.key)
    }

    /// This table with another laid over it: tables are merged key by key, all else is replaced.
    pub fn overlaid(&self, over: &Table) -> Table {
        let mut out = self.clone();
        for e in &over.entries {
            let value = match (out.get(&e.key).map(|v| &v.data), &e.value.data) {
                (Some(Data::Table(a)), Data::Table(b)) => {
                    Value { data: Data::Table(Arc::new(a.overlaid(b))), span: e.value.span }
                }
                _ => e.value.clone(),
            };
            out.set(&e.key, e.key_span, value);
        }
        out
    }
}
