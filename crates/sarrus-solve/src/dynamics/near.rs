//! Near singular positions: when to search for one, how wide its window is, and what is done in it.
//!
//! A check costs a decomposition, so it is taken only where the smallest pivot has fallen, below what the angle of a window would make
//! of what is usual; or where rows are left out that are not usually. What is found there replaces v̇ and the projection
//! ([`detector`](crate::detector)). A near miss is left to plain accelerations; steps of fixed size are then taken again in shorter ones, from the last state on the
//! constraints. The power of drivers comes from the motion: their multipliers may not exist.

use super::Dynamics;
use super::explicit_fallback::ExplicitFallback;
use crate::control::{StepControl, StepLimits};
use crate::error::{SolveError, StepError};
use crate::integrators::ExplicitRk;
use crate::integrators::tableaux::DOP853;
use crate::problem::{Accel, COEFFICIENTS, Equations, GroupKind, Problem, Stage, State, Structure};
use crate::singularity::{
    Crossing, EXACT, Regularize, SingularRegion, SingularityDetector, SingularityRecord,
};
use crate::stabilizations::Stabilization;
use crate::views::Step;

/// Half a window is at least the time in which the mechanism rotates by this angle \[rad\]. Outside it rounding and the rest of
/// projections, magnified twice by the inverse of the angle, are below 10⁻¹⁰ ...
const LEAST_ANGLE: f64 = 0.02;
/// ... and at most that of this one, inside which the Taylor series converge fast ...
const MOST_ANGLE: f64 = 0.1;
/// ... or of a smaller one, where steps are chosen for a small tolerance: the power of it that the series leave out.
const LEFT_OUT: f64 = 8.0;
/// Half a window of large parts, where everything costs more \[rad\].
const LARGE_ANGLE: f64 = 0.01;
/// A singular position is searched for where the root of the smallest pivot, as a fraction of what is usual, is below so many times
/// the angle of half a window ...
const CHECK_STEP: f64 = 4.0;
/// ... but never above this.
const MAX_CHECK_STEP: f64 = 0.7;

/// Half a window in steps of fixed size: wide enough that no stage outside it is near.
const FIXED_WINDOW: f64 = 1.5;
/// The same in steps of chosen size, which are longer: no more than rounding asks for. What their stages make of it, their error tells.
const CHOSEN_WINDOW: f64 = 0.0;
/// The same for the rows of \[Amirouche1991\], which have a window of their own to be searched for in.
const AMIROUCHE_WINDOW: f64 = 0.4;
/// Pivots of rows that are usually left out as dependent, where they are not, are rounding below this.
const LET_IN: f64 = 1e-6;
/// Right-hand sides of which the pivots are remembered.
const REMEMBERED: usize = 48;
/// A zero between two right-hand sides is at most this part of the way between them from the one with the lower pivot.
const WAY: f64 = 0.75;
/// A step is checked again where the root of the smallest pivot, as a fraction of what is usual, may have been zero and was
/// below this.
const LOW: f64 = 0.5;
/// Describes how far from where pivots say the zero is it may be, as a part of the step, and as an angle \[rad\].
const AROUND: f64 = 0.5;
const AROUND_ANGLE: f64 = 0.15;
/// Tolerance of the steps that are taken in place of fixed ones beside a near miss.
const SUBSTEP_TOLERANCE: f64 = 1e-10;

/// Between these are tolerances of the steps that are taken in place of those of methods that resolve the constraints themselves.
const LEAST_TOLERANCE: f64 = 1e-12;
const MOST_TOLERANCE: f64 = 1e-6;

/// Describes how an integrator takes its steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepMode {
    /// All of one size.
    Fixed,
    /// As an estimate of their error allows, for this relative tolerance.
    Chosen(f64),
}

