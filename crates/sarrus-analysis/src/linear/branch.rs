//! Branches of rests: followed along loads that grow, up to where they end or fork.
//!
//! Steps lead along the forces and near the tangent, and what was stable stays so: a step that does not is halved. Where halves do not help, the
//! branch ends, and a damped motion shows how it continues. That it ends, and does not only bend, is shown by taking the loads back from there: a rest
//! that stays away has jumped. Stops that a jump meets ([`super::stops`]) are left out of that look.

use super::equilibrium::EquilibriumSearch;
use super::linearize::momentum;
use super::newton::{IterationBounds, NewtonStop};
use super::rest::{Rest, rest};
use super::statics::{HALVINGS, LONG, SHORT, STRAYS, SavedPosition, Statics};
use super::stops::Stops;
use crate::error::SetupError;
use sarrus_solve::State;

/// Number of times that a part of the loads is halved towards the end of a branch.
const FINE: i32 = 26;
/// Ends of branches within one part of the loads, at most.
const ENDS: u32 = 20;
/// Of the way from where a branch ends, what is left of a jump when the loads are taken back: a branch that only bends goes back itself.
const JUMP: f64 = 0.25;
/// Trials along a branch, at most: then the loads act at once.
const FOLLOWED: u32 = 5000;
/// The same along one that is only checked.
const ASIDE: u32 = 2000;

/// The end of a branch of rests.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchEnd {
    /// The share of the loads up to which it was followed.
    pub load: f64,
}

/// Describes how a branch was followed.
pub(super) enum Followed {
    Came(Box<Rest>, Option<BranchEnd>),
    /// A stop was met on this way from the state at hand.
    Met(Vec<f64>, Option<BranchEnd>),
    /// No rest near where the branch ends, if that is seen.
    Lost(Option<BranchEnd>),
}

/// Holds what a damped motion from the end of a branch comes to.
enum BranchOutcome {
    /// Rest, under this share of the loads.
    Came(f64, Box<Rest>),
    /// A stop, on this way from the state at hand, and whether it would have jumped without that.
    Met(Vec<f64>, bool),
    Lost,
}

