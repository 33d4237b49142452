//! The joints. One file each, one line each in [`KINDS`].

mod cylindrical;
mod fixed;
pub mod frames;
mod planar;
mod planar_fixed;
mod planar_prismatic;
mod planar_revolute;
mod prismatic;
mod revolute;
mod screw;
mod spherical;
mod universal;

use crate::coordinate::Coordinate;
use crate::joint::{AxisRole, Frames, Joint, JointFace};
use crate::primitive::Primitive;
use sarrus_model::{Key, Reader, Result, Space};
use std::sync::Arc;

/// Describes what joint files use.
mod prelude {
    pub use super::{coincident, in_plane, perpendicular};
    pub use crate::coordinate::{Coordinate, Reading};
    pub use crate::joint::{AxisRole, Frames, Joint};
    pub use crate::primitive::Primitive;
    pub use crate::tree::motion::{JointMotion, rotation_axis, shift};
    pub use crate::tree::spatial::Vec6;
    pub use sarrus_math::{Mat3, Pose, Real, Vec3};
    pub use sarrus_model::{Key, KeyType, Reader, Result, Space};
}

/// A registered kind of joint.
pub struct JointKind {
    /// Name in model files; planar and spatial kinds may share one.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// The space it lives in.
    pub space: Space,
    /// Holds what its axis is.
    pub axis: AxisRole,
    /// Its coordinates.
    pub coordinates: &'static [Coordinate],
    /// Keys of its own.
    pub keys: &'static [Key],
    /// Keys of its own as a model file writes them.
    pub example: &'static str,
    /// Reads one.
    pub read: fn(&mut Reader) -> Result<Box<dyn JointFace>>,
}

impl JointKind {
    const fn of<J: Joint>() -> JointKind {
        JointKind {
            name: J::KIND,
            doc: J::DOC,
            space: J::SPACE,
            axis: J::AXIS,
            coordinates: J::COORDINATES,
            keys: J::KEYS,
            example: J::EXAMPLE,
            read: |reader| Ok(Box::new(J::read(reader)?)),
        }
    }
}

/// Every kind of joint, in the order of `sarrus list joints`.
pub static KINDS: &[JointKind] = &[
    JointKind::of::<revolute::Revolute>(),
    JointKind::of::<prismatic::Prismatic>(),
    JointKind::of::<cylindrical::Cylindrical>(),
    JointKind::of::<screw::Screw>(),
    JointKind::of::<spherical::Spherical>(),
    JointKind::of::<universal::Universal>(),
    JointKind::of::<planar::PlanarJoint>(),
    JointKind::of::<fixed::FixedJoint>(),
    JointKind::of::<planar_revolute::PlanarRevolute>(),
    JointKind::of::<planar_prismatic::PlanarPrismatic>(),
    JointKind::of::<planar_fixed::PlanarFixed>(),
];

/// The joint that lets bodies turn against each other about a point, in the plane or in space.
pub(crate) fn revolute_face(planar: bool) -> Arc<dyn JointFace> {
    if planar { Arc::new(planar_revolute::PlanarRevolute) } else { Arc::new(spherical::Spherical) }
}

/// p_FM = 0.
pub fn coincident(frames: &Frames) -> Primitive {
    Primitive::Coincident { r_A: frames.F.p, r_B: frames.M.p }
}

/// Axis `i` of F stays at right angles to axis `j` of M.
pub fn perpendicular(frames: &Frames, i: usize, j: usize) -> Primitive {
    Primitive::Perpendicular { a_A: frames.F.axis(i), b_B: frames.M.axis(j) }
}

/// M's origin stays in the plane through F's origin with normal axis `i` of F.
pub fn in_plane(frames: &Frames, i: usize) -> Primitive {
    Primitive::InPlane { a_A: frames.F.axis(i), r_A: frames.F.p, r_B: frames.M.p }
}
