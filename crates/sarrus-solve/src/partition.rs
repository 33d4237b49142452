//! Independent coordinates among the velocities: v = (u, e) with J_u of full column rank.
//!
//! J_u u + J_e e = b gives u for any e. Which velocities are dependent is chosen by QR with column pivoting
//! \[Golub2013, section 5.4\] on D_r J D_c: columns over √M_ii, so that metres and radians, light bodies and heavy ones
//! compare, and rows of unit length. The rank r is that of the pivots that count (see `rank.rs`); the first r columns are
//! dependent \[Wehage1982\]. Off the constraints a redundant row leaves a pivot as large as the violation δ; the first
//! choice, where it had to be made there, is made again as soon as a state is nearer to them.
//!
//! The choice is kept as long as it is one (see `partition/choose.rs`). Rows that others determine stay in (see
//! `partition/solve.rs`). Cost: dense, O(nc nv r) time and O(nc nv) memory per factorization; nothing is allocated after the
//! first. Not for large models.

mod choose;
mod solve;

use crate::error::SolveError;
use crate::findings::{MethodStatistics, PartitionFound};
use crate::kkt::ActiveRows;
use crate::problem::{Equations, Structure};
use crate::rank::{FLOOR, RankKeeper};
use sarrus_math::solve::PivotedQr;

/// A row shorter than this fraction of the longest has no direction.
const NO_ROW: f64 = 1e-18;
/// A choice of independent coordinates, and J_u factored.
#[derive(Debug, Clone)]
pub(crate) struct Partition {
    rows: ActiveRows,
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
    position_of: Vec<usize>,
    /// Decides the rank; made at the first call.
    keeper: Option<RankKeeper>,
    /// The rank at the start, where it is known.
    known: Option<usize>,
    /// Number of dependent velocities.
    rank: usize,
    /// Violation at which the first choice was made.
    chosen_at: Option<f64>,
    /// Least condition since the choice.
    best: f64,
    qr: PivotedQr,
    /// Of a basis of {μ : Jᵀμ = 0}, where rows are redundant.
    null: PivotedQr,
    /// Right-hand side (rows that take part).
    b: Vec<f64>,
    found: MethodStatistics,
    factorizations: u64,
}

impl Partition {
    /// Nothing chosen yet, for `rows`.
    pub fn new(rows: ActiveRows) -> Partition {
        Partition {
            rows,
            taking_part: Vec::new(),
            row_scale: Vec::new(),
            col_scale: Vec::new(),
            order: Vec::new(),
            before: Vec::new(),
            position_of: Vec::new(),
            keeper: None,
            known: None,
            rank: 0,
            chosen_at: None,
            best: f64::INFINITY,
            qr: PivotedQr::default(),
            null: PivotedQr::default(),
            b: Vec::new(),
            found: MethodStatistics::default(),
            factorizations: 0,
        }
    }

    /// Says what the rank at the start is, where that is known, of all rows.
    pub fn report_rank(&mut self, s: &Structure, known: Option<usize>) {
        let is_all = self.rows == ActiveRows::All || s.rows.iter().all(|row| row.holonomic == row.size);
        self.known = known.filter(|_| is_all);
    }

    /// Number of dependent velocities.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns whether rows depend on others.
    pub fn is_redundant(&self) -> bool {
        self.rank() < self.taking_part.len()
    }

    /// All velocities, dependent ones first, in the order of the columns of [`factors`](Partition::factors).
    pub fn order(&self) -> &[usize] {
        &self.order
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
    pub fn statistics(&self) -> &MethodStatistics {
        &self.found
    }

    /// Factors J_u at the J of `eq`, with the choice made before where that still is one. Reads Φ too.
    pub fn factor(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        self.factor_with(s, eq, false)
    }

    /// As [`factor`](Partition::factor), with no dependent velocity that had better be independent.
    pub fn factor_best(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        self.factor_with(s, eq, true)
    }

    /// Chooses anew at the next [`factor`](Partition::factor), whatever the condition.
    pub fn forget(&mut self) {
        self.best = 0.0;
    }

    fn factor_with(&mut self, s: &Structure, eq: &Equations, best: bool) -> Result<(), SolveError> {
        if let Some(index) = eq.J.iter().position(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite { quantity: "J", index });
        }
        self.scale(s, eq);
        if let Some(keeper) = &mut self.keeper {
            keeper.report_rank(self.known);
        }
        let violation = self.keeper.as_mut().map_or(0.0, |keeper| keeper.violation(s, eq));
        let changed = self.update_choice(s, eq, violation, best);
        self.note(changed);
        self.find_null();
        Ok(())
    }

    /// Rows that take part, D_c and D_r.
    fn scale(&mut self, s: &Structure, eq: &Equations) {
        if self.keeper.is_none() {
            self.keeper = Some(RankKeeper::new(s, FLOOR));
            self.order.extend(0..s.nv);
            self.before.reserve(s.nv);
            self.position_of.resize(s.nv, 0);
            self.col_scale.resize(s.nv, 0.0);
            for col in &s.cols {
                for i in 0..col.size {
                    self.col_scale[col.start + i] = eq.mass[col.mass + i * (col.size + 1)].sqrt().recip();
                }
            }
            for row in &s.rows {
                let n = if self.rows == ActiveRows::All { row.size } else { row.holonomic };
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
            *r = if length > NO_ROW * largest { length.recip() } else { 1.0 };
        });
    }

    /// D_r J D_c in the present order, its first `first` columns eliminated with pivoting among them.
    fn eliminate(&mut self, s: &Structure, eq: &Equations, first: usize) {
        let Partition { qr, order, position_of: index_of, row_scale, col_scale, .. } = self;
        order.iter().enumerate().for_each(|(k, &j)| index_of[j] = k);
        qr.reset(row_scale.len(), s.nv);
        entries(s, self.rows, &eq.J, |i, j, J| {
            qr.column_mut(index_of[j])[i] = row_scale[i] * J * col_scale[j]
        });
        qr.factor(first);
        self.factorizations += 1;
        // the order of the columns is that of their elimination
        let before = &mut self.position_of;
        before.copy_from_slice(order);
        order.iter_mut().zip(qr.order()).for_each(|(to, &from)| *to = before[from]);
    }

    fn note(&mut self, changed: bool) {
        let (rank, condition) = (self.rank, self.condition());
        let found = self.found.partition.get_or_insert_with(|| PartitionFound {
            independent: Vec::with_capacity(self.order.len()),
            choices: 1,
            condition: 1.0,
        });
        found.choices += u32::from(changed);
        found.condition = found.condition.max(condition);
        found.independent.clear();
        found.independent.extend_from_slice(&self.order[rank..]);
        found.independent.sort_unstable();
    }
}

/// Every entry of J in the rows that take part: place of the row among them, velocity, value.
fn entries(s: &Structure, rows: ActiveRows, J: &[f64], mut each: impl FnMut(usize, usize, f64)) {
    let mut first = 0;
    for row in &s.rows {
        let n = if rows == ActiveRows::All { row.size } else { row.holonomic };
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
