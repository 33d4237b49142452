//! Two balls, one at either end of a bar.
//!
//! V = 2 · 4/3 π r³, k² = (2r²/5, 2r²/5 + l²/4, 2r²/5 + l²/4).

use super::{prelude::*, sphere};

/// The kind.
pub const KIND: ShapeKind = ShapeKind {
    name: "ends",
    doc: "balls at the ends of a bar or segment",
    accepted: &["length", "radius"],
    axis: OwnAxis::X,
    read: |dimensions| {
        let (l, r) = (dimensions.length()?, dimensions.radius()?);
        Ok(ShapeGeometry::new(solid(l, r), Geometry::Ends { half: 0.5 * l, radius: r }))
    },
};

/// Balls of radius r at ±l/2 on x \[m\].
pub fn solid(l: f64, r: f64) -> UniformSolid {
    let ball = sphere::solid(r);
    let (SolidMeasure::Volume(V) | SolidMeasure::Area(V)) = ball.measure;
    let across = ball.k2[1] + l * l / 4.0;
    UniformSolid::centred(SolidMeasure::Volume(2.0 * V), [ball.k2[0], across, across])
}
