//! Features that are kept while bodies move.
//!
//! Which corners, edges and faces of two bodies meet is decided on values, and changes along a motion: a corner slides over the end of a
//! face. A row that holds a point closed is that of one feature, as if its face or edge continued. [`within`] shows how far the point is from where
//! these end.

use super::patch::TwoSolids;
use super::{flat, patch};
use crate::contact::surface::{Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// Holds what meets at a point of two bodies with flat faces.
#[derive(Clone, Copy, Debug)]
pub enum FrozenFeature {
    /// In the plane.
    Flat(flat::PolygonFeature),
    /// In space, with the direction along which they were seen.
    Faced(patch::PatchFeature, Vec3),
}

impl FrozenFeature {
    /// Returns whether both are the same corner and face, or the same edges.
    pub fn is_same(&self, other: &FrozenFeature) -> bool {
        use patch::PatchFeature::Edges;
        match (self, other) {
            (FrozenFeature::Flat(a), FrozenFeature::Flat(b)) => a == b,
            (FrozenFeature::Faced(Edges(e, f, _), _), FrozenFeature::Faced(Edges(g, h, _), _)) => {
                (e, f) == (g, h)
            }
            (FrozenFeature::Faced(a, _), FrozenFeature::Faced(b, _)) => a == b,
            _ => false,
        }
    }
}

/// The point of a feature of `a` on a body at `at[0]` and `b` on one at `at[1]`, also past its end.
pub fn touch<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    feature: FrozenFeature,
) -> Option<Touch<R>> {
    match feature {
        FrozenFeature::Flat(feature) => flat::at_feature(a, b, at, feature),
        FrozenFeature::Faced(feature, n) => TwoSolids::new(a, b, at)?.touch_at(feature, n, 0),
    }
}

/// Computes how far the place of a feature is from the ends of the face or edges that it is on \[m\]: negative past one by more than rounding. None where the
/// feature does not end.
pub fn within(a: &Surface, b: &Surface, at: [&Pose; 2], feature: FrozenFeature) -> Option<f64> {
    match feature {
        FrozenFeature::Flat(feature) => flat::overlap(a, b, at, feature),
        FrozenFeature::Faced(feature, n) => TwoSolids::new(a, b, at)?.within(feature, n),
    }
}
