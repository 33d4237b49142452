//! Rows that only a hub makes independent.
//!
//! Hubs stay among the unknowns. Before a hub is eliminated, a row that its other bodies do not support leaves no pivot, but a coupling c to
//! the velocities of hubs:
//!
//! ```text
//! 0 μ - cᵀ x_h = r.
//! ```
//!
//! Such rows wait. A hub has few velocities, so that of many waiting rows all but a few depend on others: those whose c are
//! independent are moved behind the hub, where their pivot is cᵀ M_h⁻¹ c, and the others are left out. Which they are is
//! decided by elimination over the c, in kinematic units, with the same limit as pivots have.
//!
//! Cost: a new plan and a factorization where rows begin to wait; the elimination is linear in the number of waiting rows.

use super::plan::KktPlan;
use super::{ActiveRows, Kkt, RankDemand};
use crate::error::SolveError;
use crate::problem::Equations;
use crate::rank::kinematic_units;
use std::collections::{BTreeMap, HashMap};

/// Rows that keep this part of the square of their coupling are moved behind a hub before others, so that rows there are well
/// conditioned. Any order gives the same rank.
const CLEARLY: f64 = 0.1;

/// Waiting rows, and what was decided about them.
#[derive(Debug, Clone, Default)]
pub(super) struct Hubs {
    /// Rows that wait in the last elimination.
    waiting: Vec<Waiting>,
    /// Their couplings: index in vectors of the factors, c.
    couplings: Vec<(usize, f64)>,
    /// Rows moved behind a hub: scalar row, its node, the node of the hub.
    late: Vec<(usize, usize, usize)>,
    /// Rows that depend on others through a hub (nc), over all rows and over holonomic ones alone; empty where none do.
    spared: [Vec<bool>; 2],
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    row: usize,
    node: usize,
    /// Its couplings.
    first: usize,
    last: usize,
}

impl Hubs {
    /// Returns whether no row waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets which rows wait.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.couplings.clear();
    }

    /// Takes note of a row that waits.
    pub fn wait(&mut self, row: usize, node: usize, couplings: &[(usize, f64)]) {
        let first = self.couplings.len();
        self.couplings.extend_from_slice(couplings);
        self.waiting.push(Waiting { row, node, first, last: self.couplings.len() });
    }

    /// Returns whether `row` depends on others through a hub.
    pub fn is_spared(&self, set: usize, row: usize) -> bool {
        self.spared[set].get(row).is_some_and(|spared| *spared)
    }

    /// Returns which of the waiting rows have independent couplings; `units` are those of the velocities, by index in vectors of the factors.
    fn independent(&self, units: &HashMap<usize, f64>, limit: f64) -> Vec<bool> {
        let mut taken = vec![false; self.waiting.len()];
        let mut basis = PivotedBasis::default();
        for limit in [CLEARLY.max(limit), limit] {
            for (taken, w) in taken.iter_mut().zip(&self.waiting).filter(|(taken, _)| !**taken) {
                let scaled = |&(at, c): &(usize, f64)| (at, c * units.get(&at).copied().unwrap_or(1.0));
                *taken = basis.add(self.couplings[w.first..w.last].iter().map(scaled), limit);
            }
        }
        taken
    }
}

/// Independent vectors, each with an entry that those after it do not have.
#[derive(Default)]
struct PivotedBasis {
    vectors: Vec<BTreeMap<usize, f64>>,
    pivots: Vec<usize>,
    /// Vector of each pivot.
    of: HashMap<usize, usize>,
}

impl PivotedBasis {
    /// Adds a vector unless the others leave of its square no more than the part `limit`. Returns whether it was added.
    fn add(&mut self, vector: impl Iterator<Item = (usize, f64)>, limit: f64) -> bool {
        let mut rest: BTreeMap<usize, f64> = vector.filter(|(_, c)| *c != 0.0).collect();
        let size = |v: &BTreeMap<usize, f64>| v.values().map(|c| c * c).sum::<f64>();
        let whole = size(&rest);
        // a vector has entries at the pivots of later ones only, so that each is met once
        let mut next = 0;
        while let Some(k) = rest.keys().filter_map(|at| self.of.get(at).copied()).filter(|k| *k >= next).min()
        {
            let (of, pivot) = (&self.vectors[k], self.pivots[k]);
            let factor = rest.get(&pivot).copied().unwrap_or(0.0) / of[&pivot];
            of.iter().for_each(|(at, c)| *rest.entry(*at).or_insert(0.0) -= factor * c);
            rest.remove(&pivot);
            next = k + 1;
        }
        if !(size(&rest) > limit * whole) {
            return false;
        }
        let largest = rest.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let Some((&pivot, _)) = largest else { return false };
        self.of.insert(pivot, self.vectors.len());
        self.pivots.push(pivot);
        self.vectors.push(rest);
        true
    }
}

