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
//! Costs one evaluation, one more of J, one factorization and two to four solutions a step. It begins, and begins anew where the step
//! changes, as the two-stage form does. To compare with: the symmetric form costs no more.

use super::Chain;
use super::modules::{Modules, at};
use super::symmetric::predict;
use crate::error::StepError;
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::views::Staggered;

/// Corrections of λ at a start.
const START: u32 = 4;

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
    /// Φ/h (nc).
    feedback: Vec<f64>,
    /// Size of the steps \[s\]; not a number at a start.
    h: f64,
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
            h: f64::NAN,
        }
    }

    fn start_chain(&mut self, s: &State, h: f64) {
        let [now, before] = &mut self.accel;
        predict(&mut self.u[0], &s.v, -0.5 * h, &now.vdot);
        before.vdot.copy_from_slice(&now.vdot);
        before.lambda.copy_from_slice(&now.lambda);
        self.h = h;
    }

    /// v at the end of the step that u carries, from what is known before it.
    fn extrapolate(&self, h: f64, v: &mut [f64]) {
        let [now, before] = &self.accel;
        let [a, b] = [[0.0, 0.0], [0.5, 0.0], [0.875, -0.375]][self.points.clamp(1, 3) as usize - 1];
        for (i, v) in v.iter_mut().enumerate() {
            *v = self.u[1][i] + h * (a * now.vdot[i] + b * before.vdot[i]);
        }
    }

    /// λ at the end, and v̇.
    fn find_lambda(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        end: &State,
        h: f64,
    ) -> Result<(), StepError> {
        // J half a step later, then forces: rates of first-order states are found where the problem was evaluated last
        let OneStep { eq: [eq, next], accel: [now, there], state, trial, delta, u, feedback, .. } = self;
        if !now.lambda.is_empty() {
            predict(trial, &u[1], 0.75 * h, &now.vdot);
            m.motion.displace(trial, 0.5 * h, delta);
            state.t = end.t + 0.5 * h;
            state.q.copy_from_slice(&end.q);
            view.retract(&mut state.q, delta);
            state.v.copy_from_slice(&end.v);
            state.x.copy_from_slice(&end.x);
            view.update(state, Stage::VELOCITY, next);
            m.multipliers.take_J(view.structure(), next).map_err(at(end))?;
        }
        m.evaluate(view, end, eq, &now.lambda, &there.lambda, 1.0);
        there.lambda.copy_from_slice(&now.lambda);
        let s = view.structure();
        if !now.lambda.is_empty() {
            feedback.iter_mut().zip(&eq.phi).for_each(|(r, phi)| *r = phi / h);
            for row in &s.rows {
                feedback[row.start + row.holonomic..row.start + row.size].fill(0.0);
            }
            m.carry(s, [eq, next], h, [&u[1], feedback], &mut there.lambda, trial).map_err(at(end))?;
        }
        m.accelerate(s, eq, there, 0).map_err(at(end))
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
        self.feedback = vec![0.0; s.nc];
    }

    fn begin(&mut self, m: &mut Modules, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let OneStep { eq: [eq, _], accel: [now, _], xdot: [rates, _], .. } = self;
        m.begin(view, s, eq, now, START)?;
        view.xdot(s, eq, now, rates);
        self.h = f64::NAN;
        Ok(())
    }

    fn turn(&mut self) {
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
    ) -> Result<(), StepError> {
        // equal steps, up to the rounding of the times
        if !((h - self.h).abs() <= 1e-9 * h) {
            if !self.h.is_nan() {
                self.begin(m, view, start)?;
            }
            self.start_chain(start, h);
        }

        // CINT
        let [before, u] = &mut self.u;
        m.mass.mul(&self.accel[0].vdot, &mut self.impulse);
        self.impulse.iter_mut().for_each(|i| *i *= h);
        if !m.motion.open(before, &self.impulse, h, false, u) {
            let omega = m.watch.highest.max(2.0 / h);
            return Err(StepError::StepTooLarge { t: start.t, h, omega });
        }
        m.watch.weigh(&m.mass, u);
        m.motion.displace(u, h, &mut self.delta);
        end.q.copy_from_slice(&start.q);
        view.retract(&mut end.q, &self.delta);

        // LINT
        self.extrapolate(h, &mut end.v);
        predict(&mut end.x, &start.x, h, &self.xdot[0]);
        self.find_lambda(m, view, end, h)?;

        // what is given out
        let OneStep { eq: [eq, _], accel: [_, there], xdot: [before, rates], u: [_, u], impulse, .. } = self;
        view.xdot(end, eq, there, rates);
        m.mass.mul(&there.vdot, impulse);
        impulse.iter_mut().for_each(|i| *i *= 0.5 * h);
        m.motion.close(u, impulse, h, &mut end.v);
        for (((x, x0), d0), d1) in end.x.iter_mut().zip(&start.x).zip(&*before).zip(&*rates) {
            *x = x0 + 0.5 * h * (d0 + d1);
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
