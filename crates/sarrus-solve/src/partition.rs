//! Independent coordinates among the velocities: v = (u, e) with J_u of full column rank.
//!
//! J_u u + J_e e = b gives u for any e. Which velocities are dependent is chosen by QR with column pivoting
//! \[Golub2013, section 5.4\] on D_r J D_c: columns over √M_ii, so that metres and radians, light bodies and heavy ones
//! compare, and rows of unit length. The rank r is where the pivots fall below 10⁻⁹ of the first; the first r columns
//! are dependent \[Wehage1982\].
//!
//! The choice is kept. At every further J, the columns of J_u come first, so that Q R of them solves for u, and what Q
//! leaves of J_e tells whether they still span J. The choice is made again where
//!
//! - the condition ‖J‖ ‖J_u⁺‖ is 10 times its best since the choice, or has come above 10⁶: a dead point of an
//!   independent coordinate. Where the new choice is no better by half, the mechanism itself is singular there, and the
//!   old one stays;
//! - more than 10⁻³ of a column of J_e is left: J has gained rank. Less than that is no gain, since off the constraints a
//!   redundant row is independent by its violation, unless it is rank that was lost before, at a singular position.
//!
//! Rows that others determine stay in: J_u u = b is solved in least squares over all rows, and J_uᵀλ = c by the λ of
//! least norm. Cost: dense, O(nc nv r) time and O(nc nv) memory per factorization; nothing is allocated after the first.
//! Not for large models.

use crate::error::SolveError;
use crate::findings::{Findings, PartitionFound, RankFound};
use crate::kkt::Rows;
use crate::problem::{Equations, Structure};
use sarrus_math::solve::PivotedQr;

/// A pivot up to this fraction of the first is rounding.
const RANK: f64 = 1e-9;
/// The same for columns found dependent before.
const STILL: f64 = 1e-3;
/// How much worse than at its best the condition may become. At 100 a four-bar over 3 s lost a digit against 10.
const WORSE: f64 = 10.0;
/// A condition that is bad in itself.
const BAD: f64 = 1e6;
/// A new choice has to be better than this fraction of the old one's condition.
const BETTER: f64 = 0.5;

/// A choice of independent coordinates, and J_u factored.
#[derive(Debug, Clone)]
pub(crate) struct Partition {
    rows: Rows,
    /// Scalar rows that take part.
    taking_part: Vec<usize>,
    /// D_r, per row that takes part.
    row_scale: Vec<f64>,
    /// D_c (nv).
    col_scale: Vec<f64>,
    /// Velocities in the order of the columns: dependent ones, then independent ones.
    order: Vec<usize>,
    /// The order before, while another is tried.
    before: Vec<usize>,
    /// Place in `order` of each velocity.
    place: Vec<usize>,
    /// Number of dependent velocities, once chosen.
    rank: Option<usize>,
    /// The largest that it has been.
    most: usize,
    /// Least condition since the choice.
    best: f64,
    qr: PivotedQr,
    /// Of a basis of {μ : Jᵀμ = 0}, where rows are redundant.
    null: PivotedQr,
    /// Right side (rows that take part).
    b: Vec<f64>,
    found: Findings,
    factorizations: u64,
}

impl Partition {
    /// Nothing chosen yet, for `rows`.
    pub fn new(rows: Rows) -> Partition {
        Partition {
            rows,
            taking_part: Vec::new(),
            row_scale: Vec::new(),
            col_scale: Vec::new(),
            order: Vec::new(),
            before: Vec::new(),
            place: Vec::new(),
            rank: None,
            most: 0,
            best: f64::INFINITY,
            qr: PivotedQr::default(),
            null: PivotedQr::default(),
            b: Vec::new(),
            found: Findings::default(),
            factorizations: 0,
        }
    }

    /// Number of dependent velocities.
    pub fn rank(&self) -> usize {
        self.rank.unwrap_or(0)
    }

    /// Whether rows depend on others.
    pub fn is_redundant(&self) -> bool {
        self.rank() < self.taking_part.len()
    }

    /// Dependent velocities, in the order of [`factors`](Partition::factors).
    pub fn dependent(&self) -> &[usize] {
        &self.order[..self.rank()]
    }

    /// Independent velocities, in the order of the columns of [`factors`](Partition::factors).
    pub fn independent(&self) -> &[usize] {
        &self.order[self.rank()..]
    }

    /// D_c, by which every column of J is multiplied.
    pub fn col_scale(&self) -> &[f64] {
        &self.col_scale
    }

    /// D_r J D_c with the dependent columns first and eliminated.
    pub fn factors(&self) -> &PivotedQr {
        &self.qr
    }

