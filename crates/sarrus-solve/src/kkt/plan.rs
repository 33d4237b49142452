//! Describes what is found once per topology: nodes, order, and where each product of blocks goes.
//!
//! A node is a row block of J, or a hub: a body with so many row blocks that eliminating it first would join
//! them all. The quotient graph joins row blocks that share a body which is not a hub, and each hub with its row
//! blocks.

use crate::error::SolveError;
use crate::problem::Structure;
use sarrus_math::solve::{BlockLdl, FactorPattern, FillError, minimum_degree};
use std::collections::VecDeque;

/// So many row blocks on hubs alone follow each hub at once; where more of them are independent, they are moved later (`hubs.rs`).
const LATE_ROWS: usize = 16;

/// A row block of J.
#[derive(Debug, Clone, Copy)]
pub struct JacobianRows {
    pub start: usize,
    pub size: usize,
    pub holonomic: usize,
    pub first: usize,
    pub last: usize,
    /// Size that all its bodies have, zero if they differ.
    pub width: usize,
    /// Offset of its diagonal block in the factors.
    pub diagonal: usize,
    /// Offset in vectors of the factors.
    pub at: usize,
}

/// A block of J.
#[derive(Debug, Clone, Copy)]
pub struct JacobianBlock {
    /// Index of the body.
    pub col: usize,
    /// First velocity of the body.
    pub start: usize,
    pub size: usize,
    /// Offset in J, and in W.
    pub offset: usize,
    /// Marks where the body is a hub: offset of the block in the factors, and whether it is stored as Jᵀ.
    pub hub: Option<(usize, bool)>,
}

/// S gets W of one row block times Jᵀ of another, at a body that they share.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    pub W: u32,
    pub J: u32,
    pub to: u32,
    pub n: u32,
    pub m: u32,
    pub k: u32,
    /// True if it is the first into its block, so that it overwrites.
    pub first: bool,
}

/// A body that stays among the unknowns.
#[derive(Debug, Clone)]
pub struct Hub {
    pub col: usize,
    pub diagonal: usize,
    pub at: usize,
    /// Its blocks: row index, block index.
    pub blocks: Vec<(usize, usize)>,
}

/// Everything that [`Kkt`](super::Kkt) needs to know of the topology.
#[derive(Debug, Clone)]
pub struct KktPlan {
    pub rows: Vec<JacobianRows>,
    pub blocks: Vec<JacobianBlock>,
    pub products: Vec<Product>,
    pub hubs: Vec<Hub>,
    /// Ranges of the factors that only elimination fills: to be cleared.
    pub fill: Vec<(usize, usize)>,
    /// Scalar row of each row node, hub nodes after them.
    pub node_start: Vec<usize>,
}

impl KktPlan {
    /// Analyses `s`; bodies with more than `hub_degree` row blocks become hubs. Each row node of `late` follows the
    /// node of the hub beside it.
    pub fn new(
        s: &Structure,
        hub_degree: usize,
        late: &[(usize, usize)],
    ) -> Result<(KktPlan, BlockLdl), SolveError> {
        // blocks of each body
        let mut of_col: Vec<Vec<(usize, usize)>> = vec![Vec::new(); s.cols.len()];
        let rows: Vec<usize> = (0..s.rows.len()).filter(|&r| s.rows[r].size > 0).collect();
        for (node, &r) in rows.iter().enumerate() {
            for e in s.rows[r].entries.clone() {
                of_col[s.entries[e].col].push((node, e));
            }
        }
        let hub_cols: Vec<usize> = (0..s.cols.len()).filter(|&c| of_col[c].len() > hub_degree).collect();
        let mut hub_node = vec![None; s.cols.len()];
        for (i, &c) in hub_cols.iter().enumerate() {
            hub_node[c] = Some(rows.len() + i);
        }

        // quotient graph
        let mut edges = Vec::new();
        for (c, blocks) in of_col.iter().enumerate() {
            match hub_node[c] {
                Some(hub) => edges.extend(blocks.iter().map(|&(node, _)| (node, hub))),
                None => {
                    for (i, a) in blocks.iter().enumerate() {
                        edges.extend(blocks[..i].iter().map(|b| (a.0, b.0)));
                    }
                }
            }
        }
        let mut sizes: Vec<usize> = rows.iter().map(|&r| s.rows[r].size).collect();
        sizes.extend(hub_cols.iter().map(|&c| s.cols[c].size));
        let negative: Vec<bool> = (0..sizes.len()).map(|node| node >= rows.len()).collect();
        let ldl = order(s, &rows, &hub_node, &edges, sizes.len(), late)
            .and_then(|order| BlockLdl::new(&sizes, &negative, &edges, &order))
            .map_err(|e| SolveError::TooLarge { blocks: e.blocks })?;

        let mut plan = KktPlan {
            rows: Vec::new(),
            blocks: Vec::new(),
            products: Vec::new(),
            hubs: Vec::new(),
            fill: Vec::new(),
            node_start: rows.iter().map(|&r| s.rows[r].start).collect(),
        };
        plan.assign_rows(s, &rows, &hub_node, &ldl);
        plan.assign_hubs(&hub_cols, &hub_node, &of_col, s, &ldl);
        plan.assign_products(s, &of_col, &hub_node, &ldl, &sizes);
        Ok((plan, ldl))
    }

