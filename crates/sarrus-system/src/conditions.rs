//! The conditions of events and the values that they set, bound to the columns that they read.
//!
//! A condition is kept twice: as it stands, which tells whether it holds, and as its margin, a number that is positive where
//! it holds, by which the instant of its change is found. Of a coordinate that is to reach a value the margin is the way
//! that is left, taken positive beyond.

use crate::columns::{Columns, Reading};
use crate::events::{Limit, Lock, When};
use crate::mechanism::Mechanism;
use crate::signal::Signal;
use crate::system::{Family, System};
use sarrus_model::expr::{Shape, TimeSlot};
use sarrus_model::{Diagnostic, Model};
use sarrus_solve::{Accel, Equations, State};
use std::sync::Arc;

/// The conditions of a system's events, in their order.
#[derive(Clone)]
pub struct Conditions {
    readings: Columns,
    list: Vec<Condition>,
    sets: Vec<Vec<Reading>>,
}

#[derive(Clone)]
enum Condition {
    Holds { flag: Reading, margin: Reading },
    Reaches { signal: Box<Signal>, value: f64 },
    Hits { signals: Box<[Signal; 2]>, limit: Limit },
    Leaves(Limit),
}

/// What a condition is at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Whether it holds; of a coordinate that is to reach a value, whether it is beyond it.
    pub holds: bool,
    /// How far it is from changing.
    pub margin: f64,
}

