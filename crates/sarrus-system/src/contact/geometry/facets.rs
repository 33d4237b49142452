//! Boxes, hulls and cylinders on triangles, in space.
//!
//! A point is a point p₁ of the body and a point p₂ of the mesh with a normal n of their features, p₁ - p₂ = g n:
//!
//! - a corner of the body over a flat;
//! - a corner of the mesh in the body, which it leaves by the nearest face;
//! - an edge of the body and a ridge, with n = ±(e₁ × e₂)/|e₁ × e₂| between the normals of the flats at the ridge, or nearly.
//!
//! The middle of the body must be on the outer side of the features, of an open mesh on the side to which they push, and p₂ in the body, or
//! nearly. A corner of the body leaves by the nearest such flat. Pushed off any flat at a ridge or corner, the body is clear of it: so
//! no point there is deeper than the body is past one of its flats. No triangle counts, only flats, ridges and corners
//! ([`super::flats`]): a body lies on a flat as on a half-space. Crossings have the weight that [`super::patch`] says.
//!
//! The number of a point follows from its features alone, whatever other points there are and however far out they are searched for: it is
//! what a point is remembered by.

use super::flats::FlatOwner;
use super::mesh::{NONE, TriangleMesh};
use super::patch::{ConvexSolid, crossed, over_face};
use super::solid::{BallNearSolid, ClosestPoint, on_box, on_cylinder};
use super::triangle::{TriangleFeature, on_hull, window};
use crate::contact::surface::Touch;
use sarrus_math::{Pose, Real, Vec3};
use std::cell::RefCell;
use std::f64::consts::TAU;

/// Extent to which a normal may lean out of the space between those of a ridge's flats, as a sine.
const LEANING: f64 = 0.1;

/// Describes how far out of the body the foot of its corner may be, as a part of the depth: a corner that is pushed straight out of itself has 1.
const BESIDE: f64 = 0.75;

/// Part of its size by which a point may be out of a body and count as in it.
const ROUNDING: f64 = 1e-12;

/// Holds what meets at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FacetFeature {
    /// A corner of the body over a flat, from this side of it.
    Corner { corner: u32, flat: u32, side: f64 },
    /// A corner of the mesh in the body.
    Inside { corner: u32 },
    /// An edge of the body and a ridge, with about their normal in the world and their weight.
    Edges { edge: [u32; 2], ridge: u32, n: Vec3, weight: f64 },
}

/// Holds what is used again.
#[derive(Default)]
struct FacetWorkspace {
    faces: Vec<u32>,
    ridges: Vec<u32>,
    corners: Vec<u32>,
    outline: Vec<u32>,
    /// Of each corner of the body the flat that it is nearest to: distance, gap, flat and side.
    below: Vec<(f64, f64, u32, f64)>,
    features: Vec<FacetFeature>,
}

thread_local! {
    static SCRATCH: RefCell<FacetWorkspace> = RefCell::default();
}

/// Numbers of the points of a body on a mesh: first its corners over each flat, then corners of the mesh in it, crossings of each ridge
/// with its edges, and the nearest points of both.
pub struct Numbers {
    corners: u32,
    edges: u32,
    flats: u32,
    tips: u32,
    ridges: u32,
}

impl Numbers {
    /// Of a pair.
    pub fn new(solid: &ConvexSolid, mesh: &TriangleMesh) -> Numbers {
        let flats = mesh.flats();
        let [flat, tips, ridges] = [flats.planes.len(), flats.corners.len(), flats.ridges.len()];
        Numbers {
            corners: solid.corners(),
            edges: solid.edges(),
            flats: flat as u32,
            tips: tips as u32,
            ridges: ridges as u32,
        }
    }

    /// The number of them.
    pub fn count(&self) -> u32 {
        self.nearest().saturating_add(1)
    }

    /// Of a corner of the body over a flat; what is no flat counts as the first.
    pub fn over(&self, corner: u32, flat: u32) -> u32 {
        let flat = if flat < self.flats { flat } else { 0 };
        flat.saturating_mul(self.corners).saturating_add(corner)
    }

