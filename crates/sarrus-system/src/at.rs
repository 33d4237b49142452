//! Describes what an element sees: the poses and velocities of its bodies at one instant, over any scalar.

use sarrus_math::{Pose, Real, Twist};

/// The instant at which an element is evaluated.
///
/// Bodies are addressed by their index in the element's own list, so the same residual runs on the system's
/// arrays (values) and on a few seeded copies (derivatives).
pub struct At<'a, R> {
    /// Time \[s\].
    pub t: R,
    /// Poses of all bodies in reach, at their centres of mass.
    pub poses: &'a [Pose<R>],
    /// Their velocities; empty where only positions are asked for.
    pub twists: &'a [Twist<R>],
    /// The element's bodies as places in `poses`.
    pub ids: &'a [u32],
    /// Last accepted values of multivalued quantities (rotations of joint angles, places on paths).
    pub discrete: &'a [f64],
    /// Outputs and states of the controllers; empty where none can be read.
    pub outs: &'a [R],
}

impl<'a, R: Real> At<'a, R> {
    /// Pose of the element's `i`-th body.
    #[inline(always)]
    pub fn pose(&self, i: usize) -> &'a Pose<R> {
        &self.poses[self.ids[i] as usize]
    }

    /// Velocity of the element's `i`-th body.
    #[inline(always)]
    pub fn twist(&self, i: usize) -> &'a Twist<R> {
        &self.twists[self.ids[i] as usize]
    }
}
