//! Describes what of a body can be touched, and where two such surfaces are nearest.
//!
//! A point is two points and a unit normal n, the way in which the first surface is pushed off the second:
//!
//! p₁ - p₂ = g n, with the gap g negative where they overlap.
//!
//! Which features are nearest (a corner, an edge, a face, a side) is decided on values; gap, normal and points are then
//! expressions of the two poses, so that their derivatives are those of the chosen features. They jump where the features
//! change. The derivative of g is exact for all pairs; those of n and p too, save for the pairs of [`super::geometry::manifold`].
//!
//! | pair | points |
//! |---|---|
//! | ball, ends, capsule, corners and rims on a half-space, plane or channel | each ball, each corner, four points of a rim, per wall |
//! | balls and capsules | one; parallel capsules side by side two; `ends` are two balls |
//! | ball on box, cylinder, hull | one |
//! | ball on triangles | one for each that is nearer than its surroundings |
//! | anything else with faces | as many as span the patch in which they touch |
//!
//! Hertz's law needs the [`Touch::radius`] R = 1/√(κ′κ″), with κ′ and κ″ the sums of both surfaces' principal curvatures:
//! 1/r for a ball, and for a capsule, which counts as the ball at that point; 1/r and 0 for the side of a cylinder, -1/r and 0
//! for a tube; 0 for what is flat and for edges and corners. Flat on flat has no radius: it is infinite.

use super::geometry::frozen::FrozenFeature;
use super::geometry::{self, Hull, TriangleMesh};
use sarrus_math::{Mat3, Pose, Real, Vec3};
use std::sync::Arc;

pub use super::geometry::bounds::{Aabb, bounds};

/// A surface in its own axes; see the shapes of the model file for where these lie.
#[derive(Clone, Debug)]
pub enum Geometry {
    /// A ball; in the plane a circle.
    Ball {
        /// Radius \[m\].
        radius: f64,
    },
    /// Two balls at ±`half` on x.
    Ends {
        /// Half the distance of their centres \[m\].
        half: f64,
        /// Radius \[m\].
        radius: f64,
    },
    /// All that is within `radius` of the line from -`half` to `half` on x.
    Capsule {
        /// Half the distance of the end balls' centres \[m\].
        half: f64,
        /// Radius \[m\].
        radius: f64,
    },
    /// A cylinder with flat ends. In the plane it is a box (along x) or a ball (along z) instead.
    Cylinder {
        /// Half its length \[m\]; 0 is a thin disc.
        half: f64,
        /// Radius \[m\].
        radius: f64,
        /// Its axis: 0 is x, 2 is z.
        along: usize,
    },
    /// A box; in the plane a rectangle, whose third half is 0.
    Box {
        /// Half its edges along x, y, z \[m\].
        half: [f64; 3],
    },
    /// The plane through the origin with normal z, in the plane y; touched on the side on which the other body's centre of mass is.
    Plane,
    /// All below the plane through the origin with normal z, in the plane y.
    HalfSpace,
    /// The inside of two walls with normal x, or of a tube about z; in the plane always two walls.
    Channel {
        /// Half the free width \[m\].
        half: f64,
        /// Round.
        tube: bool,
    },
    /// A convex polyhedron. Not in the plane.
    Convex(Arc<Hull>),
    /// Triangles. Not in the plane.
    Mesh(Arc<TriangleMesh>),
}

/// A surface on its body.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Holds what it is.
    pub geometry: Geometry,
    /// Its origin from the body's centre of mass, body axes \[m\].
    pub p: [f64; 3],
    /// Its own axes to the body's.
    pub rot: Mat3,
}

impl Surface {
    /// Its own frame in the world, on a body at `pose`.
    #[inline]
    pub fn frame<R: Real>(&self, pose: &Pose<R>) -> Pose<R> {
        Pose { p: self.centre(pose), rot: pose.rot.mul_mat_f64(&self.rot), angle: pose.angle }
    }

    /// Its own origin in the world.
    #[inline]
    pub fn centre<R: Real>(&self, pose: &Pose<R>) -> Vec3<R> {
        pose.point(&self.p)
    }
}

