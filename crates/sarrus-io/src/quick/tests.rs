//! The quick reader against the whole of TOML: on pieces put together, on the models at hand, and on these with something changed.

use super::*;
use crate::native;
use proptest::prelude::*;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// Everything in a tree, places included.
fn describe(table: &Table) -> String {
    format!("{table:?}")
}

/// Returns what is read here is what the whole of TOML says; whether it was.
fn holds(text: &str) -> bool {
    let Some(quick) = parse(text, 3) else { return false };
    let whole = native::parse_all(text, 3).unwrap_or_else(|e| panic!("{text:?}: {}", e.message));
    assert_eq!(describe(&quick), describe(&whole), "{text:?}");
    true
}

#[test]
fn what_model_files_are_made_of_is_read_as_the_whole_of_toml_has_it() {
    for text in [
        "",
        "# nothing\r\n\n  \t# more",
        "a = 1\nb.c = -2.5e-3 # b\nb.d.e = 'x # y'\n\"q r\".s = true",
        "[ a . 'b' ]\nx = +7\ny = 123456789012345678901234567890\n[a.c]\n[d]\nz = -0\n w = -0.0\n",
        "l = [ 1, [ 2.0, ], # two\n\n [], { k = 'v', \"m\" = {} } ]\n",
        "[a.b]\nx = 1\n[a.c]\nx = 1e400",
        "t = ''\nu = \"\"\n\"\" = 0\n\u{e9}\u{e9} = 1",
    ] {
        assert!(holds(text) || text.contains('\u{e9}'), "{text:?}");
    }
    let many: String = (0..100).map(|i| format!("[x.\"k{i}\"]\nv = [{i}, 'b{i}']\n")).collect();
    assert!(holds(&many) && holds(&many.replace("[x.", "[y.z.")));
    let dotted: String = (0..40).map(|i| format!("a.b.k{i} = {i}\n")).collect();
    assert!(holds(&dotted));
}

#[test]
fn what_is_unusual_or_wrong_is_left_to_the_whole_of_toml() {
    for text in [
        "a = \"\\n\"",
        "a = \"\"\"x\"\"\"",
        "a = ''''''",
        "a = 1979-05-27",
        "a = inf",
        "a = 0x1f",
        "a = 1_000",
        "[[a]]\nx = 1",
        "a = {\n x = 1 }",
        "a = { x = 1, }",
        "a = { x.y = 1 }",
        "[a.b]\n[a]",
        "[a]\n[a]",
        "a = 1\na = 2",
        "a.b = 1\n[a.c]",
        "a = 1\na.b = 2",
        "a = {}\na.b = 2",
        "a = { x = 1, x = 2 }",
        "a = 01",
        "a = 1.",
        "a = .5",
        "a = 1 b = 2",
        "a = [1 2]",
        "a = [1,,2]",
        "a = truely",
        "a = 'x\u{1}'",
        "# \u{1}",
        "a = 1\rb = 2",
        "[a]x = 1",
        "= 1",
        "a",
        "a = ",
        "[a",
        "[]",
    ] {
        assert_eq!(parse(text, 0).map(|t| describe(&t)), None, "{text:?}");
    }
    let twice: String = (0..100).map(|i| format!("[x.k{}]\n", i % 99)).collect();
    assert!(parse(&twice, 0).is_none());
}

/// Pieces from which files are made that are nearly right.
const PIECES: &[&str] = &[
    "[a]\n",
    "[a.b]\n",
    "[a.'c']\n",
    "[b.a.b]\n",
    "a = 1\n",
    "a.b = 2\n",
    "b.a.c = [1, 2,]\n",
    "c",
    ".",
    "\"d e\"",
    " = ",
    "=",
    "{ ",
    " }",
    "[",
    "]",
    ",",
    "x = 'y'",
    "-1.5e+07",
    "0",
    "7",
    "true",
    "false",
    "\"t{i}\"",
    "'",
    "\"",
    "\\",
    "#",
    " # rest\n",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "\u{e9}",
    "_",
    "e",
    "+",
    "inf",
    "\u{7f}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn no_text_is_read_otherwise_than_the_whole_of_toml_reads_it(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..14)
    ) {
        holds(&pieces.concat());
    }
}

