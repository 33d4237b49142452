//! Cholesky factors of the few degrees of freedom of a joint.

use super::motion::MAX_JOINT_DOF;

/// L of a symmetric positive definite matrix L Lᵀ, by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factor {
    L: [[f64; MAX_JOINT_DOF]; MAX_JOINT_DOF],
}

impl Factor {
    /// Of nothing.
    pub const EMPTY: Factor = Factor { L: [[0.0; MAX_JOINT_DOF]; MAX_JOINT_DOF] };

    /// The factor of the n × n matrix whose lower part `at` gives; a pivot that is not positive becomes not a number.
    #[inline]
    pub fn new(n: usize, at: impl Fn(usize, usize) -> f64) -> Factor {
        let mut L = [[0.0; MAX_JOINT_DOF]; MAX_JOINT_DOF];
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = at(i, j) - (0..j).map(|k| L[i][k] * L[j][k]).sum::<f64>();
                L[i][j] = if i == j { sum.sqrt() } else { sum / L[j][j] };
            }
        }
        Factor { L }
    }

    /// x ← L⁻¹ x.
    #[inline]
    pub fn forward(&self, x: &mut [f64]) {
        for i in 0..x.len() {
            let sum: f64 = (0..i).map(|k| self.L[i][k] * x[k]).sum();
            x[i] = (x[i] - sum) / self.L[i][i];
        }
    }

    /// x ← L⁻ᵀ x.
    #[inline]
    pub fn backward(&self, x: &mut [f64]) {
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|k| self.L[k][i] * x[k]).sum();
            x[i] = (x[i] - sum) / self.L[i][i];
        }
    }

    /// Entry of L.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.L[i][j]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves() {
        let A = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]];
        let factor = Factor::new(3, |i, j| A[i][j]);
        let mut x = [1.0, -2.0, 0.3];
        factor.forward(&mut x);
        factor.backward(&mut x);
        for (row, b) in A.iter().zip([1.0, -2.0, 0.3]) {
            let sum: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((sum - b).abs() < 1e-15);
        }
    }
}
