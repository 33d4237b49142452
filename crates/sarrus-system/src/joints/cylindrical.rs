//! B slides along z of F and rotates about it.
//!
//! X_FM(q): shift by q1 along z, rotation by q2 about z. Φ = (x_F·p_FM, y_F·p_FM, z_F·x_M, z_F·y_M).

use super::prelude::*;
use sarrus_model::record::ResolvedValue;

/// A shaft in a plain bush.
pub struct Cylindrical {
    sense: Sense,
}

/// Identifies which way the position counts: along the axis about which the angle counts (1), or against it (-1), as in a mirrored
/// file. Shared with the screw, and with the pin in the plane, whose angle counts about z or against it.
#[derive(Clone, Copy)]
pub struct Sense(pub f64);

/// The key that says it.
pub const SENSE: Key = Key::new(
    "sense",
    KeyType::Choice(&["along", "against"]),
    "along",
    "whether the position counts along the axis of the angle or against it",
);

impl Sense {
    /// Reads it; a mirror turns it round.
    pub fn read(reader: &Reader) -> Result<Self> {
        let names = ["along", "against"];
        let against = reader.choice("sense", &names)? == Some(1);
        let sense = if against { -reader.handedness() } else { reader.handedness() };
        if reader.handedness() < 0.0 {
            reader.record("sense", || ResolvedValue::Text(names[usize::from(sense < 0.0)].to_string()));
        }
        Ok(Sense(sense))
    }

    /// The coordinates.
    pub fn coordinates(self) -> &'static [Coordinate] {
        if self.0 < 0.0 { AGAINST } else { COORDINATES }
    }
}

const AGAINST: &[Coordinate] = &[
    Coordinate::new("position", "speed", "accel", Reading::Back(2)),
    Coordinate::new("angle", "rate", "alpha", Reading::RotationZ),
];

/// Coordinates shared with the screw.
pub const COORDINATES: &[Coordinate] = &[
    Coordinate::new("position", "speed", "accel", Reading::Shift(2)),
    Coordinate::new("angle", "rate", "alpha", Reading::RotationZ),
];

/// Rows shared with the screw.
pub fn rows(frames: &Frames) -> Vec<Primitive> {
    vec![in_plane(frames, 0), in_plane(frames, 1), perpendicular(frames, 2, 0), perpendicular(frames, 2, 1)]
}

impl Joint for Cylindrical {
    const KIND: &'static str = "cylindrical";
    const DOC: &'static str = "shaft in a bush: slides along an axis and turns about it";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::Z;
    const KEYS: &'static [Key] = &[SENSE];
    const COORDINATES: &'static [Coordinate] = COORDINATES;

    fn read(reader: &mut Reader) -> Result<Self> {
        Ok(Cylindrical { sense: Sense::read(reader)? })
    }

    fn readings(&self) -> &'static [Coordinate] {
        self.sense.coordinates()
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        Pose {
            p: Vec3([R::zero(), R::zero(), q[0] * self.sense.0]),
            rot: Mat3::rot_z(q[1]),
            angle: R::zero(),
        }
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        rows(frames)
    }
}
