//! Describes where contacts touch, and what each point bears: what is drawn and written of them.
//!
//! A point of a contact that yields has the force of its law and its friction, F = N n + F_t on the first body. One of a rigid contact
//! that stays closed has multipliers in place of laws: N = -λ of the row that holds it, and across it either those of the rows that keep it
//! from slipping, F_t = -Σ λ_k t_k, or μN against the slip. Impacts, which are over in an instant, have no force. A gap
//! given by an expression has no point.
//!
//! Cost: that of finding the points, once more. Does not allocate once `out` is large enough.

use super::ContactSides;
use super::pair::BodyKinematics;
use super::rigid::RigidContactPoint;
use crate::mechanism::Mechanism;
use crate::system::{ConstraintElement, Family, System};
use sarrus_math::Vec3;
use sarrus_solve::State;

/// A point where two surfaces touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TouchingPoint {
    /// Number of its contact, in the order of `[contacts]`.
    pub contact: u32,
    /// First and second body, as `between` has them, but the ground is the first; of bodies that are on both of its sides the second is the later
    /// one.
    pub bodies: [u32; 2],
    /// Where it is, world axes \[m\].
    pub point: [f64; 3],
    /// Force on the second body, friction included, world axes \[N\].
    pub force: [f64; 3],
    /// The part of it along the normal: these add up to the contact's column `force` \[N\].
    pub normal: f64,
}

impl Mechanism {
    /// The points where contacts touch at `s`, those of rigid ones last; `lambda` are the multipliers there, without which nothing is known
    /// of rigid ones.
    pub fn contact_points(&mut self, s: &State, lambda: Option<&[f64]>, out: &mut Vec<TouchingPoint>) {
        out.clear();
        if self.system().contacts.is_empty() {
            return;
        }
        // poses, and the outputs that laws may read
        self.observe(s, |_| ());
        self.with_contacts(s, |contacts, bodies, _| {
            contacts.for_each_point(bodies, |pair, act, is_rotated| {
                let own = SurfacePoint { contact: pair.number, bodies: pair.ids(), flipped: is_rotated };
                out.push(own.with(act.point, act.force, act.normal.force));
            });
            if let Some(lambda) = lambda {
                add_rigid(bodies, lambda, out);
            }
        });
    }
}

/// A point of surfaces that need not be in the order of their contact.
struct SurfacePoint {
    contact: u32,
    bodies: [u32; 2],
    flipped: bool,
}

impl SurfacePoint {
    /// With a force on the first of its bodies.
    fn with(self, point: Vec3<f64>, force: Vec3<f64>, normal: f64) -> TouchingPoint {
        let SurfacePoint { contact, bodies: [a, b], flipped: is_rotated } = self;
        // on what moves
        let is_rotated = b == 0 || a != 0 && is_rotated;
        TouchingPoint {
            contact,
            bodies: if is_rotated { [b, a] } else { [a, b] },
            point: point.0,
            force: if is_rotated { force.0 } else { force.0.map(|f| -f) },
            normal,
        }
    }
}

/// Decides whether the first of two bodies is on the second side of a contact.
fn is_flipped(system: &System, contact: usize, [a, b]: [u32; 2]) -> bool {
    let ContactSides::Surfaces { sides, .. } = &system.contacts[contact].contact.what else { return false };
    let has = |side: usize, body: u32| sides[side].iter().any(|&i| system.surfaces[i as usize].body == body);
    !(has(0, a) && has(1, b))
}

/// Adds the points of rigid contacts that stay closed under the multipliers `lambda`.
fn add_rigid(bodies: &BodyKinematics, lambda: &[f64], out: &mut Vec<TouchingPoint>) {
    let system = bodies.system;
    let of_point = |e: &&ConstraintElement| e.family == Family::Contact && e.point.is_some();
    for element in system.elements.iter().filter(of_point).filter(|e| e.rows.holonomic() == 1) {
        let Some(contact_point) = &element.point else { continue };
        let Some(contact) = system.contacts.iter().position(|c| c.contact.name == element.name) else {
            continue;
        };
        let at = bodies.at(&element.ids);
        let Some(touch) = contact_point.find(&at) else { continue };
        let N = -lambda[element.start];
        // on the first body
        let mut force = touch.normal * N;
        if let Some(sliding) = &element.sliding
            && let Some((d, ..)) = sliding.find(&at)
        {
            force -= d * (sliding.mu * N);
        }
        let sticks = |e: &&ConstraintElement| e.rows.holonomic() == 0 && is_of(e, contact_point);
        for own in system.elements.iter().filter(of_point).filter(sticks) {
            let t = contact_point.across(touch.normal);
            for (k, t) in t.iter().take(own.rows.rows()).enumerate() {
                force -= *t * lambda[own.start + k];
            }
        }
        let bodies = [element.ids[0], element.ids[1]];
        let is_rotated = is_flipped(system, contact, bodies);
        let point = (touch.points[0] + touch.points[1]) * 0.5;
        out.push(SurfacePoint { contact: contact as u32, bodies, flipped: is_rotated }.with(point, force, N));
    }
}

fn is_of(element: &ConstraintElement, point: &RigidContactPoint) -> bool {
    element.point.as_ref().is_some_and(|own| own.is(point))
}
