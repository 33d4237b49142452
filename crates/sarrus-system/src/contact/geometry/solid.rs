//! Balls on what has faces: box, cylinder, hull, triangles.
//!
//! In the solid's own axes the point nearest to the centre c of the ball is found; outside the normal is along c - q. Inside it is that
//! of the face, or of the side, that is least far away: the normal stays where it is while the ball sinks in, whatever the depth.

use super::points::{curvature, effective, unit};
use super::segments;
use super::triangle::{on_hull, on_triangles};
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// Returns how many points a pair can touch at.
pub fn slots(a: &Geometry, b: &Geometry) -> u32 {
    let each = if let Geometry::Mesh(mesh) = b { mesh.features() } else { 1 };
    segments(a).1 as u32 * each
}

/// The points of a pair of which `a` is made of balls.
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
        let c = at[0].point(&[0, 1, 2].map(|i| a.p[i] + part.middle * axis[i]));
        let local = frame.to_local(c - frame.p);
        let ball = BallNearSolid { c, radius: part.radius, frame: &frame, reach };
        match &b.geometry {
            Geometry::Box { half } => ball.on(on_box(local, half, planar), i as u32, found),
            Geometry::Cylinder { half, radius, along } => {
                ball.on(on_cylinder(local, *half, *radius, *along), i as u32, found);
            }
            Geometry::Convex(hull) => ball.on(on_hull(hull, local), i as u32, found),
            Geometry::Mesh(mesh) => {
                let slot = i as u32 * mesh.features();
                on_triangles(mesh, local, reach + part.radius, &mut |foot, k| ball.on(foot, slot + k, found));
            }
            _ => {}
        }
    }
}

/// A ball near a solid.
pub struct BallNearSolid<'a, R> {
    /// Its centre, world axes.
    pub c: Vec3<R>,
    /// Radius \[m\].
    pub radius: f64,
    /// Of the solid.
    pub frame: &'a Pose<R>,
    /// Holds what is farther does not count \[m\].
    pub reach: f64,
}

impl<R: Real> BallNearSolid<'_, R> {
    /// The point over a foot of its centre.
    pub fn on(&self, foot: ClosestPoint<R>, slot: u32, found: &mut impl FnMut(Touch<R>)) {
        let gap = foot.distance - self.radius;
        if gap.value() < self.reach {
            let normal = self.frame.rot * foot.normal;
            let first = self.c - normal.scale_f64(self.radius);
            let radius = effective(curvature(self.radius), foot.curvature);
            found(Touch {
                gap,
                normal,
                points: [first, first - normal.scale(gap)],
                slot,
                radius,
                weight: 1.0,
                feature: None,
            });
        }
    }
}

/// The point of a solid nearest to another, in the solid's axes.
pub struct ClosestPoint<R> {
    /// The way out.
    pub normal: Vec3<R>,
    /// Describes how far out the other is \[m\]; negative inside.
    pub distance: R,
    /// Principal curvatures \[1/m\].
    pub curvature: [f64; 2],
    /// Not an edge or corner.
    pub on_face: bool,
}

/// c - q along its own direction; none where that is nothing.
fn outside<R: Real>(d: Vec3<R>) -> Option<ClosestPoint<R>> {
    let normal = unit(d)?;
    Some(ClosestPoint { normal, distance: d.norm(), curvature: [0.0; 2], on_face: false })
}

/// The foot of a point on a box.
pub fn on_box<R: Real>(c: Vec3<R>, half: &[f64; 3], planar: bool) -> ClosestPoint<R> {
    let over = |i: usize| {
        let (x, h) = (c[i].value(), half[i]);
        if x.abs() > h { c[i] - h.copysign(x) } else { R::zero() }
    };
    let flat = if planar { 2 } else { 3 };
    let d = Vec3([over(0), over(1), if planar { R::zero() } else { over(2) }]);
    let over = (0..3).filter(|i| d[*i].value() != 0.0).count();
    outside(d).map(|foot| ClosestPoint { on_face: over == 1, ..foot }).unwrap_or_else(|| {
        let depth = |i: usize| half[i] - c[i].value().abs();
        let nearest = (1..flat).fold(0, |best, i| if depth(i) < depth(best) { i } else { best });
        let sign = 1f64.copysign(c[nearest].value());
        let mut normal = [0.0; 3];
        normal[nearest] = sign;
        ClosestPoint {
            normal: Vec3::from_f64(normal),
            distance: c[nearest] * sign - half[nearest],
            curvature: [0.0; 2],
            on_face: true,
        }
    })
}

/// The foot of a point on a cylinder.
pub fn on_cylinder<R: Real>(c: Vec3<R>, half: f64, radius: f64, along: usize) -> ClosestPoint<R> {
    let x = c[along];
    let mut across = c;
    across[along] = R::zero();
    let rho = across.norm();
    let (above, beside) = (x.value().abs() > half, rho.value() > radius);
    let sign = 1f64.copysign(x.value());
    let mut up = Vec3::zero();
    up[along] = R::from_f64(sign);
    let cap = || ClosestPoint { normal: up, distance: x * sign - half, curvature: [0.0; 2], on_face: true };
    let side = || {
        let mut else_along = Vec3::zero();
        else_along[(along + 1) % 3] = R::one();
        let normal = unit(across).unwrap_or(else_along);
        ClosestPoint {
            normal,
            distance: across.dot(normal) - radius,
            curvature: [1.0 / radius, 0.0],
            on_face: true,
        }
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
