//! Direct violation correction [Yu2000]: after each step δq = -J⁺Φ, then δv = -J⁺Φ̇, with J⁺ = Jᵀ(J Jᵀ)⁺.
//!
//! One correction of the positions, q ← q ⊕ δq over the rows with a position level, and one of the velocities at the corrected
//! positions, over all rows; no iteration. A step leaves Φ of the size of its own error, and one correction leaves the
//! square of that. `iterations` makes it more; `projection` iterates to rounding.
//!
//! The correction is the shortest in the coordinates, not in the masses as that of `projection`: metres and radians
//! weigh the same, and a heavy body moves as far as a light one. So it depends on the unit of length and, for a
//! body's rotation, on nothing but its angle. J⁺Φ comes from the block-sparse solver with unit masses, [I Jᵀ; J 0]: O(N),
//! for J of any rank; rows that others determine are left out, which is J⁺ where they agree. Which they are is found before the
//! first correction, at the state where that one leads. Cost: two factorizations of its own a step, none shared with the
//! accelerations.

use super::{Projection, Stabilization, StabilizationKind};
use crate::error::{MethodError, SolveError};
use crate::kkt::{ActiveRows, HUB_DEGREE, Kkt, RankDemand};
use crate::options::{OptionDoc, Options};
use crate::problem::{Equations, Problem, Stage, State, Structure};

/// Largest residual accepted of J δ = -Φ or -Φ̇ over the rows that take part.
const UNSOLVED: f64 = 1e-6;

pub(super) const KIND: StabilizationKind = StabilizationKind {
    name: "violation_correction",
    doc: "one shortest correction of positions, then of velocities, after each step",
    dense: false,
    options: &[OptionDoc { name: "iterations", default: "1", doc: "corrections of the positions per step" }],
    new: |options| Ok(Box::new(Correct::new(options)?)),
};

struct Correct {
    iterations: u32,
    /// Solver and equations with unit masses, once the structure is known.
    unit: Option<(Kkt, Equations)>,
    /// Zero (nv).
    rest: Vec<f64>,
    /// Right-hand side (nc).
    b: Vec<f64>,
    /// Displacement (nv).
    delta: Vec<f64>,
    /// Its multipliers (nc).
    mu: Vec<f64>,
}

impl Correct {
    fn new(options: &Options) -> Result<Correct, MethodError> {
        let whole = |x: f64| (1.0..=100.0).contains(&x) && x.fract() == 0.0;
        let given =
            options.number("violation_correction", "iterations", "a whole number from 1 to 100", whole)?;
        let (rest, b, delta, mu) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Correct { iterations: given.unwrap_or(1.0) as u32, unit: None, rest, b, delta, mu })
    }

    /// The solver with unit masses; made at the first call.
    fn unit_kkt(&mut self, s: &Structure) -> Result<(Kkt, Equations), SolveError> {
        if let Some(unit) = self.unit.take() {
            return Ok(unit);
        }
        self.rest.resize(s.nv, 0.0);
        self.b.resize(s.nc, 0.0);
        self.delta.resize(s.nv, 0.0);
        self.mu.resize(s.nc, 0.0);
        let mut eq = Equations::zeros(s);
        for col in &s.cols {
            for i in 0..col.size {
                let diagonal = col.mass + i * (col.size + 1);
                (eq.mass[diagonal], eq.minv[diagonal]) = (1.0, 1.0);
            }
        }
        let kkt = Kkt::new(s, &eq, HUB_DEGREE)?;
        Ok((kkt, eq))
    }

    /// The shortest δ with J δ = -`violation` over `rows`.
    fn solve(
        &mut self,
        kkt: &mut Kkt,
        eq: &Equations,
        rows: ActiveRows,
        rank: RankDemand,
    ) -> Result<(), SolveError> {
        let violation = if rows == ActiveRows::All { &eq.phidot } else { &eq.phi };
        kkt.factor(eq, rows, rank)?;
        self.b.iter_mut().zip(violation).for_each(|(b, x)| *b = -x);
        let report = kkt.solve(eq, &self.rest, &self.b, &mut self.delta, &mut self.mu)?;
        if report.residual.is_nan() || report.residual > UNSOLVED {
            return Err(SolveError::Inconsistent { row: report.row, residual: report.residual });
        }
        Ok(())
    }

    /// Settles which rows are dependent, as near to the constraints as one correction leads from `s`: at `s` itself
    /// redundant rows are independent by the square of the violation.
    fn resolve_rank(
        &mut self,
        problem: &mut dyn Problem,
        kkt: &mut Kkt,
        eq: &mut Equations,
        s: &State,
    ) -> Result<(), SolveError> {
        let mut nearer = s.clone();
        problem.update(&nearer, Stage::POSITION, eq);
        self.solve(kkt, eq, ActiveRows::Holonomic, RankDemand::Any)?;
        problem.retract(&mut nearer.q, &self.delta);
        problem.update(&nearer, Stage::POSITION, eq);
        kkt.factor(eq, ActiveRows::All, RankDemand::ResolveRank)
    }

    fn correct(
        &mut self,
        problem: &mut dyn Problem,
        kkt: &mut Kkt,
        eq: &mut Equations,
        s: &mut State,
    ) -> Result<Projection, SolveError> {
        let mut done = Projection::default();
        problem.update(s, Stage::POSITION, eq);
        while done.iterations < self.iterations {
            if problem.structure().holonomic_rows().all(|rows| eq.phi[rows].iter().all(|phi| *phi == 0.0)) {
                break;
            }
            self.solve(kkt, eq, ActiveRows::Holonomic, RankDemand::Any)?;
            problem.retract(&mut s.q, &self.delta);
            problem.update(s, Stage::POSITION, eq);
            done.iterations += 1;
        }
        problem.update(s, Stage::VELOCITY, eq);
        if eq.phidot.iter().any(|x| *x != 0.0) {
            self.solve(kkt, eq, ActiveRows::All, RankDemand::ResolveRank)?;
            s.v.iter_mut().zip(&self.delta).for_each(|(v, d)| *v += d);
            done.moved = true;
        }
        done.moved |= done.iterations > 0;
        Ok(done)
    }
}

impl Stabilization for Correct {
    fn projects(&self) -> bool {
        true
    }

    fn project(
        &mut self,
        problem: &mut dyn Problem,
        _kkt: &mut Kkt,
        _eq: &mut Equations,
        s: &mut State,
    ) -> Result<Projection, SolveError> {
        let first = self.unit.is_none();
        let (mut kkt, mut eq) = self.unit_kkt(problem.structure())?;
        let resolved = if first { self.resolve_rank(problem, &mut kkt, &mut eq, s) } else { Ok(()) };
        let done = resolved.and_then(|()| self.correct(problem, &mut kkt, &mut eq, s));
        self.unit = Some((kkt, eq));
        done
    }
}
