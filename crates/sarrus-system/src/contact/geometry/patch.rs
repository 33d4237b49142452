//! Boxes and hulls on each other, and cylinders on their faces, in space.
//!
//! Let n be the direction of the least translation that parts two convex bodies, or along which they are farthest apart: by separating
//! axes, and by the algorithms of Gilbert, Johnson and Keerthi and of expanding polytopes for edges of hulls. The outlines of the two
//! faces that face each other along n, seen along n, have a polygon in common. Each of its corners is a point, of the features that meet
//! there, and has their own normal, whatever n is:
//!
//! - a corner of one over the face of the other: the normal of that face;
//! - an edge of each: ±(e₁ × e₂)/|e₁ × e₂|.
//!
//! So gap, normal and point of a point do not depend on the order of the two, and its force is the gradient of its energy. Other corners
//! that are past the face of the other are points too, as on a half-space. A cylinder has the corners of a rim that it has on a
//! half-space ([`super::walls`]), or the line of its side that is nearest.
//!
//! **Weight.** A corner of a face that slides over an edge of the other face is cut off: two crossings of edges follow it. Each of these has
//! as weight the angle by which the common outline turns there, over the mean such angle of the outline with fewer corners, 2π/m. Angles add
//! up, so a rectangle weighs 4 wherever and however it lies on another.
//!
//! Where neither a corner and a face nor two edges are nearest, or deepest, there are none of these points, and [`touches`] says so.

use super::frozen;
use super::mesh::Hull;
use super::points::{Cores, unit};
use super::walls::rim_arms;
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Number of crossings of edges that have numbers of their own. Of hulls with large faces more of them share these: which number each has
/// then depends on the others that are there.
const CROSSINGS: u32 = 144;

/// Sine of the angle between two edges below which they are parallel; the weight of their crossing is of that size.
const PARALLEL: f64 = 1e-9;

/// The number of the line on the side of a cylinder among its edges.
const SIDE: u32 = 8;

/// Part of the size of both up to which a corner or crossing may be past an edge and still counts as on it: corners of faces that coincide
/// are corners of the first, whatever rounding says. Ten times what a run takes for a closed gap.
const NEAR: f64 = 1e-9;

/// Part of the size of both that lengths are rounded to.
const ROUNDING: f64 = 1e-12;

