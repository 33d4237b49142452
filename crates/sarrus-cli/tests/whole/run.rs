//! `sarrus run`: what it writes, says and answers.

use crate::common::{arg, command, folder, json, model, sarrus};
use std::process::Stdio;

#[test]
fn a_run_writes_trajectory_report_and_model() {
    let dir = folder("run_writes").join("out");
    let done = sarrus(&["run", "models/four_bar.toml", "--t-end", "0.5", "--out", arg(&dir)]);
    assert_eq!(done.code, 0, "{}", done.stderr);

    let csv = std::fs::read_to_string(dir.join("trajectory.csv")).unwrap();
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(names[0], "t");
    for column in [
        "crank.x",
        "crank.angle",
        "crank.rate",
        "A.angle",
        "A.fx",
        "A.tz",
        "energy.balance",
        "violation.position",
    ] {
        assert!(names.contains(&column), "{column} is not among {names:?}");
    }
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 1001);
    assert!(rows.iter().all(|r| r.len() == names.len() && r.iter().all(|x| x.is_finite())));
    assert_eq!((rows[0][0], rows[1000][0]), (0.0, 0.5));
    assert_eq!(rows[1][0], 0.0005);

    let report = json(&std::fs::read_to_string(dir.join("report.json")).unwrap());
    assert_eq!(report["status"], "completed");
    assert_eq!(report["dof"], 1);
    assert_eq!(report["constraints"]["rows"], 8);
    assert_eq!(report["constraints"]["rank"], 8);
    assert_eq!(report["certificate"]["passed"], true);

    // the resolved model is a model, with the same motion
    let again = sarrus(&["run", arg(&dir.join("model.toml")), "--json"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    let again = json(&again.stdout);
    assert_eq!(again["t_end"], 0.5);
    assert_eq!(again["counts"]["steps"], report["counts"]["steps"]);
    assert_eq!(again["energy"]["initial"], report["energy"]["initial"]);

    // and nothing else lies about
    let mut files: Vec<String> =
        std::fs::read_dir(&dir).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["model.toml", "report.html", "report.json", "steps.csv", "trajectory.csv"]);
}

