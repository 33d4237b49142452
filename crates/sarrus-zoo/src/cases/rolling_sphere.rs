//! A solid ball rolling down an incline of 30 degrees: x = ½ (5/7) g sin α t².

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Textbook closed form.";

/// The incline is the plane z = 0; gravity leans by 30 degrees.
pub const ROLLING_SPHERE: ReferenceProblem = ReferenceProblem {
    name: "rolling_sphere",
    model: include_str!("../../models/rolling_sphere.toml"),
    set: &[],
    t_end: 2.0,
    references: ROLLING_SPHERE_REFERENCES,
    source: SOURCE,
};

const ROLLING_SPHERE_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(1.0, &["ball.x"], &[1.7517857142857143], 1e-13),
    ReferenceValues::value(1.0, &["ball.vx"], &[3.5035714285714286], 1e-13),
    ReferenceValues::value(1.0, &["ball.wy"], &[35.035714285714285], 1e-13),
    ReferenceValues::value(2.0, &["ball.x"], &[7.007142857142857], 1e-13),
    ReferenceValues::value(2.0, &["ball.vx"], &[7.007142857142857], 1e-13),
    ReferenceValues::value(2.0, &["ball.wy"], &[70.07142857142857], 1e-13),
];
