//! The equations of a start near a singular position: positions by all rows, velocities by the rows that tell, and the velocities that
//! are possible where one value is missing.

use super::{DependentRows, HeldVelocity, SingularityDetector};
use crate::error::SolveError;
use crate::problem::{Equations, Problem, State};
use crate::singularity::window::{add, dot, norm};
use sarrus_math::solve::Svd;

/// Singular values up to this part of the largest are zero.
const ZERO: f64 = 1e-7;
/// Corrections of positions, at most: near a double root each halves the distance.
const CORRECTIONS: usize = 40;
/// Largest correction \[√kg m\]: what is farther off is not nearly closed.
const FARTHEST: f64 = 1e-3;
/// Rows count in corrections down to this part of the largest singular value.
const FAINT: f64 = 1e-10;

impl SingularityDetector {
    /// Closes the positions of part `i`.
    pub(super) fn refine_positions(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        s: &mut State,
    ) -> Result<(), SolveError> {
        let (nc, nv) = (self.parts[i].nc(), self.parts[i].nv());
        let (mut svd, mut phi) = (Svd::thin(nc, nv), vec![0.0; nc]);
        let (mut y, mut delta) = (vec![0.0; nv], vec![0.0; s.v.len()]);
        let mut best: Option<(f64, Vec<f64>)> = None;
        for _ in 0..CORRECTIONS {
            if self.check(i, problem, s, 0.0)?.is_none() {
                return Ok(());
            }
            let part = &self.parts[i];
            part.rows_of(&self.workspace.phi[0], &mut phi);
            let off = norm(&phi);
            match &best {
                Some((before, q)) if !(off < *before) => {
                    s.q.copy_from_slice(q);
                    return Ok(());
                }
                _ => best = Some((off, s.q.clone())),
            }
            part.dense(&self.workspace.J[0], &mut self.dense);
            svd.factor(&self.dense)?;
            let rank = svd.sigma().partition_point(|x| *x > FAINT * svd.sigma()[0]);
            svd.solve(rank, &phi, &mut y);
            if off == 0.0 || !(norm(&y) < FARTHEST) {
                return Ok(());
            }
            part.write_velocities(&self.root, &y, -1.0, &mut delta);
            problem.retract(&mut s.q, &delta);
        }
        Ok(())
    }

    /// Velocities y + x w, scaled, for which uᵀΦ̈ = 0.
    pub(super) fn choices(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        s: &State,
        u: &[f64],
        y: &[f64],
        w: &[f64],
    ) -> Vec<Vec<f64>> {
        let (part, mut trial, mut bent) = (&self.parts[i], s.clone(), vec![0.0; u.len()]);
        let unit = norm(y);
        let mut at = |x: f64, trial: &mut State| {
            let mut y = y.to_vec();
            add(unit * x, w, &mut y);
            part.write_velocities(&self.root, &y, 1.0, &mut trial.v);
            problem.expand(trial, std::slice::from_ref(&trial.v), &part.blocks, false, &mut self.workspace);
            part.rows_of(&self.workspace.phi[2], &mut bent);
            dot(u, &bent)
        };
        // a x² + b x + c
        let [low, c, high] = [-1.0, 0.0, 1.0].map(|x| at(x, &mut trial));
        let (a, b) = (0.5 * (low + high) - c, 0.5 * (high - low));
        let root = (b * b - 4.0 * a * c).sqrt();
        if !(root > 1e-6 * b.abs() && a.abs() > 1e-9 * (b.abs() + c.abs())) {
            return Vec::new();
        }
        let of = |x: f64| {
            at(x, &mut trial);
            trial.v.clone()
        };
        [(-b - root) / (2.0 * a), (-b + root) / (2.0 * a)].map(of).to_vec()
    }

    /// Scaled velocities of part `i` nearest to `given` that its rows ask for, the nearly dependent ones only where `all`, and a basis of what
    /// they leave free. The workspace holds D.
    pub(super) fn velocities(
        &self,
        i: usize,
        dependent: &DependentRows,
        eq: &Equations,
        given: &[f64],
        held: &[HeldVelocity],
        all: bool,
    ) -> Result<(Vec<f64>, Vec<Vec<f64>>), SolveError> {
        let (part, D) = (&self.parts[i], &self.workspace.J[0]);
        let (nc, nv) = (part.nc(), part.nv());
        let mut A = Vec::new();
        part.dense(D, &mut A);
        let mut b = vec![0.0; nc];
        part.rows_of(&eq.phi_t, &mut b);
        b.iter_mut().for_each(|b| *b = -*b);
        for k in 0..dependent.len() {
            let u = dependent.u(k);
            let mut row = vec![0.0; nv];
            part.add_mul_transposed(D, u, &mut row);
            let value = dot(u, &b[..nc]);
            for (A, u) in A.chunks_exact_mut(nv).zip(u) {
                add(-u, &row, A);
            }
            add(-value, u, &mut b[..nc]);
            if all {
                let size = norm(&row) / dependent.largest;
                A.extend(row.iter().map(|x| x / size));
                b.push(value / size);
            }
        }
        let mut row = vec![0.0; nv];
        let mut whole = vec![0.0; given.len()];
        for held in held {
            if held.entries.iter().any(|(k, _)| part.velocities.binary_search(k).is_err()) {
                continue;
            }
            held.entries.iter().for_each(|&(k, c)| whole[k] = c);
            part.forces_of(&self.root, &whole, &mut row);
            held.entries.iter().for_each(|&(k, _)| whole[k] = 0.0);
            A.extend_from_slice(&row);
            b.push(held.value);
        }
        let mut y = vec![0.0; nv];
        part.velocities_of(eq, &self.root, given, &mut y);
        for (b, A) in b.iter_mut().zip(A.chunks_exact(nv)) {
            *b -= dot(A, &y);
        }
        let mut svd = Svd::full(b.len(), nv);
        svd.factor(&A)?;
        let rank = svd.sigma().partition_point(|x| *x > ZERO * svd.sigma()[0]);
        let mut change = vec![0.0; nv];
        svd.solve(rank, &b, &mut change);
        add(1.0, &change, &mut y);
        Ok((y, (rank..nv).map(|k| svd.right(k).to_vec()).collect()))
    }
}
