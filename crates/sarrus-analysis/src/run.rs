//! A run from assembly to certificate, as far as it has come.
//!
//! Whatever happens after the first step, the trajectory so far and a report come back: a failed run says at which
//! element and with which number, a stopped one why.

use crate::assemble::{AssemblyReport, assemble};
use crate::error::SetupError;
use crate::events::{Advance, ContactDetector, Detector, EventLoop, GapWatch, NoStart, Pause, Switches};
use crate::failure;
use crate::instants::Instants;
use crate::joints;
use crate::method::{Method, ModelFacts};
use crate::recorder::{Recorder, RunBounds, Unsampled};
use crate::redundancy::{Scaled, analyse, with_tooth_forces};
use crate::schedule::Schedule;
use crate::settings::{RunOverrides, Settings};
use crate::simulate::{RunPlan, Simulate, Watch};
use crate::start::{RowRank, near_dependence};
use crate::trajectory::Trajectory;
use crate::warnings;
use sarrus_model::functions::forget_fault;
use sarrus_model::settings::Coordinates;
use sarrus_model::{Diagnostic, Model, Span};
use sarrus_solve::integrators::{Because, Ended, Samples};
use sarrus_solve::{Equations, Integrator, MethodError, Problem, SingularStart, Stage, State, StepControl};
use sarrus_system::{Columns, Conditions, Mechanism, Sampler, System};
use std::sync::Arc;

/// Results larger than this are refused [bytes].
const MOST_BYTES: f64 = 4.0 * (1_u64 << 30) as f64;

/// A run, as far as it has come.
pub(crate) struct Run<'w> {
    /// Holds what was asked for.
    pub settings: Settings,
    /// The mechanism with what acts at the moment.
    pub mechanism: Mechanism,
    /// Marks where it is.
    pub state: State,
    /// Holds what has been noted of it.
    pub recorder: Recorder<'w>,
    /// Describes how it is made.
    pub method: Arc<Method>,
    /// The system at the start.
    pub system: Arc<System>,
    pub(crate) model: String,
    pub(crate) case: Option<String>,
    pub(crate) integrator: Integrator,
    pub(crate) control: StepControl,
    pub(crate) samples: Samples<'static>,
    pub(crate) events: EventLoop,
    pub(crate) pause: Option<Pause>,
    pub(crate) ended: Ended,
    pub(crate) assembly: AssemblyReport,
    pub(crate) singular_starts: Vec<SingularStart>,
    pub(crate) rows: RowRank,
    pub(crate) not_unique: Option<Vec<String>>,
    /// True if something was set since it continued.
    pub(crate) is_changed: bool,
    /// Time spent: wall, and where it is known processor \[s\].
    pub(crate) spent: (f64, Option<f64>),
}

impl<'w> Run<'w> {
    /// Puts the mechanism together and chooses the method where it is left open; nothing moves yet.
    pub fn new(
        model: &Model,
        system: &Arc<System>,
        request: &Simulate,
        mut watch: Box<dyn Watch + 'w>,
    ) -> Result<Run<'w>, SetupError> {
        let settings = Settings::read(model, &request.overrides)?;
        let columns = columns(model, system, &settings, request.record)?.map(Arc::new);
        let conditions = Conditions::new(model, system)?;
        let span = (settings.t_start, settings.t_end);
        let mut breaks = system.breakpoints(span.0, span.1);
        let mut events_at_end = Vec::new();
        for i in 0..conditions.len() {
            let mut timed = Vec::new();
            conditions.own_breakpoints(i, span.0, span.1, &mut timed);
            if timed.iter().any(|t| span.1 - t <= Schedule::near(span)) {
                events_at_end.push(i);
            }
            breaks.append(&mut timed);
        }
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let sampler = Sampler::new(model, system, span, &breaks)?;
        // that search has called functions all along the run
        forget_fault();
        let assembled = assemble(model, system, settings.assembly)?;
        if let Some(open) = assembled.open_branch(model, system) {
            return Err(open.into());
        }
        let state = assembled.state;
        let mut mechanism = system.mechanism();
        mechanism.set_discrete(&assembled.discrete);
        mechanism.note_angles(&state);
        if !system.contacts.is_empty() {
            mechanism.accept(&state);
        }

