//! Describes what is remembered of an event, and how its condition is judged.

use sarrus_solve::{Dynamics, SolveError, State};
use sarrus_system::conditions::ConditionValue;
use sarrus_system::events::{Event, When};
use sarrus_system::{Conditions, Mechanism};

/// A condition is false again where its margin is below zero by this part of the largest that it had.
const FALSE_AGAIN: f64 = 1e-9;
/// Part of the largest margin up to which one is rounding.
const ROUNDING: f64 = 256.0 * f64::EPSILON;
/// A coordinate this near to a value, relative to one or to the value, has reached it \[m, rad\].
const REACHED: f64 = 1e-12;

/// Holds what is remembered of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct WatchedEvent {
    /// True if it fires when its condition holds.
    pub armed: bool,
    /// True if it never fires again.
    pub done: bool,
    /// Time when it has fired last \[s\].
    pub fired_at: f64,
    /// Largest margin so far, in size.
    scale: f64,
    /// Of a coordinate that is to reach a value: on which side of it the run started.
    side: f64,
    reaches: Option<f64>,
    /// True if its condition reads the time alone: breaks end segments there.
    pub timed: bool,
    needs_reactions: bool,
}

impl WatchedEvent {
    /// Of an event that has not fired yet, whose condition reads the time alone, or reactions.
    pub fn new(event: &Event, timed: bool, needs_reactions: bool) -> WatchedEvent {
        let reaches = match event.when {
            When::Reaches { value, .. } => Some(value),
            When::Holds(_) => None,
        };
        WatchedEvent {
            armed: true,
            done: false,
            fired_at: f64::NAN,
            scale: 0.0,
            side: 0.0,
            reaches,
            timed,
            needs_reactions,
        }
    }

    /// Takes note of a margin.
    pub fn note(&mut self, verdict: &ConditionValue) {
        if verdict.margin.is_finite() {
            self.scale = self.scale.max(verdict.margin.abs());
        }
    }

    /// The margin that is reported, over the condition's own; none where its side is not known.
    pub fn sign(&self) -> Option<f64> {
        match self.reaches {
            None => Some(1.0),
            Some(_) => Some(-self.side).filter(|sign| *sign != 0.0),
        }
    }

    /// The margin that counts as none.
    pub fn rounding(&self) -> f64 {
        ROUNDING * self.scale
    }

    /// Returns whether the condition does not hold, by more than rounding.
    pub fn is_false(&self, verdict: &ConditionValue) -> bool {
        !verdict.holds && !(verdict.margin >= -FALSE_AGAIN * self.scale)
    }
}

/// The conditions `which` at `s`.
pub(super) fn judge(
    conditions: &Conditions,
    watches: &mut [WatchedEvent],
    which: &[usize],
    ode: &mut Dynamics<'_, Mechanism>,
    s: &State,
    out: &mut [ConditionValue],
) -> Result<(), SolveError> {
    if which.iter().any(|&i| watches[i].needs_reactions) {
        ode.evaluate(s)?;
        let (mechanism, eq, accel) = ode.parts();
        conditions.judge(which, mechanism, s, Some((eq, accel)), out);
    } else {
        conditions.judge(which, ode.problem_mut(), s, None, out);
    }
    // a value is reached from the side on which the run started
    for &i in which {
        let (Some(value), verdict) = (watches[i].reaches, &mut out[i]) else { continue };
        if watches[i].side == 0.0 {
            let here = verdict.margin.abs() <= REACHED * value.abs().max(1.0);
            watches[i].side = if here { 0.0 } else { verdict.margin.signum() };
        }
        let beyond = -watches[i].side * verdict.margin;
        *verdict = ConditionValue { holds: beyond >= 0.0, margin: beyond };
    }
    Ok(())
}
