//! Controllers at rest: states x that stay as they are, together with the rest of the mechanism under what they put out.
//!
//! With q(x) the rest of the mechanism where the states are held, r(x) = 0 is solved for: r = ẋ of a continuous controller, and what a sample
//! would change of a sampled one. Broyden's method \[Broyden1965\], with a step along each state at the start: as many rests of the
//! mechanism as there are states, and a few more. States that neither forces nor other such states read take no part: the integral of a controller
//! without `ki` grows for ever and does nothing. Controllers of kind `input` are set from outside, and stay as they are.
//!
//! Where outputs that are held leave the mechanism no rest, as of a cart whose place a controller alone keeps, sampled controllers act at every step of the
//! search ([`super::search`]) in place of that. Where that fails too, both are solved for at once ([`super::together_with_controllers`]). At rest what is delayed is
//! what is sampled. Refused by name: states that do not come to rest.

use super::branch::BranchEnd;
use super::equilibrium::EquilibriumSearch;
use super::rest::Rest;
use super::search::NEARLY;
use super::statics::{SavedPosition, Statics, StaticsOutcome};
use super::stops::RUN;
use super::together_with_controllers::together;
use crate::error::SetupError;
use sarrus_math::solve::SparseLu;
use sarrus_model::Model;
use sarrus_solve::{Accel, Equations, Problem, Stage, State};
use sarrus_system::{Mechanism, Sampler, System};
use std::sync::Arc;

/// First step along a state, relative to it: far above what the rest of the mechanism is found to, and small beside where laws bend.
const PROBE: f64 = 1e-3;
/// Extent to which states are moved to see whether anything reads them, relative: an output at its limit may have to leave that first.
const FAR: f64 = 1e6;
/// Steps, at most, over the number of states: for linear laws Broyden's method takes twice as many as there are states \[Gay1979\].
const STEPS: usize = 10;
/// Halvings of a step.
const HALVINGS: u32 = 10;

/// The states of controllers that come to rest with the mechanism.
pub(super) struct ControllerStates {
    sampler: Option<Sampler>,
    /// True if some are not sampled.
    continuous: bool,
    /// Places in x, each with its controller.
    states: Vec<(usize, String)>,
}

impl ControllerStates {
    /// Of a model whose mechanism starts at `state`; none where nothing is controlled.
    pub fn new(
        model: &Model,
        system: &Arc<System>,
        mechanism: &mut Mechanism,
        state: &State,
        span: (f64, f64),
    ) -> Result<Option<ControllerStates>, SetupError> {
        let mut states = Vec::new();
        let (mut sampled, mut continuous) = (false, false);
        for element in system.controllers.iter().filter(|c| !c.controller.is_input()) {
            let own = match element.controller.sampling() {
                Some(sampling) => sampling.outputs + sampling.states,
                None => element.controller.states(),
            };
            sampled |= element.controller.sampling().is_some();
            continuous |= element.controller.sampling().is_none() && own > 0;
            states.extend((element.x..element.x + own).map(|i| (i, element.name.clone())));
        }
        let sampler = if sampled {
            Some(Sampler::new(model, system, span, &[]).map_err(SetupError::Model)?.static_sampler())
        } else {
            None
        };
        let mut control = ControllerStates { sampler, continuous, states };
        control.keep_read(mechanism, state);
        // without states too, as of a proportional one, outputs change with the position
        let controls = system.controllers.iter().any(|c| !c.controller.is_input());
        let acts = controls && !mechanism.control_tangent(state).acts.is_empty();
        Ok((acts || !control.states.is_empty()).then_some(control))
    }

    /// Leaves out states that no force reads, and no state that is kept.
    fn keep_read(&mut self, mechanism: &mut Mechanism, state: &State) {
        let (mut eq, accel) = (Equations::new(mechanism), Accel::zeros(mechanism.structure()));
        let mut check = |control: &ControllerStates, s: &State| {
            mechanism.update(s, Stage::FORCE, &mut eq);
            (eq.f.clone(), control.rates(mechanism, s, &eq, &accel))
        };
        let (force, rates) = check(self, state);
        let n = self.states.len();
        let (mut retained, mut reads) = (vec![false; n], vec![false; n * n]);
        for j in 0..n {
            let index = self.states[j].0;
            for by in [PROBE, -PROBE, FAR, -FAR] {
                let mut moved = state.clone();
                moved.x[index] += by * state.x[index].abs().max(1.0);
                let (other, changed) = check(self, &moved);
                retained[j] |= other != force;
                (0..n).for_each(|i| reads[i * n + j] |= changed[i] != rates[i]);
            }
        }
        while let Some(j) = (0..n).find(|&j| !retained[j] && (0..n).any(|i| retained[i] && reads[i * n + j]))
        {
            retained[j] = true;
        }
        let mut retained = retained.into_iter();
        self.states.retain(|_| retained.next().unwrap_or(false));
    }

