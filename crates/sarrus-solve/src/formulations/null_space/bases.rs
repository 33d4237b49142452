//! The decompositions Aᵀ = [Y Z] [T; 0] of the null-space formulation.

use super::NullSpaceBasis;
use crate::error::SolveError;
use crate::problem::Structure;
use crate::rank::RankKeeper;
use sarrus_math::solve::{PivotedQr, Svd};

/// Singular vectors: Y are the right ones, T = Σ Uᵀ.
pub(super) struct SingularVectors {
    svd: Svd,
    r: usize,
}

impl NullSpaceBasis for SingularVectors {
    fn new(s: &Structure) -> SingularVectors {
        SingularVectors { svd: Svd::full(s.nc, s.nv), r: 0 }
    }

    fn factor(&mut self, A: &[f64], rank: &mut RankKeeper, violation: f64) -> Result<usize, SolveError> {
        self.svd.factor(A)?;
        self.r = rank.decide(self.svd.sigma().iter().copied(), violation);
        Ok(self.r)
    }

    fn solve(&mut self, w: &[f64], b: &[f64], x: &mut [f64], mu: &mut [f64]) {
        x.fill(0.0);
        mu.fill(0.0);
        let nv = x.len();
        for i in 0..nv {
            let right = self.svd.right(i);
            let mut part = dot(right, w);
            if i < self.r {
                let (left, sigma) = (self.svd.left(i), self.svd.sigma()[i]);
                let y = dot(left, b) / sigma;
                add_scaled(mu, (part - y) / sigma, left);
                part = y;
            }
            add_scaled(x, part, right);
        }
    }
}

/// Reflections Q = [Y Z] of the columns of Aᵀ, with T = R Pᵀ, P the order in which columns were taken.
struct Reflections {
    qr: PivotedQr,
    /// Of Tᵀ, in that order, where it has more rows than columns.
    wide: PivotedQr,
    nv: usize,
    nc: usize,
    r: usize,
    /// Right-hand sides and solutions in the order of R (nc).
    b: Vec<f64>,
    y: Vec<f64>,
}

impl Reflections {
    fn new(s: &Structure) -> Reflections {
        Reflections {
            qr: PivotedQr::default(),
            wide: PivotedQr::default(),
            nv: s.nv,
            nc: s.nc,
            r: 0,
            b: vec![0.0; s.nc],
            y: vec![0.0; s.nc],
        }
    }

    fn fill(&mut self, A: &[f64]) {
        self.qr.reset(self.nv, self.nc);
        if self.nv > 0 {
            A.chunks_exact(self.nv)
                .enumerate()
                .for_each(|(j, row)| self.qr.column_mut(j).copy_from_slice(row));
        }
    }

    /// Takes the first `r` directions of Q as Y.
    fn split(&mut self, r: usize) {
        self.r = r;
        if r == self.nc {
            return;
        }
        self.wide.reset(self.nc, r);
        for j in 0..self.nc {
            let column = self.qr.column(j);
            for i in 0..r.min(j + 1) {
                self.wide.column_mut(i)[j] = column[i];
            }
        }
        self.wide.factor(r);
    }

    fn solve(&mut self, w: &[f64], b: &[f64], x: &mut [f64], mu: &mut [f64]) {
        let Reflections { qr, wide, r, b: right, y, .. } = self;
        let order = qr.order();
        right.iter_mut().zip(order).for_each(|(x, j)| *x = b[*j]);
        x.copy_from_slice(w);
        qr.mul_qt(x);
        let y = &mut y[..*r];
        if *r == right.len() {
            y.copy_from_slice(right);
            qr.solve_rt(y);
            // what is left of the forces, then multipliers in place of the right-hand side
            right.iter_mut().zip(&*x).zip(&*y).for_each(|((m, w), y)| *m = w - y);
            qr.solve_r(right);
        } else {
            wide.mul_qt(right);
            wide.solve_r(&mut right[..*r]);
            (0..*r).for_each(|k| y[wide.order()[k]] = right[k]);
            (0..*r).for_each(|k| right[k] = x[wide.order()[k]] - y[wide.order()[k]]);
            wide.solve_rt(&mut right[..*r]);
            right[*r..].fill(0.0);
            wide.mul_q(right);
        }
        order.iter().zip(&*right).for_each(|(j, m)| mu[*j] = *m);
        x[..*r].copy_from_slice(y);
        qr.mul_q(x);
    }
}

