//! Block LDLᵀ of S, all blocks N × N, and what its pivots tell.

use super::pattern::EliminationPattern;
use sarrus_math::lane::Lane;
use std::ops::Range;

/// A square block, by rows.
pub type Square<L, const N: usize> = [[L; N]; N];

/// The smallest pivot so far, as a fraction of its row's diagonal, without a division each.
#[derive(Debug, Clone, Copy)]
pub struct Pivots<L> {
    num: L,
    den: L,
    /// The smallest minor.
    least: L,
}

impl<L: Lane> Pivots<L> {
    #[inline(always)]
    pub fn new() -> Self {
        Pivots { num: L::splat(f64::MAX), den: L::splat(1.0), least: L::splat(f64::MAX) }
    }

    /// Takes note of the leading minors of a block.
    #[inline(always)]
    fn add<const N: usize>(&mut self, minors: &[L; N], scale: &[L; N]) {
        let mut before = L::splat(1.0);
        for i in 0..N {
            // the pivot over its row's diagonal
            let (top, below) = (minors[i], before * scale[i]);
            before = minors[i];
            let less = (top * self.den).lt(self.num * below);
            self.num = L::select(less, top, self.num);
            self.den = L::select(less, below, self.den);
            self.least = self.least.min(top);
        }
    }

    /// Takes note of those of other parts.
    #[inline(always)]
    pub fn merge(&mut self, other: &Pivots<L>) {
        let less = (other.num * self.den).lt(self.num * other.den);
        self.num = L::select(less, other.num, self.num);
        self.den = L::select(less, other.den, self.den);
        self.least = self.least.min(other.least);
    }

    /// The smallest; zero where a minor is not positive, as ratios then say nothing.
    #[inline(always)]
    pub fn smallest(&self) -> L {
        L::select(L::splat(0.0).lt(self.least), self.num / self.den, L::splat(0.0))
    }
}

/// S, then its factors: inverses of the diagonal blocks, and L.
#[derive(Debug, Clone)]
pub struct Factors<L, const N: usize> {
    /// Diagonal blocks of S, of which what is below the diagonal is not read; then the inverses of those of D.
    pub D: Vec<Square<L, N>>,
    /// Off-diagonal blocks of S, less what elimination takes from them.
    pub B: Vec<Square<L, N>>,
    /// Blocks of L.
    L: Vec<Square<L, N>>,
}

impl<L: Lane, const N: usize> Factors<L, N> {
    pub fn new(pattern: &EliminationPattern) -> Self {
        let zero = [[L::splat(0.0); N]; N];
        let blocks = vec![zero; pattern.below.len()];
        Factors { D: vec![zero; pattern.parts.len()], B: blocks.clone(), L: blocks }
    }

    /// The columns of all parts, with the right-hand side `x`.
    #[inline(always)]
    pub fn columns<'a>(&'a mut self, scale: &'a [[L; N]], x: &'a mut [[L; N]]) -> FactorColumns<'a, L, N> {
        let Factors { D, B, L: below } = self;
        FactorColumns { first: 0, first_block: 0, D, B, L: below, scale, x }
    }

    /// Adds to rows that are in no branch what their stand-ins have got; of S only where it is factored `anew`.
    #[inline(always)]
    pub fn collect(&mut self, pattern: &EliminationPattern, anew: bool, x: &mut [[L; N]]) {
        for branch in &pattern.subtrees {
            for (i, &to) in branch.stands_for.iter().enumerate() {
                let (from, to) = (branch.own.end + i, to as usize);
                let (right, own) = (x[from], self.D[from]);
                for i in 0..N {
                    x[to][i] += right[i];
                    for j in i..if anew { N } else { i } {
                        self.D[to][i][j] += own[i][j];
                    }
                }
            }
            for &(from, to) in branch.blocks.iter().filter(|_| anew) {
                let own = self.B[from as usize];
                for i in 0..N {
                    for j in 0..N {
                        self.B[to as usize][i][j] += own[i][j];
                    }
                }
            }
        }
    }
}

