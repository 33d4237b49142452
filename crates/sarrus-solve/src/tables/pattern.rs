//! Describes what is found once per topology: the order of elimination, and which blocks meet.
//!
//! Elements are taken in parts of few rows, so that blocks are small and the same for all: a hinge in space is one of three rows and one of two. The parts of an
//! element follow each other, and elements have the order of [`Kkt`](crate::Kkt): pivots are the same in both.

use super::subtrees::{self, Branch};
use super::{Description, RowKind};
use crate::kkt::HUB_DEGREE;
use sarrus_math::solve::{self, minimum_degree};
use std::collections::VecDeque;
use std::ops::Range;

/// A part at one of its two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupSide(u32);

impl GroupSide {
    fn new(part: usize, side: usize) -> GroupSide {
        GroupSide((2 * part + side) as u32)
    }

    /// The part.
    #[inline(always)]
    pub fn part(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Returns which of its bodies.
    #[inline(always)]
    pub fn side(self) -> usize {
        (self.0 & 1) as usize
    }
}

/// A block of S gets J M⁻¹ of a later part times Jᵀ of an earlier one, at a body that they share.
#[derive(Debug, Clone, Copy)]
pub struct Coupling {
    pub later: GroupSide,
    pub earlier: GroupSide,
    /// The body.
    pub body: u32,
}

/// An off-diagonal block of the factors.
#[derive(Debug, Clone, Copy)]
pub struct FactorBlock {
    /// Part of its rows.
    pub row: u32,
    /// Holds what elimination takes from it ends here in [`EliminationPattern::updates`].
    pub updates: u32,
}

/// An update of an off-diagonal block by two of an earlier column.
#[derive(Debug, Clone, Copy)]
pub struct Update {
    /// Block whose L is taken, with the rows of the target.
    pub rows: u32,
    /// Block with the columns of the target as its rows.
    pub columns: u32,
}

/// A block to the left of the diagonal.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    pub block: u32,
    pub column: u32,
}

/// Rows of an element that are eliminated together.
#[derive(Debug, Clone)]
pub struct EliminationGroup {
    /// The element in the description, and which of its records.
    pub element: usize,
    pub records: Range<usize>,
    /// Number of rows.
    pub rows: usize,
    /// First of its multipliers.
    pub start: usize,
}

/// Parts in the order of elimination, with the pattern of their factors.
#[derive(Debug, Clone)]
pub struct EliminationPattern {
    /// The parts, in that order; those without rows stand in for others.
    pub parts: Vec<EliminationGroup>,
    /// Branches, one after the other; what follows is in none.
    pub subtrees: Vec<Branch>,
    /// Blocks below the diagonal, by columns; those of part k end at `ends[k]`.
    pub below: Vec<FactorBlock>,
    pub ends: Vec<u32>,
    pub updates: Vec<Update>,
    /// The same blocks by rows, from left to right; those of part k end at `left_ends[k]`.
    pub left: Vec<Left>,
    pub left_ends: Vec<u32>,
    /// Holds what goes into the blocks, those of block b up to `coupling_ends[b]`; where there is nothing, only elimination fills it.
    pub couplings: Vec<Coupling>,
    pub coupling_ends: Vec<u32>,
    /// Parts at each body: those of body b end at `body_ends[b]`. The ground has none.
    pub at_bodies: Vec<GroupSide>,
    pub body_ends: Vec<u32>,
}

impl EliminationPattern {
    /// Analyses a model, in parts of up to `most` rows; none where a body has so many elements that eliminating them first would join them all, where rows of one
    /// kind are more than that, or where there are no rows.
    pub fn new(model: &Description, most: usize) -> Option<EliminationPattern> {
        let mut parts = parts(model, &order(model)?, most)?;
        let mut fill = fill(model, &parts)?;
        let mut cuts = Vec::new();
        if let Some((indices, ends)) = subtrees::gather(&fill, parts.len()) {
            parts = indices.into_iter().map(|k| parts[k].clone()).collect();
            fill = self::fill(model, &parts)?;
            cuts = ends;
        }
        let layout = Layout::new(&fill, parts.len(), &cuts);
        let mut pattern = layout.columns(&fill, parts);
        pattern.find_updates()?;
        pattern.find_couplings(model, &layout)?;
        for branch in &mut pattern.subtrees {
            // blocks that stand-ins have follow their rows
            let mut blocks = Vec::new();
            for (i, &column) in branch.stands_for.iter().enumerate() {
                let k = branch.own.end + i;
                let begin = if k == 0 { 0 } else { pattern.ends[k - 1] as usize };
                for b in begin..pattern.ends[k] as usize {
                    let row = branch.stands_for[pattern.below[b].row as usize - branch.own.end];
                    blocks.push((
                        b as u32,
                        find(&pattern.below, &pattern.ends, row as usize, column as usize)?,
                    ));
                }
            }
            branch.blocks = blocks;
        }
        Some(pattern)
    }

