//! Tangents of contacts: -∂f/∂q and -∂f/∂v of every point that overlaps, by duals, with what is remembered held.
//!
//! A point on the ground is on the diagonal. Two bodies that move need blocks off it: K and D have them for every pair of an entry up
//! to [`MOST_PAIRS`]; beyond that the tangent is that of each body against the others at rest, with which Newton's iteration converges
//! more slowly and to the same.

use super::contact_point::{BodyPair, act};
use super::gap;
use super::memory::gap_of;
use super::pair::{BodyKinematics, ContactPair, reduced_mass};
use super::surface::touches;
use super::wire::ContactWorkspace;
use super::{ContactElement, ContactSides};
use crate::constraint::Rows;
use crate::derive::columns;
use crate::load::Wrench;
use crate::system::System;
use crate::tangent::{block_index, generalized, kind_columns};
use crate::variation::Variation;
use sarrus_math::{Dual, Pose, Real, Twist};
use sarrus_model::Space;
use sarrus_solve::Tangent;

/// Pairs of bodies that have blocks of their own.
pub const MOST_PAIRS: usize = 4096;

/// Bodies that contacts connect in K and D.
pub fn connected(system: &System) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for entry in system.contacts.iter().filter(|entry| entry.contact.rigid.is_none()) {
        match &entry.contact.what {
            ContactSides::Gap { ids, .. } => all.push(ids.clone()),
            ContactSides::Surfaces { sides, apart } => {
                let mut pairs = super::candidates::body_pairs(system, sides, apart, MOST_PAIRS);
                all.extend(pairs.drain(..).map(|pair| pair.to_vec()));
            }
        }
    }
    all
}

impl ContactWorkspace {
    /// Adds to K and D.
    pub fn add_tangent(&mut self, bodies: &BodyKinematics, out: &mut Tangent) {
        if self.is_empty() {
            return;
        }
        self.refresh(bodies);
        for &candidate in &self.candidates {
            let pair = ContactPair::new(bodies.system, candidate);
            if pair.entry.yields() && !self.is_locked(self.memories.at(bodies.t), candidate) {
                self.add_pair(bodies, &pair, out);
            }
        }
        for (i, entry) in bodies.system.contacts.iter().enumerate().filter(|(_, e)| e.yields()) {
            if matches!(entry.contact.what, ContactSides::Gap { .. }) {
                self.add_gap(bodies, i as u32, entry, out);
            }
        }
    }

    fn add_pair(&self, bodies: &BodyKinematics, pair: &ContactPair, out: &mut Tangent) {
        if !pair.is_near(bodies, 0.0) {
            return;
        }
        let (system, ids) = (bodies.system, pair.ids());
        let at = ids.map(|id| (&bodies.poses[id as usize], &bodies.twists[id as usize]));
        let planar = system.directory.space == Space::Planar;
        let surfaces = pair.own.map(|own| &own.surface);
        let mut overlaps = false;
        let reach = self.reach(pair);
        touches(surfaces[0], surfaces[1], at.map(|(pose, _)| pose), reach, planar, &mut |_| overlaps = true);
        if !overlaps {
            return;
        }
        let remembered = self.memories.at(bodies.t);
        let columns = columns(system.wide);
        let mass = reduced_mass(system, ids);
        for moved in (0..2).filter(|i| ids[*i] != 0) {
            for velocities in [false, true] {
                let mut poses: [Pose<Dual<6>>; 2] = at.map(|(pose, _)| pose.lift());
                let mut twists: [Twist<Dual<6>>; 2] = at.map(|(_, twist)| twist.lift());
                let (pose, twist) = at[moved];
                if velocities {
                    twists[moved] = twist.seed(pose, 0, columns);
                } else {
                    poses[moved] = pose.seed(0, columns);
                    twists[moved] = twist.seed_with(&poses[moved], 0, &[]);
                }
                let two = BodyPair {
                    poses: [&poses[0], &poses[1]],
                    twists: [&twists[0], &twists[1]],
                    mass,
                    t: bodies.t,
                };
                let mut wrenches = [Wrench::zero(); 2];
                touches(surfaces[0], surfaces[1], two.poses, reach, planar, &mut |touch| {
                    let memory = remembered.find(pair.key(touch.slot));
                    if !self.bears(pair.contact(), touch.gap.value(), &memory) {
                        return;
                    }
                    let memory = pair.with_state(bodies, touch.slot, memory);
                    let K = pair.stiffness(touch.radius);
                    let act = act(pair.contact(), K, pair.rounding(), &touch, &two, &memory);
                    for (i, sign) in [1.0, -1.0].into_iter().enumerate() {
                        wrenches[i].add_force_at(act.force.scale_f64(sign), act.point - poses[i].p);
                    }
                });
                let wide = kind_columns(system, ids[moved]);
                for i in (0..2).filter(|i| ids[*i] != 0) {
                    let cols = [ids[i], ids[moved]].map(|id| system.column(id));
                    if !out.has(cols) {
                        continue;
                    }
                    let f = generalized(&system.directory.bodies[ids[i] as usize], &poses[i], &wrenches[i]);
                    let (index, stride) = block_index(system, out, [ids[i], ids[moved]]);
                    let part = if velocities { &mut out.D } else { &mut out.K };
                    for (r, f) in f.iter().enumerate().take(kind_columns(system, ids[i])) {
                        let row = &mut part[index + r * stride..][..wide];
                        row.iter_mut().zip(&f.d).for_each(|(x, d)| *x -= d);
                    }
                }
            }
        }
    }

