//! Augmented Lagrangian of index 1 \[Bayo1988\]: multipliers that a penalty on J v̇ - γ corrects until it vanishes,
//!
//!   (M + JᵀαJ) v̇_{k+1} = f - Jᵀλ_k + Jᵀα γ,   λ_{k+1} = λ_k + α (J v̇_{k+1} - γ),
//!
//! α diagonal. Written for the changes of v̇ and λ, so that rounding in the stiff matrix is corrected too. A direction with
//! the singular value σ of √α J M^{-1/2} converges by 1/(1 + σ²) a pass: the larger α the fewer, until M is lost in
//! M + JᵀαJ to rounding. α_i = α̂ m_i with m_i = 1/(J M⁻¹Jᵀ)_ii, the mass that the row feels, makes α̂ a number without unit;
//! at 10⁷ half of all digits are left to each, and two to four passes are usual.
//!
//! Rows that depend on others would be pursued with the violation that makes them look independent. So the penalty is on as
//! many combinations of rows as the rank, orthonormal ones of the rows in unit length: α = α̂ D_r Q_r Q_rᵀ D_r with D_r J D_c = Q R
//! of `partition.rs`, which is α̂ m_i on the diagonal where no row is redundant. What is left outside of them is reported as
//! contradiction. Every call begins with λ₀ = 0, so its result does not depend on the calls before; among the λ that give v̇
//! it is the one of least norm.
//!
//! Needs nothing: any rank. Costs a QR factorization of J, a Cholesky factorization of order nv, and some passes; near a
//! singular position, where σ² α̂ is no longer large, so many passes that it gives up: larger α̂ helps. Not for large
//! models: `proximal` is this iteration with sparse factors, to its end in one step.

use super::correction::{Correction, Passes, Solvable};
use super::dense::check_finite;
use super::weakest::Weakest;
use super::{Formulation, FormulationKind, Needs};
use crate::error::{MethodError, SolveError};
use crate::findings::MethodStatistics;
use crate::kkt::{ActiveRows, Kkt};
use crate::options::{OptionDoc, Options};
use crate::partition::Partition;
use crate::problem::{Accel, Equations, Structure};
use sarrus_math::solve::{cholesky, cholesky_solve};
use std::cell::Cell;

/// α̂ where none is given.
const PENALTY: f64 = 1e7;
/// A weak penalty takes many passes; this many bring what falls by a tenth each to rounding.
const PASSES: Passes = Passes { most: 300, stall: 0.995 };
/// Residual that must be reached.
const CONVERGED: f64 = 1e-10;

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "augmented_lagrangian",
    doc: "penalty on J v̇ = γ with multipliers iterated until it vanishes, any rank",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[OptionDoc {
        name: "penalty",
        default: "1e7",
        doc: "α̂: penalty of a row relative to the mass that it feels; changes the passes, not the result",
    }],
    new: |options| Ok(Box::new(AugmentedLagrangian::new(options)?)),
};

struct AugmentedLagrangian {
    penalty: f64,
    partition: Partition,
    work: Option<AugmentedWorkspace>,
    passes: u64,
    calls: u64,
}

struct AugmentedWorkspace {
    stiff: PenalizedMass,
    correction: Correction,
    weakest: Weakest,
}

/// M + JᵀαJ and what solving with it takes.
struct PenalizedMass {
    /// By columns, then its Cholesky factor.
    K: Vec<f64>,
    /// Q_rᵀ D_r J, by columns, as many numbers each as the rank.
    J: Vec<f64>,
    /// Q_rᵀ D_r b, then α̂ (J x - b) in the same combinations.
    t: Vec<f64>,
}

impl AugmentedLagrangian {
    fn new(options: &Options) -> Result<AugmentedLagrangian, MethodError> {
        let accept = |x: f64| x > 0.0 && x.is_finite();
        let penalty = options.number("augmented_lagrangian", "penalty", "a number above 0", accept)?;
        Ok(AugmentedLagrangian {
            penalty: penalty.unwrap_or(PENALTY),
            partition: Partition::new(ActiveRows::All),
            work: None,
            passes: 0,
            calls: 0,
        })
    }
}