        // the method, from what the start tells
        let mut eq = Equations::new(&mechanism);
        mechanism.update(&state, Stage::POSITION, &mut eq);
        let rows = RowRank::find(&system.structure, &eq)?;
        let not_unique = not_unique(&mut mechanism, &state, &eq, &rows);
        let near = near_dependence(system, &eq, &rows);
        drop(eq);
        let mut method = Method::resolve(&settings, &ModelFacts::new(system, rows.rank))?;
        method.notes.extend(near);
        method.notes.extend(warnings::find(&mut mechanism, &state));
        method.notes.extend(assembled.report.notes.iter().cloned());
        // friction that depends on reactions needs their multipliers, which the recursions of a tree do not find
        let has_friction = mechanism.reactive_forces() > 0;
        let mut gaps = system.gaps();
        let slides = gaps.iter().any(|gap| gap.rigid.mu > 0.0);
        if method.coordinates == Coordinates::Joint && joints::fit(&settings, &mechanism, &state)?
        && !has_friction
        // nor places of rigid contacts that come to be held
        && gaps.is_empty()
        // nor do they know of the fluid's inertia
        && system.directory.added.is_empty()
        {
            method.set_tree(&settings);
        }
        if slides && method.view.resolves_constraints() {
            return Err(SetupError::Model(vec![no_friction(&method)]));
        }
        let bad = |source: MethodError| SetupError::Method { source, at: Span::NONE };
        method.new_formulation().map_err(bad)?;
        method.new_stabilization().map_err(bad)?;
        let integrator = method.new_integrator().map_err(bad)?;
        let mut control = StepControl::new(method.rtol, method.atol, method.step).map_err(bad)?;
        // Where nothing is free the motion is exact, and its work alone bounds the steps. Methods that resolve the constraints know multipliers to
        // lower order and to the tolerance of Newton's iteration: shorter steps make their work worse.
        if rows.rank == Some(system.structure.nv) && !method.view.resolves_constraints() {
            control.energy_tolerance = method.rtol.min(settings.work_tolerance());
        }
        watch.begin(&RunPlan { settings: &settings, method: &method, assembly: &assembled.report });

