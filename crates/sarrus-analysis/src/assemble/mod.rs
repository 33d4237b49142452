//! Positions and velocities made consistent before a run.
//!
//! The values that `[initial]` states of bodies and members give them poses and twists first ([`stated`]). Positions: of all q with Φ(q, t) = 0,
//! and with the values of `[initial]` kept, the one nearest to these in the mass metric. Corrections M δ + Jᵀμ = 0, J δ = -Φ with a line search
//! bring the parts together; then M δ + Jᵀμ = -M (q ⊖ q₀), J δ = -Φ slide back towards the model pose as far as the constraints let
//! them. Velocities: one linear solve of the same kind, and near singular positions with more care
//! ([`set_out`](sarrus_solve::set_out)). Both are made with the [`preferred`] rows first, by which flexible members stay rigid. Rows may be
//! redundant throughout. `[guess]` values are kept in a first round only.

mod branch;
mod changes;
mod close;
mod initial;
mod limits;
mod preferred;
mod siblings;
mod stated;

use crate::drivers;
pub use changes::VelocityChange;
use close::{OffElement, close, is_at_rest, is_closed, nearest_velocities, norm, velocities};
use initial::InitialSettings;
use preferred::{Preferred, is_rigid, preserved, release_until_solvable, rigid};
use sarrus_model::settings::Assembly;
use sarrus_model::{Diagnostic, Model, Span};
use sarrus_solve::{Equations, Kkt, Problem, SingularStart, SolveError, Stage, State, StructureError};
use sarrus_system::body::BodyKind;
use sarrus_system::{ConstraintElement, System};
use std::sync::Arc;

/// A consistent start.
#[derive(Debug, Clone)]
pub struct Assembled {
    /// The state.
    pub state: State,
    /// Rotations of joint angles and the like, for [`Mechanism::set_discrete`](sarrus_system::Mechanism::set_discrete).
    pub discrete: Vec<f64>,
    /// Holds what it took.
    pub report: AssemblyReport,
    /// Singular positions that the start is at or near.
    pub singular_starts: Vec<SingularStart>,
}

/// Holds what assembly did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssemblyReport {
    /// Farthest that a body was moved \[m\].
    pub moved: f64,
    /// Farthest that a body was turned \[rad\].
    pub rotation: f64,
    /// The body that was moved or turned most, if one was.
    pub worst: Option<String>,
    /// ‖Φ‖ that is left.
    pub position_error: f64,
    /// ‖Φ̇‖ that is left.
    pub velocity_error: f64,
    /// Bodies and members that start with other velocities than what is stated of them, or than rest, largest difference first.
    pub velocities: Vec<VelocityChange>,
    /// Holds what a user should know of the start.
    pub notes: Vec<String>,
}

