//! Projection after each accepted step: positions onto Φ = 0, then velocities onto Φ̇ = 0.
//!
//! Positions: Newton, nearest in the mass metric, M δ + Jᵀμ = 0, J δ = -Φ, q ← q ⊕ δ, over the rows with a position
//! level only, with the first factorization kept while it converges. Velocities: M δ + Jᵀμ = 0, J δ = -Φ̇,
//! v ← v + δ, over all rows.
//!
//! Takes J of any rank. Leaves Φ and Φ̇ at rounding; where constraints contradict each other slightly (lengths
//! written with six digits in a redundant mechanism), the rows that depend on others keep the difference. Cost: one factorization and a few
//! solutions per step for positions; that for velocities is shared with the next accelerations.
//! Nothing is done, and nothing factored, where the violation is rounding already.

use super::{Projection, Stabilization, StabilizationKind, terms};
use crate::error::SolveError;
use crate::kkt::{ActiveRows, Kkt, RankDemand};
use crate::problem::{Equations, Problem, Stage, State, Structure};

/// Roundings in a row of Φ or Φ̇.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Newton iterations before giving up.
const ITERATIONS: u32 = 20;
/// A fall of the violation that is worth keeping the factors for.
const GOOD_DECREASE: f64 = 0.1;
/// A displacement that is none, relative to positions.
const STILL: f64 = 1e-10;

pub(super) const KIND: StabilizationKind = StabilizationKind {
    name: "projection",
    doc: "positions, then velocities, moved onto the constraints after each step",
    dense: false,
    options: &[],
    new: |_| Ok(Box::new(Project { mismatch: 1.0, ..Project::default() })),
};

#[derive(Default)]
struct Project {
    /// Zero, as the force of a displacement (nv).
    rest: Vec<f64>,
    /// Right-hand side (nc).
    b: Vec<f64>,
    /// Displacement (nv).
    delta: Vec<f64>,
    /// Its multipliers (nc).
    mu: Vec<f64>,
    /// Positions before the last correction (nq).
    q: Vec<f64>,
    /// Violation of dependent rows, in roundings, that no position has removed so far.
    mismatch: f64,
}

impl Stabilization for Project {
    fn is_plain(&self) -> bool {
        true
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
        let iterations = self.positions(problem, kkt, eq, s)?;
        let velocities = self.velocities(problem, kkt, eq, s)?;
        Ok(Projection { moved: iterations > 0 || velocities, iterations })
    }
}

impl Project {
    fn allocate(&mut self, s: &Structure) {
        self.rest.resize(s.nv, 0.0);
        self.b.resize(s.nc, 0.0);
        self.delta.resize(s.nv, 0.0);
        self.mu.resize(s.nc, 0.0);
        self.q.resize(s.nq, 0.0);
    }

