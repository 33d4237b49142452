//! Boxes, cylinders and hulls among themselves and on triangles, in space.
//!
//! Patches of boxes, hulls and faces are those of [`super::patch`], those on triangles of [`super::facets`]. The side of a cylinder touches
//! edges and corners of boxes and hulls as a capsule does ([`super::capsule`]). For what is left, rims of cylinders on edges and corners,
//! cylinders on each other and nearest points of bodies that are apart, `parry` finds the points, by the algorithms of Gilbert, Johnson and
//! Keerthi and of expanding polytopes. What it finds at the values of the poses is frozen to features, from which the point is written
//! anew with derivatives:
//!
//! - a face of one with the normal n: the plane goes with its body, the point with the other one. A cylinder touches with the point of its
//!   rim or side that is lowest along n;
//! - an edge of each: n = ±(e₁ × e₂)/|e₁ × e₂|;
//! - an edge of one, or none, and a round other: n from core to core, with the foot on the edge;
//! - else a plane that goes with the second body.
//!
//! As p₁ - p₂ = g n, the derivative of the gap is that of n·(p₁ - p₂) at fixed n: exact for all of these. Those of n and of the points leave out
//! how points slide along edges.
//!
//! Rims of cylinders that overlap something else than a face, and cylinders that overlap each other, are found to some 1e-4 of their size. Two meshes touch with the corners of each on the
//! other; edges that cross are not seen.

