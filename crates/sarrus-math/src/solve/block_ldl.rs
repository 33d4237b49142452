//! LDLᵀ of a symmetric quasi-definite matrix of small blocks, factored many times on one pattern.
//!
//! K = L D Lᵀ with block diagonal D. Quasi-definite (some diagonal blocks positive definite, the others negative
//! definite, after elimination of what comes before) means that the factorization exists in every order without
//! pivoting \[Vanderbei1995\]. The order and the pattern of L are found once; [`BlockLdl::factor`] and
//! [`BlockLdl::solve`] do not allocate.
//!
//! Diagonal blocks are inverted explicitly: products instead of substitutions, which are latency-bound at these
//! sizes. The residual then carries the condition number of single blocks, so a caller refines.
//!
//! Cost: one product of blocks per pair of blocks in a column of L. Not for large dense fronts: no supernodes.

use super::kernels::{self, Action};
use super::ordering::{FactorPattern, FillError};
use std::cell::Cell;

/// A pivot at or below its floor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallPivot {
    /// Node of the block.
    pub node: usize,
    /// Row inside the block.
    pub row: usize,
    /// The pivot, in the sign that its node should have; may be anything, even not a number.
    pub value: f64,
    /// Σ w c² over the weighted later unknowns, c being what couples this row to them at this point of the elimination.
    pub coupling: f64,
}

/// A diagonal block and what is below it in L.
#[derive(Debug, Clone, Copy)]
struct FactorColumn {
    node: u32,
    size: u32,
    /// First index in vectors.
    start: u32,
    /// First index in `values` of D; the blocks below follow.
    diagonal: u32,
    /// End of this column's values.
    end: u32,
    /// Its blocks in `below`.
    first: u32,
    last: u32,
    sign: f64,
}

/// A block of L.
#[derive(Debug, Clone, Copy)]
struct SubdiagonalBlock {
    /// Column of the block's rows.
    row: u32,
    /// First index in `values`.
    offset: u32,
}

/// Block LDLᵀ with a fixed pattern. Nodes are in the caller's numbering; vectors are in elimination order, with
/// node i at [`start`](BlockLdl::start)(i).
#[derive(Debug, Clone)]
pub struct BlockLdl {
    /// Column of each node.
    position: Vec<u32>,
    /// In elimination order.
    columns: Vec<FactorColumn>,
    /// By columns, rows ascending.
    below: Vec<SubdiagonalBlock>,
    /// By columns: D, then the blocks of L (before the factorization, of K).
    values: Vec<f64>,
    /// Transposed blocks of one column.
    scratch: Vec<f64>,
    /// Smallest good pivot over its floor.
    smallest: f64,
    /// Couplings of one small pivot.
    couplings: Vec<(usize, f64)>,
}

impl BlockLdl {
    /// Pattern with one node per entry of `sizes`, `negative` where the diagonal block is negative definite, a
    /// block for each edge, eliminated in the order of `order` (every node once).
    pub fn new(
        sizes: &[usize],
        negative: &[bool],
        edges: &[(usize, usize)],
        order: &[usize],
    ) -> Result<BlockLdl, FillError> {
        let n = sizes.len();
        let mut position = vec![0u32; n];
        for (p, &node) in order.iter().enumerate() {
            position[node] = p as u32;
        }
        let pattern = FactorPattern::new(n, edges, order)?;

        let too_large = FillError { blocks: pattern.len() + n };
        let mut below: Vec<SubdiagonalBlock> = Vec::new();
        below.try_reserve_exact(pattern.len()).map_err(|_| too_large)?;
        let mut columns: Vec<FactorColumn> = Vec::with_capacity(n);
        let (mut start, mut offset) = (0, 0);
        let mut widest = sizes.iter().copied().max().unwrap_or(0);
        for j in 0..n {
            let size = sizes[order[j]];
            let (diagonal, first) = (offset, below.len());
            offset += size * size;
            let blocks = offset;
            for &row in pattern.column(j) {
                below.push(SubdiagonalBlock { row, offset: offset as u32 });
                offset += sizes[order[row as usize]] * size;
            }
            widest = widest.max(offset - blocks);
            if offset > u32::MAX as usize {
                return Err(too_large);
            }
            columns.push(FactorColumn {
                node: order[j] as u32,
                size: size as u32,
                start: start as u32,
                diagonal: diagonal as u32,
                end: offset as u32,
                first: first as u32,
                last: below.len() as u32,
                sign: if negative[order[j]] { -1.0 } else { 1.0 },
            });
            start += size;
        }

        let mut values = Vec::new();
        values.try_reserve_exact(offset).map_err(|_| too_large)?;
        values.resize(offset, 0.0);
        let scratch = vec![0.0; widest];
        let smallest = f64::INFINITY;
        Ok(BlockLdl { position, columns, below, values, scratch, smallest, couplings: Vec::new() })
    }

