//! Motions that the constraints leave free, and what moves along them: K = Zᵀ f with J Z = 0 [Amirouche1991, eqs. 8-12, 107-109].
//!
//! With velocities in the metric of M, v̇ = C x, C Cᵀ = M⁻¹, and A = J C, a decomposition of Aᵀ into orthonormal Y, which spans the
//! constraints' forces, and Z, which spans what is orthogonal to them,
//!
//! ```text
//! Aᵀ = [Y Z] [T; 0],   x = Y y + Z z,
//! Tᵀ y = γ             constraints at acceleration level (eq. 7b)
//! z = Zᵀ Cᵀ f          the reduced equations: L of eq. 108 is the identity in this metric
//! T λ = Yᵀ Cᵀ f - y    multipliers, of least norm where they are not unique.
//! ```
//!
//! C Z is the transpose of the paper's orthogonal complement C of eq. 10: (C Z)ᵀ M v̇ = (C Z)ᵀ f are its reduced equations, in which no
//! multiplier is left. The bases differ in how they find Y and T:
//!
//! | `basis` | decomposition | rows that depend on others |
//! |---|---|---|
//! | `putd` | reflections in the order of the rows; U of eq. 8 becomes a staircase | passed over one by one as they come |
//! | `qr` | reflections, the longest remaining row next | the last |
//! | `svd` | singular vectors | as a space, none by itself |
//!
//! The paper leaves open by which row operations P makes P Bᵀ = U; reflections keep P orthogonal, so that the rows of P that make up
//! the complement are too. Its B is not scaled, but then which rows depend on others changes with the unit of length.
//!
//! Needs nothing: any rank. Costs O(nc² nv) at every call; `putd` the least, `svd` ten times that. Not for large models.

mod bases;

use super::correction::{Correction, REFINE, Solvable};
use super::dense::Root;
use super::dense_formulation::{DenseFormulation, DenseMethod};
use super::{Formulation, FormulationKind, Needs};
use crate::error::{MethodError, SolveError};
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Equations, Structure};
use crate::rank::{FLOOR, RankKeeper};
use bases::{Pivoted, SingularVectors, Staircase};

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "null_space",
    doc: "the equations of motion along a basis of the motions that the constraints leave free, any rank",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[OptionDoc {
        name: "basis",
        default: "putd",
        doc: "`putd`, reflections in the order of the rows; `qr`, with pivoting; `svd`",
    }],
    new,
};

fn new(options: &Options) -> Result<Box<dyn Formulation>, MethodError> {
    let bases = ["putd", "qr", "svd"];
    Ok(match options.word("null_space", "basis", "`putd`, `qr` or `svd`", &bases)? {
        Some(1) => Box::new(DenseFormulation::<NullSpace<Pivoted>>::default()),
        Some(2) => Box::new(DenseFormulation::<NullSpace<SingularVectors>>::default()),
        _ => Box::new(DenseFormulation::<NullSpace<Staircase>>::default()),
    })
}

/// A decomposition of Aᵀ into [Y Z] [T; 0].
trait NullSpaceBasis: Send + Sized {
    /// Makes room.
    fn new(s: &Structure) -> Self;

    /// Decomposes `A`, by rows, at a state that is off the constraints by `violation`; returns the rank.
    fn factor(&mut self, A: &[f64], rank: &mut RankKeeper, violation: f64) -> Result<usize, SolveError>;

    /// x = Y y + Z Zᵀ w with Tᵀ y = b, in least squares, and T μ = Yᵀ w - y, of least norm.
    fn solve(&mut self, w: &[f64], b: &[f64], x: &mut [f64], mu: &mut [f64]);
}

struct NullSpace<B> {
    root: Root,
    basis: B,
    rank: RankKeeper,
    correction: Correction,
    A: Vec<f64>,
    /// Cᵀ f.
    w: Vec<f64>,
    x: Vec<f64>,
}

impl<B: NullSpaceBasis> DenseMethod for NullSpace<B> {
    fn new(s: &Structure, eq: &Equations) -> Result<Self, SolveError> {
        Ok(NullSpace {
            root: Root::new(s, eq)?,
            basis: B::new(s),
            rank: RankKeeper::new(s, FLOOR),
            correction: Correction::new(s),
            A: vec![0.0; s.nc * s.nv],
            w: vec![0.0; s.nv],
            x: vec![0.0; s.nv],
        })
    }

    fn solve(&mut self, s: &Structure, eq: &Equations, out: &mut Accel) -> Result<(), SolveError> {
        let NullSpace { root, basis, rank, correction, A, w, x } = self;
        root.follow(s, eq)?;
        root.fill_JC(s, eq, A);
        let violation = rank.violation(s, eq);
        let r = basis.factor(A, rank, violation)?;
        let solvable = if r == s.nc { Solvable::All } else { Solvable::Range };
        correction.solve(s, eq, solvable, REFINE, out, |f, b, vdot, mu| {
            root.mul_transposed(s, f, w);
            basis.solve(w, b, x, mu);
            root.mul(s, x, vdot);
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
