//! Bounds on a curve over an interval of time: the hull of the pieces that its argument meets, and of the kinks between them.

use super::{Curve, Interpolation, Outside};
use sarrus_math::{Enclosure, Interval, Real};

/// The value, slope and second derivative of a curve on an interval of its argument.
#[derive(Clone, Copy)]
struct CurveRange {
    f: Interval,
    slope: Interval,
    bend: Interval,
}

impl CurveRange {
    /// Both, where the slope is continuous or jumps from the first to the second.
    fn join(self, after: CurveRange) -> CurveRange {
        CurveRange {
            f: self.f.hull(after.f),
            slope: self.slope.hull(after.slope),
            bend: self.bend.hull(after.bend),
        }
    }

    /// With the second derivative of a slope that jumps from one number to another.
    fn kink(mut self, before: f64, after: f64) -> CurveRange {
        if after > before {
            self.bend.hi = f64::INFINITY;
        } else if after < before {
            self.bend.lo = f64::NEG_INFINITY;
        }
        self
    }
}

impl Curve {
    /// Bounds on the value at `x` over an interval of time.
    pub fn enclose(&self, x: Enclosure) -> Enclosure {
        let [first, last] = self.range();
        if x.v.is_point() && x.is_constant() {
            return Enclosure::from_f64(self.eval(x.v.lo));
        }
        if !(x.v.lo.is_finite() && x.v.hi.is_finite()) {
            return Enclosure::jumping(Interval::ALL);
        }
        let (range, continuous) = match self.outside {
            Outside::Repeat => {
                let period = last - first;
                let revolutions = ((x.v.lo - first) / period).floor();
                let lo = (x.v.lo - revolutions * period).clamp(first, last);
                let hi = x.v.hi - revolutions * period;
                // the fraction of a period is rounded
                let slack = 4.0 * f64::EPSILON * (x.v.magnitude() + period);
                (self.repeated(lo - slack, hi + slack, period), true)
            }
            _ => {
                (self.on(x.v.lo, x.v.hi), self.outside != Outside::Error || x.v.lo >= first && x.v.hi <= last)
            }
        };
        let Some(range) = range else { return Enclosure::jumping(Interval::ALL) };
        if range.f.is_point() && range.slope == Interval::ZERO {
            return Enclosure::constant(range.f);
        }
        if !continuous || self.interpolation == Interpolation::Step {
            return Enclosure::jumping(range.f);
        }
        x.chain(range.f, range.slope, range.bend)
    }

    /// Over one or two periods.
    fn repeated(&self, lo: f64, hi: f64, period: f64) -> Option<CurveRange> {
        let [first, last] = self.range();
        let mut all = self.inside(lo.max(first), hi.min(last));
        let mut add = |lo: f64, hi: f64| {
            let more = self.inside(lo, hi);
            all = match (all, more) {
                (Some(a), Some(b)) => Some(a.join(b).kink(self.slopes[1], self.slopes[0])),
                (a, b) => a.or(b),
            };
        };
        if lo < first {
            add(lo + period, last);
        }
        if hi > last {
            add(first, (hi - period).min(last));
        }
        if hi - period > last {
            add(first, last);
        }
        all
    }

    /// On [lo, hi], with what lies beyond the points; none where it is nowhere defined.
    fn on(&self, lo: f64, hi: f64) -> Option<CurveRange> {
        let [first, last] = self.range();
        let mut all = self.inside(lo.max(first), hi.min(last));
        let ends =
            [(self.pieces[0][0], lo < first, lo, hi.min(first)), (self.last, hi > last, lo.max(last), hi)];
        for (end, (y, reaches, from, to)) in ends.into_iter().enumerate() {
            if !reaches || self.outside == Outside::Error {
                continue;
            }
            let slope = if self.outside == Outside::Extend { self.slopes[end] } else { 0.0 };
            let at = Interval::new(from, to) - Interval::point([first, last][end]);
            let beyond = CurveRange {
                f: Interval::point(y) + at * Interval::point(slope),
                slope: Interval::point(slope),
                bend: Interval::ZERO,
            };
            all = Some(match all {
                Some(own) if end == 0 => beyond.join(own).kink(slope, self.slopes[0]),
                Some(own) => own.join(beyond).kink(self.slopes[1], slope),
                None => beyond,
            });
        }
        all
    }

    /// On a part of the range of its points.
    fn inside(&self, lo: f64, hi: f64) -> Option<CurveRange> {
        if lo > hi {
            return None;
        }
        let piece = |x: f64| self.x.partition_point(|knot| *knot <= x).clamp(1, self.pieces.len()) - 1;
        let (i, j) = (piece(lo), piece(hi));
        let mut all: Option<CurveRange> = None;
        for k in i..=j {
            let (from, to) = (lo.max(self.x[k]) - self.x[k], hi.min(self.x[k + 1]) - self.x[k]);
            let own = polynomial(self.pieces[k], from, to);
            all = Some(match all {
                // the slopes of a spline are continuous up to rounding
                Some(before) if self.interpolation == Interpolation::Linear => {
                    before.join(own).kink(self.pieces[k - 1][1], self.pieces[k][1])
                }
                Some(before) => before.join(own),
                None => own,
            });
        }
        if self.interpolation == Interpolation::Step && hi >= self.x[self.x.len() - 1] {
            all = all.map(|range| CurveRange { f: range.f.hull(Interval::point(self.last)), ..range });
        }
        all
    }
}

/// c₀ + c₁d + c₂d² + c₃d³ on [lo, hi].
fn polynomial([c0, c1, c2, c3]: [f64; 4], lo: f64, hi: f64) -> CurveRange {
    let far = lo.abs().max(hi.abs());
    // at both ends and where the derivative vanishes, with the rounding of Horner's scheme
    let over = |c: [f64; 4], tops: [f64; 2]| {
        let value = |d: f64| ((c[3] * d + c[2]) * d + c[1]) * d + c[0];
        let size = ((c[3].abs() * far + c[2].abs()) * far + c[1].abs()) * far + c[0].abs();
        let tops = tops.into_iter().filter(|d| *d > lo && *d < hi);
        let values = [lo, hi].into_iter().chain(tops).map(value);
        let (least, most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), y| (lo.min(y), hi.max(y)));
        if size == c[0].abs() {
            return Interval::point(c[0]);
        }
        let slack = 8.0 * f64::EPSILON * size;
        Interval::new(least - slack, most + slack)
    };
    let slope = [c1, 2.0 * c2, 3.0 * c3, 0.0];
    let bend = [2.0 * c2, 6.0 * c3, 0.0, 0.0];
    CurveRange {
        f: over([c0, c1, c2, c3], roots(slope)),
        slope: over(slope, [-c2 / (3.0 * c3); 2]),
        bend: over(bend, [f64::NAN; 2]),
    }
}

/// Roots of a + b x + c x²; not a number where there are none.
fn roots([a, b, c, _]: [f64; 4]) -> [f64; 2] {
    let q = -0.5 * (b + b.signum() * (b * b - 4.0 * a * c).sqrt());
    [q / c, a / q]
}
