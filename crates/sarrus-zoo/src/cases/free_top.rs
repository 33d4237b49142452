//! Free symmetric body: with λ = (C - A)/A ω₃ the body's ω turns at λ about its axis, and R = exp(t H/A) R₀ exp(-λ t e₃).
//!
//! H is the constant angular momentum, e₃ the body's axis, A and C its moments of inertia across and along it.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Textbook closed form, evaluated to 25 digits (reference/closed_forms.py).";

/// A = 0.2, C = 0.32 kg·m², no weight.
pub const FREE_TOP: ReferenceProblem = ReferenceProblem {
    name: "free_top",
    model: include_str!("../../models/free_top.toml"),
    set: &[],
    t_end: 5.0,
    references: FREE_TOP_REFERENCES,
    source: SOURCE,
};

const FREE_TOP_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["top.wx", "top.wy", "top.wz"],
        &[-0.4424362293247473, 0.40527790833069055, 4.0],
        1e-14,
    ),
    ReferenceValues::quaternion(
        1.0,
        &["top.q0", "top.q1", "top.q2", "top.q3"],
        &[-0.27447128774572926, 0.18928485590039967, -0.2514092695610784, 0.9086419177589877],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["top.x", "top.y", "top.z"], &[0.8, -0.2, -0.15], 1e-14),
    ReferenceValues::value(
        5.0,
        &["top.wx", "top.wy", "top.wz"],
        &[0.5063123752394952, -0.321943750800261, 4.0],
        1e-14,
    ),
    ReferenceValues::quaternion(
        5.0,
        &["top.q0", "top.q1", "top.q2", "top.q3"],
        &[-0.8330257039394354, -0.3077162823339788, -0.12631417514661827, -0.4420674103796757],
        1e-14,
    ),
    ReferenceValues::value(5.0, &["top.x", "top.y", "top.z"], &[2.8, -0.2, -1.15], 1e-14),
];