impl Statics<'_> {
    /// Along the branch of rests from one share of the loads to another. A step that loses what was stable, or that strays from the tangent, may be
    /// on another branch, and is halved; where halves do not help, the branch ends or forks, and a damped motion shows how it continues.
    pub fn follow(
        &mut self,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Followed, SetupError> {
        let (mut at, mut more) = (from, to - from);
        let least = 0.5_f64.powi(FINE) * more;
        let beyond = 0.5_f64.powi(HALVINGS) * more;
        // without loads the start may be no rest yet: the branch begins at the one that it leads to
        self.load(from)?;
        let begun = self.iterate(0.0, IterationBounds { longest: SHORT, downhill: true }, watch)?;
        let mut on_branch = begun.is_ok();
        let mut stable = match begun {
            Ok(rest) => self.is_stable(&rest),
            Err(_) => None,
        };
        let (mut end, mut ends) = (None, 0);
        let last = self.counts.trials + FOLLOWED;
        loop {
            let next = if at + more > to - 1e-3 * least { to } else { at + more };
            let before = self.save();
            self.load(next)?;
            // near rests that are stable K is positive: elsewhere steps lead to any branch
            let bounds = IterationBounds { longest: LONG, downhill: stable == Some(true) };
            let done = self.iterate(0.0, bounds, watch)?;
            let mut level = false;
            if let Ok(rest) = done {
                let strays = on_branch && self.solvers.newton.as_ref().is_some_and(|n| n.strays(STRAYS));
                let now = self.is_stable(&rest);
                let lost = stable != Some(false) && now == Some(false);
                let strays = strays || (now == Some(true) && on_branch && self.strays_back(at, next)?);
                if !strays && !lost {
                    if next == to {
                        return Ok(Followed::Came(Box::new(rest), end));
                    }
                    (at, stable, on_branch) = (next, now, true);
                    more *= 2.0;
                    continue;
                }
                self.restore(&before)?;
                // nothing stable to stay on, as where the loads alone show where to hang
                level = lost && stable.is_none();
                more = if level { 0.0 } else { more };
            } else if let Err(NewtonStop::Met(way)) = done {
                let strays = on_branch && self.solvers.newton.as_ref().is_some_and(|n| n.strays(STRAYS));
                if !strays {
                    return Ok(Followed::Met(way, end));
                }
            }
            more *= 0.5;
            if more >= least {
                continue;
            }
            ends += 1;
            if ends > ENDS || self.counts.trials > last {
                return Ok(Followed::Lost(end));
            }
            let may_end = end.is_none() && on_branch && !level;
            let (next, rest) = match self.continue_branch(
                &before,
                [at, beyond, to],
                [may_end, stable == Some(true)],
                watch,
            )? {
                BranchOutcome::Came(next, rest) => (next, rest),
                BranchOutcome::Met(way, jumped) => {
                    let here = jumped.then_some(BranchEnd { load: at });
                    return Ok(Followed::Met(way, end.or(here)));
                }
                BranchOutcome::Lost => {
                    let here = (on_branch && stable == Some(true)).then_some(BranchEnd { load: at });
                    return Ok(Followed::Lost(end.or(here)));
                }
            };
            stable = self.is_stable(&rest);
            // a damped motion leads to no rest that is not stable, but where nothing leads away from that: the branch forks
            let ends_here = may_end && stable != Some(false);
            if ends_here && self.has_jumped(&before, (at - beyond).max(0.0), watch)? {
                end = Some(BranchEnd { load: at });
            }
            self.load(next)?;
            (at, on_branch, more) = (next, true, beyond);
            if next == to {
                return Ok(Followed::Came(rest, end));
            }
        }
    }

    /// Goes where a damped motion would from the rest `before`, where a branch ends or forks, under a little more than its share `at` of the loads.
    fn continue_branch(
        &mut self,
        before: &SavedPosition,
        [at, beyond, to]: [f64; 3],
        [may_end, stable]: [bool; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<BranchOutcome, SetupError> {
        // little leads on just beyond an end: farther where that is too slow
        for share in [at + beyond, at + 32.0 * beyond, to].map(|share| share.min(to)) {
            self.load(share)?;
            match self.relax(watch)? {
                Ok(rest) => return Ok(BranchOutcome::Came(share, Box::new(rest))),
                Err(NewtonStop::Met(way)) => {
                    let back = (at - beyond).max(0.0);
                    let jumped = may_end && self.jumps_past_stops(before, [back, share], stable, watch)?;
                    return Ok(BranchOutcome::Met(way, jumped));
                }
                Err(_) => self.restore(before)?,
            }
        }
        Ok(BranchOutcome::Lost)
    }

    /// Returns whether the rest at hand under `next` is much farther from that under `at` than the tangent at hand tells, whose factors are the last.
    fn strays_back(&mut self, at: f64, next: f64) -> Result<bool, SetupError> {
        self.load(at)?;
        let back = rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state);
        self.load(next)?;
        let (Ok(back), Some(newton)) = (back, &mut self.solvers.newton) else { return Ok(false) };
        let force = momentum(&self.system.structure, &back.eq, &back.accel.vdot);
        Ok(newton.displacement(&force).is_some_and(|back| newton.strays_from(STRAYS, &back)))
    }

    /// Returns whether the rest at hand, which came of the rest `before`, stays away from there when the loads are taken back to `share`.
    fn has_jumped(
        &mut self,
        before: &SavedPosition,
        share: f64,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<bool, SetupError> {
        let apart =
            |a: &State| a.q.iter().zip(&before.state.q).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        let here = self.save();
        let way = apart(&self.state);
        self.load(share)?;
        let back = self.iterate(0.0, IterationBounds { longest: LONG, downhill: false }, watch)?;
        let left = apart(&self.state);
        self.restore(&here)?;
        Ok(back.is_ok() && left >= JUMP * way)
    }

    /// The same, of a motion from `before` under another share that meets a stop at hand: whether it would have jumped without that. From a rest that
    /// was stable, one that comes to no rest then has.
    fn jumps_past_stops(
        &mut self,
        before: &SavedPosition,
        [back, share]: [f64; 2],
        stable: bool,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<bool, SetupError> {
        let here = self.save();
        self.restore(before)?;
        self.stops.iter_mut().for_each(|stops| stops.ignored = true);
        let jumped = match self.relax(watch) {
            Ok(Ok(_)) => self.has_jumped(before, back, watch),
            other => other.map(|_| stable),
        };
        self.stops.iter_mut().for_each(|stops| stops.ignored = false);
        self.load(share)?;
        self.restore(&here)?;
        jumped
    }

    /// Where the branch of rests from `start` ends on the way to the rest at hand, or to a stop that is met at it.
    pub fn branch_end(
        &mut self,
        start: &SavedPosition,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Option<BranchEnd>, SetupError> {
        // what follows the branch has told, and behind a stop the way is on another one
        if !self.bounds.downhill || self.solvers.newton.is_none() || from == to || !self.fresh {
            return Ok(None);
        }
        let (here, counts, most) = (self.save(), self.counts, self.most);
        let watched = self.stops.as_ref().map(Stops::watched);
        self.most = most.min(counts.trials + ASIDE);
        self.restore(start)?;
        let followed = self.follow([from, to], watch);
        (self.counts, self.most) = (counts, most);
        if let (Some(stops), Some(watched)) = (&mut self.stops, watched) {
            stops.watch_as(watched);
        }
        self.load(to)?;
        self.restore(&here)?;
        // positions that are tried aside may meet events that the way does not, and take too long
        Ok(match followed {
            Ok(Followed::Came(_, end) | Followed::Lost(end) | Followed::Met(_, end)) => end,
            Err(SetupError::NotStatic { .. } | SetupError::NoEquilibrium { .. }) => None,
            Err(error) => return Err(error),
        })
    }
}
