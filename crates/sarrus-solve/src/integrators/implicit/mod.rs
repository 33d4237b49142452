//! Implicit methods on the equations of motion with their constraints: the loop that they share.
//!
//! Solves M v̇ + Jᵀλ = f together with the constraints at the end of each step: no formulation and no stabilization take part. Each
//! [`Scheme`] is one file; [`Stepper`] makes an integrator of it, with fixed steps or such that follow the tolerances.

pub(super) mod bdf;
pub(super) mod linear_euler;
pub(super) mod newmark;
pub(super) mod options;
pub(super) mod radau5;

pub use bdf::Bdf;
pub use linear_euler::LinearEuler;
pub use newmark::{Newmark, NewmarkCoefficients};
pub use radau5::Radau5;

use super::between::StepInterpolant;
use crate::control::{StepControl, StepLimits};
use crate::error::{SolveError, StepError};
use crate::problem::{State, Structure};
use crate::rotations::MOST_ROTATION;
use crate::views::{ImplicitOde, ImplicitStep, StepInfo};

/// A first step that is not given: this fraction of what is left.
const FIRST: f64 = 1e-3;

/// Holds what a scheme knows of the accelerations at an end of a step.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// v̇ (nv).
    pub vdot: &'a [f64],
    /// ẋ (nx).
    pub xdot: &'a [f64],
}

/// Describes how one step is made.
pub trait Scheme: Send {
    /// Order of convergence.
    fn order(&self) -> u32;

    /// Returns whether steps follow the tolerances.
    fn is_adaptive(&self) -> bool;

    /// The power of h that the estimate of the error goes with.
    fn error_power(&self) -> u32;

    /// As [`Step::rotation_limit`](crate::views::Step::rotation_limit).
    fn rotation_limit(&self) -> f64 {
        MOST_ROTATION
    }

    /// Begins at `s`, of a problem that may be new; `h` is the size of the first step \[s\], if it is known.
    fn begin(&mut self, view: &mut dyn ImplicitOde, s: &State, h: Option<f64>) -> Result<(), SolveError>;

    /// Tries a step from `start` to the time of `end`, whose other numbers it fills in.
    fn advance(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        end: &mut State,
        control: &StepControl,
    ) -> Result<(), StepError>;

    /// The error of the step just tried, in units of the tolerance.
    fn error(&mut self, view: &mut dyn ImplicitOde, start: &State, end: &State, control: &StepControl)
    -> f64;

    /// The next step begins where the last one ended.
    fn advance_start(&mut self);

    /// The step just tried is taken.
    fn accept(&mut self, view: &mut dyn ImplicitOde, start: &State, end: &State);

    /// The size \[s\] of the next step, where the scheme chooses it itself.
    fn next_size(&mut self) -> Option<f64> {
        None
    }

    /// A step of size `h` was given up for its error. The size of the next trial, where the scheme chooses it itself.
    fn after_rejection(&mut self, _h: f64, _error: f64) -> Option<f64> {
        None
    }

    /// Returns what is known at both ends of the step taken.
    fn ends(&self) -> [End<'_>; 2];

    /// λ (nc) at the end of the step taken.
    fn multipliers(&self) -> &[f64];

    /// Evaluations since the last call; tells `view` of all work.
    fn report_counts(&mut self, view: &mut dyn ImplicitOde) -> u64;
}

/// An integrator made of a scheme.
pub struct Stepper<S: Scheme> {
    scheme: S,
    limits: StepLimits,
    start: State,
    end: State,
    between: StepInterpolant,
    /// True if `start` and `end` belong to a step that was taken.
    accepted: bool,
}

impl<S: Scheme> Stepper<S> {
    /// An integrator of `scheme`.
    pub fn new(scheme: S, limits: StepLimits) -> Stepper<S> {
        Stepper {
            scheme,
            limits,
            start: State::default(),
            end: State::default(),
            between: StepInterpolant::default(),
            accepted: false,
        }
    }

    fn start_from(
        &mut self,
        view: &mut dyn ImplicitOde,
        s: &State,
        control: &StepControl,
    ) -> Result<(), StepError> {
        let known = self.accepted && self.end == *s;
        self.accepted = false;
        self.start.copy_from(s);
        if known {
            self.scheme.advance_start();
            return Ok(());
        }
        let left = control.t_end - s.t;
        let first = control.proposal().map(|h| h.min(left));
        let first = if self.scheme.is_adaptive() { first } else { Some(first.unwrap_or(left / 1000.0)) };
        self.scheme.begin(view, s, first).map_err(|source| StepError::Solve { t: s.t, source })
    }

