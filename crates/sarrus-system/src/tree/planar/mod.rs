//! Trees in the plane, with recursions of their own: every body in the plane, every joint a pin, a slider or a weld.
//!
//! A link is described at the point O where its joint sits on it, not at its centre of mass C. With R(θ) of a link, θ_p, ω_p and
//! O_p of its parent, h from O_p to the joint in the parent's axes, e the way of a slider there, c = C - O and σ = ±1 for the sense
//! in which a pin counts:
//!
//! | | pin | slider |
//! |---|---|---|
//! | θ, ω | θ_p + a + σ q, ω_p + σ y | θ_p + a, ω_p |
//! | r = O - O_p | R_p h | R_p (h + e q) |
//! | bias β of the acceleration of O | -ω_p² r | -ω_p² r + 2 ω_p e⊥ y |
//!
//! with (x, y)⊥ = (-y, x). The accelerations of a tree need θ and ω of its links alone (`aba.rs`): where the bodies are and how
//! fast is found where someone asks for it ([`Planar::write`]).
//!
//! Links stand one after the other, parents first, behind the ground; the coordinate of a link and its speed have the same place.
//! A pass reads some 250 bytes of a link. No pass calls itself or allocates.

mod aba;

use super::graph::{InboardJoint, Link};
use crate::body::BodyKind;
use crate::system::System;
use sarrus_math::lane::sin_cos_all;
use sarrus_solve::State;

/// Describes how a link moves against its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanarSubspace {
    /// It rotates about O.
    Pin,
    /// It slides along e.
    Slider,
    /// It does not.
    Weld,
    /// It has x, y and an angle of its own, against the ground.
    Free,
    /// It is a point, and has x and y.
    Point,
}

/// Holds what of a link never changes.
#[derive(Clone, Copy)]
struct PlanarLinkData {
    /// Place of the parent, which is before this one's.
    parent: u32,
    /// First of its coordinates, and of its speeds.
    first: u32,
    /// First of its body's positions and velocities in the state of all bodies.
    body: (u32, u32),
    subspace: PlanarSubspace,
    /// σ.
    sense: f64,
    /// a: its axes against the parent's at q = 0 \[rad\].
    angle: f64,
    /// h, parent's axes \[m\].
    h: [f64; 2],
    /// e, parent's axes.
    e: [f64; 2],
    /// c, own axes \[m\].
    c: [f64; 2],
    mass: f64,
    /// The mass that gravity acts on.
    gravitational_mass: f64,
    /// Moment of inertia about O \[kg m²\].
    J: f64,
}

/// A link where it is.
#[derive(Clone, Copy)]
struct PlanarLinkState {
    angle: f64,
    sin: f64,
    cos: f64,
    /// ω.
    w: f64,
    /// r, world axes.
    r: [f64; 2],
    /// β.
    bias: [f64; 2],
}

impl PlanarLinkState {
    const GROUND: PlanarLinkState =
        PlanarLinkState { angle: 0.0, sin: 0.0, cos: 1.0, w: 0.0, r: [0.0; 2], bias: [0.0; 2] };

    /// A vector of its axes, in world axes.
    #[inline(always)]
    fn rotated(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.cos * x - self.sin * y, self.sin * x + self.cos * y]
    }
}

/// A tree in the plane with the workspace for its recursions; the ground is its first link.
pub(super) struct PlanarTree {
    own: Vec<PlanarLinkData>,
    states: Vec<PlanarLinkState>,
    /// θ of all links, their sines and cosines: found eight at a time.
    angles: [Vec<f64>; 3],
    /// Answers of a link and all beyond it to accelerations.
    answers: Vec<aba::PlanarArticulatedInertia>,
    /// Accelerations of O, linear and angular.
    rates: Vec<[f64; 3]>,
    /// O and its velocity, where bodies are written.
    origins: Vec<[f64; 4]>,
    gravity: [f64; 2],
    /// True if bodies have no inertia that is not their own.
    is_plain: bool,
}

