//! Whatever the bytes are, loading returns.

#[allow(dead_code)]
mod common;

use proptest::prelude::*;
use sarrus_io::{LoadOptions, load, load_str, write_resolved};

fn options() -> LoadOptions {
    LoadOptions { record: true, ..Default::default() }
}

/// Loads, and where that works reads and writes: nothing may panic.
fn exercise(name: &str, text: &str) {
    match load_str(name, text, &options()) {
        Err(f) => assert!(!f.diagnostics.is_empty() && !f.render().is_empty()),
        Ok(m) => {
            if let Err(d) = common::read_all(&m) {
                assert!(!d.render(&m.sources).is_empty());
            }
            write_resolved(&m, &[]);
        }
    }
}

/// Pieces from which files are made that are nearly right.
const PIECES: &[&str] = &[
    "format = \"sarrus/1\"\n",
    "space = \"planar\"\n",
    "[bodies]\n",
    "[joints]\n",
    "[parameters]\n",
    "[points]\n",
    "[run]\n",
    "[repeat.r]\n",
    "for = \"i = 1 to 3\"\n",
    "[include.x]\n",
    "file = \"x.toml\"\n",
    "[initial]\n",
    "a = { mass = 1 }\n",
    "b = { from = \"A\", to = [1, 0, 0], mass = \"m\" }\n",
    "\"c{i}\" = { mass = \"i\" }\n",
    "j = { kind = \"fixed\", bodies = [\"a\", \"b\"], at = [0, 0, 0] }\n",
    "m = \"2*k\"\n",
    "k = \"m\"\n",
    "A = \"B\"\n",
    "B = [0, 0]\n",
    "a.vx = 1\n",
    "t_end = \"m\"\n",
    "[forces]\n",
    "f = { kind = \"force\", body = \"a\", force = [\"t\", 0, \"{\"] }\n",
    "[tables.f]\n",
    "points = [[0, 0], [1, 1]]\n",
    "[functions]\n",
    "\"g(x)\" = \"f(g(x))\"\n",
    "[measures]\n",
    "q = \"g(1)\"\n",
    "\"{",
    "}\"",
    "=",
    "[",
    "]",
    "{",
    "\"",
    "é",
    "\u{0}",
    "\u{feff}",
    "nan",
    "1e999",
    "\n",
    "if = \"\"\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_arbitrary_text(text in ".{0,200}") {
        exercise("x.toml", &text);
        exercise("x.json", &text);
    }

    #[test]
    fn on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let path = std::env::temp_dir().join(format!("sarrus-io-bytes-{}.toml", std::process::id()));
        std::fs::write(&path, &bytes).unwrap();
        let _ = load(&path, &options());
    }

    #[test]
    fn on_text_that_is_nearly_a_model(picks in proptest::collection::vec(0..PIECES.len(), 0..30)) {
        let body: String = picks.iter().map(|i| PIECES[*i]).collect();
        exercise("x.toml", &body);
        exercise("x.toml", &format!("format = \"sarrus/1\"\n{body}"));
    }

    #[test]
    fn on_a_model_with_a_hole_in_it(name in 0usize..11, from in 0usize..4000, len in 0usize..60) {
        let folder = format!("{}/tests/models", env!("CARGO_MANIFEST_DIR"));
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        let text = std::fs::read_to_string(&paths[name]).unwrap();
        let chars: Vec<char> = text.chars().collect();
        let from = from % chars.len().max(1);
        let end = (from + len).min(chars.len());
        let cut: String = chars[..from].iter().chain(&chars[end..]).collect();
        exercise("x.toml", &cut);
    }

    #[test]
    fn on_any_value_of_the_command_line(value in ".{0,40}") {
        let text = "format = \"sarrus/1\"\nparameters.n = 1\nbodies.a = { mass = \"n\" }\n";
        let set = LoadOptions { set: vec![("n".into(), value)], ..Default::default() };
        if let Err(f) = load_str("x.toml", text, &set) {
            prop_assert!(!f.render().is_empty());
        }
    }
}
