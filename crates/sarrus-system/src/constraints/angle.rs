//! Two directions keep an angle.
//!
//! Φ = a·b - cos(value) in space; in the plane the angle from the first direction to the second, minus the value. The cosine
//! has no slope where the directions are parallel: such values are refused (use `parallel`).

use super::prelude::*;
use crate::primitive::{Compound, Primitive};
use sarrus_model::record::ResolvedValue;

/// The spatial constraint.
pub struct Angle {
    a_A: [f64; 3],
    b_B: [f64; 3],
    cosine: f64,
}

impl Constraint for Angle {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi[0] = at.pose(0).rotate(&self.a_A).dot(at.pose(1).rotate(&self.b_B)) - self.cosine;
    }

    /// The torque on the second body that opens the angle θ: -λ dΦ/dθ, Φ = cos θ - cos(value).
    fn multiplier(&self, _: usize) -> Multiplier {
        Multiplier::force("N m", MultiplierScale::Factor((1.0 - self.cosine * self.cosine).sqrt()))
    }
}

/// Reads `[constraints.X] kind = "angle"`.
pub fn read(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let bodies = ctx.bodies2()?;
    let [a_A, b_B] = two_directions(ctx, bodies)?;
    let given = ctx.reader.number_opt("value")?;
    if ctx.is_planar() {
        let offset = a_A[1].atan2(a_A[0]) - b_B[1].atan2(b_B[0]);
        let [start_A, start_B] = bodies.map(|id| ctx.directory.bodies[id as usize].start.2);
        let start = start_B - start_A;
        let angle = match given {
            None => start,
            // the value is an angle between directions: turns are counted from the model pose
            Some(value) => {
                // a mirror turns the sense in which it counts
                let value = ctx.reader.handedness() * value;
                ctx.reader.record("value", || ResolvedValue::Number(value));
                let angle = value + offset;
                angle + crate::coordinate::nearest_revolution(angle, start)
            }
        };
        return Ok(BuiltRows::new(bodies.to_vec(), Compound(vec![Primitive::Angle2 { angle }])));
    }
    let cosine = match given {
        Some(value) => value.cos(),
        None => ctx.model_pose(bodies[0]).rotate(&a_A).dot(ctx.model_pose(bodies[1]).rotate(&b_B)),
    };
    if 1.0 - cosine.abs() < 1e-6 {
        let error = ctx.reader.error("value", "an angle of 0 or 180 degrees has no slope in this constraint");
        return Err(error.hint("use `kind = \"parallel\"` (2 rows)"));
    }
    Ok(BuiltRows::new(bodies.to_vec(), Angle { a_A, b_B, cosine }))
}
