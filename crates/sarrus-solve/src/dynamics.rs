//! A problem, a formulation and a stabilization together: an ordinary differential equation.
//!
//! q̇ = N(q) v, v̇ from the formulation with γ shifted by the stabilization, ẋ from the problem; after an
//! accepted step the stabilization may move the state. Near singular positions a [`Passage`] finds accelerations and moves the state
//! in their place.

use crate::control::{Control, StepLimits};
use crate::error::{SolveError, StepError};
use crate::findings::Findings;
use crate::formulations::Formulation;
use crate::integrators::ExplicitRk;
use crate::integrators::tableaux::DOP853;
use crate::kkt::{HUB_DEGREE, Kkt, Rank, Rows};
use crate::passage::{Passage, PassageRecord, Place, Regularize};
use crate::problem::{Accel, COEFFICIENTS, Equations, GroupKind, Problem, Stage, State, Structure};
use crate::stabilizations::Stabilization;
use crate::views::{Ode, Staggered, Step};

/// A pivot that falls below this fraction of what is usual announces a singular position.
const SINGULAR: f64 = 0.03;
/// Before the first right side of a step.
const NO_PIVOTS: [f64; 2] = [f64::INFINITY, 0.0];
/// How slowly what is usual is forgotten.
const MEMORY: f64 = 0.99;
/// Half a window is at least the time in which the mechanism turns by this angle \[rad\]. Outside it rounding and the rest of
/// projections, magnified twice by the inverse of the angle, are below 10⁻¹⁰ ...
const LEAST_ANGLE: f64 = 0.02;
/// ... and at most that of this one, inside which the Taylor series converge fast ...
const MOST_ANGLE: f64 = 0.1;
/// ... or of a smaller one, where steps are chosen for a small tolerance: the power of it that the series leave out.
const LEFT_OUT: f64 = 8.0;
/// Half a window of large parts, where everything costs more \[rad\].
const LARGE_ANGLE: f64 = 0.01;
/// A singular position is looked for where the root of the smallest pivot, as a fraction of what is usual, is below so many times
/// the angle of half a window ...
const LOOK: f64 = 4.0;
/// ... but never above this.
const LOOK_MOST: f64 = 0.7;

/// Half a window in steps of fixed size: wide enough that no stage outside it is near.
const FIXED_WINDOW: f64 = 1.5;
/// The same in steps of chosen size, which are longer: the Taylor series must reach across it.
const CHOSEN_WINDOW: f64 = 0.4;
/// Tolerance of the steps that are taken in place of fixed ones beside a near miss.
const SUBSTEP_TOLERANCE: f64 = 1e-10;

/// How an integrator takes its steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steps {
    /// All of one size.
    Fixed,
    /// As an estimate of their error allows, for this relative tolerance.
    Chosen(f64),
}

/// What a run has cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Right sides.
    pub rhs: u64,
    /// Factorizations, of accelerations and projections.
    pub factorizations: u64,
    /// Refinements in the solutions for accelerations.
    pub refinements: u64,
    /// Newton iterations of projections.
    pub projection_iterations: u64,
}

/// The equations of motion of `problem` as an [`Ode`]. Knowing the type of the problem, an observer of a run can ask it
/// for more than a [`Problem`] tells.
pub struct Dynamics<'a, P: Problem + ?Sized = dyn Problem + 'a> {
    problem: &'a mut P,
    formulation: Box<dyn Formulation>,
    stabilization: Box<dyn Stabilization>,
    kkt: Kkt,
    eq: Equations,
    accel: Accel,
    /// Size of the step being made \[s\], zero if none.
    h: f64,
    /// Whether right sides are taken on the constraints.
    careful: bool,
    /// Least and largest of the smallest pivots at the right sides of this step.
    pivots: [f64; 2],
    /// What the largest has been of late.
    usual_pivot: f64,
    /// The state there.
    nearest: State,
    room: Room,
    counts: Counts,
    near: Option<Near>,
}

