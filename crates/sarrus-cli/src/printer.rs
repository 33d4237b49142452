//! Every line that the user sees. Data goes to stdout, talk to stderr; a reader that has gone away is not an error.

use crate::check_text;
use crate::style::{Painter, paint_for, width_of};
use sarrus::analysis::{AssemblyReport, CheckReport, ContactReport, Method, Report, Status};
use sarrus::catalogue::{CatalogueEntry, KeyEntry};
use sarrus::model::shown::DisplayUnits;
use sarrus::model::{Diagnostic, Failure, Sources};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// Events that a summary lists one by one.
const EVENTS: usize = 4;

/// Below this part of the largest one a reaction or a contact force is rounding.
const ROUNDING: f64 = 1e-9;

/// Writes to the two streams, in colour where that is wanted.
pub struct Printer {
    out: Painter,
    talk: Painter,
    width: usize,
    terminal: bool,
}

impl Printer {
    /// For this process's streams.
    pub fn new() -> Printer {
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Printer { out: paint_for(stdout), talk: paint_for(stderr), width: width_of(stderr), terminal: stderr }
    }

    /// Characters in a line.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns whether someone watches stderr.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Colours of stdout.
    pub fn paint(&self) -> Painter {
        self.out
    }

    /// Data, as it is.
    pub fn data(&mut self, text: &str) {
        let mut out = io::stdout().lock();
        // a closed pipe ends the talk, not the program
        let _ = out.write_all(text.as_bytes());
        if !text.ends_with('\n') {
            let _ = out.write_all(b"\n");
        }
        let _ = out.flush();
    }

