//! Singular positions behind integrators that resolve the constraints themselves.
//!
//! Such a method, implicit or staggered, asks for no accelerations on its way, and where its step ends beside a singular position its own
//! equations lose rank with J. It is watched from outside. At the end of each of its steps the smallest pivot of J M⁻¹Jᵀ is looked
//! at, one factorization, and while it is large only every few hundredths of a radian; where it has fallen, the time to the loss of rank ([`passage`](crate::passage)). A step that ends within
//! a zone of some hundredths of a radian around a singular position, or that went over one, is given up: from where it began, explicit steps with
//! an error estimate of their own lead to the other side of the zone, through the windows of [`near`](super::near), so that records,
//! branches, near misses and ends of range are those of the explicit methods. There the method begins anew: of those that remember, bdf
//! with order 1. Steps of fixed size continue at the times that they would have had.
//!
//! What is stiff makes explicit steps short: where they would be more than [`MOST`] the method is left to itself until the zone is behind
//! it. It then passes as far as its own equations do.

use super::Dynamics;
use crate::control::{StepControl, StepLimits};
use crate::error::{SolveError, StepError};
use crate::integrators::ExplicitRk;
use crate::integrators::tableaux::DOP853;
use crate::kkt::{ActiveRows, RankDemand};
use crate::problem::{Problem, Stage, State};
use crate::views::{Step, StepInfo};

/// Half a zone is at least the time in which the mechanism rotates by this angle \[rad\]: windows, and as much again, as rounding outside
/// is magnified by the square of the inverse angle ...
const ZONE: f64 = 0.05;
/// ... and at least this many steps of the method, whose errors are magnified likewise, ...
const STEPS: f64 = 2.0;
/// ... but not more than this angle for their sake \[rad\].
const MOST_ZONE: f64 = 0.2;
/// A singular position is searched for where the root of the smallest pivot, as a fraction of what is usual, is below so many times the
/// angle of half a zone and a step ...
const CHECK_STEP: f64 = 4.0;
/// ... but never above this.
const MAX_CHECK_STEP: f64 = 0.7;
/// Turn in which what is usual falls to half \[rad\]: with short steps a singular position is approached slowly.
const MEMORY: f64 = 6.0;
/// The next look is due when the mechanism has rotated by this angle \[rad\], times the root of the smallest pivot as a fraction of what
/// is usual, ...
const PAUSE: f64 = 0.05;
/// ... after no more than this part of the time in which that would fall to where singular positions are searched for ...
const WAY: f64 = 0.25;
/// ... and after no more than so many steps, in which the mechanism may become faster.
const PAUSE_STEPS: f64 = 10.0;
/// Describes how far before a step a loss of rank may seem to be, as a part of it, that was in it.
const BEFORE: f64 = 0.2;
/// Explicit steps in a zone, at most ...
const MOST: f64 = 2e4;
/// ... as told after this many.
const TRIED: u32 = 50;

/// Explicit fallback that steps through zones for other methods.
pub(super) struct ExplicitFallback {
    method: ExplicitRk,
    control: StepControl,
    /// Time when rank is lost, as last seen, and where the zone ends \[s\]; no zone is being passed where that is not in the future.
    at: f64,
    until: f64,
    /// Size of the method's own step there \[s\].
    h: f64,
    /// True if the last step was one through a zone.
    is_last: bool,
    /// Steps in this zone.
    steps: u32,
    /// True if the method is left to itself until nothing is near, and when that first was so \[s\].
    gave_up: bool,
    left: Option<f64>,
    /// Time when pivots were last checked, the root of the smallest there as a fraction of what was usual, and when the next check is due \[s\].
    seen: [f64; 2],
    due: f64,
}

/// Holds what is near a state.
#[derive(Clone, Copy)]
enum Sight {
    /// Nothing.
    Clear,
    /// A loss of rank after this time \[s\], negative where it is past, and half a zone \[s\].
    Loss(f64, f64),
}

impl ExplicitFallback {
    /// With explicit steps of the relative tolerance `rtol`.
    pub(super) fn new(rtol: f64) -> Option<Box<ExplicitFallback>> {
        let control = StepControl::new(rtol, 1e-2 * rtol, None).ok()?;
        let method = ExplicitRk::new(&DOP853, StepLimits::default());
        let never = f64::NEG_INFINITY;
        Some(Box::new(ExplicitFallback {
            method,
            control,
            at: never,
            until: never,
            h: 0.0,
            is_last: false,
            steps: 0,
            gave_up: false,
            left: None,
            seen: [never, 1.0],
            due: never,
        }))
    }
}

