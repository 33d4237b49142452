//! The conditions of events and the values that they set, bound to the columns that they read.
//!
//! A condition is kept twice: as it stands, which reports whether it holds, and as its margin, a number that is positive where
//! it holds, by which the instant of its change is found. Of a coordinate that is to reach a value the margin is the way
//! that is left, taken positive beyond.

use crate::columns::{ColumnSource, Columns, Reading};
use crate::events::When;
use crate::mechanism::Mechanism;
use crate::motion::{BodiesAtInstant, MotionBounds};
use crate::signal::Signal;
use crate::system::System;
use sarrus_math::{Enclosure, Interval};
use sarrus_model::expr::{TimeDependence, TimeShape, TimeSlot};
use sarrus_model::{Diagnostic, Model};
use sarrus_solve::{Accel, Equations, State};
use std::sync::Arc;

/// The conditions of a system's events, in their order.
#[derive(Clone)]
pub struct Conditions {
    /// Holds what a reader should know of them.
    pub notes: Vec<String>,
    readings: Columns,
    list: Vec<Condition>,
    /// Holds what bounds of the margin over an interval read, where there are such.
    bounded: Vec<Option<ConditionBodies>>,
    sets: Vec<Vec<Reading>>,
}

/// Bodies that a condition reads, and the place among them of each body of the system.
#[derive(Clone)]
struct ConditionBodies {
    list: Vec<u32>,
    indices: Vec<u32>,
}

#[derive(Clone)]
enum Condition {
    Holds { flag: Reading, margin: Reading },
    Reaches { signal: Box<Signal>, value: f64 },
}

/// Holds what a condition is at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionValue {
    /// True if it holds; of a coordinate that is to reach a value, whether it is beyond it.
    pub holds: bool,
    /// Distance of it from changing; NaN where that is not known, as where the condition is undecided.
    pub margin: f64,
}