/// The mechanism could not be put together.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AssemblyError {
    /// Something in `[initial]` or `[guess]` is wrong.
    #[error("{} wrong in [initial] or [guess]", .0.len())]
    Settings(Vec<Diagnostic>),
    /// Positions do not fit together.
    #[error("the mechanism cannot be assembled: {}", list(.apart))]
    Positions {
        /// Elements that stay apart, farthest first, with their violation.
        apart: Vec<(String, f64)>,
        /// Values of `[initial]` that were to be kept.
        preserved: Vec<String>,
        /// Marks where the first of them stands.
        at: Span,
    },
    /// Velocities do not fit together.
    #[error("no velocities satisfy both the constraints and [initial]: {}", list(.apart))]
    Velocities {
        /// Elements that contradict others, worst first, with their violation.
        apart: Vec<(String, f64)>,
        /// Values of `[initial]` that were to be kept.
        preserved: Vec<String>,
        /// Marks where the first of them stands.
        at: Span,
    },
    /// Drivers ask for velocities that contradict each other.
    #[error("{message}")]
    Drivers {
        /// The drivers, the time, and what to do about it.
        message: String,
        /// Marks where the last of them stands.
        at: Span,
    },
    /// The values to be kept cannot be laid out.
    #[error("assembly: {source}")]
    Layout {
        /// The reason.
        #[from]
        source: StructureError,
    },
    /// An element cannot be evaluated at the start.
    #[error("{name} cannot be evaluated at the start: {source}")]
    Element {
        /// The element: ``driver `motor` ``.
        name: String,
        /// The reason.
        source: SolveError,
        /// Marks where it stands.
        at: Span,
    },
    /// A body starts where its Euler angles are singular.
    #[error("body `{body}` starts where its Euler angles zxz are singular: |sin β| = {sin_beta:.1e}")]
    Angles {
        /// Its name.
        body: String,
        /// |sin β| there.
        sin_beta: f64,
        /// Marks where it stands.
        at: Span,
    },
    /// A coordinate starts beyond a rigid limit.
    #[error("`{coordinate}` starts at {value}, beyond its limit {}", if *value < limits[0] { limits[0] } else { limits[1] })]
    Limit {
        /// The coordinate of a joint: `A.angle`.
        coordinate: String,
        /// Holds what it reads.
        value: f64,
        /// Its limits.
        limits: [f64; 2],
        /// Marks where the value or the joint stands.
        at: Span,
    },
    /// The start is a singular position, and its velocities do not tell along which branch it moves.
    #[error(
        "{} stand in a singular position at the start, where more than one motion is possible, and the velocities {}",
        elements.join(", "),
        if *astray { "of [initial] lead along none of them" } else { "do not tell which" }
    )]
    Branches {
        /// Elements that take part, the most involved first.
        elements: Vec<String>,
        /// True if all velocities are given, and lead along no branch.
        astray: bool,
        /// A velocity that would tell, with its values where they are known.
        example: Option<String>,
        /// Marks where the first of the elements stands.
        at: Span,
    },
    /// The equations could not be solved.
    #[error("assembly: {source}")]
    Solve {
        /// The reason.
        #[from]
        source: SolveError,
    },
}

fn list(apart: &[(String, f64)]) -> String {
    let shown: Vec<String> =
        apart.iter().take(5).map(|(name, error)| format!("{name} is off by {error:.3e}")).collect();
    let more = if apart.len() > 5 { format!(", and {} more", apart.len() - 5) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

impl AssemblyError {
    /// For those who wrote the file.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            AssemblyError::Settings(all) => all.clone(),
            AssemblyError::Positions { at, preserved, .. }
            | AssemblyError::Velocities { at, preserved, .. } => {
                let hint = if preserved.is_empty() {
                    "move the bodies nearer to each other in the model pose or with [guess], or check lengths and points; \
                     `run.assembly = \"none\"` takes everything as written"
                        .to_string()
                } else {
                    format!(
                        "leave out one of the values of [initial] that are kept: {}",
                        preserved.join(", ")
                    )
                };
                vec![Diagnostic::new(*at, self.to_string()).hint(hint)]
            }
            AssemblyError::Drivers { at, .. } => {
                vec![Diagnostic::new(*at, self.to_string()).hint(
                    "`sarrus check` without one of them counts the degrees of freedom that drivers can prescribe",
                )]
            }
            AssemblyError::Element { at, .. } => vec![Diagnostic::new(*at, self.to_string()).hint(
                "its value and derivatives must be finite at the start, unlike those of `sqrt(t)` at 0",
            )],
            AssemblyError::Angles { at, .. } => vec![Diagnostic::new(*at, self.to_string()).hint(
                "give it another `orientation`: at β = 0, the identity, α and γ turn about the same axis; \
                 `run.rotation = \"quaternion\"` has no such place",
            )],
            AssemblyError::Limit { at, limits: [lo, hi], .. } => {
                vec![Diagnostic::new(*at, self.to_string()).hint(format!(
                    "start it within `limits = [{lo}, {hi}]`; a `stop` with `stiffness` can be pressed in at the start"
                ))]
            }
            AssemblyError::Branches { at, astray, example, .. } => {
                let example = example.as_ref().map_or(String::new(), |path| format!(", for instance {path}"));
                let hint = if *astray {
                    "leave out or correct one of the velocities of [initial], or start beside this position"
                        .into()
                } else {
                    format!(
                        "give the velocity of one more joint in [initial]{example}, or start beside this position"
                    )
                };
                vec![Diagnostic::new(*at, self.to_string()).hint(hint)]
            }
            AssemblyError::Layout { .. } | AssemblyError::Solve { .. } => {
                vec![Diagnostic::bare(self.to_string())]
            }
        }
    }
}

