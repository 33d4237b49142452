//! Describes what a program gives to a model: functions that expressions call, and values of inputs.
//!
//! The oracle of a function is the same one as an expression.

use sarrus::analysis::{AssemblyError, MethodText, SetupError};
use sarrus::model::Failure;
use sarrus::model::functions::{Closure, Functions};
use sarrus::prelude::*;
use std::sync::Arc;

#[allow(dead_code)]
#[path = "../../examples/functions_by_program.rs"]
mod example;

fn given(list: Vec<(&str, Closure)>) -> LoadOptions {
    let mut functions = Functions::default();
    list.into_iter().for_each(|(name, function)| functions.add(name, function));
    LoadOptions { functions, ..LoadOptions::default() }
}

/// A pendulum with a torque in its joint, and what `more` adds.
fn pendulum(torque: &str, more: &str) -> String {
    format!(
        "format = 'sarrus/1'\nspace = 'planar'\n\
         bodies.a = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
         joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }}\n\
         forces.T = {{ kind = 'actuator', joint = 'A', torque = '{torque}' }}\n{more}\n"
    )
}

/// An arm without gravity that is driven, and what drives it.
fn driven(by: &str) -> String {
    format!(
        "format = 'sarrus/1'\nspace = 'planar'\n\
         bodies.a = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
         bodies.b = {{ from = [1, 0], to = [1, -1], mass = 1 }}\n\
         joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }}\n\
         joints.B = {{ kind = 'revolute', bodies = ['a', 'b'], at = [1, 0] }}\n\
         drivers.D = {{ kind = 'joint', joint = 'A', {by} }}\n"
    )
}

fn compiled(text: &str, options: &LoadOptions) -> Result<(Model, Arc<System>), Failure> {
    let model = load_str("model.toml", text, options).unwrap_or_else(|e| panic!("{}", e.render()));
    match compile(&model) {
        Ok(system) => Ok((model, Arc::new(system))),
        Err(diagnostics) => Err(Failure { diagnostics, sources: model.sources }),
    }
}

fn setup(text: &str, options: &LoadOptions) -> (Model, Arc<System>) {
    compiled(text, options).unwrap_or_else(|e| panic!("{}", e.render()))
}

/// Returns how an integrator is asked for: with tolerances, or with a step.
fn method(integrator: &str) -> RunOverrides {
    let (name, step) = integrator.split_once(' ').unwrap_or((integrator, ""));
    let MethodText(chosen) = name.parse().unwrap();
    let step: Option<f64> = step.parse().ok();
    RunOverrides {
        integrator: Some(chosen),
        step,
        rtol: step.is_none().then_some(1e-9),
        atol: step.is_none().then_some(1e-11),
        t_end: Some(1.0),
        every: Some(0.05),
        ..RunOverrides::default()
    }
}

