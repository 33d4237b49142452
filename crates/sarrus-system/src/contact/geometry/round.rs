//! Balls, ends and capsules among themselves: lines with a radius around them.
//!
//! Of two lines m₁ + s u₁ and m₂ + t u₂ the nearest points have, between the ends,
//!
//! s = (b d₂ - d₁)/(1 - b²),  t = d₂ + s b,  b = u₁·u₂,  d = u·(m₁ - m₂),  n = ±(u₁ × u₂)/|u₁ × u₂|,
//!
//! and at an end the foot on the other line. Lines that are nearly parallel touch all along where they are side by side, at
//! either end of which is a point; else the nearest points are the point. In the plane lines that cross are pushed out over
//! the end that is nearest to the other line.

use super::points::{Cores, Segment, unit};
use super::segments;
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// sin² of the angle below which lines are parallel.
const PARALLEL: f64 = 1e-6;

/// Returns how many points a pair can touch at.
pub fn slots(a: &Geometry, b: &Geometry) -> u32 {
    (segments(a).1 * segments(b).1) as u32 * each(a, b)
}

/// The nearest points, or the two ends of either line.
fn each(a: &Geometry, b: &Geometry) -> u32 {
    if matches!((a, b), (Geometry::Capsule { .. }, Geometry::Capsule { .. })) { 5 } else { 1 }
}

/// The points of a pair.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    planar: bool,
    found: &mut impl FnMut(Touch<R>),
) {
    let ((first, n), (second, m)) = (segments(&a.geometry), segments(&b.geometry));
    let each = each(&a.geometry, &b.geometry);
    let found = &mut |touch: Touch<R>| {
        if touch.gap.value() < reach {
            found(touch);
        }
    };
    let else_along = || at[1].rotate(&b.rot.col(1).0);
    for (i, p) in first[..n].iter().enumerate() {
        for (j, q) in second[..m].iter().enumerate() {
            let slot = (i * m + j) as u32 * each;
            let radii = [p.radius, q.radius];
            match (p.half > 0.0, q.half > 0.0) {
                (false, false) => {
                    let points = [point(a, at[0], p), point(b, at[1], q)];
                    found(Cores::balls(points, radii).apart(else_along, slot));
                }
                (false, true) => {
                    let c = point(a, at[0], p);
                    let points = [c, LineSegment::new(b, at[1], q).nearest(c)];
                    found(Cores::balls(points, radii).apart(else_along, slot));
                }
                (true, false) => {
                    let c = point(b, at[1], q);
                    let points = [LineSegment::new(a, at[0], p).nearest(c), c];
                    // square to the line
                    found(Cores::balls(points, radii).apart(|| at[0].rotate(&a.rot.col(1).0), slot));
                }
                (true, true) => {
                    let lines = Lines {
                        a: LineSegment::new(a, at[0], p),
                        b: LineSegment::new(b, at[1], q),
                        radii,
                        slot,
                    };
                    lines.touch(planar, else_along, found);
                }
            }
        }
    }
}

/// The middle of a line, or the centre of a ball.
fn point<R: Real>(surface: &Surface, pose: &Pose<R>, segment: &Segment) -> Vec3<R> {
    let axis = surface.rot.col(0).0;
    pose.point(&[0, 1, 2].map(|i| surface.p[i] + segment.middle * axis[i]))
}

/// m + s u, |s| ≤ half.
#[derive(Clone, Copy)]
pub struct LineSegment<R> {
    /// Middle.
    pub m: Vec3<R>,
    /// Direction.
    pub u: Vec3<R>,
    /// Half its length \[m\].
    pub half: f64,
}

impl<R: Real> LineSegment<R> {
    /// A line of a surface.
    pub fn new(surface: &Surface, pose: &Pose<R>, segment: &Segment) -> Self {
        let u = pose.rotate(&surface.rot.col(0).0);
        LineSegment { m: point(surface, pose, segment), u, half: segment.half }
    }

    fn value(&self) -> LineSegment<f64> {
        LineSegment { m: Vec3(self.m.value()), u: Vec3(self.u.value()), half: self.half }
    }

    /// The point at s, which may have derivatives.
    fn at(&self, s: R) -> Vec3<R> {
        self.m + self.u.scale(s)
    }

    /// The end of a sign.
    pub fn end(&self, sign: f64) -> Vec3<R> {
        self.m + self.u.scale_f64(sign * self.half)
    }

    /// Returns how far along the foot of a point is.
    fn along(&self, c: Vec3<R>) -> R {
        (c - self.m).dot(self.u)
    }

    /// The point nearest to `c`.
    pub fn nearest(&self, c: Vec3<R>) -> Vec3<R> {
        let s = self.along(c);
        if s.value().abs() >= self.half { self.end(s.value().signum()) } else { self.at(s) }
    }
}

/// Two lines with a radius around each.
struct Lines<R> {
    a: LineSegment<R>,
    b: LineSegment<R>,
    radii: [f64; 2],
    slot: u32,
}

