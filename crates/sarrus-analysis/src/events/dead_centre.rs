//! Rows that begin to act at a dead centre.
//!
//! A distance across a hinge that is straight says nothing about velocities: J of it depends on the hinge's own rows. But
//! it does about the motion: with c > 0, Φ̈ = -c rate² for whatever accelerations, so that Φ = 0 asks for rate = 0, and the
//! hinge is locked as surely as by a row of its own, which is what it then gets. Without one nothing would hold it: the
//! distance is of second order in the angle.
//!
//! It is recognised by a contradiction: no accelerations satisfy J v̇ = γ in a new row that depends on others. Done for a
//! row between two bodies that a joint with one coordinate connects, where the rate of that is the only one that Φ̈ can
//! be made of. Elsewhere the contradiction remains, and the run ends with it.

use super::jump::APART;
use sarrus_solve::{ActiveRows, Equations, HUB_DEGREE, Kkt, Problem, RankDemand, SolveError, Stage, State};
use sarrus_system::Mechanism;
use sarrus_system::events::Lock;
use std::ops::Range;

/// Defines what is left of an equation, relative to its terms, where it cannot be satisfied.
const LEFT: f64 = 1e-7;
/// Accuracy of accelerations, relative to the largest: a contradiction smaller than that is rounding, as at rest.
const ROUNDING: f64 = 1e-12;
/// The same as a part of γ in the row itself: rows that begin to act may miss each other by [`APART`], and their γ with them.
const MISFIT: f64 = 10.0 * APART;

/// The lock that the rows `enabled`, by their numbers, amount to at `s`, if they are at a dead centre.
pub(super) fn find(
    mechanism: &mut Mechanism,
    s: &State,
    enabled: &[Range<usize>],
) -> Result<Option<Lock>, SolveError> {
    let Some(bodies) = contradicted(mechanism, s, enabled)? else { return Ok(None) };
    let directory = mechanism.system().directory.clone();
    let between = |pair: &[u32; 2]| bodies.len() == 2 && bodies.iter().all(|body| pair.contains(body));
    for (joint, _) in directory.joints.iter().enumerate().filter(|(_, joint)| between(&joint.bodies)) {
        if let [lock @ Lock { coordinate: Some(_), .. }] = Lock::all(&directory, joint)[..] {
            return Ok(Some(lock));
        }
    }
    Ok(None)
}

/// The bodies of the first of the rows that depends on others and contradicts them.
fn contradicted(
    mechanism: &mut Mechanism,
    s: &State,
    enabled: &[Range<usize>],
) -> Result<Option<Vec<u32>>, SolveError> {
    let system = mechanism.system().clone();
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::FORCE, &mut eq);
    let structure = mechanism.structure();
    let mut kkt = Kkt::new(structure, &eq, HUB_DEGREE)?;
    kkt.factor(&eq, ActiveRows::All, RankDemand::Any)?;
    let new = system.elements.iter().filter(|e| enabled.iter().any(|ids| ids.contains(&e.id)));
    let dependent: Vec<_> = new
        .flat_map(|e| (e.start..e.start + e.rows.rows()).map(move |row| (row, e)))
        .filter(|(row, _)| kkt.is_dependent(*row))
        .collect();
    if dependent.is_empty() {
        return Ok(None);
    }
    // what contradicts does so whatever forces act: without them no acceleration covers a small γ with rounding
    let (mut vdot, mut lambda) = (vec![0.0; structure.nv], vec![0.0; structure.nc]);
    kkt.solve(&eq, &vec![0.0; structure.nv], &eq.gamma, &mut vdot, &mut lambda)?;
    let mut left: Vec<f64> = eq.gamma.iter().map(|gamma| -gamma).collect();
    eq.add_J_mul(structure, &vdot, &mut left);
    kkt.solve(&eq, &eq.f, &eq.gamma, &mut vdot, &mut lambda)?;
    let largest = |list: &[f64]| list.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let least = (LEFT * largest(&eq.gamma)).max(ROUNDING * largest(&vdot));
    let contradicts = |row: usize| left[row].abs() > least.max(MISFIT * eq.gamma[row].abs());
    let found = dependent.into_iter().find(|(row, _)| contradicts(*row));
    Ok(found.map(|(_, element)| element.ids.clone()))
}
