//! A model compiled into a system, and the system's equations of motion.
//!
//! Flexible members, joints, constraints, drivers, forces and controllers are families: a trait, one file a kind, and a list of kinds that
//! everything user-visible comes from. A constraint is written once, as a residual over a generic scalar ([`constraint`]);
//! its derivatives follow ([`mod@derive`]).

pub mod added_mass;
mod armature;
pub mod at;
pub mod bodies;
pub mod body;
pub mod columns;
pub mod compile;
pub mod conditions;
pub mod constraint;
pub mod constraints;
pub mod contact;
pub mod context;
pub mod control;
pub mod controllers;
pub mod coordinate;
pub mod derive;
mod describe;
pub mod drivers;
pub mod events;
pub mod file_placement;
pub mod flexible;
pub mod forces;
pub mod formula;
pub mod friction;
pub mod joint;
pub mod joints;
pub mod laws;
pub mod load;
mod loads;
pub mod measures;
pub mod mechanism;
pub mod motion;
pub mod names;
mod path;
pub mod primitive;
mod reads;
pub mod row_options;
pub mod sampler;
pub mod separation;
pub mod shapes;
pub mod signal;
pub mod system;
pub mod tangent;
pub mod tree;
pub mod variation;

pub use at::At;
pub use columns::Columns;
pub use compile::compile;
pub use conditions::Conditions;
pub use flexible::beam::error::{MeshError, MeshErrors};
pub use laws::Laws;
pub use mechanism::{Energy, Mechanism};
pub use names::Directory;
pub use row_options::Compliance;
pub use sampler::Sampler;
pub use system::{ConstraintElement, Family, System};
pub use tree::{Tree, TreeDynamics};
