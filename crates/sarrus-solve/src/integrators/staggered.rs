//! The staggered procedure: motion and multipliers in separate modules, asked in turn \[Park1990\].
//!
//! Solves M v̇ + Jᵀλ = f with the constraints themselves, not their second derivatives: no formulation and no stabilization take
//! part. Two forms, each described in its file:
//!
//! | `form` | what | order | over long runs |
//! |---|---|---|---|
//! | `symmetric` | one chain in the manner of RATTLE, rotations by the exponential map | 2 in q, v and λ | energy error and violations bounded |
//! | `paper` | the two-stage procedure of the paper, corrected | 2 in q, v and λ | positions drift, energy may |
//!
//! **Steps** are fixed. Both forms are central differences, stable for ω h ≤ 2, ω being the highest frequency or rate of turning:
//! it is estimated at the start and watched along the run, and a step that is too large is an error that says so. With
//! `adaptive = "yes"` (symmetric form only) steps follow the tolerances, from the difference to a quadrature of the accelerations
//! of third order through three instants; energy is then no longer bounded.
//!
//! **Multipliers** by [`multipliers`](StaggeredStep::multipliers): λ at the end of the step, of second order. In the results of a
//! run reactions are those of the equations of motion at the state shown, which is the same λ to second order.
//!
//! Needs smooth forces with no strong damping: c h/m < 1. Costs one evaluation of all equations, one of Φ and J, a factorization
//! and a few solutions a step, all O(N). For long runs at moderate accuracy, and for many bodies; for tight tolerances take
//! `dop853`.

mod error;
pub(crate) mod modules;
mod symmetric;
mod two_stage;

use crate::control::{Control, StepLimits, error_norm};
use crate::error::{MethodError, StepError};
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, State, Structure};
use crate::staggered::{
    CentralDifference, Controller, Epsilon, MotionModule, MultiplierModule, SparseMultipliers,
    VariationalMotion, Verdict,
};
use crate::views::{Staggered, StaggeredStep, StepInfo};
use error::ErrorEstimate;
use modules::{Modules, at};
use symmetric::Symmetric;
use two_stage::TwoStage;

/// Options of the method.
pub(super) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "form",
        default: "symmetric",
        doc: "`symmetric`, or `paper` for the two-stage procedure",
    },
    OptionDoc {
        name: "epsilon",
        default: "auto",
        doc: "regularization of the multipliers, relative; `auto`: from the conditioning",
    },
    OptionDoc {
        name: "iterations",
        default: "4",
        doc: "evaluations of positions in a step at most, 1 to 10",
    },
    OptionDoc { name: "adaptive", default: "no", doc: "`yes`: steps from the tolerances" },
    OptionDoc {
        name: "safety",
        default: "0.9",
        doc: "with `adaptive`: aim at this fraction of the step that would just meet the tolerance",
    },
    OptionDoc { name: "growth", default: "2", doc: "with `adaptive`: the most that a step may grow" },
    OptionDoc { name: "min_step", default: "0", doc: "with `adaptive`: the least step [s]" },
];

/// The estimate of a step's error is of size h³.
const POWER: u32 = 3;
/// A first step that is not given is this fraction of the stability limit, at most.
const FIRST_STEP: f64 = 0.1;

/// Which form of the procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One chain, in the manner of RATTLE.
    Symmetric,
    /// Two chains, as in the paper.
    Paper,
}

enum Chain {
    Symmetric(Symmetric),
    Paper(TwoStage),
}

/// The staggered procedure with its modules.
pub struct StaggeredMethod {
    modules: Modules,
    chain: Chain,
    limits: StepLimits,
    adaptive: Option<ErrorEstimate>,
    /// Whether the modules know the problem.
    prepared: bool,
    /// Whether `start`, `end` and the chain belong to an accepted step.
    accepted: bool,
    start: State,
    end: State,
    /// q̇ at both ends, once asked for.
    qdot: [Vec<f64>; 2],
    has_qdot: bool,
    /// The highest frequency found at the start \[rad/s\].
    highest: Option<f64>,
}

