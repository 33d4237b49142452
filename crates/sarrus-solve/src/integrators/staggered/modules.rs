//! The modules of a method, and what every form of it asks of them.

use crate::error::{SolveError, StepError};
use crate::findings::{MethodStatistics, StabilityFound};
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::staggered::{
    BlockDiagonal, MotionModule, MultiplierController, MultiplierModule, StepWatch, add_J_mul, add_Jt_mul,
    add_Jt_mul_each,
};
use crate::views::Staggered;

/// Power iterations for the highest frequency, and the displacement that forces are differenced over \[m, rad\].
const POWER: u32 = 12;
const DISPLACEMENT: f64 = 1e-6;
/// The iteration has converged where its last two results differ by less.
const CONVERGED: f64 = 0.1;

/// Corrections of λ for velocities half a step ahead at most, and what of one, relative to vᵀM v, counts as none.
const CORRECTIONS: u32 = 6;
const STATIONARY: f64 = 1e-13;

/// Solutions at a start for forces that depend on λ: each leaves a part of the error, which is as small as friction beside its reaction.
const REACTIONS: u32 = 8;

/// Motion, multipliers, what is between them, and room.
pub(crate) struct Modules {
    pub motion: Box<dyn MotionModule>,
    pub multipliers: Box<dyn MultiplierModule>,
    pub controller: Option<Box<dyn MultiplierController>>,
    pub watch: StepWatch,
    pub mass: BlockDiagonal,
    pub minv: BlockDiagonal,
    /// Evaluations of f, and corrections of positions, not yet told.
    pub evaluations: u64,
    pub corrections: u64,
    reported: u64,
    force: Vec<f64>,
    r: Vec<f64>,
    eta: Vec<f64>,
    /// λ as a controller sees it (nc).
    seen: Vec<f64>,
}

