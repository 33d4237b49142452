//! Accelerations beside and on a singular position, as a function of the state.
//!
//! Where the rows U_d become dependent, U_dᵀ J v̇ = U_dᵀ γ is 0/0 at the singular position and its error grows as 1/σ beside it. Its time
//! derivative is not: with q(t) = q ⊕ Σ cₖ tᵏ the coefficients of Φ along it are
//!
//! ```text
//! Φₖ   = J cₖ              + what c₁ … cₖ₋₁ give            (every row)
//! Φₖ₊₁ = J cₖ₊₁ + J₁ cₖ + what c₁ … cₖ₋₁ give,   U_dᵀ J ≈ 0   (nearly dependent rows),   J(t) = Σ Jₖ tᵏ
//! ```
//!
//! so that the regular rows are asked at order k and the nearly dependent ones at order k + 1, with the matrix B = [U_rᵀJ; U_dᵀJ₁], which is
//! regular where two branches of the mechanism cross transversally. The small term U_dᵀJ cₖ₊₁ couples upwards and is found by
//! sweeps; cutting the series at K leaves an error of order K - 1 in the time to the singular position. \[Amirouche1991\] cuts at
//! K = 2: the rows of its equations 23-65, in singular vectors.
//!
//! The same holds for the directions in which the mechanism can move. J(t) T(t) = 0 with T(t) = Σ Tₖ tᵏ,
//!
//! ```text
//! U_rᵀ Σ Jᵢ Tₖ₋ᵢ = 0,   U_dᵀ Σ Jᵢ Tₖ₊₁₋ᵢ = 0,
//! ```
//!
//! gives T₀, which null(B) is only at the singular position itself. Virtual work on T₀ closes the equations,
//! T₀ᵀ(M v̇ - f) = 0, and t² T(t) ξ is a change of the motion that the constraints allow: cₖ₊₂ += Tₖ ξ.
//!
//! Higher tangent parts of c are free: they are those of another motion on the same constraints with the same v̇. Both sets of
//! coefficients are found by Newton's method on all orders at once, δΦ(t) = J(t) δc(t), which takes two to four expansions. In it an error of one
//! coefficient makes of the one before what the time to the singular position makes of it: sweeps end where that no longer counts.
//!
//! Everything is scaled to the metric of M. Off the constraints, at the stages of a step, the rows are held to Φₖ = 0, k ≥ 2 (or to
//! what the stabilization asks), which is as smooth there as on them.
//!
//! λ follows from Jᵀλ = f - M v̇, whose right-hand side is accurate: its part along U_d, divided by σ, is too, as long as σ is well above
//! rounding. It may grow as 1/σ, where a load acts across the branches; nearer than that only the part of the regular rows is given,
//! and the rest is interpolated over the window. Rows that are redundant leave a choice: λ is of least norm, by a complete orthogonal
//! decomposition of Dᵀ, or of Bᵀ where only regular rows count. The null space of Bᵀ is that of the redundant rows, which U is orthogonal to.
//!
//! Cost: one dense decomposition of the part, and some tens of sparse products for each of about three expansions; B allocates. Not where
//! U_dᵀJ₁ vanishes too (rest at the singular position, tangent branches): that shows as a B without rank, and is refused.

mod series;

pub use series::{SeriesWorkspace, WindowSeries, accelerate};

use super::dependent_rows::DependentRows;
use super::part::Subsystem;
use super::sparse::Sparse;
use crate::error::SolveError;
use crate::formulations::dense::Root;
use crate::problem::COEFFICIENTS;
use sarrus_math::solve::{Complete, PivotedQr};

/// A change this small, relative, is the last.
pub const STILL: f64 = 1e-13;
/// Errors of one coefficient may make so much more of the one before than the time to the loss of rank tells.
const FARTHER: f64 = 4.0;
/// A change below this that does not fall any more is rounding.
const ROUNDING: f64 = 1e-9;
/// Pivots of B that are too small for the rank that it must have, relative to the largest.
const NO_RANK: f64 = 1e-7;

