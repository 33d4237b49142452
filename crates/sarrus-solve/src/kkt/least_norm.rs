//! Multipliers of least norm, where dependent rows leave a choice.
//!
//! Dropping rows gives one μ with Jᵀμ = a - M x. With K the rows that were kept, D those left out and
//!
//! ```text
//! N = [-C; I],   C = S_K⁻¹ S_KD
//! ```
//!
//! a basis of the null space of Jᵀ, the least one is μ - N z with NᵀN z = Nᵀμ. N and Nᵀ are applied by solutions with the factors
//! over K, and conjugate gradients solve for z, preconditioned by
//!
//! ```text
//! (NᵀN)⁻¹ = P_DD ≈ [ε (S + εI)⁻¹]_DD,   P = N (NᵀN)⁻¹Nᵀ,
//! ```
//!
//! one proximal step [Rockafellar1976]. It is exact up to ε over the least eigenvalue of S but zero, so that mostly two iterations reach
//! rounding; the result does not depend on ε. ε is the same for all rows, as the norm is.
//!
//! Cost: a factorization and some ten solutions, at places with dependent rows only.

use super::{Kkt, assemble};
use crate::error::SolveError;
use crate::problem::Equations;
use sarrus_math::solve::kernels::{self, Action};
use sarrus_math::solve::{BlockLdl, SmallPivot};

/// ε relative to the largest diagonal of S: as far from rounding as from the eigenvalues of ordinary mechanisms, as the root of the rounding.
pub(super) const EPSILON: f64 = 1e-8;
/// Iterations, at most. Those of a well chosen ε are two; an eigenvalue of S of the size of ε takes one more.
const ITERATIONS: u32 = 50;
/// Part in the null space, relative to the multipliers, that rounding leaves at best ...
const NULL: f64 = 1e-15;
/// ... and where it may be that more iterations take nothing away.
const ROUNDING_LEFT: f64 = 1e-10;
/// Multipliers below this part of those that rows alone would need against the loads are differences of such: what rounding leaves of them
/// tells nothing.
const LOADS: f64 = 1e-6;
/// Passes of a solution over the rows that were kept, at most.
const PASSES: u32 = 8;
/// A change by a pass, relative, after which the next would change less than rounding: passes converge at least as fast as that.
const CONVERGED: f64 = 1e-12;

/// The second factorization.
#[derive(Debug, Clone)]
pub(super) struct Soft {
    ldl: BlockLdl,
    zero: Vec<f64>,
    /// ε of it, and how many factorizations there had been with it.
    softened: Option<(f64, u64)>,
}

/// Vectors of the null space.
#[derive(Debug, Clone)]
pub(super) struct NullVectors {
    /// w (nc).
    pub w: Vec<f64>,
    /// Wᵀ w (nv).
    y: Vec<f64>,
    /// Right-hand side (nc).
    b: Vec<f64>,
    /// Nᵀμ in the rows left out (nc).
    g: Vec<f64>,
    /// N p of the search direction p (nc).
    p: Vec<f64>,
}

impl Kkt {
    /// Replaces the multipliers `mu` of the last [`solve`](Kkt::solve) by those of least norm. Nothing to do where no row was dropped.
    /// Allocates the first time.
    pub fn least_norm(&mut self, eq: &Equations, mu: &mut [f64]) -> Result<(), SolveError> {
        if self.dropped.is_empty() {
            return Ok(());
        }
        let mut least = self.null_vectors();
        let epsilon = self.epsilon(EPSILON);
        self.soften(epsilon);
        let (mut before, mut last) = (0.0, f64::INFINITY);
        for iteration in 0..ITERATIONS {
            let size = self.null_part(&mut least, eq, mu);
            let whole = dot(mu, mu).sqrt();
            // rounding is all that is left, or falls no more
            let is_small = size <= ROUNDING_LEFT * whole;
            if size <= NULL * whole || !size.is_finite() || is_small && size > 0.5 * last {
                break;
            }
            last = size;
            // z, then w = N z
            least.w.copy_from_slice(&least.g);
            self.proximal_step(&mut least, epsilon);
            least.w.iter_mut().zip(&self.is_dropped).filter(|(_, out)| !**out).for_each(|(w, _)| *w = 0.0);
            let rho = dot(&least.w, &least.g);
            self.make_null(&mut least, eq);
            let beta = if iteration == 0 { 0.0 } else { rho / before };
            before = rho;
            least.p.iter_mut().zip(&least.w).for_each(|(p, w)| *p = w + beta * *p);
            // the shortest along p, whatever rounding has made of p: multipliers never grow
            let (along, square) = (dot(mu, &least.p), dot(&least.p, &least.p));
            if !(square > 0.0 && rho > 0.0) {
                break;
            }
            let alpha = along / square;
            mu.iter_mut().zip(&least.p).for_each(|(mu, p)| *mu -= alpha * p);
        }
        self.vectors = Some(least);
        if mu.iter().all(|mu| mu.is_finite()) {
            Ok(())
        } else {
            Err(SolveError::NotFinite { quantity: "lambda", index: 0 })
        }
    }

