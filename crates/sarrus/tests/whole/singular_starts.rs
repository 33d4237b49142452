//! Starts, rests and slow passages at singular positions.

use sarrus::analysis::{AssemblyError, RunOverrides, SetupError};
use sarrus::model::settings::{MethodChoice, Regularization};
use sarrus::prelude::*;
use std::sync::Arc;

/// A parallelogram with its cranks at an angle `a0` from the line, unequal masses and tilted gravity.
const PARALLELOGRAM: &str = "
format = 'sarrus/1'
space = 'planar'
gravity = ['g*sin(20 deg)', '-g*cos(20 deg)']
[parameters]
a0 = 0
w0 = 4
g = 9.81
[points]
A = [0, 0]
D = [2, 0]
B = 'polar(1, a0)'
C = 'D + polar(1, a0)'
[bodies]
crank = { from = 'A', to = 'B', mass = 1 }
coupler = { from = 'B', to = 'C', mass = 2 }
rocker = { from = 'D', to = 'C', mass = 3 }
[joints]
A = { kind = 'revolute', bodies = ['ground', 'crank'], at = 'A' }
B = { kind = 'revolute', bodies = ['crank', 'coupler'], at = 'B' }
C = { kind = 'revolute', bodies = ['coupler', 'rocker'], at = 'C' }
D = { kind = 'revolute', bodies = ['ground', 'rocker'], at = 'D' }
[initial]
A.rate = 'w0'
[run]
t_end = 0.5
rtol = 1e-8
atol = 1e-10
";

