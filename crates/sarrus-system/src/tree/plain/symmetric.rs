//! Symmetric matrices of three rows: six numbers of nine.

use sarrus_math::{Mat3, Vec3};

/// xx, xy, xz, yy, yz, zz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SymmetricMat3(pub [f64; 6]);

impl SymmetricMat3 {
    pub const ZERO: SymmetricMat3 = SymmetricMat3([0.0; 6]);

    /// The symmetric part of what `A` has on and above its diagonal.
    pub fn from(A: &Mat3) -> SymmetricMat3 {
        let A = &A.0;
        SymmetricMat3([A[0][0], A[0][1], A[0][2], A[1][1], A[1][2], A[2][2]])
    }

    /// `x` times the identity.
    #[inline(always)]
    pub fn diagonal(x: f64) -> SymmetricMat3 {
        SymmetricMat3([x, 0.0, 0.0, x, 0.0, x])
    }

    #[inline(always)]
    pub fn mul(&self, v: Vec3) -> Vec3 {
        let (a, [x, y, z]) = (&self.0, v.0);
        Vec3([a[0] * x + a[1] * y + a[2] * z, a[1] * x + a[3] * y + a[4] * z, a[2] * x + a[4] * y + a[5] * z])
    }

    #[inline(always)]
    pub fn row(&self, i: usize) -> Vec3 {
        let a = &self.0;
        Vec3([[a[0], a[1], a[2]], [a[1], a[3], a[4]], [a[2], a[4], a[5]]][i])
    }

    #[inline(always)]
    pub fn add(&mut self, other: &SymmetricMat3) {
        for i in 0..6 {
            self.0[i] += other.0[i];
        }
    }

    /// R A Rᵀ.
    #[inline(always)]
    pub fn rotated(&self, R: &Mat3) -> SymmetricMat3 {
        let K = [self.mul(R.row(0)), self.mul(R.row(1)), self.mul(R.row(2))];
        let at = |i: usize, j: usize| K[i].dot(R.row(j));
        SymmetricMat3([at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)])
    }

    /// Adds a bᵀ, which is symmetric.
    #[inline(always)]
    pub fn add_product(&mut self, a: Vec3, b: Vec3) {
        let (A, a, b) = (&mut self.0, a.0, b.0);
        A[0] += a[0] * b[0];
        A[1] += a[0] * b[1];
        A[2] += a[0] * b[2];
        A[3] += a[1] * b[1];
        A[4] += a[1] * b[2];
        A[5] += a[2] * b[2];
    }

    /// The inverse of one that is positive definite, by cofactors.
    #[inline(always)]
    pub fn inverse(&self) -> SymmetricMat3 {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        let (a, b, c) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
        let by = 1.0 / (xx * a + xy * b + xz * c);
        let (d, e, f) = (xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy);
        SymmetricMat3([a * by, b * by, c * by, d * by, e * by, f * by])
    }
}
