//! A connected part of a mechanism, with its Jacobian and the Taylor coefficients of it in the metric of M.
//!
//! Velocities are scaled to y = Lᵀ v with M = L Lᵀ, so that lengths are those of kinetic energy: D = J L⁻ᵀ. Coefficients of
//! D stay in the blocks of J; only what is decomposed is made dense, and only over the part in question.

use crate::formulations::dense::Root;
use crate::problem::{Equations, Structure};

/// Velocities of a body, mostly at most.
const FEW: usize = 6;
/// An element takes part in a combination of rows from this part of it on.
const PARTICIPATES: f64 = 0.1;

/// Bodies that rows tie together, and those rows.
#[derive(Debug, Clone, Default)]
pub struct Subsystem {
    /// Indices of the block rows, ascending.
    pub blocks: Vec<usize>,
    /// Scalar rows (nc of the part), in global numbers.
    pub rows: Vec<usize>,
    /// Velocities (nv of the part), in global numbers.
    pub velocities: Vec<usize>,
    entries: Vec<SubsystemBlock>,
    bodies: Vec<SubsystemBody>,
}

/// A block of J inside the part.
#[derive(Debug, Clone, Copy)]
struct SubsystemBlock {
    row: usize,
    rows: usize,
    col: usize,
    cols: usize,
    /// In [`Equations::J`].
    offset: usize,
    /// In [`Equations::mass`].
    mass: usize,
}

/// A body inside the part.
#[derive(Debug, Clone, Copy)]
struct SubsystemBody {
    col: usize,
    size: usize,
    mass: usize,
}

impl Subsystem {
    /// The parts of `s` that have rows.
    pub fn all(s: &Structure) -> Vec<Subsystem> {
        // union of the bodies of each row
        let mut leader: Vec<usize> = (0..s.cols.len()).collect();
        fn find(leader: &mut [usize], mut i: usize) -> usize {
            while leader[i] != i {
                leader[i] = leader[leader[i]];
                i = leader[i];
            }
            i
        }
        for row in &s.rows {
            let mut cols = s.entries[row.entries.clone()].iter().map(|e| e.col);
            if let Some(first) = cols.next() {
                for col in cols {
                    let (a, b) = (find(&mut leader, first), find(&mut leader, col));
                    leader[a.max(b)] = a.min(b);
                }
            }
        }
        let mut index_of = vec![usize::MAX; s.cols.len()];
        let mut parts: Vec<Subsystem> = Vec::new();
        for (i, row) in s.rows.iter().enumerate() {
            let Some(e) = s.entries[row.entries.clone()].first() else { continue };
            let leader = find(&mut leader, e.col);
            if index_of[leader] == usize::MAX {
                index_of[leader] = parts.len();
                parts.push(Subsystem::default());
            }
            parts[index_of[leader]].blocks.push(i);
        }
        let mut local = vec![usize::MAX; s.cols.len()];
        for (c, col) in s.cols.iter().enumerate() {
            let Some(part) = parts.get_mut(index_of[find(&mut leader, c)]) else { continue };
            local[c] = part.velocities.len();
            part.bodies.push(SubsystemBody { col: local[c], size: col.size, mass: col.mass });
            part.velocities.extend(col.start..col.start + col.size);
        }
        for part in &mut parts {
            for &block in &part.blocks {
                let row = &s.rows[block];
                for e in &s.entries[row.entries.clone()] {
                    let col = s.cols[e.col];
                    part.entries.push(SubsystemBlock {
                        row: part.rows.len(),
                        rows: row.size,
                        col: local[e.col],
                        cols: col.size,
                        offset: e.offset,
                        mass: col.mass,
                    });
                }
                part.rows.extend(row.start..row.start + row.size);
            }
        }
        parts
    }

    /// Rows.
    pub fn nc(&self) -> usize {
        self.rows.len()
    }

    /// Velocities.
    pub fn nv(&self) -> usize {
        self.velocities.len()
    }

    /// The blocks of J in place made blocks of D = J L⁻ᵀ.
    pub fn scale(&self, root: &Root, J: &mut [f64]) {
        for e in &self.entries {
            let Ct = root.transposed(e.mass, e.cols);
            let J = &mut J[e.offset..][..e.rows * e.cols];
            match e.cols {
                3 => scale_rows::<3>(Ct, J),
                6 => scale_rows::<6>(Ct, J),
                n => {
                    let (mut few, mut many) = ([0.0; FEW], Vec::new());
                    let row = scratch(&mut few, &mut many, n);
                    for J in J.chunks_exact_mut(n) {
                        for (x, column) in row.iter_mut().zip(Ct.chunks_exact(n)) {
                            *x = J.iter().zip(column).map(|(a, b)| a * b).sum();
                        }
                        J.copy_from_slice(row);
                    }
                }
            }
        }
    }

