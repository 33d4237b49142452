//! Eigenvalues of small motions, with damping, and which bodies take part.

use super::basis::check_size;
use super::equilibrium::EquilibriumSearch;
use super::hidden::ModeForces;
use super::linearize::{Linearization, REST, free_accelerations, linearize, mass_dot, rounded_positions};
use super::operating_point::OperatingPoint;
use super::rest::force_sizes;
use super::roots::{Roots, roots, size};
use super::steady::SteadyMotion;
use crate::VERSION;
use crate::error::SetupError;
use crate::redundancy::{Nearby, Scaled, analyse, nearby_rank, shared};
use crate::start::RowRank;
use sarrus_math::solve::EigenPair;
use sarrus_model::Model;
use sarrus_solve::{Equations, Problem, Stage, State};
use sarrus_system::body::BodyKind;
use sarrus_system::{Mechanism, System};
use serde::Serialize;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Squares of the parts of a mode that are rounding, relative to the rest.
const ROUNDING: f64 = 1e-18;

/// Most elements that a singular position is explained by.
const NAMED: usize = 12;

/// Holds what a mode does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ModeKind {
    /// It swings.
    Oscillation,
    /// It dies away.
    Decay,
    /// It grows away from the state.
    Growth,
    /// Nothing drives it back.
    Free,
    /// It is so slow that rounding in the fastest modes hides what it does.
    Undecided,
}

/// A mode of small motions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mode {
    /// Holds what it does.
    pub kind: ModeKind,
    /// Real and imaginary part \[1/s\].
    pub eigenvalue: [f64; 2],
    /// Undamped frequency |s|/2π \[Hz\], of an oscillation.
    pub frequency: Option<f64>,
    /// -Re s/|s|, of an oscillation.
    pub damping_ratio: Option<f64>,
    /// Shares of the bodies in the kinetic energy, largest first.
    pub bodies: Vec<BodyShare>,
    /// Displacements, the largest as one; turns in radians about the body's own axes.
    pub shape: Vec<Displacement>,
}

/// Describes how much a body takes part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BodyShare {
    /// The body.
    pub name: String,
    /// Its share of the kinetic energy.
    pub share: f64,
}

/// A displacement in a mode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Displacement {
    /// `crank.x`, `crank.turn_z`, ...
    pub name: String,
    /// Real and imaginary part.
    pub value: [f64; 2],
}

/// Small motions about a state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModesReport {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// The time of the state \[s\].
    pub t: f64,
    /// True if it is at rest and stays so.
    pub equilibrium: bool,
    /// The motion of the state, and how steady it is; none at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<SteadyMotion>,
    /// Free positions.
    pub positions: usize,
    /// Free velocities; fewer than positions where something rolls.
    pub speeds: usize,
    /// States of controllers that take part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Marks whether nothing grows; none where the state is neither in equilibrium nor in steady motion, or where nothing is seen to grow but
    /// modes are undecided.
    pub stable: Option<bool>,
    /// The modes, slowest first; of a pair of conjugate eigenvalues one.
    pub modes: Vec<Mode>,
    /// A of ẋ = A x, row by row; the first rows and columns are of positions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub A: Vec<Vec<f64>>,
    /// Findings in words.
    pub notes: Vec<String>,
}

