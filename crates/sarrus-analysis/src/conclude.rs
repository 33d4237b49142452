//! The report of a run: how it went, and whether it is certified.

use crate::VERSION;
use crate::advice;
use crate::contacts;
use crate::events::{Active, ContactDetector, Detector, GapWatch, Switches};
use crate::failure::{self, explain};
use crate::notes;
use crate::peaks::ColumnRange;
use crate::recorder::{Recorder, RunStop};
use crate::report::{
    Certificate, CertificateLimits, CountsReport, ElementReport, EnergyReport, FailureReport, MethodReport,
    PeakReport, ReactionsPart, Report, Status, ViolationReport,
};
use crate::run::Run;
use crate::singular;
use crate::start::{assembly_part, rank_report, size};
use crate::trajectory::Trajectory;
use crate::violation::{ViolationLevels, Violations};
use sarrus_solve::formulations;
use sarrus_solve::integrators::{Because, Ended};
use sarrus_solve::{MethodView, State};
use sarrus_system::{ConstraintElement, Family, Mechanism, System};
use std::collections::BTreeMap;

/// Most elements that a report lists one by one.
const MOST_ELEMENTS: usize = 1000;
/// Most columns whose units a report lists.
const MOST_UNITS: usize = 10_000;

impl Run<'_> {
    /// Returns how it has gone so far.
    pub fn report(&mut self) -> Report {
        let mut event_loop = self.events.so_far(&mut self.pause, &mut self.mechanism);
        self.recorder.instants.close(None, &self.recorder.events);
        let Run { settings, mechanism, state, recorder, method, system, integrator, control, .. } = self;
        let (ended, rows, not_unique) = (&self.ended, &self.rows, &self.not_unique);
        let (wall_s, cpu_s) = self.spent;
        let mut singular = std::mem::take(&mut event_loop.singular);
        let (done, [formulation, stabilization]) = (event_loop.counts, event_loop.found.clone());
        let found = &[formulation, stabilization, integrator.statistics()];

        let tried = method.step.or(control.proposal()).unwrap_or(0.0).min(settings.t_end - state.t);
        let (status, mut reason, mut failed) =
            verdict(ended, recorder.stop.as_ref(), mechanism, state, tried);
        let slow = mechanism.energy(state).kinetic <= singular::SLOW * recorder.energy.most_kinetic();
        let why = singular::end(&mut singular, ended, mechanism, state, slow, settings.t_start);
        if let Some(why) = why {
            reason = format!("{why} ({reason})");
            failed.iter_mut().for_each(|failed| failed.message.clone_from(&reason));
        }
        singular.extend(singular::rests(&self.singular_starts, system, settings.t_start));
        singular::tidy(&mut singular, [settings.t_start, ended.at]);
        let mut events = recorder.events.clone();
        events.extend(singular::markers(&singular));
        events.sort_by(|a, b| a.t.total_cmp(&b.t));
        let violation = ViolationReport::from(&recorder.violations.total);
        let energy = EnergyReport::from(&recorder.energy);
        let is_exact = formulations::find(&method.formulation.name).is_ok_and(|kind| kind.needs.exact);
        let null_share = recorder.null_share.filter(|_| is_exact).map(|share| share.max);
        let limits = CertificateLimits {
            position: settings.certify.position,
            velocity: settings.certify.velocity,
            energy: settings.certify.energy,
        };
        let mut notes = method.notes.clone();
        if let Some((t, why)) = &recorder.unsampled {
            let name = failure::element(why, mechanism);
            let (why, _) = failure::solve(why, name.as_deref().unwrap_or("one of them"));
            notes.push(format!("accelerations and reactions are not known at t = {t}: {why}"));
        }
        let mut not_unique = not_unique.clone();
        if let Some(columns) = &mut not_unique {
            // with what events changed, and with the contacts that were closed on the way
            let touching = recorder.gaps.iter().flat_map(|gaps| &gaps.not_unique);
            event_loop.not_unique.iter().chain(touching).for_each(|c| {
                if !columns.contains(c) {
                    columns.push(c.clone());
                }
            });
        }
        match &not_unique {
            Some(columns) if !columns.is_empty() => notes.push(format!(
                "{} components of reactions are not unique: minimum-norm values are shown (`sarrus check`)",
                columns.len()
            )),
            Some(_) => {}
            None => notes.push("it could not be determined which reactions are unique".into()),
        }
        notes.extend(singular::notes(&singular, settings.t_start));
        notes.extend(event_loop.fallback_left.map(|t| singular::left_alone(t, &method.integrator.name)));
        notes.extend(notes::idle_rates(method, system));
        notes.extend(notes::nonideal(system));
        notes.extend(notes::modal(system));
        notes.extend(system.directory.notes.iter().cloned());
        notes.extend(notes::parted(mechanism, state));
        let fixed = control.step.filter(|_| !integrator.is_adaptive());
        notes.extend(contacts::notes(mechanism, fixed, method.view == MethodView::Implicit));
        notes.extend(recorder.gaps.iter().flat_map(GapWatch::notes));
        notes.extend(notes::beyond_limit(recorder.gaps.as_ref(), system, settings.certify.position));
        notes.extend(recorder.detector.iter().flat_map(Detector::notes));
        let detector = recorder.detector.as_ref();
        let not_finite = recorder.not_finite.clone().with(detector.map(|detector| &detector.undecided));
        notes.extend(not_finite.note());
        let mesh = recorder.mesh.worst();
        let [off, off_rate] = [recorder.following.position, recorder.following.rate];
        notes.extend(recorder.contact_detector.iter().flat_map(ContactDetector::notes));
        notes.extend(notes::not_followed([(off, limits.position), (off_rate, limits.velocity)], system));
        notes.extend(mesh.as_ref().and_then(|mesh| notes::coarse(mesh, settings.certify.mesh)));
        notes.extend(recorder.switches.iter().flat_map(Switches::notes));
        notes.extend(notes::unsearched(system));
        notes.extend(notes::undetermined_friction(system, not_unique.as_deref().unwrap_or_default()));
        notes.extend(notes::rotations(&control.rotations, &method.integrator.name, fixed.is_some(), system));
        // rigid contacts with friction take explicit methods only
        let has_friction = system.gaps().iter().any(|gap| gap.rigid.mu > 0.0);
        let stiff = notes::stiffness(&control.stiffness, control.counts.steps, &method.integrator.name);
        let stays = matches!(recorder.stop, Some(RunStop::Stays(..)));
        notes.extend(stiff.filter(|_| !has_friction && !stays));
        notes.extend(notes::statistics_notes(method, found, system));
        notes.extend(recorder.covered_angles.note(system));
        notes.extend(recorder.instants.note());
        notes.extend(event_loop.nearest.and_then(|near| notes::near_singular(&near, system)));
        notes.extend(
            event_loop.failed_at.as_ref().map(|name| format!("the run failed at the event `{name}`")),
        );
        let mut constraints = rank_report(&system.structure, rows);
        constraints.per_joint = per_element(&event_loop.active, system, &recorder.violations, &mut notes);
        let certificate = Certificate::new(status, &violation, &energy, &limits)
            .with_rotation(control.rotations.worst)
            .with_null_share(null_share, rows.near)
            .with_finite(not_finite.count)
            .with_drivers(off.map(|off| off.by), off_rate.map(|off| off.by))
            .with_mesh(mesh.as_ref().map(|mesh| mesh.relative), settings.certify.mesh)
            .with_events(detector.map(Detector::unbounded))
            .with_gap(recorder.gaps.as_ref().and_then(GapWatch::beyond).map(|beyond| beyond.depth))
            .unless(stays || matches!(recorder.stop, Some(RunStop::Chatter(..))))
            .unless(recorder.switches.as_ref().is_some_and(Switches::passed_over));
        let advice = match status {
            Status::Failed => Vec::new(),
            _ => advice::of(&certificate, method, fixed, &control.rotations, mesh.as_ref()),
        };
        Report {
            model: self.model.clone(),
            version: VERSION,
            case: self.case.clone(),
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
            reactions: ReactionsPart {
                not_unique: not_unique.clone().unwrap_or_default(),
                motion_not_unique: recorder.gaps.as_ref().map_or_else(Vec::new, GapWatch::motion_not_unique),
            },
            assembly: assembly_part(settings.assembly, &self.assembly),
            certificate,
            advice,
            violation,
            energy,
            events,
            contacts: contacts::reports(
                mechanism,
                state,
                recorder.gaps.as_ref().map_or(&[], |gaps| &gaps.tallies),
                &recorder.contacts,
            ),
            singular,
            notes,
            peaks: peaks(recorder),
            units: units(&recorder.trajectory),
        }
    }
}

