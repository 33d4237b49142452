//! Programs as text that parses back.
//!
//! Works like an evaluation in which registers hold texts. A text moves to its last reader, so a long sum
//! is written in time linear in its length.

use super::graph::Term;
use super::op::{Library, MAX_ARGUMENTS, Op};
use super::program::{Code, Instruction, TooLarge};
use super::{MAX_DEPTH, MAX_LENGTH};

/// Brackets, calls and signs that the deepest operation may itself add to the nesting.
const RESERVE: usize = 4;

// binding strength, by the levels of the grammar
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const SUM: u8 = 4;
const TERM: u8 = 5;
const FACTOR: u8 = 6;
const ATOM: u8 = 8;

/// A number as an expression that evaluates to the same bits (all that is not a number alike).
pub(crate) fn number(x: f64) -> String {
    if x.is_nan() {
        return "(inf - inf)".into();
    }
    let text = format!("{x:?}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Describes how an operation is written: a call, or an operator with the strength that its sides need.
enum OperatorForm {
    Atom(String),
    Call(String),
    Prefix(&'static str, u8, u8),
    Infix(&'static str, u8, u8, u8),
    /// `x + 3`, `x/2`, `x^2`.
    Suffix(String, u8, u8),
    /// `3*x`.
    Factor(String),
}

fn form(op: Op, constant: f64, library: &Library, name_of: &dyn Fn(u32) -> String) -> OperatorForm {
    let call = |name: &str| OperatorForm::Call(name.into());
    match op {
        Op::Slot(slot) => OperatorForm::Atom(name_of(slot)),
        Op::Constant => OperatorForm::Atom(number(constant)),
        Op::Table(i) => call(library.tables.get(i as usize).map_or("", |t| t.name())),
        Op::Given(i, _) => call(library.functions.get(i as usize).map_or("", |f| f.name())),
        Op::PowerInteger(n) => OperatorForm::Suffix(format!("^{n}"), FACTOR, ATOM),
        Op::PowerConstant => OperatorForm::Suffix(format!("^{}", number(constant)), FACTOR, ATOM),
        Op::AddConstant if constant < 0.0 => {
            OperatorForm::Suffix(format!(" - {}", number(-constant)), SUM, SUM)
        }
        Op::AddConstant => OperatorForm::Suffix(format!(" + {}", number(constant)), SUM, SUM),
        Op::MultiplyConstant => OperatorForm::Factor(number(constant)),
        Op::DivideConstant => OperatorForm::Suffix(format!("/{}", number(constant)), TERM, TERM),
        Op::Negative => OperatorForm::Prefix("-", FACTOR, FACTOR),
        Op::Not => OperatorForm::Prefix("not ", COMPARE, COMPARE),
        Op::Add => OperatorForm::Infix(" + ", SUM, SUM, TERM),
        Op::Subtract => OperatorForm::Infix(" - ", SUM, SUM, TERM),
        Op::Multiply => OperatorForm::Infix("*", TERM, TERM, FACTOR),
        Op::Divide => OperatorForm::Infix("/", TERM, TERM, FACTOR),
        Op::Modulo => OperatorForm::Infix(" % ", TERM, TERM, FACTOR),
        Op::Power => OperatorForm::Infix("^", FACTOR, ATOM, FACTOR),
        Op::Less => OperatorForm::Infix(" < ", COMPARE, SUM, SUM),
        Op::LessEqual => OperatorForm::Infix(" <= ", COMPARE, SUM, SUM),
        Op::Greater => OperatorForm::Infix(" > ", COMPARE, SUM, SUM),
        Op::GreaterEqual => OperatorForm::Infix(" >= ", COMPARE, SUM, SUM),
        Op::Equal => OperatorForm::Infix(" == ", COMPARE, SUM, SUM),
        Op::NotEqual => OperatorForm::Infix(" != ", COMPARE, SUM, SUM),
        Op::And => OperatorForm::Infix(" and ", AND, AND, COMPARE),
        Op::Or => OperatorForm::Infix(" or ", OR, OR, AND),
        Op::Sin => call("sin"),
        Op::Cos => call("cos"),
        Op::Tan => call("tan"),
        Op::Asin => call("asin"),
        Op::Acos => call("acos"),
        Op::Atan => call("atan"),
        Op::Sinh => call("sinh"),
        Op::Cosh => call("cosh"),
        Op::Tanh => call("tanh"),
        Op::Exp => call("exp"),
        Op::Log => call("log"),
        Op::Log10 => call("log10"),
        Op::Sqrt => call("sqrt"),
        Op::Abs => call("abs"),
        Op::Sign => call("sign"),
        Op::Floor => call("floor"),
        Op::Ceil => call("ceil"),
        Op::Round => call("round"),
        Op::Atan2 => call("atan2"),
        Op::Min => call("min"),
        Op::Max => call("max"),
        Op::If => call("if"),
        Op::Clamp => call("clamp"),
        Op::Smoothstep => call("smoothstep"),
        Op::Pulse => call("pulse"),
        Op::Step => call("step"),
    }
}

impl OperatorForm {
    fn level(&self) -> u8 {
        match self {
            // a negative number is a sign and a number
            OperatorForm::Atom(text) if text.starts_with('-') => FACTOR,
            OperatorForm::Atom(_) | OperatorForm::Call(_) => ATOM,
            OperatorForm::Prefix(_, level, _)
            | OperatorForm::Infix(_, level, ..)
            | OperatorForm::Suffix(_, level, _) => *level,
            OperatorForm::Factor(_) => TERM,
        }
    }

    /// Bytes beside its arguments.
    fn length(&self) -> usize {
        match self {
            OperatorForm::Atom(text) | OperatorForm::Suffix(text, ..) => text.len(),
            OperatorForm::Call(text) | OperatorForm::Factor(text) => text.len() + 2,
            OperatorForm::Prefix(sign, ..) | OperatorForm::Infix(sign, ..) => sign.len(),
        }
    }

    /// Strength that argument `k` needs to stand without brackets.
    fn needs(&self, k: usize) -> u8 {
        match self {
            OperatorForm::Atom(_) | OperatorForm::Call(_) => 0,
            OperatorForm::Prefix(_, _, needed) | OperatorForm::Suffix(_, _, needed) => *needed,
            OperatorForm::Infix(_, _, left, right) => [*left, *right][k.min(1)],
            OperatorForm::Factor(_) => FACTOR,
        }
    }
}

#[derive(Clone, Default)]
struct TextPiece {
    text: String,
    level: u8,
}

impl TextPiece {
    fn bracketed(self, needed: u8) -> String {
        if self.level < needed { format!("({})", self.text) } else { self.text }
    }
}

fn write(form: OperatorForm, args: Vec<TextPiece>) -> TextPiece {
    let level = form.level();
    let mut sides = args.into_iter().enumerate().map(|(k, piece)| piece.bracketed(form.needs(k)));
    let mut side = || sides.next().unwrap_or_default();
    let text = match &form {
        OperatorForm::Atom(text) => text.clone(),
        OperatorForm::Call(name) => {
            let list: Vec<String> = sides.collect();
            format!("{name}({})", list.join(", "))
        }
        OperatorForm::Prefix(sign, ..) => format!("{sign}{}", side()),
        OperatorForm::Infix(operator, ..) => {
            let mut text = side();
            text.push_str(operator);
            text.push_str(&side());
            text
        }
        OperatorForm::Suffix(end, ..) => side() + end,
        OperatorForm::Factor(factor) => format!("{factor}*{}", side()),
    };
    TextPiece { text, level }
}

fn name_of(code: &Code, slot: u32) -> String {
    let found = code.names.binary_search_by_key(&slot, |(s, _)| *s);
    found.map_or_else(|_| String::new(), |i| code.names[i].1.clone())
}

/// The text of a program.
pub(super) fn text(code: &Code) -> String {
    let result = match code.result {
        Term::Constant(bits) => return number(f64::from_bits(bits)),
        Term::Node(register) => register as usize,
    };
    let last = last_readings(&code.instructions, result);
    let mut registers = vec![TextPiece::default(); usize::from(u8::MAX) + 1];
    for (i, instruction) in code.instructions.iter().enumerate() {
        let mut args = Vec::with_capacity(MAX_ARGUMENTS);
        for (k, register) in instruction.args().enumerate() {
            let piece = &mut registers[register];
            args.push(if last[i][k] { std::mem::take(piece) } else { piece.clone() });
        }
        let form = form(instruction.op, instruction.constant, &code.library, &|slot| name_of(code, slot));
        registers[instruction.target as usize] = write(form, args);
    }
    std::mem::take(&mut registers[result].text)
}

/// Returns whether an argument is the last reading of its register.
fn last_readings(instructions: &[Instruction], result: usize) -> Vec<[bool; MAX_ARGUMENTS]> {
    let mut live = vec![false; usize::from(u8::MAX) + 1];
    live[result] = true;
    let mut last = vec![[false; MAX_ARGUMENTS]; instructions.len()];
    for (i, instruction) in instructions.iter().enumerate().rev() {
        live[instruction.target as usize] = false;
        let args: Vec<usize> = instruction.args().collect();
        for (k, register) in args.iter().enumerate().rev() {
            last[i][k] = !live[*register];
            live[*register] = true;
        }
    }
    last
}

/// Refuses a program whose text would not parse back: too deep, or too long.
pub(super) fn check_size(code: &Code) -> Result<(), TooLarge> {
    #[derive(Clone, Copy, Default)]
    struct Size {
        length: usize,
        depth: usize,
        level: u8,
    }
    let mut sizes = [Size::default(); u8::MAX as usize + 1];
    for instruction in &code.instructions {
        let form = form(instruction.op, instruction.constant, &code.library, &|slot| name_of(code, slot));
        let mut size = Size { length: form.length(), depth: 0, level: form.level() };
        for (k, register) in instruction.args().enumerate() {
            let arg = sizes[register];
            let nests = match form {
                OperatorForm::Call(_) | OperatorForm::Prefix(..) => true,
                // an exponent nests to the right
                OperatorForm::Infix("^", ..) => k == 1,
                _ => false,
            };
            let bracketed = arg.level < form.needs(k);
            let deeper = usize::from(nests) + usize::from(bracketed);
            // two brackets, or a comma and a space
            size.length = size.length.saturating_add(arg.length + 2 * deeper);
            size.depth = size.depth.max(arg.depth + deeper);
        }
        if size.length > MAX_LENGTH || size.depth > MAX_DEPTH - RESERVE {
            return Err(TooLarge);
        }
        sizes[instruction.target as usize] = size;
    }
    Ok(())
}

/// One operation on numbers, for messages.
pub(super) fn call(op: Op, constant: f64, library: &Library, args: &[f64]) -> String {
    let form = form(op, constant, library, &|_| String::new());
    let pieces = args.iter().map(|x| {
        let text = format!("{x}");
        let level = if *x < 0.0 { FACTOR } else { ATOM };
        TextPiece { text, level }
    });
    write(form, pieces.collect()).text
}
