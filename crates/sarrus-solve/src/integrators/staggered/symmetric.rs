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
//! - λ⁺ ≈ λ + (h/h₋)(λ - λ⁻) is then wrong by O(h²) only. What was missing in the steps before is of that size and smooth:
//!   carried on, it leaves O(h³) of λ⁺ and O(h⁵) of Φ before any correction. (From more steps the rounding of Φ, divided by h²,
//!   would be carried on with larger factors; and where steps are too long for such a series it is not done.)
//!
//! **After a short step** λ⁻ has the rounding of Φ over h₋², which h/h₋ times that, over the step, makes (h/h₋)³ roundings of Φ: where
//! h is much longer than h₋ nothing is carried on, and λ⁺ begins with λ as at a start.
//!
//! **Evaluations.** Forces that depend on velocities, and rates of first-order states, are evaluated at v ≈ w + (h/2) v̇,
//! x ≈ x + h ẋ: one evaluation a step serves its end and the next start. Where λ⁺ needed no correction of late, all is
//! evaluated at once at the place that the predicted λ⁺ leads to, and if Φ there confirms it, that was the end; otherwise, Φ and J
//! first, forces when the end is known.
//!
//! Costs one evaluation, one factorization, three pairs of triangular solutions, two of them at once; where λ⁺ needs corrections
//! also an evaluation of Φ and J, and two to four solutions more.

mod plus;
mod positions;

use super::chain::{Chain, START, predict, trapezoid};
use super::modules::{Modules, at};
use crate::error::StepError;
use crate::problem::{Accel, Equations, State, Structure};
use crate::staggered::{add_J_mul_each, add_Jt_mul_each};
use crate::views::Staggered;

/// Good predictions in a row that are waited for at most, where they have failed before.
const MOST_NEEDED: u32 = 8;

/// Holds what an instant knows of the step that begins there.
#[derive(Default)]
struct Next {
    /// λ⁻ of the step that ended there (nc).
    minus: Vec<f64>,
    /// λ⁺ of a step of the same size (nc).
    plus: Vec<f64>,
    /// f - Jᵀλ⁺ with that, f being without what the motion module accounts for (nv).
    rest: Vec<f64>,
}

/// The symmetric form with its memory; of pairs, the first is at the start of a step and the second at its end.
pub(super) struct SymmetricStaggered {
    iterations: u32,
    /// True if Φ is to be solved for to rounding: what is left would be a velocity in a next step that is short.
    is_thorough: bool,
    eq: [Equations; 2],
    accel: [Accel; 2],
    xdot: [Vec<f64>; 2],
    /// λ of the instant before the first (nc).
    before: Vec<f64>,
    next: [Next; 2],
    /// λ⁺ (nc).
    plus: Vec<f64>,
    /// Holds what λ + (h/h₋)(λ - λ⁻) missed of λ⁺ in this step or the last one, where that is known (nc).
    missed: Vec<f64>,
    w: Vec<f64>,
    impulse: Vec<f64>,
    delta: Vec<f64>,
    v: Vec<f64>,
    total: Vec<f64>,
    change: Vec<f64>,
    moved: Vec<f64>,
    r: [Vec<f64>; 2],
    eta: [Vec<f64>; 2],
    /// Sizes of the step before and of this one \[s\]; not a number at a start.
    h: [f64; 2],
    has_velocity_rows: bool,
    /// Holds what a correction of λ⁺ leaves to the next, squared.
    share: f64,
    /// True if λ⁺ was predicted nearly in the last step.
    is_smooth: bool,
    /// For how many steps it has been predicted well enough, and for how many it must have been to be trusted.
    good: u32,
    needed: u32,
}

impl SymmetricStaggered {
    pub fn new(iterations: u32, is_thorough: bool) -> SymmetricStaggered {
        let none = Vec::new;
        SymmetricStaggered {
            iterations,
            is_thorough,
            eq: Default::default(),
            accel: Default::default(),
            xdot: Default::default(),
            before: none(),
            next: Default::default(),
            plus: none(),
            missed: none(),
            w: none(),
            impulse: none(),
            delta: none(),
            v: none(),
            total: none(),
            change: none(),
            moved: none(),
            r: Default::default(),
            eta: Default::default(),
            h: [f64::NAN; 2],
            has_velocity_rows: false,
            share: 1.0,
            is_smooth: false,
            good: 0,
            needed: 1,
        }
    }

    /// All equations at the end, at predicted velocities and states; takes J there.
    fn evaluate(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
    ) -> Result<(), StepError> {
        let here = &self.accel[0];
        predict(&mut end.v, &self.w, 0.5 * h, &here.vdot);
        predict(&mut end.x, &start.x, h, &self.xdot[0]);
        let ratio = if self.h[0].is_nan() { 0.0 } else { h / self.h[0] };
        m.evaluate(view, end, &mut self.eq[1], &here.lambda, &self.before, ratio);
        m.multipliers.load_jacobian(view.structure(), &self.eq[1]).map_err(at(end))
    }

