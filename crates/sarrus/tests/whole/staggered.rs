//! The staggered procedure on mechanisms: order, long runs, rolling, redundant rows, and how a run asks for it.
//!
//! Reference numbers are those of the zoo, and for the forces on the rolling ball of an independent integration in the coordinates
//! of \[Park1987\] (x, y, Euler parameters), trusted to 1e-10.

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use sarrus::solve::{
    Dynamics, Equations, Options, Problem, Stage, State, StepControl, Structure, formulations, integrators,
    stabilizations,
};
use sarrus_zoo::{PROBLEMS, ReferenceValues, model};
use std::sync::Arc;

fn system(name: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    let set = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model = load_str(&format!("{name}.toml"), model(name).unwrap(), &options)
        .unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn options(text: &str) -> Options {
    let mut options = Options::new();
    for (name, value) in text.split(',').filter_map(|o| o.split_once('=')) {
        match value.parse::<f64>() {
            Ok(x) => options.set(name, x),
            Err(_) => options.set(name, value),
        };
    }
    options
}

/// Holds what a run shows at the end of a step.
struct Seen<'a> {
    s: &'a State,
    /// Largest |Φ| and |Φ̇|.
    violation: [f64; 2],
    /// Error of the energy balance \[J\].
    energy: f64,
    lambda: &'a [f64],
    structure: &'a Structure,
    eq: &'a Equations,
}

/// Steps of `h` to `t_end` with the method `text`, shown to `see`.
fn run(name: &str, set: &[(&str, &str)], text: &str, h: f64, t_end: f64, mut see: impl FnMut(&Seen)) {
    let (model, system) = system(name, set);
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&start.discrete);
    let none = Options::new();
    let mut dynamics = Dynamics::new(
        &mut mechanism,
        formulations::make("proximal", &none).unwrap(),
        stabilizations::make("none", &none).unwrap(),
    )
    .unwrap();
    let (kind, given) = text.split_once(':').unwrap_or((text, ""));
    let mut method = (integrators::find(kind).unwrap().new)(&options(given)).unwrap();
    let mut control = StepControl::new(1e-6, 1e-8, Some(h)).unwrap();
    control.t_end = t_end;
    let mut s = start.state;
    method.prepare(&system.structure);
    let first = dynamics.problem_mut().energy(&s).balance();
    let mut eq = Equations::new(dynamics.problem());
    while s.t < t_end {
        method.step(&mut dynamics, &mut s, &mut control).unwrap();
        let problem = dynamics.problem_mut();
        let energy = problem.energy(&s).balance() - first;
        problem.update(&s, Stage::VELOCITY, &mut eq);
        let structure = &system.structure;
        let largest = |a: f64, x: &f64| a.max(x.abs());
        let phi = structure.holonomic_rows().flat_map(|r| &eq.phi[r]).fold(0.0, largest);
        let phidot = eq.phidot.iter().fold(0.0, largest);
        let lambda = method.multipliers().unwrap();
        see(&Seen { s: &s, violation: [phi, phidot], energy, lambda, structure, eq: &eq });
    }
}

/// -Jᵀλ of one element on one body (a column block).
fn force(seen: &Seen, element: usize, body: usize) -> Vec<f64> {
    let row = &seen.structure.rows[element];
    let entry = seen.structure.entries[row.entries.clone()].iter().find(|e| e.col == body).unwrap();
    let m = seen.structure.cols[body].size;
    let J = &seen.eq.J[entry.offset..][..row.size * m];
    let lambda = &seen.lambda[row.start..][..row.size];
    (0..m).map(|j| -(0..row.size).map(|i| J[i * m + j] * lambda[i]).sum::<f64>()).collect()
}

fn references(name: &str, t: f64, word: &[&str]) -> Vec<&'static ReferenceValues> {
    let problem = PROBLEMS.iter().find(|p| p.name == name).unwrap();
    let wanted = |r: &&ReferenceValues| r.t == t && word.iter().any(|w| r.columns[0].ends_with(w));
    problem.references.iter().filter(wanted).collect()
}