use super::capsule::{self, EdgeCrossings};
use super::facets::{Numbers, OnMesh};
use super::mesh::TriangleMesh;
use super::patch::{self, ConvexSolid, TwoSolids};
use super::points::{Cores, curvature, unit};
use super::round::LineSegment;
use super::solid::BallNearSolid;
use super::triangle::on_triangles;
use super::walls;
use crate::contact::surface::{Geometry, Surface, Touch, rounding};
use parry3d_f64::math::{Pose as Isometry, Rotation, Vector};
use parry3d_f64::query::{self, ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{self, Capsule, ConvexPolyhedron, Cuboid, Cylinder, PackedFeatureId};
use sarrus_math::{Mat3, Pose, Real, Vec3};
use std::cell::RefCell;

/// Describes how many points a convex pair has numbers for. More of them share these: they push all the same, and remember as one.
const SLOTS: u32 = 64;

/// Distances up to this part of the size of two bodies are rounding: points so near are one, and faces so near touch all over.
const NEAR: f64 = 1e-6;

/// cos of the angle within which a normal is that of a face.
const ALONG_FACE: f64 = 1.0 - 1e-9;

/// The same for curved bodies, whose normals are found by iteration; the gap is then that along the face's own normal.
const ALONG_FACE_OF_CURVED: f64 = 1.0 - 5e-5;

/// Cosine below which a direction is square to a normal.
const SQUARE: f64 = 1e-6;

/// Returns how many points a pair can touch at.
pub fn slots(a: &Geometry, b: &Geometry) -> u32 {
    match (a, b) {
        (Geometry::Mesh(a), Geometry::Mesh(b)) => {
            let of =
                |x: &TriangleMesh, y: &TriangleMesh| (x.corners().len() as u32).saturating_mul(y.features());
            of(a, b).saturating_add(of(b, a))
        }
        (other, Geometry::Mesh(mesh)) | (Geometry::Mesh(mesh), other) => {
            ConvexSolid::new(other).map_or(0, |solid| Numbers::new(&solid, mesh).count())
        }
        _ => match (ConvexSolid::new(a), ConvexSolid::new(b)) {
            (Some(a), Some(b)) => SLOTS.max(patch::slots(&a, &b)),
            _ => SLOTS,
        },
    }
}

/// A number for a point, the same as long as its features are; `used` are those that others of the pair have.
fn number(key: u64, slots: u32, used: &mut Vec<u32>) -> u32 {
    let mut slot = (mixed(key) % u64::from(SLOTS)) as u32 % slots;
    if used.len() < slots as usize {
        while used.contains(&slot) {
            slot = (slot + 1) % slots;
        }
    }
    used.push(slot);
    slot
}

/// Holds what parry found, before it is frozen.
#[derive(Clone, Copy)]
struct ManifoldPoint {
    /// In the surfaces' own axes.
    p: [Vec3; 2],
    /// Push on the first, world axes.
    n: Vec3,
    key: u64,
}

type Manifold = ContactManifold<(), ()>;

/// Extent to which the deepest point of a patch may be off the overlap that was found with it, as a part of that.
const CONFIRMED: f64 = 1e-6;

thread_local! {
    static FACED: RefCell<patch::PatchWorkspace> = RefCell::default();
    static SCRATCH: RefCell<(Manifold, Vec<ManifoldPoint>, Vec<u32>)> = RefCell::new((Manifold::new(), Vec::new(), Vec::new()));
}

/// The points of a pair, of which only the second may be a mesh, and only the first a cylinder, unless both are.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    found: &mut impl FnMut(Touch<R>),
) {
    let frames = [a.frame(at[0]), b.frame(at[1])];
    if let (Geometry::Mesh(first), Geometry::Mesh(second)) = (&a.geometry, &b.geometry) {
        corners(first, second, [&frames[0], &frames[1]], reach, 0, found);
        let slot = (first.corners().len() as u32).saturating_mul(second.features());
        return corners(second, first, [&frames[1], &frames[0]], reach, slot, &mut |t: Touch<R>| {
            found(t.flipped())
        });
    }
    if let (Some(solid), Geometry::Mesh(mesh)) = (ConvexSolid::new(&a.geometry), &b.geometry) {
        return on_mesh(a, b, OnMesh { solid, mesh, frames }, reach, found);
    }
    if let Some(two) = TwoSolids::new(a, b, at)
        && !two.solids[1].is_curved()
        && (side_contact(b, &two, reach, found) || faced(a, b, &two, reach, found))
    {
        return;
    }
    // the callback may come back here: the list is taken out while it runs
    let (mut points, mut used) = SCRATCH.with_borrow_mut(|(manifold, points, used)| {
        points.clear();
        used.clear();
        ManifoldTask { a, b, frames: [frames[0].value(), frames[1].value()], reach }.find(manifold, points);
        // the order in which they are found must not decide who gets a number that two want
        points.sort_by_key(|point| point.key);
        (std::mem::take(points), std::mem::take(used))
    });
    let slots = slots(&a.geometry, &b.geometry);
    for point in &points {
        let touch = frozen(a, b, &frames, point, number(point.key, slots, &mut used));
        if touch.gap.value() < reach {
            found(touch);
        }
    }
    SCRATCH.with_borrow_mut(|(_, old, others)| {
        std::mem::swap(old, &mut points);
        std::mem::swap(others, &mut used);
    });
}

/// The points of a body on a mesh; where none overlaps, also that of the nearest points.
fn on_mesh<R: Real>(a: &Surface, b: &Surface, two: OnMesh<R>, reach: f64, found: &mut impl FnMut(Touch<R>)) {
    let numbers = Numbers::new(&two.solid, two.mesh);
    let mut least = f64::INFINITY;
    two.touches(reach, &mut |touch| {
        least = least.min(touch.gap.value());
        found(touch);
    });
    if least < 0.0 {
        return;
    }
    let task = ManifoldTask { a, b, frames: [two.frames[0].value(), two.frames[1].value()], reach };
    match task.nearest(two.mesh) {
        Some(point) => {
            let touch = frozen(a, b, &two.frames, &point, numbers.nearest());
            let far = touch.gap.value();
            if far > 0.0 && far < reach && far < least * (1.0 - CONFIRMED) {
                found(touch);
            }
        }
        // all of it is inside: each corner leaves by what is nearest
        None if two.mesh.closed() => {
            for i in 0..two.solid.corners() {
                let c = two.solid.corner(i, &two.frames[0], two.frames[1].rot.col(2));
                let ball = BallNearSolid { c, radius: 0.0, frame: &two.frames[1], reach: 0.0 };
                let local = two.frames[1].to_local(c - two.frames[1].p);
                on_triangles(two.mesh, local, f64::INFINITY, &mut |foot, k| {
                    ball.on(foot, numbers.over(i, k), found)
                });
            }
        }
        None => {}
    }
}

