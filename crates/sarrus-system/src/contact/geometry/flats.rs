//! Faces, edges and corners of triangles, whatever the triangulation: triangles in one plane that hang together are one flat, edges between
//! two flats that run on in a line are one ridge, and corners are where ridges end or bend.

use super::mesh::{NONE, Raw};
use super::points::unit;
use sarrus_math::Vec3;

/// Extent to which corners of one flat may lie off its plane, as a part of the extent of the mesh: files have numbers of single precision.
const COPLANAR: f64 = f32::EPSILON as f64;

/// An edge between flats.
#[derive(Clone, Debug)]
pub struct Ridge {
    /// Its corners.
    pub ends: [u32; 2],
    /// The flats at it, the second [`NONE`] at a rim.
    pub flats: [u32; 2],
    /// True if the surface bends away from the outside, or ends.
    pub convex: bool,
}

/// Identifies which flat, ridge or corner a part of a triangle belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatOwner {
    /// A flat.
    Flat(u32),
    /// A ridge.
    Ridge(u32),
    /// A corner of the mesh.
    Corner(u32),
}

/// Holds what a mesh consists of.
#[derive(Clone, Debug, Default)]
pub struct Flats {
    /// Outward normals, and how far out the planes are.
    pub planes: Vec<(Vec3, f64)>,
    /// Of each triangle.
    pub of_face: Vec<u32>,
    /// Edges between flats.
    pub ridges: Vec<Ridge>,
    /// Of each edge of the triangles.
    pub of_edge: Vec<FlatOwner>,
    /// Of each corner of the triangles.
    pub of_corner: Vec<FlatOwner>,
    /// Corners that end a ridge.
    pub corners: Vec<u32>,
}

