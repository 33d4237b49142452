//! Block-sparse solver of [M Jᵀ; J 0] [x; μ] = [a; b], shared by every method; J may have any rank.
//!
//! M is constant and block diagonal, so bodies are eliminated by their constant inverse, except hubs h, bodies
//! with very many row blocks. What is left,
//!
//!   [ S + εI   -J_h ] [ μ   ]   [ -(b - J_n M_n⁻¹ a_n) ]
//!   [ -J_hᵀ    -M_h ] [ x_h ] = [ -a_h                 ],   S = J_n M_n⁻¹ J_nᵀ over the other bodies n,
//!
//! is quasi-definite: a block LDLᵀ exists in every order [Vanderbei1995], and minimum degree on the graph of row
//! blocks and hubs makes it O(N) on chains, trees and wheels.
//!
//! ε = 0 as long as every pivot keeps 10⁻⁶ of its row: μ is then unique. Otherwise rows depend on each other, or
//! nearly, and ε > 0: refinement on the unregularized residual is the proximal point iteration, which converges to
//! the μ of least 2-norm. For that ε must be the same for all rows: a row-wise ε would give the least weighted norm.
//! The residual is always computed; a part of it that no x can remove (a left null vector of J, to the
//! tolerance `NULL`) is taken out of μ again and reported.
//!
//! Cost: O(N) block products per factorization, no allocation after [`Kkt::new`]. Not for a singular M.

mod plan;
mod refine;

use crate::error::SolveError;
use crate::problem::{Equations, Structure};
use plan::Plan;
pub use refine::SolveReport;
use sarrus_math::solve::{BlockLdl, SmallPivots, kernels};

/// Bodies with more row blocks than this are hubs, unless a method wants otherwise.
pub const HUB_DEGREE: usize = 16;

/// A pivot below this fraction of its row's diagonal makes the factorization regularized. Eliminating a chain of
/// N bodies leaves pivots of 1/N, so long chains stay above.
const SMALL_PIVOT: f64 = 1e-6;
/// The same where full rank is demanded: only what rounding may have left of a dependent row.
const ZERO_PIVOT: f64 = 1e-12;
/// ε of the first regularized factorization, relative to the largest diagonal of J M⁻¹ Jᵀ. Large, as rounding
/// enters the null space of μ divided by ε; not larger, as each refinement gains a factor of ε over the least
/// eigenvalue.
const EPSILON: f64 = 1e-7;

/// How often ε > 0 is kept after ε = 0 failed against expectation.
const PATIENCE: u32 = 32;

/// Which rows take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// All.
    All,
    /// Those with a position level; the multipliers of the others are zero.
    Holonomic,
}

/// What is demanded of the rank of J.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Full: dependent rows are an error.
    Full,
    /// Any: dependent rows share their multipliers by least norm.
    Any,
}

/// M⁻¹ of a body, by what is not zero in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inverse {
    /// Diagonal.
    Diagonal,
    /// Three diagonal numbers and a 3 × 3 block: a spatial body.
    Split,
    /// Anything.
    Full,
}

/// The solver, with the pattern of one [`Structure`] and room for one factorization.
#[derive(Debug, Clone)]
pub struct Kkt {
    plan: Plan,
    ldl: BlockLdl,
    cols: Vec<(crate::ColBlock, Inverse)>,
    nc: usize,
    mass: Vec<f64>,
    minv: Vec<f64>,
    /// J M⁻¹, laid out as J.
    W: Vec<f64>,
    /// Each block of J transposed, at the same offset.
    Jt: Vec<f64>,
    /// Diagonal of J M⁻¹ Jᵀ, hubs included.
    scale: Vec<f64>,
    /// Pivot floors, in elimination order.
    floor: Vec<f64>,
    /// ε of the current factors.
    epsilon: f64,
    /// Largest of `scale`.
    largest: f64,
    /// Pivots that only ε held up.
    dependent: SmallPivots,
    /// Whether the next factorization starts with ε > 0.
    regularized: bool,
    /// Regularized factorizations before ε = 0 is tried again.
    patience: u32,
    rows: Rows,
    /// J of the factors, kept for one comparison.
    held: Option<Vec<f64>>,
    spare: Vec<f64>,
    factorizations: u64,
    work: refine::Work,
}

