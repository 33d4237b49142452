//! Multipliers of least norm, where dependent rows leave a choice.
//!
//! Dropping rows gives one μ with Jᵀμ = a - M x; the least one is μ - P μ, with P the orthogonal projector on the left
//! null space of J. In the eigenvectors of S = J M⁻¹ Jᵀ the proximal step ε (S + εI)⁻¹ multiplies by ε / (s + ε): one
//! where s = 0, almost nothing where s ≫ ε. A few of them give w ≈ P μ. ε must be the same for all rows, or the norm
//! would be a weighted one. Then w loses what is not null in it,
//!
//!   w ← w - S_k⁻¹ (S w)_k   over the rows k that were kept,
//!
//! which leaves Jᵀ(μ - w) = Jᵀμ to rounding whatever ε has done, so only how small μ is depends on ε.
//!
//! Cost: a factorization and a handful of solutions, at places with dependent rows only.

use super::{Kkt, assemble};
use crate::error::SolveError;
use crate::problem::Equations;
use sarrus_math::solve::BlockLdl;
use sarrus_math::solve::kernels::{self, Action};

/// ε relative to the largest diagonal of S: below the eigenvalues of ordinary mechanisms, above the squared violations
/// of the stages of an integrator.
pub(super) const EPSILON: f64 = 1e-7;
/// Proximal steps in a row: eigenvalues of 100 ε are then reduced to 10⁻¹², those of 20 ε to 10⁻⁸.
const STEPS: u32 = 6;
/// Times that w is taken out.
const ROUNDS: u32 = 2;

/// Passes that make w null, at most.
pub(super) const NULL_PASSES: u32 = 8;

/// Corrections of x and μ at the end.
const CORRECTIONS: u32 = 2;

/// The second factorization, and room.
#[derive(Debug, Clone)]
pub(super) struct LeastNorm {
    ldl: BlockLdl,
    /// w (nc).
    pub(super) w: Vec<f64>,
    /// Wᵀ w (nv).
    y: Vec<f64>,
    zero: Vec<f64>,
    /// ε of the second factorization, and how many there had been with it.
    softened: Option<(f64, u64)>,
}