/// All model files at hand.
fn models() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders =
        ["../../models", "../sarrus-zoo/models", "tests/models", "tests/bad"].map(|f| root.join(f)).to_vec();
    let papers = std::fs::read_dir(root.join("../../papers")).unwrap();
    folders.extend(papers.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()));
    let mut found = Vec::new();
    for file in folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") && !path.ends_with("Cargo.toml") {
            // what is not UTF-8 is refused before
            found.extend(std::fs::read_to_string(&path).ok().map(|text| (path, text)));
        }
    }
    found.sort();
    found
}

#[test]
fn models_are_read_as_the_whole_of_toml_has_them() {
    let all = models();
    assert!(all.len() > 100);
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for (path, text) in all {
        let was_read = holds(&text);
        // and the ones that are shown to users take the quick way
        assert!(was_read || !path.starts_with(&shown), "{}", path.display());
    }
}

/// Defines what is put into models that are right.
const CHANGES: &[&str] = &[
    "\"",
    "'",
    "\"\"\"",
    "\'\'\'",
    "\\",
    "\\u00e9",
    "\\n",
    "\\\n",
    "#",
    " # \u{e9}\n",
    "e",
    "E+3",
    "e-07",
    "1e400",
    ".",
    ". ",
    ".x.y",
    "..",
    "1979-05-27",
    "07:32:00",
    "1979-05-27T07:32:00Z",
    "inf",
    "-nan",
    "+inf",
    "_",
    "1_000",
    "0x1F",
    "0b1",
    "00",
    "-0",
    "+7",
    "9223372036854775808",
    "{",
    "}",
    "{}",
    "{ a = 1 }",
    "{ a.b = 1, a.c = 2 }",
    ", ",
    "[",
    "]",
    "[[",
    "]]",
    "\n[[repeat]]\n",
    "\n[bodies]\n",
    "\n[run]\n",
    "\nrun.t_end = 1\n",
    "\nformat = 'sarrus/1'\n",
    "\r",
    "\r\n",
    "\n",
    "\n\n",
    "\t",
    "\u{feff}",
    "\u{0}",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "true",
    "=",
    " = ",
];

/// The text with something done to it at a place, so far along as `at` says.
fn changed(text: &str, at: f64, how: usize, with: &str) -> String {
    let mut index = (at * text.len() as f64) as usize;
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    let (head, tail) = text.split_at(index);
    let line = |text: &str| text.split_inclusive('\n').next().unwrap_or("").len();
    match how {
        // something put in, or in place of a letter
        0 => format!("{head}{with}{tail}"),
        1 => format!("{head}{with}{}", tail.chars().skip(1).collect::<String>()),
        // behind an equals sign, where values are
        2 => match tail.split_once("= ") {
            Some((before, after)) => format!("{head}{before}= {with}{after}"),
            None => text.into(),
        },
        // the rest of the line gone, or there twice, or the rest of the text gone
        3 => format!("{head}{}", &tail[line(tail)..]),
        4 => format!("{head}{}{tail}", &tail[..line(tail)]),
        5 => head.into(),
        // lines as on other systems, from here on
        6 => format!("{head}{}", tail.replace('\n', "\r\n")),
        // a mark of the order of bytes
        _ => format!("\u{feff}{head}{with}{tail}"),
    }
}

#[test]
fn models_that_somebody_has_changed_are_read_as_the_whole_of_toml_has_them() {
    let models = models();
    let cases = ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() };
    let change = (0.0..1.0, 0_usize..8, prop::sample::select(CHANGES));
    let strategy = (0..models.len(), prop::collection::vec(change, 1..3));
    let was_read = Cell::new(0);
    let done = proptest::test_runner::TestRunner::new(cases).run(&strategy, |(i, changes)| {
        let change = |text: String, (at, how, with): (f64, usize, &str)| changed(&text, at, how, with);
        let is_read = holds(&changes.into_iter().fold(models[i].1.clone(), change));
        was_read.set(was_read.get() + usize::from(is_read));
        Ok(())
    });
    done.unwrap_or_else(|e| panic!("{e}"));
    // some of them are still right
    assert!(was_read.get() > 100, "{was_read:?}");
}
