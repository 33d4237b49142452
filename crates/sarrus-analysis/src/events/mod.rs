//! A run with events: segments between the instants at which something happens, and what happens there.
//!
//! A segment ends where a condition becomes true ([`detect`]) or where something switches because of the time alone. The events
//! that are due there act one after the other, in the order of the file and after joints with `lock_at`: rows are added or
//! taken away, forces switched, states set, and where rows begin to act velocities jump ([`jump`]). The energy that is lost
//! by it is booked as dissipated, a gain (a driver that sets off, a spring that is enabled under load) as work. Then all
//! conditions are checked again, until nothing more happens at that instant, and the run continues with the system of what
//! acts. Rigid contacts and rigid limits of joints ([`rigid`]) are no part of such a jump: they only push, and what they do
//! follows behind it.
//!
//! An event that chatters ends the run ([`chatter`]).

mod active;
mod advance;
mod chatter;
mod contact_detector;
mod dead_centre;
mod detect;
mod features;
mod jump;
mod kinks;
mod limits;
mod peaks;
mod rigid;
mod search;
mod slides;
mod stays;
mod switches;
mod watch;
mod windows;

pub(crate) use active::{Active, EventChanges, GapHold};
pub(crate) use advance::{Advance, Ahead};
pub(crate) use contact_detector::ContactDetector;
pub(crate) use detect::{Detector, TOGETHER};
pub(crate) use kinks::Kinks;
pub(crate) use rigid::{ContactTally, GapWatch, LimitExcess};
pub(crate) use slides::Slides;
pub(crate) use switches::Switches;

use crate::method::Method;
use crate::recorder::{Recorder, RunStop};
use crate::redundancy::with_contacts;
use crate::report::{EventReport, SingularReport};
use crate::run::not_unique;
use crate::schedule::{Schedule, SegmentEnd, advance};
use crate::settings::Settings;
use crate::start::RowRank;
use chatter::{Firings, MOST};
use jump::Rebuilt;
use sarrus_model::settings::Coordinates;
use sarrus_solve::integrators::{Because, Ended, InChart, Samples, TakenStep};
use sarrus_solve::{
    Counts, Dynamics, Equations, Integrator, MethodStatistics, PausedDynamics, Problem, SolveError, Stage,
    State, StepControl, StepError,
};
use sarrus_system::system::{DISSIPATED, NearSingular, WORK};
use sarrus_system::{Mechanism, System, Tree};
use std::sync::Arc;

/// A step of a mechanism, with its dense output.
type MechanismStep<'a, 'b> = TakenStep<'a, Dynamics<'b, Mechanism>>;

/// A run that continues through events.
#[derive(Clone)]
pub(crate) struct EventLoop {
    /// The system at the start.
    pub system: Arc<System>,
    /// Describes how it is made.
    pub method: Arc<Method>,
    /// The way.
    pub schedule: Schedule,
    /// Holds what acts.
    pub active: Active,
    /// Holds what the segments so far have cost.
    pub counts: Counts,
    /// Holds what the methods found on the segments so far.
    pub found: [MethodStatistics; 2],
    /// The nearest that Euler angles came to their singularity on the segments so far.
    pub nearest: Option<NearSingular>,
    /// Singular positions met on the segments so far.
    pub singular: Vec<SingularReport>,
    /// Time when an integrator that resolves the constraints itself was first left to itself near one \[s\].
    pub fallback_left: Option<f64>,
    /// The event that the run failed at, if it did.
    pub failed_at: Option<String>,
    /// Columns of reactions and efforts that are not unique with what acted after an event.
    pub not_unique: Vec<String>,
    /// Rows that were judged by it, by the numbers of their elements.
    judged: Vec<Vec<usize>>,
    /// Rows that depend on others at the start, where singular values tell; none once that is behind or changed.
    pub redundant: Option<Option<usize>>,
    firings: Firings,
    /// Largest speed of an impact, by rigid limit.
    hardest: Vec<f64>,
    /// When gaps were checked last, and how often then.
    touched_at: f64,
    at_once: usize,
    /// Time when a contact slid over the end of its surface last.
    passed_at: f64,
    /// True if contacts that are held share their forces in more than one way.
    is_shared: bool,
    /// Events that fired at the instant at hand, each with whether its condition held just before.
    fired: Vec<(usize, bool)>,
    begun: bool,
}

