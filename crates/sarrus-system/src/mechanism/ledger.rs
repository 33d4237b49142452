//! What energies of bodies need, side by side: directories of large models hold names and shapes too, and do not fit into a cache.

use crate::body::{Body, BodyKind};
use sarrus_math::{Mat3, Vec3};
use sarrus_solve::State;

/// A body that moves.
#[derive(Debug, Clone)]
struct Entry {
    kind: BodyKind,
    q: usize,
    v: usize,
    mass: f64,
    heavy: f64,
    /// About the centre of mass in body axes \[kg m²\].
    inertia: Mat3<f64>,
}

/// Bodies whose energies add up.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    entries: Vec<Entry>,
    /// Where quaternions start in q.
    quaternions: Vec<usize>,
    /// Whether bodies are turned by Euler angles.
    pub has_angles: bool,
}

impl Ledger {
    pub fn new(bodies: &[Body]) -> Ledger {
        let counts = |body: &&Body| body.kind != BodyKind::Ground && !body.shares;
        let entry = |body: &Body| Entry {
            kind: body.kind,
            q: body.q,
            v: body.v,
            mass: body.mass,
            heavy: body.heavy(),
            inertia: body.inertia,
        };
        let rigid = bodies.iter().filter(|body| body.kind == BodyKind::Rigid);
        Ledger {
            entries: bodies.iter().filter(counts).map(entry).collect(),
            quaternions: rigid.map(|body| body.q + 3).collect(),
            has_angles: bodies.iter().any(|body| body.kind == BodyKind::RigidEuler),
        }
    }

    /// Where quaternions start in q.
    pub fn quaternions(&self) -> &[usize] {
        &self.quaternions
    }

    /// Kinetic energy, and potential energy of gravity, at `s` \[J\].
    pub fn energies(&self, s: &State, gravity: Vec3<f64>) -> (f64, f64) {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for entry in &self.entries {
            let (q, v) = (&s.q[entry.q..], &s.v[entry.v..]);
            let planar = matches!(entry.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint);
            let vector = |x: &[f64]| Vec3([x[0], x[1], if planar { 0.0 } else { x[2] }]);
            let (p, velocity) = (vector(q), vector(v));
            kinetic += 0.5 * entry.mass * velocity.dot(velocity);
            if entry.kind.turns() {
                let w = Vec3(if planar { [0.0, 0.0, v[2]] } else { [v[3], v[4], v[5]] });
                kinetic += 0.5 * w.dot(entry.inertia * w);
            }
            potential -= entry.heavy * gravity.dot(p);
        }
        (kinetic, potential)
    }
}
