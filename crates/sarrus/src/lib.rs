//! Sarrus: multibody dynamics for the mechanisms that other tools get wrong.
//!
//! Closed loops, redundant constraints, large rotations, rolling. A model is a flat list of bodies and joints (a loop is
//! one more joint); a run comes with a certificate of how well it kept its constraints and its energy.
//!
//! # A tour
//!
//! Text becomes a [`model::Model`], which is compiled to a [`system::System`]; [`analysis::certify`] runs it:
//!
//! ```
//! use sarrus::prelude::*;
//!
//! let text = r#"
//! format = "sarrus/1"
//! space = "planar"
//!
//! [bodies]
//! bar = { from = [0, 0], to = [1.5, 0], mass = 1.0 }
//!
//! [joints]
//! A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
//!
//! [run]
//! t_end = 1.0
//! rtol = 1e-9
//! atol = 1e-11
//! "#;
//! let run = sarrus::run_str("pendulum.toml", text, &Simulate::default())?;
//!
//! // every run certifies itself
//! assert_eq!(run.report.status, Status::Completed);
//! assert!(run.report.certificate.passed);
//!
//! // columns by name: a bar let go from the horizontal has turned clockwise
//! let angle = run.trajectory.last("A.angle").expect("a joint has its angle as a column");
//! assert!(angle < -1.0);
//! # Ok::<(), sarrus::Error>(())
//! ```
//!
//! The steps one by one, with what each gives:
//!
//! | step | function | gives |
//! |---|---|---|
//! | read | [`io::load`], [`io::load_str`] | [`model::Model`]: names, expressions, places in the text |
//! | compile | [`system::compile()`] | [`system::System`]: flat lists, nothing that changes with time |
//! | look | [`analysis::check`] | mobility, rank with margin, redundant groups |
//! | run | [`analysis::certify`] | [`analysis::Trajectory`] and [`analysis::Report`], accuracy included |
//! |  | [`analysis::simulate`] | the same without an estimate of the accuracy |
//!
//! Below them, [`solve`] has the methods (it knows no bodies) and [`math`] the numbers. [`catalogue`] lists what exists.

pub mod catalogue;
mod error;
pub mod schema;

pub use error::Error;
pub use sarrus_analysis as analysis;
pub use sarrus_io as io;
pub use sarrus_math as math;
pub use sarrus_model as model;
pub use sarrus_solve as solve;
pub use sarrus_system as system;

use sarrus_analysis::{Outcome, Simulate, certify};
use sarrus_io::LoadOptions;
use sarrus_model::{Failure, Model};
use std::path::Path;
use std::sync::Arc;

/// Describes what most programs need.
pub mod prelude {
    pub use crate::analysis::{
        Outcome, Report, RunOverrides, Simulate, Status, Trajectory, certify, check, simulate,
    };
    pub use crate::io::{LoadOptions, load, load_str};
    pub use crate::model::Model;
    pub use crate::system::{System, compile};
}

/// Loads, compiles and runs a model file.
pub fn run(path: impl AsRef<Path>, request: &Simulate) -> Result<Outcome, Error> {
    run_model(sarrus_io::load(path, &LoadOptions::default())?, request)
}

/// Loads, compiles and runs a model given as text; `name` is shown in errors.
pub fn run_str(name: &str, text: &str, request: &Simulate) -> Result<Outcome, Error> {
    run_model(sarrus_io::load_str(name, text, &LoadOptions::default())?, request)
}

fn run_model(model: Model, request: &Simulate) -> Result<Outcome, Error> {
    let system = match sarrus_system::compile(&model) {
        Ok(system) => Arc::new(system),
        Err(diagnostics) => return Err(Failure { diagnostics, sources: model.sources }.into()),
    };
    match certify(&model, &system, request, &mut ()) {
        Ok(outcome) => Ok(outcome),
        Err(error) => Err(Failure { diagnostics: error.diagnostics(), sources: model.sources }.into()),
    }
}
