//! A gap given by an expression g(q, t): the force N acts along its gradient on all that it names.
//!
//! f += Jᵀ N with J = ∂g/∂q, δ = -g, δ̇ = -(J v + g_t). Where g depends on the time by itself, -N g_t is work done on the mechanism.

use super::laws::{ImpactOnset, Normal, NormalForceLaw};
use crate::at::At;
use crate::constraint::{JacobianBlocks, Rows};
use crate::derive::DerivativeWorkspace;

/// A gap at an instant.
#[derive(Clone, Copy, Debug)]
pub struct GapAt {
    /// g \[m\].
    pub gap: f64,
    /// ġ along the motion \[m/s\].
    pub rate: f64,
    /// The part of it that is not the motion's.
    pub driven: f64,
}

/// The gap, and its rate.
pub fn find(rows: &dyn Rows, at: &At<f64>, scratch: &mut DerivativeWorkspace) -> GapAt {
    let (mut gap, mut rate, mut driven) = ([0.0], [0.0], [0.0]);
    rows.phi(at, &mut gap);
    rows.rates(at, scratch, &mut rate);
    if rows.depends_on_time() {
        rows.phi_t(at, scratch, &mut driven);
    }
    GapAt { gap: gap[0], rate: rate[0], driven: driven[0] }
}

/// Its gradient, `wide` numbers for each of its bodies.
pub fn gradient(
    rows: &dyn Rows,
    at: &At<f64>,
    scratch: &mut DerivativeWorkspace,
    wide: usize,
    J: &mut Vec<f64>,
) {
    J.clear();
    J.resize(at.ids.len() * wide, 0.0);
    rows.jacobian(at, scratch, &mut JacobianBlocks { data: J, rows: 1, wide });
}

/// The normal force where it bears.
pub fn force(law: &NormalForceLaw, here: &GapAt, onset: ImpactOnset, bears: bool) -> Option<Normal<f64>> {
    bears.then(|| law.force(law.stiffness.unwrap_or(0.0), -here.gap, -here.rate, onset))
}