impl Kkt {
    /// Replaces the multipliers `mu` of the last [`solve`](Kkt::solve) by those of least norm, with `x` to go with them:
    /// the same, with the same J x, but for the rounding of larger multipliers. Nothing to do where no row was dropped.
    /// Allocates the first time.
    pub fn least_norm(
        &mut self,
        eq: &Equations,
        a: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<(), SolveError> {
        if self.dropped.is_empty() {
            return Ok(());
        }
        let mut least = self.take_least(eq);
        let epsilon = self.epsilon(EPSILON);
        self.soften(&mut least, epsilon);
        for _ in 0..ROUNDS {
            least.w.copy_from_slice(mu);
            for _ in 0..STEPS {
                self.proximal_step(&mut least, epsilon);
            }
            // again until only rounding is removed
            let size = least.w.iter().fold(0.0_f64, |size, w| size.max(w.abs()));
            for _ in 0..NULL_PASSES {
                if self.keep_null(&mut least, eq) <= 1e-14 * size {
                    break;
                }
            }
            mu.iter_mut().zip(&least.w).for_each(|(mu, w)| *mu -= w);
        }
        least.w.fill(0.0);
        eq.add_J_mul(&self.structure, x, &mut least.w);

        // x from these multipliers, and what that leaves to correct
        self.start(a, x);
        for row in &self.plan.rows {
            let mu = &mu[row.start..];
            for b in &self.plan.blocks[row.first..row.last] {
                kernels::subtract_mul_transposed(
                    &mut x[b.start..],
                    &self.W[b.offset..],
                    mu,
                    row.size,
                    b.size,
                );
            }
        }
        for _ in 0..CORRECTIONS {
            self.residual(eq, a, &least.w, x, mu);
            self.correct(x, mu);
        }
        self.least = Some(least);
        if mu.iter().all(|mu| mu.is_finite()) {
            Ok(())
        } else {
            Err(SolveError::NotFinite { quantity: "lambda", index: 0 })
        }
    }

    /// Room for the second factorization, made the first time.
    pub(super) fn take_least(&mut self, eq: &Equations) -> LeastNorm {
        self.least.take().unwrap_or_else(|| LeastNorm {
            ldl: self.ldl.clone(),
            w: vec![0.0; self.nc],
            y: vec![0.0; eq.f.len()],
            zero: vec![0.0; self.floor.len()],
            softened: None,
        })
    }

    /// ε of `fraction` of the largest diagonal of S.
    pub(super) fn epsilon(&self, fraction: f64) -> f64 {
        fraction * self.scale.iter().copied().fold(f64::MIN_POSITIVE / fraction, f64::max)
    }

    /// Factors S + εI, unless that was the last factorization.
    pub(super) fn soften(&mut self, least: &mut LeastNorm, epsilon: f64) {
        if least.softened == Some((epsilon, self.factorizations)) {
            return;
        }
        let K = least.ldl.values_mut();
        for row in &self.plan.rows {
            let n = row.size;
            let D = &mut K[row.diagonal..][..n * n];
            D.fill(0.0);
            for b in self.plan.blocks[row.first..row.last].iter().filter(|b| b.hub.is_none()) {
                kernels::accumulate(D, &self.W[b.offset..], &self.Jt[b.offset..], n, b.size, n);
            }
            let out = if self.rows == super::Rows::All { n } else { row.holonomic };
            (out..n).for_each(|i| D[i * n + i] = 1.0);
            (0..n).for_each(|i| D[i * n + i] += epsilon);
        }
        assemble(&self.plan, &self.bodies, &self.mass, &self.W, &self.Jt, K);
        self.factorizations += 1;
        least.softened = Some((epsilon, self.factorizations));
        // rounding may eat ε where rows are of very different size: put it back
        let put_back = |_| Action::Use(epsilon);
        // cannot stop, as every pivot is either good or put back
        let _ = least.ldl.factor(&least.zero, &least.zero, put_back);
    }

    /// w ← ε (S + εI)⁻¹ w.
    pub(super) fn proximal_step(&mut self, least: &mut LeastNorm, epsilon: f64) {
        let z = &mut self.work.z;
        z.fill(0.0);
        for row in &self.plan.rows {
            z[row.at..][..row.size].copy_from_slice(&least.w[row.start..][..row.size]);
        }
        least.ldl.solve(z);
        for row in &self.plan.rows {
            let w = &mut least.w[row.start..][..row.size];
            w.iter_mut().zip(&z[row.at..]).for_each(|(w, z)| *w = epsilon * z);
        }
    }

    /// Corrects `x` for what is left of all rows, dropped ones included: by (S + εI)⁻¹ S (S + εI)⁻¹, which an eigenvalue s below ε
    /// leaves at (s/ε)². A row that a violation makes independent has s of the violation's square, and stays dropped. `mu` is left
    /// as it was: in such a direction a small change of `x` takes large multipliers, and [`least_norm`](Kkt::least_norm) finds those
    /// that go with `x`.
    pub(super) fn correct_softly(
        &mut self,
        least: &mut LeastNorm,
        epsilon: f64,
        passes: u32,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) {
        least.w.copy_from_slice(mu);
        for _ in 0..passes {
            self.residual(eq, a, b, x, mu);
            self.work.z.copy_from_slice(&self.work.right);
            least.ldl.solve(&mut self.work.z);
            // (S + εI)⁻¹ S z = z - ε (S + εI)⁻¹ z, with ε on rows alone
            self.work.right.fill(0.0);
            for row in &self.plan.rows {
                let z = &self.work.z[row.at..][..row.size];
                self.work.right[row.at..][..row.size].copy_from_slice(z);
            }
            least.ldl.solve(&mut self.work.right);
            self.work.z.iter_mut().zip(&self.work.right).for_each(|(z, w)| *z -= epsilon * w);
            self.apply(x, mu);
        }
        mu.copy_from_slice(&least.w);
    }

    /// w ← w - S_k⁻¹ (S w)_k; returns the largest change.
    pub(super) fn keep_null(&mut self, least: &mut LeastNorm, eq: &Equations) -> f64 {
        least.y.fill(0.0);
        for row in &self.plan.rows {
            let w = &least.w[row.start..];
            for b in &self.plan.blocks[row.first..row.last] {
                kernels::subtract_mul_transposed(
                    &mut least.y[b.start..],
                    &self.W[b.offset..],
                    w,
                    row.size,
                    b.size,
                );
            }
        }
        let (z, r) = (&mut self.work.z, &mut self.work.r);
        z.fill(0.0);
        r.fill(0.0);
        for row in &self.plan.rows {
            let r = &mut r[row.start..][..row.size];
            for b in &self.plan.blocks[row.first..row.last] {
                kernels::subtract_mul(r, &eq.J[b.offset..], &least.y[b.start..], row.size, b.size);
            }
            if self.rows == super::Rows::Holonomic {
                r[row.holonomic..].fill(0.0);
            }
            z[row.at..][..row.size].copy_from_slice(r);
        }
        self.ldl.solve(z);
        let mut change = 0.0_f64;
        for row in &self.plan.rows {
            let w = &mut least.w[row.start..][..row.size];
            for (w, z) in w.iter_mut().zip(&z[row.at..]) {
                *w -= z;
                change = change.max(z.abs());
            }
        }
        change
    }
}
