//! Backward differentiation of order 1 to 5, with steps and order chosen as it goes.
//!
//! In a chart about the start q₀ of the step, q = q₀ ⊕ δ with δ̇ = T⁻¹(δ) v, the derivative at the end of the polynomial through the
//! end and k states before it is what the equations ask for:
//!
//! ```text
//! Σ cⱼ vⱼ = v̇₁,    Σ cⱼ δⱼ = T⁻¹(δ₁) v₁ (+ what keeps the positions),    M v̇₁ + Jᵀλ₁ = f,
//! ```
//!
//! j from the end backwards, cⱼ for steps of any size \[Hairer1996, section III.5\]. With `constraints = "both"` velocities and
//! positions hold, \[Gear1985\]'s index 2 form; the change of positions that this takes is d of [`Newton`].
//!
//! **Error.** γ (y₁ - y_p)/(t₁ - t₋ₖ), y_p being the polynomial through k + 1 earlier states: the leading term of the error of order k,
//! and likewise of its neighbours, of which the one that allows the longest step is taken.
//!
//! All states that a formula takes are in one chart, which ends at a rotation by π: steps rotate a body by that over the highest order.
//!
//! Starts with order 1. Damps what oscillates faster than the steps; orders above 2 are unstable for lightly damped oscillations that
//! steps of a few per period resolve badly, so that flexible members want `order = 2` or `generalized_alpha`. For stiff and strongly
//! damped systems, at all tolerances.

use super::{End, Scheme, Stepper, options};
use crate::control::{StepControl, error_norm};
use crate::error::{MethodError, SolveError, StepError};
use crate::implicit::{Kinematics, Newton, NewtonOptions, StageTarget};
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Stage, State};
use crate::rotations::MOST_ROTATION;
use crate::views::{ImplicitOde, Integrator};

/// The highest order.
pub const HIGHEST: usize = 5;

/// Options of `bdf`.
pub const OPTIONS: &[OptionDoc] = &[
    OptionDoc { name: "order", default: "5", doc: "the highest order, 1 to 5" },
    options::CONSTRAINTS,
    options::NEWTON,
    options::ITERATIONS,
    options::SAFETY,
    options::GROWTH,
    options::MIN_STEP,
];

/// A step is changed only if it can grow by this.
const WORTH: f64 = 1.2;
/// The most that a step may grow above order 2: longer ones spoil the stability of the formulas.
const CAREFUL: f64 = 1.5;
/// A neighbouring order must allow steps longer by this.
const BETTER: f64 = 1.1;

/// The integrator with what `options` ask for.
pub fn from_options(options: &Options) -> Result<Integrator, MethodError> {
    let kind = "bdf";
    options.check(kind, OPTIONS)?;
    let whole = |x: f64| (1.0..=HIGHEST as f64).contains(&x) && x.fract() == 0.0;
    let highest = options.number(kind, "order", "1 to 5", whole)?.map_or(HIGHEST, |x| x as usize);
    let limits = options::limits(kind, options)?;
    let scheme = Bdf::new(highest, options::newton(kind, options)?, limits.safety, limits.growth);
    Ok(Integrator::Implicit(Box::new(Stepper::new(scheme, limits))))
}

/// Backward differentiation, with its memory.
pub struct Bdf {
    highest: usize,
    options: NewtonOptions,
    safety: f64,
    growth: f64,
    newton: Option<Newton>,
    target: StageTarget,
    /// The order of the next step, and how many steps were made with it.
    order: usize,
    steps: usize,
    /// Steps given up in a row.
    failures: u32,
    /// States before the step, the latest first; the first `known` are so.
    past: Vec<State>,
    known: usize,
    /// Their δ in the chart of this step (nv each).
    deltas: Vec<Vec<f64>>,
    accel: [Accel; 2],
    xdot: [Vec<f64>; 2],
    next: f64,
    delta: State,
}

impl Bdf {
    /// Of orders up to `highest`.
    pub fn new(highest: usize, options: NewtonOptions, safety: f64, growth: f64) -> Bdf {
        Bdf {
            highest: highest.clamp(1, HIGHEST),
            options,
            safety,
            growth,
            newton: None,
            target: StageTarget::zeros(&Default::default()),
            order: 1,
            steps: 0,
            failures: 0,
            past: Vec::new(),
            known: 0,
            deltas: Vec::new(),
            accel: Default::default(),
            xdot: Default::default(),
            next: 0.0,
            delta: State::default(),
        }
    }

