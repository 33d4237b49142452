//! The symmetric form: one chain, a kick of half a step, a drift, a kick of half a step.
//!
//! From (q, v) at the start of a step to (q', v') at its end, all at one instant each:
//!
//! ```text
//! w  = open(v, (h/2)(f - Jᵀλ⁺)),   q' = q ⊕ displace(w, h),      λ⁺ so that Φ(q', t') = 0,
//!                                                                 and ½(ψ(q, w, t) + ψ(q', w, t')) = 0 for rows without Φ;
//! v' = close(w, (h/2)(f' - J'ᵀλ⁻)),                              λ⁻ so that J' v' + Φ_t' = 0.
//! ```
//!
//! That is RATTLE \[Andersen1983\], \[Hairer2006, section VII.1\] with rotations by the exponential map; the mean over both ends for
//! rows at velocity level keeps it symmetric \[McLachlan2006\]. It is of second order; for forces from a potential and rows with
//! Φ it is symplectic, so that its energy error stays bounded; and nothing accumulates in Φ or Φ̇, as both are solved for.
//!
//! **The two solutions.** Both are corrections with factors that are there. For λ⁺ those of S at the start: S η = Φ(q')/h,
//! λ⁺ += (2/h) η. The matrix is wrong by O(h|ω|), so this is repeated, with Φ taken on linearly over what the motion module says
//! that the end moves, until w changes no more; if it was much in all, Φ is evaluated anew, `iterations` times at most. (One
//! correction alone leaves 10⁻⁸ m of the double pendulum at h = 0.01, but loses energy steadily: λ⁺ is predicted from the past, and
//! an error that knows the past is not symmetric.) For λ⁻ those of S at the end: S η = J' v' + Φ_t', λ⁻ = λ⁺ + (2/h) η.
//!
//! **Multipliers of second order.** λ⁺ and λ⁻ are first-order estimates of the multiplier λ at their instant: expanding
//! Φ(q') = 0 about the start, J(v̇⁺ - v̇) = (h/3) J v̈ + O(h²), so λ⁺ = λ + h c + O(h²) with a smooth c; and since the step is
//! symmetric, going backwards, λ⁻ at the same instant is λ - h c + O(h²). So
//!
//! - ½(λ⁻ + λ⁺), λ⁻ of the step that ends and λ⁺ of that which begins at an instant, has order two: this is the multiplier
//!   that the two half kicks there apply together. The mean of λ⁺ and λ⁻ of one step has not: they belong to its two ends;
//! - it is known one step late. At the instant itself λ follows from M v̇ + Jᵀλ = f, J v̇ = γ, with the factors that are there:
//!   of the order of q and v, two. That is what is given out, with v̇ for the dense output and the next step;
//! - λ⁺ ≈ λ + (h/h₋)(λ - λ⁻) is then wrong by O(h²) only, Φ by O(h⁴) before any correction, and no memory of earlier
//!   steps is needed.
//!
//! Forces that depend on velocities, and rates of first-order states, are evaluated at v ≈ w + (h/2) v̇, x ≈ x + h ẋ: one
//! evaluation a step serves its end and the next start. Costs that, one more of Φ and J, one factorization and three to six pairs
//! of triangular solutions.

use super::modules::{Modules, at};
use crate::error::StepError;
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::staggered::{add_J_mul, add_Jt_mul};
use crate::views::Staggered;

/// Corrections of λ⁺ for one evaluation of Φ at most, and the correction of w, relative in the metric of M, that asks for no other.
const CORRECTIONS: u32 = 5;
const ENOUGH: f64 = 3e-4;
/// The same of one whose square is rounding: w, corrected to first order, is exact.
const LINEAR: f64 = 1e-7;
/// The same of what a further correction with the Φ at hand would be.
const DONE: f64 = 1e-9;
/// Corrections of λ at a start.
const START: u32 = 4;