impl Flats {
    /// Of triangles with these edges, normals, and triangles at each edge.
    pub fn new(raw: &Raw, normals: &[Vec3], edges: &[[u32; 3]], sides: &[[u32; 2]]) -> Flats {
        let at = |i: u32| Vec3(raw.corners[i as usize]);
        let extent = raw.corners.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut flats = Flats { of_face: vec![NONE; raw.faces.len()], ..Flats::default() };
        flats.grow(raw, normals, edges, sides, COPLANAR * extent);

        // corners of each edge, and the edges between flats at each corner
        let mut ends = vec![[0; 2]; sides.len()];
        for (face, own) in raw.faces.iter().zip(edges) {
            (0..3).for_each(|k| ends[own[k] as usize] = [face[k], face[(k + 1) % 3]]);
        }
        let flat = |face: u32| flats.of_face.get(face as usize).copied().unwrap_or(NONE);
        let inner = |edge: usize| sides[edge][1] != NONE && flat(sides[edge][0]) == flat(sides[edge][1]);
        let mut bent: Vec<Vec<u32>> = vec![Vec::new(); raw.corners.len()];
        for edge in (0..sides.len()).filter(|edge| !inner(*edge)) {
            ends[edge].iter().for_each(|i| bent[*i as usize].push(edge as u32));
        }
        let way = |edge: u32, from: u32| {
            let [a, b] = ends[edge as usize];
            unit(at(a + b - from) - at(from)).unwrap_or(Vec3::zero())
        };
        let pair = |edge: u32| {
            let [a, b] = sides[edge as usize].map(flat);
            [a.min(b), a.max(b)]
        };
        let runs_on = |i: u32| match bent[i as usize][..] {
            [e, f] => {
                pair(e) == pair(f) && way(e, i).dot(way(f, i)) < 0.0 && {
                    let (p, q) = (
                        at(ends[e as usize].iter().sum::<u32>() - i),
                        at(ends[f as usize].iter().sum::<u32>() - i),
                    );
                    let along = unit(q - p).unwrap_or(Vec3::zero());
                    let off = at(i) - p;
                    (off - along.scale(off.dot(along))).norm() <= COPLANAR * extent
                }
            }
            _ => false,
        };
        // ridges, from one end to the other
        let mut of_edge = vec![FlatOwner::Flat(NONE); sides.len()];
        for edge in 0..sides.len() {
            if inner(edge) {
                of_edge[edge] = FlatOwner::Flat(flat(sides[edge][0]));
            } else if of_edge[edge] == FlatOwner::Flat(NONE) {
                let number = FlatOwner::Ridge(flats.ridges.len() as u32);
                of_edge[edge] = number;
                let far = ends[edge].map(|mut i| {
                    let mut last = edge as u32;
                    while runs_on(i) {
                        let Some(next) = bent[i as usize].iter().copied().find(|e| *e != last) else { break };
                        if next == edge as u32 {
                            break;
                        }
                        of_edge[next as usize] = number;
                        i = ends[next as usize].iter().sum::<u32>() - i;
                        last = next;
                    }
                    i
                });
                let [a, b] = sides[edge].map(|face| normals.get(face as usize));
                let convex = match (a, b) {
                    (Some(a), Some(b)) => {
                        // its own triangle is to the left of each edge
                        let face = raw.faces[sides[edge][0] as usize];
                        let k =
                            (0..3).find(|k| edges[sides[edge][0] as usize][*k] as usize == edge).unwrap_or(0);
                        a.cross(*b).dot(at(face[(k + 1) % 3]) - at(face[k])) > 0.0
                    }
                    _ => true,
                };
                let flats_at = [flat(sides[edge][0]), flat(sides[edge][1])];
                flats.ridges.push(Ridge { ends: far, flats: flats_at, convex });
            }
        }
        let mut of_corner = Vec::with_capacity(raw.corners.len());
        let mut any = vec![NONE; raw.corners.len()];
        for (f, face) in raw.faces.iter().enumerate() {
            face.iter().for_each(|i| any[*i as usize] = flats.of_face[f]);
        }
        for i in 0..raw.corners.len() as u32 {
            of_corner.push(match bent[i as usize].first() {
                None => FlatOwner::Flat(any[i as usize]),
                Some(edge) if runs_on(i) => of_edge[*edge as usize],
                Some(_) => FlatOwner::Corner(i),
            });
        }
        flats.corners = (0..raw.corners.len() as u32)
            .filter(|i| of_corner[*i as usize] == FlatOwner::Corner(*i))
            .collect();
        (flats.of_edge, flats.of_corner) = (of_edge, of_corner);
        flats
    }

    /// Puts triangles together that lie in the plane of the first of them, from neighbour to neighbour; the largest are first ones.
    fn grow(&mut self, raw: &Raw, normals: &[Vec3], edges: &[[u32; 3]], sides: &[[u32; 2]], off: f64) {
        let at = |i: u32| Vec3(raw.corners[i as usize]);
        let area = |f: usize| {
            let [a, b, c] = raw.faces[f].map(at);
            (b - a).cross(c - a).norm()
        };
        let mut order: Vec<usize> = (0..raw.faces.len()).collect();
        order.sort_by(|f, g| area(*g).total_cmp(&area(*f)).then(f.cmp(g)));
        let mut open = Vec::new();
        for first in order {
            if self.of_face[first] != NONE {
                continue;
            }
            let (n, number) = (normals[first], self.planes.len() as u32);
            let out = n.dot(at(raw.faces[first][0]));
            self.planes.push((n, out));
            self.of_face[first] = number;
            open.push(first);
            while let Some(face) = open.pop() {
                for k in 0..3 {
                    for next in sides[edges[face][k] as usize].iter().map(|f| *f as usize) {
                        if self.of_face.get(next) == Some(&NONE)
                            && (normals[next].dot(n) > 0.0 || normals[next] == Vec3::zero())
                            && raw.faces[next].iter().all(|i| (n.dot(at(*i)) - out).abs() <= off)
                        {
                            self.of_face[next] = number;
                            open.push(next);
                        }
                    }
                }
            }
        }
    }
}