/// A point at which two surfaces touch, or nearly do. World axes.
#[derive(Clone, Copy, Debug)]
pub struct Touch<R> {
    /// Distance along the normal \[m\]; negative where they overlap.
    pub gap: R,
    /// Of length 1: the way in which the first is pushed off the second.
    pub normal: Vec3<R>,
    /// The nearest point of each \[m\]: first - second = gap · normal.
    pub points: [Vec3<R>; 2],
    /// Identifies which of the pair's points this is: the same number as long as the same features touch, below [`slots`].
    pub slot: u32,
    /// Radius that counts for Hertz's law \[m\]; infinite where both are flat.
    pub radius: f64,
    /// Describes how many points it counts as.
    pub weight: f64,
    /// The corner, face and edges that it is of, where flat faces meet.
    pub feature: Option<FrozenFeature>,
}

impl<R: Real> Touch<R> {
    /// The same, of the pair in the other order.
    pub fn flipped(self) -> Self {
        let [first, second] = self.points;
        Touch { normal: -self.normal, points: [second, first], feature: None, ..self }
    }
}

/// Returns how many points a pair can touch at.
pub fn slots(a: &Surface, b: &Surface) -> u32 {
    geometry::slots(&a.geometry, &b.geometry)
}

/// The points at which `a` on a body at `at[0]` and `b` on one at `at[1]` overlap or are nearer than `reach`.
pub fn touches<R: Real>(
    a: &Surface,
    b: &Surface,
    at: [&Pose<R>; 2],
    reach: f64,
    planar: bool,
    found: &mut impl FnMut(Touch<R>),
) {
    geometry::touches(a, b, at, reach, planar, found);
}

/// Returns how far it reaches from its body's centre of mass, at most \[m\]; infinite where it has no end.
pub fn farthest(surface: &Surface) -> f64 {
    let Aabb { low, high } = bounds(surface, &Pose::identity());
    let corner = [0, 1, 2].map(|i| low[i].abs().max(high[i].abs()));
    match surface.geometry {
        // a ball is smaller than the box around it
        Geometry::Ball { radius } => Vec3(surface.p).norm() + radius,
        _ => Vec3(corner).norm(),
    }
}

/// Returns how thick it is: about the radius of the largest ball inside \[m\]; 0 for a sheet, infinite for what fills one side of a wall.
pub fn thickness(geometry: &Geometry, planar: bool) -> f64 {
    let least = |half: &[f64]| half.iter().copied().fold(f64::INFINITY, f64::min);
    match geometry {
        Geometry::Ball { radius } | Geometry::Ends { radius, .. } | Geometry::Capsule { radius, .. } => {
            *radius
        }
        Geometry::Cylinder { half, radius, .. } => half.min(*radius),
        Geometry::Box { half } => least(&half[..if planar { 2 } else { 3 }]),
        Geometry::Convex(hull) => {
            let Aabb { low, high } = *hull.extent();
            least(&[0, 1, 2].map(|i| 0.5 * (high[i] - low[i])))
        }
        Geometry::Plane | Geometry::Mesh(_) => 0.0,
        Geometry::HalfSpace | Geometry::Channel { .. } => f64::INFINITY,
    }
}

/// Thickness of two sheets, over the size of the smaller.
const SHEET: f64 = 0.1;

/// Computes how deep two surfaces that are `thick` together and reach `far` each get into each other before they are through \[m\].
pub fn through(thick: f64, far: [f64; 2]) -> f64 {
    if thick > 0.0 { thick } else { SHEET * far[0].min(far[1]) }
}

/// Radius of the balls that it is made of \[m\]: how far inside its surface `acts_at = "centre"` lies. 0 where it is no ball, ends
/// or capsule.
pub fn rounding(geometry: &Geometry) -> f64 {
    match geometry {
        Geometry::Ball { radius } | Geometry::Ends { radius, .. } | Geometry::Capsule { radius, .. } => {
            *radius
        }
        _ => 0.0,
    }
}
