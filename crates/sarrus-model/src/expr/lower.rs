//! From the tree to operations: types checked, vectors taken apart, constants folded.
//!
//! On loading every name has a value, so everything folds to constants and no operation is left.

use super::ast::{Additive, ExprKind, ExprNode, Multiplicative, Relation, TextRange};
use super::graph::{Graph, Term};
use super::op::Op;
use super::parse::fail;
use super::program::{Program, TooLarge, fault_message};
use super::resolve::component;
use super::vectors::{pairwise, scaled};
use super::{Bind, Expr, ExprError, Quantity, Scope};

/// Deepest recursion, calls of functions included.
const MAX_LEVELS: usize = 600;
/// Most parts that an expression may have once functions are inlined.
const MAX_PARTS: usize = 1_000_000;

pub(super) type LowerResult<T> = std::result::Result<T, ExprError>;

/// Holds what a part of an expression stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum LoweredValue {
    Number(Term),
    Flag(Term),
    /// Two or three components; the third of two is 0.
    Vector([Term; 3], usize),
}

impl LoweredValue {
    /// As a number, a flag being 1 or 0.
    pub fn number(self) -> Option<Term> {
        match self {
            LoweredValue::Number(x) | LoweredValue::Flag(x) => Some(x),
            LoweredValue::Vector(..) => None,
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            LoweredValue::Number(_) => "a number",
            LoweredValue::Flag(_) => "true or false",
            LoweredValue::Vector(..) => "a vector",
        }
    }
}

impl From<Quantity> for LoweredValue {
    fn from(quantity: Quantity) -> Self {
        match quantity {
            Quantity::Number(x) => LoweredValue::Number(Term::constant(x)),
            Quantity::Flag(f) => LoweredValue::Flag(Term::constant(f64::from(u8::from(f)))),
            Quantity::Vector { v, n } => LoweredValue::Vector(v.map(Term::constant), n.clamp(2, 3)),
        }
    }
}

/// The value on loading.
pub(super) fn evaluate(expr: &Expr, scope: &dyn Scope, planar: bool) -> LowerResult<Quantity> {
    let mut lowering = Lowering::new(None, planar);
    let value = lowering.run(expr, scope)?;
    // nothing is unknown on loading, so every term is a constant
    let constant = |term: Term| term.value().unwrap_or(f64::NAN);
    Ok(match value {
        LoweredValue::Number(x) => Quantity::Number(constant(x)),
        LoweredValue::Flag(x) => Quantity::Flag(constant(x) != 0.0),
        LoweredValue::Vector(v, n) => Quantity::Vector { v: v.map(constant), n },
    })
}

/// The programs for run time.
pub(super) fn compile(
    expr: &Expr,
    scope: &dyn Scope,
    bind: &mut Bind<'_>,
    planar: bool,
) -> LowerResult<Vec<Program>> {
    let mut lowering = Lowering::new(Some(bind), planar);
    let value = lowering.run(expr, scope)?;
    let graph = &lowering.graph;
    let program = |term: &Term| Program::from_graph(graph, *term).map_err(|TooLarge| too_large(expr.root.at));
    match value {
        LoweredValue::Number(x) | LoweredValue::Flag(x) => Ok(vec![program(&x)?]),
        LoweredValue::Vector(v, _) => v.iter().map(program).collect(),
    }
}

fn too_large(at: TextRange) -> ExprError {
    fail(at, "the expression is too large once its functions are put in".into(), None)
}

/// Marks where a part of an expression stands.
#[derive(Clone, Copy)]
pub(super) struct ExprContext<'e> {
    pub text: &'e str,
    pub scope: &'e dyn Scope,
    /// Arguments of the function whose body this is.
    pub arguments: &'e [(&'e str, LoweredValue)],
}

pub(super) struct Lowering<'a> {
    /// None on loading.
    pub bind: Option<&'a mut Bind<'a>>,
    pub planar: bool,
    pub graph: Graph,
    /// Constants that are no numbers; an error unless an `if` leaves them out.
    pub faults: Vec<ExprError>,
    /// Functions being inlined.
    pub active: Vec<String>,
    levels: usize,
    parts: usize,
}

impl<'a> Lowering<'a> {
    fn new(bind: Option<&'a mut Bind<'_>>, planar: bool) -> Self {
        let bind = bind.map(shorten);
        Lowering {
            bind,
            planar,
            graph: Graph::default(),
            faults: Vec::new(),
            active: Vec::new(),
            levels: 0,
            parts: 0,
        }
    }

