//! Gaps given by expressions are bounded over each step: what is closed for a small part of a step is met.

use crate::common::run_by;
use sarrus::prelude::*;

const SOFT: &str = "law = { kind = 'linear', stiffness = 1e5, damping = 10 }";
const RIGID: &str = "method = 'impulsive', restitution = 0.5";
/// Each with the step of fixed ones.
const INTEGRATORS: [(&str, Option<f64>); 5] = [
    ("dop853", None),
    ("radau5", None),
    ("abm", None),
    ("generalized_alpha", Some(2e-3)),
    ("rk4", Some(0.05)),
];

fn run(text: &str, (integrator, step): (&str, Option<f64>)) -> Outcome {
    run_by(text, integrator, step)
}

/// `G` slides along y, `J` along x with 5 m/s.
fn sliders(gap: &str, contact: &str) -> String {
    format!(
        "format = 'sarrus/1'
        space = 'planar'
        gravity = [0, 0]
        run.t_end = 2
        output.every = 0.05
        bodies.g = {{ at = [0, 0], mass = 1, inertia = 1 }}
        bodies.j = {{ at = [0, 0], mass = 1, inertia = 1 }}
        joints.G = {{ kind = 'prismatic', bodies = ['ground', 'g'], at = [0, 0], axis = [0, 1] }}
        joints.J = {{ kind = 'prismatic', bodies = ['ground', 'j'], at = [0, 0], axis = [1, 0] }}
        initial.J.speed = 5
        tables.line = {{ points = [[0, 0], [4, 0], [4.01, 0.01], [4.02, 0], [12, 0]] }}
        tables.teeth = {{ points = [[0, 0], [0.49, 0], [0.5, 0.003], [0.51, 0], [7, 0]], outside = 'repeat' }}
        contacts.c = {{ gap = '{gap}', {contact} }}"
    )
}

/// A body without forces at 50 m/s along x.
fn free(gap: &str, contact: &str) -> String {
    format!(
        "format = 'sarrus/1'
        gravity = [0, 0, 0]
        run.t_end = 0.02
        output.every = 0.001
        bodies.b = {{ at = [0, 0, 0], mass = 1, inertia = [1, 1, 1] }}
        initial.b.velocity = [50, 0, 0]
        contacts.c = {{ gap = '{gap}', {contact} }}"
    )
}

/// A rotor at 300 rad/s with a marker 0.1 m out, and `G` along z.
fn rotor(gap: &str, contact: &str) -> String {
    format!(
        "format = 'sarrus/1'
        gravity = [0, 0, 0]
        run.t_end = 0.3
        output.every = 0.01
        bodies.r = {{ at = [0, 0, 0], mass = 1, inertia = [1, 1, 1], markers.tip = {{ on = [0.1, 0, 0] }} }}
        bodies.g = {{ at = [0, 0, 1], mass = 1, inertia = [1, 1, 1] }}
        joints.A = {{ kind = 'revolute', bodies = ['ground', 'r'], at = [0, 0, 0], axis = [0, 0, 1] }}
        joints.G = {{ kind = 'prismatic', bodies = ['ground', 'g'], at = [0, 0, 1], axis = [0, 0, 1] }}
        initial.A.rate = 300
        contacts.c = {{ gap = '{gap}', {contact} }}"
    )
}

/// Asserts that each gap closes with each law and integrator.
fn assert_met(model: fn(&str, &str) -> String, gaps: &[&str], integrators: &[(&str, Option<f64>)]) {
    for gap in gaps {
        for contact in [SOFT, RIGID] {
            for &integrator in integrators {
                let outcome = run(&model(gap, contact), integrator);
                let name = format!("{gap} {contact} {integrator:?}");
                assert!(outcome.report.contacts[0].onsets > 0, "{name}: {:?}", outcome.report.contacts);
            }
        }
    }
}

#[test]
fn a_narrow_profile_is_met_by_every_integrator() {
    let gaps = [
        "G.position + 0.001 - 0.01*exp(-((J.position - 3)/0.05)^2)",
        "G.position + 0.001 - 0.01*exp(-((J.position - 3.21)/0.002)^2)",
        "G.position + min(0.001, 0.5*abs(J.position - 1.1) - 1e-3, abs(J.position - 7.77) - 1e-4)",
        "G.position + max(abs(J.position - 4.3) - 0.01, 1e-3 - 2e-3*exp(-((J.position - 4.305)/0.002)^2))",
        "G.position + 0.0019999 - 0.002*sin(200*J.position)",
        "G.position + 0.001 - 0.01*exp(-((t - 1.2345)/0.001)^2)",
        "G.position + 0.001 - line(J.position)",
        "G.position + 0.001 - teeth(J.position)",
        "G.position + 0.001 - 0.002*smoothstep(cos(2*J.position + 0.3), 0.99999, 1)",
    ];
    assert_met(sliders, &gaps, &INTEGRATORS);
}

