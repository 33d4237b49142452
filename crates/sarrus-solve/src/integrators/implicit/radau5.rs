//! Radau IIA of three stages, order 5, on the constraints of velocities (index 2), with a projection after each step.
//!
//! ```text
//! Vᵢ = v₀ + h Σ aᵢⱼ Zⱼ,    δᵢ = h Σ aᵢⱼ T⁻¹(δⱼ) Vⱼ,    M Zᵢ + JᵢᵀΛᵢ = fᵢ,    Jᵢ Vᵢ + Φ_t = 0,    q = q₀ ⊕ δ
//! ```
//!
//! In Newton's iteration the three stages are taken apart by the eigenvectors of A \[Hairer1996, section IV.8\]: with the matrices of
//! the start of the step, each eigenvalue κ leaves
//!
//! ```text
//! [ M + κh D + κ²h² K   Jᵀ ] [ z̃ ]   [ r̃      ]
//! [ J                   0  ] [ λ̃ ] = [ c̃ / κh ],
//! ```
//!
//! one real and one complex system. The step ends with the last stage; then positions and velocities are brought onto the constraints.
//!
//! **Error**: the difference to an embedded formula of order 3, filtered by the real system, so that what is stiff does not count.
//!
//! Order 5 in q and v, 3 in λ. For stiff systems at tight tolerances. Cost: three evaluations, a real and a complex solution an
//! iteration; keeps its matrices while steps stay and the iteration converges fast.

use super::{End, Scheme, Stepper, options};
use crate::control::{StepControl, error_norm};
use crate::error::{MethodError, SolveError, StepError};
use crate::implicit::{
    ChangeScale, ConstraintLevel, IterationMatrix, NewtonOptions, RotationBlock, right_tangent_inverse,
};
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Equations, Stage, State, Structure};
use crate::tangent::Tangent;
use crate::views::{ImplicitOde, Integrator};
use sarrus_math::solve::c64;

/// Options of `radau5`.
pub const OPTIONS: &[OptionDoc] = &[
    options::CONSTRAINTS_OR_VELOCITIES,
    options::NEWTON,
    options::ITERATIONS,
    options::SAFETY,
    options::GROWTH,
    options::MIN_STEP,
];

const STAGES: usize = 3;
/// √6.
const ROOT: f64 = 2.449_489_742_783_178;
/// Instants of the stages.
const C: [f64; STAGES] = [(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0];
/// A.
const A: [[f64; STAGES]; STAGES] = [
    [(88.0 - 7.0 * ROOT) / 360.0, (296.0 - 169.0 * ROOT) / 1800.0, (-2.0 + 3.0 * ROOT) / 225.0],
    [(296.0 + 169.0 * ROOT) / 1800.0, (88.0 + 7.0 * ROOT) / 360.0, (-2.0 - 3.0 * ROOT) / 225.0],
    [(16.0 - ROOT) / 36.0, (16.0 + ROOT) / 36.0, 1.0 / 9.0],
];
/// The real eigenvalue of A⁻¹, and the complex one: roots of μ³ - 9 μ² + 36 μ - 60.
const MU: f64 = 3.637_834_252_744_496;
const MU_C: [f64; 2] = [2.681_082_873_627_752, 3.050_430_199_247_41];
/// Weights of the stages in the estimate, over κ of the real system and 3.
const E: [f64; STAGES] = [-13.0 - 7.0 * ROOT, -13.0 + 7.0 * ROOT, -1.0];

/// A rate of convergence at which the matrices are made anew for the next step.
const SLOW: f64 = 0.1;
/// Steps that would change by less than this stay, with their matrices.
const STAYS: [f64; 2] = [0.95, 1.3];
/// A change this small is rounding.
const ROUNDING: f64 = 1e-12;

/// The integrator with what `options` ask for.
pub fn from_options(options: &Options) -> Result<Integrator, MethodError> {
    let kind = "radau5";
    options.check(kind, OPTIONS)?;
    let limits = options::limits(kind, options)?;
    let newton = options::newton(kind, options)?;
    if newton.level == ConstraintLevel::Positions {
        let value = "`positions`".into();
        let expected = "`both` or `velocities`";
        return Err(MethodError::BadOption { kind, option: "constraints", value, expected });
    }
    let scheme = Radau5::new(newton, limits.safety, limits.growth);
    Ok(Integrator::Implicit(Box::new(Stepper::new(scheme, limits))))
}

/// Eigenvectors of A, right and left, for the real eigenvalue and for the complex one.
#[derive(Debug, Clone, Copy)]
struct Eigenvectors {
    real: [[f64; STAGES]; 2],
    complex: [[c64; STAGES]; 2],
}

impl Eigenvectors {
    fn new() -> Eigenvectors {
        let complex = eigenvectors(c64::new(1.0, 0.0) / c64::new(MU_C[0], MU_C[1]));
        let real = eigenvectors(c64::new(1.0 / MU, 0.0)).map(|s| s.map(|x| x.re));
        Eigenvectors { real, complex }
    }
}

/// The right and the left eigenvector of A for the eigenvalue `kappa`, with product one.
fn eigenvectors(kappa: c64) -> [[c64; STAGES]; 2] {
    let N = |i: usize, j: usize| c64::new(A[i][j], 0.0) - if i == j { kappa } else { c64::new(0.0, 0.0) };
    // orthogonal to two rows, or to two columns, is to all
    let cross = |a: [c64; 3], b: [c64; 3]| {
        [0, 1, 2].map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            a[j] * b[k] - a[k] * b[j]
        })
    };
    let right = cross([0, 1, 2].map(|j| N(0, j)), [0, 1, 2].map(|j| N(1, j)));
    let left = cross([0, 1, 2].map(|i| N(i, 0)), [0, 1, 2].map(|i| N(i, 1)));
    let product = (0..3).fold(c64::new(0.0, 0.0), |sum, i| sum + left[i] * right[i]);
    [right, left.map(|x| x / product)]
}

