//! The one-step form: a single chain of central differences \[Park1990, eqs. 34, 53-54\].
//!
//! Positions at whole steps n, velocities u half a step away:
//!
//! ```text
//! u^{n+½} = u^{n-½} + h M⁻¹(f^n - J^{nT}λ^n),   q^{n+1} = q^n ⊕ h u^{n+½}                                   CINT
//! (ε + h J̃ M⁻¹ J^{nT}) λ^n = J̃(u^{n-½} + h M⁻¹ f^n) + Φ̃_t + Φ^n/h,   J̃ and Φ̃_t at q^n ⊕ (h/2)(u^{n-½} + ¾h v̇^{n-1})   LINT
//! v^n = u^{n-½} + (h/2) v̇^n                                                                                  given out
//! ```
//!
//! LINT is that of the two-stage form, with J half a step ahead of λ: u^{n+½} satisfies its constraints where it carries the motion to
//! second order. What the exact solution leaves of that equation is h³ of a smooth function, so λ has order two as q and v have; with
//! J̃ at q^n, or at q^{n+1}, it would have order one. Φ^n/h takes back what the last step left: a single chain bears that, where
//! the two of the two-stage form would come apart, so positions do not drift; Φ stays of order h³, Φ̇ of v of order h².
//!
//! **Velocities that f^n needs** are not known at n, which is why the paper takes two stages. Here they are extrapolated from
//! `points` of the u before. For rates that turn, u̇ = iΩ u, as gyroscopic forces make them, the chain multiplies u in each step
//! by a number of modulus, to leading order in z = hΩ,
//!
//! | `points` | v^n ≈ | modulus | |
//! |---|---|---|---|
//! | 1 | u^{n-½} | 1 + z²/2 | order one; grows at once |
//! | 2 | (3 u^{n-½} - u^{n-3/2})/2 | 1 + z⁴/4 | the method of Adams and Bashforth: grows slowly at any step |
//! | 3 | (15 u^{n-½} - 10 u^{n-3/2} + 3 u^{n-5/2})/8 | 1 - 5z⁴/16 | is damped, up to z ≈ 0.7 |
//!
//! "Can lead quickly to computational instability" \[Park1990, section V\] is thus true of one point, and of two where bodies spin
//! fast; not of three below their limit, which for fast tops is nearer than the ω h ≤ 2 of what vibrates.
//!
//! **At a start** u^{-½} = v⁰ - (h/2) v̇⁰ would be too little. The chain continues with u = (q^{n+1} - q^n)/h, which is the velocity half-way
//! plus (h²/24) v̈, and with the Φ = -(h³/24) J v̈ that LINT then leaves; begun otherwise it would get there in two steps, and λ be
//! wrong by (7/24) h and h/8 of S⁻¹J v̈ in them. So J v̈ is taken from Φ̇ of v⁰ + (h/2) v̇⁰ half a step later, which is -(h²/8) J v̈: u^{-½}
//! gets (h²/6) v̈ along J, and Φ is held (h³/24) J v̈ above what LINT would leave, that is, near zero. Rows without Φ, where there is
//! nothing to lead back to, get (h²/8) v̈. The chain begins anew where the step changes.
//!
//! **At the end of a segment** what holds half a step later is not known. There λ is that of the equations of motion, and v satisfies its
//! constraints; if nothing has changed, the chain continues with the λ that it would have had. Φ is taken back over the longest step:
//! a short one would make a large velocity of what a long one has left.
//!
//! Costs one evaluation, one more of J, one factorization and two to four solutions a step. Energy grows slowly, and fast spin is
//! damped. To compare with: the symmetric form costs no more.

use super::chain::{Chain, START, equal, predict, trapezoid};
use super::modules::{Modules, at};
use crate::error::StepError;
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::staggered::add_J_mul;
use crate::views::Staggered;

/// The chain; of pairs, the first is at the start of a step and the second at its end, or before that at the start of the last one.
pub(super) struct OneStep {
    points: u32,
    /// u^{n-½}, and the u that carries a step.
    u: [Vec<f64>; 2],
    /// Equations at n, and J half a step later.
    eq: [Equations; 2],
    accel: [Accel; 2],
    xdot: [Vec<f64>; 2],
    /// Half a step later.
    state: State,
    impulse: Vec<f64>,
    delta: Vec<f64>,
    trial: Vec<f64>,
    /// Holds what the next u is to take back of Φ, over time, and what it leaves: h² of a smooth function (nc).
    feedback: Vec<f64>,
    offset: Vec<f64>,
    /// Size of the steps \[s\]; not a number at a start.
    h: f64,
    /// Size of the longest, of all segments \[s\].
    longest: f64,
    /// True if the last step ended a segment, so that λ at its end is not yet that of the chain.
    has_ended: bool,
}

