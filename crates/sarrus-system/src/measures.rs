//! Measures: numbers that the file asks for beside the ready-made columns.
//!
//! A measure that is an expression may read everything, reactions and energies included; one that reads only positions and
//! velocities may also stand in forces (there it is bound anew, see [`crate::formula`]).

use crate::at::At;
use crate::columns::{ColumnSource, RowSource, joint_reaction};
use crate::constraints::two_directions;
use crate::context::Context;
use crate::file_placement::{self, FilePlacement, Purpose};
use crate::signal::{PointDistance, Signal};
use crate::system::System;
use sarrus_math::{Enclosure, Interval, Real, Vec3};
use sarrus_model::expr::{Binding, Program, TimeDependence, TimeShape, TimeSlot};
use sarrus_model::suggest::suggest;
use sarrus_model::{Element, Key, KeyType, Model, Reader, Result, RuntimeExpr, Space};

/// A measure with its components.
#[derive(Clone)]
pub(crate) struct Measure {
    /// Suffix (empty for a plain number) and unit of each component.
    pub components: Vec<(String, &'static str)>,
    what: MeasuredQuantity,
}

#[derive(Clone)]
enum MeasuredQuantity {
    Expression(MeasureExpression),
    Signals(Vec<Signal>),
    Angle { bodies: [u32; 2], a_A: [f64; 3], b_B: [f64; 3], planar: bool },
    Reaction { joint: usize, sign: f64, axes: u32, about: Option<(u32, [f64; 3])>, components: Vec<usize> },
    Momentum(Vec<u32>, Vec<usize>),
    Energy(Vec<u32>),
}

/// An expression over columns.
#[derive(Clone)]
pub(crate) struct MeasureExpression {
    program: Program,
    slots: Vec<ColumnSource>,
}

impl MeasureExpression {
    /// Its value.
    pub fn eval(&self, row: &RowSource) -> f64 {
        self.program.eval(&|slot: u32| self.slots[slot as usize].read(row))
    }

    /// Its value as a condition: 1, 0, or NaN where that depends on what is not a number.
    pub fn decide(&self, row: &RowSource) -> f64 {
        self.program.decide(&|slot: u32| self.slots[slot as usize].read(row))
    }

    /// Returns what leaves it undecided, if it is; `measure` tells why a measure's value is not finite.
    pub fn undecided(&self, row: &RowSource, measure: &dyn Fn(usize) -> Option<String>) -> Option<String> {
        let why = self.program.undecided(&|slot: u32| self.slots[slot as usize].read(row))?;
        Some(self.of_measure(row, measure).unwrap_or(why))
    }

    /// Returns what first went wrong, where its value is not finite; `measure` as above.
    pub fn fault(&self, row: &RowSource, measure: &dyn Fn(usize) -> Option<String>) -> Option<String> {
        let why = self.program.fault(&|slot: u32| self.slots[slot as usize].read(row))?;
        Some(self.of_measure(row, measure).unwrap_or(why))
    }

    fn of_measure(&self, row: &RowSource, measure: &dyn Fn(usize) -> Option<String>) -> Option<String> {
        let bad = self.slots.iter().find(|source| !source.read(row).is_finite())?;
        bad.measure().and_then(measure)
    }

    /// Bounds over an interval of time; `measure` gives those of a measure's value.
    pub fn enclose(&self, at: &At<Enclosure>, measure: &dyn Fn(usize) -> Enclosure) -> Enclosure {
        self.program.enclose(&|slot: u32| match &self.slots[slot as usize] {
            ColumnSource::Live(signal) => signal.enclose(at),
            ColumnSource::Measure(v) => measure(*v),
            _ => Enclosure::jumping(Interval::ALL),
        })
    }

    /// Returns whether there are such, and the bodies that it reads; `measure` tells the same of a measure's value.
    pub fn is_bounded(&self, found: &mut dyn FnMut(usize), measure: &mut dyn FnMut(usize) -> bool) -> bool {
        let mut sources = self.slots.iter();
        let slots = sources.all(|source| match source {
            ColumnSource::Live(signal) => is_bounded(signal, found),
            ColumnSource::Measure(v) => measure(*v),
            _ => false,
        });
        slots && self.program.functions().next().is_none()
    }

