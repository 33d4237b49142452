//! Factorizations behind one door: no other crate names the linear algebra library.

mod block_ldl;
pub mod kernels;
mod ordering;
mod rank;

pub use block_ldl::{BadPivot, BlockLdl, FillError, SmallPivots};
pub use ordering::minimum_degree;
pub use rank::*;
