//! Anything on a half-space, a plane or in a channel.
//!
//! On a wall with normal n through o, a ball at c has the gap n·(c - o) - r, a corner the same with r = 0. A rim about the axis a has
//! its lowest point at c + r u, u = -(n - a(a·n))/|…|, and three more at quarter turns from it, so that a cylinder can stand on its
//! end. In a tube of radius ρ about z, n = -(c - o)⊥/|…| and the gap is n·(c - o) + ρ - r. Rims in a tube take for n that at their centre,
//! which is right as long as they are nearly square to it.

use super::points::{Segment, curvature, effective, unit};
use super::segments;
use crate::contact::surface::{Geometry, Surface, Touch};
use sarrus_math::{Pose, Real, Vec3};

/// Below this sine between axis and normal a rim lies flat, and its points are fixed.
pub const FLAT: f64 = 1e-6;

/// Returns how many points a pair can touch at: those of `a` on each wall of `b`.
pub fn slots(a: &Geometry, b: &Geometry) -> u32 {
    let walls = if matches!(b, Geometry::Channel { .. }) { 2 } else { 1 };
    point_count(a) * walls
}

fn point_count(a: &Geometry) -> u32 {
    match a {
        Geometry::Cylinder { half, .. } => 4 * rims(*half),
        Geometry::Box { half } => corners(half),
        Geometry::Convex(hull) => hull.corners().len() as u32,
        Geometry::Mesh(triangles) => triangles.flats().corners.len() as u32,
        round => match segments(round) {
            ([Segment { half, .. }, _], 1) if half > 0.0 => 2,
            (_, n) => n as u32,
        },
    }
}

/// A thin disc has one.
fn rims(half: f64) -> u32 {
    if half > 0.0 { 2 } else { 1 }
}

/// A rectangle has four.
fn corners(half: &[f64; 3]) -> u32 {
    if half[2] > 0.0 { 8 } else { 4 }
}

/// From the centre of a rim to its points on a wall with this normal: the lowest, and three more at quarter turns; of a rim that lies flat
/// the first is along `flat`.
pub fn rim_arms<R: Real>(
    axis: Vec3<R>,
    normal: Vec3<R>,
    radius: f64,
    flat: impl FnOnce() -> Vec3<R>,
) -> [Vec3<R>; 4] {
    let across = axis.scale(axis.dot(normal)) - normal;
    let lowest = if across.norm().value() > FLAT { unit(across) } else { None };
    let u = lowest.unwrap_or_else(flat).scale_f64(radius);
    let w = axis.cross(u);
    [u, w, -u, -w]
}

/// One wall: gap = n·(c - o) + offset - r.
enum Wall<R> {
    Flat { normal: Vec3<R>, offset: f64 },
    Tube { axis: Vec3<R>, side: Vec3<R>, radius: f64 },
}

struct WallTask<'a, R> {
    pose: &'a Pose<R>,
    o: Vec3<R>,
    wall: Wall<R>,
    /// Of the first point.
    slot: u32,
    reach: f64,
}

/// The points of a pair of which `b` is the wall.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    planar: bool,
    found: &mut impl FnMut(Touch<R>),
) {
    let axis = |i: usize| at[1].rotate(&b.rot.col(i).0);
    let o = b.centre(at[1]);
    let mut touch = |wall, slot| WallTask { pose: at[0], o, wall, slot, reach }.touch(a, found);
    let up = if planar { 1 } else { 2 };
    match b.geometry {
        Geometry::HalfSpace => touch(Wall::Flat { normal: axis(up), offset: 0.0 }, 0),
        Geometry::Plane => {
            let normal = axis(up);
            let side = if (at[0].p - o).dot(normal).value() < 0.0 { -normal } else { normal };
            touch(Wall::Flat { normal: side, offset: 0.0 }, 0);
        }
        Geometry::Channel { half, tube } if tube && !planar => {
            touch(Wall::Tube { axis: axis(2), side: axis(0), radius: half }, 0);
        }
        Geometry::Channel { half, .. } => {
            let normal = axis(0);
            touch(Wall::Flat { normal, offset: half }, 0);
            touch(Wall::Flat { normal: -normal, offset: half }, point_count(&a.geometry));
        }
        _ => {}
    }
}

