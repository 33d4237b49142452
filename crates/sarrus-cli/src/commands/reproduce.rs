//! `sarrus reproduce`

use crate::args::ReproduceArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::RunsProgress;
use crate::reproduce_text;
use crate::results::{Results, ResultsError};
use sarrus::model::suggest::did_you_mean;
use sarrus_papers::{Effort, PAPERS, Paper, PaperError, Progress, Reproduction, find};
use serde_json::json;
use std::path::Path;

/// Runs the examples of papers again and holds them against what is printed.
pub fn run(args: &ReproduceArgs, printer: &mut Printer) -> Exit {
    let papers: Vec<&Paper> = match args.paper.as_str() {
        "all" => PAPERS.iter().collect(),
        name => match find(name) {
            Some(paper) => vec![paper],
            None => {
                printer.error(format!("there is no reproduction of `{name}`"));
                let names = || PAPERS.iter().map(|p| p.name);
                let known = format!("one of: all {}", names().collect::<Vec<_>>().join(" "));
                printer.hint(did_you_mean(name, names()).unwrap_or(known));
                return Exit::Input;
            }
        },
    };
    if args.list && args.json {
        let entry = |p: &&Paper| json!({ "name": p.name, "title": p.title, "scope": p.scope });
        let all: Vec<_> = papers.iter().map(entry).collect();
        printer.data(&serde_json::to_string_pretty(&json!({ "papers": all })).unwrap_or_default());
        return Exit::Done;
    }
    if args.list {
        let lines: Vec<String> =
            papers.iter().map(|p| format!("{}\n  {}\n  {}\n", p.name, p.title, p.scope)).collect();
        printer.data(&lines.join("\n"));
        return Exit::Done;
    }
    let effort = if args.quick { Effort::Quick } else { Effort::Full };
    let mut done = Vec::new();
    for paper in papers {
        // before the work, so that it is not in vain
        let results = match args.out.as_deref().map(|dir| Results::create(&dir.join(paper.name))).transpose()
        {
            Ok(results) => results,
            Err(error) => return refused(&error, printer),
        };
        let outcome = {
            let mut bar = ReproductionBar(RunsProgress::new(printer, paper.name));
            (paper.run)(effort, &mut bar)
        };
        let reproduction = match outcome {
            Ok(reproduction) => reproduction,
            Err(error) => {
                printer.error(format!("{}: {error}", paper.name));
                if matches!(error, PaperError::Interrupted) {
                    printer.hint("what was finished before stays in the folder of `--out`");
                }
                return Exit::Failed;
            }
        };
        if !args.json {
            let text = reproduce_text::text(&reproduction, printer.paint(), printer.width());
            printer.data(&text);
        }
        if let (Some(results), Some(dir)) = (results, &args.out) {
            if let Err(error) = write(&results, &reproduction) {
                return refused(&error, printer);
            }
            printer.say("written", shown(&dir.join(paper.name), &reproduction));
        }
        done.push(reproduction);
    }
    if args.json {
        printer.data(&serde_json::to_string_pretty(&json!({ "papers": done })).unwrap_or_default());
    } else if args.out.is_none() {
        printer.hint("--out DIR writes claim tables and figures");
    }
    if done.iter().all(Reproduction::passed) { Exit::Done } else { Exit::Failed }
}

fn shown(dir: &Path, r: &Reproduction) -> String {
    format!("{}: claims.md, claims.json and {} figures as SVG and PNG", dir.display(), r.figures.len())
}

/// Writes the folder of a reproduction.
pub fn write(results: &Results, r: &Reproduction) -> Result<(), ResultsError> {
    results.write("claims.md", |out| out.write_all(r.markdown().as_bytes()))?;
    let json = serde_json::to_string_pretty(r).unwrap_or_default();
    results.write("claims.json", |out| writeln!(out, "{json}"))?;
    for (name, figure) in &r.figures {
        results.write(&format!("{name}.svg"), |out| out.write_all(figure.svg().as_bytes()))?;
        results.write(&format!("{name}.png"), |out| {
            let png = figure.png(2.0).map_err(std::io::Error::other)?;
            out.write_all(&png)
        })?;
    }
    Ok(())
}

fn refused(error: &ResultsError, printer: &mut Printer) -> Exit {
    printer.error(error);
    printer.hint("give another folder with --out");
    Exit::Input
}

/// Shows the runs of a paper as they are made.
struct ReproductionBar(RunsProgress);

impl Progress for ReproductionBar {
    fn at(&mut self, done: usize, total: usize, what: &str) -> bool {
        self.0.at(done, total, what)
    }
}
