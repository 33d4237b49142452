//! Stiffness: whether the steps of an explicit method are as long as accuracy allows, or only as long as stability does.
//!
//! The last stage and the end of a step are two states at one time. They differ mostly by the modes that the step amplifies, so that
//! |f(y) - f(z)| / |y - z| estimates the fastest of those, λ \[Hairer1996, section IV.2\]. Where h λ exceeds the stability interval step after
//! step, the step control is held there by errors of modes that the motion does not show. An implicit method then takes longer steps.
//!
//! Positions are weighted by the λ that is asked about: then the norm of an oscillation is its energy, whatever its phase.

use crate::problem::State;

/// Steps between two checks while nothing shows.
const EVERY: u64 = 20;
/// Consecutive checks that establish stiffness, and those without it that end it \[Hairer1996, section IV.2\].
const ESTABLISHED: u32 = 15;
const ENDED: u32 = 6;

/// Steps that stability has limited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StiffnessMonitor {
    /// Describes how many, estimated from the steps that were checked.
    pub limited: u64,
    /// Start of the first of them \[s\].
    pub first: Option<f64>,
    /// Steps at the last check.
    checked: u64,
    /// Checks with stiffness, and those without since.
    streak: u32,
    calm: u32,
    /// Steps, and start \[s\], of the streak.
    pending: u64,
    began: f64,
}

impl StiffnessMonitor {
    /// Returns whether the step after `steps` others is to be checked.
    pub(crate) fn is_due(&self, steps: u64) -> bool {
        let unsettled = self.streak > 0 && (self.streak < ESTABLISHED || self.calm > 0);
        unsettled || steps >= self.checked + EVERY
    }

    /// Notes the check of the step from `t` \[s\], the last of `steps`.
    pub(crate) fn note(&mut self, t: f64, steps: u64, is_limited: bool) {
        let since = steps.saturating_sub(self.checked);
        self.checked = steps;
        if !is_limited {
            self.calm += 1;
            if self.calm >= ENDED {
                (self.streak, self.pending) = (0, 0);
            }
            return;
        }
        if self.streak == 0 {
            (self.began, self.pending) = (t, 0);
        }
        self.calm = 0;
        self.streak += 1;
        self.pending += if self.streak == 1 { 1 } else { since };
        if self.streak >= ESTABLISHED {
            self.first.get_or_insert(self.began);
            self.limited += std::mem::take(&mut self.pending);
        }
    }
}

/// h λ for the rates `dy` and `dz` of two states `y` and `z` at one time, with positions weighted by `limit`/h.
pub(crate) fn step_times_mode(h: f64, limit: f64, [y, dy]: [&State; 2], [z, dz]: [&State; 2]) -> f64 {
    let weight = limit / h;
    let squares = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let size = |a: &State, b: &State| weight * weight * squares(&a.q, &b.q) + squares(&a.v, &b.v);
    let apart = size(y, z);
    if apart > 0.0 { h * (size(dy, dz) / apart).sqrt() } else { 0.0 }
}
