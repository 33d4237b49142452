//! Describes where in a step a condition changes.
//!
//! **Crossing.** Between an instant at which a condition does not hold and one at which it does, by the ITP method
//! \[Oliveira2020\] on its margin: it takes no more evaluations than bisection and mostly far fewer. The condition itself,
//! not the sign of its margin, says on which side an instant lies.
//!
//! **Peak.** A margin that rises and falls again between samples without reaching zero at any of them may do so in between:
//! its top is searched for by golden sections, until the condition holds or the top is found to lie below.

use sarrus_system::conditions::ConditionValue;

/// Width of the last bracket, in units in the last place of the time.
const ULPS: f64 = 4.0;
/// The ITP method's κ₁, times the width; κ₂ is 2.
const KAPPA: f64 = 0.2;
/// Sections before a peak counts as found.
const SECTIONS: usize = 60;
/// The golden section.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// A time and what the condition is then.
pub(super) type ConditionSample = (f64, ConditionValue);

/// The first instant after `a`, where the condition does not hold, to the last digits, at which it does, as it does at `b`.
pub(super) fn crossing<E>(
    a: ConditionSample,
    b: ConditionSample,
    judge: impl FnMut(f64) -> Result<ConditionValue, E>,
) -> Result<f64, E> {
    bracket(a, b, judge).map(|[_, t]| t)
}

/// The same, after the last instant that is known at which it does not hold.
pub(super) fn bracket<E>(
    mut a: ConditionSample,
    mut b: ConditionSample,
    mut judge: impl FnMut(f64) -> Result<ConditionValue, E>,
) -> Result<[f64; 2], E> {
    let epsilon = 0.5 * ULPS * f64::EPSILON * a.0.abs().max(b.0.abs());
    let width = b.0 - a.0;
    let most = (width / (2.0 * epsilon)).log2().ceil().max(0.0) as i32 + 1;
    for j in 0..=most + 1 {
        let (lo, hi) = (a.0, b.0);
        if hi - lo <= 2.0 * epsilon {
            break;
        }
        let middle = 0.5 * (lo + hi);
        // the line between the two, moved a little towards the middle, and no farther from it than bisection would be
        let (below, above) = (a.1.margin.abs(), b.1.margin.abs());
        let line = (above * lo + below * hi) / (above + below);
        let line = if line > lo && line < hi { line } else { middle };
        let towards = (middle - line).signum();
        let delta = KAPPA * (hi - lo).powi(2) / width;
        let moved = if delta <= (middle - line).abs() { line + towards * delta } else { middle };
        let radius = epsilon * 2_f64.powi(most - j) - 0.5 * (hi - lo);
        let near = if (moved - middle).abs() <= radius { moved } else { middle - towards * radius.max(0.0) };
        let t = if near > lo && near < hi { near } else { middle };
        if t <= lo || t >= hi {
            break;
        }
        let verdict = judge(t)?;
        if verdict.holds { b = (t, verdict) } else { a = (t, verdict) }
    }
    Ok([a.0, b.0])
}

/// Returns whether a margin with these values at three instants, the middle one the highest, may reach zero between them.
pub(super) fn may_reach(a: ConditionSample, middle: ConditionSample, b: ConditionSample) -> bool {
    // the vertex of the parabola, with room for its not being one
    let [(ta, ma), (t, m), (tb, mb)] = [a, middle, b].map(|(t, v)| (t, v.margin));
    let (left, right) = ((m - ma) / (t - ta), (mb - m) / (tb - t));
    let curvature = (right - left) / (tb - ta);
    let slope = (left * (tb - t) + right * (t - ta)) / (tb - ta);
    let rise = if curvature < 0.0 { slope * slope / (-4.0 * curvature) } else { 0.0 };
    let spread = (m - ma).max(m - mb);
    m + 4.0 * rise + 0.05 * spread >= 0.0
}

/// An instant between `a` and `b` at which the condition holds, if the top of its margin there is high enough.
pub(super) fn peak<E>(
    mut a: f64,
    middle: ConditionSample,
    mut b: f64,
    mut judge: impl FnMut(f64) -> Result<ConditionValue, E>,
) -> Result<Option<ConditionSample>, E> {
    let mut best = middle;
    for _ in 0..SECTIONS {
        let left = best.0 - a > b - best.0;
        let t = if left { best.0 - GOLDEN * (best.0 - a) } else { best.0 + GOLDEN * (b - best.0) };
        if t <= a || t >= b || t == best.0 {
            break;
        }
        let verdict = judge(t)?;
        if verdict.holds {
            return Ok(Some((t, verdict)));
        }
        if verdict.margin > best.1.margin {
            if left {
                b = best.0
            } else {
                a = best.0
            }
            best = (t, verdict);
        } else if left {
            a = t;
        } else {
            b = t;
        }
        // the margin has no more to gain than what it differs by at the ends, which falls with the square of the width
        if (b - a) < 1e-8 * best.0.abs() {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(margin: f64) -> ConditionValue {
        ConditionValue { holds: margin > 0.0, margin }
    }

    /// cos t changes its sign at π/2; the result is the first number at which it is negative, to the last digits.
    #[test]
    fn a_crossing_is_found_to_the_last_digits_and_in_few_evaluations() {
        let mut count = 0;
        let judge = |t: f64| -> Result<ConditionValue, ()> {
            count += 1;
            Ok(verdict(-t.cos()))
        };
        let at = |t: f64| (t, verdict(-t.cos()));
        let t = crossing(at(1.0), at(2.5), judge).unwrap();
        assert!((t - std::f64::consts::FRAC_PI_2).abs() < 1e-15, "{t}");
        assert!(count < 15, "{count} evaluations");
    }

    #[test]
    fn a_condition_without_a_size_is_bisected() {
        let mut count = 0;
        let flag = |t: f64| ConditionValue { holds: t >= 0.7, margin: if t >= 0.7 { 1.0 } else { -1.0 } };
        let judge = |t: f64| -> Result<ConditionValue, ()> {
            count += 1;
            Ok(flag(t))
        };
        let t = crossing((0.0, flag(0.0)), (1.0, flag(1.0)), judge).unwrap();
        assert!((0.7..0.7 + 1e-15).contains(&t), "{t}");
        assert!(count < 60, "{count} evaluations");
    }

    /// Between three samples that are all below zero lies a top of 1e-6.
    #[test]
    fn a_short_peak_between_samples_is_found() {
        let f = |t: f64| verdict(1e-6 - (t - 0.437).powi(2));
        let (a, m, b) = ((0.2, f(0.2)), (0.4, f(0.4)), (0.6, f(0.6)));
        assert!(may_reach(a, m, b));
        let (t, v) = peak(a.0, m, b.0, |t| Ok::<_, ()>(f(t))).unwrap().unwrap();
        assert!(v.holds && (t - 0.437).abs() < 1e-3);
    }

    #[test]
    fn a_peak_that_stays_far_below_is_not_searched_and_never_found() {
        let f = |t: f64| verdict(-1e-3 - (t - 0.437).powi(2));
        let (a, m, b) = ((0.2, f(0.2)), (0.4, f(0.4)), (0.6, f(0.6)));
        assert_eq!(peak(a.0, m, b.0, |t| Ok::<_, ()>(f(t))).unwrap(), None);
        let f = |t: f64| verdict(-1.0 - (t - 0.437).powi(2));
        assert!(!may_reach((0.2, f(0.2)), (0.4, f(0.4)), (0.6, f(0.6))));
    }
}
