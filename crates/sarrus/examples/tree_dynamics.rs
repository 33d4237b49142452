//! Mass matrix, bias, inverse and forward dynamics of a tree at given states, with the time of a call.
//!
//!     cargo run --release -p sarrus --example tree_dynamics -- MODEL < states
//!
//! A line of the input holds q, ẏ... : coordinates, speeds and their rates, in the order of the joints that the first line of
//! the output names; the last number of the first input line, alone in it, says how often each call is repeated. For each state
//! five lines follow: M by rows, c, τ = M ẏ + c, ẏ of τ = 0, and the least seconds a call of M, c, τ and ẏ took.

use sarrus::prelude::*;
use sarrus::system::TreeDynamics;
use sarrus::system::tree::InboardJoint;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Instant;

/// Batches of which the fastest counts.
const BATCHES: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a model file")?;
    let model = load(&path, &LoadOptions::default()).map_err(|e| e.render())?;
    let system = Arc::new(compile(&model).map_err(|_| "the model does not compile: try `sarrus check`")?);
    let mut tree = TreeDynamics::new(&system)?;
    if !tree.tree().is_whole() {
        return Err("the model has loops, constraints or drivers: it is no tree".into());
    }
    let names = tree.tree().links().iter().map(|link| match &link.hinge {
        InboardJoint::Joint(on) => system.directory.joints[on.joint].name.as_str(),
        InboardJoint::Free => system.directory.bodies[link.body].name.as_str(),
    });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", names.collect::<Vec<_>>().join(" "))?;

    let (nq, ny) = (tree.tree().structure().nq, tree.tree().structure().nv);
    let mut s = tree.start();
    let mut repeat = 1;
    for line in std::io::stdin().lock().lines() {
        let numbers: Vec<f64> = line?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        if let [times] = numbers[..] {
            repeat = times as usize;
            continue;
        }
        if numbers.len() != nq + 2 * ny {
            return Err(format!("a state has {} numbers, not {}", nq + 2 * ny, numbers.len()).into());
        }
        s.q.copy_from_slice(&numbers[..nq]);
        s.v.copy_from_slice(&numbers[nq..nq + ny]);
        let rates = &numbers[nq + ny..];
        let (mut M, mut c) = (vec![0.0; ny * ny], vec![0.0; ny]);
        let (mut tau, mut ydot, none) = (c.clone(), c.clone(), c.clone());
        let times = [
            time(repeat, || tree.mass_matrix(&s, &mut M)),
            time(repeat, || tree.bias(&s, &mut c)),
            time(repeat, || tree.inverse_dynamics(&s, rates, &mut tau)),
            time(repeat, || tree.forward_dynamics(&s, &none, &mut ydot)),
        ];
        for line in [&M[..], &c, &tau, &ydot, &times] {
            let text: Vec<String> = line.iter().map(|x| format!("{x:?}")).collect();
            writeln!(out, "{}", text.join(" "))?;
        }
    }
    Ok(())
}

/// Seconds that a call takes, at its fastest.
fn time(repeat: usize, mut call: impl FnMut()) -> f64 {
    (0..BATCHES).fold(f64::INFINITY, |least, _| {
        let start = Instant::now();
        (0..repeat).for_each(|_| call());
        least.min(start.elapsed().as_secs_f64() / repeat as f64)
    })
}
