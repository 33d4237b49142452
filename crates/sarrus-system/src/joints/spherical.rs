//! B turns freely about one point.
//!
//! X_FM(q): rotation by a unit quaternion. Φ = p_FM.

use super::prelude::*;

/// A ball joint.
pub struct Spherical;

impl Joint for Spherical {
    const KIND: &'static str = "spherical";
    const DOC: &'static str = "ball joint: turns freely about a point";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::None;
    // its coordinates, a quaternion and a rotation rate, are columns but not single numbers to drive
    const COORDINATES: &'static [Coordinate] = &[];
    const QUATERNION: Option<usize> = Some(0);

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(Spherical)
    }

    /// `q` is a quaternion, scalar first; it need not have length 1.
    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        let norm = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
        Pose {
            rot: Mat3::from_quat([q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm]),
            ..Pose::identity()
        }
    }

    fn coordinates(&self) -> usize {
        4
    }

    /// The rates are in axes of M, and S in those of F: its columns are those of R_FM, and Ṡ y = R (ω × ω) = 0.
    fn motion(&self, q: &[f64], _: &[f64], out: &mut JointMotion) {
        out.pose = Pose { rot: Mat3::from_quat([q[0], q[1], q[2], q[3]]), ..Pose::identity() };
        for (i, S) in out.S.iter_mut().enumerate().take(3) {
            *S = Vec6::new(Vec3::zero(), out.pose.rot.col(i));
        }
        out.bias = Vec6::ZERO;
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![coincident(frames)]
    }
}
