//! Explicit Runge-Kutta methods: one driver for every [`Tableau`].
//!
//! Solves (q̇, v̇, ẋ) = f(t, q, v, x) with quaternions as vectors of R⁴, made unit at the end of each step;
//! after that [`Ode::finish_step`] projects. \[Hairer1993, chapter II\]
//!
//! Needs accelerations at every stage: the formulation resolves the constraints. Costs `s` right-hand sides a step
//! plus those of the interpolant where a sample falls into the step; storage for about s + 6 states, made once
//! in [`Step::prepare`]. Not for stiff problems: the step is bounded by the fastest decay, not by accuracy.

use super::dense::InterpolantWeights;
use super::tableaux::{Estimate, Tableau};
use crate::control::{
    StepControl, StepLimits, combine, combine_slopes, error_norm, initial_step, pair_error_norm,
};
use crate::error::{MethodError, StepError};
use crate::options::{OptionDoc, Options};
use crate::problem::{State, Structure};
use crate::rotations::{LAG, MOST_ROTATION};
use crate::stiffness::step_times_mode;
use crate::views::{Ode, Step, StepInfo};
use sarrus_math::solve::c64;

/// Options of the adaptive methods.
pub const ADAPTIVE_OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "safety",
        default: "0.9",
        doc: "aim at this fraction of the step that would just meet the tolerance",
    },
    OptionDoc { name: "growth", default: "5", doc: "the most that a step may grow over the one before" },
    OptionDoc { name: "min_step", default: "0", doc: "the least step [s]; a run that needs less fails" },
];

/// The largest part along the constraints of an estimate that lies across them.
const ALONG: f64 = 0.05;
/// Largest error across the constraints, relative, that is left to the projection.
const ACROSS: f64 = 1e-6;
/// The same as its square, which is what it leaves along them, in units of the tolerance.
const SQUARED: f64 = 0.1;
/// Describes how often, and by how much, a careful step with an error across the constraints is shortened a little in place of a lot.
const DODGES: u32 = 12;
const DODGE: f64 = 0.85;
/// Steps after one that had to be careful that are careful from the start.
const CONSTRAINED_STEPS: u32 = 2;

/// An explicit Runge-Kutta method with its workspace.
pub struct ExplicitRk {
    tableau: &'static Tableau,
    limits: StepLimits,

    /// State at the start of the step.
    start: State,
    /// State at its end; while a step is tried, the trial.
    end: State,
    /// State at a stage.
    stage: State,
    /// Slopes: stages, then the one at `end`, then the interpolant's own.
    k: Vec<State>,
    /// Error estimates.
    delta: [State; 2],

    /// True if `start`, `end` and the stages belong to an accepted step.
    accepted: bool,
    /// True if the slope at `end` is known.
    end_slope: bool,
    /// True if the interpolant's own stages are known.
    interpolant: bool,
    /// Steps for which right-hand sides are still taken on the constraints.
    constrained_steps: u32,
    /// The most that a step may rotate a body \[rad\].
    rotation_limit: f64,
    /// The stability interval on the negative real axis, where steps are compared with it.
    stability: Option<f64>,
}

impl ExplicitRk {
    /// The method of `tableau`.
    pub fn new(tableau: &'static Tableau, limits: StepLimits) -> ExplicitRk {
        ExplicitRk {
            tableau,
            limits,
            start: State::default(),
            end: State::default(),
            stage: State::default(),
            k: Vec::new(),
            delta: [State::default(), State::default()],
            accepted: false,
            end_slope: false,
            interpolant: false,
            constrained_steps: 0,
            rotation_limit: if tableau.error == Estimate::None { resolved(tableau) } else { MOST_ROTATION },
            stability: stability(tableau),
        }
    }

    /// The method of `tableau`, called `kind`, with the limits that `options` ask for.
    pub fn from_options(
        kind: &'static str,
        tableau: &'static Tableau,
        options: &Options,
    ) -> Result<ExplicitRk, MethodError> {
        let known = if tableau.error == Estimate::None { &[] } else { ADAPTIVE_OPTIONS };
        options.check(kind, known)?;
        let mut limits = StepLimits::default();
        let read = |option, expected, accept: fn(f64) -> bool, into: &mut f64| {
            options.number(kind, option, expected, accept).map(|x| *into = x.unwrap_or(*into))
        };
        read("safety", "between 0.1 and 1", |x| (0.1..=1.0).contains(&x), &mut limits.safety)?;
        read("growth", "between 1.1 and 100", |x| (1.1..=100.0).contains(&x), &mut limits.growth)?;
        read("min_step", "finite and not negative", |x| x.is_finite() && x >= 0.0, &mut limits.min_step)?;
        Ok(ExplicitRk::new(tableau, limits))
    }

