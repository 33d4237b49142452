//! Arrows of what acts from outside: forces and torques on a body, and actuators along a joint.
//!
//! Where they act is fixed on the body; how large they are comes with the frames, as hidden columns `load.NAME.x|y|z` of world components. What
//! acts between two points is drawn as a line there, springs of joints with the joint; forces on many bodies (`drag`,
//! `buoyancy`, `field`) have no arrows.

use super::{Cast, Point3, from_origin};
use sarrus::model::{Element, Model, Reader};
use sarrus::system::System;
use sarrus::system::context::Context;
use serde::Serialize;

/// An arrow at a point of a body.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SceneLoad {
    /// Its name.
    pub name: String,
    /// `force` or `torque`.
    pub kind: &'static str,
    /// The body that it acts on.
    pub body: i32,
    /// Where, on it \[m\].
    pub on: Point3,
    /// Columns of its world components.
    pub vector: [String; 3],
    /// Its number among the forces of the system, and that of the body among its own.
    #[serde(skip)]
    pub source: (usize, usize),
}

/// The loads of a model that act at a point.
pub(super) fn all(model: &Model, system: &System, cast: &Cast) -> Vec<SceneLoad> {
    model.forces.iter().filter_map(|element| one(model, element, system, cast)).collect()
}

fn one(model: &Model, element: &Element, system: &System, cast: &Cast) -> Option<SceneLoad> {
    let directory = &*system.directory;
    let force = system.forces.iter().position(|f| f.name == element.name)?;
    let reader = Reader::open(model, element);
    let (kind, body, on) = match element.kind.as_str() {
        // the model was compiled, so what cannot be read here is not there
        "force" => {
            let mut ctx = Context::new(reader, directory);
            let body = ctx.body("body").ok()?;
            ("force", body, ctx.point_on(body, "at", "on").ok()?.unwrap_or_default())
        }
        "torque" => ("torque", Context::new(reader, directory).body("body").ok()?, [0.0; 3]),
        "actuator" if reader.has("joint") => {
            let (name, _) = reader.name("joint").ok()??;
            // a joint, or one of its coordinates
            let joint = directory.joint(&name).or_else(|| directory.joint(name.rsplit_once('.')?.0))?;
            let joint = &directory.joints[joint];
            let rotates = system.forces[force].load.readings().first()?.0 == "torque";
            // on the body that moves, where one of them is the ground
            let side = usize::from(joint.bodies[1] != 0);
            let frame = if side == 1 { &joint.frames.M } else { &joint.frames.F };
            (if rotates { "torque" } else { "force" }, joint.bodies[side], frame.p)
        }
        _ => return None,
    };
    let own = system.forces[force].ids.iter().position(|&id| id == body)?;
    (cast.index_of(body) >= 0).then(|| SceneLoad {
        name: element.name.clone(),
        kind,
        body: cast.index_of(body),
        on: from_origin(directory, body, on),
        vector: ["x", "y", "z"].map(|axis| format!("load.{}.{axis}", element.name)),
        source: (force, own),
    })
}
