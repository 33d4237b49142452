//! The two-stage procedure of \[Park1990, section V.C\], with its errors removed.
//!
//! Two chains of central differences of step h, half a step apart, so that positions and velocities are both known at every
//! half step k:
//!
//! ```text
//! u^{k+1} = u^{k-1} + h M⁻¹(f^k - J^{kT}λ^k)                                   CINT, eqs. 41-42, 50-51
//! q^{k+2} = q^k ⊕ h u^{k+1}                                                     CINT, eqs. 43, 54
//! (ε + h J^{k+2} M⁻¹ J^{k+1 T}) λ^{k+1} = J^{k+2}(u^k + h M⁻¹ f^{k+1}) + Φ_t      LINT, eq. 32
//! ```
//!
//! Against the print: J is that at the end of the step that λ acts over, which CINT knows already (with the J of the instant
//! itself the procedure is of first order); λ follows from eq. 32, since eq. 56 pairs matrix and right side of different
//! instants and never damps an error of λ; forces have the signs of eqs. 26 and 37. The matrix is not symmetric: it is solved by
//! corrections with that of J^{k+2}, each better by O(h|ω|).
//!
//! It begins with u^{-1} = u⁰ - (h/2) v̇⁰, q¹ = q⁰ ⊕ (h/2)(u⁰ + (h/4) v̇⁰) and λ⁰ of the equations of motion, and anew
//! whenever the step changes. Order two in q, v and λ. Velocities satisfy their constraints as well as eq. 32 is solved;
//! positions drift off, slowly; where velocities are damped the two chains come apart, as two-step central differences do for
//! any decay. Costs two evaluations, two more of J, two factorizations a step. To compare with, and for short runs.

use super::Chain;
use super::modules::{Modules, at};
use crate::error::StepError;
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::views::Staggered;

/// Corrections of λ at a start.
const START: u32 = 4;

/// The two chains; of pairs, the first is at an even half step and the second at an odd one, or at the two ends of a step.
pub(super) struct TwoStage {
    /// u^{k-1} and u^k.
    u: [Vec<f64>; 2],
    /// q^k and q^{k+1}.
    q: [Vec<f64>; 2],
    /// Equations at k, and J at k+2.
    eq: [Equations; 2],
    /// λ^k and v̇^k of the half step, λ^{k-1}.
    now: Accel,
    before: Vec<f64>,
    /// ẋ^k and ẋ^{k-1}.
    rates: [Vec<f64>; 2],
    /// At the ends of the step.
    accel: [Accel; 2],
    xdot: [Vec<f64>; 2],
    state: State,
    impulse: Vec<f64>,
    delta: Vec<f64>,
    trial: Vec<f64>,
    /// Size of the steps \[s\]; not a number at a start.
    h: f64,
}

impl TwoStage {
    pub fn new() -> TwoStage {
        let none = Vec::new;
        TwoStage {
            u: Default::default(),
            q: Default::default(),
            eq: Default::default(),
            now: Accel::default(),
            before: none(),
            rates: Default::default(),
            accel: Default::default(),
            xdot: Default::default(),
            state: State::default(),
            impulse: none(),
            delta: none(),
            trial: none(),
            h: f64::NAN,
        }
    }

    fn start_chains(&mut self, m: &mut Modules, view: &dyn Staggered, s: &State, h: f64) {
        let vdot = &self.now.vdot;
        self.u[1].copy_from_slice(&s.v);
        self.u[0].iter_mut().zip(&s.v).zip(vdot).for_each(|((u, v), a)| *u = v - 0.5 * h * a);
        self.trial.iter_mut().zip(&s.v).zip(vdot).for_each(|((u, v), a)| *u = v + 0.25 * h * a);
        m.motion.displace(&self.trial, 0.5 * h, &mut self.delta);
        self.q[0].copy_from_slice(&s.q);
        self.q[1].copy_from_slice(&s.q);
        view.retract(&mut self.q[1], &self.delta);
        self.h = h;
    }

