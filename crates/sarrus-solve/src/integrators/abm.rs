//! Adams-Bashforth-Moulton methods of variable order and step, in PECE mode.
//!
//! Solves (q̇, v̇, ẋ) = f(t, q, v, x) by polynomials through the slopes at the ends of past steps. A step of order k predicts by
//! the Adams-Bashforth formula through k slopes, evaluates, corrects by the Adams-Moulton formula through k + 1, and evaluates
//! again at the end, after normalisation and projection, so that one evaluation serves for both. \[Krogh1974\], \[Shampine1975\]
//!
//! **Error.** The corrections of orders k and k + 1 differ by h (g_k - g_{k+1}) φ_{k+1}: the error of order k in this one step (error
//! per step, not per unit of time), held to the tolerance group by group. The better one, of order k + 1, is what is kept.
//!
//! **Order and step.** From errors at orders k - 2 to k + 1 as they would be at equal steps: the order falls where the lower errors
//! are no larger, and rises after k + 1 equal steps where that makes the error smaller. Steps grow by a fixed factor or not at all,
//! since estimates are best at equal steps, and shrink by 0.5 to 0.9. A run starts at order 1 with both raised at every step until
//! an error objects; it starts anew where the state is not the one that the last step left. The third failure of a step in a row
//! takes the order back to 1.
//!
//! **Rounding.** What is lost by adding a small step to a large state is carried to the next. Tolerances below
//! four units in the last place of the state are taken as that: shorter steps would not help.
//!
//! Needs smooth right-hand sides: a jump costs a start anew. Costs two right-hand sides a step whatever the order, dense output none, and
//! storage for `max_order` + 10 states. At tight tolerances it takes half the right-hand sides of a Runge-Kutta method of order 8, with
//! errors up to a hundred times larger; for the same error about three quarters. Where right-hand sides are cheap its own work, some 5 k
//! operations a number, counts too. Not for stiff problems, nor for events in quick succession.

mod dodge;
mod formulas;
mod states;
mod trial;

use crate::control::{StepControl, StepLimits, combine_slopes, initial_step, scaled_norm};
use crate::error::{MethodError, StepError};
use crate::options::{OptionDoc, Options};
use crate::problem::{State, Structure};
use crate::views::{Ode, Step, StepInfo};
use dodge::Dodge;
use formulas::{CAPACITY, Formulas, MOST, moulton};
use states::{add_times, clear};
use trial::slope;

/// Options of the method.
pub(super) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "safety",
        default: "0.9",
        doc: "aim at this fraction of the step that would just meet the tolerance",
    },
    OptionDoc {
        name: "growth",
        default: "2",
        doc: "a step is this much longer than the one before, or not at all",
    },
    OptionDoc { name: "min_step", default: "0", doc: "the least step [s]; a run that needs less fails" },
    OptionDoc { name: "max_order", default: "12", doc: "the highest order, 1 to 12" },
];

/// Failures of one step after which its order is 1.
const FAILURES: u32 = 3;
/// Steps whose sizes differ by less, relatively, are equal.
const EQUAL: f64 = 1e-6;
/// As in the Runge-Kutta methods: the largest part along the constraints of an error that lies across them; the largest error
/// across them that is left to the projection; how often the size of such a step is changed a little; careful steps after.
const ALONG: f64 = 0.05;
const ACROSS: f64 = 1e-6;
const DODGES: u32 = 12;
const CONSTRAINED_STEPS: u32 = 2;

/// Adams-Bashforth-Moulton methods with their workspace.
pub struct Abm {
    max_order: usize,
    limits: StepLimits,
    /// |γ*|.
    moulton: [f64; CAPACITY],

    /// State at the start of the step.
    start: State,
    /// State at its end; while a step is tried, first as predicted, then as corrected.
    end: State,
    /// Slope at `end`.
    slope: State,
    /// φ at the end of the last step whose slope is known.
    phi: Vec<State>,
    /// The slope that the past expects at the end.
    expected: State,
    /// Distance of the slope from it: φ_{k+1}.
    change: State,
    /// Scratch.
    delta: State,
    /// Holds what rounding has added to `start` beyond what was to be added, and to `end`.
    carry: [State; 2],

