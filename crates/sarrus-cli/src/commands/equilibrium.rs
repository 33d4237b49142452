//! `sarrus equilibrium`

use super::open;
use crate::args::EquilibriumArgs;
use crate::exit::Exit;
use crate::linear_text;
use crate::printer::Printer;
use crate::progress::Patience;
use crate::results::Results;
use sarrus::analysis::{EquilibriumOptions, SetupError, equilibrium_with};
use sarrus::model::Failure;

/// Finds where a model comes to rest.
pub fn run(args: &EquilibriumArgs, printer: &mut Printer) -> Exit {
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
    let mut patience = Patience::default();
    let options = EquilibriumOptions { load_steps: args.load_steps };
    match equilibrium_with(&model, &system, &options, &mut |search| patience.searching(search, printer)) {
        Ok(found) => {
            for note in &found.report.notes {
                printer.say("note", note);
            }
            if args.json {
                printer.data(&found.report.to_json());
            } else {
                printer.data(&linear_text::equilibrium(&found.report, &system, printer.paint()));
            }
            if let (Some(results), Some(dir)) = (results, &args.out) {
                let written =
                    results.write("trajectory.csv", |out| found.steps.write_csv(out)).and_then(|()| {
                        results.write("report.json", |out| out.write_all(found.report.to_json().as_bytes()))
                    });
                if let Err(error) = written {
                    printer.error(&error);
                    return Exit::Failed;
                }
                printer.say("written", format!("{}: trajectory.csv, report.json", dir.display()));
            }
            Exit::Done
        }
        Err(error) => {
            // there may be none, which is no fault of the input
            let failed = matches!(error, SetupError::NoEquilibrium { .. });
            printer.failure(&Failure { diagnostics: error.diagnostics(), sources: model.sources });
            if failed { Exit::Failed } else { Exit::Input }
        }
    }
}
