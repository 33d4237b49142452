//! Estimated errors of columns against those to closed forms.

use sarrus::prelude::*;

/// A mass on a spring at 20 rad/s that starts at 2 m/s: x = 0.1 sin 20 t. `more` is put before `[run]`, `run` into it.
fn spring(more: &str, run: &str) -> Outcome {
    let text = format!(
        "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
         joints.s = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0], stiffness = 400 }}\n\
         initial.s.speed = 2\n{more}\n[run]\nt_end = 2\n{run}\n"
    );
    sarrus::run_str("spring.toml", &text, &Simulate::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The largest error of `b.x` over the rows, and its estimate.
fn errors(outcome: &Outcome) -> [f64; 2] {
    let column = |name| outcome.trajectory.column(name).expect("it is recorded");
    let off = column("t").zip(column("b.x")).map(|(t, x)| (x - 0.1 * (20.0 * t).sin()).abs());
    let accuracy = outcome.report.certificate.accuracy.as_ref().expect("it is estimated");
    [off.fold(0.0, f64::max), accuracy.columns["b.x"]]
}

const METHODS: [&str; 5] = [
    "integrator = 'dop853'\nrtol = 1e-6",
    "integrator = 'rk45'\nrtol = 1e-6",
    "integrator = 'radau5'\nrtol = 1e-6",
    "integrator = 'rk4'\nstep = 0.01",
    "integrator = 'trapezoidal'\nstep = 1e-3",
];

#[test]
fn the_full_estimate_is_the_error_of_the_run() {
    for method in METHODS {
        let [off, estimate] = errors(&spring("", &format!("{method}\ncertify.level = 'full'")));
        assert!((0.5..2.0).contains(&(estimate / off)), "{method}: {estimate:e} for {off:e}");
    }
}

#[test]
fn the_standard_estimate_is_not_below_the_error() {
    for method in METHODS {
        let [off, estimate] = errors(&spring("", method));
        assert!(estimate > 0.8 * off, "{method}: {estimate:e} for {off:e}");
    }
}

/// The phase of the trapezoidal rule lags by (ωh)²/12 of the angle: 0.13 rad in 40 rad. A companion with twice the step is cut at the same
/// instants.
#[test]
fn samples_that_cut_fixed_steps_hide_no_error() {
    let sampled = "controllers.c = { kind = 'sampled', period = 0.01, outputs = { u = '0*b.x' } }\n\
        forces.f = { kind = 'actuator', joint = 's', force = 'c.u' }";
    for level in ["standard", "full"] {
        for step in [0.01, 0.02] {
            let run = format!("integrator = 'trapezoidal'\nstep = {step}\ncertify.level = '{level}'");
            let outcome = spring(sampled, &run);
            let [off, estimate] = errors(&outcome);
            assert!(off > 0.01 && estimate > 0.5 * off, "{run}: {estimate:e} for {off:e}");
            assert!(!outcome.report.certificate.passed, "{run}");
        }
    }
}

#[test]
fn basic_certification_leaves_the_accuracy_out() {
    assert!(spring("", "certify.level = 'basic'").report.certificate.accuracy.is_none());
}

/// The impact is at t = 1, and a row: one run has it before the row, the other behind it.
#[test]
fn a_row_at_an_impact_is_no_error() {
    for (t_end, method) in [(2.0, "impulsive"), (2.001, "impulsive")] {
        let text = format!(
            "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = {t_end}\nground.shape = {{ kind = 'half_space' }}
             bodies.b = {{ at = [0, 1.1], mass = 1, shape = {{ kind = 'disc', radius = 0.1 }} }}
             contacts.c = {{ between = ['b', 'ground'], method = '{method}', restitution = 0.5 }}
             initial.b.vy = -1"
        );
        let accuracy = sarrus::run_str("jump.toml", &text, &Simulate::default())
            .unwrap()
            .report
            .certificate
            .accuracy
            .unwrap();
        assert!(accuracy.item.passed && accuracy.item.value < 1e-6, "{t_end}: {accuracy:?}");
    }
}

/// A pulse of 2 ms between the hundred instants at which adaptive runs are compared: steps of 1 ms do not resolve what it starts.
#[test]
fn a_transient_between_rows_shows_in_fixed_steps() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun = { t_end = 10, integrator = 'rk4', step = 1e-3 }
        bodies.fly = { at = [0, 0], mass = 1, inertia = 100 }\nbodies.b = { at = [0, 3], mass = 1, inertia = 1 }
        joints.A = { kind = 'revolute', bodies = ['ground', 'fly'], at = [0, 0] }
        joints.S = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 3], stiffness = 1e6, damping = 2000 }
        forces.m = { kind = 'torque', body = 'fly', torque = 1000 }
        forces.f = { kind = 'actuator', joint = 'S', force = '1e3*exp(-((t - 5.05)/0.002)^2)' }";
    assert!(!sarrus::run_str("pulse.toml", text, &Simulate::default()).unwrap().report.certificate.passed);
}
