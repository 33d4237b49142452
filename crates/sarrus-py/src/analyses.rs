//! Comparisons and reproductions, as JSON, texts and figures.

use crate::errors::{run_error, setup_error};
use crate::model::Opened;
use crate::watch::PyWatcher;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sarrus::analysis::{OperatingPoint, compare};
use sarrus::model::suggest::did_you_mean;
use sarrus_cli::args::{CompareArgs, ModelArgs};
use sarrus_cli::commands::compare::{FlagError, matrix};
use sarrus_cli::compare_figures::figures;
use sarrus_cli::style::Painter;
use sarrus_cli::{compare_table, reproduce_text};
use sarrus_papers::{Effort, PAPERS, find};
use std::path::PathBuf;

/// Findings as JSON and as text.
pub type AnalysisResult = (String, String);
/// A comparison as JSON, as comma-separated values and as text, and its figures as SVG.
pub type Compared = (String, String, String, Vec<(String, String)>);
/// A reproduction as JSON, as text and as Markdown, and its figures as SVG.
type Reproduced = (String, String, String, Vec<(String, String)>);

/// Characters in a line of text.
pub const WIDTH: usize = 100;

/// About which state a linear analysis is.
pub fn about(text: &str) -> PyResult<OperatingPoint> {
    text.parse().map_err(|error: sarrus::analysis::AboutError| PyValueError::new_err(error.to_string()))
}

/// Runs many methods side by side, with the options of `sarrus compare`.
pub fn compared(
    py: Python<'_>,
    opened: &Opened,
    options: &Bound<'_, PyDict>,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Compared, Option<PyErr>)> {
    let Opened { model, system, .. } = opened;
    let args = compare_args(options)?;
    let matrix = match matrix(&args, model) {
        Ok(matrix) => matrix,
        Err(FlagError::Setup(error)) => return Err(setup_error(py, &error, model)),
        Err(FlagError::List(message)) => return Err(PyValueError::new_err(message)),
    };
    let mut watcher = PyWatcher::new(callback);
    let found = py.detach(|| compare::run(model, system, &matrix, &mut watcher));
    match found {
        Ok(found) => {
            let drawn = figures(&found).into_iter().map(|(name, figure)| (name, figure.svg()));
            let texts = (found.to_json(), found.to_csv(), compare_table::text(&found, Painter::PLAIN));
            Ok(((texts.0, texts.1, texts.2, drawn.collect()), watcher.raised))
        }
        Err(error) => Err(watcher.raised.unwrap_or_else(|| setup_error(py, &error, model))),
    }
}

/// The flags of `sarrus compare`; the Python package gives all of them.
fn compare_args(options: &Bound<'_, PyDict>) -> PyResult<CompareArgs> {
    let get = |key: &str| options.as_any().get_item(key);
    Ok(CompareArgs {
        model: ModelArgs { model: PathBuf::new(), set: Vec::new(), case: None },
        formulations: get("formulations")?.extract()?,
        stabilizations: get("stabilizations")?.extract()?,
        integrators: get("integrators")?.extract()?,
        rtols: get("rtols")?.extract()?,
        steps: get("steps")?.extract()?,
        t_end: get("t_end")?.extract()?,
        reference_rtol: get("reference_rtol")?.extract()?,
        wall_limit: get("wall_limit")?.extract()?,
        dense_limit: get("dense_limit")?.extract()?,
        repeat: get("repeat")?.extract()?,
        jobs: get("jobs")?.extract()?,
        out: None,
        json: false,
        csv: false,
    })
}

/// Name, title and scope of every paper that can be reproduced.
#[pyfunction]
pub fn papers() -> Vec<(&'static str, &'static str, &'static str)> {
    PAPERS.iter().map(|p| (p.name, p.title, p.scope)).collect()
}

/// Runs the examples of a paper again.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    paper: &str,
    quick: bool,
    callback: Option<Py<PyAny>>,
) -> PyResult<Reproduced> {
    let Some(found) = find(paper) else {
        let names = || PAPERS.iter().map(|p| p.name);
        let known = || format!("one of: {}", names().collect::<Vec<_>>().join(" "));
        let hint = did_you_mean(paper, names()).unwrap_or_else(known);
        return Err(PyValueError::new_err(format!("there is no reproduction of `{paper}`\nhint: {hint}")));
    };
    let effort = if quick { Effort::Quick } else { Effort::Full };
    let mut watcher = PyWatcher::new(callback);
    let done = py.detach(|| (found.run)(effort, &mut watcher));
    match (watcher.raised, done) {
        (Some(raised), _) => Err(raised),
        (None, Err(error)) => Err(run_error(py, format!("{}: {error}", found.name))),
        (None, Ok(r)) => {
            let json = serde_json::to_string(&r).unwrap_or_default();
            let drawn = r.figures.iter().map(|(name, figure)| (name.clone(), figure.svg())).collect();
            Ok((json, reproduce_text::text(&r, Painter::PLAIN, WIDTH), r.markdown(), drawn))
        }
    }
}
