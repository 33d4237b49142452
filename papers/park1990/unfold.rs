//! The deployment by the difference equations of [`steps`](super::steps), lock by lock.
//!
//! A step in which the next joint comes straight is shortened until it ends there. Then velocities jump, M (v⁺ - v⁻) + Jᵀμ = 0
//! with J v⁺ = 0, J holding the lock as a row in the angle in either case: the impact is that of a lock, however it is written
//! afterwards. From there on the lock is a row more, in the angle or in the distance across the joint.

use super::steps::{Guess, Iteration, Point, Stepper, Technique, solve};
use crate::claim::PaperError;
use crate::runs::{Case, largest};
use sarrus::analysis::assemble;
use sarrus::math::solve::SymmetricEigen;
use sarrus::model::settings::Assembly;
use sarrus::solve::{ActiveRows, Equations, HUB_DEGREE, Kkt, Problem, RankDemand, Stage, State};
use sarrus::system::Mechanism;

const MODEL: &str = include_str!("../../models/deployment.toml");
/// Order in which joints lock.
const JOINTS: [usize; 3] = [3, 2, 1];
/// A joint is straight within this angle \[rad\].
const STRAIGHT: f64 = 1e-12;

/// How a lock is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// The joint's angle is zero.
    Angle,
    /// The ends of its two links are 2 m apart.
    Distance,
    /// In the angle, and the last one, of the first link on the wall, in the distance.
    LastDistance,
}

impl Lock {
    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Lock::Angle => "angle",
            Lock::Distance => "distance",
            Lock::LastDistance => "angle, the last one distance",
        }
    }
}

/// The model with the first `n` locks as rows from the start.
fn locked(n: usize, lock: Lock) -> Result<Case, PaperError> {
    let angle = |j: usize| format!("L{j} = {{ kind = 'joint', joint = 'J{j}', angle = 0 }}\n");
    let distance = |j: usize| {
        let (bodies, ends) = match j {
            1 => ("'ground', 'link1'".into(), "[-1, 0], 'P1'".into()),
            _ => (format!("'link{}', 'link{j}'", j - 1), format!("'P{}', 'P{j}'", j - 2)),
        };
        format!("L{j} = {{ kind = 'distance', bodies = [{bodies}], ends = [{ends}], length = 2 }}\n")
    };
    let (mut drivers, mut constraints) = (String::new(), String::new());
    for &joint in &JOINTS[..n] {
        match lock {
            Lock::Distance => constraints += &distance(joint),
            Lock::LastDistance if joint == 1 => constraints += &distance(joint),
            _ => drivers += &angle(joint),
        }
    }
    let rows = format!("[drivers]\n{drivers}[constraints]\n{constraints}[forces]");
    let text = MODEL.replace(", lock_at = 0", "").replace("[forces]", &rows);
    Case::new("deployment", &text, &[], None)
}

/// The deployment with none, one, two and three locks.
pub struct Chain {
    angle: Vec<Case>,
    distance: Vec<Case>,
    /// The third lock in the distance, the others in the angle.
    last: Case,
    start: State,
}

/// How a run is made.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub lock: Lock,
    pub technique: Technique,
    pub iteration: Iteration,
    pub guess: Guess,
    /// Step \[s\].
    pub h: f64,
    pub accuracy: f64,
    /// End \[s\].
    pub t_end: f64,
}

/// What became of it.
#[derive(Debug, Clone, Default)]
pub struct Unfolded {
    /// End \[s\] and iterations of every step that converged.
    pub steps: Vec<(f64, usize)>,
    /// Instants of the locks \[s\].
    pub locks: Vec<f64>,
    /// Start of the step that did not converge \[s\].
    pub failed: Option<f64>,
    /// Largest angle of a locked joint \[rad\].
    pub opened: f64,
}

impl Unfolded {
    /// Iterations per step until the last lock.
    pub fn mean(&self) -> f64 {
        let end = self.locks.get(2).copied().unwrap_or(f64::INFINITY);
        let counts: Vec<f64> = self.steps.iter().filter(|s| s.0 <= end).map(|s| s.1 as f64).collect();
        counts.iter().sum::<f64>() / counts.len() as f64
    }

