//! Rigid limits of joint coordinates: unilateral constraints g(q) ≥ 0, as gaps of rigid contacts are.
//!
//! With c the coordinate, g = c - lo at the lower limit and g = hi - c at the upper one, turns counted as the joint counts them.

use crate::constraints::coupler::Coupler;
use crate::contact::rigid::{Gap, ImpactRule, Rigid};
use crate::names::Directory;
use crate::system::System;
use std::sync::Arc;

/// A rigid limit of a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidStop {
    /// Its name: `A.limits`.
    pub name: String,
    /// Index of the joint.
    pub joint: usize,
    /// The coordinate among the joint's.
    pub coordinate: usize,
    /// Its value \[m, rad\].
    pub value: f64,
    /// 1 where it is the highest value, -1 where it is the lowest.
    pub side: f64,
    /// Speed after an impact over that before.
    pub restitution: f64,
}

impl RigidStop {
    /// Those of all joints.
    pub(super) fn all(directory: &Directory) -> Vec<RigidStop> {
        let mut list = Vec::new();
        for (joint, entry) in directory.joints.iter().enumerate() {
            for (coordinate, limits) in entry.limits.iter().enumerate() {
                let Some(limits) = limits else { continue };
                let own = match entry.limits.len() {
                    1 => String::new(),
                    _ => format!(".{}", entry.face.coordinates()[coordinate].name),
                };
                let [lo, hi] = limits.values;
                let ends = [(lo, -1.0), (hi, 1.0)].into_iter().filter(|(value, _)| value.is_finite());
                list.extend(ends.map(|(value, side)| RigidStop {
                    name: format!("{}{own}.limits", entry.name),
                    joint,
                    coordinate,
                    value,
                    side,
                    restitution: limits.restitution,
                }));
            }
        }
        list
    }
}

impl System {
    /// The gaps of all rigid limits, in the order of [`Events::limits`](super::Events::limits). They obey Newton's rule.
    pub fn stops(&self) -> Vec<Gap> {
        let limits = self.all.events.limits.iter().enumerate();
        let gap = |(k, limit): (usize, &RigidStop)| {
            let joint = &self.directory.joints[limit.joint];
            let terms = vec![(-limit.side, joint.coordinate(limit.coordinate, 0, 1))];
            let row = Coupler { terms, value: -limit.side * limit.value, unit: "", own_discrete: vec![] };
            let rigid = Rigid { restitution: limit.restitution, rule: ImpactRule::Newton, mu: 0.0 };
            Gap::of_limit(self.contacts.len() + k, k, joint.bodies.to_vec(), rigid, Arc::new(row))
        };
        limits.map(gap).collect()
    }

    /// Name of what gap number `contact` belongs to: a contact, or a rigid limit.
    pub fn gap_name(&self, contact: usize) -> &str {
        match self.contacts.get(contact) {
            Some(own) => &own.contact.name,
            None => self.all.events.limits.get(contact - self.contacts.len()).map_or("", |limit| &limit.name),
        }
    }
}
