//! Solution by correction: from x = M⁻¹a, μ = 0 each pass solves for what the residual r = b - J x still asks.
//!
//! [S, -J_h; -J_hᵀ, -M_h] [δμ; δx_h] = [-r; -r_h],  δx_n = -M_n⁻¹ J_nᵀ δμ,
//!
//! so that M x + Jᵀμ = a holds to rounding for every body n that is not a hub, and r_h = a_h - M_h x_h - J_hᵀμ
//! is corrected with r. Rows that were dropped take no part: what is left of them is a contradiction.

use super::{ActiveRows, Kkt, RankDemand, rows, sized};
use crate::error::SolveError;
use crate::problem::{Equations, Structure};
use sarrus_math::solve::kernels;

/// A residual at this fraction of the size of its terms is rounding: a row has a dozen terms, each rounded
/// a few times on its way.
const ROUNDING: f64 = 4e-15;
/// Passes after the first, at most.
const PASSES: u32 = 10;
/// A residual that refinement should not leave.
const POOR: f64 = 1e-10;
/// Largest fraction of its diagonal at which a pivot may be taken for that of a dependent row.
pub(super) const COARSEST: f64 = 1e-6;
/// Largest residual accepted where a row takes part.
const UNSOLVED: f64 = 1e-6;
/// Largest residual accepted where a row was left out: contradicting constraints show one of order one, positions
/// off by an integrator's error show that error.
const CONTRADICTION: f64 = 1e-3;

/// Fraction of the largest term in all rows that counts as noise in any of them.
const NOISE: f64 = 1e-12;
/// The same where rows are dependent, with terms in the scale of the masses that rows feel: of a contradiction that is shared
/// by all rows, one with small terms is not to show the whole.
const SHARED: f64 = 1e-3;

/// Terms below this lose digits to the number format: of a mechanism that comes to rest they are all that is left.
const SUBNORMAL: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// Describes how a solve went. Residuals are relative to the size of their terms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveReport {
    /// Largest residual of J x = b over the rows that take part, and for hubs of M x + Jᵀμ = a.
    pub residual: f64,
    /// Row where it is largest.
    pub row: usize,
    /// Velocity of a hub, where it is largest in an equation of motion.
    pub velocity: Option<usize>,
    /// Largest residual of J x = b over the rows that were left out as dependent on others.
    pub contradiction: f64,
    /// Row where it is largest.
    pub contradicting: usize,
    /// Passes after the first.
    pub refinements: u32,
}

impl SolveReport {
    /// An error where a residual is larger than rounding or an integrator's error can explain.
    pub fn check(&self) -> Result<(), SolveError> {
        let exceeds = |x: f64, limit: f64| x.is_nan() || x > limit;
        if exceeds(self.contradiction, CONTRADICTION) {
            return Err(SolveError::Inconsistent { row: self.contradicting, residual: self.contradiction });
        }
        if exceeds(self.residual, UNSOLVED) {
            let residual = self.residual;
            return Err(match self.velocity {
                Some(velocity) => SolveError::Unsolved { velocity, residual },
                None => SolveError::Inconsistent { row: self.row, residual },
            });
        }
        Ok(())
    }
}

/// Vectors of a solve.
#[derive(Debug, Clone)]
pub(super) struct SolveWorkspace {
    /// [-r; -r_h], in elimination order.
    pub right: Vec<f64>,
    /// The correction [δμ; δx_h], likewise.
    pub z: Vec<f64>,
    /// r = b - J x.
    pub r: Vec<f64>,
    /// Sizes of the terms of r; infinite where a row takes no part.
    r_terms: Vec<f64>,
    /// Terms below this are the noise of others: of a structure at rest a row may consist of nothing else.
    noise: f64,
    /// Sizes of the terms of x.
    x_terms: Vec<f64>,
    /// Sizes of the terms of the dropped rows, in their order.
    dropped_terms: Vec<f64>,
}

impl SolveWorkspace {
    pub fn new(s: &Structure, unknowns: usize) -> SolveWorkspace {
        SolveWorkspace {
            right: vec![0.0; unknowns],
            z: vec![0.0; unknowns],
            r: vec![0.0; s.nc],
            r_terms: vec![0.0; s.nc],
            noise: 0.0,
            x_terms: vec![0.0; s.nv],
            dropped_terms: Vec::with_capacity(s.nc),
        }
    }
}

