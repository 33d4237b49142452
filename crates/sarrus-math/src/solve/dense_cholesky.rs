//! Dense Cholesky factorization H = L Lᵀ of a symmetric positive definite matrix, in place.
//!
//! Cost: n³/3. Not for sparse matrices, nor for any that may be singular: a pivot that is not positive is handed back.

/// H by columns becomes L, of which only the lower triangle is read and written. Without room of its own.
///
/// An `Err` holds the first column whose pivot is not a positive number.
pub fn cholesky(h: &mut [f64], n: usize) -> Result<(), usize> {
    for k in 0..n {
        let (done, rest) = h.split_at_mut((k + 1) * n);
        let column = &mut done[k * n + k..];
        let pivot = column[0];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(k);
        }
        let root = pivot.sqrt();
        column[0] = root;
        column[1..].iter_mut().for_each(|l| *l /= root);
        for (j, to) in (k + 1..n).zip(rest.chunks_exact_mut(n)) {
            let below = &column[j - k..];
            let factor = below[0];
            to[j..].iter_mut().zip(below).for_each(|(h, l)| *h -= l * factor);
        }
    }
    Ok(())
}

/// x ← H⁻¹ x with the L of [`cholesky`].
pub fn cholesky_solve(l: &[f64], n: usize, x: &mut [f64]) {
    cholesky_forward(l, n, x);
    cholesky_backward(l, n, x);
}

/// x ← L⁻¹ x, the first half of it.
pub fn cholesky_forward(l: &[f64], n: usize, x: &mut [f64]) {
    for k in 0..n {
        let column = &l[k * n..][..n];
        x[k] /= column[k];
        let xk = x[k];
        x[k + 1..].iter_mut().zip(&column[k + 1..]).for_each(|(x, l)| *x -= l * xk);
    }
}

/// x ← L⁻ᵀ x, the second.
pub fn cholesky_backward(l: &[f64], n: usize, x: &mut [f64]) {
    for k in (0..n).rev() {
        let column = &l[k * n..][..n];
        let sum: f64 = x[k + 1..].iter().zip(&column[k + 1..]).map(|(x, l)| l * x).sum();
        x[k] = (x[k] - sum) / column[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H = B Bᵀ + I with B_ij = sin(i + 2 j).
    #[test]
    fn a_positive_definite_system_is_solved() {
        let n = 6;
        let b = |i: usize, j: usize| ((i + 2 * j) as f64).sin();
        let entry = |i: usize, j: usize| {
            (0..n).map(|k| b(i, k) * b(j, k)).sum::<f64>() + if i == j { 1.0 } else { 0.0 }
        };
        let mut h: Vec<f64> = (0..n * n).map(|k| entry(k % n, k / n)).collect();
        let x: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
        let mut solved: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum()).collect();
        cholesky(&mut h, n).unwrap();
        cholesky_solve(&h, n, &mut solved);
        for (a, b) in solved.iter().zip(&x) {
            assert!((a - b).abs() < 1e-13, "{solved:?}");
        }
    }

    #[test]
    fn an_indefinite_matrix_is_handed_back_with_its_pivot() {
        assert_eq!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2), Err(1));
        assert_eq!(cholesky(&mut [f64::NAN], 1), Err(0));
        assert_eq!(cholesky(&mut [], 0), Ok(()));
    }
}
