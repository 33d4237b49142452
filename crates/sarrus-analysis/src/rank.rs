//! Rank of the constraints at one instant, and how sure it is.
//!
//! A = D J C with M⁻¹ = C Cᵀ and D such that rows have length 1: rows are compared as motions of the masses, in no
//! particular unit. Costs O(nc² nv) for the singular values: not for large models, whose rank comes from their factors.

use crate::components::Part;
use sarrus_math::solve::{Rank, RankError, cholesky, rank};
use sarrus_solve::{Equations, Structure};

/// Singular values up to this count as zero, where a row alone has 1: assembled positions, and numbers typed from a
/// drawing, are not exact to roundoff.
pub const TOLERANCE: f64 = 1e-10;

/// Why there is no rank.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConstraintRankError {
    /// The inverse of a body's mass matrix is not positive definite.
    #[error("the mass matrix of body {} is not positive definite", body + 1)]
    Mass {
        /// The body, as a block column of J.
        body: usize,
    },
    /// The matrix could not be decomposed.
    #[error(transparent)]
    Rank(#[from] RankError),
}

/// D J C of one part as a dense matrix by rows.
pub(crate) fn scaled_rows(
    s: &Structure,
    eq: &Equations,
    part: &Part,
) -> Result<Vec<f64>, ConstraintRankError> {
    let width: usize = part.cols.iter().map(|c| s.cols[*c].size).sum();
    let mut A = Vec::new();
    for row in part.rows.iter().map(|r| &s.rows[*r]) {
        let first = A.len();
        A.resize(first + row.size * width, 0.0);
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let n = col.size;
            // by columns
            let mut C = eq.minv[col.mass..][..n * n].to_vec();
            cholesky(&mut C, n).map_err(|_| ConstraintRankError::Mass { body: e.col })?;
            let place: usize = part.cols.iter().take_while(|c| **c != e.col).map(|c| s.cols[*c].size).sum();
            for i in 0..row.size {
                let J = &eq.J[e.offset + i * n..][..n];
                let out = &mut A[first + i * width + place..][..n];
                for j in 0..n {
                    out[j] = (j..n).map(|k| J[k] * C[j * n + k]).sum();
                }
            }
        }
    }
    for row in A.chunks_exact_mut(width.max(1)) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
    Ok(A)
}

/// Rank of the constraints at `eq`.
pub fn constraint_rank(s: &Structure, eq: &Equations) -> Result<Rank, ConstraintRankError> {
    let all = Part { rows: (0..s.rows.len()).collect(), cols: (0..s.cols.len()).collect() };
    Ok(rank(&scaled_rows(s, eq, &all)?, s.nc, s.nv, Some(TOLERANCE))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three point masses on a line, tied in pairs; the first tie twice, the last tied to ground twice.
    fn ties() -> (Structure, Equations) {
        let mut b = Structure::builder();
        let cols: Vec<usize> = (0..3).map(|_| b.column(1)).collect();
        b.row(1, 1, &cols[..2]);
        b.row(1, 1, &cols[..2]);
        b.row(1, 1, &cols[2..]);
        b.row(1, 1, &cols[2..]);
        let s = b.build(3, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.minv = vec![1.0, 1e-4, 100.0];
        eq.J = vec![1.0, -1.0, 500.0, -500.0, 1.0, 1e-3];
        (s, eq)
    }

    #[test]
    fn rank_does_not_depend_on_units_or_masses() {
        let (s, eq) = ties();
        let r = constraint_rank(&s, &eq).unwrap();
        assert_eq!(r.rank, 2);
        assert!(r.margin > 1e3, "{}", r.margin);
    }

    /// Rows that are orthogonal as motions of a body with a full M⁻¹ = C Cᵀ, but not as numbers: singular values are all 1.
    #[test]
    fn scaling_uses_all_of_the_mass() {
        let mut b = Structure::builder();
        let body = b.column(3);
        b.row(3, 3, &[body]);
        let s = b.build(3, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        // C = [2 0 0; 1 2 0; 0.3 0.35 2]
        eq.minv = vec![4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 4.2125];
        // rows of C⁻¹, each in another unit
        eq.J = vec![0.5, 0.0, 0.0, -2.5, 5.0, 0.0, -0.03125, -0.0875, 0.5];
        let r = constraint_rank(&s, &eq).unwrap();
        assert!(r.sigma.iter().all(|sigma| (sigma - 1.0).abs() < 1e-14), "{:?}", r.sigma);
    }

    #[test]
    fn a_mass_that_is_not_positive_is_an_error() {
        let (s, mut eq) = ties();
        eq.minv[1] = -1e-4;
        assert_eq!(constraint_rank(&s, &eq), Err(ConstraintRankError::Mass { body: 1 }));
    }
}
