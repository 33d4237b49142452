//! Small motions about a state, rest in equilibrium, and prescribed motion: analyses that do not integrate.
//!
//! [`linearize`] gives ẋ = A x for small motions along the constraints, [`modes`] its eigenvalues, [`equilibrium`] a state in which
//! all stays at rest, [`prescribed`] the motion that drivers alone determine, with the forces that they need.

mod basis;
mod branch;
mod control;
mod equilibrium;
mod flow;
mod hidden;
mod linearize;
mod metric;
mod modes;
mod newton;
mod operating_point;
mod paths;
mod prescribed;
mod principal;
mod profile;
mod relax;
mod rest;
mod roots;
mod search;
mod solvers;
mod squares;
mod stability;
mod statics;
mod steady;
mod stops;
mod together_with_controllers;

pub(crate) use linearize::free_accelerations;

pub use equilibrium::{
    Equilibrium, EquilibriumOptions, EquilibriumReport, EquilibriumSearch, LoadStep, equilibrium,
    equilibrium_with,
};
pub use linearize::{Linearization, linearize};
pub use modes::{BodyShare, Displacement, Doing, Mode, ModeKind, ModesReport, modes, modes_at, modes_with};
pub use operating_point::{AboutError, OperatingPoint};
pub use prescribed::{EffortReport, Prescribed, PrescribedReport, prescribed};
pub use steady::{SteadyMotion, SteadySpin};
