//! The claims of a paper, for reading.

use crate::printer::wrap;
use crate::style::Painter;
use sarrus_papers::{Reproduction, Table, Verdict};

/// Claims, tables, and what the paper leaves unsaid.
pub fn text(r: &Reproduction, paint: Painter, width: usize) -> String {
    let mut text = format!("{}\n{}\n", paint.bold(&r.name), wrap(&r.title, width));
    for c in &r.claims {
        let verdict = match c.verdict {
            Verdict::Reproduced => paint.green("reproduced"),
            Verdict::Differs => paint.yellow("differs"),
            Verdict::Failed => paint.red("failed"),
        };
        text += &format!("\n{verdict}  {}\n", wrap(&c.claim, width.saturating_sub(12)));
        for (label, value) in [("theirs", c.theirs.to_string()), ("ours", c.ours.to_string())] {
            text += &format!("    {label:<7} {value}\n");
        }
        text += &format!("    within  {}\n", c.tolerance);
        if !c.why.is_empty() {
            text += &format!("    {}\n", wrap(&c.why, width.saturating_sub(4)).replace('\n', "\n    "));
        }
    }
    for table in &r.tables {
        text += &format!("\n{}\n\n{}", paint.bold(&table.title), aligned(table));
    }
    text += &format!("\n{}\n\n", paint.bold("What the paper leaves unsaid"));
    for line in &r.unsaid {
        text += &format!("  - {}\n", wrap(line, width.saturating_sub(4)).replace('\n', "\n    "));
    }
    text
}

fn aligned(table: &Table) -> String {
    let rows = || std::iter::once(&table.columns).chain(&table.rows);
    let mut widths = vec![0; table.columns.len()];
    for row in rows() {
        widths.iter_mut().zip(row).for_each(|(w, cell)| *w = (*w).max(cell.chars().count()));
    }
    let mut text = String::new();
    for row in rows() {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, w)| format!("{cell:<w$}")).collect();
        text += &format!("  {}\n", cells.join("  ").trim_end());
    }
    text
}
