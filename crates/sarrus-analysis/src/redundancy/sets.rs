//! The smallest sets of elements that share a redundancy.
//!
//! The factorization keeps a basis of the rows and leaves out the others. A row that was left out is a combination of
//! rows of the basis in one way only; it and the rows that take part are a circuit: they are dependent, and without any
//! one of them they are not. So every redundancy has one circuit, and circuits over the same elements make one set.
//!
//! The combination is looked for near the row: the rows around it are taken in, those that share a body with it, then
//! their neighbours, until it is dependent inside that group, by orthogonalization of the group's rows. Costs what the
//! groups cost, O(N) where loops are short. A circuit that outgrows that is found from the factors of all rows, O(N)
//! each, for a few.

use super::Scaled;
use crate::rank::cholesky;
use sarrus_solve::{Equations, Structure};
use std::collections::{BTreeMap, HashMap};

/// A scaled row whose part outside a group is below this is dependent there: its square is the pivot that the
/// factorization has dropped.
const OUTSIDE: f64 = 3e-5;
/// A coefficient below this, relative to the largest, is none.
const PART: f64 = 1e-6;
/// Rows of a group, at most.
const GROUP: usize = 300;
/// Rows that are looked for in vain in their neighbourhood, or over all rows, at most.
const FAR: usize = 32;

/// Elements that share redundancies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    /// Block rows, in order.
    pub elements: Vec<usize>,
    /// How many redundancies.
    pub redundant: usize,
}

/// All sets.
pub(super) struct Sets {
    /// In the order of their first elements.
    pub sets: Vec<Set>,
    /// Redundancies whose elements were not looked for any further.
    pub unresolved: usize,
}

/// The sets of the redundancies whose rows are `dependent`.
pub(super) fn sets(s: &Structure, scaled: &mut Scaled, dependent: &[usize]) -> Sets {
    let mut found: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let mut open: HashMap<usize, bool> = dependent.iter().map(|&row| (row, true)).collect();
    let map = Map::new(s, &scaled.eq);
    let (mut far, mut unresolved) = (0, 0);
    for &seed in dependent {
        if !open[&seed] {
            continue;
        }
        let near = if far < FAR { map.circuits_near(seed, &open) } else { Vec::new() };
        if near.is_empty() {
            far += 1;
            open.insert(seed, false);
            if far > FAR {
                unresolved += 1;
                continue;
            }
            let mut w = vec![0.0; s.nc];
            w[seed] = 1.0;
            scaled.kkt.complete_null(&scaled.eq, &mut w);
            let largest = w.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let rows = (0..s.nc).filter(|&row| w[row].abs() > PART * largest);
            *found.entry(elements(s, rows)).or_default() += 1;
        }
        for (row, circuit) in near {
            open.insert(row, false);
            *found.entry(elements(s, circuit.into_iter())).or_default() += 1;
        }
    }
    let sets = found.into_iter().map(|(elements, redundant)| Set { elements, redundant }).collect();
    Sets { sets, unresolved }
}