/// A residue below this part of what bounded multipliers make in half a window is none.
const NO_RESIDUE: f64 = 0.02;

/// B, decomposed, at one state.
pub struct Window<'a> {
    part: &'a Subsystem,
    dependent: &'a DependentRows,
    solver: Solver<'a>,
    /// Workspace for a right-hand side and its solution.
    r: Vec<f64>,
    y: Vec<f64>,
}

/// Describes how solutions with B are found.
enum Solver<'a> {
    /// By a dense decomposition of its transpose.
    Dense {
        /// Factor of nearly dependent rows, which brings them to the size of the others.
        weight: f64,
        qr: PivotedQr,
    },
    /// By the block-sparse factors of the regular rows.
    Sparse { sparse: &'a mut Sparse, root: &'a Root },
}

impl<'a> Window<'a> {
    /// B from D and D₁, scaled.
    pub fn new(
        part: &'a Subsystem,
        dependent: &'a DependentRows,
        D: &[f64],
        D1: &[f64],
    ) -> Result<Window<'a>, SolveError> {
        let (nc, nv) = (part.nc(), part.nv());
        let mut dense = Vec::new();
        part.dense(D, &mut dense);
        let weight = dependent.largest / dependent.rate.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut row = vec![0.0; nv];
        for i in 0..dependent.len() {
            let u = dependent.u(i);
            // D ← D + u (weight uᵀD₁ - uᵀD)
            row.fill(0.0);
            part.add_mul_transposed(D1, u, &mut row);
            row.iter_mut().for_each(|x| *x *= weight);
            let scaled: Vec<f64> = u.iter().map(|u| -u).collect();
            part.add_mul_transposed(D, &scaled, &mut row);
            for (dense, u) in dense.chunks_exact_mut(nv).zip(u) {
                dense.iter_mut().zip(&row).for_each(|(d, x)| *d += u * x);
            }
        }
        let mut qr = PivotedQr::default();
        factor_transposed(&mut qr, &dense, part);
        let rank = dependent.rank.min(qr.steps());
        let last = rank.saturating_sub(1);
        let pivot = qr.pivot(last) / qr.pivot(0);
        if rank == 0 || !(pivot > NO_RANK) {
            let row = part.rows[qr.order()[last]];
            return Err(SolveError::RankDeficient { row, pivot, scale: 1.0 });
        }
        Ok(Window {
            part,
            dependent,
            solver: Solver::Dense { weight, qr },
            r: vec![0.0; nc],
            y: vec![0.0; nv],
        })
    }

    /// B from what `sparse` has found last.
    pub fn sparse(
        part: &'a Subsystem,
        dependent: &'a DependentRows,
        sparse: &'a mut Sparse,
        root: &'a Root,
    ) -> Result<Window<'a>, SolveError> {
        sparse.prepare(part)?;
        let solver = Solver::Sparse { sparse, root };
        Ok(Window { part, dependent, solver, r: Vec::new(), y: vec![0.0; part.nv()] })
    }

    /// x ← x - y, y = B⁺ r for the two right-hand sides. Leaves y, and returns its size.
    pub fn correct(&mut self, regular: &[f64], singular_rows: &[f64], x: &mut [f64]) -> f64 {
        let Window { part, dependent, solver, r, y } = self;
        match solver {
            Solver::Sparse { sparse, .. } => sparse.correct(part, dependent, regular, singular_rows, y),
            Solver::Dense { weight, qr } => {
                // `regular`, with its part along U replaced by that of `dependent`
                r.copy_from_slice(regular);
                for i in 0..dependent.len() {
                    let u = dependent.u(i);
                    add(*weight * dot(u, singular_rows) - dot(u, regular), u, r);
                }
                let rank = dependent.rank.min(qr.steps());
                y.fill(0.0);
                (0..rank).for_each(|k| y[k] = r[qr.order()[k]]);
                qr.solve_rt(&mut y[..rank]);
                qr.mul_q(y);
            }
        }
        add(-1.0, y, x);
        norm(y)
    }

    /// A basis of null(B), as the first coefficients of `jets`. Returns how many.
    fn tangents(&mut self, D: &[f64], D1: &[f64], jets: &mut Vec<Vec<Vec<f64>>>) -> usize {
        let (nc, nv) = (self.part.nc(), self.part.nv());
        let rank = match &self.solver {
            Solver::Dense { qr, .. } => self.dependent.rank.min(qr.steps()),
            Solver::Sparse { .. } => self.dependent.rank,
        };
        let count = nv.saturating_sub(rank);
        jets.resize_with(count.max(jets.len()), Vec::new);
        jets.iter_mut().take(count).for_each(|T| zeros(T, COEFFICIENTS, nv));
        if let Solver::Dense { qr, .. } = &self.solver {
            for (j, T) in jets.iter_mut().take(count).enumerate() {
                T[0][rank + j] = 1.0;
                qr.mul_q(&mut T[0]);
            }
            return count;
        }
        // vectors of no pattern, less what B sees of them
        let (mut regular, mut dependent) = (vec![0.0; nc], vec![0.0; nc]);
        let mut seed = 0.5_f64;
        for j in 0..count {
            let (basis, rest) = jets.split_at_mut(j);
            let y = &mut rest[0][0];
            y.iter_mut().for_each(|y| {
                seed = (seed * 997.0 + 0.137).fract();
                *y = seed - 0.5;
            });
            for _ in 0..2 {
                [&mut regular, &mut dependent].into_iter().for_each(|r| r.fill(0.0));
                self.part.add_mul(D, y, &mut regular);
                self.part.add_mul(D1, y, &mut dependent);
                self.correct(&regular, &dependent, y);
                basis.iter().for_each(|b| add(-dot(&b[0], y), &b[0], y));
                let size = norm(y);
                y.iter_mut().for_each(|y| *y /= size);
            }
        }
        count
    }

    /// Multipliers of least norm of the regular rows for the scaled force `f`, or of `all` rows, and what removes a part in the null space
    /// that redundant rows make.
    fn multipliers(
        &mut self,
        D: &[f64],
        f: &[f64],
        all: bool,
    ) -> Result<(Vec<f64>, Option<Complete>), SolveError> {
        let Window { part, dependent, solver, .. } = self;
        let own = match solver {
            Solver::Sparse { sparse, root } => {
                return sparse.multipliers(part, root, D, f, all).map(|lambda| (lambda, None));
            }
            Solver::Dense { qr, .. } => qr,
        };
        let mut whole = PivotedQr::default();
        let qr = if all {
            let mut dense = Vec::new();
            part.dense(D, &mut dense);
            factor_transposed(&mut whole, &dense, part);
            &whole
        } else {
            own
        };
        let complete = qr.complete(dependent.rank.min(qr.steps()));
        let mut lambda = complete.solve(qr, f);
        if !all {
            dependent.add_along(&lambda.clone(), -1.0, &mut lambda);
        }
        Ok((lambda, Some(complete)))
    }

    /// The largest residue R of a multiplier that grows as R / (t - t*), and its place, at a state where rank is lost, within `tau` \[s\], for the
    /// scaled force `f` less v̇: Dᵀλ stays finite there, and is D₁ᵀR and what the regular rows carry, Bᵀ[λ; R]. None where it is small against
    /// what these make in the window.
    pub fn residue(&mut self, f: &[f64], tau: f64) -> Option<(f64, usize)> {
        let Window { part, dependent, solver, .. } = self;
        let Solver::Dense { weight, qr } = solver else { return None };
        let rank = dependent.rank.min(qr.steps());
        let mut y = f.to_vec();
        qr.mul_qt(&mut y);
        qr.solve_r(&mut y[..rank]);
        let (mut lambda, mut R) = (vec![0.0; part.nc()], vec![0.0; part.nc()]);
        (0..rank).for_each(|k| lambda[qr.order()[k]] = y[k]);
        for i in 0..dependent.len() {
            let u = dependent.u(i);
            let along = dot(u, &lambda);
            add(-along, u, &mut lambda);
            add(*weight * along, u, &mut R);
        }
        let index = (0..R.len()).max_by(|&a, &b| R[a].abs().total_cmp(&R[b].abs()))?;
        let load = lambda.iter().fold(1e-6 * norm(f) / dependent.largest, |m, l| m.max(l.abs()));
        let residue = R[index].abs();
        (residue > NO_RESIDUE * tau * load).then_some((residue, index))
    }

    /// Dangerous rows have multipliers down to this part of the largest singular value.
    fn whole(&self) -> f64 {
        match self.solver {
            Solver::Dense { .. } => 1e-6,
            // its pivots are squares
            Solver::Sparse { .. } => 1e-4,
        }
    }

    /// Directions of motion along the expansion: Tₖ, k ≤ `orders` - 2, for each vector of null(B).
    fn tangent_jets(
        &mut self,
        D: &[Vec<f64>],
        orders: usize,
        sweeps: u32,
        still: f64,
        work: &mut SeriesWorkspace,
    ) {
        let count = orders - 1;
        let weight = self.weight();
        let SeriesWorkspace { jets, dof, regular, dependent, .. } = work;
        for T in jets.iter_mut().take(*dof) {
            let mut before = f64::INFINITY;
            for _ in 0..sweeps {
                let (mut change, mut w) = (0.0, 1.0);
                regular.fill(0.0);
                self.part.add_mul(&D[0], &T[0], regular);
                for k in 0..count {
                    dependent.fill(0.0);
                    for i in (0..=k + 1).filter(|i| k + 1 - i < count) {
                        self.part.add_mul(&D[i], &T[k + 1 - i], dependent);
                    }
                    let size = self.correct(regular, dependent, &mut T[k]);
                    self.accumulate_up(&D[1], regular, dependent);
                    change = f64::max(change, w * size / (1.0 + w * norm(&T[k])));
                    w *= weight;
                }
                if is_done(change, before, still) {
                    break;
                }
                before = change;
            }
        }
    }

    /// Computes what regular rows leave at the next order, of what nearly dependent ones left there before the last correction.
    fn accumulate_up(&mut self, D1: &[f64], regular: &mut [f64], dependent: &[f64]) {
        self.y.iter_mut().for_each(|y| *y = -*y);
        regular.copy_from_slice(dependent);
        self.part.add_mul(D1, &self.y, regular);
    }

    /// Returns how much an error of one coefficient makes of the one before, at most \[s\]: the time to the farthest of the losses of rank.
    fn weight(&self) -> f64 {
        let times = self.dependent.sigma.iter().zip(&self.dependent.rate).map(|(sigma, rate)| sigma / rate);
        FARTHER * times.fold(self.dependent.ahead.abs(), f64::max)
    }
}

