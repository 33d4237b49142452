//! Sparse LU with pivoting of a matrix given by its entries, for one solution or a few.
//!
//! Cost: that of a sparse factorization, symbolic part included, at every call. Not where the same pattern comes again and again.

use faer::prelude::Solve;
use faer::sparse::{SparseColMat, Triplet};
use faer::{ColMut, sparse::linalg::solvers::Lu};

/// A matrix that cannot be factored: singular, or with numbers that are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sparse matrix of {n} rows cannot be factored")]
pub struct NotFactored {
    /// Rows.
    pub n: usize,
}

/// Factors of a square matrix.
pub struct SparseLu {
    n: usize,
    lu: Lu<usize, f64>,
}

impl SparseLu {
    /// Factors the n × n matrix with the entries (row, column, value); those at one place add up.
    pub fn new(n: usize, entries: &[(usize, usize, f64)]) -> Result<SparseLu, NotFactored> {
        let triplets: Vec<Triplet<usize, usize, f64>> =
            entries.iter().map(|&(row, col, val)| Triplet { row, col, val }).collect();
        let matrix = SparseColMat::try_new_from_triplets(n, n, &triplets).map_err(|_| NotFactored { n })?;
        Ok(SparseLu { n, lu: matrix.sp_lu().map_err(|_| NotFactored { n })? })
    }

    /// x ← A⁻¹ x. An error where the result is no number.
    pub fn solve(&self, x: &mut [f64]) -> Result<(), NotFactored> {
        self.lu.solve_in_place(ColMut::from_slice_mut(x));
        if x.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(NotFactored { n: self.n }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_at_one_place_add_up_and_the_solution_fits() {
        // [[0 2] [3 1]], which needs pivoting
        let lu = SparseLu::new(2, &[(0, 1, 1.5), (0, 1, 0.5), (1, 0, 3.0), (1, 1, 1.0)]).unwrap();
        let mut x = [4.0, 8.0];
        lu.solve(&mut x).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15, "{x:?}");
    }

    #[test]
    fn a_singular_matrix_is_an_error() {
        let singular = SparseLu::new(2, &[(0, 0, 1.0), (1, 0, 1.0)]);
        assert!(singular.is_err() || singular.unwrap().solve(&mut [1.0, 2.0]).is_err());
        assert!(SparseLu::new(1, &[(3, 0, 1.0)]).is_err());
    }
}
