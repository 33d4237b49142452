//! The table of `sarrus compare`.
//!
//! Parts of the method that all rows share stand above the table; reasons of rows that did not complete below it.

use crate::printer::{group, number, time};
use crate::style::Painter;
use sarrus::analysis::compare::{Comparison, ComparisonRow, Effort, RowStatus};

/// The whole text.
pub fn text(found: &Comparison, paint: Painter) -> String {
    let mut text =
        format!("{}, t = {} to {} s\n", paint.bold(&found.model), time(found.t_start), time(found.t_end));
    let columns = columns(found);
    let (same, columns): (Vec<TableColumn>, Vec<TableColumn>) =
        columns.into_iter().partition(|c| c.shared(&found.rows));
    let same: Vec<String> = same.iter().map(|c| format!("{} {}", c.head, c.cell(&found.rows[0]))).collect();
    if !same.is_empty() {
        text += &format!("all with {}\n", same.join(", "));
    }
    text.push('\n');

    let mut reasons: Vec<String> = Vec::new();
    let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|c| c.head.to_string()).collect()];
    for row in &found.rows {
        let mut cells: Vec<String> = columns.iter().map(|c| c.cell(row)).collect();
        if let Some(reason) = reason(row) {
            let index = reasons.iter().position(|r| *r == reason).unwrap_or_else(|| {
                reasons.push(reason);
                reasons.len() - 1
            });
            if let Some(status) = columns.iter().position(|c| c.head == "status") {
                cells[status] += &format!(" [{}]", index + 1);
            }
        }
        lines.push(cells);
    }
    text += &aligned(&lines, &columns, &found.rows, paint);
    if !reasons.is_empty() {
        text.push('\n');
        for (i, reason) in reasons.iter().enumerate() {
            text += &format!("  [{}] {reason}\n", i + 1);
        }
    }
    text += &legend(found);
    text
}

/// A column: its head, whether it may be left out where all rows agree, and its cells.
struct TableColumn {
    head: &'static str,
    optional: bool,
    right: bool,
    of: Box<dyn Fn(&ComparisonRow) -> String>,
}

impl TableColumn {
    fn cell(&self, row: &ComparisonRow) -> String {
        (self.of)(row)
    }

    fn shared(&self, rows: &[ComparisonRow]) -> bool {
        self.optional && rows.windows(2).all(|w| self.cell(&w[0]) == self.cell(&w[1])) && !rows.is_empty()
    }
}

fn columns(found: &Comparison) -> Vec<TableColumn> {
    let uncertainty = found.reference.as_ref().and_then(|r| r.uncertainty);
    let column = |head, optional, right, of: Box<dyn Fn(&ComparisonRow) -> String>| TableColumn {
        head,
        optional,
        right,
        of,
    };
    let some = |x: Option<f64>| x.map_or("-".to_string(), known);
    let mut all = vec![
        column("formulation", true, false, Box::new(|r| r.formulation.clone())),
        column("stabilization", true, false, Box::new(|r| r.stabilization.clone())),
        column("integrator", true, false, Box::new(|r| r.integrator.clone())),
        column("rtol", true, true, Box::new(effort)),
        column("status", false, false, Box::new(|r| r.status.name().to_string())),
        column("time x", false, true, Box::new(|r| r.ratio.map_or("-".into(), ratio))),
        column("rhs", false, true, Box::new(|r| r.counts.map_or("-".into(), |c| group(c.rhs)))),
        column("steps", false, true, Box::new(|r| r.counts.map_or("-".into(), |c| group(c.steps)))),
        column("position", false, true, Box::new(move |r| some(r.drift.map(|d| d.position)))),
        column("velocity", false, true, Box::new(move |r| some(r.drift.map(|d| d.velocity)))),
        column("accel.", false, true, Box::new(move |r| some(r.drift.map(|d| d.acceleration)))),
        column("energy", false, true, Box::new(move |r| some(r.energy_error))),
        column("error", false, true, Box::new(move |r| error(r.error, uncertainty))),
        column("reactions", false, true, Box::new(move |r| some(r.reactions()))),
    ];
    if !found.not_unique.is_empty() {
        all.push(column("not unique", false, true, Box::new(move |r| some(r.not_unique()))));
    }
    if found.rows.iter().any(|r| matches!(r.effort, Effort::Step { .. })) {
        all[3].head = "rtol/step";
    }
    all
}

