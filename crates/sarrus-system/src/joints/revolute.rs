//! B rotates about z of F, through one point.
//!
//! X_FM(q): rotation by q about z. Φ = (p_FM, z_F·x_M, z_F·y_M).

use super::prelude::*;

/// A hinge in space.
pub struct Revolute;

impl Joint for Revolute {
    const KIND: &'static str = "revolute";
    const DOC: &'static str = "hinge: turns about an axis";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::Z;
    const COORDINATES: &'static [Coordinate] =
        &[Coordinate::new("angle", "rate", "accel", Reading::RotationZ)];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(Revolute)
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        Pose { rot: Mat3::rot_z(q[0]), ..Pose::identity() }
    }

    fn motion(&self, q: &[f64], _: &[f64], out: &mut JointMotion) {
        out.pose = Joint::pose(self, q);
        out.S[0] = rotation_axis(2);
        out.bias = Vec6::ZERO;
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![coincident(frames), perpendicular(frames, 2, 0), perpendicular(frames, 2, 1)]
    }
}
