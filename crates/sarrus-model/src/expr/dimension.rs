//! Dimensions of expressions: which units stand in a text, and whether they fit each other.
//!
//! Only numbers with a unit, and names that stand for such numbers, have a dimension. A literal without a unit is in SI and fits anywhere:
//! in a sum it has the dimension of the others; as a factor it may be a density (`1000*pi*r^2*l`), so that the product may be anything.
//! Divisors (`/12`) and `pi` are numbers. A name without a known unit may stand for anything.

use super::ast::{ExprKind, ExprNode, Multiplicative, TextRange};
use super::parse::fail;
use super::{Expr, ExprError, FileFunction, Lookup, Quantity, Scope};
use crate::dimension::Dimension;

type DimensionResult<T> = std::result::Result<T, ExprError>;

/// The dimension of a value, as far as its text shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inferred {
    /// It may have any.
    #[default]
    Unknown,
    /// A number without a unit: it fits anywhere.
    Number,
    /// That of its units.
    Known(Dimension),
}

impl Inferred {
    fn known(dimension: Dimension) -> Inferred {
        if dimension.is_none() { Inferred::Number } else { Inferred::Known(dimension) }
    }

    /// That of a value a name is given: without a unit it may stand for anything.
    pub fn named(self) -> Inferred {
        if self == Inferred::Number { Inferred::Unknown } else { self }
    }

    fn product(self, other: Inferred, divide: bool) -> Inferred {
        match (self, other) {
            (Inferred::Unknown, _) | (_, Inferred::Unknown) => Inferred::Unknown,
            (own, Inferred::Number) => own,
            (Inferred::Number, Inferred::Known(d)) => {
                Inferred::known(if divide { Dimension::NONE.over(d) } else { d })
            }
            (Inferred::Known(a), Inferred::Known(b)) => {
                Inferred::known(if divide { a.over(b) } else { a.times(b) })
            }
        }
    }

    fn power(self, exponent: Option<f64>) -> Inferred {
        match (self, exponent) {
            (Inferred::Known(d), Some(exponent)) => {
                d.power(exponent).map_or(Inferred::Unknown, Inferred::known)
            }
            (Inferred::Known(_), None) => Inferred::Unknown,
            (other, _) => other,
        }
    }
}

/// Names of one text.
#[derive(Clone, Copy)]
struct TextNames<'a> {
    text: &'a str,
    scope: &'a dyn Scope,
    arguments: &'a [(&'a str, Inferred)],
}

/// An expression's dimension; an error where units in it do not fit each other.
pub(super) fn infer(expr: &Expr, scope: &dyn Scope) -> DimensionResult<Inferred> {
    let names = TextNames { text: &expr.text, scope, arguments: &[] };
    Inference { active: Vec::new(), calls: 0 }.value(&expr.root, names)
}

struct Inference {
    /// Functions whose bodies are being read.
    active: Vec<String>,
    /// Number of bodies that have been read.
    calls: usize,
}

/// Most calls of the file's functions that are followed: functions that call each other twice multiply. What lies beyond is not judged here;
/// the compiler refuses such expressions.
const MOST_CALLS: usize = 10_000;

impl Inference {
    fn value(&mut self, node: &ExprNode, names: TextNames<'_>) -> DimensionResult<Inferred> {
        Ok(match &node.kind {
            ExprKind::Number { dimension, .. } => dimension.map_or(Inferred::Number, Inferred::known),
            ExprKind::Name => name(node.at.of(names.text), names),
            ExprKind::Call { name, arguments } => self.call(*name, arguments, node.at, names)?,
            ExprKind::Vector(list) => self.joined(list.iter(), names, "a vector")?,
            ExprKind::Component(inner, _) | ExprKind::Negative(inner) => self.value(inner, names)?,
            ExprKind::Not(inner) => {
                self.value(inner, names)?;
                Inferred::Number
            }
            ExprKind::And(list) | ExprKind::Or(list) => {
                for inner in list {
                    self.value(inner, names)?;
                }
                Inferred::Number
            }
            ExprKind::Compare(_, a, b) => {
                self.joined([&**a, &**b].into_iter(), names, "a comparison")?;
                Inferred::Number
            }
            ExprKind::Sum(terms) => self.joined(terms.iter().map(|(_, term)| term), names, "a sum")?,
            ExprKind::Product(factors) => {
                let mut product = Inferred::Number;
                for (k, (operator, factor)) in factors.iter().enumerate() {
                    let mut own = self.value(factor, names)?;
                    let divided = matches!(factors.get(k + 1), Some((Multiplicative::Over, _)));
                    if factor.is_plain_factor(*operator, divided) {
                        own = Inferred::Unknown;
                    }
                    product = match operator {
                        Multiplicative::Modulo => join(product, own, factor.at, "a remainder")?,
                        operator => product.product(own, *operator == Multiplicative::Over),
                    };
                }
                product
            }
            ExprKind::Power(base, exponent) => {
                let own = self.value(base, names)?;
                if let Inferred::Known(d) = self.value(exponent, names)? {
                    return Err(mismatch(exponent.at, "an exponent", Dimension::NONE, d));
                }
                own.power(constant(exponent, names))
            }
        })
    }

