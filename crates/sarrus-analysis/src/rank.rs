//! Rank of the constraints at one instant, how sure it is, and which elements repeat each other.
//!
//! A = D J C with M⁻¹ = C Cᵀ and D such that rows have length 1: rows are compared as motions of the masses, in no
//! particular unit. A left null vector uᵀA = 0 is a set of reactions that move nothing; the projector P on all of
//! them is block diagonal over groups of elements that share such reactions, and the trace of a group's block is the
//! number of its redundant rows.
//!
//! Costs O(nc² nv) for the singular values, some ten times that with the vectors.

use sarrus_math::solve::{Rank, RankError, Singular, rank, singular};
use sarrus_solve::{Equations, RowBlock, Structure};

/// Singular values up to this count as zero, where a row alone has 1: assembled positions, and numbers typed from a
/// drawing, are not exact to roundoff.
pub const TOLERANCE: f64 = 1e-10;
/// Part of a unit null vector below which an element does not take part in it.
const PART: f64 = 1e-6;

/// Elements that hold the same thing more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedundantGroup {
    /// Block rows of the structure.
    pub elements: Vec<usize>,
    /// Rows among them that say nothing new.
    pub redundant: usize,
}

/// D J C as a dense matrix by rows, nc × nv, and the lengths that the rows had before.
pub(crate) fn scaled_rows(s: &Structure, eq: &Equations) -> (Vec<f64>, Vec<f64>) {
    let mut A = vec![0.0; s.nc * s.nv];
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let n = col.size;
            let C = cholesky(&eq.minv[col.mass..][..n * n], n);
            for i in 0..row.size {
                let J = &eq.J[e.offset + i * n..][..n];
                let out = &mut A[(row.start + i) * s.nv + col.start..][..n];
                for j in 0..n {
                    out[j] = (j..n).map(|k| J[k] * C[k * n + j]).sum();
                }
            }
        }
    }
    let mut lengths = vec![0.0; s.nc];
    for (row, length) in A.chunks_exact_mut(s.nv.max(1)).zip(&mut lengths) {
        *length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if *length > 0.0 {
            row.iter_mut().for_each(|x| *x /= *length);
        }
    }
    (A, lengths)
}

/// Lower triangular C with C Cᵀ = `a`, symmetric positive definite of order n.
pub(crate) fn cholesky(a: &[f64], n: usize) -> Vec<f64> {
    let mut C = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| C[i * n + k] * C[j * n + k]).sum();
            let x = a[i * n + j] - sum;
            C[i * n + j] = if i == j { x.max(0.0).sqrt() } else { x / C[j * n + j] };
        }
    }
    C
}

/// Rank of the constraints at `eq`.
pub fn constraint_rank(s: &Structure, eq: &Equations) -> Result<Rank, RankError> {
    rank(&scaled_rows(s, eq).0, s.nc, s.nv, Some(TOLERANCE))
}

/// Rank of the constraints at `eq` with the singular vectors of D J C.
pub fn constraint_singular(s: &Structure, eq: &Equations) -> Result<Singular, RankError> {
    singular(&scaled_rows(s, eq).0, s.nc, s.nv, Some(TOLERANCE))
}

/// Groups of elements that share reactions which move nothing.
pub fn redundant_groups(s: &Structure, decomposition: &Singular) -> Vec<RedundantGroup> {
    let null = decomposition.left_null();
    let part = |row: &RowBlock, u: &[f64]| u[row.start..][..row.size].iter().map(|x| x * x).sum::<f64>();
    let taking: Vec<usize> = (0..s.rows.len())
        .filter(|&e| null.iter().map(|u| part(&s.rows[e], u)).sum::<f64>() > PART * PART)
        .collect();

    // elements are in one group where the projector couples them
    let mut group: Vec<usize> = (0..taking.len()).collect();
    for a in 0..taking.len() {
        for b in a + 1..taking.len() {
            if group[a] != group[b] && coupling(&s.rows[taking[a]], &s.rows[taking[b]], null) > PART {
                let (from, to) = (group[b], group[a]);
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
    }
    let mut groups = Vec::new();
    for first in 0..taking.len() {
        let members: Vec<usize> =
            (0..taking.len()).filter(|&k| group[k] == group[first]).map(|k| taking[k]).collect();
        if members[0] != taking[first] {
            continue;
        }
        let trace: f64 = members.iter().flat_map(|&e| null.iter().map(move |u| part(&s.rows[e], u))).sum();
        groups.push(RedundantGroup { elements: members, redundant: trace.round() as usize });
    }
    groups
}

/// Largest entry of the projector's block between two elements.
fn coupling(a: &RowBlock, b: &RowBlock, null: &[Vec<f64>]) -> f64 {
    let entry = |i: usize, j: usize| null.iter().map(|u| u[i] * u[j]).sum::<f64>().abs();
    let rows = |r: &RowBlock| r.start..r.start + r.size;
    rows(a).flat_map(|i| rows(b).map(move |j| entry(i, j))).fold(0.0, f64::max)
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

    #[test]
    fn repeated_rows_are_grouped_with_what_they_repeat() {
        let (s, eq) = ties();
        let groups = redundant_groups(&s, &constraint_singular(&s, &eq).unwrap());
        let expected = [(vec![0, 1], 1), (vec![2, 3], 1)];
        assert_eq!(groups.len(), 2);
        for (g, (elements, redundant)) in groups.iter().zip(expected) {
            assert_eq!((&g.elements, g.redundant), (&elements, redundant));
        }
    }

    /// A full block: the scaling must use all of M⁻¹, not its diagonal.
    #[test]
    fn cholesky_of_a_full_block_gives_it_back() {
        let a = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let C = cholesky(&a, 3);
        for i in 0..3 {
            for j in 0..3 {
                let x: f64 = (0..3).map(|k| C[i * 3 + k] * C[j * 3 + k]).sum();
                assert!((x - a[i * 3 + j]).abs() < 1e-14);
            }
        }
    }
}
