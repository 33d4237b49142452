//! Three components.

use crate::Real;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub, SubAssign};

/// A vector of three components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec3<R = f64>(
    /// The components x, y, z.
    pub [R; 3],
);

impl<R: Real> Vec3<R> {
    /// (x, y, z).
    #[inline]
    pub fn new(x: R, y: R, z: R) -> Self {
        Vec3([x, y, z])
    }

    /// The zero vector.
    #[inline]
    pub fn zero() -> Self {
        Vec3([R::zero(); 3])
    }

    /// A constant vector.
    #[inline]
    pub fn from_f64(a: [f64; 3]) -> Self {
        Vec3(a.map(R::from_f64))
    }

    /// The components without their derivatives.
    #[inline]
    pub fn value(self) -> [f64; 3] {
        self.0.map(R::value)
    }

    /// First component.
    #[inline]
    pub fn x(&self) -> R {
        self.0[0]
    }

    /// Second component.
    #[inline]
    pub fn y(&self) -> R {
        self.0[1]
    }

    /// Third component.
    #[inline]
    pub fn z(&self) -> R {
        self.0[2]
    }

    /// s · self.
    #[inline]
    pub fn scale(self, s: R) -> Self {
        Vec3([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }

    /// s · self for a constant s.
    #[inline]
    pub fn scale_f64(self, s: f64) -> Self {
        Vec3([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }

    /// self · b.
    #[inline]
    pub fn dot(self, b: Self) -> R {
        self.0[0] * b.0[0] + self.0[1] * b.0[1] + self.0[2] * b.0[2]
    }

    /// self · b for a constant b.
    #[inline]
    pub fn dot_f64(self, b: &[f64; 3]) -> R {
        self.0[0] * b[0] + self.0[1] * b[1] + self.0[2] * b[2]
    }

    /// self × b.
    #[inline]
    pub fn cross(self, b: Self) -> Self {
        let (a, b) = (self.0, b.0);
        Vec3([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    }

    /// |self|².
    #[inline]
    pub fn norm_squared(self) -> R {
        self.dot(self)
    }

    /// |self|; its derivative at the zero vector is 0.
    #[inline]
    pub fn norm(self) -> R {
        self.dot(self).sqrt()
    }
}

impl<R: Real> Add for Vec3<R> {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Vec3([self.0[0] + b.0[0], self.0[1] + b.0[1], self.0[2] + b.0[2]])
    }
}

impl<R: Real> Sub for Vec3<R> {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        Vec3([self.0[0] - b.0[0], self.0[1] - b.0[1], self.0[2] - b.0[2]])
    }
}

impl<R: Real> Neg for Vec3<R> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Vec3([-self.0[0], -self.0[1], -self.0[2]])
    }
}

impl<R: Real> Mul<R> for Vec3<R> {
    type Output = Self;
    #[inline]
    fn mul(self, s: R) -> Self {
        self.scale(s)
    }
}

impl<R: Real> AddAssign for Vec3<R> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<R: Real> SubAssign for Vec3<R> {
    #[inline]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl<R> Index<usize> for Vec3<R> {
    type Output = R;
    #[inline]
    fn index(&self, i: usize) -> &R {
        &self.0[i]
    }
}

impl<R> IndexMut<usize> for Vec3<R> {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut R {
        &mut self.0[i]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dual;

    const A: Vec3 = Vec3([1.0, -2.0, 3.0]);
    const B: Vec3 = Vec3([4.0, 5.0, -6.0]);

    #[test]
    fn products() {
        assert_eq!(A.dot(B), -24.0);
        assert_eq!(A.dot_f64(&B.0), -24.0);
        assert_eq!(A.cross(B), Vec3([-3.0, 18.0, 13.0]));
        assert_eq!(A.cross(B), -B.cross(A));
        assert_eq!(A.norm_squared(), 14.0);
        assert_eq!(Vec3([2.0, -3.0, 6.0]).norm(), 7.0);
    }

    #[test]
    fn sums_and_multiples() {
        assert_eq!(A + B, Vec3([5.0, 3.0, -3.0]));
        assert_eq!(A - B, Vec3([-3.0, -7.0, 9.0]));
        assert_eq!((A * 2.0, A.scale(2.0), A.scale_f64(2.0)), (A + A, A + A, A + A));
        let mut c = A;
        c += B;
        c -= A;
        c[1] = 7.0;
        assert_eq!((c, c.x(), c.y(), c.z(), c[2]), (Vec3([4.0, 7.0, -6.0]), 4.0, 7.0, -6.0, -6.0));
        assert_eq!(Vec3::new(1.0, -2.0, 3.0), A);
    }

    #[test]
    fn the_gradient_of_a_length_is_the_direction() {
        let a = Vec3([Dual::<3>::variable(2.0, 0), Dual::variable(-3.0, 1), Dual::variable(6.0, 2)]);
        let length = a.norm();
        for (d, expected) in length.d.into_iter().zip([2.0, -3.0, 6.0]) {
            assert!((d - expected / 7.0).abs() < 1e-16);
        }
        assert_eq!(a.value(), [2.0, -3.0, 6.0]);
    }

    #[test]
    fn the_gradient_of_a_zero_length_is_zero() {
        let a = Vec3([0, 1, 2].map(|i| Dual::<3>::variable(0.0, i)));
        assert_eq!(a.norm(), Dual::zero());
    }
}