/// One stage.
#[derive(Default)]
struct StagePart {
    state: State,
    delta: Vec<f64>,
    accel: Accel,
    /// T⁻¹(δ) V (nv).
    rate: Vec<f64>,
    xdot: Vec<f64>,
    /// Residuals, then corrections.
    r: Vec<f64>,
    c: Vec<f64>,
}

/// Holds what depends on the problem.
struct RadauWorkspace {
    stages: [StagePart; STAGES],
    eq: Equations,
    tangent: Tangent,
    real: IterationMatrix<f64>,
    complex: IterationMatrix<c64>,
    scale: ChangeScale,
    rotations: Vec<RotationBlock>,
    out: Vec<bool>,
    rc: Vec<c64>,
    cc: Vec<c64>,
    rr: Vec<f64>,
    cr: Vec<f64>,
    delta: State,
    /// Error of positions and of velocities.
    error: [Vec<f64>; 2],
}

/// Radau IIA, with its memory.
pub struct Radau5 {
    options: NewtonOptions,
    safety: f64,
    growth: f64,
    parts: Eigenvectors,
    workspace: Option<RadauWorkspace>,
    accel: [Accel; 2],
    xdot: [Vec<f64>; 2],
    /// Size of the step that the matrices are for \[s\]; zero if they are none.
    factored: f64,
    stale: bool,
    /// Size of the step whose stages are known \[s\]; zero if none are.
    last: f64,
    next: f64,
    failures: u32,
    evaluations: u64,
    iterations: u64,
    reported: [u64; 3],
}

impl Radau5 {
    /// Iterates as `options` say.
    pub fn new(options: NewtonOptions, safety: f64, growth: f64) -> Radau5 {
        Radau5 {
            options,
            safety,
            growth,
            parts: Eigenvectors::new(),
            workspace: None,
            accel: Default::default(),
            xdot: Default::default(),
            factored: 0.0,
            stale: false,
            last: 0.0,
            next: 0.0,
            failures: 0,
            evaluations: 0,
            iterations: 0,
            reported: [0; 3],
        }
    }

