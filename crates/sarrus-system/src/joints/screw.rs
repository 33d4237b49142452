//! B rotates about z of F and advances by `lead` a rotation.
//!
//! X_FM(q): rotation by q about z and shift by q·lead/2π along it. Φ = the rows of the cylindrical joint, and
//! position - angle·lead/2π, which keeps its value of the model pose.

use super::cylindrical::{self, Sense};
use super::prelude::*;
use sarrus_model::record::ResolvedValue;
use std::f64::consts::TAU;

/// A nut on a thread.
pub struct Screw {
    factors: [f64; 2],
    sense: Sense,
}

impl Joint for Screw {
    const KIND: &'static str = "screw";
    const DOC: &'static str = "nut on a thread: advances by `lead` a turn";
    const SPACE: Space = Space::Spatial;
    const AXIS: AxisRole = AxisRole::Z;
    const KEYS: &'static [Key] = &[
        Key::new("lead", KeyType::Number, "", "advance per turn [m], positive for a right-handed thread"),
        cylindrical::SENSE,
    ];
    const EXAMPLE: &'static str = "lead = 0.3";
    const COORDINATES: &'static [Coordinate] = cylindrical::COORDINATES;

    fn read(reader: &mut Reader) -> Result<Self> {
        let sense = Sense::read(reader)?;
        // the mirror image of a right-handed thread is left-handed
        let lead = reader.handedness() * reader.number("lead")?;
        reader.record("lead", || ResolvedValue::Number(lead));
        Ok(Screw { factors: [1.0, -lead * sense.0 / TAU], sense })
    }

    fn readings(&self) -> &'static [Coordinate] {
        self.sense.coordinates()
    }

    fn pose<R: Real>(&self, q: &[R]) -> Pose<R> {
        let advance = q[0] * (-self.factors[1] * self.sense.0);
        Pose { p: Vec3([R::zero(), R::zero(), advance]), rot: Mat3::rot_z(q[0]), angle: R::zero() }
    }

    fn coordinates(&self) -> usize {
        1
    }

    /// Its one number is the angle.
    fn number(&self, _: usize) -> usize {
        1
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        cylindrical::rows(frames)
    }

    fn coupling(&self) -> Option<&[f64]> {
        Some(&self.factors)
    }
}
