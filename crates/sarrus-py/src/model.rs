//! Models that are loaded and compiled, and what can be asked of them.

use crate::analyses::{self, AnalysisResult, Compared};
use crate::errors::{model_error, setup_error};
use crate::functions::{Handed, RaisedErrors, functions};
use crate::options::overrides;
use crate::run::PyRun;
use crate::simulation::PySimulation;
use crate::table::{Trajectories, TrajectoryTable};
use crate::watch::PyWatcher;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sarrus::analysis::{
    CheckOptions, EquilibriumOptions, SetupError, Simulate, check_with, equilibrium_with, modes_with,
    prescribed,
};
use sarrus::io::{LoadOptions, write_resolved};
use sarrus::model::{Failure, Model};
use sarrus::system::{System, compile};
use sarrus_cli::style::Painter;
use sarrus_cli::{check_text, linear_text};
use std::path::PathBuf;
use std::sync::Arc;

/// A model as it is said, and as it is computed with.
pub struct Opened {
    /// As it is said.
    pub model: Arc<Model>,
    /// Compiled.
    pub system: Arc<System>,
    /// What its functions have raised.
    raised: RaisedErrors,
}

impl Opened {
    /// What a function of the model has raised on this thread, once.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.take_error()
    }

    /// Why an analysis could not be made: what a function has raised, or what was found.
    fn wrong(&self, py: Python<'_>, error: &SetupError) -> PyErr {
        self.raised().unwrap_or_else(|| setup_error(py, error, &self.model))
    }
}

/// A model that is ready to run.
#[pyclass(frozen, module = "sarrus._sarrus")]
pub struct Loaded(Arc<Opened>);

/// Loads a file and compiles it.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<(String, String)>,
    case: Option<String>,
    functions: Vec<Handed>,
) -> PyResult<Loaded> {
    opened(py, |options| sarrus::io::load(&path, options), set, case, functions)
}

/// Loads a text and compiles it.
#[pyfunction]
pub fn loads(
    py: Python<'_>,
    name: &str,
    text: &str,
    set: Vec<(String, String)>,
    case: Option<String>,
    functions: Vec<Handed>,
) -> PyResult<Loaded> {
    opened(py, |options| sarrus::io::load_str(name, text, options), set, case, functions)
}

/// Name and text of every model that comes with the program.
#[pyfunction]
pub fn examples() -> Vec<(&'static str, &'static str)> {
    sarrus_zoo::MODELS.to_vec()
}

fn opened(
    py: Python<'_>,
    load: impl FnOnce(&LoadOptions) -> Result<Model, Failure> + Send,
    set: Vec<(String, String)>,
    case: Option<String>,
    handed: Vec<Handed>,
) -> PyResult<Loaded> {
    let (functions, raised) = functions(handed);
    // what is read is kept, so that results can be saved with the model
    let options = LoadOptions { set, case, record: true, functions };
    let done = py.detach(|| {
        let model = load(&options)?;
        match compile(&model) {
            Ok(system) => Ok((Arc::new(model), Arc::new(system))),
            Err(diagnostics) => Err(Failure { diagnostics, sources: model.sources }),
        }
    });
    match done {
        Ok((model, system)) => Ok(Loaded(Arc::new(Opened { model, system, raised }))),
        Err(failure) => Err(raised.take_error().unwrap_or_else(|| model_error(py, &failure))),
    }
}

impl Loaded {
    /// The model, for a call that begins: what earlier ones have raised is none of its own.
    fn fresh(&self) -> &Opened {
        drop(self.0.raised());
        &self.0
    }
}

#[pymethods]
impl Loaded {
    /// Name of the model.
    #[getter]
    fn name(&self) -> &str {
        &self.0.model.name
    }

    /// Name of the case that was taken.
    #[getter]
    fn case(&self) -> Option<&str> {
        self.0.model.case.as_deref()
    }

    /// The model with every expression of the loading replaced by its value, as `model.toml` of results has it.
    fn resolved(&self) -> String {
        write_resolved(&self.0.model, &[])
    }

    /// Checks the model: findings as JSON and as text, and what was raised on the way.
    fn check(&self, py: Python<'_>, along: bool, distribute: bool, all: bool) -> PyResult<AnalysisResult> {
        let opened = self.fresh();
        let mut watcher = PyWatcher::new(None);
        let options = CheckOptions { along, distribute };
        let found = py.detach(|| check_with(&opened.model, &opened.system, options, &mut watcher));
        match (watcher.raised, found) {
            (Some(raised), _) => Err(raised),
            (None, Err(error)) => Err(opened.wrong(py, &error)),
            (None, Ok(report)) => {
                let text = check_text::check_with_notes(&report, all, Painter::PLAIN, analyses::WIDTH);
                Ok((report.to_json(), text))
            }
        }
    }

    /// Runs the model: what it leaves behind, and what was raised on the way.
    fn run(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        record: bool,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<(PyRun, Option<PyErr>)> {
        let request = Simulate { overrides: overrides(options)?, record };
        PyRun::make(py, &self.0, request, callback)
    }

    /// Begins a simulation that continues step by step.
    fn simulation(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        record: bool,
    ) -> PyResult<PySimulation> {
        PySimulation::make(py, &self.0, options, record)
    }

    /// How the model moves in the small, as JSON and as text.
    fn modes(&self, py: Python<'_>, about: &str, all: bool) -> PyResult<AnalysisResult> {
        let opened = self.fresh();
        let about = analyses::about(about)?;
        let found = py.detach(|| modes_with(&opened.model, &opened.system, about, &mut |_| {}));
        match found {
            Ok(report) => Ok((report.to_json(), linear_text::modes(&report, all, Painter::PLAIN))),
            Err(error) => Err(opened.wrong(py, &error)),
        }
    }

    /// Where the model comes to rest, as JSON and as text, with a row per part of the loads.
    fn equilibrium(
        &self,
        py: Python<'_>,
        load_steps: Option<u32>,
    ) -> PyResult<(AnalysisResult, TrajectoryTable)> {
        let opened = self.fresh();
        let options = EquilibriumOptions { load_steps };
        let found = py.detach(|| equilibrium_with(&opened.model, &opened.system, &options, &mut |_| {}));
        match found {
            Ok(found) => {
                let text = linear_text::equilibrium(&found.report, &opened.system, Painter::PLAIN);
                let columns = TrajectoryTable { trajectory: Trajectories::Own(found.steps) };
                Ok(((found.report.to_json(), text), columns))
            }
            Err(error) => Err(opened.wrong(py, &error)),
        }
    }

    /// The motion that drivers prescribe, as JSON and as text, with its samples.
    fn inverse(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<(AnalysisResult, TrajectoryTable)> {
        let opened = self.fresh();
        let over = overrides(options)?;
        match py.detach(|| prescribed(&opened.model, &opened.system, &over)) {
            Ok(found) => {
                let text = linear_text::inverse(&found.report, Painter::PLAIN);
                let columns = TrajectoryTable { trajectory: Trajectories::Own(found.trajectory) };
                Ok(((found.report.to_json(), text), columns))
            }
            Err(error) => Err(opened.wrong(py, &error)),
        }
    }

    /// Runs many methods side by side.
    fn compare(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<(Compared, Option<PyErr>)> {
        analyses::compared(py, &self.0, options, callback)
    }
}
