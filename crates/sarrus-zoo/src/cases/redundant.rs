//! Mechanisms with redundant constraints: the motion is known, many reactions are not.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Textbook closed form, evaluated to 25 digits (reference/closed_forms.py).";
const REDUCED: &str = "Taylor-series solution of the reduced equation, the cranks staying parallel, to 25 digits \
    (reference/closed_forms.py).";

/// A door on two hinges, turning evenly: m = 15 kg, its middle 0.4 m from the hinges.
pub const DOOR: ReferenceProblem = ReferenceProblem {
    name: "door",
    model: include_str!("../../../../models/door.toml"),
    set: &[],
    t_end: 2.0,
    references: &[
        ReferenceValues::value(
            1.0,
            &["door.x", "door.y"],
            &[-0.16645873461885696, 0.3637189707302727],
            1e-14,
        ),
        ReferenceValues::value(
            2.0,
            &["door.x", "door.y"],
            &[-0.26145744834544477, -0.3027209981231713],
            1e-14,
        ),
        ReferenceValues::value(2.0, &["J2.angle", "J2.rate"], &[4.0, 2.0], 1e-14),
    ],
    source: SOURCE,
};

/// Three parallel cranks with a coupler, in the plane.
pub const COUPLER: ReferenceProblem = ReferenceProblem {
    name: "coupler",
    model: include_str!("../../../../models/coupler.toml"),
    set: &[],
    t_end: 5.0,
    references: COUPLER_REFERENCES,
    source: REDUCED,
};

/// The same in space.
pub const COUPLER_SPATIAL: ReferenceProblem = ReferenceProblem {
    name: "coupler_spatial",
    model: include_str!("../../../../models/coupler_spatial.toml"),
    ..COUPLER
};

const COUPLER_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["coupler.x", "coupler.y", "coupler.vx", "coupler.vy"],
        &[1.6475412238312412, 0.7620304215968929, 0.6202032940212352, -0.5270225290915279],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["J3.rate"], &[-0.8138825910933475], 1e-14),
    ReferenceValues::value(
        5.0,
        &["coupler.x", "coupler.y", "coupler.vx", "coupler.vy"],
        &[1.609153215101239, 0.793052558492704, 0.08214491288366459, -0.06309649625543177],
        1e-14,
    ),
    ReferenceValues::value(5.0, &["J3.rate"], &[-0.10358066688517004], 1e-14),
];

/// The row of parallelograms of MbsBenchmark A02 on hinges in space, N = 2.
pub const N_FOUR_BAR_SPATIAL: ReferenceProblem = ReferenceProblem {
    name: "n_four_bar_spatial",
    model: include_str!("../../../../models/n_four_bar_spatial.toml"),
    set: &[("n", "2")],
    t_end: 10.0,
    references: &[
        ReferenceValues::value(
            1.0,
            &["link0.x", "link0.y", "link0.vx", "link0.vy"],
            &[-0.09751015097471755, -0.4903996028310869, -3.3383390184405792, 0.6637891625802436],
            1e-14,
        ),
        ReferenceValues::value(
            10.0,
            &["link0.x", "link0.y", "link0.vx", "link0.vy"],
            &[0.1642290557704077, 0.4722592690893005, 0.7115257351034721, -0.24743442274352148],
            1e-14,
        ),
        ReferenceValues::value(10.0, &["A2.rate"], &[-1.5066421808418295], 1e-14),
    ],
    source: REDUCED,
};
