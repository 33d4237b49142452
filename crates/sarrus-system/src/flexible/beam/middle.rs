//! The point in the middle of a beam element that carries its share of a consistent mass matrix.
//!
//! Φ = x - ½ (x₁ + x₂). The element's velocity is linear along its chord, so its kinetic energy is exactly that of m/6 at each
//! node and 2m/3 in the middle (Simpson's rule): the mass matrix m/6 [2 1; 1 2], while M stays block diagonal. The point is no
//! body that the model names, and its rows never depend on others, since no others hold it.

use crate::at::At;
use crate::constraint::{Constraint, JacobianBlocks};
use sarrus_math::Real;

/// The rows: two in the plane, three in space. Bodies: the two nodes and the point.
pub struct Middle {
    /// Describes how many coordinates a position has.
    pub dimensions: usize,
}

impl Constraint for Middle {
    fn rows(&self) -> usize {
        self.dimensions
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let off = at.pose(2).p - (at.pose(0).p + at.pose(1).p).scale_f64(0.5);
        phi.copy_from_slice(&off.0[..self.dimensions]);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn jacobian<R: Real>(&self, _: &At<R>, J: &mut JacobianBlocks<R>) -> bool {
        for i in 0..self.dimensions {
            J.row(0, i)[i] = R::from_f64(-0.5);
            J.row(1, i)[i] = R::from_f64(-0.5);
            J.row(2, i)[i] = R::one();
        }
        true
    }

    fn gamma(&self, _: &At<f64>, gamma: &mut [f64]) -> bool {
        gamma.fill(0.0);
        true
    }
}