/// Returns how the run ended at `s`, in a word and in words; `tried` is the step from there \[s\].
fn verdict(
    ended: &Ended,
    stop: Option<&RunStop>,
    mechanism: &mut Mechanism,
    s: &State,
    tried: f64,
) -> (Status, String, Option<FailureReport>) {
    match &ended.because {
        Because::End => (Status::Completed, "the end of the run was reached".into(), None),
        Because::Stopped | Because::Cut => {
            let reason = match stop {
                Some(RunStop::Drivers(found)) => {
                    let failed = failure::contradicting(found);
                    return (Status::Failed, failed.message.clone(), Some(failed));
                }
                Some(RunStop::Steps(most)) => format!("`run.max_steps` = {most} steps were made"),
                Some(RunStop::Wall(limit)) => format!("`run.wall_limit` = {limit} s was reached"),
                Some(RunStop::Event(name, why)) => format!("event `{name}`: {why}"),
                Some(RunStop::Chatter(name, often)) => {
                    format!(
                        "event `{name}` chatters: it fired {often}; the run ends there and is not certified"
                    )
                }
                Some(RunStop::Stays(why)) => why.clone(),
                Some(RunStop::Asked) | None => "it was interrupted".into(),
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
    let all: Vec<(&ConstraintElement, &ViolationLevels)> =
        all.filter(|(e, _)| e.family != Family::Internal).collect();
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

fn peaks(recorder: &Recorder<'_>) -> BTreeMap<String, PeakReport> {
    let names = recorder.trajectory.names().iter().skip(1);
    let ranges = recorder.peaks.iter().flat_map(|peaks| peaks.ranges());
    let all = names.zip(ranges).filter(|(_, range)| range.max.0 >= range.min.0);
    let report = |range: &ColumnRange| {
        let ColumnRange { min: (min, t_min), max: (max, t_max), .. } = *range;
        PeakReport { min, t_min, max, t_max }
    };
    all.map(|(name, range)| (name.clone(), report(range))).collect()
}

fn units(trajectory: &Trajectory) -> BTreeMap<String, &'static str> {
    if trajectory.width() > MOST_UNITS || trajectory.is_empty() {
        return BTreeMap::new();
    }
    trajectory.names().iter().cloned().zip(trajectory.units().iter().copied()).collect()
}
