//! The faces that a problem shows to integrators, and what an integrator must do through them.
//!
//! | view | a method sees | who uses it |
//! |---|---|---|
//! | [`Ode`] | (q̇, v̇, ẋ) at a state | explicit Runge-Kutta, Adams |
//! | [`Staggered`] | M, f, J, γ, Φ at a state, and displacements | motion and multipliers in turn |
//! | [`ImplicitOde`] | the same, and the tangent | implicit methods on the equations with their constraints |
//!
//! A method that wants another face gets a trait of its own here, a stepping trait beside [`Step`], and a variant of [`Integrator`];
//! [`integrate`] stays the one loop over all of them.
//!
//! [`integrate`]: crate::integrators::integrate

use crate::control::StepControl;
use crate::error::{SolveError, StepError};
use crate::findings::MethodStatistics;
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::rotations::{MOST_ROTATION, Speed};
use crate::tangent::Tangent;

/// q̇, v̇, ẋ as functions of the state.
///
/// Quaternions in q are integrated as vectors of R⁴: inside a step they are unit only up to the truncation
/// error, so [`rhs`](Ode::rhs) must be smooth around unit quaternions, not only on them.
pub trait Ode {
    /// Sizes, and the groups for error norms.
    fn structure(&self) -> &Structure;

    /// Announces the size \[s\] of the step that the next right-hand sides belong to; some stabilizations depend on it.
    fn begin_step(&mut self, _h: f64) {}

    /// Asks for right-hand sides at the nearest state on the constraints in place of `s` itself, or no longer. Returns whether that
    /// is done: not where it makes no difference, or no singular position is near.
    ///
    /// Off the constraints accelerations are as inaccurate as the stages of a method are, times the inverse of the smallest
    /// singular value of J: near a singular position no step is short enough. On them they are smooth.
    fn set_constrained_stages(&mut self, _constrained: bool) -> bool {
        false
    }

    /// Returns whether right-hand sides of this step are those of the equations but for rounding; near a singular position that is magnified.
    fn is_exact(&self) -> bool {
        true
    }

    /// Moves `s` to where the next right-hand side would be taken for it: onto the constraints, while that is asked for
    /// ([`set_constrained_stages`](Ode::set_constrained_stages)). Returns whether it was moved.
    fn project_stage(&mut self, _s: &mut State) -> bool {
        false
    }

    /// Takes from the changes `delta` of q and v at the end `s` of a step the parts that [`finish_step`](Ode::finish_step) would
    /// take away. Returns whether it takes any: only near a singular position, as [`set_constrained_stages`](Ode::set_constrained_stages).
    ///
    /// Of the error of a step only the rest remains. Near a singular position the other part is large: rounding there is
    /// magnified across the constraints.
    fn project_tangent(&mut self, _s: &State, _delta: &mut State) -> bool {
        false
    }

