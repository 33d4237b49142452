//! Methods: how accelerations are found, kept on the constraints, and integrated. Knows no bodies: all that a
//! method sees is a [`Problem`].
//!
//! [`Problem`] gives [`Equations`] at a [`State`]; a [`Stabilization`](stabilizations::Stabilization) may shift
//! them; a [`Formulation`](formulations::Formulation) solves them for an [`Accel`] through the shared
//! block-sparse [`Kkt`]; [`Dynamics`] makes of the three an ordinary differential equation for an integrator.

mod chart;
pub mod complementarity;
mod control;
mod dynamics;
pub mod ensemble;
mod error;
mod findings;
pub mod formulations;
pub mod implicit;
pub mod integrators;
mod kkt;
mod options;
mod partition;
mod problem;
mod rank;
mod rotations;
mod singularity;
pub mod stabilizations;
pub mod staggered;
mod stiffness;
pub mod tables;
mod tangent;
mod views;

pub use chart::Chart;
pub use control::*;
pub use dynamics::{Counts, Dynamics, PausedDynamics, StepMode};
pub use error::{MethodError, SolveError, StepError, StructureError, digits};
pub use findings::{MethodStatistics, PartitionFound, RankFound, StabilityFound};
pub use kkt::{ActiveRows, HUB_DEGREE, Kkt, RankDemand, SolveReport};
pub use options::{OptionDoc, OptionValue, Options};
pub use problem::{
    Accel, Array, COEFFICIENTS, ColBlock, Equations, Expansion, GroupKind, JacobianEntry, NormGroup, Problem,
    RowBlock, Stage, State, Structure, StructureBuilder,
};
pub use rank::{TOLERANCE, kinematic_units};
pub use rotations::{MOST_ROTATION, Rotated, Rotations};
pub use singularity::{
    BranchDirection, Crossing, HeldVelocity, Regularize, SingularStart, SingularityRecord, refine_positions,
    set_out, singular_starts,
};
pub use stiffness::StiffnessMonitor;
pub use tangent::{Tangent, TangentBlock};
pub use views::*;
