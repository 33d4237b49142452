//! Capsules on boxes, hulls and triangles, in space.
//!
//! Points are the end balls, each where it is nearest to the solid, and the crossings of the capsule's line with convex edges e of the solid
//! that lie between both their ends, and the corners of the solid that are nearest to a point of the line:
//!
//! n = ±(u × e)/|u × e|, outward,
//!
//! as long as n is between the normals of the two faces that meet at the edge, or nearly: a capsule that lies across a box stays on both
//! edges while it rocks. An end whose nearest point lies back along the line is no point, since the line is nearer.
//!
//! A line that runs through a box or hull is pushed out the shortest way ([`super::patch`]), one through triangles over the edge that is least
//! deep, with those that push nearly the same way.

use super::flats::FlatOwner;
use super::patch::{self, ConvexSolid, TwoSolids};
use super::points::{Cores, Segment, curvature, effective, unit};
use super::round::LineSegment;
use super::solid::{BallNearSolid, ClosestPoint, on_box};
use super::triangle::{TriangleFeature, on_hull, on_triangles, window};
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// Extent to which a normal may lean out of the space between those of an edge's faces, as a sine.
const LEANING: f64 = 0.1;

/// sin of the angle below which line and edge are parallel: then the ends touch.
const PARALLEL: f64 = 1e-3;

/// Returns how many points a pair can touch at, if the second has edges.
pub fn slots(b: &Geometry) -> u32 {
    match (b, ConvexSolid::new(b)) {
        (Geometry::Mesh(mesh), _) => 3 * mesh.features(),
        (_, Some(solid)) => 2 + solid.edges() + solid.corners(),
        _ => 0,
    }
}

/// An edge of a solid, own axes.
struct Edge {
    from: Vec3,
    to: Vec3,
    /// Normals of the faces at it; the same twice at the rim of an open surface.
    normals: [Vec3; 2],
    number: u32,
}

/// The points of a pair of a capsule and a solid with edges.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    found: &mut impl FnMut(Touch<R>),
) {
    let Geometry::Capsule { half, radius } = a.geometry else { return };
    let line = LineSegment::new(a, at[0], &Segment { middle: 0.0, half, radius });
    let frame = b.frame(at[1]);
    let found = &mut |touch: Touch<R>| {
        if touch.gap.value() < reach {
            found(touch);
        }
    };

    if let Some(two) = TwoSolids::new(a, b, at) {
        let value = two.value();
        let (n, overlap) = value.separate();
        let off = patch::rounding(value.size()) * 1e3;
        let mut scratch = patch::PatchWorkspace::default();
        let round = &mut |touch: Touch<R>| found(rounded(touch, radius));
        if overlap > 0.0
            && patch::touches(
                &two,
                n,
                [f64::NEG_INFINITY, off - overlap],
                reach + radius,
                &mut scratch,
                round,
            )
        {
            return;
        }
    }
    for (i, sign) in [-1.0, 1.0].into_iter().enumerate() {
        let c = line.end(sign);
        let local = frame.to_local(c - frame.p);
        let ball = BallNearSolid { c, radius, frame: &frame, reach };
        let ahead = frame.to_local(line.u).scale_f64(sign);
        let mut end = |foot: ClosestPoint<R>, slot: u32| {
            if foot.on_face || !(foot.normal.dot(ahead).value() > 0.0) {
                ball.on(foot, slot, found);
            }
        };
        match &b.geometry {
            Geometry::Box { half } => end(on_box(local, half, false), i as u32),
            Geometry::Convex(hull) => end(on_hull(hull, local), i as u32),
            Geometry::Mesh(mesh) => {
                let first = i as u32 * mesh.features();
                on_triangles(mesh, local, reach + radius, &mut |foot, k| end(foot, first + k));
            }
            _ => {}
        }
    }

    let first = match &b.geometry {
        Geometry::Mesh(mesh) => {
            let features = mesh.features();
            [2 * features, 3 * features - mesh.corners().len() as u32]
        }
        other => [2, 2 + ConvexSolid::new(other).map_or(0, |solid| solid.edges())],
    };
    side_contact(
        &EdgeCrossings { line: &line, frame: &frame, solid: &b.geometry, radius, first },
        reach,
        found,
    );
}

