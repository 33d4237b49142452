//! Errors that say where: `file:line:col: message`, the line, a caret and a hint.

use std::fmt::Write as _;

/// A stretch of bytes in one of the files of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Index in [`Sources`]; [`Span::NONE`] has none.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// No place: a value made by the program.
    pub const NONE: Span = Span { file: u32::MAX, start: 0, end: 0 };

    /// Returns whether the span points into a file.
    pub fn is_some(self) -> bool {
        self.file != u32::MAX
    }
}

impl Default for Span {
    fn default() -> Self {
        Span::NONE
    }
}

/// One text that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the user gave it, or a name such as `--set`.
    pub name: String,
    /// The whole text.
    pub text: std::sync::Arc<str>,
}

/// The texts of a model: its file and what it includes.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// Adds a text and returns its index for [`Span::file`].
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<std::sync::Arc<str>>) -> u32 {
        self.files.push(Source { name: name.into(), text: text.into() });
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }

    /// The text of a file.
    pub fn get(&self, file: u32) -> Option<&Source> {
        self.files.get(file as usize)
    }

    /// All texts.
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> Option<&str> {
        self.get(span.file)?.text.get(span.start as usize..span.end as usize)
    }

    /// Line and column of a span's beginning, both from 1; columns count characters.
    pub fn line_column(&self, span: Span) -> Option<(usize, usize)> {
        let text = &self.get(span.file)?.text;
        let start = floor_boundary(text, span.start as usize);
        let before = &text[..start];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Some((line, column))
    }
}

/// The largest character boundary not after `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut i = at.min(text.len());
    while !text.is_char_boundary(i) {
        i -= 1;
    }
    i
}

/// Something wrong with the input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// Holds what is wrong, in one line.
    pub message: String,
    /// Holds what to do about it.
    pub hint: Option<String>,
    /// The position.
    pub at: Option<Span>,
    /// Further lines: the index of a repeated entry, the other place of a contradiction.
    pub notes: Vec<String>,
    /// Other places that matter, each with a label.
    pub also: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(at: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            message: message.into(),
            hint: None,
            at: at.is_some().then_some(at),
            notes: Vec::new(),
            also: Vec::new(),
        }
    }

    /// An error without a place.
    pub fn bare(message: impl Into<String>) -> Self {
        Diagnostic::new(Span::NONE, message)
    }

    /// A hint for a key that takes `what`, such as `a number`.
    pub fn example(key: &str, what: &str) -> Option<String> {
        Some(match what.split([' ', ',']).find(|word| !matches!(*word, "a" | "an" | "one" | "finite"))? {
            "number" => format!("such as `{key} = 2.5`, or an expression in quotes, `{key} = \"2*l\"`"),
            "string" | "name" | "of" => format!("in quotes: `{key} = \"…\"`"),
            "vector" => {
                let example = if what.contains('3') { "[1, 0, 0]" } else { "[1, 0]" };
                format!("such as `{key} = {example}`, with one number or expression for each component")
            }
            "list" => format!("in brackets: `{key} = […, …]`"),
            "table" => format!("such as `{key} = {{ name = … }}`, or a section of its own"),
            "true" => format!("such as `{key} = true`, or a condition of parameters in quotes"),
            _ => return None,
        })
    }

    /// With a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With a hint, where there is one.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// With a further line.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With another place.
    pub fn also(mut self, at: Span, label: impl Into<String>) -> Self {
        if at.is_some() {
            self.also.push((at, label.into()));
        }
        self
    }

    /// The text for a terminal: `file:line:col: message`, the line with a caret and the hint, notes.
    pub fn render(&self, sources: &Sources) -> String {
        let mut out = String::new();
        let location = self.at.and_then(|at| Some((at, sources.get(at.file)?, sources.line_column(at)?)));
        match location {
            Some((at, source, (line, column))) => {
                let _ = write!(out, "{}:{line}:{column}: {}", source.name, self.message);
                snippet(&mut out, &source.text, at, line, self.hint.as_deref());
            }
            None => {
                out.push_str(&self.message);
                if let Some(hint) = &self.hint {
                    let _ = write!(out, "\nhint: {hint}");
                }
            }
        }
        for (at, label) in &self.also {
            if let (Some(source), Some((line, column))) = (sources.get(at.file), sources.line_column(*at)) {
                let _ = write!(out, "\n{}:{line}:{column}: {label}", source.name);
            }
        }
        for note in &self.notes {
            let _ = write!(out, "\nnote: {note}");
        }
        out
    }
}

/// Longest part of a line that is shown; a one-line file of megabytes must stay readable.
const SHOWN: usize = 160;

/// Appends `17 | line` and the caret line.
fn snippet(out: &mut String, text: &str, at: Span, line: usize, hint: Option<&str>) {
    let start = floor_boundary(text, at.start as usize);
    let begin = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    let whole = text[begin..end].trim_end_matches('\r');
    let from_char = text[begin..start].chars().count();
    let stop = floor_boundary(text, (at.end as usize).clamp(start, end));
    let width = text[start..stop].chars().count().max(1);

    // cut a long line to a window around the place
    let first = from_char.saturating_sub(SHOWN / 2);
    let shown: String =
        whole.chars().skip(first).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let caret = from_char - first;
    let width = width.min(SHOWN.saturating_sub(caret)).max(1);
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    let _ = write!(out, "\n{number} | {shown}\n{gutter} | {}{}", " ".repeat(caret), "^".repeat(width));
    if let Some(hint) = hint {
        let _ = write!(out, " {hint}");
    }
}

/// A model that could not be loaded: what is wrong, and the texts to show it in.
#[derive(Clone, Debug, Default, thiserror::Error)]
#[error("{}", self.render())]
pub struct Failure {
    /// Holds what is wrong, the first first.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: Sources,
}

impl Failure {
    /// One diagnostic with the texts it points into.
    pub fn new(diagnostic: Diagnostic, sources: Sources) -> Self {
        Failure { diagnostics: vec![diagnostic], sources }
    }

    /// All diagnostics as text, an empty line between.
    pub fn render(&self) -> String {
        let texts: Vec<String> = self.diagnostics.iter().map(|d| d.render(&self.sources)).collect();
        texts.join("\n\n")
    }
}