/// Corners of the faces of a box, counterclockwise seen from outside; bit k of a corner is the sign along axis k.
const BOX_FACES: [[u32; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// A convex body with faces.
#[derive(Clone, Copy)]
pub enum ConvexSolid<'a> {
    /// Halves of its edges \[m\].
    Box(&'a [f64; 3]),
    /// A polyhedron.
    Hull(&'a Hull),
    /// The line of a capsule, from -half to half on x \[m\]; it goes first.
    Line(f64),
    /// A cylinder.
    Cylinder {
        /// Half its length \[m\].
        half: f64,
        /// Radius \[m\].
        radius: f64,
        /// Its axis.
        along: usize,
    },
}

impl<'a> ConvexSolid<'a> {
    /// Of a geometry; none where it is another.
    pub fn new(geometry: &'a Geometry) -> Option<Self> {
        match geometry {
            Geometry::Box { half } => Some(ConvexSolid::Box(half)),
            Geometry::Convex(hull) => Some(ConvexSolid::Hull(hull)),
            Geometry::Capsule { half, .. } => Some(ConvexSolid::Line(*half)),
            Geometry::Cylinder { half, radius, along } => {
                Some(ConvexSolid::Cylinder { half: *half, radius: *radius, along: *along })
            }
            _ => None,
        }
    }

    /// Returns whether it has a curved side.
    pub fn is_curved(&self) -> bool {
        matches!(self, ConvexSolid::Cylinder { .. })
    }

    /// Number of corners it has; of a cylinder four of each rim.
    pub fn corners(&self) -> u32 {
        match self {
            ConvexSolid::Box(_) => 8,
            ConvexSolid::Line(_) => 2,
            ConvexSolid::Cylinder { .. } => 4 + self.second_rim(),
            ConvexSolid::Hull(hull) => hull.corners().len() as u32,
        }
    }

    /// The first corner of a cylinder's second rim; a thin disc has one rim.
    fn second_rim(&self) -> u32 {
        if matches!(self, ConvexSolid::Cylinder { half, .. } if *half > 0.0) { 4 } else { 0 }
    }

    /// A corner in the world; of a cylinder those that a wall with the outward normal `n` has.
    pub fn corner<R: Real>(&self, i: u32, frame: &Pose<R>, n: Vec3<R>) -> Vec3<R> {
        match *self {
            ConvexSolid::Box(half) => {
                frame.point(&[0, 1, 2].map(|k| if i >> k & 1 == 1 { half[k] } else { -half[k] }))
            }
            ConvexSolid::Hull(hull) => frame.point(&hull.corners()[i as usize]),
            ConvexSolid::Line(half) => frame.point(&[if i == 0 { -half } else { half }, 0.0, 0.0]),
            ConvexSolid::Cylinder { half, radius, along } => {
                let mut c = [0.0; 3];
                c[along] = if i < 4 { -half } else { half };
                let axis = frame.rot.col(along);
                let arms = rim_arms(axis, n, radius, || frame.rot.col((along + 1) % 3));
                frame.point(&c) + arms[i as usize % 4]
            }
        }
    }

    /// Number of edges it has; of a cylinder those of the outlines that it shows.
    pub fn edges(&self) -> u32 {
        match self {
            ConvexSolid::Box(_) => 12,
            ConvexSolid::Line(_) => 1,
            ConvexSolid::Cylinder { .. } => 9,
            ConvexSolid::Hull(hull) => hull.edges().len() as u32,
        }
    }

    /// The number of the edge between two corners, in any order.
    pub fn edge(&self, [i, j]: [u32; 2]) -> u32 {
        let (i, j) = (i.min(j), i.max(j));
        match self {
            ConvexSolid::Box(_) => {
                let axis = (i ^ j).trailing_zeros().min(2);
                // the signs along the other two axes
                let low = (1 << axis) - 1;
                4 * axis + (i & low | i >> 1 & !low & 3)
            }
            ConvexSolid::Line(_) => 0,
            // the line of its side
            ConvexSolid::Cylinder { .. } if i / 4 != j / 4 => SIDE,
            // the last edge of a rim ends where the first begins
            ConvexSolid::Cylinder { .. } => {
                if j - i == 1 {
                    i
                } else {
                    j
                }
            }
            ConvexSolid::Hull(hull) => {
                let is = |edge: &[u32; 2]| *edge == [i, j] || *edge == [j, i];
                hull.edges().iter().position(is).unwrap_or(0) as u32
            }
        }
    }

    /// The corners of an edge of a box or hull.
    fn ends(&self, k: u32) -> [u32; 2] {
        match self {
            ConvexSolid::Box(_) => {
                let (axis, signs) = (k / 4, k % 4);
                let low = (1 << axis) - 1;
                let i = signs & low | (signs & !low) << 1;
                [i, i | 1 << axis]
            }
            ConvexSolid::Hull(hull) => hull.edges()[k as usize],
            ConvexSolid::Line(_) | ConvexSolid::Cylinder { .. } => [0; 2],
        }
    }

    /// A number for an edge that no other edge of an outline has that it is in, below [`Self::colours`].
    fn colour(&self, edge: [u32; 2]) -> u32 {
        let k = self.edge(edge);
        match self {
            // opposite edges are in no face together
            ConvexSolid::Box(_) => k / 4 * 2 + ((k ^ k >> 1) & 1),
            ConvexSolid::Line(_) => 0,
            ConvexSolid::Cylinder { .. } => k % 4,
            ConvexSolid::Hull(hull) => hull.colours()[k as usize],
        }
    }

    fn colours(&self) -> u32 {
        match self {
            ConvexSolid::Box(_) => 6,
            ConvexSolid::Line(_) => 1,
            ConvexSolid::Cylinder { .. } => 4,
            ConvexSolid::Hull(hull) => hull.colours().iter().fold(0, |most, k| most.max(k + 1)),
        }
    }

    fn faces(&self) -> usize {
        match self {
            ConvexSolid::Box(_) => 6,
            ConvexSolid::Hull(hull) => hull.planes().len(),
            ConvexSolid::Cylinder { .. } => 2,
            ConvexSolid::Line(_) => 0,
        }
    }

    /// Outward normal of a face, own axes, and how far out it is.
    pub fn plane(&self, k: usize) -> (Vec3, f64) {
        let axis = |i: usize, half: f64| {
            let mut m = Vec3::zero();
            m[i] = if k.is_multiple_of(2) { -1.0 } else { 1.0 };
            (m, half)
        };
        match *self {
            ConvexSolid::Box(half) => axis(k / 2, half[k / 2]),
            ConvexSolid::Hull(hull) => hull.planes()[k],
            ConvexSolid::Cylinder { half, along, .. } => axis(along, half),
            ConvexSolid::Line(_) => (Vec3::zero(), 0.0),
        }
    }

    /// The farthest that it reaches along a direction, own axes \[m\].
    pub fn support(&self, d: Vec3) -> f64 {
        match *self {
            ConvexSolid::Box(half) => (0..3).map(|k| (d[k] * half[k]).abs()).sum(),
            ConvexSolid::Line(half) => (d.x() * half).abs(),
            ConvexSolid::Hull(hull) => {
                hull.corners().iter().map(|p| d.dot(Vec3(*p))).fold(f64::NEG_INFINITY, f64::max)
            }
            ConvexSolid::Cylinder { half, radius, along } => {
                let mut across = d;
                across[along] = 0.0;
                (d[along] * half).abs() + radius * across.norm()
            }
        }
    }

    /// Returns how far out of it a point is, own axes \[m\]; negative inside, at the least of the faces.
    pub fn out(&self, p: Vec3) -> f64 {
        let over = |k: usize| {
            let (m, d) = self.plane(k);
            m.dot(p) - d
        };
        let most = (0..self.faces()).map(over).fold(f64::NEG_INFINITY, f64::max);
        match *self {
            ConvexSolid::Cylinder { radius, along, .. } => {
                let mut across = p;
                across[along] = 0.0;
                most.max(across.norm() - radius)
            }
            _ => most,
        }
    }

    /// Its middle, own axes.
    pub fn middle(&self) -> Vec3 {
        match self {
            ConvexSolid::Hull(hull) => {
                let extent = hull.extent();
                Vec3([0, 1, 2].map(|k| 0.5 * (extent.low[k] + extent.high[k])))
            }
            _ => Vec3::zero(),
        }
    }

    /// Corners in turn, seen from outside, of what faces along `d`, own axes: of a face, and which, or of the side of a cylinder.
    pub fn outline(&self, d: Vec3, out: &mut Vec<u32>) -> Option<usize> {
        out.clear();
        if let ConvexSolid::Line(_) = self {
            out.extend([0, 1]);
            return None;
        }
        if let ConvexSolid::Cylinder { along, .. } = *self {
            if d[along].abs() < FRAC_1_SQRT_2 * d.norm() {
                out.extend([0, 4].iter().take(1 + self.second_rim() as usize / 4));
                return None;
            }
            let (top, k) = (d[along] > 0.0, self.second_rim());
            out.extend(if top { [k, k + 1, k + 2, k + 3] } else { [3, 2, 1, 0] });
            return Some(usize::from(top));
        }
        let facing = |k: usize| self.plane(k).0.dot(d);
        let k = (1..self.faces()).fold(0, |best, k| if facing(k) > facing(best) { k } else { best });
        match self {
            ConvexSolid::Hull(hull) => out.extend_from_slice(hull.outline(k)),
            _ => out.extend_from_slice(&BOX_FACES[k]),
        }
        Some(k)
    }
}

/// Holds what meets at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PatchFeature {
    /// A corner of the first over a face of the second.
    First(u32, usize),
    /// A corner of the second over a face of the first.
    Second(u32, usize),
    /// Two edges, by their corners, and their weight.
    Edges([u32; 2], [u32; 2], f64),
}

/// Two bodies in the world.
pub struct TwoSolids<'a, R> {
    /// The bodies.
    pub solids: [ConvexSolid<'a>; 2],
    /// Their own frames.
    pub frames: [Pose<R>; 2],
}

/// Holds what is used again.
#[derive(Default)]
pub struct PatchWorkspace {
    features: Vec<PatchFeature>,
    used: Vec<u32>,
    outlines: [Vec<u32>; 2],
    seen: [Vec<[f64; 2]>; 2],
    polygon: Vec<([f64; 2], Label)>,
    clipped: Vec<([f64; 2], Label)>,
}

/// Holds what an edge of the common outline is of: the edge of that number of the first or second.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    First(usize),
    Second(usize),
}

/// Returns how many points a pair can touch at.
pub fn slots(a: &ConvexSolid, b: &ConvexSolid) -> u32 {
    a.corners() + b.corners() + on_side(a, b) + crossings(a, b).min(CROSSINGS)
}

/// Returns how many numbers crossings with the line on the side of a cylinder have: one for each edge of the other.
fn on_side(a: &ConvexSolid, b: &ConvexSolid) -> u32 {
    if a.is_curved() { b.edges() } else { 0 }
}

/// Number of numbers that crossings of edges have, unless they are too many.
fn crossings(a: &ConvexSolid, b: &ConvexSolid) -> u32 {
    a.colours().saturating_mul(b.colours())
}

impl<'a, R: Real> TwoSolids<'a, R> {
    /// Of surfaces on bodies at these poses; none unless both have faces.
    pub fn new(a: &'a Surface, b: &'a Surface, at: [&Pose<R>; 2]) -> Option<Self> {
        let solids = [ConvexSolid::new(&a.geometry)?, ConvexSolid::new(&b.geometry)?];
        Some(TwoSolids { solids, frames: [a.frame(at[0]), b.frame(at[1])] })
    }

    /// The same without derivatives.
    pub fn value(&self) -> TwoSolids<'a, f64> {
        TwoSolids { solids: self.solids, frames: [self.frames[0].value(), self.frames[1].value()] }
    }

    /// Normal of a face in the world, outward, and a point of it.
    fn face(&self, side: usize, k: usize) -> (Vec3<R>, Vec3<R>) {
        let (m, d) = self.solids[side].plane(k);
        (self.frames[side].rotate(&m.0), self.frames[side].point(&m.scale(d).0))
    }

    /// The point at which features meet; `n` is about its normal.
    pub fn touch_at(&self, feature: PatchFeature, n: Vec3, slot: u32) -> Option<Touch<R>> {
        let touch = match feature {
            PatchFeature::First(i, k) => {
                let (normal, o) = self.face(1, k);
                let c = self.solids[0].corner(i, &self.frames[0], normal);
                Some(over_face(c, normal, o, slot))
            }
            PatchFeature::Second(j, k) => {
                let (normal, o) = self.face(0, k);
                let c = self.solids[1].corner(j, &self.frames[1], normal);
                Some(over_face(c, normal, o, slot).flipped())
            }
            PatchFeature::Edges(first, second, weight) => {
                let along = Vec3::from_f64(n.0);
                let ends = |side: usize, edge: [u32; 2], n: Vec3<R>| {
                    edge.map(|i| self.solids[side].corner(i, &self.frames[side], n))
                };
                crossed(ends(0, first, along), ends(1, second, -along), n, weight, slot)
            }
        };
        touch.map(|touch| Touch { feature: Some(frozen::FrozenFeature::Faced(feature, n)), ..touch })
    }
}

