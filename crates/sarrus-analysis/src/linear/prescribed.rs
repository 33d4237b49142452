//! The motion that drivers alone determine, and the forces that they need for it: kinematic analysis and inverse dynamics.
//!
//! Where drivers move every degree of freedom, J has as many independent rows as there are velocities, so that positions follow from Φ(q, t) = 0,
//! velocities from J v = -Φ_t, accelerations from J v̇ = γ, and the multipliers, the drivers' forces among them, from
//! Jᵀλ = f - M v̇: of minimum norm where rows are redundant. Redundant rows and loops are welcome, and singular positions on the
//! way are passed as in a run (`run.regularize`).
//!
//! The way from sample to sample is that of q̇ = N v, J v = -Φ_t, in steps of their own that end on every sample, brought onto Φ = 0 after
//! each: so it stays on its branch, and where all rows have a position level no error accumulates, every sample is exact to rounding
//! whatever the time between them. Rows of velocities alone (`rate`, `speed`, `velocity`, rolling) are followed to [`RATES`].
//! The work of drivers, what dampers take and states of controllers are integrated along.
//!
//! Where something happens at instants on the way (events, stops, rigid contacts, samples of controllers, breaks of drivers and
//! forces), or states and heat that may change abruptly go along (controllers, contacts, friction and dampers), the motion is that of a run with the same tolerances: what `sarrus run` gives, impulses and their work included.
//!
//! Cost: that of a run with tight tolerances, and a sparse factorization or two for each sample.

use crate::VERSION;
use crate::assemble::assemble;
use crate::drivers::{self, Contradiction};
use crate::error::SetupError;
use crate::failure;
use crate::method::regularize;
use crate::report::{EventReport, SingularReport, Status};
use crate::run::not_unique;
use crate::settings::{RunOverrides, Settings};
use crate::simulate::{SampleDiagnostics, Simulate, Watch, simulate};
use crate::singular;
use crate::start::RowRank;
use crate::trajectory::Trajectory;
use sarrus_model::settings::{Coordinates, MethodChoice};
use sarrus_model::{Model, Span};
use sarrus_solve::integrators::tableaux::DOP853;
use sarrus_solve::integrators::{ExplicitRk, Samples};
use sarrus_solve::{
    Dynamics, Equations, Options, Problem, SolveError, Stage, State, Step, StepControl, StepError,
    StepLimits, StepMode, formulations, stabilizations,
};
use sarrus_system::system::Family;
use sarrus_system::{Columns, Mechanism, System};
use serde::Serialize;
use std::sync::Arc;

/// Tolerance on the way where positions are prescribed, which no error then depends on but that of work.
const POSITIONS: f64 = 1e-10;
/// Steps from one sample to the next, beyond which the tolerance is loosened, and beyond which it is given up.
const MOST: u64 = 500;
/// The loosened tolerance. Positions that drivers give hold to rounding in any case.
const LOOSE: f64 = 1e-7;
/// The same where velocities are.
const RATES: f64 = 1e-12;

/// A prescribed motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Prescribed {
    /// The samples.
    pub trajectory: Trajectory,
    /// Describes how it went.
    pub report: PrescribedReport,
}

/// Describes how a prescribed motion went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrescribedReport {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// Marks whether it was found to the end.
    pub status: Status,
    /// Reason why it ended there.
    pub reason: String,
    /// Marks where it ended \[s\].
    pub t_end: f64,
    /// Samples.
    pub samples: usize,
    /// Holds what the drivers need.
    pub drivers: Vec<EffortReport>,
    /// Columns of reactions and efforts that are not unique.
    pub not_unique: Vec<String>,
    /// Singular positions on the way.
    pub singular: Vec<SingularReport>,
    /// Holds what happened on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventReport>,
    /// Findings in words.
    pub notes: Vec<String>,
}

