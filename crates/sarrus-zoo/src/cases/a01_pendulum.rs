//! A point mass on a massless rod, and the uniform bar that swings like it.
//!
//! θ'' = -(g/L) cos θ from θ = π at rest, g = 9.81 m/s², L = 1 m. A uniform bar of length 3L/2 obeys the same equation, so its
//! point at L from the hinge follows the point mass exactly.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "MbsBenchmark A01, simple pendulum: published definition; the values are the Taylor-series \
    solution of the scalar equation to 25 digits (reference/closed_forms.py), rounded.";

/// Point mass on a massless rod.
pub const PENDULUM: ReferenceProblem = ReferenceProblem {
    name: "a01_pendulum",
    model: include_str!("../../models/a01_pendulum.toml"),
    set: &[],
    t_end: 10.0,
    references: PENDULUM_REFERENCES,
    source: SOURCE,
};

const PENDULUM_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["bob.x", "bob.y", "bob.vx", "bob.vy"],
        &[0.9862917511318753, -0.16501085312554117, 0.2969055159163158, 1.7746436411126556],
        1e-14,
    ),
    ReferenceValues::value(
        5.0,
        &["bob.x", "bob.y", "bob.vx", "bob.vy"],
        &[-0.9423054350437573, -0.3347543384140006, 0.8579042568859491, -2.4149286543704886],
        1e-14,
    ),
    ReferenceValues::value(
        10.0,
        &["bob.x", "bob.y", "bob.vx", "bob.vy"],
        &[-0.2750874625761169, -0.961419205099125, 4.175598100951729, -1.1947490545604753],
        1e-14,
    ),
];

/// Uniform bar of 1.5 m with a marker at 1 m: `models/pendulum.toml`.
pub const BAR: ReferenceProblem = ReferenceProblem {
    name: "bar_pendulum",
    model: include_str!("../../../../models/pendulum.toml"),
    set: &[],
    t_end: 10.0,
    references: BAR_REFERENCES,
    source: SOURCE,
};

const BAR_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["bar.bob.x", "bar.bob.y", "bar.bob.vx", "bar.bob.vy"],
        &[0.9862917511318753, -0.16501085312554117, 0.2969055159163158, 1.7746436411126556],
        1e-14,
    ),
    ReferenceValues::value(
        5.0,
        &["bar.bob.x", "bar.bob.y", "bar.bob.vx", "bar.bob.vy"],
        &[-0.9423054350437573, -0.3347543384140006, 0.8579042568859491, -2.4149286543704886],
        1e-14,
    ),
    ReferenceValues::value(
        10.0,
        &["bar.bob.x", "bar.bob.y", "bar.bob.vx", "bar.bob.vy"],
        &[-0.2750874625761169, -0.961419205099125, 4.175598100951729, -1.1947490545604753],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["A.angle", "A.rate"], &[6.117416291909489, 1.7993090169070787], 1e-14),
    ReferenceValues::value(5.0, &["A.angle", "A.rate"], &[3.4829371688993045, 2.5627875681926295], 1e-14),
    ReferenceValues::value(10.0, &["A.angle", "A.rate"], &[4.433708306814707, 4.343160692864683], 1e-14),
];
