//! Curves through given points: the `[tables]` of a file, used as `f(x)`.
//!
//! Every interval holds a polynomial c₀ + c₁d + c₂d² + c₃d³ in d = x - xᵢ, evaluated over any
//! [`Real`], so derivatives are those of the curve itself. `cubic` is the C² spline whose third derivative
//! is continuous at the second and the last but one point (not-a-knot; [deBoor1978, chapter IV]), or the
//! periodic one for `repeat`. Its slopes s follow from one tridiagonal system; with h = xᵢ₊₁ - xᵢ and
//! δ = (yᵢ₊₁ - yᵢ)/h, row i reads hᵢsᵢ₋₁ + 2(hᵢ₋₁ + hᵢ)sᵢ + hᵢ₋₁sᵢ₊₁ = 3(hᵢδᵢ₋₁ + hᵢ₋₁δᵢ).

mod enclose;

use crate::expr::Inferred;
use sarrus_math::Real;

/// Describes how a curve goes from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// Straight lines.
    #[default]
    Linear,
    /// A spline with continuous curvature.
    Cubic,
    /// The value of the last point passed.
    Step,
}

/// Holds what a curve is beyond its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Outside {
    /// The value at the end.
    #[default]
    Hold,
    /// The line with the slope at the end.
    Extend,
    /// Not a number.
    Error,
    /// The curve again: periodic.
    Repeat,
}

/// Points that make no curve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurveError {
    /// The two columns differ in length.
    #[error("{x} values of x, but {y} of y")]
    Lengths {
        /// Values of x.
        x: usize,
        /// Values of y.
        y: usize,
    },
    /// Not enough points.
    #[error("a table needs 2 points or more, this one has {count}")]
    TooFew {
        /// The number of them.
        count: usize,
    },
    /// A value, or a slope behind it, that is no finite number.
    #[error("point {point} is not finite")]
    NotFinite {
        /// Counted from 1.
        point: usize,
    },
    /// x does not increase.
    #[error("x must increase, but point {point} has {x} after {before}")]
    NotIncreasing {
        /// Counted from 1.
        point: usize,
        /// Its x.
        x: f64,
        /// The x of the point before.
        before: f64,
    },
    /// A periodic curve that does not close.
    #[error("a table that repeats must end with the y it begins with: {first} and {last}")]
    NotClosed {
        /// First y.
        first: f64,
        /// Last y.
        last: f64,
    },
}

/// A function of one number, given by points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    name: String,
    x: Vec<f64>,
    /// Coefficients of each interval.
    pieces: Vec<[f64; 4]>,
    last: f64,
    /// Slopes before the first and behind the last point, for `extend`.
    slopes: [f64; 2],
    interpolation: Interpolation,
    outside: Outside,
    /// Dimensions of x and y, where the points have units.
    pub dimensions: [Inferred; 2],
}

impl Curve {
    /// The curve called `name` through the points (x, y), x increasing.
    pub fn new(
        name: impl Into<String>,
        x: Vec<f64>,
        mut y: Vec<f64>,
        interpolation: Interpolation,
        outside: Outside,
    ) -> Result<Curve, CurveError> {
        check(&x, &y, outside)?;
        let n = x.len();
        if outside == Outside::Repeat {
            y[n - 1] = y[0];
        }
        let h: Vec<f64> = (0..n - 1).map(|i| x[i + 1] - x[i]).collect();
        let delta: Vec<f64> = (0..n - 1).map(|i| (y[i + 1] - y[i]) / h[i]).collect();
        let pieces: Vec<[f64; 4]> = match interpolation {
            Interpolation::Step => y[..n - 1].iter().map(|y| [*y, 0.0, 0.0, 0.0]).collect(),
            Interpolation::Linear => (0..n - 1).map(|i| [y[i], delta[i], 0.0, 0.0]).collect(),
            Interpolation::Cubic => {
                let s = match outside {
                    Outside::Repeat => periodic_slopes(&h, &delta),
                    _ => open_slopes(&h, &delta),
                };
                (0..n - 1)
                    .map(|i| {
                        let c2 = (3.0 * delta[i] - 2.0 * s[i] - s[i + 1]) / h[i];
                        let c3 = (s[i] + s[i + 1] - 2.0 * delta[i]) / (h[i] * h[i]);
                        [y[i], s[i], c2, c3]
                    })
                    .collect()
            }
        };
        if let Some(i) = pieces.iter().position(|c| c.iter().any(|c| !c.is_finite())) {
            return Err(CurveError::NotFinite { point: i + 1 });
        }
        let [_, c1, c2, c3] = pieces[n - 2];
        let d = h[n - 2];
        let slopes = [pieces[0][1], c1 + d * (2.0 * c2 + d * 3.0 * c3)];
        Ok(Curve {
            name: name.into(),
            last: y[n - 1],
            x,
            pieces,
            slopes,
            interpolation,
            outside,
            dimensions: Default::default(),
        })
    }

