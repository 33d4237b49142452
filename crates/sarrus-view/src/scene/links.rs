//! Describes what is drawn as a line between two bodies: springs, actuators, bushings, distances, other constraints.

use super::{Cast, Point3, from_origin};
use sarrus::model::{Element, Model, Reader};
use sarrus::system::Directory;
use sarrus::system::context::Context;
use serde::Serialize;

/// A line between points of two bodies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SceneLink {
    /// Its name.
    pub name: String,
    /// `spring`, `actuator`, `bushing`, `distance`, or the kind of a constraint.
    pub kind: String,
    /// Its bodies.
    pub bodies: [i32; 2],
    /// Its ends on them \[m\].
    pub on: [Point3; 2],
}

/// Forces, drivers and constraints that have a point on each of two bodies.
pub(super) fn all(model: &Model, directory: &Directory, cast: &Cast) -> Vec<SceneLink> {
    let elements = model.forces.iter().chain(&model.drivers).chain(&model.constraints);
    elements.filter_map(|element| one(model, element, directory, cast)).collect()
}

fn one(model: &Model, element: &Element, directory: &Directory, cast: &Cast) -> Option<SceneLink> {
    let reader = Reader::open(model, element);
    // what acts on the coordinate of a joint is drawn there; the model was compiled, so what cannot be read here has no points
    if !reader.has("bodies") || !["at", "ends", "on"].iter().any(|key| reader.has(key)) {
        return None;
    }
    let mut ctx = Context::new(reader, directory);
    let bodies = ctx.bodies2().ok()?;
    let [a, b] = ctx.points_on_two(bodies).ok()??;
    Some(SceneLink {
        name: element.name.clone(),
        kind: element.kind.clone(),
        bodies: bodies.map(|id| cast.index_of(id)),
        on: [from_origin(directory, bodies[0], a), from_origin(directory, bodies[1], b)],
    })
}
