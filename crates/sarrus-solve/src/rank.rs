//! Number of singular values, or pivots, that count, decided so that it stays the same along a run.
//!
//! On the constraints a redundant row leaves a singular value of rounding size. Off them, at the stages of an integrator
//! or after drift, it leaves one as large as the violation, and to solve for it would turn the violation into forces of
//! any size. So a value is only counted if the violation does not explain it,
//!
//!   σ > σ_max max(floor, 100 δ),  δ the largest |Φ|, or rotation that would take it away,
//!
//! and the rank so found is kept at states that are further off. It rises when more values are so counted, as they are
//! once a motion that began at a singular position has left it; where values fall below the floor, at the instant of a
//! singular position, they are left out as long as that lasts. The rank is therefore that of the mechanism, not of the
//! state's errors, and depends on the history of a run only if that began far off the constraints.

//!
//! The number of values that count at the start is decided once for all callers, from the geometry alone: see [`kinematic_units`] and
//! [`TOLERANCE`]. A method is given the result where rows are redundant, or nearly so.

use crate::findings::RankFound;
use crate::formulations::dense::fill_inverse_masses;
use crate::problem::{Array, Equations, GroupKind, Structure};
use crate::singularity::Subsystem;

/// Singular values of J up to this count as zero, with velocities in their kinematic units and rows of unit length: what rows that are off by
/// 10⁻⁵ rad, or 10⁻⁵ of a length, would tell is taken for an error of the data. Pivots of J C² Jᵀ, which are squares, resolve
/// 10⁻¹⁰ with six digits left.
pub const TOLERANCE: f64 = 1e-5;

/// Unit of each velocity (nv) in decisions on rank: 1 rad/s, and for speeds the length of the mechanism per second. That is the
/// median over the bodies of a connected component of their longest lever, the ratio of a row's entries for rotation and for
/// displacement. No mass enters.
pub fn kinematic_units(s: &Structure, J: &[f64]) -> Vec<f64> {
    let rotates = is_angular(s);
    let mut levers = vec![0.0_f64; s.nv];
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            for J in J[e.offset..][..row.size * col.size].chunks_exact(col.size) {
                let (mut along, mut about) = (0.0, 0.0);
                for (j, x) in J.iter().enumerate() {
                    *(if rotates[col.start + j] { &mut about } else { &mut along }) += x * x;
                }
                if along > 0.0 {
                    levers[col.start] = levers[col.start].max((about / along).sqrt());
                }
            }
        }
    }
    let mut units = vec![1.0; s.nv];
    for part in Subsystem::all(s) {
        let of_part = part.velocities.iter().map(|&v| levers[v]);
        let mut of_part: Vec<f64> = of_part.filter(|l| *l > 0.0 && l.is_finite()).collect();
        of_part.sort_by(f64::total_cmp);
        let unit = of_part.get(of_part.len() / 2).copied().unwrap_or(1.0);
        part.velocities.iter().filter(|v| !rotates[**v]).for_each(|&v| units[v] = unit);
    }
    units
}

/// Returns whether each velocity is a rate of rotation.
fn is_angular(s: &Structure) -> Vec<bool> {
    let mut rotates = vec![false; s.nv];
    for g in s.groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity) {
        debug_assert_eq!(g.kind.array(), Array::V);
        rotates[g.start..][..g.len].fill(true);
    }
    rotates
}

/// Relative size up to which values from singular values count as zero: numbers typed from a drawing are not exact.
pub(crate) const FLOOR: f64 = 1e-9;
/// The same for roots of eigenvalues, which are accurate to the root of the rounding.
pub(crate) const ROOT_FLOOR: f64 = 1e-6;
/// Values up to this many violations are explained by them: levers are not shorter than a hundredth of the mechanism.
pub(crate) const EXPLAINED: f64 = 100.0;
/// Defines what a violation at the start may explain at most.
const LOOSEST: f64 = 1e-3;

