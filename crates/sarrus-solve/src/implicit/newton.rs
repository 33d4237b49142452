//! Newton's iteration for the equations at one instant of an implicit method.
//!
//! The accelerations z and the multipliers λ of
//!
//! ```text
//! M z + J(q)ᵀλ = f(t, q, v, x),   q = q₀ ⊕ δ,   δ = δ* + β z + d  or  δ = δ* + γ T⁻¹(δ) v + d,   v = v* + γ z,   x = x* + γ_x ẋ
//! ```
//!
//! with the constraints of one [`ConstraintLevel`]: positions (index 3), velocities (index 2), or both, where d is the least change of positions
//! that keeps them, in the metric of the iteration matrix: the multiplier of \[Gear1985\] with its equation divided by the step.
//!
//! The matrix is kept from step to step while the iteration converges fast with it. What it does not know, as what controllers put
//! out and how friction follows λ, and what has changed since it was made, is learned on the way by Broyden's updates \[Kelley1995, section 7.3\]. Cost: one evaluation and one or two solutions an iteration; a tangent and
//! a factorization now and then.

use super::matrix::{IterationMatrix, RotationBlock, right_tangent_inverse};
use super::scale::ChangeScale;
use crate::error::{SolveError, StepError};
use crate::problem::{Accel, Equations, RowBlock, Stage, State, Structure};
use crate::tangent::Tangent;
use crate::views::ImplicitOde;

/// Identifies which constraints hold at the end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConstraintLevel {
    /// Positions alone: index 3. Velocities hold to the order of the method.
    Positions,
    /// Velocities alone: index 2. Positions drift.
    Velocities,
    /// Both.
    #[default]
    Both,
}

/// Describes how positions follow accelerations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinematics {
    /// δ = δ* + β z.
    Accelerations,
    /// δ = δ* + γ T⁻¹(δ) v, in which β = γ².
    Velocities,
}

/// Holds what a stage asks for.
#[derive(Debug, Clone)]
pub struct StageTarget {
    /// Time \[s\].
    pub t: f64,
    /// Size of the step \[s\].
    pub h: f64,
    /// ∂v/∂z \[s\].
    pub gamma: f64,
    /// ∂δ/∂z \[s²\].
    pub beta: f64,
    /// ∂x/∂ẋ \[s\].
    pub gamma_x: f64,
    /// Describes how positions follow.
    pub kinematics: Kinematics,
    /// δ* (nv).
    pub delta: Vec<f64>,
    /// v* (nv).
    pub v: Vec<f64>,
    /// x* (nx).
    pub x: Vec<f64>,
}

impl StageTarget {
    /// Zeros with the sizes of `s`.
    pub fn zeros(s: &Structure) -> StageTarget {
        StageTarget {
            t: 0.0,
            h: 0.0,
            gamma: 0.0,
            beta: 0.0,
            gamma_x: 0.0,
            kinematics: Kinematics::Accelerations,
            delta: vec![0.0; s.nv],
            v: vec![0.0; s.nv],
            x: vec![0.0; s.nx],
        }
    }
}

/// Describes how the iteration is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonOptions {
    /// Identifies which constraints hold.
    pub level: ConstraintLevel,
    /// Changes that are left to go, relative to the size and speed of the mechanism.
    pub tolerance: f64,
    /// Most iterations with one matrix.
    pub most: u32,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions { level: ConstraintLevel::default(), tolerance: 1e-10, most: 15 }
    }
}

/// A rate of convergence at which the matrix is made anew for the next step ...
const SLOW: f64 = 0.1;
/// ... and one at which the iteration has failed.
const DIVERGES: f64 = 2.0;
/// A rate at which the matrix is made anew where the iteration stands, and how many of its iterations may begin so.
const LAME: f64 = 0.3;
const RENEWALS: u32 = 8;
/// A change of γ that calls for a new matrix.
const OTHER_STEP: f64 = 0.1;
/// A change this small is rounding, relative to the tolerance asked for and to the numbers.
const ROUNDING: f64 = 1e-12;

/// The fastest convergence that is counted on: where something is stiff, errors that are left add up over the steps.
const LEAST_RATE: f64 = 0.1;
/// The most that an update makes a correction longer.
const MOST_LEARNED: f64 = 10.0;