/// What passes singular positions, and when it is asked.
struct Near {
    passage: Passage,
    /// Half a window, in steps.
    kappa: f64,
    /// The largest angle in half a window \[rad\].
    most: f64,
    /// Half the window of the last right side \[s\].
    tau: f64,
    /// Whether the last right side called for a look.
    looking: bool,
    /// Whether a right side of this step was inside a window.
    inside: bool,
    /// The same of the window of a near miss.
    beside: bool,
    /// The same of what is no singular position.
    weak: bool,
    /// Takes steps in place of those of fixed size that are too long for a near miss.
    substeps: Option<Box<ExplicitRk>>,
    /// Fewest rows that were left out as dependent.
    fewest: usize,
    /// The last state on the constraints.
    last: State,
    has_last: bool,
    /// γ without the stabilization's shift (nc).
    gamma: Vec<f64>,
    /// What Φ shall do where the stabilization shifts γ, and room for it.
    targets: Vec<Vec<f64>>,
    probe: Option<Equations>,
    /// Stands in for λ in the books.
    books: Accel,
}

/// Vectors for [`Ode::keep_tangent`].
struct Room {
    /// Momentum of a change (nv).
    momentum: Vec<f64>,
    /// What is left of it (nv).
    rest: Vec<f64>,
    /// Zero (nc).
    still: Vec<f64>,
    /// Multipliers (nc).
    mu: Vec<f64>,
}