    /// |Nᵀμ| over |μ|, at the J of `eq` and of the last factorization: at least as large as the part of `mu` in the null space of Jᵀ. 0 where no
    /// row was left out. Multipliers are not compared with less than `LOADS` of those that rows alone would need.
    pub fn null_share(&mut self, eq: &Equations, mu: &[f64]) -> f64 {
        if self.dropped.is_empty() {
            return 0.0;
        }
        let mut least = self.null_vectors();
        let size = self.null_part(&mut least, eq, mu);
        self.start(&eq.f, &mut least.y);
        least.w.fill(0.0);
        eq.add_J_mul(&self.structure, &least.y, &mut least.w);
        let alone = least.w.iter().zip(&eq.gamma).zip(&self.scale).filter(|(_, scale)| **scale > 0.0);
        let alone = alone.fold(0.0_f64, |most, ((a, b), scale)| most.max((a.abs() + b.abs()) / scale));
        let whole = dot(mu, mu).sqrt().max(LOADS * alone);
        self.vectors = Some(least);
        if size == 0.0 { 0.0 } else { size / whole }
    }

    /// g = Nᵀμ = μ_D - S_DK S_K⁻¹ μ_K. Returns |g|.
    fn null_part(&mut self, least: &mut NullVectors, eq: &Equations, mu: &[f64]) -> f64 {
        least.w.copy_from_slice(mu);
        self.dropped.iter().for_each(|&i| least.w[i] = 0.0);
        self.solve_with_retained(least, eq);
        least.g.fill(0.0);
        self.dropped.iter().for_each(|&i| least.g[i] = mu[i] - self.work.r[i]);
        dot(&least.g, &least.g).sqrt()
    }

    /// Vectors, made the first time.
    pub(super) fn null_vectors(&mut self) -> NullVectors {
        let (nc, nv) = (self.nc, self.structure.nv);
        self.vectors.take().unwrap_or_else(|| NullVectors {
            w: vec![0.0; nc],
            y: vec![0.0; nv],
            b: vec![0.0; nc],
            g: vec![0.0; nc],
            p: vec![0.0; nc],
        })
    }

    /// ε of `fraction` of the largest diagonal of S.
    pub(super) fn epsilon(&self, fraction: f64) -> f64 {
        fraction * self.scale.iter().copied().fold(f64::MIN_POSITIVE / fraction, f64::max)
    }

    /// Factors S + εI, unless that was the last factorization.
    pub(super) fn soften(&mut self, epsilon: f64) {
        let mut soft = self.soft.take().unwrap_or_else(|| Soft {
            ldl: self.ldl.clone(),
            zero: vec![0.0; self.floor.len()],
            softened: None,
        });
        if soft.softened != Some((epsilon, self.factorizations)) {
            self.factor_softened(&mut soft, epsilon);
        }
        self.soft = Some(soft);
    }