    /// The first block of part `k`.
    #[inline(always)]
    pub fn begin(&self, k: usize) -> usize {
        if k == 0 { 0 } else { self.ends[k - 1] as usize }
    }

    /// Parts of branch `b`; after the last those that are in none.
    #[inline(always)]
    pub fn branch(&self, b: usize) -> Range<usize> {
        match self.subtrees.get(b) {
            Some(branch) => branch.own.clone(),
            None => self.subtrees.last().map_or(0, |branch| branch.all().end)..self.parts.len(),
        }
    }

    /// Returns what elimination takes from blocks, by its target.
    fn find_updates(&mut self) -> Option<()> {
        let (mut left, mut updates) = (Vec::new(), Vec::new());
        // a stand-in is not eliminated
        for column in (0..self.parts.len()).filter(|&k| self.parts[k].rows > 0) {
            let (begin, end) = (self.begin(column), self.ends[column] as usize);
            for b in begin..end {
                left.push((self.below[b].row, Left { block: b as u32, column: column as u32 }));
                for rows in b + 1..end {
                    let [row, to] = [rows, b].map(|b| self.below[b].row as usize);
                    let to = find(&self.below, &self.ends, row, to)?;
                    updates.push((to, Update { rows: rows as u32, columns: b as u32 }));
                }
            }
        }
        (self.left, self.left_ends) = by_target(left, self.parts.len());
        let ends;
        (self.updates, ends) = by_target(updates, self.below.len());
        self.below.iter_mut().zip(ends).for_each(|(below, end)| below.updates = end);
        Some(())
    }

    fn find_couplings(&mut self, model: &Description, layout: &Layout) -> Option<()> {
        let of_body = sides(model, &self.parts);
        let mut meetings = Vec::new();
        for (body, parts) in of_body.iter().enumerate() {
            for (i, &a) in parts.iter().enumerate() {
                for &b in &parts[..i] {
                    let (later, earlier) = (a.max(b), a.min(b));
                    let row = layout.stand_in(later.part(), earlier.part());
                    let to = find(&self.below, &self.ends, row, earlier.part())?;
                    meetings.push((to, Coupling { later, earlier, body: body as u32 }));
                }
            }
        }
        meetings.sort_by_key(|(_, c)| (c.later, c.earlier));
        (self.couplings, self.coupling_ends) = by_target(meetings, self.below.len());
        for all in &of_body {
            self.at_bodies.extend_from_slice(all);
            self.body_ends.push(self.at_bodies.len() as u32);
        }
        Some(())
    }
}

/// Returns what belongs to each of `n` targets, in the order given, one after the other, and where each ends.
fn by_target<T>(mut all: Vec<(u32, T)>, n: usize) -> (Vec<T>, Vec<u32>) {
    all.sort_by_key(|(to, _)| *to);
    let mut ends = vec![0; n];
    for (to, _) in &all {
        ends[*to as usize] += 1;
    }
    for i in 1..n {
        ends[i] += ends[i - 1];
    }
    (all.into_iter().map(|(_, item)| item).collect(), ends)
}

/// The block of `row` in `column`.
fn find(below: &[FactorBlock], ends: &[u32], row: usize, column: usize) -> Option<u32> {
    let begin = if column == 0 { 0 } else { ends[column - 1] as usize };
    let own = &below[begin..ends[column] as usize];
    own.binary_search_by_key(&(row as u32), |b| b.row).ok().map(|i| (begin + i) as u32)
}

