//! The first touch inside a step, by conservative advancement: no pair of surfaces is passed over.
//!
//! The gap of every pair that may meet is bounded from below over the step ([`sarrus_system::contact::sweep`]). Where the bound is
//! positive nothing happens. Else the step is halved, on its dense output, and each half is bounded likewise, the earlier one first,
//! until a pair is found that is open at the start of an interval and closed at its end. Overlaps up to the grazing depth of the
//! sweep may be passed over.
//!
//! Pairs that are closed at the start of the step are no onsets. Those that can get through each other within the step, and gaps given
//! by expressions that may open and close again, join at the first of some instants of it at which they are open. A gap that opens at the
//! start joins while it still rises.
//!
//! Cost: a few frames of all bodies, and the pairs whose swept boxes meet; one frame more for each interval that is halved.

use super::MechanismStep;
use super::search::crossing;
use sarrus_solve::StepError;
use sarrus_system::conditions::ConditionValue;
use sarrus_system::contact::sweep::{GapSource, SHALLOW, Sweep};
use sarrus_system::motion::BodiesAtInstant;
use sarrus_system::system::System;

/// Halvings at which an interval is an instant.
pub(super) const DEEPEST: usize = 44;
/// Intervals of a step that are halved; then it ends at what is known to be free.
const MOST: usize = 4000;
/// Instants at which pairs that were closed may join, as fractions of the step.
const JOINS: [f64; 8] = [0.0, 1e-3, 0.2, 0.4, 0.6, 0.8, 0.999, 1.0];

/// Holds what a step meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ahead {
    /// Every pair that is not held is open all the time.
    Clear,
    /// Some are closed, or nearly; none that was open closes.
    Near,
    /// One closes: open at the first instant \[s\], closed at the second; when it does, if it yields.
    Met { bracket: [f64; 2], soft: Option<f64> },
    /// None closes up to this time \[s\]; after that nothing is known.
    Until(f64),
}

/// A pair in an interval, with its gap at both ends \[m\].
#[derive(Clone, Copy)]
struct PairInterval {
    meeting: GapSource,
    gaps: [f64; 2],
}

/// Finds first touches.
#[derive(Clone, Default)]
pub(crate) struct Advance {
    sweep: Option<Sweep>,
    frames: Vec<BodiesAtInstant>,
    items: Vec<PairInterval>,
    late: Vec<GapSource>,
    /// Instants at which these may join \[s\].
    joins: Vec<f64>,
    halved: usize,
}

/// A pair that closes, or none where the search was given up, and the interval of it \[s\].
type ClosingPair = (Option<GapSource>, [f64; 2]);

impl Advance {
    /// For any run.
    pub fn new() -> Advance {
        Advance::default()
    }

    /// Looks into a step. Pairs of `held` are left out. Unless onsets are `located`, those that yield count only if the step passes over
    /// them.
    pub fn check(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        held: &[GapSource],
        located: bool,
    ) -> Result<Ahead, StepError> {
        let system = step.ode.problem().system().clone();
        let mut sweep = match self.sweep.take() {
            Some(sweep) => sweep,
            None => Sweep::new(&system, step.order()),
        };
        let found = self.search(step, &system, &mut sweep, held, located);
        self.sweep = Some(sweep);
        found
    }

    fn search(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        system: &System,
        sweep: &mut Sweep,
        held: &[GapSource],
        located: bool,
    ) -> Result<Ahead, StepError> {
        let (t, end) = (step.info.t, step.end.t);
        let motion = sweep.motion();
        let last = motion.fractions().len() - 1;
        for k in 0..=last {
            let at = if k == last { end } else { t + motion.fractions()[k] * (end - t) };
            let (ode, s) = step.at(at)?;
            ode.problem_mut().contact_frame(s, motion.node(k));
        }
        sweep.begin(system);
        self.frames.resize_with(DEEPEST + 4, BodiesAtInstant::default);
        self.items.clear();
        self.late.clear();
        self.halved = 0;
        let [first, second] = sweep.ends();
        let mut near = false;
        for i in 0..sweep.meetings() {
            let meeting = sweep.meeting(i);
            let entry = &system.contacts[meeting.contact()];
            if !entry.enabled || sweep.quick(system, meeting, first, second) > 0.0 || held.contains(&meeting)
            {
                continue;
            }
            near = true;
            let gaps = [first, second].map(|frame| sweep.gap(system, meeting, frame));
            let thick = sweep.thickness(meeting);
            if !located && entry.contact.rigid.is_none() && gaps[1] < 0.0 && -gaps[1] < SHALLOW * thick {
                continue;
            }
            if gaps[0] > sweep.grazing(system, meeting) {
                self.items.push(PairInterval { meeting, gaps });
            } else if sweep.may_return(system, meeting) {
                self.late.push(meeting);
            }
        }
        let whole = self.items.len();
        let found = if self.late.is_empty() {
            self.frames[0].copy_from(first);
            self.frames[1].copy_from(second);
            self.scan(step, system, sweep, [0, 1], (0, whole), 0)?
        } else {
            self.scan_parts(step, system, sweep, whole)?
        };
        match found {
            None if near => Ok(Ahead::Near),
            None => Ok(Ahead::Clear),
            Some((Some(meeting), bracket)) => {
                let yields = system.contacts[meeting.contact()].yields();
                let soft =
                    if yields { Some(self.locate(step, system, sweep, meeting, bracket)?) } else { None };
                Ok(Ahead::Met { bracket, soft })
            }
            Some((None, [free, _])) if free > t => Ok(Ahead::Until(free)),
            Some((None, _)) => Ok(Ahead::Near),
        }
    }