impl<P: Problem + ?Sized> Dynamics<'_, P> {
    /// Returns when a method that resolves the constraints itself was first left to itself near a singular position \[s\]: explicit steps through it
    /// were too many, as something is stiff.
    pub fn fallback_left(&self) -> Option<f64> {
        self.fallback.as_ref().and_then(|fallback| fallback.left)
    }

    /// Takes a step through a zone, where `s` is in one.
    pub(super) fn fallback_from(
        &mut self,
        s: &mut State,
        control: &mut StepControl,
        is_adaptive: bool,
    ) -> Result<Option<StepInfo>, StepError> {
        let (Some(fallback), Some(near)) = (&self.fallback, &self.near) else { return Ok(None) };
        if s.t < fallback.until {
            return self.step_explicitly(s, control, is_adaptive).map(Some);
        }
        if near.is_last(s) {
            return Ok(None);
        }
        // a start, or a state that was changed since the last step
        let sight = self.see(s, 0.0, 0.0).unwrap_or(Sight::Clear);
        self.note_end(s);
        match sight {
            Sight::Loss(ahead, zone) if ahead.abs() <= zone => {
                self.enter(s.t + ahead, zone, 0.0);
                self.step_explicitly(s, control, is_adaptive).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Checks the step that a method has `taken` to `s`, or has failed to take. Takes one through a zone in its place, where there is one.
    pub(super) fn fallback_over(
        &mut self,
        taken: Result<StepInfo, StepError>,
        s: &mut State,
        control: &mut StepControl,
        is_adaptive: bool,
    ) -> Result<StepInfo, StepError> {
        let (Some(fallback), Some(_)) = (&mut self.fallback, &self.near) else { return taken };
        fallback.is_last = false;
        let gave_up = fallback.gave_up;
        let info = match taken {
            Ok(info) => info,
            Err(StepError::View { .. }) => return taken,
            Err(_) if gave_up => return taken,
            Err(error) => {
                // where the step would have led
                let h = control.proposal().unwrap_or(0.0);
                return match self.see(s, h, h) {
                    Ok(Sight::Loss(ahead, zone)) if ahead >= -zone => {
                        self.enter(s.t + ahead, zone, h);
                        self.step_explicitly(s, control, is_adaptive)
                    }
                    _ => Err(error),
                };
            }
        };
        if s.t < fallback.due {
            self.note_end(s);
            return Ok(info);
        }
        let sight = self.see(s, info.h, info.h).unwrap_or(Sight::Clear);
        let near_one = match sight {
            Sight::Loss(ahead, zone) if ahead.abs() <= zone => Some((s.t + ahead, zone)),
            Sight::Loss(ahead, zone) if ahead < 0.0 && !gave_up => {
                self.went_over(s, s.t + ahead).map(|at| (at, zone))
            }
            _ => None,
        };
        if let Some(fallback) = &mut self.fallback {
            fallback.gave_up &= !matches!(sight, Sight::Clear);
        }
        match (near_one, &self.near) {
            (Some((at, zone)), Some(near)) if !gave_up => {
                // from where the step began
                s.copy_from(near.last());
                self.problem.accept(s);
                control.counts.steps = control.counts.steps.saturating_sub(1);
                control.counts.rejected += 1;
                self.enter(at, zone, info.h);
                self.step_explicitly(s, control, is_adaptive)
            }
            _ => {
                if let Sight::Loss(ahead, zone) = sight
                    && gave_up
                {
                    self.report_crossing(s, s.t + ahead, zone);
                }
                self.note_end(s);
                Ok(info)
            }
        }
    }

    /// The state at `t` inside the step just taken, where that was one through a zone.
    pub(super) fn fallback_dense(&mut self, t: f64, out: &mut State) -> Option<Result<(), StepError>> {
        let mut fallback = self.fallback.take_if(|fallback| fallback.is_last)?;
        let done = fallback.method.dense(self, &mut fallback.control, t, out);
        self.fallback = Some(fallback);
        Some(done)
    }

    /// Takes note of the end `s` of a step of the method's own.
    fn note_end(&mut self, s: &State) {
        if let Some(near) = &mut self.near {
            near.accept(s);
        }
    }

    /// Begins to pass the zone of a loss of rank, for a method with steps of size `h` \[s\].
    fn enter(&mut self, at: f64, zone: f64, h: f64) {
        if let Some(fallback) = &mut self.fallback {
            (fallback.at, fallback.until, fallback.h, fallback.steps) = (at, at + zone, h, 0);
            fallback.control.restart();
            fallback.method.prepare(self.problem.structure());
        }
    }

    /// One explicit step in a zone; looks again where that ends, and how far.
    fn step_explicitly(
        &mut self,
        s: &mut State,
        control: &mut StepControl,
        is_adaptive: bool,
    ) -> Result<StepInfo, StepError> {
        let Some(mut fallback) = self.fallback.take() else { return Err(StepError::View { t: s.t }) };
        // methods may leave positions beside their constraints
        let mut end = s.clone();
        if fallback.steps == 0 && self.project(&mut end).is_err() {
            end.copy_from(s);
        }
        // fixed steps continue at their own times
        let until = if is_adaptive { fallback.until } else { control.fixed_after(s.t, fallback.until) };
        fallback.control.t_end = until.min(control.t_end);
        let (before, typical) = (fallback.control.counts, self.pivot_scale);
        let done = fallback.method.step(self, &mut end, &mut fallback.control);
        if done.is_ok() {
            s.copy_from(&end);
        }
        // what is usual is forgotten with the angle, not with steps, which may be very short here
        self.pivot_scale = self.pivot_scale.max(typical);
        let after = fallback.control.counts;
        control.counts.steps += after.steps - before.steps;
        control.counts.rejected += after.rejected - before.rejected;
        control.counts.rhs += after.rhs - before.rhs;
        fallback.steps += 1;
        fallback.is_last = true;
        // at a near miss or an end of range steps are short for another reason
        if let Ok(info) = &done
            && self.near.as_ref().is_none_or(|near| !near.is_off_constraints())
        {
            let left = (fallback.until - s.t).max(0.0) / info.h;
            fallback.gave_up = fallback.steps > TRIED && f64::from(fallback.steps) + left > MOST;
        }
        let (at, h, t_end) = (fallback.at, fallback.h, fallback.control.t_end);
        self.fallback = Some(fallback);
        let info = done?;
        if let Some(fallback) = self.fallback.as_mut().filter(|fallback| fallback.gave_up) {
            fallback.left.get_or_insert(s.t);
        }
        let sight = self.see(s, h, 1.5 * (at - s.t).abs()).unwrap_or(Sight::Clear);
        let Some(fallback) = &mut self.fallback else { return Ok(info) };
        match sight {
            _ if fallback.gave_up => fallback.until = s.t,
            Sight::Loss(ahead, zone) if ahead >= -zone => {
                (fallback.at, fallback.until) = (s.t + ahead, s.t + ahead + zone);
            }
            // before it, and too far to be seen
            Sight::Clear if s.t < at => {}
            _ if is_adaptive => fallback.until = s.t,
            // out of it, but not at a time of the steps
            _ => fallback.until = if s.t < t_end { s.t.next_up() } else { s.t },
        }
        Ok(info)
    }

    /// Returns what is within a zone of `s`, on the constraints, and `reach`, where steps have the size `h` \[s\].
    fn see(&mut self, s: &State, h: f64, reach: f64) -> Result<Sight, SolveError> {
        self.problem.update(s, Stage::VELOCITY, &mut self.eq);
        self.kkt.factor(&self.eq, ActiveRows::All, RankDemand::Any)?;
        let (pivot, dropped) = (self.kkt.smallest_pivot(), self.kkt.dependent_rows().len());
        let spin = self.angular_speed(s).max(f64::MIN_POSITIVE);
        let zone = (ZONE / spin).max((STEPS * h).min(MOST_ZONE / spin));
        let (Some(near), Some(fallback)) = (&mut self.near, &mut self.fallback) else {
            return Ok(Sight::Clear);
        };
        let (typical, lost) = near.typical(self.pivot_scale, dropped);
        let [last_t, last] = fallback.seen;
        let past = (s.t - last_t).clamp(0.0, MEMORY / spin);
        self.pivot_scale = pivot.max(self.pivot_scale * 0.5_f64.powf(spin * past / MEMORY));
        let angle = (CHECK_STEP * (zone + reach) * spin).min(MAX_CHECK_STEP);
        let root = (pivot / typical).sqrt();
        fallback.seen = [s.t, root];
        fallback.due = s.t;
        if !lost && root >= angle {
            let decrease_rate = (last - root) / (s.t - last_t);
            let wait = if decrease_rate > 0.0 { WAY * (root - angle) / decrease_rate } else { f64::INFINITY };
            fallback.due = s.t + wait.min(PAUSE * root.min(1.0) / spin).min(PAUSE_STEPS * h);
            return Ok(Sight::Clear);
        }
        let ahead = near.detector_mut().ahead(&mut self.problem, s, zone + reach)?;
        Ok(ahead.map_or(Sight::Clear, |ahead| Sight::Loss(ahead, zone)))
    }

    /// Makes a record of a loss of rank in the step to `s`, near the time `t`, if there was one.
    fn report_crossing(&mut self, s: &State, t: f64, zone: f64) {
        let Some(near) = &mut self.near else { return };
        let from = near.last().clone();
        if from.t < s.t {
            // what is not found is not reported
            let _ = near.detector_mut().check_between(
                &mut self.problem,
                &self.eq,
                [&from, s],
                t,
                s.t - from.t,
                zone,
            );
        }
    }

    /// Returns when rank was lost in the step to `s`, near the time `t`, if it was.
    fn went_over(&mut self, s: &State, t: f64) -> Option<f64> {
        let spin = self.angular_speed(s).max(f64::MIN_POSITIVE);
        let near = self.near.as_mut()?;
        let from = near.last().clone();
        let h = s.t - from.t;
        // one that is well before was passed before
        if !(t > from.t - BEFORE * h) {
            return None;
        }
        let tau = h.min(MOST_ZONE / spin);
        near.detector_mut().find_between(&mut self.problem, [&from, s], t.max(from.t), tau).ok()?
    }
}
