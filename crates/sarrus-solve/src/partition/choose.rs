//! Describes which velocities are dependent, and how long.
//!
//! The choice is kept. At every further J, the columns of J_u come first, so that Q R of them solves for u, and what Q
//! leaves of J_e reports whether they still span J. The choice is made again where
//!
//! - the condition ‖J‖ ‖J_u⁺‖ is 10 times its best since the choice, or has come above 10⁶: a dead point of an
//!   independent coordinate. Where the new choice is no better by half, the mechanism itself is singular there, and the
//!   old one stays;
//! - more of a column of J_e is left than δ explains, or than rounding where rank was lost before, at a singular
//!   position: J has gained rank.
//!
//! A correction with δ_e = 0 is oblique: an error ε_e of an independent velocity stays, with -T ε_e in the others,
//! T = J_u⁺J_e, where the nearest correction would have left of ε no more than its part along the constraints.
//! [`Partition::factor_best`], for what corrects states, therefore exchanges a dependent and an independent velocity where
//! |T| between them, both over √M_ii, is above 3: the determinant of J_u grows by that factor, so that exchanges
//! end \[Gu1996\]. For a mechanism with one degree of freedom the independent velocity is then that with most of
//! the kinetic energy, within a factor 9.

use super::Partition;
use crate::problem::{Equations, Structure};
use crate::rank::{EXPLAINED, FLOOR, RankKeeper};

/// The first choice is made again at a violation below this fraction of that at which it was made,
const NEARER: f64 = 0.1;
/// unless that was one which cannot change the rank.
const ON: f64 = FLOOR / EXPLAINED;
/// Describes how much worse than at its best the condition may become. At 100 a four-bar over 3 s lost a digit against 10.
const WORSE: f64 = 10.0;
/// A condition that is bad in itself.
const BAD: f64 = 1e6;
/// A new choice has to be better than this fraction of the old one's condition.
const BETTER: f64 = 0.5;

/// An exchange is worth it above this |T|. At 2 a four-bar changed its coordinates twice as often and was no more accurate.
const STEEP: f64 = 3.0;
/// Exchanges at a time, at most.
const EXCHANGES: u32 = 20;

impl Partition {
    /// Eliminates with the choice made before, or another: where that no longer is one, and for the `best` also where an
    /// exchange is worth it. Returns whether it is another than before.
    pub(super) fn update_choice(
        &mut self,
        s: &Structure,
        eq: &Equations,
        violation: f64,
        best: bool,
    ) -> bool {
        let first = self.chosen_at.is_none_or(|at| at > ON && violation < NEARER * at);
        let mut changed = false;
        if first {
            self.choose_first(s, eq, violation);
        } else {
            changed = self.retain(s, eq, violation);
        }
        if best {
            changed |= self.exchange(s, eq);
        }
        changed && !first
    }

    /// Eliminates in the order chosen, or in another. Returns whether in another.
    fn retain(&mut self, s: &Structure, eq: &Equations, violation: f64) -> bool {
        let rank = self.rank;
        self.eliminate(s, eq, rank);
        let condition = self.condition();
        let dead = condition > WORSE * self.best || (condition > BAD && self.best <= BAD);
        let resolved = self.keeper.as_ref().map_or(0, RankKeeper::resolved_rank);
        let risen = self.keeper.as_ref().map_or(FLOOR, |keeper| keeper.risen(violation));
        let explained = if rank < resolved { FLOOR } else { risen };
        let gained = self.qr.remainder(rank, rank) > explained * self.first_pivot();
        if dead || gained {
            return self.choose_again(s, eq, violation, condition);
        }
        self.best = self.best.min(condition);
        false
    }

    fn choose_first(&mut self, s: &Structure, eq: &Equations, violation: f64) {
        if let Some(keeper) = &mut self.keeper {
            keeper.forget();
        }
        if let Some(found) = &mut self.found.partition {
            (found.choices, found.condition) = (1, 1.0);
        }
        self.chosen_at = Some(violation);
        self.choose(s, eq, violation);
        self.eliminate(s, eq, self.rank);
        self.best = self.condition();
    }

    /// Returns whether the choice is another.
    fn choose_again(&mut self, s: &Structure, eq: &Equations, violation: f64, condition: f64) -> bool {
        let (mut before, rank) = (std::mem::take(&mut self.before), self.rank);
        before.clone_from(&self.order);
        self.choose(s, eq, violation);
        // the pivots are those that will be if only the first columns are eliminated
        let fresh = if self.rank == 0 { 1.0 } else { self.first_pivot() / self.qr.pivot(self.rank - 1) };
        let same = self.rank == rank && self.order[rank..].iter().all(|e| before[rank..].contains(e));
        let better = fresh <= BETTER * condition;
        let changed = self.rank != rank || (!same && better);
        if !changed {
            self.order.clone_from(&before);
        }
        self.best = if changed { fresh } else { condition };
        self.eliminate(s, eq, self.rank);
        self.before = before;
        changed
    }

    /// Exchanges dependent and independent velocities as long as that makes J_u much larger. Returns whether it did.
    fn exchange(&mut self, s: &Structure, eq: &Equations) -> bool {
        let mut exchanged = false;
        for _ in 0..EXCHANGES {
            let (slope, u, e) = self.steepest();
            if slope.is_nan() || slope <= STEEP {
                break;
            }
            self.order.swap(u, e);
            self.eliminate(s, eq, self.rank);
            exchanged = true;
        }
        if exchanged {
            self.best = self.condition();
        }
        exchanged
    }

    /// The largest |T_ij|, and the places of u_i and e_j.
    fn steepest(&mut self) -> (f64, usize, usize) {
        let mut worst = (0.0, 0, 0);
        let T = &mut self.b[..self.rank];
        for e in self.rank..self.order.len() {
            T.copy_from_slice(&self.qr.column(e)[..self.rank]);
            self.qr.solve_r(T);
            for (u, t) in T.iter().enumerate() {
                if t.abs() > worst.0 {
                    worst = (t.abs(), u, e);
                }
            }
        }
        worst
    }

    /// Pivots over all columns and decides the rank.
    fn choose(&mut self, s: &Structure, eq: &Equations, violation: f64) {
        self.eliminate(s, eq, s.nv);
        let Partition { qr, keeper, rank, found, .. } = self;
        if let Some(keeper) = keeper {
            *rank = keeper.decide((0..qr.steps()).map(|k| qr.pivot(k)), violation);
            found.rank = keeper.found();
        }
    }

    fn first_pivot(&self) -> f64 {
        if self.qr.steps() == 0 { 0.0 } else { self.qr.pivot(0) }
    }

    /// The largest column of J over the last pivot of J_u: an estimate, from below, of ‖J‖ ‖J_u⁺‖.
    pub(super) fn condition(&self) -> f64 {
        match self.rank() {
            0 => 1.0,
            rank => self.first_pivot().max(self.qr.remainder(0, rank)) / self.qr.pivot(rank - 1),
        }
    }
}
