//! Eigenvalues and eigenvectors of dense matrices, by rows: symmetric ones, and any.
//!
//! Cost: O(n³) with a large constant. Allocates. Not for sparse matrices.

use super::dense_pinv::NotDecomposed;
use faer::{MatRef, Side};

/// An eigenvalue with its vector, real and imaginary parts.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenPair {
    /// The eigenvalue.
    pub value: [f64; 2],
    /// Its vector.
    pub vector: Vec<[f64; 2]>,
}

/// Eigenpairs of the n × n matrix `a`, in no order.
pub fn eigenpairs(a: &[f64], n: usize) -> Result<Vec<EigenPair>, NotDecomposed> {
    if n == 0 {
        return Ok(Vec::new());
    }
    let found = MatRef::from_row_major_slice(a, n, n).eigen().map_err(|_| NotDecomposed { m: n, n })?;
    let (values, vectors) = (found.S().column_vector(), found.U());
    let pair = |j: usize| EigenPair {
        value: [values[j].re, values[j].im],
        vector: (0..n).map(|i| [vectors[(i, j)].re, vectors[(i, j)].im]).collect(),
    };
    Ok((0..n).map(pair).collect())
}

/// Eigenvalues, lowest first, and orthonormal vectors of the symmetric n × n matrix `a`, of which the lower half is read.
pub fn symmetric_eigenpairs(a: &[f64], n: usize) -> Result<Vec<(f64, Vec<f64>)>, NotDecomposed> {
    if n == 0 {
        return Ok(Vec::new());
    }
    let found = MatRef::from_row_major_slice(a, n, n)
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| NotDecomposed { m: n, n })?;
    let (values, vectors) = (found.S().column_vector(), found.U());
    Ok((0..n).map(|j| (values[j], (0..n).map(|i| vectors[(i, j)]).collect())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A damped oscillator, ẍ + 2ζω ẋ + ω² x = 0, and what A does to its vectors.
    #[test]
    fn an_oscillator_has_its_roots() {
        let (omega, zeta) = (3.0, 0.1);
        let a = [0.0, 1.0, -omega * omega, -2.0 * zeta * omega];
        let pairs = eigenpairs(&a, 2).unwrap();
        let expected: f64 = omega * f64::sqrt(1.0 - zeta * zeta);
        for EigenPair { value: [re, im], vector: x } in &pairs {
            assert!((re + zeta * omega).abs() < 1e-14 && (im.abs() - expected).abs() < 1e-14, "{pairs:?}");
            for i in 0..2 {
                let product = [0, 1].map(|part| a[2 * i] * x[0][part] + a[2 * i + 1] * x[1][part]);
                let scaled = [re * x[i][0] - im * x[i][1], re * x[i][1] + im * x[i][0]];
                assert!((product[0] - scaled[0]).hypot(product[1] - scaled[1]) < 1e-14);
            }
        }
    }

    #[test]
    fn a_symmetric_matrix_has_its_values_in_order() {
        let pairs = symmetric_eigenpairs(&[2.0, 9.0, 1.0, 2.0], 2).unwrap();
        assert!((pairs[0].0 - 1.0).abs() < 1e-15 && (pairs[1].0 - 3.0).abs() < 1e-15, "{pairs:?}");
        assert!((pairs[0].1[0] + pairs[0].1[1]).abs() < 1e-15);
        assert!(symmetric_eigenpairs(&[], 0).unwrap().is_empty() && eigenpairs(&[], 0).unwrap().is_empty());
    }
}