/// The symmetric form with its memory; of pairs, the first is at the start of a step and the second at its end.
pub(super) struct Symmetric {
    iterations: u32,
    pub eq: [Equations; 2],
    pub accel: [Accel; 2],
    pub xdot: [Vec<f64>; 2],
    /// f without what the motion module accounts for (nv).
    applied: [Vec<f64>; 2],
    /// λ⁻ (nc).
    minus: [Vec<f64>; 2],
    /// λ of the instant before the first (nc).
    before: Vec<f64>,
    /// λ⁺ (nc).
    plus: Vec<f64>,
    pub w: Vec<f64>,
    impulse: Vec<f64>,
    delta: Vec<f64>,
    v: Vec<f64>,
    /// Jᵀλ and Jᵀλ⁻ where the last step ended (nv).
    pull: Vec<f64>,
    pull_minus: Vec<f64>,
    change: Vec<f64>,
    moved: Vec<f64>,
    r: Vec<f64>,
    mean: Vec<f64>,
    eta: Vec<f64>,
    /// Size of the step before \[s\]; not a number at a start.
    h: [f64; 2],
    has_velocity_rows: bool,
    /// What a correction of λ⁺ leaves to the next, squared.
    share: f64,
}

impl Symmetric {
    pub fn new(iterations: u32) -> Symmetric {
        let none = Vec::new;
        Symmetric {
            iterations,
            eq: Default::default(),
            accel: Default::default(),
            xdot: Default::default(),
            applied: Default::default(),
            minus: Default::default(),
            before: none(),
            plus: none(),
            w: none(),
            impulse: none(),
            delta: none(),
            v: none(),
            pull: none(),
            pull_minus: none(),
            change: none(),
            moved: none(),
            r: none(),
            mean: none(),
            eta: none(),
            h: [f64::NAN; 2],
            has_velocity_rows: false,
            share: 1.0,
        }
    }

    /// Makes room, with the masses of `eq`.
    pub fn prepare(&mut self, s: &Structure, eq: &Equations) {
        self.eq = [eq.clone(), eq.clone()];
        self.accel = [Accel::zeros(s), Accel::zeros(s)];
        self.xdot = [vec![0.0; s.nx], vec![0.0; s.nx]];
        self.applied = [vec![0.0; s.nv], vec![0.0; s.nv]];
        self.minus = [vec![0.0; s.nc], vec![0.0; s.nc]];
        (self.before, self.plus) = (vec![0.0; s.nc], vec![0.0; s.nc]);
        (self.w, self.impulse) = (vec![0.0; s.nv], vec![0.0; s.nv]);
        (self.delta, self.v) = (vec![0.0; s.nv], vec![0.0; s.nv]);
        (self.r, self.mean, self.eta) = (vec![0.0; s.nc], vec![0.0; s.nc], vec![0.0; s.nc]);
        (self.pull, self.pull_minus) = (vec![0.0; s.nv], vec![0.0; s.nv]);
        (self.change, self.moved) = (vec![0.0; s.nv], vec![0.0; s.nv]);
        self.has_velocity_rows = s.rows.iter().any(|r| r.holonomic < r.size);
    }

    /// Begins at `s`.
    pub fn begin(&mut self, m: &mut Modules, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let ([eq, _], [accel, _]) = (&mut self.eq, &mut self.accel);
        accel.lambda.fill(0.0);
        let controller = m.controller.take();
        m.evaluate(view, s, eq, &accel.lambda, &accel.lambda, 0.0);
        m.controller = controller;
        m.multipliers.take_J(view.structure(), eq).map_err(at(s))?;
        m.accelerate(view.structure(), eq, accel, START).map_err(at(s))?;
        if m.controller.is_some() {
            m.evaluate(view, s, eq, &accel.lambda, &accel.lambda, 0.0);
            m.accelerate(view.structure(), eq, accel, START).map_err(at(s))?;
        }
        view.xdot(s, eq, accel, &mut self.xdot[0]);
        self.applied[0].copy_from_slice(&eq.f);
        m.motion.applied(&s.v, &mut self.applied[0]);
        self.minus[0].copy_from_slice(&accel.lambda);
        self.before.copy_from_slice(&accel.lambda);
        self.pull.fill(0.0);
        add_Jt_mul(view.structure(), eq, &accel.lambda, &mut self.pull);
        self.pull_minus.copy_from_slice(&self.pull);
        self.h = [f64::NAN; 2];
        self.share = 1.0;
        Ok(())
    }

