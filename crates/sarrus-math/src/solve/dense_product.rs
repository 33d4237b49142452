//! Products of dense matrices given by their columns. Errors are relative to the sums of the sizes of the terms, entry by entry, as of plain sums.
//!
//! Cost: O(m n k), in blocks that stay in the cache. Allocates. Not for small or sparse matrices.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The columns one after the other.
fn packed(columns: &[Vec<f64>]) -> Vec<f64> {
    columns.iter().flatten().copied().collect()
}

/// AᵀB by rows, from the columns of both, which have one length.
pub fn transposed_product(A: &[Vec<f64>], B: &[Vec<f64>]) -> Vec<f64> {
    let (m, n) = (A.len(), B.len());
    let mut out = vec![0.0; m * n];
    let Some(k) = A.first().or(B.first()).map(Vec::len).filter(|k| m * n * k > 0) else { return out };
    let [a, b] = [A, B].map(packed);
    matmul(
        MatMut::from_row_major_slice_mut(&mut out, m, n),
        Accum::Replace,
        MatRef::from_row_major_slice(&a, m, k),
        MatRef::from_column_major_slice(&b, k, n),
        1.0,
        Par::Seq,
    );
    out
}

/// Columns of A X, from the columns of both.
pub fn combinations(A: &[Vec<f64>], X: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (k, n) = (A.len(), X.len());
    let m = A.first().map_or(0, Vec::len);
    if m * n == 0 {
        return vec![vec![0.0; m]; n];
    }
    let ([a, x], mut out) = ([A, X].map(packed), vec![0.0; m * n]);
    matmul(
        MatMut::from_column_major_slice_mut(&mut out, m, n),
        Accum::Replace,
        MatRef::from_column_major_slice(&a, m, k),
        MatRef::from_column_major_slice(&x, k, n),
        1.0,
        Par::Seq,
    );
    out.chunks_exact(m).map(<[f64]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns whose numbers are small whole ones, so that every sum is exact.
    fn whole(rows: usize, columns: usize, seed: usize) -> Vec<Vec<f64>> {
        let number = |i: usize, j: usize| ((7 * i + 13 * j + seed) * (i + 3 * j + 1) % 19) as f64 - 9.0;
        (0..columns).map(|j| (0..rows).map(|i| number(i, j)).collect()).collect()
    }

    #[test]
    fn products_are_the_sums_of_their_terms() {
        for (k, m, n) in [(1, 1, 1), (5, 3, 4), (40, 17, 23), (3, 0, 2), (0, 3, 2), (70, 65, 9)] {
            let (A, B) = (whole(k, m, 1), whole(k, n, 5));
            let product = transposed_product(&A, &B);
            assert_eq!(product.len(), m * n);
            for (i, a) in A.iter().enumerate() {
                for (j, b) in B.iter().enumerate() {
                    let due: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    assert_eq!(product[i * n + j], due, "{k} {m} {n}");
                }
            }
            let X = whole(m, n, 11);
            let made = combinations(&A, &X);
            assert_eq!(made.len(), n);
            for (z, x) in made.iter().zip(&X) {
                for (i, z) in z.iter().enumerate() {
                    let due: f64 = A.iter().zip(x).map(|(a, x)| a[i] * x).sum();
                    assert_eq!(*z, due, "{k} {m} {n}");
                }
            }
        }
    }
}