/// Marks where a pass over the columns is.
struct ColumnPosition {
    block: usize,
    left: usize,
    update: usize,
}

impl ColumnPosition {
    #[inline(always)]
    fn before(pattern: &EliminationPattern, k: usize) -> ColumnPosition {
        let block = pattern.begin(k);
        ColumnPosition {
            block,
            left: if k == 0 { 0 } else { pattern.left_ends[k - 1] as usize },
            update: if block == 0 { 0 } else { pattern.below[block - 1].updates as usize },
        }
    }
}

/// Some columns of the factors, and the same parts of a right-hand side.
pub struct FactorColumns<'a, L, const N: usize> {
    /// The first part, and its first block.
    first: usize,
    first_block: usize,
    D: &'a mut [Square<L, N>],
    B: &'a mut [Square<L, N>],
    L: &'a mut [Square<L, N>],
    scale: &'a [[L; N]],
    x: &'a mut [[L; N]],
}

impl<'a, L: Lane, const N: usize> FactorColumns<'a, L, N> {
    /// Those before part `k`, and the others.
    pub fn split(self, pattern: &EliminationPattern, k: usize) -> (Self, Self) {
        let FactorColumns { first, first_block, D, B, L: below, scale, x } = self;
        let (parts, blocks) = (k - first, pattern.begin(k) - first_block);
        let (D, D_later) = D.split_at_mut(parts);
        let (B, B_later) = B.split_at_mut(blocks);
        let (below, L_later) = below.split_at_mut(blocks);
        let (scale, scale_later) = scale.split_at(parts);
        let (x, x_later) = x.split_at_mut(parts);
        let later = FactorColumns {
            first: k,
            first_block: first_block + blocks,
            D: D_later,
            B: B_later,
            L: L_later,
            scale: scale_later,
            x: x_later,
        };
        (FactorColumns { first, first_block, D, B, L: below, scale, x }, later)
    }

    /// Factors the columns of some parts, where `D` and `B` hold S; takes the right-hand side along, as [`lower`](Columns::lower) does. Columns look left: what earlier ones
    /// take from a block is added up in registers, as lanes wait long for what they have just stored.
    #[inline(always)]
    pub fn factor(&mut self, pattern: &EliminationPattern, parts: Range<usize>, pivots: &mut Pivots<L>) {
        let mut position = ColumnPosition::before(pattern, parts.start);
        for k in parts {
            let own = self.eliminate_left(pattern, k, &mut position);
            let (inverse, minors) = invert(&own);
            self.D[k - self.first] = inverse;
            pivots.add(&minors, &self.scale[k - self.first]);
            for b in position.block..pattern.ends[k] as usize {
                let own = self.apply_updates(pattern, b, &mut position);
                self.L[b - self.first_block] = product(&own, &inverse);
            }
            position.block = pattern.ends[k] as usize;
        }
    }

    /// Computes what all columns of a branch take from its stand-ins.
    #[inline(always)]
    pub fn stand_in(&mut self, pattern: &EliminationPattern, parts: Range<usize>) {
        let mut position = ColumnPosition::before(pattern, parts.start);
        for k in parts {
            self.D[k - self.first] = self.eliminate_left(pattern, k, &mut position);
            for b in position.block..pattern.ends[k] as usize {
                self.apply_updates(pattern, b, &mut position);
            }
            position.block = pattern.ends[k] as usize;
        }
    }

    /// The diagonal block of part `k` less what earlier parts take, which the right-hand side is left with too.
    #[inline(always)]
    fn eliminate_left(
        &mut self,
        pattern: &EliminationPattern,
        k: usize,
        position: &mut ColumnPosition,
    ) -> Square<L, N> {
        let end = pattern.left_ends[k] as usize;
        let (mut own, mut right) = (self.D[k - self.first], self.x[k - self.first]);
        for left in &pattern.left[position.left..end] {
            let (b, column) = (left.block as usize - self.first_block, left.column as usize - self.first);
            subtract_symmetric(&mut own, &self.L[b], &self.B[b]);
            subtract_times(&mut right, &self.L[b], &self.x[column]);
        }
        if position.left < end {
            self.x[k - self.first] = right;
        }
        position.left = end;
        own
    }

