//! Decides whether multipliers stay bounded at a singular position.
//!
//! Where the load across the branches does not vanish there, λ ≈ R / (t - t*) is the true answer of rigid bodies, and R follows from that
//! load at t* ([`residue`](super::window::Window::residue)). (t - t*) λ of the nearly dependent rows is smooth: its slope at t* is
//! what is left of λ without the pole, found by least squares with a parabola over states on the constraints on both sides of it. Only
//! where λ is asked for so near to t* that it cannot be solved for.

use super::DependentRows;
use super::part::Subsystem;

/// Sums over states in a window.
#[derive(Debug, Clone, Default)]
pub struct MultiplierPole {
    part: usize,
    count: usize,
    /// Σ xᵏ, x = (t - t*) / τ.
    powers: [f64; 5],
    /// Σ xᵏ y for each row, y = (t - t*) λ.
    moments: [Vec<f64>; 3],
    /// τ \[s\].
    tau: f64,
}

impl MultiplierPole {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if self.count > 0 {
            *self = MultiplierPole::default();
        }
    }

    /// Takes note of `lambda` in the part `i`; the window is of half width `tau` \[s\].
    pub fn add(&mut self, i: usize, part: &Subsystem, dependent: &DependentRows, lambda: &[f64], tau: f64) {
        if self.count > 0 && self.part != i {
            return;
        }
        (self.part, self.count, self.tau) = (i, self.count + 1, tau);
        self.moments.iter_mut().for_each(|m| m.resize(part.nc(), 0.0));
        let x = -dependent.ahead / tau;
        let mut power = 1.0;
        for (k, sum) in self.powers.iter_mut().enumerate() {
            *sum += power;
            if let Some(moment) = self.moments.get_mut(k) {
                for j in 0..dependent.len() {
                    let u = dependent.u(j);
                    let along: f64 = u.iter().zip(lambda).map(|(a, b)| a * b).sum();
                    moment.iter_mut().zip(u).for_each(|(m, u)| *m -= power * dependent.ahead * along * u);
                }
            }
            power *= x;
        }
    }

    /// Returns whether states were seen.
    pub fn is_known(&self) -> bool {
        self.count > 0
    }

    /// Weights of the moments that give the slope of the parabola; none where too little was seen.
    fn weights(&self) -> Option<[f64; 3]> {
        if self.count < 4 {
            return None;
        }
        let p = &self.powers;
        let H = [[p[0], p[1], p[2]], [p[1], p[2], p[3]], [p[2], p[3], p[4]]];
        // its row of H⁻¹, by cofactors; H is symmetric
        let cofactor = |i: usize, j: usize| {
            let [(a, b), (c, d)] = [i, j].map(|i| ((i + 1) % 3, (i + 2) % 3));
            H[a][c] * H[b][d] - H[a][d] * H[b][c]
        };
        let det: f64 = (0..3).map(|j| H[0][j] * cofactor(0, j)).sum();
        Some(std::array::from_fn(|j| cofactor(1, j) / det))
    }

    /// λ of the nearly dependent rows of part `i` at the singular position, less what grows without bound; none where it is not known.
    pub fn finite(&self, i: usize) -> Option<Vec<f64>> {
        let weights = self.weights().filter(|_| self.part == i)?;
        let value = |row| weights.iter().zip(&self.moments).map(|(w, m)| w * m[row]).sum::<f64>() / self.tau;
        Some((0..self.moments[0].len()).map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Structure;

    fn parts() -> Vec<Subsystem> {
        let mut b = Structure::builder();
        b.column(1);
        b.row(1, 1, &[0]);
        Subsystem::all(&b.build(1, 0).unwrap())
    }

    fn seen(lambda: impl Fn(f64) -> f64) -> MultiplierPole {
        let mut pole = MultiplierPole::default();
        for k in 0..9 {
            let x = 0.01 * (f64::from(k) - 3.7);
            let dependent = DependentRows {
                U: vec![1.0],
                sigma: vec![x.abs()],
                rate: vec![1.0],
                ahead: -x,
                rank: 1,
                largest: 1.0,
            };
            pole.add(0, &parts()[0], &dependent, &[lambda(x)], 0.05);
        }
        pole
    }

    #[test]
    fn the_finite_part_is_what_the_pole_leaves() {
        let finite = seen(|x| -0.4 / x + 3.0 - 2.0 * x).finite(0).unwrap();
        assert!((finite[0] - 3.0).abs() < 1e-10, "{finite:?}");
    }
}
