//! Expressions: numbers, flags and vectors as text, as docs/model-file.md defines them.
//!
//! A text is parsed once into an [`Expr`]. On loading it is evaluated to a [`Quantity`]
//! ([`Expr::evaluate`]); what is evaluated in every step is compiled to [`Program`]s
//! ([`Expr::compile`]), which run over any [`Real`](sarrus_math::Real) and so give derivatives of any
//! order. Both go through the same lowering, so a constant means the same in both.
//!
//! ```
//! use sarrus_model::expr::{Expr, NoNames, Quantity};
//!
//! let length = Expr::parse("norm([30 mm, 4 cm])").unwrap();
//! assert_eq!(length.evaluate(&NoNames, true), Ok(Quantity::Number(0.05)));
//! ```

mod ast;
mod breaks;
mod choices;
mod decide;
mod dimension;
mod display;
mod enclose;
mod equality;
mod features;
mod functions;
mod graph;
mod lex;
mod lower;
mod margin;
mod op;
mod parse;
mod plain;
mod program;
mod resolve;
mod vectors;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::functions::GivenFunction;
use crate::tables::Curve;

pub use breaks::{TimeShape, TimeSlot};
pub use choices::Choice;
pub use dimension::Inferred;
pub use equality::TimeDependence;
pub use functions::{Builtin, FUNCTIONS};
pub use lex::is_name;
pub use program::Program;

/// Longest text that is parsed, in bytes.
pub const MAX_LENGTH: usize = 1 << 20;
/// Deepest nesting of brackets, calls, signs and powers.
pub const MAX_DEPTH: usize = 100;

/// Names that no parameter, function argument or element may take.
pub const RESERVED: &[&str] = &["ground", "t", "pi", "inf", "energy", "violation", "and", "or", "not"];

/// A parsed expression. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Expr {
    text: Arc<str>,
    root: Arc<ast::ExprNode>,
}

impl Expr {
    /// Parses `text`. Never panics; nesting and length are limited by [`MAX_DEPTH`] and [`MAX_LENGTH`].
    pub fn parse(text: &str) -> Result<Expr, ExprError> {
        let root = parse::parse(text)?;
        Ok(Expr { text: text.into(), root: Arc::new(root) })
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every dotted name that is read, with its place, in the order of the text (calls not included).
    pub fn paths(&self) -> Vec<(String, Range<usize>)> {
        let mut found = Vec::new();
        self.root.visit(&mut |node| {
            if matches!(node.kind, ast::ExprKind::Name) {
                found.push((node.at.of(&self.text).to_owned(), node.at.range()));
            }
        });
        found
    }

    /// Every function or table that is called, with the place of its name, in the order of the text.
    pub fn calls(&self) -> Vec<(String, Range<usize>)> {
        let mut found = Vec::new();
        self.root.visit(&mut |node| {
            if let ast::ExprKind::Call { name, .. } = &node.kind {
                found.push((name.of(&self.text).to_owned(), name.range()));
            }
        });
        found
    }

    /// Value on loading, from what `scope` knows.
    ///
    /// A result that is no number (`sqrt(-1)`, `1/0`, `meet` out of reach) is an error at its place.
    pub fn evaluate(&self, scope: &dyn Scope, planar: bool) -> Result<Quantity, ExprError> {
        match plain::evaluate(&self.root, &self.text, scope) {
            Some(x) => Ok(Quantity::Number(x)),
            None => lower::evaluate(self, scope, planar),
        }
    }

    /// The dimension of its value, from the units in it and in what `scope` knows. Units that do not fit are an error at their place.
    pub fn dimension(&self, scope: &dyn Scope) -> Result<Inferred, ExprError> {
        dimension::infer(self, scope)
    }

    /// Returns whether it is one number, and its unit if it has one: `3000 rpm`.
    pub fn literal(&self) -> Option<Option<&str>> {
        let node = match &self.root.kind {
            ast::ExprKind::Negative(inner) => &**inner,
            _ => &*self.root,
        };
        match &node.kind {
            ast::ExprKind::Number { dimension: None, .. } => Some(None),
            ast::ExprKind::Number { .. } => {
                let text = node.at.of(&self.text);
                Some(text.split_once(char::is_whitespace).map(|(_, unit)| unit.trim()))
            }
            _ => None,
        }
    }

    /// Programs of the one or three components, for evaluation at run time.
    ///
    /// Parameters become constants, functions are inlined, tables attached. Names that `scope` does not
    /// know go to `bind` with their full path, which gives a slot to read or says why not. A planar
    /// vector has a third component that is the constant 0.
    pub fn compile(
        &self,
        scope: &dyn Scope,
        bind: &mut Bind<'_>,
        planar: bool,
    ) -> Result<Vec<Program>, ExprError> {
        lower::compile(self, scope, bind, planar)
    }
}

/// Gives the slot or value behind a name at run time, or the message why there is none.
pub type Bind<'a> = dyn FnMut(&str) -> Result<Binding, String> + 'a;

/// Holds what a name stands for at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// A number that does not change.
    Constant(f64),
    /// The slot of a number.
    Scalar(u32),
    /// The slots of a vector (planar: the third is not read).
    Vector([u32; 3]),
    /// Sums of slots: one for a number, else one for each component of a vector.
    Sums(Vec<LinearSum>),
}

