//! `sarrus inverse`

use super::open;
use crate::args::InverseArgs;
use crate::exit::Exit;
use crate::linear_text;
use crate::printer::Printer;
use crate::results::Results;
use sarrus::analysis::{RunOverrides, Status, prescribed};
use sarrus::model::Failure;

/// Follows a motion that drivers prescribe, and shows what they need for it.
pub fn run(args: &InverseArgs, printer: &mut Printer) -> Exit {
    // before the work, so that it is not in vain
    let results = match args.out.as_deref().map(Results::create).transpose() {
        Ok(results) => results,
        Err(error) => {
            printer.error(&error);
            return Exit::Input;
        }
    };
    let (model, system) = match open(&args.model, false, printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let overrides = RunOverrides {
        t_end: args.t_end,
        every: args.every,
        columns: (!args.columns.is_empty()).then(|| args.columns.clone()),
        ..RunOverrides::default()
    };
    let found = match prescribed(&model, &system, &overrides) {
        Ok(found) => found,
        Err(error) => {
            printer.failure(&Failure { diagnostics: error.diagnostics(), sources: model.sources });
            return Exit::Input;
        }
    };
    for note in &found.report.notes {
        printer.say("note", note);
    }
    if args.json {
        printer.data(&found.report.to_json());
    } else {
        printer.data(&linear_text::inverse(&found.report, printer.paint()));
    }
    if let (Some(results), Some(dir)) = (results, &args.out) {
        let written = results.write("trajectory.csv", |out| found.trajectory.write_csv(out)).and_then(|()| {
            results.write("report.json", |out| out.write_all(found.report.to_json().as_bytes()))
        });
        if let Err(error) = written {
            printer.error(&error);
            return Exit::Failed;
        }
        printer.say("written", format!("{}: trajectory.csv, report.json", dir.display()));
    } else if !args.json {
        printer.hint("--out DIR writes trajectory.csv and report.json");
    }
    if found.report.status == Status::Failed {
        printer.error(&found.report.reason);
        printer.hint("the mechanism may be at the end of its reach, or at a singular position, there");
        return Exit::Failed;
    }
    Exit::Done
}
