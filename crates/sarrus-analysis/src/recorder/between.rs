//! Columns at instants that are no regular rows: ends of steps, peaks inside them, and both sides of what happens.

use super::Recorder;
use crate::instants::{InstantSide, Why};
use crate::peaks::{MOST, Peaks};
use sarrus_model::functions::forget_fault;
use sarrus_solve::integrators::TakenStep;
use sarrus_solve::{Dynamics, Problem, Stage, State};
use sarrus_system::{Columns, Mechanism};

/// Growth of the largest force of a contact that is followed closely: a force that creeps costs nothing.
const GROWN: f64 = 1.001;
/// Parts of a step in which the force of a contact is larger than ever, or was in the step before.
const PARTS: usize = 4;

impl Recorder<'_> {
    /// Fills `row`, the time first, with the columns at `s`; accelerations are `known` where `ode` has evaluated them there.
    pub(super) fn read(
        &mut self,
        ode: &mut Dynamics<'_, Mechanism>,
        columns: &Columns,
        s: &State,
        known: bool,
        row: &mut [f64],
    ) {
        row[0] = s.t;
        if known {
            let (mechanism, eq, accel) = ode.parts();
            columns.row(mechanism, s, eq, accel, &mut row[1..]);
        } else {
            ode.problem_mut().update(s, Stage::FORCE, &mut self.eq);
            columns.row(ode.problem_mut(), s, &self.eq, &self.unknown, &mut row[1..]);
        }
        for (own, &[gap, force, _]) in self.contacts.iter_mut().zip(ode.problem_mut().last_readings()) {
            if force > 0.0 {
                *own = [own[0].max(force), own[1].min(gap)];
            }
        }
    }

    /// The columns at `s` into `self.row`; inside a step `s` is brought onto the constraints first, as samples are.
    fn evaluate(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, is_inside: bool) {
        let Some(columns) = self.columns.clone() else { return };
        let mut here = std::mem::take(&mut self.sample);
        let before = self.gaps.as_ref().and_then(|gaps| gaps.before(s.t));
        here.copy_from(before.unwrap_or(s));
        if before.is_none() && is_inside && ode.project(&mut here).is_err() {
            here.copy_from(s);
        }
        let known = self.accelerations && ode.evaluate(&here).is_ok();
        let mut row = std::mem::take(&mut self.row);
        self.read(ode, &columns, &here, known, &mut row);
        row[0] = s.t;
        (self.row, self.sample) = (row, here);
        // a column without a number is no reason for a step to fail
        forget_fault();
    }

    /// Searches for peaks in a step whose samples have been taken, and notes what holds at its end where something happens there.
    pub(super) fn check_inside(&mut self, step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>) {
        if self.columns.is_none() {
            return;
        }
        if let Some(mut peaks) = self.peaks.take() {
            self.find_peaks(step, &mut peaks);
            self.peaks = Some(peaks);
        }
        if let Some(why) = self.why {
            if self.row[0] != step.end.t {
                self.evaluate(step.ode, step.end, false);
            }
            self.instants.open(&self.row, why, self.events.len());
        }
    }

    fn find_peaks(&mut self, step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>, peaks: &mut Peaks) {
        let (start, end) = (step.info.t, step.end.t);
        let harder = self.note_forces(step.ode.problem());
        // the largest force lies in the step in which it has grown, or in the next
        let must = std::mem::replace(&mut self.harder, harder) || harder;
        peaks.earn(step.ode.counts().rhs);
        let is_inside = |peaks: &Peaks, t: f64| peaks.last().is_some_and(|last| last >= t);
        if (peaks.affords() && !is_inside(peaks, start.next_up())) || must || self.why.is_some() {
            // a force of a contact may come and go in two steps
            let parts = if must { PARTS } else { 1 + usize::from(!peaks.has_two()) };
            for part in 1..parts {
                let t = start + part as f64 / parts as f64 * (end - start);
                if !is_inside(peaks, t)
                    && let Ok((ode, s)) = step.at(t)
                {
                    self.evaluate(ode, s, true);
                    peaks.pay();
                    peaks.add(&self.row);
                }
            }
            if !is_inside(peaks, end) {
                self.evaluate(step.ode, step.end, false);
                peaks.pay();
                peaks.add(&self.row);
            }
        } else if peaks.affords() {
            peaks.check_ahead(end);
        }
        let mut largest = None;
        for _ in 0..MOST {
            let Some(t) = peaks.next_vertex(must) else { break };
            let Ok((ode, s)) = step.at(t) else { break };
            self.evaluate(ode, s, true);
            peaks.pay();
            peaks.add(&self.row);
            if let Some(column) = peaks.largest_force(&self.row) {
                largest = Some((column, self.row.clone()));
            }
        }
        peaks.begin_step(end);
        if let Some((column, row)) = largest {
            peaks.note_force(column, row[column]);
            let name = self.trajectory.names()[column].clone();
            self.instants.push(InstantSide::Peak, name, &row);
        }
    }

    /// Takes the contact forces at the end of a step. Returns whether one of them has grown beyond its largest so far.
    fn note_forces(&mut self, mechanism: &Mechanism) -> bool {
        let mut grown = false;
        for (most, tally) in self.hardest.iter_mut().zip(mechanism.tallies()) {
            if tally.largest_force > GROWN * *most {
                *most = tally.largest_force;
                grown = true;
            }
        }
        grown
    }

    /// A force or a driver switches right behind `s`.
    pub fn before_switch(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State) {
        if self.columns.is_some() {
            self.evaluate(ode, s, false);
            self.peaks.iter_mut().for_each(|peaks| peaks.note(&self.row));
            self.instants.open(&self.row, Why::Switch, self.events.len());
        }
    }

    /// Events may be due at the end of the run, `t` \[s\], right behind `s`.
    pub fn before_end(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, t: f64) {
        if self.columns.is_some() {
            self.evaluate(ode, s, false);
            self.row[0] = t;
            self.peaks.iter_mut().for_each(|peaks| peaks.note(&self.row));
            self.instants.open(&self.row, Why::Event, self.events.len());
        }
    }

    /// The run continues from `s`, where something has happened at the time `t` \[s\].
    pub fn advance(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, t: f64) {
        if !self.instants.is_open() {
            return;
        }
        self.evaluate(ode, s, false);
        self.row[0] = t;
        if let Some(peaks) = &mut self.peaks {
            peaks.part();
            peaks.add(&self.row);
        }
        self.instants.close(Some(&self.row), &self.events);
    }
}
