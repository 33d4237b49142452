//! Comparisons by `==` and `!=` of numbers that change continuously, which no event can wait for.

use super::op::Op;
use super::program::{MAX_REGISTERS, Program};

/// Describes how a number changes in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeDependence {
    /// It is constant piece by piece: a switch, a flag, a whole number.
    Held,
    /// It is affine in the time piece by piece, so that the instants at which it takes a value are known.
    Affine,
    /// It changes continuously otherwise.
    Continuously,
}

impl Program {
    /// Returns whether a comparison by `==` or `!=` in it depends on what changes [`Continuously`](TimeDependence::Continuously).
    pub fn equates(&self, slot: &dyn Fn(u32) -> TimeDependence) -> bool {
        let mut registers = [TimeDependence::Held; MAX_REGISTERS];
        for i in &self.code.instructions {
            let most = (0..i.op.arity())
                .map(|k| registers[i.args[k] as usize])
                .max()
                .unwrap_or(TimeDependence::Held);
            if matches!(i.op, Op::Equal | Op::NotEqual) && most == TimeDependence::Continuously {
                return true;
            }
            registers[i.target as usize] = match i.op {
                Op::Slot(s) => slot(s),
                op if op.is_flag() => TimeDependence::Held,
                Op::Constant | Op::Sign | Op::Floor | Op::Ceil | Op::Round | Op::Pulse => {
                    TimeDependence::Held
                }
                // the condition of `if` switches, its branches may change
                Op::If => registers[i.args[1] as usize].max(registers[i.args[2] as usize]),
                Op::Add
                | Op::Subtract
                | Op::Negative
                | Op::Abs
                | Op::Min
                | Op::Max
                | Op::Clamp
                | Op::Modulo => most,
                Op::AddConstant | Op::MultiplyConstant | Op::DivideConstant => most,
                Op::Multiply | Op::Divide if registers[i.args[1] as usize] == TimeDependence::Held => most,
                // a function given by a program, and a table, may be stairs
                Op::Given(..) | Op::Table(_) => TimeDependence::Held,
                _ if most == TimeDependence::Held => TimeDependence::Held,
                _ => TimeDependence::Continuously,
            };
        }
        false
    }
}
