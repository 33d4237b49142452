//! Singular positions that a step has gone over, with no right-hand side near enough to see them.
//!
//! Between the ends of a step positions are those of a cubic through positions and velocities at both. On it the time
//! to the loss of rank is followed to zero, and the state there is asked what every state in a window is asked
//! ([`guard`](super::guard)): whether branches cross, or only come near each other.
//!
//! Of rows of which more become dependent at once than can be followed, their number is that of the pivots that vanish there, less those
//! that always do: as they vanish together any of them tells when. Whether the branches cross is then not asked.
//!
//! Cost: a few looks, and a guard where something is found. Not for steps longer than half the time between two singular positions.

use super::{CROSSING, Crossing, DENSE, Regularize, SingularityDetector, SingularityRecord};
use crate::error::SolveError;
use crate::problem::{Equations, Problem, State};

/// Times that the way to the loss of rank is followed, at most.
const FOLLOWED: u32 = 5;
/// The way falls at least to this part of itself from one time to the next.
const DECREASE: f64 = 0.5;
/// The first check of a large part is this part of the second.
const NARROW: f64 = 0.2;
/// Describes how far before the step, as a part of it, the way is still good.
const BEFORE: f64 = 0.3;
/// The way that is left in the end, as a part of the step.
const ARRIVED: f64 = 1e-4;

/// Holds what was found at a state: how many rows become dependent, in what time, and which take part.
pub(super) struct SingularState {
    pub losses: usize,
    pub ahead: f64,
    pub rows: Vec<usize>,
}

/// The way between two states.
#[derive(Default)]
pub(super) struct StateSegment {
    /// Positions at the end, as seen from the start (nv).
    way: Vec<f64>,
    step: Vec<f64>,
    here: State,
}

impl StateSegment {
    fn prepare(&mut self, problem: &dyn Problem, from: &State, to: &State) {
        self.way.resize(from.v.len(), 0.0);
        self.step.resize(from.v.len(), 0.0);
        if self.here.q.len() != from.q.len() {
            self.here = from.clone();
        }
        problem.difference(&to.q, &from.q, &mut self.way);
    }

    /// Moves `here` to the time `t`.
    fn step_across(&mut self, problem: &dyn Problem, from: &State, to: &State, t: f64) {
        let h = to.t - from.t;
        let z = (t - from.t) / h;
        self.here.copy_from(from);
        self.here.t = t;
        let both = self.way.iter().zip(from.v.iter().zip(&to.v));
        for ((step, v), (way, (v0, v1))) in self.step.iter_mut().zip(&mut self.here.v).zip(both) {
            // z v₀h + z² a + z³ b
            let (a, b) = (3.0 * way - h * (2.0 * v0 + v1), h * (v0 + v1) - 2.0 * way);
            *step = z * (h * v0 + z * (a + z * b));
            *v = v0 + z * (2.0 * a + 3.0 * z * b) / h;
        }
        problem.retract(&mut self.here.q, &self.step);
        self.here.x.iter_mut().zip(&to.x).for_each(|(x, x1)| *x += z * (x1 - *x));
    }
}

impl SingularityDetector {
    /// Searches for a singular position between the states `from` and `to` on the constraints, near the time `t`, within `tau` \[s\] of which
    /// it must be. `window` is half a window there. Takes note of it and returns what became of it.
    pub fn check_between(
        &mut self,
        problem: &mut dyn Problem,
        eq: &Equations,
        [from, to]: [&State; 2],
        t: f64,
        tau: f64,
        window: f64,
    ) -> Result<Option<Crossing>, SolveError> {
        let mut between = std::mem::take(&mut self.between);
        between.prepare(problem, from, to);
        // what is far away is a question of time, whatever is done in windows
        let (kind, least) = (self.kind, self.least);
        self.kind = Regularize::Jets;
        let mut result = Ok(None);
        for i in 0..self.parts.len() {
            self.least = tau;
            let seen = self.follow(i, problem, &mut between, [from, to], t, tau);
            self.least = least;
            match seen {
                Ok(Some(seen)) => {
                    result = Ok(self.note_jump(problem, eq, &between.here, window, seen));
                    break;
                }
                Ok(None) => {}
                Err(error) => result = Err(error),
            }
        }
        self.kind = kind;
        self.between = between;
        result
    }

