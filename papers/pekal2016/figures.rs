//! Figures 3 to 11 of the paper.

use super::printed::{FORMULATIONS, STABILIZATIONS, TOLERANCES};
use super::{PROXIMAL, Runs, VARIANTS};
use sarrus_plot::{Axis, Figure, Panel, Series};

/// All of them, by file name.
pub fn all(runs: &Runs) -> Vec<(String, Figure)> {
    let mut figures: Vec<_> =
        (0..runs.costs.len()).map(|b| (format!("figure{}", 3 + b), costs(runs, b))).collect();
    figures.extend((0..STABILIZATIONS.len()).map(|s| (format!("figure{}", 9 + s), norms(runs, s))));
    figures
}

/// Times and right-hand sides of one strut and stabilization, by tolerance and formulation.
fn costs(runs: &Runs, block: usize) -> Figure {
    let (s, v) = (block / 2, block % 2);
    let tolerances =
        || runs.tolerances.iter().map(|i| sarrus_plot::power(TOLERANCES[*i].log10().round() as i32));
    let mut time = Panel::new(Axis::categories("tolerance", tolerances()), Axis::log("processor time", "s"));
    let mut rhs = Panel::new(Axis::categories("tolerance", tolerances()), Axis::log("right-hand sides", ""));
    for f in 0..=PROXIMAL {
        let name = if f == PROXIMAL { "proximal (not in the paper)" } else { FORMULATIONS[f].0 };
        let rows = &runs.costs[block];
        time = time.with(Series::bars(name, rows.iter().map(|row| row[f].seconds)));
        rhs = rhs.with(Series::bars(name, rows.iter().map(|row| row[f].rhs as f64)));
    }
    let title =
        format!("{} strut, stabilization: {} (figure {})", VARIANTS[v].0, STABILIZATIONS[s].0, 3 + block);
    Figure::new(title).with(time).with(rhs)
}

/// Norms of the constraints over time.
fn norms(runs: &Runs, s: usize) -> Figure {
    let t = &runs.drifts[s][2].trajectory;
    let mut panel = Panel::new(Axis::linear("time", "s"), Axis::log("norm of the constraints", ""));
    // the start is exact: nothing below rounding is of interest
    panel.y.range = Some((1e-17, 1e-6));
    for (name, column) in [
        ("position", "violation.position"),
        ("velocity", "violation.velocity"),
        ("acceleration", "violation.acceleration"),
    ] {
        let values = t.column(column).into_iter().flatten();
        panel = panel.with(Series::line(name, t.rows().map(|row| row[0]).zip(values)));
    }
    let tolerance = TOLERANCES[runs.tolerances[0]];
    Figure::new(format!("simplified strut, stabilization: {} (figure {})", STABILIZATIONS[s].0, 9 + s))
        .with(panel)
        .note(format!("least squares 2, tolerance {tolerance:e}; samples between steps are interpolated"))
}