        // the run
        let bounds = RunBounds {
            span,
            max_steps: settings.max_steps,
            wall_limit: settings.wall_limit,
            certify: [settings.certify.position, settings.certify.velocity],
        };
        let mut recorder =
            Recorder::new(&mut mechanism, &state, columns.clone(), settings.peaks, bounds, watch);
        control.energy_scale = recorder.energy.scale();
        if columns.is_none() && !model.measures.is_empty() {
            let measures = Columns::measures(model, system)?;
            recorder.unsampled_measures = Some(Unsampled::new(measures, settings.every));
        }
        recorder.redundant = rows.rank != Some(system.structure.nc);
        let samples = match columns {
            _ if recorder.redundant => Samples::every(settings.t_start, settings.every, settings.t_end),
            Some(_) => Samples::every(settings.t_start, settings.every, settings.t_end),
            None => Samples::none(),
        };
        if !conditions.is_empty() {
            recorder.detector = Some(Detector::new(conditions, &system.all.events.list));
        }
        if !system.contacts.is_empty() {
            recorder.advance = Some(Advance::new());
            let mut detector =
                ContactDetector::new(span, integrator.is_adaptive(), [method.rtol, method.atol]);
            detector.note_overlaps(&mut mechanism, &state);
            detector.check_ahead(&mut mechanism, &state);
            recorder.contact_detector = Some(detector);
        }
        gaps.extend(system.stops());
        if !gaps.is_empty() {
            recorder.gaps = Some(GapWatch::new(gaps));
        }
        let adaptive = integrator.is_adaptive();
        recorder.switches = Switches::new(system, span, adaptive, [method.rtol, method.atol]);
        recorder.sampler = Some(sampler).filter(|s| !s.is_empty());
        let jump = settings.certify.position;
        let schedule =
            Schedule { breaks, span, known: span.1, until: span.1, resume: false, events_at_end, jump };
        let method = Arc::new(method);
        let mut events = EventLoop::new(system, &method, schedule);
        events.redundant = Some(rows.rank_to_resolve(&system.structure));
        Ok(Run {
            events,
            ended: Ended { at: state.t, because: Because::End, counts: control.counts },
            model: model.name.clone(),
            case: model.case.clone(),
            assembly: assembled.report,
            singular_starts: assembled.singular_starts,
            system: system.clone(),
            pause: None,
            is_changed: false,
            spent: (0.0, None),
            settings,
            mechanism,
            state,
            recorder,
            method,
            integrator,
            control,
            samples,
            rows,
            not_unique,
        })
    }

    /// One that has gone as far as `t` \[s\], if nothing stopped it, with what acts there; it takes no samples.
    pub fn up_to(model: &Model, system: &Arc<System>, t: f64) -> Result<Run<'w>, SetupError> {
        let t_start = Settings::read(model, &RunOverrides::default())?.t_start;
        let overrides = RunOverrides { t_end: (t > t_start).then_some(t), ..RunOverrides::default() };
        let mut run = Run::new(model, system, &Simulate { overrides, record: false }, Box::new(()))?;
        run.run_to(t)?;
        Ok(run)
    }

    /// Continues to `t` \[s\], unless it is stopped or fails before; breaks beyond those that are known are not seen.
    pub fn run_to(&mut self, t: f64) -> Result<&Ended, SetupError> {
        self.events.schedule.until = t;
        self.events.schedule.resume = self.pause.is_some() && !self.is_changed;
        self.is_changed = false;
        let Run { events, pause, mechanism, integrator, control, state, samples, recorder, .. } = self;
        let ended = events.run_segment(pause, mechanism, integrator, control, state, samples, recorder);
        let system = &self.system;
        self.ended = ended.map_err(|why| match why {
            NoStart::Equations(source) => {
                let element = failure::element(&source, &system.mechanism());
                SetupError::Start { source, element }
            }
            NoStart::Overlap(contact, depth) => SetupError::Overlap { contact, depth },
        })?;
        Ok(&self.ended)
    }

    /// Places of rigid contacts, and limits, that are closed and bear.
    pub fn closed_gaps(&self) -> usize {
        self.recorder.gaps.as_ref().map_or(0, GapWatch::closed)
    }

    /// The samples, and the rows at instants.
    pub fn into_rows(self) -> (Trajectory, Instants) {
        (self.recorder.trajectory, self.recorder.instants)
    }
}

/// The error for friction of rigid contacts that an integrator cannot take in.
fn no_friction(method: &Method) -> Diagnostic {
    let message = format!(
        "integrator `{}` cannot take in friction that depends on what rigid contacts bear",
        method.integrator.name
    );
    Diagnostic::bare(message)
        .hint("take an explicit one, such as `rk45`, or leave out `method = \"impulsive\"`")
}

/// Columns of reactions and efforts that are not unique at the start; nothing is computed where no row is redundant.
pub(crate) fn not_unique(
    mechanism: &mut Mechanism,
    s: &State,
    eq: &Equations,
    rows: &RowRank,
) -> Option<Vec<String>> {
    let structure = mechanism.structure().clone();
    if rows.rank == Some(structure.nc) {
        return Some(Vec::new());
    }
    let whole = with_tooth_forces(mechanism, s, eq);
    let mut scaled = Scaled::new(&structure, &whole, rows.known_redundant(&structure)).ok()?;
    analyse(mechanism, s, eq, &mut scaled, rows.rank.is_some()).ok().map(|found| found.not_unique())
}

/// The columns asked for, unless their samples would not fit. They are checked even where nothing is recorded: a wrong
/// measure is wrong either way.
fn columns(
    model: &Model,
    system: &Arc<System>,
    settings: &Settings,
    record: bool,
) -> Result<Option<Columns>, SetupError> {
    let columns = Columns::new(model, system, &settings.columns)?;
    if !record {
        return Ok(None);
    }
    let (rows, width) = (settings.samples(), columns.names.len() + 1);
    let bytes = rows * width as f64 * size_of::<f64>() as f64;
    if bytes > MOST_BYTES {
        return Err(SetupError::TooLarge { bytes, rows, columns: width });
    }
    Ok(Some(columns))
}
