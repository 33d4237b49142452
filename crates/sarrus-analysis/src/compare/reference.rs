//! The run that others are measured against, and how far it can be trusted.

use super::deviation::{Deviation, Probe};
use super::matrix::{Combination, Effort, Tolerance};
use super::parallel::{Phase, Pool};
use super::{Bench, not_unique};
use crate::error::SetupError;
use crate::report::MethodReport;
use crate::{Outcome, Status};
use serde::Serialize;

/// Tolerances are loosened by this factor, from the one asked for to the loosest.
const LOOSER: f64 = 10.0;
const LOOSEST: f64 = 1e-6;
/// A reference may take so many times as long as another run.
const PATIENCE: f64 = 4.0;

/// Holds what the others are measured against.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReferenceReport {
    /// Describes how it was made.
    pub method: MethodReport,
    /// Largest difference of its motion to that of a second run at ten times the tolerance \[m, rad\]: errors below
    /// mean nothing. None where no second run completed.
    pub uncertainty: Option<f64>,
    /// The same, by kind.
    pub deviation: Option<Deviation>,
    /// Tolerance of the second run.
    pub second: Option<Tolerance>,
    /// Tolerances that were tried in vain, with the reason.
    pub failed: Vec<String>,
}

/// The reference with its trajectory.
pub(crate) struct ReferenceRun {
    pub outcome: Outcome,
    pub report: ReferenceReport,
}

/// Runs it at the tightest tolerance that works, and at the next looser one.
pub(crate) fn run(bench: &Bench, pool: &mut Pool) -> Result<Option<ReferenceRun>, SetupError> {
    let Some(asked) = &bench.matrix.reference else { return Ok(None) };
    let mut done: Vec<(Tolerance, Outcome)> = Vec::new();
    let mut failed = Vec::new();
    let mut tolerance = asked.tolerance;
    while done.len() < 2 && !pool.stopped() && (tolerance.rtol <= LOOSEST || failed.is_empty()) {
        let wanted: Vec<Tolerance> = (0..2 - done.len())
            .map(|k| {
                let factor = LOOSER.powi(k as i32);
                Tolerance { rtol: tolerance.rtol * factor, atol: tolerance.atol * factor }
            })
            .collect();
        let outcomes = pool.run(Phase::Reference, wanted.len(), |k, meter| {
            meter.set_limit(bench.matrix.wall_limit.map(|limit| PATIENCE * limit));
            let case = Combination {
                formulation: asked.formulation.clone(),
                stabilization: asked.stabilization.clone(),
                integrator: asked.integrator.clone(),
                effort: Effort::Tolerance(wanted[k]),
            };
            bench.simulate(&case, true, meter)
        });
        for (tol, outcome) in wanted.iter().zip(outcomes.into_iter().flatten()) {
            let outcome = outcome?;
            if outcome.report.status == Status::Completed {
                done.push((*tol, outcome));
            } else {
                failed.push(format!("rtol = {:e}: {}", tol.rtol, outcome.report.reason));
            }
        }
        let last = wanted.last().map_or(tolerance, |t| *t);
        tolerance = Tolerance { rtol: last.rtol * LOOSER, atol: last.atol * LOOSER };
    }

    let mut done = done.into_iter();
    let Some((_, outcome)) = done.next() else { return Ok(None) };
    let second = done.next();
    let probe = Probe::new(bench.system, &not_unique(&outcome.report));
    let deviation = second.as_ref().map(|(_, other)| probe.compare(&other.trajectory, &outcome.trajectory));
    let report = ReferenceReport {
        method: outcome.report.method.clone(),
        uncertainty: deviation.as_ref().and_then(Deviation::motion),
        deviation,
        second: second.map(|(tol, _)| tol),
        failed,
    };
    Ok(Some(ReferenceRun { outcome, report }))
}
