//! Solution of M v̇ + Jᵀλ = f, J v̇ = γ by any linear map G that solves it nearly, corrected until only rounding is left.
//!
//! (v̇, λ) ← (v̇, λ) + G (f - M v̇ - Jᵀλ, γ - J v̇) from zero; the residuals come from the blocks, not from what G is made
//! of. What G cannot take away of the second is a contradiction between constraints. Cost: a few products with G.

use super::dense::{check_finite, fill_inverse_masses, inverse_mass_mul};
use crate::error::SolveError;
use crate::problem::{Accel, Equations, Structure};
use std::cell::Cell;

/// A residual at this fraction of the size of its terms is rounding.
const ROUNDING: f64 = 4e-15;
/// Largest residual accepted where a row takes part.
const UNSOLVED: f64 = 1e-6;
/// Largest residual accepted as the mark of positions that are off by an integrator's error.
const CONTRADICTION: f64 = 1e-3;
/// Terms below this fraction of the largest of all equations, each in the scale of its own mass, do not make an equation
/// special: a pseudoinverse spreads rounding and contradictions over all of them.
const NOISE: f64 = 1e-3;

/// Identifies which part of γ - J v̇ must vanish; the rest is contradiction.
#[derive(Clone, Copy)]
pub(super) enum Solvable<'a> {
    /// All.
    All,
    /// Holds what J times a further correction would take away.
    Range,
    /// Holds what G says that it was asked for, in the scale of rows of unit length: for a G that takes away only a part of that.
    Asked(&'a Cell<f64>),
}

/// Describes how long to continue.
#[derive(Clone, Copy)]
pub(super) struct Passes {
    /// Corrections at most.
    pub most: u32,
    /// A residual that a pass leaves above this fraction of what it was will not fall any more.
    pub stall: f64,
}

/// For a G that is a solution but for rounding.
pub(super) const REFINE: Passes = Passes { most: 4, stall: 0.5 };

/// Vectors of a solution.
pub(super) struct Correction {
    /// f - M v̇ - Jᵀλ.
    r: Vec<f64>,
    /// γ - J v̇.
    r_c: Vec<f64>,
    dx: Vec<f64>,
    dmu: Vec<f64>,
    /// J dx.
    J_dx: Vec<f64>,
    /// Sizes of the terms of each equation.
    terms: Vec<f64>,
    terms_c: Vec<f64>,
    sizes: Vec<f64>,
    scratch: Vec<f64>,
    lengths: Vec<f64>,
    /// The largest of `terms_c`, were rows of unit length.
    unit_terms: f64,
}

impl Correction {
    /// Workspace for a problem of structure `s`.
    pub fn new(s: &Structure) -> Correction {
        let (v, c) = (|| vec![0.0; s.nv], || vec![0.0; s.nc]);
        Correction {
            r: v(),
            r_c: c(),
            dx: v(),
            dmu: c(),
            J_dx: c(),
            terms: v(),
            terms_c: c(),
            sizes: v(),
            scratch: v(),
            lengths: c(),
            unit_terms: 0.0,
        }
    }

    /// Solves into `out` with `apply(a, b, x, mu)`, which sets (x, μ) = G (a, b); says how it went in `out` and returns
    /// the corrections made beyond the first solution.
    pub fn solve(
        &mut self,
        s: &Structure,
        eq: &Equations,
        solvable: Solvable<'_>,
        passes: Passes,
        out: &mut Accel,
        mut apply: impl FnMut(&[f64], &[f64], &mut [f64], &mut [f64]),
    ) -> Result<u32, SolveError> {
        check_finite(eq)?;
        apply(&eq.f, &eq.gamma, &mut out.vdot, &mut out.lambda);
        self.find_residual(s, eq, out);
        self.find_terms(s, eq, out);
        let (mut made, mut before) = (0, f64::INFINITY);
        loop {
            apply(&self.r, &self.r_c, &mut self.dx, &mut self.dmu);
            self.J_dx.fill(0.0);
            eq.add_J_mul(s, &self.dx, &mut self.J_dx);
            let (residual, _) = self.worst(solvable);
            out.residual = larger(residual, self.motion().0);
            if !(out.residual.is_finite() && self.dmu.iter().all(|x| x.is_finite())) {
                return Err(SolveError::NotFinite { quantity: "vdot", index: 0 });
            }
            if out.residual <= ROUNDING || out.residual > passes.stall * before || made == passes.most {
                break;
            }
            before = out.residual;
            out.vdot.iter_mut().zip(&self.dx).for_each(|(x, d)| *x += d);
            out.lambda.iter_mut().zip(&self.dmu).for_each(|(x, d)| *x += d);
            self.find_residual(s, eq, out);
            made += 1;
        }
        out.refinements = made;
        Ok(made)
    }

    /// An error where more is left than rounding or an integrator's error can explain.
    pub fn check(&self, solvable: Solvable<'_>) -> Result<(), SolveError> {
        // of constraints that contradict each other a little, some maps leave a little in the equations of motion
        let limit = if matches!(solvable, Solvable::All) { UNSOLVED } else { CONTRADICTION };
        let (contradiction, row) = self.contradiction(solvable);
        if exceeds(contradiction, CONTRADICTION) {
            return Err(SolveError::Inconsistent { row, residual: contradiction });
        }
        let (residual, row) = self.worst(solvable);
        if exceeds(residual, UNSOLVED) {
            return Err(SolveError::Inconsistent { row, residual });
        }
        let (residual, velocity) = self.motion();
        if exceeds(residual, limit) {
            return Err(SolveError::Unsolved { velocity, residual });
        }
        Ok(())
    }

