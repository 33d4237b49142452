//! Numbers of columns, by where they come from.

use super::RowSource;
use super::acceleration::Acceleration;
use super::reaction::{joint_elements, joint_reaction};
use crate::constraint::MultiplierScale;
use crate::signal::Signal;
use crate::system::{ConstraintElement, Family};

/// Marks where a column's number comes from.
#[derive(Clone)]
pub(crate) enum ColumnSource {
    Live(Box<Signal>),
    /// Joint, component 0..6 (fx fy fz tx ty tz).
    Reaction(usize, usize),
    /// From a multiplier, by element and row: the effort of a driver, the force of a constraint. Zero where it does not act.
    Multiplier(usize, usize, MultiplierScale),
    /// The derivative of a velocity.
    Acceleration(Box<Acceleration>),
    /// Marks whether a joint is locked.
    Locked(usize),
    /// Force and reading.
    Force(usize, usize),
    /// Contact and reading: gap, force, slip.
    Contact(usize, usize),
    /// Normal force of a rigid contact.
    Bears(usize),
    /// Place among the values of measures.
    Measure(usize),
    Energy(usize),
    Violation(usize),
    /// Place among [`RowSource::own`].
    Own(usize),
}

impl ColumnSource {
    /// The number.
    pub fn read(&self, row: &RowSource) -> f64 {
        match self {
            ColumnSource::Live(signal) => match **signal {
                // that of the state, whose sign does not jump
                Signal::Quaternion(body, k) => {
                    let body = &row.system.directory.bodies[row.at.ids[body] as usize];
                    body.quaternion(&row.snapshot.state.q)[k] * body.sign()
                }
                _ => signal.eval(row.at),
            },
            ColumnSource::Reaction(joint, k) => joint_reaction(row.system, row.snapshot, row.at, *joint)[*k],
            ColumnSource::Multiplier(id, k, scale) => {
                row.system.element(*id).map_or(0.0, |e| multiplier(row, e, *k, *scale))
            }
            ColumnSource::Acceleration(acceleration) => acceleration.eval(row),
            ColumnSource::Locked(joint) => {
                let mut own = joint_elements(row.system, row.system.directory.joints[*joint].element);
                if own.any(|e| e.family == Family::Lock) { 1.0 } else { 0.0 }
            }
            ColumnSource::Force(i, k) => {
                let force = &row.system.forces[*i];
                if !force.enabled && matches!(force.load.readings()[*k].0, "force" | "torque") {
                    return 0.0;
                }
                let local = crate::At { ids: &force.ids, ..*row.at };
                force.load.reading(*k, &local)
            }
            ColumnSource::Contact(i, k) => match (&row.system.contacts[*i].contact, k) {
                (contact, 2) if contact.rigid.is_some() => rigid_reading(row, &contact.name, 2),
                _ => row.contacts[*i][*k],
            },
            ColumnSource::Bears(i) => rigid_reading(row, &row.system.contacts[*i].contact.name, 1),
            ColumnSource::Energy(i) => row.energies[*i],
            ColumnSource::Violation(i) => row.violations[*i],
            ColumnSource::Measure(v) => row.measures[*v],
            ColumnSource::Own(k) => row.own[*k],
        }
    }

    /// Place among the values of measures, if it is one.
    pub(crate) fn measure(&self) -> Option<usize> {
        match self {
            ColumnSource::Measure(v) => Some(*v),
            _ => None,
        }
    }

    /// Returns whether equations and accelerations must be known to read it.
    pub fn needs_solution(&self) -> bool {
        self.needs_reactions() || matches!(self, ColumnSource::Violation(_))
    }

    /// Returns whether it is known only with accelerations and multipliers.
    pub(super) fn needs_reactions(&self) -> bool {
        matches!(
            self,
            ColumnSource::Reaction(..)
                | ColumnSource::Multiplier(..)
                | ColumnSource::Acceleration(_)
                | ColumnSource::Bears(_)
                | ColumnSource::Violation(2)
        )
    }
}

/// The number shown of the multiplier of row `k` of an element.
fn multiplier(row: &RowSource, element: &ConstraintElement, k: usize, scale: MultiplierScale) -> f64 {
    let lambda = row.snapshot.accel.lambda[element.start + k];
    match scale {
        MultiplierScale::Factor(factor) => factor * lambda,
        MultiplierScale::Gradient => {
            // of the columns of a body the first are those of its position
            let dimensions = if row.system.wide == 3 { 2 } else { 3 };
            let gradient = element.blocks.iter().flatten().next().map_or(0.0, |block| {
                let J =
                    &row.snapshot.eq.J[block.offset + k * block.stride..][..dimensions.min(block.columns)];
                J.iter().map(|x| x * x).sum::<f64>().sqrt()
            });
            -lambda * gradient
        }
    }
}

/// Normal force or slip of a rigid contact: the sum, the largest over the places that stay closed.
fn rigid_reading(row: &RowSource, name: &str, k: usize) -> f64 {
    let own = row.system.elements.iter().filter(|e| e.family == Family::Contact && e.name == name);
    let closed = own.filter(|e| e.rows.holonomic() == 1);
    if k == 1 {
        return closed.map(|e| -row.snapshot.accel.lambda[e.start]).sum();
    }
    closed
        .filter_map(|e| Some(e.sliding.as_ref()?.speed(&crate::At { ids: &e.ids, ..*row.at }).abs()))
        .fold(0.0, f64::max)
}
