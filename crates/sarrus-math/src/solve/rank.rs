//! Rank of a dense matrix from its singular values, and how sure it is.
//!
//! A = U Σ Vᵀ; the rank is the number of σ above the tolerance. Cost: O(m n min(m, n)): meant for diagnosis, not for
//! every step. With the vectors: [`Svd`](super::Svd).

use faer::MatRef;

/// Holds what could not be decomposed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RankError {
    /// The slice does not hold m × n entries.
    #[error("{m} x {n} matrix given as {len} entries")]
    Size {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// Entries given.
        len: usize,
    },
    /// An entry is infinite or not a number.
    #[error("entry in row {row}, column {column} is {value}")]
    NotFinite {
        /// Row of the first such entry.
        row: usize,
        /// Its column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// The tolerance is negative or not a number.
    #[error("rank tolerance {tolerance} is not a number from 0 up")]
    Tolerance {
        /// The tolerance given.
        tolerance: f64,
    },
    /// The singular value iteration did not converge.
    #[error("singular values of a {m} x {n} matrix did not converge")]
    NoConvergence {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
    },
}

/// A numerical rank.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericalRank {
    /// Number of singular values above the tolerance.
    pub rank: usize,
    /// Singular values up to this count as zero.
    pub tolerance: f64,
    /// The factor by which the tolerance would have to change for the rank to flip: the lesser of σ_rank/tolerance
    /// and tolerance/σ_(rank+1), ≥ 1; infinite if nothing could flip it.
    pub margin: f64,
    /// Singular values, largest first.
    pub sigma: Vec<f64>,
}

/// Rank of the m × n matrix `a` (row-major).
///
/// Without a `tolerance`, singular values up to 10 max(m, n) ε σ_max count as zero.
pub fn rank(a: &[f64], m: usize, n: usize, tolerance: Option<f64>) -> Result<NumericalRank, RankError> {
    let (a, scale) = check(a, m, n, tolerance)?;
    let sigma = if a.is_empty() {
        Vec::new()
    } else {
        let a = MatRef::from_row_major_slice(&a, m, n);
        a.singular_values().map_err(|_| RankError::NoConvergence { m, n })?
    };
    decide(sigma, scale, m, n, tolerance)
}

/// The entries, scaled where their squares would over- or underflow, and the factor that undoes it.
fn check(a: &[f64], m: usize, n: usize, tolerance: Option<f64>) -> Result<(Vec<f64>, f64), RankError> {
    if m.checked_mul(n) != Some(a.len()) {
        return Err(RankError::Size { m, n, len: a.len() });
    }
    if let Some(tolerance) = tolerance
        && (tolerance.is_nan() || tolerance < 0.0)
    {
        return Err(RankError::Tolerance { tolerance });
    }
    if let Some(i) = a.iter().position(|x| !x.is_finite()) {
        return Err(RankError::NotFinite { row: i / n, column: i % n, value: a[i] });
    }
    let largest = a.iter().fold(0.0, |x: f64, y| x.max(y.abs()));
    let scale = if largest == 0.0 || (1e-100..1e100).contains(&largest) { 1.0 } else { largest };
    Ok((a.iter().map(|x| x / scale).collect(), scale))
}

