//! Rotations of bodies in space: where they are in v, and the equations of one body.

use crate::problem::{GroupKind, Structure};
use sarrus_math::{Mat3, Vec3};

/// Newton iterations for the rate of one body.
const ITERATIONS: u32 = 30;
/// A rotation whose square is small enough for a series of two terms \[rad\].
const SMALL: f64 = 1e-3;
/// Relative size of a last correction for turns below half a radian: the next one would be less than 10⁻⁴ of it.
const QUICK: f64 = 1e-10;

/// Describes how a rate times time becomes a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RotationMap {
    /// The rotation about h w by its length: steady rotation about a principal axis is exact.
    #[default]
    Exponential,
    /// Cayley's map: the rotation about h w by 2 atan(h|w|/2).
    Cayley,
}

impl RotationMap {
    /// a and b of the momentum J w ± ½ ξ × J w + a (ξ·J w) ξ - b |ξ|² J w at the ends of a rotation ξ, from |ξ|².
    #[inline]
    fn momentum(self, squared: f64) -> [f64; 2] {
        match self {
            RotationMap::Cayley => [0.25, 0.0],
            RotationMap::Exponential => {
                let half = 0.5 * squared.sqrt();
                // (1 - (θ/2) cot(θ/2))/θ², whose digits cancel for small θ
                let c = if half < 0.05 {
                    1.0 / 12.0 + squared * (1.0 / 720.0 + squared * (1.0 / 30240.0 + squared / 1_209_600.0))
                } else {
                    (1.0 - half / half.tan()) / squared
                };
                [c, c]
            }
        }
    }

    /// The angle of a rotation by `size` = h|w|.
    pub fn angle(self, size: f64) -> f64 {
        match self {
            RotationMap::Exponential => size,
            RotationMap::Cayley => 2.0 * (0.5 * size).atan(),
        }
    }
}

/// A body that rotates about three axes, ω being in its own axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpinningBody {
    /// First index of ω in v.
    pub at: usize,
    /// Inertia about the centre of mass, body axes \[kg m²\].
    pub inertia: Mat3<f64>,
    /// Its inverse.
    pub inverse: Mat3<f64>,
}

/// The three numbers of `v` from `at`.
pub(super) fn three(v: &[f64], at: usize) -> Vec3<f64> {
    Vec3([v[at], v[at + 1], v[at + 2]])
}

/// All groups of three angular velocities whose inertia is a block of its own.
pub(super) fn spins(s: &Structure, mass: &[f64]) -> Vec<SpinningBody> {
    let rotating = s.groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity && g.len == 3);
    rotating
        .filter_map(|g| {
            let col = s.cols.get(s.cols.partition_point(|c| c.start <= g.start).checked_sub(1)?)?;
            let (n, first) = (col.size, g.start - col.start);
            if first + 3 > n {
                return None;
            }
            let entry = |i: usize, j: usize| mass[col.mass + i * n + j];
            let own = first..first + 3;
            let alone = (0..n).filter(|j| !own.contains(j)).all(|j| own.clone().all(|i| entry(i, j) == 0.0));
            let inertia = Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(first + i, first + j))));
            alone.then_some(SpinningBody::new(g.start, inertia))
        })
        .collect()
}

impl SpinningBody {
    pub fn new(at: usize, inertia: Mat3<f64>) -> SpinningBody {
        let [x, y, z] = [inertia.row(0), inertia.row(1), inertia.row(2)];
        let factor = 1.0 / x.dot(y.cross(z));
        let inverse =
            Mat3::from_cols(y.cross(z).scale(factor), z.cross(x).scale(factor), x.cross(y).scale(factor));
        SpinningBody { at, inertia, inverse }
    }

    /// ω × J ω, which the force in [`Equations::f`](crate::Equations::f) has with the other sign.
    pub fn gyroscopic(&self, w: Vec3<f64>) -> Vec3<f64> {
        w.cross(self.inertia * w)
    }

