//! Bodies as the equations see them.

use crate::contact::Touchable;
use sarrus_math::{Mat3, euler_to_quat, quat_to_euler};

/// Holds what coordinates a body has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// None: the world.
    Ground,
    /// Position and unit quaternion; v = (ṗ, ω in body axes).
    Rigid,
    /// Position and Euler angles zxz, for `run.rotation = "euler_zxz"`; v as of [`Rigid`](BodyKind::Rigid).
    RigidEuler,
    /// x, y, angle.
    PlanarRigid,
    /// x, y, z.
    Point,
    /// x, y.
    PlanarPoint,
}

impl BodyKind {
    /// Position coordinates.
    pub fn nq(self) -> usize {
        match self {
            BodyKind::Ground => 0,
            BodyKind::Rigid => 7,
            BodyKind::RigidEuler => 6,
            BodyKind::PlanarRigid | BodyKind::Point => 3,
            BodyKind::PlanarPoint => 2,
        }
    }

    /// Velocity coordinates.
    pub fn nv(self) -> usize {
        match self {
            BodyKind::Rigid => 6,
            other => other.nq(),
        }
    }

    /// Returns whether it turns.
    pub fn rotates(self) -> bool {
        self.rotates_in_space() || self == BodyKind::PlanarRigid
    }

    /// Returns whether it rotates about three axes: v = (ṗ, ω in body axes).
    pub fn rotates_in_space(self) -> bool {
        matches!(self, BodyKind::Rigid | BodyKind::RigidEuler)
    }
}

/// A body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its coordinates.
    pub kind: BodyKind,
    /// Mass \[kg\].
    pub mass: f64,
    /// Inertia about the centre of mass in body axes \[kg m²\]; a planar body uses only the zz entry.
    pub inertia: Mat3<f64>,
    /// Centre of mass from the body's origin, body axes \[m\].
    pub com: [f64; 3],
    /// First of its positions in q.
    pub q: usize,
    /// First of its velocities in v.
    pub v: usize,
    /// Model pose: the centre of mass \[m\], quaternion, planar angle \[rad\].
    pub start: ([f64; 3], [f64; 4], f64),
    /// Named points, from the body's origin \[m\].
    pub markers: Vec<(String, [f64; 3])>,
    /// Of a point inside a flexible member that carries mass and is no body of the model: the bodies it is between.
    pub between: Option<[u32; 2]>,
    /// True if it is part of a modal body, whose inertia is no sum over its parts; mass and inertia are then those in its model pose.
    pub shares: bool,
    /// True if it is the rotor of a joint's armature: its mass is the inertia of a coordinate, and nowhere in space.
    pub rotor: bool,
    /// Holds what of it can be touched, in a model with contacts.
    pub surfaces: Vec<Touchable>,
}

impl Body {
    /// Returns whether it is no body of the model: it counts in energies and momenta and shows nowhere.
    pub fn is_internal(&self) -> bool {
        self.between.is_some()
    }

    /// The mass that gravity acts on \[kg\].
    pub fn gravitational_mass(&self) -> f64 {
        if self.rotor { 0.0 } else { self.mass }
    }

    /// Returns how it is turned, as a unit quaternion, from its positions in `q`. The identity where it has none in space.
    #[inline]
    pub fn quaternion(&self, q: &[f64]) -> [f64; 4] {
        let q = &q[self.q..];
        match self.kind {
            BodyKind::Rigid => [q[3], q[4], q[5], q[6]],
            BodyKind::RigidEuler => euler_to_quat([q[3], q[4], q[5]]),
            _ => [1.0, 0.0, 0.0, 0.0],
        }
    }

    /// Returns what makes [`quaternion`](Body::quaternion) that of the model pose in it, and continuous from there: angles leave the sign open.
    pub fn sign(&self) -> f64 {
        if self.kind != BodyKind::RigidEuler {
            return 1.0;
        }
        let start = self.start.1;
        let angles = euler_to_quat(quat_to_euler(&start, [0.0; 3]));
        angles.iter().zip(&start).map(|(a, b)| a * b).sum::<f64>().signum()
    }

    /// A point given from the body's origin, from its centre of mass.
    pub fn from_com(&self, p: [f64; 3]) -> [f64; 3] {
        [p[0] - self.com[0], p[1] - self.com[1], p[2] - self.com[2]]
    }
}