    /// Where the stages start: the polynomial of the last ones continues, or everything stays as it is at the start.
    fn guess(&mut self, h: f64) {
        let Radau5 { workspace: Some(workspace), accel, xdot, last, .. } = self else { return };
        let mut w = [[0.0; STAGES]; STAGES];
        for (i, w) in w.iter_mut().enumerate() {
            let at = 1.0 + C[i] * h / *last;
            for (j, w) in w.iter_mut().enumerate() {
                let others = (0..STAGES).filter(|k| *k != j);
                *w = others.map(|k| (at - C[k]) / (C[j] - C[k])).product();
            }
        }
        let old = |workspace: &RadauWorkspace, k: usize| [0, 1, 2].map(|j| workspace.stages[j].accel.vdot[k]);
        for k in 0..accel[0].vdot.len() {
            let z = old(workspace, k);
            for (i, w) in w.iter().enumerate() {
                workspace.stages[i].accel.vdot[k] = match *last {
                    0.0 => accel[0].vdot[k],
                    _ => (0..STAGES).map(|j| w[j] * z[j]).sum(),
                };
            }
        }
        for stage in &mut workspace.stages {
            stage.accel.lambda.copy_from_slice(&accel[0].lambda);
            stage.xdot.copy_from_slice(&xdot[0]);
        }
        *last = 0.0;
    }

    /// The states of the stages.
    fn evaluate_stages(&mut self, view: &dyn ImplicitOde, start: &State, h: f64) {
        let Some(workspace) = &mut self.workspace else { return };
        let RadauWorkspace { stages, rotations, .. } = workspace;
        for i in 0..STAGES {
            for k in 0..start.v.len() {
                let change: f64 = (0..STAGES).map(|j| A[i][j] * stages[j].accel.vdot[k]).sum();
                stages[i].state.v[k] = start.v[k] + h * change;
            }
            for k in 0..start.x.len() {
                let change: f64 = (0..STAGES).map(|j| A[i][j] * stages[j].xdot[k]).sum();
                stages[i].state.x[k] = start.x[k] + h * change;
            }
        }
        // T⁻¹ of the last iteration
        for stage in stages.iter_mut() {
            stage.rate.copy_from_slice(&stage.state.v);
            for rotation in rotations.iter() {
                let at = |x: &[f64]| [0, 1, 2].map(|i| x[rotation.start + i]);
                let (S, w) = (right_tangent_inverse(at(&stage.delta)), at(&stage.state.v));
                for i in 0..3 {
                    stage.rate[rotation.start + i] = (0..3).map(|k| S[i][k] * w[k]).sum();
                }
            }
        }
        for i in 0..STAGES {
            for k in 0..start.v.len() {
                let change: f64 = (0..STAGES).map(|j| A[i][j] * stages[j].rate[k]).sum();
                stages[i].delta[k] = h * change;
            }
            let stage = &mut stages[i];
            stage.state.t = start.t + C[i] * h;
            stage.state.q.copy_from_slice(&start.q);
            view.retract(&mut stage.state.q, &stage.delta);
        }
    }

    /// Residuals of the stages.
    fn evaluate(&mut self, view: &mut dyn ImplicitOde) {
        let Some(workspace) = &mut self.workspace else { return };
        for stage in &mut workspace.stages {
            self.evaluations += 1;
            let StagePart { state, accel, xdot, r, c, .. } = stage;
            view.update(state, Stage::FORCE, &mut workspace.eq);
            view.add_reactive(state, &accel.lambda, &mut workspace.eq);
            view.xdot(state, &workspace.eq, accel, xdot);
            let (s, eq) = (view.structure(), &workspace.eq);
            eq.mass_mul(s, &accel.vdot, r);
            r.iter_mut().zip(&eq.f).for_each(|(r, f)| *r = f - *r);
            c.iter_mut().zip(&accel.lambda).for_each(|(c, lambda)| *c = -lambda);
            eq.add_Jt_mul(s, c, r);
            for ((c, phidot), out) in c.iter_mut().zip(&eq.phidot).zip(&workspace.out) {
                *c = if *out { 0.0 } else { -phidot };
            }
        }
    }

