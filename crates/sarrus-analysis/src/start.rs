//! What stands at the start of a run or a check: sizes, rank, and what assembly did, ready for a report.

use crate::assemble::AssemblyReport;
use crate::rank::constraint_rank;
use crate::report::{AssemblyPart, ConstraintsReport, SizeReport};
use sarrus_math::solve::{Rank, RankError};
use sarrus_model::settings::Assembly;
use sarrus_solve::{Equations, HUB_DEGREE, Kkt, Rank as Demand, Rows as Which, Structure};
use sarrus_system::System;

/// Models with more rows × velocities than this have no singular values taken.
const DENSE: usize = 500 * 700;
/// The same where it is done at many instants.
const DENSE_OFTEN: usize = 100 * 120;

/// What is known of the rank of the constraints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rows {
    /// The rank, where it was determined.
    pub rank: Option<usize>,
    /// Factor by which the tolerance could change without changing the rank.
    pub margin: Option<f64>,
    /// Below it a singular value counts as zero.
    pub tolerance: Option<f64>,
    /// How.
    pub how: &'static str,
}

impl Rows {
    /// From a rank already found.
    pub fn from_rank(rank: &Rank) -> Rows {
        Rows {
            rank: Some(rank.rank),
            margin: Some(rank.margin).filter(|m| m.is_finite()),
            tolerance: Some(rank.tolerance),
            how: "singular values",
        }
    }

    /// By singular values, or for a large model by the pivots of its factors.
    pub fn find(s: &Structure, eq: &Equations) -> Result<Rows, RankError> {
        Rows::find_within(s, eq, DENSE)
    }

    /// The same for many instants: singular values of small models only.
    pub fn find_quickly(s: &Structure, eq: &Equations) -> Result<Rows, RankError> {
        Rows::find_within(s, eq, DENSE_OFTEN)
    }

    fn find_within(s: &Structure, eq: &Equations, dense: usize) -> Result<Rows, RankError> {
        if s.nc == 0 {
            return Ok(Rows { rank: Some(0), margin: None, tolerance: None, how: "no rows" });
        }
        if s.nc * s.nv <= dense {
            return Ok(Rows::from_rank(&constraint_rank(s, eq)?));
        }
        // a model that cannot be factored says so when it is run
        let dependent = Kkt::new(s, eq, HUB_DEGREE).and_then(|mut kkt| {
            kkt.factor(eq, Which::All, Demand::Settle)?;
            Ok((kkt.dependent_rows().len(), kkt.pivots()))
        });
        Ok(match dependent {
            Ok((n, [dropped, limit, kept])) => Rows {
                rank: Some(s.nc - n),
                margin: Some((kept / limit).min(limit / dropped)).filter(|m| m.is_finite()),
                tolerance: Some(limit),
                how: "pivots of the factors",
            },
            Err(_) => Rows { rank: None, margin: None, tolerance: None, how: "not determined" },
        })
    }
}

/// For a report, without the violations.
pub(crate) fn rank_report(s: &Structure, rows: &Rows) -> ConstraintsReport {
    ConstraintsReport {
        rows: s.nc,
        rank: rows.rank,
        redundant: rows.rank.map(|rank| s.nc - rank),
        rank_margin: rows.margin,
        rank_tolerance: rows.tolerance,
        rank_method: rows.how,
        per_joint: Vec::new(),
    }
}

/// For a report.
pub(crate) fn size(system: &System) -> SizeReport {
    SizeReport {
        bodies: system.structure.cols.len(),
        joints: system.directory.joints.len(),
        velocities: system.structure.nv,
        states: system.states.len(),
    }
}

/// For a report.
pub(crate) fn assembly_part(mode: Assembly, report: &AssemblyReport) -> AssemblyPart {
    AssemblyPart {
        mode: match mode {
            Assembly::Full => "full",
            Assembly::Velocity => "velocity",
            Assembly::None => "none",
        },
        moved: report.moved,
        turned: report.turned,
        worst: report.worst.clone(),
        position_error: report.position_error,
        velocity_error: report.velocity_error,
    }
}