    /// Blocks stored, diagonal ones included.
    pub fn blocks(&self) -> usize {
        self.columns.len() + self.below.len()
    }

    /// First index of `node` in vectors.
    pub fn start(&self, node: usize) -> usize {
        self.columns[self.position[node] as usize].start as usize
    }

    /// First index in [`values_mut`](BlockLdl::values_mut) of the diagonal block of `node`.
    pub fn diagonal(&self, node: usize) -> usize {
        self.columns[self.position[node] as usize].diagonal as usize
    }

    /// Returns whether `a` is eliminated after `b`: the block of the two then has the rows of `a`.
    pub fn is_after(&self, a: usize, b: usize) -> bool {
        self.position[a] > self.position[b]
    }

    /// First index in [`values_mut`](BlockLdl::values_mut) of the block of two different nodes, if there is one.
    pub fn block(&self, a: usize, b: usize) -> Option<usize> {
        let (a, b) = (self.position[a], self.position[b]);
        let column = &self.columns[a.min(b) as usize];
        let below = &self.below[column.first as usize..column.last as usize];
        let i = below.binary_search_by_key(&a.max(b), |x| x.row).ok()?;
        Some(below[i].offset as usize)
    }

    /// First index and length in [`values_mut`](BlockLdl::values_mut) of every block below the diagonal.
    pub fn off_diagonal(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.columns.iter().flat_map(|column| {
            self.below[column.first as usize..column.last as usize]
                .iter()
                .map(|b| (b.offset as usize, (self.columns[b.row as usize].size * column.size) as usize))
        })
    }

