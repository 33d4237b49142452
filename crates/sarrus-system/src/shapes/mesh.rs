//! Shapes from files: STL and OBJ.
//!
//! A closed `mesh` has the mass of what it encloses; one that is open is a surface alone, and the body's mass and inertia must be given. A
//! `convex` is the hull of all corners in the file, always closed, and touched faster. Own axes and origin are those of the file. In the
//! plane both have mass but are not touched.

use super::{prelude::*, volume};
use crate::contact::files;
use crate::contact::geometry::mesh::{Hull, Raw, TriangleMesh};
use std::sync::Arc;

/// The surface in a file.
pub const MESH: ShapeKind = ShapeKind {
    name: "mesh",
    doc: "the surface in an STL or OBJ file",
    accepted: &["file", "scale"],
    axis: OwnAxis::X,
    read: read_mesh,
};

/// The convex hull of the surface in a file.
pub const CONVEX: ShapeKind = ShapeKind {
    name: "convex",
    doc: "the convex hull of an STL or OBJ file",
    accepted: &["file", "scale"],
    axis: OwnAxis::X,
    read: read_convex,
};

/// The triangles of `file`, times `scale`.
fn read_file(dimensions: &Dimensions) -> Result<Raw> {
    let reader = dimensions.reader;
    let name = reader.text("file")?.ok_or_else(|| reader.missing("file").hint("an STL or OBJ file"))?;
    if reader.transform().sign() < 0.0 {
        let message = format!("{}: shapes from files cannot be mirrored", reader.title());
        return Err(reader
            .error("file", message)
            .hint("include the file without `mirror`, or mirror the shape's own file"));
    }
    let scale = reader.positive_opt("scale")?.unwrap_or(1.0);
    let bytes = reader.scope().files.get(name);
    let bytes = bytes.ok_or_else(|| reader.error("file", format!("the file `{name}` was not read")))?;
    let mut raw = files::read(name, bytes).map_err(|wrong| {
        let line = wrong.line.map_or(String::new(), |line| format!(":{line}"));
        reader
            .error("file", format!("{name}{line}: {}", wrong.message))
            .maybe_hint(wrong.hint.map(str::to_owned))
    })?;
    raw.corners.iter_mut().flatten().for_each(|x| *x *= scale);
    if raw.corners.iter().flatten().any(|x| !(x.abs() < 1e100)) {
        return Err(reader
            .error("scale", format!("{name}: its coordinates are too large"))
            .hint("check the units"));
    }
    Ok(raw.joined())
}

/// Returns what has no use in the plane: a centre off it, and what is touched.
fn transformed(
    dimensions: &Dimensions,
    mut solid: Option<UniformSolid>,
    geometry: Option<Geometry>,
) -> ShapeGeometry {
    if dimensions.planar() {
        solid.iter_mut().for_each(|solid| solid.centre[2] = 0.0);
        return ShapeGeometry { solid, geometry: None, open: None };
    }
    ShapeGeometry { solid, geometry, open: None }
}

fn read_mesh(dimensions: &Dimensions) -> Result<ShapeGeometry> {
    let mut raw = read_file(dimensions)?;
    let mut open = volume::open(&raw);
    let solid = if open.is_none() { volume::solid(&mut raw) } else { None };
    if open.is_none() && solid.is_none() {
        open = Some("it encloses no volume".to_owned());
    }
    let triangles = TriangleMesh::new(raw, open.is_none()).ok_or_else(|| nothing(dimensions))?;
    // what is convex is touched as a hull
    let geometry = match triangles.hull().filter(|hull| is_volume_of(hull, solid)) {
        Some(hull) => Geometry::Convex(Arc::new(hull)),
        None => Geometry::Mesh(Arc::new(triangles)),
    };
    Ok(ShapeGeometry { open, ..transformed(dimensions, solid, Some(geometry)) })
}

/// Returns whether a hull encloses as much as a solid, to the single precision of files: several convex parts enclose less.
fn is_volume_of(hull: &Hull, solid: Option<UniformSolid>) -> bool {
    let volume = |solid: Option<UniformSolid>| match solid?.measure {
        SolidMeasure::Volume(volume) => Some(volume),
        SolidMeasure::Area(_) => None,
    };
    match (volume(solid), volume(volume::solid(&mut hull.raw().clone()))) {
        (Some(own), Some(all)) => (all - own).abs() <= f64::from(f32::EPSILON) * all,
        _ => false,
    }
}

fn read_convex(dimensions: &Dimensions) -> Result<ShapeGeometry> {
    let raw = read_file(dimensions)?;
    let hull = Hull::new(&raw.corners).ok_or_else(|| nothing(dimensions))?;
    let solid = volume::solid(&mut hull.raw().clone()).ok_or_else(|| nothing(dimensions))?;
    Ok(transformed(dimensions, Some(solid), Some(Geometry::Convex(Arc::new(hull)))))
}

