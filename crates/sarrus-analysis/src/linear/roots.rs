//! Eigenvalues of small motions, and how slow a mode may be before rounding hides it.
//!
//! Masses and springs: in the [basis](super::principal) of the linearization ZᵀKZ is diagonal, and each ω² is exact to the rounding of its own
//! terms in K. With dampers whose ZᵀDZ is diagonal (D = α M + β K and the like) each mode has its own s² + d s + ω² = 0, so that a fast mode's
//! damping costs a slow one no digits. Other dampers couple the modes: with ξ' = |ω| ξ of each the matrix is [0 ω; ∓ω -ZᵀDZ], of the size of its
//! largest eigenvalue, where that of A has the square of it; positions without stiffness are left out, so that their zeros are not double.
//!
//! Anything else: eigenvalues of A, with ξ' = w ξ likewise, w² the stiffness of each or more. Cyclic coordinates and families of steady motions make zeros in chains, which rounding would
//! spread over a circle of radius ε^(1/k) for a chain of k. A staircase takes them out first (Golub and Wilkinson 1976): with N the null space of A
//! and V = [N N⊥], VᵀA V = [0 *; 0 A'], and A' is treated likewise until it is regular. Other multiple roots keep half of their
//! digits. O(f³) for f degrees of freedom, once for each length of chain.

use super::linearize::Linearization;
use sarrus_math::solve::{EigenPair, NotDecomposed, Svd, eigenpairs};

/// The least weight of a position, relative to the largest rate: its square, which singular values are compared with, is some 10⁴ times rounding.
const SOFTEST: f64 = 1e-6;
/// Damping between modes up to this, relative to that of both, moves their roots by its square.
const APART: f64 = 1e-9;

/// Eigenvalues and vectors.
pub(super) struct Roots {
    /// Of a pair of conjugate values at least the upper one.
    pub pairs: Vec<EigenPair>,
    /// Eigenvalues up to this count as zero.
    pub zero: f64,
    /// Real parts up to this may be due to a motion that is not quite steady.
    pub growth: f64,
    /// Rounding in the matrix whose eigenvalues they are \[1/s\]: a double root s is off by the root of that times |s|.
    pub rounding: f64,
    /// Stiffnesses ω² up to this are hidden by rounding, by pair.
    pub hidden: Vec<f64>,
}

impl Roots {
    /// The real part, where that is more than rounding leaves of a double root.
    pub fn real_part(&self, value: [f64; 2]) -> f64 {
        let least = self.zero.max((self.rounding * size(value)).sqrt());
        if value[0].abs() > least { value[0] } else { 0.0 }
    }
}

pub(super) fn size([re, im]: [f64; 2]) -> f64 {
    re.hypot(im)
}

/// The roots of ẋ = A x.
pub(super) fn roots(linear: &Linearization) -> Result<Roots, NotDecomposed> {
    if let Some(D) = linear.symmetric() {
        if let Some(damping) = proportional(&D, &linear.damping_rounding) {
            return Ok(one_by_one(linear, &damping));
        }
        return together(linear, &D);
    }
    general(linear)
}

