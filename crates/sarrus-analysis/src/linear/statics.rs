//! A mechanism on its way to rest, under a part of its loads or all of them: which of the ways there is tried when.
//!
//! From one share of the loads to the next by Newton's iteration ([`super::newton`]), in halves where it is lost; then held back, as a damped
//! motion would go; then by the search ([`super::search`]). Cost: a sparse factorization a step, and a copy of the system for each share.

use super::equilibrium::{EquilibriumOptions, Search};
use super::linearize::momentum;
use super::metric::Metric;
use super::newton::{Bounds, Newton, Stop};
use super::rest::{Rest, rest};
use super::search::{Sample, is_rest, is_still, project, search};
use super::stability::rises;
use super::stops::{RUN, Stops};
use crate::error::SetupError;
use crate::events::Active;
use crate::failure;
use sarrus_solve::{Equations, HUB_DEGREE, Kkt, Problem, SolveError, State, StructureError, Tangent};
use sarrus_system::{Mechanism, System};
use std::sync::Arc;

/// Longest step of Newton's iteration where no loads are followed ...
const SHORT: f64 = 0.3;
/// ... and where they are \[rad, and relative to the size of the mechanism\].
const LONG: f64 = 1.0;
/// How often a part of the loads is halved ...
const HALVINGS: i32 = 10;
/// ... and where it is followed along a branch, towards the end of that.
const FINE: i32 = 26;
/// Ends of branches within one part of the loads, at most.
const ENDS: u32 = 20;
/// Where to begin with μ, and where it counts as nothing, relative to the largest stiffness over the metric.
const LIGHT: f64 = 1e-3;
const LEAST: f64 = 1e-12;
/// Steps that are held back, at most.
const RELAXATIONS: u32 = 300;
/// Iterations that are few.
const FEW: u32 = 6;

/// Changes of what is held on the way, at most, over the number of what may be: each may be met, released and met again.
const CHANGES: usize = 8;

/// A rest that is this much farther than its tangent at the rest before tells may be on another branch: on one that bends by a square, the one
/// is twice the other at most.
const STRAYS: f64 = 2.0;
/// Of the way from where a branch ends, what is left of a jump when the loads are taken back: a branch that only bends goes back itself.
const JUMP: f64 = 0.25;

/// The end of a branch of rests.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchEnd {
    /// The share of the loads up to which it was followed.
    pub load: f64,
}

/// A position to go back to.
pub(super) struct Kept {
    pub state: State,
    hints: Vec<f64>,
    active: Option<Active>,
}

/// What was come to.
pub(super) struct Found {
    pub rest: Rest,
    /// Whether that is rest.
    pub found: bool,
}

/// How a branch was followed.
enum Followed {
    Came(Box<Rest>, Option<BranchEnd>),
    /// A stop was met on this way from the state at hand.
    Met(Vec<f64>),
    /// No rest near where the branch ends, if that is seen.
    Lost(Option<BranchEnd>),
}

/// How an attempt ended.
enum Attempt {
    Came(Box<Found>, Option<BranchEnd>),
    /// A stop was met on this way from the state at hand.
    Met(Vec<f64>),
}

/// A mechanism on its way to rest.
pub(super) struct Statics<'a> {
    /// The model, under all loads.
    whole: &'a Arc<System>,
    /// What acts, under the share of the loads at hand.
    pub system: Arc<System>,
    share: f64,
    pub mechanism: Mechanism,
    pub state: State,
    solvers: Solvers,
    bounds: Bounds,
    pub metric: Metric,
    pub stops: Option<Stops>,
    pub counts: Search,
}