/// Describes how an iteration went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Converged {
    /// Iterations.
    pub iterations: u32,
    /// Rate of convergence: last change over the one before.
    pub rate: f64,
}

/// Identifies which matrix an iteration starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatrixSource {
    /// The one at hand.
    Retained,
    /// That of the start of the step.
    Start,
    /// That of where the iteration starts.
    Here,
}

/// A row left out as dependent that is off by more than this, relative to the largest position, is dependent no longer.
const LOST: f64 = 1e-7;

/// A correction.
struct PastCorrection {
    z: Vec<f64>,
    lambda: Vec<f64>,
    x: Vec<f64>,
    /// Its square, weighted.
    size: f64,
}

/// Holds what an iteration has found, and what it needs.
pub struct Newton {
    /// Describes how it is run.
    pub options: NewtonOptions,
    /// The state that was found.
    pub state: State,
    /// z and λ that were found; to begin with, where the iteration starts.
    pub accel: Accel,
    /// ẋ there (nx).
    pub xdot: Vec<f64>,
    /// The equations there.
    pub eq: Equations,
    /// δ that was found (nv).
    pub delta: Vec<f64>,
    scale: ChangeScale,
    tangent: Tangent,
    matrix: IterationMatrix<f64>,
    rotations: Vec<RotationBlock>,
    /// γ of the factors; none before the first.
    factored: Option<f64>,
    /// True if the factors shall be made anew.
    stale: bool,
    /// Scalar rows that depend on others.
    out: Vec<bool>,
    /// d (nv).
    d: Vec<f64>,
    r: Vec<f64>,
    c: Vec<f64>,
    /// Change of d (nv).
    shift: Vec<f64>,
    evaluations: u64,
    iterations: u64,
    reported: [u64; 3],
    /// Change of x (nx), and what its square counts beside that of z.
    x: Vec<f64>,
    x_weight: f64,
    /// Corrections so far.
    past: Vec<PastCorrection>,
    /// Marks where the iteration started.
    guess: Accel,
    /// Multipliers of d (nc).
    mu: Vec<f64>,
}

impl Newton {
    /// Ready for the problem of `view`, whose constraints hold at `s`.
    pub fn new(view: &mut dyn ImplicitOde, s: &State, options: NewtonOptions) -> Result<Newton, SolveError> {
        let tangent = view.new_tangent().ok_or(SolveError::NoTangent)?;
        let mut out = vec![false; view.structure().nc];
        view.dependent_rows(s, &mut out)?;
        let structure = view.structure();
        Ok(Newton {
            options,
            state: s.clone(),
            accel: Accel::zeros(structure),
            xdot: vec![0.0; structure.nx],
            eq: view.equations(),
            delta: vec![0.0; structure.nv],
            scale: ChangeScale::new(structure),
            matrix: IterationMatrix::new(structure, &tangent)?,
            tangent,
            rotations: RotationBlock::all(structure),
            factored: None,
            stale: false,
            out,
            d: vec![0.0; structure.nv],
            r: vec![0.0; structure.nv],
            c: vec![0.0; structure.nc],
            shift: vec![0.0; structure.nv],
            evaluations: 0,
            iterations: 0,
            reported: [0; 3],
            x: vec![0.0; structure.nx],
            x_weight: 0.0,
            past: (0..options.most)
                .map(|_| PastCorrection {
                    z: vec![0.0; structure.nv],
                    lambda: vec![0.0; structure.nc],
                    x: vec![0.0; structure.nx],
                    size: 0.0,
                })
                .collect(),
            guess: Accel::zeros(structure),
            mu: vec![0.0; structure.nc],
        })
    }

    /// Forgets the factors: the problem is another.
    pub fn forget(&mut self) {
        self.factored = None;
    }

    /// Evaluations since the last call; tells `view` of all work since then.
    pub fn report_counts(&mut self, view: &mut dyn ImplicitOde) -> u64 {
        let now = [self.evaluations, self.matrix.factorizations(), self.iterations];
        let [evaluations, factorizations, iterations] = std::array::from_fn(|i| now[i] - self.reported[i]);
        self.reported = now;
        view.note(evaluations, factorizations, iterations);
        evaluations
    }

