//! Andrews' squeezing mechanism: the seven angles, their rates and the forces of the cut joints at 0.03 s.
//!
//! The angles of [Hairer1996, VII.7] are the angles of the joints of the same name. Its multipliers are the forces in the three
//! joints at E on K3, K4 and K6: there M a = f - Gᵀλ with g = (E on K2) - (E on the other body), so the force on the other,
//! second body is +λ.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "IVP test set (Bari), Andrews' squeezing mechanism, index 3 [Hairer1996]; values from a solution \
    in quadruple precision with 20 digits. The digits published with the test set are right to 9 or \
    10 places in positions and 7 or 8 in velocities only.";

/// Seven bodies, ten hinges, a spring and a motor.
pub const ANDREWS: ReferenceProblem = ReferenceProblem {
    name: "andrews",
    model: include_str!("../../../../models/andrews.toml"),
    set: &[],
    t_end: 0.03,
    references: ANDREWS_REFERENCES,
    source: SOURCE,
};

const ANDREWS_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(0.03, &["beta.angle"], &[15.810771195153707], 1.5810771195153708e-13),
    ReferenceValues::value(0.03, &["theta.angle"], &[-15.756371058411839], 1.575637105841184e-13),
    ReferenceValues::value(0.03, &["gamma.angle"], &[0.0408222401196458], 4.08222401196458e-16),
    ReferenceValues::value(0.03, &["phi.angle"], &[-0.5347301163420796], 5.347301163420796e-15),
    ReferenceValues::value(0.03, &["delta.angle"], &[0.524409965879954], 5.24409965879954e-15),
    ReferenceValues::value(0.03, &["omega.angle"], &[0.5347301163420796], 5.347301163420796e-15),
    ReferenceValues::value(0.03, &["epsilon.angle"], &[1.048080741041938], 1.0480807410419379e-14),
    ReferenceValues::value(0.03, &["beta.rate"], &[1139.9203022591062], 1.1399203022591061e-11),
    ReferenceValues::value(0.03, &["theta.rate"], &[-1424.3792951775401], 1.4243792951775402e-11),
    ReferenceValues::value(0.03, &["gamma.rate"], &[11.032911910618594], 1.1032911910618594e-13),
    ReferenceValues::value(0.03, &["phi.rate"], &[19.29337410503204], 1.929337410503204e-13),
    ReferenceValues::value(0.03, &["delta.rate"], &[0.5735699148295025], 5.7356991482950245e-15),
    ReferenceValues::value(0.03, &["omega.rate"], &[-19.29337410503204], 1.929337410503204e-13),
    ReferenceValues::value(0.03, &["epsilon.rate"], &[0.3231791492491309], 3.231791492491309e-15),
    ReferenceValues::value(0.03, &["E3.fx", "E3.fy"], &[199.17534810453864, -29.755309974971762], 1e-11),
    ReferenceValues::value(0.03, &["E4.fx", "E4.fy"], &[23.06654361162215, 31.452725275771137], 1e-11),
    ReferenceValues::value(0.03, &["E6.fx", "E6.fy"], &[22.64249478639438, 11.617392352611256], 1e-11),
];
