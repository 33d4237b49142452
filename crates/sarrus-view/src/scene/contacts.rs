//! Contacts by name; where they touch comes with the frames.

use sarrus::system::System;
use sarrus::system::contact::ContactSides;
use serde::Serialize;

/// An entry of `[contacts]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContactEntry {
    /// Its name.
    pub name: String,
    /// Holds what may touch what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<String>,
}

/// The contacts of a system, in its order.
pub(super) fn all(system: &System) -> Vec<ContactEntry> {
    let entries = system.contacts.iter().map(|entry| ContactEntry {
        name: entry.contact.name.clone(),
        between: match &entry.contact.what {
            ContactSides::Surfaces { sides, .. } => {
                let mut names = sides.each_ref().map(|side| words(system, side));
                // the force is that on the second, which is what moves
                if names[1] == "ground" {
                    names.reverse();
                }
                Some(names.join(", "))
            }
            ContactSides::Gap { .. } => None,
        },
    });
    entries.collect()
}

/// The body whose surfaces these are, or how many there are.
fn words(system: &System, side: &[u32]) -> String {
    let mut bodies: Vec<u32> = side.iter().map(|&i| system.surfaces[i as usize].body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    match bodies[..] {
        [one] => system.directory.bodies[one as usize].name.clone(),
        _ => format!("{} bodies", bodies.len()),
    }
}
