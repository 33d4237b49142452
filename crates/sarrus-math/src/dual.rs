//! A value with its derivatives along N directions.
//!
//! f(v + Σ dᵢ εᵢ) = f(v) + Σ f′(v) dᵢ εᵢ, with εᵢ εⱼ = 0. The value may itself carry derivatives
//! (`Dual<N, Jet<K>>` is the gradient of a Taylor expansion).
//!
//! Where f′ is infinite, a direction along which the argument does not change has derivative 0, not NaN: √0 of
//! a constant is a constant.

use crate::Real;
use crate::operators::operators_from_assignments;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value and N directional derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<const N: usize, R: Real = f64> {
    /// The value.
    pub v: R,
    /// The derivatives.
    pub d: [R; N],
}

impl<const N: usize, R: Real> Dual<N, R> {
    /// `v`, with no derivative.
    #[inline]
    pub fn constant(v: R) -> Self {
        Dual { v, d: [R::zero(); N] }
    }

    /// `v`, as the variable of derivative `i`.
    #[inline]
    pub fn variable(v: R, i: usize) -> Self {
        let mut x = Self::constant(v);
        x.d[i] = R::one();
        x
    }

    /// f(self), given f and f′ at the value.
    #[inline]
    fn chain(self, f: R, slope: R) -> Self {
        let mut d = self.d;
        if slope.value().is_finite() {
            for x in &mut d {
                *x *= slope;
            }
        } else {
            for x in &mut d {
                *x = scaled(*x, slope);
            }
        }
        Dual { v: f, d }
    }

    /// f(a, b), given f and its slopes in a and b at the values.
    #[inline]
    fn chain2(a: Self, b: Self, f: R, in_a: R, in_b: R) -> Self {
        let mut d = a.d;
        if in_a.value().is_finite() && in_b.value().is_finite() {
            for i in 0..N {
                d[i] = a.d[i] * in_a + b.d[i] * in_b;
            }
        } else {
            for i in 0..N {
                d[i] = scaled(a.d[i], in_a) + scaled(b.d[i], in_b);
            }
        }
        Dual { v: f, d }
    }
}

/// d · slope, where no change stays no change even at an infinite slope.
#[inline]
fn scaled<R: Real>(d: R, slope: R) -> R {
    if d.is_zero() { d } else { d * slope }
}

impl<const N: usize, R: Real> Real for Dual<N, R> {
    #[inline]
    fn from_f64(x: f64) -> Self {
        Self::constant(R::from_f64(x))
    }
    #[inline]
    fn value(self) -> f64 {
        self.v.value()
    }
    #[inline]
    fn is_zero(self) -> bool {
        self.v.is_zero() && self.d.iter().all(|x| x.is_zero())
    }
    #[inline]
    fn sqrt(self) -> Self {
        let f = self.v.sqrt();
        self.chain(f, R::from_f64(0.5) / f)
    }
    #[inline]
    fn exp(self) -> Self {
        let f = self.v.exp();
        self.chain(f, f)
    }
    #[inline]
    fn ln(self) -> Self {
        self.chain(self.v.ln(), R::one() / self.v)
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.v.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }
    #[inline]
    fn tan(self) -> Self {
        let f = self.v.tan();
        self.chain(f, f * f + 1.0)
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        let (a, b) = (self.v, x.v);
        let r2 = a * a + b * b;
        Self::chain2(self, x, a.atan2(b), b / r2, -a / r2)
    }
    #[inline]
    fn atan(self) -> Self {
        self.chain(self.v.atan(), R::one() / (self.v * self.v + 1.0))
    }
    #[inline]
    fn asin(self) -> Self {
        let slope = R::one() / ((R::one() - self.v) * (R::one() + self.v)).sqrt();
        self.chain(self.v.asin(), slope)
    }
    #[inline]
    fn acos(self) -> Self {
        let slope = R::from_f64(-1.0) / ((R::one() - self.v) * (R::one() + self.v)).sqrt();
        self.chain(self.v.acos(), slope)
    }
    #[inline]
    fn sinh_cosh(self) -> (Self, Self) {
        let (s, c) = self.v.sinh_cosh();
        (self.chain(s, c), self.chain(c, s))
    }
    #[inline]
    fn tanh(self) -> Self {
        // 1 - tanh² = 4e/(1 + e)² with e = exp(-2|x|): no digits lost where tanh is near 1, and no overflow
        let e = (self.v.abs() * -2.0).exp();
        let root = R::one() + e;
        self.chain(self.v.tanh(), e * 4.0 / (root * root))
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        let slope = if n == 0 { R::zero() } else { self.v.powi(n.saturating_sub(1)) * f64::from(n) };
        self.chain(self.v.powi(n), slope)
    }
    #[inline]
    fn powf(self, p: Self) -> Self {
        let f = self.v.powf(p.v);
        let slope = if p.v.is_zero() { p.v } else { p.v * self.v.powf(p.v - 1.0) };
        // xᵖ ln x → 0 as x → 0
        let in_p = if self.v.value() == 0.0 && p.value() > 0.0 { R::zero() } else { f * self.v.ln() };
        Self::chain2(self, p, f, slope, in_p)
    }
}

