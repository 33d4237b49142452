//! Listens to a run: samples into the trajectory, violations and energies into the energy accounts.

mod between;

use crate::covered_angles::CoveredAngles;
use crate::drivers::{self, Contradiction};
use crate::energy::EnergyAccount;
use crate::events::{Advance, Ahead, ContactDetector, Detector, GapWatch, Kinks, Slides, Switches, TOGETHER};
use crate::finite::NonFiniteColumns;
use crate::following::Following;
use crate::instants::{Instants, Why};
use crate::peaks::Peaks;
use crate::report::EventReport;
use crate::simulate::{Progress, SampleDiagnostics, Watch};
use crate::trajectory::Trajectory;
use crate::violation::{NormStatistics, ViolationLevels, Violations};
use sarrus_model::functions::forget_fault;
use sarrus_solve::integrators::{Change, Observer, Proceed, TakenStep};
use sarrus_solve::{
    Accel, Dynamics, Equations, Problem, SolveError, Stage, State, StepError, StepInfo, Structure,
};
use sarrus_system::{Columns, Mechanism, MeshErrors, Sampler};
use std::sync::Arc;
use std::time::Instant;

/// Accelerations of a run that is not sampled are checked this many times,
const CHECKS: f64 = 10.0;
/// and once in so many steps at most: a check goes the general path, which costs as much as some steps of a small mechanism.
const STEPS_BETWEEN: u64 = 8;
/// The mesh error is integrated over points this many evaluations of the right-hand side apart, or every step: it costs a fifth of one.
const MESH_EVALUATIONS: u64 = 8;

/// Reason why a recorder ended a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunStop {
    /// The observer asked for it.
    Asked,
    /// `run.max_steps`.
    Steps(u64),
    /// `run.wall_limit` \[s\].
    Wall(f64),
    /// An event with `stop`: its name, and why.
    Event(String, String),
    /// Drivers that contradict each other.
    Drivers(Contradiction),
    /// An event that fired too often: its name, and how often.
    Chatter(String, String),
    /// A force that keeps the motion at one of its switches, or a constraint at a kink: what is to be said of it.
    Stays(String),
}

/// Holds what may end a run early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunBounds {
    /// Time at the start and the end \[s\].
    pub span: (f64, f64),
    /// Most steps.
    pub max_steps: Option<u64>,
    /// Longest wall time \[s\].
    pub wall_limit: Option<f64>,
    /// Violations of positions and velocities up to which drivers are not suspected of contradicting each other.
    pub certify: [f64; 2],
}

/// Measures that are checked without being kept.
#[derive(Clone)]
pub(crate) struct Unsampled {
    columns: Arc<Columns>,
    /// Time between looks, and of the next \[s\].
    every: f64,
    next: f64,
    row: Vec<f64>,
}

impl Unsampled {
    /// Checks `columns` no more often than rows would be taken.
    pub fn new(columns: Columns, every: f64) -> Unsampled {
        let row = vec![0.0; columns.names.len()];
        Unsampled { columns: Arc::new(columns), every, next: f64::NEG_INFINITY, row }
    }
}

