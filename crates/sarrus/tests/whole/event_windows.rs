//! Conditions of events that hold for a small part of a step are met, at the instant at which they begin to hold.

use crate::common::run_by;
use sarrus::prelude::*;

const INTEGRATORS: [(&str, Option<f64>); 4] =
    [("dop853", None), ("radau5", None), ("abm", None), ("rk4", Some(0.01))];

fn run(text: &str, (integrator, step): (&str, Option<f64>)) -> Outcome {
    run_by(text, integrator, step)
}

/// A body at 50 m/s along x for 0.02 s, and an idle spring that events switch.
fn free(when: &str) -> String {
    format!(
        "format = 'sarrus/1'
        gravity = [0, 0, 0]
        run.t_end = 0.02
        output.every = 0.001
        bodies.b = {{ at = [0, 0, 0], mass = 1, inertia = [1, 1, 1] }}
        bodies.idle = {{ at = [0, 0, 5], mass = 1, inertia = [1, 1, 1] }}
        initial.b.velocity = [50, 0, 0]
        forces.push = {{ kind = 'force', body = 'idle', force = [0, 0, 0] }}
        measures.far = 'abs(b.x - 0.53)'
        events.e = {{ when = '{when}', enable = ['push'] }}"
    )
}

#[test]
fn a_condition_that_holds_for_a_moment_is_met_where_it_begins() {
    let half = 2f64.ln().sqrt();
    let cases: [(&str, &[f64]); 6] = [
        ("exp(-((b.x - 0.53)/1e-3)^2) > 0.5", &[0.53 - 1e-3 * half]),
        ("b.x > 0.31 and b.x < 0.3101 or b.x > 0.8 and b.x < 0.80001", &[0.31, 0.8]),
        ("far < 1e-5", &[0.53 - 1e-5]),
        (
            "sin(200*b.x) > 0.9999 and b.x < 0.04",
            &[(0.9999f64).asin() / 200.0, (0.9999f64).asin() / 200.0 + 0.01 * std::f64::consts::PI],
        ),
        ("b.vx > 49 and abs(b.x - 0.7) < 1e-6", &[0.7 - 1e-6]),
        ("floor(1000*b.x) == 613", &[0.613]),
    ];
    for (when, positions) in cases {
        for integrator in INTEGRATORS {
            let outcome = run(&free(when), integrator);
            let times: Vec<f64> = outcome.report.events.iter().map(|event| event.t).collect();
            assert_eq!(times.len(), positions.len(), "{when} {integrator:?}: {times:?}");
            for (t, x) in times.iter().zip(positions) {
                assert!((t - x / 50.0).abs() < 1e-11, "{when} {integrator:?}: {t} for {}", x / 50.0);
            }
            assert!(!outcome.report.notes.iter().any(|note| note.contains("bounded over")), "{when}");
        }
    }
}

/// What never holds takes no step of its own, by however little it fails.
#[test]
fn a_condition_that_never_holds_takes_no_step_of_its_own() {
    for integrator in INTEGRATORS {
        let plain = run(&free("b.x < -1"), integrator).report;
        for when in [
            "exp(-((b.x - 0.53)/1e-3)^2) > 1.000001",
            "abs(b.x - 0.53) < -1e-6",
            "sin(200*b.x) > 1.0001",
            "b.vx < 0",
            "b.vy < 0",
        ] {
            let report = run(&free(when), integrator).report;
            assert!(report.events.is_empty(), "{when} {integrator:?}");
            assert_eq!(report.counts.steps, plain.counts.steps, "{when} {integrator:?}");
            assert_eq!(report.counts.rhs, plain.counts.rhs, "{when} {integrator:?}");
            assert!(!report.notes.iter().any(|note| note.contains("bounded over")), "{when} {integrator:?}");
        }
    }
}

/// The tip of a rotor passes a window of 1e-4 rad once each revolution.
#[test]
fn a_window_on_a_fast_rotor_is_met_each_revolution() {
    let text = "format = 'sarrus/1'
        gravity = [0, 0, 0]
        run = { t_end = 0.1, rtol = 1e-10, atol = 1e-12 }
        output.every = 0.01
        bodies.r = { at = [0, 0, 0], mass = 1, inertia = [1, 1, 1], markers.tip = { on = [0.1, 0, 0] } }
        joints.A = { kind = 'revolute', bodies = ['ground', 'r'], at = [0, 0, 0], axis = [0, 0, 1] }
        forces.push = { kind = 'force', body = 'r', force = [0, 0, 0] }
        initial.A.rate = 300
        events.e = { when = 'hypot(r.tip.x, r.tip.y - 0.1) < 1e-5', enable = ['push'] }";
    for integrator in [("dop853", None), ("radau5", None), ("rk4", Some(1e-4))] {
        let outcome = run(text, integrator);
        let times: Vec<f64> = outcome.report.events.iter().map(|event| event.t).collect();
        // 30 rad: at π/2 and each 2π from there
        assert_eq!(times.len(), 5, "{integrator:?}: {times:?}");
        for (k, t) in times.iter().enumerate() {
            let expected = (0.25 + k as f64) * std::f64::consts::TAU - 1e-4;
            assert!((300.0 * t - expected).abs() < 1e-6, "{integrator:?}: {t}");
        }
    }
}
