//! Whether multipliers stay bounded at a singular position.
//!
//! Where the load across the branches does not vanish there, λ ≈ R / (t - t*) is the true answer of rigid bodies. Then (t - t*) λ, of
//! the dangerous rows, is smooth: its value at t* is the residue R, found by least squares with a parabola over states on the
//! constraints on both sides of it. A residue that is small against what λ does elsewhere in the window is none.

use super::Danger;
use super::part::Part;

/// A residue below this part of the largest (t - t*) λ is none: the error of the fit.
const NONE: f64 = 0.03;

/// Sums over states in a window.
#[derive(Debug, Clone, Default)]
pub struct Pole {
    part: usize,
    count: usize,
    /// Σ xᵏ, x = (t - t*) / τ.
    powers: [f64; 5],
    /// Σ xᵏ y for each row, y = (t - t*) λ.
    moments: [Vec<f64>; 3],
    /// Largest |(t - t*) λ|.
    largest: f64,
    /// τ \[s\].
    tau: f64,
}

impl Pole {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if self.count > 0 {
            *self = Pole::default();
        }
    }

    /// Takes note of `lambda` in the part `i`; the window is of half width `tau` \[s\].
    pub fn add(&mut self, i: usize, part: &Part, danger: &Danger, lambda: &[f64], tau: f64) {
        if self.count > 0 && self.part != i {
            return;
        }
        (self.part, self.count, self.tau) = (i, self.count + 1, tau);
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

    /// Weights of the moments that give the coefficient `k` of the parabola; none where too little was seen.
    fn weights(&self, k: usize) -> Option<[f64; 3]> {
        if self.count < 4 {
            return None;
        }
        let p = &self.powers;
        let H = [[p[0], p[1], p[2]], [p[1], p[2], p[3]], [p[2], p[3], p[4]]];
        // row k of H⁻¹, by cofactors; H is symmetric
        let cofactor = |i: usize, j: usize| {
            let [(a, b), (c, d)] = [i, j].map(|i| ((i + 1) % 3, (i + 2) % 3));
            H[a][c] * H[b][d] - H[a][d] * H[b][c]
        };
        let det: f64 = (0..3).map(|j| H[0][j] * cofactor(0, j)).sum();
        Some(std::array::from_fn(|j| cofactor(k, j) / det))
    }

    /// The largest residue and its row, where there is any.
    pub fn residue(&self, parts: &[Part]) -> Option<(f64, usize)> {
        let weights = self.weights(0)?;
        let mut most = (0.0_f64, 0);
        for (i, &row) in parts[self.part].rows.iter().enumerate() {
            let R: f64 = weights.iter().zip(&self.moments).map(|(w, m)| w * m[i]).sum();
            if R.abs() > most.0 {
                most = (R.abs(), row);
            }
        }
        (most.0 > NONE * self.largest).then_some(most)
    }

    /// λ of the dangerous rows of part `i` at the singular position, less what grows without bound; none where it is not known.
    pub fn finite(&self, i: usize) -> Option<Vec<f64>> {
        let weights = self.weights(1).filter(|_| self.part == i)?;
        let value = |row| weights.iter().zip(&self.moments).map(|(w, m)| w * m[row]).sum::<f64>() / self.tau;
        Some((0..self.moments[0].len()).map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Structure;

    fn parts() -> Vec<Part> {
        let mut b = Structure::builder();
        b.column(1);
        b.row(1, 1, &[0]);
        Part::all(&b.build(1, 0).unwrap())
    }

    fn seen(lambda: impl Fn(f64) -> f64) -> Pole {
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
            pole.add(0, &parts()[0], &danger, &[lambda(x)], 0.05);
        }
        pole
    }

    #[test]
    fn a_multiplier_without_bound_has_its_residue() {
        let (residue, row) = seen(|x| -0.4 / x + 3.0 - 2.0 * x).residue(&parts()).unwrap();
        assert!((residue - 0.4).abs() < 1e-10 && row == 0, "{residue}");
    }

    #[test]
    fn a_bounded_multiplier_has_none() {
        assert_eq!(seen(|x| 3.0 - 2.0 * x).residue(&parts()), None);
    }

    #[test]
    fn the_finite_part_is_what_the_pole_leaves() {
        let finite = seen(|x| -0.4 / x + 3.0 - 2.0 * x).finite(0).unwrap();
        assert!((finite[0] - 3.0).abs() < 1e-10, "{finite:?}");
    }
}
