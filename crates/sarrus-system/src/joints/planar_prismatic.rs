//! Planar: B slides along x of F without turning.
//!
//! X_FM(q): shift by q along x. Φ = (y_F·p_FM, angle of M against F).

use super::prelude::*;

/// A slider in the plane.
pub struct PlanarPrismatic;

impl Joint for PlanarPrismatic {
    const KIND: &'static str = "prismatic";
    const DOC: &'static str = "slider: shifts along an axis without turning";
    const SPACE: Space = Space::Planar;
    const AXIS: AxisRole = AxisRole::X;
    const COORDINATES: &'static [Coordinate] =
        &[Coordinate::new("position", "speed", "accel", Reading::Shift(0))];

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(PlanarPrismatic)
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        Pose { p: Vec3([q[0], R::zero(), R::zero()]), ..Pose::identity() }
    }

    fn motion(&self, q: &[f64], _: &[f64], out: &mut JointMotion) {
        out.pose = Joint::pose(self, q);
        out.S[0] = shift(0);
        out.bias = Vec6::ZERO;
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        vec![
            Primitive::OnLine2 { a_A: frames.F.axis(1), r_A: frames.F.p, r_B: frames.M.p },
            Primitive::Angle2 { angle: frames.F.angle - frames.M.angle },
        ]
    }
}
