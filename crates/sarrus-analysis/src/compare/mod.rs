//! The method matrix: one model, many methods, side by side.
//!
//! [`run`] takes every combination of formulation, stabilization, integrator and tolerance that a [`ComparisonMatrix`] names, and
//! returns a [`Comparison`] with a [`ComparisonRow`] for each: how long it took against the fastest, how much work it was, how far
//! it drifted off its constraints at three levels, what became of its energy, and how far its motion and its reactions
//! are from those of a reference run at a tight tolerance. A method that is refused, fails or takes too long is a row
//! too, with the reason. An integrator that resolves the constraints itself is one row, with formulation and
//! stabilization its own.
//!
//! 1. The **reference** is run at two tolerances; their difference is how far it can be trusted.
//! 2. Every method is run with its trajectory, in parallel: errors, drift, energy.
//! 3. Every method that completed is run again without one, alone and one at a time: times and counts.
//!
//! Motion is compared by the position \[m\] and the orientation \[rad\] of every body at every sample; reactions by the
//! columns that are unique, while those that redundant constraints share in many ways are compared apart, as they may
//! differ without either being wrong.
//!
//! ```
//! use sarrus_analysis::compare::{self, ComparisonMatrix};
//! use sarrus_analysis::{RunOverrides, Settings};
//! # let text = "format = 'sarrus/1'\nspace = 'planar'\n[bodies]\nbar = { from = [0, 0], to = [1, 0], mass = 1.0 }\n\
//! # [joints]\nA = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n[run]\nt_end = 0.2";
//! # let model = sarrus_io::load_str("a.toml", text, &Default::default()).unwrap();
//! # let system = std::sync::Arc::new(sarrus_system::compile(&model).unwrap());
//! let settings = Settings::read(&model, &RunOverrides::default())?;
//! let mut matrix = ComparisonMatrix::all(&settings);
//! matrix.formulations = compare::choices("direct, proximal")?;
//! matrix.stabilizations = compare::choices("none, baumgarte:alpha=5,beta=5")?;
//! let found = compare::run(&model, &system, &matrix, &mut ())?;
//! assert_eq!(found.rows.len(), 4);
//! assert!(found.rows.iter().all(|row| row.error.is_some()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod deviation;
mod matrix;
mod parallel;
mod reference;
mod row;
mod timing;

pub use deviation::{Deviation, LargestDifference, Worst};
pub use matrix::{
    Combination, ComparisonMatrix, Effort, ReferenceMethod, Timing, Tolerance, choices, resolves_constraints,
};
pub use parallel::{ComparisonProgress, ComparisonWatch, Phase};
pub use reference::ReferenceReport;
pub use row::{Comparison, ComparisonRow, Drift, History, ReactionCurve, RowStatus};

use crate::error::SetupError;
use crate::settings::Settings;
use crate::{Outcome, Report, Simulate, Status, VERSION, simulate};
use deviation::Probe;
use parallel::{Meter, Pool};
use sarrus_model::Model;
use sarrus_system::System;
use std::sync::Arc;

/// Reactions of either sort that are kept over time.
const CURVES: usize = 6;

/// A model and what is asked of it, for all runs of a comparison.
pub(crate) struct Bench<'a> {
    pub model: &'a Model,
    pub system: &'a Arc<System>,
    pub matrix: &'a ComparisonMatrix,
}