/// The points of a line, between its ends, on edges and at corners.
pub fn side_contact<R: Real>(crossing: &EdgeCrossings<R>, reach: f64, found: &mut impl FnMut(Touch<R>)) {
    let EdgeCrossings { line, frame, solid, radius, .. } = *crossing;
    // what runs through is pushed the shortest way
    let mut least = (f64::NEG_INFINITY, Vec3::zero());
    each_edge(solid, line, frame, reach + radius, &mut |edge| {
        if let Some((n, over)) = crossing.find(&edge)
            && over < 0.0
            && over > least.0
        {
            least = (over, n);
        }
    });
    each_edge(solid, line, frame, reach + radius, &mut |edge| {
        if let Some((n, over)) = crossing.find(&edge)
            && (over >= 0.0 || n.dot(least.1) > 0.7)
        {
            found(crossing.touch_at(&edge, n));
        }
    });
    each_corner(solid, line, frame, reach + radius, &mut |corner, number| {
        if let Some(touch) = crossing.corner(corner, number) {
            found(touch);
        }
    });
}

/// The point of a line with a radius around it.
fn rounded<R: Real>(touch: Touch<R>, radius: f64) -> Touch<R> {
    let [first, second] = touch.points;
    Touch {
        gap: touch.gap - radius,
        points: [first - touch.normal.scale_f64(radius), second],
        radius: effective(curvature(radius), [0.0; 2]),
        feature: None,
        ..touch
    }
}

/// A line and the edges that it crosses.
pub struct EdgeCrossings<'a, R> {
    /// The line.
    pub line: &'a LineSegment<R>,
    /// Of the solid.
    pub frame: &'a Pose<R>,
    /// Holds what has the edges.
    pub solid: &'a Geometry,
    /// Around the line \[m\].
    pub radius: f64,
    /// Slots of the first edge and of the first corner.
    pub first: [u32; 2],
}

impl<R: Real> EdgeCrossings<'_, R> {
    /// The normal in world axes, and how far out along it the line is.
    fn find(&self, edge: &Edge) -> Option<(Vec3, f64)> {
        let frame = self.frame.value();
        let (m, u) = (Vec3(self.line.m.value()), Vec3(self.line.u.value()));
        let (from, to) = (frame.point(&edge.from.0), frame.point(&edge.to.0));
        let e = unit(to - from)?;
        let cross = u.cross(e);
        let sin2 = cross.norm_squared();
        if sin2 < PARALLEL * PARALLEL {
            return None;
        }
        let w = m - from;
        let (cos, d1, d2) = (u.dot(e), u.dot(w), e.dot(w));
        let s = (cos * d2 - d1) / sin2;
        let t = d2 + s * cos;
        if s.abs() >= self.line.half || t <= 0.0 || t >= (to - from).norm() {
            return None;
        }
        let normals = edge.normals.map(|n| frame.rotate(&n.0));
        let mut n = cross.scale(1.0 / sin2.sqrt());
        let rim = edge.normals[0] == edge.normals[1];
        let side = if rim { n.dot(w) } else { n.dot(normals[0] + normals[1]) };
        if side < 0.0 {
            n = -n;
        }
        // along each face, away from the edge, the surface must not rise toward the line
        let leans = |k: usize| {
            let mut inward = normals[k].cross(e);
            if !rim && inward.dot(normals[1 - k]) > 0.0 {
                inward = -inward;
            }
            n.dot(inward) > LEANING
        };
        if !rim && (leans(0) || leans(1)) {
            return None;
        }
        let over = n.dot(w);
        // past the edge but not in the solid it is on another side of it
        let within = || nearest(self.solid, frame.to_local(m + u.scale(s) - frame.p), -over) <= 0.0;
        (over >= 0.0 || within()).then_some((n, over))
    }

    /// A corner that no point of the solid is nearer than to its foot on the line.
    fn corner(&self, corner: Vec3, number: u32) -> Option<Touch<R>> {
        let c = self.frame.point(&corner.0);
        let foot = self.line.nearest(c);
        let p = self.frame.value().to_local(Vec3(foot.value()) - Vec3(self.frame.p.value()));
        let d = (p - corner).norm();
        let inner = (foot - self.line.m).norm().value() < self.line.half * (1.0 - 1e-12);
        if !inner || d == 0.0 || nearest(self.solid, p, d) < d * (1.0 - 1e-9) {
            return None;
        }
        let curvatures = [curvature(self.radius), [0.0; 2]];
        let cores = Cores { points: [foot, c], radii: [self.radius, 0.0], curvatures };
        Some(cores.apart(|| self.frame.rot.col(0), self.first[1] + number))
    }

    fn touch_at(&self, edge: &Edge, n: Vec3) -> Touch<R> {
        let from = self.frame.point(&edge.from.0);
        let e = self.frame.rotate(&unit(edge.to - edge.from).unwrap_or(Vec3::zero()).0);
        let w = self.line.m - from;
        let cross = self.line.u.cross(e);
        let (cos, d1, d2) = (self.line.u.dot(e), self.line.u.dot(w), e.dot(w));
        let s = (cos * d2 - d1) / cross.norm_squared();
        let points = [self.line.m + self.line.u.scale(s), from + e.scale(d2 + s * cos)];
        let side = if Vec3(cross.value()).dot(n) < 0.0 { -1.0 } else { 1.0 };
        let normal = cross.scale(R::from_f64(side) / cross.norm());
        let curvatures = [curvature(self.radius), [0.0; 2]];
        Cores { points, radii: [self.radius, 0.0], curvatures }.along(normal, self.first[0] + edge.number)
    }
}

