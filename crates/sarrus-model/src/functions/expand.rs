//! A function given by a program over any scalar, and the differences that stand in for derivatives it does not give.

use super::fault::{Fault, note};
use super::{GivenFunction, MOST_ARGUMENTS};
use sarrus_math::Real;

/// Steps of central differences, relative to the argument: the third root of the last place for first derivatives, where rounding and
/// what is cut off are of one size, and the fourth root for differences of differences.
const FIRST: f64 = 6.055e-6;
const SECOND: f64 = 1.221e-4;
/// An argument smaller than this is taken as this large: 0 has no scale of its own.
const SCALE: f64 = 1e-2;

/// Derivatives of one order, by rows.
type DerivativeMatrix = [f64; MOST_ARGUMENTS * MOST_ARGUMENTS];

impl GivenFunction {
    /// The value of the call with `n` arguments, and its derivatives as far as the arguments have such.
    #[inline(never)]
    pub fn eval<R: Real>(&self, n: usize, argument: impl Fn(usize) -> R) -> R {
        let n = n.min(MOST_ARGUMENTS);
        let mut x = [0.0; MOST_ARGUMENTS];
        let mut d = [R::zero(); MOST_ARGUMENTS];
        let (mut moves, mut numbers) = (false, true);
        for k in 0..n {
            let argument = argument(k);
            x[k] = argument.value();
            if x[k].is_finite() {
                d[k] = argument - x[k];
                moves |= !d[k].is_zero();
            } else {
                numbers = false;
            }
        }
        let value = self.function.value(&x[..n]);
        if !value.is_finite() && numbers {
            note(Fault::value(&self.name, &x[..n], value));
        }
        if !moves || !value.is_finite() {
            return R::from_f64(value);
        }
        self.expand(&mut x[..n], &d[..n], value)
    }

    /// Σ over powers of d.
    fn expand<R: Real>(&self, x: &mut [f64], d: &[R], value: f64) -> R {
        let n = x.len();
        let mut slopes = [0.0; MOST_ARGUMENTS];
        self.gradient(x, FIRST, &mut slopes[..n]);
        let mut y = R::from_f64(value);
        for (d, slope) in d.iter().zip(&slopes).filter(|(d, _)| !d.is_zero()) {
            y += scaled(*d, *slope);
        }
        let mut finite = slopes[..n].iter().all(|x| x.is_finite());
        if is_there(d, |_, _, product| !product.is_zero()) {
            let mut bends: DerivativeMatrix = [0.0; MOST_ARGUMENTS * MOST_ARGUMENTS];
            self.second(x, &mut bends[..n * n]);
            finite &= bends[..n * n].iter().all(|x| x.is_finite());
            is_there(d, |i, j, product| {
                let both = if i == j { 0.5 * bends[i * n + j] } else { bends[i * n + j] };
                y += scaled(product, both);
                false
            });
            if is_there(d, |_, _, product| d.iter().any(|d| !(product * *d).is_zero())) {
                y += self.third(x, d);
            }
        }
        if !finite {
            note(Fault::derivative(&self.name, x));
        }
        y
    }

    /// ⅙ Σ fᵢⱼₖ dᵢ dⱼ dₖ.
    #[cold]
    fn third<R: Real>(&self, x: &mut [f64], d: &[R]) -> R {
        let n = x.len();
        let mut y = R::zero();
        let mut change: DerivativeMatrix = [0.0; MOST_ARGUMENTS * MOST_ARGUMENTS];
        let mut higher = false;
        for k in (0..n).filter(|k| !d[*k].is_zero()) {
            self.difference(x, k, FIRST, &mut change[..n * n], |given, x, out| given.second(x, out));
            is_there(d, |i, j, product| {
                let times = if i == j { 1.0 } else { 2.0 };
                let product = product * d[k];
                higher |= d.iter().any(|d| !(product * *d).is_zero());
                y += scaled(product, times * change[i * n + j] / 6.0);
                false
            });
        }
        if higher {
            note(Fault::order(&self.name, x, 4));
            return R::from_f64(f64::NAN);
        }
        y
    }

    /// fᵢ; where the function does not give them by differences with this step.
    fn gradient(&self, x: &mut [f64], step: f64, out: &mut [f64]) {
        if self.function.order() >= 1 {
            return self.function.gradient(x, out);
        }
        for (k, out) in out.iter_mut().enumerate() {
            let value =
                |given: &GivenFunction, x: &mut [f64], out: &mut [f64]| out[0] = given.function.value(x);
            self.difference(x, k, step, std::slice::from_mut(out), value);
        }
    }

    /// fᵢⱼ, likewise.
    fn second(&self, x: &mut [f64], out: &mut [f64]) {
        let n = x.len();
        let order = self.function.order();
        if order >= 2 {
            return self.function.second(x, out);
        }
        let step = if order == 1 { FIRST } else { SECOND };
        for k in 0..n {
            self.difference(x, k, step, &mut out[k * n..][..n], |given, x, out| given.gradient(x, step, out));
        }
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (out[i * n + j] + out[j * n + i]);
                (out[i * n + j], out[j * n + i]) = (mean, mean);
            }
        }
    }

    /// The central difference of what `of` writes, along argument `k`.
    fn difference(
        &self,
        x: &mut [f64],
        k: usize,
        step: f64,
        out: &mut [f64],
        of: impl Fn(&GivenFunction, &mut [f64], &mut [f64]),
    ) {
        let here = x[k];
        let h = step * here.abs().max(SCALE);
        let mut before: DerivativeMatrix = [0.0; MOST_ARGUMENTS * MOST_ARGUMENTS];
        let before = &mut before[..out.len()];
        let (low, high) = (here - h, here + h);
        x[k] = low;
        of(self, x, before);
        x[k] = high;
        of(self, x, out);
        x[k] = here;
        // the difference of the arguments as they are, after rounding
        let width = high - low;
        out.iter_mut().zip(&*before).for_each(|(out, before)| *out = (*out - before) / width);
    }
}

/// d · slope. A slope that is no number makes the derivatives infinite that it has a part in, and leaves the value alone.
fn scaled<R: Real>(d: R, slope: f64) -> R {
    if slope.is_finite() { d * slope } else { d * f64::MAX * f64::MAX }
}

/// Returns whether `see` says so of a product dᵢ dⱼ, i ≤ j, of which neither is zero.
fn is_there<R: Real>(d: &[R], mut see: impl FnMut(usize, usize, R) -> bool) -> bool {
    let moving = |i: &usize| !d[*i].is_zero();
    (0..d.len()).filter(moving).any(|i| (i..d.len()).filter(moving).any(|j| see(i, j, d[i] * d[j])))
}
