//! Dense output of methods that know the rates at both ends of a step: cubics, of positions and rotations on their group.
//!
//! With δ₁ = q₁ ⊖ q₀, q(θ) = q₀ ⊕ δ(θ), where δ is the cubic with δ(0) = 0, δ(1) = δ₁ and the slopes h v₀ and h T⁻¹(δ₁) v₁. A body that
//! rotates about a fixed axis at a constant angular acceleration is met exactly, at any angle. Rotation vectors are known up to whole
//! revolutions: the one nearest to h (ω₀ + ω₁)/2 is taken.

use crate::implicit::right_tangent_inverse;
use crate::problem::{GroupKind, State, Structure};
use crate::views::Staggered;
use std::f64::consts::TAU;

/// A rotation vector shorter than this has no direction of its own \[rad\].
const NO_AXIS: f64 = 1e-9;

/// The interpolant of a step.
#[derive(Debug, Default)]
pub(super) struct StepInterpolant {
    /// First indices in v of rotations in space.
    rotations: Vec<usize>,
    zero: Vec<f64>,
    /// δ₁.
    change: Vec<f64>,
    /// T⁻¹(δ₁) v₁.
    rate: Vec<f64>,
    /// δ(θ).
    delta: Vec<f64>,
    /// True if they belong to the step at hand.
    is_known: bool,
}

impl StepInterpolant {
    /// Sizes the workspace.
    pub fn prepare(&mut self, s: &Structure) {
        let spatial = s.groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity && g.len == 3);
        self.rotations = spatial.map(|g| g.start).collect();
        for x in [&mut self.zero, &mut self.change, &mut self.rate, &mut self.delta] {
            *x = vec![0.0; s.nv];
        }
        self.forget();
    }

    /// Another step was taken.
    pub fn forget(&mut self) {
        self.is_known = false;
    }

    fn know<V: Staggered + ?Sized>(&mut self, view: &V, [start, end]: [&State; 2]) {
        let half = 0.5 * (end.t - start.t);
        view.difference(&end.q, &start.q, &mut self.change);
        self.rate.copy_from_slice(&end.v);
        for &i in &self.rotations {
            let at = |x: &[f64]| [x[i], x[i + 1], x[i + 2]];
            let (from, to) = (at(&start.v), at(&end.v));
            let expected = [0, 1, 2].map(|k| half * (from[k] + to[k]));
            let change = whole_rotation(at(&self.change), expected);
            let S = right_tangent_inverse(change);
            for k in 0..3 {
                let rate: f64 = (0..3).map(|j| S[k][j] * to[j]).sum();
                self.change[i + k] = change[k];
                // T is singular at whole revolutions; along their axis it is 1
                self.rate[i + k] = if rate.is_finite() { rate } else { to[k] };
            }
        }
        self.is_known = true;
    }

    /// The state at `t` \[s\] into `out`, in the step between `ends` with the rates (v̇, ẋ) there.
    pub fn write<V: Staggered + ?Sized>(
        &mut self,
        view: &V,
        ends: [&State; 2],
        rates: [(&[f64], &[f64]); 2],
        t: f64,
        out: &mut State,
    ) {
        if !self.is_known {
            self.know(view, ends);
        }
        let [start, end] = ends;
        let [(a, xdot0), (b, xdot1)] = rates;
        let h = end.t - start.t;
        let theta = if h > 0.0 { ((t - start.t) / h).clamp(0.0, 1.0) } else { 1.0 };
        hermite(&mut self.delta, theta, h, [&self.zero, &self.change], [&start.v, &self.rate]);
        out.q.copy_from_slice(&start.q);
        view.retract(&mut out.q, &self.delta);
        hermite(&mut out.v, theta, h, [&start.v, &end.v], [a, b]);
        hermite(&mut out.x, theta, h, [&start.x, &end.x], [xdot0, xdot1]);
        out.t = t.clamp(start.t, end.t);
    }
}

/// The cubic with values `y` and slopes `d` at the ends of a step.
fn hermite(out: &mut [f64], theta: f64, h: f64, y: [&[f64]; 2], d: [&[f64]; 2]) {
    let (a, b) = (theta * (theta - 1.0), 1.0 - 2.0 * theta);
    for (i, out) in out.iter_mut().enumerate() {
        let (y0, y1) = (y[0][i], y[1][i]);
        let change = y1 - y0;
        *out = y0 + theta * change + a * (b * change + h * ((theta - 1.0) * d[0][i] + theta * d[1][i]));
    }
}

/// The rotation vector nearest to `expected` of those that mean the same rotation as `turn`.
fn whole_rotation(rotation: [f64; 3], expected: [f64; 3]) -> [f64; 3] {
    let length = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let angle = length(rotation);
    let (axis, of) = if angle > NO_AXIS { (rotation, angle) } else { (expected, length(expected)) };
    let along = (0..3).map(|k| axis[k] * expected[k]).sum::<f64>() / of;
    let revolutions = ((along - angle) / TAU).round();
    // none, also where there is no axis
    if !(revolutions.abs() >= 1.0) {
        return rotation;
    }
    [0, 1, 2].map(|k| rotation[k] + TAU * revolutions * axis[k] / of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revolutions_are_those_that_the_speeds_say() {
        let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-12);
        let rotation = [0.0, 0.0, 1.0];
        assert_eq!(whole_rotation(rotation, [0.0, 0.0, 1.1]), rotation);
        assert_eq!(whole_rotation(rotation, [0.0; 3]), rotation);
        assert!(near(whole_rotation(rotation, [0.0, 0.1, 1.0 + 3.0 * TAU]), [0.0, 0.0, 1.0 + 3.0 * TAU]));
        assert!(near(whole_rotation(rotation, [0.0, 0.0, -5.0]), [0.0, 0.0, 1.0 - TAU]));
        assert!(near(whole_rotation([0.0; 3], [2.0 * TAU, 0.0, 0.0]), [2.0 * TAU, 0.0, 0.0]));
        assert_eq!(whole_rotation([0.0; 3], [0.0; 3]), [0.0; 3]);
    }
}
