//! Joints: where they are on both bodies, which way their axes point, what they let move.

use super::{Cast, Point3, from_origin};
use sarrus::model::{Model, Space};
use sarrus::system::System;
use sarrus::system::joint::AxisRole;
use sarrus::system::joints::KINDS;
use serde::Serialize;

/// A joint as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JointGlyph {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// First and second body.
    pub bodies: [i32; 2],
    /// Its point on each \[m\].
    pub on: [Point3; 2],
    /// Its axis on each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis_on: Option<[Point3; 2]>,
    /// Its second axis on each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis2_on: Option<[Point3; 2]>,
    /// Names of its coordinates.
    pub coordinates: Vec<&'static str>,
    /// Reactions that are not unique.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_unique: Vec<String>,
}

/// The joints of `[joints]`; those inside segmented rods are not drawn.
pub(super) fn all(model: &Model, system: &System, cast: &Cast) -> Vec<JointGlyph> {
    let directory = &*system.directory;
    let one = |joint: &sarrus::system::names::JointEntry| {
        let (F, M) = (&joint.frames.F, &joint.frames.M);
        let pair = |k: usize| Some([F.axis(k), M.axis(k)]);
        let kind = KINDS.iter().find(|k| k.name == joint.face.kind() && k.space == directory.space);
        let (axis_on, axis2_on) = match kind.map_or(AxisRole::None, |k| k.axis) {
            // the axis of a planar hinge stands on the plane
            AxisRole::None if directory.space == Space::Planar && joint.face.kind() == "revolute" => {
                (Some([[0.0, 0.0, 1.0]; 2]), None)
            }
            AxisRole::None => (None, None),
            AxisRole::Z => (pair(2), None),
            AxisRole::ZX | AxisRole::Cross => (pair(2), pair(0)),
            AxisRole::X if directory.space == Space::Planar => (Some([along(F), along(M)]), None),
            AxisRole::X => (pair(0), None),
        };
        JointGlyph {
            name: joint.name.clone(),
            kind: joint.face.kind(),
            bodies: joint.bodies.map(|id| cast.index_of(id)),
            on: [from_origin(directory, joint.bodies[0], F.p), from_origin(directory, joint.bodies[1], M.p)],
            axis_on,
            axis2_on,
            coordinates: joint.face.coordinates().iter().map(|c| c.name).collect(),
            not_unique: Vec::new(),
        }
    };
    directory.joints.iter().take(model.joints.len()).map(one).collect()
}

/// x of a planar frame, which says how it is rotated by its angle.
fn along(frame: &sarrus::system::joint::BodyFixedFrame) -> Point3 {
    [frame.angle.cos(), frame.angle.sin(), 0.0]
}