/// Everything that is kept of a run while it continues.
pub(crate) struct Recorder<'a> {
    /// The samples.
    pub trajectory: Trajectory,
    /// Of every contact the largest force, and the least gap under a force, of all rows \[N, m\].
    pub contacts: Vec<[f64; 2]>,
    /// Least and largest values of the columns, where they are asked for.
    pub peaks: Option<Peaks>,
    /// Rows at instants at which something happens.
    pub instants: Instants,
    /// Extent to which bodies rotate between rows.
    pub covered_angles: CoveredAngles,
    /// ‖Φ‖, ‖Φ̇‖ at every step, ‖Φ̈‖ wherever accelerations are known.
    pub violations: Violations,
    /// The part of the multipliers in the null space of Jᵀ, relative to them, where rows are redundant and accelerations are known.
    pub null_share: Option<NormStatistics>,
    /// Distance of driven coordinates from their functions, at every step and in every row.
    pub following: Following,
    /// Holds what the meshes of beams leave their nodes off.
    pub mesh: MeshErrors,
    /// Evaluations of the right-hand side when it was last added to.
    mesh_at: u64,
    /// Numbers of rows that are not finite though they should be.
    pub not_finite: NonFiniteColumns,
    /// Energies at every step.
    pub energy: EnergyAccount,
    /// Reason why the run was stopped, if it was.
    pub stop: Option<RunStop>,
    /// Holds what happened on the way.
    pub events: Vec<EventReport>,
    /// Object that searches for events, where the model has any.
    pub detector: Option<Detector>,
    /// Bounds gaps over each step, where the model has contacts.
    pub advance: Option<Advance>,
    /// Object that searches for contacts that close and open, where they are located.
    pub contact_detector: Option<ContactDetector>,
    /// Object that checks the gaps of rigid contacts, where the model has any.
    pub gaps: Option<GapWatch>,
    /// Object that searches for controllers that slide along a limit, where one may.
    pub slides: Option<Slides>,
    /// Object that searches for forces that switch or peak within a step, where one may.
    pub switches: Option<Switches>,
    /// Search for constraints that keep the motion at a kink.
    kinks: Kinks,
    /// The clock of the sampled controllers, where the model has any.
    pub sampler: Option<Sampler>,
    /// Time of the first sample whose accelerations could not be found, and why.
    pub unsampled: Option<(f64, SolveError)>,
    /// Measures of a run that is not sampled, which are to be numbers all the same.
    pub unsampled_measures: Option<Unsampled>,
    columns: Option<Arc<Columns>>,
    /// True if a row needs accelerations.
    accelerations: bool,
    /// True if rows depend on others: then multipliers are checked wherever rows are taken, whatever is recorded of them.
    pub redundant: bool,
    watch: Box<dyn Watch + 'a>,
    bounds: RunBounds,
    started: Instant,
    steps: u64,
    /// Time \[s\] and step before which accelerations are not checked again.
    next_check: (f64, u64),
    /// Size of the last step \[s\].
    step: Option<f64>,
    /// Reason why it was cut, if that is of interest.
    why: Option<Why>,
    /// The largest contact forces at the last step, and whether one of them has grown.
    hardest: Vec<f64>,
    harder: bool,
    eq: Equations,
    /// A sample, brought onto the constraints.
    sample: State,
    /// Columns at an instant that is no regular row.
    row: Vec<f64>,
    /// Stands in where accelerations are not known.
    unknown: Accel,
}

