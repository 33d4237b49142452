//! Solution by correction: from x = M⁻¹a, μ = 0 each pass solves for what the residual r = b - J x still asks.
//!
//! [S + εI, -J_h; -J_hᵀ, -M_h] [δμ; δx_h] = [-r; -r_h],  δx_n = -M_n⁻¹ J_nᵀ δμ,
//!
//! so that M x + Jᵀμ = a holds to rounding for every body n that is not a hub, and r_h = a_h - M_h x_h - J_hᵀμ
//! is corrected with r. With ε > 0 this is the proximal point iteration: a part of r along an eigenvector of
//! J M⁻¹ Jᵀ with eigenvalue s shrinks by ε / (s + ε) each pass.

use super::{Kkt, Rows, not_finite};
use crate::error::SolveError;
use crate::problem::{Equations, Structure};
use sarrus_math::solve::kernels;

/// A residual at this fraction of the size of its terms is rounding: a row has a dozen terms, each rounded
/// a few times on its way.
const ROUNDING: f64 = 4e-15;
/// Passes before a set of factors is given up on.
const PASSES: u32 = 10;
/// Changes of ε before the residual is taken as it is.
const CHANGES: u32 = 3;
/// A direction r of row space with rᵀ J M⁻¹ Jᵀ r below this fraction of rᵀ diag(J M⁻¹ Jᵀ) r counts as a left null
/// vector of J. An integrator's error of 10⁻⁴ in the positions of a redundant mechanism makes null vectors
/// look like 10⁻⁸; following them would turn that error into forces of any size.
const NULL: f64 = 1e-8;
/// Largest residual accepted along null vectors: contradicting constraints show a residual of order one,
/// positions off by an integrator's error one of that error.
const CONTRADICTION: f64 = 1e-3;
/// Largest residual accepted elsewhere.
const UNSOLVED: f64 = 1e-6;

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveReport {
    /// Largest residual of J x = b and, for hubs, of M x + Jᵀμ = a, relative to the size of its terms.
    pub residual: f64,
    /// Scalar row where the residual of J x = b is largest.
    pub row: usize,
    /// Passes after the first.
    pub refinements: u32,
    /// Whether what is left of the residual lies along left null vectors of J, where no x can remove it.
    pub null: bool,
    /// ε that was used, zero if the rows are independent.
    pub epsilon: f64,
}

impl SolveReport {
    /// An error where the residual is larger than rounding or an integrator's error can explain.
    pub fn check(&self) -> Result<(), SolveError> {
        let limit = if self.null { CONTRADICTION } else { UNSOLVED };
        if self.residual <= limit {
            return Ok(());
        }
        Err(SolveError::Inconsistent { row: self.row, residual: self.residual })
    }
}

/// Vectors of a solve.
#[derive(Debug, Clone)]
pub(super) struct Work {
    /// [-r; -r_h], in elimination order.
    right: Vec<f64>,
    /// The correction [δμ; δx_h], likewise.
    z: Vec<f64>,
    /// r = b - J x.
    r: Vec<f64>,
    /// Sizes of the terms of r.
    r_terms: Vec<f64>,
    /// Sizes of the terms of x.
    x_terms: Vec<f64>,
    /// Jᵀ r.
    y: Vec<f64>,
}

impl Work {
    pub fn new(s: &Structure, unknowns: usize) -> Work {
        Work {
            right: vec![0.0; unknowns],
            z: vec![0.0; unknowns],
            r: vec![0.0; s.nc],
            r_terms: vec![0.0; s.nc],
            x_terms: vec![0.0; s.nv],
            y: vec![0.0; s.nv],
        }
    }
}

impl Kkt {
    /// Solves [M Jᵀ; J 0] [x; μ] = [a; b] with the factors of the last [`factor`](Kkt::factor), at the same J.
    ///
    /// At another J close by, J x = b is solved all the same, with Jᵀ in the other equation as it was factored.
    /// Rows that do not take part get μ = 0, whatever their b. Does not allocate. An error only where a number is
    /// not finite; whether the residual will do is for [`SolveReport::check`].
    pub fn solve(
        &mut self,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.start(a, x);
        mu.fill(0.0);
        let mut report = SolveReport { epsilon: self.epsilon, ..SolveReport::default() };
        if self.nc == 0 {
            return x.iter().all(|x| x.is_finite()).then_some(report).ok_or_else(|| not_finite("f", a));
        }

        // first pass: also collects the sizes of the terms
        self.residual(eq, a, b, x, mu, false);
        self.correct(x, mu, true);
        self.residual(eq, a, b, x, mu, true);
        (report.residual, report.row) = self.size_of_residual(eq, a, b, mu)?;

        let mut changes = 0;
        loop {
            self.refine(eq, a, b, x, mu, &mut report)?;
            if report.residual <= 100.0 * ROUNDING || changes == CHANGES {
                break;
            }
            // what is left: nothing that x could remove, or an eigenvalue too far below ε?
            let (eigenvalue, relative) = self.eigenvalue_of_residual(eq);
            report.null = relative < NULL;
            let epsilon = 0.01 * eigenvalue;
            if report.null || self.epsilon == 0.0 || !(epsilon < 0.5 * self.epsilon) {
                break;
            }
            changes += 1;
            self.factor_regularized(epsilon)?;
        }
        if report.null {
            self.leave_null_vector(eq, a, b, x, mu, &mut report)?;
        }
        report.epsilon = self.epsilon;
        Ok(report)
    }