fn sharp<R: Real>(points: [Vec3<R>; 2]) -> Cores<R> {
    Cores { points, radii: [0.0; 2], curvatures: [[0.0; 2]; 2] }
}

/// A corner c over a face through o.
pub fn over_face<R: Real>(c: Vec3<R>, normal: Vec3<R>, o: Vec3<R>, slot: u32) -> Touch<R> {
    sharp([c, c - normal.scale(normal.dot(c - o))]).along(normal, slot)
}

/// The edges from a₁ to a₂ and from b₁ to b₂ as lines, with the normal on the side of n; none where they are parallel.
pub fn crossed<R: Real>(
    a: [Vec3<R>; 2],
    b: [Vec3<R>; 2],
    n: Vec3,
    weight: f64,
    slot: u32,
) -> Option<Touch<R>> {
    let (e, f) = (unit(a[1] - a[0])?, unit(b[1] - b[0])?);
    let cross = e.cross(f);
    let sin2 = cross.norm_squared();
    if sin2.value() < PARALLEL * PARALLEL {
        return None;
    }
    let w = a[0] - b[0];
    let (cos, d1, d2) = (e.dot(f), e.dot(w), f.dot(w));
    let s = (cos * d2 - d1) / sin2;
    let points = [a[0] + e.scale(s), b[0] + f.scale(d2 + s * cos)];
    let side = if Vec3(cross.value()).dot(n) < 0.0 { -1.0 } else { 1.0 };
    let normal = cross.scale(R::from_f64(side) / cross.norm());
    Some(Touch { weight, ..sharp(points).along(normal, slot) })
}

