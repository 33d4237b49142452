//! Describes what is compared: lists of methods and tolerances, and all their combinations.

use crate::error::SetupError;
use crate::settings::{MethodText, MethodTextError, RunOverrides, Settings};
use sarrus_model::Span;
use sarrus_model::settings::{MethodChoice, WrittenOption};
use sarrus_solve::{MethodError, Options, formulations, integrators, stabilizations};
use serde::Serialize;

/// Holds what is compared, with what, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonMatrix {
    /// Formulations; `auto` is allowed here and below.
    pub formulations: Vec<MethodChoice>,
    /// Stabilizations.
    pub stabilizations: Vec<MethodChoice>,
    /// Integrators.
    pub integrators: Vec<MethodChoice>,
    /// Tolerances of integrators that choose their steps.
    pub tolerances: Vec<Tolerance>,
    /// Steps of those that do not \[s\]; empty: as the model says.
    pub steps: Vec<f64>,
    /// In place of the model's end \[s\].
    pub t_end: Option<f64>,
    /// In place of the model's time between samples \[s\].
    pub every: Option<f64>,
    /// Holds what errors are measured against; none: nothing, and no errors.
    pub reference: Option<ReferenceMethod>,
    /// Longest wall time of a run \[s\].
    pub wall_limit: Option<f64>,
    /// Formulations on dense matrices are refused above so many velocities and rows.
    pub dense_limit: usize,
    /// Describes how times are taken; none: not at all.
    pub timing: Option<Timing>,
    /// Runs at the same time; 0: as many as there are cores.
    pub jobs: usize,
}

/// Tolerances of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tolerance {
    /// Relative.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

/// The method that errors are measured against.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceMethod {
    /// Formulation.
    pub formulation: MethodChoice,
    /// Stabilization.
    pub stabilization: MethodChoice,
    /// Integrator.
    pub integrator: MethodChoice,
    /// Tightest tolerance that is tried; where it does not work, looser ones are.
    pub tolerance: Tolerance,
}

/// Describes how times are taken: the best of several runs, alone and one at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Runs of each method at least.
    pub repeat: usize,
    /// Short runs are repeated until they took so long together \[s\].
    pub least: f64,
    /// Long ones are not, once they did \[s\].
    pub most: f64,
}

impl Default for Timing {
    fn default() -> Self {
        Timing { repeat: 3, least: 0.2, most: 10.0 }
    }
}

/// Holds what decides how accurate a run is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Effort {
    /// Tolerances.
    Tolerance(Tolerance),
    /// A fixed step \[s\]; none: as the model says.
    Step {
        /// The step \[s\].
        step: Option<f64>,
    },
}

/// One combination.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Formulation; `auto` where the integrator resolves the constraints itself, as the stabilization.
    pub formulation: MethodChoice,
    /// Stabilization.
    pub stabilization: MethodChoice,
    /// Integrator.
    pub integrator: MethodChoice,
    /// Tolerances or step.
    pub effort: Effort,
}

impl ComparisonMatrix {
    /// All formulations with all stabilizations, the integrator left to the program, at the model's tolerances.
    pub fn all(settings: &Settings) -> ComparisonMatrix {
        let tolerance = Tolerance { rtol: settings.rtol, atol: settings.atol };
        ComparisonMatrix {
            formulations: formulations::KINDS.iter().map(|k| choice(k.name)).collect(),
            stabilizations: stabilizations::KINDS.iter().map(|k| choice(k.name)).collect(),
            integrators: vec![choice("auto")],
            tolerances: vec![tolerance],
            steps: Vec::new(),
            t_end: None,
            every: None,
            reference: Some(ReferenceMethod {
                formulation: choice("proximal"),
                stabilization: choice("projection"),
                integrator: choice("dop853"),
                tolerance: Tolerance { rtol: 1e-12, atol: 1e-12 * tolerance.atol / tolerance.rtol },
            }),
            wall_limit: Some(60.0),
            dense_limit: 2000,
            timing: Some(Timing::default()),
            jobs: 0,
        }
    }