    fn talk(&mut self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// One line of talk under a label: `method: ...`, wrapped to the terminal.
    pub fn say(&mut self, label: &str, text: impl Display) {
        let text = wrap(&format!("{label}: {text}"), self.width);
        let text = text.replacen(label, &self.talk.bold(label), 1);
        self.talk(&text);
    }

    /// What went wrong.
    pub fn error(&mut self, text: impl Display) {
        let label = self.talk.red("error");
        self.talk(&format!("{label}: {text}"));
    }

    /// What to do about it.
    pub fn hint(&mut self, text: impl Display) {
        let label = self.talk.blue("hint");
        self.talk(&format!("{label}: {text}"));
    }

    /// Why a model cannot be used.
    pub fn failure(&mut self, failure: &Failure) {
        self.diagnostics(&failure.diagnostics, &failure.sources);
    }

    /// The same, of a model that is kept.
    pub fn diagnostics(&mut self, diagnostics: &[Diagnostic], sources: &Sources) {
        const SHOWN: usize = 20;
        for (i, d) in diagnostics.iter().take(SHOWN).enumerate() {
            if i > 0 {
                self.talk("");
            }
            let text = d.render(sources);
            // `file:line:col: message` already says that something is wrong; a bare message does not
            if d.at.is_some() { self.talk(&text) } else { self.error(text) }
        }
        if diagnostics.len() > SHOWN {
            self.talk(&format!("\n... and {} more", diagnostics.len() - SHOWN));
        }
    }

    /// `method: auto -> ... because ...`
    pub fn method(&mut self, method: &Method) {
        self.say("method", method.announcement());
    }

    /// Where assembly moved something: how far, and what most.
    pub fn assembly(&mut self, report: &AssemblyReport) {
        if let Some(body) = &report.worst {
            let (moved, rotated) = (number(report.moved), number(report.rotation));
            self.say("assembly", format!("moved bodies by up to {moved} m and {rotated} rad, most `{body}`"));
        }
    }

    /// Kinds of families, one line each.
    pub fn list(&mut self, all: &[(String, Vec<CatalogueEntry>)]) {
        let mut text = String::new();
        for (i, (family, entries)) in all.iter().enumerate() {
            if all.len() > 1 {
                let gap = if i > 0 { "\n" } else { "" };
                text += &format!("{gap}{}\n", self.out.bold(family));
            }
            let rows: Vec<[String; 3]> =
                entries.iter().map(|e| [e.name.to_string(), e.remark.clone(), e.doc.clone()]).collect();
            if rows.iter().all(|row| row[1].is_empty()) {
                text += &table(&rows.into_iter().map(|[name, _, doc]| [name, doc]).collect::<Vec<_>>());
            } else {
                text += &table(&rows);
            }
            // options of methods have no other place where a user would look
            let methods = ["formulations", "stabilizations", "integrators"].contains(&family.as_str());
            for e in entries.iter().filter(|e| methods && all.len() == 1 && !e.keys.is_empty()) {
                text += &format!("\n  options of {}\n", self.out.bold(e.name));
                let option =
                    |k: &KeyEntry| [format!("  {}", k.name), k.default.to_string(), k.doc.to_string()];
                text += &table(&e.keys.iter().map(option).collect::<Vec<_>>());
            }
        }
        self.data(&text);
    }

    /// What a run did and how well, in the units `shown`.
    pub fn summary(&mut self, report: &Report, shown: &DisplayUnits) {
        let mut text = String::new();
        let status = match report.status {
            Status::Completed => self.out.green(report.status.name()),
            Status::Stopped => self.out.yellow(report.status.name()),
            Status::Failed => self.out.red(report.status.name()),
        };
        text += &format!("{}: {status} at t = {} s", self.out.bold(&report.model), time(report.t_end));
        // why a run failed is said below, as an error
        if report.status == Status::Stopped {
            text += &format!(": {}", report.reason);
        }
        text += "\n\n";
        text += &table(&run_facts(report, shown));
        text.push('\n');

        let mut rows = vec![["certificate".to_string(), "value".into(), "limit".into(), String::new()]];
        for (name, item) in report.certificate.items() {
            let mark = if item.passed { self.out.green("passed") } else { self.out.red("not kept") };
            rows.push([name.to_string(), number(item.value), number(item.limit), mark]);
        }
        text += &table(&rows);
        let verdict =
            if report.certificate.passed { self.out.green("passed") } else { self.out.red("not passed") };
        text += &format!("\n  certificate {verdict}\n");
        self.data(&text);
    }

    /// What a check found; `all` leaves nothing out.
    pub fn check(&mut self, report: &CheckReport, all: bool) {
        let text = check_text::check_with_notes(report, all, self.out, self.width);
        self.data(&text);
    }
}

fn run_facts(r: &Report, shown: &DisplayUnits) -> Vec<[String; 2]> {
    let c = &r.counts;
    let rejected = if c.rejected > 0 { format!(" ({} rejected)", group(c.rejected)) } else { String::new() };
    let (initial, joule) = shown.value(r.energy.initial, "J");
    let (drift, _) = shown.value(r.energy.max_drift, "J");
    let mut rows = vec![
        ["bodies".to_string(), group(r.size.bodies as u64)],
        ["degrees of freedom".to_string(), r.dof.map_or("not determined".to_string(), |d| group(d as u64))],
        [
            "constraints".to_string(),
            constraints(r.constraints.rows, r.constraints.rank, r.constraints.rank_margin),
        ],
        ["steps".to_string(), format!("{}{rejected}", group(c.steps))],
        ["RHS evaluations".to_string(), group(c.rhs)],
        ["wall time".to_string(), format!("{} s", short(r.wall_s))],
        [
            "energy".to_string(),
            format!("{} {joule} at the start, drift {} {joule}", short(initial), number(drift)),
        ],
    ];
    if c.samples > 0 {
        rows.push(["samples".to_string(), group(c.samples)]);
    }
    let events: Vec<String> = r
        .events
        .iter()
        .filter(|e| e.name != "singular position")
        .map(|e| format!("{} at {} s", e.name, time(e.t)))
        .collect();
    let singular: Vec<String> =
        r.singular.iter().map(|s| format!("{} at {} s", s.outcome.replace('_', " "), time(s.t))).collect();
    for (name, list) in [("events", events), ("singular", singular)] {
        if let Some(last) = list.last() {
            let more = if list.len() > EVENTS { format!(", ..., {last}") } else { String::new() };
            let shown = &list[..list.len().min(EVENTS)];
            rows.push([name.to_string(), format!("{}: {}{more}", list.len(), shown.join(", "))]);
        }
    }
    rows.extend(r.contacts.iter().take(EVENTS).map(|c| [format!("contact {}", c.name), touched(c, shown)]));
    if r.contacts.len() > EVENTS {
        rows.push([format!("{} contacts", r.contacts.len()), "the others are in the report".to_string()]);
    }
    rows.extend(largest(r, shown));
    rows
}

/// The largest component of a reaction force, of a reaction torque, and the largest contact force, each with its time.
fn largest(r: &Report, shown: &DisplayUnits) -> Vec<[String; 2]> {
    let joints = || r.constraints.per_joint.iter().filter(|e| e.family == "joint");
    let columns = |ends: [&'static str; 3]| -> Vec<String> {
        joints().flat_map(|joint| ends.map(|end| format!("{}.{end}", joint.name))).collect()
    };
    let contacts = r.contacts.iter().map(|contact| format!("{}.force", contact.name)).collect();
    let kinds = [
        ("reaction force", columns(["fx", "fy", "fz"]), "N"),
        ("reaction torque", columns(["tx", "ty", "tz"]), "N m"),
        ("contact force", contacts, "N"),
    ];
    let found = kinds.into_iter().filter_map(|(kind, columns, unit)| {
        let peaks = columns.into_iter().filter_map(|column| Some((r.peaks.get(&column)?, column)));
        let signed = peaks.map(|(peak, column)| match peak.max >= -peak.min {
            true => (peak.max, peak.t_max, column),
            false => (peak.min, peak.t_min, column),
        });
        let most = signed.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
        Some((kind, most, unit))
    });
    let found: Vec<_> = found.collect();
    // what is rounding beside the others is none
    let least = ROUNDING * found.iter().fold(0.0, |most: f64, (_, (value, ..), _)| most.max(value.abs()));
    let reported = found.into_iter().filter(|(_, (value, ..), _)| value.abs() > least);
    let row = |(kind, (value, t, column), unit): (&str, (f64, f64, String), &str)| {
        let shared = if r.reactions.not_unique.contains(&column) { " (not unique)" } else { "" };
        let (value, unit) = shown.value(value, unit);
        [format!("largest {kind}"), format!("{} {unit}, {column} at {} s{shared}", short(value), time(t))]
    };
    reported.map(row).collect()
}

/// Returns what a contact did, in a line.
fn touched(c: &ContactReport, shown: &DisplayUnits) -> String {
    if c.touches == 0 && c.onsets == 0 {
        return "never touched".to_string();
    }
    let (force, newton) = shown.value(c.largest_force, "N");
    let (depth, metre) = shown.value(c.deepest_overlap, "m");
    let (normal, joule) = shown.value(c.dissipated_normal, "J");
    let (friction, _) = shown.value(c.dissipated_friction, "J");
    format!(
        "closed {} times, at up to {} m/s; up to {} {newton}, {} {metre} deep; lost {} {joule} and {} {joule} to friction",
        group(c.onsets),
        short(c.fastest_onset),
        short(force),
        number(depth),
        short(normal),
        short(friction)
    )
}

/// `8 rows, rank 8 (margin 2.1e+09)`
pub fn constraints(rows: usize, rank: Option<usize>, margin: Option<f64>) -> String {
    let rows_text = if rows == 1 { "1 row".to_string() } else { format!("{} rows", group(rows as u64)) };
    match rank {
        Some(rank) => {
            let margin = margin.map_or(String::new(), |m| format!(" (margin {})", number(m)));
            let redundant = if rank < rows {
                format!(", {} redundant", group((rows - rank) as u64))
            } else {
                String::new()
            };
            format!("{rows_text}, rank {}{redundant}{margin}", group(rank as u64))
        }
        None => rows_text,
    }
}

/// Names in a row, the last left out where there are more than `shown`.
pub fn shorten(names: &[String], shown: usize) -> String {
    if names.len() <= shown {
        return names.join(", ");
    }
    format!("{}, ... ({} in all)", names[..shown].join(", "), group(names.len() as u64))
}

/// `1 joint`, `12 345 joints`
pub fn plural(n: usize, word: &str) -> String {
    format!("{} {word}{}", group(n as u64), if n == 1 { "" } else { "s" })
}

/// Rows with aligned columns, two spaces in front.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (w, cell) in widths.iter_mut().zip(row) {
            *w = (*w).max(shown(cell));
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (cell, w) in row.iter().zip(widths) {
            line += &format!(" {cell}{}  ", " ".repeat(w - shown(cell)));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Characters that show: colours do not.
fn shown(text: &str) -> usize {
    let mut n = 0;
    let mut escape = false;
    for c in text.chars() {
        match c {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            _ => n += 1,
        }
    }
    n
}

/// Two digits: `1.2e-14`, and 0 as it is.
pub fn number(x: f64) -> String {
    if x == 0.0 { "0".to_string() } else { format!("{x:.1e}") }
}

/// Four digits, plain where that is short.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_string()
    } else if (1e-3..1e5).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        format!("{x:.digits$}")
    } else {
        format!("{x:.3e}")
    }
}

