//! Describes what the analysis of redundancy reports.

use serde::Serialize;

/// Elements that hold the same thing more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupReport {
    /// Rows that say nothing new, among those of these elements alone.
    pub redundant: usize,
    /// Their names.
    pub elements: Vec<String>,
}

/// The reaction of one element, component by component. What an element cannot exert is in neither list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReactionReport {
    /// Its name.
    pub name: String,
    /// `joint`, `constraint` or `driver`.
    pub family: &'static str,
    /// Components that have one value only; of joints in world axes at the joint's point.
    pub unique: Vec<String>,
    /// Components that may be shared with other elements in many ways.
    pub not_unique: Vec<String>,
    /// Independent directions of its reaction, in whatever axes, ...
    pub directions: usize,
    /// ... and how many of them are not unique.
    pub directions_not_unique: usize,
}

/// Describes how clear it was which components are unique. A component is measured by its part in the null space of Jᵀ: the root
/// mean square over random starts, relative to the component's own size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UniquenessReport {
    /// The smallest part of a component that is not unique over the largest of one that is, or over rounding.
    pub margin: Option<f64>,
    /// The largest part of a component that was taken for unique.
    pub zero: Option<f64>,
    /// The smallest part of a component that was not.
    pub nonzero: Option<f64>,
    /// Parts up to this count as zero.
    pub tolerance: f64,
    /// Random starts.
    pub starts: usize,
    /// Proximal steps from each, at most.
    pub iterations: u32,
    /// Redundant rows as estimated from the starts alone: the trace of the projector.
    pub dimension: f64,
    /// Standard error of that estimate.
    pub dimension_error: f64,
}

/// Degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MobilityReport {
    /// In positions near this one; none where none could be reached.
    pub structural: Option<usize>,
    /// In this position: velocities minus rank.
    pub here: Option<usize>,
}

/// Redundancy over a motion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlongReport {
    /// Time at the start and at the last instant that was checked \[s\].
    pub span: [f64; 2],
    /// Instants checked.
    pub samples: usize,
    /// Describes how the run ended: `completed`, `stopped` or `failed`.
    pub status: &'static str,
    /// Reason why it ended there.
    pub reason: String,
    /// Rank over time, with a new entry only where it changes.
    pub rank: Vec<RankSpan>,
    /// The smallest margin of the rank, and when \[s\]; none where it is not known.
    pub least_margin: Option<(f64, f64)>,
    /// Columns that are not unique at any instant.
    pub always: Vec<String>,
    /// Columns that are not unique at some instants, with the part of instants at which they are not.
    pub at_times: Vec<(String, f64)>,
    /// Distributed reactions at every instant, where these were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distributed: Vec<DistributedAt>,
}

/// A rank that stayed for a while.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankSpan {
    /// The first and the last instant checked that had it \[s\].
    pub from: f64,
    /// See there.
    pub to: f64,
    /// Rows that acted.
    pub rows: usize,
    /// The rank; none where it could not be found.
    pub rank: Option<usize>,
}

/// Distributed reactions at one instant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DistributedAt {
    /// Time \[s\].
    pub t: f64,
    /// Values in the order of [`DistributionReport::reactions`], each with its components.
    pub values: Vec<Vec<f64>>,
}

/// Reactions where joints give way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DistributionReport {
    /// By what: `stiffness`.
    pub by: &'static str,
    /// Joints that the model gives a compliance.
    pub compliant: usize,
    /// Compliance of all other elements, as a fraction of the smallest one given.
    pub rigid: f64,
    /// Holds what is left of the equations of motion, relative.
    pub residual: f64,
    /// Joints with their reactions.
    pub reactions: Vec<DistributedReaction>,
}

/// The reaction of one joint, both ways.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DistributedReaction {
    /// The joint.
    pub name: String,
    /// Its components.
    pub components: Vec<&'static str>,
    /// Of the multipliers of least norm \[N, N·m\].
    pub minimum_norm: Vec<f64>,
    /// Distributed by compliance \[N, N·m\].
    pub distributed: Vec<f64>,
}