    /// ψ of the steps before this.
    past: [f64; CAPACITY],
    formulas: Formulas,
    /// Order of the next step.
    order: usize,
    /// Describes how many steps of this size were taken.
    equal: usize,
    /// True if order and step are raised at every step.
    starting: bool,
    /// Holds what errors are measured in, in units of the tolerance: 1, or more where that is rounding.
    unit: f64,
    /// True if `start` and `end` belong to an accepted step.
    accepted: bool,
    /// True if the differences are those at `end`.
    differences: bool,
    /// Steps for which right-hand sides are still taken on the constraints.
    constrained_steps: u32,
}

impl Abm {
    /// The methods of orders up to `max_order`, which is brought into 1 to 12.
    pub fn new(max_order: usize, limits: StepLimits) -> Abm {
        let none = State::default;
        Abm {
            max_order: max_order.clamp(1, MOST),
            limits,
            moulton: moulton(),
            start: none(),
            end: none(),
            slope: none(),
            phi: Vec::new(),
            expected: none(),
            change: none(),
            delta: none(),
            carry: [none(), none()],
            past: [0.0; CAPACITY],
            formulas: Formulas::default(),
            order: 1,
            equal: 0,
            starting: true,
            unit: 1.0,
            accepted: false,
            differences: false,
            constrained_steps: 0,
        }
    }

    /// The method with what `options` ask for.
    pub fn from_options(options: &Options) -> Result<Abm, MethodError> {
        let kind = "abm";
        options.check(kind, OPTIONS)?;
        let mut limits = StepLimits { growth: 2.0, ..StepLimits::default() };
        let mut order = MOST as f64;
        let read = |option, expected, accept: fn(f64) -> bool, into: &mut f64| {
            options.number(kind, option, expected, accept).map(|x| *into = x.unwrap_or(*into))
        };
        read("safety", "between 0.1 and 1", |x| (0.1..=1.0).contains(&x), &mut limits.safety)?;
        read("growth", "between 1.1 and 2", |x| (1.1..=2.0).contains(&x), &mut limits.growth)?;
        read("min_step", "finite and not negative", |x| x.is_finite() && x >= 0.0, &mut limits.min_step)?;
        let whole = |x: f64| (1.0..=MOST as f64).contains(&x) && x.fract() == 0.0;
        read("max_order", "a whole number from 1 to 12", whole, &mut order)?;
        Ok(Abm::new(order as usize, limits))
    }

    /// Makes `start` that of `s`, with the differences there: those at the end of the last step, or none. Returns the size to try.
    fn start_from(
        &mut self,
        ode: &mut dyn Ode,
        s: &State,
        control: &mut StepControl,
    ) -> Result<f64, StepError> {
        let known = self.accepted && self.end == *s;
        self.accepted = false;
        let proposal = control.next_size();
        let wanted = match proposal {
            Some(h) if known => {
                self.find_differences(ode, control)?;
                self.start.copy_from(s);
                h
            }
            _ => self.start_anew(ode, s, control, proposal.is_none())?,
        };
        let size = scaled_norm(&ode.structure().groups, control, &self.start, &self.start, &self.start);
        self.unit = (4.0 * f64::EPSILON * size).max(1.0);
        Ok(wanted)
    }

    /// Forgets the past.
    fn start_anew(
        &mut self,
        ode: &mut dyn Ode,
        s: &State,
        control: &mut StepControl,
        first: bool,
    ) -> Result<f64, StepError> {
        self.start.copy_from(s);
        self.past = [0.0; CAPACITY];
        (self.order, self.equal, self.starting) = (1, 0, true);
        self.phi[1..].iter_mut().chain(&mut self.carry).for_each(clear);
        let left = control.t_end - s.t;
        ode.begin_step(control.step.unwrap_or(left).min(left));
        slope(ode, &self.start, &mut self.phi[0], control)?;
        match control.step {
            // asked for
            Some(h) if first => Ok(h),
            most => {
                let [scratch, rate] = [&mut self.end, &mut self.delta];
                let h = initial_step(ode, control, &self.start, &self.phi[0], 2, scratch, rate)
                    .map_err(|source| StepError::Solve { t: s.t, source })?;
                Ok(most.map_or(h, |most| h.min(most)))
            }
        }
    }