    /// When rank is lost between the states `from` and `to` on the constraints, near the time `t`, within `tau` \[s\] of which it must be.
    pub fn find_between(
        &mut self,
        problem: &mut dyn Problem,
        [from, to]: [&State; 2],
        t: f64,
        tau: f64,
    ) -> Result<Option<f64>, SolveError> {
        let mut between = std::mem::take(&mut self.between);
        between.prepare(problem, from, to);
        let least = std::mem::replace(&mut self.least, tau);
        let mut found = Ok(None);
        for i in 0..self.parts.len() {
            found = self.follow(i, problem, &mut between, [from, to], t, tau);
            if !matches!(found, Ok(None)) {
                break;
            }
        }
        self.least = least;
        let at = between.here.t;
        self.between = between;
        Ok(found?.map(|seen| at + seen.ahead))
    }

    /// Follows the loss of rank of part `i` along the way, to where it is.
    fn follow(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        between: &mut StateSegment,
        [from, to]: [&State; 2],
        mut t: f64,
        tau: f64,
    ) -> Result<Option<SingularState>, SolveError> {
        let near = ARRIVED * (to.t - from.t);
        let mut before = f64::INFINITY;
        for _ in 0..FOLLOWED {
            between.step_across(problem, from, to, t);
            let Some(seen) = self.see(i, problem, &between.here, tau)? else { return Ok(None) };
            t += seen.ahead;
            // shortly before the step it may be one that the last right-hand sides did not tell; what is after it is left to the next
            if !(from.t - BEFORE * (to.t - from.t)..=to.t + near).contains(&t) {
                return Ok(None);
            }
            if seen.ahead.abs() <= near {
                return Ok(Some(seen));
            }
            // the way to a zero falls fast; that to a smooth minimum, which is none, does not
            if seen.ahead.abs() > DECREASE * before {
                return Ok(None);
            }
            before = if t > to.t { f64::INFINITY } else { seen.ahead.abs() };
            t = t.min(to.t);
        }
        Ok(None)
    }

    /// Returns what part `i` loses at `s`, within `tau` \[s\].
    fn see(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        s: &State,
        tau: f64,
    ) -> Result<Option<SingularState>, SolveError> {
        // what is near is distinguished from what is only weak more surely by a narrow look; dense decompositions need no help
        let narrow = if self.parts[i].nv() > DENSE { NARROW } else { 1.0 };
        for tau in [narrow * tau, tau] {
            let Some(dependent) = self.check(i, problem, s, tau)? else { return Ok(None) };
            if dependent.len() > 0 {
                let rows = self.parts[i].leading_rows(&dependent);
                return Ok(Some(SingularState { losses: dependent.len(), ahead: dependent.ahead, rows }));
            }
            if narrow == 1.0 {
                return Ok(None);
            }
        }
        let part = &self.parts[i];
        let Some(sparse) = &mut self.sparse else { return Ok(None) };
        let (D, D1) = (&self.workspace.J[0], &self.workspace.J[1]);
        sparse.count(part, &self.dense, D, D1, tau, self.redundant)
    }

    /// Makes a record of what was `seen` at `s`, where rank is lost.
    fn note_jump(
        &mut self,
        problem: &mut dyn Problem,
        eq: &Equations,
        s: &State,
        window: f64,
        seen: SingularState,
    ) -> Option<Crossing> {
        let at = s.t + seen.ahead;
        if self.records.last().is_some_and(|r| (r.at - at).abs() <= window) {
            return None;
        }
        let [gap, relative] = self.guard(problem, eq, s, window)?;
        // where no state is on the constraints nearby there was nothing: the step has come through
        if !gap.is_finite() {
            return None;
        }
        let crossing = if relative <= CROSSING { Crossing::Passed } else { Crossing::Missed };
        let mut kinetic = 0.0;
        for part in self.parts.iter().filter(|p| seen.rows.first().is_some_and(|r| p.rows.contains(r))) {
            let mut y = vec![0.0; part.nv()];
            part.velocities_of(eq, &self.root, &s.v, &mut y);
            kinetic += super::window::dot(&y, &y);
        }
        let residue = if crossing == Crossing::Passed { self.residue } else { None };
        self.records.push(SingularityRecord {
            crossing,
            enter: at,
            leave: at,
            at,
            losses: seen.losses,
            rows: seen.rows,
            speed: kinetic.sqrt(),
            slowest: kinetic.sqrt(),
            slowest_at: at,
            fastest: kinetic.sqrt(),
            gap,
            residue,
        });
        self.nearest = 0.0;
        Some(crossing)
    }
}
