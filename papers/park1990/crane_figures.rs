//! Figures 5 to 8 of the paper, and the spectrum of what figure 8 shows.

use super::crane::{Motion, Runs};
use sarrus_plot::{Axis, Figure, Panel, Series};

const JOINTS: [&str; 3] = ["shoulder", "elbow", "wrist"];

/// All of them, by file name.
pub fn all(runs: &Runs) -> Vec<(String, Figure)> {
    let soft = &runs.flexible[0].motion;
    vec![
        ("figure5".into(), path(&runs.inverse, soft)),
        ("figure6".into(), velocity(&runs.inverse, soft)),
        ("figure7".into(), torques(&runs.inverse, "Joint torques of rigid links (figure 7)")),
        ("figure8".into(), torques(soft, "Joint torques of flexible links (figure 8)")),
        ("spectrum".into(), spectrum(runs)),
    ]
}

fn metres(label: &str, from: f64, to: f64) -> Axis {
    Axis { range: Some((from, to)), ..Axis::linear(label, "m") }
}

/// Ways of elbow, wrist and tip, to scale.
fn path(rigid: &Motion, soft: &Motion) -> Figure {
    let mut panel = Panel::new(metres("x", -0.3, 2.1), metres("y", -0.1, 1.5));
    for (motion, name) in [(rigid, "rigid"), (soft, "flexible")] {
        for (places, joint) in motion.places.iter().zip(["elbow", "wrist", "tip"]) {
            panel = panel.with(Series::line(format!("{joint}, {name}"), places.iter().map(|p| (p[0], p[1]))));
        }
    }
    let mut figure = Figure::new("Trajectories of rigid and flexible links (figure 5)").with(panel);
    figure.panel_size = Some((560.0, 374.0));
    figure.note("the shoulder is at the origin; the tip is led")
}

fn velocity(rigid: &Motion, soft: &Motion) -> Figure {
    let mut figure = Figure::new("Velocity of the tip (figure 6)");
    for (axis, name) in ["x", "y"].iter().enumerate() {
        let mut panel =
            Panel::new(Axis::linear("time", "s"), Axis::linear(format!("velocity along {name}"), "m/s"));
        for (motion, label) in [(rigid, "rigid"), (soft, "flexible")] {
            let points = motion.t.iter().zip(&motion.velocity).map(|(t, v)| (*t, v[axis]));
            panel = panel.with(Series::line(label, points));
        }
        figure = figure.with(panel);
    }
    figure
}

fn torques(motion: &Motion, title: &str) -> Figure {
    let mut panel = Panel::new(Axis::linear("time", "s"), Axis::linear("torque", "N m"));
    panel.y.range = Some((-4.0, 4.0));
    for (torque, joint) in motion.torques.iter().zip(JOINTS) {
        let points: Vec<_> = motion.samples().map(|k| (motion.t[k], torque[k])).collect();
        panel = panel.with(Series::line(joint, points));
    }
    Figure::new(title).with(panel)
}

/// Amplitudes, with the natural frequencies as marks on the floor.
fn spectrum(runs: &Runs) -> Figure {
    let (floor, highest) = (1e-5, 900.0);
    let mut figure = Figure::new("Spectra of the torques after the stop, and natural frequencies");
    for (spectrum, joint) in runs.spectra.iter().zip(JOINTS) {
        let mut panel =
            Panel::new(Axis::linear("frequency", "rad/s"), Axis::log("amplitude", "N m")).titled(joint);
        panel.y.range = Some((floor, 2.0));
        let natural = runs.natural[1].iter().filter(|x| **x < highest).map(|x| (*x, 1.5 * floor));
        panel = panel
            .with(Series::line("torque", spectrum.points.iter().copied()))
            .with(Series::markers("natural frequencies", natural));
        figure = figure.with(panel);
    }
    figure.note(format!("record of {} s, window of Blackman and Harris", runs.record))
}
