//! Describes what stands at the start of a run or a check: sizes, rank, and what assembly did, ready for a report.

use crate::assemble::{AssemblyReport, VelocityChange};
use crate::components::{Component, parts, rank_by_parts, ranks_of};
use crate::rank::{ConstraintRankError, TOLERANCE, scaled_rows};
use crate::report::{AssemblyPart, ConstraintsReport, SizeReport, VelocityPart};
use sarrus_math::solve::{NumericalRank, Svd};
use sarrus_model::settings::Assembly;
use sarrus_solve::{
    ActiveRows as Which, Equations, HUB_DEGREE, Kkt, RankDemand as Demand, Structure, kinematic_units,
};
use sarrus_system::System;
use sarrus_system::system::Family;

/// Models with more rows × velocities than this have no singular values taken.
const DENSE: usize = 500 * 700;
/// The same where it is done at many instants.
const DENSE_OFTEN: usize = 100 * 120;

/// Singular values between these are of rows that nearly depend on others: below are roundings of assembled positions, above are rows that
/// are independent however the mechanism is made.
const NEARLY: std::ops::Range<f64> = 1e-10..10.0 * TOLERANCE;

/// Describes how a rank was found that can be trusted over pivots.
const SINGULAR_VALUES: &str = "singular values";

/// Holds what is known of the rank of the constraints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowRank {
    /// The rank, where it was determined.
    pub rank: Option<usize>,
    /// Factor by which the tolerance could change without changing the rank.
    pub margin: Option<f64>,
    /// Below it a singular value counts as zero, or the root of a pivot, which measures the same.
    pub tolerance: Option<f64>,
    /// The singular value of rows that nearly depend on others, nearest to the tolerance.
    pub near: Option<f64>,
    /// The method.
    pub how: &'static str,
}

impl RowRank {
    /// From a rank already found.
    pub fn from_rank(rank: &NumericalRank) -> RowRank {
        RowRank {
            rank: Some(rank.rank),
            margin: Some(rank.margin).filter(|m| m.is_finite()),
            tolerance: Some(rank.tolerance),
            near: nearest(&rank.sigma),
            how: SINGULAR_VALUES,
        }
    }

    /// Returns how many rows depend on others, where singular values tell.
    pub fn known_redundant(&self, s: &Structure) -> Option<usize> {
        self.rank.filter(|_| self.how == SINGULAR_VALUES).map(|rank| s.nc - rank)
    }

    /// Returns how many rows a solver is to find dependent: none where its own pivots cannot be mistaken.
    pub fn rank_to_resolve(self, s: &Structure) -> Option<usize> {
        self.known_redundant(s).filter(|n| *n > 0 || self.near.is_some())
    }

    /// By singular values, or for a large model by the pivots of its factors.
    pub fn find(s: &Structure, eq: &Equations) -> Result<RowRank, ConstraintRankError> {
        RowRank::find_within(s, eq, DENSE, &mut None)
    }

    /// By singular values alone; none where the model is too large for them.
    pub fn by_values(s: &Structure, eq: &Equations) -> Option<RowRank> {
        rank_by_parts(s, eq, DENSE).ok().flatten().map(|rank| RowRank::from_rank(&rank))
    }

    /// The ranks of `parts` by singular values; none where one is too large for them.
    pub fn of_parts(
        s: &Structure,
        eq: &Equations,
        parts: &[Component],
    ) -> Result<Option<Vec<usize>>, ConstraintRankError> {
        let ranks = ranks_of(s, eq, parts, DENSE)?;
        Ok(ranks.map(|ranks| ranks.iter().map(|found| found.rank).collect()))
    }

    /// The same with a solver for these rows, if there is one; if one had to be made, it is left there.
    pub fn find_reusing(
        s: &Structure,
        eq: &Equations,
        workspace: &mut Option<Kkt>,
    ) -> Result<RowRank, ConstraintRankError> {
        RowRank::find_within(s, eq, DENSE, workspace)
    }

    /// The same for many instants: singular values of small models only.
    pub fn find_quickly(s: &Structure, eq: &Equations) -> Result<RowRank, ConstraintRankError> {
        RowRank::find_within(s, eq, DENSE_OFTEN, &mut None)
    }