impl Kkt {
    /// Solves [M Jᵀ; J 0] [x; μ] = [a; b] with the factors of the last [`factor`](Kkt::factor), at the same J.
    ///
    /// At another J close by, J x = b is solved all the same, with Jᵀ in the other equation as it was factored.
    /// Rows that take no part get μ = 0. Does not allocate. An error only where a number is not finite; whether the
    /// residual will do is for [`SolveReport::check`].
    pub fn solve(
        &mut self,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        let mut report = self.solve_once(eq, a, b, x, mu)?;
        // a residual that stays is the mark of a dependent row that was taken for independent
        while report.residual > POOR && self.rank != RankDemand::Full && self.dependent < COARSEST {
            let before = (self.dependent, report);
            self.dependent *= 100.0;
            (self.resolved, self.decided) = (None, false);
            self.forget_choice()?;
            self.refactor(eq)?;
            report = self.solve_once(eq, a, b, x, mu)?;
            if report.check().is_err() && before.1.check().is_ok() {
                // it was not: these rows are needed, though they are hard to solve
                self.dependent = before.0;
                (self.resolved, self.decided) = (None, false);
                self.forget_choice()?;
                self.refactor(eq)?;
                return self.solve_once(eq, a, b, x, mu);
            }
        }
        Ok(report)
    }

    pub(super) fn solve_once(
        &mut self,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.start(a, x);
        mu.fill(0.0);
        let mut report = SolveReport::default();
        if self.nc == 0 {
            return if x.iter().all(|x| x.is_finite()) { Ok(report) } else { Err(not_finite(a, b)) };
        }

        // first pass: also collects the sizes of the terms
        self.residual(eq, a, b, x, mu);
        self.correct(x, mu);
        // rows that are kept in place of others magnify what is left; terms that cancel in x would hide it
        if !self.dropped.is_empty() {
            self.residual(eq, a, b, x, mu);
            self.correct(x, mu);
        }
        self.residual_terms(eq, a, b, x, mu);
        self.size_of_residual(eq, a, b, mu, &mut report)?;

        // passes until the residual is rounding or stops falling
        while report.residual > ROUNDING && report.refinements < PASSES {
            self.correct(x, mu);
            self.residual(eq, a, b, x, mu);
            report.refinements += 1;
            let before = report;
            self.size_of_residual(eq, a, b, mu, &mut report)?;
            if report.residual > before.residual {
                self.work.z.iter_mut().for_each(|z| *z = -*z);
                self.apply(x, mu);
                self.residual(eq, a, b, x, mu);
                report = before;
                break;
            }
            if report.residual > 0.5 * before.residual {
                break;
            }
        }

        let left = |i: usize| if self.is_dropped[i] { self.work.r[i] } else { 0.0 };
        (report.contradiction, report.contradicting) = self.largest_contradiction(eq, left);
        Ok(report)
    }

    /// The largest of what is `left` of rows, relative to their terms, and its row; nothing where no row was dropped. Terms of γ
    /// that cancel count where `eq` has their sizes, and are shared by all rows as the others are.
    pub(super) fn largest_contradiction(&self, eq: &Equations, left: impl Fn(usize) -> f64) -> (f64, usize) {
        let mut worst = (0.0, 0);
        if self.dropped.is_empty() {
            return worst;
        }
        let cancelling = eq.gamma_terms.iter().zip(&self.scale).filter(|(_, s)| **s > 0.0);
        let unit = cancelling.fold(0.0_f64, |a, (t, s)| a.max(t / s.sqrt()));
        let cancelled = |i: usize| match eq.gamma_terms.get(i) {
            Some(t) => t.max(SHARED * unit * self.scale[i].sqrt()),
            None => 0.0,
        };
        let SolveWorkspace { r_terms, dropped_terms, noise, .. } = &self.work;
        let retained = r_terms.iter().copied().enumerate();
        for (i, t) in retained.chain(self.dropped.iter().copied().zip(dropped_terms.iter().copied())) {
            let (r, t) = (left(i).abs(), t.max(*noise) + cancelled(i));
            if r > worst.0 * t {
                worst = (r / t, i);
            }
        }
        worst
    }

