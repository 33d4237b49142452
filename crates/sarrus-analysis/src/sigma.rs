//! The smallest singular value of J M^-1/2 along a run: how far the constraints are from losing rank.
//!
//! σ² is the smallest eigenvalue but zero of S = J M⁻¹Jᵀ. Inverse iteration finds it: with the factors of \[M Jᵀ; J 0\],
//!
//! ```text
//! M x + Jᵀμ' = 0,  J x = μ        μ ← -μ' of least norm = S⁺μ        σ² ≈ |μ|²/xᵀMx
//! ```
//!
//! The quotient is Rayleigh's, of x: never below σ², and off by the square of what is wrong with x. Multipliers of least norm have no part
//! in the null space of Jᵀ, so redundant rows do not count. From sample to sample the iteration continues where it was, with a little of
//! everything mixed in: a direction that becomes the weakest is then found though it is square to the last one. Where more rows depend on others than
//! elsewhere in the run, at a singular position, the value is 0.
//!
//! Where few rows depend on others, as many null vectors of Jᵀ are found at each sample, made square to each other, and taken out of μ;
//! where there are many, the solver's own way to the least norm is shorter ([`Kkt::least_norm`]).
//!
//! Cost: a factorization and a few solutions a sample, and about two for each of few redundant rows, with many of them some dozens; no
//! whole matrices, nothing allocated after the first sample of a system. Rows keep their units, so the value depends on them: it tells of
//! a change, not of a size.

use sarrus_solve::{ActiveRows, Equations, HUB_DEGREE, Kkt, RankDemand, SolveError, Structure};

/// Iterations at a sample, at most; at the first of a system nothing is known yet.
const MOST: u32 = 6;
const MOST_FIRST: u32 = 60;
/// The value is found where an iteration changes it by less than this part; at the first sample the direction is to be as good as it gets.
const CONVERGED: f64 = 1e-6;
const CONVERGED_FIRST: f64 = 1e-12;
/// Describes how much of everything is mixed in: what that leaves after one iteration is its square.
const MIXED: f64 = 1e-3;

/// Redundant rows whose null vectors are found one by one, at most.
const FEW: usize = 16;

/// The value, and the direction that belongs to it.
#[derive(Default)]
pub struct SmallestSingular {
    kkt: Option<Kkt>,
    /// Fewest rows that were left out so far in this system.
    fewest: usize,
    /// The multipliers of the weakest direction (nc).
    mu: Vec<f64>,
    next: Vec<f64>,
    /// The motion that belongs to it, and zero (nv).
    x: Vec<f64>,
    rest: Vec<f64>,
    momentum: Vec<f64>,
    /// Null vectors of Jᵀ, square to each other and of length 1, one after the other (nc each).
    nulls: Vec<f64>,
}

impl SmallestSingular {
    /// Forgets what was found: rows are other ones from now on.
    pub fn forget(&mut self) {
        self.kkt = None;
    }

    /// σ at `eq`, of the rows of `s`; infinite where there are none.
    pub fn update(&mut self, s: &Structure, eq: &Equations) -> Result<f64, SolveError> {
        if s.nc == 0 {
            return Ok(f64::INFINITY);
        }
        let known = self.kkt.take().filter(|_| self.mu.len() == s.nc && self.x.len() == s.nv);
        let is_new = known.is_none();
        let mut kkt = match known {
            Some(kkt) => kkt,
            None => {
                self.fewest = usize::MAX;
                self.mu = vec![0.0; s.nc];
                self.next = vec![0.0; s.nc];
                (self.x, self.rest, self.momentum) = (vec![0.0; s.nv], vec![0.0; s.nv], vec![0.0; s.nv]);
                Kkt::new(s, eq, HUB_DEGREE)?
            }
        };
        let found = self.iterate(&mut kkt, s, eq, is_new);
        self.kkt = Some(kkt);
        found
    }

    fn iterate(
        &mut self,
        kkt: &mut Kkt,
        s: &Structure,
        eq: &Equations,
        first: bool,
    ) -> Result<f64, SolveError> {
        kkt.factor(eq, ActiveRows::All, RankDemand::ResolveRank)?;
        let dropped = kkt.dependent_rows().len();
        self.fewest = self.fewest.min(dropped);
        if dropped > self.fewest || dropped == s.nc {
            return Ok(0.0);
        }
        self.nulls.clear();
        if dropped <= FEW {
            self.find_nulls(kkt, s, eq);
        }
        let size = norm(&self.mu);
        for (i, mu) in self.mu.iter_mut().enumerate() {
            let retained = if size > 0.0 { *mu / size } else { 0.0 };
            *mu = retained + if first { 1.0 } else { MIXED } * anything(i) / (s.nc as f64).sqrt();
        }
        let converged = if first { CONVERGED_FIRST } else { CONVERGED };
        let mut sigma = f64::INFINITY;
        // the first may have a part that no motion has
        for i in 0..=if first { MOST_FIRST } else { MOST } {
            kkt.solve(eq, &self.rest, &self.mu, &mut self.x, &mut self.next)?;
            eq.mass_mul(s, &self.x, &mut self.momentum);
            let energy: f64 = self.momentum.iter().zip(&self.x).map(|(p, x)| p * x).sum();
            let last = std::mem::replace(&mut sigma, norm(&self.mu) / energy.max(0.0).sqrt());
            if i > 0 && (last - sigma).abs() <= converged * sigma {
                break;
            }
            if dropped <= FEW {
                self.nulls.chunks_exact(s.nc).for_each(|null| project_out(null, &mut self.next));
            } else {
                kkt.least_norm(eq, &mut self.next)?;
            }
            let size = norm(&self.next);
            if !(size > 0.0 && size.is_finite()) {
                return Ok(f64::NAN);
            }
            self.mu.iter_mut().zip(&self.next).for_each(|(mu, next)| *mu = -next / size);
        }
        Ok(sigma)
    }

