//! Friction in proportion to what rows bear.
//!
//! M v̇ + Jᵀλ = f + Σ c_k N_k,   J v̇ = γ,   N_k = -λ_k
//!
//! with c_k the friction under N_k = 1, as [`Problem::friction`] gives it. λ is affine in the forces, so that N = N₀ + B N, with N₀ that
//! without friction and column k of B what c_k adds: as many solutions as there are rows with friction, and one more. No iteration,
//! whatever μ is, unless other forces depend on λ as well.
//!
//! 1 - B_kk is what is left of the row's own compliance. Where it is not positive friction drives the bodies together as fast as
//! the row drives them apart: no force will do, or two (Painlevé's paradox), and that is an error.

use super::Dynamics;
use crate::error::SolveError;
use crate::problem::{Problem, State};

/// Defines what is left of N, relative, where it is found.
const FOUND: f64 = 1e-11;
/// Corrections of N: one but for rounding, more where friction in joints depends on λ too.
const CORRECTIONS: u32 = 20;

/// Workspace for frictions.
#[derive(Default)]
pub(super) struct FrictionWorkspace {
    /// f without them (nv).
    f: Vec<f64>,
    /// c of each, one after the other.
    c: Vec<f64>,
    rows: Vec<usize>,
    N: Vec<f64>,
    /// 1 - B, by rows.
    A: Vec<f64>,
    factors: Vec<f64>,
    /// N₀, then corrections of N.
    x: Vec<f64>,
}

impl<P: Problem + ?Sized> Dynamics<'_, P> {
    /// Accelerations, with the frictions at `s`; forces in the equations include them afterwards.
    pub(super) fn accelerate(&mut self, s: &State) -> Result<(), SolveError> {
        let n = self.problem.frictions();
        if n == 0 {
            return self.accelerate_smooth(s);
        }
        let mut workspace = std::mem::take(&mut self.friction);
        let done = self.add_frictions(s, n, &mut workspace);
        self.friction = workspace;
        done
    }

    fn add_frictions(
        &mut self,
        s: &State,
        n: usize,
        workspace: &mut FrictionWorkspace,
    ) -> Result<(), SolveError> {
        let nv = self.eq.f.len();
        let FrictionWorkspace { f, c, rows, N, A, factors, x } = workspace;
        f.clear();
        f.extend_from_slice(&self.eq.f);
        self.accelerate_smooth(s)?;
        c.clear();
        c.resize(n * nv, 0.0);
        rows.clear();
        for (k, c) in c.chunks_exact_mut(nv).enumerate() {
            rows.push(self.problem.friction(s, k, c));
        }
        x.clear();
        x.extend(rows.iter().map(|&row| -self.accel.lambda[row]));
        // of the size of what acts, so that differences are as good as solutions; N itself passes zero where a contact lifts off
        let largest = |list: &[f64]| list.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let (load, unit) = (largest(f), largest(c));
        let size = if unit > 0.0 { load / unit } else { 0.0 }.max(largest(&self.accel.lambda));
        let size = if size > 0.0 { size } else { 1.0 };
        A.clear();
        A.resize(n * n, 0.0);
        for k in 0..n {
            let own = &c[k * nv..][..nv];
            self.eq.f.iter_mut().zip(f.iter().zip(own)).for_each(|(out, (f, c))| *out = f + c * size);
            self.accelerate_smooth(s)?;
            for i in 0..n {
                let B = (-self.accel.lambda[rows[i]] - x[i]) / size;
                A[i * n + k] = f64::from(u8::from(i == k)) - B;
            }
        }
        if let Some(k) = (0..n).find(|&k| !(A[k * n + k] > 0.0)) {
            return Err(SolveError::Jammed { row: rows[k], left: A[k * n + k] });
        }
        N.clear();
        N.resize(n, 0.0);
        for _ in 0..CORRECTIONS {
            factors.clone_from(A);
            if let Some(k) = eliminate(n, factors, x) {
                return Err(SolveError::Jammed { row: rows[k], left: 0.0 });
            }
            N.iter_mut().zip(&*x).for_each(|(N, x)| *N += x);
            self.eq.f.copy_from_slice(f);
            for (c, N) in c.chunks_exact(nv).zip(&*N) {
                self.eq.f.iter_mut().zip(c).for_each(|(f, c)| *f += c * N);
            }
            self.accelerate_smooth(s)?;
            x.iter_mut().zip(&*rows).zip(&*N).for_each(|((x, &row), N)| *x = -self.accel.lambda[row] - N);
            let left = x.iter().fold(0.0_f64, |left, x| left.max(x.abs()));
            let most = N.iter().fold(size, |most, N| most.max(N.abs()));
            if left <= FOUND * most {
                return Ok(());
            }
        }
        Err(SolveError::NoConvergence {
            iterations: CORRECTIONS,
            residual: x.iter().fold(0.0_f64, |a, x| a.max(x.abs())) / size,
        })
    }
}

/// x ← A⁻¹x by elimination in the order of the rows; a pivot that is not positive is returned: there all of them together jam.
fn eliminate(n: usize, A: &mut [f64], x: &mut [f64]) -> Option<usize> {
    for k in 0..n {
        let pivot = A[k * n + k];
        if !(pivot > 0.0) {
            return Some(k);
        }
        for i in k + 1..n {
            let factor = A[i * n + k] / pivot;
            for j in k..n {
                A[i * n + j] -= factor * A[k * n + j];
            }
            x[i] -= factor * x[k];
        }
    }
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| A[i * n + j] * x[j]).sum();
        x[i] = (x[i] - rest) / A[i * n + i];
    }
    None
}
