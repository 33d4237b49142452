//! Drivers: coordinates, points and distances that follow a function of time. One file each, one line each in [`KINDS`].
//!
//! A driver is a constraint Φ = coordinate - f(t), or at velocity level ψ = speed - f(t); the derivatives of f are exact, since
//! its expression runs over jets. Its effort is -λ.

pub mod joint;
pub mod point;

use crate::constraints::BuiltRows;
use crate::constraints::distance::{DistanceConstraint, Length};
use crate::context::Context;
use crate::formula::ReadLevel;
use crate::signal::PointDistance as Pair;
use sarrus_model::{Key, KeyType, Result};

/// Holds what a driver shows in results: the name and unit of the effort of each of its rows.
pub type Efforts = Vec<(String, &'static str)>;

/// Reads a driver; new discrete variables are added to the list.
pub type ReadDriver = fn(&mut Context, &mut Vec<f64>) -> Result<(BuiltRows, Efforts)>;

/// A registered kind of driver.
pub struct DriverKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Examples in a planar model with bodies `a`, `b`, `c` and joint `h`.
    pub planar: &'static [&'static str],
    /// Examples in a spatial model.
    pub spatial: &'static [&'static str],
    /// Reads one.
    pub read: ReadDriver,
}

/// Every kind of driver, in the order of `sarrus list drivers`.
pub static KINDS: &[DriverKind] = &[
    DriverKind {
        name: "joint",
        doc: "prescribes a joint coordinate or its speed",
        keys: &[
            Key::new("joint", KeyType::Name, "", "the joint; of several coordinates \"A.angle\""),
            Key::new("angle", KeyType::Expression, "", "the angle as a function of t [rad]"),
            Key::new("rate", KeyType::Expression, "", "its rate [rad/s]; the angle follows"),
            Key::new("position", KeyType::Expression, "", "the position as a function of t [m]"),
            Key::new("speed", KeyType::Expression, "", "its speed [m/s]; the position follows"),
        ],
        planar: &["joint = 'h', angle = '0.3*sin(2*t)'", "joint = 'h', rate = '1 + t^2'"],
        spatial: &["joint = 'h', angle = '0.3*sin(2*t)'", "joint = 'h', rate = '1 + t^2'"],
        read: joint::read,
    },
    DriverKind {
        name: "point",
        doc: "prescribes the position or velocity of a point of a body, and its turning",
        keys: &[
            Key::new("body", KeyType::Body, "", "the body"),
            Key::new("at", KeyType::Point, "", "the point in the model pose [m]"),
            Key::new("on", KeyType::Local, "the origin", "the point on the body [m], or a marker"),
            Key::new(
                "position",
                KeyType::Expressions,
                "",
                "its position as a function of t [m]; \"free\" leaves one alone",
            ),
            Key::new("velocity", KeyType::Expressions, "", "its velocity [m/s]; \"free\" leaves one alone"),
            Key::new("angle", KeyType::Expression, "", "planar: the body's angle [rad]"),
            Key::new("rate", KeyType::Expression, "", "planar: its rate [rad/s]"),
            Key::new(
                "omega",
                KeyType::Expressions,
                "",
                "spatial: its angular velocity in world axes [rad/s]",
            ),
        ],
        planar: &[
            "body = 'a', on = [0.2, 0.1], position = ['sin(t)', 'free'], angle = '0.1*t^3'",
            "body = 'a', on = [0.2, 0.1], velocity = ['0.6*t', '-0.8*exp(-t)'], rate = 0",
        ],
        spatial: &[
            "body = 'a', on = [0.2, 0.1, 0.3], position = ['sin(t)', 'free', 't^2']",
            "body = 'a', velocity = ['cos(t)', 0, 'free'], omega = [0, 't', 1]",
        ],
        read: point::read,
    },
    DriverKind {
        name: "distance",
        doc: "prescribes the distance of two points: a cylinder that follows a program",
        keys: &[
            Key::new("bodies", KeyType::Bodies, "", "the two bodies"),
            Key::new("ends", KeyType::Points, "", "the two points in the model pose [m]"),
            Key::new("on", KeyType::Local, "", "the point on each body [m], or a marker"),
            Key::new("length", KeyType::Expression, "", "their distance as a function of t [m]"),
        ],
        planar: &["bodies = ['a', 'b'], ends = [[0.1, 0.2], [0.9, 0.6]], length = '1 + 0.2*sin(t)'"],
        spatial: &[
            "bodies = ['a', 'b'], on = [[0.1, 0.2, 0.3], [-0.2, 0.1, 0.4]], length = '1 + 0.2*sin(t)'",
        ],
        read: distance,
    },
];

fn distance(ctx: &mut Context, _: &mut Vec<f64>) -> Result<(BuiltRows, Efforts)> {
    let bodies = ctx.bodies2()?;
    let [r_A, r_B] = ctx.ends(bodies)?;
    let length = ctx.binder(ReadLevel::Time, vec![]).scalar(&ctx.reader.require_expression("length")?)?;
    let driver = DistanceConstraint { pair: Pair { a: 0, r_A, b: 1, r_B }, length: Length::Driven(length) };
    Ok((BuiltRows::new(bodies.to_vec(), driver), vec![("force".into(), "N")]))
}
