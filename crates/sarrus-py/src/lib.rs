//! The compiled part of the Python package `sarrus`: conversions, no mechanics.
//!
//! A model is loaded and compiled as by the command line (`model`), and run with the interpreter released ([`py.detach`]);
//! what is computed comes back as NumPy arrays (`table`) and as the same JSON and texts that the command line prints. What
//! users see (names, defaults, docstrings) is Python, in `python/sarrus`.
//!
//! [`py.detach`]: pyo3::Python::detach

mod analyses;
mod catalogue;
mod errors;
mod functions;
mod model;
mod options;
mod run;
mod simulation;
mod table;
mod watch;

use pyo3::prelude::*;
use std::ffi::OsString;

/// The compiled part of the package.
#[pymodule]
fn _sarrus(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("VERSION", sarrus::analysis::VERSION)?;
    m.add_class::<model::Loaded>()?;
    m.add_class::<run::PyRun>()?;
    m.add_class::<simulation::PySimulation>()?;
    m.add_class::<table::TrajectoryTable>()?;
    m.add_function(wrap_pyfunction!(model::load, m)?)?;
    m.add_function(wrap_pyfunction!(model::loads, m)?)?;
    m.add_function(wrap_pyfunction!(model::examples, m)?)?;
    m.add_function(wrap_pyfunction!(catalogue::families, m)?)?;
    m.add_function(wrap_pyfunction!(catalogue::tables, m)?)?;
    m.add_function(wrap_pyfunction!(catalogue::kinds, m)?)?;
    m.add_function(wrap_pyfunction!(catalogue::schema, m)?)?;
    m.add_function(wrap_pyfunction!(catalogue::did_you_mean, m)?)?;
    m.add_function(wrap_pyfunction!(analyses::reproduce, m)?)?;
    m.add_function(wrap_pyfunction!(analyses::papers, m)?)?;
    m.add_function(wrap_pyfunction!(command, m)?)?;
    Ok(())
}

/// The command `sarrus` with these arguments, its own name first; returns the exit code.
#[pyfunction]
fn command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| sarrus_cli::main(args) as u8)
}