/// A start with |sin β| below this is refused.
const SINGULAR: f64 = 1e-6;

/// Makes the start consistent.
pub fn assemble(model: &Model, system: &Arc<System>, mode: Assembly) -> Result<Assembled, AssemblyError> {
    assemble_reusing(model, system, mode, None)
}

/// The same. Of a large model the analysis of the rows costs more than solving for them: where `spare` is given, a solver for
/// the rows of `system` may be left there for others.
pub(crate) fn assemble_reusing(
    model: &Model,
    system: &Arc<System>,
    mode: Assembly,
    workspace: Option<&mut Option<Kkt>>,
) -> Result<Assembled, AssemblyError> {
    let start = assemble_together(model, system, mode, workspace)?;
    if let Some(error) =
        limits::beyond(model, system, &start.state, &start.discrete, start.report.position_error)
    {
        return Err(error);
    }
    match system.nearest_singular(&start.state).filter(|near| near.sin_beta < SINGULAR) {
        None => Ok(start),
        Some(near) => {
            let body = system.directory.bodies[near.body as usize].name.clone();
            let at = model.find(&body).map_or(Span::NONE, |e| e.span);
            Err(AssemblyError::Angles { body, sin_beta: near.sin_beta, at })
        }
    }
}

fn assemble_together(
    model: &Model,
    system: &Arc<System>,
    mode: Assembly,
    workspace: Option<&mut Option<Kkt>>,
) -> Result<Assembled, AssemblyError> {
    let initial = initial::read(model, system, &model.initial)?;
    let guess = initial::read(model, system, &model.guess)?;
    if let Some((path, span)) = guess.spans.iter().find(|(path, _)| guess.is_no_position(path)) {
        let message =
            format!("`{path}` in [guess] would have no effect: guesses steer the assembly of positions");
        let error = Diagnostic::new(*span, message).hint("give velocities and states in [initial]");
        return Err(AssemblyError::Settings(vec![error]));
    }
    let mut state = system.start();
    let mut discrete = system.discrete.clone();
    for settings in [&guess, &initial] {
        settings.apply(system, &discrete, &mut state);
        for &(discrete_index, value) in &settings.discrete {
            discrete[discrete_index as usize] = value;
        }
    }
    let written = system.start();
    if mode == Assembly::None {
        if let Some((path, span)) = initial.indirect.first() {
            let message = format!("`{path}` cannot be set as it stands with `run.assembly = \"none\"`");
            let hint = "give coordinates and velocities of bodies, or let assembly find them";
            return Err(AssemblyError::Settings(vec![Diagnostic::new(*span, message).hint(hint)]));
        }
        initial.set_moving(system, &discrete, &|_| true, &mut state);
        return finish(system, &written, state, discrete, &initial.states, Vec::new());
    }
    let path_of = |name: &str| {
        let held = initial.spans.iter().find(|(n, _)| n == name).map(|(_, span)| *span);
        held.or_else(|| model.find(name).map(|e| e.span)).unwrap_or(Span::NONE)
    };
    let named = |e| located(model, system, e);
    let mut notes = Vec::new();
    let stiff = |of: &[&InitialSettings]| {
        rigid(system, &|name| of.iter().any(|s| s.spans.iter().any(|(path, _)| path.starts_with(name))))
    };
    if mode == Assembly::Full {
        if !guess.positions.is_empty() {
            let all = [&guess.positions[..], &initial.positions[..]].concat();
            let mut preferred = stiff(&[&guess, &initial]);
            preferred.extend([&guess.siblings[0][..], &initial.siblings[0][..]].concat());
            let mut steered = state.clone();
            // a guess only steers: where it cannot be kept, as far as it led is far enough
            if !prefer_positions(system, &all, &mut preferred, &mut discrete.clone(), &mut steered)
                .map_err(named)?
            {
                let _ = close(system, all, &mut discrete.clone(), &mut steered, None)?;
            }
            state.q = steered.q;
        }
        let mut preferred = stiff(&[&initial]);
        preferred.extend_from_slice(&initial.siblings[0]);
        if !preferred.is_empty() && (!initial.positions.is_empty() || !is_closed(system, &discrete, &state)?)
        {
            prefer_positions(system, &initial.positions, &mut preferred, &mut discrete, &mut state)
                .map_err(named)?;
            notes.extend(changes::deformed(system, &preferred, "deformed"));
        }
        let from = state.q.clone();
        let (all, off) = close(system, initial.positions.clone(), &mut discrete, &mut state, Some(&from))
            .map_err(named)?;
        if let Some((worst, _)) = off.first() {
            let at = path_of(&all.elements[*worst].name);
            let preserved = names(&initial.positions);
            return Err(AssemblyError::Positions { apart: name_all(&all, off), preserved, at });
        }
    }
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&discrete);
    mechanism.accept(&state);
    let discrete = mechanism.discrete().to_vec();
    drop(mechanism);
    initial.set_moving(system, &discrete, &|_| true, &mut state);
    let stated = state.v.clone();
    let mut preferred = stiff(&[&initial]);
    preferred.extend_from_slice(&initial.siblings[1]);
    let mut open = None;
    if !preferred.is_empty() && (!initial.velocities.is_empty() || !is_at_rest(system, &discrete, &state)?) {
        open = prefer_velocities(system, &initial, &mut preferred, &discrete, &mut state).map_err(named)?;
        notes.extend(changes::deformed(system, &preferred, "with different velocities along it"));
    }
    let (found, singular_starts) =
        velocities(system, initial.velocities.clone(), &discrete, &mut state, workspace).map_err(named)?;
    if let Some((worst, _)) = found.off.first() {
        let mut mechanism = system.mechanism();
        mechanism.set_discrete(&discrete);
        if let Some(found) = drivers::find_in_rates(&mut mechanism, &state) {
            let at =
                found.elements.last().and_then(|(_, name)| model.find(name)).map_or(Span::NONE, |e| e.span);
            return Err(AssemblyError::Drivers { message: found.message(), at });
        }
        let at = path_of(&found.all.elements[*worst].name);
        let preserved = names(&initial.velocities);
        return Err(AssemblyError::Velocities { apart: name_all(&found.all, found.off), preserved, at });
    }
    let velocities = changes::find(system, &stated, &state, &open.unwrap_or(found.open));
    if singular_starts.is_empty() {
        notes.extend(changes::note(&velocities));
    }
    let mut start = finish(system, &written, state, discrete, &initial.states, singular_starts)?;
    (start.report.velocities, start.report.notes) = (velocities, notes);
    Ok(start)
}