    /// From half step k to k+1, whose time and whose successor's are given.
    fn half(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        [t1, t2]: [f64; 2],
        h: f64,
    ) -> Result<(), StepError> {
        // CINT: u^{k+1} in place of u^{k-1}, q^{k+2} in place of q^k
        let force = m.remaining(view.structure(), &self.eq[0], &self.eq[0].f, &self.now.lambda);
        self.impulse.iter_mut().zip(&*force).for_each(|(i, f)| *i = h * f);
        self.trial.copy_from_slice(&self.u[0]);
        if !m.motion.open(&self.trial, &self.impulse, h, false, &mut self.u[0]) {
            let omega = m.watch.highest.max(2.0 / h);
            return Err(StepError::StepTooLarge { t: t1 - 0.5 * h, h, omega });
        }
        m.motion.displace(&self.u[0], h, &mut self.delta);
        view.retract(&mut self.q[0], &self.delta);
        self.u.swap(0, 1);
        self.q.swap(0, 1);

        // first-order states by the formula of Adams and Bashforth
        for ((x, now), before) in self.state.x.iter_mut().zip(&self.rates[0]).zip(&self.rates[1]) {
            *x += 0.5 * h * (1.5 * now - 0.5 * before);
        }

        // J at k+2, then forces at k+1: rates of first-order states are found where the problem was evaluated last
        let TwoStage { eq: [eq, next], now, state, .. } = self;
        state.v.copy_from_slice(&self.u[1]);
        if !now.lambda.is_empty() {
            state.t = t2;
            state.q.copy_from_slice(&self.q[1]);
            view.update(state, Stage::VELOCITY, next);
            m.multipliers.take_J(view.structure(), next).map_err(at(state))?;
        }
        state.t = t1;
        state.q.copy_from_slice(&self.q[0]);
        m.evaluate(view, state, eq, &now.lambda, &self.before, 1.0);
        self.before.copy_from_slice(&now.lambda);
        // LINT: λ^{k+1}, so that u^{k+2} satisfies its constraints at q^{k+2}
        let TwoStage { u, eq: [eq, next], now, state, trial, .. } = self;
        if !now.lambda.is_empty() {
            m.carry(view.structure(), [eq, next], h, [&u[0], &[]], &mut now.lambda, trial)
                .map_err(at(state))?;
        }

        // rates at k+1
        m.remaining(view.structure(), eq, &eq.f, &now.lambda);
        m.accelerate_remaining(view.structure(), eq, now, 0).map_err(at(state))?;
        self.rates.swap(0, 1);
        view.xdot(state, eq, now, &mut self.rates[0]);
        Ok(())
    }
}

impl Chain for TwoStage {
    fn prepare(&mut self, s: &Structure, eq: &Equations) {
        let (v, c, x) = (|| vec![0.0; s.nv], || vec![0.0; s.nc], || vec![0.0; s.nx]);
        self.u = [v(), v()];
        self.q = [vec![0.0; s.nq], vec![0.0; s.nq]];
        self.eq = [eq.clone(), eq.clone()];
        self.now = Accel::zeros(s);
        self.before = c();
        self.rates = [x(), x()];
        self.accel = [Accel::zeros(s), Accel::zeros(s)];
        self.xdot = [x(), x()];
        self.state = State::zeros(s);
        (self.impulse, self.delta, self.trial) = (v(), v(), v());
    }

    fn begin(&mut self, m: &mut Modules, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let TwoStage { eq: [eq, _], now, .. } = self;
        m.begin(view, s, eq, now, START)?;
        view.xdot(s, eq, now, &mut self.rates[0]);
        let [now_rates, before_rates] = &mut self.rates;
        before_rates.copy_from_slice(now_rates);
        self.before.copy_from_slice(&now.lambda);
        copy(now, &mut self.accel[0]);
        self.xdot[0].copy_from_slice(&self.rates[0]);
        self.h = f64::NAN;
        Ok(())
    }

    fn turn(&mut self) {
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
    }

    fn equations(&self) -> &Equations {
        &self.eq[0]
    }

    fn ends(&self) -> (&[Accel; 2], &[Vec<f64>; 2]) {
        (&self.accel, &self.xdot)
    }

    fn advance(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
    ) -> Result<(), StepError> {
        // equal steps, up to the rounding of the times
        if !((h - self.h).abs() <= 1e-9 * h) {
            if !self.h.is_nan() {
                self.begin(m, view, start)?;
            }
            self.start_chains(m, view, start, h);
        }
        self.state.x.copy_from_slice(&start.x);
        self.half(m, view, [start.t + 0.5 * h, end.t], h)?;
        m.watch.weigh(&m.mass, &self.u[1]);
        self.half(m, view, [end.t, end.t + 0.5 * h], h)?;
        end.q.copy_from_slice(&self.q[0]);
        end.v.copy_from_slice(&self.u[1]);
        end.x.copy_from_slice(&self.state.x);
        copy(&self.now, &mut self.accel[1]);
        self.xdot[1].copy_from_slice(&self.rates[0]);
        Ok(())
    }
}

/// Without allocating, as a derived `clone_from` would.
fn copy(from: &Accel, to: &mut Accel) {
    to.vdot.copy_from_slice(&from.vdot);
    to.lambda.copy_from_slice(&from.lambda);
}