    /// Block `b` less what earlier parts take.
    #[inline(always)]
    fn apply_updates(
        &mut self,
        pattern: &EliminationPattern,
        b: usize,
        position: &mut ColumnPosition,
    ) -> Square<L, N> {
        let end = pattern.below[b].updates as usize;
        let mut own = self.B[b - self.first_block];
        for u in &pattern.updates[position.update..end] {
            let [rows, columns] = [u.rows, u.columns].map(|b| b as usize - self.first_block);
            subtract_product(&mut own, &self.L[rows], &self.B[columns]);
        }
        if position.update < end {
            self.B[b - self.first_block] = own;
        }
        position.update = end;
        own
    }

    /// L⁻¹ x in place, of some parts, in the order of elimination, or of stand-ins.
    #[inline(always)]
    pub fn lower(&mut self, pattern: &EliminationPattern, parts: Range<usize>) {
        let mut begin = ColumnPosition::before(pattern, parts.start).left;
        for k in parts {
            let end = pattern.left_ends[k] as usize;
            let mut own = self.x[k - self.first];
            for left in &pattern.left[begin..end] {
                let F = &self.L[left.block as usize - self.first_block];
                subtract_times(&mut own, F, &self.x[left.column as usize - self.first]);
            }
            if begin < end {
                self.x[k - self.first] = own;
            }
            begin = end;
        }
    }

    /// L⁻ᵀ D⁻¹ x in place, of some parts, the last ones first: after [`lower`](Columns::lower) the solution.
    #[inline(always)]
    pub fn upper(&mut self, pattern: &EliminationPattern, parts: Range<usize>) {
        for k in parts.rev() {
            let begin = pattern.begin(k);
            let (z, D) = (self.x[k - self.first], &self.D[k - self.first]);
            let mut own = [L::splat(0.0); N];
            for i in 0..N {
                own[i] = D[i][0] * z[0];
                for j in 1..N {
                    own[i] += D[i][j] * z[j];
                }
            }
            for b in begin..pattern.ends[k] as usize {
                let from = &self.x[pattern.below[b].row as usize - self.first];
                let F = &self.L[b - self.first_block];
                for i in 0..N {
                    for j in 0..N {
                        own[j] -= F[i][j] * from[i];
                    }
                }
            }
            self.x[k - self.first] = own;
        }
    }
}

/// The inverse of a symmetric block of two or three rows, of which only what is on and above the diagonal is read, and its leading minors: the ratios of these are
/// the pivots of LDLᵀ. By cofactors, so that there is one division: divisions wait for each other.
#[inline(always)]
fn invert<L: Lane, const N: usize>(A: &Square<L, N>) -> (Square<L, N>, [L; N]) {
    let zero = L::splat(0.0);
    let mut out = ([[zero; N]; N], [zero; N]);
    if N == 2 {
        write(&mut out, two(A[0][0], A[0][1], A[1][1]));
    } else {
        write(&mut out, three([A[0][0], A[0][1], A[0][2]], [A[1][1], A[1][2]], A[2][2]));
    }
    out
}

/// The same sizes under another name: N is M.
#[inline(always)]
fn write<L: Lane, const N: usize, const M: usize>(
    (out, minors): &mut (Square<L, N>, [L; N]),
    (own, own_minors): (Square<L, M>, [L; M]),
) {
    for i in 0..M {
        minors[i] = own_minors[i];
        for j in 0..M {
            out[i][j] = own[i][j];
        }
    }
}

/// The inverse of [a b; b c], and its leading minors.
#[inline(always)]
fn two<L: Lane>(a: L, b: L, c: L) -> (Square<L, 2>, [L; 2]) {
    let det = a * c - b * b;
    let over = L::splat(1.0) / det;
    let off = -(b * over);
    ([[c * over, off], [off, a * over]], [a, det])
}