/// Brings the parts together with `preferred` rows as far as these can be kept. False where none can; nothing has moved then.
fn prefer_positions(
    system: &Arc<System>,
    holds: &[ConstraintElement],
    preferred: &mut [Preferred],
    discrete: &mut [f64],
    state: &mut State,
) -> Result<bool, AssemblyError> {
    let from = state.clone();
    let first = discrete.to_vec();
    let done = release_until_solvable(preferred, |preferred| {
        state.copy_from(&from);
        discrete.copy_from_slice(&first);
        close(system, [holds, &preserved(preferred)[..]].concat(), discrete, state, Some(&from.q))
    })?;
    if !done {
        state.copy_from(&from);
        discrete.copy_from_slice(&first);
    }
    Ok(done)
}

/// Finds velocities with `preferred` rows as far as these can be kept. Members that cannot move as rigid bodies start with the velocities that are
/// stated of each of their bodies. Returns by column of M whether velocities follow from the metric, where preferred rows
/// can be kept.
fn prefer_velocities(
    system: &Arc<System>,
    initial: &InitialSettings,
    preferred: &mut [Preferred],
    discrete: &[f64],
    state: &mut State,
) -> Result<Option<Vec<bool>>, AssemblyError> {
    let mut open = None;
    let done = release_until_solvable(preferred, |preferred| {
        initial.set_moving(system, discrete, &|member| is_rigid(preferred, member), state);
        let all = [&initial.velocities[..], &preserved(preferred)[..]].concat();
        let found = nearest_velocities(system, all, discrete, state)?;
        open = Some(found.open);
        Ok((found.all, found.off))
    })?;
    if !done {
        initial.set_moving(system, discrete, &|member| is_rigid(preferred, member), state);
    }
    Ok(open.filter(|_| done))
}