    /// Steps of decreasing size until one is accepted; returns its error and the number given up.
    fn advance(
        &mut self,
        ode: &mut dyn Ode,
        control: &mut StepControl,
        mut wanted: f64,
    ) -> Result<(f64, u32), StepError> {
        let t = self.start.t;
        if self.constrained_steps == 0 {
            ode.set_constrained_stages(false);
        }
        let h_min = control.min_step(t, &self.limits);
        wanted = wanted.max(h_min);
        let (mut rejected, mut failures) = (0, 0);
        let mut dodge = Dodge::default();
        let mut constrained = self.constrained_steps > 0 && ode.set_constrained_stages(true);
        loop {
            let t1 = control.adaptive_end(t, wanted);
            let h = t1 - t;
            let mut tried = self.try_step(ode, control, t1);
            // the error along the constraints, where the rest is by far the larger: near a singular position
            let mut along = None;
            if let Ok(errors) = &mut tried
                && errors.here > 1.0
            {
                let rest = |along: &f64| *along <= ALONG * errors.here;
                along = self.error_along(ode, control).filter(rest);
                // the projection will take the rest away
                if let Some(along) = along
                    && constrained
                    && along <= 1.0
                    && errors.here * control.rtol <= ACROSS
                {
                    *errors = errors.left_with(along);
                }
            }
            if let Ok(errors) = tried
                && errors.here <= 1.0
            {
                tried = self.finish(ode, control).map(|()| errors);
            }
            if let Ok(errors) = tried
                && errors.here <= 1.0
            {
                let changed = failures > 0 || dodge.tries > 0;
                let next = self.plan(ode, control, &errors, changed);
                control.accept_with(next);
                self.constrained_steps = if constrained && rejected > 0 {
                    CONSTRAINED_STEPS
                } else {
                    self.constrained_steps.saturating_sub(1)
                };
                return Ok((errors.here, rejected));
            }
            rejected += 1;
            control.counts.rejected += 1;

            // a prediction off the constraints may be to blame, also where there were no accelerations
            if (along.is_some() || tried.is_err()) && !constrained {
                constrained = ode.set_constrained_stages(true);
                if constrained {
                    continue;
                }
            }
            if wanted <= h_min || h <= h_min {
                return Err(tried.err().unwrap_or(StepError::StepTooSmall { t, h_min }));
            }
            self.starting = false;
            wanted = match along {
                Some(along) if constrained && dodge.tries < DODGES => {
                    // no further than at the growth of ordinary steps
                    let most = control.step.unwrap_or(f64::INFINITY).min(self.limits.growth * self.past[0]);
                    dodge.size(h, along, self.order, most)
                }
                _ => {
                    failures += 1;
                    h * self.after_failure(tried.ok(), failures)
                }
            }
            .max(h_min);
        }
    }
}

impl Step for Abm {
    fn order(&self) -> u32 {
        self.max_order as u32
    }

    fn dense_order(&self) -> u32 {
        self.max_order as u32
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn prepare(&mut self, structure: &Structure) {
        let fits =
            |s: &State| (s.q.len(), s.v.len(), s.x.len()) == (structure.nq, structure.nv, structure.nx);
        if self.phi.is_empty() || !fits(&self.start) {
            let zeros = || State::zeros(structure);
            (self.start, self.end, self.slope) = (zeros(), zeros(), zeros());
            (self.expected, self.change, self.delta) = (zeros(), zeros(), zeros());
            self.carry = [zeros(), zeros()];
            self.phi = (0..self.max_order + 2).map(|_| zeros()).collect();
        }
        (self.accepted, self.constrained_steps) = (false, 0);
    }

    fn step(
        &mut self,
        ode: &mut dyn Ode,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        let wanted = self.start_from(ode, s, control)?;
        let (error, rejected) = self.advance(ode, control, wanted)?;
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
        self.find_differences(ode, control)?;
        let (end, w) = self.formulas.interpolant((t - self.start.t) / self.formulas.h);
        combine_slopes(out, 1.0, &w[..=self.formulas.order], &self.phi);
        add_times(out, end, &self.end);
        add_times(out, 1.0 - end, &self.start);
        out.t = t;
        ode.normalize(&mut out.q);
        Ok(())
    }
}
