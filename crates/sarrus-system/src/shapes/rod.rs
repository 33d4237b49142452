//! A solid cylinder along x; in the plane a rectangle is touched.
//!
//! V = π r² l, k² = (r²/2, r²/4 + l²/12, r²/4 + l²/12).

use super::prelude::*;
use std::f64::consts::PI;

/// The kind.
pub const KIND: ShapeKind = ShapeKind {
    name: "rod",
    doc: "a solid cylinder along x",
    accepted: &["length", "radius"],
    axis: OwnAxis::X,
    read: |dimensions| {
        let (l, r) = (dimensions.length()?, dimensions.radius()?);
        Ok(ShapeGeometry::new(solid(l, r), geometry(l, r, dimensions.planar())))
    },
};

/// The rod that a bar is if nothing else is said: a fortieth of its length in radius.
pub fn of_bar(length: f64) -> (f64, UniformSolid) {
    let radius = length / 40.0;
    (radius, solid(length, radius))
}

/// Returns what is touched of a rod of length l and radius r \[m\]; in the plane it is a rectangle.
pub fn geometry(l: f64, r: f64, planar: bool) -> Geometry {
    if planar {
        Geometry::Box { half: [0.5 * l, r, 0.0] }
    } else {
        Geometry::Cylinder { half: 0.5 * l, radius: r, along: 0 }
    }
}

/// A rod of length l and radius r \[m\].
pub fn solid(l: f64, r: f64) -> UniformSolid {
    let across = r * r / 4.0 + l * l / 12.0;
    UniformSolid::centred(SolidMeasure::Volume(PI * r * r * l), [r * r / 2.0, across, across])
}