/// Holds what passes singular positions, and when it is asked.
pub(super) struct SingularityGuard {
    detector: SingularityDetector,
    /// Half a window, in steps.
    kappa: f64,
    /// The largest angle in half a window \[rad\].
    most: f64,
    /// Half the window of the last right-hand side \[s\].
    tau: f64,
    /// True if the last right-hand side called for a check.
    is_checking: bool,
    /// Time when the last right-hand side that called for one was, if it was in no window \[s\].
    outside: Option<f64>,
    /// True if the last accelerations with multipliers were those of a window.
    is_regularized: bool,
    /// True if a right-hand side of this step was inside a window.
    inside: bool,
    /// The same of the window of a near miss.
    is_off_constraints: bool,
    /// The same of what is no singular position.
    weak: bool,
    /// True if the last step went over a near miss.
    over: bool,
    /// Takes steps in place of those that are too long for a near miss; of fixed size, they are so near any.
    substeps: Box<ExplicitRk>,
    is_fixed: bool,
    /// Times of right-hand sides, and roots of the smallest pivots there; the oldest are written over.
    pivots: Vec<[f64; 2]>,
    next: usize,
    /// The largest of the smallest pivots where a check has found nothing.
    clear: Option<f64>,
    /// Most rows that were left out as dependent there.
    harmless: usize,
    /// Fewest rows that were left out as dependent, but no fewer than that.
    fewest: usize,
    /// The last state on the constraints.
    last: State,
    has_last: bool,
    /// γ without the stabilization's shift (nc).
    gamma: Vec<f64>,
    /// Holds what Φ shall do where the stabilization shifts γ, and room for it.
    targets: Vec<Vec<f64>>,
    probe: Option<Equations>,
    /// Stands in for λ in the energy accounts.
    accounted: Accel,
}