fn nothing(dimensions: &Dimensions) -> sarrus_model::Diagnostic {
    let reader = dimensions.reader;
    let message = format!("{}: all corners in the file lie in one plane", reader.title());
    reader.error("file", message).hint("a thin `box` or `disc` can stand for a plate")
}

#[cfg(test)]
mod tests {
    use crate::bodies::read_bodies;
    use crate::body::Body;
    use crate::shapes::cuboid;
    use sarrus_io::{LoadOptions, load};
    use sarrus_math::Mat3;

    /// A box of 2 × 3 × 4 with a corner at the origin; `holes` quads are left out.
    fn block(holes: usize) -> String {
        let mut text = String::new();
        for i in 0..8 {
            let at = |k: usize, size: f64| if i >> k & 1 == 1 { size } else { 0.0 };
            text += &format!("v {} {} {}\n", at(0, 2.0), at(1, 3.0), at(2, 4.0));
        }
        let quads = ["1 5 7 3", "2 4 8 6", "1 2 6 5", "3 7 8 4", "1 3 4 2", "5 6 8 7"];
        quads[holes..].iter().for_each(|quad| text += &format!("f {quad}\n"));
        text
    }

    /// The body with these keys, or what is said of it. Each in a folder of its own.
    fn body(folder: &str, file: &str, keys: &str) -> Result<Body, String> {
        let folder = std::env::temp_dir().join(format!("sarrus-mesh-{}-{folder}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("part.obj"), file).unwrap();
        let text = format!(
            "format = \"sarrus/1\"\nmaterials.stuff = {{ density = 1000 }}\nbodies.b = {{ {keys} }}\n"
        );
        std::fs::write(folder.join("model.toml"), text).unwrap();
        let model = load(folder.join("model.toml"), &LoadOptions::default());
        std::fs::remove_dir_all(&folder).unwrap();
        let model = model.map_err(|failure| failure.render())?;
        let mut bodies = read_bodies(&model).map_err(|errors| errors[0].render(&model.sources))?;
        Ok(bodies.remove(1))
    }

    #[test]
    fn a_file_gives_mass_centre_and_inertia() {
        for kind in ["mesh", "convex"] {
            let keys = format!(
                "material = 'stuff', shape = {{ kind = '{kind}', file = 'part.obj', scale = 0.1, on = [1, 0, 0], axis_on = [0, 1, 0] }}"
            );
            let Body { mass, com, inertia: Mat3(I), .. } = body(kind, &block(0), &keys).unwrap();
            assert!((mass - 24.0).abs() < 1e-11);
            // a quarter of a rotation about z takes x to y
            for (x, expected) in com.iter().zip([1.0 - 0.15, 0.1, 0.2]) {
                assert!((x - expected).abs() < 1e-14);
            }
            let k2 = cuboid::solid([0.3, 0.2, 0.4]).k2;
            for i in 0..3 {
                for j in 0..3 {
                    let expected = if i == j { 24.0 * k2[i] } else { 0.0 };
                    assert!((I[i][j] - expected).abs() < 1e-13, "{I:?}");
                }
            }
        }
    }

    #[test]
    fn a_surface_with_a_hole_needs_mass_and_inertia() {
        let shape = "shape = { kind = 'mesh', file = 'part.obj' }";
        let said = body("hole", &block(1), &format!("mass = 1, {shape}")).unwrap_err();
        assert!(said.contains("has no inside") && said.contains("belongs to one triangle only"), "{said}");
        assert!(said.contains("give `mass` and `inertia`"), "{said}");
        body("given", &block(1), &format!("mass = 1, inertia = [1, 1, 1], {shape}")).unwrap();
        let hull = "material = 'stuff', shape = { kind = 'convex', file = 'part.obj' }";
        let mass = body("hull", &block(1), hull).unwrap().mass;
        assert!((mass - 24_000.0).abs() < 1e-8);
    }

    #[test]
    fn a_bad_file_is_named_with_its_line() {
        let shape = "mass = 1, inertia = [1, 1, 1], shape = { kind = 'mesh', file = 'part.obj' }";
        let said = body("bad", "v 0 0 0\nf 1 2 3\n", shape).unwrap_err();
        assert!(said.contains("part.obj:2: corner 2 does not exist"), "{said}");
        let said = body("flat", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &shape.replace("mesh", "convex"))
            .unwrap_err();
        assert!(said.contains("lie in one plane"), "{said}");
        let said = body("none", "", &shape.replace("part", "other")).unwrap_err();
        assert!(said.contains("other.obj: cannot be read"), "{said}");
    }
}
