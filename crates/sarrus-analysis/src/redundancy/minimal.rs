//! Minimal sets of elements in a space of null vectors.
//!
//! The null vectors of some elements' rows form a space W. Elements are dependent where some w ≠ 0 in W vanishes on all
//! the others, so leaving out an element means going on with W' = {w ∈ W : w = 0 on its rows}, and a set is minimal where
//! every one of its elements leaves nothing. All sets are found by leaving out elements in every way, in the order of the
//! elements, as any other gives the same; what was reached before is not gone into again.
//!
//! A set is relevant if it holds what no combination of smaller sets does: the loop around two neighbouring loops is
//! minimal, but says no more than the two \[Vismara1997\]. W has an orthonormal basis throughout. The number of sets may
//! be exponential in that of the elements, so there is a budget of work.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// A number of a unit vector below this is none.
pub(super) const PART: f64 = 1e-6;

/// Vectors of equal length, orthonormal.
pub(super) type OrthonormalVectors = Vec<Vec<f64>>;

/// An orthonormal basis of what `vectors` span.
pub(super) fn orthonormal(vectors: &[Vec<f64>], length: usize) -> OrthonormalVectors {
    let mut basis = OrthonormalVectors::new();
    for v in vectors {
        let mut v = v.clone();
        v.resize(length, 0.0);
        let size = norm(&v);
        v.iter_mut().for_each(|x| *x /= size);
        extend(&mut basis, v);
    }
    basis
}

/// Adds what is new in the unit vector `v`; returns whether there was any.
fn extend(basis: &mut OrthonormalVectors, mut v: Vec<f64>) -> bool {
    if !is_outside(basis, &mut v) {
        return false;
    }
    let size = norm(&v);
    v.iter_mut().for_each(|x| *x /= size);
    basis.push(v);
    true
}

