//! Solution of M v̇ + Jᵀλ = f, J v̇ = γ for J of any rank; λ of least norm by proximal steps [M Jᵀ; J -εI].
//!
//! v̇ is unique as long as the constraints agree with each other: rows that depend on others are left out, and
//! those that contradict them are an error. Where they do so by no more than the violation, at stages of an integrator or
//! after drift, v̇ is that of least squares over all rows (see `kkt/agree.rs`). λ is the one of least 2-norm among those that give v̇. Cost: one block
//! LDLᵀ of J M⁻¹ Jᵀ, and one of J M⁻¹ Jᵀ + εI where rows are dependent.

use super::{Formulation, Kind, Needs};
use crate::error::SolveError;
use crate::kkt::{Kkt, Rank, Rows};
use crate::problem::{Accel, Equations, Structure};

pub(super) const KIND: Kind = Kind {
    name: "proximal",
    doc: "block-sparse, any rank: least-norm multipliers by proximal steps",
    needs: Needs::NOTHING,
    options: &[],
    new: |_| Ok(Box::<Proximal>::default()),
};

#[derive(Default)]
struct Proximal {
    /// γ, made to agree where rows are redundant (nc).
    gamma: Vec<f64>,
}

impl Formulation for Proximal {
    fn is_plain(&self) -> bool {
        true
    }

    fn accelerations(
        &mut self,
        _s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        kkt.factor(eq, Rows::All, Rank::Any)?;
        let (gamma, x, mu) = (&mut self.gamma, &mut out.vdot, &mut out.lambda);
        gamma.clone_from(&eq.gamma);
        let report = kkt.solve(eq, &eq.f, gamma, x, mu)?;
        let report = kkt.agree(report, eq, &eq.f, gamma, x, mu)?;
        (out.residual, out.refinements) = (report.residual, report.refinements);
        report.check()?;
        kkt.least_norm(eq, &eq.f, x, mu)
    }
}