/// Factors of the transpose of `dense`, which has the rows of `part`.
fn factor_transposed(qr: &mut PivotedQr, dense: &[f64], part: &Subsystem) {
    let (nc, nv) = (part.nc(), part.nv());
    qr.reset(nv, nc);
    for (j, row) in dense.chunks_exact(nv).enumerate() {
        qr.column_mut(j).copy_from_slice(row);
    }
    qr.factor(nc);
}

/// `count` vectors of `n` zeros; does not allocate where there were such before.
fn zeros(v: &mut Vec<Vec<f64>>, count: usize, n: usize) {
    v.resize_with(count, Vec::new);
    for v in v {
        v.clear();
        v.resize(n, 0.0);
    }
}

/// Returns whether a change, after one of `before`, is the last: at most `still`, or as small as it can be, which is rounding.
pub fn is_done(change: f64, before: f64, still: f64) -> bool {
    change <= still || (change < ROUNDING && change > 0.5 * before)
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    // four sums at a time: the vectors of large parts are long
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

pub fn add(factor: f64, x: &[f64], y: &mut [f64]) {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<4>(), y.as_chunks_mut::<4>());
    for (y, x) in y.iter_mut().zip(x) {
        for i in 0..4 {
            y[i] += factor * x[i];
        }
    }
    y_rest.iter_mut().zip(x_rest).for_each(|(y, x)| *y += factor * x);
}
