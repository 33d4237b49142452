//! The staggered procedure: motion and multipliers in separate modules, asked in turn \[Park1990\].
//!
//! Solves M v̇ + Jᵀλ = f with the constraints themselves, not their second derivatives: no formulation and no stabilization take
//! part. Three forms, each described in its file:
//!
//! | `form` | what | order | over long runs |
//! |---|---|---|---|
//! | `symmetric` | one chain in the manner of RATTLE, rotations by the exponential map | 2 in q, v and λ | energy error and violations bounded |
//! | `paper` | the two-stage procedure of the paper, corrected | 2 in q, v and λ | positions drift, energy may; on nonholonomic motions, and where dependent rows drift, the two chains come apart exponentially whatever the step: seconds, not minutes |
//! | `one_step` | one chain of central differences, velocities of forces extrapolated | 2 in q, v and λ | violations bounded; energy grows slowly, fast spin is damped |
//!
//! **Steps** are fixed. All forms are central differences, stable for ω h ≤ 2, ω being the highest frequency or rate of turning:
//! it is estimated at the start and watched along the run, and a step that is too large is an error that says so. With
//! `adaptive = "yes"` (symmetric form only) steps follow the tolerances, from the difference to a quadrature of the accelerations
//! of third order through three instants; energy is then no longer bounded.
//!
//! **Multipliers** by [`multipliers`](StaggeredStep::multipliers): λ at the end of the step, of second order. In the results of a
//! run reactions are those of the equations of motion at the state shown, which is the same λ to second order.
//!
//! Needs smooth forces with no strong damping: c h/m < 1. Costs one evaluation of all equations, one of Φ and J, a factorization
//! and a few solutions a step, all O(N). For long runs at moderate accuracy, and for many bodies; for tight tolerances take
//! `dop853`.

mod adapt;
mod chain;
mod error;
pub(crate) mod modules;
mod one_step;
pub(super) mod options;
mod symmetric;
mod two_stage;

use super::between::StepInterpolant;
use crate::control::{StepControl, StepLimits};
use crate::error::StepError;
use crate::findings::MethodStatistics;
use crate::problem::{State, Structure};
use crate::rotations::{MOST_ROTATION, resolved};
use crate::staggered::{
    CentralDifference, Epsilon, MotionModule, MultiplierController, MultiplierModule, SparseMultipliers,
    StepVerdict, VariationalMotion,
};
use crate::views::{Staggered, StaggeredStep, StepInfo};
use chain::Chain;
use error::ErrorEstimate;
use modules::{Modules, at};
use one_step::OneStep;
use symmetric::SymmetricStaggered;
use two_stage::TwoStage;

/// Identifies which form of the procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaggeredForm {
    /// One chain, in the manner of RATTLE.
    Symmetric,
    /// Two chains, as in the paper.
    Paper,
    /// One chain of central differences.
    OneStep {
        /// Describes how many velocities those at an instant are extrapolated from, 1 to 3.
        points: u32,
    },
}

/// The staggered procedure with its modules.
pub struct StaggeredMethod {
    modules: Modules,
    chain: Box<dyn Chain>,
    limits: StepLimits,
    adaptive: Option<ErrorEstimate>,
    /// True if the modules know the problem.
    prepared: bool,
    /// True if `start`, `end` and the chain belong to an accepted step.
    accepted: bool,
    start: State,
    end: State,
    between: StepInterpolant,
    /// The most that a step may rotate a body \[rad\].
    rotation_limit: f64,
    /// The highest frequency found at the start \[rad/s\].
    highest: Option<f64>,
}

