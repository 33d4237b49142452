//! Rigid contacts and rigid limits of joints: gaps that are watched, impacts, and what stays closed.
//!
//! A run with contacts whose `method` is `impulsive`, or with rigid limits, which are gaps without friction, goes from one instant at which something happens to a gap to the next
//! ([`watch`]): an open one closes, one that is held would have to pull, one that sticks breaks loose, one that slides comes to a stop.
//! There
//!
//! 1. what approaches at points that are closed is an impact of all of them together ([`impact`]): velocities jump;
//! 2. of those that then neither approach nor part, accelerations show which stay closed, which of them stick and which slide:
//!    0 ≤ N ⊥ g̈ ≥ 0 with Coulomb's law, a complementarity problem again;
//! 3. these are held by rows, g = 0 and where they stick slip = 0, and the run continues with the system of what acts. Where their forces are
//!    not unique they are watched together ([`shares`]).
//!
//! The same is done behind every break in time, where a force or a driver switches, and where a contact slides over the end of its surface.
//!
//! Rebounds lower than [`LOW`] of the size of the mechanism, where it is pressed on, are none: the sequence of a bouncing ball ends in
//! rest, and so does that of a block that rocks or tumbles, of several points at once. How often a
//! contact meets is no reason to stop it: a ball without loss bounces for ever.
//!
//! Cost: all gaps of an entry are checked eight times a step; a step with points that are held also solves for what they bear.

mod impact;
mod instant;
mod shares;
mod staying;
mod touch;
mod watch;

pub(crate) use watch::{ContactTally, GapWatch, LimitExcess};

use sarrus_solve::State;

/// Height of a rebound, over the size of the mechanism, that is none.
const LOW: f64 = 1e-12;
/// A gap smaller than this, over the size of the mechanism, is closed.
const CLOSED: f64 = 1e-10;
/// The same at an instant at which something happens.
const NEAR: f64 = 3.0 * CLOSED;
/// Rounding of slips, over the fastest velocity.
const ROUNDING: f64 = 1e-12;
/// A speed smaller than this part of the fastest so far is none.
const SLOW: f64 = 1e-10;

/// The size of a mechanism, or 1 \[m\].
fn size(s: &State) -> f64 {
    s.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()))
}
