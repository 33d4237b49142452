//! Polyhedra and triangles from files, as they are touched.

use super::bounds::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::shape::{ConvexPolyhedron, TriMesh, TriMeshFlags};
use parry3d_f64::transformation::try_convex_hull;
use sarrus_math::Vec3;
use std::collections::HashMap;

/// Corners and triangles, each with its corners counterclockwise seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    /// Own axes \[m\].
    pub corners: Vec<[f64; 3]>,
    /// Indices of corners.
    pub faces: Vec<[u32; 3]>,
}

impl Raw {
    /// Corners of the same coordinates made one; triangles that are left with fewer than three taken out.
    pub fn joined(&self) -> Raw {
        let mut seen: HashMap<[u64; 3], u32> = HashMap::new();
        let mut corners = Vec::new();
        let number = |p: &[f64; 3]| {
            // -0 is 0
            let p = p.map(|x| x + 0.0);
            *seen.entry(p.map(f64::to_bits)).or_insert_with(|| {
                corners.push(p);
                corners.len() as u32 - 1
            })
        };
        let numbers: Vec<u32> = self.corners.iter().map(number).collect();
        let faces = self.faces.iter().map(|face| face.map(|i| numbers[i as usize]));
        let faces = faces.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        Raw { corners, faces }
    }

    fn extent(&self) -> Aabb {
        let ends = |start: f64, f: fn(f64, f64) -> f64| {
            [0, 1, 2].map(|i| self.corners.iter().map(|p| p[i]).fold(start, f))
        };
        Aabb { low: ends(f64::INFINITY, f64::min), high: ends(f64::NEG_INFINITY, f64::max) }
    }
}

/// A convex polyhedron.
pub struct Hull {
    raw: Raw,
    planes: Vec<(Vec3, f64)>,
    edges: Vec<[u32; 2]>,
    ridges: Vec<[Vec3; 2]>,
    shape: ConvexPolyhedron,
    extent: Aabb,
}

impl std::fmt::Debug for Hull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hull of {} corners", self.raw.corners.len())
    }
}

impl Hull {
    /// The convex hull of points; none where they have no volume.
    pub fn new(points: &[[f64; 3]]) -> Option<Self> {
        let points: Vec<Vector> = points.iter().map(|p| Vector::from_array(*p)).collect();
        let (points, faces) = try_convex_hull(&points).ok()?;
        let shape = ConvexPolyhedron::from_convex_mesh(points.clone(), &faces)?;
        let raw = Raw { corners: points.iter().map(|p| p.to_array()).collect(), faces };
        let planes = shape.faces().iter().map(|face| {
            let n = Vec3(face.normal.to_array());
            let out = |p: &[f64; 3]| n.dot(Vec3(*p));
            (n, raw.corners.iter().map(out).fold(f64::NEG_INFINITY, f64::max))
        });
        let planes = planes.collect();
        let edges = shape.edges().iter().map(|edge| [edge.vertices[0], edge.vertices[1]]).collect();
        let normal =
            |face: u32| shape.faces().get(face as usize).map_or(Vec3::zero(), |f| Vec3(f.normal.to_array()));
        let ridges =
            shape.edges().iter().map(|edge| [normal(edge.faces[0]), normal(edge.faces[1])]).collect();
        let extent = raw.extent();
        Some(Hull { raw, planes, edges, ridges, shape, extent })
    }

    /// Its corners, own axes \[m\].
    pub fn corners(&self) -> &[[f64; 3]] {
        &self.raw.corners
    }

    /// Its surface in triangles.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// Outward normals, and how far out along them it reaches \[m\].
    pub fn planes(&self) -> &[(Vec3, f64)] {
        &self.planes
    }

    /// Corners of its edges.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Normals of the two faces at each edge.
    pub fn ridges(&self) -> &[[Vec3; 2]] {
        &self.ridges
    }

    pub(super) fn shape(&self) -> &ConvexPolyhedron {
        &self.shape
    }

    /// The least box around it, own axes.
    pub fn extent(&self) -> &Aabb {
        &self.extent
    }
}

