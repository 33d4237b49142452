//! Solutions with the factors Q R of D_r J_u D_c.
//!
//! Q_r are the first r columns of Q. The others, as Z = D_r Q_(r..m), span what Jᵀ does not see, Jᵀμ = 0, so that b can be had by
//! J δ only if Zᵀb = 0. What b has in the span of Z is a contradiction between rows and is taken from it, b - Z Z⁺b, which is
//! the least change in all rows alike. Then Q_rᵀ D_r J δ = Q_rᵀ D_r b determines δ_u. J_uᵀμ = c has the solution in the
//! range of D_r Q_r, and b - Z Z⁺b again makes it the shortest.
//!
//! Were the least change sought in rows of unit length, redundant rows would drift apart off the constraints: a light
//! direction of a body makes a row long, and long rows would be left with most of the contradiction.

use super::Partition;

impl Partition {
    /// δ with J δ = `b` over the rows that take part (`b` has all rows, nc), in least squares, and δ_e = 0.
    pub fn solve(&mut self, b: &[f64], delta: &mut [f64]) {
        let rank = self.rank;
        self.combine_in_place(b);
        self.qr.solve_r(&mut self.b[..rank]);
        delta.fill(0.0);
        for (&j, x) in self.order.iter().zip(&self.b[..rank]) {
            delta[j] = self.col_scale[j] * x;
        }
    }

    /// A μ (nc) with J_uᵀμ = c_u (`c` has all velocities, nv): the one in the range of D_r Q_r.
    pub fn solve_transposed(&mut self, c: &[f64], mu: &mut [f64]) {
        let Partition { b, order, col_scale, qr, rank, .. } = self;
        for (to, &j) in b.iter_mut().zip(&order[..*rank]) {
            *to = col_scale[j] * c[j];
        }
        qr.solve_rt(&mut b[..*rank]);
        self.spread_in_place(mu);
    }

    /// t = Q_rᵀ D_r (b - Z Z⁺b), for `b` (nc) over the rows that take part: as many combinations of rows as the rank, of
    /// which none is determined by the others.
    pub fn combine(&mut self, b: &[f64], t: &mut [f64]) {
        self.combine_in_place(b);
        t.copy_from_slice(&self.b[..self.rank]);
    }

    /// The same, left at the beginning of `b`.
    fn combine_in_place(&mut self, b: &[f64]) {
        self.project(b);
        self.b.iter_mut().zip(&self.row_scale).for_each(|(b, scale)| *b *= scale);
        self.qr.mul_qt(&mut self.b);
    }

    /// b - Z Z⁺b over the rows that take part, into `b`.
    fn project(&mut self, b: &[f64]) {
        let Partition { b: to, taking_part, null, rank, .. } = self;
        to.iter_mut().zip(&*taking_part).for_each(|(to, &i)| *to = b[i]);
        let contradictions = taking_part.len() - *rank;
        if contradictions > 0 {
            null.mul_qt(to);
            to[..contradictions].fill(0.0);
            null.mul_q(to);
        }
    }

    /// μ = D_r Q_r t (nc), the multipliers of rows from those of their combinations.
    pub fn spread(&mut self, t: &[f64], mu: &mut [f64]) {
        self.b[..self.rank].copy_from_slice(t);
        self.spread_in_place(mu);
    }

    /// The same for a t at the beginning of `b`.
    fn spread_in_place(&mut self, mu: &mut [f64]) {
        self.b[self.rank..].fill(0.0);
        self.qr.mul_q(&mut self.b);
        mu.fill(0.0);
        for ((&i, b), scale) in self.taking_part.iter().zip(&self.b).zip(&self.row_scale) {
            mu[i] = scale * b;
        }
    }

    /// Column of Q_rᵀ D_r J D_c for the velocity in place `k` of the order, up to its last number that is not zero.
    pub fn combined_column(&self, k: usize) -> &[f64] {
        &self.qr.column(k)[..self.rank.min(k + 1)]
    }

    /// Makes `mu` (nc) the shortest with the same Jᵀμ.
    pub fn shorten(&mut self, mu: &mut [f64]) {
        if self.is_redundant() {
            self.project(mu);
            self.taking_part.iter().zip(&self.b).for_each(|(&i, b)| mu[i] = *b);
        }
    }

    /// Factors Z, where there is one.
    pub(super) fn find_null(&mut self) {
        let (rank, m) = (self.rank, self.taking_part.len());
        let Partition { qr, null, row_scale, .. } = self;
        null.reset(m, m - rank);
        for k in 0..m - rank {
            let z = null.column_mut(k);
            z[rank + k] = 1.0;
            qr.mul_q(z);
            z.iter_mut().zip(&*row_scale).for_each(|(z, scale)| *z *= scale);
        }
        null.factor(m - rank);
    }
}
