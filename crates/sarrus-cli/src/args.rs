//! The command line: types only.

use clap::{Args, Parser, Subcommand, ValueEnum};
use sarrus::analysis::MethodText;
use std::path::PathBuf;

/// Multibody dynamics for the mechanisms that other tools get wrong.
///
/// Closed loops, redundant constraints, large rotations, rolling: write the mechanism as a flat list of bodies and
/// joints, run it, and read in the certificate how well the run kept its constraints and its energy.
#[derive(Debug, Parser)]
#[command(name = "sarrus", version, max_term_width = 100, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  sarrus run models/four_bar.toml --out out/four_bar     simulate, and write trajectory and report
  sarrus check models/sarrus.toml                        count mobility, find redundant constraints
  sarrus list joints                                     what a model file may contain

Results go to stdout and into files, all talk to stderr.
Exit code: 0 done, 1 the simulation failed (what was computed is kept), 2 the input is wrong.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a model and certify the result
    Run(Box<RunArgs>),
    /// Count mobility, find the rank of the constraints and test the assembly
    Check(CheckArgs),
    /// List what exists: joints, forces, methods, examples, ...
    List(ListArgs),
    /// Print the JSON Schema of the model file, for editors
    Schema,
}

/// Which model, and with what in it.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Model file (.toml or .json)
    pub model: PathBuf,

    /// Set a parameter of the model; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// Take a case of the model file
    #[arg(long, value_name = "CASE")]
    pub case: Option<String>,
}

/// How to run.
#[derive(Debug, Args)]
pub struct MethodArgs {
    /// How constraint forces are found: a name, or NAME:OPTION=VALUE,...
    #[arg(long, value_name = "METHOD")]
    pub formulation: Option<MethodText>,

    /// How drift off the constraints is removed
    #[arg(long, value_name = "METHOD")]
    pub stabilization: Option<MethodText>,

    /// How time is stepped
    #[arg(long, value_name = "METHOD")]
    pub integrator: Option<MethodText>,

    /// Relative tolerance of a step
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub rtol: Option<f64>,

    /// Absolute tolerance of a step
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub atol: Option<f64>,

    /// Step of fixed-step methods; of the others the first and largest (s)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub step: Option<f64>,
}

/// `sarrus run`
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// How.
    #[command(flatten)]
    pub method: MethodArgs,

    /// Time at which the run ends (s)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub t_end: Option<f64>,

    /// Time between two rows of the trajectory (s)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub every: Option<f64>,

    /// Columns of the trajectory, as patterns: 'crank.*', '!*.q?'; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub columns: Vec<String>,

    /// Write trajectory.csv, report.json and model.toml (as resolved) into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Print the report as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

const RUN_HELP: &str = "\
Examples:
  sarrus run models/pendulum.toml
  sarrus run models/n_four_bar.toml --set n=40 --out out/n40
  sarrus run models/four_bar.toml --rtol 1e-10 --atol 1e-12 --integrator dop853
  sarrus run models/four_bar.toml --integrator rk4 --step 1e-3 --stabilization baumgarte:alpha=10
  sarrus run models/chain.toml --set n=1000 --t-end 0.1 --columns 'link1000.*' --out out/chain

What is not named is chosen (`auto`) and said aloud with its reason. What there is, with options:
`sarrus list integrators`, `sarrus list formulations`, `sarrus list stabilizations`.";

/// `sarrus check`
#[derive(Debug, Args)]
#[command(after_help = CHECK_HELP)]
pub struct CheckArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

const CHECK_HELP: &str = "\
Examples:
  sarrus check models/four_bar.toml
  sarrus check models/mcpherson_overconstrained.toml --json

Every rank comes with its tolerance and its margin: the factor by which the tolerance could
change without changing the rank. A margin near 1 is a warning.";

/// `sarrus list`
#[derive(Debug, Args)]
#[command(after_help = LIST_HELP)]
pub struct ListArgs {
    /// Only this family
    pub family: Option<Family>,

    /// As JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,

    /// As Markdown, with keys and options
    #[arg(long)]
    pub markdown: bool,
}

const LIST_HELP: &str = "\
Examples:
  sarrus list
  sarrus list joints
  sarrus list integrators --json";

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Joints between two bodies
    Joints,
    /// Other constraints
    Constraints,
    /// Prescribed motions
    Drivers,
    /// Forces
    Forces,
    /// Controllers with states of their own
    Controllers,
    /// Measured quantities
    Measures,
    /// Shapes of bodies
    Shapes,
    /// Built-in materials
    Materials,
    /// How constraint forces are found
    Formulations,
    /// How drift is removed
    Stabilizations,
    /// How time is stepped
    Integrators,
    /// Models that come with the program
    Examples,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_string(), value.trim().to_string()))
        }
        _ => Err(format!("`{text}` is not NAME=VALUE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_assignment_needs_both_sides() {
        assert_eq!(assignment("n = 40"), Ok(("n".into(), "40".into())));
        assert_eq!(assignment("f=a==b"), Ok(("f".into(), "a==b".into())));
        assert!(assignment("n").is_err() && assignment("=3").is_err() && assignment("n=").is_err());
    }
}