/// Leaves of the unit vector `v` what is orthogonal to `basis`, and says whether that is anything.
fn is_outside(basis: &[Vec<f64>], v: &mut [f64]) -> bool {
    // twice, so that the rest is orthogonal to rounding
    for _ in 0..2 {
        for q in basis {
            let c: f64 = q.iter().zip(&*v).map(|(x, y)| x * y).sum();
            v.iter_mut().zip(q).for_each(|(v, q)| *v -= c * q);
        }
    }
    norm(v) > PART
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The part of the space that vanishes at `places`.
pub(super) fn without(space: &[Vec<f64>], indices: impl Iterator<Item = usize>) -> OrthonormalVectors {
    let mut w = space.to_vec();
    for at in indices {
        let size = size_at(&w, at);
        if !(size > PART) {
            continue;
        }
        // a reflection makes the first vector the only one that does not vanish there
        let first = w[0][at];
        let head = first + size.copysign(first);
        let square = size * size - first * first + head * head;
        let mut sum = vec![0.0; w[0].len()];
        for (i, v) in w.iter().enumerate() {
            let u = if i == 0 { head } else { v[at] };
            sum.iter_mut().zip(v).for_each(|(s, v)| *s += u * v);
        }
        for v in &mut w[1..] {
            let factor = 2.0 * v[at] / square;
            v.iter_mut().zip(&sum).for_each(|(v, s)| *v -= factor * s);
            v[at] = 0.0;
        }
        w.swap_remove(0);
    }
    w
}

/// Returns how much the space has at a place: the norm over its basis.
fn size_at(space: &[Vec<f64>], at: usize) -> f64 {
    space.iter().map(|v| v[at] * v[at]).sum::<f64>().sqrt()
}

/// Elements with the null vectors of their rows.
pub(super) struct ElementNulls {
    /// Elements, each with the places of its rows.
    parts: Vec<(usize, Vec<usize>)>,
    space: OrthonormalVectors,
}

/// A minimal set.
pub(super) struct Minimal {
    /// Its elements, in order.
    pub elements: Vec<usize>,
    /// Their null vectors.
    pub space: Rc<OrthonormalVectors>,
}

/// Holds what was found.
pub(super) struct MinimalSets {
    /// Minimal sets that are relevant, the small ones first.
    pub sets: Vec<Minimal>,
    /// True if these are all there are.
    pub complete: bool,
}

/// Elements of a set, by their places in `parts`, with its null vectors.
struct CandidateSet {
    parts: Vec<usize>,
    space: Rc<OrthonormalVectors>,
}

impl ElementNulls {
    /// Null vectors `space` over places whose elements are `owners`.
    pub fn new(owners: impl Iterator<Item = usize>, space: OrthonormalVectors) -> ElementNulls {
        let mut order: Vec<(usize, usize)> = owners
            .enumerate()
            .map(|(at, owner)| (owner, at))
            .filter(|&(_, at)| size_at(&space, at) > 0.0)
            .collect();
        order.sort_unstable();
        let mut parts: Vec<(usize, Vec<usize>)> = Vec::new();
        for (owner, at) in order {
            match parts.last_mut() {
                Some((last, list)) if *last == owner => list.push(at),
                _ => parts.push((owner, vec![at])),
            }
        }
        ElementNulls { parts, space }
    }

    /// The minimal sets, for about as many operations as `work` has left.
    pub fn minimal(self, work: &mut f64) -> MinimalSets {
        let (mut found, mut complete) = (Vec::new(), true);
        let whole = Rc::new(self.space.clone());
        // what was reached, and the first element that was left out from there
        let mut seen: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut ways: Vec<(Rc<OrthonormalVectors>, Option<usize>)> = vec![(whole.clone(), None)];
        while let Some((space, out)) = ways.pop() {
            if !(*work > 0.0) {
                complete = false;
                break;
            }
            let space = out.map_or_else(|| space.clone(), |part| Rc::new(self.leave_out(&space, part, work)));
            let parts = self.support(&space);
            let from = out.map_or(0, |out| out + 1);
            let known = seen.get(&parts).copied();
            if known.is_some_and(|known| known <= from) {
                continue;
            }
            seen.insert(parts.clone(), from);
            let smaller: Vec<usize> =
                parts.iter().copied().filter(|&p| self.leaves_some(&space, p)).collect();
            if smaller.is_empty() {
                if known.is_none() && !space.is_empty() {
                    found.push(CandidateSet { parts, space });
                }
                continue;
            }
            let next = smaller.into_iter().rev().filter(|part| *part >= from);
            ways.extend(next.map(|part| (space.clone(), Some(part))));
        }
        if !complete {
            self.one_for_each(&whole, &mut found);
        }
        MinimalSets { sets: self.relevant(found), complete }
    }

    /// Adds a minimal set with each element that has none yet and is reached by leaving out others one by one.
    fn one_for_each(&self, whole: &Rc<OrthonormalVectors>, found: &mut Vec<CandidateSet>) {
        let mut work = 0.0;
        let mut known: BTreeSet<usize> = found.iter().flat_map(|c| c.parts.iter().copied()).collect();
        for own in self.support(whole) {
            if known.contains(&own) {
                continue;
            }
            let mut space = whole.clone();
            for part in self.support(whole).into_iter().filter(|&p| p != own) {
                let rest = self.leave_out(&space, part, &mut work);
                if self.has(&rest, own) {
                    space = Rc::new(rest);
                }
            }
            let parts = self.support(&space);
            if !parts.iter().any(|&p| self.leaves_some(&space, p)) {
                known.extend(&parts);
                found.push(CandidateSet { parts, space });
            }
        }
    }

    /// Sets that hold what no combination of smaller ones does.
    fn relevant(&self, mut found: Vec<CandidateSet>) -> Vec<Minimal> {
        found.sort_by(|a, b| (a.parts.len(), &a.parts).cmp(&(b.parts.len(), &b.parts)));
        let (mut sets, mut spanned) = (Vec::new(), OrthonormalVectors::new());
        for alike in found.chunk_by(|a, b| a.parts.len() == b.parts.len()) {
            // nothing is outside the whole
            if spanned.len() == self.space.len() {
                break;
            }
            let smaller = spanned.len();
            for set in alike {
                if set.space.iter().any(|v| is_outside(&spanned[..smaller], &mut v.clone())) {
                    let elements = set.parts.iter().map(|&p| self.parts[p].0).collect();
                    sets.push(Minimal { elements, space: set.space.clone() });
                }
            }
            for v in alike.iter().flat_map(|set| set.space.iter()) {
                extend(&mut spanned, v.clone());
            }
        }
        sets
    }

    fn leave_out(&self, space: &OrthonormalVectors, part: usize, work: &mut f64) -> OrthonormalVectors {
        let indices = &self.parts[part].1;
        *work -= (space.len() * space.first().map_or(0, Vec::len) * indices.len()) as f64;
        without(space, indices.iter().copied())
    }

    /// Returns whether anything is left without an element, from its own rows alone.
    fn leaves_some(&self, space: &OrthonormalVectors, part: usize) -> bool {
        let indices = &self.parts[part].1;
        let own: OrthonormalVectors =
            space.iter().map(|v| indices.iter().map(|&at| v[at]).collect()).collect();
        !without(&own, 0..indices.len()).is_empty()
    }

    fn has(&self, space: &OrthonormalVectors, part: usize) -> bool {
        self.parts[part].1.iter().any(|&at| size_at(space, at) > PART)
    }

    fn support(&self, space: &OrthonormalVectors) -> Vec<usize> {
        (0..self.parts.len()).filter(|&part| self.has(space, part)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles of ties with one in common, and a pentagon apart. The way around both triangles is a minimal set of
    /// four, and puts them together.
    #[test]
    fn a_set_that_puts_smaller_ones_together_is_not_relevant() {
        let cycle = |ties: &[usize]| (0..10).map(|i| f64::from(u8::from(ties.contains(&i)))).collect();
        let cycles = [cycle(&[0, 1, 2]), cycle(&[2, 3, 4]), cycle(&[5, 6, 7, 8, 9])];
        let found = ElementNulls::new(0..10, orthonormal(&cycles, 10)).minimal(&mut 1e6);
        let sets: Vec<_> = found.sets.into_iter().map(|set| (set.elements, set.space.len())).collect();
        assert!(found.complete);
        assert_eq!(sets, [(vec![0, 1, 2], 1), (vec![2, 3, 4], 1), (vec![5, 6, 7, 8, 9], 1)]);
    }
}