    /// r at `s`, with the equations and accelerations there.
    pub fn rates(&self, mechanism: &mut Mechanism, s: &State, eq: &Equations, accel: &Accel) -> Vec<f64> {
        let mut xdot = vec![0.0; s.x.len()];
        mechanism.observe(s, |_| ());
        mechanism.xdot(s, eq, accel, &mut xdot);
        if let Some(sampler) = &self.sampler {
            let mut after = s.clone();
            sampler.clone().act(mechanism, &mut after, Some((eq, accel)));
            let change = after.x.iter().zip(&s.x).map(|(after, before)| after - before);
            xdot.iter_mut().zip(change).for_each(|(xdot, change)| *xdot += change);
        }
        self.states.iter().map(|(index, _)| xdot[*index]).collect()
    }

    /// Indices of the states in x.
    pub fn state_indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.states.iter().map(|(index, _)| *index)
    }

    /// Returns why no one says whether a rest with them is stable.
    pub fn untold(&self, system: &System) -> String {
        if self.sampler.is_none() {
            return "controllers act: whether the rest is stable, `sarrus modes` shows".into();
        }
        let sampled = system.controllers.iter().filter(|c| c.controller.sampling().is_some());
        let names: Vec<String> = sampled.map(|c| format!("`{}`", c.name)).collect();
        format!(
            "whether the rest is stable under what {} samples is not checked: a run from a nearby state shows",
            names.join(", ")
        )
    }

    /// Returns whether some are sampled.
    pub fn is_sampled(&self) -> bool {
        self.sampler.is_some()
    }

    /// r at a rest of `statics`.
    fn rates_at(&self, statics: &mut Statics<'_>, rest: &Rest) -> Vec<f64> {
        self.rates(&mut statics.mechanism, &statics.state, &rest.eq, &rest.accel)
    }

    /// Takes mechanism and states from rest under one share of the loads to rest under another.
    pub fn bring_on(
        &self,
        statics: &mut Statics<'_>,
        shares: [f64; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<(StaticsOutcome, Option<BranchEnd>), SetupError> {
        let start = statics.save();
        let one_by_one = self.solve_in_sequence(statics, shares, watch);
        let (found, end) = match one_by_one {
            Ok((found, end)) if found.found => (found, end),
            other => match together(self, statics, &start, shares[1])? {
                Some(found) => (found, None),
                None => return other,
            },
        };
        if let Some(sampler) = &self.sampler {
            let Statics { mechanism, state, .. } = statics;
            sampler.clone().act(mechanism, state, Some((&found.rest.eq, &found.rest.accel)));
        }
        Ok((found, end))
    }

    /// The same with the states held while the mechanism comes to rest.
    fn solve_in_sequence(
        &self,
        statics: &mut Statics<'_>,
        shares: [f64; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<(StaticsOutcome, Option<BranchEnd>), SetupError> {
        let start = statics.save();
        let (mut found, end) = statics.bring_on(shares, watch)?;
        if !found.found {
            let sampled = self.sampled(statics, &start, watch)?;
            return Ok((sampled.unwrap_or(found), end));
        }
        let n = self.states.len();
        let mut r = self.rates_at(statics, &found.rest);
        let to = [shares[1]; 2];
        let Some(mut B) = self.probe(statics, &r, to, watch)? else {
            return match self.sampled(statics, &start, watch)? {
                Some(found) => Ok((found, end)),
                None => Err(self.restless(&r)),
            };
        };
        // the terms of r, with which it is compared
        let terms = |x: &State, r: &[f64], B: &[f64]| -> Vec<f64> {
            let term = |i: usize, j: usize| (B[i * n + j] * x.x[self.states[j].0]).abs();
            (0..n).map(|i| (0..n).fold(r[i].abs(), |most, j| most.max(term(i, j)))).collect()
        };
        let mut scale = terms(&statics.state, &r, &B);
        let size = |r: &[f64], scale: &[f64]| {
            let parts = r.iter().zip(scale).map(|(r, s)| if *r == 0.0 { 0.0 } else { r.abs() / s });
            parts.fold(0.0_f64, f64::max)
        };
        for _ in 0..STEPS * n {
            if size(&r, &scale) <= NEARLY {
                return Ok((found, end));
            }
            let Some(full) = solve(&B, &r) else { break };
            let before = statics.save();
            let mut taken = None;
            for halving in 0..HALVINGS {
                let step: Vec<f64> = full.iter().map(|d| d * 0.5_f64.powi(halving as i32)).collect();
                statics.restore(&before)?;
                self.states.iter().zip(&step).for_each(|((index, _), d)| statics.state.x[*index] += d);
                let (there, _) = statics.bring_on(to, watch)?;
                if !there.found {
                    continue;
                }
                let now = self.rates_at(statics, &there.rest);
                if size(&now, &scale) < size(&r, &scale) {
                    taken = Some((there, now, step));
                    break;
                }
            }
            let Some((there, now, step)) = taken else {
                statics.restore(&before)?;
                break;
            };
            let length: f64 = step.iter().map(|d| d * d).sum();
            for i in 0..n {
                let reported: f64 = (0..n).map(|j| B[i * n + j] * step[j]).sum();
                (0..n).for_each(|j| B[i * n + j] += (now[i] - r[i] - reported) * step[j] / length);
            }
            let grown = terms(&statics.state, &now, &B);
            scale.iter_mut().zip(grown).for_each(|(scale, grown)| *scale = scale.max(grown));
            (found, r) = (there, now);
        }
        if size(&r, &scale) <= NEARLY {
            return Ok((found, end));
        }
        let relative: Vec<f64> = r.iter().zip(&scale).map(|(r, s)| r / s).collect();
        Err(self.restless(&relative))
    }

    /// The controller whose states change most.
    fn restless(&self, r: &[f64]) -> SetupError {
        let worst = (0..r.len()).max_by(|&i, &j| r[i].abs().total_cmp(&r[j].abs()));
        let name = worst.map_or("", |i| self.states[i].1.as_str());
        let what = format!("states of controller `{name}` do not come to rest with it");
        SetupError::NotStatic { what, hint: RUN }
    }

    /// The rest that a search from `start` finds while controllers, all of them sampled, act at every step; none where there is none.
    fn sampled(
        &self,
        statics: &mut Statics<'_>,
        start: &SavedPosition,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Option<StaticsOutcome>, SetupError> {
        if self.continuous || self.sampler.is_none() {
            return Ok(None);
        }
        statics.restore(start)?;
        let mut largest = vec![0.0_f64; self.states.len()];
        let mut sample = |mechanism: &mut Mechanism, state: &mut State, rest: &Rest| {
            let r = self.rates(mechanism, state, &rest.eq, &rest.accel);
            let mut most = 0.0_f64;
            for (((index, _), r), largest) in self.states.iter().zip(r).zip(&mut largest) {
                state.x[*index] += r;
                *largest = largest.max(state.x[*index].abs()).max(r.abs());
                most = if r == 0.0 { most } else { most.max(r.abs() / *largest) };
            }
            most
        };
        let found = statics.search_sampled(&mut sample, watch)?;
        Ok(found.filter(|found| found.found))
    }

    /// ∂r/∂x by a step along each state, none where that leaves no rest; the mechanism is as before.
    fn probe(
        &self,
        statics: &mut Statics<'_>,
        r: &[f64],
        to: [f64; 2],
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<Option<Vec<f64>>, SetupError> {
        let n = self.states.len();
        let mut B = vec![0.0; n * n];
        if r.iter().all(|r| *r == 0.0) {
            return Ok(Some(B));
        }
        let before = statics.save();
        for (j, (index, _)) in self.states.iter().enumerate() {
            let size = before.state.x[*index].abs().max(r[j].abs());
            let step = if size > 0.0 { PROBE * size } else { PROBE };
            statics.state.x[*index] += step;
            let (there, _) = statics.bring_on(to, watch)?;
            if !there.found {
                statics.restore(&before)?;
                return Ok(None);
            }
            let now = self.rates_at(statics, &there.rest);
            (0..n).for_each(|i| B[i * n + j] = (now[i] - r[i]) / step);
            statics.restore(&before)?;
        }
        Ok(Some(B))
    }
}

/// The step B⁻¹(-r); none where B is singular.
fn solve(B: &[f64], r: &[f64]) -> Option<Vec<f64>> {
    let n = r.len();
    let entries: Vec<(usize, usize, f64)> = (0..n * n).map(|k| (k / n, k % n, B[k])).collect();
    let mut x: Vec<f64> = r.iter().map(|r| -r).collect();
    SparseLu::new(n, &entries).ok()?.solve(&mut x).ok()?;
    Some(x)
}
