//! A mechanism on its way to rest, under a part of its loads or all of them: which of the ways there is tried when.
//!
//! From one share of the loads to the next by Newton's iteration ([`super::newton`]), in halves where it is lost; then held back, as a damped
//! motion would go; then by the search ([`super::search`]). Cost: a sparse factorization a step, and a copy of the system for each share.

use super::equilibrium::{EquilibriumOptions, Search};
use super::metric::Metric;
use super::newton::{Bounds, Newton, Stop};
use super::rest::{Rest, rest};
use super::search::{is_rest, is_still, search};
use sarrus_solve::{Equations, HUB_DEGREE, Kkt, SolveError, State, Tangent};
use sarrus_system::{Mechanism, System};
use std::sync::Arc;

/// Longest step of Newton's iteration where no loads are followed ...
const SHORT: f64 = 0.3;
/// ... and where they are \[rad, and relative to the size of the mechanism\].
const LONG: f64 = 1.0;
/// How often a part of the loads is halved.
const HALVINGS: i32 = 10;
/// Where to begin with μ, and where it counts as nothing, relative to the largest stiffness over the metric.
const LIGHT: f64 = 1e-3;
const LEAST: f64 = 1e-12;
/// Steps that are held back, at most.
const RELAXATIONS: u32 = 300;
/// Iterations that are few.
const FEW: u32 = 6;

/// A rest was searched for, not followed.
pub(super) struct Jumped;

/// What was come to.
pub(super) struct Found {
    pub rest: Rest,
    /// Whether that is rest.
    pub found: bool,
}

/// A mechanism on its way to rest.
pub(super) struct Statics<'a> {
    system: &'a Arc<System>,
    /// Under the loads at hand.
    pub mechanism: Mechanism,
    pub state: State,
    kkt: Kkt,
    tangent: Tangent,
    /// None where there is nothing elastic.
    newton: Option<Newton>,
    bounds: Bounds,
    metric: Metric,
    pub counts: Search,
}

