//! Decides whether what seems to be a crossing of branches is one, before it is passed.
//!
//! - *Near miss, end stop.* A state of the window is brought onto the constraints one derivative up: onto a branch that goes straight
//!   through. If the nearly dependent rows themselves do not hold there, no branch does. Where there is no such state, that may be the end.
//! - *Nothing.* The same at the instant at which rank should be lost: if it is not, the rows were only weak.
//! - *Reactions.* There the load across the branches reports whether multipliers stay bounded ([`pole`](super::pole)).
//!
//! Cost: two projections, a third where the first guess of the instant is rough; those bring v̇ and the time to the loss of rank along.

use super::project::{EXACT, GOOD, Projected, ProjectionGoal};
use super::window::{self, Window};
use super::{CROSSING, DENSE, SingularityDetector};
use crate::problem::{Equations, Problem, Stage, State};

/// Marks where multipliers are checked, as parts of half a window.
const AROUND: [f64; 4] = [-0.6, -0.3, 0.3, 0.6];
/// Instants this near, as a part of half a window, are the same.
const ARRIVED: f64 = 2e-3;

impl SingularityDetector {
    /// Returns how far apart the branches are that seem to cross near `s`, relative to the largest position: what the nearly dependent rows leave
    /// where the others and their derivative hold. Infinite where there is no such state; none where rank is not lost when it should be.
    pub(super) fn guard(
        &mut self,
        problem: &mut dyn Problem,
        eq: &Equations,
        s: &State,
        tau: f64,
    ) -> Option<[f64; 2]> {
        let (mut trial, mut workspace) = self.trial.take().unwrap_or_else(|| (s.clone(), eq.clone()));
        trial.copy_from(s);
        let size = s.q.iter().fold(1.0_f64, |m, q| m.max(q.abs()));
        let mut is_singular = true;
        (self.residue, self.has_middle) = (None, false);
        self.pole.clear();
        let gap = match self.project(problem, &mut workspace, &mut trial, tau, GOOD) {
            Ok(Some(gap)) => {
                if gap <= CROSSING * size {
                    is_singular = self.check_window(problem, &mut workspace, &trial, tau);
                }
                gap
            }
            Ok(None) => 0.0,
            Err(_) => f64::INFINITY,
        };
        self.trial = Some((trial, workspace));
        is_singular.then_some([gap, gap / size])
    }

    /// Makes the state at the instant at which rank should be lost from `s`, to which [`project`](SingularityDetector::project) has just come, and checks
    /// the load across the branches there. Returns whether rank is lost.
    fn check_window(&mut self, problem: &mut dyn Problem, eq: &mut Equations, s: &State, tau: f64) -> bool {
        let Some(ahead) = self.time_ahead(problem, s, tau) else { return true };
        let mut middle = std::mem::take(&mut self.middle);
        middle.copy_from(s);
        let is_singular = self.move_to_middle(problem, eq, s, ahead, tau, &mut middle);
        if is_singular && !self.is_large {
            self.residue = self.find_residue(problem, eq, &middle, tau);
            self.has_middle = true;
        }
        self.middle = middle;
        is_singular
    }

    /// The state `ahead` of `s` into `middle`. Returns whether rank is lost there.
    fn move_to_middle(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &State,
        ahead: f64,
        tau: f64,
        middle: &mut State,
    ) -> bool {
        if !self.resume(problem, eq, s, ahead, tau, GOOD, middle) {
            return false;
        }
        let Some(rest) = self.time_ahead(problem, middle, tau) else { return false };
        if rest.abs() > 0.1 * ahead.abs() + 0.01 * tau {
            return false;
        }
        if rest.abs() > ARRIVED * tau && !self.is_large {
            let from = middle.clone();
            self.resume(problem, eq, &from, rest, tau, GOOD, middle);
        }
        true
    }

    /// Time from `s`, to which a projection has just come, to the loss of rank, where it is within the window: as seen before the projection, if that
    /// has not moved far.
    fn time_ahead(&mut self, problem: &mut dyn Problem, s: &State, tau: f64) -> Option<f64> {
        let Projected { ahead, moved, .. } = self.projected;
        if moved <= ARRIVED * tau {
            return Some(ahead);
        }
        let mut ahead = None;
        for i in 0..self.parts.len() {
            if let Ok(Some(dependent)) = self.check(i, problem, s, tau)
                && dependent.len() > 0
            {
                ahead.get_or_insert(dependent.ahead);
            }
        }
        ahead
    }

