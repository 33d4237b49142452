//! Rigid limits of joints: when a rebound ends in rest, and what is reported of one.
//!
//! A limit is a gap like those of rigid contacts ([`super::rigid`]): impacts and what stays closed are found for all of them together.
//! Where the rebound would be slower than [`REST`] of the hardest impact on that limit, the coordinate stays: bounces that follow each
//! other ever faster end there. How long the run is has no part in it.

use super::EventLoop;
use crate::report::ImpulseReport;

/// A rebound slower than this part of the hardest impact is none.
const REST: f64 = 1e-3;

impl EventLoop {
    /// Returns whether a coordinate that arrives at limit number `limit` with `speed` stays there.
    pub(super) fn rests_at(&mut self, limit: usize, speed: f64) -> bool {
        let own = &self.system.all.events.limits[limit];
        let hardest = &mut self.hardest[limit];
        *hardest = hardest.max(speed);
        own.restitution * speed <= REST * *hardest
    }

    /// The impulse of limit number `limit`, along its coordinate on the second body.
    pub(super) fn impulse_at(&self, limit: usize, kappa: f64) -> ImpulseReport {
        let own = &self.system.all.events.limits[limit];
        let joint = &self.system.directory.joints[own.joint];
        let coordinate = &joint.face.coordinates()[own.coordinate];
        ImpulseReport {
            joint: joint.name.clone(),
            coordinate: coordinate.name,
            impulse: vec![-own.side * kappa],
            unit: if coordinate.is_angle() { "N m s" } else { "N s" },
        }
    }
}