/// Largest relative errors of positions, velocities and reactions at `t` in the results of a run.
fn errors(name: &str, method: &str, h: f64, t: f64) -> [f64; 3] {
    let (model, system) = system(name, &[]);
    let groups = [&[".x", ".q0"][..], &[".vx", ".wx"], &[".fx"]].map(|words| references(name, t, words));
    let columns = groups.iter().flatten().flat_map(|r| r.columns).map(|c| c.to_string()).collect();
    let MethodText(integrator) = method.parse().unwrap();
    let overrides = RunOverrides {
        integrator: Some(integrator),
        step: Some(h),
        t_end: Some(t),
        every: Some(t),
        columns: Some(columns),
        ..RunOverrides::default()
    };
    let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
    assert_eq!(run.report.status, Status::Completed, "{}", run.report.reason);
    groups.map(|group| {
        let error = |r: &&ReferenceValues| {
            let found: Vec<f64> = r.columns.iter().map(|c| run.trajectory.last(c).unwrap()).collect();
            r.relative_error(&found)
        };
        group.iter().map(error).fold(0.0, f64::max)
    })
}

fn assert_order(what: &str, order: f64, coarse: &[f64], fine: &[f64]) {
    for (i, (coarse, fine)) in coarse.iter().zip(fine).enumerate().filter(|(_, (c, _))| **c > 0.0) {
        let found = (coarse / fine).log2();
        assert!((found - order).abs() < 0.15, "{what} [{i}]: {coarse:.3e} {fine:.3e}, order {found:.2}");
    }
}

#[test]
fn every_form_has_order_two_in_positions_velocities_and_reactions() {
    for (method, h) in [
        ("staggered", 0.004),
        ("staggered:form=paper", 0.004),
        ("staggered:form=one_step", 0.002),
        ("park1987", 0.001),
    ] {
        let at = |h: f64| errors("double_pendulum", method, h, 1.0);
        let (coarse, fine) = (at(h), at(0.5 * h));
        assert!(coarse.iter().all(|e| *e > 0.0 && *e < 0.02), "{method}: {coarse:?}");
        assert_order(method, 2.0, &coarse, &fine);
    }
    let once = "park1987:iterations=1";
    let (coarse, fine) =
        (errors("double_pendulum", once, 0.002, 0.5), errors("double_pendulum", once, 0.001, 0.5));
    assert_order(once, 1.0, &coarse[..2], &fine[..2]);
}

/// λ as the method itself has it, not as the equations of motion give it for its states.
#[test]
fn all_forms_have_multipliers_of_order_two_of_their_own() {
    for method in ["staggered", "staggered:form=paper", "staggered:form=one_step"] {
        let own = |h: f64| {
            let mut error = 0.0_f64;
            run("double_pendulum", &[], method, h, 1.0, |seen| {
                if seen.s.t == 1.0 {
                    for (element, name) in [(0, "O.fx"), (1, "P.fx")] {
                        let reference = references("double_pendulum", 1.0, &[name]);
                        error = error.max(reference[0].relative_error(&force(seen, element, element)[..3]));
                    }
                }
            });
            error
        };
        let (coarse, fine) = (own(0.004), own(0.002));
        assert!(coarse > 0.0 && coarse < 0.01, "{coarse:e}");
        assert_order(method, 2.0, &[coarse], &[fine]);
    }
}

/// A thousand periods of about 2.4 s at eighty steps each. The energy error of a symplectic method swings with h² and goes
/// nowhere; what is lost steadily shows in its mean. (At fifty steps the mean wanders, up and down, however well λ⁺ is solved for:
/// this motion is chaotic, and such steps are too long for it where both bars spin.)
#[test]
fn over_a_thousand_periods_the_symmetric_form_keeps_energy_and_constraints() {
    let (windows, t_end) = (10, 2400.0);
    let mut mean = vec![0.0; windows];
    let mut largest = vec![[0.0_f64; 3]; windows];
    let mut count = vec![0.0; windows];
    run("double_pendulum", &[], "staggered", 0.03, t_end, |seen| {
        let w = ((seen.s.t / t_end * windows as f64) as usize).min(windows - 1);
        mean[w] += seen.energy;
        count[w] += 1.0;
        let now = [seen.violation[0], seen.violation[1], seen.energy.abs()];
        (0..3).for_each(|i| largest[w][i] = largest[w][i].max(now[i]));
    });
    mean.iter_mut().zip(&count).for_each(|(m, n)| *m /= n);
    let swing = largest[0][2];
    assert!(swing < 0.08, "{swing}");
    for w in 1..windows {
        assert!((mean[w] - mean[0]).abs() < 0.1 * swing, "{mean:?}");
        assert!(largest[w][2] < 2.0 * swing, "{largest:?}");
        assert!(largest[w][0] < 1e-7 && largest[w][1] < 1e-8, "{largest:?}");
    }
}