impl<P: Problem + ?Sized> Dynamics<'_, P> {
    /// Passes singular positions as `kind` says, in windows that fit the steps of the integrator.
    pub fn regularize(&mut self, kind: Regularize, steps: StepMode) -> Result<(), SolveError> {
        (self.near, self.fallback) = (None, None);
        if kind == Regularize::Off {
            return Ok(());
        }
        let detector = SingularityDetector::new(&self.problem, kind)?;
        if detector.is_empty() {
            return Ok(());
        }
        self.fallback = ExplicitFallback::new(match steps {
            StepMode::Fixed => SUBSTEP_TOLERANCE,
            StepMode::Chosen(rtol) => rtol.clamp(LEAST_TOLERANCE, MOST_TOLERANCE),
        });
        let s = self.problem.structure();
        self.near = Some(SingularityGuard {
            is_checking: false,
            outside: None,
            is_regularized: false,
            inside: false,
            is_off_constraints: false,
            weak: false,
            over: false,
            substeps: Box::new(ExplicitRk::new(&DOP853, StepLimits::default())),
            is_fixed: steps == StepMode::Fixed,
            pivots: Vec::with_capacity(REMEMBERED),
            next: 0,
            clear: None,
            harmless: 0,
            fewest: usize::MAX,
            last: State::zeros(s),
            has_last: false,
            gamma: vec![0.0; s.nc],
            targets: Vec::new(),
            probe: None,
            accounted: Accel::zeros(s),
            kappa: match (steps, kind) {
                (StepMode::Fixed, _) => FIXED_WINDOW,
                (_, Regularize::Amirouche) => AMIROUCHE_WINDOW,
                _ => CHOSEN_WINDOW,
            },
            most: match steps {
                StepMode::Fixed => MOST_ANGLE,
                StepMode::Chosen(rtol) => {
                    (10.0 * rtol).powf(1.0 / LEFT_OUT).clamp(1.5 * LEAST_ANGLE, MOST_ANGLE)
                }
            },
            tau: 0.0,
            detector,
        });
        Ok(())
    }

    /// Times that dense or sparse factors were made to search for singular positions; none of them in most runs.
    pub fn checks(&self) -> u64 {
        self.near.as_ref().map_or(0, |near| near.detector.checks())
    }

    /// Singular positions met so far.
    pub fn passages(&self) -> &[SingularityRecord] {
        self.near.as_ref().map_or(&[], |near| near.detector.records())
    }

    /// Brings `s` onto the constraints where it is in the window of a crossing. Returns whether it is, and that could be done.
    pub(super) fn project_inside(&mut self, s: &mut State) -> bool {
        let Some(near) = self.near.as_mut().filter(|near| near.is_checking && near.detector.is_crossing())
        else {
            return false;
        };
        if !self.stabilization.projects() {
            return false;
        }
        // what the last right-hand side has told of the same instant
        if near.outside == Some(s.t) {
            return false;
        }
        let before = s.clone();
        match near.detector.project(&mut self.problem, &mut self.eq, s, near.tau, EXACT) {
            Ok(Some(gap)) => {
                near.detector.note_gap(gap);
                true
            }
            Ok(None) => false,
            // left to the plain projection
            Err(_) => {
                s.copy_from(&before);
                false
            }
        }
    }

    /// Returns whether accelerations at `s`, of full rank and with this smallest pivot, need no search for a singular position; if so, that is
    /// noted as of a right-hand side.
    pub(super) fn passes_singularity(&mut self, s: &State, pivot: f64) -> bool {
        let Some(near) = self.near.as_mut() else { return true };
        let is_first = self.pivot_scale == 0.0;
        let typical = if is_first { near.clear.unwrap_or(1.0) } else { self.pivot_scale };
        // a redundant row that rounding has let in: the general path knows it
        if near.harmless > 0 && pivot < LET_IN {
            return false;
        }
        if pivot < MAX_CHECK_STEP * MAX_CHECK_STEP * typical {
            let spin = fastest(self.problem.structure(), s);
            let Some(near) = self.near.as_mut() else { return true };
            // where nothing turns, equations tell, which tables have not
            if spin == 0.0 || near.fit(spin, self.h, pivot / typical) {
                return false;
            }
        }
        let Some(near) = self.near.as_mut() else { return true };
        near.fewest = near.harmless;
        near.watch(s.t, pivot);
        near.is_checking = false;
        true
    }

    /// Takes `solved` for the accelerations at `s`, or those of a window around a singular position where one is near.
    pub(super) fn pass(
        &mut self,
        s: &State,
        solved: Result<(), SolveError>,
        shifted: bool,
    ) -> Result<(), SolveError> {
        if self.near.is_none() {
            return solved;
        }
        let pivot = self.formulation.smallest_pivot(&self.kkt);
        let dropped = self.kkt.dependent_rows().len();
        // before the first step nothing is usual: pivots are at most one ...
        let is_first = self.pivot_scale == 0.0;
        let Some(near) = self.near.as_mut() else { return solved };
        near.is_regularized = false;
        // ... but after a check that has found nothing it is what was there
        let typical = if is_first { near.clear.unwrap_or(1.0) } else { self.pivot_scale };
        let is_first = is_first && near.clear.is_none();
        near.fewest = near.fewest.min(dropped).max(near.harmless);
        // a redundant row that rounding has let in tells nothing
        let pivot = if dropped < near.harmless && pivot < LET_IN { typical } else { pivot };
        if shifted {
            near.watch(s.t, if dropped > near.fewest { 0.0 } else { pivot });
        }
        // at the start a row left out may be a redundant one, or one that a singular position takes
        let lost = solved.is_err() || dropped > if is_first { 0 } else { near.fewest };
        near.is_checking = lost || pivot < MAX_CHECK_STEP * MAX_CHECK_STEP * typical;
        if near.is_checking {
            let spin = self.angular_speed(s).max(f64::MIN_POSITIVE);
            let Some(near) = self.near.as_mut() else { return solved };
            near.is_checking = near.fit(spin, self.h, pivot / typical) || lost;
        }
        let Some(near) = self.near.as_mut() else { return solved };
        if !near.is_checking {
            return solved;
        }
        if near.detector.is_new() {
            let on = if near.has_last { &near.last } else { s };
            if near.detector.learn(&mut self.problem, on, near.tau).is_err() {
                return solved;
            }
        }
        let aims = shifted && near.aim(&self.problem, &*self.stabilization, &self.eq, self.h);
        let (eq, accel) = (&self.eq, &mut self.accel);
        near.outside = None;
        let targets = aims.then_some(&*near.targets);
        let last = near.has_last.then_some(&near.last);
        match near.detector.accelerate(&mut self.problem, s, eq, near.tau, targets, !shifted, last, accel) {
            Ok(SingularRegion::Inside) => {
                (near.inside, near.is_regularized) = (true, !shifted);
                Ok(())
            }
            Ok(SingularRegion::Beside) => {
                near.is_off_constraints = true;
                solved
            }
            Ok(SingularRegion::Weak) => {
                near.weak = true;
                solved
            }
            Ok(SingularRegion::Outside) => {
                near.outside = Some(s.t);
                // so many rows left out are no sign of one
                near.harmless = near.harmless.max(dropped);
                near.clear = Some(near.clear.unwrap_or(0.0).max(pivot));
                solved
            }
            // no worse than without: the plain solution may do, and if not it tells why
            Err(_) => solved,
        }
    }

    /// Searches for a singular position that the step to `s`, on the constraints, went over unseen. Returns whether it is a near miss,
    /// over which the step has to be taken again.
    pub(super) fn check_previous(&mut self, s: &State) -> bool {
        let spin = self.angular_speed(s).max(f64::MIN_POSITIVE);
        let Some(near) = &mut self.near else { return false };
        if !near.has_last
            || near.inside
            || near.is_off_constraints
            || !(near.last.t < s.t)
            || self.pivot_scale == 0.0
        {
            return false;
        }
        let Some(t) = near.zero(s.t, self.pivot_scale.sqrt()) else { return false };
        let tau = (AROUND * (s.t - near.last.t)).min(AROUND_ANGLE / spin);
        let window = (near.kappa * (s.t - near.last.t)).clamp(LEAST_ANGLE / spin, near.most / spin);
        near.detector.set_least(LARGE_ANGLE / spin);
        near.detector.set_redundant(near.fewest);
        let ends = [&near.last, s];
        // right-hand sides by tables leave no equations
        self.problem.update(s, Stage::FORCE, &mut self.eq);
        let found = near.detector.check_between(&mut self.problem, &self.eq, ends, t, tau, window);
        near.over = matches!(found, Ok(Some(Crossing::Missed)));
        near.over
    }

    /// Takes a step of fixed size that came beside a near miss again, or any that went over one, in as many as that needs. Returns whether it did.
    pub(super) fn cross_with_regularization(&mut self, s: &mut State) -> Result<bool, StepError> {
        let wanted = |near: &SingularityGuard| {
            (near.over || near.is_off_constraints && near.is_fixed) && near.has_last && near.last.t < s.t
        };
        let Some(mut near) = self.near.take_if(|near| wanted(near)) else { return Ok(false) };
        let mut done = Ok(true);
        let t = s.t;
        s.copy_from(&near.last);
        let (h, pivots) = (self.h, self.pivots);
        let method = &mut near.substeps;
        method.prepare(self.problem.structure());
        if let Ok(mut control) = StepControl::new(SUBSTEP_TOLERANCE, 1e-2 * SUBSTEP_TOLERANCE, None) {
            control.t_end = t;
            while s.t < t && done.is_ok() {
                done = method.step(self, s, &mut control).map(|_| true);
            }
        }
        (self.h, self.pivots) = (h, pivots);
        near.over = false;
        self.near = Some(near);
        done
    }

    /// Returns how fast J turns \[1/s\]: the largest angular velocity, or, where bodies do not turn, what γ tells.
    pub(super) fn angular_speed(&self, s: &State) -> f64 {
        let structure = self.problem.structure();
        let mut fastest = fastest(structure, s);
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
}

