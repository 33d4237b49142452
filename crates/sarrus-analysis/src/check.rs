//! Describes what can be known of a model without running it: size, rank of its constraints with margin, mobility, redundant
//! groups, how far assembly had to go, and the method that `auto` would take.

use crate::assemble::assemble_reusing;
use crate::error::SetupError;
use crate::method::{Method, ModelFacts};
use crate::redundancy::{
    AlongReport, Analysis, DistributionReport, GroupReport, MobilityReport, Nearby, ReactionReport, Scaled,
    SharedRedundancies, UniquenessReport, along, analyse, distribute, nearby_rank, shared, with_tooth_forces,
};
use crate::report::{AssemblyPart, ConstraintsReport, SizeReport};
use crate::run::Run;
use crate::settings::{RunOverrides, Settings};
use crate::simulate::Watch;
use crate::start::{RowRank, near_dependence, rank_report, size};
use sarrus_model::{Model, Space};
use sarrus_solve::integrators::Because;
use sarrus_solve::{Equations, Problem, Stage, State};
use sarrus_system::{Columns, Conditions, Sampler, System};
use serde::Serialize;
use std::sync::Arc;

/// Clusters of parts closer together than this are not clear.
const UNCLEAR: f64 = 1e3;

/// Holds what a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckReport {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// `planar` or `spatial`.
    pub space: &'static str,
    /// Bodies, joints, velocities.
    pub size: SizeReport,
    /// Rows and their rank.
    pub constraints: ConstraintsReport,
    /// Rigid contacts and limits that are closed at the start and bear: rows too, where reactions are judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_contacts: Option<ClosedContacts>,
    /// Bodies whose accelerations depend on how contacts that slide share their load.
    pub motion_not_unique: Vec<String>,
    /// Degrees of freedom: velocities minus rank.
    pub dof: Option<usize>,
    /// Velocities minus rows, as counting says; below the true mobility where rows are redundant.
    pub counted_mobility: i64,
    /// Marks whether the redundant rows stay so when the mechanism moves; none where there are none or it cannot be determined.
    pub redundancy: Option<Redundancy>,
    /// Degrees of freedom, of the mechanism and in this position.
    pub mobility: MobilityReport,
    /// Identifies which components of which reactions are unique.
    pub reactions: Vec<ReactionReport>,
    /// Describes how clear that was; none where every reaction is unique because no row is redundant.
    pub uniqueness: Option<UniquenessReport>,
    /// Minimal sets of elements that share redundancies: without any one of its elements a set has none. Each has the
    /// redundancies of its own rows, so that sets which overlap need not add up.
    pub redundant_sets: Vec<GroupReport>,
    /// Elements that hang together by redundancies, with all that they share: these add up.
    pub redundant_groups: Vec<GroupReport>,
    /// Reactions as compliant joints share them, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<DistributionReport>,
    /// Redundancy over the motion, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub along: Option<AlongReport>,
    /// Holds what assembly did.
    pub assembly: AssemblyPart,
    /// Elements that the model pose does not satisfy, the worst first.
    pub assembly_errors: Vec<ElementError>,
    /// Names of the events that may happen.
    pub events: Vec<String>,
    /// The method that `auto` would take.
    pub method: String,
    /// The reason.
    pub why: Vec<String>,
    /// Findings in words.
    pub notes: Vec<String>,
}

impl CheckReport {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Rigid contacts and limits that are closed and bear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClosedContacts {
    /// Points at which they touch.
    pub points: usize,
    /// Rows of all constraints with theirs: along each normal, and across it where it sticks.
    pub rows: usize,
    /// The rank of these; none where it could not be found.
    pub rank: Option<usize>,
}

/// States whether redundancy is of the mechanism or of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Redundancy {
    /// The same rows stay redundant when the mechanism moves.
    Structural,
    /// The rank grows when the mechanism moves: this is a singular position.
    Momentary,
}

/// Describes how far an element is from being satisfied in the model pose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ElementError {
    /// Its name.
    pub name: String,
    /// ‖Φ‖ \[m, or as its rows are\].
    pub error: f64,
}