    /// Begins where the last step ended.
    pub fn turn(&mut self) {
        self.before.copy_from_slice(&self.accel[0].lambda);
        self.eq.swap(0, 1);
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
        self.applied.swap(0, 1);
        self.minus.swap(0, 1);
        self.h[0] = self.h[1];
    }

    /// Begins again where this step began, after one that was given up.
    pub fn again(&mut self, m: &mut Modules, view: &dyn Staggered, s: &State) -> Result<(), StepError> {
        m.multipliers.take_J(view.structure(), &self.eq[0]).map_err(at(s))
    }

    /// A step of size `h` from `start`; the time of `end` is given.
    pub fn advance(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
    ) -> Result<(), StepError> {
        let first = self.h[0].is_nan();
        let ratio = if first { 0.0 } else { h / self.h[0] };
        self.open(m, view, start, end, h, ratio)?;

        // forces at the end, at predicted velocities and states
        let [here, there] = &mut self.accel;
        predict(&mut end.v, &self.w, 0.5 * h, &here.vdot);
        predict(&mut end.x, &start.x, h, &self.xdot[0]);
        let eq = &mut self.eq[1];
        m.evaluate(view, end, eq, &here.lambda, &self.before, ratio);
        let s = view.structure();
        self.applied[1].copy_from_slice(&eq.f);
        m.motion.applied(&end.v, &mut self.applied[1]);
        m.multipliers.take_J(s, eq).map_err(at(end))?;

        // the second kick and λ⁻
        let (applied, impulse) = (&self.applied[1], &mut self.impulse);
        impulse.copy_from_slice(m.remaining(s, eq, applied, &self.plus));
        self.pull.iter_mut().zip(applied).zip(&*impulse).for_each(|((p, f), rest)| *p = f - rest);
        impulse.iter_mut().for_each(|i| *i *= 0.5 * h);
        m.motion.close(&self.w, impulse, h, &mut self.v);
        let eta = m.constrain(s, eq, &mut self.v).map_err(at(end))?;
        for ((minus, plus), eta) in self.minus[1].iter_mut().zip(&self.plus).zip(eta) {
            *minus = plus + 2.0 / h * eta;
        }
        self.pull_minus
            .iter_mut()
            .zip(&self.pull)
            .zip(m.force())
            .for_each(|((l, p), d)| *l = p + 2.0 / h * *d);

        // λ and v̇ at the end
        there.lambda.copy_from_slice(&self.minus[1]);
        m.force().iter_mut().zip(&eq.f).zip(&self.pull_minus).for_each(|((rest, f), p)| *rest = f - p);
        m.accelerate_remaining(s, eq, there, 1).map_err(at(end))?;
        self.pull.iter_mut().zip(&self.pull_minus).zip(m.force()).for_each(|((p, l), d)| *p = l + *d);
        view.xdot(end, eq, there, &mut self.xdot[1]);
        end.v.copy_from_slice(&self.v);
        for (((x, x0), d0), d1) in end.x.iter_mut().zip(&start.x).zip(&self.xdot[0]).zip(&self.xdot[1]) {
            *x = x0 + 0.5 * h * (d0 + d1);
        }
        self.h[1] = h;
        Ok(())
    }

