//! The procedure of \[Park1987\]: a nonlinearly implicit update of Euler parameters, translations alike, multipliers in turn.
//!
//! A step goes over its middle, δ = h/2:
//!
//! ```text
//! turn and ω½ of every body from ω, ω½ and ω̇½, with |q| = 1 and q·q̇ = 0        (5.7), (5.15-5.18)
//! ṗ½ = ṗ + δ p̈½,  p½ = p + δ ṗ½
//! (ε + δ J M⁻¹Jᵀ) λ½ = ε λ + δ (J M⁻¹f - γ)   at the middle                      (6.6)
//! M v̇½ = f - Jᵀλ½                                                                (6.1), (6.2)
//! p' = p + h ṗ½,  ṗ' = ṗ + h p̈½,  q' and ω' by (5.6)                              (6.4), (6.5)
//! ```
//!
//! The lines depend on each other: `iterations` times they are gone through, from ω½ ≈ ω and v̇½ ≈ that of the step before (5.8).
//! With one iteration the procedure is of first order, as the rotation then knows ω̇ of an earlier instant only; with two or more it
//! is of second. Corrections to the print stand in `staggered/euler_parameters.rs`. Translations take the mid-point rule too,
//! in place of central differences of ṗ half a step apart from ω (6.4): forces that depend on both then know both at one
//! instant.
//!
//! λ sees Φ̈ only: nothing brings positions or velocities back to their constraints, and they drift. Costs `iterations`
//! evaluations, factorizations and solutions a step. To compare with; the symmetric form of `staggered` is cheaper, keeps the
//! constraints, and bounds the energy's error.

use super::between::StepInterpolant;
use super::staggered::modules::{Modules, at};
use super::staggered::options::epsilon;
use crate::control::{StepControl, StepLimits};
use crate::error::{MethodError, StepError};
use crate::findings::MethodStatistics;
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Equations, GroupKind, NormGroup, Stage, State, Structure};
use crate::rotations::resolved;
use crate::staggered::euler_parameters::update;
use crate::staggered::{CentralDifference, Epsilon, SparseMultipliers, StepVerdict};
use crate::views::{Staggered, StaggeredStep, StepInfo};
use sarrus_math::quat_to_rotation_vector;

/// Options of the method.
pub(super) const OPTIONS: &[OptionDoc] = &[
    OptionDoc {
        name: "iterations",
        default: "2",
        doc: "times that a step is gone through, 1 to 20; 1: first order",
    },
    OptionDoc {
        name: "epsilon",
        default: "auto",
        doc: "regularization of the multipliers, relative; `auto`: from the conditioning",
    },
];

/// Corrections of λ at a start.
const START: u32 = 4;

/// The procedure with its memory; of pairs, the first is at the start of a step and the second at its end.
pub struct Park1987 {
    iterations: u32,
    modules: Modules,
    start: State,
    end: State,
    middle: State,
    eq: Equations,
    /// v̇½ and λ½ as far as they are known.
    half: Accel,
    /// Rates of first-order states at the middle.
    xdot: Vec<f64>,
    /// At both ends, for what lies between; found when asked for.
    ends: [Accel; 2],
    xdots: [Vec<f64>; 2],
    between: StepInterpolant,
    is_known: [bool; 2],
    /// ω½, among all velocities (nv).
    omega: Vec<f64>,
    delta: Vec<f64>,
    /// Turns and angular velocities at the end, among all velocities.
    rotation: [Vec<f64>; 2],
    /// v̇½ of the step before.
    before: Vec<f64>,
    prepared: bool,
    accepted: bool,
}

impl Park1987 {
    /// So many iterations a step, at least one.
    pub fn new(iterations: u32, epsilon: Epsilon) -> Park1987 {
        let multipliers = Box::new(SparseMultipliers::new(epsilon));
        Park1987 {
            iterations: iterations.max(1),
            modules: Modules::new(Box::new(CentralDifference::default()), multipliers),
            start: State::default(),
            end: State::default(),
            middle: State::default(),
            eq: Equations::default(),
            half: Accel::default(),
            xdot: Vec::new(),
            ends: Default::default(),
            xdots: Default::default(),
            between: StepInterpolant::default(),
            is_known: [false; 2],
            omega: Vec::new(),
            delta: Vec::new(),
            rotation: Default::default(),
            before: Vec::new(),
            prepared: false,
            accepted: false,
        }
    }

