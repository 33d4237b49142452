//! The program `sarrus`: all of it is in the library of the same crate, which the Python package has too.

use std::process::ExitCode;

fn main() -> ExitCode {
    sarrus_cli::main(std::env::args_os()).into()
}