/// The points of a cylinder whose side is nearest to an edge or corner of the other, or deepest in it; returns false where it is not.
fn side_contact<R: Real>(
    b: &Surface,
    two: &TwoSolids<R>,
    reach: f64,
    found: &mut impl FnMut(Touch<R>),
) -> bool {
    let ConvexSolid::Cylinder { half, radius, along } = two.solids[0] else { return false };
    let value = two.value();
    let size = value.size();
    if !size.is_finite() {
        return false;
    }
    let Some((n, overlap, at_edge)) = value.side_contact() else { return false };
    if -overlap >= reach {
        return true;
    }
    // faces, of both, come first
    let off = CONFIRMED * overlap.abs() + patch::rounding(size);
    if value.separate().1 <= overlap + off {
        return false;
    }
    if at_edge {
        return seen(two, n, overlap, reach, found);
    }
    let line = LineSegment { m: two.frames[0].p, u: two.frames[0].rot.col(along), half };
    let own = two.solids[0].corners();
    // corners and crossings have the numbers of a patch
    let first = [own + two.solids[1].corners(), own];
    let crossing = EdgeCrossings { line: &line, frame: &two.frames[1], solid: &b.geometry, radius, first };
    let mut all = Vec::new();
    capsule::side_contact(&crossing, reach, &mut |touch| all.push(touch));
    let there = all.iter().any(|touch| touch.gap.value() <= off - overlap);
    if there {
        all.into_iter().filter(|touch| touch.gap.value() < reach).for_each(found);
    }
    there
}

/// The points of features that face each other along n, along which the bodies overlap; returns whether one is as deep.
fn seen<R: Real>(
    two: &TwoSolids<R>,
    n: Vec3,
    overlap: f64,
    reach: f64,
    found: &mut impl FnMut(Touch<R>),
) -> bool {
    let size = two.value().size();
    let flat = if two.solids[0].is_curved() { walls::FLAT * size } else { 0.0 };
    let off = CONFIRMED * overlap.abs() + patch::rounding(size) + flat;
    let least = if overlap > 0.0 { f64::NEG_INFINITY } else { -overlap - patch::rounding(size) };
    let mut scratch = FACED.take();
    let done = patch::touches(two, n, [least, off - overlap], reach, &mut scratch, found);
    FACED.set(scratch);
    done
}

/// The points of features that face each other; returns false where others are nearest, or deepest.
fn faced<R: Real>(
    a: &Surface,
    b: &Surface,
    two: &TwoSolids<R>,
    reach: f64,
    found: &mut impl FnMut(Touch<R>),
) -> bool {
    let value = two.value();
    let size = value.size();
    if !size.is_finite() {
        return true;
    }
    let (mut n, mut overlap) = value.separate();
    if -overlap >= reach {
        return true;
    }
    let boxes = two.solids.iter().all(|solid| matches!(solid, ConvexSolid::Box(_)));
    if (boxes || overlap <= 0.0) && seen(two, n, overlap, reach, found) {
        return true;
    }
    let task = ManifoldTask { a, b, frames: [value.frames[0], value.frames[1]], reach };
    for way in task.normal().into_iter().flat_map(|n| [n, -n]) {
        let along = value.overlap(way);
        if along < overlap {
            (n, overlap) = (way, along);
        }
    }
    seen(two, n, overlap, reach, found)
}