    /// The method with what `options` ask for.
    pub fn from_options(options: &Options) -> Result<Park1987, MethodError> {
        let kind = "park1987";
        options.check(kind, OPTIONS)?;
        let whole = |x: f64| (1.0..=20.0).contains(&x) && x.fract() == 0.0;
        let iterations = options.number(kind, "iterations", "a whole number from 1 to 20", whole)?;
        Ok(Park1987::new(iterations.unwrap_or(2.0) as u32, epsilon(kind, options)?))
    }

    fn start_from(&mut self, view: &mut dyn Staggered, s: &State) -> Result<(), StepError> {
        let known = self.accepted && self.end == *s;
        self.accepted = false;
        self.start.copy_from(s);
        if known {
            self.ends.swap(0, 1);
            self.xdots.swap(0, 1);
            self.is_known = [self.is_known[1], false];
            return Ok(());
        }
        if !self.prepared {
            self.eq = view.equations();
            view.update(s, Stage::POSITION, &mut self.eq);
            self.modules.prepare(view.structure(), &self.eq).map_err(at(s))?;
            let structure = view.structure();
            let accel = || Accel::zeros(structure);
            (self.half, self.ends) = (accel(), [accel(), accel()]);
            self.prepared = true;
        }
        self.modules.watch.restart(view.structure());
        self.is_known = [false; 2];
        self.half.lambda.fill(0.0);
        let Park1987 { modules, eq, half, .. } = self;
        // where friction follows λ, several times: it sees that of the time before
        for _ in 0..if view.is_reactive() { START } else { 1 } {
            evaluate(modules, view, s, eq, half, START)?;
        }
        view.xdot(s, eq, half, &mut self.xdot);
        self.ends[0].clone_from(&self.half);
        self.xdots[0].copy_from_slice(&self.xdot);
        self.is_known[0] = true;
        Ok(())
    }

    fn try_step(&mut self, view: &mut dyn Staggered, t1: f64) -> Result<(), StepError> {
        let Park1987 { modules, start, end, middle, eq, half, xdot, omega, delta, rotation: angle, .. } =
            self;
        let h = t1 - start.t;
        let d = 0.5 * h;
        middle.t = start.t + d;
        omega.copy_from_slice(&start.v);
        for _ in 0..self.iterations {
            for (i, m) in middle.v.iter_mut().enumerate() {
                *m = start.v[i] + d * half.vdot[i];
                delta[i] = d * *m;
            }
            for g in view.structure().groups.iter().filter(rotates) {
                let at = g.start;
                let [middle_rotation, end_rotation] =
                    update(three(&start.v, at), three(omega, at), three(&half.vdot, at), h)
                        .ok_or(StepError::NoStep { t: start.t, h })?;
                delta[at..][..3].copy_from_slice(&quat_to_rotation_vector(&middle_rotation.q));
                middle.v[at..][..3].copy_from_slice(&middle_rotation.omega);
                angle[0][at..][..3].copy_from_slice(&quat_to_rotation_vector(&end_rotation.q));
                angle[1][at..][..3].copy_from_slice(&end_rotation.omega);
            }
            omega.copy_from_slice(&middle.v);
            middle.q.copy_from_slice(&start.q);
            view.retract(&mut middle.q, delta);
            middle.x.iter_mut().zip(&start.x).zip(&*xdot).for_each(|((m, x), r)| *m = x + d * r);
            evaluate(modules, view, middle, eq, half, 1)?;
            view.xdot(middle, eq, half, xdot);
        }

        // the end: translations from the last accelerations, turns as they were found with those before
        for (i, v) in end.v.iter_mut().enumerate() {
            *v = start.v[i] + h * half.vdot[i];
            delta[i] = h * (start.v[i] + d * half.vdot[i]);
        }
        for g in view.structure().groups.iter().filter(rotates) {
            let range = g.start..g.start + 3;
            delta[range.clone()].copy_from_slice(&angle[0][range.clone()]);
            end.v[range.clone()].copy_from_slice(&angle[1][range]);
        }
        end.t = t1;
        end.q.copy_from_slice(&start.q);
        view.retract(&mut end.q, delta);
        end.x.iter_mut().zip(&start.x).zip(&*xdot).for_each(|((e, x), r)| *e = x + h * r);
        if end.is_finite() { Ok(()) } else { Err(StepError::NotFinite { t: start.t }) }
    }

