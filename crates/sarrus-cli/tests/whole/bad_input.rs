//! Wrong input: each an error with place and hint, exit code 2, never a panic.

use crate::common::{arg, folder, model, sarrus};

/// A pendulum, `{}` standing for what is added or replaced.
fn pendulum(bodies: &str, joints: &str, more: &str) -> String {
    format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\n[bodies]\n{bodies}\n[joints]\n{joints}\n[run]\nt_end = 0.1\n{more}\n"
    )
}

const BAR: &str = "bar = { from = [0, 0], to = [1, 0], mass = 1.0 }";
const PIN: &str = "A = { kind = \"revolute\", bodies = [\"ground\", \"bar\"], at = [0, 0] }";

/// Runs a wrong model and returns what was said.
fn refused(name: &str, text: &str) -> String {
    let path = model(&format!("bad_{name}"), text);
    let done = sarrus(&["run", arg(&path)]);
    assert_eq!(done.code, 2, "{name}: exit {}\n{}\n{}", done.code, done.stdout, done.stderr);
    assert!(!done.stderr.contains("panicked"), "{name}: {}", done.stderr);
    assert!(done.stdout.is_empty(), "{name}: {}", done.stdout);
    done.stderr
}

/// As [`refused`], with a place in the file at `line`, saying every one of `parts`.
fn refused_at(name: &str, text: &str, line: usize, parts: &[&str]) {
    let said = refused(name, text);
    assert!(said.contains(&format!("model.toml:{line}:")), "{name}: not at line {line}:\n{said}");
    for part in parts {
        assert!(said.contains(part), "{name}: `{part}` is missing in\n{said}");
    }
}

#[test]
fn the_pendulum_that_the_others_spoil_is_right() {
    let path = model("bad_none", &pendulum(BAR, PIN, ""));
    let done = sarrus(&["run", arg(&path)]);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn unknown_keys_and_kinds_come_with_a_suggestion() {
    let bar = "bar = { from = [0, 0], to = [1, 0], mas = 1.0 }";
    refused_at("key", &pendulum(bar, PIN, ""), 4, &["`mas`", "did you mean `mass`?"]);
    refused_at("section", &pendulum(BAR, PIN, "[forcess]\n"), 9, &["did you mean `forces`?"]);
    let pin = PIN.replace("revolute", "revolut");
    refused_at("kind", &pendulum(BAR, &pin, ""), 6, &["did you mean `revolute`?"]);
    let pin = PIN.replace("\"bar\"", "\"bra\"");
    refused_at("name", &pendulum(BAR, &pin, ""), 6, &["`bra` does not exist", "did you mean `bar`?"]);
    refused_at("method", &pendulum(BAR, PIN, "integrator = \"dop835\""), 9, &["did you mean `dop853`?"]);
    refused_at(
        "option",
        &pendulum(BAR, PIN, "stabilization = { kind = \"baumgarte\", alhpa = 5 }"),
        9,
        &["alhpa", "alpha"],
    );
}

#[test]
fn wrong_types_and_values_are_refused_where_they_stand() {
    let with = |what: &str| pendulum(&BAR.replace("mass = 1.0", what), PIN, "");
    refused_at("type", &with("mass = [1, 2]"), 4, &["mass"]);
    refused_at("zero_mass", &with("mass = 0"), 4, &["mass"]);
    refused_at("negative_mass", &with("mass = -1"), 4, &["mass"]);
    refused_at("nan", &with("mass = nan"), 4, &["mass"]);
    refused_at("infinite", &with("mass = inf"), 4, &["mass"]);
    refused_at("expression", &with("mass = \"1 +\""), 4, &[]);
    refused_at("unknown_in_expression", &with("mass = \"2*m\""), 4, &["`m`"]);
    refused_at("negative_inertia", &with("mass = 1, inertia = -2"), 4, &["inertia"]);
    refused_at("time", &pendulum(BAR, PIN, "t_start = 1"), 8, &["backwards"]);
    refused_at("tolerance", &pendulum(BAR, PIN, "rtol = -1"), 9, &["rtol"]);
    refused_at("output", &pendulum(BAR, PIN, "[output]\nevery = 0"), 10, &["every"]);
}

#[test]
fn measures_and_columns_are_checked_even_where_nothing_is_kept() {
    let both = |name: &str, more: &str, parts: &[&str]| {
        let path = model(&format!("bad_{name}"), &pendulum(BAR, PIN, more));
        for command in ["run", "check"] {
            let done = sarrus(&[command, arg(&path)]);
            assert_eq!(done.code, 2, "{command} {name}: {}\n{}", done.stdout, done.stderr);
            for part in parts {
                let said = &done.stderr;
                assert!(said.contains(part), "{command} {name}: `{part}` is missing in\n{said}");
            }
        }
    };
    both("measure", "[measures]\ns = \"bra.x\"", &["model.toml:10:", "did you mean `bar.x`?"]);
    both("measure_circle", "[measures]\na = \"b\"\nb = \"a\"", &["model.toml:10:", "a -> b -> a"]);
    both("columns", "[output]\ncolumns = [\"bra.x\"]", &["no column fits `bra.x`", "did you mean `bar.x`?"]);
    both(
        "disabled",
        "[measures]\nm = { kind = \"energy\", bodies = [\"bar\"], enabled = false }",
        &["model.toml:10:", "cannot be disabled", "`if = false`"],
    );
    let events: [(&str, &str, &[&str]); 8] = [
        ("lock", "when = \"A.angle > 0\", lock = [\"B\"]", &["joint `B` does not exist"]),
        ("lock_body", "when = \"A.angle > 0\", lock = [\"bar\"]", &["`bar` is a body, not a joint"]),
        ("no_condition", "when = \"A.angle\", stop = \"\"", &["is no condition", "`A.angle > 0`"]),
        ("no_name", "when = \"A.angel > 0\", stop = \"\"", &["has no `angel`", "`A.angle`"]),
        ("no_action", "when = \"A.angle > 0\"", &["nothing happens", "`lock`"]),
        ("no_when", "stop = \"\"", &["needs `when`"]),
        ("enable", "when = \"t > 1\", enable = [\"bar\"]", &["`bar` is a body", "can be enabled"]),
        ("set", "when = \"t > 1\", set = { A.angle = 1 }", &["no state of a controller", "`ode`"]),
    ];
    for (name, event, parts) in events {
        let parts: Vec<&str> = [&["model.toml:10:"], parts].concat();
        both(name, &format!("[events]\ne = {{ {event} }}"), &parts);
    }
}

#[test]
fn impossible_mechanisms_are_refused() {
    let spatial = |inertia: &str, joint: &str| {
        format!(
            "format = \"sarrus/1\"\n[bodies]\na = {{ mass = 1, inertia = {inertia} }}\n[joints]\nJ = {joint}\n"
        )
    };
    let pin = "{ kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0, 0] }";
    refused_at("triangle", &spatial("[1, 1, 5]", pin), 3, &["inertia"]);
    let no_axis = pin.replace("at = [0, 0, 0]", "at = [0, 0, 0], axis = [0, 0, 0]");
    refused_at("axis", &spatial("[1, 1, 1]", &no_axis), 5, &["axis"]);
    let itself = PIN.replace("\"ground\"", "\"bar\"");
    refused_at("itself", &pendulum(BAR, &itself, ""), 6, &["bar"]);
    let duplicate = format!("{BAR}\n{BAR}");
    refused_at("duplicate", &pendulum(&duplicate, PIN, ""), 5, &[]);
    let namesake = PIN.replace("A =", "bar =");
    refused_at("namesake", &pendulum(BAR, &namesake, ""), 6, &["bar"]);
    refused("no_bodies", "format = \"sarrus/1\"\n");
    refused("no_format", "space = \"planar\"\n");

    // two pins on one bar, 2 m apart on the ground: the bar is 1 m long
    let on = |name: &str, ground: &str, bar: &str| {
        format!("{name} = {{ kind = \"revolute\", bodies = [\"ground\", \"bar\"], on = [{ground}, {bar}] }}")
    };
    let pins = format!("{}\n{}", on("A", "[0, 0]", "[-0.5, 0]"), on("B", "[2, 0]", "[0.5, 0]"));
    let said = refused("apart", &pendulum(BAR, &pins, ""));
    assert!(said.contains("cannot be assembled") && said.contains("joint `B`"), "{said}");
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let dir = folder("bad_files");
    let gone = dir.join("gone.toml");
    for (path, part) in [(&gone, "does not exist"), (&dir, "folder")] {
        let done = sarrus(&["run", arg(path)]);
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
    refused("empty", "");
    refused("syntax", "format = \"sarrus/1\n");
    refused("deep", &format!("format = \"sarrus/1\"\nextra = {}1{}\n", "[".repeat(5000), "]".repeat(5000)));
    refused("deep_tables", &format!("format = \"sarrus/1\"\n[extra{}]\n", ".a".repeat(20_000)));
    let binary = dir.join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0x00, 0x41]).unwrap();
    assert_eq!(sarrus(&["run", arg(&binary)]).code, 2);

    let huge = dir.join("huge.toml");
    std::fs::write(&huge, "# 0123456\n".repeat(10_000_000)).unwrap();
    let done = sarrus(&["run", arg(&huge)]);
    std::fs::remove_file(&huge).unwrap();
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("larger than"), "{}", done.stderr);
}

