//! A function of time over an interval of time: bounds on its value, its rate and its second derivative.
//!
//! The scalar is a [`Real`]: what is written over any scalar is bounded by evaluating it over enclosures of its arguments. A rate
//! is all that difference quotients may be, a second derivative all that difference quotients of rates may be. So both have a
//! meaning at kinks: min(f, g) has the larger of both second derivatives as its upper bound, and none below.

use crate::interval::{FRAC_PI_2_INTERVAL, Interval};
use crate::{Real, operators::operators_from_assignments};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// Bounds on a function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    /// The value.
    pub v: Interval,
    /// The rate.
    pub d: Interval,
    /// The second derivative.
    pub dd: Interval,
}

impl Enclosure {
    /// A constant.
    #[inline]
    pub fn constant(v: Interval) -> Enclosure {
        Enclosure { v, d: Interval::ZERO, dd: Interval::ZERO }
    }

    /// Values in `v` that may jump.
    #[inline]
    pub fn jumping(v: Interval) -> Enclosure {
        Enclosure { v, d: Interval::ALL, dd: Interval::ALL }
    }

    /// Returns whether it is the same all the time.
    #[inline]
    pub fn is_constant(&self) -> bool {
        self.d == Interval::ZERO && self.dd == Interval::ZERO
    }

    /// f(self), given f, f′ and f″ on the value.
    #[inline]
    pub fn chain(self, f: Interval, slope: Interval, bend: Interval) -> Enclosure {
        Enclosure { v: f, d: slope * self.d, dd: bend * self.d.square() + slope * self.dd }
    }

    /// The same where f is defined on a part of the line: rates are bounded only inside.
    fn chain_on(self, inside: bool, f: Interval, slope: Interval, bend: Interval) -> Enclosure {
        if inside || self.is_constant() { self.chain(f, slope, bend) } else { Enclosure::jumping(f) }
    }

    /// The smaller one.
    pub fn least(self, b: Enclosure) -> Enclosure {
        if self.v.hi < b.v.lo {
            return self;
        }
        if b.v.hi < self.v.lo {
            return b;
        }
        if self.is_constant() && b.is_constant() {
            return Enclosure::constant(self.v.min(b.v));
        }
        // equal bounds are no equal functions: there may be a kink
        let dd = Interval { lo: f64::NEG_INFINITY, hi: self.dd.hi.max(b.dd.hi) };
        Enclosure { v: self.v.min(b.v), d: self.d.hull(b.d), dd }
    }

    /// The larger one.
    pub fn most(self, b: Enclosure) -> Enclosure {
        -(-self).least(-b)
    }

    /// The angle of (x, y) with `self` as y, continuous up to whole revolutions; none where the origin may be met.
    pub fn angle(self, x: Enclosure) -> Option<Enclosure> {
        let v = self.v.angle(x.v)?;
        let (y, r2) = (self, x.v.square() + self.v.square());
        let d = (x.v * y.d - y.v * x.d) / r2;
        let half = (x.v * x.d + y.v * y.d) / r2;
        let dd = (x.v * y.dd - y.v * x.dd) / r2 - half * d - half * d;
        Some(Enclosure { v, d, dd })
    }

    /// Lower bound between two instants `w` apart, where the value is `ends` at these: by values, rates, or second derivatives.
    pub fn lower(&self, ends: [f64; 2], w: f64) -> f64 {
        let by_rates = lower_by_rates(ends, self.d, w);
        let by_bends = lower_by_bend(ends, self.dd.hi, w);
        // a bound that is no number is none
        [by_rates, by_bends].into_iter().fold(self.v.lo, f64::max)
    }

    /// Upper bound, likewise.
    pub fn upper(&self, ends: [f64; 2], w: f64) -> f64 {
        -(-*self).lower(ends.map(|end| -end), w)
    }
}

/// The lowest point of two lines: from the first end down by the least rate, from the second back by the largest.
fn lower_by_rates([a, b]: [f64; 2], d: Interval, w: f64) -> f64 {
    let [down, up] = [d.lo.min(0.0), d.hi.max(0.0)];
    if down == 0.0 || up == 0.0 {
        return a.min(b);
    }
    if !(down.is_finite() && up.is_finite()) {
        return (a + down * w).max(b - up * w);
    }
    // a + down s = b - up (w - s)
    let s = ((b - a - up * w) / (down - up)).clamp(0.0, w);
    (a + down * s).min(b - up * (w - s))
}

/// The lowest point of the parabola through both ends with the second derivative `bend`.
fn lower_by_bend([a, b]: [f64; 2], bend: f64, w: f64) -> f64 {
    if !bend.is_finite() {
        return f64::NEG_INFINITY;
    }
    let slope = (b - a) / w;
    let s = 0.5 * w - slope / bend;
    if bend <= 0.0 || !(s > 0.0 && s < w) {
        return a.min(b);
    }
    a + slope * s - 0.5 * bend * s * (w - s)
}

impl Real for Enclosure {
    fn from_f64(x: f64) -> Self {
        Enclosure::constant(Interval::point(x))
    }

    fn value(self) -> f64 {
        self.v.mid()
    }

    fn is_zero(self) -> bool {
        self.v == Interval::ZERO && self.is_constant()
    }

    fn sqrt(self) -> Self {
        let f = self.v.sqrt();
        let slope = Interval::point(0.5) / f;
        self.chain_on(self.v.lo >= 0.0, f, slope, -slope / self.v.abs() * Interval::point(0.5))
    }

    fn exp(self) -> Self {
        let f = self.v.exp();
        self.chain(f, f, f)
    }

