//! `sarrus schema`

use crate::exit::Exit;
use crate::printer::Printer;

/// Prints the JSON Schema of the model file.
pub fn run(printer: &mut Printer) -> Exit {
    printer.data(&sarrus::schema::json_schema());
    Exit::Done
}
