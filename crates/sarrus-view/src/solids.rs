//! Triangles of shapes, for files that know no rods and discs.
//!
//! All but boxes are surfaces of revolution about their own axis: a profile of points (along, out) with normals, turned in [`AROUND`] steps.

use crate::scene::SceneShape;
use std::f64::consts::{PI, TAU};

/// Steps around an axis.
const AROUND: usize = 32;
/// Steps along a quarter of a circle.
const QUARTER: usize = 8;

/// Triangles with a normal at each vertex.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ShadedTriangles {
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub indices: Vec<u32>,
}

impl ShadedTriangles {
    fn vertex(&mut self, p: [f64; 3], n: [f64; 3]) {
        self.positions.push(p.map(|x| x as f32));
        self.normals.push(n.map(|x| x as f32));
    }

    fn add(&mut self, other: &ShadedTriangles, offset: [f64; 3]) {
        let first = self.positions.len() as u32;
        let moved = |p: &[f32; 3]| [0, 1, 2].map(|k| p[k] + offset[k] as f32);
        self.positions.extend(other.positions.iter().map(moved));
        self.normals.extend(&other.normals);
        self.indices.extend(other.indices.iter().map(|i| i + first));
    }
}

/// A point of a profile: along the axis and out of it, and its normal likewise.
type ProfilePoint = [f64; 4];

/// A profile about x, or about z.
fn revolve(profile: &[ProfilePoint], about_z: bool) -> ShadedTriangles {
    let mut mesh = ShadedTriangles::default();
    for &[along, out, n_along, n_out] in profile {
        for step in 0..=AROUND {
            let (sin, cos) = (TAU * step as f64 / AROUND as f64).sin_cos();
            let point_at = |a: f64, r: f64| {
                if about_z { [r * cos, r * sin, a] } else { [a, r * cos, r * sin] }
            };
            mesh.vertex(point_at(along, out), point_at(n_along, n_out));
        }
    }
    let ring = AROUND as u32 + 1;
    for (k, pair) in profile.windows(2).enumerate() {
        // edges, where only the normal changes, have no area
        if pair[0][..2] == pair[1][..2] {
            continue;
        }
        let first = k as u32 * ring;
        for step in 0..AROUND as u32 {
            let [a, b] = [first + step, first + step + 1];
            let [c, d] = [a + ring, b + ring];
            mesh.indices.extend([a, c, b, b, c, d].map(|i| i));
        }
    }
    // outwards: about x the profile goes up along x, y to z is counter-clockwise seen from +x
    mesh.indices.chunks_exact_mut(3).for_each(|t| t.swap(1, 2));
    mesh
}

fn cylinder(length: f64, radius: f64, about_z: bool) -> ShadedTriangles {
    let h = 0.5 * length;
    let (r, caps) = (radius, [[-h, 0.0, -1.0, 0.0], [-h, radius, -1.0, 0.0]]);
    let profile =
        [caps[0], caps[1], [-h, r, 0.0, 1.0], [h, r, 0.0, 1.0], [h, r, 1.0, 0.0], [h, 0.0, 1.0, 0.0]];
    revolve(&profile, about_z)
}

/// Two half balls with their centres `length` apart along x.
fn capsule(length: f64, radius: f64) -> ShadedTriangles {
    let mut profile = Vec::new();
    for step in 0..=2 * QUARTER {
        let (sin, cos) = (PI * step as f64 / (2 * QUARTER) as f64).sin_cos();
        // the equator belongs to both halves
        for side in [-1.0, 1.0] {
            let half = if step < QUARTER { -1.0 } else { 1.0 };
            if side == half || step == QUARTER {
                profile.push([0.5 * side * length - radius * cos, radius * sin, -cos, sin]);
            }
        }
    }
    revolve(&profile, false)
}

fn cuboid(size: [f64; 3]) -> ShadedTriangles {
    let mut mesh = ShadedTriangles::default();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut normal = [0.0; 3];
            normal[axis] = side;
            let first = mesh.positions.len() as u32;
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = [0.0; 3];
                (p[axis], p[u], p[v]) = (0.5 * side * size[axis], 0.5 * a * size[u], 0.5 * b * size[v]);
                mesh.vertex(p, normal);
            }
            let faces = if side > 0.0 { [0, 1, 2, 0, 2, 3] } else { [0, 2, 1, 0, 3, 2] };
            mesh.indices.extend(faces.map(|i| first + i));
        }
    }
    mesh
}