    /// The dimension that all have in common.
    fn joined<'n>(
        &mut self,
        nodes: impl Iterator<Item = &'n ExprNode>,
        names: TextNames<'_>,
        whole: &str,
    ) -> DimensionResult<Inferred> {
        let mut all = Inferred::Number;
        for node in nodes {
            all = join(all, self.value(node, names)?, node.at, whole)?;
        }
        Ok(all)
    }

    fn call(
        &mut self,
        name: TextRange,
        arguments: &[ExprNode],
        at: TextRange,
        names: TextNames<'_>,
    ) -> DimensionResult<Inferred> {
        let word = name.of(names.text);
        if super::builtin(word).is_some() {
            return self.builtin(word, arguments, names);
        }
        let values: Vec<Inferred> =
            arguments.iter().map(|node| self.value(node, names)).collect::<DimensionResult<_>>()?;
        match names.scope.lookup(word) {
            Some(Lookup::Function(function)) => self.function(&function, &values, at, names),
            Some(Lookup::Table(table)) => {
                let [x, y] = table.dimensions;
                if let (Some(argument), Some(given)) = (arguments.first(), values.first()) {
                    join(x, *given, argument.at, &format!("the argument of table `{word}`"))?;
                }
                Ok(y)
            }
            _ => Ok(Inferred::Unknown),
        }
    }

    /// The body of a function with the dimensions of its arguments; errors inside it stand at the call.
    fn function(
        &mut self,
        function: &FileFunction,
        values: &[Inferred],
        at: TextRange,
        names: TextNames<'_>,
    ) -> DimensionResult<Inferred> {
        let name = &function.name;
        self.calls += 1;
        let known = function.arguments.len() == values.len() && self.calls <= MOST_CALLS;
        if !known || self.active.contains(name) {
            return Ok(Inferred::Unknown);
        }
        let arguments: Vec<(&str, Inferred)> =
            function.arguments.iter().map(String::as_str).zip(values.iter().copied()).collect();
        let scope = names.scope.of_function(name).unwrap_or(names.scope);
        self.active.push(name.clone());
        let inner = TextNames { text: &function.body.text, scope, arguments: &arguments };
        let result = self.value(&function.body.root, inner);
        self.active.pop();
        result.map_err(|mut error| {
            if !error.message.starts_with("in function ") {
                error.message = format!("in function `{name}`: {}", error.message);
            }
            error.at = at.range();
            error
        })
    }

    fn builtin(
        &mut self,
        word: &str,
        arguments: &[ExprNode],
        names: TextNames<'_>,
    ) -> DimensionResult<Inferred> {
        let all = |inference: &mut Self, nodes: &[&ExprNode]| {
            inference.joined(nodes.iter().copied(), names, &format!("`{word}`"))
        };
        let each: Vec<&ExprNode> = arguments.iter().collect();
        match (word, each.as_slice()) {
            ("sin" | "cos" | "tan", [x]) => self.without_unit(x, names, "an angle"),
            (
                "asin" | "acos" | "atan" | "exp" | "log" | "log10" | "sinh" | "cosh" | "tanh" | "floor"
                | "ceil" | "round",
                [x],
            ) => self.without_unit(x, names, "a number without unit"),
            ("sqrt", [x]) => Ok(self.value(x, names)?.power(Some(0.5))),
            ("sign" | "unit", list) => all(self, list).map(|_| Inferred::Number),
            ("atan2" | "angle" | "smoothstep" | "pulse", list) => all(self, list).map(|_| Inferred::Number),
            ("if", [condition, sides @ ..]) => {
                self.value(condition, names)?;
                all(self, sides)
            }
            ("dot" | "cross", [a, b]) => Ok(self.value(a, names)?.product(self.value(b, names)?, false)),
            ("lerp", [p, q, s]) => {
                self.without_unit(s, names, "a number without unit")?;
                all(self, &[p, q])
            }
            ("polar", [r, angle]) => {
                self.without_unit(angle, names, "an angle")?;
                self.value(r, names)
            }
            ("rotate", [v, axis @ .., angle]) => {
                all(self, axis)?;
                self.without_unit(angle, names, "an angle")?;
                self.value(v, names)
            }
            ("step", [x, x0, y0, x1, y1]) => {
                all(self, &[x, x0, x1])?;
                all(self, &[y0, y1])
            }
            // min max clamp abs hypot norm dist mid meet: all of one dimension, and so is the result
            (_, list) => all(self, list),
        }
    }

    /// An argument that may have the dimension of an angle or none.
    fn without_unit(
        &mut self,
        node: &ExprNode,
        names: TextNames<'_>,
        wanted: &str,
    ) -> DimensionResult<Inferred> {
        match self.value(node, names)? {
            Inferred::Known(d) if !d.fits(Dimension::NONE) => {
                Err(fail(node.at, format!("expected {wanted}, found {d}"), None))
            }
            _ => Ok(Inferred::Number),
        }
    }
}

