//! The decision on rank: of the constraints at one instant, and how sure it is.
//!
//! A = D J C, C the kinematic units of the velocities ([`kinematic_units`]) and D such that rows have length 1. Rank is a matter of
//! geometry: no mass enters. Singular values up to [`TOLERANCE`] count as zero. Assembly, `check`, formulations and reports all take
//! the number found here. Costs O(nc² nv) for the singular values: not for large models, whose rank comes from pivots of the
//! same rows with the same tolerance.

use crate::components::Component;
use sarrus_math::solve::{NumericalRank, RankError, rank};
use sarrus_solve::{Equations, Structure, kinematic_units};

pub use sarrus_solve::TOLERANCE;

/// Reason why there is no rank.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConstraintRankError {
    /// The matrix could not be decomposed.
    #[error(transparent)]
    Rank(#[from] RankError),
}

/// D J C of one part as a dense matrix by rows; `units` is the diagonal of C.
pub(crate) fn scaled_rows(s: &Structure, eq: &Equations, part: &Component, units: &[f64]) -> Vec<f64> {
    let mut first_of = vec![0; s.cols.len()];
    let mut width = 0;
    for &c in &part.cols {
        first_of[c] = width;
        width += s.cols[c].size;
    }
    let mut A = Vec::new();
    for row in part.rows.iter().map(|r| &s.rows[*r]) {
        let first = A.len();
        A.resize(first + row.size * width, 0.0);
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let units = &units[col.start..][..col.size];
            for i in 0..row.size {
                let J = &eq.J[e.offset + i * col.size..][..col.size];
                let out = &mut A[first + i * width + first_of[e.col]..][..col.size];
                out.iter_mut().zip(J).zip(units).for_each(|((a, j), unit)| *a = j * unit);
            }
        }
    }
    for row in A.chunks_exact_mut(width.max(1)) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
    A
}

/// Rank of the constraints at `eq`.
pub fn constraint_rank(s: &Structure, eq: &Equations) -> Result<NumericalRank, ConstraintRankError> {
    let (all, units) = (all(s), kinematic_units(s, &eq.J));
    Ok(rank(&scaled_rows(s, eq, &all, &units), s.nc, s.nv, Some(TOLERANCE))?)
}

/// Rank of the rows with a position level alone.
pub(crate) fn holonomic_rank(s: &Structure, eq: &Equations) -> Result<usize, ConstraintRankError> {
    let A = scaled_rows(s, eq, &all(s), &kinematic_units(s, &eq.J));
    let rows: Vec<f64> =
        s.holonomic_rows().flat_map(|r| A[r.start * s.nv..r.end * s.nv].iter().copied()).collect();
    let n = rows.len() / s.nv.max(1);
    Ok(rank(&rows, n, s.nv, Some(TOLERANCE))?.rank)
}

/// All rows and columns as one part.
fn all(s: &Structure) -> Component {
    Component { rows: (0..s.rows.len()).collect(), cols: (0..s.cols.len()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three point masses on a line, tied in pairs; the first tie twice, the last tied to ground twice.
    fn ties() -> (Structure, Equations) {
        let mut b = Structure::builder();
        let cols: Vec<usize> = (0..3).map(|_| b.column(1)).collect();
        b.row(1, 1, &cols[..2]);
        b.row(1, 1, &cols[..2]);
        b.row(1, 1, &cols[2..]);
        b.row(1, 1, &cols[2..]);
        let s = b.build(3, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.minv = vec![1.0, 1e-4, 100.0];
        eq.J = vec![1.0, -1.0, 500.0, -500.0, 1.0, 1e-3];
        (s, eq)
    }

    #[test]
    fn rank_does_not_depend_on_units_or_masses() {
        let (s, eq) = ties();
        let r = constraint_rank(&s, &eq).unwrap();
        assert_eq!(r.rank, 2);
        assert!(r.margin > 1e3, "{}", r.margin);
    }

    /// A point of a body at a lever of 0.5 m, and the body's rotation: one length serves as unit, whatever the masses.
    #[test]
    fn masses_do_not_enter() {
        let mut b = Structure::builder();
        let body = b.column(3);
        b.row(3, 3, &[body]);
        b.group(sarrus_solve::GroupKind::Velocity, 0, 2);
        b.group(sarrus_solve::GroupKind::AngularVelocity, 2, 1);
        let s = b.build(3, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.J = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 1.0];
        let mut seen = Vec::new();
        for inertia in [1.0, 1e-12] {
            eq.minv = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / inertia];
            seen.push(constraint_rank(&s, &eq).unwrap());
        }
        assert_eq!(seen[0], seen[1]);
        assert_eq!(seen[0].rank, 3);
        // rows 2 and 3 are (0, 1, 1)/√2 and (0, 0, 1): the smallest σ² is 1 - 1/√2
        let least = (1.0 - 0.5_f64.sqrt()).sqrt();
        assert!((seen[0].sigma[2] - least).abs() < 1e-14, "{:?}", seen[0].sigma);
    }
}