impl Kkt {
    /// Analyses `s`, with the constant blocks of M and M⁻¹ from `eq`. `hub_degree` is [`HUB_DEGREE`] unless there is
    /// a reason: bodies with more row blocks stay among the unknowns.
    pub fn new(s: &Structure, eq: &Equations, hub_degree: usize) -> Result<Kkt, SolveError> {
        if u32::try_from(s.J_len).is_err() {
            return Err(SolveError::TooLarge { blocks: s.entries.len() });
        }
        check_mass(s, eq)?;
        let (plan, ldl) = Plan::new(s, hub_degree)?;
        let unknowns = s.nc + plan.hubs.iter().map(|h| s.cols[h.col].size).sum::<usize>();
        let cols = s.cols.iter().map(|&c| (c, inverse_kind(&eq.minv[c.mass..][..c.size * c.size], c.size)));
        Ok(Kkt {
            ldl,
            cols: cols.collect(),
            nc: s.nc,
            mass: eq.mass.clone(),
            minv: eq.minv.clone(),
            W: vec![0.0; s.J_len],
            Jt: vec![0.0; s.J_len],
            scale: vec![0.0; s.nc],
            floor: vec![0.0; unknowns],
            epsilon: 0.0,
            largest: 0.0,
            dependent: SmallPivots::default(),
            regularized: false,
            patience: 0,
            rows: Rows::All,
            held: None,
            spare: vec![0.0; s.J_len],
            factorizations: 0,
            work: refine::Work::new(s, unknowns),
            plan,
        })
    }

    /// Factorizations made so far.
    pub fn factorizations(&self) -> u64 {
        self.factorizations
    }

    /// Blocks stored in the factors.
    pub fn blocks(&self) -> usize {
        self.ldl.blocks()
    }

    /// ε of the current factors; zero where all rows were found independent.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// A row that the rows eliminated before it determine, if the last factorization met one.
    pub fn dependent_row(&self) -> Option<usize> {
        let (node, row) = self.dependent.first?;
        (node < self.plan.rows.len()).then(|| self.plan.node_start[node] + row)
    }

    /// Factors at the J of `eq`. Does not allocate.
    pub fn factor(&mut self, eq: &Equations, rows: Rows, rank: Rank) -> Result<(), SolveError> {
        // the factors that `hold` kept will do if nothing changed
        if let Some(held) = self.held.take() {
            let same = rows == self.rows && held == eq.J && (rank == Rank::Any || self.epsilon == 0.0);
            self.spare = held;
            if same {
                return Ok(());
            }
        }

        self.rows = rows;
        self.weigh(&eq.J)?;
        match rank {
            Rank::Full => self.factor_exactly(ZERO_PIVOT),
            Rank::Any => self.factor_any(),
        }
    }

    /// ε = 0 if that will do. What the last factorization needed is tried first.
    fn factor_any(&mut self) -> Result<(), SolveError> {
        let epsilon = EPSILON * if self.largest > 0.0 { self.largest } else { 1.0 };
        if !self.regularized {
            if self.factor_exactly(SMALL_PIVOT).is_ok() {
                return Ok(());
            }
            self.regularized = true;
            return self.factor_regularized(epsilon);
        }
        self.factor_regularized(epsilon)?;
        self.patience = self.patience.saturating_sub(1);
        if self.dependent.count == 0 && self.patience == 0 {
            if self.factor_exactly(SMALL_PIVOT).is_ok() {
                self.regularized = false;
                return Ok(());
            }
            // ε hides how small the pivots are: not to be asked at every step
            self.patience = PATIENCE;
            return self.factor_regularized(epsilon);
        }
        Ok(())
    }

    /// Keeps the factors for the next [`factor`](Kkt::factor), which then is free if it is asked for the same J.
    pub fn hold(&mut self, eq: &Equations) {
        let mut copy = std::mem::take(&mut self.spare);
        copy.clone_from(&eq.J);
        self.held = Some(copy);
    }

