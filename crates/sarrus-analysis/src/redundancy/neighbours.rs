//! Elements around a row, until these are dependent.
//!
//! Bodies are gone through by their distance from the row, where a body is as far across as it has rows, so that one
//! with very many joints is the last that is checked. All rows of the elements met are orthogonalized as they come: one
//! that leaves nothing is a combination of those before, in one way only, and gives a null vector.
//!
//! Costs what the group costs, its rows cubed at worst, whatever the size of the model; there is a limit.

use sarrus_math::solve::cholesky;
use sarrus_solve::{Equations, Structure};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// A scaled row whose part outside the others is below this is dependent: a little above the root of the pivot that the
/// factorization drops.
const OUTSIDE: f64 = 3e-5;
/// A coefficient below this, relative to the largest, is none.
pub(super) const NONE: f64 = 1e-6;

/// Neighbours, and the rows in mass-weighted velocities.
pub(super) struct RowNeighbours<'a> {
    s: &'a Structure,
    eq: &'a Equations,
    /// Element of each block row, by its first block row.
    owner: &'a [usize],
    /// Block rows of each element.
    blocks: HashMap<usize, Vec<usize>>,
    /// Elements of each body.
    of_body: Vec<Vec<usize>>,
    /// Rows of each body.
    weight: Vec<usize>,
    /// C of each body by columns, M⁻¹ = C Cᵀ.
    roots: Vec<Vec<f64>>,
}

impl<'a> RowNeighbours<'a> {
    /// None where some M⁻¹ is not positive definite.
    pub fn new(s: &'a Structure, eq: &'a Equations, owner: &'a [usize]) -> Option<RowNeighbours<'a>> {
        let mut of_body: Vec<Vec<usize>> = vec![Vec::new(); s.cols.len()];
        let mut weight = vec![0; s.cols.len()];
        let mut blocks: HashMap<usize, Vec<usize>> = HashMap::new();
        for (block, row) in s.rows.iter().enumerate() {
            blocks.entry(owner[block]).or_default().push(block);
            for e in &s.entries[row.entries.clone()] {
                weight[e.col] += row.size;
                if of_body[e.col].last() != Some(&owner[block]) {
                    of_body[e.col].push(owner[block]);
                }
            }
        }
        let mut roots = Vec::with_capacity(s.cols.len());
        for c in &s.cols {
            let mut C = eq.minv[c.mass..][..c.size * c.size].to_vec();
            cholesky(&mut C, c.size).ok()?;
            roots.push(C);
        }
        Some(RowNeighbours { s, eq, owner, blocks, of_body, weight, roots })
    }

    /// The elements around `seed` up to where `enough` of the group says so, and all at the same distance; none where
    /// the group would have more than `limit` independent rows, or ends.
    pub fn around(
        &self,
        seed: usize,
        limit: usize,
        mut enough: impl FnMut(&RowGroup) -> bool,
    ) -> Option<RowGroup> {
        let first = self.owner[self.s.row_block_of(seed)?];
        let mut group = RowGroup::default();
        let (mut met, mut done) = (HashSet::from([first]), HashSet::new());
        let mut bodies = BinaryHeap::new();
        self.add(first, 0, &mut group, &mut bodies);
        let mut end = (!group.nulls.is_empty() && enough(&group)).then_some(0);
        while let Some(Reverse((distance, body))) = bodies.pop() {
            if end.is_some_and(|end| distance > end) {
                break;
            }
            if !done.insert(body) {
                continue;
            }
            let before = group.nulls.len();
            for &element in &self.of_body[body] {
                if met.insert(element) {
                    self.add(element, distance, &mut group, &mut bodies);
                    if group.basis.len() > limit {
                        return end.map(|_| group);
                    }
                }
            }
            if end.is_none() && group.nulls.len() > before && enough(&group) {
                end = Some(distance);
            }
        }
        end.map(|_| group)
    }

    /// Adds all rows of an element, and its bodies to those to go to.
    fn add(
        &self,
        element: usize,
        distance: usize,
        group: &mut RowGroup,
        bodies: &mut BinaryHeap<Reverse<(usize, usize)>>,
    ) {
        for &block in &self.blocks[&element] {
            let row = &self.s.rows[block];
            for i in 0..row.size {
                let a = self.row(block, i, &mut group.poses);
                group.add(row.start + i, element, a);
            }
            for e in &self.s.entries[row.entries.clone()] {
                bodies.push(Reverse((distance + self.weight[e.col], e.col)));
            }
        }
    }

    /// Row `i` of a block row times C, in the numbering of a group.
    fn row(&self, block: usize, i: usize, poses: &mut RowPoses) -> Vec<f64> {
        let mut a = Vec::new();
        for e in &self.s.entries[self.s.rows[block].entries.clone()] {
            let n = self.s.cols[e.col].size;
            let at = poses.of(e.col, n);
            let J = &self.eq.J[e.offset + i * n..][..n];
            let C = &self.roots[e.col];
            a.resize(a.len().max(at + n), 0.0);
            for j in 0..n {
                a[at + j] = (j..n).map(|k| J[k] * C[j * n + k]).sum();
            }
        }
        a
    }
}

/// Places of the bodies that a group reaches.
#[derive(Default)]
struct RowPoses {
    of: HashMap<usize, usize>,
    width: usize,
}

impl RowPoses {
    fn of(&mut self, body: usize, size: usize) -> usize {
        let at = *self.of.entry(body).or_insert(self.width);
        if at == self.width {
            self.width += size;
        }
        at
    }
}

/// Rows a = R q of some elements, orthogonalized as they come. Vectors end with their last number that is not zero.
#[derive(Default)]
pub(super) struct RowGroup {
    /// Rows with their elements, as they came.
    pub rows: Vec<(usize, usize)>,
    /// Null vectors over them, each a circuit: without one of its rows the others are independent.
    pub nulls: Vec<Vec<f64>>,
    /// Identifies which of the rows are independent of those before.
    basis: Vec<usize>,
    q: Vec<Vec<f64>>,
    R: Vec<Vec<f64>>,
    poses: RowPoses,
}

impl RowGroup {
    /// The part of `a` in the group, as coefficients of q, with the rest left in `a`.
    fn project(&self, a: &mut Vec<f64>) -> Vec<f64> {
        a.resize(self.poses.width.max(a.len()), 0.0);
        let mut r = vec![0.0; self.q.len()];
        // twice, so that the rest is orthogonal to rounding
        for _ in 0..2 {
            for (r, q) in r.iter_mut().zip(&self.q) {
                let c: f64 = q.iter().zip(&*a).map(|(x, y)| x * y).sum();
                a.iter_mut().zip(q).for_each(|(a, q)| *a -= c * q);
                *r += c;
            }
        }
        r
    }