#[test]
fn a_run_names_its_largest_forces_and_writes_what_happens_between_rows() {
    let dir = folder("run_between").join("out");
    let out = arg(&dir).to_string();
    let run = |model: &str, more: &[&str]| {
        let done = sarrus(&[&["run", model, "--out", &out, "--no-html"], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout
    };
    let said = run("models/bouncing_ball.toml", &["--t-end", "2", "--every", "0.5"]);
    let line = said.lines().find(|line| line.contains("largest contact force")).expect("a line");
    let report = json(&std::fs::read_to_string(dir.join("report.json")).unwrap());
    let contact = report["contacts"][0]["name"].as_str().unwrap();
    let peak = &report["peaks"][format!("{contact}.force")];
    assert!(line.contains(&format!("{contact}.force at ")), "{line}");
    assert!(peak["max"].as_f64().unwrap() > 0.0 && peak["t_max"].as_f64().unwrap() > 0.0);

    let csv = std::fs::read_to_string(dir.join("events.csv")).unwrap();
    let trajectory = std::fs::read_to_string(dir.join("trajectory.csv")).unwrap();
    let columns = trajectory.lines().next().unwrap().strip_prefix("t,").unwrap();
    assert_eq!(csv.lines().next(), Some(format!("t,side,what,{columns}").as_str()));
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(rows.len() > 1 && rows.iter().all(|row| row.len() == columns.split(',').count() + 3));
    assert_eq!((rows[0][1], rows[1][1], rows[0][0]), ("before", "after", rows[1][0]));
    // the rows of the trajectory are the regular ones alone
    assert_eq!(trajectory.lines().count(), 6);

    // what an earlier run has left is taken away
    let said = run("models/four_bar.toml", &["--t-end", "0.5"]);
    assert!(said.contains("largest reaction force") && !said.contains("contact force"), "{said}");
    assert!(!dir.join("events.csv").exists());
}

#[test]
fn the_report_has_the_keys_of_the_contract() {
    let done = sarrus(&["run", "models/pendulum.toml", "--t-end", "0.2", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = json(&done.stdout);
    for key in [
        "model",
        "version",
        "method",
        "status",
        "reason",
        "t_end",
        "counts",
        "wall_s",
        "dof",
        "constraints",
        "violation",
        "energy",
        "certificate",
        "events",
    ] {
        assert!(report.get(key).is_some(), "{key}");
    }
    for (part, keys) in [
        ("method", &["formulation", "stabilization", "integrator", "rtol", "atol", "step", "why"][..]),
        ("counts", &["steps", "rejected", "rhs", "newton_iterations", "factorizations"]),
        ("constraints", &["rows", "rank", "redundant", "rank_margin", "per_joint"]),
        ("violation", &["position", "velocity", "acceleration"]),
        ("energy", &["initial", "max_drift", "balance_error"]),
        ("certificate", &["passed", "position", "velocity", "energy"]),
    ] {
        for key in keys {
            assert!(report[part].get(key).is_some(), "{part}.{key}");
        }
    }
    assert!(
        report["violation"]["position"]["max"].is_number()
            && report["violation"]["position"]["rms"].is_number()
    );
    assert!(report["wall_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_summary_names_the_method_and_the_certificate() {
    let done = sarrus(&["run", "models/pendulum.toml", "--t-end", "0.2"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("method: auto -> proximal + projection + dop853 because"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("hint: --out DIR"), "{}", done.stderr);
    assert!(done.stdout.contains("certificate passed"), "{}", done.stdout);
    assert!(!done.stdout.contains('\x1b') && !done.stderr.contains('\x1b'), "colours in a pipe");
}

#[test]
fn flags_choose_the_method() {
    let done = sarrus(&[
        "run",
        "models/pendulum.toml",
        "--t-end",
        "0.1",
        "--json",
        "--formulation",
        "direct",
        "--stabilization",
        "baumgarte:alpha=20,beta=20",
        "--integrator",
        "rk4",
        "--step",
        "1e-3",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = json(&done.stdout);
    assert_eq!(report["method"]["formulation"], "direct");
    assert_eq!(report["method"]["stabilization"], "baumgarte:alpha=20,beta=20");
    assert_eq!(report["method"]["integrator"], "rk4");
    assert_eq!(report["counts"]["steps"], 100);
    assert_eq!(report["method"]["why"].as_array().unwrap().len(), 0);
}

#[test]
fn a_parameter_can_be_set() {
    let steps = |set: &str| {
        let done = sarrus(&["run", "models/chain.toml", "--set", set, "--t-end", "0.05", "--json"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        json(&done.stdout)["size"]["bodies"].clone()
    };
    assert_eq!(steps("n=3"), 3);
    assert_eq!(steps("n=7"), 7);
}

/// A two-bar arm of 2 m whose hand is pulled away at 0.5 m/s: out of reach at t = 0.8 s.
const OUT_OF_REACH: &str = r#"
format = "sarrus/1"
space = "planar"
gravity = [0, 0]
[bodies]
upper = { from = [0, 0], to = [0.8, 0.6], mass = 1.0 }
lower = { from = [0.8, 0.6], to = [1.6, 0], mass = 1.0 }
[joints]
A = { kind = "revolute", bodies = ["ground", "upper"], at = [0, 0] }
B = { kind = "revolute", bodies = ["upper", "lower"], at = [0.8, 0.6] }
[drivers]
hand = { kind = "point", body = "lower", at = [1.6, 0], position = ["1.6 + 0.5*t", 0] }
[run]
t_end = 2.0
"#;

#[test]
fn a_failed_run_keeps_what_it_has() {
    let path = model("run_fails", OUT_OF_REACH);
    let dir = path.with_file_name("out");
    let done = sarrus(&["run", arg(&path), "--out", arg(&dir)]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stderr.contains("error: "), "{}", done.stderr);
    let report = json(&std::fs::read_to_string(dir.join("report.json")).unwrap());
    assert_eq!(report["status"], "failed");
    assert_eq!(report["certificate"]["passed"], false);
    let reached = report["t_end"].as_f64().unwrap();
    assert!((reached - 0.8).abs() < 1e-6, "{reached}");
    assert_eq!(report["reason"], report["failure"]["message"]);
    let element = report["failure"]["element"].as_str().unwrap();
    assert!(["joint `A`", "joint `B`", "driver `hand`"].contains(&element), "{element}");
    assert!(report["failure"]["number"].is_number());
    let rows = std::fs::read_to_string(dir.join("trajectory.csv")).unwrap().lines().count() - 1;
    assert_eq!(rows, 400);
}

/// The root of a negative number is not a number: the body is named.
#[test]
fn a_force_that_is_not_a_number_names_its_body() {
    let wild = "[forces]\nwild = { kind = \"torque\", body = \"upper\", torque = \"sqrt(1 - t)\" }";
    let text = OUT_OF_REACH.split("[drivers]").next().unwrap().to_string() + wild + "\n[run]\nt_end = 2\n";
    let done = sarrus(&["run", arg(&model("run_not_a_number", &text))]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stderr.contains("the force on body `upper` is not a finite number"), "{}", done.stderr);
}

#[test]
fn a_run_can_be_bounded() {
    let text = OUT_OF_REACH.replace("t_end = 2.0", "t_end = 0.5\nmax_steps = 5\nintegrator = \"rk4\"");
    let done = sarrus(&["run", arg(&model("run_bounded", &text)), "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = json(&done.stdout);
    assert_eq!((&report["status"], &report["counts"]["steps"]), (&"stopped".into(), &5.into()));
    assert!(report["reason"].as_str().unwrap().contains("max_steps"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_cleanly() {
    let dir = folder("run_interrupted").join("out");
    let mut child = command(&[
        "run",
        "models/chain.toml",
        "--set",
        "n=200",
        "--t-end",
        "1e5",
        "--every",
        "1000",
        "--out",
        arg(&dir),
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if !kill.is_ok_and(|s| s.success()) {
        child.kill().unwrap();
        panic!("the signal could not be sent");
    }
    let done: crate::common::Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = json(&std::fs::read_to_string(dir.join("report.json")).unwrap());
    assert_eq!(report["status"], "stopped");
}

#[test]
fn results_too_large_for_memory_are_refused_with_advice() {
    let dir = folder("run_too_large").join("out");
    let done = sarrus(&["run", "models/chain.toml", "--set", "n=10", "--every", "1e-9", "--out", arg(&dir)]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("GiB") && done.stderr.contains("output.columns"), "{}", done.stderr);
}

#[test]
fn a_file_in_place_of_the_folder_is_refused_before_the_run() {
    let file = folder("run_out_is_file").join("results");
    std::fs::write(&file, "keep me").unwrap();
    let done = sarrus(&["run", "models/pendulum.toml", "--out", arg(&file)]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("is a file, not a folder") && done.stderr.contains("hint: "),
        "{}",
        done.stderr
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "keep me");
}

#[test]
fn columns_can_be_picked() {
    let dir = folder("run_columns").join("out");
    let args = [
        "run",
        "models/four_bar.toml",
        "--t-end",
        "0.1",
        "--every",
        "0.03",
        "--columns",
        "crank.*",
        "--columns",
        "!*.v?",
        "--columns",
        "!*.a?",
    ];
    let done = sarrus(&[&args[..], &["--out", arg(&dir)]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let csv = std::fs::read_to_string(dir.join("trajectory.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("t,crank.x,crank.y,crank.angle,crank.rate,crank.alpha"));
    let times: Vec<&str> = csv.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(times, ["0.0", "0.03", "0.06", "0.09", "0.1"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let mut child = command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let done: crate::common::Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
}

#[test]
fn the_resolved_file_of_every_shipped_model_moves_the_same_way() {
    let dir = folder("run_resolved");
    for &(name, _) in sarrus_zoo::MODELS {
        let out = dir.join(name);
        // an energy balance over 20 ms of a slow start need not be certified
        let first = sarrus(&[
            "run",
            &format!("models/{name}.toml"),
            "--t-end",
            "0.02",
            "--json",
            "--allow-uncertified",
            "--out",
            arg(&out),
        ]);
        assert_eq!(first.code, 0, "{name}: {}", first.stderr);
        let again = sarrus(&["run", arg(&out.join("model.toml")), "--json", "--allow-uncertified"]);
        assert_eq!(again.code, 0, "{name}: {}", again.stderr);
        let (first, again) = (json(&first.stdout), json(&again.stdout));
        assert_eq!(first["counts"]["steps"], again["counts"]["steps"], "{name}");
        assert_eq!(first["energy"], again["energy"], "{name}");
        assert_eq!(first["violation"]["position"], again["violation"]["position"], "{name}");
    }
}

#[test]
fn advice_on_a_failed_certificate_is_of_use_to_the_integrator() {
    let said = |more: &[&str]| {
        let done = sarrus(&[&["run", "models/double_pendulum.toml", "--t-end", "1"], more].concat());
        assert_eq!(done.code, 3, "{}", done.stderr);
        assert!(done.stderr.contains("run.certify"), "{}", done.stderr);
        done.stderr
    };
    for integrator in ["euler", "staggered"] {
        let fixed = said(&["--integrator", integrator, "--step", "0.02"]);
        assert!(fixed.contains("--step") && !fixed.contains("--rtol"), "{fixed}");
    }
    let chosen = said(&["--integrator", "rk23", "--rtol", "1e-2", "--atol", "1e-2"]);
    assert!(chosen.contains("--rtol") && !chosen.contains("--step"), "{chosen}");
}

#[test]
fn a_step_that_never_gets_anywhere_is_refused() {
    for integrator in ["rk4", "staggered", "park1987"] {
        let step = ["--integrator", integrator, "--step", "1e-300"];
        let done = sarrus(&[&["run", "models/double_pendulum.toml"], &step[..]].concat());
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains("1e-300") && done.stderr.contains("run.step"), "{}", done.stderr);
    }
}