impl<'a> Recorder<'a> {
    /// Ready for a run that starts at `s`; without columns no samples are kept.
    pub fn new(
        mechanism: &mut Mechanism,
        s: &State,
        columns: Option<Arc<Columns>>,
        peaks: bool,
        bounds: RunBounds,
        watch: Box<dyn Watch + 'a>,
    ) -> Recorder<'a> {
        let mut eq = Equations::new(mechanism);
        mechanism.update(s, Stage::VELOCITY, &mut eq);
        let structure = mechanism.structure();
        let mut violations = Violations::new(mechanism.system());
        violations.add(structure, &eq);
        let unknown = unknown(structure);
        let mut following = Following::default();
        following.enter(mechanism.system());
        following.add(mechanism.system(), s.t, &eq);
        let mut mesh = MeshErrors::new(mechanism.system());
        mesh.add(mechanism, s);
        let (mut names, mut units) = (vec!["t".to_string()], vec!["s"]);
        if let Some(columns) = &columns {
            names.extend_from_slice(&columns.names);
            units.extend_from_slice(&columns.units);
        }
        let forces = mechanism.system().contacts.iter().map(|c| format!("{}.force", c.contact.name));
        let peaks = (peaks && columns.is_some()).then(|| Peaks::new(&names, &forces.collect::<Vec<_>>()));
        let contacts = mechanism.last_readings().len();
        Recorder {
            peaks,
            instants: Instants::new(names.clone(), units.clone()),
            covered_angles: columns
                .as_ref()
                .map_or_else(CoveredAngles::default, |_| CoveredAngles::new(mechanism.system(), s)),
            why: None,
            hardest: vec![0.0; contacts],
            harder: false,
            row: vec![0.0; names.len()],
            trajectory: Trajectory::new(names, units),
            contacts: vec![[0.0; 2]; contacts],
            violations,
            null_share: None,
            following,
            mesh,
            mesh_at: 0,
            not_finite: NonFiniteColumns::default(),
            energy: EnergyAccount::new(mechanism.energy(s), mechanism.weight(s)),
            stop: None,
            events: Vec::new(),
            detector: None,
            advance: None,
            contact_detector: None,
            gaps: None,
            slides: Slides::new(mechanism),
            switches: None,
            kinks: Kinks::new(bounds.span),
            sampler: None,
            unsampled: None,
            unsampled_measures: None,
            accelerations: columns.as_ref().is_some_and(|c| {
                c.needs_reactions() || c.names.iter().any(|n| n == "violation.acceleration")
            }),
            columns,
            redundant: false,
            watch,
            bounds,
            started: Instant::now(),
            steps: 0,
            next_check: (s.t, 0),
            step: None,
            eq,
            sample: s.clone(),
            unknown,
        }
    }

    /// The same, watched by another.
    pub fn copy<'b>(&self, watch: Box<dyn Watch + 'b>) -> Recorder<'b> {
        Recorder {
            trajectory: self.trajectory.clone(),
            contacts: self.contacts.clone(),
            peaks: self.peaks.clone(),
            instants: self.instants.clone(),
            covered_angles: self.covered_angles.clone(),
            why: self.why,
            hardest: self.hardest.clone(),
            harder: self.harder,
            row: self.row.clone(),
            violations: self.violations.clone(),
            null_share: self.null_share,
            following: self.following.clone(),
            mesh: self.mesh.clone(),
            mesh_at: self.mesh_at,
            not_finite: self.not_finite.clone(),
            energy: self.energy,
            stop: self.stop.clone(),
            events: self.events.clone(),
            detector: self.detector.clone(),
            advance: self.advance.clone(),
            contact_detector: self.contact_detector.clone(),
            gaps: self.gaps.clone(),
            slides: self.slides.clone(),
            switches: self.switches.clone(),
            kinks: self.kinks.clone(),
            sampler: self.sampler.clone(),
            unsampled: self.unsampled.clone(),
            unsampled_measures: self.unsampled_measures.clone(),
            columns: self.columns.clone(),
            accelerations: self.accelerations,
            redundant: self.redundant,
            watch,
            bounds: self.bounds,
            started: self.started,
            steps: self.steps,
            next_check: self.next_check,
            eq: self.eq.clone(),
            step: self.step,
            sample: self.sample.clone(),
            unknown: self.unknown.clone(),
        }
    }

    /// The observer, who does no more.
    pub fn unwatch(&mut self) -> Box<dyn Watch + 'a> {
        std::mem::replace(&mut self.watch, Box::new(()))
    }

    /// Continues with another system of the same model, from `s`.
    pub fn enter(&mut self, mechanism: &mut Mechanism, s: &State) {
        self.eq = Equations::new(mechanism);
        mechanism.update(s, Stage::VELOCITY, &mut self.eq);
        let structure = mechanism.structure();
        self.unknown = unknown(structure);
        self.violations.enter(mechanism.system());
        self.violations.add(structure, &self.eq);
        self.following.enter(mechanism.system());
        self.following.add(mechanism.system(), s.t, &self.eq);
        self.energy.add(mechanism.energy(s));
        self.gaps.iter_mut().for_each(GapWatch::pass);
    }

    /// Neither steps nor time bound the run.
    pub fn unbound(&mut self) {
        (self.bounds.max_steps, self.bounds.wall_limit) = (None, None);
    }

    /// Returns whether there is a sample at `t` already.
    pub fn has_sample(&self, t: f64) -> bool {
        self.trajectory.rows().last().is_some_and(|row| row[0] >= t)
    }

    /// Takes note of the accelerations at `s`. Returns whether there are any.
    fn check(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State) -> bool {
        match ode.evaluate(s) {
            Ok(_) => {
                let (structure, eq) = (ode.problem().structure(), ode.equations());
                self.violations.add_acceleration(structure, eq, &eq.gamma, ode.accel());
                // what cannot be solved tells that itself
                if let Ok(Some(share)) = ode.null_share() {
                    self.null_share.get_or_insert_default().add(share);
                }
                true
            }
            Err(error) => {
                self.unsampled.get_or_insert((s.t, error));
                false
            }
        }
    }

    /// Drivers that contradict each other at `s`, where constraints are no longer kept. Looked for when the violation first
    /// exceeds what is certified, and again whenever it has doubled.
    fn contradiction(&mut self, mechanism: &mut Mechanism, s: &State) -> Option<Contradiction> {
        let ViolationLevels { position, velocity, .. } = &self.violations.total;
        let [next_position, next_velocity] = self.bounds.certify;
        if position.max <= next_position && velocity.max <= next_velocity {
            return None;
        }
        self.bounds.certify = [next_position.max(2.0 * position.max), next_velocity.max(2.0 * velocity.max)];
        drivers::find(mechanism, s, [next_position, next_velocity])
    }

    /// Notes how far `s`, right behind a break in time, is off the rows. Returns whether drivers contradict each other there, which stops the run.
    pub fn contradicts(&mut self, mechanism: &mut Mechanism, s: &State) -> bool {
        if !drivers::can_contradict(mechanism.system()) {
            return false;
        }
        mechanism.update(s, Stage::VELOCITY, &mut self.eq);
        self.violations.add(mechanism.structure(), &self.eq);
        self.stop = self.contradiction(mechanism, s).map(RunStop::Drivers);
        self.stop.is_some()
    }

    /// Takes a sample of `s` as the row of time `t`, from which its own time differs by rounding at most.
    pub fn sample_as(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, t: f64) {
        if self.columns.is_none() && !self.redundant {
            return;
        }
        // between steps the constraints hold to the interpolant's accuracy only; where no way back is found the
        // sample stays as it is, and so does the start, which may violate them on purpose
        let before = self.gaps.as_ref().and_then(|gaps| gaps.before(s.t));
        self.sample.copy_from(before.unwrap_or(s));
        if before.is_none() && s.t > self.bounds.span.0 && ode.project(&mut self.sample).is_err() {
            self.sample.copy_from(s);
        }
        let sample = std::mem::take(&mut self.sample);
        if let Some(gaps) = &mut self.gaps {
            gaps.note_limits(ode.problem_mut(), &sample);
        }
        let known = (self.accelerations || self.redundant) && self.check(ode, &sample);
        let Some(columns) = self.columns.clone() else {
            self.sample = sample;
            forget_fault();
            return;
        };
        let mut row = std::mem::take(&mut self.row);
        self.read(ode, &columns, &sample, known, &mut row);
        row[0] = t;
        self.trajectory.push().copy_from_slice(&row);
        let (mechanism, eq, accel) = ode.parts();
        self.following.add(mechanism.system(), sample.t, if known { eq } else { &self.eq });
        self.not_finite.check(&columns, mechanism, &sample, known.then_some((eq, accel)), &row[1..]);
        self.following.add_revolutions(ode.problem_mut(), &sample);
        if let Some(peaks) = &mut self.peaks {
            peaks.earn_row();
            peaks.add(&row);
        }
        self.row = row;
        self.covered_angles.advance(&sample);
        self.covered_angles.row();
        let step = self.step;
        let judged = self.gaps.as_mut().and_then(|gaps| gaps.judged_at(ode.problem_mut(), &sample));
        if known {
            let (mechanism, eq, accel) = ode.parts();
            self.watch.sample(
                mechanism,
                &sample,
                &SampleDiagnostics { step, solved: Some((eq, accel)), judged },
            );
        } else {
            self.watch.sample(ode.problem_mut(), &sample, &SampleDiagnostics { step, solved: None, judged });
        }
        if let Some(row) = self.trajectory.rows().last() {
            self.watch.row(row);
        }
        self.sample = sample;
        // a column without a number is no reason for a step to fail
        forget_fault();
    }

    /// Returns when in the step something happens that ends it; what comes first is taken.
    fn find_cut(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
    ) -> Result<Option<f64>, StepError> {
        let h = step.end.t - step.info.t;
        let brief = !self.gaps.as_ref().is_some_and(GapWatch::have_contacts)
            && self
                .contact_detector
                .as_ref()
                .is_some_and(|own| own.is_brief(step.ode.problem_mut(), h, step.end));
        let ahead = match &mut self.advance {
            Some(_) if brief => Ahead::Near,
            Some(advance) => {
                let held = self.gaps.as_ref().map_or(&[][..], GapWatch::held);
                let located = self.contact_detector.as_ref().is_some_and(ContactDetector::locates);
                advance.check(step, held, located)?
            }
            None => Ahead::Clear,
        };
        let closed = self.gaps.as_mut().map_or(Ok(None), |gaps| gaps.cut(step, ahead))?;
        let met = self
            .contact_detector
            .as_mut()
            .map_or(Ok(None), |contact_detector| contact_detector.cut(step, ahead))?;
        let due = self.detector.as_mut().map_or(Ok(None), |detector| detector.cut(step))?;
        let slid = self.slides.as_mut().map_or(Ok(None), |slides| slides.cut(step))?;
        let switched = self.switches.as_mut().map_or(Ok(None), |switches| switches.cut(step))?;
        let found = closed.into_iter().chain(met).chain(slid).chain(switched);
        let first = found.reduce(f64::min);
        // what happens together with an event is seen there
        let Some(first) = first.filter(|first| due.is_none_or(|due| due > first + TOGETHER * h)) else {
            self.why = due.map(|_| Why::Event);
            return Ok(due);
        };
        self.detector.iter_mut().for_each(|detector| detector.forget(step));
        if closed == Some(first) {
            self.why = Some(Why::Event);
            self.gaps.iter_mut().for_each(GapWatch::accept_cut);
        } else if met == Some(first) {
            self.why = self
                .contact_detector
                .as_ref()
                .filter(|contact_detector| !contact_detector.is_shortened())
                .map(|_| Why::Contact);
            self.contact_detector.iter_mut().for_each(ContactDetector::accept_cut);
        } else if slid == Some(first) {
            self.slides.iter_mut().for_each(Slides::accept_cut);
        } else {
            self.switches.iter_mut().for_each(Switches::accept_cut);
        }
        Ok(Some(first))
    }
}

