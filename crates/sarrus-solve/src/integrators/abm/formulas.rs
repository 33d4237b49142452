//! Adams formulas on an uneven mesh, in modified divided differences. \[Krogh1974\], \[Shampine1975, chapter 5\]
//!
//! For a step of size h to t₁, with t₀, t₋₁, ... the ends of the steps before it:
//!
//! | symbol | is |
//! |---|---|
//! | ψ_i | t₁ - t_{1-i}, the length of the last i steps |
//! | φ_i | ψ₁ ⋯ ψ_{i-1} f\[t₁, ..., t_{2-i}\], the difference of the slopes; at equal steps the backward difference ∇^{i-1} f |
//! | β_i | Π_{j<i} ψ_j / ψ_j⁰, which takes the differences at t₀, of a mesh ψ⁰, to the mesh of this step |
//! | g_i | 1/h ∫ over the step of the polynomial that β_i φ_i⁰ stands with |
//! | σ_i | Π_{j<i} j h / ψ_j: σ_i φ_i is what ∇^{i-1} f would be at equal steps |
//!
//! y₀ + h Σ_{i≤k} g_i β_i φ_i⁰ is the Adams-Bashforth formula of order k, Σ_{i≤k} β_i φ_i⁰ the slope that it expects at t₁.

/// The highest order.
pub(super) const MOST: usize = 12;
/// Differences that are kept: those of the highest order, and two to judge the order above.
pub(super) const CAPACITY: usize = MOST + 2;

/// |γ*_i|, the coefficients of the Adams-Moulton formulas at equal steps: Σ_{j≤m} γ*_j / (m + 1 - j) = 0 for m ≥ 1, γ*₀ = 1.
pub(super) fn moulton() -> [f64; CAPACITY] {
    let mut gamma = [0.0; CAPACITY];
    gamma[0] = 1.0;
    for m in 1..CAPACITY {
        gamma[m] = -(0..m).map(|j| gamma[j] / (m + 1 - j) as f64).sum::<f64>();
    }
    gamma.map(f64::abs)
}

/// The coefficients of one step. What the table above calls i is at i - 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Formulas {
    /// Order k of the prediction.
    pub order: usize,
    /// Size of the step \[s\].
    pub h: f64,
    /// ψ, as far back as steps are known; zero before \[s\].
    pub psi: [f64; CAPACITY],
    /// β₁ to β_{k+1}.
    pub beta: [f64; CAPACITY],
    /// g₁ to g_{k+1}.
    pub g: [f64; CAPACITY],
    /// σ₁ to σ_{k+1}.
    pub sigma: [f64; CAPACITY],
}

impl Formulas {
    /// Makes them those of a step of size `h` and of order `k`, after steps with the ψ of `past`, at least k - 1 of them.
    pub fn update(&mut self, past: &[f64; CAPACITY], h: f64, k: usize) {
        (self.order, self.h) = (k, h);

        // mesh
        self.psi = [0.0; CAPACITY];
        self.psi[0] = h;
        for i in (1..CAPACITY).take_while(|i| past[i - 1] > 0.0) {
            self.psi[i] = h + past[i - 1];
        }

        // ratios to the old mesh and to equal steps
        (self.beta[0], self.sigma[0]) = (1.0, 1.0);
        for i in 1..=k {
            // the last may have no past to it: then nothing is known that it could multiply
            let known = past[i - 1] > 0.0;
            self.beta[i] = if known { self.beta[i - 1] * self.psi[i - 1] / past[i - 1] } else { 0.0 };
            self.sigma[i] = self.sigma[i - 1] * i as f64 * h / self.psi[i - 1];
        }

        // repeated integrals, one fewer for each difference
        let mut w: [f64; CAPACITY] = std::array::from_fn(|q| 1.0 / (q + 1) as f64);
        self.g[0] = 1.0;
        for i in 1..=k {
            let alpha = h / self.psi[i - 1];
            for q in 0..=k - i {
                w[q] -= alpha * w[q + 1];
            }
            self.g[i] = w[0];
        }
    }

    /// ∫ from t₁ to t₁ + `to` \[s\] of the polynomials that φ₁ to φ_{k+1} stand with.
    fn integrals(&self, to: f64) -> [f64; CAPACITY] {
        let k = self.order;
        let mut w: [f64; CAPACITY] = std::array::from_fn(|q| 1.0 / (q + 1) as f64);
        let mut out = [0.0; CAPACITY];
        out[0] = to;
        let mut before = 0.0;
        for i in 1..=k {
            let psi = self.psi[i - 1];
            for q in 0..=k - i {
                w[q] = ((to + before) * w[q] - to * w[q + 1]) / psi;
            }
            out[i] = to * w[0];
            before = psi;
        }
        out
    }

