//! One-sided springs with damping: a slack cable does nothing, and its energy balance closes.

use crate::common::{column, load, outcome, run_by};

/// A mass on a cable of 1 m from the origin, moving away from it along x.
fn on_a_cable(x: f64, vx: f64, law: &str) -> String {
    format!(
        "format = 'sarrus/1'
        space = 'planar'
        gravity = [0, 0]
        run.t_end = 2
        output.every = 0.01
        bodies.b = {{ at = [{x}, 0], mass = 2, inertia = 1 }}
        forces.s = {{ kind = 'spring', bodies = ['ground', 'b'], on = [[0, 0], [0, 0]], rest = 1, {law} }}
        initial.'b.vx' = {vx}"
    )
}

#[test]
fn a_slack_cable_neither_pulls_nor_damps() {
    let text = on_a_cable(0.2, 0.25, "stiffness = 200, damping = 100, only = 'pull'");
    let outcome = run_by(&text, "dop853", None);
    for (t, x) in column(&outcome.trajectory, "t").iter().zip(column(&outcome.trajectory, "b.x")) {
        assert!((x - 0.2 - 0.25 * t).abs() < 1e-12, "{x} at {t}");
    }
}

#[test]
fn the_energy_balance_of_one_sided_dampers_closes() {
    for (law, vx) in [
        ("stiffness = 200, damping = 6, only = 'pull'", 2.0),
        ("stiffness = 2000, damping = 60, only = 'pull'", 2.0),
        ("stiffness = 200, damping = 6, preload = -10, only = 'pull'", 3.0),
        ("stiffness = 200, damping = 6, only = 'push'", 2.0),
        ("damping = 6, only = 'pull'", 2.0),
        ("damping = 6, preload = 1, only = 'pull'", 2.0),
    ] {
        for integrator in ["dop853", "rk45", "radau5"] {
            let outcome = run_by(&on_a_cable(0.2, vx, law), integrator, None);
            let run = &outcome.trajectory;
            let energy = &outcome.report.energy;
            assert!(outcome.report.certificate.passed, "{law} by {integrator}: {energy:?}");
            let sign = if law.contains("pull") { 1.0 } else { -1.0 };
            assert!(column(run, "s.force").iter().all(|T| T * sign >= 0.0), "{law} by {integrator}");
        }
    }
}

#[test]
fn a_taut_cable_damps_as_a_spring_does() {
    // it never becomes slack, and the damping stays below the spring force: a free damped oscillation about 1.5 m
    let text = on_a_cable(1.51, 0.0, "stiffness = 200, damping = 6, only = 'pull'")
        + "\n        forces.f = { kind = 'force', body = 'b', force = [100, 0] }";
    let outcome = outcome(&load(text.trim_start().trim_start_matches("format = 'sarrus/1'\n")));
    let (k, c, m) = (200.0_f64, 6.0, 2.0);
    let (decay, frequency) = (c / (2.0 * m), (k / m - (c / (2.0 * m)).powi(2)).sqrt());
    let run = &outcome.trajectory;
    for (t, x) in column(run, "t").iter().zip(column(run, "b.x")) {
        let (sin, cos) = (frequency * t).sin_cos();
        let expected = 1.5 + 0.01 * (-decay * t).exp() * (cos + decay / frequency * sin);
        assert!((x - expected).abs() < 1e-8, "{x} for {expected} at {t}");
    }
}
