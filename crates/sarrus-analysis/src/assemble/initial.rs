//! The values of `[initial]` and `[guess]`: what each is, and rows that keep it.

use super::AssemblyError;
use sarrus_math::Real;
use sarrus_model::model::{sum_of_columns, sum_text};
use sarrus_model::record::Plain;
use sarrus_model::{Diagnostic, Model, Reader, Setting, Span};
use sarrus_system::body::BodyKind;
use sarrus_system::constraint::Constraint;
use sarrus_system::coordinate::nearest_turn;
use sarrus_system::placed::{Placed, Purpose, Reading};
use sarrus_system::signal::Signal;
use sarrus_system::system::{ControllerElement, Family};
use sarrus_system::{At, ConstraintElement, System};
use std::sync::Arc;

/// Keeps a sum of readings at a value.
struct Hold {
    terms: Vec<(f64, Signal)>,
    value: f64,
}

impl Hold {
    fn off<R: Real>(&self, at: &At<R>) -> R {
        match &self.terms[..] {
            [(1.0, signal)] => signal.eval(at) - self.value,
            terms => terms.iter().fold(R::from_f64(-self.value), |sum, (c, s)| sum + s.eval(at) * *c),
        }
    }

    fn needs_velocity(&self) -> bool {
        self.terms.iter().any(|(_, signal)| signal.needs_velocity())
    }
}

impl Constraint for Hold {
    fn rows(&self) -> usize {
        1
    }

    fn holonomic(&self) -> usize {
        usize::from(!self.needs_velocity())
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        if let Some(phi) = phi.first_mut() {
            let off = self.off(at);
            *phi = match &self.terms[..] {
                [(_, Signal::Coordinate(c))] if c.reading.wraps() => off + nearest_turn(off.value(), 0.0),
                _ => off,
            };
        }
    }

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        if let Some(psi) = psi.first_mut() {
            *psi = self.off(at);
        }
    }

    fn depends_on_time(&self) -> bool {
        // ψ at v = 0 is minus the value
        self.needs_velocity()
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
    let Reading { terms, offset } = meant(model, system, setting)?;
    let value = reader.number("value")? - offset;
    let (mut ids, mut signals) = (Vec::new(), Vec::new());
    for (factor, name) in &terms {
        let read = system.directory.read(name, &mut |body| {
            ids.iter().position(|id| *id == body).unwrap_or_else(|| {
                ids.push(body);
                ids.len() - 1
            })
        });
        let read = read.map_err(|message| refused(setting, message))?;
        let [signal] = &read[..] else { return Err(no_coordinate(setting, name)) };
        signals.push((*factor, signal.clone()));
    }
    let value = match &signals[..] {
        [(factor, Signal::Output(slot))] => return state(system, setting, *slot, value / factor, out),
        [(factor, signal)] => {
            let value = value / factor;
            record(&reader, path, &[(1.0, terms[0].1.clone())], value);
            hold(system, setting, vec![(1.0, signal.clone())], ids, value, out);
            return Ok(());
        }
        _ => value,
    };
    let velocities = signals.iter().filter(|(_, signal)| signal.needs_velocity()).count();
    if signals.iter().any(|(_, s)| matches!(s, Signal::Output(_)))
        || (velocities != 0 && velocities != signals.len())
    {
        let message = format!("`{path}` adds what is not alike");
        let hint = "a sum is one of positions, or one of velocities";
        return Err(Diagnostic::new(setting.span, message).hint(hint));
    }
    record(&reader, path, &terms, value);
    hold(system, setting, signals, ids, value, out);
    Ok(())
}

