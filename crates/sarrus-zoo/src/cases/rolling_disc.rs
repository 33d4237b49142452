//! A leaning disc in steady rolling: the centre goes round a circle at Ω² = m g r cos α/(sin α ((m r + C/r) ρ + A cos α)).
//!
//! α is the axle's angle against the vertical, ρ the circle's radius, C and A the moments of inertia about the axle and a
//! diameter.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Textbook closed form, evaluated to 25 digits (reference/closed_forms.py).";

/// Radius 0.1 m on a circle of 0.5 m: `models/rolling_disc.toml`.
pub const ROLLING_DISC: ReferenceProblem = ReferenceProblem {
    name: "rolling_disc",
    model: include_str!("../../../../models/rolling_disc.toml"),
    set: &[],
    t_end: 6.0,
    references: ROLLING_DISC_REFERENCES,
    source: SOURCE,
};

const ROLLING_DISC_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.5,
        &["disc.x", "disc.y", "disc.z"],
        &[-0.49682388922401305, -0.05626742482400997, 0.09396926207859084],
        1e-14,
    ),
    ReferenceValues::value(
        1.5,
        &["disc.vx", "disc.vy", "disc.vz"],
        &[0.12207654422419721, -1.0778979787006813, 0.0],
        1e-14,
    ),
    ReferenceValues::value(
        3.0,
        &["disc.x", "disc.y", "disc.z"],
        &[0.4873359076146975, 0.11182000335073765, 0.09396926207859084],
        1e-14,
    ),
    ReferenceValues::value(
        3.0,
        &["disc.vx", "disc.vy", "disc.vz"],
        &[-0.24260217393797157, 1.0573130663797299, 0.0],
        1e-14,
    ),
    ReferenceValues::value(
        6.0,
        &["disc.x", "disc.y", "disc.z"],
        &[0.44998514740256407, 0.21797561128964102, 0.09396926207859084],
        1e-14,
    ),
    ReferenceValues::value(
        6.0,
        &["disc.vx", "disc.vy", "disc.vz"],
        &[-0.47291500250144036, 0.9762776938688088, 0.0],
        1e-14,
    ),
];