/// The same, watched by no one.
impl Clone for Recorder<'static> {
    fn clone(&self) -> Self {
        self.copy(Box::new(()))
    }
}

impl Observer<Dynamics<'_, Mechanism>> for Recorder<'_> {
    fn sample(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State) {
        self.sample_as(ode, s, s.t);
    }

    fn can_retake(&self) -> bool {
        self.switches.is_some() || self.gaps.as_ref().is_some_and(GapWatch::can_retake)
    }

    fn cut(&mut self, step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>) -> Result<Option<f64>, StepError> {
        let start = step.info.t;
        step.set_energy_scale(self.energy.scale());
        self.why = None;
        self.gaps.iter_mut().for_each(GapWatch::pass);
        let cut = self.find_cut(step)?;
        self.step = Some(cut.map_or(step.info.h, |t| t - start));
        Ok(cut)
    }

    fn inside(&mut self, step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>) {
        self.check_inside(step);
        self.covered_angles.advance(step.end);
    }

    fn step(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, _info: &StepInfo) -> Proceed {
        self.steps += 1;
        ode.violation(s, &mut self.eq);
        let evaluations = ode.counts().rhs;
        let mechanism = ode.problem_mut();
        self.violations.add(mechanism.structure(), &self.eq);
        self.following.add(mechanism.system(), s.t, &self.eq);
        // counts begin anew with each set of equations
        if evaluations.wrapping_sub(self.mesh_at) >= MESH_EVALUATIONS {
            self.mesh.add(mechanism, s);
            self.mesh_at = evaluations;
        }
        if let Some(measures) = self.unsampled_measures.as_mut().filter(|measures| s.t >= measures.next) {
            let Unsampled { columns, every, next, row } = measures;
            *next = s.t + *every;
            columns.row(mechanism, s, &self.eq, &self.unknown, row);
            self.not_finite.check(columns, mechanism, s, None, row);
        }
        self.energy.add(mechanism.energy(s));
        if let Some(detector) = &mut self.contact_detector {
            detector.check_ahead(mechanism, s);
        }
        if let Some(gaps) = &mut self.gaps {
            gaps.note_limits(mechanism, s);
            gaps.note_step(s.t);
        }
        let contradiction = self.contradiction(ode.problem_mut(), s);
        if !self.accelerations && s.t >= self.next_check.0 && self.steps >= self.next_check.1 {
            self.check(ode, s);
            let (start, end) = self.bounds.span;
            self.next_check = (s.t + (end - start) / CHECKS, self.steps + STEPS_BETWEEN);
        }

        let stays = self.switches.as_ref().and_then(Switches::stays);
        let stays = stays.or_else(|| self.kinks.note_step(ode.problem_mut(), s));
        let asked = self.watch.step(&Progress { t: s.t, steps: self.steps }) == Proceed::Stop;
        let elapsed = || self.started.elapsed().as_secs_f64();
        self.stop = match self.bounds {
            _ if asked => Some(RunStop::Asked),
            _ if contradiction.is_some() => contradiction.map(RunStop::Drivers),
            _ if stays.is_some() => stays.map(RunStop::Stays),
            RunBounds { max_steps: Some(most), .. } if self.steps >= most => Some(RunStop::Steps(most)),
            RunBounds { wall_limit: Some(limit), .. } if elapsed() > limit => Some(RunStop::Wall(limit)),
            _ => None,
        };
        // what a function did in trials of this step is over
        forget_fault();
        if self.stop.is_some() { Proceed::Stop } else { Proceed::Continue }
    }

