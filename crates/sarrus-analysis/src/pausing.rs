//! Describes what a run that pauses can be asked: to be changed, kept, restored, read.

use crate::assemble::AssemblyReport;
use crate::error::SetupError;
use crate::events::EventLoop;
use crate::method::Method;
use crate::recorder::Recorder;
use crate::run::Run;
use crate::simulate::Watch;
use crate::start::RowRank;
use sarrus_model::Span;
use sarrus_solve::integrators::{Ended, Observer, Samples};
use sarrus_solve::{Dynamics, Problem, SingularStart, SolveError, State, StepControl};
use sarrus_system::system::WORK;
use sarrus_system::{Columns, Mechanism};
use std::sync::Arc;

/// All of a run that moves, kept to go back to.
#[derive(Clone)]
pub(crate) struct RunSnapshot {
    mechanism: Mechanism,
    state: State,
    control: StepControl,
    events: EventLoop,
    recorder: Recorder<'static>,
    ended: Ended,
    start: RunStart,
}

/// Holds what was found at the start.
#[derive(Clone)]
struct RunStart {
    method: Arc<Method>,
    assembly: AssemblyReport,
    singular_starts: Vec<SingularStart>,
    rows: RowRank,
    not_unique: Option<Vec<String>>,
}

impl Run<'_> {
    /// Nothing but its end bounds it, and samples are taken when it is reported to.
    pub fn unbounded(&mut self) {
        self.recorder.unbound();
        self.samples = Samples::none();
    }

    /// Searches for breaks up to `t` \[s\] and some way beyond.
    pub fn check_ahead(&mut self, t: f64) {
        let schedule = &mut self.events.schedule;
        if t < schedule.known {
            return;
        }
        let (from, to) = (schedule.known, t + (t - schedule.span.0).max(schedule.span.1 - schedule.span.0));
        let mut breaks = self.system.breakpoints(from, to);
        if let Some(detector) = &self.recorder.detector {
            detector.conditions.breakpoints(from, to, &mut breaks);
        }
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        if let Some(sampler) = &mut self.recorder.sampler {
            sampler.extend(&breaks, to);
        }
        schedule.breaks.extend(breaks);
        schedule.known = to;
    }

    /// Something was set that the integrator does not know of.
    pub fn changed(&mut self) {
        self.is_changed = true;
        self.events.redundant = None;
    }

    /// Calls `act` with the equations at hand and the state. They are there after [`go`](Run::go).
    pub fn with_dynamics<T>(
        &mut self,
        act: impl FnOnce(&mut Dynamics<'_, Mechanism>, &mut State) -> T,
    ) -> Result<T, SolveError> {
        let (own, mut dynamics) = match self.pause.take() {
            Some((own, paused)) => (own, paused.resume(&mut self.mechanism)),
            None => {
                // these know nothing of the steps before, nor does the integrator of them
                self.is_changed = true;
                self.events.begin(&mut self.mechanism, &self.state)?
            }
        };
        let done = act(&mut dynamics, &mut self.state);
        self.pause = Some((own, dynamics.rest()));
        Ok(done)
    }

    /// Takes a sample at the present state.
    pub fn sample(&mut self) {
        // a run that has ended for another reason than its end has no equations that hold
        let Some((own, paused)) = self.pause.take() else { return };
        let mut dynamics = paused.resume(&mut self.mechanism);
        self.recorder.sample(&mut dynamics, &self.state);
        self.pause = Some((own, dynamics.rest()));
    }

    /// The columns `columns` at the present state.
    pub fn read(&mut self, columns: &Columns, row: &mut [f64]) -> Result<(), SolveError> {
        self.with_dynamics(|dynamics, s| {
            dynamics.evaluate(s)?;
            let (mechanism, eq, accel) = dynamics.parts();
            columns.row(mechanism, s, eq, accel, row);
            Ok(())
        })?
    }

    /// Continues from another state, whose other energy counts as work. Returns whether it had to be moved onto the constraints, where that is
    /// asked for.
    pub fn replace(&mut self, mut state: State, project: bool) -> Result<bool, SolveError> {
        let moved = self.with_dynamics(|dynamics, old| {
            let moved = project && dynamics.project(&mut state)?;
            let mechanism = dynamics.problem_mut();
            let [before, after] = [&*old, &state].map(|s| mechanism.energy(s));
            state.x[WORK] += after.balance() - before.balance();
            mechanism.accept(&state);
            *old = state;
            Ok::<bool, SolveError>(moved)
        })??;
        self.changed();
        Ok(moved)
    }

    /// The run as it is.
    pub fn snapshot(&self) -> RunSnapshot {
        RunSnapshot {
            mechanism: self.mechanism.clone(),
            state: self.state.clone(),
            control: self.control.clone(),
            events: self.events.clone(),
            recorder: self.recorder.copy(Box::new(())),
            ended: self.ended.clone(),
            start: RunStart {
                method: self.method.clone(),
                assembly: self.assembly.clone(),
                singular_starts: self.singular_starts.clone(),
                rows: self.rows,
                not_unique: self.not_unique.clone(),
            },
        }
    }
}

impl Run<'static> {
    /// Goes back to what was kept.
    pub fn restore(&mut self, snapshot: &RunSnapshot) {
        let RunSnapshot { mechanism, state, control, events, recorder, ended, start } = snapshot.clone();
        // another start may have led to another method; this one was made before
        if !Arc::ptr_eq(&self.method, &start.method)
            && let Ok(integrator) = start.method.new_integrator()
        {
            self.integrator = integrator;
        }
        (self.method, self.assembly, self.singular_starts) =
            (start.method, start.assembly, start.singular_starts);
        (self.rows, self.not_unique) = (start.rows, start.not_unique);
        (self.mechanism, self.state, self.control) = (mechanism, state, control);
        let watch = self.recorder.unwatch();
        (self.events, self.recorder, self.ended) = (events, recorder.copy(watch), ended);
        self.pause = None;
    }

    /// Gives the observer to another run.
    pub fn hand_over(&mut self, other: &mut Run<'static>) {
        let watch = self.recorder.unwatch();
        other.recorder = other.recorder.copy(watch);
    }

    /// Another one that continues from here.
    pub fn copy(&self, watch: Box<dyn Watch>) -> Result<Run<'static>, SetupError> {
        let bad = |source| SetupError::Method { source, at: Span::NONE };
        let RunSnapshot { mechanism, state, control, events, recorder, ended, start } = self.snapshot();
        Ok(Run {
            settings: self.settings.clone(),
            mechanism,
            state,
            recorder: recorder.copy(watch),
            method: start.method,
            system: self.system.clone(),
            model: self.model.clone(),
            case: self.case.clone(),
            integrator: self.method.new_integrator().map_err(bad)?,
            control,
            samples: Samples::none(),
            events,
            pause: None,
            ended,
            assembly: start.assembly,
            singular_starts: start.singular_starts,
            rows: start.rows,
            not_unique: start.not_unique,
            is_changed: false,
            spent: self.spent,
        })
    }
}
