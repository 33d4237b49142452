//! The stiff flyball governor: heights of sleeve and balls and the rate of the shaft, near the turning points of the first swing.
//!
//! One mode of the struts dies away in 0.1 ms: explicit methods are held to steps of that size by stability alone.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "MbsBenchmark (University of A Coruña) A05, rate of the shaft 2π rad/s; definition published, values from the \
    reduced equations in `reference/governor.py`, SciPy's Radau at 1e-11 and 1e-13.";

/// Two arms with balls on a turning shaft, and a sleeve on stiff struts.
pub const GOVERNOR: ReferenceProblem = ReferenceProblem {
    name: "governor",
    model: include_str!("../../../../models/governor.toml"),
    set: &[],
    t_end: 1.0,
    references: GOVERNOR_REFERENCES,
    source: SOURCE,
};

const GOVERNOR_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(0.5, &["sleeve.z"], &[0.7432494247863354], 1e-11),
    ReferenceValues::value(0.5, &["ball1.z"], &[0.743411005118237], 1e-11),
    ReferenceValues::value(0.5, &["bearing.rate"], &[5.103415421971509], 1e-11),
    ReferenceValues::value(1.0, &["sleeve.z"], &[0.5014209223795654], 1e-11),
    ReferenceValues::value(1.0, &["ball1.z"], &[0.5015297237402456], 1e-11),
    ReferenceValues::value(1.0, &["bearing.rate"], &[6.271125741876571], 1e-11),
];
