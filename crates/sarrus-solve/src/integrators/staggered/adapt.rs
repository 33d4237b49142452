//! Steps of the symmetric form that follow the tolerances.

use super::StaggeredMethod;
use super::modules::at;
use crate::control::{StepControl, error_norm};
use crate::error::StepError;
use crate::problem::Stage;
use crate::views::Staggered;

/// The estimate of a step's error is of size h³.
const POWER: u32 = 3;
/// A first step that is not given is this fraction of the stability limit, at most.
const FIRST_STEP: f64 = 0.1;

impl StaggeredMethod {
    /// Steps of decreasing size until one is accepted; returns its error and the number given up.
    pub(super) fn adapt(
        &mut self,
        view: &mut dyn Staggered,
        control: &mut StepControl,
    ) -> Result<(f64, u32), StepError> {
        let t = self.start.t;
        let h_min = control.min_step(t, &self.limits);
        let first = || {
            let left = control.t_end - t;
            let limit = self.highest.map_or(f64::INFINITY, |omega| 2.0 * FIRST_STEP / omega);
            // an error of h³ v̈, v̈ being about v̇ over the time that v̇ changes v
            limit.min(left).min(control.rtol.max(f64::EPSILON).powf(1.0 / 3.0))
        };
        let mut wanted = control.proposal().unwrap_or_else(first).max(h_min);
        let mut rejected = 0;
        loop {
            let t1 = control.adaptive_end(t, wanted);
            let h = t1 - t;
            let tried = self.try_step(view, control, t1).and_then(|()| self.error(view, control));
            let (shorter, reason) = match tried {
                Ok(error) if error <= 1.0 => {
                    // for the report only: what is too large for stability is so for the tolerance
                    self.check_step();
                    self.refine_positions(view)?;
                    self.finish(view, control);
                    control.accept(h, wanted, error, POWER, rejected > 0, &self.limits);
                    return Ok((error, rejected));
                }
                Ok(error) => {
                    (self.limits.after_rejection(h, error, POWER), StepError::StepTooSmall { t, h_min })
                }
                Err(reason) => (0.5 * h, reason),
            };
            rejected += 1;
            control.counts.rejected += 1;
            if wanted <= h_min || h <= h_min {
                return Err(reason);
            }
            self.chain.again(&mut self.modules, view, &self.start)?;
            wanted = shorter.max(h_min);
        }
    }

    /// The error of the step just tried, in units of the tolerance.
    fn error(&mut self, view: &dyn Staggered, control: &StepControl) -> Result<f64, StepError> {
        let StaggeredMethod { modules, chain, adaptive: Some(estimate), start, end, .. } = self else {
            return Ok(0.0);
        };
        let (accel, xdot) = chain.ends();
        estimate.find(view, [start, end], accel, xdot);
        if let Some((eq, _, _)) = chain.end() {
            estimate.project_tangent(modules, view, eq, end)?;
        }
        Ok(error_norm(view.structure(), control, start, end, estimate.delta(view, end)))
    }

    /// v̇, λ and ẋ where the step ends, at the velocities that it ends with: a step evaluates forces at predicted ones, which is as
    /// good for the motion, but an error of v̇ at the start of the next step would not fall with its size. A controller is not asked
    /// twice.
    fn refine_positions(&mut self, view: &mut dyn Staggered) -> Result<(), StepError> {
        let StaggeredMethod { modules, chain, adaptive: Some(estimate), end, .. } = self else {
            return Ok(());
        };
        let Some((_, accel, xdot)) = chain.end().filter(|_| modules.controller.is_none()) else {
            return Ok(());
        };
        let eq = estimate.equations(view);
        view.update(end, Stage::FORCE, eq);
        modules.evaluations += 1;
        modules.accelerate(view.structure(), eq, accel, 1).map_err(at(end))?;
        view.xdot(end, eq, accel, xdot);
        Ok(())
    }
}
