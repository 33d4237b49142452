//! B slides on a plane with normal z of F, and rotates about that normal.
//!
//! X_FM(q): shift (q1, q2, 0), rotation by q3 about z. Φ = (z_F·p_FM, z_F·x_M, z_F·y_M).

use super::prelude::*;

/// A plate on a table.
pub struct PlanarJoint;

impl Joint for PlanarJoint {
    const KIND: &'static str = "planar";
    const DOC: &'static str = "plate on a table: slides in a plane and turns about its normal";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::ZX;
    const COORDINATES: &'static [Coordinate] = &[
        Coordinate::new("x", "vx", "ax", Reading::Shift(0)),
        Coordinate::new("y", "vy", "ay", Reading::Shift(1)),
        Coordinate::new("angle", "rate", "alpha", Reading::RotationZ),
    ];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(PlanarJoint)
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        Pose { p: Vec3([q[0], q[1], R::zero()]), rot: Mat3::rot_z(q[2]), angle: R::zero() }
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![in_plane(frames, 2), perpendicular(frames, 2, 0), perpendicular(frames, 2, 1)]
    }
}
