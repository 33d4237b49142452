//! Surfaces to touch: without end, so without mass.

use super::prelude::*;

/// A plane that is touched on both sides.
pub const PLANE: ShapeKind = ShapeKind {
    name: "plane",
    doc: "a plane with normal z, planar a line with normal y",
    accepted: &[],
    axis: OwnAxis::Normal,
    read: |_| Ok(ShapeGeometry { solid: None, geometry: Some(Geometry::Plane), open: None }),
};

/// All that is below a plane.
pub const HALF_SPACE: ShapeKind = ShapeKind {
    name: "half_space",
    doc: "solid ground below a plane with normal z, planar y",
    accepted: &[],
    axis: OwnAxis::Normal,
    read: |_| Ok(ShapeGeometry { solid: None, geometry: Some(Geometry::HalfSpace), open: None }),
};

/// The inside of two walls, or of a tube.
pub const CHANNEL: ShapeKind = ShapeKind {
    name: "channel",
    doc: "two walls, or a tube, along z, planar y",
    accepted: &["width", "tube"],
    axis: OwnAxis::Normal,
    read: |dimensions| {
        let half = 0.5 * dimensions.reader.positive("width")?;
        let tube = dimensions.reader.flag_or("tube", false)?;
        Ok(ShapeGeometry { solid: None, geometry: Some(Geometry::Channel { half, tube }), open: None })
    },
};
