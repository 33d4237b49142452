//! A basis of the motions that some rows of J leave free, orthonormal in the metric of M.
//!
//! With M = L Lᵀ block by block, (J L⁻ᵀ)ᵀ = Q R with pivoting, and Z = L⁻ᵀ Q₂ of the columns of Q beyond the rank. Dense: O(nv nc²).

use crate::error::SetupError;
use crate::memory;
use crate::rank::holonomic_rank;
use crate::start::Rows;
use sarrus_math::solve::{PivotedQr, cholesky, cholesky_backward, cholesky_forward};
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

/// Columns z (nv each) with J z = 0 for all rows, or for those with a position level only.
pub(super) fn free_motions(
    s: &Structure,
    eq: &Equations,
    holonomic_only: bool,
) -> Result<Vec<Vec<f64>>, SetupError> {
    let rank = if holonomic_only { Some(holonomic_rank(s, eq)?) } else { Rows::find(s, eq)?.rank };
    let roots: Vec<Vec<f64>> = s
        .cols
        .iter()
        .map(|col| {
            let mut L = eq.mass[col.mass..][..col.size * col.size].to_vec();
            // masses are positive: a model with others is refused when it is read
            let _ = cholesky(&mut L, col.size);
            L
        })
        .collect();
    let wanted = |r: &sarrus_solve::RowBlock| if holonomic_only { r.holonomic } else { r.size };
    let rows: usize = s.rows.iter().map(wanted).sum();

    let mut qr = PivotedQr::default();
    qr.reset(s.nv, rows);
    let mut at = 0;
    for row in &s.rows {
        for i in 0..wanted(row) {
            let column = qr.column_mut(at);
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let part = &mut column[col.start..][..col.size];
                part.copy_from_slice(&eq.J[e.offset + i * col.size..][..col.size]);
                cholesky_forward(&roots[e.col], col.size, part);
            }
            at += 1;
        }
    }
    qr.factor(rows);
    let rank = rank.unwrap_or(rows).min(qr.steps());
    let free = (rank..s.nv)
        .map(|k| {
            let mut z = vec![0.0; s.nv];
            z[k] = 1.0;
            qr.mul_q(&mut z);
            for (col, L) in s.cols.iter().zip(&roots) {
                cholesky_backward(L, col.size, &mut z[col.start..][..col.size]);
            }
            z
        })
        .collect();
    Ok(free)
}
