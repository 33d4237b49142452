//! Describes which events a step meets, and when.
//!
//! Every condition is judged at seven instants of a step beside its start: the end, four equally spaced ones, and one close
//! to each end, which shows where its margin goes from there. A change between two of them is located to four units in the
//! last place of the time, on states that are brought onto the constraints, as the run continues from them.
//!
//! Between two of them the margin is bounded where it depends on positions, velocities and time alone ([`windows`](super::windows)):
//! a condition that holds for a moment is met, whatever its length. Of other conditions (forces, accelerations, controllers, energies)
//! the top of the margin between three instants is searched for, so that one which holds only for a moment is met as long as its
//! margin has one top within a fifth of a step, and is smooth. Several changes to and fro within a fifth of a step may be
//! missed, as may be what the integrator itself does not see.
//!
//! An event fires when its condition becomes true. It fires again only after the condition was false: inside steps, and where
//! a controller is sampled, by more than rounding, since a rate that a lock has brought to zero would else fire at every one
//! of them.

use super::search::{ConditionSample, crossing, may_reach, peak};
use super::watch::{WatchedEvent, judge};
use super::windows::{Margin, Windows};
use crate::finite::NonFiniteColumns;
use sarrus_solve::integrators::TakenStep;
use sarrus_solve::{Dynamics, SolveError, State, StepError};
use sarrus_system::conditions::ConditionValue;
use sarrus_system::events::Event;
use sarrus_system::{Conditions, Mechanism};

/// Marks where in a step conditions are judged, as parts of it.
const FRACTIONS: [f64; 8] = [0.0, 1e-3, 0.2, 0.4, 0.6, 0.8, 0.999, 1.0];
/// Changes closer than this part of a step are simultaneous.
pub(crate) const TOGETHER: f64 = 1e-12;

/// Watches the conditions of a run.
#[derive(Clone)]
pub(crate) struct Detector {
    /// The conditions.
    pub conditions: Conditions,
    /// Events that the last step was cut for.
    pub due: Vec<usize>,
    /// Conditions that were undecided, as something was not a number.
    pub undecided: NonFiniteColumns,
    names: Vec<String>,
    watches: Vec<WatchedEvent>,
    /// Those that a step may meet.
    which: Vec<usize>,
    /// Those that wait to be false again, at a sample.
    waiting: Vec<usize>,
    verdicts: Vec<ConditionValue>,
    /// The same at an instant inside a step, and the state there.
    scratch: Vec<ConditionValue>,
    near: State,
    /// Verdicts by index and event.
    samples: Vec<(f64, Vec<ConditionValue>)>,
    /// Hints at the start of the step.
    discrete: Vec<f64>,
    /// The same, while a step is looked into.
    start_discrete: Vec<f64>,
    windows: Windows,
}

impl Detector {
    /// For events that have not fired yet.
    pub fn new(conditions: Conditions, events: &[Event]) -> Detector {
        let none = ConditionValue { holds: false, margin: f64::NAN };
        let watches: Vec<WatchedEvent> = events
            .iter()
            .enumerate()
            .map(|(i, event)| WatchedEvent::new(event, conditions.is_timed(i), conditions.needs_reactions(i)))
            .collect();
        let n = watches.len();
        Detector {
            conditions,
            due: Vec::new(),
            undecided: NonFiniteColumns::default(),
            names: events.iter().map(|event| event.name.clone()).collect(),
            watches,
            which: Vec::new(),
            waiting: Vec::new(),
            verdicts: vec![none; n],
            scratch: vec![none; n],
            near: State::default(),
            samples: FRACTIONS.iter().map(|_| (0.0, vec![none; n])).collect(),
            discrete: Vec::new(),
            start_discrete: Vec::new(),
            windows: Windows::default(),
        }
    }