    /// The blocks of K, each by rows, to be filled before [`factor`](BlockLdl::factor), which overwrites them.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Factors what [`values_mut`](BlockLdl::values_mut) holds.
    ///
    /// `floor` and `weight` are vectors in elimination order. A pivot not above its floor is shown to `decide`, which
    /// drops its row (the solution is zero there), replaces it, or gives up, and is then returned. With it come its couplings to
    /// weighted later unknowns, by index in vectors.
    pub fn factor(
        &mut self,
        floor: &[f64],
        weight: &[f64],
        mut decide: impl FnMut(SmallPivot, &[(usize, f64)]) -> Action,
    ) -> Result<(), SmallPivot> {
        let smallest = Cell::new((f64::INFINITY, 1.0));
        let couplings = &mut self.couplings;
        for column in &self.columns {
            let (values, later) = self.values.split_at_mut(column.end as usize);
            let later_from = column.end as usize;
            let values = &mut values[column.diagonal as usize..];
            let n = column.size as usize;
            let (D, blocks) = values.split_at_mut(n * n);
            let below = &self.below[column.first as usize..column.last as usize];
            let base = column.diagonal as usize + n * n;

            // D⁻¹
            let floor = &floor[column.start as usize..][..n];
            let mut shown = None;
            let good = |row: usize, pivot: f64| {
                let pivot = column.sign * pivot;
                let (least, at) = smallest.get();
                // least / at > pivot / floor, without a division
                if pivot > floor[row] && pivot * at < least * floor[row] {
                    smallest.set((pivot, floor[row]));
                }
                pivot > floor[row]
            };
            kernels::invert(D, n, good, &mut |row, pivot, above| {
                let mut coupling = 0.0;
                couplings.clear();
                for b in below {
                    let to = &self.columns[b.row as usize];
                    let weight = &weight[to.start as usize..][..to.size as usize];
                    let B = blocks[b.offset as usize - base..].chunks_exact(n);
                    for (i, (w, B)) in weight.iter().zip(B).enumerate().filter(|(_, (w, _))| **w != 0.0) {
                        let c = B[row] - (0..row).map(|i| B[i] * above(i)).sum::<f64>();
                        coupling += w * c * c;
                        couplings.push((to.start as usize + i, c));
                    }
                }
                let small =
                    SmallPivot { node: column.node as usize, row, value: column.sign * pivot, coupling };
                shown = Some(small);
                match decide(small, couplings) {
                    Action::Use(pivot) => Action::Use(column.sign * pivot),
                    other => other,
                }
            })
            .map_err(|row| {
                let node = column.node as usize;
                shown.unwrap_or(SmallPivot { node, row, value: f64::NAN, coupling: 0.0 })
            })?;

            // Bᵀ aside, L = B D⁻¹ in place
            for b in below {
                let m = self.columns[b.row as usize].size as usize;
                let at = b.offset as usize - base;
                let B = &mut blocks[at..][..m * n];
                let Bt = &mut self.scratch[at..][..m * n];
                kernels::transpose(Bt, B, m, n);
                kernels::assign_transposed(B, Bt, D, m, n);
            }

            // later blocks lose L Bᵀ
            for (k, b) in below.iter().enumerate() {
                let to = &self.columns[b.row as usize];
                let width = to.size as usize;
                let at = b.offset as usize - base;
                let Bt = &self.scratch[at..][..n * width];
                let C = &mut later[to.diagonal as usize - later_from..][..width * width];
                kernels::subtract(C, &blocks[at..], Bt, width, n, width);

                let mut targets = self.below[to.first as usize..to.last as usize].iter();
                for b in &below[k + 1..] {
                    let Some(target) = targets.find(|t| t.row == b.row) else { break };
                    let m = self.columns[b.row as usize].size as usize;
                    let L = &blocks[b.offset as usize - base..][..m * n];
                    let C = &mut later[target.offset as usize - later_from..][..m * width];
                    kernels::subtract(C, L, Bt, m, n, width);
                }
            }
        }
        let (pivot, floor) = smallest.get();
        self.smallest = pivot / floor;
        Ok(())
    }

    /// The smallest of the pivots above their floors in the last factorization, over its floor.
    pub fn smallest(&self) -> f64 {
        self.smallest
    }

