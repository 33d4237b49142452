//! Amirouche (1991): a robot of two arms whose tip is led along a line through the position where its second arm is folded back.
//!
//! There the row that holds the tip on the line vanishes. The paper replaces it by its next derivative; here that is run as printed
//! ([`printed`]), as part of the library (`regularize = "amirouche"`), and beside the default (`"jets"`) and the plain rows
//! ([`robot`]). The motion is known in closed form ([`exact`]), so that every number is an error and not a difference.

#[path = "claims.rs"]
mod claims;
#[path = "exact.rs"]
mod exact;
#[path = "figures.rs"]
mod figures;
#[path = "passage.rs"]
mod passage;
#[path = "printed.rs"]
mod printed;
#[path = "robot.rs"]
mod robot;

use crate::claim::{PaperError, Reproduction};
use crate::runs::Tally;
use crate::table::Table;
use crate::{Effort, Paper, Progress};
use exact::{FOLDED, Motion, PRINTED, START, X0, worst};
use printed::{Row, Rows};

pub const PAPER: Paper = Paper {
    name: "amirouche1991",
    title: "F. M. L. Amirouche (1991): Performance and stability in high speed articulated structures",
    scope: "the two-arm robot of section 4.1 through its folded position: figures 2-7, with and without the modified rows and \
            Baumgarte's terms",
    run: reproduce,
};

/// Baumgarte's α \[1/s\] and β \[1/s²\] in ḧ + α ḣ + β h = 0: a double root at -20/s.
const ALPHA: f64 = 40.0;
const BETA: f64 = 400.0;
/// Starts of runs, and their names.
const STARTS: [(&str, [f64; 4]); 2] = [("exact", START), ("printed", PRINTED)];
/// Steps \[s\].
const STEPS: [f64; 2] = [1e-2, 1e-3];
/// How far from the fold a step is made to end \[s\]; none where no step is made to.
const LANDINGS: [Option<f64>; 7] =
    [None, Some(0.0), Some(1e-12), Some(1e-9), Some(1e-7), Some(1e-5), Some(1e-4)];

/// A run of the paper's equations.
struct Run {
    start: &'static str,
    h: f64,
    landing: Option<f64>,
    row: Row,
    baumgarte: bool,
    track: Vec<Motion>,
}

impl Run {
    /// When it was lost \[s\], if it was.
    fn lost(&self) -> Option<f64> {
        lost(&self.track)
    }

    fn is(&self, row: Row, baumgarte: bool) -> bool {
        self.row == row && self.baumgarte == baumgarte
    }
}

/// When a track ends that does not reach its end \[s\].
fn lost(track: &[Motion]) -> Option<f64> {
    let end = track.last().map_or(0.0, |m| m.t);
    (end < X0).then_some(end)
}

/// The error of the torques of a track in words.
fn said(track: &[Motion]) -> String {
    match lost(track) {
        Some(t) => format!("lost at {t:.3} s"),
        None => format!("{:.1e}", worst(track).0),
    }
}

/// The paper's equations with every kind of row.
fn runs() -> Vec<Run> {
    let mut all = Vec::new();
    for (row, baumgarte) in [
        (Row::Kept, false),
        (Row::Modified, false),
        (Row::Kept, true),
        (Row::Modified, true),
        (Row::Levels, true),
        (Row::Cube, false),
        (Row::Two, false),
    ] {
        let (alpha, beta) = if baumgarte { (ALPHA, BETA) } else { (0.0, 0.0) };
        for (start, state) in STARTS {
            for h in STEPS {
                for landing in LANDINGS {
                    let track = Rows { row, alpha, beta }.run(h, state, landing.map(|d| FOLDED + d));
                    all.push(Run { start, h, landing, row, baumgarte, track });
                }
            }
        }
    }
    all
}