    /// A null vector for each row that was left out: that and what makes up for it.
    fn find_nulls(&mut self, kkt: &mut Kkt, s: &Structure, eq: &Equations) {
        for k in 0..kkt.dependent_rows().len() {
            let row = kkt.dependent_rows()[k];
            let known = self.nulls.len();
            self.nulls.resize(known + s.nc, 0.0);
            let (others, null) = self.nulls.split_at_mut(known);
            null[row] = 1.0;
            kkt.complete_null(eq, null);
            // once more for what rounding leaves
            for _ in 0..2 {
                others.chunks_exact(s.nc).for_each(|other| project_out(other, null));
                let size = norm(null);
                null.iter_mut().for_each(|x| *x /= size);
            }
        }
    }
}

/// Takes the part along `unit` out of `z`.
fn project_out(unit: &[f64], z: &mut [f64]) {
    let along: f64 = unit.iter().zip(z.iter()).map(|(u, z)| u * z).sum();
    z.iter_mut().zip(unit).for_each(|(z, u)| *z -= along * u);
}

fn norm(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum::<f64>().sqrt()
}

/// Numbers without a pattern that a mechanism could have too.
fn anything(i: usize) -> f64 {
    (1.0 + i as f64).sin()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sarrus_math::solve::rank;

    /// A chain of unit masses on a line, each tied to the next with a weight of its own, `copies` of the first tie, and a full J.
    fn chain(n: usize, copies: usize, weak: f64) -> (Structure, Equations, Vec<f64>) {
        let mut b = Structure::builder();
        let columns: Vec<_> = (0..n).map(|_| b.column(1)).collect();
        let mut ties = vec![(0, 1); copies];
        ties.extend((1..n - 1).map(|i| (i, i + 1)));
        ties.iter().for_each(|(i, j)| {
            b.row(1, 1, &[columns[*i], columns[*j]]);
        });
        let s = b.build(n, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        (eq.mass, eq.minv) = (vec![1.0; n], vec![1.0; n]);
        let mut whole = vec![0.0; ties.len() * n];
        for (row, (i, j)) in ties.iter().enumerate() {
            let k = if row + 1 == ties.len() { weak } else { 1.0 + 0.1 * *i as f64 };
            let entries = s.rows[row].entries.clone();
            eq.J[s.entries[entries.start].offset] = k;
            eq.J[s.entries[entries.start + 1].offset] = -k;
            (whole[row * n + i], whole[row * n + j]) = (k, -k);
        }
        (s, eq, whole)
    }

    /// The smallest singular value that is not zero, from all of them.
    fn whole(s: &Structure, matrix: &[f64]) -> f64 {
        let found = rank(matrix, s.nc, s.nv, Some(1e-10)).unwrap();
        found.sigma[found.rank - 1]
    }

    #[test]
    fn it_is_the_smallest_of_all_singular_values() {
        let (s, eq, matrix) = chain(12, 1, 0.7);
        let found = SmallestSingular::default().update(&s, &eq).unwrap();
        assert!((found / whole(&s, &matrix) - 1.0).abs() < 1e-6, "{found}");
    }

    #[test]
    fn redundant_rows_do_not_count_be_they_few_or_many() {
        for copies in [3, FEW + 1, FEW + 2, 40] {
            let (s, eq, matrix) = chain(9, copies, 0.4);
            let found = SmallestSingular::default().update(&s, &eq).unwrap();
            let wanted = whole(&s, &matrix);
            assert!((found / wanted - 1.0).abs() < 1e-6, "{copies}: {found}, {wanted}");
            assert!(wanted > 0.05);
        }
    }

    /// The weakest direction of the first is square to that of the second.
    #[test]
    fn a_direction_that_becomes_the_weakest_is_found_from_sample_to_sample() {
        let mut along = SmallestSingular::default();
        for i in 0..40 {
            let (s, eq, matrix) = chain(8, 2, 2.0 * (1.0 - i as f64 / 40.0));
            let found = along.update(&s, &eq).unwrap();
            let wanted = whole(&s, &matrix);
            assert!((found / wanted - 1.0).abs() < 1e-3, "{i}: {found}, {wanted}");
        }
    }

    #[test]
    fn it_is_zero_where_the_run_has_lost_a_row() {
        let mut along = SmallestSingular::default();
        let values = [0.5, 1e-7, 0.5].map(|weak| {
            let (s, eq, _) = chain(5, 1, weak);
            along.update(&s, &eq).unwrap()
        });
        assert!(values[0] > 0.1 && values[1] < 1e-6 && values[2] > 0.1, "{values:?}");
        let (s, mut eq, _) = chain(5, 1, 0.0);
        eq.J[s.entries[s.rows[3].entries.start].offset] = 0.0;
        assert_eq!(along.update(&s, &eq), Ok(0.0));
    }
}