/// Sets that overlap as one.
pub(super) fn merged(sets: &[Set]) -> Vec<Set> {
    let mut parent: Vec<usize> = (0..sets.len()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut owner: HashMap<usize, usize> = HashMap::new();
    for (i, set) in sets.iter().enumerate() {
        for &element in &set.elements {
            let other = *owner.entry(element).or_insert(i);
            let (a, b) = (root(&mut parent, other), root(&mut parent, i));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Set> = BTreeMap::new();
    for (i, set) in sets.iter().enumerate() {
        let to = root(&mut parent, i);
        let group = groups.entry(to).or_insert(Set { elements: Vec::new(), redundant: 0 });
        group.redundant += set.redundant;
        group.elements.extend_from_slice(&set.elements);
    }
    let mut groups: Vec<Set> = groups.into_values().collect();
    for group in &mut groups {
        group.elements.sort_unstable();
        group.elements.dedup();
    }
    groups
}

/// Block rows of `rows`, each once.
fn elements(s: &Structure, rows: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut elements: Vec<usize> = rows.filter_map(|row| s.row_block_of(row)).collect();
    elements.sort_unstable();
    elements.dedup();
    elements
}

/// Who is next to whom, and the rows in mass-weighted velocities.
struct Map<'a> {
    s: &'a Structure,
    eq: &'a Equations,
    /// Block rows of each body.
    of_body: Vec<Vec<usize>>,
    /// C of each body, M⁻¹ = C Cᵀ.
    roots: Vec<Vec<f64>>,
}

impl<'a> Map<'a> {
    fn new(s: &'a Structure, eq: &'a Equations) -> Map<'a> {
        let mut of_body = vec![Vec::new(); s.cols.len()];
        for (block, row) in s.rows.iter().enumerate() {
            s.entries[row.entries.clone()].iter().for_each(|e| of_body[e.col].push(block));
        }
        let roots = s.cols.iter().map(|c| cholesky(&eq.minv[c.mass..][..c.size * c.size], c.size)).collect();
        Map { s, eq, of_body, roots }
    }

    /// Circuits of the row `seed` and of other open rows that the same group of rows explains; none where the group
    /// grows too large.
    fn circuits_near(&self, seed: usize, open: &HashMap<usize, bool>) -> Vec<(usize, Vec<usize>)> {
        let Some(first) = self.s.row_block_of(seed) else { return Vec::new() };
        let (mut level, mut reached) = (vec![first], HashMap::from([(first, ())]));
        let mut group = Group::default();
        let mut candidates = Vec::new();
        while !level.is_empty() {
            for &block in &level {
                let row = &self.s.rows[block];
                for i in 0..row.size {
                    match open.get(&(row.start + i)) {
                        None => {
                            let a = self.row(block, i, &mut group.places);
                            group.add(row.start + i, a);
                        }
                        Some(true) => candidates.push((row.start + i, block, i)),
                        Some(false) => {}
                    }
                }
            }
            if group.rows.len() > GROUP {
                return Vec::new();
            }
            let explained = |row: usize, block: usize, i: usize, group: &mut Group| {
                let a = self.row(block, i, &mut group.places);
                group.circuit(a).map(|mut circuit| {
                    circuit.push(row);
                    (row, circuit)
                })
            };
            let of_seed = explained(seed, first, seed - self.s.rows[first].start, &mut group);
            if of_seed.is_some() {
                return candidates
                    .iter()
                    .filter_map(|&(row, block, i)| explained(row, block, i, &mut group))
                    .collect();
            }
            let mut next = Vec::new();
            for &block in &level {
                for e in &self.s.entries[self.s.rows[block].entries.clone()] {
                    for &other in &self.of_body[e.col] {
                        if reached.insert(other, ()).is_none() {
                            next.push(other);
                        }
                    }
                }
            }
            level = next;
        }
        Vec::new()
    }

    /// Row `i` of a block row times C, in the numbering of a group.
    fn row(&self, block: usize, i: usize, places: &mut Places) -> Vec<f64> {
        let mut a = Vec::new();
        for e in &self.s.entries[self.s.rows[block].entries.clone()] {
            let n = self.s.cols[e.col].size;
            let at = places.of(e.col, n);
            let J = &self.eq.J[e.offset + i * n..][..n];
            let C = &self.roots[e.col];
            a.resize(a.len().max(at + n), 0.0);
            for j in 0..n {
                a[at + j] = (j..n).map(|k| J[k] * C[k * n + j]).sum();
            }
        }
        a
    }
}

/// Places of the bodies that a group reaches.
#[derive(Default)]
struct Places {
    of: HashMap<usize, usize>,
    width: usize,
}

impl Places {
    fn of(&mut self, body: usize, size: usize) -> usize {
        let at = *self.of.entry(body).or_insert(self.width);
        if at == self.width {
            self.width += size;
        }
        at
    }
}

/// Rows a = R q of a group, orthogonalized as they come. Vectors end with their last number that is not zero.
#[derive(Default)]
struct Group {
    rows: Vec<usize>,
    q: Vec<Vec<f64>>,
    R: Vec<Vec<f64>>,
    places: Places,
}

impl Group {
    /// The part of `a` in the group, as coefficients of q, with the rest left in `a`.
    fn project(&self, a: &mut Vec<f64>) -> Vec<f64> {
        a.resize(self.places.width.max(a.len()), 0.0);
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

    fn add(&mut self, row: usize, mut a: Vec<f64>) {
        let mut r = self.project(&mut a);
        let rest = norm(&a);
        // the basis is independent; a row that is not by rounding alone explains nothing
        if rest <= f64::EPSILON {
            return;
        }
        a.iter_mut().for_each(|x| *x /= rest);
        r.push(rest);
        self.rows.push(row);
        self.q.push(a);
        self.R.push(r);
    }

    /// The rows of the group that `a` is a combination of, if it is one.
    fn circuit(&self, mut a: Vec<f64>) -> Option<Vec<usize>> {
        let mut r = self.project(&mut a);
        if !(norm(&a) <= OUTSIDE) {
            return None;
        }
        // xᵀ R = rᵀ
        for k in (0..r.len()).rev() {
            r[k] /= self.R[k][k];
            let x = r[k];
            r[..k].iter_mut().zip(&self.R[k]).for_each(|(r, R)| *r -= x * R);
        }
        let largest = r.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let taking = r.iter().zip(&self.rows).filter(|(x, _)| x.abs() > PART * largest);
        Some(taking.map(|(_, row)| *row).collect())
    }
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(s: &Structure, eq: &Equations) -> Vec<(Vec<usize>, usize)> {
        let mut scaled = Scaled::new(s, eq).unwrap();
        let dependent = scaled.kkt.dependent_rows().to_vec();
        let all = sets(s, &mut scaled, &dependent);
        assert_eq!(all.unresolved, 0);
        all.sets.into_iter().map(|set| (set.elements, set.redundant)).collect()
    }

    /// Point masses on a line, tied one after the other, the last to the first: `loops` rings, each apart from the others.
    fn rings(loops: usize, size: usize, tied: bool) -> (Structure, Equations) {
        let mut b = Structure::builder();
        for _ in 0..loops {
            let cols: Vec<usize> = (0..size).map(|_| b.column(1)).collect();
            (1..size).for_each(|i| {
                b.row(1, 1, &[cols[i - 1], cols[i]]);
            });
            if tied {
                b.row(1, 1, &[cols[0], cols[size - 1]]);
            }
        }
        let s = b.build(loops * size, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        eq.mass = (0..s.nv).map(|i| 1.0 + (i % 3) as f64).collect();
        eq.minv = eq.mass.iter().map(|m| 1.0 / m).collect();
        // rows in different units
        eq.J = (0..s.nc).flat_map(|i| [1.0 + i as f64, -1.0 - i as f64]).collect();
        (s, eq)
    }

    #[test]
    fn a_ring_is_one_set_and_a_chain_is_none() {
        let (s, eq) = rings(2, 4, true);
        assert_eq!(found(&s, &eq), [(vec![0, 1, 2, 3], 1), (vec![4, 5, 6, 7], 1)]);
        let (s, eq) = rings(2, 4, false);
        assert_eq!(found(&s, &eq), []);
    }

    #[test]
    fn a_ring_that_outgrows_its_neighbourhood_is_still_found() {
        let (s, eq) = rings(2, 2 * GROUP + 10, true);
        let sets = found(&s, &eq);
        assert_eq!(sets.len(), 2);
        assert!(sets.iter().all(|(elements, n)| elements.len() == 2 * GROUP + 10 && *n == 1));
    }

    #[test]
    fn sets_that_share_an_element_are_merged() {
        let set = |elements: &[usize], redundant| Set { elements: elements.to_vec(), redundant };
        let all = [set(&[0, 1], 1), set(&[2, 3], 2), set(&[1, 4], 3), set(&[4, 5], 1)];
        assert_eq!(merged(&all), [set(&[0, 1, 4, 5], 5), set(&[2, 3], 2)]);
    }
}
