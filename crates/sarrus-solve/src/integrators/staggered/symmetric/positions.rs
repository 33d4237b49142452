//! Describes where a step of the symmetric form ends: the drift, and λ⁺ from Φ there.

use super::super::modules::{Modules, at};
use super::SymmetricStaggered;
use crate::error::{SolveError, StepError};
use crate::problem::{Stage, State, Structure};
use crate::staggered::{add_J_mul, add_Jt_mul};
use crate::views::Staggered;

/// Corrections of λ⁺ for one evaluation of Φ at most, and the correction of w, relative in the metric of M, that asks for no other.
const CORRECTIONS: u32 = 5;
const ENOUGH: f64 = 3e-4;
/// The same of one whose square is rounding: w, corrected to first order, is exact.
const LINEAR: f64 = 1e-7;
/// The same of one that shows λ⁺ to be smooth from step to step.
const SMOOTH: f64 = 1e-5;
/// The same of one that need not be made.
const DONE: f64 = 1e-9;
/// Φ that is rounding, relative to the largest position: its own, and what predictions make of that of the steps before.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

impl SymmetricStaggered {
    /// Returns whether Φ at the `end` that the predicted λ⁺ leads to, with the J that has been taken there, asks for no correction worth
    /// making. One that is found is noted all the same, for the next prediction.
    pub(super) fn confirm(
        &mut self,
        m: &mut Modules,
        s: &Structure,
        end: &State,
        h: f64,
        kinetic: f64,
    ) -> Result<bool, SolveError> {
        // along a chain of many bodies the rounding of Φ adds up to corrections that are not small, but mean nothing
        if self.is_rounding(s, end) {
            return Ok(true);
        }
        self.violation(s, h, false);
        let SymmetricStaggered { r: [r, _], eta: [eta, _], missed, .. } = self;
        m.multipliers.solve(r, eta)?;
        if dot(r, eta) > DONE * DONE * kinetic {
            return Ok(false);
        }
        missed.iter_mut().zip(&*eta).for_each(|(l, eta)| *l += 2.0 / h * eta);
        Ok(true)
    }

    /// Returns whether Φ at the `end` is rounding. Rows without Φ have a rounding that is not known here: no.
    fn is_rounding(&self, s: &Structure, end: &State) -> bool {
        let limit = ROUNDING * end.q.iter().fold(0.0_f64, |most, q| most.max(q.abs()));
        let phi = &self.eq[1].phi;
        !self.has_velocity_rows && s.holonomic_rows().all(|r| phi[r].iter().all(|x| x.abs() <= limit))
    }

    /// λ⁺ and the end, from Φ there; `is_evaluated` where Φ and J have been, at the place that w leads to, and the first correction
    /// has been found.
    pub(super) fn find_end(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
        kinetic: f64,
        is_evaluated: bool,
    ) -> Result<(), StepError> {
        let stage = if self.has_velocity_rows { Stage::VELOCITY } else { Stage::POSITION };
        for pass in 0..self.iterations {
            let solved = pass == 0 && is_evaluated;
            if !solved {
                view.update(end, stage, &mut self.eq[1]);
            }
            m.corrections += 1;
            let corrected = self.correct(m, view.structure(), h, kinetic, solved).map_err(at(end))?;
            if pass == 0 {
                self.is_smooth = corrected <= SMOOTH * SMOOTH * kinetic;
                let well = self.is_rounding(view.structure(), end) || corrected <= DONE * DONE * kinetic;
                self.good = if well { self.good + 1 } else { 0 };
            }
            if corrected <= LINEAR * LINEAR * kinetic {
                // w is already what open would make of the impulse
                self.set_positions(m, view, start, end, h);
            } else {
                self.drift(m, view, start, end, h, true)?;
            }
            // what is left is of the order of the square
            let enough = if self.is_thorough { LINEAR } else { ENOUGH };
            if corrected <= enough * enough * kinetic {
                break;
            }
        }
        Ok(())
    }

    /// Corrects λ⁺, the impulse and w until Φ, taken on linearly, vanishes; returns the size of the correction, squared in the
    /// metric of M. The first is at hand where it is `solved`.
    fn correct(
        &mut self,
        m: &mut Modules,
        s: &Structure,
        h: f64,
        kinetic: f64,
        solved: bool,
    ) -> Result<f64, SolveError> {
        self.delta.fill(0.0);
        // what is known fades, so that it is found anew now and then
        self.share = (1.2 * self.share).min(1.0);
        let (mut corrected, mut last) = (0.0, f64::INFINITY);
        for pass in 0..CORRECTIONS {
            if pass > 0 || !solved {
                self.violation(s, h, pass > 0);
                m.multipliers.solve(&self.r[0], &mut self.eta[0])?;
            }
            let SymmetricStaggered { eq: [here, _], r: [r, _], eta: [eta, _], plus, missed, .. } = self;
            let SymmetricStaggered { impulse, v, w, change, moved, delta, .. } = self;
            v.fill(0.0);
            add_Jt_mul(s, here, eta, v);
            m.motion.respond(v, h, change, moved);
            for (i, eta) in eta.iter().enumerate() {
                plus[i] += 2.0 / h * eta;
                missed[i] += 2.0 / h * eta;
            }
            for i in 0..v.len() {
                impulse[i] -= v[i];
                w[i] -= change[i];
                delta[i] -= moved[i];
            }
            let size = dot(r, eta);
            corrected += size;
            // small enough, as far as one correction's share of the one before it is known, or rounding
            if pass > 0 {
                self.share = (size / last).min(1.0);
            }
            if size * self.share <= DONE * DONE * kinetic || size > 0.25 * last {
                break;
            }
            last = size;
        }
        Ok(corrected)
    }

    /// w from the impulse, and the end that it leads to.
    pub(super) fn drift(
        &mut self,
        m: &mut Modules,
        view: &dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
        warm: bool,
    ) -> Result<(), StepError> {
        if !m.motion.open(&start.v, &self.impulse, h, warm, &mut self.w) {
            return Err(StepError::NoStep { t: start.t, h });
        }
        self.set_positions(m, view, start, end, h);
        Ok(())
    }

    /// Moves `end` to where w leads from `start`.
    fn set_positions(
        &mut self,
        m: &mut Modules,
        view: &dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
    ) {
        m.motion.displace(&self.w, h, &mut self.delta);
        end.q.copy_from_slice(&start.q);
        view.retract(&mut end.q, &self.delta);
    }

    /// Computes what w leaves to be corrected, as a velocity: (Φ + J δ)/h, δ being how far the end has moved since Φ was evaluated, if it
    /// has, or the mean of ψ over both ends.
    fn violation(&mut self, s: &Structure, h: f64, moved: bool) {
        let SymmetricStaggered { eq: [here, there], r: [r, mean], delta, w, .. } = self;
        if moved {
            r.copy_from_slice(&there.phi);
            add_J_mul(s, there, delta, r);
            r.iter_mut().for_each(|r| *r /= h);
        } else {
            r.iter_mut().zip(&there.phi).for_each(|(r, phi)| *r = phi / h);
        }
        if self.has_velocity_rows {
            mean.iter_mut().zip(&here.phi_t).zip(&there.phi_t).for_each(|((m, a), b)| *m = a + b);
            add_J_mul(s, here, w, mean);
            add_J_mul(s, there, w, mean);
            for row in &s.rows {
                let rows = row.start + row.holonomic..row.start + row.size;
                r[rows.clone()].iter_mut().zip(&mean[rows]).for_each(|(r, m)| *r = 0.5 * m);
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