/// What a path means in its file, as a sum of columns of the model.
fn meant(model: &Model, system: &System, setting: &Setting) -> sarrus_model::Result<Reading> {
    let path = setting.path.as_str();
    let named = sum_of_columns(path).unwrap_or_else(|| vec![(1.0, path.to_owned())]);
    let Some(placed) = Placed::of(model, &system.directory, setting.element.scope) else {
        return Ok(Reading { terms: named, offset: 0.0 });
    };
    let mut sum = Reading { terms: Vec::new(), offset: 0.0 };
    for (factor, name) in named {
        match placed.read(&name, Purpose::Start).map_err(|message| refused(setting, message))?.as_deref() {
            None => sum.terms.push((factor, name)),
            Some([one]) => {
                sum.terms.extend(one.terms.iter().map(|(c, name)| (factor * c, name.clone())));
                sum.offset += factor * one.offset;
            }
            Some(_) => return Err(no_coordinate(setting, &name)),
        }
    }
    Ok(sum)
}

/// Says in the resolved file what a value of a placed file means in the model.
fn record(reader: &Reader, path: &str, terms: &[(f64, String)], value: f64) {
    reader.unrecord("value");
    let key = sum_text(terms);
    reader.record(if key == path { "value" } else { &key }, || Plain::Number(value));
}

fn refused(setting: &Setting, message: String) -> Diagnostic {
    let (message, hint) = match message.split_once("; ") {
        Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
        None => (message, None),
    };
    Diagnostic::new(setting.span, message).maybe_hint(hint)
}

fn no_coordinate(setting: &Setting, name: &str) -> Diagnostic {
    Diagnostic::new(setting.span, format!("`{name}` is no coordinate or velocity"))
        .hint("name a column such as `A.angle`, `crank.vx`, or `ball.velocity`")
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
            hold(system, setting, vec![(1.0, Signal::Velocity(0, origin, i))], vec![id], v[i], out);
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
        let w = in_body_axes(reader.model(), system, setting, &body.name, &w)?;
        reader.record("value", || Plain::numbers(&w));
        for i in 0..3 {
            hold(system, setting, vec![(1.0, Signal::Omega(0, i))], vec![id], w[i], out);
        }
        return Ok(());
    }
    let w = reader.axial("value")?.ok_or_else(|| reader.missing("value"))?;
    for i in 0..3 {
        hold(system, setting, vec![(1.0, Signal::OmegaWorld(0, i))], vec![id], w[i], out);
    }
    Ok(())
}

/// An angular velocity in the axes that the file means by those of a body, in the body's own.
fn in_body_axes(
    model: &Model,
    system: &System,
    setting: &Setting,
    name: &str,
    w: &[f64],
) -> sarrus_model::Result<[f64; 3]> {
    let own = [w[0], w[1], w[2]];
    let Some(placed) = Placed::of(model, &system.directory, setting.element.scope) else { return Ok(own) };
    let columns = ["wx", "wy", "wz"].map(|word| format!("{name}.{word}"));
    let mut out = [0.0; 3];
    for (path, w) in columns.iter().zip(own) {
        let read = placed.read(path, Purpose::Start).map_err(|message| refused(setting, message))?;
        let Some([reading]) = read.as_deref() else { return Ok(own) };
        // the axes are orthogonal: what leads there leads back
        for (factor, column) in &reading.terms {
            for (out, name) in out.iter_mut().zip(&columns) {
                *out += if name == column { factor * w } else { 0.0 };
            }
        }
    }
    Ok(out)
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

fn hold(
    system: &System,
    setting: &Setting,
    terms: Vec<(f64, Signal)>,
    ids: Vec<u32>,
    value: f64,
    out: &mut Settings,
) {
    out.spans.push((setting.path.clone(), setting.span));
    if let [(_, Signal::Coordinate(c))] = &terms[..]
        && let Some(hint) = c.hint
    {
        out.hints.push((hint, value));
    }
    let one = match &terms[..] {
        [(_, signal)] => direct(system, signal, &ids),
        _ => None,
    };
    match one {
        Some((in_q, index, offset)) => out.direct.push((in_q, index, value + offset)),
        None => out.indirect.push((setting.path.clone(), setting.span)),
    }
    let hold = Hold { terms, value };
    let is_velocity = hold.needs_velocity();
    let element = ConstraintElement::new(setting.path.clone(), Family::Hold, ids, Arc::new(hold));
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
