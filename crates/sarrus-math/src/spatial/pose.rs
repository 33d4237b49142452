//! Describes where a body is.
//!
//! The tangent of a pose is (δp in W, δθ in B): δR = R [δθ]×, δangle = δθ_z.

use crate::{Dual, Jet, Mat3, Real, Vec3};

/// Position and orientation of a body (or of a frame) B in W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<R = f64> {
    /// Origin of B in W: for a body its centre of mass \[m\].
    pub p: Vec3<R>,
    /// R_WB.
    pub rot: Mat3<R>,
    /// Angle of a planar body, not wrapped \[rad\]; 0 for a spatial one.
    pub angle: R,
}

impl<R: Real> Pose<R> {
    /// The pose of W itself.
    #[inline]
    pub fn identity() -> Self {
        Pose { p: Vec3::zero(), rot: Mat3::identity(), angle: R::zero() }
    }

    /// A spatial pose.
    #[inline]
    pub fn from_quat(p: [R; 3], q: [R; 4]) -> Self {
        Pose { p: Vec3(p), rot: Mat3::from_quat(q), angle: R::zero() }
    }

    /// A planar pose.
    #[inline]
    pub fn planar(x: R, y: R, angle: R) -> Self {
        Pose { p: Vec3([x, y, R::zero()]), rot: Mat3::rot_z(angle), angle }
    }

    /// The pose without its derivatives.
    #[inline]
    pub fn value(&self) -> Pose<f64> {
        Pose { p: Vec3(self.p.value()), rot: self.rot.value(), angle: self.angle.value() }
    }

    /// The point `p_B` of B, in W.
    #[inline]
    pub fn point(&self, p_B: &[f64; 3]) -> Vec3<R> {
        self.p + self.rot.mul_f64(p_B)
    }

    /// The vector `a_B` of B, in W.
    #[inline]
    pub fn rotate(&self, a_B: &[f64; 3]) -> Vec3<R> {
        self.rot.mul_f64(a_B)
    }

    /// The vector `a_W`, in B.
    #[inline]
    pub fn to_local(&self, a_W: Vec3<R>) -> Vec3<R> {
        self.rot.transpose_mul(a_W)
    }

    /// X_WC = X_WB X_BC for a frame C fixed in B.
    #[inline]
    pub fn compose(&self, frame: &Pose<f64>) -> Self {
        Pose {
            p: self.point(&frame.p.0),
            rot: self.rot.mul_mat_f64(&frame.rot),
            angle: self.angle + frame.angle,
        }
    }

    /// The pose with derivatives: slot `first + i` is along `columns[i]` of (x, y, z in W, θx, θy, θz in B).
    #[inline]
    pub fn seed<const N: usize>(&self, first: usize, columns: &[usize]) -> Pose<Dual<N, R>> {
        let mut p = Vec3(self.p.0.map(Dual::constant));
        let mut rot = Mat3(self.rot.0.map(|row| row.map(Dual::constant)));
        let mut angle = Dual::constant(self.angle);
        for (i, &column) in columns.iter().enumerate() {
            let slot = first + i;
            if column < 3 {
                p.0[column].d[slot] = R::one();
                continue;
            }
            // R [e_a]×: with a, b, c cyclic, column b becomes column c and column c becomes minus column b
            let a = column - 3;
            let (b, c) = ([1, 2, 0][a], [2, 0, 1][a]);
            for r in 0..3 {
                rot.0[r][b].d[slot] = self.rot.0[r][c];
                rot.0[r][c].d[slot] = -self.rot.0[r][b];
            }
            if a == 2 {
                angle.d[slot] = R::one();
            }
        }
        Pose { p, rot, angle }
    }
}

impl Pose<f64> {
    /// The same pose as a constant.
    #[inline]
    pub fn lift<R: Real>(&self) -> Pose<R> {
        Pose { p: Vec3::from_f64(self.p.0), rot: Mat3::from_f64(self.rot.0), angle: R::from_f64(self.angle) }
    }