/// Marks where parts are once branches have stand-ins.
struct Layout {
    subtrees: Vec<Branch>,
    /// The new number of each part.
    new: Vec<usize>,
    /// Of each branch, the parts after all branches, by their old numbers, that it reaches.
    outside: Vec<Vec<u32>>,
}

impl Layout {
    fn new(fill: &solve::FactorPattern, n: usize, cuts: &[usize]) -> Layout {
        let rest = cuts.last().copied().unwrap_or(0);
        let (mut subtrees, mut new, mut outside) = (Vec::new(), Vec::with_capacity(n), Vec::new());
        let (mut begin, mut added) = (0, 0);
        for &end in cuts {
            let rows = (begin..end).flat_map(|k| fill.column(k)).copied();
            let mut own: Vec<u32> = rows.filter(|&row| row as usize >= rest).collect();
            own.sort_unstable();
            own.dedup();
            new.extend((begin..end).map(|k| k + added));
            subtrees.push(Branch {
                own: begin + added..end + added,
                stands_for: Vec::new(),
                blocks: Vec::new(),
            });
            added += own.len();
            outside.push(own);
            begin = end;
        }
        new.extend((rest..n).map(|k| k + added));
        for (branch, rows) in subtrees.iter_mut().zip(&outside) {
            branch.stands_for = rows.iter().map(|&row| new[row as usize] as u32).collect();
        }
        Layout { subtrees, new, outside }
    }

    /// The number under which the column `part`, in new numbers, knows the row `row`.
    fn stand_in(&self, row: usize, part: usize) -> usize {
        let own = self.subtrees.iter().find(|branch| branch.own.contains(&part));
        match own {
            Some(branch) if row >= branch.own.end => {
                let found = branch.stands_for.binary_search(&(row as u32));
                found.map_or(row, |i| branch.own.end + i)
            }
            _ => row,
        }
    }

    /// The columns of all parts, stand-ins among them.
    fn columns(&self, fill: &solve::FactorPattern, old: Vec<EliminationGroup>) -> EliminationPattern {
        let (mut parts, mut below, mut ends) = (Vec::new(), Vec::with_capacity(fill.len()), Vec::new());
        let mut add_group = |part: EliminationGroup, rows: &mut dyn Iterator<Item = usize>| {
            parts.push(part);
            below.extend(rows.map(|row| FactorBlock { row: row as u32, updates: 0 }));
            ends.push(below.len() as u32);
        };
        let (mut branch, mut old_parts) = (0, old.into_iter());
        for k in 0..self.new.len() {
            let Some(part) = old_parts.next() else { break };
            let rows = fill.column(k).iter().map(|&row| self.new[row as usize]);
            add_group(part, &mut rows.map(|row| self.stand_in(row, self.new[k])));
            if self.subtrees.get(branch).is_some_and(|b| b.own.end == self.new[k] + 1) {
                let (own, end) = (&self.outside[branch], self.subtrees[branch].own.end);
                for &column in own {
                    let inner =
                        fill.column(column as usize).iter().filter_map(|row| own.binary_search(row).ok());
                    add_group(
                        EliminationGroup { element: 0, records: 0..0, rows: 0, start: 0 },
                        &mut inner.map(|i| end + i),
                    );
                }
                branch += 1;
            }
        }
        EliminationPattern {
            parts,
            subtrees: self.subtrees.clone(),
            below,
            ends,
            updates: Vec::new(),
            left: Vec::new(),
            left_ends: Vec::new(),
            couplings: Vec::new(),
            coupling_ends: Vec::new(),
            at_bodies: Vec::new(),
            body_ends: Vec::new(),
        }
    }
}

/// Parts at each body but the ground.
fn sides(model: &Description, parts: &[EliminationGroup]) -> Vec<Vec<GroupSide>> {
    let mut of_body: Vec<Vec<GroupSide>> = vec![Vec::new(); model.bodies.len() + 1];
    for (k, part) in parts.iter().enumerate().filter(|(_, part)| part.rows > 0) {
        for (side, &body) in model.elements[part.element].bodies.iter().enumerate() {
            of_body[body].push(GroupSide::new(k, side));
        }
    }
    of_body[0].clear();
    of_body
}