    /// Most iterations of a step that ended after `t`.
    pub fn most_after(&self, t: f64) -> usize {
        self.steps.iter().filter(|s| s.0 > t).map(|s| s.1).max().unwrap_or(0)
    }
}

/// Angle of `joint` \[rad\], from the angles of its links.
fn angle(s: &State, joint: usize) -> f64 {
    let link = |i: usize| if i == 0 { 0.0 } else { s.q[3 * i - 1] };
    link(joint) - link(joint - 1)
}

impl Chain {
    /// Compiles all of it.
    pub fn new() -> Result<Chain, PaperError> {
        let all = |lock| (0..=3).map(|n| locked(n, lock)).collect::<Result<Vec<_>, _>>();
        let angle = all(Lock::Angle)?;
        let start = assemble(&angle[0].model, &angle[0].system, Assembly::Full).map_err(|e| bad(&e))?;
        let (distance, last) = (all(Lock::Distance)?, locked(3, Lock::LastDistance)?);
        Ok(Chain { angle, distance, last, start: start.state })
    }

    /// With `n` locks.
    fn case(&self, lock: Lock, n: usize) -> &Case {
        match lock {
            Lock::Distance => &self.distance[n],
            Lock::LastDistance if n == 3 => &self.last,
            _ => &self.angle[n],
        }
    }

    /// Makes a run.
    pub fn run(&self, how: &Settings) -> Result<Unfolded, PaperError> {
        let mut run = Unfolded::default();
        let mut s = self.start.clone();
        for n in 0..=3 {
            let mut mechanism = self.case(how.lock, n).system.mechanism();
            let eq = Equations::new(&mechanism);
            let Settings { technique, iteration, guess, accuracy, .. } = *how;
            let mut stepper =
                Stepper { mechanism: &mut mechanism, eq, technique, iteration, guess, accuracy };
            let mut at = start(&mut stepper, s).map_err(|e| bad(&e))?;
            let next = JOINTS.get(n).copied();
            let side = next.map_or(0.0, |joint| angle(&at.s, joint).signum());
            loop {
                let h = how.h.min(how.t_end - at.s.t);
                if h < 1e-9 {
                    return Ok(run);
                }
                let Some((mut to, mut count)) = stepper.step(&at, h) else {
                    run.failed = Some(at.s.t);
                    return Ok(run);
                };
                let straight = next.is_some_and(|joint| side * angle(&to.s, joint) <= 0.0);
                if let (true, Some(joint)) = (straight, next) {
                    let Some(found) = meet(&mut stepper, &at, h, |s| side * angle(s, joint)) else {
                        run.failed = Some(at.s.t);
                        return Ok(run);
                    };
                    (to, count) = found;
                }
                run.steps.push((to.s.t, count));
                at = to;
                for joint in &JOINTS[..n] {
                    run.opened = run.opened.max(angle(&at.s, *joint).abs());
                }
                if straight {
                    break;
                }
            }
            run.locks.push(at.s.t);
            s = at.s;
            if n < 3 && !self.jump(n + 1, &mut s) {
                run.failed = Some(s.t);
                return Ok(run);
            }
        }
        Ok(run)
    }

    /// Rank and condition of J M⁻¹Jᵀ with all links straight and locked; the condition is that of what the rank leaves.
    pub fn straight(&self, lock: Lock) -> Result<(usize, f64), PaperError> {
        let mut mechanism = self.case(lock, 3).system.mechanism();
        let mut s = self.start.clone();
        s.q = vec![0.5, 0.0, 0.0, 1.5, 0.0, 0.0, 2.5, 0.0, 0.0];
        let mut all = plain(&mut mechanism);
        all.mechanism.update(&s, Stage::POSITION, &mut all.eq);
        let mut eigen = SymmetricEigen::new(all.eq.phi.len());
        eigen.factor(&all.schur()).map_err(|e| bad(&e))?;
        let size = largest(eigen.values().iter().map(|x| x.abs()));
        let kept: Vec<f64> = eigen.values().iter().copied().filter(|x| x.abs() > 1e-12 * size).collect();
        Ok((kept.len(), size / kept.iter().copied().fold(f64::INFINITY, f64::min)))
    }