fn run(text: &str, options: &LoadOptions, integrator: &str) -> Outcome {
    let (model, system) = setup(text, options);
    let request = Simulate { overrides: method(integrator), record: true };
    simulate(&model, &system, &request, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

/// The largest difference of two runs in any column, relative to the column.
fn difference(a: &Outcome, b: &Outcome) -> f64 {
    assert_eq!(
        (a.report.status, b.report.status),
        (Status::Completed, Status::Completed),
        "{}",
        b.report.reason
    );
    assert_eq!((a.trajectory.names(), a.trajectory.len()), (b.trajectory.names(), b.trajectory.len()));
    let mut most: f64 = 0.0;
    for name in a.trajectory.names() {
        let (x, y) = (a.trajectory.column(name).unwrap(), b.trajectory.column(name).unwrap());
        let scale = x.clone().fold(1.0, |m: f64, x| m.max(x.abs()));
        most = x.zip(y).fold(most, |m, (x, y)| m.max((x - y).abs() / scale));
    }
    most
}

const LAW: &str = "-0.3*A.rate - 2*sin(A.angle)*cos(t)";

fn law() -> Closure {
    Closure::new(3, |x| -0.3 * x[2] - 2.0 * x[1].sin() * x[0].cos())
}

#[test]
fn a_torque_by_function_gives_the_bits_of_the_same_expression() {
    let options = given(vec![("law", law())]);
    for integrator in ["rk45", "dop853", "abm", "rk4 0.01", "staggered 0.01"] {
        let written = run(&pendulum(LAW, ""), &LoadOptions::default(), integrator);
        let called = run(&pendulum("law(t, A.angle, A.rate)", ""), &options, integrator);
        let bits = |o: &Outcome| -> Vec<u64> { o.trajectory.rows().flatten().map(|x| x.to_bits()).collect() };
        assert!(bits(&written) == bits(&called), "{integrator}");
        assert_eq!(written.report.counts.steps, called.report.counts.steps, "{integrator}");
    }
}

#[test]
fn a_driver_by_function_equals_the_driver_by_expression() {
    let ramp = Closure::new(1, |t| 0.3 * (2.0 * t[0]).sin() + t[0] * t[0] / 4.0)
        .with_gradient(|t, out| out[0] = 0.6 * (2.0 * t[0]).cos() + t[0] / 2.0)
        .with_second(|t, out| out[0] = -1.2 * (2.0 * t[0]).sin() + 0.5);
    let options = given(vec![("ramp", ramp)]);
    for integrator in ["rk45", "radau5"] {
        let written = run(&driven("angle = '0.3*sin(2*t) + t^2/4'"), &LoadOptions::default(), integrator);
        let called = run(&driven("angle = 'ramp(t)'"), &options, integrator);
        // rounding, which the steps carry along
        let off = difference(&written, &called);
        assert!(off < 1e-11, "{integrator}: {off:.1e}");
    }
}

#[test]
fn a_driver_of_positions_needs_the_derivatives_of_its_function() {
    let bare = || Closure::new(1, |t| t[0].sin());
    let cases = [
        (driven("angle = '2 + ramp(t)'"), bare(), "first and second", "ramp"),
        (
            driven("angle = '2 + ramp(t)'"),
            bare().with_gradient(|t, out| out[0] = t[0].cos()),
            "second",
            "ramp",
        ),
        (
            driven("angle = 0").replace(
                "joint', joint = 'A', angle = 0",
                "point', body = 'a', position = ['ramp(t)', 'free']",
            ),
            bare(),
            "first and second",
            "['ramp(t)', 'free']",
        ),
        (
            pendulum("0", "constraints.c = { kind = 'expression', zero = 'ramp(A.angle) - a.y' }"),
            bare(),
            "first and second",
            "ramp",
        ),
    ];
    for (text, function, missing, location) in cases {
        let options = given(vec![("ramp", function)]);
        let Err(Failure { sources, diagnostics: errors }) = compiled(&text, &options) else {
            panic!("{text}")
        };
        assert_eq!(
            errors[0].message,
            format!(
                "function `ramp` comes without {missing} derivatives, which are needed where it gives positions"
            )
        );
        assert_eq!(sources.slice(errors[0].at.unwrap()), Some(location));
    }
    // of a speed one derivative is enough, and differences are good for that: ten digits of γ
    let written = run(&driven("rate = 'sin(t)'"), &LoadOptions::default(), "rk45");
    let called = run(&driven("rate = 'ramp(t)'"), &given(vec![("ramp", bare())]), "rk45");
    let off = difference(&written, &called);
    assert!(off < 1e-8, "{off:.1e}");
}

/// A stiff spring in the joint: Newton's iteration needs to know how stiff.
#[test]
fn implicit_methods_find_their_way_with_the_gradient_and_without() {
    let text = |torque: &str| pendulum(torque, "initial.A.angle = 0.1");
    let law = || Closure::new(2, |x| -1e5 * x[0] - 300.0 * x[1]);
    let exact = law().with_gradient(|_, out| out.copy_from_slice(&[-1e5, -300.0]));
    let written = run(&text("-1e5*A.angle - 300*A.rate"), &LoadOptions::default(), "radau5");
    for (what, function) in [("given", exact), ("differences", law())] {
        let called = run(&text("law(A.angle, A.rate)"), &given(vec![("law", function)]), "radau5");
        // what is not found by the matrix is found by more steps
        let (a, b) = (written.report.counts.steps as f64, called.report.counts.steps as f64);
        assert!((a - b).abs() <= 0.02 * a, "{what}: {a} and {b} steps");
        let off = difference(&written, &called);
        assert!(off < 1e-8, "{what}: {off:.1e}");
    }
}

/// It fails at a time, and at an angle that is passed at about that time.
#[test]
fn a_function_that_fails_in_the_middle_ends_the_run_and_is_named() {
    let at_time = || given(vec![("law", Closure::new(2, |x| if x[0] > 0.3 { f64::NAN } else { 0.1 }))]);
    let at_angle = || given(vec![("law", Closure::new(2, |x| if x[1] < -0.6 { f64::NAN } else { 0.1 }))]);
    let text = pendulum("0.5*law(t, A.angle)", "");
    for integrator in
        ["rk45", "dop853", "abm", "radau5", "rk4 0.01", "staggered 0.01", "bdf", "generalized_alpha 0.01"]
    {
        for (what, options) in [("time", at_time()), ("angle", at_angle())] {
            let outcome = run(&text, &options, integrator);
            let report = &outcome.report;
            let failure =
                report.failure.as_ref().unwrap_or_else(|| panic!("{integrator} {what}: {}", report.reason));
            assert_eq!(report.status, Status::Failed);
            // an implicit method may meet it first where it takes differences
            let explicit = ["rk45", "dop853", "abm", "rk4 0.01", "staggered 0.01"].contains(&integrator);
            let said = if explicit { "function `law` gave NaN" } else { "function `law` gave " };
            assert!(
                failure.message.starts_with(said) && failure.message.contains(" at t = 0."),
                "{integrator} {what}: {}",
                failure.message
            );
            assert_eq!(failure.element.as_deref(), Some("function `law`"));
            let last = outcome.trajectory.last("t").unwrap();
            assert!(
                (0.2..0.5).contains(&failure.t) && (0.2..=0.3501).contains(&last),
                "{} {last}",
                failure.t
            );
            assert!(outcome.trajectory.len() >= 5 && outcome.trajectory.last("a.x").unwrap().is_finite());
        }
    }
}

/// In a controller's rate, in a driver, in a measure that a force reads.
#[test]
fn wherever_it_is_called_a_function_that_fails_is_named() {
    let nan = |x: f64| if x > 0.3 { f64::NAN } else { 0.0 };
    let law = || {
        let derivative = move |t: &[f64], out: &mut [f64]| out[0] = nan(t[0]);
        Closure::new(1, move |t| nan(t[0])).with_gradient(derivative).with_second(derivative)
    };
    let cases = [
        pendulum("c.x", "controllers.c = { kind = 'ode', states = { x = 0 }, rates = { x = 'law(t)' } }"),
        pendulum("m", "measures.m = 'law(t) + A.rate'"),
        pendulum("0", "constraints.c = { kind = 'expression', zero = 'A.angle - law(t)' }"),
        driven("angle = 'law(t)'"),
        driven("rate = 'law(t)'"),
    ];
    for text in cases {
        let outcome = run(&text, &given(vec![("law", law())]), "rk45");
        assert_eq!(outcome.report.status, Status::Failed, "{text}");
        let reason = &outcome.report.reason;
        assert!(reason.contains("function `law` gave"), "{text}\n{reason}");
        assert!(outcome.trajectory.len() >= 5);
    }
}

#[test]
fn a_fault_that_changes_nothing_is_not_blamed() {
    let options = given(vec![("root", Closure::new(1, |x| x[0].sqrt()))]);
    // the side of `if` that is not taken, and a column that nothing reads
    let more = "measures.m = 'root(-1 - A.rate^2)'";
    let outcome = run(&pendulum("if(t > 10, root(-1), 0)", more), &options, "rk45");
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    let more = format!("{more}\nforces.X = {{ kind = 'actuator', joint = 'A', torque = 'exp(3000*t)' }}");
    let outcome = run(&pendulum("if(t > 10, root(-1), 0)", &more), &options, "rk4 0.01");
    assert_eq!(outcome.report.status, Status::Failed);
    assert!(!outcome.report.reason.contains("root"), "{}", outcome.report.reason);
}

#[test]
fn a_function_without_a_value_at_the_start_is_named() {
    let nan = || {
        let derivative = |_: &[f64], out: &mut [f64]| out.fill(0.0);
        Closure::new(1, |_| f64::NAN).with_gradient(derivative).with_second(derivative)
    };
    let (model, system) = setup(&driven("angle = 'law(t)'"), &given(vec![("law", nan())]));
    let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "function `law` gave NaN for (0) at the start");
    assert_eq!(error.diagnostics().len(), 1);
    // a force is asked for in the first step only
    let outcome = run(&pendulum("law(t)", ""), &given(vec![("law", nan())]), "rk45");
    assert_eq!(outcome.report.reason, "function `law` gave NaN at t = 0, for the arguments (0)");
    // what is wrong for another reason stays so
    let text = driven("angle = 'law(t)'") + "initial.A.angle = 1\n";
    let ok = Closure::new(1, |_| 0.0).with_gradient(|_, o| o.fill(0.0)).with_second(|_, o| o.fill(0.0));
    let (model, system) = setup(&text, &given(vec![("law", ok)]));
    let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
    assert!(matches!(error, SetupError::Assembly(AssemblyError::Positions { .. })), "{error}");
}

#[test]
fn wrong_calls_have_their_place_in_the_file() {
    let options = given(vec![("law", law())]);
    let cases = [
        ("1 + law(t, A.angle)", "`law` takes 3 arguments, 2 given", "law(t, A.angle)", None),
        ("law(t, A.angle, 1) + laws(1)", "there is no function `laws`", "laws", Some("did you mean `law`?")),
        ("2*law", "`law` is a function", "law", Some("call it: `law(…)`")),
    ];
    for (torque, message, location, hint) in cases {
        let Err(Failure { sources, diagnostics: errors }) = compiled(&pendulum(torque, ""), &options) else {
            panic!("{torque}")
        };
        assert_eq!(errors[0].message, message);
        assert_eq!(sources.slice(errors[0].at.unwrap()), Some(location), "{torque}");
        if hint.is_some() {
            assert_eq!(errors[0].hint.as_deref(), hint);
        }
    }
}

#[test]
fn names_that_are_taken_are_refused() {
    let refused = |name: &str, more: &str| {
        let options = given(vec![(name, law())]);
        match load_str("model.toml", &pendulum("0", more), &options) {
            Ok(_) => panic!("{name} {more}"),
            Err(failure) => failure.diagnostics[0].message.clone(),
        }
    };
    let of_program = "has the name of a function given by the program";
    assert_eq!(refused("sin", ""), "`sin` is a built-in function, and given by the program too");
    assert_eq!(refused("t", ""), "`t` cannot be the name of a function: it is reserved");
    assert_eq!(refused("my law", ""), "`my law` cannot be the name of a function");
    assert_eq!(refused("my.law", ""), "a function given by a program has no dot in its name: `my.law`");
    assert_eq!(refused("law", "parameters.law = 1"), format!("parameter `law` {of_program}"));
    assert_eq!(refused("law", "points.law = [0, 1]"), format!("point `law` {of_program}"));
    assert_eq!(
        refused("law", "tables.law = { points = [[0, 0], [1, 1]] }"),
        format!("table `law` {of_program}")
    );
    assert_eq!(refused("law", "functions = { 'law(x)' = 'x' }"), format!("function `law` {of_program}"));
    assert_eq!(refused("a", ""), format!("body `a` {of_program}"));
    let many = given(vec![("law", Closure::new(13, |_| 0.0))]);
    let failure = load_str("model.toml", &pendulum("0", ""), &many).unwrap_err();
    assert!(failure.diagnostics[0].message.contains("12 at most"), "{}", failure.diagnostics[0].message);
}

#[test]
fn functions_are_known_on_loading_and_in_functions_of_the_file() {
    let options = given(vec![("square", Closure::new(1, |x| x[0] * x[0]))]);
    let more = "parameters.k = 'square(3)'\nfunctions = { 'g(x)' = 'k*square(x)' }";
    let called = run(&pendulum("g(A.rate)", more), &options, "rk45");
    let written = run(&pendulum("9*(A.rate*A.rate)", ""), &LoadOptions::default(), "rk45");
    assert_eq!(difference(&written, &called), 0.0);
}

#[test]
fn the_resolved_model_keeps_the_call_and_asks_for_the_function() {
    let options = LoadOptions { record: true, ..given(vec![("law", law()), ("unused", law())]) };
    let text = pendulum("k*law(t, A.angle, A.rate)", "parameters.k = 0.5");
    let (model, system) = setup(&text, &options);
    let request = Simulate { overrides: method("rk45"), record: true };
    let first = simulate(&model, &system, &request, &mut ()).unwrap();
    let resolved = sarrus::io::write_resolved(&model, &[]);
    assert!(resolved.starts_with("# Calls functions that a program gives: law.\n"), "{resolved}");
    assert!(resolved.contains("0.5*law(t, A.angle, A.rate)"), "{resolved}");
    assert_eq!(difference(&first, &run(&resolved, &options, "rk45")), 0.0);
    let Err(Failure { diagnostics: errors, .. }) = compiled(&resolved, &LoadOptions::default()) else {
        panic!("{resolved}")
    };
    assert_eq!(errors[0].message, "there is no function `law`");
    assert!(errors[0].hint.as_ref().is_some_and(|hint| hint.contains("a program gives")), "{:?}", errors[0]);
}

#[test]
fn the_example_finds_its_closed_forms() {
    let outcome = example::run().unwrap();
    let [speed, angle] = example::deviation(&outcome).unwrap();
    assert!(speed < 1e-7 && angle < 1e-9, "{speed:.1e} {angle:.1e}");
}

/// A mass on a rail: with a force u held between events its speed is known.
#[test]
fn inputs_are_held_until_an_event_or_a_program_sets_them() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 2\noutput.every = 0.5\n\
        bodies.b = { kind = 'point', at = [0, 0], mass = 1 }\n\
        forces.F = { kind = 'force', body = 'b', force = ['knob.out', 'pair.w'] }\n\
        controllers.knob = { kind = 'input', value = 3 }\n\
        controllers.pair = { kind = 'input', values = { u = 7, w = 1 } }\n\
        controllers.other = { kind = 'ode', states = { x = 0 }, rates = { x = 0 } }\n\
        events.turn = { when = 't >= 1', set = { knob.out = 'knob.out - 5' }, once = true }\n";
    let (model, system) = setup(text, &LoadOptions::default());
    let outcome = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap();
    let last = |name: &str| outcome.trajectory.last(name).unwrap();
    // rounding of a linear motion
    assert!((last("b.vx") - 1.0).abs() < 1e-12 && (last("b.vy") - 2.0).abs() < 1e-12);
    assert_eq!((last("knob.out"), last("pair.u"), last("pair.w")), (-2.0, 7.0, 1.0));
    let own = |name: &&String| name.starts_with("knob") || name.starts_with("pair");
    let columns: Vec<&String> = outcome.trajectory.names().iter().filter(own).collect();
    assert_eq!(columns, ["knob.out", "pair.u", "pair.w"]);

    // the places in x, and what is none
    let start = system.start();
    let at = |path: &str| system.input(path).map(|index| start.x[index]);
    assert_eq!((at("knob.out"), at("pair.u"), at("pair.w")), (Some(3.0), Some(7.0), Some(1.0)));
    assert_eq!([at("knob"), at("knob.u"), at("other.x"), at("b.x")], [None; 4]);
    let mut mechanism = system.mechanism();
    let mut state = start.clone();
    state.x[system.input("knob.out").unwrap()] = -4.0;
    let mut eq = sarrus::solve::Equations::new(&mechanism);
    sarrus::solve::Problem::update(&mut mechanism, &state, sarrus::solve::Stage::FORCE, &mut eq);
    assert_eq!(eq.f[..2], [-4.0, 1.0]);
}

#[test]
fn inputs_that_say_too_much_or_nothing_are_refused() {
    let said = |input: &str| {
        let Err(Failure { diagnostics: errors, .. }) = compiled(
            &pendulum("0", &format!("controllers.c = {{ kind = 'input', {input} }}")),
            &LoadOptions::default(),
        ) else {
            panic!("{input}")
        };
        errors[0].message.clone()
    };
    assert_eq!(said("value = 1, values = { u = 1 }"), "controller `c` takes `value` or `values`, not both");
    assert_eq!(said("values = {}"), "controller `c` has no values");
    assert_eq!(said("values = { 'a b' = 1 }"), "`a b` in controller `c` is not a name");
}
