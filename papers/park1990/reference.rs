//! Reference values.
//!
//! The paper prints none, and no data. Data are those of `models/deployment.toml` and `models/double_pendulum.toml`; values are from
//! an independent prototype (DOP853 at 2e-14 against 1e-12, with energy and momentum checked), in the conventions of Sarrus.

/// Instants at which J3, J2 and J1 lock \[s\], trusted to 1e-9.
pub const LOCK_TIMES: [f64; 3] = [0.300_513_680_395_064_04, 0.669_178_563_131_919_1, 1.105_742_700_832_949];

/// The double pendulum at 1 s, trusted to 3e-11 in q and v and to 9e-10 in λ: q, p and Euler parameters of either bar.
pub const Q: [f64; 14] = [
    -0.29348478285949775,
    -0.0037281783976166466,
    -0.40478733047830034,
    0.404289973323809,
    -0.2075206847770502,
    0.7961889465175158,
    0.39945956529143956,
    -0.9471760721203757,
    -0.014960151610760447,
    -1.1562661171672763,
    0.31605616671474535,
    -0.1997548324326617,
    0.7945497969855485,
    0.478431945538343,
];
/// v: velocity of the mass centre and rates in body axes, of either bar.
pub const V: [f64; 12] = [
    -0.5563740087861605,
    -0.5186192008653503,
    0.4081669499470343,
    -0.7071067811865513,
    1.654658030183258,
    0.492523595274695,
    -1.080650898255587,
    -1.1935525171526389,
    0.7863688056304842,
    -0.7071067811865144,
    0.23666581992149877,
    -0.22234708941672632,
];
/// Forces of the joints O and P on the bar beyond \[N\].
pub const FORCES: [f64; 6] = [
    10.109275733831701,
    0.11352351616602135,
    17.436635256378473,
    7.2167744252581265,
    0.1179342839868488,
    7.882993334650202,
];