/// Corners of one mesh on another.
fn corners<R: Real>(
    a: &TriangleMesh,
    b: &TriangleMesh,
    frames: [&Pose<R>; 2],
    reach: f64,
    slot: u32,
    found: &mut impl FnMut(Touch<R>),
) {
    for &i in &a.flats().corners {
        let corner = &a.corners()[i as usize];
        let c = frames[0].point(corner);
        let local = frames[1].to_local(c - frames[1].p);
        let ball = BallNearSolid { c, radius: 0.0, frame: frames[1], reach };
        let first = slot.saturating_add(i.saturating_mul(b.features()));
        on_triangles(b, local, reach, &mut |foot, k| ball.on(foot, first.saturating_add(k), found));
    }
}

/// All bits of a number in all others (the finalizer of splitmix64).
pub(super) fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A shape of parry's.
enum ParryShape<'a> {
    Cuboid(Cuboid),
    Capsule(Capsule),
    Cylinder(Cylinder),
    Convex(&'a ConvexPolyhedron),
}

impl ParryShape<'_> {
    fn new(geometry: &Geometry) -> Option<ParryShape<'_>> {
        Some(match geometry {
            Geometry::Box { half } => ParryShape::Cuboid(Cuboid::new(Vector::from_array(*half))),
            Geometry::Capsule { half, radius } => ParryShape::Capsule(Capsule::new_x(*half, *radius)),
            Geometry::Cylinder { half, radius, .. } => ParryShape::Cylinder(Cylinder::new(*half, *radius)),
            Geometry::Convex(hull) => ParryShape::Convex(hull.shape()),
            _ => return None,
        })
    }

    fn shape(&self) -> &dyn shape::Shape {
        match self {
            ParryShape::Cuboid(shape) => shape,
            ParryShape::Capsule(shape) => shape,
            ParryShape::Cylinder(shape) => shape,
            ParryShape::Convex(shape) => *shape,
        }
    }
}

