//! Factorizations that leave out rows by choice, for the crossing of singular positions.

use super::{ActiveRows, Kkt, RankDemand, assemble};
use crate::error::SolveError;
use crate::problem::Equations;

impl Kkt {
    /// Diagonal of J M⁻¹Jᵀ at the last factorization (nc).
    pub(crate) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// Factors at the J of `eq` without the rows whose pivot falls below their `floor`; infinite ones are always left out. They
    /// are then the [`dependent_rows`](Kkt::dependent_rows). What was settled of the rank stays as it was.
    pub(crate) fn factor_above(&mut self, eq: &Equations, floor: &[f64]) -> Result<(), SolveError> {
        self.held = None;
        (self.rows, self.rank) = (ActiveRows::All, RankDemand::Any);
        self.load_masses(eq)?;
        loop {
            self.factorizations += 1;
            self.weigh(&eq.J)?;
            assemble(&self.plan, &self.bodies, &self.mass, &self.W, &self.Jt, self.ldl.values_mut());
            for row in &self.plan.rows {
                self.floor[row.at..][..row.size].copy_from_slice(&floor[row.start..][..row.size]);
            }
            self.eliminate(RankDemand::Any)?;
            if !self.factor_waiting(eq)? {
                return Ok(());
            }
        }
    }

    /// The least x, in the metric of M, with J x = `b` over the rows that the last factorization kept, and M x + Jᵀμ = 0.
    pub(crate) fn nearest(
        &mut self,
        eq: &Equations,
        rest: &[f64],
        b: &[f64],
        x: &mut [f64],
        mu: &mut [f64],
    ) -> Result<(), SolveError> {
        self.solve_once(eq, rest, b, x, mu).map(|_| ())
    }

    /// μ of [`nearest`](Kkt::nearest) as the factors give it, without refinement.
    pub(crate) fn multipliers_once(&mut self, b: &[f64], mu: &mut [f64]) {
        let z = &mut self.work.z;
        for row in &self.plan.rows {
            let from = &b[row.start..][..row.size];
            z[row.at..][..row.size].iter_mut().zip(from).for_each(|(z, b)| *z = -b);
        }
        for hub in &self.plan.hubs {
            z[hub.at..][..self.bodies[hub.col].size].fill(0.0);
        }
        self.ldl.solve(z);
        for row in &self.plan.rows {
            mu[row.start..][..row.size].copy_from_slice(&z[row.at..][..row.size]);
        }
    }
}
