//! The rows that tie an interface node to its modal body.
//!
//! Φ₁ = x_node - p - R s(η) in the world and Φ₂ = the axial vector of the skew part of (R T(η) R₀)ᵀ R_node, where T rotates by P η and
//! R₀ is how the node stands in the frame: six rows that are zero where the node is where the shapes put it, in the plane three. Of a node that
//! does not turn only Φ₁. J, γ and tangents follow from these by the scalars.

use super::floating::amplitude;
use super::shapes::Shapes;
use crate::at::At;
use crate::constraint::Constraint;
use sarrus_math::{Mat3, Real};

/// The rows. Bodies: the frame, those that hold the amplitudes, and the node.
pub struct ModalTie {
    /// Identifies which of the six there are.
    pub directions: &'static [usize],
    /// Holds what the node does.
    pub shapes: Shapes,
    /// R₀.
    pub axes: Mat3,
    /// By amplitude: the body that holds it, as a place in the element's list, and which of its coordinates it is.
    pub amplitudes: Vec<(usize, usize)>,
    /// The place of the node.
    pub node: usize,
}

impl Constraint for ModalTie {
    fn rows(&self) -> usize {
        self.directions.len()
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let (frame, node) = (at.pose(0), at.pose(self.node));
        let eta = |j: usize| {
            let (body, k) = self.amplitudes[j];
            amplitude(at.pose(body), k)
        };
        let off = (node.p - frame.p - frame.rot * self.shapes.insert_placements(eta)).0;
        let wanted = frame.rot * self.shapes.rotation(eta).mul_mat_f64(&self.axes);
        let A = wanted.transpose_mul_mat(&node.rot).0;
        let rotation = [A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1]];
        for (phi, &k) in phi.iter_mut().zip(self.directions) {
            *phi = if k < 3 { off[k] } else { rotation[k - 3] * 0.5 };
        }
    }
}
