//! Products with M, M⁻¹ and J that know the common shapes of their blocks: a step is made of many.

use crate::problem::{Equations, Structure};

/// A block of M or M⁻¹.
#[derive(Debug, Clone, Copy)]
enum MassBlock {
    /// Diagonal, of so many numbers.
    Diagonal(usize),
    /// Three diagonal numbers and 3 × 3 by rows: a spatial body.
    Split,
    /// All numbers, by rows.
    Full(usize),
}

/// M or M⁻¹.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockDiagonal {
    /// Index in v, and the block.
    blocks: Vec<(usize, MassBlock)>,
    values: Vec<f64>,
}

impl BlockDiagonal {
    /// The blocks `matrix`, laid out as [`Equations::mass`].
    pub fn new(s: &Structure, matrix: &[f64]) -> BlockDiagonal {
        let mut out = BlockDiagonal::default();
        for col in &s.cols {
            let n = col.size;
            let entry = |i: usize, j: usize| matrix[col.mass + i * n + j];
            let zero_unless = |allowed: fn(usize, usize) -> bool| {
                (0..n).all(|i| (0..n).all(|j| i == j || allowed(i, j) || entry(i, j) == 0.0))
            };
            let block = if zero_unless(|_, _| false) {
                out.values.extend((0..n).map(|i| entry(i, i)));
                MassBlock::Diagonal(n)
            } else if n == 6 && zero_unless(|i, j| i >= 3 && j >= 3) {
                out.values.extend((0..3).map(|i| entry(i, i)));
                out.values.extend((0..9).map(|k| entry(3 + k / 3, 3 + k % 3)));
                MassBlock::Split
            } else {
                out.values.extend_from_slice(&matrix[col.mass..][..n * n]);
                MassBlock::Full(n)
            };
            out.blocks.push((col.start, block));
        }
        out
    }

    /// y += scale B x.
    pub fn add_mul(&self, scale: f64, x: &[f64], y: &mut [f64]) {
        self.each(x, x, y, |_, y, Bx| y + scale * Bx);
    }

    /// `out` = `base` + B x.
    pub fn add_to(&self, base: &[f64], x: &[f64], out: &mut [f64]) {
        self.each(base, x, out, |base, _, Bx| base + Bx);
    }

    /// y = B x.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        self.each(x, x, y, |_, _, Bx| Bx);
    }

    /// out = `update_kinematics`(base, out, B x), number by number.
    #[inline(always)]
    fn each(&self, base: &[f64], x: &[f64], out: &mut [f64], combine: impl Fn(f64, f64, f64) -> f64) {
        let mut values = &self.values[..];
        for &(start, block) in &self.blocks {
            match block {
                MassBlock::Diagonal(n) => {
                    let (b, rest) = values.split_at(n);
                    let (base, x, out) = (&base[start..][..n], &x[start..][..n], &mut out[start..][..n]);
                    for i in 0..n {
                        out[i] = combine(base[i], out[i], b[i] * x[i]);
                    }
                    values = rest;
                }
                MassBlock::Split => {
                    let (b, rest) = values.split_at(12);
                    let (base, x, out) = (&base[start..][..6], &x[start..][..6], &mut out[start..][..6]);
                    for i in 0..3 {
                        out[i] = combine(base[i], out[i], b[i] * x[i]);
                        let row = &b[3 + 3 * i..][..3];
                        let rotation = row[0] * x[3] + row[1] * x[4] + row[2] * x[5];
                        out[3 + i] = combine(base[3 + i], out[3 + i], rotation);
                    }
                    values = rest;
                }
                MassBlock::Full(n) => {
                    let (b, rest) = values.split_at(n * n);
                    let (base, x, out) = (&base[start..][..n], &x[start..][..n], &mut out[start..][..n]);
                    for ((out, base), row) in out.iter_mut().zip(base).zip(b.chunks_exact(n)) {
                        *out = combine(*base, *out, row.iter().zip(x).map(|(b, x)| b * x).sum::<f64>());
                    }
                    values = rest;
                }
            }
        }
    }

    /// xᵀ B y.
    pub fn dot(&self, x: &[f64], y: &[f64], workspace: &mut [f64]) -> f64 {
        self.mul(x, workspace);
        workspace.iter().zip(y).map(|(a, b)| a * b).sum()
    }
}

