//! Three by three matrices, for rotations.

use super::quat::quat_normalize;
use crate::{Real, Vec3};
use std::ops::Mul;

/// A 3 × 3 matrix, by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<R = f64>(
    /// The rows.
    pub [[R; 3]; 3],
);

impl<R: Real> Mat3<R> {
    /// The identity.
    #[inline]
    pub fn identity() -> Self {
        let (o, l) = (R::zero(), R::one());
        Mat3([[l, o, o], [o, l, o], [o, o, l]])
    }

    /// A constant matrix.
    #[inline]
    pub fn from_f64(a: [[f64; 3]; 3]) -> Self {
        Mat3(a.map(|row| row.map(R::from_f64)))
    }

    /// The rotation of a quaternion (w, x, y, z); q and any positive or negative multiple of it give the same.
    #[inline]
    pub fn from_quat(q: [R; 4]) -> Self {
        let [w, x, y, z] = q;
        let (ww, xx, yy, zz) = (w * w, x * x, y * y, z * z);
        let s = R::from_f64(2.0) / (ww + xx + yy + zz);
        let (xs, ys, zs) = (x * s, y * s, z * s);
        let (wx, wy, wz) = (w * xs, w * ys, w * zs);
        let (xx, xy, xz) = (x * xs, x * ys, x * zs);
        let (yy, yz, zz) = (y * ys, y * zs, z * zs);
        let l = R::one();
        Mat3([
            [l - (yy + zz), xy - wz, xz + wy],
            [xy + wz, l - (xx + zz), yz - wx],
            [xz - wy, yz + wx, l - (xx + yy)],
        ])
    }

    /// The rotation by `angle` about z.
    #[inline]
    pub fn rot_z(angle: R) -> Self {
        let (s, c) = angle.sin_cos();
        let (o, l) = (R::zero(), R::one());
        Mat3([[c, -s, o], [s, c, o], [o, o, l]])
    }

    /// The matrix of a × .
    #[inline]
    pub fn skew(a: Vec3<R>) -> Self {
        let [x, y, z] = a.0;
        let o = R::zero();
        Mat3([[o, -z, y], [z, o, -x], [-y, x, o]])
    }

    /// The matrix with these columns.
    #[inline]
    pub fn from_cols(a: Vec3<R>, b: Vec3<R>, c: Vec3<R>) -> Self {
        Mat3([0, 1, 2].map(|i| [a.0[i], b.0[i], c.0[i]]))
    }

    /// The entries without their derivatives.
    #[inline]
    pub fn value(&self) -> Mat3<f64> {
        Mat3(self.0.map(|row| row.map(R::value)))
    }

    /// Row i.
    #[inline]
    pub fn row(&self, i: usize) -> Vec3<R> {
        Vec3(self.0[i])
    }

    /// Column i: for R_WB, the i-th axis of B in W.
    #[inline]
    pub fn col(&self, i: usize) -> Vec3<R> {
        Vec3([self.0[0][i], self.0[1][i], self.0[2][i]])
    }

    /// The transpose.
    #[inline]
    pub fn transpose(&self) -> Self {
        Mat3([self.col(0).0, self.col(1).0, self.col(2).0])
    }

    /// self a for a constant a.
    #[inline]
    pub fn mul_f64(&self, a: &[f64; 3]) -> Vec3<R> {
        Vec3([self.row(0).dot_f64(a), self.row(1).dot_f64(a), self.row(2).dot_f64(a)])
    }

    /// self A for a constant A.
    #[inline]
    pub fn mul_mat_f64(&self, a: &Mat3<f64>) -> Self {
        Self::from_cols(self.mul_f64(&a.col(0).0), self.mul_f64(&a.col(1).0), self.mul_f64(&a.col(2).0))
    }

    /// selfᵀ a.
    #[inline]
    pub fn transpose_mul(&self, a: Vec3<R>) -> Vec3<R> {
        Vec3([self.col(0).dot(a), self.col(1).dot(a), self.col(2).dot(a)])
    }

    /// selfᵀ A.
    #[inline]
    pub fn transpose_mul_mat(&self, a: &Self) -> Self {
        self.transpose() * *a
    }
}

