//! `sarrus compare`

use super::open;
use crate::args::CompareArgs;
use crate::compare_figures::figures;
use crate::compare_table;
use crate::exit::Exit;
use crate::printer::{Printer, number};
use crate::progress::{listen, stopped};
use crate::results::{Results, ResultsError};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sarrus::analysis::compare::{
    self, Combination, Comparison, ComparisonMatrix, ComparisonProgress, ComparisonWatch, Effort, Phase,
    RowStatus, Timing, Tolerance,
};
use sarrus::analysis::{Proceed, RunOverrides, Settings, SetupError};
use sarrus::model::settings::MethodChoice;
use sarrus::model::{Failure, Model};

/// Runs a matrix of methods, prints the table, and writes what is asked for.
pub fn run(args: &CompareArgs, printer: &mut Printer) -> Exit {
    // before the work, so that it is not in vain
    let results = match args.out.as_deref().map(Results::create).transpose() {
        Ok(results) => results,
        Err(error) => {
            printer.error(error);
            return Exit::Input;
        }
    };
    let (model, system) = match open(&args.model, false, printer) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let wrong = |error: SetupError, model: Model, printer: &mut Printer| {
        printer.failure(&Failure { diagnostics: error.diagnostics(), sources: model.sources });
        Exit::Input
    };
    let matrix = match matrix(args, &model) {
        Ok(matrix) => matrix,
        Err(FlagError::Setup(error)) => return wrong(error, model, printer),
        Err(FlagError::List(message)) => {
            printer.error(message);
            return Exit::Input;
        }
    };
    match matrix.cases() {
        Ok(cases) => printer.say("comparing", announcement(&matrix, &cases)),
        Err(error) => return wrong(error, model, printer),
    }
    let found = {
        let mut bar = ComparisonBar::new(printer.is_terminal());
        compare::run(&model, &system, &matrix, &mut bar)
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => return wrong(error, model, printer),
    };
    report(&found, args, printer);
    if let Some(results) = results {
        match write(&results, &found) {
            Ok(names) => {
                let dir = args.out.as_deref().map(|d| d.display().to_string()).unwrap_or_default();
                printer.say("written", format!("{dir}: {}", names.join(", ")));
            }
            Err(error) => {
                printer.error(error);
                return Exit::Input;
            }
        }
    } else if !args.json && !args.csv {
        printer.hint("--out DIR writes compare.json, compare.csv and figures");
    }
    let completed = found.rows.iter().any(|row| row.status == RowStatus::Completed);
    if completed || found.interrupted { Exit::Done } else { Exit::Failed }
}

/// What is wrong with the flags.
pub enum FlagError {
    /// A number, or what the model says.
    Setup(SetupError),
    /// A list of methods.
    List(String),
}

/// What the flags ask for.
pub fn matrix(args: &CompareArgs, model: &Model) -> Result<ComparisonMatrix, FlagError> {
    let over = RunOverrides { t_end: args.t_end, ..RunOverrides::default() };
    let settings = Settings::read(model, &over).map_err(FlagError::Setup)?;
    let positive = |flag: &'static str, value: f64| {
        if value.is_finite() && value > 0.0 {
            Ok(value)
        } else {
            Err(FlagError::Setup(SetupError::NotPositive { flag, value }))
        }
    };
    for rtol in &args.rtols {
        positive("rtols", *rtol)?;
    }
    for step in &args.steps {
        positive("steps", *step)?;
    }
    let all = ComparisonMatrix::all(&settings);
    let ratio = settings.atol / settings.rtol;
    let tolerance = |rtol: f64| Tolerance { rtol, atol: ratio * rtol };
    let reference_rtol = positive("reference-rtol", args.reference_rtol)?;
    Ok(ComparisonMatrix {
        formulations: list(&args.formulations, &all.formulations)?,
        stabilizations: list(&args.stabilizations, &all.stabilizations)?,
        integrators: list(&args.integrators, &every_integrator())?,
        tolerances: if args.rtols.is_empty() {
            all.tolerances
        } else {
            args.rtols.iter().map(|r| tolerance(*r)).collect()
        },
        steps: args.steps.clone(),
        t_end: args.t_end,
        reference: all
            .reference
            .map(|r| compare::ReferenceMethod { tolerance: tolerance(reference_rtol), ..r }),
        wall_limit: Some(positive("wall-limit", args.wall_limit)?),
        timing: (args.repeat > 0).then(|| Timing { repeat: args.repeat, ..Timing::default() }),
        jobs: args.jobs.unwrap_or(0),
        dense_limit: args.dense_limit,
        ..all
    })
}

