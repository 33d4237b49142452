//! Coordinate partitioning: the equations of motion of the independent velocities alone [Wehage1982],
//! [Park1990, eqs. 14-19].
//!
//! With J v̇ = γ solved for the dependent velocities u, v̇ = E v̇_e + G, where E = [-J_u⁺J_e; I] and G = [J_u⁺γ; 0],
//!
//! EᵀM E v̇_e = Eᵀ(f - M G),  J_uᵀλ = (f - M v̇)_u,
//!
//! which is eq. 17 of \[Park1990\], (M_e + TᵀM_i T) v̇_e = f_e - Tᵀf_i + TᵀM_i B_i⁻¹γ, with T = J_u⁺J_e, also for bodies of
//! which some velocities are dependent and some are not, where M couples u and e. The residuals of both equations are
//! corrected until they are rounding; then λ is made the one of least norm, which on the constraints does the same.
//!
//! Takes J of any rank: J_u⁺ is a least-squares solution over all rows, and rows that contradict each other are an error.
//! Dependent velocities are chosen by pivoting, kept, and chosen again where J_u asks for it (see `partition.rs`);
//! the report says how often. Cost: dense, O(nc nv r + nv (nv - r)²) for rank r. Not for large models: use `proximal`.

use super::correction::{Correction, REFINE, Solvable};
use super::weakest::Weakest;
use super::{Formulation, FormulationKind, Needs};
use crate::error::SolveError;
use crate::findings::MethodStatistics;
use crate::kkt::{ActiveRows, Kkt};
use crate::partition::Partition;
use crate::problem::{Accel, Equations, Structure};
use sarrus_math::solve::{cholesky, cholesky_solve};

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "partitioned",
    doc: "equations of independent velocities, chosen by pivoting",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(PartitionedFormulation { partition: Partition::new(ActiveRows::All), work: None })),
};

struct PartitionedFormulation {
    partition: Partition,
    work: Option<PartitionedWorkspace>,
}

struct PartitionedWorkspace {
    reduced: IndependentEquations,
    correction: Correction,
    weakest: Weakest,
}

/// The equations of the independent velocities.
#[derive(Default)]
struct IndependentEquations {
    /// E, column by column (nv each).
    E: Vec<f64>,
    /// EᵀM E, factored.
    H: Vec<f64>,
    /// M times something (nv).
    momentum: Vec<f64>,
    /// v̇_e.
    y: Vec<f64>,
}

impl Formulation for PartitionedFormulation {
    fn accelerations(
        &mut self,
        s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        let PartitionedWorkspace { reduced, correction, weakest } =
            self.work.get_or_insert_with(|| PartitionedWorkspace {
                reduced: IndependentEquations {
                    momentum: vec![0.0; s.nv],
                    ..IndependentEquations::default()
                },
                correction: Correction::new(s),
                weakest: Weakest::new(s.nv, s.nc),
            });
        let partition = &mut self.partition;
        partition.report_rank(s, kkt.known_rank());
        partition.factor(s, eq)?;
        reduced.update(s, eq, partition)?;
        let solvable = if partition.is_redundant() { Solvable::Range } else { Solvable::All };
        correction.solve(s, eq, solvable, REFINE, out, |a, b, x, mu| {
            reduced.solve(s, eq, partition, a, b, x, mu);
        })?;
        weakest.update(partition, |partition, a, b, x, mu| reduced.solve(s, eq, partition, a, b, x, mu));
        correction.check(solvable)?;
        partition.shorten(&mut out.lambda);
        Ok(())
    }

    fn smallest_pivot(&self, _kkt: &Kkt) -> f64 {
        self.work.as_ref().map_or(1.0, |work| work.weakest.value())
    }

    fn factorizations(&self) -> u64 {
        self.partition.factorizations()
    }

    fn statistics(&self) -> MethodStatistics {
        self.partition.statistics().clone()
    }
}

impl IndependentEquations {
    /// E, and EᵀM E factored.
    fn update(&mut self, s: &Structure, eq: &Equations, partition: &Partition) -> Result<(), SolveError> {
        let IndependentEquations { E, H, momentum, y } = self;
        let (rank, scale, qr) = (partition.rank(), partition.col_scale(), partition.factors());
        let independent = partition.independent();
        let n = independent.len();
        y.resize(n.max(rank), 0.0);
        E.clear();
        E.resize(n * s.nv, 0.0);
        H.clear();
        H.resize(n * n, 0.0);
        for (k, &e) in independent.iter().enumerate() {
            // the column over √M_ee, so that EᵀM E is about one on its diagonal
            let column = &mut E[k * s.nv..][..s.nv];
            let T = &mut y[..rank];
            T.copy_from_slice(&qr.column(rank + k)[..rank]);
            qr.solve_r(T);
            partition.dependent().iter().zip(T).for_each(|(&u, t)| column[u] = -scale[u] * *t);
            column[e] = scale[e];
        }
        for k in 0..n {
            eq.mass_mul(s, &E[k * s.nv..][..s.nv], momentum);
            for i in k..n {
                H[k * n + i] = dot(&E[i * s.nv..][..s.nv], momentum);
            }
        }
        cholesky(H, n).map_err(|k| SolveError::Mass { velocity: independent[k] })
    }

    /// v̇ and λ for the right-hand sides `a` (nv) and `b` (nc).
    fn solve(
        &mut self,
        s: &Structure,
        eq: &Equations,
        partition: &mut Partition,
        a: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) {
        let IndependentEquations { E, H, momentum, y } = self;
        let n = partition.independent().len();
        let left = |x: &[f64], momentum: &mut [f64]| {
            eq.mass_mul(s, x, momentum);
            momentum.iter_mut().zip(a).for_each(|(p, a)| *p = a - *p);
        };
        partition.solve(b, x);
        left(x, momentum);
        let y = &mut y[..n];
        let columns = || E.chunks_exact(s.nv.max(1));
        y.iter_mut().zip(columns()).for_each(|(y, column)| *y = dot(column, momentum));
        cholesky_solve(H, n, y);
        for (y, column) in y.iter().zip(columns()) {
            x.iter_mut().zip(column).for_each(|(x, e)| *x += e * y);
        }
        left(x, momentum);
        partition.solve_transposed(momentum, mu);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