/// Σ factor·slot + offset.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSum {
    /// Factor, slot, and the name that a text of the expression shows for it.
    pub terms: Vec<(f64, u32, String)>,
    /// The offset.
    pub offset: f64,
}

/// Holds what is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// Holds what is wrong.
    pub message: String,
    /// Holds what to write instead.
    pub hint: Option<String>,
    /// Bytes of the expression's text.
    pub at: Range<usize>,
}

/// Value of an expression on loading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A number in SI units.
    Number(f64),
    /// A vector of `n` = 2 or 3 numbers; the rest of `v` is 0.
    Vector {
        /// Components.
        v: [f64; 3],
        /// Number of them.
        n: usize,
    },
    /// True or false.
    Flag(bool),
}

impl Quantity {
    /// The number, a flag being 1 or 0.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Quantity::Number(x) => Some(x),
            Quantity::Flag(f) => Some(f64::from(u8::from(f))),
            Quantity::Vector { .. } => None,
        }
    }

    /// The flag, a number being true where it is not 0.
    pub fn flag(&self) -> Option<bool> {
        match *self {
            Quantity::Number(x) => Some(x != 0.0),
            Quantity::Flag(f) => Some(f),
            Quantity::Vector { .. } => None,
        }
    }

    /// Returns what it is, in words: `a number`, `a vector`, `true or false`.
    pub fn kind(&self) -> &'static str {
        match self {
            Quantity::Number(_) => "a number",
            Quantity::Vector { .. } => "a vector",
            Quantity::Flag(_) => "true or false",
        }
    }
}

impl fmt::Display for Quantity {
    /// As an expression that evaluates to the same bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Number(x) => f.write_str(&display::number(*x)),
            Quantity::Flag(flag) => write!(f, "{flag}"),
            Quantity::Vector { v, n } => {
                let list: Vec<String> = v.iter().take(*n).map(|x| display::number(*x)).collect();
                write!(f, "[{}]", list.join(", "))
            }
        }
    }
}

/// The names that an expression may use.
pub trait Scope {
    /// Returns what the dotted `path` stands for, or nothing. Components (`P.x`) need not be answered where `P` is.
    fn lookup(&self, path: &str) -> Option<Lookup>;

    /// Names to suggest where one is misspelt.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The dimension of what `path` stands for, where its value had units.
    fn dimension(&self, _path: &str) -> Inferred {
        Inferred::Unknown
    }

    /// The scope in which the body of a function stands, where it is not this one.
    fn of_function(&self, _name: &str) -> Option<&dyn Scope> {
        None
    }
}

/// The scope without names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Scope for NoNames {
    fn lookup(&self, _path: &str) -> Option<Lookup> {
        None
    }
}

/// Holds what a scope knows under a name.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// A value known on loading: a parameter, an index of `repeat`.
    Value(Quantity),
    /// A point: a value on loading, nothing at run time (a body may have the same name then).
    Point(Quantity),
    /// A function of the file.
    Function(Arc<FileFunction>),
    /// A table.
    Table(Arc<Curve>),
    /// A function given by a program.
    Given(Arc<GivenFunction>),
    /// Something that has a value at run time only, by its full path.
    Runtime(String),
    /// A name that cannot be used, and why.
    Refused {
        /// Holds what is wrong.
        message: String,
        /// Holds what to do instead.
        hint: Option<String>,
    },
}

/// A function of the file: `"bump(x, w)" = "exp(-(x/w)^2)"`.
#[derive(Clone, Debug)]
pub struct FileFunction {
    /// Its name.
    pub name: String,
    /// The names of its arguments.
    pub arguments: Vec<String>,
    /// Its value.
    pub body: Expr,
}

impl FileFunction {
    /// A function from its `signature`, such as `bump(x, w)`; errors are places in the signature.
    pub fn new(signature: &str, body: Expr) -> Result<FileFunction, ExprError> {
        let (name, arguments) = parse::signature(signature)?;
        Ok(FileFunction { name, arguments, body })
    }
}

/// The built-in function of this name.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    FUNCTIONS.iter().find(|f| f.name == name)
}