    /// Number of stages; also the index of the slope at the end of the step.
    fn stages(&self) -> usize {
        self.tableau.c.len()
    }

    /// The power of h that the error estimate goes with; 0 without one.
    fn error_power(&self) -> u32 {
        match self.tableau.error {
            Estimate::None => 0,
            Estimate::Embedded { power, .. } => power,
            Estimate::Pair { .. } => 8,
        }
    }

    /// Makes `start` and its slope those of `s`; takes over what the last step knows.
    fn start_from(
        &mut self,
        ode: &mut dyn Ode,
        s: &State,
        control: &mut StepControl,
    ) -> Result<(), StepError> {
        let is_end = self.accepted && self.end == *s;
        self.accepted = false;
        if is_end {
            std::mem::swap(&mut self.start, &mut self.end);
        } else {
            self.start.copy_from(s);
        }
        if is_end && self.end_slope {
            let end = self.stages();
            self.k.swap(0, end);
            return Ok(());
        }
        ode.begin_step(control.proposal().unwrap_or(control.t_end - s.t).min(control.t_end - s.t));
        slope(ode, &self.start, &mut self.k[0], control)
    }

    /// Computes the stages and the trial `end` at `t1`; returns the error in units of the tolerance.
    fn try_step(&mut self, ode: &mut dyn Ode, control: &mut StepControl, t1: f64) -> Result<f64, StepError> {
        let (m, s) = (self.tableau, self.stages());
        let (t, h) = (self.start.t, t1 - self.start.t);
        (self.end_slope, self.interpolant) = (false, false);
        ode.begin_step(h);

        // stages
        for i in 1..s {
            combine(&mut self.stage, &self.start, h, m.a[i], &self.k);
            self.stage.t = if m.c[i] == 1.0 { t1 } else { t + m.c[i] * h };
            slope(ode, &self.stage, &mut self.k[i], control)?;
        }

        // end
        combine(&mut self.end, &self.start, h, m.b, &self.k);
        self.end.t = t1;
        ode.normalize(&mut self.end.q);

        // error
        match m.error {
            Estimate::None => return Ok(0.0),
            Estimate::Embedded { e, .. } => {
                self.find_end_slope(ode, control)?;
                combine_slopes(&mut self.delta[0], h, e, &self.k);
            }
            Estimate::Pair { e5, e3 } => {
                combine_slopes(&mut self.delta[0], h, e5, &self.k);
                combine_slopes(&mut self.delta[1], h, e3, &self.k);
            }
        }
        Ok(self.error(ode, control))
    }

    /// The error of the step just tried along the constraints, where the rest is taken away after a step.
    fn error_along(&mut self, ode: &mut dyn Ode, control: &StepControl) -> Option<f64> {
        let estimates = if matches!(self.tableau.error, Estimate::Pair { .. }) { 2 } else { 1 };
        for delta in &mut self.delta[..estimates] {
            if !ode.project_tangent(&self.end, delta) {
                return None;
            }
        }
        Some(self.error(ode, control))
    }

    /// The estimates at hand, in units of the tolerance.
    fn error(&self, ode: &dyn Ode, control: &StepControl) -> f64 {
        let (structure, [delta, delta3]) = (ode.structure(), &self.delta);
        match self.tableau.error {
            Estimate::None => 0.0,
            Estimate::Embedded { .. } => error_norm(structure, control, &self.start, &self.end, delta),
            Estimate::Pair { .. } => {
                pair_error_norm(structure, control, &self.start, &self.end, delta, delta3)
            }
        }
    }

    /// Ends a step whose error is small enough.
    fn finish(&mut self, ode: &mut dyn Ode) -> Result<(), StepError> {
        if !self.end.is_finite() {
            return Err(StepError::NotFinite { t: self.start.t });
        }
        let h = self.end.t - self.start.t;
        let changed = ode.finish_step(&mut self.end, h)?;
        self.end_slope &= !changed;
        self.accepted = true;
        Ok(())
    }

    /// Returns whether stability limits the step just tried; none where that is not to be checked.
    fn is_limited(&mut self, ode: &mut dyn Ode, control: &mut StepControl) -> Option<bool> {
        let limit = self.stability.filter(|_| control.stiffness.is_due(control.counts.steps))?;
        self.find_end_slope(ode, control).ok()?;
        let (h, s) = (self.end.t - self.start.t, self.stages());
        let (last, end) = ([&self.stage, &self.k[s - 1]], [&self.end, &self.k[s]]);
        Some(step_times_mode(h, limit, last, end) > limit)
    }

