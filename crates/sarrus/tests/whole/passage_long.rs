//! Every singular position of a run is recorded, in long rows and over long steps too, and long rows pass in few steps.

use sarrus::prelude::*;
use sarrus::solve::integrators::{self, Because, Samples, integrate};
use sarrus::solve::{
    Counts, Crossing, Dynamics, Options, Problem, Regularize, SingularityRecord, State, StepControl, StepMode,
};
use sarrus::solve::{formulations, stabilizations};
use std::f64::consts::PI;

/// Holds what a run of the row of `n` parallelograms shows.
struct Ran {
    state: State,
    passages: Vec<SingularityRecord>,
    counts: Counts,
    checks: u64,
}

fn run(n: usize, kind: Regularize, integrator: &str, size: f64, t_end: f64) -> Ran {
    let set = vec![("n".to_string(), n.to_string())];
    let options = LoadOptions { set: set.into_iter().collect(), ..LoadOptions::default() };
    let text = sarrus_zoo::model("n_four_bar").unwrap();
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = std::sync::Arc::new(compile(&model).unwrap());
    let mut state = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap().state;
    let found = integrators::find(integrator).unwrap();
    let mut method = (found.new)(&Options::new()).unwrap();
    let mut control = StepControl::new(size, 1e-2 * size, (!found.adaptive).then_some(size)).unwrap();
    let mut m = system.mechanism();
    m.accept(&state);
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let stabilization = stabilizations::make("projection", &none).unwrap();
    let mut d = Dynamics::new(&mut m, formulation, stabilization).unwrap();
    d.regularize(kind, if found.adaptive { StepMode::Chosen(size) } else { StepMode::Fixed }).unwrap();
    let ended =
        integrate(&mut d, &mut method, &mut control, &mut state, t_end, &mut Samples::none(), &mut ());
    if let Because::Failed(error) = ended.because {
        panic!("n = {n}: {error}");
    }
    Ran { passages: d.passages().to_vec(), counts: d.counts(), checks: d.checks(), state }
}

/// The reduced equation θ'' = -k cos θ of the row, from upright with θ' = -1, by classic Runge-Kutta steps of 10⁻⁴ s: the times at which
/// sin θ = 0 before `t_end`, by a parabola through the step, and the angle there.
fn reduced(n: usize, t_end: f64) -> (Vec<f64>, f64) {
    let n = n as f64;
    let k = ((n + 1.0) / 2.0 + n) / ((n + 1.0) / 3.0 + n) * 9.81;
    let slope = |s: [f64; 2]| [s[1], -k * s[0].cos()];
    let (steps, mut s, mut times) = ((t_end / 1e-4).round() as usize, [0.5 * PI, -1.0], Vec::new());
    let h = t_end / steps as f64;
    for i in 0..steps {
        let ahead = |a: f64, d: [f64; 2]| [s[0] + a * d[0], s[1] + a * d[1]];
        let k1 = slope(s);
        let k2 = slope(ahead(0.5 * h, k1));
        let k3 = slope(ahead(0.5 * h, k2));
        let k4 = slope(ahead(h, k3));
        let next: [f64; 2] =
            std::array::from_fn(|j| s[j] + h / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j]));
        let line = (next[0] / PI).ceil() * PI;
        if line <= s[0] && line > next[0] {
            // s₀ + v t + a t²/2 = line, once improved
            let t = (line - s[0]) / s[1];
            times.push(i as f64 * h + (line - s[0]) / (s[1] + 0.5 * k1[1] * t));
        }
        s = next;
    }
    (times, s[0])
}

fn check(n: usize, ran: &Ran, t_end: f64, what: &str) {
    let (times, angle) = reduced(n, t_end);
    let seen: Vec<f64> = ran.passages.iter().map(|p| p.at).collect();
    assert_eq!(seen.len(), times.len(), "{what}: {seen:?} of {times:?}");
    for (p, t) in ran.passages.iter().zip(&times) {
        assert_eq!((p.crossing, p.losses), (Crossing::Passed, n), "{what}: {p:?}");
        assert!(!p.rows.is_empty() && p.speed > 0.0, "{what}: {p:?}");
        // between the ends of a long step positions are interpolated
        assert!((p.at - t).abs() < 1e-3, "{what}: {} for {t}", p.at);
    }
    assert!((ran.state.q[2] - angle).abs() < 1e-4, "{what}: {} for {angle}", ran.state.q[2]);
}

#[test]
fn every_passage_of_a_row_is_recorded() {
    for n in [1, 2, 10] {
        for (integrator, size) in [("dop853", 1e-8), ("dop853", 1e-5), ("rk45", 1e-6), ("rk4", 1e-2)] {
            let what = format!("n = {n} {integrator} {size:e}");
            check(n, &run(n, Regularize::Jets, integrator, size, 10.0), 10.0, &what);
        }
    }
}

#[test]
fn every_passage_of_forty_loops_is_recorded() {
    check(40, &run(40, Regularize::Jets, "dop853", 1e-6, 10.0), 10.0, "n = 40");
}

/// More rows become dependent at once than can be followed: their number, and when, all the same.
#[test]
fn every_passage_of_very_long_rows_is_recorded() {
    for (n, t_end) in [(200, 1.4), (1000, 0.8)] {
        check(n, &run(n, Regularize::Jets, "dop853", 1e-8, t_end), t_end, &format!("n = {n}"));
    }
}

#[test]
fn the_rows_of_the_paper_record_every_passage() {
    check(1, &run(1, Regularize::Amirouche, "dop853", 1e-8, 10.0), 10.0, "n = 1");
}

/// What rounding makes across the constraints near a singular position of a long row is no reason for short steps: projection takes it
/// away. Steps that shrink to nothing there take thousands of right-hand sides.
#[test]
fn long_rows_pass_in_few_steps_with_and_without_windows() {
    for n in [100, 300] {
        let ran = run(n, Regularize::Off, "dop853", 1e-8, 1.4);
        let (_, angle) = reduced(n, 1.4);
        assert!((ran.state.q[2] - angle).abs() < 1e-6, "n = {n}: {} for {angle}", ran.state.q[2]);
        assert!(ran.counts.rhs < 1000, "n = {n}: {:?}", ran.counts);
    }
}

/// A crossing costs a few dozen decompositions, not some for every right-hand side.
#[test]
fn passages_take_few_looks() {
    for n in [1, 2, 10] {
        let ran = run(n, Regularize::Jets, "dop853", 1e-8, 10.0);
        let plain = run(n, Regularize::Off, "dop853", 1e-8, 10.0);
        assert!(ran.checks <= 30 * ran.passages.len() as u64, "n = {n}: {}", ran.checks);
        assert!(10 * ran.counts.rhs <= 11 * plain.counts.rhs, "{:?} {:?}", ran.counts, plain.counts);
    }
}