/// Names the element that an error is about.
fn located(model: &Model, system: &System, error: AssemblyError) -> AssemblyError {
    match error {
        AssemblyError::Solve { source } => match source.row().and_then(|row| system.element_of_row(row)) {
            Some(element) => AssemblyError::Element {
                name: format!("{} `{}`", element.family.name(), element.name),
                source,
                at: model.find(&element.name).map_or(Span::NONE, |e| e.span),
            },
            None => AssemblyError::Solve { source },
        },
        other => other,
    }
}

/// The paths of held values, each once.
fn names(holds: &[ConstraintElement]) -> Vec<String> {
    let mut names: Vec<String> = holds.iter().map(|e| format!("`{}`", e.name)).collect();
    names.dedup();
    names
}

fn name_all(all: &System, off: Vec<OffElement>) -> Vec<(String, f64)> {
    let name = |i: usize| format!("{} `{}`", all.elements[i].family.name(), all.elements[i].name);
    off.into_iter().map(|(i, error)| (name(i), error)).collect()
}

fn finish(
    system: &Arc<System>,
    written: &State,
    mut state: State,
    discrete: Vec<f64>,
    states: &[(usize, f64)],
    singular_starts: Vec<SingularStart>,
) -> Result<Assembled, AssemblyError> {
    let mut m = system.mechanism();
    m.set_discrete(&discrete);
    // controllers start where the mechanism does, unless told otherwise
    m.initialize_controllers(&mut state);
    for &(index, value) in states {
        state.x[index] = value;
    }
    let mut eq = Equations::new(&m);
    m.update(&state, Stage::VELOCITY, &mut eq);
    let mut delta = vec![0.0; system.structure.nv];
    m.difference(&state.q, &written.q, &mut delta);
    let mut report = AssemblyReport {
        position_error: norm(system, &eq),
        velocity_error: eq.phidot.iter().map(|x| x * x).sum::<f64>().sqrt(),
        ..AssemblyReport::default()
    };
    let mut most = 1e-9;
    for body in system.directory.bodies.iter().skip(1).filter(|b| !b.is_internal()) {
        let d = &delta[body.v..body.v + body.kind.nv()];
        let linear = if matches!(body.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 };
        let length = |d: &[f64]| d.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (moved, angle) = (length(&d[..linear]), length(&d[linear..]));
        report.moved = report.moved.max(moved);
        report.rotation = report.rotation.max(angle);
        if moved + angle > most {
            most = moved + angle;
            report.worst = Some(body.name.clone());
        }
    }
    Ok(Assembled { state, discrete, report, singular_starts })
}
