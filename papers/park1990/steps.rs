//! One step of the paper's difference equations, and how many iterations it takes.
//!
//! The trapezoidal rule, eqs. 8 and 9 with δ = h/2, for mechanisms with q̇ = v:
//!
//! ```text
//! v = v₀ + δ (v̇₀ + v̇),   q = q₀ + δ (v₀ + v),   M v̇ + Jᵀλ = f
//! Baumgarte          J v̇ = γ - 2α Φ̇ - β Φ                                        (5b), (20)
//! staggered          ε (λ - λ₀) = δ (Φ̇₀ + Φ̇),   from ε λ̇ = Φ̇                    (31), (32)
//! staggered, index 1 ε (λ - λ₀) = δ (r₀ + r),   from ε λ̇ = r = J v̇ - γ            (27)
//! ```
//!
//! Against the print: r holds J̇v, without which (27) means nothing, and λ is advanced by the same rule as the motion, in place
//! of the mixed instants of (33). ε is relative to what stands beside it, the mean of the diagonal of δ² J M⁻¹Jᵀ or δ J M⁻¹Jᵀ.
//!
//! Solved by substitution, eqs. 11 to 13 with everything evaluated at the last iterate, or by Newton's method. Its tangent is
//! made by differences: it steers the iteration and is no part of the result.

use sarrus::solve::{Equations, Problem, Stage, State};
use sarrus::system::Mechanism;

/// What gives λ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Technique {
    /// Eq. 20: α \[1/s\], β \[1/s²\].
    Baumgarte { alpha: f64, beta: f64 },
    /// Eq. 32, with its relative ε.
    Staggered { epsilon: f64 },
    /// Eq. 27, with its relative ε.
    StaggeredIndex1 { epsilon: f64 },
}

/// How the difference equations are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Iteration {
    /// Matrices at the last iterate.
    Substitution,
    /// Newton's method.
    Newton,
}

/// Where an iteration begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// With the accelerations and multipliers of the last step, q and v from eq. 8.
    Extrapolated,
    /// With q, v and λ of the last step; only by substitution, as Newton's method needs eq. 8.
    Last,
}

/// Iterations after which a step counts as failed.
pub const MOST: usize = 100;

/// Where a step starts or ends.
#[derive(Debug, Clone)]
pub struct Point {
    pub s: State,
    pub vdot: Vec<f64>,
    pub lambda: Vec<f64>,
    /// ε λ̇ there: Φ̇ or J v̇ - γ.
    pub drive: Vec<f64>,
}

/// Steps of one mechanism.
pub struct Stepper<'a> {
    pub mechanism: &'a mut Mechanism,
    pub eq: Equations,
    pub technique: Technique,
    pub iteration: Iteration,
    pub guess: Guess,
    /// Of the change of q and λ in an iteration, each relative to its largest.
    pub accuracy: f64,
}

