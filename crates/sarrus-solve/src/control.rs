//! Step-size control: the error norm, the controller, and the first step.
//!
//! **Norm.** An estimate δ of a step's error is measured group by group (one group: a position, an orientation,
//! a velocity, ...), each by its Euclidean length, so that turning the world axes changes nothing:
//!
//! | group | error | against |
//! |---|---|---|
//! | position, velocity, angular velocity, auxiliary | \|δ\| | atol + rtol max(\|y₀\|, \|y₁\|) |
//! | quaternion | 2 \|δ\|, the angle in radians | atol + rtol |
//! | angle | \|δ\| | atol + rtol |
//! | energy | \|δ\| | energy tolerance times the energy exchanged in the run |
//!
//! Angles are measured against one radian whatever their value: an angle of many turns is no less exact than
//! one of none, a planar body is treated as a spatial one would be, and the zero of angles does not matter.
//! The norm is the largest over the groups. A root mean square would hide one whipping link among 100 000
//! resting ones, and would depend on how many of them there are. Numbers in no group (energy bookkeeping, for
//! example) are integrated but do not control the step.
//!
//! **Rotation.** A step that rotates a body by more than [`MOST_ROTATION`] is rejected whatever its error: a uniform rotation about a
//! fixed axis has none in some coordinates, but revolutions are counted from step to step, and the states inside a step are
//! interpolated between its ends. [`Rotations`] keeps what was found.
//!
//! **Controller.** For an estimate of size h^k, proportional-integral control \[Gustafsson1991\],
//! \[Hairer1996, section IV.2\]: h' = h · safety · err^(-α) · err₋₁^β with β = 0.2/k, α = 1/k - 0.75 β, within the growth limits.

use crate::error::{MethodError, SolveError};
use crate::problem::{Array, GroupKind, NormGroup, State, Structure};
use crate::rotations::{AngularVelocities, Rotations};
use crate::stiffness::StiffnessMonitor;
use crate::views::Ode;

/// The most that a step may shrink after one trial.
const SHRINK: f64 = 0.2;
/// The power of a rotation beyond its limit that stands for an error: the highest that estimates go with.
const EXCESS: i32 = 8;
/// The least energy that errors of energies are measured against \[J\].
const LEAST_ENERGY: f64 = 1e-9;
/// A remainder of the run within this fraction of a step is not left over for a step of its own.
const SLIVER: f64 = 1e-9;
/// A remainder within this fraction of a fixed step is shared with the step before it.
const SHORT: f64 = 1e-3;

/// Holds what was asked of a run, and what the step control remembers between steps.
#[derive(Debug, Clone, PartialEq)]
pub struct StepControl {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance \[m, rad, m/s, rad/s\].
    pub atol: f64,
    /// Relative tolerance of energies; infinite, so that they do not count, unless it is set.
    pub energy_tolerance: f64,
    /// The energy exchanged so far, against which errors of energies are measured \[J\].
    pub energy_scale: f64,
    /// Size of fixed steps, or first and largest size of adaptive ones \[s\]. Without it a fixed-step method takes
    /// 1000 steps to the first [`t_end`](StepControl::t_end), and notes the size here.
    pub step: Option<f64>,
    /// Marks where steps must end \[s\].
    pub t_end: f64,
    /// Work done so far.
    pub counts: StepCounts,
    /// Rotations within steps so far.
    pub rotations: Rotations,
    /// Steps that stability has limited so far.
    pub stiffness: StiffnessMonitor,
    /// Size that the controller wants next.
    proposal: Option<f64>,
    /// Error of the last accepted step.
    previous_error: f64,
    /// Fixed steps end at `grid_start + n step`, so that rounding does not accumulate.
    grid_start: f64,
    grid_n: u64,
}

/// Work done by an integrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepCounts {
    /// Accepted steps.
    pub steps: u64,
    /// Trials given up: too large an error, or no solution at a stage.
    pub rejected: u64,
    /// Evaluations of the right-hand side.
    pub rhs: u64,
}

/// Limits of the controller: options of an adaptive method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLimits {
    /// Aim at this fraction of the step that would just meet the tolerance.
    pub safety: f64,
    /// The most that a step may grow over the one before.
    pub growth: f64,
    /// The least step \[s\]; never less than what time can resolve.
    pub min_step: f64,
}

impl Default for StepLimits {
    fn default() -> Self {
        StepLimits { safety: 0.9, growth: 5.0, min_step: 0.0 }
    }
}