    /// The motion from this pose with `v[k]`, `w[k]` the k-th time derivatives of ṗ in W and of ω in B.
    ///
    /// Missing derivatives are zero; those past K are not checked. Ṙ = R ω̃, row by row ρ̇ = ρ × ω:
    /// (k + 1) ρₖ₊₁ = Σ ρⱼ × ωₖ₋ⱼ, j ≤ k.
    #[inline]
    pub fn jet<const K: usize>(&self, v: &[[f64; 3]], w: &[[f64; 3]]) -> Pose<Jet<K>> {
        let mut pose: Pose<Jet<K>> = self.lift();

        // Taylor coefficients of ω
        let mut omega = [[0.0; 3]; K];
        let mut factorial = 1.0;
        for k in 0..K {
            factorial *= k.max(1) as f64;
            if let Some(w) = w.get(k) {
                omega[k] = w.map(|x| x / factorial);
            }
            // the coefficient k + 1 of p comes from derivative k of ṗ
            if let (Some(v), true) = (v.get(k), k + 1 < K) {
                for i in 0..3 {
                    pose.p.0[i].c[k + 1] = v[i] / (factorial * (k + 1) as f64);
                }
            }
        }

        for k in 1..K {
            let by_k = 1.0 / k as f64;
            for row in &mut pose.rot.0 {
                let mut sum = [0.0; 3];
                for j in 0..k {
                    let [x, y, z] = [row[0].c[j], row[1].c[j], row[2].c[j]];
                    let w = &omega[k - 1 - j];
                    sum[0] += y * w[2] - z * w[1];
                    sum[1] += z * w[0] - x * w[2];
                    sum[2] += x * w[1] - y * w[0];
                }
                for i in 0..3 {
                    row[i].c[k] = sum[i] * by_k;
                }
            }
            pose.angle.c[k] = omega[k - 1][2] * by_k;
        }
        pose
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{quat_from_rotation_vector, quat_mul, quat_normalize};

    const P: [f64; 3] = [0.2, -0.4, 0.9];

    fn pose() -> Pose {
        Pose::from_quat([1.0, 2.0, -3.0], quat_normalize([0.8, -0.3, 0.5, 0.2]))
    }

    /// The pose moved by a finite (δp in W, rotation vector in B).
    fn moved(delta: [f64; 6]) -> Pose {
        let q = quat_normalize([0.8, -0.3, 0.5, 0.2]);
        let rotation = quat_from_rotation_vector(&[delta[3], delta[4], delta[5]]);
        Pose::from_quat([1.0 + delta[0], 2.0 + delta[1], -3.0 + delta[2]], quat_mul(&q, &rotation))
    }

    /// Central differences: off by h²/6 ≈ 2e-11 and roundoff/h ≈ 1e-11.
    #[test]
    fn seeds_are_derivatives_along_finite_moves() {
        let seeded: Pose<Dual<8>> = pose().seed(2, &[0, 1, 2, 3, 4, 5]);
        let point = seeded.point(&P);
        let h = 1e-5;
        for column in 0..6 {
            let mut delta = [0.0; 6];
            delta[column] = h;
            let (a, b) = (moved(delta).point(&P), moved(delta.map(|x| -x)).point(&P));
            let difference = (a - b).scale(0.5 / h);
            for i in 0..3 {
                assert!((point[i].d[column + 2] - difference[i]).abs() < 5e-11, "{column}");
                assert_eq!(point[i].d[..2], [0.0, 0.0]);
            }
            assert_eq!(seeded.angle.d[column + 2], if column == 5 { 1.0 } else { 0.0 });
        }
        assert_eq!(point.value(), pose().point(&P).0);
    }

    #[test]
    fn a_planar_seed_is_the_derivative_in_x_y_and_angle() {
        let planar = Pose::planar(0.5, -0.2, 7.0);
        let seeded: Pose<Dual<3>> = planar.seed(0, &[0, 1, 5]);
        let direct = Pose::planar(Dual::variable(0.5, 0), Dual::variable(-0.2, 1), Dual::variable(7.0, 2));
        let (a, b) = (seeded.point(&P), direct.point(&P));
        for i in 0..3 {
            for k in 0..3 {
                assert!((a[i].d[k] - b[i].d[k]).abs() < 1e-15);
            }
        }
        assert_eq!(seeded.angle, direct.angle);
    }

    /// A body that turns steadily about an axis fixed in it and in space follows exp(ωt).
    #[test]
    fn jets_of_a_steady_turn_sum_to_the_finite_rotation() {
        let w = [0.9, -0.4, 0.7];
        let jet: Pose<Jet<12>> = pose().jet(&[[1.0, 0.0, 2.0], [0.0, 6.0, 0.0]], &[w]);
        let t = 0.05;
        let point = jet.point(&P).0.map(|x| x.c.iter().rev().fold(0.0, |sum, c| sum * t + c));
        let expected = moved([t, 3.0 * t * t, 2.0 * t, w[0] * t, w[1] * t, w[2] * t]).point(&P);
        assert!((Vec3(point) - expected).norm() < 2e-15);
    }

    /// ω about z of any time course: the angle is its integral and the rotation that of the angle.
    #[test]
    fn jets_of_a_planar_motion_are_those_of_its_angle() {
        let angle = Jet::<6>::from_derivatives(&[0.3, 1.1, -0.7, 2.0, -5.0, 3.0]);
        let w: Vec<[f64; 3]> = (1..6).map(|k| [0.0, 0.0, angle.derivative(k)]).collect();
        let jet: Pose<Jet<6>> = Pose::planar(0.0, 0.0, 0.3).jet(&[], &w);
        let expected = Mat3::rot_z(angle);
        for k in 0..6 {
            assert!((jet.angle.c[k] - angle.c[k]).abs() < 1e-15);
            for i in 0..9 {
                assert!((jet.rot.0[i / 3][i % 3].c[k] - expected.0[i / 3][i % 3].c[k]).abs() < 1e-15);
            }
        }
    }

    /// R̈ = R (ω̃² + α̃) and R⃛ = R (ω̃³ + 2 ω̃α̃ + α̃ω̃ + j̃), with α = ω̇ and j = ω̈.
    #[test]
    fn jets_of_a_changing_turn_have_the_closed_form_derivatives() {
        let [w, alpha, j] = [[0.9, -0.4, 0.7], [-1.0, 0.3, 2.0], [0.2, 0.5, -0.6]];
        let jet: Pose<Jet<4>> = pose().jet(&[], &[w, alpha, j, [9.0; 3]]);
        let [W, A, J] = [w, alpha, j].map(|a| Mat3::skew(Vec3(a)));
        let second = [W * W, A];
        let third = [W * W * W, W * A, W * A, A * W, J];
        let at = |terms: &[Mat3], i: usize, j: usize| -> f64 {
            terms.iter().map(|term| (pose().rot * *term).0[i][j]).sum()
        };
        for i in 0..3 {
            for j in 0..3 {
                assert!((jet.rot.0[i][j].derivative(1) - at(&[W], i, j)).abs() < 1e-15);
                assert!((jet.rot.0[i][j].derivative(2) - at(&second, i, j)).abs() < 1e-14);
                assert!((jet.rot.0[i][j].derivative(3) - at(&third, i, j)).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_single_coefficient_jet_is_the_pose() {
        let jet: Pose<Jet<1>> = pose().jet(&[[1.0; 3]], &[[1.0; 3]]);
        assert_eq!(jet.value(), pose());
    }

    #[test]
    fn composing_with_a_frame_moves_its_points() {
        let frame = Pose::planar(0.3, 0.1, 0.4);
        let composed = pose().compose(&frame);
        assert!((composed.point(&P) - pose().point(&frame.point(&P).0)).norm() < 1e-15);
        assert_eq!(composed.angle, 0.4);
        assert_eq!(Pose::<f64>::identity().compose(&frame), frame);
        assert!((pose().to_local(pose().rotate(&P)) - Vec3(P)).norm() < 1e-15);
        assert_eq!(pose().lift::<Dual<2>>().value(), pose());
    }
}