/// Rank decisions of one method.
#[derive(Debug, Clone)]
pub(crate) struct RankKeeper {
    floor: f64,
    /// The rank at the start, where it is known from elsewhere.
    known: Option<usize>,
    /// The smallest value that counted where the rank was taken from there, over the largest.
    least: f64,
    resolved: Option<usize>,
    found: Option<RankFound>,
    smallest: f64,
    /// Marks whether a velocity turns.
    rotates: Vec<bool>,
    inverse_masses: Vec<f64>,
}

impl RankKeeper {
    /// Nothing decided yet.
    pub fn new(s: &Structure, floor: f64) -> RankKeeper {
        RankKeeper {
            floor,
            known: None,
            least: 1.0,
            resolved: None,
            found: None,
            smallest: 1.0,
            rotates: is_angular(s),
            inverse_masses: vec![0.0; s.nc],
        }
    }

    /// Says what the rank at the start is, where that is known: the first decision takes it.
    pub fn report_rank(&mut self, known: Option<usize>) {
        self.known = known;
    }

    /// Returns what was decided along the run.
    pub fn found(&self) -> Option<RankFound> {
        self.found
    }

    /// (σ_rank / σ_max)² of the last decision.
    pub fn smallest_pivot(&self) -> f64 {
        self.smallest
    }

    /// The largest rank so far that no violation explains; 0 where nothing was decided.
    pub fn resolved_rank(&self) -> usize {
        self.resolved.unwrap_or(0)
    }

    /// Forgets what was decided.
    pub fn forget(&mut self) {
        (self.resolved, self.found) = (None, None);
    }

    /// The largest violation δ at `eq`: as |Φ|, or as the rotation that would take it away.
    pub fn violation(&mut self, s: &Structure, eq: &Equations) -> f64 {
        fill_inverse_masses(s, eq, &mut self.inverse_masses);
        let mut delta = 0.0_f64;
        for row in &s.rows {
            for i in 0..row.holonomic {
                let phi = eq.phi[row.start + i].abs();
                delta = delta.max(phi);
                let inverse = self.inverse_masses[row.start + i];
                if phi == 0.0 || inverse == 0.0 {
                    continue;
                }
                for e in &s.entries[row.entries.clone()] {
                    let col = s.cols[e.col];
                    for j in (0..col.size).filter(|j| self.rotates[col.start + j]) {
                        let J = eq.J[e.offset + i * col.size + j].abs();
                        let minv = eq.minv[col.mass + j * (col.size + 1)];
                        delta = delta.max(phi * J * minv / inverse);
                    }
                }
            }
        }
        delta
    }

    /// Returns whether a row takes part of which other rows leave `relative`, a length over the longest, at a state that is off the
    /// constraints by `violation`; `before` says whether it did at the last decision.
    pub fn counts(&self, relative: f64, before: Option<bool>, violation: f64) -> bool {
        let explained = (EXPLAINED * violation).max(self.floor);
        let nearly = if self.known.is_some() { TOLERANCE } else { 0.0 };
        let explained = explained.max(nearly);
        match before {
            None => relative > explained.min(LOOSEST),
            Some(before) => relative > explained || before && relative > self.floor,
        }
    }

    /// The value over the largest above which one counts that did not, at a state that is off the constraints by `violation`. Rows that nearly
    /// depend on others leave values that no violation explains: where it is known that some do, one has to come near those that count.
    pub fn risen(&self, violation: f64) -> f64 {
        let explained = (EXPLAINED * violation).max(self.floor);
        if self.known.is_some() { explained.max(LOOSEST * self.least) } else { explained }
    }

