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
//! after which the rows that were kept determine the v̇ that least squares over all rows would give. They do so badly where
//! they are nearly dependent themselves, as at positions where the row that was dropped has little part in the redundancy:
//! what is left of the contradiction, and rounding, is then magnified. So v̇ is corrected over all rows at last,
//! with S + εI for S, which does not depend on which rows were dropped.
//!
//! Cost: a factorization and some solutions where there are dependent rows, and the solution again where they contradict
//! the others by more than rounding.

use super::least_norm::EPSILON;
use super::{Kkt, SolveReport};
use crate::error::SolveError;
use crate::problem::Equations;

/// Contradictions up to this are rounding.
const AGREED: f64 = 1e-13;
/// Proximal steps.
const STEPS: u32 = 6;
/// Corrections over all rows. Each leaves 2ε/s of the residual in the direction of an eigenvalue s of S that is well above ε.
const CORRECTIONS: u32 = 3;

impl Kkt {
    /// After [`solve`](Kkt::solve), which gave `report`: makes the rows of `b` agree, solves again, and corrects `x` over
    /// all rows. Nothing to do where no row was dropped. Allocates the first time.
    pub fn agree(
        &mut self,
        report: SolveReport,
        eq: &Equations,
        a: &[f64],
        b: &mut [f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        if self.dropped.is_empty() {
            return Ok(report);
        }
        let mut least = self.take_least(eq);
        let epsilon = self.epsilon(EPSILON);
        self.soften(&mut least, epsilon);
        if report.contradiction <= AGREED {
            self.correct_softly(&mut least, epsilon, CORRECTIONS, eq, a, b, x, mu);
            self.least = Some(least);
            return Ok(report);
        }
        least.w.fill(0.0);
        self.dropped.iter().for_each(|&i| least.w[i] = self.work.r[i]);
        for _ in 0..STEPS {
            self.proximal_step(&mut least, epsilon);
        }
        b.iter_mut().zip(&least.w).for_each(|(b, w)| *b -= w);
        let solved = self.solve_once(eq, a, b, x, mu);
        let left = |i: usize| self.work.r[i] + least.w[i];
        let (contradiction, contradicting) = self.largest_contradiction(eq, left);
        self.correct_softly(&mut least, epsilon, CORRECTIONS, eq, a, b, x, mu);
        self.least = Some(least);
        solved.map(|report| SolveReport { contradiction, contradicting, ..report })
    }
}
