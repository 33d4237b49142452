//! Pseudoinverses of dense matrices, from A = U Σ Vᵀ or, where A is symmetric, A = Q Λ Qᵀ.
//!
//! Which values count as zero is for the caller to say, who knows what the matrix means. Matrices are given by rows.
//! Cost: O(m n min(m, n)) with a large constant; room is kept, so that only `new` allocates. Not for sparse matrices.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef, Par, Spec};

/// An iteration for singular or eigenvalues did not converge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("singular values of a {m} x {n} matrix did not converge")]
pub struct NotDecomposed {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

/// A = U Σ Vᵀ of m × n matrices.
pub struct Svd {
    m: usize,
    n: usize,
    /// Right vectors: n, or the first min(m, n).
    rights: usize,
    sigma: Vec<f64>,
    /// The first min(m, n) left vectors, one after the other.
    left: Vec<f64>,
    /// The right vectors, likewise.
    right: Vec<f64>,
    memory: MemBuffer,
}

impl Svd {
    /// Workspace for m × n matrices, with the first min(m, n) right vectors.
    pub fn thin(m: usize, n: usize) -> Svd {
        Svd::with(m, n, m.min(n), ComputeSvdVectors::Thin)
    }

    /// Workspace for m × n matrices, with all right vectors, those of the null space included.
    pub fn full(m: usize, n: usize) -> Svd {
        Svd::with(m, n, n, ComputeSvdVectors::Full)
    }

    fn with(m: usize, n: usize, rights: usize, compute: ComputeSvdVectors) -> Svd {
        let k = m.min(n);
        let mut right = vec![0.0; n * rights];
        (0..rights).for_each(|i| right[i * n + i] = 1.0);
        let scratch = svd_scratch::<f64>(m, n, ComputeSvdVectors::Thin, compute, Par::Seq, Spec::default());
        Svd {
            m,
            n,
            rights,
            sigma: vec![0.0; k],
            left: vec![0.0; m * k],
            right,
            memory: MemBuffer::new(scratch),
        }
    }

    /// Decomposes `a`, of finite numbers.
    pub fn factor(&mut self, a: &[f64]) -> Result<(), NotDecomposed> {
        let (m, n, k) = (self.m, self.n, self.sigma.len());
        if k == 0 {
            return Ok(());
        }
        // where one side is much longer than the other, the library takes part of this for zero
        self.left.fill(0.0);
        self.right.fill(0.0);
        svd(
            MatRef::from_row_major_slice(a, m, n),
            DiagMut::from_slice_mut(&mut self.sigma),
            Some(MatMut::from_column_major_slice_mut(&mut self.left, m, k)),
            Some(MatMut::from_column_major_slice_mut(&mut self.right, n, self.rights)),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Spec::default(),
        )
        .map_err(|_| NotDecomposed { m, n })
    }

    /// Singular values, largest first.
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// The left vector `i` of the first min(m, n).
    pub fn left(&self, i: usize) -> &[f64] {
        &self.left[i * self.m..][..self.m]
    }

    /// The right vector `i`; of all n of them those from the rank on span the null space.
    pub fn right(&self, i: usize) -> &[f64] {
        &self.right[i * self.n..][..self.n]
    }

    /// x = A⁺ b with all but the first `rank` singular values taken as zero.
    pub fn solve(&self, rank: usize, b: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        for i in 0..rank {
            add_scaled(x, dot(self.left(i), b) / self.sigma[i], self.right(i));
        }
    }

    /// y = (Aᵀ)⁺ b likewise.
    pub fn solve_transposed(&self, rank: usize, b: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for i in 0..rank {
            add_scaled(y, dot(self.right(i), b) / self.sigma[i], self.left(i));
        }
    }
}

/// A = Q Λ Qᵀ of symmetric matrices of order n.
pub struct SymmetricEigen {
    n: usize,
    values: Vec<f64>,
    vectors: Vec<f64>,
    memory: MemBuffer,
}

impl SymmetricEigen {
    /// Workspace for matrices of order n.
    pub fn new(n: usize) -> SymmetricEigen {
        let scratch = if n == 0 {
            faer::dyn_stack::StackReq::EMPTY
        } else {
            self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default())
        };
        SymmetricEigen { n, values: vec![0.0; n], vectors: vec![0.0; n * n], memory: MemBuffer::new(scratch) }
    }

    /// Decomposes `a`, of finite numbers; only its lower half is read.
    pub fn factor(&mut self, a: &[f64]) -> Result<(), NotDecomposed> {
        let n = self.n;
        if n == 0 {
            return Ok(());
        }
        self_adjoint_evd(
            MatRef::from_row_major_slice(a, n, n),
            DiagMut::from_slice_mut(&mut self.values),
            Some(MatMut::from_column_major_slice_mut(&mut self.vectors, n, n)),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Spec::default(),
        )
        .map_err(|_| NotDecomposed { m: n, n })
    }

    /// Eigenvalues, least first.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The unit eigenvector `i`.
    pub fn vector(&self, i: usize) -> &[f64] {
        &self.vectors[i * self.n..][..self.n]
    }

