//! Trees in space of plain joints, with recursions of their own: every joint a pin, a slider, a ball or a weld.
//!
//! A link is described at the point O where its joint sits on it, in world axes: nothing is turned on the way from link to link, and
//! a pin or a ball has no lever about O. Its own axes R are those of its joint's frame. With R_p, ω_p and O_p of its parent, X the
//! joint's axes in the parent's, h from O_p to the joint and c = C - O to its centre of mass:
//!
//! | | pin about z | slider along z | ball |
//! |---|---|---|---|
//! | R | R_p X R_z(σ q) | R_p X | R_p X R(q) |
//! | ω_rel = ω - ω_p | s y | 0 | R y |
//! | r = O - O_p | R_p h | R_p h + s q | R_p h |
//!
//! s = σ z is the joint's axis, σ = -1 where the parent is the joint's second body; a ball then has R_p X R(q)ᵀ and -R_p X y. The
//! accelerations (a, α) of O are (a_p + α_p × r + β_v, α_p + β_w) and what ẏ adds, β_w = ω_p × ω_rel, β_v = ω_p × (ω_p × r) and 2 ω_p ×
//! s y of a slider.
//!
//! | what | file |
//! |---|---|
//! | ẏ from forces | `aba.rs` |
//! | generalized forces, bias | `rnea.rs` |
//! | mass matrix | `crba.rs` |
//!
//! Links stand one after the other, parents first, behind the ground. No pass calls itself or allocates. Trees with other joints go the
//! general path.

mod aba;
mod crba;
mod rnea;
mod symmetric;

use super::graph::{InboardJoint, Link};
use crate::body::BodyKind;
use crate::system::System;
use sarrus_math::{Mat3, Vec3};
use symmetric::SymmetricMat3;

/// Describes how a link moves against its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subspace {
    /// It rotates about s.
    Pin,
    /// It slides along s.
    Slider,
    /// It does not.
    Weld,
    /// It rotates about O.
    Ball,
    /// It has a position and a quaternion of its own, against the ground.
    Free,
    /// It is a point, and has a position.
    Point,
}

/// Holds what of a link never changes.
#[derive(Clone, Copy)]
struct LinkData {
    /// Place of the parent, which is before this one's.
    parent: u32,
    /// First of its coordinates and of its speeds.
    q: u32,
    y: u32,
    /// First of its body's velocities in those of all bodies.
    v: u32,
    subspace: Subspace,
    /// True if a link hangs on it that does not stand behind it.
    subtrees: bool,
    /// True if it is the last such link of its parent, which is the first to be met on the way inwards.
    begins: bool,
    /// σ.
    sense: f64,
    /// X.
    X: Mat3,
    /// h, parent's axes \[m\].
    h: Vec3,
    /// c, own axes \[m\].
    c: Vec3,
    mass: f64,
    /// The mass that gravity acts on.
    gravitational_mass: f64,
    /// Inertia about O, own axes \[kg m²\].
    J: SymmetricMat3,
    /// The body's axes, in own axes.
    axes: Mat3,
}

/// A link where it is, in world axes.
#[derive(Clone, Copy)]
struct PlainLinkState {
    R: Mat3,
    w: Vec3,
    r: Vec3,
    /// s of a pin or a slider, ω_rel of a ball.
    s: Vec3,
    /// β.
    bias_v: Vec3,
    bias_w: Vec3,
}

