//! Describes what a displacement costs in the search for rest: δᵀG δ = δᵀM δ + c Σ |turn of one body against the other|².
//!
//! The sum is over bodies that rows tie together, not over the ground; c is the inertia of the whole mechanism about its middle, times the
//! number of ties: with that, to bend a chain of any number of links costs about as much as to swing it. Sparse: blocks of M, and of
//! pairs that J ties.

use sarrus_math::{Mat3, Pose};
use sarrus_solve::{Equations, State, Tangent};
use sarrus_system::System;
use sarrus_system::body::{Body, BodyKind};

/// G of a mechanism.
pub(super) struct Metric {
    /// Bodies that are tied together, as block columns, each pair once.
    pairs: Vec<[usize; 2]>,
    /// c \[kg m²\].
    inertia: f64,
}

impl Metric {
    /// Of a system whose size is that of `state`.
    pub fn new(system: &System, state: &State) -> Metric {
        let s = &system.structure;
        let mut pairs: Vec<[usize; 2]> = s
            .rows
            .iter()
            .filter_map(|row| match &s.entries[row.entries.clone()] {
                [a, b] if a.col != b.col => Some([a.col.min(b.col), a.col.max(b.col)]),
                _ => None,
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();

        let bodies = || system.directory.bodies.iter().skip(1);
        let point_of = |b: &Body| {
            let linear = if matches!(b.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 };
            let mut p = [0.0; 3];
            p[..linear].copy_from_slice(&state.q[b.q..][..linear]);
            p
        };
        let mass: f64 = bodies().map(|b| b.mass).sum();
        let middle = [0, 1, 2].map(|i| bodies().map(|b| b.mass * point_of(b)[i]).sum::<f64>() / mass);
        let spread = |b: &Body| (0..3).map(|i| (point_of(b)[i] - middle[i]).powi(2)).sum::<f64>();
        let own = |b: &Body| if b.kind.rotates() { b.inertia.0[2][2] } else { 0.0 };
        let whole: f64 = bodies().map(|b| b.mass * spread(b) + own(b)).sum();
        let inertia = pairs.len() as f64 * whole;
        Metric { pairs, inertia }
    }

    /// A stiffness over G \[1/s²\]: where to begin with μ.
    pub fn stiffness(&self, eq: &Equations, tangent: &Tangent) -> f64 {
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let (K, G) = (largest(&tangent.K), largest(&eq.mass).max(self.inertia));
        if K > 0.0 && G > 0.0 { K / G } else { 1.0 }
    }

    /// Entries of μG at `state`; those at one place add up.
    pub fn entries(
        &self,
        system: &System,
        state: &State,
        eq: &Equations,
        mu: f64,
    ) -> Vec<(usize, usize, f64)> {
        let s = &system.structure;
        let mut entries = Vec::new();
        if mu == 0.0 {
            return entries;
        }
        for c in &s.cols {
            for (k, m) in eq.mass[c.mass..][..c.size * c.size].iter().enumerate().filter(|(_, m)| **m != 0.0)
            {
                entries.push((c.start + k / c.size, c.start + k % c.size, mu * m));
            }
        }
        for pair in &self.pairs {
            // of a modal body the frame
            let bodies = pair.map(|i| &system.directory.bodies[system.first_body(i) as usize]);
            self.tie(bodies, state, mu, &mut entries);
        }
        entries
    }

    /// c |w_a - w_b|² of two bodies.
    fn tie(&self, bodies: [&Body; 2], state: &State, mu: f64, entries: &mut Vec<(usize, usize, f64)>) {
        let [Some((a, n)), Some((b, m))] = bodies.map(rotation_range) else { return };
        if n != m {
            return;
        }
        let c = mu * self.inertia;
        for i in 0..n {
            entries.push((a + i, a + i, c));
            entries.push((b + i, b + i, c));
        }
        if n == 1 {
            entries.extend([(a, b, -c), (b, a, -c)]);
            return;
        }
        // turns are about each body's own axes
        let [A, B]: [Mat3; 2] = bodies.map(|body| Pose::from_quat([0.0; 3], body.quaternion(&state.q)).rot);
        let across = A.transpose() * B;
        for i in 0..3 {
            for j in 0..3 {
                let entry = -c * across.0[i][j];
                entries.extend([(a + i, b + j, entry), (b + j, a + i, entry)]);
            }
        }
    }
}

/// Returns where the rotations of a body stand in v, and how many they are.
fn rotation_range(body: &Body) -> Option<(usize, usize)> {
    match body.kind {
        BodyKind::Rigid | BodyKind::RigidEuler => Some((body.v + 3, 3)),
        BodyKind::PlanarRigid => Some((body.v + 2, 1)),
        _ => None,
    }
}
