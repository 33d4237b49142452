//! Eigenvalues of small motions, and how slow a mode may be before rounding hides it.
//!
//! Masses and springs: ω² and X of the symmetric K = ZᵀKZ, exact to n ε times the largest. With dampers whose XᵀDX is diagonal
//! (D = α M + β K and the like) each mode has its own s² + d s + ω² = 0, so that a fast mode's damping costs a slow one no digits.
//! Other dampers couple the modes: with ξ' = |ω| ξ of each the matrix is [0 ω; ∓ω -XᵀDX], of the size of its largest eigenvalue, where that of
//! A has the square of it; positions without stiffness are left out, so that their zeros are not double.
//!
//! Anything else: eigenvalues of A. Cyclic coordinates and families of steady motions make zeros in chains, which rounding would
//! spread over a circle of radius ε^(1/k) for a chain of k. A staircase takes them out first (Golub and Wilkinson 1976): with N the null space of A
//! and V = [N N⊥], VᵀA V = [0 *; 0 A'], and A' is treated likewise until it is regular. Other multiple roots keep half of their
//! digits. O(f³) for f freedoms, once for each length of chain.

use super::linearize::Linearization;
use sarrus_math::solve::{EigenPair, NotDecomposed, Svd, eigenpairs, symmetric_eigenpairs};

/// What rounding leaves of the terms of a stiffness that cancel.
const ROUNDING: f64 = 1e-14;
/// The same of eigenvalues of a matrix that is not symmetric.
const ZERO_ROOT: f64 = 1e-6;
/// Damping between modes up to this, relative to that of both, moves their roots by its square.
const APART: f64 = 1e-9;

/// Eigenvalues and vectors.
pub(super) struct Roots {
    /// Of a pair of conjugate values at least the upper one.
    pub pairs: Vec<EigenPair>,
    /// Eigenvalues up to this count as zero.
    pub zero: f64,
    /// Real parts up to this count as zero.
    pub growth: f64,
    /// Stiffnesses ω² up to this are hidden by rounding.
    pub hidden: f64,
}

pub(super) fn size([re, im]: [f64; 2]) -> f64 {
    re.hypot(im)
}

/// The roots of ẋ = A x.
pub(super) fn roots(linear: &Linearization) -> Result<Roots, NotDecomposed> {
    if let Some([K, D]) = linear.symmetric() {
        let found = symmetric_eigenpairs(&K, linear.positions)?;
        if let Some(damping) = proportional(&D, &found) {
            return Ok(one_by_one(linear, found, &damping));
        }
        return together(linear, &D, &found);
    }
    general(linear)
}

