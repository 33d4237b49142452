//! A basis of free motions that is orthonormal in M and in which the symmetric part of the stiffness is diagonal.
//!
//! With N by elimination ([`super::basis`]), NᵀMN = C Cᵀ by Cholesky, whose errors are relative to the entries of each row and column, and the
//! squares GᵀG of the stiffness ([`super::squares`]), G N C⁻ᵀ = U Σ Vᵀ gives Z = N C⁻ᵀV. Σ are frequencies, not their squares: rounding of
//! the fastest, ε ω_max, hides frequencies of that size and not those of √ε ω_max \[Demmel1992\].
//!
//! What is beside squares (loads, reactions, prestress) comes second, in that basis: H = Σ² + Zᵀ(K - GᵀG)Z, H + σ = L Lᵀ by Cholesky, which keeps the
//! grading of Σ, and the left vectors of L. σ is zero where H is positive definite, and otherwise the least of a sequence that makes it so.
//! O(f³) for f degrees of freedom, O(nv f²) for the products.

use super::linearize::momentum;
use super::squares::Squares;
use sarrus_math::solve::{
    NotDecomposed, Svd, cholesky, cholesky_backward, cholesky_forward, combinations, transposed_product,
};
use sarrus_solve::{Equations, Structure, Tangent};

/// Ratio of one shift σ to the last: the last one is at most this much too large, which costs its root in digits of slow modes.
const NEXT_SHIFT: f64 = 16.0;

/// Ratio of stiffnesses from which motions are separated by one step: its error is the square of what it takes out.
const STIFFER: f64 = 4.0;
/// The largest part that a step takes out: a larger one is none that singular vectors leave.
const SMALL: f64 = 1e-3;

/// The basis Z of the space that the columns of `N` span, softest first.
pub(super) fn principal(
    s: &Structure,
    eq: &Equations,
    layout: &Tangent,
    stiffness: &Squares,
    N: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>, NotDecomposed> {
    let f = N.len();
    let MN: Vec<Vec<f64>> = N.iter().map(|z| momentum(s, eq, z)).collect();
    let mut C = transposed_product(&MN, N);
    cholesky(&mut C, f).map_err(|_| NotDecomposed { m: f, n: f })?;
    let mut Y = Vec::new();
    for row in stiffness.rows.iter().filter(|row| row.positive) {
        let mut along: Vec<f64> = N.iter().map(|n| row.along(n).0).collect();
        cholesky_forward(&C, f, &mut along);
        Y.extend(along);
    }
    let mut svd = Svd::full(Y.len() / f.max(1), f);
    svd.factor(&Y)?;
    let from_unit = |i: usize| {
        let mut u = svd.right(i).to_vec();
        cholesky_backward(&C, f, &mut u);
        u
    };
    let units: Vec<Vec<f64>> = (0..f).rev().map(from_unit).collect();
    let Z = combinations(N, &units);
    if stiffness.is_positive() {
        return Ok(separate(s, layout, stiffness, Z));
    }
    // as Z, softest first
    let sigma = |i: usize| svd.sigma().get(f - 1 - i).map_or(0.0, |sigma| sigma * sigma);
    let beside: Vec<Vec<f64>> = Z.iter().map(|z| stiffness.add_squares(s, layout, z)).collect();
    let products = transposed_product(&Z, &beside);
    let mut H: Vec<f64> = (0..f * f).map(|k| 0.5 * (products[k] + products[k % f * f + k / f])).collect();
    (0..f).for_each(|i| H[i * f + i] += sigma(i));
    let Some(L) = shifted_root(&H, f) else { return Ok(separate(s, layout, stiffness, Z)) };
    let mut rows = vec![0.0; f * f];
    for j in 0..f {
        (j..f).for_each(|i| rows[i * f + j] = L[j * f + i]);
    }
    let mut svd = Svd::thin(f, f);
    svd.factor(&rows)?;
    let units: Vec<Vec<f64>> = (0..f).rev().map(|i| svd.left(i).to_vec()).collect();
    Ok(separate(s, layout, stiffness, combinations(&Z, &units)))
}

/// Takes out of each motion what it has of much stiffer ones, z_i - Σ z_j z_iᵀK z_j/(k_j - k_i): the singular vectors have ε ω_max/ω_j of them, and
/// entries of z only ε of their own.
fn separate(s: &Structure, layout: &Tangent, stiffness: &Squares, Z: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let f = Z.len();
    let K = stiffness.between(s, layout, &Z, &Z);
    let own = |i: usize| K[i * f + i];
    let least: Vec<f64> = Z.iter().map(|z| stiffness.along(s, layout, z).1).collect();
    let mut parts = vec![vec![0.0; f]; f];
    for i in 0..f {
        for j in (0..f).filter(|&j| own(j) > (STIFFER * own(i).abs()).max(least[j])) {
            let part = 0.5 * (K[i * f + j] + K[j * f + i]) / (own(j) - own(i));
            if part.abs() > SMALL {
                continue;
            }
            // a rotation by little, so that they stay orthonormal
            parts[i][j] -= part;
            parts[j][i] += part;
        }
    }
    if parts.iter().flatten().all(|part| *part == 0.0) {
        return Z;
    }
    let mut separated = combinations(&Z, &parts);
    separated.iter_mut().zip(&Z).for_each(|(out, z)| out.iter_mut().zip(z).for_each(|(out, z)| *out += z));
    separated
}

/// L of H + σ = L Lᵀ, lower by columns, with the least σ that is tried; none where H is zero.
fn shifted_root(H: &[f64], f: usize) -> Option<Vec<f64>> {
    let diagonal = || (0..f).map(|i| H[i * f + i].abs());
    let largest = H.iter().fold(0.0_f64, |a, h| a.max(h.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return None;
    }
    let least = diagonal().filter(|h| *h > 0.0).fold(largest, f64::min);
    let (mut sigma, mut next) = (0.0, f64::EPSILON * least);
    loop {
        let mut L = H.to_vec();
        (0..f).for_each(|i| L[i * f + i] += sigma);
        if cholesky(&mut L, f).is_ok() {
            return Some(L);
        }
        (sigma, next) = (next, NEXT_SHIFT * next);
        if !sigma.is_finite() {
            return None;
        }
    }
}