/// The longest remaining row next.
pub(super) struct Pivoted(Reflections);

impl NullSpaceBasis for Pivoted {
    fn new(s: &Structure) -> Pivoted {
        Pivoted(Reflections::new(s))
    }

    fn factor(&mut self, A: &[f64], rank: &mut RankKeeper, violation: f64) -> Result<usize, SolveError> {
        self.0.fill(A);
        let qr = &mut self.0.qr;
        qr.factor(self.0.nc);
        let r = rank.decide((0..qr.steps()).map(|k| qr.pivot(k)), violation);
        self.0.split(r);
        Ok(r)
    }

    fn solve(&mut self, w: &[f64], b: &[f64], x: &mut [f64], mu: &mut [f64]) {
        self.0.solve(w, b, x, mu);
    }
}

/// Rows in their order, those passed over that depend on the ones before.
pub(super) struct Staircase {
    reflections: Reflections,
    /// Marks whether a row took part at the last decision.
    accepted: Vec<Option<bool>>,
    /// Holds what the others left of each row, longest first.
    lengths: Vec<f64>,
}

impl NullSpaceBasis for Staircase {
    fn new(s: &Structure) -> Staircase {
        Staircase {
            reflections: Reflections::new(s),
            accepted: vec![None; s.nc],
            lengths: Vec::with_capacity(s.nc),
        }
    }

    fn factor(&mut self, A: &[f64], rank: &mut RankKeeper, violation: f64) -> Result<usize, SolveError> {
        let Staircase { reflections, accepted, lengths } = self;
        reflections.fill(A);
        let qr = &mut reflections.qr;
        let longest = (0..accepted.len()).map(|j| dot(qr.column(j), qr.column(j)).sqrt()).fold(0.0, f64::max);
        lengths.clear();
        qr.factor_in_order(|j, length| {
            lengths.push(length);
            let relative = if longest > 0.0 { length / longest } else { 0.0 };
            let counts = rank.counts(relative, accepted[j], violation);
            // a row that is left out only as long as a singular position lasts comes back after it
            accepted[j] = Some(counts || accepted[j] == Some(true));
            counts
        });
        let r = qr.steps();
        lengths.sort_unstable_by(|a, b| b.total_cmp(a));
        rank.decide(lengths.iter().copied(), violation);
        reflections.split(r);
        Ok(r)
    }

    fn solve(&mut self, w: &[f64], b: &[f64], x: &mut [f64], mu: &mut [f64]) {
        self.reflections.solve(w, b, x, mu);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::FLOOR;

    fn ranks<B: NullSpaceBasis>() -> Vec<usize> {
        let mut b = Structure::builder();
        b.column(2);
        b.row(2, 2, &[0]);
        let s = b.build(2, 0).unwrap();
        let (mut basis, mut rank) = (B::new(&s), RankKeeper::new(&s, FLOOR));
        let at = [(0.1, 0.0), (1e-4, 1e-5), (1e-12, 1e-12), (1e-4, 1e-5), (0.1, 0.0)];
        at.iter().map(|(x, off)| basis.factor(&[1.0, 0.0, 1.0, *x], &mut rank, *off).unwrap()).collect()
    }

    /// Beside the singular position the violation would explain what is left of the second row.
    #[test]
    fn a_row_is_left_out_only_as_long_as_a_singular_position_lasts() {
        assert_eq!(ranks::<Staircase>(), [2, 2, 1, 2, 2]);
        assert_eq!(ranks::<Pivoted>(), [2, 2, 1, 2, 2]);
        assert_eq!(ranks::<SingularVectors>(), [2, 2, 1, 2, 2]);
    }
}
