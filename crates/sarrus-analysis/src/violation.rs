//! Describes how well the constraints held: ‖Φ‖, ‖Φ̇‖ and ‖Φ̈‖ over a run, for the whole and per element.
//!
//! Norms are 2-norms over the rows of an element, or of all. Rows at velocity level have no Φ.
//! Φ̈ = J v̇ - γ with the accelerations that the method used, so a stabilization that shifts γ shows here.

use sarrus_solve::{Accel, Equations, Structure};
use sarrus_system::System;

/// Largest and root mean square value of a norm over a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NormStatistics {
    /// Largest value; not a number if one was not.
    pub max: f64,
    sum: f64,
    n: u64,
}

impl NormStatistics {
    /// Takes note of a value.
    pub fn add(&mut self, x: f64) {
        // a comparison with NaN is false: keep it once it is there
        if !self.max.is_nan() && !(x <= self.max) {
            self.max = x;
        }
        self.sum += x * x;
        self.n += 1;
    }

    /// Root mean square of the values; 0 if there were none.
    pub fn rms(&self) -> f64 {
        if self.n == 0 { 0.0 } else { (self.sum / self.n as f64).sqrt() }
    }
}

/// Violation at position, velocity and acceleration level.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ViolationLevels {
    /// ‖Φ‖ [m, rad or as the rows are].
    pub position: NormStatistics,
    /// ‖Φ̇‖.
    pub velocity: NormStatistics,
    /// ‖Φ̈‖.
    pub acceleration: NormStatistics,
}

/// Violations of a run so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Violations {
    /// All rows together.
    pub total: ViolationLevels,
    /// One per element of the model, by its number.
    pub elements: Vec<ViolationLevels>,
    /// The number of each block row.
    numbers: Vec<usize>,
    phiddot: Vec<f64>,
}

impl Violations {
    /// Nothing noted yet of the elements of `system`.
    pub fn new(system: &System) -> Violations {
        let mut new = Violations::default();
        new.elements.resize(system.all.elements.len(), ViolationLevels::default());
        new.enter(system);
        new
    }

    /// Continues with another system of the same model.
    pub fn enter(&mut self, system: &System) {
        self.follow(system.elements.iter().map(|e| e.id).collect(), system.structure.nc);
    }

    fn follow(&mut self, numbers: Vec<usize>, nc: usize) {
        let most = numbers.iter().max().map_or(0, |n| n + 1);
        if self.elements.len() < most {
            self.elements.resize(most, ViolationLevels::default());
        }
        self.numbers = numbers;
        self.phiddot.resize(nc, 0.0);
    }

    /// Takes note of Φ and Φ̇ at one instant.
    pub fn add(&mut self, s: &Structure, eq: &Equations) {
        let (mut position, mut velocity) = (0.0, 0.0);
        for (row, number) in s.rows.iter().zip(&self.numbers) {
            let levels = &mut self.elements[*number];
            let phi2 = squares(&eq.phi[row.start..][..row.holonomic]);
            let phidot2 = squares(&eq.phidot[row.start..][..row.size]);
            levels.position.add(phi2.sqrt());
            levels.velocity.add(phidot2.sqrt());
            position += phi2;
            velocity += phidot2;
        }
        self.total.position.add(position.sqrt());
        self.total.velocity.add(velocity.sqrt());
    }

    /// Takes note of Φ̈ at one instant: `gamma` is the one of the constraints, without a stabilization's shift.
    pub fn add_acceleration(&mut self, s: &Structure, eq: &Equations, gamma: &[f64], accel: &Accel) {
        self.phiddot.iter_mut().zip(gamma).for_each(|(y, g)| *y = -g);
        eq.add_J_mul(s, &accel.vdot, &mut self.phiddot);
        let mut acceleration = 0.0;
        for (row, number) in s.rows.iter().zip(&self.numbers) {
            let levels = &mut self.elements[*number];
            let phiddot2 = squares(&self.phiddot[row.start..][..row.size]);
            levels.acceleration.add(phiddot2.sqrt());
            acceleration += phiddot2;
        }
        self.total.acceleration.add(acceleration.sqrt());
    }
}

fn squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_knows_its_largest_and_its_mean_square() {
        let mut s = NormStatistics::default();
        for x in [3.0, 4.0, 0.0] {
            s.add(x);
        }
        assert_eq!(s.max, 4.0);
        assert!((s.rms() - (25.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_value_that_is_not_a_number_is_never_forgotten() {
        let mut s = NormStatistics::default();
        for x in [1.0, f64::NAN, 2.0] {
            s.add(x);
        }
        assert!(s.max.is_nan() && s.rms().is_nan());
    }

    /// Two elements on one velocity: the first with a position level, the second without.
    #[test]
    fn rows_at_velocity_level_have_no_position_violation() {
        let mut b = Structure::builder();
        let col = b.column(1);
        b.row(1, 1, &[col]);
        b.row(1, 0, &[col]);
        let s = b.build(1, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.phi = vec![3.0, 99.0];
        eq.phidot = vec![0.0, 4.0];
        eq.J = vec![1.0, 2.0];
        eq.gamma = vec![1.0, 1.0];
        let mut violations = Violations::default();
        violations.follow(vec![0, 1], s.nc);
        violations.add(&s, &eq);
        let accel = Accel { vdot: vec![1.0], ..Accel::zeros(&s) };
        violations.add_acceleration(&s, &eq, &eq.gamma.clone(), &accel);
        assert_eq!((violations.total.position.max, violations.total.velocity.max), (3.0, 4.0));
        assert_eq!(violations.elements[1].position.max, 0.0);
        assert_eq!(violations.elements[1].acceleration.max, 1.0);
    }
}
