//! Describes what the forms have in common.

use super::modules::Modules;
use crate::error::StepError;
use crate::problem::{Accel, Equations, State, Structure};
use crate::views::Staggered;

/// Corrections of λ where it follows from the equations of motion alone.
pub(super) const START: u32 = 4;

/// A form of the procedure with its memory.
pub(super) trait Chain: Send {
    /// Makes room, with the masses of `eq`.
    fn prepare(&mut self, s: &Structure, eq: &Equations);

    /// Begins at `s`.
    fn begin(&mut self, m: &mut Modules, view: &mut dyn Staggered, s: &State) -> Result<(), StepError>;

    /// Begins where the last step ended.
    fn advance_start(&mut self);

    /// Begins again where this step began, after one that was given up.
    fn again(&mut self, _m: &mut Modules, _view: &dyn Staggered, _s: &State) -> Result<(), StepError> {
        Ok(())
    }

    /// A step of size `h` from `start`; the time of `end` is given. Shows the velocities that carry it to the watch. Where it is the
    /// `last` of a segment, or less than half of it is left, nothing is evaluated after its end: what holds there is not known.
    fn advance(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
        last: bool,
    ) -> Result<(), StepError>;

    /// The equations at the start, before the first step.
    fn equations(&self) -> &Equations;

    /// v̇ and λ, and ẋ, at both ends of the step.
    fn ends(&self) -> (&[Accel; 2], &[Vec<f64>; 2]);

    /// The equations where the step ended, and v̇, λ and ẋ there, where they may be found more accurately.
    fn end(&mut self) -> Option<(&Equations, &mut Accel, &mut Vec<f64>)> {
        None
    }
}

/// Returns whether steps are equal, up to the rounding of the times; not where one is not a number.
pub(super) fn equal(h: f64, before: f64) -> bool {
    (h - before).abs() <= 1e-9 * h
}

/// out = base + h rate.
pub(super) fn predict(out: &mut [f64], base: &[f64], h: f64, rate: &[f64]) {
    out.iter_mut().zip(base).zip(rate).for_each(|((o, b), r)| *o = b + h * r);
}

/// x at the end of a step from that at its start and the rates at both, by the trapezoidal rule.
pub(super) fn trapezoid(x: &mut [f64], start: &[f64], h: f64, rates: [&[f64]; 2]) {
    for (i, x) in x.iter_mut().enumerate() {
        *x = start[i] + 0.5 * h * (rates[0][i] + rates[1][i]);
    }
}
