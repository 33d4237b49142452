//! Dense QR with column pivoting, A P = Q R, by Householder reflections [Golub2013, section 5.4].
//!
//! The largest column that is left comes next, so that |R_kk| falls and says how much of the remaining columns is new:
//! their fall to rounding gives the rank, |R_00| / |R_kk| an estimate, from below, of the condition. Pivoting and elimination may be
//! kept to the first columns; the others are then only expressed in Q, and what is left of them below says whether the
//! first columns span them.
//!
//! Cost: O(m n r) for r steps on an m × n matrix, less where columns have few numbers in common; room is kept between factorizations, so that only
//! the first of a size allocates. Not for large sparse matrices, whose zeros are stored.

/// Below this a column's norm, taken down step by step, is computed anew [Golub2013, section 5.4.2].
const CANCELLED: f64 = 1e-8;
/// A reflection with fewer than one number in so many is applied number by number.
const SPARSE: usize = 4;

/// A factorization A P = Q R and the workspace for it.
#[derive(Debug, Clone, Default)]
pub struct PivotedQr {
    m: usize,
    n: usize,
    /// Steps made.
    steps: usize,
    /// R above the diagonal and on it, the reflections' vectors below; column by column.
    a: Vec<f64>,
    /// Factor of each reflection I - τ w wᵀ.
    tau: Vec<f64>,
    /// Identifies which column of A stands in each place.
    order: Vec<usize>,
    /// Norms of what is left of the columns, and what they were when last computed.
    norm: Vec<[f64; 2]>,
    /// Places of the numbers of a reflection's vector, below its first.
    support: Vec<usize>,
}

impl PivotedQr {
    /// Starts an m × n matrix of zeros; its columns are then filled.
    pub fn reset(&mut self, m: usize, n: usize) {
        (self.m, self.n, self.steps) = (m, n, 0);
        self.a.clear();
        self.a.resize(m * n, 0.0);
        self.order.clear();
        self.order.extend(0..n);
        self.tau.clear();
        self.norm.clear();
        self.norm.resize(n, [0.0; 2]);
    }

    /// Column `j`: before a factorization of A, after it of R and the reflections, in the order of [`order`](Self::order).
    pub fn column(&self, j: usize) -> &[f64] {
        &self.a[j * self.m..][..self.m]
    }

