//! The published examples that Sarrus grew out of, run again: what each paper claims, what comes out here, and why it
//! differs where it does.
//!
//! One folder per paper, named by its key in `references.bib`: a README, the models, and the claims as a program. A new
//! one is a folder and a line in [`PAPERS`]. `sarrus reproduce` runs them.

#[path = "../amirouche1991/paper.rs"]
mod amirouche1991;
mod claim;
#[path = "../hajzman2007/paper.rs"]
mod hajzman2007;
#[path = "../park1987/paper.rs"]
mod park1987;
#[path = "../park1990/paper.rs"]
mod park1990;
#[path = "../pekal2016/paper.rs"]
mod pekal2016;
mod runs;
mod table;

pub use claim::{Claim, PaperError, Reproduction, Value, Verdict};
pub use table::Table;

/// How thoroughly to reproduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Everything that the paper shows; timings repeated.
    Full,
    /// A slice of each part, for tests: shorter runs, fewer tolerances, timings taken once.
    Quick,
}

/// Told about the work while it continues.
pub trait Progress {
    /// `done` of `total` runs are made; `what` comes next. Returns whether to continue.
    fn at(&mut self, done: usize, total: usize, what: &str) -> bool;
}

/// No one watches.
impl Progress for () {
    fn at(&mut self, _: usize, _: usize, _: &str) -> bool {
        true
    }
}

/// A paper with a reproduction.
pub struct Paper {
    /// Its folder, and its key in `references.bib` in lower case.
    pub name: &'static str,
    /// Authors, year and title.
    pub title: &'static str,
    /// Which part is reproduced.
    pub scope: &'static str,
    /// Reproduces it.
    pub run: fn(Effort, &mut dyn Progress) -> Result<Reproduction, PaperError>,
}

/// Every paper, in the order of `sarrus reproduce all`.
pub static PAPERS: &[Paper] =
    &[amirouche1991::PAPER, hajzman2007::PAPER, park1987::PAPER, park1990::PAPER, pekal2016::PAPER];

/// The paper called `name`.
pub fn find(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|p| p.name == name)
}
