//! What is said over a model, from keyword arguments.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sarrus::analysis::{MethodText, RunOverrides};
use sarrus::model::settings::{Certification, Coordinates, MethodChoice, Regularization};
use sarrus::model::suggest::did_you_mean;

/// The overrides in a dictionary; what is `None` or missing is left to the model.
pub fn overrides(options: &Bound<'_, PyDict>) -> PyResult<RunOverrides> {
    let mut over = RunOverrides::default();
    for (key, value) in options {
        if value.is_none() {
            continue;
        }
        let key: String = key.extract()?;
        match key.as_str() {
            "t_end" => over.t_end = Some(number(&key, &value)?),
            "every" => over.every = Some(number(&key, &value)?),
            "rtol" => over.rtol = Some(number(&key, &value)?),
            "atol" => over.atol = Some(number(&key, &value)?),
            "step" => over.step = Some(number(&key, &value)?),
            "certify" => {
                let names = Certification::NAMES.map(|name| (name, Certification::from_name(name)));
                over.certify = choice(&key, &value, &names)?;
            }
            "columns" => over.columns = Some(value.extract()?),
            "formulation" => over.formulation = Some(method(&value)?),
            "stabilization" => over.stabilization = Some(method(&value)?),
            "integrator" => over.integrator = Some(method(&value)?),
            "coordinates" => {
                let all = [("absolute", Coordinates::Absolute), ("joint", Coordinates::Joint)];
                over.coordinates = Some(choice(&key, &value, &all)?);
            }
            "regularize" => {
                let names = Regularization::NAMES.map(|name| (name, Regularization::from_name(name)));
                over.regularize = choice(&key, &value, &names)?;
            }
            _ => return Err(PyValueError::new_err(format!("there is no option `{key}`"))),
        }
    }
    Ok(over)
}

/// A number; the error names the option.
fn number(key: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| {
        let found = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        pyo3::exceptions::PyTypeError::new_err(format!("`{key}` must be a number, not {found}"))
    })
}

/// One of a few words.
fn choice<T: Copy>(key: &str, value: &Bound<'_, PyAny>, all: &[(&str, T)]) -> PyResult<T> {
    let text: String = value.extract()?;
    if let Some((_, found)) = all.iter().find(|(name, _)| *name == text) {
        return Ok(*found);
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let hint = did_you_mean(&text, names.iter()).unwrap_or_else(|| format!("one of: {}", names.join(" ")));
    Err(PyValueError::new_err(format!("`{key}` cannot be `{text}`\nhint: {hint}")))
}

/// A method as the command line writes it.
fn method(value: &Bound<'_, PyAny>) -> PyResult<MethodChoice> {
    let text: String = value.extract()?;
    match text.parse::<MethodText>() {
        Ok(method) => Ok(method.0),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}
