//! Newton's iteration on the way to rest: at once, in parts of the loads, or held back so that it goes where a damped motion would.
//!
//! Cost: a tangent and a sparse factorization a step.

use super::equilibrium::EquilibriumSearch;
use super::newton::{IterationBounds, NewtonStop};
use super::rest::{Rest, rest};
use super::search::{is_rest, is_still};
use super::solvers::{Solvers, named};
use super::statics::{HALVINGS, SHORT, SavedPosition, Statics};
use crate::error::SetupError;

/// Marks the point to which begin with μ, and where it counts as nothing, relative to the largest stiffness over the metric.
const LIGHT: f64 = 1e-3;
pub(super) const LEAST: f64 = 1e-12;
/// Steps that are held back, at most.
const RELAXATIONS: u32 = 300;
/// Steps that are held back, after which something must have moved by this part of the size of the mechanism where forces may jump.
const MAX_STALLED: u32 = 20;
const MOVED: f64 = 1e-9;
/// Iterations that are few.
const FEW: u32 = 6;

impl Statics<'_> {
    /// From rest under one share of the loads to rest under another by steps that all lead along the forces, in halves where they do not converge and no path has to be resolved.
    pub(super) fn relax_motion(
        &mut self,
        [from, to]: [f64; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Result<Rest, NewtonStop>, SetupError> {
        if self.solvers.newton.is_none() {
            return Ok(Err(NewtonStop::Lost));
        }
        let (mut at, mut more) = (from, to - from);
        let least = 0.5_f64.powi(HALVINGS) * more;
        // a part of a force that would hold the mechanism lets it pass
        let halves = from < to && self.paths.is_none();
        loop {
            let next = if at + more > to - 1e-3 * least { to } else { at + more };
            self.load(next)?;
            match self.iterate(0.0, self.bounds, watch)? {
                Ok(rest) if next == to => return Ok(Ok(rest)),
                Ok(_) => {
                    at = next;
                    more *= 2.0;
                }
                Err(NewtonStop::Lost) if halves && 0.5 * more >= least => more *= 0.5,
                Err(stop) => return Ok(Err(stop)),
            }
        }
    }

    /// Goes where a damped motion would, in steps that Newton's iteration solves while a metric holds it back. None where there is
    /// nothing elastic, or where they lead nowhere.
    pub fn relax(
        &mut self,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Result<Rest, NewtonStop>, SetupError> {
        if self.solvers.newton.is_none() {
            return Ok(Err(NewtonStop::Lost));
        }
        let bounds = IterationBounds { longest: SHORT, downhill: true };
        let here = self.rest()?;
        let still = vec![0.0; self.system.structure.nv];
        self.mechanism.tangent(&self.state, &still, &here.accel.lambda, &mut self.solvers.tangent);
        let typical = self.metric.stiffness(&here.eq, &self.solvers.tangent);
        let mut mu = LIGHT * typical;
        let mut unstable = None;
        let mut earlier = self.state.q.clone();
        for relaxation in 1..=RELAXATIONS {
            let made = self.counts.steps;
            let before = self.save();
            if self.paths.is_some() && relaxation % MAX_STALLED == 0 {
                // before a force that jumps it gets ever slower
                if !is_apart(&earlier, &before.state.q) {
                    break;
                }
                earlier.copy_from_slice(&before.state.q);
            }
            match self.iterate(mu, bounds, watch)? {
                // one that is not stable is left where anything leads away from it
                Ok(rest) if mu == 0.0 => {
                    let stays =
                        unstable.as_ref().is_some_and(|(_, _, last): &(Rest, SavedPosition, Vec<f64>)| {
                            *last == before.state.q
                        });
                    if stays || self.is_stable(&rest) != Some(false) {
                        return Ok(Ok(rest));
                    }
                    unstable = Some((rest, self.save(), before.state.q.clone()));
                    self.restore(&before)?;
                    mu = LEAST * typical;
                }
                // few steps: the next one may lead farther
                Ok(_) if self.counts.steps - made <= FEW => {
                    mu = if mu < LEAST * typical { 0.0 } else { 0.1 * mu }
                }
                Ok(_) => {}
                Err(stop @ NewtonStop::Met(_)) => return Ok(Err(stop)),
                Err(_) => mu = (5.0 * mu).max(LEAST * typical),
            }
        }
        match unstable {
            Some((rest, position, _)) => {
                self.restore(&position)?;
                Ok(Ok(rest))
            }
            None => Ok(Err(NewtonStop::Lost)),
        }
    }

    /// Newton's iteration under the loads at hand, held back by `mu` times the metric. Where it stops short, the state is as before.
    pub fn iterate(
        &mut self,
        mu: f64,
        bounds: IterationBounds,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Result<Rest, NewtonStop>, SetupError> {
        let before = (self.state.clone(), self.mechanism.discrete().to_vec());
        let done = self.try_iterate(mu, bounds, watch)?;
        if done.is_err() {
            self.state = before.0;
            self.mechanism.set_discrete(&before.1);
        }
        Ok(done)
    }

    fn try_iterate(
        &mut self,
        mu: f64,
        bounds: IterationBounds,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Result<Rest, NewtonStop>, SetupError> {
        let here =
            rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state).map_err(named(&self.system))?;
        let Some(newton) = &mut self.solvers.newton else { return Ok(Err(NewtonStop::Lost)) };
        newton.begin();
        if is_still(&here) {
            return Ok(Ok(here));
        }
        self.counts.residual = here.residual();
        if self.counts.trials > self.most {
            return Err(self.given_up(here.residual()));
        }
        watch(&self.counts);
        let start = (self.state.clone(), self.mechanism.discrete().to_vec());
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
            self.paths.as_mut(),
            &mut made,
        );
        self.counts.trials += made;
        if let Err(stop) = done {
            // what is rounding beside the loads is at rest where the iteration has no solution: along free motions
            let (at, discrete) = start;
            self.state = at;
            self.mechanism.set_discrete(&discrete);
            let here = self.within_rounding(here);
            let still = mu == 0.0 && stop == NewtonStop::Lost && is_still(&here);
            return Ok(if still { Ok(here) } else { Err(stop) });
        }
        if let Some(stops) = &mut self.stops {
            if stops.is_met(&mut self.mechanism, &self.state) {
                return Ok(Err(NewtonStop::Met(newton.way().to_vec())));
            }
            stops.arm(&mut self.mechanism, &self.state);
        }
        // rows that depended on each other may do so no more
        let Ok(there) = rest(&mut self.mechanism, &mut self.solvers.kkt, &self.state) else {
            return Ok(Err(NewtonStop::Lost));
        };
        let still = vec![0.0; self.system.structure.nv];
        let Solvers { newton: Some(newton), tangent, .. } = &mut self.solvers else {
            return Ok(Err(NewtonStop::Lost));
        };
        self.mechanism.tangent(&self.state, &still, &lambda, tangent);
        let there = if newton.is_rounding(&mut self.mechanism, &self.state, &lambda, tangent) {
            there.rounded()
        } else {
            there
        };
        // a last step that is short is no rest where forces are left
        if there.dependent.len() != here.dependent.len() || (mu == 0.0 && !is_rest(&there)) {
            return Ok(Err(NewtonStop::Lost));
        }
        if let Some(stops) = &mut self.stops {
            stops.watch_events(&mut self.mechanism, &self.state, (&there.eq, &there.accel))?;
        }
        self.counts.steps += made;
        Ok(Ok(there))
    }
}

/// Returns whether two positions are more than rounding apart.
fn is_apart(a: &[f64], b: &[f64]) -> bool {
    let size = b.iter().fold(1.0_f64, |most, q| most.max(q.abs()));
    a.iter().zip(b).any(|(a, b)| (a - b).abs() > MOVED * size)
}