    /// The rates at `s`: q̇ (nq), v̇ (nv), ẋ (nx). The hot path: must not allocate.
    fn rhs(&mut self, s: &State, dq: &mut [f64], dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError>;

    /// Makes quaternions unit, without changing their sign.
    fn normalize(&self, q: &mut [f64]);

    /// Ends an accepted step of size `h` \[s\]: brings `s` onto the constraints and lets the problem take note.
    ///
    /// Returns whether the right-hand side at `s` may now differ from what it was before the call (the state was
    /// moved, or the problem switched); if not, the slope at the end of the step is used again for the next.
    /// On an error nothing may have been noted: an adaptive method then tries a shorter step.
    fn finish_step(&mut self, s: &mut State, h: f64) -> Result<bool, StepError>;

    /// In place of a step of a method that resolves the constraints itself: takes one from `s`, where it begins near a singular position.
    fn fallback_from(
        &mut self,
        _s: &mut State,
        _control: &mut StepControl,
        _is_adaptive: bool,
    ) -> Result<Option<StepInfo>, StepError> {
        Ok(None)
    }

    /// Checks a step that such a method has `taken` to `s`, or has failed to take, where `s` is still its start. Where that ended near a
    /// singular position or went over one, goes back and takes a step of its own.
    fn fallback_over(
        &mut self,
        taken: Result<StepInfo, StepError>,
        _s: &mut State,
        _control: &mut StepControl,
        _is_adaptive: bool,
    ) -> Result<StepInfo, StepError> {
        taken
    }

    /// As [`Step::dense`] of the step just taken, where that was one of these.
    fn fallback_dense(&mut self, _t: f64, _out: &mut State) -> Option<Result<(), StepError>> {
        None
    }

    /// The largest angular speed \[rad/s\] of one body against another at `s`, of those whose joint counts the angle between them;
    /// none where none does.
    fn relative_rotation(&mut self, _s: &State) -> Option<f64> {
        None
    }

    /// The same problem for methods that take motion and multipliers in turn, if it can be had so.
    fn staggered(&mut self) -> Option<&mut dyn Staggered> {
        None
    }

    /// The same problem for implicit methods, if it can be had so.
    fn implicit(&mut self) -> Option<&mut dyn ImplicitOde> {
        None
    }
}

impl<T: Ode + ?Sized> Ode for &mut T {
    fn structure(&self) -> &Structure {
        (**self).structure()
    }

    fn begin_step(&mut self, h: f64) {
        (**self).begin_step(h);
    }

    fn set_constrained_stages(&mut self, constrained: bool) -> bool {
        (**self).set_constrained_stages(constrained)
    }

    fn is_exact(&self) -> bool {
        (**self).is_exact()
    }

    fn project_stage(&mut self, s: &mut State) -> bool {
        (**self).project_stage(s)
    }

    fn project_tangent(&mut self, s: &State, delta: &mut State) -> bool {
        (**self).project_tangent(s, delta)
    }

    fn rhs(&mut self, s: &State, dq: &mut [f64], dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (**self).rhs(s, dq, dv, dx)
    }

    fn normalize(&self, q: &mut [f64]) {
        (**self).normalize(q);
    }

    fn finish_step(&mut self, s: &mut State, h: f64) -> Result<bool, StepError> {
        (**self).finish_step(s, h)
    }

    fn fallback_from(
        &mut self,
        s: &mut State,
        control: &mut StepControl,
        is_adaptive: bool,
    ) -> Result<Option<StepInfo>, StepError> {
        (**self).fallback_from(s, control, is_adaptive)
    }

    fn fallback_over(
        &mut self,
        taken: Result<StepInfo, StepError>,
        s: &mut State,
        control: &mut StepControl,
        is_adaptive: bool,
    ) -> Result<StepInfo, StepError> {
        (**self).fallback_over(taken, s, control, is_adaptive)
    }

    fn fallback_dense(&mut self, t: f64, out: &mut State) -> Option<Result<(), StepError>> {
        (**self).fallback_dense(t, out)
    }

    fn relative_rotation(&mut self, s: &State) -> Option<f64> {
        (**self).relative_rotation(s)
    }

    fn staggered(&mut self) -> Option<&mut dyn Staggered> {
        (**self).staggered()
    }

    fn implicit(&mut self) -> Option<&mut dyn ImplicitOde> {
        (**self).implicit()
    }
}

/// A problem whose constraints a method resolves itself: the one generator of J that its modules share.
///
/// Three angular velocities in a [`NormGroup`](crate::NormGroup) are those of a body in its own axes, with -ω × J ω in f.
pub trait Staggered {
    /// Sizes, and the groups for error norms.
    fn structure(&self) -> &Structure;

    /// Equations with the constant blocks of M and M⁻¹ filled in. Allocates.
    fn equations(&self) -> Equations;

    /// Fills the parts of `eq` that belong to `stage`. The hot path: must not allocate.
    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations);

    /// q̇ = N(q) v.
    fn qdot(&self, s: &State, qdot: &mut [f64]);

    /// Rates of the first-order states, once the accelerations are known; `s` is that of the last
    /// [`update`](Staggered::update).
    fn xdot(&mut self, s: &State, eq: &Equations, accel: &Accel, xdot: &mut [f64]);

