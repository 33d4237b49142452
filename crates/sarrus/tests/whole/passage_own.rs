//! Singular positions behind integrators that resolve the constraints themselves: implicit and staggered ones.

use sarrus::analysis::{MethodText, RunOverrides};
use sarrus::model::settings::Regularization;
use sarrus::prelude::*;
use std::sync::Arc;

fn load(name: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    load_text(sarrus_zoo::model(name).unwrap(), set)
}

fn load_text(text: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    let set = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn run((model, system): &(Model, Arc<System>), overrides: RunOverrides) -> Outcome {
    simulate(model, system, &Simulate { overrides, record: true }, &mut ()).unwrap()
}

/// An integrator with fixed steps of this size, or with the tolerances of the model.
fn by(text: &str, step: Option<f64>, t_end: f64) -> RunOverrides {
    RunOverrides {
        integrator: Some(text.parse::<MethodText>().unwrap().0),
        step,
        t_end: Some(t_end),
        every: Some(2e-3),
        ..RunOverrides::default()
    }
}

/// A run of the default method, hardly off.
fn reference(case: &(Model, Arc<System>), t_end: f64) -> Outcome {
    let exact = RunOverrides { rtol: Some(1e-11), atol: Some(1e-13), ..by("dop853", None, t_end) };
    run(case, exact)
}

/// Names of columns of reactions.
fn reactions(run: &Outcome) -> Vec<String> {
    let names = run.trajectory.names().iter();
    names.filter(|name| [".fx", ".fy", ".mz"].iter().any(|end| name.ends_with(end))).cloned().collect()
}

/// The largest difference of reactions, as a part of the largest at that instant and one newton.
fn apart(run: &Outcome, reference: &Outcome) -> f64 {
    let names = reactions(reference);
    assert!(names.len() >= 8, "{names:?}");
    let columns = |run: &Outcome| -> Vec<Vec<f64>> {
        names.iter().map(|name| run.trajectory.column(name).unwrap().collect()).collect()
    };
    let (ours, theirs) = (columns(run), columns(reference));
    let mut worst = 0.0_f64;
    for i in 0..theirs[0].len() {
        let largest = theirs.iter().fold(1.0_f64, |m, column| m.max(column[i].abs()));
        for (a, b) in ours.iter().zip(&theirs) {
            let off = (a[i] - b[i]).abs() / largest;
            worst = if off.is_nan() { f64::INFINITY } else { worst.max(off) };
        }
    }
    worst
}

/// The largest reaction.
fn largest(run: &Outcome) -> f64 {
    let columns = reactions(run);
    let values = columns.iter().flat_map(|name| run.trajectory.column(name).unwrap());
    values.fold(0.0, |m: f64, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) })
}

/// Holds what is asked of an integrator: its step, and the errors of instants [s], of the energy and of reactions that it may leave. Methods of
/// order two leave parts of 10⁻⁴ with steps of a millisecond, where bodies turn at 5 rad/s, and Euler's parts of 10⁻².
struct Asked {
    integrator: &'static str,
    step: Option<f64>,
    instant: f64,
    energy: f64,
    reaction: f64,
}

const fn fixed(integrator: &'static str) -> Asked {
    Asked { integrator, step: Some(1e-3), instant: 1e-4, energy: 3e-4, reaction: 1e-2 }
}

const fn chosen(integrator: &'static str) -> Asked {
    Asked { integrator, step: None, instant: 5e-5, energy: 5e-6, reaction: 1e-3 }
}

const ALL: [Asked; 14] = [
    chosen("radau5"),
    chosen("bdf"),
    chosen("generalized_alpha:adaptive=yes"),
    chosen("staggered:adaptive=yes"),
    fixed("generalized_alpha"),
    fixed("hht"),
    fixed("newmark"),
    fixed("trapezoidal"),
    fixed("trapezoidal:constraints=positions"),
    fixed("staggered"),
    fixed("staggered:form=paper"),
    fixed("staggered:form=one_step"),
    fixed("park1987"),
    Asked {
        integrator: "linearly_implicit_euler",
        step: Some(1e-3),
        instant: 5e-3,
        energy: 1e-1,
        reaction: f64::INFINITY,
    },
];

/// A model with so many singular positions in the first 1.4 s, at which so many rows become dependent.
struct Case {
    name: &'static str,
    set: Vec<(&'static str, &'static str)>,
    count: usize,
    losses: usize,
    /// Extent to which a run left its branch.
    off_branch: fn(&Outcome) -> f64,
}

