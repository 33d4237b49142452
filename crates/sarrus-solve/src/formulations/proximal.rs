//! Solution of [M Jᵀ; J -εI] [v̇; λ] = [f; γ - ελ'], iterated on λ' until ε has no effect.
//!
//! Takes J of any rank: v̇ is unique as long as the constraints agree with each other, and λ is the one of least
//! 2-norm among those that give it. ε = 0 and no iteration where the rows are independent. Cost: one block
//! LDLᵀ of J M⁻¹ Jᵀ + εI, two where the rank has just changed. Constraints that contradict each other are an error.

use super::{Formulation, Kind, solve};
use crate::error::SolveError;
use crate::kkt::{Kkt, Rank, Rows};
use crate::problem::{Accel, Equations};

pub(super) const KIND: Kind = Kind {
    name: "proximal",
    doc: "block-sparse, any rank: least-norm multipliers by proximal iteration",
    options: &[],
    new: |_| Ok(Box::new(Proximal)),
};

struct Proximal;

impl Formulation for Proximal {
    fn accelerations(&mut self, eq: &Equations, kkt: &mut Kkt, out: &mut Accel) -> Result<(), SolveError> {
        kkt.factor(eq, Rows::All, Rank::Any)?;
        solve(eq, kkt, out)
    }
}
