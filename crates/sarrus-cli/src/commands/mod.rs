//! One file per command.

pub mod check;
pub mod compare;
pub mod equilibrium;
pub mod examples;
pub mod inverse;
pub mod list;
pub mod modes;
pub mod plot;
pub mod reproduce;
pub mod run;
pub mod schema;
pub mod view;

use crate::args::{MethodArgs, ModelArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use sarrus::analysis::RunOverrides;
use sarrus::io::{LoadOptions, load, load_among};
use sarrus::model::settings::{Coordinates, Regularization};
use sarrus::model::{Failure, Model};
use sarrus::system::{System, compile};
use std::sync::Arc;

/// Loads and compiles the model, or says why not.
fn open(args: &ModelArgs, record: bool, printer: &mut Printer) -> Result<(Model, Arc<System>), Exit> {
    let options =
        LoadOptions { set: args.set.clone(), case: args.case.clone(), record, ..LoadOptions::default() };
    let loaded = match args.model.to_str().and_then(|name| name.strip_prefix(examples::PREFIX)) {
        None => load(&args.model, &options),
        Some(name) => match examples::find(name) {
            Ok((name, text)) => load_among(&format!("{name}.toml"), text, &examples::files(), &options),
            Err(hint) => {
                printer.error(format!("there is no example `{name}`"));
                printer.hint(hint);
                return Err(Exit::Input);
            }
        },
    };
    let model = match loaded {
        Ok(model) => model,
        Err(failure) => {
            printer.failure(&failure);
            return Err(Exit::Input);
        }
    };
    match compile(&model) {
        Ok(system) => Ok((model, Arc::new(system))),
        Err(diagnostics) => {
            printer.failure(&Failure { diagnostics, sources: model.sources });
            Err(Exit::Input)
        }
    }
}

/// Leaves what a command has made to the end of the process, which frees it at once: piece by piece takes a while where there are a hundred
/// thousand bodies.
fn leave<T>(made: T) {
    std::mem::forget(made);
}

/// The flags that say how to run.
fn overrides(args: &MethodArgs) -> RunOverrides {
    let choice = |m: &Option<sarrus::analysis::MethodText>| m.as_ref().map(|m| m.0.clone());
    RunOverrides {
        formulation: choice(&args.formulation),
        stabilization: choice(&args.stabilization),
        regularize: args.regularize.as_deref().and_then(Regularization::from_name),
        integrator: choice(&args.integrator),
        coordinates: args.coordinates.map(|which| match which {
            crate::args::CoordinateFlag::Absolute => Coordinates::Absolute,
            crate::args::CoordinateFlag::Joint => Coordinates::Joint,
        }),
        rtol: args.rtol,
        atol: args.atol,
        step: args.step,
        ..RunOverrides::default()
    }
}