    /// Of a corner of the mesh.
    fn inside(&self, tip: u32) -> u32 {
        self.flats.saturating_mul(self.corners).saturating_add(tip)
    }

    /// Of an edge of the body on a ridge.
    fn crossing(&self, edge: u32, ridge: u32) -> u32 {
        self.inside(self.tips).saturating_add(ridge.saturating_mul(self.edges)).saturating_add(edge)
    }

    /// Of the nearest points.
    pub fn nearest(&self) -> u32 {
        self.crossing(0, self.ridges)
    }
}

/// A body on a mesh.
pub struct OnMesh<'a, R> {
    /// The body.
    pub solid: ConvexSolid<'a>,
    /// The mesh.
    pub mesh: &'a TriangleMesh,
    /// Own frames of both.
    pub frames: [Pose<R>; 2],
}

impl<R: Real> OnMesh<'_, R> {
    /// The points that are nearer than `reach`.
    pub fn touches(&self, reach: f64, found: &mut impl FnMut(Touch<R>)) {
        let value = OnMesh {
            solid: self.solid,
            mesh: self.mesh,
            frames: [self.frames[0].value(), self.frames[1].value()],
        };
        let mut scratch = SCRATCH.take();
        value.find(reach, &mut scratch);
        let numbers = Numbers::new(&self.solid, self.mesh);
        for feature in &scratch.features {
            let slot = match *feature {
                FacetFeature::Corner { corner, flat, .. } => numbers.over(corner, flat),
                FacetFeature::Inside { corner } => {
                    let tip = self.mesh.flats().corners.binary_search(&corner);
                    numbers.inside(tip.unwrap_or(0) as u32)
                }
                FacetFeature::Edges { edge, ridge, .. } => numbers.crossing(self.solid.edge(edge), ridge),
            };
            if let Some(touch) = self.touch_at(*feature).filter(|touch| touch.gap.value() < reach) {
                found(Touch { slot, ..touch });
            }
        }
        SCRATCH.set(scratch);
    }

    fn mesh_corner(&self, i: u32) -> Vec3<R> {
        self.frames[1].point(&self.mesh.corners()[i as usize])
    }

    fn touch_at(&self, feature: FacetFeature) -> Option<Touch<R>> {
        match feature {
            FacetFeature::Corner { corner, flat, side } => {
                let (n, d) = self.mesh.flats().planes[flat as usize];
                let normal = self.frames[1].rotate(&n.scale(side).0);
                let c = self.solid.corner(corner, &self.frames[0], normal);
                Some(over_face(c, normal, self.frames[1].point(&n.scale(d).0), 0))
            }
            FacetFeature::Inside { corner } => {
                let c = self.mesh_corner(corner);
                let frame = &self.frames[0];
                let local = frame.to_local(c - frame.p);
                let foot: ClosestPoint<R> = match self.solid {
                    ConvexSolid::Box(half) => on_box(local, half, false),
                    ConvexSolid::Hull(hull) => on_hull(hull, local),
                    ConvexSolid::Cylinder { half, radius, along } => on_cylinder(local, half, radius, along),
                    // a line has no inside
                    ConvexSolid::Line(_) => return None,
                };
                let mut touch = None;
                let ball = BallNearSolid { c, radius: 0.0, frame, reach: f64::INFINITY };
                ball.on(foot, 0, &mut |found| touch = Some(found.flipped()));
                touch
            }
            FacetFeature::Edges { edge, ridge, n, weight } => {
                let along = Vec3::from_f64(n.0);
                let a = edge.map(|i| self.solid.corner(i, &self.frames[0], along));
                let b = self.mesh.flats().ridges[ridge as usize].ends.map(|i| self.mesh_corner(i));
                crossed(a, b, n, weight, 0)
            }
        }
    }
}