/// The equations of a segment that is not at its end, with the integrator where it has one of its own.
pub(crate) type Pause = (Option<Integrator>, PausedDynamics);

/// Reason why a run could not begin.
pub(crate) enum NoStart {
    /// Equations cannot be solved.
    Equations(SolveError),
    /// Rigid bodies are in each other: the contact, and how deep \[m\].
    Overlap(String, f64),
}

impl EventLoop {
    /// One that has not begun.
    pub fn new(system: &Arc<System>, method: &Arc<Method>, schedule: Schedule) -> EventLoop {
        EventLoop {
            firings: Firings::new(system.all.events.list.len(), schedule.span),
            hardest: vec![0.0; system.all.events.limits.len()],
            touched_at: f64::NAN,
            at_once: 0,
            passed_at: f64::NAN,
            is_shared: false,
            fired: Vec::new(),
            begun: false,
            system: system.clone(),
            method: method.clone(),
            schedule,
            active: Active::new(system),
            counts: Counts::default(),
            found: Default::default(),
            nearest: None,
            singular: Vec::new(),
            fallback_left: None,
            failed_at: None,
            not_unique: Vec::new(),
            judged: Vec::new(),
            redundant: None,
        }
    }

    /// One that goes nowhere.
    pub fn paused_dynamics(system: &Arc<System>, method: &Method, settings: &Settings) -> EventLoop {
        let span = (settings.t_start, settings.t_end);
        let jump = settings.certify.position;
        let schedule = Schedule {
            breaks: Vec::new(),
            span,
            known: span.1,
            until: span.1,
            resume: false,
            events_at_end: Vec::new(),
            jump,
        };
        EventLoop::new(system, &Arc::new(method.clone()), schedule)
    }