impl Kkt {
    /// Returns which of the decisions about hubs holds for the rows that take part.
    pub(super) fn hub_set(&self) -> usize {
        usize::from(self.rows == ActiveRows::Holonomic && !self.is_holonomic)
    }

    /// Moves the rows that wait behind their hubs, or leaves them out where others determine them. Returns whether the
    /// factorization has to be made again.
    pub(super) fn factor_waiting(&mut self, eq: &Equations) -> Result<bool, SolveError> {
        if self.hubs.is_empty() {
            return Ok(false);
        }
        let (set, chosen) = (self.hub_set(), self.has_choice() && self.rank != RankDemand::Full);
        let taken = if chosen {
            // all that are not left out by choice are needed
            vec![true; self.hubs.waiting.len()]
        } else {
            self.hubs.independent(&self.hub_units(eq), self.dependent)
        };
        for (w, taken) in self.hubs.waiting.iter().zip(taken) {
            if taken {
                let last = self.hubs.couplings[w.first..w.last].iter().filter(|(_, c)| *c != 0.0);
                let last = last.map(|(at, _)| *at).max().unwrap_or(0);
                let hub = self.plan.hubs.iter().enumerate().filter(|(_, hub)| hub.at <= last);
                let Some((hub, _)) = hub.max_by_key(|(_, hub)| hub.at) else { continue };
                self.hubs.late.push((w.row, w.node, self.plan.rows.len() + hub));
            } else if self.rank == RankDemand::Full {
                return Err(SolveError::RankDeficient { row: w.row, pivot: 0.0, scale: self.scale[w.row] });
            } else {
                self.hubs.spared[set].resize(self.nc, false);
                self.hubs.spared[set][w.row] = true;
            }
        }
        if chosen {
            let out = &self.choice.out;
            self.hubs.late.retain(|(row, ..)| !out[*row]);
        }
        self.plan_again()?;
        Ok(true)
    }

    /// Kinematic units of the velocities of hubs, by index in vectors of the factors.
    fn hub_units(&self, eq: &Equations) -> HashMap<usize, f64> {
        let units = kinematic_units(&self.structure, &eq.J);
        let of_hub = self.plan.hubs.iter().flat_map(|hub| {
            let body = &self.bodies[hub.col];
            (0..body.size).map(|i| (hub.at + i, units[body.start + i]))
        });
        of_hub.collect()
    }

    /// Forgets the choice of rows that are left out, and what was decided about hubs.
    pub(super) fn forget_choice(&mut self) -> Result<(), SolveError> {
        self.choice.forget();
        self.hubs.spared = Default::default();
        if self.hubs.late.is_empty() {
            return Ok(());
        }
        self.hubs.late.clear();
        self.plan_again()
    }

    fn plan_again(&mut self) -> Result<(), SolveError> {
        let late: Vec<(usize, usize)> = self.hubs.late.iter().map(|&(_, node, hub)| (node, hub)).collect();
        (self.plan, self.ldl) = KktPlan::new(&self.structure, self.hub_degree, &late)?;
        self.soft = None;
        self.held = None;
        self.floor.fill(0.0);
        self.weigh_hubs();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_vectors_are_independent_as_the_rank() {
        let mut basis = PivotedBasis::default();
        let vectors = [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0], [1.0, 3.0, 1.001]];
        let mut add = |limit: f64| {
            let added = vectors.map(|v| basis.add(v.into_iter().enumerate(), limit));
            added.into_iter().filter(|added| *added).count()
        };
        assert_eq!(add(0.1), 2);
        assert_eq!(add(1e-10), 1);
        assert_eq!(add(1e-10), 0);
    }
}
