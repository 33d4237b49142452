//! Implicit integrators on mechanisms: order in positions, velocities and multipliers, redundant rows, rolling, energy, and failures.

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use sarrus::solve::{
    Dynamics, Equations, Integrator, Options, Problem, Stage, State, StepControl, formulations, integrators,
    stabilizations,
};
use sarrus_zoo::model;
use std::sync::Arc;

fn compiled(name: &str) -> (Model, Arc<System>) {
    let model = load_str(&format!("{name}.toml"), model(name).unwrap(), &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn method(text: &str) -> Integrator {
    let (kind, given) = text.split_once(':').unwrap_or((text, ""));
    let mut options = Options::new();
    for (name, value) in given.split(',').filter_map(|o| o.split_once('=')) {
        match value.parse::<f64>() {
            Ok(x) => options.set(name, x),
            Err(_) => options.set(name, value),
        };
    }
    (integrators::find(kind).unwrap().new)(&options).unwrap()
}

/// Holds what a run shows at its end.
struct End {
    s: State,
    lambda: Vec<f64>,
    /// Largest |Φ| and |Φ̇| over all steps.
    violation: [f64; 2],
    steps: u64,
}

/// A run of `text` to `t_end` with `control`.
fn run(name: &str, text: &str, mut control: StepControl, t_end: f64) -> End {
    let (model, system) = compiled(name);
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&start.discrete);
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let stabilization = stabilizations::make("projection", &none).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    let mut method = method(text);
    control.t_end = t_end;
    let mut s = start.state;
    method.prepare(&system.structure);
    let mut eq = Equations::new(dynamics.problem());
    let mut violation = [0.0_f64; 2];
    while s.t < t_end {
        method.step(&mut dynamics, &mut s, &mut control).unwrap_or_else(|e| panic!("{name}, {text}: {e}"));
        let problem = dynamics.problem_mut();
        problem.update(&s, Stage::VELOCITY, &mut eq);
        let largest = |a: f64, x: &f64| a.max(x.abs());
        violation[0] = system.structure.holonomic_rows().flat_map(|r| &eq.phi[r]).fold(violation[0], largest);
        violation[1] = eq.phidot.iter().fold(violation[1], largest);
    }
    let lambda = match method.multipliers() {
        Some(lambda) => lambda.to_vec(),
        None => dynamics.evaluate(&s).unwrap().lambda.clone(),
    };
    End { s, lambda, violation, steps: control.counts.steps }
}

fn fixed(h: f64) -> StepControl {
    StepControl::new(1.0, 1.0, Some(h)).unwrap()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Errors of q, v and λ.
fn errors(end: &End, exact: &End) -> [f64; 3] {
    [apart(&end.s.q, &exact.s.q), apart(&end.s.v, &exact.s.v), apart(&end.lambda, &exact.lambda)]
}

/// Orders of convergence that two steps show.
fn orders(name: &str, text: &str, t_end: f64, h: f64) -> [f64; 3] {
    let exact = run(name, "dop853", StepControl::new(1e-12, 1e-13, None).unwrap(), t_end);
    let [coarse, fine] = [h, 0.5 * h].map(|h| errors(&run(name, text, fixed(h), t_end), &exact));
    std::array::from_fn(|i| (coarse[i] / fine[i]).log2())
}

#[test]
fn second_order_methods_are_so_in_positions_velocities_and_multipliers() {
    let methods = [
        "trapezoidal:newton=1e-12",
        "generalized_alpha:newton=1e-12",
        "generalized_alpha:newton=1e-12,rho=0.5",
        "generalized_alpha:newton=1e-12,constraints=positions",
        "generalized_alpha:newton=1e-12,constraints=velocities",
        "hht:newton=1e-12",
        "newmark:newton=1e-12",
    ];
    // rotations in space, a loop, a loop under control
    for (name, t_end, h) in
        [("double_pendulum", 0.4, 0.01), ("four_bar", 0.4, 0.01), ("slider_crank", 0.1, 0.002)]
    {
        for text in methods {
            let found = orders(name, text, t_end, h);
            assert!(found.iter().all(|p| (p - 2.0).abs() < 0.1), "{name}, {text}: {found:.2?}");
        }
    }
}

#[test]
fn radau5_is_of_order_five_and_three_in_multipliers() {
    let [q, v, lambda] = orders("double_pendulum", "radau5:newton=1e-12", 0.4, 0.04);
    assert!((q - 5.0).abs() < 0.2 && (v - 5.0).abs() < 0.2 && (lambda - 3.0).abs() < 0.3, "{q} {v} {lambda}");
}

#[test]
fn linearly_implicit_euler_is_of_order_one() {
    for name in ["double_pendulum", "four_bar"] {
        let found = orders(name, "linearly_implicit_euler", 0.4, 0.01);
        assert!(found.iter().all(|p| (p - 1.0).abs() < 0.15), "{name}: {found:.2?}");
    }
}

/// Errors in proportion to the tolerance, up to what a method of high order does better and errors that add up.
#[test]
fn steps_follow_the_tolerance() {
    for (name, t_end) in [("double_pendulum", 1.0), ("andrews", 0.02)] {
        let exact = run(name, "dop853", StepControl::new(1e-12, 1e-13, None).unwrap(), t_end);
        for text in ["bdf", "bdf:order=2", "radau5", "generalized_alpha:adaptive=yes", "hht:adaptive=yes"] {
            let [loose, tight] = [1e-4, 1e-6].map(|tolerance| {
                let end = run(name, text, StepControl::new(tolerance, tolerance, None).unwrap(), t_end);
                let [q, ..] = errors(&end, &exact);
                assert!(q < 500.0 * tolerance, "{name}, {text}, {tolerance:e}: {q:e}");
                end.steps
            });
            assert!(tight > loose, "{name}, {text}: {loose} {tight}");
        }
    }
}

#[test]
fn redundant_rows_and_rolling_do_no_harm() {
    // steps of a thousandth: the error of a second-order method is h² of the third derivative
    let cases = [
        ("n_four_bar_spatial", 1e-5),
        ("door", 1e-5),
        ("coupler_spatial", 1e-4),
        ("bennett", 1e-5),
        ("sarrus", 1e-4),
        ("mcpherson_overconstrained", 1e-5),
        ("rolling_disc", 1e-4),
        ("rolling_ball", 1e-5),
    ];
    for (name, most) in cases {
        let exact = run(name, "dop853", StepControl::new(1e-10, 1e-11, None).unwrap(), 0.1);
        for text in ["generalized_alpha", "trapezoidal", "radau5", "bdf"] {
            let end = run(name, text, StepControl::new(1e-6, 1e-6, Some(1e-3)).unwrap(), 0.1);
            let [q, v, _] = errors(&end, &exact);
            assert!(q < most && v < 10.0 * most, "{name}, {text}: {q:e} {v:e}");
            // Newton's iteration leaves 1e-10 of the size and speed of the mechanism
            assert!(
                end.violation[0] < 1e-9 && end.violation[1] < 1e-8,
                "{name}, {text}: {:?}",
                end.violation
            );
        }
    }
}

#[test]
fn the_level_of_the_constraints_is_what_was_asked_for() {
    let at = |level: &str, h: f64| {
        run("four_bar", &format!("generalized_alpha:newton=1e-12,constraints={level}"), fixed(h), 0.4)
            .violation
    };
    // index 3: velocities to the order of the method
    let [coarse, fine] = [0.004, 0.002].map(|h| at("positions", h));
    assert!(coarse[0] < 1e-11 && fine[0] < 1e-11, "{coarse:?}");
    let order = (coarse[1] / fine[1]).log2();
    assert!(fine[1] > 1e-7 && (order - 2.0).abs() < 0.2, "{coarse:?} {fine:?}");
    // index 2: positions drift
    let drift = at("velocities", 0.004);
    assert!(drift[1] < 1e-8 && drift[0] > 1e-7, "{drift:?}");
    let both = at("both", 0.004);
    assert!(both[0] < 1e-10 && both[1] < 1e-8, "{both:?}");
}

/// A controller with a strong gain is nothing that the matrix knows; it is learned.
#[test]
fn what_the_matrix_does_not_know_is_learned() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n\
        bodies.arm = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }\n\
        controllers.c = { kind = 'pid', input = '1 - A.angle', kp = 400, kd = 120, filter = 0.05, ki = 10 }\n\
        forces.motor = { kind = 'torque', body = 'arm', torque = 'c.out' }\n";
    let model =
        load_str("arm.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let at = |integrator: &str, step: Option<f64>| {
        let overrides = RunOverrides {
            integrator: Some(integrator.parse::<MethodText>().unwrap().0),
            t_end: Some(1.0),
            step,
            every: Some(1.0),
            ..RunOverrides::default()
        };
        simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap()
    };
    let exact = at("dop853", None).trajectory.last("A.angle").unwrap();
    let outcome = at("generalized_alpha", Some(0.01));
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    let error = (outcome.trajectory.last("A.angle").unwrap() - exact).abs();
    assert!(error < 2e-3, "{error:e}");
    let iterations = outcome.report.counts.newton_iterations as f64 / outcome.report.counts.steps as f64;
    // without learning the iteration does not converge at all; the last of these makes sure
    assert!(iterations < 9.0, "{iterations}");
}

