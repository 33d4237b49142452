//! What rows that begin to act do at once: positions are brought onto them, velocities jump.
//!
//! M (v⁺ - v⁻) + Jᵀμ = 0, J v⁺ + Φ_t = 0: the impulse -Jᵀμ is the smallest that will do, and no energy is lost but what it
//! takes away, a perfectly plastic impact. With rows that follow one after the other at the same instant the result is
//! the same as with all of them at once. Rows of any rank.

use sarrus_solve::{Equations, HUB_DEGREE, Kkt, Problem, Rank, Rows, SolveError, Stage, State, StepError};
use sarrus_system::Mechanism;

/// Positions farther from the rows than this, relative to the size of the mechanism, are no matter of rounding or of the
/// accuracy of a step.
const APART: f64 = 1e-6;
/// Nor are they where they are so many times as far as the motion had drifted off the rows that acted before, up to a
/// relative bound.
const DRIFTED: f64 = 10.0;
const FARTHEST: f64 = 1e-3;
/// Corrections of positions.
const CORRECTIONS: u32 = 5;
/// Velocities against the rows that are left, relative, where these do not contradict each other.
const LEFT: f64 = 1e-6;

/// How far `s` is off the rows of `mechanism`.
pub(crate) fn drift(mechanism: &mut Mechanism, s: &State) -> f64 {
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::POSITION, &mut eq);
    worst(mechanism, &eq.phi).1
}

/// Brings `s`, which was `drift` off the rows that acted before, onto the rows of `mechanism`; returns the impulses μ.
pub(crate) fn jump(mechanism: &mut Mechanism, s: &mut State, drift: f64) -> Result<Vec<f64>, StepError> {
    let t = s.t;
    let project = |source| StepError::Project { t, source };
    let mut eq = Equations::new(mechanism);
    let mut kkt = Kkt::new(mechanism.structure(), &eq, HUB_DEGREE).map_err(project)?;
    let (nv, nc) = (mechanism.structure().nv, mechanism.structure().nc);
    let (mut a, mut b) = (vec![0.0; nv], vec![0.0; nc]);
    let (mut delta, mut mu) = (vec![0.0; nv], vec![0.0; nc]);

    // positions
    let size = s.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
    mechanism.update(s, Stage::POSITION, &mut eq);
    let (row, apart) = worst(mechanism, &eq.phi);
    let allowed = (APART * size + DRIFTED * drift).min(FARTHEST * size);
    if !(apart <= allowed) {
        return Err(project(SolveError::Projection { row, violation: apart, iterations: 0 }));
    }
    for _ in 0..CORRECTIONS {
        if worst(mechanism, &eq.phi).1 <= 4.0 * f64::EPSILON * size {
            break;
        }
        kkt.factor(&eq, Rows::Holonomic, Rank::Any).map_err(project)?;
        b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
        kkt.solve(&eq, &a, &b, &mut delta, &mut mu).map_err(project)?;
        mechanism.retract(&mut s.q, &delta);
        mechanism.update(s, Stage::POSITION, &mut eq);
    }

    // velocities
    mechanism.update(s, Stage::VELOCITY, &mut eq);
    kkt.factor(&eq, Rows::All, Rank::Any).map_err(project)?;
    a.fill(0.0);
    b.iter_mut().zip(&eq.phidot).for_each(|(b, phidot)| *b = -phidot);
    kkt.solve(&eq, &a, &b, &mut delta, &mut mu).map_err(project)?;
    let fast = s.v.iter().chain(&b).fold(f64::MIN_POSITIVE, |a, x| a.max(x.abs()));
    s.v.iter_mut().zip(&delta).for_each(|(v, d)| *v += d);
    mechanism.update(s, Stage::VELOCITY, &mut eq);
    let left = eq.phidot.iter().enumerate().map(|(i, x)| (i, x.abs())).fold((0, 0.0), larger);
    if !(left.1 <= (LEFT + DRIFTED * drift / size) * fast) {
        return Err(project(SolveError::Inconsistent { row: left.0, residual: left.1 / fast }));
    }
    Ok(mu)
}

/// The largest |Φ| among the rows that have one, and where it is.
fn worst(mechanism: &Mechanism, phi: &[f64]) -> (usize, f64) {
    let rows = mechanism.structure().holonomic_rows().flatten();
    rows.map(|i| (i, phi[i].abs())).fold((0, 0.0), larger)
}

/// The larger, where one that is not a number is the largest.
fn larger(a: (usize, f64), b: (usize, f64)) -> (usize, f64) {
    if b.1 <= a.1 || a.1.is_nan() { a } else { b }
}