    fn run(&mut self, expr: &Expr, scope: &dyn Scope) -> LowerResult<LoweredValue> {
        let value = self.value(&expr.root, ExprContext { text: &expr.text, scope, arguments: &[] })?;
        match self.faults.first() {
            Some(fault) => Err(fault.clone()),
            None => Ok(value),
        }
    }

    /// Notes a constant that cannot be.
    pub fn fault(&mut self, at: TextRange, message: String) {
        self.faults.push(fail(at, message, None));
    }

    /// The operation on these arguments; notes where constants give no number.
    pub fn op(&mut self, op: Op, args: &[Term], at: TextRange) -> Term {
        let term = self.graph.add(op, args);
        if let Some(value) = term.value()
            && !value.is_finite()
            && op != Op::If
        {
            let values: Vec<f64> = args.iter().filter_map(|a| a.value()).collect();
            let bad = |x: &f64| if value.is_nan() { x.is_nan() } else { !x.is_finite() };
            if !values.iter().any(bad) {
                let message = fault_message(op, 0.0, &self.graph.library, &values, value);
                self.fault(at, message);
            }
        }
        term
    }

    /// Returns what a part of the tree stands for.
    pub fn value(&mut self, node: &ExprNode, context: ExprContext<'_>) -> LowerResult<LoweredValue> {
        self.levels += 1;
        self.parts += 1;
        if self.levels > MAX_LEVELS || self.parts > MAX_PARTS {
            return Err(too_large(node.at));
        }
        let value = self.value_of_kind(node, context);
        self.levels -= 1;
        value
    }

    fn value_of_kind(&mut self, node: &ExprNode, context: ExprContext<'_>) -> LowerResult<LoweredValue> {
        let at = node.at;
        match &node.kind {
            ExprKind::Number { value, guards, .. } => {
                for guard in guards {
                    self.check_unit(*guard, at, context)?;
                }
                Ok(LoweredValue::Number(Term::constant(*value)))
            }
            ExprKind::Name => self.name(at, context),
            ExprKind::Call { name, arguments } => self.call(*name, arguments, at, context),
            ExprKind::Vector(list) => {
                let mut v = [Term::constant(0.0); 3];
                for (component, node) in v.iter_mut().zip(list) {
                    *component = self.number(node, context, "a component of a vector")?;
                }
                Ok(LoweredValue::Vector(v, list.len()))
            }
            ExprKind::Component(inner, k) => {
                let value = self.value(inner, context)?;
                component(value, *k as usize, at, inner.at.of(context.text))
            }
            ExprKind::Negative(inner) => Ok(match self.value(inner, context)? {
                LoweredValue::Vector(mut v, n) => {
                    for x in &mut v[..n] {
                        *x = self.op(Op::Negative, &[*x], at);
                    }
                    LoweredValue::Vector(v, n)
                }
                LoweredValue::Number(x) | LoweredValue::Flag(x) => {
                    LoweredValue::Number(self.op(Op::Negative, &[x], at))
                }
            }),
            ExprKind::Not(inner) => {
                let x = self.number(inner, context, "what `not` stands before")?;
                Ok(LoweredValue::Flag(self.op(Op::Not, &[x], at)))
            }
            ExprKind::Power(base, exponent) => self.power(base, exponent, at, context),
            ExprKind::Sum(terms) => self.sum(terms, at, context),
            ExprKind::Product(factors) => self.product(factors, at, context),
            ExprKind::Compare(comparison, left, right) => {
                let left = self.number(left, context, "what is compared")?;
                let right = self.number(right, context, "what is compared")?;
                let op = match comparison {
                    Relation::Less => Op::Less,
                    Relation::LessEqual => Op::LessEqual,
                    Relation::Greater => Op::Greater,
                    Relation::GreaterEqual => Op::GreaterEqual,
                    Relation::Equal => Op::Equal,
                    Relation::NotEqual => Op::NotEqual,
                };
                Ok(LoweredValue::Flag(self.op(op, &[left, right], at)))
            }
            ExprKind::And(list) => self.logic(Op::And, list, at, context),
            ExprKind::Or(list) => self.logic(Op::Or, list, at, context),
        }
    }

    /// A part that must be a number; `role` says what it is for.
    pub fn number(&mut self, node: &ExprNode, context: ExprContext<'_>, role: &str) -> LowerResult<Term> {
        let value = self.value(node, context)?;
        value.number().ok_or_else(|| {
            let hint = Some("take a component, such as `.x`, or `norm(…)`".into());
            fail(node.at, format!("{role} must be a number, not a vector"), hint)
        })
    }

