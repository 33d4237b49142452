//! Dense output: the state anywhere inside a step.
//!
//! With θ the fraction of the step, θ' = 1 - θ and Δ = y₁ - y₀,
//!
//! u(θ) = y₀ + θ Δ + θ θ' (h f₀ - Δ) + θ² θ' (2Δ - h (f₀ + f₁)) + h Σ_j k_j θ² θ'² (d₁ⱼ + θ (d₂ⱼ + θ' (d₃ⱼ + θ d₄ⱼ))).
//!
//! The first terms are the cubic through both ends and their slopes; the last raises the order and vanishes with
//! its slope at both ends \[Hairer1993, sections II.6 and II.10\]. Here y₁ and f₁ belong to the state after
//! normalisation and projection, so the interpolant is C¹ across steps and lands on the states that the run
//! reports. Projection moves y₁ by no more than the step's own error, so the order is kept.

use super::tableaux::DenseOutput;

/// Weights at one θ: u = y₀ + `delta` Δ + h Σ_j k[j] k_j.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct InterpolantWeights {
    /// Of Δ = y₁ - y₀.
    pub delta: f64,
    /// Of the slopes: stages, end slope, stages of the interpolant.
    pub k: [f64; InterpolantWeights::MAX],
}

impl InterpolantWeights {
    /// The most slopes that a tableau may have.
    pub const MAX: usize = 16;

    /// At the fraction `x` of a step; `end` is the index of the slope at the end of the step.
    pub fn at(dense: &DenseOutput, end: usize, x: f64) -> InterpolantWeights {
        let y = 1.0 - x;
        let mut k = [0.0; InterpolantWeights::MAX];

        // θ² θ'², then a factor θ or θ' in turn for each further row
        let mut power = x * x * y * y;
        for (i, row) in dense.d.iter().enumerate() {
            for (k, d) in k.iter_mut().zip(*row) {
                *k += power * d;
            }
            power *= if i % 2 == 0 { x } else { y };
        }
        k[0] += x * y * (1.0 - x);
        k[end] -= x * x * y;
        InterpolantWeights { delta: x - x * y + 2.0 * x * x * y, k }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tableaux::{DOP853, EULER, RK4, RK23, RK45, Tableau};
    use super::*;

    /// With f = (t^(m-1)) the slopes are known, and an interpolant of order p is exact for m ≤ p.
    #[test]
    fn powers_of_time_are_interpolated_exactly_up_to_the_order() {
        let check = |m: &Tableau, exact: i32| {
            let nodes: Vec<f64> = m.c.iter().chain(&[1.0]).chain(m.dense.c).copied().collect();
            for power in 1..=exact {
                for x in [0.1, 0.35, 0.5, 0.8] {
                    let w = InterpolantWeights::at(&m.dense, m.c.len(), x);
                    let p = f64::from(power);
                    let slopes = nodes.iter().zip(w.k).map(|(c, k)| k * p * c.powi(power - 1)).sum::<f64>();
                    assert!((w.delta + slopes - x.powi(power)).abs() < 2e-13, "t^{power} at {x}");
                }
            }
        };
        check(&RK4, 3);
        check(&RK45, 4);
        check(&DOP853, 7);
    }

    #[test]
    fn no_tableau_has_more_slopes_than_there_is_room_for() {
        for m in [EULER, RK4, RK23, RK45, DOP853] {
            assert!(m.c.len() + 1 + m.dense.c.len() <= InterpolantWeights::MAX);
        }
    }
}
