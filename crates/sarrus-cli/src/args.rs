//! The command line: types only.

use clap::{Args, Parser, Subcommand, ValueEnum};
use sarrus::analysis::{MethodText, OperatingPoint};
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
  sarrus view out/four_bar                               watch it in a browser
  sarrus run example:strandbeest --view                  one of the models that come with the program
  sarrus plot out/four_bar 'crank.*'                     columns as curves
  sarrus check models/sarrus.toml                        count mobility, find redundant constraints
  sarrus modes models/double_pendulum.toml               frequencies about the equilibrium
  sarrus compare models/four_bar.toml                    run all methods side by side
  sarrus reproduce hajzman2007                           hold a paper's claims against our results
  sarrus list joints                                     what a model file may contain

Results go to stdout and into files, all talk to stderr.
Exit code: 0 done, 1 the simulation failed (what was computed is kept), 2 the input is wrong, 3 done but not certified.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a model and certify the result
    Run(Box<RunArgs>),
    /// Watch results, or a model while it runs, in a browser
    View(Box<ViewArgs>),
    /// Draw columns of results: SVG, PNG, or in the terminal
    Plot(PlotArgs),
    /// Count mobility, find redundant constraints and show which reactions are unique
    Check(CheckArgs),
    /// Find how a model swings about a state: frequencies, damping, stability
    Modes(ModesArgs),
    /// Find where a model comes to rest, with its reactions there
    Equilibrium(EquilibriumArgs),
    /// Follow a motion that drivers prescribe, and find the forces it needs
    #[command(visible_alias = "kinematics")]
    Inverse(InverseArgs),
    /// Run many methods side by side: time, work, drift, error
    Compare(Box<CompareArgs>),
    /// Run the examples of published papers again, claim by claim
    Reproduce(ReproduceArgs),
    /// List the models that come with the program, or copy one
    Examples(ExamplesArgs),
    /// List what exists: joints, forces, methods, examples, ...
    List(ListArgs),
    /// Print the JSON Schema of the model file, for editors
    Schema,
}

/// Which model, and with what in it.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Model file (.toml or .json), or `example:NAME` of those that come with the program
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

    /// Coordinates that time is stepped in
    #[arg(long, value_name = "WHICH")]
    pub coordinates: Option<CoordinateFlag>,

    /// How singular positions are passed: auto, jets, amirouche or false
    #[arg(long, value_name = "HOW", value_parser = ["auto", "jets", "amirouche", "false"])]
    pub regularize: Option<String>,

    /// Relative tolerance of a step (default: a hundredth of the certificate's energy limit, 1e-8; 1e-6 for implicit integrators, 1e-9 for `bdf`)
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub rtol: Option<f64>,

    /// Absolute tolerance of a step (default: a hundredth of --rtol, at most 1e-8)
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub atol: Option<f64>,

    /// Step of fixed-step methods; of the others the first and largest (s)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub step: Option<f64>,
}

/// Coordinates of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CoordinateFlag {
    /// A pose per body
    Absolute,
    /// Those of the joints of a spanning tree, whose joints never drift; loops are cut
    Joint,
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

    /// Write trajectory.csv, events.csv and contacts.csv where there are any, report.json, model.toml (as resolved), steps.csv and
    /// report.html into this folder; x.glb or x.html writes only the animation, or only the page
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// How much is certified: `full` estimates the accuracy of every column from a more accurate run (about 1.5 times the cost of
    /// the run), `standard` bounds it from a coarser one (about half of it), `basic` leaves it out
    #[arg(long, value_name = "LEVEL", value_parser = ["basic", "standard", "full"])]
    pub certify: Option<String>,

    /// Exit code 0 also for a run that is not certified
    #[arg(long)]
    pub allow_uncertified: bool,

    /// Do not write report.html
    #[arg(long)]
    pub no_html: bool,

    /// Write trajectory.csv, events.csv, report.json, model.toml and the files it names only; no time is spent on what the others tell
    #[arg(long, requires = "out", conflicts_with = "view")]
    pub bare: bool,

    /// Print the report as JSON on stdout
    #[arg(long)]
    pub json: bool,

    /// Watch the run in a browser while it continues, until Ctrl-C
    #[arg(long)]
    pub view: bool,

    /// Where the viewer is.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// Where the viewer is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Viewer")]
pub struct ServeArgs {
    /// Address that the viewer listens on; any but this machine's own can be reached by others
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: String,

    /// Port of the viewer; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,

