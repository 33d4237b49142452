//! Conditions of numbers that may be none, and where such a number comes from.
//!
//! A comparison with NaN is false, whatever was meant. Here it is undecided, and so is what depends on it: `false and x`, `true or x`
//! and the side of an `if` that is not taken do not. Undecided is NaN.

use super::graph::Term;
use super::op::{Library, Op, apply};
use super::program::{Instruction, MAX_REGISTERS, Program, fault_message};

impl Program {
    /// Its value as a condition: 1, 0, or NaN where it is undecided.
    pub fn decide(&self, read: &impl Fn(u32) -> f64) -> f64 {
        match self.code.result {
            Term::Constant(bits) => f64::from_bits(bits),
            Term::Node(result) => match self.code.registers {
                0..=8 => self.run_strictly::<8>(read)[result as usize],
                9..=32 => self.run_strictly::<32>(read)[result as usize],
                _ => self.run_strictly::<MAX_REGISTERS>(read)[result as usize],
            },
        }
    }

    fn run_strictly<const N: usize>(&self, read: &impl Fn(u32) -> f64) -> [f64; N] {
        let mut registers = [0.0; N];
        for i in &self.code.instructions {
            let value = strictly(i, &self.code.library, read, |k| registers[i.args[k] as usize]);
            registers[i.target as usize] = value;
        }
        registers
    }

    /// Returns what first went wrong, where the value at these slots is not finite.
    pub fn fault(&self, read: &impl Fn(u32) -> f64) -> Option<String> {
        self.origin(|i, arg| apply(i.op, i.constant, &self.code.library, read, arg))
    }

    /// Returns what leaves it undecided, where it is a condition and undecided at these slots.
    pub fn undecided(&self, read: &impl Fn(u32) -> f64) -> Option<String> {
        self.origin(|i, arg| strictly(i, &self.code.library, read, arg))
    }

    /// Follows a result that is not finite back to the operation on finite numbers that it comes from.
    fn origin(&self, mut value: impl FnMut(&Instruction, &dyn Fn(usize) -> f64) -> f64) -> Option<String> {
        let mut registers = [0.0; MAX_REGISTERS];
        // of each register that is not finite
        let mut origins: Vec<Option<String>> = vec![None; MAX_REGISTERS];
        for i in &self.code.instructions {
            let args: Vec<f64> = i.args().map(|a| registers[a]).collect();
            let value = value(i, &|k| args[k]);
            let origin = (!value.is_finite()).then(|| {
                let side = |k: usize| k == if args[0] != 0.0 { 1 } else { 2 };
                let read = || (0..args.len()).filter(|k| i.op != Op::If || args[0].is_nan() || side(*k));
                let from = read().find(|k| args[*k].is_nan()).or(read().find(|k| !args[*k].is_finite()));
                let known = from.and_then(|k| origins[i.args[k] as usize].clone());
                known.unwrap_or_else(|| self.describe(i, &args, value))
            });
            registers[i.target as usize] = value;
            origins[i.target as usize] = origin;
        }
        match self.code.result {
            Term::Node(result) => origins.swap_remove(result as usize),
            Term::Constant(bits) if !f64::from_bits(bits).is_finite() => Some(format!("it is {self}")),
            _ => None,
        }
    }

    fn describe(&self, i: &Instruction, args: &[f64], value: f64) -> String {
        if let Op::Slot(slot) = i.op {
            let path = self.code.names.iter().find(|(s, _)| *s == slot).map_or("", |(_, name)| name);
            return format!("`{path}` is {value}");
        }
        fault_message(i.op, i.constant, &self.code.library, args, value)
    }
}

/// The value of an instruction, NaN for a flag that is undecided.
#[inline(always)]
fn strictly(
    i: &Instruction,
    library: &Library,
    read: &impl Fn(u32) -> f64,
    arg: impl Fn(usize) -> f64,
) -> f64 {
    use Op::*;
    let any_nan = |n: usize| (0..n).any(|k| arg(k).is_nan());
    let is_true = |k: usize| arg(k) != 0.0 && !arg(k).is_nan();
    match i.op {
        Not if any_nan(1) => f64::NAN,
        Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual if any_nan(2) => f64::NAN,
        And if arg(0) != 0.0 && arg(1) != 0.0 && any_nan(2) => f64::NAN,
        Or if !is_true(0) && !is_true(1) && any_nan(2) => f64::NAN,
        If if any_nan(1) => f64::NAN,
        Pulse if any_nan(3) => f64::NAN,
        Or => f64::from(is_true(0) || is_true(1)),
        op => apply(op, i.constant, library, read, arg),
    }
}
