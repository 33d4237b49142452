//! Text to [`Model`] and back.
//!
//! [`load`] reads a file in TOML or JSON, `include`s other files, expands `repeat`, lays cases and `--set` over
//! it and evaluates parameters, points, functions and tables. What an element says stays as written,
//! to be read by the code of its kind through a [`sarrus_model::Reader`].
//!
//! ```
//! let text = r#"
//! format = "sarrus/1"
//! space = "planar"
//! parameters.n = 3
//! [repeat.links]
//! for = "i = 1 to n"
//! bodies."link{i}" = { from = ["i - 1", 0], to = ["i", 0], mass = 1.0 }
//! "#;
//! let model = sarrus_io::load_str("chain.toml", text, &Default::default()).unwrap();
//! assert_eq!(model.bodies[2].name, "link3");
//! ```

mod depth;
mod json;
mod load;
mod native;
mod quick;
mod read;
pub mod resolved;
pub mod schema;

pub use load::{INCLUDE_KEYS, SECTIONS, SectionInfo, TABLE_KEYS};
pub use resolved::write_resolved;

use sarrus_model::functions::Functions;
use sarrus_model::{Failure, Model};
use std::path::Path;

/// Largest file that is read, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;
/// Most elements that `repeat` may make.
pub const MAX_ELEMENTS: usize = 10_000_000;
/// Deepest nesting of tables and lists.
pub const MAX_DEPTH: usize = 64;
/// Deepest nesting of included files.
pub const MAX_INCLUDES: usize = 32;

/// Holds what is laid over the file, and what is given to it.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Parameters of the command line, `name` and value as text; `left.l1` reaches into an include.
    pub set: Vec<(String, String)>,
    /// The case of `[cases]`.
    pub case: Option<String>,
    /// True if what is read from the model is kept for [`write_resolved`].
    pub record: bool,
    /// Functions that expressions of the file may call, and of the files that it includes.
    pub functions: Functions,
}

/// Loads a model file.
pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Model, Failure> {
    load::load_path(path.as_ref(), options)
}

/// Loads a model from a text; `name` is shown in errors, its ending tells TOML from JSON, and files that
/// it includes are searched for beside it.
pub fn load_str(name: &str, text: &str, options: &LoadOptions) -> Result<Model, Failure> {
    load::load_text(name, text, options)
}

/// The same with other texts that it may include, in place of files: each under the name by which an include asks for it.
pub fn load_among(
    name: &str,
    text: &str,
    beside: &[(String, &str)],
    options: &LoadOptions,
) -> Result<Model, Failure> {
    load::load_among(name, text, beside, options)
}
