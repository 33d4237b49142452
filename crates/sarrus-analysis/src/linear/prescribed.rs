//! The motion that drivers alone determine, and the forces that they need for it: kinematic analysis and inverse dynamics.
//!
//! Where drivers move every freedom, J has as many independent rows as there are velocities, so that positions follow from Φ(q, t) = 0,
//! velocities from J v = -Φ_t, accelerations from J v̇ = γ, and the multipliers, the drivers' forces among them, from
//! Jᵀλ = f - M v̇: of minimum norm where rows are redundant, unbounded where the position is singular. No error accumulates: every
//! sample is exact to rounding, whatever the time between them. Redundant rows and loops are welcome.
//!
//! Cost: a sparse factorization for each correction of positions, a few a sample.

use crate::VERSION;
use crate::assemble::assemble;
use crate::error::SetupError;
use crate::failure;
use crate::report::Status;
use crate::settings::{Overrides, Settings};
use crate::simulate::not_unique;
use crate::start::Rows;
use crate::trajectory::Trajectory;
use sarrus_model::Model;
use sarrus_solve::integrators::Samples;
use sarrus_solve::{
    Dynamics, Equations, Options, Problem, SolveError, Stage, State, formulations, stabilizations,
};
use sarrus_system::system::Family;
use sarrus_system::{Columns, Mechanism, System};
use serde::Serialize;
use std::sync::Arc;

/// A step between samples is halved this often before giving up.
const HALVINGS: u32 = 30;

/// A prescribed motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Prescribed {
    /// The samples.
    pub trajectory: Trajectory,
    /// How it went.
    pub report: PrescribedReport,
}

/// How a prescribed motion went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrescribedReport {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// Whether it was found to the end.
    pub status: Status,
    /// Why it ended there.
    pub reason: String,
    /// Where it ended \[s\].
    pub t_end: f64,
    /// Samples.
    pub samples: usize,
    /// What the drivers need.
    pub drivers: Vec<EffortReport>,
    /// Columns of reactions and efforts that are not unique.
    pub not_unique: Vec<String>,
    /// Findings in words.
    pub notes: Vec<String>,
}

impl PrescribedReport {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// What a driver needs along the motion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffortReport {
    /// Its column.
    pub column: String,
    /// Its unit.
    pub unit: &'static str,
    /// The largest, by size, with its sign.
    pub largest: f64,
    /// When that is \[s\].
    pub at: f64,
    /// Root of the mean square over the samples.
    pub rms: f64,
    /// Whether it is unique.
    pub unique: bool,
}

/// The motion of `model` that its drivers prescribe.
pub fn prescribed(
    model: &Model,
    system: &Arc<System>,
    overrides: &Overrides,
) -> Result<Prescribed, SetupError> {
    let settings = Settings::read(model, overrides)?;
    // the work of forces is an integral over time, which this is not
    let mut patterns = settings.columns.clone();
    patterns.push("!energy.balance".into());
    let columns = Columns::new(model, system, &patterns)?;
    let assembled = assemble(model, system, settings.assembly)?;
    let mut mechanism = system.mechanism();
    mechanism.set_hints(&assembled.hints);
    let mut state = assembled.state;
    let mut eq = Equations::new(&mechanism);
    mechanism.update(&state, Stage::POSITION, &mut eq);
    let rows = Rows::find(&system.structure, &eq)?;
    let nv = system.structure.nv;
    let rank = rows.rank.unwrap_or(0);
    if rank < nv || system.structure.rows.iter().any(|r| r.holonomic < r.size) {
        return Err(SetupError::NotDriven { free: nv - rank });
    }
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
    // velocities and accelerations at the start are those of the drivers
    dynamics.project(&mut state).map_err(named)?;
    dynamics.evaluate(&state).map_err(named)?;

    let mut failed = None;
    let mut samples = Samples::every(settings.t_start, settings.every, settings.t_end);
    while let Some(t) = samples.next_time() {
        if let Err(error) = go(&mut dynamics, &mut state, t) {
            failed = Some(error);
            break;
        }
        let row = trajectory.push();
        row[0] = t;
        let (mechanism, eq, accel) = dynamics.parts();
        columns.row(mechanism, &state, eq, accel, &mut row[1..]);
    }

    let drivers = efforts(&trajectory, system, &not_unique);
    let mut notes = Vec::new();
    if !system.controllers.is_empty() {
        notes.push("states of controllers stay at their start".into());
    }
    if !not_unique.is_empty() {
        notes.push(format!(
            "{} components of reactions are not unique: minimum-norm values are shown",
            not_unique.len()
        ));
    }
    let (status, reason) = match &failed {
        None => (Status::Completed, "the end was reached".to_string()),
        Some(error) => {
            let name = failure::element(error, &system.mechanism());
            let (why, _) = failure::solve(error, name.as_deref().unwrap_or("one of them"));
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
        notes,
    };
    Ok(Prescribed { trajectory, report })
}

/// Takes `state` to time `t`, in as many steps as it takes for corrections to find the same branch.
fn go(dynamics: &mut Dynamics<'_, Mechanism>, state: &mut State, t: f64) -> Result<(), SolveError> {
    let (mut h, mut halved) = (t - state.t, 0);
    let mut trial = state.clone();
    while state.t < t {
        let to = if state.t + h >= t { t } else { state.t + h };
        let dt = to - state.t;
        trial.copy_from(state);
        trial.t = to;
        let vdot = dynamics.accel().vdot.clone();
        let delta: Vec<f64> = state.v.iter().zip(&vdot).map(|(v, a)| dt * (v + 0.5 * dt * a)).collect();
        dynamics.problem().retract(&mut trial.q, &delta);
        trial.v.iter_mut().zip(&vdot).for_each(|(v, a)| *v += dt * a);
        let predicted = trial.q.clone();
        let found = dynamics.project(&mut trial).and_then(|_| dynamics.evaluate(&trial).map(|_| ()));
        // a correction as long as the step itself may have changed the branch
        let mut off = vec![0.0; delta.len()];
        dynamics.problem().difference(&trial.q, &predicted, &mut off);
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        match found {
            Ok(()) if norm(&off) <= 0.1 * norm(&delta) + 1e-9 => {
                state.copy_from(&trial);
                dynamics.problem_mut().accept(state);
            }
            found => {
                halved += 1;
                h = 0.5 * dt;
                // the accelerations of where this began
                dynamics.evaluate(state)?;
                if halved > HALVINGS {
                    return Err(found.err().unwrap_or(SolveError::NotFinite { quantity: "q", index: 0 }));
                }
            }
        }
    }
    Ok(())
}

fn efforts(trajectory: &Trajectory, system: &System, not_unique: &[String]) -> Vec<EffortReport> {
    let driver = |name: &str| system.elements.iter().any(|e| e.family == Family::Driver && e.name == name);
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
