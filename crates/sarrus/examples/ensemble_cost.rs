//! Describes what a step of `rk4` with projection costs: a single run by tables, eight variants in lanes, and all cores.
//!
//!     cargo run --release -p sarrus --example ensemble_cost -- [variants [rounds [model]]]
//!
//! Microseconds per variant and step, the least of the rounds, which are taken in turn.

use sarrus::prelude::*;
use sarrus::solve::State;
use sarrus::solve::ensemble::{self, FixedStep, LANES, Variant};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// A model, what is set in it, step and end of the run.
type Case = (&'static str, &'static [(&'static str, &'static str)], f64, f64);

const MODELS: [Case; 5] = [
    ("four_bar", &[], 1e-4, 0.2),
    ("n_four_bar", &[("n", "4")], 1e-3, 0.5),
    ("andrews", &[], 1e-6, 1e-3),
    ("double_pendulum", &[], 1e-3, 1.0),
    ("mcpherson", &[], 1e-3, 0.5),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let variants = given.next().map_or(Ok(64), |n| n.parse::<usize>())?;
    let rounds = given.next().map_or(Ok(5), |n| n.parse::<usize>())?;
    let only = given.next();
    let cores = std::thread::available_parallelism()?.get();
    println!("| model | one | lanes | ratio | on {cores} cores | ratio | left |");
    println!("|---|---|---|---|---|---|---|");
    let asked = |name: &str| only.as_ref().is_none_or(|only| only == name);
    for (name, set, step, t_end) in MODELS.into_iter().filter(|(name, ..)| asked(name)) {
        let set = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        let text = sarrus_zoo::model(name).ok_or("no such model")?;
        let model = load_str(name, text, &LoadOptions { set, ..LoadOptions::default() })?;
        let system = Arc::new(compile(&model).map_err(|_| "it does not compile")?);
        let start = sarrus::analysis::assemble(&model, &system, Default::default())?.state;
        let method = FixedStep::rk4(step, t_end).ok_or("a step")?;
        let steps = (t_end / step).round() * variants as f64;
        let mut least = [f64::INFINITY; 3];
        let mut left = 0;
        for _ in 0..rounds {
            for (i, (width, threads)) in [(1, 1), (LANES, 1), (LANES, cores)].into_iter().enumerate() {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
                let batch = (0..variants).map(|k| member(&system, &start, k)).collect();
                let clock = Instant::now();
                let outcomes = pool.install(|| ensemble::run_in(batch, &method, &|_, _| (), width));
                least[i] = least[i].min(1e6 * clock.elapsed().as_secs_f64() / steps);
                left = outcomes.iter().filter(|o| o.left.is_some()).count();
            }
        }
        let [one, lanes, all] = least;
        println!(
            "| {name} | {one:.3} | {lanes:.3} | {:.2} | {all:.3} | {:.2} | {left} |",
            one / lanes,
            lanes / all
        );
    }
    Ok(())
}

/// The start, a little faster from one to the next.
fn member(system: &Arc<System>, start: &State, k: usize) -> Variant {
    let mut start = start.clone();
    start.v.iter_mut().for_each(|v| *v *= 1.0 + 1e-3 * k as f64);
    Variant { problem: Box::new(system.mechanism()), start }
}
