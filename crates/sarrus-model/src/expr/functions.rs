//! The built-in functions: what they are called with, and what becomes of a call.

use super::ExprError;
use super::ast::TextRange;
use super::graph::Term;
use super::lower::{LoweredValue, Lowering};
use super::op::Op;
use super::parse::fail;
use super::vectors;

/// A built-in function.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, as in `clamp(x, lo, hi)`.
    pub signature: &'static str,
    /// Holds what it gives, in one line.
    pub doc: &'static str,
    /// Fewest and most arguments.
    pub(super) arguments: (usize, usize),
    pub(super) rule: CallRule,
}

/// Holds what becomes of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallRule {
    /// One operation on numbers.
    Numbers(Op),
    /// The operation on the first two, then on the result and the next, and so on.
    Chain(Op),
    /// Anything else.
    Build(fn(&mut Lowering<'_>, &Call<'_>) -> Result<LoweredValue, ExprError>),
}

/// A call with its arguments, and their places for errors.
pub(super) struct Call<'a> {
    pub name: &'a str,
    pub arguments: &'a [(LoweredValue, TextRange)],
    pub at: TextRange,
}

impl Call<'_> {
    /// Argument `k` as a number.
    pub fn number(&self, k: usize) -> Result<Term, ExprError> {
        let (value, at) = self.arguments[k];
        value.number().ok_or_else(|| self.wrong(k, at, "a number", value))
    }

    /// Argument `k` as a vector.
    pub fn vector(&self, k: usize) -> Result<([Term; 3], usize), ExprError> {
        let (value, at) = self.arguments[k];
        match value {
            LoweredValue::Vector(v, n) => Ok((v, n)),
            _ => Err(self.wrong(k, at, "a vector", value)),
        }
    }

    fn wrong(&self, k: usize, at: TextRange, wanted: &str, found: LoweredValue) -> ExprError {
        let message = format!("argument {} of `{}` must be {wanted}, not {}", k + 1, self.name, found.kind());
        fail(at, message, None)
    }
}

impl Builtin {
    /// The value of a call.
    pub(super) fn call(
        &self,
        lowering: &mut Lowering<'_>,
        call: &Call<'_>,
    ) -> Result<LoweredValue, ExprError> {
        let (fewest, most) = self.arguments;
        let given = call.arguments.len();
        if !(fewest..=most).contains(&given) {
            let wanted = match (fewest, most) {
                (1, 1) => "1 argument".into(),
                _ if fewest == most => format!("{fewest} arguments"),
                (_, usize::MAX) => format!("{fewest} arguments or more"),
                _ => format!("{fewest} to {most} arguments"),
            };
            let message = format!("`{}` takes {wanted}, {given} given", self.name);
            return Err(fail(call.at, message, Some(format!("write `{}`", self.signature))));
        }
        match self.rule {
            CallRule::Numbers(op) => {
                let mut args = [Term::constant(0.0); super::op::MAX_ARGUMENTS];
                for k in 0..given {
                    args[k] = call.number(k)?;
                }
                let args = &args[..given];
                check_order(lowering, op, args, call);
                Ok(LoweredValue::Number(lowering.op(op, args, call.at)))
            }
            CallRule::Chain(op) => {
                let mut result = call.number(0)?;
                for k in 1..given {
                    let next = call.number(k)?;
                    result = lowering.op(op, &[result, next], call.at);
                }
                Ok(LoweredValue::Number(result))
            }
            CallRule::Build(build) => build(lowering, call),
        }
    }
}

/// Limits in the wrong order are a mistake where they are constant.
fn check_order(lowering: &mut Lowering<'_>, op: Op, args: &[Term], call: &Call<'_>) {
    let (low, high, what) = match (op, args) {
        (Op::Clamp, [_, lo, hi]) => (lo.value(), hi.value(), "the lower limit is above the upper one"),
        (Op::Smoothstep, [_, lo, hi]) => (lo.value(), hi.value(), "x0 must not be above x1"),
        (Op::Step, [_, lo, _, hi, _]) => (lo.value(), hi.value(), "x0 must not be above x1"),
        (Op::Pulse, [_, _, width]) => (Some(0.0), width.value(), "the width is negative"),
        _ => return,
    };
    if let (Some(low), Some(high)) = (low, high)
        && low > high
    {
        lowering.fault(call.at, format!("`{}`: {what}", call.name));
    }
}

/// `if(c, a, b)`: numbers, flags or vectors.
fn choose(lowering: &mut Lowering<'_>, call: &Call<'_>) -> Result<LoweredValue, ExprError> {
    let c = call.number(0)?;
    let ((a, _), (b, at)) = (call.arguments[1], call.arguments[2]);
    match (a, b) {
        (LoweredValue::Vector(a, n), LoweredValue::Vector(b, m)) if n == m => {
            let mut v = [Term::constant(0.0); 3];
            for k in 0..n {
                v[k] = lowering.op(Op::If, &[c, a[k], b[k]], call.at);
            }
            Ok(LoweredValue::Vector(v, n))
        }
        (LoweredValue::Flag(a), LoweredValue::Flag(b)) => {
            Ok(LoweredValue::Flag(lowering.op(Op::If, &[c, a, b], call.at)))
        }
        _ => match (a.number(), b.number()) {
            (Some(a), Some(b)) => Ok(LoweredValue::Number(lowering.op(Op::If, &[c, a, b], call.at))),
            _ => {
                let message = format!("`if` must give the same either way, not {} or {}", a.kind(), b.kind());
                Err(fail(at, message, None))
            }
        },
    }
}

