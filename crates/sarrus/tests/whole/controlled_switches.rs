//! Forces that switch or peak in what they read of controllers, and controllers that do: work and momentum are closed forms.

use crate::common::run_by;
use sarrus::model::functions::{Closure, Functions};
use sarrus::prelude::*;
use std::sync::Arc;

const INTEGRATORS: [&str; 4] = ["dop853", "rk45", "abm", "radau5"];
/// Marks where the feature is on the way of 600 m \[m\].
const LIMIT: f64 = 317.3;

/// Two bodies of 1 kg, `a` at 100 m/s along x, and what `more` adds with the numbers `C` (the place), `W` (a width) and `H` (a height).
fn model(more: &str, [width, height]: [f64; 2]) -> String {
    let numbers = [("CC", LIMIT), ("WW", width), ("HH", height)];
    let more = numbers.iter().fold(more.to_string(), |text, (c, x)| text.replace(c, &format!("{x:?}")));
    format!(
        "format = 'sarrus/1'
        space = 'planar'
        gravity = [0, 0]
        run.t_end = 6
        output.every = 6
        bodies.a = {{ at = [0, 0], mass = 1, inertia = 1 }}
        bodies.b = {{ at = [0, 1], mass = 1, inertia = 1 }}
        initial.a.velocity = [100, 0]
        {more}"
    )
}

/// A force along x on a body, and controllers.
fn on(body: &str, force: &str, controllers: &str) -> String {
    format!("forces.f = {{ kind = 'force', body = '{body}', force = ['{force}', 0] }}\n{controllers}")
}

fn last(outcome: &Outcome, column: &str) -> f64 {
    let index = outcome.trajectory.index(column).unwrap_or_else(|| panic!("no column {column}"));
    outcome.trajectory.rows().last().unwrap()[index]
}

/// No note says that something was not searched.
fn assert_searched(outcome: &Outcome, what: &str) {
    let found =
        |note: &&String| note.contains("bounded") || note.contains("searched") || note.contains("switched");
    let notes: Vec<&String> = outcome.report.notes.iter().filter(found).collect();
    assert!(notes.is_empty(), "{what}: {notes:?}");
}

const ODE: &str = "controllers.c = { kind = 'ode', outputs = ";

/// Forces on `a` with their work over H W.
fn pushes() -> Vec<(String, f64)> {
    let root = std::f64::consts::PI.sqrt();
    let input = "controllers.c = { kind = 'input', values = { u = 1, w = 0 } }";
    let sampled = "controllers.c = { kind = 'sampled', period = 0.7, outputs = { u = 't*0 + 1' } }";
    let pid = |keys: &str| on("a", "c.out", &format!("controllers.c = {{ kind = 'pid', {keys} }}"));
    // 2(1 - s²) cut off at 1: level up to 1/√2
    let s = 0.5f64.sqrt();
    let hump = 2.0 * s + 4.0 * (2.0 / 3.0 - (s - s.powi(3) / 3.0));
    vec![
        (on("a", "HH*c.u*exp(-((a.x - CC)/WW)^2)", input), root),
        (on("a", "HH*exp(-((c.u*a.x - CC + c.w)/WW)^2)", input), root),
        (on("a", "if(c.u*a.x > CC and a.x < CC + WW, HH, 0)", input), 1.0),
        (on("a", "HH*c.u*exp(-((a.x - CC)/WW)^2)", sampled), root),
        (on("a", "c.u", &format!("{ODE}{{ u = 'HH*exp(-((a.x - CC)/WW)^2)' }} }}")), root),
        (on("a", "c.u", &format!("{ODE}{{ u = 'if(a.x > CC and a.x < CC + WW, HH, 0)' }} }}")), 1.0),
        (on("a", "max(0, c.u)", &format!("{ODE}{{ u = 'HH*(1 - ((a.x - CC)/WW)^2)' }} }}")), 4.0 / 3.0),
        // the second reads the first, which comes after it in the file
        (
            on(
                "a",
                "d.w",
                &format!(
                    "controllers.d = {{ kind = 'ode', outputs = {{ w = 'HH*exp(-c.u^2)' }} }}\n{ODE}{{ u = '(a.x - CC)/WW' }} }}"
                ),
            ),
            root,
        ),
        (pid("input = 'exp(-((a.x - CC)/WW)^2)', kp = HH"), root),
        (pid("input = '1 - ((a.x - CC)/WW)^2', kp = 'HH*2', limits = [0, HH]"), hump),
        (pid("input = 'if(abs(a.x - CC) < WW, 1, 0)', kp = HH"), 2.0),
    ]
}

