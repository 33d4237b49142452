//! Describes how large a change is: lengths against the size of the mechanism, turns against a radian.

use crate::problem::{Array, GroupKind, State, Structure};

/// Speeds are measured at least against the size of the mechanism over this many steps.
const STEPS: f64 = 1e3;

/// Holds what changes of positions and velocities are compared with.
#[derive(Debug, Clone, Default)]
pub struct ChangeScale {
    /// Groups of velocities: first index, length, whether they are turns.
    groups: Vec<(usize, usize, bool)>,
    /// Largest position, of those that are lengths \[m\].
    length: f64,
    /// Largest speed and largest angular velocity.
    speeds: [f64; 2],
}

impl ChangeScale {
    /// For the groups of `s`.
    pub fn new(s: &Structure) -> ChangeScale {
        let velocities = s.groups.iter().filter(|g| g.kind.array() == Array::V);
        let rotates = |kind| kind == GroupKind::AngularVelocity;
        ChangeScale {
            groups: velocities.map(|g| (g.start, g.len, rotates(g.kind))).collect(),
            ..ChangeScale::default()
        }
    }

    /// Takes the measure of `s`.
    pub fn measure(&mut self, structure: &Structure, s: &State) {
        let positions = structure.groups.iter().filter(|g| g.kind == GroupKind::Position);
        self.length = positions.map(|g| norm(&s.q[g.start..][..g.len])).fold(0.0, f64::max);
        if self.length == 0.0 {
            self.length = 1.0;
        }
        self.speeds = [0.0; 2];
        for &(start, len, rotates) in &self.groups {
            let speed = &mut self.speeds[usize::from(rotates)];
            *speed = speed.max(norm(&s.v[start..][..len]));
        }
    }

    /// Lengths are compared with this one \[m\] where the largest position is smaller.
    pub fn at_least(&mut self, length: f64) {
        self.length = self.length.max(length);
    }

    /// The largest position \[m\].
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The largest of the changes β `z` of positions and γ `z` of velocities in a step of size `h`, and which velocity is the worst.
    pub fn size(&self, z: &[f64], beta: f64, gamma: f64, h: f64) -> (f64, usize) {
        let mut worst = (0.0, 0);
        for &(start, len, rotates) in &self.groups {
            let z = norm(&z[start..][..len]);
            let length = if rotates { 1.0 } else { self.length };
            let speed = self.speeds[usize::from(rotates)].max(length / (STEPS * h));
            let size = (beta * z / length).max(gamma * z / speed);
            if !(size <= worst.0) {
                worst = (size, start);
            }
        }
        worst
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