    /// Returns what it reads.
    pub fn sources(&self) -> &[ColumnSource] {
        &self.slots
    }

    /// Returns what it reads, as signals; none for what is no signal.
    pub fn signals(&self) -> impl Iterator<Item = Option<&Signal>> {
        self.slots.iter().map(|source| match source {
            ColumnSource::Live(signal) => Some(&**signal),
            _ => None,
        })
    }

    /// Returns whether it is true or false.
    pub fn is_condition(&self) -> bool {
        self.program.is_condition()
    }

    /// Returns whether it compares by `==` or `!=` what changes continuously; `changes` says how a source does.
    pub fn equates(&self, changes: &dyn Fn(&ColumnSource) -> TimeDependence) -> bool {
        self.program.equates(&|slot: u32| changes(&self.slots[slot as usize]))
    }

    /// Returns whether it reads nothing.
    pub fn is_constant(&self) -> bool {
        self.program.is_constant().is_some()
    }

    /// Adds the times at which it switches because of the time alone, and returns what it is as a function of time;
    /// `slot` says what a signal is.
    pub fn breakpoints<'a>(
        &self,
        from: f64,
        to: f64,
        breaks: &mut Vec<f64>,
        slot: &dyn Fn(Option<&Signal>) -> TimeSlot<'a>,
    ) -> TimeShape {
        let signals: Vec<Option<&Signal>> = self.signals().collect();
        self.program.breakpoints(&|i: u32| slot(signals[i as usize]), from, to, breaks)
    }
}

/// Returns whether a signal has bounds, and the bodies that it reads. Columns show quaternions of the state, not of the pose.
fn is_bounded(signal: &Signal, found: &mut dyn FnMut(usize)) -> bool {
    signal.bodies(found);
    match signal {
        Signal::Quaternion(..) | Signal::Output(_) => false,
        Signal::Nested(formula) => formula.is_bounded() && !formula.needs_controller(),
        _ => true,
    }
}

impl Measure {
    /// Returns what first went wrong in an expression whose value is not finite; `measure` tells the same of a measure's value.
    pub fn fault(&self, row: &RowSource, measure: &dyn Fn(usize) -> Option<String>) -> Option<String> {
        match &self.what {
            MeasuredQuantity::Expression(expression) => expression.fault(row, measure),
            _ => None,
        }
    }

    /// Bounds on component `k` over an interval of time.
    pub fn enclose(&self, k: usize, at: &At<Enclosure>, measure: &dyn Fn(usize) -> Enclosure) -> Enclosure {
        match &self.what {
            MeasuredQuantity::Expression(expression) => expression.enclose(at, measure),
            MeasuredQuantity::Signals(signals) => signals[k].enclose(at),
            _ => Enclosure::jumping(Interval::ALL),
        }
    }

    /// Returns whether there are such, and the bodies that it reads.
    pub fn is_bounded(&self, found: &mut dyn FnMut(usize), measure: &mut dyn FnMut(usize) -> bool) -> bool {
        match &self.what {
            MeasuredQuantity::Expression(expression) => expression.is_bounded(found, measure),
            MeasuredQuantity::Signals(signals) => signals.iter().all(|signal| is_bounded(signal, found)),
            _ => false,
        }
    }
}

/// A measure whose names are not yet resolved, if it is an expression: then it may read any other measure.
pub(crate) enum Draft {
    /// An expression.
    Expression(RuntimeExpr),
    /// Anything else.
    Ready(Measure),
}

/// A registered kind of measure.
pub struct MeasureKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

const BODIES: Key = Key::new("bodies", KeyType::Bodies, "", "the bodies");
const AT: Key = Key::new("at", KeyType::Point, "", "the point in the model pose [m]");
const ON: Key =
    Key::new("on", KeyType::Local, "", "the point on the body, or on each of two [m], or a marker");

