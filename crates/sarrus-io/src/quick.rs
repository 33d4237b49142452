//! TOML to the tree of values in one pass, for what model files are made of.
//!
//! ```text
//! [a."b".c]   a.b = 1   "…" and '…' on one line, without escapes   true   -12   1.5e-3   [lists,   # over lines
//! ]   { inline = tables, "on one line" = 1 }   # remarks
//! ```
//!
//! Whatever else TOML has (escapes, texts over lines, dates, `[[…]]`, `inf`, `0x1f`, `1_000`, a table opened twice), and whatever is
//! wrong, gives none: the parser of the crate `toml` has the word then, also on errors. Where this gives a tree, it is that parser's,
//! place by index; a test holds the two together.
//!
//! Cost: linear; nothing is kept but the tree. A file of 100 000 bodies written out has 25 MB; lists of tokens and events of
//! it, and its tables as search trees, would take several times the workspace of the model that is made from it.

use sarrus_model::value::Entry;
use sarrus_model::{Data, Span, Table, Text, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Entries from which on a table finds its keys by a map.
const MANY: usize = 16;
/// Entries of a table on one line, at most.
const MOST: usize = 100;
/// Keys that are remembered, so that equal ones are one text.
const KEYS: usize = 64;

/// A table under way: opened by a header, or by the dots of a key.
struct OpenTable<'t> {
    span: Span,
    entries: Vec<Entry>,
    /// Its keys, once there are many.
    known: HashMap<&'t str, u32>,
    /// The table that it is in, and its index among the entries there.
    parent: (usize, usize),
    /// Places of entries that are tables under way, ascending, and which.
    inside: Vec<(usize, usize)>,
    from: From,
}

/// Holds what opened a table.
#[derive(Clone, Copy, PartialEq)]
enum From {
    /// A header of its own, or the start of the file.
    Header,
    /// The header of a table inside it.
    Path,
    /// The dots of a key.
    Dots,
}

/// A key as it stands in the text.
#[derive(Clone, Copy)]
struct WrittenKey<'t> {
    name: &'t str,
    span: Span,
}

struct TomlParser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    file: u32,
    nodes: Vec<OpenTable<'t>>,
    keys: [Option<Arc<str>>; KEYS],
}

/// The tree of a text, if it has nothing unusual in it.
pub fn parse(text: &str, file: u32) -> Option<Table> {
    let mut parser = TomlParser {
        text,
        bytes: text.as_bytes(),
        at: 0,
        file,
        nodes: Vec::new(),
        keys: [const { None }; KEYS],
    };
    parser.document()?;
    parser.finish()
}

