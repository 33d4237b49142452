//! Options of the staggered procedure.

use super::{StaggeredForm, StaggeredMethod};
use crate::error::MethodError;
use crate::options::{OptionDoc, OptionValue, Options};
use crate::staggered::Epsilon;

/// Options of the method.
pub(in crate::integrators) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "form",
        default: "symmetric",
        doc: "`symmetric`; `paper`, the two-stage procedure; `one_step`, central differences with extrapolated velocities",
    },
    OptionDoc {
        name: "epsilon",
        default: "auto",
        doc: "regularization of the multipliers, relative; `auto`: from the conditioning",
    },
    OptionDoc {
        name: "iterations",
        default: "4",
        doc: "evaluations of positions in a step at most, 1 to 10",
    },
    OptionDoc {
        name: "points",
        default: "3",
        doc: "with `one_step`: velocities that those of the forces are extrapolated from, 1 to 3; 1: first order",
    },
    OptionDoc { name: "adaptive", default: "no", doc: "`yes`: steps from the tolerances" },
    OptionDoc {
        name: "safety",
        default: "0.9",
        doc: "with `adaptive`: aim at this fraction of the step that would just meet the tolerance",
    },
    OptionDoc { name: "growth", default: "2", doc: "with `adaptive`: the most that a step may grow" },
    OptionDoc { name: "min_step", default: "0", doc: "with `adaptive`: the least step [s]" },
];

impl StaggeredMethod {
    /// The method with what `options` ask for.
    pub fn from_options(options: &Options) -> Result<StaggeredMethod, MethodError> {
        let kind = "staggered";
        options.check(kind, OPTIONS)?;
        let points = options
            .number(kind, "points", "1, 2 or 3", |x| [1.0, 2.0, 3.0].contains(&x))?
            .map_or(3, |x| x as u32);
        let forms = ["symmetric", "paper", "one_step"];
        let form = match options.word(kind, "form", "`symmetric`, `paper` or `one_step`", &forms)? {
            Some(1) => StaggeredForm::Paper,
            Some(2) => StaggeredForm::OneStep { points },
            _ => StaggeredForm::Symmetric,
        };
        let iterations = options
            .number(kind, "iterations", "a whole number from 1 to 10", |x| {
                (1.0..=10.0).contains(&x) && x.fract() == 0.0
            })?
            .unwrap_or(4.0);
        let expected = "`no`, or `yes` with the symmetric form";
        let adaptive = match form {
            StaggeredForm::Symmetric => options.word(kind, "adaptive", expected, &["no", "yes"])? == Some(1),
            _ => options.word(kind, "adaptive", expected, &["no"])? == Some(1),
        };
        let mut method = StaggeredMethod::new(form, epsilon(kind, options)?, iterations as u32, adaptive);
        let read = |option, expected, accept: fn(f64) -> bool, into: &mut f64| {
            options.number(kind, option, expected, accept).map(|x| *into = x.unwrap_or(*into))
        };
        let limits = &mut method.limits;
        read("safety", "between 0.1 and 1", |x| (0.1..=1.0).contains(&x), &mut limits.safety)?;
        read("growth", "between 1.1 and 100", |x| (1.1..=100.0).contains(&x), &mut limits.growth)?;
        read("min_step", "finite and not negative", |x| x.is_finite() && x >= 0.0, &mut limits.min_step)?;
        Ok(method)
    }
}

/// ε from `options`.
pub(in crate::integrators) fn epsilon(kind: &'static str, options: &Options) -> Result<Epsilon, MethodError> {
    let expected = "`auto`, or a number from 0 to 1";
    match options.get("epsilon") {
        Some(OptionValue::Text(_)) => {
            options.word(kind, "epsilon", expected, &["auto"]).map(|_| Epsilon::Auto)
        }
        _ => {
            let given = options.number(kind, "epsilon", expected, |x| (0.0..=1.0).contains(&x))?;
            Ok(given.map_or(Epsilon::Auto, Epsilon::Given))
        }
    }
}