/// Every kind of measure, in the order of `sarrus list measures`.
pub static KINDS: &[MeasureKind] = &[
    MeasureKind {
        name: "expression",
        doc: "an expression of columns, written as a plain string",
        keys: &[Key::new(
            "expression",
            KeyType::Expression,
            "",
            "the expression; a bare string is short for it",
        )],
    },
    MeasureKind {
        name: "distance",
        doc: "distance of two points [m]",
        keys: &[BODIES, Key::new("ends", KeyType::Points, "", "the two points in the model pose [m]"), ON],
    },
    MeasureKind {
        name: "angle",
        doc: "angle between two directions [rad], in the plane from the first to the second",
        keys: &[
            BODIES,
            Key::new("axes", KeyType::Vectors, "", "two world directions in the model pose"),
            Key::new("axis_on", KeyType::LocalVector, "", "the direction on each body"),
        ],
    },
    MeasureKind {
        name: "point",
        doc: "position of a point, read as X.x X.y X.z [m]",
        keys: &[
            Key::new("body", KeyType::Body, "", "the body"),
            AT,
            ON,
            Key::new("relative_to", KeyType::Body, "ground", "the body in whose frame it is given"),
        ],
    },
    MeasureKind {
        name: "reaction",
        doc: "reaction of a joint on one of its bodies, read as X.fx to X.tz [N, N m]",
        keys: &[
            Key::new("joint", KeyType::Name, "", "the joint"),
            Key::new("body", KeyType::Body, "the second", "the body it acts on"),
            Key::new("axes", KeyType::Body, "world", "`world`, or the body in whose axes it is given"),
            Key::new(
                "about",
                KeyType::Point,
                "the joint's point",
                "the point of the first body, in the model pose, for torques [m]",
            ),
        ],
    },
    MeasureKind {
        name: "momentum",
        doc: "linear and angular momentum about the origin, read as X.px to X.lz",
        keys: &[BODIES],
    },
    MeasureKind {
        name: "energy",
        doc: "kinetic energy and energy in gravity, read as X.kinetic, X.potential [J]",
        keys: &[BODIES],
    },
];

/// The expression of a measure that is one.
pub fn expression(model: &Model, element: &Element) -> Option<Result<RuntimeExpr>> {
    (element.kind == "expression").then(|| Reader::open(model, element).require_expression("expression"))
}

