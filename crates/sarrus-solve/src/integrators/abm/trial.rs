//! One trial of a step, its end, and what follows for the order.

use super::formulas::{CAPACITY, Formulas};
use super::states::{add_compensated, add_times, scale_and_add, subtract};
use super::{Abm, EQUAL, FAILURES};
use crate::control::{StepControl, combine_slopes, error_norm, scaled_norm, with_rotation};
use crate::error::StepError;
use crate::problem::State;
use crate::views::Ode;

/// Errors of a trial, 1 being the tolerance.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrialErrors {
    /// Of order k, on this mesh: decides whether the step is taken.
    pub here: f64,
    /// Of orders k, k - 1 and k - 2, as at equal steps: decide on order and size. Infinite where there is no such order.
    pub at: [f64; 3],
}

impl TrialErrors {
    /// Those that are left where the projection takes away all but `along` of the error.
    pub fn left_with(&self, along: f64) -> TrialErrors {
        // what lies across the constraints tells nothing of lower orders
        let at = self.at[0] * along / self.here;
        TrialErrors { here: along, at: [at, f64::INFINITY, f64::INFINITY] }
    }

    /// Returns whether a lower order than `k` does as well.
    fn ask_for_less(&self, k: usize) -> bool {
        let [at, below, below2] = self.at;
        match k {
            1 => false,
            2 => below <= 0.5 * at,
            _ => below.max(below2) <= at,
        }
    }
}

impl Abm {
    /// Predicts, evaluates and corrects: the trial `end` at `t1`.
    pub(super) fn try_step(
        &mut self,
        ode: &mut dyn Ode,
        control: &mut StepControl,
        t1: f64,
    ) -> Result<TrialErrors, StepError> {
        let (k, h) = (self.order, t1 - self.start.t);
        self.formulas.update(&self.past, h, k);
        let Formulas { beta, g, sigma, .. } = &self.formulas;
        ode.begin_step(h);

        // predict
        let c: [f64; CAPACITY] = std::array::from_fn(|i| g[i] * beta[i]);
        combine_slopes(&mut self.delta, h, &c[..k], &self.phi);
        combine_slopes(&mut self.expected, 1.0, &beta[..k], &self.phi);
        let [carry, lost] = &mut self.carry;
        self.end.copy_from(&self.start);
        lost.copy_from(carry);
        add_compensated(&mut self.end, 1.0, &self.delta, lost);
        self.end.t = t1;

        // evaluate
        slope(ode, &self.end, &mut self.slope, control)?;
        subtract(&mut self.change, &self.slope, &self.expected);

        // correct
        add_compensated(&mut self.end, h * g[k], &self.change, lost);
        ode.normalize(&mut self.end.q);

        // errors: φ_{k+1}, φ_k, φ_{k-1} as predicted
        let groups = &ode.structure().groups;
        let mut at = [f64::INFINITY; 3];
        let mut here = 0.0;
        self.delta.copy_from(&self.change);
        for (below, at) in at.iter_mut().enumerate().take(k) {
            let i = k - below;
            if below > 0 {
                add_times(&mut self.delta, beta[i], &self.phi[i]);
            }
            let norm = h * scaled_norm(groups, control, &self.start, &self.end, &self.delta) / self.unit;
            *at = sigma[i] * self.moulton[i] * norm;
            if below == 0 {
                here = (g[k - 1] - g[k]).abs() * norm;
            }
        }
        Ok(TrialErrors { here: with_rotation(here, &ode.structure().angular, control, h, &self.end), at })
    }

    /// The error of the step just tried along the constraints, where the rest is taken away after a step.
    pub(super) fn error_along(&mut self, ode: &mut dyn Ode, control: &StepControl) -> Option<f64> {
        let Formulas { order: k, g, h, .. } = &self.formulas;
        combine_slopes(&mut self.delta, h * (g[k - 1] - g[*k]), &[1.0], std::slice::from_ref(&self.change));
        if !ode.project_tangent(&self.end, &mut self.delta) {
            return None;
        }
        let structure = ode.structure();
        Some(error_norm(structure, control, &self.start, &self.end, &self.delta) / self.unit)
    }