#[test]
fn a_step_that_cannot_be_solved_says_why_and_chosen_ones_are_shortened() {
    let (model, system) = compiled("heavy_top");
    let at = |integrator: &str, step: Option<f64>| {
        let overrides = RunOverrides {
            integrator: Some(integrator.parse::<MethodText>().unwrap().0),
            t_end: Some(0.5),
            step,
            every: Some(0.1),
            ..RunOverrides::default()
        };
        simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap().report
    };
    let report = at("trapezoidal", Some(0.25));
    assert_eq!(report.status, Status::Failed);
    let failure = report.failure.unwrap();
    assert!(
        failure.message.contains("Newton") && failure.message.contains("shorter step"),
        "{}",
        failure.message
    );
    assert!(failure.element.is_some_and(|e| e.contains("body")));
    let chosen = at("radau5", Some(0.25));
    assert_eq!(chosen.status, Status::Completed, "{}", chosen.reason);
}

/// A parallelogram that starts in line, where one row depends on the others for that instant alone.
#[test]
fn a_joint_that_depends_on_others_for_an_instant_is_not_lost() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n\
        bodies.crank = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        bodies.coupler = { from = [1, 0], to = [3, 0], mass = 1 }\n\
        bodies.rocker = { from = [2, 0], to = [3, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'crank'], at = [0, 0] }\n\
        joints.B = { kind = 'revolute', bodies = ['crank', 'coupler'], at = [1, 0] }\n\
        joints.C = { kind = 'revolute', bodies = ['coupler', 'rocker'], at = [3, 0] }\n\
        joints.D = { kind = 'revolute', bodies = ['ground', 'rocker'], at = [2, 0] }\n\
        initial.A.rate = 4\ninitial.D.rate = 4\n";
    let model =
        load_str("line.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    for integrator in ["generalized_alpha", "trapezoidal", "hht:constraints=positions", "bdf", "radau5"] {
        let overrides = RunOverrides {
            integrator: Some(integrator.parse::<MethodText>().unwrap().0),
            t_end: Some(0.5),
            step: Some(1e-3),
            every: Some(0.5),
            ..RunOverrides::default()
        };
        let outcome = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
        assert_eq!(outcome.report.status, Status::Completed, "{integrator}: {}", outcome.report.reason);
        // the branch, with both cranks as fast as at the start: nothing acts on them
        let last = |column: &str| outcome.trajectory.last(column).unwrap();
        let (a, d) = (last("A.angle"), last("D.angle"));
        assert!((a - 2.0).abs() < 1e-2 && (a - d).abs() < 1e-6, "{integrator}: {a} {d}");
        assert!(outcome.report.violation.position.max < 1e-6, "{integrator}: {:?}", outcome.report.violation);
    }
}

/// Steps and order are chosen, so that the order shows in how errors fall with the number of steps.
#[test]
fn errors_of_bdf_fall_with_its_order() {
    let t_end = 1.0;
    let exact = run("double_pendulum", "dop853", StepControl::new(1e-12, 1e-13, None).unwrap(), t_end);
    for (text, order, slack) in [("bdf:order=2", 2.0, 0.2), ("bdf", 5.0, 1.0)] {
        let [loose, tight] = [1e-4, 1e-8].map(|tolerance| {
            let end =
                run("double_pendulum", text, StepControl::new(tolerance, tolerance, None).unwrap(), t_end);
            (errors(&end, &exact), end.steps as f64)
        });
        for (i, what) in ["positions", "velocities", "multipliers"].iter().enumerate() {
            let found = (loose.0[i] / tight.0[i]).ln() / (tight.1 / loose.1).ln();
            assert!(found > order - slack, "{text}, {what}: {found:.2} from {loose:?} {tight:?}");
        }
    }
}
