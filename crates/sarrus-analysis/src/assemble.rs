//! Positions and velocities made consistent before a run.
//!
//! Positions: of all q with Φ(q, t) = 0, and with the values of `[initial]` kept, the one nearest to the model pose in the
//! mass metric. Corrections M δ + Jᵀμ = 0, J δ = -Φ with a line search bring the parts together; then
//! M δ + Jᵀμ = -M (q ⊖ q₀), J δ = -Φ slide back towards the model pose as far as the constraints let them. Velocities: one
//! linear solve of the same kind. Rows may be redundant throughout. `[guess]` values are kept in a first round only.

use sarrus_math::Real;
use sarrus_model::settings::Assembly;
use sarrus_model::{Diagnostic, Model, Reader, Setting, Span};
use sarrus_solve::{
    Equations, HUB_DEGREE, Kkt, Problem, Rank, Rows as Which, SolveError, Stage, State, StructureError,
};
use sarrus_system::body::BodyKind;
use sarrus_system::constraint::Constraint;
use sarrus_system::coordinate::nearest_turn;
use sarrus_system::signal::Signal;
use sarrus_system::system::Family;
use sarrus_system::{At, ConstraintElement, Mechanism, System};
use std::sync::Arc;

/// Corrections before giving up.
const ITERATIONS: usize = 100;
/// Steps back towards the model pose.
const SLIDES: usize = 10;
/// Violation that counts as closed, relative to the size of the mechanism: roundings of a long chain of products.
const CLOSED: f64 = 1e-12;
/// Violation that still counts as assembled: data typed with six digits in a redundant mechanism. The report shows it.
const TOLERABLE: f64 = 1e-6;

/// A consistent start.
#[derive(Debug, Clone)]
pub struct Assembled {
    /// The state.
    pub state: State,
    /// Turns of joint angles and the like, for [`Mechanism::set_hints`].
    pub hints: Vec<f64>,
    /// What it took.
    pub report: AssemblyReport,
}

/// What assembly did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssemblyReport {
    /// Farthest that a body was moved \[m\].
    pub moved: f64,
    /// Farthest that a body was turned \[rad\].
    pub turned: f64,
    /// The body that was moved or turned most, if one was.
    pub worst: Option<String>,
    /// ‖Φ‖ that is left.
    pub position_error: f64,
    /// ‖Φ̇‖ that is left.
    pub velocity_error: f64,
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
        kept: Vec<String>,
        /// Where the first of them stands.
        at: Span,
    },
    /// Velocities do not fit together.
    #[error("no velocities satisfy both the constraints and [initial]: {}", list(.apart))]
    Velocities {
        /// Elements that contradict others, worst first, with their violation.
        apart: Vec<(String, f64)>,
        /// Values of `[initial]` that were to be kept.
        kept: Vec<String>,
        /// Where the first of them stands.
        at: Span,
    },
    /// The values to be kept cannot be laid out.
    #[error("assembly: {source}")]
    Layout {
        /// Why.
        #[from]
        source: StructureError,
    },
    /// The equations could not be solved.
    #[error("assembly: {source}")]
    Solve {
        /// Why.
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
    /// For whoever wrote the file.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            AssemblyError::Settings(all) => all.clone(),
            AssemblyError::Positions { at, kept, .. } | AssemblyError::Velocities { at, kept, .. } => {
                let hint = if kept.is_empty() {
                    "move the bodies nearer to each other in the model pose or with [guess], or check lengths and points; \
                     `run.assembly = \"none\"` takes everything as written"
                        .to_string()
                } else {
                    format!("leave out one of the values of [initial] that are kept: {}", kept.join(", "))
                };
                vec![Diagnostic::new(*at, self.to_string()).hint(hint)]
            }
            AssemblyError::Layout { .. } | AssemblyError::Solve { .. } => {
                vec![Diagnostic::bare(self.to_string())]
            }
        }
    }
}

/// Keeps a reading at a value.
struct Hold {
    signal: Signal,
    value: f64,
}

impl Constraint for Hold {
    fn rows(&self) -> usize {
        1
    }