/// As its description says: velocities are held, positions drift.
#[test]
fn the_form_of_the_paper_holds_velocities_and_lets_positions_drift() {
    let mut early = 0.0_f64;
    let mut late = 0.0_f64;
    run("double_pendulum", &[], "staggered:form=paper", 0.01, 60.0, |seen| {
        assert!(seen.violation[1] < 1e-11, "{:e}", seen.violation[1]);
        let drift = if seen.s.t < 5.0 { &mut early } else { &mut late };
        *drift = drift.max(seen.violation[0]);
    });
    assert!(early > 1e-6 && late > 3.0 * early, "{early:e} {late:e}");
}

/// As its description says: Φ is of order h³ and Φ̇ of order h², and neither grows.
#[test]
fn the_one_step_form_bounds_violations() {
    let largest = |h: f64| {
        let mut largest = [[0.0_f64; 2]; 2];
        run("double_pendulum", &[], "staggered:form=one_step", h, 40.0, |seen| {
            let window = usize::from(seen.s.t > 10.0);
            (0..2).for_each(|i| largest[window][i] = largest[window][i].max(seen.violation[i]));
        });
        largest
    };
    let (coarse, fine) = (largest(0.01), largest(0.005));
    for [early, late] in [coarse, fine] {
        assert!((0..2).all(|i| late[i] < 3.0 * early[i]), "{early:?} {late:?}");
    }
    let order = [0, 1].map(|i| (coarse[0][i] / fine[0][i]).log2());
    assert!((order[0] - 3.0).abs() < 0.4 && (order[1] - 2.0).abs() < 0.4, "{order:?}");
}

/// A step that is short beside all that happens finds its end without a correction: one evaluation of positions, not two. Φ is then
/// left at 64 roundings of the largest position, here 1 m, in each of 30 rows.
#[test]
fn an_end_that_was_predicted_is_not_evaluated_twice() {
    let (model, system) = system("chain", &[]);
    let MethodText(integrator) = "staggered".parse().unwrap();
    let overrides = RunOverrides {
        integrator: Some(integrator),
        step: Some(1e-5),
        t_end: Some(5e-3),
        ..RunOverrides::default()
    };
    let report = simulate(&model, &system, &Simulate { overrides, record: false }, &mut ()).unwrap().report;
    assert_eq!(report.status, Status::Completed);
    assert!(report.counts.newton_iterations < report.counts.steps / 2, "{:?}", report.counts);
    assert!(report.violation.position.max < 1e-13, "{:?}", report.violation);
}

#[test]
fn a_rolling_ball_has_order_two_in_positions_and_velocities() {
    let at = |h: f64| errors("rolling_ball", "staggered", h, 2.0);
    let (coarse, fine) = (at(0.01), at(0.005));
    assert!(coarse[0] < 1e-3 && coarse[1] < 1e-2, "{coarse:?}");
    assert_order("staggered", 2.0, &coarse[..2], &fine[..2]);
}

/// Friction of the ground (x, y) and force of the track (x, y) on the ball: -λ1, -λ2, -λ3 cos x, λ3 of the reference.
#[test]
fn forces_on_a_rolling_ball_converge_to_the_reference() {
    let centred: &[(&str, &str)] = &[("a", "1"), ("r0", "0")];
    let cases = [
        (centred, 1.0, 1.0918720855496782_f64, [1.618338397209145, -3.511830726767526, -12.291407543686478]),
        (&[], 2.0, 0.5156637385935652, [-1.492747496415146, -1.1305798051372968, 0.052660789276288346]),
    ];
    for (set, t, x, lambda) in cases {
        let expected = [-lambda[0], -lambda[1], -lambda[2] * x.cos(), lambda[2]];
        let error = |h: f64| {
            let mut error = 0.0_f64;
            run("rolling_ball", set, "staggered", h, t, |seen| {
                if seen.s.t == t {
                    let (ground, track) = (force(seen, 0, 0), force(seen, 1, 0));
                    let found = [ground[0], ground[1], track[0], track[1]];
                    error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                }
            });
            error
        };
        let (coarse, fine) = (error(0.01), error(0.005));
        assert!(coarse < 0.02, "{coarse:e}");
        assert_order("forces", 2.0, &[coarse], &[fine]);
    }
}

