//! Functions written in Python, called by expressions of a model.
//!
//! The interpreter is taken for each call. What one raises is kept, by thread, and from there on no function of the model is called on it: their
//! value is NaN, which brings the run to its end. It is raised there, with what was computed until then. So an exception, Ctrl-C among them, is never lost in a
//! trial step that is taken back.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sarrus::model::functions::{Function, Functions};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// A function as Python hands it over: name, number of arguments (none: any), value, gradient, second derivatives.
pub type Handed = (String, Option<usize>, Py<PyAny>, Option<Py<PyAny>>, Option<Py<PyAny>>);

/// What functions of a model have raised, by thread.
#[derive(Clone, Default)]
pub struct RaisedErrors(Arc<Mutex<HashMap<ThreadId, PyErr>>>);

impl RaisedErrors {
    /// What was raised on this thread, once.
    pub fn take_error(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread::current().id())
    }

    /// Whether something was raised on this thread that is not taken yet.
    fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&thread::current().id())
    }

    fn store_error(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(thread::current().id(), error);
    }
}

struct Callable {
    name: String,
    arguments: Option<usize>,
    value: Py<PyAny>,
    gradient: Option<Py<PyAny>>,
    second: Option<Py<PyAny>>,
    raised: RaisedErrors,
}

/// The functions for a model, and where what they raise is kept.
pub fn functions(handed: Vec<Handed>) -> (Functions, RaisedErrors) {
    let (mut functions, raised) = (Functions::default(), RaisedErrors::default());
    for (name, arguments, value, gradient, second) in handed {
        let function =
            Callable { name: name.clone(), arguments, value, gradient, second, raised: raised.clone() };
        functions.add(&name, function);
    }
    (functions, raised)
}

impl Callable {
    /// Calls one of the three and reads what it returns; NaN where that fails.
    fn call<T>(
        &self,
        function: &Py<PyAny>,
        x: &[f64],
        otherwise: T,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        if self.raised.is_set() {
            return otherwise;
        }
        let called = Python::try_attach(|py| {
            let answer = function.bind(py).call1(PyTuple::new(py, x)?)?;
            read(&answer)
        });
        match called {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                self.raised.store_error(error);
                otherwise
            }
            // the interpreter is gone
            None => otherwise,
        }
    }

    fn fill(&self, function: Option<&Py<PyAny>>, what: &str, x: &[f64], out: &mut [f64]) {
        let Some(function) = function else { return out.fill(f64::NAN) };
        let n = out.len();
        let values = self.call(function, x, vec![f64::NAN; n], |answer| {
            let values: Vec<f64> = match answer.extract() {
                Ok(number) => vec![number],
                Err(_) if n == x.len() => answer.extract()?,
                Err(_) => answer.extract::<Vec<Vec<f64>>>()?.into_iter().flatten().collect(),
            };
            if values.len() == n {
                return Ok(values);
            }
            let found = values.len();
            Err(PyTypeError::new_err(format!("the {what} of `{}` has {found} numbers, not {n}", self.name)))
        });
        out.copy_from_slice(&values);
    }
}

impl Function for Callable {
    fn arguments(&self) -> Option<usize> {
        self.arguments
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.call(&self.value, x, f64::NAN, |answer| {
            answer.extract().map_err(|_| {
                let kind = answer.get_type().name().map(|name| name.to_string()).unwrap_or_default();
                PyTypeError::new_err(format!("function `{}` must return a number, not {kind}", self.name))
            })
        })
    }

    fn order(&self) -> usize {
        match (&self.gradient, &self.second) {
            (Some(_), Some(_)) => 2,
            (Some(_), None) => 1,
            (None, _) => 0,
        }
    }

    fn gradient(&self, x: &[f64], out: &mut [f64]) {
        self.fill(self.gradient.as_ref(), "gradient", x, out);
    }

    fn second(&self, x: &[f64], out: &mut [f64]) {
        self.fill(self.second.as_ref(), "second derivatives", x, out);
    }
}