impl PlainLinkState {
    const GROUND: PlainLinkState = PlainLinkState {
        R: Mat3([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        w: Vec3([0.0; 3]),
        r: Vec3([0.0; 3]),
        s: Vec3([0.0; 3]),
        bias_v: Vec3([0.0; 3]),
        bias_w: Vec3([0.0; 3]),
    };
}

/// A tree with the workspace for its recursions; the ground is its first link.
pub(super) struct PlainTree {
    own: Vec<LinkData>,
    states: Vec<PlainLinkState>,
    /// Answers of a link and all beyond it to accelerations.
    answers: Vec<aba::ArticulatedInertia>,
    /// Accelerations of O, linear and angular.
    rates: Vec<[Vec3; 2]>,
    /// Forces and torques about O.
    forces: Vec<[Vec3; 2]>,
    composites: Vec<crba::Composite>,
    gravity: Vec3,
    /// True if bodies have no inertia that is not their own.
    is_plain: bool,
}

impl PlainTree {
    /// The tree of `links`, if it is in space and has no other joints than those.
    pub fn new(system: &System, links: &[Link]) -> Option<PlainTree> {
        let zero = Vec3([0.0; 3]);
        let one = PlainLinkState::GROUND.R;
        let ground = LinkData {
            parent: 0,
            q: 0,
            y: 0,
            v: 0,
            subspace: Subspace::Weld,
            subtrees: false,
            begins: false,
            sense: 1.0,
            X: one,
            h: zero,
            c: zero,
            mass: 0.0,
            gravitational_mass: 0.0,
            J: SymmetricMat3::ZERO,
            axes: one,
        };
        let mut own = vec![ground];
        for link in links {
            let body = &system.directory.bodies[link.body];
            let parent = link.parent.map_or(0, |parent| parent + 1);
            let mut new = LinkData {
                parent: u32::try_from(parent).ok()?,
                q: u32::try_from(link.q).ok()?,
                y: u32::try_from(link.y).ok()?,
                v: u32::try_from(body.v).ok()?,
                mass: body.mass,
                gravitational_mass: body.gravitational_mass(),
                J: SymmetricMat3::from(&body.inertia),
                ..ground
            };
            new.subspace = match (&link.hinge, body.kind) {
                (InboardJoint::Free, BodyKind::Point) => Subspace::Point,
                (InboardJoint::Free, BodyKind::Rigid) => Subspace::Free,
                (InboardJoint::Joint(on), BodyKind::Rigid) => {
                    let (near, far) = match on.reversed {
                        true => (&on.frames.M, &on.frames.F),
                        false => (&on.frames.F, &on.frames.M),
                    };
                    let on_parent = &own[parent];
                    new.sense = if on.reversed { -1.0 } else { 1.0 };
                    new.axes = far.rot.transpose();
                    new.X = on_parent.axes * near.rot;
                    // from the parent's O over its centre of mass
                    new.h = on_parent.c + on_parent.axes * Vec3(near.p);
                    new.c = new.axes * Vec3(far.p.map(|x| -x));
                    new.J = new.J.rotated(&new.axes);
                    new.J.add(&SymmetricMat3::diagonal(body.mass * new.c.norm_squared()));
                    new.J.add_product(new.c.scale(-body.mass), new.c);
                    match on.face.kind() {
                        "revolute" => Subspace::Pin,
                        "prismatic" => Subspace::Slider,
                        "fixed" => Subspace::Weld,
                        "spherical" => Subspace::Ball,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            own.push(new);
        }
        let n = own.len();
        for i in (1..n).rev() {
            let parent = own[i].parent as usize;
            if parent + 1 != i {
                own[i].begins = !std::mem::replace(&mut own[parent].subtrees, true);
            }
        }
        let directory = &system.directory;
        Some(PlainTree {
            states: vec![PlainLinkState::GROUND; n],
            answers: vec![aba::ArticulatedInertia::NONE; n],
            rates: vec![[zero; 2]; n],
            forces: vec![[zero; 2]; n],
            composites: vec![crba::Composite::NONE; n],
            gravity: Vec3(system.gravity),
            is_plain: directory.floating.is_empty() && directory.added.is_empty(),
            own,
        })
    }

    /// Returns whether gravity and the links' own inertia are all that moves it where nothing else acts.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// All links at coordinates `q` and speeds `y`.
    pub fn update_kinematics(&mut self, q: &[f64], y: &[f64]) {
        for i in 1..self.own.len() {
            let own = &self.own[i];
            self.states[i] = link_kinematics(own, &self.states[own.parent as usize], q, y);
        }
    }
}

/// A link at its coordinates among `q` and its speeds among `y`.
#[inline(always)]
fn link_kinematics(own: &LinkData, parent: &PlainLinkState, q: &[f64], y: &[f64]) -> PlainLinkState {
    let (q, y) = (&q[own.q as usize..], &y[own.y as usize..]);
    let w_p = parent.w;
    let zero = Vec3([0.0; 3]);
    let mut r = parent.R * own.h;
    let N = parent.R * own.X;
    let (R, rotation, s, mut bias_v) = match own.subspace {
        Subspace::Pin => {
            let (sin, cos) = (own.sense * q[0]).sin_cos();
            let angle = |[x, y, z]: [f64; 3]| [cos * x + sin * y, cos * y - sin * x, z];
            let s = N.col(2).scale(own.sense);
            (Mat3(N.0.map(angle)), s.scale(y[0]), s, zero)
        }
        Subspace::Slider => {
            let s = N.col(2).scale(own.sense);
            r += s.scale(q[0]);
            (N, zero, s, w_p.cross(s.scale(2.0 * y[0])))
        }
        Subspace::Weld => (N, zero, zero, zero),
        Subspace::Ball => {
            let Q = Mat3::from_quat([q[0], q[1], q[2], q[3]]);
            let y = Vec3([y[0], y[1], y[2]]);
            let (R, rotation) = match own.sense > 0.0 {
                true => {
                    let R = N * Q;
                    (R, R * y)
                }
                false => (N * Q.transpose(), N * -y),
            };
            (R, rotation, rotation, zero)
        }
        Subspace::Free => {
            let R = Mat3::from_quat([q[3], q[4], q[5], q[6]]);
            (R, R * Vec3([y[3], y[4], y[5]]), zero, zero)
        }
        Subspace::Point => (N, zero, zero, zero),
    };
    bias_v += w_p.cross(w_p.cross(r));
    PlainLinkState { R, w: w_p + rotation, r, s, bias_v, bias_w: w_p.cross(rotation) }
}