impl Stepper<'_> {
    /// A step of size `h` from `from`: where it ends and the iterations, or none where they do not converge.
    pub fn step(&mut self, from: &Point, h: f64) -> Option<(Point, usize)> {
        let mut to = from.clone();
        to.s.t = from.s.t + h;
        if self.guess == Guess::Extrapolated || self.iteration == Iteration::Newton {
            place(from, &mut to, h);
        }
        for n in 1..=MOST {
            let (q, lambda) = (to.s.q.clone(), to.lambda.clone());
            self.mechanism.update(&to.s, Stage::FORCE, &mut self.eq);
            let done = match self.iteration {
                Iteration::Substitution => self.substitute(from, &mut to, h),
                Iteration::Newton => self.newton(from, &mut to, h),
            };
            place(from, &mut to, h);
            if !done || !to.s.is_finite() || !to.lambda.iter().all(|x| x.is_finite()) {
                return None;
            }
            if apart(&q, &to.s.q) <= self.accuracy && apart(&lambda, &to.lambda) <= self.accuracy {
                self.mechanism.update(&to.s, Stage::FORCE, &mut self.eq);
                to.drive = self.drive(&to);
                self.mechanism.accept(&to.s);
                return Some((to, n));
            }
        }
        None
    }

    /// Right-hand side of ε λ̇ = ... at the state that `eq` belongs to; nothing for Baumgarte.
    pub fn drive(&self, at: &Point) -> Vec<f64> {
        match self.technique {
            Technique::Baumgarte { .. } => vec![0.0; self.eq.phi.len()],
            Technique::Staggered { .. } => self.eq.phidot.clone(),
            Technique::StaggeredIndex1 { .. } => {
                let mut r: Vec<f64> = self.eq.gamma.iter().map(|g| -g).collect();
                self.eq.add_J_mul(self.mechanism.structure(), &at.vdot, &mut r);
                r
            }
        }
    }

    /// ε and the factor of J M⁻¹Jᵀ beside it.
    fn weights(&self, S: &[f64], h: f64) -> (f64, f64) {
        let m = self.eq.phi.len();
        let mean = (0..m).map(|i| S[i * m + i]).sum::<f64>() / m as f64;
        let delta = 0.5 * h;
        match self.technique {
            Technique::Baumgarte { .. } => (0.0, 1.0),
            Technique::Staggered { epsilon } => (epsilon * delta * delta * mean, delta * delta),
            Technique::StaggeredIndex1 { epsilon } => (epsilon * delta * mean, delta),
        }
    }

    /// Eqs. 11 to 13: λ, then v̇.
    fn substitute(&mut self, from: &Point, to: &mut Point, h: f64) -> bool {
        let (m, delta) = (self.eq.phi.len(), 0.5 * h);
        let mut S = self.schur();
        let (epsilon, weight) = self.weights(&S, h);
        let s = self.mechanism.structure();
        let free = minv_mul(s, &self.eq, &self.eq.f);
        let mut r = vec![0.0; m];
        match self.technique {
            Technique::Baumgarte { alpha, beta } => {
                self.eq.add_J_mul(s, &free, &mut r);
                for i in 0..m {
                    r[i] -= self.eq.gamma[i] - 2.0 * alpha * self.eq.phidot[i] - beta * self.eq.phi[i];
                }
            }
            Technique::Staggered { .. } => {
                let v: Vec<f64> =
                    (0..free.len()).map(|i| from.s.v[i] + delta * (from.vdot[i] + free[i])).collect();
                self.eq.add_J_mul(s, &v, &mut r);
                for i in 0..m {
                    r[i] = epsilon * from.lambda[i] + delta * (r[i] + self.eq.phi_t[i] + from.drive[i]);
                }
            }
            Technique::StaggeredIndex1 { .. } => {
                self.eq.add_J_mul(s, &free, &mut r);
                for i in 0..m {
                    r[i] = epsilon * from.lambda[i] + delta * (r[i] - self.eq.gamma[i] + from.drive[i]);
                }
            }
        }
        S.iter_mut().for_each(|x| *x *= weight);
        (0..m).for_each(|i| S[i * m + i] += epsilon);
        if !solve(&mut S, &mut r) {
            return false;
        }
        to.lambda = r;
        to.vdot = self.accelerate(&to.lambda);
        true
    }

    /// One Newton correction of (v̇, λ).
    fn newton(&mut self, from: &Point, to: &mut Point, h: f64) -> bool {
        let (n, m, delta) = (self.eq.f.len(), self.eq.phi.len(), 0.5 * h);
        let (epsilon, _) = self.weights(&self.schur(), h);
        let mut b = self.residual(from, to, h, epsilon);
        let mut a = vec![0.0; (n + m) * (n + m)];
        // ∂/∂λ
        for j in 0..m {
            let (mut unit, mut column) = (vec![0.0; m], vec![0.0; n]);
            unit[j] = 1.0;
            self.eq.add_Jt_mul(self.mechanism.structure(), &unit, &mut column);
            (0..n).for_each(|i| a[i * (n + m) + n + j] = column[i]);
            a[(n + j) * (n + m) + n + j] = epsilon;
        }
        // ∂/∂v̇, a velocity changed by 1e-6
        let eta = 1e-6 / delta;
        for j in 0..n {
            let mut near = to.clone();
            near.vdot[j] += eta;
            place(from, &mut near, h);
            self.mechanism.update(&near.s, Stage::FORCE, &mut self.eq);
            let r = self.residual(from, &near, h, epsilon);
            (0..n + m).for_each(|i| a[i * (n + m) + j] = (r[i] - b[i]) / eta);
        }
        if !solve(&mut a, &mut b) {
            return false;
        }
        to.vdot.iter_mut().zip(&b[..n]).for_each(|(x, d)| *x -= d);
        to.lambda.iter_mut().zip(&b[n..]).for_each(|(x, d)| *x -= d);
        true
    }

    /// What is left of the difference equations at `to`, where `eq` belongs.
    fn residual(&self, from: &Point, to: &Point, h: f64, epsilon: f64) -> Vec<f64> {
        let (s, n, delta) = (self.mechanism.structure(), self.eq.f.len(), 0.5 * h);
        let mut r = vec![0.0; n + self.eq.phi.len()];
        self.eq.mass_mul(s, &to.vdot, &mut r[..n]);
        self.eq.add_Jt_mul(s, &to.lambda, &mut r[..n]);
        r[..n].iter_mut().zip(&self.eq.f).for_each(|(r, f)| *r -= f);
        let rows = &mut r[n..];
        if let Technique::Baumgarte { alpha, beta } = self.technique {
            self.eq.add_J_mul(s, &to.vdot, rows);
            for (i, r) in rows.iter_mut().enumerate() {
                *r -= self.eq.gamma[i] - 2.0 * alpha * self.eq.phidot[i] - beta * self.eq.phi[i];
            }
        } else {
            for (i, (r, drive)) in rows.iter_mut().zip(self.drive(to)).enumerate() {
                *r = epsilon * (to.lambda[i] - from.lambda[i]) - delta * (from.drive[i] + drive);
            }
        }
        r
    }

    /// v̇ = M⁻¹(f - Jᵀλ).
    pub fn accelerate(&self, lambda: &[f64]) -> Vec<f64> {
        let s = self.mechanism.structure();
        let minus: Vec<f64> = lambda.iter().map(|x| -x).collect();
        let mut force = self.eq.f.clone();
        self.eq.add_Jt_mul(s, &minus, &mut force);
        minv_mul(s, &self.eq, &force)
    }

    /// J M⁻¹Jᵀ, by rows.
    pub fn schur(&self) -> Vec<f64> {
        let (s, n, m) = (self.mechanism.structure(), self.eq.f.len(), self.eq.phi.len());
        let mut S = vec![0.0; m * m];
        for j in 0..m {
            let (mut unit, mut force) = (vec![0.0; m], vec![0.0; n]);
            unit[j] = 1.0;
            self.eq.add_Jt_mul(s, &unit, &mut force);
            // symmetric: a column is a row
            self.eq.add_J_mul(s, &minv_mul(s, &self.eq, &force), &mut S[j * m..][..m]);
        }
        S
    }
}

