//! Whole runs of small models, against closed forms and against the contract of the results.

use sarrus_analysis::{
    MethodText, Outcome, Proceed, Progress, RunOverrides, RunPlan, Simulate, Status, Watch, simulate,
};
use sarrus_io::{LoadOptions, load_str};
use sarrus_system::compile;
use std::sync::Arc;

/// A uniform bar of 1.5 m on a pin, let go from the horizontal.
const PENDULUM: &str = r#"
format = "sarrus/1"
space = "planar"
[bodies]
bar = { from = [0, 0], to = [1.5, 0], mass = 2.0 }
[joints]
A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
[run]
t_end = 1.0
rtol = 1e-10
atol = 1e-12
"#;

fn run_watched(text: &str, request: &Simulate, watch: &mut dyn Watch) -> Outcome {
    let model = load_str("test.toml", text, &LoadOptions::default()).unwrap();
    let system = Arc::new(compile(&model).unwrap());
    simulate(&model, &system, request, watch).unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str) -> Outcome {
    run_watched(text, &Simulate::default(), &mut ())
}

/// A uniform bar of length l swings like a point mass at 2l/3 = 1 m; from rest at the horizontal it passes the lowest
/// point after K(1/√2)/√g = 0.591954... s with ω² = 2g.
#[test]
fn a_pendulum_keeps_its_period_and_energy() {
    let quarter = 1.854_074_677_301_372 / 9.81_f64.sqrt();
    let request = Simulate {
        overrides: RunOverrides { t_end: Some(quarter), ..RunOverrides::default() },
        ..Simulate::default()
    };
    let out = run_watched(PENDULUM, &request, &mut ());
    let angle = out.trajectory.last("A.angle").unwrap();
    assert!((angle + std::f64::consts::FRAC_PI_2).abs() < 1e-9, "{angle}");
    let rate = out.trajectory.last("bar.rate").unwrap();
    assert!((rate + (2.0 * 9.81_f64).sqrt()).abs() < 1e-9, "{rate}");

    // at the lowest point the pin carries the weight and the centrifugal force m ω² l/2
    let fy = out.trajectory.last("A.fy").unwrap();
    assert!((fy - 2.0 * (9.81 + 2.0 * 9.81 * 0.75)).abs() < 1e-6, "{fy}");
    assert!(out.report.certificate.passed);
    assert_eq!(out.report.dof, Some(1));
}

/// Two pins at one point: four rows of rank two.
#[test]
fn the_report_has_what_the_methods_decided() {
    let doubled = PENDULUM
        .replace("[run]", "B = { kind = \"revolute\", bodies = [\"ground\", \"bar\"], at = [0, 0] }\n[run]");
    let with = |formulation: &str, stabilization: &str| {
        let methods = format!("formulation = \"{formulation}\"\nstabilization = \"{stabilization}\"\n");
        run(&(doubled.clone() + &methods)).report
    };
    let report = with("least_squares_1", "partitioned");
    let [formulation, stabilization] = &report.method.found[..] else { panic!("{:?}", report.method.found) };
    for (found, part) in [(formulation, "formulation"), (stabilization, "stabilization")] {
        assert_eq!(found.part, part);
        let rank = found.rank.unwrap();
        assert_eq!((rank.least, rank.most), (2, 2));
        assert!(rank.margin > 10.0 && rank.tolerance < 1e-3, "{rank:?}");
    }
    assert_eq!(stabilization.partition.as_ref().unwrap().independent.len(), 1);
    assert!(formulation.partition.is_none());
    assert!(with("proximal", "projection").method.found.is_empty());
}

#[test]
fn samples_lie_on_exact_multiples_and_the_end() {
    let request = Simulate {
        overrides: RunOverrides {
            every: Some(0.3),
            columns: Some(vec!["bar.x".into()]),
            ..RunOverrides::default()
        },
        ..Simulate::default()
    };
    let out = run_watched(PENDULUM, &request, &mut ());
    assert_eq!(out.trajectory.names(), ["t", "bar.x"]);
    assert_eq!(out.trajectory.units(), ["s", "m"]);
    let times: Vec<f64> = out.trajectory.column("t").unwrap().collect();
    assert_eq!(times, [0.0, 0.3, 0.6, 0.3 * 3.0, 1.0]);
    assert_eq!(out.report.counts.samples, 5);
}

