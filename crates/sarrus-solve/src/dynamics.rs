//! A problem, a formulation and a stabilization together: an ordinary differential equation.
//!
//! q̇ = N(q) v, v̇ from the formulation with γ shifted by the stabilization, ẋ from the problem; after an
//! accepted step the stabilization may move the state. Near singular positions [`near`] finds accelerations and moves the state in their
//! place.

mod explicit_fallback;
mod fast;
mod friction;
mod near;
mod reactive;

use crate::control::StepControl;
use crate::error::{SolveError, StepError};
use crate::findings::MethodStatistics;
use crate::formulations::Formulation;
use crate::kkt::{ActiveRows, HUB_DEGREE, Kkt, RankDemand};
use crate::problem::{Accel, Equations, Problem, Stage, State, Structure};
use crate::stabilizations::Stabilization;
use crate::tangent::Tangent;
use crate::views::{ImplicitOde, Ode, Staggered, StepInfo};
use explicit_fallback::ExplicitFallback;
use fast::Fast;
use near::SingularityGuard;
pub use near::StepMode;
use reactive::Reactive;

/// Weight of terms of γ that cancel, where a residual is compared with its terms. A contradiction is a residual above 10⁻³ of
/// them: 10⁻⁶ of what cancels is excused, as rounding and the violations of stages leave it, and a contradiction is not.
const CANCELLED: f64 = 1e-3;

/// A pivot that falls below this fraction of what is usual announces a singular position.
const SINGULAR: f64 = 0.03;
/// Before the first right-hand side of a step.
const NO_PIVOTS: [f64; 2] = [f64::INFINITY, 0.0];
/// Rate at which what is usual is forgotten.
const MEMORY: f64 = 0.99;
/// Holds what a run has cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Right-hand sides.
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
    /// True if right-hand sides are taken on the constraints.
    constrained: bool,
    /// Least and largest of the smallest pivots at the right-hand sides of this step.
    pivots: [f64; 2],
    /// Holds what the largest has been of late.
    pivot_scale: f64,
    /// The state there.
    nearest: State,
    workspace: TangentWorkspace,
    counts: Counts,
    near: Option<SingularityGuard>,
    /// Leads methods that resolve the constraints themselves.
    fallback: Option<Box<ExplicitFallback>>,
    friction: friction::FrictionWorkspace,
    /// Forces that depend on multipliers.
    reactive: Reactive,
    fast: Fast,
    /// True if terms of γ have cancelled down to their rounding, so that their sizes are needed.
    cancels: bool,
    /// True if the multipliers of the next solution are read.
    reads_multipliers: bool,
}

/// All of [`Dynamics`] but the problem: what a run that continues later keeps.
pub struct PausedDynamics {
    formulation: Box<dyn Formulation>,
    stabilization: Box<dyn Stabilization>,
    kkt: Kkt,
    eq: Equations,
    accel: Accel,
    h: f64,
    constrained: bool,
    pivots: [f64; 2],
    pivot_scale: f64,
    nearest: State,
    workspace: TangentWorkspace,
    counts: Counts,
    near: Option<SingularityGuard>,
    fallback: Option<Box<ExplicitFallback>>,
    friction: friction::FrictionWorkspace,
    reactive: Reactive,
    fast: Fast,
    cancels: bool,
}

impl PausedDynamics {
    /// Continues with `problem`, which must be the one that it came from or a copy of it.
    pub fn resume<P: Problem + ?Sized>(self, problem: &mut P) -> Dynamics<'_, P> {
        let PausedDynamics {
            formulation,
            stabilization,
            kkt,
            eq,
            accel,
            h,
            constrained,
            pivots,
            pivot_scale,
            ..
        } = self;
        let PausedDynamics {
            nearest,
            workspace,
            counts,
            near,
            fallback,
            friction,
            reactive,
            fast,
            cancels,
            ..
        } = self;
        Dynamics {
            problem,
            formulation,
            stabilization,
            kkt,
            eq,
            accel,
            h,
            constrained,
            pivots,
            pivot_scale,
            nearest,
            workspace,
            counts,
            near,
            fallback,
            friction,
            reactive,
            fast,
            cancels,
            reads_multipliers: false,
        }
    }
}

