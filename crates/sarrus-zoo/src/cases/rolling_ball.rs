//! A weighted ball rolling along y = sin x.
//!
//! The body's origin is the ball's geometric centre; the centre of mass sits 0.15 radii above it at the start.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Example of [Park1987], completed with data of our own; values from two independent integrations, \
    trusted to the tolerance given with each.";

/// Radius 0.109 m, off-centre by 0.15 radii.
pub const ROLLING_BALL: ReferenceProblem = ReferenceProblem {
    name: "rolling_ball",
    model: include_str!("../../../../models/rolling_ball.toml"),
    set: &[],
    t_end: 20.0,
    references: ROLLING_BALL_REFERENCES,
    source: SOURCE,
};

const ROLLING_BALL_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(1.0, &["ball.x", "ball.y"], &[0.29275567049306894, 0.2885917404158903], 1e-10),
    ReferenceValues::value(
        1.0,
        &["ball.wx", "ball.wy", "ball.wz"],
        &[-4.823061615659803, 4.6734131815795505, 0.04772878439513243],
        1e-10,
    ),
    ReferenceValues::quaternion(
        1.0,
        &["ball.q0", "ball.q1", "ball.q2", "ball.q3"],
        &[-0.30972061512097565, -0.6698212812169992, 0.6747599268815622, 0.010565645871236021],
        1e-10,
    ),
    ReferenceValues::value(2.0, &["ball.x", "ball.y"], &[0.5156637385935652, 0.4931123873683392], 1e-10),
    ReferenceValues::value(
        2.0,
        &["ball.wx", "ball.wy", "ball.wz"],
        &[-1.140474549822776, 1.125755760599113, -0.038684969780627076],
        1e-10,
    ),
    ReferenceValues::quaternion(
        2.0,
        &["ball.q0", "ball.q1", "ball.q2", "ball.q3"],
        &[-0.9904475555417336, 0.08521107385313761, -0.10080662915211258, 0.039884033562351394],
        1e-10,
    ),
    ReferenceValues::value(
        5.0,
        &["ball.x", "ball.y"],
        &[1.6197443769881843, 0.9988022833550566],
        3.9385439354333585e-10,
    ),
    ReferenceValues::value(
        5.0,
        &["ball.wx", "ball.wy", "ball.wz"],
        &[-2.4263878441503914, 1.3525307450728585, -0.21136061741589965],
        3.9385439354333585e-10,
    ),
    ReferenceValues::quaternion(
        5.0,
        &["ball.q0", "ball.q1", "ball.q2", "ball.q3"],
        &[-0.7869279644592871, -0.21546164872795392, 0.3468737859110598, 0.4626005115940936],
        3.9385439354333585e-10,
    ),
    ReferenceValues::value(
        10.0,
        &["ball.x", "ball.y"],
        &[3.10214016681303, 0.03944225294909444],
        3.4582770674917995e-9,
    ),
    ReferenceValues::value(
        10.0,
        &["ball.wx", "ball.wy", "ball.wz"],
        &[-6.515280056950525, 3.1153731423134694, -0.009746510053248572],
        3.4582770674917995e-9,
    ),
    ReferenceValues::quaternion(
        10.0,
        &["ball.q0", "ball.q1", "ball.q2", "ball.q3"],
        &[0.011589944043722884, 0.16904232623735482, -0.9854300254932025, -0.014765838743382319],
        3.4582770674917995e-9,
    ),
    ReferenceValues::value(
        20.0,
        &["ball.x", "ball.y"],
        &[6.198930913819605, -0.08415474451534025],
        2.6646089848481047e-9,
    ),
    ReferenceValues::value(
        20.0,
        &["ball.wx", "ball.wy", "ball.wz"],
        &[-1.003309879868195, 0.9973833008168009, -0.00239006664884891],
        2.6646089848481047e-9,
    ),
    ReferenceValues::quaternion(
        20.0,
        &["ball.q0", "ball.q1", "ball.q2", "ball.q3"],
        &[-0.9999754943915907, 0.00445749639793817, -0.004845912349966938, 0.0023787550649626912],
        2.6646089848481047e-9,
    ),
];
