//! The spectrum of a signal, and where its peaks are.
//!
//! Samples are weighted by the window of Blackman and Harris, whose side lobes are 92 dB down, so that a line of the spectrum shows as one
//! peak, 8 lines of the transform wide, and nothing else \[Harris1978\]. The transform is summed as it stands, at any frequency.

use std::f64::consts::TAU;

/// Frequencies per line 2π/T of a record of length T.
const PER_LINE: f64 = 4.0;
/// Half the width of a peak, in lines.
pub const HALF_WIDTH: f64 = 4.0;

/// Amplitudes over frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// Frequency \[rad/s\] and amplitude of a sine of that frequency.
    pub points: Vec<(f64, f64)>,
}

/// The spectrum of `x`, sampled every `dt` \[s\], up to `most` \[rad/s\], without what the mean of the record spreads over.
pub fn spectrum(x: &[f64], dt: f64, most: f64) -> Spectrum {
    let n = x.len() as f64;
    let line = TAU / (n * dt);
    let window = |k: usize| {
        let a = TAU * (k as f64 + 0.5) / n;
        0.35875 - 0.48829 * a.cos() + 0.14128 * (2.0 * a).cos() - 0.01168 * (3.0 * a).cos()
    };
    let weighted: Vec<f64> = x.iter().enumerate().map(|(k, x)| x * window(k)).collect();
    // the mean of the window is its first coefficient
    let scale = 2.0 / (0.35875 * n);
    let mut points = Vec::new();
    let mut index = (HALF_WIDTH * PER_LINE) as usize;
    while (index as f64) * line / PER_LINE <= most {
        let omega = index as f64 * line / PER_LINE;
        let (c, s) = ((omega * dt).cos(), (omega * dt).sin());
        let (mut re, mut im, mut turn) = (0.0, 0.0, (1.0, 0.0));
        for y in &weighted {
            re += y * turn.0;
            im += y * turn.1;
            turn = (turn.0 * c - turn.1 * s, turn.0 * s + turn.1 * c);
        }
        points.push((omega, scale * f64::hypot(re, im)));
        index += 1;
    }
    Spectrum { points }
}

impl Spectrum {
    /// Peaks of at least the fraction `least` of the highest: frequency and amplitude, from a parabola through the logarithms.
    pub fn peaks(&self, least: f64) -> Vec<(f64, f64)> {
        let floor = least * self.points.iter().map(|p| p.1).fold(0.0, f64::max);
        self.points
            .windows(3)
            .filter(|w| w[1].1 > floor && w[1].1 > w[0].1 && w[1].1 >= w[2].1)
            .map(|w| {
                let [a, b, c] = [w[0].1.ln(), w[1].1.ln(), w[2].1.ln()];
                let aside = 0.5 * (a - c) / (a - 2.0 * b + c);
                (w[1].0 + aside * (w[2].0 - w[1].0), (b - 0.25 * (a - c) * aside).exp())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_are_found_with_their_amplitudes_and_nothing_else_is() {
        let (dt, n) = (1e-3, 3000);
        let signal = |t: f64| 0.3 + (40.3 * t).sin() + 0.02 * (77.7 * t + 1.0).cos();
        let x: Vec<f64> = (0..n).map(|k| signal(k as f64 * dt)).collect();
        let peaks = spectrum(&x, dt, 500.0).peaks(1e-3);
        assert_eq!(peaks.len(), 2, "{peaks:?}");
        for (found, due) in peaks.iter().zip([(40.3, 1.0), (77.7, 0.02)]) {
            // a parabola through points a quarter line apart is right to a hundredth of a line, 2 rad/s
            assert!((found.0 - due.0).abs() < 0.02, "{found:?}");
            assert!((found.1 / due.1 - 1.0).abs() < 0.01, "{found:?}");
        }
    }
}
