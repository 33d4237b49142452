//! Energies, and the powers that change them.

use super::Mechanism;
use crate::at::At;
use crate::contact::rigid;
use crate::load::Wrench;
use crate::system::{DISSIPATED, WORK};
use sarrus_math::Vec3;
use sarrus_solve::{Accel, State};

/// energy accounting at an instant \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Gravity and springs.
    pub potential: f64,
    /// Work done by forces and drivers since the start.
    pub work: f64,
    /// Energy dissipated since the start.
    pub dissipated: f64,
}

impl Energy {
    /// Kinetic + potential + dissipated - work done: constant along an exact motion.
    pub fn balance(&self) -> f64 {
        self.kinetic + self.potential + self.dissipated - self.work
    }
}

impl Mechanism {
    /// The work of lifting the mechanism by its own size at `s`, and of its loads over that length and over a radian: a scale for its
    /// energies \[J\], of which loads that balance leave rounding.
    pub fn weight(&mut self, s: &State) -> f64 {
        self.update_kinematics(s);
        let g = Vec3(self.system.gravity).norm();
        let bodies = &self.system.directory.bodies;
        let bodies_in_use = self.poses.iter().zip(bodies).filter(|(_, body)| !body.rotor);
        let size = bodies_in_use.fold(0.0_f64, |size, (pose, _)| size.max(pose.p.norm()));
        let weight = g * size * bodies.iter().skip(1).map(|b| b.gravitational_mass()).sum::<f64>();
        let system = self.system.clone();
        if !system.forces.iter().any(|f| f.enabled && f.load.is_load()) {
            return weight;
        }
        self.control(s);
        let mut loads = 0.0;
        for force in system.forces.iter().filter(|f| f.enabled && f.load.is_load()) {
            let mut wrenches = vec![Wrench::zero(); force.ids.len()];
            force.load.wrench(&self.at(s.t, &force.ids), &mut wrenches);
            loads += wrenches.iter().map(|w| w.force.norm() * size + w.torque.norm()).sum::<f64>();
        }
        if loads.is_finite() { weight + loads } else { weight }
    }

    /// energy accounting at `s`.
    pub fn energy(&mut self, s: &State) -> Energy {
        let system = self.system.clone();
        let (kinetic, potential) = self.ledger.energies(s, Vec3(system.gravity));
        let mut energy = Energy { kinetic, potential, work: s.x[WORK], dissipated: s.x[DISSIPATED] };
        let directory = &system.directory;
        let is_bare = directory.added.is_empty() && directory.floating.is_empty() && self.contacts.is_empty();
        if is_bare && !system.forces.iter().any(|f| f.enabled) {
            return energy;
        }
        self.update_kinematics(s);
        self.control(s);
        for (id, added) in &system.directory.added {
            energy.kinetic += added.kinetic(&self.poses[*id as usize], &self.twists[*id as usize]);
        }
        for floating in &system.directory.floating {
            let energies =
                floating.energies_in(&self.poses, &self.twists, &system.gravity, &mut self.workspace);
            energy.kinetic += energies.0;
            energy.potential += energies.1;
        }
        for force in system.forces.iter().filter(|f| f.enabled) {
            energy.potential += force.load.potential(&self.at(s.t, &force.ids));
        }
        if !self.contacts.is_empty() {
            let [along, across] =
                self.with_contacts(s, |contacts, bodies, scratch| contacts.stored(bodies, scratch));
            energy.potential += along + across;
            // booked as dissipated with all work of friction
            energy.dissipated -= across;
        }
        energy
    }

    /// Power of the forces that keep no energy accounts, and power dissipated, at the current places.
    pub(super) fn powers(&mut self, t: f64) -> (f64, f64) {
        let system = self.system.clone();
        let (mut work, mut heat) = (0.0, 0.0);
        for force in system.forces.iter().filter(|f| f.enabled) {
            let at = At {
                t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &force.ids,
                discrete: &self.discrete,
                outs: &self.outs,
            };
            if force.load.accounts_for_power() {
                heat += force.load.dissipation(&at);
                continue;
            }
            let wrenches = &mut self.wrenches[..force.ids.len()];
            wrenches.fill(Wrench::zero());
            force.load.wrench(&at, wrenches);
            for (&id, wrench) in force.ids.iter().zip(wrenches) {
                let twist = &self.twists[id as usize];
                work += wrench.force.dot(twist.v) + wrench.torque.dot(twist.w_W);
            }
        }
        for (wrench, twist) in self.external[..self.pushed].iter().zip(&self.twists) {
            work += wrench.force.dot(twist.v) + wrench.torque.dot(twist.w_W);
        }
        (work, heat)
    }

    /// Adds what friction of places that slide turns into heat.
    pub(super) fn slide_rates(&mut self, s: &State, accel: &Accel, xdot: &mut [f64]) {
        if self.system.slides.is_empty() {
            return;
        }
        let system = self.system.clone();
        for element in system.slides.iter().map(|&i| &system.elements[i]) {
            let N = -accel.lambda[element.start];
            let heat = self.with_contacts(s, |_, bodies, _| rigid::heat(element, bodies, N));
            xdot[DISSIPATED] += heat;
            if let Some(contact) = system.contacts.iter().find(|c| c.contact.name == element.name) {
                xdot[contact.x + 1] += heat;
            }
        }
    }
}
