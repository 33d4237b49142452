//! v̇ = M̄⁺ [Q + C; γ] with M̄ = [E M; J], E = I - J⁺J \[Udwadia2006; Pekal2016, eq. 43\]; λ = (J⁺)ᵀ (Q + C - M v̇).
//!
//! Constraints need not be ideal: they act with W = C - Jᵀλ on M v̇ = Q + W, where C is what they do in directions they
//! leave free, friction for one. Virtual displacements see only E W = E C, and so E M v̇ = E (Q + C). Here f holds Q + C
//! already, since the elements that know C add it to their forces. The part of C across the constraints changes λ, not v̇.
//!
//! The right-hand side may hold Q + C in place of E (Q + C), as M̄ᵀ [g; γ] = M E g + Jᵀγ is the same for g and E g. With
//! J = U Σ Vᵀ, of which r values count (see `rank.rs`), turning the rows of both blocks leaves of M̄ v̇ = [Q + C; γ]
//!
//! ```text
//! [ V₀ᵀM    ]      [ V₀ᵀ(Q + C) ]
//! [ Σ_r V_rᵀ ] v̇ = [ U_rᵀγ      ]   and rows of zeros,
//! ```
//!
//! square and, with M positive, not singular: M̄⁺ is its inverse, by QR. λ is the one of least norm.
//!
//! Needs nothing but that; M might be singular across the null space of J. Costs O(nv³) at every call. Not for large
//! models.

use super::correction::{Correction, REFINE, Solvable};
use super::dense_formulation::{DenseFormulation, DenseMethod};
use super::{FormulationKind, Needs, dense};
use crate::error::SolveError;
use crate::problem::{Accel, Equations, Structure};
use crate::rank::{FLOOR, RankKeeper};
use sarrus_math::solve::{PivotedQr, Svd};

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "udwadia_phohomsiri",
    doc: "projected equations of motion over the constraints, for constraints ideal or not, any rank",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(DenseFormulation::<UdwadiaPhohomsiri>::default())),
};

struct UdwadiaPhohomsiri {
    svd: Svd,
    qr: PivotedQr,
    rank: RankKeeper,
    correction: Correction,
    J: Vec<f64>,
    /// M v for a right vector v.
    Mv: Vec<f64>,
    right: Vec<f64>,
    rest: Vec<f64>,
}

impl DenseMethod for UdwadiaPhohomsiri {
    fn new(s: &Structure, _eq: &Equations) -> Result<Self, SolveError> {
        let nv = s.nv;
        Ok(UdwadiaPhohomsiri {
            svd: Svd::full(s.nc, nv),
            qr: PivotedQr::default(),
            rank: RankKeeper::new(s, FLOOR),
            correction: Correction::new(s),
            J: vec![0.0; s.nc * nv],
            Mv: vec![0.0; nv],
            right: vec![0.0; nv],
            rest: vec![0.0; nv],
        })
    }

    fn solve(&mut self, s: &Structure, eq: &Equations, out: &mut Accel) -> Result<(), SolveError> {
        let nv = s.nv;
        let UdwadiaPhohomsiri { svd, qr, rank, correction, J, Mv, right, rest } = self;
        dense::fill_J(s, eq, J);
        svd.factor(J)?;
        let violation = rank.violation(s, eq);
        let r = rank.decide(svd.sigma().iter().copied(), violation);

        // equations of motion brought to the size of the constraints
        let free = nv - r;
        let largest = s.cols.iter().flat_map(|c| (0..c.size).map(|i| eq.mass[c.mass + i * (c.size + 1)]));
        let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
        let scale = svd.sigma().first().filter(|x| **x > 0.0).unwrap_or(&1.0) / largest;
        qr.reset(nv, nv);
        for i in 0..free {
            eq.mass_mul(s, svd.right(r + i), Mv);
            Mv.iter().enumerate().for_each(|(j, m)| qr.column_mut(j)[i] = scale * m);
        }
        for i in 0..r {
            let sigma = svd.sigma()[i];
            svd.right(i).iter().enumerate().for_each(|(j, v)| qr.column_mut(j)[free + i] = sigma * v);
        }
        qr.factor(nv);

        let solvable = if r == s.nc { Solvable::All } else { Solvable::Range };
        correction.solve(s, eq, solvable, REFINE, out, |a, b, x, mu| {
            for i in 0..free {
                right[i] = scale * svd.right(r + i).iter().zip(a).map(|(v, a)| v * a).sum::<f64>();
            }
            for i in 0..r {
                right[free + i] = svd.left(i).iter().zip(b).map(|(u, b)| u * b).sum();
            }
            qr.mul_qt(right);
            qr.solve_r(right);
            qr.order().iter().zip(&*right).for_each(|(&j, y)| x[j] = *y);
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