/// Returns how far out of a solid a point is, negative inside; within `reach`.
fn nearest(b: &Geometry, p: Vec3, reach: f64) -> f64 {
    match b {
        Geometry::Box { half } => on_box(p, half, false).distance,
        Geometry::Convex(hull) => on_hull(hull, p).distance,
        Geometry::Mesh(mesh) => {
            let mut least = f64::INFINITY;
            on_triangles(mesh, p, reach * (1.0 + 1e-9), &mut |foot, _| least = least.min(foot.distance));
            least
        }
        _ => f64::INFINITY,
    }
}

/// Corners that may be near.
fn each_corner<R: Real>(
    b: &Geometry,
    line: &LineSegment<R>,
    frame: &Pose<R>,
    reach: f64,
    found: &mut impl FnMut(Vec3, u32),
) {
    match b {
        Geometry::Box { half } => {
            for i in 0..8 {
                let sign = |k: usize| if i >> k & 1 == 1 { 1.0 } else { -1.0 };
                found(Vec3([0, 1, 2].map(|k| sign(k) * half[k])), i as u32);
            }
        }
        Geometry::Convex(hull) => {
            hull.corners().iter().zip(0..).for_each(|(corner, number)| found(Vec3(*corner), number));
        }
        Geometry::Mesh(mesh) => {
            for face in mesh.shape().bvh().intersect_aabb(&around(line, frame, reach)) {
                for k in 0..3 {
                    let (corner, faces) = mesh.corner(face, k);
                    if faces[0] == face
                        && mesh.flats().of_corner[corner as usize] == FlatOwner::Corner(corner)
                    {
                        found(Vec3(mesh.corners()[corner as usize]), corner);
                    }
                }
            }
        }
        _ => {}
    }
}

/// All within reach of a line, in the axes of a solid.
fn around<R: Real>(line: &LineSegment<R>, frame: &Pose<R>, reach: f64) -> parry3d_f64::bounding_volume::Aabb {
    let frame = frame.value();
    let ends = [-1.0, 1.0].map(|sign| frame.to_local(Vec3(line.end(sign).value()) - frame.p));
    window(&ends, reach)
}

/// Convex edges that may be near.
fn each_edge<R: Real>(
    b: &Geometry,
    line: &LineSegment<R>,
    frame: &Pose<R>,
    reach: f64,
    found: &mut impl FnMut(Edge),
) {
    match b {
        Geometry::Box { half } => {
            for number in 0..12 {
                let (i, signs) = (number / 4, number % 4);
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let sign = |bit: usize| if signs >> bit & 1 == 1 { 1.0 } else { -1.0 };
                let mut from = Vec3::zero();
                let mut normals = [Vec3::zero(); 2];
                (from[i], from[j], from[k]) = (-half[i], sign(0) * half[j], sign(1) * half[k]);
                (normals[0][j], normals[1][k]) = (sign(0), sign(1));
                let mut to = from;
                to[i] = half[i];
                found(Edge { from, to, normals, number: number as u32 });
            }
        }
        Geometry::Convex(hull) => {
            let corner = |i: u32| Vec3(hull.corners()[i as usize]);
            for (number, (edge, normals)) in hull.edges().iter().zip(hull.ridges()).enumerate() {
                let [from, to] = edge.map(corner);
                found(Edge { from, to, normals: *normals, number: number as u32 });
            }
        }
        Geometry::Mesh(mesh) => {
            let flats = mesh.flats();
            let mut seen = Vec::new();
            for face in mesh.shape().bvh().intersect_aabb(&around(line, frame, reach)) {
                for k in 0..3 {
                    let FlatOwner::Ridge(number) = mesh.owner(TriangleFeature::Edge(k), face) else {
                        continue;
                    };
                    let ridge = &flats.ridges[number as usize];
                    if ridge.convex && !seen.contains(&number) {
                        seen.push(number);
                        let [from, to] = ridge.ends.map(|i| Vec3(mesh.corners()[i as usize]));
                        let normal =
                            |k: usize| flats.planes.get(ridge.flats[k] as usize).map(|plane| plane.0);
                        let first = normal(0).unwrap_or(Vec3::zero());
                        found(Edge { from, to, normals: [first, normal(1).unwrap_or(first)], number });
                    }
                }
            }
        }
        _ => {}
    }
}
