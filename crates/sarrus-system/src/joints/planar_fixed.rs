//! Planar: B does not move against A.
//!
//! X_FM = 1. Φ = (p_FM, angle of M against F).

use super::prelude::*;

/// A weld in the plane.
pub struct PlanarFixed;

impl Joint for PlanarFixed {
    const KIND: &'static str = "fixed";
    const DOC: &'static str = "weld: no motion";
    const SPACE: Space = Space::Planar;
    const AXIS: AxisRole = AxisRole::None;
    const COORDINATES: &'static [Coordinate] = &[];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(PlanarFixed)
    }

    fn pose<R: Real>(&self, _: &[R]) -> Pose<R> {
        Pose::identity()
    }

    fn motion(&self, _: &[f64], _: &[f64], out: &mut JointMotion) {
        (out.pose, out.bias) = (Pose::identity(), Vec6::ZERO);
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![
            Primitive::Coincident2 { r_A: frames.F.p, r_B: frames.M.p },
            Primitive::Angle2 { angle: frames.F.angle - frames.M.angle },
        ]
    }
}
