//! Pękal and Frączek (2016): five formulations for redundant constraints, three stabilizations, two McPherson struts.
//!
//! Their times are of another machine and language, so what is compared is who is faster than whom, and by how much: the
//! pattern of their Table 1.

#[path = "claims.rs"]
mod claims;
#[path = "figures.rs"]
mod figures;
#[path = "printed.rs"]
mod printed;
#[path = "reference.rs"]
mod reference;

use crate::claim::{PaperError, Reproduction};
use crate::runs::{Case, Cost, How, Tally, time};
use crate::table::Table;
use crate::{Effort, Paper, Progress};
use printed::{FORMULATIONS, SECONDS, STABILIZATIONS, TOLERANCES};
use sarrus::analysis::Outcome;

pub const PAPER: Paper = Paper {
    name: "pekal2016",
    title: "M. Pękal, J. Frączek (2016): Comparison of selected formulations for multibody system dynamics with \
            redundant constraints",
    scope: "both struts, five formulations, three stabilizations, four tolerances: Table 1, figures 3-11",
    run: reproduce,
};

const MODEL: &str = include_str!("strut.toml");
/// Ours, beside the paper's five.
const PROXIMAL: usize = 5;
/// α = β \[1/s\] tried to see what Baumgarte's stabilization costs; 0 is none.
const RATES: [f64; 5] = [0.0, 1.0, 3.0, 10.0, 30.0];
const VARIANTS: [(&str, &str); 2] = [("simplified", "0"), ("overconstrained", "1")];

/// Everything that was run.
struct Runs {
    /// Both variants.
    cases: [Case; 2],
    /// Tolerances tried, as indices of [`TOLERANCES`].
    tolerances: Vec<usize>,
    /// `costs[2 s + v][i][f]`, as in [`SECONDS`]; the last formulation is `proximal`.
    costs: Vec<Vec<[Cost; 6]>>,
    /// Trajectories of the simplified strut by least squares 2 at the tightest tolerance, by stabilization: a tenth of the
    /// run, half of it, and all.
    drifts: Vec<[Outcome; 3]>,
    /// Right-hand sides of the simplified strut at the second tolerance, by α = β of Baumgarte's stabilization \[1/s\].
    rates: Vec<(f64, u64)>,
    /// End of the runs \[s\].
    t_end: f64,
}

/// The name here of formulation `f` on variant `v`.
fn formulation(f: usize, v: usize) -> &'static str {
    if f == PROXIMAL { "proximal" } else { FORMULATIONS[f].1[v] }
}

fn how(f: usize, v: usize, s: usize, tolerance: f64, t_end: f64) -> How {
    How {
        formulation: formulation(f, v),
        stabilization: STABILIZATIONS[s].1.into(),
        integrator: "rk45",
        rtol: tolerance,
        atol: tolerance,
        t_end,
        every: t_end / 1000.0,
    }
}

fn reproduce(effort: Effort, progress: &mut dyn Progress) -> Result<Reproduction, PaperError> {
    let runs = run(effort, progress)?;
    let mut claims = claims::model(&runs)?;
    claims.extend(claims::motion(&runs)?);
    claims.extend(claims::costs(&runs));
    claims.extend(claims::drift(&runs));
    Ok(Reproduction {
        name: PAPER.name.into(),
        title: PAPER.title.into(),
        claims,
        unsaid: claims::unsaid(),
        tables: vec![table(&runs), claims::gain(&runs)],
        figures: figures::all(&runs),
    })
}

fn run(effort: Effort, progress: &mut dyn Progress) -> Result<Runs, PaperError> {
    let (tolerances, t_end) = match effort {
        Effort::Full => (vec![0, 1, 2, 3], 10.0),
        Effort::Quick => (vec![2, 3], 2.0),
    };
    let total = 6 * tolerances.len() * 6 + 3 * STABILIZATIONS.len() + RATES.len();
    let mut tally = Tally { done: 0, total, progress };
    let case = |v: usize| {
        Case::new(&format!("{} strut", VARIANTS[v].0), MODEL, &[("overconstrained", VARIANTS[v].1)], None)
    };
    let cases = [case(0)?, case(1)?];
    let mut costs = Vec::new();
    for s in 0..STABILIZATIONS.len() {
        for v in 0..VARIANTS.len() {
            let mut by_tolerance = Vec::new();
            for &i in &tolerances {
                let mut row = Vec::new();
                for f in 0..=PROXIMAL {
                    let how = how(f, v, s, TOLERANCES[i], t_end);
                    tally.next(&format!("{} strut, {}", VARIANTS[v].0, how.text()))?;
                    row.push(time(&cases[v], &how, effort)?);
                }
                by_tolerance.push(std::array::from_fn(|f| row[f]));
            }
            costs.push(by_tolerance);
        }
    }
    let mut drifts = Vec::new();
    for s in 0..STABILIZATIONS.len() {
        let mut run = |t_end: f64| {
            let how = how(3, 0, s, TOLERANCES[tolerances[0]], t_end);
            tally.next(&format!("constraint norms, {}", how.text()))?;
            cases[0].run(&how, true)
        };
        drifts.push([run(0.1 * t_end)?, run(0.5 * t_end)?, run(t_end)?]);
    }
    let mut rates = Vec::new();
    for rate in RATES {
        let mut how = how(PROXIMAL, 0, 0, TOLERANCES[tolerances[1]], t_end);
        if rate > 0.0 {
            how.stabilization = format!("baumgarte:alpha={rate},beta={rate}");
        }
        tally.next(&format!("rates, {}", how.text()))?;
        rates.push((rate, cases[0].run(&how, false)?.report.counts.rhs));
    }
    Ok(Runs { cases, tolerances, costs, drifts, rates, t_end })
}

/// Table 1 with ours beside it, each row relative to its least squares 1.
fn table(runs: &Runs) -> Table {
    let mut columns = vec!["figure", "strut", "stabilization", "tolerance", "right-hand sides"];
    columns.extend(FORMULATIONS.iter().map(|f| f.0));
    columns.push("proximal");
    columns.push("least squares 1 [ms]");
    let mut table =
        Table::new("Table 1: time relative to least squares 1 in the same row, theirs / ours", &columns);
    for (block, costs) in runs.costs.iter().enumerate() {
        let (s, v) = (block / 2, block % 2);
        for (k, &i) in runs.tolerances.iter().enumerate() {
            let base = costs[k][2].seconds;
            let mut row = vec![
                (3 + block).to_string(),
                VARIANTS[v].0.into(),
                STABILIZATIONS[s].0.into(),
                format!("{:e}", TOLERANCES[i]),
                costs[k][2].rhs.to_string(),
            ];
            for f in 0..FORMULATIONS.len() {
                let theirs = SECONDS[block][i][f] / SECONDS[block][i][2];
                row.push(format!("{theirs:.2} / {:.2}", costs[k][f].seconds / base));
            }
            row.push(format!("- / {:.3}", costs[k][PROXIMAL].seconds / base));
            row.push(format!("{:.0} / {:.1}", 1e3 * SECONDS[block][i][2], 1e3 * base));
            table.rows.push(row);
        }
    }
    table
}
