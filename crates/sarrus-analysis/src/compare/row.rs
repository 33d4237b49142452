//! Describes what a comparison leaves behind: a row per combination, as a structure, as JSON, as comma-separated values.

use super::deviation::{Deviation, LargestDifference};
use super::matrix::{Combination, Effort, resolves_constraints, text};
use super::reference::ReferenceReport;
use crate::report::{CountsReport, Report, Status};
use crate::trajectory::Trajectory;
use serde::Serialize;
use std::fmt::Write;

/// Formulation and stabilization of an integrator that resolves the constraints itself.
const OWN: &str = "own";

/// Methods side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// The case that was run, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Time at the start \[s\].
    pub t_start: f64,
    /// Time at the end \[s\].
    pub t_end: f64,
    /// Samples at which motion and reactions are compared.
    pub samples: u64,
    /// Longest wall time that a run was given \[s\].
    pub wall_limit: Option<f64>,
    /// Runs of each method, at least, of which the best was timed.
    pub repeat: usize,
    /// The clock of the times: `processor`, `wall` or `none`.
    pub clock: &'static str,
    /// True if it was stopped before its end.
    pub interrupted: bool,
    /// Holds what errors are measured against; none where no such run completed.
    pub reference: Option<ReferenceReport>,
    /// Columns of reactions that are unique.
    pub unique: Vec<String>,
    /// Columns of reactions that redundant constraints share in many ways.
    pub not_unique: Vec<String>,
    /// A row for each combination, formulation slowest.
    pub rows: Vec<ComparisonRow>,
    /// Holds what a reader should know.
    pub notes: Vec<String>,
    /// The largest reactions of the reference over time, unique ones first.
    #[serde(skip)]
    pub reactions: Vec<ReactionCurve>,
}

/// A reaction of the reference over time.
#[derive(Debug, Clone, PartialEq)]
pub struct ReactionCurve {
    /// Its column.
    pub column: String,
    /// True if it is unique; if not, the value is that of least norm among many.
    pub unique: bool,
    /// Unit.
    pub unit: &'static str,
    /// Times \[s\] and values.
    pub points: Vec<(f64, f64)>,
}

/// The `most` largest of each of `unique` and `not_unique`, by their largest values.
pub(super) fn largest_reactions(
    t: &Trajectory,
    unique: &[String],
    not_unique: &[String],
    most: usize,
) -> Vec<ReactionCurve> {
    let mut all = Vec::new();
    for (columns, unique) in [(unique, true), (not_unique, false)] {
        let mut sized: Vec<(f64, &String)> = columns
            .iter()
            .filter_map(|c| {
                let size = t.column(c)?.filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
                (size > 0.0).then_some((size, c))
            })
            .collect();
        sized.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, column) in sized.into_iter().take(most) {
            let Some(index) = t.index(column) else { continue };
            let points = t.rows().map(|row| (row[0], row[index])).collect();
            all.push(ReactionCurve { column: column.clone(), unique, unit: t.units()[index], points });
        }
    }
    all
}

/// Describes how a method fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowStatus {
    /// The end was reached.
    Completed,
    /// A limit was reached, or someone stopped it.
    Stopped,
    /// A step could not be taken.
    Failed,
    /// It does not do for this model, or its parts not for each other.
    Refused,
}

impl RowStatus {
    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            RowStatus::Completed => "completed",
            RowStatus::Stopped => "stopped",
            RowStatus::Failed => "failed",
            RowStatus::Refused => "refused",
        }
    }
}

/// Largest 2-norms over all constraint rows, over all steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// ‖Φ‖.
    pub position: f64,
    /// ‖Φ̇‖.
    pub velocity: f64,
    /// ‖Φ̈‖.
    pub acceleration: f64,
}

