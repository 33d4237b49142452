//! Words of the sources: each type name has one meaning.

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
