//! `report.json`: what a run did, how well, and whether that is good enough.
//!
//! Numbers that are not finite are written as `null`, as JSON has no word for them.

pub use crate::certificate::{Certificate, CertificateItem, CertificateLimits};
use crate::energy::EnergyAccount;
use crate::violation::{NormStatistics, ViolationLevels};
use serde::Serialize;
use std::collections::BTreeMap;

/// The whole report, in the order of its keys.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// The case that was run, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Describes how the run was made.
    pub method: MethodReport,
    /// Describes how it ended.
    pub status: Status,
    /// Reason why it ended there.
    pub reason: String,
    /// Holds what went wrong, if something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureReport>,
    /// Time at the start \[s\].
    pub t_start: f64,
    /// Time reached \[s\].
    pub t_end: f64,
    /// Work done.
    pub counts: CountsReport,
    /// Wall time of the integration \[s\].
    pub wall_s: f64,
    /// Processor time of the integration \[s\], where the system tells it.
    pub cpu_s: Option<f64>,
    /// Degrees of freedom at the start: velocities minus the rank of the constraints.
    pub dof: Option<usize>,
    /// Bodies, joints and the like.
    pub size: SizeReport,
    /// The constraints at the start.
    pub constraints: ConstraintsReport,
    /// Identifies which of the reactions mean something.
    pub reactions: ReactionsPart,
    /// Holds what assembly did before the run.
    pub assembly: AssemblyPart,
    /// 2-norms over all constraint rows.
    pub violation: ViolationReport,
    /// Energies \[J\].
    pub energy: EnergyReport,
    /// Marks whether the run kept what was asked of it.
    pub certificate: Certificate,
    /// Holds what to change where it did not: a sentence for each item that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
    /// Events in time order, singular positions among them.
    pub events: Vec<EventReport>,
    /// Holds what contacts did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<ContactReport>,
    /// Singular positions that were met, in time order.
    pub singular: Vec<SingularReport>,
    /// Holds what a reader should know.
    pub notes: Vec<String>,
    /// Least and largest value of every column; left out where they were not searched for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub peaks: BTreeMap<String, PeakReport>,
    /// Units of the trajectory's columns by name; left out where there are very many.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, &'static str>,
}

impl Report {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        // a struct of numbers, strings and maps with string keys cannot fail to serialize
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Least and largest value of a column over the whole run: at rows, at both sides of events, at ends of steps and at peaks inside them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PeakReport {
    /// Least value.
    pub min: f64,
    /// Time \[s\].
    pub t_min: f64,
    /// Largest value.
    pub max: f64,
    /// Time \[s\].
    pub t_max: f64,
}

/// Holds what an entry of `[contacts]` did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContactReport {
    /// Its name.
    pub name: String,
    /// Number of times that a place closed.
    pub onsets: u64,
    /// When a place first did \[s\], to the last digits where onsets are located.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_onset: Option<f64>,
    /// The fastest of them \[m/s\].
    pub fastest_onset: f64,
    /// Largest normal force at a step or in a row, all places together \[N\].
    pub largest_force: f64,
    /// Deepest overlap at a step or in a row \[m\].
    pub deepest_overlap: f64,
    /// Deepest overlap at the end \[m\].
    pub overlap_at_end: f64,
    /// Time during which a place was closed \[s\].
    pub time_in_contact: f64,
    /// Places that were closed, summed over the steps: over their number it is the mean.
    pub touches: u64,
    /// Energy dissipated along the normal \[J\].
    pub dissipated_normal: f64,
    /// Work of friction, with what bristles hold \[J\].
    pub dissipated_friction: f64,
    /// Restitution that the file asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution_nominal: Option<f64>,
    /// Restitution that the law delivers, of the fastest onset where it depends on the speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution_delivered: Option<f64>,
}

/// Describes how a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The end was reached.
    Completed,
    /// Somebody or a limit stopped it.
    Stopped,
    /// A step could not be taken.
    Failed,
}

impl Status {
    /// As written in the report.
    pub fn name(self) -> &'static str {
        match self {
            Status::Completed => "completed",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
        }
    }
}

