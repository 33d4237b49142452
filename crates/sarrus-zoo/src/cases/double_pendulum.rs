//! Spatial double pendulum: two equal cylinders on ball joints.
//!
//! The reference has its body z axis along the rod, ours is x: z_ref = x, y_ref = y, x_ref = -z. So ω = (ω_z, ω_y, -ω_x) of the
//! reference's components, and q = q_ref ∘ (√½, 0, -√½, 0). Its multipliers follow M v̇ + Jᵀλ = f with the first joint's residual
//! from ground to body and the second's from lower to upper body: the reactions on the second body are -λ at O and +λ at P.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Example of [Park1990], completed with data of our own (equal cylinders of 1 kg, 1 m, radius 0.05 \
    m, at 45 degrees, turning at 1 rad/s about the vertical); values from two independent \
    integrations at 2e-14 and 1e-12, trusted to the tolerance given with each.";

/// Swung out by 45 degrees, rotating about the vertical.
pub const DOUBLE_PENDULUM: ReferenceProblem = ReferenceProblem {
    name: "double_pendulum",
    model: include_str!("../../../../models/double_pendulum.toml"),
    set: &[],
    t_end: 5.0,
    references: DOUBLE_PENDULUM_REFERENCES,
    source: SOURCE,
};

const DOUBLE_PENDULUM_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        0.5,
        &["upper.x", "upper.y", "upper.z"],
        &[0.0523738349641111, 0.10996695758627814, -0.4849373667293228],
        1.6409096303959814e-10,
    ),
    ReferenceValues::value(
        0.5,
        &["upper.vx", "upper.vy", "upper.vz"],
        &[-0.6818708530545882, 0.0316709206890921, -0.06646102969947533],
        1.6409096303959814e-10,
    ),
    ReferenceValues::value(
        0.5,
        &["upper.wx", "upper.wy", "upper.wz"],
        &[-0.7071067811865542, 1.1954392922996386, 0.6726044916232303],
        1.6409096303959814e-10,
    ),
    ReferenceValues::quaternion(
        0.5,
        &["upper.q0", "upper.q1", "upper.q2", "upper.q3"],
        &[0.736659948094335, -0.0985188095632644, 0.6271117488279268, 0.23314591893890851],
        1.6409096303959814e-10,
    ),
    ReferenceValues::value(
        0.5,
        &["lower.x", "lower.y", "lower.z"],
        &[0.27842724837272376, 0.3783286745749862, -1.4111756559879192],
        1.6409096303959814e-10,
    ),
    ReferenceValues::value(
        0.5,
        &["lower.vx", "lower.vy", "lower.vz"],
        &[-2.9408437636284512, 0.11398901487984146, -0.735431957018886],
        1.6409096303959814e-10,
    ),
    ReferenceValues::value(
        0.5,
        &["lower.wx", "lower.wy", "lower.wz"],
        &[-0.7071067811865543, 2.9513603810393674, 1.6434137495506083],
        1.6409096303959814e-10,
    ),
    ReferenceValues::quaternion(
        0.5,
        &["lower.q0", "lower.q1", "lower.q2", "lower.q3"],
        &[0.8140711942346442, -0.1047266401728002, 0.5086427272120267, 0.2600057645703488],
        1.6409096303959814e-10,
    ),
    ReferenceValues::value(
        0.5,
        &["O.fx", "O.fy", "O.fz"],
        &[-1.5040644778873369, -4.655856502406032, 25.21196684471728],
        4.922728891187944e-9,
    ),
    ReferenceValues::value(
        0.5,
        &["P.fx", "P.fy", "P.fz"],
        &[-3.4614966803432714, -4.258728895845696, 14.310660361245787],
        4.922728891187944e-9,
    ),
    ReferenceValues::value(
        1.0,
        &["upper.x", "upper.y", "upper.z"],
        &[-0.29348478285949775, -0.0037281783976166466, -0.40478733047830034],
        2.9831692671677956e-11,
    ),
    ReferenceValues::value(
        1.0,
        &["upper.vx", "upper.vy", "upper.vz"],
        &[-0.5563740087861605, -0.5186192008653503, 0.4081669499470343],
        2.9831692671677956e-11,
    ),
    ReferenceValues::value(
        1.0,
        &["upper.wx", "upper.wy", "upper.wz"],
        &[-0.7071067811865513, 1.654658030183258, 0.492523595274695],
        2.9831692671677956e-11,
    ),
    ReferenceValues::quaternion(
        1.0,
        &["upper.q0", "upper.q1", "upper.q2", "upper.q3"],
        &[0.404289973323809, -0.2075206847770502, 0.7961889465175158, 0.39945956529143956],
        2.9831692671677956e-11,
    ),
    ReferenceValues::value(
        1.0,
        &["lower.x", "lower.y", "lower.z"],
        &[-0.9471760721203757, -0.014960151610760447, -1.1562661171672763],
        2.9831692671677956e-11,
    ),
    ReferenceValues::value(
        1.0,
        &["lower.vx", "lower.vy", "lower.vz"],
        &[-1.080650898255587, -1.1935525171526389, 0.7863688056304842],
        2.9831692671677956e-11,
    ),
    ReferenceValues::value(
        1.0,
        &["lower.wx", "lower.wy", "lower.wz"],
        &[-0.7071067811865144, 0.23666581992149877, -0.22234708941672632],
        2.9831692671677956e-11,
    ),
    ReferenceValues::quaternion(
        1.0,
        &["lower.q0", "lower.q1", "lower.q2", "lower.q3"],
        &[0.31605616671474535, -0.1997548324326617, 0.7945497969855485, 0.478431945538343],
        2.9831692671677956e-11,
    ),
    ReferenceValues::value(
        1.0,
        &["O.fx", "O.fy", "O.fz"],
        &[10.109275733831701, 0.11352351616602135, 17.436635256378473],
        8.949507801503387e-10,
    ),
    ReferenceValues::value(
        1.0,
        &["P.fx", "P.fy", "P.fz"],
        &[7.2167744252581265, 0.1179342839868488, 7.882993334650202],
        8.949507801503387e-10,
    ),
    ReferenceValues::value(
        2.0,
        &["upper.x", "upper.y", "upper.z"],
        &[0.15756783910900146, -0.06533633552450005, -0.4700037652389075],
        1.6351364706679306e-10,
    ),
    ReferenceValues::value(
        2.0,
        &["upper.vx", "upper.vy", "upper.vz"],
        &[0.7483600734679038, 0.47391224839809004, 0.18500658167511466],
        1.6351364706679306e-10,
    ),
    ReferenceValues::value(
        2.0,
        &["upper.wx", "upper.wy", "upper.wz"],
        &[-0.7071067811865537, -0.4355034754780155, -1.7566413802678924],
        1.6351364706679306e-10,
    ),
    ReferenceValues::quaternion(
        2.0,
        &["upper.q0", "upper.q1", "upper.q2", "upper.q3"],
        &[0.44539214679523687, -0.6776383066814715, 0.3856794306042034, 0.4400949189661434],
        1.6351364706679306e-10,
    ),
    ReferenceValues::value(
        2.0,
        &["lower.x", "lower.y", "lower.z"],
        &[0.6034765271654952, -0.07969101484232914, -1.3452980750981698],
        1.6351364706679306e-10,
    ),
    ReferenceValues::value(
        2.0,
        &["lower.vx", "lower.vy", "lower.vz"],
        &[2.118085861659877, 1.57390427109598, 0.8908338543422512],
        1.6351364706679306e-10,
    ),
    ReferenceValues::value(
        2.0,
        &["lower.wx", "lower.wy", "lower.wz"],
        &[-0.7071067811865127, -0.02474642958131918, -2.0485822716630113],
        1.6351364706679306e-10,
    ),
    ReferenceValues::quaternion(
        2.0,
        &["lower.q0", "lower.q1", "lower.q2", "lower.q3"],
        &[0.4155028586143231, -0.7846644017864055, 0.16286849687041596, 0.4302708493259549],
        1.6351364706679306e-10,
    ),
    ReferenceValues::value(
        2.0,
        &["O.fx", "O.fy", "O.fz"],
        &[-5.564603687258482, 3.211115287587148, 21.81819039652082],
        4.905409412003792e-9,
    ),
    ReferenceValues::value(
        2.0,
        &["P.fx", "P.fy", "P.fz"],
        &[-5.443549273175714, 0.4426703488793957, 10.691373873034054],
        4.905409412003792e-9,
    ),
    ReferenceValues::value(
        5.0,
        &["upper.x", "upper.y", "upper.z"],
        &[0.054086009846889424, 0.28839795335227386, -0.40484728483844534],
        6.09512440519211e-11,
    ),
    ReferenceValues::value(
        5.0,
        &["upper.vx", "upper.vy", "upper.vz"],
        &[-0.38837321593941065, -0.41804088190285404, -0.34968171367735],
        6.09512440519211e-11,
    ),
    ReferenceValues::value(
        5.0,
        &["upper.wx", "upper.wy", "upper.wz"],
        &[-0.7071067811865374, -0.9543312596263979, -0.9384715156178975],
        6.09512440519211e-11,
    ),
    ReferenceValues::quaternion(
        5.0,
        &["upper.q0", "upper.q1", "upper.q2", "upper.q3"],
        &[-0.3908151484595178, -0.6335215304797889, -0.6152957455409308, 0.25947087634711585],
        6.09512440519211e-11,
    ),
    ReferenceValues::value(
        5.0,
        &["lower.x", "lower.y", "lower.z"],
        &[0.3820015532099459, 0.87460290199133, -1.1035114856851025],
        6.09512440519211e-11,
    ),
    ReferenceValues::value(
        5.0,
        &["lower.vx", "lower.vy", "lower.vz"],
        &[-1.3661021679338334, -0.24489732220470062, -0.6494144450637732],
        6.09512440519211e-11,
    ),
    ReferenceValues::value(
        5.0,
        &["lower.wx", "lower.wy", "lower.wz"],
        &[-0.7071067811864918, 1.6724991833984282, 0.009110176032955428],
        6.09512440519211e-11,
    ),
    ReferenceValues::quaternion(
        5.0,
        &["lower.q0", "lower.q1", "lower.q2", "lower.q3"],
        &[-0.6851268675507662, -0.5517523981608433, -0.472478202628656, -0.0541739284585073],
        6.09512440519211e-11,
    ),
    ReferenceValues::value(
        5.0,
        &["O.fx", "O.fy", "O.fz"],
        &[-0.7647054566687865, -8.199549554746719, 14.763447018912398],
        1.8285373215576328e-9,
    ),
    ReferenceValues::value(
        5.0,
        &["P.fx", "P.fy", "P.fz"],
        &[-2.529839467386035, -5.216337069124382, 5.7364931130183265],
        1.8285373215576328e-9,
    ),
];
