//! `sarrus-falsify`: runs random scenes and says what is wrong.

use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sarrus_falsify::campaign::{Campaign, judge_with, run};
use sarrus_falsify::oracles::{ORACLES, Oracle, OracleVerdict};
use std::path::PathBuf;
use std::process::ExitCode;

/// Random mechanisms, and oracles that need no reference.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Seed of all scenes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of scenes.
    #[arg(long, default_value_t = 1000)]
    scenes: u64,
    /// Index of the first scene.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Oracles that judge, by name; all of them where none is named.
    #[arg(long, value_delimiter = ',', value_parser = oracle_name)]
    only: Vec<String>,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Folder for the model files of what is found.
    #[arg(long, default_value = "found")]
    out: PathBuf,
    /// Prints one scene and what all oracles say of it.
    #[arg(long, value_name = "INDEX")]
    replay: Option<u64>,
}

fn oracle_name(name: &str) -> Result<String, String> {
    let names: Vec<&str> = ORACLES.iter().map(|o| o.name).collect();
    match names.contains(&name) {
        true => Ok(name.into()),
        false => Err(format!("there is no such oracle; one of: {}", names.join(" "))),
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let campaign = Campaign {
        seed: args.seed,
        first: args.first,
        scenes: args.scenes,
        only: args.only,
        jobs: args.jobs,
        out: Some(args.out),
    };
    if let Some(index) = args.replay {
        return replay(&campaign, index);
    }
    let bar = ProgressBar::with_draw_target(Some(campaign.scenes), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len}  {eta} left  {msg}") {
        bar.set_style(style);
    }
    let tally = run(&campaign, &mut |tally| {
        bar.set_position(tally.scenes);
        bar.set_message(format!("{} found", tally.findings.len()));
    });
    bar.finish_and_clear();
    print!("{}", tally.table());
    if tally.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn replay(campaign: &Campaign, index: u64) -> ExitCode {
    let wanted = |o: &&Oracle| campaign.only.is_empty() || campaign.only.iter().any(|n| n == o.name);
    let oracles: Vec<&'static Oracle> = ORACLES.iter().filter(wanted).collect();
    let judged = judge_with(campaign, index, &oracles);
    println!("# {} scene, {}", judged.flavour, judged.ended);
    println!("{}", judged.scene.toml());
    let mut wrong = false;
    for (name, verdict) in &judged.verdicts {
        let said = match verdict {
            OracleVerdict::Silent => continue,
            OracleVerdict::Undecided => "undecided".to_string(),
            OracleVerdict::Agrees => "agrees".to_string(),
            OracleVerdict::Wrong(what) => format!("WRONG: {what}"),
        };
        wrong |= matches!(verdict, OracleVerdict::Wrong(_));
        println!("# {name}: {said}");
    }
    if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