    /// The first kick, the drift and λ⁺.
    fn open(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
        ratio: f64,
    ) -> Result<(), StepError> {
        let lambda = &self.accel[0].lambda;
        for ((plus, l), minus) in self.plus.iter_mut().zip(lambda).zip(&self.minus[0]) {
            *plus = l + ratio * (l - minus);
        }
        for (i, impulse) in self.impulse.iter_mut().enumerate() {
            let pull = self.pull[i] + ratio * (self.pull[i] - self.pull_minus[i]);
            *impulse = 0.5 * h * (self.applied[0][i] - pull);
        }
        self.drift(m, view, start, end, h, false)?;
        if self.plus.is_empty() {
            return Ok(());
        }
        let kinetic = m.mass.dot(&self.w, &self.w, &mut self.v);
        for _ in 0..self.iterations {
            let stage = if self.has_velocity_rows { Stage::VELOCITY } else { Stage::POSITION };
            view.update(end, stage, &mut self.eq[1]);
            m.corrections += 1;
            let corrected = self.correct(m, view.structure(), h, kinetic).map_err(at(end))?;
            if corrected <= LINEAR * LINEAR * kinetic {
                // w is already what open would make of the impulse
                self.place(m, view, start, end, h);
            } else {
                self.drift(m, view, start, end, h, true)?;
            }
            // what is left is of the order of the square
            if corrected <= ENOUGH * ENOUGH * kinetic {
                break;
            }
        }
        Ok(())
    }

    /// Corrects λ⁺, the impulse and w until Φ, taken on linearly, vanishes; returns the size of the correction, squared in the
    /// metric of M.
    fn correct(
        &mut self,
        m: &mut Modules,
        s: &Structure,
        h: f64,
        kinetic: f64,
    ) -> Result<f64, crate::error::SolveError> {
        self.delta.fill(0.0);
        // what is known fades, so that it is found anew now and then
        self.share = (1.2 * self.share).min(1.0);
        let (mut corrected, mut last) = (0.0, f64::INFINITY);
        for pass in 0..CORRECTIONS {
            self.violation(s, h, pass > 0);
            m.multipliers.solve(&self.r, &mut self.eta)?;
            let Symmetric { eq: [here, _], eta, plus, impulse, v, w, change, moved, delta, .. } = self;
            v.fill(0.0);
            add_Jt_mul(s, here, eta, v);
            m.motion.respond(v, h, change, moved);
            plus.iter_mut().zip(&*eta).for_each(|(l, eta)| *l += 2.0 / h * eta);
            for i in 0..v.len() {
                impulse[i] -= v[i];
                w[i] -= change[i];
                delta[i] -= moved[i];
            }
            let size = self.r.iter().zip(&self.eta).map(|(r, e)| r * e).sum::<f64>();
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

    fn drift(
        &mut self,
        m: &mut Modules,
        view: &dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
        warm: bool,
    ) -> Result<(), StepError> {
        if !m.motion.open(&start.v, &self.impulse, h, warm, &mut self.w) {
            let omega = m.watch.highest.max(2.0 / h);
            return Err(StepError::StepTooLarge { t: start.t, h, omega });
        }
        self.place(m, view, start, end, h);
        Ok(())
    }

    /// Moves `end` to where w leads from `start`.
    fn place(&mut self, m: &mut Modules, view: &dyn Staggered, start: &State, end: &mut State, h: f64) {
        m.motion.displace(&self.w, h, &mut self.delta);
        end.q.copy_from_slice(&start.q);
        view.retract(&mut end.q, &self.delta);
    }

    /// What w leaves to be corrected, as a velocity: (Φ + J δ)/h, δ being how far the end has moved since Φ was evaluated, if it
    /// has, or the mean of ψ over both ends.
    fn violation(&mut self, s: &Structure, h: f64, moved: bool) {
        let Symmetric { eq: [here, there], r, mean, delta, w, .. } = self;
        r.copy_from_slice(&there.phi);
        if moved {
            add_J_mul(s, there, delta, r);
        }
        r.iter_mut().for_each(|r| *r /= h);
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

/// out = base + h rate.
pub(super) fn predict(out: &mut [f64], base: &[f64], h: f64, rate: &[f64]) {
    out.iter_mut().zip(base).zip(rate).for_each(|((o, b), r)| *o = b + h * r);
}