impl<'t> TomlParser<'t> {
    fn document(&mut self) -> Option<()> {
        self.open(Span { file: self.file, start: 0, end: 0 }, (0, 0), From::Header);
        let mut current = 0;
        let mut path = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None => return Some(()),
                Some(b'#' | b'\n' | b'\r') => {}
                Some(b'[') => current = self.header(&mut path)?,
                Some(_) => {
                    self.dotted(&mut path)?;
                    self.one(b'=')?;
                    self.blanks();
                    let key = path.pop()?;
                    let mut table = current;
                    for part in &path {
                        table = self.descend(table, *part, From::Dots)?;
                    }
                    let value = self.value()?;
                    self.add(table, key, value)?;
                }
            }
            self.blanks();
            self.line_end()?;
        }
    }

    /// `[a.b]`: the table that it opens.
    fn header(&mut self, path: &mut Vec<WrittenKey<'t>>) -> Option<usize> {
        let start = self.at;
        self.at += 1;
        // `[[` is not for here; a blank may follow the bracket
        self.blanks();
        self.dotted(path)?;
        self.one(b']')?;
        let span = self.span(start);
        let key = path.pop()?;
        let mut table = 0;
        for part in path.iter() {
            table = self.descend(table, *part, From::Path)?;
        }
        self.entry_index(table, key.name).is_none().then_some(())?;
        Some(self.child(table, key, span, From::Header))
    }

    /// The table under a key of another, made where there is none.
    fn descend(&mut self, table: usize, key: WrittenKey<'t>, from: From) -> Option<usize> {
        match self.entry_index(table, key.name) {
            None => Some(self.child(table, key, key.span, from)),
            Some(index) => {
                let inside = &self.nodes[table].inside;
                let node = inside[inside.binary_search_by_key(&index, |(index, _)| *index).ok()?].1;
                let fits = match from {
                    From::Dots => self.nodes[node].from == From::Dots,
                    _ => self.nodes[node].from != From::Dots,
                };
                fits.then_some(node)
            }
        }
    }

    fn open(&mut self, span: Span, parent: (usize, usize), from: From) -> usize {
        let (entries, inside) = (Vec::new(), Vec::new());
        self.nodes.push(OpenTable { span, entries, known: HashMap::new(), parent, inside, from });
        self.nodes.len() - 1
    }

    /// A new table under a key that is free.
    fn child(&mut self, table: usize, key: WrittenKey<'t>, span: Span, from: From) -> usize {
        let index = self.nodes[table].entries.len();
        let node = self.open(span, (table, index), from);
        // its place is kept until it is whole
        self.push(table, key, Value { data: Data::Bool(false), span });
        self.nodes[table].inside.push((index, node));
        node
    }

    fn add(&mut self, table: usize, key: WrittenKey<'t>, value: Value) -> Option<()> {
        self.entry_index(table, key.name).is_none().then(|| self.push(table, key, value))
    }

    /// The place of a key in a table.
    fn entry_index(&self, table: usize, name: &str) -> Option<usize> {
        let node = &self.nodes[table];
        if node.entries.len() < MANY {
            return node.entries.iter().position(|e| &*e.key == name);
        }
        node.known.get(name).map(|index| *index as usize)
    }

    /// Adds an entry whose key is free.
    fn push(&mut self, table: usize, key: WrittenKey<'t>, value: Value) {
        let name = self.shared(key.name);
        let (text, node) = (self.text, &mut self.nodes[table]);
        node.entries.push(Entry { key: name, key_span: key.span, value });
        let n = node.entries.len();
        if n == MANY {
            // keys stand in the text letter by letter, in quotes or not
            for (i, e) in node.entries.iter().enumerate() {
                node.known.insert(inner(text, e.key_span, e.key.len()), i as u32);
            }
        } else if n > MANY {
            node.known.insert(key.name, n as u32 - 1);
        }
    }

    /// The key as a text that equal ones share; a few are remembered.
    fn shared(&mut self, name: &str) -> Arc<str> {
        let bytes = name.as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return "".into() };
        let slot = (usize::from(*first) ^ usize::from(*last) << 2 ^ bytes.len() << 4) % KEYS;
        match &self.keys[slot] {
            Some(known) if **known == *name => known.clone(),
            _ => {
                let new: Arc<str> = name.into();
                self.keys[slot] = Some(new.clone());
                new
            }
        }
    }

    /// `a."b".c` into `path`, with the blanks after it.
    fn dotted(&mut self, path: &mut Vec<WrittenKey<'t>>) -> Option<()> {
        path.clear();
        loop {
            let key = self.key()?;
            path.push(key);
            self.blanks();
            if self.peek() != Some(b'.') {
                return Some(());
            }
            self.at += 1;
            self.blanks();
        }
    }

    fn key(&mut self) -> Option<WrittenKey<'t>> {
        let start = self.at;
        let name = match self.peek()? {
            quote @ (b'"' | b'\'') => self.quoted(quote)?,
            _ => {
                let rest = &self.bytes[start..];
                let is_bare = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-';
                self.at += rest.iter().take_while(|b| is_bare(b)).count();
                self.text.get(start..self.at).filter(|name| !name.is_empty())?
            }
        };
        Some(WrittenKey { name, span: self.span(start) })
    }

    /// The content of a text on one line that has no escapes.
    fn quoted(&mut self, quote: u8) -> Option<&'t str> {
        let start = self.at + 1;
        let rest = &self.bytes[start..];
        let len = rest.iter().position(|b| *b == quote || *b == b'\\' && quote == b'"' || is_control(*b))?;
        (rest[len] == quote).then_some(())?;
        self.at = start + len + 1;
        // three of them begin one over lines
        (len > 0 || self.peek() != Some(quote)).then_some(())?;
        self.text.get(start..start + len)
    }

    fn value(&mut self) -> Option<Value> {
        let start = self.at;
        let data = match self.peek()? {
            quote @ (b'"' | b'\'') => {
                let text = self.quoted(quote)?;
                Data::Text(Text::at(text, Some(start as u32 + 1)))
            }
            b'[' => self.list()?,
            b'{' => self.inline()?,
            b't' => self.word("true").map(|()| Data::Bool(true))?,
            b'f' => self.word("false").map(|()| Data::Bool(false))?,
            _ => Data::Number(self.number()?),
        };
        Some(Value { data, span: self.span(start) })
    }

    fn list(&mut self) -> Option<Data> {
        self.at += 1;
        let mut list = Vec::new();
        loop {
            self.gaps()?;
            if self.peek()? != b']' {
                list.push(self.value()?);
                self.gaps()?;
            }
            match self.peek()? {
                b']' => break,
                b',' => self.at += 1,
                _ => return None,
            }
        }
        self.at += 1;
        list.shrink_to_fit();
        Some(Data::List(list))
    }

    fn inline(&mut self) -> Option<Data> {
        let start = self.at;
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        self.blanks();
        while self.peek()? != b'}' {
            if !entries.is_empty() {
                self.one(b',')?;
                self.blanks();
            }
            let key = self.key()?;
            self.blanks();
            self.one(b'=')?;
            self.blanks();
            let value = self.value()?;
            self.blanks();
            (entries.len() < MOST && entries.iter().all(|e| *e.key != *key.name)).then_some(())?;
            entries.push(Entry { key: self.shared(key.name), key_span: key.span, value });
        }
        self.at += 1;
        Some(Data::Table(Arc::new(Table { entries, span: self.span(start) })))
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.bytes[self.at..].starts_with(word.as_bytes()).then_some(())?;
        self.at += word.len();
        self.is_end().then_some(())
    }

    /// Decimal numbers without anything between their digits.
    fn number(&mut self) -> Option<f64> {
        let start = self.at;
        if matches!(self.peek(), Some(b'+' | b'-')) {
            self.at += 1;
        }
        let first = self.peek()?;
        let whole = self.digits()?;
        (whole == 1 || first != b'0').then_some(())?;
        let mut is_whole = true;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
            is_whole = false;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
            is_whole = false;
        }
        self.is_end().then_some(())?;
        let digits = self.text.get(start..self.at)?;
        match is_whole.then(|| digits.parse::<i64>()) {
            Some(Ok(n)) => Some(n as f64),
            // beyond 64 bits it is still a number
            _ => digits.parse().ok(),
        }
    }

    /// Digits, at least one: how many.
    fn digits(&mut self) -> Option<usize> {
        let count = self.bytes[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(count)
    }

    /// Returns whether a value may end here.
    fn is_end(&self) -> bool {
        matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}' | b'#'))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn one(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn span(&self, start: usize) -> Span {
        // files are far below 4 GiB
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// A remark, if there is one, and the end of the line or of the text.
    fn line_end(&mut self) -> Option<()> {
        if self.peek() == Some(b'#') {
            let rest = &self.bytes[self.at..];
            let len = rest.iter().position(|b| is_control(*b)).unwrap_or(rest.len());
            self.at += len;
        }
        match (self.peek(), self.bytes.get(self.at + 1)) {
            (None, _) => {}
            (Some(b'\n'), _) => self.at += 1,
            (Some(b'\r'), Some(b'\n')) => self.at += 2,
            _ => return None,
        }
        Some(())
    }

    /// Blanks, remarks and ends of lines inside a list.
    fn gaps(&mut self) -> Option<()> {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'#' | b'\n' | b'\r') => self.line_end()?,
                _ => return Some(()),
            }
        }
    }

    /// Puts tables where they belong, the innermost first.
    fn finish(mut self) -> Option<Table> {
        loop {
            let node = self.nodes.pop()?;
            let OpenTable { mut entries, span, parent: (table, index), .. } = node;
            // an element's place in the file is its index in the results
            if !entries.is_sorted_by_key(|e| e.key_span.start) {
                entries.sort_by_key(|e| e.key_span.start);
            }
            let whole = Table { entries, span };
            match self.nodes.get_mut(table) {
                Some(parent) => parent.entries[index].value.data = Data::Table(Arc::new(whole)),
                None => return Some(whole),
            }
        }
    }
}

/// Returns what neither a text on one line nor a remark may have.
fn is_control(byte: u8) -> bool {
    byte < b' ' && byte != b'\t' || byte == 0x7f
}

/// The letters of a key that stands at `span`, in quotes or not.
fn inner(text: &str, span: Span, len: usize) -> &str {
    let (start, end) = (span.start as usize, span.end as usize);
    let quotes = (end - start - len) / 2;
    &text[start + quotes..end - quotes]
}

#[cfg(test)]
mod tests;
