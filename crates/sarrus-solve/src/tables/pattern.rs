//! What is found once per topology: the order of elimination, and which blocks meet.

use super::Description;
use crate::kkt::HUB_DEGREE;
use sarrus_math::solve::{self, minimum_degree};
use std::collections::VecDeque;

/// K of one block gets W of a later element times Jᵀ of an earlier one, at a body that they share.
#[derive(Debug, Clone, Copy)]
pub struct Coupling {
    /// Element, and which of its bodies.
    pub later: (u32, u32),
    pub earlier: (u32, u32),
    /// The body.
    pub body: u32,
    /// Off-diagonal block.
    pub to: u32,
    /// Whether it is the first into its block, so that it overwrites.
    pub first: bool,
}

/// An off-diagonal block of the factors.
#[derive(Debug, Clone, Copy)]
pub struct Below {
    /// Element of its rows.
    pub row: u32,
    /// Its updates of later off-diagonal blocks end here in [`Pattern::updates`].
    pub updates: u32,
}

/// An update of an off-diagonal block by two of one column.
#[derive(Debug, Clone, Copy)]
pub struct Update {
    /// Block whose L is taken, with the rows of the target.
    pub rows: u32,
    /// The block that is changed.
    pub to: u32,
}

/// Elements in the order of elimination, with the pattern of their factors.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Elements of the description, in that order.
    pub order: Vec<usize>,
    /// Blocks below the diagonal, by columns; those of element e end at `ends[e]`.
    pub below: Vec<Below>,
    pub ends: Vec<u32>,
    pub updates: Vec<Update>,
    pub couplings: Vec<Coupling>,
    /// Blocks that only elimination fills.
    pub fill: Vec<u32>,
}

impl Pattern {
    /// Analyses a model; none where a body has so many elements that eliminating them first would join them all, or where there are none.
    pub fn new(model: &Description) -> Option<Pattern> {
        let n = model.elements.len();
        let mut of_body: Vec<Vec<(usize, u32)>> = vec![Vec::new(); model.bodies.len() + 1];
        for (e, element) in model.elements.iter().enumerate() {
            for (side, &body) in element.bodies.iter().enumerate() {
                of_body.get_mut(body)?.push((e, side as u32));
            }
        }
        of_body[0].clear();
        if n == 0 || of_body.iter().any(|elements| elements.len() > HUB_DEGREE) {
            return None;
        }
        let mut edges = Vec::new();
        for elements in &of_body {
            for (i, a) in elements.iter().enumerate() {
                edges.extend(elements[..i].iter().map(|b| (a.0, b.0)));
            }
        }
        let order = minimum_degree(n, &edges);
        let distance = distance_from_ground(model, n, &edges);
        let order = solve::Pattern::new(n, &edges, &order).ok()?.reorder(&order, &distance);
        let fill = solve::Pattern::new(n, &edges, &order).ok()?;
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(p, &e)| place[e] = p);

        // blocks, and the place of each in its column
        let (mut below, mut ends) = (Vec::with_capacity(fill.len()), Vec::with_capacity(n));
        for column in 0..n {
            below.extend(fill.column(column).iter().map(|&row| Below { row, updates: 0 }));
            ends.push(below.len() as u32);
        }
        let first = |column: usize| if column == 0 { 0 } else { ends[column - 1] as usize };
        let find = |row: usize, column: usize| {
            let found = fill.column(column).binary_search(&(row as u32)).ok()?;
            Some((first(column) + found) as u32)
        };
        let mut updates = Vec::new();
        for column in 0..n {
            for b in first(column)..ends[column] as usize {
                for rows in b + 1..ends[column] as usize {
                    let to = find(below[rows].row as usize, below[b].row as usize)?;
                    updates.push(Update { rows: rows as u32, to });
                }
                below[b].updates = updates.len() as u32;
            }
        }

        let mut couplings = Vec::new();
        for (body, elements) in of_body.iter().enumerate() {
            for (i, a) in elements.iter().enumerate() {
                for b in &elements[..i] {
                    let [a, b] = [a, b].map(|(e, side)| (place[*e] as u32, *side));
                    let (later, earlier) = if a > b { (a, b) } else { (b, a) };
                    let to = find(later.0 as usize, earlier.0 as usize)?;
                    couplings.push(Coupling { later, earlier, body: body as u32, to, first: false });
                }
            }
        }
        couplings.sort_by_key(|c| (c.to, c.later, c.earlier));
        let mut is_met = vec![false; below.len()];
        for c in &mut couplings {
            c.first = !std::mem::replace(&mut is_met[c.to as usize], true);
        }
        let fill = (0..below.len() as u32).filter(|&b| !is_met[b as usize]).collect();
        Some(Pattern { order, below, ends, updates, couplings, fill })
    }
}

/// Steps in the graph from the nearest element on the ground: taken outwards, each row meets a body that nothing holds yet, and leaves
/// a pivot about as large as its diagonal.
fn distance_from_ground(model: &Description, n: usize, edges: &[(usize, usize)]) -> Vec<u32> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); n];
    for &(a, b) in edges {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut distance = vec![u32::MAX; n];
    let mut queue: VecDeque<usize> = (0..n).filter(|&e| model.elements[e].bodies.contains(&0)).collect();
    queue.iter().for_each(|&e| distance[e] = 0);
    while let Some(e) = queue.pop_front() {
        for &next in &neighbours[e] {
            if distance[next] == u32::MAX {
                distance[next] = distance[e] + 1;
                queue.push_back(next);
            }
        }
    }
    distance
}