impl StaggeredMethod {
    /// A form with its own modules; at most `iterations` evaluations of positions in a step, `adaptive` where steps follow the
    /// tolerances (symmetric form only).
    pub fn new(form: Form, epsilon: Epsilon, iterations: u32, adaptive: bool) -> StaggeredMethod {
        let motion: Box<dyn MotionModule> = match form {
            Form::Symmetric => Box::new(VariationalMotion::default()),
            Form::Paper => Box::new(CentralDifference::default()),
        };
        let chain = match form {
            Form::Symmetric => Chain::Symmetric(Symmetric::new(iterations.max(1))),
            Form::Paper => Chain::Paper(TwoStage::new()),
        };
        StaggeredMethod {
            modules: Modules::new(motion, Box::new(SparseMultipliers::new(epsilon))),
            chain,
            limits: StepLimits { growth: 2.0, ..StepLimits::default() },
            adaptive: (adaptive && form == Form::Symmetric).then(ErrorEstimate::default),
            prepared: false,
            accepted: false,
            start: State::default(),
            end: State::default(),
            qdot: Default::default(),
            has_qdot: false,
            highest: None,
        }
    }

    /// With another motion module.
    pub fn with_motion(mut self, motion: Box<dyn MotionModule>) -> StaggeredMethod {
        self.modules.motion = motion;
        self
    }

    /// With another multiplier module.
    pub fn with_multipliers(mut self, multipliers: Box<dyn MultiplierModule>) -> StaggeredMethod {
        self.modules.multipliers = multipliers;
        self
    }

    /// With a controller between the modules. Its forces are in the motion and in
    /// [`multipliers`](StaggeredStep::multipliers); what evaluates the problem by itself knows nothing of them.
    pub fn with_controller(mut self, controller: Box<dyn Controller>) -> StaggeredMethod {
        self.modules.controller = Some(controller);
        self
    }

    /// The method with what `options` ask for.
    pub fn from_options(options: &Options) -> Result<StaggeredMethod, MethodError> {
        let kind = "staggered";
        options.check(kind, OPTIONS)?;
        let form = match options.word(kind, "form", "`symmetric` or `paper`", &["symmetric", "paper"])? {
            Some(1) => Form::Paper,
            _ => Form::Symmetric,
        };
        let iterations = options
            .number(kind, "iterations", "a whole number from 1 to 10", |x| {
                (1.0..=10.0).contains(&x) && x.fract() == 0.0
            })?
            .unwrap_or(4.0);
        let expected = "`no`, or `yes` with the symmetric form";
        let adaptive = match form {
            Form::Symmetric => options.word(kind, "adaptive", expected, &["no", "yes"])? == Some(1),
            Form::Paper => options.word(kind, "adaptive", expected, &["no"])? == Some(1),
        };
        let mut method = StaggeredMethod::new(form, epsilon(kind, options)?, iterations as u32, adaptive);
        let read = |option, expected, accept: fn(f64) -> bool, into: &mut f64| {
            options.number(kind, option, expected, accept).map(|x| *into = x.unwrap_or(*into))
        };
        let limits = &mut method.limits;
        read("safety", "between 0.1 and 1", |x| (0.1..=1.0).contains(&x), &mut limits.safety)?;
        read("growth", "between 1.1 and 100", |x| (1.1..=100.0).contains(&x), &mut limits.growth)?;
        read("min_step", "finite and not negative", |x| x.is_finite() && x >= 0.0, &mut limits.min_step)?;
        Ok(method)
    }

    /// Makes `start` that of `s`, with what is known there.
    fn start_from(&mut self, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let known = self.accepted && self.end == *s;
        self.accepted = false;
        self.start.copy_from(s);
        if known {
            match &mut self.chain {
                Chain::Symmetric(c) => c.turn(),
                Chain::Paper(c) => c.turn(),
            }
            return Ok(());
        }
        if !self.prepared {
            self.prepare_modules(view, s)?;
        }
        self.modules.watch.restart(view.structure());
        if let Some(estimate) = &mut self.adaptive {
            estimate.restart(view.structure());
        }
        match &mut self.chain {
            Chain::Symmetric(c) => c.begin(&mut self.modules, view, s)?,
            Chain::Paper(c) => c.begin(&mut self.modules, view, s)?,
        }
        if !self.prepared {
            self.prepared = true;
            let (eq, accel) = match &self.chain {
                Chain::Symmetric(c) => (&c.eq[0], &c.accel[0]),
                Chain::Paper(c) => (c.equations(), &c.accel[0]),
            };
            self.highest = self.modules.highest(view, s, eq, accel).map_err(at(s))?;
            self.modules.watch.highest = self.highest.unwrap_or(0.0);
            self.modules.multipliers.take_J(view.structure(), eq).map_err(at(s))?;
        }
        Ok(())
    }

    fn prepare_modules(&mut self, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let mut eq = view.equations();
        view.update(s, crate::problem::Stage::POSITION, &mut eq);
        self.modules.prepare(view.structure(), &eq).map_err(at(s))?;
        match &mut self.chain {
            Chain::Symmetric(c) => c.prepare(view.structure(), &eq),
            Chain::Paper(c) => c.prepare(view.structure(), &eq),
        }
        Ok(())
    }