impl StaggeredMethod {
    /// A form with its own modules; at most `iterations` evaluations of positions in a step, `adaptive` where steps follow the
    /// tolerances (symmetric form only).
    pub fn new(form: StaggeredForm, epsilon: Epsilon, iterations: u32, adaptive: bool) -> StaggeredMethod {
        let motion: Box<dyn MotionModule> = match form {
            StaggeredForm::Symmetric => Box::new(VariationalMotion::default()),
            StaggeredForm::Paper | StaggeredForm::OneStep { .. } => Box::new(CentralDifference::default()),
        };
        let chain: Box<dyn Chain> = match form {
            StaggeredForm::Symmetric => Box::new(SymmetricStaggered::new(iterations.max(1), adaptive)),
            StaggeredForm::Paper => Box::new(TwoStage::new()),
            StaggeredForm::OneStep { points } => Box::new(OneStep::new(points)),
        };
        StaggeredMethod {
            modules: Modules::new(motion, Box::new(SparseMultipliers::new(epsilon))),
            chain,
            limits: StepLimits { growth: 2.0, ..StepLimits::default() },
            adaptive: (adaptive && form == StaggeredForm::Symmetric).then(ErrorEstimate::default),
            prepared: false,
            accepted: false,
            start: State::default(),
            end: State::default(),
            between: StepInterpolant::default(),
            // central differences of quaternions lag by θ²/48
            rotation_limit: if form == StaggeredForm::Symmetric {
                MOST_ROTATION
            } else {
                resolved(1.0 / 48.0)
            },
            highest: None,
        }
    }

    /// With another motion module.
    pub fn with_motion(mut self, motion: Box<dyn MotionModule>) -> StaggeredMethod {
        self.modules.motion = motion;
        self
    }

    /// With another multiplier module.
    pub fn with_multipliers(mut self, multipliers: Box<dyn MultiplierModule>) -> StaggeredMethod {
        self.modules.multipliers = multipliers;
        self
    }

    /// With a controller between the modules. Its forces are in the motion and in
    /// [`multipliers`](StaggeredStep::multipliers); what evaluates the problem by itself knows nothing of them:
    /// accelerations shown, and the steps that lead past singular positions ([`Dynamics::regularize`](crate::Dynamics::regularize)).
    pub fn with_controller(mut self, controller: Box<dyn MultiplierController>) -> StaggeredMethod {
        self.modules.controller = Some(controller);
        self
    }

    /// Makes `start` that of `s`, with what is known there.
    fn start_from(&mut self, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let known = self.accepted && self.end == *s;
        self.accepted = false;
        if known {
            std::mem::swap(&mut self.start, &mut self.end);
            self.chain.advance_start();
            return Ok(());
        }
        self.start.copy_from(s);
        if !self.prepared {
            self.prepare_modules(view, s)?;
        }
        self.modules.watch.restart(view.structure());
        if let Some(estimate) = &mut self.adaptive {
            estimate.restart(view.structure());
        }
        self.chain.begin(&mut self.modules, view, s)?;
        if !self.prepared {
            self.prepared = true;
            let (eq, accel) = (self.chain.equations(), &self.chain.ends().0[0]);
            self.highest = self.modules.highest(view, s, eq, accel).map_err(at(s))?;
            self.modules.watch.expect(self.highest.unwrap_or(0.0));
            self.modules.multipliers.load_jacobian(view.structure(), eq).map_err(at(s))?;
        }
        Ok(())
    }

    fn prepare_modules(&mut self, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let mut eq = view.equations();
        view.update(s, crate::problem::Stage::POSITION, &mut eq);
        self.modules.prepare(view.structure(), &eq).map_err(at(s))?;
        self.chain.prepare(view.structure(), &eq);
        Ok(())
    }

    /// Computes `end` at `t1`.
    fn try_step(
        &mut self,
        view: &mut dyn Staggered,
        control: &StepControl,
        t1: f64,
    ) -> Result<(), StepError> {
        let (t, h) = (self.start.t, t1 - self.start.t);
        self.end.t = t1;
        let StaggeredMethod { modules, chain, start, end, .. } = self;
        // half a step later the motion is another, or none: the chains do not look there
        let last = t1 + 0.5 * h > control.t_end;
        chain.advance(modules, view, start, end, h, last)?;
        if self.end.is_finite() { Ok(()) } else { Err(StepError::NotFinite { t }) }
    }

