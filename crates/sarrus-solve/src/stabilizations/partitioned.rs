//! Coordinate partitioning after each accepted step: independent coordinates stay as integrated, dependent ones follow
//! from the constraints [Wehage1982], [Pekal2016, section 2.1].
//!
//! Positions: Newton on Φ over the rows with a position level, J_u δ_u = -Φ, δ_e = 0, q ← q ⊕ δ, until ‖Φ‖ is three orders
//! below the integrator's tolerance, with the factors kept while it converges. Velocities: J_u δ_u = -Φ̇ over all rows, one
//! linear solution. Rows at velocity level leave more velocities dependent than positions, so each level has a
//! choice of its own; without such rows they share one. Coordinates are directions of v, so that a body's rotation stays
//! as integrated only about those of its own axes that are independent.
//!
//! Takes J of any rank: least squares over redundant rows. The choice is made again where another carries errors on less, and
//! where Newton does not converge (see `partition/choose.rs`). Cost: dense, O(nc nv r) for rank r, two factorizations a step.
//! Not for large models: use `projection`, which also moves the state less. Not through singular positions, where J_u of any choice is
//! singular too and magnifies what is left of Φ in the dependent coordinates: an n-four-bar may fail there.

use super::{Projection, Stabilization, StabilizationKind, terms};
use crate::error::{MethodError, SolveError};
use crate::findings::MethodStatistics;
use crate::kkt::{ActiveRows, Kkt};
use crate::options::{OptionDoc, Options};
use crate::partition::Partition;
use crate::problem::{Equations, Problem, Stage, State, Structure};

/// Describes how far below the integrator's tolerance positions are brought.
const FRACTION: f64 = 1e-3;
/// Tolerance where no integrator has said its own.
const TOLERANCE: f64 = 1e-11;
/// Roundings in a row of Φ.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Newton iterations before giving up.
const ITERATIONS: u32 = 20;
/// A fall of the violation that is worth keeping the factors for.
const GOOD_DECREASE: f64 = 0.1;
/// A displacement that is none, relative to positions.
const STILL: f64 = 1e-10;

pub(super) const KIND: StabilizationKind = StabilizationKind {
    name: "partitioned",
    doc: "dependent coordinates from the independent ones, by Newton, after each step",
    dense: true,
    options: &[OptionDoc {
        name: "tolerance",
        default: "1e-3 of the integrator's",
        doc: "largest ‖Φ‖ left in the positions",
    }],
    new: |options| Ok(Box::new(PartitionedProjection::new(options)?)),
};

struct PartitionedProjection {
    /// As asked for.
    given: Option<f64>,
    /// From the integrator's.
    derived: f64,
    positions: Partition,
    /// Marks where there are rows at velocity level.
    velocities: Option<Partition>,
    /// Right-hand side (nc).
    b: Vec<f64>,
    /// Displacement (nv).
    delta: Vec<f64>,
    /// Positions as integrated, and before the last correction (nq).
    integrated: Vec<f64>,
    before: Vec<f64>,
    /// Newton iterations beyond the first.
    more: u64,
}

impl PartitionedProjection {
    fn new(options: &Options) -> Result<PartitionedProjection, MethodError> {
        let given =
            options.number("partitioned", "tolerance", "a number above 0", |x| x > 0.0 && x.is_finite())?;
        Ok(PartitionedProjection {
            given,
            derived: TOLERANCE,
            positions: Partition::new(ActiveRows::Holonomic),
            velocities: None,
            b: Vec::new(),
            delta: Vec::new(),
            integrated: Vec::new(),
            before: Vec::new(),
            more: 0,
        })
    }
}

impl Stabilization for PartitionedProjection {
    fn set_tolerance(&mut self, rtol: f64, atol: f64) {
        self.derived = FRACTION * rtol.min(atol);
    }

    fn projects(&self) -> bool {
        true
    }

    fn project(
        &mut self,
        problem: &mut dyn Problem,
        kkt: &mut Kkt,
        eq: &mut Equations,
        s: &mut State,
    ) -> Result<Projection, SolveError> {
        self.allocate(problem.structure());
        let known = kkt.known_rank();
        let all = self.velocities.iter_mut().chain([&mut self.positions]);
        all.for_each(|partition| partition.report_rank(problem.structure(), known));
        self.integrated.copy_from_slice(&s.q);
        let iterations = match self.correct_positions(problem, eq, s) {
            Ok(iterations) => iterations,
            // another choice of coordinates may do
            Err(SolveError::Projection { iterations, .. }) => {
                s.q.copy_from_slice(&self.integrated);
                self.positions.forget();
                iterations + self.correct_positions(problem, eq, s)?
            }
            Err(error) => return Err(error),
        };
        self.more += u64::from(iterations.saturating_sub(1));
        let moved = self.correct_velocities(problem, eq, s)?;
        Ok(Projection { moved: iterations > 0 || moved, iterations })
    }

