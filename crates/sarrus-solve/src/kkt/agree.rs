//! Constraints that contradict each other a little, made to agree.
//!
//! Where rows are redundant J v̇ = γ has a solution only if γ has no part in the null space of Jᵀ. Off the constraints, and beside rows that
//! nearly depend on others, it has one. Rows that were left out then bear all of it, and near singular positions v̇ depends on which these are.
//! The least change of γ in all rows alike that lets J v̇ = γ be solved takes from it the part of r = γ - J v̇ in the null space,
//!
//! ```text
//! γ ← γ - P r,   P the orthogonal projector on the null space (`least_norm.rs`),
//! ```
//!
//! after which the rows that were kept determine the v̇ that least squares over all rows would give.
//!
//! Cost: that of multipliers of least norm, and two solutions.

use super::{Kkt, SolveReport};
use crate::error::SolveError;
use crate::problem::Equations;

/// Contradictions up to this are rounding.
const AGREED: f64 = 1e-14;
/// Corrections of x.
const CORRECTIONS: u32 = 2;

impl Kkt {
    /// After [`solve`](Kkt::solve) for the right sides `a` and `b`, which gave `report`: x and μ of the b that agrees, and what then contradicts it. Nothing to do where no row was dropped, or rows agree
    /// to rounding. Allocates the first time.
    pub fn agree(
        &mut self,
        report: SolveReport,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        if self.dropped.is_empty() || report.contradiction <= AGREED {
            return Ok(report);
        }
        self.residual(eq, a, b, x, mu);
        let [mut agreed, mut left] = std::mem::take(&mut self.agreed);
        agreed.clone_from(&self.work.r);
        left.clone_from(&self.work.r);
        let projected = self.least_norm(eq, &mut agreed);
        agreed.iter_mut().zip(b).zip(&left).for_each(|((agreed, b), r)| *agreed += b - r);
        for _ in 0..CORRECTIONS {
            self.residual(eq, a, &agreed, x, mu);
            self.correct(x, mu);
        }
        self.agreed = [agreed, left];
        projected?;
        self.residual(eq, a, b, x, mu);
        let (contradiction, contradicting) = self.largest_contradiction(eq, |i| self.work.r[i]);
        Ok(SolveReport { contradiction, contradicting, ..report })
    }
}