    /// Solves the equations of `target` for a step from `start`; z and λ begin at what [`accel`](Newton::accel) holds, which is put
    /// back there on an error.
    pub fn solve(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        target: &StageTarget,
    ) -> Result<Converged, StepError> {
        self.scale.measure(view.structure(), start);
        self.guess.clone_from(&self.accel);
        let fits = |factored: f64| (target.gamma / factored - 1.0).abs() <= OTHER_STEP;
        let fresh = !self.factored.is_some_and(fits) || self.stale;
        let mut done = self.iterate(
            view,
            start,
            target,
            if fresh { MatrixSource::Start } else { MatrixSource::Retained },
        );
        if done.is_err() && !fresh {
            self.accel.clone_from(&self.guess);
            done = self.iterate(view, start, target, MatrixSource::Start);
        }
        // where bodies turn far in a step the matrix of its start is worse than that of a guess of its end
        if done.is_err() {
            self.accel.clone_from(&self.guess);
            done = self.iterate(view, start, target, MatrixSource::Here);
        }
        if done.is_ok() && self.has_lost(view.structure()) {
            done = self.check_again(view, start, target);
        }
        if done.is_err() {
            self.accel.clone_from(&self.guess);
            self.factored = None;
        }
        done
    }

    /// Returns whether a row that was left out as dependent on others does not hold.
    fn has_lost(&self, s: &Structure) -> bool {
        let most = LOST * self.scale.length();
        let of_row = |row: &RowBlock| {
            (row.start..row.start + row.holonomic).any(|at| self.out[at] && self.eq.phi[at].abs() > most)
        };
        s.rows.iter().any(of_row)
    }

    /// Solves again with the rows that depend on others where the step has led to: where the run began, in a singular position, they were
    /// more.
    fn check_again(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        target: &StageTarget,
    ) -> Result<Converged, StepError> {
        let failed = |source| StepError::Solve { t: target.t, source };
        let before = self.out.clone();
        let state = self.state.clone();
        view.dependent_rows(&state, &mut self.out).map_err(failed)?;
        if self.out == before {
            let (t, h) = (start.t, target.h);
            return Err(StepError::NoStep { t, h });
        }
        self.accel.clone_from(&self.guess);
        let done = self.iterate(view, start, target, MatrixSource::Here)?;
        if self.has_lost(view.structure()) {
            let (t, h) = (start.t, target.h);
            return Err(StepError::NoStep { t, h });
        }
        Ok(done)
    }

    /// One correction with a new matrix, whether that is enough or not.
    pub fn solve_once(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        target: &StageTarget,
    ) -> Result<(), StepError> {
        self.iterations += 1;
        let failed = |source| StepError::Solve { t: target.t, source };
        self.factor_at_start(view, start, target).map_err(failed)?;
        self.begin(view, start, target);
        self.evaluate(view);
        self.correct(view.structure(), target).map_err(failed)?;
        self.apply();
        self.set_end_state(view, start, target);
        Ok(())
    }

    /// The state where the iteration starts.
    fn begin(&mut self, view: &dyn ImplicitOde, start: &State, target: &StageTarget) {
        self.d.fill(0.0);
        for ((x, base), rate) in self.state.x.iter_mut().zip(&target.x).zip(&self.xdot) {
            *x = base + target.gamma_x * rate;
        }
        self.set_end_state(view, start, target);
    }

    /// Broyden's update of the correction, number `n` from zero: what the matrix has got wrong so far, it gets wrong again.
    fn learn(&mut self, n: usize) {
        let Newton { r, c, x, past, x_weight, .. } = self;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let add = |x: &mut [f64], k: f64, y: &[f64]| x.iter_mut().zip(y).for_each(|(x, y)| *x += k * y);
        if n == 0 {
            // states of controllers, in whatever units, count as much as accelerations
            *x_weight = dot(r, r) / dot(x, x);
            *x_weight = if x_weight.is_finite() { *x_weight } else { 0.0 };
        }
        let share =
            |of: &PastCorrection, r: &[f64], x: &[f64]| (dot(&of.z, r) + *x_weight * dot(&of.x, x)) / of.size;
        for j in 1..n {
            let share = share(&past[j - 1], r, x);
            if share.is_finite() {
                add(r, share, &past[j].z);
                add(c, share, &past[j].lambda);
                add(x, share, &past[j].x);
            }
        }
        if n > 0 {
            let factor = 1.0 / (1.0 - share(&past[n - 1], r, x));
            // a correction that repeats the last one would be without bound
            if (0.0..MOST_LEARNED).contains(&factor) {
                r.iter_mut().chain(c.iter_mut()).chain(x.iter_mut()).for_each(|x| *x *= factor);
            }
        }
        let size = dot(r, r) + *x_weight * dot(x, x);
        let last = &mut past[n];
        last.z.copy_from_slice(r);
        last.lambda.copy_from_slice(c);
        last.x.copy_from_slice(x);
        last.size = size;
    }