impl<'a, P: Problem + ?Sized> Dynamics<'a, P> {
    /// Puts the three together; analyses the pattern once.
    pub fn new(
        problem: &'a mut P,
        formulation: Box<dyn Formulation>,
        stabilization: Box<dyn Stabilization>,
    ) -> Result<Dynamics<'a, P>, SolveError> {
        let eq = Equations::new(&problem);
        let kkt = Kkt::new(problem.structure(), &eq, HUB_DEGREE)?;
        let accel = Accel::zeros(problem.structure());
        let s = problem.structure();
        let nearest = State::zeros(s);
        let room = Room {
            momentum: vec![0.0; s.nv],
            rest: vec![0.0; s.nv],
            still: vec![0.0; s.nc],
            mu: vec![0.0; s.nc],
        };
        Ok(Dynamics {
            problem,
            formulation,
            stabilization,
            kkt,
            eq,
            accel,
            h: 0.0,
            careful: false,
            pivots: NO_PIVOTS,
            usual_pivot: 0.0,
            nearest,
            room,
            counts: Counts::default(),
            near: None,
        })
    }

    /// Passes singular positions as `kind` says, in windows that fit the steps of the integrator.
    pub fn regularize(&mut self, kind: Regularize, steps: Steps) -> Result<(), SolveError> {
        if kind == Regularize::Off {
            self.near = None;
            return Ok(());
        }
        let passage = Passage::new(&self.problem, kind)?;
        if passage.is_empty() {
            self.near = None;
            return Ok(());
        }
        let s = self.problem.structure();
        self.near = Some(Near {
            looking: false,
            inside: false,
            beside: false,
            weak: false,
            substeps: (steps == Steps::Fixed)
                .then(|| Box::new(ExplicitRk::new(&DOP853, StepLimits::default()))),
            fewest: usize::MAX,
            last: State::zeros(s),
            has_last: false,
            gamma: vec![0.0; s.nc],
            targets: Vec::new(),
            probe: None,
            books: Accel::zeros(s),
            kappa: if steps == Steps::Fixed { FIXED_WINDOW } else { CHOSEN_WINDOW },
            most: match steps {
                Steps::Fixed => MOST_ANGLE,
                Steps::Chosen(rtol) => {
                    (10.0 * rtol).powf(1.0 / LEFT_OUT).clamp(1.5 * LEAST_ANGLE, MOST_ANGLE)
                }
            },
            tau: 0.0,
            passage,
        });
        Ok(())
    }

    /// Times that dense or sparse factors were made to look for singular positions; none of them in most runs.
    pub fn looks(&self) -> u64 {
        self.near.as_ref().map_or(0, |near| near.passage.looks())
    }

    /// Singular positions met so far.
    pub fn passages(&self) -> &[PassageRecord] {
        self.near.as_ref().map_or(&[], |near| near.passage.records())
    }

    /// Tells the solver that at `s`, which is on the constraints, so many rows depend on others. Returns whether it finds them.
    pub fn settle(&mut self, s: &State, dependent: usize) -> Result<bool, SolveError> {
        self.problem.update(s, Stage::POSITION, &mut self.eq);
        self.kkt.settle(&self.eq, dependent)
    }

    /// Accelerations and multipliers at `s`, without the stabilization's shift; also leaves Φ, Φ̇, γ and the rest in
    /// [`equations`](Dynamics::equations).
    pub fn evaluate(&mut self, s: &State) -> Result<&Accel, SolveError> {
        self.problem.update(s, Stage::FORCE, &mut self.eq);
        let solved = self.accelerate();
        self.pass(s, solved, false)?;
        Ok(&self.accel)
    }

    /// Moves `s` onto its constraints as the stabilization does after a step, without noting a step. Returns whether
    /// it was moved.
    pub fn project(&mut self, s: &mut State) -> Result<bool, SolveError> {
        if let Some(near) = self.near.as_mut().filter(|near| near.looking && near.passage.is_crossing())
            && self.stabilization.projects()
            && let Some(gap) = near.passage.project(&mut self.problem, &mut self.eq, s, near.tau)?
        {
            near.passage.note_gap(gap);
            return Ok(true);
        }
        let done = self.stabilization.project(&mut self.problem, &mut self.kkt, &mut self.eq, s)?;
        self.counts.projection_iterations += u64::from(done.iterations);
        Ok(done.moved)
    }

    /// What the last right side or [`evaluate`](Dynamics::evaluate) found.
    pub fn accel(&self) -> &Accel {
        &self.accel
    }

    /// The equations, as the last call left them; after a right side γ holds the stabilization's shift.
    pub fn equations(&self) -> &Equations {
        &self.eq
    }

    /// The problem.
    pub fn problem(&self) -> &P {
        self.problem
    }

    /// The problem, to be changed; its structure and masses must stay.
    pub fn problem_mut(&mut self) -> &mut P {
        self.problem
    }

    /// The problem, to be asked about what the last call found there: the equations and the accelerations.
    pub fn parts(&mut self) -> (&mut P, &Equations, &Accel) {
        (self.problem, &self.eq, &self.accel)
    }

    /// The solver, for what it found of the rank.
    pub fn kkt(&self) -> &Kkt {
        &self.kkt
    }

    /// What the run has cost so far.
    pub fn counts(&self) -> Counts {
        let own = self.kkt.factorizations() + self.formulation.factorizations();
        Counts { factorizations: own + self.counts.factorizations, ..self.counts }
    }

    /// What the formulation and the stabilization found on the way.
    pub fn findings(&self) -> [Findings; 2] {
        [self.formulation.findings(), self.stabilization.findings()]
    }

    /// The part of `change` (nv) that the rows which take part leave alone, into `room.rest`.
    fn tangent_part(&mut self, rows: Rows, change: &[f64]) -> Result<(), SolveError> {
        let Room { momentum, rest, still, mu } = &mut self.room;
        self.kkt.factor(&self.eq, rows, Rank::Any)?;
        self.eq.mass_mul(self.problem.structure(), change, momentum);
        self.kkt.solve(&self.eq, momentum, still, rest, mu).map(|_| ())
    }

    fn keep_tangent(&mut self, s: &State, delta: &mut State) -> Result<(), SolveError> {
        self.problem.update(s, Stage::POSITION, &mut self.eq);
        self.tangent_part(Rows::All, &delta.v)?;
        delta.v.copy_from_slice(&self.room.rest);

        // positions, as a tangent vector and back
        let mut moved = std::mem::take(&mut self.nearest.q);
        let mut change = std::mem::take(&mut self.nearest.v);
        moved.iter_mut().zip(&s.q).zip(&delta.q).for_each(|((m, q), d)| *m = q + d);
        self.problem.difference(&moved, &s.q, &mut change);
        let done = self.tangent_part(Rows::Holonomic, &change);
        moved.copy_from_slice(&s.q);
        self.problem.retract(&mut moved, &self.room.rest);
        delta.q.iter_mut().zip(&moved).zip(&s.q).for_each(|((d, m), q)| *d = m - q);
        (self.nearest.q, self.nearest.v) = (moved, change);
        done
    }

    /// Takes `solved` for the accelerations at `s`, or those of a window around a singular position where one is near.
    fn pass(&mut self, s: &State, solved: Result<(), SolveError>, shifted: bool) -> Result<(), SolveError> {
        if self.near.is_none() {
            return solved;
        }
        let pivot = self.formulation.smallest_pivot(&self.kkt);
        let dropped = self.kkt.dependent_rows().len();
        let usual = self.usual_pivot;
        let Some(near) = self.near.as_mut() else { return solved };
        near.fewest = near.fewest.min(dropped);
        near.looking =
            solved.is_err() || dropped > near.fewest || pivot < LOOK_MOST * LOOK_MOST * usual || usual == 0.0;
        if near.looking {
            let turning = self.turning(s).max(f64::MIN_POSITIVE);
            let Some(near) = self.near.as_mut() else { return solved };
            near.tau = (near.kappa * self.h).clamp(LEAST_ANGLE / turning, near.most / turning);
            near.passage.set_least(LARGE_ANGLE / turning);
            let angle = (LOOK * near.tau * turning).min(LOOK_MOST);
            near.looking =
                solved.is_err() || dropped > near.fewest || pivot < angle * angle * usual || usual == 0.0;
        }
        let Some(near) = self.near.as_mut() else { return solved };
        if !near.looking {
            return solved;
        }
        if near.passage.is_new() {
            let on = if near.has_last { &near.last } else { s };
            near.passage.learn(&mut self.problem, on, near.tau)?;
        }
        let aims = shifted && near.aim(&self.problem, &*self.stabilization, &self.eq, self.h);
        let (eq, accel) = (&self.eq, &mut self.accel);
        let targets = aims.then_some(&*near.targets);
        let last = near.has_last.then_some(&near.last);
        match near.passage.accelerate(&mut self.problem, s, eq, near.tau, targets, !shifted, last, accel) {
            Ok(Place::Inside) => {
                near.inside = true;
                Ok(())
            }
            Ok(Place::Beside) => {
                near.beside = true;
                solved
            }
            Ok(Place::Weak) => {
                near.weak = true;
                solved
            }
            Ok(Place::Outside) => {
                // so many rows left out are no sign of one
                near.fewest = near.fewest.max(dropped);
                solved
            }
            // where both fail the plain solution tells why
            Err(error) => solved.and(Err(error)),
        }
    }

    /// Takes a step of fixed size that came beside a near miss again, in as many as that needs. Returns whether it did.
    fn cross_beside(&mut self, s: &mut State) -> Result<bool, StepError> {
        let wanted =
            |near: &Near| near.beside && near.has_last && near.last.t < s.t && near.substeps.is_some();
        let Some(mut near) = self.near.take_if(|near| wanted(near)) else { return Ok(false) };
        let mut done = Ok(true);
        if let Some(method) = &mut near.substeps {
            let t = s.t;
            s.copy_from(&near.last);
            let (h, pivots) = (self.h, self.pivots);
            method.prepare(self.problem.structure());
            let control = Control::new(SUBSTEP_TOLERANCE, 1e-2 * SUBSTEP_TOLERANCE, None);
            if let Ok(mut control) = control {
                control.t_end = t;
                while s.t < t && done.is_ok() {
                    done = method.step(self, s, &mut control).map(|_| true);
                }
            }
            (self.h, self.pivots) = (h, pivots);
        }
        self.near = Some(near);
        done
    }

    /// How fast J turns \[1/s\]: the largest angular velocity, or, where bodies do not turn, what γ tells.
    fn turning(&self, s: &State) -> f64 {
        let structure = self.problem.structure();
        let mut fastest = 0.0_f64;
        for g in structure.groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity) {
            let w = &s.v[g.start..][..g.len];
            fastest = fastest.max(w.iter().map(|w| w * w).sum::<f64>().sqrt());
        }
        if fastest > 0.0 {
            return fastest;
        }
        for row in &structure.rows {
            for i in 0..row.size {
                let mut terms = 0.0;
                for e in &structure.entries[row.entries.clone()] {
                    let col = structure.cols[e.col];
                    let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                    let J = &self.eq.J[e.offset + i * col.size..][..col.size];
                    terms += size(J) * size(&s.v[col.start..][..col.size]);
                }
                if terms > 0.0 {
                    fastest = fastest.max(self.eq.gamma[row.start + i].abs() / terms);
                }
            }
        }
        fastest
    }

    fn accelerate(&mut self) -> Result<(), SolveError> {
        let structure = self.problem.structure();
        self.formulation.accelerations(structure, &self.eq, &mut self.kkt, &mut self.accel)?;
        self.counts.refinements += u64::from(self.accel.refinements);
        Ok(())
    }
}

