//! The values of `[initial]` and `[guess]`: what each is, and rows that keep it.

use super::preferred::Preferred;
use super::stated::{self, Stated, centre, model_axes};
use super::{AssemblyError, siblings};
use sarrus_math::{Pose, Real, Vec3};
use sarrus_model::dimension::Dimension;
use sarrus_model::model::{sum_of_columns, sum_text};
use sarrus_model::record::ResolvedValue;
use sarrus_model::{Diagnostic, Model, Reader, Setting, Space, Span};
use sarrus_solve::State;
use sarrus_system::constraint::Constraint;
use sarrus_system::coordinate::nearest_revolution;
use sarrus_system::file_placement::{AffineReading, FilePlacement, Purpose};
use sarrus_system::names::FlexibleEntry;
use sarrus_system::signal::Signal;
use sarrus_system::system::{ControllerElement, Family};
use sarrus_system::{At, ConstraintElement, System};
use std::sync::Arc;

/// Keeps a sum of readings at a value.
pub(super) struct HeldReading {
    pub terms: Vec<(f64, Signal)>,
    pub value: f64,
}

impl HeldReading {
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

impl Constraint for HeldReading {
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
                [(_, Signal::Coordinate(c))] if c.reading.wraps() => {
                    off + nearest_revolution(off.value(), 0.0)
                }
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
pub(super) struct InitialSettings {
    pub positions: Vec<ConstraintElement>,
    pub velocities: Vec<ConstraintElement>,
    /// Hints that a value fixes.
    pub discrete: Vec<(u32, f64)>,
    /// States of controllers: places in x.
    pub states: Vec<(usize, f64)>,
    /// Amplitudes of modal bodies and their rates: (in q, index, value).
    pub amplitudes: Vec<(bool, usize, f64)>,
    /// Positions and velocities of single bodies.
    pub stated: Vec<Stated>,
    /// Rows that are kept where that is possible: at the level of positions, and of velocities.
    pub siblings: [Vec<Preferred>; 2],
    /// Paths that are no coordinates of a body.
    pub indirect: Vec<(String, Span)>,
    pub spans: Vec<(String, Span)>,
}

impl InitialSettings {
    /// Gives amplitudes, bodies and members the positions that are stated of them.
    pub fn apply(&self, system: &Arc<System>, discrete: &[f64], state: &mut State) {
        for &(_, index, value) in self.amplitudes.iter().filter(|(in_q, ..)| *in_q) {
            state.q[index] = value;
        }
        let stated: Vec<Stated> = self.stated.iter().filter(|s| !s.needs_velocity()).cloned().collect();
        if !stated.is_empty() {
            stated::apply_stated(&system.directory, &stated, &poses(system, discrete, state), state);
        }
    }

    /// Sets v to the velocities that are stated, of members for which `is_rigid` holds as a whole, and zero elsewhere.
    pub fn set_moving(
        &self,
        system: &Arc<System>,
        discrete: &[f64],
        is_rigid: &dyn Fn(usize) -> bool,
        state: &mut State,
    ) {
        state.v.fill(0.0);
        for &(_, index, value) in self.amplitudes.iter().filter(|(in_q, ..)| !*in_q) {
            state.v[index] = value;
        }
        let stated: Vec<Stated> = self.stated.iter().filter(|s| s.needs_velocity()).cloned().collect();
        if !stated.is_empty() {
            stated::set_moving(&system.directory, &stated, &poses(system, discrete, state), is_rigid, state);
        }
    }

