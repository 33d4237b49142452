//! `sarrus equilibrium`

use super::open;
use crate::args::EquilibriumArgs;
use crate::exit::Exit;
use crate::linear_text;
use crate::printer::Printer;
use crate::progress::Patience;
use sarrus::analysis::{SetupError, equilibrium_with};
use sarrus::model::Failure;

/// Finds where a model comes to rest.
pub fn run(args: &EquilibriumArgs, printer: &mut Printer) -> Exit {
    let (model, system) = match open(&args.model, false, printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let mut patience = Patience::default();
    match equilibrium_with(&model, &system, &mut |search| patience.searching(search, printer)) {
        Ok(found) => {
            for note in &found.report.notes {
                printer.say("note", note);
            }
            if args.json {
                printer.data(&found.report.to_json());
            } else {
                printer.data(&linear_text::equilibrium(&found.report, &system, printer.paint()));
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
