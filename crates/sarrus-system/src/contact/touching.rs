//! Where contacts touch, and what each place bears: what is drawn and written of them.
//!
//! A place of a contact that yields has the force of its law and its friction, F = N n + F_t on the first body. One of a rigid contact
//! that stays closed has multipliers in place of laws: N = -λ of the row that holds it, and across it either those of the rows that keep it
//! from slipping, F_t = -Σ λ_k t_k, or μN against the slip. Impacts, which are over in an instant, have no force. A gap
//! given by an expression has no place.
//!
//! Cost: that of finding the places, once more. Does not allocate once `out` is large enough.

use super::rigid::RigidPlace;
use super::wire::Bodies;
use crate::mechanism::Mechanism;
use crate::system::{ConstraintElement, Family};
use sarrus_solve::State;

/// A place where two surfaces touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TouchingPlace {
    /// Number of its contact, in the order of `[contacts]`.
    pub contact: u32,
    /// First and second body.
    pub bodies: [u32; 2],
    /// Where it is, world axes \[m\].
    pub point: [f64; 3],
    /// Force on the second body, friction included, world axes \[N\].
    pub force: [f64; 3],
    /// The part of it along the normal: these add up to the contact's column `force` \[N\].
    pub normal: f64,
}

impl Mechanism {
    /// The places where contacts touch at `s`, those of rigid ones last; `lambda` are the multipliers there, without which nothing is known
    /// of rigid ones.
    pub fn contact_places(&mut self, s: &State, lambda: Option<&[f64]>, out: &mut Vec<TouchingPlace>) {
        out.clear();
        if self.system().contacts.is_empty() {
            return;
        }
        // poses, and the outputs that laws may read
        self.observe(s, |_| ());
        self.with_contacts(s, |contacts, bodies, _| {
            contacts.for_each_place(bodies, |pair, act| {
                out.push(TouchingPlace {
                    contact: pair.number,
                    bodies: pair.ids(),
                    point: act.point.0,
                    force: (act.force * -1.0).0,
                    normal: act.normal.force,
                });
            });
            if let Some(lambda) = lambda {
                add_rigid(bodies, lambda, out);
            }
        });
    }
}

/// Adds the places of rigid contacts that stay closed under the multipliers `lambda`.
fn add_rigid(bodies: &Bodies, lambda: &[f64], out: &mut Vec<TouchingPlace>) {
    let system = bodies.system;
    let of_place = |e: &&ConstraintElement| e.family == Family::Contact && e.place.is_some();
    for element in system.elements.iter().filter(of_place).filter(|e| e.rows.holonomic() == 1) {
        let Some(place) = &element.place else { continue };
        let Some(contact) = system.contacts.iter().position(|c| c.contact.name == element.name) else {
            continue;
        };
        let at = bodies.at(&element.ids);
        let Some(touch) = place.find(&at) else { continue };
        let N = -lambda[element.start];
        // on the first body
        let mut force = touch.normal * N;
        if let Some(sliding) = &element.sliding
            && let Some((d, ..)) = sliding.find(&at)
        {
            force = force - d * (sliding.mu * N);
        }
        let sticks = |e: &&ConstraintElement| e.rows.holonomic() == 0 && is_of(e, place);
        for own in system.elements.iter().filter(of_place).filter(sticks) {
            let t = place.across(touch.normal);
            for (k, t) in t.iter().take(own.rows.rows()).enumerate() {
                force = force - *t * lambda[own.start + k];
            }
        }
        out.push(TouchingPlace {
            contact: contact as u32,
            bodies: [element.ids[0], element.ids[1]],
            point: ((touch.points[0] + touch.points[1]) * 0.5).0,
            force: (force * -1.0).0,
            normal: N,
        });
    }
}

fn is_of(element: &ConstraintElement, place: &RigidPlace) -> bool {
    element.place.as_ref().is_some_and(|own| own.is(place))
}