    fn holonomic(&self) -> usize {
        usize::from(!self.signal.needs_velocity())
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        if let Some(phi) = phi.first_mut() {
            let off = self.signal.eval(at) - self.value;
            *phi = match &self.signal {
                Signal::Coordinate(c) if c.reading.wraps() => off + nearest_turn(off.value(), 0.0),
                _ => off,
            };
        }
    }

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        if let Some(psi) = psi.first_mut() {
            *psi = self.signal.eval(at) - self.value;
        }
    }

    fn depends_on_time(&self) -> bool {
        // ψ at v = 0 is minus the value
        self.signal.needs_velocity()
    }
}

/// The values of `[initial]` or `[guess]`, sorted by what they are.
#[derive(Default)]
struct Settings {
    positions: Vec<ConstraintElement>,
    velocities: Vec<ConstraintElement>,
    /// Hints that a value fixes.
    hints: Vec<(u32, f64)>,
    /// States of controllers: places in x.
    states: Vec<(usize, f64)>,
    /// Values of body coordinates, to start from: (in q, index, value).
    direct: Vec<(bool, usize, f64)>,
    /// Paths that are no coordinates of a body.
    indirect: Vec<(String, Span)>,
    spans: Vec<(String, Span)>,
}

/// Makes the start consistent.
pub fn assemble(model: &Model, system: &Arc<System>, mode: Assembly) -> Result<Assembled, AssemblyError> {
    let initial = read(model, system, &model.initial)?;
    let guess = read(model, system, &model.guess)?;
    let mut state = system.start();
    let mut hints = system.hints.clone();
    for settings in [&guess, &initial] {
        for &(in_q, index, value) in &settings.direct {
            if in_q { state.q[index] = value } else { state.v[index] = value }
        }
        for &(hint, value) in &settings.hints {
            hints[hint as usize] = value;
        }
    }
    let written = system.start();
    if mode == Assembly::None {
        if let Some((path, span)) = initial.indirect.first() {
            let message = format!("`{path}` cannot be set as it stands with `run.assembly = \"none\"`");
            let hint = "give coordinates and velocities of bodies, or let assembly find them";
            return Err(AssemblyError::Settings(vec![Diagnostic::new(*span, message).hint(hint)]));
        }
        return finish(system, &written, state, hints, &initial.states);
    }
    let place = |name: &str| {
        let held = initial.spans.iter().find(|(n, _)| n == name).map(|(_, span)| *span);
        held.or_else(|| model.find(name).map(|e| e.span)).unwrap_or(Span::NONE)
    };
    if mode == Assembly::Full {
        if !guess.positions.is_empty() {
            let all = [&guess.positions[..], &initial.positions[..]].concat();
            let mut steered = state.clone();
            // a guess only steers: where it cannot be kept, as far as it led is far enough
            let _ = close(system, all, &mut hints.clone(), &mut steered, None)?;
            state.q = steered.q;
        }
        let from = state.q.clone();
        let off = close(system, initial.positions.clone(), &mut hints, &mut state, Some(&from))?;
        if let Some((worst, ..)) = off.first() {
            let at = place(worst);
            let kept = names(&initial.positions);
            return Err(AssemblyError::Positions { apart: name_all(off), kept, at });
        }
    }
    let mut mechanism = system.mechanism();
    mechanism.set_hints(&hints);
    mechanism.accept(&state);
    let hints = mechanism.hints().to_vec();
    let off = velocities(system, initial.velocities.clone(), &hints, &mut state)?;
    if let Some((worst, ..)) = off.first() {
        let at = place(worst);
        let kept = names(&initial.velocities);
        return Err(AssemblyError::Velocities { apart: name_all(off), kept, at });
    }
    finish(system, &written, state, hints, &initial.states)
}

/// The paths of held values, each once.
fn names(holds: &[ConstraintElement]) -> Vec<String> {
    let mut names: Vec<String> = holds.iter().map(|e| format!("`{}`", e.name)).collect();
    names.dedup();
    names
}

/// An element that is off: its name, its family, by how much.
type Off = (String, Family, f64);

fn name_all(off: Vec<Off>) -> Vec<(String, f64)> {
    off.into_iter().map(|(name, family, error)| (format!("{} `{name}`", family.name()), error)).collect()
}

/// Reads `[initial]` or `[guess]`.
fn read(model: &Model, system: &System, settings: &[Setting]) -> Result<Settings, AssemblyError> {
    let mut out = Settings::default();
    let mut errors = Vec::new();
    for setting in settings {
        if let Err(error) = read_one(model, system, setting, &mut out) {
            errors.push(error);
        }
    }
    if errors.is_empty() { Ok(out) } else { Err(AssemblyError::Settings(errors)) }
}

