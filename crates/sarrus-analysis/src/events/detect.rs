//! Which events a step meets, and when.
//!
//! Every condition is judged at seven instants of a step beside its start: the end, four equally spaced ones, and one close
//! to each end, which tells where its margin goes from there. A change between two of them is located to four units in the
//! last place of the time, on states that are brought onto the constraints, as the run goes on from them. Where the margin has a top between three of them it is searched for, so that a condition which
//! holds only for a moment is met as long as its margin has one top within a fifth of a step, and is smooth. Several
//! changes to and fro within a fifth of a step may be missed, as may be what the integrator itself does not see.
//!
//! An event fires when its condition becomes true. It fires again only after the condition was false: inside steps by more
//! than rounding, since a rate that a lock has brought to zero would else fire at every one of them.

use super::search::{Point, crossing, may_reach, peak};
use sarrus_solve::integrators::Taken;
use sarrus_solve::{Dynamics, SolveError, State, StepError};
use sarrus_system::conditions::Verdict;
use sarrus_system::events::{Event, When};
use sarrus_system::{Conditions, Mechanism};

/// Where in a step conditions are judged, as parts of it.
const PLACES: [f64; 8] = [0.0, 1e-3, 0.2, 0.4, 0.6, 0.8, 0.999, 1.0];
/// A condition is false again where its margin is below zero by this part of the largest that it had.
const FALSE_AGAIN: f64 = 1e-9;
/// Changes closer than this part of a step are simultaneous.
const TOGETHER: f64 = 1e-12;
/// A coordinate this near to a value, relative to one or to the value, has reached it \[m, rad\].
const REACHED: f64 = 1e-12;

/// Watches the conditions of a run.
pub(crate) struct Detector {
    /// The conditions.
    pub conditions: Conditions,
    /// Events that the last step was cut for.
    pub due: Vec<usize>,
    watches: Vec<Watched>,
    /// Those that a step may meet.
    which: Vec<usize>,
    verdicts: Vec<Verdict>,
    /// The same at an instant inside a step, and the state there.
    scratch: Vec<Verdict>,
    near: State,
    /// Verdicts by place and event.
    places: Vec<(f64, Vec<Verdict>)>,
    /// Hints at the start of the step.
    hints: Vec<f64>,
}

/// What is remembered of an event.
#[derive(Debug, Clone, Copy)]
struct Watched {
    /// Whether it fires when its condition holds.
    armed: bool,
    /// Whether it never fires again.
    done: bool,
    /// When it has fired last \[s\].
    fired_at: f64,
    /// Largest margin so far, in size.
    scale: f64,
    /// Of a coordinate that is to reach a value: on which side of it the run started.
    side: f64,
    reaches: Option<f64>,
    timed: bool,
    needs_reactions: bool,
}

impl Detector {
    /// For events that have not fired yet.
    pub fn new(conditions: Conditions, events: &[Event]) -> Detector {
        let none = Verdict { holds: false, margin: f64::NAN };
        let watches: Vec<Watched> = events
            .iter()
            .enumerate()
            .map(|(i, event)| Watched {
                armed: true,
                done: false,
                fired_at: f64::NAN,
                scale: 0.0,
                side: 0.0,
                reaches: match event.when {
                    When::Reaches { value, .. } => Some(value),
                    When::Holds(_) => None,
                },
                timed: conditions.is_timed(i),
                needs_reactions: conditions.needs_reactions(i),
            })
            .collect();
        let n = watches.len();
        Detector {
            conditions,
            due: Vec::new(),
            watches,
            which: Vec::new(),
            verdicts: vec![none; n],
            scratch: vec![none; n],
            near: State::default(),
            places: PLACES.iter().map(|_| (0.0, vec![none; n])).collect(),
            hints: Vec::new(),
        }
    }

    /// Event `i` fires no more.
    pub fn finish(&mut self, i: usize) {
        self.watches[i].done = true;
    }

    /// Whether the condition of event `i` held at the last look.
    pub fn holds(&self, i: usize) -> bool {
        self.verdicts[i].holds
    }

