//! Balls on what has faces: box, cylinder, hull, triangles.
//!
//! In the solid's own axes the point nearest to the centre c of the ball is found; outside the normal is along c - q. Inside it is that
//! of the face, or of the side, that is least far away: the normal stays where it is while the ball sinks in, whatever the depth.

use super::place::{curvature, effective, unit};
use super::segments;
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// How many places a pair can touch at.
pub fn slots(a: &Geometry, _b: &Geometry) -> u32 {
    segments(a).1 as u32
}

/// The places of a pair of which `a` is round.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    planar: bool,
    found: &mut impl FnMut(Touch<R>),
) {
    let frame = b.frame(at[1]);
    let axis = a.rot.col(0).0;
    let (parts, n) = segments(&a.geometry);
    for (i, part) in parts[..n].iter().enumerate() {
        if part.half > 0.0 {
            continue;
        }
        let c = at[0].point(&[0, 1, 2].map(|i| a.p[i] + part.middle * axis[i]));
        let local = frame.to_local(c - frame.p);
        let foot = match &b.geometry {
            Geometry::Box { half } => on_box(local, half, planar),
            Geometry::Cylinder { half, radius, along } => on_cylinder(local, *half, *radius, *along),
            _ => continue,
        };
        let normal = frame.rot * foot.normal;
        let gap = foot.distance - part.radius;
        if gap.value() < reach {
            let first = c - normal.scale_f64(part.radius);
            let radius = effective(curvature(part.radius), foot.curvature);
            found(Touch { gap, normal, points: [first, first - normal.scale(gap)], slot: i as u32, radius });
        }
    }
}

/// The point of a solid nearest to another, in the solid's axes.
pub struct Foot<R> {
    /// The way out.
    pub normal: Vec3<R>,
    /// How far out the other is \[m\]; negative inside.
    pub distance: R,
    /// Principal curvatures \[1/m\].
    pub curvature: [f64; 2],
}

/// c - q along its own direction; none where that is nothing.
fn outside<R: Real>(d: Vec3<R>) -> Option<Foot<R>> {
    let normal = unit(d)?;
    Some(Foot { normal, distance: d.norm(), curvature: [0.0; 2] })
}

fn on_box<R: Real>(c: Vec3<R>, half: &[f64; 3], planar: bool) -> Foot<R> {
    let over = |i: usize| {
        let (x, h) = (c[i].value(), half[i]);
        if x.abs() > h { c[i] - h.copysign(x) } else { R::zero() }
    };
    let flat = if planar { 2 } else { 3 };
    let d = Vec3([over(0), over(1), if planar { R::zero() } else { over(2) }]);
    outside(d).unwrap_or_else(|| {
        let depth = |i: usize| half[i] - c[i].value().abs();
        let nearest = (1..flat).fold(0, |best, i| if depth(i) < depth(best) { i } else { best });
        let sign = 1f64.copysign(c[nearest].value());
        let mut normal = [0.0; 3];
        normal[nearest] = sign;
        Foot {
            normal: Vec3::from_f64(normal),
            distance: c[nearest] * sign - half[nearest],
            curvature: [0.0; 2],
        }
    })
}

fn on_cylinder<R: Real>(c: Vec3<R>, half: f64, radius: f64, along: usize) -> Foot<R> {
    let x = c[along];
    let mut across = c;
    across[along] = R::zero();
    let rho = across.norm();
    let (above, beside) = (x.value().abs() > half, rho.value() > radius);
    let sign = 1f64.copysign(x.value());
    let mut up = Vec3::zero();
    up[along] = R::from_f64(sign);
    let cap = || Foot { normal: up, distance: x * sign - half, curvature: [0.0; 2] };
    let side = || {
        let mut else_along = Vec3::zero();
        else_along[(along + 1) % 3] = R::one();
        let normal = unit(across).unwrap_or(else_along);
        Foot { normal, distance: across.dot(normal) - radius, curvature: [1.0 / radius, 0.0] }
    };
    match (above, beside) {
        (true, true) => {
            let rim = unit(across).unwrap_or(up).scale_f64(radius);
            let mut d = across - rim;
            d[along] = x - half.copysign(x.value());
            outside(d).unwrap_or_else(cap)
        }
        (true, false) => cap(),
        (false, true) => side(),
        (false, false) if half - x.value().abs() < radius - rho.value() => cap(),
        (false, false) => side(),
    }
}