/// Eqs. 8 and 9.
fn place(from: &Point, to: &mut Point, h: f64) {
    let delta = 0.5 * h;
    for i in 0..to.vdot.len() {
        to.s.v[i] = from.s.v[i] + delta * (from.vdot[i] + to.vdot[i]);
        to.s.q[i] = from.s.q[i] + delta * (from.s.v[i] + to.s.v[i]);
    }
}

/// Largest difference relative to the largest number.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / size
}

/// M⁻¹ x.
fn minv_mul(s: &sarrus::solve::Structure, eq: &Equations, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; s.nv];
    for col in &s.cols {
        let block = &eq.minv[col.mass..][..col.size * col.size];
        for (i, row) in block.chunks_exact(col.size).enumerate() {
            y[col.start + i] = row.iter().zip(&x[col.start..]).map(|(a, b)| a * b).sum();
        }
    }
    y
}

/// Solves A x = b in place by elimination with row exchanges; false where A is singular to the last digit.
pub fn solve(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for k in 0..n {
        let Some(p) = (k..n).max_by(|i, j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())) else {
            return true;
        };
        let pivot = a[p * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        for j in 0..n {
            a.swap(k * n + j, p * n + j);
        }
        b.swap(k, p);
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k * n + j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k * n + k];
    }
    true
}