    /// Goes from `state` to the end of the route. Where that is reached, `pause` is what a later call continues with.
    pub fn run_segment(
        &mut self,
        pause: &mut Option<Pause>,
        mechanism: &mut Mechanism,
        integrator: &mut Integrator,
        control: &mut StepControl,
        state: &mut State,
        samples: &mut Samples<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<Ended, NoStart> {
        let mut started = self.begun;
        let touched = if self.begun { Ok(()) } else { self.touch(mechanism, state, recorder) };
        if self.active.has_holds() {
            self.redundant = None;
        }
        if let Err(error) = touched {
            return match error {
                StepError::Solve { source, .. } | StepError::Project { source, .. } => {
                    Err(self.overlap(mechanism, state, recorder).unwrap_or(NoStart::Equations(source)))
                }
                error => Ok(Ended { at: state.t, because: Because::Failed(error), counts: control.counts }),
            };
        }
        loop {
            let ended = |because, control: &StepControl, t| Ended { at: t, because, counts: control.counts };
            let failed = |source, control: &StepControl, t| {
                ended(Because::Failed(StepError::Solve { t, source }), control, t)
            };
            let made = match pause.take() {
                Some((own, paused)) => Ok((own, paused.resume(mechanism))),
                None => {
                    self.schedule.resume = false;
                    self.begin(mechanism, state)
                }
            };
            let (mut own, mut dynamics) = match made {
                Ok(made) => made,
                Err(source) if !started => return Err(NoStart::Equations(source)),
                Err(source) => return Ok(failed(source, control, state.t)),
            };
            let integrator = match &mut own {
                Some(own) => own,
                None => &mut *integrator,
            };
            if std::mem::replace(&mut started, true) {
                self.judge_reactions(dynamics.problem_mut(), state);
            }
            self.begun = true;
            self.redundant = None;
            // segments with the same rows, until something happens
            let mut behind = false;
            let due = loop {
                if let Some(slides) = &mut recorder.slides {
                    match slides.correct(&mut dynamics, state) {
                        Ok(true) => control.restart(),
                        Ok(false) => {}
                        Err(source) => break Err(failed(source, control, state.t)),
                    }
                }
                // also where the segment before was interrupted in that very step
                if recorder.gaps.as_mut().is_some_and(GapWatch::met) {
                    break Ok(Vec::new());
                }
                let looked = match &mut recorder.detector {
                    Some(detector) => {
                        let end =
                            self.schedule.end_at(state.t).map(|t| (t, &self.schedule.events_at_end[..]));
                        detector.check(&mut dynamics, state, end, &self.fired)
                    }
                    None => Ok(Vec::new()),
                };
                let way = match looked {
                    Ok(due) if !due.is_empty() => break Ok(due),
                    Ok(_) => {
                        self.fired.clear();
                        recorder.advance(&mut dynamics, state, self.time(state));
                        advance(
                            &mut dynamics,
                            integrator,
                            control,
                            state,
                            &mut self.schedule,
                            samples,
                            recorder,
                        )
                    }
                    Err(source) => SegmentEnd::Ended(failed(source, control, state.t)),
                };
                match way {
                    SegmentEnd::Ended(ended) => break Err(ended),
                    // contacts may let go where a force or a driver switches
                    SegmentEnd::Break if recorder.gaps.is_some() => {
                        behind = true;
                        break Ok(Vec::new());
                    }
                    SegmentEnd::Break if recorder.contradicts(dynamics.problem_mut(), state) => {
                        break Err(ended(Because::Stopped, control, state.t));
                    }
                    SegmentEnd::Break | SegmentEnd::Event => {}
                }
                if recorder.contact_detector.as_mut().is_some_and(ContactDetector::met) {
                    control.restart();
                }
            };
            if let Err(ended) = &due
                && ended.because == Because::End
            {
                *pause = Some((own, dynamics.rest()));
                return Ok(ended.clone());
            }
            self.close(&dynamics);
            if behind {
                let mut free = match self.cross(mechanism, state) {
                    Ok(free) => free,
                    Err(error) => return Ok(ended(Because::Failed(error), control, state.t)),
                };
                recorder.enter(&mut free, state);
                if recorder.contradicts(&mut free, state) {
                    return Ok(ended(Because::Stopped, control, state.t));
                }
            }
            let due = match due {
                Ok(due) => due,
                // the surface that a contact slides along may end here
                Err(Ended {
                    because: Because::Failed(StepError::Solve { .. } | StepError::Project { .. }),
                    ..
                }) if self.pass_edge(mechanism, state, recorder) => Vec::new(),
                Err(ended) => {
                    self.note(mechanism);
                    return Ok(ended);
                }
            };
            self.fired.clear();
            for i in due {
                let held = recorder.detector.as_ref().is_some_and(|d| d.holds(i));
                self.fired.push((i, held));
                if let Err(error) = self.fire(i, mechanism, state, recorder) {
                    self.failed_at = Some(self.system.all.events.list[i].name.clone());
                    return Ok(ended(Because::Failed(error), control, state.t));
                }
                if recorder.stop.is_some() {
                    if let Err(error) = self.touch(mechanism, state, recorder) {
                        return Ok(ended(Because::Failed(error), control, state.t));
                    }
                    // the instant itself, between two samples
                    if let Ok(mut dynamics) = self.dynamics(mechanism, state) {
                        recorder.advance(&mut dynamics, state, self.time(state));
                        let t = self.time(state);
                        if !recorder.has_sample(t) {
                            recorder.sample_as(&mut dynamics, state, t);
                        }
                    }
                    return Ok(ended(Because::Stopped, control, self.time(state)));
                }
                control.restart();
            }
            if recorder.gaps.is_some() {
                if let Err(error) = self.touch(mechanism, state, recorder) {
                    return Ok(ended(Because::Failed(error), control, state.t));
                }
                if recorder.stop.is_some() {
                    return Ok(ended(Because::Stopped, control, state.t));
                }
                control.restart();
            }
        }
    }

    /// The time that is reported at `state`: the end, where a run stands right before a break there \[s\].
    fn time(&self, state: &State) -> f64 {
        self.schedule.end_at(state.t).unwrap_or(state.t)
    }

    /// The equations of what acts, and the integrator where it is one of their own.
    pub fn begin<'m>(
        &self,
        mechanism: &'m mut Mechanism,
        state: &State,
    ) -> Result<(Option<Integrator>, Dynamics<'m, Mechanism>), SolveError> {
        Ok((self.charted(mechanism)?, self.dynamics(mechanism, state)?))
    }

