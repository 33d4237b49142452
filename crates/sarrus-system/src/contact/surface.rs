//! What of a body can be touched, and where two such surfaces are nearest.

use sarrus_math::{Mat3, Pose, Real, Vec3};

/// A surface in its own axes; see the shapes of the model file for where these lie.
#[derive(Clone, Debug)]
pub enum Geometry {
    /// A ball; in the plane a circle.
    Ball {
        /// Radius \[m\].
        radius: f64,
    },
    /// All below the plane through the origin with normal z, in the plane y.
    HalfSpace,
}

/// A surface on its body.
#[derive(Clone, Debug)]
pub struct Surface {
    /// What it is.
    pub geometry: Geometry,
    /// Its origin from the body's centre of mass, body axes \[m\].
    pub p: [f64; 3],
    /// Its own axes to the body's.
    pub rot: Mat3,
}

/// A place at which two surfaces touch, or nearly do. World axes.
#[derive(Clone, Copy, Debug)]
pub struct Touch<R> {
    /// Distance along the normal \[m\]; negative where they overlap.
    pub gap: R,
    /// Of length 1: the way in which the first is pushed off the second.
    pub normal: Vec3<R>,
    /// The nearest point of each \[m\]: first - second = gap · normal.
    pub points: [Vec3<R>; 2],
    /// 1/(1/R₁ + 1/R₂) of the two surfaces there, for Hertz \[m\]; infinite where both are flat.
    pub radius: f64,
    /// Which of the pair's places this is: the same number as long as the same features touch, below [`slots`].
    pub slot: u32,
}

/// How many places a pair can touch at.
pub fn slots(_a: &Surface, _b: &Surface) -> u32 {
    1
}

/// The places at which `a` on a body at `at[0]` and `b` on one at `at[1]` overlap or are nearer than `reach`.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    planar: bool,
    found: &mut impl FnMut(Touch<R>),
) {
    let centre = |s: &Surface, pose: &Pose<R>| pose.p + pose.rot.mul_f64(&s.p);
    if let (Geometry::Ball { radius }, Geometry::HalfSpace) = (&a.geometry, &b.geometry) {
        let up = Vec3(b.rot.col(if planar { 1 } else { 2 }).0);
        let normal = at[1].rot.mul_f64(&up.0);
        let c = centre(a, at[0]);
        let gap = (c - centre(b, at[1])).dot(normal) - *radius;
        if gap.value() < reach {
            let first = c - normal.scale(R::from_f64(*radius));
            found(Touch { gap, normal, points: [first, first - normal.scale(gap)], radius: *radius, slot: 0 });
        }
    }
}

/// Radius of the rounding of a surface, 0 where it has none \[m\].
pub fn rounding(geometry: &Geometry) -> f64 {
    match geometry {
        Geometry::Ball { radius } => *radius,
        Geometry::HalfSpace => 0.0,
    }
}
