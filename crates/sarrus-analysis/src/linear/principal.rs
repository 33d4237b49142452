//! A basis of free motions that is orthonormal in M and in which the symmetric part of the stiffness is diagonal.
//!
//! With N by elimination ([`super::basis`]), NᵀMN = C Cᵀ and NᵀKN + σ NᵀMN = G Gᵀ by Cholesky, whose errors are relative to the entries of each
//! row and column, C⁻¹G = U Σ Vᵀ gives Z = N C⁻ᵀU with ZᵀKZ = Σ² - σ. Σ are frequencies, not their squares: rounding of the fastest, ε ω_max, hides
//! frequencies of that size and not those of √ε ω_max. Vectors mix by as little, so ZᵀKZ, taken from K itself, has errors of
//! (ε ω_max)² beside the rounding of K's entries \[Demmel1992\]. σ is zero where K is positive definite, and otherwise the
//! least of a sequence that makes it so. O(f³) for f freedoms, O(nv f²) for the products.

use super::linearize::{dot, momentum, subtract_pairs};
use sarrus_math::solve::{NotDecomposed, Svd, cholesky, cholesky_backward, cholesky_forward};
use sarrus_solve::{Equations, Structure, Tangent};

/// Ratio of one shift σ to the last: the last one is at most this much too large, which costs its root in digits of slow modes.
const NEXT_SHIFT: f64 = 16.0;

/// The basis Z of the space that the columns of `N` span, softest first.
pub(super) fn principal(
    s: &Structure,
    eq: &Equations,
    tangent: &Tangent,
    N: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>, NotDecomposed> {
    let f = N.len();
    let failed = NotDecomposed { m: f, n: f };
    let stiff = |z: &Vec<f64>| {
        let mut y = vec![0.0; s.nv];
        subtract_pairs(s, tangent, &tangent.K, z, &mut y);
        y.iter_mut().for_each(|y| *y = -*y);
        y
    };
    let MN: Vec<Vec<f64>> = N.iter().map(|z| momentum(s, eq, z)).collect();
    let KN: Vec<Vec<f64>> = N.iter().map(stiff).collect();
    let mut M = vec![0.0; f * f];
    let mut K = vec![0.0; f * f];
    for i in 0..f {
        for j in 0..=i {
            (M[j * f + i], M[i * f + j]) = (dot(&N[i], &MN[j]), dot(&N[j], &MN[i]));
            let k = 0.5 * (dot(&N[i], &KN[j]) + dot(&N[j], &KN[i]));
            (K[j * f + i], K[i * f + j]) = (k, k);
        }
    }
    let mut C = M.clone();
    cholesky(&mut C, f).map_err(|_| failed)?;
    let combine = |x: &[f64]| {
        let mut z = vec![0.0; s.nv];
        for (x, n) in x.iter().zip(N).filter(|(x, _)| **x != 0.0) {
            z.iter_mut().zip(n).for_each(|(z, n)| *z += x * n);
        }
        z
    };
    let from_unit = |mut u: Vec<f64>| {
        cholesky_backward(&C, f, &mut u);
        combine(&u)
    };
    let Some(G) = shifted_root(&K, &M, f) else {
        let unit = |i: usize| (0..f).map(|k| f64::from(u8::from(k == i))).collect();
        return Ok((0..f).map(|i| from_unit(unit(i))).collect());
    };
    let mut Y = vec![0.0; f * f];
    for j in 0..f {
        let mut column = vec![0.0; f];
        column[j..].copy_from_slice(&G[j * f + j..(j + 1) * f]);
        cholesky_forward(&C, f, &mut column);
        column.iter().enumerate().for_each(|(i, y)| Y[i * f + j] = *y);
    }
    let mut svd = Svd::thin(f, f);
    svd.factor(&Y)?;
    Ok((0..f).rev().map(|i| from_unit(svd.left(i).to_vec())).collect())
}

/// G of K + σM = G Gᵀ, lower by columns, with the least σ that is tried; none where K is zero.
fn shifted_root(K: &[f64], M: &[f64], f: usize) -> Option<Vec<f64>> {
    let ratios = || (0..f).map(|i| K[i * f + i].abs() / M[i * f + i]);
    let largest = ratios().fold(0.0_f64, f64::max).max(K.iter().fold(0.0_f64, |a, k| a.max(k.abs())));
    if largest == 0.0 || !largest.is_finite() {
        return None;
    }
    let least = ratios().filter(|r| *r > 0.0).fold(largest, f64::min);
    let (mut sigma, mut next) = (0.0, f64::EPSILON * least);
    loop {
        let mut G: Vec<f64> = K.iter().zip(M).map(|(k, m)| k + sigma * m).collect();
        if cholesky(&mut G, f).is_ok() {
            return Some(G);
        }
        (sigma, next) = (next, NEXT_SHIFT * next);
        if !sigma.is_finite() {
            return None;
        }
    }
}