impl<R: Real> Lines<R> {
    fn touch(&self, planar: bool, else_along: impl Fn() -> Vec3<R>, found: &mut impl FnMut(Touch<R>)) {
        let (a, b) = (self.a.value(), self.b.value());
        let cross = a.u.cross(b.u);
        let sin2 = cross.norm_squared();
        if sin2 < PARALLEL
            && let Some(ends) = self.side_by_side(&a, &b)
        {
            let [first, second] =
                ends.map(|(points, slot)| Cores::balls(points, self.radii).apart(&else_along, slot));
            found(first);
            found(second);
            return;
        }
        let (s, t) = nearest(&a, &b, sin2);
        let (inner_a, inner_b) = (s.abs() < a.half, t.abs() < b.half);
        let points = match (inner_a, inner_b) {
            (true, true) if planar => {
                found(self.crossed(&a, &b));
                return;
            }
            (true, true) if sin2 >= PARALLEL => {
                let cross = self.a.u.cross(self.b.u);
                let w = self.a.m - self.b.m;
                let (cos, d1, d2) = (self.a.u.dot(self.b.u), self.a.u.dot(w), self.b.u.dot(w));
                let s = (cos * d2 - d1) / cross.norm_squared();
                let points = [self.a.at(s), self.b.at(d2 + s * cos)];
                // either side; the one on which they are
                let side = if w.dot(cross).value() < 0.0 { -1.0 } else { 1.0 };
                let normal = cross.scale(R::from_f64(side) / cross.norm());
                found(Cores::balls(points, self.radii).along(normal, self.slot));
                return;
            }
            (true, _) => {
                let c = self.b.end(t.signum());
                [self.a.nearest(c), c]
            }
            (false, _) => {
                let c = self.a.end(s.signum());
                if inner_b { [c, self.b.nearest(c)] } else { [c, self.b.end(t.signum())] }
            }
        };
        found(Cores::balls(points, self.radii).apart(else_along, self.slot));
    }

    /// The ends of the stretch over which parallel lines are side by side, if it is longer than the thinner one is thick.
    fn side_by_side(&self, a: &LineSegment<f64>, b: &LineSegment<f64>) -> Option<[([Vec3<R>; 2], u32); 2]> {
        let sense = if a.u.dot(b.u) < 0.0 { -1.0 } else { 1.0 };
        let middle = a.along(b.m);
        let (low, high) = ((middle - b.half).max(-a.half), (middle + b.half).min(a.half));
        if !(high - low > self.radii[0].min(self.radii[1])) {
            return None;
        }
        Some([(-1.0, low, 0), (1.0, high, 1)].map(|(sign, s, k): (f64, f64, u32)| {
            if s == sign * a.half {
                let c = self.a.end(sign);
                ([c, self.b.at(self.b.along(c))], self.slot + 1 + k)
            } else {
                let c = self.b.end(sign * sense);
                ([self.a.at(self.a.along(c)), c], self.slot + 3 + k)
            }
        }))
    }

    /// Lines in the plane that cross: out over the end that is least far through.
    fn crossed(&self, a: &LineSegment<f64>, b: &LineSegment<f64>) -> Touch<R> {
        let depth = |line: &LineSegment<f64>, c: Vec3| rotated(line.u).dot(c - line.m);
        let mut least = (f64::INFINITY, false, 0.0);
        for sign in [-1.0, 1.0] {
            for (of_a, d) in [(true, depth(b, a.end(sign))), (false, depth(a, b.end(sign)))] {
                if d.abs() < least.0.abs() {
                    least = (d, of_a, sign);
                }
            }
        }
        let (d, of_a, sign) = least;
        let side = R::from_f64(if d < 0.0 { 1.0 } else { -1.0 });
        let (points, normal) = if of_a {
            let c = self.a.end(sign);
            ([c, self.b.at(self.b.along(c))], rotated(self.b.u).scale(side))
        } else {
            let c = self.b.end(sign);
            ([self.a.at(self.a.along(c)), c], rotated(self.a.u).scale(-side))
        };
        Cores::balls(points, self.radii).along(unit(normal).unwrap_or(normal), self.slot)
    }
}

/// A quarter of a rotation about z.
fn rotated<R: Real>(u: Vec3<R>) -> Vec3<R> {
    Vec3([-u.y(), u.x(), R::zero()])
}

/// Where two lines are nearest \[Ericson2005, section 5.1.9\].
fn nearest(a: &LineSegment<f64>, b: &LineSegment<f64>, sin2: f64) -> (f64, f64) {
    let w = a.m - b.m;
    let (cos, d1, d2) = (a.u.dot(b.u), a.u.dot(w), b.u.dot(w));
    let s = if sin2 > 1e-30 {
        ((cos * d2 - d1) / sin2).clamp(-a.half, a.half)
    } else {
        (-d1).clamp(-a.half, a.half)
    };
    let t = d2 + s * cos;
    if t.abs() < b.half {
        return (s, t);
    }
    let t = t.clamp(-b.half, b.half);
    ((t * cos - d1).clamp(-a.half, a.half), t)
}
