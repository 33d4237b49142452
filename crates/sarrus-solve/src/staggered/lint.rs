//! LINT: multipliers from the block-sparse S + ε diag(S).
//!
//! (J M⁻¹Jᵀ + ε diag) η = r, by the block LDLᵀ that all methods share \[Park1990, eqs. 27-33\]. ε keeps the matrix regular at any
//! rank. The paper takes ε = c / (|S⁻¹||S|), c being the accuracy asked of λ; since what ε takes from a solution is ε|S⁻¹| of it,
//! that is here, with ε relative to the diagonal of S, ε = c σ, σ the smallest eigenvalue of S over its diagonal, found at the
//! start by inverse iteration over the rows that are independent. Where some are not, c is larger: a dependent row divides by ε
//! what it asks in vain, which is the product of its violation and a velocity.
//!
//! The methods ask for corrections of multipliers that they know nearly, so ε is an error of the correction only, which the next
//! step makes good; repeated, such solutions are the proximal point iteration \[Rockafellar1976\], whose limit ε does not change.
//!
//! Costs one factorization per J and one pair of triangular solutions per call: O(N) on chains and trees.

use super::MultiplierModule;
use crate::error::SolveError;
use crate::kkt::{HUB_DEGREE, Kkt};
use crate::problem::{Equations, Structure};

/// c where all rows are independent, and the range of ε.
const ACCURACY: f64 = 1e-6;
const RANGE: [f64; 2] = [1e-14, 1e-9];
/// The same where some are not.
const ACCURACY_DEPENDENT: f64 = 1e-4;
const RANGE_DEPENDENT: [f64; 2] = [1e-10, 1e-6];

/// Describes how ε is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Epsilon {
    /// From the conditioning of S at the start.
    Auto,
    /// Given, relative to the diagonal of S.
    Given(f64),
}

/// The block-sparse multiplier module.
#[derive(Debug, Clone)]
pub struct SparseMultipliers {
    choice: Epsilon,
    epsilon: f64,
    kkt: Option<Kkt>,
    masses: Vec<f64>,
}

impl SparseMultipliers {
    /// With ε as asked.
    pub fn new(epsilon: Epsilon) -> SparseMultipliers {
        SparseMultipliers { choice: epsilon, epsilon: 0.0, kkt: None, masses: Vec::new() }
    }
}

impl MultiplierModule for SparseMultipliers {
    fn prepare(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        let mut kkt = match self.kkt.take() {
            Some(kkt) if self.masses == eq.mass && kkt.is_for(s) => kkt,
            _ => Kkt::new(s, eq, HUB_DEGREE)?,
        };
        self.masses.clone_from(&eq.mass);
        self.epsilon = match self.choice {
            Epsilon::Given(epsilon) => epsilon,
            Epsilon::Auto if s.nc == 0 => RANGE[0],
            Epsilon::Auto => {
                let (least, dependent) = kkt.conditioning(eq)?;
                let (c, [low, high]) =
                    if dependent == 0 { (ACCURACY, RANGE) } else { (ACCURACY_DEPENDENT, RANGE_DEPENDENT) };
                (c * least).clamp(low, high)
            }
        };
        self.kkt = Some(kkt);
        Ok(())
    }

    fn load_jacobian(&mut self, _s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        self.kkt.as_mut().map_or(Ok(()), |kkt| kkt.factor_soft(eq, self.epsilon))
    }

    fn solve(&mut self, r: &[f64], eta: &mut [f64]) -> Result<(), SolveError> {
        if let Some(kkt) = &mut self.kkt {
            kkt.solve_soft(r, eta);
        }
        match eta.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(index) => Err(SolveError::NotFinite { quantity: "lambda", index }),
        }
    }

    fn factorizations(&self) -> u64 {
        self.kkt.as_ref().map_or(0, Kkt::factorizations)
    }

    fn epsilon(&self) -> Option<f64> {
        self.kkt.as_ref().map(|_| self.epsilon)
    }
}
