//! Features that are kept while bodies move.
//!
//! Which corners, edges and faces of two bodies meet is decided on values, and changes along a motion: a corner slides over the end of a
//! face. A row that holds a place closed is that of one feature, as if its face or edge went on. [`within`] tells how far the place is from where
//! these end.

use super::patch::Two;
use super::{flat, patch};
use crate::contact::surface::{Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// What meets at a place of two bodies with flat faces.
#[derive(Clone, Copy, Debug)]
pub enum Feature {
    /// In the plane.
    Flat(flat::Feature),
    /// In space, with the direction along which they were seen.
    Faced(patch::Feature, Vec3),
}

impl Feature {
    /// Whether both are the same corner and face, or the same edges.
    pub fn is_same(&self, other: &Feature) -> bool {
        use patch::Feature::Edges;
        match (self, other) {
            (Feature::Flat(a), Feature::Flat(b)) => a == b,
            (Feature::Faced(Edges(e, f, _), _), Feature::Faced(Edges(g, h, _), _)) => (e, f) == (g, h),
            (Feature::Faced(a, _), Feature::Faced(b, _)) => a == b,
            _ => false,
        }
    }
}

/// The place of a feature of `a` on a body at `at[0]` and `b` on one at `at[1]`, also past its end.
pub fn touch<R: Real>(a: &Surface, b: &Surface, at: [&Pose<R>; 2], feature: Feature) -> Option<Touch<R>> {
    match feature {
        Feature::Flat(feature) => flat::at_feature(a, b, at, feature),
        Feature::Faced(feature, n) => Two::new(a, b, at)?.place(feature, n, 0),
    }
}

/// How far the place of a feature is from the ends of the face or edges that it is on \[m\]: negative past one by more than rounding. None where the
/// feature does not end.
pub fn within(a: &Surface, b: &Surface, at: [&Pose; 2], feature: Feature) -> Option<f64> {
    match feature {
        Feature::Flat(feature) => flat::overlap(a, b, at, feature),
        Feature::Faced(feature, n) => Two::new(a, b, at)?.within(feature, n),
    }
}
