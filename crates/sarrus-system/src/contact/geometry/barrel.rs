//! Capsules on cylinders, in space.
//!
//! The distance d(s) of a point of the capsule's line from the cylinder, negative inside, is convex, since a cylinder is: its slope n·u
//! rises with s, and halving finds where it changes its sign. That point is the point, as the ball about it would have it; with the ends, if they
//! are over a face or nearest themselves. A line along the side, or across an end, touches over a stretch: its points are where the stretch
//! begins and ends. Normals are differentiated as if the point went with the capsule;
//! so is the gap, which is exact unless the line itself runs through the cylinder.

use super::points::Segment;
use super::round::LineSegment;
use super::solid::{BallNearSolid, on_cylinder};
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// Ends, nearest point, and where a stretch begins and ends.
pub const SLOTS: u32 = 5;

/// Sine between a line and what it lies along.
const PARALLEL: f64 = 1e-3;

/// The points of a pair of a capsule and a cylinder.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    found: &mut impl FnMut(Touch<R>),
) {
    let (Geometry::Capsule { half, radius }, Geometry::Cylinder { half: length, radius: round, along }) =
        (&a.geometry, &b.geometry)
    else {
        return;
    };
    let line = LineSegment::new(a, at[0], &Segment { middle: 0.0, half: *half, radius: *radius });
    let frame = b.frame(at[1]);
    let foot = |p: Vec3| on_cylinder(p, *length, *round, *along);
    let (m, u) = {
        let frame = frame.value();
        (frame.to_local(Vec3(line.m.value()) - frame.p), frame.to_local(Vec3(line.u.value())))
    };
    let mut add_point = |s: f64, slot: u32| {
        let c = line.m + line.u.scale_f64(s);
        let ball = BallNearSolid { c, radius: *radius, frame: &frame, reach };
        ball.on(on_cylinder(frame.to_local(c - frame.p), *length, *round, *along), slot, found);
    };

    let slope = |s: f64| foot(m + u.scale(s)).normal.dot(u);
    for (slot, sign) in [(0, -1.0), (1, 1.0)] {
        let end = foot(m + u.scale(sign * half));
        if end.on_face || sign * end.normal.dot(u) <= 0.0 {
            add_point(sign * half, slot);
        }
    }
    if let Some(stretch) = stretch(m, u, *half, *length, *round, *along) {
        for (slot, s) in [(3, stretch[0]), (4, stretch[1])] {
            if s.abs() < *half {
                add_point(s, slot);
            }
        }
        return;
    }
    let (mut low, mut high) = (-half, *half);
    if slope(low) >= 0.0 || slope(high) <= 0.0 {
        return;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    add_point(0.5 * (low + high), 2);
}

/// Returns where a line that lies along the side, or across an end, comes over it and leaves it.
fn stretch(m: Vec3, u: Vec3, half: f64, length: f64, round: f64, along: usize) -> Option<[f64; 2]> {
    let cos = u[along].abs();
    let across = |p: Vec3| {
        let mut p = p;
        p[along] = 0.0;
        p
    };
    let (x, y) = (across(m), across(u));
    let ends = if y.norm() < PARALLEL && x.norm() > round {
        [(-length - m[along]) / u[along], (length - m[along]) / u[along]]
    } else if cos < PARALLEL && m[along].abs() > length {
        let (b, c) = (x.dot(y) / y.norm_squared(), (x.norm_squared() - round * round) / y.norm_squared());
        let root = (b * b - c).max(0.0).sqrt();
        [-b - root, -b + root]
    } else {
        return None;
    };
    let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    (high > low && low < half && high > -half).then_some([low, high])
}
