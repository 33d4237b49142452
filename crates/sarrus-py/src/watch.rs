//! Runs as Python sees them: now and then signals are looked at, and somebody is told how far it is.
//!
//! The interpreter is taken for that alone, every [`LOOK`]; in between a run needs nothing of it. What is raised there, by
//! Ctrl-C or by who was told, stops the run and is kept for its end.

use pyo3::prelude::*;
use sarrus::analysis::{Flow, Plan, Progress, Watch, compare};
use std::time::{Duration, Instant};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Watches a run for Python.
pub struct Watcher {
    told: Option<Py<PyAny>>,
    last: Instant,
    span: (f64, f64),
    /// What was raised on the way.
    pub raised: Option<PyErr>,
}

impl Watcher {
    /// `told` is called with a fraction and a text.
    pub fn new(told: Option<Py<PyAny>>) -> Watcher {
        Watcher { told, last: Instant::now(), span: (0.0, 1.0), raised: None }
    }

    /// Takes the interpreter, where it is time to.
    fn look(&mut self, fraction: f64, text: impl FnOnce() -> String) -> Flow {
        if self.raised.is_some() {
            return Flow::Stop;
        }
        if self.last.elapsed() < LOOK {
            return Flow::Continue;
        }
        self.last = Instant::now();
        let told = &self.told;
        let looked = Python::try_attach(|py| {
            py.check_signals()?;
            if let Some(told) = told {
                told.call1(py, (fraction, text()))?;
            }
            PyResult::Ok(())
        });
        match looked {
            Some(Ok(())) => Flow::Continue,
            Some(Err(error)) => {
                self.raised = Some(error);
                Flow::Stop
            }
            // the interpreter is gone
            None => Flow::Stop,
        }
    }
}

impl Watch for Watcher {
    fn begin(&mut self, plan: &Plan) {
        self.span = (plan.settings.t_start, plan.settings.t_end);
    }

    fn step(&mut self, p: &Progress) -> Flow {
        let fraction = (p.t - self.span.0) / (self.span.1 - self.span.0);
        self.look(fraction.clamp(0.0, 1.0), || format!("t = {:.4} s, {} steps", p.t, p.steps))
    }
}

impl compare::Watch for Watcher {
    fn progress(&mut self, p: &compare::Progress) -> Flow {
        let what = match p.phase {
            compare::Phase::Reference => "reference",
            compare::Phase::Runs => "runs",
            compare::Phase::Timing => "times",
        };
        self.look(p.fraction, || format!("{what}: {} of {}", p.done, p.total))
    }
}

impl sarrus_papers::Progress for Watcher {
    fn at(&mut self, done: usize, total: usize, what: &str) -> bool {
        self.look(done as f64 / total.max(1) as f64, || what.to_string()) == Flow::Continue
    }
}
