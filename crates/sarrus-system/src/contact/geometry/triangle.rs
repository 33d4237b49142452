//! A point over triangles: hulls from outside, meshes from either side.
//!
//! Over a flat ([`super::flats`]) the nearest point is on it, on a ridge or at a corner; a ridge or corner is a place of its own only if it is
//! the nearest of all flats that meet there, so that a ball that rolls over a flat of many triangles touches it once, and in a groove twice.
//! Inside a closed mesh, where the nearest feature is seen from behind, that feature alone is the point, and the way out is through it.

use super::flats::FlatOwner;
use super::mesh::{Hull, NONE, Raw, TriangleMesh};
use super::points::unit;
use super::solid::ClosestPoint;
use parry3d_f64::bounding_volume::Aabb as Box3;
use parry3d_f64::math::Vector;
use sarrus_math::{Real, Vec3};
use std::cell::RefCell;

/// Holds what of a triangle is nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriangleFeature {
    /// Its face.
    Face,
    /// The edge from this corner to the next.
    Edge(usize),
    /// This corner.
    Corner(usize),
}

/// The nearest part of a triangle, and the square of the distance \[Ericson2005, section 5.1.5\].
pub fn nearest([a, b, c]: [Vec3; 3], p: Vec3) -> (TriangleFeature, f64) {
    let (ab, ac) = (b - a, c - a);
    let corner = |k: usize, x: Vec3| (TriangleFeature::Corner(k), (p - x).norm_squared());
    let edge = |k: usize, x: Vec3, y: Vec3| {
        let t = (p - x).dot(y - x) / (y - x).norm_squared();
        (TriangleFeature::Edge(k), (p - x - (y - x).scale(t)).norm_squared())
    };
    let (d1, d2) = (ab.dot(p - a), ac.dot(p - a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return corner(0, a);
    }
    let (d3, d4) = (ab.dot(p - b), ac.dot(p - b));
    if d3 >= 0.0 && d4 <= d3 {
        return corner(1, b);
    }
    if d1 * d4 - d3 * d2 <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return edge(0, a, b);
    }
    let (d5, d6) = (ab.dot(p - c), ac.dot(p - c));
    if d6 >= 0.0 && d5 <= d6 {
        return corner(2, c);
    }
    if d5 * d2 - d1 * d6 <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return edge(2, c, a);
    }
    if d3 * d6 - d5 * d4 <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return edge(1, b, c);
    }
    let n = ab.cross(ac);
    let over = n.dot(p - a);
    (TriangleFeature::Face, over * over / n.norm_squared())
}

/// c from a face through o.
fn flat<R: Real>(n: Vec3, o: Vec3, c: Vec3<R>) -> ClosestPoint<R> {
    let normal = Vec3::from_f64(n.0);
    ClosestPoint {
        normal,
        distance: (c - Vec3::from_f64(o.0)).dot(normal),
        curvature: [0.0; 2],
        on_face: true,
    }
}

/// c from a corner, or from an edge through it along `e`. Where it lies on it, `else_along` is the way out.
fn away<R: Real>(o: Vec3, e: Option<Vec3>, c: Vec3<R>, else_along: Vec3) -> ClosestPoint<R> {
    let rel = c - Vec3::from_f64(o.0);
    let d = e.map_or(rel, |e| rel - Vec3::from_f64(e.0).scale(rel.dot_f64(&e.0)));
    match unit(d) {
        Some(normal) => ClosestPoint { normal, distance: d.norm(), curvature: [0.0; 2], on_face: false },
        None => flat(else_along, o, c),
    }
}

/// c from a part of a triangle of a hull.
fn foot<R: Real>(triangle: [Vec3; 3], part: TriangleFeature, n: Vec3, c: Vec3<R>) -> ClosestPoint<R> {
    match part {
        TriangleFeature::Face => flat(n, triangle[0], c),
        TriangleFeature::Corner(k) => away(triangle[k], None, c, n),
        TriangleFeature::Edge(k) => away(triangle[k], unit(triangle[(k + 1) % 3] - triangle[k]), c, n),
    }
}

/// c from a flat, ridge or corner of a mesh.
fn foot_of<R: Real>(mesh: &TriangleMesh, owner: FlatOwner, c: Vec3<R>, out: Vec3) -> ClosestPoint<R> {
    let at = |i: u32| Vec3(mesh.corners()[i as usize]);
    match owner {
        FlatOwner::Flat(k) => {
            let (n, d) = mesh.flats().planes[k as usize];
            flat(n, n.scale(d), c)
        }
        FlatOwner::Ridge(k) => {
            let [from, to] = mesh.flats().ridges[k as usize].ends.map(at);
            away(from, unit(to - from), c, out)
        }
        FlatOwner::Corner(i) => away(at(i), None, c, out),
    }
}

/// c from a hull.
pub fn on_hull<R: Real>(hull: &Hull, c: Vec3<R>) -> ClosestPoint<R> {
    let p = Vec3(c.value());
    let mut deepest = (f64::NEG_INFINITY, Vec3::zero(), 0.0);
    for (n, out) in hull.planes() {
        let over = n.dot(p) - out;
        if over > deepest.0 {
            deepest = (over, *n, *out);
        }
    }
    let (over, n, out) = deepest;
    let face = || {
        let normal = Vec3::from_f64(n.0);
        ClosestPoint { normal, distance: c.dot(normal) - out, curvature: [0.0; 2], on_face: true }
    };
    if !(over > 0.0) {
        return face();
    }
    let Raw { corners, faces } = hull.raw();
    let corner = |face: &[u32; 3]| face.map(|i| Vec3(corners[i as usize]));
    let mut best = (f64::INFINITY, TriangleFeature::Face, [Vec3::zero(); 3]);
    for triangle in faces.iter().map(corner) {
        let (part, d2) = nearest(triangle, p);
        if d2 < best.0 {
            best = (d2, part, triangle);
        }
    }
    match best {
        // of a flat of several triangles, the edges between them too
        (d2, ..) if d2.sqrt() <= over * (1.0 + 1e-9) => face(),
        (_, part, triangle) => foot(triangle, part, n, c),
    }
}

