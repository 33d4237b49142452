//! [v̇; λ] = X⁺ [f; γ] with X = [M Jᵀ; J 0] whole \[Pekal2016, eq. 11\].
//!
//! X is symmetric, so X⁺ follows from its eigenvectors. It is scaled first: with v̇ = C y, C Cᵀ = M⁻¹, and one factor d
//! for all rows, λ = d μ,
//!
//! ```text
//! [ I    Aᵀ ] [ y ]   [ Cᵀ f ]
//! [ A    0  ] [ μ ] = [ d γ  ],   A = d J C.
//! ```
//!
//! Where the constraints agree with each other v̇ is unique and λ the one of least norm, before the scaling as after it.
//! A singular value σ of A gives the eigenvalues (1 ± √(1 + 4σ²))/2, so that the negative ones tell the rank; those that
//! do not count (see `rank.rs`) are taken as zero.
//!
//! Needs nothing: any rank. Costs the most of all, O((nv + nc)³) at every call. Not for speed, nor for large models.

use super::correction::{Correction, REFINE, Solvable};
use super::dense::{Root, fill_inverse_masses};
use super::dense_formulation::{DenseFormulation, DenseMethod};
use super::{FormulationKind, Needs};
use crate::error::SolveError;
use crate::problem::{Accel, Equations, Structure};
use crate::rank::{ROOT_FLOOR, RankKeeper};
use sarrus_math::solve::SymmetricEigen;

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "pseudo_inverse",
    doc: "Moore-Penrose inverse of the whole KKT matrix, any rank",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(DenseFormulation::<PseudoInverse>::default())),
};

struct PseudoInverse {
    root: Root,
    eigen: SymmetricEigen,
    rank: RankKeeper,
    correction: Correction,
    /// A = d J C.
    A: Vec<f64>,
    X: Vec<f64>,
    /// [Cᵀ f; d γ].
    right: Vec<f64>,
    /// [y; μ].
    solution: Vec<f64>,
    inverse_masses: Vec<f64>,
}

impl DenseMethod for PseudoInverse {
    fn new(s: &Structure, eq: &Equations) -> Result<Self, SolveError> {
        let n = s.nv + s.nc;
        Ok(PseudoInverse {
            root: Root::new(s, eq)?,
            eigen: SymmetricEigen::new(n),
            rank: RankKeeper::new(s, ROOT_FLOOR),
            correction: Correction::new(s),
            A: vec![0.0; s.nc * s.nv],
            X: vec![0.0; n * n],
            right: vec![0.0; n],
            solution: vec![0.0; n],
            inverse_masses: vec![0.0; s.nc],
        })
    }

    fn solve(&mut self, s: &Structure, eq: &Equations, out: &mut Accel) -> Result<(), SolveError> {
        let PseudoInverse { root, eigen, rank, correction, A, X, right, solution, inverse_masses } = self;
        let (nv, nc) = (s.nv, s.nc);

        // d makes the longest row one
        fill_inverse_masses(s, eq, inverse_masses);
        let longest = inverse_masses.iter().fold(0.0_f64, |a, x| a.max(*x)).sqrt();
        let d = if longest > 0.0 { 1.0 / longest } else { 1.0 };
        root.follow(s, eq)?;
        root.fill_JC(s, eq, A);

        // lower half of X
        let n = nv + nc;
        X.fill(0.0);
        (0..nv).for_each(|i| X[i * n + i] = 1.0);
        for (i, row) in A.chunks_exact(nv.max(1)).enumerate() {
            X[(nv + i) * n..][..nv].iter_mut().zip(row).for_each(|(x, a)| *x = d * a);
        }
        eigen.factor(X)?;

        // the nc lowest eigenvalues are -e with σ² = e² + e
        let violation = rank.violation(s, eq);
        let sigma = eigen.values()[..nc].iter().map(|x| (-x).max(0.0)).map(|e| (e * e + e).sqrt());
        let r = rank.decide(sigma, violation);

        let solvable = if r == nc { Solvable::All } else { Solvable::Range };
        correction.solve(s, eq, solvable, REFINE, out, |a, b, x, mu| {
            root.mul_transposed(s, a, &mut right[..nv]);
            right[nv..].iter_mut().zip(b).for_each(|(z, b)| *z = d * b);
            eigen.solve(|i| i < r || i >= nc, right, solution);
            root.mul(s, &solution[..nv], x);
            mu.iter_mut().zip(&solution[nv..]).for_each(|(l, m)| *l = d * m);
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