    /// Weights of the end and of `k` earlier states in the derivative at `t1`.
    fn derivative(&self, t1: f64, k: usize) -> [f64; HIGHEST + 2] {
        let mut c = [0.0; HIGHEST + 2];
        let t = |j: usize| if j == 0 { t1 } else { self.past[j - 1].t };
        c[0] = (1..=k).map(|j| 1.0 / (t1 - t(j))).sum();
        for j in 1..=k {
            let others = (1..=k).filter(|i| *i != j);
            let product: f64 = others.map(|i| (t1 - t(i)) / (t(j) - t(i))).product();
            c[j] = product / (t(j) - t1);
        }
        c
    }

    /// Weights of `m` earlier states in their polynomial at `t1`.
    fn extrapolation(&self, t1: f64, m: usize) -> [f64; HIGHEST + 3] {
        let mut w = [0.0; HIGHEST + 3];
        let t = |j: usize| self.past[j].t;
        for j in 0..m {
            w[j] = (0..m).filter(|i| *i != j).map(|i| (t1 - t(i)) / (t(j) - t(i))).product();
        }
        w
    }

    /// The error of order m - 1 of the step just tried, in units of the tolerance, from `m` earlier states.
    fn error_of(
        &mut self,
        view: &dyn ImplicitOde,
        start: &State,
        end: &State,
        control: &StepControl,
        m: usize,
    ) -> f64 {
        let t1 = end.t;
        let Some(newton) = &self.newton else { return f64::INFINITY };
        let h = t1 - start.t;
        if m == 1 || m > self.known {
            // the slope at the start in place of an earlier state
            let Bdf { target, accel, xdot, delta, .. } = self;
            for i in 0..delta.v.len() {
                target.delta[i] = 0.5 * (newton.delta[i] - h * start.v[i]);
                delta.v[i] = 0.5 * h * (accel[1].vdot[i] - accel[0].vdot[i]);
            }
            (0..delta.x.len()).for_each(|i| delta.x[i] = 0.5 * h * (xdot[1][i] - xdot[0][i]));
        } else {
            let w = self.extrapolation(t1, m);
            let factor = 1.0 / (self.derivative(t1, m - 1)[0] * (t1 - self.past[m - 1].t));
            let Bdf { target, past, deltas, delta, .. } = self;
            for i in 0..delta.v.len() {
                let (mut position, mut velocity) = (newton.delta[i], end.v[i]);
                for j in 0..m {
                    position -= w[j] * deltas[j][i];
                    velocity -= w[j] * past[j].v[i];
                }
                target.delta[i] = factor * position;
                delta.v[i] = factor * velocity;
            }
            for i in 0..delta.x.len() {
                let predicted: f64 = (0..m).map(|j| w[j] * past[j].x[i]).sum();
                delta.x[i] = factor * (end.x[i] - predicted);
            }
        }
        let Bdf { target, delta, .. } = self;
        delta.q.copy_from_slice(&end.q);
        view.retract(&mut delta.q, &target.delta);
        delta.q.iter_mut().zip(&end.q).for_each(|(d, q)| *d -= q);
        error_norm(view.structure(), control, start, end, delta)
    }

    /// Returns how much longer a step of order `k` could be with the error at hand.
    fn factor(&self, error: f64, k: usize) -> f64 {
        self.safety * error.max(1e-10).powf(-1.0 / (k + 1) as f64)
    }
}

