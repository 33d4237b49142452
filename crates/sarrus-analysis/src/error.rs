//! Reasons why a run or a check could not begin. All of it is about the input: nothing has been computed yet.

use crate::assemble::AssemblyError;
use crate::rank::ConstraintRankError;
use sarrus_model::functions::Fault;
use sarrus_model::suggest::did_you_mean;
use sarrus_model::{Diagnostic, Span};
use sarrus_solve::{MethodError, SolveError};

/// A run or a check could not begin.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SetupError {
    /// The model says something that cannot be.
    #[error("{} in the model", plural(.0.len(), "error"))]
    Model(Vec<Diagnostic>),
    /// A method was asked for that does not exist, or with wrong options.
    #[error("{source}")]
    Method {
        /// Holds what is wrong with it.
        source: MethodError,
        /// Marks where it was asked for.
        at: Span,
    },
    /// Options for a method that is left to the program.
    #[error("`auto` takes no options")]
    AutoWithOptions {
        /// The position.
        at: Span,
    },
    /// A formulation that needs independent constraints, for some that are not.
    #[error(
        "formulation `{formulation}` needs independent constraints, but only {rank} of the {rows} rows are"
    )]
    NotIndependent {
        /// The formulation.
        formulation: &'static str,
        /// Rows.
        rows: usize,
        /// Their rank.
        rank: usize,
        /// Marks where it was asked for.
        at: Span,
    },
    /// A formulation that makes its forces from the violation, with a stabilization that takes that away.
    #[error(
        "formulation `{formulation}` makes its forces from the violation, which stabilization `{stabilization}` \
         changes"
    )]
    NeedsViolation {
        /// The formulation.
        formulation: &'static str,
        /// The stabilization.
        stabilization: String,
        /// Marks where it was asked for.
        at: Span,
    },
    /// A formulation or stabilization for an integrator that resolves the constraints itself.
    #[error(
        "integrator `{integrator}` resolves the constraints itself: {family} `{name}` would have no effect"
    )]
    OwnConstraints {
        /// The integrator.
        integrator: &'static str,
        /// `formulation` or `stabilization`.
        family: &'static str,
        /// Holds what was asked for.
        name: String,
        /// The position.
        at: Span,
    },
    /// Something that joint coordinates do not go with.
    #[error("joint coordinates do not go with {what}")]
    JointCoordinates {
        /// Holds what it is.
        what: String,
        /// Holds what to do.
        hint: &'static str,
        /// Marks where it was asked for.
        at: Span,
    },
    /// A flag's value is not a positive number.
    #[error("`{flag}` must be a positive number, not {value}")]
    NotPositive {
        /// The setting.
        flag: &'static str,
        /// Holds what was given.
        value: f64,
    },
    /// A step that changes no time.
    #[error(
        "a step of {step:e} s is below what time can resolve in this run, {least:.1e} s: the run would never end"
    )]
    StepBelowTime {
        /// The step \[s\].
        step: f64,
        /// The least that changes every time of the run \[s\].
        least: f64,
    },
    /// The end is not after the start.
    #[error("time cannot go backwards: the run is from t = {t_start} to t = {t_end}")]
    Backwards {
        /// Start \[s\].
        t_start: f64,
        /// End \[s\].
        t_end: f64,
    },
    /// The results would not fit.
    #[error("the results would take {:.1} GiB: {rows:.0} samples of {columns} columns", bytes / GIB)]
    TooLarge {
        /// Estimated memory.
        bytes: f64,
        /// Samples.
        rows: f64,
        /// Columns.
        columns: usize,
    },
    /// A method of dense matrices, for a model that is too large for them.
    #[error("`{kind}` works on dense matrices, here of {unknowns} unknowns: about {:.0} GiB, more than there is", bytes / GIB)]
    TooDense {
        /// The formulation or stabilization.
        kind: &'static str,
        /// Velocities and rows.
        unknowns: usize,
        /// Estimated memory.
        bytes: f64,
        /// Marks where it was asked for.
        at: Span,
    },
    /// The mechanism cannot be put together.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// Nothing to distribute reactions by.
    #[error("no joint has a `compliance` to distribute reactions by")]
    NoCompliance,
    /// Freedoms that no driver moves.
    #[error("drivers do not prescribe the whole motion: {}", not_driven(*free))]
    NotDriven {
        /// Describes how many degrees of freedom are left.
        free: usize,
    },
    /// No rest was found.
    #[error(
        "no equilibrium was found{}: gave up after {} of {trials} tried, {residual:.1e} of the forces are left",
        load.map_or_else(String::new, |load| format!(" at {load:.4} of the loads")),
        plural(*iterations as usize, "step")
    )]
    NoEquilibrium {
        /// Holds what is left of the forces, relative to them.
        residual: f64,
        /// Steps made.
        iterations: u32,
        /// Steps tried.
        trials: u32,
        /// The share of the loads that acts, where they are brought on in parts.
        load: Option<f64>,
    },
    /// A rest that depends on more than positions.
    #[error("statics cannot determine where this comes to rest: {what}")]
    NotStatic {
        /// Holds what it depends on.
        what: String,
        /// Holds what to do.
        hint: &'static str,
    },
    /// Small motions about a position in which the mechanism can move in more ways than beside it.
    #[error(
        "the position at t = {t} s is singular: {} more than in positions beside it, from the rows of {}",
        degrees_of_freedom(*more), elements.join(", ")
    )]
    SingularPosition {
        /// The time \[s\].
        t: f64,
        /// Freedoms that it has beyond those of its neighbours.
        more: usize,
        /// Elements whose rows depend on each other there.
        elements: Vec<String>,
    },
    /// A time asked for that is before the run.
    #[error("t = {t} s is before the start of the run at t = {t_start} s")]
    BeforeStart {
        /// The time asked for \[s\].
        t: f64,
        /// Marks where the run starts \[s\].
        t_start: f64,
    },
    /// A run did not come to the time asked for.
    #[error("the run ended at t = {at} s, before t = {t} s: {why}")]
    NotReached {
        /// The time asked for \[s\].
        t: f64,
        /// The time reached \[s\].
        at: f64,
        /// The reason.
        why: String,
    },
    /// Eigenvalues did not converge.
    #[error("the eigenvalues of a matrix of {size} rows did not converge")]
    NoModes {
        /// Its size.
        size: usize,
    },
    /// The rank could not be determined.
    #[error("the rank of the constraints cannot be determined: {0}")]
    Rank(#[from] ConstraintRankError),
    /// A function given by a program has no value at the start.
    #[error("{fault} at the start")]
    Function {
        /// Holds what it did.
        fault: Box<Fault>,
    },
    /// Rigid bodies are in each other at the start.
    #[error("contact `{contact}` overlaps by {depth:.4e} m at the start: rigid bodies cannot")]
    Overlap {
        /// The contact.
        contact: String,
        /// Describes how deep \[m\].
        depth: f64,
    },
    /// The equations cannot be evaluated or solved at the start.
    #[error("the equations at the start cannot be solved: {source}")]
    Start {
        /// The reason.
        source: SolveError,
        /// The element it is about.
        element: Option<String>,
    },
}

