//! Parts of a mechanism that share no body: the rank of all is the sum over the parts.
//!
//! Ground has no velocities, so mechanisms side by side on it are parts of their own. A thousand small ones are then as
//! easy to judge by singular values as one of them.

use crate::rank::{ConstraintRankError, TOLERANCE, scaled_rows};
use sarrus_math::solve::{NumericalRank, rank};
use sarrus_solve::{Equations, Structure, kinematic_units};

/// Block rows and columns of one part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Component {
    /// Block rows.
    pub rows: Vec<usize>,
    /// Column blocks.
    pub cols: Vec<usize>,
}

/// The parts that have rows; a row without moving bodies is a part alone.
pub(crate) fn parts(s: &Structure) -> Vec<Component> {
    // the first column of each tree of columns stands for it
    let mut root: Vec<usize> = (0..s.cols.len()).collect();
    fn find(root: &mut [usize], mut c: usize) -> usize {
        while root[c] != c {
            root[c] = root[root[c]];
            c = root[c];
        }
        c
    }
    for row in &s.rows {
        let mut entries = s.entries[row.entries.clone()].iter().map(|e| e.col);
        let Some(first) = entries.next() else { continue };
        for col in entries {
            let (a, b) = (find(&mut root, first), find(&mut root, col));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut index_of = vec![usize::MAX; s.cols.len()];
    let mut parts: Vec<Component> = Vec::new();
    for (i, row) in s.rows.iter().enumerate() {
        let Some(entry) = s.entries[row.entries.clone()].first() else {
            parts.push(Component { rows: vec![i], cols: vec![] });
            continue;
        };
        let c = find(&mut root, entry.col);
        if index_of[c] == usize::MAX {
            index_of[c] = parts.len();
            parts.push(Component::default());
        }
        parts[index_of[c]].rows.push(i);
    }
    for c in 0..s.cols.len() {
        let r = find(&mut root, c);
        if index_of[r] != usize::MAX {
            parts[index_of[r]].cols.push(c);
        }
    }
    parts
}

/// Rank of the constraints at `eq` by the singular values of each part; none where a part has more than `most`
/// rows × velocities.
pub(crate) fn rank_by_parts(
    s: &Structure,
    eq: &Equations,
    most: usize,
) -> Result<Option<NumericalRank>, ConstraintRankError> {
    let Some(ranks) = ranks_of(s, eq, &parts(s), most)? else { return Ok(None) };
    let mut all = NumericalRank { rank: 0, tolerance: TOLERANCE, margin: f64::INFINITY, sigma: Vec::new() };
    for found in ranks {
        all.rank += found.rank;
        all.margin = all.margin.min(found.margin);
        all.sigma.extend(found.sigma);
    }
    all.sigma.sort_by(|a, b| b.total_cmp(a));
    Ok(Some(all))
}

/// The same of each of `parts`.
pub(crate) fn ranks_of(
    s: &Structure,
    eq: &Equations,
    parts: &[Component],
    most: usize,
) -> Result<Option<Vec<NumericalRank>>, ConstraintRankError> {
    if parts.iter().map(|part| part.size(s)).any(|[m, n]| m * n > most) {
        return Ok(None);
    }
    let units = kinematic_units(s, &eq.J);
    let own = |part: &Component| {
        let [m, n] = part.size(s);
        rank(&scaled_rows(s, eq, part, &units), m, n, Some(TOLERANCE))
    };
    Ok(Some(parts.iter().map(own).collect::<Result<_, _>>()?))
}

impl Component {
    /// Rows and velocities.
    pub fn size(&self, s: &Structure) -> [usize; 2] {
        let rows = self.rows.iter().map(|r| s.rows[*r].size).sum();
        [rows, self.cols.iter().map(|c| s.cols[*c].size).sum()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns tied twice, one tied to ground, one free, and a row without bodies.
    #[test]
    fn parts_share_no_column_and_hold_every_row() {
        let mut b = Structure::builder();
        let cols: Vec<usize> = (0..4).map(|_| b.column(1)).collect();
        b.row(1, 1, &[cols[2], cols[0]]);
        b.row(1, 1, &[cols[1]]);
        b.row(1, 1, &[cols[0], cols[2]]);
        b.row(1, 1, &[]);
        let s = b.build(4, 0).unwrap();
        let found = parts(&s);
        let part = |rows: &[usize], cols: &[usize]| Component { rows: rows.to_vec(), cols: cols.to_vec() };
        assert_eq!(found, [part(&[0, 2], &[0, 2]), part(&[1], &[1]), part(&[3], &[])]);

        let mut eq = Equations::zeros(&s);
        eq.minv = vec![1.0, 4.0, 0.1, 2.0];
        eq.J = vec![1.0, -1.0, 3.0, 5.0, -5.0];
        let rank = rank_by_parts(&s, &eq, 4).unwrap().unwrap();
        // the last entries of J belong to columns 0 and 2: the same tie, five times as long
        assert_eq!((rank.rank, rank.sigma.len()), (2, 3));
        assert!(rank_by_parts(&s, &eq, 3).unwrap().is_none());
    }
}
