//! Describes where a program chooses by value: `if(x > 0.3, …)`, `abs`, `min`, `floor`.
//!
//! Each choice has an argument, a number that varies continuously with what the program reads, and levels of it at which the choice
//! changes. Between two neighbouring levels, a cell, the program goes one way: there it is smooth where its operations are.

use sarrus_math::{Enclosure, Real};

use super::op::{Op, apply};
use super::program::{MAX_REGISTERS, Program};
use crate::tables::{Curve, Interpolation, Outside};

/// A choice of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    instruction: usize,
    /// Of an operation with two levels that vary, whether it is the second one.
    second: bool,
}

impl Program {
    /// Its choices. `==` and `!=` are none: they hold at instants. Kinks of tables and the ends of ramps are none either.
    pub fn choices(&self) -> impl Iterator<Item = Choice> + '_ {
        use Op::*;
        self.code.instructions.iter().enumerate().flat_map(|(instruction, i)| {
            let count = match i.op {
                Abs | Sign | Floor | Ceil | Round | Modulo | Min | Max | Less | LessEqual | Greater
                | GreaterEqual => 1,
                Table(t) if self.table(t).interpolation() == Interpolation::Step => 1,
                Clamp | Pulse => 2,
                _ => 0,
            };
            (0..count).map(move |k| Choice { instruction, second: k == 1 })
        })
    }

    /// Returns whether it is a polynomial of what it reads in each cell of its choices, of an order that the stages of a step resolve.
    pub fn is_polynomial(&self) -> bool {
        use Op::*;
        self.code.instructions.iter().all(|i| match i.op {
            Table(t) => self.table(t).interpolation() == Interpolation::Step,
            PowerInteger(n) => (0..=4).contains(&n),
            Slot(_) | Constant | Negative | Add | Subtract | Multiply | AddConstant | MultiplyConstant
            | DivideConstant | Abs | Sign | Floor | Ceil | Round | Modulo | Min | Max | If | Clamp
            | Pulse => true,
            op => op.is_flag() && !matches!(op, Equal | NotEqual),
        })
    }

    /// The argument of a choice.
    pub fn argument(&self, choice: Choice, read: &impl Fn(u32) -> f64) -> f64 {
        let mut registers = [0.0; MAX_REGISTERS];
        for i in &self.code.instructions[..choice.instruction] {
            let arg = |k: usize| registers[i.args[k] as usize];
            let value = apply(i.op, i.constant, &self.code.library, read, arg);
            registers[i.target as usize] = value;
        }
        self.argument_of(choice, &registers)
    }

    /// Bounds on it over an interval.
    pub fn enclose_argument(&self, choice: Choice, read: &impl Fn(u32) -> Enclosure) -> Enclosure {
        self.argument_of(choice, &self.enclose_registers(choice.instruction, read))
    }

    fn argument_of<R: Real>(&self, choice: Choice, registers: &[R; MAX_REGISTERS]) -> R {
        use Op::*;
        let i = &self.code.instructions[choice.instruction];
        let arg = |k: usize| registers[i.args[k] as usize];
        match i.op {
            Min | Max | Less | LessEqual | Greater | GreaterEqual => arg(0) - arg(1),
            Clamp => arg(0) - arg(if choice.second { 2 } else { 1 }),
            Pulse if choice.second => arg(0) - arg(1) - arg(2),
            Pulse => arg(0) - arg(1),
            Modulo => arg(0) / arg(1),
            _ => arg(0),
        }
    }

    /// The neighbouring levels between which the argument `u` of a choice is.
    pub fn cell(&self, choice: Choice, u: f64) -> [f64; 2] {
        match self.code.instructions[choice.instruction].op {
            Op::Floor | Op::Modulo => [u.floor(), u.floor() + 1.0],
            Op::Ceil => [u.ceil() - 1.0, u.ceil()],
            Op::Round => [(u + 0.5).floor() - 0.5, (u + 0.5).floor() + 0.5],
            Op::Table(t) => between_points(self.table(t), u),
            _ if u > 0.0 => [0.0, f64::INFINITY],
            _ => [f64::NEG_INFINITY, 0.0],
        }
    }

    fn table(&self, t: u32) -> &Curve {
        &self.code.library.tables[t as usize]
    }
}

/// The neighbouring points of a table around `x`.
fn between_points(table: &Curve, x: f64) -> [f64; 2] {
    let [first, last] = table.range();
    let period = last - first;
    let before =
        if table.outside() == Outside::Repeat { ((x - first) / period).floor() * period } else { 0.0 };
    let points = table.knots();
    let next = points.partition_point(|point| *point <= x - before);
    let at = |k: usize| points.get(k).map(|point| point + before);
    [next.checked_sub(1).and_then(at).unwrap_or(f64::NEG_INFINITY), at(next).unwrap_or(f64::INFINITY)]
}
