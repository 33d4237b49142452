//! Whether multipliers stay bounded at a singular position.
//!
//! Where the load across the branches does not vanish there, λ ≈ R / (t - t*) is the true answer of rigid bodies. Then (t - t*) λ, of
//! the dangerous rows, is smooth: its value at t* is the residue R, found by least squares with a parabola over states on the
//! constraints on both sides of it. A residue that is small against what λ does elsewhere in the window is none.

use super::Danger;
use super::part::Part;

/// A residue below this part of the largest (t - t*) λ is none: the error of the fit.
const NONE: f64 = 0.03;

/// Sums over evaluations in a window.
#[derive(Debug, Clone, Default)]
pub struct Pole {
    part: usize,
    count: usize,
    /// Σ xᵏ, x = (t - t*) / τ.
    powers: [f64; 5],
    /// Σ xᵏ y for each row, y = (t - t*) λ.
    moments: [Vec<f64>; 3],
    /// Largest |λ| times τ.
    largest: f64,
}

impl Pole {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if self.count > 0 {
            *self = Pole::default();
        }
    }

    /// Takes note of `lambda` in the part `i`; the window is of half width `tau` \\[s\\].
    pub fn add(&mut self, i: usize, part: &Part, danger: &Danger, lambda: &[f64], tau: f64) {
        if self.count > 0 && self.part != i {
            return;
        }
        (self.part, self.count) = (i, self.count + 1);
        self.moments.iter_mut().for_each(|m| m.resize(part.nc(), 0.0));
        let x = -danger.ahead / tau;
        let mut power = 1.0;
        for (k, sum) in self.powers.iter_mut().enumerate() {
            *sum += power;
            if let Some(moment) = self.moments.get_mut(k) {
                for j in 0..danger.len() {
                    let u = danger.u(j);
                    let along: f64 = u.iter().zip(lambda).map(|(a, b)| a * b).sum();
                    moment.iter_mut().zip(u).for_each(|(m, u)| *m -= power * danger.ahead * along * u);
                }
            }
            power *= x;
        }
        let most = lambda.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        self.largest = self.largest.max(most * danger.ahead.abs());
    }

    /// The largest residue and its row, where there is any.
    pub fn residue(&self, parts: &[Part]) -> Option<(f64, usize)> {
        if self.count < 4 {
            return None;
        }
        let p = &self.powers;
        let H = [[p[0], p[1], p[2]], [p[1], p[2], p[3]], [p[2], p[3], p[4]]];
        // the first row of H⁻¹, by cofactors
        let minor = |a: usize, b: usize| H[1][a] * H[2][b] - H[1][b] * H[2][a];
        let first = [minor(1, 2), -minor(0, 2), minor(0, 1)];
        let det: f64 = (0..3).map(|k| H[0][k] * first[k]).sum();
        let part = &parts[self.part];
        let mut most = (0.0_f64, 0);
        for (i, &row) in part.rows.iter().enumerate() {
            // H is symmetric: the cofactors of its first row are those of its first column
            let R = (0..3).map(|k| first[k] * self.moments[k][i]).sum::<f64>() / det;
            if R.abs() > most.0 {
                most = (R.abs(), row);
            }
        }
        (most.0 > NONE * self.largest).then_some(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Structure;

    fn seen(lambda: impl Fn(f64) -> f64) -> Option<(f64, usize)> {
        let mut b = Structure::builder();
        b.column(1);
        b.row(1, 1, &[0]);
        let parts = Part::all(&b.build(1, 0).unwrap());
        let mut pole = Pole::default();
        for k in 0..9 {
            let x = 0.01 * (f64::from(k) - 3.7);
            let danger = Danger {
                U: vec![1.0],
                sigma: vec![x.abs()],
                rate: vec![1.0],
                ahead: -x,
                rank: 1,
                largest: 1.0,
            };
            pole.add(0, &parts[0], &danger, &[lambda(x)], 0.05);
        }
        pole.residue(&parts)
    }

    #[test]
    fn a_multiplier_without_bound_has_its_residue() {
        let (residue, row) = seen(|x| -0.4 / x + 3.0 - 2.0 * x).unwrap();
        assert!((residue - 0.4).abs() < 1e-10 && row == 0, "{residue}");
    }

    #[test]
    fn a_bounded_multiplier_has_none() {
        assert_eq!(seen(|x| 3.0 - 2.0 * x), None);
    }
}
