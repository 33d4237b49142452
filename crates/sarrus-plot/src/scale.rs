//! From values to places along an axis.

use crate::figure::{Axis, AxisScale};

/// Values beyond this are drawn as if they were this.
const HUGE: f64 = 1e300;

/// The ends of an axis, and how values lie between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AxisRange {
    pub lo: f64,
    pub hi: f64,
    pub log: bool,
}

/// Identifies which values an axis must show besides those given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisBase {
    /// None.
    Free,
    /// Zero, or on a logarithmic axis a decade below the least: bars stand on it.
    Bars,
}

impl AxisRange {
    /// The range that shows `values`, with `pad` of its length to spare at both ends.
    pub fn fit(axis: &Axis, values: impl Iterator<Item = f64>, pad: f64, foot: AxisBase) -> AxisRange {
        let log = axis.scale == AxisScale::Log;
        if let AxisScale::Categories(names) = &axis.scale {
            return AxisRange { lo: -0.5, hi: names.len().max(1) as f64 - 0.5, log: false };
        }
        if let Some((lo, hi)) = axis.range.filter(|&(lo, hi)| shows(lo, log) && shows(hi, log) && lo < hi) {
            return AxisRange { lo: lo.max(-HUGE), hi: hi.min(HUGE), log };
        }
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in values.filter(|&x| shows(x, log)) {
            let x = x.clamp(-HUGE, HUGE);
            (lo, hi) = (lo.min(x), hi.max(x));
        }
        if log { AxisRange::fit_log(lo, hi, pad, foot) } else { AxisRange::fit_linear(lo, hi, pad, foot) }
    }

    fn fit_linear(mut lo: f64, mut hi: f64, pad: f64, foot: AxisBase) -> AxisRange {
        if lo > hi {
            (lo, hi) = (0.0, 1.0);
        }
        if foot == AxisBase::Bars {
            (lo, hi) = (lo.min(0.0), hi.max(0.0));
        }
        // what differs by roundoff only counts as constant
        let size = lo.abs().max(hi.abs());
        if hi - lo <= 1e-13 * size {
            let margin = if size == 0.0 { 1.0 } else { 0.1 * size };
            (lo, hi) = (lo - margin, hi + margin);
        }
        let margin = pad * (hi - lo);
        let spare = |x: f64, by: f64| if foot == AxisBase::Bars && x == 0.0 { 0.0 } else { x + by };
        AxisRange { lo: spare(lo, -margin), hi: spare(hi, margin), log: false }
    }

    fn fit_log(mut lo: f64, mut hi: f64, pad: f64, foot: AxisBase) -> AxisRange {
        if lo > hi {
            (lo, hi) = (1.0, 10.0);
        }
        let (mut a, mut b) = (lo.log10(), hi.log10());
        if b - a < 1e-9 {
            (a, b) = (a - 0.5, b + 0.5);
        }
        let margin = pad * (b - a);
        (a, b) = match foot {
            // the shortest bar must still be seen
            AxisBase::Bars => ((a - 0.3).floor(), b + margin),
            AxisBase::Free => (a - margin, b + margin),
        };
        AxisRange { lo: 10_f64.powf(a.max(-307.0)), hi: 10_f64.powf(b.min(307.0)), log: true }
    }

    /// Place of `x`: 0 at the low end, 1 at the high end; none where it has no place.
    pub fn position(&self, x: f64) -> Option<f64> {
        if !shows(x, self.log) {
            return None;
        }
        let x = x.clamp(-HUGE, HUGE);
        let along = if self.log {
            (x / self.lo).log10() / (self.hi / self.lo).log10()
        } else {
            (x - self.lo) / (self.hi - self.lo)
        };
        // far outside, only the direction matters
        Some(along.clamp(-10.0, 11.0))
    }
}

fn shows(x: f64, log: bool) -> bool {
    x.is_finite() && (!log || x > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_no_place_for_what_is_not_positive() {
        let axis = Axis::log("x", "");
        let range = AxisRange::fit(&axis, [0.0, -1.0, 1e-6, 1e-2, f64::NAN].into_iter(), 0.0, AxisBase::Free);
        assert!((range.lo / 1e-6 - 1.0).abs() < 1e-9 && (range.hi / 1e-2 - 1.0).abs() < 1e-9);
        assert_eq!(
            (range.position(0.0), range.position(-1.0), range.position(f64::INFINITY)),
            (None, None, None)
        );
        assert!((range.position(1e-4).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn nothing_and_constants_have_ranges_too() {
        for axis in [Axis::linear("x", ""), Axis::log("x", "")] {
            for values in [vec![], vec![3.0; 4], vec![1e-300, 1e300], vec![f64::NAN]] {
                let r = AxisRange::fit(&axis, values.iter().copied(), 0.05, AxisBase::Free);
                assert!(r.lo < r.hi && r.lo.is_finite() && r.hi.is_finite(), "{values:?}: {r:?}");
            }
        }
        let r = AxisRange::fit(&Axis::linear("x", ""), [-1e308, 1e308].into_iter(), 0.05, AxisBase::Free);
        assert!((r.position(0.0).unwrap() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn bars_stand_on_zero() {
        let r = AxisRange::fit(&Axis::linear("x", ""), [2.0, 5.0].into_iter(), 0.05, AxisBase::Bars);
        assert_eq!(r.lo, 0.0);
    }
}