fn read_one(
    model: &Model,
    system: &System,
    setting: &Setting,
    out: &mut Settings,
) -> sarrus_model::Result<()> {
    let reader = Reader::setting(model, setting);
    let path = setting.path.as_str();
    if let Some((name, field @ ("velocity" | "omega" | "omega_on"))) = path.rsplit_once('.')
        && let Some(id) = system.directory.body(name)
        && id != 0
    {
        return read_vector(&reader, system, setting, (name, id, field), out);
    }
    let mut ids = Vec::new();
    let signals = system.directory.read(path, &mut |body| {
        ids.push(body);
        ids.len() - 1
    });
    let signals = signals.map_err(|message| {
        let (message, hint) = match message.split_once("; ") {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (message, None),
        };
        Diagnostic::new(setting.span, message).maybe_hint(hint)
    })?;
    let [signal] = &signals[..] else {
        return Err(Diagnostic::new(setting.span, format!("`{path}` is no coordinate or velocity"))
            .hint("name a column such as `A.angle`, `crank.vx`, or `ball.velocity`"));
    };
    let value = reader.number("value")?;
    hold(system, setting, signal.clone(), ids, value, out);
    Ok(())
}

fn read_vector(
    reader: &Reader,
    system: &System,
    setting: &Setting,
    (name, id, field): (&str, u32, &str),
    out: &mut Settings,
) -> sarrus_model::Result<()> {
    let body = &system.directory.bodies[id as usize];
    let planar = matches!(body.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint);
    let n = if planar { 2 } else { 3 };
    if field == "velocity" {
        let v = reader.vector("value")?.ok_or_else(|| reader.missing("value"))?;
        let origin = body.from_com([0.0; 3]);
        for i in 0..n {
            hold(system, setting, Signal::Velocity(0, origin, i), vec![id], v[i], out);
        }
        return Ok(());
    }
    if !body.kind.turns() {
        return Err(Diagnostic::new(
            setting.span,
            format!("body `{name}` is a point mass and does not turn"),
        ));
    }
    if planar {
        let hint = format!("write `{name}.rate`");
        return Err(Diagnostic::new(setting.span, format!("a planar body has no `{field}`")).hint(hint));
    }
    if field == "omega_on" {
        let w = reader.numbers("value")?.filter(|w| w.len() == 3);
        let w = w.ok_or_else(|| reader.error("value", "expected 3 numbers"))?;
        for i in 0..3 {
            hold(system, setting, Signal::Omega(0, i), vec![id], w[i], out);
        }
        return Ok(());
    }
    let w = reader.axial("value")?.ok_or_else(|| reader.missing("value"))?;
    for i in 0..3 {
        hold(system, setting, Signal::OmegaWorld(0, i), vec![id], w[i], out);
    }
    Ok(())
}

fn hold(system: &System, setting: &Setting, signal: Signal, ids: Vec<u32>, value: f64, out: &mut Settings) {
    out.spans.push((setting.path.clone(), setting.span));
    match &signal {
        Signal::Output(slot) => {
            for controller in &system.controllers {
                let first = controller.out + controller.outputs.len() - controller.controller.states();
                if (first..controller.out + controller.outputs.len()).contains(slot) {
                    out.states.push((controller.x + slot - first, value));
                }
            }
            return;
        }
        Signal::Coordinate(c) => {
            if let Some(hint) = c.hint {
                out.hints.push((hint, value));
            }
        }
        _ => {}
    }
    match direct(system, &signal, &ids) {
        Some((in_q, index, offset)) => out.direct.push((in_q, index, value + offset)),
        None => out.indirect.push((setting.path.clone(), setting.span)),
    }
    let is_velocity = signal.needs_velocity();
    let element =
        ConstraintElement::new(setting.path.clone(), Family::Hold, ids, Arc::new(Hold { signal, value }));
    if is_velocity { out.velocities.push(element) } else { out.positions.push(element) }
}

