//! B rotates about two crossing axes at right angles: z of F and x of M.
//!
//! X_FM(q): rotation by q1 about z, then by q2 about the new x. Φ = (p_FM, z_F·x_M).

use super::prelude::*;

/// A Cardan joint.
pub struct Universal;

impl Joint for Universal {
    const KIND: &'static str = "universal";
    const DOC: &'static str =
        "Cardan joint: `axis` on the first body, `axis2` on the second, at right angles";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::Cross;
    const COORDINATES: &'static [Coordinate] = &[
        Coordinate::new("angle1", "rate1", "accel1", Reading::RotationZ),
        Coordinate::new("angle2", "rate2", "accel2", Reading::RotationX),
    ];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(Universal)
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        let (half, zero) = (q[1] * 0.5, R::zero());
        let about_x = Mat3::from_quat([half.cos(), half.sin(), zero, zero]);
        Pose { rot: Mat3::rot_z(q[0]) * about_x, ..Pose::identity() }
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![coincident(frames), perpendicular(frames, 2, 0)]
    }
}