/// Eigenvalues of A, less its zeros, which are counted by the staircase.
fn general(linear: &Linearization) -> Result<Roots, NotDecomposed> {
    let (n, f) = (linear.size(), linear.positions);
    // positions times a rate, so that all entries are rates
    let largest_of = |rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| {
        let row = |i: usize| linear.A[i * n..][cols.clone()].iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        rows.map(row).fold(0.0, f64::max)
    };
    let across = (largest_of(f..n, 0..f) * largest_of(0..f, f..n)).sqrt();
    let rate = across.max(largest_of(0..f, 0..f)).max(largest_of(f..n, f..n));
    if rate == 0.0 {
        let unit = |i: usize| (0..n).map(|k| [if k == i { 1.0 } else { 0.0 }, 0.0]).collect();
        let pairs = (0..n).map(|i| EigenPair { value: [0.0; 2], vector: unit(i) }).collect();
        return Ok(Roots { pairs, zero: 0.0, growth: 0.0, hidden: 0.0 });
    }
    let weight = |i: usize| if i < f { rate } else { 1.0 };
    let weighted: Vec<f64> = (0..n * n).map(|k| linear.A[k] * weight(k / n) / weight(k % n)).collect();
    let mut A = weighted.clone();
    let unsteady = linear.motion.as_ref().map_or(0.0, |m| if m.steady { m.residual } else { 0.0 });
    let singular = (rate * (ZERO_ROOT * ZERO_ROOT).max(unsteady)).max(ROUNDING * linear.scale / rate);

    // what is left of A is VᵀA V, V orthonormal by columns
    let mut V: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|k| f64::from(u8::from(k == i))).collect()).collect();
    let (mut pairs, mut chain) = (Vec::new(), 0);
    let unweighted = |vector: Vec<[f64; 2]>| -> Vec<[f64; 2]> {
        vector.into_iter().enumerate().map(|(i, x)| x.map(|x| x / weight(i))).collect()
    };
    while !V.is_empty() {
        let left = V.len();
        let mut svd = Svd::full(left, left);
        svd.factor(&A)?;
        let rank = svd.sigma().iter().take_while(|s| **s > singular).count();
        if rank == left {
            break;
        }
        let rotated: Vec<Vec<f64>> = (0..left)
            .map(|i| {
                let mut v = vec![0.0; n];
                for (part, old) in svd.right(i).iter().zip(&V) {
                    v.iter_mut().zip(old).for_each(|(v, old)| *v += part * old);
                }
                v
            })
            .collect();
        for v in &rotated[rank..] {
            let vector = unweighted(v.iter().map(|x| [*x, 0.0]).collect());
            pairs.push(EigenPair { value: [0.0; 2], vector });
        }
        // A' = N⊥ᵀA N⊥ = N⊥ᵀU Σ of the regular part
        let mut next = vec![0.0; rank * rank];
        for j in 0..rank {
            for i in 0..rank {
                let product: f64 = svd.right(i).iter().zip(svd.left(j)).map(|(a, b)| a * b).sum();
                next[i * rank + j] = product * svd.sigma()[j];
            }
        }
        A = next;
        chain += 1;
        V = rotated;
        V.truncate(rank);
    }
    let mut largest = 0.0_f64;
    for pair in eigenpairs(&A, V.len())? {
        largest = largest.max(size(pair.value));
        // what the vector has in the chains of zeros: it is there after as many products as they are long
        let mut vector = vec![[0.0; 2]; n];
        for (factor, v) in pair.vector.iter().zip(&V) {
            for (x, v) in vector.iter_mut().zip(v) {
                (0..2).for_each(|part| x[part] += factor[part] * v);
            }
        }
        (0..chain).for_each(|_| vector = multiply_over(&weighted, &vector, pair.value));
        pairs.push(EigenPair { value: pair.value, vector: unweighted(vector) });
    }
    let zero = (ZERO_ROOT * largest).max((ROUNDING * linear.scale).sqrt());
    let growth = zero.max(unsteady.sqrt() * largest);
    Ok(Roots { pairs, zero, growth, hidden: (zero * zero).max(rate * singular) })
}

/// A x/λ.
fn multiply_over(A: &[f64], x: &[[f64; 2]], [re, im]: [f64; 2]) -> Vec<[f64; 2]> {
    let square = re * re + im * im;
    A.chunks_exact(x.len())
        .map(|row| {
            let [a, b] = [0, 1].map(|part| row.iter().zip(x).map(|(a, x)| a * x[part]).sum::<f64>());
            [(a * re + b * im) / square, (b * re - a * im) / square]
        })
        .collect()
}

/// n ε with room for the constant.
fn rounding(n: usize) -> f64 {
    4.0 * n as f64 * f64::EPSILON
}