/// Holds what of a flat is nearest to a point: the flat, the square of the distance, what it belongs to, and of which triangle.
type NearestFlat = (u32, f64, FlatOwner, (TriangleFeature, u32));

thread_local! {
    static NEAREST: RefCell<Vec<NearestFlat>> = const { RefCell::new(Vec::new()) };
}

/// The points of a point c on triangles that are nearer than `reach`, with the number of the feature.
pub fn on_triangles<R: Real>(
    mesh: &TriangleMesh,
    c: Vec3<R>,
    reach: f64,
    found: &mut impl FnMut(ClosestPoint<R>, u32),
) {
    let p = Vec3(c.value());
    let mut all = NEAREST.take();
    all.clear();
    for face in mesh.shape().bvh().intersect_aabb(&window(&[p], reach)) {
        let (part, d2) = nearest(mesh.triangle(face), p);
        let own = (mesh.flats().of_face[face as usize], d2, mesh.owner(part, face), (part, face));
        match all.iter_mut().find(|other| other.0 == own.0) {
            Some(other) if (d2, face) < (other.1, other.3.1) => *other = own,
            Some(_) => {}
            None => all.push(own),
        }
    }
    let first = all.iter().min_by(|a, b| a.1.total_cmp(&b.1).then(a.3.1.cmp(&b.3.1))).copied();
    if let Some((.., owner, (part, face))) = first {
        let out = outward(mesh, part, face);
        let corner = match part {
            TriangleFeature::Face => 0,
            TriangleFeature::Edge(k) | TriangleFeature::Corner(k) => k,
        };
        if mesh.closed() && out.dot(p - mesh.triangle(face)[corner]) <= 0.0 {
            let mut foot = foot_of(mesh, owner, c, out);
            if !foot.on_face && foot.distance.value() > 0.0 {
                foot.normal = -foot.normal;
                foot.distance = -foot.distance;
            }
            found(foot, mesh.number(owner));
        } else {
            for &(flat, _, owner, (part, face)) in &all {
                if !is_contact(mesh, flat, owner, &all) {
                    continue;
                }
                let mut foot = foot_of(mesh, owner, c, outward(mesh, part, face));
                if foot.on_face && foot.distance.value() < 0.0 {
                    if mesh.closed() {
                        continue;
                    }
                    foot.normal = -foot.normal;
                    foot.distance = -foot.distance;
                }
                found(foot, mesh.number(owner));
            }
        }
    }
    NEAREST.set(all);
}

/// All within reach of points.
pub fn window(points: &[Vec3], reach: f64) -> Box3 {
    // what is farther than all of it needs no larger box
    let reach = Vector::splat(reach.clamp(0.0, 1e300));
    let at = points.iter().map(|p| Vector::from_array(p.0));
    let low = at.clone().fold(Vector::splat(f64::INFINITY), |m, p| m.min(p));
    let high = at.fold(Vector::splat(f64::NEG_INFINITY), |m, p| m.max(p));
    Box3::new(low - reach, high + reach)
}

/// Returns whether what is nearest of a flat is nearest of all flats that meet there, and this flat is the first of them.
fn is_contact(mesh: &TriangleMesh, flat: u32, owner: FlatOwner, all: &[NearestFlat]) -> bool {
    let here = |other: u32| all.iter().any(|own| own.0 == other && own.2 == owner);
    match owner {
        FlatOwner::Flat(_) => true,
        FlatOwner::Ridge(k) => {
            let flats = mesh.flats().ridges[k as usize].flats;
            flats[0] == flat && (flats[1] == NONE || flats[1] == flat || here(flats[1]))
        }
        FlatOwner::Corner(i) => {
            let around = mesh.around(i).iter().map(|face| mesh.flats().of_face[*face as usize]);
            around.clone().min() == Some(flat) && around.into_iter().all(here)
        }
    }
}

/// The way out at a part: the mean of the normals that meet there, at corners by their angles, which tells inside from outside
/// \[Baerentzen2005\].
fn outward(mesh: &TriangleMesh, part: TriangleFeature, face: u32) -> Vec3 {
    let normal = |face: u32| mesh.normals()[face as usize];
    let sum = match part {
        TriangleFeature::Face => normal(face),
        TriangleFeature::Edge(k) => {
            let (_, sides) = mesh.edge(face, k);
            sides.iter().filter(|f| **f != NONE).map(|f| normal(*f)).fold(Vec3::zero(), |a, b| a + b)
        }
        TriangleFeature::Corner(k) => {
            let (corner, around) = mesh.corner(face, k);
            around.iter().fold(Vec3::zero(), |sum, f| {
                let j = mesh.raw().faces[*f as usize].iter().position(|i| *i == corner).unwrap_or(0);
                let t = mesh.triangle(*f);
                let (u, v) = (t[(j + 1) % 3] - t[j], t[(j + 2) % 3] - t[j]);
                sum + normal(*f).scale(u.cross(v).norm().atan2(u.dot(v)))
            })
        }
    };
    unit(sum).unwrap_or(Vec3([0.0, 0.0, 1.0]))
}
