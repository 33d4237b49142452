//! Points along an interval at which values are kept, slopes are found and sums stand for integrals.
//!
//! The points of Gauss and Lobatto of order p on \[-1, 1\] are ±1 and the zeros of P'_p, P_p being Legendre's polynomial. With
//!
//! w_i = 2 / (p (p + 1) P_p(x_i)²),  D_ij = P_p(x_i) / (P_p(x_j) (x_i - x_j)) for i ≠ j,  D_ii = -Σ_{j≠i} D_ij
//!
//! Σ w_i f(x_i) is the integral of every polynomial f up to the degree 2p - 1, and Σ_j D_ij f(x_j) its slope at x_i up to the degree p
//! \[Canuto2006, section 2.3\]. A slope is of degree p - 1, so that Σ w_i P_p(x_i) s_i = 0 for slopes s; [`Lobatto::smooth`] takes from
//! other values the part that this leaves.

use std::f64::consts::PI;

/// The highest order.
pub const MOST: usize = 8;
/// Points that it has.
pub const POINTS: usize = MOST + 1;
/// Newton's steps to a zero; from where they begin four are enough.
const STEPS: usize = 12;

/// The rule of an order; of arrays the first `points` count.
#[derive(Clone, Copy, Debug)]
pub struct Lobatto {
    /// p + 1.
    pub points: usize,
    /// x, rising from -1 to 1.
    pub x: [f64; POINTS],
    /// w.
    pub weights: [f64; POINTS],
    /// D, by rows.
    pub slopes: [[f64; POINTS]; POINTS],
    /// P_p, and w P_p over Σ w P_p².
    last: [[f64; POINTS]; 2],
}

impl Lobatto {
    /// The rule of order `order`, from 1 to [`MOST`].
    pub fn new(order: usize) -> Lobatto {
        let order = order.clamp(1, MOST);
        let (points, p) = (order + 1, order as f64);
        let [mut x, mut value, mut weights] = [[0.0; POINTS]; 3];
        for i in 0..points {
            // those of Chebyshev are near; both halves alike, so that the middle is zero and D as symmetric as can be
            let mirrored = 2 * i < order;
            let k = if mirrored { order - i } else { i };
            let mut z = if 2 * i == order { 0.0 } else { -(PI * k as f64 / p).cos() };
            for _ in 0..STEPS {
                let [before, last] = legendre(order, z);
                // (1 - z²) P'_p = p (P_{p-1} - z P_p), whose slope is -p (p + 1) P_p
                z += (before - z * last) / ((p + 1.0) * last);
            }
            let z = if i == 0 || i == order { 1.0 } else { z };
            x[i] = if mirrored { -z } else { z };
            value[i] = legendre(order, x[i])[1];
            weights[i] = 2.0 / (p * (p + 1.0) * value[i] * value[i]);
        }
        let mut slopes = [[0.0; POINTS]; POINTS];
        for i in 0..points {
            for j in (0..points).filter(|j| *j != i) {
                slopes[i][j] = value[i] / (value[j] * (x[i] - x[j]));
                slopes[i][i] -= slopes[i][j];
            }
        }
        // Σ w P_p² = 2/p
        let parts = std::array::from_fn(|i| 0.5 * p * weights[i] * value[i]);
        Lobatto { points, x, weights, slopes, last: [value, parts] }
    }

    /// Takes from `values` at the points their part along P_p, which no slope has. `back` is the transpose of that: what acts on
    /// smoothed values, as acting on the values themselves.
    #[inline(always)]
    pub fn smooth<T: Copy, const N: usize>(
        &self,
        values: &mut [T; N],
        back: bool,
        zero: T,
        add: impl Fn(T, T, f64) -> T,
    ) {
        let [last, parts] = &self.last;
        let [from, to] = if back { [last, parts] } else { [parts, last] };
        let along = values.iter().zip(from).fold(zero, |sum, (value, from)| add(sum, *value, *from));
        values.iter_mut().zip(to).for_each(|(value, to)| *value = add(*value, along, -to));
    }

    /// Returns where the points between the ends are, from 0 to 1.
    pub fn inside(&self) -> impl Iterator<Item = f64> + '_ {
        self.x[1..self.points - 1].iter().map(|x| 0.5 * (1.0 + x))
    }

    /// The same on an interval of length `length`.
    pub fn scaled(mut self, length: f64) -> Lobatto {
        let half = 0.5 * length;
        self.weights.iter_mut().for_each(|w| *w *= half);
        self.slopes.iter_mut().flatten().for_each(|d| *d /= half);
        self
    }
}

/// P_{p-1} and P_p at `x`.
fn legendre(p: usize, x: f64) -> [f64; 2] {
    let mut two = [1.0, x];
    for k in 2..=p {
        let k = k as f64;
        two = [two[1], ((2.0 * k - 1.0) * x * two[1] - (k - 1.0) * two[0]) / k];
    }
    two
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integrals of xᵏ are 0 or 2/(k + 1) up to k = 2p - 1 and not beyond; slopes k xᵏ⁻¹ up to k = p.
    #[test]
    fn integrals_and_slopes_are_exact_to_their_degree() {
        for order in 1..=MOST {
            let rule = Lobatto::new(order);
            let n = rule.points;
            let integral = |k: i32| (0..n).map(|i| rule.weights[i] * rule.x[i].powi(k)).sum::<f64>();
            for k in 0..2 * order as i32 {
                let exact = if k % 2 == 0 { 2.0 / f64::from(k + 1) } else { 0.0 };
                assert!((integral(k) - exact).abs() < 1e-14, "order {order}, degree {k}");
            }
            let beyond = 2 * order as i32;
            assert!((integral(beyond) - 2.0 / f64::from(beyond + 1)).abs() > 1e-5, "order {order}");
            for k in 1..=order as i32 {
                for i in 0..n {
                    let slope: f64 = (0..n).map(|j| rule.slopes[i][j] * rule.x[j].powi(k)).sum();
                    let exact = f64::from(k) * rule.x[i].powi(k - 1);
                    assert!((slope - exact).abs() < 1e-12, "order {order}, degree {k}: {slope} at {i}");
                }
            }
            // smoothing leaves slopes alone and takes all of P_p
            for k in 0..=order as i32 {
                let mut values = rule.x.map(|x| x.powi(k));
                rule.smooth(&mut values, false, 0.0, |a, b, c| a + b * c);
                let off = (0..n).map(|i| (values[i] - rule.x[i].powi(k)).abs()).fold(0.0, f64::max);
                assert_eq!(off < 1e-14, k < order as i32, "order {order}, degree {k}: {off}");
                let left: f64 = (0..n).map(|i| rule.weights[i] * rule.last[0][i] * values[i]).sum();
                assert!(left.abs() < 1e-14, "order {order}, degree {k}: {left}");
                // a·Πb = Πᵀa·b
                let other = rule.x.map(|x| (3.0 * x).cos());
                let (mut back, dot) =
                    (other, |a: &[f64], b: &[f64]| (0..n).map(|i| a[i] * b[i]).sum::<f64>());
                rule.smooth(&mut back, true, 0.0, |a, b, c| a + b * c);
                let difference = dot(&other, &values) - dot(&back, &rule.x.map(|x| x.powi(k)));
                assert!(difference.abs() < 1e-13, "order {order}, degree {k}: {difference}");
            }
        }
    }
}
