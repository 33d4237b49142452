//! A function of time as its Taylor expansion.
//!
//! x(t₀ + s) = Σ cₖ sᵏ, k < K. Products are Cauchy products; the other functions follow from the differential
//! equation they satisfy, for example y = eˣ from ẏ = ẋ y: k yₖ = Σ j xⱼ yₖ₋ⱼ, j = 1..k [Griewank2008, ch. 13].
//! Cost: O(K²) per operation.
//!
//! At a branch point (√0, |0|, 0ᵖ) the expansion is that of the future, s > 0: |s| is s, √s² is s. Coefficients that the
//! given ones do not determine are NaN; those that do not exist are ±∞.

use crate::Real;
use crate::operators::operators_from_assignments;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// K Taylor coefficients in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<const K: usize> {
    /// Coefficient of sᵏ: the k-th derivative over k!.
    pub c: [f64; K],
}

impl<const K: usize> Jet<K> {
    /// `x`, at rest.
    #[inline]
    pub fn constant(x: f64) -> Self {
        const { assert!(K > 0, "a jet holds at least its value") };
        let mut c = [0.0; K];
        c[0] = x;
        Jet { c }
    }

    /// Time itself at the instant `t`.
    #[inline]
    pub fn variable(t: f64) -> Self {
        let mut x = Self::constant(t);
        if K > 1 {
            x.c[1] = 1.0;
        }
        x
    }

    /// From the value and its time derivatives in order; missing ones are zero, those past K are dropped.
    #[inline]
    pub fn from_derivatives(d: &[f64]) -> Self {
        let mut c = [0.0; K];
        let mut factorial = 1.0;
        for k in 0..K.min(d.len()) {
            factorial *= k.max(1) as f64;
            c[k] = d[k] / factorial;
        }
        Jet { c }
    }

    /// The k-th time derivative, k < K.
    #[inline]
    pub fn derivative(&self, k: usize) -> f64 {
        (2..=k).fold(self.c[k], |x, i| x * i as f64)
    }

    #[inline]
    fn is_constant(&self) -> bool {
        self.c[1..].iter().all(|&x| x == 0.0)
    }

    /// Coefficient k of y where ẏ = ẋ g: k yₖ = Σ j xⱼ gₖ₋ⱼ, j = 1..k.
    #[inline]
    fn quadrature(&self, g: &[f64; K], k: usize) -> f64 {
        let mut sum = 0.0;
        for j in 1..=k {
            sum += j as f64 * self.c[j] * g[k - j];
        }
        sum / k as f64
    }

    /// xᵖ for x₀ > 0, from x ẏ = p y ẋ: k x₀ yₖ = Σ (p j - (k - j)) xⱼ yₖ₋ⱼ, j = 1..k.
    #[inline]
    fn power(self, p: f64, y0: f64) -> Self {
        let x = &self.c;
        let mut y = [0.0; K];
        y[0] = y0;
        for k in 1..K {
            let mut sum = 0.0;
            for j in 1..=k {
                sum += (p * j as f64 - (k - j) as f64) * x[j] * y[k - j];
            }
            y[k] = sum / (k as f64 * x[0]);
        }
        Jet { c: y }
    }

    /// xᵖ for x₀ = 0 and p not zero: with x = sᵐ g, g₀ ≠ 0, it is sᵐᵖ gᵖ.
    #[cold]
    fn power_at_zero(self, p: f64) -> Self {
        let mut y = [0.0; K];
        let Some(m) = self.c.iter().position(|&x| x != 0.0) else {
            y[0] = 0f64.powf(p);
            return Jet { c: y };
        };

        let mut g = [0.0; K];
        g[..K - m].copy_from_slice(&self.c[m..]);
        let h = Jet { c: g }.power(p, g[0].powf(p));

        let order = m as f64 * p;
        if order < 0.0 {
            y.fill(f64::NAN);
            y[0] = f64::INFINITY;
        } else if order.fract() == 0.0 {
            // gᵖ is known up to K - m coefficients
            for k in 0..K {
                let i = k as f64 - order;
                if i >= 0.0 {
                    y[k] = if i < (K - m) as f64 { h.c[i as usize] } else { f64::NAN };
                }
            }
        } else {
            // the derivative of order k past mp is the falling factorial of mp times s to a negative power
            let mut falling = h.c[0];
            for k in 1..K {
                falling *= order - (k - 1) as f64;
                if k as f64 > order {
                    y[k] = falling * f64::INFINITY;
                }
            }
        }
        Jet { c: y }
    }
}