    /// Returns whether `path` is a velocity or a state.
    pub fn is_no_position(&self, path: &str) -> bool {
        !self.positions.iter().any(|e| e.name == path)
    }
}

fn poses(system: &Arc<System>, discrete: &[f64], state: &State) -> Vec<Pose<f64>> {
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(discrete);
    mechanism.observe(state, |at| at.poses.to_vec())
}

/// Reads `[initial]` or `[guess]`.
pub(super) fn read(
    model: &Model,
    system: &Arc<System>,
    settings: &[Setting],
) -> Result<InitialSettings, AssemblyError> {
    let mut out = InitialSettings::default();
    let mut errors = Vec::new();
    for setting in settings {
        if let Err(error) = read_one(model, system, settings, setting, &mut out) {
            errors.push(error);
        }
    }
    if !errors.is_empty() {
        return Err(AssemblyError::Settings(errors));
    }
    out.siblings = siblings::find(system, settings);
    Ok(out)
}

fn read_one(
    model: &Model,
    system: &Arc<System>,
    settings: &[Setting],
    setting: &Setting,
    out: &mut InitialSettings,
) -> sarrus_model::Result<()> {
    let reader = Reader::setting(model, setting);
    let path = setting.path.as_str();
    if let Some((name, field)) = path.rsplit_once('.') {
        let is_vector = matches!(field, "velocity" | "omega" | "omega_on");
        if let Some(id) = system.directory.body(name).filter(|id| *id != 0 && is_vector) {
            let body = &system.directory.bodies[id as usize];
            let origin = body.from_com([0.0; 3]);
            let value = read_vector(&reader, system, setting, (name, field, body.kind.rotates()))?;
            state_vector(system, setting, (id, origin), &value, out);
            return Ok(());
        }
        if let Some((id, point)) = system.directory.marker(name).filter(|_| field == "velocity") {
            let value = read_vector(&reader, system, setting, (name, field, true))?;
            state_vector(system, setting, (id, point), &value, out);
            return Ok(());
        }
        let is_motion = is_vector || matches!(field, "rate" | "vx" | "vy" | "vz");
        if let Some(member) = system.directory.member(name).filter(|_| is_motion) {
            let planar_rate = field == "rate" && system.directory.space == Space::Planar;
            let is_in_file = FilePlacement::of(model, &system.directory, setting.element.scope).is_some();
            if is_in_file && !is_vector && !planar_rate {
                let message = format!("`{path}` is one component of a member in a file that is moved");
                let hint = format!(
                    "write `{name}.{}`, which turns with the file",
                    match field {
                        "rate" => "omega",
                        _ => "velocity",
                    }
                );
                return Err(Diagnostic::new(setting.span, message).hint(hint));
            }
            let mut value = read_vector(&reader, system, setting, (name, field, true))?;
            if planar_rate && reader.transform().sign() < 0.0 {
                // a mirror turns the sense of a rate
                value.components.iter_mut().for_each(|(_, rate)| *rate = -*rate);
                let rate = value.components.first().map_or(0.0, |(_, rate)| *rate);
                reader.record("value", || ResolvedValue::Number(rate));
            }
            member_motion(system, settings, setting, member, &value, out);
            return Ok(());
        }
    }
    let AffineReading { terms, offset } = meant(model, system, setting)?;
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
    if let Some((_, signal)) = signals.first() {
        check_unit(&reader, signal.unit(), path)?;
    }
    let value = match &signals[..] {
        [(factor, Signal::Output(slot))] => return state(system, setting, *slot, value / factor, out),
        [(factor, signal)] => {
            let value = value / factor;
            let name = &terms[0].1;
            record(&reader, path, &[(1.0, name.clone())], value);
            match siblings::coupled(system, settings, name, value) {
                // the angle says the same, and it counts turns
                Some((angle, ids, value)) => hold(system, setting, vec![(1.0, angle)], ids, value, out),
                None => hold(system, setting, vec![(1.0, signal.clone())], ids, value, out),
            }
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

/// Refuses a value whose unit is not that of the column; one of no unit says nothing.
fn check_unit(reader: &Reader, unit: &str, path: &str) -> sarrus_model::Result<()> {
    let wanted = Dimension::of_unit(unit).filter(|unit| !unit.is_none());
    match (wanted, reader.value("value")) {
        (Some(wanted), Some(given)) => {
            reader.context().check_dimension(given, &[wanted], &|| format!("`{path}`"))
        }
        _ => Ok(()),
    }
}

/// Returns what a path means in its file, as a sum of columns of the model.
fn meant(model: &Model, system: &System, setting: &Setting) -> sarrus_model::Result<AffineReading> {
    let path = setting.path.as_str();
    let named = sum_of_columns(path).unwrap_or_else(|| vec![(1.0, path.to_owned())]);
    let Some(file) = FilePlacement::of(model, &system.directory, setting.element.scope) else {
        return Ok(AffineReading { terms: named, offset: 0.0 });
    };
    let mut sum = AffineReading { terms: Vec::new(), offset: 0.0 };
    for (factor, name) in named {
        match file.read(&name, Purpose::Start).map_err(|message| refused(setting, message))?.as_deref() {
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
    reader.record(if key == path { "value" } else { &key }, || ResolvedValue::Number(value));
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

/// A motion that is stated of a body or member: components of one vector.
struct StatedMotion {
    kind: StatedVector,
    /// Axis and value.
    components: Vec<(usize, f64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StatedVector {
    Velocity,
    /// ω in world axes.
    Omega,
    /// ω in the axes of the body.
    OmegaOn,
}

fn read_vector(
    reader: &Reader,
    system: &System,
    setting: &Setting,
    (name, field, rotates): (&str, &str, bool),
) -> sarrus_model::Result<StatedMotion> {
    let planar = system.directory.space == Space::Planar;
    let unit = if matches!(field, "rate" | "omega" | "omega_on") { "rad/s" } else { "m/s" };
    check_unit(reader, unit, &setting.path)?;
    let all = |kind: StatedVector, x: [f64; 3], n: usize| {
        Ok(StatedMotion { kind, components: x.into_iter().enumerate().take(n).collect() })
    };
    if let Some(axis) = ["vx", "vy", "vz"].iter().position(|word| *word == field) {
        if planar && axis == 2 {
            let message = format!("`{name}` has no `vz`: the space is planar");
            return Err(
                Diagnostic::new(setting.span, message).hint(format!("use `{name}.velocity = [vx, vy]`"))
            );
        }
        return Ok(StatedMotion {
            kind: StatedVector::Velocity,
            components: vec![(axis, reader.number("value")?)],
        });
    }
    if field == "velocity" {
        let v = reader.vector("value")?.ok_or_else(|| reader.missing("value"))?;
        return all(StatedVector::Velocity, v, if planar { 2 } else { 3 });
    }
    if !rotates {
        let message = format!("body `{name}` is a point mass and does not turn");
        return Err(Diagnostic::new(setting.span, message).hint("state its `velocity` alone"));
    }
    if planar != (field == "rate") {
        let (space, other) = if planar { ("a planar", "rate") } else { ("a spatial", "omega = [x, y, z]") };
        let message = format!("{space} body has no `{field}`");
        return Err(Diagnostic::new(setting.span, message).hint(format!("write `{name}.{other}`")));
    }
    match field {
        "rate" => {
            Ok(StatedMotion { kind: StatedVector::OmegaOn, components: vec![(2, reader.number("value")?)] })
        }
        "omega_on" => {
            let w = reader.numbers("value")?.and_then(|w| <[f64; 3]>::try_from(w).ok());
            let w = w.ok_or_else(|| reader.error("value", "expected 3 numbers"))?;
            let w = in_body_axes(reader.model(), system, setting, name, &w)?;
            reader.record("value", || ResolvedValue::numbers(&w));
            all(StatedVector::OmegaOn, w, 3)
        }
        _ => all(StatedVector::Omega, reader.axial("value")?.ok_or_else(|| reader.missing("value"))?, 3),
    }
}

/// States `motion` of the point `point` of the body `id`.
fn state_vector(
    system: &System,
    setting: &Setting,
    (id, point): (u32, [f64; 3]),
    motion: &StatedMotion,
    out: &mut InitialSettings,
) {
    for &(i, value) in &motion.components {
        let signal = match motion.kind {
            StatedVector::Velocity => Signal::Velocity(0, point, i),
            StatedVector::Omega => Signal::OmegaWorld(0, i),
            StatedVector::OmegaOn => Signal::Omega(0, i),
        };
        hold(system, setting, vec![(1.0, signal)], vec![id], value, out);
    }
}

/// States `motion` of a member: of each of its bodies. A velocity beside an angular velocity is that of the centre of mass, and so is one beside the
/// rates of amplitudes. ω in body axes is in those of the first body, or of the frame.
fn member_motion(
    system: &System,
    settings: &[Setting],
    setting: &Setting,
    member: &FlexibleEntry,
    motion: &StatedMotion,
    out: &mut InitialSettings,
) {
    let directory = &system.directory;
    let is_stated = |word: &str| settings.iter().any(|s| s.path == format!("{}.{word}", member.name));
    let deforms = || {
        let word = |s: &Setting| s.path.strip_prefix(&format!("{}.eta", member.name)).map(str::to_owned);
        settings.iter().filter_map(word).any(|rest| rest.ends_with("_rate"))
    };
    let centre = centre(directory, member);
    let rotates = ["omega", "omega_on", "rate"].into_iter().any(is_stated);
    if (motion.kind == StatedVector::Velocity && rotates) || deforms() {
        return state_vector(system, setting, centre, motion, out);
    }
    let frame = directory.floating.iter().map(|f| f.frame).find(|frame| member.all.contains(frame));
    let axes = model_axes(&directory.bodies[frame.unwrap_or(member.bodies.start) as usize]);
    for id in member.bodies.clone().chain(frame) {
        let body = &directory.bodies[id as usize];
        if motion.kind == StatedVector::Velocity {
            state_vector(system, setting, (id, [0.0; 3]), motion, out);
        } else if body.kind.rotates() {
            let mut own = StatedMotion { kind: motion.kind, components: motion.components.clone() };
            if motion.kind == StatedVector::OmegaOn && body.kind.rotates_in_space() {
                let mut w = [0.0; 3];
                motion.components.iter().for_each(|(i, x)| w[*i] = *x);
                let w = model_axes(body).transpose_mul(axes * Vec3(w)).0;
                own.components = w.into_iter().enumerate().collect();
            }
            state_vector(system, setting, (id, [0.0; 3]), &own, out);
        }
    }
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
    let Some(file) = FilePlacement::of(model, &system.directory, setting.element.scope) else {
        return Ok(own);
    };
    let columns = ["wx", "wy", "wz"].map(|word| format!("{name}.{word}"));
    let mut out = [0.0; 3];
    for (path, w) in columns.iter().zip(own) {
        let read = file.read(path, Purpose::Start).map_err(|message| refused(setting, message))?;
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
    out: &mut InitialSettings,
) -> sarrus_model::Result<()> {
    let range_of =
        |c: &ControllerElement| c.out + c.outputs.len() - c.named_states().len()..c.out + c.outputs.len();
    out.spans.push((setting.path.clone(), setting.span));
    match system.controllers.iter().find(|c| range_of(c).contains(&slot)) {
        Some(c) => {
            out.states.push((c.x + slot - range_of(c).start, value));
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
    out: &mut InitialSettings,
) {
    out.spans.push((setting.path.clone(), setting.span));
    if let [(_, Signal::Coordinate(c))] = &terms[..]
        && let Some(discrete_index) = c.discrete_index
    {
        out.discrete.push((discrete_index, value));
    }
    if let Some((frame, undeformed)) = undeformed(&terms, &ids) {
        out.stated.push(Stated { body: frame, terms: undeformed, value });
    }
    match (&terms[..], &ids[..]) {
        ([(_, signal)], [id]) if amplitude(system, signal, *id).is_some() => {
            let amplitude = amplitude(system, signal, *id);
            out.amplitudes.extend(amplitude.map(|(in_q, index)| (in_q, index, value)));
        }
        (_, [id]) => out.stated.push(Stated { body: *id, terms: terms.clone(), value }),
        _ => out.indirect.push((setting.path.clone(), setting.span)),
    }
    let hold = HeldReading { terms, value };
    let is_velocity = hold.needs_velocity();
    let element = ConstraintElement::new(setting.path.clone(), Family::Hold, ids, Arc::new(hold));
    if is_velocity { out.velocities.push(element) } else { out.positions.push(element) }
}

/// The frame of a modal body and what reads the same of it while it is undeformed, where `terms` are of its shown nodes.
fn undeformed(terms: &[(f64, Signal)], ids: &[u32]) -> Option<(u32, Vec<(f64, Signal)>)> {
    let of_frame = |(factor, signal): &(f64, Signal)| match signal {
        Signal::Node(node) => node.undeformed().map(|signal| (*factor, signal)),
        _ => None,
    };
    Some((*ids.first()?, terms.iter().map(of_frame).collect::<Option<_>>()?))
}

/// Returns where a signal is an amplitude of a modal body, or its rate: whether it is in q, and its index.
fn amplitude(system: &System, signal: &Signal, id: u32) -> Option<(bool, usize)> {
    let body = &system.directory.bodies[id as usize];
    match signal {
        _ if !(body.shares && body.is_internal()) => None,
        Signal::Position(_, _, i) => Some((true, body.q + i)),
        Signal::Velocity(_, _, i) => Some((false, body.v + i)),
        Signal::Angle(_) => Some((true, body.q + 2)),
        Signal::Omega(..) => Some((false, body.v + 2)),
        _ => None,
    }
}