/// Counts the singular values above the tolerance.
fn decide(
    mut sigma: Vec<f64>,
    scale: f64,
    m: usize,
    n: usize,
    tolerance: Option<f64>,
) -> Result<NumericalRank, RankError> {
    if sigma.iter().any(|x| x.is_nan()) {
        return Err(RankError::NoConvergence { m, n });
    }
    for s in &mut sigma {
        *s = s.abs() * scale;
    }
    sigma.sort_by(|x, y| y.total_cmp(x));
    let largest = sigma.first().copied().unwrap_or(0.0);
    let tolerance = tolerance.unwrap_or(10.0 * m.max(n) as f64 * f64::EPSILON * largest);
    let rank = sigma.iter().take_while(|s| **s > tolerance).count();

    // each side of the cut, where there is one
    let above = if rank > 0 { sigma[rank - 1] / tolerance } else { f64::INFINITY };
    let below = match sigma.get(rank) {
        Some(&s) if s > 0.0 => tolerance / s,
        _ => f64::INFINITY,
    };
    Ok(NumericalRank { rank, tolerance, margin: above.min(below), sigma })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows (1, 2, 2), (2, 4, 4): σ = |(1, 2, 2)| √5 = 3√5 and 0.
    const TWICE: [f64; 6] = [1.0, 2.0, 2.0, 2.0, 4.0, 4.0];

    #[test]
    fn a_repeated_row_does_not_count() {
        let r = rank(&TWICE, 2, 3, None).unwrap();
        assert_eq!(r.rank, 1);
        assert!((r.sigma[0] - 3.0 * 5f64.sqrt()).abs() < 1e-14);
        assert!(r.sigma[1] < 1e-15);
        assert_eq!(r.tolerance, 30.0 * f64::EPSILON * r.sigma[0]);
        assert!(r.margin > 10.0, "{}", r.margin);
    }

    /// diag(1, 1e-6): the margin says how far the given tolerance is from either singular value.
    #[test]
    fn the_margin_is_the_distance_to_the_nearer_singular_value() {
        let a = [1.0, 0.0, 0.0, 1e-6];
        let at = |tolerance| rank(&a, 2, 2, Some(tolerance)).unwrap();
        assert_eq!((at(1e-4).rank, at(1e-7).rank, at(2.0).rank), (1, 2, 0));
        for (tolerance, margin) in [(1e-4, 100.0), (1e-1, 10.0), (1e-7, 10.0), (2.0, 2.0)] {
            assert!((at(tolerance).margin / margin - 1.0).abs() < 1e-12, "{tolerance}");
        }
        assert_eq!((at(0.0).rank, at(0.0).margin), (2, f64::INFINITY));
    }

    #[test]
    fn scale_does_not_matter() {
        for scale in [1e-305, 1e-160, 1.0, 1e160, 1e305] {
            let a = TWICE.map(|x| x * scale);
            let r = rank(&a, 2, 3, None).unwrap();
            assert_eq!(r.rank, 1, "{scale}");
            assert!((r.sigma[0] / scale / (3.0 * 5f64.sqrt()) - 1.0).abs() < 1e-13, "{scale}");
        }
    }

    #[test]
    fn the_zero_matrix_has_rank_zero_for_sure() {
        let r = rank(&[0.0; 6], 3, 2, None).unwrap();
        assert_eq!((r.rank, r.margin, r.sigma), (0, f64::INFINITY, vec![0.0; 2]));
    }

    #[test]
    fn empty_matrices_have_rank_zero() {
        for (m, n) in [(0, 0), (0, 3), (2, 0)] {
            let r = rank(&[], m, n, None).unwrap();
            assert_eq!((r.rank, r.margin), (0, f64::INFINITY));
        }
    }

    #[test]
    fn what_is_not_a_matrix_is_an_error() {
        let mut a = TWICE;
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            a[5] = bad;
            let e = rank(&a, 2, 3, None).unwrap_err();
            assert!(matches!(e, RankError::NotFinite { row: 1, column: 2, .. }));
        }
        assert_eq!(rank(&TWICE, 2, 2, None), Err(RankError::Size { m: 2, n: 2, len: 6 }));
        assert_eq!(rank(&[], usize::MAX, 2, None), Err(RankError::Size { m: usize::MAX, n: 2, len: 0 }));
        assert_eq!(rank(&TWICE, 2, 3, Some(-1.0)), Err(RankError::Tolerance { tolerance: -1.0 }));
        assert!(rank(&TWICE, 2, 3, Some(f64::NAN)).is_err());
    }

    /// A 60 × 40 product of 60 × 25 and 25 × 40 factors.
    #[test]
    fn larger_products_have_the_rank_of_their_inner_dimension() {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17 + i * j * 7) as f64).sin();
        let mut a = vec![0.0; 2400];
        for i in 0..60 {
            for j in 0..40 {
                a[40 * i + j] = (0..25).map(|k| entry(i, k) * entry(k + 100, j)).sum();
            }
        }
        let r = rank(&a, 60, 40, None).unwrap();
        assert_eq!(r.rank, 25, "{:?}", r.sigma);
        assert!(r.margin > 3.0, "{}", r.margin);
    }
}
