//! `sarrus`: the command line. Results go to stdout, talk to stderr.

mod args;
mod check_text;
mod commands;
mod compare_figures;
mod compare_table;
mod exit;
mod gallery;
mod linear_text;
mod printer;
mod progress;
mod reproduce_text;
mod results;
mod showing;
mod style;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use printer::Printer;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // help and version are answers, not errors; a closed pipe is nobody's fault
            let _ = error.print();
            return if error.use_stderr() { Exit::Input.into() } else { Exit::Done.into() };
        }
    };
    let mut printer = Printer::new();
    let exit = match cli.command {
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
    };
    exit.into()
}
