//! The stability limit ω h ≤ 2 of central differences, watched.
//!
//! **Along a run**, from what it computes anyway: over a step with displacement δ = h w, accelerations change by about -Ω² δ, so
//! the quotient ω² = -δᵀM Δv̇ / δᵀM δ lies between the squares of the lowest and the highest frequency that the motion holds.
//! A step beyond the limit lets the highest grow until it is all that the motion holds, and the quotient is then its square.
//! One large value may be a force that jumps; several in a row, with changes of velocity that grow, are not.
//!
//! **Before it**, by power iteration on the accelerations' change with positions, at the start: see
//! `Modules::highest`.

use super::BlockDiagonal;
use crate::problem::Structure;

/// Steps beyond the limit in a row before a run is stopped, and the growth of the changes of velocity over them.
const STEPS: u32 = 8;
const GROWTH: f64 = 4.0;
/// (ω h)² at the limit.
const LIMIT: f64 = 4.0;

/// Holds what a step showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StepVerdict {
    /// Nothing to worry about.
    Fine,
    /// The step is too large for this frequency \[rad/s\].
    TooLarge(f64),
    /// The motion is so large that there is no telling.
    NotFinite,
}

/// Holds what is remembered between steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepWatch {
    /// Steps beyond the limit so far.
    beyond: u32,
    /// Size of the change of velocity at the first of them, squared in the metric of M.
    first: f64,
    /// The frequency of the last step \[rad/s\].
    pub omega: f64,
    /// The highest so far.
    pub highest: f64,
    /// The largest ω h / 2 so far: 1 at the limit.
    pub ratio: f64,
    /// M w, and wᵀM w.
    momentum: Vec<f64>,
    size: f64,
    change: Vec<f64>,
}

impl StepWatch {
    /// Forgets the steps so far.
    pub fn restart(&mut self, s: &Structure) {
        self.beyond = 0;
        self.momentum.resize(s.nv, 0.0);
        self.change.resize(s.nv, 0.0);
    }

    /// Takes note of a frequency that was found otherwise \[rad/s\].
    pub fn expect(&mut self, omega: f64) {
        self.highest = self.highest.max(omega);
    }

    /// Takes M w of the velocities that carry a step; returns wᵀM w.
    pub fn weigh(&mut self, mass: &BlockDiagonal, w: &[f64]) -> f64 {
        self.size = mass.dot(w, w, &mut self.momentum);
        self.size
    }

    /// Checks a step of size `h` carried by the w of the last [`weigh`](Watch::weigh), with accelerations `a0` and `a1` at its
    /// ends and velocities `v0`, `v1`.
    pub fn check(
        &mut self,
        mass: &BlockDiagonal,
        h: f64,
        [a0, a1]: [&[f64]; 2],
        [v0, v1]: [&[f64]; 2],
    ) -> StepVerdict {
        let mut change = 0.0;
        for ((p, a0), a1) in self.momentum.iter().zip(a0).zip(a1) {
            change -= p * (a1 - a0);
        }
        let size = h * self.size;
        let squared = if size == 0.0 { 0.0 } else { change / size };
        if !squared.is_finite() {
            return StepVerdict::NotFinite;
        }
        self.omega = squared.max(0.0).sqrt();
        self.highest = self.highest.max(self.omega);
        self.ratio = self.ratio.max(0.5 * self.omega * h);
        if squared * h * h <= LIMIT {
            self.beyond = 0;
            return StepVerdict::Fine;
        }
        self.change.iter_mut().zip(v1).zip(v0).for_each(|((d, b), a)| *d = b - a);
        let growth = mass.dot(&self.change, &self.change, &mut self.momentum);
        self.beyond += 1;
        if self.beyond == 1 {
            self.first = growth;
        }
        if self.beyond >= STEPS && !(growth <= GROWTH * self.first) {
            return StepVerdict::TooLarge(self.omega);
        }
        StepVerdict::Fine
    }
}
