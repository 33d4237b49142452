//! A box with edges a, b, c along x, y, z; in the plane a rectangle.
//!
//! V = a b c, k² = ((b² + c²)/12, (c² + a²)/12, (a² + b²)/12).

use super::prelude::*;

/// The kind.
pub const KIND: ShapeKind = ShapeKind {
    name: "box",
    doc: "a box with edges along x, y, z, planar a rectangle",
    accepted: &["size"],
    axis: OwnAxis::X,
    read,
};

fn read(dimensions: &Dimensions) -> Result<ShapeGeometry> {
    let reader = dimensions.reader;
    let size = reader.numbers("size")?.ok_or_else(|| reader.missing("size"))?;
    let planar = reader.is_planar();
    let wanted = if planar { 2 } else { 3 };
    if size.len() != wanted {
        let message =
            format!("`size` of {}: expected {wanted} numbers, found {}", reader.title(), size.len());
        let space = if planar { "planar" } else { "spatial" };
        return Err(reader.error("size", message).hint(format!("the space is {space}")));
    }
    if let Some(edge) = size.iter().find(|edge| **edge <= 0.0) {
        return Err(
            reader.error("size", format!("`size` of {} must be positive, it is {edge}", reader.title()))
        );
    }
    let edges = [size[0], size[1], size.get(2).copied().unwrap_or(0.0)];
    Ok(ShapeGeometry::new(solid(edges), Geometry::Box { half: edges.map(|edge| 0.5 * edge) }))
}

/// A box with these edges \[m\]; of thickness 0 a plate.
pub fn solid([a, b, c]: [f64; 3]) -> UniformSolid {
    let measure = if c == 0.0 { SolidMeasure::Area(a * b) } else { SolidMeasure::Volume(a * b * c) };
    UniformSolid::centred(measure, [(b * b + c * c) / 12.0, (c * c + a * a) / 12.0, (a * a + b * b) / 12.0])
}
