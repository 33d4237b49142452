//! Simulations that continue step by step.
//!
//! Every call takes the lock of the simulation and lets go of the interpreter where it computes. A function of the model that calls back
//! into its own simulation would wait for itself, so the lock is tried, not waited for.

use crate::errors::{column_error, model_error, run_error};
use crate::model::Opened;
use crate::options::overrides;
use crate::run::PyRun;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sarrus::analysis::equations::{Triplets, jacobian, mass_matrix};
use sarrus::analysis::{
    Outcome, Proceed, Progress, Sensor, Simulate, Simulation as Core, SimulationError, Watch,
};
use sarrus::model::Failure;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Time between two checks signals.
const POLL: Duration = Duration::from_millis(50);

type RaisedError = Arc<Mutex<Option<PyErr>>>;
/// A matrix by its entries: size, rows, columns, values.
type MatrixEntries<'py> =
    ((usize, usize), Bound<'py, PyArray1<usize>>, Bound<'py, PyArray1<usize>>, Bound<'py, PyArray1<f64>>);

/// A simulation that continues when it is reported to.
#[pyclass(frozen, name = "Simulation", module = "sarrus._sarrus")]
pub struct PySimulation(Mutex<SimulationInner>);

struct SimulationInner {
    core: Core,
    opened: Arc<Opened>,
    request: Simulate,
    sensors: HashMap<Vec<String>, Sensor>,
    index_of: HashMap<String, usize>,
    raised: RaisedError,
}

/// Checks signals now and then.
struct Signals {
    last: Instant,
    raised: RaisedError,
}

impl Watch for Signals {
    fn step(&mut self, _: &Progress) -> Proceed {
        if self.last.elapsed() < POLL {
            return Proceed::Continue;
        }
        self.last = Instant::now();
        match Python::try_attach(|py| py.check_signals()) {
            Some(Ok(())) => Proceed::Continue,
            Some(Err(error)) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Proceed::Stop
            }
            // the interpreter is gone
            None => Proceed::Stop,
        }
    }
}

fn signals(raised: &RaisedError) -> Box<dyn Watch> {
    Box::new(Signals { last: Instant::now(), raised: raised.clone() })
}

impl SimulationInner {
    fn error(&self, py: Python<'_>, error: &SimulationError) -> PyErr {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(raised) = raised.or_else(|| self.opened.raised()) {
            return raised;
        }
        let text = match error.hint() {
            Some(hint) => format!("{error}\nhint: {hint}"),
            None => error.to_string(),
        };
        match error {
            SimulationError::Setup(_) => {
                let sources = self.opened.model.sources.clone();
                model_error(py, &Failure { diagnostics: error.diagnostics(), sources })
            }
            SimulationError::Unknown { what: "column", .. } => column_error(py, text),
            SimulationError::Unknown { .. } => PyKeyError::new_err(text),
            SimulationError::Over(_)
            | SimulationError::Failed(_)
            | SimulationError::Solve(_)
            | SimulationError::Interrupted { .. } => run_error(py, text),
            _ => PyValueError::new_err(text),
        }
    }
}

impl PySimulation {
    /// Begins one.
    pub fn make(
        py: Python<'_>,
        opened: &Arc<Opened>,
        options: &Bound<'_, PyDict>,
        record: bool,
    ) -> PyResult<PySimulation> {
        let request = Simulate { overrides: overrides(options)?, record };
        drop(opened.raised());
        let raised = RaisedError::default();
        let begun =
            py.detach(|| Core::watched(opened.model.clone(), &opened.system, &request, signals(&raised)));
        match begun {
            Ok(core) => {
                let (sensors, index_of) = (HashMap::new(), HashMap::new());
                let inner =
                    SimulationInner { core, opened: opened.clone(), request, sensors, index_of, raised };
                Ok(PySimulation(Mutex::new(inner)))
            }
            Err(error) => {
                let sources = opened.model.sources.clone();
                let callback = || model_error(py, &Failure { diagnostics: error.diagnostics(), sources });
                let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(raised.or_else(|| opened.raised()).unwrap_or_else(callback))
            }
        }
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, SimulationInner>> {
        match self.0.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(inner)) => Ok(inner.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "the simulation is busy\nhint: a function of the model, or another thread, calls it while it computes; take a copy",
            )),
        }
    }

    /// Computes without the interpreter.
    fn compute<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Core) -> Result<T, SimulationError> + Send,
    ) -> PyResult<T> {
        let mut inner = self.lock()?;
        // what earlier calls have raised is none of this one's
        drop(inner.opened.raised());
        let core = &mut inner.core;
        let done = py.detach(|| work(core));
        done.map_err(|error| inner.error(py, &error))
    }
}

