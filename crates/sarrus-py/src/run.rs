//! What a run leaves behind.

use crate::errors::{results_error, setup_error};
use crate::model::Opened;
use crate::table::{Trajectories, TrajectoryTable};
use crate::watch::PyWatcher;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sarrus::analysis::{Outcome, Settings, SetupError, Simulate, Status, certify};
use sarrus_cli::commands::run::write;
use sarrus_cli::results::{Results, ResultsError};
use sarrus_cli::showing::Showing;
use sarrus_view::motion::PoseTable;
use sarrus_view::{Live, ServerOptions, Viewer};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What a run leaves behind.
#[pyclass(frozen, name = "Run", module = "sarrus._sarrus")]
pub struct PyRun {
    opened: Arc<Opened>,
    request: Simulate,
    outcome: Arc<Outcome>,
    /// What is needed to draw it: made when it is first drawn, or before the run where columns do not show where bodies are.
    showing: Mutex<Option<Showing>>,
}

/// Why something cannot be drawn or written.
enum OutputError {
    Setup(SetupError),
    Results(ResultsError),
    NotRecorded,
}

impl PyRun {
    /// Runs a model.
    pub fn make(
        py: Python<'_>,
        opened: &Arc<Opened>,
        request: Simulate,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<(PyRun, Option<PyErr>)> {
        drop(opened.raised());
        let mut watcher = PyWatcher::new(callback);
        let Opened { model, system, .. } = &**opened;
        let done = py.detach(|| {
            let settings = Settings::read(model, &request.overrides)?;
            // where columns tell all that is drawn, no one has to listen
            let reports = settings.columns == ["*"] && system.contacts.is_empty();
            if reports || !request.record {
                return Ok((certify(model, system, &request, &mut watcher)?, None));
            }
            let mut showing = Showing::new(model, system, &request.overrides).map_err(SetupError::Model)?;
            let outcome =
                showing.listening(true, &mut watcher, |watch| certify(model, system, &request, watch))?;
            showing.finish(&outcome);
            Ok((outcome, Some(showing)))
        });
        match done {
            Ok((outcome, showing)) => {
                let (outcome, showing) = (Arc::new(outcome), Mutex::new(showing));
                let failed = outcome.report.status == Status::Failed;
                let raised = watcher.raised.or_else(|| opened.raised().filter(|_| failed));
                Ok((PyRun { opened: opened.clone(), request, outcome, showing }, raised))
            }
            // what was raised on the way comes before what came of it
            Err(error) => {
                let raised = watcher.raised.or_else(|| opened.raised());
                Err(raised.unwrap_or_else(|| setup_error(py, &error, model)))
            }
        }
    }

    /// What a simulation leaves behind.
    pub fn of(opened: &Arc<Opened>, request: Simulate, outcome: Outcome) -> PyRun {
        let (opened, outcome, showing) = (opened.clone(), Arc::new(outcome), Mutex::new(None));
        PyRun { opened, request, outcome, showing }
    }

    /// Does something with all that is needed to draw.
    fn shown<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Showing, &PoseTable) -> Result<T, OutputError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut slot = self.showing.lock().unwrap_or_else(PoisonError::into_inner);
            let showing = match &mut *slot {
                Some(showing) => showing,
                none => {
                    let Opened { model, system, .. } = &*self.opened;
                    let made = Showing::new(model, system, &self.request.overrides);
                    let showing = none.insert(made.map_err(|d| OutputError::Setup(SetupError::Model(d)))?);
                    showing.finish(&self.outcome);
                    showing
                }
            };
            let motion = showing.motion(&self.outcome).filter(|motion| !motion.table.is_empty());
            work(showing, &motion.ok_or(OutputError::NotRecorded)?)
        });
        done.map_err(|wrong| self.error(py, &wrong))
    }

    fn error(&self, py: Python<'_>, wrong: &OutputError) -> PyErr {
        match wrong {
            OutputError::Setup(error) => setup_error(py, error, &self.opened.model),
            OutputError::Results(error) => results_error(error),
            OutputError::NotRecorded => {
                PyValueError::new_err("the run has no samples to draw\nhint: take them, with `record=True`")
            }
        }
    }
}

#[pymethods]
impl PyRun {
    /// `completed`, `stopped` or `failed`.
    #[getter]
    fn status(&self) -> &'static str {
        match self.outcome.report.status {
            Status::Completed => "completed",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
        }
    }

    /// Why it ended.
    #[getter]
    fn reason(&self) -> &str {
        &self.outcome.report.reason
    }

    /// `report.json`.
    fn report(&self, py: Python<'_>) -> String {
        py.detach(|| self.outcome.report.to_json())
    }

    /// The samples.
    fn columns(&self) -> TrajectoryTable {
        TrajectoryTable { trajectory: Trajectories::Run(self.outcome.clone()) }
    }

    /// Rows at events, impacts and switches and of the largest contact forces; the side of each, and what happens there.
    fn instants(&self) -> (TrajectoryTable, Vec<&'static str>, Vec<String>) {
        let log = &self.outcome.instants.log;
        let columns = TrajectoryTable { trajectory: Trajectories::Instants(self.outcome.clone()) };
        (
            columns,
            log.iter().map(|(side, _)| side.name()).collect(),
            log.iter().map(|(_, what)| what.clone()).collect(),
        )
    }

    /// Writes the files of `sarrus run --out`, and returns their names.
    fn save(&self, py: Python<'_>, dir: PathBuf, html: bool) -> PyResult<Vec<String>> {
        let Opened { model, .. } = &*self.opened;
        let written = |showing: Option<&Showing>| {
            let results = Results::create(&dir).map_err(OutputError::Results)?;
            write(&results, model, &self.request, &self.outcome, showing, showing.is_some())
                .map_err(OutputError::Results)
        };
        if html && !self.outcome.trajectory.is_empty() {
            self.shown(py, |showing, _| written(Some(showing)))
        } else {
            py.detach(|| written(None)).map_err(|wrong| self.error(py, &wrong))
        }
    }

    /// `report.html`.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.shown(py, |showing, motion| Ok(showing.html(motion)))
    }

    /// The animation as binary glTF.
    fn gltf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.shown(py, |showing, motion| Ok(showing.gltf(motion)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Starts the viewer, which ends with the program; returns its address.
    fn view(&self, py: Python<'_>, host: String, port: u16, open: bool) -> PyResult<String> {
        let name = self.opened.model.name.clone();
        let live = self.shown(py, |showing, motion| Ok(Live::finished(&showing.scene, motion)))?;
        let started = py.detach(|| Viewer::start(&ServerOptions { host, port }, vec![(name, live)]));
        let viewer = started.map_err(|error| PyOSError::new_err(error.to_string()))?;
        if open {
            py.detach(|| viewer.open());
        }
        Ok(viewer.url().to_string())
    }
}
