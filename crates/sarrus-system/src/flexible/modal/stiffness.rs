//! Describes what holds the amplitudes of a modal body: f_j = -ω_j² η_j - 2 ζ_j ω_j η̇_j, with the energy ½ Σ ω_j² η_j².
//!
//! The amplitudes are readable as `eta1`, `eta2`, … with `eta1_rate`; they are in √kg m, since the shapes have unit mass.

use super::floating::{amplitude, rate};
use crate::at::At;
use crate::load::{Force, Wrench};
use sarrus_math::Real;
use std::sync::LazyLock;

/// Most amplitudes.
pub const MOST_AMPLITUDES: usize = 120;

/// Names of the readings of the most amplitudes that there can be, made once.
static NAMES: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let pair = |j: usize| {
        let rate: &'static str = format!("eta{j}_rate").leak();
        // the name of the amplitude is the beginning of that of its rate
        [(&rate[..rate.len() - "_rate".len()], "kg^0.5 m"), (rate, "kg^0.5 m/s")]
    };
    (1..=MOST_AMPLITUDES).flat_map(pair).collect()
});

/// The stiffness. Bodies: those that hold the amplitudes.
pub struct ModalStiffness {
    /// By amplitude: the body that holds it, as a place in the element's list, and which of its coordinates it is.
    pub amplitudes: Vec<(usize, usize)>,
    /// ω² \[1/s²\].
    pub squares: Vec<f64>,
    /// 2 ζ ω \[1/s\].
    pub damping: Vec<f64>,
}

impl ModalStiffness {
    fn each<R: Real>(&self, at: &At<R>, mut with: impl FnMut(usize, R, Option<R>)) {
        for (j, &(body, k)) in self.amplitudes.iter().enumerate() {
            let rate = if at.twists.is_empty() { None } else { Some(rate(at.twist(body), k)) };
            with(j, amplitude(at.pose(body), k), rate);
        }
    }
}

impl Force for ModalStiffness {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        self.each(at, |j, eta, rate| {
            let (body, k) = self.amplitudes[j];
            let rate = rate.unwrap_or_else(R::zero);
            let f = eta * self.squares[j] + rate * self.damping[j];
            // an angle holds an amplitude too
            let to = if k < 3 { &mut out[body].force } else { &mut out[body].torque };
            to.0[k % 3] -= f;
        });
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        let mut sum = R::zero();
        self.each(at, |j, eta, _| sum += eta * eta * (0.5 * self.squares[j]));
        sum
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        let mut sum = R::zero();
        self.each(at, |j, _, rate| {
            let rate = rate.unwrap_or_else(R::zero);
            sum += rate * rate * self.damping[j];
        });
        sum
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        &NAMES[..2 * self.squares.len().min(MOST_AMPLITUDES)]
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        let (body, which) = self.amplitudes[k / 2];
        if k.is_multiple_of(2) { amplitude(at.pose(body), which) } else { rate(at.twist(body), which) }
    }
}
