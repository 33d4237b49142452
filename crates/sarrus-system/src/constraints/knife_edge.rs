//! A blade or a wheel that goes only where it points.
//!
//! ψ = s·(velocity of the point), with s fixed in the body, across the blade: at right angles to it and, in space, to
//! `up` in the model pose.

use super::prelude::*;

/// 1 row at velocity level.
pub struct KnifeEdge {
    /// The point, from the centre of mass \[m\].
    r_P: [f64; 3],
    /// Across the blade, body axes.
    across_B: [f64; 3],
}

impl Constraint for KnifeEdge {
    fn rows(&self) -> usize {
        1
    }

    fn holonomic(&self) -> usize {
        0
    }

    fn multiplier(&self, _: usize) -> Multiplier {
        Multiplier::force("N", MultiplierScale::Factor(-1.0))
    }

    fn residual<R: Real>(&self, _: &At<R>, _: &mut [R]) {}

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        let pose = at.pose(0);
        psi[0] = at.twist(0).point_velocity(pose, &self.r_P).dot(pose.rotate(&self.across_B));
    }
}

/// Reads `kind = "knife_edge"`.
pub fn read(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let body = ctx.body("body")?;
    let origin = ctx.directory.bodies[body as usize].from_com([0.0; 3]);
    let r_P = ctx.point_on(body, "at", "on")?.unwrap_or(origin);
    let blade = match ctx.direction_on(body, "axis", "axis_on", false)? {
        Some(blade) => blade,
        None => ctx.default_on(body, "axis_on", [1.0, 0.0, 0.0], false),
    };
    let across = if ctx.is_planar() {
        [-blade[1], blade[0], 0.0]
    } else {
        let up = Vec3(ctx.world_to_body(body, ctx.reader.direction_or("up", [0.0, 0.0, 1.0])?));
        let across = up.cross(Vec3(blade));
        let length = across.norm();
        if length < 1e-9 {
            let error = ctx.reader.error("axis", "points along `up`, so the blade has no sides");
            return Err(error.hint("give the direction in which the blade may go"));
        }
        across.scale(1.0 / length).0
    };
    Ok(BuiltRows::new(vec![body], KnifeEdge { r_P, across_B: across }))
}
