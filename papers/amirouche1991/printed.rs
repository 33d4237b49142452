//! The equations of section 4.1 as they stand in the paper: two joint angles, two rows, steps of the classical Runge-Kutta method,
//! and nothing that brings a state back.
//!
//! With l = 1 m and w = y1 + y2 the rows (73) are B ẏ = c. Near the fold the first is replaced by its next derivative with B ÿ left
//! out, (77): 3 Ḃ1 ẏ = C1 y1³ + ½ C12 w³. Torques are those of (76) with its misprints put right.

use super::exact::{Motion, X0, tip};

/// The modified row is taken where the norm of the first row of B is below this \[m\]; the paper does not say where.
pub const SWITCH: f64 = 0.1;

/// What stands in the first row near the fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// (73) everywhere: B is kept unchanged.
    Kept,
    /// (77) with the cube of y1 + y2; with Baumgarte's terms α ḧ + β ḣ.
    Modified,
    /// (77) to the letter, with the cube of y1 - y2.
    Cube,
    /// With the factor 2 that (61) gives in place of 3.
    Two,
    /// (78) to the letter: α ḣ + β h beside a third derivative.
    Levels,
}

/// The rows of a run and Baumgarte's α \[1/s\] and β \[1/s²\], as in ḧ + α ḣ + β h = 0; zero for none.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    pub row: Row,
    pub alpha: f64,
    pub beta: f64,
}

impl Rows {
    /// Accelerations at `t`; not finite where the determinant is zero.
    fn accelerations(self, t: f64, [q1, q2, y1, y2]: [f64; 4]) -> [f64; 2] {
        let ((s1, c1), (s12, c12), w) = (q1.sin_cos(), (q1 + q2).sin_cos(), y1 + y2);
        let mut rows = [[c1 + 0.5 * c12, 0.5 * c12], [-s1 - 0.5 * s12, -0.5 * s12]];
        let (h, hdot) = tip(t, [q1, q2, y1, y2]);
        let c = [s1 * y1 * y1 + 0.5 * s12 * w * w, c1 * y1 * y1 + 0.5 * c12 * w * w];
        let mut right = [0, 1].map(|i| c[i] - self.alpha * hdot[i] - self.beta * h[i]);
        let first = rows[0];
        if self.row != Row::Kept && first[0].hypot(first[1]) < SWITCH {
            let factor = if self.row == Row::Two { 2.0 } else { 3.0 };
            let rate = [-s1 * y1 - 0.5 * s12 * w, -0.5 * s12 * w];
            let turned = if self.row == Row::Cube { y1 - y2 } else { w };
            rows[0] = rate.map(|x| factor * x);
            right[0] = c1 * y1.powi(3) + 0.5 * c12 * turned.powi(3);
            if self.row == Row::Levels {
                right[0] -= self.alpha * hdot[0] + self.beta * h[0];
            } else {
                // α ḧ holds accelerations too
                rows[0] = [0, 1].map(|k| rows[0][k] + self.alpha * first[k]);
                right[0] += self.alpha * c[0] - self.beta * hdot[0];
            }
        }
        let [[a, b], [d, e]] = rows;
        let determinant = a * e - b * d;
        [(right[0] * e - b * right[1]) / determinant, (a * right[1] - d * right[0]) / determinant]
    }

    /// Steps of `h` from `start` to X0 s, twice the time of the fold, with one that ends at `landing`: what each end shows. A run
    /// that is no longer finite ends early.
    pub fn run(self, h: f64, start: [f64; 4], landing: Option<f64>) -> Vec<Motion> {
        let mut seen = Vec::new();
        let (mut t, mut s) = (0.0, start);
        for stop in landing.into_iter().chain([X0]) {
            let steps = ((stop - t) / h - 1e-6).ceil().max(1.0) as usize;
            let begin = t;
            for i in 1..=steps {
                let next = if i == steps { stop } else { begin + i as f64 * h };
                s = self.step(t, next - t, s);
                t = next;
                if s.iter().any(|x| !x.is_finite()) {
                    return seen;
                }
                let [a, b] = self.accelerations(t, s);
                seen.push(Motion { t, q: [s[0], s[1]], y: [s[2], s[3]], ydot: [a, b] });
            }
        }
        seen
    }

    fn step(self, t: f64, h: f64, s: [f64; 4]) -> [f64; 4] {
        let rate = |t: f64, s: [f64; 4]| {
            let [a, b] = self.accelerations(t, s);
            [s[2], s[3], a, b]
        };
        let along = |k: [f64; 4], h: f64| std::array::from_fn(|i| s[i] + h * k[i]);
        let k1 = rate(t, s);
        let k2 = rate(t + 0.5 * h, along(k1, 0.5 * h));
        let k3 = rate(t + 0.5 * h, along(k2, 0.5 * h));
        let k4 = rate(t + h, along(k3, h));
        std::array::from_fn(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
    }
}