/// The triangles of a shape in its own frame; none of one that is not drawn here. `extent` is how far a plane reaches \[m\].
pub(crate) fn triangles(shape: &SceneShape, planar: bool, extent: f64) -> Option<ShadedTriangles> {
    let (length, radius) = (shape.length.unwrap_or(0.0), shape.radius.unwrap_or(0.0));
    Some(match shape.kind {
        "rod" => cylinder(length, radius, false),
        "capsule" => capsule(length, radius),
        "sphere" => capsule(0.0, radius),
        "disc" => {
            let given = shape.thickness.unwrap_or(0.0);
            cylinder(if given > 0.0 { given } else { 0.05 * radius }, radius, true)
        }
        "box" => {
            let [a, b, c] = shape.size?;
            cuboid([a, b, if c > 0.0 { c } else { 0.1 * a.min(b) }])
        }
        "plane" | "half_space" => {
            let (wide, thin) = (2.0 * extent, 0.002 * extent);
            let mut plate = ShadedTriangles::default();
            let (size, down) = match planar {
                true => ([wide, thin, 0.2 * wide], [0.0, -0.5 * thin, 0.0]),
                false => ([wide, wide, thin], [0.0, 0.0, -0.5 * thin]),
            };
            plate.add(&cuboid(size), down);
            plate
        }
        "ends" => {
            let mut both = ShadedTriangles::default();
            let ball = capsule(0.0, radius);
            shape.points.iter().flatten().for_each(|at| both.add(&ball, *at));
            both
        }
        "mesh" | "convex" => facets(shape.vertices.as_deref()?, shape.triangles.as_deref()?),
        _ => return None,
    })
}

/// Triangles with flat faces; those without area are left out.
fn facets(vertices: &[f64], triangles: &[u32]) -> ShadedTriangles {
    let mut mesh = ShadedTriangles::default();
    let corner = |i: u32| vertices.get(3 * i as usize..3 * i as usize + 3).map(|p| [p[0], p[1], p[2]]);
    for face in triangles.chunks_exact(3) {
        let (Some(a), Some(b), Some(c)) = (corner(face[0]), corner(face[1]), corner(face[2])) else {
            continue;
        };
        let edge = |p: [f64; 3]| [0, 1, 2].map(|k| p[k] - a[k]);
        let (u, v) = (edge(b), edge(c));
        let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            let first = mesh.positions.len() as u32;
            [a, b, c].into_iter().for_each(|p| mesh.vertex(p, n.map(|x| x / length)));
            mesh.indices.extend([first, first + 1, first + 2]);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem: positive where all triangles face outwards.
    fn volume(mesh: &ShadedTriangles) -> f64 {
        let p = |i: u32| mesh.positions[i as usize].map(f64::from);
        mesh.indices
            .chunks_exact(3)
            .map(|t| {
                let [a, b, c] = [p(t[0]), p(t[1]), p(t[2])];
                let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
                (0..3).map(|k| a[k] * cross[k]).sum::<f64>() / 6.0
            })
            .sum()
    }

    fn shape(kind: &'static str) -> SceneShape {
        SceneShape {
            kind,
            length: Some(2.0),
            radius: Some(0.5),
            thickness: Some(0.3),
            size: Some([1.0, 2.0, 3.0]),
            ..SceneShape::default()
        }
    }

    /// Polygons of 32 sides have sin(2π/32)/(2π/32) = 0.9936 of a circle's area, and quarters of 8 steps take as little away again.
    #[test]
    fn triangles_enclose_the_volume_of_their_shape() {
        let exact = [
            ("rod", PI * 0.25 * 2.0),
            ("disc", PI * 0.25 * 0.3),
            ("sphere", PI / 6.0),
            ("capsule", PI / 6.0 + PI * 0.25 * 2.0),
            ("box", 6.0),
        ];
        for (kind, exact) in exact {
            let found = volume(&triangles(&shape(kind), false, 1.0).unwrap());
            assert!((0.98 * exact..1.0001 * exact).contains(&found), "{kind}: {found} of {exact}");
        }
    }

    #[test]
    fn normals_have_length_one_and_every_index_a_vertex() {
        for kind in ["rod", "disc", "sphere", "capsule", "box", "plane", "half_space"] {
            let mesh = triangles(&shape(kind), true, 1.0).unwrap();
            assert_eq!(mesh.normals.len(), mesh.positions.len());
            assert!(mesh.indices.iter().all(|i| (*i as usize) < mesh.positions.len()));
            for n in &mesh.normals {
                assert!((n.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5, "{kind}");
            }
        }
        assert!(triangles(&shape("mesh"), true, 1.0).is_none());
    }
}
