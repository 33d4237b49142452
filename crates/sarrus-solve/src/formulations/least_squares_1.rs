//! λ = S⁺ (J a - γ), v̇ = a - M⁻¹Jᵀλ, with a = M⁻¹ f and S = J M⁻¹Jᵀ \[Pekal2016, eq. 29\].
//!
//! S is symmetric and not negative: S⁺ comes from its eigenvectors. Its eigenvalues are the squares of the singular values
//! of J M^{-1/2}, so that half the digits are lost on them; those that do not count (see `rank.rs`) are taken as zero, and
//! λ is the one of least norm.
//!
//! Needs M that is not singular, as all our masses are. Costs O(nc³) at every call, the least of the dense ones. Not for
//! large models, nor where rows of different scale are nearly dependent: `udwadia_kalaba` does not square.

use super::correction::{Correction, REFINE, Solvable};
use super::dense::inverse_mass_mul;
use super::dense_formulation::{DenseFormulation, DenseMethod};
use super::{FormulationKind, Needs};
use crate::error::SolveError;
use crate::problem::{Accel, Equations, Structure};
use crate::rank::{ROOT_FLOOR, RankKeeper};
use sarrus_math::solve::SymmetricEigen;

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "least_squares_1",
    doc: "multipliers by the pseudoinverse of J M⁻¹Jᵀ, any rank",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(DenseFormulation::<LeastSquares1>::default())),
};

struct LeastSquares1 {
    eigen: SymmetricEigen,
    rank: RankKeeper,
    correction: Correction,
    S: Vec<f64>,
    /// M⁻¹ times a row of J.
    W: Vec<f64>,
    /// J M⁻¹ a - b.
    t: Vec<f64>,
    /// Jᵀλ.
    force: Vec<f64>,
    change: Vec<f64>,
}

/// Lower half of S = J M⁻¹Jᵀ; `W` is room for nv numbers.
fn fill_S(s: &Structure, eq: &Equations, W: &mut [f64], S: &mut [f64]) {
    S.fill(0.0);
    for row in &s.rows {
        let entries = &s.entries[row.entries.clone()];
        for i in 0..row.size {
            for e in entries {
                let col = s.cols[e.col];
                let n = col.size;
                let J = &eq.J[e.offset + i * n..][..n];
                let minv = eq.minv[col.mass..][..n * n].chunks_exact(n);
                for (w, m) in W[col.start..].iter_mut().zip(minv) {
                    *w = m.iter().zip(J).map(|(m, j)| m * j).sum();
                }
            }
            // against the rows up to this one; W holds only the row's own bodies
            let at = row.start + i;
            for other in s.rows.iter().take_while(|r| r.start <= at) {
                for e in &s.entries[other.entries.clone()] {
                    let col = s.cols[e.col];
                    let n = col.size;
                    if !entries.iter().any(|own| own.col == e.col) {
                        continue;
                    }
                    let w = &W[col.start..][..n];
                    for k in 0..other.size.min(at + 1 - other.start) {
                        let J = &eq.J[e.offset + k * n..][..n];
                        S[at * s.nc + other.start + k] += J.iter().zip(w).map(|(j, w)| j * w).sum::<f64>();
                    }
                }
            }
        }
    }
}

impl DenseMethod for LeastSquares1 {
    fn new(s: &Structure, _eq: &Equations) -> Result<Self, SolveError> {
        Ok(LeastSquares1 {
            eigen: SymmetricEigen::new(s.nc),
            rank: RankKeeper::new(s, ROOT_FLOOR),
            correction: Correction::new(s),
            S: vec![0.0; s.nc * s.nc],
            W: vec![0.0; s.nv],
            t: vec![0.0; s.nc],
            force: vec![0.0; s.nv],
            change: vec![0.0; s.nv],
        })
    }

    fn solve(&mut self, s: &Structure, eq: &Equations, out: &mut Accel) -> Result<(), SolveError> {
        let LeastSquares1 { eigen, rank, correction, S, W, t, force, change } = self;
        fill_S(s, eq, W, S);
        eigen.factor(S)?;
        let violation = rank.violation(s, eq);
        let r = rank.decide(eigen.values().iter().rev().map(|x| x.max(0.0).sqrt()), violation);

        let solvable = if r == s.nc { Solvable::All } else { Solvable::Range };
        correction.solve(s, eq, solvable, REFINE, out, |a, b, x, mu| {
            inverse_mass_mul(s, eq, a, x);
            t.fill(0.0);
            eq.add_J_mul(s, x, t);
            t.iter_mut().zip(b).for_each(|(t, b)| *t -= b);
            eigen.solve(|i| i >= s.nc - r, t, mu);
            force.fill(0.0);
            eq.add_Jt_mul(s, mu, force);
            inverse_mass_mul(s, eq, force, change);
            x.iter_mut().zip(&*change).for_each(|(x, c)| *x -= c);
        })?;
        correction.check(solvable)
    }

    fn rank(&self) -> &RankKeeper {
        &self.rank
    }

    fn rank_mut(&mut self) -> &mut RankKeeper {
        &mut self.rank
    }
}
