//! The search for rest where Newton's iteration alone would not do: far from it, or where nothing elastic holds the mechanism.
//!
//! Steps are Newton's, with the tangent K of the forces and of Jᵀλ, held back by a multiple of a metric G where they lead too far,
//!
//! ```text
//! (K + μG) δ + Jᵀν = M a,   J δ = 0,   q ← q ⊕ δ, brought back onto Φ = 0 in the metric G,
//! δᵀG δ = δᵀM δ + c Σ |turn of one body against the other|² over all that are tied together.
//! ```
//!
//! With M alone a long chain would be let down link by link, since where it is held a link turns n times as far as the chain sinks;
//! with c, the inertia of the whole, it swings down as one.
//!
//! δ must lead along the forces (δᵀM a > 0), so that where these have a potential it falls, and the equilibrium that is found is one
//! that a damped motion from the start would come to rest in, and not the nearest unstable one; a step over which they do no
//! work, and that does not lower a, is taken back. Steps are shortened to where force expressions and contacts are resolved on the way ([`Paths`]),
//! and where these push back at the end, to where they balance the others along the step. Cost: a sparse factorization a step. Not for slender
//! beams that bend far: a step along the tangent of their bending stretches them, which costs so much work that only short ones are let pass.

use super::equilibrium::EquilibriumSearch;
use super::linearize::mass_dot;
use super::metric::Metric;
use super::paths::Paths;
use super::rest::{Rest, rest};
use super::stops::{RUN, Stops};
use crate::error::SetupError;
use sarrus_math::solve::SparseLu;
use sarrus_solve::{Equations, Kkt, Problem, Stage, State, Tangent};
use sarrus_system::Mechanism;

/// Trials before giving up, and how many more there may be for steps that are shortened to what is resolved of them.
const TRIALS: u32 = 1000;
const MORE: u32 = 20_000;
/// An acceleration that is rest, relative to M⁻¹f.
const REST: f64 = 1e-11;
/// The same once no step makes it smaller.
pub(super) const NEARLY: f64 = 1e-8;
/// Forces that have become less than this part of the largest on the way vanish at the rest, as in a central field whose centre is the origin:
/// there is none left beside which to call one rounding.
const VANISHED: f64 = 1e-40;
/// Corrections that bring a position onto the constraints, at most.
const CORRECTIONS: u32 = 20;
/// A violation that is rounding, relative to the size of the mechanism ...
const ROUNDING: f64 = 1e-15;
/// ... and one that will do where corrections make it no smaller.
const ON: f64 = 1e-11;
/// Longest step \[rad, and relative to the size of the mechanism\].
const LONGEST: f64 = 0.3;
/// Number of times that a step is shortened to what is resolved of its path, which turns a little as it is brought back onto the constraints.
const SHORTENED: u32 = 10;
/// A part of a step that leads over a jump, and is not shortened.
const SHORTEST: f64 = 1e-8;
/// Defines what is left of the forces along a step where they are balanced, over that at its start.
const BALANCED: f64 = 0.5;
/// Halvings of a step in which they are: to a unit in the last place.
const HALVINGS: u32 = 50;

/// Samples controllers at a state, in its x, and returns by how much they change, relative to the largest that they were; none changes nothing.
pub(super) type ControllerSampler<'a> = &'a mut dyn FnMut(&mut Mechanism, &mut State, &Rest) -> f64;

