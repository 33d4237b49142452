//! v̇ = J⁺γ + (E M E)⁺ (f - R γ), λ = (J⁺)ᵀ (f - M v̇), with R = M J⁺ and E = I - J⁺J \[Pekal2016, eq. 34\].
//!
//! E is the projector on the null space of J: E = V₀V₀ᵀ with the right vectors of J = U Σ Vᵀ that go with no singular value
//! that counts (see `rank.rs`). It is zero only where nothing can move; the paper's remark that full rank makes it zero
//! holds for columns, not for rows. Since M is positive there, (E M E)⁺ = V₀ (V₀ᵀM V₀)⁻¹V₀ᵀ, which takes a Cholesky
//! factorization as large as the mobility. The printed λ, [(J⁺)ᵀ - Rᵀ(E M E)⁺] (f - R γ), is (J⁺)ᵀ (f - M v̇).
//!
//! Needs M that is positive on the null space of J; elsewhere it might be singular. Costs O(nc nv²) at every call, with
//! all right vectors. Not for large models.

use super::correction::{Correction, REFINE, Solvable};
use super::dense_formulation::{DenseFormulation, DenseMethod};
use super::{FormulationKind, Needs, dense};
use crate::error::SolveError;
use crate::problem::{Accel, Equations, Structure};
use crate::rank::{FLOOR, RankKeeper};
use sarrus_math::solve::{Svd, cholesky, cholesky_solve};

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "least_squares_2",
    doc: "motion split by the null space of J, any rank",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(DenseFormulation::<LeastSquares2>::default())),
};

struct LeastSquares2 {
    svd: Svd,
    rank: RankKeeper,
    correction: Correction,
    J: Vec<f64>,
    /// M v for a right vector v.
    Mv: Vec<f64>,
    /// V₀ᵀM V₀, then its Cholesky factor.
    H: Vec<f64>,
    /// f - M x for several x.
    rest: Vec<f64>,
    z: Vec<f64>,
}

impl DenseMethod for LeastSquares2 {
    fn new(s: &Structure, _eq: &Equations) -> Result<Self, SolveError> {
        let nv = s.nv;
        Ok(LeastSquares2 {
            svd: Svd::full(s.nc, nv),
            rank: RankKeeper::new(s, FLOOR),
            correction: Correction::new(s),
            J: vec![0.0; s.nc * nv],
            Mv: vec![0.0; nv],
            H: vec![0.0; nv * nv],
            rest: vec![0.0; nv],
            z: vec![0.0; nv],
        })
    }

    fn solve(&mut self, s: &Structure, eq: &Equations, out: &mut Accel) -> Result<(), SolveError> {
        let nv = s.nv;
        let LeastSquares2 { svd, rank, correction, J, Mv, H, rest, z } = self;
        dense::fill_J(s, eq, J);
        svd.factor(J)?;
        let violation = rank.violation(s, eq);
        let r = rank.decide(svd.sigma().iter().copied(), violation);

        // columns of the lower half of V₀ᵀM V₀
        let free = nv - r;
        let H = &mut H[..free * free];
        for (j, column) in H.chunks_exact_mut(free.max(1)).enumerate() {
            eq.mass_mul(s, svd.right(r + j), Mv);
            for (i, h) in column.iter_mut().enumerate().skip(j) {
                *h = svd.right(r + i).iter().zip(&*Mv).map(|(v, m)| v * m).sum();
            }
        }
        cholesky(H, free).map_err(|i| SolveError::Mass { velocity: largest(svd.right(r + i)) })?;

        let solvable = if r == s.nc { Solvable::All } else { Solvable::Range };
        correction.solve(s, eq, solvable, REFINE, out, |a, b, x, mu| {
            // J⁺b, and what it leaves of a along the null space
            svd.solve(r, b, x);
            eq.mass_mul(s, x, rest);
            rest.iter_mut().zip(a).for_each(|(m, a)| *m = a - *m);
            let z = &mut z[..free];
            for (i, z) in z.iter_mut().enumerate() {
                *z = svd.right(r + i).iter().zip(&*rest).map(|(v, m)| v * m).sum();
            }
            cholesky_solve(H, free, z);
            for (i, z) in z.iter().enumerate() {
                x.iter_mut().zip(svd.right(r + i)).for_each(|(x, v)| *x += z * v);
            }
            eq.mass_mul(s, x, rest);
            rest.iter_mut().zip(a).for_each(|(m, a)| *m = a - *m);
            svd.solve_transposed(r, rest, mu);
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

/// Returns where `x` is largest.
fn largest(x: &[f64]) -> usize {
    (0..x.len()).fold(0, |best, i| if x[i].abs() > x[best].abs() { i } else { best })
}
