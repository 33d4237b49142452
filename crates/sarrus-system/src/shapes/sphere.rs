//! A ball.
//!
//! V = 4/3 π r³, k² = 2r²/5 about any axis.

use super::prelude::*;
use std::f64::consts::PI;

/// The kind.
pub const KIND: ShapeKind = ShapeKind {
    name: "sphere",
    doc: "a ball",
    accepted: &["radius"],
    axis: OwnAxis::X,
    read: |dimensions| {
        let radius = dimensions.radius()?;
        Ok(ShapeGeometry::new(solid(radius), Geometry::Ball { radius }))
    },
};

/// A ball of radius r \[m\].
pub fn solid(r: f64) -> UniformSolid {
    UniformSolid::centred(SolidMeasure::Volume(4.0 / 3.0 * PI * r * r * r), [2.0 / 5.0 * r * r; 3])
}
