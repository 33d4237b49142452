//! `sarrus check`

use super::{leave, open};
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::TerminalWatcher;
use sarrus::analysis::{CheckOptions, check_with};
use sarrus::model::Failure;

/// Reports what can be known about a model without running it.
pub fn run(args: &CheckArgs, printer: &mut Printer) -> Exit {
    let (model, system) = match open(&args.model, false, printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let options = CheckOptions { along: args.along, distribute: args.distribute.is_some() };
    let checked = if args.along {
        check_with(&model, &system, options, &mut TerminalWatcher::new(printer))
    } else {
        check_with(&model, &system, options, &mut ())
    };
    match checked {
        Ok(report) => {
            if args.json {
                printer.data(&report.to_json());
            } else {
                printer.check(&report, args.all);
            }
            let failed = report.along.as_ref().is_some_and(|along| along.status == "failed");
            leave((model, system, report));
            if failed { Exit::Failed } else { Exit::Done }
        }
        Err(error) => {
            printer.failure(&Failure { diagnostics: error.diagnostics(), sources: model.sources });
            Exit::Input
        }
    }
}
