//! Rectangles and capsules in the plane: corners on edges.
//!
//! Both are polygons (a capsule's line has two edges, one each way) with a radius around them. The edge that the other polygon is farthest
//! out of, or least far in, is the reference; the edge of the other that faces it is cut to its length. Either end of what is left is a
//! point: a corner of one on an edge of the other, with the edge's normal \[Ericson2005, section 5.2\]. Where two corners are nearest, they
//! are the one point.

use super::frozen;
use super::points::{Cores, curvature};
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// Describes how many points a pair can touch at: corners of the first, of the second.
pub const SLOTS: u32 = 8;

/// An edge that faces the reference by less than this cosine is touched at its nearer corner alone.
const FACING: f64 = 0.3;

/// Lengths up to this part of an edge are rounding: edges so near to parallel, or ends so near to each other, count as such.
const NEAR: f64 = 1e-9;

/// Corners in turn, and the outward normal of the edge from each to the next.
struct Polygon<R> {
    n: usize,
    corners: [Vec3<R>; 4],
    normals: [Vec3<R>; 4],
    radius: f64,
}

impl<R: Real> Polygon<R> {
    fn new(surface: &Surface, pose: &Pose<R>) -> Option<Self> {
        let frame = surface.frame(pose);
        let at = |x: f64, y: f64| frame.point(&[x, y, 0.0]);
        let (x, y) = (frame.rot.col(0), frame.rot.col(1));
        match surface.geometry {
            Geometry::Box { half: [a, b, _] } => Some(Polygon {
                n: 4,
                corners: [at(-a, -b), at(a, -b), at(a, b), at(-a, b)],
                normals: [-y, x, y, -x],
                radius: 0.0,
            }),
            Geometry::Capsule { half, radius } => {
                let ends = [at(-half, 0.0), at(half, 0.0)];
                Some(Polygon {
                    n: 2,
                    corners: [ends[0], ends[1], ends[0], ends[1]],
                    normals: [-y, y, -y, y],
                    radius,
                })
            }
            _ => None,
        }
    }

    fn value(&self) -> Polygon<f64> {
        let value = |a: &[Vec3<R>; 4]| a.map(|v| Vec3(v.value()));
        Polygon {
            n: self.n,
            corners: value(&self.corners),
            normals: value(&self.normals),
            radius: self.radius,
        }
    }

    fn next(&self, k: usize) -> usize {
        (k + 1) % self.n
    }
}

impl Polygon<f64> {
    /// The edge that `other` is farthest out of, and by how much.
    fn reference(&self, other: &Self) -> (usize, f64) {
        let out = |k: usize| {
            let over = |c: &Vec3| self.normals[k].dot(*c - self.corners[k]);
            other.corners[..other.n].iter().map(over).fold(f64::INFINITY, f64::min)
        };
        (1..self.n).fold((0, out(0)), |best, k| if out(k) > best.1 { (k, out(k)) } else { best })
    }
}

/// Holds what touches: a corner of one polygon, on an edge of the other or on a corner of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolygonFeature {
    /// Corner of the first, edge of the second.
    First(usize, usize),
    /// Corner of the second, edge of the first.
    Second(usize, usize),
    /// Corner of each.
    Corners(usize, usize),
}

/// The points of a pair; none unless both are rectangles or capsules.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    found: &mut impl FnMut(Touch<R>),
) {
    let (Some(first), Some(second)) = (Polygon::new(a, at[0]), Polygon::new(b, at[1])) else { return };
    let mut add_feature = |feature: PolygonFeature| {
        let touch = meet(&first, &second, feature);
        if touch.gap.value() < reach {
            found(touch);
        }
    };

    let (p, q) = (first.value(), second.value());
    let (of_first, of_second) = (p.reference(&q), q.reference(&p));
    let apart = of_first.1.max(of_second.1);
    if apart > 0.0
        && let Some((i, j)) = corners(&p, &q, apart)
    {
        return add_feature(PolygonFeature::Corners(i, j));
    }
    // of two edges that face each other the second's is the reference, whatever rounding says
    let size = (q.corners[q.next(of_second.0)] - q.corners[of_second.0]).norm();
    if of_second.1 >= of_first.1 - NEAR * size {
        clip(&q, &p, of_second.0, &mut |corner, edge, of_reference| {
            add_feature(if of_reference {
                PolygonFeature::Second(corner, edge)
            } else {
                PolygonFeature::First(corner, edge)
            });
        });
    } else {
        clip(&p, &q, of_first.0, &mut |corner, edge, of_reference| {
            add_feature(if of_reference {
                PolygonFeature::First(corner, edge)
            } else {
                PolygonFeature::Second(corner, edge)
            });
        });
    }
}

