//! v̇ = a + M^{-1/2} D⁺ (γ - J a), λ = (D Dᵀ)⁺ (J a - γ), with a = M⁻¹ f and D = J M^{-1/2} \[Udwadia1992; Pekal2016, eq. 24\].
//!
//! M = L Lᵀ block by block and M^{-1/2} = L⁻ᵀ, which is not symmetric: D Dᵀ = J M⁻¹Jᵀ takes M^{-1/2} (M^{-1/2})ᵀ = M⁻¹,
//! where the paper prints the same factor twice. One decomposition D = U Σ Vᵀ serves both pseudoinverses, as
//! (D Dᵀ)⁺ = (Dᵀ)⁺ D⁺. With full row rank D⁺ is the right inverse of the paper; otherwise singular values that do not
//! count (see `rank.rs`) are taken as zero, and λ is the one of least norm.
//!
//! Needs M that is not singular, as all our masses are. Costs O(nc² nv) at every call. Not for large models.

use super::correction::{Correction, REFINE, Solvable};
use super::dense::{Root, inverse_mass_mul};
use super::dense_formulation::{DenseFormulation, DenseMethod};
use super::{FormulationKind, Needs};
use crate::error::SolveError;
use crate::problem::{Accel, Equations, Structure};
use crate::rank::{FLOOR, RankKeeper};
use sarrus_math::solve::Svd;

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "udwadia_kalaba",
    doc: "free accelerations plus the least change in the metric of M, by a pseudoinverse of J M^(-1/2)",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(DenseFormulation::<UdwadiaKalaba>::default())),
};

struct UdwadiaKalaba {
    root: Root,
    svd: Svd,
    rank: RankKeeper,
    correction: Correction,
    D: Vec<f64>,
    /// γ - J a.
    t: Vec<f64>,
    /// D⁺ t.
    w: Vec<f64>,
    /// M^{-1/2} w.
    change: Vec<f64>,
}

impl DenseMethod for UdwadiaKalaba {
    fn new(s: &Structure, eq: &Equations) -> Result<Self, SolveError> {
        Ok(UdwadiaKalaba {
            root: Root::new(s, eq)?,
            svd: Svd::thin(s.nc, s.nv),
            rank: RankKeeper::new(s, FLOOR),
            correction: Correction::new(s),
            D: vec![0.0; s.nc * s.nv],
            t: vec![0.0; s.nc],
            w: vec![0.0; s.nv],
            change: vec![0.0; s.nv],
        })
    }

    fn solve(&mut self, s: &Structure, eq: &Equations, out: &mut Accel) -> Result<(), SolveError> {
        let UdwadiaKalaba { root, svd, rank, correction, D, t, w, change } = self;
        root.follow(s, eq)?;
        root.fill_JC(s, eq, D);
        svd.factor(D)?;
        let violation = rank.violation(s, eq);
        let r = rank.decide(svd.sigma().iter().copied(), violation);

        let solvable = if r == s.nc { Solvable::All } else { Solvable::Range };
        correction.solve(s, eq, solvable, REFINE, out, |a, b, x, mu| {
            inverse_mass_mul(s, eq, a, x);
            t.fill(0.0);
            eq.add_J_mul(s, x, t);
            t.iter_mut().zip(b).for_each(|(t, b)| *t = b - *t);
            svd.solve(r, t, w);
            root.mul(s, w, change);
            x.iter_mut().zip(&*change).for_each(|(x, c)| *x += c);
            svd.solve_transposed(r, w, mu);
            mu.iter_mut().for_each(|l| *l = -*l);
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