#[test]
fn samples_between_steps_hold_the_constraints_too() {
    let out = run(PENDULUM);
    assert_eq!(out.trajectory.len(), 1001);
    let worst = out.trajectory.column("violation.position").unwrap().fold(0.0, f64::max);
    assert!(worst < 1e-14, "{worst}");
}

#[test]
fn without_a_record_the_certificate_is_the_same() {
    let with = run(PENDULUM).report;
    let without = run_watched(PENDULUM, &Simulate { record: false, ..Simulate::default() }, &mut ()).report;
    assert_eq!(without.counts.samples, 0);
    assert_eq!((with.counts.steps, with.energy), (without.counts.steps, without.energy));
    assert_eq!(with.certificate, without.certificate);
    assert!(without.violation.acceleration.max < 1e-10);
}

/// Stops after some steps, and takes note of what it was reported.
struct Stopper {
    after: u64,
    announced: String,
}

impl Watch for Stopper {
    fn begin(&mut self, plan: &RunPlan) {
        self.announced = plan.method.announcement();
    }

    fn step(&mut self, progress: &Progress) -> Proceed {
        if progress.steps == self.after { Proceed::Stop } else { Proceed::Continue }
    }
}

#[test]
fn a_stopped_run_keeps_its_samples() {
    let mut stopper = Stopper { after: 3, announced: String::new() };
    let out = run_watched(PENDULUM, &Simulate::default(), &mut stopper);
    assert_eq!((out.report.status, out.report.counts.steps), (Status::Stopped, 3));
    assert!(stopper.announced.starts_with("auto -> "), "{}", stopper.announced);
    let (last, reached) = (out.trajectory.last("t").unwrap(), out.report.t_end);
    assert!(last <= reached && last > reached - 0.001 - 1e-12, "{last} {reached}");
}

/// A Baumgarte run without projection drifts, and the certificate shows where.
#[test]
fn drift_is_seen_and_named() {
    let text = format!("{PENDULUM}stabilization = \"none\"\nintegrator = \"rk4\"\nstep = 0.02\n");
    let report = run(&text).report;
    assert!(!report.certificate.passed && !report.certificate.position.passed);
    assert!(report.violation.position.max > 1e-7);
    let joint = &report.constraints.per_joint[0];
    assert_eq!((joint.name.as_str(), joint.position.max), ("A", report.violation.position.max));
}

/// A body in free fall has no constraints: nothing to stabilize, dof 6, z = -g t²/2.
#[test]
fn a_free_body_needs_no_constraints() {
    let text = "format = \"sarrus/1\"\nbodies.a = { mass = 1, inertia = [1, 2, 2.5] }\n[initial]\na.omega_on = [1, 2, 3]\n[run]\nt_end = 2\n";
    let out = run(text);
    assert_eq!(out.report.dof, Some(6));
    assert_eq!(out.report.method.stabilization, "none");
    let z = out.trajectory.last("a.z").unwrap();
    assert!((z + 9.81 * 2.0).abs() < 1e-10, "{z}");
    assert!(out.report.certificate.passed, "{:?}", out.report.certificate);
}

/// Driver, spring and damper: work, stored and lost energy must close the balance.
#[test]
fn the_books_close_with_a_driver_a_spring_and_a_damper() {
    let text = r#"
format = "sarrus/1"
space = "planar"
[bodies]
crank = { from = [0, 0], to = [0.3, 0], mass = 1.0 }
bob = { from = [0.3, 0], to = [0.3, -0.5], mass = 0.5 }
[joints]
A = { kind = "revolute", bodies = ["ground", "crank"], at = [0, 0] }
B = { kind = "revolute", bodies = ["crank", "bob"], at = [0.3, 0], damping = 0.05 }
[drivers]
turn = { kind = "joint", joint = "A", angle = "0.5*sin(3*t)" }
[forces]
pull = { kind = "spring", bodies = ["ground", "bob"], ends = [[1, 0], [0.3, -0.5]], stiffness = 40, damping = 0.3 }
[run]
t_end = 3.0
rtol = 1e-9
atol = 1e-11
"#;
    let out = run(text);
    let e = |name: &str| out.trajectory.last(&format!("energy.{name}")).unwrap();
    assert!(e("work") != 0.0 && e("dissipated") > 0.01, "{} {}", e("work"), e("dissipated"));
    assert!(out.report.energy.balance_error < 1e-8, "{:?}", out.report.energy);
}

