//! A point over triangles: hulls from outside, meshes from either side.
//!
//! Over a triangle the nearest point is on its face, on an edge or at a corner; an edge or corner is a place of its own only if it is the
//! nearest of all triangles that meet there, so that a ball that rolls over a flat of many triangles touches it once, and in a groove twice.
//! Inside a closed mesh, where the nearest feature is seen from behind, that feature alone is the place, and the way out is through it.

use super::mesh::{Hull, NONE, Raw, Triangles};
use super::place::unit;
use super::solid::Foot;
use parry3d_f64::bounding_volume::Aabb as Box3;
use parry3d_f64::math::Vector;
use sarrus_math::{Real, Vec3};

/// What of a triangle is nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its face.
    Face,
    /// The edge from this corner to the next.
    Edge(usize),
    /// This corner.
    Corner(usize),
}

/// The nearest part of a triangle, and the square of the distance \[Ericson2005, section 5.1.5\].
pub fn nearest([a, b, c]: [Vec3; 3], p: Vec3) -> (Part, f64) {
    let (ab, ac) = (b - a, c - a);
    let corner = |k: usize, x: Vec3| (Part::Corner(k), (p - x).norm_squared());
    let edge = |k: usize, x: Vec3, y: Vec3| {
        let t = (p - x).dot(y - x) / (y - x).norm_squared();
        (Part::Edge(k), (p - x - (y - x).scale(t)).norm_squared())
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
    (Part::Face, over * over / n.norm_squared())
}

/// c from a part of a triangle. Where it lies on an edge or corner, `else_along` is the way out.
fn foot<R: Real>(triangle: [Vec3; 3], part: Part, normal: Vec3, c: Vec3<R>, else_along: Vec3) -> Foot<R> {
    let at = |k: usize| Vec3::from_f64(triangle[k % 3].0);
    let flat = |n: Vec3, k: usize| {
        let n = Vec3::from_f64(n.0);
        Foot { normal: n, distance: (c - at(k)).dot(n), curvature: [0.0; 2], on_face: true }
    };
    let away = |d: Vec3<R>, k: usize| match unit(d) {
        Some(normal) => Foot { normal, distance: d.norm(), curvature: [0.0; 2], on_face: false },
        None => flat(else_along, k),
    };
    match part {
        Part::Face => flat(normal, 0),
        Part::Corner(k) => away(c - at(k), k),
        Part::Edge(k) => {
            let e = Vec3::from_f64(unit(triangle[(k + 1) % 3] - triangle[k]).unwrap_or(Vec3::zero()).0);
            let rel = c - at(k);
            away(rel - e.scale(rel.dot(e)), k)
        }
    }
}

/// c from a hull.
pub fn on_hull<R: Real>(hull: &Hull, c: Vec3<R>) -> Foot<R> {
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
        Foot { normal, distance: c.dot(normal) - out, curvature: [0.0; 2], on_face: true }
    };
    if !(over > 0.0) {
        return face();
    }
    let Raw { corners, faces } = hull.raw();
    let corner = |face: &[u32; 3]| face.map(|i| Vec3(corners[i as usize]));
    let mut best = (f64::INFINITY, Part::Face, [Vec3::zero(); 3]);
    for triangle in faces.iter().map(corner) {
        let (part, d2) = nearest(triangle, p);
        if d2 < best.0 {
            best = (d2, part, triangle);
        }
    }
    match best {
        // of a flat of several triangles, the edges between them too
        (d2, ..) if d2.sqrt() <= over * (1.0 + 1e-9) => face(),
        (_, part, triangle) => foot(triangle, part, n, c, n),
    }
}

/// The places of a point c on triangles that are nearer than `reach`, with the number of the feature.
pub fn on_triangles<R: Real>(mesh: &Triangles, c: Vec3<R>, reach: f64, found: &mut impl FnMut(Foot<R>, u32)) {
    let p = Vec3(c.value());
    let window = window(&[p], reach);
    let mut best = (f64::INFINITY, Part::Face, 0);
    for face in mesh.shape().bvh().intersect_aabb(&window) {
        let (part, d2) = nearest(mesh.triangle(face), p);
        if d2 < best.0 || (d2 == best.0 && face < best.2) {
            best = (d2, part, face);
        }
    }
    if best.0 == f64::INFINITY {
        return;
    }
    let (_, part, face) = best;
    let out = outward(mesh, part, face);
    let side = out.dot(
        p - mesh.triangle(face)[match part {
            Part::Face => 0,
            Part::Edge(k) | Part::Corner(k) => k,
        }],
    );
    if mesh.closed() && side <= 0.0 {
        let mut foot = foot(mesh.triangle(face), part, mesh.normals()[face as usize], c, out);
        if part != Part::Face && foot.distance.value() > 0.0 {
            foot.normal = -foot.normal;
            foot.distance = -foot.distance;
        }
        return found(foot, feature(mesh, part, face));
    }
    for face in mesh.shape().bvh().intersect_aabb(&window) {
        let (part, _) = nearest(mesh.triangle(face), p);
        if !is_place(mesh, part, face, p) {
            continue;
        }
        let mut normal = mesh.normals()[face as usize];
        let over = normal.dot(p - mesh.triangle(face)[0]);
        if part == Part::Face && over < 0.0 {
            if mesh.closed() {
                continue;
            }
            normal = -normal;
        }
        let foot = foot(mesh.triangle(face), part, normal, c, outward(mesh, part, face));
        found(foot, feature(mesh, part, face));
    }
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

/// The number of a feature.
fn feature(mesh: &Triangles, part: Part, face: u32) -> u32 {
    let faces = mesh.raw().faces.len() as u32;
    match part {
        Part::Face => face,
        Part::Edge(k) => faces + mesh.edge(face, k).0,
        Part::Corner(k) => mesh.features() - 1 - mesh.corner(face, k).0,
    }
}

/// Whether a part is the nearest of all triangles that meet there, and this triangle is the first of them.
fn is_place(mesh: &Triangles, part: Part, face: u32, p: Vec3) -> bool {
    let at = |other: u32| nearest(mesh.triangle(other), p).0;
    match part {
        Part::Face => true,
        Part::Edge(k) => {
            let (edge, sides) = mesh.edge(face, k);
            let here = |other: u32| {
                other == NONE || matches!(at(other), Part::Edge(j) if mesh.edge(other, j).0 == edge)
            };
            sides[0] == face && here(sides[1])
        }
        Part::Corner(k) => {
            let (corner, around) = mesh.corner(face, k);
            let here =
                |other: &u32| matches!(at(*other), Part::Corner(j) if mesh.corner(*other, j).0 == corner);
            around[0] == face && around[1..].iter().all(here)
        }
    }
}

/// The way out at a part: the mean of the normals that meet there, at corners by their angles, which tells inside from outside
/// \[Baerentzen2005\].
fn outward(mesh: &Triangles, part: Part, face: u32) -> Vec3 {
    let normal = |face: u32| mesh.normals()[face as usize];
    let sum = match part {
        Part::Face => normal(face),
        Part::Edge(k) => {
            let (_, sides) = mesh.edge(face, k);
            sides.iter().filter(|f| **f != NONE).map(|f| normal(*f)).fold(Vec3::zero(), |a, b| a + b)
        }
        Part::Corner(k) => {
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
