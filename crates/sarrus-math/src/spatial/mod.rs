//! Vectors, rotations, poses and their rates, over any [`Real`](crate::Real).

mod euler;
mod mat3;
mod pose;
mod quat;
mod twist;
mod vec3;

pub use euler::{euler_derivative, euler_to_quat, quat_to_euler};
pub use mat3::Mat3;
pub use pose::Pose;
pub use quat::{
    quat_conjugate, quat_derivative, quat_from_rotation_vector, quat_mul, quat_normalize,
    quat_to_rotation_vector,
};
pub use twist::Twist;
pub use vec3::Vec3;
