//! Factorizations behind one door: no other crate names the linear algebra library.

mod block_ldl;
pub mod kernels;
mod ordering;
mod rank;

pub use block_ldl::{BlockLdl, SmallPivot};
pub use ordering::{FillError, Pattern, minimum_degree};
pub use rank::*;
