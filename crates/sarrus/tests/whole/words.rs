//! Words of the sources: each type name has one meaning, retired words name nothing, doc comments start with a noun or a verb.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rust files below a folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Product files of all crates: those that hold only tests are left out.
fn product() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let src = entry.unwrap().path().join("src");
        if src.is_dir() {
            sources(&src, &mut files);
        }
    }
    files.retain(|path| {
        let mut parts = path.components().map(|part| part.as_os_str());
        !path.ends_with("tests.rs") && !parts.any(|part| part == "tests")
    });
    files
}

/// The name that a line defines a type, trait or alias by. Associated types of a trait are indented and have that trait for context.
fn defined(line: &str) -> Option<&str> {
    let indented = line.starts_with(' ');
    let mut words = line.split_whitespace().peekable();
    words.next_if(|word| word.starts_with("pub"));
    // `pub(in path)` is two words
    words.next_if(|word| word.ends_with(')'));
    match words.next()? {
        "struct" | "enum" | "trait" | "union" => {}
        "type" if !indented => {}
        _ => return None,
    }
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    name.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
}

#[test]
fn no_type_name_means_two_things() {
    let mut defined_in: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let files = product();
    assert!(files.len() > 500, "{}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for name in product.lines().filter_map(defined) {
            defined_in.entry(name.to_owned()).or_default().push(file.display().to_string());
        }
    }
    assert!(defined_in.len() > 900, "{}", defined_in.len());
    let twice: Vec<_> = defined_in.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

/// Words that NOTATION.md has retired, as parts of identifiers.
const RETIRED: [&str; 52] = [
    "places",
    "placed",
    "placing",
    "room",
    "rooms",
    "book",
    "books",
    "heats",
    "rubs",
    "look",
    "looks",
    "looking",
    "told",
    "tell",
    "tells",
    "kept",
    "turn",
    "turns",
    "turned",
    "turning",
    "crew",
    "settle",
    "settles",
    "settled",
    "upright",
    "stiffen",
    "sparing",
    "sharpen",
    "standing",
    "leads",
    "journey",
    "leg",
    "legs",
    "passage",
    "danger",
    "dangerous",
    "bridge",
    "minuend",
    "strips",
    "put",
    "puts",
    "takes",
    "landed",
    "onto",
    "gauge",
    "tap",
    "feed",
    "wake",
    "resting",
    "freedoms",
    "couple",
    "nobody",
];

/// Product text of a file: without its test module.
fn product_text(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// The text with its comments and the insides of its strings and characters as blanks.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = hidden(rest, out.chars().next_back());
        match length {
            0 => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
            _ => {
                out.push(' ');
                rest = &rest[length..];
            }
        }
    }
    out
}

/// Bytes of a comment, string or character that begins here, after the character `before`; 0 where none does.
fn hidden(text: &str, before: Option<char>) -> usize {
    let until =
        |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return until("*/", 2);
    }
    let is_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let raw = text.strip_prefix('b').unwrap_or(text).strip_prefix('r').filter(|_| !is_name);
    if let Some(tail) = raw.filter(|tail| tail.trim_start_matches('#').starts_with('"')) {
        let hashes = tail.len() - tail.trim_start_matches('#').len();
        return until(&format!("\"{}", "#".repeat(hashes)), text.len() - tail.len() + hashes + 1);
    }
    if text.starts_with('"') {
        let mut escaped = true;
        for (at, c) in text.char_indices() {
            match c {
                '"' if !escaped => return at + 1,
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        return text.len();
    }
    let mut chars = text.char_indices().skip(1);
    match (text.starts_with('\''), chars.next()) {
        (true, Some((_, '\\'))) => until("'", 3),
        (true, Some((_, _))) => chars.next().filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1),
        _ => 0,
    }
}

/// Parts of a name: of `place_all` and of `PlaceKey`, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && before.is_lowercase() {
            parts.push(String::new());
        }
        if c != '_' {
            parts.last_mut().unwrap().extend(c.to_lowercase());
        }
        before = c;
    }
    parts
}

#[test]
fn comments_and_strings_are_no_code() {
    let text = "let place = \"a \\\" turn\"; // room\nlet c = ['\\'', '\"', 'x']; r#\"look \" told\"#; fn of<'a>(crew: &'a str) {}";
    let code = code(text);
    let words: Vec<_> = code.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, ["let", "place", "let", "c", "fn", "of", "a", "crew", "a", "str"]);
    assert_eq!(parts("TurnRate_of_place"), ["turn", "rate", "of", "place"]);
}

#[test]
fn retired_words_name_nothing() {
    let mut found = Vec::new();
    for file in product() {
        let text = code(&product_text(&file));
        for name in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if parts(name).iter().any(|part| RETIRED.contains(&part.as_str())) {
                found.push(format!("{}: {name}", file.display()));
            }
        }
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        if parts(&stem).iter().any(|part| RETIRED.contains(&part.as_str())) {
            found.push(file.display().to_string());
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Whether a doc comment starts with a question word. `Where` and `When` may begin a condition, which a comma ends.
fn starts_with_a_question(comment: &str) -> bool {
    match comment.split_whitespace().next() {
        Some("What" | "Who" | "How" | "Which" | "Whether" | "Why") => true,
        Some("Where" | "When") => !comment.contains(','),
        _ => false,
    }
}

#[test]
fn doc_comments_start_with_a_noun_or_a_verb() {
    let mut found = Vec::new();
    for file in product() {
        // help of the command line and docs of the Python module are texts for users
        if file
            .components()
            .any(|part| ["sarrus-cli", "sarrus-py"].iter().any(|own| part.as_os_str() == *own))
        {
            continue;
        }
        let text = product_text(&file);
        let mut comment = String::new();
        for line in text.lines().map(str::trim_start).chain([""]) {
            match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
                Some(more) => comment.push_str(more),
                None => {
                    if starts_with_a_question(&comment) {
                        found.push(format!("{}: {comment}", file.display()));
                    }
                    comment.clear();
                }
            }
        }
    }
    assert!(found.is_empty(), "{} {found:#?}", found.len());
}
