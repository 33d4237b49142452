//! Sizes of the terms of γ, those that cancel included.
//!
//! γ of a row is a quadratic form in the velocities of its bodies, beside what a driver adds. On a shaft that spins about its
//! own axis all of ω × (ω × r) cancels, and only rounding is left of it. How large the terms were is the size of the form
//! itself, which shows when the same bodies rotate about other axes at the same rates: a symmetric form of three variables is
//! determined by its values at e₁, e₂, e₃, e₁ + e₂, e₂ + e₃ and e₃ + e₁. So each body of an element in turn rotates about
//! these, and translates across them, as fast as the fastest of the element; the others rest.
//!
//! Cost: some ten evaluations of γ. For the decision whether constraints contradict each other, not for every step.

use super::Mechanism;
use crate::at::At;
use sarrus_math::{Twist, Vec3};

/// Directions that determine a quadratic form, each as an axis of rotation with a direction of translation across it.
const SPATIAL: [[[f64; 3]; 2]; 6] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]],
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
];
/// The same in the plane.
const PLANAR: [[[f64; 3]; 2]; 2] = [[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]];

impl Mechanism {
    /// Fills `terms` (nc) at time `t`, where the bodies are.
    pub(super) fn sizes_of_gamma(&mut self, t: f64, terms: &mut Vec<f64>) {
        let system = self.system.clone();
        terms.clear();
        // two numbers a row: what is found, and what is being tried
        terms.resize(2 * system.structure.nc, 0.0);
        let (found, tried) = terms.split_at_mut(system.structure.nc);
        let directions = if system.wide == 3 { &PLANAR[..] } else { &SPATIAL[..] };
        let Mechanism { poses, twists: actual, probes: twists, discrete, outs, scratch, .. } = self;
        twists.resize(actual.len(), Twist::zero());
        for element in &system.elements {
            let ids = || element.ids.iter().map(|id| *id as usize);
            let fastest = |of: fn(&Twist<f64>) -> Vec3<f64>| {
                ids().map(|i| of(&actual[i])).fold(0.0_f64, |most, v| most.max(v.dot(v))).sqrt()
            };
            let (speed, rate) = (fastest(|twist| twist.v), fastest(|twist| twist.w));
            let rows = element.start..element.start + element.rows.rows();
            let (found, tried) = (&mut found[rows.clone()], &mut tried[rows]);
            for i in ids().filter(|i| *i != 0) {
                for [axis, across] in directions {
                    let (v, w) = (Vec3(across.map(|x| speed * x)), Vec3(axis.map(|x| rate * x)));
                    twists[i] = Twist::new(&poses[i], v, w);
                    let at = At { t, poses, twists, ids: &element.ids, discrete, outs };
                    element.rows.gamma(&at, scratch, tried);
                    found.iter_mut().zip(&*tried).for_each(|(most, tried)| *most = most.max(tried.abs()));
                }
                twists[i] = Twist::zero();
            }
        }
        terms.truncate(system.structure.nc);
    }
}
