//! Decision which rows depend on others, from geometry alone.
//!
//! Rank is a property of J. Pivots of S = J M⁻¹Jᵀ fall with the ratio of masses too: a body with an inertia of 10⁻⁹ m l² has pivots of 10⁻⁹
//! where nothing depends on anything. So rows are judged by the pivots of J C² Jᵀ, C the units of `rank.rs`, in the same order
//! of elimination. In exact arithmetic the rows that depend on rows before them are the same in every metric. What masses make of
//! the pivot of a row that counts is kept as its share: later factorizations compare its pivot with the limit times that share.
//!
//! Cost: two factorizations, where the first one in the metric of M has dropped rows or has small pivots.

use super::{DEPENDENT, Kkt, STILL_DEPENDENT, assemble};
use crate::error::SolveError;
use crate::problem::Equations;
use crate::rank::kinematic_units;
use sarrus_math::solve::SmallPivot;
use sarrus_math::solve::kernels::Action;

/// Pivots in the metric of M above this need no second opinion.
const CLEAR: f64 = 1e-6;
/// Masses that weaken a pivot by less than this leave its limit as it is.
const WEAKENED: f64 = 1e-2;
/// Smallest limit of a row that counts: pivots below are rounding.
const LEAST: f64 = 1e-15;
/// A row that was found to depend on others does so until its pivot has grown by this factor.
const GROWN: f64 = 100.0;

impl Kkt {
    /// Returns whether the pivots of the last factorization leave open which rows are dependent.
    pub(super) fn is_unclear(&self) -> bool {
        !self.dropped.is_empty() || self.smallest_pivot() < CLEAR
    }

    /// Decides which rows are dependent at the J of `eq`, with the fraction in use as limit. Leaves the factors in the metric of M.
    pub(super) fn decide(&mut self, eq: &Equations) -> Result<(), SolveError> {
        self.decided = true;
        self.share.fill(1.0);
        let units = kinematic_units(&self.structure, &eq.J);
        let (mut mass, mut minv) = (vec![0.0; self.mass.len()], vec![0.0; self.minv.len()]);
        for body in &self.bodies {
            for i in 0..body.size {
                let at = body.mass + i * (body.size + 1);
                let square = units[body.start + i].powi(2);
                (mass[at], minv[at]) = (square.recip(), square);
            }
        }
        std::mem::swap(&mut self.mass, &mut mass);
        std::mem::swap(&mut self.minv, &mut minv);
        let limit = self.dependent;
        let mut geometry = vec![0.0; self.nc];
        let judged = self.judge(eq, &mut geometry, |_, pivot| pivot > limit);
        self.mass = mass;
        self.minv = minv;
        judged?;

        let mut weighed = vec![0.0; self.nc];
        self.judge(eq, &mut weighed, |i, _| geometry[i] > limit)?;
        for (i, share) in self.share.iter_mut().enumerate() {
            *share = if geometry[i] > limit {
                let weakened = (weighed[i] / geometry[i]).min(1.0);
                let is_weak = weakened < WEAKENED || weighed[i] < CLEAR;
                if is_weak { weakened.max(LEAST / limit) } else { 1.0 }
            } else {
                (GROWN * weighed[i] / limit).clamp(1.0, STILL_DEPENDENT / DEPENDENT)
            };
        }
        Ok(())
    }

    /// Factors with the rows that `counts` accepts by their index and their pivot over its diagonal; the pivots go to `pivots`.
    fn judge(
        &mut self,
        eq: &Equations,
        pivots: &mut [f64],
        counts: impl Fn(usize, f64) -> bool,
    ) -> Result<(), SolveError> {
        self.weigh(&eq.J)?;
        assemble(&self.plan, &self.bodies, &self.mass, &self.W, &self.Jt, self.ldl.values_mut());
        // every pivot of a row is to be shown
        for row in &self.plan.rows {
            self.floor[row.at..][..row.size].fill(f64::INFINITY);
        }
        let Kkt { plan, ldl, scale, floor, weight, .. } = self;
        let show = |small: SmallPivot, _: &[(usize, f64)]| {
            let i = plan.node_start[small.node] + small.row;
            if small.node >= plan.rows.len() || !small.value.is_finite() {
                return Action::Stop;
            }
            pivots[i] = if scale[i] > 0.0 { (small.value / scale[i]).max(0.0) } else { 0.0 };
            match counts(i, pivots[i]) {
                true => Action::Use(small.value.max(LEAST * scale[i])),
                false => Action::Drop,
            }
        };
        ldl.factor(floor, weight, show).map_err(|bad| {
            let i = plan.node_start[bad.node] + bad.row;
            SolveError::RankDeficient { row: i, pivot: bad.value, scale: scale[i] }
        })
    }
}
