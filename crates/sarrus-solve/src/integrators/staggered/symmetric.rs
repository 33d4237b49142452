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
//! λ⁺ += (2/h) η, and the drift again. The matrix is wrong by O(h|ω|), so this is done three times, with Φ taken on linearly, as
//! Φ + J' δ, over what the drift has moved; and if that was much, Φ is evaluated anew and all repeated, `iterations` times at most.
//! (One correction alone leaves 10⁻⁸ m of the double pendulum at h = 0.01, but loses energy steadily: λ⁺ is predicted from the past,
//! and an error that knows the past is not symmetric. Three leave 10⁻¹⁰ m and no drift over 2000 periods.) For λ⁻ those of S at the
//! end: S η = J' v' + Φ_t', λ⁻ = λ⁺ + (2/h) η.
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
//! evaluation a step serves its end and the next start. Costs that, one more of Φ and J, one factorization and five pairs of
//! triangular solutions.

use super::modules::{Modules, at};
use crate::error::StepError;
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::views::Staggered;

/// Corrections of λ⁺ for one evaluation of Φ, and the correction of w, relative in the metric of M, that asks for no other.
const CORRECTIONS: u32 = 3;
const ENOUGH: f64 = 3e-4;
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
    /// Positions where Φ was evaluated (nq).
    q: Vec<f64>,
    r: Vec<f64>,
    mean: Vec<f64>,
    eta: Vec<f64>,
    /// Size of the step before \[s\]; not a number at a start.
    h: [f64; 2],
    has_velocity_rows: bool,
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
            q: none(),
            r: none(),
            mean: none(),
            eta: none(),
            h: [f64::NAN; 2],
            has_velocity_rows: false,
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
        self.q = vec![0.0; s.nq];
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
        self.h = [f64::NAN; 2];
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
        let force = m.remaining(s, eq, &self.applied[1], &self.plus);
        self.impulse.iter_mut().zip(&*force).for_each(|(i, f)| *i = 0.5 * h * f);
        m.motion.close(&self.w, &self.impulse, h, &mut self.v);
        let eta = m.constrain(s, eq, &mut self.v).map_err(at(end))?;
        for ((minus, plus), eta) in self.minus[1].iter_mut().zip(&self.plus).zip(eta) {
            *minus = plus + 2.0 / h * eta;
        }

        // λ and v̇ at the end
        there.lambda.copy_from_slice(&self.minus[1]);
        m.accelerate(s, eq, there, 1).map_err(at(end))?;
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
        let force = m.remaining(view.structure(), &self.eq[0], &self.applied[0], &self.plus);
        self.impulse.iter_mut().zip(&*force).for_each(|(i, f)| *i = 0.5 * h * f);
        self.drift(m, view, start, end, h)?;
        if self.plus.is_empty() {
            return Ok(());
        }
        self.eq[0].mass_mul(view.structure(), &self.w, &mut self.v);
        let kinetic: f64 = self.v.iter().zip(&self.w).map(|(p, w)| p * w).sum();
        for _ in 0..self.iterations {
            self.evaluate_rows(view, end);
            m.corrections += 1;
            self.q.copy_from_slice(&end.q);
            self.delta.fill(0.0);
            let mut corrected = 0.0;
            for _ in 0..CORRECTIONS {
                self.violation(view.structure(), h);
                m.multipliers.solve(&self.r, &mut self.eta).map_err(at(end))?;
                self.v.fill(0.0);
                self.eq[0].add_Jt_mul(view.structure(), &self.eta, &mut self.v);
                self.impulse.iter_mut().zip(&self.v).for_each(|(i, d)| *i -= d);
                self.plus.iter_mut().zip(&self.eta).for_each(|(l, eta)| *l += 2.0 / h * eta);
                self.drift(m, view, start, end, h)?;
                view.difference(&end.q, &self.q, &mut self.delta);
                corrected += self.r.iter().zip(&self.eta).map(|(r, e)| r * e).sum::<f64>();
            }
            // what is left is of the order of the square
            if corrected <= ENOUGH * ENOUGH * kinetic {
                break;
            }
        }
        Ok(())
    }

    fn drift(
        &mut self,
        m: &mut Modules,
        view: &dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
    ) -> Result<(), StepError> {
        if !m.motion.open(&start.v, &self.impulse, h, &mut self.w) {
            let omega = m.watch.highest.max(2.0 / h);
            return Err(StepError::StepTooLarge { t: start.t, h, omega });
        }
        m.motion.displace(&self.w, h, &mut self.delta);
        end.q.copy_from_slice(&start.q);
        view.retract(&mut end.q, &self.delta);
        Ok(())
    }

    /// Φ, J, and where there are rows without Φ also Φ_t, at the end of the drift.
    fn evaluate_rows(&mut self, view: &mut dyn Staggered, end: &State) {
        let stage = if self.has_velocity_rows { Stage::VELOCITY } else { Stage::POSITION };
        view.update(end, stage, &mut self.eq[1]);
    }

    /// What w leaves to be corrected, as a velocity: (Φ + J δ)/h, δ being how far the drift has moved since Φ was evaluated, or
    /// the mean of ψ over both ends.
    fn violation(&mut self, s: &Structure, h: f64) {
        let Symmetric { eq: [here, there], r, mean, delta, w, .. } = self;
        r.copy_from_slice(&there.phi);
        there.add_J_mul(s, delta, r);
        r.iter_mut().for_each(|r| *r /= h);
        if self.has_velocity_rows {
            mean.iter_mut().zip(&here.phi_t).zip(&there.phi_t).for_each(|((m, a), b)| *m = a + b);
            here.add_J_mul(s, w, mean);
            there.add_J_mul(s, w, mean);
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
