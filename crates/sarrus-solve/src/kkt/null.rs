//! Multipliers that move nothing: the null space of Jᵀ, and least multipliers from it.
//!
//! With S = J M⁻¹Jᵀ the steps λ ← ε (S + εI)⁻¹ λ leave the part with Jᵀλ = 0 alone and reduce an eigenvector of S with
//! eigenvalue s by ε / (s + ε): they converge to the orthogonal projection of λ on the null space, whatever rows the
//! factorization has left out. What remains of the others after some steps is taken away exactly, over the rows that
//! were kept.
//!
//! The same steps from the other side give the least λ with Jᵀλ = g: λ ← λ + (S + εI)⁻¹ J M⁻¹ (g - Jᵀλ) from λ = 0
//! never enters the null space. M is a metric for both and does not change the result, so a caller may choose one in
//! which S is well conditioned.
//!
//! Rows should be of like size: ε is relative to the largest diagonal of S. Costs a factorization, and one solution a
//! step. Allocates: meant for diagnosis, not for a stepping path.

use super::least_norm::EPSILON;
use super::{ActiveRows, Kkt, RankDemand};
use crate::error::SolveError;
use crate::problem::Equations;
use sarrus_math::solve::kernels;

/// Proximal steps, at most. A part whose eigenvalue is above ε is at least halved by each. One below is not, and ends the
/// steps as rounding does: what is left of it is taken away over the rows that were kept, and only how near to
/// orthogonal the projection is depends on it.
const STEPS: u32 = 40;
/// A step that changes less than this, relative to the largest multiplier, is the last.
const STILL: f64 = 1e-13;
/// ε of least multipliers, relative as above: small for stiff and soft rows side by side.
const LEAST: f64 = 1e-9;
/// Steps of least multipliers, at most.
const LEAST_STEPS: u32 = 60;

impl Kkt {
    /// Replaces each of `lambdas` by its part in the null space of Jᵀ, over all rows at the J of `eq`. Returns the
    /// proximal steps that the slowest of them took.
    pub fn null_parts(&mut self, eq: &Equations, lambdas: &mut [Vec<f64>]) -> Result<u32, SolveError> {
        self.factor(eq, ActiveRows::All, RankDemand::ResolveRank)?;
        let mut least = self.null_vectors();
        let epsilon = self.epsilon(EPSILON);
        self.soften(epsilon);
        let mut most = 0;
        for lambda in lambdas.iter_mut() {
            least.w.copy_from_slice(lambda);
            let mut before = f64::INFINITY;
            for step in 1..=STEPS {
                most = most.max(step);
                self.proximal_step(&mut least, epsilon);
                let size = least.w.iter().fold(0.0_f64, |size, w| size.max(w.abs()));
                let change = least.w.iter().zip(&*lambda).fold(0.0_f64, |c, (a, b)| c.max((a - b).abs()));
                lambda.copy_from_slice(&least.w);
                // what is null changes by rounding over ε at every step, and no less for more of them; what is nearly
                // null by little more
                if change <= STILL * size || change > 0.5 * before {
                    break;
                }
                before = change;
            }
            self.make_null(&mut least, eq);
            lambda.copy_from_slice(&least.w);
        }
        self.vectors = Some(least);
        if lambdas.iter().flatten().all(|x| x.is_finite()) {
            Ok(most)
        } else {
            Err(SolveError::NotFinite { quantity: "lambda", index: 0 })
        }
    }

    /// Changes `lambda` in the rows that the last [`factor`](Kkt::factor) kept, so that Jᵀλ = 0; the rows that it left
    /// out keep their multipliers. From a unit multiplier in one of those comes the only way to make up for it.
    pub fn complete_null(&mut self, eq: &Equations, lambda: &mut [f64]) {
        let mut least = self.null_vectors();
        least.w.copy_from_slice(lambda);
        self.make_null(&mut least, eq);
        lambda.copy_from_slice(&least.w);
        self.vectors = Some(least);
    }