/// Eigenvalues of A, less its zeros, which are counted by the staircase.
fn general(linear: &Linearization) -> Result<Roots, NotDecomposed> {
    let n = linear.size();
    // positions times a rate, so that all entries are rates
    let (m, f) = (linear.positions + linear.speeds, linear.positions);
    let largest_of = |rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| {
        let row = |i: usize| linear.A[i * n..][cols.clone()].iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        rows.map(row).fold(0.0, f64::max)
    };
    let product = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
        (largest_of(a.clone(), b.clone()) * largest_of(b, a)).sqrt()
    };
    let parts = [0..f, f..m, m..n];
    let rate = (0..9).fold(0.0_f64, |most, k| most.max(product(parts[k / 3].clone(), parts[k % 3].clone())));
    if rate == 0.0 {
        let pairs = (0..n).map(|i| EigenPair { value: [0.0; 2], vector: unit(i, n) }).collect();
        return Ok(Roots { pairs, zero: 0.0, growth: 0.0, rounding: 0.0, hidden: vec![0.0; n] });
    }
    let stiffness = |i: usize| linear.stiffness[i].abs().max(largest_of(f..m, i..i + 1));
    // what is rounding shows least at the largest weight
    let is_stiff = |i: usize| stiffness(i) > linear.rounding[i];
    let weights: Vec<f64> = (0..f)
        .map(|i| if is_stiff(i) { stiffness(i).sqrt().clamp(SOFTEST * rate, rate) } else { rate })
        .collect();
    // states in units in which they change as much as they are changed
    let of_state = |k: usize| {
        let others = || (0..n).filter(|i| *i < m);
        let w = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let changes = others().fold(0.0_f64, |a, i| a.max((linear.A[i * n + k] * w(i)).abs()));
        let changed = others().fold(0.0_f64, |a, i| a.max((linear.A[k * n + i] / w(i)).abs()));
        if changes > 0.0 && changed > 0.0 { (changes / changed).sqrt() } else { 1.0 }
    };
    let of_states: Vec<f64> = (m..n).map(of_state).collect();
    let weight = |i: usize| match i {
        i if i < f => weights[i],
        i if i < m => 1.0,
        i => of_states[i - m],
    };
    let weighted: Vec<f64> = (0..n * n).map(|k| linear.A[k] * weight(k / n) / weight(k % n)).collect();
    let mut A = weighted.clone();
    let unsteady = linear.motion.as_ref().map_or(0.0, |m| if m.steady { m.residual } else { 0.0 });
    let rounded = (0..f).filter(|i| !is_stiff(*i)).map(|i| linear.rounding[i] / rate);
    let singular = rounded.fold(rate * (SOFTEST * SOFTEST).max(unsteady), f64::max);

    // what is left of A is VᵀA V, V orthonormal by columns
    let mut V: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|k| f64::from(u8::from(k == i))).collect()).collect();
    let (mut pairs, mut hidden, mut chain) = (Vec::new(), Vec::new(), 0);
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
            // a stiffness k of a position with the weight w is k/w
            let part = |i: usize| v[i] * v[i];
            let [mean, of_positions] =
                [&weights[..], &vec![1.0; f]].map(|w| (0..f).map(|i| part(i) * w[i]).sum::<f64>());
            hidden.push(singular * if of_positions > 0.0 { mean / of_positions } else { rate });
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
    // a root s of the block [0 w; -s²/w 0] is off by rounding · w/s
    let zero = (rounding(n) * largest * SOFTEST * rate).sqrt();
    let growth = zero.max(unsteady.sqrt() * largest);
    hidden.resize(pairs.len(), zero * zero);
    Ok(Roots { pairs, zero, growth, rounding: rounding(n) * largest, hidden })
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

/// The diagonal of ZᵀDZ, where the rest of it is rounding.
fn proportional(D: &[f64], least: &[f64]) -> Option<Vec<f64>> {
    let n = least.len();
    let mut own: Vec<f64> = (0..n).map(|i| D[i * n + i]).collect();
    let zero = rounding(n) * own.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
    for i in 0..n {
        for j in 0..i {
            let both = (own[i] * own[j]).abs().sqrt();
            if D[i * n + j].abs() > zero.max(APART * both) {
                return None;
            }
        }
    }
    own.iter_mut().zip(least).filter(|(d, least)| d.abs() <= **least).for_each(|(d, _)| *d = 0.0);
    Some(own)
}

/// The roots of modes that dampers couple.
fn together(linear: &Linearization, D: &[f64]) -> Result<Roots, NotDecomposed> {
    let f = linear.positions;
    let is_stiff = |i: &usize| linear.stiffness[*i].abs() > linear.rounding[*i];
    let stiff: Vec<usize> = (0..f).filter(is_stiff).collect();
    let (p, n) = (stiff.len(), stiff.len() + f);
    let mut A = vec![0.0; n * n];
    for (i, &mode) in stiff.iter().enumerate() {
        let k = linear.stiffness[mode];
        A[i * n + p + mode] = k.abs().sqrt();
        A[(p + mode) * n + i] = -k.abs().sqrt().copysign(k);
    }
    for i in 0..f {
        A[(p + i) * n + p..][..f].iter_mut().zip(&D[i * f..]).for_each(|(a, d)| *a = -d);
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
        let moved = |[a, b]: &[f64; 2]| [a * by[0] - b * by[1], a * by[1] + b * by[0]];
        pair.vector = pair.vector[p..].iter().map(moved).collect();
    }
    let mut hidden = vec![zero * zero; pairs.len()];
    for i in (0..f).filter(|i| !is_stiff(i)) {
        pairs.push(EigenPair { value: [0.0; 2], vector: unit(i, f) });
        hidden.push(linear.rounding[i]);
    }
    Ok(Roots { pairs, zero, growth: zero, rounding: zero, hidden })
}

fn unit(i: usize, n: usize) -> Vec<[f64; 2]> {
    (0..n).map(|k| [f64::from(u8::from(k == i)), 0.0]).collect()
}

/// s² + d s + k = 0 for each mode.
fn one_by_one(linear: &Linearization, damping: &[f64]) -> Roots {
    let (mut pairs, mut hidden) = (Vec::new(), Vec::new());
    for (i, (&k, &d)) in linear.stiffness.iter().zip(damping).enumerate() {
        let k = if k.abs() <= linear.rounding[i] { 0.0 } else { k };
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
        for value in values {
            pairs.push(EigenPair { value, vector: unit(i, linear.positions) });
            hidden.push(linear.rounding[i]);
        }
    }
    Roots { pairs, zero: 0.0, growth: 0.0, rounding: 0.0, hidden }
}