    /// Replaces the right-hand side `x`, in elimination order, by the solution.
    pub fn solve(&mut self, x: &mut [f64]) {
        for column in &self.columns {
            let n = column.size as usize;
            let next = column.start as usize + n;
            let (x, later) = x.split_at_mut(next);
            let x = &mut x[column.start as usize..];
            for b in &self.below[column.first as usize..column.last as usize] {
                let row = &self.columns[b.row as usize];
                let L = &self.values[b.offset as usize..];
                kernels::subtract_mul(&mut later[row.start as usize - next..], L, x, row.size as usize, n);
            }
            kernels::multiply(x, &self.values[column.diagonal as usize..], n, &mut self.scratch);
        }
        for column in self.columns.iter().rev() {
            let n = column.size as usize;
            let next = column.start as usize + n;
            let (x, later) = x.split_at_mut(next);
            let x = &mut x[column.start as usize..];
            for b in &self.below[column.first as usize..column.last as usize] {
                let row = &self.columns[b.row as usize];
                let L = &self.values[b.offset as usize..];
                let y = &later[row.start as usize - next..];
                kernels::subtract_mul_transposed(x, L, y, row.size as usize, n);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::minimum_degree;

    /// A random matrix on a block pattern, dense.
    struct Case {
        sizes: Vec<usize>,
        negative: Vec<bool>,
        edges: Vec<(usize, usize)>,
        K: Vec<Vec<f64>>,
        first: Vec<usize>,
    }

    fn case(sizes: &[usize], negative: &[bool], edges: &[(usize, usize)], seed: u64) -> Case {
        let first: Vec<usize> = sizes.iter().scan(0, |at, &n| Some(std::mem::replace(at, *at + n))).collect();
        let n: usize = sizes.iter().sum();
        let mut random = seed;
        let mut next = move || {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut K = vec![vec![0.0; n]; n];
        for &(a, b) in edges.iter().filter(|(a, b)| a != b) {
            for i in first[a]..first[a] + sizes[a] {
                for j in first[b]..first[b] + sizes[b] {
                    K[i][j] = next();
                    K[j][i] = K[i][j];
                }
            }
        }
        for node in 0..sizes.len() {
            for i in first[node]..first[node] + sizes[node] {
                for j in first[node]..i {
                    K[i][j] = next();
                    K[j][i] = K[i][j];
                }
            }
        }
        for node in 0..sizes.len() {
            for i in first[node]..first[node] + sizes[node] {
                // diagonally dominant, so quasi-definite whatever the order
                let sign = if negative[node] { -1.0 } else { 1.0 };
                K[i][i] = sign * (1.0 + 2.0 * K[i].iter().map(|x| x.abs()).sum::<f64>());
            }
        }
        Case { sizes: sizes.to_vec(), negative: negative.to_vec(), edges: edges.to_vec(), K, first }
    }

    fn fill(case: &Case, ldl: &mut BlockLdl) {
        ldl.values_mut().fill(0.0);
        let nodes = case.sizes.len();
        for a in 0..nodes {
            for b in 0..nodes {
                let at = if a == b {
                    ldl.diagonal(a)
                } else if ldl.is_after(a, b) {
                    let Some(at) = ldl.block(a, b) else { continue };
                    at
                } else {
                    continue;
                };
                for i in 0..case.sizes[a] {
                    for j in 0..case.sizes[b] {
                        ldl.values_mut()[at + i * case.sizes[b] + j] =
                            case.K[case.first[a] + i][case.first[b] + j];
                    }
                }
            }
        }
    }

    /// Largest component of K x - b after factoring and solving for b.
    fn residual(case: &Case) -> f64 {
        let nodes = case.sizes.len();
        let order = minimum_degree(nodes, &case.edges);
        let mut ldl = BlockLdl::new(&case.sizes, &case.negative, &case.edges, &order).unwrap();
        let n = case.K.len();
        let b: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).sin()).collect();
        // twice: nothing of the first factorization may be left in the second
        let mut worst: f64 = 0.0;
        for _ in 0..2 {
            fill(case, &mut ldl);
            ldl.factor(&vec![0.0; n], &vec![0.0; n], |_, _| Action::Stop).unwrap();
            let mut x = vec![0.0; n];
            let index_of = |node: usize, i: usize| ldl.start(node) + i;
            let indices: Vec<usize> = (0..nodes)
                .flat_map(|a| (0..case.sizes[a]).map(move |i| (a, i)))
                .map(|(a, i)| index_of(a, i))
                .collect();
            for i in 0..n {
                x[indices[i]] = b[i];
            }
            ldl.solve(&mut x);
            for i in 0..n {
                let Kx: f64 = (0..n).map(|j| case.K[i][j] * x[indices[j]]).sum();
                assert!(Kx.is_finite());
                worst = worst.max((Kx - b[i]).abs());
            }
        }
        worst
    }

    proptest::proptest! {
        #[test]
        fn solves_what_a_dense_matrix_would(
            nodes in proptest::collection::vec((1usize..9, proptest::bool::ANY), 1..12),
            links in proptest::collection::vec((0usize..12, 0usize..12), 0..30),
            seed in proptest::num::u64::ANY,
        ) {
            let (sizes, negative): (Vec<_>, Vec<_>) = nodes.into_iter().unzip();
            let edges: Vec<_> = links.into_iter().filter(|&(a, b)| a < sizes.len() && b < sizes.len()).collect();
            let worst = residual(&case(&sizes, &negative, &edges, seed));
            proptest::prop_assert!(worst < 1e-12, "residual {worst}");
        }
    }

    #[test]
    fn blocks_of_one_and_of_a_hundred_work_together() {
        let worst = residual(&case(
            &[1, 100, 1, 7],
            &[false, true, true, false],
            &[(0, 1), (1, 2), (2, 3), (3, 0)],
            7,
        ));
        assert!(worst < 1e-12, "residual {worst}");
    }

    #[test]
    fn an_empty_matrix_is_no_special_case() {
        let mut ldl = BlockLdl::new(&[], &[], &[], &[]).unwrap();
        ldl.factor(&[], &[], |_, _| Action::Stop).unwrap();
        ldl.solve(&mut []);
        assert_eq!(ldl.blocks(), 0);
    }

    /// A path of n nodes has n diagonal blocks and n - 1 others, and a good order adds none.
    #[test]
    fn a_chain_of_ten_thousand_fills_nothing() {
        let n = 10_000;
        let edges: Vec<_> = (1..n).map(|i| (i - 1, i)).collect();
        let order = minimum_degree(n, &edges);
        let ldl = BlockLdl::new(&vec![2; n], &vec![false; n], &edges, &order).unwrap();
        assert_eq!(ldl.blocks(), 2 * n - 1);
    }

    /// [4 2 0 | 6; 2 1 0 | 3 + c; 0 0 1 | 0; 6 3 + c 0 | -9]: the second row is half the first but for its coupling c
    /// to the last node.
    fn dependent(c: f64) -> BlockLdl {
        let mut ldl =
            BlockLdl::new(&[1, 2, 1], &[false, false, true], &[(0, 1), (0, 2), (1, 2)], &[0, 1, 2]).unwrap();
        let at = [ldl.diagonal(0), ldl.diagonal(1), ldl.diagonal(2)];
        let (b01, b02, b12) = (ldl.block(0, 1).unwrap(), ldl.block(0, 2).unwrap(), ldl.block(1, 2).unwrap());
        let v = ldl.values_mut();
        v[at[0]] = 4.0;
        v[at[1]..at[1] + 4].copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        v[at[2]] = -9.0;
        v[b01..b01 + 2].copy_from_slice(&[2.0, 0.0]);
        v[b02] = 6.0;
        v[b12..b12 + 2].copy_from_slice(&[3.0 + c, 0.0]);
        ldl
    }

    #[test]
    fn a_small_pivot_is_shown_with_its_coupling() {
        let weight = [0.0, 0.0, 0.0, 2.0];
        let shown = dependent(0.5).factor(&[1e-9; 4], &weight, |_, _| Action::Stop).unwrap_err();
        assert_eq!(shown, SmallPivot { node: 1, row: 0, value: 0.0, coupling: 2.0 * 0.25 });
    }

    /// Without its second row the matrix is [4 0 6; 0 1 0; 6 0 -9].
    #[test]
    fn a_dropped_row_is_as_if_it_were_not_there() {
        let mut ldl = dependent(0.0);
        ldl.factor(&[1e-9; 4], &[0.0; 4], |_, _| Action::Drop).unwrap();
        let mut x = [4.0 * 2.0 + 6.0 * 3.0, 77.0, 5.0, 6.0 * 2.0 - 9.0 * 3.0];
        ldl.solve(&mut x);
        let expected = [2.0, 0.0, 5.0, 3.0];
        assert!(x.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{x:?}");
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused() {
        let mut ldl = BlockLdl::new(&[2], &[false], &[], &[0]).unwrap();
        ldl.values_mut().copy_from_slice(&[1.0, f64::NAN, f64::NAN, 1.0]);
        assert_eq!(ldl.factor(&[0.0; 2], &[0.0; 2], |_, _| Action::Stop).unwrap_err().row, 1);
    }
}
