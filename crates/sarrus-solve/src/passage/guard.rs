//! Whether what seems to be a crossing of branches is one, before it is passed.
//!
//! - *Near miss, end stop.* A state of the window is brought onto the constraints one derivative up: onto a branch that goes straight
//!   through. If the dangerous rows themselves do not hold there, no branch does. Where there is no such state, that may be the end.
//! - *Nothing.* The same at the instant at which rank should be lost: if it is not, the rows were only weak.
//! - *Reactions.* States on both sides of that instant tell whether multipliers stay bounded ([`Pole`](super::pole::Pole)).

use super::{CROSSING, DENSE, Passage};
use crate::problem::{Equations, Problem, Stage, State};

/// Where multipliers are looked at, as parts of half a window.
const AROUND: [f64; 4] = [-0.6, -0.3, 0.3, 0.6];

impl Passage {
    /// How far apart the branches are that seem to cross near `s`, relative to the largest position: what the dangerous rows leave
    /// where the others and their derivative hold. Infinite where there is no such state; none where rank is not lost when it should be.
    pub(super) fn guard(
        &mut self,
        problem: &mut dyn Problem,
        eq: &Equations,
        s: &State,
        tau: f64,
    ) -> Option<[f64; 2]> {
        let (mut trial, mut room) = self.trial.take().unwrap_or_else(|| (s.clone(), eq.clone()));
        trial.copy_from(s);
        let size = s.q.iter().fold(1.0_f64, |m, q| m.max(q.abs()));
        let mut is_singular = true;
        let gap = match self.project(problem, &mut room, &mut trial, tau) {
            Ok(Some(gap)) => {
                self.pole.clear();
                if gap <= CROSSING * size {
                    is_singular = self.look_around(problem, &mut room, &trial, tau);
                }
                gap
            }
            Ok(None) => 0.0,
            Err(_) => f64::INFINITY,
        };
        self.trial = Some((trial, room));
        is_singular.then_some([gap, gap / size])
    }

    /// Makes the state at the instant at which rank should be lost from `s`, which is on the constraints in the window, and others around it,
    /// and looks at the multipliers there. Returns whether rank is lost.
    fn look_around(&mut self, problem: &mut dyn Problem, eq: &mut Equations, s: &State, tau: f64) -> bool {
        let Some((accel, ahead)) = self.forecast(problem, eq, s, tau) else { return true };
        let mut middle = s.clone();
        if !self.go_on(problem, eq, s, &accel, ahead, tau, &mut middle)
            || self.soonest(problem, &middle, tau) > 0.1 * ahead.abs() + 0.01 * tau
        {
            return false;
        }
        if self.is_large {
            return true;
        }
        let Some((accel, ahead)) = self.forecast(problem, eq, &middle, tau) else { return true };
        let mut there = s.clone();
        for place in AROUND {
            if self.go_on(problem, eq, &middle, &accel, ahead + place * tau, tau, &mut there) {
                self.add_pole(problem, eq, &there, tau);
            }
        }
        true
    }

    /// v̇ (nv) at `s`, and the time to the loss of rank, where it is within the window.
    fn forecast(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &State,
        tau: f64,
    ) -> Option<(Vec<f64>, f64)> {
        problem.update(s, Stage::FORCE, eq);
        let mut accel = vec![0.0; s.v.len()];
        let mut ahead = None;
        for i in 0..self.parts.len() {
            let Ok(Some(mut danger)) = self.look(i, problem, s, tau) else { continue };
            if self.parts[i].nv() <= DENSE {
                danger.rank = self.ranks[i].unwrap_or(danger.rank);
            }
            if danger.len() > 0
                && let Ok(found) = self.solve(i, &danger, problem, s, eq, None, false)
            {
                self.parts[i].write_velocities(&self.root, &found.a, 1.0, &mut accel);
                ahead.get_or_insert(danger.ahead);
            }
        }
        ahead.map(|ahead| (accel, ahead))
    }

    /// The state `h` after `from`, on the constraints, into `to`. Returns whether there is one in the window.
    fn go_on(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        from: &State,
        accel: &[f64],
        h: f64,
        tau: f64,
        to: &mut State,
    ) -> bool {
        to.copy_from(from);
        to.t += h;
        let step: Vec<f64> = from.v.iter().zip(accel).map(|(v, a)| h * (v + 0.5 * h * a)).collect();
        problem.retract(&mut to.q, &step);
        to.v.iter_mut().zip(accel).for_each(|(v, a)| *v += h * a);
        matches!(self.project(problem, eq, to, tau), Ok(Some(_)))
    }

    /// Time from `s` to the nearest loss of rank within `tau`, in size.
    pub(super) fn soonest(&mut self, problem: &mut dyn Problem, s: &State, tau: f64) -> f64 {
        let mut soonest = f64::INFINITY;
        // how far ahead is a question of time, whatever the window
        let kind = std::mem::replace(&mut self.kind, super::Regularize::Jets);
        for i in 0..self.parts.len() {
            if let Ok(Some(danger)) = self.look(i, problem, s, tau) {
                soonest = soonest.min(danger.ahead.abs());
            }
        }
        self.kind = kind;
        soonest
    }

    /// Takes note of the multipliers at `s`, which is on the constraints.
    fn add_pole(&mut self, problem: &mut dyn Problem, eq: &mut Equations, s: &State, tau: f64) {
        problem.update(s, Stage::FORCE, eq);
        for i in 0..self.parts.len() {
            let Ok(Some(mut danger)) = self.look(i, problem, s, tau) else { continue };
            if self.parts[i].nv() <= DENSE {
                danger.rank = self.ranks[i].unwrap_or(danger.rank);
            }
            if danger.len() > 0
                && let Ok(found) = self.solve(i, &danger, problem, s, eq, None, true)
                && found.is_whole
            {
                self.pole.add(i, &self.parts[i], &danger, &found.lambda, tau);
            }
        }
    }
}