    fn logic(
        &mut self,
        op: Op,
        list: &[ExprNode],
        at: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<LoweredValue> {
        let role = if op == Op::And { "what `and` joins" } else { "what `or` joins" };
        let mut result: Option<Term> = None;
        for node in list {
            // behind a constant that decides, a constant that is no number does not matter
            let decided = result.and_then(Term::value).is_some_and(|x| (x == 0.0) == (op == Op::And));
            let faults = self.faults.len();
            let next = self.number(node, context, role)?;
            if decided {
                self.faults.truncate(faults);
            }
            result = Some(match result {
                None => next,
                Some(before) => self.op(op, &[before, next], at),
            });
        }
        Ok(LoweredValue::Flag(result.unwrap_or(Term::constant(0.0))))
    }

    fn power(
        &mut self,
        base: &ExprNode,
        exponent: &ExprNode,
        at: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<LoweredValue> {
        let x = self.value(base, context)?;
        let Some(x) = x.number() else {
            let hint = Some("write `dot(v, v)` for the square of its length".into());
            return Err(fail(base.at, "a vector has no powers".into(), hint));
        };
        let p = self.number(exponent, context, "an exponent")?;
        Ok(LoweredValue::Number(self.op(Op::Power, &[x, p], at)))
    }

    fn sum(
        &mut self,
        terms: &[(Additive, ExprNode)],
        at: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<LoweredValue> {
        let Some(((_, first), rest)) = terms.split_first() else {
            return Ok(LoweredValue::Number(Term::constant(0.0)));
        };
        let mut sum = self.value(first, context)?;
        for (operator, node) in rest {
            let term = self.value(node, context)?;
            let (op, verb) = match operator {
                Additive::Add => (Op::Add, "added to"),
                Additive::Subtract => (Op::Subtract, "subtracted from"),
            };
            let here = at.to(node.at);
            sum = match (sum, term) {
                (LoweredValue::Vector(a, n), LoweredValue::Vector(b, m)) if n == m => {
                    let (v, n) = pairwise(self, op, (a, n), (b, m), here);
                    LoweredValue::Vector(v, n)
                }
                (LoweredValue::Vector(_, n), LoweredValue::Vector(_, m)) => {
                    let message = format!("a vector of {m} components cannot be {verb} one of {n}");
                    return Err(fail(node.at, message, None));
                }
                (a, b) => match (a.number(), b.number()) {
                    (Some(a), Some(b)) => LoweredValue::Number(self.op(op, &[a, b], here)),
                    _ => {
                        let message = format!("{} cannot be {verb} {}", b.kind(), a.kind());
                        return Err(fail(node.at, message, None));
                    }
                },
            };
        }
        Ok(sum)
    }

    fn product(
        &mut self,
        factors: &[(Multiplicative, ExprNode)],
        at: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<LoweredValue> {
        let Some(((_, first), rest)) = factors.split_first() else {
            return Ok(LoweredValue::Number(Term::constant(1.0)));
        };
        let mut product = self.value(first, context)?;
        for (operator, node) in rest {
            let factor = self.value(node, context)?;
            let here = at.to(node.at);
            let op = match operator {
                Multiplicative::Times => Op::Multiply,
                Multiplicative::Over => Op::Divide,
                Multiplicative::Modulo => Op::Modulo,
            };
            product = match (op, product, factor) {
                (Op::Multiply, LoweredValue::Vector(..), LoweredValue::Vector(..)) => {
                    let hint = Some("write `dot(a, b)` or `cross(a, b)`".into());
                    return Err(fail(here, "`*` does not multiply two vectors".into(), hint));
                }
                (Op::Divide, _, LoweredValue::Vector(..)) => {
                    let hint = Some("divide by its length, `norm(v)`".into());
                    return Err(fail(node.at, "nothing can be divided by a vector".into(), hint));
                }
                (Op::Multiply | Op::Divide, LoweredValue::Vector(v, n), x) => match x.number() {
                    Some(x) => {
                        let (v, n) = scaled(self, op, (v, n), x, here);
                        LoweredValue::Vector(v, n)
                    }
                    None => return Err(fail(node.at, "expected a number".into(), None)),
                },
                (Op::Multiply, x, LoweredValue::Vector(v, n)) => match x.number() {
                    Some(x) => {
                        let (v, n) = scaled(self, op, (v, n), x, here);
                        LoweredValue::Vector(v, n)
                    }
                    None => return Err(fail(node.at, "expected a number".into(), None)),
                },
                (op, a, b) => match (a.number(), b.number()) {
                    (Some(a), Some(b)) => LoweredValue::Number(self.op(op, &[a, b], here)),
                    _ => return Err(fail(here, "`%` is for numbers, not for vectors".into(), None)),
                },
            };
        }
        Ok(product)
    }
}

fn shorten<'a>(bind: &'a mut Bind<'_>) -> &'a mut Bind<'a> {
    bind
}
