//! B slides along z of F without turning.
//!
//! X_FM(q): shift by q along z. Φ = (x_F·p_FM, y_F·p_FM, z_F·x_M, z_F·y_M, x_F·y_M).

use super::prelude::*;

/// A slider in space.
pub struct Prismatic;

impl Joint for Prismatic {
    const KIND: &'static str = "prismatic";
    const DOC: &'static str = "slider: shifts along an axis without turning";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::Z;
    const COORDINATES: &'static [Coordinate] =
        &[Coordinate::new("position", "speed", "accel", Reading::Shift(2))];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(Prismatic)
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        Pose { p: Vec3([R::zero(), R::zero(), q[0]]), ..Pose::identity() }
    }

    fn motion(&self, q: &[f64], _: &[f64], out: &mut JointMotion) {
        out.pose = Joint::pose(self, q);
        out.S[0] = shift(2);
        out.bias = Vec6::ZERO;
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![
            in_plane(frames, 0),
            in_plane(frames, 1),
            perpendicular(frames, 2, 0),
            perpendicular(frames, 2, 1),
            perpendicular(frames, 0, 1),
        ]
    }
}
