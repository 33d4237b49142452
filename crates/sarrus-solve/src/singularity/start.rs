//! Starts and rests at singular positions.
//!
//! Velocities at a start are those nearest to the given ones with J v = -Φ_t and with the values h v = b that are to be kept. At an
//! angle x from a singular position the rows U_d say this with a factor x, so that an error e of the positions is one of e/x² of
//! the velocities, and rows that are weaker than rounding say nothing. Which rows these are does not show in the given velocities,
//! which may vanish: it is found along a motion at random within what the other rows leave free ([`DependentRows`]).
//!
//! - Where positions are sharp enough to tell the branch, e ρ / σ² ≪ 1, v follows from all rows, the nearly dependent ones brought to size;
//!   positions are then made sharper one derivative up, as in a window, and v is found again.
//! - Otherwise only the other rows tell v. It is that of a branch if U_dᵀΦ̈ = 0; if it is not, the branch is open: several motions
//!   are possible, and the given values do not say which.
//! - At rest every branch is open.
//!
//! Where one value is missing, U_dᵀΦ̈ = 0 is quadratic in it, and its roots are the velocities that are possible. Positions that are only
//! nearly closed are closed first, by all rows however weak ([`refine_positions`]).
//!
//! Cost: some dense decompositions of each part that is checked; those of more than [`DENSE`] velocities are not.

mod solve;

use super::project::EXACT;
use super::window::{add, dot, norm};
use super::{CROSSING, DENSE, DependentRows, Regularize, SingularityDetector};
use crate::error::SolveError;
use crate::problem::{Equations, Problem, Stage, State};
use sarrus_math::solve::Svd;

/// A position is near a singular one within this angle \[rad\].
const NEAR: f64 = 0.02;
/// Widest angle to directions that count as free where a row depends on others to rounding \[rad\].
const FREE: f64 = 1e-7;
/// The same over the angle to the singular position, where that is larger.
const AROUND: f64 = 10.0;
/// Rest within this angle is rest at the singular position: accelerations there do not see the nearly dependent rows.
const AT: f64 = 1e-5;
/// Positions tell the branch if they leave less than this of it open.
const SHARP: f64 = 0.1;
/// Velocities lead along a branch if U_dᵀΦ̈ is below this part of its terms.
const ALONG: f64 = 1e-2;
/// Slower than this is rest \[m/s, rad/s\].
const REST: f64 = 1e-12;
/// Rounds of velocities and sharper positions.
const ROUNDS: usize = 2;

/// A value that the velocities of a start shall have: Σ c v = value over entries (velocity, c).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeldVelocity {
    /// Velocities and their factors.
    pub entries: Vec<(usize, f64)>,
    /// The value.
    pub value: f64,
}

/// Identifies which way a motion continues from a position near a singular one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchDirection {
    /// Along the branch that position and velocity tell.
    Known,
    /// It is at rest: along any branch.
    Rest,
    /// Position and velocity do not tell.
    Open,
    /// All velocities are given, and lead along no branch.
    Astray,
}

/// A position near a singular one.
#[derive(Debug, Clone, PartialEq)]
pub struct SingularStart {
    /// Identifies which way it continues.
    pub way: BranchDirection,
    /// The angle to the singular position \[rad\].
    pub angle: f64,
    /// Describes how many rows become dependent there.
    pub losses: usize,
    /// The scalar rows of λ that take part, one of each element, largest part first.
    pub rows: Vec<usize>,
    /// Velocities (nv) that are possible where the way is open; none where they are not known.
    pub choices: Vec<Vec<f64>>,
}

/// Finds the velocities of the start `s`, which is on the constraints, in the parts that are near a singular position: nearest to
/// `given` with the values of `held`. Positions may move by rounding. Velocities of other parts, and where the way is not
/// known, are left as they are.
pub fn set_out(
    problem: &mut dyn Problem,
    s: &mut State,
    given: &[f64],
    held: &[HeldVelocity],
) -> Result<Vec<SingularStart>, SolveError> {
    each_part(problem, |detector, i, problem, eq| detector.set_out(i, problem, eq, s, given, held))
}

/// The parts that are near a singular position at `s`, whatever their velocities.
pub fn singular_starts(problem: &mut dyn Problem, s: &State) -> Result<Vec<SingularStart>, SolveError> {
    each_part(problem, |detector, i, problem, eq| {
        let Some(about) = detector.about(i, problem, eq, s)? else { return Ok(None) };
        let way = if detector.is_at_rest(i, &s.v) { BranchDirection::Rest } else { BranchDirection::Known };
        Ok(Some(detector.describe(i, &about, way)))
    })
}

