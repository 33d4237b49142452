//! Two points at a fixed distance: a massless rod with a ball joint at each end.
//!
//! Φ = |d| - length, d = P_B - P_A. With u = d/|d|: J = u on v_B, r_B × R_Bᵀu on ω_B, and the negatives for A;
//! γ = -(|ḋ|² - (u·ḋ)²)/|d| - u·d̈ at v̇ = 0.
//!
//! The squared form ½(d·d - length²) is cheaper but scales with the length, so that mixing it with constraints in metres
//! unbalances projection. Not for length 0: that is `point`.

use super::prelude::*;
use crate::formula::Formula;
use crate::signal::PointDistance as Pair;

/// The constraint; with a length that depends on time it is a driver.
pub struct DistanceConstraint {
    /// The two points.
    pub pair: Pair,
    /// Their distance \[m\].
    pub length: Length,
}

/// A length, fixed or prescribed.
pub enum Length {
    /// Fixed \[m\].
    Fixed(f64),
    /// As a function of time.
    Driven(Formula),
}

impl Constraint for DistanceConstraint {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let length = match &self.length {
            Length::Fixed(length) => R::from_f64(*length),
            Length::Driven(formula) => formula.eval(at),
        };
        phi[0] = self.pair.length(at) - length;
    }

    fn depends_on_time(&self) -> bool {
        matches!(self.length, Length::Driven(_))
    }

    /// The tension of the bar: it pulls its ends together.
    fn multiplier(&self, _: usize) -> Multiplier {
        Multiplier::force("N", MultiplierScale::Factor(1.0))
    }

    fn jacobian<R: Real>(&self, at: &At<R>, J: &mut JacobianBlocks<R>) -> bool {
        let d = self.pair.vector(at);
        let u = d.scale(R::one() / d.norm());
        for (body, r, sign) in [(self.pair.a, &self.pair.r_A, -1.0), (self.pair.b, &self.pair.r_B, 1.0)] {
            let rotation = Vec3::<R>::from_f64(*r).cross(at.pose(body).to_local(u));
            let wide = J.wide;
            let row = J.row(body, 0);
            if wide == 3 {
                row.copy_from_slice(&[u.0[0] * sign, u.0[1] * sign, rotation.0[2] * sign]);
            } else {
                for i in 0..3 {
                    row[i] = u.0[i] * sign;
                    row[3 + i] = rotation.0[i] * sign;
                }
            }
        }
        true
    }

    fn gamma(&self, at: &At<f64>, gamma: &mut [f64]) -> bool {
        if let Length::Driven(_) = self.length {
            return false;
        }
        let Pair { a, r_A, b, r_B } = &self.pair;
        let d = self.pair.vector(at);
        let length = d.norm();
        let u = d.scale(1.0 / length);
        let ddot =
            at.twist(*b).point_velocity(at.pose(*b), r_B) - at.twist(*a).point_velocity(at.pose(*a), r_A);
        let spin = |body: usize, r: &[f64; 3]| {
            let w = at.twist(body).w_W;
            w.cross(w.cross(at.pose(body).rotate(r)))
        };
        let along = u.dot(ddot);
        let bend = (ddot.dot(ddot) - along * along) / length;
        gamma[0] = -bend - u.dot(spin(*b, r_B) - spin(*a, r_A));
        true
    }
}

/// Reads `[constraints.X] kind = "distance"`.
pub fn read(ctx: &mut Context, _discrete: &mut Vec<f64>) -> Result<BuiltRows> {
    let bodies = ctx.bodies2()?;
    let [r_A, r_B] = ctx.ends(bodies)?;
    let pair = Pair { a: 0, r_A, b: 1, r_B };
    let length = match ctx.reader.positive_opt("length")? {
        Some(length) => length,
        None => in_model_pose(ctx, &bodies, &[], |at| pair.length(at)),
    };
    if length < 1e-12 {
        let error = ctx.reader.element_error("the two points coincide, so their distance has no direction");
        return Err(error.hint("use `kind = \"point\"` to keep two points together"));
    }
    Ok(BuiltRows::new(bodies.to_vec(), DistanceConstraint { pair, length: Length::Fixed(length) }))
}