    /// Notes which reactions are not unique with the rows that act from `s` on, once for each set of rows that events leave. Rows that hold
    /// gaps take part, and are no such set: what they share is judged where they close.
    fn judge_reactions(&mut self, mechanism: &mut Mechanism, s: &State) {
        let held = self.active.hold_ids();
        let ids = mechanism.system().elements.iter().map(|e| e.id);
        let acting: Vec<usize> = ids.filter(|id| held.binary_search(id).is_err()).collect();
        let at_start = || self.system.elements.iter().map(|e| e.id).eq(acting.iter().copied());
        if self.judged.contains(&acting) || at_start() {
            return;
        }
        self.judged.push(acting);
        let found = match held.is_empty() {
            true => judge(mechanism, s),
            false => with_contacts(mechanism, s).map_or_else(Vec::new, |found| found.not_unique()),
        };
        let new = found.into_iter().filter(|column| !self.not_unique.contains(column)).collect::<Vec<_>>();
        self.not_unique.extend(new);
    }

    /// The equations of what acts, with methods of their own.
    fn dynamics<'m>(
        &self,
        mechanism: &'m mut Mechanism,
        state: &State,
    ) -> Result<Dynamics<'m, Mechanism>, SolveError> {
        // both were made before the run, from the same options
        let none = |_| SolveError::NotFinite { quantity: "options", index: 0 };
        let formulation = self.method.new_formulation().map_err(none)?;
        let stabilization = self.method.new_stabilization().map_err(none)?;
        let mut dynamics = Dynamics::new(mechanism, formulation, stabilization)?;
        self.method.regularize(&mut dynamics)?;
        // pivots alone may not show how many rows are redundant; what cannot be factored shows when it is run
        let redundant = self.redundant.unwrap_or_else(|| {
            let mechanism = dynamics.problem_mut();
            let mut eq = Equations::new(mechanism);
            mechanism.update(state, Stage::POSITION, &mut eq);
            let structure = mechanism.structure();
            RowRank::find(structure, &eq).ok().and_then(|rows| rows.rank_to_resolve(structure))
        });
        if let Some(redundant) = redundant {
            let _ = dynamics.resolve_rank(state, redundant);
        }
        Ok(dynamics)
    }

    /// The integrator in coordinates of the joints that act, where the run is made in such.
    fn charted(&self, mechanism: &Mechanism) -> Result<Option<Integrator>, SolveError> {
        if self.method.coordinates == Coordinates::Absolute {
            return Ok(None);
        }
        // made before the run, from the same options; the system was laid out by the same rules
        let none = || SolveError::NotFinite { quantity: "options", index: 0 };
        let tree = Tree::new(mechanism.system(), mechanism.discrete()).map_err(|_| none())?;
        match self.method.new_integrator() {
            Ok(Integrator::Ode(method)) => {
                let method = InChart::new(method, Box::new(tree), self.method.articulated);
                Ok(Some(Integrator::Ode(Box::new(method))))
            }
            _ => Err(none()),
        }
    }

    /// The run with what the segment that it paused in has cost and found.
    pub fn so_far(&self, pause: &mut Option<Pause>, mechanism: &mut Mechanism) -> EventLoop {
        let mut events = self.clone();
        if let Some((own, paused)) = pause.take() {
            let dynamics = paused.resume(mechanism);
            events.close(&dynamics);
            *pause = Some((own, dynamics.rest()));
            events.note(mechanism);
        }
        events
    }

    /// Takes down what a segment has cost and found.
    fn close(&mut self, dynamics: &Dynamics<'_, Mechanism>) {
        let (segment, all) = (dynamics.counts(), &mut self.counts);
        all.rhs += segment.rhs;
        all.factorizations += segment.factorizations;
        all.refinements += segment.refinements;
        all.projection_iterations += segment.projection_iterations;
        for (all, segment) in self.found.iter_mut().zip(dynamics.statistics()) {
            all.add(segment);
        }
        self.singular.extend(crate::singular::reports(dynamics));
        self.fallback_left = self.fallback_left.or(dynamics.fallback_left());
    }

    fn note(&mut self, mechanism: &Mechanism) {
        if let Some(here) = mechanism.nearest_singular()
            && self.nearest.is_none_or(|nearest| here.sin_beta < nearest.sin_beta)
        {
            self.nearest = Some(here);
        }
    }

    /// Event `i` happens.
    fn fire(
        &mut self,
        i: usize,
        mechanism: &mut Mechanism,
        state: &mut State,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), StepError> {
        let system = self.system.clone();
        let event = &system.all.events.list[i];
        let found = state.q.clone();
        if event.actions.switches() {
            jump::make_consistent(mechanism, state);
        }
        let before = mechanism.energy(state);
        let values = self.values(i, mechanism, state, recorder)?;
        let mut changes = self.active.change(&event.actions, mechanism, state);
        for ((index, path, _), value) in event.actions.set.iter().zip(values) {
            state.x[*index] = value;
            changes.words.push(format!("set {path} = {value}"));
        }
        let mut impulses = Vec::new();
        let mut work = 0.0;
        if changes.structure {
            // gaps push only: what they do follows the jump
            self.active.remove_holds();
            let mut rebuilt = self.rebuild(mechanism, state, &found)?;
            work += rebuilt.work;
            // a row at its dead centre is only near it after drift, and seems to contradict the others until its joint is held
            let enabled: Vec<_> = event.actions.enable.iter().map(|target| target.elements.clone()).collect();
            let solve = |source| StepError::Solve { t: state.t, source };
            if !enabled.is_empty()
                && let Some(lock) = dead_centre::find(mechanism, state, &enabled).map_err(solve)?
            {
                self.active.lock(&lock, mechanism, state, &mut changes);
                rebuilt = self.rebuild(mechanism, state, &found)?;
                work += rebuilt.work;
            }
            impulses = changes.impulses(mechanism.system(), &rebuilt.impulses()?);
        }
        let after = mechanism.energy(state);
        let lost = before.kinetic + before.potential - after.kinetic - after.potential;
        state.x[WORK] += work;
        if lost + work >= 0.0 {
            state.x[DISSIPATED] += lost + work
        } else {
            state.x[WORK] -= lost + work
        }
        if let Some(why) = &event.actions.stop {
            changes.words.push(format!("stop: {why}"));
            recorder.stop = Some(RunStop::Event(event.name.clone(), why.clone()));
        }
        recorder.events.push(EventReport {
            t: self.time(state),
            name: event.name.clone(),
            actions: changes.words,
            impulses,
            energy_lost: lost,
        });
        recorder.enter(mechanism, state);
        if event.once
            && let Some(detector) = &mut recorder.detector
        {
            detector.finish(i);
        }
        if self.firings.chatter(i, state.t) {
            let often = format!("{MOST} times within a thousandth of the run");
            recorder.stop.get_or_insert(RunStop::Chatter(event.name.clone(), often));
        }
        Ok(())
    }

    /// Goes over to the system of what acts, and brings `state` onto its rows, which the motion came to at `found`.
    fn rebuild(
        &mut self,
        mechanism: &mut Mechanism,
        state: &mut State,
        found: &[f64],
    ) -> Result<Rebuilt, StepError> {
        let unfit = |_| StepError::NotFinite { t: state.t };
        let system = Arc::new(self.active.system(&self.system).map_err(unfit)?);
        let mut next = system.mechanism();
        next.resume_from(mechanism);
        self.note(mechanism);
        let old = std::mem::replace(mechanism, next);
        jump::jump(mechanism, state, found, old.system())
    }

    /// The values that event `i` sets.
    fn values(
        &self,
        i: usize,
        mechanism: &mut Mechanism,
        state: &State,
        recorder: &Recorder<'_>,
    ) -> Result<Vec<f64>, StepError> {
        let Some(detector) = &recorder.detector else { return Ok(Vec::new()) };
        let conditions = &detector.conditions;
        if !conditions.sets_need_reactions(i) {
            return Ok(conditions.values(i, mechanism, state, None));
        }
        let solve = |source| StepError::Solve { t: state.t, source };
        let mut dynamics = self.dynamics(mechanism, state).map_err(solve)?;
        dynamics.evaluate(state).map_err(solve)?;
        let (mechanism, eq, accel) = dynamics.parts();
        Ok(conditions.values(i, mechanism, state, Some((eq, accel))))
    }
}

/// Columns that are not unique at `s` with the rows of `mechanism`; none where that cannot be determined.
fn judge(mechanism: &mut Mechanism, s: &State) -> Vec<String> {
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::POSITION, &mut eq);
    let rows = RowRank::find(mechanism.structure(), &eq).ok();
    rows.and_then(|rows| not_unique(mechanism, s, &eq, &rows)).unwrap_or_default()
}