/// Closes the positions of `s`, which are nearly closed, by all rows, in the parts that are near a singular position: a plain correction
/// leaves out rows that are too weak for it. Elsewhere weak rows come from data that do not quite fit, and are left alone.
pub fn refine_positions(problem: &mut dyn Problem, s: &mut State) -> Result<(), SolveError> {
    let _ = each_part(problem, |detector, i, problem, eq| {
        let about = detector.about(i, problem, eq, s)?;
        about.map_or(Ok(()), |_| detector.refine_positions(i, problem, s)).map(|()| None)
    })?;
    Ok(())
}

fn each_part(
    problem: &mut dyn Problem,
    mut check: impl FnMut(
        &mut SingularityDetector,
        usize,
        &mut dyn Problem,
        &mut Equations,
    ) -> Result<Option<SingularStart>, SolveError>,
) -> Result<Vec<SingularStart>, SolveError> {
    let mut detector = SingularityDetector::new(&*problem, Regularize::Jets)?;
    let mut eq = Equations::new(&*problem);
    let mut found = Vec::new();
    for i in 0..detector.parts.len() {
        if detector.parts[i].nv() <= DENSE {
            found.extend(check(&mut detector, i, problem, &mut eq)?);
        }
    }
    Ok(found)
}

/// Rows that become dependent nearby.
struct NearbySingularity {
    dependent: DependentRows,
    /// The angle to where they do \[rad\].
    angle: f64,
    /// Holds what is left open of the branch: 0 where it is certain.
    open: f64,
    /// The largest ρ along a motion of unit speed.
    rate: f64,
}

impl SingularityDetector {
    /// The nearly dependent rows of part `i` at `s` along a motion at random. Leaves D at `s` in the workspace.
    ///
    /// Light bodies make rows weak in the metric of M that are regular. A redundant row turns along such directions, into rows that hold
    /// them, and would seem to gain rank. So what was found must show along motions that are free to about the angle found.
    fn about(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        eq: &Equations,
        s: &State,
    ) -> Result<Option<NearbySingularity>, SolveError> {
        let Some(wide) = self.about_within(i, problem, eq, s, NEAR)? else { return Ok(None) };
        let narrow = (AROUND * wide.angle).max(FREE);
        if narrow >= NEAR {
            return Ok(Some(wide));
        }
        match self.about_within(i, problem, eq, s, narrow)? {
            Some(_) => self.about_within(i, problem, eq, s, NEAR),
            None => Ok(None),
        }
    }

    /// The same along motions that rows hold by no more than `near` \[rad\].
    fn about_within(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        eq: &Equations,
        s: &State,
        near: f64,
    ) -> Result<Option<NearbySingularity>, SolveError> {
        let (nc, nv) = (self.parts[i].nc(), self.parts[i].nv());
        if nc == 0 || nv == 0 || self.check(i, problem, s, 0.0)?.is_none() {
            return Ok(None);
        }
        let part = &self.parts[i];
        part.dense(&self.workspace.J[0], &mut self.dense);
        let mut svd = Svd::full(nc, nv);
        svd.factor(&self.dense)?;
        let first = svd.sigma().partition_point(|x| *x > near * svd.sigma()[0]);
        if first == svd.sigma().len() {
            return Ok(None);
        }
        // as fast as the motion itself, in all directions that rows hold weakly or not at all
        let mut y = vec![0.0; nv];
        part.velocities_of(eq, &self.root, &s.v, &mut y);
        let speed = if norm(&y) > 0.0 { norm(&y) } else { 1.0 };
        let mut seed = 0.5_f64;
        for k in first..nv {
            seed = (seed * 997.0 + 0.137).fract();
            let size = if seed < 0.5 { seed - 1.0 } else { seed };
            add(speed * size, svd.right(k), &mut y);
        }
        let mut trial = s.clone();
        part.write_velocities(&self.root, &y, 1.0, &mut trial.v);
        let Some(dependent) = self.check_within(i, problem, &trial, near)? else { return Ok(None) };
        if dependent.len() == 0 {
            return Ok(None);
        }
        let part = &self.parts[i];
        let spin = part.bound(&self.workspace.J[1]) / part.bound(&self.workspace.J[0]);
        let times = dependent.sigma.iter().zip(&dependent.rate).map(|(sigma, rate)| sigma / rate);
        let angle = spin * times.fold(0.0, f64::max);
        // Φ that is left, or that rounding leaves, against σ² / ρ
        let mut phi = vec![0.0; nc];
        part.rows_of(&self.workspace.phi[0], &mut phi);
        let size = s.q.iter().fold(1.0_f64, |m, q| m.max(q.abs()));
        let mut open = 0.0_f64;
        for k in 0..dependent.len() {
            let error = dot(dependent.u(k), &phi).abs().max(0.5 * f64::EPSILON * size);
            open = open.max(error * dependent.rate[k] / norm(&y) / dependent.sigma[k].powi(2));
        }
        let rate = dependent.rate.iter().copied().fold(0.0, f64::max) / norm(&y);
        Ok(Some(NearbySingularity { dependent, angle, open, rate }))
    }

