//! Decides whether a run kept its limits: one verdict, from one number against one limit for each thing that users trust.

use crate::accuracy::Accuracy;
use crate::report::{EnergyReport, Status, ViolationReport};
use sarrus_solve::Rotated;
use serde::Serialize;

/// Limits that a run is held to (`run.certify`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertificateLimits {
    /// Of the largest ‖Φ‖.
    pub position: f64,
    /// Of the largest ‖Φ̇‖.
    pub velocity: f64,
    /// Of the relative error of the energy balance.
    pub energy: f64,
}

/// States whether a run kept its limits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certificate {
    /// True if every item passed, as far as the run went, and it did not fail.
    pub passed: bool,
    /// Largest ‖Φ‖.
    pub position: CertificateItem,
    /// Largest ‖Φ̇‖.
    pub velocity: CertificateItem,
    /// Relative error of the energy balance.
    pub energy: CertificateItem,
    /// Rotation of a body, or of a joint, within the step that came nearest to its limit \[rad\]; left out where nothing rotates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<CertificateItem>,
    /// Farthest that a coordinate was beyond a rigid limit, at a step or a row \[m, rad\]; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<CertificateItem>,
    /// Largest part of the multipliers in the null space of Jᵀ, relative to them: zero for those of least norm. Left out where no row is redundant, or the
    /// formulation is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reactions: Option<CertificateItem>,
    /// Largest estimated global error of a column, relative to the scale of its unit; left out where it is not estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Accuracy>,
    /// Number of recorded values, and number of checks of conditions of events, gave no finite number though they should have.
    pub finite: CertificateItem,
    /// Largest difference of a driven coordinate, or of its rate, from its function, that which came nearest to its limit
    /// [m, rad, or that per s]; left out where nothing is driven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drivers: Option<CertificateItem>,
    /// Largest mesh error of a beam over its length, as estimated; left out where there are no beams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<CertificateItem>,
    /// Number of times that the condition of an event could not be bounded over a step, so that it may have been missed; left out where there are
    /// no events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<CertificateItem>,
}

/// Limit of the part of multipliers in the null space of Jᵀ.
const NULL_SHARE: f64 = 1e-6;
/// Beside rows that nearly depend on others the null space is known to their misfit times what levers make of it.
const OF_MISFIT: f64 = 10.0;

impl Certificate {
    /// Holds a run that ended with `status` to `limits`.
    pub fn new(
        status: Status,
        violation: &ViolationReport,
        energy: &EnergyReport,
        limits: &CertificateLimits,
    ) -> Certificate {
        let position = CertificateItem::new(violation.position.max, limits.position);
        let velocity = CertificateItem::new(violation.velocity.max, limits.velocity);
        let energy = CertificateItem::new(energy.balance_error, limits.energy);
        let items = position.passed && velocity.passed && energy.passed;
        Certificate {
            passed: items && status != Status::Failed,
            position,
            velocity,
            energy,
            rotation: None,
            gap: None,
            reactions: None,
            accuracy: None,
            finite: CertificateItem::new(0.0, 0.0),
            drivers: None,
            mesh: None,
            events: None,
        }
    }

    /// With the number of values that are not finite, of which there may be none.
    pub fn with_finite(mut self, found: u64) -> Certificate {
        self.finite = CertificateItem::new(found as f64, 0.0);
        self.passed &= self.finite.passed;
        self
    }

    /// With the mesh error of beams, and its limit.
    pub fn with_mesh(mut self, error: Option<f64>, limit: f64) -> Certificate {
        self.mesh = error.map(|error| CertificateItem::new(error, limit));
        self.passed &= self.mesh.is_none_or(|item| item.passed);
        self
    }

    /// With how often events may have been missed, which they never may.
    pub fn with_events(mut self, unbounded: Option<u64>) -> Certificate {
        self.events = unbounded.map(|times| CertificateItem::new(times as f64, 0.0));
        self.passed &= self.events.is_none_or(|item| item.passed);
        self
    }

    /// With the largest differences of driven positions and rates from their functions, which are held to the limits of positions and
    /// velocities.
    pub fn with_drivers(mut self, position: Option<f64>, rate: Option<f64>) -> Certificate {
        let position = position.map(|off| CertificateItem::new(off, self.position.limit));
        let rate = rate.map(|off| CertificateItem::new(off, self.velocity.limit));
        let part = |item: &CertificateItem| item.value / item.limit;
        self.drivers = match (position, rate) {
            (Some(position), Some(rate)) if part(&rate) > part(&position) || part(&rate).is_nan() => {
                Some(rate)
            }
            (position, rate) => position.or(rate),
        };
        self.passed &= self.drivers.is_none_or(|item| item.passed);
        self
    }

