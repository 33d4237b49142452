//! Describes what points are made of: points with a radius around them, directions that exist at any distance, and curvatures.

use crate::contact::surface::Touch;
use sarrus_math::{Real, Vec3};

/// Nearer than this two points are one \[m\]: high derivatives of a direction, which grow as powers of 1/distance, stay finite.
const COINCIDENT: f64 = 1e-30;

/// A line along x with a radius around it; a ball where the half is 0.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Marks where its middle is on x \[m\].
    pub middle: f64,
    /// Half its length \[m\].
    pub half: f64,
    /// Radius \[m\].
    pub radius: f64,
}

/// Two points of which one is pushed from the other, each with a radius around it.
#[derive(Clone, Copy)]
pub struct Cores<R> {
    /// The points.
    pub points: [Vec3<R>; 2],
    /// The radii \[m\].
    pub radii: [f64; 2],
    /// Principal curvatures of each \[1/m\].
    pub curvatures: [[f64; 2]; 2],
}

impl<R: Real> Cores<R> {
    /// Two balls.
    pub fn balls(points: [Vec3<R>; 2], radii: [f64; 2]) -> Self {
        Cores { points, radii, curvatures: radii.map(curvature) }
    }

    /// The point, pushed along the line through both points; where they coincide, along `else_along`.
    #[inline]
    pub fn apart(self, else_along: impl FnOnce() -> Vec3<R>, slot: u32) -> Touch<R> {
        let normal = unit(self.points[0] - self.points[1]).unwrap_or_else(else_along);
        self.along(normal, slot)
    }

    /// The point, pushed along a given normal.
    #[inline]
    pub fn along(self, normal: Vec3<R>, slot: u32) -> Touch<R> {
        let gap = (self.points[0] - self.points[1]).dot(normal) - (self.radii[0] + self.radii[1]);
        let first = self.points[0] - normal.scale_f64(self.radii[0]);
        let radius = effective(self.curvatures[0], self.curvatures[1]);
        let points = [first, first - normal.scale(gap)];
        Touch { gap, normal, points, slot, radius, weight: 1.0, feature: None }
    }
}

/// a/|a|; none where a is nothing.
#[inline]
pub fn unit<R: Real>(a: Vec3<R>) -> Option<Vec3<R>> {
    let length = a.norm();
    // not NaN either
    (length.value() > COINCIDENT).then(|| a.scale(R::one() / length))
}

/// Both principal curvatures of a ball; of an edge or corner 0: Hertz's law has no name for it.
pub fn curvature(radius: f64) -> [f64; 2] {
    if radius > 0.0 { [1.0 / radius; 2] } else { [0.0; 2] }
}

/// 1/√(κ′κ″) for the sums κ of principal curvatures \[m\]; infinite where one is not positive.
pub fn effective(a: [f64; 2], b: [f64; 2]) -> f64 {
    let (first, second) = (a[0] + b[0], a[1] + b[1]);
    if first > 0.0 && second > 0.0 { 1.0 / (first * second).sqrt() } else { f64::INFINITY }
}