    fn find_end_slope(&mut self, ode: &mut dyn Ode, control: &mut StepControl) -> Result<(), StepError> {
        if !self.end_slope {
            let end = self.stages();
            slope(ode, &self.end, &mut self.k[end], control)?;
            self.end_slope = true;
        }
        Ok(())
    }

    /// A step of fixed size.
    fn fixed(&mut self, ode: &mut dyn Ode, control: &mut StepControl) -> Result<f64, StepError> {
        let t = self.start.t;
        let t1 = control.fixed_end(t);
        if t1 <= t || t1.is_nan() {
            return Err(StepError::StepTooSmall { t, h_min: control.min_step(t, &self.limits) });
        }
        self.try_step(ode, control, t1)?;
        self.finish(ode)?;
        control.accept_fixed();
        Ok(0.0)
    }

    /// Steps of decreasing size until one is accepted; returns its error and the number given up.
    fn adaptive(&mut self, ode: &mut dyn Ode, control: &mut StepControl) -> Result<(f64, u32), StepError> {
        let t = self.start.t;
        if self.constrained_steps == 0 {
            ode.set_constrained_stages(false);
        }
        let power = self.error_power();
        let h_min = control.min_step(t, &self.limits);
        let mut wanted = match control.proposal() {
            Some(h) => h,
            None => {
                let [rate, _] = &mut self.delta;
                initial_step(ode, control, &self.start, &self.k[0], power, &mut self.stage, rate)
                    .map_err(|source| StepError::Solve { t, source })?
            }
        }
        .max(h_min);

        let mut rejected = 0;
        let mut constrained = self.constrained_steps > 0 && ode.set_constrained_stages(true);
        let mut limited = None;
        loop {
            let t1 = control.adaptive_end(t, wanted);
            let h = t1 - t;
            let mut tried = self.try_step(ode, control, t1);
            // an error wholly across the constraints: near a singular position
            let mut across = false;
            if let Ok(error) = tried
                && error > 1.0
                && let Some(along) = self.error_along(ode, control)
                && along <= ALONG * error
            {
                across = true;
                // the projection will take it away; of rounding more, as only its square is left
                let squared = if ode.is_exact() { SQUARED } else { 0.0 };
                let limit = ACROSS.max((squared * control.rtol).sqrt());
                if constrained && along <= 1.0 && error * control.rtol <= limit {
                    tried = Ok(along);
                }
            }
            if let Ok(error) = tried
                && error <= 1.0
            {
                limited = if constrained { None } else { self.is_limited(ode, control) };
                tried = self.finish(ode).map(|()| error);
            }
            let (shorter, reason) = match &tried {
                Ok(error) if *error <= 1.0 => {
                    let error = *error;
                    control.accept(h, wanted, error, power, rejected > 0, &self.limits);
                    if let Some(limited) = limited {
                        control.stiffness.note(t, control.counts.steps, limited);
                    }
                    self.constrained_steps = if constrained && rejected > 0 {
                        CONSTRAINED_STEPS
                    } else {
                        self.constrained_steps.saturating_sub(1)
                    };
                    return Ok((error, rejected));
                }
                Ok(error) => {
                    // where rounding blows up, near a singular position, shorter steps only put more stages there: dodge
                    let dodge = constrained && across && rejected < DODGES;
                    let shorter =
                        if dodge { DODGE * h } else { self.limits.after_rejection(h, *error, power) };
                    (shorter, StepError::StepTooSmall { t, h_min })
                }
                Err(reason) => (0.5 * h, reason.clone()),
            };
            rejected += 1;
            control.counts.rejected += 1;
            // stages off the constraints may be to blame, also where there were no accelerations
            if (across || tried.is_err()) && !constrained {
                constrained = ode.set_constrained_stages(true);
                if constrained {
                    continue;
                }
            }
            if wanted <= h_min || h <= h_min {
                return Err(reason);
            }
            wanted = shorter.max(h_min);
        }
    }
}

impl Step for ExplicitRk {
    fn order(&self) -> u32 {
        self.tableau.order
    }

    fn dense_order(&self) -> u32 {
        self.tableau.dense.order
    }

    fn is_adaptive(&self) -> bool {
        self.tableau.error != Estimate::None
    }

    fn rotation_limit(&self) -> f64 {
        self.rotation_limit
    }

    fn prepare(&mut self, structure: &Structure) {
        let fits =
            |s: &State| (s.q.len(), s.v.len(), s.x.len()) == (structure.nq, structure.nv, structure.nx);
        let slopes = self.stages() + 1 + self.tableau.dense.c.len();
        if self.k.len() != slopes || !fits(&self.start) {
            let zeros = || State::zeros(structure);
            (self.start, self.end, self.stage) = (zeros(), zeros(), zeros());
            self.delta = [zeros(), zeros()];
            self.k = (0..slopes).map(|_| zeros()).collect();
        }
        (self.accepted, self.end_slope, self.interpolant) = (false, false, false);
    }