impl StepControl {
    /// Starts with tolerances and the step, if one is asked for.
    pub fn new(rtol: f64, atol: f64, step: Option<f64>) -> Result<StepControl, MethodError> {
        let check = |option, value: f64, good: bool, expected| {
            let bad = || MethodError::BadOption { kind: "run", option, value: value.to_string(), expected };
            good.then_some(()).ok_or_else(bad)
        };
        check("rtol", rtol, rtol.is_finite() && rtol >= 0.0, "finite and not negative")?;
        check("atol", atol, atol.is_finite() && atol > 0.0, "finite and positive")?;
        if let Some(step) = step {
            check("step", step, step.is_finite() && step > 0.0, "finite and positive")?;
        }
        Ok(StepControl {
            rtol,
            atol,
            energy_tolerance: f64::INFINITY,
            energy_scale: 0.0,
            step,
            t_end: f64::INFINITY,
            counts: StepCounts::default(),
            rotations: Rotations::default(),
            stiffness: StiffnessMonitor::default(),
            proposal: None,
            previous_error: 1.0,
            grid_start: f64::NAN,
            grid_n: 0,
        })
    }

    /// The size that the next step would have if it were not for [`t_end`](StepControl::t_end) \[s\], once known.
    pub fn proposal(&self) -> Option<f64> {
        match (self.proposal, self.step) {
            (Some(h), Some(step)) => Some(h.min(step)),
            (h, step) => h.or(step),
        }
    }

    /// As [`proposal`](Control::proposal), once a step has been taken of the right-hand side at hand.
    pub(crate) fn next_size(&self) -> Option<f64> {
        self.proposal.and_then(|_| self.proposal())
    }

    /// Forgets what the steps so far have told of the right-hand side, where another one takes its place; the work done stays.
    pub fn restart(&mut self) {
        self.proposal = None;
        self.previous_error = 1.0;
    }

    /// End of the fixed step from `t`. Where whole steps do not end at `t_end` the last one is shorter; where it would be much
    /// shorter, the last two share what is left, as methods that remember divide by it.
    pub(crate) fn fixed_end(&mut self, t: f64) -> f64 {
        let h = *self.step.get_or_insert((self.t_end - t) / 1000.0);
        if t != self.grid_time(0, h) {
            (self.grid_start, self.grid_n) = (t, 0);
        }
        last_steps(t, self.grid_time(1, h), h, self.t_end)
    }

    /// The end of the first fixed step from `t` on, of those in the grid of times, that is not before `until`; the grid continues from there.
    pub(crate) fn fixed_after(&mut self, t: f64, until: f64) -> f64 {
        let h = *self.step.get_or_insert((self.t_end - t) / 1000.0);
        if !(self.grid_start <= t) {
            (self.grid_start, self.grid_n) = (t, 0);
        }
        let steps = ((until - self.grid_start) / h - SLIVER).ceil();
        self.grid_n = if steps > 0.0 { steps as u64 } else { 0 };
        let end = self.grid_time(0, h);
        if end > self.t_end - SHORT * h { self.t_end } else { end }
    }

    fn grid_time(&self, ahead: u64, h: f64) -> f64 {
        self.grid_start + (self.grid_n + ahead) as f64 * h
    }

    /// End of an adaptive step from `t` of about `h`: the last two steps before `t_end` share what is left.
    pub(crate) fn adaptive_end(&self, t: f64, h: f64) -> f64 {
        let left = self.t_end - t;
        if h >= left * (1.0 - SLIVER) {
            self.t_end
        } else if 2.0 * h > left {
            t + 0.5 * left
        } else {
            t + h
        }
    }

    /// The least step at `t`: what is asked for, or a few units in the last place of the time.
    pub(crate) fn min_step(&self, t: f64, limits: &StepLimits) -> f64 {
        let far = if self.t_end.is_finite() { self.t_end.abs() } else { 0.0 };
        limits.min_step.max(16.0 * f64::EPSILON * t.abs().max(far).max(f64::MIN_POSITIVE))
    }

    /// Notes a fixed step.
    pub(crate) fn accept_fixed(&mut self) {
        self.counts.steps += 1;
        self.grid_n += 1;
    }

    /// Notes an adaptive step of size `h` where `wanted` was the size before `t_end` shortened it, with an
    /// estimate `error` of size h^`power`.
    pub(crate) fn accept(
        &mut self,
        h: f64,
        wanted: f64,
        error: f64,
        power: u32,
        rejected: bool,
        limits: &StepLimits,
    ) {
        let k = f64::from(power);
        let beta = 0.2 / k;
        let alpha = 1.0 / k - 0.75 * beta;

        // a step that follows a rejection does not grow: the reason for it is still near
        let growth = if rejected { 1.0 } else { limits.growth };
        let factor = limits.safety * error.powf(-alpha) * self.previous_error.powf(beta);
        let grown = h * factor.clamp(SHRINK, growth);

        // shortened by t_end only: the wanted size is still the better guess
        let shortened = h < wanted * (1.0 - SLIVER);
        self.proposal = Some(if shortened { grown.max(wanted) } else { grown });
        self.previous_error = error.max(1e-4);
        self.counts.steps += 1;
    }

