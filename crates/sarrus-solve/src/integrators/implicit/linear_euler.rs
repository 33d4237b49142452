//! Implicit Euler with one iteration of Newton a step, and a projection: the same work in every step.
//!
//! ```text
//! (M + h D + h² K) (z - z₀) + Jᵀ(λ - λ₀) = f - M z₀ - Jᵀλ₀,    v₁ = v₀ + h z,    q₁ = q₀ ⊕ h v₁,
//! ```
//!
//! linear about the state that the accelerations z₀ and multipliers λ₀ of the last step lead to, with the constraints on velocities; then q₁ and v₁ are brought onto the
//! constraints. Order 1, and damps all that is fast. For real time: no iteration that may fail to end, but for that of the projection,
//! which needs one or two. Not where accuracy is wanted.

use super::{End, Scheme, Stepper};
use crate::control::{StepControl, StepLimits};
use crate::error::{MethodError, SolveError, StepError};
use crate::implicit::{ConstraintLevel, Kinematics, Newton, NewtonOptions, StageTarget};
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Stage, State};
use crate::views::{ImplicitOde, Integrator};

/// Options of `linearly_implicit_euler`.
pub const OPTIONS: &[OptionDoc] = &[OptionDoc {
    name: "projection",
    default: "yes",
    doc: "`no`: positions drift off the constraints, as velocities alone are kept",
}];

/// The integrator with what `options` ask for.
pub fn from_options(options: &Options) -> Result<Integrator, MethodError> {
    let kind = "linearly_implicit_euler";
    options.check(kind, OPTIONS)?;
    let project = options.word(kind, "projection", "`yes` or `no`", &["yes", "no"])? != Some(1);
    let scheme = LinearEuler::new(project);
    Ok(Integrator::Implicit(Box::new(Stepper::new(scheme, StepLimits::default()))))
}

/// Linearly implicit Euler, with its memory.
pub struct LinearEuler {
    project: bool,
    newton: Option<Newton>,
    target: StageTarget,
    accel: [Accel; 2],
    xdot: [Vec<f64>; 2],
}

impl LinearEuler {
    /// With a projection after each step, or without.
    pub fn new(project: bool) -> LinearEuler {
        LinearEuler {
            project,
            newton: None,
            target: StageTarget::zeros(&Default::default()),
            accel: Default::default(),
            xdot: Default::default(),
        }
    }
}

impl Scheme for LinearEuler {
    fn order(&self) -> u32 {
        1
    }

    fn is_adaptive(&self) -> bool {
        false
    }

    fn error_power(&self) -> u32 {
        2
    }

    fn begin(&mut self, view: &mut dyn ImplicitOde, s: &State, _h: Option<f64>) -> Result<(), SolveError> {
        let options = NewtonOptions { level: ConstraintLevel::Velocities, ..NewtonOptions::default() };
        let mut newton = Newton::new(view, s, options)?;
        let structure = view.structure();
        self.target = StageTarget { kinematics: Kinematics::Accelerations, ..StageTarget::zeros(structure) };
        self.accel = [Accel::zeros(structure), Accel::zeros(structure)];
        self.xdot = [vec![0.0; structure.nx], vec![0.0; structure.nx]];
        view.accelerations(s, &mut self.accel[0])?;
        view.update(s, Stage::FORCE, &mut newton.eq);
        view.xdot(s, &newton.eq, &self.accel[0], &mut self.xdot[0]);
        newton.xdot.copy_from_slice(&self.xdot[0]);
        self.newton = Some(newton);
        Ok(())
    }

    fn advance(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        end: &mut State,
        _control: &StepControl,
    ) -> Result<(), StepError> {
        let LinearEuler { newton: Some(newton), target, accel, xdot, .. } = self else {
            return Err(StepError::View { t: start.t });
        };
        let h = end.t - start.t;
        target.v.copy_from_slice(&start.v);
        target.delta.iter_mut().zip(&start.v).for_each(|(d, v)| *d = h * v);
        target.x.copy_from_slice(&start.x);
        (target.t, target.h) = (end.t, h);
        (target.gamma, target.gamma_x, target.beta) = (h, h, h * h);
        newton.accel.clone_from(&accel[0]);
        newton.solve_once(view, start, target)?;
        end.q.copy_from_slice(&newton.state.q);
        end.v.copy_from_slice(&newton.state.v);
        end.x.copy_from_slice(&newton.state.x);
        accel[1].clone_from(&newton.accel);
        xdot[1].copy_from_slice(&newton.xdot);
        if self.project {
            view.project(end).map_err(|source| StepError::Project { t: end.t, source })?;
        }
        Ok(())
    }

    fn error(&mut self, _: &mut dyn ImplicitOde, _: &State, _: &State, _: &StepControl) -> f64 {
        0.0
    }

    fn accept(&mut self, _view: &mut dyn ImplicitOde, _start: &State, _end: &State) {}

    fn advance_start(&mut self) {
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
    }

    fn ends(&self) -> [End<'_>; 2] {
        [0, 1].map(|i| End { vdot: &self.accel[i].vdot, xdot: &self.xdot[i] })
    }

    fn multipliers(&self) -> &[f64] {
        &self.accel[1].lambda
    }

    fn report_counts(&mut self, view: &mut dyn ImplicitOde) -> u64 {
        self.newton.as_mut().map_or(0, |newton| newton.report_counts(view))
    }
}