    /// f = Jᵀ N(g, ġ): -∂f/∂q = -N ∂Jᵀ/∂q - Jᵀ (N_g J + N_ġ ∂ġ/∂q), -∂f/∂v = -Jᵀ N_ġ J.
    fn add_gap(&self, bodies: &BodyKinematics, number: u32, entry: &ContactElement, out: &mut Tangent) {
        let ContactSides::Gap { ids, rows } = &entry.contact.what else { return };
        let (at, wide, law) = (bodies.at(ids), bodies.system.wide, &entry.contact.law);
        let mut scratch = crate::derive::DerivativeWorkspace::default();
        let here = gap::find(&**rows, &at, &mut scratch);
        let remembered = self.memories.at(bodies.t);
        let memory = remembered.find((number, 0, 0, 0));
        if self.is_locked(remembered, gap_of(number as usize))
            || !self.bears(&entry.contact, here.gap, &memory)
        {
            return;
        }
        let onset = memory.onset;
        let K = law.stiffness.unwrap_or(0.0);
        let seeded = |x: f64, k: usize| {
            let mut dual = Dual::<6>::constant(x);
            dual.d[k] = -1.0;
            dual
        };
        // derivatives by g and by ġ
        let normal = law.force(K, seeded(-here.gap, 0), seeded(-here.rate, 1), onset).force;
        let (N, by_gap, by_rate) = (normal.v, normal.d[0], normal.d[1]);
        let mut J = Vec::new();
        gap::gradient(&**rows, &at, &mut scratch, wide, &mut J);
        let size = ids.len() * wide;
        let (mut square, mut variation) = (vec![0.0; size * size], Variation::default());
        rows.curvature(&at, wide, &[N], &mut square);
        rows.variation(&at, wide, &vec![[[0.0; 3]; 2]; ids.len()], &mut variation);
        for (a, &id_a) in ids.iter().enumerate().filter(|(_, id)| **id != 0) {
            for (b, &id_b) in ids.iter().enumerate().filter(|(_, id)| **id != 0) {
                let (index, stride) = block_index(bodies.system, out, [id_a, id_b]);
                for i in 0..kind_columns(bodies.system, id_a) {
                    for j in 0..kind_columns(bodies.system, id_b) {
                        let (row, col, to) = (a * wide + i, b * wide + j, index + i * stride + j);
                        let rate = by_gap * J[col] + by_rate * variation.phidot_q[col];
                        out.K[to] -= square[row * size + col] + J[row] * rate;
                        out.D[to] -= J[row] * by_rate * J[col];
                    }
                }
            }
        }
    }
}