#[test]
fn a_centred_ball_keeps_its_speed_to_the_order_of_the_method() {
    let error = |method: &str, h: f64| {
        let mut error = 0.0_f64;
        run("rolling_ball", &[("a", "1"), ("r0", "0")], method, h, 10.0, |seen| {
            error = error.max((seen.s.v[0].hypot(seen.s.v[1]) - 2.0_f64.sqrt()).abs());
            // Φ is evaluated once where w is corrected by less than 3e-4 of itself: the square of that times h |w| is left
            assert!(seen.violation[0] < 5e-9 || method != "staggered", "{:e}", seen.violation[0]);
        });
        error
    };
    for method in ["staggered", "park1987"] {
        let (coarse, fine) = (error(method, 0.02), error(method, 0.01));
        assert!(coarse < 2e-3 && coarse / fine > 3.4, "{method}: {coarse:e} {fine:e}");
    }
}

/// The same suspension with and without rows that say nothing new moves alike.
#[test]
fn redundant_rows_change_nothing_in_the_motion() {
    let at_end = |name: &str| {
        let mut state = State::default();
        run(name, &[], "staggered", 1e-3, 0.5, |seen| {
            assert!(seen.violation[0] < 1e-10 && seen.violation[1] < 1e-8, "{name}: {:?}", seen.violation);
            state = seen.s.clone();
        });
        state
    };
    let (a, b) = (at_end("mcpherson"), at_end("mcpherson_overconstrained"));
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(
        apart(&a.q, &b.q) < 1e-8 && apart(&a.v, &b.v) < 1e-7,
        "{:e} {:e}",
        apart(&a.q, &b.q),
        apart(&a.v, &b.v)
    );
}

#[test]
fn a_report_says_what_was_used() {
    let (model, system) = system("double_pendulum", &[]);
    let over = |text: &str| {
        let MethodText(integrator) = text.parse().unwrap();
        RunOverrides {
            integrator: Some(integrator),
            step: Some(0.01),
            t_end: Some(0.1),
            ..RunOverrides::default()
        }
    };
    let run = |overrides| simulate(&model, &system, &Simulate { overrides, record: true }, &mut ());
    let report = run(over("staggered:form=paper")).unwrap().report;
    assert_eq!(report.method.integrator, "staggered:form=paper");
    assert_eq!(
        (report.method.formulation.as_str(), report.method.stabilization.as_str()),
        ("staggered", "none")
    );
    assert_eq!(report.counts.steps, 10);
    assert!(report.counts.factorizations >= 20);

    let MethodText(direct) = "direct".parse().unwrap();
    let error = run(RunOverrides { formulation: Some(direct), ..over("staggered") }).unwrap_err();
    assert!(error.to_string().contains("`direct`"), "{error}");
}

/// The highest frequency of the chain is what a step is measured by.
#[test]
fn a_report_says_how_near_the_stability_limit_is() {
    let (model, system) = system("chain", &[]);
    let run = |step: f64| {
        let MethodText(integrator) = "staggered".parse().unwrap();
        let t_end = Some(10.0 * step);
        let overrides =
            RunOverrides { integrator: Some(integrator), step: Some(step), t_end, ..RunOverrides::default() };
        simulate(&model, &system, &Simulate { overrides, record: false }, &mut ()).unwrap().report
    };
    let found = |report: &Report| {
        let part = report.method.found.iter().find(|f| f.part == "integrator").unwrap();
        part.stability.unwrap()
    };
    let near = |report: &Report| report.notes.iter().any(|n| n.contains("stability limit"));
    let small = run(1e-3);
    let first = found(&small);
    assert!(first.omega > 1.0 && !near(&small), "{first:?}");
    assert!((first.ratio / (0.5e-3 * first.omega) - 1.0).abs() < 1e-6, "{first:?}");
    assert!(first.epsilon.is_some_and(|e| (1e-14..=1e-9).contains(&e)), "{first:?}");
    let large = run(1.4 / first.omega);
    assert!(found(&large).ratio > 0.69 && near(&large), "{:?} {:?}", found(&large), large.notes);
    let json = serde_json::to_value(&large).unwrap();
    assert!(json.pointer("/method/found/0/stability/omega").is_some(), "{json}");
}

