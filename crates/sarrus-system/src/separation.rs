//! Separating forces of rigid meshes: teeth under a pressure angle push their bodies apart, whichever flank bears.
//!
//! With F = -λ the normal force between the teeth ([`crate::constraints::gear`]) it is |F| sin α along w at the pitch point, on both bodies. It depends
//! on the multipliers as friction in joints does ([`crate::friction`]): the intensity is |λ|. Axles that are held do not let it do work, and it
//! changes reactions alone; work on axles that give way counts as work on the mechanism.

use crate::at::At;
use crate::coordinate::CoordinateRef;
use crate::load::Wrench;
use crate::names::Directory;
use crate::system::System;
use sarrus_solve::Equations;

/// Part of the pitch radius that axles may come apart and still count as held: far above rounding, and far below what energies show.
const HELD: f64 = 1e-9;

/// A gear or rack and how its bodies part.
#[derive(Clone, Debug)]
pub struct Separation {
    /// Name of the gear or rack.
    pub name: String,
    /// Number of its row among all elements of the model; none of a mesh with stiffness.
    pub element: Option<usize>,
    /// The distance that the force widens times `factor`, none without a pressure angle; bodies by their own numbers.
    pub terms: Vec<(f64, CoordinateRef)>,
    /// Separating part of the force along the row: sin α.
    pub factor: f64,
    /// The smaller pitch radius \[m\].
    pub radius: f64,
}

/// Rigid meshes with a separating force.
pub(crate) fn all(directory: &Directory) -> Vec<Separation> {
    let acts = |mesh: &&Separation| mesh.element.is_some() && !mesh.terms.is_empty();
    directory.meshes.iter().filter(acts).cloned().collect()
}

impl Separation {
    /// |λ|; zero where the mesh does not act.
    pub(crate) fn intensity(&self, system: &System, lambda: &[f64]) -> f64 {
        self.element.and_then(|id| system.element(id)).map_or(0.0, |e| lambda[e.start].abs())
    }

    /// Adds the force of the intensity `n` to `f`. `at` sees all bodies by their own numbers.
    pub(crate) fn add(&self, system: &System, at: &At<f64>, n: f64, f: &mut [f64]) {
        for (factor, c) in &self.terms {
            let [on_a, on_b] = c.effort(at, n * factor);
            for (id, (force, torque)) in [(c.a, on_a), (c.b, on_b)] {
                let body = &system.directory.bodies[id];
                let own = &mut f[body.v..body.v + body.kind.nv()];
                Wrench { force, torque }.add_to(body.kind, &at.poses[id], own);
            }
        }
    }

    /// Power of the intensity `n` \[W\]; none on axles that are held, whose velocities are rounding.
    pub(crate) fn power(&self, at: &At<f64>, n: f64) -> f64 {
        if self.distance(at).abs() <= HELD * self.radius {
            return 0.0;
        }
        n * self.terms.iter().map(|(factor, c)| factor * c.speed(at)).sum::<f64>()
    }

    /// By how much the bodies are further apart than in the model pose \[m\].
    pub fn distance(&self, at: &At<f64>) -> f64 {
        let sum: f64 = self.terms.iter().map(|(factor, c)| factor * c.value(at)).sum();
        if self.terms.is_empty() { 0.0 } else { sum / self.factor }
    }

    /// Adds the separating force of λ = 1 to the row of J, so that Jᵀλ is all of the tooth force where one flank bears.
    pub(crate) fn add_to_row(&self, system: &System, at: &At<f64>, f: &mut [f64], eq: &mut Equations) {
        let Some(element) = self.element.and_then(|id| system.element(id)) else { return };
        f.fill(0.0);
        self.add(system, at, 1.0, f);
        for (&id, block) in element.ids.iter().zip(&element.blocks) {
            let Some(block) = block else { continue };
            let body = &system.directory.bodies[id as usize];
            let J = &mut eq.J[block.offset..][..block.columns];
            J.iter_mut().zip(&f[body.v..]).for_each(|(J, f)| *J -= f);
        }
    }
}
