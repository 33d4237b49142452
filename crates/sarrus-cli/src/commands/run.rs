//! `sarrus run`

use super::{leave, open, overrides};
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::TerminalWatcher;
use crate::results::{Results, ResultsError};
use crate::showing::{Showing, announce, serve, single_file, wait};
use sarrus::analysis::{Outcome, RunOverrides, Simulate, Status, certify};
use sarrus::io::write_resolved;
use sarrus::model::settings::Certification;
use sarrus::model::shown::DisplayUnits;
use sarrus::model::{Diagnostic, Failure, Model};
use sarrus::system::System;
use std::path::Path;
use std::sync::Arc;

/// Simulates, reports, and writes what is asked for.
pub fn run(args: &RunArgs, printer: &mut Printer) -> Exit {
    // before the work, so that it is not in vain
    let file = args.out.as_deref().filter(|out| single_file(out).is_some());
    let folder = args.out.as_deref().filter(|_| file.is_none());
    let results = match folder.map(Results::create).transpose() {
        Ok(results) => results,
        Err(error) => return refused(&error, printer),
    };
    let (model, system) = match open(&args.model, results.is_some(), printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let request = Simulate {
        overrides: RunOverrides {
            t_end: args.t_end,
            every: args.every,
            certify: args.certify.as_deref().and_then(Certification::from_name),
            columns: (!args.columns.is_empty()).then(|| args.columns.clone()),
            ..overrides(&args.method)
        },
        record: args.out.is_some() || args.view,
    };
    let mut showing = match shown(args, &model, &system, &request) {
        Ok(showing) => showing,
        Err(diagnostics) => return wrong(diagnostics, model, printer),
    };
    let mut viewer = None;
    if let Some(showing) = showing.as_mut().filter(|_| args.view) {
        let runs = vec![(model.name.clone(), showing.live())];
        match serve(&args.serve, runs, printer) {
            Ok(started) => viewer = Some(started),
            Err(exit) => return exit,
        }
    }
    let outcome = {
        // a browser opens once it is known that there will be something to see
        let mut watcher = TerminalWatcher::new(printer).at_begin(|printer| {
            if let Some(viewer) = &viewer {
                announce(viewer, &args.serve, printer);
            }
        });
        match &mut showing {
            Some(showing) => showing.listening(args.out.is_some(), &mut watcher, |watch| {
                certify(&model, &system, &request, watch)
            }),
            None => certify(&model, &system, &request, &mut watcher),
        }
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return wrong(error.diagnostics(), model, printer),
    };
    report(&model, &outcome, args, printer);
    if let Some(showing) = &mut showing {
        showing.finish(&outcome);
    }
    if let Some(note) = showing.as_ref().filter(|_| folder.is_some()).and_then(Showing::note) {
        printer.say("note", note);
    }
    let written = match (results, file) {
        (Some(results), _) => write(&results, &model, &request, &outcome, showing.as_ref(), !args.no_html),
        (None, Some(file)) => write_file(file, &outcome, showing.as_ref()),
        (None, None) => Ok(Vec::new()),
    };
    match (written, folder) {
        (Err(error), _) => return refused(&error, printer),
        (Ok(names), Some(dir)) => printer.say("written", format!("{}: {}", dir.display(), names.join(", "))),
        (Ok(names), None) if !names.is_empty() => printer.say("written", names.join(", ")),
        (Ok(_), None) if args.json || args.view => {}
        (Ok(_), None) => printer.hint(
            "--out DIR writes trajectory, report and a page to look at; --view shows the run in a browser",
        ),
    }
    if args.view {
        wait(printer);
    }
    let exit = match &outcome.report {
        report if report.status == Status::Failed => Exit::Failed,
        report if !report.certificate.passed && !args.allow_uncertified => Exit::Uncertified,
        _ => Exit::Done,
    };
    leave((model, system, outcome, showing));
    exit
}

/// What is needed to draw a run, where someone will check it, now or later.
fn shown(
    args: &RunArgs,
    model: &Model,
    system: &Arc<System>,
    request: &Simulate,
) -> Result<Option<Showing>, Vec<Diagnostic>> {
    let asked = args.out.as_deref().is_some_and(|out| !args.bare || single_file(out).is_some());
    (args.view || asked).then(|| Showing::new(model, system, &request.overrides)).transpose()
}

/// Says what is wrong with a model.
pub fn wrong(diagnostics: Vec<Diagnostic>, model: Model, printer: &mut Printer) -> Exit {
    printer.failure(&Failure { diagnostics, sources: model.sources });
    Exit::Input
}

fn report(model: &Model, outcome: &Outcome, args: &RunArgs, printer: &mut Printer) {
    let report = &outcome.report;
    for note in &report.notes {
        printer.say("note", note);
    }
    if args.json {
        printer.data(&report.to_json());
    } else {
        // loading refused what cannot be read
        printer.summary(report, &DisplayUnits::read(model).unwrap_or_default());
    }
    if report.status == Status::Failed {
        printer.error(&report.reason);
    } else if !report.certificate.passed {
        for sentence in &report.advice {
            printer.hint(sentence);
        }
        if report.advice.is_empty() {
            printer.hint("every item is within its limit, but the run was cut off or passed over something: see its reason and notes above");
        }
        printer.hint("`run.certify` sets the limits of the certificate");
    }
}

/// Writes the folder of results, and returns the names of its files.
pub fn write(
    results: &Results,
    model: &Model,
    request: &Simulate,
    outcome: &Outcome,
    showing: Option<&Showing>,
    page: bool,
) -> Result<Vec<String>, ResultsError> {
    results.write("trajectory.csv", |out| outcome.trajectory.write_csv(out))?;
    let resolved = write_resolved(model, &request.overrides.run_entries());
    results.write("model.toml", |out| out.write_all(resolved.as_bytes()))?;
    results.write("report.json", |out| {
        out.write_all(outcome.report.to_json().as_bytes())?;
        out.write_all(b"\n")
    })?;
    let mut names = vec!["trajectory.csv".to_string(), "report.json".into(), "model.toml".into()];
    if outcome.instants.is_empty() {
        results.remove("events.csv")?;
    } else {
        results.write("events.csv", |out| outcome.instants.write_csv(out))?;
        names.push("events.csv".into());
    }
    names.extend(copy_files(results, model)?);
    match showing {
        Some(showing) => {
            names.extend(showing.write_companions(results, outcome)?.into_iter().map(str::to_string))
        }
        None => Showing::remove_companions(results)?,
    }
    if let Some(showing) = showing.filter(|_| page)
        && let Some(motion) = showing.motion(outcome)
    {
        results.write("report.html", |out| out.write_all(showing.html(&motion).as_bytes()))?;
        names.push("report.html".into());
    }
    Ok(names)
}

/// Copies the surfaces and matrices that the model names, so that `model.toml` finds them beside itself; those elsewhere stay where they are.
fn copy_files(results: &Results, model: &Model) -> Result<Vec<String>, ResultsError> {
    const OWN: [&str; 7] = [
        "trajectory.csv",
        "report.json",
        "model.toml",
        "report.html",
        "steps.csv",
        "contacts.csv",
        "events.csv",
    ];
    let mut names = Vec::new();
    let files = model.scopes.iter().flat_map(|scope| {
        let texts = scope.texts.iter().map(|(name, file)| (name, file.text.as_bytes()));
        texts.chain(scope.files.iter().map(|(name, bytes)| (name, &bytes[..])))
    });
    for (name, bytes) in files {
        // a plain name: nothing is written outside the folder, or over a result
        let plain = Path::new(name).file_name().is_some_and(|file| file == name.as_str());
        if plain && !OWN.contains(&name.as_str()) && !names.contains(name) {
            results.write(name, |out| out.write_all(bytes))?;
            names.push(name.clone());
        }
    }
    names.sort();
    Ok(names)
}

/// One file in place of a folder: the animation, or the page.
fn write_file(
    file: &Path,
    outcome: &Outcome,
    showing: Option<&Showing>,
) -> Result<Vec<String>, ResultsError> {
    let Some((showing, motion)) = showing.and_then(|showing| Some((showing, showing.motion(outcome)?)))
    else {
        return Ok(Vec::new());
    };
    let bytes = match single_file(file) {
        Some("glb") => showing.gltf(&motion),
        _ => showing.html(&motion).into_bytes(),
    };
    let failed = |source| ResultsError::Io { path: file.to_path_buf(), source };
    std::fs::write(file, bytes).map_err(failed)?;
    Ok(vec![file.display().to_string()])
}

fn refused(error: &ResultsError, printer: &mut Printer) -> Exit {
    printer.error(error);
    if let ResultsError::IsFile(_) = error {
        printer.hint("give --out a folder; it is made if it does not exist");
    }
    Exit::Input
}
