//! Describes what formulations of whole matrices share: room made at the first call, a rank kept along the run, and their count.

use super::Formulation;
use super::dense::check_finite;
use crate::error::SolveError;
use crate::findings::MethodStatistics;
use crate::kkt::Kkt;
use crate::problem::{Accel, Equations, Structure};
use crate::rank::RankKeeper;

/// A formulation that decomposes whole matrices once a call.
pub(super) trait DenseMethod: Send + Sized {
    /// Makes room.
    fn new(s: &Structure, eq: &Equations) -> Result<Self, SolveError>;

    /// Solves equations whose numbers are finite.
    fn solve(&mut self, s: &Structure, eq: &Equations, out: &mut Accel) -> Result<(), SolveError>;

    /// Its rank decisions.
    fn rank(&self) -> &RankKeeper;

    /// The same, which gets the rank at the start.
    fn rank_mut(&mut self) -> &mut RankKeeper;
}

/// [`DenseMethod`] as a formulation.
pub(super) struct DenseFormulation<W> {
    work: Option<W>,
    calls: u64,
}

impl<W> Default for DenseFormulation<W> {
    fn default() -> Self {
        DenseFormulation { work: None, calls: 0 }
    }
}

impl<W: DenseMethod> Formulation for DenseFormulation<W> {
    fn accelerations(
        &mut self,
        s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        check_finite(eq)?;
        let work = match &mut self.work {
            Some(work) => work,
            none => none.insert(W::new(s, eq)?),
        };
        work.rank_mut().report_rank(kkt.known_rank());
        self.calls += 1;
        work.solve(s, eq, out)
    }

    fn statistics(&self) -> MethodStatistics {
        MethodStatistics {
            rank: self.work.as_ref().and_then(|w| w.rank().found()),
            ..MethodStatistics::default()
        }
    }

    fn smallest_pivot(&self, _kkt: &Kkt) -> f64 {
        self.work.as_ref().map_or(1.0, |w| w.rank().smallest_pivot())
    }

    fn factorizations(&self) -> u64 {
        self.calls
    }
}
