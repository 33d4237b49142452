//! S + ε diag(S), for methods that want multipliers at any rank at the price of one factorization and no decisions.
//!
//! ε is relative to each row's own diagonal of S = J M⁻¹Jᵀ, so that it has no unit and rows in metres and in radians are
//! treated alike. A row that depends on others keeps a pivot of ε, and what its equation asks in vain is divided by that:
//! large multipliers, but ones that Jᵀ does not see.

use super::{ActiveRows, Kkt, RankDemand, assemble};
use crate::error::SolveError;
use crate::problem::Equations;
use sarrus_math::solve::SmallPivot;
use sarrus_math::solve::kernels::Action;

/// Inverse iterations for the smallest eigenvalue.
const ITERATIONS: u32 = 6;

impl Kkt {
    /// Factors S + ε diag(S) at the J of `eq`, for [`solve_soft`](Kkt::solve_soft). Does not allocate.
    pub fn factor_soft(&mut self, eq: &Equations, epsilon: f64) -> Result<(), SolveError> {
        if let Some(held) = self.held.take() {
            self.scratch = held;
        }
        (self.rows, self.rank) = (ActiveRows::All, RankDemand::Any);
        self.factorizations += 1;
        self.load_masses(eq)?;
        self.weigh(&eq.J)?;
        assemble(&self.plan, &self.bodies, &self.mass, &self.W, &self.Jt, self.ldl.values_mut());

        // a row without any velocity, as at a singular position, takes the largest ε of all
        let largest = self.scale.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let K = self.ldl.values_mut();
        for row in &self.plan.rows {
            for i in 0..row.size {
                let scale = &mut self.scale[row.start + i];
                if *scale <= 0.0 {
                    *scale = largest;
                }
                K[row.diagonal + i * (row.size + 1)] += epsilon * *scale;
                self.floor[row.at + i] = 0.5 * epsilon * *scale;
            }
        }
        let Kkt { plan, ldl, scale, floor, weight, .. } = self;
        // rounding may eat ε: put it back
        let decide = |small: SmallPivot, _: &[(usize, f64)]| {
            if small.node >= plan.rows.len() || !small.value.is_finite() {
                return Action::Stop;
            }
            Action::Use(epsilon * scale[plan.node_start[small.node] + small.row])
        };
        ldl.factor(floor, weight, decide).map_err(|bad| {
            let i = plan.node_start[bad.node] + bad.row;
            if bad.node < plan.rows.len() {
                SolveError::RankDeficient { row: i, pivot: bad.value, scale: scale[i] }
            } else {
                SolveError::Mass { velocity: i }
            }
        })
    }

    /// μ = (J M⁻¹Jᵀ + ε diag)⁻¹ r with the factors of the last [`factor_soft`](Kkt::factor_soft). Does not allocate.
    pub fn solve_soft(&mut self, r: &[f64], mu: &mut [f64]) {
        let z = &mut self.work.z;
        z.fill(0.0);
        // a row has a few numbers: a loop is quicker than a copy
        for row in &self.plan.rows {
            let r = &r[row.start..][..row.size];
            z[row.at..][..row.size].iter_mut().zip(r).for_each(|(z, r)| *z = *r);
        }
        self.ldl.solve(z);
        for row in &self.plan.rows {
            let z = &z[row.at..][..row.size];
            mu[row.start..][..row.size].iter_mut().zip(z).for_each(|(mu, z)| *mu = *z);
        }
    }

    /// The smallest eigenvalue of S over its diagonal, on the rows that are independent at the J of `eq`, and how many are
    /// not: S y = σ diag(S) y by inverse iteration, from above. Allocates; for the start of a run.
    pub fn conditioning(&mut self, eq: &Equations) -> Result<(f64, usize), SolveError> {
        self.factor(eq, ActiveRows::All, RankDemand::ResolveRank)?;
        let (a, mut x) = (vec![0.0; eq.f.len()], vec![0.0; eq.f.len()]);
        // any start that no symmetry of a mechanism shares
        let mut y: Vec<f64> = (0..self.nc).map(|i| ((i as f64 + 1.0) * 0.618_034).fract() - 0.3).collect();
        let (mut b, mut mu) = (vec![0.0; self.nc], vec![0.0; self.nc]);
        let mut least = 1.0_f64;
        for _ in 0..ITERATIONS {
            // M x + Jᵀμ = 0, J x = -D y
            for (i, b) in b.iter_mut().enumerate() {
                *b = if self.is_dropped[i] { 0.0 } else { -self.scale[i] * y[i] };
            }
            let size = y.iter().zip(&b).map(|(y, b)| -y * b).sum::<f64>();
            if size <= 0.0 {
                break;
            }
            self.solve(eq, &a, &b, &mut x, &mut mu)?;
            let grown: f64 = mu.iter().zip(&self.scale).map(|(m, d)| m * m * d).sum();
            if !(grown > 0.0 && grown.is_finite()) {
                break;
            }
            least = least.min((size / grown).sqrt());
            let unit = 1.0 / grown.sqrt();
            y.iter_mut().zip(&mu).for_each(|(y, m)| *y = unit * m);
        }
        Ok((least, self.dropped.len()))
    }
}
