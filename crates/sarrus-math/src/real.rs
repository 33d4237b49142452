//! The scalar in which residuals, poses and forces are written once.
//!
//! `f64` evaluates, [`Dual`](crate::Dual) differentiates, [`Jet`](crate::Jet) expands in time. A residual must not
//! branch on values: [`Real::value`] exists for choices that leave derivatives alone, such as the rotation an
//! angle is in.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// Holds what a residual may be written in.
pub trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The constant `x`.
    fn from_f64(x: f64) -> Self;
    /// The value without its derivatives.
    fn value(self) -> f64;
    /// Returns whether it is exactly zero, with all its derivatives.
    fn is_zero(self) -> bool;
    /// Zero.
    #[inline]
    fn zero() -> Self {
        Self::from_f64(0.0)
    }
    /// One.
    #[inline]
    fn one() -> Self {
        Self::from_f64(1.0)
    }
    /// √x.
    fn sqrt(self) -> Self;
    /// eˣ.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// Sine.
    #[inline]
    fn sin(self) -> Self {
        self.sin_cos().0
    }
    /// Cosine.
    #[inline]
    fn cos(self) -> Self {
        self.sin_cos().1
    }
    /// Tangent.
    #[inline]
    fn tan(self) -> Self {
        let (s, c) = self.sin_cos();
        s / c
    }
    /// Angle of the point (x, y) with `self` as y, in (-π, π].
    fn atan2(self, x: Self) -> Self;
    /// Arc tangent.
    #[inline]
    fn atan(self) -> Self {
        self.atan2(Self::one())
    }
    /// Arc sine.
    #[inline]
    fn asin(self) -> Self {
        self.atan2(((Self::one() - self) * (Self::one() + self)).sqrt())
    }
    /// Arc cosine.
    #[inline]
    fn acos(self) -> Self {
        ((Self::one() - self) * (Self::one() + self)).sqrt().atan2(self)
    }
    /// Hyperbolic sine and cosine.
    fn sinh_cosh(self) -> (Self, Self);
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Integer power.
    fn powi(self, n: i32) -> Self;
    /// Real power of a positive base.
    fn powf(self, p: Self) -> Self;
    /// |x|, with the derivative of the side that x is on.
    #[inline]
    fn abs(self) -> Self {
        if self.value() < 0.0 { -self } else { self }
    }
}

impl Real for f64 {
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0.0
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline]
    fn exp(self) -> Self {
        f64::exp(self)
    }
    #[inline]
    fn ln(self) -> Self {
        f64::ln(self)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        f64::sin_cos(self)
    }
    #[inline]
    fn tan(self) -> Self {
        f64::tan(self)
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        f64::atan2(self, x)
    }
    #[inline]
    fn asin(self) -> Self {
        f64::asin(self)
    }
    #[inline]
    fn acos(self) -> Self {
        f64::acos(self)
    }
    #[inline]
    fn sinh_cosh(self) -> (Self, Self) {
        (f64::sinh(self), f64::cosh(self))
    }
    #[inline]
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        f64::powi(self, n)
    }
    #[inline]
    fn powf(self, p: Self) -> Self {
        f64::powf(self, p)
    }
    #[inline]
    fn abs(self) -> Self {
        f64::abs(self)
    }
}
