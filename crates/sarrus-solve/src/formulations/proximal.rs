//! Solution of M v̇ + Jᵀλ = f, J v̇ = γ for J of any rank; λ of least norm.
//!
//! v̇ is unique as long as the constraints agree with each other: rows that depend on others are left out, chosen so that the rows kept are
//! well conditioned, and those that contradict them are an error. Where they do so by no more than the violation, v̇ is that of
//! least squares over all rows (see `kkt/agree.rs`). λ is the one of least 2-norm among those that give v̇; it is found
//! where someone reads it, by conjugate gradients that a proximal step (J M⁻¹ Jᵀ + εI)⁻¹ preconditions (see `kkt/least_norm.rs`). Cost:
//! one block LDLᵀ of J M⁻¹ Jᵀ, and one of J M⁻¹ Jᵀ + εI where rows are dependent and λ is read.

use super::{Formulation, FormulationKind, Needs};
use crate::error::SolveError;
use crate::kkt::{ActiveRows, Kkt, RankDemand, SolveReport};
use crate::problem::{Accel, Equations, Structure};

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "proximal",
    doc: "block-sparse, any rank: least-norm multipliers by proximal steps",
    needs: Needs::NOTHING,
    options: &[],
    new: |_| Ok(Box::new(Proximal)),
};

struct Proximal;

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
        let report = solve(eq, kkt, out)?;
        agree(report, eq, kkt, out)?;
        kkt.least_norm(eq, &mut out.lambda)?;
        // friction asks again at the same place, with other forces
        kkt.hold(eq);
        Ok(())
    }

    fn motion(
        &mut self,
        _s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        let report = solve(eq, kkt, out)?;
        agree(report, eq, kkt, out)
    }
}

/// Over the rows that are kept.
fn solve(eq: &Equations, kkt: &mut Kkt, out: &mut Accel) -> Result<SolveReport, SolveError> {
    kkt.factor(eq, ActiveRows::All, RankDemand::Any)?;
    let report = kkt.solve(eq, &eq.f, &eq.gamma, &mut out.vdot, &mut out.lambda)?;
    (out.residual, out.refinements) = (report.residual, report.refinements);
    Ok(report)
}

/// In least squares over all rows.
fn agree(report: SolveReport, eq: &Equations, kkt: &mut Kkt, out: &mut Accel) -> Result<(), SolveError> {
    kkt.agree(report, eq, &eq.f, &eq.gamma, &mut out.vdot, &mut out.lambda)?.check()
}
