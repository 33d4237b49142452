//! Contact: where surfaces touch, and what they do to each other there.
//!
//! An entry of `[contacts]` is a list of pairs of surfaces, or a gap given by an expression, with a law for the normal force
//! ([`laws`]) and one for friction ([`friction`]). At every point where two surfaces overlap by δ > 0 the first is pushed along
//! the normal n with N(δ, δ̇) ≥ 0 and held back across it; the second gets the opposite, at the same point, so that momentum is
//! kept. What a law must remember of a point, the speed at which it closed and the stretch of its bristle, is memory of the
//! mechanism that changes only where a step is accepted (`memory`).
//!
//! Cost: the laws are nothing beside finding the points; see [`broad`] for which pairs are checked, where there are more than a few.

pub(crate) mod bristle;
pub mod broad;
pub(crate) mod candidates;
pub(crate) mod contact_point;
pub mod files;
pub mod friction;
pub(crate) mod gap;
pub mod geometry;
pub mod laws;
pub(crate) mod memory;
pub(crate) mod pair;
pub(crate) mod read;
pub mod rigid;
pub mod surface;
pub mod sweep;
pub(crate) mod tangent;
pub(crate) mod touching;
pub(crate) mod wire;

pub use read::{FRICTION_KEYS, KEYS, KIND, LAW_KEYS};
pub use touching::TouchingPoint;
pub use wire::{Halfway, SLACK};

use crate::constraints::expression::ExpressionConstraint;
use crate::shapes::Shape;
use crate::system::System;
use friction::FrictionLaw;
use laws::NormalForceLaw;
use sarrus_model::materials::Material;
use std::sync::Arc;
use surface::Surface;

/// A point: the number of its entry, those of its two surfaces, and which of their points.
pub type PointKey = (u32, u32, u32, u32);

/// A surface of a body that contacts may name.
#[derive(Clone, Debug)]
pub struct Touchable {
    /// Its name on the body.
    pub name: Option<String>,
    /// Marks where it is, from the body's centre of mass.
    pub surface: Surface,
    /// Holds what it is made of: Young's modulus, Poisson's ratio, restitution and friction, where they are known.
    pub material: Option<Arc<Material>>,
}

/// Returns what of some shapes can be touched, with points from the same origin as theirs.
pub fn touchable(shapes: &[Shape], material: Option<&Material>) -> Vec<Touchable> {
    let material = material.map(|m| Arc::new(m.clone()));
    let own = shapes.iter().filter_map(|shape| Some((shape.name.clone(), shape.surface([0.0; 3])?)));
    own.map(|(name, surface)| Touchable { name, surface, material: material.clone() }).collect()
}

/// A surface among all of the model.
#[derive(Clone, Debug)]
pub struct SurfaceEntry {
    /// The body that carries it.
    pub body: u32,
    /// Holds what it is.
    pub surface: Surface,
    /// Extent to which it gives way: (1 - ν²)/E \[1/Pa\]; 0 where its material is not known: it is rigid.
    pub compliance: f64,
    /// Extent to which it reaches from the body's centre of mass \[m\]; infinite where it has no end.
    pub far: f64,
}

/// An entry of `[contacts]`.
#[derive(Clone)]
pub struct Contact {
    /// Its name.
    pub name: String,
    /// Holds what touches.
    pub what: ContactSides,
    /// The normal force.
    pub law: NormalForceLaw,
    /// The force across it.
    pub friction: Option<FrictionLaw>,
    /// True if forces act at the centre of the rounding of a surface, not on it.
    pub at_centre: bool,
    /// Set where it is rigid: laws are of no account then.
    pub rigid: Option<rigid::Rigid>,
}

impl Contact {
    /// Returns whether what it does depends on what was.
    pub(crate) fn remembers(&self) -> bool {
        let bristles = self.friction.as_ref().is_some_and(FrictionLaw::remembers);
        bristles || self.law.jumps() || matches!(self.law.damping, laws::Damping::Restitution { .. })
    }
}

/// Holds what touches.
#[derive(Clone)]
pub enum ContactSides {
    /// Surfaces, by their numbers: one of each side.
    Surfaces {
        /// The two sides; equal ones are all against all.
        sides: [Vec<u32>; 2],
        /// Bodies whose surfaces do not touch each other, the smaller number first; sorted.
        apart: Vec<[u32; 2]>,
    },
    /// A gap of positions, and its bodies.
    Gap {
        /// Its bodies.
        ids: Vec<u32>,
        /// The gap as a row: its gradient is the row's Jacobian.
        rows: Arc<ExpressionConstraint>,
    },
}

/// A contact with its index in the system.
#[derive(Clone)]
pub struct ContactElement {
    /// Holds what it is.
    pub contact: Arc<Contact>,
    /// True if it acts.
    pub enabled: bool,
    /// First of its states in x: energy dissipated along the normal and across it \[J\].
    pub x: usize,
    /// Pairs of surfaces whose points have states of their own, with the first of those in x; in ascending order.
    pub states: Arc<Vec<([u32; 2], usize)>>,
    /// Number of such states.
    pub count: usize,
}

impl ContactElement {
    /// Returns whether each pair of its bodies has blocks of its own in K and D, or only each body.
    pub fn has_all_blocks(&self, system: &System) -> bool {
        match &self.contact.what {
            ContactSides::Surfaces { sides, .. } => {
                let [a, b] = candidates::moving(system, sides);
                a.len().saturating_mul(b.len()) <= tangent::MOST_PAIRS
            }
            ContactSides::Gap { .. } => true,
        }
    }

    /// The first of three states of a point, world axes.
    pub(crate) fn state_of(&self, pair: [u32; 2], slot: u32) -> Option<usize> {
        let i = self.states.binary_search_by_key(&pair, |(pair, _)| *pair).ok()?;
        Some(self.states[i].1 + 3 * slot as usize)
    }
}

impl ContactElement {
    /// Returns whether it acts by a force of its overlap.
    pub fn yields(&self) -> bool {
        self.enabled && self.contact.rigid.is_none()
    }
}

/// States in x that a contact has of its own.
pub const ENERGY_STATES: usize = 2;

/// Holds what an entry of `[contacts]` did in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntryTally {
    /// Number of times that a point closed.
    pub onsets: u64,
    /// Time when one closed first \[s\].
    pub first: Option<f64>,
    /// The largest normal force at an accepted step, all points together \[N\].
    pub largest_force: f64,
    /// The deepest overlap at an accepted step \[m\].
    pub deepest: f64,
    /// Time during which a point was closed \[s\].
    pub time: f64,
    /// The fastest speed at which a point closed \[m/s\].
    pub fastest: f64,
    /// Points that were closed, summed over the accepted steps.
    pub touches: u64,
    /// The deepest overlap at the last accepted step \[m\].
    pub depth: f64,
}
