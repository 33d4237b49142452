//! Options that implicit methods share.

use crate::control::StepLimits;
use crate::error::MethodError;
use crate::implicit::{ConstraintLevel, NewtonOptions};
use crate::options::{OptionDoc, Options};

/// Identifies which constraints hold.
pub const CONSTRAINTS: OptionDoc = OptionDoc {
    name: "constraints",
    default: "both",
    doc: "which hold at the end of a step: `both`, `positions` (index 3) or `velocities` (index 2)",
};
/// The same for methods that need those on velocities.
pub const CONSTRAINTS_OR_VELOCITIES: OptionDoc = OptionDoc {
    name: "constraints",
    default: "both",
    doc: "which hold at the end of a step: `both`, or `velocities` (index 2), where positions drift",
};
/// Time when Newton's iteration ends.
pub const NEWTON: OptionDoc = OptionDoc {
    name: "newton",
    default: "1e-10",
    doc: "changes that Newton's iteration leaves to go, relative to the size and speed of the mechanism",
};
/// Most iterations.
pub const ITERATIONS: OptionDoc = OptionDoc {
    name: "iterations",
    default: "10",
    doc: "iterations of Newton with one matrix at most, 2 to 50",
};
/// States whether steps follow the tolerances.
pub const ADAPTIVE: OptionDoc =
    OptionDoc { name: "adaptive", default: "no", doc: "`yes`: steps from the tolerances" };
/// Limits of the steps.
pub const SAFETY: OptionDoc = OptionDoc {
    name: "safety",
    default: "0.9",
    doc: "aim at this fraction of the step that would just meet the tolerance, where steps follow them",
};
/// The most that a step may grow.
pub const GROWTH: OptionDoc = OptionDoc {
    name: "growth",
    default: "2",
    doc: "the most that a step may grow, where steps follow the tolerances",
};
/// The least step.
pub const MIN_STEP: OptionDoc =
    OptionDoc { name: "min_step", default: "0", doc: "the least step [s]; a run that needs less fails" };

/// Returns how Newton's iteration is run.
pub fn newton(kind: &'static str, options: &Options) -> Result<NewtonOptions, MethodError> {
    let mut newton = NewtonOptions::default();
    let words = ["both", "positions", "velocities"];
    let levels = [ConstraintLevel::Both, ConstraintLevel::Positions, ConstraintLevel::Velocities];
    if let Some(i) = options.word(kind, "constraints", "`both`, `positions` or `velocities`", &words)? {
        newton.level = levels[i];
    }
    let expected = "between 1e-12 and 1e-3";
    if let Some(x) = options.number(kind, "newton", expected, |x| (1e-12..=1e-3).contains(&x))? {
        newton.tolerance = x;
    }
    let whole = |x: f64| (2.0..=50.0).contains(&x) && x.fract() == 0.0;
    if let Some(x) = options.number(kind, "iterations", "a whole number from 2 to 50", whole)? {
        newton.most = x as u32;
    }
    Ok(newton)
}

/// Limits of steps that follow the tolerances.
pub fn limits(kind: &'static str, options: &Options) -> Result<StepLimits, MethodError> {
    let mut limits = StepLimits { growth: 2.0, ..StepLimits::default() };
    let read = |option, expected, accept: fn(f64) -> bool, into: &mut f64| {
        options.number(kind, option, expected, accept).map(|x| *into = x.unwrap_or(*into))
    };
    read("safety", "between 0.1 and 1", |x| (0.1..=1.0).contains(&x), &mut limits.safety)?;
    read("growth", "between 1.1 and 100", |x| (1.1..=100.0).contains(&x), &mut limits.growth)?;
    read("min_step", "finite and not negative", |x| x.is_finite() && x >= 0.0, &mut limits.min_step)?;
    Ok(limits)
}
