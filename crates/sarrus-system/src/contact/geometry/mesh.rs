//! Polyhedra and triangles from files, as they are touched.

use super::bounds::Aabb;
use super::flats::{FlatOwner, Flats};
use super::triangle::TriangleFeature;
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
    colours: Vec<u32>,
    ridges: Vec<[Vec3; 2]>,
    /// Corners of face k, counterclockwise seen from outside: `outlines[starts[k]..starts[k + 1]]`.
    outlines: Vec<u32>,
    starts: Vec<u32>,
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
        let (mut outlines, mut starts) = (Vec::new(), vec![0]);
        for face in shape.faces() {
            let (first, count) = (face.first_vertex_or_edge as usize, face.num_vertices_or_edges as usize);
            let mut outline = shape.vertices_adj_to_face()[first..first + count].to_vec();
            let at = |k: usize| Vec3(raw.corners[outline[k % count] as usize]);
            let area = (1..count).fold(Vec3::zero(), |a, k| a + (at(k) - at(0)).cross(at(k + 1) - at(0)));
            if area.dot(Vec3(face.normal.to_array())) < 0.0 {
                outline.reverse();
            }
            outlines.extend(outline);
            starts.push(outlines.len() as u32);
        }
        // edges between faces, each seen once from either side
        let (mut edges, mut ridges) = (Vec::new(), Vec::new());
        let mut seen: HashMap<[u32; 2], usize> = HashMap::new();
        for (k, face) in shape.faces().iter().enumerate() {
            let outline = &outlines[starts[k] as usize..starts[k + 1] as usize];
            let normal = Vec3(face.normal.to_array());
            for (i, &a) in outline.iter().enumerate() {
                let b = outline[(i + 1) % outline.len()];
                let number = *seen.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    edges.push([a, b]);
                    ridges.push([normal; 2]);
                    edges.len() - 1
                });
                ridges[number][1] = normal;
            }
        }
        let colours = colours(&edges, &outlines, &starts);
        let extent = raw.extent();
        Some(Hull { raw, planes, edges, colours, ridges, outlines, starts, shape, extent })
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

    /// Corners of a face, counterclockwise seen from outside.
    pub fn outline(&self, face: usize) -> &[u32] {
        &self.outlines[self.starts[face] as usize..self.starts[face + 1] as usize]
    }

    /// Corners of its edges.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// A number for each edge that no other edge of its faces has; few numbers for all.
    pub fn colours(&self) -> &[u32] {
        &self.colours
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

/// The least number for each edge in turn that no edge before it has in either of its faces, whose corners are
/// `outlines[starts[k]..starts[k + 1]]`.
fn colours(edges: &[[u32; 2]], outlines: &[u32], starts: &[u32]) -> Vec<u32> {
    let key = |a: u32, b: u32| [a.min(b), a.max(b)];
    let numbers: HashMap<_, _> = edges.iter().enumerate().map(|(k, &[a, b])| (key(a, b), k)).collect();
    let faces = starts.windows(2).map(|ends| {
        let outline = &outlines[ends[0] as usize..ends[1] as usize];
        let next = outline.iter().cycle().skip(1);
        outline.iter().zip(next).filter_map(|(&a, &b)| numbers.get(&key(a, b)).copied()).collect()
    });
    let faces: Vec<Vec<usize>> = faces.collect();
    let mut faces_at = vec![Vec::new(); edges.len()];
    for (number, face) in faces.iter().enumerate() {
        face.iter().for_each(|&k| faces_at[k].push(number));
    }
    let mut colours = vec![NONE; edges.len()];
    for (k, at) in faces_at.iter().enumerate() {
        let taken: Vec<u32> = at.iter().flat_map(|&face| &faces[face]).map(|&other| colours[other]).collect();
        colours[k] = (0..).find(|colour| !taken.contains(colour)).unwrap_or(0);
    }
    colours
}

/// Triangles, oriented outward where they are closed.
pub struct TriangleMesh {
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
    flats: Flats,
    shape: TriMesh,
    extent: Aabb,
}

impl std::fmt::Debug for TriangleMesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} triangles", self.raw.faces.len())
    }
}

/// No triangle.
pub const NONE: u32 = u32::MAX;

impl TriangleMesh {
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
            super::points::unit((b - a).cross(c - a)).unwrap_or(Vec3::zero())
        });
        let normals: Vec<Vec3> = normals.collect();

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
        let flats = Flats::new(&raw, &normals, &edges, &sides);
        Some(TriangleMesh { raw, closed, normals, edges, sides, starts, around, flats, shape, extent })
    }

    /// Its corners, own axes \[m\].
    pub fn corners(&self) -> &[[f64; 3]] {
        &self.raw.corners
    }

    /// Its triangles.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// Its faces, edges and corners, whatever the triangulation.
    pub fn flats(&self) -> &Flats {
        &self.flats
    }

    /// Returns which of them a part of a triangle belongs to.
    pub fn owner(&self, part: TriangleFeature, face: u32) -> FlatOwner {
        match part {
            TriangleFeature::Face => FlatOwner::Flat(self.flats.of_face[face as usize]),
            TriangleFeature::Edge(k) => self.flats.of_edge[self.edge(face, k).0 as usize],
            TriangleFeature::Corner(k) => self.flats.of_corner[self.corner(face, k).0 as usize],
        }
    }

    /// The number of a flat, ridge or corner among all.
    pub fn number(&self, owner: FlatOwner) -> u32 {
        match owner {
            FlatOwner::Flat(flat) => flat,
            FlatOwner::Ridge(ridge) => self.raw.faces.len() as u32 + ridge,
            FlatOwner::Corner(corner) => self.features() - 1 - corner,
        }
    }

    /// The same as a hull, where it is closed and its edges bend outward.
    pub fn hull(&self) -> Option<Hull> {
        let convex = self.closed && self.flats.ridges.iter().all(|ridge| ridge.convex);
        let corners: Vec<[f64; 3]> =
            self.flats.corners.iter().map(|i| self.raw.corners[*i as usize]).collect();
        convex.then(|| Hull::new(&corners)).flatten()
    }

    /// Returns whether it has an inside.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Normals of the triangles; nothing for those without area.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Number of features at most: triangles, edges, corners.
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
        (corner, self.around(corner))
    }

    /// The triangles at a corner.
    pub fn around(&self, corner: u32) -> &[u32] {
        let i = corner as usize;
        &self.around[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    pub(super) fn shape(&self) -> &TriMesh {
        &self.shape
    }

    /// The least box around it, own axes.
    pub fn extent(&self) -> &Aabb {
        &self.extent
    }
}