    /// Velocities that the first `n` locks leave.
    fn jump(&self, n: usize, s: &mut State) -> bool {
        let mut mechanism = self.angle[n].system.mechanism();
        let mut all = plain(&mut mechanism);
        all.mechanism.update(s, Stage::VELOCITY, &mut all.eq);
        let mut mu = all.eq.phidot.clone();
        if !solve(&mut all.schur(), &mut mu) {
            return false;
        }
        all.eq.f.fill(0.0);
        s.v.iter_mut().zip(all.accelerate(&mu)).for_each(|(v, d)| *v += d);
        true
    }
}

/// For its matrices alone.
fn plain(mechanism: &mut Mechanism) -> Stepper<'_> {
    let (eq, technique) = (Equations::new(mechanism), Technique::Baumgarte { alpha: 0.0, beta: 0.0 });
    Stepper { mechanism, eq, technique, iteration: Iteration::Newton, guess: Guess::Last, accuracy: 1.0 }
}

fn bad(reason: &dyn std::fmt::Display) -> PaperError {
    PaperError::Run { what: "deployment by difference equations".into(), reason: reason.to_string() }
}

/// Accelerations and multipliers of the equations of motion at `s`, by the library, which copes with dependent rows.
fn start(stepper: &mut Stepper, s: State) -> Result<Point, sarrus::solve::SolveError> {
    stepper.mechanism.update(&s, Stage::FORCE, &mut stepper.eq);
    let (eq, structure) = (&stepper.eq, stepper.mechanism.structure());
    let mut kkt = Kkt::new(structure, eq, HUB_DEGREE)?;
    kkt.factor(eq, ActiveRows::All, RankDemand::Any)?;
    let (mut vdot, mut lambda) = (vec![0.0; structure.nv], vec![0.0; structure.nc]);
    kkt.solve(eq, &eq.f, &eq.gamma, &mut vdot, &mut lambda)?;
    let mut at = Point { s, vdot, lambda, drive: vec![0.0; structure.nc] };
    at.drive = stepper.drive(&at);
    Ok(at)
}

/// The step of at most `h` that ends where `left` vanishes, by bisection; none where steps do not converge.
fn meet(stepper: &mut Stepper, from: &Point, h: f64, left: impl Fn(&State) -> f64) -> Option<(Point, usize)> {
    let (mut low, mut high) = (0.0, h);
    let mut found = stepper.step(from, h)?;
    for _ in 0..60 {
        if left(&found.0.s).abs() <= STRAIGHT {
            break;
        }
        let middle = 0.5 * (low + high);
        found = stepper.step(from, middle)?;
        if left(&found.0.s) > 0.0 { low = middle } else { high = middle }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(chain: &Chain, technique: Technique, iteration: Iteration, h: f64) -> Vec<f64> {
        let how = Settings {
            lock: Lock::Angle,
            technique,
            iteration,
            guess: Guess::Extrapolated,
            h,
            accuracy: 1e-10,
            t_end: 1.2,
        };
        let run = chain.run(&how).unwrap();
        assert!(run.failed.is_none() && run.locks.len() == 3, "{technique:?} {iteration:?} {h}");
        run.locks
    }

    /// The trapezoidal rule is of second order, and what solves it does not matter: lock times are wrong by c h² + O(h³).
    #[test]
    fn lock_times_converge_with_the_square_of_the_step_however_the_equations_are_solved() {
        let chain = Chain::new().unwrap();
        let known = crate::park1990::reference::LOCK_TIMES;
        for technique in [
            Technique::Baumgarte { alpha: 5.0, beta: 25.0 },
            Technique::Staggered { epsilon: 1e-10 },
            Technique::StaggeredIndex1 { epsilon: 1e-10 },
        ] {
            let coarse = locks(&chain, technique, Iteration::Substitution, 0.01);
            let fine = locks(&chain, technique, Iteration::Substitution, 0.005);
            let newton = locks(&chain, technique, Iteration::Newton, 0.01);
            // the first lock: those that follow inherit errors of both signs
            let ratio = (coarse[0] - known[0]) / (fine[0] - known[0]);
            assert!((ratio - 4.0).abs() < 0.6, "{technique:?}: {ratio}");
            for i in 0..3 {
                assert!((fine[i] - known[i]).abs() < 2e-4, "{technique:?}: {fine:?}");
                assert!((newton[i] - coarse[i]).abs() < 1e-8, "{technique:?}: {newton:?} {coarse:?}");
            }
        }
    }
}
