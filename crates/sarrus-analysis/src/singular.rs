//! Singular positions of a run, as its report and its events tell them.
//!
//! A run that fails beside one came to the end of its range, where speeds grow without bound, or to rest there, where they vanish: then
//! more than one motion can follow, and none is taken.

use crate::report::{EventReport, SingularReport};
use sarrus_solve::integrators::{Because, Ended};
use sarrus_solve::{
    BranchDirection, Crossing, Dynamics, Problem, SingularStart, SingularityRecord, State, StepError, digits,
    singular_starts,
};
use sarrus_system::{Mechanism, System};

/// Most elements that are named.
const MOST: usize = 12;
/// Most singular positions whose markers stand among the events.
const MARKERS: usize = 1000;
/// Two branches cross, and the run kept to its own.
const PASSED: &str = "passed";
/// Defines what is reported only if the run ends there.
const UNCLEAR: &str = "unclear";
/// There was no way on.
const END_OF_RANGE: &str = "end_of_range";
/// At rest there.
const REST: &str = "rest";
/// A run that ends within so many durations of a near miss after it ended there.
const THERE: f64 = 10.0;
/// A mechanism with less than this part of the largest kinetic energy of its run is slow.
pub(crate) const SLOW: f64 = 0.1;
/// Speeds that fall below this part of the largest in a window are those of a rest.
const FALLEN: f64 = 0.05;
/// A crossing is in the run if it is within this part of its duration.
const INSIDE: f64 = 1e-6;
/// Branches that are apart by this \[m\] are said to be, though they count as crossing.
const APART: std::ops::Range<f64> = 2e-11..1e-9;

/// Names of what `rows` belong to, each once.
fn names(rows: &[usize], name: impl Fn(usize) -> String) -> Vec<String> {
    let mut elements: Vec<String> = Vec::new();
    for name in rows.iter().map(|&row| name(row)) {
        if elements.len() < MOST && !elements.contains(&name) {
            elements.push(name);
        }
    }
    elements
}

/// Returns what `dynamics` has met, with names.
pub(crate) fn reports(dynamics: &Dynamics<'_, Mechanism>) -> Vec<SingularReport> {
    let name = |row: usize| dynamics.problem().name_of_row(row);
    let report = |p: &SingularityRecord| {
        let rested = p.slowest < FALLEN * p.fastest;
        let passed = p.crossing == Crossing::Passed && !rested;
        SingularReport {
            t: if rested { p.slowest_at } else { p.at },
            outcome: match p.crossing {
                Crossing::Passed if rested => REST,
                Crossing::Passed => PASSED,
                Crossing::Missed => "near_miss",
                Crossing::Unclear => UNCLEAR,
            },
            enter: p.enter,
            leave: p.leave,
            rank_losses: p.losses,
            elements: names(&p.rows, name),
            speed: p.speed,
            gap: Some(p.gap).filter(|gap| gap.is_finite()),
            reactions: match p.residue {
                _ if !passed => "unknown",
                Some(_) => "unbounded",
                None => "bounded",
            },
            residue: p.residue.map(|(size, _)| size),
            residue_at: p.residue.map(|(_, row)| name(row)),
        }
    };
    dynamics.passages().iter().map(report).collect()
}

/// Forgets what turned out to be nothing.
pub(crate) fn forget_unclear(singular: &mut Vec<SingularReport>) {
    singular.retain(|s| s.outcome != UNCLEAR);
}

/// A rest at `t`.
fn rest(s: &SingularStart, t: f64, name: impl Fn(usize) -> String) -> SingularReport {
    SingularReport {
        t,
        outcome: REST,
        enter: t,
        leave: t,
        rank_losses: s.losses,
        elements: names(&s.rows, name),
        speed: 0.0,
        gap: None,
        reactions: "unknown",
        residue: None,
        residue_at: None,
    }
}

/// Rests at the start.
pub(crate) fn rests(singular_starts: &[SingularStart], system: &System, t: f64) -> Vec<SingularReport> {
    let name = |row: usize| {
        system
            .element_of_row(row)
            .map_or(format!("row {row}"), |e| format!("{} `{}`", e.family.name(), e.name))
    };
    singular_starts.iter().filter(|s| s.way == BranchDirection::Rest).map(|s| rest(s, t, name)).collect()
}