/// Returns what elimination in this order joins.
fn fill(model: &Description, parts: &[EliminationGroup]) -> Option<solve::FactorPattern> {
    let n = parts.len();
    solve::FactorPattern::new(n, &meetings(&sides(model, parts)), &Vec::from_iter(0..n)).ok()
}

/// Pairs of what is on one body.
fn meetings(of_body: &[Vec<GroupSide>]) -> Vec<(usize, usize)> {
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
    let mut of_body: Vec<Vec<GroupSide>> = vec![Vec::new(); model.bodies.len() + 1];
    for (e, element) in model.elements.iter().enumerate() {
        for (side, &body) in element.bodies.iter().enumerate() {
            of_body.get_mut(body)?.push(GroupSide::new(e, side));
        }
    }
    of_body[0].clear();
    if n == 0 || of_body.iter().any(|elements| elements.len() > HUB_DEGREE) {
        return None;
    }
    let edges = meetings(&of_body);
    let order = minimum_degree(n, &edges);
    let distance = distance_from_ground(model, n, &edges);
    Some(solve::FactorPattern::new(n, &edges, &order).ok()?.reorder(&order, &distance))
}

fn parts(model: &Description, order: &[usize], most: usize) -> Option<Vec<EliminationGroup>> {
    let mut starts = vec![0];
    for element in &model.elements {
        let rows: usize = element.rows.iter().map(|r| r.rows(model.planar)).sum();
        starts.push(starts[starts.len() - 1] + rows);
    }
    let mut parts: Vec<EliminationGroup> = Vec::with_capacity(order.len());
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
                _ => parts.push(EliminationGroup { element, records: k..k + 1, rows, start }),
            }
            start += rows;
        }
    }
    Some(parts)
}

/// Returns whether record `k` of an element is of another sort than those of a part: points that coincide are a part of their own.
fn apart(model: &Description, part: &EliminationGroup, k: usize) -> bool {
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

#[cfg(test)]
mod tests {
    use super::super::{BodyRecord, ElementRecord, RowRecord};
    use super::*;

    /// A chain of `n` links between two walls.
    fn bridge(n: usize) -> Description {
        let hinge = |a: usize, b: usize| ElementRecord {
            bodies: [a, b],
            rows: vec![RowRecord { kind: RowKind::Coincident, a: [0.0; 3], r_A: [0.0; 3], r_B: [0.0; 3] }],
        };
        let elements = (0..=n).map(|k| hinge(k, (k + 1) % (n + 1))).collect();
        let bodies = vec![BodyRecord { mass: 1.0, gravitational_mass: 1.0, inertia: [[1.0; 3]; 3] }; n];
        Description { planar: true, gravity: [0.0; 3], bodies, elements, loads: Some(Vec::new()) }
    }

    #[test]
    fn a_long_chain_between_walls_has_two_branches_that_meet_in_one_part() {
        let pattern = EliminationPattern::new(&bridge(9000), 2).unwrap();
        let [a, b] = &pattern.subtrees[..] else { panic!("{} branches", pattern.subtrees.len()) };
        assert!(a.own.len() + b.own.len() > 8900, "{} {}", a.own.len(), b.own.len());
        assert!(a.own.len().min(b.own.len()) > 2048);
        for branch in [a, b] {
            assert!((1..4).contains(&branch.stands_for.len()), "{:?}", branch.stands_for);
            assert!(branch.stands_for.iter().all(|&k| k as usize >= pattern.branch(2).start));
        }
        assert_eq!(pattern.parts.iter().filter(|part| part.rows > 0).count(), 9001);
    }

    #[test]
    fn every_row_of_a_column_comes_after_it_and_in_its_branch() {
        let pattern = EliminationPattern::new(&bridge(9000), 2).unwrap();
        for (k, part) in pattern.parts.iter().enumerate() {
            let branch = pattern.subtrees.iter().find(|branch| branch.all().contains(&k));
            let end = branch.map_or(pattern.parts.len(), |branch| branch.all().end);
            for below in &pattern.below[pattern.begin(k)..pattern.ends[k] as usize] {
                assert!((below.row as usize) > k && (below.row as usize) < end, "{part:?} {k} {below:?}");
            }
        }
    }

    #[test]
    fn a_short_one_has_none() {
        assert!(EliminationPattern::new(&bridge(500), 2).unwrap().subtrees.is_empty());
    }
}
