//! `sarrus`: the command line. Results go to stdout, talk to stderr.
//!
//! A library, so that the Python package has the same command, writes the same files and shows the same texts; what it
//! takes of this stands in public modules.

pub mod args;
pub mod check_text;
pub mod commands;
pub mod compare_figures;
pub mod compare_table;
mod exit;
mod gallery;
pub mod linear_text;
mod printer;
mod progress;
pub mod reproduce_text;
pub mod results;
pub mod showing;
pub mod style;

use args::{Cli, Command};
use clap::Parser;
pub use exit::Exit;
use printer::Printer;
use std::ffi::OsString;

/// The program, with the arguments that it was called with, its own name first.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // help and version are answers, not errors; a closed pipe is no one's fault
            let _ = error.print();
            return if error.use_stderr() { Exit::Input } else { Exit::Done };
        }
    };
    let mut printer = Printer::new();
    match cli.command {
        Command::Run(args) => commands::run::run(&args, &mut printer),
        Command::View(args) => commands::view::run(&args, &mut printer),
        Command::Plot(args) => commands::plot::run(&args, &mut printer),
        Command::Check(args) => commands::check::run(&args, &mut printer),
        Command::Modes(args) => commands::modes::run(&args, &mut printer),
        Command::Equilibrium(args) => commands::equilibrium::run(&args, &mut printer),
        Command::Inverse(args) => commands::inverse::run(&args, &mut printer),
        Command::Compare(args) => commands::compare::run(&args, &mut printer),
        Command::List(args) => commands::list::run(&args, &mut printer),
        Command::Examples(args) => commands::examples::run(&args, &mut printer),
        Command::Reproduce(args) => commands::reproduce::run(&args, &mut printer),
        Command::Schema => commands::schema::run(&mut printer),
    }
}