impl<'a> Statics<'a> {
    pub fn new(
        system: &'a Arc<System>,
        state: State,
        hints: &[f64],
        options: &EquilibriumOptions,
    ) -> Result<Statics<'a>, SolveError> {
        let mut mechanism = system.mechanism();
        mechanism.set_hints(hints);
        let kkt = Kkt::new(&system.structure, &Equations::new(&mechanism), HUB_DEGREE)?;
        let tangent = system.new_tangent();
        let elastic = system.forces.iter().any(|f| f.enabled && !f.load.is_load());
        let newton = if elastic { Newton::new(&mechanism, &tangent) } else { None };
        let followed = options.load_steps.is_some();
        let bounds = Bounds { longest: if followed { LONG } else { SHORT }, downhill: !followed };
        let counts = Search { trials: 0, steps: 0, residual: 0.0 };
        let metric = Metric::new(system, &state);
        Ok(Statics { system, mechanism, state, kkt, tangent, newton, bounds, metric, counts })
    }

    pub fn energy(&mut self) -> f64 {
        self.mechanism.energy(&self.state).potential
    }

    pub fn rest(&mut self) -> Result<Rest, SolveError> {
        rest(&mut self.mechanism, &mut self.kkt, &self.state)
    }

    /// From here on the loads are `share` of the whole.
    fn load(&mut self, share: f64) {
        let hints = self.mechanism.hints().to_vec();
        let part = if share == 1.0 { None } else { self.system.with_loads(share).ok() };
        let part = part.map_or_else(|| self.system.clone(), Arc::new);
        self.mechanism = part.mechanism();
        self.mechanism.set_hints(&hints);
    }

    /// Takes the mechanism from rest under one share of the loads to rest under another.
    pub fn bring_on(
        &mut self,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&Search),
    ) -> Result<(Found, Option<Jumped>), SolveError> {
        let (state, hints) = (self.state.clone(), self.mechanism.hints().to_vec());
        let (mut at, mut more) = (from, to - from);
        let least = 0.5_f64.powi(HALVINGS) * more;
        let mut lost = self.newton.is_none();
        while at < to && !lost {
            let next = if at + more > to - 1e-3 * least { to } else { at + more };
            let before = (self.state.clone(), self.mechanism.hints().to_vec());
            self.load(next);
            match self.iterate(0.0, self.bounds, watch)? {
                Ok(rest) if next == to => return Ok((Found { rest, found: true }, None)),
                Ok(_) => {
                    at = next;
                    more *= 2.0;
                }
                Err(stop) => {
                    self.state = before.0;
                    self.mechanism.set_hints(&before.1);
                    more *= 0.5;
                    lost = stop == Stop::Uphill || more < least;
                }
            }
        }
        // from where this part began, as a damped motion under its loads would
        self.state.copy_from(&state);
        self.mechanism.set_hints(&hints);
        self.load(to);
        if let Some(rest) = self.relax(watch)? {
            return Ok((Found { rest, found: true }, Some(Jumped)));
        }
        self.state.copy_from(&state);
        self.mechanism.set_hints(&hints);
        let here = self.rest()?;
        let rest = search(
            &mut self.mechanism,
            &mut self.kkt,
            &mut self.tangent,
            &mut self.state,
            here,
            &mut self.counts,
            watch,
        );
        // where nothing is elastic there was no branch to follow
        Ok((Found { found: is_rest(&rest), rest }, self.newton.is_some().then_some(Jumped)))
    }

    /// Goes where a damped motion would, in steps that Newton's iteration solves while a metric holds it back. None where there is
    /// nothing elastic, or where they lead nowhere.
    fn relax(&mut self, watch: &mut dyn FnMut(&Search)) -> Result<Option<Rest>, SolveError> {
        if self.newton.is_none() {
            return Ok(None);
        }
        let bounds = Bounds { longest: SHORT, downhill: true };
        let here = self.rest()?;
        let still = vec![0.0; self.system.structure.nv];
        self.mechanism.tangent(&self.state, &still, &here.accel.lambda, &mut self.tangent);
        let typical = self.metric.stiffness(&here.eq, &self.tangent);
        let mut mu = LIGHT * typical;
        for _ in 0..RELAXATIONS {
            let before = (self.state.clone(), self.mechanism.hints().to_vec());
            let made = self.counts.steps;
            match self.iterate(mu, bounds, watch)? {
                Ok(rest) if mu == 0.0 => return Ok(Some(rest)),
                // few steps: the next one may lead farther
                Ok(_) if self.counts.steps - made <= FEW => {
                    mu = if mu < LEAST * typical { 0.0 } else { 0.1 * mu }
                }
                Ok(_) => {}
                Err(_) => {
                    self.state = before.0;
                    self.mechanism.set_hints(&before.1);
                    mu = (5.0 * mu).max(LEAST * typical);
                }
            }
        }
        Ok(None)
    }

    /// Newton's iteration under the loads at hand, held back by `mu` times the metric.
    fn iterate(
        &mut self,
        mu: f64,
        bounds: Bounds,
        watch: &mut dyn FnMut(&Search),
    ) -> Result<Result<Rest, Stop>, SolveError> {
        let Some(newton) = &mut self.newton else { return Ok(Err(Stop::Lost)) };
        let here = rest(&mut self.mechanism, &mut self.kkt, &self.state)?;
        if is_still(&here) {
            return Ok(Ok(here));
        }
        self.counts.residual = here.residual();
        watch(&self.counts);
        let held = self.metric.entries(self.system, &self.state, &here.eq, mu);
        let mut out = vec![false; self.system.structure.nc];
        here.dependent.iter().for_each(|&row| out[row] = true);
        let (mut lambda, mut made) = (here.accel.lambda, 0);
        let done = newton.solve(
            &mut self.mechanism,
            &mut self.tangent,
            &mut self.state,
            &mut lambda,
            &out,
            &held,
            bounds,
            &mut made,
        );
        self.counts.trials += made;
        if let Err(stop) = done {
            return Ok(Err(stop));
        }
        // rows that depended on each other may do so no more
        let Ok(there) = rest(&mut self.mechanism, &mut self.kkt, &self.state) else {
            return Ok(Err(Stop::Lost));
        };
        if there.dependent.len() != here.dependent.len() {
            return Ok(Err(Stop::Lost));
        }
        self.counts.steps += made;
        let s = &self.system.structure;
        let there = there.beside(s, &newton.rounding(s, &self.state, &self.tangent));
        Ok(Ok(there))
    }
}