/// Searches for rest from `state`, where all is as `here` says, with controllers sampled at every step. The rest that it has come to is close enough where it is [`is_rest`]. Where a stop is met, the
/// state is that before, and the way to the stop comes back too.
pub(super) fn search(
    mechanism: &mut Mechanism,
    kkt: &mut Kkt,
    tangent: &mut Tangent,
    state: &mut State,
    mut here: Rest,
    stops: &mut Option<Stops>,
    paths: &mut Option<Paths>,
    sample: ControllerSampler<'_>,
    counts: &mut EquilibriumSearch,
    watch: &mut dyn FnMut(&EquilibriumSearch),
) -> Result<(Rest, Option<Vec<f64>>), SetupError> {
    let system = mechanism.system().clone();
    let s = &system.structure;
    let size = state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));
    let (mut mu, mut stuck) = (0.0, false);
    let mut trial = state.clone();
    let metric = Metric::new(&system, state);
    let mut last = counts.trials + TRIALS;
    let most = last.saturating_add(MORE);
    let mut strongest = 0.0_f64;
    while counts.trials < last {
        strongest = strongest.max(here.full);
        if here.full <= VANISHED * strongest {
            here = here.rounded();
        }
        if is_still(&here) || (stuck && is_rest(&here)) {
            if sample(mechanism, state, &here) <= NEARLY {
                break;
            }
            let Ok(sampled) = rest(mechanism, kkt, state) else { break };
            (here, stuck) = (sampled, false);
            counts.trials += 1;
            continue;
        }
        counts.residual = here.residual();
        watch(counts);
        counts.trials += 1;
        mechanism.tangent(state, &vec![0.0; s.nv], &here.accel.lambda, tangent);
        let typical = metric.stiffness(&here.eq, tangent);
        let more = |mu: f64| (10.0 * mu).max(1e-3 * typical);
        let held = metric.entries(&system, state, &here.eq, mu);
        let Some(mut delta) = step(s, &here, tangent, held).filter(|delta| {
            let along = mass_dot(s, &here.eq, delta, &here.accel.vdot);
            along > 0.0 && delta.iter().all(|d| d.abs() <= LONGEST * size)
        }) else {
            mu = more(mu);
            continue;
        };
        let mut reach = Reach { mechanism, kkt, metric: &metric, paths, sample, here: &here };
        let (there, shortened) = reach.step(state, &mut delta, &mut trial)?;
        last = if shortened { (last + 1).min(most) } else { last };
        // the work of what is left of the forces over the step, by the trapezoidal rule: their potential falls, where they have one
        let better = |there: &Rest| {
            let work = |rest: &Rest| mass_dot(s, &rest.eq, &delta, &rest.accel.vdot);
            there.size < here.size || work(&here) + work(there) > 0.0
        };
        match there {
            Some(there) if better(&there) => {
                if let Some(stops) = stops {
                    if stops.is_met(mechanism, &trial) {
                        return Ok((here, Some(delta)));
                    }
                    stops.arm(mechanism, &trial);
                    stops.watch_events(mechanism, &trial, (&there.eq, &there.accel))?;
                }
                // a step of Newton's own that moves nothing is rounding
                let apart = |(a, b): (&f64, &f64)| (a - b).abs() > f64::EPSILON * size;
                let moves = mu > 0.0 || trial.q.iter().zip(&state.q).any(apart);
                state.copy_from(&trial);
                mechanism.accept(state);
                here = if moves { there } else { there.rounded() };
                counts.steps += 1;
                // a step nearly as long as it may be would be too long with less
                let long = delta.iter().fold(0.0_f64, |a, d| a.max(d.abs())) > 0.3 * LONGEST * size;
                mu = match mu {
                    mu if long => mu,
                    mu if mu < 1e-9 * typical => 0.0,
                    mu => 0.1 * mu,
                };
            }
            _ if is_rest(&here) => stuck = true,
            _ => mu = more(mu),
        }
    }
    counts.residual = here.residual();
    Ok((here, None))
}

/// Marks where steps from `here` lead.
struct Reach<'a, 's> {
    mechanism: &'a mut Mechanism,
    kkt: &'a mut Kkt,
    metric: &'a Metric,
    paths: &'a mut Option<Paths>,
    sample: &'a mut (dyn FnMut(&mut Mechanism, &mut State, &Rest) -> f64 + 's),
    here: &'a Rest,
}

impl Reach<'_, '_> {
    /// Takes `to` where δ leads from `state`, and shortens δ to what may be made of it; none where that is no position. Also returns whether that
    /// is less than δ.
    fn step(
        &mut self,
        state: &State,
        delta: &mut [f64],
        to: &mut State,
    ) -> Result<(Option<Rest>, bool), SetupError> {
        let mut whole = 1.0;
        for _ in 0..SHORTENED {
            if !self.move_state(state, delta, 1.0, to) {
                return Ok((None, false));
            }
            let can_check = whole > SHORTEST;
            let limit = self.paths.as_mut().filter(|_| can_check);
            let limit = limit.map(|paths| paths.limit(self.mechanism, state, to));
            let Some(limit) = limit.filter(|limit| limit.share < 1.0) else {
                let there = match self.rest(to) {
                    Some(there) if self.paths.is_some() => self.balance(state, delta, to, there)?,
                    there => there,
                };
                return Ok((there, whole < 1.0));
            };
            whole *= limit.share;
            delta.iter_mut().for_each(|d| *d *= limit.share);
        }
        Ok((None, false))
    }

    /// `to` where a share of δ leads from `state`; false where that is no position.
    fn move_state(&mut self, state: &State, delta: &[f64], share: f64, to: &mut State) -> bool {
        to.copy_from(state);
        let step: Vec<f64> = delta.iter().map(|d| share * d).collect();
        self.mechanism.retract(&mut to.q, &step);
        project(self.mechanism, self.metric, self.here, to)
    }

    /// The rest at `to`, sampled.
    fn rest(&mut self, to: &mut State) -> Option<Rest> {
        let there = rest(self.mechanism, self.kkt, to).ok()?;
        if (self.sample)(self.mechanism, to, &there) > 0.0 {
            return rest(self.mechanism, self.kkt, to).ok();
        }
        Some(there)
    }