impl OnMesh<'_, f64> {
    /// Finds the features that meet.
    fn find(&self, reach: f64, scratch: &mut FacetWorkspace) {
        let FacetWorkspace { faces, ridges, corners, outline, below, features } = scratch;
        let (mesh, flats) = (self.mesh, self.mesh.flats());
        let [body, own] = &self.frames;
        let support =
            |k: usize, sign: f64| self.solid.support(body.to_local(own.rot.col(k)).scale(sign)) * sign;
        let middle = own.to_local(body.p - own.p);
        let low = Vec3([0, 1, 2].map(|k| middle[k] + support(k, -1.0)));
        let high = Vec3([0, 1, 2].map(|k| middle[k] + support(k, 1.0)));
        let size = (high - low).norm();
        faces.clear();
        faces.extend(mesh.shape().bvh().intersect_aabb(&window(&[low, high], reach.min(size))));
        let off = ROUNDING * (size + middle.norm());
        let out = |p: Vec3| self.solid.out(body.to_local(own.point(&p.0) - body.p));
        let centre = own.to_local(body.point(&self.solid.middle().0) - own.p);
        features.clear();
        below.clear();
        below.resize(self.solid.corners() as usize, (f64::INFINITY, 0.0, NONE, 1.0));

        for &face in faces.iter() {
            let flat = flats.of_face[face as usize];
            let (n, d) = flats.planes[flat as usize];
            let over = n.dot(centre) - d;
            if mesh.closed() && over <= 0.0 {
                continue;
            }
            let side = if over < 0.0 { -1.0 } else { 1.0 };
            let toward = own.rotate(&n.scale(side).0);
            for (i, below) in below.iter_mut().enumerate() {
                let p = own.to_local(self.solid.corner(i as u32, body, toward) - own.p);
                let gap = side * (n.dot(p) - d);
                let foot = p - n.scale(side * gap);
                if gap >= reach || !is_over(mesh.triangle(face), n, foot, off) {
                    continue;
                }
                // what overlaps comes first
                let first = gap < 0.0 && below.1 >= 0.0;
                let nearer = (gap < 0.0) == (below.1 < 0.0) && gap.abs() < below.0;
                if (first || nearer) && (gap >= 0.0 || out(foot) <= off - BESIDE * gap) {
                    *below = (gap.abs(), gap, flat, side);
                }
            }
        }
        for (i, &(.., flat, side)) in below.iter().enumerate().filter(|(_, own)| own.2 != NONE) {
            features.push(FacetFeature::Corner { corner: i as u32, flat, side });
        }

        ridges.clear();
        corners.clear();
        for &face in faces.iter() {
            for k in 0..3 {
                if let FlatOwner::Ridge(ridge) = mesh.owner(TriangleFeature::Edge(k), face)
                    && flats.ridges[ridge as usize].convex
                    && !ridges.contains(&ridge)
                {
                    ridges.push(ridge);
                }
                if let FlatOwner::Corner(corner) = mesh.owner(TriangleFeature::Corner(k), face)
                    && !corners.contains(&corner)
                {
                    corners.push(corner);
                    let depth = -out(Vec3(mesh.corners()[corner as usize]));
                    let at = mesh.around(corner).iter().map(|face| flats.of_face[*face as usize]);
                    if depth > 0.0 && self.pokes(corner) && depth <= self.past(at) + off {
                        features.push(FacetFeature::Inside { corner });
                    }
                }
            }
        }
        for &ridge in ridges.iter() {
            self.crossings(ridge, own.point(&centre.0), off, outline, features);
        }
    }

    /// Returns how far the body is past the plane of the flat, of some, that it is least past; of an open mesh to either side \[m\].
    fn past(&self, flats: impl Iterator<Item = u32>) -> f64 {
        let [body, own] = &self.frames;
        let past = |flat: u32| {
            let (n, d) = self.mesh.flats().planes[flat as usize];
            let (n, d) = (own.rotate(&n.0), d + own.rotate(&n.0).dot(own.p));
            let beyond =
                |sign: f64| self.solid.support(body.to_local(n).scale(-sign)) + sign * (d - n.dot(body.p));
            if self.mesh.closed() { beyond(1.0) } else { beyond(1.0).min(beyond(-1.0)) }
        };
        flats.map(past).fold(f64::INFINITY, f64::min)
    }

    /// Returns whether all ridges at a corner bend outward.
    fn pokes(&self, corner: u32) -> bool {
        let (mesh, flats) = (self.mesh, self.mesh.flats());
        self.mesh.around(corner).iter().all(|&face| {
            (0..3).all(|k| match mesh.owner(TriangleFeature::Edge(k), face) {
                FlatOwner::Ridge(ridge) => {
                    let ridge = &flats.ridges[ridge as usize];
                    !ridge.ends.contains(&corner) || ridge.convex
                }
                _ => true,
            })
        })
    }

    /// Edges of the body that cross a ridge, as they face its flats and the mean of these.
    fn crossings(
        &self,
        number: u32,
        centre: Vec3,
        off: f64,
        outline: &mut Vec<u32>,
        features: &mut Vec<FacetFeature>,
    ) {
        let flats = self.mesh.flats();
        let ridge = &flats.ridges[number as usize];
        let [body, own] = &self.frames;
        let b = ridge.ends.map(|i| self.mesh_corner(i));
        let Some(f) = super::points::unit(b[1] - b[0]) else { return };
        let length = (b[1] - b[0]).norm();
        let first = own.rotate(&flats.planes[ridge.flats[0] as usize].0.0);
        let rim = ridge.flats[1] == NONE;
        let normals = match flats.planes.get(ridge.flats[1] as usize) {
            Some((n, _)) => [first, own.rotate(&n.0)],
            // a rim may push either way
            None => [if first.dot(centre - b[0]) < 0.0 { -first } else { first }; 2],
        };
        let past = self.past(ridge.flats.into_iter().filter(|flat| *flat != NONE));
        for n in [normals[0], normals[1], normals[0] + normals[1]] {
            self.solid.outline(body.to_local(-n), outline);
            let count = outline.len();
            for k in 0..if count == 2 { 1 } else { count } {
                let edge = [outline[k], outline[(k + 1) % count]];
                let a = edge.map(|i| self.solid.corner(i, body, n));
                let Some(touch) = crossed(a, b, n, 1.0, 0).filter(|touch| touch.gap < 0.0) else { continue };
                let (e, normal) = (a[1] - a[0], touch.normal);
                let s = (touch.points[0] - a[0]).dot(e) / e.norm_squared();
                let t = (touch.points[1] - b[0]).dot(f);
                let leans = |k: usize| {
                    let mut inward = normals[k].cross(f);
                    if inward.dot(normals[1 - k]) > 0.0 {
                        inward = -inward;
                    }
                    normal.dot(inward) > LEANING
                };
                if !(s > 0.0 && s < 1.0 && t > 0.0 && t < length)
                    || normal.dot(centre - b[0]) <= 0.0
                    || !rim && (leans(0) || leans(1))
                    || self.solid.out(body.to_local(touch.points[1] - body.p)) > off - LEANING * touch.gap
                    || -touch.gap > past + off
                {
                    continue;
                }
                let same = |own: &FacetFeature| matches!(own, FacetFeature::Edges { edge: other, ridge, .. } if *ridge == number && (*other == edge || *other == [edge[1], edge[0]]));
                if !features.iter().any(same) {
                    let sharp = e.cross(f).norm().atan2(e.dot(f).abs());
                    let angle = if count > 2 { sharp / (TAU / count.min(4) as f64) } else { 1.0 };
                    features.push(FacetFeature::Edges { edge, ridge: number, n: normal, weight: angle });
                }
            }
        }
    }
}

/// Decides whether a point in the plane of a triangle with the normal n is on it, up to `off`.
fn is_over(triangle: [Vec3; 3], n: Vec3, p: Vec3, off: f64) -> bool {
    (0..3).all(|k| {
        let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
        n.cross(b - a).dot(p - a) >= -off * (b - a).norm()
    })
}
