//! Unit quaternions (w, x, y, z) that map body axes to world axes.

/// a ⊗ b: first the rotation b, then a.
#[inline]
pub fn quat_mul(a: &[f64; 4], b: &[f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// The inverse rotation of a unit quaternion.
#[inline]
pub fn quat_conjugate(q: &[f64; 4]) -> [f64; 4] {
    [q[0], -q[1], -q[2], -q[3]]
}

/// q / |q|, with the sign of q; the identity for q = 0.
#[inline]
pub fn quat_normalize(q: [f64; 4]) -> [f64; 4] {
    let norm2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (1e-200..1e200).contains(&norm2) {
        let norm = norm2.sqrt();
        return q.map(|x| x / norm);
    }
    // squares over- or underflow: scale by the largest component first
    let largest = q.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 && q.iter().all(|x| *x == 0.0) {
        return [1.0, 0.0, 0.0, 0.0];
    }
    let r = q.map(|x| x / largest);
    let norm = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]).sqrt();
    r.map(|x| x / norm)
}

/// exp(θ/2): the rotation by |θ| about θ.
#[inline]
pub fn quat_from_rotation_vector(theta: &[f64; 3]) -> [f64; 4] {
    let a2 = theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2];
    let (w, s) = if a2 < 1e-6 {
        // cos(a/2) and sin(a/2)/a to a⁶
        (
            1.0 - a2 / 8.0 * (1.0 - a2 / 48.0 * (1.0 - a2 / 120.0)),
            0.5 * (1.0 - a2 / 24.0 * (1.0 - a2 / 80.0 * (1.0 - a2 / 168.0))),
        )
    } else {
        let a = a2.sqrt();
        let (sin, cos) = (0.5 * a).sin_cos();
        (cos, sin / a)
    };
    [w, s * theta[0], s * theta[1], s * theta[2]]
}

/// 2 log q: the rotation vector of a unit quaternion, |θ| ≤ π.
#[inline]
pub fn quat_to_rotation_vector(q: &[f64; 4]) -> [f64; 3] {
    let s = (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    // q and -q are the same rotation: take the shorter way
    let (w, sign) = if q[0] < 0.0 { (-q[0], -1.0) } else { (q[0], 1.0) };
    let scale = if s < 1e-160 { 2.0 * sign / w } else { 2.0 * sign * s.atan2(w) / s };
    [scale * q[1], scale * q[2], scale * q[3]]
}

/// q̇ = ½ q ⊗ (0, ω) for the angular velocity ω in body axes.
#[inline]
pub fn quat_derivative(q: &[f64; 4], w_B: &[f64; 3]) -> [f64; 4] {
    quat_mul(q, &[0.0, 0.5 * w_B[0], 0.5 * w_B[1], 0.5 * w_B[2]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mat3;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn distance<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
        a.iter().zip(b).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn products_are_products_of_rotations(
            a in prop::array::uniform3(-3.0..3.0),
            b in prop::array::uniform3(-3.0..3.0),
        ) {
            let (a, b) = (quat_from_rotation_vector(&a), quat_from_rotation_vector(&b));
            let product = Mat3::from_quat(a) * Mat3::from_quat(b);
            let R = Mat3::from_quat(quat_mul(&a, &b));
            for i in 0..3 {
                prop_assert!(distance(&R.0[i], &product.0[i]) < 3e-15);
            }
            let back = quat_mul(&quat_conjugate(&a), &quat_mul(&a, &b));
            prop_assert!(distance(&back, &b) < 1e-15);
        }

        #[test]
        fn rotation_vectors_come_back(
            direction in prop::array::uniform3(-1.0..1.0f64),
            exponent in -12.0..0.6f64,
        ) {
            let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            prop_assume!(norm > 1e-3);
            // angles from 1e-12 to just below π
            let angle = 10f64.powf(exponent).min(3.1);
            let theta = direction.map(|x| x / norm * angle);
            let q = quat_from_rotation_vector(&theta);
            prop_assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15);
            prop_assert!(distance(&quat_to_rotation_vector(&q), &theta) < 4e-15 * angle);
            // q and -q are one rotation
            prop_assert!(distance(&quat_to_rotation_vector(&q.map(|x| -x)), &theta) < 4e-15 * angle);
        }
    }

    /// The branch for small angles meets the other one; both against sin and cos of the half angle.
    #[test]
    fn small_rotations_are_as_accurate_as_large_ones() {
        for angle in [0.0, 1e-300, 1e-8, 0.99e-3, 1.01e-3, 0.1, 3.0] {
            let q = quat_from_rotation_vector(&[0.0, angle, 0.0]);
            let expected = [(0.5f64 * angle).cos(), 0.0, (0.5f64 * angle).sin(), 0.0];
            assert!(
                (q[0] - expected[0]).abs() < 2e-16 && (q[2] - expected[2]).abs() <= 4e-16 * expected[2],
                "{angle}"
            );
        }
    }

    /// q(t + h) = q(t) ⊗ exp(h ω/2) for a constant ω in body axes; the central difference is off by h²/6 |q‴|.
    #[test]
    fn the_derivative_is_that_of_a_steady_turn() {
        let (q, w) = (quat_normalize([0.3, -0.5, 0.7, 0.1]), [0.4, -1.1, 0.8]);
        let h = 1e-5;
        let at = |h: f64| quat_mul(&q, &quat_from_rotation_vector(&w.map(|x| h * x)));
        let (a, b) = (at(h), at(-h));
        let difference = [0, 1, 2, 3].map(|i| (a[i] - b[i]) / (2.0 * h));
        assert!(distance(&quat_derivative(&q, &w), &difference) < 5e-11);
    }

    #[test]
    fn normalizing_survives_any_scale() {
        for scale in [1e-320, 1e-170, 1.0, 1e170, 1e307] {
            let q = quat_normalize([scale, -scale, scale, scale]);
            assert!(distance(&q, &[0.5, -0.5, 0.5, 0.5]) < 1e-15, "{scale}: {q:?}");
        }
        assert_eq!(quat_normalize([0.0; 4]), [1.0, 0.0, 0.0, 0.0]);
        assert!(quat_normalize([f64::NAN; 4])[0].is_nan());
        assert!(quat_normalize([0.0, f64::NAN, 0.0, 0.0])[1].is_nan());
    }
}
