//! Describes what the short functions of the facade return when the input is wrong.

use sarrus_model::Failure;

/// The input is wrong; printed with file, line, column and hint.
#[derive(Clone, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Box<Failure>);

impl Error {
    /// Returns what is wrong, and the texts it is about.
    pub fn failure(&self) -> &Failure {
        &self.0
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error(Box::new(failure))
    }
}

/// As displayed, so that `unwrap` and `main` show something to read.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