impl Scheme for Bdf {
    fn order(&self) -> u32 {
        self.highest as u32
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn error_power(&self) -> u32 {
        self.order as u32 + 1
    }

    /// A formula goes back over as many steps as its order.
    fn rotation_limit(&self) -> f64 {
        MOST_ROTATION / self.highest as f64
    }

    fn begin(&mut self, view: &mut dyn ImplicitOde, s: &State, _h: Option<f64>) -> Result<(), SolveError> {
        let mut newton = Newton::new(view, s, self.options)?;
        let structure = view.structure();
        self.target = StageTarget { kinematics: Kinematics::Velocities, ..StageTarget::zeros(structure) };
        self.accel = [Accel::zeros(structure), Accel::zeros(structure)];
        self.xdot = [vec![0.0; structure.nx], vec![0.0; structure.nx]];
        self.past = vec![State::zeros(structure); HIGHEST + 2];
        self.deltas = vec![vec![0.0; structure.nv]; HIGHEST + 2];
        self.delta = State::zeros(structure);
        (self.order, self.steps, self.failures) = (1, 0, 0);
        self.past[0].copy_from(s);
        self.known = 1;
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
        control: &StepControl,
    ) -> Result<(), StepError> {
        let k = self.order;
        let c = self.derivative(end.t, k);
        let w = self.extrapolation(end.t, (k + 1).min(self.known));
        let Bdf { newton, target, past, deltas, accel, known, .. } = self;
        let Some(newton) = newton else { return Err(StepError::View { t: start.t }) };
        newton.options.tolerance = self.options.tolerance.min(1e-2 * control.rtol).max(1e-12);
        for (state, delta) in past[..*known].iter().zip(deltas.iter_mut()) {
            view.difference(&state.q, &start.q, delta);
        }
        let gamma = 1.0 / c[0];
        for i in 0..target.v.len() {
            let earlier = |y: &dyn Fn(usize) -> f64| -gamma * (1..=k).map(|j| c[j] * y(j - 1)).sum::<f64>();
            target.v[i] = earlier(&|j| past[j].v[i]);
            target.delta[i] = earlier(&|j| deltas[j][i]);
            // from where the earlier states point to
            let m = (k + 1).min(*known);
            newton.accel.vdot[i] = if m == 1 {
                accel[0].vdot[i]
            } else {
                let predicted: f64 = (0..m).map(|j| w[j] * past[j].v[i]).sum();
                (predicted - target.v[i]) / gamma
            };
        }
        for i in 0..target.x.len() {
            target.x[i] = -gamma * (1..=k).map(|j| c[j] * past[j - 1].x[i]).sum::<f64>();
        }
        newton.accel.lambda.copy_from_slice(&accel[0].lambda);
        (target.t, target.h) = (end.t, end.t - start.t);
        (target.gamma, target.gamma_x, target.beta) = (gamma, gamma, gamma * gamma);
        newton.delta.iter_mut().zip(&start.v).for_each(|(d, v)| *d = (end.t - start.t) * v);
        newton.solve(view, start, target)?;
        end.q.copy_from_slice(&newton.state.q);
        end.v.copy_from_slice(&newton.state.v);
        end.x.copy_from_slice(&newton.state.x);
        accel[1].clone_from(&newton.accel);
        self.xdot[1].copy_from_slice(&newton.xdot);
        Ok(())
    }

    fn error(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        end: &State,
        control: &StepControl,
    ) -> f64 {
        let k = self.order;
        let error = self.error_of(view, start, end, control, k + 1);
        let h = end.t - start.t;
        let mut best = (k, self.factor(error, k));
        if error <= 1.0 && self.steps >= k {
            if k > 1 {
                let lower = self.error_of(view, start, end, control, k);
                let factor = self.factor(lower, k - 1);
                if factor > BETTER * best.1 {
                    best = (k - 1, factor);
                }
            }
            if k < self.highest && self.known >= k + 2 {
                let higher = self.error_of(view, start, end, control, k + 2);
                let factor = self.factor(higher, k + 1);
                if factor > BETTER * best.1 {
                    best = (k + 1, factor);
                }
            }
        }
        if error <= 1.0 {
            let growth = if k > 2 { self.growth.min(CAREFUL) } else { self.growth };
            let (order, factor) = best;
            self.steps = if order == k { self.steps + 1 } else { 0 };
            self.order = order;
            // a step that stays keeps the matrix
            let grow = factor >= WORTH && self.failures == 0;
            let factor = if grow { factor.min(growth) } else { factor.clamp(0.2, 1.0) };
            self.next = h * if factor > 0.9 && factor < WORTH { 1.0 } else { factor };
        }
        error
    }

    fn accept(&mut self, _view: &mut dyn ImplicitOde, _start: &State, end: &State) {
        self.failures = 0;
        self.past.rotate_right(1);
        self.past[0].copy_from(end);
        self.known = (self.known + 1).min(self.past.len());
        self.order = self.order.min(self.known);
    }

    fn advance_start(&mut self) {
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
    }

    fn next_size(&mut self) -> Option<f64> {
        Some(self.next)
    }

    fn after_rejection(&mut self, h: f64, error: f64) -> Option<f64> {
        self.failures += 1;
        let factor = self.factor(error, self.order);
        if self.failures > 2 {
            (self.order, self.steps) = (1, 0);
            // what lies far back says nothing of what is so short
            self.known = self.known.min(2);
        }
        Some(h * if factor.is_nan() { 0.2 } else { factor.clamp(0.2, 0.9) })
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
