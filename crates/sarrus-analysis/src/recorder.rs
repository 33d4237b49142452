//! Listens to a run: samples into the trajectory, violations and energies into the books.

use crate::energy::EnergyBook;
use crate::simulate::{Progress, Watch};
use crate::trajectory::Trajectory;
use crate::violation::Violations;
use sarrus_solve::integrators::{Flow, Observer};
use sarrus_solve::{Dynamics, Problem, SolveError, Stage, State, StepInfo};
use sarrus_system::{Columns, Mechanism};
use std::time::Instant;

/// Why a recorder ended a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stop {
    /// Whoever watches asked for it.
    Asked,
    /// `run.max_steps`.
    Steps(u64),
    /// `run.wall_limit` [s].
    Wall(f64),
}

/// Everything that is kept of a run while it goes on.
pub(crate) struct Recorder<'a> {
    /// Where samples go; none are taken without columns.
    pub columns: Option<&'a Columns>,
    /// The samples.
    pub trajectory: Trajectory,
    /// ‖Φ‖, ‖Φ̇‖ at every step, ‖Φ̈‖ wherever accelerations are known.
    pub violations: Violations,
    /// Energies at every step and sample.
    pub energy: EnergyBook,
    /// Who may stop the run.
    pub watch: &'a mut dyn Watch,
    /// Most steps.
    pub max_steps: Option<u64>,
    /// Longest wall time [s], from `started`.
    pub wall_limit: Option<f64>,
    /// When the run started.
    pub started: Instant,
    /// Steps so far.
    pub steps: u64,
    /// Why the run was stopped, if it was.
    pub stop: Option<Stop>,
    /// The first sample whose accelerations could not be found.
    pub unsampled: Option<(f64, SolveError)>,
}
