//! Baumgarte's stabilization: J v̇ = γ - 2α Φ̇ - β² Φ, so that Φ̈ + 2α Φ̇ + β² Φ = 0 decays \[Baumgarte1972\].
//!
//! Rows without a position level obey Φ̈ + α Φ̇ = 0, with the same rate α, and no Φ is asked of them.
//!
//! `auto` takes α = β = the largest power of two not above 1/(20 h), at most 10⁴/s. The double root -α times the
//! step then lies in [-0.05, -0.025): deep inside the stability region of every explicit method, and violations
//! decay over some thirty steps. Faster is stable up to α h = 1 and beyond, but worse: stages are off the constraints
//! by O(h²), which β² turns into accelerations of (β h)² (a pendulum under `rk4` keeps Φ a hundred times better at
//! 0.04 than at 0.64). A power of two changes seldom, so that error control does not see the equations change with
//! every step size. The bound keeps β² times the rounding of Φ below 10⁻⁷.
//!
//! Costs nothing; leaves Φ at the size of the local error, not at rounding. Not for redundant constraints that have
//! drifted apart: the shifts contradict each other. Not where energy must be kept to many digits.

use super::{Stabilization, StabilizationKind};
use crate::error::MethodError;
use crate::options::{OptionDoc, Options};
use crate::problem::{Equations, Problem, Structure};

const RATE: &str = "a number above 0 [1/s] or `auto`";

/// Fastest rate that `auto` chooses [1/s].
const FASTEST: f64 = 1e4;

pub(super) const KIND: StabilizationKind = StabilizationKind {
    name: "baumgarte",
    doc: "Φ̈ + 2α Φ̇ + β² Φ = 0 instead of Φ̈ = 0",
    dense: false,
    options: &[
        OptionDoc {
            name: "alpha",
            default: "\"auto\"",
            doc: "damping rate α [1/s], or \"auto\": from the step size",
        },
        OptionDoc {
            name: "beta",
            default: "alpha",
            doc: "stiffness rate β [1/s], or \"auto\": from the step size",
        },
    ],
    new: |options| Ok(Box::new(Baumgarte::new(options)?)),
};

struct Baumgarte {
    alpha: Option<f64>,
    beta: Option<f64>,
}

impl Baumgarte {
    fn new(options: &Options) -> Result<Baumgarte, MethodError> {
        let rate = |name: &'static str| match options.word("baumgarte", name, RATE, &["auto"]) {
            Ok(_) => Ok(None),
            Err(_) => options.number("baumgarte", name, RATE, |x| x > 0.0 && x.is_finite()),
        };
        let alpha = rate("alpha")?;
        let beta = if options.get("beta").is_some() { rate("beta")? } else { alpha };
        Ok(Baumgarte { alpha, beta })
    }
}

/// The largest power of two not above 1/(20 h), bounded; zero where there is no step.
fn automatic(h: f64) -> f64 {
    if h > 0.0 && h.is_finite() { (-(20.0 * h).log2().ceil()).exp2().min(FASTEST) } else { 0.0 }
}

impl Stabilization for Baumgarte {
    fn shift(&self, problem: &dyn Problem, eq: &mut Equations, h: f64) {
        self.shift_rows(problem.structure(), |block| problem.rates(block), eq, h);
    }
}

impl Baumgarte {
    /// Shifts γ, with the rates that `own` gives a block row or else the common ones.
    fn shift_rows(&self, s: &Structure, own: impl Fn(usize) -> Option<[f64; 2]>, eq: &mut Equations, h: f64) {
        let common = [self.alpha, self.beta].map(|rate| rate.unwrap_or_else(|| automatic(h)));
        for (block, row) in s.rows.iter().enumerate() {
            let [alpha, beta] = own(block).unwrap_or(common);
            let split = row.start + row.holonomic;
            for i in row.start..split {
                eq.gamma[i] -= 2.0 * alpha * eq.phidot[i] + beta * beta * eq.phi[i];
            }
            for i in split..row.start + row.size {
                eq.gamma[i] -= alpha * eq.phidot[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automatic_rate_times_the_step_is_between_a_fortieth_and_a_twentieth() {
        for h in [1e-5, 1e-3, 0.7e-2, 0.125, 0.5, 1.0, 3.0] {
            let x = automatic(h) * h;
            assert!(x > 0.025 && x <= 0.05, "h = {h}: {x}");
        }
        assert_eq!(automatic(1e-9), FASTEST);
        assert_eq!(automatic(0.0), 0.0);
    }

    /// Row 0 has a position level, row 1 has none; its Φ is a NaN that must not be touched.
    #[test]
    fn rows_without_positions_are_not_asked_for_them() {
        let mut b = Structure::builder();
        b.column(2);
        b.row(2, 1, &[0]);
        let s = b.build(2, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.phi = vec![0.5, f64::NAN];
        eq.phidot = vec![2.0, 3.0];
        let mut options = Options::new();
        options.set("alpha", 10.0).set("beta", 4.0);
        Baumgarte::new(&options).unwrap().shift_rows(&s, |_| None, &mut eq, 0.1);
        assert_eq!(eq.gamma, [-2.0 * 10.0 * 2.0 - 16.0 * 0.5, -10.0 * 3.0]);
    }

    #[test]
    fn an_element_with_rates_of_its_own_keeps_them() {
        let mut b = Structure::builder();
        b.column(2);
        b.row(1, 1, &[0]);
        b.row(1, 1, &[0]);
        let s = b.build(2, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.phi = vec![1.0, 1.0];
        eq.phidot = vec![1.0, 1.0];
        let mut options = Options::new();
        options.set("alpha", 10.0).set("beta", 4.0);
        let own = |block| (block == 1).then_some([3.0, 5.0]);
        Baumgarte::new(&options).unwrap().shift_rows(&s, own, &mut eq, 0.1);
        assert_eq!(eq.gamma, [-20.0 - 16.0, -6.0 - 25.0]);
    }

    #[test]
    fn a_rate_that_makes_no_sense_is_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Baumgarte::new(Options::new().set("alpha", bad)).is_err());
        }
        let error = Baumgarte::new(Options::new().set("alpha", "often")).err().unwrap();
        assert_eq!(
            error.to_string(),
            "option `alpha` of `baumgarte` is `often`, must be a number above 0 [1/s] or `auto`"
        );
    }
}
