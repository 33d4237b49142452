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
//! itself the procedure is of first order); λ follows from eq. 32, since eq. 56 pairs matrix and right-hand side of different
//! instants and never damps an error of λ; forces have the signs of eqs. 26 and 37. The matrix is not symmetric: it is solved by
//! corrections with that of J^{k+2}, each better by O(h|ω|).
//!
//! It begins with u^{-1} = u⁰ - (h/2) v̇⁰, q¹ = q⁰ ⊕ (h/2)(u⁰ + (h/4) v̇⁰) and λ⁰ of the equations of motion. Once v̇¹ is known, u¹ is
//! corrected to u⁰ + (h/4)(v̇⁰ + v̇¹), Heun's formula, and q² with it: what it lacks before, (h²/8) v̈, λ² would have to make good along J,
//! wrong by (h/8) S⁻¹J v̈, and across J it would stay, so that each start would cost h³/8 of v̈. So it begins anew
//! whenever the step changes. First-order states go by the formula of Adams and Bashforth, begun with Heun's. At the end of a segment, where
//! J half a step later is not known, λ is that of the equations of motion; if nothing has changed, the chains continue with their own.
//!
//! Order two in q, v and λ. Velocities satisfy their constraints as well as eq. 32 is solved; positions drift off, slowly. Where
//! velocities are damped the two chains come apart, as two-step central differences do for any decay; so they do on nonholonomic motions,
//! and where dependent rows drift, exponentially and whatever the step: good for seconds, not minutes. Costs two evaluations, two more
//! of J, two factorizations a step. To compare with, and for short runs.

use super::chain::{Chain, START, equal, predict};
use super::modules::{Modules, at};
use crate::error::StepError;
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::views::Staggered;

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
    /// True if the next half step is the first.
    is_first: bool,
    /// True if the last step ended a segment, so that λ at its end is not yet that of the chains.
    has_ended: bool,
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
            is_first: true,
            has_ended: false,
        }
    }

    /// Begins chains of steps `h` at `s`.
    fn start_chains(&mut self, m: &mut Modules, view: &dyn Staggered, s: &State, h: f64) {
        (self.h, self.is_first) = (h, true);
        let vdot = &self.now.vdot;
        predict(&mut self.trial, &s.v, 0.25 * h, vdot);
        m.motion.displace(&self.trial, 0.5 * h, &mut self.delta);
        self.q[0].copy_from_slice(&s.q);
        self.q[1].copy_from_slice(&s.q);
        view.retract(&mut self.q[1], &self.delta);
        self.u[1].copy_from_slice(&s.v);
        predict(&mut self.u[0], &s.v, -0.5 * h, vdot);
    }

    /// After the first half step, what the rates at its end change of it: Heun's formula, of which it was the trial.
    fn correct_first(&mut self, view: &dyn Staggered) {
        let TwoStage { u: [_, u], q: [_, q], now, accel: [start, _], state, rates, delta, h, .. } = self;
        for ((x, now), before) in state.x.iter_mut().zip(&rates[0]).zip(&rates[1]) {
            *x += 0.25 * *h * (now - before);
        }
        for (i, u) in u.iter_mut().enumerate() {
            let change = 0.25 * *h * (now.vdot[i] - start.vdot[i]);
            *u += change;
            delta[i] = *h * change;
        }
        view.retract(q, delta);
        self.is_first = false;
    }

    /// J and Φ_t at k+1, which is at time `t`, of the half step k that is there.
    fn evaluate_end(&mut self, view: &mut dyn Staggered, t: f64) {
        let TwoStage { eq: [_, next], state, .. } = self;
        state.t = t;
        state.q.copy_from_slice(&self.q[1]);
        state.v.copy_from_slice(&self.u[1]);
        view.update(state, Stage::VELOCITY, next);
    }

    /// LINT: λ^k, from the one at hand, so that u^{k+1} satisfies its constraints at q^{k+1}; v̇^k.
    fn carry(&mut self, m: &mut Modules, s: &Structure) -> Result<(), StepError> {
        let TwoStage { u, eq: [eq, next], now, state, trial, .. } = self;
        if !now.lambda.is_empty() {
            m.multipliers.load_jacobian(s, next).map_err(at(state))?;
            m.carry(s, [eq, next], self.h, [&u[0], &[]], &mut now.lambda, trial).map_err(at(state))?;
        }
        m.accelerate(s, eq, now, 0).map_err(at(state))
    }

    /// From half step k to k+1 at `t1`; the time of k+2 is `t2`, none where the segment ends at k+1.
    fn half(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        t1: f64,
        t2: Option<f64>,
    ) -> Result<(), StepError> {
        // CINT: u^{k+1} in place of u^{k-1}, q^{k+2} in place of q^k
        let h = self.h;
        let force = m.remaining(view.structure(), &self.eq[0], &self.eq[0].f, &self.now.lambda);
        self.impulse.iter_mut().zip(&*force).for_each(|(i, f)| *i = h * f);
        self.trial.copy_from_slice(&self.u[0]);
        if !m.motion.open(&self.trial, &self.impulse, h, false, &mut self.u[0]) {
            return Err(StepError::NoStep { t: t1 - 0.5 * h, h });
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
        if let Some(t2) = t2.filter(|_| !self.before.is_empty()) {
            self.evaluate_end(view, t2);
        }
        let TwoStage { eq: [eq, _], now, state, .. } = self;
        state.t = t1;
        state.q.copy_from_slice(&self.q[0]);
        state.v.copy_from_slice(&self.u[1]);
        m.evaluate(view, state, eq, &now.lambda, &self.before, 1.0);
        self.before.copy_from_slice(&now.lambda);
        if t2.is_some() {
            self.carry(m, view.structure())?;
        } else {
            m.multipliers.load_jacobian(view.structure(), eq).map_err(at(state))?;
            m.accelerate(view.structure(), eq, now, START).map_err(at(state))?;
        }

        // rates at k+1
        self.rates.swap(0, 1);
        view.xdot(&self.state, &self.eq[0], &self.now, &mut self.rates[0]);
        if self.is_first {
            self.correct_first(view);
            // λ¹ again, for the q² that has moved
            if let Some(t2) = t2.filter(|_| !self.before.is_empty()) {
                self.evaluate_end(view, t2);
                self.carry(m, view.structure())?;
            }
        }
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
        (self.h, self.has_ended) = (f64::NAN, false);
        Ok(())
    }

    fn advance_start(&mut self) {
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
        last: bool,
    ) -> Result<(), StepError> {
        let middle = start.t + 0.5 * h;
        self.state.x.copy_from_slice(&start.x);
        if !equal(h, self.h) {
            if !self.h.is_nan() {
                self.begin(m, view, start)?;
            }
            self.start_chains(m, view, start, h);
        } else if self.has_ended {
            // the segment is over, and nothing has changed
            self.evaluate_end(view, middle);
            self.carry(m, view.structure())?;
        }
        self.has_ended = last;
        self.half(m, view, middle, Some(end.t))?;
        m.watch.weigh(&m.mass, &self.u[1]);
        self.half(m, view, end.t, (!last).then_some(end.t + 0.5 * h))?;
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
