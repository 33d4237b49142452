//! Disc on a torsion spring: θ = θ₀ cos √(k/J) t.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Textbook closed form, evaluated to 25 digits (reference/closed_forms.py).";

/// 0.04 kg·m² on 0.9 N·m/rad, rotated by 0.5 rad.
pub const TORSION_PENDULUM: ReferenceProblem = ReferenceProblem {
    name: "torsion_pendulum",
    model: include_str!("../../models/torsion_pendulum.toml"),
    set: &[],
    t_end: 4.0,
    references: TORSION_PENDULUM_REFERENCES,
    source: SOURCE,
};

const TORSION_PENDULUM_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["wire.angle", "wire.rate"],
        &[0.015511265855309212, 2.3705667073951395],
        1e-15,
    ),
    ReferenceValues::value(
        4.0,
        &["wire.angle", "wire.rate"],
        &[0.4961541149406445, -0.29359771817570135],
        1e-15,
    ),
];
