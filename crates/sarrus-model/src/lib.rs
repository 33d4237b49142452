//! Describes what a model file says: values with their index in the text, names, scopes, expressions and units.
//!
//! The crate knows no kind of body, joint or force. An [`Element`] keeps its table as it was written;
//! the code of its kind reads it through a [`Reader`], which evaluates expressions, applies the rigid
//! motion of an included file and puts file, line and column into every error.

pub mod diagnostic;
pub mod dimension;
pub mod expr;
pub mod fluids;
pub mod functions;
pub mod key;
pub mod materials;
pub mod model;
pub mod reader;
pub mod record;
pub mod scope;
pub mod settings;
pub mod shown;
pub mod suggest;
pub mod tables;
pub mod transform;
pub mod units;
pub mod value;

pub use diagnostic::{Diagnostic, Failure, Sources, Span};
pub use key::{Key, KeyType};
pub use model::{Attachment, Case, Element, Model, Section, Setting, Space};
pub use reader::{BodyPoint, BodyRef, Reader, RuntimeExpr, RuntimeVector};
pub use scope::ScopeData;
pub use transform::{Frame, Transform};
pub use value::{Data, Table, Text, Value};

/// Result of reading a part of a model.
pub type Result<T> = std::result::Result<T, Diagnostic>;
