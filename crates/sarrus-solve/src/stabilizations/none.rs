//! No stabilization: Φ̈ = 0 alone, so Φ drifts with the integrator's errors, quadratically in time.
//!
//! For comparisons, and for motions short enough.

use super::{Stabilization, StabilizationKind};

pub(super) const KIND: StabilizationKind = StabilizationKind {
    name: "none",
    doc: "Φ̈ = 0 alone: the constraints drift",
    dense: false,
    options: &[],
    new: |_| Ok(Box::new(None)),
};

struct None;

impl Stabilization for None {
    fn is_plain(&self) -> bool {
        true
    }
}