impl<const K: usize> Real for Jet<K> {
    #[inline]
    fn from_f64(x: f64) -> Self {
        Self::constant(x)
    }
    #[inline]
    fn value(self) -> f64 {
        self.c[0]
    }
    #[inline]
    fn is_zero(self) -> bool {
        self.c.iter().all(|&x| x == 0.0)
    }
    #[inline]
    fn sqrt(self) -> Self {
        if self.c[0] == 0.0 {
            return self.power_at_zero(0.5);
        }
        // y² = x: 2 y₀ yₖ = xₖ - Σ yⱼ yₖ₋ⱼ, j = 1..k-1
        let mut y = [0.0; K];
        y[0] = self.c[0].sqrt();
        let half = 0.5 / y[0];
        for k in 1..K {
            let mut sum = self.c[k];
            for j in 1..k {
                sum -= y[j] * y[k - j];
            }
            y[k] = sum * half;
        }
        Jet { c: y }
    }
    #[inline]
    fn exp(self) -> Self {
        let mut y = [0.0; K];
        y[0] = self.c[0].exp();
        for k in 1..K {
            y[k] = self.quadrature(&y, k);
        }
        Jet { c: y }
    }
    #[inline]
    fn ln(self) -> Self {
        // x ẏ = ẋ: x₀ yₖ = xₖ - Σ j/k yⱼ xₖ₋ⱼ, j = 1..k-1
        let x = &self.c;
        let mut y = [0.0; K];
        y[0] = x[0].ln();
        if x[0] == 0.0 && self.is_constant() {
            return Jet { c: y };
        }
        for k in 1..K {
            let mut sum = 0.0;
            for j in 1..k {
                sum += j as f64 * y[j] * x[k - j];
            }
            y[k] = (x[k] - sum / k as f64) / x[0];
        }
        Jet { c: y }
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        let (mut s, mut c) = ([0.0; K], [0.0; K]);
        (s[0], c[0]) = self.c[0].sin_cos();
        for k in 1..K {
            s[k] = self.quadrature(&c, k);
            c[k] = -self.quadrature(&s, k);
        }
        (Jet { c: s }, Jet { c })
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        // θ̇ = (x ẏ - y ẋ) / (x² + y²)
        let (a, b) = (&self.c, &x.c);
        let r2 = self * self + x * x;
        let mut y = Self::constant(a[0].atan2(b[0]));
        let mut rate = [0.0; K];
        for k in 1..K {
            let mut sum = 0.0;
            for j in 1..=k {
                sum += j as f64 * (b[k - j] * a[j] - a[k - j] * b[j]);
            }
            // the numerator is done: take off what the earlier coefficients of the rate account for
            for j in 0..k - 1 {
                sum -= rate[j] * r2.c[k - 1 - j];
            }
            // no motion stays no motion, even at the origin
            rate[k - 1] = if sum == 0.0 { 0.0 } else { sum / r2.c[0] };
            y.c[k] = rate[k - 1] / k as f64;
        }
        y
    }
    #[inline]
    fn sinh_cosh(self) -> (Self, Self) {
        let (mut s, mut c) = ([0.0; K], [0.0; K]);
        (s[0], c[0]) = (self.c[0].sinh(), self.c[0].cosh());
        for k in 1..K {
            s[k] = self.quadrature(&c, k);
            c[k] = self.quadrature(&s, k);
        }
        (Jet { c: s }, Jet { c })
    }
    #[inline]
    fn tanh(self) -> Self {
        // ẏ = ẋ g with g = 1 - y², whose value is 1/cosh²: 1 - tanh² loses all digits where tanh is near 1
        let cosh = self.c[0].cosh();
        let (mut y, mut g) = ([0.0; K], [0.0; K]);
        y[0] = self.c[0].tanh();
        g[0] = 1.0 / cosh / cosh;
        for k in 1..K {
            y[k] = self.quadrature(&g, k);
            for j in 0..=k {
                g[k] -= y[j] * y[k - j];
            }
        }
        Jet { c: y }
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        // repeated squaring, so that a zero base is as good as any
        let mut y = Self::one();
        let mut square = self;
        let mut rest = n.unsigned_abs();
        while rest > 0 {
            if rest & 1 == 1 {
                y *= square;
            }
            rest >>= 1;
            if rest > 0 {
                square *= square;
            }
        }
        if n < 0 { Self::one() / y } else { y }
    }
    #[inline]
    fn powf(self, p: Self) -> Self {
        let exponent = p.c[0];
        if !p.is_constant() {
            return (p * self.ln()).exp();
        }
        if exponent.fract() == 0.0 && exponent.abs() <= 64.0 {
            return self.powi(exponent as i32);
        }
        if self.c[0] == 0.0 {
            return self.power_at_zero(exponent);
        }
        self.power(exponent, self.c[0].powf(exponent))
    }
    #[inline]
    fn abs(self) -> Self {
        match self.c.iter().find(|&&x| x != 0.0) {
            Some(&x) if x < 0.0 => -self,
            _ => self,
        }
    }
}

