//! Pairs of surfaces, and the bodies that they are on.

use super::candidates::CandidatePair;
use super::contact_point::{Act, BodyPair, act};
use super::memory::{ContactPointKey, Memory};
use super::surface::{Touch, touches};
use super::{Contact, ContactElement, SurfaceEntry};
use crate::at::At;
use crate::load::Wrench;
use crate::system::System;
use sarrus_math::{Pose, Twist};
use sarrus_model::Space;

/// The bodies of a mechanism at an instant.
#[derive(Clone, Copy)]
pub(crate) struct BodyKinematics<'a> {
    pub system: &'a System,
    pub t: f64,
    pub x: &'a [f64],
    pub poses: &'a [Pose<f64>],
    pub twists: &'a [Twist<f64>],
    pub discrete: &'a [f64],
    pub outs: &'a [f64],
}

impl<'a> BodyKinematics<'a> {
    pub fn at(&self, ids: &'a [u32]) -> At<'a, f64> {
        At {
            t: self.t,
            poses: self.poses,
            twists: self.twists,
            ids,
            discrete: self.discrete,
            outs: self.outs,
        }
    }

    pub fn two(&self, ids: [u32; 2]) -> BodyPair<'a, f64> {
        let [a, b] = ids.map(|id| id as usize);
        BodyPair {
            poses: [&self.poses[a], &self.poses[b]],
            twists: [&self.twists[a], &self.twists[b]],
            mass: reduced_mass(self.system, ids),
            t: self.t,
        }
    }

    /// Adds what acts on a body to the forces `f` of all.
    pub fn add_wrench(&self, id: u32, wrench: &Wrench<f64>, f: &mut [f64]) {
        let body = &self.system.directory.bodies[id as usize];
        wrench.add_to(body.kind, &self.poses[id as usize], &mut f[body.v..body.v + body.kind.nv()]);
    }
}

/// 1/(1/m₁ + 1/m₂), with the ground without end.
pub(crate) fn reduced_mass(system: &System, ids: [u32; 2]) -> f64 {
    let inverse = |id: u32| if id == 0 { 0.0 } else { 1.0 / system.directory.bodies[id as usize].mass };
    1.0 / ids.map(inverse).iter().sum::<f64>()
}

/// A pair of surfaces with what its points need.
pub(crate) struct ContactPair<'a> {
    pub entry: &'a ContactElement,
    pub number: u32,
    pub surfaces: [u32; 2],
    pub own: [&'a SurfaceEntry; 2],
}

impl<'a> ContactPair<'a> {
    pub fn new(system: &'a System, [number, a, b]: CandidatePair) -> ContactPair<'a> {
        let own = [a, b].map(|i| &system.surfaces[i as usize]);
        ContactPair { entry: &system.contacts[number as usize], number, surfaces: [a, b], own }
    }

    pub fn contact(&self) -> &'a Contact {
        &self.entry.contact
    }

    pub fn has_bristles(&self) -> bool {
        self.contact().friction.is_some_and(|friction| friction.remembers())
    }

    pub fn ids(&self) -> [u32; 2] {
        self.own.map(|s| s.body)
    }

    pub fn key(&self, slot: u32) -> ContactPointKey {
        (self.number, self.surfaces[0], self.surfaces[1], slot)
    }

    /// K at a point.
    pub fn stiffness(&self, radius: f64) -> f64 {
        self.contact().law.stiffness.unwrap_or_else(|| {
            let compliance: f64 = self.own.iter().map(|s| s.compliance).sum();
            4.0 / 3.0 / compliance * radius.sqrt()
        })
    }

    pub fn rounding(&self) -> [f64; 2] {
        self.own.map(|s| super::surface::rounding(&s.surface.geometry))
    }

    /// Returns whether balls about the centres of mass that hold the surfaces are nearer than `reach`.
    pub fn is_near(&self, bodies: &BodyKinematics, reach: f64) -> bool {
        let [a, b] = self.ids().map(|id| &bodies.poses[id as usize]);
        let far = self.own[0].far + self.own[1].far + reach;
        // not if it is no number
        !((a.p - b.p).norm_squared() > far * far)
    }

    /// Points nearer than `reach`.
    pub fn touches(&self, bodies: &BodyKinematics, reach: f64, found: &mut impl FnMut(Touch<f64>)) {
        if !self.is_near(bodies, reach) {
            return;
        }
        let [a, b] = self.ids().map(|id| &bodies.poses[id as usize]);
        let planar = bodies.system.directory.space == Space::Planar;
        touches(&self.own[0].surface, &self.own[1].surface, [a, b], reach, planar, found);
    }

    /// A memory with the stretch that is a state, where a point has one.
    pub fn with_state(&self, bodies: &BodyKinematics, slot: u32, memory: Memory) -> Memory {
        match self.entry.state_of(self.surfaces, slot) {
            Some(x) => Memory { stretch: [0, 1, 2].map(|k| bodies.x[x + k]), ..memory },
            None => memory,
        }
    }

    /// Returns what a point that overlaps does.
    pub fn act(&self, bodies: &BodyKinematics, touch: &Touch<f64>, memory: &Memory) -> Act<f64> {
        let (two, memory) = (bodies.two(self.ids()), self.with_state(bodies, touch.slot, *memory));
        act(self.contact(), self.stiffness(touch.radius), self.rounding(), touch, &two, &memory)
    }
}
