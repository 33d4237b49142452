//! Drivers whose positions jump: no motion follows them, and the run says whose and when.

use sarrus::analysis::{MethodText, RunOverrides};
use sarrus::prelude::*;
use std::sync::Arc;

/// An arm driven to the angle.
fn led(angle: &str, integrator: &str) -> Report {
    let text = format!(
        "format = 'sarrus/1'\nspace = 'planar'\n\
        bodies.arm = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
        joints.pivot = {{ kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }}\n\
        drivers.lead = {{ kind = 'joint', joint = 'pivot', angle = '{angle}' }}\n"
    );
    let model =
        load_str("arm.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let overrides = RunOverrides {
        integrator: Some(integrator.parse::<MethodText>().unwrap().0),
        t_end: Some(1.0),
        step: Some(1e-2),
        ..RunOverrides::default()
    };
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap().report
}

#[test]
fn a_driven_position_that_jumps_ends_the_run_with_driver_and_time() {
    for integrator in ["dop853", "rk4", "generalized_alpha", "staggered"] {
        for (angle, by) in [("if(t < 0.3, t, t + 0.5)", 0.5), ("0.01*(t >= 0.3)", 0.01)] {
            let report = led(angle, integrator);
            let what = format!("{integrator} {angle}: {}", report.reason);
            assert_eq!(report.status, Status::Failed, "{what}");
            let failure = report.failure.unwrap();
            assert_eq!(failure.element.as_deref(), Some("driver `lead`"), "{what}");
            assert!((failure.t - 0.3).abs() < 1e-12 && (report.t_end - 0.3).abs() < 1e-12, "{what}");
            assert!((failure.number.unwrap().abs() - by).abs() < 1e-9, "{what}");
            assert!(what.contains("driver `lead`") && what.contains("t = 0.3"), "{what}");
        }
    }
}

/// A kink is none, and neither is a speed that jumps.
#[test]
fn a_driven_speed_may_jump() {
    for angle in ["if(t < 0.3, 0, t - 0.3)", "abs(t - 0.5)"] {
        let report = led(angle, "dop853");
        assert_eq!(report.status, Status::Completed, "{angle}: {}", report.reason);
    }
}