    /// Adds the correction.
    fn apply(&mut self) {
        let add = |x: &mut [f64], y: &[f64]| x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
        add(&mut self.accel.vdot, &self.r);
        add(&mut self.accel.lambda, &self.c);
        add(&mut self.state.x, &self.x);
    }

    fn iterate(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        target: &StageTarget,
        matrix: MatrixSource,
    ) -> Result<Converged, StepError> {
        let StageTarget { t, h, gamma, beta, .. } = *target;
        let NewtonOptions { tolerance, most, .. } = self.options;
        let failed = |source| StepError::Solve { t, source };
        if matrix == MatrixSource::Start {
            self.factor_at_start(view, start, target).map_err(failed)?;
        }
        self.begin(view, start, target);
        let mut last = f64::INFINITY;
        let mut slowest = 0.0_f64;
        let mut learned = 0;
        let mut renew = matrix == MatrixSource::Here;
        for iteration in 1..=most {
            self.iterations += 1;
            self.evaluate(view);
            if renew {
                self.factor(view, target).map_err(failed)?;
                learned = 0;
            }
            let x_change = self.correct(view.structure(), target).map_err(failed)?;
            self.learn(learned);
            learned += 1;
            let (z, worst) = self.scale.size(&self.r, beta, gamma, h);
            let (moved, _) = self.scale.size(&self.shift, 1.0, 0.0, h);
            let change = z.max(moved).max(x_change);
            self.apply();
            self.set_end_state(view, start, target);
            let no_step = |rate| StepError::Newton { t: start.t, h, iterations: iteration, rate, worst };
            if !change.is_finite() {
                return Err(no_step(f64::INFINITY));
            }

            let rate = if iteration == 1 { 0.0 } else { change / last };
            slowest = slowest.max(rate);
            // what is left to go, if it continues like that; one fast iteration is no promise
            let sure = rate.max(LEAST_RATE);
            let left = if iteration == 1 { change } else { sure / (1.0 - sure).max(1e-3) * change };
            if left <= tolerance || change <= ROUNDING {
                self.stale = slowest > SLOW;
                return Ok(Converged { iterations: iteration, rate: slowest });
            }
            if rate > DIVERGES && change > 1e3 * ROUNDING && iteration > RENEWALS {
                return Err(no_step(rate));
            }
            // a matrix of here for one of the start: plain Newton
            renew = rate > LAME && iteration <= RENEWALS;
            last = change;
        }
        let worst = self.scale.size(&self.r, beta, gamma, h).1;
        Err(StepError::Newton { t: start.t, h, iterations: most, rate: slowest, worst })
    }

    /// The state that z and d mean.
    fn set_end_state(&mut self, view: &dyn ImplicitOde, start: &State, target: &StageTarget) {
        let Newton { state, accel, delta, d, .. } = self;
        state.t = target.t;
        for ((v, base), z) in state.v.iter_mut().zip(&target.v).zip(&accel.vdot) {
            *v = base + target.gamma * z;
        }
        match target.kinematics {
            Kinematics::Accelerations => {
                for (i, delta) in delta.iter_mut().enumerate() {
                    *delta = target.delta[i] + target.beta * accel.vdot[i] + d[i];
                }
            }
            Kinematics::Velocities => {
                // T⁻¹ of the last iteration
                self.rotations.iter_mut().for_each(|rotation| {
                    rotation.T = right_tangent_inverse([0, 1, 2].map(|i| delta[rotation.start + i]));
                });
                for (i, delta) in delta.iter_mut().enumerate() {
                    *delta = target.delta[i] + target.gamma * state.v[i] + d[i];
                }
                for rotation in &self.rotations {
                    let w = &state.v[rotation.start..][..3];
                    for i in 0..3 {
                        let rate: f64 = (0..3).map(|k| rotation.T[i][k] * w[k]).sum();
                        delta[rotation.start + i] += target.gamma * (rate - w[i]);
                    }
                }
            }
        }
        state.q.copy_from_slice(&start.q);
        view.retract(&mut state.q, delta);
    }

