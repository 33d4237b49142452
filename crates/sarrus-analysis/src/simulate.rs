//! A run from assembly to certificate.
//!
//! Whatever happens after the first step, the trajectory so far and a report come back: a failed run says at which
//! element and with which number, a stopped one why.

use crate::VERSION;
use crate::assemble::{AssemblyReport, assemble};
use crate::clock::Clock;
use crate::contacts;
use crate::error::SetupError;
use crate::events::{Active, Detector, Gaps, Journey, NoStart, Onsets};
use crate::failure::{self, explain};
use crate::joints;
use crate::legs::Route;
use crate::method::{Facts, Method};
use crate::notes;
use crate::recorder::{Bounds, Recorder, Stop};
use crate::redundancy::{Scaled, analyse};
use crate::report::{
    Certificate, CountsReport, ElementReport, EnergyReport, FailureReport, Limits, MethodReport,
    ReactionsPart, Report, Status, ViolationReport,
};
use crate::settings::{Overrides, Settings};
use crate::singular;
use crate::start::{Rows, assembly_part, rank_report, size};
use crate::trajectory::Trajectory;
use crate::violation::{Levels, Violations};
use sarrus_model::settings::Coordinates;
use sarrus_model::{Diagnostic, Model, Span};
use sarrus_solve::integrators::{Because, Ended, Flow, Samples};
use sarrus_solve::{Accel, Control, Equations, MethodError, Problem, Stage, State, View};
use sarrus_system::{Columns, Conditions, ConstraintElement, Family, Mechanism, Sampler, System};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Results larger than this are refused [bytes].
const MOST_BYTES: f64 = 4.0 * (1_u64 << 30) as f64;
/// Most elements that a report lists one by one.
const MOST_ELEMENTS: usize = 1000;
/// Most columns whose units a report lists.
const MOST_UNITS: usize = 10_000;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulate {
    /// What is said over the file.
    pub overrides: Overrides,
    /// Whether the trajectory is kept; without it a run is as fast and as small as it can be.
    pub record: bool,
}

impl Default for Simulate {
    /// As the file says, with the trajectory.
    fn default() -> Self {
        Simulate { overrides: Overrides::default(), record: true }
    }
}

/// What a run leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The samples; none where they were not asked for.
    pub trajectory: Trajectory,
    /// How it went.
    pub report: Report,
}

/// What a run is about to do.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// What is asked for.
    pub settings: &'a Settings,
    /// The method taken.
    pub method: &'a Method,
    /// What assembly did.
    pub assembly: &'a AssemblyReport,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Time \[s\].
    pub t: f64,
    /// Accepted steps.
    pub steps: u64,
}

/// What is known of a sample beside its state.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Size of the step that it lies in or ends \[s\]; none at the start.
    pub step: Option<f64>,
    /// Equations, accelerations and multipliers there, where a column needs them.
    pub solved: Option<(&'a Equations, &'a Accel)>,
}

/// Who watches a run, and may stop it.
pub trait Watch {
    /// The run is about to begin.
    fn begin(&mut self, _plan: &Plan) {}

    /// A step was accepted.
    fn step(&mut self, _progress: &Progress) -> Flow {
        Flow::Continue
    }

    /// A sample of the trajectory is taken at `s`.
    fn sample(&mut self, _mechanism: &mut Mechanism, _s: &State, _seen: &Seen) {}

    /// The same sample as the trajectory has it, a number per column, `t` first; comes right after [`sample`](Watch::sample).
    fn row(&mut self, _row: &[f64]) {}
}

/// Nobody watches.
impl Watch for () {}

