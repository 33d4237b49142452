//! Describes how far contacts that all bear and stick are from letting go, where forces are not unique.
//!
//! Forces κ with W κ + b = 0 keep every contact as it is. Where rows are redundant they form a family κ₀ + Z y, and contacts let go
//! only when no member of it pushes everywhere within Coulomb's cones. The margin is
//!
//! ```text
//! max over y of  min over contacts of  κ_n  and  μ κ_n - |κ_t|
//! ```
//!
//! a linear program in the plane, one over second-order cones in space. It is positive while some member is inside all cones. Where
//! W κ + b = 0 has no solution it is negative: the residual, relative to b, in units of the forces.

use super::{ContactStatus, Contacts, DEPENDENT, SOLVED, norm};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
    SupportedConeT,
};
use sarrus_math::solve::Svd;

/// Accuracy that the program is solved to, relative.
const EXACT: f64 = 1e-11;

impl Contacts<'_> {
    /// The margin by which all of them can continue as they do, in units of κ, and the size of κ. Not finite where it is not found.
    pub fn margin(&self) -> (f64, f64) {
        let n = self.rows();
        if n == 0 {
            return (f64::INFINITY, 0.0);
        }
        let mut svd = Svd::full(n, n);
        if self.W.iter().chain(self.b).any(|x| !x.is_finite()) || svd.factor(self.W).is_err() {
            return (f64::NAN, 0.0);
        }
        let rank = svd.sigma().iter().filter(|s| **s > DEPENDENT * svd.sigma()[0]).count();
        let minus: Vec<f64> = self.b.iter().map(|b| -b).collect();
        let mut kappa = vec![0.0; n];
        svd.solve(rank, &minus, &mut kappa);
        let size = norm(&kappa);
        let left = norm(&self.rates(&kappa));
        if !(left <= SOLVED * norm(self.b)) {
            return (-left / norm(self.b) * size.max(f64::MIN_POSITIVE), size);
        }
        let first = self.starts();
        if rank == n || size == 0.0 {
            return (self.least(&kappa, &first), size);
        }
        let nulls: Vec<Vec<f64>> = (rank..n).map(|i| svd.right(i).to_vec()).collect();
        let all = vec![ContactStatus::Stick; first.len()];
        // the margin of the forces themselves holds whatever the program's accuracy is
        let best = self.innermost(&kappa, &nulls, &first, &all);
        (best.map_or(f64::NAN, |kappa| self.least(&kappa, &first)), size)
    }

    /// The margin of one κ.
    fn least(&self, kappa: &[f64], first: &[usize]) -> f64 {
        let each = self.points.iter().zip(first).map(|(point, &i)| match point.across {
            0 => kappa[i],
            across => kappa[i].min(point.mu * kappa[i] - norm(&kappa[i + 1..][..across])),
        });
        each.fold(f64::INFINITY, f64::min)
    }

    /// The member of κ + Z y with the largest margin, no larger than κ: of contacts that bear κ_n, of those that stick also μ κ_n - |κ_t|.
    pub(super) fn innermost(
        &self,
        kappa: &[f64],
        nulls: &[Vec<f64>],
        first: &[usize],
        status: &[ContactStatus],
    ) -> Option<Vec<f64>> {
        let size = norm(kappa);
        if nulls.is_empty() || size == 0.0 {
            return None;
        }
        // x = (y, m) in units of `size`; rows s = c - A x lie in the cones
        let columns = nulls.len() + 1;
        let (mut A, mut c, mut cones): (Vec<Vec<f64>>, Vec<f64>, Vec<SupportedConeT<f64>>) =
            (vec![], vec![], vec![]);
        let mut row = |i: usize, factor: f64, margin: f64| {
            let mut own: Vec<f64> = nulls.iter().map(|z| -factor * z[i]).collect();
            own.push(margin);
            A.push(own);
            c.push(factor * kappa[i] / size);
        };
        for ((point, &i), status) in self.points.iter().zip(first).zip(status) {
            if *status == ContactStatus::Open {
                continue;
            }
            row(i, 1.0, 1.0);
            cones.push(NonnegativeConeT(1));
            if point.across > 0 && *status == ContactStatus::Stick {
                row(i, point.mu, 1.0);
                (1..=point.across).for_each(|k| row(i + k, 1.0, 0.0));
                cones.push(SecondOrderConeT(1 + point.across));
            }
        }
        // forces that hold each other may be as large as one likes
        let mut cap = vec![0.0; columns];
        cap[columns - 1] = 1.0;
        A.push(cap);
        c.push(1.0);
        cones.push(NonnegativeConeT(1));
        let (mut colptr, mut rowval, mut nzval) = (vec![0], Vec::new(), Vec::new());
        for j in 0..columns {
            for (i, row) in A.iter().enumerate().filter(|(_, row)| row[j] != 0.0) {
                rowval.push(i);
                nzval.push(row[j]);
            }
            colptr.push(rowval.len());
        }
        let A = CscMatrix::new(c.len(), columns, colptr, rowval, nzval);
        let P = CscMatrix::zeros((columns, columns));
        let mut q = vec![0.0; columns];
        q[columns - 1] = -1.0;
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: EXACT,
            tol_gap_rel: EXACT,
            tol_feas: EXACT,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&P, &q, &A, &c, &cones, settings).ok()?;
        solver.solve();
        if !matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
            return None;
        }
        let mut best = kappa.to_vec();
        for (y, z) in solver.solution.x.iter().zip(nulls) {
            best.iter_mut().zip(z).for_each(|(k, z)| *k += y * size * z);
        }
        Some(best)
    }
}