    /// The largest residue of a multiplier at `s`, where rank is lost, with the v̇ of its projection, and its row.
    fn find_residue(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &State,
        tau: f64,
    ) -> Option<(f64, usize)> {
        problem.update(s, Stage::FORCE, eq);
        let mut most: Option<(f64, usize)> = None;
        for i in 0..self.parts.len() {
            let Ok(Some(mut dependent)) = self.check(i, problem, s, tau) else { continue };
            dependent.rank = self.ranks[i].unwrap_or(dependent.rank);
            if dependent.len() == 0 {
                continue;
            }
            let (part, D, D1) = (&self.parts[i], &self.workspace.J[0], &self.workspace.J[1]);
            let Ok(mut window) = Window::new(part, &dependent, D, D1) else { continue };
            let mut rest = vec![0.0; part.nv()];
            let mut vdot = vec![0.0; part.nv()];
            part.forces_of(&self.root, &eq.f, &mut rest);
            part.velocities_of(eq, &self.root, &self.projected.vdot, &mut vdot);
            window::add(-1.0, &vdot, &mut rest);
            let found = window.residue(&rest, tau).map(|(size, row)| (size, part.rows[row]));
            most = most.into_iter().chain(found).max_by(|a, b| a.0.total_cmp(&b.0));
        }
        most
    }

    /// λ of the nearly dependent rows of part `i` at the singular position of the open record, less what grows without bound; none where it is not
    /// known. Found when it is first asked for, from states around it.
    pub(super) fn finite_part(&mut self, i: usize, problem: &mut dyn Problem, tau: f64) -> Option<Vec<f64>> {
        if self.has_middle
            && !self.pole.is_known()
            && let Some((mut there, mut eq)) = self.trial.take()
        {
            let mut middle = self.middle.clone();
            if matches!(self.project(problem, &mut eq, &mut middle, tau, EXACT), Ok(Some(_))) {
                let vdot = self.projected.vdot.clone();
                for fraction in AROUND {
                    self.projected.vdot.copy_from_slice(&vdot);
                    if self.resume(problem, &mut eq, &middle, fraction * tau, tau, EXACT, &mut there) {
                        self.add_pole(problem, &mut eq, &there, tau);
                    }
                }
            }
            self.trial = Some((there, eq));
        }
        self.pole.finite(i)
    }

    /// The state `h` after `from`, to which a projection has just come, on the constraints, into `to`. Returns whether there is one in the window.
    fn resume(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        from: &State,
        h: f64,
        tau: f64,
        wanted: ProjectionGoal,
        to: &mut State,
    ) -> bool {
        to.copy_from(from);
        to.t += h;
        let Projected { vdot, step, .. } = &mut self.projected;
        step.clear();
        step.extend(from.v.iter().zip(&*vdot).map(|(v, a)| h * (v + 0.5 * h * a)));
        problem.retract(&mut to.q, step);
        to.v.iter_mut().zip(vdot).for_each(|(v, a)| *v += h * *a);
        matches!(self.project(problem, eq, to, tau, wanted), Ok(Some(_)))
    }

    /// Time from `s` to the nearest loss of rank within `tau`, in size.
    pub(super) fn soonest(&mut self, problem: &mut dyn Problem, s: &State, tau: f64) -> f64 {
        let mut soonest = f64::INFINITY;
        // how far ahead is a question of time, whatever the window
        let kind = std::mem::replace(&mut self.kind, super::Regularize::Jets);
        for i in 0..self.parts.len() {
            if let Ok(Some(dependent)) = self.check(i, problem, s, tau) {
                soonest = soonest.min(dependent.ahead.abs());
            }
        }
        self.kind = kind;
        soonest
    }

    /// Time from `s` to the nearest loss of rank within `tau`, negative where it is past; none where there is none.
    pub fn ahead(
        &mut self,
        problem: &mut dyn Problem,
        s: &State,
        tau: f64,
    ) -> Result<Option<f64>, crate::error::SolveError> {
        let least = std::mem::replace(&mut self.least, tau);
        let mut found: Result<Option<f64>, _> = Ok(None);
        for i in 0..self.parts.len() {
            match self.check(i, problem, s, tau) {
                Ok(Some(dependent)) if dependent.len() > 0 => {
                    let nearest = found.as_ref().ok().copied().flatten();
                    if nearest.is_none_or(|t: f64| dependent.ahead.abs() < t.abs()) {
                        found = Ok(Some(dependent.ahead));
                    }
                }
                Ok(_) => {}
                Err(error) => found = Err(error),
            }
        }
        self.least = least;
        found
    }

    /// Takes note of the multipliers at `s`, which is on the constraints.
    fn add_pole(&mut self, problem: &mut dyn Problem, eq: &mut Equations, s: &State, tau: f64) {
        problem.update(s, Stage::FORCE, eq);
        for i in 0..self.parts.len() {
            let Ok(Some(mut dependent)) = self.check(i, problem, s, tau) else { continue };
            if self.parts[i].nv() <= DENSE {
                dependent.rank = self.ranks[i].unwrap_or(dependent.rank);
            }
            if dependent.len() > 0
                && let Ok(found) = self.solve(i, &dependent, problem, s, eq, None, true)
                && found.is_whole
            {
                self.pole.add(i, &self.parts[i], &dependent, &found.lambda, tau);
            }
        }
    }
}