    /// Returns the number of corrections made.
    fn positions(
        &mut self,
        problem: &mut dyn Problem,
        kkt: &mut Kkt,
        eq: &mut Equations,
        s: &mut State,
    ) -> Result<u32, SolveError> {
        problem.update(s, Stage::POSITION, eq);
        let mut violation = PositionViolation::new(problem.structure(), kkt, eq, s)?;
        if violation.size <= 1.0 && violation.dependent <= self.mismatch {
            return Ok(0);
        }
        kkt.factor(eq, ActiveRows::Holonomic, RankDemand::Any)?;
        let mut fresh = true;
        for iteration in 1..=ITERATIONS {
            // the factors need not be those of this J: they precondition
            self.b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
            let report = kkt.solve(eq, &self.rest, &self.b, &mut self.delta, &mut self.mu)?;
            if report.residual > 0.1 && !fresh {
                kkt.factor(eq, ActiveRows::Holonomic, RankDemand::Any)?;
                fresh = true;
                kkt.solve(eq, &self.rest, &self.b, &mut self.delta, &mut self.mu)?;
            }
            self.q.copy_from_slice(&s.q);
            problem.retract(&mut s.q, &self.delta);
            problem.update(s, Stage::POSITION, eq);
            let after = PositionViolation::new(problem.structure(), kkt, eq, s)?;
            if after.size <= 1.0 {
                self.mismatch = self.mismatch.max(2.0 * after.dependent);
                return Ok(iteration);
            }
            let fall = after.size / violation.size;
            if fall <= GOOD_DECREASE {
                violation = after;
                fresh = false;
                continue;
            }

            // no better: as good as it gets, or the factors are to blame, or there is no way
            if fall > 1.0 {
                s.q.copy_from_slice(&self.q);
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
            kkt.factor(eq, ActiveRows::Holonomic, RankDemand::Any)?;
            fresh = true;
        }
        Err(violation.error(eq, ITERATIONS))
    }

    /// Returns whether the velocities were changed.
    fn velocities(
        &mut self,
        problem: &mut dyn Problem,
        kkt: &mut Kkt,
        eq: &mut Equations,
        s: &mut State,
    ) -> Result<bool, SolveError> {
        problem.update(s, Stage::VELOCITY, eq);
        if is_rounding(problem.structure(), eq, &s.v) {
            return Ok(false);
        }
        kkt.factor(eq, ActiveRows::All, RankDemand::ResolveRank)?;
        self.b.iter_mut().zip(&eq.phidot).for_each(|(b, phidot)| *b = -phidot);
        kkt.solve(eq, &self.rest, &self.b, &mut self.delta, &mut self.mu)?;
        s.v.iter_mut().zip(&self.delta).for_each(|(v, d)| *v += d);
        kkt.hold(eq);
        Ok(true)
    }
}

/// Describes how far positions are from their constraints, in units of what rounding alone leaves.
struct PositionViolation {
    /// Largest |Φ| over the independent rows.
    size: f64,
    /// Marks where that is.
    row: usize,
    /// Largest |Φ| over the rows that were found dependent on others.
    dependent: f64,
    /// Largest position, at least one.
    largest_q: f64,
}

impl PositionViolation {
    fn new(
        structure: &Structure,
        kkt: &Kkt,
        eq: &Equations,
        s: &State,
    ) -> Result<PositionViolation, SolveError> {
        let largest_q = s.q.iter().fold(1.0_f64, |largest, q| largest.max(q.abs()));
        let mut violation = PositionViolation { size: 0.0, row: 0, dependent: 0.0, largest_q };
        for row in &structure.rows {
            for i in 0..row.holonomic {
                let phi = eq.phi[row.start + i].abs();
                if !phi.is_finite() {
                    return Err(SolveError::NotFinite { quantity: "phi", index: row.start + i });
                }
                let terms = terms(structure, eq, row, i, largest_q);
                let size = phi / (ROUNDING * if terms > 0.0 { terms } else { 1.0 });
                if kkt.is_dependent(row.start + i) {
                    violation.dependent = violation.dependent.max(size);
                } else if size > violation.size {
                    (violation.size, violation.row) = (size, row.start + i);
                }
            }
        }
        Ok(violation)
    }

    fn error(&self, eq: &Equations, iterations: u32) -> SolveError {
        SolveError::Projection { row: self.row, violation: eq.phi[self.row].abs(), iterations }
    }
}

/// Returns whether Φ̇ = J v + Φ_t is no more than the rounding of its terms.
fn is_rounding(structure: &Structure, eq: &Equations, v: &[f64]) -> bool {
    structure.rows.iter().all(|row| {
        (0..row.size).all(|i| {
            let mut terms = eq.phi_t[row.start + i].abs();
            for e in &structure.entries[row.entries.clone()] {
                let col = structure.cols[e.col];
                let J = &eq.J[e.offset + i * col.size..][..col.size];
                terms += J.iter().zip(&v[col.start..]).map(|(j, v)| (j * v).abs()).sum::<f64>();
            }
            eq.phidot[row.start + i].abs() <= ROUNDING * terms
        })
    })
}