    fn statistics(&self) -> MethodStatistics {
        // rows at velocity level only add to what is dependent: theirs is the choice that the motion is in
        let chosen = self.velocities.as_ref().unwrap_or(&self.positions);
        let mut found = chosen.statistics().clone();
        if let (Some(_), Some(partition), Some(positions)) =
            (&self.velocities, &mut found.partition, &self.positions.statistics().partition)
        {
            partition.choices = partition.choices.max(positions.choices);
            partition.condition = partition.condition.max(positions.condition);
        }
        found.iterations = self.more;
        found
    }
}

impl PartitionedProjection {
    fn allocate(&mut self, s: &Structure) {
        self.b.resize(s.nc, 0.0);
        self.delta.resize(s.nv, 0.0);
        self.integrated.resize(s.nq, 0.0);
        self.before.resize(s.nq, 0.0);
        if s.rows.iter().any(|row| row.holonomic < row.size) && self.velocities.is_none() {
            self.velocities = Some(Partition::new(ActiveRows::All));
        }
    }

    /// Returns the number of corrections made.
    fn correct_positions(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &mut State,
    ) -> Result<u32, SolveError> {
        let tolerance = self.given.unwrap_or(self.derived);
        problem.update(s, Stage::POSITION, eq);
        let mut violation = PartitionViolation::new(problem.structure(), eq, s)?;
        if violation.is_within(tolerance) {
            return Ok(0);
        }
        self.positions.factor(problem.structure(), eq)?;
        let mut fresh = true;
        for iteration in 1..=ITERATIONS {
            self.b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
            self.positions.solve(&self.b, &mut self.delta);
            self.before.copy_from_slice(&s.q);
            problem.retract(&mut s.q, &self.delta);
            problem.update(s, Stage::POSITION, eq);
            let after = PartitionViolation::new(problem.structure(), eq, s)?;
            if after.is_within(tolerance) {
                return Ok(iteration);
            }
            let fall = after.norm / violation.norm;
            if fall <= GOOD_DECREASE {
                violation = after;
                fresh = false;
                continue;
            }

            // no better: as good as it gets, or the factors are to blame, or there is no way
            if fall > 1.0 {
                s.q.copy_from_slice(&self.before);
                problem.update(s, Stage::POSITION, eq);
            } else {
                violation = after;
            }
            if self.delta.iter().all(|d| d.abs() <= STILL * violation.largest_q) {
                return Ok(iteration);
            }
            if fresh && fall > 0.5 {
                return Err(violation.error(eq, iteration));
            }
            self.positions.factor(problem.structure(), eq)?;
            fresh = true;
        }
        Err(violation.error(eq, ITERATIONS))
    }

    /// Returns whether the velocities were changed.
    fn correct_velocities(
        &mut self,
        problem: &mut dyn Problem,
        eq: &mut Equations,
        s: &mut State,
    ) -> Result<bool, SolveError> {
        problem.update(s, Stage::VELOCITY, eq);
        if let Some(index) = eq.phidot.iter().position(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite { quantity: "phidot", index });
        }
        if eq.phidot.iter().all(|x| *x == 0.0) {
            return Ok(false);
        }
        let partition = self.velocities.as_mut().unwrap_or(&mut self.positions);
        partition.factor_best(problem.structure(), eq)?;
        self.b.iter_mut().zip(&eq.phidot).for_each(|(b, phidot)| *b = -phidot);
        partition.solve(&self.b, &mut self.delta);
        s.v.iter_mut().zip(&self.delta).for_each(|(v, d)| *v += d);
        Ok(true)
    }
}

/// Describes how far positions are from their constraints.
struct PartitionViolation {
    /// ‖Φ‖ over the rows with a position level.
    norm: f64,
    /// True if every row is at rounding.
    rounding: bool,
    /// Marks where |Φ| is largest.
    row: usize,
    /// Largest position, at least one.
    largest_q: f64,
}

impl PartitionViolation {
    fn new(structure: &Structure, eq: &Equations, s: &State) -> Result<PartitionViolation, SolveError> {
        let largest_q = s.q.iter().fold(1.0_f64, |largest, q| largest.max(q.abs()));
        let mut violation = PartitionViolation { norm: 0.0, rounding: true, row: 0, largest_q };
        let (mut squares, mut largest) = (0.0, 0.0);
        for row in &structure.rows {
            for i in 0..row.holonomic {
                let phi = eq.phi[row.start + i].abs();
                if !phi.is_finite() {
                    return Err(SolveError::NotFinite { quantity: "phi", index: row.start + i });
                }
                squares += phi * phi;
                if phi > largest {
                    (largest, violation.row) = (phi, row.start + i);
                }
                violation.rounding &= phi <= ROUNDING * terms(structure, eq, row, i, largest_q);
            }
        }
        violation.norm = squares.sqrt();
        Ok(violation)
    }

    fn is_within(&self, tolerance: f64) -> bool {
        self.norm <= tolerance || self.rounding
    }

    fn error(&self, eq: &Equations, iterations: u32) -> SolveError {
        SolveError::Projection { row: self.row, violation: eq.phi[self.row].abs(), iterations }
    }
}