/// The inverse of a symmetric matrix of three rows, and its leading minors.
#[inline(always)]
fn three<L: Lane>([a, b, c]: [L; 3], [d, e]: [L; 2], f: L) -> (Square<L, 3>, [L; 3]) {
    let (x, y, z) = (d * f - e * e, c * e - b * f, b * e - c * d);
    let minor = a * d - b * b;
    let det = a * x + b * y + c * z;
    let over = L::splat(1.0) / det;
    let (x, y, z) = (x * over, y * over, z * over);
    let (u, v, w) = ((a * f - c * c) * over, (b * c - a * e) * over, minor * over);
    ([[x, y, z], [y, u, v], [z, v, w]], [a, minor, det])
}

/// A B.
#[inline(always)]
fn product<L: Lane, const N: usize>(A: &Square<L, N>, B: &Square<L, N>) -> Square<L, N> {
    let mut C = [[L::splat(0.0); N]; N];
    for i in 0..N {
        for j in 0..N {
            C[i][j] = A[i][0] * B[0][j];
        }
        for p in 1..N {
            for j in 0..N {
                C[i][j] += A[i][p] * B[p][j];
            }
        }
    }
    C
}

/// y -= A x.
#[inline(always)]
fn subtract_times<L: Lane, const N: usize>(y: &mut [L; N], A: &Square<L, N>, x: &[L; N]) {
    for i in 0..N {
        let mut sum = y[i];
        for j in 0..N {
            sum -= A[i][j] * x[j];
        }
        y[i] = sum;
    }
}

/// C -= A Bᵀ.
#[inline(always)]
fn subtract_product<L: Lane, const N: usize>(C: &mut Square<L, N>, A: &Square<L, N>, B: &Square<L, N>) {
    for i in 0..N {
        for j in 0..N {
            let mut sum = C[i][j];
            for p in 0..N {
                sum -= A[i][p] * B[j][p];
            }
            C[i][j] = sum;
        }
    }
}