impl PrescribedReport {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Holds what a driver needs along the motion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffortReport {
    /// Its column.
    pub column: String,
    /// Its unit.
    pub unit: &'static str,
    /// The largest, by size, with its sign.
    pub largest: f64,
    /// Time when that is \[s\].
    pub at: f64,
    /// Root of the mean square over the samples.
    pub rms: f64,
    /// True if it is unique.
    pub unique: bool,
}

/// The motion of `model` that its drivers prescribe.
pub fn prescribed(
    model: &Model,
    system: &Arc<System>,
    overrides: &RunOverrides,
) -> Result<Prescribed, SetupError> {
    let settings = Settings::read(model, overrides)?;
    let start = failure::with_functions(|| PrescribedStart::find(model, system, &settings))?;
    if is_interrupted(system, &settings) {
        drop(start);
        return through_a_run(model, system, overrides);
    }
    failure::with_functions(|| follow(model, system, &settings, start))
}

/// Returns whether something happens at instants on the way: events, stops, rigid contacts, samples of controllers, breaks of drivers
/// and forces; or states and energies (of controllers, contacts, friction) have a time scale of their own, which no count of steps between
/// samples bounds.
fn is_interrupted(system: &System, settings: &Settings) -> bool {
    !system.all.events.list.is_empty()
        || !system.all.events.limits.is_empty()
        || !system.controllers.is_empty()
        || !system.contacts.is_empty()
        || system.dissipates_without_motion()
        || !system.gaps().is_empty()
        || !system.breakpoints(settings.t_start, settings.t_end).is_empty()
}

/// Tolerance on the way.
fn tolerance(system: &System) -> f64 {
    let rates = system.structure.rows.iter().any(|r| r.holonomic < r.size);
    if rates { RATES } else { POSITIONS }
}

/// The motion as a run makes it, with all that happens on the way and the impulses of it.
fn through_a_run(
    model: &Model,
    system: &Arc<System>,
    overrides: &RunOverrides,
) -> Result<Prescribed, SetupError> {
    let method = |kind: &str| Some(MethodChoice { kind: kind.into(), options: Vec::new(), span: Span::NONE });
    let tolerance = tolerance(system);
    let overrides = RunOverrides {
        formulation: method("proximal"),
        stabilization: method("projection"),
        integrator: method("dop853"),
        coordinates: Some(Coordinates::Absolute),
        rtol: Some(tolerance),
        atol: Some(1e-2 * tolerance),
        ..overrides.clone()
    };
    let mut watch = DriverCoverage { rows: system.structure.nc, freed: None };
    let outcome = simulate(model, system, &Simulate { overrides, record: true }, &mut watch)?;
    let (trajectory, run) = (outcome.trajectory, outcome.report);
    let not_unique = run.reactions.not_unique;
    let mut notes = run.notes;
    notes.extend(watch.freed.map(|t| {
        format!("from t = {t} s on drivers do not move every degree of freedom: the motion is that of the forces, as in `sarrus run`")
    }));
    let report = PrescribedReport {
        model: run.model,
        version: VERSION,
        status: run.status,
        reason: run.reason,
        t_end: run.t_end,
        samples: trajectory.len(),
        drivers: efforts(&trajectory, system, &not_unique),
        not_unique,
        singular: run.singular,
        events: run.events,
        notes,
    };
    Ok(Prescribed { trajectory, report })
}

/// Looks whether drivers still move every degree of freedom.
struct DriverCoverage {
    /// Rows that were checked last.
    rows: usize,
    /// Time when they were first seen not to \[s\].
    freed: Option<f64>,
}

impl Watch for DriverCoverage {
    fn sample(&mut self, mechanism: &mut Mechanism, s: &State, _: &SampleDiagnostics) {
        let (nc, nv) = (mechanism.structure().nc, mechanism.structure().nv);
        if self.freed.is_some() || std::mem::replace(&mut self.rows, nc) == nc {
            return;
        }
        let mut eq = Equations::new(mechanism);
        mechanism.update(s, Stage::POSITION, &mut eq);
        let rank = RowRank::find(mechanism.structure(), &eq).ok().and_then(|rows| rows.rank);
        self.freed = rank.filter(|rank| *rank < nv).map(|_| s.t);
    }
}

/// The start of a motion that drivers prescribe.
struct PrescribedStart {
    mechanism: Mechanism,
    state: State,
    eq: Equations,
    rows: RowRank,
    rank: usize,
}

impl PrescribedStart {
    /// Puts the mechanism together; drivers must move every degree of freedom of it.
    fn find(model: &Model, system: &Arc<System>, settings: &Settings) -> Result<PrescribedStart, SetupError> {
        let assembled = assemble(model, system, settings.assembly)?;
        let mut mechanism = system.mechanism();
        mechanism.set_discrete(&assembled.discrete);
        let state = assembled.state;
        let mut eq = Equations::new(&mechanism);
        mechanism.update(&state, Stage::POSITION, &mut eq);
        let rows = RowRank::find(&system.structure, &eq)?;
        let (nv, rank) = (system.structure.nv, rows.rank.unwrap_or(0));
        if rank < nv {
            return Err(SetupError::NotDriven { free: nv - rank });
        }
        Ok(PrescribedStart { mechanism, state, eq, rows, rank })
    }
}

fn follow(
    model: &Model,
    system: &Arc<System>,
    settings: &Settings,
    start: PrescribedStart,
) -> Result<Prescribed, SetupError> {
    let columns = Columns::new(model, system, &settings.columns)?;
    let PrescribedStart { mut mechanism, mut state, eq, rows, rank } = start;
    let not_unique = not_unique(&mut mechanism, &state, &eq, &rows).unwrap_or_default();

    let (mut names, mut units) = (vec!["t".to_string()], vec!["s"]);
    names.extend_from_slice(&columns.names);
    units.extend_from_slice(&columns.units);
    let mut trajectory = Trajectory::new(names, units);
    let none = Options::new();
    let bad = |source| SetupError::Method { source, at: sarrus_model::Span::NONE };
    let named = |source: SolveError| {
        let element = failure::element(&source, &system.mechanism());
        SetupError::Start { source, element }
    };
    let mut dynamics = Dynamics::new(
        &mut mechanism,
        formulations::make("proximal", &none).map_err(bad)?,
        stabilizations::make("projection", &none).map_err(bad)?,
    )
    .map_err(named)?;
    let tolerance = tolerance(system);
    dynamics.regularize(regularize(settings), StepMode::Chosen(tolerance)).map_err(named)?;
    // velocities and accelerations at the start are those of the drivers
    dynamics.project(&mut state).map_err(named)?;
    let mut way = PrescribedPath {
        method: ExplicitRk::new(&DOP853, StepLimits::default()),
        control: StepControl::new(tolerance, 1e-2 * tolerance, None).map_err(bad)?,
    };
    way.method.prepare(&system.structure);

    let mut failed = None;
    // drivers that share a redundancy may drift apart
    let overdriven = rank < system.structure.nc && drivers::can_contradict(system);
    let limits = [settings.certify.position, settings.certify.velocity];
    let mut contradiction = None;
    let mut samples = Samples::every(settings.t_start, settings.every, settings.t_end);
    while let Some(t) = samples.next_time() {
        let there = way.run_to(&mut dynamics, &mut state, t);
        let solved = |source| StepError::Solve { t, source };
        if let Err(error) = there.and_then(|()| dynamics.evaluate(&state).map(|_| ()).map_err(solved)) {
            failed = Some(error);
            break;
        }
        if overdriven {
            contradiction = drivers::find(dynamics.problem_mut(), &state, limits);
            if contradiction.is_some() {
                break;
            }
        }
        let row = trajectory.push();
        row[0] = t;
        let (mechanism, eq, accel) = dynamics.parts();
        columns.row(mechanism, &state, eq, accel, &mut row[1..]);
    }

    let drivers = efforts(&trajectory, system, &not_unique);
    let mut singular = singular::reports(&dynamics);
    singular::forget_unclear(&mut singular);
    let mut notes: Vec<String> = singular
        .iter()
        .map(|s| {
            let how = s.outcome.replace('_', " ");
            format!("singular position at t = {} s, {how}: {}", s.t, s.elements.join(", "))
        })
        .collect();
    if !not_unique.is_empty() {
        notes.push(format!(
            "{} components of reactions are not unique: minimum-norm values are shown",
            not_unique.len()
        ));
    }
    notes.extend(crate::notes::nonideal(system));
    notes.extend(system.directory.notes.iter().cloned());
    notes.extend(crate::notes::parted(dynamics.problem_mut(), &state));
    let (status, reason) = match &failed {
        None if contradiction.is_some() => {
            (Status::Failed, contradiction.as_ref().map(Contradiction::message).unwrap_or_default())
        }
        None => (Status::Completed, "the end was reached".to_string()),
        Some(error) => {
            drop(dynamics);
            let why = failure::explain(error, &mut mechanism, &state, 0.0).message;
            (Status::Failed, format!("no further position at t = {}: {why}", state.t))
        }
    };
    let report = PrescribedReport {
        model: model.name.clone(),
        version: VERSION,
        status,
        reason,
        t_end: state.t,
        samples: trajectory.len(),
        drivers,
        not_unique,
        singular,
        events: Vec::new(),
        notes,
    };
    Ok(Prescribed { trajectory, report })
}

/// From sample to sample.
struct PrescribedPath {
    method: ExplicitRk,
    control: StepControl,
}

impl PrescribedPath {
    /// Takes `state` to time `t`.
    fn run_to(
        &mut self,
        dynamics: &mut Dynamics<'_, Mechanism>,
        state: &mut State,
        t: f64,
    ) -> Result<(), StepError> {
        let spent = |control: &StepControl| control.counts.steps + control.counts.rejected;
        let mut before = spent(&self.control);
        while state.t < t {
            // beside a singular position that is met slowly rounding is magnified beyond the tolerance
            if spent(&self.control) - before > MOST {
                if self.control.rtol >= LOOSE {
                    return Err(StepError::StepTooSmall { t: state.t, h_min: self.control.t_end - state.t });
                }
                (self.control.rtol, self.control.atol) = (LOOSE, 1e-2 * LOOSE);
                before = spent(&self.control);
            }
            self.control.t_end = t;
            self.method.step(dynamics, state, &mut self.control)?;
        }
        Ok(())
    }
}

fn efforts(trajectory: &Trajectory, system: &System, not_unique: &[String]) -> Vec<EffortReport> {
    let driver =
        |name: &str| system.all.elements.iter().any(|e| e.family == Family::Driver && e.name == name);
    let mut out = Vec::new();
    for (k, column) in trajectory.names().iter().enumerate() {
        let Some((name, effort)) = column.rsplit_once('.') else { continue };
        if !driver(name) || !["force", "torque", "fx", "fy", "fz", "tx", "ty", "tz"].contains(&effort) {
            continue;
        }
        let mut report = EffortReport {
            column: column.clone(),
            unit: trajectory.units()[k],
            largest: 0.0,
            at: 0.0,
            rms: 0.0,
            unique: !not_unique.contains(column),
        };
        for row in trajectory.rows() {
            report.rms += row[k] * row[k];
            if row[k].abs() > report.largest.abs() {
                (report.largest, report.at) = (row[k], row[0]);
            }
        }
        report.rms = (report.rms / trajectory.len().max(1) as f64).sqrt();
        out.push(report);
    }
    out
}
