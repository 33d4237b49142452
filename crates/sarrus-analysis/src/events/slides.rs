//! Controllers that begin and cease to slide along a limit of their output.
//!
//! Beyond a limit the integral of a controller is held, below it grows. With w the rate of the demand while it is held and a what the
//! integral adds, both outwards, the limit attracts from both sides where w < 0 < w + a: the integral then follows it, and the output
//! is the limit (the sliding mode of Filippov). A step ends where the demand comes to a limit and where one of the two signs changes, and
//! has one mode throughout, so that all its stages see one right-hand side.

use super::MechanismStep;
use super::search::crossing;
use sarrus_solve::{Dynamics, SolveError, State, StepError};
use sarrus_system::Mechanism;
use sarrus_system::conditions::ConditionValue;
use sarrus_system::controllers::mode;

const SIDES: [f64; 2] = [1.0, -1.0];
/// A demand that is off its limit by less than this part of its terms is at it: some thousand roundings, and far below all
/// tolerances.
const AT_LIMIT: f64 = 1e-12;

/// Watches the limits of controllers.
#[derive(Clone)]
pub(crate) struct Slides {
    /// The controllers, by number.
    list: Vec<usize>,
    /// Marks whether the highest and the lowest output hold the integral, over the step.
    beyond: Vec<[bool; 2]>,
    /// Integrals of those that slide, as they stand in x.
    retained: Vec<f64>,
    /// Holds what the step meets first: which of the list, the side, and whether the demand is beyond it afterwards.
    found: Vec<(usize, usize, bool)>,
    due: Vec<(usize, usize, bool)>,
}

impl Slides {
    /// For a run; none where no controller may slide.
    pub fn new(mechanism: &Mechanism) -> Option<Slides> {
        let list = mechanism.limited();
        let n = list.len();
        let (beyond, retained) = (vec![[false; 2]; n], vec![0.0; n]);
        (n > 0).then_some(Slides { list, beyond, retained, found: Vec::new(), due: Vec::new() })
    }

    /// Returns when in the step something changes.
    pub fn cut(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<Option<f64>, StepError> {
        self.found.clear();
        let (start, end) = (step.info.t, step.end.t);
        let mut first = f64::INFINITY;
        for (n, &i) in self.list.iter().enumerate() {
            let slides = step.ode.problem().slide(i);
            for (k, side) in SIDES.into_iter().enumerate() {
                let was = self.beyond[n][k];
                let mut judge = |t: f64| -> Result<ConditionValue, StepError> {
                    let margin = match slides {
                        0.0 => changed(step, i, k, was, t)?,
                        _ => leaves(step, i, side, t)?,
                    };
                    Ok(ConditionValue { holds: margin > 0.0, margin })
                };
                if (slides != 0.0 && slides != side) || !judge(end)?.holds {
                    continue;
                }
                let verdict = |holds| ConditionValue { holds, margin: f64::NAN };
                let t = crossing((start, verdict(false)), (end, verdict(true)), judge)?;
                if t < first {
                    self.found.clear();
                    first = t;
                }
                if t == first {
                    self.found.push((n, k, !was && slides == 0.0));
                }
            }
        }
        Ok(Some(first).filter(|_| !self.found.is_empty()))
    }

    /// The step is cut for what was found.
    pub fn accept_cut(&mut self) {
        std::mem::swap(&mut self.due, &mut self.found);
    }

    /// Does what is due at `s`, where a segment starts. Returns whether anything has changed.
    pub fn correct(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &mut State) -> Result<bool, SolveError> {
        let due = std::mem::take(&mut self.due);
        let mut changed = !due.is_empty();
        for (n, &i) in self.list.iter().enumerate() {
            let mechanism = ode.problem_mut();
            // an event or a program has set it
            if mechanism.slide(i) != 0.0 && mechanism.integral(i, s) != self.retained[n] {
                mechanism.end_slide(i);
                changed = true;
            }
            self.beyond[n] = mechanism.beyond_limits(i, s).0.map(|margin| margin > 0.0);
        }
        for (n, k, beyond) in due {
            let (i, side) = (self.list[n], SIDES[k]);
            self.beyond[n][k] = beyond;
            if ode.problem().slide(i) != 0.0 {
                // the demand goes outwards by itself, or inwards although the integral grows: which of the two rates has
                // changed its sign is shown by the larger, as it is zero to rounding
                let [w, a] = rates(ode, i, side, s)?;
                ode.problem_mut().set_mode(i, mode::FREE, s);
                self.beyond[n] = [false; 2];
                self.beyond[n][k] = w > -(w + a);
                continue;
            }
            let [w, a] = rates(ode, i, side, s)?;
            if w < 0.0 && w + a > 0.0 {
                ode.problem_mut().set_mode(i, side * mode::SLIDES, s);
                self.retained[n] = ode.problem().integral(i, s);
            }
        }
        for (n, &i) in self.list.iter().enumerate() {
            if ode.problem().slide(i) != 0.0 {
                continue;
            }
            let held = SIDES.iter().zip(&self.beyond[n]).find(|(_, beyond)| **beyond);
            let mode = held.map_or(mode::FREE, |(side, _)| side * mode::HELD);
            ode.problem_mut().set_mode(i, mode, s);
        }
        Ok(changed)
    }
}

/// Positive where limit `k` has begun or ceased to hold the integral at `t` in the step.
fn changed(
    step: &mut MechanismStep<'_, '_>,
    i: usize,
    k: usize,
    was: bool,
    t: f64,
) -> Result<f64, StepError> {
    let (ode, s) = step.at(t)?;
    let (margins, size) = ode.problem_mut().beyond_limits(i, s);
    Ok(if was { -margins[k] } else { margins[k] } - AT_LIMIT * size)
}

/// Positive where a controller that slides along the limit of `side` ceases to at `t` in the step.
fn leaves(step: &mut MechanismStep<'_, '_>, i: usize, side: f64, t: f64) -> Result<f64, StepError> {
    let (ode, s) = step.at(t)?;
    let [w, a] = rates(ode, i, side, s).map_err(|source| StepError::Solve { t, source })?;
    Ok(w.max(-(w + a)))
}

/// The rate of the demand while the integral is held, and what the integral adds, outwards.
fn rates(ode: &mut Dynamics<'_, Mechanism>, i: usize, side: f64, s: &State) -> Result<[f64; 2], SolveError> {
    ode.evaluate(s)?;
    let (mechanism, _, accel) = ode.parts();
    Ok(mechanism.demand_rates(i, s, &accel.vdot).map(|rate| side * rate))
}