    /// Weights of the state at the fraction `x` of the step: of the end (that of the start being the rest to 1), and of φ₁ to
    /// φ_{k+1} at the end.
    ///
    /// The integral of the polynomial through the slopes misses the start by as much as correction and projection have moved
    /// the end. That much is taken in by a cubic that has no slope at either end.
    pub fn interpolant(&self, x: f64) -> (f64, [f64; CAPACITY]) {
        let end = x * x * (3.0 - 2.0 * x);
        let (mut w, whole) = (self.integrals((x - 1.0) * self.h), self.integrals(-self.h));
        w.iter_mut().zip(whole).for_each(|(w, whole)| *w -= (1.0 - end) * whole);
        (end, w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of the ends of steps, the newest first, in no way even.
    const TIMES: [f64; 14] = [2.0, 1.7, 1.55, 1.5, 1.1, 1.0, 0.85, 0.8, 0.62, 0.5, 0.41, 0.3, 0.12, 0.0];

    fn mesh(newest: usize) -> [f64; CAPACITY] {
        std::array::from_fn(|i| TIMES.get(newest + i + 1).map_or(0.0, |t| TIMES[newest] - t))
    }

    /// φ₁, φ₂, ... of `f` at `TIMES[newest]`.
    fn differences(newest: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let times = &TIMES[newest..];
        let mut divided: Vec<f64> = times.iter().map(|t| f(*t)).collect();
        let mut phi = vec![divided[0]];
        let mut scale = 1.0;
        for i in 1..times.len() {
            for j in 0..times.len() - i {
                divided[j] = (divided[j] - divided[j + 1]) / (times[j] - times[j + i]);
            }
            scale *= times[0] - times[i];
            phi.push(scale * divided[0]);
        }
        phi
    }

    #[test]
    fn moulton_coefficients_are_those_in_the_books() {
        let expected = [1.0, 1.0 / 2.0, 1.0 / 12.0, 1.0 / 24.0, 19.0 / 720.0, 3.0 / 160.0, 863.0 / 60480.0];
        for (ours, expected) in moulton().iter().zip(expected) {
            assert!((ours - expected).abs() < 1e-16);
        }
    }

    /// Slopes of degree below k are integrated exactly by the prediction, of degree k with the correction.
    #[test]
    fn powers_are_integrated_exactly_up_to_the_order() {
        let mut formulas = Formulas::default();
        for k in 1..=MOST {
            formulas.update(&mesh(1), TIMES[0] - TIMES[1], k);
            for degree in 0..=k as i32 {
                let f = |t: f64| (t - 1.0).powi(degree);
                let exact = ((TIMES[0] - 1.0).powi(degree + 1) - (TIMES[1] - 1.0).powi(degree + 1))
                    / f64::from(degree + 1);
                let past = differences(1, f);
                let sum = |c: &dyn Fn(usize) -> f64| (0..k).map(|i| c(i) * past[i]).sum::<f64>();
                let predicted = formulas.h * sum(&|i| formulas.g[i] * formulas.beta[i]);
                let change = f(TIMES[0]) - sum(&|i| formulas.beta[i]);
                let corrected = predicted + formulas.h * formulas.g[k] * change;
                assert!((corrected - exact).abs() < 1e-13, "order {k}, degree {degree}: {corrected} {exact}");
                if (degree as usize) < k {
                    assert!((predicted - exact).abs() < 1e-13, "order {k}, degree {degree}");
                } else {
                    assert!((predicted - exact).abs() > 1e-9, "order {k} is one too high");
                }
            }
        }
    }

    #[test]
    fn at_equal_steps_the_coefficients_are_the_classical_ones() {
        let past = std::array::from_fn(|i| 0.25 * (i + 1) as f64);
        let mut formulas = Formulas::default();
        formulas.update(&past, 0.25, 4);
        // Adams-Bashforth 1, 1/2, 5/12, 3/8, 251/720
        for (g, expected) in formulas.g.iter().zip([1.0, 0.5, 5.0 / 12.0, 3.0 / 8.0, 251.0 / 720.0]) {
            assert!((g - expected).abs() < 1e-15);
        }
        assert!(formulas.beta[..5].iter().chain(&formulas.sigma[..5]).all(|x| (x - 1.0).abs() < 1e-15));
        // what the correction adds to the error of order k
        for k in 1..=MOST {
            formulas.update(&past, 0.25, k);
            assert!((formulas.g[k - 1] - formulas.g[k] - moulton()[k]).abs() < 1e-15, "order {k}");
        }
    }

    #[test]
    fn the_interpolant_is_exact_for_slopes_up_to_the_order_and_meets_both_ends() {
        let mut formulas = Formulas::default();
        for k in 1..=MOST {
            formulas.update(&mesh(1), TIMES[0] - TIMES[1], k);
            let f = |t: f64| (t - 1.0).powi(k as i32);
            let F = |t: f64| (t - 1.0).powi(k as i32 + 1) / (k + 1) as f64;
            let phi = differences(0, f);
            // a start and an end that are off: the interpolant goes from one to the other
            for (x, off) in [(0.0, 0.3), (0.2, 0.0), (0.5, 0.0), (0.9, 0.0), (1.0, 0.3)] {
                let (end, w) = formulas.interpolant(x);
                let slopes = (0..=k).map(|i| w[i] * phi[i]).sum::<f64>();
                let (y0, y1) = (F(TIMES[1]) + off, F(TIMES[0]) - 2.0 * off);
                let found = end * y1 + (1.0 - end) * y0 + slopes;
                let exact = match x {
                    0.0 => y0,
                    1.0 => y1,
                    _ => F(TIMES[1] + x * formulas.h),
                };
                assert!((found - exact).abs() < 1e-13, "order {k} at {x}: {found} {exact}");
            }
        }
    }
}
