//! Times of runs: alone, one at a time, without a trajectory, the best of several.
//!
//! Methods take turns, so that a machine that grows slower or faster meanwhile does so for all of them. Counts are taken
//! from these runs too: interpolating samples costs some methods right-hand sides that a run without does not need.

use super::Bench;
use super::matrix::Combination;
use super::parallel::Pool;
use super::row::{ComparisonRow, RowStatus};
use crate::Status;

/// Most runs of a short method.
const MOST: usize = 1000;

/// Holds what is known of one method's times.
#[derive(Debug, Clone, Copy, Default)]
struct MethodTimes {
    runs: usize,
    total: f64,
    best: Option<f64>,
    over: bool,
}

/// Fills in times and counts of completed rows, and returns which clock was read.
pub(crate) fn measure(
    bench: &Bench,
    cases: &[Combination],
    rows: &mut [ComparisonRow],
    pool: &mut Pool,
) -> &'static str {
    let Some(timing) = bench.matrix.timing else { return "none" };
    let mut clock = "wall";
    let chosen: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].status == RowStatus::Completed).collect();
    let mut taken = vec![MethodTimes::default(); rows.len()];
    let enough = |t: &MethodTimes| {
        t.over
            || t.total >= timing.most
            || t.runs >= MOST
            || (t.runs >= timing.repeat && t.total >= timing.least)
    };
    loop {
        let mut busy = false;
        for &i in &chosen {
            if pool.stopped() || enough(&taken[i]) {
                continue;
            }
            busy = true;
            let done: f64 = taken.iter().map(|t| if enough(t) { 1.0 } else { part(t, timing.least) }).sum();
            let done =
                done - (rows.len() - chosen.len()) as f64 * part(&MethodTimes::default(), timing.least);
            let outcome = pool.alone(done, chosen.len(), |meter| bench.simulate(&cases[i], false, meter));
            let Some(report) = outcome.ok().map(|o| o.report).filter(|r| r.status == Status::Completed)
            else {
                taken[i].over = true;
                continue;
            };
            if report.cpu_s.is_some() {
                clock = "processor";
            }
            let time = report.cpu_s.unwrap_or(report.wall_s);
            let t = &mut taken[i];
            (t.runs, t.total) = (t.runs + 1, t.total + report.wall_s);
            t.best = Some(t.best.map_or(time, |best| best.min(time)));
            rows[i].counts = Some(report.counts);
        }
        if !busy {
            break;
        }
    }
    for &i in &chosen {
        (rows[i].time_s, rows[i].timed) = (taken[i].best, taken[i].runs);
    }
    clock
}

/// Returns how much of a short method's repetitions is done.
fn part(t: &MethodTimes, least: f64) -> f64 {
    if least > 0.0 { (t.total / least).min(0.9) } else { 0.0 }
}
