//! Describes what rows that begin to act do at once: positions are brought onto them, velocities jump.
//!
//! M (v⁺ - v⁻) + Jᵀμ = 0, J v⁺ + Φ_t = 0: the impulse -Jᵀμ is the smallest that will do, and no energy is lost but what it
//! takes away, a perfectly plastic impact. With rows that follow one after the other at the same instant the result is
//! the same as with all of them at once. Rows of any rank.
//!
//! Before, a motion that has drifted off the rows which act already is brought back onto them, positions and velocities
//! ([`make_consistent`]): otherwise what is left of the old rows could not be determined from new ones that contradict each other. An event
//! is met on the motion as it came, so that a row may fit that and miss what was settled by the drift, or, as a distance
//! between points whose joint has come apart, the other way about: either will do.

use sarrus_solve::{
    ActiveRows, Equations, HUB_DEGREE, Kkt, Problem, RankDemand, SolveError, Stage, State, StepError,
};
use sarrus_system::{Mechanism, System};

/// Positions farther from the rows than this, relative to the size of the mechanism, are no matter of rounding or of the
/// accuracy of a step.
pub(crate) const APART: f64 = 1e-6;
/// A motion that has drifted farther than this off the rows that act, relative, is not brought back.
const FARTHEST: f64 = 1e-3;
/// Corrections of positions.
const CORRECTIONS: u32 = 5;
/// Velocities against the rows that are left, relative, where these do not contradict each other.
const LEFT: f64 = 1e-6;

/// Brings `s`, which an integrator may have let drift, back onto the rows of `mechanism`; where no way is found, or a long
/// one only, it stays as it is.
pub(super) fn make_consistent(mechanism: &mut Mechanism, s: &mut State) {
    let mut near = s.clone();
    let Ok(mut restart) = ConsistentRestart::new(mechanism) else { return };
    restart.mechanism.update(s, Stage::POSITION, &mut restart.eq);
    let size = size(s);
    if restart.worst().1 <= FARTHEST * size
        && restart.positions(&mut near).is_ok()
        && restart.worst().1 <= APART * size
        && restart.velocities(&mut near).is_ok()
    {
        s.copy_from(&near);
    }
}

/// Marks where a jump has led.
pub(super) struct Rebuilt {
    mu: Vec<f64>,
    /// Work of drivers that acted before, μᵀΦ_t \[J\].
    pub work: f64,
    contradiction: Option<StepError>,
}

impl Rebuilt {
    /// The impulses μ; an error where rows contradict each other.
    pub fn impulses(self) -> Result<Vec<f64>, StepError> {
        self.contradiction.map_or(Ok(self.mu), Err)
    }
}

/// Brings `s` onto the rows of `mechanism`; `old` is the system of the rows that acted before. A row fits there if it does at `s`, which holds the rows that acted before, or at
/// `found`, the positions that the motion came with and that the event was met at.
///
pub(super) fn jump(
    mechanism: &mut Mechanism,
    s: &mut State,
    found: &[f64],
    old: &System,
) -> Result<Rebuilt, StepError> {
    let t = s.t;
    let project = |source| StepError::Project { t, source };
    let mut restart = ConsistentRestart::new(mechanism).map_err(project)?;
    let size = size(s);

    // positions
    let mut came = s.clone();
    came.q.copy_from_slice(found);
    restart.mechanism.update(&came, Stage::POSITION, &mut restart.eq);
    let came = restart.eq.phi.clone();
    restart.mechanism.update(s, Stage::POSITION, &mut restart.eq);
    let rows = restart.mechanism.structure().holonomic_rows().flatten();
    let apart = rows.map(|i| (i, nearer(restart.eq.phi[i].abs(), came[i].abs()))).fold((0, 0.0), larger);
    let unfit = |(row, violation), iterations| project(SolveError::Projection { row, violation, iterations });
    if !(apart.1 <= APART * size) {
        return Err(unfit(apart, 0));
    }
    restart.positions(s).map_err(project)?;
    let apart = restart.worst();
    if !(apart.1 <= APART * size) {
        return Err(unfit(apart, CORRECTIONS));
    }

    // velocities
    let (left, fast) = restart.velocities(s).map_err(project)?;
    let contradiction = (!(left.1 <= LEFT * fast))
        .then(|| project(SolveError::Inconsistent { row: left.0, residual: left.1 / fast }));
    let rows = restart.mechanism.system().elements.iter().filter(|e| old.element_index(e.id).is_some());
    let rows = rows.flat_map(|e| e.start..e.start + e.rows.rows());
    let work = rows.map(|row| restart.mu[row] * restart.eq.phi_t[row]).sum();
    Ok(Rebuilt { mu: restart.mu, work, contradiction })
}

