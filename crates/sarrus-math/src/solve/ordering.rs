//! Elimination orders: which unknown goes first decides how many blocks a factorization stores, and how small its
//! pivots become.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use std::collections::BinaryHeap;
use thiserror::Error;

/// The factors would not fit in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the factors would hold {blocks} blocks, more than fits in memory")]
pub struct FillError {
    /// Blocks counted before giving up.
    pub blocks: usize,
}

/// The pattern of L: for each place in the order the later places that elimination joins it with, ascending.
#[derive(Debug, Clone)]
pub struct FactorPattern {
    first: Vec<usize>,
    rows: Vec<u32>,
}

impl FactorPattern {
    /// Pattern of the factors of a graph of `n` nodes, eliminated in the order of `order` (every node once).
    pub fn new(n: usize, edges: &[(usize, usize)], order: &[usize]) -> Result<FactorPattern, FillError> {
        let mut index_of = vec![0u32; n];
        for (p, &node) in order.iter().enumerate() {
            index_of[node] = p as u32;
        }
        let mut later: Vec<Vec<u32>> = vec![Vec::new(); n];
        for &(a, b) in edges {
            let (a, b) = (index_of[a], index_of[b]);
            if a != b {
                later[a.min(b) as usize].push(a.max(b));
            }
        }

        let mut pattern = FactorPattern { first: vec![0], rows: Vec::new() };
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut seen_by = vec![u32::MAX; n];
        let mut rows: Vec<u32> = Vec::new();
        for j in 0..n {
            // later neighbours, and those of the children in the elimination tree
            rows.clear();
            seen_by[j] = j as u32;
            let mut visit = |row: u32| {
                if seen_by[row as usize] != j as u32 {
                    seen_by[row as usize] = j as u32;
                    rows.push(row);
                }
            };
            later[j].iter().for_each(|&row| visit(row));
            for child in std::mem::take(&mut children[j]) {
                pattern.column(child as usize).iter().for_each(|&row| visit(row));
            }
            rows.sort_unstable();
            if let Some(&parent) = rows.first() {
                children[parent as usize].push(j as u32);
            }
            pattern.rows.try_reserve(rows.len()).map_err(|_| FillError { blocks: pattern.rows.len() })?;
            pattern.rows.extend_from_slice(&rows);
            pattern.first.push(pattern.rows.len());
        }
        Ok(pattern)
    }

    /// The later places that place `j` is joined with.
    pub fn column(&self, j: usize) -> &[u32] {
        &self.rows[self.first[j]..self.first[j + 1]]
    }

    /// Number of pairs of places that are joined.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no places are joined.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Another order with no more fill, in which nodes of small `distance` go early and those of large `distance` last,
    /// as far as that is possible; `order` is the one of this pattern.
    ///
    /// Eliminated graphs are chordal, and a maximum cardinality search from any node, turned around, orders a chordal
    /// graph without fill \[Tarjan1984\].
    pub fn reorder(&self, order: &[usize], distance: &[u32]) -> Vec<usize> {
        let n = order.len();
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
        for j in 0..n {
            for &i in self.column(j) {
                neighbours[j].push(i);
                neighbours[i as usize].push(j as u32);
            }
        }
        let mut joined = vec![0u32; n];
        let mut visited = vec![false; n];
        let mut next: BinaryHeap<(u32, u32, u32)> =
            (0..n).map(|j| (0, distance[order[j]], j as u32)).collect();
        let mut search = Vec::with_capacity(n);
        while let Some((weight, _, j)) = next.pop() {
            let j = j as usize;
            // an entry is stale once the node has more visited neighbours
            if visited[j] || weight != joined[j] {
                continue;
            }
            visited[j] = true;
            search.push(order[j]);
            for &i in &neighbours[j] {
                if !visited[i as usize] {
                    joined[i as usize] += 1;
                    next.push((joined[i as usize], distance[order[i as usize]], i));
                }
            }
        }
        search.reverse();
        search
    }
}

/// Approximate minimum degree order of a graph of `n` nodes; edges in any orientation, repeated or not.
///
/// Returns the nodes in order of elimination. Deterministic.
pub fn minimum_degree(n: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    // the upper triangle by columns, sorted, each edge once
    let mut upper: Vec<(usize, usize)> =
        edges.iter().filter(|(a, b)| a != b).map(|&(a, b)| (a.max(b), a.min(b))).collect();
    upper.sort_unstable();
    upper.dedup();
    let mut column = vec![0usize; n + 1];
    for &(col, _) in &upper {
        column[col + 1] += 1;
    }
    for j in 0..n {
        column[j + 1] += column[j];
    }
    let row: Vec<usize> = upper.iter().map(|&(_, row)| row).collect();

    let mut order = vec![0usize; n];
    let mut inverse = vec![0usize; n];
    let A = SymbolicSparseColMatRef::new_checked(n, n, &column, None, &row);
    let mut memory = MemBuffer::new(amd::order_scratch::<usize>(n, row.len()));
    let stack = MemStack::new(&mut memory);
    match amd::order(&mut order, &mut inverse, A, amd::Control::default(), stack) {
        Ok(_) => order,
        // an order is always possible; only its quality is lost
        Err(_) => (0..n).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_ordered_once() {
        let edges = [(0, 4), (4, 0), (2, 2), (1, 3), (3, 4)];
        let mut order = minimum_degree(6, &edges);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
        assert!(minimum_degree(0, &[]).is_empty());
    }

    /// A chain has no fill from either end, nor from the middle; the near end is asked to go first.
    #[test]
    fn a_chain_is_reordered_from_the_near_end_without_fill() {
        let n = 100;
        let edges: Vec<_> = (1..n).map(|i| (i - 1, i)).collect();
        let order = minimum_degree(n, &edges);
        let pattern = FactorPattern::new(n, &edges, &order).unwrap();
        let distance: Vec<u32> = (0..n as u32).collect();
        let near_first = pattern.reorder(&order, &distance);
        assert_eq!(near_first, (0..n).collect::<Vec<_>>());
        assert_eq!(FactorPattern::new(n, &edges, &near_first).unwrap().len(), n - 1);
    }

    proptest::proptest! {
        #[test]
        fn a_reordered_pattern_has_no_more_fill(
            edges in proptest::collection::vec((0usize..20, 0usize..20), 0..60),
            distance in proptest::collection::vec(0u32..5, 20),
        ) {
            let order = minimum_degree(20, &edges);
            let pattern = FactorPattern::new(20, &edges, &order).unwrap();
            let mut other = pattern.reorder(&order, &distance);
            proptest::prop_assert!(FactorPattern::new(20, &edges, &other).unwrap().len() <= pattern.len());
            other.sort_unstable();
            proptest::prop_assert_eq!(other, (0..20).collect::<Vec<_>>());
        }
    }

    /// Eliminating the middle of a star first would join all its leaves.
    #[test]
    fn the_middle_of_a_star_goes_after_its_leaves() {
        let edges: Vec<_> = (1..50).map(|leaf| (0, leaf)).collect();
        let order = minimum_degree(50, &edges);
        let index = order.iter().position(|&node| node == 0).unwrap();
        assert!(index >= 48, "middle at place {index}");
    }
}