    /// Passes until the residual is rounding or stops falling.
    fn refine(
        &mut self,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
        report: &mut SolveReport,
    ) -> Result<(), SolveError> {
        for _ in 0..PASSES {
            if report.residual <= ROUNDING {
                break;
            }
            self.correct(x, mu, false);
            self.residual(eq, a, b, x, mu, false);
            report.refinements += 1;
            let before = report.residual;
            let (residual, row) = self.size_of_residual(eq, a, b, mu)?;
            if residual > before {
                self.undo(x, mu);
                self.residual(eq, a, b, x, mu, false);
                break;
            }
            (report.residual, report.row) = (residual, row);
            if residual > 0.5 * before {
                break;
            }
        }
        Ok(())
    }

    /// x = M⁻¹ a.
    fn start(&mut self, a: &[f64], x: &mut [f64]) {
        for &(col, _) in &self.cols {
            let (n, at) = (col.size, col.start);
            let minv = &self.minv[col.mass..][..n * n];
            let (a, x) = (&a[at..][..n], &mut x[at..][..n]);
            x.fill(0.0);
            for (a, m) in a.iter().zip(minv.chunks_exact(n)) {
                x.iter_mut().zip(m).for_each(|(x, m)| *x += m * a);
            }
        }
        self.work.x_terms.iter_mut().zip(&*x).for_each(|(s, x)| *s = x.abs());
    }

    /// r = b - J x, also into the right side; `sized` computes the sizes of its terms as well.
    fn residual(&mut self, eq: &Equations, a: &[f64], b: &[f64], x: &[f64], mu: &[f64], sized: bool) {
        let Work { right, r, r_terms, x_terms, .. } = &mut self.work;
        r.copy_from_slice(b);
        if sized {
            r_terms.iter_mut().zip(b).for_each(|(t, b)| *t = b.abs());
        }
        for row in &self.plan.rows {
            let n = row.size;
            let r = &mut r[row.start..][..n];
            for e in &self.plan.blocks[row.first..row.last] {
                let (J, x) = (&eq.J[e.offset..], &x[e.start..]);
                if sized {
                    let (t, s) = (&mut r_terms[row.start..], &x_terms[e.start..]);
                    kernels::subtract_mul_sized(r, t, J, x, s, n, e.size);
                } else {
                    kernels::subtract_mul(r, J, x, n, e.size);
                }
            }
            if self.rows == Rows::Holonomic {
                r[row.holonomic..].fill(0.0);
            }
            right[row.at..][..n].iter_mut().zip(r).for_each(|(z, r)| *z = -*r);
        }
        for hub in &self.plan.hubs {
            let (col, _) = self.cols[hub.col];
            let n = col.size;
            let z = &mut right[hub.at..][..n];
            z.iter_mut().zip(&a[col.start..]).for_each(|(z, a)| *z = -a);
            for (z, M) in z.iter_mut().zip(self.mass[col.mass..].chunks_exact(n)) {
                *z += M.iter().zip(&x[col.start..]).map(|(m, x)| m * x).sum::<f64>();
            }
            for &(row, e) in &hub.blocks {
                let row = &self.plan.rows[row];
                let J = eq.J[self.plan.blocks[e].offset..].chunks_exact(n);
                for (mu, J) in mu[row.start..][..row.size].iter().zip(J) {
                    z.iter_mut().zip(J).for_each(|(z, j)| *z += j * mu);
                }
            }
        }
    }

    /// One pass: x and μ corrected for the right side; `sized` adds to the sizes of the terms of x.
    fn correct(&mut self, x: &mut [f64], mu: &mut [f64], sized: bool) {
        self.work.z.copy_from_slice(&self.work.right);
        self.ldl.solve(&mut self.work.z);
        if sized {
            self.size_terms();
        }
        self.apply(x, mu);
    }

    /// μ += δμ and x += δx from the correction in `z`.
    fn apply(&mut self, x: &mut [f64], mu: &mut [f64]) {
        let z = &self.work.z;
        for row in &self.plan.rows {
            let n = row.size;
            let z = &z[row.at..][..n];
            mu[row.start..][..n].iter_mut().zip(z).for_each(|(mu, z)| *mu += z);
            for e in self.plan.blocks[row.first..row.last].iter().filter(|e| e.hub.is_none()) {
                kernels::subtract_mul_transposed(&mut x[e.start..], &self.W[e.offset..], z, n, e.size);
            }
        }
        for hub in &self.plan.hubs {
            let (col, _) = self.cols[hub.col];
            x[col.start..][..col.size].iter_mut().zip(&z[hub.at..]).for_each(|(x, z)| *x += z);
        }
    }

