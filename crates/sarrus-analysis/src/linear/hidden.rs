//! Decides whether something could drive a mode whose stiffness rounding hides.
//!
//! What acts on a mode z that is normed by its kinetic energy is zᵀK_e z of each applied force e by itself, as a sum of
//! [squares](super::squares), and what loads do as they are carried along, at most |F| |x| |θ| of the largest load, displacement
//! and turn. A mode is free where none of them acts, or where rounding is far below what acts and leaves nothing of the sum: then
//! they cancel. O(forces), for models that have such a mode.

use super::linearize::{Linearization, ROUNDING};
use super::squares::SumOfSquares;
use sarrus_solve::{Equations, Problem, Stage, State, TangentBlock};
use sarrus_system::body::BodyKind;
use sarrus_system::{Mechanism, System};
use std::sync::Arc;

/// Stiffnesses that rounding leaves this fraction of are seen to cancel.
const SEEN: f64 = 1e-6;
/// Parts of a mode, squared, that are rounding.
const PART: f64 = 1e-12;

/// Holds what acts on modes at a state.
pub(super) struct ModeForces<'a> {
    system: Arc<System>,
    linear: &'a Linearization,
    /// The largest force on a body, in the directions of its position \[N\].
    load: f64,
}

impl<'a> ModeForces<'a> {
    pub(super) fn new(mechanism: &mut Mechanism, state: &State, linear: &'a Linearization) -> Self {
        let mut eq = Equations::new(mechanism);
        mechanism.update(state, Stage::FORCE, &mut eq);
        let rounding = rounded_forces(mechanism, state);
        let bodies = &mechanism.system().directory.bodies;
        let load = bodies.iter().skip(1).fold(0.0_f64, |most, body| {
            let own = body.v..body.v + moves(body.kind);
            let loads = eq.f[own.clone()].iter().zip(&rounding[own]).filter(|(f, least)| f.abs() > **least);
            loads.fold(most, |a, (f, _)| a.max(f.abs()))
        });
        Self { system: mechanism.system().clone(), linear, load }
    }

    /// Returns whether something acts on z that stiffnesses up to `hidden` could come from.
    pub(super) fn may_drive(&self, z: &[f64], hidden: f64) -> bool {
        let within = |acts: f64| acts > 0.0 && hidden > SEEN * acts;
        let system = &self.system;
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let (mut x, mut rotation) = (0.0_f64, 0.0_f64);
        for body in system.directory.bodies.iter().skip(1) {
            let (at, wide) = (moves(body.kind), body.kind.nv());
            x = x.max(largest(&z[body.v..][..at]));
            rotation = rotation.max(largest(&z[body.v + at..][..wide - at]));
        }
        let all = largest(z);
        // points rotate about each other; what is carried along without a rotation acts as before
        let bodies = system.directory.bodies.iter().any(|b| b.kind.nv() > moves(b.kind));
        let rotation = if bodies { rotation } else { x };
        if x.min(rotation).powi(2) > PART * all * all && within(self.load * x * rotation) {
            return true;
        }
        let unbalanced = self.linear.unbalanced * all * all;
        self.linear.springs.rows.chunk_by(|a, b| a.force == b.force).any(|rows| {
            let sum = SumOfSquares::of(rows, z);
            let part = rows.iter().any(|row| row.parts(z) > PART * (row.largest() * all).powi(2));
            part && sum.value().abs() > sum.noise() + unbalanced && within(sum.value().abs())
        })
    }
}

/// Returns what rounding of positions and turns makes of forces: ε |K| |q|.
pub(super) fn rounded_forces(mechanism: &mut Mechanism, state: &State) -> Vec<f64> {
    let system = mechanism.system().clone();
    let s = &system.structure;
    let mut tangent = system.new_tangent();
    mechanism.tangent(state, &vec![0.0; s.nv], &vec![0.0; s.nc], &mut tangent);
    let far = state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));
    let mut out = vec![0.0; s.nv];
    for TangentBlock { at, offset, .. } in &tangent.pairs {
        let [row, col] = at.map(|i| s.cols[i]);
        let block = tangent.K[*offset..][..row.size * col.size].chunks_exact(col.size);
        for (out, k) in out[row.start..].iter_mut().zip(block) {
            *out += ROUNDING * far * k.iter().map(|k| k.abs()).sum::<f64>();
        }
    }
    out
}

/// Returns how many velocities of a body move its position.
pub(super) fn moves(kind: BodyKind) -> usize {
    match kind {
        BodyKind::Ground => 0,
        BodyKind::Rigid | BodyKind::RigidEuler | BodyKind::Point => 3,
        BodyKind::PlanarRigid | BodyKind::PlanarPoint => 2,
    }
}