#[test]
fn a_thin_wall_is_met_by_a_fast_body() {
    let gaps = ["abs(b.x - 0.5) - 1e-3", "abs(b.x - 0.31) - 1e-7", "hypot(b.x - 0.7, b.y) - 1e-5"];
    assert_met(free, &gaps, &INTEGRATORS);
}

#[test]
fn a_narrow_profile_on_a_fast_rotor_is_met() {
    let gaps = [
        "G.position + 0.001 - 0.01*exp(-((A.angle - 44.4)/0.01)^2)",
        "G.position + 0.001 - 0.01*exp(-(sin(A.angle - 0.3)/0.001)^2)",
        "G.position + 0.001 - 0.01*exp(-(hypot(r.tip.x, r.tip.y - 0.1)/0.0005)^2)",
    ];
    let integrators = [("dop853", None), ("radau5", None), ("abm", None), ("rk4", Some(1e-3))];
    assert_met(rotor, &gaps, &integrators);
}

/// The wall is reached at x = 0.499 and leaves half of the speed.
#[test]
fn a_rigid_wall_throws_a_fast_body_back() {
    for integrator in INTEGRATORS {
        let outcome = run(&free("abs(b.x - 0.5) - 1e-3", RIGID), integrator);
        let x = outcome.trajectory.last("b.x").unwrap();
        let expected = 0.499 - 25.0 * (0.02 - 0.499 / 50.0);
        assert!((x - expected).abs() < 1e-9, "{integrator:?}: {x} for {expected}");
        assert!(outcome.report.certificate.passed, "{integrator:?}");
    }
}

/// The bump is 1 mm high where u = √(ln 10) widths are left: G is met at 2u/0.05·0.001·5 m/s.
#[test]
fn a_bump_is_met_at_its_flank() {
    for integrator in INTEGRATORS {
        let text = sliders("G.position + 0.001 - 0.01*exp(-((J.position - 3)/0.05)^2)", RIGID);
        let outcome = run(&text, integrator);
        let (speed, expected) = (outcome.report.contacts[0].fastest_onset, 0.2 * 10f64.ln().sqrt());
        assert!((speed - expected).abs() < 1e-6, "{integrator:?}: {speed} for {expected}");
        assert!(outcome.report.certificate.passed, "{integrator:?}");
    }
}

/// Gaps that stay open, by 1e-6 m where they are narrowest, cost no step: as many are taken as beside a gap that is constant.
#[test]
fn a_gap_that_stays_open_takes_no_step_of_its_own() {
    let gaps = [
        "G.position + 0.001 - 0.000999*exp(-((J.position - 3)/0.05)^2)",
        "G.position + 0.002001 - 0.002*sin(200*J.position)",
        "G.position + abs(J.position - 3) + 1e-6",
        "G.position + 0.010001 - line(J.position)",
    ];
    for contact in [SOFT, RIGID] {
        for integrator in INTEGRATORS {
            let plain = run(&sliders("G.position + 0.001", contact), integrator).report;
            for gap in gaps {
                let report = run(&sliders(gap, contact), integrator).report;
                let name = format!("{gap} {contact} {integrator:?}");
                assert_eq!(report.contacts[0].onsets, 0, "{name}");
                assert_eq!(report.counts.steps, plain.counts.steps, "{name}");
                assert_eq!(report.counts.rhs, plain.counts.rhs, "{name}");
                assert!(report.certificate.passed, "{name}");
            }
        }
    }
}

/// A body that has just rebounded closes the next wall within the same step.
#[test]
fn walls_in_a_row_are_met_one_after_the_other() {
    for integrator in INTEGRATORS {
        let gap = "min(0.5 - b.x, b.x + 0.01)";
        let text = free(gap, "method = 'impulsive', restitution = 1").replace("t_end = 0.02", "t_end = 0.1");
        let outcome = run(&text, integrator);
        // 5 m of way: 0.5 m to the first wall, then 0.51 m from wall to wall
        assert_eq!(outcome.report.contacts[0].onsets, 9, "{integrator:?}");
    }
}