/// One combination and how it fared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// Formulation with its options.
    pub formulation: String,
    /// Stabilization with its options.
    pub stabilization: String,
    /// Integrator with its options; the one taken where that was left to the program.
    pub integrator: String,
    /// True if the integrator was left to the program, which may take another at another tolerance.
    pub auto: bool,
    /// Tolerances or step.
    #[serde(flatten)]
    pub effort: Effort,
    /// Describes how it ended.
    pub status: RowStatus,
    /// Reason why it ended there.
    pub reason: String,
    /// Time reached \[s\].
    pub t_reached: Option<f64>,
    /// Best time of a run without a trajectory \[s\].
    pub time_s: Option<f64>,
    /// Describes how many runs that is the best of.
    pub timed: usize,
    /// Time against that of the fastest completed run.
    pub ratio: Option<f64>,
    /// Work done.
    pub counts: Option<CountsReport>,
    /// Drift off the constraints.
    pub drift: Option<Drift>,
    /// Most that the energy balance moved \[J\].
    pub energy_drift: Option<f64>,
    /// The same, against the energy exchanged.
    pub energy_error: Option<f64>,
    /// Largest difference to the reference in any body's position \[m\] or angle \[rad\].
    pub error: Option<f64>,
    /// Differences to the reference by kind.
    pub deviation: Option<Deviation>,
    /// Norms of the violations at the samples.
    #[serde(skip)]
    pub history: History,
}

/// Violations over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// Times \[s\].
    pub t: Vec<f64>,
    /// ‖Φ‖, ‖Φ̇‖, ‖Φ̈‖ at these times.
    pub violation: [Vec<f64>; 3],
}

impl History {
    /// From a trajectory that has them.
    pub(crate) fn new(trajectory: &Trajectory) -> History {
        let column = |name: &str| trajectory.column(name).map(Iterator::collect).unwrap_or_default();
        let levels = ["violation.position", "violation.velocity", "violation.acceleration"];
        History { t: column("t"), violation: levels.map(column) }
    }
}

impl ComparisonRow {
    /// Relative tolerance, where there is one.
    pub fn rtol(&self) -> Option<f64> {
        match self.effort {
            Effort::Tolerance(t) => Some(t.rtol),
            Effort::Step { .. } => None,
        }
    }

    fn new(case: &Combination, status: RowStatus, reason: String) -> ComparisonRow {
        let part = |part| if resolves_constraints(&case.integrator) { OWN.into() } else { text(part) };
        ComparisonRow {
            formulation: part(&case.formulation),
            stabilization: part(&case.stabilization),
            integrator: text(&case.integrator),
            auto: case.integrator.kind == "auto",
            effort: case.effort,
            status,
            reason,
            t_reached: None,
            time_s: None,
            timed: 0,
            ratio: None,
            counts: None,
            drift: None,
            energy_drift: None,
            energy_error: None,
            error: None,
            deviation: None,
            history: History::default(),
        }
    }

    pub(crate) fn refused(case: &Combination, reason: String) -> ComparisonRow {
        ComparisonRow::new(case, RowStatus::Refused, reason)
    }

    pub(crate) fn not_run(case: &Combination) -> ComparisonRow {
        ComparisonRow::new(case, RowStatus::Stopped, "it was not begun".into())
    }

    pub(crate) fn ran(case: &Combination, report: &Report) -> ComparisonRow {
        let status = match report.status {
            Status::Completed => RowStatus::Completed,
            Status::Stopped => RowStatus::Stopped,
            Status::Failed => RowStatus::Failed,
        };
        let v = &report.violation;
        let own = resolves_constraints(&case.integrator);
        let part = |part: &String| if own { OWN.into() } else { part.clone() };
        ComparisonRow {
            formulation: part(&report.method.formulation),
            stabilization: part(&report.method.stabilization),
            integrator: report.method.integrator.clone(),
            t_reached: Some(report.t_end),
            counts: Some(report.counts),
            drift: (report.constraints.rows > 0).then_some(Drift {
                position: v.position.max,
                velocity: v.velocity.max,
                acceleration: v.acceleration.max,
            }),
            energy_drift: Some(report.energy.max_drift),
            energy_error: Some(report.energy.balance_error),
            ..ComparisonRow::new(case, status, report.reason.clone())
        }
    }