/// On the branch of the parallelogram couplers never turn.
fn couplers(run: &Outcome) -> f64 {
    let names = run.trajectory.names().iter().filter(|n| n.starts_with("bar") && n.ends_with(".angle"));
    let rotates = names.flat_map(|name| run.trajectory.column(name).unwrap());
    rotates.fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Crank and rod of one length stay mirror images.
fn mirrored(run: &Outcome) -> f64 {
    let [crank, rod] = ["crank.angle", "rod.angle"].map(|name| run.trajectory.column(name).unwrap());
    crank.zip(rod).fold(0.0, |m: f64, (a, b)| m.max((a + b).sin().abs()))
}

#[test]
fn every_integrator_passes_on_its_branch_and_tells() {
    let row =
        |n, losses| Case { name: "n_four_bar", set: vec![("n", n)], count: 2, losses, off_branch: couplers };
    let crank = |set, count| Case { name: "slider_crank_equal", set, count, losses: 1, off_branch: mirrored };
    let cases = [
        row("1", 1),
        row("2", 2),
        row("10", 10),
        crank(vec![("tilt", "0"), ("m", "1")], 2),
        crank(Vec::new(), 1),
    ];
    let t_end = 1.4;
    for Case { name, set, count, losses, off_branch } in cases {
        let case = load(name, &set);
        let exact = reference(&case, t_end);
        let bounded = exact.report.singular.iter().all(|s| s.reactions == "bounded");
        assert_eq!(exact.report.singular.len(), count);
        // long rows in short steps take long
        for asked in ALL.iter().filter(|asked| losses <= 2 || !asked.integrator.contains("adaptive")) {
            let run = run(&case, by(asked.integrator, asked.step, t_end));
            let report = &run.report;
            let what =
                format!("{name} {set:?} {}: {} {:?}", asked.integrator, report.reason, report.singular);
            assert_eq!(report.status, Status::Completed, "{what}");
            assert_eq!(report.method.regularize, "jets", "{what}");
            assert_eq!(report.singular.len(), count, "{what}");
            let markers = report.events.iter().filter(|e| e.name == "singular position");
            assert_eq!(markers.count(), count, "{what}");
            for (found, known) in report.singular.iter().zip(&exact.report.singular) {
                assert!((found.t - known.t).abs() < asked.instant, "{what}: {} {}", found.t, known.t);
                assert_eq!((found.outcome, found.rank_losses), ("passed", losses), "{what}");
                assert_eq!(found.reactions, known.reactions, "{what}");
                let sorted = |names: &[String]| {
                    let mut names = names.to_vec();
                    names.sort();
                    names
                };
                assert!(
                    losses > 2 || sorted(&found.elements) == sorted(&known.elements),
                    "{what}: {:?}",
                    known.elements
                );
            }
            let off = off_branch(&run);
            // drift of the methods that do not keep positions
            assert!(off < 1e-4, "{what}: {off:e} off the branch");
            assert!(report.energy.balance_error < asked.energy, "{what}: {:?}", report.energy);
            // where they grow without bound, they do so at an instant that is off as well
            let (most, known) = (largest(&run), largest(&exact));
            assert!(most.is_finite(), "{what}");
            if bounded {
                assert!(most < 1.5 * known, "{what}: {most} {known}");
                let off = apart(&run, &exact);
                assert!(off < asked.reaction, "{what}: reactions are off by {off:e}");
            }
        }
    }
}

/// Fixed steps of which one ends in line, to rounding.
#[test]
fn steps_that_end_on_a_singular_position_pass_it_too() {
    let case = load("n_four_bar", &[("n", "2")]);
    let t_end = 1.0;
    let exact = reference(&case, t_end);
    let line = exact.report.singular[0].t;
    for integrator in ["generalized_alpha", "trapezoidal", "staggered", "park1987"] {
        for beside in [0.0, 1e-9, 1e-6] {
            // without samples, whose reactions are checked too
            let few =
                RunOverrides { every: Some(t_end), ..by(integrator, Some((line + beside) / 700.0), t_end) };
            let run = run(&case, few);
            let report = &run.report;
            let what = format!("{integrator} {beside:e}: {} {:?}", report.reason, report.singular);
            assert_eq!((report.status, report.singular.len()), (Status::Completed, 1), "{what}");
            assert!(couplers(&run) < 1e-4 && report.energy.balance_error < 1e-4, "{what}");
        }
    }
}

/// A singular position at the start itself.
#[test]
fn a_start_in_line_is_left_on_the_branch_of_its_velocities() {
    let text = sarrus_zoo::model("n_four_bar").unwrap();
    let text = text.replace("to = [\"i\", 1]", "to = [\"i + 1\", 0]").replace("[\"i - 1\", 1]", "[\"i\", 0]");
    let text = text
        .replace("at = [\"i\", 1]", "at = [\"i + 1\", 0]")
        .replace("A0.rate = -1", "A0.rate = -5\nA1.rate = -5\nA2.rate = -5");
    let case = load_text(&text, &[]);
    for asked in ALL.iter().filter(|asked| asked.integrator != "linearly_implicit_euler") {
        let run = run(&case, by(asked.integrator, asked.step, 0.3));
        let what = format!("{}: {}", asked.integrator, run.report.reason);
        assert_eq!(run.report.status, Status::Completed, "{what}");
        assert!(couplers(&run) < 1e-4 && run.report.energy.balance_error < asked.energy, "{what}");
    }
}

/// A rod that is longer or shorter than the crank by a millionth: the branches do not cross, and the mechanism turns back or swings over.
#[test]
fn near_misses_take_the_right_branch() {
    for gap in ["1e-8", "1e-6", "-1e-6", "-1e-4"] {
        let case = load("slider_crank_equal", &[("gap", gap)]);
        let exact = RunOverrides {
            rtol: Some(1e-11),
            atol: Some(1e-13),
            regularize: Some(Regularization::Off),
            ..by("dop853", None, 0.5)
        };
        let exact = run(&case, exact);
        assert_eq!(exact.report.status, Status::Completed, "{gap}: {}", exact.report.reason);
        for (integrator, step) in
            [("radau5", None), ("bdf", None), ("generalized_alpha", Some(1e-3)), ("staggered", Some(1e-3))]
        {
            let run = run(&case, by(integrator, step, 0.5));
            let report = &run.report;
            let what = format!("{gap} {integrator}: {} {:?}", report.reason, report.singular);
            assert_eq!(report.status, Status::Completed, "{what}");
            assert_eq!(
                report.singular.iter().map(|s| s.outcome).collect::<Vec<_>>(),
                ["near_miss"],
                "{what}"
            );
            for column in ["crank.angle", "rod.angle", "slider.x"] {
                let [a, b] = [&run, &exact].map(|run| run.trajectory.last(column).unwrap());
                assert!((a - b).abs() < 2e-3, "{what}: {column} {a} {b}");
            }
        }
    }
}

/// The tip led out of reach: straight arms are the end, at x = √2.
#[test]
fn an_arm_led_out_of_reach_comes_to_an_end() {
    let case = load("two_arm_robot", &[("v", "-2")]);
    let reach = (2f64.sqrt() - 2.0 * 0.4203125096583034) / 2.0;
    for (integrator, step) in [
        ("radau5", None),
        ("bdf", None),
        ("generalized_alpha", Some(1e-3)),
        ("linearly_implicit_euler", Some(1e-2)),
        ("staggered", Some(1e-3)),
        ("park1987", Some(1e-3)),
    ] {
        let report = run(&case, by(integrator, step, 0.4)).report;
        assert_eq!(report.status, Status::Failed, "{integrator}");
        assert!((report.failure.unwrap().t - reach).abs() < 1e-6, "{integrator}: {}", report.reason);
        assert!(report.reason.contains("end of its range") && report.reason.contains("joint `elbow`"));
        assert_eq!(report.singular.last().unwrap().outcome, "end_of_range", "{integrator}");
    }
}

/// Where nothing is near, nothing is done: the same steps as without looking.
#[test]
fn ordinary_mechanisms_are_left_to_their_integrator() {
    for name in ["four_bar", "slider_crank", "bennett", "strandbeest"] {
        let case = load(name, &[]);
        for (integrator, step) in
            [("generalized_alpha", Some(2e-3)), ("radau5", None), ("staggered", Some(1e-3))]
        {
            let [looked, off] = [Regularization::Auto, Regularization::Off].map(|kind| {
                let overrides = RunOverrides { regularize: Some(kind), ..by(integrator, step, 0.4) };
                run(&case, overrides).report
            });
            assert_eq!(looked.status, off.status, "{name} {integrator}: {}", looked.reason);
            assert_eq!(off.method.regularize, "false");
            assert!(looked.singular.is_empty(), "{name} {integrator}: {:?}", looked.singular);
            assert_eq!(looked.counts.steps, off.counts.steps, "{name} {integrator}");
            assert_eq!(looked.counts.rhs, off.counts.rhs, "{name} {integrator}");
        }
    }
}

/// Nothing is searched for where that is not wanted.
#[test]
fn without_regularization_nothing_is_told() {
    let case = load("n_four_bar", &[("n", "1")]);
    let overrides =
        RunOverrides { regularize: Some(Regularization::Off), ..by("trapezoidal", Some(1e-3), 1.0) };
    let report = run(&case, overrides).report;
    assert_eq!((report.method.regularize, report.singular.len()), ("false", 0));
    assert!(report.events.is_empty());
}

/// A brake on the pendulum at the slider. With rates of 10⁴ per second explicit steps lead through; with 10⁷ they would be too many: the
/// integrator is left to itself, the report says so, and a failure names the position.
#[test]
fn what_is_stiff_is_left_to_the_integrator() {
    let stiff = |damping: &str| {
        let brake = "brake = { kind = \"spring\", joint = \"hanger\", stiffness = 0, damping = ";
        let text = sarrus_zoo::model("slider_crank_equal").unwrap();
        let text = text.replace("[initial]", &format!("[forces]\n{brake}{damping} }}\n\n[initial]"));
        load_text(&text, &[("pendulum", "true")])
    };
    for (damping, integrator, step) in [
        ("1e3", "radau5", None),
        ("1e3", "generalized_alpha", Some(1e-3)),
        ("1e6", "radau5", None),
        ("1e6", "bdf", None),
    ] {
        let run = run(&stiff(damping), by(integrator, step, 0.6));
        let report = &run.report;
        let what =
            format!("{damping} {integrator}: {} {:?} {:?}", report.reason, report.singular, report.notes);
        let is_left = report.notes.iter().any(|note| note.contains("something is stiff"));
        assert_eq!(is_left, damping == "1e6", "{what}");
        assert!(mirrored(&run) < 1e-6, "{what}: {:e}", mirrored(&run));
        if report.status == Status::Failed {
            assert!(is_left && report.reason.contains("singular position at t = 0.487"), "{what}");
            assert!(report.reason.contains("joint `guide`"), "{what}");
        } else {
            let [singular] = &report.singular[..] else { panic!("{what}") };
            assert!(singular.outcome == "passed" && (singular.t - 0.4872).abs() < 2e-3, "{what}");
        }
    }
}

/// Something happens in the middle of explicit steps, and the integrator continues from there.
#[test]
fn events_near_a_singular_position_happen_when_they_should() {
    let text = sarrus_zoo::model("n_four_bar").unwrap();
    // a hundredth of a radian before the bars are in line, and behind it
    for angle in [0.01, -0.01] {
        let flag = "[controllers]\nflag = { kind = \"ode\", states = { on = 0 }, rates = { on = 0 } }";
        let height = 0.5 * f64::sin(angle);
        let event =
            format!("near = {{ when = \"link0.y < {height}\", set = {{ flag.on = 1 }}, once = true }}");
        let event = format!("{flag}\n\n[events]\n{event}\n\n[run]");
        let case = load_text(&text.replace("[run]", &event), &[("n", "2")]);
        let when = |run: &Outcome| {
            let event = run.report.events.iter().find(|e| e.name == "near");
            event.unwrap_or_else(|| panic!("{:?}", run.report.events)).t
        };
        let known = when(&reference(&case, 1.4));
        for asked in ALL.iter().filter(|asked| !asked.integrator.contains("adaptive")) {
            let run = run(&case, by(asked.integrator, asked.step, 1.4));
            let what =
                format!("{} {angle}: {} {:?}", asked.integrator, run.report.reason, run.report.singular);
            assert_eq!((run.report.status, run.report.singular.len()), (Status::Completed, 2), "{what}");
            assert!((when(&run) - known).abs() < asked.instant, "{what}: {} {known}", when(&run));
            assert!(couplers(&run) < 1e-4, "{what}");
        }
    }
}

/// Steps of a third of a radian and more, that end far from a singular position: it is found between their ends, with no samples there to
/// see it.
#[test]
fn long_steps_do_not_go_over_a_singular_position_unseen() {
    let robot = load("two_arm_robot", &[("g", "9.81")]);
    let row = load("n_four_bar", &[("n", "2")]);
    for (case, integrator, step, t_end, known) in [
        (&row, "trapezoidal", 0.08, 1.6, &[0.714, 1.228][..]),
        (&row, "trapezoidal", 0.1, 1.6, &[0.714, 1.228]),
        (&row, "trapezoidal", 0.12, 1.6, &[0.714, 1.228]),
        (&row, "staggered", 0.1, 1.6, &[0.714, 1.228]),
        (&robot, "generalized_alpha", 0.28, 0.84, &[0.4203]),
        (&robot, "trapezoidal", 0.21, 0.84, &[0.4203]),
        (&robot, "staggered", 0.28, 0.84, &[0.4203]),
    ] {
        let few = RunOverrides { every: Some(t_end), ..by(integrator, Some(step), t_end) };
        let report = run(case, few).report;
        let what = format!("{integrator} {step}: {} {:?}", report.reason, report.singular);
        assert_eq!((report.status, report.singular.len()), (Status::Completed, known.len()), "{what}");
        for (found, known) in report.singular.iter().zip(known) {
            // long steps are off by their own errors
            assert!(found.outcome == "passed" && (found.t - known).abs() < 0.5 * step, "{what}");
        }
    }
}
