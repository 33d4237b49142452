//! Describes which pairs of surfaces and bodies a contact watches.

use super::surface::{bounds, slots};
use super::{Contact, ContactSides, SurfaceEntry};
use crate::system::System;
use sarrus_math::Pose;

/// Describes how far ahead candidates are sought, as a part of the mean size of the surfaces: more means more pairs that do not touch, less
/// that they are found anew more often.
const AHEAD: f64 = 0.15;

/// Points up to which each has states of its own.
pub(crate) const MOST_STATES: usize = 512;

/// Two surfaces that an entry watches: the entry's number, and theirs.
pub type CandidatePair = [u32; 3];

/// The states that points of an entry need: the pairs of its surfaces with the first of each, counted from `first`, and how many.
pub(crate) fn states(
    surfaces: &[SurfaceEntry],
    contact: &Contact,
    first: usize,
) -> (Vec<([u32; 2], usize)>, usize) {
    let ContactSides::Surfaces { sides, apart } = &contact.what else { return (Vec::new(), 0) };
    let mut pairs_found = Vec::new();
    // one more than may be, so that too many are seen to be
    pairs(surfaces, 0, sides, apart, MOST_STATES + 1, &mut pairs_found);
    let (mut all, mut count) = (Vec::new(), 0);
    for [_, a, b] in pairs_found {
        all.push(([a, b], first + count));
        count += 3 * slots(&surfaces[a as usize].surface, &surfaces[b as usize].surface) as usize;
    }
    (all, count)
}

impl ContactSides {
    /// Returns how many pairs of surfaces there may be.
    pub(super) fn count(&self) -> usize {
        match self {
            ContactSides::Surfaces { sides, .. } => sides[0].len().saturating_mul(sides[1].len()),
            ContactSides::Gap { .. } => 0,
        }
    }
}

/// On which sides of an entry each surface is.
pub(super) fn flags(system: &System, what: &ContactSides) -> Vec<u8> {
    let ContactSides::Surfaces { sides, .. } = what else { return Vec::new() };
    let mut flags = vec![0; system.surfaces.len()];
    for (side, bit) in sides.iter().zip([1, 2]) {
        side.iter().for_each(|&i| flags[i as usize] |= bit);
    }
    flags
}

/// Identifies which pairs of surfaces entries watch.
#[derive(Clone, Debug)]
pub(crate) struct WatchedPairs {
    /// By entry and surface: 1 where it is on the first side, 2 on the second, 3 on both.
    pub sides: Vec<Vec<u8>>,
}

impl WatchedPairs {
    /// Of the entries of `system`.
    pub fn new(system: &System) -> WatchedPairs {
        WatchedPairs {
            sides: system.contacts.iter().map(|entry| flags(system, &entry.contact.what)).collect(),
        }
    }

    /// Returns whether an entry watches surfaces i and j.
    pub fn has(&self, system: &System, entry: usize, i: usize, j: usize) -> bool {
        let side = |i: usize| self.sides[entry].get(i).copied().unwrap_or(0);
        let (a, b) = (side(i), side(j));
        if !((a & 1 != 0 && b & 2 != 0) || (a & 2 != 0 && b & 1 != 0)) {
            return false;
        }
        let ContactSides::Surfaces { apart, .. } = &system.contacts[entry].contact.what else { return false };
        let [a, b] = [i, j].map(|i| system.surfaces[i].body);
        apart.binary_search(&[a.min(b), a.max(b)]).is_err()
    }

    /// Returns whether any entry does.
    pub fn any(&self, system: &System, i: usize, j: usize) -> bool {
        (0..self.sides.len()).any(|entry| self.has(system, entry, i, j))
    }
}

/// Returns how far ahead candidates are sought: a part of the mean size of the surfaces \[m\].
pub(super) fn margin(system: &System) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for own in system.surfaces.iter() {
        let body = &system.directory.bodies[own.body as usize];
        let bounds = bounds(&own.surface, &Pose::from_quat(body.start.0, body.start.1));
        let size = (0..3).map(|i| bounds.high[i] - bounds.low[i]).fold(0.0, f64::max);
        if size.is_finite() {
            (sum, count) = (sum + size, count + 1.0);
        }
    }
    if sum > 0.0 { AHEAD * sum / count } else { 1.0 }
}

/// The pairs of an entry, at least `most` of them where there are more.
pub(crate) fn pairs(
    surfaces: &[SurfaceEntry],
    number: u32,
    sides: &[Vec<u32>; 2],
    apart: &[[u32; 2]],
    most: usize,
    candidates: &mut Vec<CandidatePair>,
) {
    let first = candidates.len();
    'all: for &a in &sides[0] {
        for &b in &sides[1] {
            // each may be there twice
            if candidates.len() - first > 2 * most {
                break 'all;
            }
            let [body_a, body_b] = [a, b].map(|i| surfaces[i as usize].body);
            if body_a == body_b || apart.binary_search(&[body_a.min(body_b), body_a.max(body_b)]).is_ok() {
                continue;
            }
            // two of one list once
            candidates.push([number, a.min(b), a.max(b)]);
        }
    }
    candidates[first..].sort_unstable();
    candidates.dedup();
}

/// Pairs of bodies of an entry that both move, unless they are more than `most`.
pub(crate) fn body_pairs(
    system: &System,
    sides: &[Vec<u32>; 2],
    apart: &[[u32; 2]],
    most: usize,
) -> Vec<[u32; 2]> {
    let bodies = moving(system, sides);
    if bodies[0].len().saturating_mul(bodies[1].len()) > most {
        return Vec::new();
    }
    let pairs = bodies[0].iter().flat_map(|&a| bodies[1].iter().map(move |&b| [a.min(b), a.max(b)]));
    pairs.filter(|pair| pair[0] != pair[1] && apart.binary_search(pair).is_err()).collect()
}

/// The bodies of either side that move.
pub(crate) fn moving(system: &System, sides: &[Vec<u32>; 2]) -> [Vec<u32>; 2] {
    sides.each_ref().map(|side| {
        let bodies = side.iter().map(|&i| system.surfaces[i as usize].body);
        let mut bodies: Vec<u32> = bodies.filter(|id| *id != 0).collect();
        bodies.dedup();
        bodies
    })
}
