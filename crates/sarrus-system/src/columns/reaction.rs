//! Reactions of joints, from multipliers.

use super::{ColumnSource, Snapshot};
use crate::body::BodyKind;
use crate::system::{ConstraintElement, Family, System};
use sarrus_math::Vec3;
use sarrus_model::Space;
use sarrus_solve::Equations;

/// Components of a reaction.
pub const REACTIONS: [&str; 6] = ["fx", "fy", "fz", "tx", "ty", "tz"];
const PLANAR_REACTIONS: [usize; 3] = [0, 1, 5];

/// The components of a reaction that there are.
pub fn reactions(system: &System) -> &'static [usize] {
    if system.directory.space == Space::Planar { &PLANAR_REACTIONS } else { &[0, 1, 2, 3, 4, 5] }
}

/// The component of a joint's reaction with a full name, such as `A.fx`.
pub(super) fn reaction_named(system: &System, name: &str) -> Option<ColumnSource> {
    let (joint, component) = name.rsplit_once('.')?;
    let joint = system.directory.joint(joint)?;
    let k = reactions(system).iter().find(|&&k| REACTIONS[k] == component)?;
    Some(ColumnSource::Reaction(joint, *k))
}

/// Force and torque that a joint exerts on its second body, in world axes at the joint's point.
pub fn joint_reaction(system: &System, snapshot: &Snapshot, at: &crate::At<f64>, joint: usize) -> [f64; 6] {
    let mut wrench = joint_wrench(system, snapshot.eq, |row| snapshot.accel.lambda[row], at, joint).0;
    let touch = clearance_force(system, at, joint);
    wrench.iter_mut().zip(&touch.0).for_each(|(w, f)| *w += f);
    wrench
}

/// The force at the end of a joint's play on its second body, at the joint's point.
pub(crate) fn clearance_force(system: &System, at: &crate::At<f64>, joint: usize) -> Vec3<f64> {
    let entry = &system.directory.joints[joint];
    match &entry.clearance {
        Some(clearance) if system.element_index(entry.element).is_some() => {
            clearance.reaction(&crate::At { ids: &entry.bodies, ..*at })
        }
        _ => Vec3::zero(),
    }
}

/// Holds what a unit multiplier in one row of a joint exerts on its second body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowWrench {
    /// The row of λ.
    pub row: usize,
    /// fx fy fz tx ty tz, in world axes at the joint's point.
    pub wrench: [f64; 6],
    /// Sizes of the terms that force and torque are sums of: a component far below is rounding.
    pub size: [f64; 2],
}

/// The linear map from multipliers to the reaction of a joint, row by row.
pub fn reaction_rows(system: &System, eq: &Equations, at: &crate::At<f64>, joint: usize) -> Vec<RowWrench> {
    let rows = joint_elements(system, system.directory.joints[joint].element)
        .flat_map(|e| e.start..e.start + e.rows.rows());
    rows.map(|row| {
        let unit = |i: usize| if i == row { 1.0 } else { 0.0 };
        let (wrench, size) = joint_wrench(system, eq, unit, at, joint);
        RowWrench { row, wrench, size }
    })
    .collect()
}

/// The wrench of a joint for any multipliers, and the sizes of the terms of its force and torque.
pub(crate) fn joint_wrench(
    system: &System,
    eq: &Equations,
    lambda: impl Fn(usize) -> f64,
    at: &crate::At<f64>,
    joint: usize,
) -> ([f64; 6], [f64; 2]) {
    let entry = &system.directory.joints[joint];
    // the ground has no coordinates: what acts on it is the opposite of what acts on the first body
    let (body, sign) = if entry.bodies[1] != 0 { (entry.bodies[1], 1.0) } else { (entry.bodies[0], -1.0) };
    let (force, about) = generalized_force(system, eq, lambda, at, entry.element, body);
    let (force, about) = (force * sign, about * sign);
    // from the centre of mass to the joint's point
    let point = entry.frames.M.frame_pose(&at.poses[entry.bodies[1] as usize]).p - at.poses[body as usize].p;
    let torque = about - point.cross(force);
    let wrench = [force.0[0], force.0[1], force.0[2], torque.0[0], torque.0[1], torque.0[2]];
    (wrench, [force.norm(), about.norm() + point.norm() * force.norm()])
}

/// The rows of a joint, where it acts: its own and, right after, the row that couples its coordinates and those that lock
/// it.
pub(super) fn joint_elements(system: &System, id: usize) -> impl Iterator<Item = &ConstraintElement> {
    let own = system.element_index(id).map_or(&[][..], |first| &system.elements[first..]);
    let family = |e: &ConstraintElement| matches!(e.family, Family::Joint | Family::Lock);
    own.iter().take_while(move |e| family(e) && e.name == own[0].name)
}

/// -Jᵀλ of the rows of a joint on one body: force and torque about the centre of mass, world axes.
fn generalized_force(
    system: &System,
    eq: &Equations,
    lambda: impl Fn(usize) -> f64,
    at: &crate::At<f64>,
    first: usize,
    body: u32,
) -> (Vec3<f64>, Vec3<f64>) {
    let kind = system.directory.bodies[body as usize].kind;
    let mut sum = [0.0; 6];
    for element in joint_elements(system, first) {
        let Some(index) = element.ids.iter().position(|&id| id == body) else { continue };
        let Some(block) = element.blocks[index] else { continue };
        let n = element.rows.rows();
        for row in 0..n {
            let lambda = lambda(element.start + row);
            let J = &eq.J[block.offset + row * block.stride..][..block.columns];
            for (sum, J) in sum.iter_mut().zip(J) {
                *sum -= J * lambda;
            }
        }
    }
    match kind {
        BodyKind::Rigid | BodyKind::RigidEuler => {
            let torque = at.poses[body as usize].rot * Vec3([sum[3], sum[4], sum[5]]);
            (Vec3([sum[0], sum[1], sum[2]]), torque)
        }
        BodyKind::PlanarRigid => (Vec3([sum[0], sum[1], 0.0]), Vec3([0.0, 0.0, sum[2]])),
        _ => (Vec3([sum[0], sum[1], sum[2]]), Vec3([0.0; 3])),
    }
}