    /// Returns what the step just made shows of the stability limit.
    fn check_step(&mut self) -> StepVerdict {
        let StaggeredMethod { modules, chain, start, end, .. } = self;
        let (accel, _) = chain.ends();
        let ends = [&*accel[0].vdot, &*accel[1].vdot];
        modules.watch.check(&modules.mass, end.t - start.t, ends, [&start.v, &end.v])
    }

    fn finish(&mut self, view: &mut dyn Staggered, control: &mut StepControl) {
        view.accept(&self.end);
        control.counts.rhs += self.modules.evaluations;
        self.modules.report_counts(view);
        self.accepted = true;
        self.between.forget();
    }

    /// A step of fixed size.
    fn fixed(&mut self, view: &mut dyn Staggered, control: &mut StepControl) -> Result<(), StepError> {
        let t = self.start.t;
        let t1 = control.fixed_end(t);
        let h = t1 - t;
        if !(h > 0.0) {
            return Err(StepError::StepTooSmall { t, h_min: control.min_step(t, &self.limits) });
        }
        if let Some(omega) = self.highest.take() {
            self.modules.watch.ratio = self.modules.watch.ratio.max(0.5 * omega * h);
            if omega * h > 2.0 {
                return Err(StepError::StepTooLarge { t, h, omega });
            }
        }
        let omega = self.modules.watch.omega;
        let tried = self.try_step(view, control, t1).and_then(|()| match self.check_step() {
            StepVerdict::Fine => Ok(()),
            StepVerdict::TooLarge(omega) => Err(StepError::StepTooLarge { t, h, omega }),
            StepVerdict::NotFinite => Err(StepError::NotFinite { t }),
        });
        // numbers that have grown beyond all bounds have done so for a reason
        tried.map_err(|error| match error {
            StepError::NotFinite { t } | StepError::Solve { t, .. } if omega * h > 2.0 => {
                StepError::StepTooLarge { t, h, omega }
            }
            other => other,
        })?;
        self.finish(view, control);
        control.accept_fixed();
        Ok(())
    }
}

impl StaggeredStep for StaggeredMethod {
    fn order(&self) -> u32 {
        2
    }

    fn dense_order(&self) -> u32 {
        3
    }

    fn is_adaptive(&self) -> bool {
        self.adaptive.is_some()
    }

    fn rotation_limit(&self) -> f64 {
        self.rotation_limit
    }

    fn prepare(&mut self, structure: &Structure) {
        let fits =
            |s: &State| (s.q.len(), s.v.len(), s.x.len()) == (structure.nq, structure.nv, structure.nx);
        if !self.prepared || !fits(&self.start) {
            (self.start, self.end) = (State::zeros(structure), State::zeros(structure));
            self.between.prepare(structure);
        }
        (self.prepared, self.accepted) = (false, false);
    }

    fn step(
        &mut self,
        view: &mut dyn Staggered,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        self.start_from(view, s)?;
        let (error, rejected) = if self.is_adaptive() {
            self.adapt(view, control)?
        } else {
            self.fixed(view, control)?;
            (0.0, 0)
        };
        s.copy_from(&self.end);
        if let Some(estimate) = &mut self.adaptive {
            let (accel, xdot) = self.chain.ends();
            estimate.remember(self.end.t - self.start.t, &accel[0].vdot, &xdot[0]);
        }
        let t = self.start.t;
        Ok(StepInfo { t, h: self.end.t - t, error, rejected })
    }

    fn dense(&mut self, view: &mut dyn Staggered, t: f64, out: &mut State) -> Result<(), StepError> {
        let (accel, xdot) = self.chain.ends();
        let rates = [0, 1].map(|i| (&*accel[i].vdot, &*xdot[i]));
        self.between.write(view, [&self.start, &self.end], rates, t, out);
        Ok(())
    }

    fn multipliers(&self) -> &[f64] {
        &self.chain.ends().0[1].lambda
    }

    fn statistics(&self) -> MethodStatistics {
        self.modules.statistics()
    }
}
