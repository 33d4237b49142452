//! Example A as the paper runs it: iterations per step of both techniques, and what happens when the links are straight.
//!
//! Neither step nor α, β and ε are printed: the setting in which the paper's numbers appear was searched for, and a table shows its
//! neighbourhood.

use super::steps::{Guess, Iteration, Technique};
use super::unfold::{Chain, Lock, Settings, Unfolded};
use crate::claim::PaperError;
use crate::runs::Tally;
use crate::table::Table;

/// The setting in which the paper's numbers appear: step \[s\], α \[1/s\] with β = α², relative ε.
pub const H: f64 = 0.02;
pub const ALPHA: f64 = 30.0;
const EPSILON: f64 = 1e-4;
/// Accuracies of the paper.
const ACCURACIES: [f64; 3] = [1e-4, 1e-5, 1e-6];
/// End of the runs \[s\].
const T_END: f64 = 1.5;
/// α h that are tried, with β = α².
const RATES: [f64; 4] = [0.0, 0.1, 0.3, 0.6];
/// ε that are tried.
const EPSILONS: [f64; 3] = [1e-8, 1e-4, 1e-2];

/// With accuracy 1e-6, as in the caption of Fig. 2, the numbers appear with this α \[1/s\].
const ALPHA_CAPTION: f64 = 25.0;

/// Everything that was run.
pub struct Runs {
    /// In the paper's setting: Baumgarte and staggered, by accuracy.
    pub paper: Vec<[Unfolded; 2]>,
    /// The same at 1e-4 with all locks as angles, and as distances.
    pub angle: [Unfolded; 2],
    pub distance: [Unfolded; 2],
    /// With all locks as distances and short steps.
    pub short: [Unfolded; 2],
    /// In the paper's setting by Newton's method.
    pub newton: [Unfolded; 2],
    /// Rank of J M⁻¹Jᵀ when straight, and its condition, by kind of lock.
    pub straight: Vec<(Lock, usize, f64)>,
    /// Baumgarte and staggered beside each other, over steps, rates and iterations, with locks as angles.
    pub pairs: Vec<[Unfolded; 2]>,
    /// How many of Baumgarte's runs with the last lock as a distance fail when straight, and of how many.
    pub fail: [usize; 2],
    pub tables: Vec<Table>,
}

fn baumgarte(alpha: f64) -> Technique {
    Technique::Baumgarte { alpha, beta: alpha * alpha }
}

fn paper(lock: Lock, technique: Technique, accuracy: f64) -> Settings {
    let (iteration, guess) = (Iteration::Substitution, Guess::Last);
    Settings { lock, technique, iteration, guess, h: H, accuracy, t_end: T_END }
}

/// Makes all runs, with a table over the steps `scan` \[s\].
pub fn runs(scan: &[f64], tally: &mut Tally) -> Result<Runs, PaperError> {
    let chain = Chain::new()?;
    tally.next("deployment by difference equations")?;
    let staggered = Technique::Staggered { epsilon: EPSILON };
    let both = |of: &dyn Fn(Technique) -> Settings| {
        Ok::<_, PaperError>([chain.run(&of(baumgarte(ALPHA)))?, chain.run(&of(staggered))?])
    };
    let paper_runs = ACCURACIES
        .iter()
        .map(|&accuracy| both(&|t| paper(Lock::LastDistance, t, accuracy)))
        .collect::<Result<Vec<_>, _>>()?;
    let angle = both(&|t| paper(Lock::Angle, t, 1e-4))?;
    let distance = both(&|t| paper(Lock::Distance, t, 1e-4))?;
    let short = both(&|t| Settings { h: 0.001, ..paper(Lock::Distance, t, 1e-4) })?;
    let newton = both(&|t| Settings { iteration: Iteration::Newton, ..paper(Lock::Angle, t, 1e-4) })?;
    let straight = [Lock::Angle, Lock::LastDistance, Lock::Distance]
        .map(|lock| chain.straight(lock).map(|(rank, condition)| (lock, rank, condition)))
        .into_iter()
        .collect::<Result<_, _>>()?;
    let caption = [baumgarte(ALPHA_CAPTION), staggered]
        .map(|t| chain.run(&paper(Lock::LastDistance, t, 1e-6)))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let mut found = Runs {
        tables: vec![by_accuracy(&paper_runs, &caption)],
        paper: paper_runs,
        angle,
        distance,
        short,
        newton,
        straight,
        pairs: Vec::new(),
        fail: [0, 0],
    };
    by_step(&chain, scan, &mut found, tally)?;
    Ok(found)
}

