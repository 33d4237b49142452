//! `sarrus check`

use super::open;
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use sarrus::analysis::check;
use sarrus::model::Failure;

/// Tells what can be known about a model without running it.
pub fn run(args: &CheckArgs, printer: &mut Printer) -> Exit {
    let (model, system) = match open(&args.model, false, printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    match check(&model, &system) {
        Ok(report) => {
            if args.json {
                printer.data(&report.to_json());
            } else {
                printer.check(&report);
            }
            Exit::Done
        }
        Err(error) => {
            printer.failure(&Failure { diagnostics: error.diagnostics(), sources: model.sources });
            Exit::Input
        }
    }
}