/// Triangles, oriented outward where they are closed.
pub struct Triangles {
    raw: Raw,
    closed: bool,
    normals: Vec<Vec3>,
    /// Of each triangle its edges, from each corner to the next.
    edges: Vec<[u32; 3]>,
    /// Of each edge one or two triangles; more than two are left out.
    sides: Vec<[u32; 2]>,
    /// Triangles around corner i: `around[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    around: Vec<u32>,
    shape: TriMesh,
    extent: Aabb,
}

impl std::fmt::Debug for Triangles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} triangles", self.raw.faces.len())
    }
}

/// No triangle.
pub const NONE: u32 = u32::MAX;

impl Triangles {
    /// Triangles that are [joined](Raw::joined); none where there are none. `closed` says that they enclose a volume, oriented outward.
    pub fn new(raw: Raw, closed: bool) -> Option<Self> {
        // edges between triangles in one plane push along no other normal than that
        let flags = if closed {
            TriMeshFlags::FIX_INTERNAL_EDGES
        } else {
            TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED
        };
        let vertices = raw.corners.iter().map(|p| Vector::from_array(*p)).collect();
        let shape = TriMesh::with_flags(vertices, raw.faces.clone(), flags).ok()?;
        let normals = raw.faces.iter().map(|face| {
            let [a, b, c] = face.map(|i| Vec3(raw.corners[i as usize]));
            super::place::unit((b - a).cross(c - a)).unwrap_or(Vec3::zero())
        });
        let normals = normals.collect();

        let mut numbers: HashMap<[u32; 2], u32> = HashMap::new();
        let mut sides: Vec<[u32; 2]> = Vec::new();
        let mut edges = Vec::new();
        let mut counts = vec![0u32; raw.corners.len() + 1];
        for (f, face) in raw.faces.iter().enumerate() {
            edges.push([0, 1, 2].map(|k| {
                let (a, b) = (face[k], face[(k + 1) % 3]);
                let edge = *numbers.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    sides.push([NONE; 2]);
                    sides.len() as u32 - 1
                });
                if let Some(side) = sides[edge as usize].iter_mut().find(|side| **side == NONE) {
                    *side = f as u32;
                }
                edge
            }));
            face.iter().for_each(|i| counts[*i as usize + 1] += 1);
        }
        for i in 1..counts.len() {
            counts[i] += counts[i - 1];
        }
        let (starts, mut next) = (counts.clone(), counts);
        let mut around = vec![0; 3 * raw.faces.len()];
        for (f, face) in raw.faces.iter().enumerate() {
            for i in face {
                around[next[*i as usize] as usize] = f as u32;
                next[*i as usize] += 1;
            }
        }
        let extent = raw.extent();
        Some(Triangles { raw, closed, normals, edges, sides, starts, around, shape, extent })
    }

    /// Its corners, own axes \[m\].
    pub fn corners(&self) -> &[[f64; 3]] {
        &self.raw.corners
    }

    /// Its triangles.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// Whether it has an inside.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Normals of the triangles; nothing for those without area.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// How many features there are: triangles, edges, corners.
    pub fn features(&self) -> u32 {
        (self.raw.faces.len() + self.sides.len() + self.raw.corners.len()) as u32
    }

    /// The corners of a triangle.
    pub fn triangle(&self, face: u32) -> [Vec3; 3] {
        self.raw.faces[face as usize].map(|i| Vec3(self.raw.corners[i as usize]))
    }

    /// Edge k of a triangle, and the triangles at it.
    pub fn edge(&self, face: u32, k: usize) -> (u32, [u32; 2]) {
        let edge = self.edges[face as usize][k];
        (edge, self.sides[edge as usize])
    }

    /// Corner k of a triangle, and the triangles at it.
    pub fn corner(&self, face: u32, k: usize) -> (u32, &[u32]) {
        let corner = self.raw.faces[face as usize][k];
        let i = corner as usize;
        (corner, &self.around[self.starts[i] as usize..self.starts[i + 1] as usize])
    }

    pub(super) fn shape(&self) -> &TriMesh {
        &self.shape
    }

    /// The least box around it, own axes.
    pub fn extent(&self) -> &Aabb {
        &self.extent
    }
}
