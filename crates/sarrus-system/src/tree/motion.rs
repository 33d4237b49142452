//! Describes how a joint moves: its pose X_FM(q), its partial velocities S and their bias Ṡ y, by dual numbers and Taylor jets.
//!
//! The velocity of M's origin against F and the angular velocity of M against F, both in axes of F, are S(q) y. With
//! ṗ and Ṙ Rᵀ = w̃ from X_FM = (p, R), column k of S is (∂p, vee(∂R Rᵀ)) along the speed k. Along a motion with
//! constant y the second derivatives are Ṡ y = (p̈, vee(R̈ Rᵀ)): R̈ Rᵀ = ẇ~ + w̃ w̃, of which the last is symmetric and
//! falls out.
//!
//! A joint whose numbers hold a unit quaternion has three speeds for its four numbers: the rates of M against F in axes
//! of M, q̇ = ½ q ⊗ (0, ω); for constant ω q̈ = -¼ |ω|² q.
//!
//! Costs some forty times as much as two lines by hand, which joints that occur by the thousand have
//! ([`Joint::motion`]); a test compares both over every kind.

use super::spatial::Vec6;
use crate::joint::Joint;
use sarrus_math::{Dual, Jet, Mat3, Pose, Real, Vec3, quat_derivative};

/// Most degrees of freedom that a joint can have.
pub const MAX_JOINT_DOF: usize = 6;
/// Most numbers: a position and a quaternion.
const NUMBERS: usize = 7;

/// Describes how a joint moves at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointMotion {
    /// M against F.
    pub pose: Pose,
    /// Partial velocities, one per speed: of M's origin against F, and angular, in axes of F.
    pub S: [Vec6; MAX_JOINT_DOF],
    /// Ṡ y, in axes of F.
    pub bias: Vec6,
}

impl Default for JointMotion {
    fn default() -> Self {
        JointMotion { pose: Pose::identity(), S: [Vec6::ZERO; MAX_JOINT_DOF], bias: Vec6::ZERO }
    }
}

/// The axis `i` as a rotation.
pub fn rotation_axis(i: usize) -> Vec6 {
    Vec6 { v: Vec3::zero(), w: axis(i) }
}

/// The axis `i` as a shift.
pub fn shift(i: usize) -> Vec6 {
    Vec6 { v: axis(i), w: Vec3::zero() }
}

fn axis(i: usize) -> Vec3 {
    let mut a = [0.0; 3];
    a[i] = 1.0;
    Vec3(a)
}

/// The motion of `joint` at its numbers `q` and speeds `y`, from its pose alone.
pub fn derive<J: Joint>(joint: &J, q: &[f64], y: &[f64], out: &mut JointMotion) {
    let numbers = joint.coordinates();
    debug_assert!(numbers <= NUMBERS && q.len() >= numbers);
    let mut duals = [Dual::<MAX_JOINT_DOF>::zero(); NUMBERS];
    let mut jets = [Jet::<3>::zero(); NUMBERS];
    let (mut number, mut speed) = (0, 0);
    while number < numbers {
        if J::QUATERNION == Some(number) {
            let quat = [q[number], q[number + 1], q[number + 2], q[number + 3]];
            let w = [y[speed], y[speed + 1], y[speed + 2]];
            let rates = quat_derivative(&quat, &w);
            let ww = w.iter().map(|w| w * w).sum::<f64>();
            for i in 0..4 {
                duals[number + i] = Dual::constant(quat[i]);
                // Taylor coefficients: q, q̇, q̈/2
                jets[number + i] = Jet { c: [quat[i], rates[i], -0.125 * ww * quat[i]] };
            }
            for k in 0..3 {
                let along = quat_derivative(&quat, &axis(k).0);
                for i in 0..4 {
                    duals[number + i].d[speed + k] = along[i];
                }
            }
            (number, speed) = (number + 4, speed + 3);
        } else {
            duals[number] = Dual::variable(q[number], speed);
            jets[number] = Jet { c: [q[number], y[speed], 0.0] };
            (number, speed) = (number + 1, speed + 1);
        }
    }

    let X = joint.pose(&duals[..numbers]);
    out.pose = X.value();
    for (k, S) in out.S.iter_mut().enumerate().take(speed) {
        let dR = Mat3(X.rot.0.map(|row| row.map(|x| x.d[k])));
        *S = Vec6 { v: Vec3(X.p.0.map(|x| x.d[k])), w: vee(&dR, &out.pose.rot) };
    }
    let X = joint.pose(&jets[..numbers]);
    let second = Mat3(X.rot.0.map(|row| row.map(|x| x.derivative(2))));
    out.bias = Vec6 { v: Vec3(X.p.0.map(|x| x.derivative(2))), w: vee(&second, &out.pose.rot) };
}

/// The vector of the skew part of A Rᵀ.
fn vee(A: &Mat3, R: &Mat3) -> Vec3 {
    let at = |i: usize, j: usize| A.row(i).dot(R.row(j));
    let half = |i: usize, j: usize| 0.5 * (at(i, j) - at(j, i));
    Vec3([half(2, 1), half(0, 2), half(1, 0)])
}
