//! A position in which all stays at rest: f(q, 0) = Jᵀλ, Φ(q) = 0, found from the start or along loads that grow.
//!
//! At rest M a + Jᵀλ = f, J a = 0 gives λ and the acceleration a with which the mechanism would set off; an equilibrium has none.
//! Where springs or beams hold the mechanism, Newton's iteration ([`super::newton`]) finds it in a few steps. The loads s·F (gravity, forces,
//! torques; see [`System::with_loads`]) grow from s = 0 to 1,
//!
//! - in as many equal parts as are asked for, each begun where the last one ended, so that a large deformation is followed along one branch;
//!   where a part is too much for the iteration it is halved;
//! - at once, where nothing is asked for, if every step leads along the forces and is short; in halves where it does not come to rest so,
//!   unless contacts or forces by position act, of which a part lets pass what the whole holds.
//!
//! Otherwise the iteration is held back, so that it goes where a damped motion would; and where that fails, or nothing is elastic, the rest is
//! searched for ([`super::search`]). Limits, locks and rigid contacts hold what they meet on the way ([`super::stops`]); states of controllers come to
//! rest with the mechanism ([`super::control`]). Times stand still: drivers hold where they are at the start. Cost: a sparse factorization a step.

use super::branch::BranchEnd;
use super::control::ControllerStates;
use super::paths::Paths;
use super::rest::Rest;
use super::search::NEARLY;
use super::stability::Curvature;
use super::statics::Statics;
use super::stops::{RUN, Stops};
use crate::VERSION;
use crate::assemble::assemble;
use crate::error::SetupError;
use crate::redundancy::with_contacts;
use crate::settings::{RunOverrides, Settings};
use crate::trajectory::Trajectory;
use sarrus_model::Model;
use sarrus_solve::State;
use sarrus_system::contact::TouchingPoint;
use sarrus_system::contact::friction::FrictionLaw;
use sarrus_system::{Columns, Family, Mechanism, System};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Describes how an equilibrium is searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EquilibriumOptions {
    /// In how many equal parts the loads are brought on, with a result for each of them. By default they act at once.
    pub load_steps: Option<u32>,
}

/// An equilibrium.
#[derive(Clone)]
pub struct Equilibrium {
    /// Holds what acts there: the model, with rows that hold what rests at a limit, is locked or touches.
    pub system: Arc<System>,
    /// The state, at rest.
    pub state: State,
    /// Rotations of joint angles and the like.
    pub discrete: Vec<f64>,
    /// A row for each part of the loads: `load`, the share of them that acts, and every column at rest under it.
    pub steps: Trajectory,
    /// Describes how it was found, and what holds there.
    pub report: EquilibriumReport,
}

impl fmt::Debug for Equilibrium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Equilibrium")
            .field("state", &self.state)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

/// Describes how an equilibrium was found, and what holds there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EquilibriumReport {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// Steps made.
    pub iterations: u32,
    /// Holds what is left of the forces, relative to them.
    pub residual: f64,
    /// Marks whether nothing leads away from the rest: a potential rises along all motions. None where that is not reported: of free motions, of forces
    /// without potential, of controllers and rolling.
    pub stable: Option<bool>,
    /// Potential energy at the start and here \[J\].
    pub potential: [f64; 2],
    /// Every column of results, at rest: positions, joint coordinates, reactions.
    pub values: BTreeMap<String, f64>,
    /// Columns of reactions that are not unique: values of least norm are shown.
    pub reactions_not_unique: Vec<String>,
    /// The parts in which the loads were brought on, where these were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_steps: Vec<LoadStep>,
    /// Findings in words.
    pub notes: Vec<String>,
}

impl EquilibriumReport {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Rest under a part of the loads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadStep {
    /// The share of the loads that acts.
    pub load: f64,
    /// Steps made from the part before.
    pub iterations: u32,
    /// Holds what is left of the forces, relative to them.
    pub residual: f64,
    /// Marks whether it is stable, as in the report.
    pub stable: Option<bool>,
    /// Potential energy \[J\].
    pub potential: f64,
    /// The body that has moved farthest since the start, and how far \[m\].
    pub farthest: Option<(String, f64)>,
}

/// Marks where a search for rest is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EquilibriumSearch {
    /// Steps tried, those that were taken back included.
    pub trials: u32,
    /// Steps made.
    pub steps: u32,
    /// Holds what is left of the forces, relative to them.
    pub residual: f64,
}

/// Finds the equilibrium that the start of `model` leads to.
pub fn equilibrium(model: &Model, system: &Arc<System>) -> Result<Equilibrium, SetupError> {
    equilibrium_with(model, system, &EquilibriumOptions::default(), &mut |_| {})
}