/// Holds what is asked for beyond a check of the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckOptions {
    /// Run the model, and check its redundancy on the way.
    pub along: bool,
    /// Distribute reactions that are not unique by the compliance of the joints.
    pub distribute: bool,
}

/// Checks a model.
pub fn check(model: &Model, system: &Arc<System>) -> Result<CheckReport, SetupError> {
    check_with(model, system, CheckOptions::default(), &mut ())
}

/// Checks a model, with all that is asked for; `watch` follows the run if there is one.
pub fn check_with(
    model: &Model,
    system: &Arc<System>,
    options: CheckOptions,
    watch: &mut dyn Watch,
) -> Result<CheckReport, SetupError> {
    let settings = Settings::read(model, &RunOverrides::default())?;
    // measures and output.columns are part of the model, sampled or not
    Columns::check(model, system, &settings.columns)?;
    let conditions = Conditions::new(model, system)?;
    Sampler::new(model, system, (settings.t_start, settings.t_end), &[])?;
    let structure = &system.structure;

    // what the model pose violates
    let evaluated = |state: &State, stage: Stage, discrete: Option<&[f64]>| {
        let mut mechanism = system.mechanism();
        discrete.into_iter().for_each(|discrete| mechanism.set_discrete(discrete));
        let mut eq = Equations::new(&mechanism);
        mechanism.update(state, stage, &mut eq);
        (mechanism, eq)
    };
    let assembly_errors = element_errors(system, &evaluated(&system.start(), Stage::POSITION, None).1);

    // one analysis of the rows serves all who solve for them
    let mut workspace = None;
    let assembled = assemble_reusing(model, system, settings.assembly, Some(&mut workspace))?;
    let state = assembled.state;
    let (mut mechanism, eq) = evaluated(&state, Stage::VELOCITY, Some(&assembled.discrete));

    // rank, here and nearby; a model that cannot be factored says so when it is run
    let rows = RowRank::find_reusing(structure, &eq, &mut workspace)?;
    let redundant = rows.rank.is_some_and(|rank| rank < structure.nc);
    let nearby = if redundant { nearby_rank(&mut mechanism, &state, &rows)? } else { Nearby::Unknown };
    let dof_text = |rank: usize| structure.nv - rank;
    let structural = match (rows.rank, nearby) {
        (Some(rank), _) if rank == structure.nc => Some(dof_text(rank)),
        (Some(rank), Nearby::Nowhere) => Some(dof_text(rank)),
        (Some(here), Nearby::Rank(there)) => Some(dof_text(here.max(there))),
        _ => None,
    };
    let redundancy = match (rows.rank, nearby) {
        (Some(here), Nearby::Rank(there)) if there > here => Some(Redundancy::Momentary),
        (Some(_), Nearby::Rank(_)) => Some(Redundancy::Structural),
        _ => None,
    };

    // who reacts uniquely, and who shares the rest
    let mut sharing = SharedRedundancies::default();
    let mut analysis = None;
    let method = Method::resolve(&settings, &ModelFacts::new(system, rows.rank))?;
    // with what acts when a run starts: rigid contacts and limits that are closed, locks, events; where no force fits, the run says so
    let begun = begun(model, system, &settings);
    let points = begun.as_ref().map_or(0, |run| run.closed_gaps());
    let mut closed_contacts = None;
    let mut dependent = rows.rank.map_or(0, |rank| structure.nc - rank);
    let happens = begun.as_ref().and_then(happens_at_start);
    if let Some(Run { mechanism: held, state: there, recorder, .. }) = begun {
        let mut held = recorder.gaps.as_ref().and_then(|gaps| gaps.with_all_closed(&held)).unwrap_or(held);
        let mut eq = Equations::new(&held);
        held.update(&there, Stage::FORCE, &mut eq);
        let own = held.structure().clone();
        let rows = RowRank::find(&own, &eq)?;
        closed_contacts = (points > 0).then_some(ClosedContacts { points, rows: own.nc, rank: rows.rank });
        dependent = rows.rank.map_or(0, |rank| own.nc - rank);
        let whole = with_tooth_forces(&mut held, &there, &eq);
        if let Ok(mut scaled) = Scaled::new(&own, &whole, rows.known_redundant(&own))
            && let Ok(found) = analyse(&mut held, &there, &eq, &mut scaled, dependent > 0)
        {
            sharing = shared(&held, &found, &mut scaled);
            analysis = Some(found);
        }
    } else {
        let known = rows.known_redundant(structure);
        let whole = with_tooth_forces(&mut mechanism, &state, &eq);
        let scaled = match workspace {
            Some(kkt) => Scaled::with(kkt, structure, &whole, known),
            None => Scaled::new(structure, &whole, known),
        };
        if let Ok(mut scaled) = scaled
            && let Ok(found) = analyse(&mut mechanism, &state, &eq, &mut scaled, redundant)
        {
            sharing = shared(&mechanism, &found, &mut scaled);
            analysis = Some(found);
        }
    }
    let distribution = if options.distribute { Some(distribute(&mut mechanism, &state)?) } else { None };
    let along = if options.along { Some(along(model, system, options.distribute, watch)?) } else { None };

    let SharedRedundancies { sets, groups, unresolved, more } = sharing;
    let mut report = CheckReport {
        model: model.name.clone(),
        version: crate::VERSION,
        space: if model.space == Space::Planar { "planar" } else { "spatial" },
        size: size(system),
        constraints: rank_report(structure, &rows),
        closed_contacts,
        motion_not_unique: Vec::new(),
        dof: rows.rank.map(dof_text),
        counted_mobility: structure.nv as i64 - structure.nc as i64,
        redundancy,
        mobility: MobilityReport { structural, here: rows.rank.map(dof_text) },
        reactions: Vec::new(),
        uniqueness: None,
        redundant_sets: sets,
        redundant_groups: groups,
        distribution,
        along,
        assembly: crate::start::assembly_part(settings.assembly, &assembled.report),
        assembly_errors,
        events: event_names(system),
        method: method.text(),
        why: method.why.clone(),
        notes: Vec::new(),
    };
    report.notes = notes(&report, analysis.as_ref(), dependent, unresolved, more);
    report.notes.extend(near_dependence(system, &eq, &rows));
    report.notes.extend(crate::warnings::find(&mut mechanism, &state));
    report.notes.extend(assembled.report.notes.iter().cloned());
    report.notes.extend(crate::notes::internal(system));
    report.notes.extend(conditions.notes);
    report.notes.extend(happens);
    report.notes.extend(crate::contacts::restitutions(system));
    report.notes.extend(system.directory.notes.iter().cloned());
    let shared = analysis.as_ref().map(Analysis::not_unique).unwrap_or_default();
    report.notes.extend(crate::notes::undetermined_friction(system, &shared));
    report.notes.extend(analysis.as_ref().and_then(|found| found.undetermined.note()));
    if let Some(found) = analysis {
        report.motion_not_unique = found.undetermined.bodies;
        (report.reactions, report.uniqueness) = (found.reactions, found.uniqueness);
    }
    Ok(report)
}

