//! Samples as columns: one block of memory that NumPy owns, a row of it per column.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use sarrus::analysis::Trajectory;
use std::sync::Arc;

/// Rows and columns that are turned at once, so that both fit into the cache.
const TILE: usize = 32;

/// Names, units and samples of a trajectory.
#[pyclass(frozen, name = "Columns", module = "sarrus._sarrus")]
pub struct TrajectoryTable {
    /// Held by what it is of, or by this alone.
    pub trajectory: Trajectories,
}

/// Where a trajectory lives.
pub enum Trajectories {
    /// Part of a run.
    Run(Arc<sarrus::analysis::Outcome>),
    /// Rows at instants of a run.
    Instants(Arc<sarrus::analysis::Outcome>),
    /// On its own.
    Own(Trajectory),
}

impl TrajectoryTable {
    fn get(&self) -> &Trajectory {
        match &self.trajectory {
            Trajectories::Run(outcome) => &outcome.trajectory,
            Trajectories::Instants(outcome) => &outcome.instants.rows,
            Trajectories::Own(trajectory) => trajectory,
        }
    }
}

#[pymethods]
impl TrajectoryTable {
    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.get().names().to_vec()
    }

    /// Units of the columns.
    #[getter]
    fn units(&self) -> Vec<&'static str> {
        self.get().units().to_vec()
    }

    /// All samples, a row of the block per column; made anew by each call, read-only.
    fn block<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let trajectory = self.get();
        let (width, len) = (trajectory.width(), trajectory.len());
        let data = py.detach(|| columns_first(trajectory));
        let flat = PyArray1::from_vec(py, data);
        flat.call_method1("setflags", (false,))?;
        flat.reshape([width, len])
    }

    /// Comma-separated values, as `trajectory.csv` has them.
    fn csv(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = Vec::new();
        py.detach(|| self.get().write_csv(&mut text))?;
        Ok(String::from_utf8(text)?)
    }

    fn __len__(&self) -> usize {
        self.get().len()
    }
}

/// The samples column by column.
fn columns_first(trajectory: &Trajectory) -> Vec<f64> {
    let (width, len) = (trajectory.width(), trajectory.len());
    let mut data = vec![0.0; width * len];
    for first in (0..len).step_by(TILE) {
        for left in (0..width).step_by(TILE) {
            for i in first..(first + TILE).min(len) {
                let Some(row) = trajectory.row(i) else { continue };
                for j in left..(left + TILE).min(width) {
                    data[j * len + i] = row[j];
                }
            }
        }
    }
    data
}