/// Runs the matrix.
///
/// It fails where no run could begin: a method that does not exist, a model that cannot be assembled. Whatever concerns
/// one combination only is said in its row.
pub fn run(
    model: &Model,
    system: &Arc<System>,
    matrix: &ComparisonMatrix,
    watch: &mut dyn ComparisonWatch,
) -> Result<Comparison, SetupError> {
    let cases = matrix.cases()?;
    let settings = Settings::read(model, &matrix.overrides())?;
    let bench = Bench { model, system, matrix };
    let mut pool = Pool::new(matrix.jobs, cases.len(), matrix.timing.is_some(), watch);

    let reference = reference::run(&bench, &mut pool)?;
    let outcome = reference.as_ref().map(|r| &r.outcome);
    let found = pool.run(Phase::Runs, cases.len(), |i, meter| bench.row(&cases[i], outcome, meter));
    let mut rows: Vec<ComparisonRow> = found
        .into_iter()
        .zip(&cases)
        .map(|(row, case)| row.unwrap_or_else(|| ComparisonRow::not_run(case)))
        .collect();
    row::name_auto(&mut rows, &cases);
    let clock = timing::measure(&bench, &cases, &mut rows, &mut pool);
    row::rank(&mut rows);

    let mut notes = Vec::new();
    if reference.is_none() {
        notes
            .push("no reference run completed: there is nothing to compare motion and reactions with".into());
    }
    let tightest = rows.iter().filter_map(ComparisonRow::rtol).fold(f64::INFINITY, f64::min);
    if let Some(rtol) = reference.as_ref().and_then(|r| r.report.method.rtol).filter(|r| *r > 0.1 * tightest)
    {
        notes.push(format!(
            "the reference, at rtol = {rtol:e}, is not ten times tighter than the tightest row: errors may be its own"
        ));
    }
    let reactions = deviation::reaction_columns(system);
    let not_unique = reference.as_ref().map(|r| not_unique(&r.outcome.report)).unwrap_or_default();
    let unique: Vec<String> = reactions.into_iter().filter(|c| !not_unique.contains(c)).collect();
    let curves = reference
        .as_ref()
        .map(|r| row::largest_reactions(&r.outcome.trajectory, &unique, &not_unique, CURVES))
        .unwrap_or_default();
    Ok(Comparison {
        model: model.name.clone(),
        version: VERSION,
        case: model.case.clone(),
        t_start: settings.t_start,
        t_end: settings.t_end,
        samples: settings.samples() as u64,
        wall_limit: matrix.wall_limit,
        repeat: matrix.timing.map_or(0, |t| t.repeat),
        clock,
        interrupted: pool.stopped(),
        reference: reference.map(|r| r.report),
        unique,
        not_unique,
        rows,
        notes,
        reactions: curves,
    })
}

/// Reaction columns that redundant constraints share in many ways, as the report of a run has them.
fn not_unique(report: &Report) -> Vec<String> {
    report.reactions.not_unique.clone()
}

impl Bench<'_> {
    /// Runs a case with its trajectory.
    fn simulate(&self, case: &Combination, record: bool, meter: &mut Meter) -> Result<Outcome, SetupError> {
        let request = Simulate { overrides: case.overrides(self.matrix), record };
        let mut outcome = simulate(self.model, self.system, &request, meter)?;
        if let (Status::Stopped, Some(limit)) = (outcome.report.status, meter.passed_limit()) {
            outcome.report.reason = format!("the limit of {limit} s for a run was reached");
        }
        Ok(outcome)
    }

    /// Runs a case and compares it.
    fn row(&self, case: &Combination, reference: Option<&Outcome>, meter: &mut Meter) -> ComparisonRow {
        if let Some(reason) = self.too_large(case) {
            return ComparisonRow::refused(case, reason);
        }
        meter.set_limit(self.matrix.wall_limit);
        match self.simulate(case, true, meter) {
            Err(error) => ComparisonRow::refused(case, explained(&error)),
            Ok(outcome) => {
                let mut row = ComparisonRow::ran(case, &outcome.report);
                row.history = History::new(&outcome.trajectory);
                if let Some(reference) = reference {
                    let probe = Probe::new(self.system, &not_unique(&reference.report));
                    let deviation = probe.compare(&outcome.trajectory, &reference.trajectory);
                    row.error = deviation.motion();
                    row.deviation = Some(deviation);
                }
                row
            }
        }
    }

    /// Returns why a case is not tried at all: dense matrices of a large model take all memory before they take all time.
    fn too_large(&self, case: &Combination) -> Option<String> {
        let formulation = sarrus_solve::formulations::find(&case.formulation.kind).ok()?;
        let stabilization = sarrus_solve::stabilizations::find(&case.stabilization.kind).ok()?;
        let parts = [(formulation.name, formulation.needs.dense), (stabilization.name, stabilization.dense)];
        let (kind, _) = parts.into_iter().find(|part| part.1)?;
        let s = &self.system.structure;
        let unknowns = s.nv + s.nc;
        (unknowns > self.matrix.dense_limit).then(|| {
            format!(
                "`{kind}` works on dense matrices, here of {unknowns} unknowns, above the limit of {} (--dense-limit)",
                self.matrix.dense_limit
            )
        })
    }
}

/// An error in one line.
fn explained(error: &SetupError) -> String {
    let diagnostics = error.diagnostics();
    match diagnostics.first() {
        Some(d) => d.message.to_string(),
        None => error.to_string(),
    }
}
