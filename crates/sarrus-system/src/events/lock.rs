//! Locks: rows that hold a joint where it is.
//!
//! A coordinate is held by Φ = coordinate - value, turns counted as the joint counts them. A ball joint, which has no
//! coordinates that a number says, is held by x_F'·y_M, z_F'·x_M, z_F'·y_M = 0, where F' is the frame on the first body
//! that coincides with M at the moment.

use crate::at::At;
use crate::constraints::coupler::Coupler;
use crate::names::Directory;
use crate::primitive::{Compound, Primitive};
use crate::system::{ConstraintElement, Family};
use std::sync::Arc;

/// Holds what is locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lock {
    /// Index of the joint.
    pub joint: usize,
    /// The coordinate among the joint's; none: the orientation of a ball joint.
    pub coordinate: Option<usize>,
    /// The value at which it is held; none: that of the moment \[m, rad\].
    pub at: Option<f64>,
}

impl Lock {
    /// Everything that must be locked for a joint to stand still. Nothing for a weld.
    pub fn all(directory: &Directory, joint: usize) -> Vec<Lock> {
        let face = &directory.joints[joint].face;
        if face.quaternion().is_some() {
            return vec![Lock { joint, coordinate: None, at: None }];
        }
        // coordinates that a thread ties together stand still together
        let free = if face.coupling().is_some() { 1 } else { face.coordinates().len() };
        (0..free).map(|k| Lock { joint, coordinate: Some(k), at: None }).collect()
    }

    /// Returns whether the two hold the same thing.
    pub fn is_same(&self, other: &Lock) -> bool {
        (self.joint, self.coordinate) == (other.joint, other.coordinate)
    }

    /// The value of the coordinate, where it has one; `at` sees all bodies by their own numbers.
    pub fn value(&self, directory: &Directory, at: &At<f64>) -> Option<f64> {
        let joint = &directory.joints[self.joint];
        let [a, b] = joint.bodies.map(|body| body as usize);
        self.coordinate.map(|k| joint.coordinate(k, a, b).value(at))
    }

    /// The rows, at the value asked for or that of the instant `at`, which sees all bodies by their own numbers.
    pub fn rows(&self, directory: &Directory, at: &At<f64>) -> ConstraintElement {
        let joint = &directory.joints[self.joint];
        let (name, ids) = (joint.name.clone(), joint.bodies.to_vec());
        match (self.coordinate, self.value(directory, at)) {
            (Some(k), Some(value)) => {
                let terms = vec![(1.0, joint.coordinate(k, 0, 1))];
                let row = Coupler { terms, value: self.at.unwrap_or(value), unit: "", own_discrete: vec![] };
                ConstraintElement::new(name, Family::Lock, ids, Arc::new(row))
            }
            _ => {
                let [A, B] = joint.bodies.map(|body| &at.poses[body as usize].rot);
                let frame = A.transpose() * (*B * joint.frames.M.rot);
                let row = |i: usize, j: usize| Primitive::Perpendicular {
                    a_A: frame.col(i).0,
                    b_B: joint.frames.M.axis(j),
                };
                let rows = Compound(vec![row(2, 0), row(2, 1), row(0, 1)]);
                ConstraintElement::new(name, Family::Lock, ids, Arc::new(rows))
            }
        }
    }
}