    fn ln(self) -> Self {
        let slope = Interval::ONE / self.v;
        self.chain_on(self.v.lo > 0.0, self.v.ln(), slope, -slope.square())
    }

    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = (self.v.sin(), self.v.cos());
        (self.chain(s, c, -s), self.chain(c, -s, -c))
    }

    fn tan(self) -> Self {
        let f = self.v.tan();
        let slope = f.square() + Interval::ONE;
        self.chain_on(f != Interval::ALL, f, slope, f * slope * Interval::point(2.0))
    }

    fn atan2(self, x: Self) -> Self {
        let all = Interval::around(0.0, std::f64::consts::PI);
        match self.angle(x) {
            // both sides of the cut where it is touched
            Some(angle) if angle.v.lo > all.lo && angle.v.hi < all.hi => angle,
            _ if self.is_constant() && x.is_constant() => Enclosure::constant(all),
            _ => Enclosure::jumping(all),
        }
    }

    fn atan(self) -> Self {
        let slope = Interval::ONE / (self.v.square() + Interval::ONE);
        self.chain(self.v.atan(), slope, self.v * slope.square() * Interval::point(-2.0))
    }

    fn asin(self) -> Self {
        let cos = ((Interval::ONE - self.v) * (Interval::ONE + self.v)).sqrt();
        let slope = Interval::ONE / cos;
        let inside = self.v.lo >= -1.0 && self.v.hi <= 1.0;
        self.chain_on(inside, self.v.asin(), slope, self.v * slope * slope.square())
    }

    fn acos(self) -> Self {
        let f = -self.asin();
        Enclosure { v: FRAC_PI_2_INTERVAL + f.v, ..f }
    }

    fn sinh_cosh(self) -> (Self, Self) {
        let (s, c) = (self.v.sinh(), self.v.cosh());
        (self.chain(s, c, s), self.chain(c, s, c))
    }

    fn tanh(self) -> Self {
        let f = self.v.tanh();
        let slope = (Interval::ONE - f) * (Interval::ONE + f);
        self.chain(f, slope, f * slope * Interval::point(-2.0))
    }

    fn powi(self, n: i32) -> Self {
        let times = |k: i32, factor: f64| match factor {
            0.0 => Interval::ZERO,
            _ => self.v.powi(k) * Interval::point(factor),
        };
        let factor = f64::from(n);
        let slope = times(n.saturating_sub(1), factor);
        let inside = n >= 0 || !self.v.contains(0.0);
        self.chain_on(inside, self.v.powi(n), slope, times(n.saturating_sub(2), factor * (factor - 1.0)))
    }

    fn powf(self, p: Self) -> Self {
        let f = self.v.powf(p.v);
        if p.is_constant() && p.v.is_point() {
            let exponent = p.v.lo;
            if exponent.fract() == 0.0 && exponent.abs() <= f64::from(i32::MAX) {
                return self.powi(exponent as i32);
            }
            let power = |p: f64| self.v.powf(Interval::point(p));
            let slope = power(exponent - 1.0) * Interval::point(exponent);
            let bend = power(exponent - 2.0) * (Interval::point(exponent) * Interval::point(exponent - 1.0));
            let inside = self.v.lo > 0.0 || self.v.lo == 0.0 && exponent > 0.0;
            return self.chain_on(inside, f, slope, bend);
        }
        if self.v.lo <= 0.0 {
            return Enclosure::jumping(f);
        }
        let y = (p * self.ln()).exp();
        Enclosure { v: f, ..y }
    }

    fn abs(self) -> Self {
        Enclosure { v: self.v.abs(), ..self.most(-self) }
    }
}

operators_from_assignments!([] Enclosure);

impl Neg for Enclosure {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Enclosure { v: -self.v, d: -self.d, dd: -self.dd }
    }
}

impl AddAssign for Enclosure {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = Enclosure { v: self.v + b.v, d: self.d + b.d, dd: self.dd + b.dd };
    }
}

impl SubAssign for Enclosure {
    #[inline]
    fn sub_assign(&mut self, b: Self) {
        *self += -b;
    }
}

impl MulAssign for Enclosure {
    #[inline]
    fn mul_assign(&mut self, b: Self) {
        let cross = self.d * b.d;
        *self = Enclosure {
            v: self.v * b.v,
            d: self.d * b.v + self.v * b.d,
            dd: self.dd * b.v + cross + cross + self.v * b.dd,
        };
    }
}

impl Div for Enclosure {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let q = self.v / b.v;
        if b.v.contains(0.0) && !b.is_constant() {
            return Enclosure::jumping(q);
        }
        let d = (self.d - q * b.d) / b.v;
        let cross = d * b.d;
        Enclosure { v: q, d, dd: (self.dd - cross - cross - q * b.dd) / b.v }
    }
}

impl Add<f64> for Enclosure {
    type Output = Self;
    #[inline]
    fn add(mut self, b: f64) -> Self {
        self.v = self.v + Interval::point(b);
        self
    }
}

impl Sub<f64> for Enclosure {
    type Output = Self;
    #[inline]
    fn sub(self, b: f64) -> Self {
        self + -b
    }
}

impl Mul<f64> for Enclosure {
    type Output = Self;
    #[inline]
    fn mul(self, b: f64) -> Self {
        let b = Interval::point(b);
        Enclosure { v: self.v * b, d: self.d * b, dd: self.dd * b }
    }
}

impl Div<f64> for Enclosure {
    type Output = Self;
    #[inline]
    fn div(self, b: f64) -> Self {
        let b = Interval::point(b);
        Enclosure { v: self.v / b, d: self.d / b, dd: self.dd / b }
    }
}