impl ModesReport {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Holds what the search for modes is about to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doing {
    /// Looking for the equilibrium.
    Searching(EquilibriumSearch),
    /// Decomposing dense matrices: least number of degrees of freedom that they have.
    Decomposing(usize),
}

/// The modes of `model` about a state.
pub fn modes(model: &Model, system: &Arc<System>, about: OperatingPoint) -> Result<ModesReport, SetupError> {
    modes_with(model, system, about, &mut |_| {})
}

/// The same, with `watch` told what comes next.
pub fn modes_with(
    model: &Model,
    system: &Arc<System>,
    about: OperatingPoint,
    watch: &mut dyn FnMut(Doing),
) -> Result<ModesReport, SetupError> {
    check_size(&system.structure, "modes")?;
    let (mut mechanism, state) = about.find(model, system, &mut |search| watch(Doing::Searching(*search)))?;
    watch(Doing::Decomposing(system.structure.nv.saturating_sub(system.structure.nc)));
    modes_at(&model.name, &mut mechanism, &state)
}

/// The modes of a mechanism about `state`, which is on the constraints.
pub fn modes_at(name: &str, mechanism: &mut Mechanism, state: &State) -> Result<ModesReport, SetupError> {
    let system = &mechanism.system().clone();
    refuse_singular(mechanism, state)?;
    let linear = linearize(mechanism, state)?;
    let mut eq = Equations::new(mechanism);
    mechanism.update(state, Stage::POSITION, &mut eq);
    let equilibrium = at_rest(mechanism, state, &linear) && linear.unsettled.is_empty();
    let roots = roots(&linear).map_err(|_| SetupError::NoModes { size: linear.size() })?;
    let judge = ModeForces::new(mechanism, state, &linear);
    let mut hides = 0.0_f64;
    let mut modes: Vec<Mode> = Vec::new();
    for (pair, &hidden) in roots.pairs.iter().zip(&roots.hidden).filter(|(p, _)| p.value[1] >= 0.0) {
        let mode = describe((pair, hidden), &roots, &linear, system, &eq, &judge);
        if mode.kind == ModeKind::Undecided {
            hides = hides.max(hidden);
        }
        modes.push(mode);
    }
    modes.sort_by(|a, b| size(a.eigenvalue).total_cmp(&size(b.eigenvalue)));

    let mut notes = Vec::new();
    let motion = linear.motion.clone();
    let steady = motion.as_ref().is_some_and(|m| m.steady);
    match &motion {
        Some(m) if m.steady => {}
        Some(m) => notes.push(format!(
            "the motion is not steady (relative change of its coefficients {:.1e} within 0.7 rad): eigenvalues mean little; they tell \
             how neighbours drift away at this instant",
            m.residual
        )),
        None if equilibrium => {}
        None if !linear.unsettled.is_empty() => notes.extend(linear.unsettled.iter().map(|(name, rate)| {
            format!(
                "the state is not in equilibrium, `{name}` of a controller changes at {rate:.3e} 1/s: eigenvalues mean little; they tell \
                 how neighbours drift away at this instant"
            )
        })),
        None => notes.push(
            "the state is not in equilibrium, it accelerates from rest: eigenvalues mean little; they tell how neighbours drift away at \
             this instant"
                .into(),
        ),
    }
    let left_out = left_out(mechanism, state, &linear);
    let is_whole = left_out.is_empty();
    notes.extend(left_out);
    notes.extend(unmodelled_forces(system));
    let undecided = modes.iter().filter(|m| m.kind == ModeKind::Undecided).count();
    if undecided > 0 {
        let fastest = modes.iter().fold(0.0_f64, |a, m| a.max(size(m.eigenvalue)));
        let (are, they) = if undecided == 1 { ("mode is", "it") } else { ("modes are", "they") };
        notes.push(format!(
            "{undecided} {are} slower than {:.2e} Hz, which rounding hides behind the fastest, {:.2e} Hz: {they} may swing, grow or be \
             free; with what is stiffest as rigid bodies or joints the modes tell",
            hides.sqrt() / TAU,
            fastest / TAU
        ));
    }
    let growth = modes
        .iter()
        .filter(|m| !matches!(m.kind, ModeKind::Free | ModeKind::Undecided))
        .fold(0.0_f64, |most, m| most.max(roots.real_part(m.eigenvalue)));
    let stable = match growth {
        growth if growth > roots.growth => Some(false),
        growth if growth > 0.0 || undecided > 0 => None,
        _ => Some(true),
    };
    Ok(ModesReport {
        model: name.into(),
        version: VERSION,
        t: state.t,
        equilibrium,
        motion,
        positions: linear.positions,
        speeds: linear.speeds,
        states: linear.states.clone(),
        stable: stable.filter(|_| (equilibrium || steady) && is_whole),
        modes,
        A: linear.A.chunks(linear.size().max(1)).map(<[f64]>::to_vec).collect(),
        notes,
    })
}

/// Returns what acts on the mechanism and does not take part, in words: with any of it nothing is called stable or not.
fn left_out(mechanism: &mut Mechanism, state: &State, linear: &Linearization) -> Vec<String> {
    let mut notes = Vec::new();
    let moves = state.v.iter().any(|v| *v != 0.0);
    if !linear.held.is_empty() {
        notes.push(format!(
            "sampled controllers hold what they put out, which counts as constant: {}; whether the mechanism is stable with them, a run shows",
            linear.held.join(", ")
        ));
    }
    if linear.controlled && moves {
        notes.push(
            "controllers take part as they do at this instant: that the motion stays steady with them is not checked".into(),
        );
    }
    let bristles = bristles(mechanism, state);
    if !bristles.is_empty() {
        notes.push(format!(
            "bristles of `lugre` friction count as their damping alone, and not as the springs that they are: {}; what they do, a run shows",
            bristles.join(", ")
        ));
    }
    let elements = mechanism.system().elements.iter();
    let mut slide: Vec<String> = elements.filter(|e| e.sliding.is_some()).map(|e| e.name.clone()).collect();
    slide.dedup();
    if !slide.is_empty() {
        notes.push(format!("friction of rigid contacts that slide has no part: {}", slide.join(", ")));
    }
    let reactive = reactive(mechanism, state, linear);
    if !reactive.is_empty() {
        notes.push(format!(
            "reactions that friction with `mu` or separating forces of gears depend on count as constant: {}",
            reactive.join(", ")
        ));
    }
    notes
}

/// Contacts that touch with friction whose states have no part in modes.
fn bristles(mechanism: &mut Mechanism, state: &State) -> Vec<String> {
    let (system, mut points) = (mechanism.system().clone(), Vec::new());
    mechanism.contact_points(state, None, &mut points);
    let touching = points.iter().map(|point| &system.contacts[point.contact as usize].contact);
    let own = touching.filter(|c| c.friction.is_some_and(|friction| friction.has_states()));
    let mut names: Vec<String> = own.map(|c| c.name.clone()).collect();
    names.dedup();
    names
}

/// Returns what could act and does not take part: modes are of what acts at the state.
fn unmodelled_forces(system: &System) -> Option<String> {
    let rigid = system.contacts.iter().filter(|c| c.enabled && c.contact.rigid.is_some());
    let events = system.all.events.list.iter().map(|e| e.name.clone());
    let limits = system.all.events.limits.iter().map(|limit| limit.name.clone());
    let mut names: Vec<String> = rigid.map(|c| c.contact.name.clone()).chain(limits).chain(events).collect();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("others".into());
    }
    Some(format!(
        "modes are of what acts at the state: rigid contacts, limits, locks and events neither close nor open in them: {}",
        names.join(", ")
    ))
}

