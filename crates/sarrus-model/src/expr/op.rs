//! The operations that programs are made of, over any [`Real`].
//!
//! Comparisons and logic give 1 or 0, and every choice is made by value: the derivative is that of the
//! side taken.

use std::sync::Arc;

use sarrus_math::Real;

use crate::functions::{GivenFunction, MOST_ARGUMENTS};
use crate::tables::Curve;

/// Most arguments of an operation; built-in ones have five at most.
pub(crate) const MAX_ARGUMENTS: usize = MOST_ARGUMENTS;

/// Holds what operations refer to by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Library {
    pub tables: Vec<Arc<Curve>>,
    pub functions: Vec<Arc<GivenFunction>>,
}

impl Library {
    /// The number of a table, added where it is new.
    pub fn table(&mut self, table: &Arc<Curve>) -> u32 {
        number(&mut self.tables, table) as u32
    }

    /// The number of a function, likewise.
    pub fn function(&mut self, function: &Arc<GivenFunction>) -> u16 {
        number(&mut self.functions, function) as u16
    }
}

fn number<T>(list: &mut Vec<Arc<T>>, item: &Arc<T>) -> usize {
    let known = list.iter().position(|other| Arc::ptr_eq(other, item));
    known.unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Reads a slot.
    Slot(u32),
    /// Position among the tables of the program.
    Table(u32),
    /// Position among the functions given by a program, and how many arguments the call has.
    Given(u16, u8),
    PowerInteger(i32),
    Negative,
    Not,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Floor,
    Ceil,
    Round,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Atan2,
    Min,
    Max,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    If,
    Clamp,
    Smoothstep,
    Pulse,
    Step,
    /// The constant of the instruction, and operations with it as the second argument.
    Constant,
    AddConstant,
    MultiplyConstant,
    DivideConstant,
    PowerConstant,
}

impl Op {
    pub fn arity(self) -> usize {
        use Op::*;
        match self {
            Slot(_) | Constant => 0,
            Table(_) | PowerInteger(_) | Negative | Not | Sin | Cos | Tan | Asin | Acos | Atan | Sinh
            | Cosh | Tanh | Exp | Log | Log10 | Sqrt | Abs | Sign | Floor | Ceil | Round | AddConstant
            | MultiplyConstant | DivideConstant | PowerConstant => 1,
            Add | Subtract | Multiply | Divide | Modulo | Power | Atan2 | Min | Max | Less | LessEqual
            | Greater | GreaterEqual | Equal | NotEqual | And | Or => 2,
            If | Clamp | Smoothstep | Pulse => 3,
            Step => 5,
            Given(_, n) => n as usize,
        }
    }