impl<'a> Statics<'a> {
    pub fn new(
        whole: &'a Arc<System>,
        state: State,
        hints: &[f64],
        stops: Option<Stops>,
        options: &EquilibriumOptions,
    ) -> Result<Statics<'a>, SetupError> {
        let mut mechanism = whole.mechanism();
        mechanism.set_hints(hints);
        let followed = options.load_steps.is_some();
        let bounds = Bounds { longest: if followed { LONG } else { SHORT }, downhill: !followed };
        let counts = Search { trials: 0, steps: 0, residual: 0.0 };
        let solvers = Solvers::new(whole, &mut mechanism, &state)?;
        let metric = Metric::new(whole, &state);
        let system = whole.clone();
        Ok(Statics { whole, system, share: 1.0, mechanism, state, solvers, bounds, metric, stops, counts })
    }

    pub fn energy(&mut self) -> f64 {
        self.mechanism.energy(&self.state).potential
    }

    pub fn rest(&mut self) -> Result<Rest, SetupError> {
        let here =
            rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state).map_err(named(&self.system))?;
        Ok(self.beside_rounding(here))
    }

    /// `here` with what rounding of positions makes of it, where something is elastic.
    fn beside_rounding(&mut self, here: Rest) -> Rest {
        let Solvers { newton: Some(newton), tangent, holding, .. } = &mut self.solvers else { return here };
        if is_still(&here) {
            return here;
        }
        let (s, still) = (&self.system.structure, vec![0.0; self.system.structure.nv]);
        // what these loads would be at a distance of the mechanism's size
        let mut loads = vec![0.0; s.nv];
        for &force in holding.iter() {
            self.mechanism.force_tangent(&self.state, force, tangent);
            let rounding = newton.rounding(s, &self.state, tangent);
            loads.iter_mut().zip(rounding).for_each(|(load, f)| *load += f / f64::EPSILON);
        }
        self.mechanism.tangent(&self.state, &still, &here.accel.lambda, tangent);
        here.beside(s, &newton.rounding(s, &self.state, tangent), &loads)
    }

    /// From here on the loads are `share` of the whole.
    pub fn load(&mut self, share: f64) -> Result<(), SetupError> {
        if share == self.share {
            return Ok(());
        }
        self.share = share;
        self.compose()
    }

    /// The mechanism of what acts, under the loads at hand; patterns stay as they are.
    fn compose(&mut self) -> Result<(), SetupError> {
        let unfit = |error: StructureError| SetupError::NotStatic { what: error.to_string(), hint: RUN };
        let loaded = match self.share {
            1.0 => self.whole.clone(),
            share => Arc::new(self.whole.with_loads(share).map_err(unfit)?),
        };
        self.system = match &mut self.stops {
            Some(stops) => stops.system(loaded)?,
            None => loaded,
        };
        let hints = self.mechanism.hints().to_vec();
        self.mechanism = self.system.mechanism();
        self.mechanism.set_hints(&hints);
        Ok(())
    }

    /// Other rows act: everything is laid out anew, and the state brought onto them.
    fn change_rows(&mut self) -> Result<(), SetupError> {
        self.compose()?;
        self.solvers = Solvers::new(&self.system, &mut self.mechanism, &self.state)?;
        self.metric = Metric::new(&self.system, &self.state);
        let here =
            rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state).map_err(named(&self.system))?;
        if !project(&mut self.mechanism, &self.metric, &here, &mut self.state) {
            let what = "no position near the way fits what is met there".into();
            return Err(SetupError::NotStatic { what, hint: RUN });
        }
        self.mechanism.accept(&self.state);
        Ok(())
    }

    /// Takes the mechanism from rest under one share of the loads to rest under another.
    pub fn bring_on(
        &mut self,
        shares: [f64; 2],
        watch: &mut dyn FnMut(&Search),
    ) -> Result<(Found, Option<BranchEnd>), SetupError> {
        let most = self.stops.as_ref().map_or(1, |stops| CHANGES * (1 + stops.len()));
        let (mut ended, mut end) = (None, None);
        for _ in 0..most {
            self.load(shares[1])?;
            let met = self.stops.as_mut().is_some_and(|s| s.is_met(&mut self.mechanism, &self.state));
            let attempt = if met {
                Attempt::Met(vec![0.0; self.system.structure.nv])
            } else {
                self.attempt(shares, watch)?
            };
            match attempt {
                Attempt::Met(way) => {
                    self.load(shares[1])?;
                    self.meet(&way)?;
                }
                Attempt::Came(found, branch) => {
                    end = end.or(branch);
                    if !(found.found && self.changes_at(&found.rest)?) {
                        return Ok((*found, end));
                    }
                    ended = Some(found.rest);
                }
            }
        }
        // what is held changes for ever
        let rest = match ended {
            Some(rest) => rest,
            None => self.rest()?,
        };
        Ok((Found { rest, found: false }, end))
    }

    /// Entries of K + μG at the state at hand, whose rest is `here`, with μ relative to the stiffness over the metric.
    pub fn stiffness_entries(&mut self, here: &Rest, mu: f64) -> Vec<(usize, usize, f64)> {
        let system = self.system.clone();
        let s = &system.structure;
        let tangent = &mut self.solvers.tangent;
        self.mechanism.tangent(&self.state, &vec![0.0; s.nv], &here.accel.lambda, tangent);
        let mu = mu * self.metric.stiffness(&here.eq, tangent);
        let mut entries = self.metric.entries(&system, &self.state, &here.eq, mu);
        for pair in &tangent.pairs {
            let [row, col] = pair.at.map(|i| s.cols[i]);
            for k in 0..row.size * col.size {
                entries.push((
                    row.start + k / col.size,
                    col.start + k % col.size,
                    tangent.K[pair.offset + k],
                ));
            }
        }
        entries
    }

    /// Whether the rest `here` at hand is stable; None where that is not told: of free motions, of forces without potential, of rolling.
    pub fn is_stable(&mut self, here: &Rest) -> Option<bool> {
        let s = self.system.structure.clone();
        let rolling = s.rows.iter().any(|r| r.holonomic < r.size);
        if rolling || self.mechanism.reactive_forces() > 0 {
            return None;
        }
        if s.nv == s.nc - here.dependent.len() {
            return Some(true);
        }
        let tangent = &mut self.solvers.tangent;
        let mut own = None;
        let newton = match &mut self.solvers.newton {
            Some(newton) => newton,
            None => own.insert(Newton::new(&self.mechanism, tangent)?),
        };
        self.mechanism.tangent(&self.state, &vec![0.0; s.nv], &here.accel.lambda, tangent);
        let sigma = LEAST * self.metric.stiffness(&here.eq, tangent);
        let mut out = vec![false; s.nc];
        here.dependent.iter().for_each(|&row| out[row] = true);
        let mut shifted = tangent.clone();
        for (i, c) in s.cols.iter().enumerate() {
            let place = shifted.place([i, i]);
            let mass = &here.eq.mass[c.mass..][..c.size * c.size];
            shifted.K[place..].iter_mut().zip(mass).for_each(|(K, m)| *K += sigma * m);
        }
        newton.factor(&s, &shifted, &here.eq.J, &out)?;
        rises(&s, &here.eq, tangent, sigma, |f| newton.displacement(f))
    }

    /// The position at hand, to go back to.
    pub fn keep(&self) -> Kept {
        let active = self.stops.as_ref().map(|stops| stops.active().clone());
        Kept { state: self.state.clone(), hints: self.mechanism.hints().to_vec(), active }
    }

    /// Goes back to a position, under the loads at hand.
    pub fn put_back(&mut self, kept: &Kept) -> Result<(), SetupError> {
        if let (Some(stops), Some(active)) = (&mut self.stops, &kept.active)
            && stops.put_back(active)
        {
            self.compose()?;
            self.solvers = Solvers::new(&self.system, &mut self.mechanism, &kept.state)?;
            self.metric = Metric::new(&self.system, &kept.state);
        }
        self.state.copy_from(&kept.state);
        self.mechanism.set_hints(&kept.hints);
        Ok(())
    }

    /// Holds what is met first on `way`.
    fn meet(&mut self, way: &[f64]) -> Result<(), SetupError> {
        let Some(stops) = &mut self.stops else { return Ok(()) };
        stops.meet(&mut self.mechanism, &mut self.state, way);
        self.change_rows()?;
        if let Some(stops) = &mut self.stops
            && stops.decide(&mut self.mechanism, &mut self.state)?
        {
            self.change_rows()?;
        }
        Ok(())
    }

    /// Whether what is held changes at a rest: a limit would have to pull, a rigid contact to open.
    fn changes_at(&mut self, rest: &Rest) -> Result<bool, SetupError> {
        let Some(stops) = &mut self.stops else { return Ok(false) };
        let Rest { eq, accel, .. } = rest;
        stops.watch_events(&mut self.mechanism, &self.state, (eq, accel))?;
        let changed = stops.decide(&mut self.mechanism, &mut self.state)?;
        if changed {
            self.change_rows()?;
        }
        Ok(changed)
    }

    /// From rest under one share of the loads to rest under another, or to what is met on the way.
    fn attempt(
        &mut self,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Attempt, SetupError> {
        let start = self.keep();
        let come = |rest, end| Ok(Attempt::Came(Box::new(Found { rest, found: true }), end));
        let mut end = None;
        if self.solvers.newton.is_some() && !self.bounds.downhill && from < to {
            match self.follow([from, to], watch)? {
                Followed::Came(rest, end) => return come(*rest, end),
                Followed::Met(way) => return Ok(Attempt::Met(way)),
                Followed::Lost(seen) => end = seen,
            }
        } else {
            match self.come_down([from, to], watch)? {
                Ok(rest) if self.is_stable(&rest) != Some(false) => {
                    // steps near the tangent stay on the branch
                    if self.solvers.newton.as_ref().is_some_and(|n| n.strays(STRAYS)) {
                        end = self.branch_end(&start, [from, to], watch)?;
                    }
                    return come(rest, end);
                }
                // a motion that is disturbed may still leave it
                Ok(_) => {}
                Err(Stop::Met(way)) => return Ok(Attempt::Met(way)),
                Err(_) => {}
            }
        }
        // from where this part began, as a damped motion under its loads would
        self.put_back(&start)?;
        self.load(to)?;
        match self.relax(watch)? {
            Ok(rest) => {
                end = end.or(self.branch_end(&start, [from, to], watch)?);
                return come(rest, end);
            }
            Err(Stop::Met(way)) => return Ok(Attempt::Met(way)),
            Err(_) => {}
        }
        self.put_back(&start)?;
        let here = self.rest()?;
        let (rest, met) = search(
            &mut self.mechanism,
            &mut self.solvers.kkt,
            &mut self.solvers.tangent,
            &mut self.state,
            here,
            &mut self.stops,
            &mut |_, _, _| 0.0,
            &mut self.counts,
            watch,
        )?;
        if let Some(way) = met {
            return Ok(Attempt::Met(way));
        }
        let rest = self.beside_rounding(rest);
        let found = is_rest(&rest);
        if found {
            end = end.or(self.branch_end(&start, [from, to], watch)?);
        }
        Ok(Attempt::Came(Box::new(Found { found, rest }), end))
    }

    /// Searches for rest from the state at hand while `sample` acts at every step. None where something is met on the way.
    pub fn search_sampled(
        &mut self,
        sample: Sample<'_>,
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Option<Found>, SetupError> {
        let unsampled = self.rest()?;
        sample(&mut self.mechanism, &mut self.state, &unsampled);
        let here = self.rest()?;
        let (rest, met) = search(
            &mut self.mechanism,
            &mut self.solvers.kkt,
            &mut self.solvers.tangent,
            &mut self.state,
            here,
            &mut self.stops,
            sample,
            &mut self.counts,
            watch,
        )?;
        let found = is_rest(&rest);
        Ok(met.is_none().then_some(Found { rest, found }))
    }

    /// From rest under one share of the loads to rest under another by steps that all lead along the forces, in halves where they do not converge.
    fn come_down(
        &mut self,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Result<Rest, Stop>, SetupError> {
        if self.solvers.newton.is_none() {
            return Ok(Err(Stop::Lost));
        }
        let (mut at, mut more) = (from, to - from);
        let least = 0.5_f64.powi(HALVINGS) * more;
        loop {
            let next = if at + more > to - 1e-3 * least { to } else { at + more };
            self.load(next)?;
            match self.iterate(0.0, self.bounds, watch)? {
                Ok(rest) if next == to => return Ok(Ok(rest)),
                Ok(_) => {
                    at = next;
                    more *= 2.0;
                }
                Err(Stop::Lost) if from < to && 0.5 * more >= least => more *= 0.5,
                Err(stop) => return Ok(Err(stop)),
            }
        }
    }

    /// Along the branch of rests from one share of the loads to another. A step that loses what was stable, or that strays from the tangent, may be
    /// on another branch, and is halved; where halves do not help, the branch ends or forks, and a damped motion tells how it goes on.
    fn follow(
        &mut self,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Followed, SetupError> {
        let (mut at, mut more) = (from, to - from);
        let least = 0.5_f64.powi(FINE) * more;
        let beyond = 0.5_f64.powi(HALVINGS) * more;
        // without loads the start may be no rest yet: the branch begins at the one that it leads to
        self.load(from)?;
        let begun = self.iterate(0.0, Bounds { longest: SHORT, downhill: true }, watch)?;
        let mut on_branch = begun.is_ok();
        let mut stable = match begun {
            Ok(rest) => self.is_stable(&rest),
            Err(_) => None,
        };
        let (mut end, mut ends) = (None, 0);
        loop {
            let next = if at + more > to - 1e-3 * least { to } else { at + more };
            let before = self.keep();
            self.load(next)?;
            // near rests that are stable K is positive: elsewhere steps lead to any branch
            let bounds = Bounds { longest: LONG, downhill: stable == Some(true) };
            let done = self.iterate(0.0, bounds, watch)?;
            if let Ok(rest) = done {
                let strays = on_branch && self.solvers.newton.as_ref().is_some_and(|n| n.strays(STRAYS));
                let now = self.is_stable(&rest);
                let lost = stable == Some(true) && now == Some(false);
                let strays = strays || (now == Some(true) && on_branch && self.strays_back(at, next)?);
                if !strays && !lost {
                    if next == to {
                        return Ok(Followed::Came(Box::new(rest), end));
                    }
                    (at, stable, on_branch) = (next, now, true);
                    more *= 2.0;
                    continue;
                }
                self.put_back(&before)?;
            } else if let Err(Stop::Met(way)) = done {
                return Ok(Followed::Met(way));
            }
            more *= 0.5;
            if more >= least {
                continue;
            }
            ends += 1;
            if ends > ENDS {
                return Ok(Followed::Lost(end));
            }
            // just beyond an end little leads on: farther where that is too slow
            let (mut next, mut on) = (at, None);
            for share in [at + beyond, at + 32.0 * beyond, to].map(|share| share.min(to)) {
                next = share;
                self.load(next)?;
                match self.relax(watch)? {
                    Ok(rest) => {
                        on = Some(rest);
                        break;
                    }
                    Err(Stop::Met(way)) => return Ok(Followed::Met(way)),
                    Err(_) => self.put_back(&before)?,
                }
            }
            let here = (on_branch && stable == Some(true)).then_some(BranchEnd { load: at });
            let Some(rest) = on else { return Ok(Followed::Lost(end.or(here))) };
            stable = self.is_stable(&rest);
            // a damped motion leads to no rest that is not stable, but where nothing leads away from that: the branch forks
            let ends_here = end.is_none() && on_branch && stable != Some(false);
            if ends_here && self.has_jumped(&before, (at - beyond).max(0.0), watch)? {
                end = Some(BranchEnd { load: at });
            }
            self.load(next)?;
            (at, on_branch, more) = (next, true, beyond);
            if next == to {
                return Ok(Followed::Came(Box::new(rest), end));
            }
        }
    }

    /// Whether the rest at hand under `next` is much farther from that under `at` than the tangent at hand tells, whose factors are the last.
    fn strays_back(&mut self, at: f64, next: f64) -> Result<bool, SetupError> {
        self.load(at)?;
        let back = rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state);
        self.load(next)?;
        let (Ok(back), Some(newton)) = (back, &mut self.solvers.newton) else { return Ok(false) };
        let force = momentum(&self.system.structure, &back.eq, &back.accel.vdot);
        Ok(newton.displacement(&force).is_some_and(|back| newton.strays_from(STRAYS, &back)))
    }

    /// Whether the rest at hand, which came of the rest `before`, stays away from there when the loads are taken back to `share`.
    fn has_jumped(
        &mut self,
        before: &Kept,
        share: f64,
        watch: &mut dyn FnMut(&Search),
    ) -> Result<bool, SetupError> {
        let apart =
            |a: &State| a.q.iter().zip(&before.state.q).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        let here = self.keep();
        let way = apart(&self.state);
        self.load(share)?;
        let back = self.iterate(0.0, Bounds { longest: LONG, downhill: false }, watch)?;
        let left = apart(&self.state);
        self.put_back(&here)?;
        Ok(back.is_ok() && left >= JUMP * way)
    }

    /// Where the branch of rests from `start` ends on the way to the rest at hand.
    fn branch_end(
        &mut self,
        start: &Kept,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Option<BranchEnd>, SetupError> {
        // what follows the branch has told; positions that are tried on the side may meet what the way does not
        if !self.bounds.downhill || self.solvers.newton.is_none() || from == to || self.stops.is_some() {
            return Ok(None);
        }
        let (here, counts) = (self.keep(), self.counts);
        self.put_back(start)?;
        let followed = self.follow([from, to], watch);
        self.counts = counts;
        self.load(to)?;
        self.put_back(&here)?;
        Ok(match followed? {
            Followed::Came(_, end) | Followed::Lost(end) => end,
            Followed::Met(_) => None,
        })
    }

    /// Goes where a damped motion would, in steps that Newton's iteration solves while a metric holds it back. None where there is
    /// nothing elastic, or where they lead nowhere.
    fn relax(&mut self, watch: &mut dyn FnMut(&Search)) -> Result<Result<Rest, Stop>, SetupError> {
        if self.solvers.newton.is_none() {
            return Ok(Err(Stop::Lost));
        }
        let bounds = Bounds { longest: SHORT, downhill: true };
        let here = self.rest()?;
        let still = vec![0.0; self.system.structure.nv];
        self.mechanism.tangent(&self.state, &still, &here.accel.lambda, &mut self.solvers.tangent);
        let typical = self.metric.stiffness(&here.eq, &self.solvers.tangent);
        let mut mu = LIGHT * typical;
        let mut unstable = None;
        for _ in 0..RELAXATIONS {
            let made = self.counts.steps;
            let before = self.keep();
            match self.iterate(mu, bounds, watch)? {
                // one that is not stable is left where anything leads away from it
                Ok(rest) if mu == 0.0 => {
                    let stays = unstable
                        .as_ref()
                        .is_some_and(|(_, _, last): &(Rest, Kept, Vec<f64>)| *last == before.state.q);
                    if stays || self.is_stable(&rest) != Some(false) {
                        return Ok(Ok(rest));
                    }
                    unstable = Some((rest, self.keep(), before.state.q.clone()));
                    self.put_back(&before)?;
                    mu = LEAST * typical;
                }
                // few steps: the next one may lead farther
                Ok(_) if self.counts.steps - made <= FEW => {
                    mu = if mu < LEAST * typical { 0.0 } else { 0.1 * mu }
                }
                Ok(_) => {}
                Err(stop @ Stop::Met(_)) => return Ok(Err(stop)),
                Err(_) => mu = (5.0 * mu).max(LEAST * typical),
            }
        }
        match unstable {
            Some((rest, place, _)) => {
                self.put_back(&place)?;
                Ok(Ok(rest))
            }
            None => Ok(Err(Stop::Lost)),
        }
    }

    /// Newton's iteration under the loads at hand, held back by `mu` times the metric. Where it stops short, the state is as before.
    fn iterate(
        &mut self,
        mu: f64,
        bounds: Bounds,
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Result<Rest, Stop>, SetupError> {
        let before = (self.state.clone(), self.mechanism.hints().to_vec());
        let done = self.try_iterate(mu, bounds, watch)?;
        if done.is_err() {
            self.state = before.0;
            self.mechanism.set_hints(&before.1);
        }
        Ok(done)
    }

    fn try_iterate(
        &mut self,
        mu: f64,
        bounds: Bounds,
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Result<Rest, Stop>, SetupError> {
        let here =
            rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state).map_err(named(&self.system))?;
        let Some(newton) = &mut self.solvers.newton else { return Ok(Err(Stop::Lost)) };
        newton.begin();
        if is_still(&here) {
            return Ok(Ok(here));
        }
        self.counts.residual = here.residual();
        watch(&self.counts);
        let start = (self.state.clone(), self.mechanism.hints().to_vec());
        let held = self.metric.entries(&self.system, &self.state, &here.eq, mu);
        let mut out = vec![false; self.system.structure.nc];
        here.dependent.iter().for_each(|&row| out[row] = true);
        let (mut lambda, mut made) = (here.accel.lambda.clone(), 0);
        let done = newton.solve(
            &mut self.mechanism,
            &mut self.solvers.tangent,
            &mut self.state,
            &mut lambda,
            &out,
            &held,
            bounds,
            &mut made,
        );
        self.counts.trials += made;
        if let Err(stop) = done {
            // what is rounding beside the loads is at rest where the iteration has no solution: along free motions
            let (at, hints) = start;
            self.state = at;
            self.mechanism.set_hints(&hints);
            let here = self.beside_rounding(here);
            let still = mu == 0.0 && stop == Stop::Lost && is_still(&here);
            return Ok(if still { Ok(here) } else { Err(stop) });
        }
        if let Some(stops) = &mut self.stops {
            if stops.is_met(&mut self.mechanism, &self.state) {
                return Ok(Err(Stop::Met(newton.way().to_vec())));
            }
            stops.arm(&mut self.mechanism, &self.state);
        }
        // rows that depended on each other may do so no more
        let Ok(there) = rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state) else {
            return Ok(Err(Stop::Lost));
        };
        let still = vec![0.0; self.system.structure.nv];
        let Solvers { newton: Some(newton), tangent, .. } = &mut self.solvers else {
            return Ok(Err(Stop::Lost));
        };
        self.mechanism.tangent(&self.state, &still, &lambda, tangent);
        let there = if newton.is_rounding(&mut self.mechanism, &self.state, &lambda, tangent) {
            there.rounded()
        } else {
            there
        };
        // a last step that is short is no rest where forces are left
        if there.dependent.len() != here.dependent.len() || (mu == 0.0 && !is_rest(&there)) {
            return Ok(Err(Stop::Lost));
        }
        if let Some(stops) = &mut self.stops {
            stops.watch_events(&mut self.mechanism, &self.state, (&there.eq, &there.accel))?;
        }
        self.counts.steps += made;
        Ok(Ok(there))
    }
}

/// What solves for rest, of a system with the rows of `mechanism`.
struct Solvers {
    kkt: Kkt,
    tangent: Tangent,
    /// None where there is nothing elastic.
    newton: Option<Newton>,
    /// Loads that depend on the position, and so hold what they act on: they vanish at rest.
    holding: Vec<usize>,
}

impl Solvers {
    fn new(system: &Arc<System>, mechanism: &mut Mechanism, state: &State) -> Result<Solvers, SetupError> {
        let equations = Equations::new(mechanism);
        let kkt = Kkt::new(&system.structure, &equations, HUB_DEGREE).map_err(named(system))?;
        let mut tangent = system.new_tangent();
        let linear = if system.wide == 3 { 2 } else { 3 };
        let mut holds = |force: usize| {
            mechanism.force_tangent(state, force, &mut tangent);
            tangent.pairs.iter().any(|pair| {
                let [rows, wide] = pair.at.map(|i| system.structure.cols[i].size);
                let mut block = tangent.K[pair.offset..][..rows * wide].chunks_exact(wide);
                block.any(|row| row.iter().take(linear).any(|K| *K != 0.0))
            })
        };
        let loads = system.forces.iter().enumerate().filter(|(_, f)| f.enabled && f.load.is_load());
        let holding: Vec<usize> = loads.map(|(i, _)| i).filter(|i| holds(*i)).collect();
        let elastic = !holding.is_empty() || system.forces.iter().any(|f| f.enabled && !f.load.is_load());
        let newton = if elastic { Newton::new(mechanism, &tangent) } else { None };
        Ok(Solvers { kkt, tangent, newton, holding })
    }
}

/// With the name of the element that cannot be solved for.
fn named(system: &Arc<System>) -> impl Fn(SolveError) -> SetupError {
    |source: SolveError| {
        let element = failure::element(&source, &system.mechanism());
        SetupError::Start { source, element }
    }
}
