//! Whether something could drive a mode whose stiffness rounding hides.
//!
//! What acts on a mode z that is normed by its kinetic energy is zᵀK_e z of each applied force e by itself (a soft spring beside a
//! stiff one keeps its digits there), and what loads do as they are carried along, at most |F| |x| |θ| of the largest load, displacement
//! and turn. A mode is free where none of them acts, or where rounding is far below what acts and leaves nothing of the sum: then
//! they cancel. O(forces × blocks of K), once, for models that have such a mode.

use super::linearize::ROUNDING;
use sarrus_solve::{Equations, Pair, Problem, Stage, State, Tangent};
use sarrus_system::Mechanism;
use sarrus_system::body::BodyKind;

/// Stiffnesses that rounding leaves this fraction of are seen to cancel.
const SEEN: f64 = 1e-6;
/// Parts of a mode, squared, that are rounding.
const PART: f64 = 1e-12;
/// What an element leaves of its own terms where it does nothing to a mode: the rest about which modes are is not found closer.
const LEFT: f64 = 1e-9;

/// What acts on modes at a state.
pub(super) struct Judge<'a> {
    mechanism: &'a mut Mechanism,
    state: &'a State,
    tangent: Option<Tangent>,
    /// The largest force on a body, in the directions of its position \[N\].
    load: f64,
}

impl<'a> Judge<'a> {
    pub(super) fn new(mechanism: &'a mut Mechanism, state: &'a State) -> Self {
        let mut eq = Equations::new(mechanism);
        mechanism.update(state, Stage::FORCE, &mut eq);
        let rounding = rounding(mechanism, state);
        let bodies = &mechanism.system().directory.bodies;
        let load = bodies.iter().skip(1).fold(0.0_f64, |most, body| {
            let own = body.v..body.v + moves(body.kind);
            let loads = eq.f[own.clone()].iter().zip(&rounding[own]).filter(|(f, least)| f.abs() > **least);
            loads.fold(most, |a, (f, _)| a.max(f.abs()))
        });
        Self { mechanism, state, tangent: None, load }
    }

    /// Whether something acts on z that stiffnesses up to `hidden` could come from.
    pub(super) fn may_drive(&mut self, z: &[f64], hidden: f64) -> bool {
        let within = |acts: f64| acts > 0.0 && hidden > SEEN * acts;
        let system = self.mechanism.system().clone();
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let (mut x, mut turn) = (0.0_f64, 0.0_f64);
        for body in system.directory.bodies.iter().skip(1) {
            let (at, wide) = (moves(body.kind), body.kind.nv());
            x = x.max(largest(&z[body.v..][..at]));
            turn = turn.max(largest(&z[body.v + at..][..wide - at]));
        }
        let all = largest(z);
        // points turn about each other; what is carried along without a turn acts as before
        let bodies = system.directory.bodies.iter().any(|b| b.kind.nv() > moves(b.kind));
        let turn = if bodies { turn } else { x };
        if x.min(turn).powi(2) > PART * all * all && within(self.load * x * turn) {
            return true;
        }
        let s = &system.structure;
        let tangent = self.tangent.get_or_insert_with(|| system.new_tangent());
        (0..system.forces.len()).any(|force| {
            self.mechanism.force_tangent(self.state, force, tangent);
            let (mut sum, mut terms) = (0.0, 0.0);
            for Pair { at, offset, .. } in &tangent.pairs {
                let [row, col] = at.map(|i| s.cols[i]);
                for i in 0..row.size {
                    for j in 0..col.size {
                        let k = z[row.start + i] * tangent.K[offset + i * col.size + j] * z[col.start + j];
                        sum += k;
                        terms += k.abs();
                    }
                }
            }
            let part = PART * largest(&tangent.K) * all * all;
            terms > part && sum.abs() > LEFT * terms && within(sum.abs())
        })
    }
}

/// What rounding of positions and turns makes of forces: ε |K| |q|.
fn rounding(mechanism: &mut Mechanism, state: &State) -> Vec<f64> {
    let system = mechanism.system().clone();
    let s = &system.structure;
    let mut tangent = system.new_tangent();
    mechanism.tangent(state, &vec![0.0; s.nv], &vec![0.0; s.nc], &mut tangent);
    let far = state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));
    let mut out = vec![0.0; s.nv];
    for Pair { at, offset, .. } in &tangent.pairs {
        let [row, col] = at.map(|i| s.cols[i]);
        let block = tangent.K[*offset..][..row.size * col.size].chunks_exact(col.size);
        for (out, k) in out[row.start..].iter_mut().zip(block) {
            *out += ROUNDING * far * k.iter().map(|k| k.abs()).sum::<f64>();
        }
    }
    out
}

/// How many velocities of a body move its position.
pub(super) fn moves(kind: BodyKind) -> usize {
    match kind {
        BodyKind::Ground => 0,
        BodyKind::Rigid | BodyKind::RigidEuler | BodyKind::Point => 3,
        BodyKind::PlanarRigid | BodyKind::PlanarPoint => 2,
    }
}