/// √(a² + b² (+ c²)).
fn hypot(lowering: &mut Lowering<'_>, call: &Call<'_>) -> Result<LoweredValue, ExprError> {
    let mut v = [Term::constant(0.0); 3];
    for k in 0..call.arguments.len() {
        v[k] = call.number(k)?;
    }
    Ok(LoweredValue::Number(vectors::length(lowering, &v[..call.arguments.len()], call.at)))
}

const fn numbers(
    name: &'static str,
    signature: &'static str,
    op: Op,
    n: usize,
    doc: &'static str,
) -> Builtin {
    Builtin { name, signature, doc, arguments: (n, n), rule: CallRule::Numbers(op) }
}

const fn built(
    name: &'static str,
    signature: &'static str,
    arguments: (usize, usize),
    build: fn(&mut Lowering<'_>, &Call<'_>) -> Result<LoweredValue, ExprError>,
    doc: &'static str,
) -> Builtin {
    Builtin { name, signature, doc, arguments, rule: CallRule::Build(build) }
}

const fn chain(name: &'static str, signature: &'static str, op: Op, doc: &'static str) -> Builtin {
    Builtin { name, signature, doc, arguments: (2, usize::MAX), rule: CallRule::Chain(op) }
}

/// All built-in functions.
pub const FUNCTIONS: &[Builtin] = &[
    numbers("sin", "sin(x)", Op::Sin, 1, "sine"),
    numbers("cos", "cos(x)", Op::Cos, 1, "cosine"),
    numbers("tan", "tan(x)", Op::Tan, 1, "tangent"),
    numbers("asin", "asin(x)", Op::Asin, 1, "arc sine"),
    numbers("acos", "acos(x)", Op::Acos, 1, "arc cosine"),
    numbers("atan", "atan(x)", Op::Atan, 1, "arc tangent"),
    numbers("atan2", "atan2(y, x)", Op::Atan2, 2, "angle of the point (x, y)"),
    numbers("sinh", "sinh(x)", Op::Sinh, 1, "hyperbolic sine"),
    numbers("cosh", "cosh(x)", Op::Cosh, 1, "hyperbolic cosine"),
    numbers("tanh", "tanh(x)", Op::Tanh, 1, "hyperbolic tangent"),
    numbers("exp", "exp(x)", Op::Exp, 1, "e to the power x"),
    numbers("log", "log(x)", Op::Log, 1, "natural logarithm"),
    numbers("log10", "log10(x)", Op::Log10, 1, "decimal logarithm"),
    numbers("sqrt", "sqrt(x)", Op::Sqrt, 1, "square root"),
    numbers("abs", "abs(x)", Op::Abs, 1, "absolute value"),
    numbers("sign", "sign(x)", Op::Sign, 1, "-1, 0 or 1"),
    chain("min", "min(a, b, …)", Op::Min, "the smallest"),
    chain("max", "max(a, b, …)", Op::Max, "the largest"),
    built("hypot", "hypot(a, b)", (2, 3), hypot, "root of the sum of squares, of 2 or 3 numbers"),
    numbers("floor", "floor(x)", Op::Floor, 1, "next integer below"),
    numbers("ceil", "ceil(x)", Op::Ceil, 1, "next integer above"),
    numbers("round", "round(x)", Op::Round, 1, "nearest integer, halves away from 0"),
    numbers("clamp", "clamp(x, lo, hi)", Op::Clamp, 3, "x, but not below lo or above hi"),
    built("if", "if(c, a, b)", (3, 3), choose, "a where c is true, else b"),
    numbers("step", "step(x, x0, y0, x1, y1)", Op::Step, 5, "from y0 at x0 to y1 at x1, cubic"),
    numbers("smoothstep", "smoothstep(x, x0, x1)", Op::Smoothstep, 3, "from 0 at x0 to 1 at x1, quintic"),
    numbers("pulse", "pulse(x, start, width)", Op::Pulse, 3, "1 from start for width, else 0"),
    built("dot", "dot(a, b)", (2, 2), vectors::dot_of, "scalar product"),
    built("cross", "cross(a, b)", (2, 2), vectors::cross_of, "vector product; planar a number"),
    built("norm", "norm(v)", (1, 1), vectors::norm_of, "length of a vector"),
    built("unit", "unit(v)", (1, 1), vectors::unit_of, "the vector of length 1 along v"),
    built("dist", "dist(P, Q)", (2, 2), vectors::dist_of, "distance of two points"),
    built("mid", "mid(P, Q)", (2, 2), vectors::mid_of, "the point halfway"),
    built("lerp", "lerp(P, Q, s)", (3, 3), vectors::lerp_of, "P at s = 0, Q at s = 1, linear"),
    built(
        "rotate",
        "rotate(v, axis, angle)",
        (2, 3),
        vectors::rotate_of,
        "v turned about axis; planar rotate(v, angle)",
    ),
    built("polar", "polar(r, angle)", (2, 2), vectors::polar_of, "planar: r at angle from x"),
    built("angle", "angle(P, Q)", (2, 2), vectors::angle_of, "planar: angle of the line P to Q"),
    built(
        "meet",
        "meet(P, r, Q, s)",
        (4, 4),
        vectors::meet_of,
        "planar: r from P and s from Q, left of P to Q",
    ),
];