impl<R: Real> WallTask<'_, R> {
    fn touch(&self, a: &Surface, found: &mut impl FnMut(Touch<R>)) {
        match &a.geometry {
            Geometry::Cylinder { half, radius, along } => self.rims(a, *half, *radius, *along, found),
            Geometry::Box { half } => {
                let sign = |i: u32, k: u32| if i >> k & 1 == 1 { 1.0 } else { -1.0 };
                let corner = |i| [sign(i, 0) * half[0], sign(i, 1) * half[1], sign(i, 2) * half[2]];
                // of a rectangle the last sign does not count
                self.corners(a, (0..corners(half)).map(corner), found);
            }
            Geometry::Convex(hull) => self.corners(a, hull.corners().iter().copied(), found),
            Geometry::Mesh(triangles) => {
                let corner = |i: &u32| triangles.corners()[*i as usize];
                self.corners(a, triangles.flats().corners.iter().map(corner), found);
            }
            round => {
                let (parts, n) = segments(round);
                for (i, part) in parts[..n].iter().enumerate() {
                    if part.half > 0.0 {
                        self.ball(a, -part.half, part.radius, 0, found);
                        self.ball(a, part.half, part.radius, 1, found);
                    } else {
                        self.ball(a, part.middle, part.radius, i as u32, found);
                    }
                }
            }
        }
    }

    /// A ball at x on the first axis of a surface.
    fn ball(&self, a: &Surface, x: f64, radius: f64, slot: u32, found: &mut impl FnMut(Touch<R>)) {
        let axis = a.rot.col(0).0;
        let c = self.pose.point(&[0, 1, 2].map(|i| a.p[i] + x * axis[i]));
        self.point(c, radius, slot, found);
    }

    /// Corners, of which most are far away.
    fn corners(
        &self,
        a: &Surface,
        corners: impl Iterator<Item = [f64; 3]>,
        found: &mut impl FnMut(Touch<R>),
    ) {
        let far = match &self.wall {
            Wall::Flat { normal, offset } => {
                let n = self.pose.value().to_local(Vec3(normal.value()));
                Some((n, (self.pose.p - self.o).dot(*normal).value() + offset))
            }
            Wall::Tube { .. } => None,
        };
        for (i, corner) in corners.enumerate() {
            let p = Vec3(a.p) + a.rot * Vec3(corner);
            // a little wider than what `point` accepts
            if far.is_some_and(|(n, rest)| n.dot(p) + rest > self.reach + 1e-9 * (1.0 + rest.abs())) {
                continue;
            }
            self.point(self.pose.point(&p.0), 0.0, i as u32, found);
        }
    }

    fn rims(&self, a: &Surface, half: f64, radius: f64, along: usize, found: &mut impl FnMut(Touch<R>)) {
        let axis_a = a.rot.col(along);
        let axis = self.pose.rotate(&axis_a.0);
        for rim in 0..rims(half) {
            let x = if rim == 0 { -half } else { half };
            let c = self.pose.point(&(Vec3(a.p) + axis_a.scale(x)).0);
            let (normal, _) = self.normal(c);
            let flat = || self.pose.rotate(&a.rot.col((along + 1) % 3).0);
            for (k, arm) in rim_arms(axis, normal, radius, flat).into_iter().enumerate() {
                self.point(c + arm, 0.0, 4 * rim + k as u32, found);
            }
        }
    }

    /// The wall's normal at a point, and its offset.
    fn normal(&self, c: Vec3<R>) -> (Vec3<R>, f64) {
        match self.wall {
            Wall::Flat { normal, offset } => (normal, offset),
            Wall::Tube { axis, side, radius } => {
                let rel = c - self.o;
                (unit(axis.scale(axis.dot(rel)) - rel).unwrap_or(side), radius)
            }
        }
    }

    fn point(&self, c: Vec3<R>, radius: f64, slot: u32, found: &mut impl FnMut(Touch<R>)) {
        let (normal, offset) = self.normal(c);
        let gap = (c - self.o).dot(normal) + (offset - radius);
        if gap.value() < self.reach {
            let first = c - normal.scale_f64(radius);
            let wall = match self.wall {
                Wall::Flat { .. } => [0.0; 2],
                Wall::Tube { radius, .. } => [-1.0 / radius, 0.0],
            };
            let radius = effective(curvature(radius), wall);
            found(Touch {
                gap,
                normal,
                points: [first, first - normal.scale(gap)],
                slot: self.slot + slot,
                radius,
                weight: 1.0,
                feature: None,
            });
        }
    }
}