    fn factor(&mut self, view: &mut dyn ImplicitOde, start: &State, h: f64) -> Result<(), SolveError> {
        let Radau5 { workspace: Some(workspace), accel, .. } = self else {
            return Err(SolveError::NoTangent);
        };
        view.update(start, Stage::FORCE, &mut workspace.eq);
        view.add_reactive(start, &accel[0].lambda, &mut workspace.eq);
        self.evaluations += 1;
        view.fill_tangent(start, &accel[0].vdot, &accel[0].lambda, &mut workspace.tangent);
        let (s, eq, tangent) = (view.structure(), &workspace.eq, &workspace.tangent);
        let g = h / MU;
        workspace.real.factor(s, eq, tangent, [g, g * g], &[], &workspace.out)?;
        let g = c64::new(h, 0.0) / c64::new(MU_C[0], MU_C[1]);
        workspace.complex.factor(s, eq, tangent, [g, g * g], &[], &workspace.out)?;
        (self.factored, self.stale) = (h, false);
        Ok(())
    }

    /// Corrections of the stages from their residuals, in the places of these.
    fn correct(&mut self, h: f64) -> Result<(), SolveError> {
        let Radau5 { workspace: Some(workspace), parts, .. } = self else {
            return Err(SolveError::NoTangent);
        };
        let RadauWorkspace { stages, real, complex, rc, cc, rr, cr, .. } = workspace;
        let [right, left] = parts.real;
        let [right_c, left_c] = parts.complex;
        let (g, g_c) = (h / MU, c64::new(h, 0.0) / c64::new(MU_C[0], MU_C[1]));
        for k in 0..rr.len() {
            rr[k] = (0..STAGES).map(|i| left[i] * stages[i].r[k]).sum();
            rc[k] = (0..STAGES).fold(c64::new(0.0, 0.0), |sum, i| sum + left_c[i] * stages[i].r[k]);
        }
        for k in 0..cr.len() {
            cr[k] = (0..STAGES).map(|i| left[i] * stages[i].c[k]).sum::<f64>() / g;
            let sum = (0..STAGES).fold(c64::new(0.0, 0.0), |sum, i| sum + left_c[i] * stages[i].c[k]);
            cc[k] = sum / g_c;
        }
        real.solve(rr, cr)?;
        complex.solve(rc, cc)?;
        for (i, stage) in stages.iter_mut().enumerate() {
            for k in 0..rr.len() {
                stage.r[k] = right[i] * rr[k] + 2.0 * (right_c[i] * rc[k]).re;
            }
            for k in 0..cr.len() {
                stage.c[k] = right[i] * cr[k] + 2.0 * (right_c[i] * cc[k]).re;
            }
        }
        Ok(())
    }

    fn iterate(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        h: f64,
        tolerance: f64,
    ) -> Result<(), StepError> {
        let failed = |source| StepError::Solve { t: start.t, source };
        let (mut last, mut slowest) = (f64::INFINITY, 0.0_f64);
        let mut worst = 0;
        for iteration in 1..=self.options.most {
            self.iterations += 1;
            self.evaluate_stages(view, start, h);
            self.evaluate(view);
            self.correct(h).map_err(failed)?;
            let Some(workspace) = &mut self.workspace else { break };
            let mut change = 0.0_f64;
            for stage in &mut workspace.stages {
                let (size, at) = workspace.scale.size(&stage.r, h * h / (MU * MU), h / MU, h);
                if !(size <= change) {
                    (change, worst) = (size, at);
                }
                stage.accel.vdot.iter_mut().zip(&stage.r).for_each(|(z, dz)| *z += dz);
                stage.accel.lambda.iter_mut().zip(&stage.c).for_each(|(l, dl)| *l += dl);
            }
            let rate = if iteration == 1 { 0.0 } else { change / last };
            slowest = slowest.max(rate);
            let left = if iteration == 1 { change } else { rate / (1.0 - rate).max(1e-3) * change };
            if left <= tolerance || change <= ROUNDING {
                self.stale = slowest > SLOW;
                self.evaluate_stages(view, start, h);
                return Ok(());
            }
            if !change.is_finite() || rate > 2.0 {
                break;
            }
            last = change;
        }
        let (t, iterations) = (start.t, self.options.most);
        Err(StepError::Newton { t, h, iterations, rate: slowest, worst })
    }
}