fn components(
    system: &System,
    names: [&str; 6],
    units: [&'static str; 2],
) -> (Vec<usize>, Vec<(String, &'static str)>) {
    let retained: Vec<usize> =
        if system.directory.space == Space::Planar { vec![0, 1, 5] } else { (0..6).collect() };
    let components = retained.iter().map(|&k| (names[k].to_string(), units[k / 3])).collect();
    (retained, components)
}

impl Draft {
    /// Reads a measure.
    pub fn read(model: &Model, element: &Element, system: &System) -> Result<Draft> {
        let Some(kind) = KINDS.iter().find(|k| k.name == element.kind) else {
            return Err(crate::compile::unknown_kind(model, element, KINDS.iter().map(|k| k.name)));
        };
        if kind.name == "expression" {
            let reader = Reader::new(model, element, kind.keys)?;
            return Ok(Draft::Expression(reader.require_expression("expression")?));
        }
        read(model, element, kind, system).map(Draft::Ready)
    }

    /// Suffix and unit of each component.
    pub fn components(&self) -> Vec<(String, &'static str)> {
        match self {
            Draft::Expression(_) => number(""),
            Draft::Ready(measure) => measure.components.clone(),
        }
    }

    /// Resolves the names of an expression: `column` finds a column among `names`.
    pub fn bind(
        self,
        model: &Model,
        system: &System,
        column: &dyn Fn(&str) -> Option<ColumnSource>,
        names: &[String],
    ) -> Result<Measure> {
        match self {
            Draft::Ready(measure) => Ok(measure),
            Draft::Expression(expr) => {
                let what = MeasuredQuantity::Expression(bind(model, system, &expr, &[], column, names)?);
                Ok(Measure { components: number(""), what })
            }
        }
    }
}

/// Components of a measure that is one number.
fn number(unit: &'static str) -> Vec<(String, &'static str)> {
    vec![(String::new(), unit)]
}

/// Reads a measure that is not an expression.
fn read(model: &Model, element: &Element, kind: &MeasureKind, system: &System) -> Result<Measure> {
    let mut ctx = Context::new(Reader::new(model, element, kind.keys)?, &system.directory);
    match kind.name {
        "distance" => {
            let [a, b] = ctx.bodies2()?;
            let [r_A, r_B] = ctx.ends([a, b])?;
            let distance = PointDistance { a: a as usize, r_A, b: b as usize, r_B };
            Ok(Measure {
                components: number("m"),
                what: MeasuredQuantity::Signals(vec![Signal::Length(distance)]),
            })
        }
        "angle" => {
            let bodies = ctx.bodies2()?;
            let [a_A, b_B] = two_directions(&ctx, bodies)?;
            let what = MeasuredQuantity::Angle { bodies, a_A, b_B, planar: ctx.is_planar() };
            Ok(Measure { components: number("rad"), what })
        }
        "point" => {
            let body = ctx.body("body")?;
            let frame = ctx.body_or_ground("relative_to")?;
            let origin = system.directory.bodies[body as usize].from_com([0.0; 3]);
            let r = ctx.point_on(body, "at", "on")?.unwrap_or(origin);
            let carrier = ctx.body_frame(frame);
            let axes: &[&str] = if ctx.is_planar() { &["x", "y"] } else { &["x", "y", "z"] };
            let signal = |i| Signal::Relative(frame as usize, carrier, body as usize, r, i);
            let what = MeasuredQuantity::Signals((0..axes.len()).map(signal).collect());
            Ok(Measure { components: axes.iter().map(|a| (a.to_string(), "m")).collect(), what })
        }
        "reaction" => reaction(&mut ctx, system),
        "momentum" => {
            let (retained, components) =
                components(system, ["px", "py", "pz", "lx", "ly", "lz"], ["kg m/s", "kg m^2/s"]);
            Ok(Measure { components, what: MeasuredQuantity::Momentum(ctx.bodies()?, retained) })
        }
        _ => {
            let components = vec![("kinetic".to_string(), "J"), ("potential".to_string(), "J")];
            Ok(Measure { components, what: MeasuredQuantity::Energy(ctx.bodies()?) })
        }
    }
}

fn reaction(ctx: &mut Context, system: &System) -> Result<Measure> {
    let (name, span) = ctx.reader.name("joint")?.ok_or_else(|| ctx.reader.missing("joint"))?;
    let Some(joint) = system.directory.joint(&name) else {
        return Err(ctx.model.unknown(&name, span, &[sarrus_model::Section::Joints]));
    };
    let bodies = system.directory.joints[joint].bodies;
    let on = if ctx.reader.has("body") { ctx.body("body")? } else { bodies[1] };
    if !bodies.contains(&on) {
        return Err(ctx.reader.error("body", format!("joint `{name}` does not touch it")));
    }
    let axes = match ctx.reader.text("axes")? {
        None | Some("world") => 0,
        Some(_) => ctx.body("axes")?,
    };
    let about = ctx.reader.point("about")?.map(|p| (bodies[0], ctx.point_to_body(bodies[0], p)));
    let (retained, components) = components(system, ["fx", "fy", "fz", "tx", "ty", "tz"], ["N", "N m"]);
    let sign = if on == bodies[1] { 1.0 } else { -1.0 };
    Ok(Measure {
        components,
        what: MeasuredQuantity::Reaction { joint, sign, axes, about, components: retained },
    })
}

/// Binds an expression to what it reads: `own` names come first, `column` finds a column among `names`.
pub(crate) fn bind(
    model: &Model,
    system: &System,
    expr: &RuntimeExpr,
    own: &[(&str, ColumnSource)],
    column: &dyn Fn(&str) -> Option<ColumnSource>,
    names: &[String],
) -> Result<MeasureExpression> {
    let mut slots = Vec::new();
    // by message: a name that is not found is tried again without its last component
    let mut hints: Vec<(String, Option<String>)> = Vec::new();
    let own_names: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
    let file = FilePlacement::of(model, &system.directory, expr.scope);
    let mut bind = |path: &str| {
        let live = |signal| ColumnSource::Live(Box::new(signal));
        let sources: Vec<ColumnSource> = if let Some((_, source)) = own.iter().find(|(name, _)| *name == path)
        {
            vec![source.clone()]
        } else if path == "t" {
            vec![live(Signal::Time)]
        } else if let Some(source) = column(path) {
            vec![source]
        } else if let Some(point) = point(system, path, column) {
            point
        } else {
            match system.directory.read(path, &mut |body| body as usize) {
                Ok(signals) => signals.into_iter().map(live).collect(),
                Err(_) => {
                    let (message, hint) = unknown(system, path, names);
                    hints.push((message.clone(), hint));
                    return Err(message);
                }
            }
        };
        let first = slots.len() as u32;
        slots.extend(sources);
        match slots.len() as u32 - first {
            1 => Ok(Binding::Scalar(first)),
            3 => Ok(Binding::Vector([first, first + 1, first + 2])),
            _ => Err(format!("`{path}` cannot be read as a number")),
        }
    };
    let bound = model.compile(expr, &own_names, &mut |path: &str| match &file {
        Some(file) if !own_names.contains(&path) => match file.read(path, Purpose::Expression)? {
            Some(readings) => file_placement::bound(&readings, &mut bind),
            None => bind(path),
        },
        _ => bind(path),
    });
    let program = bound.map_err(|error| {
        let hint = hints.into_iter().find(|(message, _)| *message == error.message);
        error.maybe_hint(hint.and_then(|(_, hint)| hint))
    })?;
    Ok(MeasureExpression { program, slots })
}

/// The components of a measure that is a point.
fn point(
    system: &System,
    path: &str,
    column: &dyn Fn(&str) -> Option<ColumnSource>,
) -> Option<Vec<ColumnSource>> {
    if !matches!(system.directory.get(path), Some(crate::names::Named::Other("measure"))) {
        return None;
    }
    let [x, y] = ["x", "y"].map(|axis| column(&format!("{path}.{axis}")));
    // the third of a planar vector is not read
    let z = column(&format!("{path}.z")).or_else(|| y.clone());
    Some(vec![x?, y?, z?])
}

/// Returns what is wrong with a name that stands for nothing, and what may have been meant.
fn unknown(system: &System, path: &str, names: &[String]) -> (String, Option<String>) {
    let mut split = path.len();
    loop {
        let (name, rest) = (&path[..split], path.get(split + 1..).unwrap_or(""));
        let inside = |n: &String| {
            n.strip_prefix(name)
                .and_then(|n| n.strip_prefix('.'))
                .filter(|n| !n.contains('.'))
                .map(String::from)
        };
        let known = system.directory.get(name).is_some();
        let parts: Vec<String> = names.iter().filter_map(inside).collect();
        if known || !parts.is_empty() {
            let message = match rest {
                "" => format!("`{name}` is not a number"),
                rest => format!("`{name}` has no `{rest}`"),
            };
            // parts of parts too: `arm.elment1.M`
            let deeper = || {
                let below = names.iter().filter(|n| n.starts_with(name) && n[name.len()..].starts_with('.'));
                suggest(path, below)
            };
            let near = suggest(rest, &parts).map(|near| format!("{name}.{near}")).or_else(deeper);
            let near = near.map(|near| format!("did you mean `{near}`?"));
            let list = || (!parts.is_empty()).then(|| format!("it has {}", parts.join(", ")));
            return (message, near.or_else(list));
        }
        match name.rfind('.') {
            Some(dot) => split = dot,
            None => break,
        }
    }
    let head = path.split('.').next().unwrap_or(path);
    let totals = ["energy", "violation"].map(String::from);
    let near = suggest(path, names)
        .or_else(|| system.directory.suggestion(head))
        .or_else(|| suggest(head, &totals))
        .map(|near| format!("did you mean `{near}`?"));
    (format!("`{path}` is not known"), near)
}

impl Measure {
    /// Returns what its expression reads.
    pub fn sources(&self) -> impl Iterator<Item = &ColumnSource> {
        match &self.what {
            MeasuredQuantity::Expression(expression) => expression.slots.iter(),
            _ => [].iter(),
        }
    }

    /// Returns whether it is a reaction, known only with multipliers.
    pub fn needs_reactions(&self) -> bool {
        matches!(self.what, MeasuredQuantity::Reaction { .. })
    }

    /// Returns whether equations and accelerations must be known to compute it, those of other measures aside.
    pub fn needs_solution(&self) -> bool {
        self.needs_reactions() || self.sources().any(ColumnSource::needs_solution)
    }

    /// Component `k`.
    pub fn eval(&self, k: usize, row: &RowSource) -> f64 {
        let (system, at) = (row.system, row.at);
        match &self.what {
            MeasuredQuantity::Expression(expression) => expression.eval(row),
            MeasuredQuantity::Signals(signals) => signals[k].eval(at),
            MeasuredQuantity::Angle { bodies, a_A, b_B, planar } => {
                let a = at.poses[bodies[0] as usize].rotate(a_A);
                let b = at.poses[bodies[1] as usize].rotate(b_B);
                let cross = a.cross(b);
                Real::atan2(if *planar { cross.0[2] } else { cross.norm() }, a.dot(b))
            }
            MeasuredQuantity::Reaction { joint, sign, axes, about, components } => {
                let [fx, fy, fz, tx, ty, tz] = joint_reaction(system, row.snapshot, at, *joint);
                let (force, mut torque) = (Vec3([fx, fy, fz]).scale(*sign), Vec3([tx, ty, tz]).scale(*sign));
                if let Some((body, r)) = about {
                    let entry = &system.directory.joints[*joint];
                    let point = entry.frames.M.frame_pose(&at.poses[entry.bodies[1] as usize]).p;
                    torque += (point - at.poses[*body as usize].point(r)).cross(force);
                }
                let axes = &at.poses[*axes as usize];
                let k = components[k];
                if k < 3 { axes.to_local(force).0[k] } else { axes.to_local(torque).0[k - 3] }
            }
            MeasuredQuantity::Momentum(bodies, components) => {
                let k = components[k];
                bodies.iter().map(|&id| momentum(system, at, id)[k]).sum()
            }
            MeasuredQuantity::Energy(bodies) => bodies.iter().map(|&id| energy(system, at, id)[k]).sum(),
        }
    }
}

fn momentum(system: &System, at: &At<f64>, id: u32) -> [f64; 6] {
    let (body, pose, twist) =
        (&system.directory.bodies[id as usize], &at.poses[id as usize], &at.twists[id as usize]);
    if let Some(floating) = system.directory.floating_of(id) {
        // all of it is its frame's
        let (_, _, [p, l]) = floating.energies(at, &system.gravity);
        let own = if id == floating.frame { [p.0, l.0] } else { [[0.0; 3]; 2] };
        return [own[0][0], own[0][1], own[0][2], own[1][0], own[1][1], own[1][2]];
    }
    // the mass of a rotor is nowhere in space, and that is all of it
    let linear = twist.v.scale(body.gravitational_mass());
    let spin = if body.kind.rotates() { pose.rot * (body.inertia * twist.w) } else { Vec3([0.0; 3]) };
    let angular = pose.p.cross(linear) + spin;
    [linear.0[0], linear.0[1], linear.0[2], angular.0[0], angular.0[1], angular.0[2]]
}

fn energy(system: &System, at: &At<f64>, id: u32) -> [f64; 2] {
    let (body, pose, twist) =
        (&system.directory.bodies[id as usize], &at.poses[id as usize], &at.twists[id as usize]);
    if let Some(floating) = system.directory.floating_of(id) {
        let (kinetic, potential, _) = floating.energies(at, &system.gravity);
        return if id == floating.frame { [kinetic, potential] } else { [0.0; 2] };
    }
    let spin = if body.kind.rotates() { twist.w.dot(body.inertia * twist.w) } else { 0.0 };
    let kinetic = 0.5 * (body.mass * twist.v.dot(twist.v) + spin);
    [kinetic, -body.gravitational_mass() * Vec3(system.gravity).dot(pose.p)]
}