    /// w with J w + ½ ξ × J w + a (ξ·J w) ξ - b |ξ|² J w = `momentum`, ξ = h w, by Newton's method from `start`; a and b, which
    /// hardly change, are not differentiated.
    #[inline]
    pub fn rate(&self, map: RotationMap, momentum: Vec3<f64>, h: f64, start: Vec3<f64>) -> Option<Vec3<f64>> {
        let mut w = start;
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let residual = self.momentum_at_ends(map, w, h)[0] - momentum;
            let change = self.solve_tangent(map, w, h, residual)?;
            w -= change;
            let size = change.norm();
            let reached = if h * h * w.dot(w) < 0.25 { QUICK } else { 4.0 * f64::EPSILON };
            if size <= reached * w.norm() || (size >= 0.5 * last && size <= 1e-12 * w.norm()) {
                return Some(w);
            }
            last = size;
        }
        None
    }

    /// Columns of the derivative of the momentum at the start with respect to w, a and b held.
    #[inline]
    fn tangent(&self, map: RotationMap, w: Vec3<f64>, h: f64) -> [Vec3<f64>; 3] {
        let Jw = self.inertia * w;
        let [a, b] = map.momentum(h * h * w.dot(w));
        let (a, b) = (a * h * h, b * h * h);
        let (spin, size) = (w.dot(Jw), w.dot(w));
        // written out: a closure per column is not inlined, and this is done for every body several times a step
        let column = |Ji: Vec3<f64>, gyroscopic: Vec3<f64>, i: usize| {
            let rotation = (w.cross(Ji) - gyroscopic).scale(0.5 * h);
            let mut column =
                Ji.scale(1.0 - b * size) + rotation + w.scale(2.0 * a * Jw.0[i]) - Jw.scale(2.0 * b * w.0[i]);
            column.0[i] += a * spin;
            column
        };
        let [x, y, z] = Jw.0;
        [
            column(self.inertia.col(0), Vec3([0.0, z, -y]), 0),
            column(self.inertia.col(1), Vec3([-z, 0.0, x]), 1),
            column(self.inertia.col(2), Vec3([y, -x, 0.0]), 2),
        ]
    }

    /// x with T x = y, T being the tangent; for small rotates by two terms of the series in h w, exact to their square.
    #[inline]
    fn solve_tangent(&self, map: RotationMap, w: Vec3<f64>, h: f64, y: Vec3<f64>) -> Option<Vec3<f64>> {
        if h * h * w.dot(w) > SMALL * SMALL {
            return solve(self.tangent(map, w, h), y);
        }
        let x = self.inverse * y;
        let rotated = w.cross(self.inertia * x) + x.cross(self.inertia * w);
        let x = x - self.inverse * rotated.scale(0.5 * h);
        x.0.iter().all(|x| x.is_finite()).then_some(x)
    }

    /// To first order, the change of w that a change of momentum makes, and the rotation that this adds at the end of the step.
    #[inline]
    pub fn respond(&self, map: RotationMap, w: Vec3<f64>, h: f64, momentum: Vec3<f64>) -> [Vec3<f64>; 2] {
        let change = self.solve_tangent(map, w, h, momentum).unwrap_or(Vec3([0.0; 3]));
        // the derivative of the exponential map, in the axes at the end; of Cayley's it is the same to the second term
        let once = w.cross(change).scale(h);
        let twice = w.cross(once).scale(h);
        [change, (change - once.scale(0.5) + twice.scale(1.0 / 6.0)).scale(h)]
    }

    /// The angular momentum of a step that w carries, in the axes of the body at its start and at its end.
    #[inline]
    pub fn momentum_at_ends(&self, map: RotationMap, w: Vec3<f64>, h: f64) -> [Vec3<f64>; 2] {
        let Jw = self.inertia * w;
        let [a, b] = map.momentum(h * h * w.dot(w));
        let even = Jw.scale(1.0 - b * h * h * w.dot(w)) + w.scale(a * h * h * w.dot(Jw));
        let odd = w.cross(Jw).scale(0.5 * h);
        [even + odd, even - odd]
    }
}

/// x with [a b c] x = y, by Cramer's rule.
#[inline]
fn solve([a, b, c]: [Vec3<f64>; 3], y: Vec3<f64>) -> Option<Vec3<f64>> {
    let bc = b.cross(c);
    let determinant = a.dot(bc);
    let x = Vec3([y.dot(bc), a.dot(y.cross(c)), a.dot(b.cross(y))]).scale(1.0 / determinant);
    x.0.iter().all(|x| x.is_finite()).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sarrus_math::quat_from_rotation_vector;

    #[test]
    fn a_free_body_keeps_its_angular_momentum_in_space() {
        let spin = SpinningBody::new(0, Mat3([[1.0, 0.2, 0.0], [0.2, 2.0, 0.1], [0.0, 0.1, 2.5]]));
        let omega = Vec3([1.0, -2.0, 0.5]);
        for map in [RotationMap::Exponential, RotationMap::Cayley] {
            for h in [0.01, 0.1, 0.5] {
                let w = spin.rate(map, spin.inertia * omega, h, omega).unwrap();
                let [start, end] = spin.momentum_at_ends(map, w, h);
                let factor = map.angle(h * w.norm()) / w.norm();
                let rotation = Mat3::from_quat(quat_from_rotation_vector(&w.scale(factor).0));
                let difference = rotation * end - start;
                assert!(difference.norm() < 1e-14, "{map:?} {h}: {difference:?}");
            }
        }
    }

    #[test]
    fn steady_rotation_about_a_principal_axis_is_exact_with_the_exponential() {
        let spin = SpinningBody::new(0, Mat3([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.5]]));
        let omega = Vec3([0.0, 3.0, 0.0]);
        let w = spin.rate(RotationMap::Exponential, spin.inertia * omega, 0.3, omega).unwrap();
        assert!((w - omega).norm() < 1e-15, "{w:?}");
    }
}
