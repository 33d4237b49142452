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
//! The same holds for forces. Off the constraints Jᵀw does not vanish for w in that space, and forces of the kept rows alone have other directions
//! than those of all rows. With the multipliers of least norm, M v̇ = f - Jᵀ(μ - P μ), they are those of all rows alike; J v̇ does not
//! change over the kept rows, as S w vanishes there. So v̇ depends on which rows were left out by the square of the violation only.
//!
//! Cost: that of multipliers of least norm, twice, and two solutions.

use super::{Kkt, SolveReport};
use crate::error::SolveError;
use crate::problem::Equations;
use sarrus_math::solve::kernels;

/// Contradictions up to this are rounding.
const AGREED: f64 = 1e-14;
/// Corrections of x.
const CORRECTIONS: u32 = 2;

impl Kkt {
    /// After [`solve`](Kkt::solve) for the right-hand sides `a` and `b`, which gave `report`: x and μ, of least norm, of the b that agrees, and what then contradicts it.
    /// Nothing to do where no row was dropped, or rows agree to rounding. Allocates the first time.
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
        // μ of least norm, and x of the forces that it makes
        left.copy_from_slice(mu);
        let shared = self.least_norm(eq, mu);
        left.iter_mut().zip(&*mu).for_each(|(left, mu)| *left = mu - *left);
        for row in &self.plan.rows {
            for b in &self.plan.blocks[row.first..row.last] {
                let (x, W, mu) = (&mut x[b.start..], &self.W[b.offset..], &left[row.start..]);
                kernels::subtract_mul_transposed(x, W, mu, row.size, b.size);
            }
        }
        self.agreed = [agreed, left];
        projected.and(shared)?;
        self.residual(eq, a, b, x, mu);
        let (contradiction, contradicting) = self.largest_contradiction(eq, |i| self.work.r[i]);
        Ok(SolveReport { contradiction, contradicting, ..report })
    }
}