impl OneStep {
    pub fn new(points: u32) -> OneStep {
        OneStep {
            points,
            u: Default::default(),
            eq: Default::default(),
            accel: Default::default(),
            xdot: Default::default(),
            state: State::default(),
            impulse: Vec::new(),
            delta: Vec::new(),
            trial: Vec::new(),
            feedback: Vec::new(),
            offset: Vec::new(),
            h: f64::NAN,
            longest: 0.0,
            has_ended: false,
        }
    }

    /// Begins a chain of steps `h` at `s`, where J has been taken: see the head of the file.
    fn start_chain(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        s: &State,
        h: f64,
    ) -> Result<(), StepError> {
        self.h = h;
        let [now, before] = &mut self.accel;
        predict(&mut self.u[0], &s.v, -0.5 * h, &now.vdot);
        before.vdot.copy_from_slice(&now.vdot);
        before.lambda.copy_from_slice(&now.lambda);
        if self.feedback.is_empty() {
            return Ok(());
        }
        self.evaluate_end(m, view, s, 0);
        let st = view.structure();
        let OneStep { eq: [eq, next], accel: [now, _], u: [u, _], trial, feedback, offset, .. } = self;
        // Φ̇ of the u that would carry the first step, and of v
        predict(trial, u, h, &now.vdot);
        feedback.copy_from_slice(&next.phi_t);
        offset.copy_from_slice(&eq.phi_t);
        add_J_mul(st, next, trial, feedback);
        add_J_mul(st, eq, &s.v, offset);
        for row in &st.rows {
            for i in row.start..row.start + row.size {
                let is_holonomic = i < row.start + row.holonomic;
                let share = if is_holonomic { (feedback[i] - offset[i]) / 3.0 } else { 0.0 };
                feedback[i] += share + if is_holonomic { eq.phi[i] / self.longest } else { 0.0 };
                offset[i] = -share;
            }
        }
        trial.fill(0.0);
        m.constrain(st, eq, feedback, trial).map_err(at(s))?;
        u.iter_mut().zip(&*trial).for_each(|(u, d)| *u += d);
        Ok(())
    }

    /// Φ over the longest step, as what a long step has left is not to be taken back in a short one; less what Φ is led to.
    fn correct_drift(&mut self, s: &Structure) {
        self.feedback.fill(0.0);
        for rows in s.holonomic_rows() {
            for i in rows {
                self.feedback[i] = self.eq[0].phi[i] / self.longest - self.offset[i];
            }
        }
    }

    /// v at the end of the step that u carries, from what is known before it.
    fn extrapolate(&self, h: f64, v: &mut [f64]) {
        let [now, before] = &self.accel;
        let [a, b] = [[0.0, 0.0], [0.5, 0.0], [0.875, -0.375]][self.points.clamp(1, 3) as usize - 1];
        for (i, v) in v.iter_mut().enumerate() {
            *v = self.u[1][i] + h * (a * now.vdot[i] + b * before.vdot[i]);
        }
    }

    /// J and Φ_t half a step after `s`, an end of the step: 0 or 1.
    fn evaluate_end(&mut self, m: &mut Modules, view: &mut dyn Staggered, s: &State, end: usize) {
        let OneStep { eq: [_, next], accel, state, trial, delta, u, h, .. } = self;
        predict(trial, &u[end], 0.75 * *h, &accel[1 - end].vdot);
        m.motion.displace(trial, 0.5 * *h, delta);
        state.t = s.t + 0.5 * *h;
        state.q.copy_from_slice(&s.q);
        view.retract(&mut state.q, delta);
        state.v.copy_from_slice(&s.v);
        state.x.copy_from_slice(&s.x);
        view.update(state, Stage::VELOCITY, next);
    }

