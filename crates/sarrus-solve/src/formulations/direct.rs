//! Direct solution of [M Jᵀ; J 0] [v̇; λ] = [f; γ].
//!
//! Needs J of full row rank: a dependent row is an error that names it. Cost: one block LDLᵀ of J M⁻¹ Jᵀ. Not for
//! redundant constraints or singular positions: use `proximal`.

use super::{Formulation, FormulationKind, Needs, solve};
use crate::error::SolveError;
use crate::kkt::{ActiveRows, Kkt, RankDemand};
use crate::problem::{Accel, Equations, Structure};

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "direct",
    doc: "KKT matrix solved directly; dependent constraints are an error",
    needs: Needs { full_rank: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(Direct)),
};

struct Direct;

impl Formulation for Direct {
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
        kkt.factor(eq, ActiveRows::All, RankDemand::Full)?;
        solve(eq, kkt, out)
    }
}