    /// Computes `end` at `t1`.
    fn try_step(&mut self, view: &mut dyn Staggered, t1: f64) -> Result<(), StepError> {
        let (t, h) = (self.start.t, t1 - self.start.t);
        self.end.t = t1;
        let StaggeredMethod { modules, chain, start, end, .. } = self;
        match chain {
            Chain::Symmetric(c) => c.advance(modules, view, start, end, h)?,
            Chain::Paper(c) => c.advance(modules, view, start, end, h)?,
        }
        if self.end.is_finite() { Ok(()) } else { Err(StepError::NotFinite { t }) }
    }

    /// What the chain knows at both ends of a step, and the velocities that carried it.
    fn ends(&self) -> (&[Accel; 2], &[Vec<f64>; 2], &[f64]) {
        match &self.chain {
            Chain::Symmetric(c) => (&c.accel, &c.xdot, &c.w),
            Chain::Paper(c) => (&c.accel, &c.xdot, &c.w),
        }
    }

    /// Whether the step just made is within the stability limit.
    fn look(&mut self) -> Result<(), StepError> {
        let StaggeredMethod { modules, chain, start, end, .. } = self;
        let (accel, w) = match chain {
            Chain::Symmetric(c) => (&c.accel, &c.w),
            Chain::Paper(c) => (&c.accel, &c.w),
        };
        let h = end.t - start.t;
        let ends = [&*accel[0].vdot, &*accel[1].vdot];
        match modules.watch.look(&modules.mass, h, w, ends, [&start.v, &end.v]) {
            Verdict::Fine => Ok(()),
            Verdict::TooLarge(omega) => Err(StepError::StepTooLarge { t: start.t, h, omega }),
        }
    }

    fn finish(&mut self, view: &mut dyn Staggered, control: &mut Control) {
        view.accept(&self.end);
        control.counts.rhs += self.modules.evaluations;
        self.modules.tell(view);
        (self.accepted, self.has_qdot) = (true, false);
    }

    /// A step of fixed size.
    fn fixed(&mut self, view: &mut dyn Staggered, control: &mut Control) -> Result<(), StepError> {
        let t = self.start.t;
        let t1 = control.fixed_end(t);
        let h = t1 - t;
        if !(h > 0.0) {
            return Err(StepError::StepTooSmall { t, h_min: control.min_step(t, &self.limits) });
        }
        if let Some(omega) = self.highest.take()
            && omega * h > 2.0
        {
            return Err(StepError::StepTooLarge { t, h, omega });
        }
        // numbers that have grown beyond all bounds have done so for a reason
        let omega = self.modules.watch.omega;
        self.try_step(view, t1).map_err(|error| match error {
            StepError::NotFinite { t } | StepError::Solve { t, .. } if omega * h > 2.0 => {
                StepError::StepTooLarge { t, h, omega }
            }
            other => other,
        })?;
        self.look()?;
        self.finish(view, control);
        control.accept_fixed();
        Ok(())
    }

    /// Steps of decreasing size until one is accepted; returns its error and the number given up.
    fn adapt(&mut self, view: &mut dyn Staggered, control: &mut Control) -> Result<(f64, u32), StepError> {
        let t = self.start.t;
        let h_min = control.min_step(t, &self.limits);
        let first = || {
            let left = control.t_end - t;
            let limit = self.highest.map_or(f64::INFINITY, |omega| 2.0 * FIRST_STEP / omega);
            // an error of h³ v̈, v̈ being about v̇ over the time that v̇ changes v
            limit.min(left).min(control.rtol.max(f64::EPSILON).powf(1.0 / 3.0))
        };
        let mut wanted = control.proposal().unwrap_or_else(first).max(h_min);
        let mut rejected = 0;
        loop {
            let t1 = control.adaptive_end(t, wanted);
            let h = t1 - t;
            let tried = self.try_step(view, t1).map(|()| self.error(view, control));
            let (shorter, reason) = match tried {
                Ok(error) if error <= 1.0 => {
                    self.finish(view, control);
                    control.accept(h, wanted, error, POWER, rejected > 0, &self.limits);
                    return Ok((error, rejected));
                }
                Ok(error) => {
                    (self.limits.after_rejection(h, error, POWER), StepError::StepTooSmall { t, h_min })
                }
                Err(reason) => (0.5 * h, reason),
            };
            rejected += 1;
            control.counts.rejected += 1;
            if wanted <= h_min || h <= h_min {
                return Err(reason);
            }
            if let Chain::Symmetric(c) = &mut self.chain {
                c.again(&mut self.modules, view, &self.start)?;
            }
            wanted = shorter.max(h_min);
        }
    }