    /// x = M⁻¹ a, and the sizes of its terms.
    pub(super) fn start(&mut self, a: &[f64], x: &mut [f64]) {
        let terms = &mut self.work.x_terms;
        for body in &self.bodies {
            let n = body.size;
            let minv = &self.minv[body.mass..][..n * n];
            let (a, x) = (&a[body.start..][..n], &mut x[body.start..][..n]);
            if body.inverse == super::Inverse::Diagonal {
                for i in 0..n {
                    x[i] = minv[i * n + i] * a[i];
                }
            } else {
                x.fill(0.0);
                for (a, m) in a.iter().zip(minv.chunks_exact(n)) {
                    x.iter_mut().zip(m).for_each(|(x, m)| *x += m * a);
                }
            }
            terms[body.start..][..n].iter_mut().zip(x).for_each(|(t, x)| *t = x.abs());
        }
    }

    /// r = b - J x, also into the right-hand side.
    pub(super) fn residual(&mut self, eq: &Equations, a: &[f64], b: &[f64], x: &[f64], mu: &[f64]) {
        let SolveWorkspace { right, r, .. } = &mut self.work;
        for row in &self.plan.rows {
            let n = row.size;
            let b = &b[row.start..][..n];
            let (r, right) = (&mut r[row.start..][..n], &mut right[row.at..][..n]);
            let blocks = &self.plan.blocks[row.first..row.last];
            sized!(row, residual(blocks, &eq.J, x, b, r, right), {
                r.copy_from_slice(b);
                for b in blocks {
                    kernels::subtract_mul(r, &eq.J[b.offset..], &x[b.start..], n, b.size);
                }
                right.iter_mut().zip(&*r).for_each(|(z, r)| *z = -*r);
            });
            if self.rows == ActiveRows::Holonomic {
                r[row.holonomic..].fill(0.0);
                right[row.holonomic..].fill(0.0);
            }
        }
        self.hub_residual(eq, a, x, mu);
    }

    /// As [`residual`](Kkt::residual), with the sizes of the terms.
    fn residual_terms(&mut self, eq: &Equations, a: &[f64], b: &[f64], x: &[f64], mu: &[f64]) {
        let SolveWorkspace { right, r, r_terms, x_terms, dropped_terms, noise, .. } = &mut self.work;
        for row in &self.plan.rows {
            let blocks = &self.plan.blocks[row.first..row.last];
            let mu = &mu[row.start..][..row.size];
            sized!(row, terms(blocks, &self.W, mu, x_terms), {
                for b in blocks {
                    let W = &self.W[b.offset..];
                    kernels::add_size_transposed(&mut x_terms[b.start..], W, mu, row.size, b.size);
                }
            });
        }
        for row in &self.plan.rows {
            let n = row.size;
            let b = &b[row.start..][..n];
            let (r, t) = (&mut r[row.start..][..n], &mut r_terms[row.start..][..n]);
            let right = &mut right[row.at..][..n];
            let blocks = &self.plan.blocks[row.first..row.last];
            sized!(row, residual_terms(blocks, &eq.J, x, x_terms, b, r, t, right), {
                r.copy_from_slice(b);
                t.iter_mut().zip(b).for_each(|(t, b)| *t = b.abs());
                for b in blocks {
                    let (J, x, s) = (&eq.J[b.offset..], &x[b.start..], &x_terms[b.start..]);
                    kernels::subtract_mul_sized(r, t, J, x, s, n, b.size);
                }
                right.iter_mut().zip(&*r).for_each(|(z, r)| *z = -*r);
            });
            if self.rows == ActiveRows::Holonomic {
                r[row.holonomic..].fill(0.0);
                right[row.holonomic..].fill(0.0);
                t[row.holonomic..].fill(f64::INFINITY);
            }
        }
        let largest = r_terms.iter().filter(|t| t.is_finite()).fold(0.0_f64, |a, t| a.max(*t));
        *noise = (NOISE * largest).max(SUBNORMAL);
        if !self.dropped.is_empty() {
            let scaled = r_terms.iter().zip(&self.scale).filter(|(t, s)| t.is_finite() && **s > 0.0);
            let unit = scaled.fold(0.0_f64, |a, (t, s)| a.max(t / s.sqrt()));
            r_terms.iter_mut().zip(&self.scale).for_each(|(t, s)| *t = t.max(SHARED * unit * s.sqrt()));
        }
        dropped_terms.clear();
        for &i in &self.dropped {
            dropped_terms.push(r_terms[i]);
            r_terms[i] = f64::INFINITY;
        }
        self.hub_residual(eq, a, x, mu);
    }

