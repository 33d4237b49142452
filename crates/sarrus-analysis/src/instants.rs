//! Rows beside the regular ones, at instants at which something happens.
//!
//! An event, an impact, a contact that closes or opens, or a force or driver that switches has two rows with the same time: one of what holds
//! before it and one of what holds from then on. The largest contact forces have one. Regular rows stay where they are; these are written to
//! a file of their own, with the same columns.

use crate::report::EventReport;
use crate::trajectory::Trajectory;
use std::io::{self, Write};

/// Rows that are kept, at most,
const MOST: usize = 10_000;
/// and bytes that they take.
const MOST_BYTES: usize = 64 << 20;

/// Identifies which side of an instant a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstantSide {
    /// Holds what holds before it.
    Before,
    /// Holds what holds from then on.
    After,
    /// A peak of the column that it names.
    Peak,
}

impl InstantSide {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            InstantSide::Before => "before",
            InstantSide::After => "after",
            InstantSide::Peak => "peak",
        }
    }
}

/// Reason why a step ends at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// An event or an impact, which the report lists by name.
    Event,
    /// A contact closes or opens.
    Contact,
    /// A force or a driver switches.
    Switch,
}

/// Rows at instants.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Instants {
    /// The rows, with the columns of the regular ones.
    pub rows: Trajectory,
    /// The side of each row, and what happens there: names of events, `contact`, `switch` or a column.
    pub log: Vec<(InstantSide, String)>,
    /// Rows that there was no memory for.
    pub left_out: usize,
    /// The row before an instant that is not over, why there is one, and how many events the report had.
    open: Option<(Vec<f64>, Why, usize)>,
}

impl Instants {
    /// None so far.
    pub(crate) fn new(names: Vec<String>, units: Vec<&'static str>) -> Instants {
        Instants { rows: Trajectory::new(names, units), ..Instants::default() }
    }

    /// The number of them.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// Returns what a user should know of rows that were left out.
    pub fn note(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "events.csv has the first {} rows at events, impacts and switches, and not the other {}: it keeps {MOST} rows and {} MB",
                self.len(),
                self.left_out,
                MOST_BYTES >> 20
            )
        })
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, side: InstantSide, what: String, row: &[f64]) {
        let most = MOST.min(MOST_BYTES / (8 * self.rows.width().max(1)));
        if self.len() >= most {
            self.left_out += 1;
            return;
        }
        self.rows.push().copy_from_slice(row);
        self.log.push((side, what));
    }

    /// Opens an instant at which the columns are `row` and the report has had `events`.
    pub(crate) fn open(&mut self, row: &[f64], why: Why, events: usize) {
        self.open = Some((row.to_vec(), why, events));
    }

    /// Returns whether an instant is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Closes the instant that is open, at which the columns come to be `row`, where these are known.
    pub(crate) fn close(&mut self, row: Option<&[f64]>, events: &[EventReport]) {
        let Some((before, why, first)) = self.open.take() else { return };
        let mut names: Vec<&str> = events.iter().skip(first).map(|event| event.name.as_str()).collect();
        names.dedup();
        let what = match (names.is_empty(), why) {
            (false, _) => names.join(" + "),
            // nothing came of it
            (true, Why::Event) => return,
            (true, Why::Contact) => "contact".into(),
            (true, Why::Switch) => "switch".into(),
        };
        self.push(InstantSide::Before, what.clone(), &before);
        if let Some(row) = row {
            self.push(InstantSide::After, what, row);
        }
    }

    /// Writes comma-separated values: the time, the side, what happens, and the other columns.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "t,side,what")?;
        self.rows.names().iter().skip(1).try_for_each(|name| write!(out, ",{name}"))?;
        writeln!(out)?;
        for ((side, what), row) in self.log.iter().zip(self.rows.rows()) {
            write!(out, "{},{},{what}", row[0], side.name())?;
            row[1..].iter().try_for_each(|x| write!(out, ",{x:?}"))?;
            writeln!(out)?;
        }
        Ok(())
    }
}
