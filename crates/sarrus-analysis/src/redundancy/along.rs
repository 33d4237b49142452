//! Redundancy over a motion: the rank and the reactions that are not unique, at many instants of a run.
//!
//! The model is run as `sarrus run` would, and checked where it would be sampled, or less often where it is large.
//! Changes of the rank are found between two instants; a singular position that a motion only passes lies between
//! them and shows in the margin of the rank, whose smallest value is reported with its time.

use super::report::{AlongReport, DistributedAt, RankSpan};
use super::{Scaled, analyse, distribute, with_tooth_forces};
use crate::error::SetupError;
use crate::settings::{RunOverrides, Settings};
use crate::simulate::{Progress, RunPlan, SampleDiagnostics, Simulate, Watch, simulate};
use crate::start::RowRank;
use sarrus_model::Model;
use sarrus_solve::integrators::Proceed;
use sarrus_solve::{Equations, Problem, Stage, State, Structure};
use sarrus_system::{Mechanism, System};
use std::collections::HashMap;
use std::sync::Arc;

/// Instants checked, at least ...
const LEAST: f64 = 50.0;
/// ... and at most, for a model of few rows.
const MOST: f64 = 1000.0;
/// Rows above which there are fewer.
const LARGE: usize = 500;
/// The most of them.
const MOST_LARGE: f64 = 100.0;

/// Runs `model` and checks its redundancy on the way; with `distributed` also at the reactions as compliant joints
/// share them.
pub fn along(
    model: &Model,
    system: &Arc<System>,
    distributed: bool,
    watch: &mut dyn Watch,
) -> Result<AlongReport, SetupError> {
    let settings = Settings::read(model, &RunOverrides::default())?;
    let most = if system.structure.nc > LARGE { MOST_LARGE } else { MOST };
    let count = settings.samples().clamp(LEAST, most).round();
    let overrides = RunOverrides {
        every: Some((settings.t_end - settings.t_start) / count),
        columns: Some(vec!["t".into()]),
        ..RunOverrides::default()
    };
    let mut looker = Looker {
        watch,
        scaled: None,
        structure: Structure::default(),
        distributed,
        times: Vec::new(),
        ranks: Vec::new(),
        least_margin: None,
        counts: HashMap::new(),
        names: Vec::new(),
        values: Vec::new(),
        failed: None,
    };
    let outcome = simulate(model, system, &Simulate { overrides, record: true }, &mut looker)?;
    match looker.failed.take() {
        Some(error) => Err(error),
        None => Ok(looker.report(outcome.report.status.name(), outcome.report.reason)),
    }
}

struct Looker<'a> {
    watch: &'a mut dyn Watch,
    scaled: Option<Scaled>,
    /// Of what `scaled` is.
    structure: Structure,
    distributed: bool,
    times: Vec<f64>,
    ranks: Vec<RankSpan>,
    least_margin: Option<(f64, f64)>,
    /// Instants at which a column is not unique.
    counts: HashMap<String, usize>,
    /// Those columns, in the order in which they turned up.
    names: Vec<String>,
    values: Vec<DistributedAt>,
    failed: Option<SetupError>,
}

impl Looker<'_> {
    fn check(&mut self, mechanism: &mut Mechanism, s: &State) -> Result<(), SetupError> {
        let structure = mechanism.structure().clone();
        let mut eq = Equations::new(mechanism);
        mechanism.update(s, Stage::POSITION, &mut eq);
        let rows = RowRank::find_quickly(&structure, &eq)?;
        self.times.push(s.t);
        match self.ranks.last_mut() {
            Some(last) if (last.rows, last.rank) == (structure.nc, rows.rank) => last.to = s.t,
            _ => self.ranks.push(RankSpan { from: s.t, to: s.t, rows: structure.nc, rank: rows.rank }),
        }
        if let Some(margin) = rows.margin
            && self.least_margin.is_none_or(|(least, _)| margin < least)
        {
            self.least_margin = Some((margin, s.t));
        }
        if rows.rank.is_some_and(|rank| rank < structure.nc) {
            // events may have changed which rows there are
            self.scaled = self.scaled.take().filter(|_| self.structure == structure);
            self.structure.clone_from(&structure);
            let whole = with_tooth_forces(mechanism, s, &eq);
            let scaled = match &mut self.scaled {
                Some(scaled) => scaled.update(&structure, &whole).map(|()| scaled),
                none => Scaled::new(&structure, &whole, None).map(|new| none.insert(new)),
            };
            let analysis = scaled.and_then(|scaled| analyse(mechanism, s, &eq, scaled, true));
            let analysis = analysis.map_err(|source| SetupError::Start { source, element: None })?;
            for column in analysis.not_unique() {
                match self.counts.get_mut(&column) {
                    Some(count) => *count += 1,
                    None => {
                        self.counts.insert(column.clone(), 1);
                        self.names.push(column);
                    }
                }
            }
        }
        if self.distributed {
            let found = distribute(mechanism, s)?;
            let values = found.reactions.into_iter().map(|r| r.distributed).collect();
            self.values.push(DistributedAt { t: s.t, values });
        }
        Ok(())
    }

    fn report(self, status: &'static str, reason: String) -> AlongReport {
        let samples = self.times.len();
        let (always, at_times): (Vec<String>, Vec<String>) =
            self.names.into_iter().partition(|name| self.counts[name] == samples);
        let counts = &self.counts;
        let share = |name: String| {
            let part = counts[&name] as f64 / samples as f64;
            (name, part)
        };
        let ends = |t: Option<&f64>| t.copied().unwrap_or(0.0);
        AlongReport {
            span: [ends(self.times.first()), ends(self.times.last())],
            samples,
            status,
            reason,
            rank: self.ranks,
            least_margin: self.least_margin,
            always,
            at_times: at_times.into_iter().map(share).collect(),
            distributed: self.values,
        }
    }
}

impl Watch for Looker<'_> {
    fn begin(&mut self, plan: &RunPlan) {
        self.watch.begin(plan);
    }

    fn step(&mut self, progress: &Progress) -> Proceed {
        if self.failed.is_some() { Proceed::Stop } else { self.watch.step(progress) }
    }

    fn sample(&mut self, mechanism: &mut Mechanism, s: &State, seen: &SampleDiagnostics) {
        if self.failed.is_none() {
            let mut own = seen.judged.map(|system| system.mechanism());
            own.iter_mut().for_each(|own| own.copy_discrete_state(mechanism));
            self.failed = self.check(own.as_mut().unwrap_or(mechanism), s).err();
        }
    }
}
