//! A mechanism as tables: bodies, rows and loads of closed kinds, evaluated and solved by straight loops over a [`Lane`].
//!
//! M v̇ + Jᵀλ = f, J v̇ = γ by S λ = J M⁻¹ f - γ, v̇ = M⁻¹(f - Jᵀλ), S = J M⁻¹ Jᵀ, as [`Kkt`](crate::Kkt) does, for full rank:
//! no row is left out and nothing is looked up. Whatever is not plain (a small pivot, a residual that stays, a number that is not
//! finite) is reported to the caller, who then takes the general path.
//!
//! One code serves single numbers and lanes of several variants of a model; every operation is the same in both, so that
//! results agree to the bit.
//!
//! Rows are taken in parts of three, in the plane of two where there are hinges only: the rows that a part lacks have J = 0 and a one on the diagonal of S, and
//! sizes are known when the loops are compiled. The ground is a body without an inverse mass, so that no loop asks for it.

mod advance;
mod block;
mod cache_blocks;
mod engine;
mod factor;
mod hinge;
mod jointed;
mod passes;
mod pattern;
mod planar;
mod project;
mod refine;
mod solve;
mod spatial;
mod subtrees;
mod threaded;

pub use advance::{Slope, SlopeWeights};
use block::DenseRows;
use engine::Engine;
pub use engine::Health;
use hinge::HingeRows;
use jointed::Jointed;
use pattern::EliminationPattern;
use planar::PlanarBodies;
use sarrus_math::lane::Lane;
use spatial::Spatial;
use std::sync::Arc;

/// A moving body.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyRecord {
    /// Mass \[kg\].
    pub mass: f64,
    /// Holds what gravity pulls at \[kg\]; differs from the mass in fluids.
    pub gravitational_mass: f64,
    /// Inertia about the centre of mass in body axes \[kg m²\]; of a planar body only its last number counts.
    pub inertia: [[f64; 3]; 3],
}

/// Kinds of rows, as the primitives of joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// Two points coincide: three rows, in the plane two. Points `r_A`, `r_B`.
    Coincident,
    /// Directions `a` in A and `r_B` in B at right angles.
    Perpendicular,
    /// Point `r_B` of B in the plane through `r_A` with normal `a`, both of A; in the plane a line.
    InPlane,
    /// Planar: the angle of B against A is `a[0]`.
    Angle,
}

/// Rows of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct RowRecord<L = f64> {
    /// The kind.
    pub kind: RowKind,
    /// A direction fixed in A.
    pub a: [L; 3],
    /// A point of A, from its centre of mass \[m\].
    pub r_A: [L; 3],
    /// A point or direction of B.
    pub r_B: [L; 3],
}

impl<L> RowRecord<L> {
    fn rows(&self, planar: bool) -> usize {
        match self.kind {
            RowKind::Coincident => 3 - usize::from(planar),
            _ => 1,
        }
    }
}

/// A row block: the rows between two bodies.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementRecord {
    /// Its bodies: zero for the ground, else one more than the index in [`Description::bodies`].
    pub bodies: [usize; 2],
    /// Its rows.
    pub rows: Vec<RowRecord>,
}

/// Kinds of loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadKind {
    /// A torque `p` on B in world axes.
    Torque,
    /// A force `p` in world axes at the point `r_B` of B.
    Force,
    /// A spring between `r_A` of A and `r_B` of B: stiffness, damping, length at rest, tension added.
    Spring,
}

/// A load.
#[derive(Debug, Clone)]
pub struct LoadRecord<L = f64> {
    /// The kind.
    pub kind: LoadKind,
    /// Its bodies, as of [`ElementRecord`].
    pub bodies: [usize; 2],
    /// A point of A, from its centre of mass \[m\].
    pub r_A: [L; 3],
    /// A point of B.
    pub r_B: [L; 3],
    /// Its numbers.
    pub p: [L; 4],
    /// The first three of them, where they change with time.
    pub timed: Option<VectorOfTime>,
}

/// A vector as a function of time.
#[derive(Clone)]
pub struct VectorOfTime(pub Arc<dyn Fn(f64) -> [f64; 3] + Send + Sync>);

impl std::fmt::Debug for VectorOfTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OfTime")
    }
}

/// A model in records. Positions and velocities are those of the bodies one after the other: (x, y, angle), or (p, quaternion)
/// with (ṗ, ω in body axes).
#[derive(Debug, Clone)]
pub struct Description {
    /// True if it is planar.
    pub planar: bool,
    /// Gravity \[m/s²\].
    pub gravity: [f64; 3],
    /// Moving bodies, in the order of velocities.
    pub bodies: Vec<BodyRecord>,
    /// Row blocks, in the order of multipliers.
    pub elements: Vec<ElementRecord>,
    /// Loads besides gravity; none where some are not known here, and f has to come from outside.
    pub loads: Option<Vec<LoadRecord>>,
}