impl Mat3<f64> {
    /// The unit quaternion (w, x, y, z) of a rotation, with its first nonzero component positive.
    ///
    /// The largest component is found from the diagonal and divides the others, so no rotation is ill-conditioned
    /// \[Shepperd1978\].
    pub fn to_quat(&self) -> [f64; 4] {
        let m = &self.0;
        let (a, b, c) = (m[0][0], m[1][1], m[2][2]);
        let trace = a + b + c;
        let largest = trace.max(a).max(b).max(c);
        let q = if trace == largest {
            [1.0 + trace, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
        } else if a == largest {
            [m[2][1] - m[1][2], 1.0 + a - b - c, m[0][1] + m[1][0], m[0][2] + m[2][0]]
        } else if b == largest {
            [m[0][2] - m[2][0], m[0][1] + m[1][0], 1.0 + b - c - a, m[1][2] + m[2][1]]
        } else {
            [m[1][0] - m[0][1], m[0][2] + m[2][0], m[1][2] + m[2][1], 1.0 + c - a - b]
        };
        let q = quat_normalize(q);
        match q.iter().find(|&&x| x != 0.0) {
            Some(&x) if x < 0.0 => q.map(|x| -x),
            _ => q,
        }
    }
}

impl<R: Real> Mul<Vec3<R>> for Mat3<R> {
    type Output = Vec3<R>;
    #[inline]
    fn mul(self, a: Vec3<R>) -> Vec3<R> {
        Vec3([self.row(0).dot(a), self.row(1).dot(a), self.row(2).dot(a)])
    }
}

impl<R: Real> Mul for Mat3<R> {
    type Output = Self;
    #[inline]
    fn mul(self, b: Self) -> Self {
        Self::from_cols(self * b.col(0), self * b.col(1), self * b.col(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Jet;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn unit_quaternion() -> impl Strategy<Value = [f64; 4]> {
        prop::array::uniform4(-1.0..1.0)
            .prop_filter("not too short to have a direction", |q: &[f64; 4]| {
                q.iter().map(|x| x * x).sum::<f64>() > 1e-4
            })
            .prop_map(quat_normalize)
    }

    fn distance(a: &[f64; 4], b: &[f64; 4]) -> f64 {
        a.iter().zip(b).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn quaternions_come_back_from_their_rotation(q in unit_quaternion()) {
            let q = if q[0] < 0.0 { q.map(|x| -x) } else { q };
            prop_assert!(distance(&Mat3::from_quat(q).to_quat(), &q) < 1e-15);
        }

        #[test]
        fn rotations_are_orthogonal_whatever_the_length_of_the_quaternion(q in unit_quaternion(), s in 0.1..9.0f64) {
            let R = Mat3::from_quat(q.map(|x| x * s));
            let (product, identity) = (R.transpose_mul_mat(&R), Mat3::<f64>::identity());
            for i in 0..3 {
                for j in 0..3 {
                    prop_assert!((product.0[i][j] - identity.0[i][j]).abs() < 2e-15);
                }
            }
            prop_assert!((R.col(0).cross(R.col(1)) - R.col(2)).norm() < 2e-15);
        }
    }

    /// A rotation by a little more or less than half about each axis, where the naive formula divides by w ≈ 0, and the
    /// two sides of every switch between the four branches.
    #[test]
    fn every_branch_of_to_quat_is_accurate() {
        for axis in 0..3 {
            for angle in [0.0f64, 1e-9, 1.0, 2.0, 3.0, 3.1, std::f64::consts::PI] {
                let mut q = [(0.5 * angle).cos(), 0.0, 0.0, 0.0];
                q[axis + 1] = (0.5 * angle).sin();
                q[(axis + 1) % 3 + 1] = 1e-5;
                let q = quat_normalize(q);
                assert!(distance(&Mat3::from_quat(q).to_quat(), &q) < 1e-15, "{axis} {angle}");
            }
        }
        for i in 0..4 {
            for j in 0..4 {
                for nudge in [-1e-15, 0.0, 1e-15] {
                    let mut q = [0.1; 4];
                    q[i] = 1.0;
                    q[j] = 1.0 + nudge;
                    let q = quat_normalize(q);
                    assert!(distance(&Mat3::from_quat(q).to_quat(), &q) < 1e-15, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn half_turns_have_one_quaternion() {
        assert_eq!(
            Mat3::from_f64([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]).to_quat(),
            [0.0, 1.0, 0.0, 0.0]
        );
        assert_eq!(Mat3::from_quat([0.0, 0.0, -1.0, 0.0]).to_quat(), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(Mat3::from_quat([-1.0, 0.0, 0.0, 0.0]).to_quat(), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(Mat3::<f64>::identity().to_quat(), [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_matrix_of_nan_gives_nan_and_no_panic() {
        assert!(Mat3([[f64::NAN; 3]; 3]).to_quat()[0].is_nan());
    }

    /// A quarter rotation about z takes x to y; about a quaternion, counterclockwise as well.
    #[test]
    fn turns_are_right_handed() {
        let h = 0.5f64.sqrt();
        for R in [Mat3::rot_z(std::f64::consts::FRAC_PI_2), Mat3::from_quat([h, 0.0, 0.0, h])] {
            assert!((R * Vec3([1.0, 0.0, 0.0]) - Vec3([0.0, 1.0, 0.0])).norm() < 1e-15);
            assert!((R.transpose_mul(Vec3([0.0, 1.0, 0.0])) - Vec3([1.0, 0.0, 0.0])).norm() < 1e-15);
        }
        assert!(
            (Mat3::from_quat([h, h, 0.0, 0.0]).mul_f64(&[0.0, 1.0, 0.0]) - Vec3([0.0, 0.0, 1.0])).norm()
                < 1e-15
        );
    }

    #[test]
    fn products_and_views() {
        let a = Mat3::from_f64([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]]);
        let b = Mat3::from_f64([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 3.0]]);
        let ab = Mat3([[-1.0, 2.0, 10.0], [2.0, 5.0, 22.0], [4.0, 8.0, 37.0]]);
        assert_eq!((a * b, a.mul_mat_f64(&b)), (ab, ab));
        assert_eq!(a.transpose().transpose_mul_mat(&b), ab);
        assert_eq!((a.row(1).0, a.col(1).0), ([4.0, 5.0, 6.0], [2.0, 5.0, 8.0]));
        assert_eq!(Mat3::from_cols(a.row(0), a.row(1), a.row(2)), a.transpose());
        let (u, v) = (Vec3([1.0, 2.0, 3.0]), Vec3([-2.0, 0.5, 4.0]));
        assert_eq!(Mat3::skew(u) * v, u.cross(v));
        assert_eq!(a.transpose_mul(v), a.transpose() * v);
    }

    /// R(t) of a steady rotation about z has Ṙ = R [z]×.
    #[test]
    fn planar_rotations_carry_derivatives() {
        let R = Mat3::rot_z(Jet::<2>::variable(0.3));
        let rate = R.value() * Mat3::skew(Vec3([0.0, 0.0, 1.0]));
        for i in 0..3 {
            for j in 0..3 {
                assert!((R.0[i][j].c[1] - rate.0[i][j]).abs() < 1e-16);
            }
        }
    }
}
