//! Narrow features of constraints in positions: a tooth of a cam, a bump of a curve, a kink. Work and momentum are closed forms.

use crate::common::run_by;
use sarrus::prelude::*;
use std::f64::consts::PI;

const INTEGRATORS: [&str; 3] = ["dop853", "rk45", "abm"];

fn last(run: &Outcome, column: &str) -> f64 {
    run.trajectory.last(column).unwrap_or_else(|| panic!("no column {column}"))
}

/// A follower with a damper of 1 N s/m on a shaft that turns with 10 rad/s, over a tooth of 0.01 m around 3.0005 rad.
fn cam(tooth: &str) -> String {
    format!(
        "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\n
         bodies.shaft = {{ at = [0, 0], mass = 2, inertia = 1 }}
         bodies.follower = {{ at = [0, 1], mass = 0.1, inertia = 1 }}
         joints.A = {{ kind = 'revolute', bodies = ['ground', 'shaft'], at = [0, 0] }}
         joints.G = {{ kind = 'prismatic', bodies = ['ground', 'follower'], at = [0, 1], axis = [0, 1], damping = 1 }}
         drivers.d = {{ kind = 'joint', joint = 'A', rate = 10 }}
         constraints.cam = {{ kind = 'expression', zero = '{tooth}' }}"
    )
}

fn tooth(width: f64) -> String {
    cam(&format!("G.position - 0.01*exp(-((A.angle - 3.0005)/{width})^2)"))
}

/// ∫ c f′² ω dθ = c ω h²/w √(π/2).
#[test]
fn a_narrow_tooth_of_a_cam_moves_its_follower() {
    for integrator in INTEGRATORS {
        for width in [0.03, 0.003, 0.0003] {
            let run = run_by(&tooth(width), integrator, None);
            let heat = 10.0 * 1e-4 / width * (PI / 2.0).sqrt();
            let found = last(&run, "energy.dissipated");
            assert!((found - heat).abs() < 1e-3 * heat, "{integrator} {width}: {found} for {heat}");
            assert!(run.report.certificate.passed, "{integrator} {width}: {:?}", run.report.certificate);
        }
    }
}

/// Implicit methods take its multipliers with an order less: where that does not do, their certificate says so.
#[test]
fn a_tooth_that_an_implicit_method_meets_roughly_is_not_certified() {
    for width in [0.03, 0.003] {
        let run = run_by(&tooth(width), "radau5", None);
        let heat = 10.0 * 1e-4 / width * (PI / 2.0).sqrt();
        let off = (last(&run, "energy.dissipated") - heat).abs() / heat;
        assert!(off < 0.02 && (off < 1e-3 || !run.report.certificate.passed), "{width}: {off}");
    }
}

/// The bump is 20 times as high as the bead can climb: on a smooth curve it comes back with its speed.
#[test]
fn a_bead_turns_back_at_a_narrow_bump_of_its_wire() {
    for width in [1e-2, 1e-3, 1e-4] {
        let text = format!(
            "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 1\n
             bodies.b = {{ kind = 'point', at = [0, 0], mass = 1 }}
             initial.b.vx = 1
             constraints.c = {{ kind = 'point_on_curve', body = 'b', implicit = 'y - exp(-((x - 0.50037)/{width})^2)' }}"
        );
        let run = run_by(&text, "dop853", None);
        let v = last(&run, "b.vx");
        assert!((v + 1.0).abs() < 1e-4, "{width}: {v}");
        assert!(last(&run, "b.x") < 0.3, "{width}: {}", last(&run, "b.x"));
    }
}

/// ∫ exp(-((x - c)/w)²) dx = w √π.
#[test]
fn a_narrow_transmission_of_velocities_is_met() {
    for integrator in INTEGRATORS {
        for width in [0.003, 0.0003] {
            let text = format!(
                "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 1
                 bodies.a = {{ at = [0, 0], mass = 1, inertia = 1 }}
                 bodies.b = {{ at = [0, 1], mass = 1, inertia = 1 }}
                 joints.A = {{ kind = 'prismatic', bodies = ['ground', 'a'], at = [0, 0] }}
                 joints.B = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 1] }}
                 constraints.lv = {{ kind = 'linear_velocity', zero = 'B.speed - A.speed*exp(-((A.position - 3.0005)/{width})^2)' }}
                 drivers.d = {{ kind = 'joint', joint = 'A', speed = 10 }}"
            );
            let run = run_by(&text, integrator, None);
            let (found, way) = (last(&run, "B.position"), width * PI.sqrt());
            assert!((found - way).abs() < 1e-3 * way, "{integrator} {width}: {found} for {way}");
        }
    }
}

#[test]
fn a_fixed_step_that_passes_over_a_constraint_is_not_certified() {
    let run = run_by(&tooth(0.003), "rk4", Some(0.01));
    assert!(!run.report.certificate.passed);
    assert!(run.report.notes.iter().any(|note| note.contains("constraint `cam`")), "{:?}", run.report.notes);
    // what it meets it may pass
    let run = run_by(&tooth(0.3), "rk4", Some(1e-3));
    assert!(run.report.certificate.passed, "{:?}", run.report.notes);
}

/// Velocities jump at a kink: the impulse that takes is not there.
#[test]
fn a_kink_of_a_constraint_is_not_certified() {
    let kinked = cam("G.position - 1e-3*max(0, A.angle - 3)");
    let run = run_by(&kinked, "dop853", None);
    assert!(!run.report.certificate.passed);
    assert!(run.report.notes.iter().any(|note| note.contains("kink")), "{:?}", run.report.notes);
    let rounded = cam("G.position - 1e-3*max(0, A.angle - 3)^2");
    let run = run_by(&rounded, "dop853", None);
    assert!(run.report.certificate.passed, "{:?}", run.report.notes);
}