/// Methods of a flag that may be given more than once; `all` stands for those that exist.
fn list(texts: &[String], all: &[MethodChoice]) -> Result<Vec<MethodChoice>, FlagError> {
    let mut found: Vec<MethodChoice> = Vec::new();
    for text in texts {
        let named = if text.trim() == "all" {
            all.to_vec()
        } else {
            compare::choices(text).map_err(|e| FlagError::List(e.to_string()))?
        };
        // the same twice says nothing new
        for choice in named {
            if !found.contains(&choice) {
                found.push(choice);
            }
        }
    }
    Ok(found)
}

fn every_integrator() -> Vec<MethodChoice> {
    let names: Vec<&str> = sarrus::solve::integrators::KINDS.iter().map(|k| k.name).collect();
    compare::choices(&names.join(",")).unwrap_or_default()
}

/// `50 runs: 10 formulations x 5 stabilizations x 1 integrator, rtol = 1e-6; at most 60 s each`
fn announcement(matrix: &ComparisonMatrix, cases: &[Combination]) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let efforts = match matrix.tolerances.as_slice() {
        _ if !cases.iter().any(|c| matches!(c.effort, Effort::Tolerance(_))) => String::new(),
        [one] => format!(", rtol = {:e}", one.rtol),
        many => format!(", {}", count(many.len(), "tolerance")),
    };
    let own = matrix.integrators.iter().filter(|i| compare::resolves_constraints(i)).count();
    let others = matrix.integrators.len() - own;
    let combined = format!(
        "{} x {} x {}",
        count(matrix.formulations.len(), "formulation"),
        count(matrix.stabilizations.len(), "stabilization"),
        count(others, "integrator")
    );
    let what = match (others, own) {
        (_, 0) => combined,
        (0, 1) => "1 integrator that resolves the constraints itself".into(),
        (0, own) => format!("{own} integrators that resolve the constraints themselves"),
        (_, own) => format!("{combined} and {own} with formulation and stabilization `own`"),
    };
    format!(
        "{}: {what}{efforts}; at most {} s each",
        count(cases.len(), "run"),
        matrix.wall_limit.unwrap_or(f64::INFINITY)
    )
}

fn report(found: &Comparison, args: &CompareArgs, printer: &mut Printer) {
    for note in &found.notes {
        printer.say("note", note);
    }
    if let Some(reference) = &found.reference {
        let m = &reference.method;
        let trust = match reference.uncertainty {
            Some(u) => format!("good to {} (its difference to ten times the tolerance)", number(u)),
            None => "of unknown quality: no second run completed".to_string(),
        };
        let rtol = m.rtol.map_or(String::new(), |r| format!(", rtol = {r:e}"));
        printer.say(
            "reference",
            format!("{} + {} + {}{rtol}: {trust}", m.formulation, m.stabilization, m.integrator),
        );
        for failed in &reference.failed {
            printer.say("note", format!("reference at {failed}"));
        }
    }
    if found.interrupted {
        printer.say("note", "interrupted: rows that were not reached say so");
    }
    if args.json {
        printer.data(&found.to_json());
    } else if args.csv {
        printer.data(&found.to_csv());
    } else {
        printer.comparison(found);
    }
}

/// Writes the folder of a comparison, and returns the names of its files.
pub fn write(results: &Results, found: &Comparison) -> Result<Vec<String>, ResultsError> {
    results.write("compare.json", |out| {
        out.write_all(found.to_json().as_bytes())?;
        out.write_all(b"\n")
    })?;
    results.write("compare.csv", |out| out.write_all(found.to_csv().as_bytes()))?;
    let mut names = vec!["compare.json".to_string(), "compare.csv".to_string()];
    for (name, figure) in figures(found) {
        results.write(&format!("{name}.svg"), |out| out.write_all(figure.svg().as_bytes()))?;
        results.write(&format!("{name}.png"), |out| {
            let bytes = figure.png(2.0).map_err(std::io::Error::other)?;
            out.write_all(&bytes)
        })?;
        names.push(format!("{name}.svg"));
        names.push(format!("{name}.png"));
    }
    Ok(names)
}

impl Printer {
    /// The table of a comparison.
    pub fn comparison(&mut self, found: &Comparison) {
        let text = compare_table::text(found, self.paint());
        self.data(&text);
    }
}

/// The progress bar, on a terminal.
struct ComparisonBar(Option<ProgressBar>);

impl ComparisonBar {
    fn new(terminal: bool) -> ComparisonBar {
        listen();
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}") {
                bar.set_style(style);
            }
            bar
        });
        ComparisonBar(bar)
    }
}

impl ComparisonWatch for ComparisonBar {
    fn progress(&mut self, p: &ComparisonProgress) -> Proceed {
        if let Some(bar) = &self.0 {
            bar.set_position((1000.0 * p.fraction) as u64);
            let what = match p.phase {
                Phase::Reference => "reference",
                Phase::Runs => "runs",
                Phase::Timing => "times",
            };
            bar.set_message(format!("{what}: {} of {}", p.done, p.total));
        }
        if stopped() { Proceed::Stop } else { Proceed::Continue }
    }
}

impl Drop for ComparisonBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
