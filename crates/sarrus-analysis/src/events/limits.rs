//! Rigid stops: what happens where a coordinate hits one, and where it leaves it.
//!
//! With g the coordinate less its limit, an impact is M (v⁺ - v⁻) + Jᵀμ + gᵀκ = 0 with ġ⁺ = -e ġ⁻ (Newton's law) and J v⁺ + Φ_t = 0: the impulse
//! goes through the joints too. Where the rebound would be slower than [`REST`] of the hardest impact on that stop, or too slow
//! to leave it in the course of the run, the coordinate stays: bounces that follow each other ever faster end there. It is held by the row
//! g = 0 until that would have to pull. Energy that is lost is booked as dissipated.
//!
//! Stops that are hit at one instant act one after the other. A coordinate that rests at its stop is held there by an impact
//! elsewhere too, and leaves it afterwards.

use super::Journey;
use super::active::Changes;
use super::chatter::MOST;
use super::jump::{self, Landed};
use crate::recorder::{Recorder, Stop};
use crate::report::EventReport;
use sarrus_solve::{State, StepError};
use sarrus_system::Mechanism;
use sarrus_system::events::{Limit, When};
use sarrus_system::system::DISSIPATED;
use std::sync::Arc;

/// A rebound slower than this part of the hardest impact is none.
const REST: f64 = 1e-3;
/// The same as a part of the coordinate's range over the duration of the run.
const NEVER_LEAVES: f64 = 1e-6;

impl Journey {
    /// Event `i`: the stop `limit` is hit or left.
    pub(super) fn stop(
        &mut self,
        i: usize,
        limit: &Limit,
        mechanism: &mut Mechanism,
        state: &mut State,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), StepError> {
        let system = self.system.clone();
        let event = &system.whole.events.list[i];
        let found = state.q.clone();
        jump::settle(mechanism, state);
        let before = mechanism.energy(state);
        let joint = &system.directory.joints[limit.lock.joint];
        let mut changes = Changes::default();
        let mut impulses = Vec::new();
        let word;
        if matches!(event.when, When::Leaves(_)) {
            self.active.unlock(&limit.lock);
            self.change(mechanism, state)?;
            word = format!("leaves {}", limit.value);
        } else {
            let [a, b] = joint.bodies.map(|body| body as usize);
            let coordinate = joint.coordinate(limit.lock.coordinate.unwrap_or(0), a, b);
            let speed = mechanism.observe(state, |at| coordinate.speed(at));
            if limit.side * speed <= 0.0 {
                return Ok(());
            }
            self.hardest[i] = self.hardest[i].max(speed.abs());
            let span = self.route.span.1 - self.route.span.0;
            let slow = (REST * self.hardest[i]).max(NEVER_LEAVES * limit.range / span);
            let rests = limit.restitution * speed.abs() <= slow;
            let rate = if rests { 0.0 } else { -limit.restitution * speed };
            self.active.lock(&limit.lock, mechanism, state, &mut changes);
            let landed = self.impact(mechanism, state, &found, changes.locked.last().map(|l| l.id), rate)?;
            impulses = changes.impulses(mechanism.system(), &landed.impulses()?);
            if !rests {
                self.active.unlock(&limit.lock);
                self.change(mechanism, state)?;
            }
            let what = if rests { "rests at" } else { "rebounds from" };
            word = format!("{what} {}", limit.value);
        }
        let after = mechanism.energy(state);
        let lost = before.kinetic + before.potential - after.kinetic - after.potential;
        // rounding aside it is not negative
        state.x[DISSIPATED] += lost;
        let name = event.name.clone();
        let report = EventReport { t: state.t, name, actions: vec![word], impulses, energy_lost: lost };
        recorder.events.push(report);
        recorder.enter(mechanism, state);
        if self.firings.chatter(i, state.t) {
            recorder.stop.get_or_insert(Stop::Chatter(event.name.clone(), MOST));
        }
        Ok(())
    }

    /// Goes over to the system of what acts; nothing jumps.
    fn change(&mut self, mechanism: &mut Mechanism, state: &State) -> Result<(), StepError> {
        let unfit = |_| StepError::NotFinite { t: state.t };
        let system = Arc::new(self.active.system(&self.system).map_err(unfit)?);
        let mut next = system.mechanism();
        next.go_on_from(mechanism);
        self.note(mechanism);
        *mechanism = next;
        Ok(())
    }

    /// The same, with an impact: the row of the element `id` takes on the rate `rate`, all others hold.
    fn impact(
        &mut self,
        mechanism: &mut Mechanism,
        state: &mut State,
        found: &[f64],
        id: Option<usize>,
        rate: f64,
    ) -> Result<Landed, StepError> {
        self.change(mechanism, state)?;
        let row = mechanism.system().elements.iter().find(|e| Some(e.id) == id).map(|e| e.start);
        jump::jump(mechanism, state, found, row.map(|row| (row, rate)))
    }
}