    fn try_step(
        &mut self,
        view: &mut dyn ImplicitOde,
        control: &StepControl,
        t1: f64,
    ) -> Result<(), StepError> {
        self.end.t = t1;
        self.scheme.advance(view, &self.start, &mut self.end, control)?;
        if self.end.is_finite() { Ok(()) } else { Err(StepError::NotFinite { t: self.start.t }) }
    }

    fn finish(&mut self, view: &mut dyn ImplicitOde, control: &mut StepControl) {
        view.normalize(&mut self.end.q);
        self.scheme.accept(view, &self.start, &self.end);
        view.accept(&self.end);
        control.counts.rhs += self.scheme.report_counts(view);
        self.accepted = true;
        self.between.forget();
    }

    fn fixed(&mut self, view: &mut dyn ImplicitOde, control: &mut StepControl) -> Result<(), StepError> {
        let t = self.start.t;
        let t1 = control.fixed_end(t);
        if !(t1 > t) {
            return Err(StepError::StepTooSmall { t, h_min: control.min_step(t, &self.limits) });
        }
        self.try_step(view, control, t1)?;
        self.finish(view, control);
        control.accept_fixed();
        Ok(())
    }

    /// Steps of decreasing size until one is accepted; returns its error and the number given up.
    fn adaptive(
        &mut self,
        view: &mut dyn ImplicitOde,
        control: &mut StepControl,
    ) -> Result<(f64, u32), StepError> {
        let t = self.start.t;
        let h_min = control.min_step(t, &self.limits);
        let power = self.scheme.error_power();
        let first = || {
            let left = control.t_end - t;
            (FIRST * left).min(control.rtol.max(f64::EPSILON).powf(1.0 / f64::from(power)))
        };
        let mut wanted = control.proposal().unwrap_or_else(first).max(h_min);
        let mut rejected = 0;
        loop {
            let t1 = control.adaptive_end(t, wanted);
            let h = t1 - t;
            let tried = self
                .try_step(view, control, t1)
                .map(|()| self.scheme.error(view, &self.start, &self.end, control));
            let (shorter, reason) = match tried {
                Ok(error) if error <= 1.0 => {
                    self.finish(view, control);
                    match self.scheme.next_size() {
                        // a step that the end of the run has shortened says little against a longer one
                        Some(next) if h < wanted => control.accept_with(next.max(wanted)),
                        Some(next) => control.accept_with(next),
                        None => control.accept(h, wanted, error, power, rejected > 0, &self.limits),
                    }
                    return Ok((error, rejected));
                }
                Ok(error) => {
                    let own = self.scheme.after_rejection(h, error);
                    let shorter = own.unwrap_or_else(|| self.limits.after_rejection(h, error, power));
                    (shorter, StepError::StepTooSmall { t, h_min })
                }
                Err(reason) => (0.25 * h, reason),
            };
            rejected += 1;
            control.counts.rejected += 1;
            if wanted <= h_min || h <= h_min {
                return Err(reason);
            }
            wanted = shorter.max(h_min);
        }
    }
}

impl<S: Scheme> ImplicitStep for Stepper<S> {
    fn order(&self) -> u32 {
        self.scheme.order()
    }

    fn dense_order(&self) -> u32 {
        3
    }

    fn is_adaptive(&self) -> bool {
        self.scheme.is_adaptive()
    }

    fn rotation_limit(&self) -> f64 {
        self.scheme.rotation_limit()
    }

    fn prepare(&mut self, structure: &Structure) {
        (self.start, self.end) = (State::zeros(structure), State::zeros(structure));
        self.between.prepare(structure);
        self.accepted = false;
    }

    fn step(
        &mut self,
        view: &mut dyn ImplicitOde,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        self.start_from(view, s, control)?;
        let (error, rejected) = if self.is_adaptive() {
            self.adaptive(view, control)?
        } else {
            self.fixed(view, control)?;
            (0.0, 0)
        };
        s.copy_from(&self.end);
        let t = self.start.t;
        Ok(StepInfo { t, h: self.end.t - t, error, rejected })
    }

    fn dense(&mut self, view: &mut dyn ImplicitOde, t: f64, out: &mut State) -> Result<(), StepError> {
        let [a, b] = self.scheme.ends();
        let rates = [(a.vdot, a.xdot), (b.vdot, b.xdot)];
        self.between.write(view, [&self.start, &self.end], rates, t, out);
        Ok(())
    }

    fn multipliers(&self) -> &[f64] {
        self.scheme.multipliers()
    }
}
