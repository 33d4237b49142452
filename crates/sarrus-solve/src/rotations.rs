//! Rotation of bodies within a step: its bound, and what a run has come to.
//!
//! A rotation is known from its ends up to whole revolutions. Joint angles are counted from step to step as the nearest to the last,
//! charts about the start of a step are singular at 2π, and cubic interpolation on the group needs the rotation vector between both
//! ends. All of that holds while a step rotates nothing by π. Adaptive steps are therefore bounded:
//!
//! - before the step, its size is such that it reaches [`AIM`] of the limit, at the angular speeds of its start and their growth in the
//!   step before. Sizes are of a geometric grid, so
//!   that they stay, with the matrices that belong to them, while the speed changes slowly;
//! - after the trial, a step that has rotated a body by more than the limit is rejected (`control`).
//!
//! Fixed steps stay as they are asked for; their largest rotation is kept, and a run that exceeds the limit is not certified.
//!
//! In space, angles of joints count the rotation of one body against another, up to twice that of a body: where that may matter,
//! the problem is asked ([`Ode::relative_rotation`](crate::Ode::relative_rotation)).

use crate::problem::{GroupKind, NormGroup};

/// The most that a body, or one body of a joint against the other, rotates within a step \[rad\]: less than π, from which on
/// revolutions are ambiguous.
pub const MOST_ROTATION: f64 = 3.0;
/// The largest lag behind a uniform rotation, relative to its angle, with which fixed steps count as resolving it. The error of a
/// step is of the same kind at every step of a steady rotation, and so adds up.
pub(crate) const LAG: f64 = 1e-3;
/// The fraction of the limit that steps aim at.
const AIM: f64 = 5.0 / 6.0;
/// Sizes of bounded steps per factor of two.
const GRID: f64 = 4.0;

/// Rotations within the steps of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotations {
    /// The limit in space that the method at hand asks for \[rad\].
    pub limit: f64,
    /// The step that came nearest to its limit, or exceeded it most.
    pub worst: Option<Rotated>,
    /// Number of steps that were shortened for their rotation.
    pub bounded: u64,
    /// Time when the first of them began \[s\].
    pub first_bounded: f64,
    /// Rate at which the largest angular speed grew in the last step \[rad/s²\].
    pub(crate) growth: f64,
    /// The largest angular speed of a body at the start of the step at hand, over its limit \[1/s\].
    pub(crate) start: f64,
}

/// The rotation within one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotated {
    /// Start of the step \[s\].
    pub t: f64,
    /// Its size \[s\].
    pub h: f64,
    /// Extent to which it rotates something, by the larger of the angular speeds at its ends \[rad\].
    pub angle: f64,
    /// The most that it may be \[rad\].
    pub limit: f64,
    /// First index in v of the body that rotates so; none where it is a joint's.
    pub index: Option<usize>,
}

impl Default for Rotations {
    fn default() -> Self {
        Rotations {
            limit: MOST_ROTATION,
            worst: None,
            bounded: 0,
            first_bounded: 0.0,
            growth: 0.0,
            start: 0.0,
        }
    }
}

/// The rotation of a step \[rad\] whose lag, `lag` times its square, is [`LAG`].
pub(crate) fn resolved(lag: f64) -> f64 {
    (LAG / lag).sqrt()
}

/// Angular speeds at one end of a step, over the limits of a step's rotation \[1/s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed {
    pub fraction: f64,
    limit: f64,
    index: Option<usize>,
    joints: Option<f64>,
}

impl Speed {
    /// Of the bodies with the velocities `v`.
    pub fn of_bodies(angular: &AngularVelocities, limit: f64, v: &[f64]) -> Speed {
        let (fraction, limit, index) = angular.fastest(limit, v);
        Speed { fraction, limit, index, joints: None }
    }

    /// With the angular speed `relative` between bodies of joints \[rad/s\]. It is asked for only where it may count in a step of
    /// size `h` \[s\] while speeds grow by `growth` \[rad/s²\], as it is at most twice that of a body.
    pub fn with_joints(
        mut self,
        h: Option<f64>,
        growth: f64,
        relative: impl FnOnce() -> Option<f64>,
    ) -> Speed {
        let may_count = |h: f64| 2.0 * h * (self.fraction * self.limit + growth * h) > AIM * MOST_ROTATION;
        if h.is_some_and(may_count) {
            self.joints = relative().map(|speed| speed / MOST_ROTATION);
        }
        self
    }

    /// The longest step \[s\] at speeds that grow by `growth` \[rad/s²\], where one of size `h` would be too long.
    pub fn bound(self, h: f64, growth: f64) -> Option<f64> {
        // h (f + g h) = AIM
        let longest = |f: f64, g: f64| 2.0 * AIM / (f + (f * f + 4.0 * g * AIM).sqrt());
        let mut most = longest(self.fraction, growth / self.limit);
        if let Some(joints) = self.joints {
            most = most.min(longest(joints, 2.0 * growth / MOST_ROTATION));
        }
        (h > most).then(|| ((GRID * most.log2()).floor() / GRID).exp2())
    }

    /// The rotation in a step from `t` of size `h` \[s\] at this speed.
    fn rotated(self, t: f64, h: f64) -> Rotated {
        match self.joints {
            Some(joints) if joints > self.fraction => {
                Rotated { t, h, angle: h * joints * MOST_ROTATION, limit: MOST_ROTATION, index: None }
            }
            _ => {
                Rotated { t, h, angle: h * self.fraction * self.limit, limit: self.limit, index: self.index }
            }
        }
    }
}