/// Holds what is moved onto the rows of `mechanism`, with as little as will do.
struct ConsistentRestart<'m> {
    mechanism: &'m mut Mechanism,
    eq: Equations,
    kkt: Kkt,
    none: Vec<f64>,
    b: Vec<f64>,
    delta: Vec<f64>,
    mu: Vec<f64>,
}

impl ConsistentRestart<'_> {
    fn new(mechanism: &mut Mechanism) -> Result<ConsistentRestart<'_>, SolveError> {
        let eq = Equations::new(mechanism);
        let kkt = Kkt::new(mechanism.structure(), &eq, HUB_DEGREE)?;
        let (nv, nc) = (mechanism.structure().nv, mechanism.structure().nc);
        let (zeros_v, zeros_c) = (vec![0.0; nv], vec![0.0; nc]);
        let (delta, mu) = (zeros_v.clone(), zeros_c.clone());
        Ok(ConsistentRestart { mechanism, eq, kkt, none: zeros_v, b: zeros_c, delta, mu })
    }

    /// Corrects positions; `eq` is that of `s` before and after.
    fn positions(&mut self, s: &mut State) -> Result<(), SolveError> {
        let size = size(s);
        for _ in 0..CORRECTIONS {
            if self.worst().1 <= 4.0 * f64::EPSILON * size {
                break;
            }
            self.kkt.factor(&self.eq, ActiveRows::Holonomic, RankDemand::Any)?;
            self.b.iter_mut().zip(&self.eq.phi).for_each(|(b, phi)| *b = -phi);
            self.kkt.solve(&self.eq, &self.none, &self.b, &mut self.delta, &mut self.mu)?;
            self.mechanism.retract(&mut s.q, &self.delta);
            self.mechanism.update(s, Stage::POSITION, &mut self.eq);
        }
        Ok(())
    }

    /// Corrects velocities; returns the largest Φ̇ that is left with its row, and the largest of all that entered.
    fn velocities(&mut self, s: &mut State) -> Result<((usize, f64), f64), SolveError> {
        self.mechanism.update(s, Stage::VELOCITY, &mut self.eq);
        self.kkt.factor(&self.eq, ActiveRows::All, RankDemand::Any)?;
        self.b.iter_mut().zip(&self.eq.phidot).for_each(|(b, phidot)| *b = -phidot);
        self.kkt.solve(&self.eq, &self.none, &self.b, &mut self.delta, &mut self.mu)?;
        let fast = s.v.iter().chain(&self.b).fold(f64::MIN_POSITIVE, |a, x| a.max(x.abs()));
        s.v.iter_mut().zip(&self.delta).for_each(|(v, d)| *v += d);
        self.mechanism.update(s, Stage::VELOCITY, &mut self.eq);
        let left = self.eq.phidot.iter().enumerate().map(|(i, x)| (i, x.abs())).fold((0, 0.0), larger);
        Ok((left, fast))
    }

    /// The largest |Φ| among the rows that have one, and where it is.
    fn worst(&self) -> (usize, f64) {
        let rows = self.mechanism.structure().holonomic_rows().flatten();
        rows.map(|i| (i, self.eq.phi[i].abs())).fold((0, 0.0), larger)
    }
}

/// The size of a mechanism, or 1.
fn size(s: &State) -> f64 {
    s.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()))
}

/// The smaller; one that is not a number stays.
fn nearer(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The larger, where one that is not a number is the largest.
fn larger(a: (usize, f64), b: (usize, f64)) -> (usize, f64) {
    if b.1 <= a.1 || a.1.is_nan() { a } else { b }
}