impl Description {
    /// Returns whether `other` has the same bodies, rows and loads, with other numbers at most.
    pub fn is_like(&self, other: &Description) -> bool {
        let kinds = |e: &ElementRecord| e.rows.iter().map(|r| r.kind).collect::<Vec<_>>();
        let elements = |a: &ElementRecord, b: &ElementRecord| a.bodies == b.bodies && kinds(a) == kinds(b);
        let loads = |a: &LoadRecord, b: &LoadRecord| {
            a.kind == b.kind && a.bodies == b.bodies && a.timed.is_some() == b.timed.is_some()
        };
        self.planar == other.planar
            && self.bodies.len() == other.bodies.len()
            && self.elements.len() == other.elements.len()
            && self.elements.iter().zip(&other.elements).all(|(a, b)| elements(a, b))
            && match (&self.loads, &other.loads) {
                (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| loads(a, b)),
                (None, None) => true,
                _ => false,
            }
    }

    /// Rows of all elements.
    pub fn rows(&self) -> usize {
        self.elements.iter().flat_map(|e| &e.rows).map(|r| r.rows(self.planar)).sum()
    }

    /// Returns whether there are only points that coincide and directions at right angles, in the plane hinges.
    fn is_jointed(&self) -> bool {
        let mut kinds = self.elements.iter().flat_map(|e| &e.rows).map(|r| r.kind);
        kinds.all(|k| k == RowKind::Coincident || (k == RowKind::Perpendicular && !self.planar))
    }
}

/// Tables for one lane of variants, whatever their sizes.
pub trait Tables<L>: Send {
    /// Accelerations at the time `t`, positions `q` and velocities `v`; `f` where loads come from outside.
    fn accelerate(&mut self, t: f64, q: &[L], v: &[L], f: Option<&[L]>, vdot: &mut [L]) -> Health<L>;
    /// Multipliers, where the last call was [`accelerate`](Tables::accelerate).
    fn multipliers(&self, lambda: &mut [L]);
    /// Power of loads that keep no energy accounts, and power turned into heat, where the last [`accelerate`](Tables::accelerate) was.
    fn powers(&self) -> [L; 2];
    /// Moves positions onto Φ = 0 and velocities onto Φ̇ = 0. Returns how many corrections of positions that took; where the health is
    /// not good they are not to be used.
    fn project(&mut self, q: &mut [L], v: &mut [L]) -> (Health<L>, u32);
    /// Returns whether the last [`project`](Tables::project) changed anything.
    fn moved(&self) -> bool;
    /// Φ and Φ̇ at positions `q` and velocities `v`.
    fn violation(&mut self, q: &[L], v: &[L], phi: &mut [L], phidot: &mut [L]);
    /// q̇ = N(q) v.
    fn qdot(&self, q: &[L], v: &[L], out: &mut [L]);
    /// Takes a slope at `stage` into `sum`, and continues to the next stage.
    fn advance(&self, slope: Slope<'_, L>, stage: [&mut [L]; 3], sum: [&mut [L]; 3]);
    /// Makes quaternions unit.
    fn normalize(&self, q: &mut [L]);
    /// Factorizations so far.
    fn factorizations(&self) -> u64;
}

/// The tables of `variants`, one for each lane, all alike ([`Description::is_like`]); none where there are none for their sizes.
pub fn tables<L: Lane>(variants: &[&Description]) -> Option<Box<dyn Tables<L>>> {
    let first = variants.first()?;
    if variants.len() != L::WIDTH || variants.iter().any(|v| !v.is_like(first)) {
        return None;
    }
    let jointed = first.is_jointed();
    let pattern = EliminationPattern::new(first, if first.planar && jointed { 2 } else { 3 })?;
    Some(match (first.planar, jointed) {
        (true, true) => Box::new(Engine::<L, PlanarBodies, HingeRows<L>, 2, 3>::new(variants, pattern)),
        (true, false) => {
            Box::new(Engine::<L, PlanarBodies, DenseRows<L, 3, 3>, 3, 3>::new(variants, pattern))
        }
        (false, true) => Box::new(Engine::<L, Spatial, Jointed<L>, 3, 6>::new(variants, pattern)),
        (false, false) => Box::new(Engine::<L, Spatial, DenseRows<L, 3, 6>, 3, 6>::new(variants, pattern)),
    })
}