/// A run of the model at its start, where other rows act than those of the model as it is written: gaps that are closed, locks, what events switch.
fn begun(model: &Model, system: &Arc<System>, settings: &Settings) -> Option<Run<'static>> {
    if system.all.events.list.is_empty() && system.gaps().is_empty() && system.stops().is_empty() {
        return None;
    }
    let run = Run::up_to(model, system, settings.t_start).ok()?;
    let ids = |system: &System| system.elements.iter().map(|e| e.id).collect::<Vec<_>>();
    let touches = run.recorder.gaps.as_ref().is_some_and(|gaps| gaps.judged.is_some());
    let others = touches || ids(run.mechanism.system()) != ids(system);
    (run.ended.because == Because::End && others).then_some(run)
}

/// Events that fire when a run starts, in words.
fn happens_at_start(run: &Run<'_>) -> Option<String> {
    let events = run.system.all.events.list.iter().map(|e| &e.name);
    let fired = |name: &&String| run.recorder.events.iter().any(|e| e.name == **name);
    let names: Vec<String> = events.filter(fired).map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "events that fire as soon as a run starts: {}; reactions are judged with what acts then, mobility and rank without it",
            names.join(", ")
        )
    })
}

/// `dependent` are the redundant rows, with those of closed contacts.
fn notes(
    r: &CheckReport,
    analysis: Option<&Analysis>,
    dependent: usize,
    unresolved: usize,
    more: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    let redundant = r.constraints.redundant.unwrap_or(0);
    if let (Some(dof), true) = (r.dof, redundant > 0) {
        notes.push(format!(
            "overconstrained: counting says mobility {}, the rank says {dof}; {redundant} of {} rows are redundant",
            r.counted_mobility, r.constraints.rows
        ));
    }
    match r.redundancy {
        Some(Redundancy::Structural) => notes.push(
            "the redundancy is structural: the motion is unique, but how the elements of a set share their load is not; \
             `sarrus run` reports minimum-norm values of what is not unique"
                .into(),
        ),
        Some(Redundancy::Momentary) => notes.push(
            "the redundancy is momentary: this is a singular position, in which the mechanism may go on in more than \
             one way"
                .into(),
        ),
        None => {}
    }
    if r.dof == Some(0) {
        notes.push(if r.size.drivers > 0 {
            "the motion is prescribed: joints, constraints and drivers together leave no degree of freedom"
                .into()
        } else {
            "the mechanism cannot move: its constraints leave no degree of freedom".into()
        });
    }
    if let Some(margin) = r.constraints.rank_margin.filter(|m| *m < 10.0) {
        notes.push(format!("the rank is uncertain: a tolerance {margin:.1} times different would change it"));
    }
    let Some(analysis) = analysis else {
        notes.push("it could not be determined which reactions are unique".into());
        return notes;
    };
    if unresolved > 0 {
        notes.push(format!("the elements that share {unresolved} of the redundancies were not looked for"));
    }
    if more {
        notes.push(
            "there are more sets that share redundancies than are listed: too many to look for all".into(),
        );
    }
    let Some(clear) = &analysis.uniqueness else { return notes };
    if let Some(margin) = clear.margin.filter(|m| *m < UNCLEAR) {
        notes.push(format!(
            "uncertain which reactions are unique: the parts of components in the null space of the constraints, \
             which should be zero or not, are only a factor of {margin:.1} apart"
        ));
    }
    // the estimate knows nothing of pivots: far from them, one of the two is wrong
    let (found, estimate, error) = (analysis.dependent.len(), clear.dimension, clear.dimension_error);
    if dependent != found {
        notes.push(format!(
            "uncertain rank: by {} {dependent} rows are redundant, by a factorization with rows of equal size {found}",
            r.constraints.rank_method
        ));
    } else if (found as f64 - estimate).abs() > 5.0 * error + 0.5 {
        notes.push(format!(
            "uncertain rank: the factorization says that {found} rows are redundant, random multipliers say \
             {estimate:.0} ± {error:.0}"
        ));
    }
    notes
}

/// ‖Φ‖ of the elements that are not satisfied, the worst first.
fn element_errors(system: &System, eq: &Equations) -> Vec<ElementError> {
    /// Positions are written with rounding; below this they are as meant.
    const MEANT: f64 = 1e-9;
    let mut errors: Vec<ElementError> = system
        .structure
        .rows
        .iter()
        .zip(&system.elements)
        .filter_map(|(row, element)| {
            let phi = &eq.phi[row.start..][..row.holonomic];
            let error = phi.iter().map(|x| x * x).sum::<f64>().sqrt();
            let name = || format!("{} `{}`", element.family.name(), element.name);
            (!(error <= MEANT)).then(|| ElementError { name: name(), error })
        })
        .collect();
    errors.sort_by(|a, b| b.error.total_cmp(&a.error));
    errors
}

/// Names of what may happen in a run: rigid limits, then events.
fn event_names(system: &System) -> Vec<String> {
    let events = &system.all.events;
    let mut names: Vec<String> = events.limits.iter().map(|limit| limit.name.clone()).collect();
    names.dedup();
    names.extend(events.list.iter().map(|event| event.name.clone()));
    names
}
