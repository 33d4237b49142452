//! Constraints that contradict each other a little, made to agree.
//!
//! Off the constraints J v̇ = γ has no solution where rows are redundant: they contradict each other by as much as the violation.
//! Dropped rows then bear all of that, and the rows that were kept, which a dead point of their choice may leave badly
//! conditioned, magnify it in v̇: without stabilization redundant rows drift apart, and with it steps are rejected. The least
//! change of γ in all rows alike that lets J v̇ = γ be solved takes from it the part of r = γ - J v̇ in the null space of
//! Jᵀ,
//!
//!   γ ← γ - P r,   P r from proximal steps r ← ε (S + εI)⁻¹ r as in `least_norm.rs`,
//!
//! after which the rows that were kept determine the v̇ that least squares over all rows would give.
//!
//! Cost: a factorization, some solutions, and the solution again, only where there are dependent rows and they contradict
//! the others by more than rounding.

use super::least_norm::EPSILON;
use super::{Kkt, SolveReport};
use crate::error::SolveError;
use crate::problem::Equations;

/// Contradictions up to this are rounding.
const AGREED: f64 = 1e-13;
/// Proximal steps.
const STEPS: u32 = 6;

impl Kkt {
    /// After [`solve`](Kkt::solve), which gave `report`: makes the rows of `b` agree and solves again. Allocates the first
    /// time.
    pub fn agree(
        &mut self,
        report: SolveReport,
        eq: &Equations,
        a: &[f64],
        b: &mut [f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        if self.dropped.is_empty() || report.contradiction <= AGREED {
            return Ok(report);
        }
        let mut least = self.take_least(eq);
        let epsilon = self.epsilon(EPSILON);
        self.soften(&mut least, epsilon);
        least.w.fill(0.0);
        self.dropped.iter().for_each(|&i| least.w[i] = self.work.r[i]);
        for _ in 0..STEPS {
            self.proximal_step(&mut least, epsilon);
        }
        b.iter_mut().zip(&least.w).for_each(|(b, w)| *b -= w);
        let solved = self.solve_once(eq, a, b, x, mu);
        let left = |i: usize| self.work.r[i] + least.w[i];
        let (contradiction, contradicting) = self.largest_contradiction(eq, left);
        self.least = Some(least);
        solved.map(|report| SolveReport { contradiction, contradicting, ..report })
    }
}