    /// y += D x.
    pub fn add_mul(&self, D: &[f64], x: &[f64], y: &mut [f64]) {
        for e in &self.entries {
            let (D, x, y) = (&D[e.offset..][..e.rows * e.cols], &x[e.col..], &mut y[e.row..]);
            match e.cols {
                3 => add_rows::<3>(D, x, y),
                6 => add_rows::<6>(D, x, y),
                n => {
                    for (y, D) in y.iter_mut().zip(D.chunks_exact(n)) {
                        *y += D.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                    }
                }
            }
        }
    }

    /// y += Dᵀ x.
    pub fn add_mul_transposed(&self, D: &[f64], x: &[f64], y: &mut [f64]) {
        for e in &self.entries {
            let (D, x, y) = (&D[e.offset..][..e.rows * e.cols], &x[e.row..], &mut y[e.col..][..e.cols]);
            match e.cols {
                3 => add_columns::<3>(D, x, y),
                6 => add_columns::<6>(D, x, y),
                n => {
                    for (x, D) in x.iter().zip(D.chunks_exact(n)) {
                        y.iter_mut().zip(D).for_each(|(y, d)| *y += d * x);
                    }
                }
            }
        }
    }

    /// A bound of the largest singular value of D: √(|D|₁ |D|∞).
    pub fn bound(&self, D: &[f64]) -> f64 {
        let (mut rows, mut cols) = (vec![0.0; self.nc()], vec![0.0; self.nv()]);
        for e in &self.entries {
            let block = D[e.offset..][..e.rows * e.cols].chunks_exact(e.cols);
            for (row, D) in rows[e.row..].iter_mut().zip(block) {
                for (col, d) in cols[e.col..].iter_mut().zip(D) {
                    *row += d.abs();
                    *col += d.abs();
                }
            }
        }
        let largest = |x: &[f64]| x.iter().copied().fold(0.0, f64::max);
        (largest(&rows) * largest(&cols)).sqrt()
    }

    /// Lengths of the rows of D.
    pub fn row_norms(&self, D: &[f64]) -> Vec<f64> {
        let mut rows = vec![0.0; self.nc()];
        for e in &self.entries {
            let block = D[e.offset..][..e.rows * e.cols].chunks_exact(e.cols);
            for (row, D) in rows[e.row..].iter_mut().zip(block) {
                *row += D.iter().map(|d| d * d).sum::<f64>();
            }
        }
        rows.iter_mut().for_each(|r| *r = r.sqrt());
        rows
    }

    /// Places in the part of those of the scalar `rows` that are in it.
    pub fn indices_of(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().filter_map(|row| self.rows.binary_search(row).ok()).collect()
    }

    /// D as a dense matrix by rows.
    pub fn dense(&self, D: &[f64], out: &mut Vec<f64>) {
        let n = self.nv();
        out.clear();
        out.resize(self.nc() * n, 0.0);
        for e in &self.entries {
            let block = D[e.offset..][..e.rows * e.cols].chunks_exact(e.cols);
            for (i, D) in block.enumerate() {
                out[(e.row + i) * n + e.col..][..e.cols].copy_from_slice(D);
            }
        }
    }

    /// The entries of `from`, a vector of all rows, that are the part's.
    pub fn rows_of(&self, from: &[f64], to: &mut [f64]) {
        to.iter_mut().zip(&self.rows).for_each(|(to, &i)| *to = from[i]);
    }

    /// Scaled velocities y = Lᵀ v of the global `v`.
    pub fn velocities_of(&self, eq: &Equations, root: &Root, v: &[f64], y: &mut [f64]) {
        // Lᵀ v = L⁻¹ M v = Cᵀ (M v)
        let (mut few, mut many) = ([0.0; FEW], Vec::new());
        for b in &self.bodies {
            let momentum = scratch(&mut few, &mut many, b.size);
            let M = &eq.mass[b.mass..][..b.size * b.size];
            for (p, M) in momentum.iter_mut().zip(M.chunks_exact(b.size)) {
                let v = self.velocities[b.col..][..b.size].iter().map(|&i| v[i]);
                *p = M.iter().zip(v).map(|(m, v)| m * v).sum();
            }
            let Ct = root.transposed(b.mass, b.size);
            for (y, row) in y[b.col..].iter_mut().zip(Ct.chunks_exact(b.size)) {
                *y = row.iter().zip(&*momentum).map(|(a, b)| a * b).sum();
            }
        }
    }

