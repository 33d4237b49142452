//! A mechanism under a part of its loads: for statics that brings them on bit by bit.
//!
//! Loads are gravity, and every force of which [`Load::is_load`] holds: forces, torques, fields, actuators, and forces written in Rust. What
//! belongs to the mechanism itself (springs with their preload, bushings, beams) stays as it is. Cost: a copy of the system's lists.

use crate::at::At;
use crate::load::{Load, Wrench};
use crate::system::System;
use sarrus_math::{Dual, Jet, Real};
use sarrus_solve::StructureError;
use std::sync::Arc;

/// A part of a load.
struct LoadTerm {
    whole: Arc<dyn Load>,
    factor: f64,
}

impl LoadTerm {
    fn add<R: Real>(&self, out: &mut [Wrench<R>], act: impl FnOnce(&mut [Wrench<R>])) {
        let mut whole = vec![Wrench::zero(); out.len()];
        act(&mut whole);
        for (out, whole) in out.iter_mut().zip(&whole) {
            out.force += whole.force.scale_f64(self.factor);
            out.torque += whole.torque.scale_f64(self.factor);
        }
    }
}

impl Load for LoadTerm {
    fn wrench(&self, at: &At<f64>, out: &mut [Wrench<f64>]) {
        self.add(out, |out| self.whole.wrench(at, out));
    }

    fn wrench_dual(&self, at: &At<Dual<6>>, out: &mut [Wrench<Dual<6>>]) {
        self.add(out, |out| self.whole.wrench_dual(at, out));
    }

    fn potential(&self, at: &At<f64>) -> f64 {
        self.factor * self.whole.potential(at)
    }

    fn dissipation(&self, at: &At<f64>) -> f64 {
        self.factor * self.whole.dissipation(at)
    }

    fn accounts_for_power(&self) -> bool {
        self.whole.accounts_for_power()
    }

    fn is_load(&self) -> bool {
        true
    }

    fn potential_rate(&self, at: &At<Jet<2>>) -> f64 {
        self.factor * self.whole.potential_rate(at)
    }

    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]) {
        self.whole.update_discrete(at, discrete);
    }

    fn relative_rotation(&self, at: &At<f64>) -> f64 {
        self.whole.relative_rotation(at)
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        self.whole.readings()
    }

    /// The first reading of a load is its effort; others are lengths and speeds, which are no part of it.
    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        let factor = if k == 0 { self.factor } else { 1.0 };
        factor * self.whole.reading(k, at)
    }
}

impl System {
    /// The same mechanism under `factor` times its loads.
    pub fn with_loads(&self, factor: f64) -> Result<System, StructureError> {
        let mut forces = self.forces.clone();
        for force in forces.iter_mut().filter(|f| f.load.is_load()) {
            force.load = Arc::new(LoadTerm { whole: force.load.clone(), factor });
        }
        let mut system = self.with_parts(self.elements.clone(), forces, self.contacts.clone())?;
        system.gravity = self.gravity.map(|g| factor * g);
        Ok(system)
    }
}