impl Rotated {
    /// The angle over its limit.
    pub fn fraction(&self) -> f64 {
        self.angle / self.limit
    }
}

impl Rotations {
    /// Takes note of a step from `t` of size `h` \[s\] with the speeds at its ends.
    pub(crate) fn add(&mut self, t: f64, h: f64, [a, b]: [Speed; 2], is_bounded: bool) {
        let [from, to] = [a.rotated(t, h), b.rotated(t, h)];
        let here = if to.fraction() > from.fraction() { to } else { from };
        if here.angle > 0.0 && self.worst.is_none_or(|worst| here.fraction() > worst.fraction()) {
            self.worst = Some(here);
        }
        let growth = (b.fraction * b.limit - a.fraction * a.limit) / h;
        self.growth = if growth > 0.0 { growth } else { 0.0 };
        if is_bounded {
            if self.bounded == 0 {
                self.first_bounded = t;
            }
            self.bounded += 1;
        }
    }
}

/// The angular velocities of a [`Structure`](crate::Structure): first indices in v.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AngularVelocities {
    /// In the plane, one component each.
    planar: Vec<usize>,
    /// In space, three components each.
    spatial: Vec<usize>,
}

impl AngularVelocities {
    /// Those among `groups`.
    pub fn new(groups: &[NormGroup]) -> AngularVelocities {
        let angular = |len: usize| {
            let groups = groups.iter().filter(move |g| g.kind == GroupKind::AngularVelocity && g.len == len);
            groups.map(|g| g.start).collect()
        };
        AngularVelocities { planar: angular(1), spatial: angular(3) }
    }

    /// The largest in `v` over the limit of a step's rotation \[1/s\], with that limit and its first index. `limit` holds in space, where
    /// rotations do not add up.
    pub fn fastest(&self, limit: f64, v: &[f64]) -> (f64, f64, Option<usize>) {
        let (mut most, mut which) = (0.0_f64, None);
        for &i in &self.planar {
            let speed = v[i].abs();
            if speed > most {
                (most, which) = (speed, Some(i));
            }
        }
        let planar = most / MOST_ROTATION;
        let (mut square, mut in_space) = ((planar * limit).powi(2), None);
        for &i in &self.spatial {
            let [x, y, z] = [v[i], v[i + 1], v[i + 2]];
            let speed = x * x + y * y + z * z;
            if speed > square {
                (square, in_space) = (speed, Some(i));
            }
        }
        match in_space {
            Some(i) => (square.sqrt() / limit, limit, Some(i)),
            None => (planar, MOST_ROTATION, which),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn angular<const N: usize>(groups: [(usize, usize); N]) -> AngularVelocities {
        AngularVelocities::new(&groups.map(|(start, len)| NormGroup {
            kind: GroupKind::AngularVelocity,
            start,
            len,
        }))
    }

    #[test]
    fn the_body_nearest_to_its_limit_is_found() {
        let both = angular([(0, 1), (1, 3)]);
        let (fraction, limit, which) = both.fastest(0.5, &[2.0, 0.3, 0.0, 0.4]);
        assert_eq!((which, limit), (Some(1), 0.5));
        assert!((fraction - 1.0).abs() < 1e-15);
        let (fraction, limit, which) = both.fastest(0.5, &[-6.0, 0.3, 0.0, 0.4]);
        assert_eq!((which, limit), (Some(0), MOST_ROTATION));
        assert!((fraction - 2.0).abs() < 1e-15);
    }

    #[test]
    fn bounded_sizes_stay_while_the_speed_changes_slowly() {
        let bound = |w: f64| Speed::of_bodies(&angular([(0, 1)]), 3.0, &[w]).bound(10.0, 0.0);
        let sizes: Vec<f64> = (0..100).filter_map(|i| bound(100.0 + 0.2 * f64::from(i))).collect();
        assert_eq!(sizes.len(), 100);
        let changes = sizes.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 2, "{changes}");
        assert!(sizes.iter().zip(0..).all(|(h, i)| h * (100.0 + 0.2 * f64::from(i)) <= 2.5));
        assert_eq!(bound(0.1), None);
    }

    #[test]
    fn a_step_is_bounded_at_the_speed_that_it_will_end_with() {
        let (w, growth) = (1.0, 50.0);
        let h = Speed::of_bodies(&angular([(0, 1)]), 3.0, &[w]).bound(10.0, growth).unwrap_or(10.0);
        let angle = h * (w + growth * h);
        assert!(angle <= 2.5 && angle > 1.5, "{angle}");
        let at_rest = Speed::of_bodies(&angular([(0, 1)]), 3.0, &[0.0]);
        assert_eq!(at_rest.bound(10.0, 0.0), None);
        assert!(at_rest.bound(10.0, growth).is_some_and(|h| h * h * growth <= 2.5));
    }

    #[test]
    fn bodies_of_a_joint_are_asked_for_where_they_may_count() {
        let body = Speed::of_bodies(&angular([(0, 3)]), 3.0, &[1.0, 0.0, 0.0]);
        let speed = |h| body.with_joints(Some(h), 0.0, || Some(2.0));
        assert_eq!(speed(1.0).joints, None);
        assert_eq!(speed(2.0).joints, Some(2.0 / 3.0));
        assert_eq!(speed(2.0).rotated(0.0, 2.0).angle, 4.0);
        assert!(speed(2.0).bound(2.0, 0.0).is_some_and(|h| h <= 1.25));
        assert_eq!(speed(1.0).bound(2.0, 0.0), None);
    }
}