impl TwoSolids<'_, f64> {
    /// Returns how far the two overlap along n, by which the first is pushed off the second \[m\]; negative where they are apart.
    pub fn overlap(&self, n: Vec3) -> f64 {
        let [a, b] = &self.frames;
        let reach = self.solids[0].support(a.to_local(-n)) + self.solids[1].support(b.to_local(n));
        reach - n.dot(a.p - b.p)
    }

    /// The direction of least overlap among the normals of all faces, and, of two boxes or a line, the directions square to an edge of each.
    pub fn separate(&self) -> (Vec3, f64) {
        let mut best = (Vec3::zero(), f64::INFINITY);
        let mut check = |n: Vec3| {
            let overlap = self.overlap(n);
            if overlap < best.1 {
                best = (n, overlap);
            }
        };
        for (side, sign) in [(1, 1.0), (0, -1.0)] {
            for k in 0..self.solids[side].faces() {
                check(self.frames[side].rotate(&self.solids[side].plane(k).0.0) * sign);
            }
        }
        if matches!(self.solids[0], ConvexSolid::Line(_)) && best.1 <= 0.0 {
            return best;
        }
        let mut check = |n: Vec3| {
            let overlap = self.overlap(n);
            if overlap < best.1 {
                best = (n, overlap);
            }
        };
        let mut square = |e: Vec3, f: Vec3| {
            let cross = e.cross(f);
            if let Some(n) = unit(cross).filter(|_| cross.norm() > 1e-6) {
                check(n);
                check(-n);
            }
        };
        let axis = |side: usize, k: usize| self.frames[side].rot.col(k);
        match self.solids {
            [ConvexSolid::Box(_), ConvexSolid::Box(_)] => {
                (0..9).for_each(|k| square(axis(0, k / 3), axis(1, k % 3)));
            }
            [ConvexSolid::Line(_), ConvexSolid::Box(_)] => {
                (0..3).for_each(|k| square(axis(0, 0), axis(1, k)))
            }
            [ConvexSolid::Line(_), ConvexSolid::Hull(hull)] => {
                let at = |i: u32| Vec3(hull.corners()[i as usize]);
                let edges = hull.edges().iter().filter_map(|[i, j]| unit(at(*j) - at(*i)));
                edges.for_each(|e| square(axis(0, 0), self.frames[1].rotate(&e.0)));
            }
            _ => {}
        }
        best
    }

    /// The direction that parts the side of a cylinder, as if it had no ends, from the edge or corner of a box or hull that is nearest to its
    /// axis, the overlap along it, and whether that is an edge. None where the axis runs through the other.
    pub fn side_contact(&self) -> Option<(Vec3, f64, bool)> {
        let ConvexSolid::Cylinder { half, radius, along } = self.solids[0] else { return None };
        let (frame, other) = (&self.frames[0], &self.solids[1]);
        let axis = frame.rot.col(along);
        let (u, v) = square_to(axis);
        let at = |i: u32| {
            let p = other.corner(i, &self.frames[1], axis) - frame.p;
            [u.dot(p), v.dot(p)]
        };
        let (mut least, mut foot, mut inner) = (f64::INFINITY, [0.0; 2], false);
        for k in 0..other.edges() {
            let [p, q] = other.ends(k).map(at);
            let e = [q[0] - p[0], q[1] - p[1]];
            let length = e[0].hypot(e[1]);
            // an edge along the axis is seen as a corner
            let seen = length > PARALLEL * self.size();
            let t = if seen { -(p[0] * e[0] + p[1] * e[1]) / (length * length) } else { 0.0 };
            let near = [0, 1].map(|i| p[i] + t.clamp(0.0, 1.0) * e[i]);
            let distance = near[0].hypot(near[1]);
            if distance < least {
                (least, foot, inner) = (distance, near, t > 0.0 && t < 1.0);
            }
        }
        if half == 0.0 || !(least.is_finite() && least > NEAR * self.size()) {
            return None;
        }
        let way = foot.map(|x| -x / least);
        let beyond = |i: u32| {
            let p = at(i);
            way[0] * p[0] + way[1] * p[1] > rounding(self.size()) - least
        };
        let outside = !(0..other.corners()).any(beyond);
        outside.then(|| (u.scale(way[0]) + v.scale(way[1]), radius - least, inner))
    }

    /// About the size of both \[m\].
    pub fn size(&self) -> f64 {
        let far = |side: usize| (0..3).map(|k| self.solids[side].support(unit_axis(k))).fold(0.0, f64::max);
        far(0) + far(1) + (self.frames[0].p - self.frames[1].p).norm()
    }

    /// Returns how far a point is from the ends of the face or edges that it is on \[m\]; negative where it is past one by more than rounding. None of
    /// bodies with curved sides.
    pub fn within(&self, feature: PatchFeature, n: Vec3) -> Option<f64> {
        if !self.solids.iter().all(|solid| matches!(solid, ConvexSolid::Box(_) | ConvexSolid::Hull(_))) {
            return None;
        }
        let on_face = |corner: usize, i: u32, side: usize, k: usize| {
            let (solid, frame) = (&self.solids[side], &self.frames[side]);
            let (m, _) = self.face(side, k);
            let c = self.solids[corner].corner(i, &self.frames[corner], m);
            let mut outline = Vec::new();
            solid.outline(solid.plane(k).0, &mut outline);
            let p: Vec<Vec3> = outline.iter().map(|&i| solid.corner(i, frame, m)).collect();
            let inside = |i: usize| {
                let e = p[(i + 1) % p.len()] - p[i];
                m.cross(e).dot(c - p[i]) / e.norm()
            };
            (0..p.len()).map(inside).fold(f64::INFINITY, f64::min)
        };
        let least = match feature {
            PatchFeature::First(i, k) => on_face(0, i, 1, k),
            PatchFeature::Second(j, k) => on_face(1, j, 0, k),
            PatchFeature::Edges(first, second, _) => {
                let ends = |side: usize, edge: [u32; 2]| {
                    edge.map(|i| self.solids[side].corner(i, &self.frames[side], n))
                };
                let (a, b) = (ends(0, first), ends(1, second));
                let touch = crossed(a, b, n, 1.0, 0)?;
                let along = |[p, q]: [Vec3; 2], c: Vec3| {
                    let length = (q - p).norm();
                    let s = (q - p).dot(c - p) / length;
                    s.min(length - s)
                };
                along(a, touch.points[0]).min(along(b, touch.points[1]))
            }
        };
        // twice: what is chosen is on its face, whatever rounding says
        Some(least + 2.0 * NEAR * self.size())
    }

    /// Finds what meets, seen along n.
    fn features(&self, n: Vec3, scratch: &mut PatchWorkspace) {
        let PatchWorkspace { features, outlines, seen, polygon, clipped, .. } = scratch;
        features.clear();
        let (u, v) = square_to(n);
        let ways = [-n, n];
        let mut faces = [None; 2];
        for side in 0..2 {
            let (solid, frame) = (&self.solids[side], &self.frames[side]);
            faces[side] = solid.outline(frame.to_local(ways[side]), &mut outlines[side]);
            if side == 0 {
                // counterclockwise seen along -n
                outlines[0].reverse();
            }
            seen[side].clear();
            seen[side].extend(outlines[side].iter().map(|&i| {
                let p = solid.corner(i, frame, -ways[side]);
                [u.dot(p), v.dot(p)]
            }));
        }
        polygon.clear();
        polygon.extend(seen[0].iter().enumerate().map(|(i, p)| (*p, Label::First(i))));
        let near = NEAR * self.size();
        for j in 0..seen[1].len() {
            clip(polygon, clipped, [seen[1][j], seen[1][(j + 1) % seen[1].len()]], j, near);
            std::mem::swap(polygon, clipped);
        }

        let count = [0, 1].map(|side| outlines[side].len());
        let edge = |side: usize, i: usize| [outlines[side][i], outlines[side][(i + 1) % count[side]]];
        let way = |side: usize, i: usize| {
            let (p, q) = (seen[side][i], seen[side][(i + 1) % count[side]]);
            [q[0] - p[0], q[1] - p[1]]
        };
        let mean = TAU / count[0].min(count[1]) as f64;
        for at in 0..polygon.len() {
            let before = polygon[(at + polygon.len() - 1) % polygon.len()].1;
            features.extend(match (before, polygon[at].1) {
                (Label::First(_), Label::First(i)) => {
                    faces[1].map(|k| PatchFeature::First(outlines[0][i], k))
                }
                (Label::Second(i), Label::Second(j)) => {
                    let next = (i + 1) % count[1] == j;
                    faces[0].filter(|_| next).map(|k| PatchFeature::Second(outlines[1][j], k))
                }
                (Label::First(i), Label::Second(j)) | (Label::Second(j), Label::First(i)) => {
                    let (a, b) = (way(0, i), way(1, j));
                    let angle = (a[0] * b[1] - a[1] * b[0]).abs().atan2(a[0] * b[0] + a[1] * b[1]);
                    // the two ways along a line are one crossing
                    let line = [0, 1].map(|side| count[side] == 2);
                    let twice = line[0] && i == 1 || line[1] && j == 1;
                    let weight = if line[0] || line[1] { 1.0 } else { angle / mean };
                    (!twice).then(|| PatchFeature::Edges(edge(0, i), edge(1, j), weight))
                }
            });
        }
        // other corners that are past the face
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let Some(k) = faces[1 - side] else { continue };
            let (m, o) = self.face(1 - side, k);
            for i in (0..self.solids[side].corners()).filter(|i| !outlines[side].contains(i)) {
                let p = self.solids[side].corner(i, &self.frames[side], m);
                if m.dot(p - o) < 0.0 && is_inside([u.dot(p), v.dot(p)], &seen[1 - side]) {
                    features.push(if sign > 0.0 {
                        PatchFeature::First(i, k)
                    } else {
                        PatchFeature::Second(i, k)
                    });
                }
            }
        }
    }
}