/// The same for a symmetric product: on and above the diagonal.
#[inline(always)]
fn subtract_symmetric<L: Lane, const N: usize>(C: &mut Square<L, N>, A: &Square<L, N>, B: &Square<L, N>) {
    for i in 0..N {
        for j in i..N {
            let mut sum = C[i][j];
            for p in 0..N {
                sum -= A[i][p] * B[j][p];
            }
            C[i][j] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::{EliminationGroup, FactorBlock, Left};
    use super::*;

    /// Three parts, of which the first two meet.
    fn pattern(rows: usize) -> EliminationPattern {
        let part = |element: usize| EliminationGroup { element, records: 0..1, rows, start: element * rows };
        EliminationPattern {
            parts: (0..3).map(part).collect(),
            subtrees: Vec::new(),
            below: vec![FactorBlock { row: 1, updates: 0 }],
            ends: vec![1, 1, 1],
            updates: Vec::new(),
            left: vec![Left { block: 0, column: 0 }],
            left_ends: vec![0, 1, 1],
            couplings: Vec::new(),
            coupling_ends: vec![0],
            at_bodies: Vec::new(),
            body_ends: vec![0],
        }
    }

    /// [I B 0; Bᵀ I 0; 0 0 C] with B = diag(b) and ones on the diagonal of C, whose first two rows have c between them: the pivots of the middle are 1 - b², the
    /// smallest of C is 1 - c².
    fn factored<const N: usize>(b: [f64; N], c: f64) -> (Factors<f64, N>, f64) {
        let pattern = pattern(N);
        let mut factors = Factors::new(&pattern);
        for i in 0..N {
            (0..3).for_each(|k| factors.D[k][i][i] = 1.0);
            factors.B[0][i][i] = b[i];
        }
        factors.D[2][0][1] = c;
        let mut pivots = Pivots::new();
        factors.columns(&[[1.0; N]; 3], &mut [[0.0; N]; 3]).factor(&pattern, 0..3, &mut pivots);
        (factors, pivots.smallest())
    }

    fn near(a: f64, b: f64) -> bool {
        // a dozen roundings of numbers about one
        (a - b).abs() < 16.0 * f64::EPSILON
    }

    #[test]
    fn the_smallest_pivot_is_found_in_whatever_part_it_is() {
        assert!(near(factored([0.6, 0.8], 0.5).1, 0.36));
        assert!(near(factored([0.6, 0.5], 0.9).1, 0.19));
        assert!(near(factored([0.6, 0.8, 0.1], 0.5).1, 0.36));
        assert!(near(factored([0.1, 0.5, 0.6], 0.9).1, 0.19));
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_pivot_to_tell() {
        // an odd and an even number of negative pivots, the last part good or not: ratios of minors alone would be positive in several of these
        for c in [0.1, 0.7, 2.0] {
            for b in [[2.0, 0.1], [0.1, 2.0], [2.0, 1.0005], [1.0005, 2.0], [3.0, 3.0]] {
                assert_eq!(factored(b, c).1, 0.0, "{b:?} {c}");
                assert_eq!(factored([b[0], b[1], 0.3], c).1, 0.0, "{b:?} {c}");
                assert_eq!(factored([0.3, b[0], b[1]], c).1, 0.0, "{b:?} {c}");
                assert_eq!(factored([b[0], 0.3, b[1]], c).1, 0.0, "{b:?} {c}");
            }
        }
        assert_eq!(factored([0.5, 0.5], 2.0).1, 0.0);
        assert_eq!(factored([1.0, 0.5], 0.0).1, 0.0);
    }

    /// Solves with full blocks, and returns the largest residual.
    fn residual<const N: usize>() -> f64 {
        let pattern = pattern(N);
        let mut factors = Factors::<f64, N>::new(&pattern);
        for i in 0..N {
            for j in 0..N {
                let small = 0.3 + 0.2 * i as f64 - 0.35 * j as f64;
                factors.B[0][i][j] = small;
                // symmetric, and more than the rest of its row on the diagonal
                (0..3).for_each(|k| {
                    factors.D[k][i][j] = if i == j { 4.0 } else { 0.7 - 0.3 * (i + j + k) as f64 }
                });
            }
        }
        let (D, B) = (factors.D.clone(), factors.B[0]);
        let right = |k: usize, i: usize| 1.0 + i as f64 - 2.0 * k as f64;
        let mut x: [[f64; N]; 3] = std::array::from_fn(|k| std::array::from_fn(|i| right(k, i)));
        let mut later = x;
        // in two goes, and in one
        let (mut pivots, scale) = (Pivots::new(), [[4.0; N]; 3]);
        let mut columns = factors.columns(&scale, &mut x);
        columns.factor(&pattern, 0..1, &mut pivots);
        columns.factor(&pattern, 1..3, &mut pivots);
        factors.columns(&scale, &mut later).lower(&pattern, 0..3);
        assert_eq!(x, later);
        // all together, and the last alone
        let (mut columns, mut last) = factors.columns(&scale, &mut x).split(&pattern, 2);
        last.upper(&pattern, 2..3);
        columns.upper(&pattern, 0..2);
        let mut largest = 0.0_f64;
        for i in 0..N {
            for k in 0..3 {
                let mut rest = -right(k, i);
                for j in 0..N {
                    rest += D[k][i][j] * x[k][j];
                    rest += match k {
                        0 => B[j][i] * x[1][j],
                        1 => B[i][j] * x[0][j],
                        _ => 0.0,
                    };
                }
                largest = largest.max(rest.abs());
            }
        }
        largest
    }

    #[test]
    fn what_is_factored_is_solved() {
        // some hundred roundings of numbers below ten, and a condition below ten
        assert!(residual::<2>() < 1e-13, "{}", residual::<2>());
        assert!(residual::<3>() < 1e-13, "{}", residual::<3>());
    }
}
