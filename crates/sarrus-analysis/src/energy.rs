//! The energy balance of a run: kinetic + potential + dissipated - work must stay what it was.

use sarrus_system::Energy;

/// Least scale of an energy error \[J\]; below it a mechanism counts as without energy.
const TINY: f64 = 1e-12;
/// Share of the potential energy's own size that is a scale for its errors: a structure at rest exchanges nothing, and has
/// only the rounding of its weights and loads times lengths.
const AT_REST: f64 = 1e-6;

/// Energies of a run so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyAccount {
    start: Energy,
    balance: [f64; 2],
    kinetic: [f64; 2],
    potential: [f64; 2],
    work: [f64; 2],
    dissipated: [f64; 2],
    weight: f64,
}

impl EnergyAccount {
    /// Opens the book with the energy at the start. `weight` is the work of its weight and loads over its own size \[J\].
    pub fn new(start: Energy, weight: f64) -> EnergyAccount {
        EnergyAccount {
            start,
            weight,
            balance: [start.balance(); 2],
            kinetic: [start.kinetic; 2],
            potential: [start.potential; 2],
            work: [start.work; 2],
            dissipated: [start.dissipated; 2],
        }
    }

    /// Takes note of the energy at one instant.
    pub fn add(&mut self, e: Energy) {
        widen(&mut self.balance, e.balance());
        widen(&mut self.kinetic, e.kinetic);
        widen(&mut self.potential, e.potential);
        widen(&mut self.work, e.work);
        widen(&mut self.dissipated, e.dissipated);
    }

    /// Kinetic and potential energy at the start \[J\].
    pub fn initial(&self) -> f64 {
        self.start.kinetic + self.start.potential
    }

    /// The largest kinetic energy so far \[J\].
    pub fn most_kinetic(&self) -> f64 {
        self.kinetic[1]
    }

    /// The most that the balance has moved away from its value at the start \[J\].
    pub fn max_drift(&self) -> f64 {
        let start = self.start.balance();
        (self.balance[1] - start).max(start - self.balance[0])
    }

    /// [`max_drift`](EnergyAccount::max_drift) relative to the energy that was exchanged: the widest range among
    /// kinetic, potential, work and dissipation.
    pub fn balance_error(&self) -> f64 {
        self.max_drift() / self.scale()
    }

    /// The energy that errors are measured against \[J\].
    pub fn scale(&self) -> f64 {
        let range = |[lo, hi]: [f64; 2]| hi - lo;
        let exchanged = range(self.kinetic).max(range(self.potential));
        let through = range(self.work).max(range(self.dissipated));
        // a body that coasts exchanges nothing: measure against what it has
        let own = self.kinetic[1].max(AT_REST * self.weight);
        exchanged.max(through).max(own).max(TINY)
    }
}

/// Widens `range` to hold `x`; not a number once one was.
fn widen(range: &mut [f64; 2], x: f64) {
    if x.is_nan() {
        *range = [f64::NAN; 2];
    } else {
        // a range that is not a number stays so: comparisons with it are false
        if x < range[0] {
            range[0] = x;
        }
        if x > range[1] {
            range[1] = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energy(kinetic: f64, potential: f64, work: f64, dissipated: f64) -> Energy {
        Energy { kinetic, potential, work, dissipated }
    }

    #[test]
    fn exchange_between_the_parts_is_no_drift() {
        let mut account = EnergyAccount::new(energy(0.0, 10.0, 0.0, 0.0), 0.0);
        account.add(energy(6.0, 4.0, 0.0, 0.0));
        account.add(energy(8.0, 4.0, 3.0, 1.0));
        assert_eq!(account.max_drift(), 0.0);
        assert_eq!(account.scale(), 8.0);
        assert_eq!(account.initial(), 10.0);
    }

    #[test]
    fn a_loss_is_measured_against_what_was_exchanged() {
        let mut account = EnergyAccount::new(energy(0.0, 10.0, 0.0, 0.0), 0.0);
        account.add(energy(5.0, 4.0, 0.0, 0.0));
        account.add(energy(0.0, 10.0, 0.0, 0.0));
        assert_eq!(account.max_drift(), 1.0);
        assert!((account.balance_error() - 1.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn an_energy_that_is_not_a_number_spoils_the_balance() {
        let mut account = EnergyAccount::new(energy(1.0, 0.0, 0.0, 0.0), 0.0);
        account.add(energy(f64::NAN, 0.0, 0.0, 0.0));
        account.add(energy(1.0, 0.0, 0.0, 0.0));
        assert!(account.balance_error().is_nan());
    }
}
