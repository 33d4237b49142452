//! From a path to a tree: size, encoding, nesting, syntax.

use crate::depth::too_deep;
use crate::{MAX_BYTES, MAX_DEPTH, json, native};
use sarrus_model::{Diagnostic, Sources, Span, Table};
use std::io::Read;
use std::path::Path;

/// The text of a file that is not too large; `at` is where it is asked for.
pub fn text_of(path: &Path, at: Span) -> Result<String, Diagnostic> {
    let shown = path.display();
    let bytes = bytes_of(path, at)?;
    String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..good].iter().filter(|b| **b == b'\n').count() + 1;
        Diagnostic::new(at, format!("{shown}:{line}: the file is not UTF-8 text (byte {good})"))
    })
}

/// The bytes of a file that is not too large; `at` is where it is asked for.
pub fn bytes_of(path: &Path, at: Span) -> Result<Vec<u8>, Diagnostic> {
    let shown = path.display();
    let bad = |message: String| Diagnostic::new(at, message);
    let unreadable = |e: std::io::Error| {
        let why = match e.kind() {
            std::io::ErrorKind::NotFound => "it does not exist".to_string(),
            std::io::ErrorKind::PermissionDenied => "reading it is not permitted".to_string(),
            _ => e.to_string(),
        };
        bad(format!("{shown}: cannot be read: {why}"))
            .hint("check the path; names in a file are meant from that file's folder")
    };
    let meta = std::fs::metadata(path).map_err(unreadable)?;
    if meta.is_dir() {
        return Err(bad(format!("{shown}: cannot be read: it is a folder")).hint("name the model file in it"));
    }
    let too_large = || {
        bad(format!("{shown}: is larger than {} MiB", MAX_BYTES >> 20))
            .hint("a model of many equal parts is short with `[repeat]`")
    };
    if meta.len() > MAX_BYTES {
        return Err(too_large());
    }
    // a device or a pipe has no length: never read more than the limit
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Parses a text, by the ending of its name or its first letter.
pub fn parse(name: &str, text: &str, sources: &mut Sources) -> Result<Table, Diagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = sources.add(name, text);
    if text.len() as u64 > MAX_BYTES {
        return Err(Diagnostic::bare(format!("{name}: is larger than {} MiB", MAX_BYTES >> 20)));
    }
    let lower = name.to_ascii_lowercase();
    let is_json =
        lower.ends_with(".json") || (!lower.ends_with(".toml") && text.trim_start().starts_with('{'));
    if let Some(at) = too_deep(text, !is_json) {
        let at = Span { file, start: at as u32, end: at as u32 + 1 };
        return Err(Diagnostic::new(at, format!("nested more than {MAX_DEPTH} deep"))
            .hint("no model needs that much: look for a bracket that is not closed"));
    }
    if is_json { json::parse(text, file) } else { native::parse(text, file) }
}