    fn find_residual(&mut self, s: &Structure, eq: &Equations, out: &Accel) {
        eq.mass_mul(s, &out.vdot, &mut self.r);
        eq.add_Jt_mul(s, &out.lambda, &mut self.r);
        self.r.iter_mut().zip(&eq.f).for_each(|(r, f)| *r = f - *r);
        self.r_c.fill(0.0);
        eq.add_J_mul(s, &out.vdot, &mut self.r_c);
        self.r_c.iter_mut().zip(&eq.gamma).for_each(|(r, b)| *r = b - *r);
    }

    /// Sizes of all that is added up in each equation, cancelled or not: v̇ itself is the sum of M⁻¹f and -M⁻¹Jᵀλ.
    fn find_terms(&mut self, s: &Structure, eq: &Equations, out: &Accel) {
        let Correction { terms, terms_c, sizes, scratch: workspace, lengths, unit_terms, .. } = self;
        inverse_mass_mul(s, eq, &eq.f, workspace);
        sizes.iter_mut().zip(&*workspace).zip(&out.vdot).for_each(|((s, a), v)| *s = a.abs() + v.abs());
        terms.iter_mut().zip(&eq.f).for_each(|(t, f)| *t = f.abs());
        for col in &s.cols {
            let n = col.size;
            for i in 0..n {
                let M = &eq.mass[col.mass + i * n..][..n];
                let v = &out.vdot[col.start..];
                terms[col.start + i] += M.iter().zip(v).map(|(m, v)| (m * v).abs()).sum::<f64>();
            }
        }
        for row in &s.rows {
            let lambda = &out.lambda[row.start..][..row.size];
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let block = eq.J[e.offset..][..row.size * col.size].chunks_exact(col.size);
                for (l, J) in lambda.iter().zip(block) {
                    let terms = terms[col.start..].iter_mut().zip(J);
                    terms.for_each(|(t, j)| *t += (j * l).abs());
                }
            }
        }
        for (row, b) in s.rows.iter().flat_map(|r| (0..r.size).map(move |i| (r, i))) {
            let t = &mut terms_c[row.start + b];
            *t = eq.gamma[row.start + b].abs() + eq.gamma_terms.get(row.start + b).unwrap_or(&0.0);
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let J = &eq.J[e.offset + b * col.size..][..col.size];
                *t += J.iter().zip(&sizes[col.start..]).map(|(j, x)| (j * x).abs()).sum::<f64>();
            }
        }
        // in the scale of M^{1/2} and of the rows' lengths in M^{-1/2}
        for col in &s.cols {
            let M = |i: usize| eq.mass[col.mass + i * (col.size + 1)].sqrt();
            (0..col.size).for_each(|i| workspace[col.start + i] = M(i));
        }
        raise(terms, workspace);
        fill_inverse_masses(s, eq, lengths);
        lengths.iter_mut().for_each(|l| *l = l.sqrt());
        *unit_terms = raise(terms_c, lengths);
    }

    /// Largest part of γ - J v̇ that must still vanish, relative to its terms, and its row.
    fn worst(&self, solvable: Solvable<'_>) -> (f64, usize) {
        match solvable {
            Solvable::All => largest(&self.terms_c, |i| self.r_c[i]),
            Solvable::Range => largest(&self.terms_c, |i| self.J_dx[i]),
            Solvable::Asked(size) if size.get() == 0.0 => (0.0, 0),
            Solvable::Asked(size) => (size.get() / self.unit_terms, 0),
        }
    }

    /// Largest contradiction, likewise.
    fn contradiction(&self, solvable: Solvable<'_>) -> (f64, usize) {
        largest(&self.terms_c, |i| match solvable {
            Solvable::All => 0.0,
            Solvable::Range | Solvable::Asked(_) => self.r_c[i] - self.J_dx[i],
        })
    }

    /// Largest residual of an equation of motion, likewise, and its velocity.
    fn motion(&self) -> (f64, usize) {
        largest(&self.terms, |i| self.r[i])
    }
}

/// The larger, which is what is not a number if one is not.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Returns whether `x` is above `limit`, or no number.
fn exceeds(x: f64, limit: f64) -> bool {
    x.is_nan() || x > limit
}

/// Raises each term to what is not less than noise among all, in the given scales. Returns the largest in these.
fn raise(terms: &mut [f64], scales: &[f64]) -> f64 {
    let larger = |a: f64, (t, s): (&f64, &f64)| if *s > 0.0 { a.max(t / s) } else { a };
    let largest = terms.iter().zip(scales).fold(0.0, larger);
    terms.iter_mut().zip(scales).for_each(|(t, s)| *t = t.max(NOISE * largest * s));
    largest
}

/// Largest |r| relative to its terms, and where; what is not a number is larger than all.
fn largest(terms: &[f64], r: impl Fn(usize) -> f64) -> (f64, usize) {
    let mut worst = (0.0, 0);
    for (i, t) in terms.iter().enumerate() {
        let r = r(i).abs();
        if r.is_nan() {
            return (f64::NAN, i);
        }
        if r > worst.0 * t {
            worst = (r / t, i);
        }
    }
    worst
}