impl Modules {
    pub fn new(motion: Box<dyn MotionModule>, multipliers: Box<dyn MultiplierModule>) -> Modules {
        Modules {
            motion,
            multipliers,
            controller: None,
            watch: StepWatch::default(),
            mass: BlockDiagonal::default(),
            minv: BlockDiagonal::default(),
            evaluations: 0,
            corrections: 0,
            reported: 0,
            force: Vec::new(),
            r: Vec::new(),
            eta: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Begins a run.
    pub fn prepare(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        if !s.varying.is_empty() {
            return Err(SolveError::VaryingMass);
        }
        self.motion.prepare(s, &eq.mass, &eq.minv);
        self.mass = BlockDiagonal::new(s, &eq.mass);
        self.minv = BlockDiagonal::new(s, &eq.minv);
        self.force.resize(s.nv, 0.0);
        for workspace in [&mut self.r, &mut self.eta, &mut self.seen] {
            workspace.resize(s.nc, 0.0);
        }
        self.multipliers.prepare(s, eq)
    }

    /// Evaluates the forces at `s`, with those that depend on λ and those of the controller, which see `lambda` + `ratio` (`lambda` - `before`).
    pub fn evaluate(
        &mut self,
        view: &mut dyn Staggered,
        s: &State,
        eq: &mut Equations,
        lambda: &[f64],
        before: &[f64],
        ratio: f64,
    ) {
        view.update(s, Stage::FORCE, eq);
        self.evaluations += 1;
        if self.controller.is_none() && !view.is_reactive() {
            return;
        }
        for ((seen, l), b) in self.seen.iter_mut().zip(lambda).zip(before) {
            *seen = l + ratio * (l - b);
        }
        view.add_reactive(s, &self.seen, eq);
        if let Some(controller) = &mut self.controller {
            controller.act(s, &self.seen, &mut eq.f);
        }
    }

    /// All that a start at `s` knows: equations, v̇ and λ, by so many corrections; takes J there. The controller, if there is one, sees
    /// the λ without its own forces.
    pub fn begin(
        &mut self,
        view: &mut dyn Staggered,
        s: &State,
        eq: &mut Equations,
        out: &mut Accel,
        corrections: u32,
    ) -> Result<(), StepError> {
        out.lambda.fill(0.0);
        let controller = self.controller.take();
        self.evaluate(view, s, eq, &out.lambda, &out.lambda, 0.0);
        self.controller = controller;
        self.multipliers.load_jacobian(view.structure(), eq).map_err(at(s))?;
        self.accelerate(view.structure(), eq, out, corrections).map_err(at(s))?;
        let again = match (view.is_reactive(), &self.controller) {
            (true, _) => REACTIONS,
            (false, Some(_)) => 1,
            (false, None) => 0,
        };
        for _ in 0..again {
            self.evaluate(view, s, eq, &out.lambda, &out.lambda, 0.0);
            self.accelerate(view.structure(), eq, out, corrections).map_err(at(s))?;
        }
        Ok(())
    }

    /// v̇ and λ with M v̇ + Jᵀλ = f, J v̇ = γ, from the λ in `out` by so many corrections; J has been taken.
    pub fn accelerate(
        &mut self,
        s: &Structure,
        eq: &Equations,
        out: &mut Accel,
        corrections: u32,
    ) -> Result<(), SolveError> {
        self.remaining(s, eq, &eq.f, &out.lambda);
        self.accelerate_remaining(s, eq, out, corrections)
    }

    /// As [`accelerate`](Modules::accelerate), with f - Jᵀλ at hand.
    pub fn accelerate_remaining(
        &mut self,
        s: &Structure,
        eq: &Equations,
        out: &mut Accel,
        corrections: u32,
    ) -> Result<(), SolveError> {
        self.minv.mul(&self.force, &mut out.vdot);
        for _ in 0..corrections {
            self.r.iter_mut().zip(&eq.gamma).for_each(|(r, g)| *r = -g);
            add_J_mul(s, eq, &out.vdot, &mut self.r);
            self.multipliers.solve(&self.r, &mut self.eta)?;
            out.lambda.iter_mut().zip(&self.eta).for_each(|(l, e)| *l += e);
            self.project_from(s, eq, &mut out.vdot);
        }
        Ok(())
    }

    /// Takes from `v` what J v + `rest` = 0 forbids. J has been taken.
    pub fn constrain(
        &mut self,
        s: &Structure,
        eq: &Equations,
        rest: &[f64],
        v: &mut [f64],
    ) -> Result<(), SolveError> {
        self.r.copy_from_slice(rest);
        add_J_mul(s, eq, v, &mut self.r);
        self.multipliers.solve(&self.r, &mut self.eta)?;
        self.project_from(s, eq, v);
        Ok(())
    }

    /// f - Jᵀλ, kept until the next call.
    pub fn remaining(&mut self, s: &Structure, eq: &Equations, f: &[f64], lambda: &[f64]) -> &mut [f64] {
        self.force.copy_from_slice(f);
        add_Jt_mul_each(s, eq, [-1.0], [lambda], [&mut self.force]);
        &mut self.force
    }

    /// v -= M⁻¹Jᵀη.
    fn project_from(&mut self, s: &Structure, eq: &Equations, v: &mut [f64]) {
        self.force.fill(0.0);
        add_Jt_mul(s, eq, &self.eta, &mut self.force);
        self.minv.add_mul(-1.0, &self.force, v);
    }

    /// λ, from the one at hand, and `trial` = `u` + h M⁻¹(f - Jᵀλ) of `eq`, so that J trial + Φ_t + `extra` = 0 with the J and Φ_t of
    /// `next`, whose J has been taken. (`extra` may be empty: nothing.)
    pub fn carry(
        &mut self,
        s: &Structure,
        [eq, next]: [&Equations; 2],
        h: f64,
        [u, extra]: [&[f64]; 2],
        lambda: &mut [f64],
        trial: &mut [f64],
    ) -> Result<(), SolveError> {
        self.remaining(s, eq, &eq.f, lambda);
        trial.copy_from_slice(u);
        self.minv.add_mul(h, &self.force, trial);
        let kinetic = self.mass.dot(trial, trial, &mut self.force);
        let mut before = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            self.r.copy_from_slice(&next.phi_t);
            self.r.iter_mut().zip(extra).for_each(|(r, e)| *r += e);
            add_J_mul(s, next, trial, &mut self.r);
            self.multipliers.solve(&self.r, &mut self.eta)?;
            lambda.iter_mut().zip(&self.eta).for_each(|(l, e)| *l += e / h);
            self.project_from(s, eq, trial);
            // a dependent row continues asking in vain: what matters is whether velocities still change
            let change = self.force.iter().zip(&*trial).map(|(i, v)| (i * v).abs()).fold(0.0, f64::max);
            if !(change > STATIONARY * kinetic) || change >= before {
                break;
            }
            before = change;
        }
        Ok(())
    }

    /// Returns what was found on the way.
    pub fn statistics(&self) -> MethodStatistics {
        let StepWatch { highest, ratio, .. } = self.watch;
        let epsilon = self.multipliers.epsilon();
        MethodStatistics {
            stability: Some(StabilityFound { omega: highest, ratio, epsilon }),
            ..MethodStatistics::default()
        }
    }

    /// Informs the problem what was done since the last time.
    pub fn report_counts(&mut self, view: &mut dyn Staggered) {
        let made = self.multipliers.factorizations();
        view.note(self.evaluations, made.saturating_sub(self.reported), self.corrections);
        (self.evaluations, self.corrections, self.reported) = (0, 0, made);
    }

    /// The highest frequency \[rad/s\] at `s`, where `here` are the accelerations: power iteration on their change with
    /// positions. None where it does not converge, or the fastest motion is no oscillation. Allocates; leaves J as it
    /// was taken last.
    pub fn highest(
        &mut self,
        view: &mut dyn Staggered,
        s: &State,
        eq: &Equations,
        here: &Accel,
    ) -> Result<Option<f64>, SolveError> {
        let structure = view.structure().clone();
        let (mut moved, mut other, mut there) = (s.clone(), eq.clone(), here.clone());
        // a controller sees the same multipliers at both places, and so does friction
        let mut base = here.clone();
        if self.controller.is_some() || view.is_reactive() {
            self.evaluate(view, s, &mut other, &here.lambda, &here.lambda, 0.0);
            self.multipliers.load_jacobian(&structure, &other)?;
            self.accelerate(&structure, &other, &mut base, 2)?;
        }
        // any direction, then along the constraints
        let mut z: Vec<f64> =
            (0..structure.nv).map(|i| ((i as f64 + 1.0) * 0.618_034).fract() - 0.4).collect();
        self.multipliers.load_jacobian(&structure, eq)?;
        self.constrain(&structure, eq, &vec![0.0; structure.nc], &mut z)?;
        let (mut y, mut momentum) = (z.clone(), z.clone());
        let mut found = [f64::NAN; 2];
        for _ in 0..POWER {
            let largest = z.iter().fold(0.0_f64, |a, z| a.max(z.abs()));
            if !(largest > 0.0 && largest.is_finite()) {
                return Ok(None);
            }
            z.iter_mut().for_each(|z| *z /= largest);
            y.iter_mut().zip(&z).for_each(|(y, z)| *y = DISPLACEMENT * z);
            moved.q.copy_from_slice(&s.q);
            view.retract(&mut moved.q, &y);
            self.evaluate(view, &moved, &mut other, &here.lambda, &here.lambda, 0.0);
            self.multipliers.load_jacobian(&structure, &other)?;
            there.lambda.copy_from_slice(&here.lambda);
            self.accelerate(&structure, &other, &mut there, 2)?;
            for ((y, a), b) in y.iter_mut().zip(&there.vdot).zip(&base.vdot) {
                *y = (b - a) / DISPLACEMENT;
            }
            eq.mass_mul(&structure, &z, &mut momentum);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            found = [found[1], dot(&momentum, &y) / dot(&momentum, &z)];
            z.copy_from_slice(&y);
        }
        let [before, last] = found;
        Ok((last > 0.0 && (last - before).abs() <= CONVERGED * last).then(|| last.sqrt()))
    }
}

/// Puts the time of `s` to an error.
pub(crate) fn at(s: &State) -> impl Fn(SolveError) -> StepError {
    let t = s.t;
    move |source| StepError::Solve { t, source }
}