/// Calls `$f::<N, M>` for the sizes of ordinary joints and bodies, `$g` for any.
macro_rules! sized {
    ($n:expr, $m:expr, $f:ident($($arg:expr),*), $any:expr) => {
        match ($n, $m) {
            (1, 6) => $f::<1, 6>($($arg),*),
            (2, 6) => $f::<2, 6>($($arg),*),
            (3, 6) => $f::<3, 6>($($arg),*),
            (4, 6) => $f::<4, 6>($($arg),*),
            (5, 6) => $f::<5, 6>($($arg),*),
            (6, 6) => $f::<6, 6>($($arg),*),
            (1, 3) => $f::<1, 3>($($arg),*),
            (2, 3) => $f::<2, 3>($($arg),*),
            (3, 3) => $f::<3, 3>($($arg),*),
            _ => $any,
        }
    };
}

fn forward<const N: usize, const M: usize>(J: &[f64], x: &[f64], y: &mut [f64]) {
    let (Some(x), Some(y)) = (x.first_chunk::<M>(), y.first_chunk_mut::<N>()) else { return };
    for (y, J) in y.iter_mut().zip(J.chunks_exact(M)) {
        *y += (0..M).map(|j| J[j] * x[j]).sum::<f64>();
    }
}

fn transposed<const N: usize, const M: usize>(J: &[f64], scale: f64, x: &[f64], y: &mut [f64]) {
    let (Some(x), Some(y)) = (x.first_chunk::<N>(), y.first_chunk_mut::<M>()) else { return };
    let mut sum = [0.0; M];
    for (x, J) in x.iter().zip(J.chunks_exact(M)) {
        for j in 0..M {
            sum[j] += J[j] * x;
        }
    }
    for j in 0..M {
        y[j] += scale * sum[j];
    }
}

/// y += J x.
pub(crate) fn add_J_mul(s: &Structure, eq: &Equations, x: &[f64], y: &mut [f64]) {
    add_J_mul_each(s, eq, [x], [y]);
}

/// y += Jᵀ x.
pub(crate) fn add_Jt_mul(s: &Structure, eq: &Equations, x: &[f64], y: &mut [f64]) {
    add_Jt_mul_each(s, eq, [1.0], [x], [y]);
}

/// y += J x for K pairs: J, which is the largest array of all, is read once.
pub(crate) fn add_J_mul_each<const K: usize>(
    s: &Structure,
    eq: &Equations,
    x: [&[f64]; K],
    mut y: [&mut [f64]; K],
) {
    for row in &s.rows {
        let n = row.size;
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let m = col.size;
            let J = &eq.J[e.offset..][..n * m];
            for (x, y) in x.iter().zip(&mut y) {
                let (x, y) = (&x[col.start..][..m], &mut y[row.start..][..n]);
                sized!(n, m, forward(J, x, y), {
                    for (y, J) in y.iter_mut().zip(J.chunks_exact(m)) {
                        *y += J.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                    }
                });
            }
        }
    }
}

/// y += scale Jᵀ x for K pairs, as [`add_J_mul_each`].
pub(crate) fn add_Jt_mul_each<const K: usize>(
    s: &Structure,
    eq: &Equations,
    scale: [f64; K],
    x: [&[f64]; K],
    mut y: [&mut [f64]; K],
) {
    for row in &s.rows {
        let n = row.size;
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let m = col.size;
            let J = &eq.J[e.offset..][..n * m];
            for ((x, y), scale) in x.iter().zip(&mut y).zip(scale) {
                let (x, y) = (&x[row.start..][..n], &mut y[col.start..][..m]);
                sized!(n, m, transposed(J, scale, x, y), {
                    for (x, J) in x.iter().zip(J.chunks_exact(m)) {
                        y.iter_mut().zip(J).for_each(|(y, j)| *y += scale * j * x);
                    }
                });
            }
        }
    }
}
