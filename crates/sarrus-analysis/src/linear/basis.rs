//! Bases of the motions that some rows of J leave free: by elimination, and orthonormal in the metric of M.
//!
//! Rows have length one, and columns are as they are: an amplitude that moves no row but for rounding is never eliminated. With column pivoting J P = Q [R₁ R₂], and N = P [-R₁⁻¹R₂; 1] has a column for each velocity that
//! is not eliminated. Its entries do not depend on masses, so rounding in NᵀKN is relative to the entries of K. An orthonormal basis taken
//! first would mix them with 1/√(inertia): a thin section has 10⁵ times the entries of its displacements. Dense: O(nv nc²).

use crate::components::Component;
use crate::error::SetupError;
use crate::memory;
use crate::rank::{holonomic_rank, scaled_rows};
use crate::start::RowRank;
use sarrus_math::solve::PivotedQr;
use sarrus_model::Span;
use sarrus_solve::{Equations, Structure};

/// Refuses what would not fit, by the name of the analysis.
pub(super) fn check_size(s: &Structure, kind: &'static str) -> Result<(), SetupError> {
    let unknowns = s.nv + s.nc;
    let bytes = 8.0 * s.nv as f64 * (2 * s.nv + s.nc) as f64;
    if bytes > 0.5 * memory::available() {
        return Err(SetupError::TooDense { kind, unknowns, bytes, at: Span::NONE });
    }
    Ok(())
}

/// Columns N (nv each) with J N = 0 for all rows, or for those with a position level only.
pub(super) fn free_motions(
    s: &Structure,
    eq: &Equations,
    holonomic_only: bool,
) -> Result<Vec<Vec<f64>>, SetupError> {
    let rank = if holonomic_only { Some(holonomic_rank(s, eq)?) } else { RowRank::find(s, eq)?.rank };
    let all = Component { rows: (0..s.rows.len()).collect(), cols: (0..s.cols.len()).collect() };
    let J = scaled_rows(s, eq, &all, &vec![1.0; s.nv]);
    let wanted =
        |r: &sarrus_solve::RowBlock| r.start..r.start + if holonomic_only { r.holonomic } else { r.size };
    let rows: Vec<usize> = s.rows.iter().flat_map(wanted).collect();

    let mut qr = PivotedQr::default();
    qr.reset(rows.len(), s.nv);
    for j in 0..s.nv {
        qr.column_mut(j).iter_mut().zip(&rows).for_each(|(to, row)| *to = J[row * s.nv + j]);
    }
    qr.factor(s.nv);
    let rank = rank.unwrap_or(rows.len()).min(qr.steps());
    let (dependent, free) = qr.order().split_at(rank);
    let column = |(k, &own): (usize, &usize)| {
        let mut x = qr.column(rank + k)[..rank].to_vec();
        qr.solve_r(&mut x);
        let mut z = vec![0.0; s.nv];
        z[own] = 1.0;
        dependent.iter().zip(&x).for_each(|(&i, x)| z[i] = -x);
        z
    };
    Ok(free.iter().enumerate().map(column).collect())
}