#[test]
fn work_of_a_narrow_force_that_reads_a_controller_shows_in_the_speed() {
    let work = 200.0;
    for (force, integral) in pushes() {
        for width in [1e-2, 1e-4, 1e-6] {
            let w = 600.0 * width;
            let text = model(&force, [w, work / w]);
            let expected = (1e4 + 2.0 * work * integral).sqrt();
            for integrator in INTEGRATORS {
                let outcome = run_by(&text, integrator, None);
                let error = (last(&outcome, "a.vx") - expected).abs();
                assert!(error < 2e-4, "{force} by {integrator}, {width}: {error} off");
                assert!(outcome.report.counts.steps < 3000, "{force} by {integrator}: many steps");
                assert_searched(&outcome, &format!("{force} by {integrator}, {width}"));
            }
        }
    }
}

/// Forces on `b` whose impulse is H W/100 times a number: `a` passes, or a state does.
fn blows() -> Vec<(String, f64)> {
    let root = std::f64::consts::PI.sqrt();
    let state = "controllers.c = { kind = 'ode', states = { s = 0 }, rates = { s = '100' } }";
    // s = 100 t
    let far = "controllers.c = { kind = 'ode', states = { s = 0 }, rates = { s = '100 + 0.1*(100*t - s)' } }";
    let rate = "controllers.c = { kind = 'pid', input = 'a.x^2/200', kd = 1 }";
    let filter = "controllers.c = { kind = 'pid', input = 'a.x', kp = 1, ki = 1e-30 }";
    vec![
        (on("b", "HH*exp(-((c.s - CC)/WW)^2)", state), root),
        (on("b", "if(c.s > CC and c.s < CC + WW, HH, 0)", state), 1.0),
        (on("b", "HH*exp(-((c.s - CC)/WW)^2)", far), root),
        // d/dt x²/200 = x at 100 m/s
        (on("b", "HH*exp(-((c.out - CC)/WW)^2)", rate), root),
        (on("b", "if(c.out > CC and c.out < CC + WW, HH, 0)", rate), 1.0),
        (on("b", "HH*exp(-((c.out - CC)/WW)^2)", filter), root),
    ]
}

#[test]
fn impulse_of_a_force_that_peaks_in_a_state_or_an_output_shows_in_the_speed() {
    for (force, integral) in blows() {
        for width in [1e-2, 1e-4, 1e-5, 1e-6] {
            let w = 600.0 * width;
            if force.contains("if(") && width < 1e-5 {
                // one unit in the last place of the time would change the speed by more than the tolerances
                continue;
            }
            let text = model(&force, [w, 100.0 / w]);
            for integrator in INTEGRATORS {
                let outcome = run_by(&text, integrator, None);
                assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
                let error = (last(&outcome, "b.vx") - integral).abs();
                assert!(error < 2e-5, "{force} by {integrator}, {width}: {error} off");
                assert!(outcome.report.counts.steps < 3000, "{force} by {integrator}: many steps");
            }
        }
    }
}

#[test]
fn a_state_whose_rate_switches_or_peaks_has_its_integral() {
    let root = std::f64::consts::PI.sqrt();
    let ode =
        |rate: &str| format!("{ODE}{{ u = '2*s' }}, states = {{ s = 0 }}, rates = {{ s = '{rate}' }} }}");
    let pid = |input: &str| format!("controllers.c = {{ kind = 'pid', input = '{input}', ki = 1 }}");
    for (controller, column, integral) in [
        (ode("HH*exp(-((a.x - CC)/WW)^2)"), "c.s", root),
        (ode("if(a.x > CC and a.x < CC + WW, HH, 0)"), "c.s", 1.0),
        (ode("max(0, HH*(1 - ((a.x - CC)/WW)^2)) + 0*u"), "c.u", 8.0 / 3.0),
        (pid("HH*exp(-((a.x - CC)/WW)^2)"), "c.out", root),
        (pid("if(a.x > CC and a.x < CC + WW, HH, 0)"), "c.integral", 1.0),
    ] {
        for width in [1e-2, 1e-4, 1e-5] {
            let w = 600.0 * width;
            let text = model(&controller, [w, 100.0 / w]);
            for integrator in INTEGRATORS {
                let outcome = run_by(&text, integrator, None);
                let what = format!("{controller} by {integrator}, {width}");
                let error = (last(&outcome, column) - integral).abs();
                assert!(error < 1e-5, "{what}: {error} off");
                assert!(outcome.report.counts.steps < 3000, "{what}: many steps");
                assert_searched(&outcome, &what);
            }
        }
    }
}

