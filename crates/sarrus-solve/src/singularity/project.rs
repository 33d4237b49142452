//! Projection inside a window: the nearly dependent rows one derivative up.
//!
//! U_dᵀΦ = 0 does not tell there where on a branch, nor on which, a state is: it is quadratic across it. Its derivative does,
//! with the velocity as it is: positions solve [U_rᵀΦ; U_dᵀΦ̇] = 0, velocities [U_rᵀΦ̇; U_dᵀΦ̈/2] = 0 with the v̇ of the window, both
//! with the matrix B and nearest in the metric of M. The branch is the one that v points along. U_dᵀΦ itself is left, and reports whether there
//! was a crossing at all.

use super::window::{self, Window, dot, norm};
use super::{Crossing, DENSE, SingularityDetector};
use crate::error::SolveError;
use crate::problem::{Equations, Problem, Stage, State};

/// Rounds of positions and velocities, at most.
const ROUNDS: u32 = 8;
/// A correction this small, relative to the positions or velocities, is rounding.
const STILL: f64 = 4.0 * f64::EPSILON;
/// Describes how well a state is brought onto the constraints.
#[derive(Debug, Clone, Copy)]
pub struct ProjectionGoal {
    /// A change of v̇ this small, relative, is the last ...
    vdot: f64,
    /// ... and one of positions and velocities.
    state: f64,
}

/// As far as rounding allows.
pub const EXACT: ProjectionGoal = ProjectionGoal { vdot: 1e-11, state: window::STILL };
/// Enough to tell branches that cross from others: what is left of nearly dependent rows is quadratic in such an error.
pub const GOOD: ProjectionGoal = ProjectionGoal { vdot: 1e-8, state: 1e-10 };
/// Corrections below this, relative, leave v̇ as it is.
const NEARBY: f64 = 1e-7;

/// Holds what a projection has found on the way.
#[derive(Debug, Clone, Default)]
pub(super) struct Projected {
    /// v̇ (nv) at a state nearby, in the parts that are in a window.
    pub vdot: Vec<f64>,
    /// Time to the nearest loss of rank, before it \[s\].
    pub ahead: f64,
    /// Extent to which positions were moved, as the time in which they move so far by themselves \[s\].
    pub moved: f64,
    /// Workspace for a step (nv).
    pub step: Vec<f64>,
}

impl SingularityDetector {
    /// Brings `s` onto the constraints where it is within a window, in the parts where it is. Returns what is left of nearly dependent rows, if it is
    /// in one; the other parts are then left alone. `eq` is room, with the masses filled.
    pub fn project(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &mut State,
        tau: f64,
        wanted: ProjectionGoal,
    ) -> Result<Option<f64>, SolveError> {
        let mut left = None;
        self.projected.vdot.clear();
        self.projected.vdot.resize(s.v.len(), 0.0);
        (self.projected.ahead, self.projected.moved) = (f64::INFINITY, 0.0);
        for i in 0..self.parts.len() {
            let Some(mut dependent) = self.check(i, problem, s, tau)? else { continue };
            if dependent.len() == 0 {
                continue;
            }
            self.ranks[i] = self.ranks[i].max(Some(dependent.rank));
            if self.parts[i].nv() <= DENSE {
                dependent.rank = self.ranks[i].unwrap_or(dependent.rank);
            }
            if dependent.ahead.abs() < self.projected.ahead.abs() {
                self.projected.ahead = dependent.ahead;
            }
            let gap = self.project_part(i, &dependent, problem, eq, s, wanted)?;
            left = Some(gap.max(left.unwrap_or(0.0)));
        }
        Ok(left)
    }

