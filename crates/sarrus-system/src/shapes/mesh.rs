//! Shapes from files, which are not read yet.

use super::prelude::*;

/// The surface in a file.
pub const MESH: Kind = Kind {
    name: "mesh",
    doc: "the surface in an STL or OBJ file (not available yet)",
    takes: &["file", "scale"],
    axis: OwnAxis::X,
    read: refuse,
};

/// The convex hull of the surface in a file.
pub const CONVEX: Kind = Kind {
    name: "convex",
    doc: "the convex hull of an STL or OBJ file (not available yet)",
    takes: &["file", "scale"],
    axis: OwnAxis::X,
    read: refuse,
};

fn refuse(dimensions: &Dimensions) -> Result<Form> {
    let reader = dimensions.reader;
    let message = format!("{}: shapes from files are not available yet", reader.title());
    Err(reader
        .error("kind", message)
        .hint("give `mass` and `inertia`, or build it from rod, disc, sphere and box"))
}