/// `1e-6`, or the step in seconds.
fn effort(row: &ComparisonRow) -> String {
    match row.effort {
        Effort::Tolerance(t) => format!("{:e}", t.rtol),
        Effort::Step { step: Some(step) } => format!("{step:e} s"),
        Effort::Step { step: None } => "default".into(),
    }
}

fn known(x: f64) -> String {
    if x.is_finite() { number(x) } else { "?".into() }
}

fn ratio(x: f64) -> String {
    if x < 10.0 {
        format!("{x:.2}")
    } else if x < 100.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.0}")
    }
}

/// An error, or that it is below what can be known.
fn error(error: Option<f64>, uncertainty: Option<f64>) -> String {
    match (error, uncertainty) {
        (None, _) => "-".into(),
        (Some(e), Some(u)) if e < u => format!("<{}", number(u)),
        (Some(e), _) => known(e),
    }
}

/// Returns why a row did not complete.
fn reason(row: &ComparisonRow) -> Option<String> {
    let at = row.t_reached.map_or(String::new(), |t| format!("at t = {} s: ", time(t)));
    match row.status {
        RowStatus::Completed => None,
        RowStatus::Refused => Some(row.reason.clone()),
        RowStatus::Stopped | RowStatus::Failed => Some(format!("{at}{}", row.reason)),
    }
}

fn aligned(lines: &[Vec<String>], columns: &[TableColumn], rows: &[ComparisonRow], paint: Painter) -> String {
    let width = |k: usize| lines.iter().map(|l| l[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        let mut out = String::new();
        for (k, cell) in line.iter().enumerate() {
            let pad = " ".repeat(widths[k] - cell.chars().count());
            let painted =
                if i == 0 { paint.bold(cell) } else { painted(cell, columns[k].head, &rows[i - 1], paint) };
            out += "  ";
            out += &if columns[k].right { format!("{pad}{painted}") } else { format!("{painted}{pad}") };
        }
        text += out.trim_end();
        text.push('\n');
    }
    text
}

/// Returns what is good, bad or doubtful in colour.
fn painted(cell: &str, head: &str, row: &ComparisonRow, paint: Painter) -> String {
    match (head, row.status) {
        ("status", RowStatus::Failed) => paint.red(cell),
        ("status", RowStatus::Refused | RowStatus::Stopped) => paint.yellow(cell),
        ("time x", _) if row.ratio == Some(1.0) => paint.green(cell),
        _ => cell.to_string(),
    }
}

/// Returns what the columns mean.
fn legend(found: &Comparison) -> String {
    let mut text = String::from(
        "\n  position, velocity, accel.: largest violation of the constraints; energy: relative error of the balance\n",
    );
    if let Some(reference) = &found.reference {
        text += "  error: largest difference to the reference, m or rad";
        if let Some(u) = reference.uncertainty {
            text += &format!("; < {}: less than it can be trusted to", number(u));
        }
        text += "\n  reactions: largest difference of those that are unique, N or N m\n";
    }
    let unknown = |r: &ComparisonRow| {
        let drift = r.drift.map(|d| [d.position, d.velocity, d.acceleration]).into_iter().flatten();
        let rest = [r.energy_error, r.error, r.reactions(), r.not_unique()].into_iter().flatten();
        drift.chain(rest).any(|x| !x.is_finite())
    };
    if found.rows.iter().any(unknown) {
        text += "  ?: not known at some sample, as accelerations or reactions could not be found there\n";
    }
    if !found.not_unique.is_empty() {
        let (shared, all) = (found.not_unique.len(), found.not_unique.len() + found.unique.len());
        text += &format!(
            "  not unique: {shared} of {all} reactions are shared by redundant constraints in many ways; they may differ\n"
        );
    }
    if let Some(fastest) = found.rows.iter().filter(|r| r.ratio == Some(1.0)).find_map(|r| r.time_s) {
        text += &format!(
            "  time x: against the fastest, {} s of {} time, best of at least {}, taken alone\n",
            number(fastest),
            found.clock,
            found.repeat
        );
    }
    text
}