/// Where a signal is a coordinate itself: in q or v, its index, and what to add to the value. A centre of mass beside the
/// origin makes the origin's coordinates indirect.
fn direct(system: &System, signal: &Signal, ids: &[u32]) -> Option<(bool, usize, f64)> {
    let body = &system.directory.bodies[*ids.first()? as usize];
    let at_com = |r: &[f64; 3]| r.iter().all(|x| *x == 0.0);
    match signal {
        Signal::Position(_, r, i) if at_com(r) => Some((true, body.q + i, 0.0)),
        Signal::Velocity(_, r, i) if at_com(r) => Some((false, body.v + i, 0.0)),
        Signal::Angle(_) => Some((true, body.q + 2, 0.0)),
        Signal::Omega(_, i) if body.kind == BodyKind::Rigid => Some((false, body.v + 3 + i, 0.0)),
        Signal::Omega(..) => Some((false, body.v + 2, 0.0)),
        Signal::Quaternion(_, i) => Some((true, body.q + 3 + i, 0.0)),
        _ => None,
    }
}

/// The system with values to be kept, and its equations.
fn held(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    hints: &[f64],
) -> Result<(Mechanism, Equations, Kkt), AssemblyError> {
    let elements = [&system.elements[..], &holds[..]].concat();
    let all = system.with_elements(elements)?;
    let mut mechanism = Arc::new(all).mechanism();
    mechanism.set_hints(hints);
    let eq = Equations::new(&mechanism);
    let kkt = Kkt::new(mechanism.structure(), &eq, HUB_DEGREE)?;
    Ok((mechanism, eq, kkt))
}

fn norm(system: &System, eq: &Equations) -> f64 {
    let rows = system.structure.holonomic_rows().flat_map(|rows| eq.phi[rows].iter());
    let square: f64 = rows.map(|x| x * x).sum();
    if square.is_finite() { square.sqrt() } else { f64::INFINITY }
}

