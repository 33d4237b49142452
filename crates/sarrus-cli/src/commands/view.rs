//! `sarrus view`

use super::open;
use crate::args::{ModelArgs, ViewArgs};
use crate::commands::run::wrong;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::TerminalWatcher;
use crate::showing::{Showing, announce, serve, single_file, wait};
use sarrus::analysis::{RunOverrides, Simulate, Status, simulate};
use sarrus::model::Model;
use sarrus::model::shown::DisplayUnits;
use sarrus::system::System;
use sarrus_view::motion::PoseTable;
use sarrus_view::{Folder, FolderError, Live, Scene, gltf, report};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is checked.
enum ViewTarget {
    /// Results.
    Done(Box<(Scene, PoseTable, System)>),
    /// A model, to be run.
    Model(Box<(Model, Arc<System>, Showing)>),
}

/// Shows results, or models while they run.
pub fn run(args: &ViewArgs, printer: &mut Printer) -> Exit {
    let mut targets = Vec::new();
    for path in &args.targets {
        match target(path, args, printer) {
            Ok(target) => targets.push((name(path), target)),
            Err(exit) => return exit,
        }
    }
    if let Some(out) = &args.out {
        return write(out, targets, printer);
    }
    let mut runs: Vec<(String, Arc<Live>)> = Vec::new();
    for (name, target) in &mut targets {
        let live = match target {
            ViewTarget::Done(done) => Live::finished(&done.0, &done.1),
            ViewTarget::Model(model) => model.2.live(),
        };
        runs.push((name.clone(), live));
    }
    let viewer = match serve(&args.serve, runs, printer) {
        Ok(viewer) => viewer,
        Err(exit) => return exit,
    };
    // a browser opens once there is something to see, or a run that will make it so
    let reported = AtomicBool::new(false);
    let report = |printer: &mut Printer| {
        if !reported.swap(true, Ordering::Relaxed) {
            announce(&viewer, &args.serve, printer);
        }
    };
    if targets.iter().any(|(_, target)| matches!(target, ViewTarget::Done(_))) {
        report(printer);
    }
    let mut exit = Exit::Done;
    for (_, target) in targets {
        if let ViewTarget::Model(model) = target {
            let (model, system, mut showing) = *model;
            match simulated(&model, &system, &mut showing, report, printer) {
                Ok(_) => {}
                Err(failed) => exit = failed,
            }
        }
    }
    if reported.into_inner() {
        wait(printer);
    }
    exit
}

fn name(path: &Path) -> String {
    let text = path.display().to_string();
    let last = path.components().next_back().map(|c| c.as_os_str().to_string_lossy().into_owned());
    last.unwrap_or(text)
}

fn target(path: &Path, args: &ViewArgs, printer: &mut Printer) -> Result<ViewTarget, Exit> {
    if path.is_dir() {
        let folder = Folder::open(path).and_then(Folder::scene);
        return folder
            .map(|found| ViewTarget::Done(Box::new(found)))
            .map_err(|error| refuse(&error, printer));
    }
    let of = ModelArgs { model: path.to_path_buf(), set: args.set.clone(), case: args.case.clone() };
    let (model, system) = open(&of, false, printer)?;
    match Showing::new(&model, &system, &RunOverrides::default()) {
        Ok(showing) => Ok(ViewTarget::Model(Box::new((model, system, showing)))),
        Err(diagnostics) => Err(wrong(diagnostics, model, printer)),
    }
}

fn refuse(error: &FolderError, printer: &mut Printer) -> Exit {
    match error {
        FolderError::Model(failure) => printer.failure(failure),
        error => printer.error(error),
    }
    if let Some(hint) = error.hint() {
        printer.hint(hint);
    }
    Exit::Input
}

/// Runs a model, and returns how it moved; `begun` is called once its set-up was found to be good.
fn simulated(
    model: &Model,
    system: &Arc<System>,
    showing: &mut Showing,
    begun: impl FnOnce(&mut Printer) + Send,
    printer: &mut Printer,
) -> Result<Option<PoseTable>, Exit> {
    let request = Simulate::default();
    let outcome = {
        let mut watcher = TerminalWatcher::new(printer).at_begin(begun);
        showing.listening(true, &mut watcher, |watch| simulate(model, system, &request, watch))
    };
    match outcome {
        Ok(outcome) => {
            showing.finish(&outcome);
            printer.summary(&outcome.report, &DisplayUnits::read(model).unwrap_or_default());
            if outcome.report.status == Status::Failed {
                printer.error(&outcome.report.reason);
                return Err(Exit::Failed);
            }
            Ok(showing.motion(&outcome))
        }
        Err(error) => {
            showing.refuse(&error.to_string());
            printer.diagnostics(&error.diagnostics(), &model.sources);
            Err(Exit::Input)
        }
    }
}

/// Writes what is checked into one file.
fn write(out: &Path, targets: Vec<(String, ViewTarget)>, printer: &mut Printer) -> Exit {
    let Some(kind) = single_file(out) else {
        printer.error(format!("`{}` is neither .glb nor .html", out.display()));
        printer.hint("--out x.glb writes the animation as glTF, --out x.html one page that needs no server");
        return Exit::Input;
    };
    if kind == "glb" && targets.len() > 1 {
        printer.error("one animation at a time goes into a .glb file");
        return Exit::Input;
    }
    let mut pages = Vec::new();
    let mut bytes = Vec::new();
    for (name, target) in targets {
        let (mut scene, motion, system) = match target {
            ViewTarget::Done(done) => {
                let (scene, motion, system) = *done;
                (scene, motion, Arc::new(system))
            }
            ViewTarget::Model(of) => {
                let (model, system, mut showing) = *of;
                match simulated(&model, &system, &mut showing, |_| (), printer) {
                    Ok(Some(motion)) => (showing.into_scene(), motion, system),
                    Ok(None) => return Exit::Failed,
                    Err(exit) => return exit,
                }
            }
        };
        if kind == "glb" {
            bytes = gltf::binary(&scene, &motion);
        } else {
            scene.name = name;
            pages.push(report::thinned(scene, &system.directory, &motion));
        }
    }
    if kind == "html" {
        bytes = report::html(&pages).into_bytes();
    }
    match std::fs::write(out, bytes) {
        Ok(()) => {
            printer.say("written", out.display());
            Exit::Done
        }
        Err(error) => {
            printer.error(format!("cannot write `{}`: {error}", out.display()));
            Exit::Input
        }
    }
}
