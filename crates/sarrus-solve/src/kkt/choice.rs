//! Choice of the rows that are left out, where rows depend on each other.
//!
//! Elimination in a fixed order leaves out the last row of each dependence. At positions where that row has little part in
//! it, the rows that are kept nearly depend on each other, and magnify rounding and violations. So the choice is improved by exchanges
//! \[Gu1996\]. With K the rows that are kept, D those left out, and rows scaled to unit length in the metric of M⁻¹,
//!
//! ```text
//! J_D = Cᵀ J_K,   C = S_K⁻¹ S_KD,
//! ```
//!
//! and the exchange of k in K with j in D multiplies det S_K by C_kj². Rows are exchanged while a |C_kj| is above [`GROWTH`]: then
//! C is bounded, and J_K is as well conditioned as J, up to a factor that C bounds.
//!
//! A vector w = N g in the null space of Jᵀ, N = [-C; I], with random g of unit variance shows the state of the choice. The squares of its entries in K
//! are on average those of the rows of C, and name rows to exchange; S w over D is the Schur complement times g, and shows rows of D that
//! have become independent.
//!
//! Cost: two solutions where the choice stays, at states on the constraints; a factorization and a few solutions for each exchange, which
//! all components of a model make at once.

use super::{ActiveRows, Kkt, RankDemand};
use crate::error::SolveError;
use crate::problem::Equations;
use crate::singularity::Subsystem;

/// Coefficient of a dependence above which two rows are exchanged: the usual value of \[Gu1996\]. Each exchange multiplies the
/// determinant by at least its square, so that their number is bounded.
const GROWTH: f64 = 2.0;
/// Off the constraints the choice is checked where the smallest pivot has fallen to this fraction: the square of 1/[`GROWTH`]².
const FALLEN: f64 = 1.0 / (GROWTH * GROWTH * GROWTH * GROWTH);
/// Random vectors that show a new choice; one that was good is shown by one, another at each look. That all of them miss a row of C of size c has a
/// probability of (2/c)³ at most.
const PROBES: u32 = 3;

/// The rows that are left out by choice.
#[derive(Debug, Clone, Default)]
pub(super) struct RowChoice {
    /// Marks whether each row is (nc); empty where elimination chooses.
    pub out: Vec<bool>,
    /// The smallest pivot when the choice was last checked.
    pivot: f64,
    /// The largest entry of w that no exchange has reduced.
    judged: f64,
    /// Estimates of |C_k|² of each kept row k (nc).
    weight: Vec<f64>,
    /// Random vectors so far.
    probes: u64,
    /// Component of each row (nc), found the first time.
    component: Vec<usize>,
    /// The worst kept row of each component, and its weight.
    worst: Vec<(usize, f64)>,
    /// Its partner among the rows left out, and the coefficient.
    partner: Vec<(usize, f64)>,
}

impl RowChoice {
    /// Leaves the choice to elimination.
    pub fn forget(&mut self) {
        self.out.clear();
        (self.pivot, self.judged) = (0.0, 0.0);
    }

    fn find_components(&mut self, s: &crate::problem::Structure) {
        if self.component.len() == s.nc {
            return;
        }
        let parts = Subsystem::all(s);
        self.component = vec![parts.len(); s.nc];
        for (i, part) in parts.iter().enumerate() {
            part.rows.iter().for_each(|&row| self.component[row] = i);
        }
        self.weight = vec![0.0; s.nc];
        self.worst = vec![(0, 0.0); parts.len() + 1];
        self.partner = vec![(0, 0.0); parts.len() + 1];
    }
}

impl Kkt {
    /// Returns whether the rows left out are those of the choice: rows at velocity level may support others that have a position level.
    pub(super) fn has_choice(&self) -> bool {
        !self.choice.out.is_empty() && (self.rows == ActiveRows::All || self.is_holonomic)
    }

