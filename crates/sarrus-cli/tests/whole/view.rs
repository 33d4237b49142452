//! `sarrus view`, `plot`, `examples`, and what `run` leaves for them.

use crate::common::{arg, command, folder, json, model, sarrus};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A viewer that runs until it is dropped.
struct Running {
    child: Child,
    /// `127.0.0.1:PORT`
    host: String,
    /// `/TOKEN/`
    path: String,
}

impl Running {
    fn start(args: &[&str]) -> Running {
        let mut child =
            command(args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let url =
            lines.by_ref().find_map(|line| line.ok()?.strip_prefix("view: http://").map(str::to_string));
        // so that the other side can continue talking
        std::thread::spawn(move || lines.for_each(drop));
        let (host, path) = url.as_deref().and_then(|url| url.split_once('/')).expect("an address");
        Running { host: host.into(), path: format!("/{path}"), child }
    }

    fn get(&self, what: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let request = format!("GET {}{what} HTTP/1.0\r\nHost: {}\r\n\r\n", self.path, self.host);
        stream.write_all(request.as_bytes()).expect("it takes requests");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        assert!(answer.starts_with(b"HTTP/1.0 200") || answer.starts_with(b"HTTP/1.1 200"), "{what}");
        answer.split_off(end + 4)
    }

    fn json(&self, what: &str) -> serde_json::Value {
        serde_json::from_slice(&self.get(what)).expect("JSON")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_folder_of_results_can_be_viewed_with_the_numbers_it_has() {
    let dir = folder("view-folder");
    let run = sarrus(&["run", "example:four_bar", "--t-end", "0.2", "--every", "0.01", "--out", arg(&dir)]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let csv = std::fs::read_to_string(dir.join("trajectory.csv")).expect("a trajectory");
    let viewer = Running::start(&["view", arg(&dir), "--no-open"]);
    let manifest = viewer.json("view.json");
    assert_eq!(manifest["runs"][0]["name"], "view-folder");
    let scene = viewer.json("run/0/scene.json");
    assert_eq!(scene["report"]["status"], "completed");
    let frames = viewer.get("run/0/frames.bin");
    // the times stand first, as f64
    let t: Vec<f64> =
        frames[48..48 + 21 * 8].chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let wanted: Vec<f64> =
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(t, wanted);
    let names: Vec<&str> =
        scene["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    // after those of the trajectory what is reported beside it
    let steps = std::fs::read_to_string(dir.join("steps.csv")).expect("steps");
    let extra = steps.lines().next().and_then(|line| line.strip_prefix("t,")).unwrap();
    assert_eq!(format!("t,{}", names.join(",")), format!("{},{extra}", csv.lines().next().unwrap()));
}

#[test]
fn a_run_that_is_viewed_writes_the_same_trajectory() {
    let (plain, seen) = (folder("view-plain"), folder("view-seen"));
    let run = ["run", "example:slider_crank", "--t-end", "0.3", "--out"];
    assert_eq!(sarrus(&[&run[..], &[arg(&plain)]].concat()).code, 0);
    let viewer = Running::start(&[&run[..], &[arg(&seen), "--view", "--no-open"]].concat());
    // the answer ends when the run does; the files come right after
    let frames = viewer.get("run/0/frames.bin");
    assert!(frames.starts_with(b"SRSF") && frames.windows(5).any(|w| w == b"\"end\""));
    let wanted = std::fs::read(plain.join("trajectory.csv")).expect("a trajectory");
    let same = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        std::fs::read(seen.join("trajectory.csv")).is_ok_and(|found| found == wanted)
    });
    assert!(same, "the trajectories differ");
    assert_eq!(viewer.json("view.json")["runs"][0]["live"], false);
}

#[test]
fn a_folder_without_the_columns_that_are_drawn_says_which() {
    let dir = folder("view-subset");
    let run = ["run", "example:pendulum", "--t-end", "0.1", "--columns", "energy.*", "--out", arg(&dir)];
    let done = sarrus(&run);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(dir.join("report.html").exists(), "the page needs no columns");
    let view = sarrus(&["view", arg(&dir), "--no-open"]);
    assert_eq!(view.code, 2);
    assert!(
        view.stderr.contains("have no column `bar.x`") && view.stderr.contains("--columns"),
        "{}",
        view.stderr
    );
}

#[test]
fn a_trajectory_without_samples_is_no_reason_to_panic() {
    let dir = folder("view-no-samples");
    let run = sarrus(&["run", "example:pendulum", "--t-end", "0.1", "--no-html", "--out", arg(&dir)]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let csv = std::fs::read_to_string(dir.join("trajectory.csv")).expect("a trajectory");
    std::fs::write(dir.join("trajectory.csv"), csv.lines().next().expect("names")).expect("a file");
    for out in ["a.glb", "a.html"] {
        let view = sarrus(&["view", arg(&dir), "--out", arg(&dir.join(out))]);
        assert_eq!(view.code, 0, "{}", view.stderr);
    }
    assert_eq!(sarrus(&["plot", arg(&dir), "bar.x"]).code, 0);
}

#[test]
fn what_cannot_be_viewed_is_refused_with_a_hint() {
    let empty = folder("view-empty");
    let view = sarrus(&["view", arg(&empty), "--no-open"]);
    assert!(view.code == 2 && view.stderr.contains("has no trajectory.csv"), "{}", view.stderr);
    assert!(view.stderr.contains("sarrus run --out"), "{}", view.stderr);
    std::fs::write(empty.join("trajectory.csv"), "t,x\n0,zero\n").expect("a file");
    let view = sarrus(&["view", arg(&empty), "--no-open"]);
    assert!(view.code == 2 && view.stderr.contains("line 2: `zero` is not a number"), "{}", view.stderr);
    let view = sarrus(&["view", "no/such/thing", "--no-open"]);
    assert!(view.code == 2 && view.stderr.contains("no/such/thing"), "{}", view.stderr);
    let view = sarrus(&["view", "example:pendulum", "--out", "x.mp4"]);
    assert!(view.code == 2 && view.stderr.contains(".glb"), "{}", view.stderr);
    let bad = model(
        "view-bad",
        "format = 'sarrus/1'\nspace = 'planar'\n[bodies]\na = { from = [0, 0], to = [1, 0], mass = 1 }\n\
                                 [run]\nt_end = 1\n[view]\nfollow = 'b'\n",
    );
    let out = folder("view-bad-out");
    let run = sarrus(&["run", arg(&bad), "--out", arg(&out)]);
    assert!(run.code == 2 && run.stderr.contains("`b` of [view] is no body"), "{}", run.stderr);
}

#[test]
fn the_page_and_the_animation_are_files() {
    let dir = folder("view-files");
    let out = dir.join("results");
    let run = sarrus(&["run", "example:four_bar", "--t-end", "0.2", "--out", arg(&out)]);
    assert!(run.stderr.contains("report.html"), "{}", run.stderr);
    let html = std::fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(html.contains("four_bar") && html.contains("Content-Security-Policy"));
    for reference in ["src=\"http", "href=\"http", "url(http", "import(\"http"] {
        assert!(!html.contains(reference), "{reference}");
    }
    let bare = dir.join("bare");
    let run = sarrus(&["run", "example:four_bar", "--t-end", "0.1", "--no-html", "--out", arg(&bare)]);
    assert!(run.code == 0 && !bare.join("report.html").exists() && bare.join("steps.csv").exists());
    let trajectory = || std::fs::read(bare.join("trajectory.csv")).expect("a trajectory");
    let before = trajectory();
    let run = sarrus(&["run", "example:four_bar", "--t-end", "0.1", "--bare", "--out", arg(&bare)]);
    assert!(run.code == 0 && !bare.join("steps.csv").exists() && trajectory() == before);
    let run = sarrus(&["run", "example:four_bar", "--bare"]);
    assert!(run.code == 2 && run.stderr.contains("--out"), "{}", run.stderr);

    for (from, to) in [("results", "a.glb"), ("results", "a.html")] {
        let to = dir.join(to);
        let view = sarrus(&["view", arg(&dir.join(from)), "--out", arg(&to)]);
        assert_eq!(view.code, 0, "{}", view.stderr);
        assert!(std::fs::metadata(&to).expect("a file").len() > 1000);
    }
    assert!(std::fs::read(dir.join("a.glb")).expect("a file").starts_with(b"glTF\x02\0\0\0"));
    let glb = dir.join("b.glb");
    let run = sarrus(&["run", "example:pendulum", "--t-end", "0.1", "--out", arg(&glb)]);
    assert!(run.code == 0 && glb.is_file(), "{}", run.stderr);
    let both = sarrus(&["view", arg(&out), arg(&bare), "--out", arg(&dir.join("both.html"))]);
    assert_eq!(both.code, 0, "{}", both.stderr);
}

/// A tonne that hangs at rest pulls with 9.81 kN: the summary and plots say so, files stay in SI.
#[test]
fn summaries_and_plots_have_the_units_of_the_view() {
    let hanging = "format = 'sarrus/1'\nspace = 'planar'\n\
        bodies.a = { from = [0, 0], to = [0, -1], mass = 1000 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }\n\
        run.t_end = 0.1\n";
    let plain = model("units_plain", hanging);
    let shown = model(
        "units_shown",
        &format!("{hanging}view.units = {{ force = 'kN', length = 'mm', energy = 'kJ' }}\n"),
    );
    let (out, own) = (folder("units_plain_out"), folder("units_shown_out"));
    let run = |file: &std::path::Path, out: &std::path::Path| {
        let done = sarrus(&["run", arg(file), "--no-html", "--out", arg(out)]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout
    };
    let (before, after) = (run(&plain, &out), run(&shown, &own));
    assert!(before.contains("9810 N, A.fy"), "{before}");
    assert!(after.contains("9.810 kN, A.fy") && after.contains(" kJ at the start"), "{after}");
    let file = |dir: &std::path::Path, name| std::fs::read_to_string(dir.join(name)).expect("a file");
    assert_eq!(file(&out, "trajectory.csv"), file(&own, "trajectory.csv"));
    assert_eq!(json(&file(&out, "report.json"))["peaks"], json(&file(&own, "report.json"))["peaks"]);
    assert_eq!(json(&file(&own, "report.json"))["units"]["A.fy"], "N");

    let plot = |dir: &std::path::Path| sarrus(&["plot", arg(dir), "A.fy", "a.y"]).stdout;
    assert!(plot(&out).contains("A.fy (N)"), "{}", plot(&out));
    assert!(plot(&own).contains("A.fy (kN)") && plot(&own).contains("a.y (mm)"), "{}", plot(&own));
}

#[test]
fn columns_are_drawn_as_svg_png_and_letters() {
    let dir = folder("plot");
    let run = sarrus(&["run", "example:four_bar", "--t-end", "0.2", "--no-html", "--out", arg(&dir)]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (svg, png) = (dir.join("a.svg"), dir.join("a.png"));
    assert_eq!(sarrus(&["plot", arg(&dir), "crank.*", "-o", arg(&svg)]).code, 0);
    let text = std::fs::read_to_string(&svg).expect("a figure");
    for word in ["crank.vx", "time (s)", "length (m)", "angle (rad)"] {
        assert!(text.contains(word), "{word}");
    }
    assert_eq!(sarrus(&["plot", arg(&dir), "coupler.y", "--against", "coupler.x", "-o", arg(&png)]).code, 0);
    assert!(std::fs::read(&png).expect("a figure").starts_with(b"\x89PNG"));
    let letters = sarrus(&["plot", arg(&dir), "A.angle", "A.fx"]);
    assert!(
        letters.stdout.contains("A.angle (rad)") && letters.stdout.contains("A.fx (N)"),
        "{}",
        letters.stdout
    );
    assert!(letters.stdout.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)));

    let wrong = sarrus(&["plot", arg(&dir), "crank.angel"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("did you mean `crank.angle`?"), "{}", wrong.stderr);
    let wrong = sarrus(&["plot", arg(&dir), "A.fx", "--against", "A.fz"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("no column fits `A.fz`"), "{}", wrong.stderr);
    let wrong = sarrus(&["plot", arg(&dir), "A.fx", "-o", arg(&dir.join("a.pdf"))]);
    assert!(wrong.code == 2 && wrong.stderr.contains(".svg or .png"), "{}", wrong.stderr);
}

#[test]
fn every_example_can_be_named_wherever_a_model_is_taken() {
    let list = sarrus(&["examples"]);
    for (name, _) in sarrus_zoo::MODELS {
        assert!(list.stdout.contains(name), "{name}");
    }
    assert_eq!(sarrus(&["check", "example:sarrus"]).code, 0);
    assert_eq!(sarrus(&["modes", "example:double_pendulum"]).code, 0);
    assert_eq!(sarrus(&["run", "example:n_four_bar", "--set", "n=3", "--t-end", "0.01"]).code, 0);
    let wrong = sarrus(&["run", "example:strandbest"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("did you mean `strandbeest`?"), "{}", wrong.stderr);
}

#[test]
fn the_gallery_is_one_page_with_all_pictures() {
    let file = folder("examples-html").join("gallery.html");
    let done = sarrus(&["examples", "--html", arg(&file)]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let html = std::fs::read_to_string(&file).expect("a page");
    assert_eq!(html.matches("<img ").count(), sarrus_zoo::MODELS.len());
    assert!(html.contains("Content-Security-Policy"));
    let wrong = sarrus(&["examples", "--html", arg(&file.join("no/such/folder"))]);
    assert!(wrong.code == 2 && wrong.stderr.contains("cannot write"), "{}", wrong.stderr);
}

#[test]
fn an_example_is_copied_but_never_over_a_file() {
    let dir = folder("examples-copy");
    let copy = || {
        let done = command(&["examples", "--copy", "pendulum"]).current_dir(&dir).output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    assert_eq!(copy().0, Some(0));
    let text = std::fs::read_to_string(dir.join("pendulum.toml")).expect("a copy");
    assert_eq!(Some(text.as_str()), sarrus_zoo::model("pendulum"));
    let (code, talk) = copy();
    assert!(code == Some(2) && talk.contains("--to FILE"), "{talk}");
}

#[test]
fn a_surface_from_a_file_goes_along_with_the_results() {
    let text = "format = 'sarrus/1'\nspace = 'spatial'\n[bodies]\n\
                a = { mass = 1, inertia = [1, 1, 1], shape = { kind = 'mesh', file = 't.stl', role = 'visual' } }\n[run]\nt_end = 0.1\n";
    let file = model("view-stl", text);
    let stl = "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid t\n";
    std::fs::write(file.with_file_name("t.stl"), stl).expect("a file");
    let out = folder("view-stl-out");
    let run = sarrus(&["run", arg(&file), "--out", arg(&out)]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(out.join("t.stl")).expect("a copy"), stl);
    let view = sarrus(&["view", arg(&out), "--out", arg(&out.join("a.glb"))]);
    assert_eq!(view.code, 0, "{}", view.stderr);
}

#[test]
fn contacts_and_steps_stand_beside_the_trajectory() {
    let dir = folder("view-contacts");
    let run = |model: &str, more: &[&str]| {
        let run = ["run", model, "--t-end", "0.1", "--every", "0.002", "--out", arg(&dir)];
        let done = sarrus(&[&run[..], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stderr
    };
    let talk = run("example:pile", &["--no-html"]);
    assert!(talk.contains("steps.csv") && talk.contains("contacts.csv"), "{talk}");
    let csv = |name: &str| std::fs::read_to_string(dir.join(name)).expect("a file");
    let (contacts, trajectory) = (csv("contacts.csv"), csv("trajectory.csv"));
    assert_eq!(contacts.lines().next(), Some("sample,t,contact,x,y,z,fx,fy,fz,normal"));
    // each place belongs to a row of the trajectory, and is what that row says of its contact
    let rows: Vec<Vec<&str>> = trajectory.lines().map(|line| line.split(',').collect()).collect();
    let force = rows[0].iter().position(|name| *name == "touch.force").expect("a column");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let mut borne = vec![0.0; rows.len() - 1];
    for line in contacts.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let sample = fields[0].parse::<usize>().expect("a number");
        assert_eq!((number(fields[1]), fields[2]), (number(rows[1 + sample][0]), "touch"));
        borne[sample] += number(fields[9]);
    }
    for (row, borne) in rows[1..].iter().zip(&borne) {
        assert!((number(row[force]) - borne).abs() <= 1e-12 * borne, "{borne} at t = {}", row[0]);
    }
    assert!(borne.iter().filter(|borne| **borne > 0.0).count() > 10);
    assert_eq!(csv("steps.csv").lines().next(), Some("t,run.step"));
    assert_eq!(csv("steps.csv").lines().count(), rows.len());

    // the viewer reads them back
    let viewer = Running::start(&["view", arg(&dir), "--no-open"]);
    let frames = viewer.get("run/0/frames.bin");
    assert!(frames.windows(4).any(|w| w == b"CONT"));
    let scene = viewer.json("run/0/scene.json");
    assert_eq!(scene["contacts"][0]["name"], "touch");
    assert_eq!(
        scene["columns"].as_array().and_then(|c| c.last()).map(|c| &c["name"]),
        Some(&"run.step".into())
    );
    let plot = sarrus(&["plot", arg(&dir), "run.step"]);
    assert!(plot.stdout.contains("run.step (s)"), "{}", plot.stdout);

    // those of another run do not stay
    run("example:four_bar", &[]);
    assert!(!dir.join("contacts.csv").exists());
    assert!(csv("steps.csv").starts_with("t,run.step,run.sigma,load.motor.x,load.motor.y,load.motor.z\n"));
}

#[test]
fn files_that_another_run_left_are_not_taken_for_this_one() {
    let (old, new) = (folder("view-old"), folder("view-new"));
    for (dir, every) in [(&old, "0.002"), (&new, "0.003")] {
        let run = ["run", "example:pile", "--t-end", "0.06", "--every", every, "--out", arg(dir)];
        assert_eq!(sarrus(&run).code, 0);
    }
    for name in ["steps.csv", "contacts.csv"] {
        std::fs::copy(old.join(name), new.join(name)).expect("a copy");
    }
    let view = sarrus(&["view", arg(&new), "--out", arg(&new.join("a.html"))]);
    assert_eq!(view.code, 0, "{}", view.stderr);
    assert_eq!(sarrus(&["plot", arg(&new), "run.step"]).code, 2, "it is not of this run");
    std::fs::write(new.join("contacts.csv"), "x,y\n").expect("a file");
    let view = sarrus(&["view", arg(&new), "--no-open"]);
    assert!(view.code == 2 && view.stderr.contains("sample,t,contact"), "{}", view.stderr);
}

#[test]
fn a_browser_opens_only_for_a_run_that_can_begin() {
    // a bar that is too short to reach both hinges: the model is good, its assembly is not
    let text = "format = 'sarrus/1'\nspace = 'planar'\n[bodies]\na = { from = [0, 0], to = [1, 0], mass = 1 }\n[joints]\n\
                A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }\n\
                B = { kind = 'revolute', bodies = ['ground', 'a'], on = [[3, 0], [1, 0]] }\n[run]\nt_end = 1\n";
    let file = model("view-apart", text);
    for args in [&["run", arg(&file), "--view"][..], &["view", arg(&file)]] {
        let done = sarrus(args);
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(
            !done.stderr.contains("http://") && done.stderr.contains("cannot be assembled"),
            "{}",
            done.stderr
        );
    }
}
