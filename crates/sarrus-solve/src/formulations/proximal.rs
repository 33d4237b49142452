//! Solution of M v̇ + Jᵀλ = f, J v̇ = γ for J of any rank; λ of least norm by proximal steps [M Jᵀ; J -εI].
//!
//! v̇ is unique as long as the constraints agree with each other: rows that depend on others are left out, and
//! those that contradict them are an error. λ is the one of least 2-norm among those that give v̇. Cost: one block
//! LDLᵀ of J M⁻¹ Jᵀ, and one of J M⁻¹ Jᵀ + εI where rows are dependent.

use super::{Formulation, Kind, Needs, solve};
use crate::error::SolveError;
use crate::kkt::{Kkt, Rank, Rows};
use crate::problem::{Accel, Equations, Structure};

pub(super) const KIND: Kind = Kind {
    name: "proximal",
    doc: "block-sparse, any rank: least-norm multipliers by proximal steps",
    needs: Needs::NOTHING,
    options: &[],
    new: |_| Ok(Box::new(Proximal)),
};

struct Proximal;

impl Formulation for Proximal {
    fn accelerations(
        &mut self,
        _s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        kkt.factor(eq, Rows::All, Rank::Any)?;
        solve(eq, kkt, out)?;
        kkt.least_norm(eq, &eq.f, &eq.gamma, &mut out.vdot, &mut out.lambda)
    }
}