impl<P: Problem + ?Sized> Ode for Dynamics<'_, P> {
    fn structure(&self) -> &Structure {
        self.problem.structure()
    }

    fn begin_step(&mut self, h: f64) {
        self.h = h;
        self.pivots = NO_PIVOTS;
    }

    fn set_careful(&mut self, careful: bool) -> bool {
        let singular = self.pivots[0] < SINGULAR * self.usual_pivot;
        self.careful = careful && singular && self.stabilization.projects();
        self.careful
    }

    fn keep_tangent(&mut self, s: &State, delta: &mut State) -> bool {
        // a solution that fails leaves infinity, and so no step
        self.stabilization.projects()
            && (Dynamics::keep_tangent(self, s, delta).is_ok() || {
                delta.v.fill(f64::INFINITY);
                true
            })
    }

    fn rhs(&mut self, s: &State, dq: &mut [f64], dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.counts.rhs += 1;
        let mut nearest = std::mem::take(&mut self.nearest);
        let s = if self.careful {
            nearest.copy_from(s);
            // where that fails, the state itself has to do: its error shows in the estimate
            let _ = self.project(&mut nearest);
            &nearest
        } else {
            s
        };
        self.problem.update(s, Stage::FORCE, &mut self.eq);
        if let Some(near) = &mut self.near {
            near.gamma.copy_from_slice(&self.eq.gamma);
        }
        self.stabilization.shift(&self.problem, &mut self.eq, self.h);
        let solved = self.accelerate();
        let solved = self.pass(s, solved, true);
        let pivot = self.formulation.smallest_pivot(&self.kkt);
        self.pivots = [self.pivots[0].min(pivot), self.pivots[1].max(pivot)];
        self.problem.qdot(s, dq);
        dv.copy_from_slice(&self.accel.vdot);
        let booked = match &mut self.near {
            Some(near) if near.inside => near.book(&self.eq, &self.accel, s, self.problem.structure()),
            _ => &self.accel,
        };
        self.problem.xdot(s, &self.eq, booked, dx);
        self.nearest = nearest;
        solved
    }

    fn normalize(&self, q: &mut [f64]) {
        self.problem.normalize(q);
    }

    fn finish_step(&mut self, s: &mut State, _h: f64) -> Result<bool, StepError> {
        let again = self.cross_beside(s)?;
        let moved = self.project(s).map_err(|source| StepError::Project { t: s.t, source })? || again;
        self.problem.accept(s);
        self.usual_pivot = self.pivots[1].max(MEMORY * self.usual_pivot);
        if let Some(near) = &mut self.near {
            if !near.inside && !near.beside && !near.weak {
                near.passage.close();
            }
            (near.inside, near.beside, near.weak) = (false, false, false);
            near.last.copy_from(s);
            near.has_last = true;
        }
        Ok(moved)
    }

    fn staggered(&mut self) -> Option<&mut dyn Staggered> {
        Some(self)
    }
}

