//! Example A as the library runs it: it passes through straight, locks, and stays locked.
//!
//! A lock written as a distance across its joint is dead the moment it begins to act: it depends on the joint's own rows, and
//! says nothing about velocities or accelerations. The library notices that its second derivative contradicts them, and
//! holds the joint by a row in its angle as well: without one no method could.

use super::reference::LOCK_TIMES;
use crate::claim::{Claim, PaperError, Verdict};
use crate::runs::{Case, Tally, largest};
use crate::table::Table;
use sarrus::analysis::{MethodText, Outcome, RunOverrides, Simulate, Status, simulate};

const MODEL: &str = include_str!("../../models/deployment.toml");
const DISTANCES: &str = "[constraints]
D1 = { kind = 'distance', bodies = ['ground', 'link1'], ends = [[-1, 0], 'P1'], length = 2, enabled = false }
D2 = { kind = 'distance', bodies = ['link1', 'link2'], ends = ['P0', 'P2'], length = 2, enabled = false }
D3 = { kind = 'distance', bodies = ['link2', 'link3'], ends = ['P1', 'P3'], length = 2, enabled = false }
[events]
straight1 = { when = 'J1.angle < 0', once = true, enable = ['D1'] }
straight2 = { when = 'J2.angle > 0', once = true, enable = ['D2'] }
straight3 = { when = 'J3.angle < 0', once = true, enable = ['D3'] }

[forces]";

/// A method with a fixed step \[s\], or one with tolerances.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Step(&'static str, f64),
    Accuracy(&'static str, f64),
}

impl Way {
    fn name(self) -> String {
        match self {
            Way::Step(method, h) => format!("{method}, h = {h} s"),
            Way::Accuracy(method, rtol) => format!("{method} at {rtol:e}"),
        }
    }

    fn overrides(self) -> Result<RunOverrides, PaperError> {
        let (method, o) = match self {
            Way::Step(method, h) => (method, RunOverrides { step: Some(h), ..RunOverrides::default() }),
            Way::Accuracy(method, rtol) => (
                method,
                RunOverrides { rtol: Some(rtol), atol: Some(1e-2 * rtol), ..RunOverrides::default() },
            ),
        };
        let MethodText(integrator) =
            method.parse().map_err(|e| PaperError::Run { what: self.name(), reason: format!("{e}") })?;
        Ok(RunOverrides { integrator: Some(integrator), t_end: Some(1.5), every: Some(0.005), ..o })
    }
}

/// A run and how it locked.
pub struct Locked {
    way: Way,
    rows: &'static str,
    pub outcome: Outcome,
}

impl Locked {
    /// Largest error of a lock's time \[s\].
    fn late(&self) -> f64 {
        let times = self.outcome.report.events.iter().map(|e| e.t);
        largest(times.zip(LOCK_TIMES).map(|(t, known)| (t - known).abs()))
    }

    /// Whether all three have locked and the run continued to its end.
    fn passed(&self) -> bool {
        self.outcome.report.status == Status::Completed && self.outcome.report.events.len() == 3
    }

    /// Largest angle of a joint after it has locked \[rad\].
    fn opened(&self) -> f64 {
        let locks = self.outcome.report.events.iter().zip(["J3.angle", "J2.angle", "J1.angle"]);
        largest(locks.map(|(event, joint)| {
            let angles = self.outcome.trajectory.column(joint).into_iter().flatten();
            let later = self.outcome.trajectory.rows().zip(angles).filter(|(row, _)| row[0] > event.t);
            largest(later.map(|(_, angle)| angle.abs()))
        }))
    }
}