    /// Where forces push back at `there`, shortens δ to where they are balanced along it: a stiff contact that has been met, the flank of a force.
    fn balance(
        &mut self,
        state: &State,
        delta: &mut [f64],
        to: &mut State,
        there: Rest,
    ) -> Result<Option<Rest>, SetupError> {
        let system = self.mechanism.system().clone();
        let s = &system.structure;
        let along = |rest: &Rest, delta: &[f64]| mass_dot(s, &rest.eq, delta, &rest.accel.vdot);
        let first = along(self.here, delta);
        if along(&there, delta) >= -BALANCED * first {
            return Ok(Some(there));
        }
        let (mut forth, mut back) = (0.0, 1.0);
        let mut ends = [state.clone(), to.clone()];
        for _ in 0..HALVINGS {
            let share = 0.5 * (forth + back);
            if !self.move_state(state, delta, share, to) {
                return Ok(None);
            }
            let Some(there) = self.rest(to) else { return Ok(None) };
            let left = along(&there, delta);
            if left.abs() <= BALANCED * first {
                delta.iter_mut().for_each(|d| *d *= share);
                return Ok(Some(there));
            }
            if left > 0.0 {
                forth = share;
                ends[0].copy_from(to);
            } else {
                back = share;
                ends[1].copy_from(to);
            }
        }
        let [from, to] = &ends;
        let jump = self.paths.as_mut().and_then(|paths| paths.jump(self.mechanism, from, to));
        jump.map_or(Ok(None), |force| {
            let what = format!(
                "the expression of {force} jumps where it stops the motion: nothing is balanced there"
            );
            Err(SetupError::NotStatic { what, hint: RUN })
        })
    }
}

/// Returns whether what is left of the forces is nothing beside them.
pub(super) fn is_rest(here: &Rest) -> bool {
    here.size <= (NEARLY * here.full).max(here.rounding)
}

/// The same, to rounding.
pub(super) fn is_still(here: &Rest) -> bool {
    here.size <= (REST * here.full).max(here.rounding)
}

/// δ of (K + μG) δ + Jᵀν = M a, J δ = 0, from the entries of μG; none where that has no solution.
fn step(
    s: &sarrus_solve::Structure,
    here: &Rest,
    tangent: &Tangent,
    mut entries: Vec<(usize, usize, f64)>,
) -> Option<Vec<f64>> {
    for pair in &tangent.pairs {
        let [row, col] = pair.at.map(|i| s.cols[i]);
        for i in 0..row.size {
            for j in 0..col.size {
                entries.push((row.start + i, col.start + j, tangent.K[pair.offset + i * col.size + j]));
            }
        }
    }
    let mut x = vec![0.0; s.nv + s.nc];
    here.eq.mass_mul(s, &here.accel.vdot, &mut x[..s.nv]);
    solve(s, &here.eq.J, &here.dependent, entries, x)
}

/// δ of A δ + Jᵀν = a, J δ = b, from the entries of A and x = (a, b); rows that depend on others take no part.
fn solve(
    s: &sarrus_solve::Structure,
    J: &[f64],
    dependent: &[usize],
    mut entries: Vec<(usize, usize, f64)>,
    mut x: Vec<f64>,
) -> Option<Vec<f64>> {
    let (nv, nc) = (s.nv, s.nc);
    let mut is_dependent = vec![false; nc];
    dependent.iter().for_each(|&row| is_dependent[row] = true);
    for row in &s.rows {
        for i in 0..row.size {
            let at = nv + row.start + i;
            // a row that depends on others takes no part
            if is_dependent[row.start + i] {
                entries.push((at, at, 1.0));
                continue;
            }
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                for j in 0..col.size {
                    let value = J[e.offset + i * col.size + j];
                    if value != 0.0 {
                        entries.push((at, col.start + j, value));
                        entries.push((col.start + j, at, value));
                    }
                }
            }
        }
    }
    SparseLu::new(nv + nc, &entries).ok()?.solve(&mut x).ok()?;
    x.truncate(nv);
    Some(x)
}

/// Brings `state` onto the constraints by the least displacement in the metric: G δ + Jᵀν = 0, J δ = -Φ. Returns whether it is there.
///
/// In the metric of M alone the light links of a long chain would turn far, and nothing be found.
pub(super) fn project(m: &mut Mechanism, metric: &Metric, here: &Rest, state: &mut State) -> bool {
    let system = m.system().clone();
    let s = &system.structure;
    let size = state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));
    let mut eq = Equations::new(m);
    let mut before = f64::INFINITY;
    for _ in 0..CORRECTIONS {
        m.update(state, Stage::POSITION, &mut eq);
        let off = eq.phi.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        // to rounding, or to where it gets no better
        if off <= ROUNDING * size || (off <= ON * size && off > 0.3 * before) {
            return true;
        }
        if !off.is_finite() || off > 2.0 * before {
            return false;
        }
        before = off;
        let mut x = vec![0.0; s.nv + s.nc];
        x[s.nv..].iter_mut().zip(&eq.phi).for_each(|(x, phi)| *x = -phi);
        here.dependent.iter().for_each(|&row| x[s.nv + row] = 0.0);
        let entries = metric.entries(&system, state, &eq, 1.0);
        let Some(delta) = solve(s, &eq.J, &here.dependent, entries, x) else { return false };
        m.retract(&mut state.q, &delta);
    }
    false
}
