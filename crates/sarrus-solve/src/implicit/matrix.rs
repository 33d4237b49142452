//! The matrix of Newton's iteration for an implicit step, and its factors.
//!
//! ```text
//! [ M + γ D + β K T   Jᵀ ] [ Δz ]   [ r ]
//! [ J T              -ε  ] [ Δλ ] = [ c ]
//! ```
//!
//! z are the accelerations at the end of the step, γ = ∂v/∂z, β = ∂δ/∂z where q = q₀ ⊕ δ, and T turns a change of a rotation vector
//! δ into one about the body's own axes. The rows of the constraints are divided by β (positions) or γ (velocities), so that the matrix
//! has the size of M and J whatever the step: this is the scaling of \[Bottasso2007\] written for accelerations.
//!
//! Rows that depend on others are left out: Δλ = 0 there. ε is tiny against J M⁻¹ Jᵀ: it keeps the factors finite where J loses rank
//! for an instant, and Newton's iteration removes what it changes.
//!
//! Real, or complex for methods whose stages are taken apart.

use crate::error::SolveError;
use crate::problem::{Equations, GroupKind, Structure};
use crate::tangent::Tangent;
use sarrus_math::solve::{PatternLu, c64};

/// ε relative to the diagonal of J M⁻¹ Jᵀ.
const PROXIMAL: f64 = 1e-12;

/// A number that the matrix can be made of.
pub trait Number:
    sarrus_math::solve::Field + Copy + std::ops::AddAssign + std::ops::Mul<f64, Output = Self>
{
    /// A real number.
    fn real(x: f64) -> Self;
    /// Returns whether it is a number.
    fn is_finite(self) -> bool;
}

impl Number for f64 {
    fn real(x: f64) -> f64 {
        x
    }

    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

impl Number for c64 {
    fn real(x: f64) -> c64 {
        c64::new(x, 0.0)
    }

    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
}

/// Three velocities that are a rotation: first index in v, and T by rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RotationBlock {
    /// First index in v.
    pub start: usize,
    /// T.
    pub T: [[f64; 3]; 3],
}

impl RotationBlock {
    /// Every turn of `s`, with T = 1.
    pub fn all(s: &Structure) -> Vec<RotationBlock> {
        let spatial = s.groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity && g.len == 3);
        spatial.map(|g| RotationBlock { start: g.start, T: IDENTITY }).collect()
    }

    /// T of the rotation vector in `delta` (nv).
    pub fn set(&mut self, delta: &[f64]) {
        self.T = right_tangent([0, 1, 2].map(|i| delta[self.start + i]));
    }
}

const IDENTITY: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// T(θ) = 1 - (1 - cos θ)/θ² θ̃ + (θ - sin θ)/θ³ θ̃²: how the rotation exp(θ̃) changes about its own axes when θ does.
pub fn right_tangent(w: [f64; 3]) -> [[f64; 3]; 3] {
    let x = w.iter().map(|w| w * w).sum::<f64>();
    let (a, b) = if x < 1e-4 {
        (0.5 - x / 24.0 + x * x / 720.0, 1.0 / 6.0 - x / 120.0 + x * x / 5040.0)
    } else {
        let angle = x.sqrt();
        ((1.0 - angle.cos()) / x, (angle - angle.sin()) / (x * angle))
    };
    with_skew(w, -a, b, x)
}

/// The inverse of [`right_tangent`]: 1 + ½ θ̃ + (1/θ² - (1 + cos θ)/(2 θ sin θ)) θ̃².
pub fn right_tangent_inverse(w: [f64; 3]) -> [[f64; 3]; 3] {
    let x = w.iter().map(|w| w * w).sum::<f64>();
    let c = if x < 1e-4 {
        1.0 / 12.0 + x / 720.0 + x * x / 30240.0
    } else {
        let half = 0.5 * x.sqrt();
        (1.0 - half / half.tan()) / x
    };
    with_skew(w, 0.5, c, x)
}

/// 1 + a w̃ + b w̃², where x = |w|².
fn with_skew(w: [f64; 3], a: f64, b: f64, x: f64) -> [[f64; 3]; 3] {
    let mut T = IDENTITY;
    let skew = [[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]];
    for i in 0..3 {
        for j in 0..3 {
            let square = w[i] * w[j] - if i == j { x } else { 0.0 };
            T[i][j] += a * skew[i][j] + b * square;
        }
    }
    T
}