/// The demand passes the limit where the integral is held, and where it is not.
#[test]
fn a_step_ends_where_a_demand_passes_a_limit() {
    for ki in [0.0, 1e-9] {
        // e = 2 - x/100 from 2 to -4: the output is 1 up to 1 s, and -1 from 3 s on
        let pid = format!(
            "controllers.c = {{ kind = 'pid', input = '2 - a.x/100', kp = 1, ki = {ki}, limits = [-1, 1] }}"
        );
        let text = model(&on("b", "c.out", &pid), [1.0, 1.0]);
        for integrator in INTEGRATORS {
            let outcome = run_by(&text, integrator, None);
            let [v, x] = [last(&outcome, "b.vx"), last(&outcome, "b.x")];
            // momentum 1 + 0 - 3, and where it is
            assert!((v + 2.0).abs() < 1e-7, "{integrator}: {v}");
            assert!((x - (0.5 + 2.0 + 2.0 / 3.0 + 3.0 - 4.5)).abs() < 1e-6, "{integrator}: {x}");
        }
    }
}

fn given(name: &str, function: Closure) -> LoadOptions {
    let mut functions = Functions::default();
    functions.add(name, function);
    LoadOptions { functions, ..LoadOptions::default() }
}

/// The notes of a run of what calls the function `g`, given by the program.
fn notes(more: &str) -> Vec<String> {
    let options = given("g", Closure::new(1, |x| x[0]));
    let model = load_str("model.toml", &model(more, [1.0, 1.0]), &options).unwrap();
    let system = Arc::new(compile(&model).unwrap_or_else(|_| panic!("{more}")));
    simulate(&model, &system, &Simulate { record: true, ..Simulate::default() }, &mut ())
        .unwrap()
        .report
        .notes
}

#[test]
fn what_has_no_bounds_is_named_with_what_to_do() {
    let ode = |u: &str, rate: &str| {
        format!("{ODE}{{ u = '{u}' }}, states = {{ s = 0 }}, rates = {{ s = '{rate}' }} }}")
    };
    for (text, title) in [
        (on("b", "g(a.x)", ""), "force `f`"),
        (on("b", "g(t)", ""), "force `f`"),
        (on("b", "m", "measures.m = '2*g(a.x)'"), "force `f`"),
        (on("b", "c.u", &ode("g(a.x)", "0")), "force `f`"),
        (on("b", "c.out", "controllers.c = { kind = 'pid', input = 'g(a.x)', kp = 1 }"), "force `f`"),
        (ode("1", "g(a.x)"), "controller `c`"),
    ] {
        let notes = notes(&text);
        let named =
            |note: &&String| note.contains(title) && note.contains("`g`") && note.contains("give a `step`");
        assert_eq!(notes.iter().filter(named).count(), 1, "{text}: {notes:?}");
    }
    for text in [on("b", "sin(a.x)", ""), on("b", "c.u", &ode("sin(a.x)", "cos(a.x)"))] {
        assert!(!notes(&text).iter().any(|note| note.contains("searched")), "{text}");
    }
}

#[test]
fn a_force_that_a_program_writes_is_named() {
    let model = load_str("model.toml", &model("", [1.0, 1.0]), &LoadOptions::default()).unwrap();
    let mut system = compile(&model).unwrap_or_else(|_| panic!());
    let a = system.directory.body("a").unwrap();
    system.add_force("wind", sarrus::system::forces::ClosureForce::on(vec![a], |_, _| ()));
    let request = Simulate { record: true, ..Simulate::default() };
    let report = simulate(&model, &Arc::new(system), &request, &mut ()).unwrap().report;
    let named = |note: &String| note.contains("force `wind`") && note.contains("give a `step`");
    assert!(report.notes.iter().any(named), "{:?}", report.notes);
}
