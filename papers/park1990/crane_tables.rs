//! Tables of the crane: method by method, and frequency by frequency.

use super::crane::{Run, Runs};
use crate::runs::largest;
use crate::table::Table;

/// Peaks below this fraction of the highest are left out.
pub const LEAST: f64 = 0.01;

/// Peaks of all spectra, with the natural frequency next to each: joint, frequency, amplitude, mode.
pub fn peaks(runs: &Runs) -> Vec<(usize, f64, f64, usize)> {
    let natural = &runs.natural[1];
    let mut found = Vec::new();
    for (joint, spectrum) in runs.spectra.iter().enumerate() {
        for (omega, amplitude) in spectrum.peaks(LEAST) {
            let away = |k: &usize| (natural[*k] - omega).abs();
            let mode = (0..natural.len()).min_by(|a, b| away(a).total_cmp(&away(b)));
            found.extend(mode.map(|mode| (joint, omega, amplitude, mode)));
        }
    }
    found
}

/// Largest over the joints of the mean difference to the tightest run, relative to the largest torque there.
pub fn disagreement(runs: &Runs, run: &Run) -> f64 {
    let tight = &runs.flexible[0].motion;
    largest((0..3).map(|joint| run.motion.off_rms(tight, joint) / tight.most(joint)))
}

/// Method by method.
pub fn methods(runs: &Runs) -> Table {
    let mut table = Table::new(
        &format!("The crane with beams by several methods, {} s", runs.t_end),
        &[
            "method",
            "steps",
            "joints apart [m]",
            "torque apart, rms: shoulder, elbow, wrist [N m]",
            "of the largest torque",
            "certified",
        ],
    );
    let tight = &runs.flexible[0].motion;
    for run in &runs.flexible {
        let rms = [0, 1, 2].map(|joint| format!("{:.1e}", run.motion.off_rms(tight, joint)));
        table.rows.push(vec![
            run.way.name(),
            run.steps.to_string(),
            format!("{:.1e}", run.motion.apart(tight)),
            rms.join(", "),
            format!("{:.1e}", disagreement(runs, run)),
            if run.certified { "yes".into() } else { "no".into() },
        ]);
    }
    table
}

/// Frequency by frequency.
pub fn frequencies(runs: &Runs) -> Table {
    let mut table = Table::new(
        "Natural frequencies of the crane, and peaks in the spectra of the torques after the stop",
        &[
            "at the start [rad/s]",
            "at the end [rad/s]",
            "peak [rad/s]",
            "amplitude: shoulder, elbow, wrist [N m]",
        ],
    );
    let found = peaks(runs);
    for mode in 0..16.min(runs.natural[0].len()).min(runs.natural[1].len()) {
        let of: Vec<_> = found.iter().filter(|p| p.3 == mode).collect();
        let strongest = of.iter().max_by(|a, b| a.2.total_cmp(&b.2));
        let amplitude = [0, 1, 2]
            .map(|joint| of.iter().find(|p| p.0 == joint).map_or("-".to_string(), |p| format!("{:.4}", p.2)));
        table.rows.push(vec![
            format!("{:.2}", runs.natural[0][mode]),
            format!("{:.2}", runs.natural[1][mode]),
            strongest.map_or("-".into(), |p| format!("{:.2}", p.1)),
            amplitude.join(", "),
        ]);
    }
    table
}