    /// The error of the step just tried, in units of the tolerance.
    fn error(&mut self, view: &dyn Staggered, control: &Control) -> f64 {
        let StaggeredMethod { chain: Chain::Symmetric(c), adaptive: Some(estimate), start, end, .. } = self
        else {
            return 0.0;
        };
        let delta = estimate.find(view, [start, end], &c.accel, &c.xdot);
        error_norm(&view.structure().groups, control, start, end, delta)
    }
}

/// ε from `options`.
pub(super) fn epsilon(kind: &'static str, options: &Options) -> Result<Epsilon, MethodError> {
    let expected = "`auto`, or a number from 0 to 1";
    match options.get("epsilon") {
        Some(crate::options::OptionValue::Text(_)) => {
            options.word(kind, "epsilon", expected, &["auto"]).map(|_| Epsilon::Auto)
        }
        _ => {
            let given = options.number(kind, "epsilon", expected, |x| (0.0..=1.0).contains(&x))?;
            Ok(given.map_or(Epsilon::Auto, Epsilon::Given))
        }
    }
}

impl StaggeredStep for StaggeredMethod {
    fn order(&self) -> u32 {
        2
    }

    fn dense_order(&self) -> u32 {
        3
    }

    fn is_adaptive(&self) -> bool {
        self.adaptive.is_some()
    }

    fn prepare(&mut self, structure: &Structure) {
        let fits =
            |s: &State| (s.q.len(), s.v.len(), s.x.len()) == (structure.nq, structure.nv, structure.nx);
        if !self.prepared || !fits(&self.start) {
            (self.start, self.end) = (State::zeros(structure), State::zeros(structure));
            self.qdot = [vec![0.0; structure.nq], vec![0.0; structure.nq]];
        }
        (self.prepared, self.accepted) = (false, false);
    }

    fn step(
        &mut self,
        view: &mut dyn Staggered,
        s: &mut State,
        control: &mut Control,
    ) -> Result<StepInfo, StepError> {
        self.start_from(view, s)?;
        let (error, rejected) = if self.is_adaptive() {
            self.adapt(view, control)?
        } else {
            self.fixed(view, control)?;
            (0.0, 0)
        };
        s.copy_from(&self.end);
        if let Some(estimate) = &mut self.adaptive {
            let Chain::Symmetric(c) = &self.chain else { return Err(StepError::NotFinite { t: s.t }) };
            estimate.remember(self.end.t - self.start.t, &c.accel[0].vdot, &c.xdot[0]);
        }
        let t = self.start.t;
        Ok(StepInfo { t, h: self.end.t - t, error, rejected })
    }

    fn dense(&mut self, view: &mut dyn Staggered, t: f64, out: &mut State) -> Result<(), StepError> {
        if !self.has_qdot {
            view.qdot(&self.start, &mut self.qdot[0]);
            view.qdot(&self.end, &mut self.qdot[1]);
            self.has_qdot = true;
        }
        let (start, end) = (&self.start, &self.end);
        let h = end.t - start.t;
        let theta = if h > 0.0 { ((t - start.t) / h).clamp(0.0, 1.0) } else { 1.0 };
        let (accel, xdot, _) = self.ends();
        let [q0, q1] = &self.qdot;
        hermite(&mut out.q, theta, h, [&start.q, &end.q], [q0, q1]);
        hermite(&mut out.v, theta, h, [&start.v, &end.v], [&accel[0].vdot, &accel[1].vdot]);
        hermite(&mut out.x, theta, h, [&start.x, &end.x], [&xdot[0], &xdot[1]]);
        out.t = t.clamp(start.t, end.t);
        view.normalize(&mut out.q);
        Ok(())
    }

    fn multipliers(&self) -> &[f64] {
        &self.ends().0[1].lambda
    }
}

/// The cubic with values `y` and slopes `d` at the ends of a step.
pub(super) fn hermite(out: &mut [f64], theta: f64, h: f64, y: [&[f64]; 2], d: [&[f64]; 2]) {
    let (a, b) = (theta * (theta - 1.0), 1.0 - 2.0 * theta);
    for (i, out) in out.iter_mut().enumerate() {
        let (y0, y1) = (y[0][i], y[1][i]);
        let change = y1 - y0;
        *out = y0 + theta * change + a * (b * change + h * ((theta - 1.0) * d[0][i] + theta * d[1][i]));
    }
}
