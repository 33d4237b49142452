//! Numbers and small linear algebra: scalars that carry derivatives, poses, and the sparse factorization
//! that every method shares. Knows nothing of bodies.

mod dual;
mod enclosure;
mod interval;
mod jet;
pub mod lane;
mod operators;
mod real;
pub mod solve;
mod spatial;

pub use dual::Dual;
pub use enclosure::Enclosure;
pub use interval::Interval;
pub use jet::Jet;
pub use real::Real;
pub use spatial::{
    Mat3, Pose, Twist, Vec3, euler_derivative, euler_to_quat, quat_conjugate, quat_derivative,
    quat_from_rotation_vector, quat_mul, quat_normalize, quat_to_euler, quat_to_rotation_vector,
};
