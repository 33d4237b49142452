//! Contacts that are held and share their forces in more than one way: a box in a gripper, a table on four segments.
//!
//! The multipliers of a run are those of least norm. One of them that pulls, or asks more friction than there is, says nothing as long
//! as others of the same motion do not. So one number is watched for all contacts together
//! ([`Contacts::margin`](sarrus_solve::complementarity::Contacts::margin)): positive while forces exist that push everywhere within
//! Coulomb's cones, negative where there are none, or where the rows contradict each other, as where a driver lifts what is held down.
//!
//! Cost: while the multipliers of least norm are inside all cones, that of the accelerations; else a dense decomposition of the rows of all
//! contacts that are held, and a small program.

use super::SLOW;
use super::instant::ContactInstant;
use super::staying::Staying;
use super::watch::{GapWatch, Now, WatchedGap};
use sarrus_solve::{Accel, Equations, Problem, SolveError, State};
use sarrus_system::{Mechanism, System};
use std::sync::Arc;

/// Residual of J v̇ = γ, relative, up to which rows do not contradict each other.
const AGREE: f64 = 1e-9;

/// Forces of what is held.
#[derive(Clone)]
pub(super) struct Shares {
    /// The system without the rows that hold contacts.
    pub free: Arc<System>,
    /// The forces that would be watched one by one.
    pub watched: Vec<WatchedGap>,
}

impl Shares {
    /// The margin at `s` with the accelerations `solved`, where there are any, and the largest normal force.
    pub fn margin(
        &self,
        mechanism: &Mechanism,
        s: &State,
        solved: Option<(&Equations, &Accel)>,
        gaps: &GapWatch,
    ) -> Result<(f64, f64), SolveError> {
        let (mut largest, mut alone) = (0.0, 0.0);
        let agree =
            |(eq, accel): &(&Equations, &Accel)| contradiction(mechanism, eq, accel, gaps.pull) <= AGREE;
        if let Some((_, accel)) = solved.filter(agree) {
            let forces = self.watched.iter().map(|watched| watched.force(accel, &mut largest));
            let least = forces.fold(f64::INFINITY, f64::min);
            if least > 0.0 {
                return Ok((least, largest));
            }
            alone = least;
        }
        let mut free = self.free.mechanism();
        free.copy_discrete_state(mechanism);
        let held = (0..gaps.list.len()).filter(|&i| gaps.now[i] != Now::Open).collect();
        let at = ContactInstant::new(&mut free, s, &gaps.list, held)?;
        let all: Vec<usize> = (0..at.which.len()).collect();
        let slides = |k: usize| gaps.now[at.which[k]] == Now::Slides;
        let staying = Staying::new(&at, &gaps.list, &all, gaps.still(), |k, _| slides(k));
        // where a slip has just begun it has no direction yet
        let slow = 10.0 * SLOW * gaps.fastest;
        let u = at.rates();
        let begins = |k: &usize| {
            let own = &u[at.first[*k] + 1..][..at.rows[*k].rates.len() - 1];
            slides(*k) && own.iter().map(|u| u * u).sum::<f64>().sqrt() <= slow
        };
        if all.iter().any(begins) {
            return Ok((0.0, largest));
        }
        if !staying.is_parallel {
            return Ok((alone, largest));
        }
        let (margin, size) = staying.contacts().margin();
        Ok((if margin.is_nan() { 0.0 } else { margin }, largest.max(size)))
    }
}

/// Returns what is left of J v̇ = γ, relative to the largest acceleration, or to `pull`, that without contacts.
fn contradiction(mechanism: &Mechanism, eq: &Equations, accel: &Accel, pull: f64) -> f64 {
    let largest = |list: &[f64]| list.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut left: Vec<f64> = eq.gamma.iter().map(|x| -x).collect();
    eq.add_J_mul(mechanism.structure(), &accel.vdot, &mut left);
    let scale = largest(&accel.vdot).max(largest(&eq.gamma)).max(pull);
    largest(&left) / scale.max(f64::MIN_POSITIVE)
}
