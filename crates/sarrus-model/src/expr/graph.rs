//! Operations and what they read, each kept once; constants are folded while it grows.
//!
//! A node reads only nodes before it, so the list is in an order of evaluation.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::op::{Library, MAX_ARGUMENTS, Op, apply};
use crate::functions::GivenFunction;
use crate::tables::Curve;

/// A constant, by its bits, or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    Constant(u64),
    Node(u32),
}

impl Term {
    pub fn constant(x: f64) -> Term {
        // one pattern for all that is not a number, so that equal terms have equal bits
        Term::Constant(if x.is_nan() { f64::NAN } else { x }.to_bits())
    }

    pub fn value(self) -> Option<f64> {
        match self {
            Term::Constant(bits) => Some(f64::from_bits(bits)),
            Term::Node(_) => None,
        }
    }

    fn is(self, x: f64) -> bool {
        self.value() == Some(x)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operation {
    pub op: Op,
    /// As many as the operation has; the rest is the constant 0.
    pub args: [Term; MAX_ARGUMENTS],
}

#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Operation>,
    known: HashMap<Operation, u32>,
    pub library: Library,
    /// The path behind each slot.
    pub names: BTreeMap<u32, String>,
}

impl Graph {
    pub fn slot(&mut self, slot: u32, name: impl FnOnce() -> String) -> Term {
        self.names.entry(slot).or_insert_with(name);
        self.intern(Op::Slot(slot), &[])
    }

    pub fn table(&mut self, table: &Arc<Curve>, x: Term) -> Term {
        let index = self.library.table(table);
        self.add(Op::Table(index), &[x])
    }

    /// The call of a function given by a program: its value on loading, a node at run time. Then it is called whatever its arguments
    /// are: what the program does is not known here.
    pub fn given(&mut self, function: &Arc<GivenFunction>, args: &[Term], on_loading: bool) -> Term {
        if on_loading {
            let value = |k: usize| args[k].value().unwrap_or(f64::NAN);
            return Term::constant(function.eval(args.len(), value));
        }
        let index = self.library.function(function);
        self.intern(Op::Given(index, args.len() as u8), args)
    }

    /// The operation on these arguments: folded, simplified, or a node.
    pub fn add(&mut self, op: Op, args: &[Term]) -> Term {
        if let Some(values) = constants(args) {
            return Term::constant(apply(op, 0.0, &self.library, &|_| f64::NAN, |k| values[k]));
        }
        match (op, args) {
            (Op::Power, [x, p]) => match p.value() {
                Some(p) if p.trunc() == p && p.abs() <= 1024.0 => {
                    return self.add(Op::PowerInteger(p as i32), &[*x]);
                }
                _ => {}
            },
            (Op::If, [c, a, b]) => match c.value() {
                Some(c) => return if c != 0.0 { *a } else { *b },
                // what is not a number stays inside, where it is not yet an error
                None if a == b && !a.value().is_some_and(f64::is_nan) => return *a,
                None => {}
            },
            _ => {}
        }
        self.simplified(op, args).unwrap_or_else(|| self.intern(op, args))
    }

    /// Neutral elements. 0·x is 0 whatever x, so that a factor of 0 switches a term off.
    fn simplified(&self, op: Op, args: &[Term]) -> Option<Term> {
        match (op, args) {
            (Op::Add, [a, x] | [x, a]) if a.is(0.0) => Some(*x),
            (Op::Subtract, [x, a]) if a.is(0.0) => Some(*x),
            (Op::Multiply, [a, x] | [x, a]) if a.is(1.0) => Some(*x),
            (Op::Multiply, [a, _] | [_, a]) if a.is(0.0) => Some(Term::constant(0.0)),
            (Op::Divide, [x, a]) if a.is(1.0) => Some(*x),
            (Op::PowerInteger(1), [x]) => Some(*x),
            (Op::PowerInteger(0), _) => Some(Term::constant(1.0)),
            (Op::Negative, [Term::Node(i)]) => match self.nodes[*i as usize] {
                Operation { op: Op::Negative, args } => Some(args[0]),
                _ => None,
            },
            // a constant decides, or leaves the other side as it is
            (Op::And | Op::Or, [a, b]) => {
                let (constant, other) = match (a.value(), b.value()) {
                    (Some(a), _) => (a != 0.0, *b),
                    (_, Some(b)) => (b != 0.0, *a),
                    _ => return None,
                };
                let decides = constant == (op == Op::Or);
                let decided = Term::constant(if constant { 1.0 } else { 0.0 });
                if decides { Some(decided) } else { self.is_flag(other).then_some(other) }
            }
            _ => None,
        }
    }

    fn is_flag(&self, term: Term) -> bool {
        match term {
            Term::Node(i) => self.nodes[i as usize].op.is_flag(),
            Term::Constant(_) => term.is(0.0) || term.is(1.0),
        }
    }

    fn intern(&mut self, op: Op, args: &[Term]) -> Term {
        let mut operation = Operation { op, args: [Term::constant(0.0); MAX_ARGUMENTS] };
        operation.args[..args.len()].copy_from_slice(args);
        let next = self.nodes.len() as u32;
        let index = *self.known.entry(operation).or_insert(next);
        if index == next {
            self.nodes.push(operation);
        }
        Term::Node(index)
    }
}

fn constants(args: &[Term]) -> Option<[f64; MAX_ARGUMENTS]> {
    let mut values = [0.0; MAX_ARGUMENTS];
    for (value, term) in values.iter_mut().zip(args) {
        *value = term.value()?;
    }
    (!args.is_empty()).then_some(values)
}