/// Runs a compiled model.
pub fn simulate(
    model: &Model,
    system: &Arc<System>,
    request: &Simulate,
    watch: &mut dyn Watch,
) -> Result<Outcome, SetupError> {
    let settings = Settings::read(model, &request.overrides)?;
    let columns = columns(model, system, &settings, request.record)?;
    let conditions = Conditions::new(model, system)?;
    let span = (settings.t_start, settings.t_end);
    let mut breaks = system.breakpoints(span.0, span.1);
    conditions.breakpoints(span.0, span.1, &mut breaks);
    breaks.sort_by(f64::total_cmp);
    breaks.dedup();
    let sampler = Sampler::new(model, system, span, &breaks)?;
    let assembled = assemble(model, system, settings.assembly)?;
    if let Some(open) = assembled.open_branch(model, system) {
        return Err(open.into());
    }
    let mut state = assembled.state;
    let mut mechanism = system.mechanism();
    mechanism.set_hints(&assembled.hints);
    mechanism.note_angles(&state);
    if !system.contacts.is_empty() {
        mechanism.accept(&state);
    }

    // the method, from what the start tells
    let mut eq = Equations::new(&mechanism);
    mechanism.update(&state, Stage::POSITION, &mut eq);
    let rows = Rows::find(&system.structure, &eq)?;
    let not_unique = not_unique(&mut mechanism, &state, &eq, &rows);
    drop(eq);
    let mut method = Method::resolve(&settings, &Facts::new(system, rows.rank))?;
    // friction that depends on reactions needs their multipliers, which the recursions of a tree do not find
    let rubs = mechanism.reactive_forces() > 0;
    let gaps = system.gaps();
    let slides = gaps.iter().any(|gap| gap.rigid.mu > 0.0);
    if method.coordinates == Coordinates::Joint && joints::fit(&settings, &mechanism, &state)?
        && !rubs
        // nor places of rigid contacts that come to be held
        && gaps.is_empty()
        // nor do they know of the fluid's inertia
        && system.directory.added.is_empty()
    {
        method.take_tree(&settings);
    }
    if slides && method.view.resolves_constraints() {
        return Err(SetupError::Model(vec![no_friction(&method)]));
    }
    let bad = |source: MethodError| SetupError::Method { source, at: Span::NONE };
    method.new_formulation().map_err(bad)?;
    method.new_stabilization().map_err(bad)?;
    let mut integrator = method.new_integrator().map_err(bad)?;
    let mut control = Control::new(method.rtol, method.atol, method.step).map_err(bad)?;
    watch.begin(&Plan { settings: &settings, method: &method, assembly: &assembled.report });

    // the run
    let bounds = Bounds { span, max_steps: settings.max_steps, wall_limit: settings.wall_limit };
    let mut recorder = Recorder::new(&mut mechanism, &state, columns.as_ref(), bounds, watch);
    let mut samples = match columns {
        Some(_) => Samples::every(settings.t_start, settings.every, settings.t_end),
        None => Samples::none(),
    };
    if !conditions.is_empty() {
        recorder.detector = Some(Detector::new(conditions, &system.whole.events.list));
    }
    if !system.contacts.is_empty() && integrator.is_adaptive() {
        let mut onsets = Onsets::new(span);
        onsets.look_ahead(&mut mechanism, &state);
        recorder.onsets = Some(onsets);
    }
    if !gaps.is_empty() {
        recorder.gaps = Some(Gaps::new(gaps));
    }
    recorder.sampler = Some(sampler).filter(|s| !s.is_empty());
    let route = Route { breaks: &breaks, span, jump: settings.certify.position };
    let mut journey = Journey::new(system, &method, route);
    let clock = Clock::start();
    let ended = journey
        .go(&mut mechanism, &mut integrator, &mut control, &mut state, &mut samples, &mut recorder)
        .map_err(|NoStart(source)| {
            let element = failure::element(&source, &system.mechanism());
            SetupError::Start { source, element }
        })?;
    let (wall_s, cpu_s) = (clock.wall(), clock.cpu());
    let mut singular = std::mem::take(&mut journey.singular);
    let (done, [formulation, stabilization]) = (journey.counts, journey.found.clone());
    let found = &[formulation, stabilization, integrator.findings()];

    let tried = method.step.or(control.proposal()).unwrap_or(0.0).min(settings.t_end - state.t);
    let (status, mut reason, mut failed) =
        verdict(&ended, recorder.stop.as_ref(), &mut mechanism, &state, tried);
    let slow = mechanism.energy(&state).kinetic <= singular::SLOW * recorder.energy.most_kinetic();
    let why = singular::end(&mut singular, &ended, &mut mechanism, &state, slow, settings.t_start);
    if let Some(why) = why {
        reason = format!("{why} ({reason})");
        failed.iter_mut().for_each(|failed| failed.message.clone_from(&reason));
    }
    singular.extend(singular::rests(&assembled.standing, system, settings.t_start));
    singular::tidy(&mut singular, [settings.t_start, ended.at]);
    recorder.events.extend(singular::markers(&singular));
    recorder.events.sort_by(|a, b| a.t.total_cmp(&b.t));
    let violation = ViolationReport::from(&recorder.violations.total);
    let energy = EnergyReport::from(&recorder.energy);
    let limits = Limits {
        position: settings.certify.position,
        velocity: settings.certify.velocity,
        energy: settings.certify.energy,
    };
    let mut notes = method.notes.clone();
    if let Some((t, why)) = &recorder.unsampled {
        let name = failure::element(why, &mechanism);
        let (why, _) = failure::solve(why, name.as_deref().unwrap_or("one of them"));
        notes.push(format!("accelerations and reactions are not known at t = {t}: {why}"));
    }
    match &not_unique {
        Some(columns) if !columns.is_empty() => notes.push(format!(
            "{} components of reactions are not unique: minimum-norm values are shown (`sarrus check`)",
            columns.len()
        )),
        Some(_) => {}
        None => notes.push("it could not be told which reactions are unique".into()),
    }
    notes.extend(singular::notes(&singular, settings.t_start));
    notes.extend(journey.left_alone.map(|t| singular::left_alone(t, &method.integrator.name)));
    notes.extend(notes::idle_rates(&method, system));
    notes.extend(notes::nonideal(system));
    let fixed = control.step.filter(|_| !integrator.is_adaptive());
    notes.extend(contacts::notes(&mechanism, fixed, method.view == View::Implicit));
    notes.extend(recorder.gaps.iter().flat_map(Gaps::notes));
    notes.extend(recorder.onsets.as_ref().and_then(Onsets::note));
    notes.extend(notes::undetermined_friction(system, not_unique.as_deref().unwrap_or_default()));
    notes.extend(notes::findings(&method, found, system));
    notes.extend(journey.nearest.and_then(|near| notes::near_singular(&near, system)));
    notes.extend(journey.failed_at.as_ref().map(|name| format!("the run failed at the event `{name}`")));
    let mut constraints = rank_report(&system.structure, &rows);
    constraints.per_joint = per_element(&journey.active, system, &recorder.violations, &mut notes);
    let report = Report {
        model: model.name.clone(),
        version: VERSION,
        case: model.case.clone(),
        method: MethodReport {
            rotation: notes::rotation(system),
            found: notes::found(found, system),
            ..method.report()
        },
        status,
        reason,
        failure: failed,
        t_start: settings.t_start,
        t_end: ended.at,
        counts: CountsReport {
            steps: ended.counts.steps,
            rejected: ended.counts.rejected,
            rhs: ended.counts.rhs,
            newton_iterations: done.projection_iterations,
            factorizations: done.factorizations,
            samples: recorder.trajectory.len() as u64,
        },
        wall_s,
        cpu_s,
        dof: rows.rank.map(|rank| system.structure.nv - rank),
        size: size(system),
        constraints,
        reactions: ReactionsPart { not_unique: not_unique.unwrap_or_default() },
        assembly: assembly_part(settings.assembly, &assembled.report),
        certificate: Certificate::new(status, &violation, &energy, &limits),
        violation,
        energy,
        events: std::mem::take(&mut recorder.events),
        contacts: contacts::reports(
            &mechanism,
            &state,
            recorder.gaps.as_ref().map_or(&[], |gaps| &gaps.tallies),
        ),
        singular,
        notes,
        units: units(&recorder.trajectory),
    };
    Ok(Outcome { trajectory: recorder.trajectory, report })
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
    rows: &Rows,
) -> Option<Vec<String>> {
    let structure = mechanism.structure().clone();
    if rows.rank == Some(structure.nc) {
        return Some(Vec::new());
    }
    let mut scaled = Scaled::new(&structure, eq, rows.known_redundant(&structure)).ok()?;
    analyse(mechanism, s, eq, &mut scaled, rows.rank.is_some()).ok().map(|found| found.not_unique())
}