/// Names of what depends on reactions and acts in free motions.
fn reactive(mechanism: &mut Mechanism, state: &State, linear: &Linearization) -> Vec<String> {
    let names = mechanism.reactive_names();
    let mut eq = Equations::new(mechanism);
    if !names.is_empty() {
        mechanism.update(state, Stage::FORCE, &mut eq);
    }
    let acts = |k: usize| {
        let mut n = vec![0.0; names.len()];
        n[k] = 1.0;
        let mut f = vec![0.0; eq.f.len()];
        mechanism.add_reactive_forces(state, &n, &mut f);
        linear.velocities.iter().any(|z| {
            let (sum, terms) =
                f.iter().zip(z).fold((0.0, 0.0), |(s, t), (f, z)| (s + f * z, t + (f * z).abs()));
            f64::abs(sum) > REST * terms
        })
    };
    let which: Vec<bool> = (0..names.len()).map(acts).collect();
    names.into_iter().zip(which).filter(|(_, acts)| *acts).map(|(name, _)| name).collect()
}

/// Refuses a position in which J has a smaller rank than in those beside it: there free motions are no basis of the motion.
fn refuse_singular(mechanism: &mut Mechanism, state: &State) -> Result<(), SetupError> {
    let system = mechanism.system().clone();
    let structure = &system.structure;
    let mut eq = Equations::new(mechanism);
    mechanism.update(state, Stage::VELOCITY, &mut eq);
    let rows = RowRank::find(structure, &eq)?;
    let Some(here) = rows.rank.filter(|rank| *rank < structure.nc) else { return Ok(()) };
    let more = match nearby_rank(mechanism, state, &rows)? {
        Nearby::Rank(there) if there > here => there - here,
        _ => return Ok(()),
    };
    let mut elements: Vec<String> = Vec::new();
    if let Ok(mut scaled) = Scaled::new(structure, &eq, rows.known_redundant(structure))
        && let Ok(found) = analyse(mechanism, state, &eq, &mut scaled, true)
    {
        elements =
            shared(mechanism, &found, &mut scaled).groups.into_iter().flat_map(|g| g.elements).collect();
    }
    if elements.len() > NAMED {
        elements.truncate(NAMED);
        elements.push("others".into());
    }
    Err(SetupError::SingularPosition { t: state.t, more, elements })
}