    /// W = J M⁻¹, Jᵀ and the diagonal of J M⁻¹ Jᵀ.
    fn weigh(&mut self, J: &[f64]) -> Result<(), SolveError> {
        self.largest = 0.0;
        for row in &self.plan.rows {
            let scale = &mut self.scale[row.start..][..row.size];
            scale.fill(0.0);
            let masked = match self.rows {
                Rows::All => row.size,
                Rows::Holonomic => row.holonomic,
            };
            for b in &self.plan.blocks[row.first..row.last] {
                let len = row.size * b.size;
                let J = &J[b.offset..][..len];
                let (W, Jt) = (&mut self.W[b.offset..][..len], &mut self.Jt[b.offset..][..len]);
                let (col, kind) = self.cols[b.col];
                weigh_block(W, J, &self.minv[col.mass..], row.size, b.size, kind);
                kernels::transpose(Jt, J, row.size, b.size);
                if masked < row.size {
                    W[masked * b.size..].fill(0.0);
                    Jt.chunks_exact_mut(row.size).for_each(|column| column[masked..].fill(0.0));
                }
                for (i, scale) in scale.iter_mut().enumerate().take(masked) {
                    let at = i * b.size..(i + 1) * b.size;
                    *scale += W[at.clone()].iter().zip(&J[at]).map(|(w, j)| w * j).sum::<f64>();
                }
            }
            scale[masked..].fill(1.0);
            for &s in &scale[..masked] {
                if !s.is_finite() {
                    return Err(not_finite("J", J));
                }
                self.largest = self.largest.max(s);
            }
        }
        Ok(())
    }

    /// Fills the factors with [S + εI, -J_h; -J_hᵀ, -M_h].
    fn assemble(&mut self, epsilon: f64) {
        let K = self.ldl.values_mut();
        for &(at, len) in &self.plan.fill {
            K[at..at + len].fill(0.0);
        }
        for row in &self.plan.rows {
            let n = row.size;
            let mut first = true;
            let (diagonal, after) = (row.diagonal, row.diagonal + n * n);
            for b in &self.plan.blocks[row.first..row.last] {
                let (W, Jt) = (&self.W[b.offset..], &self.Jt[b.offset..]);
                match b.hub {
                    None => {
                        let product = if first { kernels::assign } else { kernels::accumulate };
                        product(&mut K[diagonal..after], W, Jt, n, b.size, n);
                        first = false;
                    }
                    Some((at, transposed)) => {
                        let to = &mut K[at..][..n * b.size];
                        if transposed {
                            to.iter_mut().zip(Jt).for_each(|(k, j)| *k = -j);
                        } else {
                            kernels::transpose(to, Jt, b.size, n);
                            to.iter_mut().for_each(|k| *k = -*k);
                        }
                    }
                }
            }
            let D = &mut K[diagonal..after];
            if first {
                D.fill(0.0);
            }
            if self.rows == Rows::Holonomic {
                (row.holonomic..n).for_each(|i| D[i * n + i] = 1.0);
            }
            if epsilon > 0.0 {
                (0..n).for_each(|i| D[i * n + i] += epsilon);
            }
        }
        for p in &self.plan.products {
            let (n, m, k) = (p.n as usize, p.m as usize, p.k as usize);
            let (W, Jt) = (&self.W[p.W as usize..], &self.Jt[p.J as usize..]);
            let product = if p.first { kernels::assign } else { kernels::accumulate };
            product(&mut K[p.to as usize..], W, Jt, n, m, k);
        }
        for hub in &self.plan.hubs {
            let (col, _) = self.cols[hub.col];
            let M = &self.mass[col.mass..][..col.size * col.size];
            K[hub.diagonal..][..M.len()].iter_mut().zip(M).for_each(|(k, m)| *k = -m);
        }
    }

    /// ε = 0; the first pivot below `tolerance` of its row is an error.
    fn factor_exactly(&mut self, tolerance: f64) -> Result<(), SolveError> {
        self.assemble(0.0);
        for row in &self.plan.rows {
            let floor = &mut self.floor[row.at..][..row.size];
            floor.iter_mut().zip(&self.scale[row.start..]).for_each(|(f, s)| *f = tolerance * s);
        }
        self.factorizations += 1;
        self.epsilon = 0.0;
        self.dependent = SmallPivots::default();
        self.ldl.factor(&self.floor, true).map(|_| ()).map_err(|bad| self.bad_pivot(bad))
    }

