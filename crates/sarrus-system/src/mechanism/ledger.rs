//! Describes what energies of bodies need, side by side: directories of large models hold names and shapes too, and do not fit into a cache.

use crate::body::{Body, BodyKind};
use sarrus_math::{Mat3, Vec3};
use sarrus_solve::State;

/// A body that moves.
#[derive(Debug, Clone)]
struct LedgerEntry {
    kind: BodyKind,
    /// First of its positions and velocities.
    q: u32,
    v: u32,
    mass: f64,
    gravitational_mass: f64,
    /// Of a planar body, about its centre of mass \[kg m²\].
    planar_inertia: f64,
    /// Of others, its number.
    inertia: u32,
}

/// Bodies whose energies add up.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    entries: Vec<LedgerEntry>,
    /// In body axes.
    inertias: Vec<Mat3<f64>>,
    /// Marks where quaternions start in q.
    quaternions: Vec<usize>,
    /// True if bodies are rotated by Euler angles.
    pub has_angles: bool,
}

impl Ledger {
    pub fn new(bodies: &[Body]) -> Ledger {
        let counts = |body: &&Body| body.kind != BodyKind::Ground && !body.shares;
        let mut inertias = Vec::new();
        let entry = |body: &Body| {
            if matches!(body.kind, BodyKind::Rigid | BodyKind::RigidEuler) {
                inertias.push(body.inertia);
            }
            LedgerEntry {
                kind: body.kind,
                q: body.q as u32,
                v: body.v as u32,
                mass: body.mass,
                gravitational_mass: body.gravitational_mass(),
                planar_inertia: body.inertia.0[2][2],
                inertia: inertias.len().saturating_sub(1) as u32,
            }
        };
        let rigid = bodies.iter().filter(|body| body.kind == BodyKind::Rigid);
        Ledger {
            entries: bodies.iter().filter(counts).map(entry).collect(),
            inertias,
            quaternions: rigid.map(|body| body.q + 3).collect(),
            has_angles: bodies.iter().any(|body| body.kind == BodyKind::RigidEuler),
        }
    }

    /// Returns where quaternions start in q.
    pub fn quaternions(&self) -> &[usize] {
        &self.quaternions
    }

    /// Kinetic energy, and potential energy of gravity, at `s` \[J\].
    pub fn energies(&self, s: &State, gravity: Vec3<f64>) -> (f64, f64) {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for entry in &self.entries {
            let (q, v) = (&s.q[entry.q as usize..], &s.v[entry.v as usize..]);
            let planar = matches!(entry.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint);
            let vector = |x: &[f64]| Vec3([x[0], x[1], if planar { 0.0 } else { x[2] }]);
            let (p, velocity) = (vector(q), vector(v));
            kinetic += 0.5 * entry.mass * velocity.dot(velocity);
            if entry.kind == BodyKind::PlanarRigid {
                kinetic += 0.5 * (v[2] * (entry.planar_inertia * v[2]));
            } else if entry.kind.rotates() {
                let w = Vec3([v[3], v[4], v[5]]);
                kinetic += 0.5 * w.dot(self.inertias[entry.inertia as usize] * w);
            }
            potential -= entry.gravitational_mass * gravity.dot(p);
        }
        (kinetic, potential)
    }
}