    /// As [`Problem::has_only_weight`](crate::Problem::has_only_weight).
    fn has_only_weight(&self) -> bool {
        false
    }

    /// Returns whether there are forces that depend on the multipliers.
    fn is_reactive(&self) -> bool {
        false
    }

    /// Adds those forces to f, for the multipliers `lambda` (nc), at the state `s` of the last [`update`](Staggered::update).
    fn add_reactive(&mut self, _s: &State, _lambda: &[f64], _eq: &mut Equations) {}

    /// q ⊕ δ for a tangent vector δ (nv) whose turns are rotation vectors; keeps quaternions unit.
    fn retract(&self, q: &mut [f64], delta: &[f64]);

    /// a ⊖ b as a tangent vector (nv).
    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]);

    /// Makes quaternions unit, without changing their sign.
    fn normalize(&self, q: &mut [f64]);

    /// Takes note of an accepted step.
    fn accept(&mut self, s: &State);

    /// Takes note of work done: evaluations of f, factorizations, corrections of positions.
    fn note(&mut self, _evaluations: u64, _factorizations: u64, _corrections: u64) {}
}

/// A problem with its tangent, for methods that solve its equations at the end of a step.
pub trait ImplicitOde: Staggered {
    /// Workspace for [`fill_tangent`](ImplicitOde::fill_tangent); none where there is no tangent.
    fn new_tangent(&self) -> Option<Tangent>;

    /// K and D at `s`, where the accelerations are `vdot` (nv) and the multipliers `lambda` (nc).
    fn fill_tangent(&mut self, s: &State, vdot: &[f64], lambda: &[f64], out: &mut Tangent);

    /// Accelerations and multipliers at `s`, which is on the constraints.
    fn accelerations(&mut self, s: &State, accel: &mut Accel) -> Result<(), SolveError>;

    /// Returns which scalar rows depend on others at `s`, which is on the constraints.
    fn dependent_rows(&mut self, s: &State, out: &mut [bool]) -> Result<(), SolveError>;

    /// Brings `s` onto the constraints.
    fn project(&mut self, s: &mut State) -> Result<(), SolveError>;
}

/// A method that advances an [`ImplicitOde`] problem; otherwise as [`Step`].
pub trait ImplicitStep: Send {
    /// As [`Step::order`].
    fn order(&self) -> u32;

    /// As [`Step::dense_order`].
    fn dense_order(&self) -> u32;

    /// As [`Step::is_adaptive`].
    fn is_adaptive(&self) -> bool;

    /// As [`Step::rotation_limit`].
    fn rotation_limit(&self) -> f64 {
        MOST_ROTATION
    }

    /// As [`Step::prepare`]; the first step may allocate too.
    fn prepare(&mut self, structure: &Structure);

    /// As [`Step::step`].
    fn step(
        &mut self,
        view: &mut dyn ImplicitOde,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError>;

    /// As [`Step::dense`].
    fn dense(&mut self, view: &mut dyn ImplicitOde, t: f64, out: &mut State) -> Result<(), StepError>;

    /// The method's own λ (nc) at the end of the step just taken.
    fn multipliers(&self) -> &[f64];
}

/// A method that advances an [`Ode`].
pub trait Step: Send {
    /// Order of convergence of the state at the ends of steps.
    fn order(&self) -> u32;

    /// Order of the dense output: inside a step its error is of size h^(order + 1).
    fn dense_order(&self) -> u32;

    /// Returns whether the method estimates its error and chooses its steps.
    fn is_adaptive(&self) -> bool;

    /// The most that a step may rotate a body in space \[rad\].
    fn rotation_limit(&self) -> f64 {
        MOST_ROTATION
    }

    /// Sizes the workspace and forgets the previous step. The only place that allocates.
    fn prepare(&mut self, structure: &Structure);

