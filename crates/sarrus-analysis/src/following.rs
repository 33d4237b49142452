//! Describes how far driven coordinates are from their functions.
//!
//! That is Φ and Φ̇ of the drivers' rows, at every step and in every row of results. In space Φ leaves whole revolutions out, since any program can be
//! followed from any turn; a counted angle that slips by turns against its function shows in rows.

use sarrus_solve::{Equations, State};
use sarrus_system::{At, Family, Mechanism, System};

/// A largest difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DriverDeviation {
    /// In size \[m, rad, or that per s\].
    pub by: f64,
    /// Time \[s\].
    pub t: f64,
    /// Number of the driver's element.
    pub driver: usize,
}

/// Largest differences of a run so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Following {
    /// Drivers that act: place among the elements, and number.
    acting: Vec<(usize, usize)>,
    /// Whole turns at the first look, by number, of drivers whose Φ leaves them out \[rad\].
    revolutions: Vec<Option<f64>>,
    /// Of positions.
    pub position: Option<DriverDeviation>,
    /// Of rates.
    pub rate: Option<DriverDeviation>,
}

impl Following {
    /// Continues with a system of the model.
    pub fn enter(&mut self, system: &System) {
        let drivers = system.elements.iter().enumerate().filter(|(_, e)| e.family == Family::Driver);
        self.acting = drivers.map(|(index, e)| (index, e.id)).collect();
        // one that begins to act may do so in any turn
        let mut before = std::mem::take(&mut self.revolutions);
        before.resize(system.all.elements.len(), None);
        self.revolutions = vec![None; before.len()];
        self.acting.iter().for_each(|(_, driver)| self.revolutions[*driver] = before[*driver]);
    }

    /// Takes note of Φ and Φ̇ at `t`.
    pub fn add(&mut self, system: &System, t: f64, eq: &Equations) {
        for &(index, driver) in &self.acting {
            let element = &system.elements[index];
            let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            if element.rows.holonomic() > 0 {
                widen(
                    &mut self.position,
                    size(&eq.phi[element.start..][..element.rows.holonomic()]),
                    t,
                    driver,
                );
            }
            widen(&mut self.rate, size(&eq.phidot[element.start..][..element.rows.rows()]), t, driver);
        }
    }

    /// Takes note of the rotations of counted angles at `s`.
    pub fn add_revolutions(&mut self, mechanism: &mut Mechanism, s: &State) {
        if self.acting.is_empty() || mechanism.system().wide == 3 {
            return;
        }
        let system = mechanism.system().clone();
        mechanism.observe(s, |at| {
            for &(index, driver) in &self.acting {
                let element = &system.elements[index];
                let Some(revolutions) = element.rows.revolutions_off(&At { ids: &element.ids, ..*at }) else {
                    continue;
                };
                let first = *self.revolutions[driver].get_or_insert(revolutions);
                if revolutions != first {
                    widen(&mut self.position, (revolutions - first).abs(), s.t, driver);
                }
            }
        });
    }
}

fn widen(most: &mut Option<DriverDeviation>, by: f64, t: f64, driver: usize) {
    // NaN stays once it is there
    if most.is_none_or(|most| !(by <= most.by) && !most.by.is_nan()) {
        *most = Some(DriverDeviation { by, t, driver });
    }
}
