//! Errors as Python exceptions; the classes are Python, in `sarrus.errors`.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};
use sarrus::analysis::SetupError;
use sarrus::model::{Failure, Model};
use sarrus_cli::results::ResultsError;

static MODEL_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static COLUMN_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static RUN_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A model that cannot be used: the text of the command line, and each finding with its place.
pub fn model_error(py: Python<'_>, failure: &Failure) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let all = PyList::empty(py);
        for d in &failure.diagnostics {
            let entry = PyDict::new(py);
            entry.set_item("message", &d.message)?;
            entry.set_item("hint", &d.hint)?;
            let columns = d.at.and_then(|at| {
                Some((failure.sources.get(at.file)?.name.clone(), failure.sources.line_column(at)?))
            });
            let (file, line, column) = match columns {
                Some((file, (line, column))) => (Some(file), Some(line), Some(column)),
                None => (None, None, None),
            };
            entry.set_item("file", file)?;
            entry.set_item("line", line)?;
            entry.set_item("column", column)?;
            entry.set_item("notes", &d.notes)?;
            all.append(entry)?;
        }
        let class = MODEL_ERROR.import(py, "sarrus.errors", "ModelError")?;
        Ok(PyErr::from_value(class.call1((failure.render(), all))?))
    };
    made().unwrap_or_else(|error| error)
}

/// An analysis that cannot begin, or that finds nothing.
pub fn setup_error(py: Python<'_>, error: &SetupError, model: &Model) -> PyErr {
    let failure = Failure { diagnostics: error.diagnostics(), sources: model.sources.clone() };
    // that there is no rest is no fault of the input
    if matches!(error, SetupError::NoEquilibrium { .. }) {
        return run_error(py, failure.render());
    }
    model_error(py, &failure)
}

/// A column that does not exist.
pub fn column_error(py: Python<'_>, message: String) -> PyErr {
    let made =
        COLUMN_ERROR.import(py, "sarrus.errors", "ColumnError").and_then(|class| class.call1((message,)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Something that was begun and failed.
pub fn run_error(py: Python<'_>, message: String) -> PyErr {
    let made = RUN_ERROR.import(py, "sarrus.errors", "RunError").and_then(|class| class.call1((message,)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Files that cannot be written.
pub fn results_error(error: &ResultsError) -> PyErr {
    PyOSError::new_err(error.to_string())
}
