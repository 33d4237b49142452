//! Block on a spring and damper: x = x₀ e^(-σt) (cos ω_d t + (σ/ω_d) sin ω_d t), σ = c/2m, ω_d² = k/m - σ².
//!
//! `coil.force` is the tension k x + c ẋ.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Textbook closed form, evaluated to 25 digits (reference/closed_forms.py).";

/// 2 kg on 40 N/m and 1 N·s/m, pulled out by 0.1 m.
pub const OSCILLATOR: ReferenceProblem = ReferenceProblem {
    name: "oscillator",
    model: include_str!("../../models/oscillator.toml"),
    set: &[],
    t_end: 4.0,
    references: OSCILLATOR_REFERENCES,
    source: SOURCE,
};

const OSCILLATOR_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["guide.position", "guide.speed"],
        &[-0.023287814677124524, 0.33822770096967303],
        1e-15,
    ),
    ReferenceValues::value(1.0, &["coil.force"], &[-0.5932848861153078], 1e-14),
    ReferenceValues::value(
        4.0,
        &["guide.position", "guide.speed"],
        &[0.018495544879354595, 0.13766713023380875],
        1e-15,
    ),
    ReferenceValues::value(4.0, &["coil.force"], &[0.8774889254079925], 1e-14),
];