    /// ε > 0; pivots that only ε holds up are counted.
    fn factor_regularized(&mut self, epsilon: f64) -> Result<(), SolveError> {
        self.assemble(epsilon);
        for row in &self.plan.rows {
            let floor = &mut self.floor[row.at..][..row.size];
            let scale = &self.scale[row.start..];
            floor.iter_mut().zip(scale).for_each(|(f, s)| *f = epsilon + 10.0 * SMALL_PIVOT * s);
        }
        self.factorizations += 1;
        self.epsilon = epsilon;
        self.dependent = self.ldl.factor(&self.floor, false).map_err(|bad| self.bad_pivot(bad))?;
        Ok(())
    }

    fn bad_pivot(&self, bad: sarrus_math::solve::BadPivot) -> SolveError {
        let start = self.plan.node_start[bad.node];
        if bad.node < self.plan.rows.len() {
            let row = start + bad.row;
            SolveError::RankDeficient { row, pivot: bad.pivot, scale: self.scale[row] }
        } else {
            SolveError::Mass { velocity: start + bad.row }
        }
    }
}

/// W = J M⁻¹ for one block.
#[inline]
fn weigh_block(W: &mut [f64], J: &[f64], minv: &[f64], n: usize, m: usize, kind: Inverse) {
    match kind {
        Inverse::Full => kernels::assign(W, J, minv, n, m, m),
        Inverse::Diagonal => {
            for (w, j) in W.chunks_exact_mut(m).zip(J.chunks_exact(m)) {
                for i in 0..m {
                    w[i] = j[i] * minv[i * m + i];
                }
            }
        }
        Inverse::Split => {
            let (minv, _) = minv[..36].as_chunks::<6>();
            let (W, _) = W.as_chunks_mut::<6>();
            let (J, _) = J.as_chunks::<6>();
            for (w, j) in W.iter_mut().zip(J) {
                for i in 0..3 {
                    w[i] = j[i] * minv[i][i];
                    w[3 + i] = j[3] * minv[3][3 + i] + j[4] * minv[4][3 + i] + j[5] * minv[5][3 + i];
                }
            }
        }
    }
}

fn inverse_kind(minv: &[f64], n: usize) -> Inverse {
    let zero_unless = |allowed: &dyn Fn(usize, usize) -> bool| {
        (0..n).all(|i| (0..n).all(|j| i == j || allowed(i, j) || minv[i * n + j] == 0.0))
    };
    if zero_unless(&|_, _| false) {
        Inverse::Diagonal
    } else if n == 6 && zero_unless(&|i, j| i >= 3 && j >= 3) {
        Inverse::Split
    } else {
        Inverse::Full
    }
}

/// M M⁻¹ = I and M has a positive diagonal, body by body.
fn check_mass(s: &Structure, eq: &Equations) -> Result<(), SolveError> {
    for col in &s.cols {
        let n = col.size;
        let (M, N) = (&eq.mass[col.mass..][..n * n], &eq.minv[col.mass..][..n * n]);
        for i in 0..n {
            let positive = M[i * n + i] > 0.0 && N[i * n + i] > 0.0;
            let inverse = (0..n).all(|j| {
                let terms = || (0..n).map(|k| M[i * n + k] * N[k * n + j]);
                let one = if i == j { 1.0 } else { 0.0 };
                (terms().sum::<f64>() - one).abs() <= 1e-9 * (1.0 + terms().map(f64::abs).sum::<f64>())
            });
            if !(positive && inverse) {
                return Err(SolveError::Mass { velocity: col.start + i });
            }
        }
    }
    Ok(())
}

fn not_finite(quantity: &'static str, values: &[f64]) -> SolveError {
    let index = values.iter().position(|x| !x.is_finite()).unwrap_or(0);
    SolveError::NotFinite { quantity, index }
}
