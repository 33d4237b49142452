//! Euler angles zxz: R = Rz(α) Rx(β) Rz(γ), body to world, about the body's own axes in turn.
//!
//! As a unit quaternion, w = cos(β/2) cos σ, z = cos(β/2) sin σ, x = sin(β/2) cos δ, y = sin(β/2) sin δ with
//! σ = (α + γ)/2 and δ = (α - γ)/2. With ω in body axes,
//!
//! ωx = α̇ sin β sin γ + β̇ cos γ,  ωy = α̇ sin β cos γ - β̇ sin γ,  ωz = α̇ cos β + γ̇,
//!
//! which cannot be solved for the angles' rates where sin β = 0: there α and γ rotate about the same axis.

use std::f64::consts::{PI, TAU};

/// The unit quaternion of zxz angles.
pub fn euler_to_quat([alpha, beta, gamma]: [f64; 3]) -> [f64; 4] {
    let (sin_b, cos_b) = (0.5 * beta).sin_cos();
    let (sin_s, cos_s) = (0.5 * (alpha + gamma)).sin_cos();
    let (sin_d, cos_d) = (0.5 * (alpha - gamma)).sin_cos();
    [cos_b * cos_s, sin_b * cos_d, sin_b * sin_d, cos_b * sin_s]
}

/// zxz angles of a unit quaternion: of all that mean the same rotation, those nearest to `near`.
///
/// Where sin β = 0 only the sum or the difference of α and γ is known; the other stays as in `near`.
pub fn quat_to_euler(q: &[f64; 4], near: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = *q;
    let (sin_b, cos_b) = (x.hypot(y), w.hypot(z));
    let beta = 2.0 * sin_b.atan2(cos_b);
    let sigma = if cos_b > 0.0 { z.atan2(w) } else { 0.5 * (near[0] + near[2]) };
    let delta = if sin_b > 0.0 { y.atan2(x) } else { 0.5 * (near[0] - near[2]) };
    let (alpha, gamma) = (sigma + delta, sigma - delta);
    // (α, β, γ) and (α + π, -β, γ + π) are the same rotation, and whole revolutions of any
    let first = nearest_revolutions([alpha, beta, gamma], near);
    let second = nearest_revolutions([alpha + PI, -beta, gamma + PI], near);
    let far = |a: &[f64; 3]| a.iter().zip(near).map(|(a, n)| (a - n).powi(2)).sum::<f64>();
    if far(&second) < far(&first) { second } else { first }
}

fn nearest_revolutions(angles: [f64; 3], near: [f64; 3]) -> [f64; 3] {
    let mut angle = angles;
    angle.iter_mut().zip(near).for_each(|(a, n)| *a += TAU * ((n - *a) / TAU).round());
    angle
}

/// Rates of zxz angles for the angular velocity ω in body axes; not finite where sin β = 0.
pub fn euler_derivative([_, beta, gamma]: [f64; 3], w_B: [f64; 3]) -> [f64; 3] {
    let ((sin_b, cos_b), (sin_g, cos_g)) = (beta.sin_cos(), gamma.sin_cos());
    let alpha_dot = (w_B[0] * sin_g + w_B[1] * cos_g) / sin_b;
    [alpha_dot, w_B[0] * cos_g - w_B[1] * sin_g, w_B[2] - alpha_dot * cos_b]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mat3, quat_derivative, quat_mul};

    const ANGLES: [[f64; 3]; 6] = [
        [0.3, 1.1, -0.7],
        [3.0, 0.2, 2.9],
        [-2.5, 3.0, 1.0],
        [9.0, -1.0, 20.0],
        [0.4, 1e-9, 0.3],
        [0.1, PI - 1e-9, 0.2],
    ];

    fn about(axis: usize, angle: f64) -> [f64; 4] {
        let mut q = [(0.5 * angle).cos(), 0.0, 0.0, 0.0];
        q[1 + axis] = (0.5 * angle).sin();
        q
    }

    #[test]
    fn the_sequence_is_z_then_the_new_x_then_the_new_z() {
        for [a, b, c] in ANGLES {
            let product = quat_mul(&quat_mul(&about(2, a), &about(0, b)), &about(2, c));
            let q = euler_to_quat([a, b, c]);
            assert!(q.iter().zip(&product).all(|(x, y)| (x - y).abs() < 4e-16), "{q:?} {product:?}");
        }
        // a quarter rotation about x takes y to z
        let R = Mat3::from_quat(euler_to_quat([0.0, PI / 2.0, 0.0]));
        assert!((R.0[2][1] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn angles_come_back_on_their_own_branch_and_turn() {
        for angles in ANGLES {
            let q = euler_to_quat(angles);
            let near = [angles[0] + 0.1, angles[1] - 0.05, angles[2] + 0.02];
            for q in [q, q.map(|x| -x)] {
                let back = quat_to_euler(&q, near);
                // at sin β = 1e-9 α and γ are known to 1e-7 only, the rotation to rounding
                let tolerance = 1e-15 / angles[1].sin().abs() + 2e-15 * angles[2].abs().max(1.0);
                let off = back.iter().zip(&angles).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(off <= 4.0 * tolerance, "{angles:?} {back:?}");
                let again = euler_to_quat(back);
                let same = again.iter().zip(&q).map(|(a, b)| a * b).sum::<f64>().abs();
                assert!((same - 1.0).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn where_only_the_sum_is_known_the_difference_stays() {
        let back = quat_to_euler(&euler_to_quat([0.5, 0.0, 0.2]), [0.9, 0.0, -0.1]);
        assert!(
            (back[0] + back[2] - 0.7).abs() < 1e-15 && (back[0] - back[2] - 1.0).abs() < 1e-15,
            "{back:?}"
        );
    }

    /// The rates turn the rotation as ω does: dq/dt by the chain rule against ½ q ⊗ ω.
    #[test]
    fn rates_are_those_of_the_angular_velocity() {
        let w = [0.7, -1.3, 0.4];
        for angles in &ANGLES[..4] {
            let q = euler_to_quat(*angles);
            let rates = euler_derivative(*angles, w);
            // exact derivatives of the four products
            let [a, b, c] = *angles;
            let (half_b, s, d) = (0.5 * b, 0.5 * (a + c), 0.5 * (a - c));
            let (db, ds, dd) = (0.5 * rates[1], 0.5 * (rates[0] + rates[2]), 0.5 * (rates[0] - rates[2]));
            let moved = [
                -half_b.sin() * s.cos() * db - half_b.cos() * s.sin() * ds,
                half_b.cos() * d.cos() * db - half_b.sin() * d.sin() * dd,
                half_b.cos() * d.sin() * db + half_b.sin() * d.cos() * dd,
                -half_b.sin() * s.sin() * db + half_b.cos() * s.cos() * ds,
            ];
            let expected = quat_derivative(&q, &w);
            assert!(
                moved.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-14),
                "{moved:?} {expected:?}"
            );
        }
        assert!(euler_derivative([0.0; 3], w).iter().any(|x| !x.is_finite()));
    }
}
