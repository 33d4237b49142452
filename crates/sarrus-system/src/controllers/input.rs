//! Values set from outside: by a program between two steps, or by events.
//!
//! ẋ = 0. Each value is a state, read as `X.out` or by its name, and held until something sets it: an event by `set`, a program
//! through [`System::input`](crate::System::input). Costs nothing in a step, and has no part in the error of one. A value that an expression can
//! tell is a measure or an output of `ode`; one that a program computes anew in every evaluation is a function given by it.

use super::output_slots;
use super::prelude::*;
use sarrus_model::expr::is_name;

/// The controller: the values at the start.
#[derive(Clone, Debug)]
pub struct Input(Vec<f64>);

impl Controller for Input {
    fn states(&self) -> usize {
        self.0.len()
    }

    fn start(&self) -> Vec<f64> {
        self.0.clone()
    }

    fn outputs(&self) -> &[String] {
        &[]
    }

    fn output(&self, _at: &At<f64>, _x: &[f64], _out: &mut [f64]) {}

    fn rates(&self, _at: &At<f64>, _x: &[f64], _out: &[f64], xdot: &mut [f64]) {
        xdot.fill(0.0);
    }

    fn is_input(&self) -> bool {
        true
    }
}

/// Names and values at the start.
fn values(reader: &Reader) -> Result<Vec<(String, f64)>> {
    if reader.one_of(&["value", "values"])? != Some("values") {
        return Ok(vec![("out".into(), reader.number_or("value", 0.0)?)]);
    }
    let mut values = Vec::new();
    for (name, span, value) in reader.map_of_numbers("values")? {
        if !is_name(&name) {
            return Err(reader.at(span, format!("`{name}` in {} is not a name", reader.title())));
        }
        values.push((name, value));
    }
    if values.is_empty() {
        let error = reader.error("values", format!("{} has no values", reader.title()));
        return Err(error.hint("name them with what they are at the start: `values = { u = 0 }`"));
    }
    Ok(values)
}

fn declare(reader: &Reader) -> Result<Declared> {
    Ok(Declared { outputs: vec![], states: values(reader)?.into_iter().map(|(name, _)| name).collect() })
}

fn read(ctx: &mut Context) -> Result<BuiltController> {
    let start = values(&ctx.reader)?.into_iter().map(|(_, value)| value).collect();
    Ok(BuiltController {
        ids: vec![],
        controller: Arc::new(Input(start)),
        outputs: output_slots(ctx)?,
        reads: vec![],
    })
}

/// `kind = "input"`
pub const KIND: ControllerKind = ControllerKind {
    name: "input",
    doc: "values set from outside, by a program or by events; read as `X.out` or `X.name`",
    keys: &[
        Key::new("value", KeyType::Number, "0", "the value at the start, read as `X.out`"),
        Key::new(
            "values",
            KeyType::Map(&KeyType::Number),
            "",
            "names of several, with their values at the start",
        ),
    ],
    planar: &["value = 1.5", "values = { u = 0, w = 1 }"],
    spatial: &["value = 1.5", "values = { u = 0, w = 1 }"],
    declare,
    read,
};
