//! The fast heavy top: centre of mass, angular velocity in body axes, and orientation.
//!
//! The body's frame sits at the centre of mass, so its origin's columns are those of the centre of mass.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str =
    "Definition of [Bruls2010]; values computed independently to 12 digits in extended precision.";

/// Spun at 150 rad/s, held at one point.
pub const HEAVY_TOP: ReferenceProblem = ReferenceProblem {
    name: "heavy_top",
    model: include_str!("../../../../models/heavy_top.toml"),
    set: &[],
    t_end: 1.0,
    references: HEAVY_TOP_REFERENCES,
    source: SOURCE,
};

const HEAVY_TOP_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        0.1,
        &["top.x", "top.y", "top.z"],
        &[0.4212966589254, 0.8945719743456, -0.1491647005619],
        1e-12,
    ),
    ReferenceValues::value(
        0.1,
        &["top.wx", "top.wy", "top.wz"],
        &[4.808941331728, 150.0, 1.028300756718],
        1e-11,
    ),
    ReferenceValues::quaternion(
        0.1,
        &["top.q0", "top.q1", "top.q2", "top.q3"],
        &[0.3318229126083, 0.1773380566669, 0.9149751591387, -0.1458260144309],
        1e-12,
    ),
    ReferenceValues::value(
        0.2,
        &["top.x", "top.y", "top.z"],
        &[0.6055505613771, 0.5989576817949, -0.52398302743],
        1e-12,
    ),
    ReferenceValues::value(
        0.2,
        &["top.wx", "top.wy", "top.wz"],
        &[-2.691590912143, 150.0, 4.917260989894],
        1e-11,
    ),
    ReferenceValues::quaternion(
        0.2,
        &["top.q0", "top.q1", "top.q2", "top.q3"],
        &[-0.7082791529743, 0.4387810881266, 0.5457283961454, 0.08939975282401],
        1e-12,
    ),
    ReferenceValues::value(
        0.5,
        &["top.x", "top.y", "top.z"],
        &[-0.7024682970566, -0.02116518470192, -0.7114002576517],
        1e-12,
    ),
    ReferenceValues::value(
        0.5,
        &["top.wx", "top.wy", "top.wz"],
        &[-0.4710531017452, 150.0, 5.901083048326],
        1e-11,
    ),
    ReferenceValues::quaternion(
        0.5,
        &["top.q0", "top.q1", "top.q2", "top.q3"],
        &[0.5845606240694, -0.7006628954122, 0.3843257530229, 0.1401930788004],
        1e-12,
    ),
    ReferenceValues::value(
        1.0,
        &["top.x", "top.y", "top.z"],
        &[0.1733439640984, 0.6400885920706, -0.7484907911336],
        1e-12,
    ),
    ReferenceValues::value(
        1.0,
        &["top.wx", "top.wy", "top.wz"],
        &[-0.8220781016827, 150.0, -5.923291348117],
        1e-11,
    ),
    ReferenceValues::quaternion(
        1.0,
        &["top.q0", "top.q1", "top.q2", "top.q3"],
        &[0.7329439806797, -0.2782857193376, 0.5318246113342, -0.3201761427362],
        1e-12,
    ),
];
