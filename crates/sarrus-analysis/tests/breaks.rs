//! Drivers and forces that begin, end or jump at a time: no step goes over it.

use sarrus_analysis::{Outcome, RunOverrides, Simulate, Status, simulate};
use sarrus_io::{LoadOptions, load_str};
use sarrus_system::compile;
use std::sync::Arc;

/// A bar on a pin without weight: its moment of inertia about the pin is 2·1.5²/3 = 1.5 kg m².
const BAR: &str = r#"
format = "sarrus/1"
space = "planar"
gravity = [0, 0]
[bodies]
bar = { from = [0, 0], to = [1.5, 0], mass = 2.0 }
[joints]
A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
[run]
t_end = 10.0
rtol = 1e-9
atol = 1e-11
"#;

fn run(more: &str, overrides: RunOverrides) -> Outcome {
    let text = format!("{BAR}{more}\n");
    let model = load_str("test.toml", &text, &LoadOptions::default()).unwrap();
    let system = Arc::new(compile(&model).unwrap());
    let out = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ());
    out.unwrap_or_else(|e| panic!("{e}"))
}

/// The last value of a column of a run that passes.
fn last(more: &str, column: &str) -> f64 {
    let out = run(more, RunOverrides::default());
    assert!(out.report.certificate.passed, "{more}: {:?}", out.report.certificate);
    assert_eq!(out.report.t_end, 10.0);
    assert_eq!(out.report.counts.samples, out.trajectory.len() as u64);
    out.trajectory.last(column).unwrap()
}

fn driven(rate: &str) -> f64 {
    last(&format!("[drivers]\nd = {{ kind = 'joint', joint = 'A', rate = '{rate}' }}"), "A.angle")
}

fn pushed(torque: &str) -> f64 {
    last(&format!("[forces]\nf = {{ kind = 'torque', body = 'bar', torque = '{torque}' }}"), "A.rate")
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} for {expected}");
}

#[test]
fn a_late_move_is_made() {
    near(driven("smoothstep(t, 5, 5.2) - smoothstep(t, 5.5, 5.7)"), 0.5, 1e-6);
    near(driven("max(t - 9.9, 0)"), 0.005, 1e-9);

    // also at a loose tolerance
    let rate = "smoothstep(t, 5, 5.2) - smoothstep(t, 5.5, 5.7)";
    let loose = RunOverrides { rtol: Some(1e-6), ..RunOverrides::default() };
    let out = run(&format!("[drivers]\nd = {{ kind = 'joint', joint = 'A', rate = '{rate}' }}"), loose);
    near(out.trajectory.last("A.angle").unwrap(), 0.5, 1e-6);
}

#[test]
fn a_rate_that_jumps_is_followed() {
    near(driven("if(t < 1, 1, 0)"), 1.0, 1e-9);
    near(driven("if(t <= 1, 1, 0)"), 1.0, 1e-9);
    near(driven("if(t > 9, 2, 1)"), 11.0, 1e-9);
    near(driven("sign(t - 4)"), 2.0, 1e-9);
}

#[test]
fn late_torques_leave_their_impulse() {
    near(pushed("pulse(t, 5, 0.01)*100"), 1.0 / 1.5, 1e-9);
    near(pushed("pulse(t % 2, 0.5, 0.001)*100"), 0.5 / 1.5, 1e-9);
    near(pushed("if(t < 1, 1, 0)"), 1.0 / 1.5, 1e-9);
    near(pushed("step(t, 7, 0, 7.01, 1) - step(t, 8, 0, 8.01, 1)"), 1.0 / 1.5, 1e-7);
}

#[test]
fn tables_and_measures_of_time_break_too() {
    let table = "[tables]\np = { points = [[7, 0], [7.01, 100], [7.02, 0]] }\n";
    let torque =
        |f: &str| format!("{table}[forces]\nf = {{ kind = 'torque', body = 'bar', torque = '{f}' }}");
    near(last(&torque("p(t)"), "A.rate"), 1.0 / 1.5, 1e-9);
    let measure = format!("{}\n[measures]\nlate = 't - 1'", torque("p(late)"));
    near(last(&measure, "A.rate"), 1.0 / 1.5, 1e-9);
}

/// Samples at a break stay, with the values behind it.
#[test]
fn samples_at_breaks_stay() {
    let overrides = RunOverrides { every: Some(0.5), ..RunOverrides::default() };
    let force = |f: &str| {
        let more = format!("[forces]\nf = {{ kind = 'torque', body = 'bar', torque = '{f}' }}");
        run(&more, overrides.clone())
    };
    for torque in ["if(t < 1, 1, 0)", "if(t <= 1, 1, 0)", "sign(t - 1)", "sign(t)", "t"] {
        let out = force(torque);
        let times: Vec<f64> = out.trajectory.column("t").unwrap().collect();
        assert_eq!(times, (0..=20).map(|k| 0.5 * f64::from(k)).collect::<Vec<_>>(), "{torque}");
    }
}

#[test]
fn fixed_steps_end_at_breaks() {
    let force = "f = { kind = 'torque', body = 'bar', torque = 'pulse(t, 5, 0.001)*1000' }";
    let out = run(&format!("integrator = 'rk4'\n[forces]\n{force}"), RunOverrides::default());
    near(out.trajectory.last("A.rate").unwrap(), 1.0 / 1.5, 1e-8);
    assert!((1000..=1005).contains(&out.report.counts.steps), "{}", out.report.counts.steps);
}

#[test]
fn a_position_that_jumps_is_not_certified() {
    let out = run(
        "[drivers]\nd = { kind = 'joint', joint = 'A', angle = 'if(t < 1, 0, 1)' }",
        RunOverrides::default(),
    );
    assert!(out.report.status == Status::Failed || !out.report.certificate.passed);
}