    /// Accelerations and rates at an end of the step, where they are not known yet.
    fn know(&mut self, view: &mut dyn Staggered, which: usize) -> Result<(), StepError> {
        let Park1987 { modules, eq, half, ends, xdots, start, end, is_known, .. } = self;
        let s = if which == 0 { start } else { end };
        if !is_known[which] {
            ends[which].lambda.copy_from_slice(&half.lambda);
            evaluate(modules, view, s, eq, &mut ends[which], 2)?;
            view.xdot(s, eq, &ends[which], &mut xdots[which]);
            is_known[which] = true;
        }
        Ok(())
    }
}

impl StaggeredStep for Park1987 {
    fn order(&self) -> u32 {
        self.iterations.min(2)
    }

    fn dense_order(&self) -> u32 {
        3
    }

    fn is_adaptive(&self) -> bool {
        false
    }

    /// Euler parameters by the midpoint rule lag by θ²/48.
    fn rotation_limit(&self) -> f64 {
        resolved(1.0 / 48.0)
    }

    fn prepare(&mut self, s: &Structure) {
        let zeros = || State::zeros(s);
        (self.start, self.end, self.middle) = (zeros(), zeros(), zeros());
        self.xdot = vec![0.0; s.nx];
        self.xdots = [vec![0.0; s.nx], vec![0.0; s.nx]];
        self.between.prepare(s);
        (self.omega, self.delta) = (vec![0.0; s.nv], vec![0.0; s.nv]);
        self.rotation = [vec![0.0; s.nv], vec![0.0; s.nv]];
        self.before = vec![0.0; s.nv];
        (self.prepared, self.accepted) = (false, false);
    }

    fn step(
        &mut self,
        view: &mut dyn Staggered,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        self.start_from(view, s)?;
        let t = self.start.t;
        let t1 = control.fixed_end(t);
        let h = t1 - t;
        if !(h > 0.0) {
            return Err(StepError::StepTooSmall { t, h_min: control.min_step(t, &StepLimits::default()) });
        }
        let before = &mut self.before;
        before.copy_from_slice(&self.half.vdot);
        self.try_step(view, t1)?;
        let Park1987 { modules, omega, before, half, start, end, .. } = self;
        let ends = [&**before, &*half.vdot];
        modules.watch.weigh(&modules.mass, omega);
        if let StepVerdict::TooLarge(omega) = modules.watch.check(&modules.mass, h, ends, [&start.v, &end.v])
        {
            return Err(StepError::StepTooLarge { t, h, omega });
        }
        view.accept(&self.end);
        control.counts.rhs += self.modules.evaluations;
        self.modules.report_counts(view);
        control.accept_fixed();
        self.accepted = true;
        self.between.forget();
        s.copy_from(&self.end);
        Ok(StepInfo { t, h, error: 0.0, rejected: 0 })
    }

    fn dense(&mut self, view: &mut dyn Staggered, t: f64, out: &mut State) -> Result<(), StepError> {
        self.know(view, 0)?;
        self.know(view, 1)?;
        let Park1987 { start, end, ends, xdots, between, .. } = self;
        let rates = [0, 1].map(|i| (&*ends[i].vdot, &*xdots[i]));
        between.write(view, [start, end], rates, t, out);
        Ok(())
    }

    /// λ½, at the middle of the step: the procedure has no other.
    fn multipliers(&self) -> &[f64] {
        &self.half.lambda
    }

    fn statistics(&self) -> MethodStatistics {
        self.modules.statistics()
    }
}

/// The three numbers of `v` from `at`.
fn three(v: &[f64], at: usize) -> [f64; 3] {
    [v[at], v[at + 1], v[at + 2]]
}

/// A body that rotates about three axes.
fn rotates(g: &&NormGroup) -> bool {
    g.kind == GroupKind::AngularVelocity && g.len == 3
}

/// Forces, λ and v̇ at `s`, from the λ in `out`.
fn evaluate(
    m: &mut Modules,
    view: &mut dyn Staggered,
    s: &State,
    eq: &mut Equations,
    out: &mut Accel,
    corrections: u32,
) -> Result<(), StepError> {
    m.evaluate(view, s, eq, &out.lambda, &out.lambda, 0.0);
    m.multipliers.load_jacobian(view.structure(), eq).map_err(at(s))?;
    m.accelerate(view.structure(), eq, out, corrections).map_err(at(s))
}