    /// x = A⁺ b with the eigenvalues for which `keep` says no taken as zero.
    pub fn solve(&self, keep: impl Fn(usize) -> bool, b: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        for (i, (value, q)) in self.values.iter().zip(self.vectors.chunks_exact(self.n.max(1))).enumerate() {
            if keep(i) {
                add_scaled(x, dot(q, b) / value, q);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows (1, 2, 2), (2, 4, 4): A⁺ = Aᵀ / 45.
    const TWICE: [f64; 6] = [1.0, 2.0, 2.0, 2.0, 4.0, 4.0];

    fn close(a: &[f64], b: &[f64], tolerance: f64) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance), "{a:?} {b:?}");
    }

    #[test]
    fn the_pseudoinverse_of_a_repeated_row_shares_it() {
        let mut svd = Svd::full(2, 3);
        svd.factor(&TWICE).unwrap();
        let (mut x, mut y) = ([0.0; 3], [0.0; 2]);
        svd.solve(1, &[1.0, 1.0], &mut x);
        close(&x, &[3.0 / 45.0, 6.0 / 45.0, 6.0 / 45.0], 1e-16);
        svd.solve_transposed(1, &[1.0, 1.0, 1.0], &mut y);
        close(&y, &[5.0 / 45.0, 10.0 / 45.0], 1e-16);
        // the null space of (1, 2, 2)
        for i in 1..3 {
            assert!(dot(svd.right(i), &[1.0, 2.0, 2.0]).abs() < 1e-15);
        }
    }

    #[test]
    fn a_tall_matrix_is_solved_in_the_least_squares() {
        let mut svd = Svd::thin(3, 1);
        svd.factor(&[1.0, 2.0, 2.0]).unwrap();
        let mut x = [0.0];
        svd.solve(1, &[3.0, 3.0, 3.0], &mut x);
        close(&x, &[15.0 / 9.0], 1e-15);
    }

    /// [2 1; 1 2] has values 1 and 3; without the first only (1, 1)/√2 remains.
    #[test]
    fn eigenvalues_that_are_not_kept_count_as_zero() {
        let mut eigen = SymmetricEigen::new(2);
        eigen.factor(&[2.0, f64::NAN, 1.0, 2.0]).unwrap();
        close(eigen.values(), &[1.0, 3.0], 1e-15);
        let mut x = [0.0; 2];
        eigen.solve(|_| true, &[1.0, 0.0], &mut x);
        close(&x, &[2.0 / 3.0, -1.0 / 3.0], 1e-15);
        eigen.solve(|i| i == 1, &[1.0, 0.0], &mut x);
        close(&x, &[1.0 / 6.0, 1.0 / 6.0], 1e-15);
    }

    #[test]
    fn a_second_matrix_owes_nothing_to_the_first() {
        for (m, n) in [(2, 7), (6, 7), (7, 2)] {
            let entry = |k: usize, seed: usize| ((k * k + 3 * k + seed) as f64).sin();
            let a: Vec<f64> = (0..m * n).map(|k| entry(k, 0)).collect();
            let b: Vec<f64> = (0..m * n).map(|k| entry(k, 50)).collect();
            let (mut twice, mut once) = (Svd::full(m, n), Svd::full(m, n));
            twice.factor(&a).unwrap();
            twice.factor(&b).unwrap();
            once.factor(&b).unwrap();
            assert_eq!(twice.right, once.right);
            for i in 0..n {
                let length = dot(twice.right(i), twice.right(i));
                assert!((length - 1.0).abs() < 1e-14, "{m} x {n}: {length}");
            }
        }
    }

    #[test]
    fn nothing_is_decomposed_into_nothing() {
        for (m, n) in [(0, 0), (0, 2), (2, 0)] {
            let mut svd = Svd::full(m, n);
            svd.factor(&[]).unwrap();
            let mut x = vec![1.0; n];
            svd.solve(0, &vec![1.0; m], &mut x);
            assert!(x.iter().all(|x| *x == 0.0));
            (0..n).for_each(|i| assert_eq!(svd.right(i)[i], 1.0));
        }
        let mut eigen = SymmetricEigen::new(0);
        eigen.factor(&[]).unwrap();
        eigen.solve(|_| true, &[], &mut []);
    }

    /// Large enough for the recursions of the library.
    #[test]
    fn larger_matrices_are_rebuilt() {
        let (m, n) = (150, 170);
        let a: Vec<f64> = (0..m * n).map(|k| ((k * k + 7 * k) as f64).sin()).collect();
        let mut svd = Svd::thin(m, n);
        svd.factor(&a).unwrap();
        let b: Vec<f64> = (0..m).map(|i| (i as f64).cos()).collect();
        let mut x = vec![0.0; n];
        svd.solve(m, &b, &mut x);
        let back: Vec<f64> = a.chunks_exact(n).map(|row| dot(row, &x)).collect();
        close(&back, &b, 1e-9);
    }
}