    /// Takes one accepted step, from `s` towards [`StepControl::t_end`] and never beyond it.
    ///
    /// On an error `s` is left as it was. Call [`prepare`](Step::prepare) before the first step, and whenever
    /// `ode` has changed otherwise than through [`Ode::finish_step`].
    fn step(
        &mut self,
        ode: &mut dyn Ode,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError>;

    /// Writes the state at time `t` \[s\] inside the step just taken into `out`, which must have its sizes; `t`
    /// outside is taken as the nearer end.
    ///
    /// The interpolant is continuously differentiable over the whole run: it passes through the states that
    /// [`Ode::finish_step`] left, with the slopes there. Quaternions are unit; other constraints hold to the
    /// accuracy of the interpolant. May evaluate `ode` the first time it is asked about a step.
    fn dense(
        &mut self,
        ode: &mut dyn Ode,
        control: &mut StepControl,
        t: f64,
        out: &mut State,
    ) -> Result<(), StepError>;
}

/// A method that advances a [`Staggered`] problem; otherwise as [`Step`].
pub trait StaggeredStep: Send {
    /// As [`Step::order`].
    fn order(&self) -> u32;

    /// As [`Step::dense_order`].
    fn dense_order(&self) -> u32;

    /// As [`Step::is_adaptive`].
    fn is_adaptive(&self) -> bool;

    /// As [`Step::rotation_limit`].
    fn rotation_limit(&self) -> f64 {
        MOST_ROTATION
    }

    /// As [`Step::prepare`]; the first step may allocate too.
    fn prepare(&mut self, structure: &Structure);

    /// As [`Step::step`].
    fn step(
        &mut self,
        view: &mut dyn Staggered,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError>;

    /// As [`Step::dense`].
    fn dense(&mut self, view: &mut dyn Staggered, t: f64, out: &mut State) -> Result<(), StepError>;

    /// The method's own λ (nc) at the end of the step just taken.
    fn multipliers(&self) -> &[f64];

    /// Returns what it found on the way, over all steps since it was made.
    fn statistics(&self) -> MethodStatistics {
        MethodStatistics::default()
    }
}

/// The view that a method needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodView {
    /// [`Ode`].
    Ode,
    /// [`Staggered`].
    Staggered,
    /// [`ImplicitOde`].
    Implicit,
}

impl MethodView {
    /// Returns whether the method resolves the constraints itself, so that no formulation or stabilization takes part.
    pub fn resolves_constraints(self) -> bool {
        self != MethodView::Ode
    }
}

/// Angular speeds at `s`, for a step of about `h` \[s\] while they grow by `growth` \[rad/s²\].
fn speed<O: Ode>(ode: &mut O, s: &State, limit: f64, h: Option<f64>, growth: f64) -> Speed {
    let of_bodies = Speed::of_bodies(&ode.structure().angular, limit, &s.v);
    of_bodies.with_joints(h, growth, || ode.relative_rotation(s))
}

/// An integrator, by the view it needs.
#[non_exhaustive]
pub enum Integrator {
    /// Explicit in the accelerations.
    Ode(Box<dyn Step>),
    /// Motion and multipliers in turn.
    Staggered(Box<dyn StaggeredStep>),
    /// Implicit, constraints included.
    Implicit(Box<dyn ImplicitStep>),
}

impl Integrator {
    /// As [`Step::order`].
    pub fn order(&self) -> u32 {
        match self {
            Integrator::Ode(m) => m.order(),
            Integrator::Staggered(m) => m.order(),
            Integrator::Implicit(m) => m.order(),
        }
    }

    /// As [`Step::dense_order`].
    pub fn dense_order(&self) -> u32 {
        match self {
            Integrator::Ode(m) => m.dense_order(),
            Integrator::Staggered(m) => m.dense_order(),
            Integrator::Implicit(m) => m.dense_order(),
        }
    }

    /// As [`Step::is_adaptive`].
    pub fn is_adaptive(&self) -> bool {
        match self {
            Integrator::Ode(m) => m.is_adaptive(),
            Integrator::Staggered(m) => m.is_adaptive(),
            Integrator::Implicit(m) => m.is_adaptive(),
        }
    }

