//! Runs as Python sees them: now and then signals are checked, and an observer is given the progress.
//!
//! The interpreter is taken for that alone, every [`POLL`]; in between a run needs nothing of it. What is raised there, by
//! Ctrl-C or by an observer, stops the run and is kept for its end.

use pyo3::prelude::*;
use sarrus::analysis::{Proceed, Progress, RunPlan, Watch, compare};
use std::time::{Duration, Instant};

/// Time between two looks.
const POLL: Duration = Duration::from_millis(50);

/// Watches a run for Python.
pub struct PyWatcher {
    callback: Option<Py<PyAny>>,
    last: Instant,
    span: (f64, f64),
    /// What was raised on the way.
    pub raised: Option<PyErr>,
}

impl PyWatcher {
    /// `callback` is called with a fraction and a text.
    pub fn new(callback: Option<Py<PyAny>>) -> PyWatcher {
        PyWatcher { callback, last: Instant::now(), span: (0.0, 1.0), raised: None }
    }

    /// Takes the interpreter, where it is time to.
    fn poll(&mut self, fraction: f64, text: impl FnOnce() -> String) -> Proceed {
        if self.raised.is_some() {
            return Proceed::Stop;
        }
        if self.last.elapsed() < POLL {
            return Proceed::Continue;
        }
        self.last = Instant::now();
        let callback = &self.callback;
        let looked = Python::try_attach(|py| {
            py.check_signals()?;
            if let Some(callback) = callback {
                callback.call1(py, (fraction, text()))?;
            }
            PyResult::Ok(())
        });
        match looked {
            Some(Ok(())) => Proceed::Continue,
            Some(Err(error)) => {
                self.raised = Some(error);
                Proceed::Stop
            }
            // the interpreter is gone
            None => Proceed::Stop,
        }
    }
}

impl Watch for PyWatcher {
    fn begin(&mut self, plan: &RunPlan) {
        self.span = (plan.settings.t_start, plan.settings.t_end);
    }

    fn step(&mut self, p: &Progress) -> Proceed {
        let fraction = (p.t - self.span.0) / (self.span.1 - self.span.0);
        self.poll(fraction.clamp(0.0, 1.0), || format!("t = {:.4} s, {} steps", p.t, p.steps))
    }
}

impl compare::ComparisonWatch for PyWatcher {
    fn progress(&mut self, p: &compare::ComparisonProgress) -> Proceed {
        let what = match p.phase {
            compare::Phase::Reference => "reference",
            compare::Phase::Runs => "runs",
            compare::Phase::Timing => "times",
        };
        self.poll(p.fraction, || format!("{what}: {} of {}", p.done, p.total))
    }
}

impl sarrus_papers::Progress for PyWatcher {
    fn at(&mut self, done: usize, total: usize, what: &str) -> bool {
        self.poll(done as f64 / total.max(1) as f64, || what.to_string()) == Proceed::Continue
    }
}