    /// Only print the viewer's address, do not open a browser
    #[arg(long)]
    pub no_open: bool,
}

const RUN_HELP: &str = "\
Examples:
  sarrus run models/pendulum.toml
  sarrus run models/n_four_bar.toml --set n=40 --out out/n40
  sarrus run models/four_bar.toml --rtol 1e-10 --atol 1e-12 --integrator dop853
  sarrus run models/four_bar.toml --integrator rk4 --step 1e-3 --stabilization baumgarte:alpha=10
  sarrus run models/chain.toml --set n=1000 --t-end 0.1 --columns 'link1000.*' --out out/chain
  sarrus run models/gyroscope.toml --coordinates joint
  sarrus run example:four_bar --view
  sarrus run models/governor.toml --out governor.glb

What is not named is chosen (`auto`) and said aloud with its reason. What there is, with options:
`sarrus list integrators`, `sarrus list formulations`, `sarrus list stabilizations`.";

/// `sarrus view`
#[derive(Debug, Args)]
#[command(after_help = VIEW_HELP)]
pub struct ViewArgs {
    /// Folders that `sarrus run --out` wrote, or models, which are run; several are drawn over each other
    #[arg(required = true, value_name = "DIR|MODEL")]
    pub targets: Vec<PathBuf>,

    /// Set a parameter of the models; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// Take a case of the model files
    #[arg(long, value_name = "CASE")]
    pub case: Option<String>,

    /// Write a file instead of opening a browser: x.html is one page with everything in it, x.glb the animation as glTF
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Where the viewer is.
    #[command(flatten)]
    pub serve: ServeArgs,
}

const VIEW_HELP: &str = "\
Examples:
  sarrus view out/four_bar
  sarrus view out/rk4 out/dop853            two runs over each other
  sarrus view models/strandbeest.toml       run it and watch
  sarrus view example:governor --out governor.glb