    /// As [`Step::rotation_limit`].
    pub fn rotation_limit(&self) -> f64 {
        match self {
            Integrator::Ode(m) => m.rotation_limit(),
            Integrator::Staggered(m) => m.rotation_limit(),
            Integrator::Implicit(m) => m.rotation_limit(),
        }
    }

    /// As [`Step::prepare`].
    pub fn prepare(&mut self, structure: &Structure) {
        match self {
            Integrator::Ode(m) => m.prepare(structure),
            Integrator::Staggered(m) => m.prepare(structure),
            Integrator::Implicit(m) => m.prepare(structure),
        }
    }

    /// As [`Step::step`]. Bounds the rotation within adaptive steps, and keeps that of all.
    pub fn step<O: Ode>(
        &mut self,
        ode: &mut O,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        let limit = self.rotation_limit();
        control.rotations.limit = limit;
        let asked = control.step;
        let is_adaptive = self.is_adaptive();
        let size = if is_adaptive { control.next_size() } else { asked };
        let growth = control.rotations.growth;
        let start = speed(ode, s, limit, size, growth);
        control.rotations.start = start.fraction;
        let bound = size.filter(|_| is_adaptive).and_then(|h| start.bound(h, growth));
        if bound.is_some() {
            control.step = bound;
        }
        let taken = self.step_freely(ode, s, control);
        if bound.is_some() {
            control.step = asked;
        }
        let info = taken?;
        let end = speed(ode, s, limit, Some(info.h), 0.0);
        control.rotations.add(info.t, info.h, [start, end], bound.is_some());
        Ok(info)
    }

    fn step_freely<O: Ode>(
        &mut self,
        ode: &mut O,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        let is_adaptive = self.is_adaptive();
        if let Integrator::Ode(m) = self {
            return m.step(ode, s, control);
        }
        if let Some(info) = ode.fallback_from(s, control, is_adaptive)? {
            return Ok(info);
        }
        let none = StepError::View { t: s.t };
        let taken = match self {
            Integrator::Ode(_) => Err(none),
            Integrator::Staggered(m) => m.step(ode.staggered().ok_or(none)?, s, control),
            Integrator::Implicit(m) => m.step(ode.implicit().ok_or(none)?, s, control),
        };
        ode.fallback_over(taken, s, control, is_adaptive)
    }

    /// As [`Step::dense`].
    pub fn dense<O: Ode>(
        &mut self,
        ode: &mut O,
        control: &mut StepControl,
        t: f64,
        out: &mut State,
    ) -> Result<(), StepError> {
        if let Some(done) = ode.fallback_dense(t, out) {
            return done;
        }
        match self {
            Integrator::Ode(m) => m.dense(ode, control, t, out),
            Integrator::Staggered(m) => m.dense(ode.staggered().ok_or(StepError::View { t })?, t, out),
            Integrator::Implicit(m) => m.dense(ode.implicit().ok_or(StepError::View { t })?, t, out),
        }
    }

    /// Returns what the method found on the way, over all steps since it was made.
    pub fn statistics(&self) -> MethodStatistics {
        match self {
            Integrator::Ode(_) | Integrator::Implicit(_) => MethodStatistics::default(),
            Integrator::Staggered(m) => m.statistics(),
        }
    }

    /// λ (nc) at the end of the last step that the method itself has taken, as it has found it, where it finds any. Near a singular
    /// position steps are not its own ([`Ode::fallback_over`]).
    pub fn multipliers(&self) -> Option<&[f64]> {
        match self {
            Integrator::Ode(_) => None,
            Integrator::Staggered(m) => Some(m.multipliers()),
            Integrator::Implicit(m) => Some(m.multipliers()),
        }
    }
}

/// Holds what an accepted step was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepInfo {
    /// Time at its start \[s\].
    pub t: f64,
    /// Its size \[s\].
    pub h: f64,
    /// Estimated error, 1 being the tolerance; 0 for fixed steps.
    pub error: f64,
    /// Trials that were given up before it.
    pub rejected: u32,
}