fn reproduce(effort: Effort, progress: &mut dyn Progress) -> Result<Reproduction, PaperError> {
    let mut tally = Tally { done: 0, total: 1 + passage::count(effort), progress };
    tally.next("the paper's equations")?;
    let runs = runs();
    let passages = passage::run(effort, &mut tally)?;
    let mut claims = claims::of_rows(&runs);
    claims.extend(claims::of_print(&runs));
    claims.extend(passages.claims());
    let mut figures = figures::of_rows(&runs);
    figures.push(("torque_errors".into(), figures::errors(&passages)));
    Ok(Reproduction {
        name: PAPER.name.into(),
        title: PAPER.title.into(),
        claims,
        unsaid: unsaid(),
        tables: vec![table(&runs), passages.landings, passages.stabilized],
        figures,
    })
}

fn name(row: Row, baumgarte: bool) -> String {
    let rows = match row {
        Row::Kept => "B unchanged (73)",
        Row::Modified => "modified rows (77)",
        Row::Cube => "(77) as printed, (y1 - y2)³",
        Row::Two => "factor 2 of (61)",
        Row::Levels => "(78) as printed",
    };
    format!("{rows}{}", if baumgarte { ", Baumgarte" } else { "" })
}

/// Errors of the paper's equations.
fn table(runs: &[Run]) -> Table {
    let mut table = Table::new(
        "The paper's equations in two joint angles, rk4: largest error of the torques [N m] and of the tip's velocity [%]",
        &[
            "rows",
            "start",
            "step [s]",
            "torques",
            "velocity",
            "velocity at the end",
            "torques, a step ends on the fold",
            "torques, at most, a step ends 1e-12 to 1e-4 s after it",
        ],
    );
    for run in runs.iter().filter(|r| r.landing.is_none()) {
        let same = |r: &&Run| r.is(run.row, run.baumgarte) && (r.start, r.h) == (run.start, run.h);
        let of = |pick: fn(f64) -> bool| {
            runs.iter().filter(same).filter(move |r| r.landing.is_some_and(pick)).collect::<Vec<_>>()
        };
        let beside = of(|d| d > 0.0);
        let gone = beside.iter().filter(|r| r.lost().is_some()).count();
        let slip = |x: f64| if run.lost().is_some() { "-".to_string() } else { format!("{x:.1e}") };
        table.rows.push(vec![
            name(run.row, run.baumgarte),
            run.start.into(),
            format!("{:e}", run.h),
            said(&run.track),
            slip(worst(&run.track).1),
            slip(run.track.last().map_or(f64::NAN, Motion::slip)),
            of(|d| d == 0.0).iter().map(|r| said(&r.track)).collect(),
            match gone {
                0 => format!("{:.1e}", beside.iter().map(|r| worst(&r.track).0).fold(0.0, f64::max)),
                _ => format!("{gone} of {} lost", beside.len()),
            },
        ]);
    }
    table
}

fn unsaid() -> Vec<String> {
    [
        "The curves of figures 2-7 are not in our copy of the report: what the text says of them is compared.",
        "Step, integrator, α and β are not printed: rk4 with steps of 0.01 and 0.001 s, ḧ + α ḣ + β h = 0 with a double root at \
         -20/s (α = 40/s, β = 400/s²).",
        "Where the modified rows begin is not printed: where the norm of the first row of B is below 0.1 m, some 0.05 s before and \
         after the fold.",
        "The speed of the tip is not printed: the initial rates give 2 m/s; its start follows from the angles, x0 = 0.840625 m.",
        "Gravity: 9.81 m/s² along -y. The terms of (76) do not fit any direction; nor do M11, M12 and the Coriolis term of its first \
         row fit the arms. Right: M11 = (25/16 + C2/2) m l² + I1 + I2, M12 = (1/16 + C2/4) m l² + I2, y2 (2 y1 + y2), gravity \
         2 m g l C1 + m g l C12/4 and m g l C12/4.",
        "The singular position is q1 = π/2, q2 = π; the text before (66) says q1 = 0.",
        "(68)-(72) have ẏ for y and lack dots on ẏ.",
        "The error of the velocity constraint in percent: |(ḣ1, ḣ2)| over the speed of the tip.",
        "The initial data are rounded to six digits; near the fold that rounding is multiplied by 1/x. Both they and the exact data \
         are run; projection brings the printed ones onto the constraints first.",
    ]
    .iter()
    .map(|s| s.to_string())
    .collect()
}