/// The same with `options`, and `watch` told before every trial how far it is.
pub fn equilibrium_with(
    model: &Model,
    system: &Arc<System>,
    options: &EquilibriumOptions,
    watch: &mut dyn FnMut(&EquilibriumSearch),
) -> Result<Equilibrium, SetupError> {
    let settings = Settings::read(model, &RunOverrides::default())?;
    let columns = Columns::new(model, system, &settings.columns)?;
    let assembled = assemble(model, system, settings.assembly)?;
    let mut state = assembled.state;
    state.v.fill(0.0);
    let start = state.clone();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&assembled.discrete);
    let stops = Stops::new(model, system, &settings, &mut mechanism, &state)?;
    let span = (settings.t_start, settings.t_end);
    let control = ControllerStates::new(model, system, &mut mechanism, &state, span)?;
    let mut statics = Statics::new(system, state, &assembled.discrete, stops, options)?;
    let first = statics.energy();
    let (mut names, mut units) = (vec!["load".to_string()], vec!["1"]);
    names.extend_from_slice(&columns.names);
    units.extend_from_slice(&columns.units);
    let mut steps = Trajectory::new(names, units);
    let (mut load_steps, mut notes) = (Vec::new(), Vec::new());

    let curvature_of =
        |statics: &mut Statics<'_>, rest: &Rest| control.is_none().then(|| statics.curvature(rest))?;
    let mut curvature = None;
    let parts = options.load_steps.unwrap_or(1).max(1);
    let mut last = None;
    for part in 1..=parts {
        let share = |part: u32| f64::from(part) / f64::from(parts);
        let before = statics.counts.steps;
        statics.begin_part();
        let shares = [share(part - 1), share(part)];
        let (mut here, end) = match &control {
            Some(control) => control.bring_on(&mut statics, shares, watch)?,
            None => statics.bring_on(shares, watch)?,
        };
        let load = share(part);
        if let Some(BranchEnd { load }) = end {
            notes.push(format!(
                "the branch of rests ends at {load:.4} of the loads: the next rest, to which a damped motion may come, is on another branch"
            ));
        }
        if !here.found {
            let EquilibriumSearch { trials, steps, .. } = statics.counts;
            let load = (parts > 1).then_some(load);
            return Err(SetupError::NoEquilibrium {
                residual: here.rest.residual(),
                iterations: steps,
                trials,
                load,
            });
        }
        let row = steps.push();
        row[0] = load;
        let Rest { eq, accel, .. } = &mut here.rest;
        accel.vdot.fill(0.0);
        columns.row(&mut statics.mechanism, &statics.state, eq, accel, &mut row[1..]);
        if options.load_steps.is_some() {
            curvature = curvature_of(&mut statics, &here.rest);
            load_steps.push(LoadStep {
                load,
                stable: curvature.as_ref().and_then(Curvature::is_stable),
                iterations: statics.counts.steps - before,
                residual: here.rest.residual(),
                potential: here.rest.potential,
                farthest: farthest(system, &start, &statics.state),
            });
        }
        last = Some(here.rest);
    }
    let here = match last {
        Some(here) => here,
        None => statics.rest()?,
    };

    if options.load_steps.is_none() {
        curvature = curvature_of(&mut statics, &here);
    }
    let stable = curvature.as_ref().and_then(Curvature::is_stable);
    let unstable = |step: &&LoadStep| step.stable == Some(false);
    if stable == Some(false) {
        notes.push("this rest is not stable: a run leaves it where anything disturbs it".into());
    } else if let Some(LoadStep { load, .. }) = load_steps.iter().find(unstable) {
        notes.push(format!("the rest under {load:.4} of the loads is not stable"));
    }
    if let Some(contact) = sticking(&mut statics.mechanism, &statics.state) {
        let what = format!("friction of contact `{contact}` sticks at it, which depends on the way there");
        return Err(SetupError::NotStatic { what, hint: RUN });
    }
    notes.extend(creeping(&mut statics.mechanism, &statics.state));
    if let Some(stops) = &statics.stops {
        notes.extend(stops.notes.iter().cloned());
        notes.extend(stops.words(system));
    }
    notes.extend(statics.paths.as_ref().and_then(Paths::note));
    if !system.timed.is_empty() || system.elements.iter().any(|e| e.family == Family::Driver) {
        notes.push(format!("drivers, and what reads the time, stand still at t = {} s", statics.state.t));
    }
    if let Some(control) = &control {
        notes.push(control.untold(system));
    } else if let Some(Curvature::Unsymmetric) = curvature {
        notes.push("some forces have no potential: whether the rest is stable, `sarrus modes` shows".into());
    }
    if !here.dependent.is_empty() {
        notes.push(format!("{} rows depend on others: reactions are of minimum norm", here.dependent.len()));
    }
    let not_unique = not_unique(&mut statics, &here);
    if not_unique.is_none() {
        notes.push("it could not be determined which reactions are unique".into());
    }
    let values = steps.rows().last().map_or_else(BTreeMap::new, |row| {
        columns.names.iter().cloned().zip(row[1..].iter().copied()).collect()
    });
    let report = EquilibriumReport {
        model: model.name.clone(),
        version: VERSION,
        iterations: statics.counts.steps,
        residual: here.residual(),
        stable,
        potential: [first, here.potential],
        values,
        reactions_not_unique: not_unique.unwrap_or_default(),
        load_steps,
        notes,
    };
    let discrete = statics.mechanism.discrete().to_vec();
    Ok(Equilibrium { system: statics.system, discrete, state: statics.state, steps, report })
}