    /// The nearly dependent rows of part `i` within an angle \[rad\] along the motion of `s`.
    fn check_within(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        s: &State,
        angle: f64,
    ) -> Result<Option<DependentRows>, SolveError> {
        if self.check(i, problem, s, 0.0)?.is_none() {
            return Ok(None);
        }
        let part = &self.parts[i];
        let spin = part.bound(&self.workspace.J[1]) / part.bound(&self.workspace.J[0]);
        if !(spin > 0.0) {
            return Ok(None);
        }
        self.check(i, problem, s, angle / spin)
    }

    fn is_at_rest(&self, i: usize, v: &[f64]) -> bool {
        self.parts[i].velocities.iter().all(|&k| v[k].abs() <= REST)
    }

    fn describe(&self, i: usize, about: &NearbySingularity, way: BranchDirection) -> SingularStart {
        let rows = self.parts[i].leading_rows(&about.dependent);
        SingularStart { way, angle: about.angle, losses: about.dependent.len(), rows, choices: Vec::new() }
    }

    fn set_out(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &mut State,
        given: &[f64],
        held: &[HeldVelocity],
    ) -> Result<Option<SingularStart>, SolveError> {
        let Some(about) = self.about(i, problem, eq, s)? else { return Ok(None) };
        let is_sharp = about.open < SHARP;
        problem.update(s, Stage::VELOCITY, eq);
        let (y, free) = self.velocities(i, &about.dependent, eq, given, held, is_sharp)?;
        let mut trial = s.clone();
        self.parts[i].write_velocities(&self.root, &y, 1.0, &mut trial.v);
        if self.is_at_rest(i, &trial.v) {
            let is_there = about.angle <= AT;
            return Ok(is_there.then(|| self.describe(i, &about, BranchDirection::Rest)));
        }
        if !is_sharp && !self.has_branch_along(i, problem, &trial, &about, norm(&y)) {
            let mut singular_starts = self.describe(
                i,
                &about,
                if free.is_empty() { BranchDirection::Astray } else { BranchDirection::Open },
            );
            if let ([w], 1) = (&free[..], about.dependent.len()) {
                singular_starts.choices = self.choices(i, problem, &trial, about.dependent.u(0), &y, w);
            }
            return Ok(Some(singular_starts));
        }
        s.v.copy_from_slice(&trial.v);
        for _ in 0..ROUNDS {
            let size = s.q.iter().fold(1.0_f64, |m, q| m.max(q.abs()));
            let Some(dependent) = self.check_within(i, problem, &trial, NEAR)?.filter(|d| d.len() > 0) else {
                break;
            };
            match self.project_part(i, &dependent, problem, eq, &mut trial, EXACT) {
                // branches that do not cross are shown by the position alone
                Ok(gap) if gap <= CROSSING * size => {}
                _ => break,
            }
            if is_sharp {
                let Some(about) = self.about(i, problem, eq, &trial)? else { break };
                problem.update(&trial, Stage::VELOCITY, eq);
                let (y, _) = self.velocities(i, &about.dependent, eq, given, held, true)?;
                self.parts[i].write_velocities(&self.root, &y, 1.0, &mut trial.v);
            }
            s.copy_from(&trial);
        }
        Ok(Some(self.describe(i, &about, BranchDirection::Known)))
    }

    /// Returns whether the velocities of `s`, of size `speed`, lead along a branch: U_dᵀΦ̈ = 0 whatever v̇.
    fn has_branch_along(
        &mut self,
        i: usize,
        problem: &mut dyn Problem,
        s: &State,
        about: &NearbySingularity,
        speed: f64,
    ) -> bool {
        let part = &self.parts[i];
        if !problem.expand(s, std::slice::from_ref(&s.v), &part.blocks, true, &mut self.workspace) {
            return false;
        }
        let mut bent = vec![0.0; part.nc()];
        part.rows_of(&self.workspace.phi[2], &mut bent);
        self.workspace.J.iter_mut().take(2).for_each(|J| part.scale(&self.root, J));
        let limit = ALONG * about.rate * speed * speed;
        (0..about.dependent.len()).all(|k| 2.0 * dot(about.dependent.u(k), &bent).abs() <= limit)
    }
}
