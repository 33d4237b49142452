//! Stiff mechanisms with known answers, by the methods that are made for them.

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use sarrus_zoo::problem;
use std::sync::Arc;

/// The end of a run of the case `name` to `t_end`: how far the named columns are off, and the steps taken.
fn end(name: &str, integrator: &str, rtol: f64, t_end: f64, known: &[(&str, f64)]) -> (Vec<f64>, u64) {
    let case = problem(name).unwrap();
    let model =
        load_str(name, case.model, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let overrides = RunOverrides {
        integrator: Some(integrator.parse::<MethodText>().unwrap().0),
        rtol: Some(rtol),
        atol: Some(1e-2 * rtol),
        t_end: Some(t_end),
        every: Some(t_end),
        ..RunOverrides::default()
    };
    let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
    assert_eq!(run.report.status, Status::Completed, "{name}, {integrator}: {}", run.report.reason);
    let retained = &run.report.certificate;
    assert!(retained.position.passed && retained.velocity.passed, "{name}, {integrator}: {retained:?}");
    // tolerances are relative to what is larger than one
    let error = |column: &str, value: f64| {
        (run.trajectory.last(column).unwrap() - value).abs() / value.abs().max(1.0)
    };
    let off = known.iter().map(|(column, value)| error(column, *value));
    (off.collect(), run.report.counts.steps)
}

/// Heights \[m\] after 10 s and rate of the shaft \[rad/s\], from `crates/sarrus-zoo/reference/governor.py`.
const GOVERNOR: [(&str, f64); 3] =
    [("sleeve.z", 0.6196229170613313), ("ball1.z", 0.6197434184056098), ("bearing.rate", 5.548203622655087)];

/// Errors add up over ten swings: a thousand tolerances for backward differentiation, whose formulas damp, a hundred for Radau.
#[test]
fn the_governor_swings_ten_times_and_ends_where_it_must() {
    for (integrator, rtol, tolerance) in [("radau5", 1e-6, 1e-6), ("bdf", 1e-7, 1e-4)] {
        let (off, steps) = end("governor", integrator, rtol, 10.0, &GOVERNOR);
        println!("{integrator} at {rtol:e}: {off:?}, {steps} steps");
        assert!(off.iter().all(|x| *x <= tolerance), "{integrator}: {off:?}");
    }
}

/// Stability holds an explicit method to steps of about 6/8117 s on the governor's fast mode, however loose the tolerance.
#[test]
fn implicit_methods_step_over_what_explicit_ones_must_follow() {
    let known = [("sleeve.z", 0.5014209223795654)];
    let (_, explicit) = end("governor", "dop853", 1e-4, 1.0, &known);
    for integrator in ["radau5", "bdf"] {
        let (off, implicit) = end("governor", integrator, 1e-5, 1.0, &known);
        assert!(off[0] < 1e-3, "{integrator}: {off:?}");
        assert!(4 * implicit < explicit, "{integrator}: {implicit} steps, dop853 {explicit}");
    }
}

#[test]
fn andrews_mechanism_is_solved_by_stiff_methods() {
    let case = problem("andrews").unwrap();
    let known: Vec<(&str, f64)> = case
        .references
        .iter()
        .filter(|r| r.columns[0].ends_with(".angle"))
        .map(|r| (r.columns[0], r.values[0]))
        .collect();
    assert_eq!(known.len(), 7);
    // the mechanism turns 16 rad and multiplies errors by as much; Radau's are of its embedded formula, and far smaller
    for (integrator, rtol, tolerance) in [("radau5", 1e-6, 1e-5), ("bdf", 1e-8, 1e-5)] {
        let (off, steps) = end("andrews", integrator, rtol, case.t_end, &known);
        println!("{integrator} at {rtol:e}: {off:?}, {steps} steps");
        assert!(off.iter().all(|x| *x <= tolerance), "{integrator}: {off:?}");
    }
}
