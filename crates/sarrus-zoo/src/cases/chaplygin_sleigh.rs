//! Chaplygin's sleigh: v = A tanh(A k t), ω = ω₀ sech(A k t), k = m a/(J + m a²), A² = (J + m a²)/m ω₀².
//!
//! m = 1 kg, J = 0.1 kg·m², centre of mass a = 0.2 m ahead of the blade, started from v = 0, ω₀ = 2 rad/s.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str =
    "Textbook closed form; the path by quadrature of it to 25 digits (reference/closed_forms.py).";

/// Knife edge under the origin of the body.
pub const CHAPLYGIN_SLEIGH: ReferenceProblem = ReferenceProblem {
    name: "chaplygin_sleigh",
    model: include_str!("../../models/chaplygin_sleigh.toml"),
    set: &[],
    t_end: 4.0,
    references: CHAPLYGIN_SLEIGH_REFERENCES,
    source: SOURCE,
};

const CHAPLYGIN_SLEIGH_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["forward", "sled.rate", "sled.angle"],
        &[0.5905092220305492, 1.228526581772059, 1.7012274186368026],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["sled.x", "sled.y"], &[0.1202828797914043, 0.2916674033929263], 1e-14),
    ReferenceValues::value(
        3.0,
        &["forward", "sled.rate", "sled.angle"],
        &[0.7458839292973154, 0.16162487467672404, 2.7873395702021635],
        1e-14,
    ),
    ReferenceValues::value(3.0, &["sled.x", "sled.y"], &[-0.9142617793450839, 1.1716563374349704], 1e-14),
    ReferenceValues::value(
        4.0,
        &["forward", "sled.rate", "sled.angle"],
        &[0.7480425441085904, 0.05557184561754365, 2.886701446707715],
        1e-14,
    ),
    ReferenceValues::value(4.0, &["sled.x", "sled.y"], &[-1.6288219012445435, 1.389467570944888], 1e-14),
];