    /// Ends a step whose error is small enough.
    pub(super) fn finish(&mut self, ode: &mut dyn Ode, control: &mut StepControl) -> Result<(), StepError> {
        if !self.end.is_finite() {
            return Err(StepError::NotFinite { t: self.start.t });
        }
        let h = self.formulas.h;
        ode.finish_step(&mut self.end, h)?;
        let same = (h - self.past[0]).abs() <= EQUAL * h;
        self.equal = if same { self.equal + 1 } else { 1 };
        self.past = self.formulas.psi;
        self.carry.swap(0, 1);
        (self.accepted, self.differences) = (true, false);
        // where this fails the step is taken all the same; the caller that needs the slope tries again, and hears of it
        let _ = self.find_differences(ode, control);
        Ok(())
    }

    /// The second evaluation: the differences at `end`.
    pub(super) fn find_differences(
        &mut self,
        ode: &mut dyn Ode,
        control: &mut StepControl,
    ) -> Result<(), StepError> {
        if self.differences {
            return Ok(());
        }
        slope(ode, &self.end, &mut self.slope, control)?;
        let Formulas { order: k, beta, .. } = &self.formulas;
        subtract(&mut self.change, &self.slope, &self.expected);

        // φ_{k+2}
        combine_slopes(&mut self.delta, -beta[*k], &[1.0], std::slice::from_ref(&self.phi[*k]));
        add_times(&mut self.delta, 1.0, &self.change);
        std::mem::swap(&mut self.phi[k + 1], &mut self.delta);

        // φ_{k+1} is the change, each one below the sum of the one above and its old self
        self.phi[*k].copy_from(&self.change);
        for i in (1..*k).rev() {
            let (phi, above) = self.phi.split_at_mut(i + 1);
            scale_and_add(&mut phi[i], beta[i], &above[0]);
        }
        self.phi[0].copy_from(&self.slope);
        self.differences = true;
        Ok(())
    }

    /// Decides on the next order after a step with `errors`; returns the next size. One that has just been changed does not grow.
    pub(super) fn plan(
        &mut self,
        ode: &dyn Ode,
        control: &StepControl,
        errors: &TrialErrors,
        changed: bool,
    ) -> f64 {
        let (k, h) = (self.formulas.order, self.formulas.h);
        let [at, below, _] = errors.at;
        let less = errors.ask_for_less(k);
        self.starting &= !less && k < self.max_order;

        let mut error = at;
        if self.starting {
            self.order = k + 1;
            return h * self.limits.growth;
        } else if less {
            (self.order, error) = (k - 1, below);
        } else if self.equal > k && self.differences {
            let norm =
                scaled_norm(&ode.structure().groups, control, &self.start, &self.end, &self.phi[k + 1]);
            let above = h * self.moulton[k + 1] * norm / self.unit;
            if k > 1 && below <= at.min(above) {
                (self.order, error) = (k - 1, below);
            } else if k < self.max_order && above < if k == 1 { 0.5 * at } else { at } {
                (self.order, error) = (k + 1, above);
            }
        }

        let factor = self.limits.safety * error.powf(-1.0 / (self.order + 1) as f64);
        if factor >= self.limits.growth && !changed {
            h * self.limits.growth
        } else if factor >= 1.0 {
            h
        } else {
            h * factor.clamp(0.5, 0.9)
        }
    }

    /// Lowers the order, if need be, after a trial with `errors`, or with none, that was failure number `failures` of its step;
    /// returns the factor for its size.
    pub(super) fn after_failure(&mut self, errors: Option<TrialErrors>, failures: u32) -> f64 {
        let k = self.order;
        if failures >= FAILURES {
            // as at the start of a run: what lies further back is of no use
            (self.order, self.starting) = (1, true);
        } else if errors.is_some_and(|e| e.ask_for_less(k)) {
            self.order = k - 1;
        }
        match errors {
            // at order 1 the error goes with h²
            Some(e) if failures > FAILURES && e.at[0].is_finite() => {
                (self.limits.safety * e.at[0].powf(-0.5)).clamp(0.1, 0.5)
            }
            _ => 0.5,
        }
    }
}

/// Evaluates the right-hand side at `s`.
pub(super) fn slope(
    ode: &mut dyn Ode,
    s: &State,
    out: &mut State,
    control: &mut StepControl,
) -> Result<(), StepError> {
    control.counts.rhs += 1;
    ode.rhs(s, &mut out.q, &mut out.v, &mut out.x).map_err(|source| StepError::Solve { t: s.t, source })
}