    fn factor_softened(&mut self, soft: &mut Soft, epsilon: f64) {
        let K = soft.ldl.values_mut();
        for row in &self.plan.rows {
            let n = row.size;
            let D = &mut K[row.diagonal..][..n * n];
            D.fill(0.0);
            for b in self.plan.blocks[row.first..row.last].iter().filter(|b| b.hub.is_none()) {
                kernels::accumulate(D, &self.W[b.offset..], &self.Jt[b.offset..], n, b.size, n);
            }
            let out = if self.rows == super::ActiveRows::All { n } else { row.holonomic };
            (out..n).for_each(|i| D[i * n + i] = 1.0);
            (0..n).for_each(|i| D[i * n + i] += epsilon);
        }
        assemble(&self.plan, &self.bodies, &self.mass, &self.W, &self.Jt, K);
        self.factorizations += 1;
        soft.softened = Some((epsilon, self.factorizations));
        // rounding may eat ε where rows are of very different size: put it back
        let use_epsilon = |_: SmallPivot, _: &[(usize, f64)]| Action::Use(epsilon);
        // cannot stop, as every pivot is either good or put back
        let _ = soft.ldl.factor(&soft.zero, &soft.zero, use_epsilon);
    }

    /// w ← ε (S + εI)⁻¹ w.
    pub(super) fn proximal_step(&mut self, least: &mut NullVectors, epsilon: f64) {
        let Some(soft) = &mut self.soft else { return };
        let z = &mut self.work.z;
        z.fill(0.0);
        for row in &self.plan.rows {
            z[row.at..][..row.size].copy_from_slice(&least.w[row.start..][..row.size]);
        }
        soft.ldl.solve(z);
        for row in &self.plan.rows {
            let w = &mut least.w[row.start..][..row.size];
            w.iter_mut().zip(&z[row.at..]).for_each(|(w, z)| *w = epsilon * z);
        }
    }

    /// r = S w, over the rows that take part.
    pub(super) fn compliance(&mut self, least: &mut NullVectors, eq: &Equations) {
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
        let r = &mut self.work.r;
        r.fill(0.0);
        for row in &self.plan.rows {
            let r = &mut r[row.start..][..row.size];
            for b in &self.plan.blocks[row.first..row.last] {
                kernels::subtract_mul(r, &eq.J[b.offset..], &least.y[b.start..], row.size, b.size);
            }
            if self.rows == super::ActiveRows::Holonomic {
                r[row.holonomic..].fill(0.0);
            }
        }
    }

    /// z = S_K⁻¹ r, zero in the rows left out.
    fn solve_rows(&mut self) {
        let (z, r) = (&mut self.work.z, &self.work.r);
        z.fill(0.0);
        for row in &self.plan.rows {
            z[row.at..][..row.size].copy_from_slice(&r[row.start..][..row.size]);
        }
        self.ldl.solve(z);
    }

    /// w ← S_K⁻¹ w over the rows that were kept, zero in the others; leaves S w in r.
    pub(super) fn solve_with_retained(&mut self, least: &mut NullVectors, eq: &Equations) {
        least.b.copy_from_slice(&least.w);
        least.w.fill(0.0);
        self.work.r.copy_from_slice(&least.b);
        let mut before = f64::INFINITY;
        for _ in 0..PASSES {
            self.solve_rows();
            let change = self.add_rows(least, 1.0);
            if change <= CONVERGED * largest(&least.w) || change > 0.1 * before {
                break;
            }
            before = change;
            self.compliance(least, eq);
            self.work.r.iter_mut().zip(&least.b).for_each(|(r, b)| *r = b - *r);
        }
        self.compliance(least, eq);
    }

    /// w += `factor` z over the rows; returns the largest change.
    fn add_rows(&mut self, least: &mut NullVectors, factor: f64) -> f64 {
        let mut change = 0.0_f64;
        for row in &self.plan.rows {
            let w = &mut least.w[row.start..][..row.size];
            for (w, z) in w.iter_mut().zip(&self.work.z[row.at..]) {
                *w += factor * z;
                change = change.max(z.abs());
            }
        }
        change
    }

    /// w ← w - S_K⁻¹ (S w)_K, so that Jᵀw = 0, until only rounding is removed.
    pub(super) fn make_null(&mut self, least: &mut NullVectors, eq: &Equations) {
        let mut before = f64::INFINITY;
        for _ in 0..PASSES {
            self.compliance(least, eq);
            self.solve_rows();
            let change = self.add_rows(least, -1.0);
            if change <= CONVERGED * largest(&least.w) || change > 0.1 * before {
                break;
            }
            before = change;
        }
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| most.max(x.abs()))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
