//! Boxes along the world's axes around surfaces.

use crate::contact::surface::{Geometry, Surface};
use sarrus_math::{Mat3, Pose, Vec3};

/// All between two corners; infinite where a surface has no end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// The corner with the least coordinates \[m\].
    pub low: [f64; 3],
    /// The corner with the largest \[m\].
    pub high: [f64; 3],
}

impl Aabb {
    /// All of space.
    pub const ALL: Aabb = Aabb { low: [f64::NEG_INFINITY; 3], high: [f64::INFINITY; 3] };

    /// About a centre.
    fn about(c: Vec3, half: [f64; 3]) -> Self {
        Aabb { low: [0, 1, 2].map(|i| c[i] - half[i]), high: [0, 1, 2].map(|i| c[i] + half[i]) }
    }

    /// With `margin` more on all sides \[m\].
    pub fn grown(&self, margin: f64) -> Self {
        Aabb { low: self.low.map(|x| x - margin), high: self.high.map(|x| x + margin) }
    }

    /// The least box around both.
    pub fn joined(&self, other: &Self) -> Self {
        Aabb {
            low: [0, 1, 2].map(|i| self.low[i].min(other.low[i])),
            high: [0, 1, 2].map(|i| self.high[i].max(other.high[i])),
        }
    }

    /// Returns whether they have a point in common.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        (0..3).all(|i| self.low[i] <= other.high[i] && other.low[i] <= self.high[i])
    }

    /// Returns whether `other` is in it.
    #[inline]
    pub fn contains(&self, other: &Self) -> bool {
        (0..3).all(|i| self.low[i] <= other.low[i] && other.high[i] <= self.high[i])
    }

    /// Its middle and its halves.
    fn middle(&self) -> (Vec3, Vec3) {
        let of = |f: fn(f64, f64) -> f64| Vec3([0, 1, 2].map(|i| f(self.low[i], self.high[i])));
        (of(|a, b| 0.5 * (a + b)), of(|a, b| 0.5 * (b - a)))
    }
}

/// The least box around a surface on a body; infinite around one without end. Around a file's surface it is that of the box in its own axes.
pub fn bounds(surface: &Surface, pose: &Pose) -> Aabb {
    let about = |half: [f64; 3]| Aabb::about(surface.centre(pose), half);
    let axis = |i: usize| pose.rot * surface.rot.col(i);
    match surface.geometry {
        Geometry::Ball { radius } => about([radius; 3]),
        Geometry::Ends { half, radius } | Geometry::Capsule { half, radius } => {
            about(axis(0).0.map(|u| u.abs() * half + radius))
        }
        Geometry::Cylinder { half, radius, along } => {
            about(axis(along).0.map(|u| u.abs() * half + radius * (1.0 - u * u).max(0.0).sqrt()))
        }
        Geometry::Box { half } => about(rotated_extent(&(pose.rot * surface.rot), half)),
        Geometry::Convex(ref hull) => around(surface, pose, hull.extent()),
        Geometry::Mesh(ref triangles) => around(surface, pose, triangles.extent()),
        Geometry::Plane | Geometry::HalfSpace | Geometry::Channel { .. } => Aabb::ALL,
    }
}

/// Halves of a box that is turned.
fn rotated_extent(rot: &Mat3, half: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| (0..3).map(|j| rot.0[i][j].abs() * half[j]).sum())
}

fn around(surface: &Surface, pose: &Pose, extent: &Aabb) -> Aabb {
    let frame = surface.frame(pose);
    let (middle, half) = extent.middle();
    Aabb::about(frame.point(&middle.0), rotated_extent(&frame.rot, half.0))
}

/// Returns how far a surface without end is from a box, at least \[m\]; negative where they may overlap.
pub fn clearance(wall: &Surface, pose: &Pose, planar: bool, other: &Aabb) -> f64 {
    let (c, half) = other.middle();
    let rel = c - wall.centre(pose);
    let rot = pose.rot * wall.rot;
    let wide = |n: Vec3| (0..3).map(|i| n[i].abs() * half[i]).sum::<f64>();
    let up = rot.col(if planar { 1 } else { 2 });
    match wall.geometry {
        Geometry::HalfSpace => rel.dot(up) - wide(up),
        Geometry::Plane => rel.dot(up).abs() - wide(up),
        Geometry::Channel { half: free, tube } if tube && !planar => {
            free - (rel - up.scale(rel.dot(up))).norm() - half.norm()
        }
        Geometry::Channel { half: free, .. } => {
            let n = rot.col(0);
            free - rel.dot(n).abs() - wide(n)
        }
        _ => f64::NEG_INFINITY,
    }
}
