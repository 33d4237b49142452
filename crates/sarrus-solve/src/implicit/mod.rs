//! Describes what implicit methods share: the matrix of Newton's iteration, and the iteration itself.
//!
//! [`IterationMatrix`] puts M, D, K and J together and factors them; [`Newton`] solves the equations of one stage with it.

mod matrix;
mod newton;
mod scale;

pub use matrix::{IterationMatrix, Number, RotationBlock, right_tangent, right_tangent_inverse};
pub use newton::{ConstraintLevel, Converged, Kinematics, Newton, NewtonOptions, StageTarget};
pub use scale::ChangeScale;