    /// Looks at all conditions at `s`, where a leg starts, and returns the events that are to fire there, in their order.
    ///
    /// `fired` are those that have just fired at this instant, each with whether its condition held just before: one that
    /// its own actions have made false may fire again.
    pub fn look(
        &mut self,
        ode: &mut Dynamics<'_, Mechanism>,
        s: &State,
        fired: &[(usize, bool)],
    ) -> Result<Vec<usize>, SolveError> {
        let which: Vec<usize> = (0..self.watches.len()).filter(|&i| !self.watches[i].done).collect();
        let mut verdicts = std::mem::take(&mut self.verdicts);
        let judged = judge(&self.conditions, &mut self.watches, &which, ode, s, &mut verdicts);
        self.verdicts = verdicts;
        judged?;
        let forced = std::mem::take(&mut self.due);
        let mut due = Vec::new();
        for &i in &which {
            let (verdict, watch) = (self.verdicts[i], &mut self.watches[i]);
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
        for &i in &due {
            self.watches[i].armed = false;
            self.watches[i].fired_at = s.t;
        }
        self.hints.clear();
        self.hints.extend_from_slice(ode.problem().hints());
        self.which = which.into_iter().filter(|&i| !self.watches[i].timed).collect();
        Ok(due)
    }

    /// Looks into a step; returns the time at which it is to be cut, and remembers for whom.
    pub fn cut(&mut self, step: &mut Taken<'_, Dynamics<'_, Mechanism>>) -> Result<Option<f64>, StepError> {
        if self.which.is_empty() {
            self.note_hints(step);
            return Ok(None);
        }
        let mut places = std::mem::take(&mut self.places);
        let found = self.judge_places(step, &mut places).and_then(|()| self.find(step, &places));
        let result = found.map(|found| self.decide(step, &places, &found));
        self.places = places;
        result
    }

    /// Judges the conditions at the places of a step.
    fn judge_places(
        &mut self,
        step: &mut Taken<'_, Dynamics<'_, Mechanism>>,
        places: &mut [(f64, Vec<Verdict>)],
    ) -> Result<(), StepError> {
        let (t, h) = (step.info.t, step.end.t - step.info.t);
        places[0].0 = t;
        places[0].1.copy_from_slice(&self.verdicts);
        for ((time, verdicts), place) in places.iter_mut().zip(PLACES).skip(1) {
            *time = if place == 1.0 { step.end.t } else { t + place * h };
            let (ode, s) = step.at(*time)?;
            judge(&self.conditions, &mut self.watches, &self.which, ode, s, verdicts)
                .map_err(|source| StepError::Solve { t: *time, source })?;
        }
        Ok(())
    }

    /// The first change of every event that one has in the step.
    fn find(
        &mut self,
        step: &mut Taken<'_, Dynamics<'_, Mechanism>>,
        places: &[(f64, Vec<Verdict>)],
    ) -> Result<Vec<(f64, usize)>, StepError> {
        let mut found = Vec::new();
        let (scratch, near) = (&mut self.scratch, &mut self.near);
        for &i in &self.which {
            let at = |k: usize| -> Point { (places[k].0, places[k].1[i]) };
            let (mut armed, watch) = (self.watches[i].armed, self.watches[i]);
            let (conditions, watches) = (&self.conditions, &mut self.watches);
            let mut judge_one = |t: f64| -> Result<Verdict, StepError> {
                let (ode, s) = step.at(t)?;
                // as the run will go on from there: on the constraints, where there is a way
                near.copy_from(s);
                if ode.project(near).is_err() {
                    near.copy_from(s);
                }
                judge(conditions, watches, &[i], ode, near, scratch)
                    .map_err(|source| StepError::Solve { t, source })?;
                Ok(scratch[i])
            };
            for k in 1..places.len() {
                let (before, here) = (at(k - 1), at(k));
                if !armed {
                    armed = watch.is_false(&here.1);
                    continue;
                }
                if here.1.holds {
                    found.push((crossing(before, here, &mut judge_one)?, i));
                    break;
                }
                let Some(after) = (k + 1 < places.len()).then(|| at(k + 1)) else { continue };
                let top = before.1.margin <= here.1.margin && here.1.margin > after.1.margin;
                if top
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

    /// Where the step is cut, with what is remembered either way.
    fn decide(
        &mut self,
        step: &mut Taken<'_, Dynamics<'_, Mechanism>>,
        places: &[(f64, Vec<Verdict>)],
        found: &[(f64, usize)],
    ) -> Option<f64> {
        let first = found.iter().map(|(t, _)| *t).reduce(f64::min);
        let together = first.map(|t| t + TOGETHER * step.info.h);
        let cut = together.map(|last| {
            found.iter().map(|(t, _)| *t).filter(|t| *t <= last).fold(f64::NEG_INFINITY, f64::max)
        });
        for (time, verdicts) in places.iter().skip(1) {
            if cut.is_some_and(|cut| *time >= cut) {
                break;
            }
            for &i in &self.which {
                let watch = &mut self.watches[i];
                watch.note(&verdicts[i]);
                watch.armed |= watch.is_false(&verdicts[i]);
            }
        }
        match (cut, places.last()) {
            (Some(cut), _) => {
                self.due = found.iter().filter(|(t, _)| *t <= cut).map(|(_, i)| *i).collect();
                step.ode.problem_mut().set_hints(&self.hints);
            }
            (None, Some((_, verdicts))) => {
                for &i in &self.which {
                    self.verdicts[i] = verdicts[i];
                }
                self.note_hints(step);
            }
            (None, None) => {}
        }
        cut
    }

    fn note_hints(&mut self, step: &Taken<'_, Dynamics<'_, Mechanism>>) {
        self.hints.clear();
        self.hints.extend_from_slice(step.ode.problem().hints());
    }
}

impl Watched {
    fn note(&mut self, verdict: &Verdict) {
        if verdict.margin.is_finite() {
            self.scale = self.scale.max(verdict.margin.abs());
        }
    }

    /// Whether the condition does not hold, by more than rounding.
    fn is_false(&self, verdict: &Verdict) -> bool {
        !verdict.holds && !(verdict.margin >= -FALSE_AGAIN * self.scale)
    }
}

/// The conditions `which` at `s`.
fn judge(
    conditions: &Conditions,
    watches: &mut [Watched],
    which: &[usize],
    ode: &mut Dynamics<'_, Mechanism>,
    s: &State,
    out: &mut [Verdict],
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
        *verdict = Verdict { holds: beyond >= 0.0, margin: beyond };
    }
    Ok(())
}
