//! Augmented Lagrangian of index 1 \[Bayo1988\]: multipliers that a penalty on J v̇ - γ corrects until it vanishes,
//!
//!   (M + JᵀαJ) v̇_{k+1} = f - Jᵀλ_k + Jᵀα γ,   λ_{k+1} = λ_k + α (J v̇_{k+1} - γ),
//!
//! α diagonal. Written for the changes of v̇ and λ, so that rounding in the stiff matrix is corrected too. A direction with
//! the singular value σ of √α J M^{-1/2} converges by 1/(1 + σ²) a pass: the larger α the fewer, until M is lost in
//! M + JᵀαJ to rounding. α_i = α̂ m_i with m_i = 1/(J M⁻¹Jᵀ)_ii, the mass that the row feels, makes α̂ a number without unit;
//! at 10⁷ half of all digits are left to each, and two to four passes are usual.
//!
//! Rows that depend on others would be pursued with the violation that makes them look independent. The shared solver
//! knows which they are, settled on the constraints; they get α_i = 0, and what is left of them is reported as
//! contradiction. Every call begins with λ₀ = 0, so its result does not depend on the calls before; among the λ that give v̇
//! it is the one of least norm, from the same solver.
//!
//! Needs nothing: any rank. Costs a Cholesky factorization of order nv, a sparse one, and some passes. Not for large
//! models: `proximal` is this iteration with sparse factors, to its end in one step.

use super::correction::{Correction, Passes, Solvable};
use super::dense::{check_finite, fill_inverse_masses};
use super::{Formulation, Kind, Needs};
use crate::error::{MethodError, SolveError};
use crate::findings::Findings;
use crate::kkt::{Kkt, Rank, Rows};
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Equations, Structure};
use sarrus_math::solve::{cholesky, cholesky_solve};

/// α̂ where none is given.
const PENALTY: f64 = 1e7;
/// A weak penalty takes many passes; this many bring what falls by a tenth each to rounding.
const PASSES: Passes = Passes { most: 300, stall: 0.99 };
/// Residual that must be reached.
const CONVERGED: f64 = 1e-10;

pub(super) const KIND: Kind = Kind {
    name: "augmented_lagrangian",
    doc: "penalty on J v̇ = γ with multipliers iterated until it vanishes, any rank",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[OptionDoc {
        name: "penalty",
        default: "1e7",
        doc: "α̂: penalty of a row relative to the mass that it feels; changes the passes, not the result",
    }],
    new: |options| Ok(Box::new(AugmentedLagrangian::new(options)?)),
};

struct AugmentedLagrangian {
    penalty: f64,
    work: Option<Work>,
    passes: u64,
    calls: u64,
}

struct Work {
    correction: Correction,
    alpha: Vec<f64>,
    left_out: Vec<bool>,
    /// M + JᵀαJ by columns, then its Cholesky factor.
    K: Vec<f64>,
    /// α b, then J x - b.
    t: Vec<f64>,
    x: Vec<f64>,
}

impl AugmentedLagrangian {
    fn new(options: &Options) -> Result<AugmentedLagrangian, MethodError> {
        let accept = |x: f64| x > 0.0 && x.is_finite();
        let penalty = options.number("augmented_lagrangian", "penalty", "a number above 0", accept)?;
        Ok(AugmentedLagrangian { penalty: penalty.unwrap_or(PENALTY), work: None, passes: 0, calls: 0 })
    }
}

impl Formulation for AugmentedLagrangian {
    fn accelerations(
        &mut self,
        s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        let work = self.work.get_or_insert_with(|| Work {
            correction: Correction::new(s),
            alpha: vec![0.0; s.nc],
            left_out: vec![false; s.nc],
            K: vec![0.0; s.nv * s.nv],
            t: vec![0.0; s.nc],
            x: vec![0.0; s.nv],
        });
        let Work { correction, alpha, left_out, K, t, x: least_x } = work;
        check_finite(eq)?;
        kkt.factor(eq, Rows::All, Rank::Any)?;
        fill_inverse_masses(s, eq, alpha);
        for (i, alpha) in alpha.iter_mut().enumerate() {
            left_out[i] = kkt.is_dependent(i);
            *alpha = if left_out[i] || *alpha == 0.0 { 0.0 } else { self.penalty / *alpha };
        }
        fill_K(s, eq, alpha, K);
        cholesky(K, s.nv).map_err(|velocity| SolveError::Mass { velocity })?;
        self.calls += 1;

        let solvable = Solvable::Rows(left_out);
        let passes = correction.solve(s, eq, solvable, PASSES, out, |a, b, x, mu| {
            t.iter_mut().zip(b).zip(&*alpha).for_each(|((t, b), alpha)| *t = alpha * b);
            x.copy_from_slice(a);
            eq.add_Jt_mul(s, t, x);
            cholesky_solve(K, s.nv, x);
            t.iter_mut().zip(b).for_each(|(t, b)| *t = -b);
            eq.add_J_mul(s, x, t);
            mu.iter_mut().zip(&*t).zip(&*alpha).for_each(|((l, t), alpha)| *l = alpha * t);
        })?;
        self.passes += u64::from(passes);
        if out.residual > CONVERGED {
            return Err(SolveError::NoConvergence { iterations: passes, residual: out.residual });
        }
        correction.check(solvable)?;
        least_x.copy_from_slice(&out.vdot);
        kkt.least_norm(eq, &eq.f, &eq.gamma, least_x, &mut out.lambda)
    }

    fn findings(&self) -> Findings {
        Findings { iterations: self.passes, ..Findings::default() }
    }

    fn factorizations(&self) -> u64 {
        self.calls
    }
}

/// Lower half of M + JᵀαJ, by columns.
fn fill_K(s: &Structure, eq: &Equations, alpha: &[f64], K: &mut [f64]) {
    let nv = s.nv;
    K.fill(0.0);
    for col in &s.cols {
        for i in 0..col.size {
            let M = &eq.mass[col.mass + i * col.size..][..col.size];
            K[(col.start + i) * nv + col.start..][..col.size].copy_from_slice(M);
        }
    }
    for row in &s.rows {
        let entries = &s.entries[row.entries.clone()];
        for i in 0..row.size {
            let alpha = alpha[row.start + i];
            for a in entries {
                let across = s.cols[a.col];
                for (j, J) in eq.J[a.offset + i * across.size..][..across.size].iter().enumerate() {
                    let factor = alpha * J;
                    let column = &mut K[(across.start + j) * nv..][..nv];
                    for b in entries {
                        let down = s.cols[b.col];
                        let J = &eq.J[b.offset + i * down.size..][..down.size];
                        let column = column[down.start..].iter_mut().zip(J);
                        column.for_each(|(k, J)| *k += factor * J);
                    }
                }
            }
        }
    }
}
