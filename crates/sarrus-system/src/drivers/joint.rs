//! A joint coordinate, or its speed, as a function of time.
//!
//! Φ = coordinate - f(t). An angle in space is known up to whole revolutions; the rotation nearest to f(t) is meant, so that
//! any program can be followed. ψ = speed - f(t). In joint coordinates neither is a row: what is given there is taken out of the
//! unknowns (`tree/specified.rs`).

use super::Efforts;
use crate::at::At;
use crate::constraint::{Constraint, CoordinateProgram};
use crate::constraints::BuiltRows;
use crate::context::Context;
use crate::coordinate::{CoordinateRef, nearest_revolution};
use crate::formula::{Formula, ReadLevel};
use sarrus_math::Real;
use sarrus_model::Result;

/// Position level.
pub struct Follow {
    coordinate: CoordinateRef,
    /// The program.
    pub target: Formula,
    /// Index of the joint, and which of its coordinates.
    which: (usize, usize),
}

impl Follow {
    /// The coordinate less its function.
    fn off<R: Real>(&self, at: &At<R>) -> R {
        self.coordinate.value(at) - self.target.eval(at)
    }

    fn revolutions_to_zero(&self, off: f64) -> f64 {
        if self.coordinate.reading.wraps() { nearest_revolution(off, 0.0) } else { 0.0 }
    }
}

impl Constraint for Follow {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let off = self.off(at);
        phi[0] = off + self.revolutions_to_zero(off.value());
    }

    fn revolutions_off(&self, at: &At<f64>) -> Option<f64> {
        self.coordinate.discrete_index.map(|_| -self.revolutions_to_zero(self.off(at)))
    }

    fn depends_on_time(&self) -> bool {
        true
    }

    fn program(&self) -> Option<CoordinateProgram<'_>> {
        let (joint, number) = self.which;
        Some(CoordinateProgram { joint, number, target: &self.target, is_speed: false })
    }
}

/// Velocity level.
pub struct FollowSpeed {
    coordinate: CoordinateRef,
    target: Formula,
    which: (usize, usize),
}

impl Constraint for FollowSpeed {
    fn rows(&self) -> usize {
        1
    }

    fn holonomic(&self) -> usize {
        0
    }

    fn residual<R: Real>(&self, _: &At<R>, _: &mut [R]) {}

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        psi[0] = self.coordinate.speed(at) - self.target.eval(at);
    }

    fn depends_on_time(&self) -> bool {
        true
    }

    fn program(&self) -> Option<CoordinateProgram<'_>> {
        let (joint, number) = self.which;
        Some(CoordinateProgram { joint, number, target: &self.target, is_speed: true })
    }
}

/// Reads `[drivers.X] kind = "joint"`.
#[allow(clippy::ptr_arg)] // the registry's signature: other kinds add discrete state
pub fn read(ctx: &mut Context, discrete: &mut Vec<f64>) -> Result<(BuiltRows, Efforts)> {
    let (index, k) = ctx.joint_coordinate("joint")?;
    let joint = &ctx.directory.joints[index];
    let key = ctx.reader.require_one_of(&["angle", "rate", "position", "speed"])?;
    let is_angle = joint.face.coordinates()[k].is_angle();
    if is_angle != matches!(key, "angle" | "rate") {
        let (what, hint) =
            if is_angle { ("an angle", "`angle` or `rate`") } else { ("a length", "`position` or `speed`") };
        let message = format!("the coordinate of joint `{}` is {what}, `{key}` does not fit", joint.name);
        return Err(ctx.reader.error(key, message).hint(format!("use {hint}")));
    }
    let level = if matches!(key, "rate" | "speed") { ReadLevel::Rate } else { ReadLevel::Time };
    let target = ctx.binder(level, vec![]).scalar(&ctx.reader.require_expression(key)?)?;
    let coordinate = joint.coordinate(k, 0, 1);
    let ids = joint.bodies.to_vec();
    let effort = if is_angle { ("torque".to_string(), "N m") } else { ("force".to_string(), "N") };
    let built = if matches!(key, "rate" | "speed") {
        BuiltRows::new(ids, FollowSpeed { coordinate, target, which: (index, k) })
    } else {
        // the reading starts in the rotation in which the program starts
        if let Some(discrete_index) = coordinate.discrete_index {
            let at =
                At { t: ctx.directory.t_start, poses: &[], twists: &[], ids: &[], discrete: &[], outs: &[] };
            discrete[discrete_index as usize] = target.eval(&at);
        }
        BuiltRows::new(ids, Follow { coordinate, target, which: (index, k) })
    };
    Ok((built, vec![effort]))
}