/// Returns whether nothing moves and nothing will.
fn at_rest(mechanism: &mut Mechanism, state: &State, linear: &Linearization) -> bool {
    let s = mechanism.structure().clone();
    let mut eq = Equations::new(mechanism);
    mechanism.update(state, Stage::FORCE, &mut eq);
    let [sizes, _] = force_sizes(mechanism, state);
    let free = free_accelerations(&s, &eq, &sizes);
    let norm = |x: &[f64]| mass_dot(&s, &eq, x, x).sqrt();
    // positions are rounded, and stiff elements answer that
    let answer = linear.scale * norm(&rounded_positions(mechanism.system(), state));
    norm(&state.v) == 0.0 && norm(&linear.vdot) <= (REST * norm(&free) + answer).max(f64::MIN_POSITIVE)
}

fn describe(
    (pair, hidden): (&EigenPair, f64),
    roots: &Roots,
    linear: &Linearization,
    system: &System,
    eq: &Equations,
    judge: &ModeForces,
) -> Mode {
    let [re, im] = pair.value;
    // displacements; of a mode that moves no positions, the velocities
    let s = &system.structure;
    let mut parts = [vec![0.0; s.nv], vec![0.0; s.nv]];
    let mut add = |columns: &[Vec<f64>], first: usize| {
        for (k, z) in columns.iter().enumerate() {
            for (part, out) in parts.iter_mut().enumerate() {
                let factor = pair.vector[first + k][part];
                if factor == 0.0 {
                    continue;
                }
                out.iter_mut().zip(z).for_each(|(o, z)| *o += factor * z);
            }
        }
    };
    // bases are orthonormal in M: sizes of the vector's parts are those of their motions
    let speeds = linear.positions..linear.positions + linear.speeds;
    let part = |range: std::ops::Range<usize>| -> f64 {
        pair.vector.get(range).unwrap_or_default().iter().map(|[a, b]| a * a + b * b).sum()
    };
    let is_zero = size(pair.value) <= roots.zero;
    let [of_positions, of_speeds] = [part(0..linear.positions), part(speeds.clone())];
    let rounding = if is_zero { ROUNDING } else { f64::EPSILON * f64::EPSILON };
    let no_positions = of_speeds > 0.0 && of_positions <= rounding * of_speeds;
    if no_positions {
        add(&linear.velocities, linear.positions);
    } else {
        add(&linear.displacements, 0);
    }
    let norm = [of_positions, of_speeds][usize::from(no_positions)].sqrt().max(f64::MIN_POSITIVE);

    let kind = match pair.value {
        _ if is_zero => {
            let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            let z = if square(&parts[1]) > square(&parts[0]) { &parts[1] } else { &parts[0] };
            let z: Vec<f64> = z.iter().map(|z| z / norm).collect();
            if judge.may_drive(&z, hidden) { ModeKind::Undecided } else { ModeKind::Free }
        }
        _ if im > roots.zero => ModeKind::Oscillation,
        _ if re > 0.0 => ModeKind::Growth,
        _ => ModeKind::Decay,
    };

    let energy = |col: usize| {
        let c = s.cols[col];
        parts
            .iter()
            .map(|part| {
                let x = &part[c.start..][..c.size];
                let M = eq.mass[c.mass..][..c.size * c.size].chunks_exact(c.size);
                M.zip(x).map(|(m, x_i)| x_i * m.iter().zip(x).map(|(m, x)| m * x).sum::<f64>()).sum::<f64>()
            })
            .sum::<f64>()
    };
    let total: f64 = (0..s.cols.len()).map(energy).sum();
    let names = || system.directory.bodies.iter().skip(1).filter(|b| !b.is_internal());
    let mut shares: Vec<f64> = vec![0.0; system.directory.bodies.len() - 1];
    (0..s.cols.len()).for_each(|col| shares[system.first_body(col) as usize - 1] = energy(col));
    for (i, body) in system.directory.bodies.iter().skip(1).enumerate() {
        // a point inside a flexible member is its neighbours' to show, and a rotor the bodies' of its joint
        let Some(pair) = body.between else { continue };
        let pair = if body.rotor { joint_of_rotor(system, i as u32 + 1) } else { pair };
        let own = shares[i];
        let shown: Vec<usize> = pair.iter().filter(|id| **id != 0).map(|id| *id as usize - 1).collect();
        shown.iter().for_each(|&to| shares[to] += own / shown.len() as f64);
    }
    let share = |i: usize| if total > 0.0 { shares[i] / total } else { 0.0 };
    let all = system.directory.bodies.iter().skip(1).enumerate().filter(|(_, b)| !b.is_internal());
    let mut bodies: Vec<BodyShare> =
        all.map(|(i, b)| BodyShare { name: b.name.clone(), share: share(i) }).collect();
    bodies.sort_by(|a, b| b.share.total_cmp(&a.share));

    let of_states = pair.vector.get(speeds.end..).unwrap_or_default();
    let largest = parts[0].iter().zip(&parts[1]).map(|(a, b)| a.hypot(*b)).fold(0.0, f64::max);
    // of a mode in which nothing moves the largest state
    let largest =
        if largest > 0.0 { largest } else { of_states.iter().map(|x| size(*x)).fold(0.0, f64::max) };
    let scale = if largest > 0.0 { 1.0 / largest } else { 0.0 };
    let shape = names()
        .flat_map(|b| {
            let parts = &parts;
            directions(b.kind).iter().enumerate().map(move |(i, word)| Displacement {
                name: format!("{}.{word}", b.name),
                value: [0, 1].map(|part| scale * parts[part][b.v + i]),
            })
        })
        .chain(
            linear
                .states
                .iter()
                .zip(of_states)
                .map(|(name, x)| Displacement { name: name.clone(), value: x.map(|x| scale * x) }),
        )
        .collect();
    let swings = kind == ModeKind::Oscillation;
    Mode {
        kind,
        eigenvalue: pair.value,
        frequency: swings.then(|| size(pair.value) / TAU),
        damping_ratio: swings.then(|| -re / size(pair.value)),
        bodies,
        shape,
    }
}

/// The bodies of the joint whose armature the body `rotor` is: its row ties both to it.
fn joint_of_rotor(system: &System, rotor: u32) -> [u32; 2] {
    let tie = system.elements.iter().find(|e| e.ids.len() == 3 && e.ids[2] == rotor);
    tie.map_or([0; 2], |tie| [tie.ids[0], tie.ids[1]])
}

/// Names of the directions of a body's velocities.
fn directions(kind: BodyKind) -> &'static [&'static str] {
    match kind {
        BodyKind::Ground => &[],
        BodyKind::Rigid | BodyKind::RigidEuler => &["x", "y", "z", "turn_x", "turn_y", "turn_z"],
        BodyKind::PlanarRigid => &["x", "y", "angle"],
        BodyKind::Point => &["x", "y", "z"],
        BodyKind::PlanarPoint => &["x", "y"],
    }
}
