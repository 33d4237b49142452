//! Factorizations behind one door: no other crate names the linear algebra library.

mod block_ldl;
mod dense_cholesky;
mod dense_eigen;
mod dense_pinv;
mod dense_product;
mod dense_qr;
pub mod kernels;
mod ordering;
mod pattern_lu;
mod rank;
mod sparse_lu;

pub use block_ldl::{BlockLdl, SmallPivot};
pub use dense_cholesky::{cholesky, cholesky_backward, cholesky_forward, cholesky_solve};
pub use dense_eigen::{EigenPair, eigenpairs, symmetric_eigenpairs};
pub use dense_pinv::{NotDecomposed, Svd, SymmetricEigen};
pub use dense_product::{combinations, transposed_product};
pub use dense_qr::{Complete, PivotedQr};
pub use ordering::{FactorPattern, FillError, minimum_degree};
pub use pattern_lu::{Field, PatternLu, c64};
pub use rank::*;
pub use sparse_lu::{NotFactored, SparseLu};