/// Seven digits at most, no zeros at the end.
pub fn time(t: f64) -> String {
    let digits = (6 - t.abs().max(1.0).log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{t:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// `12 345`
pub fn group(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && digits.len() > 4 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(c);
    }
    text
}

/// Breaks lines at spaces so that none is wider than `width`, where words allow; later lines are indented.
pub fn wrap(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split(' ') {
            let fits = current.is_empty() || current.chars().count() + 1 + word.chars().count() <= width;
            if !fits {
                lines.push(std::mem::take(&mut current));
                current.push_str("  ");
            } else if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([number(0.0), number(1.234e-14)], ["0", "1.2e-14"]);
        assert_eq!([short(0.01234567), short(3.0), short(123456.0)], ["0.01235", "3.000", "1.235e5"]);
        assert_eq!([time(2.0), time(1.228_159_333), time(100.0), time(0.0)], ["2", "1.228159", "100", "0"]);
        assert_eq!([group(999), group(1234), group(1_234_567)], ["999", "1234", "1 234 567"]);
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrap("one two three four", 9), "one two\n  three\n  four");
        assert_eq!(wrap("averylongword", 4), "averylongword");
    }

    #[test]
    fn columns_are_aligned_whatever_their_colour() {
        let rows = [["a".to_string(), "\x1b[32mx\x1b[0m".to_string()], ["bbb".to_string(), "y".to_string()]];
        let text = table(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, ["  a     \x1b[32mx\x1b[0m", "  bbb   y"]);
    }
}
