//! A controller between the two modules of the staggered procedure, in Rust: it sees the multipliers and gives forces.
//!
//!     cargo run -p sarrus --example controller_between_modules
//!
//! A block slides on a level rail, and its brake grips in proportion to what the rail bears, F = -κ N v: a force that needs a
//! reaction, which no force of a model file can read. With N = m g the motion is known, v = v₀ exp(-κ g t).
//!
//! The same law in a model file is a sampled controller, `outputs = { u = "-kappa*abs(rail.fy)*rail.speed" }`, with `period`
//! equal to `run.step`: it holds its force over a step and so is of first order in the step where this one is of second.

use sarrus::prelude::*;
use sarrus::solve::integrators::{StaggeredForm, StaggeredMethod};
use sarrus::solve::staggered::{Epsilon, MultiplierController};
use sarrus::solve::{
    Dynamics, Integrator, Options, Problem, State, StepControl, formulations, stabilizations,
};
use std::error::Error;
use std::sync::Arc;

/// A block of 2 kg that starts at 3 m/s.
pub const MODEL: &str = r#"
format = "sarrus/1"
space = "planar"
bodies.block = { at = [0, 0], mass = 2, inertia = 0.1 }
joints.rail = { kind = "prismatic", bodies = ["ground", "block"], at = [0, 0] }
initial.rail.speed = 3
"#;
/// κ \[s/m\].
pub const KAPPA: f64 = 0.1;
const G: f64 = 9.81;

/// The brake: places of the block's velocity along the rail and of the rail's multiplier across it.
struct Brake {
    along: usize,
    across: usize,
}

impl MultiplierController for Brake {
    fn act(&mut self, s: &State, lambda: &[f64], f: &mut [f64]) {
        f[self.along] -= KAPPA * lambda[self.across].abs() * s.v[self.along];
    }
}

/// Steps of `h` to `t_end`: the time, position, speed, and force across the rail at the end of each.
pub fn run(h: f64, t_end: f64) -> Result<Vec<[f64; 4]>, Box<dyn Error>> {
    let model = load_str("block.toml", MODEL, &LoadOptions::default())?;
    let system = Arc::new(compile(&model).map_err(|_| "the model does not compile")?);
    let mut s = sarrus::analysis::assemble(&model, &system, Default::default())?.state;

    // where the controller finds what it reads: the first row of a slider is the one across it
    let block = system.directory.body("block").ok_or("no block")?;
    let along = system.directory.bodies[block as usize].v;
    let rail = system.elements.iter().find(|e| e.name == "rail").ok_or("no rail")?;
    let across = rail.start;

    let method = StaggeredMethod::new(StaggeredForm::Symmetric, Epsilon::Auto, 4, false)
        .with_controller(Box::new(Brake { along, across }));
    let mut method = Integrator::Staggered(Box::new(method));
    let mut mechanism = system.mechanism();
    // the staggered procedure asks for neither of these two
    let formulation = formulations::make("proximal", &Options::new())?;
    let stabilization = stabilizations::make("none", &Options::new())?;
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization)?;
    let mut control = StepControl::new(1e-6, 1e-8, Some(h))?;
    control.t_end = t_end;
    method.prepare(dynamics.problem().structure());

    let mut rows = Vec::new();
    while s.t < t_end {
        method.step(&mut dynamics, &mut s, &mut control)?;
        let force = method.multipliers().map_or(f64::NAN, |lambda| lambda[across].abs());
        rows.push([s.t, s.q[along], s.v[along], force]);
    }
    Ok(rows)
}

/// Position and speed of the block at `t`.
pub fn exact(t: f64) -> [f64; 2] {
    let rate = KAPPA * G;
    let speed = 3.0 * (-rate * t).exp();
    [(3.0 - speed) / rate, speed]
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("| t [s] | speed [m/s] | exact | force across the rail [N] |");
    println!("|---|---|---|---|");
    for [t, _, speed, force] in run(0.01, 2.0)?.into_iter().skip(19).step_by(20) {
        println!("| {t:.1} | {speed:.6} | {:.6} | {force:.4} |", exact(t)[1]);
    }
    Ok(())
}