/// Iterations per step, and when it failed.
pub fn cell(run: &Unfolded) -> String {
    match run.failed {
        Some(_) if run.steps.is_empty() => "fails at once".into(),
        Some(t) => format!("{:.1}, fails at {t:.2} s", run.mean()),
        None if run.locks.len() < 3 => format!("{:.1}, {} locks", run.mean(), run.locks.len()),
        None => format!("{:.1}", run.mean()),
    }
}

fn by_accuracy(runs: &[[Unfolded; 2]], caption: &[Unfolded]) -> Table {
    let mut table = Table::new(
        &format!(
            "Deployment: iterations per step until straight, by substitution; h = {H} s, β = α², ε = {EPSILON:e}, last lock as a \
             distance"
        ),
        &["accuracy", "α [1/s]", "Baumgarte", "staggered", "ratio", "staggered, most"],
    );
    let mut row = |accuracy: f64, alpha: f64, [b, s]: [&Unfolded; 2]| {
        table.rows.push(vec![
            format!("{accuracy:e}"),
            alpha.to_string(),
            cell(b),
            cell(s),
            format!("{:.1}", b.mean() / s.mean()),
            s.most_after(0.0).to_string(),
        ]);
    };
    for (accuracy, [b, s]) in ACCURACIES.iter().zip(runs) {
        row(*accuracy, ALPHA, [b, s]);
    }
    if let [b, s] = caption {
        row(1e-6, ALPHA_CAPTION, [b, s]);
    }
    table
}

/// The table over steps, and what claims need of it.
fn by_step(chain: &Chain, scan: &[f64], found: &mut Runs, tally: &mut Tally) -> Result<(), PaperError> {
    let mut columns: Vec<String> = ["locks as", "iteration", "h [s]"].map(String::from).to_vec();
    columns.extend(RATES.map(|rate| format!("Baumgarte, αh = {rate}")));
    columns.extend(EPSILONS.map(|epsilon| format!("staggered, ε = {epsilon:e}")));
    columns.push(format!("eq. 27, ε = {EPSILON:e}"));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("Deployment: iterations per step until straight at accuracy 1e-4", &columns);
    for lock in [Lock::Angle, Lock::LastDistance, Lock::Distance] {
        for (iteration, name) in [(Iteration::Substitution, "substitution"), (Iteration::Newton, "Newton")] {
            tally.next(&format!("deployment, locks as {}, by {name}", lock.name()))?;
            for &h in scan {
                let run = |technique| chain.run(&Settings { iteration, h, ..paper(lock, technique, 1e-4) });
                let theirs =
                    RATES.map(|rate| run(baumgarte(rate / h))).into_iter().collect::<Result<Vec<_>, _>>()?;
                let ours = EPSILONS
                    .map(|epsilon| run(Technique::Staggered { epsilon }))
                    .into_iter()
                    .collect::<Result<Vec<_>, _>>()?;
                let index1 = run(Technique::StaggeredIndex1 { epsilon: EPSILON })?;
                let mut row = vec![lock.name().into(), name.into(), h.to_string()];
                row.extend(theirs.iter().chain(&ours).chain([&index1]).map(cell));
                table.rows.push(row);
                if lock == Lock::LastDistance {
                    found.fail[0] += theirs.iter().filter(|r| r.failed.is_some_and(|t| t > 1.1)).count();
                    found.fail[1] += theirs.len();
                }
                if lock == Lock::Angle {
                    found.pairs.extend(theirs.into_iter().map(|b| [b, ours[1].clone()]));
                }
            }
        }
    }
    found.tables.push(table);
    Ok(())
}