    /// -r_h = J_hᵀμ + M_h x_h - a_h into the right-hand side.
    fn hub_residual(&mut self, eq: &Equations, a: &[f64], x: &[f64], mu: &[f64]) {
        for hub in &self.plan.hubs {
            let body = &self.bodies[hub.col];
            let n = body.size;
            let z = &mut self.work.right[hub.at..][..n];
            z.iter_mut().zip(&a[body.start..]).for_each(|(z, a)| *z = -a);
            for (z, M) in z.iter_mut().zip(self.mass[body.mass..].chunks_exact(n)) {
                *z += M.iter().zip(&x[body.start..]).map(|(m, x)| m * x).sum::<f64>();
            }
            for &(row, b) in &hub.blocks {
                let row = &self.plan.rows[row];
                let J = eq.J[self.plan.blocks[b].offset..].chunks_exact(n);
                for (mu, J) in mu[row.start..][..row.size].iter().zip(J) {
                    z.iter_mut().zip(J).for_each(|(z, j)| *z += j * mu);
                }
            }
        }
    }

    /// One pass: x and μ corrected for the right-hand side.
    pub(super) fn correct(&mut self, x: &mut [f64], mu: &mut [f64]) {
        self.work.z.copy_from_slice(&self.work.right);
        self.ldl.solve(&mut self.work.z);
        self.apply(x, mu);
    }

    /// μ += δμ and x += δx from the correction in `z`.
    pub(super) fn apply(&mut self, x: &mut [f64], mu: &mut [f64]) {
        let z = &self.work.z;
        for row in &self.plan.rows {
            let n = row.size;
            let z = &z[row.at..][..n];
            let mu = &mut mu[row.start..][..n];
            let blocks = &self.plan.blocks[row.first..row.last];
            sized!(row, apply(blocks, &self.W, z, mu, x), {
                mu.iter_mut().zip(z).for_each(|(mu, z)| *mu += z);
                for b in blocks.iter().filter(|b| b.hub.is_none()) {
                    kernels::subtract_mul_transposed(&mut x[b.start..], &self.W[b.offset..], z, n, b.size);
                }
            });
        }
        for hub in &self.plan.hubs {
            let body = &self.bodies[hub.col];
            x[body.start..][..body.size].iter_mut().zip(&z[hub.at..]).for_each(|(x, z)| *x += z);
        }
    }

    /// Reports the largest |r| relative to its terms, hubs' equations of motion included.
    fn size_of_residual(
        &self,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        mu: &[f64],
        report: &mut SolveReport,
    ) -> Result<(), SolveError> {
        let SolveWorkspace { r, r_terms, right, x_terms, .. } = &self.work;
        let (mut worst, mut row, mut velocity, mut sum) = (0.0, 0, None, 0.0);
        let noise = self.work.noise;
        for (i, (r, t)) in r.iter().zip(r_terms).enumerate() {
            // a comparison alone would pass over what is not a number
            sum += r;
            let t = t.max(noise);
            if r.abs() > worst * t {
                (worst, row) = (r.abs() / t, i);
            }
        }
        for hub in &self.plan.hubs {
            let body = &self.bodies[hub.col];
            let n = body.size;
            for i in 0..n {
                let M = &self.mass[body.mass + i * n..][..n];
                let mut terms = a[body.start + i].abs();
                terms += M.iter().zip(&x_terms[body.start..]).map(|(m, x)| (m * x).abs()).sum::<f64>();
                for &(row, b) in &hub.blocks {
                    let row = &self.plan.rows[row];
                    let J = eq.J[self.plan.blocks[b].offset..].chunks_exact(n);
                    let mu = &mu[row.start..][..row.size];
                    terms += mu.iter().zip(J).map(|(mu, J)| (mu * J[i]).abs()).sum::<f64>();
                }
                let r = right[hub.at + i];
                sum += r;
                if r.abs() > worst * terms {
                    (worst, velocity) = (r.abs() / terms, Some(body.start + i));
                }
            }
        }
        if !sum.is_finite() {
            return Err(not_finite(a, b));
        }
        (report.residual, report.row, report.velocity) = (worst, row, velocity);
        Ok(())
    }
}

/// Returns which of the right-hand sides is not finite; the multipliers, if neither is.
fn not_finite(a: &[f64], b: &[f64]) -> SolveError {
    let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
    match (bad(a), bad(b)) {
        (Some(index), _) => SolveError::NotFinite { quantity: "f", index },
        (None, Some(index)) => SolveError::NotFinite { quantity: "gamma", index },
        (None, None) => SolveError::NotFinite { quantity: "lambda", index: 0 },
    }
}