/// The largest angular velocity \[rad/s\].
fn fastest(structure: &Structure, s: &State) -> f64 {
    let mut fastest = 0.0_f64;
    for g in structure.groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity) {
        let w = &s.v[g.start..][..g.len];
        fastest = fastest.max(w.iter().map(|w| w * w).sum::<f64>());
    }
    fastest.sqrt()
}

impl SingularityGuard {
    /// Makes half a window fit the speed at which J turns and steps of size `h`. Returns whether a pivot of this fraction of what is usual calls for a check.
    fn fit(&mut self, spin: f64, h: f64, fraction: f64) -> bool {
        self.tau = (self.kappa * h).clamp(LEAST_ANGLE / spin, self.most / spin);
        self.detector.set_least(LARGE_ANGLE / spin);
        // the windows of large parts are small
        let widest = if self.detector.has_small() { self.tau * spin } else { LARGE_ANGLE };
        let angle = (CHECK_STEP * widest).min(MAX_CHECK_STEP);
        fraction < angle * angle
    }

    /// Takes note of the smallest pivot at the time `t`.
    fn watch(&mut self, t: f64, pivot: f64) {
        let seen = [t, pivot.max(0.0).sqrt()];
        if self.pivots.len() < REMEMBERED {
            self.pivots.push(seen);
        } else {
            self.pivots[self.next] = seen;
            self.next = (self.next + 1) % REMEMBERED;
        }
    }

    /// Returns when the smallest pivot may have been zero in the step to `t`: its root falls to a zero and rises again along straight lines, which a
    /// smooth minimum does not. `typical` is what is usual of it.
    fn zero(&self, t: f64, typical: f64) -> Option<f64> {
        let start = self.last.t;
        let lower = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let &[at, low] = self.pivots.iter().filter(|p| p[0] >= start && p[0] <= t).min_by(lower)?;
        if !(low < LOW * typical) {
            return None;
        }
        // the nearest on each side that are not at the same instant
        let apart = 1e-3 * (t - start);
        let side = |sign: f64| {
            let there = self.pivots.iter().filter(move |p| sign * (p[0] - at) > apart && p[0] <= t + apart);
            there.min_by(|a, b| (sign * a[0]).total_cmp(&(sign * b[0]))).copied()
        };
        let both = [side(-1.0), side(1.0)];
        let slopes = both.iter().flatten().map(|p| (p[1] - low) / (p[0] - at).abs());
        let slope = slopes.fold(0.0, f64::max);
        let way = low / slope;
        // on the side where what lies beyond the zero fits better
        let fits = |p: &[f64; 2]| ((p[0] - at).abs() * slope - low - p[1]).abs() / (p[0] - at).abs();
        let beyond = both.iter().flatten().filter(|p| way <= WAY * (p[0] - at).abs());
        let zero = beyond.min_by(|a, b| fits(a).total_cmp(&fits(b))).map(|p| at + way * (p[0] - at).signum());
        // at an end of the step its neighbour may be in the next one: the slope alone tells
        zero.map(|zero| zero.clamp(start, t))
    }