/// The method of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodReport {
    /// Formulation with its options, as the command line writes it.
    pub formulation: String,
    /// Stabilization, likewise.
    pub stabilization: String,
    /// Integrator, likewise.
    pub integrator: String,
    /// Describes how singular positions are passed: `jets`, `amirouche` or `false`.
    pub regularize: &'static str,
    /// Relative tolerance; none for a method with fixed steps.
    pub rtol: Option<f64>,
    /// Absolute tolerance, likewise.
    pub atol: Option<f64>,
    /// Step asked for \[s\].
    pub step: Option<f64>,
    /// Reason why `auto` chose what it chose; empty where nothing was left to it.
    pub why: Vec<String>,
    /// Coordinates that the run was made in: `absolute` or `joint`.
    pub coordinates: &'static str,
    /// Describes how orientations of spatial bodies were integrated, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<&'static str>,
    /// Holds what its parts found on the way about rank, coordinates and stability; left out where they found nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundReport>,
}

/// Holds what a formulation, a stabilization or an integrator found on the way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundReport {
    /// `formulation`, `stabilization` or `integrator`.
    pub part: &'static str,
    /// Rank decisions, where it takes any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<RankReport>,
    /// Choices of independent velocities, where it makes any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionReport>,
    /// Iterations beyond the first, over the run.
    pub iterations: u64,
    /// Describes how near steps came to the stability limit, where a method watches that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<StabilityReport>,
}

/// The stability limit ω h ≤ 2 along a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StabilityReport {
    /// Highest frequency found at the start or seen on the way \[rad/s\].
    pub omega: f64,
    /// ω h / 2 at its largest: 1 at the limit.
    pub ratio: f64,
    /// Relative regularization ε of the multipliers, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
}

/// Rank decisions along a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankReport {
    /// Least rank.
    pub least: usize,
    /// Largest rank.
    pub most: usize,
    /// Relative size up to which a value counts as zero.
    pub tolerance: f64,
    /// Factor by which the tolerance could have been different, at its least.
    pub margin: f64,
}

/// Choices of independent velocities along a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartitionReport {
    /// The independent velocities at the end, by name.
    pub independent: Vec<String>,
    /// Number of times that they were chosen.
    pub choices: u32,
    /// Worst condition number that was worked with.
    pub condition: f64,
}

/// Holds what a failed run failed at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailureReport {
    /// Holds what went wrong.
    pub message: String,
    /// The element that it was about, such as ``joint `A` ``.
    pub element: Option<String>,
    /// Time of the failure \[s\].
    pub t: f64,
    /// The number that told: a residual, a violation, a pivot, a step size.
    pub number: Option<f64>,
}

/// Work done by a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CountsReport {
    /// Accepted steps.
    pub steps: u64,
    /// Trials given up.
    pub rejected: u64,
    /// Evaluations of the right-hand side.
    pub rhs: u64,
    /// Newton iterations of projections.
    pub newton_iterations: u64,
    /// Factorizations.
    pub factorizations: u64,
    /// Samples recorded.
    pub samples: u64,
}

/// Describes how large a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SizeReport {
    /// Moving bodies.
    pub bodies: usize,
    /// Joints.
    pub joints: usize,
    /// Drivers.
    pub drivers: usize,
    /// Velocities.
    pub velocities: usize,
    /// First-order states of controllers and the like.
    pub states: usize,
}

/// The constraints at one instant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConstraintsReport {
    /// Rows.
    pub rows: usize,
    /// Rank, where it was determined.
    pub rank: Option<usize>,
    /// Rows that say nothing new.
    pub redundant: Option<usize>,
    /// Factor by which the tolerance could change without changing the rank; none: nothing could.
    pub rank_margin: Option<f64>,
    /// Singular values (of J M^-1/2), or roots of pivots, up to this count as zero.
    pub rank_tolerance: Option<f64>,
    /// Describes how the rank was found.
    pub rank_method: &'static str,
    /// Violations per joint, constraint and driver, in the model's order; the worst where there are very many.
    pub per_joint: Vec<ElementReport>,
}

/// Reactions at the start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ReactionsPart {
    /// Columns that redundant constraints share in many ways: their minimum-norm values are shown.
    pub not_unique: Vec<String>,
    /// Bodies whose motion depends on how rigid contacts that slide share their load.
    pub motion_not_unique: Vec<String>,
}

/// Violations of one element.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ElementReport {
    /// Its name.
    pub name: String,
    /// `joint`, `constraint`, `driver` or `hold`.
    pub family: &'static str,
    /// Its rows.
    pub rows: usize,
    /// ‖Φ‖.
    pub position: SpreadReport,
    /// ‖Φ̇‖.
    pub velocity: SpreadReport,
    /// ‖Φ̈‖ at the samples where columns need accelerations, else at about ten instants.
    pub acceleration: SpreadReport,
}

/// Violations of all rows together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ViolationReport {
    /// ‖Φ‖.
    pub position: SpreadReport,
    /// ‖Φ̇‖.
    pub velocity: SpreadReport,
    /// ‖Φ̈‖ at the samples where columns need accelerations, else at about ten instants.
    pub acceleration: SpreadReport,
}