/// The points of a pair, seen along n, that are nearer than `reach`. The true gap lies between both numbers of `gap`: lines and planes whose
/// gap is less do not meet where they are edges and faces. Unless a point is there, nothing is found; returns whether one is.
pub fn touches<R: Real>(
    two: &TwoSolids<R>,
    n: Vec3,
    gap: [f64; 2],
    reach: f64,
    scratch: &mut PatchWorkspace,
    found: &mut impl FnMut(Touch<R>),
) -> bool {
    let value = two.value();
    value.features(n, scratch);
    let PatchWorkspace { features, used, .. } = scratch;
    let [least, most] = gap;
    let own = |feature: &PatchFeature| value.touch_at(*feature, n, 0).map_or(f64::NAN, |touch| touch.gap);
    features.retain(|feature| own(feature) >= least);
    if !features.iter().any(|feature| own(feature) <= most) {
        return false;
    }
    used.clear();
    let [a, b] = two.solids.map(|solid| solid.corners());
    for feature in features.iter() {
        let slot = match *feature {
            PatchFeature::First(i, _) => i,
            PatchFeature::Second(j, _) => a + j,
            PatchFeature::Edges(e, f, _) => a + b + crossing(&two.solids, [e, f], used),
        };
        if let Some(touch) = two.touch_at(*feature, n, slot).filter(|touch| touch.gap.value() < reach) {
            found(touch);
        }
    }
    true
}

