//! Joint coordinates: read from the poses of the joint's two frames, over any scalar.
//!
//! A coordinate has a value and a direction: the force at M's origin and the torque, on the second body, that do
//! work on it alone. Speed, efforts and drivers follow from the direction, since
//! speed = force direction · (velocity of M's origin against A) + torque direction · (ω_B - ω_A).

use crate::at::At;
use crate::joint::Frames;
use sarrus_math::{Enclosure, Interval, Pose, Real, Vec3};
use std::f64::consts::TAU;

/// The formula of a coordinate. Joints differ in few of them, so the caller that reads a coordinate holds the formula by
/// value and stays generic over the scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Planar: angle of M against F; the bodies count their turns themselves.
    PlanarAngle,
    /// Rotation of M against F about z of F.
    RotationZ,
    /// Turn about x of M that remains after a rotation about z of F: the second angle of a universal joint.
    RotationX,
    /// Tilt of M, the component of its z along x of F: a small rotation about z × x.
    Tilt,
    /// Shift of M's origin along axis 0, 1 or 2 of F.
    Shift(usize),
    /// The same, positive the other way.
    Back(usize),
}

/// A joint coordinate: its formula and what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// `angle`, `position`, ...
    pub name: &'static str,
    /// `rate`, `speed`, ...
    pub speed: &'static str,
    /// `accel`, ...
    pub accel: &'static str,
    /// Describes how it is read.
    pub reading: Reading,
}

impl Coordinate {
    /// A row of a joint's list.
    pub const fn new(name: &'static str, speed: &'static str, accel: &'static str, reading: Reading) -> Self {
        Coordinate { name, speed, accel, reading }
    }

    /// An angle rather than a length.
    pub fn is_angle(&self) -> bool {
        !self.reading.is_length()
    }
}

impl Reading {
    /// A length rather than an angle.
    pub fn is_length(self) -> bool {
        matches!(self, Reading::Shift(_) | Reading::Back(_))
    }

    /// Returns whether its value is known only up to whole revolutions.
    pub fn wraps(self) -> bool {
        matches!(self, Reading::RotationZ | Reading::RotationX)
    }

    /// The value; of a rotation the one in (-π, π].
    pub fn value<R: Real>(self, F: &Pose<R>, M: &Pose<R>) -> R {
        match self {
            // z of F points away in a mirrored file: its angles count the other way
            Reading::PlanarAngle => (M.angle - F.angle) * F.rot.0[2][2],
            Reading::RotationZ | Reading::RotationX => {
                let [y, x] = self.arms(F, M);
                y.atan2(x)
            }
            Reading::Tilt => M.rot.col(2).dot(F.rot.col(0)),
            Reading::Shift(axis) => (M.p - F.p).dot(F.rot.col(axis)),
            Reading::Back(axis) => -(M.p - F.p).dot(F.rot.col(axis)),
        }
    }

    /// Sine and cosine of a rotation, up to a common factor.
    fn arms<R: Real>(self, F: &Pose<R>, M: &Pose<R>) -> [R; 2] {
        if self == Reading::RotationX {
            let z_F = F.rot.col(2);
            return [z_F.dot(M.rot.col(1)), z_F.dot(M.rot.col(2))];
        }
        let x_M = M.rot.col(0);
        [x_M.dot(F.rot.col(1)), x_M.dot(F.rot.col(0))]
    }

    /// Force and torque on B that a unit effort along the coordinate amounts to.
    pub fn direction<R: Real>(self, F: &Pose<R>, M: &Pose<R>) -> (Vec3<R>, Vec3<R>) {
        let none = Vec3::from_f64([0.0; 3]);
        match self {
            Reading::PlanarAngle | Reading::RotationZ => (none, F.rot.col(2)),
            Reading::RotationX => (none, M.rot.col(0)),
            Reading::Tilt => (none, M.rot.col(2).cross(F.rot.col(0))),
            Reading::Shift(axis) => (F.rot.col(axis), none),
            Reading::Back(axis) => (-F.rot.col(axis), none),
        }
    }
}

/// A coordinate of a certain joint, bound to an element's bodies.
#[derive(Clone, Debug)]
pub struct CoordinateRef {
    /// The joint's frames.
    pub frames: Frames,
    /// The formula.
    pub reading: Reading,
    /// Added to the formula's value, so that the coordinate reads what the file says in the model pose.
    pub offset: f64,
    /// Index of the last accepted value among the discrete state, for angles that wrap.
    pub discrete_index: Option<u32>,
    /// Place of the joint's first body in the element's list.
    pub a: usize,
    /// Place of its second body.
    pub b: usize,
}

impl CoordinateRef {
    fn frame_poses<R: Real>(&self, at: &At<R>) -> (Pose<R>, Pose<R>) {
        (self.frames.F.frame_pose(at.pose(self.a)), self.frames.M.frame_pose(at.pose(self.b)))
    }

    /// The value, turns counted from the last accepted one.
    pub fn value<R: Real>(&self, at: &At<R>) -> R {
        let (F, M) = self.frame_poses(at);
        let value = self.reading.value(&F, &M) + self.offset;
        match self.discrete_index {
            Some(discrete_index) => {
                value + nearest_revolution(value.value(), at.discrete[discrete_index as usize])
            }
            None => value,
        }
    }

    /// Bounds on the value over an interval of time; a rotation that is counted continues beyond half a revolution.
    pub fn enclose(&self, at: &At<Enclosure>) -> Enclosure {
        let Some(discrete_index) = self.discrete_index.filter(|_| self.reading.wraps()) else {
            return self.value(at);
        };
        let (F, M) = self.frame_poses(at);
        let [y, x] = self.reading.arms(&F, &M);
        match y.angle(x) {
            Some(angle) => {
                let value = angle + self.offset;
                value + nearest_revolution(value.v.mid(), at.discrete[discrete_index as usize])
            }
            None => Enclosure::jumping(Interval::ALL),
        }
    }

    /// Its time derivative.
    pub fn speed<R: Real>(&self, at: &At<R>) -> R {
        let (F, M) = self.frame_poses(at);
        let (force, torque) = self.reading.direction(&F, &M);
        let (V_A, V_B) = (at.twist(self.a), at.twist(self.b));
        let arm_A = M.p - at.pose(self.a).p;
        let arm_B = M.p - at.pose(self.b).p;
        let slip = V_B.v + V_B.w_W.cross(arm_B) - V_A.v - V_A.w_W.cross(arm_A);
        force.dot(slip) + torque.dot(V_B.w_W - V_A.w_W)
    }

    /// The angular speed of its second body against the first \[rad/s\].
    pub fn rotation(&self, at: &At<f64>) -> f64 {
        (at.twist(self.b).w_W - at.twist(self.a).w_W).norm_squared().sqrt()
    }

    /// Wrenches (force, torque about the centre of mass, world axes) on A and B of an effort along the coordinate.
    pub fn effort<R: Real>(&self, at: &At<R>, effort: R) -> [(Vec3<R>, Vec3<R>); 2] {
        let (F, M) = self.frame_poses(at);
        let (force, torque) = self.reading.direction(&F, &M);
        let (force, torque) = (force.scale(effort), torque.scale(effort));
        let arm_A = M.p - at.pose(self.a).p;
        let arm_B = M.p - at.pose(self.b).p;
        [(-force, -(torque + arm_A.cross(force))), (force, torque + arm_B.cross(force))]
    }
}

/// The whole revolutions that bring `value` nearest to `discrete_index`.
pub fn nearest_revolution(value: f64, previous: f64) -> f64 {
    TAU * ((previous - value) / TAU).round()
}
