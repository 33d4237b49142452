//! A mechanism on its way to rest, under a part of its loads or all of them: which of the ways there is tried when.
//!
//! From one share of the loads to the next by Newton's iteration ([`super::newton`]), in halves where it is lost; then held back, as a damped
//! motion would go; then by the search ([`super::search`]). Cost: a sparse factorization a step, and a copy of the system for each share.

use super::branch::{BranchEnd, Followed};
use super::equilibrium::{EquilibriumOptions, EquilibriumSearch};
use super::metric::Metric;
use super::newton::{EquilibriumNewton, IterationBounds, NewtonStop};
use super::paths::Paths;
use super::relax::LEAST;
use super::rest::{Rest, rest};
use super::search::{ControllerSampler, is_rest, is_still, project, search};
use super::solvers::{Solvers, named};
use super::stability::{Curvature, curvature};
use super::stops::{RUN, Stops};
use crate::error::SetupError;
use crate::events::Active;
use sarrus_solve::{Problem, State, StructureError};
use sarrus_system::{Mechanism, System};
use std::sync::Arc;

/// Longest step of Newton's iteration where no loads are followed ...
pub(super) const SHORT: f64 = 0.3;
/// ... and where they are \[rad, and relative to the size of the mechanism\].
pub(super) const LONG: f64 = 1.0;
/// Number of times that a part of the loads is halved.
pub(super) const HALVINGS: i32 = 10;
/// A rest that is this much farther than its tangent at the rest before tells may be on another branch: on one that bends by a square, the one
/// is twice the other at most.
pub(super) const STRAYS: f64 = 2.0;

/// Changes of what is held on the way, at most, over the number of what may be: each may be met, released and met again.
const CHANGES: usize = 8;

/// Trials in one part of the loads, at most, over the number of velocities, and the bounds of that.
const TRIALS: u32 = 5_000_000;
const MOST_TRIALS: [u32; 2] = [5000, 20_000];
/// Rests that are not stable and are left along a motion along which the potential falls, at most ...
const LEAVES: u32 = 20;
/// ... and how far, relative to the size of the mechanism.
const AWAY: f64 = 1e-3;

/// A position to go back to.
pub(super) struct SavedPosition {
    pub state: State,
    discrete: Vec<f64>,
    active: Option<Active>,
}

/// Holds what was come to.
pub(super) struct StaticsOutcome {
    pub rest: Rest,
    /// True if that is rest.
    pub found: bool,
}

/// Describes how an attempt ended.
enum Attempt {
    Came(Box<StaticsOutcome>, Option<BranchEnd>),
    /// A stop was met on this way from the state at hand.
    Met(Vec<f64>, Option<BranchEnd>),
}

/// A mechanism on its way to rest.
pub(super) struct Statics<'a> {
    /// The model, under all loads.
    whole: &'a Arc<System>,
    /// Holds what acts, under the share of the loads at hand.
    pub system: Arc<System>,
    share: f64,
    pub mechanism: Mechanism,
    pub state: State,
    pub solvers: Solvers,
    pub bounds: IterationBounds,
    pub metric: Metric,
    pub stops: Option<Stops>,
    /// Holds what a step could pass over; none where nothing can be.
    pub paths: Option<Paths>,
    pub counts: EquilibriumSearch,
    /// Trials after which it is given up.
    pub most: u32,
    /// True if nothing has been met since the part of the loads began.
    pub fresh: bool,
}