/// The columns asked for, unless their samples would not fit. They are looked at even where nothing is recorded: a wrong
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

/// How the run ended at `s`, in a word and in words; `tried` is the step from there \[s\].
fn verdict(
    ended: &Ended,
    stop: Option<&Stop>,
    mechanism: &mut Mechanism,
    s: &State,
    tried: f64,
) -> (Status, String, Option<FailureReport>) {
    match &ended.because {
        Because::End => (Status::Completed, "the end of the run was reached".into(), None),
        Because::Stopped | Because::Cut => {
            let reason = match stop {
                Some(Stop::Steps(most)) => format!("`run.max_steps` = {most} steps were made"),
                Some(Stop::Wall(limit)) => format!("`run.wall_limit` = {limit} s was reached"),
                Some(Stop::Event(name, why)) => format!("event `{name}`: {why}"),
                Some(Stop::Chatter(name, most)) => {
                    format!("event `{name}` chatters: it fired {most} times within a thousandth of the run")
                }
                Some(Stop::Asked) | None => "it was interrupted".into(),
            };
            (Status::Stopped, reason, None)
        }
        Because::Failed(error) => {
            let failed = explain(error, mechanism, s, tried);
            (Status::Failed, failed.message.clone(), Some(failed))
        }
    }
}

/// Violations by element; where there are very many, of the worst.
fn per_element(
    active: &Active,
    system: &System,
    violations: &Violations,
    notes: &mut Vec<String>,
) -> Vec<ElementReport> {
    let all = active.all(system).zip(&violations.elements);
    let all: Vec<(&ConstraintElement, &Levels)> = all.filter(|(e, _)| e.family != Family::Internal).collect();
    let mut chosen: Vec<usize> = (0..all.len()).collect();
    if chosen.len() > MOST_ELEMENTS {
        let size = |i: usize| all[i].1.position.max.max(all[i].1.velocity.max);
        chosen.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
        chosen.truncate(MOST_ELEMENTS);
        chosen.sort_unstable();
        notes.push(format!(
            "`constraints.per_joint` lists the worst {MOST_ELEMENTS} of {} elements",
            all.len()
        ));
    }
    chosen
        .into_iter()
        .map(|i| {
            let (element, levels) = all[i];
            ElementReport {
                name: element.name.clone(),
                family: element.family.name(),
                rows: element.rows.rows(),
                position: levels.position.into(),
                velocity: levels.velocity.into(),
                acceleration: levels.acceleration.into(),
            }
        })
        .collect()
}

fn units(trajectory: &Trajectory) -> BTreeMap<String, &'static str> {
    if trajectory.width() > MOST_UNITS || trajectory.is_empty() {
        return BTreeMap::new();
    }
    trajectory.names().iter().cloned().zip(trajectory.units().iter().copied()).collect()
}
