//! Factorizations behind one door: no other crate names the linear algebra library.

mod block_ldl;
mod dense_cholesky;
mod dense_pinv;
mod dense_qr;
pub mod kernels;
mod ordering;
mod rank;

pub use block_ldl::{BlockLdl, SmallPivot};
pub use dense_cholesky::{cholesky, cholesky_backward, cholesky_forward, cholesky_solve};
pub use dense_pinv::{NotDecomposed, Svd, SymmetricEigen};
pub use dense_qr::PivotedQr;
pub use ordering::{FillError, Pattern, minimum_degree};
pub use rank::*;
