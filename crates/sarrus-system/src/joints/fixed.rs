//! B does not move against A.
//!
//! X_FM = 1. Φ = (p_FM, z_F·x_M, z_F·y_M, x_F·y_M).

use super::prelude::*;

/// A weld in space.
pub struct FixedJoint;

impl Joint for FixedJoint {
    const KIND: &'static str = "fixed";
    const DOC: &'static str = "weld: no motion";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::None;
    const COORDINATES: &'static [Coordinate] = &[];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(FixedJoint)
    }

    fn pose<R: Real>(&self, _: &[R]) -> Pose<R> {
        Pose::identity()
    }

    fn motion(&self, _: &[f64], _: &[f64], out: &mut JointMotion) {
        (out.pose, out.bias) = (Pose::identity(), Vec6::ZERO);
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![
            coincident(frames),
            perpendicular(frames, 2, 0),
            perpendicular(frames, 2, 1),
            perpendicular(frames, 0, 1),
        ]
    }
}