    /// Returns whether the last right-hand side, at the time `t`, called for no look, or for one that has found no singular position near.
    pub(super) fn is_outside(&self, t: f64) -> bool {
        !self.is_checking || self.outside == Some(t)
    }

    /// λ of the last window less its parts along rows that become dependent there; none where the last accelerations were plain ones, or no such
    /// row is among those left out, `dropped`.
    pub(super) fn regular(&self, dropped: &[usize]) -> Option<&[f64]> {
        self.detector.regular(dropped).filter(|_| self.is_regularized)
    }

    /// Returns whether `s` is the last state on the constraints.
    pub(super) fn is_last(&self, s: &State) -> bool {
        self.has_last && self.last == *s
    }

    /// The last state on the constraints.
    pub(super) fn last(&self) -> &State {
        &self.last
    }

    /// Returns whether the last right-hand sides were in the window of a near miss.
    pub(super) fn is_off_constraints(&self) -> bool {
        self.detector.is_open_miss()
    }

    /// Returns what finds singular positions.
    pub(super) fn detector_mut(&mut self) -> &mut SingularityDetector {
        &mut self.detector
    }

    /// Returns what the smallest pivot usually is, where it has been `typical` so far and zero is nothing known, and whether more rows
    /// are left out as dependent than are wont to.
    pub(super) fn typical(&mut self, typical: f64, dropped: usize) -> (f64, bool) {
        let is_new = typical == 0.0;
        let typical = if is_new { self.clear.unwrap_or(1.0) } else { typical };
        self.fewest = self.fewest.min(dropped).max(self.harmless);
        let lost = dropped > if is_new && self.clear.is_none() { 0 } else { self.fewest };
        (typical, lost)
    }

    /// Returns whether no right-hand side of this step was one of the rows of \[Amirouche1991\].
    pub(super) fn is_exact(&self) -> bool {
        !self.inside || self.detector.kind() != Regularize::Amirouche
    }

    /// Takes note of γ before the stabilization's shift.
    pub(super) fn note_gamma(&mut self, eq: &Equations) {
        self.gamma.copy_from_slice(&eq.gamma);
    }

    /// Takes note of the end `s` of a step, on the constraints.
    pub(super) fn accept(&mut self, s: &State) {
        if !self.inside && !self.is_off_constraints && !self.weak {
            self.detector.close();
        }
        (self.inside, self.is_off_constraints, self.weak) = (false, false, false);
        self.last.copy_from(s);
        self.has_last = true;
    }

    /// Returns what Φ shall do where the stabilization has shifted γ: the coefficients of Φ from the second on that continue the shift,
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

    /// `accel` with multipliers that do the work of all constraints, -(f - M v̇)ᵀv, through Φ_t: those of nearly dependent rows
    /// may not exist, their power does.
    pub(super) fn account_energy<'b>(
        &'b mut self,
        eq: &Equations,
        accel: &'b Accel,
        s: &State,
        structure: &Structure,
    ) -> &'b Accel {
        if !self.inside {
            return accel;
        }
        let mut work = 0.0;
        let mut momentum = std::mem::take(&mut self.accounted.vdot);
        eq.mass_mul(structure, &accel.vdot, &mut momentum);
        for ((p, f), v) in momentum.iter().zip(&eq.f).zip(&s.v) {
            work += (p - f) * v;
        }
        self.accounted.vdot = momentum;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (size, missing) = (dot(&eq.phi_t, &eq.phi_t), work - dot(&accel.lambda, &eq.phi_t));
        let factor = if size > 0.0 { missing / size } else { 0.0 };
        for ((to, lambda), phi_t) in self.accounted.lambda.iter_mut().zip(&accel.lambda).zip(&eq.phi_t) {
            *to = lambda + factor * phi_t;
        }
        self.accounted.vdot.copy_from_slice(&accel.vdot);
        &self.accounted
    }
}
