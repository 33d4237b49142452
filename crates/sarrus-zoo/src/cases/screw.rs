//! Nut on an upright screw: (m + J n²) z̈ = -m g with n = 2π/lead.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Textbook closed form, evaluated to 25 digits (reference/closed_forms.py).";

/// 2 kg and 0.005 kg·m² on a lead of 0.1 m.
pub const SCREW: ReferenceProblem = ReferenceProblem {
    name: "screw",
    model: include_str!("../../models/screw.toml"),
    set: &[],
    t_end: 2.0,
    references: SCREW_REFERENCES,
    source: SOURCE,
};

const SCREW_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["thread.position", "thread.speed"],
        &[-0.45125837325859053, -0.9025167465171811],
        1e-14,
    ),
    ReferenceValues::value(
        1.0,
        &["thread.angle", "thread.rate"],
        &[-28.353399806001374, -56.70679961200275],
        1e-13,
    ),
    ReferenceValues::value(
        2.0,
        &["thread.position", "thread.speed"],
        &[-1.8050334930343621, -1.8050334930343621],
        1e-14,
    ),
    ReferenceValues::value(
        2.0,
        &["thread.angle", "thread.rate"],
        &[-113.4135992240055, -113.4135992240055],
        1e-13,
    ),
];
