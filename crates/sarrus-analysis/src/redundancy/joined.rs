//! Elements that hang together by redundancies: a null vector joins all elements that it has a part in.

use super::neighbours::NONE;
use super::sets::Set;
use std::collections::{BTreeMap, HashMap};

/// Elements that hang together.
#[derive(Default)]
pub(super) struct Joined {
    parent: BTreeMap<usize, usize>,
    redundant: HashMap<usize, usize>,
}

impl Joined {
    fn root(&mut self, mut i: usize) -> usize {
        while let Some(&up) = self.parent.get(&i).filter(|&&up| up != i) {
            let further = self.parent[&up];
            self.parent.insert(i, further);
            i = further;
        }
        i
    }

    /// All elements of a null vector.
    pub fn join(&mut self, null: &[f64], rows: &[(usize, usize)]) {
        let largest = null.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut first = None;
        for (_, &(_, element)) in null.iter().zip(rows).filter(|(x, _)| x.abs() > NONE * largest) {
            self.parent.entry(element).or_insert(element);
            let (a, b) = (self.root(*first.get_or_insert(element)), self.root(element));
            self.parent.insert(a.max(b), a.min(b));
        }
    }

    /// One redundancy, of a row of `element`.
    pub fn count(&mut self, element: usize) {
        *self.redundant.entry(element).or_default() += 1;
    }

    /// The groups, with the redundancies counted in each.
    pub fn groups(mut self) -> Vec<Set> {
        let mut groups: BTreeMap<usize, Set> = BTreeMap::new();
        for element in self.parent.keys().copied().collect::<Vec<_>>() {
            let root = self.root(element);
            let group = groups.entry(root).or_insert(Set { elements: Vec::new(), redundant: 0 });
            group.elements.push(element);
            group.redundant += self.redundant.get(&element).copied().unwrap_or(0);
        }
        groups.into_values().collect()
    }
}