impl Scheme for Radau5 {
    fn order(&self) -> u32 {
        5
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn error_power(&self) -> u32 {
        4
    }

    fn begin(&mut self, view: &mut dyn ImplicitOde, s: &State, _h: Option<f64>) -> Result<(), SolveError> {
        let tangent = view.new_tangent().ok_or(SolveError::NoTangent)?;
        let mut out = vec![false; view.structure().nc];
        view.dependent_rows(s, &mut out)?;
        let mut eq = view.equations();
        let structure = view.structure();
        let (nv, nc, nx) = (structure.nv, structure.nc, structure.nx);
        let zero = c64::new(0.0, 0.0);
        let (real, complex) =
            (IterationMatrix::new(structure, &tangent)?, IterationMatrix::new(structure, &tangent)?);
        self.accel = [Accel::zeros(structure), Accel::zeros(structure)];
        self.xdot = [vec![0.0; nx], vec![0.0; nx]];
        let stages = [0; STAGES].map(|_| new_stage(structure));
        let (scale, rotations, delta) =
            (ChangeScale::new(structure), RotationBlock::all(structure), State::zeros(structure));
        view.accelerations(s, &mut self.accel[0])?;
        view.update(s, Stage::FORCE, &mut eq);
        view.xdot(s, &eq, &self.accel[0], &mut self.xdot[0]);
        self.workspace = Some(RadauWorkspace {
            stages,
            eq,
            tangent,
            real,
            complex,
            scale,
            rotations,
            out,
            rc: vec![zero; nv],
            cc: vec![zero; nc],
            rr: vec![0.0; nv],
            cr: vec![0.0; nc],
            delta,
            error: [vec![0.0; nv], vec![0.0; nv]],
        });
        (self.factored, self.last, self.failures, self.reported) =
            (0.0, 0.0, 0, [self.evaluations, 0, self.iterations]);
        Ok(())
    }

    fn advance(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        end: &mut State,
        control: &StepControl,
    ) -> Result<(), StepError> {
        let h = end.t - start.t;
        let tolerance = self.options.tolerance.min(1e-2 * control.rtol).max(1e-12);
        if let Some(workspace) = &mut self.workspace {
            workspace.scale.measure(view.structure(), start);
            workspace.stages.iter_mut().for_each(|stage| stage.delta.fill(0.0));
        }
        self.guess(h);
        let fresh = self.stale || (h / self.factored - 1.0).abs() > 1e-9;
        let failed = |source| StepError::Solve { t: start.t, source };
        if fresh || !self.factored.is_normal() {
            self.factor(view, start, h).map_err(failed)?;
        }
        let mut done = self.iterate(view, start, h, tolerance);
        if done.is_err() && !fresh {
            self.last = 0.0;
            self.guess(h);
            self.factor(view, start, h).map_err(failed)?;
            done = self.iterate(view, start, h, tolerance);
        }
        if done.is_err() {
            self.factored = 0.0;
        }
        done?;
        let Some(workspace) = &self.workspace else { return Err(StepError::View { t: start.t }) };
        let stage = &workspace.stages[STAGES - 1];
        end.q.copy_from_slice(&stage.state.q);
        end.v.copy_from_slice(&stage.state.v);
        end.x.copy_from_slice(&stage.state.x);
        self.accel[1].clone_from(&stage.accel);
        self.xdot[1].copy_from_slice(&stage.xdot);
        if self.options.level == ConstraintLevel::Both {
            view.project(end).map_err(|source| StepError::Project { t: end.t, source })?;
        }
        Ok(())
    }

    fn error(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        end: &State,
        control: &StepControl,
    ) -> f64 {
        let h = end.t - start.t;
        let g = h / MU;
        let Radau5 { workspace: Some(workspace), accel, xdot, .. } = self else { return f64::INFINITY };
        let RadauWorkspace { stages, real, tangent, rr, cr, delta, error: [e_q, e_v], eq, .. } = workspace;
        let weight = E.map(|e| e / (3.0 * MU));
        for k in 0..e_q.len() {
            e_q[k] = g * start.v[k] + (0..STAGES).map(|i| weight[i] * stages[i].delta[k]).sum::<f64>();
            let change = |i: usize| stages[i].state.v[k] - start.v[k];
            e_v[k] = g * accel[0].vdot[k] + (0..STAGES).map(|i| weight[i] * change(i)).sum::<f64>();
        }
        // (M + g D + g² K) ε_v + Jᵀμ = M e_v - g K e_q, J ε_v = 0
        let s = view.structure();
        eq.mass_mul(s, e_v, rr);
        e_v.copy_from_slice(e_q);
        e_v.iter_mut().for_each(|e| *e *= g);
        real.subtract_stiffness(s, tangent, e_v, rr);
        cr.fill(0.0);
        if real.solve(rr, cr).is_err() {
            return f64::INFINITY;
        }
        delta.v.copy_from_slice(rr);
        e_q.iter_mut().zip(&*rr).for_each(|(e, v)| *e += g * v);
        delta.q.copy_from_slice(&end.q);
        view.retract(&mut delta.q, e_q);
        delta.q.iter_mut().zip(&end.q).for_each(|(d, q)| *d -= q);
        for (k, d) in delta.x.iter_mut().enumerate() {
            let change = |i: usize| stages[i].state.x[k] - start.x[k];
            *d = g * xdot[0][k] + (0..STAGES).map(|i| weight[i] * change(i)).sum::<f64>();
        }
        let error = error_norm(view.structure(), control, start, end, delta);
        let factor = self.safety * error.max(1e-10).powf(-0.25);
        let factor = factor.clamp(0.2, if self.failures > 0 { 1.0 } else { self.growth });
        self.next = h * if (STAYS[0]..STAYS[1]).contains(&factor) { 1.0 } else { factor };
        error
    }

    fn accept(&mut self, _view: &mut dyn ImplicitOde, start: &State, end: &State) {
        self.failures = 0;
        self.last = end.t - start.t;
    }

    fn advance_start(&mut self) {
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
    }

    fn next_size(&mut self) -> Option<f64> {
        Some(self.next)
    }

    fn after_rejection(&mut self, h: f64, error: f64) -> Option<f64> {
        self.failures += 1;
        let factor = self.safety * error.powf(-0.25);
        Some(h * if factor.is_nan() { 0.2 } else { factor.clamp(0.2, 0.9) })
    }

    fn ends(&self) -> [End<'_>; 2] {
        [0, 1].map(|i| End { vdot: &self.accel[i].vdot, xdot: &self.xdot[i] })
    }

    fn multipliers(&self) -> &[f64] {
        &self.accel[1].lambda
    }

    fn report_counts(&mut self, view: &mut dyn ImplicitOde) -> u64 {
        let Some(workspace) = &self.workspace else { return 0 };
        let factorizations = workspace.real.factorizations() + workspace.complex.factorizations();
        let now = [self.evaluations, factorizations, self.iterations];
        let [evaluations, factorizations, iterations] = std::array::from_fn(|i| now[i] - self.reported[i]);
        self.reported = now;
        view.note(evaluations, factorizations, iterations);
        evaluations
    }
}

fn new_stage(s: &Structure) -> StagePart {
    StagePart {
        state: State::zeros(s),
        delta: vec![0.0; s.nv],
        accel: Accel::zeros(s),
        rate: vec![0.0; s.nv],
        xdot: vec![0.0; s.nx],
        r: vec![0.0; s.nv],
        c: vec![0.0; s.nc],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A = S diag(κ) S⁻¹.
    #[test]
    fn eigenvectors_take_the_stages_apart() {
        let parts = Eigenvectors::new();
        let kappa = c64::new(1.0, 0.0) / c64::new(MU_C[0], MU_C[1]);
        for i in 0..STAGES {
            for j in 0..STAGES {
                let real = parts.real[0][i] * parts.real[1][j] / MU;
                let complex = 2.0 * (parts.complex[0][i] * kappa * parts.complex[1][j]).re;
                assert!((real + complex - A[i][j]).abs() < 1e-14, "{i} {j}: {}", real + complex);
            }
        }
    }
}
