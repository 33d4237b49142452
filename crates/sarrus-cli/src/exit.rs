//! Exit codes.

use std::process::ExitCode;

/// Describes how the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The simulation failed; what was computed is kept.
    Failed = 1,
    /// The input is wrong.
    Input = 2,
    /// Done, but not certified.
    Uncertified = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
