//! Minimal sets of elements that share a redundancy: dependent together, and without any one of them no more.
//!
//! The factorization leaves out one row for each redundancy. From each of these rows the elements around it are taken
//! in until they have a null vector with it that is new (`neighbours`, `echelon`); the minimal sets in there are found from
//! all their null vectors (`minimal`). In the end these span all there are. Sets that only put smaller ones together are
//! left out. A set has the redundancy of its own rows, so that sets which overlap do not add up; groups, elements that
//! hang together by redundancies at all (`joined`), do.
//!
//! Costs O(N) where loops are short: what is spent on a row does not depend on the size of the model. A row that finds
//! nothing near is searched for in the factors of all rows, O(N) each, for a few.

use super::Scaled;
use super::echelon::Echelon;
use super::joined::Joined;
use super::minimal::{ElementNulls, OrthonormalVectors, PART, orthonormal, without};
use super::neighbours::{NONE, RowNeighbours};
use sarrus_solve::Structure;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Independent rows of a group, at most.
const GROUP: usize = 300;
/// Groups that may grow so far in vain; after that they are smaller, so that many rows take no more than linear time.
const VAIN: usize = 32;
/// Independent rows of those.
const SMALL: usize = 80;
/// Solutions over all rows, at most.
const FAR: usize = 64;
/// Operations for minimal sets: in a group, in all, and in a group when these are spent.
const WORK: [f64; 3] = [4e6, 2e8, 2e5];

/// Elements that share redundancies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    /// First block rows of the elements, in order.
    pub elements: Vec<usize>,
    /// Number of redundancies.
    pub redundant: usize,
}

/// All sets.
#[derive(Default)]
pub(super) struct Sets {
    /// Minimal sets, in the order of their first elements, each with the redundancies of its rows alone.
    pub sets: Vec<Set>,
    /// Elements that hang together by redundancies, with all that they share; these add up.
    pub groups: Vec<Set>,
    /// Redundancies whose elements were not searched for any further.
    pub unresolved: usize,
    /// True if some group has more sets than were searched for.
    pub more: bool,
}

/// Null vectors of some elements' rows.
struct NullVectorSet {
    /// Rows with their elements.
    rows: Vec<(usize, usize)>,
    space: OrthonormalVectors,
}

/// The sets of the redundancies whose rows are `dependent`. `owner` is the first block row of the element that each block
/// row belongs to.
pub(super) fn sets(s: &Structure, owner: &[usize], scaled: &mut Scaled, dependent: &[usize]) -> Sets {
    let Scaled { eq, kkt, .. } = scaled;
    let eq = &*eq;
    let mut all = Sets::default();
    if dependent.is_empty() {
        return all;
    }
    let Some(map) = RowNeighbours::new(s, eq, owner) else {
        return Sets { unresolved: dependent.len(), ..all };
    };
    let element = |row: usize| s.row_block_of(row).map_or(usize::MAX, |block| owner[block]);
    let left_out: HashSet<usize> = dependent.iter().copied().collect();
    let numbers = |null: &[f64], rows: &[(usize, usize)]| -> BTreeMap<usize, f64> {
        let taking = null.iter().zip(rows).filter(|(x, (row, _))| x.abs() > PART && left_out.contains(row));
        taking.map(|(x, &(row, _))| (row, *x)).collect()
    };
    let mut known = Echelon::default();
    let mut found: BTreeMap<Vec<usize>, Vec<BTreeMap<usize, f64>>> = BTreeMap::new();
    let mut joined = Joined::default();
    let (mut vain, mut solutions, mut work) = (0, FAR, WORK[1]);
    for &seed in dependent {
        if known.has(seed) {
            continue;
        }
        let limit = if vain < VAIN { GROUP } else { SMALL };
        let mut looked_at = 0;
        let near = map.around(seed, limit, |group| {
            let fresh = &group.nulls[looked_at..];
            looked_at = group.nulls.len();
            fresh.iter().any(|null| known.unknown(numbers(null, &group.rows)).contains_key(&seed))
        });
        let near = near.map(|group| {
            group.nulls.iter().for_each(|null| joined.join(null, &group.rows));
            NullVectorSet { space: orthonormal(&group.nulls, group.rows.len()), rows: group.rows }
        });
        vain += usize::from(near.is_none());
        let circuit = |row: usize| {
            let mut w = vec![0.0; s.nc];
            w[row] = 1.0;
            kkt.complete_null(eq, &mut w);
            w
        };
        let near = near.or_else(|| far(seed, dependent, element, circuit, &mut solutions, &mut joined));
        let Some(near) = near else { continue };
        for null in &near.space {
            if let Some(row) = known.add(numbers(null, &near.rows), seed) {
                joined.count(element(row));
            }
        }
        let mut budget = work.clamp(WORK[2], WORK[0]);
        work -= budget;
        let minimal = ElementNulls::new(near.rows.iter().map(|r| r.1), near.space).minimal(&mut budget);
        work += budget.max(0.0);
        all.more |= !minimal.complete;
        for set in minimal.sets {
            found.insert(set.elements, set.space.iter().map(|null| numbers(null, &near.rows)).collect());
        }
    }
    all.sets = relevant(found);
    all.groups = joined.groups();
    all.unresolved = dependent.iter().filter(|row| !known.has(**row)).count();
    all
}