/// Rounding of gaps \[m\].
pub fn rounding(size: f64) -> f64 {
    ROUNDING * size
}

/// A number for a crossing, the same as long as its edges are; `used` are those that others of the pair have.
fn crossing([a, b]: &[ConvexSolid; 2], edges: [[u32; 2]; 2], used: &mut Vec<u32>) -> u32 {
    let first = on_side(a, b);
    if first > 0 && a.edge(edges[0]) == SIDE {
        return b.edge(edges[1]);
    }
    if crossings(a, b) <= CROSSINGS {
        return first + a.colour(edges[0]) * b.colours() + b.colour(edges[1]);
    }
    let key = |[i, j]: [u32; 2]| u64::from(i.min(j)) << 16 ^ u64::from(i.max(j));
    let hash = super::manifold::mixed(key(edges[0]) << 32 ^ key(edges[1]));
    let mut slot = (hash % u64::from(CROSSINGS)) as u32;
    if used.len() < CROSSINGS as usize {
        while used.contains(&slot) {
            slot = (slot + 1) % CROSSINGS;
        }
    }
    used.push(slot);
    first + slot
}

/// Cuts off what is to the right of the line from p to q, which is edge j of the second, by more than `near` \[Sutherland1974\].
fn clip(
    polygon: &[([f64; 2], Label)],
    out: &mut Vec<([f64; 2], Label)>,
    [p, q]: [[f64; 2]; 2],
    j: usize,
    near: f64,
) {
    out.clear();
    let e = [q[0] - p[0], q[1] - p[1]];
    let length = e[0].hypot(e[1]);
    let over = |a: [f64; 2]| (e[0] * (a[1] - p[1]) - e[1] * (a[0] - p[0])) / length;
    for (i, &(a, label)) in polygon.iter().enumerate() {
        let (b, _) = polygon[(i + 1) % polygon.len()];
        let (d, e) = (over(a), over(b));
        let cut = || [0, 1].map(|k| a[k] + (b[k] - a[k]) * (d / (d - e)).clamp(0.0, 1.0));
        match (d >= -near, e >= -near) {
            (true, true) => out.push((a, label)),
            (true, false) => out.extend([(a, label), (cut(), Label::Second(j))]),
            (false, true) => out.push((cut(), label)),
            (false, false) => {}
        }
    }
}

/// Decides whether a point is in a convex polygon or on its outline.
fn is_inside(p: [f64; 2], polygon: &[[f64; 2]]) -> bool {
    (0..polygon.len()).all(|i| {
        let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
        (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) >= 0.0
    }) && polygon.len() > 2
}

fn unit_axis(k: usize) -> Vec3 {
    let mut axis = Vec3::zero();
    axis[k] = 1.0;
    axis
}

/// Two directions that make a right-handed frame with n.
fn square_to(n: Vec3) -> (Vec3, Vec3) {
    let least = (1..3).fold(0, |best, k| if n[k].abs() < n[best].abs() { k } else { best });
    let u = unit(unit_axis(least).cross(n)).unwrap_or(unit_axis((least + 1) % 3));
    (u, n.cross(u))
}
