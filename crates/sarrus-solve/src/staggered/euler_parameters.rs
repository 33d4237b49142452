//! The nonlinearly implicit update of Euler parameters \[Park1987, section 5\], for one body.
//!
//! Mid-point rules for q and q̇ together, δ = h/2, q̈ = A(ω̇) q + A(ω) q̇ with A(ω) q = q ∘ ω/2:
//!
//! ```text
//! [I - δ A(ω½) - δ² A(ω̇½)] q½ = [I - δ A(ω½)] q + δ q̇          (5.7a)
//! [I - δ A(ω½)] q̇½ = q̇ + δ A(ω̇½) q½                            (5.7b; printed with A(ω½) on the right)
//! q' = 2 q½ - q,  q̇' = 2 q̇½ - q̇,                               (5.6)
//! ```
//!
//! each with its condition, |q|² = 1 and q·q̇ = 0, and a multiplier for it (5.15-5.18). Both have closed solutions: A is skew with
//! A² = -a² I, so (c I - A) b has the inverse (c I + A)/(c² + a²), and
//!
//! - (E + ν I) q = b, |q| = 1 with E = I - A: c = 1 + ν = √(|b|² - a²);
//! - E q̇ + ν q = b, q·q̇ = 0: ν = q·b + q·A b. (5.16 prints q̇ for the q beside ν.)
//!
//! All is invariant under a rotation of the world, so q is taken as (1, 0, 0, 0) and the result is a rotation of the body.

use sarrus_math::quat_mul;

type Quat = [f64; 4];

/// Holds what a body does in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepRotation {
    /// The turn itself, a unit quaternion from body axes at the start.
    pub q: Quat,
    /// Angular velocity behind it, body axes there \[rad/s\].
    pub omega: [f64; 3],
}

/// Turns over half a step and over all of it, from ω at the start, and ω and ω̇ at its middle as far as they are known. None where
/// the step is too long to have any.
pub(crate) fn update(omega: [f64; 3], middle: [f64; 3], rate: [f64; 3], h: f64) -> Option<[StepRotation; 2]> {
    let d = 0.5 * h;
    let q = [1.0, 0.0, 0.0, 0.0];
    let qdot = times(&q, &omega, 0.5);

    // positions at the middle: A = δ A(ω½) + δ² A(ω̇½), b = q - δ A(ω½) q + δ q̇
    let both = [0, 1, 2].map(|i| 0.5 * (d * middle[i] + d * d * rate[i]));
    let moved = times(&q, &middle, 0.5 * d);
    let b = [0, 1, 2, 3].map(|i| q[i] - moved[i] + d * qdot[i]);
    let a2 = dot3(&both, &both);
    let c = (dot(&b, &b) - a2).sqrt();
    let angle = times(&b, &both, 1.0);
    let q_half = [0, 1, 2, 3].map(|i| (c * b[i] + angle[i]) / (c * c + a2));

    // rates there: A = δ A(ω½), b = q̇ + δ A(ω̇½) q½
    let one = middle.map(|w| 0.5 * d * w);
    let pushed = times(&q_half, &rate, 0.5 * d);
    let mut b = [0, 1, 2, 3].map(|i| qdot[i] + pushed[i]);
    let nu = dot(&q_half, &b) + dot(&q_half, &times(&b, &one, 1.0));
    b.iter_mut().zip(&q_half).for_each(|(b, q)| *b -= nu * q);
    let angle = times(&b, &one, 1.0);
    let qdot_half = [0, 1, 2, 3].map(|i| (b[i] + angle[i]) / (1.0 + dot3(&one, &one)));

    // the end: the nearest that satisfies its condition
    let mut end = [0, 1, 2, 3].map(|i| 2.0 * q_half[i] - q[i]);
    let size = dot(&end, &end).sqrt();
    end.iter_mut().for_each(|e| *e /= size);
    let mut enddot = [0, 1, 2, 3].map(|i| 2.0 * qdot_half[i] - qdot[i]);
    let along = dot(&end, &enddot);
    enddot.iter_mut().zip(&end).for_each(|(d, e)| *d -= along * e);

    let rotations =
        [(q_half, qdot_half), (end, enddot)].map(|(q, qdot)| StepRotation { q, omega: rates(&q, &qdot) });
    rotations.iter().all(|t| t.q.iter().chain(&t.omega).all(|x| x.is_finite())).then_some(rotations)
}

/// q ∘ (0, w) times `factor`: A(w) q for a factor of ½.
fn times(q: &Quat, w: &[f64; 3], factor: f64) -> Quat {
    quat_mul(q, &[0.0, factor * w[0], factor * w[1], factor * w[2]])
}

/// ω = 2 (q0 ġ - g × ġ - q̇0 g): (5.11), printed rightly there.
fn rates(q: &Quat, qdot: &Quat) -> [f64; 3] {
    let w = quat_mul(&[q[0], -q[1], -q[2], -q[3]], qdot);
    [2.0 * w[1], 2.0 * w[2], 2.0 * w[3]]
}

fn dot(a: &Quat, b: &Quat) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dot3(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OMEGA: [f64; 3] = [0.7, -1.1, 0.4];
    const MIDDLE: [f64; 3] = [0.75, -1.0, 0.45];
    const RATE: [f64; 3] = [1.0, 2.0, 1.0];

    #[test]
    fn both_conditions_on_euler_parameters_hold_to_rounding() {
        let rotations = update(OMEGA, MIDDLE, RATE, 0.2).unwrap();
        for rotation in rotations {
            assert!((dot(&rotation.q, &rotation.q) - 1.0).abs() < 4.0 * f64::EPSILON, "{rotation:?}");
            // q·q̇ = 0: the rates that ω gives are those that there were
            let qdot = times(&rotation.q, &rotation.omega, 0.5);
            assert!(dot(&rotation.q, &qdot).abs() < 4.0 * f64::EPSILON);
        }
    }

    /// About one axis angles add: θ = ω h + α h²/2, up to the error of the mid-point rule, h³.
    #[test]
    fn a_turn_about_one_axis_has_its_angle() {
        let (w, alpha) = (1.3, 0.8);
        let angle = |h: f64| {
            let rotations =
                update([0.0, 0.0, w], [0.0, 0.0, w + 0.5 * h * alpha], [0.0, 0.0, alpha], h).unwrap();
            let [_, end] = rotations;
            2.0 * end.q[3].atan2(end.q[0]) - (w * h + 0.5 * alpha * h * h)
        };
        let ratio = angle(0.02) / angle(0.01);
        assert!((ratio - 8.0).abs() < 0.5, "{ratio}");
    }

    #[test]
    fn a_step_of_several_turns_has_no_result_or_a_finite_one() {
        for h in [1.0, 10.0, 100.0] {
            if let Some(rotations) = update([9.0, -8.0, 7.0], [9.0, -8.0, 7.0], [50.0, 0.0, -50.0], h) {
                assert!(rotations.iter().all(|t| t.omega.iter().all(|w| w.is_finite())));
            }
        }
    }
}
