//! Branches of the elimination tree, which threads take side by side.
//!
//! What the columns of a branch take from rows that come after all branches goes to stand-ins at its end, parts without rows whose columns are never eliminated, and
//! from there to the rows themselves, branch after branch: the same sums in the same order on every thread, and on however many threads.

use sarrus_math::solve;
use std::ops::Range;

/// The least parts of a branch.
const LEAST: usize = 2048;
/// The most branches: enough for many threads, and for some that are longer than others.
const MOST: usize = 32;
/// Parts that no branch has, at most, as a fraction of all.
const REST: usize = 16;

/// Parts of one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Those that are eliminated.
    pub own: Range<usize>,
    /// For each part after these, up to the next branch, the one it stands in for.
    pub stands_for: Vec<u32>,
    /// Blocks of the stand-ins, and the ones that they stand in for.
    pub blocks: Vec<(u32, u32)>,
}

impl Branch {
    /// With its stand-ins.
    #[inline(always)]
    pub fn all(&self) -> Range<usize> {
        self.own.start..self.own.end + self.stands_for.len()
    }
}

/// The places of a pattern with branches first, each in one piece; then the ends of the branches. Nothing where there are not several.
pub fn gather(fill: &solve::FactorPattern, n: usize) -> Option<(Vec<usize>, Vec<usize>)> {
    let roots = find(fill, n);
    if roots.len() < 2 {
        return None;
    }
    // a place belongs to the branch of its parent
    let mut branch = vec![roots.len(); n];
    for (b, &root) in roots.iter().enumerate() {
        branch[root] = b;
    }
    for k in (0..n).rev() {
        if let Some(&parent) = fill.column(k).first()
            && branch[k] == roots.len()
        {
            branch[k] = branch[parent as usize];
        }
    }
    let mut indices: Vec<usize> = (0..n).collect();
    indices.sort_by_key(|&k| (branch[k], k));
    let ends = (0..roots.len()).map(|b| indices.partition_point(|&k| branch[k] <= b)).collect();
    Some((indices, ends))
}

/// Roots of branches: the largest is split where it forks, as long as little is left between.
fn find(fill: &solve::FactorPattern, n: usize) -> Vec<usize> {
    let mut size = vec![1; n];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let (mut roots, mut whole) = (Vec::new(), Vec::new());
    for k in 0..n {
        match fill.column(k).first() {
            Some(&parent) => {
                size[parent as usize] += size[k];
                if size[k] >= LEAST {
                    children[parent as usize].push(k);
                }
            }
            None if size[k] >= LEAST => roots.push(k),
            None => {}
        }
    }
    let mut rest = n - roots.iter().map(|&k| size[k]).sum::<usize>();
    while roots.len() + whole.len() < MOST {
        let Some(largest) = (0..roots.len()).max_by_key(|&i| size[roots[i]]) else { break };
        let root = roots.swap_remove(largest);
        let mut fork = root;
        while let [child] = children[fork][..] {
            fork = child;
        }
        let between = size[root] - children[fork].iter().map(|&k| size[k]).sum::<usize>();
        if children[fork].is_empty() || rest + between > n / REST {
            whole.push(root);
        } else {
            rest += between;
            roots.extend_from_slice(&children[fork]);
        }
    }
    roots.append(&mut whole);
    roots.sort_unstable();
    if rest > n / REST { Vec::new() } else { roots }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of `n` places, eliminated from both ends to the middle in turns, or from one end.
    fn path(n: usize, from_both: bool) -> solve::FactorPattern {
        let edges: Vec<_> = (1..n).map(|i| (i - 1, i)).collect();
        let rotates = |i: usize| if i.is_multiple_of(2) { i / 2 } else { n - 1 - i / 2 };
        let order: Vec<_> = (0..n).map(|i| if from_both { rotates(i) } else { i }).collect();
        solve::FactorPattern::new(n, &edges, &order).unwrap()
    }

    #[test]
    fn a_path_that_is_eliminated_from_both_ends_has_two_branches() {
        let n = 3 * LEAST;
        let (indices, ends) = gather(&path(n, true), n).unwrap();
        assert_eq!(ends.len(), 2);
        let [a, b] = [&indices[..ends[0]], &indices[ends[0]..ends[1]]];
        assert!(a.len() + b.len() >= n - 2 && a.len().abs_diff(b.len()) <= 1);
        // one is every other place, each before its parent
        assert!(a.is_sorted() && b.is_sorted() && a.iter().all(|k| k % 2 == a[0] % 2));
        let mut all = indices.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n));
    }

    #[test]
    fn what_does_not_fork_has_none() {
        assert!(gather(&path(3 * LEAST, false), 3 * LEAST).is_none());
        assert!(gather(&path(LEAST, true), LEAST).is_none());
    }

    #[test]
    fn paths_that_do_not_meet_are_branches() {
        // three of them in turns
        let n = 3 * LEAST;
        let edges: Vec<_> = (3..n).map(|i| (i - 3, i)).collect();
        let pattern = solve::FactorPattern::new(n, &edges, &Vec::from_iter(0..n)).unwrap();
        let (indices, ends) = gather(&pattern, n).unwrap();
        assert_eq!(ends, [LEAST, 2 * LEAST, n]);
        assert!(indices[..LEAST].iter().all(|k| k % 3 == indices[0] % 3));
    }
}