/// Vectors for [`Ode::project_tangent`].
struct TangentWorkspace {
    /// Momentum of a change (nv).
    momentum: Vec<f64>,
    /// Holds what is left of it (nv).
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
        let reactive = Reactive::new(problem.reactive_forces(), s.nv);
        let workspace = TangentWorkspace {
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
            constrained: false,
            pivots: NO_PIVOTS,
            pivot_scale: 0.0,
            nearest,
            workspace,
            counts: Counts::default(),
            near: None,
            fallback: None,
            friction: friction::FrictionWorkspace::default(),
            reactive,
            fast: Fast::Unknown,
            cancels: false,
            reads_multipliers: false,
        })
    }

    /// Lets go of the problem, to [`resume`](PausedDynamics::resume) later.
    pub fn rest(self) -> PausedDynamics {
        let Dynamics {
            formulation, stabilization, kkt, eq, accel, h, constrained, pivots, pivot_scale, ..
        } = self;
        let Dynamics {
            nearest, workspace, counts, near, fallback, friction, reactive, fast, cancels, ..
        } = self;
        PausedDynamics {
            formulation,
            stabilization,
            kkt,
            eq,
            accel,
            h,
            constrained,
            pivots,
            pivot_scale,
            nearest,
            workspace,
            counts,
            near,
            fallback,
            friction,
            reactive,
            fast,
            cancels,
        }
    }

    /// Informs the solver that at `s`, which is on the constraints, so many rows depend on others. Returns whether it finds them.
    pub fn resolve_rank(&mut self, s: &State, dependent: usize) -> Result<bool, SolveError> {
        self.problem.update(s, Stage::POSITION, &mut self.eq);
        self.kkt.resolve_rank(&self.eq, dependent)
    }

    /// Accelerations and multipliers at `s`, without the stabilization's shift; also leaves Φ, Φ̇, γ and the rest in
    /// [`equations`](Dynamics::equations).
    pub fn evaluate(&mut self, s: &State) -> Result<&Accel, SolveError> {
        self.problem.update(s, Stage::FORCE, &mut self.eq);
        self.reads_multipliers = true;
        let solved = self.accelerate(s);
        self.reads_multipliers = false;
        self.pass(s, solved, false)?;
        Ok(&self.accel)
    }

    /// The part of the multipliers of the last [`evaluate`](Dynamics::evaluate) in the null space of Jᵀ, relative to them: zero for
    /// those of least norm. None where no row depends on others. Where J loses rank for an instant the multipliers of the rows that lose
    /// their hold are no part of it.
    pub fn null_share(&mut self) -> Result<Option<f64>, SolveError> {
        if !self.kkt.has_resolved_rank() {
            return Ok(None);
        }
        self.kkt.factor(&self.eq, ActiveRows::All, RankDemand::Any)?;
        if self.kkt.dependent_rows().is_empty() {
            return Ok(None);
        }
        let dropped = self.kkt.dependent_rows();
        let regular = self.near.as_ref().and_then(|near| near.regular(dropped));
        Ok(Some(self.kkt.null_share(&self.eq, regular.unwrap_or(&self.accel.lambda))))
    }

    /// Moves `s` onto its constraints as the stabilization does after a step, without noting a step. Returns whether
    /// it was moved.
    pub fn project(&mut self, s: &mut State) -> Result<bool, SolveError> {
        if self.project_inside(s) {
            return Ok(true);
        }
        if let Some(moved) = self.project_by_tables(s) {
            return Ok(moved);
        }
        let done = self.stabilization.project(&mut self.problem, &mut self.kkt, &mut self.eq, s)?;
        self.counts.projection_iterations += u64::from(done.iterations);
        Ok(done.moved)
    }

    /// Returns what the last [`evaluate`](Dynamics::evaluate) found.
    pub fn accel(&self) -> &Accel {
        &self.accel
    }

    /// The equations, as the last call left them; after a right-hand side γ holds the stabilization's shift.
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

    /// Returns what the run has cost so far.
    pub fn counts(&self) -> Counts {
        let tables = self.factorizations_of_tables();
        let own = self.kkt.factorizations() + self.formulation.factorizations() + tables;
        Counts { factorizations: own + self.counts.factorizations, ..self.counts }
    }

    /// Returns what the formulation and the stabilization found on the way.
    pub fn statistics(&self) -> [MethodStatistics; 2] {
        [self.formulation.statistics(), self.stabilization.statistics()]
    }

    /// Returns whether a right-hand side of this step was near a singular position, where a projection follows.
    fn is_near_singular(&self) -> bool {
        self.pivots[0] < SINGULAR * self.pivot_scale && self.stabilization.projects()
    }

    /// The part of `change` (nv) that the rows which take part leave alone, into `workspace.rest`.
    fn tangent_part(&mut self, rows: ActiveRows, change: &[f64]) -> Result<(), SolveError> {
        let TangentWorkspace { momentum, rest, still, mu } = &mut self.workspace;
        self.kkt.factor(&self.eq, rows, RankDemand::Any)?;
        self.eq.mass_mul(self.problem.structure(), change, momentum);
        self.kkt.solve(&self.eq, momentum, still, rest, mu).map(|_| ())
    }

    fn project_tangent(&mut self, s: &State, delta: &mut State) -> Result<(), SolveError> {
        self.problem.update(s, Stage::POSITION, &mut self.eq);
        self.tangent_part(ActiveRows::All, &delta.v)?;
        delta.v.copy_from_slice(&self.workspace.rest);

        // positions, as a tangent vector and back
        let mut moved = std::mem::take(&mut self.nearest.q);
        let mut change = std::mem::take(&mut self.nearest.v);
        moved.iter_mut().zip(&s.q).zip(&delta.q).for_each(|((m, q), d)| *m = q + d);
        self.problem.difference(&moved, &s.q, &mut change);
        let done = self.tangent_part(ActiveRows::Holonomic, &change);
        moved.copy_from_slice(&s.q);
        self.problem.retract(&mut moved, &self.workspace.rest);
        delta.q.iter_mut().zip(&moved).zip(&s.q).for_each(|((d, m), q)| *d = m - q);
        (self.nearest.q, self.nearest.v) = (moved, change);
        done
    }

    /// Accelerations without the frictions of rows.
    fn accelerate_smooth(&mut self, s: &State) -> Result<(), SolveError> {
        if self.reactive.is_empty() { self.solve_once(s) } else { self.accelerate_with_reactions(s) }
    }

    /// Solves the equations as they are. In even motion without load the terms of γ may cancel down to rounding, and rounding
    /// compared with itself seems a contradiction. So before a contradiction is reported, the sizes of these terms are found;
    /// from then on they are found at once.
    fn solve_once(&mut self, s: &State) -> Result<(), SolveError> {
        let mut solved = self.solve_with_terms(s);
        if !self.cancels && matches!(solved, Err(SolveError::Inconsistent { .. })) {
            self.cancels = true;
            let again = self.solve_with_terms(s);
            // a true contradiction: nothing has cancelled
            self.cancels = again.is_ok();
            solved = again;
        }
        solved
    }

    fn solve_with_terms(&mut self, s: &State) -> Result<(), SolveError> {
        if self.cancels {
            self.problem.gamma_terms(s, &mut self.eq.gamma_terms);
            self.eq.gamma_terms.iter_mut().for_each(|term| *term *= CANCELLED);
        }
        let structure = self.problem.structure();
        // the power of drivers is the same for all multipliers that redundant rows admit
        let is_read =
            self.reads_multipliers || self.problem.frictions() > 0 || !self.stabilization.projects();
        let (eq, kkt, accel) = (&self.eq, &mut self.kkt, &mut self.accel);
        let solved = if is_read {
            self.formulation.accelerations(structure, eq, kkt, accel)
        } else {
            self.formulation.motion(structure, eq, kkt, accel)
        };
        self.eq.gamma_terms.clear();
        solved?;
        self.kkt.end_judgement();
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

    fn set_constrained_stages(&mut self, constrained: bool) -> bool {
        self.constrained = constrained && self.is_near_singular();
        self.constrained
    }

    fn is_exact(&self) -> bool {
        self.near.as_ref().is_none_or(SingularityGuard::is_exact)
    }

    fn project_stage(&mut self, s: &mut State) -> bool {
        self.constrained && self.project(s).unwrap_or(false)
    }

    fn project_tangent(&mut self, s: &State, delta: &mut State) -> bool {
        // a solution that fails leaves infinity, and so no step
        (self.constrained || self.is_near_singular())
            && (Dynamics::project_tangent(self, s, delta).is_ok() || {
                delta.v.fill(f64::INFINITY);
                true
            })
    }

    fn rhs(&mut self, s: &State, dq: &mut [f64], dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.counts.rhs += 1;
        if self.rhs_by_tables(s, dq, dv, dx) {
            return Ok(());
        }
        let mut nearest = std::mem::take(&mut self.nearest);
        let s = if self.constrained {
            nearest.copy_from(s);
            // where that fails, the state itself has to do: its error shows in the estimate
            let _ = self.project(&mut nearest);
            &nearest
        } else {
            s
        };
        self.problem.update(s, Stage::FORCE, &mut self.eq);
        if let Some(near) = &mut self.near {
            near.note_gamma(&self.eq);
        }
        self.stabilization.shift(&self.problem, &mut self.eq, self.h);
        let solved = self.accelerate(s);
        let solved = self.pass(s, solved, true);
        self.restore_tables(s.t);
        let pivot = self.formulation.smallest_pivot(&self.kkt);
        self.pivots = [self.pivots[0].min(pivot), self.pivots[1].max(pivot)];
        self.problem.qdot(s, dq);
        dv.copy_from_slice(&self.accel.vdot);
        let booked = match &mut self.near {
            Some(near) => near.account_energy(&self.eq, &self.accel, s, self.problem.structure()),
            None => &self.accel,
        };
        self.problem.xdot(s, &self.eq, booked, dx);
        self.nearest = nearest;
        solved
    }

    fn normalize(&self, q: &mut [f64]) {
        self.problem.normalize(q);
    }

    fn finish_step(&mut self, s: &mut State, _h: f64) -> Result<bool, StepError> {
        let again = self.cross_with_regularization(s)?;
        let mut moved = self.project(s).map_err(|source| StepError::Project { t: s.t, source })? || again;
        if self.check_previous(s) && self.cross_with_regularization(s)? {
            moved = true;
            self.project(s).map_err(|source| StepError::Project { t: s.t, source })?;
        }
        self.problem.accept(s);
        self.pivot_scale = self.pivots[1].max(MEMORY * self.pivot_scale);
        if let Some(near) = &mut self.near {
            near.accept(s);
        }
        Ok(moved)
    }

    fn fallback_from(
        &mut self,
        s: &mut State,
        control: &mut StepControl,
        is_adaptive: bool,
    ) -> Result<Option<StepInfo>, StepError> {
        Dynamics::fallback_from(self, s, control, is_adaptive)
    }

    fn fallback_over(
        &mut self,
        taken: Result<StepInfo, StepError>,
        s: &mut State,
        control: &mut StepControl,
        is_adaptive: bool,
    ) -> Result<StepInfo, StepError> {
        Dynamics::fallback_over(self, taken, s, control, is_adaptive)
    }

    fn fallback_dense(&mut self, t: f64, out: &mut State) -> Option<Result<(), StepError>> {
        Dynamics::fallback_dense(self, t, out)
    }

    fn relative_rotation(&mut self, s: &State) -> Option<f64> {
        self.problem.relative_rotation(s)
    }

    fn staggered(&mut self) -> Option<&mut dyn Staggered> {
        // friction of rigid contacts needs a solution for λ
        if self.problem.frictions() == 0 { Some(self) } else { None }
    }

    fn implicit(&mut self) -> Option<&mut dyn ImplicitOde> {
        if self.problem.frictions() == 0 { Some(self) } else { None }
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

    fn has_only_weight(&self) -> bool {
        self.problem.has_only_weight()
    }

    fn is_reactive(&self) -> bool {
        !self.reactive.is_empty()
    }

    fn add_reactive(&mut self, s: &State, lambda: &[f64], eq: &mut Equations) {
        if !self.reactive.is_empty() {
            let n = self.reactive.intensities();
            self.problem.intensities(s, eq, lambda, n);
            self.problem.add_reactive_forces(s, n, &mut eq.f);
        }
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

impl<P: Problem + ?Sized> ImplicitOde for Dynamics<'_, P> {
    fn new_tangent(&self) -> Option<Tangent> {
        self.problem.new_tangent()
    }

    fn fill_tangent(&mut self, s: &State, vdot: &[f64], lambda: &[f64], out: &mut Tangent) {
        self.problem.fill_tangent(s, vdot, lambda, false, out);
    }

    fn accelerations(&mut self, s: &State, accel: &mut Accel) -> Result<(), SolveError> {
        self.evaluate(s)?;
        accel.clone_from(&self.accel);
        Ok(())
    }

    fn dependent_rows(&mut self, s: &State, out: &mut [bool]) -> Result<(), SolveError> {
        self.problem.update(s, Stage::POSITION, &mut self.eq);
        self.kkt.factor(&self.eq, ActiveRows::All, RankDemand::Any)?;
        out.fill(false);
        self.kkt.dependent_rows().iter().for_each(|&row| out[row] = true);
        Ok(())
    }

    fn project(&mut self, s: &mut State) -> Result<(), SolveError> {
        Dynamics::project(self, s).map(|_| ())
    }
}