    /// Every combination, formulation slowest, and behind them the integrators that resolve the constraints themselves, which
    /// combine with nothing; a method that does not exist is an error.
    pub fn cases(&self) -> Result<Vec<Combination>, SetupError> {
        let bad = |at: Span| move |source: MethodError| SetupError::Method { source, at };
        for f in self.formulations.iter().filter(|f| !is_auto(f)) {
            formulations::make(&f.kind, &options(f)).map_err(bad(f.span))?;
        }
        for s in self.stabilizations.iter().filter(|s| !is_auto(s)) {
            stabilizations::make(&s.kind, &options(s)).map_err(bad(s.span))?;
        }
        for i in self.integrators.iter().filter(|i| !is_auto(i)) {
            let kind = integrators::find(&i.kind).map_err(bad(i.span))?;
            options(i).check(kind.name, kind.options).map_err(bad(i.span))?;
            (kind.new)(&options(i)).map_err(bad(i.span))?;
        }
        let (own, others): (Vec<_>, Vec<_>) = self.integrators.iter().partition(|i| resolves_constraints(i));
        let mut cases = Vec::new();
        let mut add =
            |formulation: &MethodChoice, stabilization: &MethodChoice, integrator: &MethodChoice| {
                cases.extend(self.efforts(integrator).into_iter().map(|effort| Combination {
                    formulation: formulation.clone(),
                    stabilization: stabilization.clone(),
                    integrator: integrator.clone(),
                    effort,
                }));
            };
        for formulation in &self.formulations {
            for stabilization in &self.stabilizations {
                others.iter().for_each(|integrator| add(formulation, stabilization, integrator));
            }
        }
        let auto = choice("auto");
        own.iter().for_each(|integrator| add(&auto, &auto, integrator));
        Ok(cases)
    }

    /// Tolerances of an adaptive integrator, steps of another.
    fn efforts(&self, integrator: &MethodChoice) -> Vec<Effort> {
        // some are either, as their options say
        let made = integrators::find(&integrator.kind).and_then(|k| (k.new)(&options(integrator)));
        let fixed = made.is_ok_and(|i| !i.is_adaptive());
        if !fixed {
            self.tolerances.iter().map(|t| Effort::Tolerance(*t)).collect()
        } else if self.steps.is_empty() {
            vec![Effort::Step { step: None }]
        } else {
            self.steps.iter().map(|s| Effort::Step { step: Some(*s) }).collect()
        }
    }

    /// Returns what all runs have in common.
    pub(crate) fn overrides(&self) -> RunOverrides {
        RunOverrides {
            t_end: self.t_end,
            every: self.every,
            columns: Some(vec!["*".into()]),
            // work is compared, and rows alone
            peaks: Some(false),
            ..RunOverrides::default()
        }
    }
}

impl Combination {
    /// Returns what is said over the model.
    pub(crate) fn overrides(&self, matrix: &ComparisonMatrix) -> RunOverrides {
        let mut over = RunOverrides {
            formulation: Some(self.formulation.clone()),
            stabilization: Some(self.stabilization.clone()),
            integrator: Some(self.integrator.clone()),
            ..matrix.overrides()
        };
        match self.effort {
            Effort::Tolerance(t) => (over.rtol, over.atol) = (Some(t.rtol), Some(t.atol)),
            Effort::Step { step } => over.step = step,
        }
        over
    }
}

/// Returns whether an integrator takes no formulation and no stabilization, as it resolves the constraints itself.
pub fn resolves_constraints(integrator: &MethodChoice) -> bool {
    integrators::find(&integrator.kind).is_ok_and(|k| k.view.resolves_constraints())
}

/// A method without options.
fn choice(kind: &str) -> MethodChoice {
    MethodChoice { kind: kind.into(), options: Vec::new(), span: Span::NONE }
}

fn is_auto(choice: &MethodChoice) -> bool {
    choice.kind == "auto" && choice.options.is_empty()
}

fn options(choice: &MethodChoice) -> Options {
    let mut options = Options::new();
    for (name, value) in &choice.options {
        match value {
            WrittenOption::Number(x) => options.set(name.as_str(), *x),
            WrittenOption::Name(text) => options.set(name.as_str(), text.as_str()),
        };
    }
    options
}

/// A method as the command line writes it.
pub(crate) fn text(choice: &MethodChoice) -> String {
    let options: Vec<String> = choice
        .options
        .iter()
        .map(|(name, value)| match value {
            WrittenOption::Number(x) => format!("{name}={x}"),
            WrittenOption::Name(text) => format!("{name}={text}"),
        })
        .collect();
    if options.is_empty() { choice.kind.clone() } else { format!("{}:{}", choice.kind, options.join(",")) }
}

/// A list of methods as the command line writes it: `none,baumgarte:alpha=5,beta=5,projection`.
///
/// A piece with `=` and without `:` continues with the options of the method before it.
pub fn choices(list: &str) -> Result<Vec<MethodChoice>, MethodTextError> {
    let mut texts: Vec<String> = Vec::new();
    for piece in list.split(',') {
        let continues = piece.contains('=') && !piece.contains(':');
        match texts.last_mut().filter(|_| continues) {
            Some(text) => *text += &format!(",{piece}"),
            None => texts.push(piece.trim().to_string()),
        }
    }
    texts.iter().map(|text| text.parse::<MethodText>().map(|m| m.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_methods_and_their_options() {
        let list = choices("none, baumgarte:alpha=5,beta=6,projection").unwrap();
        let texts: Vec<String> = list.iter().map(text).collect();
        assert_eq!(texts, ["none", "baumgarte:alpha=5,beta=6", "projection"]);
        for bad in ["", "none,,direct", "alpha=5", "a b"] {
            assert!(choices(bad).is_err(), "{bad}");
        }
    }
}
