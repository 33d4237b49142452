//! Three links that unfold and lock one after the other: `models/deployment.toml`, after [Park1990, example A].
//!
//! The paper prints no data. Links of 1 m and 1 kg folded at 80°, springs of 1 N m/rad that are slack when folded, 18.5 N on
//! the tip; a joint that comes straight locks in a perfectly plastic impact.

use crate::{ReferenceProblem, ReferenceValues};

/// The model as it ships.
pub const DEPLOYMENT: ReferenceProblem = ReferenceProblem {
    name: "deployment",
    model: include_str!("../../../../models/deployment.toml"),
    set: &[],
    t_end: 2.0,
    references: REFERENCES,
    source: "Independent prototype, integrated by DOP853 at 2e-14 against 1e-12, with energy and momentum checked. Angles \
        and lock times are given to 1e-9; rates came without a tolerance, and are trusted here to 1e-8. The rest at the \
        end follows from the last lock.",
};

/// Instants of the locks of J3, J2 and J1 \[s\].
pub const LOCK_TIMES: [f64; 3] = [0.30051368039506404, 0.6691785631319191, 1.105742700832949];
/// Energy lost in each \[J\].
pub const LOCK_LOSSES: [f64; 3] = [8.43919607208612, 27.926611250246765, 0.7237371272710609];
/// Angles of the three links against x just then \[rad\].
pub const LOCK_ANGLES: [[f64; 3]; 3] = [
    [1.5703153968157149, -0.707350497797856, -0.7073504977978556],
    [0.15560858186993481, 0.1556085818699311, 0.15560858186993032],
    [0.0, 0.0, 0.0],
];
/// Their rates just before \[rad/s\].
pub const RATES_BEFORE: [[f64; 3]; 3] = [
    [-1.7196043656012843, 4.841149307250795, -10.794319226848561],
    [-8.038177063323072, 7.0019542900594125, 7.00195429005941],
    [-0.40103674735228567, -0.40103674735229305, -0.401036747352279],
];
/// Their rates just after \[rad/s\].
pub const RATES_AFTER: [[f64; 3]; 3] = [
    [-2.465980924997808, -0.4084889857473053, -0.4084889857473062],
    [-0.2395904356432652, -0.2395904356432652, -0.23959043564326166],
    [0.0, 0.0, 0.0],
];

const ANGLES: &[&str] = &["link1.angle", "link2.angle", "link3.angle"];
const RATES: &[&str] = &["link1.rate", "link2.rate", "link3.rate"];

const REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(0.1, ANGLES, &[1.413686912355704, -1.414719701438933, 1.0746942636440588], 1e-9),
    ReferenceValues::value(0.1, RATES, &[0.5095796598341179, 0.17320967467652157, -5.8468484124568265], 1e-8),
    ReferenceValues::value(0.3, ANGLES, &[1.571191850680385, -0.7098456852104432, -0.7017934947441435], 1e-9),
    ReferenceValues::value(0.3, RATES, &[-1.692787633002994, 4.873782229860011, -10.841614048044205], 1e-8),
    ReferenceValues::value(
        0.5,
        ANGLES,
        &[1.0242063019232377, -0.5462405935938076, -0.5462405935938083],
        1e-9,
    ),
    ReferenceValues::value(0.5, RATES, &[-3.279903664537438, 2.1025216515359837, 2.102521651535981], 1e-8),
    ReferenceValues::value(
        0.8,
        ANGLES,
        &[0.11788058429082642, 0.11788058429082283, 0.11788058429082184],
        1e-9,
    ),
    ReferenceValues::value(
        1.0,
        ANGLES,
        &[0.0427746589049367, 0.04277465890493292, 0.042774658904932344],
        1e-9,
    ),
    ReferenceValues::value(
        1.0,
        RATES,
        &[-0.40325931573927376, -0.4032593157392759, -0.403259315739274],
        1e-8,
    ),
    // straight, locked, at rest
    ReferenceValues::value(2.0, ANGLES, &[0.0, 0.0, 0.0], 1e-9),
    ReferenceValues::value(2.0, RATES, &[0.0, 0.0, 0.0], 1e-9),
];
