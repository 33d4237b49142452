//! Round numbers along an axis, and how they are written.

use crate::scale::AxisRange;
use crate::text::{fixed, number, power};

/// Marks along an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ticks {
    /// Values with their labels.
    pub major: Vec<(f64, String)>,
    /// Values without.
    pub minor: Vec<f64>,
    /// A factor common to all labels, as `×10³`; empty for none.
    pub factor: String,
}

impl Ticks {
    /// At most about `most` labels along `range`.
    pub fn new(range: &AxisRange, most: usize) -> Ticks {
        let most = most.max(2);
        if range.log { Ticks::log(range, most) } else { Ticks::linear(range, most) }
    }

    /// Names side by side.
    pub fn categories(names: &[String]) -> Ticks {
        let major = names.iter().enumerate().map(|(i, n)| (i as f64, n.clone())).collect();
        Ticks { major, ..Ticks::default() }
    }

    fn linear(range: &AxisRange, most: usize) -> Ticks {
        let values = round(range.lo, range.hi, most);
        let Some(step) = values.windows(2).map(|w| w[1] - w[0]).next() else {
            let major = values.into_iter().map(|x| (x, number(x))).collect();
            return Ticks { major, ..Ticks::default() };
        };
        let size = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        // a common power of ten, of thousands, where plain numbers would be long
        let exponent =
            if (1e-2..1e5).contains(&size) { 0 } else { (digits(size) as f64 / 3.0).floor() as i32 * 3 };
        let unit = 10_f64.powi(exponent);
        let decimals = (exponent - digits(step * (1.0 + 1e-9))).clamp(0, 12) as usize;
        let major = values.into_iter().map(|x| (x, fixed(x / unit, decimals))).collect();
        let factor = if exponent == 0 { String::new() } else { format!("×{}", power(exponent)) };
        Ticks { major, minor: Vec::new(), factor }
    }

    fn log(range: &AxisRange, most: usize) -> Ticks {
        let (a, b) = (range.lo.log10(), range.hi.log10());
        let (first, last) = ((a - 1e-9).ceil() as i32, (b + 1e-9).floor() as i32);
        if last - first >= 1 {
            return Ticks::decades(range, first, last, most);
        }
        // less than two decades: 1, 2, 5, and where these are too few any round numbers
        let within = |x: &f64| *x >= range.lo * (1.0 - 1e-9) && *x <= range.hi * (1.0 + 1e-9);
        let mut values: Vec<f64> = (first - 1..=last + 1)
            .flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(e)))
            .filter(within)
            .collect();
        if values.len() < 2 {
            values = round(range.lo, range.hi, most.min(5)).into_iter().filter(within).collect();
        }
        Ticks { major: values.into_iter().map(|x| (x, number(x))).collect(), ..Ticks::default() }
    }

    fn decades(range: &AxisRange, first: i32, last: i32, most: usize) -> Ticks {
        let count = last - first + 1;
        let every = [1, 2, 3, 4, 5, 10, 20, 50, 100, 200]
            .into_iter()
            .find(|&k| (count as usize).div_ceil(k as usize) <= most)
            .unwrap_or(300);
        let plain = first >= -2 && last <= 4;
        let label = |e: i32| if plain { number(10_f64.powi(e)) } else { power(e) };
        let labelled = |e: &i32| e.rem_euclid(every) == 0;
        let major = (first..=last).filter(labelled).map(|e| (10_f64.powi(e), label(e))).collect();
        let minor = if every == 1 {
            (first - 1..=last)
                .flat_map(|e| (2..10).map(move |m| f64::from(m) * 10_f64.powi(e)))
                .filter(|x| (range.lo..=range.hi).contains(x))
                .collect()
        } else {
            (first..=last).filter(|e| !labelled(e)).map(|e| 10_f64.powi(e)).collect()
        };
        Ticks { major, minor, factor: String::new() }
    }
}

/// The power of ten of the first digit.
fn digits(x: f64) -> i32 {
    x.log10().floor() as i32
}

/// Multiples of 1, 2 or 5 times a power of ten from `lo` to `hi`, at most about `most`.
fn round(lo: f64, hi: f64, most: usize) -> Vec<f64> {
    let raw = (hi - lo) / most as f64;
    let unit = 10_f64.powi(digits(raw));
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * unit >= raw * (1.0 - 1e-9)).unwrap_or(10.0) * unit;
    let (from, to) = ((lo / step - 1e-9).ceil(), (hi / step + 1e-9).floor());
    let count = if to >= from { (to - from).min(200.0) as usize + 1 } else { 0 };
    (0..count).map(|k| (from + k as f64) * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(lo: f64, hi: f64, log: bool, most: usize) -> (Vec<String>, String) {
        let t = Ticks::new(&AxisRange { lo, hi, log }, most);
        (t.major.into_iter().map(|(_, l)| l).collect(), t.factor)
    }

    #[test]
    fn ticks_are_round_and_carry_as_many_digits_as_they_need() {
        assert_eq!(labels(0.0, 1.0, false, 5).0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-3.0, 3.0, false, 4).0, ["−2", "0", "2"]);
        assert_eq!(labels(9.81, 9.8104, false, 4).0, ["9.8100", "9.8101", "9.8102", "9.8103", "9.8104"]);
    }

    #[test]
    fn small_and_large_numbers_share_a_power_of_ten() {
        assert_eq!(
            labels(0.0, 3e-14, false, 3),
            (["0", "10", "20", "30"].map(String::from).into(), "×10⁻¹⁵".into())
        );
        assert_eq!(labels(0.0, 2e6, false, 4).1, "×10⁶");
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_round_numbers_within_one() {
        assert_eq!(labels(1e-6, 1e-3, true, 6).0, ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]);
        assert_eq!(labels(1.0, 100.0, true, 6).0, ["1", "10", "100"]);
        assert_eq!(labels(1e-16, 1.0, true, 6).0.len(), 6);
        assert_eq!(labels(1.5, 6.0, true, 6).0, ["2", "5"]);
        assert!(labels(3.1, 3.9, true, 6).0.len() >= 2);
    }

    #[test]
    fn there_are_ticks_on_extreme_ranges() {
        for (lo, hi, log) in [(-1e300, 1e300, false), (1e-307, 1e307, true), (1.0, 1.0 + 1e-12, false)] {
            let n = labels(lo, hi, log, 6).0.len();
            assert!((1..=12).contains(&n), "{lo} {hi}: {n}");
        }
    }
}