/// Sets, with the numbers of their null vectors in the dependent rows, that hold what no combination of smaller ones does:
/// a group that is not whole may not have had all of these.
fn relevant(found: BTreeMap<Vec<usize>, Vec<BTreeMap<usize, f64>>>) -> Vec<Set> {
    let mut by_size: Vec<_> = found.into_iter().collect();
    by_size.sort_by_key(|(elements, _)| elements.len());
    let (mut sets, mut known) = (Vec::new(), Echelon::default());
    for alike in by_size.chunk_by(|a, b| a.0.len() == b.0.len()) {
        for (elements, nulls) in alike {
            // a vector without numbers belongs to rows that the factorization has not distinguished from others
            let is_new =
                |null: &BTreeMap<usize, f64>| null.is_empty() || !known.unknown(null.clone()).is_empty();
            if nulls.iter().any(is_new) {
                sets.push(Set { elements: elements.clone(), redundant: nulls.len() });
            }
        }
        for null in alike.iter().flat_map(|(_, nulls)| nulls) {
            known.add(null.clone(), usize::MAX);
        }
    }
    sets.sort_by(|a, b| a.elements.cmp(&b.elements));
    sets
}

/// Null vectors of the elements that make up for the row `seed`, from the factors of all rows.
///
/// A null vector is given by its numbers in the dependent rows: those of some elements come from their dependent rows,
/// combined so that nothing is left in other elements.
fn far(
    seed: usize,
    dependent: &[usize],
    element: impl Fn(usize) -> usize,
    mut circuit: impl FnMut(usize) -> Vec<f64>,
    solutions: &mut usize,
    joined: &mut Joined,
) -> Option<NullVectorSet> {
    *solutions = solutions.checked_sub(1)?;
    let own = circuit(seed);
    let size = |w: &[f64]| w.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let taking = |w: &[f64]| -> Vec<usize> {
        let least = NONE * size(w);
        (0..w.len()).filter(|&row| w[row].abs() > least).collect()
    };
    let elements: BTreeSet<usize> = taking(&own).into_iter().map(&element).collect();
    let others: Vec<usize> =
        dependent.iter().copied().filter(|&row| row != seed && elements.contains(&element(row))).collect();
    *solutions = solutions.checked_sub(others.len())?;
    let vectors: Vec<Vec<f64>> = std::iter::once(own).chain(others.into_iter().map(circuit)).collect();
    let indices: BTreeSet<usize> = vectors.iter().flat_map(|w| taking(w)).collect();
    let rows: Vec<(usize, usize)> = indices.into_iter().map(|row| (row, element(row))).collect();
    let vectors: Vec<Vec<f64>> =
        vectors.into_iter().map(|w| rows.iter().map(|&(row, _)| w[row]).collect()).collect();
    vectors.iter().for_each(|null| joined.join(null, &rows));
    let outside = (0..rows.len()).filter(|&at| !elements.contains(&rows[at].1));
    let space = without(&orthonormal(&vectors, rows.len()), outside);
    Some(NullVectorSet { rows, space })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sarrus_solve::Equations;

    fn found(s: &Structure, eq: &Equations) -> Sets {
        let mut scaled = Scaled::new(s, eq, None).unwrap();
        let dependent = scaled.kkt.dependent_rows().to_vec();
        let owner: Vec<usize> = (0..s.rows.len()).collect();
        sets(s, &owner, &mut scaled, &dependent)
    }

    fn listed(sets: &[Set]) -> Vec<(Vec<usize>, usize)> {
        sets.iter().map(|set| (set.elements.clone(), set.redundant)).collect()
    }

    /// Elements of the given rows, all on one body of `n` velocities and unit mass.
    fn on_one_body(n: usize, elements: &[&[&[f64]]]) -> (Structure, Equations) {
        let mut b = Structure::builder();
        let body = b.column(n);
        for rows in elements {
            b.row(rows.len(), rows.len(), &[body]);
        }
        let s = b.build(n, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        (0..n).for_each(|i| (eq.mass[i * n + i], eq.minv[i * n + i]) = (1.0, 1.0));
        eq.J = elements.iter().flat_map(|rows| rows.iter().flat_map(|row| row.iter().copied())).collect();
        (s, eq)
    }

    /// Point masses on a line, tied one after the other, the last to the first: `loops` rings, each apart from the others.
    pub fn rings(loops: usize, size: usize, tied: bool) -> (Structure, Equations) {
        let mut b = Structure::builder();
        for _ in 0..loops {
            ring(&mut b, size, tied);
        }
        finish(b, loops * size)
    }

    fn ring(b: &mut sarrus_solve::StructureBuilder, size: usize, tied: bool) {
        let cols: Vec<usize> = (0..size).map(|_| b.column(1)).collect();
        (1..size).for_each(|i| {
            b.row(1, 1, &[cols[i - 1], cols[i]]);
        });
        if tied {
            b.row(1, 1, &[cols[0], cols[size - 1]]);
        }
    }

    fn finish(b: sarrus_solve::StructureBuilder, bodies: usize) -> (Structure, Equations) {
        let s = b.build(bodies, 0).unwrap();
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
        let all = found(&s, &eq);
        let expected = [(vec![0, 1, 2, 3], 1), (vec![4, 5, 6, 7], 1)];
        assert_eq!((listed(&all.sets), listed(&all.groups)), (expected.to_vec(), expected.to_vec()));
        let (s, eq) = rings(2, 4, false);
        assert!(found(&s, &eq).sets.is_empty());
    }

    #[test]
    fn a_ring_that_outgrows_its_neighbourhood_is_still_found() {
        let (s, eq) = rings(2, 2 * GROUP + 10, true);
        let all = found(&s, &eq);
        assert_eq!((all.sets.len(), all.unresolved), (2, 0));
        for set in all.sets {
            assert_eq!((set.elements.len(), set.redundant), (2 * GROUP + 10, 1));
        }
    }

    /// However many long rings there are, those that are short are found.
    #[test]
    fn long_rings_do_not_hide_short_ones() {
        let (long, short) = (FAR + 6, 20);
        let mut b = Structure::builder();
        (0..long).for_each(|_| ring(&mut b, GROUP + 10, true));
        (0..short).for_each(|_| ring(&mut b, 5, true));
        let (s, eq) = finish(b, long * (GROUP + 10) + short * 5);
        let all = found(&s, &eq);
        let count = |n: usize| all.sets.iter().filter(|set| set.elements.len() == n).count();
        assert_eq!((count(5), count(GROUP + 10), all.unresolved), (short, FAR, long - FAR));
    }

    /// A net of ties between masses: its meshes, wherever the factorization has left out rows.
    #[test]
    fn the_sets_of_a_net_are_its_meshes() {
        let n = 12;
        let mut b = Structure::builder();
        let cols: Vec<usize> = (0..n * n).map(|_| b.column(1)).collect();
        let mut tie = std::collections::HashMap::new();
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            for (k, l) in [(i + 1, j), (i, j + 1)] {
                if k < n && l < n {
                    tie.insert((i, j, k, l), b.row(1, 1, &[cols[i * n + j], cols[k * n + l]]));
                }
            }
        }
        let (s, eq) = finish(b, n * n);
        let all = found(&s, &eq);
        let mut meshes: Vec<_> = (0..n - 1)
            .flat_map(|i| (0..n - 1).map(move |j| (i, j)))
            .map(|(i, j)| {
                let mut mesh = vec![
                    tie[&(i, j, i + 1, j)],
                    tie[&(i, j, i, j + 1)],
                    tie[&(i + 1, j, i + 1, j + 1)],
                    tie[&(i, j + 1, i + 1, j + 1)],
                ];
                mesh.sort_unstable();
                (mesh, 1)
            })
            .collect();
        meshes.sort();
        assert_eq!((listed(&all.sets), all.unresolved), (meshes, 0));
        assert_eq!(listed(&all.groups), [((0..s.rows.len()).collect(), (n - 1) * (n - 1))]);
    }

    /// x and y; x and z; y + z: the first two are dependent, the third is only with both of them.
    #[test]
    fn a_set_has_no_smaller_one_inside_and_a_group_has_all() {
        let (x, y, z): (&[f64], &[f64], &[f64]) = (&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]);
        let (s, eq) = on_one_body(3, &[&[x, y], &[x, z], &[&[0.0, 1.0, 1.0]]]);
        let all = found(&s, &eq);
        assert_eq!(listed(&all.sets), [(vec![0, 1], 1)]);
        assert_eq!(listed(&all.groups), [(vec![0, 1, 2], 2)]);
    }

    #[test]
    fn a_row_that_says_nothing_is_a_set_of_its_own() {
        let (s, eq) = on_one_body(2, &[&[&[1.0, 0.0]], &[&[0.0, 0.0]], &[&[0.0, 1.0], &[0.0, 2.0]]]);
        let all = found(&s, &eq);
        assert_eq!(listed(&all.sets), [(vec![1], 1), (vec![2], 1)]);
        assert_eq!(listed(&all.groups), [(vec![1], 1), (vec![2], 1)]);
    }

    /// Many that do the same: every pair is a set, and with too many pairs each element is still in one.
    #[test]
    fn elements_that_do_the_same_are_sets_in_pairs() {
        let all_rows: &[&[f64]] = &[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[1.0, 0.0, 1.0]];
        let (s, eq) = on_one_body(3, &[all_rows; 6]);
        let all = found(&s, &eq);
        let pairs: Vec<_> = (0..6).flat_map(|i| (i + 1..6).map(move |j| (vec![i, j], 3))).collect();
        assert_eq!((listed(&all.sets), all.more), (pairs, false));
        let (s, eq) = on_one_body(3, &[all_rows; 15]);
        let all = found(&s, &eq);
        assert!(all.more && all.sets.iter().all(|set| set.elements.len() == 2 && set.redundant == 3));
        let in_sets: BTreeSet<usize> = all.sets.iter().flat_map(|set| set.elements.iter().copied()).collect();
        assert_eq!(in_sets, (0..15).collect());
        assert_eq!(listed(&all.groups), [((0..15).collect(), 42)]);
    }
}