    /// Improves the choice of the rows that the last factorization left out, at the J of `eq`, where that is due. Allocates the first time.
    pub(super) fn choose(&mut self, eq: &Equations) -> Result<(), SolveError> {
        if self.dropped.is_empty() || self.rank == RankDemand::Full || self.rows != ActiveRows::All {
            return Ok(());
        }
        let resolves_rank = self.rank == RankDemand::ResolveRank;
        let chosen = self.choice.out.iter().filter(|out| **out).count();
        if resolves_rank && chosen > 0 && self.dropped.len() != chosen {
            // rows of the choice that are dependent now, or a loss of rank: elimination shows which
            self.forget_choice()?;
            self.refactor(eq)?;
        }
        if !resolves_rank && self.smallest_pivot() >= FALLEN * self.choice.pivot && self.choice.pivot > 0.0 {
            return Ok(());
        }
        self.choice.find_components(&self.structure);
        // rows that hubs make dependent are left out by choice from here on: pivots do not report whether they still are
        if self.choice.out.is_empty() && !self.plan.hubs.is_empty() {
            self.choice.out.clone_from(&self.is_dropped);
        }
        // each exchange makes the determinant grow; more than this many are rounding
        let mut probes = if self.has_choice() { 1 } else { PROBES };
        for _ in 0..=2 * self.dropped.len() {
            let dependence = self.probe(eq, probes);
            probes = PROBES;
            if self.has_choice() {
                self.largest_dropped = dependence;
                let limit = self.dependent.max(super::DEPENDENT);
                if resolves_rank && dependence > limit {
                    self.forget_choice()?;
                    self.refactor(eq)?;
                    if self.dropped.is_empty() {
                        break;
                    }
                    continue;
                }
            }
            if !self.exchange(eq) {
                break;
            }
            let count = self.dropped.len();
            self.refactor(eq)?;
            if self.dropped.len() != count {
                // kept rows that rounding makes dependent: elimination chooses as well as any
                self.forget_choice()?;
                self.refactor(eq)?;
                break;
            }
        }
        self.choice.pivot = self.smallest_pivot();
        Ok(())
    }

    /// Estimates |C_k| of the kept rows k from so many w = N g. Returns the largest entry of S w over the rows left out, all for rows of unit length: how
    /// far they are from dependent, as pivots measure it.
    fn probe(&mut self, eq: &Equations, probes: u32) -> f64 {
        let mut least = self.null_vectors();
        self.choice.weight.fill(0.0);
        let mut dependence = 0.0_f64;
        for _ in 0..probes {
            self.choice.probes += 1;
            least.w.fill(0.0);
            for &i in self.dropped.iter().filter(|i| self.scale[**i] > 0.0) {
                least.w[i] = random(self.choice.probes, i) / self.scale[i].sqrt();
            }
            self.make_null(&mut least, eq);
            self.compliance(&mut least, eq);
            for ((i, w), scale) in least.w.iter().enumerate().zip(&self.scale) {
                if self.is_dropped[i] && *scale > 0.0 {
                    dependence = dependence.max(self.work.r[i].abs() / scale.sqrt());
                } else if !self.is_dropped[i] {
                    self.choice.weight[i] += w * w * scale / f64::from(probes);
                }
            }
        }
        self.vectors = Some(least);
        dependence
    }

    /// Exchanges in each component the kept row with the largest |C_k| for the row left out that depends on it most. Returns whether
    /// any were.
    fn exchange(&mut self, eq: &Equations) -> bool {
        let mut least = self.null_vectors();
        let mut choice = std::mem::take(&mut self.choice);
        let limit = GROWTH * choice.judged.max(1.0);
        choice.worst.fill((0, limit));
        choice.partner.fill((0, GROWTH));
        for (i, weight) in choice.weight.iter().enumerate() {
            let weight = weight.sqrt();
            let worst = &mut choice.worst[choice.component[i]];
            if weight > worst.1 {
                *worst = (i, weight);
            }
        }
        let largest = choice.worst.iter().fold(limit, |most, (_, weight)| most.max(*weight));
        let mut found = false;
        if largest > limit {
            // row k of C: S_DK S_K⁻¹ e_k
            least.w.fill(0.0);
            choice.worst.iter().filter(|(_, weight)| *weight > limit).for_each(|(k, _)| least.w[*k] = 1.0);
            self.solve_with_retained(&mut least, eq);
            for &j in self.dropped.iter().filter(|j| self.scale[**j] > 0.0) {
                let component = choice.component[j];
                let (k, weight) = choice.worst[component];
                let coefficient = self.work.r[j].abs() * (self.scale[k] / self.scale[j]).sqrt();
                if weight > limit && coefficient > choice.partner[component].1 {
                    choice.partner[component] = (j, coefficient);
                    found = true;
                }
            }
            choice.judged = if found { 0.0 } else { largest };
        }
        if found {
            if choice.out.is_empty() {
                choice.out.clone_from(&self.is_dropped);
            }
            let exchanged = choice.partner.iter().zip(&choice.worst).filter(|((_, c), _)| *c > GROWTH);
            for (&(j, _), &(k, _)) in exchanged {
                (choice.out[j], choice.out[k]) = (false, true);
                (self.share[j], self.share[k]) = (1.0, 1.0);
            }
        }
        self.choice = choice;
        self.vectors = Some(least);
        found
    }
}

/// A number of zero mean and unit variance, the same for the same arguments: SplitMix64 \[Steele2014\].
fn random(round: u64, i: usize) -> f64 {
    let mut z =
        round.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(i as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
    12.0_f64.sqrt() * (unit - 0.5)
}
