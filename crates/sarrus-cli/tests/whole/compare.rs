//! `sarrus compare`: the table, the files, and wrong input.

use crate::common::{arg, folder, json, sarrus};

const MODEL: &str = "models/four_bar.toml";

/// Compares two methods for a tenth of a second, without times.
fn compare(more: &[&str]) -> crate::common::Done {
    let mut args = vec!["compare", MODEL, "--t-end", "0.1", "--repeat", "0"];
    args.extend_from_slice(more);
    sarrus(&args)
}

#[test]
fn the_table_has_a_row_per_method_and_talk_goes_to_stderr() {
    let done =
        compare(&["--formulations", "proximal,direct", "--stabilizations", "none,baumgarte:alpha=5,beta=6"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rows: Vec<&str> = done.stdout.lines().filter(|l| l.contains("completed")).collect();
    assert_eq!(rows.len(), 4, "{}", done.stdout);
    assert!(rows[1].contains("baumgarte:alpha=5,beta=6"), "{}", done.stdout);
    assert!(
        done.stderr.contains("comparing: 4 runs") && done.stderr.contains("reference: proximal"),
        "{}",
        done.stderr
    );
    assert!(!done.stdout.contains("comparing"));
}

#[test]
fn everything_is_there_as_json_and_as_csv() {
    let methods =
        ["--formulations", "proximal", "--stabilizations", "none", "--stabilizations", "projection"];
    // dop853 would take the same few steps at both: in so short a run their size is bounded by growth
    let tolerances = ["--integrators", "rk45", "--rtols", "1e-5,1e-8", "--json"];
    let done = compare(&[&methods[..], &tolerances].concat());
    let found = json(&done.stdout);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[1]["rtol"], 1e-8);
    // absolute tolerances keep the model's ratio
    let ratio = rows[1]["atol"].as_f64().unwrap() / rows[0]["atol"].as_f64().unwrap();
    assert!((ratio - 1e-3).abs() < 1e-12);
    assert!(rows[1]["error"].as_f64().unwrap() < rows[0]["error"].as_f64().unwrap());
    assert!(found["reference"]["uncertainty"].as_f64().unwrap() < 1e-9);

    let done = compare(&[&methods[..], &["--csv"]].concat());
    assert!(done.stdout.starts_with("formulation,stabilization,integrator,rtol"));
    assert_eq!(done.stdout.lines().count(), 3);
    let cells = done.stdout.lines().next().unwrap().split(',').count();
    assert!(done.stdout.lines().all(|l| l.split(',').count() == cells), "{}", done.stdout);
}

#[test]
fn a_folder_gets_the_tables_and_the_figures() {
    let dir = folder("compare_out");
    let done = compare(&["--formulations", "proximal,direct", "--repeat", "1", "--out", arg(&dir)]);
    // a flag given twice is an error of clap's
    assert_eq!(done.code, 2);
    let done = sarrus(&[
        "compare",
        MODEL,
        "--t-end",
        "0.1",
        "--repeat",
        "1",
        "--formulations",
        "proximal,direct",
        "--out",
        arg(&dir),
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for name in [
        "compare.json",
        "compare.csv",
        "violation.svg",
        "violation.png",
        "work_precision.svg",
        "reactions.svg",
        "times.svg",
        "times.png",
    ] {
        let bytes = std::fs::read(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(bytes.len() > 200, "{name}");
        assert!(done.stderr.replace("\n ", "").contains(name), "{name} is not told: {}", done.stderr);
    }
    let svg = std::fs::read_to_string(dir.join("violation.svg")).unwrap();
    assert!(svg.contains("projection") && svg.contains("proximal") && svg.contains("time (s)"));
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().filter_map(Result::ok).collect();
    assert!(left.iter().all(|e| !e.file_name().to_string_lossy().ends_with(".part")));
}

#[test]
fn refused_methods_are_rows_and_not_the_end() {
    let done = sarrus(&[
        "compare",
        "models/mcpherson_overconstrained.toml",
        "--t-end",
        "0.05",
        "--repeat",
        "0",
        "--formulations",
        "direct,proximal",
        "--stabilizations",
        "projection",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("refused [1]")
            && done.stdout.contains("[1] formulation `direct` needs independent")
    );
    assert!(done.stdout.contains("not unique"), "{}", done.stdout);
}

#[test]
fn nothing_that_completes_is_a_failure() {
    let done = sarrus(&[
        "compare",
        "models/mcpherson_overconstrained.toml",
        "--t-end",
        "0.05",
        "--repeat",
        "0",
        "--formulations",
        "direct",
    ]);
    assert_eq!(done.code, 1, "{}", done.stdout);
}

#[test]
fn wrong_lists_and_numbers_are_refused_with_a_hint() {
    let wrong = |more: &[&str], parts: &[&str]| {
        let done = compare(more);
        assert_eq!(done.code, 2, "{more:?}: {}", done.stderr);
        assert!(done.stdout.is_empty() && !done.stderr.contains("panicked"), "{more:?}: {}", done.stderr);
        for part in parts {
            assert!(done.stderr.contains(part), "{more:?}: no `{part}` in {}", done.stderr);
        }
    };
    wrong(&["--formulations", "proximla"], &["proximla", "did you mean `proximal`?"]);
    wrong(&["--stabilizations", "baumgarte:alhpa=3"], &["alhpa", "did you mean `alpha`?"]);
    wrong(&["--integrators", "rk4,,rk45"], &["is not a method"]);
    wrong(&["--rtols", "1e-4,0"], &["rtols", "positive"]);
    wrong(&["--wall-limit", "0"], &["wall-limit", "positive"]);
    wrong(&["--t-end", "1"], &[]);
    let done = sarrus(&["compare", MODEL, "--t-end", "-1"]);
    assert!(done.code == 2 && done.stderr.contains("backwards"), "{}", done.stderr);
    let done = sarrus(&["compare", "models/no_such.toml"]);
    assert_eq!(done.code, 2);
}

#[test]
fn an_integrator_that_takes_no_formulation_is_compared_in_one_row() {
    let done = compare(&["--integrators", "staggered"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("comparing: 1 run: 1 integrator that resolves"), "{}", done.stderr);
    assert_eq!(done.stdout.lines().filter(|l| l.contains("completed")).count(), 1, "{}", done.stdout);
    assert!(done.stdout.contains("formulation own, stabilization own"), "{}", done.stdout);
}