impl Formulation for AugmentedLagrangian {
    fn accelerations(
        &mut self,
        s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        let AugmentedWorkspace { stiff, correction, weakest } =
            self.work.get_or_insert_with(|| AugmentedWorkspace {
                stiff: PenalizedMass {
                    K: vec![0.0; s.nv * s.nv],
                    J: vec![0.0; s.nv * s.nc.min(s.nv)],
                    t: vec![0.0; s.nc.min(s.nv)],
                },
                correction: Correction::new(s),
                weakest: Weakest::new(s.nv, s.nc),
            });
        let (partition, penalty) = (&mut self.partition, self.penalty);
        check_finite(eq)?;
        partition.report_rank(s, kkt.known_rank());
        partition.factor(s, eq)?;
        stiff.update(s, eq, partition, penalty)?;
        self.calls += 1;

        let asked = Cell::new(0.0);
        let solvable = Solvable::Asked(&asked);
        let passes = correction.solve(s, eq, solvable, PASSES, out, |a, b, x, mu| {
            asked.set(stiff.solve(partition, penalty, a, b, x, mu));
        })?;
        self.passes += u64::from(passes);
        if out.residual > CONVERGED {
            return Err(SolveError::NoConvergence { iterations: passes, residual: out.residual });
        }
        correction.check(solvable)?;
        weakest.update(partition, |partition, a, b, x, mu| {
            stiff.solve(partition, penalty, a, b, x, mu);
        });
        partition.shorten(&mut out.lambda);
        Ok(())
    }

    fn statistics(&self) -> MethodStatistics {
        MethodStatistics {
            iterations: self.passes,
            rank: self.partition.statistics().rank,
            ..MethodStatistics::default()
        }
    }

    fn smallest_pivot(&self, _kkt: &Kkt) -> f64 {
        self.work.as_ref().map_or(1.0, |work| work.weakest.value())
    }

    fn factorizations(&self) -> u64 {
        self.calls + self.partition.factorizations()
    }
}

impl PenalizedMass {
    /// M + JᵀαJ, factored.
    fn update(
        &mut self,
        s: &Structure,
        eq: &Equations,
        partition: &Partition,
        penalty: f64,
    ) -> Result<(), SolveError> {
        let (nv, rank) = (s.nv, partition.rank());
        let PenalizedMass { K, J, .. } = self;
        K.fill(0.0);
        for col in &s.cols {
            for i in 0..col.size {
                let M = &eq.mass[col.mass + i * col.size..][..col.size];
                K[(col.start + i) * nv + col.start..][..col.size].copy_from_slice(M);
            }
        }
        if rank > 0 {
            J.fill(0.0);
            for (k, &j) in partition.order().iter().enumerate() {
                let (column, scale) = (&mut J[j * rank..][..rank], partition.col_scale()[j]);
                column.iter_mut().zip(partition.combined_column(k)).for_each(|(to, r)| *to = r / scale);
            }
            for (j, K) in K.chunks_exact_mut(nv).enumerate() {
                let across = &J[j * rank..][..rank];
                for (k, down) in K.iter_mut().zip(J.chunks_exact(rank)).skip(j) {
                    *k += penalty * across.iter().zip(down).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
        cholesky(K, nv).map_err(|velocity| SolveError::Mass { velocity })
    }

    /// One pass: the changes of v̇ and λ for the right-hand sides `a` (nv) and `b` (nc). Returns ‖Q_rᵀ D_r b‖, which falls
    /// with every pass.
    fn solve(
        &mut self,
        partition: &mut Partition,
        penalty: f64,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> f64 {
        let rank = partition.rank();
        let PenalizedMass { K, J, t } = self;
        let (t, columns) = (&mut t[..rank], || J.chunks_exact(rank.max(1)));
        partition.combine(b, t);
        let asked = t.iter().map(|t| t * t).sum::<f64>().sqrt();
        x.copy_from_slice(a);
        for (x, column) in x.iter_mut().zip(columns()) {
            *x += penalty * column.iter().zip(&*t).map(|(j, t)| j * t).sum::<f64>();
        }
        cholesky_solve(K, x.len(), x);
        t.iter_mut().for_each(|t| *t = -*t);
        for (x, column) in x.iter().zip(columns()) {
            t.iter_mut().zip(column).for_each(|(t, j)| *t += j * x);
        }
        t.iter_mut().for_each(|t| *t *= penalty);
        partition.spread(t, mu);
        asked
    }
}