impl<'a> Statics<'a> {
    pub fn new(
        whole: &'a Arc<System>,
        state: State,
        discrete: &[f64],
        stops: Option<Stops>,
        options: &EquilibriumOptions,
    ) -> Result<Statics<'a>, SetupError> {
        let mut mechanism = whole.mechanism();
        mechanism.set_discrete(discrete);
        let followed = options.load_steps.is_some();
        let bounds = IterationBounds { longest: if followed { LONG } else { SHORT }, downhill: !followed };
        let counts = EquilibriumSearch { trials: 0, steps: 0, residual: 0.0 };
        let solvers = Solvers::new(whole, &mut mechanism, &state)?;
        let metric = Metric::new(whole, &state);
        let system = whole.clone();
        Ok(Statics {
            whole,
            system,
            share: 1.0,
            mechanism,
            state,
            solvers,
            bounds,
            metric,
            stops,
            paths: Paths::new(whole),
            counts,
            most: u32::MAX,
            fresh: true,
        })
    }

    /// A part of the loads begins, with the trials that it may take.
    pub fn begin_part(&mut self) {
        let [least, most] = MOST_TRIALS;
        let velocities = u32::try_from(self.system.structure.nv).unwrap_or(u32::MAX).max(1);
        self.most = self.counts.trials + (TRIALS / velocities).clamp(least, most);
    }

    pub fn energy(&mut self) -> f64 {
        self.mechanism.energy(&self.state).potential
    }

    pub fn rest(&mut self) -> Result<Rest, SetupError> {
        let here =
            rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state).map_err(named(&self.system))?;
        Ok(self.within_rounding(here))
    }

    /// `here` with what rounding of positions makes of it, where something is elastic.
    pub(super) fn within_rounding(&mut self, here: Rest) -> Rest {
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
        here.with_loads(s, &newton.rounding(s, &self.state, tangent), &loads)
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
        let discrete = self.mechanism.discrete().to_vec();
        self.mechanism = self.system.mechanism();
        self.mechanism.set_discrete(&discrete);
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
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<(StaticsOutcome, Option<BranchEnd>), SetupError> {
        let most = self.stops.as_ref().map_or(1, |stops| CHANGES * (1 + stops.len()));
        let (mut ended, mut end) = (None, None);
        self.fresh = true;
        for _ in 0..most {
            if self.counts.trials > self.most {
                break;
            }
            self.load(shares[1])?;
            let met = self.stops.as_mut().is_some_and(|s| s.is_met(&mut self.mechanism, &self.state));
            let attempt = if met {
                Attempt::Met(vec![0.0; self.system.structure.nv], None)
            } else {
                let attempt = self.attempt(shares, watch)?;
                self.fresh = false;
                attempt
            };
            match attempt {
                Attempt::Met(way, branch) => {
                    end = end.or(branch);
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
        Ok((StaticsOutcome { rest, found: false }, end))
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

    /// Returns whether the rest `here` at hand is stable; None where that is not reported: of free motions, of forces without potential, of rolling.
    pub fn is_stable(&mut self, here: &Rest) -> Option<bool> {
        self.curvature(here)?.is_stable()
    }

    /// Returns what the forces do around the rest `here` at hand; None where that is not reported, as of rolling.
    pub fn curvature(&mut self, here: &Rest) -> Option<Curvature> {
        let s = self.system.structure.clone();
        let rolling = s.rows.iter().any(|r| r.holonomic < r.size);
        if rolling || self.mechanism.reactive_forces() > 0 {
            return None;
        }
        let free = (s.nv + here.dependent.len()).saturating_sub(s.nc);
        if free == 0 {
            return Some(Curvature::Rises);
        }
        let tangent = &mut self.solvers.tangent;
        let mut own = None;
        let newton = match &mut self.solvers.newton {
            Some(newton) => newton,
            None => own.insert(EquilibriumNewton::new(&self.mechanism, tangent)?),
        };
        self.mechanism.tangent(&self.state, &vec![0.0; s.nv], &here.accel.lambda, tangent);
        let sigma = LEAST * self.metric.stiffness(&here.eq, tangent);
        let mut out = vec![false; s.nc];
        here.dependent.iter().for_each(|&row| out[row] = true);
        let mut shifted = tangent.clone();
        for (i, c) in s.cols.iter().enumerate() {
            let index = shifted.first_entry([i, i]);
            let mass = &here.eq.mass[c.mass..][..c.size * c.size];
            shifted.K[index..].iter_mut().zip(mass).for_each(|(K, m)| *K += sigma * m);
        }
        newton.factor(&s, &shifted, &here.eq.J, &out)?;
        curvature(&s, &here.eq, tangent, sigma, free, |f| newton.displacement(f))
    }

    /// The position at hand, to go back to.
    pub fn save(&self) -> SavedPosition {
        let active = self.stops.as_ref().map(|stops| stops.active().clone());
        SavedPosition { state: self.state.clone(), discrete: self.mechanism.discrete().to_vec(), active }
    }

    /// Goes back to a position, under the loads at hand.
    pub fn restore(&mut self, saved: &SavedPosition) -> Result<(), SetupError> {
        if let (Some(stops), Some(active)) = (&mut self.stops, &saved.active)
            && stops.restore(active)
        {
            self.compose()?;
            self.solvers = Solvers::new(&self.system, &mut self.mechanism, &saved.state)?;
            self.metric = Metric::new(&self.system, &saved.state);
        }
        self.state.copy_from(&saved.state);
        self.mechanism.set_discrete(&saved.discrete);
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

    /// Returns whether what is held changes at a rest: a limit would have to pull, a rigid contact to open.
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
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Attempt, SetupError> {
        let start = self.save();
        let arrived = |rest, end| Ok(Attempt::Came(Box::new(StaticsOutcome { rest, found: true }), end));
        let mut end = None;
        if self.solvers.newton.is_some() && !self.bounds.downhill && from < to {
            match self.follow([from, to], watch)? {
                Followed::Came(rest, end) => return arrived(*rest, end),
                Followed::Met(way, end) => return Ok(Attempt::Met(way, end)),
                Followed::Lost(seen) => end = seen,
            }
        } else {
            match self.relax_motion([from, to], watch)? {
                Ok(rest) if self.is_stable(&rest) != Some(false) => {
                    // steps near the tangent stay on the branch
                    if self.solvers.newton.as_ref().is_some_and(|n| n.strays(STRAYS)) {
                        end = self.branch_end(&start, [from, to], watch)?;
                    }
                    return arrived(rest, end);
                }
                // a motion that is disturbed may still leave it
                Ok(_) => {}
                Err(NewtonStop::Met(way)) => return self.met(way, end, &start, [from, to], watch),
                Err(_) => {}
            }
        }
        // from where this part began, as a damped motion under its loads would
        self.restore(&start)?;
        self.load(to)?;
        match self.relax(watch)? {
            Ok(rest) => {
                end = end.or(self.branch_end(&start, [from, to], watch)?);
                return arrived(rest, end);
            }
            Err(NewtonStop::Met(way)) => return self.met(way, end, &start, [from, to], watch),
            Err(_) => {}
        }
        self.restore(&start)?;
        let made = self.counts.steps;
        for leaves in 0.. {
            let here = self.rest()?;
            let (rest, met) = search(
                &mut self.mechanism,
                &mut self.solvers.kkt,
                &mut self.solvers.tangent,
                &mut self.state,
                here,
                &mut self.stops,
                &mut self.paths,
                &mut |_, _, _| 0.0,
                &mut self.counts,
                watch,
            )?;
            if let Some(way) = met {
                return self.met(way, end, &start, [from, to], watch);
            }
            let rest = self.within_rounding(rest);
            let found = is_rest(&rest);
            // steps may lead onto a saddle, where a motion that is disturbed does not end
            let came = found && self.counts.steps > made;
            if came && leaves < LEAVES && self.leave(&rest)? {
                continue;
            }
            if found {
                end = end.or(self.branch_end(&start, [from, to], watch)?);
            }
            return Ok(Attempt::Came(Box::new(StaticsOutcome { found, rest }), end));
        }
        Err(self.given_up(0.0))
    }

    /// A stop is met on this way from the state at hand, which an attempt from `start` has come to, past the end of a branch if one was `seen`.
    fn met(
        &mut self,
        way: Vec<f64>,
        seen: Option<BranchEnd>,
        start: &SavedPosition,
        shares: [f64; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Attempt, SetupError> {
        let end = match seen {
            Some(end) => Some(end),
            None => self.branch_end(start, shares, watch)?,
        };
        Ok(Attempt::Met(way, end))
    }

    /// Moves a little away from the rest at hand where its potential falls along a motion. Returns whether it does.
    fn leave(&mut self, rest: &Rest) -> Result<bool, SetupError> {
        let Some(Curvature::Decreasing(motion)) = self.curvature(rest) else { return Ok(false) };
        let size = self.state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));
        let longest = motion.iter().fold(f64::MIN_POSITIVE, |a, x| a.max(x.abs()));
        let step: Vec<f64> = motion.iter().map(|x| x * (AWAY * size / longest)).collect();
        let mut there = self.resolved(&step);
        let fits = project(&mut self.mechanism, &self.metric, rest, &mut there);
        if fits {
            self.state.copy_from(&there);
            self.mechanism.accept(&there);
        }
        Ok(fits)
    }

    /// The state at hand after a step, as far as that is resolved.
    pub fn resolved(&mut self, step: &[f64]) -> State {
        let mut there = self.state.clone();
        self.mechanism.retract(&mut there.q, step);
        let Some(paths) = &mut self.paths else { return there };
        let share = paths.limit(&mut self.mechanism, &self.state, &there).share;
        if share < 1.0 {
            let part: Vec<f64> = step.iter().map(|x| share * x).collect();
            there.copy_from(&self.state);
            self.mechanism.retract(&mut there.q, &part);
        }
        there
    }

    /// The error of a search that took too long.
    pub(super) fn given_up(&self, residual: f64) -> SetupError {
        let EquilibriumSearch { trials, steps, .. } = self.counts;
        let load = (self.share != 1.0).then_some(self.share);
        SetupError::NoEquilibrium { residual, iterations: steps, trials, load }
    }

    /// Searches for rest from the state at hand while `sample` acts at every step. None where something is met on the way.
    pub fn search_sampled(
        &mut self,
        sample: ControllerSampler<'_>,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Option<StaticsOutcome>, SetupError> {
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
            &mut self.paths,
            sample,
            &mut self.counts,
            watch,
        )?;
        let found = is_rest(&rest);
        Ok(met.is_none().then_some(StaticsOutcome { rest, found }))
    }
}