fn load(text: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    let set = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn run(text: &str, set: &[(&str, &str)], overrides: RunOverrides) -> Outcome {
    let (model, system) = load(text, set);
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{set:?}: {e} {:?}", e.diagnostics()))
}

/// Rates of crank, coupler and rocker at the start.
fn start_rates(text: &str, set: &[(&str, &str)]) -> [f64; 3] {
    let (model, system) = load(text, set);
    let s = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap().state;
    [s.v[2], s.v[5], s.v[8]]
}

/// On the branch of the parallelogram both cranks turn alike and the coupler does not turn, however near to the line it starts. Errors:
/// rounding over the angle where the branch is shown by the position, 10⁻¹⁶ / 10⁻⁷.
#[test]
fn velocities_of_a_start_beside_the_line_are_those_of_its_branch() {
    for a0 in ["1e-7", "-1e-7", "1e-6", "1e-5", "-1e-5", "1e-4", "1e-3", "1e-2", "0.1"] {
        let [crank, coupler, rocker] = start_rates(PARALLELOGRAM, &[("a0", a0)]);
        let error = (crank - 4.0).abs().max(coupler.abs()).max((rocker - 4.0).abs());
        assert!(error < 1e-8, "{a0}: {crank} {coupler} {rocker}");
    }
    for a0 in ["1e-7", "1e-5"] {
        let outcome = run(PARALLELOGRAM, &[("a0", a0)], RunOverrides::default());
        assert!(outcome.report.certificate.passed, "{a0}: {:?}", outcome.report.certificate);
        let angle = outcome.trajectory.column("coupler.angle").unwrap().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(angle < 1e-9, "{a0}: {angle:e}");
    }
}

/// The model pose far off: assembly leads to the line, where plain corrections stall.
#[test]
fn positions_given_beside_the_line_are_closed_sharply() {
    let text = PARALLELOGRAM
        .replace("a0 = 0", "a0 = '60 deg'\nx = 0")
        .replace("[initial]", "[initial]\nA.angle = 'x'");
    for x in ["1e-5", "1e-4", "1e-3"] {
        let [crank, coupler, rocker] = start_rates(&text, &[("x", x)]);
        // either branch goes through the line: θ₂ = θ₁, or θ₂ = -3 θ₁ there
        let off = (rocker - 4.0).abs().min((rocker + 12.0).abs());
        assert!((crank - 4.0).abs() < 1e-6 && off < 0.1, "{x}: {crank} {coupler} {rocker}");
        let (model, system) = load(&text, &[("x", x)]);
        let report = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap().report;
        assert!(report.position_error < 1e-14, "{x}: {:e}", report.position_error);
    }
}

/// In line the cranks may turn alike, or the other three times as fast and the other way: φ² = (θ₂² - θ₁²)/2 with φ = (θ₂ - θ₁)/2.
#[test]
fn a_start_in_line_asks_for_the_branch_and_says_how_to_choose() {
    for a0 in ["0", "1e-12", "1e-9"] {
        let (model, system) = load(PARALLELOGRAM, &[("a0", a0)]);
        let error = simulate(&model, &system, &Simulate::default(), &mut ()).map(|_| ()).unwrap_err();
        let SetupError::Assembly(AssemblyError::Branches { elements, astray: false, example, .. }) = &error
        else {
            panic!("{a0}: {error}")
        };
        let mut elements = elements.clone();
        elements.sort();
        assert_eq!(elements, ["joint `A`", "joint `B`", "joint `C`", "joint `D`"]);
        let example = example.as_ref().unwrap();
        // D turns as the rocker, B by the coupler against the crank, C by the rocker against the coupler
        let expected = [
            "`D.rate = -12` or `D.rate = 4`",
            "`B.rate = -12` or `B.rate = -4`",
            "`C.rate = -4` or `C.rate = 4`",
        ];
        assert!(expected.contains(&example.as_str()), "{a0}: {example}");
    }
    for (rate, coupler) in [("4", 0.0), ("-12", -8.0)] {
        let text = PARALLELOGRAM.replace("[initial]", &format!("[initial]\nD.rate = {rate}"));
        let outcome = run(&text, &[], RunOverrides::default());
        assert!(outcome.report.certificate.passed, "{rate}: {:?}", outcome.report.certificate);
        assert!((start_rates(&text, &[])[1] - coupler).abs() < 1e-9, "{rate}");
        let first = &outcome.report.singular[0];
        assert_eq!((first.outcome, first.t), ("passed", 0.0), "{rate}: {first:?}");
    }
    let text = PARALLELOGRAM.replace("[initial]", "[initial]\nD.rate = 1");
    let (model, system) = load(&text, &[]);
    let error = simulate(&model, &system, &Simulate::default(), &mut ()).map(|_| ()).unwrap_err();
    assert!(matches!(error, SetupError::Assembly(AssemblyError::Branches { astray: true, .. })), "{error}");
}

#[test]
fn a_start_at_rest_in_line_is_told() {
    let report = run(PARALLELOGRAM, &[("w0", "0")], RunOverrides::default()).report;
    let first = &report.singular[0];
    assert_eq!((first.outcome, first.t, first.rank_losses), ("rest", 0.0, 1), "{first:?}");
    assert_eq!(first.elements.len(), 4, "{first:?}");
    assert!(report.notes.iter().any(|n| n.contains("more than one motion")), "{:?}", report.notes);
    assert_eq!(report.events[0].name, "singular position");
    // but not beside it, where accelerations tell
    let report = run(PARALLELOGRAM, &[("w0", "0"), ("a0", "1e-3")], RunOverrides::default()).report;
    assert!(report.singular.iter().all(|s| s.outcome != "rest"), "{:?}", report.singular);
}

/// What was passed before the run began was not passed by it.
#[test]
fn singular_positions_are_told_within_the_run_in_order_and_once() {
    for a0 in ["1e-5", "1e-4", "1e-3", "1e-2"] {
        let singular = run(PARALLELOGRAM, &[("a0", a0)], RunOverrides::default()).report.singular;
        assert!(singular.is_empty(), "{a0}: {singular:?}");
    }
    let overrides = RunOverrides { t_end: Some(4.0), ..RunOverrides::default() };
    let singular = run(PARALLELOGRAM, &[("a0", "1.2"), ("w0", "9")], overrides).report.singular;
    assert!(singular.len() > 3, "{singular:?}");
    for pair in singular.windows(2) {
        assert!(pair[0].t < pair[1].t && pair[0].leave < pair[1].enter, "{pair:?}");
    }
}

/// 10⁻⁴ rad/s and less: the window is one of angle, not of time.
#[test]
fn slow_passages_are_passages() {
    for (w0, a0) in [("1e-4", "-0.5e-4"), ("1e-6", "-0.5e-6")] {
        for (integrator, step) in [("rk4", Some(1e-2)), ("rk4", Some(1e-3)), ("dop853", None)] {
            let choice = MethodChoice { kind: integrator.into(), ..MethodChoice::default() };
            let overrides =
                RunOverrides { integrator: Some(choice), step, t_end: Some(1.0), ..RunOverrides::default() };
            let report = run(PARALLELOGRAM, &[("w0", w0), ("a0", a0), ("g", "0")], overrides).report;
            let what = format!("{w0} {integrator} {step:?}: {:?}", report.singular);
            assert!(report.certificate.passed, "{what} {:?}", report.certificate);
            let [only] = &report.singular[..] else { panic!("{what}") };
            assert!(only.outcome == "passed" && (only.t - 0.5).abs() < 1e-6, "{what}");
        }
    }
}

/// The robot's tip led to the fold, where it stops, turns back or halts on its way: there both branches continue.
#[test]
fn coming_to_rest_in_the_fold_is_no_end_of_range() {
    let text = sarrus_zoo::model("two_arm_robot").unwrap();
    for (motion, rest) in [("x0*(1 - smoothstep(t, 0, 0.4))", 0.4), ("x0*(1-t)^2", 1.0), ("x0*(1-t)^3", 1.0)]
    {
        let text = text.replace("\"x0 - v*t\"", &format!("\"{motion}\""));
        assert!(text.contains(motion), "the model has changed");
        for kind in [Regularization::Auto, Regularization::Amirouche] {
            let overrides = RunOverrides {
                regularize: Some(kind),
                step: Some(1e-2),
                t_end: Some(rest + 0.3),
                ..RunOverrides::default()
            };
            let report = run(&text, &[], overrides).report;
            let what = format!("{motion} {kind:?}: {} {:?}", report.reason, report.singular);
            let last = report.singular.last().unwrap_or_else(|| panic!("{what}"));
            assert!(last.outcome == "rest" && (last.t - rest).abs() < 0.04, "{what}");
            assert!(report.singular.iter().all(|s| s.outcome == "rest"), "{what}");
            assert!(report.notes.iter().any(|n| n.contains("more than one motion")), "{what}");
            let is_failed = report.status == Status::Failed;
            assert_eq!(is_failed, report.reason.contains("came to rest in a singular position"), "{what}");
        }
    }
}

#[test]
fn a_gap_that_counts_as_none_is_noted() {
    let report = run(
        sarrus_zoo::model("slider_crank_equal").unwrap(),
        &[("gap", "1e-10")],
        RunOverrides { t_end: Some(0.5), ..RunOverrides::default() },
    )
    .report;
    assert_eq!(report.singular[0].outcome, "passed");
    assert!(report.notes.iter().any(|n| n.contains("counts as a crossing")), "{:?}", report.notes);
}
