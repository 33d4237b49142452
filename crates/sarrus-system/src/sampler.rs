//! The clock of the sampled controllers, and what they do when it strikes.
//!
//! Sample k of a controller falls on t_0 + k·period, its outputs act from t_0 + k·period + delay: products, not sums of
//! what came before, so that nothing accumulates. Instants that differ by rounding are one, and one that so falls on a break
//! of the right-hand side, or on the end of the run, is that; a period must be long enough to be distinguished from rounding. Everything
//! that is due at an instant reads the same, whatever the order of the controllers: what holds behind what switches or
//! happens at that instant (a break of a force, the lock of an event), under the outputs that act until then.

use crate::columns::{ColumnIndex, ColumnSource, Columns, Reading};
use crate::controllers::sampling::{OwnNames, Sampling};
use crate::mechanism::Mechanism;
use crate::signal::Signal;
use crate::system::{ControllerElement, System};
use sarrus_model::{Diagnostic, Model, Reader};
use sarrus_solve::{Accel, Equations, State};
use std::sync::Arc;

/// Instants within this many units in the last place are one.
const NEAR: f64 = 16.0;

/// The sampled controllers of a run.
#[derive(Clone)]
pub struct Sampler {
    readings: Columns,
    list: Vec<Clocked>,
    from: f64,
    /// Breaks and the end, in ascending order: instants close to one of them fall on it.
    marks: Vec<f64>,
    near: f64,
    next: f64,
    /// True if outputs act at once, as at rest, where what waits is what acts.
    is_static: bool,
}

/// A controller and how far it has come.
#[derive(Clone)]
struct Clocked {
    element: ControllerElement,
    reads: Vec<Reading>,
    needs_reactions: bool,
    /// Samples taken.
    samples: u64,
    /// Samples whose outputs act.
    acting: u64,
    /// True if a sample is due at the instant at hand.
    due: bool,
    /// Holds what was read.
    values: Vec<f64>,
    outputs: Vec<f64>,
    /// Its states before the instant at hand.
    before: Vec<f64>,
}