/// Says of a run that failed beside a singular position, at `s`, that it came to the end of its range, or to rest where it is `slow`, or could
/// not begin at `t_start`. Returns why, in words. Forgets what turned out to be nothing.
pub(crate) fn end(
    singular: &mut Vec<SingularReport>,
    ended: &Ended,
    mechanism: &mut Mechanism,
    s: &State,
    slow: bool,
    t_start: f64,
) -> Option<String> {
    let mut why = None;
    if let Because::Failed(error) = &ended.because {
        let beside =
            |last: &SingularReport| error.t() - last.leave <= THERE * (last.leave - last.enter).max(1e-9);
        // what is no number, or too fast for its step, fails for other reasons
        let stuck = !matches!(
            error,
            StepError::NotFinite { .. }
                | StepError::StepTooLarge { .. }
                | StepError::View { .. }
                | StepError::Jump { .. }
        );
        let here = if slow && stuck { singular_starts(mechanism, s).unwrap_or_default() } else { Vec::new() };
        if let Some(here) = here.first() {
            let last = singular.pop_if(|last| beside(last));
            let mut now = rest(here, error.t(), |row| mechanism.name_of_row(row));
            now.enter = last.map_or(s.t, |last| last.enter);
            why = Some(format!(
                "the mechanism came to rest in a singular position at t = {}: more than one motion of {} can follow",
                digits(&now.t),
                now.elements.join(", ")
            ));
            singular.push(now);
        } else if let Some(last) =
            singular.last_mut().filter(|last| last.outcome != PASSED && last.enter <= t_start && beside(last))
        {
            // no range was left, as none was entered
            last.outcome = UNCLEAR;
            why = Some(format!(
                "the mechanism stands in a singular position at the start, and no motion of {} follows from the velocities given: give those \
                 of more joints in [initial], or start beside it",
                last.elements.join(", ")
            ));
        } else if let Some(last) = singular.last_mut().filter(|last| last.outcome != PASSED && beside(last)) {
            last.outcome = END_OF_RANGE;
            // where speeds grow without bound, what was seen from farther off is no guide
            last.t = error.t();
            why = Some(format!(
                "the mechanism came to the end of its range at t = {}: {} can follow no further",
                digits(&last.t),
                last.elements.join(", ")
            ));
        } else if let Some(last) = singular.last().filter(|last| stuck && beside(last)) {
            why = Some(format!(
                "the run failed beside a singular position at t = {} ({}): a shorter step or a smaller tolerance may pass it; where \
                 nothing is stiff the integrator `dop853` does, and where something is, implicit steps of fixed size may",
                digits(&last.t),
                last.elements.join(", ")
            ));
        }
    }
    forget_unclear(singular);
    why
}

/// Puts singular positions in the order of time, each once, and leaves out those before or after the run: what was seen from within
/// but was not met.
pub(crate) fn tidy(singular: &mut Vec<SingularReport>, [from, to]: [f64; 2]) {
    // where a run failed lies after its last step
    let is_met = |s: &SingularReport| !matches!(s.outcome, REST | END_OF_RANGE);
    singular.retain(|s| {
        let slack = 1e-12 + INSIDE * (s.leave - s.enter);
        !is_met(s) || (from - slack <= s.t && s.t <= to + slack)
    });
    singular.iter_mut().filter(|s| is_met(s)).for_each(|s| s.t = s.t.clamp(from, to));
    singular.sort_by(|a, b| a.t.total_cmp(&b.t));
    singular.dedup_by(|later, first| {
        let near = (first.leave - first.enter).max(later.leave - later.enter);
        let same = later.enter <= first.leave + near
            && first.enter <= later.leave + near
            && later.elements.iter().any(|e| first.elements.contains(e));
        if same {
            // of two views the one that promises less
            if first.outcome == PASSED {
                std::mem::swap(first, later);
            }
            first.enter = first.enter.min(later.enter);
            first.leave = first.leave.max(later.leave);
        }
        same
    });
}

/// Returns what a user should know of them.
pub(crate) fn notes(singular: &[SingularReport], t_start: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(first) = singular.iter().find(|s| s.outcome == REST) {
        notes.push(format!(
            "at rest in a singular position at t = {}: more than one motion of {} can follow, and nothing tells which{}",
            digits(&first.t),
            first.elements.join(", "),
            if first.t == t_start {
                "; start beside it, or with velocities, to choose one"
            } else {
                ""
            }
        ));
    }
    if let Some((s, gap)) = singular.iter().find_map(|s| {
        let gap = s.gap.filter(|gap| s.outcome == PASSED && APART.contains(gap))?;
        Some((s, gap))
    }) {
        notes.push(format!(
            "branches are {gap:.1e} apart at t = {}: less than 1e-9 of the largest position counts as a crossing",
            digits(&s.t)
        ));
    }
    notes
}

/// Returns what a user should know of an integrator that was left to itself at `t`.
pub(crate) fn left_alone(t: f64, integrator: &str) -> String {
    format!(
        "something is stiff near the singular position at t = {}: explicit steps through it were too many, and `{integrator}` was left to its \
         own equations there, which keep branch and reactions only as far as its steps do; look at them, and compare with a shorter step",
        digits(&t)
    )
}

/// Markers of singular positions, for the list of events.
pub(crate) fn markers(singular: &[SingularReport]) -> impl Iterator<Item = EventReport> + '_ {
    singular.iter().take(MARKERS).map(|s| EventReport {
        t: s.t,
        name: "singular position".into(),
        actions: vec![format!("{}: {}", s.outcome.replace('_', " "), s.elements.join(", "))],
        impulses: Vec::new(),
        energy_lost: 0.0,
    })
}
