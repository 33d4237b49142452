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
/// Changes of ε, or of what is taken to be out of reach, before the residual is taken as it is.
const CHANGES: u32 = 5;
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
    /// What of b no x can reach.
    unreachable: Vec<f64>,
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
            unreachable: vec![0.0; s.nc],
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
        self.work.unreachable.fill(0.0);
        self.residual(eq, a, b, x, mu, false);
        self.correct(x, mu);
        self.size_terms(mu);
        self.residual(eq, a, b, x, mu, true);
        let mut size = self.size_of_residual(eq, a, b, mu)?;

        for _ in 0..CHANGES {
            size = self.refine(eq, a, b, x, mu, size, &mut report.refinements)?;
            if self.epsilon == 0.0 || size <= 100.0 * ROUNDING {
                break;
            }
            // what is left: nothing that x could remove, or eigenvalues too far below ε?
            let (null, least) = self.nature_of_residual(eq, size);
            if null {
                report.null = true;
                self.leave_null_vector(x, mu);
                self.start_terms(a);
                self.size_terms(mu);
                self.residual(eq, a, b, x, mu, true);
                size = self.size_of_residual(eq, a, b, mu)?;
            } else if least < 0.5 * self.epsilon {
                let before = self.epsilon;
                if self.factor_regularized(least).is_err() {
                    self.factor_regularized(before)?;
                    break;
                }
            } else {
                break;
            }
        }
        report.epsilon = self.epsilon;
        (report.residual, report.row) = self.report(size);
        Ok(report)
    }

    /// Passes until the residual is rounding or stops falling; returns its size.
    fn refine(
        &mut self,
        eq: &Equations,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
        mut size: f64,
        count: &mut u32,
    ) -> Result<f64, SolveError> {
        for _ in 0..PASSES {
            if size <= ROUNDING {
                break;
            }
            self.correct(x, mu);
            self.residual(eq, a, b, x, mu, false);
            *count += 1;
            let before = size;
            size = self.size_of_residual(eq, a, b, mu)?;
            if size > before {
                self.undo(x, mu);
                self.residual(eq, a, b, x, mu, false);
                return Ok(before);
            }
            if size > 0.5 * before {
                break;
            }
        }
        Ok(size)
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

    /// Sizes of the terms of x = M⁻¹ a.
    fn start_terms(&mut self, a: &[f64]) {
        for &(col, _) in &self.cols {
            let minv = self.minv[col.mass..].chunks_exact(col.size);
            for (s, m) in self.work.x_terms[col.start..][..col.size].iter_mut().zip(minv) {
                *s = m.iter().zip(&a[col.start..]).map(|(m, a)| (m * a).abs()).sum();
            }
        }
    }

    /// r = b - J x, less what is known to be out of reach, also into the right side; `sized` computes the sizes of its terms as well.
    fn residual(&mut self, eq: &Equations, a: &[f64], b: &[f64], x: &[f64], mu: &[f64], sized: bool) {
        let Work { right, r, r_terms, x_terms, unreachable, .. } = &mut self.work;
        r.iter_mut().zip(b).zip(&*unreachable).for_each(|((r, b), n)| *r = b - n);
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

    /// One pass: x and μ corrected for the right side.
    fn correct(&mut self, x: &mut [f64], mu: &mut [f64]) {
        self.work.z.copy_from_slice(&self.work.right);
        self.ldl.solve(&mut self.work.z);
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

    /// Adds |W|ᵀ |μ| to the sizes of the terms of x.
    fn size_terms(&mut self, mu: &[f64]) {
        let terms = &mut self.work.x_terms;
        for row in &self.plan.rows {
            let mu = &mu[row.start..][..row.size];
            for e in &self.plan.blocks[row.first..row.last] {
                kernels::add_size_transposed(&mut terms[e.start..], &self.W[e.offset..], mu, row.size, e.size);
            }
        }
    }

    /// Takes the last pass back.
    fn undo(&mut self, x: &mut [f64], mu: &mut [f64]) {
        self.work.z.iter_mut().for_each(|z| *z = -*z);
        self.apply(x, mu);
    }

    /// Largest |r| relative to its terms, hubs' equations of motion included.
    fn size_of_residual(&self, eq: &Equations, a: &[f64], b: &[f64], mu: &[f64]) -> Result<f64, SolveError> {
        let Work { r, r_terms, right, x_terms, .. } = &self.work;
        let (mut worst, mut sum) = (0.0, 0.0);
        for (r, t) in r.iter().zip(r_terms) {
            // a comparison alone would pass over what is not a number
            sum += r;
            if r.abs() > worst * t {
                worst = r.abs() / t;
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
            return Ok(worst);
        }
        let bad = |v: &[f64]| v.iter().any(|x| !x.is_finite());
        Err(match () {
            _ if bad(a) => not_finite("f", a),
            _ if bad(b) => not_finite("gamma", b),
            _ => not_finite("lambda", mu),
        })
    }

    /// Residual with what was out of reach put back, and the row where it is largest.
    fn report(&self, mut size: f64) -> (f64, usize) {
        let Work { r, r_terms, unreachable, .. } = &self.work;
        let mut row = 0;
        for (i, ((r, n), t)) in r.iter().zip(unreachable).zip(r_terms).enumerate() {
            if (r + n).abs() >= size * t && *t > 0.0 {
                (size, row) = ((r + n).abs() / t, i);
            }
        }
        (size, row)
    }

    /// Whether r is a left null vector of J; if not, an ε well below the eigenvalues that r belongs to.
    fn nature_of_residual(&mut self, eq: &Equations, size: f64) -> (bool, f64) {
        // rᵀ S r with S = J M⁻¹ Jᵀ over all bodies
        let Work { r, r_terms, y, .. } = &mut self.work;
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
        if rSr <= NULL * rDr {
            return (true, 0.0);
        }

        // the diagonal bounds the eigenvalues of rows that are not yet solved
        let unsolved = r.iter().zip(r_terms).zip(&self.scale).filter(|((r, t), _)| r.abs() > 0.1 * size * **t);
        let least = unsolved.map(|(_, &s)| s).fold(rSr / rr, f64::min);
        (false, 0.01 * least)
    }

    /// r is a left null vector of J: no x can remove it, and each pass with ε put -r/ε into μ. The least μ has
    /// nothing along r.
    fn leave_null_vector(&mut self, x: &mut [f64], mu: &mut [f64]) {
        let Work { r, z, unreachable, .. } = &mut self.work;
        let rr: f64 = r.iter().map(|r| r * r).sum();
        let share = if rr > 0.0 { r.iter().zip(&*mu).map(|(r, mu)| r * mu).sum::<f64>() / rr } else { 0.0 };
        unreachable.iter_mut().zip(&*r).for_each(|(n, r)| *n += r);
        for row in &self.plan.rows {
            let z = &mut z[row.at..][..row.size];
            z.iter_mut().zip(&r[row.start..]).for_each(|(z, r)| *z = -share * r);
            // hubs move with their rows here, as no equation is solved for them
            for e in self.plan.blocks[row.first..row.last].iter().filter(|e| e.hub.is_some()) {
                kernels::subtract_mul_transposed(&mut x[e.start..], &self.W[e.offset..], z, row.size, e.size);
            }
        }
        for hub in &self.plan.hubs {
            z[hub.at..][..self.cols[hub.col].0.size].fill(0.0);
        }
        self.apply(x, mu);
    }
}