    /// Notes an adaptive step of a method that has chosen the size `next` \[s\] of the next one itself.
    pub(crate) fn accept_with(&mut self, next: f64) {
        self.proposal = Some(next);
        self.counts.steps += 1;
    }
}

impl StepLimits {
    /// The size to try after a step of size `h` whose error, of size h^`power`, is too large or not a number.
    pub(crate) fn after_rejection(&self, h: f64, error: f64, power: u32) -> f64 {
        let factor = self.safety * error.powf(-1.0 / f64::from(power));
        h * if factor.is_nan() { SHRINK } else { factor.clamp(SHRINK, 0.9) }
    }
}

/// Length of the numbers of `group` in `delta`; for quaternions the angle that a small change means.
fn length(group: &NormGroup, delta: &State) -> f64 {
    let d = &array(group, delta)[group.start..][..group.len];
    let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    if group.kind == GroupKind::Rotation { 2.0 * length } else { length }
}

fn array<'a>(group: &NormGroup, s: &'a State) -> &'a [f64] {
    match group.kind.array() {
        Array::Q => &s.q,
        Array::V => &s.v,
        Array::X => &s.x,
    }
}

/// The error that `group` may have in a step from `a` to `b`.
fn allowed(group: &NormGroup, control: &StepControl, a: &State, b: &State) -> f64 {
    let size = match group.kind {
        GroupKind::Energy => {
            let size = length(group, a).max(length(group, b)).max(control.energy_scale);
            return control.energy_tolerance * size.max(LEAST_ENERGY);
        }
        GroupKind::Rotation | GroupKind::Angle => 1.0,
        GroupKind::Position | GroupKind::Velocity | GroupKind::AngularVelocity | GroupKind::Auxiliary => {
            length(group, a).max(length(group, b))
        }
    };
    control.atol + control.rtol * size
}

/// The largest of `values`; not a number if one of them is.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |worst: f64, e| if worst.is_nan() || e <= worst { worst } else { e })
}

/// `error`, or more than one where a body rotates too far in a step of size `h` that ends at `b`: then by as much as shortens the step
/// to what is allowed, for estimates of any power up to [`EXCESS`]. The speeds at its start are those of `control.rotations`.
pub(crate) fn with_rotation(
    error: f64,
    angular: &AngularVelocities,
    control: &StepControl,
    h: f64,
    b: &State,
) -> f64 {
    let Rotations { limit, start, .. } = control.rotations;
    let fraction = h * angular.fastest(limit, &b.v).0.max(start);
    if fraction > 1.0 { error.max(fraction.powi(EXCESS)) } else { error }
}

/// The size of `delta`, a change in a step from `a` to `b`, in units of the tolerance; not a number if `delta` is not. Energies, which
/// may be zero at first, have no size of their own.
pub(crate) fn scaled_norm(
    groups: &[NormGroup],
    control: &StepControl,
    a: &State,
    b: &State,
    delta: &State,
) -> f64 {
    let sized = groups.iter().filter(|g| g.kind != GroupKind::Energy);
    largest(sized.map(|g| length(g, delta) / allowed(g, control, a, b)))
}

/// The estimate `delta` of a step from `a` to `b`, in units of the tolerance; not a number if `delta` is not. Above one too where the
/// step rotates a body too far.
pub fn error_norm(structure: &Structure, control: &StepControl, a: &State, b: &State, delta: &State) -> f64 {
    let error = largest(structure.groups.iter().map(|g| length(g, delta) / allowed(g, control, a, b)));
    with_rotation(error, &structure.angular, control, b.t - a.t, b)
}

/// As [`error_norm`] for a pair of estimates of orders 5 and 3: per group |δ₅|² / √(|δ₅|² + 0.01 |δ₃|²).
/// \[Hairer1993, section II.10\]
pub fn pair_error_norm(
    structure: &Structure,
    control: &StepControl,
    a: &State,
    b: &State,
    delta5: &State,
    delta3: &State,
) -> f64 {
    let error = largest(structure.groups.iter().map(|g| {
        let (e5, e3) = (length(g, delta5), length(g, delta3));
        let both = (e5 * e5 + 0.01 * e3 * e3).sqrt();
        let e = if both == 0.0 { 0.0 } else { e5 * (e5 / both) };
        e / allowed(g, control, a, b)
    }));
    with_rotation(error, &structure.angular, control, b.t - a.t, b)
}

