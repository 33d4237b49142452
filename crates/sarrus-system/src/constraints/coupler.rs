//! Linear combinations of joint coordinates: couplers, the rows of gears and racks, and the thread of a screw.
//!
//! Φ = Σ factor·coordinate - value.

use super::prelude::*;
use crate::coordinate::CoordinateRef;

/// The constraint.
pub struct Coupler {
    /// Factors and coordinates.
    pub terms: Vec<(f64, CoordinateRef)>,
    /// Holds what they add up to.
    pub value: f64,
    /// Unit of -λ: N where Φ is a length, else empty, as it depends on the coordinates.
    pub unit: &'static str,
    /// Hints of coordinates that belong to no joint and are kept here.
    pub own_discrete: Vec<(u32, CoordinateRef)>,
}

impl Constraint for Coupler {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi[0] = R::from_f64(-self.value);
        for (factor, coordinate) in &self.terms {
            phi[0] += coordinate.value(at) * *factor;
        }
    }

    fn multiplier(&self, _row: usize) -> Multiplier {
        Multiplier::force(self.unit, MultiplierScale::Factor(-1.0))
    }

    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]) {
        for (discrete_index, coordinate) in &self.own_discrete {
            discrete[*discrete_index as usize] = coordinate.value(at);
        }
    }

    fn relative_rotation(&self, at: &At<f64>) -> f64 {
        self.own_discrete.iter().map(|(_, coordinate)| coordinate.rotation(at)).fold(0.0, f64::max)
    }
}

/// Reads `kind = "coupler"`.
#[allow(clippy::ptr_arg)] // the registry's signature: other kinds add discrete state
pub fn read(ctx: &mut Context, discrete: &mut Vec<f64>) -> Result<BuiltRows> {
    let named = ctx.joint_coordinates("coordinates")?;
    let factors = ctx.reader.numbers("factors")?.ok_or_else(|| ctx.reader.missing("factors"))?;
    if named.is_empty() {
        return Err(ctx.reader.error("coordinates", "names no coordinate"));
    }
    if factors.len() != named.len() {
        let message = format!("{} coordinates but {} factors", named.len(), factors.len());
        return Err(ctx.reader.error("factors", message).hint("give one factor for each coordinate"));
    }
    let mut ids = Vec::new();
    let mut index_of = |body: u32| match ids.iter().position(|&id| id == body) {
        Some(i) => i,
        None => {
            ids.push(body);
            ids.len() - 1
        }
    };
    let mut terms = Vec::new();
    for ((joint, k), factor) in named.into_iter().zip(factors) {
        let joint = &ctx.directory.joints[joint];
        let (a, b) = (index_of(joint.bodies[0]), index_of(joint.bodies[1]));
        terms.push((factor, joint.coordinate(k, a, b)));
    }
    finish(ctx, discrete, ids, terms, ctx.reader.number_opt("value")?)
}

fn finish(
    ctx: &Context,
    discrete: &[f64],
    ids: Vec<u32>,
    terms: Vec<(f64, CoordinateRef)>,
    value: Option<f64>,
) -> Result<BuiltRows> {
    let mut coupler = Coupler { terms, value: 0.0, unit: "", own_discrete: Vec::new() };
    coupler.value = match value {
        Some(value) => value,
        None => {
            let mut sum = [0.0];
            in_model_pose(ctx, &ids, discrete, |at| coupler.residual(at, &mut sum));
            sum[0]
        }
    };
    Ok(BuiltRows::new(ids, coupler))
}
