//! Planar: B rotates about a point.
//!
//! X_FM(q): rotation by q. Φ = p_FM.

use super::prelude::*;

/// A pin in the plane.
pub struct PlanarRevolute;

impl Joint for PlanarRevolute {
    const KIND: &'static str = "revolute";
    const DOC: &'static str = "pin: turns about a point";
    const SPACE: Space = Space::Planar;
    const AXIS: AxisRole = AxisRole::None;
    const KEYS: &'static [Key] = &[Key::new(
        "sense",
        KeyType::Choice(&["along", "against"]),
        "along",
        "whether the angle counts about z, counter-clockwise, or against it",
    )];
    const COORDINATES: &'static [Coordinate] =
        &[Coordinate::new("angle", "rate", "accel", Reading::PlanarAngle)];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(PlanarRevolute)
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        Pose { rot: Mat3::rot_z(q[0]), angle: q[0], ..Pose::identity() }
    }

    fn motion(&self, q: &[f64], _: &[f64], out: &mut JointMotion) {
        out.pose = Joint::pose(self, q);
        out.S[0] = rotation_axis(2);
        out.bias = Vec6::ZERO;
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![Primitive::Coincident2 { r_A: frames.F.p, r_B: frames.M.p }]
    }
}