    fn step(
        &mut self,
        ode: &mut dyn Ode,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        self.start_from(ode, s, control)?;
        let (error, rejected) =
            if self.is_adaptive() { self.adaptive(ode, control)? } else { (self.fixed(ode, control)?, 0) };
        s.copy_from(&self.end);
        let t = self.start.t;
        Ok(StepInfo { t, h: self.end.t - t, error, rejected })
    }

    fn dense(
        &mut self,
        ode: &mut dyn Ode,
        control: &mut StepControl,
        t: f64,
        out: &mut State,
    ) -> Result<(), StepError> {
        assert!(self.accepted, "dense output belongs to a step");
        if t >= self.end.t {
            out.copy_from(&self.end);
            return Ok(());
        }
        if t <= self.start.t {
            out.copy_from(&self.start);
            return Ok(());
        }
        let (dense, s) = (&self.tableau.dense, self.stages());
        let h = self.end.t - self.start.t;

        // slopes beyond those of the step
        self.find_end_slope(ode, control)?;
        if !self.interpolant {
            for (i, (a, c)) in dense.a.iter().zip(dense.c).enumerate() {
                combine(&mut self.stage, &self.start, h, a, &self.k);
                self.stage.t = self.start.t + c * h;
                slope(ode, &self.stage, &mut self.k[s + 1 + i], control)?;
            }
            self.interpolant = true;
        }

        // y₀ + h Σ w_j k_j + w Δ
        let w = InterpolantWeights::at(dense, s, (t - self.start.t) / h);
        combine(out, &self.start, h, &w.k[..self.k.len()], &self.k);
        let towards_end = |out: &mut [f64], a: &[f64], b: &[f64]| {
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out += w.delta * (b - a);
            }
        };
        towards_end(&mut out.q, &self.start.q, &self.end.q);
        towards_end(&mut out.v, &self.start.v, &self.end.v);
        towards_end(&mut out.x, &self.start.x, &self.end.x);
        out.t = t;
        ode.normalize(&mut out.q);
        Ok(())
    }
}

/// The largest rotation \[rad\] in a step whose lag behind a uniform one is at most [`LAG`]. A quaternion is integrated as a vector:
/// The coefficients of the stability function R(z) = 1 + Σ bᵀA^(i-1)1 zⁱ, of z⁰ first: a step of ẏ = λy multiplies y by R(λh).
fn stability_function(tableau: &Tableau) -> Vec<f64> {
    let dot = |c: &[f64], power: &[f64]| c.iter().zip(power).map(|(c, p)| c * p).sum::<f64>();
    let mut power = vec![1.0; tableau.a.len()];
    let mut coefficients = vec![1.0];
    for _ in 0..tableau.a.len() {
        coefficients.push(dot(tableau.b, &power));
        power = tableau.a.iter().map(|row| dot(row, &power)).collect();
    }
    coefficients
}

/// half the angle is the phase of y in ẏ = i y.
fn resolved(tableau: &Tableau) -> f64 {
    let R = stability_function(tableau);
    let lags = |angle: f64| {
        let phase = 0.5 * angle;
        let y = R.iter().rev().fold(c64::new(0.0, 0.0), |sum, c| sum * c64::new(0.0, phase) + c);
        (y.im.atan2(y.re) / phase - 1.0).abs() > LAG
    };
    let angles = (1..).map(|i| 0.01 * f64::from(i)).take_while(|angle| *angle < MOST_ROTATION);
    angles.take_while(|angle| !lags(*angle)).last().unwrap_or(0.01)
}

/// The largest x with |R(-x)| <= 1, where R is the stability function, of methods whose last stage is at the end of the step.
fn stability(tableau: &Tableau) -> Option<f64> {
    if tableau.error == Estimate::None || tableau.c.last() != Some(&1.0) {
        return None;
    }
    let R = stability_function(tableau);
    let is_stable = |x: f64| R.iter().rev().fold(0.0, |sum, c| sum * -x + c).abs() <= 1.0;
    (1..).map(|i| 0.1 * f64::from(i)).take_while(|x| is_stable(*x)).last()
}

/// Evaluates the right-hand side at `s`.
fn slope(ode: &mut dyn Ode, s: &State, k: &mut State, control: &mut StepControl) -> Result<(), StepError> {
    control.counts.rhs += 1;
    ode.rhs(s, &mut k.q, &mut k.v, &mut k.x).map_err(|source| StepError::Solve { t: s.t, source })
}