/// The diagonal of XᵀDX, where the rest of it is rounding.
fn proportional(D: &[f64], found: &[(f64, Vec<f64>)]) -> Option<Vec<f64>> {
    let n = found.len();
    if D.iter().all(|d| *d == 0.0) {
        return Some(vec![0.0; n]);
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let DX: Vec<Vec<f64>> =
        found.iter().map(|(_, x)| D.chunks_exact(n).map(|row| dot(row, x)).collect()).collect();
    let mut own: Vec<f64> = found.iter().zip(&DX).map(|((_, x), Dx)| dot(x, Dx)).collect();
    let zero = rounding(n) * own.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
    for (i, (_, x)) in found.iter().enumerate() {
        for j in 0..i {
            let both = (own[i] * own[j]).abs().sqrt();
            if dot(x, &DX[j]).abs() > zero.max(APART * both) {
                return None;
            }
        }
    }
    own.iter_mut().filter(|d| d.abs() <= zero).for_each(|d| *d = 0.0);
    Some(own)
}

/// Stiffnesses up to this are rounding.
fn hidden(linear: &Linearization, found: &[(f64, Vec<f64>)]) -> f64 {
    let largest = found.iter().fold(0.0_f64, |a, (k, _)| a.max(k.abs()));
    (rounding(found.len()) * largest).max(ROUNDING * linear.scale)
}

/// The roots of modes that dampers couple.
fn together(linear: &Linearization, D: &[f64], found: &[(f64, Vec<f64>)]) -> Result<Roots, NotDecomposed> {
    let (f, hidden) = (found.len(), hidden(linear, found));
    let stiff: Vec<usize> = (0..f).filter(|i| found[*i].0.abs() > hidden).collect();
    let (p, n) = (stiff.len(), stiff.len() + f);
    let mut A = vec![0.0; n * n];
    for (i, &mode) in stiff.iter().enumerate() {
        let k = found[mode].0;
        A[i * n + p + mode] = k.abs().sqrt();
        A[(p + mode) * n + i] = -k.abs().sqrt().copysign(k);
    }
    for (j, (_, x)) in found.iter().enumerate() {
        let Dx: Vec<f64> = D.chunks_exact(f).map(|row| row.iter().zip(x).map(|(d, x)| d * x).sum()).collect();
        for (i, (_, y)) in found.iter().enumerate() {
            A[(p + i) * n + p + j] = -y.iter().zip(&Dx).map(|(y, d)| y * d).sum::<f64>();
        }
    }
    let largest = A.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let zero = rounding(n) * largest;
    let mut pairs = eigenpairs(&A, n)?;
    for pair in &mut pairs {
        // displacements from velocities: η = s ξ, and of a zero the velocities themselves
        let [re, im] = pair.value;
        let by = if size(pair.value) > zero {
            [re / (re * re + im * im), -im / (re * re + im * im)]
        } else {
            [1.0, 0.0]
        };
        let mut vector = vec![[0.0; 2]; f];
        for (j, (_, x)) in found.iter().enumerate() {
            let [a, b] = pair.vector[p + j];
            let factor = [a * by[0] - b * by[1], a * by[1] + b * by[0]];
            for (v, x) in vector.iter_mut().zip(x) {
                v[0] += factor[0] * x;
                v[1] += factor[1] * x;
            }
        }
        pair.vector = vector;
    }
    for (_, x) in found.iter().filter(|(k, _)| k.abs() <= hidden) {
        pairs.push(EigenPair { value: [0.0; 2], vector: x.iter().map(|x| [*x, 0.0]).collect() });
    }
    Ok(Roots { pairs, zero, growth: zero, hidden: hidden.max(zero * zero) })
}

/// s² + d s + k = 0 for each mode.
fn one_by_one(linear: &Linearization, found: Vec<(f64, Vec<f64>)>, damping: &[f64]) -> Roots {
    let hidden = hidden(linear, &found);
    let pairs = found.into_iter().zip(damping).flat_map(|((k, x), &d)| {
        let k = if k.abs() <= hidden { 0.0 } else { k };
        let vector: Vec<[f64; 2]> = x.iter().map(|x| [*x, 0.0]).collect();
        let square = 0.25 * d * d - k;
        let values = if k == 0.0 && d == 0.0 {
            vec![[0.0, 0.0]]
        } else if square < 0.0 {
            vec![[-0.5 * d, (-square).sqrt()]]
        } else {
            // the larger root, and the other from their product: no digits cancel
            let far = -(0.5 * d + square.sqrt().copysign(d));
            let near = k / far;
            vec![[far.max(near), 0.0], [far.min(near), 0.0]]
        };
        values.into_iter().map(move |value| EigenPair { value, vector: vector.clone() })
    });
    Roots { pairs: pairs.collect(), zero: 0.0, growth: 0.0, hidden }
}