/// Brings the parts together; what stays apart is returned, farthest first. With `near`, then slides towards it.
fn close(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    hints: &mut [f64],
    state: &mut State,
    near: Option<&[f64]>,
) -> Result<Vec<Off>, AssemblyError> {
    let (mut m, mut eq, mut kkt) = held(system, holds, hints)?;
    let all = m.system().clone();
    m.normalize(&mut state.q);
    let size = state.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
    let rows = (all.structure.nc.max(1) as f64).sqrt();
    let (closed, tolerable) = (CLOSED * size * rows, TOLERABLE * size);
    let (nv, nc) = (all.structure.nv, all.structure.nc);
    let (mut a, mut b, mut delta, mut mu) = (vec![0.0; nv], vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
    m.update(state, Stage::POSITION, &mut eq);
    let mut off = norm(&all, &eq);
    for _ in 0..ITERATIONS {
        if off <= closed {
            break;
        }
        kkt.factor(&eq, Which::Holonomic, Rank::Any)?;
        b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
        a.fill(0.0);
        kkt.solve(&eq, &a, &b, &mut delta, &mut mu)?;
        // halve the step until the parts come nearer
        let (from, before, mut t) = (state.q.clone(), off, 1.0);
        let turns = m.hints().to_vec();
        loop {
            state.q.copy_from_slice(&from);
            m.set_hints(&turns);
            let step: Vec<f64> = delta.iter().map(|d| t * d).collect();
            m.advance_hints(state, &step);
            m.retract(&mut state.q, &step);
            m.update(state, Stage::POSITION, &mut eq);
            off = norm(&all, &eq);
            if off < (1.0 - 1e-4 * t) * before || t < 1e-6 {
                break;
            }
            t *= 0.5;
        }
        if !(off < before) {
            state.q.copy_from_slice(&from);
            m.set_hints(&turns);
            m.update(state, Stage::POSITION, &mut eq);
            off = norm(&all, &eq);
            break;
        }
        m.accept(state);
    }
    if !(off <= tolerable) {
        return Ok(apart(&all, &eq.phi, tolerable, true));
    }
    hints.copy_from_slice(m.hints());
    if let Some(near) = near {
        slide(&mut m, &mut eq, &mut kkt, state, near, off.max(closed))?;
    }
    Ok(vec![])
}

/// Moves along the constraints to the position nearest to `near`, as long as that keeps Φ where it is.
fn slide(
    m: &mut Mechanism,
    eq: &mut Equations,
    kkt: &mut Kkt,
    state: &mut State,
    near: &[f64],
    closed: f64,
) -> Result<(), AssemblyError> {
    let all = m.system().clone();
    let (nv, nc) = (all.structure.nv, all.structure.nc);
    let (mut away, mut pull) = (vec![0.0; nv], vec![0.0; nv]);
    let (mut b, mut delta, mut mu) = (vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
    let distance = |m: &Mechanism, q: &[f64], away: &mut [f64], pull: &mut [f64], eq: &Equations| {
        m.difference(q, near, away);
        eq.mass_mul(&all.structure, away, pull);
        away.iter().zip(pull.iter()).map(|(a, b)| a * b).sum::<f64>()
    };
    let mut best = distance(m, &state.q, &mut away, &mut pull, eq);
    for _ in 0..SLIDES {
        if best == 0.0 {
            break;
        }
        kkt.factor(eq, Which::Holonomic, Rank::Any)?;
        pull.iter_mut().for_each(|x| *x = -*x);
        b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
        kkt.solve(eq, &pull, &b, &mut delta, &mut mu)?;
        let from = state.q.clone();
        m.retract(&mut state.q, &delta);
        // back onto the constraints: the slide leaves them by its square
        for _ in 0..3 {
            m.update(state, Stage::POSITION, eq);
            b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
            kkt.factor(eq, Which::Holonomic, Rank::Any)?;
            pull.fill(0.0);
            kkt.solve(eq, &pull, &b, &mut delta, &mut mu)?;
            m.retract(&mut state.q, &delta);
        }
        m.update(state, Stage::POSITION, eq);
        let now = distance(m, &state.q, &mut away, &mut pull, eq);
        if !(now < best * (1.0 - 1e-12)) || norm(&all, eq) > closed {
            state.q.copy_from_slice(&from);
            m.update(state, Stage::POSITION, eq);
            break;
        }
        let gain = best - now;
        best = now;
        if gain < 1e-9 * best {
            break;
        }
    }
    Ok(())
}

/// Velocities nearest to those given, in the mass metric; contradictions are returned, worst first.
fn velocities(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    hints: &[f64],
    state: &mut State,
) -> Result<Vec<Off>, AssemblyError> {
    let (mut m, mut eq, mut kkt) = held(system, holds, hints)?;
    let all = m.system().clone();
    let (nv, nc) = (all.structure.nv, all.structure.nc);
    let (mut a, mut b, mut v, mut mu) = (vec![0.0; nv], vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
    m.update(state, Stage::VELOCITY, &mut eq);
    kkt.factor(&eq, Which::All, Rank::Any)?;
    eq.mass_mul(&all.structure, &state.v, &mut a);
    b.iter_mut().zip(&eq.phi_t).for_each(|(b, phi_t)| *b = -phi_t);
    kkt.solve(&eq, &a, &b, &mut v, &mut mu)?;
    state.v.copy_from_slice(&v);
    m.update(state, Stage::VELOCITY, &mut eq);
    let size = v.iter().chain(&b).fold(1e-3_f64, |a, x| a.max(x.abs()));
    Ok(apart(&all, &eq.phidot, TOLERABLE * size, false))
}

/// Elements whose rows are off by more than `limit`, worst first.
fn apart(system: &System, values: &[f64], limit: f64, holonomic: bool) -> Vec<Off> {
    let mut off: Vec<Off> = Vec::new();
    for element in &system.elements {
        let n = if holonomic { element.rows.holonomic() } else { element.rows.rows() };
        let error = values[element.start..element.start + n].iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(error <= limit) {
            off.push((element.name.clone(), element.family, error));
        }
    }
    off.sort_by(|a, b| b.2.total_cmp(&a.2));
    off
}

fn finish(
    system: &Arc<System>,
    written: &State,
    mut state: State,
    hints: Vec<f64>,
    states: &[(usize, f64)],
) -> Result<Assembled, AssemblyError> {
    let mut m = system.mechanism();
    m.set_hints(&hints);
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
    for body in system.directory.bodies.iter().skip(1) {
        let d = &delta[body.v..body.v + body.kind.nv()];
        let linear = if matches!(body.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 };
        let length = |d: &[f64]| d.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (moved, turned) = (length(&d[..linear]), length(&d[linear..]));
        report.moved = report.moved.max(moved);
        report.turned = report.turned.max(turned);
        if moved + turned > most {
            most = moved + turned;
            report.worst = Some(body.name.clone());
        }
    }
    Ok(Assembled { state, hints, report })
}