    fn find_within(
        s: &Structure,
        eq: &Equations,
        dense: usize,
        workspace: &mut Option<Kkt>,
    ) -> Result<RowRank, ConstraintRankError> {
        if s.nc == 0 {
            return Ok(RowRank { rank: Some(0), margin: None, tolerance: None, near: None, how: "no rows" });
        }
        if let Some(rank) = rank_by_parts(s, eq, dense)? {
            return Ok(RowRank::from_rank(&rank));
        }
        // a model that cannot be factored says so when it is run
        let kkt = workspace.take().map_or_else(|| Kkt::new(s, eq, HUB_DEGREE), Ok);
        let dependent = kkt.and_then(|mut kkt| {
            kkt.factor(eq, Which::All, Demand::ResolveRank)?;
            let found = (kkt.dependent_rows().len(), kkt.pivots());
            *workspace = Some(kkt);
            Ok(found)
        });
        Ok(match dependent {
            Ok((n, [dropped, limit, retained])) => RowRank {
                // pivots of bad conditioning may keep too many
                rank: Some((s.nc - n).min(s.nv)),
                // pivots are of J M⁻¹Jᵀ: squares of what singular values measure
                margin: Some((retained / limit).min(limit / dropped).max(1.0).sqrt())
                    .filter(|m| m.is_finite()),
                tolerance: Some(limit.sqrt()),
                near: None,
                how: "pivots of the factors",
            },
            Err(_) => {
                RowRank { rank: None, margin: None, tolerance: None, near: None, how: "not determined" }
            }
        })
    }
}

/// The singular value between rounding and independence that is nearest to the tolerance.
fn nearest(sigma: &[f64]) -> Option<f64> {
    let away = |s: &f64| (s / TOLERANCE).ln().abs();
    sigma.iter().copied().filter(|s| NEARLY.contains(s)).min_by(|a, b| away(a).total_cmp(&away(b)))
}

/// Returns what a user should know of rows that nearly depend on others: who they are, by how much, and how they count.
pub(crate) fn near_dependence(system: &System, eq: &Equations, rows: &RowRank) -> Option<String> {
    /// Part of a row in the combination from which on its element is named.
    const PARTICIPATES: f64 = 0.1;
    /// Most elements that are named.
    const MOST: usize = 6;
    let sigma = rows.near?;
    let s = &system.structure;
    let units = kinematic_units(s, &eq.J);
    let mut names: Vec<String> = Vec::new();
    for part in parts(s) {
        let rows: Vec<usize> =
            part.rows.iter().map(|r| &s.rows[*r]).flat_map(|r| r.start..r.start + r.size).collect();
        let n = part.cols.iter().map(|c| s.cols[*c].size).sum();
        let mut svd = Svd::thin(rows.len(), n);
        if svd.factor(&scaled_rows(s, eq, &part, &units)).is_err() {
            continue;
        }
        for k in (0..svd.sigma().len()).filter(|k| NEARLY.contains(&svd.sigma()[*k])) {
            for (row, _) in rows.iter().zip(svd.left(k)).filter(|(_, x)| x.abs() > PARTICIPATES) {
                let name = system.element_of_row(*row).map(|e| format!("{} `{}`", e.family.name(), e.name));
                names.extend(name.filter(|name| !names.contains(name)));
            }
        }
    }
    names.truncate(MOST);
    let counted = if sigma > TOLERANCE {
        "they count as independent, and hold the mechanism"
    } else {
        "they count as dependent, and positions are off by about as much along a motion"
    };
    Some(format!(
        "constraints nearly depend on each other ({}): a misfit of {sigma:.1e} rad, or of a length, against the tolerance {TOLERANCE:.0e}; {counted}",
        names.join(", ")
    ))
}

/// For a report, without the violations.
pub(crate) fn rank_report(s: &Structure, rows: &RowRank) -> ConstraintsReport {
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
        bodies: system.directory.bodies.iter().skip(1).filter(|b| !b.is_internal()).count(),
        joints: system.directory.joints.len(),
        drivers: system.elements.iter().filter(|e| e.family == Family::Driver).count(),
        velocities: system.structure.nv,
        states: system.states.len(),
    }
}

/// Most bodies of which a report gives the velocity at the start.
const SHOWN: usize = 10;

fn shown(change: &VelocityChange) -> VelocityPart {
    let VelocityChange { name, speed, rate, is_chosen } = change.clone();
    VelocityPart { name, speed, rate, chosen: is_chosen }
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
        rotation: report.rotation,
        worst: report.worst.clone(),
        position_error: report.position_error,
        velocity_error: report.velocity_error,
        velocities: report.velocities.iter().take(SHOWN).map(shown).collect(),
    }
}