/// The matrix with the pattern of one problem.
pub struct IterationMatrix<N: Number> {
    nv: usize,
    lu: PatternLu<N>,
    /// Marks where the numbers of M, of the pairs of K and D, of Jᵀ, of J, and of the diagonal of the rows go.
    mass: Vec<usize>,
    pairs: Vec<usize>,
    transposed: Vec<usize>,
    rows: Vec<usize>,
    diagonal: Vec<usize>,
    /// K T, laid out as K.
    KT: Vec<f64>,
    /// Workspace for a block of J T.
    rotation: Vec<f64>,
    b: Vec<N>,
    factorizations: u64,
}

impl<N: Number> IterationMatrix<N> {
    /// Analyses the pattern of `s` and of `tangent`.
    pub fn new(s: &Structure, tangent: &Tangent) -> Result<IterationMatrix<N>, SolveError> {
        let mut entries = Vec::new();
        let block = |entries: &mut Vec<(usize, usize)>, rows: (usize, usize), cols: (usize, usize)| {
            (0..rows.1).for_each(|i| (0..cols.1).for_each(|j| entries.push((rows.0 + i, cols.0 + j))));
        };
        s.cols.iter().for_each(|c| block(&mut entries, (c.start, c.size), (c.start, c.size)));
        let mass = entries.len();
        for pair in &tangent.pairs {
            let [a, b] = pair.at.map(|i| (s.cols[i].start, s.cols[i].size));
            block(&mut entries, a, b);
        }
        let pairs = entries.len();
        let is_rotated = |entries: &mut Vec<(usize, usize)>, is_transposed: bool| {
            for row in &s.rows {
                for e in &s.entries[row.entries.clone()] {
                    let col = s.cols[e.col];
                    for i in 0..row.size {
                        let row = s.nv + row.start + i;
                        let index_of =
                            |j| if is_transposed { (col.start + j, row) } else { (row, col.start + j) };
                        entries.extend((0..col.size).map(index_of));
                    }
                }
            }
        };
        is_rotated(&mut entries, true);
        let transposed = entries.len();
        is_rotated(&mut entries, false);
        let rows = entries.len();
        entries.extend((0..s.nc).map(|i| (s.nv + i, s.nv + i)));

        let n = s.nv + s.nc;
        let (lu, indices) =
            PatternLu::new(n, &entries).map_err(|_| SolveError::TooLarge { blocks: entries.len() })?;
        let tallest = s.rows.iter().map(|r| r.size).max().unwrap_or(0);
        let widest = s.cols.iter().map(|c| c.size).max().unwrap_or(0);
        Ok(IterationMatrix {
            nv: s.nv,
            lu,
            mass: indices[..mass].to_vec(),
            pairs: indices[mass..pairs].to_vec(),
            transposed: indices[pairs..transposed].to_vec(),
            rows: indices[transposed..rows].to_vec(),
            diagonal: indices[rows..].to_vec(),
            KT: vec![0.0; tangent.K.len()],
            rotation: vec![0.0; tallest * widest],
            b: vec![N::real(0.0); n],
            factorizations: 0,
        })
    }

    /// Factorizations made so far.
    pub fn factorizations(&self) -> u64 {
        self.factorizations
    }

