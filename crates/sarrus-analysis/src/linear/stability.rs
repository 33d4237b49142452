//! Decides whether a rest is stable: the sign of the least ω² of (K - ω²M) z + Jᵀν = 0, J z = 0.
//!
//! The eigenvalues of S = (K + σM)⁻¹M along the rows are 1/(ω² + σ), so that what is softest comes first in the Krylov space of S
//!; σ, far below what else there is, keeps free motions from making K singular. S is symmetric in the metric of M where all forces
//! have a potential, and its projection shows whether it is. Needs no pattern of mass beyond that of [`Equations`]. Cost: a sparse factorization and
//! some solutions with it. Not for forces without potential, nor for rows without a position level.

use super::linearize::{ROUNDING, momentum};
use super::squares::quadratic;
use sarrus_math::solve::symmetric_eigenpairs;
use sarrus_solve::{Equations, Structure, Tangent};

/// Dimensions of the space, at most: what is found first is the softest.
const DIMENSIONS: usize = 40;
/// A new direction of the space that is rounding, relative to what S makes of the one before.
const NOTHING: f64 = 1e-13;
/// Amount by which the projection of a symmetric S may be skew, relative.
const SKEW: f64 = 1e-6;
/// Extent to which a motion may lead off the rows, relative: one that does more is rounding that the space has gathered.
const OFF: f64 = 1e-6;
/// ω² that is not reported from that of a free motion, over σ.
const FREE: f64 = 10.0;

/// Holds what the forces do along the motions that the rows leave free.
pub(super) enum Curvature {
    /// A potential rises along all of them.
    Rises,
    /// It falls along this one.
    Decreasing(Vec<f64>),
    /// It falls along none, and is level along some within rounding.
    Level,
    /// The forces have no potential.
    Unsymmetric,
}

impl Curvature {
    /// Returns whether a rest is stable; None where that is not reported.
    pub fn is_stable(&self) -> Option<bool> {
        match self {
            Curvature::Rises => Some(true),
            Curvature::Decreasing(_) => Some(false),
            Curvature::Level | Curvature::Unsymmetric => None,
        }
    }
}

/// Returns what K does along the `free` motions; None where there are no numbers. `soften` is S M⁻¹, `tangent` without σM.
pub(super) fn curvature(
    s: &Structure,
    eq: &Equations,
    tangent: &Tangent,
    sigma: f64,
    free: usize,
    mut soften: impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Option<Curvature> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let size = |x: &[f64]| dot(x, &momentum(s, eq, x)).max(0.0).sqrt();
    let scaled = |x: &[f64], by: f64| -> Vec<f64> { x.iter().map(|x| by * x).collect() };
    // a force on everything, without the symmetry of any model
    let mut seed = 0.5_f64;
    let mut next = || {
        seed = (seed * 997.0 + 0.123_456_789).fract();
        seed - 0.5
    };
    let first: Vec<f64> = (0..s.nv).map(|_| next()).collect();
    let first = soften(&momentum(s, eq, &first))?;
    let length = size(&first);
    if !(length > 0.0) {
        return None;
    }
    let mut basis = vec![scaled(&first, 1.0 / length)];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < DIMENSIONS.min(free) {
        let mut x = soften(&momentum(s, eq, &basis[columns.len()]))?;
        let whole = size(&x);
        let mut column = vec![0.0; basis.len()];
        // twice is enough
        for _ in 0..2 {
            let p = momentum(s, eq, &x);
            let parts: Vec<f64> = basis.iter().map(|z| dot(z, &p)).collect();
            for ((z, part), sum) in basis.iter().zip(&parts).zip(&mut column) {
                x.iter_mut().zip(z).for_each(|(x, z)| *x -= part * z);
                *sum += part;
            }
        }
        let length = size(&x);
        columns.push(column);
        if !(length > NOTHING * whole) {
            break;
        }
        if let Some(last) = columns.last_mut() {
            last.push(length);
        }
        basis.push(scaled(&x, 1.0 / length));
    }
    let n = columns.len();
    let entry = |i: usize, j: usize| columns[j].get(i).copied().unwrap_or(0.0);
    let largest = columns.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
    let skew = |i: usize, j: usize| (entry(i, j) - entry(j, i)).abs() > SKEW * largest;
    if !largest.is_finite() {
        return None;
    }
    if (0..n).any(|j| (0..j).any(|i| skew(i, j))) {
        return Some(Curvature::Unsymmetric);
    }
    let symmetric: Vec<f64> = (0..n * n).map(|k| 0.5 * (entry(k / n, k % n) + entry(k % n, k / n))).collect();
    let pairs = symmetric_eigenpairs(&symmetric, n).ok()?;
    let motion =
        |y: &[f64]| -> Vec<f64> { (0..s.nv).map(|i| (0..n).map(|k| y[k] * basis[k][i]).sum()).collect() };
    // zᵀK z and what rounding leaves of it
    let along = |z: &[f64]| {
        let (k, terms) = quadratic(s, tangent, &tangent.K, z);
        (k, ROUNDING * terms)
    };
    let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let is_free = |z: &[f64]| {
        let mut rates = vec![0.0; s.nc];
        eq.add_J_mul(s, z, &mut rates);
        largest(&rates) <= OFF * largest(&eq.J) * largest(z)
    };
    for (_, y) in pairs.iter().filter(|(theta, _)| *theta < 0.0) {
        let z = motion(y);
        let (k, rounding) = along(&z);
        if k < -rounding && is_free(&z) {
            return Some(Curvature::Decreasing(z));
        }
    }
    let (theta, y) = pairs.last()?;
    let (k, rounding) = along(&motion(y));
    let rises = *theta > 0.0 && k > rounding && k > FREE * sigma;
    Some(if rises { Curvature::Rises } else { Curvature::Level })
}
