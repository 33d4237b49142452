//! The values of `[initial]` and `[guess]`: what each is, and rows that keep it.

use super::AssemblyError;
use sarrus_math::Real;
use sarrus_model::{Diagnostic, Model, Reader, Setting, Span};
use sarrus_system::body::BodyKind;
use sarrus_system::constraint::Constraint;
use sarrus_system::coordinate::nearest_turn;
use sarrus_system::signal::Signal;
use sarrus_system::system::{ControllerElement, Family};
use sarrus_system::{At, ConstraintElement, System};
use std::sync::Arc;

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
pub(super) struct Settings {
    pub positions: Vec<ConstraintElement>,
    pub velocities: Vec<ConstraintElement>,
    /// Hints that a value fixes.
    pub hints: Vec<(u32, f64)>,
    /// States of controllers: places in x.
    pub states: Vec<(usize, f64)>,
    /// Values of body coordinates, to start from: (in q, index, value).
    pub direct: Vec<(bool, usize, f64)>,
    /// Paths that are no coordinates of a body.
    pub indirect: Vec<(String, Span)>,
    pub spans: Vec<(String, Span)>,
}

impl Settings {
    /// Whether `path` is a velocity or a state.
    pub fn is_no_position(&self, path: &str) -> bool {
        !self.positions.iter().any(|e| e.name == path)
    }
}

/// Reads `[initial]` or `[guess]`.
pub(super) fn read(model: &Model, system: &System, settings: &[Setting]) -> Result<Settings, AssemblyError> {
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
    if let Some((name, field @ ("velocity" | "omega" | "omega_on"))) = path.rsplit_once('.') {
        if let Some(id) = system.directory.body(name).filter(|id| *id != 0) {
            return read_vector(&reader, system, setting, (name, id, field), out);
        }
        if let Some(member) = system.directory.member(name) {
            let mut bodies = member.bodies.clone();
            return bodies.try_for_each(|id| read_vector(&reader, system, setting, (name, id, field), out));
        }
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
    if let Signal::Output(slot) = signal {
        return state(system, setting, *slot, value, out);
    }
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

/// The start of a controller's state.
fn state(
    system: &System,
    setting: &Setting,
    slot: usize,
    value: f64,
    out: &mut Settings,
) -> sarrus_model::Result<()> {
    let places =
        |c: &ControllerElement| c.out + c.outputs.len() - c.named_states().len()..c.out + c.outputs.len();
    out.spans.push((setting.path.clone(), setting.span));
    match system.controllers.iter().find(|c| places(c).contains(&slot)) {
        Some(c) => {
            out.states.push((c.x + slot - places(c).start, value));
            Ok(())
        }
        None => {
            Err(Diagnostic::new(setting.span, format!("`{}` is an output of its controller", setting.path))
                .hint("set a state of the controller, which its outputs follow"))
        }
    }
}

fn hold(system: &System, setting: &Setting, signal: Signal, ids: Vec<u32>, value: f64, out: &mut Settings) {
    out.spans.push((setting.path.clone(), setting.span));
    if let Signal::Coordinate(c) = &signal
        && let Some(hint) = c.hint
    {
        out.hints.push((hint, value));
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
        Signal::Omega(_, i) if body.kind.turns_in_space() => Some((false, body.v + 3 + i, 0.0)),
        Signal::Omega(..) => Some((false, body.v + 2, 0.0)),
        Signal::Quaternion(_, i) if body.kind == BodyKind::Rigid => Some((true, body.q + 3 + i, 0.0)),
        _ => None,
    }
}
