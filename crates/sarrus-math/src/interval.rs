//! Closed intervals of real numbers with outward rounding \[Moore2009\].
//!
//! The image of an interval holds every finite value that the function takes on it; where the function is nowhere defined the
//! image is the whole line. The product of 0 and an infinite end is 0, since infinite ends stand for finite numbers without bound.
//!
//! Arithmetic is rounded outward by one unit in the last place. Elementary functions are widened by [`LIBRARY`] units, more than
//! the error of any libm in use.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Units in the last place by which values of elementary functions are widened.
const LIBRARY: f64 = 4.0;
/// The largest argument of sine and cosine whose multiple of π/2 is known: beyond it ulps are 1/8 and more.
const LARGEST_ANGLE: f64 = 1e15;

/// The numbers from `lo` to `hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Interval {
    /// All numbers.
    pub const ALL: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// Zero.
    pub const ZERO: Interval = Interval::point(0.0);
    /// One.
    pub const ONE: Interval = Interval::point(1.0);
    /// From zero to one.
    pub const UNIT: Interval = Interval { lo: 0.0, hi: 1.0 };

    /// From `lo` to `hi`; all numbers where an end is none.
    #[inline]
    pub const fn new(lo: f64, hi: f64) -> Interval {
        if lo <= hi { Interval { lo, hi } } else { Interval::ALL }
    }

    /// The number `x` alone.
    #[inline]
    pub const fn point(x: f64) -> Interval {
        Interval::new(x, x)
    }

    /// The numbers up to `radius` away from `x`, rounded outward.
    pub fn around(x: f64, radius: f64) -> Interval {
        Interval::new((x - radius).next_down(), (x + radius).next_up())
    }

    /// Returns whether it has one number only.
    #[inline]
    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Returns whether `x` is in it.
    #[inline]
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// A number in it, in the middle where both ends are finite.
    pub fn mid(self) -> f64 {
        if self.is_point() {
            return self.lo;
        }
        (0.5 * self.lo.max(f64::MIN) + 0.5 * self.hi.min(f64::MAX)).clamp(self.lo, self.hi)
    }

    /// The largest |x|.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The smallest interval with both.
    #[inline]
    pub fn hull(self, b: Interval) -> Interval {
        Interval { lo: self.lo.min(b.lo), hi: self.hi.max(b.hi) }
    }

    /// The numbers in both; `self` where there are none, which only rounding brings about.
    pub fn meet(self, b: Interval) -> Interval {
        let (lo, hi) = (self.lo.max(b.lo), self.hi.min(b.hi));
        if lo <= hi { Interval { lo, hi } } else { self }
    }

    /// Widened by one unit in the last place, within a sign that is known.
    #[inline]
    fn out(lo: f64, hi: f64, [positive, negative]: [bool; 2]) -> Interval {
        let (lo, hi) = (lo.next_down(), hi.next_up());
        Interval::new(if positive { lo.max(0.0) } else { lo }, if negative { hi.min(0.0) } else { hi })
    }

    /// Returns whether no number is negative, and whether none is positive.
    #[inline]
    fn signs(self) -> [bool; 2] {
        [self.lo >= 0.0, self.hi <= 0.0]
    }

    /// Widened by the error of an elementary function, within the function's range.
    #[inline]
    fn of_library(lo: f64, hi: f64, range: Interval) -> Interval {
        let wide = |x: f64| LIBRARY * f64::EPSILON * x.abs() + f64::MIN_POSITIVE;
        let lo = if lo.is_finite() { lo - wide(lo) } else { lo };
        let hi = if hi.is_finite() { hi + wide(hi) } else { hi };
        Interval::new(lo.max(range.lo), hi.min(range.hi))
    }

    /// A rising function on the part of the interval inside `domain`.
    fn rising(self, domain: Interval, range: Interval, f: impl Fn(f64) -> f64) -> Interval {
        let (lo, hi) = (self.lo.max(domain.lo), self.hi.min(domain.hi));
        if lo <= hi { Interval::of_library(f(lo), f(hi), range) } else { Interval::ALL }
    }

    /// x².
    pub fn square(self) -> Interval {
        self.powi(2)
    }

    /// |x|.
    pub fn abs(self) -> Interval {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Interval { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// The smaller one of two numbers.
    pub fn min(self, b: Interval) -> Interval {
        Interval { lo: self.lo.min(b.lo), hi: self.hi.min(b.hi) }
    }

    /// The larger one of two numbers.
    pub fn max(self, b: Interval) -> Interval {
        Interval { lo: self.lo.max(b.lo), hi: self.hi.max(b.hi) }
    }

    /// √x of what is not negative.
    pub fn sqrt(self) -> Interval {
        self.rising(POSITIVE, POSITIVE, f64::sqrt)
    }

    /// eˣ.
    pub fn exp(self) -> Interval {
        self.rising(Interval::ALL, POSITIVE, f64::exp)
    }

    /// Natural logarithm of what is positive.
    pub fn ln(self) -> Interval {
        self.rising(POSITIVE, Interval::ALL, f64::ln)
    }

    /// Sine.
    pub fn sin(self) -> Interval {
        (self - FRAC_PI_2_INTERVAL).cosine(self, f64::sin)
    }

    /// Cosine.
    pub fn cos(self) -> Interval {
        self.cosine(self, f64::cos)
    }

    /// `f` on `x`, a cosine of `self`: tops lie at even, bottoms at odd multiples of π.
    fn cosine(self, x: Interval, f: impl Fn(f64) -> f64) -> Interval {
        const RANGE: Interval = Interval { lo: -1.0, hi: 1.0 };
        if !(self.magnitude() < LARGEST_ANGLE) {
            return RANGE;
        }
        let ends = [f(x.lo), f(x.hi)];
        let (mut lo, mut hi) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if self.has_multiple(0.0, TAU) {
            hi = 1.0;
        }
        if self.has_multiple(PI, TAU) {
            lo = -1.0;
        }
        Interval::of_library(lo, hi, RANGE)
    }

    /// Returns whether some `first` + k `period` is in it, or as near as rounding.
    fn has_multiple(self, first: f64, period: f64) -> bool {
        let slack = 4.0 * f64::EPSILON * (self.magnitude() + period);
        ((self.hi + slack - first) / period).floor() >= ((self.lo - slack - first) / period).ceil()
    }

    /// Tangent; everything where a pole is inside.
    pub fn tan(self) -> Interval {
        if !(self.magnitude() < LARGEST_ANGLE) || self.has_multiple(FRAC_PI_2, PI) {
            return Interval::ALL;
        }
        self.rising(Interval::ALL, Interval::ALL, f64::tan)
    }

    /// Angle of the points (x, y) with `self` as y: continuous, so that it may leave (-π, π]; none where they surround the origin.
    pub fn angle(self, x: Interval) -> Option<Interval> {
        let ends = [self.lo, self.hi, x.lo, x.hi];
        if self.contains(0.0) && x.contains(0.0) || ends.iter().any(|end| !end.is_finite()) {
            return None;
        }
        let (y0, x0) = (self.mid(), x.mid());
        let base = y0.atan2(x0);
        let (mut lo, mut hi) = (0.0f64, 0.0f64);
        for (y, x) in [(self.lo, x.lo), (self.lo, x.hi), (self.hi, x.lo), (self.hi, x.hi)] {
            let rotation = (x0 * y - y0 * x).atan2(x0 * x + y0 * y);
            (lo, hi) = (lo.min(rotation), hi.max(rotation));
        }
        // errors of both cross and dot product, which cancel where the box is far away
        let slack = 2.0 * LIBRARY * f64::EPSILON * PI;
        Some(Interval::new(base + lo - slack, base + hi + slack))
    }

    /// Arc tangent.
    pub fn atan(self) -> Interval {
        self.rising(Interval::ALL, Interval::new(-FRAC_PI_2, FRAC_PI_2), f64::atan)
    }

    /// Arc sine of what is in [-1, 1].
    pub fn asin(self) -> Interval {
        self.rising(Interval::new(-1.0, 1.0), Interval::ALL, f64::asin)
    }

    /// Arc cosine of what is in [-1, 1].
    pub fn acos(self) -> Interval {
        FRAC_PI_2_INTERVAL - self.asin()
    }

    /// Hyperbolic sine.
    pub fn sinh(self) -> Interval {
        self.rising(Interval::ALL, Interval::ALL, f64::sinh)
    }

    /// Hyperbolic cosine.
    pub fn cosh(self) -> Interval {
        self.abs().rising(Interval::ALL, Interval { lo: 1.0, hi: f64::INFINITY }, f64::cosh)
    }

    /// Hyperbolic tangent.
    pub fn tanh(self) -> Interval {
        self.rising(Interval::ALL, Interval { lo: -1.0, hi: 1.0 }, f64::tanh)
    }

    /// Integer power.
    pub fn powi(self, n: i32) -> Interval {
        if n == 0 {
            return Interval::ONE;
        }
        if n < 0 {
            return Interval::ONE / self.powi(n.saturating_neg());
        }
        // repeated products have an error of one unit each
        let wide = |x: f64| f64::from(n) * f64::EPSILON * x.abs();
        let base = if n % 2 == 0 { self.abs() } else { self };
        let (lo, hi) = (base.lo.powi(n), base.hi.powi(n));
        let lo = if lo.is_finite() { (lo - wide(lo)).next_down() } else { lo };
        let hi = if hi.is_finite() { (hi + wide(hi)).next_up() } else { hi };
        Interval::new(if n % 2 == 0 { lo.max(0.0) } else { lo }, hi)
    }

    /// Real power; of bases below zero only where the exponent is one integer.
    pub fn powf(self, p: Interval) -> Interval {
        if p.is_point() && p.lo.fract() == 0.0 && p.lo.abs() <= f64::from(i32::MAX) {
            return self.powi(p.lo as i32);
        }
        if self.hi < 0.0 || self.lo < 0.0 && !p.is_point() {
            return Interval::ALL;
        }
        // monotonic in the base and in the exponent: extremes lie at corners
        let base = Interval { lo: self.lo.max(0.0), hi: self.hi };
        let corners = [(base.lo, p.lo), (base.lo, p.hi), (base.hi, p.lo), (base.hi, p.hi)];
        let corners = corners.map(|(x, p)| x.powf(p));
        if corners.iter().any(|x| x.is_nan()) {
            return POSITIVE;
        }
        let lo = corners.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Interval::of_library(lo, hi, POSITIVE)
    }
}

const POSITIVE: Interval = Interval { lo: 0.0, hi: f64::INFINITY };
/// π/2.
pub(crate) const FRAC_PI_2_INTERVAL: Interval =
    Interval { lo: FRAC_PI_2 - f64::EPSILON, hi: FRAC_PI_2 + f64::EPSILON };

/// a b, where no change stays none.
#[inline]
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Neg for Interval {
    type Output = Interval;
    #[inline]
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Interval;
    #[inline]
    fn add(self, b: Interval) -> Interval {
        if self == Interval::ZERO {
            return b;
        }
        if b == Interval::ZERO {
            return self;
        }
        let ([p, n], [q, m]) = (self.signs(), b.signs());
        Interval::out(self.lo + b.lo, self.hi + b.hi, [p && q, n && m])
    }
}

impl Sub for Interval {
    type Output = Interval;
    #[inline]
    fn sub(self, b: Interval) -> Interval {
        self + -b
    }
}

impl Mul for Interval {
    type Output = Interval;
    #[inline]
    fn mul(self, b: Interval) -> Interval {
        if self == Interval::ZERO || b == Interval::ZERO {
            return Interval::ZERO;
        }
        if b == Interval::ONE {
            return self;
        }
        if self == Interval::ONE {
            return b;
        }
        let all =
            [product(self.lo, b.lo), product(self.lo, b.hi), product(self.hi, b.lo), product(self.hi, b.hi)];
        let lo = all[0].min(all[1]).min(all[2].min(all[3]));
        let hi = all[0].max(all[1]).max(all[2].max(all[3]));
        let ([p, n], [q, m]) = (self.signs(), b.signs());
        Interval::out(lo, hi, [p && q || n && m, p && m || n && q])
    }
}

impl Div for Interval {
    type Output = Interval;
    fn div(self, b: Interval) -> Interval {
        let inverse = if b.lo > 0.0 || b.hi < 0.0 {
            Interval::out(1.0 / b.hi, 1.0 / b.lo, b.signs())
        } else if b.lo == 0.0 && b.hi > 0.0 {
            Interval::out(1.0 / b.hi, f64::INFINITY, b.signs())
        } else if b.hi == 0.0 && b.lo < 0.0 {
            Interval::out(f64::NEG_INFINITY, 1.0 / b.lo, b.signs())
        } else {
            Interval::ALL
        };
        self * inverse
    }
}