const GIB: f64 = (1_u64 << 30) as f64;

impl From<Diagnostic> for SetupError {
    fn from(d: Diagnostic) -> Self {
        SetupError::Model(vec![d])
    }
}

impl From<Vec<Diagnostic>> for SetupError {
    fn from(d: Vec<Diagnostic>) -> Self {
        SetupError::Model(d)
    }
}

impl SetupError {
    /// As diagnostics with place and hint.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let message = self.to_string();
        let one =
            |at: Span, hint: Option<String>| vec![Diagnostic::new(at, message.as_str()).maybe_hint(hint)];
        match self {
            SetupError::Model(all) => all.clone(),
            SetupError::Method { source, at } => one(*at, method_hint(source)),
            SetupError::AutoWithOptions { at } => {
                one(*at, Some("name the method that the options are for".into()))
            }
            SetupError::NotIndependent { at, .. } => one(
                *at,
                Some("use `proximal`, which needs no full rank; `sarrus check` shows which rows".into()),
            ),
            SetupError::NeedsViolation { at, .. } => {
                one(*at, Some("use `none`, or another formulation".into()))
            }
            SetupError::OwnConstraints { at, family, .. } => {
                one(*at, Some(format!("leave the {family} out, or take another integrator")))
            }
            SetupError::JointCoordinates { at, hint, .. } => one(*at, Some((*hint).into())),
            SetupError::NotPositive { flag, .. } => {
                one(Span::NONE, Some(format!("give a number above 0, or leave out `{flag}`")))
            }
            SetupError::StepBelowTime { .. } => {
                one(Span::NONE, Some("give a longer step (`--step`, `run.step`), or leave it out".into()))
            }
            SetupError::Backwards { .. } => {
                one(Span::NONE, Some("the end (`--t-end`, `run.t_end`) must be above `run.t_start`".into()))
            }
            SetupError::TooLarge { .. } => one(
                Span::NONE,
                Some(
                    "sample less often (`--every`, `output.every`) or fewer columns (`output.columns`)"
                        .into(),
                ),
            ),
            SetupError::TooDense { at, .. } => one(
                *at,
                Some(
                    "use `proximal` with `projection`, which grow with the model and not with its square"
                        .into(),
                ),
            ),
            SetupError::Assembly(e) => e.diagnostics(),
            SetupError::NoCompliance => one(
                Span::NONE,
                Some(
                    "give a joint `compliance = { force = 1e-7, torque = 1e-5 }`, in m/N and rad/(N m)"
                        .into(),
                ),
            ),
            SetupError::NotDriven { .. } => one(
                Span::NONE,
                Some("add `[drivers]` for the others, or take `sarrus run`; `sarrus check` counts degrees of freedom".into()),
            ),
            SetupError::NoEquilibrium { .. } => one(
                Span::NONE,
                Some("something may fall or be pushed for ever: fix it, or begin nearer to the rest (`[initial]`)".into()),
            ),
            SetupError::NotStatic { hint, .. } => one(Span::NONE, Some((*hint).into())),
            SetupError::SingularPosition { .. } => one(
                Span::NONE,
                Some("no linear motion tells which way it goes on from there: take another state (`--about TIME`)".into()),
            ),
            SetupError::BeforeStart { .. } => one(Span::NONE, Some("take a later time, or `start`".into())),
            SetupError::NotReached { .. } => one(Span::NONE, Some("take an earlier time".into())),
            SetupError::NoModes { .. } | SetupError::Rank(_) => one(
                Span::NONE,
                Some(
                    "numbers of very different sizes, or values that are no numbers, stand in the model: look for a mass, inertia, stiffness \
                     or length in a wrong unit (`sarrus check` shows what was read)"
                        .into(),
                ),
            ),
            SetupError::Function { .. } => {
                one(Span::NONE, Some("the program that gives it knows more".into()))
            }
            SetupError::Overlap { depth, .. } => one(
                Span::NONE,
                Some(format!(
                    "move its bodies apart by {depth:.4e} m, or give it a `law` in place of `method = \"impulsive\"`"
                )),
            ),
            SetupError::Start { element, .. } => {
                one(Span::NONE, element.as_ref().map(|e| format!("look at {e}")))
            }
        }
    }
}

/// The nearest name, where the word is misspelt.
fn method_hint(error: &MethodError) -> Option<String> {
    match error {
        MethodError::UnknownKind { family, name, known } => did_you_mean(name, known.iter())
            .or_else(|| Some(format!("`sarrus list {family}s` tells what each does"))),
        MethodError::UnknownOption { option, known, .. } => did_you_mean(option, known.iter()),
        MethodError::BadOption { .. } => Some(
            "`sarrus list integrators --markdown` has options with their defaults; likewise `formulations`, `stabilizations`".into(),
        ),
    }
}

fn not_driven(free: usize) -> String {
    if free == 0 {
        "something rolls, or a driver gives a rate or speed: positions would follow only from the motion before".into()
    } else {
        let themselves =
            if free == 1 { "is left to move by itself" } else { "are left to move by themselves" };
        format!("{} {themselves}", degrees_of_freedom(free))
    }
}

/// A number of degrees of freedom, in words.
fn degrees_of_freedom(n: usize) -> String {
    if n == 1 { "1 degree of freedom".to_string() } else { format!("{n} degrees of freedom") }
}

fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("{n} {word}") } else { format!("{n} {word}s") }
}