The viewer listens on this machine alone, under an address with a secret in it that only this
program prints, and ends with Ctrl-C. `[view]` in the model says what is traced and followed:
trace = [\"crank.tip\"], follow = \"car\", camera = { from = [2, -3, 1], to = [0, 0, 0] }.";

/// `sarrus plot`
#[derive(Debug, Args)]
#[command(after_help = PLOT_HELP)]
pub struct PlotArgs {
    /// Folder of results, with a trajectory.csv
    pub dir: PathBuf,

    /// Columns, as patterns: 'crank.*', 'A.f?'; '!*.vx' takes away again
    #[arg(required = true, value_name = "COLUMN")]
    pub columns: Vec<String>,

    /// Write the figure: .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Draw in the terminal, also where a file is written
    #[arg(long)]
    pub terminal: bool,

    /// Draw over this column instead of the time
    #[arg(long, value_name = "COLUMN")]
    pub against: Option<String>,

    /// Logarithmic axis upwards
    #[arg(long)]
    pub log: bool,

    /// Title of the figure [default: the folder]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

const PLOT_HELP: &str = "\
Examples:
  sarrus plot out/four_bar A.angle
  sarrus plot out/four_bar 'crank.*' --output crank.svg
  sarrus plot out/four_bar coupler.y --against coupler.x --output path.png
  sarrus plot out/four_bar 'violation.*' --log --output drift.svg

Columns of different units have panels of their own. Without --output the curves are drawn in the
terminal, one by one.";

/// `sarrus examples`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_HELP)]
pub struct ExamplesArgs {
    /// Copy this one into the folder that you are in
    #[arg(long, value_name = "NAME")]
    pub copy: Option<String>,

    /// Where the copy goes
    #[arg(long, value_name = "FILE", requires = "copy")]
    pub to: Option<PathBuf>,

    /// Write a page with a picture of each, which needs nothing but itself
    #[arg(long, value_name = "FILE", conflicts_with_all = ["copy", "json"])]
    pub html: Option<PathBuf>,

    /// As JSON
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES_HELP: &str = "\
Examples:
  sarrus examples
  sarrus examples --html gallery.html       with pictures
  sarrus run example:four_bar --view
  sarrus check example:sarrus
  sarrus examples --copy four_bar

`example:NAME` stands for a model file wherever one is taken.";

/// `sarrus check`
#[derive(Debug, Args)]
#[command(after_help = CHECK_HELP)]
pub struct CheckArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// Run the model, and check rank and reactions on the way
    #[arg(long)]
    pub along: bool,

    /// Distribute reactions that are not unique, by the `compliance` of the joints
    #[arg(long, value_name = "BY")]
    pub distribute: Option<Distribute>,

    /// List every element, however many there are
    #[arg(long)]
    pub all: bool,

    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// By what reactions are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Distribute {
    /// The least energy in joints that give way
    Stiffness,
}

const CHECK_HELP: &str = "\
Examples:
  sarrus check models/four_bar.toml
  sarrus check models/mcpherson_overconstrained.toml --json
  sarrus check models/bennett.toml --along
  sarrus check models/door.toml --distribute stiffness

A reaction is unique when no reactions that move nothing have a part in it. Where rows are
redundant some are not: `sarrus run` then shows values of minimum norm, which no measurement
need confirm. With `compliance` of the joints, --distribute gives those that one would.

Every rank comes with its tolerance and its margin: the factor by which the tolerance could
change without changing the rank. A margin near 1 is a warning.";

/// `sarrus modes`
#[derive(Debug, Args)]
#[command(after_help = MODES_HELP)]
pub struct ModesArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// About which state: `equilibrium` (found from the start), `start`, or the time of a run (s)
    #[arg(long, value_name = "STATE", default_value = "equilibrium", allow_hyphen_values = true)]
    pub about: OperatingPoint,

    /// List every mode, however many there are
    #[arg(long)]
    pub all: bool,

    /// Print everything as JSON, with the shapes of the modes
    #[arg(long)]
    pub json: bool,

    /// The same with the matrix A of ẋ = A x
    #[arg(long)]
    pub matrix: bool,
}

const MODES_HELP: &str = "\
Examples:
  sarrus modes models/double_pendulum.toml
  sarrus modes models/four_bar.toml --about start
  sarrus modes models/heavy_top.toml --about 0.5 --json

The equations are linearized along the constraints with exact derivatives: springs, dampers,
gravity, the stiffness of loads that turn with their joints, and gyroscopic forces all count. A mode
is a pair of conjugate eigenvalues or a real one; `moves` gives the share of the kinetic energy.

About a state that moves, eigenvalues tell how neighbouring motions part at that instant, seen from
the mechanism. What controllers put out counts as constant.";

/// `sarrus equilibrium`
#[derive(Debug, Args)]
#[command(after_help = EQUILIBRIUM_HELP)]
pub struct EquilibriumArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// Bring gravity, forces and torques on in N equal parts, and follow the rest through them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub load_steps: Option<u32>,

    /// Print every column of results at rest as JSON
    #[arg(long)]
    pub json: bool,

    /// Write trajectory.csv, with a row for each part of the loads, and report.json to a folder
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const EQUILIBRIUM_HELP: &str = "\
Examples:
  sarrus equilibrium models/double_pendulum.toml
  sarrus equilibrium models/door.toml --json
  sarrus equilibrium crane.toml --load-steps 10 --out out/crane

The rest is the one that a damped motion from the start would end in: where forces have a potential,
it falls on the way. Drivers stand still where they are at the start. Exit code 1 where there is none.

With --load-steps the loads grow from nothing: each part begins at the rest under the one before, so
that beams which bend far are followed along one branch. Springs keep their preload.";

/// `sarrus inverse`
#[derive(Debug, Args)]
#[command(after_help = INVERSE_HELP)]
pub struct InverseArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// Time at which the motion ends (s)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub t_end: Option<f64>,

    /// Time between two rows of the trajectory (s)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub every: Option<f64>,

    /// Columns of the trajectory, as patterns: 'crank.*', 'motor.torque'; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub columns: Vec<String>,

    /// Write trajectory.csv and report.json into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Print the report as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

const INVERSE_HELP: &str = "\
Examples:
  sarrus inverse robot.toml --out out/robot
  sarrus kinematics linkage.toml --every 0.01 --columns 'rocker.*'

Needs drivers for every degree of freedom. Positions, velocities and accelerations follow from the constraints,
and the forces of drivers and joints from them: nothing is integrated, so that no error accumulates,
and samples may be as far apart as one likes. Models with events, stops, rigid contacts,
controllers or jumps of speed are run step by step instead, so that these take part. Loops and
redundant constraints are welcome; efforts that are not unique are marked.";

/// `sarrus compare`
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub struct CompareArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,

    /// Formulations, as a list, or `all`; may be repeated
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub formulations: Vec<String>,

    /// Stabilizations, as a list, or `all`; options follow a colon: none,baumgarte:alpha=5,beta=5
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub stabilizations: Vec<String>,

    /// Integrators, as a list, `all`, or `auto` to leave the choice to the program
    #[arg(long, value_name = "LIST", default_value = "auto")]
    pub integrators: Vec<String>,

    /// Relative tolerances, as a list; the absolute ones keep their ratio [default: the model's]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
    pub rtols: Vec<f64>,

    /// Steps of integrators with fixed steps, as a list (s); the others do not check them [default: the model's]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
    pub steps: Vec<f64>,

    /// Time at which the runs end (s)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub t_end: Option<f64>,

    /// Relative tolerance of the reference; where it does not work, looser ones are tried
    #[arg(long, value_name = "X", default_value_t = 1e-12, allow_negative_numbers = true)]
    pub reference_rtol: f64,

    /// Longest time that a run may take (s), checked after each step
    #[arg(long, value_name = "S", default_value_t = 60.0, allow_negative_numbers = true)]
    pub wall_limit: f64,

    /// Do not try methods of dense matrices on models of more velocities and rows than this
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub dense_limit: usize,

    /// Time each method as the best of so many runs, of short ones more; 0 takes no times
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub repeat: usize,

    /// Runs at the same time while nothing is timed; 0 is as many as there are cores [default: 0]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,

    /// Write compare.json, compare.csv and figures (SVG and PNG) into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Print everything as JSON on stdout
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,

    /// Print the table as comma-separated values on stdout
    #[arg(long)]
    pub csv: bool,
}

