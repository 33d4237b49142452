//! Describes what a user asks for: a certified simulation, or a check of the model.
//!
//! [`simulate`] assembles the mechanism, chooses the [`Method`] where it is left open, integrates, and returns a
//! [`Trajectory`] with a [`Report`] that says how well the run went. [`check`] shows what can be known without running,
//! [`compare`] runs many methods side by side; [`modes`], [`equilibrium`] and [`prescribed`] are about small motions, rest and motion that
//! drivers prescribe.

mod accuracy;
mod advice;
mod assemble;
mod certificate;
mod check;
mod clock;
pub mod compare;
mod components;
mod conclude;
mod contacts;
mod covered_angles;
mod drivers;
mod energy;
pub mod equations;
mod error;
mod events;
mod failure;
mod finite;
mod following;
mod instants;
mod joints;
mod linear;
mod memory;
mod method;
mod notes;
mod overlaps;
mod pausing;
mod peaks;
mod rank;
mod recorder;
mod redundancy;
mod report;
mod run;
mod schedule;
mod settings;
mod sigma;
mod simulate;
mod simulation;
mod singular;
mod start;
mod trajectory;
mod violation;
mod warnings;

pub use accuracy::{Accuracy, certify};
pub use assemble::*;
pub use check::{CheckOptions, CheckReport, ElementError, Redundancy, check, check_with};
pub use clock::Clock;
pub use energy::EnergyAccount;
pub use error::SetupError;
pub use instants::{InstantSide, Instants};
pub use linear::*;
pub use method::{Method, MethodPart, ModelFacts};
pub use rank::{ConstraintRankError, TOLERANCE, constraint_rank};
pub use redundancy::*;
pub use report::*;
pub use sarrus_solve::integrators::Proceed;
pub use settings::{MethodText, MethodTextError, RunOverrides, Settings};
pub use sigma::SmallestSingular;
pub use simulate::{Outcome, Progress, RunPlan, SampleDiagnostics, Simulate, Watch, simulate};
pub use simulation::{Sensor, Simulation, SimulationError};
pub use trajectory::Trajectory;
pub use violation::{NormStatistics, ViolationLevels, Violations};

/// Version of the program, as reports have it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
