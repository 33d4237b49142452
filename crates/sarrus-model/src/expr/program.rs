//! Expressions as straight-line code over registers.
//!
//! No allocation and no recursion on evaluation: both sides of an `if` are computed and one is taken.
//! Registers are reused after their last reader, so that few are live at once and fit on the stack.

use std::fmt;
use std::sync::Arc;

use sarrus_math::Real;

use super::display;
use super::graph::{Graph, Term};
use super::op::{Library, MAX_ARGUMENTS, Op, apply};
use crate::functions::{self, GivenFunction};
use crate::tables::Outside;

/// Most registers that a program may use: as many as a byte can number.
pub(super) const MAX_REGISTERS: usize = 256;

/// One number as a function of slots that are read at run time. Cloning is cheap.
///
/// Made by [`Expr::compile`](super::Expr::compile). [`Display`](fmt::Display) writes an expression that
/// compiles to a program with the same values.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) code: Arc<Code>,
}

#[derive(Debug)]
pub(super) struct Code {
    pub instructions: Vec<Instruction>,
    pub registers: usize,
    /// A constant, or the register of the result.
    pub result: Term,
    pub library: Library,
    /// Path behind each slot that is read, by slot.
    pub names: Vec<(u32, String)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub op: Op,
    pub constant: f64,
    pub args: [u8; MAX_ARGUMENTS],
    pub target: u8,
}

impl Instruction {
    pub fn args(&self) -> impl Iterator<Item = usize> + '_ {
        self.args[..self.op.arity()].iter().map(|a| *a as usize)
    }
}

impl Program {
    /// The program that is `x` always.
    pub fn constant(x: f64) -> Program {
        let code = Code {
            instructions: Vec::new(),
            registers: 0,
            result: Term::constant(x),
            library: Library::default(),
            names: Vec::new(),
        };
        Program { code: Arc::new(code) }
    }

    /// Value with its derivatives; `read` gives the value of a slot.
    pub fn eval<R: Real>(&self, read: &impl Fn(u32) -> R) -> R {
        match self.code.result {
            Term::Constant(bits) => R::from_f64(f64::from_bits(bits)),
            Term::Node(result) if self.code.library.functions.is_empty() => self.result(result, read),
            Term::Node(result) => {
                functions::begin();
                let value = self.result(result, read);
                // a number or derivative that is not finite stays so, whatever it is multiplied by
                if !(value * 0.0).is_zero() {
                    functions::confirm();
                }
                value
            }
        }
    }

    #[inline(always)]
    fn result<R: Real>(&self, result: u32, read: &impl Fn(u32) -> R) -> R {
        match self.code.registers {
            0..=8 => self.run::<R, 8>(read)[result as usize],
            9..=32 => self.run::<R, 32>(read)[result as usize],
            _ => self.run::<R, MAX_REGISTERS>(read)[result as usize],
        }
    }

    fn run<R: Real, const N: usize>(&self, read: &impl Fn(u32) -> R) -> [R; N] {
        let mut registers = [R::zero(); N];
        for i in &self.code.instructions {
            let arg = |k: usize| registers[i.args[k] as usize];
            let value = apply(i.op, i.constant, &self.code.library, read, arg);
            registers[i.target as usize] = value;
        }
        registers
    }

    /// The slots it reads, each once, in ascending order.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.code.names.iter().map(|(slot, _)| *slot)
    }

    /// The functions given by a program that it calls, each once.
    pub fn functions(&self) -> impl Iterator<Item = &GivenFunction> {
        self.code.library.functions.iter().map(|f| &**f)
    }

    /// Returns whether it reads `slot`.
    pub fn depends_on(&self, slot: u32) -> bool {
        self.code.names.binary_search_by_key(&slot, |(s, _)| *s).is_ok()
    }

    /// Its value, where it reads no slot.
    pub fn is_constant(&self) -> Option<f64> {
        self.code.result.value()
    }

    /// The slot, where the program is nothing but that slot.
    pub fn is_slot(&self) -> Option<u32> {
        match self.code.instructions[..] {
            [Instruction { op: Op::Slot(slot), .. }] => Some(slot),
            _ => None,
        }
    }

    /// Returns whether it is a condition, 1 or 0: a comparison, or several put together.
    pub fn is_condition(&self) -> bool {
        match self.code.result {
            Term::Node(result) => {
                let last = self.code.instructions.iter().rev().find(|i| u32::from(i.target) == result);
                last.is_some_and(|i| i.op.is_flag())
            }
            Term::Constant(_) => false,
        }
    }

    /// Returns whether it or one of its first derivatives may jump: `if`, `abs`, `min`, a comparison, a table, ….
    pub fn switches(&self) -> bool {
        self.code.instructions.iter().any(|i| i.op.switches())
    }

    /// The part of `graph` behind `result` as a program, or why it is too large.
    pub(super) fn from_graph(graph: &Graph, result: Term) -> Result<Program, TooLarge> {
        let Term::Node(root) = result else {
            return Ok(Program::constant(result.value().unwrap_or(f64::NAN)));
        };

        // the last reader of every node that is needed
        let mut last_reader: Vec<Option<u32>> = vec![None; root as usize + 1];
        last_reader[root as usize] = Some(u32::MAX);
        for i in (0..=root).rev() {
            if last_reader[i as usize].is_none() {
                continue;
            }
            let operation = &graph.nodes[i as usize];
            for arg in &operation.args[..operation.op.arity()] {
                if let Term::Node(a) = arg {
                    last_reader[*a as usize].get_or_insert(i);
                }
            }
        }

        // one instruction each, constants taken in where the operation allows it
        let mut emitter = Emitter::new(root as usize + 1);
        for i in 0..=root {
            if last_reader[i as usize].is_some() {
                let operation = graph.nodes[i as usize];
                emitter.emit(i, operation.op, &operation.args[..operation.op.arity()], &last_reader)?;
            }
        }

        let mut library = Library::default();
        let mut names = Vec::new();
        for instruction in &mut emitter.instructions {
            match &mut instruction.op {
                Op::Slot(slot) => names.push((*slot, graph.names.get(slot).cloned().unwrap_or_default())),
                Op::Table(i) => *i = library.table(&graph.library.tables[*i as usize]),
                Op::Given(i, _) => *i = library.function(&graph.library.functions[*i as usize]),
                _ => {}
            }
        }
        names.sort();
        let code = Code {
            result: Term::Node(u32::from(emitter.register[root as usize])),
            registers: emitter.used,
            instructions: emitter.instructions,
            library,
            names,
        };
        display::check_size(&code)?;
        Ok(Program { code: Arc::new(code) })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&display::text(&self.code))
    }
}