const COMPARE_HELP: &str = "\
Examples:
  sarrus compare models/four_bar.toml
  sarrus compare models/four_bar.toml --formulations direct,proximal --rtols 1e-4,1e-6,1e-8 --out out/four_bar
  sarrus compare models/mcpherson_overconstrained.toml --stabilizations none,baumgarte:alpha=5,beta=5,projection
  sarrus compare models/pendulum.toml --formulations proximal --stabilizations projection \\
      --integrators rk4,rk45,dop853 --steps 1e-2,1e-3 --rtols 1e-6,1e-9

A row is a combination: its time against the fastest, RHS evaluations, steps, the largest
violation of the constraints (position, velocity, acceleration), the relative error of the energy
balance, and the largest difference to a reference run in any body's position (m) or angle (rad)
and in any reaction that is unique (N, N m). An error below what the reference can be trusted to is
shown as `<`. Methods that are refused, fail or take too long are rows too; the reasons stand below.
Integrators that resolve the constraints themselves (staggered, park1987) combine with nothing: each
is one row per step, or per tolerance with `adaptive=yes`, formulation and stabilization its `own`.

Runs for errors go on all cores; times are taken afterwards, alone and one at a time.
What there is to compare: `sarrus list formulations`, `stabilizations`, `integrators`.";

/// `sarrus reproduce`
#[derive(Debug, Args)]
#[command(after_help = REPRODUCE_HELP)]
pub struct ReproduceArgs {
    /// Which paper, or `all`
    #[arg(default_value = "all")]
    pub paper: String,

    /// Only say what each paper is and which part of it is run
    #[arg(long)]
    pub list: bool,

    /// A slice of each part: shorter runs, fewer tolerances, times taken once
    #[arg(long)]
    pub quick: bool,

    /// Write the claims (Markdown and JSON) and the figures (SVG and PNG) into DIR/PAPER
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Print claims and tables as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

const REPRODUCE_HELP: &str = "\
Examples:
  sarrus reproduce --list
  sarrus reproduce hajzman2007
  sarrus reproduce pekal2016 --out out/papers
  sarrus reproduce all --quick --json

Each claim comes with their number, ours, how near counts as the same, and a verdict:
reproduced, differs (it is said why), or failed (ours is wrong or unexplained; exit code 1).
Times are compared by who is faster than whom: they are of other machines.";

/// `sarrus list`
#[derive(Debug, Args)]
#[command(after_help = LIST_HELP)]
pub struct ListArgs {
    /// Only this family
    pub family: Option<ListFamily>,

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
pub enum ListFamily {
    /// Beams and rods
    Flexible,
    /// Cross sections of beams and rods
    Sections,
    /// Joints between two bodies
    Joints,
    /// Other constraints
    Constraints,
    /// Prescribed motions
    Drivers,
    /// Forces
    Forces,
    /// What touches what
    Contacts,
    /// Controllers with states of their own
    Controllers,
    /// Measured quantities
    Measures,
    /// What happens when a condition becomes true
    Events,
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