/// Columns of reactions that are not unique at the rest `here` at hand, with the gaps that are closed there; none where that cannot be determined.
fn not_unique(statics: &mut Statics<'_>, here: &Rest) -> Option<Vec<String>> {
    let mut columns = if here.dependent.is_empty() {
        Vec::new()
    } else {
        with_contacts(&mut statics.mechanism, &statics.state)?.not_unique()
    };
    let closed = statics.stops.iter().flat_map(|stops| &stops.not_unique);
    for column in closed {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    Some(columns)
}

/// A contact whose friction bears at rest and depends on the way there, if there is one. Coulomb's smooth law bears nothing at rest.
fn sticking(mechanism: &mut Mechanism, state: &State) -> Option<String> {
    let (system, mut points) = (mechanism.system().clone(), Vec::new());
    mechanism.contact_points(state, None, &mut points);
    let contact = |point: &TouchingPoint| &system.contacts[point.contact as usize].contact;
    let sticks = |point: &&TouchingPoint| {
        let across = point.force.iter().map(|f| f * f).sum::<f64>() - point.normal * point.normal;
        matches!(contact(point).friction, Some(FrictionLaw::Bristle { .. } | FrictionLaw::Lugre { .. }))
            && across > NEARLY * point.normal * point.normal
    };
    points.iter().find(sticks).map(|point| contact(point).name.clone())
}

/// Joints and contacts whose friction is smooth: it vanishes at rest, so that a run creeps to where they do not hold.
fn creeping(mechanism: &mut Mechanism, state: &State) -> Option<String> {
    let (system, mut points) = (mechanism.system().clone(), Vec::new());
    mechanism.contact_points(state, None, &mut points);
    let has_friction =
        |i: &usize| matches!(system.contacts[*i].contact.friction, Some(FrictionLaw::Coulomb { .. }));
    let touches = |i: &usize| points.iter().any(|point| point.contact as usize == *i);
    let contacts = (0..system.contacts.len()).filter(has_friction).filter(touches);
    let contacts = contacts.map(|i| &system.contacts[i].contact.name);
    // of the reaction, or a force of its own: `A.friction`, `A.angle.friction`
    let constant = |joint: &str| {
        let mut own = system.forces.iter().filter(|f| f.enabled).filter_map(|f| f.name.strip_prefix(joint));
        own.any(|rest| rest.starts_with('.') && rest.ends_with(".friction"))
    };
    let joints = system.directory.joints.iter();
    let joints = joints.filter(|j| j.friction.iter().any(Option::is_some) || constant(&j.name));
    let mut names: Vec<String> = joints.map(|j| &j.name).chain(contacts).map(|n| format!("`{n}`")).collect();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "friction of {} is smooth and vanishes at rest: it holds nothing, and a run creeps to this rest more slowly than `slip_speed`",
            names.join(", ")
        )
    })
}

/// The body that has moved farthest, of those that results show.
fn farthest(system: &System, start: &State, state: &State) -> Option<(String, f64)> {
    let bodies = system.directory.bodies.iter().skip(1).filter(|b| b.between.is_none());
    let moved = bodies.map(|b| {
        let n = b.kind.nv().min(if system.wide == 3 { 2 } else { 3 });
        let square: f64 = (b.q..b.q + n).map(|i| (state.q[i] - start.q[i]).powi(2)).sum();
        (b.name.clone(), square.sqrt())
    });
    moved.max_by(|a, b| a.1.total_cmp(&b.1))
}
