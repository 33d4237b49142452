//! What is found once per topology: the order of elimination, and which blocks meet.
//!
//! Elements are taken in parts of few rows, so that blocks are small and the same for all: a hinge in space is one of three rows and one of two. The parts of an
//! element follow each other, and elements have the order of [`Kkt`](crate::Kkt): pivots are the same in both.

use super::{Description, RowKind};
use crate::kkt::HUB_DEGREE;
use sarrus_math::solve::{self, minimum_degree};
use std::collections::VecDeque;
use std::ops::Range;

/// A part at one of its two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Side(u32);

impl Side {
    fn new(part: usize, side: usize) -> Side {
        Side((2 * part + side) as u32)
    }

    /// The part.
    #[inline(always)]
    pub fn part(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Which of its bodies.
    #[inline(always)]
    pub fn side(self) -> usize {
        (self.0 & 1) as usize
    }
}

/// A block of S gets J M⁻¹ of a later part times Jᵀ of an earlier one, at a body that they share.
#[derive(Debug, Clone, Copy)]
pub struct Coupling {
    pub later: Side,
    pub earlier: Side,
    /// The body.
    pub body: u32,
}

/// An off-diagonal block of the factors.
#[derive(Debug, Clone, Copy)]
pub struct Below {
    /// Part of its rows.
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

/// Rows of an element that are eliminated together.
#[derive(Debug, Clone)]
pub struct Part {
    /// The element in the description, and which of its records.
    pub element: usize,
    pub records: Range<usize>,
    /// How many rows.
    pub rows: usize,
    /// First of its multipliers.
    pub start: usize,
}

/// Parts in the order of elimination, with the pattern of their factors.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The parts, in that order.
    pub parts: Vec<Part>,
    /// Blocks below the diagonal, by columns; those of part k end at `ends[k]`.
    pub below: Vec<Below>,
    pub ends: Vec<u32>,
    pub updates: Vec<Update>,
    /// What goes into the blocks, those of block b up to `coupling_ends[b]`; where there is nothing, only elimination fills it.
    pub couplings: Vec<Coupling>,
    pub coupling_ends: Vec<u32>,
    /// Parts at each body: those of body b end at `body_ends[b]`. The ground has none.
    pub at_bodies: Vec<Side>,
    pub body_ends: Vec<u32>,
}

impl Pattern {
    /// Analyses a model, in parts of up to `most` rows; none where a body has so many elements that eliminating them first would join them all, where rows of one
    /// kind are more than that, or where there are no rows.
    pub fn new(model: &Description, most: usize) -> Option<Pattern> {
        let parts = parts(model, &order(model)?, most)?;
        let n = parts.len();
        let mut of_body: Vec<Vec<Side>> = vec![Vec::new(); model.bodies.len() + 1];
        for (k, part) in parts.iter().enumerate() {
            for (side, &body) in model.elements[part.element].bodies.iter().enumerate() {
                of_body[body].push(Side::new(k, side));
            }
        }
        of_body[0].clear();
        let fill = solve::Pattern::new(n, &meetings(&of_body), &Vec::from_iter(0..n)).ok()?;

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

        let mut meetings = Vec::new();
        for (body, parts) in of_body.iter().enumerate() {
            for (i, &a) in parts.iter().enumerate() {
                for &b in &parts[..i] {
                    let (later, earlier) = (a.max(b), a.min(b));
                    let to = find(later.part(), earlier.part())?;
                    meetings.push((to, Coupling { later, earlier, body: body as u32 }));
                }
            }
        }
        meetings.sort_by_key(|(to, c)| (*to, c.later, c.earlier));
        let mut coupling_ends = vec![0; below.len()];
        meetings.iter().enumerate().for_each(|(i, (to, _))| coupling_ends[*to as usize] = i as u32 + 1);
        let couplings = meetings.into_iter().map(|(_, c)| c).collect();
        for b in 1..below.len() {
            coupling_ends[b] = coupling_ends[b].max(coupling_ends[b - 1]);
        }
        let (mut at_bodies, mut body_ends) = (Vec::new(), Vec::with_capacity(of_body.len()));
        for all in &of_body {
            at_bodies.extend_from_slice(all);
            body_ends.push(at_bodies.len() as u32);
        }
        Some(Pattern { parts, below, ends, updates, couplings, coupling_ends, at_bodies, body_ends })
    }
}

impl Pattern {
    /// The first block of part `k`.
    #[inline(always)]
    pub fn begin(&self, k: usize) -> usize {
        if k == 0 { 0 } else { self.ends[k - 1] as usize }
    }
}

/// Pairs of what is on one body.
fn meetings(of_body: &[Vec<Side>]) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for all in of_body {
        for (i, a) in all.iter().enumerate() {
            edges.extend(all[..i].iter().map(|b| (a.part(), b.part())));
        }
    }
    edges
}

/// Elements in the order of elimination.
fn order(model: &Description) -> Option<Vec<usize>> {
    let n = model.elements.len();
    let mut of_body: Vec<Vec<Side>> = vec![Vec::new(); model.bodies.len() + 1];
    for (e, element) in model.elements.iter().enumerate() {
        for (side, &body) in element.bodies.iter().enumerate() {
            of_body.get_mut(body)?.push(Side::new(e, side));
        }
    }
    of_body[0].clear();
    if n == 0 || of_body.iter().any(|elements| elements.len() > HUB_DEGREE) {
        return None;
    }
    let edges = meetings(&of_body);
    let order = minimum_degree(n, &edges);
    let distance = distance_from_ground(model, n, &edges);
    Some(solve::Pattern::new(n, &edges, &order).ok()?.reorder(&order, &distance))
}

fn parts(model: &Description, order: &[usize], most: usize) -> Option<Vec<Part>> {
    let mut starts = vec![0];
    for element in &model.elements {
        let rows: usize = element.rows.iter().map(|r| r.rows(model.planar)).sum();
        starts.push(starts[starts.len() - 1] + rows);
    }
    let mut parts: Vec<Part> = Vec::with_capacity(order.len());
    for &element in order {
        let mut start = starts[element];
        for (k, record) in model.elements[element].rows.iter().enumerate() {
            let rows = record.rows(model.planar);
            if rows > most {
                return None;
            }
            match parts.last_mut() {
                Some(part)
                    if part.element == element && part.rows + rows <= most && !apart(model, part, k) =>
                {
                    part.records.end = k + 1;
                    part.rows += rows;
                }
                _ => parts.push(Part { element, records: k..k + 1, rows, start }),
            }
            start += rows;
        }
    }
    Some(parts)
}

/// Whether record `k` of an element is of another sort than those of a part: points that coincide are a part of their own.
fn apart(model: &Description, part: &Part, k: usize) -> bool {
    let kind = |k: usize| model.elements[part.element].rows[k].kind;
    (kind(k) == RowKind::Coincident) != (kind(part.records.start) == RowKind::Coincident)
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