    /// The second kick with λ⁻; λ and v̇ at the end; what the next step begins with.
    fn close(&mut self, m: &mut Modules, view: &dyn Staggered, end: &State, h: f64) -> Result<(), StepError> {
        let s = view.structure();
        let SymmetricStaggered {
            eq: [_, eq], accel: [_, there], next: [_, next], plus, missed, total, ..
        } = self;
        let SymmetricStaggered { impulse, v, w, change, r: [r_v, r_a], eta: [eta_v, eta_a], .. } = self;
        let Next { minus, plus: predicted, rest } = next;
        // with λ⁺ for both
        total.copy_from_slice(&eq.f);
        add_Jt_mul_each(s, eq, [-1.0], [plus], [total]);
        rest.copy_from_slice(total);
        m.motion.applied(&end.v, rest);
        impulse.iter_mut().zip(&*rest).for_each(|(i, f)| *i = 0.5 * h * f);
        m.motion.close(w, impulse, h, v);
        m.minv.mul(total, &mut there.vdot);

        // corrections of both
        r_v.copy_from_slice(&eq.phi_t);
        r_a.iter_mut().zip(&eq.gamma).for_each(|(r, g)| *r = -g);
        add_J_mul_each(s, eq, [v, &there.vdot], [r_v, r_a]);
        m.multipliers.solve_pair([r_v, r_a], [eta_v, eta_a]).map_err(at(end))?;

        // λ⁻, λ and the next λ⁺; its difference to this one in place of a right-hand side. The first step knows no λ⁻
        let share = if self.is_smooth && !self.h[0].is_nan() { 1.0 } else { 0.0 };
        for i in 0..plus.len() {
            let (l, before) = (plus[i] + eta_a[i], plus[i] + 2.0 / h * eta_v[i]);
            (there.lambda[i], minus[i]) = (l, before);
            predicted[i] = l + (l - before) + share * missed[i];
            r_a[i] = predicted[i] - plus[i];
        }
        change.fill(0.0);
        add_Jt_mul_each(s, eq, [1.0, -1.0, -1.0], [eta_v, eta_a, r_a], [change, total, rest]);
        m.minv.add_mul(-1.0, change, v);
        m.minv.mul(total, &mut there.vdot);
        Ok(())
    }
}

impl Chain for SymmetricStaggered {
    fn prepare(&mut self, s: &Structure, eq: &Equations) {
        let (v, c, x) = (|| vec![0.0; s.nv], || vec![0.0; s.nc], || vec![0.0; s.nx]);
        self.eq = [eq.clone(), eq.clone()];
        self.accel = [Accel::zeros(s), Accel::zeros(s)];
        self.xdot = [x(), x()];
        (self.before, self.plus) = (c(), c());
        self.next = [0, 1].map(|_| Next { minus: c(), plus: c(), rest: v() });
        self.missed = c();
        (self.r, self.eta) = ([c(), c()], [c(), c()]);
        (self.w, self.impulse, self.delta, self.v) = (v(), v(), v(), v());
        (self.total, self.change, self.moved) = (v(), v(), v());
        self.has_velocity_rows = s.rows.iter().any(|r| r.holonomic < r.size);
    }

    fn begin(&mut self, m: &mut Modules, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let ([eq, _], [accel, _]) = (&mut self.eq, &mut self.accel);
        m.begin(view, s, eq, accel, START)?;
        view.xdot(s, eq, accel, &mut self.xdot[0]);
        self.start_with_lambda(m, view.structure(), s);
        Ok(())
    }

    fn advance_start(&mut self) {
        self.before.copy_from_slice(&self.accel[0].lambda);
        self.eq.swap(0, 1);
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
        self.next.swap(0, 1);
        self.h[0] = self.h[1];
    }

    fn again(&mut self, m: &mut Modules, view: &dyn Staggered, s: &State) -> Result<(), StepError> {
        self.good = 0;
        m.multipliers.load_jacobian(view.structure(), &self.eq[0]).map_err(at(s))
    }

    fn advance(
        &mut self,
        m: &mut Modules,
        view: &mut dyn Staggered,
        start: &State,
        end: &mut State,
        h: f64,
        _last: bool,
    ) -> Result<(), StepError> {
        self.predict_plus(m, view.structure(), start, h);
        self.drift(m, view, start, end, h, false)?;
        let kinetic = m.watch.weigh(&m.mass, &self.w);
        if !self.plus.is_empty() && self.good >= self.needed && !self.is_thorough {
            self.evaluate(m, view, start, end, h)?;
            if !self.confirm(m, view.structure(), end, h, kinetic).map_err(at(end))? {
                // an evaluation in vain: not too often
                (self.good, self.needed) = (0, (2 * self.needed).min(MOST_NEEDED));
                self.find_end(m, view, start, end, h, kinetic, true)?;
                self.evaluate(m, view, start, end, h)?;
            } else {
                self.needed = (self.needed - 1).max(1);
            }
        } else {
            if !self.plus.is_empty() {
                self.find_end(m, view, start, end, h, kinetic, false)?;
            }
            self.evaluate(m, view, start, end, h)?;
        }
        self.close(m, view, end, h)?;

        // rates belong to the state that was evaluated
        view.xdot(end, &self.eq[1], &self.accel[1], &mut self.xdot[1]);
        std::mem::swap(&mut end.v, &mut self.v);
        trapezoid(&mut end.x, &start.x, h, [&self.xdot[0], &self.xdot[1]]);
        self.h[1] = h;
        Ok(())
    }

    fn equations(&self) -> &Equations {
        &self.eq[0]
    }

    fn ends(&self) -> (&[Accel; 2], &[Vec<f64>; 2]) {
        (&self.accel, &self.xdot)
    }

    fn end(&mut self) -> Option<(&Equations, &mut Accel, &mut Vec<f64>)> {
        let SymmetricStaggered { eq: [_, eq], accel: [_, accel], xdot: [_, xdot], .. } = self;
        Some((eq, accel, xdot))
    }
}