impl Conditions {
    /// Binds the conditions of `system`'s events.
    pub fn new(model: &Model, system: &Arc<System>) -> Result<Conditions, Vec<Diagnostic>> {
        let events = &system.all.events.list;
        let mut errors = Vec::new();
        let all = if events.is_empty() { Columns::none() } else { Columns::all(model, system)? };
        let index = all.index();
        let (mut list, mut sets, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for event in events {
            match &event.when {
                When::Reaches { joint, coordinate, value } => {
                    let joint = &system.directory.joints[*joint];
                    let [a, b] = joint.bodies.map(|body| body as usize);
                    let signal = Box::new(Signal::Coordinate(joint.coordinate(*coordinate, a, b)));
                    list.push(Condition::Reaches { signal, value: *value });
                }
                When::Holds(expr) => {
                    let bound = all.bind(model, system, &index, expr, &[]).and_then(|flag| {
                        if flag.is_condition() {
                            return Ok((flag, all.bind(model, system, &index, &expr.margin(), &[])?));
                        }
                        let message = format!("`when` of event `{}` is no condition", event.name);
                        let hint = if flag.is_constant() {
                            "it never changes; an event at the start has `when = \"t >= 0\"` of the start's time"
                        } else {
                            "compare it with something, such as `A.angle > 0`"
                        };
                        Err(Diagnostic::new(expr.span, message).hint(hint))
                    });
                    match bound {
                        Ok((flag, margin)) => {
                            if flag.equates(&|source| changes(system, source)) {
                                notes.push(equates(&event.name));
                            }
                            list.push(Condition::Holds { flag, margin });
                        }
                        Err(error) => errors.push(error),
                    }
                }
            }
            let mut own = Vec::new();
            for (.., expr) in &event.actions.set {
                match all.bind(model, system, &index, expr, &[]) {
                    Ok(reading) => own.push(reading),
                    Err(error) => errors.push(error),
                }
            }
            sets.push(own);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut readings = all;
        readings.keep_for(list.iter().flat_map(Condition::readings).chain(sets.iter().flatten()));
        let bounded = list.iter().map(|condition| bodies(&readings, condition, system)).collect();
        Ok(Conditions { notes, readings, list, bounded, sets })
    }

    /// Returns whether the margin of condition `i` has bounds over an interval of time.
    pub fn is_bounded(&self, i: usize) -> bool {
        self.bounded[i].is_some()
    }

    /// The bodies that such bounds read.
    pub fn bounded_bodies(&self) -> impl Iterator<Item = usize> {
        self.bounded.iter().flatten().flat_map(|bodies| bodies.list.iter().map(|body| *body as usize))
    }

    /// These bounds, between two frames.
    pub fn enclose(
        &self,
        i: usize,
        motion: &MotionBounds,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        let Some(bodies) = &self.bounded[i] else { return Enclosure::jumping(Interval::ALL) };
        motion.between(&bodies.list, &bodies.indices, a, b, |at| match &self.list[i] {
            Condition::Holds { margin, .. } => self.readings.enclose(margin, at),
            Condition::Reaches { signal, value } => signal.enclose(at) - *value,
        })
    }

    /// The number of them.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether condition `i` reads accelerations or multipliers, itself or through a measure.
    pub fn needs_reactions(&self, i: usize) -> bool {
        self.list[i].readings().any(|r| self.readings.reading_needs_reactions(r))
    }

    /// Returns whether a value that event `i` sets reads them.
    pub fn sets_need_reactions(&self, i: usize) -> bool {
        self.sets[i].iter().any(|r| self.readings.reading_needs_reactions(r))
    }

    /// Returns whether condition `i` depends on the time alone, and changes only at [`breakpoints`](Conditions::breakpoints), which
    /// are all there are: what it compares is affine in time piece by piece.
    pub fn is_timed(&self, i: usize) -> bool {
        let Condition::Holds { margin, .. } = &self.list[i] else { return false };
        let affine = |shape| matches!(shape, TimeShape::Constant | TimeShape::Affine);
        affine(margin.breakpoints(0.0, 1.0, &mut Vec::new(), &of_time))
    }

    /// Adds the times after `from` and up to `to` at which a condition changes because of the time alone.
    pub fn breakpoints(&self, from: f64, to: f64, breaks: &mut Vec<f64>) {
        (0..self.len()).for_each(|i| self.own_breakpoints(i, from, to, breaks));
    }

    /// The same of condition `i`.
    pub fn own_breakpoints(&self, i: usize, from: f64, to: f64, breaks: &mut Vec<f64>) {
        let Condition::Holds { flag, .. } = &self.list[i] else { return };
        let mut own = Vec::new();
        flag.breakpoints(from, to.next_up(), &mut own, &of_time);
        breaks.extend(own.into_iter().filter(|t| *t > from && *t <= to));
    }

    /// The conditions `which` at `s`; where one needs them, with the equations and accelerations there.
    pub fn judge(
        &self,
        which: &[usize],
        m: &mut Mechanism,
        s: &State,
        known: Option<(&Equations, &Accel)>,
        out: &mut [ConditionValue],
    ) {
        self.readings.with_row(m, s, known, |row, at| {
            for &i in which {
                out[i] = match &self.list[i] {
                    Condition::Holds { flag, margin } => {
                        let flag = flag.decide(row);
                        let margin = if flag.is_nan() { flag } else { margin.eval(row) };
                        ConditionValue { holds: flag > 0.0, margin }
                    }
                    Condition::Reaches { signal, value } => {
                        let margin = signal.eval(at) - value;
                        ConditionValue { holds: margin > 0.0, margin }
                    }
                };
            }
        });
    }

    /// Returns what leaves condition `i` undecided at `s`, if it is: something that is not a number.
    pub fn undecided(
        &self,
        i: usize,
        m: &mut Mechanism,
        s: &State,
        known: Option<(&Equations, &Accel)>,
    ) -> Option<String> {
        let Condition::Holds { flag, .. } = &self.list[i] else { return None };
        self.readings.with_row(m, s, known, |row, _| self.readings.undecided(flag, row))
    }

    /// The values that event `i` sets, at `s`.
    pub fn values(
        &self,
        i: usize,
        m: &mut Mechanism,
        s: &State,
        known: Option<(&Equations, &Accel)>,
    ) -> Vec<f64> {
        self.readings.with_row(m, s, known, |row, _| self.sets[i].iter().map(|r| r.eval(row)).collect())
    }
}

/// The bodies that a condition reads; none where its margin has no bounds.
fn bodies(readings: &Columns, condition: &Condition, system: &System) -> Option<ConditionBodies> {
    let mut own = ConditionBodies { list: Vec::new(), indices: vec![0; system.directory.bodies.len()] };
    let mut found = |body: usize| {
        if !own.list.contains(&(body as u32)) {
            own.indices[body] = own.list.len() as u32;
            own.list.push(body as u32);
        }
    };
    let bounded = match condition {
        Condition::Holds { margin, .. } => readings.is_bounded(margin, &mut found),
        Condition::Reaches { signal, .. } => {
            signal.bodies(&mut found);
            true
        }
    };
    bounded.then_some(own)
}

/// The note on an event whose condition compares numbers that change continuously by `==` or `!=`.
fn equates(name: &str) -> String {
    format!(
        "event `{name}`: `==` and `!=` compare numbers that change continuously, and these agree to the last digit at no instant that \
         can be located, so that it may never fire; use a crossing such as `a >= b`"
    )
}

/// Returns how the number of a source changes in time. Measures and outputs of controllers may be flags: they count as held.
fn changes(system: &System, source: &ColumnSource) -> TimeDependence {
    match source {
        ColumnSource::Live(signal) => match **signal {
            Signal::Time => TimeDependence::Affine,
            Signal::Constant(_) | Signal::Nested(_) => TimeDependence::Held,
            Signal::Output(i) => {
                let own = system.controllers.iter().find(|c| (c.out..c.out + c.outputs.len()).contains(&i));
                let state =
                    own.and_then(|c| Some((c, (i - c.out).checked_sub(c.controller.outputs().len())?)));
                match state {
                    Some((c, state)) if !c.controller.is_held(state) => TimeDependence::Continuously,
                    _ => TimeDependence::Held,
                }
            }
            _ => TimeDependence::Continuously,
        },
        ColumnSource::Locked(_) | ColumnSource::Measure(_) | ColumnSource::Own(_) => TimeDependence::Held,
        _ => TimeDependence::Continuously,
    }
}

/// Returns what a signal is as a function of time.
fn of_time(signal: Option<&Signal>) -> TimeSlot<'static> {
    match signal {
        Some(Signal::Time) => TimeSlot::Function(TimeShape::Affine, &|t| t),
        _ => TimeSlot::Other,
    }
}

impl Condition {
    fn readings(&self) -> impl Iterator<Item = &Reading> {
        match self {
            Condition::Holds { flag, margin } => vec![flag, margin],
            Condition::Reaches { .. } => vec![],
        }
        .into_iter()
    }
}