    /// Scaled forces Cᵀ f from the global `f`.
    pub fn forces_of(&self, root: &Root, f: &[f64], y: &mut [f64]) {
        for b in &self.bodies {
            let Ct = root.transposed(b.mass, b.size);
            for (y, row) in y[b.col..].iter_mut().zip(Ct.chunks_exact(b.size)) {
                let f = self.velocities[b.col..][..b.size].iter().map(|&i| f[i]);
                *y = row.iter().zip(f).map(|(a, b)| a * b).sum();
            }
        }
    }

    /// Writes v = C y, times `factor`, into the part's entries of the global `v`.
    pub fn write_velocities(&self, root: &Root, y: &[f64], factor: f64, v: &mut [f64]) {
        for b in &self.bodies {
            let C = root.block(b.mass, b.size);
            let y = &y[b.col..][..b.size];
            for (i, row) in C.chunks_exact(b.size).enumerate() {
                let x: f64 = row.iter().zip(y).map(|(a, b)| a * b).sum();
                v[self.velocities[b.col + i]] = factor * x;
            }
        }
    }

    /// One row of each element that takes part in the nearly dependent combinations, the largest part first.
    pub fn leading_rows(&self, dependent: &super::DependentRows) -> Vec<usize> {
        let mut blocks: Vec<(f64, usize)> = Vec::new();
        let mut last = usize::MAX;
        for e in &self.entries {
            if e.row == last {
                continue;
            }
            last = e.row;
            let along = |k: usize| dependent.u(k)[e.row..][..e.rows].iter().map(|u| u * u).sum::<f64>();
            let along = (0..dependent.len()).map(along).fold(0.0, f64::max);
            if along > PARTICIPATES * PARTICIPATES {
                blocks.push((along, self.rows[e.row]));
            }
        }
        blocks.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        blocks.into_iter().map(|(_, row)| row).collect()
    }

    /// Writes a vector of the part's rows into the global one.
    pub fn write_rows(&self, from: &[f64], to: &mut [f64]) {
        from.iter().zip(&self.rows).for_each(|(x, &i)| to[i] = *x);
    }
}

/// Workspace for `n` numbers, in `many` only where `few` does not hold them.
fn scratch<'a>(few: &'a mut [f64; FEW], many: &'a mut Vec<f64>, n: usize) -> &'a mut [f64] {
    match few.get_mut(..n) {
        Some(few) => few,
        None => {
            many.resize(n, 0.0);
            &mut many[..n]
        }
    }
}

/// The rows of J in place times L⁻ᵀ, of which `Ct` holds the columns, of a block of `N` columns.
#[inline(always)]
fn scale_rows<const N: usize>(Ct: &[f64], J: &mut [f64]) {
    let Ct = Ct.as_chunks::<N>().0;
    for J in J.as_chunks_mut::<N>().0 {
        let row = *J;
        for (to, column) in J.iter_mut().zip(Ct) {
            let mut sum = 0.0;
            for i in 0..N {
                sum += row[i] * column[i];
            }
            *to = sum;
        }
    }
}

/// y += Dᵀ x of a block of `N` columns.
#[inline(always)]
fn add_columns<const N: usize>(D: &[f64], x: &[f64], y: &mut [f64]) {
    let Some(y) = y.first_chunk_mut::<N>() else { return };
    for (x, D) in x.iter().zip(D.as_chunks::<N>().0) {
        for i in 0..N {
            y[i] += D[i] * x;
        }
    }
}

/// y += D x of a block of `N` columns.
#[inline(always)]
fn add_rows<const N: usize>(D: &[f64], x: &[f64], y: &mut [f64]) {
    let Some(x) = x.first_chunk::<N>() else { return };
    for (y, D) in y.iter_mut().zip(D.as_chunks::<N>().0) {
        let mut sum = 0.0;
        for i in 0..N {
            sum += D[i] * x[i];
        }
        *y += sum;
    }
}