#[test]
fn wrong_flags_are_refused() {
    for (args, part) in [
        (&["run"][..], "Usage"),
        (&["run", "models/pendulum.toml", "--integrator", "dop835"], "did you mean `dop853`?"),
        (&["run", "models/pendulum.toml", "--integrator", "rk45:sfety=0.5"], "safety"),
        (&["run", "models/pendulum.toml", "--integrator", "rk45:"], "not a method"),
        (&["run", "models/pendulum.toml", "--rtol", "-1"], "rtol"),
        (&["run", "models/pendulum.toml", "--rtol", "nan"], "rtol"),
        (&["run", "models/pendulum.toml", "--step", "0"], "step"),
        (&["run", "models/pendulum.toml", "--t-end", "-3"], "backwards"),
        (&["run", "models/pendulum.toml", "--t-end", "inf"], "t_end"),
        (&["run", "models/pendulum.toml", "--set", "lenght=3"], "length"),
        (&["run", "models/pendulum.toml", "--set", "length"], "NAME=VALUE"),
        (&["run", "models/pendulum.toml", "--set", "length=-3 kg*"], "--set"),
        (&["run", "models/pendulum.toml", "--case", "nothing"], "nothing"),
        (&["check", "models/pendulum.toml", "--out", "x"], "--out"),
        (&["list", "joint"], "joints"),
        (&["fly"], "fly"),
    ] {
        let done = sarrus(args);
        assert_eq!(done.code, 2, "{args:?}: {}\n{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(part), "{args:?}: `{part}` is missing in\n{}", done.stderr);
        assert!(!done.stderr.contains("panicked"), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn direct_is_refused_where_constraints_repeat_each_other() {
    let done = sarrus(&["run", "models/mcpherson_overconstrained.toml", "--formulation", "direct"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("only 26 of the 31 rows") && done.stderr.contains("proximal"),
        "{}",
        done.stderr
    );
}