    /// Gives 1 or 0 only.
    pub fn is_flag(self) -> bool {
        use Op::*;
        matches!(self, Not | Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
    }

    /// It or one of its derivatives jumps somewhere.
    pub fn switches(self) -> bool {
        use Op::*;
        self.is_flag()
            || matches!(
                self,
                Table(_)
                    | Abs
                    | Sign
                    | Floor
                    | Ceil
                    | Round
                    | Modulo
                    | Min
                    | Max
                    | If
                    | Clamp
                    | Smoothstep
                    | Pulse
                    | Step
            )
    }
}

fn flag<R: Real>(condition: bool) -> R {
    R::from_f64(if condition { 1.0 } else { 0.0 })
}

/// `y` with its value replaced by `value`, where both are finite; the derivatives stay.
fn with_value<R: Real>(y: R, value: f64) -> R {
    let correction = value - y.value();
    if correction.is_finite() { y + correction } else { y }
}

/// a % b, with the sign of b.
fn modulo<R: Real>(a: R, b: R) -> R {
    let (x, m) = (a.value(), b.value());
    let mut rest = x % m;
    if rest != 0.0 && (rest < 0.0) != (m < 0.0) {
        rest += m;
    }
    let revolutions = ((x - rest) / m).round();
    if revolutions == 0.0 { a } else { with_value(a - b * revolutions, rest) }
}

/// Applies `op` to the arguments that `arg` gives; the constant belongs to the instruction.
#[inline(always)]
pub(crate) fn apply<R: Real>(
    op: Op,
    constant: f64,
    library: &Library,
    read: &impl Fn(u32) -> R,
    arg: impl Fn(usize) -> R,
) -> R {
    match op {
        Op::Slot(slot) => read(slot),
        Op::Constant => R::from_f64(constant),
        Op::Table(i) => library.tables[i as usize].eval(arg(0)),
        Op::Given(i, n) => library.functions[i as usize].eval(n as usize, arg),
        Op::PowerInteger(n) => arg(0).powi(n),
        Op::Negative => -arg(0),
        Op::Not => flag(arg(0).value() == 0.0),
        Op::Sin => arg(0).sin(),
        Op::Cos => arg(0).cos(),
        Op::Tan => arg(0).tan(),
        Op::Asin => arg(0).asin(),
        Op::Acos => arg(0).acos(),
        Op::Atan => arg(0).atan(),
        Op::Sinh => arg(0).sinh_cosh().0,
        Op::Cosh => arg(0).sinh_cosh().1,
        Op::Tanh => arg(0).tanh(),
        Op::Exp => arg(0).exp(),
        Op::Log => arg(0).ln(),
        Op::Log10 => {
            let x = arg(0);
            with_value(x.ln() / std::f64::consts::LN_10, x.value().log10())
        }
        Op::Sqrt => arg(0).sqrt(),
        Op::Abs => arg(0).abs(),
        Op::Sign => {
            let x = arg(0).value();
            R::from_f64(if x == 0.0 { 0.0 } else { x.signum() })
        }
        Op::Floor => R::from_f64(arg(0).value().floor()),
        Op::Ceil => R::from_f64(arg(0).value().ceil()),
        Op::Round => R::from_f64(arg(0).value().round()),
        Op::Add => arg(0) + arg(1),
        Op::Subtract => arg(0) - arg(1),
        Op::Multiply => arg(0) * arg(1),
        Op::Divide => arg(0) / arg(1),
        Op::AddConstant => arg(0) + constant,
        Op::MultiplyConstant => arg(0) * constant,
        Op::DivideConstant => arg(0) / constant,
        Op::PowerConstant => arg(0).powf(R::from_f64(constant)),
        Op::Modulo => modulo(arg(0), arg(1)),
        Op::Power => arg(0).powf(arg(1)),
        Op::Atan2 => arg(0).atan2(arg(1)),
        Op::Min => least(arg(0), arg(1)),
        Op::Max => -least(-arg(0), -arg(1)),
        Op::Less => flag(arg(0).value() < arg(1).value()),
        Op::LessEqual => flag(arg(0).value() <= arg(1).value()),
        Op::Greater => flag(arg(0).value() > arg(1).value()),
        Op::GreaterEqual => flag(arg(0).value() >= arg(1).value()),
        Op::Equal => flag(arg(0).value() == arg(1).value()),
        Op::NotEqual => flag(arg(0).value() != arg(1).value()),
        Op::And => flag(arg(0).value() != 0.0 && arg(1).value() != 0.0),
        Op::Or => flag(arg(0).value() != 0.0 || arg(1).value() != 0.0),
        Op::If => {
            if arg(0).value() != 0.0 {
                arg(1)
            } else {
                arg(2)
            }
        }
        Op::Clamp => {
            let (x, lo, hi) = (arg(0), arg(1), arg(2));
            if x.value() < lo.value() {
                lo
            } else if x.value() > hi.value() {
                hi
            } else {
                x
            }
        }
        Op::Smoothstep => {
            let (x, x0, x1) = (arg(0), arg(1), arg(2));
            ramp(x, x0, x1, R::zero(), R::one(), |s| s * s * s * ((s * 6.0 - 15.0) * s + 10.0))
        }
        Op::Step => {
            let (x, x0, y0, x1, y1) = (arg(0), arg(1), arg(2), arg(3), arg(4));
            ramp(x, x0, x1, y0, y1, |s| y0 + (y1 - y0) * (s * s * (-s * 2.0 + 3.0)))
        }
        Op::Pulse => {
            let since = arg(0).value() - arg(1).value();
            flag(since >= 0.0 && since < arg(2).value())
        }
    }
}

/// The smaller one; not a number where one of them is not.
fn least<R: Real>(a: R, b: R) -> R {
    if b.value() < a.value() || b.value().is_nan() { b } else { a }
}

/// `before` up to x0, `after` from x1 on, `between` of the fraction of the way otherwise.
fn ramp<R: Real>(x: R, x0: R, x1: R, before: R, after: R, between: impl Fn(R) -> R) -> R {
    if x.value() <= x0.value() {
        before
    } else if x.value() >= x1.value() {
        after
    } else {
        between((x - x0) / (x1 - x0))
    }
}