    /// Puts the matrix together and factors it. T comes from `turns`, which is empty where it is 1. `out` are the scalar rows that
    /// depend on others.
    pub fn factor(
        &mut self,
        s: &Structure,
        eq: &Equations,
        tangent: &Tangent,
        [gamma, beta]: [N; 2],
        rotations: &[RotationBlock],
        out: &[bool],
    ) -> Result<(), SolveError> {
        self.factorizations += 1;
        let values = &mut self.lu.values;
        values.fill(N::real(0.0));

        // M
        let mut indices = self.mass.iter();
        for col in &s.cols {
            let block = &eq.mass[col.mass..][..col.size * col.size];
            block.iter().zip(&mut indices).for_each(|(m, &to)| values[to] += N::real(*m));
        }

        // γ D + β K T
        let mut indices = self.pairs.iter();
        for pair in &tangent.pairs {
            let [a, b] = pair.at.map(|i| s.cols[i]);
            let n = a.size * b.size;
            let (K, D) = (&tangent.K[pair.offset..][..n], &tangent.D[pair.offset..][..n]);
            let angle = &mut self.KT[pair.offset..][..n];
            angle.copy_from_slice(K);
            rotate_block(angle, b.start, b.size, rotations);
            for ((K, D), &to) in angle.iter().zip(D).zip(&mut indices) {
                values[to] += beta * *K;
                values[to] += gamma * *D;
            }
        }

        // Jᵀ, and J T with its ε
        let (mut up, mut down) = (self.transposed.iter(), self.rows.iter());
        for row in &s.rows {
            let first = row.start;
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let n = row.size * col.size;
                let block = &eq.J[e.offset..][..n];
                let angle = &mut self.rotation[..n];
                angle.copy_from_slice(block);
                rotate_block(angle, col.start, col.size, rotations);
                for (k, ((J, JT), (&up, &down))) in
                    block.iter().zip(&*angle).zip((&mut up).zip(&mut down)).enumerate()
                {
                    if !out[first + k / col.size] {
                        values[up] += N::real(*J);
                        values[down] += N::real(*JT);
                    }
                }
                // ε
                let minv = &eq.minv[col.mass..][..col.size * col.size];
                for i in 0..row.size {
                    let J = &block[i * col.size..][..col.size];
                    let size: f64 = J.iter().enumerate().map(|(j, J)| J * J * minv[j * col.size + j]).sum();
                    values[self.diagonal[first + i]] += N::real(-PROXIMAL * size);
                }
            }
        }
        for (&to, _) in self.diagonal.iter().zip(out).filter(|(_, out)| **out) {
            values[to] = N::real(1.0);
        }
        if let Some(index) = values.iter().position(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite { quantity: "tangent", index });
        }
        self.lu.factor().map_err(|_| SolveError::Unsolved { velocity: 0, residual: f64::INFINITY })
    }

    /// y -= K T x with the numbers of the last factors.
    pub fn subtract_stiffness(&self, s: &Structure, tangent: &Tangent, x: &[f64], y: &mut [f64]) {
        for pair in &tangent.pairs {
            let [row, col] = pair.at.map(|i| s.cols[i]);
            let x = &x[col.start..][..col.size];
            let block = self.KT[pair.offset..][..row.size * col.size].chunks_exact(col.size);
            for (y, K) in y[row.start..][..row.size].iter_mut().zip(block) {
                *y -= K.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            }
        }
    }

    /// (Δz, Δλ) for the right-hand sides r and c, in their places.
    pub fn solve(&mut self, r: &mut [N], c: &mut [N]) -> Result<(), SolveError> {
        let (top, bottom) = self.b.split_at_mut(self.nv);
        top.copy_from_slice(r);
        bottom.copy_from_slice(c);
        let failed = |velocity| SolveError::Unsolved { velocity, residual: f64::INFINITY };
        self.lu.solve(&mut self.b).map_err(|_| failed(0))?;
        let (top, bottom) = self.b.split_at(self.nv);
        r.copy_from_slice(top);
        c.copy_from_slice(bottom);
        match self.b.iter().position(|x| !x.is_finite()) {
            Some(i) => Err(failed(i.min(self.nv.saturating_sub(1)))),
            None => Ok(()),
        }
    }
}

/// A block times T, in place: the columns of a rotation among its columns `start` ...
fn rotate_block(block: &mut [f64], start: usize, size: usize, rotations: &[RotationBlock]) {
    // turns come in the order of v
    let first = rotations.partition_point(|t| t.start < start);
    for t in rotations[first..].iter().take_while(|t| t.start < start + size) {
        let at = t.start - start;
        for row in block.chunks_exact_mut(size) {
            let old = [row[at], row[at + 1], row[at + 2]];
            for j in 0..3 {
                row[at + j] = (0..3).map(|k| old[k] * t.T[k][j]).sum();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tangent_of_a_turn_and_its_inverse_cancel() {
        for w in [[0.0; 3], [1e-3, -2e-3, 5e-4], [0.3, -0.2, 0.9], [1.2, 1.0, -1.4]] {
            let (T, S) = (right_tangent(w), right_tangent_inverse(w));
            for i in 0..3 {
                for j in 0..3 {
                    let x: f64 = (0..3).map(|k| T[i][k] * S[k][j]).sum();
                    assert!((x - IDENTITY[i][j]).abs() < 1e-13, "{w:?}: {x}");
                }
            }
        }
    }
}