    fn instant(&self) -> Option<f64> {
        let sampled = self.sampler.as_ref().map(Sampler::next);
        let contact_until = self.contact_detector.as_ref().map(ContactDetector::until);
        let switch = self.switches.as_ref().map(Switches::until);
        let slip = self.gaps.as_ref().map(GapWatch::until);
        let until = contact_until.into_iter().chain(switch).chain(slip).filter(|t| t.is_finite());
        sampled.into_iter().chain(until).reduce(f64::min)
    }

    fn change(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &mut State) -> Result<Change, StepError> {
        let solve = |t| move |source| StepError::Solve { t, source };
        let Some(sampler) = self.sampler.as_mut().filter(|sampler| sampler.next() <= s.t + 1e-12 * s.t.abs())
        else {
            return Ok(Change::Made);
        };
        if let Some(detector) = &mut self.detector {
            detector.before_sample(ode, s).map_err(solve(s.t))?;
        }
        let known = sampler.needs_reactions(s.t);
        if known {
            ode.evaluate(s).map_err(solve(s.t))?;
        }
        let (mechanism, eq, accel) = ode.parts();
        if !sampler.act(mechanism, s, known.then_some((eq, accel))) {
            return Ok(Change::Made);
        }
        // what was sampled may be what an event waits for
        if let Some(detector) = &mut self.detector {
            detector.due = detector.check_sample(ode, s).map_err(solve(s.t))?;
            if !detector.due.is_empty() {
                return Ok(Change::Cut);
            }
        }
        Ok(Change::Made)
    }
}

/// Accelerations and multipliers that are not numbers.
fn unknown(structure: &Structure) -> Accel {
    let mut unknown = Accel::zeros(structure);
    unknown.vdot.fill(f64::NAN);
    unknown.lambda.fill(f64::NAN);
    unknown
}