    /// `proximal + projection + dop853`, or the integrator alone where it resolves the constraints itself.
    pub fn method(&self) -> String {
        if self.formulation == OWN {
            return self.integrator.clone();
        }
        format!("{} + {} + {}", self.formulation, self.stabilization, self.integrator)
    }

    /// Largest difference of a unique reaction to the reference \[N, N m\].
    pub fn reactions(&self) -> Option<f64> {
        self.deviation.as_ref().and_then(|d| worst(&d.reactions))
    }

    /// Largest difference of a reaction that is not unique.
    pub fn not_unique(&self) -> Option<f64> {
        self.deviation.as_ref().and_then(|d| worst(&d.not_unique))
    }
}

fn worst(difference: &LargestDifference) -> Option<f64> {
    difference.worst.as_ref().map(|w| w.value)
}

/// Names the integrator that `auto` stands for in rows that never came to choose it: that of a row like them.
pub(crate) fn name_auto(rows: &mut [ComparisonRow], cases: &[Combination]) {
    for i in 0..rows.len() {
        let like = |k: &usize| {
            cases[*k].integrator == cases[i].integrator
                && cases[*k].effort == cases[i].effort
                && rows[*k].status != RowStatus::Refused
        };
        if rows[i].integrator == "auto"
            && let Some(k) = (0..rows.len()).find(like)
        {
            rows[i].integrator = rows[k].integrator.clone();
        }
    }
}

/// Times against the fastest.
pub(crate) fn rank(rows: &mut [ComparisonRow]) {
    let fastest = rows.iter().filter_map(|r| r.time_s).fold(f64::INFINITY, f64::min);
    for row in rows.iter_mut().filter(|_| fastest > 0.0) {
        row.ratio = row.time_s.map(|t| t / fastest);
    }
}

/// Head of the comma-separated values.
const CSV: &str = "formulation,stabilization,integrator,rtol,atol,step,status,t_reached,time_s,ratio,rhs,steps,rejected,\
factorizations,drift_position,drift_velocity,drift_acceleration,energy_drift,energy_error,error,error_position,error_angle,\
reactions,reactions_not_unique,reason";

impl Comparison {
    /// As indented JSON; numbers that are not finite are `null`.
    pub fn to_json(&self) -> String {
        // a struct of numbers, strings and lists cannot fail to serialize
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// As comma-separated values, a line per row; empty where there is no number.
    pub fn to_csv(&self) -> String {
        let mut out = format!("{CSV}\n");
        for row in &self.rows {
            let number =
                |x: Option<f64>| x.map_or(String::new(), |x| zmij::Buffer::new().format(x).to_string());
            let count =
                |f: fn(&CountsReport) -> u64| row.counts.as_ref().map_or(String::new(), |c| f(c).to_string());
            let (rtol, atol, step) = match row.effort {
                Effort::Tolerance(t) => (Some(t.rtol), Some(t.atol), None),
                Effort::Step { step } => (None, None, step),
            };
            let drift = |f: fn(&Drift) -> f64| number(row.drift.as_ref().map(f));
            let by = |f: fn(&Deviation) -> &LargestDifference| {
                number(row.deviation.as_ref().and_then(|d| worst(f(d))))
            };
            let cells = [
                quoted(&row.formulation),
                quoted(&row.stabilization),
                quoted(&row.integrator),
                number(rtol),
                number(atol),
                number(step),
                row.status.name().to_string(),
                number(row.t_reached),
                number(row.time_s),
                number(row.ratio),
                count(|c| c.rhs),
                count(|c| c.steps),
                count(|c| c.rejected),
                count(|c| c.factorizations),
                drift(|d| d.position),
                drift(|d| d.velocity),
                drift(|d| d.acceleration),
                number(row.energy_drift),
                number(row.energy_error),
                number(row.error),
                by(|d| &d.position),
                by(|d| &d.angle),
                by(|d| &d.reactions),
                by(|d| &d.not_unique),
                quoted(&row.reason),
            ];
            let _ = writeln!(out, "{}", cells.join(","));
        }
        out
    }
}

/// A cell: in quotes where it has a comma, a quote or a line break.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}
