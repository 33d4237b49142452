//! A solid cylinder about z; in the plane a circle.
//!
//! V = π r² h, k² = (r²/4 + h²/12, r²/4 + h²/12, r²/2). Without a thickness, h = 0: thin, with an area only.

use super::prelude::*;
use std::f64::consts::PI;

/// The kind.
pub const KIND: ShapeKind = ShapeKind {
    name: "disc",
    doc: "a solid cylinder about z, planar a circle",
    accepted: &["radius", "thickness"],
    axis: OwnAxis::Z,
    read: |dimensions| {
        let thickness = dimensions.reader.positive_opt("thickness")?;
        let radius = dimensions.radius()?;
        let geometry = if dimensions.planar() {
            Geometry::Ball { radius }
        } else {
            Geometry::Cylinder { half: 0.5 * thickness.unwrap_or(0.0), radius, along: 2 }
        };
        Ok(ShapeGeometry::new(solid(radius, thickness), geometry))
    },
};

/// A disc of radius r and thickness h \[m\].
pub fn solid(r: f64, h: Option<f64>) -> UniformSolid {
    let area = PI * r * r;
    let measure = h.map_or(SolidMeasure::Area(area), |h| SolidMeasure::Volume(area * h));
    let h = h.unwrap_or(0.0);
    let across = r * r / 4.0 + h * h / 12.0;
    UniformSolid::centred(measure, [across, across, r * r / 2.0])
}