    /// Facts for the report.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let own = self.windows.given_up.iter().map(|(i, t)| {
            format!(
                "event `{}`: its condition could not be bounded over the step at t = {t} s; there, and wherever that happens again, it \
                 may be missed if it holds for less than a fifth of a step; give a smaller `step`",
                self.names[*i]
            )
        });
        let grazed = self.windows.grazed.iter().map(|(i, t)| {
            format!(
                "event `{}`: within the step at t = {t} s its condition came so near to holding that rounding decides; it may be missed \
                 there, and wherever that happens again; leave it a margin",
                self.names[*i]
            )
        });
        self.conditions.notes.iter().cloned().chain(own).chain(grazed)
    }

    /// Returns how often the condition of an event could not be bounded over a step, so that it may have been missed.
    pub fn unbounded(&self) -> u64 {
        self.windows.times_given_up
    }

    /// Event `i` fires no more.
    pub fn finish(&mut self, i: usize) {
        self.watches[i].done = true;
    }

    /// Returns whether the condition of event `i` held at the last check.
    pub fn holds(&self, i: usize) -> bool {
        self.verdicts[i].holds
    }

    /// Checks all conditions at `s`, where a segment starts, and returns the events that are to fire there, in their order.
    ///
    /// `fired` are those that have just fired at this instant, each with whether its condition held just before: one that
    /// its own actions have made false may fire again. Right before the `end` of a run the conditions that change there because of
    /// the time are judged at that end.
    pub fn check(
        &mut self,
        ode: &mut Dynamics<'_, Mechanism>,
        s: &State,
        end: Option<(f64, &[usize])>,
        fired: &[(usize, bool)],
    ) -> Result<Vec<usize>, SolveError> {
        self.judge_all(ode, s)?;
        if let Some((t, which)) = end {
            self.judge_end(ode, s, t, which)?;
        }
        let forced = std::mem::take(&mut self.due);
        let mut due = Vec::new();
        for (i, watch) in self.watches.iter_mut().enumerate().filter(|(_, watch)| !watch.done) {
            let verdict = self.verdicts[i];
            self.undecided.add_undecided(&self.conditions, &self.names, i, &verdict, ode, s);
            watch.note(&verdict);
            match fired.iter().find(|(j, _)| *j == i) {
                Some((_, held)) => watch.armed = *held && watch.is_false(&verdict),
                None if forced.contains(&i) => due.push(i),
                None if watch.armed && verdict.holds => due.push(i),
                // at an instant like this what is false is false, unless the event itself was met here to rounding
                None if watch.fired_at == s.t => watch.armed |= watch.is_false(&verdict),
                None => watch.armed |= !verdict.holds,
            }
        }
        self.next_sample(ode, s, &due);
        Ok(due)
    }

    /// Before a sample changes x at `s`: judges those that wait to be false again.
    pub fn before_sample(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State) -> Result<(), SolveError> {
        let watches = &self.watches;
        self.waiting.clear();
        self.waiting.extend((0..watches.len()).filter(|&i| !watches[i].done && !watches[i].armed));
        judge(&self.conditions, &mut self.watches, &self.waiting, ode, s, &mut self.scratch)
    }

    /// After a sample has changed x at `s`, where no segment starts; returns the events that are to fire there, in their order.
    ///
    /// What does not depend on the sample continues as it did, so that the rule is that of steps. A condition that the sample
    /// has brought to just where it fails, as a switch from 1 to 0 does with `u > 0`, was true and is false.
    pub fn check_sample(
        &mut self,
        ode: &mut Dynamics<'_, Mechanism>,
        s: &State,
    ) -> Result<Vec<usize>, SolveError> {
        self.judge_all(ode, s)?;
        let mut due = Vec::new();
        for (i, watch) in self.watches.iter_mut().enumerate().filter(|(_, watch)| !watch.done) {
            let verdict = self.verdicts[i];
            self.undecided.add_undecided(&self.conditions, &self.names, i, &verdict, ode, s);
            watch.note(&verdict);
            if watch.armed && verdict.holds {
                due.push(i);
            } else if !watch.armed {
                let ends = self.scratch[i].holds && !verdict.holds && verdict.margin == 0.0;
                watch.armed = ends || watch.is_false(&verdict);
            }
        }
        self.next_sample(ode, s, &due);
        Ok(due)
    }

    /// Judges all that may still fire.
    fn judge_all(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State) -> Result<(), SolveError> {
        let watches = &self.watches;
        self.which.clear();
        self.which.extend((0..watches.len()).filter(|&i| !watches[i].done));
        judge(&self.conditions, &mut self.watches, &self.which, ode, s, &mut self.verdicts)
    }

    /// Judges those of `which` that may still fire as if `s` were at `t` \[s\].
    fn judge_end(
        &mut self,
        ode: &mut Dynamics<'_, Mechanism>,
        s: &State,
        t: f64,
        which: &[usize],
    ) -> Result<(), SolveError> {
        let which: Vec<usize> = which.iter().copied().filter(|&i| !self.watches[i].done).collect();
        self.near.copy_from(s);
        self.near.t = t;
        judge(&self.conditions, &mut self.watches, &which, ode, &self.near, &mut self.verdicts)
    }

    /// The run continues from `s`, where `due` fire.
    fn next_sample(&mut self, ode: &Dynamics<'_, Mechanism>, s: &State, due: &[usize]) {
        for &i in due {
            self.watches[i].armed = false;
            self.watches[i].fired_at = s.t;
        }
        self.discrete.clear();
        self.discrete.extend_from_slice(ode.problem().discrete());
        let watches = &self.watches;
        self.which.retain(|&i| !watches[i].timed);
    }

    /// Looks into a step; returns the time at which it is to be cut, and remembers for whom.
    pub fn cut(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
    ) -> Result<Option<f64>, StepError> {
        self.start_discrete.clone_from(&self.discrete);
        if self.which.is_empty() {
            self.note_discrete(step);
            return Ok(None);
        }
        let mut samples = std::mem::take(&mut self.samples);
        let found = self.judge_samples(step, &mut samples).and_then(|()| self.find(step, &samples));
        let result = found.map(|found| self.decide(step, &samples, &found));
        self.samples = samples;
        result
    }

    /// Judges the conditions at the places of a step.
    fn judge_samples(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        samples: &mut [(f64, Vec<ConditionValue>)],
    ) -> Result<(), StepError> {
        let (t, h) = (step.info.t, step.end.t - step.info.t);
        samples[0].0 = t;
        samples[0].1.copy_from_slice(&self.verdicts);
        for ((time, verdicts), fraction) in samples.iter_mut().zip(FRACTIONS).skip(1) {
            *time = if fraction == 1.0 { step.end.t } else { t + fraction * h };
            let (ode, s) = step.at(*time)?;
            judge(&self.conditions, &mut self.watches, &self.which, ode, s, verdicts)
                .map_err(|source| StepError::Solve { t: *time, source })?;
        }
        Ok(())
    }

    /// The first change of every event that one has in the step.
    fn find(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        samples: &[(f64, Vec<ConditionValue>)],
    ) -> Result<Vec<(f64, usize)>, StepError> {
        let mut found = Vec::new();
        let (scratch, near, windows) = (&mut self.scratch, &mut self.near, &mut self.windows);
        windows.begin();
        for &i in &self.which {
            let at = |k: usize| -> ConditionSample { (samples[k].0, samples[k].1[i]) };
            let (mut armed, watch) = (self.watches[i].armed, self.watches[i]);
            let (conditions, watches) = (&self.conditions, &mut self.watches);
            let mut judge_at = |step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>, t: f64| {
                let (ode, s) = step.at(t)?;
                // as the run will continue from there: on the constraints, where there is a way
                near.copy_from(s);
                if ode.project(near).is_err() {
                    near.copy_from(s);
                }
                judge(conditions, watches, &[i], ode, near, scratch)
                    .map_err(|source| StepError::Solve { t, source })?;
                Ok(scratch[i])
            };
            let sign = watch.sign().filter(|_| conditions.is_bounded(i));
            let margin = sign.map(|sign| Margin { number: i, sign, rounding: watch.rounding() });
            let ends = [at(0), at(samples.len() - 1)];
            let clear = margin.map_or(Ok(true), |margin| windows.is_clear(step, conditions, margin, ends))?;
            for k in 1..samples.len() {
                let (mut before, here) = (at(k - 1), at(k));
                let searched = margin.filter(|_| !clear);
                if !armed {
                    let ends = [before, here];
                    let left = searched.map_or(Ok(None), |margin| {
                        windows.leaves(step, conditions, margin, ends, &mut judge_at, &|v| watch.is_false(v))
                    })?;
                    let Some(left) = left else {
                        armed = watch.is_false(&here.1);
                        continue;
                    };
                    (armed, before) = (true, left);
                }
                if let Some(margin) = searched.filter(|_| !before.1.holds) {
                    let bracket = windows.first(step, conditions, margin, [before, here], &mut judge_at)?;
                    if let Some([from, held]) = bracket.filter(|[_, held]| held.0 < here.0) {
                        found.push((crossing(from, held, |t| judge_at(step, t))?, i));
                        break;
                    }
                }
                let mut judge_one = |t: f64| judge_at(step, t);
                if here.1.holds {
                    // on the constraints, which places are not moved onto, the change may lie just before the last place
                    let early = k > 1 && !at(k - 2).1.holds && judge_one(before.0)?.holds;
                    let from = if early { at(k - 2) } else { before };
                    found.push((crossing(from, here, &mut judge_one)?, i));
                    break;
                }
                let Some(after) = (k + 1 < samples.len()).then(|| at(k + 1)) else { continue };
                let top = before.1.margin <= here.1.margin && here.1.margin > after.1.margin;
                if top
                    && margin.is_none()
                    && !after.1.holds
                    && may_reach(before, here, after)
                    && let Some(held) = peak(before.0, here, after.0, &mut judge_one)?
                {
                    let from = if held.0 > here.0 { here } else { before };
                    found.push((crossing(from, held, &mut judge_one)?, i));
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The step is cut for another reason, and earlier: what was met in it may be met again.
    pub fn forget(&mut self, step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>) {
        self.due.clear();
        step.ode.problem_mut().set_discrete(&self.start_discrete);
    }

    /// Returns where the step is cut, with what is remembered either way.
    fn decide(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        samples: &[(f64, Vec<ConditionValue>)],
        found: &[(f64, usize)],
    ) -> Option<f64> {
        let first = found.iter().map(|(t, _)| *t).reduce(f64::min);
        let together = first.map(|t| t + TOGETHER * step.info.h);
        let cut = together.map(|last| {
            found.iter().map(|(t, _)| *t).filter(|t| *t <= last).fold(f64::NEG_INFINITY, f64::max)
        });
        for (time, verdicts) in samples.iter().skip(1) {
            if cut.is_some_and(|cut| *time >= cut) {
                break;
            }
            for &i in &self.which {
                let watch = &mut self.watches[i];
                if verdicts[i].margin.is_nan()
                    && let Ok((ode, s)) = step.at(*time)
                {
                    self.undecided.add_undecided(&self.conditions, &self.names, i, &verdicts[i], ode, s);
                }
                watch.note(&verdicts[i]);
                watch.armed |= watch.is_false(&verdicts[i]);
            }
        }
        match (cut, samples.last()) {
            (Some(cut), _) => {
                self.due = found.iter().filter(|(t, _)| *t <= cut).map(|(_, i)| *i).collect();
                step.ode.problem_mut().set_discrete(&self.discrete);
            }
            (None, Some((_, verdicts))) => {
                for &i in &self.which {
                    self.verdicts[i] = verdicts[i];
                }
                self.note_discrete(step);
            }
            (None, None) => {}
        }
        cut
    }

    fn note_discrete(&mut self, step: &TakenStep<'_, Dynamics<'_, Mechanism>>) {
        self.discrete.clear();
        self.discrete.extend_from_slice(step.ode.problem().discrete());
    }
}

impl NonFiniteColumns {
    /// Takes note of condition `i` at `s`, where it is undecided.
    fn add_undecided(
        &mut self,
        conditions: &Conditions,
        names: &[String],
        i: usize,
        verdict: &ConditionValue,
        ode: &mut Dynamics<'_, Mechanism>,
        s: &State,
    ) {
        if !verdict.margin.is_nan() || (conditions.needs_reactions(i) && ode.evaluate(s).is_err()) {
            return;
        }
        let (mechanism, eq, accel) = ode.parts();
        let known = conditions.needs_reactions(i).then_some((eq, accel));
        if let Some(why) = conditions.undecided(i, mechanism, s, known) {
            self.add(1, s.t, || (format!("the condition of event `{}` is undecided", names[i]), Some(why)));
        }
    }
}