    /// Adds |W|ᵀ |δμ| to the sizes of the terms of x.
    fn size_terms(&mut self) {
        let Work { z, x_terms, .. } = &mut self.work;
        for row in &self.plan.rows {
            let z = &z[row.at..][..row.size];
            for e in &self.plan.blocks[row.first..row.last] {
                kernels::add_size_transposed(&mut x_terms[e.start..], &self.W[e.offset..], z, row.size, e.size);
            }
        }
    }

    /// Takes the last pass back.
    fn undo(&mut self, x: &mut [f64], mu: &mut [f64]) {
        self.work.z.iter_mut().for_each(|z| *z = -*z);
        self.apply(x, mu);
    }

    /// Largest |r| relative to its terms and the row where r is largest, hubs' equations of motion included.
    fn size_of_residual(&self, eq: &Equations, a: &[f64], b: &[f64], mu: &[f64]) -> Result<(f64, usize), SolveError> {
        let Work { r, r_terms, right, x_terms, .. } = &self.work;
        let (mut worst, mut row, mut sum) = (0.0, 0, 0.0);
        for (i, (r, t)) in r.iter().zip(r_terms).enumerate() {
            // a comparison alone would pass over what is not a number
            sum += r;
            if r.abs() > worst * t {
                (worst, row) = (r.abs() / t, i);
            }
        }
        for hub in &self.plan.hubs {
            let (col, _) = self.cols[hub.col];
            for i in 0..col.size {
                let M = &self.mass[col.mass + i * col.size..][..col.size];
                let mut terms = a[col.start + i].abs();
                terms += M.iter().zip(&x_terms[col.start..]).map(|(m, x)| (m * x).abs()).sum::<f64>();
                for &(row, e) in &hub.blocks {
                    let row = &self.plan.rows[row];
                    let J = eq.J[self.plan.blocks[e].offset..].chunks_exact(col.size);
                    terms += mu[row.start..][..row.size].iter().zip(J).map(|(mu, J)| (mu * J[i]).abs()).sum::<f64>();
                }
                let r = right[hub.at + i];
                sum += r;
                if r.abs() > worst * terms {
                    worst = r.abs() / terms;
                }
            }
        }
        if sum.is_finite() {
            return Ok((worst, row));
        }
        let bad = |v: &[f64]| v.iter().any(|x| !x.is_finite());
        Err(match () {
            _ if bad(a) => not_finite("f", a),
            _ if bad(b) => not_finite("gamma", b),
            _ => not_finite("lambda", mu),
        })
    }

    /// (rᵀ S r / rᵀ r, rᵀ S r / rᵀ diag(S) r) with S = J M⁻¹ Jᵀ over all bodies.
    fn eigenvalue_of_residual(&mut self, eq: &Equations) -> (f64, f64) {
        let Work { r, y, .. } = &mut self.work;
        y.fill(0.0);
        for row in &self.plan.rows {
            for e in &self.plan.blocks[row.first..row.last] {
                let J = &eq.J[e.offset..];
                kernels::subtract_mul_transposed(&mut y[e.start..], J, &r[row.start..], row.size, e.size);
            }
        }
        let mut rSr = 0.0;
        for &(col, _) in &self.cols {
            let y = &y[col.start..][..col.size];
            for (yi, m) in y.iter().zip(self.minv[col.mass..].chunks_exact(col.size)) {
                rSr += yi * m.iter().zip(y).map(|(m, y)| m * y).sum::<f64>();
            }
        }
        let rr: f64 = r.iter().map(|r| r * r).sum();
        let rDr: f64 = r.iter().zip(&self.scale).map(|(r, s)| r * r * s).sum();
        if rr == 0.0 { (f64::INFINITY, 1.0) } else { (rSr / rr, if rDr > 0.0 { rSr / rDr } else { 0.0 }) }
    }

    /// r is a left null vector of J, and each pass with ε put -r/ε into μ: the least μ has nothing along r.
    fn leave_null_vector(
        &mut self,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
        report: &mut SolveReport,
    ) -> Result<(), SolveError> {
        let r = &self.work.r;
        let rr: f64 = r.iter().map(|r| r * r).sum();
        let share = r.iter().zip(&*mu).map(|(r, mu)| r * mu).sum::<f64>() / rr;
        for row in &self.plan.rows {
            let r = &self.work.r[row.start..][..row.size];
            let z = &mut self.work.z[row.at..][..row.size];
            z.iter_mut().zip(r).for_each(|(z, r)| *z = -share * r);
            // hubs move with their rows here, as no equation is solved for them
            for e in self.plan.blocks[row.first..row.last].iter().filter(|e| e.hub.is_some()) {
                kernels::subtract_mul_transposed(&mut x[e.start..], &self.W[e.offset..], z, row.size, e.size);
            }
        }
        for hub in &self.plan.hubs {
            self.work.z[hub.at..][..self.cols[hub.col].0.size].fill(0.0);
        }
        self.apply(x, mu);
        self.residual(eq, a, b, x, mu, false);
        (report.residual, report.row) = self.size_of_residual(eq, a, b, mu)?;
        Ok(())
    }
}