    /// Column `j`, to be filled.
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.a[j * self.m..][..self.m]
    }

    /// Factors with pivoting among the first `first` columns, in as many steps as they and the rows allow; the other
    /// columns become Qᵀ A.
    pub fn factor(&mut self, first: usize) {
        let first = first.min(self.n);
        self.steps = first.min(self.m);
        for j in 0..first {
            let norm = length(self.column(j));
            self.norm[j] = [norm; 2];
        }
        for k in 0..self.steps {
            let largest =
                (k..first).fold(k, |best, j| if self.norm[j][0] > self.norm[best][0] { j } else { best });
            self.swap(k, largest);
            self.eliminate(k, first);
        }
    }

    /// Factors with the columns in their own order, passing over those that `takes(j, length)` refuses, where `length` is what
    /// those taken before leave of column `j`; the refused stand behind in [`order`](Self::order).
    pub fn factor_in_order(&mut self, mut accepts: impl FnMut(usize, f64) -> bool) {
        for j in 0..self.n {
            let k = self.steps;
            if k == self.m {
                break;
            }
            if accepts(self.order[j], length(&self.column(j)[k..])) {
                self.swap(k, j);
                self.eliminate(k, 0);
                self.steps += 1;
            }
        }
    }

    /// The reflection of column `k`, applied to those after it; keeps the norms of the columns before `first`.
    fn eliminate(&mut self, k: usize, first: usize) {
        let m = self.m;
        let (done, rest) = self.a.split_at_mut((k + 1) * m);
        let w = &mut done[k * m + k..];
        let tau = reflect(w);
        self.tau.push(tau);
        let tail = &w[1..];
        let support = &mut self.support;
        support.clear();
        support.extend(tail.iter().enumerate().filter(|(_, w)| **w != 0.0).map(|(i, _)| i));
        let sparse = SPARSE * support.len() < tail.len();
        for (j, column) in (k + 1..self.n).zip(rest.chunks_exact_mut(m)) {
            let (top, below) = column[k..].split_at_mut(1);
            if sparse {
                apply_at(tau, tail, support, &mut top[0], below);
            } else {
                apply(tau, tail, &mut top[0], below);
            }
            if j < first {
                self.norm[j] = downdate_norm(self.norm[j], top[0], below);
            }
        }
    }

    fn swap(&mut self, k: usize, j: usize) {
        if k == j {
            return;
        }
        let (left, right) = self.a.split_at_mut(j * self.m);
        left[k * self.m..][..self.m].swap_with_slice(&mut right[..self.m]);
        self.order.swap(k, j);
        self.norm.swap(k, j);
    }

    /// Steps made: the lesser of rows and columns that took part.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns which column of A stands in each place.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// |R_kk|.
    pub fn pivot(&self, k: usize) -> f64 {
        self.a[k * self.m + k].abs()
    }

    /// The largest length, over the columns from `first` on, of what the first `rank` directions of Q leave of them.
    pub fn remainder(&self, rank: usize, first: usize) -> f64 {
        (first..self.n).fold(0.0, |largest: f64, j| largest.max(length(&self.column(j)[rank..])))
    }

    /// x ← Qᵀ x.
    pub fn mul_qt(&self, x: &mut [f64]) {
        for k in 0..self.steps {
            self.reflect_vector(k, x);
        }
    }

    /// x ← Q x.
    pub fn mul_q(&self, x: &mut [f64]) {
        for k in (0..self.steps).rev() {
            self.reflect_vector(k, x);
        }
    }

    fn reflect_vector(&self, k: usize, x: &mut [f64]) {
        let (top, below) = x[k..].split_at_mut(1);
        apply(self.tau[k], &self.column(k)[k + 1..], &mut top[0], below);
    }

    /// Factors of [R₁₁ R₁₂]ᵀ, the first `rank` rows of R, for solutions of least norm [Golub2013, section 5.4.7].
    pub fn complete(&self, rank: usize) -> Complete {
        let mut rows = PivotedQr::default();
        rows.reset(self.n, rank);
        for k in 0..rank {
            let row = rows.column_mut(k);
            (k..self.n).for_each(|j| row[self.order[j]] = self.a[j * self.m + k]);
        }
        rows.factor(rank);
        Complete { rows }
    }

    /// x ← R⁻¹ x for the leading block of R as large as x.
    pub fn solve_r(&self, x: &mut [f64]) {
        for k in (0..x.len()).rev() {
            let column = self.column(k);
            if x[k] == 0.0 {
                continue;
            }
            x[k] /= column[k];
            let xk = x[k];
            x[..k].iter_mut().zip(column).for_each(|(x, r)| *x -= r * xk);
        }
    }

    /// x ← R⁻ᵀ x for the leading block of R as large as x.
    pub fn solve_rt(&self, x: &mut [f64]) {
        for k in 0..x.len() {
            let column = self.column(k);
            let sum: f64 = x[..k].iter().zip(column).map(|(x, r)| r * x).sum();
            x[k] = (x[k] - sum) / column[k];
        }
    }
}

/// A complete orthogonal decomposition: A = Q [T 0; 0 0] Zᵀ up to a tolerance that the rank expresses.
#[derive(Debug, Clone)]
pub struct Complete {
    /// [R₁₁ R₁₂]ᵀ = Z T, its rows in the order of the columns of A.
    rows: PivotedQr,
}

impl Complete {
    /// The x of least norm with A x = `b` over the first directions of Q, `qr` being the factors that this came from.
    pub fn solve(&self, qr: &PivotedQr, b: &[f64]) -> Vec<f64> {
        let mut y = b.to_vec();
        qr.mul_qt(&mut y);
        let mut x = vec![0.0; self.rows.m];
        let rank = self.rows.n;
        (0..rank).for_each(|k| x[k] = y[self.rows.order[k]]);
        self.rows.solve_rt(&mut x[..rank]);
        self.rows.mul_q(&mut x);
        x
    }

    /// x less its part in the null space of A.
    pub fn remove_null(&self, x: &mut [f64]) {
        self.rows.mul_qt(x);
        x[self.rows.n..].fill(0.0);
        self.rows.mul_q(x);
    }
}

/// Turns `w` into its reflection's vector, with its length, signed, in the first place; the vector's own first number is
/// one. Returns τ.
fn reflect(w: &mut [f64]) -> f64 {
    let norm = length(w);
    if norm == 0.0 {
        return 0.0;
    }
    let first = w[0];
    let beta = if first > 0.0 { -norm } else { norm };
    let factor = 1.0 / (first - beta);
    w[1..].iter_mut().for_each(|w| *w *= factor);
    w[0] = beta;
    (beta - first) / beta
}

