//! Singular positions of a run, as its report and its events tell them.

use crate::report::{EventReport, SingularReport};
use sarrus_solve::integrators::{Because, Ended};
use sarrus_solve::{Crossing, Dynamics, Problem};
use sarrus_system::Mechanism;

/// Most elements that are named.
const MOST: usize = 12;
/// Most singular positions whose markers stand among the events.
const MARKERS: usize = 1000;
/// What is told only if the run ends there.
const UNCLEAR: &str = "unclear";
/// A run that ends within so many durations of a near miss after it ended there.
const THERE: f64 = 10.0;

/// What `dynamics` has met, with names.
pub(crate) fn reports(dynamics: &Dynamics<'_, Mechanism>) -> Vec<SingularReport> {
    let name = |row: usize| dynamics.problem().name_of_row(row);
    let report = |p: &sarrus_solve::PassageRecord| {
        let mut elements: Vec<String> = Vec::new();
        for name in p.rows.iter().map(|&row| name(row)) {
            if elements.len() < MOST && !elements.contains(&name) {
                elements.push(name);
            }
        }
        let passed = p.crossing == Crossing::Passed;
        SingularReport {
            t: p.at,
            outcome: match p.crossing {
                Crossing::Passed => "passed",
                Crossing::Missed => "near_miss",
                Crossing::Unclear => UNCLEAR,
            },
            enter: p.enter,
            leave: p.leave,
            rank_losses: p.losses,
            elements,
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

/// Says of a run that failed at a near miss that it came to the end of its range. Returns why, in words. Forgets what turned out to
/// be nothing.
pub(crate) fn end_of_range(singular: &mut Vec<SingularReport>, ended: &Ended) -> Option<String> {
    let why = end_at_last(singular, ended);
    forget_unclear(singular);
    why
}

/// Forgets what turned out to be nothing.
pub(crate) fn forget_unclear(singular: &mut Vec<SingularReport>) {
    singular.retain(|s| s.outcome != UNCLEAR);
}

fn end_at_last(singular: &mut [SingularReport], ended: &Ended) -> Option<String> {
    let last = singular.last_mut()?;
    let Because::Failed(error) = &ended.because else { return None };
    let near = THERE * (last.leave - last.enter).max(1e-9);
    if last.outcome == "passed" || error.t() - last.leave > near {
        return None;
    }
    last.outcome = "end_of_range";
    // where speeds grow without bound, what was seen from farther off is no guide
    last.t = error.t();
    Some(format!(
        "the mechanism came to the end of its range at t = {}: {} can follow no further",
        last.t,
        last.elements.join(", ")
    ))
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
