//! Figures 1, 2 and 4 of the paper, and the long runs of the double pendulum.

use super::deployment::Locked;
use super::iterations::{self, ALPHA, H};
use super::pendulum::{self, FORMS, H_LONG};
use sarrus::analysis::Outcome;
use sarrus_plot::{Axis, Figure, Panel, Series};

/// Instants of the deployment that are drawn \[s\].
const TIMES: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.45, 0.58, 0.7, 1.2];

/// All of them, by file name.
pub fn all(
    locked: &[Locked],
    iterations: &iterations::Runs,
    pendulum: &pendulum::Runs,
) -> Vec<(String, Figure)> {
    vec![
        ("figure1".into(), deployment(&locked[0].outcome)),
        ("figure2".into(), counts(iterations)),
        ("figure4".into(), trajectories(&pendulum.path)),
        ("energy".into(), long(pendulum)),
    ]
}

/// An axis in metres, with given ends so that panels are to scale.
fn metres(label: &str, from: f64, to: f64) -> Axis {
    Axis { range: Some((from, to)), ..Axis::linear(label, "m") }
}

/// The links at several times, to scale.
fn deployment(run: &Outcome) -> Figure {
    let t = &run.trajectory;
    let at = |row: &[f64], name: &str| t.index(name).map_or(f64::NAN, |i| row[i]);
    let mut panel = Panel::new(metres("x", -0.1, 3.1), metres("y", -0.4, 1.2));
    for time in TIMES {
        let away = |row: &&[f64]| (row[0] - time).abs();
        let Some(row) = t.rows().min_by(|a, b| away(a).total_cmp(&away(b))) else { continue };
        let mut points = vec![(0.0, 0.0)];
        for link in ["link1", "link2", "link3"] {
            // the far end, half a metre beyond the middle
            let [x, y, angle] = ["x", "y", "angle"].map(|key| at(row, &format!("{link}.{key}")));
            points.push((x + 0.5 * angle.cos(), y + 0.5 * angle.sin()));
        }
        panel = panel.with(Series::line_markers(format!("{time} s"), points));
    }
    let mut figure = Figure::new("Deployment of the three links (figure 1)").with(panel);
    figure.panel_size = Some((560.0, 280.0));
    figure.note(
        "wall at the origin; the joints lock at 0.301 s (outer), 0.669 s (middle) and 1.106 s (at the wall)",
    )
}

/// Iterations per step.
fn counts(runs: &iterations::Runs) -> Figure {
    let mut figure = Figure::new("Iterations per step of the two techniques (figure 2)");
    for (index, accuracy) in [(0, "accuracy 10⁻⁴, as in the text"), (2, "accuracy 10⁻⁶, as in the caption")]
    {
        let mut y = Axis::linear("iterations", "");
        y.range = Some((0.0, 100.0));
        let mut panel = Panel::new(Axis::linear("time", "s"), y).titled(accuracy);
        let [baumgarte, staggered] = &runs.paper[index];
        for (name, run) in [("Baumgarte", baumgarte), ("staggered", staggered)] {
            let mut points: Vec<_> = run.steps.iter().map(|s| (s.0, s.1 as f64)).collect();
            // the step that takes more than are allowed
            points.extend(run.failed.map(|t| (t + H, 100.0)));
            panel = panel.with(Series::line_markers(name, points));
        }
        figure = figure.with(panel);
    }
    figure.note(format!(
        "by substitution, h = {H} s, α = {ALPHA}/s, β = α²; the last lock is a distance; 100 iterations: not converged"
    ))
}

/// Figures 4a and 4b.
fn trajectories(run: &Outcome) -> Figure {
    let mut elevation = Panel::new(metres("x", -1.1, 1.1), metres("z", -1.9, 0.3)).titled("elevation (4a)");
    let mut plan = Panel::new(metres("x", -1.1, 1.1), metres("y", -1.1, 1.1)).titled("plan (4b)");
    for (name, body) in [("mass centre 1", "upper"), ("mass centre 2", "lower")] {
        let [x, y, z] = pendulum::path(run, body);
        elevation = elevation.with(Series::line(name, x.iter().copied().zip(z)));
        plan = plan.with(Series::line(name, x.into_iter().zip(y)));
    }
    let mut figure =
        Figure::new("Trajectories of the double pendulum (figure 4)").with(elevation).with(plan).columns(2);
    figure.panel_size = Some((340.0, 340.0));
    figure.note("over 5 s, from 45 degrees, turning at 1 rad/s about the vertical")
}

/// Energy and constraints over long time.
fn long(runs: &pendulum::Runs) -> Figure {
    let mut energy = Panel::new(Axis::linear("time", "s"), Axis::log("energy error", "J"));
    energy.y.range = Some((1e-6, 1e2));
    let mut violation = Panel::new(Axis::linear("time", "s"), Axis::log("‖Φ‖", "m"));
    violation.y.range = Some((1e-16, 1e1));
    for (long, form) in runs.long.iter().zip(FORMS) {
        // what follows is no motion of the mechanism any more
        let end = long.lost.unwrap_or(f64::INFINITY);
        let name = format!("form {form}");
        let shown = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            points.iter().filter(|p| p.0 <= end).map(|p| (p.0, p.1.abs())).collect()
        };
        energy = energy.with(Series::line(name.clone(), shown(&long.energy)));
        violation = violation.with(Series::line(name, shown(&long.violation)));
    }
    Figure::new(format!("Double pendulum over long time, h = {H_LONG} s"))
        .with(energy)
        .with(violation)
        .note("a line ends where the energy is wrong by a tenth of the largest kinetic energy")
}
