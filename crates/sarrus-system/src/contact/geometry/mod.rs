//! Where surfaces are nearest, pair by pair.
//!
//! Each file has the pairs of one sort with one order of the two; `touches` puts them in that order.

pub mod barrel;
pub mod bounds;
pub mod capsule;
pub mod facets;
pub mod flat;
pub mod flats;
pub mod frozen;
pub mod manifold;
pub mod mesh;
pub mod patch;
#[cfg(test)]
mod patches;
pub mod points;
pub mod round;
pub mod solid;
#[cfg(test)]
mod special;
#[cfg(test)]
mod tests;
pub mod triangle;
pub mod walls;

use super::surface::{Geometry, Surface, Touch};
pub use mesh::{Hull, TriangleMesh};
use points::Segment;
use sarrus_math::{Pose, Real};

/// Holds what decides which file a pair belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Within a radius of a line, or of two points.
    Round,
    /// With faces.
    Solid,
    /// Without end.
    Wall,
}

fn sort(geometry: &Geometry) -> Sort {
    match geometry {
        Geometry::Ball { .. } | Geometry::Ends { .. } | Geometry::Capsule { .. } => Sort::Round,
        Geometry::Plane | Geometry::HalfSpace | Geometry::Channel { .. } => Sort::Wall,
        Geometry::Cylinder { .. } | Geometry::Box { .. } | Geometry::Convex(_) | Geometry::Mesh(_) => {
            Sort::Solid
        }
    }
}

/// Returns how many points a pair can touch at.
pub(super) fn slots(a: &Geometry, b: &Geometry) -> u32 {
    match (sort(a), sort(b)) {
        (Sort::Wall, Sort::Wall) => 0,
        (_, Sort::Wall) => walls::slots(a, b),
        (Sort::Wall, _) => walls::slots(b, a),
        (Sort::Round, Sort::Round) => round::slots(a, b),
        (Sort::Round, Sort::Solid) if !matches!(a, Geometry::Capsule { .. }) => solid::slots(a, b),
        (Sort::Solid, Sort::Round) if !matches!(b, Geometry::Capsule { .. }) => solid::slots(b, a),
        _ => match (a, b) {
            (Geometry::Capsule { .. }, edged) | (edged, Geometry::Capsule { .. }) if has_edges(edged) => {
                capsule::slots(edged)
            }
            (Geometry::Capsule { .. }, Geometry::Cylinder { .. })
            | (Geometry::Cylinder { .. }, Geometry::Capsule { .. }) => barrel::SLOTS,
            _ => manifold::slots(a, b),
        },
    }
}

/// See [`super::surface::touches`].
pub(super) fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    planar: bool,
    found: &mut impl FnMut(Touch<R>),
) {
    let rotated = [at[1], at[0]];
    match (sort(&a.geometry), sort(&b.geometry)) {
        (Sort::Wall, Sort::Wall) => {}
        (_, Sort::Wall) => walls::touches(a, b, at, reach, planar, found),
        (Sort::Wall, _) => {
            walls::touches(b, a, rotated, reach, planar, &mut |t: Touch<R>| found(t.flipped()))
        }
        (Sort::Round, Sort::Round) => round::touches(a, b, at, reach, planar, found),
        (Sort::Round, Sort::Solid) if !matches!(a.geometry, Geometry::Capsule { .. }) => {
            solid::touches(a, b, at, reach, planar, found);
        }
        (Sort::Solid, Sort::Round) if !matches!(b.geometry, Geometry::Capsule { .. }) => {
            solid::touches(b, a, rotated, reach, planar, &mut |t: Touch<R>| found(t.flipped()));
        }
        _ if planar => flat::touches(a, b, at, reach, found),
        _ => match (&a.geometry, &b.geometry) {
            (Geometry::Capsule { .. }, edged) if has_edges(edged) => capsule::touches(a, b, at, reach, found),
            (edged, Geometry::Capsule { .. }) if has_edges(edged) => {
                capsule::touches(b, a, rotated, reach, &mut |t: Touch<R>| found(t.flipped()));
            }
            (Geometry::Capsule { .. }, Geometry::Cylinder { .. }) => barrel::touches(a, b, at, reach, found),
            (Geometry::Cylinder { .. }, Geometry::Capsule { .. }) => {
                barrel::touches(b, a, rotated, reach, &mut |t: Touch<R>| found(t.flipped()));
            }
            (Geometry::Box { .. } | Geometry::Convex(_), Geometry::Cylinder { .. }) => {
                manifold::touches(b, a, rotated, reach, &mut |t: Touch<R>| found(t.flipped()));
            }
            (Geometry::Mesh(_), other) if !matches!(other, Geometry::Mesh(_)) => {
                manifold::touches(b, a, rotated, reach, &mut |t: Touch<R>| found(t.flipped()));
            }
            _ => manifold::touches(a, b, at, reach, found),
        },
    }
}

fn has_edges(geometry: &Geometry) -> bool {
    matches!(geometry, Geometry::Box { .. } | Geometry::Convex(_) | Geometry::Mesh(_))
}

/// The balls and lines that a round one is made of.
fn segments(geometry: &Geometry) -> ([Segment; 2], usize) {
    let ball = |x: f64, radius: f64| Segment { middle: x, half: 0.0, radius };
    match *geometry {
        Geometry::Ball { radius } => ([ball(0.0, radius); 2], 1),
        Geometry::Ends { half, radius } => ([ball(-half, radius), ball(half, radius)], 2),
        Geometry::Capsule { half, radius } => ([Segment { middle: 0.0, half, radius }; 2], 1),
        _ => ([ball(0.0, 0.0); 2], 0),
    }
}