operators_from_assignments!([const K: usize] Jet<K>);

impl<const K: usize> Neg for Jet<K> {
    type Output = Self;
    #[inline]
    fn neg(mut self) -> Self {
        for x in &mut self.c {
            *x = -*x;
        }
        self
    }
}

impl<const K: usize> Div for Jet<K> {
    type Output = Self;
    #[inline]
    fn div(self, b: Self) -> Self {
        // y b = x: b₀ yₖ = xₖ - Σ yⱼ bₖ₋ⱼ, j < k
        let mut y = [0.0; K];
        for k in 0..K {
            let mut sum = self.c[k];
            for j in 0..k {
                sum -= y[j] * b.c[k - j];
            }
            y[k] = sum / b.c[0];
        }
        Jet { c: y }
    }
}

impl<const K: usize> AddAssign for Jet<K> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        for k in 0..K {
            self.c[k] += b.c[k];
        }
    }
}

impl<const K: usize> SubAssign for Jet<K> {
    #[inline]
    fn sub_assign(&mut self, b: Self) {
        for k in 0..K {
            self.c[k] -= b.c[k];
        }
    }
}

impl<const K: usize> MulAssign for Jet<K> {
    #[inline]
    fn mul_assign(&mut self, b: Self) {
        // from the top down: coefficient k needs only those up to k
        for k in (0..K).rev() {
            let mut sum = self.c[k] * b.c[0];
            for j in 0..k {
                sum += self.c[j] * b.c[k - j];
            }
            self.c[k] = sum;
        }
    }
}

impl<const K: usize> Add<f64> for Jet<K> {
    type Output = Self;
    #[inline]
    fn add(mut self, b: f64) -> Self {
        self.c[0] += b;
        self
    }
}

impl<const K: usize> Sub<f64> for Jet<K> {
    type Output = Self;
    #[inline]
    fn sub(mut self, b: f64) -> Self {
        self.c[0] -= b;
        self
    }
}

impl<const K: usize> Mul<f64> for Jet<K> {
    type Output = Self;
    #[inline]
    fn mul(mut self, b: f64) -> Self {
        for x in &mut self.c {
            *x *= b;
        }
        self
    }
}

impl<const K: usize> Div<f64> for Jet<K> {
    type Output = Self;
    #[inline]
    fn div(mut self, b: f64) -> Self {
        for x in &mut self.c {
            *x /= b;
        }
        self
    }
}
