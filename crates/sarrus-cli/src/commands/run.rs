//! `sarrus run`

use super::{open, overrides};
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::Watcher;
use crate::results::{Results, ResultsError};
use sarrus::analysis::{Outcome, Overrides, Simulate, Status, simulate};
use sarrus::io::write_resolved;
use sarrus::model::{Failure, Model};

/// Simulates, reports, and writes what is asked for.
pub fn run(args: &RunArgs, printer: &mut Printer) -> Exit {
    // before the work, so that it is not in vain
    let results = match args.out.as_deref().map(Results::create).transpose() {
        Ok(results) => results,
        Err(error) => return refused(&error, printer),
    };
    let (model, system) = match open(&args.model, results.is_some(), printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let request = Simulate {
        overrides: Overrides {
            t_end: args.t_end,
            every: args.every,
            columns: (!args.columns.is_empty()).then(|| args.columns.clone()),
            ..overrides(&args.method)
        },
        record: results.is_some(),
    };
    let outcome = {
        let mut watcher = Watcher::new(printer);
        simulate(&model, &system, &request, &mut watcher)
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            printer.failure(&Failure { diagnostics: error.diagnostics(), sources: model.sources });
            return Exit::Input;
        }
    };
    tell(&outcome, args, printer);
    match results {
        Some(results) => {
            if let Err(error) = write(&results, &model, &request, &outcome) {
                return refused(&error, printer);
            }
            if let Some(dir) = &args.out {
                printer.say("written", format!("{}: trajectory.csv, report.json, model.toml", dir.display()));
            }
        }
        None if !args.json => printer.hint("--out DIR writes trajectory.csv, report.json and model.toml"),
        None => {}
    }
    if outcome.report.status == Status::Failed { Exit::Failed } else { Exit::Done }
}

fn tell(outcome: &Outcome, args: &RunArgs, printer: &mut Printer) {
    let report = &outcome.report;
    for note in &report.notes {
        printer.say("note", note);
    }
    if args.json {
        printer.data(&report.to_json());
    } else {
        printer.summary(report);
    }
    if report.status == Status::Failed {
        printer.error(&report.reason);
    } else if !report.certificate.passed {
        let advice = if report.method.formulation.starts_with("penalty") {
            "constraints that are springs give way; a higher `frequency` (penalty:frequency=1e4) makes them stiffer"
        } else if report.method.rtol.is_none() {
            "a shorter step (--step) usually restores the certificate"
        } else {
            "tighter tolerances (--rtol, --atol) usually restore the certificate"
        };
        printer.hint(format!("{advice}; `run.certify` sets its limits"));
    }
}

fn write(
    results: &Results,
    model: &Model,
    request: &Simulate,
    outcome: &Outcome,
) -> Result<(), ResultsError> {
    results.write("trajectory.csv", |out| outcome.trajectory.write_csv(out))?;
    let resolved = write_resolved(model, &request.overrides.run_entries());
    results.write("model.toml", |out| out.write_all(resolved.as_bytes()))?;
    results.write("report.json", |out| {
        out.write_all(outcome.report.to_json().as_bytes())?;
        out.write_all(b"\n")
    })
}

fn refused(error: &ResultsError, printer: &mut Printer) -> Exit {
    printer.error(error);
    if let ResultsError::IsFile(_) = error {
        printer.hint("give --out a folder; it is made if it does not exist");
    }
    Exit::Input
}