    /// The rank from singular values, largest first, at a state that is off the constraints by `violation`.
    pub fn decide(&mut self, sigma: impl ExactSizeIterator<Item = f64> + Clone, violation: f64) -> usize {
        let largest = sigma.clone().next().unwrap_or(0.0);
        let above = |tolerance: f64| sigma.clone().take_while(|s| *s > tolerance * largest).count();
        let mut explained = (EXPLAINED * violation).max(self.floor);
        let risen = self.risen(violation);
        let known = self.known.filter(|n| *n <= sigma.len());
        let resolved = match (self.resolved, known) {
            (None, Some(known)) => {
                let last = known.checked_sub(1).and_then(|i| sigma.clone().nth(i));
                self.least = last.map_or(1.0, |s| s / largest.max(f64::MIN_POSITIVE));
                known
            }
            (None, None) => above(explained.min(LOOSEST)),
            (Some(before), _) => {
                explained = risen;
                before.max(above(explained))
            }
        };
        self.resolved = Some(resolved);
        let rank = resolved.min(above(self.floor));

        // any tolerance between the two neighbours would have decided alike
        let relative = |i: usize| sigma.clone().nth(i).map_or(0.0, |s| s / largest.max(f64::MIN_POSITIVE));
        let last = if rank > 0 { relative(rank - 1) } else { f64::INFINITY };
        let next = relative(rank);
        let tolerance = match (self.floor, explained.min(LOOSEST)) {
            (floor, _) if next <= floor => floor,
            (_, explained) if next <= explained && explained < last => explained,
            _ => (last.min(1.0) * next).sqrt(),
        };
        let margin = (last / tolerance).min(if next > 0.0 { tolerance / next } else { f64::INFINITY });
        RankFound::note(&mut self.found, rank, tolerance, margin);
        self.smallest = last.min(1.0).powi(2);
        rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper() -> RankKeeper {
        RankKeeper::new(&Structure::default(), FLOOR)
    }

    fn decide(keeper: &mut RankKeeper, sigma: &[f64], violation: f64) -> usize {
        keeper.decide(sigma.iter().copied(), violation)
    }

    #[test]
    fn a_redundant_row_stays_redundant_off_the_constraints() {
        let mut k = keeper();
        assert_eq!(decide(&mut k, &[2.0, 1.0, 1e-15], 1e-12), 2);
        for violation in [1e-8, 1e-5, 1e-2, 0.3] {
            assert_eq!(decide(&mut k, &[2.0, 1.0, 10.0 * violation], violation), 2);
        }
        let found = k.found().unwrap();
        assert_eq!((found.least, found.most), (2, 2));
        // at the last the two are 1 and 3, in disorder: nothing could be decided anew there
        assert!(found.margin < 1.0);
    }

    #[test]
    fn a_value_that_no_violation_explains_raises_the_rank() {
        let mut k = keeper();
        assert_eq!(decide(&mut k, &[1.0, 1e-12], 1e-14), 1);
        assert_eq!(decide(&mut k, &[1.0, 1e-4], 1e-5), 1);
        assert_eq!(decide(&mut k, &[1.0, 1e-4], 1e-9), 2);
        // and it stays risen where the violation would explain the value
        assert_eq!(decide(&mut k, &[1.0, 1e-4], 1e-5), 2);
    }

    #[test]
    fn a_singular_position_is_left_out_only_while_it_lasts() {
        let mut k = keeper();
        let at = |k: &mut RankKeeper, x: f64| decide(k, &[1.0, x], 1e-10);
        let ranks: Vec<usize> = [0.1, 1e-4, 1e-12, 1e-4, 0.1].iter().map(|x| at(&mut k, *x)).collect();
        assert_eq!(ranks, [2, 2, 1, 2, 2]);
    }

    #[test]
    fn the_margin_is_the_distance_to_the_nearer_value() {
        let mut k = keeper();
        decide(&mut k, &[1.0, 1e-5, 1e-13], 0.0);
        let found = k.found().unwrap();
        assert_eq!((found.most, found.tolerance), (2, FLOOR));
        assert!((found.margin / 1e4 - 1.0).abs() < 1e-9, "{found:?}");
        assert_eq!(decide(&mut keeper(), &[], 0.0), 0);
        assert_eq!(decide(&mut keeper(), &[0.0, 0.0], 0.0), 0);
    }
}
