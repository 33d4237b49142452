//! Describes what tests of flexible members share: models from a text, their runs, and columns of these.
#![allow(dead_code)] // each test file uses its part

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A world and a section; stiffnesses of one size, so that no term hides behind another.
pub const PLANAR: &str = "space = 'planar'\ngravity = [0, 0]\n\
    sections.s = { kind = 'given', EA = 50, GA = 30, EI = 7, rhoA = 1.5, rhoI = 0.1 }\n";
pub const SPATIAL: &str = "gravity = [0, 0, 0]\n\
    sections.s = { kind = 'given', EA = 50, GA = [30, 20], EI = [7, 4], GJ = 3, rhoA = 1.5, rhoI = [0.1, 0.05] }\n";

/// A model from a text without its first line, which may name files in `folder`; or all that is wrong with it.
pub fn read(text: &str, folder: &Path) -> std::result::Result<(Model, Arc<System>), String> {
    let text = format!("format = 'sarrus/1'\n{text}");
    let options = LoadOptions { record: true, ..LoadOptions::default() };
    let file = folder.join("test.toml");
    let model = load_str(file.to_str().unwrap(), &text, &options).map_err(|e| e.render())?;
    let system = compile(&model)
        .map_err(|errors| errors.iter().map(|e| e.render(&model.sources)).collect::<String>())?;
    Ok((model, Arc::new(system)))
}

pub fn load(text: &str) -> (Model, Arc<System>) {
    load_in(text, Path::new(""))
}

pub fn load_in(text: &str, folder: &Path) -> (Model, Arc<System>) {
    read(text, folder).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// A run by the model's own settings, to its end.
pub fn outcome((model, system): &(Model, Arc<System>)) -> Outcome {
    let outcome = simulate(model, system, &Simulate::default(), &mut ()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outcome.report.status, Status::Completed, "{:?}", outcome.report.reason);
    outcome
}

/// A run of a whole model file by an integrator, with its step where that is fixed.
pub fn run_by(text: &str, integrator: &str, step: Option<f64>) -> Outcome {
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{}", all.join("\n"))
    });
    let MethodText(integrator) = integrator.parse().unwrap();
    let overrides = RunOverrides { integrator: Some(integrator), step, ..RunOverrides::default() };
    simulate(&model, &Arc::new(system), &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{e:?}"))
}

pub fn run(text: &str) -> Trajectory {
    outcome(&load(text)).trajectory
}

pub fn run_in(text: &str, folder: &Path) -> Trajectory {
    outcome(&load_in(text, folder)).trajectory
}

pub fn column(run: &Trajectory, name: &str) -> Vec<f64> {
    run.column(name).unwrap_or_else(|| panic!("no column {name}")).collect()
}
