//! Functions written in Rust, called by name in a model: the torque of a motor, and the program of a driver.
//!
//!     cargo run -p sarrus --example functions_by_program
//!
//! A wheel is driven by a torque that falls with its speed, T(ω) = T₀(1 - ω/ω₀). With inertia J it comes up to speed as
//! ω = ω₀(1 - exp(-t/τ)), τ = J ω₀/T₀. Beside it an arm is led along φ = sin²t; since a driver prescribes positions, its function brings
//! the first and second derivatives. Both motions are known, and the program checks what it finds against them.

use sarrus::model::functions::{Closure, Functions};
use sarrus::prelude::*;
use std::error::Error;
use std::sync::Arc;

/// A wheel with a motor, and an arm with a driver.
pub const MODEL: &str = r#"
format = "sarrus/1"
space = "planar"
gravity = [0, 0]
bodies.wheel = { at = [0, 0], mass = 1, inertia = 0.5 }
bodies.arm = { from = [2, 0], to = [3, 0], mass = 1 }
joints.shaft = { kind = "revolute", bodies = ["ground", "wheel"], at = [0, 0] }
joints.hinge = { kind = "revolute", bodies = ["ground", "arm"], at = [2, 0] }
forces.motor = { kind = "actuator", joint = "shaft", torque = "motor_torque(shaft.rate)" }
drivers.lead = { kind = "joint", joint = "hinge", angle = "program(t)" }
run = { t_end = 3, rtol = 1e-9 }
"#;
/// T₀ \[N·m\] and ω₀ \[rad/s\].
const STALL: f64 = 4.0;
const IDLE: f64 = 10.0;
const INERTIA: f64 = 0.5;

/// The functions that the model calls.
pub fn functions() -> Functions {
    let mut functions = Functions::default();
    // where derivatives are not given, implicit methods find first ones by differences
    functions.add("motor_torque", Closure::new(1, |x| STALL * (1.0 - x[0] / IDLE)));
    let program = Closure::new(1, |t| t[0].sin().powi(2))
        .with_gradient(|t, out| out[0] = (2.0 * t[0]).sin())
        .with_second(|t, out| out[0] = 2.0 * (2.0 * t[0]).cos());
    functions.add("program", program);
    functions
}

/// The run: its outcome.
pub fn run() -> Result<Outcome, Box<dyn Error>> {
    let options = LoadOptions { functions: functions(), ..LoadOptions::default() };
    let model = load_str("motor.toml", MODEL, &options)?;
    let system = compile(&model).map_err(|_| "the model does not compile")?;
    Ok(simulate(&model, &Arc::new(system), &Simulate::default(), &mut ())?)
}

/// Speed of the wheel \[rad/s\] and angle of the arm \[rad\] at `t`.
pub fn exact(t: f64) -> [f64; 2] {
    let tau = INERTIA * IDLE / STALL;
    [IDLE * (1.0 - (-t / tau).exp()), t.sin().powi(2)]
}

/// The largest deviations from these.
pub fn deviation(outcome: &Outcome) -> Result<[f64; 2], Box<dyn Error>> {
    let column = |name: &'static str| outcome.trajectory.column(name).ok_or(format!("no column {name}"));
    let mut most = [0.0; 2];
    for ((t, speed), angle) in column("t")?.zip(column("shaft.rate")?).zip(column("hinge.angle")?) {
        let [omega, phi] = exact(t);
        most = [f64::max(most[0], (speed - omega).abs()), f64::max(most[1], (angle - phi).abs())];
    }
    Ok(most)
}

fn main() -> Result<(), Box<dyn Error>> {
    let outcome = run()?;
    let [speed, angle] = deviation(&outcome)?;
    println!("speed of the wheel: within {speed:.1e} rad/s of the closed form");
    println!("angle of the arm:   within {angle:.1e} rad");
    // ten times the tolerance, of a speed of 10 rad/s; and what projection leaves
    if speed > 1e-7 || angle > 1e-9 {
        return Err("the result is not that of the closed form".into());
    }
    Ok(())
}