/// The point of a feature.
fn meet<R: Real>(first: &Polygon<R>, second: &Polygon<R>, feature: PolygonFeature) -> Touch<R> {
    let radii = [first.radius, second.radius];
    let cores = |points| Cores { points, radii, curvatures: radii.map(curvature) };
    let touch = match feature {
        PolygonFeature::First(i, k) => {
            let (c, n) = (first.corners[i], second.normals[k]);
            let foot = c - n.scale(n.dot(c - second.corners[k]));
            cores([c, foot]).along(n, i as u32)
        }
        PolygonFeature::Second(j, k) => {
            let (c, n) = (second.corners[j], first.normals[k]);
            let foot = c - n.scale(n.dot(c - first.corners[k]));
            cores([foot, c]).along(-n, 4 + j as u32)
        }
        PolygonFeature::Corners(i, j) => {
            cores([first.corners[i], second.corners[j]]).apart(|| second.normals[0], i as u32)
        }
    };
    Touch { feature: Some(frozen::FrozenFeature::Flat(feature)), ..touch }
}

/// The point of a feature of a pair, wherever they are; none unless both are rectangles or capsules.
pub fn at_feature<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    feature: PolygonFeature,
) -> Option<Touch<R>> {
    Some(meet(&Polygon::new(a, at[0])?, &Polygon::new(b, at[1])?, feature))
}

/// Computes how far a corner is from the ends of the edge that it touches \[m\]; negative where it is past one by more than rounding.
pub fn overlap(a: &Surface, b: &Surface, at: [&Pose; 2], feature: PolygonFeature) -> Option<f64> {
    let (first, second) = (Polygon::new(a, at[0])?, Polygon::new(b, at[1])?);
    let (corner, edges, k) = match feature {
        PolygonFeature::First(i, k) => (first.corners[i], second, k),
        PolygonFeature::Second(j, k) => (second.corners[j], first, k),
        PolygonFeature::Corners(..) => return None,
    };
    let e = edges.corners[edges.next(k)] - edges.corners[k];
    let length = e.norm();
    let along = e.dot(corner - edges.corners[k]) / length;
    // twice: what is chosen is on its edge, whatever rounding says
    Some(along.min(length - along) + 2.0 * NEAR * length)
}

/// The two corners that are nearest, if they are farther than any edge says.
fn corners(p: &Polygon<f64>, q: &Polygon<f64>, apart: f64) -> Option<(usize, usize)> {
    let mut best = (f64::INFINITY, 0, 0);
    for i in 0..p.n {
        for j in 0..q.n {
            let d = (p.corners[i] - q.corners[j]).norm();
            if d < best.0 {
                best = (d, i, j);
            }
        }
    }
    let (d, i, j) = best;
    // a corner whose foot on an edge next to the other lies on that edge is nearer to the edge
    let beside = |a: &Polygon<f64>, k: usize, c: Vec3| {
        [a.next(k), (k + a.n - 1) % a.n]
            .iter()
            .any(|next| (c - a.corners[k]).dot(a.corners[*next] - a.corners[k]) > 0.0)
    };
    let free = !beside(p, i, q.corners[j]) && !beside(q, j, p.corners[i]);
    let size = (p.corners[p.next(0)] - p.corners[0]).norm();
    (free && d > apart + NEAR * size).then_some((i, j))
}

/// Corners on edges, with whether the corner is the reference's: where the edge of `other` that faces edge `k` of `reference` ends, or that does.
fn clip(
    reference: &Polygon<f64>,
    other: &Polygon<f64>,
    k: usize,
    found: &mut impl FnMut(usize, usize, bool),
) {
    let n = reference.normals[k];
    let facing = |j: usize| -n.dot(other.normals[j]);
    let edge = (1..other.n).fold(0, |best, j| if facing(j) > facing(best) { j } else { best });
    let (from, to) = (k, reference.next(k));
    let e = reference.corners[to] - reference.corners[from];
    let along = |j: usize| e.dot(other.corners[j] - reference.corners[from]) / e.norm_squared();
    // it runs the other way
    let (low, high) = (other.next(edge), edge);
    let (start, end) = (along(low), along(high));
    // a corner of the reference is on the edge only if its foot is
    let side = other.corners[high] - other.corners[low];
    let over_edge = |j: usize| {
        let t = side.dot(reference.corners[j] - other.corners[low]) / side.norm_squared();
        (0.0..=1.0).contains(&t)
    };
    let mut any = false;
    if facing(edge) >= FACING && end > 0.0 && start < 1.0 {
        for (corner, at, own) in [(low, start, from), (high, end, to)] {
            if (-NEAR..=1.0 + NEAR).contains(&at) {
                found(corner, k, false);
                any = true;
            } else if over_edge(own) {
                found(own, edge, true);
                any = true;
            }
        }
    }
    if !any {
        let over = |j: usize| n.dot(other.corners[j]);
        let nearest = (1..other.n).fold(0, |best, j| if over(j) < over(best) { j } else { best });
        found(nearest, k, false);
    }
}