impl Conditions {
    /// Binds the conditions of `system`'s events.
    pub fn new(model: &Model, system: &Arc<System>) -> Result<Conditions, Vec<Diagnostic>> {
        let events = &system.whole.events.list;
        let mut errors = Vec::new();
        let all = if events.is_empty() { Columns::none() } else { Columns::all(model, system)? };
        let index = all.index();
        let (mut list, mut sets) = (Vec::new(), Vec::new());
        for event in events {
            match &event.when {
                When::Reaches { joint, coordinate, value } => {
                    let joint = &system.directory.joints[*joint];
                    let [a, b] = joint.bodies.map(|body| body as usize);
                    let signal = Box::new(Signal::Coordinate(joint.coordinate(*coordinate, a, b)));
                    list.push(Condition::Reaches { signal, value: *value });
                }
                When::Hits(limit) => {
                    let joint = &system.directory.joints[limit.lock.joint];
                    let [a, b] = joint.bodies.map(|body| body as usize);
                    let c = joint.coordinate(limit.lock.coordinate.unwrap_or(0), a, b);
                    let signals = Box::new([Signal::Coordinate(c.clone()), Signal::Speed(c)]);
                    list.push(Condition::Hits { signals, limit: *limit });
                }
                When::Leaves(limit) => list.push(Condition::Leaves(*limit)),
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
                        Ok((flag, margin)) => list.push(Condition::Holds { flag, margin }),
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
        Ok(Conditions { readings, list, sets })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether condition `i` reads accelerations or multipliers, itself or through a measure.
    pub fn needs_reactions(&self, i: usize) -> bool {
        self.list[i].readings().any(|r| self.readings.reading_needs_reactions(r))
    }

    /// Whether one of the conditions `which` asks what a stop bears on which `system` rests.
    pub fn ask_stops(&self, which: &[usize], system: &System) -> bool {
        let mut leaves = which.iter().filter_map(|&i| match &self.list[i] {
            Condition::Leaves(limit) => Some(limit),
            _ => None,
        });
        match leaves.next() {
            None => false,
            Some(first) => {
                let locks = locks(system);
                std::iter::once(first).chain(leaves).any(|limit| held(&locks, limit).is_some())
            }
        }
    }

    /// Whether a value that event `i` sets reads them.
    pub fn sets_need_reactions(&self, i: usize) -> bool {
        self.sets[i].iter().any(|r| self.readings.reading_needs_reactions(r))
    }

    /// Whether condition `i` depends on the time alone, and changes only at [`breakpoints`](Conditions::breakpoints), which
    /// are all there are: what it compares is affine in time piece by piece.
    pub fn is_timed(&self, i: usize) -> bool {
        let Condition::Holds { margin, .. } = &self.list[i] else { return false };
        let affine = |shape| matches!(shape, Shape::Constant | Shape::Affine);
        affine(margin.breakpoints(0.0, 1.0, &mut Vec::new(), &of_time))
    }

    /// Adds the times between `from` and `to` at which a condition changes because of the time alone.
    pub fn breakpoints(&self, from: f64, to: f64, breaks: &mut Vec<f64>) {
        for condition in &self.list {
            let Condition::Holds { flag, .. } = condition else { continue };
            let mut own = Vec::new();
            flag.breakpoints(from, to, &mut own, &of_time);
            breaks.extend(own.into_iter().filter(|t| *t > from && *t < to));
        }
    }

    /// The conditions `which` at `s`; where one needs them, with the equations and accelerations there.
    pub fn judge(
        &self,
        which: &[usize],
        m: &mut Mechanism,
        s: &State,
        known: Option<(&Equations, &Accel)>,
        out: &mut [Verdict],
    ) {
        let limited =
            which.iter().any(|&i| matches!(self.list[i], Condition::Hits { .. } | Condition::Leaves(_)));
        let system = m.system().clone();
        let locks = if limited { locks(&system) } else { Vec::new() };
        self.readings.with_row(m, s, known, |row, at| {
            for &i in which {
                out[i] = match &self.list[i] {
                    Condition::Holds { flag, margin } => {
                        Verdict { holds: flag.eval(row) != 0.0, margin: margin.eval(row) }
                    }
                    Condition::Reaches { signal, value } => {
                        let margin = signal.eval(at) - value;
                        Verdict { holds: margin > 0.0, margin }
                    }
                    Condition::Hits { signals, limit } => {
                        let margin = limit.side * (signals[0].eval(at) - limit.value);
                        let outward = limit.side * signals[1].eval(at) > 0.0;
                        if held(&locks, limit).is_some() || (margin >= 0.0 && !outward) {
                            // at the stop and not going through it: false, however near
                            NEVER
                        } else {
                            Verdict { holds: margin >= 0.0, margin }
                        }
                    }
                    Condition::Leaves(limit) => match (held(&locks, limit), known) {
                        (Some(row), Some((eq, accel))) => pulls(limit, row, eq, accel),
                        _ => NEVER,
                    },
                };
            }
        });
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

/// What does not hold, by more than rounding.
const NEVER: Verdict = Verdict { holds: false, margin: f64::NEG_INFINITY };
/// A stop that pulls with less than this part of what acts does not pull.
const PULL: f64 = 1e-10;

/// Locks that hold in `system`, with their rows.
fn locks(system: &System) -> Vec<(Lock, usize)> {
    let elements = system.elements.iter().filter(|e| e.family == Family::Lock);
    elements.filter_map(|e| Some((e.lock?, e.start))).collect()
}

/// The row that holds a coordinate at a stop, if it rests there.
fn held(locks: &[(Lock, usize)], limit: &Limit) -> Option<usize> {
    locks.iter().find(|(lock, _)| lock.is_same(&limit.lock) && lock.at == limit.lock.at).map(|(_, row)| *row)
}

/// The stop pushes with -λ against its side.
fn pulls(limit: &Limit, row: usize, eq: &Equations, accel: &Accel) -> Verdict {
    let largest = |list: &[f64]| list.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let margin = -limit.side * accel.lambda[row];
    Verdict { holds: margin > PULL * largest(&eq.f).max(largest(&accel.lambda)), margin }
}

/// What a signal is as a function of time.
fn of_time(signal: Option<&Signal>) -> TimeSlot<'static> {
    match signal {
        Some(Signal::Time) => TimeSlot::Function(Shape::Affine, &|t| t),
        _ => TimeSlot::Other,
    }
}

impl Condition {
    fn readings(&self) -> impl Iterator<Item = &Reading> {
        match self {
            Condition::Holds { flag, margin } => vec![flag, margin],
            Condition::Reaches { .. } | Condition::Hits { .. } | Condition::Leaves(_) => vec![],
        }
        .into_iter()
    }
}