impl Sampler {
    /// Binds what the sampled controllers of `system` read, for a run over `span`, from start to end \[s\], with breaks of the
    /// right-hand side at `breaks`.
    pub fn new(
        model: &Model,
        system: &Arc<System>,
        span: (f64, f64),
        breaks: &[f64],
    ) -> Result<Sampler, Vec<Diagnostic>> {
        let sampled = || system.controllers.iter().filter_map(|c| Some((c, c.controller.sampling()?)));
        let mut readings =
            if sampled().next().is_some() { Columns::all(model, system)? } else { Columns::none() };
        let near = NEAR * f64::EPSILON * span.0.abs().max(span.1.abs());
        let (mut list, mut errors) = (Vec::new(), Vec::new());
        let index = readings.index();
        for (element, sampling) in sampled() {
            if !(sampling.times.period > 2.0 * near) {
                errors.push(too_short(model, &element.name, 2.0 * near, span));
                continue;
            }
            match bind(model, system, (&readings, &index), element, sampling) {
                Ok(reads) => list.push(Clocked {
                    needs_reactions: reads.iter().any(|r| readings.reading_needs_reactions(r)),
                    element: element.clone(),
                    samples: 0,
                    acting: 0,
                    due: false,
                    values: vec![0.0; reads.len()],
                    outputs: vec![0.0; sampling.outputs],
                    before: vec![0.0; element.controller.states()],
                    reads,
                }),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        readings.keep_for(list.iter().flat_map(|c| &c.reads));
        let marks: Vec<f64> = breaks.iter().copied().chain([span.1]).collect();
        let mut sampler =
            Sampler { readings, list, from: span.0, marks, near, next: f64::INFINITY, is_static: false };
        sampler.next = sampler.find_next();
        Ok(sampler)
    }

    /// Breaks that lie beyond the end that it was made for, up to another.
    pub fn extend(&mut self, breaks: &[f64], end: f64) {
        self.marks.extend(breaks.iter().copied().chain([end]));
        self.next = self.find_next();
    }

    /// The same for a mechanism at rest: outputs act without delay, and all that wait are the same.
    pub fn static_sampler(self) -> Sampler {
        Sampler { is_static: true, ..self }
    }

    /// Returns whether nothing is sampled.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The next instant at which a controller looks or acts \[s\]; infinite where there is none.
    pub fn next(&self) -> f64 {
        self.next
    }

    /// Returns whether what is due at `t` reads accelerations or multipliers.
    pub fn needs_reactions(&self, t: f64) -> bool {
        self.list.iter().any(|c| c.needs_reactions && self.sample_time(c) <= t + self.near)
    }

    /// Does all that is due at `s`; where [`needs_reactions`](Sampler::needs_reactions) says so, with the equations and
    /// accelerations there. Returns whether any of x has changed.
    pub fn act(&mut self, m: &mut Mechanism, s: &mut State, known: Option<(&Equations, &Accel)>) -> bool {
        let t = s.t + self.near;
        for i in 0..self.list.len() {
            self.list[i].due = self.sample_time(&self.list[i]) <= t;
        }
        let list = &mut self.list;
        self.readings.with_row(m, s, known, |row, _| {
            for c in list.iter_mut().filter(|c| c.due) {
                for (i, read) in c.reads.iter().enumerate() {
                    let (own, rest) = c.values.split_at_mut(i);
                    rest[0] = read.eval(&row.with_own(own));
                }
            }
        });
        let mut changed = false;
        for i in 0..self.list.len() {
            let waits = self.list[i].sample(s, self.is_static);
            while waits && self.list[i].acting < self.list[i].samples && self.acting_time(&self.list[i]) <= t
            {
                self.list[i].let_act(s);
            }
            let c = &self.list[i];
            changed |= c.before != s.x[c.element.x..][..c.before.len()];
        }
        self.next = self.find_next();
        changed
    }

    fn find_next(&self) -> f64 {
        let of = |c: &Clocked| match c.acting < c.samples {
            true => self.sample_time(c).min(self.acting_time(c)),
            false => self.sample_time(c),
        };
        self.list.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    fn sample_time(&self, c: &Clocked) -> f64 {
        let period = c.sampling().map_or(f64::INFINITY, |s| s.times.period);
        self.mark(self.from + c.samples as f64 * period)
    }

    fn acting_time(&self, c: &Clocked) -> f64 {
        let time = |s: &Sampling| self.from + c.acting as f64 * s.times.period + s.times.delay;
        self.mark(c.sampling().map_or(f64::INFINITY, time))
    }

    /// `t`, or the mark that it differs from by rounding.
    fn mark(&self, t: f64) -> f64 {
        let first = self.marks.partition_point(|mark| *mark < t - self.near);
        self.marks.get(first).copied().filter(|mark| *mark <= t + self.near).unwrap_or(t)
    }
}

impl Clocked {
    fn sampling(&self) -> Option<&Sampling> {
        self.element.controller.sampling()
    }

    /// Takes the sample that is due, if one is. Returns whether outputs wait before they act.
    fn sample(&mut self, s: &mut State, is_static: bool) -> bool {
        let Clocked { element, values, outputs, before, .. } = self;
        let x = &mut s.x[element.x..][..before.len()];
        before.copy_from_slice(x);
        let Some(sampling) = element.controller.sampling() else { return false };
        let waiting = sampling.times.waiting();
        if self.due {
            let (held, rest) = x.split_at_mut(sampling.outputs);
            let (states, queue) = rest.split_at_mut(sampling.states);
            sampling.law.sample(values, self.samples == 0, states, outputs);
            if is_static {
                held.copy_from_slice(outputs);
                queue.chunks_exact_mut(outputs.len().max(1)).for_each(|wait| wait.copy_from_slice(outputs));
            } else if waiting == 0 {
                held.copy_from_slice(outputs);
            } else {
                let index = (self.samples % waiting as u64) as usize * outputs.len();
                queue[index..index + outputs.len()].copy_from_slice(outputs);
            }
            self.samples += 1;
        }
        let waits = waiting > 0 && !is_static;
        if !waits {
            self.acting = self.samples;
        }
        waits
    }

    /// The outputs that have waited longest act.
    fn let_act(&mut self, s: &mut State) {
        let Some(sampling) = self.element.controller.sampling() else { return };
        let x = &mut s.x[self.element.x..][..self.before.len()];
        let (held, rest) = x.split_at_mut(sampling.outputs);
        let index = (self.acting % sampling.times.waiting() as u64) as usize * held.len();
        held.copy_from_slice(&rest[sampling.states + index..][..held.len()]);
        self.acting += 1;
    }
}

/// Samples so close that two of them may fall on one instant, each being moved by half of `least` \[s\].
fn too_short(model: &Model, name: &str, least: f64, (from, to): (f64, f64)) -> Diagnostic {
    let message = format!("`period` of controller `{name}` is too short to be distinguished from rounding");
    let error = match model.controllers.iter().find(|element| element.name == name) {
        Some(element) => Reader::open(model, element).error("period", message),
        None => Diagnostic::bare(message),
    };
    error.hint(format!("times from {from} to {to} s are distinguished from {least:.1e} s on; a controller without `period` is continuous"))
}

/// Binds what a controller reads.
fn bind(
    model: &Model,
    system: &System,
    (readings, index): (&Columns, &ColumnIndex),
    element: &ControllerElement,
    sampling: &Sampling,
) -> Result<Vec<Reading>, Diagnostic> {
    let (outputs, states) = element.outputs.split_at(sampling.outputs);
    let state = |(name, slot): &'_ (String, usize)| {
        (name.clone(), ColumnSource::Live(Box::new(Signal::Output(*slot))))
    };
    let states: Vec<(String, ColumnSource)> = states.iter().map(state).collect();
    let fresh = outputs.iter().enumerate().map(|(k, (name, _))| (name.clone(), ColumnSource::Own(k)));
    let all: Vec<(String, ColumnSource)> = states.iter().cloned().chain(fresh).collect();
    let reads = sampling.reads.iter().map(|read| {
        let own: &[(String, ColumnSource)] = match read.own {
            OwnNames::None => &[],
            OwnNames::States => &states,
            OwnNames::All => &all,
        };
        let own: Vec<(&str, ColumnSource)> =
            own.iter().map(|(name, source)| (name.as_str(), source.clone())).collect();
        readings.bind(model, system, index, &read.expr, &own)
    });
    reads.collect()
}