impl Near {
    /// What Φ shall do where the stabilization has shifted γ: the coefficients of Φ from the second on that continue the shift,
    /// φ⁽ᵏ⁺²⁾ = S(φ⁽ᵏ⁾, φ⁽ᵏ⁺¹⁾). Returns whether it has.
    fn aim(
        &mut self,
        problem: &dyn Problem,
        stabilization: &dyn Stabilization,
        eq: &Equations,
        h: f64,
    ) -> bool {
        if self.gamma == eq.gamma {
            return false;
        }
        let nc = eq.gamma.len();
        self.targets.resize(COEFFICIENTS, vec![0.0; nc]);
        let probe = self.probe.get_or_insert_with(|| Equations::zeros(problem.structure()));
        probe.phi.copy_from_slice(&eq.phi);
        probe.phidot.copy_from_slice(&eq.phidot);
        let mut factorial = 1.0;
        for k in 2..COEFFICIENTS {
            factorial *= k as f64;
            probe.gamma.fill(0.0);
            stabilization.shift(problem, probe, h);
            for (target, d) in self.targets[k].iter_mut().zip(&probe.gamma) {
                *target = d / factorial;
            }
            let Equations { phi, phidot, gamma, .. } = &mut *probe;
            phi.copy_from_slice(phidot);
            phidot.copy_from_slice(gamma);
        }
        true
    }

