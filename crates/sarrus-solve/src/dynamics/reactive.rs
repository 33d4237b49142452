//! Forces that depend on the multipliers, such as friction in joints: M v̇ + Jᵀλ = f + C(λ).
//!
//! C = Σ nᵢ cᵢ(q, v) is linear in a few intensities n ≥ 0, and n = g(λ) follows from the multipliers. Given n, a formulation gives λ; so n is the
//! fixed point of n ↦ g(λ(n)), found by Anderson's iteration \[Walker2011\] from the n of the evaluation before. It takes a
//! solution per iteration, mostly three to six. Where friction locks itself, as in Painlevé's example, there is no such n, or several: then it does not
//! converge, and the error says so.
//!
//! Methods that find λ themselves do without that iteration: implicit ones have λ among Newton's unknowns, and C of each iterate in the
//! residual; staggered ones have C of the λ that they extrapolate ([`Staggered::add_reactive`](crate::views::Staggered::add_reactive)).

use super::Dynamics;
use crate::error::SolveError;
use crate::problem::{Problem, State};

/// Differences that are kept.
const DEPTH: usize = 5;
/// Iterations before giving up.
const MOST: u32 = 60;
/// Change of the intensities, relative to the largest, at which they are found.
const FOUND: f64 = 1e-12;
/// The same where rounding lets them come no nearer.
const NEAR_ENOUGH: f64 = 1e-10;

/// The same where intensities are rounding beside the largest multiplier, of which this is a part.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Workspace for the iteration.
#[derive(Debug, Default)]
pub(super) struct Reactive {
    /// f without C (nv).
    f: Vec<f64>,
    /// n, g(n) and g(n) - n.
    n: Vec<f64>,
    g: Vec<f64>,
    r: Vec<f64>,
    /// The same one iteration before.
    g_before: Vec<f64>,
    r_before: Vec<f64>,
    /// Differences of g and r from one iteration to the next, the last ones.
    dg: Vec<Vec<f64>>,
    dr: Vec<Vec<f64>>,
    /// Number of them.
    retained: usize,
}

impl Reactive {
    /// Workspace for `count` intensities and `nv` velocities.
    pub fn new(count: usize, nv: usize) -> Reactive {
        if count == 0 {
            return Reactive::default();
        }
        let zeros = || vec![0.0; count];
        Reactive {
            f: vec![0.0; nv],
            n: zeros(),
            g: zeros(),
            r: zeros(),
            g_before: zeros(),
            r_before: zeros(),
            dg: (0..DEPTH).map(|_| zeros()).collect(),
            dr: (0..DEPTH).map(|_| zeros()).collect(),
            retained: 0,
        }
    }

    /// Returns whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.n.is_empty()
    }

    /// n as it is known, for the caller that finds λ itself.
    pub fn intensities(&mut self) -> &mut [f64] {
        &mut self.n
    }

    /// The next n: g - Σ γⱼ Δgⱼ with γ that makes r - Σ γⱼ Δrⱼ smallest.
    fn next(&mut self, first: bool) {
        if !first {
            // the newest goes in front
            self.dg.rotate_right(1);
            self.dr.rotate_right(1);
            for i in 0..self.n.len() {
                self.dg[0][i] = self.g[i] - self.g_before[i];
                self.dr[0][i] = self.r[i] - self.r_before[i];
            }
            self.retained = (self.retained + 1).min(DEPTH);
        }
        self.g_before.copy_from_slice(&self.g);
        self.r_before.copy_from_slice(&self.r);
        let gamma = self.least_squares();
        self.n.copy_from_slice(&self.g);
        for (dg, gamma) in self.dg.iter().zip(gamma).take(self.retained) {
            self.n.iter_mut().zip(dg).for_each(|(n, d)| *n -= gamma * d);
        }
        // an intensity is a size
        self.n.iter_mut().for_each(|n| *n = n.max(0.0));
    }

    /// γ by Gram and Schmidt on the differences of r; those that depend on newer ones are left out.
    fn least_squares(&mut self) -> [f64; DEPTH] {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let k = self.retained;
        // normal equations with pivots that must be a part of what they were: a handful of numbers
        let mut a = [[0.0; DEPTH + 1]; DEPTH];
        for i in 0..k {
            for j in 0..k {
                a[i][j] = dot(&self.dr[i], &self.dr[j]);
            }
            a[i][DEPTH] = dot(&self.dr[i], &self.r);
        }
        let mut gamma = [0.0; DEPTH];
        let mut used = [false; DEPTH];
        for i in 0..k {
            let whole = dot(&self.dr[i], &self.dr[i]);
            if !(a[i][i] > 1e-10 * whole) {
                continue;
            }
            used[i] = true;
            for row in i + 1..k {
                let factor = a[row][i] / a[i][i];
                for col in i..=DEPTH {
                    a[row][col] -= factor * a[i][col];
                }
            }
        }
        for i in (0..k).rev().filter(|&i| used[i]) {
            let known: f64 = (i + 1..k).filter(|&j| used[j]).map(|j| a[i][j] * gamma[j]).sum();
            gamma[i] = (a[i][DEPTH] - known) / a[i][i];
        }
        gamma
    }
}

impl<P: Problem + ?Sized> Dynamics<'_, P> {
    /// Accelerations with the forces that depend on multipliers; leaves them in f.
    pub(super) fn accelerate_with_reactions(&mut self, s: &State) -> Result<(), SolveError> {
        let mut workspace = std::mem::take(&mut self.reactive);
        let reads = std::mem::replace(&mut self.reads_multipliers, true);
        let done = self.iterate(s, &mut workspace);
        (self.reactive, self.reads_multipliers) = (workspace, reads);
        done
    }

    fn iterate(&mut self, s: &State, workspace: &mut Reactive) -> Result<(), SolveError> {
        workspace.f.copy_from_slice(&self.eq.f);
        workspace.retained = 0;
        let mut least = f64::INFINITY;
        for iteration in 0..MOST {
            self.eq.f.copy_from_slice(&workspace.f);
            self.problem.add_reactive_forces(s, &workspace.n, &mut self.eq.f);
            self.solve_once(s)?;
            self.problem.intensities(s, &self.eq, &self.accel.lambda, &mut workspace.g);
            let mut size = f64::MIN_POSITIVE;
            let mut change = 0.0_f64;
            let largest = self.accel.lambda.iter().fold(0.0_f64, |most, lambda| most.max(lambda.abs()));
            for i in 0..workspace.n.len() {
                workspace.r[i] = workspace.g[i] - workspace.n[i];
                size = size.max(workspace.g[i].abs());
                change = change.max(workspace.r[i].abs());
            }
            if !change.is_finite() {
                break;
            }
            least = least.min(change / size);
            let is_found = change <= (FOUND * size).max(ROUNDING * largest);
            if is_found || (iteration > 20 && change <= NEAR_ENOUGH * size) {
                return Ok(());
            }
            workspace.next(iteration == 0);
        }
        // the next evaluation starts afresh
        workspace.n.fill(0.0);
        Err(SolveError::SelfLocking { iterations: MOST, residual: least })
    }
}
