//! A segment of a run, up to the next break of the right-hand side in time.
//!
//! No step may go over a time at which a driver or force switches: the stages of a long step see nothing of what begins
//! and ends between them, and the error estimate neither. A segment ends at the last floating point number before the
//! break and the next begins at the first one behind it, so that every stage sees one side only, with a first step of
//! its own. Where the speed that a driver asks for jumps, the velocities take the jump there, by the impulse M Δv = Jᵀ μ. A position that
//! jumps ends the run: no motion follows it.
//!
//! A break at the end of a run belongs to the time after it: the run stays at the last number before it, and the last row is the limit from
//! there. Conditions that change there because of the time are judged at the end itself. What their events do acts on the side before.

use crate::recorder::Recorder;
use sarrus_solve::integrators::{Because, Change, Ended, Observer, Samples, continue_drive, integrate};
use sarrus_solve::{Dynamics, Equations, Integrator, Problem, Stage, State, StepControl, StepError};
use sarrus_system::Mechanism;
use sarrus_system::system::WORK;

/// Breaks within this many units in the last place are one.
const NEAR: f64 = 16.0;

/// Marks where a run goes.
#[derive(Clone)]
pub(crate) struct Schedule {
    /// Breaks on the way, in ascending order.
    pub breaks: Vec<f64>,
    /// Start and end \[s\].
    pub span: (f64, f64),
    /// Up to where the breaks are known \[s\].
    pub known: f64,
    /// Marks the point to which end for now \[s\].
    pub until: f64,
    /// True if the first segment continues with what the integrator remembers.
    pub resume: bool,
    /// Events whose conditions change because of the time right at the end of the span.
    pub events_at_end: Vec<usize>,
    /// Position violation that a jump of the constraints themselves is reported from \[m, rad\].
    pub jump: f64,
}

impl Schedule {
    /// Times this near to each other are one \[s\].
    pub fn near(span: (f64, f64)) -> f64 {
        NEAR * f64::EPSILON * span.0.abs().max(span.1.abs())
    }

    /// The end, where a run that stands at `t` is right before a break there \[s\].
    pub fn end_at(&self, t: f64) -> Option<f64> {
        let near = Schedule::near((self.span.0, self.until));
        let is_end = self.until >= self.known && t < self.until && self.until - t <= near;
        (is_end && self.breaks.last().is_some_and(|last| (self.until - last).abs() <= near))
            .then_some(self.until)
    }
}

/// Describes how a segment ended.
pub(crate) enum SegmentEnd {
    /// At an event.
    Event,
    /// Behind a break.
    Break,
    /// With the run.
    Ended(Ended),
}

/// Goes from `state` to the next event or break, or to the end.
pub(crate) fn advance(
    dynamics: &mut Dynamics<'_, Mechanism>,
    integrator: &mut Integrator,
    control: &mut StepControl,
    state: &mut State,
    schedule: &mut Schedule,
    samples: &mut Samples<'_>,
    recorder: &mut Recorder<'_>,
) -> SegmentEnd {
    let t_end = schedule.until;
    let near = Schedule::near((schedule.span.0, t_end));
    let rest = &schedule.breaks[schedule.breaks.partition_point(|t| *t <= state.t)..];
    if !integrator.is_adaptive() {
        // the default is a part of the run, not of its first segment
        control.step.get_or_insert((schedule.span.1 - schedule.span.0) / 1000.0);
    }
    let drive = if std::mem::take(&mut schedule.resume) { continue_drive } else { integrate };
    let segment_end = |ended: Ended| match ended.because {
        Because::Cut => SegmentEnd::Event,
        _ => SegmentEnd::Ended(ended),
    };
    let Some(first) = rest.first().copied().filter(|first| t_end > state.t && *first <= t_end) else {
        return segment_end(drive(dynamics, integrator, control, state, t_end, samples, recorder));
    };
    let last = rest[rest.partition_point(|t| *t <= first + near) - 1];
    let is_last = t_end >= schedule.known && t_end - last <= near;
    // up to the break, and samples inside it
    let before = first.next_down();
    if before - state.t > near {
        let ended = drive(dynamics, integrator, control, state, before, samples, recorder);
        if ended.because != Because::End {
            return segment_end(ended);
        }
        if !is_last {
            recorder.before_switch(dynamics, state);
        } else if !schedule.events_at_end.is_empty() {
            recorder.before_end(dynamics, state, t_end);
            return SegmentEnd::Event;
        }
    }
    if is_last {
        // controllers that are sampled at this instant
        match recorder.change(dynamics, state) {
            Ok(Change::Made) => {}
            Ok(Change::Cut) => return SegmentEnd::Event,
            Err(error) => {
                let because = Because::Failed(error);
                return SegmentEnd::Ended(Ended { at: state.t, because, counts: control.counts });
            }
        }
        while let Some(t) = samples.next_break(t_end) {
            recorder.sample_as(dynamics, state, t);
        }
        return SegmentEnd::Ended(Ended { at: t_end, because: Because::End, counts: control.counts });
    }
    while let Some(t) = samples.peek().filter(|t| *t < last) {
        state.t = state.t.max(t);
        integrate(dynamics, integrator, control, state, t, samples, recorder);
    }

    // the other side
    let crossed = jump(dynamics, state, last, schedule.jump).map_or(Ok(()), Err);
    state.t = last;
    let solve = |source| StepError::Solve { t: last, source };
    // rows that hold rigid contacts may let go there: the run decides that first
    let mut project = || if recorder.gaps.is_some() { Ok(()) } else { cross(dynamics, state).map_err(solve) };
    if let Err(error) = crossed.and_then(|()| project()) {
        let because = Because::Failed(error);
        return SegmentEnd::Ended(Ended { at: last, because, counts: control.counts });
    }
    control.restart();
    SegmentEnd::Break
}

/// The largest jump of the constraints themselves from the time of `state` to `t`, where it is above `most`.
fn jump(dynamics: &mut Dynamics<'_, Mechanism>, state: &mut State, t: f64, most: f64) -> Option<StepError> {
    let mechanism = dynamics.problem_mut();
    let [mut before, mut after] = [Equations::new(mechanism), Equations::new(mechanism)];
    mechanism.update(state, Stage::POSITION, &mut before);
    let here = std::mem::replace(&mut state.t, t);
    mechanism.update(state, Stage::POSITION, &mut after);
    state.t = here;
    let rows = mechanism.structure().rows.iter();
    let holonomic = rows.flat_map(|row| row.start..row.start + row.holonomic);
    let jumps = holonomic.map(|row| (row, after.phi[row] - before.phi[row]));
    let (row, by) = jumps.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    (by.abs() > most).then_some(StepError::Jump { t, row, by })
}

/// Brings the state onto the constraints behind a break.
fn cross(dynamics: &mut Dynamics<'_, Mechanism>, state: &mut State) -> Result<(), sarrus_solve::SolveError> {
    let before = dynamics.problem_mut().energy(state);
    if dynamics.project(state)? {
        // the work of the impulse
        let after = dynamics.problem_mut().energy(state);
        state.x[WORK] += after.kinetic + after.potential - before.kinetic - before.potential;
    }
    Ok(())
}
