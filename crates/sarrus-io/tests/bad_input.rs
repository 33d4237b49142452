//! The corpus of wrong files: each is refused with the place and the message its first line states.

#[allow(dead_code)]
mod common;

use sarrus_io::{LoadOptions, MAX_BYTES, load, load_str};
use sarrus_model::{Failure, Model};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn read(model: Model) -> Result<(), Failure> {
    let wrong = common::read_all(&model).err();
    wrong.map_or(Ok(()), |d| Err(Failure::new(d, model.sources)))
}

/// The first line of a file is `# 4:7: message`, and may continue with ` | hint`. JSON has it in a file beside.
#[test]
fn every_wrong_file_is_refused_where_it_says() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml" || e == "json"));
    let mut wrong = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let expected = match path.extension().unwrap().to_str() {
            Some("json") => std::fs::read_to_string(path.with_extension("txt")).unwrap(),
            _ => text.clone(),
        };
        let expected = expected.lines().next().unwrap().trim_start_matches("# ");
        let (expected, hint) = expected.split_once(" | ").unwrap_or((expected, ""));
        let name = path.file_name().unwrap().to_str().unwrap();
        let options = LoadOptions::default();
        let shown = match load(path, &options).and_then(read) {
            Ok(()) => "it loads".to_string(),
            Err(f) => f.render().replace(&format!("{}/", folder().display()), ""),
        };
        let location = format!("{name}:{expected}");
        if shown.lines().next() != Some(&location) || !shown.contains(hint) {
            wrong.push(format!("{name}: expected\n  {expected} | {hint}\nfound\n{shown}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(paths.len() >= 60, "{} files", paths.len());
}

fn first_line(f: Failure) -> String {
    f.render().lines().next().unwrap_or("").to_string()
}

#[test]
fn unreadable_files_are_errors() {
    let none = load("no/such/file.toml", &LoadOptions::default()).unwrap_err();
    assert_eq!(first_line(none), "no/such/file.toml: cannot be read: it does not exist");
    let dir = load(folder(), &LoadOptions::default()).unwrap_err();
    assert!(first_line(dir).ends_with("cannot be read: it is a folder"));

    let temp = std::env::temp_dir().join(format!("sarrus-io-unreadable-{}", std::process::id()));
    std::fs::create_dir_all(&temp).unwrap();
    let latin = temp.join("latin.toml");
    std::fs::write(&latin, b"format = \"sarrus/1\"\nname = \"\xe9\"\n").unwrap();
    let f = load(&latin, &LoadOptions::default()).unwrap_err();
    assert!(first_line(f).ends_with("latin.toml:2: the file is not UTF-8 text (byte 28)"));

    // 100 MB that hold no data
    let large = temp.join("large.toml");
    std::fs::File::create(&large).unwrap().set_len(100_000_000).unwrap();
    let f = load(&large, &LoadOptions::default()).unwrap_err();
    assert!(first_line(f).ends_with("large.toml: is larger than 64 MiB"));
    const { assert!(MAX_BYTES < 100_000_000) };
    std::fs::remove_dir_all(&temp).unwrap();
}

#[test]
fn deep_nesting_is_an_error_in_every_shape() {
    let n = 200_000;
    let shapes = [
        format!("format = \"sarrus/1\"\nx = {}{}", "[".repeat(n), "]".repeat(n)),
        format!("format = \"sarrus/1\"\nx = {}{}", "{ a = ".repeat(n), "}".repeat(n)),
        format!("format = \"sarrus/1\"\nx{} = 1", ".a".repeat(n)),
        format!("format = \"sarrus/1\"\n[x{}]", ".a".repeat(n)),
        format!("format = \"sarrus/1\"\n[x{}]", " . a".repeat(n)),
        format!("format = \"sarrus/1\"\n[x{}]", ".\"a\"".repeat(n)),
    ];
    for text in shapes {
        let f = load_str("deep.toml", &text, &LoadOptions::default()).unwrap_err();
        assert!(first_line(f).ends_with(": nested more than 64 deep"));
    }
    let json = format!("{}1{}", "{\"a\": [".repeat(n), "]}".repeat(n));
    let f = load_str("deep.json", &json, &LoadOptions::default()).unwrap_err();
    assert_eq!(first_line(f), "deep.json:1:225: nested more than 64 deep");
    // an expression has its own limit
    let text = format!("format = \"sarrus/1\"\nparameters.a = \"{}1{}\"", "(".repeat(n), ")".repeat(n));
    assert!(load_str("deep.toml", &text, &LoadOptions::default()).is_err());
}

#[test]
fn unknown_cases_and_parameters_of_the_command_line_are_errors() {
    let text = "format = \"sarrus/1\"\nparameters.length = 1\ncases.fast = {}\n";
    let case = LoadOptions { case: Some("fats".into()), ..Default::default() };
    let f = load_str("m.toml", text, &case).unwrap_err();
    assert_eq!(f.render(), "case `fats` does not exist\nhint: did you mean `fast`?");
    for (name, value, expected) in [
        ("lenght", "2", "--set:1:1: parameter `lenght` does not exist"),
        ("length", "2 mmm", "--set:1:10: `mmm` is not a unit"),
        ("length", "", "--set:1:8: `length` is set to nothing"),
    ] {
        let set = LoadOptions { set: vec![(name.into(), value.into())], ..Default::default() };
        let f = load_str("m.toml", text, &set).unwrap_err();
        assert_eq!(first_line(f), expected);
    }
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let many: String = (0..5000).map(|i| format!("a{i} = [0, 0, 0], ")).collect();
    let long = format!("format = \"sarrus/1\"\npoints = {{ {many} bad = 1 }}");
    let f = load_str("long.toml", &long, &LoadOptions::default()).unwrap_err().render();
    assert!(f.contains("point `bad`"), "{f}");
    assert!(f.len() < 1000);
}
