//! Describes what a joint is: the motion it allows, `pose(q)`, and the rows it imposes, both in frames F (fixed in the
//! first body A) and M (fixed in the second body B). The origins of F and M are the joint's point.

use crate::coordinate::Coordinate;
use crate::primitive::Primitive;
use crate::tree::motion::{self, JointMotion};
use sarrus_math::{Mat3, Pose, Real};
use sarrus_model::{Key, Reader, Space};
use std::sync::Arc;

/// A frame fixed in a body, from its centre of mass.
#[derive(Clone, Copy, Debug)]
pub struct BodyFixedFrame {
    /// Origin \[m\].
    pub p: [f64; 3],
    /// Axes as columns, in body axes.
    pub rot: Mat3<f64>,
    /// Planar: angle of the frame against the body \[rad\].
    pub angle: f64,
}

impl BodyFixedFrame {
    /// This frame in the world, for a body at `pose`.
    #[inline]
    pub fn frame_pose<R: Real>(&self, pose: &Pose<R>) -> Pose<R> {
        Pose { p: pose.point(&self.p), rot: pose.rot.mul_mat_f64(&self.rot), angle: pose.angle + self.angle }
    }

    /// Axis `i` of the frame in body axes.
    pub fn axis(&self, i: usize) -> [f64; 3] {
        self.rot.col(i).0
    }
}

/// The two frames of a joint.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// F, fixed in the first body.
    pub F: BodyFixedFrame,
    /// M, fixed in the second body.
    pub M: BodyFixedFrame,
}

/// Holds what `axis` and `axis2` mean for a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisRole {
    /// It takes none.
    None,
    /// `axis` is z of the frames.
    Z,
    /// `axis` is z of the frames, and `axis2` gives their x.
    ZX,
    /// `axis` is z of F, and `axis2`, at right angles to it, is x of M.
    Cross,
    /// `axis` is x of the frames, in the plane.
    X,
}

/// A joint, as its author writes it.
pub trait Joint: Send + Sync + Sized + 'static {
    /// Name in model files.
    const KIND: &'static str;
    /// One line for `sarrus list joints`.
    const DOC: &'static str;
    /// The space it lives in.
    const SPACE: Space;
    /// Defines what its axis is.
    const AXIS: AxisRole;
    /// Keys of its own, beyond those of every joint.
    const KEYS: &'static [Key] = &[];
    /// Keys of its own as a model file writes them, for the conformance test.
    const EXAMPLE: &'static str = "";
    /// Coordinates, in the order of `pose`.
    const COORDINATES: &'static [Coordinate];
    /// Place of the first of four numbers of `pose` that are a unit quaternion, where it has one. Its speeds are the
    /// three rates of M against F, in axes of M.
    const QUATERNION: Option<usize> = None;

    /// Reads the keys of its own.
    fn read(reader: &mut Reader) -> sarrus_model::Result<Self>;

    /// The coordinates of this one: those of the kind, unless the file says that one counts the other way.
    fn readings(&self) -> &'static [Coordinate] {
        Self::COORDINATES
    }

    /// The motion it allows: M against F. `q` has one number per coordinate; a joint without simple coordinates (the
    /// ball joint) takes what its file says.
    fn pose<R: Real>(&self, q: &[R]) -> Pose<R>;

    /// Number of numbers `pose` takes.
    fn coordinates(&self) -> usize {
        Self::COORDINATES.len()
    }

    /// `pose` at the numbers `q` with its partial velocities, and their bias at the speeds `y`: derived from `pose`, or by
    /// hand where a profile asks for it.
    fn motion(&self, q: &[f64], y: &[f64], out: &mut JointMotion) {
        motion::derive(self, q, y, out);
    }

    /// The coordinate that number `i` of `pose` is, a quaternion's four aside.
    fn number(&self, i: usize) -> usize {
        i
    }

    /// The rows it imposes.
    fn rows(&self, frames: &Frames) -> Vec<Primitive>;

    /// Factors of a row Σ factor·coordinate = const that ties its coordinates together; the screw has one.
    fn coupling(&self) -> Option<&[f64]> {
        None
    }
}

/// The face of a joint that a system stores.
pub trait JointFace: Send + Sync {
    /// Name in model files.
    fn kind(&self) -> &'static str;
    /// Its coordinates.
    fn coordinates(&self) -> &'static [Coordinate];
    /// Number of numbers `pose` takes.
    fn pose_numbers(&self) -> usize;
    /// The motion it allows.
    fn pose(&self, q: &[f64]) -> Pose<f64>;
    /// The coordinate that number `i` of `pose` is, a quaternion's four aside.
    fn number(&self, i: usize) -> usize;
    /// Place of a unit quaternion among the numbers of `pose`.
    fn quaternion(&self) -> Option<usize>;
    /// Number of speeds it has.
    fn dof(&self) -> usize {
        self.pose_numbers() - usize::from(self.quaternion().is_some())
    }
    /// The pose with its partial velocities, by hand where there are hand-coded ones.
    fn motion(&self, q: &[f64], y: &[f64], out: &mut JointMotion);
    /// The same from the pose alone, always: the oracle of the conformance test.
    fn derived_motion(&self, q: &[f64], y: &[f64], out: &mut JointMotion);
    /// The rows it imposes.
    fn rows(&self, frames: &Frames) -> Vec<Primitive>;
    /// Factors of a row that ties its coordinates together.
    fn coupling(&self) -> Option<&[f64]>;
}

impl<J: Joint> JointFace for J {
    fn kind(&self) -> &'static str {
        J::KIND
    }

    fn coordinates(&self) -> &'static [Coordinate] {
        self.readings()
    }

    fn pose_numbers(&self) -> usize {
        Joint::coordinates(self)
    }

    fn pose(&self, q: &[f64]) -> Pose<f64> {
        Joint::pose(self, q)
    }

    fn number(&self, i: usize) -> usize {
        Joint::number(self, i)
    }

    fn quaternion(&self) -> Option<usize> {
        J::QUATERNION
    }

    fn motion(&self, q: &[f64], y: &[f64], out: &mut JointMotion) {
        Joint::motion(self, q, y, out);
    }

    fn derived_motion(&self, q: &[f64], y: &[f64], out: &mut JointMotion) {
        motion::derive(self, q, y, out);
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        Joint::rows(self, frames)
    }

    fn coupling(&self) -> Option<&[f64]> {
        Joint::coupling(self)
    }
}

/// A joint that holds a point mass. A point mass has no orientation, so that no coordinate is measured against it.
pub struct PointJoint(pub Arc<dyn JointFace>);

impl JointFace for PointJoint {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn coordinates(&self) -> &'static [Coordinate] {
        &[]
    }

    fn pose_numbers(&self) -> usize {
        self.0.pose_numbers()
    }

    fn pose(&self, q: &[f64]) -> Pose<f64> {
        self.0.pose(q)
    }

    fn number(&self, i: usize) -> usize {
        self.0.number(i)
    }

    fn quaternion(&self) -> Option<usize> {
        None
    }

    fn motion(&self, q: &[f64], y: &[f64], out: &mut JointMotion) {
        self.0.motion(q, y, out);
    }

    fn derived_motion(&self, q: &[f64], y: &[f64], out: &mut JointMotion) {
        self.0.derived_motion(q, y, out);
    }

    fn rows(&self, frames: &Frames) -> Vec<Primitive> {
        self.0.rows(frames)
    }

    fn coupling(&self) -> Option<&[f64]> {
        None
    }
}