fn dense<'py>(py: Python<'py>, all: &Triplets, values: Vec<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    values.into_pyarray(py).reshape([all.size.0, all.size.1])
}

fn sparse<'py>(py: Python<'py>, all: Triplets) -> MatrixEntries<'py> {
    (all.size, all.rows.into_pyarray(py), all.cols.into_pyarray(py), all.values.into_pyarray(py))
}

#[pymethods]
impl PySimulation {
    /// Continues by `n` times `dt`.
    fn step(&self, py: Python<'_>, n: i64) -> PyResult<()> {
        if n < 0 {
            return Err(PyValueError::new_err("the number of steps must not be negative"));
        }
        self.compute(py, |core| {
            for _ in 0..n {
                core.step()?;
                if core.over().is_some() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Continues to `t`.
    fn advance(&self, py: Python<'_>, t: f64) -> PyResult<()> {
        self.compute(py, |core| core.advance(t))
    }

    /// The present time.
    #[getter]
    fn t(&self) -> PyResult<f64> {
        Ok(self.lock()?.core.t())
    }

    /// Time that a step covers.
    #[getter]
    fn dt(&self) -> PyResult<f64> {
        Ok(self.lock()?.core.dt())
    }

    /// Sets it.
    #[setter]
    fn set_dt(&self, py: Python<'_>, dt: f64) -> PyResult<()> {
        self.compute(py, |core| core.set_dt(dt))
    }

    /// Why it is over, if it is.
    #[getter]
    fn over(&self) -> PyResult<Option<String>> {
        Ok(self.lock()?.core.over().map(str::to_string))
    }

    /// Positions, velocities and other states.
    #[expect(clippy::type_complexity, reason = "three arrays")]
    fn state<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let inner = self.lock()?;
        let s = inner.core.state();
        let array = |x: &[f64]| PyArray1::from_slice(py, x);
        Ok((array(&s.q), array(&s.v), array(&s.x)))
    }

    /// Replaces positions and velocities; returns whether they were moved onto the constraints.
    fn set_state(
        &self,
        py: Python<'_>,
        q: Option<PyReadonlyArray1<'_, f64>>,
        v: Option<PyReadonlyArray1<'_, f64>>,
        project: bool,
    ) -> PyResult<bool> {
        let [q, v] = [q, v].map(|x| x.map(|x| x.as_array().to_vec()));
        self.compute(py, |core| core.set_state(q.as_deref(), v.as_deref(), project))
    }

    /// Sets a state of a controller.
    fn set(&self, py: Python<'_>, name: &str, value: f64) -> PyResult<()> {
        let mut inner = self.lock()?;
        drop(inner.opened.raised());
        let SimulationInner { core, index_of, .. } = &mut *inner;
        let done = match index_of.get(name) {
            Some(index) => core.set_at(*index, value, name),
            None => core.input_index(name).and_then(|index| {
                index_of.insert(name.into(), index);
                core.set_at(index, value, name)
            }),
        };
        done.map_err(|error| inner.error(py, &error))
    }

    /// A force and a torque from outside.
    fn push(
        &self,
        py: Python<'_>,
        body: &str,
        force: [f64; 3],
        torque: [f64; 3],
        at: Option<[f64; 3]>,
    ) -> PyResult<()> {
        self.compute(py, |core| core.push(body, force, torque, at))
    }

    /// Takes all of them away.
    fn let_go(&self) -> PyResult<()> {
        self.lock()?.core.let_go();
        Ok(())
    }

    /// Back to the start, with other initial values where some are given.
    fn reset(&self, py: Python<'_>, initial: Vec<(String, f64)>) -> PyResult<()> {
        self.compute(py, |core| {
            if initial.is_empty() {
                core.reset();
                return Ok(());
            }
            core.reset_to(&initial)
        })
    }

    /// Another one that continues from here.
    fn copy(&self, py: Python<'_>) -> PyResult<PySimulation> {
        let inner = self.lock()?;
        let raised = RaisedError::default();
        let core = inner.core.copy(signals(&raised)).map_err(|error| inner.error(py, &error))?;
        let (opened, request) = (inner.opened.clone(), inner.request.clone());
        let (sensors, index_of) = (HashMap::new(), inner.index_of.clone());
        Ok(PySimulation(Mutex::new(SimulationInner { core, opened, request, sensors, index_of, raised })))
    }

    /// Columns at the present state.
    fn read<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut inner = self.lock()?;
        drop(inner.opened.raised());
        let SimulationInner { core, sensors, .. } = &mut *inner;
        let mut out = vec![0.0; names.len()];
        let out_ref = &mut out;
        let done = py.detach(move || {
            if let Some(sensor) = sensors.get_mut(&names) {
                return core.read(sensor, out_ref);
            }
            let asked: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut sensor = core.sensor(&asked)?;
            core.read(&mut sensor, out_ref)?;
            sensors.insert(names, sensor);
            Ok(())
        });
        match done {
            Ok(()) => Ok(out.into_pyarray(py)),
            Err(error) => Err(inner.error(py, &error)),
        }
    }

    /// What it leaves behind so far.
    fn result(&self, py: Python<'_>) -> PyResult<PyRun> {
        let mut inner = self.lock()?;
        let SimulationInner { core, .. } = &mut *inner;
        let outcome = py.detach(|| {
            let report = core.report();
            Outcome { trajectory: core.trajectory().clone(), instants: core.instants().clone(), report }
        });
        Ok(PyRun::of(&inner.opened, inner.request.clone(), outcome))
    }

    /// M, whole.
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (all, values) = self.compute(py, |core| {
            let eq = core.equations();
            let all = mass_matrix(core.structure(), &eq);
            let values = all.dense()?;
            Ok((all, values))
        })?;
        dense(py, &all, values)
    }

    /// M by its entries.
    fn mass_entries<'py>(&self, py: Python<'py>) -> PyResult<MatrixEntries<'py>> {
        let all = self.compute(py, |core| {
            let eq = core.equations();
            Ok(mass_matrix(core.structure(), &eq))
        })?;
        Ok(sparse(py, all))
    }

    /// J, whole.
    fn jacobian<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (all, values) = self.compute(py, |core| {
            let eq = core.equations();
            let all = jacobian(core.structure(), &eq);
            let values = all.dense()?;
            Ok((all, values))
        })?;
        dense(py, &all, values)
    }

    /// J by its entries.
    fn jacobian_entries<'py>(&self, py: Python<'py>) -> PyResult<MatrixEntries<'py>> {
        let all = self.compute(py, |core| {
            let eq = core.equations();
            Ok(jacobian(core.structure(), &eq))
        })?;
        Ok(sparse(py, all))
    }

    /// One of the vectors of the equations: `f`, `gamma`, `phi`, `phidot`.
    fn vector<'py>(&self, py: Python<'py>, which: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let eq = self.compute(py, |core| Ok(core.equations()))?;
        let values = match which {
            "f" => eq.f,
            "gamma" => eq.gamma,
            "phi" => eq.phi,
            "phidot" => eq.phidot,
            _ => return Err(PyValueError::new_err(format!("there is no vector `{which}`"))),
        };
        Ok(values.into_pyarray(py))
    }

    /// v̇ and λ.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn accelerations<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let accel = self.compute(py, Core::accelerations)?;
        Ok((accel.vdot.into_pyarray(py), accel.lambda.into_pyarray(py)))
    }

    /// A of small motions, with the displacements and velocities that its numbers stand for.
    #[expect(clippy::type_complexity, reason = "three arrays")]
    fn linearize<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let (linear, nv) = self.compute(py, |core| Ok((core.linearize()?, core.structure().nv)))?;
        let n = linear.size();
        let columns = |all: Vec<Vec<f64>>| -> PyResult<_> {
            let m = all.len();
            let flat: Vec<f64> = all.into_iter().flatten().collect();
            flat.into_pyarray(py).reshape([m, nv])
        };
        let A = linear.A.into_pyarray(py).reshape([n, n])?;
        Ok((A, columns(linear.displacements)?, columns(linear.velocities)?))
    }

    /// The modes about the present state, as JSON and as text.
    fn modes(&self, py: Python<'_>, all: bool) -> PyResult<(String, String)> {
        let report = self.compute(py, Core::modes)?;
        Ok((
            report.to_json(),
            sarrus_cli::linear_text::modes(&report, all, sarrus_cli::style::Painter::PLAIN),
        ))
    }

    /// Efforts at coordinates that give them accelerations, and v̇.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        wanted: Vec<(String, f64)>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let (efforts, vdot) = self.compute(py, |core| {
            let wanted: Vec<(&str, f64)> = wanted.iter().map(|(name, a)| (name.as_str(), *a)).collect();
            core.inverse_dynamics(&wanted)
        })?;
        Ok((efforts.into_pyarray(py), vdot.into_pyarray(py)))
    }

    /// What each velocity is.
    fn velocity_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.core.velocity_names())
    }

    /// What each row of J belongs to.
    fn row_names(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.core.row_names())
    }
}