impl ExprNode {
    /// Returns whether it is a literal without a unit by which a product is multiplied; 1 that is divided is a number.
    fn is_plain_factor(&self, operator: Multiplicative, divided: bool) -> bool {
        match &self.kind {
            ExprKind::Number { dimension: None, value, .. } => {
                operator == Multiplicative::Times && !(divided && *value == 1.0)
            }
            ExprKind::Negative(inner) => inner.is_plain_factor(operator, divided),
            _ => false,
        }
    }
}

/// The dimension of a name.
fn name(path: &str, names: TextNames<'_>) -> Inferred {
    let parent = path.strip_suffix(".x").or(path.strip_suffix(".y")).or(path.strip_suffix(".z"));
    let argument =
        |wanted: &str| names.arguments.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    if let Some(value) = argument(path).or_else(|| parent.and_then(argument)) {
        return value;
    }
    if path == "pi" || path == "inf" {
        return Inferred::Number;
    }
    match (names.scope.lookup(path), parent) {
        (None, Some(parent)) => names.scope.dimension(parent),
        _ => names.scope.dimension(path),
    }
}

/// The value of an exponent that is a constant.
fn constant(node: &ExprNode, names: TextNames<'_>) -> Option<f64> {
    match &node.kind {
        ExprKind::Number { value, .. } => Some(*value),
        ExprKind::Negative(inner) => constant(inner, names).map(|x| -x),
        ExprKind::Name => match names.scope.lookup(node.at.of(names.text)) {
            Some(Lookup::Value(Quantity::Number(x))) => Some(x),
            _ => None,
        },
        ExprKind::Product(factors) => factors.iter().try_fold(1.0, |product, (operator, factor)| {
            let x = constant(factor, names)?;
            match operator {
                Multiplicative::Times => Some(product * x),
                Multiplicative::Over => Some(product / x),
                Multiplicative::Modulo => None,
            }
        }),
        _ => None,
    }
}

/// The dimension of what adds `next` to what came before.
fn join(all: Inferred, next: Inferred, at: TextRange, whole: &str) -> DimensionResult<Inferred> {
    match (all, next) {
        (Inferred::Known(a), Inferred::Known(b)) if !a.fits(b) => Err(mismatch(at, whole, a, b)),
        (Inferred::Known(_), _) => Ok(all),
        (_, Inferred::Known(_)) => Ok(next),
        (Inferred::Unknown, _) | (_, Inferred::Unknown) => Ok(Inferred::Unknown),
        (Inferred::Number, Inferred::Number) => Ok(Inferred::Number),
    }
}

fn mismatch(at: TextRange, whole: &str, wanted: Dimension, found: Dimension) -> ExprError {
    let hint = "write the unit of every number, or of none: plain numbers are SI";
    fail(at, format!("{whole}: expected {wanted}, found {found}"), Some(hint.into()))
}