/// From parry's axes to the surface's own: its cylinders stand along y.
fn own_axes(geometry: &Geometry) -> Mat3 {
    match geometry {
        Geometry::Cylinder { along: 0, .. } => Mat3([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        Geometry::Cylinder { .. } => Mat3([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        _ => Mat3::identity(),
    }
}

struct ManifoldTask<'a> {
    a: &'a Surface,
    b: &'a Surface,
    frames: [Pose; 2],
    reach: f64,
}

impl ManifoldTask<'_> {
    fn find(&self, manifold: &mut Manifold, points: &mut Vec<ManifoldPoint>) {
        let Some(first) = ParryShape::new(&self.a.geometry) else { return };
        let axes = [own_axes(&self.a.geometry), own_axes(&self.b.geometry)];
        // pose of the second in parry's axes of the first
        let R = [self.frames[0].rot * axes[0], self.frames[1].rot * axes[1]];
        let Some(pos12) = relative(&R, self.frames[1].p - self.frames[0].p) else { return };
        let p = R[0].transpose_mul(self.frames[1].p - self.frames[0].p);
        // nothing is farther than this
        let size = |shape: &dyn shape::Shape| shape.compute_local_bounding_sphere().radius;
        let Some(second) = ParryShape::new(&self.b.geometry) else { return };
        let far = p.norm() + size(first.shape()) + size(second.shape());
        let shapes = [first.shape(), second.shape()];
        ConvexPair { shapes, pos12, reach: self.reach.min(far) }
            .find(manifold, &mut |p, n, key| self.reduce(points, &axes, &R, p, n, key));
    }

    /// The nearest points of a body and a mesh; none where they overlap or are farther than `reach`.
    fn nearest(&self, mesh: &TriangleMesh) -> Option<ManifoldPoint> {
        let first = ParryShape::new(&self.a.geometry)?;
        let axes = own_axes(&self.a.geometry);
        let R = [self.frames[0].rot * axes, self.frames[1].rot];
        let pos12 = relative(&R, self.frames[1].p - self.frames[0].p)?;
        let far = pos12.translation.length()
            + first.shape().compute_local_bounding_sphere().radius
            + mesh.shape().local_aabb().half_extents().length() * 2.0;
        let found =
            query::contact(&Isometry::IDENTITY, first.shape(), &pos12, mesh.shape(), self.reach.min(far));
        let contact = found.ok().flatten().filter(|contact| contact.dist > 0.0)?;
        let p2 = pos12.inverse_transform_point(contact.point2);
        let p = [axes * Vec3(contact.point1.to_array()), Vec3(p2.to_array())];
        let n = R[0] * Vec3((-contact.normal1).to_array());
        Some(ManifoldPoint { p, n, key: 0 })
    }

    /// The direction that parts two convex bodies, by `parry`.
    fn normal(&self) -> Option<Vec3> {
        let shapes = [ParryShape::new(&self.a.geometry)?, ParryShape::new(&self.b.geometry)?];
        let R = [0, 1].map(|i| self.frames[i].rot * own_axes(&[self.a, self.b][i].geometry));
        let pos12 = relative(&R, self.frames[1].p - self.frames[0].p)?;
        let [first, second] = shapes.each_ref().map(ParryShape::shape);
        let found = query::contact(&Isometry::IDENTITY, first, &pos12, second, f64::MAX).ok().flatten()?;
        unit(R[0] * Vec3((-found.normal1).to_array()))
    }

    /// Keeps a point unless there is one at the same point.
    fn reduce(
        &self,
        points: &mut Vec<ManifoldPoint>,
        axes: &[Mat3; 2],
        R: &[Mat3; 2],
        p: [Vec3; 2],
        n: Vec3,
        key: u64,
    ) {
        let p = [axes[0] * p[0], axes[1] * p[1]];
        let near = NEAR * (p[0].norm() + p[1].norm());
        let finite = p[0].0.iter().chain(&p[1].0).chain(&n.0).all(|x| x.is_finite());
        let same = |q: &ManifoldPoint| (q.p[0] - p[0]).norm() <= near && (q.p[1] - p[1]).norm() <= near;
        if finite && !points.iter().any(same) {
            // corners of two faces that coincide are features of either, as rounding has it: the first's count
            let sides = [(self.a, p[0], 1), (self.b, p[1], 2)];
            let corner = sides
                .into_iter()
                .find_map(|(surface, p, side)| corner(surface, p, near).map(|i| side << 32 | i as u64));
            let key = corner.unwrap_or(key);
            points.push(ManifoldPoint { p, n: R[0] * n, key });
        }
    }
}

/// The pose of axes R₂ in axes R₁, which are `p` apart; none where it is no number.
fn relative(R: &[Mat3; 2], p: Vec3) -> Option<Isometry> {
    let [w, x, y, z] = R[0].transpose_mul_mat(&R[1]).to_quat();
    let p = R[0].transpose_mul(p);
    let finite = p.0.iter().chain(&[w, x, y, z]).all(|x| x.is_finite());
    finite.then(|| Isometry::from_parts(Vector::from_array(p.0), Rotation::from_xyzw(x, y, z, w)))
}

/// The corner of a surface that is no farther than `near` from p, own axes.
fn corner(surface: &Surface, p: Vec3, near: f64) -> Option<usize> {
    match &surface.geometry {
        Geometry::Box { half } => {
            let at = (0..3).all(|i| (p[i].abs() - half[i]).abs() <= near);
            at.then(|| (0..3).map(|i| usize::from(p[i] > 0.0) << i).sum())
        }
        Geometry::Convex(hull) => hull.corners().iter().position(|c| (Vec3(*c) - p).norm() <= near),
        _ => None,
    }
}

/// Two convex shapes.
struct ConvexPair<'a> {
    shapes: [&'a dyn shape::Shape; 2],
    pos12: Isometry,
    reach: f64,
}

impl ConvexPair<'_> {
    /// Points, push on the first, both in the first's axes save the second point; features.
    fn find(&self, manifold: &mut Manifold, found: &mut impl FnMut([Vec3; 2], Vec3, u64)) {
        manifold.clear();
        manifold.local_n1 = Vector::ZERO;
        let [first, second] = self.shapes;
        let done = DefaultQueryDispatcher.contact_manifold_convex_convex(
            &self.pos12,
            first,
            second,
            None,
            None,
            self.reach,
            manifold,
        );
        let least = manifold.points.iter().map(|p| p.dist).fold(f64::INFINITY, f64::min);
        let near = NEAR * self.shapes.iter().map(|s| s.compute_local_bounding_sphere().radius).sum::<f64>();
        if done.is_ok() && least <= near {
            let known = |p: &PackedFeatureId| *p != PackedFeatureId::UNKNOWN;
            let spanned = manifold.points.iter().filter(|p| known(&p.fid1)).map(|p| p.dist);
            let spanned = spanned.fold(f64::INFINITY, f64::min);
            for point in &manifold.points {
                // the nearest points of two parallel faces are anywhere between the corners of the patch
                if !known(&point.fid1) && point.dist >= spanned - 1e-9 {
                    continue;
                }
                let p = [Vec3(point.local_p1.to_array()), Vec3(point.local_p2.to_array())];
                let key = u64::from(point.fid1.0) << 32 | u64::from(point.fid2.0);
                found(p, Vec3((-manifold.local_n1).to_array()), key);
            }
        } else if let Ok(Some(contact)) =
            query::contact(&Isometry::IDENTITY, first, &self.pos12, second, self.reach)
            && contact.dist > 0.0
        {
            let p2 = self.pos12.inverse_transform_point(contact.point2);
            let p = [Vec3(contact.point1.to_array()), Vec3(p2.to_array())];
            found(p, Vec3((-contact.normal1).to_array()), 0);
        }
    }
}

/// A point from what was found, with derivatives.
fn frozen<R: Real>(
    a: &Surface,
    b: &Surface,
    frames: &[Pose<R>; 2],
    point: &ManifoldPoint,
    slot: u32,
) -> Touch<R> {
    let radii = [rounding(&a.geometry), rounding(&b.geometry)];
    let n = point.n;
    let local = [frames[0].value().to_local(n), frames[1].value().to_local(n)];
    // cores, from which a capsule reaches out by its radius
    let p = [point.p[0] + local[0].scale(radii[0]), point.p[1] - local[1].scale(radii[1])];
    let material = |i: usize| frames[i].point(&p[i].0);
    let curved = [a, b].iter().any(|s| matches!(s.geometry, Geometry::Cylinder { .. }));
    let least = if curved { ALONG_FACE_OF_CURVED } else { ALONG_FACE };
    // a point moved along the normal to where the face is
    let on = |i: usize, (m, d): (Vec3, f64)| frames[i].point(&(p[i] + m.scale(d - m.dot(p[i]))).0);
    let cores = |points: [Vec3<R>; 2]| {
        let bent = |i: usize| curvature(radii[i]);
        Cores { points, radii, curvatures: [bent(0), bent(1)] }
    };
    if let Some(plane) = face(b, local[1], 1.0, least) {
        let normal = frames[1].rotate(&plane.0.0);
        return cores([lowest(a, &frames[0], p[0], -normal), on(1, plane)]).along(normal, slot);
    }
    if let Some(plane) = face(a, local[0], -1.0, least) {
        let normal = frames[0].rotate(&plane.0.0);
        return cores([on(0, plane), lowest(b, &frames[1], p[1], normal)]).along(normal, slot);
    }
    let edges = [edge(a, local[0], p[0]), edge(b, local[1], p[1])];
    let line = |i: usize| edges[i].map(|e| frames[i].rotate(&e.0));
    if let (Some(e), Some(f)) = (line(0), line(1))
        && let cross = e.cross(f)
        && cross.norm().value() > 1e-3
    {
        let side = if Vec3(cross.value()).dot(n) < 0.0 { -1.0 } else { 1.0 };
        let normal = cross.scale(R::from_f64(side) / cross.norm());
        return cores([material(0), material(1)]).along(normal, slot);
    }
    let way = Vec3(material(0).value()) - Vec3(material(1).value());
    if way.dot(n) > 1e-6 * (p[0].norm() + p[1].norm()) {
        let points = match (line(0), line(1)) {
            (Some(e), None) => [material(0) + e.scale(e.dot(material(1) - material(0))), material(1)],
            (None, Some(f)) => [material(0), material(1) + f.scale(f.dot(material(0) - material(1)))],
            _ => [material(0), material(1)],
        };
        let fallback = frames[1].rotate(&local[1].0);
        return cores(points).apart(|| fallback, slot);
    }
    let normal = frames[1].rotate(&local[1].0);
    cores([lowest(a, &frames[0], p[0], -normal), material(1)]).along(unit(normal).unwrap_or(normal), slot)
}

/// The face that pushes along n, own axes: its exact normal m, pointing as n does, and d of m·x = d. `out` is 1 where n points out of the
/// surface, -1 where into it.
fn face(surface: &Surface, n: Vec3, out: f64, least: f64) -> Option<(Vec3, f64)> {
    let axis = |i: usize, half: f64| {
        let mut axis = [0.0; 3];
        axis[i] = 1f64.copysign(n[i]);
        (n[i].abs() > least).then_some((Vec3(axis), out * half))
    };
    match &surface.geometry {
        Geometry::Box { half } => (0..3).find_map(|i| axis(i, half[i])),
        Geometry::Cylinder { along, half, .. } => axis(*along, *half),
        Geometry::Convex(hull) => {
            let found = hull.planes().iter().find(|(m, _)| out * m.dot(n) > least);
            found.map(|(m, d)| (m.scale(out), out * d))
        }
        _ => None,
    }
}

/// The direction of an edge or line through p that is square to n, own axes.
fn edge(surface: &Surface, n: Vec3, p: Vec3) -> Option<Vec3> {
    let through = |a: Vec3, b: Vec3| {
        let e = unit(b - a)?;
        let off = (p - a - e.scale(e.dot(p - a))).norm();
        (e.dot(n).abs() < SQUARE && off < 1e-6 * (1e-3 + (b - a).norm() + p.norm())).then_some(e)
    };
    match &surface.geometry {
        Geometry::Box { half } => (0..3).find_map(|i| {
            let mut axis = [0.0; 3];
            axis[i] = 1.0;
            let inside = p[i].abs() < half[i] * (1.0 - 1e-9);
            (n[i].abs() < SQUARE && inside).then_some(Vec3(axis))
        }),
        Geometry::Capsule { half, .. } => {
            let inside = p.x().abs() < half * (1.0 - 1e-9);
            (n.x().abs() < SQUARE && inside).then_some(Vec3([1.0, 0.0, 0.0]))
        }
        Geometry::Convex(hull) => {
            let corner = |i: u32| Vec3(hull.corners()[i as usize]);
            hull.edges().iter().find_map(|[i, j]| through(corner(*i), corner(*j)))
        }
        _ => None,
    }
}

/// The point of a surface that goes with it while the other pushes from `toward`: of a cylinder the one that is farthest that way about its
/// axis, if p is that one; else p itself.
fn lowest<R: Real>(surface: &Surface, frame: &Pose<R>, p: Vec3, toward: Vec3<R>) -> Vec3<R> {
    let Geometry::Cylinder { along, radius, .. } = surface.geometry else { return frame.point(&p.0) };
    let axis = frame.rot.col(along);
    let across = toward - axis.scale(axis.dot(toward));
    let mut arm = p;
    arm[along] = 0.0;
    let Some(u) = unit(across).filter(|_| across.norm().value() > SQUARE) else { return frame.point(&p.0) };
    let local = frame.value().to_local(Vec3(u.value()));
    // near enough that the true one is meant
    if (local.scale(radius) - arm).norm() > 0.05 * radius {
        return frame.point(&p.0);
    }
    let mut foot = [0.0; 3];
    foot[along] = p[along];
    frame.point(&foot) + u.scale_f64(radius)
}