    /// Factorizations made so far.
    pub fn factorizations(&self) -> u64 {
        self.factorizations
    }

    /// D_r, by which every row of J that takes part is multiplied.
    pub fn row_scale(&self) -> &[f64] {
        &self.row_scale
    }

    /// Rank decisions and choices so far.
    pub fn findings(&self) -> &Findings {
        &self.found
    }

    /// Factors J_u at the J of `eq`, with the choice made before where that still is one.
    pub fn factor(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        if let Some(index) = eq.J.iter().position(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite { quantity: "J", index });
        }
        self.scale(s, eq);
        let Some(rank) = self.rank else {
            self.choose(s, eq);
            self.eliminate(s, eq, self.rank());
            self.best = self.condition();
            self.note(true);
            return Ok(());
        };
        self.eliminate(s, eq, rank);
        let condition = self.condition();
        let dead = condition > WORSE * self.best || (condition > BAD && self.best <= BAD);
        let tolerance = if rank < self.most { RANK } else { STILL };
        let gained = self.qr.remainder(rank, rank) > tolerance * self.first_pivot();
        if dead || gained {
            self.choose_again(s, eq, rank, condition);
        } else {
            self.best = self.best.min(condition);
        }
        self.note(false);
        Ok(())
    }

    /// Chooses anew at the next [`factor`](Partition::factor), whatever the condition.
    pub fn forget(&mut self) {
        self.best = 0.0;
    }

    fn choose_again(&mut self, s: &Structure, eq: &Equations, rank: usize, condition: f64) {
        let mut before = std::mem::take(&mut self.before);
        before.clone_from(&self.order);
        self.choose(s, eq);
        let new = self.rank();
        self.eliminate(s, eq, new);
        self.best = self.condition();
        let same = new == rank && self.order[new..].iter().all(|e| before[rank..].contains(e));
        if new == rank && (same || self.best.is_nan() || self.best > BETTER * condition) {
            self.order.clone_from(&before);
            self.eliminate(s, eq, rank);
            self.best = condition;
        } else if let Some(found) = &mut self.found.partition {
            found.choices += 1;
        }
        self.before = before;
    }

    /// Rows that take part, D_c and D_r.
    fn scale(&mut self, s: &Structure, eq: &Equations) {
        if self.order.is_empty() {
            self.order.extend(0..s.nv);
            self.before.reserve(s.nv);
            self.place.resize(s.nv, 0);
            self.col_scale.resize(s.nv, 0.0);
            for col in &s.cols {
                for i in 0..col.size {
                    self.col_scale[col.start + i] = eq.mass[col.mass + i * (col.size + 1)].sqrt().recip();
                }
            }
            for row in &s.rows {
                let n = if self.rows == Rows::All { row.size } else { row.holonomic };
                self.taking_part.extend(row.start..row.start + n);
            }
            self.b.resize(self.taking_part.len(), 0.0);
        }
        self.row_scale.clear();
        self.row_scale.resize(self.taking_part.len(), 0.0);
        let Partition { row_scale, col_scale, .. } = self;
        entries(s, self.rows, &eq.J, |i, j, J| row_scale[i] += (J * col_scale[j]).powi(2));
        // a row without a direction is no row: it is not blown up
        let largest = row_scale.iter().fold(0.0_f64, |a, b| a.max(*b)).sqrt();
        row_scale.iter_mut().for_each(|r| {
            let length = r.sqrt();
            *r = if length > RANK * RANK * largest { length.recip() } else { 1.0 };
        });
    }

    /// D_r J D_c in the present order, its first `first` columns eliminated with pivoting among them.
    fn eliminate(&mut self, s: &Structure, eq: &Equations, first: usize) {
        let Partition { qr, order, place, row_scale, col_scale, .. } = self;
        order.iter().enumerate().for_each(|(k, &j)| place[j] = k);
        qr.reset(row_scale.len(), s.nv);
        entries(s, self.rows, &eq.J, |i, j, J| qr.column_mut(place[j])[i] = row_scale[i] * J * col_scale[j]);
        qr.factor(first);
        self.factorizations += 1;
        // the order of the columns is that of their elimination
        let before = &mut self.place;
        before.copy_from_slice(order);
        order.iter_mut().zip(qr.order()).for_each(|(to, &from)| *to = before[from]);
    }

    /// Pivots over all columns and decides the rank.
    fn choose(&mut self, s: &Structure, eq: &Equations) {
        self.eliminate(s, eq, s.nv);
        let first = self.first_pivot();
        let pivot = |k: usize| if k < self.qr.steps() { self.qr.pivot(k) } else { 0.0 };
        let above =
            |tolerance: f64| (0..self.qr.steps()).take_while(|&k| pivot(k) > tolerance * first).count();
        let (mut rank, mut tolerance) = (above(RANK), RANK);
        if self.rank.is_some() && rank > self.most && pivot(self.most) <= STILL * first {
            (rank, tolerance) = (self.most, STILL);
        }
        let margin = |small: f64, large: f64| if small > 0.0 { large / small } else { f64::INFINITY };
        let upper = if rank == 0 { f64::INFINITY } else { margin(tolerance * first, pivot(rank - 1)) };
        let lower = margin(pivot(rank), tolerance * first);
        RankFound::note(&mut self.found.rank, rank, tolerance, upper.min(lower));
        self.rank = Some(rank);
        self.most = self.most.max(rank);
    }

    fn first_pivot(&self) -> f64 {
        if self.qr.steps() == 0 { 0.0 } else { self.qr.pivot(0) }
    }

    /// The largest column of J over the last pivot of J_u: an estimate, from below, of ‖J‖ ‖J_u⁺‖.
    fn condition(&self) -> f64 {
        match self.rank() {
            0 => 1.0,
            rank => self.first_pivot().max(self.qr.remainder(0, rank)) / self.qr.pivot(rank - 1),
        }
    }

    fn note(&mut self, chosen: bool) {
        let (rank, condition) = (self.rank(), self.condition());
        let found = self.found.partition.get_or_insert_with(|| PartitionFound {
            independent: Vec::with_capacity(self.order.len()),
            choices: 0,
            condition: 1.0,
        });
        found.choices += u32::from(chosen);
        found.condition = found.condition.max(condition);
        found.independent.clear();
        found.independent.extend_from_slice(&self.order[rank..]);
        found.independent.sort_unstable();
    }

    /// δ with J δ = `b` over the rows that take part (`b` has all rows, nc), in least squares, and δ_e = 0.
    pub fn solve(&mut self, b: &[f64], delta: &mut [f64]) {
        let rank = self.rank();
        for ((to, &i), scale) in self.b.iter_mut().zip(&self.taking_part).zip(&self.row_scale) {
            *to = scale * b[i];
        }
        self.qr.mul_qt(&mut self.b);
        self.qr.solve_r(&mut self.b[..rank]);
        delta.fill(0.0);
        for (&j, x) in self.order.iter().zip(&self.b[..rank]) {
            delta[j] = self.col_scale[j] * x;
        }
    }

    /// μ (nc) of least norm with J_uᵀμ = c_u (`c` has all velocities, nv).
    pub fn solve_transposed(&mut self, c: &[f64], mu: &mut [f64]) {
        let rank = self.rank();
        self.b.fill(0.0);
        for (to, &j) in self.b.iter_mut().zip(&self.order[..rank]) {
            *to = self.col_scale[j] * c[j];
        }
        self.qr.solve_rt(&mut self.b[..rank]);
        self.qr.mul_q(&mut self.b);
        self.b.iter_mut().zip(&self.row_scale).for_each(|(b, scale)| *b *= scale);
        if self.is_redundant() {
            self.shorten();
        }
        mu.fill(0.0);
        self.taking_part.iter().zip(&self.b).for_each(|(&i, b)| mu[i] = *b);
    }

    /// Takes from `b` what Jᵀ does not see: its part in the span of Z = D_r Q_(r..m).
    fn shorten(&mut self) {
        let (rank, m) = (self.rank(), self.taking_part.len());
        let Partition { qr, null, row_scale, b, .. } = self;
        null.reset(m, m - rank);
        for k in 0..m - rank {
            let z = null.column_mut(k);
            z[rank + k] = 1.0;
            qr.mul_q(z);
            z.iter_mut().zip(&*row_scale).for_each(|(z, scale)| *z *= scale);
        }
        null.factor(m - rank);
        null.mul_qt(b);
        b[..m - rank].fill(0.0);
        null.mul_q(b);
    }
}

/// Every entry of J in the rows that take part: place of the row among them, velocity, value.
fn entries(s: &Structure, rows: Rows, J: &[f64], mut each: impl FnMut(usize, usize, f64)) {
    let mut first = 0;
    for row in &s.rows {
        let n = if rows == Rows::All { row.size } else { row.holonomic };
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            for i in 0..n {
                for j in 0..col.size {
                    each(first + i, col.start + j, J[e.offset + i * col.size + j]);
                }
            }
        }
        first += n;
    }
}