    /// Scans a step some of whose pairs are closed at its start.
    fn scan_parts(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        system: &System,
        sweep: &Sweep,
        whole: usize,
    ) -> Result<Option<ClosingPair>, StepError> {
        let (t, end) = (step.info.t, step.end.t);
        let joins = JOINS.iter().map(|part| if *part == 1.0 { end } else { t + part * (end - t) });
        self.joins.clear();
        self.joins.extend(joins);
        for i in 0..self.late.len() {
            let opened = self.opening(step, system, sweep, self.late[i])?;
            self.joins.extend(opened);
        }
        self.joins.sort_unstable_by(f64::total_cmp);
        let all = self.items[..whole].iter().map(|item| item.meeting);
        self.late.extend(all);
        for part in 1..self.joins.len() {
            for (k, at) in [self.joins[part - 1], self.joins[part]].into_iter().enumerate() {
                let (ode, s) = step.at(at)?;
                ode.problem_mut().contact_frame(s, &mut self.frames[k]);
            }
            self.items.clear();
            for &meeting in &self.late {
                let gaps = [0, 1].map(|k| sweep.gap(system, meeting, &self.frames[k]));
                if gaps[0] > sweep.grazing(system, meeting) {
                    self.items.push(PairInterval { meeting, gaps });
                }
            }
            let found = self.scan(step, system, sweep, [0, 1], (0, self.items.len()), 0)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The latest of some instants up to which a gap that is closed at the start only opens.
    fn opening(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        system: &System,
        sweep: &Sweep,
        meeting: GapSource,
    ) -> Result<Option<f64>, StepError> {
        let [first, last] = sweep.ends();
        let mut w = last.t - first.t;
        for _ in 0..DEEPEST {
            let (ode, s) = step.at(first.t + w)?;
            let frame = &mut self.frames[0];
            ode.problem_mut().contact_frame(s, frame);
            if let Some(rises) = sweep.opens(system, meeting, first, frame) {
                let open = rises && sweep.gap(system, meeting, frame) > sweep.grazing(system, meeting);
                return Ok(open.then_some(frame.t));
            }
            w *= 0.5;
        }
        Ok(None)
    }

    /// The first pair among the items of a range that closes between two frames, or none and the time up to which none does.
    fn scan(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        system: &System,
        sweep: &Sweep,
        [a, b]: [usize; 2],
        (low, high): (usize, usize),
        depth: usize,
    ) -> Result<Option<ClosingPair>, StepError> {
        let base = self.items.len();
        let times = [self.frames[a].t, self.frames[b].t];
        let w = times[1] - times[0];
        let (mut met, mut open) = (None, false);
        let instant = depth >= DEEPEST || !(0.5 * (times[0] + times[1]) > times[0] && w > 0.0);
        for i in low..high {
            let item = self.items[i];
            let PairInterval { meeting, gaps } = item;
            if gaps[1] < 0.0 {
                if instant || sweep.closes_once(system, meeting, &self.frames[a], &self.frames[b]) {
                    met = Some(meeting);
                } else {
                    open = true;
                }
                self.items.push(item);
                continue;
            }
            let lower = sweep.lower(system, meeting, &self.frames[a], &self.frames[b], gaps);
            // also what is no number
            if !(lower >= -sweep.grazing(system, meeting)) {
                self.items.push(item);
                open = true;
            }
        }
        let suspects = (base, self.items.len());
        let found = if suspects.1 == base {
            None
        } else if met.is_some() && (!open || instant) {
            Some((met, times))
        } else if instant {
            None
        } else if self.halved >= MOST {
            Some((None, times))
        } else {
            self.halve(step, system, sweep, [a, b], suspects, depth)?
        };
        self.items.truncate(base);
        Ok(found)
    }

    fn halve(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        system: &System,
        sweep: &Sweep,
        [a, b]: [usize; 2],
        (low, high): (usize, usize),
        depth: usize,
    ) -> Result<Option<ClosingPair>, StepError> {
        self.halved += 1;
        let middle = depth + 2;
        let t = 0.5 * (self.frames[a].t + self.frames[b].t);
        let (ode, s) = step.at(t)?;
        ode.problem_mut().contact_frame(s, &mut self.frames[middle]);
        for i in low..high {
            let PairInterval { meeting, gaps } = self.items[i];
            let here = sweep.gap(system, meeting, &self.frames[middle]);
            self.items.push(PairInterval { meeting, gaps: [gaps[0], here] });
        }
        let found = self.scan(step, system, sweep, [a, middle], (high, self.items.len()), depth + 1)?;
        if found.is_some() {
            return Ok(found);
        }
        // the later half, of those that are open at its start
        let count = high - low;
        for k in 0..count {
            self.items[high + k].gaps = [self.items[high + k].gaps[1], self.items[low + k].gaps[1]];
        }
        let mut retained = high;
        for k in high..high + count {
            if self.items[k].gaps[0] > 0.0 {
                self.items[retained] = self.items[k];
                retained += 1;
            }
        }
        self.items.truncate(retained);
        self.scan(step, system, sweep, [middle, b], (high, retained), depth + 1)
    }

    /// Determines when in a bracket a pair closes.
    fn locate(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        system: &System,
        sweep: &Sweep,
        meeting: GapSource,
        bracket: [f64; 2],
    ) -> Result<f64, StepError> {
        let frame = &mut self.frames[0];
        let mut judge = |t: f64| -> Result<ConditionValue, StepError> {
            let (ode, s) = step.at(t)?;
            ode.problem_mut().contact_frame(s, frame);
            let gap = sweep.gap(system, meeting, frame);
            Ok(ConditionValue { holds: gap < 0.0, margin: -gap })
        };
        let [a, b] = bracket;
        let ends = ((a, judge(a)?), (b, judge(b)?));
        crossing(ends.0, ends.1, judge)
    }
}
