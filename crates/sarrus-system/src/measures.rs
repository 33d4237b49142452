//! Measures: numbers that the file asks for beside the ready-made columns.
//!
//! A measure that is an expression may read everything, reactions and energies included; one that reads only positions and
//! velocities may also stand in forces (there it is bound anew, see [`crate::formula`]).

use crate::at::At;
use crate::columns::{Reading, Snapshot, joint_reaction};
use crate::constraints::two_directions;
use crate::context::Context;
use crate::names::Named;
use crate::signal::{Distance, Signal};
use crate::system::System;
use sarrus_math::{Real, Vec3};
use sarrus_model::expr::{Bound, Program};
use sarrus_model::{Diagnostic, Element, Key, KeyType, Model, Reader, Result, RuntimeExpr, Space};

/// A measure with its components.
pub struct Measure {
    /// Suffix (empty for a plain number) and unit of each component.
    pub components: Vec<(String, &'static str)>,
    what: What,
}

enum What {
    Expression(Expression),
    Signals(Vec<Signal>),
    Angle { bodies: [u32; 2], a_A: [f64; 3], b_B: [f64; 3], planar: bool },
    Reaction { joint: usize, sign: f64, axes: u32, about: Option<(u32, [f64; 3])>, components: Vec<usize> },
    Momentum(Vec<u32>, Vec<usize>),
    Energy(Vec<u32>),
}

/// An expression over columns.
struct Expression {
    program: Program,
    slots: Vec<Slot>,
}

enum Slot {
    Live(Box<Signal>),
    Column(Reading),
    Nested(Box<Measure>, usize),
}

/// A registered kind of measure.
pub struct Kind {
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
pub static KINDS: &[Kind] = &[
    Kind {
        name: "expression",
        doc: "an expression of columns, written as a plain string",
        keys: &[Key::new(
            "expression",
            KeyType::Expression,
            "",
            "the expression; a bare string is short for it",
        )],
    },
    Kind {
        name: "distance",
        doc: "distance of two points [m]",
        keys: &[BODIES, Key::new("ends", KeyType::Points, "", "the two points in the model pose [m]"), ON],
    },
    Kind {
        name: "angle",
        doc: "angle between two directions [rad], in the plane from the first to the second",
        keys: &[
            BODIES,
            Key::new("axes", KeyType::Vectors, "", "two world directions in the model pose"),
            Key::new("axis_on", KeyType::LocalVector, "", "the direction on each body"),
        ],
    },
    Kind {
        name: "point",
        doc: "position of a point, read as X.x X.y X.z [m]",
        keys: &[
            Key::new("body", KeyType::Body, "", "the body"),
            AT,
            ON,
            Key::new("relative_to", KeyType::Body, "ground", "the body in whose frame it is given"),
        ],
    },
    Kind {
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
    Kind {
        name: "momentum",
        doc: "linear and angular momentum about the origin, read as X.px to X.lz",
        keys: &[BODIES],
    },
    Kind {
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
    let kept: Vec<usize> =
        if system.directory.space == Space::Planar { vec![0, 1, 5] } else { (0..6).collect() };
    let components = kept.iter().map(|&k| (names[k].to_string(), units[k / 3])).collect();
    (kept, components)
}

/// Reads a measure; `column` finds a column that exists already.
pub fn read(
    model: &Model,
    element: &Element,
    system: &System,
    column: &dyn Fn(&str) -> Option<Reading>,
) -> Result<Measure> {
    let Some(kind) = KINDS.iter().find(|k| k.name == element.kind) else {
        return Err(crate::compile::unknown_kind(model, element, KINDS.iter().map(|k| k.name)));
    };
    let number = |unit| vec![(String::new(), unit)];
    if kind.name == "expression" {
        let expr = Reader::open(model, element).require_expression("expression")?;
        let expression = bind(model, system, &expr, column, &mut vec![element.name.clone()])?;
        return Ok(Measure { components: number(""), what: What::Expression(expression) });
    }
    let mut ctx = Context::new(Reader::new(model, element, kind.keys)?, &system.directory);
    match kind.name {
        "distance" => {
            let [a, b] = ctx.bodies2()?;
            let [r_A, r_B] = ctx.ends([a, b])?;
            let distance = Distance { a: a as usize, r_A, b: b as usize, r_B };
            Ok(Measure { components: number("m"), what: What::Signals(vec![Signal::Length(distance)]) })
        }
        "angle" => {
            let bodies = ctx.bodies2()?;
            let [a_A, b_B] = two_directions(&ctx, bodies)?;
            let what = What::Angle { bodies, a_A, b_B, planar: ctx.is_planar() };
            Ok(Measure { components: number("rad"), what })
        }
        "point" => {
            let body = ctx.body("body")?;
            let frame = ctx.body_or_ground("relative_to")?;
            let origin = system.directory.bodies[body as usize].from_com([0.0; 3]);
            let r = ctx.point_on(body, "at", "on")?.unwrap_or(origin);
            let carrier = ctx.frame_of(frame);
            let axes: &[&str] = if ctx.is_planar() { &["x", "y"] } else { &["x", "y", "z"] };
            let signal = |i| Signal::Relative(frame as usize, carrier, body as usize, r, i);
            let what = What::Signals((0..axes.len()).map(signal).collect());
            Ok(Measure { components: axes.iter().map(|a| (a.to_string(), "m")).collect(), what })
        }
        "reaction" => reaction(&mut ctx, system),
        "momentum" => {
            let (kept, components) =
                components(system, ["px", "py", "pz", "lx", "ly", "lz"], ["kg m/s", "kg m^2/s"]);
            Ok(Measure { components, what: What::Momentum(ctx.bodies()?, kept) })
        }
        _ => {
            let components = vec![("kinetic".to_string(), "J"), ("potential".to_string(), "J")];
            Ok(Measure { components, what: What::Energy(ctx.bodies()?) })
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
    let (kept, components) = components(system, ["fx", "fy", "fz", "tx", "ty", "tz"], ["N", "N m"]);
    let sign = if on == bodies[1] { 1.0 } else { -1.0 };
    Ok(Measure { components, what: What::Reaction { joint, sign, axes, about, components: kept } })
}

fn bind(
    model: &Model,
    system: &System,
    expr: &RuntimeExpr,
    column: &dyn Fn(&str) -> Option<Reading>,
    nesting: &mut Vec<String>,
) -> Result<Expression> {
    let mut slots = Vec::new();
    let program = model.compile(expr, &[], &mut |path: &str| {
        let mut slot = |s: Slot| {
            slots.push(s);
            slots.len() as u32 - 1
        };
        if path == "t" {
            return Ok(Bound::Scalar(slot(Slot::Live(Box::new(Signal::Time)))));
        }
        if let Some(Named::Measure(inner)) = system.directory.get(path) {
            if nesting.iter().any(|n| n == path) {
                return Err(format!("measure `{path}` depends on itself"));
            }
            nesting.push(path.to_owned());
            let inner = bind(model, system, inner, column, nesting).map_err(|e: Diagnostic| e.message);
            nesting.pop();
            let measure = Measure { components: vec![(String::new(), "")], what: What::Expression(inner?) };
            return Ok(Bound::Scalar(slot(Slot::Nested(Box::new(measure), 0))));
        }
        if let Some(reading) = column(path) {
            return Ok(Bound::Scalar(slot(Slot::Column(reading))));
        }
        let signals = system.directory.read(path, &mut |body| body as usize)?;
        let places: Vec<u32> = signals.into_iter().map(|s| slot(Slot::Live(Box::new(s)))).collect();
        match places[..] {
            [one] => Ok(Bound::Scalar(one)),
            [x, y, z] => Ok(Bound::Vector([x, y, z])),
            _ => Err(format!("`{path}` cannot be read as a number")),
        }
    })?;
    Ok(Expression { program, slots })
}

impl Measure {
    /// Component `k`.
    pub fn eval(
        &self,
        k: usize,
        system: &System,
        snapshot: &Snapshot,
        at: &At<f64>,
        energies: &[f64; 5],
    ) -> f64 {
        match &self.what {
            What::Expression(expression) => {
                expression.program.eval(&|slot: u32| match &expression.slots[slot as usize] {
                    Slot::Live(signal) => signal.eval(at),
                    Slot::Column(reading) => reading.eval(system, snapshot, at, energies),
                    Slot::Nested(measure, k) => measure.eval(*k, system, snapshot, at, energies),
                })
            }
            What::Signals(signals) => signals[k].eval(at),
            What::Angle { bodies, a_A, b_B, planar } => {
                let a = at.poses[bodies[0] as usize].rotate(a_A);
                let b = at.poses[bodies[1] as usize].rotate(b_B);
                let cross = a.cross(b);
                Real::atan2(if *planar { cross.0[2] } else { cross.norm() }, a.dot(b))
            }
            What::Reaction { joint, sign, axes, about, components } => {
                let [fx, fy, fz, tx, ty, tz] = joint_reaction(system, snapshot, at, *joint);
                let (force, mut torque) = (Vec3([fx, fy, fz]).scale(*sign), Vec3([tx, ty, tz]).scale(*sign));
                if let Some((body, r)) = about {
                    let entry = &system.directory.joints[*joint];
                    let point = entry.frames.M.place(&at.poses[entry.bodies[1] as usize]).p;
                    torque += (point - at.poses[*body as usize].point(r)).cross(force);
                }
                let axes = &at.poses[*axes as usize];
                let k = components[k];
                if k < 3 { axes.to_local(force).0[k] } else { axes.to_local(torque).0[k - 3] }
            }
            What::Momentum(bodies, components) => {
                let k = components[k];
                bodies.iter().map(|&id| momentum(system, at, id)[k]).sum()
            }
            What::Energy(bodies) => bodies.iter().map(|&id| energy(system, at, id)[k]).sum(),
        }
    }
}

fn momentum(system: &System, at: &At<f64>, id: u32) -> [f64; 6] {
    let (body, pose, twist) =
        (&system.directory.bodies[id as usize], &at.poses[id as usize], &at.twists[id as usize]);
    let linear = twist.v.scale(body.mass);
    let spin = if body.kind.turns() { pose.rot * (body.inertia * twist.w) } else { Vec3([0.0; 3]) };
    let angular = pose.p.cross(linear) + spin;
    [linear.0[0], linear.0[1], linear.0[2], angular.0[0], angular.0[1], angular.0[2]]
}

fn energy(system: &System, at: &At<f64>, id: u32) -> [f64; 2] {
    let (body, pose, twist) =
        (&system.directory.bodies[id as usize], &at.poses[id as usize], &at.twists[id as usize]);
    let spin = if body.kind.turns() { twist.w.dot(body.inertia * twist.w) } else { 0.0 };
    let kinetic = 0.5 * (body.mass * twist.v.dot(twist.v) + spin);
    [kinetic, -body.mass * Vec3(system.gravity).dot(pose.p)]
}
