//! B slides along z of F and turns about it.
//!
//! X_FM(q): shift by q1 along z, rotation by q2 about z. Φ = (x_F·p_FM, y_F·p_FM, z_F·x_M, z_F·y_M).

use super::prelude::*;

/// A shaft in a plain bush.
pub struct Cylindrical;

/// Coordinates shared with the screw.
pub const COORDINATES: &[Coordinate] = &[
    Coordinate::new("position", "speed", Reading::Shift(2)),
    Coordinate::new("angle", "rate", Reading::TurnZ),
];

/// Rows shared with the screw.
pub fn rows(frames: &Frames) -> Vec<Primitive> {
    vec![in_plane(frames, 0), in_plane(frames, 1), perpendicular(frames, 2, 0), perpendicular(frames, 2, 1)]
}

impl Joint for Cylindrical {
    const KIND: &'static str = "cylindrical";
    const DOC: &'static str = "shaft in a bush: slides along an axis and turns about it";
    const SPACE: Space = Space::Spatial;
    const AXIS: Axis = Axis::Z;
    const COORDINATES: &'static [Coordinate] = COORDINATES;

    fn read(_: &mut Reader) -> Result<Self> {
        Ok(Cylindrical)
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        Pose { p: Vec3([R::zero(), R::zero(), q[0]]), rot: Mat3::rot_z(q[1]), angle: R::zero() }
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        rows(frames)
    }
}