impl PlanarTree {
    /// The tree of `links`, if it is in the plane and has no other joints than those.
    pub fn new(system: &System, links: &[Link]) -> Option<PlanarTree> {
        let ground = PlanarLinkData {
            parent: 0,
            first: 0,
            body: (0, 0),
            subspace: PlanarSubspace::Weld,
            sense: 1.0,
            angle: 0.0,
            h: [0.0; 2],
            e: [0.0; 2],
            c: [0.0; 2],
            mass: 0.0,
            gravitational_mass: 0.0,
            J: 0.0,
        };
        let mut own = vec![ground];
        for link in links {
            let body = &system.directory.bodies[link.body];
            let parent = link.parent.map_or(0, |parent| parent + 1);
            let mut new = PlanarLinkData {
                parent: u32::try_from(parent).ok()?,
                first: u32::try_from(link.q).ok()?,
                body: (u32::try_from(body.q).ok()?, u32::try_from(body.v).ok()?),
                mass: body.mass,
                gravitational_mass: body.gravitational_mass(),
                J: body.inertia.0[2][2],
                ..ground
            };
            new.subspace = match (&link.hinge, body.kind) {
                (InboardJoint::Free, BodyKind::PlanarPoint) => PlanarSubspace::Point,
                (InboardJoint::Free, BodyKind::PlanarRigid) => PlanarSubspace::Free,
                (InboardJoint::Joint(on), BodyKind::PlanarRigid) => {
                    let (near, far) = match on.reversed {
                        true => (&on.frames.M, &on.frames.F),
                        false => (&on.frames.F, &on.frames.M),
                    };
                    let c = own[parent].c;
                    let sense = if on.reversed { -1.0 } else { 1.0 };
                    new.angle = near.angle - far.angle;
                    new.h = [c[0] + near.p[0], c[1] + near.p[1]];
                    new.c = [-far.p[0], -far.p[1]];
                    new.J += body.mass * (new.c[0] * new.c[0] + new.c[1] * new.c[1]);
                    match on.face.kind() {
                        "revolute" => {
                            // z of F points away where the pin counts against it
                            new.sense = sense * near.rot.0[2][2];
                            PlanarSubspace::Pin
                        }
                        "prismatic" => {
                            new.e = [sense * near.rot.0[0][0], sense * near.rot.0[1][0]];
                            PlanarSubspace::Slider
                        }
                        "fixed" => PlanarSubspace::Weld,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            own.push(new);
        }
        let n = own.len();
        let directory = &system.directory;
        Some(PlanarTree {
            states: vec![PlanarLinkState::GROUND; n],
            angles: [(); 3].map(|()| vec![0.0; n]),
            answers: vec![aba::PlanarArticulatedInertia::NONE; n],
            rates: vec![[0.0; 3]; n],
            origins: vec![[0.0; 4]; n],
            gravity: [system.gravity[0], system.gravity[1]],
            is_plain: directory.floating.is_empty() && directory.added.is_empty(),
            own,
        })
    }

    /// Returns whether gravity and the links' own inertia are all that moves it where nothing else acts.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// θ, ω, r and β of all links at coordinates `q` and speeds `y`.
    pub fn update_kinematics(&mut self, q: &[f64], y: &[f64]) {
        self.update_angles(q);
        let mut last = PlanarLinkState::GROUND;
        for (i, own) in self.own.iter().enumerate().skip(1) {
            let parent = if own.parent as usize + 1 == i { last } else { self.states[own.parent as usize] };
            last = link_kinematics(own, &parent, q, y, self.angles.each_ref().map(|a| a[i]));
            self.states[i] = last;
        }
    }

    /// θ of all links at coordinates `q`, with sine and cosine.
    fn update_angles(&mut self, q: &[f64]) {
        let [angles, sin, cos] = &mut self.angles;
        let mut last = 0.0;
        for (i, own) in self.own.iter().enumerate().skip(1) {
            let parent = if own.parent as usize + 1 == i { last } else { angles[own.parent as usize] };
            last = match own.subspace {
                PlanarSubspace::Pin => parent + own.angle + own.sense * q[own.first as usize],
                PlanarSubspace::Free => q[own.first as usize + 2],
                PlanarSubspace::Slider | PlanarSubspace::Weld | PlanarSubspace::Point => parent + own.angle,
            };
            angles[i] = last;
        }
        sin_cos_all(angles, sin, cos);
    }

    /// Writes the state of all bodies, where the links were evaluated at `q` and `y`, into `out`.
    pub fn write(&mut self, q: &[f64], y: &[f64], out: &mut State) {
        let mut last = [0.0; 4];
        let n = self.own.len();
        for i in 1..n {
            let (own, at) = (&self.own[i], &self.states[i]);
            let parent = own.parent as usize;
            let from = if parent + 1 == i { last } else { self.origins[parent] };
            let k = own.first as usize;
            let w_p = self.states[parent].w;
            last = [from[0] + at.r[0], from[1] + at.r[1], from[2] - w_p * at.r[1], from[3] + w_p * at.r[0]];
            match own.subspace {
                PlanarSubspace::Pin | PlanarSubspace::Weld => {}
                PlanarSubspace::Slider => {
                    let e = self.states[parent].rotated(own.e);
                    last[2] += e[0] * y[k];
                    last[3] += e[1] * y[k];
                }
                PlanarSubspace::Free | PlanarSubspace::Point => last = [q[k], q[k + 1], y[k], y[k + 1]],
            }
            self.origins[i] = last;
            let c = at.rotated(own.c);
            let (q, v) = (&mut out.q[own.body.0 as usize..], &mut out.v[own.body.1 as usize..]);
            (q[0], q[1]) = (last[0] + c[0], last[1] + c[1]);
            (v[0], v[1]) = (last[2] - at.w * c[1], last[3] + at.w * c[0]);
            if own.subspace != PlanarSubspace::Point {
                (q[2], v[2]) = (at.angle, at.w);
            }
        }
    }

    /// ẏ of the bodies' accelerations `vdot`, where the links were evaluated at speeds `y`: those of least squares, as in `read.rs`.
    pub fn speed_rates(&mut self, vdot: &[f64], ydot: &mut [f64]) {
        for i in 1..self.own.len() {
            let (own, at) = (&self.own[i], &self.states[i]);
            let (k, v) = (own.first as usize, own.body.1 as usize);
            if own.subspace == PlanarSubspace::Point {
                ydot[k..k + 2].copy_from_slice(&vdot[v..v + 2]);
                continue;
            }
            // of O, from that of C
            let (c, alpha) = (at.rotated(own.c), vdot[v + 2]);
            let a = [
                vdot[v] + alpha * c[1] + at.w * at.w * c[0],
                vdot[v + 1] - alpha * c[0] + at.w * at.w * c[1],
            ];
            self.rates[i] = [a[0], a[1], alpha];
            let parent = &self.rates[own.parent as usize];
            match own.subspace {
                PlanarSubspace::Pin => ydot[k] = own.sense * (alpha - parent[2]),
                PlanarSubspace::Slider => {
                    let e = self.states[own.parent as usize].rotated(own.e);
                    let rest = [
                        a[0] - parent[0] + parent[2] * at.r[1] - at.bias[0],
                        a[1] - parent[1] - parent[2] * at.r[0] - at.bias[1],
                    ];
                    ydot[k] = e[0] * rest[0] + e[1] * rest[1];
                }
                PlanarSubspace::Free => ydot[k..k + 3].copy_from_slice(&[a[0], a[1], alpha]),
                PlanarSubspace::Weld | PlanarSubspace::Point => {}
            }
        }
        self.rates[0] = [0.0; 3];
    }
}

/// A link at its coordinates among `q` and its speeds among `y`; its angle, with sine and cosine, is known.
#[inline(always)]
fn link_kinematics(
    own: &PlanarLinkData,
    parent: &PlanarLinkState,
    q: &[f64],
    y: &[f64],
    [angle, sin, cos]: [f64; 3],
) -> PlanarLinkState {
    let k = own.first as usize;
    let w2 = parent.w * parent.w;
    let (mut w, mut h, mut bias) = (parent.w, own.h, [0.0; 2]);
    match own.subspace {
        PlanarSubspace::Pin => w += own.sense * y[k],
        PlanarSubspace::Slider => {
            h = [h[0] + own.e[0] * q[k], h[1] + own.e[1] * q[k]];
            let (e, twice) = (parent.rotated(own.e), 2.0 * parent.w * y[k]);
            bias = [-e[1] * twice, e[0] * twice];
        }
        PlanarSubspace::Weld => {}
        PlanarSubspace::Free => w = y[k + 2],
        PlanarSubspace::Point => {}
    }
    let r = parent.rotated(h);
    PlanarLinkState { angle, sin, cos, w, r, bias: [bias[0] - w2 * r[0], bias[1] - w2 * r[1]] }
}
