//! Figures 2 to 7 of the paper, and the errors of the torques with each way through the fold.

use super::exact::{FOLDED, Motion, X0, motion};
use super::passage::Passages;
use super::printed::Row;
use super::{Run, name};
use sarrus_plot::{Axis, Figure, Panel, Series};

/// Time shown on both sides of the fold \[s\].
const NEAR: f64 = 0.08;
/// Torques shown \[N m\], at shoulder and elbow.
const SHOWN: [f64; 2] = [12.0, 2.0];
/// Errors of the velocity shown \[%\].
const SLIPS: (f64, f64) = (1e-8, 1e2);

/// Figures 2 to 7, by file name: without Baumgarte's terms and with them.
pub fn of_rows(runs: &[Run]) -> Vec<(String, Figure)> {
    let mut figures = Vec::new();
    for (baumgarte, first) in [(false, 2), (true, 5)] {
        for joint in 0..2 {
            let number = first + joint;
            figures.push((format!("figure{number}"), torques(runs, baumgarte, joint, number)));
        }
        figures.push((format!("figure{}", first + 2), slips(runs, baumgarte, first + 2)));
    }
    figures
}

fn suffix(baumgarte: bool) -> &'static str {
    if baumgarte { " with Baumgarte's terms" } else { "" }
}

/// Runs in steps of 0.01 s with these rows, from both starts, none made to land.
fn chosen(runs: &[Run], baumgarte: bool) -> impl Iterator<Item = (String, &Run)> {
    let of = |row| move |r: &&Run| r.is(row, baumgarte) && r.h == 1e-2 && r.landing.is_none();
    let kept = runs.iter().filter(of(Row::Kept));
    kept.chain(runs.iter().filter(of(Row::Modified)))
        .map(|r| (format!("{}, {} start", name(r.row, false), r.start), r))
}

/// `value` where it is within `limit`, or the line ends.
fn within(m: &Motion, value: f64, limit: f64) -> (f64, f64) {
    (m.t, if value.abs() <= limit { value } else { f64::NAN })
}

fn torques(runs: &[Run], baumgarte: bool, joint: usize, number: usize) -> Figure {
    let limit = SHOWN[joint];
    let x = Axis { range: Some((FOLDED - NEAR, FOLDED + NEAR)), ..Axis::linear("time", "s") };
    let y = Axis { range: Some((-limit, limit)), ..Axis::linear("torque", "N m") };
    let near = |t: &f64| (t - FOLDED).abs() <= NEAR;
    let times = (0..=840).map(|i| 1e-3 * f64::from(i)).filter(near);
    let mut panel =
        Panel::new(x, y).with(Series::line("exact", times.map(|t| (t, motion(t).torques()[joint]))));
    for (name, run) in chosen(runs, baumgarte) {
        let points = run.track.iter().filter(|m| near(&m.t));
        panel = panel.with(Series::line_markers(name, points.map(|m| within(m, m.torques()[joint], limit))));
    }
    let which = ["shoulder", "elbow"][joint];
    Figure::new(format!("Torque at the {which}{} (figure {number})", suffix(baumgarte)))
        .with(panel)
        .note("rk4 in steps of 0.01 s; what lies outside is not drawn")
}

fn slips(runs: &[Run], baumgarte: bool, number: usize) -> Figure {
    let x = Axis { range: Some((0.0, X0)), ..Axis::linear("time", "s") };
    let y = Axis { range: Some(SLIPS), ..Axis::log("error of the velocity constraint", "%") };
    let mut panel = Panel::new(x, y);
    for (name, run) in chosen(runs, baumgarte) {
        let points = run.track.iter().map(|m| within(m, m.slip().max(SLIPS.0), SLIPS.1));
        panel = panel.with(Series::line(name, points));
    }
    Figure::new(format!("Error of the velocity constraint{} (figure {number})", suffix(baumgarte)))
        .with(panel)
        .note("rk4 in steps of 0.01 s; what lies outside is not drawn")
}

/// Errors of the torques over time, with each way through the fold.
pub fn errors(passages: &Passages) -> Figure {
    let y = Axis { range: Some((1e-14, 1e2)), ..Axis::log("error of the torques", "N m") };
    let mut panel = Panel::new(Axis::linear("time", "s"), y);
    for (name, track) in &passages.shown {
        panel = panel.with(Series::line(name, track.iter().map(|m| within(m, m.error().max(1e-14), 1e2))));
    }
    Figure::new("Errors of the torques: default, the paper's rows, plain rows")
        .with(panel)
        .note("rk4 in steps of 0.001 s with projection; a step ends 1e-5 s after the fold")
}