operators_from_assignments!([const N: usize, R: Real] Dual<N, R>);

impl<const N: usize, R: Real> Neg for Dual<N, R> {
    type Output = Self;
    #[inline]
    fn neg(mut self) -> Self {
        self.v = -self.v;
        for x in &mut self.d {
            *x = -*x;
        }
        self
    }
}

impl<const N: usize, R: Real> Div for Dual<N, R> {
    type Output = Self;
    #[inline]
    fn div(self, b: Self) -> Self {
        let inverse = R::one() / b.v;
        // the quotient itself is divided, not multiplied by the inverse: the value equals that of plain f64
        let f = self.v / b.v;
        let mut d = self.d;
        for i in 0..N {
            d[i] = (d[i] - f * b.d[i]) * inverse;
        }
        Dual { v: f, d }
    }
}

impl<const N: usize, R: Real> AddAssign for Dual<N, R> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        self.v += b.v;
        for i in 0..N {
            self.d[i] += b.d[i];
        }
    }
}

impl<const N: usize, R: Real> SubAssign for Dual<N, R> {
    #[inline]
    fn sub_assign(&mut self, b: Self) {
        self.v -= b.v;
        for i in 0..N {
            self.d[i] -= b.d[i];
        }
    }
}

impl<const N: usize, R: Real> MulAssign for Dual<N, R> {
    #[inline]
    fn mul_assign(&mut self, b: Self) {
        for i in 0..N {
            self.d[i] = self.d[i] * b.v + self.v * b.d[i];
        }
        self.v *= b.v;
    }
}

impl<const N: usize, R: Real> Add<f64> for Dual<N, R> {
    type Output = Self;
    #[inline]
    fn add(mut self, b: f64) -> Self {
        self.v = self.v + b;
        self
    }
}

impl<const N: usize, R: Real> Sub<f64> for Dual<N, R> {
    type Output = Self;
    #[inline]
    fn sub(mut self, b: f64) -> Self {
        self.v = self.v - b;
        self
    }
}

impl<const N: usize, R: Real> Mul<f64> for Dual<N, R> {
    type Output = Self;
    #[inline]
    fn mul(mut self, b: f64) -> Self {
        self.v = self.v * b;
        for x in &mut self.d {
            *x = *x * b;
        }
        self
    }
}

impl<const N: usize, R: Real> Div<f64> for Dual<N, R> {
    type Output = Self;
    #[inline]
    fn div(mut self, b: f64) -> Self {
        self.v = self.v / b;
        for x in &mut self.d {
            *x = *x / b;
        }
        self
    }
}