    /// The multipliers of least norm with Jᵀμ = `g`, as far as `g` allows, over all rows at the J of `eq`. Returns
    /// what is left of g relative to g, both in the metric of M⁻¹.
    pub fn least_multipliers(
        &mut self,
        eq: &Equations,
        g: &[f64],
        mu: &mut [f64],
    ) -> Result<f64, SolveError> {
        self.factor(eq, ActiveRows::All, RankDemand::ResolveRank)?;
        let mut least = self.null_vectors();
        let epsilon = self.epsilon(LEAST);
        self.soften(epsilon);
        mu.fill(0.0);
        let (mut rest, mut scratch) = (g.to_vec(), vec![0.0; g.len()]);
        let whole = self.size_in_mass(&rest, &mut scratch);
        let mut left = whole;
        let mut best = mu.to_vec();
        for _ in 0..LEAST_STEPS {
            if left == 0.0 {
                break;
            }
            // ε (S + εI)⁻¹ of J M⁻¹ (g - Jᵀμ), over ε
            for row in &self.plan.rows {
                let w = &mut least.w[row.start..][..row.size];
                w.fill(0.0);
                for b in &self.plan.blocks[row.first..row.last] {
                    kernels::subtract_mul(w, &self.W[b.offset..], &rest[b.start..], row.size, b.size);
                }
            }
            self.proximal_step(&mut least, epsilon);
            mu.iter_mut().zip(&least.w).for_each(|(mu, w)| *mu -= w / epsilon);
            // what is left
            scratch.fill(0.0);
            eq.add_Jt_mul(&self.structure, mu, &mut scratch);
            rest.iter_mut().zip(g).zip(&scratch).for_each(|((r, g), s)| *r = g - s);
            let now = self.size_in_mass(&rest, &mut scratch);
            if !now.is_finite() {
                self.vectors = Some(least);
                return Err(SolveError::NotFinite { quantity: "lambda", index: 0 });
            }
            if now >= left {
                break;
            }
            best.copy_from_slice(mu);
            let slow = now > 0.5 * left;
            left = now;
            if slow && left <= 1e-12 * whole {
                break;
            }
        }
        mu.copy_from_slice(&best);
        self.vectors = Some(least);
        Ok(if whole > 0.0 { left / whole } else { 0.0 })
    }

    /// √(yᵀM⁻¹y).
    fn size_in_mass(&mut self, y: &[f64], scratch: &mut [f64]) -> f64 {
        self.start(y, scratch);
        y.iter().zip(&*scratch).map(|(a, b)| a * b).sum::<f64>().max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use crate::kkt::{ActiveRows, HUB_DEGREE, Kkt, RankDemand};
    use crate::problem::{Equations, Structure};

    /// Three masses in a ring of three ties, in different units: multipliers u with Σ J_i u_i = 0 are alike in each tie.
    fn ring() -> (Structure, Equations) {
        let mut b = Structure::builder();
        let cols: Vec<usize> = (0..3).map(|_| b.column(1)).collect();
        b.row(1, 1, &[cols[0], cols[1]]);
        b.row(1, 1, &[cols[1], cols[2]]);
        b.row(1, 1, &[cols[2], cols[0]]);
        let s = b.build(3, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.mass = vec![1.0, 2.0, 4.0];
        eq.minv = vec![1.0, 0.5, 0.25];
        eq.J = vec![1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
        (s, eq)
    }

    #[test]
    fn the_part_that_moves_nothing_is_the_orthogonal_one() {
        let (s, eq) = ring();
        let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
        let mut parts = vec![vec![1.0, 0.0, 0.0], vec![4.0, -2.0, 1.0]];
        kkt.null_parts(&eq, &mut parts).unwrap();
        // the null space is spanned by (4, 2, 1), of length √21
        let expected = [16.0 / 21.0, 8.0 / 21.0, 4.0 / 21.0];
        for (part, factor) in parts.iter().zip([1.0, 13.0 / 4.0]) {
            // ... and rounding alone across it
            assert!(
                (part[0] - 2.0 * part[1]).abs() < 1e-14 && (part[1] - 2.0 * part[2]).abs() < 1e-14,
                "{parts:?}"
            );
            for (w, e) in part.iter().zip(expected) {
                // rounding over ε, within the null space ...
                assert!((w - factor * e).abs() < 1e-7, "{parts:?}");
            }
        }
    }

    #[test]
    fn a_row_that_was_left_out_is_made_up_for_by_the_others() {
        let (s, eq) = ring();
        let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
        kkt.factor(&eq, ActiveRows::All, RankDemand::ResolveRank).unwrap();
        let [row] = *kkt.dependent_rows() else { panic!("{:?}", kkt.dependent_rows()) };
        let mut w = vec![0.0; 3];
        w[row] = 1.0;
        kkt.complete_null(&eq, &mut w);
        let force = [4.0, 2.0, 1.0].map(|x| x / [4.0, 2.0, 1.0][row]);
        assert!(w.iter().zip(force).all(|(w, e)| (w - e).abs() < 1e-12), "{w:?}");
        let [dropped, limit, retained] = kkt.pivots();
        assert!(dropped < 1e-14 && limit > dropped && retained > 0.1, "{:?}", kkt.pivots());
    }

    #[test]
    fn least_multipliers_have_no_part_that_moves_nothing() {
        let (s, eq) = ring();
        let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
        // of (1, 1, 1) the part across (4, 2, 1)
        let across = [4.0, 2.0, 1.0].map(|x| 1.0 - x * 7.0 / 21.0);
        let mut g = vec![0.0; 3];
        eq.add_Jt_mul(&s, &[1.0; 3], &mut g);
        let mut mu = vec![0.0; 3];
        let left = kkt.least_multipliers(&eq, &g, &mut mu).unwrap();
        assert!(left < 1e-12, "{left}");
        assert!(mu.iter().zip(across).all(|(m, e)| (m - e).abs() < 1e-7), "{mu:?}");
    }
}
