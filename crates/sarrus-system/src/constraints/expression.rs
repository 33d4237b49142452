//! A constraint written in the file: `zero = "…"`, of positions and `t` (1 holonomic row) or linear in velocities
//! (1 row at velocity level).

use super::prelude::*;
use crate::formula::{Formula, ReadLevel};
use sarrus_math::{Pose, Twist};

/// Φ = the expression.
pub struct ExpressionConstraint(pub Formula);

impl Constraint for ExpressionConstraint {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi[0] = self.0.eval(at);
    }

    fn depends_on_time(&self) -> bool {
        self.0.needs_time()
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula)) {
        found(&self.0);
    }
}

/// ψ = the expression.
pub struct LinearVelocity(Formula);

impl Constraint for LinearVelocity {
    fn rows(&self) -> usize {
        1
    }

    fn holonomic(&self) -> usize {
        0
    }

    fn residual<R: Real>(&self, _: &At<R>, _: &mut [R]) {}

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        psi[0] = self.0.eval(at);
    }

    fn depends_on_time(&self) -> bool {
        // ψ at v = 0 is evaluated whether t stands in it or not: "x.vx - 2" has such a part
        true
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula)) {
        found(&self.0);
    }
}

fn zero(ctx: &mut Context, level: ReadLevel) -> Result<(Vec<u32>, Formula)> {
    let expr = ctx.reader.require_expression("zero")?;
    let mut binder = ctx.binder(level, Vec::new());
    let formula = binder.scalar(&expr)?;
    let ids = std::mem::take(&mut binder.ids);
    if ids.iter().all(|&id| id == 0) {
        let error = ctx.reader.error("zero", "names no body or joint, so it constrains nothing");
        return Err(error.hint("write positions such as `slider.x` or `A.angle`"));
    }
    Ok((ids, formula))
}

/// Reads `kind = "expression"`.
pub fn read(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let (ids, formula) = zero(ctx, ReadLevel::Position)?;
    Ok(BuiltRows::new(ids, ExpressionConstraint(formula)))
}

/// Reads `kind = "linear_velocity"`.
pub fn linear_velocity(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let (ids, formula) = zero(ctx, ReadLevel::Force)?;
    if formula.needs_controller() {
        return Err(ctx.reader.error("zero", "a constraint cannot read a controller"));
    }
    if !formula.needs_velocity() {
        let error = ctx.reader.error("zero", "has no velocity in it");
        return Err(error.hint("use `kind = \"expression\"` for positions"));
    }
    if !is_linear_in_velocity(ctx, &ids, &formula) {
        return Err(ctx
            .reader
            .error("zero", "is not linear in the velocities")
            .hint("a constraint force has a direction only where the velocities enter linearly"));
    }
    Ok(BuiltRows::new(ids, LinearVelocity(formula)))
}

/// Returns whether ψ(2v) - 2ψ(v) + ψ(0) = 0 in the model pose for velocities without symmetry.
fn is_linear_in_velocity(ctx: &Context, ids: &[u32], formula: &Formula) -> bool {
    let poses: Vec<Pose<f64>> = ids.iter().map(|&id| ctx.model_pose(id)).collect();
    let indices: Vec<u32> = (0..ids.len() as u32).collect();
    let psi = |scale: f64| {
        let twists: Vec<Twist<f64>> = poses
            .iter()
            .enumerate()
            .map(|(i, pose)| {
                let k = 1.0 + i as f64;
                let v = Vec3([0.731 * k, -0.417 / k, 0.292 + k]).scale(scale);
                Twist::new(pose, v, Vec3([0.353 / k, 0.871 * k, -0.619]).scale(scale))
            })
            .collect();
        let discrete = vec![0.0; ctx.directory.discrete];
        formula.eval(&At {
            t: 0.0,
            poses: &poses,
            twists: &twists,
            ids: &indices,
            discrete: &discrete,
            outs: &[],
        })
    };
    let (zero, one, two) = (psi(0.0), psi(1.0), psi(2.0));
    let size = zero.abs() + one.abs() + two.abs();
    (two - 2.0 * one + zero).abs() <= 1e-9 * size || !size.is_finite()
}
