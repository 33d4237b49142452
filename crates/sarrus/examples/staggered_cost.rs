//! Describes what a staggered step costs on a chain, in units of one evaluation of the equations plus one block-sparse solution.
//!
//!     cargo run --release -p sarrus --example staggered_cost -- [n ...]
//!
//! The unit is what a right-hand side of any explicit method pays: `Problem::update` up to forces, then the accelerations of `proximal`
//! (a factorization of J M⁻¹Jᵀ, a solution, its residual). Both are timed in turn within one process, so that a busy machine disturbs
//! them alike, each as the lower quartile of many: the least would show only those steps that need no correction. The ratio of the means
//! stands beside that of the quartiles: it has all corrections in it, and all that disturbed the machine.

use sarrus::prelude::*;
use sarrus::solve::{
    Accel, Dynamics, Equations, HUB_DEGREE, Kkt, Options, Problem, Stage, State, StepControl, formulations,
    integrators, stabilizations,
};
use sarrus_zoo::model;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// Methods, each with its options.
const METHODS: [(&str, &str); 3] =
    [("symmetric", "form=symmetric"), ("one_step", "form=one_step"), ("paper", "form=paper")];

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<usize> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![100, 1000, 10_000, 100_000];
    }
    println!(
        "| links | evaluation [µs per body] | solution | form | step [µs per body] | ratio | of means | corrections a step |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for n in sizes {
        let (start, system) = moving_chain(n)?;
        let rounds = (3_000_000 / n).clamp(60, 3000);
        for (name, options) in METHODS {
            let ([quartiles, means], corrections) = measure(&system, &start, n, options, rounds)?;
            let [evaluation, solution, step] = quartiles;
            let per_body = |seconds: f64| 1e6 * seconds / n as f64;
            println!(
                "| {n} | {:.4} | {:.4} | {name} | {:.4} | {:.2} | {:.2} | {corrections:.2} |",
                per_body(evaluation),
                per_body(solution),
                per_body(step),
                step / (evaluation + solution),
                means[2] / (means[0] + means[1])
            );
        }
    }
    Ok(())
}

/// The chain of `models/chain.toml`, turning as a whole about its support at 1 rad/s, so that no velocity is zero.
fn moving_chain(n: usize) -> Result<(State, Arc<System>), Box<dyn Error>> {
    let set = vec![("n".to_string(), n.to_string())];
    let text = model("chain").ok_or("no model `chain`")?;
    let chain = load_str("chain.toml", text, &LoadOptions { set, ..LoadOptions::default() })?;
    let system = Arc::new(compile(&chain).map_err(|_| "the chain does not compile")?);
    let mut s = sarrus::analysis::assemble(&chain, &system, Default::default())?.state;
    for (v, q) in s.v.chunks_exact_mut(6).zip(s.q.chunks_exact(7)) {
        // ω × p and ω, ω along z; links lie along x, with axes of their own
        v[..3].copy_from_slice(&[-q[1], q[0], 0.0]);
        let [w, x, y, z] = [q[3], q[4], q[5], q[6]];
        v[3..].copy_from_slice(&[2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)]);
    }
    Ok((s, system))
}

/// Of an evaluation, a solution and a step: lower quartiles, and means.
type Seconds = [[f64; 3]; 2];

/// Lower quartiles and means over `rounds` of the seconds of an evaluation, a solution and a step; and how often in a step positions
/// were found to need a correction.
fn measure(
    system: &Arc<System>,
    start: &State,
    n: usize,
    options: &str,
    rounds: usize,
) -> Result<(Seconds, f64), Box<dyn Error>> {
    let none = Options::new();
    let mut given = Options::new();
    if let Some((name, value)) = options.split_once('=') {
        given.set(name, value);
    }
    let mut method = (integrators::find("staggered")?.new)(&given)?;
    let mut mechanism = system.mechanism();
    let mut other = system.mechanism();
    let mut eq = Equations::new(&other);
    let mut kkt = Kkt::new(&system.structure, &eq, HUB_DEGREE)?;
    let mut accel = Accel::zeros(&system.structure);
    let mut proximal = formulations::make("proximal", &none)?;
    let formulation = formulations::make("proximal", &none)?;
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilizations::make("none", &none)?)?;
    let mut s = start.clone();
    let mut control = StepControl::new(1e-6, 1e-8, Some(0.02 / n as f64))?;
    control.t_end = f64::MAX;
    method.prepare(&system.structure);
    let mut times = [0, 1, 2].map(|_| Vec::with_capacity(rounds));
    for _ in 0..rounds {
        let mut clock = |i: usize, begin: Instant| times[i].push(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        other.update(&s, Stage::FORCE, &mut eq);
        clock(0, begin);
        let begin = Instant::now();
        proximal.accelerations(&system.structure, &eq, &mut kkt, &mut accel)?;
        clock(1, begin);
        let begin = Instant::now();
        method.step(&mut dynamics, &mut s, &mut control)?;
        clock(2, begin);
    }
    let corrections = dynamics.counts().projection_iterations as f64 / rounds as f64;
    let means = times.each_ref().map(|times| times.iter().sum::<f64>() / rounds as f64);
    let quartiles = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[rounds / 4]
    });
    Ok(([quartiles, means], corrections))
}
