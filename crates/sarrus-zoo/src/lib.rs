//! Mechanisms with known answers, for tests, benchmarks and documentation.
//!
//! [`MODELS`] embeds every file of the repository's `models/` folder, [`PICTURES`] what the viewer makes of them, [`PROBLEMS`] lists the cases that have reference values. A
//! case is a model file and numbers in terms of the columns that a run of it writes; nothing here simulates anything, so that the
//! zoo can be used to test any layer.
//!
//! ```
//! let case = sarrus_zoo::problem("four_bar").expect("in the list");
//! let at_the_end = case.references.iter().filter(|r| r.t == case.t_end).count();
//! assert!(at_the_end > 0 && case.model.contains("[joints]"));
//! ```

mod cases;
mod models;
mod problem;

pub use cases::{PROBLEMS, deployment};
pub use models::{COUNTS, MODELS, ModelSizes, PICTURES, model, picture};
pub use problem::{ReferenceKind, ReferenceProblem, ReferenceValues};

/// The case of a name, if there is one.
pub fn problem(name: &str) -> Option<&'static ReferenceProblem> {
    PROBLEMS.iter().copied().find(|p| p.name == name)
}