    /// Its full name, as it is called in expressions.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// First and last x.
    pub fn range(&self) -> [f64; 2] {
        [self.x[0], self.x[self.x.len() - 1]]
    }

    /// The x of its points, where a derivative may jump.
    pub fn knots(&self) -> &[f64] {
        &self.x
    }

    /// Returns how it goes from point to point.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Returns what it is beyond its points.
    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// Value at `x`, with its derivatives; not a number outside where that is an error.
    pub fn eval<R: Real>(&self, x: R) -> R {
        let [first, last] = self.range();
        let mut x = x;
        let at = x.value();
        if at < first || at > last {
            let nearest = if at < first { 0 } else { 1 };
            match self.outside {
                Outside::Error => return R::from_f64(f64::NAN),
                Outside::Hold => return R::from_f64([self.pieces[0][0], self.last][nearest]),
                Outside::Extend => {
                    let y = [self.pieces[0][0], self.last][nearest];
                    return (x - [first, last][nearest]) * self.slopes[nearest] + y;
                }
                Outside::Repeat => {
                    let period = last - first;
                    x = x - ((at - first) / period).floor() * period;
                }
            }
        }
        let at = x.value();
        if self.interpolation == Interpolation::Step && at >= last {
            return R::from_f64(self.last);
        }
        // the last knot not behind x; a value that is not a number ends in the first piece and stays one
        let i = self.x.partition_point(|knot| *knot <= at).clamp(1, self.pieces.len()) - 1;
        let d = x - self.x[i];
        let [c0, c1, c2, c3] = self.pieces[i];
        match self.interpolation {
            Interpolation::Step => d * 0.0 + c0,
            Interpolation::Linear => d * c1 + c0,
            Interpolation::Cubic => ((d * c3 + c2) * d + c1) * d + c0,
        }
    }
}

fn check(x: &[f64], y: &[f64], outside: Outside) -> Result<(), CurveError> {
    if x.len() != y.len() {
        return Err(CurveError::Lengths { x: x.len(), y: y.len() });
    }
    if x.len() < 2 {
        return Err(CurveError::TooFew { count: x.len() });
    }
    for i in 0..x.len() {
        if !x[i].is_finite() || !y[i].is_finite() {
            return Err(CurveError::NotFinite { point: i + 1 });
        }
        if i > 0 && x[i] <= x[i - 1] {
            return Err(CurveError::NotIncreasing { point: i + 1, x: x[i], before: x[i - 1] });
        }
    }
    let (first, last) = (y[0], y[y.len() - 1]);
    let scale = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
    if outside == Outside::Repeat && (last - first).abs() > 1e-9 * scale {
        return Err(CurveError::NotClosed { first, last });
    }
    Ok(())
}