    fn assign_rows(&mut self, s: &Structure, rows: &[usize], hub_node: &[Option<usize>], ldl: &BlockLdl) {
        for (node, &r) in rows.iter().enumerate() {
            let row = &s.rows[r];
            let first = self.blocks.len();
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let hub =
                    hub_node[e.col].and_then(|hub| Some((ldl.block(node, hub)?, ldl.is_after(hub, node))));
                self.blocks.push(JacobianBlock {
                    col: e.col,
                    start: col.start,
                    size: col.size,
                    offset: e.offset,
                    hub,
                });
            }
            let width = self.blocks[first..].first().map_or(0, |b| b.size);
            let width = if self.blocks[first..].iter().all(|b| b.size == width) { width } else { 0 };
            self.rows.push(JacobianRows {
                width,
                start: row.start,
                size: row.size,
                holonomic: row.holonomic,
                first,
                last: self.blocks.len(),
                diagonal: ldl.diagonal(node),
                at: ldl.start(node),
            });
        }
    }

    fn assign_hubs(
        &mut self,
        hub_cols: &[usize],
        hub_node: &[Option<usize>],
        of_col: &[Vec<(usize, usize)>],
        s: &Structure,
        ldl: &BlockLdl,
    ) {
        for &col in hub_cols {
            let Some(node) = hub_node[col] else { continue };
            let blocks = of_col[col]
                .iter()
                .filter_map(|&(row, _)| {
                    let of_row = self.rows[row].first..self.rows[row].last;
                    of_row.into_iter().find(|&b| self.blocks[b].col == col).map(|b| (row, b))
                })
                .collect();
            self.hubs.push(Hub { col, diagonal: ldl.diagonal(node), at: ldl.start(node), blocks });
            self.node_start.push(s.cols[col].start);
        }
    }

    fn assign_products(
        &mut self,
        s: &Structure,
        of_col: &[Vec<(usize, usize)>],
        hub_node: &[Option<usize>],
        ldl: &BlockLdl,
        sizes: &[usize],
    ) {
        for (c, blocks) in of_col.iter().enumerate().filter(|(c, _)| hub_node[*c].is_none()) {
            for (i, a) in blocks.iter().enumerate() {
                for b in &blocks[..i] {
                    let (later, earlier) = if ldl.is_after(a.0, b.0) { (a, b) } else { (b, a) };
                    let Some(to) = ldl.block(later.0, earlier.0) else { continue };
                    self.products.push(Product {
                        W: s.entries[later.1].offset as u32,
                        J: s.entries[earlier.1].offset as u32,
                        to: to as u32,
                        n: sizes[later.0] as u32,
                        m: s.cols[c].size as u32,
                        k: sizes[earlier.0] as u32,
                        first: false,
                    });
                }
            }
        }

        // memory order; the first product into a block overwrites it, blocks without one are cleared
        self.products.sort_by_key(|p| p.to);
        let mut last = None;
        for p in &mut self.products {
            p.first = last != Some(p.to);
            last = Some(p.to);
        }
        let assembled: std::collections::HashSet<usize> = self
            .products
            .iter()
            .map(|p| p.to as usize)
            .chain(self.blocks.iter().filter_map(|b| b.hub.map(|(at, _)| at)))
            .collect();
        for (at, len) in ldl.off_diagonal() {
            if !assembled.contains(&at) {
                self.fill.push((at, len));
            }
        }
    }
}

/// Minimum degree, then from the ground outwards as far as that adds no fill, except that row blocks on hubs alone
/// follow their hubs: before that, nothing stands on their diagonal.
///
/// From the ground outwards, what has been eliminated holds still, and each new row meets a body that has not been
/// touched: its pivot is about as large as its diagonal. From the other end a row would meet all bodies beyond it as
/// one, with a mobility of N⁻³ for N bodies in a row.
fn order(
    s: &Structure,
    rows: &[usize],
    hub_node: &[Option<usize>],
    edges: &[(usize, usize)],
    nodes: usize,
    moved: &[(usize, usize)],
) -> Result<Vec<usize>, FillError> {
    let order = minimum_degree(nodes, edges);
    let distance = distance_from_ground(s, rows, edges, nodes);
    let mut order = FactorPattern::new(nodes, edges, &order)?.reorder(&order, &distance);
    if nodes == rows.len() {
        return Ok(order);
    }

    let mut index_of = vec![0; nodes];
    for (p, &node) in order.iter().enumerate() {
        index_of[node] = 2 * p;
    }
    let mut late = vec![0; nodes - rows.len()];
    for (node, &r) in rows.iter().enumerate() {
        let hubs = || s.entries[s.rows[r].entries.clone()].iter().map(|e| hub_node[e.col]);
        if hubs().any(|hub| hub.is_none()) {
            continue;
        }
        let Some(last) = hubs().flatten().max_by_key(|&hub| index_of[hub]) else { continue };
        if index_of[node] < index_of[last] && late[last - rows.len()] < LATE_ROWS {
            late[last - rows.len()] += 1;
            index_of[node] = index_of[last] + 1;
        }
    }
    moved.iter().for_each(|&(node, hub)| index_of[node] = index_of[node].max(index_of[hub] + 1));
    order.sort_by_key(|&node| index_of[node]);
    Ok(order)
}

/// Steps in the graph from the nearest row block that acts on one body alone, so holds it to the ground.
fn distance_from_ground(s: &Structure, rows: &[usize], edges: &[(usize, usize)], nodes: usize) -> Vec<u32> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for &(a, b) in edges {
        neighbours[a].push(b as u32);
        neighbours[b].push(a as u32);
    }
    let mut distance = vec![u32::MAX; nodes];
    let mut queue: VecDeque<usize> =
        (0..rows.len()).filter(|&node| s.rows[rows[node]].entries.len() == 1).collect();
    queue.iter().for_each(|&node| distance[node] = 0);
    while let Some(node) = queue.pop_front() {
        for &next in &neighbours[node] {
            if distance[next as usize] == u32::MAX {
                distance[next as usize] = distance[node] + 1;
                queue.push_back(next as usize);
            }
        }
    }
    distance
}