impl From<&ViolationLevels> for ViolationReport {
    fn from(l: &ViolationLevels) -> Self {
        ViolationReport {
            position: l.position.into(),
            velocity: l.velocity.into(),
            acceleration: l.acceleration.into(),
        }
    }
}

/// Largest and root mean square of a norm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpreadReport {
    /// Largest.
    pub max: f64,
    /// Root mean square.
    pub rms: f64,
}

impl From<NormStatistics> for SpreadReport {
    fn from(s: NormStatistics) -> Self {
        SpreadReport { max: s.max, rms: s.rms() }
    }
}

/// Holds what assembly did.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct AssemblyPart {
    /// `full`, `velocity` or `none`.
    pub mode: &'static str,
    /// Farthest that a body was moved \[m\].
    pub moved: f64,
    /// Farthest that a body was turned \[rad\].
    pub rotation: f64,
    /// The body that was moved or turned most, if one was.
    pub worst: Option<String>,
    /// ‖Φ‖ that is left.
    pub position_error: f64,
    /// ‖Φ̇‖ that is left.
    pub velocity_error: f64,
    /// Bodies and members that start with other velocities than what is stated of them, or than rest: those with the largest difference.
    pub velocities: Vec<VelocityPart>,
}

/// Describes how much the velocity of a body or member at the start differs from what is stated of it, or from rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VelocityPart {
    /// Its name.
    pub name: String,
    /// Of its centre of mass \[m/s\].
    pub speed: f64,
    /// Angular \[rad/s\].
    pub rate: f64,
    /// True if it follows from least change alone.
    pub chosen: bool,
}

/// Energies of a run \[J\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EnergyReport {
    /// Kinetic and potential energy at the start.
    pub initial: f64,
    /// Most that kinetic + potential + dissipated - work moved away from its start.
    pub max_drift: f64,
    /// `max_drift` over `scale`.
    pub balance_error: f64,
    /// The energy exchanged in the run.
    pub scale: f64,
}

impl From<&EnergyAccount> for EnergyReport {
    fn from(account: &EnergyAccount) -> Self {
        EnergyReport {
            initial: account.initial(),
            max_drift: account.max_drift(),
            balance_error: account.balance_error(),
            scale: account.scale(),
        }
    }
}

/// Something that happened at an instant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventReport {
    /// Time \[s\].
    pub t: f64,
    /// Its name; of a joint with `lock_at` such as `A.lock_at`.
    pub name: String,
    /// Holds what it did, in words: `lock A`, `enable motor`.
    pub actions: Vec<String>,
    /// Impulses of the locks that it closed.
    pub impulses: Vec<ImpulseReport>,
    /// Kinetic and potential energy that was lost by it \[J\]; a gain is negative.
    pub energy_lost: f64,
}

/// A position in which the constraints lost rank, or nearly so.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SingularReport {
    /// Time when rank was lost, as seen from nearest by \[s\].
    pub t: f64,
    /// `passed`: branches cross there and the run kept to its own; `near_miss`: they do not; `end_of_range`: there was no way on;
    /// `rest`: the mechanism was at rest there, and more than one motion can follow.
    pub outcome: &'static str,
    /// Time of the first evaluation nearby \[s\].
    pub enter: f64,
    /// Time of the last one \[s\].
    pub leave: f64,
    /// Describes how many rows lost their hold.
    pub rank_losses: usize,
    /// Elements that take part, the most involved first.
    pub elements: Vec<String>,
    /// √(vᵀMv) of the bodies tied together, when it was nearest \[√J\].
    pub speed: f64,
    /// Describes how far apart the branches are, as violation of the constraints; none where that could not be determined. Less than 10⁻⁹ of the
    /// largest position counts as a crossing.
    pub gap: Option<f64>,
    /// Marks whether reactions stay bounded there: `bounded`, `unbounded`, or `unknown` at a near miss.
    pub reactions: &'static str,
    /// The largest R, where reactions grow as R / (t - t*) \[N s, N m s\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residue: Option<f64>,
    /// The element where that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residue_at: Option<String>,
}

/// The impulse of a lock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpulseReport {
    /// The joint.
    pub joint: String,
    /// The coordinate that is held, or `orientation` of a ball joint.
    pub coordinate: &'static str,
    /// Along the coordinate, on the second body; of a ball joint one number per row.
    pub impulse: Vec<f64>,
    /// Its unit.
    pub unit: &'static str,
}