/// Slopes of the not-a-knot spline; with three points the parabola, with two the line.
fn open_slopes(h: &[f64], delta: &[f64]) -> Vec<f64> {
    let m = h.len();
    if m == 1 {
        return vec![delta[0]; 2];
    }
    if m == 2 {
        let bend = (delta[1] - delta[0]) / (h[0] + h[1]);
        return vec![delta[0] - h[0] * bend, delta[0] + h[0] * bend, delta[1] + h[1] * bend];
    }
    let mut lower = vec![0.0; m + 1];
    let mut diagonal = vec![0.0; m + 1];
    let mut upper = vec![0.0; m + 1];
    let mut s = vec![0.0; m + 1];
    for i in 1..m {
        lower[i] = h[i];
        diagonal[i] = 2.0 * (h[i - 1] + h[i]);
        upper[i] = h[i - 1];
        s[i] = 3.0 * (h[i] * delta[i - 1] + h[i - 1] * delta[i]);
    }

    // third derivative continuous at the second and last but one point, neighbours eliminated
    let d = h[0] + h[1];
    diagonal[0] = h[1];
    upper[0] = d;
    s[0] = ((h[0] + 2.0 * d) * h[1] * delta[0] + h[0] * h[0] * delta[1]) / d;
    let d = h[m - 1] + h[m - 2];
    diagonal[m] = h[m - 2];
    lower[m] = d;
    s[m] = (h[m - 1] * h[m - 1] * delta[m - 2] + (2.0 * d + h[m - 1]) * h[m - 2] * delta[m - 1]) / d;

    solve_tridiagonal(&lower, &mut diagonal, &upper, &mut s);
    s
}

/// Slopes of the periodic spline, the last equal to the first.
fn periodic_slopes(h: &[f64], delta: &[f64]) -> Vec<f64> {
    let m = h.len();
    if m == 1 {
        return vec![0.0; 2];
    }
    if m == 2 {
        // both rows read 2(h₀+h₁)s + (h₀+h₁)s = 3(h₀δ₁ + h₁δ₀)
        let s = (h[0] * delta[1] + h[1] * delta[0]) / (h[0] + h[1]);
        return vec![s; 3];
    }

    // cyclic: A = T + u wᵀ with u = (g, 0, …, c)ᵀ, w = (1, 0, …, a/g)ᵀ, so s = y - z (w·y)/(1 + w·z)
    let before = |i: usize| if i == 0 { m - 1 } else { i - 1 };
    let mut lower = vec![0.0; m];
    let mut diagonal = vec![0.0; m];
    let mut upper = vec![0.0; m];
    let mut s = vec![0.0; m];
    for i in 0..m {
        let j = before(i);
        lower[i] = h[i];
        diagonal[i] = 2.0 * (h[j] + h[i]);
        upper[i] = h[j];
        s[i] = 3.0 * (h[i] * delta[j] + h[j] * delta[i]);
    }
    let (a, c) = (lower[0], upper[m - 1]);
    let g = -diagonal[0];
    let mut z = vec![0.0; m];
    z[0] = g;
    z[m - 1] = c;
    diagonal[0] -= g;
    diagonal[m - 1] -= a * c / g;
    let mut copy = diagonal.clone();
    solve_tridiagonal(&lower, &mut diagonal, &upper, &mut s);
    solve_tridiagonal(&lower, &mut copy, &upper, &mut z);
    let factor = (s[0] + a / g * s[m - 1]) / (1.0 + z[0] + a / g * z[m - 1]);
    for i in 0..m {
        s[i] -= factor * z[i];
    }
    s.push(s[0]);
    s
}

/// Elimination without pivoting, which diagonal dominance allows; the solution takes the place of `b`.
fn solve_tridiagonal(lower: &[f64], diagonal: &mut [f64], upper: &[f64], b: &mut [f64]) {
    let n = b.len();
    for i in 1..n {
        let factor = lower[i] / diagonal[i - 1];
        diagonal[i] -= factor * upper[i - 1];
        b[i] -= factor * b[i - 1];
    }
    b[n - 1] /= diagonal[n - 1];
    for i in (0..n - 1).rev() {
        b[i] = (b[i] - upper[i] * b[i + 1]) / diagonal[i];
    }
}