/// (top, below) ← (I - τ w wᵀ) (top, below), w = (1, tail).
#[inline]
fn apply(tau: f64, tail: &[f64], top: &mut f64, below: &mut [f64]) {
    let dot: f64 = tail.iter().zip(&*below).map(|(w, x)| w * x).sum();
    let factor = tau * (*top + dot);
    *top -= factor;
    below.iter_mut().zip(tail).for_each(|(x, w)| *x -= factor * w);
}

/// The same, where all numbers of `tail` stand at `support`.
fn apply_at(tau: f64, tail: &[f64], support: &[usize], top: &mut f64, below: &mut [f64]) {
    let dot: f64 = support.iter().map(|&i| tail[i] * below[i]).sum();
    let factor = tau * (*top + dot);
    if factor != 0.0 {
        *top -= factor;
        support.iter().for_each(|&i| below[i] -= factor * tail[i]);
    }
}

/// The norm of what is left of a column once `top` is taken from it.
fn downdate_norm([norm, computed]: [f64; 2], top: f64, below: &[f64]) -> [f64; 2] {
    if norm == 0.0 {
        return [norm, computed];
    }
    let left = (1.0 - (top / norm).powi(2)).max(0.0);
    if left * (norm / computed).powi(2) <= CANCELLED {
        [length(below); 2]
    } else {
        [norm * left.sqrt(), computed]
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(i: usize, j: usize) -> f64 {
        ((3 * i + 7 * j + i * j) as f64).sin()
    }

    fn fill(qr: &mut PivotedQr, m: usize, n: usize, of: impl Fn(usize, usize) -> f64) {
        qr.reset(m, n);
        for j in 0..n {
            qr.column_mut(j).iter_mut().enumerate().for_each(|(i, a)| *a = of(i, j));
        }
    }

    /// Q R gives back the columns in their order, for tall, square and wide matrices, in the workspace of the one before.
    #[test]
    fn the_factors_rebuild_the_matrix() {
        let mut qr = PivotedQr::default();
        for (m, n) in [(7, 4), (5, 5), (4, 9), (1, 3), (3, 1)] {
            fill(&mut qr, m, n, entry);
            qr.factor(n);
            assert_eq!(qr.steps(), m.min(n));
            for j in 0..n {
                let mut column = qr.column(j).to_vec();
                let retained = (j + 1).min(qr.steps());
                column[retained..].fill(0.0);
                qr.mul_q(&mut column);
                for (i, x) in column.iter().enumerate() {
                    assert!((x - entry(i, qr.order()[j])).abs() < 1e-14, "{m} x {n}: {i} {j}");
                }
            }
            for k in 1..qr.steps() {
                assert!(qr.pivot(k) <= qr.pivot(k - 1) * (1.0 + 1e-14), "pivots rise");
            }
        }
    }

    /// Rows that tie neighbours, as of a chain, in no order: reflections have few numbers, and the factors rebuild the matrix all the same.
    #[test]
    fn the_factors_of_a_matrix_with_many_zeros_rebuild_it() {
        let n = 60;
        let link = |i: usize| (i * 37) % (n - 1);
        let a = |i: usize, j: usize| if j == link(i) || j == link(i) + 1 { entry(i, j) + 1.5 } else { 0.0 };
        let mut qr = PivotedQr::default();
        fill(&mut qr, n - 1, n, a);
        qr.factor(n);
        for j in 0..n {
            let mut column = qr.column(j).to_vec();
            column[(j + 1).min(qr.steps())..].fill(0.0);
            qr.mul_q(&mut column);
            for (i, x) in column.iter().enumerate() {
                assert!((x - a(i, qr.order()[j])).abs() < 1e-13, "{i} {j}");
            }
        }
    }

    /// A 5 × 8 product of 5 × 3 and 3 × 8 factors: the solution is in the row space, and a change by a null vector is removed.
    #[test]
    fn solutions_of_least_norm_have_no_part_in_the_null_space() {
        let a = |i: usize, j: usize| (0..3).map(|k| entry(i, k) * entry(k + 20, j)).sum::<f64>();
        let mut qr = PivotedQr::default();
        fill(&mut qr, 5, 8, a);
        qr.factor(8);
        let complete = qr.complete(3);
        let b: Vec<f64> = (0..5).map(|i| (0..8).map(|j| a(i, j)).sum()).collect();
        let mut x = complete.solve(&qr, &b);
        for (i, b) in b.iter().enumerate() {
            let sum: f64 = (0..8).map(|j| a(i, j) * x[j]).sum();
            assert!((sum - b).abs() < 1e-13, "{sum} {b}");
        }
        // shorter than the ones that `b` came from, and orthogonal to what is between
        let between: Vec<f64> = x.iter().map(|x| 1.0 - x).collect();
        let product: f64 = between.iter().zip(&x).map(|(a, b)| a * b).sum();
        assert!(length(&x) < 8.0_f64.sqrt() && product.abs() < 1e-13, "{product}");
        let least = x.clone();
        x.iter_mut().zip(&between).for_each(|(x, n)| *x += 3.0 * n);
        complete.remove_null(&mut x);
        assert!(x.iter().zip(&least).all(|(a, b)| (a - b).abs() < 1e-13));
    }

    /// A 9 × 6 product of 9 × 3 and 3 × 6 factors: the fourth pivot is rounding.
    #[test]
    fn the_pivots_fall_to_rounding_at_the_rank() {
        let mut qr = PivotedQr::default();
        fill(&mut qr, 9, 6, |i, j| (0..3).map(|k| entry(i, k) * entry(k + 20, j)).sum());
        qr.factor(6);
        assert!(qr.pivot(2) > 1e-2 * qr.pivot(0) && qr.pivot(3) < 1e-14 * qr.pivot(0));
    }

    /// Tall and consistent, and its transpose, whose solution of least norm lies in the columns' span.
    #[test]
    fn least_squares_and_least_norm_solutions_are_found() {
        let (m, n) = (6, 3);
        let mut qr = PivotedQr::default();
        fill(&mut qr, m, n, entry);
        qr.factor(n);
        let x = [0.3, -1.2, 0.7];
        let mut b: Vec<f64> = (0..m).map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum()).collect();
        qr.mul_qt(&mut b);
        qr.solve_r(&mut b[..n]);
        for k in 0..n {
            assert!((b[k] - x[qr.order()[k]]).abs() < 1e-13);
        }

        let mut y: Vec<f64> = (0..n).map(|k| x[qr.order()[k]]).collect();
        qr.solve_rt(&mut y);
        y.resize(m, 0.0);
        qr.mul_q(&mut y);
        for j in 0..n {
            let product: f64 = (0..m).map(|i| entry(i, j) * y[i]).sum();
            assert!((product - x[j]).abs() < 1e-13);
        }
        qr.mul_qt(&mut y);
        assert!(y[n..].iter().all(|y| y.abs() < 1e-14), "a part across the columns makes it longer");
    }

    /// The third column is the sum of the first two, the fourth is across them.
    #[test]
    fn the_remainder_says_what_the_first_columns_do_not_span() {
        let columns = [[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, 2.0, 0.0], [5.0, 6.0, 0.25]];
        let mut qr = PivotedQr::default();
        fill(&mut qr, 3, 3, |i, j| columns[j][i]);
        qr.factor(2);
        assert!(qr.remainder(2, 2) < 1e-15);
        fill(&mut qr, 3, 4, |i, j| columns[j][i]);
        qr.factor(2);
        assert_eq!(qr.steps(), 2);
        assert!((qr.remainder(2, 2) - 0.25).abs() < 1e-15);
        assert_eq!(qr.order()[2..], [2, 3], "only the first columns are exchanged");
    }

    /// Of five columns the third is the sum of the first two and the fourth zero: both are passed over, the others keep their order.
    #[test]
    fn in_their_order_columns_that_others_span_are_passed_over() {
        let columns = |i: usize, j: usize| match j {
            2 => entry(i, 0) + entry(i, 1),
            3 => 0.0,
            _ => entry(i, j),
        };
        let mut qr = PivotedQr::default();
        fill(&mut qr, 6, 5, columns);
        qr.factor_in_order(|_, length| length > 1e-12);
        assert_eq!((qr.steps(), &qr.order()[..3]), (3, &[0, 1, 4][..]));
        for j in 0..5 {
            let mut column = qr.column(j).to_vec();
            column[(j + 1).min(3)..].fill(0.0);
            qr.mul_q(&mut column);
            for (i, x) in column.iter().enumerate() {
                assert!((x - columns(i, qr.order()[j])).abs() < 1e-14, "{i} {j}");
            }
        }
        // no more columns than rows
        fill(&mut qr, 2, 4, entry);
        qr.factor_in_order(|_, length| length > 1e-12);
        assert_eq!(qr.steps(), 2);
    }

    #[test]
    fn zero_and_empty_matrices_are_factored() {
        let mut qr = PivotedQr::default();
        for (m, n) in [(0, 0), (0, 3), (3, 0), (3, 2)] {
            qr.reset(m, n);
            qr.factor(n);
            assert!((0..qr.steps()).all(|k| qr.pivot(k) == 0.0));
            let mut x = vec![1.0; m];
            qr.mul_qt(&mut x);
            assert_eq!(x, vec![1.0; m]);
        }
    }
}