    /// λ and v̇ at an end of the step, from the λ that is there, so that the next u satisfies its constraints half a step later.
    fn carry(&mut self, m: &mut Modules, st: &Structure, s: &State, end: usize) -> Result<(), StepError> {
        self.correct_drift(st);
        let OneStep { eq: [eq, next], accel, trial, u, feedback, h, .. } = self;
        let there = &mut accel[end];
        if !there.lambda.is_empty() {
            m.multipliers.load_jacobian(st, next).map_err(at(s))?;
            let given = [&*u[end], &*feedback];
            m.carry(st, [eq, next], *h, given, &mut there.lambda, trial).map_err(at(s))?;
        }
        m.accelerate(st, eq, there, 0).map_err(at(s))
    }

    /// λ at the end, and v̇.
    fn find_lambda(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        end: &State,
        last: bool,
    ) -> Result<(), StepError> {
        // J half a step later, then forces: rates of first-order states are found where the problem was evaluated last
        if !last && !self.feedback.is_empty() {
            self.evaluate_end(m, view, end, 1);
        }
        let OneStep { eq: [eq, _], accel: [now, there], .. } = self;
        m.evaluate(view, end, eq, &now.lambda, &there.lambda, 1.0);
        there.lambda.copy_from_slice(&now.lambda);
        if !last {
            return self.carry(m, view.structure(), end, 1);
        }
        m.multipliers.load_jacobian(view.structure(), eq).map_err(at(end))?;
        m.accelerate(view.structure(), eq, there, START).map_err(at(end))
    }
}

impl Chain for OneStep {
    fn prepare(&mut self, s: &Structure, eq: &Equations) {
        let v = || vec![0.0; s.nv];
        self.u = [v(), v()];
        self.eq = [eq.clone(), eq.clone()];
        self.accel = [Accel::zeros(s), Accel::zeros(s)];
        self.xdot = [vec![0.0; s.nx], vec![0.0; s.nx]];
        self.state = State::zeros(s);
        (self.impulse, self.delta, self.trial) = (v(), v(), v());
        (self.feedback, self.offset) = (vec![0.0; s.nc], vec![0.0; s.nc]);
    }

    fn begin(&mut self, m: &mut Modules, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let OneStep { eq: [eq, _], accel: [now, _], xdot: [rates, _], .. } = self;
        m.begin(view, s, eq, now, START)?;
        view.xdot(s, eq, now, rates);
        (self.h, self.has_ended) = (f64::NAN, false);
        Ok(())
    }

    fn advance_start(&mut self) {
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
        self.u.swap(0, 1);
    }

    fn advance(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
        last: bool,
    ) -> Result<(), StepError> {
        self.longest = self.longest.max(h);
        if !equal(h, self.h) {
            if !self.h.is_nan() {
                self.begin(m, view, start)?;
            }
            self.start_chain(m, view, start, h)?;
        } else if self.has_ended {
            // the segment is over, and nothing has changed
            self.evaluate_end(m, view, start, 0);
            self.carry(m, view.structure(), start, 0)?;
        }
        self.has_ended = last;

        // CINT
        let [before, u] = &mut self.u;
        m.mass.mul(&self.accel[0].vdot, &mut self.impulse);
        self.impulse.iter_mut().for_each(|i| *i *= h);
        if !m.motion.open(before, &self.impulse, h, false, u) {
            return Err(StepError::NoStep { t: start.t, h });
        }
        m.watch.weigh(&m.mass, u);
        m.motion.displace(u, h, &mut self.delta);
        end.q.copy_from_slice(&start.q);
        view.retract(&mut end.q, &self.delta);

        // LINT
        self.extrapolate(h, &mut end.v);
        predict(&mut end.x, &start.x, h, &self.xdot[0]);
        self.find_lambda(m, view, end, last)?;

        // what is given out
        let OneStep { eq: [eq, _], accel: [_, there], xdot: [before, rates], u: [_, u], impulse, .. } = self;
        view.xdot(end, eq, there, rates);
        m.mass.mul(&there.vdot, impulse);
        impulse.iter_mut().for_each(|i| *i *= 0.5 * h);
        m.motion.close(u, impulse, h, &mut end.v);
        trapezoid(&mut end.x, &start.x, h, [before, rates]);
        if last {
            m.constrain(view.structure(), eq, &eq.phi_t, &mut end.v).map_err(at(end))?;
        }
        Ok(())
    }

    fn equations(&self) -> &Equations {
        &self.eq[0]
    }

    fn ends(&self) -> (&[Accel; 2], &[Vec<f64>; 2]) {
        (&self.accel, &self.xdot)
    }
}
