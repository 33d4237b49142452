//! Elimination orders: which unknown goes first decides how many blocks a factorization stores.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

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

    /// Eliminating the middle of a star first would join all its leaves.
    #[test]
    fn the_middle_of_a_star_goes_after_its_leaves() {
        let edges: Vec<_> = (1..50).map(|leaf| (0, leaf)).collect();
        let order = minimum_degree(50, &edges);
        let place = order.iter().position(|&node| node == 0).unwrap();
        assert!(place >= 48, "middle at place {place}");
    }
}