/// A first step for an estimate of size h^`power`: small enough that an explicit Euler step of it is accurate to
/// about 1%, from the sizes of the state, of its rate `slope`, and of the change of the rate over a trial step.
/// \[Hairer1993, section II.4\]
///
/// `state` and `rate` are scratch. Evaluates the right-hand side once, or a few times where that fails.
pub(crate) fn initial_step(
    ode: &mut dyn Ode,
    control: &mut StepControl,
    start: &State,
    slope: &State,
    power: u32,
    state: &mut State,
    rate: &mut State,
) -> Result<f64, SolveError> {
    let left = control.t_end - start.t;
    let norm = |ode: &dyn Ode, control: &StepControl, d: &State| {
        scaled_norm(&ode.structure().groups, control, start, start, d)
    };
    let size = norm(ode, control, start);
    let speed = norm(ode, control, slope);

    let mut trial = if size < 1e-5 || speed < 1e-5 { 1e-6 } else { 0.01 * size / speed };
    trial = trial.min(left);
    let mut failures = 0;
    loop {
        combine(state, start, trial, &[1.0], std::slice::from_ref(slope));
        state.t = start.t + trial;
        ode.normalize(&mut state.q);
        control.counts.rhs += 1;
        match ode.rhs(state, &mut rate.q, &mut rate.v, &mut rate.x) {
            Ok(()) => break,
            Err(error) if failures == 10 => return Err(error),
            Err(_) => (trial, failures) = (0.1 * trial, failures + 1),
        }
    }

    // rate - slope, over the trial step
    let change = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a - b) / trial);
    change(&mut rate.q, &slope.q);
    change(&mut rate.v, &slope.v);
    change(&mut rate.x, &slope.x);
    let curvature = norm(ode, control, rate);

    let steepest = speed.max(curvature);
    let h = if steepest <= 1e-15 {
        (1e-3 * trial).max(1e-6)
    } else {
        (0.01 / steepest).powf(1.0 / f64::from(power))
    };
    // a rate that is not a number is left for the error test of the step
    let h = if h.is_finite() { h.min(100.0 * trial) } else { trial };
    Ok(if failures > 0 { h.min(trial) } else { h }.min(left))
}

/// The end of a step of size `h` from `t` that would end at `t1`, where all end at `t_end`: a sliver is taken along, and what
/// is much shorter than a step is shared with the step before it.
pub(crate) fn last_steps(t: f64, t1: f64, h: f64, t_end: f64) -> f64 {
    if t1 > t_end - SLIVER * h {
        t_end
    } else if t1 > t_end - SHORT * h {
        t + 0.5 * (t_end - t)
    } else {
        t1
    }
}

/// out = base + h Σ c_j k_j for q, v and x; the time is left alone.
pub(crate) fn combine(out: &mut State, base: &State, h: f64, c: &[f64], k: &[State]) {
    combine_array(&mut out.q, Some(&base.q), h, c, |j| &k[j].q);
    combine_array(&mut out.v, Some(&base.v), h, c, |j| &k[j].v);
    combine_array(&mut out.x, Some(&base.x), h, c, |j| &k[j].x);
}

/// out = h Σ c_j k_j, likewise.
pub(crate) fn combine_slopes(out: &mut State, h: f64, c: &[f64], k: &[State]) {
    combine_array(&mut out.q, None, h, c, |j| &k[j].q);
    combine_array(&mut out.v, None, h, c, |j| &k[j].v);
    combine_array(&mut out.x, None, h, c, |j| &k[j].x);
}

/// The sum is made in blocks that stay in registers or next to them, each a plain loop that vectorises.
fn combine_array<'a>(
    out: &mut [f64],
    base: Option<&[f64]>,
    h: f64,
    c: &[f64],
    k: impl Fn(usize) -> &'a [f64],
) {
    const BLOCK: usize = 32;
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let start = block * BLOCK;
        let mut sum = [0.0; BLOCK];
        for (j, &c) in c.iter().enumerate().filter(|(_, c)| **c != 0.0) {
            let k = &k(j)[start..][..out.len()];
            sum.iter_mut().zip(k).for_each(|(sum, k)| *sum += c * k);
        }
        match base {
            Some(base) => out.iter_mut().zip(&base[start..]).zip(&sum).for_each(|((o, b), s)| *o = b + h * s),
            None => out.iter_mut().zip(&sum).for_each(|(o, s)| *o = h * s),
        }
    }
}