    fn add(&mut self, row: usize, element: usize, mut a: Vec<f64>) {
        let at = self.rows.len();
        self.rows.push((row, element));
        let mut r = self.project(&mut a);
        let rest = a.iter().map(|x| x * x).sum::<f64>().sqrt();
        if rest > OUTSIDE {
            a.iter_mut().for_each(|x| *x /= rest);
            r.push(rest);
            self.basis.push(at);
            self.q.push(a);
            self.R.push(r);
            return;
        }
        // xᵀ R = rᵀ
        for k in (0..r.len()).rev() {
            r[k] /= self.R[k][k];
            let x = r[k];
            r[..k].iter_mut().zip(&self.R[k]).for_each(|(r, R)| *r -= x * R);
        }
        let largest = r.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let mut null = vec![0.0; at + 1];
        null[at] = 1.0;
        for (x, &k) in r.iter().zip(&self.basis).filter(|(x, _)| x.abs() > NONE * largest) {
            null[k] = -x;
        }
        self.nulls.push(null);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scaled;
    use super::super::sets::tests::rings;
    use super::*;

    /// The work for a row is in what is around it.
    #[test]
    fn a_group_does_not_grow_with_the_model() {
        let size = |loops: usize| {
            let (s, eq) = rings(loops, 4, true);
            let scaled = Scaled::new(&s, &eq, None).unwrap();
            let owner: Vec<usize> = (0..s.rows.len()).collect();
            let map = RowNeighbours::new(&s, &scaled.eq, &owner).unwrap();
            let rows = |&seed: &usize| map.around(seed, 300, |_| true).unwrap().rows.len();
            let sizes: Vec<usize> = scaled.kkt.dependent_rows().iter().map(rows).collect();
            assert_eq!(sizes.len(), loops);
            sizes.into_iter().max()
        };
        assert_eq!((size(3), size(300)), (Some(4), Some(4)));
    }

    /// A large body with many small ones, each tied to it twice: the other ties are not checked.
    #[test]
    fn a_body_with_many_elements_is_looked_at_last() {
        let mut b = Structure::builder();
        let large = b.column(1);
        let n = 500;
        for _ in 0..n {
            let small = b.column(1);
            b.row(1, 1, &[large, small]);
            b.row(1, 1, &[large, small]);
        }
        let s = b.build(n + 1, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        (eq.mass, eq.minv) = (vec![1.0; n + 1], vec![1.0; n + 1]);
        eq.J = (0..s.nc).flat_map(|_| [1.0, -1.0]).collect();
        let scaled = Scaled::new(&s, &eq, None).unwrap();
        let owner: Vec<usize> = (0..s.rows.len()).collect();
        let map = RowNeighbours::new(&s, &scaled.eq, &owner).unwrap();
        for &seed in scaled.kkt.dependent_rows() {
            assert_eq!(map.around(seed, 300, |_| true).unwrap().rows.len(), 2);
        }
    }
}