/// A program that would be too large to run or to write down.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooLarge;

struct Emitter {
    instructions: Vec<Instruction>,
    /// Register of each node.
    register: Vec<u8>,
    free: Vec<u8>,
    used: usize,
}

impl Emitter {
    fn new(nodes: usize) -> Self {
        Emitter { instructions: Vec::new(), register: vec![0; nodes], free: Vec::new(), used: 0 }
    }

    fn allocate(&mut self) -> Result<u8, TooLarge> {
        if let Some(register) = self.free.pop() {
            return Ok(register);
        }
        if self.used == MAX_REGISTERS {
            return Err(TooLarge);
        }
        self.used += 1;
        Ok((self.used - 1) as u8)
    }

    fn push(&mut self, op: Op, constant: f64, args: [u8; MAX_ARGUMENTS], target: u8) {
        self.instructions.push(Instruction { op, constant, args, target });
    }

    fn emit(
        &mut self,
        node: u32,
        op: Op,
        args: &[Term],
        last_reader: &[Option<u32>],
    ) -> Result<(), TooLarge> {
        let (op, constant, args) = with_constant(op, args);

        // arguments, constants in registers of their own
        let mut registers = [0; MAX_ARGUMENTS];
        let mut done: [Option<u8>; MAX_ARGUMENTS] = [None; MAX_ARGUMENTS];
        for (k, arg) in args.iter().flatten().enumerate() {
            registers[k] = match arg {
                Term::Constant(bits) => {
                    let target = self.allocate()?;
                    self.push(Op::Constant, f64::from_bits(*bits), [0; MAX_ARGUMENTS], target);
                    done[k] = Some(target);
                    target
                }
                Term::Node(a) => {
                    let register = self.register[*a as usize];
                    if last_reader[*a as usize] == Some(node) && !done.contains(&Some(register)) {
                        done[k] = Some(register);
                    }
                    register
                }
            };
        }

        // the target may take the place of an argument, which is read before it is written
        self.free.extend(done.iter().flatten());
        let target = self.allocate()?;
        self.register[node as usize] = target;
        self.push(op, constant, registers, target);
        Ok(())
    }
}

/// The operation with its constant argument inside, where there is such an operation.
fn with_constant(op: Op, args: &[Term]) -> (Op, f64, [Option<Term>; MAX_ARGUMENTS]) {
    let short = |op, constant, x: Term| {
        let mut list = [None; MAX_ARGUMENTS];
        list[0] = Some(x);
        (op, constant, list)
    };
    if let [a, b] = *args {
        match (op, a.value(), b.value()) {
            (Op::Add, None, Some(c)) => return short(Op::AddConstant, c, a),
            (Op::Add, Some(c), None) => return short(Op::AddConstant, c, b),
            (Op::Subtract, None, Some(c)) => return short(Op::AddConstant, -c, a),
            (Op::Multiply, None, Some(c)) => return short(Op::MultiplyConstant, c, a),
            (Op::Multiply, Some(c), None) => return short(Op::MultiplyConstant, c, b),
            (Op::Divide, None, Some(c)) => return short(Op::DivideConstant, c, a),
            (Op::Power, None, Some(c)) => return short(Op::PowerConstant, c, a),
            _ => {}
        }
    }
    let mut list = [None; MAX_ARGUMENTS];
    for (term, arg) in list.iter_mut().zip(args) {
        *term = Some(*arg);
    }
    (op, 0.0, list)
}

/// Returns why an operation on finite numbers gave none.
pub(super) fn fault_message(op: Op, constant: f64, library: &Library, args: &[f64], value: f64) -> String {
    match op {
        Op::Table(i) => {
            let table = &library.tables[i as usize];
            let [first, last] = table.range();
            if table.outside() == Outside::Error && args.first().is_some_and(|x| *x < first || *x > last) {
                return format!("table `{}` goes from {first} to {last}, not to {}", table.name(), args[0]);
            }
        }
        Op::Given(i, _) => {
            let list: Vec<String> = args.iter().map(f64::to_string).collect();
            let name = library.functions[i as usize].name();
            return format!("function `{name}` gave {value} for ({})", list.join(", "));
        }
        Op::Divide if args.get(1) == Some(&0.0) => return "division by zero".into(),
        Op::DivideConstant if constant == 0.0 => return "division by zero".into(),
        Op::Modulo if args.get(1) == Some(&0.0) => return "the remainder of a division by zero".into(),
        _ => {}
    }
    let what = display::call(op, constant, library, args);
    if value.is_nan() { format!("{what} is not a number") } else { format!("{what} is too large") }
}
