//! Describes which null vectors of all rows are known so far.
//!
//! A null vector is given by its numbers in the dependent rows, one for each redundancy, so those that are known are kept
//! as sparse vectors over these rows, in echelon form: each has a row of its own, its pivot, in which the vectors after
//! it are zero. When every dependent row is a pivot all null vectors are combinations of those known. Costs what the
//! vectors overlap.

use super::minimal::PART;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A number below this is rounding: the largest of a vector is 1.
const ROUNDING: f64 = 1e-12;

/// Vectors in echelon form.
#[derive(Default)]
pub(super) struct Echelon {
    /// Pivot of each vector, with its other numbers; that of the pivot is 1.
    vectors: Vec<(usize, Vec<(usize, f64)>)>,
    /// Identifies which vector has its pivot in a row.
    of: HashMap<usize, usize>,
}

impl Echelon {
    /// Returns whether a row is a pivot.
    pub fn has(&self, row: usize) -> bool {
        self.of.contains_key(&row)
    }

    /// Returns what of a vector is not known: zero in all pivots. Its largest number is 1 unless it is part of what is known.
    pub fn unknown(&self, mut v: BTreeMap<usize, f64>) -> BTreeMap<usize, f64> {
        scale(&mut v);
        let mut due: BTreeSet<usize> = v.keys().filter_map(|row| self.of.get(row).copied()).collect();
        while let Some(i) = due.pop_first() {
            let (pivot, others) = &self.vectors[i];
            let Some(c) = v.remove(pivot) else { continue };
            for (row, x) in others {
                *v.entry(*row).or_default() -= c * x;
                // always a later one
                due.extend(self.of.get(row));
            }
        }
        v.retain(|_, x| x.abs() > PART);
        scale(&mut v);
        v
    }

    /// Adds a vector; its pivot is `first` if that can be. Returns the pivot if the vector was not known.
    pub fn add(&mut self, v: BTreeMap<usize, f64>, first: usize) -> Option<usize> {
        let mut v = self.unknown(v);
        let largest = v.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map(|(row, _)| *row)?;
        let pivot = if v.contains_key(&first) { first } else { largest };
        let size = v.remove(&pivot)?;
        self.of.insert(pivot, self.vectors.len());
        self.vectors.push((pivot, v.into_iter().map(|(row, x)| (row, x / size)).collect()));
        Some(pivot)
    }
}

fn scale(v: &mut BTreeMap<usize, f64>) {
    let largest = v.values().fold(0.0_f64, |m, x| m.max(x.abs()));
    v.values_mut().for_each(|x| *x /= largest);
    v.retain(|_, x| x.abs() > ROUNDING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_of_what_is_known_is_known() {
        let v = |numbers: &[(usize, f64)]| numbers.iter().copied().collect::<BTreeMap<_, _>>();
        let mut known = Echelon::default();
        assert_eq!(known.add(v(&[(1, 1.0), (4, 2.0)]), 1), Some(1));
        assert_eq!(known.add(v(&[(4, 3.0), (7, -1.0)]), 4), Some(4));
        // 3 (1, 4) - 2 (4, 7), and that with something new
        assert!(known.unknown(v(&[(1, 3.0), (7, 2.0)])).is_empty());
        assert_eq!(known.add(v(&[(1, 3.0), (7, 2.0)]), 7), None);
        assert_eq!(known.add(v(&[(1, 3.0), (7, 3.0)]), 1), Some(7));
        assert!(known.has(7) && !known.has(2));
    }
}