    /// `accel` with multipliers that do the work of all constraints, -(f - M v̇)ᵀv, through Φ_t: those of dangerous rows
    /// may not exist, their power does.
    fn book(&mut self, eq: &Equations, accel: &Accel, s: &State, structure: &Structure) -> &Accel {
        let mut work = 0.0;
        let mut momentum = std::mem::take(&mut self.books.vdot);
        eq.mass_mul(structure, &accel.vdot, &mut momentum);
        for ((p, f), v) in momentum.iter().zip(&eq.f).zip(&s.v) {
            work += (p - f) * v;
        }
        self.books.vdot = momentum;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (size, missing) = (dot(&eq.phi_t, &eq.phi_t), work - dot(&accel.lambda, &eq.phi_t));
        let factor = if size > 0.0 { missing / size } else { 0.0 };
        for ((to, lambda), phi_t) in self.books.lambda.iter_mut().zip(&accel.lambda).zip(&eq.phi_t) {
            *to = lambda + factor * phi_t;
        }
        self.books.vdot.copy_from_slice(&accel.vdot);
        &self.books
    }
}

/// The problem itself: formulation and stabilization take no part.
impl<P: Problem + ?Sized> Staggered for Dynamics<'_, P> {
    fn structure(&self) -> &Structure {
        self.problem.structure()
    }

    fn equations(&self) -> Equations {
        let mut eq = Equations::zeros(self.problem.structure());
        self.problem.mass(&mut eq.mass, &mut eq.minv);
        eq
    }

    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        self.problem.update(s, stage, eq);
    }

    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        self.problem.qdot(s, qdot);
    }

    fn xdot(&mut self, s: &State, eq: &Equations, accel: &Accel, xdot: &mut [f64]) {
        self.problem.xdot(s, eq, accel, xdot);
    }

    fn retract(&self, q: &mut [f64], delta: &[f64]) {
        self.problem.retract(q, delta);
    }

    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]) {
        self.problem.difference(a, b, delta);
    }

    fn normalize(&self, q: &mut [f64]) {
        self.problem.normalize(q);
    }

    fn accept(&mut self, s: &State) {
        self.problem.accept(s);
    }

    fn note(&mut self, evaluations: u64, factorizations: u64, corrections: u64) {
        self.counts.rhs += evaluations;
        self.counts.factorizations += factorizations;
        self.counts.projection_iterations += corrections;
    }
}