#[test]
fn a_report_of_steps_that_follow_the_tolerance_knows_the_stability_limit() {
    let (model, system) = system("double_pendulum", &[]);
    let MethodText(integrator) = "staggered:adaptive=yes".parse().unwrap();
    let overrides =
        RunOverrides { integrator: Some(integrator), t_end: Some(0.1), ..RunOverrides::default() };
    let report = simulate(&model, &system, &Simulate { overrides, record: false }, &mut ()).unwrap().report;
    let found = report.method.found.iter().find_map(|f| f.stability).unwrap();
    assert!(found.ratio > 0.0 && found.ratio < 0.5, "{found:?}");
}

/// A sleigh, turning: a blade under it slides along its length only.
const SLEIGH: &str = r#"
format = "sarrus/1"
space = "planar"
gravity = [0, 0]
[bodies]
s = { at = [0, 0], mass = 1.0, inertia = 0.5 }
[constraints]
edge = { kind = "knife_edge", body = "s", at = [-0.3, 0], axis = [1, 0] }
[initial]
s.rate = 1.0
s.vx = 0.5
[run]
t_end = 2
"#;

fn slide(method: &str, step: f64, t_end: f64) -> Report {
    let model = load_str("sleigh.toml", SLEIGH, &LoadOptions::default()).unwrap();
    let system = Arc::new(compile(&model).unwrap());
    let MethodText(integrator) = method.parse().unwrap();
    let overrides = RunOverrides {
        integrator: Some(integrator),
        step: Some(step),
        t_end: Some(t_end),
        ..RunOverrides::default()
    };
    simulate(&model, &system, &Simulate { overrides, record: false }, &mut ()).unwrap().report
}

/// Rows without Φ have no Φ that could be taken for rounding: an end is not trusted before it is known.
#[test]
fn rows_at_velocity_level_cost_no_evaluations_in_vain() {
    let report = slide("staggered", 0.05, 20.0);
    assert_eq!(report.status, Status::Completed);
    let (steps, evaluations) = (report.counts.steps, report.counts.rhs);
    assert!(evaluations < steps + steps / 20 + 20, "{:?}", report.counts);
}

/// The two chains of `paper` come apart on such motions, whatever the step.
#[test]
fn a_motion_that_grows_without_bound_is_said_to_do_so() {
    let report = slide("staggered:form=paper", 0.01, 100.0);
    assert_eq!(report.status, Status::Failed);
    assert!(!report.reason.contains("inf") && !report.reason.contains("0.000e0"), "{}", report.reason);
    assert!(report.reason.contains("grew") || report.reason.contains("too large"), "{}", report.reason);
}

#[test]
fn a_step_in_which_bodies_turn_too_far_asks_for_a_shorter_one_and_invents_no_frequency() {
    let (model, system) = system("chain", &[]);
    let MethodText(integrator) = "staggered".parse().unwrap();
    let overrides = RunOverrides { integrator: Some(integrator), step: Some(0.2), ..RunOverrides::default() };
    let report = simulate(&model, &system, &Simulate { overrides, record: false }, &mut ()).unwrap().report;
    assert_eq!(report.status, Status::Failed);
    assert!(
        report.reason.contains("cannot be solved") && report.reason.contains("shorter step"),
        "{}",
        report.reason
    );
    assert!(!report.reason.contains("rad/s"), "{}", report.reason);
}

/// On these, steps once shrank to nothing: velocities that a long step has left on the constraints only to its accuracy, forces
/// evaluated at predicted velocities, and rounding along a chain, none of which falls with the step.
#[test]
fn steps_that_follow_the_tolerance_do_not_shrink_to_nothing() {
    for (name, t_end, most) in
        [("gyroscope", 0.1, 4000), ("bennett", 0.8, 1500), ("coupler", 0.05, 500), ("sarrus", 0.2, 1500)]
    {
        let (model, system) = system(name, &[]);
        let MethodText(integrator) = "staggered:adaptive=yes".parse().unwrap();
        let overrides = RunOverrides {
            integrator: Some(integrator),
            rtol: Some(1e-8),
            atol: Some(1e-10),
            t_end: Some(t_end),
            ..RunOverrides::default()
        };
        let run = simulate(&model, &system, &Simulate { overrides, record: false }, &mut ()).unwrap();
        assert_eq!(run.report.status, Status::Completed, "{name}: {}", run.report.reason);
        assert!(run.report.counts.steps < most, "{name}: {} steps", run.report.counts.steps);
    }
}
