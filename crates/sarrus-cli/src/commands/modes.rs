//! `sarrus modes`

use super::open;
use crate::args::ModesArgs;
use crate::exit::Exit;
use crate::linear_text;
use crate::printer::Printer;
use crate::progress::Patience;
use sarrus::analysis::{Doing, SetupError, modes_with};
use sarrus::model::Failure;

/// Reports how a model moves in the small.
pub fn run(args: &ModesArgs, printer: &mut Printer) -> Exit {
    let (model, system) = match open(&args.model, false, printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let mut patience = Patience::default();
    let mut watch = |doing: Doing| match doing {
        Doing::Searching(search) => patience.searching(&search, printer),
        Doing::Decomposing(dof) => patience.decomposing(dof, printer),
    };
    match modes_with(&model, &system, args.about, &mut watch) {
        Ok(mut report) => {
            if !args.matrix {
                report.A.clear();
            }
            for note in &report.notes {
                printer.say("note", note);
            }
            if args.json || args.matrix {
                printer.data(&report.to_json());
            } else {
                printer.data(&linear_text::modes(&report, args.all, printer.paint()));
            }
            Exit::Done
        }
        Err(error) => {
            let failed = matches!(error, SetupError::NoEquilibrium { .. });
            printer.failure(&Failure { diagnostics: error.diagnostics(), sources: model.sources });
            if failed { Exit::Failed } else { Exit::Input }
        }
    }
}
