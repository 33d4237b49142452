//! Rank of the constraints at one instant, and how sure it is.
//!
//! A = D J C with M⁻¹ = C Cᵀ and D such that rows have length 1: rows are compared as motions of the masses, in no
//! particular unit. Costs O(nc² nv) for the singular values: not for large models, whose rank comes from their factors.

use sarrus_math::solve::{Rank, RankError, rank};
use sarrus_solve::{Equations, Structure};

/// Singular values up to this count as zero, where a row alone has 1: assembled positions, and numbers typed from a
/// drawing, are not exact to roundoff.
pub const TOLERANCE: f64 = 1e-10;

/// D J C as a dense matrix by rows, nc × nv.
fn scaled_rows(s: &Structure, eq: &Equations) -> Vec<f64> {
    let mut A = vec![0.0; s.nc * s.nv];
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let n = col.size;
            let C = cholesky(&eq.minv[col.mass..][..n * n], n);
            for i in 0..row.size {
                let J = &eq.J[e.offset + i * n..][..n];
                let out = &mut A[(row.start + i) * s.nv + col.start..][..n];
                for j in 0..n {
                    out[j] = (j..n).map(|k| J[k] * C[k * n + j]).sum();
                }
            }
        }
    }
    for row in A.chunks_exact_mut(s.nv.max(1)) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
    A
}

/// Lower triangular C with C Cᵀ = `a`, symmetric positive definite of order n.
pub(crate) fn cholesky(a: &[f64], n: usize) -> Vec<f64> {
    let mut C = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| C[i * n + k] * C[j * n + k]).sum();
            let x = a[i * n + j] - sum;
            C[i * n + j] = if i == j { x.max(0.0).sqrt() } else { x / C[j * n + j] };
        }
    }
    C
}

/// Rank of the constraints at `eq`.
pub fn constraint_rank(s: &Structure, eq: &Equations) -> Result<Rank, RankError> {
    rank(&scaled_rows(s, eq), s.nc, s.nv, Some(TOLERANCE))
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

    /// A full block: the scaling must use all of M⁻¹, not its diagonal.
    #[test]
    fn cholesky_of_a_full_block_gives_it_back() {
        let a = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let C = cholesky(&a, 3);
        for i in 0..3 {
            for j in 0..3 {
                let x: f64 = (0..3).map(|k| C[i * 3 + k] * C[j * 3 + k]).sum();
                assert!((x - a[i * 3 + j]).abs() < 1e-14);
            }
        }
    }
}