/// Everything that was run; the first is the default method at its tightest.
pub fn runs(ways: usize, tally: &mut Tally) -> Result<Vec<Locked>, PaperError> {
    let distances = MODEL.replace(", lock_at = 0", "").replace("[forces]", DISTANCES);
    let texts = [("angle", MODEL), ("distance", &distances)];
    let mut all = vec![Way::Accuracy("auto", 1e-9), Way::Step("staggered", 2e-4)];
    for rtol in [1e-4, 1e-5, 1e-6].into_iter().take(ways) {
        all.extend([Way::Accuracy("auto", rtol), Way::Accuracy("staggered:adaptive=yes", rtol)]);
    }
    all.extend([1e-2, 1e-4].map(|h| Way::Step("staggered:form=paper", h)));
    let mut found = Vec::new();
    for (rows, text) in texts {
        let case = Case::new(&format!("deployment, locks as {rows} rows"), text, &[], None)?;
        for &way in &all {
            tally.next(&format!("{}, {}", case.name, way.name()))?;
            let request = Simulate { overrides: way.overrides()?, record: true };
            let outcome = simulate(&case.model, &case.system, &request, &mut ())
                .map_err(|e| PaperError::Run { what: way.name(), reason: e.to_string() })?;
            found.push(Locked { way, rows, outcome });
        }
    }
    Ok(found)
}

/// Which runs are made with the form of the paper.
fn of_paper(run: &Locked) -> bool {
    matches!(run.way, Way::Step("staggered:form=paper", _))
}

/// Claims about passing through straight.
pub fn claims(runs: &[Locked]) -> Vec<Claim> {
    let sharp = |run: &&Locked| matches!(run.way, Way::Accuracy("auto", 1e-9) | Way::Step("staggered", _));
    let late = largest(runs.iter().filter(sharp).map(|r| if r.passed() { r.late() } else { f64::NAN }));
    let (default, ours): (Vec<&Locked>, Vec<&Locked>) =
        runs.iter().filter(|r| !of_paper(r)).partition(|r| matches!(r.way, Way::Accuracy("auto", _)));
    let held = |runs: &[&Locked]| runs.iter().filter(|r| r.passed() && r.opened() < 1e-6).count();
    let (passed, passed_default) = (held(&ours), held(&default));
    let theirs: Vec<&Locked> = runs.iter().filter(|r| of_paper(r)).collect();
    let lost = theirs.iter().filter(|r| !r.passed()).count();
    vec![
        Claim::new(
            "A: lock times, against the reference (default method and staggered, both kinds of rows)",
            "-",
            late,
            1e-6,
            late <= 1e-6,
            Verdict::Failed,
            "largest error in s of 0.300514, 0.669179 and 1.105743 s; default method at 1e-9, staggered at h = 2e-4 s",
        ),
        Claim::new(
            "A: the staggered procedure passes through straight and stays locked, at every accuracy",
            "yes",
            format!("{passed} of {} runs", ours.len()),
            "all; joints within 1e-6 rad",
            passed == ours.len(),
            Verdict::Failed,
            format!(
                "with locks as angles, and as distances, which are dependent when straight: there a row in the angle is added, as a \
                 distance at its dead centre holds nothing; so do {passed_default} of {} runs of the default method",
                default.len()
            ),
        ),
        Claim::new(
            "A: so does the procedure in the form of the paper",
            "yes",
            format!("{lost} of {} runs fail", theirs.len()),
            "none",
            lost == 0,
            Verdict::Differs,
            "it lets positions drift, so that a hinge may be apart when it is to lock; and it is lost where a distance makes rows \
             dependent, in spite of the row in the angle: the table says when",
        ),
    ]
}

/// Run by run.
pub fn table(runs: &[Locked]) -> Table {
    let mut table = Table::new(
        "Deployment with the simulator",
        &[
            "locks as",
            "method",
            "steps",
            "locks",
            "largest error of a lock's time [s]",
            "joint opens by at most [rad]",
            "ended",
        ],
    );
    for run in runs {
        let report = &run.outcome.report;
        let ended = if run.passed() { "at 1.5 s".into() } else { format!("failed: {}", report.reason) };
        let number = |x: f64| if report.events.is_empty() { "-".into() } else { format!("{x:.1e}") };
        table.rows.push(vec![
            run.rows.into(),
            run.way.name(),
            report.counts.steps.to_string(),
            report.events.len().to_string(),
            number(run.late()),
            number(run.opened()),
            ended,
        ]);
    }
    table
}