    /// Adds the estimated accuracy.
    pub fn add_accuracy(&mut self, accuracy: Accuracy) {
        self.passed &= accuracy.item.passed;
        self.accuracy = Some(accuracy);
    }

    /// With the rotation of the step that came nearest to its limit.
    pub fn with_rotation(mut self, worst: Option<Rotated>) -> Certificate {
        self.rotation = worst.map(|worst| CertificateItem::new(worst.angle, worst.limit));
        self.passed &= self.rotation.is_none_or(|item| item.passed);
        self
    }

    /// With the farthest that a coordinate was beyond a rigid limit, which is held to that of positions.
    pub fn with_gap(mut self, beyond: Option<f64>) -> Certificate {
        self.gap = beyond.map(|beyond| CertificateItem::new(beyond, self.position.limit));
        self.passed &= self.gap.is_none_or(|item| item.passed);
        self
    }

    /// Not passed where the run was `cut_off` before its end by what it could not go through.
    pub fn unless(mut self, cut_off: bool) -> Certificate {
        self.passed &= !cut_off;
        self
    }

    /// With the largest part of the multipliers in the null space of Jᵀ; `misfit` is that of rows that nearly depend on others.
    pub fn with_null_share(mut self, share: Option<f64>, misfit: Option<f64>) -> Certificate {
        let limit = NULL_SHARE.max(OF_MISFIT * misfit.unwrap_or(0.0));
        self.reactions = share.map(|share| CertificateItem::new(share, limit));
        self.passed &= self.reactions.is_none_or(|item| item.passed);
        self
    }

    /// The items by name.
    pub fn items(&self) -> impl Iterator<Item = (&'static str, CertificateItem)> {
        let always = [("position", self.position), ("velocity", self.velocity), ("energy", self.energy)];
        let accuracy = self.accuracy.as_ref().map(|accuracy| accuracy.item);
        let more = [
            ("rotation", self.rotation),
            ("gap", self.gap),
            ("reactions", self.reactions),
            ("accuracy", accuracy),
            ("finite", Some(self.finite)),
            ("drivers", self.drivers),
            ("mesh", self.mesh),
            ("events", self.events),
        ];
        always.into_iter().chain(more.into_iter().filter_map(|(name, item)| Some((name, item?))))
    }
}

/// One number against its limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CertificateItem {
    /// The number.
    pub value: f64,
    /// The most that it may be.
    pub limit: f64,
    /// True if it is; a value that is not a number never is.
    pub passed: bool,
}

impl CertificateItem {
    pub(crate) fn new(value: f64, limit: f64) -> CertificateItem {
        CertificateItem { value, limit, passed: value <= limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SpreadReport;

    const LIMITS: CertificateLimits = CertificateLimits { position: 1e-8, velocity: 1e-7, energy: 1e-6 };

    fn violation(position: f64) -> ViolationReport {
        let at = |max| SpreadReport { max, rms: 0.0 };
        ViolationReport { position: at(position), velocity: at(0.0), acceleration: at(1.0) }
    }

    fn energy(balance_error: f64) -> EnergyReport {
        EnergyReport { initial: 0.0, max_drift: 0.0, balance_error, scale: 1.0 }
    }

    #[test]
    fn a_run_within_its_limits_passes() {
        let c = Certificate::new(Status::Completed, &violation(1e-9), &energy(1e-7), &LIMITS);
        assert!(c.passed);
    }

    #[test]
    fn one_item_over_its_limit_fails_the_whole() {
        let c = Certificate::new(Status::Completed, &violation(1e-9), &energy(2e-6), &LIMITS);
        assert!(!c.passed && c.position.passed && !c.energy.passed);
    }

    #[test]
    fn a_value_that_is_not_a_number_does_not_pass() {
        let c = Certificate::new(Status::Completed, &violation(f64::NAN), &energy(0.0), &LIMITS);
        assert!(!c.passed && !c.position.passed);
    }

    /// A misfit of rows that nearly depend on others leaves the null space as uncertain.
    #[test]
    fn multipliers_with_a_null_part_do_not_pass() {
        let certificate = Certificate::new(Status::Completed, &violation(0.0), &energy(0.0), &LIMITS);
        let with = |share, misfit| certificate.clone().with_null_share(share, misfit).passed;
        assert!(with(None, None) && with(Some(1e-12), None) && with(Some(1e-5), Some(1e-5)));
        assert!(!with(Some(1e-5), None) && !with(Some(0.9), Some(1e-5)) && !with(Some(f64::NAN), None));
    }

    #[test]
    fn a_failed_run_does_not_pass() {
        let c = Certificate::new(Status::Failed, &violation(0.0), &energy(0.0), &LIMITS);
        assert!(!c.passed);
    }
}