    /// The equations at the state.
    fn evaluate(&mut self, view: &mut dyn ImplicitOde) {
        self.evaluations += 1;
        let Newton { state, accel, xdot, eq, .. } = self;
        view.update(state, Stage::FORCE, eq);
        view.add_reactive(state, &accel.lambda, eq);
        view.xdot(state, eq, accel, xdot);
    }

    /// The matrix of where the step starts. Where it leads to is not known yet: what is stiff has forces at a guess of the end that
    /// never act, and their part of K would lead astray.
    fn factor_at_start(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        target: &StageTarget,
    ) -> Result<(), SolveError> {
        self.state.copy_from(start);
        self.delta.fill(0.0);
        self.evaluate(view);
        self.factor(view, target)
    }

    fn factor(&mut self, view: &mut dyn ImplicitOde, target: &StageTarget) -> Result<(), SolveError> {
        let Newton { state, accel, tangent, rotations, delta, matrix, eq, out, .. } = self;
        view.fill_tangent(state, &accel.vdot, &accel.lambda, tangent);
        let rotations: &[RotationBlock] = match target.kinematics {
            Kinematics::Accelerations => {
                rotations.iter_mut().for_each(|rotation| rotation.set(delta));
                rotations
            }
            // T and T⁻¹ cancel
            Kinematics::Velocities => &[],
        };
        matrix.factor(view.structure(), eq, tangent, [target.gamma, target.beta], rotations, out)?;
        self.factored = Some(target.gamma);
        Ok(())
    }

    /// One correction: Δz and Δλ in `r` and `c`, that of x in `x`, that of d in `shift`, which is made at once. Returns how much x changes.
    ///
    /// Δz keeps the velocities, J Δz = -Φ̇/γ, so that what it does to the positions is known beforehand and d comes first: it is least in
    /// the metric of the matrix, and what it does to the forces, -K d, is part of the residual of Δz.
    fn correct(&mut self, s: &Structure, target: &StageTarget) -> Result<f64, SolveError> {
        let Newton { eq, accel, r, c, out, shift, mu, matrix, tangent, .. } = self;
        eq.mass_mul(s, &accel.vdot, r);
        r.iter_mut().zip(&eq.f).for_each(|(r, f)| *r = f - *r);
        c.iter_mut().zip(&accel.lambda).for_each(|(c, lambda)| *c = -lambda);
        eq.add_Jt_mul(s, c, r);
        shift.fill(0.0);
        if self.options.level == ConstraintLevel::Both {
            let ahead = target.beta / target.gamma;
            for row in &s.rows {
                for i in 0..row.size {
                    let at = row.start + i;
                    let keeps = out[at] || i >= row.holonomic;
                    mu[at] = if keeps { 0.0 } else { ahead * eq.phidot[at] - eq.phi[at] };
                }
            }
            matrix.solve(shift, mu)?;
            matrix.subtract_stiffness(s, tangent, shift, r);
            self.d.iter_mut().zip(&*shift).for_each(|(d, change)| *d += change);
        }
        let velocities = self.options.level != ConstraintLevel::Positions;
        for row in &s.rows {
            for i in 0..row.size {
                let at = row.start + i;
                c[at] = match () {
                    _ if out[at] => 0.0,
                    _ if velocities || i >= row.holonomic => -eq.phidot[at] / target.gamma,
                    _ => -eq.phi[at] / target.beta,
                };
            }
        }
        matrix.solve(r, c)?;

        // x
        let mut x_change = 0.0_f64;
        for (i, change) in self.x.iter_mut().enumerate() {
            let new = target.x[i] + target.gamma_x * self.xdot[i];
            *change = new - self.state.x[i];
            x_change = x_change.max(change.abs() / (1.0 + new.abs()));
        }
        Ok(x_change)
    }
}