#[test]
fn the_report_is_json_in_the_order_of_the_contract() {
    let text = run(PENDULUM).report.to_json();
    let at = |key: &str| text.find(&format!("\n  \"{key}\":")).unwrap_or_else(|| panic!("{key}"));
    let keys = [
        "model",
        "version",
        "method",
        "status",
        "reason",
        "t_end",
        "counts",
        "wall_s",
        "dof",
        "constraints",
        "violation",
        "energy",
        "certificate",
        "events",
    ];
    assert!(keys.windows(2).all(|k| at(k[0]) < at(k[1])), "{text}");
}

/// Between steps states are interpolated, at order three: off the constraints by 1e-6 m here. Rows are on them all the
/// same, to the rounding of what the rows of Φ̇ are made of, some m/s.
#[test]
fn rows_of_integrators_that_resolve_the_constraints_themselves_hold_them_between_steps() {
    let two = PENDULUM
        .replace("[joints]", "arm = { from = [1.5, 0], to = [2.5, 0], mass = 1.0 }\n[joints]")
        .replace("[run]", "B = { kind = \"revolute\", bodies = [\"bar\", \"arm\"], at = [1.5, 0] }\n[run]");
    for integrator in ["staggered", "staggered:form=paper", "park1987"] {
        let MethodText(method) = integrator.parse().unwrap();
        let overrides = RunOverrides {
            integrator: Some(method),
            step: Some(1e-2),
            every: Some(3.3e-3),
            ..RunOverrides::default()
        };
        let request = Simulate { overrides, ..Simulate::default() };
        let out = run_watched(&two, &request, &mut ());
        assert_eq!(out.report.status, Status::Completed, "{}", out.report.reason);
        assert_eq!(out.report.method.stabilization, "none");
        for column in ["violation.position", "violation.velocity"] {
            let worst = out.trajectory.column(column).unwrap().fold(0.0, f64::max);
            assert!(worst < 1e-13, "{integrator}: {column} = {worst:e}");
        }
    }
}

/// √(0.5 - t) is no number beyond t = 0.5.
#[test]
fn a_controller_that_leaves_the_numbers_is_named_with_its_state() {
    let with = |controller: &str, integrator: &str| {
        let text = PENDULUM.replace("[run]", &format!("[controllers]\nc = {{ {controller} }}\n[run]"));
        let text = format!("{text}integrator = \"{integrator}\"\nstep = 0.03\n");
        let report = run(&text).report;
        assert_eq!(report.status, Status::Failed, "{controller}, {integrator}");
        report.failure.unwrap()
    };
    let sampled = "kind = 'sampled', period = 0.1, states = { y = 0, x = 0 }, \
                   update = { y = '1', x = 'sqrt(0.5 - t)' }, outputs = { u = 'y' }";
    let rate = "kind = 'ode', states = { y = 0, x = 0 }, rates = { y = '1', x = 'sqrt(0.5 - t)' }, outputs = { u = 'y' }";
    for integrator in ["rk4", "dop853", "abm", "staggered"] {
        for controller in [sampled, rate] {
            let failure = with(controller, integrator);
            assert_eq!(failure.element.as_deref(), Some("controller `c`"), "{integrator}: {failure:?}");
            assert!(failure.message.contains("`x`"), "{integrator}: {failure:?}");
            assert!((0.45..0.63).contains(&failure.t), "{integrator}: {failure:?}");
        }
    }
}