    /// The same of part `i`, of which the workspace holds what the check at `s` has made that found the `danger`.
    pub(super) fn project_part(
        &mut self,
        i: usize,
        dependent: &super::DependentRows,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &mut State,
        wanted: ProjectionGoal,
    ) -> Result<f64, SolveError> {
        let SingularityDetector { kind, parts, workspace, root, zeros, sparse, projected, work, .. } = self;
        let part = &parts[i];
        let mut window = match sparse.as_mut().filter(|_| part.nv() > DENSE) {
            Some(sparse) => Window::sparse(part, dependent, sparse, root)?,
            None => Window::new(part, dependent, &workspace.J[0], &workspace.J[1])?,
        };
        let orders = kind.orders(part.nv());
        let (nc, nv) = (part.nc(), part.nv());
        let (mut regular, mut singular_rows) = (vec![0.0; nc], vec![0.0; nc]);
        let mut step = vec![0.0; nv];
        let mut delta = vec![0.0; s.v.len()];
        let mut v = vec![s.v.clone(), vec![0.0; s.v.len()]];
        let size = 1.0 + s.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
        let mut before = f64::INFINITY;
        for round in 0..ROUNDS {
            // positions
            if round > 0 {
                // before the first the check has done so
                v[0].copy_from_slice(&s.v);
                problem.expand(s, &v[..1], &part.blocks, false, workspace);
            }
            part.rows_of(&workspace.phi[0], &mut regular);
            part.rows_of(&workspace.phi[1], &mut singular_rows);
            step.fill(0.0);
            let moved = window.correct(&regular, &singular_rows, &mut step);
            if moved > STILL * size {
                delta.fill(0.0);
                part.write_velocities(root, &step, 1.0, &mut delta);
                problem.retract(&mut s.q, &delta);
            }

            // velocities
            // v̇ enters with U_dᵀJ, which is small: that of a state nearby will do
            if before > NEARBY {
                problem.update(s, Stage::FORCE, eq);
                let found = window::accelerate(
                    &mut window,
                    problem,
                    s,
                    eq,
                    root,
                    orders,
                    zeros,
                    false,
                    wanted.vdot,
                    round > 0,
                    work,
                    workspace,
                )?;
                part.write_velocities(root, &found.a, 1.0, &mut v[1]);
            }
            v[0].copy_from_slice(&s.v);
            problem.expand(s, &v, &part.blocks, false, workspace);
            part.rows_of(&workspace.phi[1], &mut regular);
            part.rows_of(&workspace.phi[2], &mut singular_rows);
            step.fill(0.0);
            let changed = window.correct(&regular, &singular_rows, &mut step);
            delta.fill(0.0);
            part.write_velocities(root, &step, 1.0, &mut delta);
            s.v.iter_mut().zip(&delta).for_each(|(v, d)| *v += d);

            let mut y = vec![0.0; nv];
            part.velocities_of(eq, root, &s.v, &mut y);
            projected.moved += moved / (norm(&y) + f64::MIN_POSITIVE);
            let error = moved / size + changed / (norm(&y) + f64::MIN_POSITIVE);
            if !error.is_finite() {
                return Err(SolveError::NotFinite { quantity: "phi", index: part.rows[0] });
            }
            if window::is_done(error, before, wanted.state) {
                break;
            }
            if round + 1 == ROUNDS && error > 1e-6 {
                let row = part.rows[0];
                return Err(SolveError::Projection { row, violation: error, iterations: ROUNDS });
            }
            before = error;
        }

        projected.vdot.resize(s.v.len(), 0.0);
        part.velocities.iter().for_each(|&k| projected.vdot[k] = v[1][k]);
        // what is left of the nearly dependent rows themselves
        v[0].copy_from_slice(&s.v);
        problem.expand(s, &v[..1], &part.blocks, false, workspace);
        part.rows_of(&workspace.phi[0], &mut regular);
        Ok((0..dependent.len()).map(|k| dot(dependent.u(k), &regular).powi(2)).sum::<f64>().sqrt())
    }

    /// Returns whether the open record is one of a crossing.
    pub fn is_crossing(&self) -> bool {
        self.is_open && !self.is_weak && self.records.last().is_some_and(|r| r.crossing == Crossing::Passed)
    }

    /// Takes note of what a projection has left of nearly dependent rows.
    pub fn note_gap(&mut self, gap: f64) {
        if let Some(record) = self.records.last_mut().filter(|_| self.is_open) {
            record.gap = record.gap.max(gap);
        }
    }
}
