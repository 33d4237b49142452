//! Runs of a paper's model, method by method.

use crate::claim::PaperError;
use crate::{Effort, Progress};
use sarrus::analysis::{MethodText, Outcome, RunOverrides, Simulate, Status, simulate};
use sarrus::io::{LoadOptions, load_str};
use sarrus::model::Model;
use sarrus::system::{System, compile};
use std::sync::Arc;

/// A model of a paper, compiled.
pub struct Case {
    /// Its name in messages.
    pub name: String,
    pub model: Model,
    pub system: Arc<System>,
}

impl Case {
    /// Reads and compiles `text` with `set` parameters and, if named, a case of the file.
    pub fn new(name: &str, text: &str, set: &[(&str, &str)], case: Option<&str>) -> Result<Case, PaperError> {
        let set = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let options = LoadOptions { set, case: case.map(str::to_string), ..LoadOptions::default() };
        let bad = |reason: String| PaperError::Run { what: name.to_string(), reason };
        let model = load_str(name, text, &options).map_err(|e| bad(e.to_string()))?;
        let system = compile(&model).map_err(|d| bad(d.iter().map(|d| d.message.clone()).collect()))?;
        Ok(Case { name: name.into(), model, system: Arc::new(system) })
    }

    /// One run; a failed one is an error.
    pub fn run(&self, how: &How, record: bool) -> Result<Outcome, PaperError> {
        let bad = |reason: String| PaperError::Run { what: format!("{}, {}", self.name, how.text()), reason };
        let outcome =
            simulate(&self.model, &self.system, &Simulate { overrides: how.overrides()?, record }, &mut ())
                .map_err(|e| bad(e.to_string()))?;
        if outcome.report.status != Status::Completed {
            return Err(bad(outcome.report.reason));
        }
        Ok(outcome)
    }
}

/// How a run is made.
#[derive(Debug, Clone)]
pub struct How {
    pub formulation: &'static str,
    pub stabilization: String,
    pub integrator: &'static str,
    pub rtol: f64,
    pub atol: f64,
    pub t_end: f64,
    pub every: f64,
}

impl How {
    /// `least_squares_1 + none + rk45 at 1e-6`
    pub fn text(&self) -> String {
        format!("{} + {} + {} at {:e}", self.formulation, self.stabilization, self.integrator, self.rtol)
    }

    fn overrides(&self) -> Result<RunOverrides, PaperError> {
        let method = |text: &str| {
            text.parse::<MethodText>()
                .map(|m| Some(m.0))
                .map_err(|e| PaperError::Run { what: self.text(), reason: e.to_string() })
        };
        Ok(RunOverrides {
            formulation: method(self.formulation)?,
            stabilization: method(&self.stabilization)?,
            integrator: method(self.integrator)?,
            rtol: Some(self.rtol),
            atol: Some(self.atol),
            t_end: Some(self.t_end),
            every: Some(self.every),
            ..RunOverrides::default()
        })
    }
}

/// What a run cost.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Processor time of the integration, the least of the repetitions \[s\].
    pub seconds: f64,
    /// Right-hand sides.
    pub rhs: u64,
    /// Newton iterations of the stabilization per step.
    pub newton_per_step: f64,
}

/// Times a run without recording it.
pub fn time(case: &Case, how: &How, effort: Effort) -> Result<Cost, PaperError> {
    let repeats = if effort == Effort::Full { 3 } else { 1 };
    let mut best = f64::INFINITY;
    let mut report = case.run(how, false)?.report;
    best = best.min(report.cpu_s.unwrap_or(report.wall_s));
    for _ in 1..repeats {
        report = case.run(how, false)?.report;
        best = best.min(report.cpu_s.unwrap_or(report.wall_s));
    }
    Ok(Cost {
        seconds: best,
        rhs: report.counts.rhs,
        newton_per_step: report.counts.newton_iterations as f64 / report.counts.steps.max(1) as f64,
    })
}

/// Counts runs for a [`Progress`].
pub struct Tally<'a> {
    pub done: usize,
    pub total: usize,
    pub progress: &'a mut dyn Progress,
}

impl Tally<'_> {
    /// Announces the next run.
    pub fn next(&mut self, what: &str) -> Result<(), PaperError> {
        let on = self.progress.at(self.done, self.total, what);
        self.done += 1;
        if on { Ok(()) } else { Err(PaperError::Interrupted) }
    }
}

/// The largest of `values`; not a number if one of them is not.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most: f64, x| if most.is_nan() || x <= most { most } else { x })
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn what_is_not_a_number_is_not_lost() {
        assert_eq!(largest([1.0, 3.0, 2.0]), 3.0);
        assert!(largest([1.0, f64::NAN, 2.0]).is_nan() && largest([f64::NAN, 1.0]).is_nan());
    }
}
