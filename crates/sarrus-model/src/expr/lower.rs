//! From the tree to operations: names resolved, types checked, functions inlined, vectors taken apart.
//!
//! On loading every name has a value, so everything folds to constants and no operation is left.

use super::ast::{Additive, At, Comparison, Kind, Multiplicative, Node};
use super::functions::{Call, FUNCTIONS};
use super::graph::{Graph, Term};
use super::op::Op;
use super::parse::fail;
use super::program::{Program, TooLarge, fault_message};
use super::vectors::{pairwise, scaled};
use super::{Bind, Bound, Expr, ExprError, Function, Lookup, Quantity, Scope};
use crate::suggest::did_you_mean;

/// Deepest recursion, calls of functions included.
const MAX_LEVELS: usize = 600;
/// Most parts that an expression may have once functions are inlined.
const MAX_PARTS: usize = 1_000_000;

type Result<T> = std::result::Result<T, ExprError>;

/// What a part of an expression stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Number(Term),
    Flag(Term),
    /// Two or three components; the third of two is 0.
    Vector([Term; 3], usize),
}

impl Value {
    /// As a number, a flag being 1 or 0.
    pub fn number(self) -> Option<Term> {
        match self {
            Value::Number(x) | Value::Flag(x) => Some(x),
            Value::Vector(..) => None,
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Vector(..) => "a vector",
        }
    }
}

impl From<Quantity> for Value {
    fn from(quantity: Quantity) -> Self {
        match quantity {
            Quantity::Number(x) => Value::Number(Term::constant(x)),
            Quantity::Flag(f) => Value::Flag(Term::constant(f64::from(u8::from(f)))),
            Quantity::Vector { v, n } => Value::Vector(v.map(Term::constant), n.clamp(2, 3)),
        }
    }
}

/// The value on loading.
pub(super) fn evaluate(expr: &Expr, scope: &dyn Scope, planar: bool) -> Result<Quantity> {
    let mut lowering = Lowering::new(None, planar);
    let value = lowering.run(expr, scope)?;
    // nothing is unknown on loading, so every term is a constant
    let constant = |term: Term| term.value().unwrap_or(f64::NAN);
    Ok(match value {
        Value::Number(x) => Quantity::Number(constant(x)),
        Value::Flag(x) => Quantity::Flag(constant(x) != 0.0),
        Value::Vector(v, n) => Quantity::Vector { v: v.map(constant), n },
    })
}

/// The programs for run time.
pub(super) fn compile(
    expr: &Expr,
    scope: &dyn Scope,
    bind: &mut Bind<'_>,
    planar: bool,
) -> Result<Vec<Program>> {
    let mut lowering = Lowering::new(Some(bind), planar);
    let value = lowering.run(expr, scope)?;
    let graph = &lowering.graph;
    let program = |term: &Term| Program::from_graph(graph, *term).map_err(|TooLarge| too_large(expr.root.at));
    match value {
        Value::Number(x) | Value::Flag(x) => Ok(vec![program(&x)?]),
        Value::Vector(v, _) => v.iter().map(program).collect(),
    }
}

fn too_large(at: At) -> ExprError {
    fail(at, "the expression is too large once its functions are put in".into(), None)
}

/// Where a part of an expression stands.
#[derive(Clone, Copy)]
struct Place<'e> {
    text: &'e str,
    scope: &'e dyn Scope,
    /// Arguments of the function whose body this is.
    arguments: &'e [(&'e str, Value)],
}

pub(super) struct Lowering<'a> {
    bind: Option<&'a mut Bind<'a>>,
    pub planar: bool,
    graph: Graph,
    /// Constants that are no numbers; an error unless an `if` leaves them out.
    faults: Vec<ExprError>,
    /// Functions being inlined.
    active: Vec<String>,
    levels: usize,
    parts: usize,
}

impl<'a> Lowering<'a> {
    fn new(bind: Option<&'a mut Bind<'_>>, planar: bool) -> Self {
        // the binder outlives the lowering; shortening its own lifetime is what `'a` asks for
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

    fn run(&mut self, expr: &Expr, scope: &dyn Scope) -> Result<Value> {
        let value = self.value(&expr.root, Place { text: &expr.text, scope, arguments: &[] })?;
        match self.faults.first() {
            Some(fault) => Err(fault.clone()),
            None => Ok(value),
        }
    }

    /// Notes a constant that cannot be.
    pub fn fault(&mut self, at: At, message: String) {
        self.faults.push(fail(at, message, None));
    }

    /// The operation on these arguments; notes where constants give no number.
    pub fn op(&mut self, op: Op, args: &[Term], at: At) -> Term {
        let term = self.graph.add(op, args);
        if let Some(value) = term.value()
            && !value.is_finite()
            && op != Op::If
        {
            let values: Vec<f64> = args.iter().filter_map(|a| a.value()).collect();
            let bad = |x: &f64| if value.is_nan() { x.is_nan() } else { !x.is_finite() };
            if !values.iter().any(bad) {
                let message = fault_message(op, 0.0, &self.graph.tables, &values, value);
                self.fault(at, message);
            }
        }
        term
    }

    fn value(&mut self, node: &Node, place: Place<'_>) -> Result<Value> {
        self.levels += 1;
        self.parts += 1;
        if self.levels > MAX_LEVELS || self.parts > MAX_PARTS {
            return Err(too_large(node.at));
        }
        let value = self.value_of_kind(node, place);
        self.levels -= 1;
        value
    }

    fn value_of_kind(&mut self, node: &Node, place: Place<'_>) -> Result<Value> {
        let at = node.at;
        match &node.kind {
            Kind::Number { value, guards } => {
                for guard in guards {
                    self.check_unit(*guard, at, place)?;
                }
                Ok(Value::Number(Term::constant(*value)))
            }
            Kind::Name => self.name(at, place),
            Kind::Call { name, arguments } => self.call(*name, arguments, at, place),
            Kind::Vector(list) => {
                let mut v = [Term::constant(0.0); 3];
                for (component, node) in v.iter_mut().zip(list) {
                    *component = self.number(node, place, "a component of a vector")?;
                }
                Ok(Value::Vector(v, list.len()))
            }
            Kind::Component(inner, k) => {
                let value = self.value(inner, place)?;
                component(value, *k as usize, at, inner.at.of(place.text))
            }
            Kind::Negative(inner) => Ok(match self.value(inner, place)? {
                Value::Vector(mut v, n) => {
                    for x in &mut v[..n] {
                        *x = self.op(Op::Negative, &[*x], at);
                    }
                    Value::Vector(v, n)
                }
                Value::Number(x) | Value::Flag(x) => Value::Number(self.op(Op::Negative, &[x], at)),
            }),
            Kind::Not(inner) => {
                let x = self.number(inner, place, "what `not` stands before")?;
                Ok(Value::Flag(self.op(Op::Not, &[x], at)))
            }
            Kind::Power(base, exponent) => self.power(base, exponent, at, place),
            Kind::Sum(terms) => self.sum(terms, at, place),
            Kind::Product(factors) => self.product(factors, at, place),
            Kind::Compare(comparison, left, right) => {
                let left = self.number(left, place, "what is compared")?;
                let right = self.number(right, place, "what is compared")?;
                let op = match comparison {
                    Comparison::Less => Op::Less,
                    Comparison::LessEqual => Op::LessEqual,
                    Comparison::Greater => Op::Greater,
                    Comparison::GreaterEqual => Op::GreaterEqual,
                    Comparison::Equal => Op::Equal,
                    Comparison::NotEqual => Op::NotEqual,
                };
                Ok(Value::Flag(self.op(op, &[left, right], at)))
            }
            Kind::And(list) => self.logic(Op::And, list, at, place),
            Kind::Or(list) => self.logic(Op::Or, list, at, place),
        }
    }

    /// A part that must be a number; `role` says what it is for.
    fn number(&mut self, node: &Node, place: Place<'_>, role: &str) -> Result<Term> {
        let value = self.value(node, place)?;
        value.number().ok_or_else(|| {
            let hint = Some("take a component, such as `.x`, or `norm(…)`".into());
            fail(node.at, format!("{role} must be a number, not a vector"), hint)
        })
    }

    fn logic(&mut self, op: Op, list: &[Node], at: At, place: Place<'_>) -> Result<Value> {
        let role = if op == Op::And { "what `and` joins" } else { "what `or` joins" };
        let mut result: Option<Term> = None;
        for node in list {
            // behind a constant that decides, a constant that is no number does not matter
            let decided = result.and_then(Term::value).is_some_and(|x| (x == 0.0) == (op == Op::And));
            let faults = self.faults.len();
            let next = self.number(node, place, role)?;
            if decided {
                self.faults.truncate(faults);
            }
            result = Some(match result {
                None => next,
                Some(before) => self.op(op, &[before, next], at),
            });
        }
        Ok(Value::Flag(result.unwrap_or(Term::constant(0.0))))
    }

    fn power(&mut self, base: &Node, exponent: &Node, at: At, place: Place<'_>) -> Result<Value> {
        let x = self.value(base, place)?;
        let Some(x) = x.number() else {
            let hint = Some("write `dot(v, v)` for the square of its length".into());
            return Err(fail(base.at, "a vector has no powers".into(), hint));
        };
        let p = self.number(exponent, place, "an exponent")?;
        Ok(Value::Number(self.op(Op::Power, &[x, p], at)))
    }

    fn sum(&mut self, terms: &[(Additive, Node)], at: At, place: Place<'_>) -> Result<Value> {
        let Some(((_, first), rest)) = terms.split_first() else {
            return Ok(Value::Number(Term::constant(0.0)));
        };
        let mut sum = self.value(first, place)?;
        for (operator, node) in rest {
            let term = self.value(node, place)?;
            let (op, verb) = match operator {
                Additive::Add => (Op::Add, "added to"),
                Additive::Subtract => (Op::Subtract, "subtracted from"),
            };
            let here = at.to(node.at);
            sum = match (sum, term) {
                (Value::Vector(a, n), Value::Vector(b, m)) if n == m => {
                    let (v, n) = pairwise(self, op, (a, n), (b, m), here);
                    Value::Vector(v, n)
                }
                (Value::Vector(_, n), Value::Vector(_, m)) => {
                    let message = format!("a vector of {m} components cannot be {verb} one of {n}");
                    return Err(fail(node.at, message, None));
                }
                (a, b) => match (a.number(), b.number()) {
                    (Some(a), Some(b)) => Value::Number(self.op(op, &[a, b], here)),
                    _ => {
                        let message = format!("{} cannot be {verb} {}", b.kind(), a.kind());
                        return Err(fail(node.at, message, None));
                    }
                },
            };
        }
        Ok(sum)
    }

    fn product(&mut self, factors: &[(Multiplicative, Node)], at: At, place: Place<'_>) -> Result<Value> {
        let Some(((_, first), rest)) = factors.split_first() else {
            return Ok(Value::Number(Term::constant(1.0)));
        };
        let mut product = self.value(first, place)?;
        for (operator, node) in rest {
            let factor = self.value(node, place)?;
            let here = at.to(node.at);
            let op = match operator {
                Multiplicative::Times => Op::Multiply,
                Multiplicative::Over => Op::Divide,
                Multiplicative::Modulo => Op::Modulo,
            };
            product = match (op, product, factor) {
                (Op::Multiply, Value::Vector(..), Value::Vector(..)) => {
                    let hint = Some("write `dot(a, b)` or `cross(a, b)`".into());
                    return Err(fail(here, "`*` does not multiply two vectors".into(), hint));
                }
                (Op::Divide, _, Value::Vector(..)) => {
                    let hint = Some("divide by its length, `norm(v)`".into());
                    return Err(fail(node.at, "nothing can be divided by a vector".into(), hint));
                }
                (Op::Multiply | Op::Divide, Value::Vector(v, n), x) => match x.number() {
                    Some(x) => {
                        let (v, n) = scaled(self, op, (v, n), x, here);
                        Value::Vector(v, n)
                    }
                    None => return Err(fail(node.at, "expected a number".into(), None)),
                },
                (Op::Multiply, x, Value::Vector(v, n)) => match x.number() {
                    Some(x) => {
                        let (v, n) = scaled(self, op, (v, n), x, here);
                        Value::Vector(v, n)
                    }
                    None => return Err(fail(node.at, "expected a number".into(), None)),
                },
                (op, a, b) => match (a.number(), b.number()) {
                    (Some(a), Some(b)) => Value::Number(self.op(op, &[a, b], here)),
                    _ => return Err(fail(here, "`%` is for numbers, not for vectors".into(), None)),
                },
            };
        }
        Ok(product)
    }

    /// Refuses `5 kg*m` where something is called `m`.
    fn check_unit(&mut self, unit: At, quantity: At, place: Place<'_>) -> Result<()> {
        let name = unit.of(place.text);
        let argument = place.arguments.iter().any(|(n, _)| *n == name);
        let mut at_run_time = |name: &str| self.bind.as_mut().is_some_and(|bind| bind(name).is_ok());
        let known = match place.scope.lookup(name) {
            Some(Lookup::Runtime(full)) => at_run_time(&full),
            Some(_) => true,
            None => at_run_time(name),
        };
        if !known && !argument {
            return Ok(());
        }
        let before = place.text.get(quantity.start as usize..unit.start as usize).unwrap_or("");
        let operator = if before.trim_end().ends_with('/') { '/' } else { '*' };
        let before = before.trim_end().trim_end_matches(['*', '/']).trim_end();
        let unit_hint =
            if operator == '*' { format!("{before}*1 {name}") } else { format!("{before}/(1 {name})") };
        let hint = format!("write `({before}){operator}{name}` for the value, `{unit_hint}` for the unit");
        Err(fail(unit, format!("`{name}` is a unit here, but also the name of a value"), Some(hint)))
    }

    fn call(&mut self, name: At, arguments: &[Node], at: At, place: Place<'_>) -> Result<Value> {
        let word = name.of(place.text);
        if let Some(builtin) = super::builtin(word) {
            let values = if word == "if" && arguments.len() == 3 {
                self.branches(arguments, place)?
            } else {
                self.values(arguments, place)?
            };
            return builtin.call(self, &Call { name: word, arguments: &values, at });
        }
        match place.scope.lookup(word) {
            Some(Lookup::Function(function)) => {
                let values = self.values(arguments, place)?;
                self.inline(&function, &values, at, place)
            }
            Some(Lookup::Table(table)) => {
                let [argument] = arguments else {
                    let message = format!("table `{word}` takes 1 argument, {} given", arguments.len());
                    return Err(fail(at, message, None));
                };
                let x = self.number(argument, place, "the argument of a table")?;
                let y = self.graph.table(&table, x);
                if let (Some(x), Some(y)) = (x.value(), y.value())
                    && y.is_nan()
                    && !x.is_nan()
                {
                    let [first, last] = table.range();
                    self.fault(at, format!("table `{word}` goes from {first} to {last}, not to {x}"));
                }
                Ok(Value::Number(y))
            }
            Some(Lookup::Refused { message, hint }) => Err(fail(name, message, hint)),
            Some(Lookup::Value(_) | Lookup::Point(_)) => {
                let hint = Some(format!("to multiply, write `{word}*(…)`"));
                Err(fail(name, format!("`{word}` is not a function"), hint))
            }
            Some(Lookup::Runtime(_)) | None => {
                let builtins = FUNCTIONS.iter().map(|f| f.name.to_owned());
                let hint = did_you_mean(word, builtins.chain(place.scope.names()));
                Err(fail(name, format!("there is no function `{word}`"), hint))
            }
        }
    }

    fn values(&mut self, arguments: &[Node], place: Place<'_>) -> Result<Vec<(Value, At)>> {
        arguments.iter().map(|node| Ok((self.value(node, place)?, node.at))).collect()
    }

    /// Condition and both sides of `if`. A side that is not taken, or not always, may hold constants
    /// that are no numbers: `if(n > 0, 1/n, 0)`.
    fn branches(&mut self, arguments: &[Node], place: Place<'_>) -> Result<Vec<(Value, At)>> {
        let condition = self.value(&arguments[0], place)?;
        let taken = condition.number().and_then(Term::value).map(|c| if c != 0.0 { 1 } else { 2 });
        let mut values = vec![(condition, arguments[0].at)];
        for k in 1..3 {
            let faults = self.faults.len();
            values.push((self.value(&arguments[k], place)?, arguments[k].at));
            if taken != Some(k) {
                self.faults.truncate(faults);
            }
        }
        Ok(values)
    }

    /// The body of a function with its arguments put in; errors inside it stand at the call.
    fn inline(
        &mut self,
        function: &Function,
        values: &[(Value, At)],
        at: At,
        place: Place<'_>,
    ) -> Result<Value> {
        let name = &function.name;
        let wanted = function.arguments.len();
        if wanted != values.len() {
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {wanted} argument{plural}, {} given", values.len());
            let hint = format!("write `{name}({})`", function.arguments.join(", "));
            return Err(fail(at, message, Some(hint)));
        }
        if self.active.contains(name) {
            return Err(fail(at, format!("function `{name}` calls itself"), None));
        }
        let arguments: Vec<(&str, Value)> =
            function.arguments.iter().map(String::as_str).zip(values.iter().map(|(v, _)| *v)).collect();
        let scope = place.scope.of_function(name).unwrap_or(place.scope);
        let body = &function.body;
        self.active.push(name.clone());
        let faults = self.faults.len();
        let result = self.value(&body.root, Place { text: &body.text, scope, arguments: &arguments });
        self.active.pop();

        let outside = |error: &mut ExprError| {
            if !error.message.starts_with("in function ") {
                error.message = format!("in function `{name}`: {}", error.message);
            }
            error.at = at.range();
        };
        self.faults[faults..].iter_mut().for_each(outside);
        result.map_err(|mut error| {
            outside(&mut error);
            error
        })
    }

    fn name(&mut self, at: At, place: Place<'_>) -> Result<Value> {
        let path = at.of(place.text);
        let (parent, last) = split_component(path);

        // arguments of the function, then constants of the language
        for (name, value) in place.arguments {
            if *name == path {
                return Ok(*value);
            }
            if let (true, Some(k)) = (*name == parent, last) {
                return component(*value, k, at, parent);
            }
        }
        match path {
            "pi" => return Ok(Value::Number(Term::constant(std::f64::consts::PI))),
            "inf" => return Ok(Value::Number(Term::constant(f64::INFINITY))),
            _ => {}
        }

        // the whole path, then the vector whose component it is
        match (place.scope.lookup(path), path) {
            (None | Some(Lookup::Runtime(_)), "true") => return Ok(Value::Flag(Term::constant(1.0))),
            (None | Some(Lookup::Runtime(_)), "false") => return Ok(Value::Flag(Term::constant(0.0))),
            (Some(found), _) => return self.found(found, path, None, at, place),
            (None, _) => {}
        }
        if let Some(k) = last
            && let Some(found) = place.scope.lookup(parent)
        {
            return self.found(found, parent, Some(k), at, place);
        }
        self.bound(path, at, place)
    }

    /// What a scope knows under `path`, or component `k` of it.
    fn found(
        &mut self,
        found: Lookup,
        path: &str,
        k: Option<usize>,
        at: At,
        place: Place<'_>,
    ) -> Result<Value> {
        let part = |value: Value| match k {
            Some(k) => component(value, k, at, path),
            None => Ok(value),
        };
        match found {
            Lookup::Value(quantity) => part(quantity.into()),
            Lookup::Point(quantity) if self.bind.is_none() => part(quantity.into()),
            Lookup::Point(_) => self.bound(at.of(place.text), at, place).map_err(|_| {
                let message = format!("point `{path}` does not exist at run time");
                let hint = format!(
                    "give the body a marker there and use `body.{path}`, or make a parameter of what you need"
                );
                fail(at, message, Some(hint))
            }),
            Lookup::Runtime(full) => {
                let suffix = k.map_or("", |k| [".x", ".y", ".z"][k]);
                self.bound(&format!("{full}{suffix}"), at, place)
            }
            Lookup::Function(_) | Lookup::Table(_) => {
                let message = format!("`{path}` is a function");
                Err(fail(at, message, Some(format!("call it: `{path}(…)`"))))
            }
            Lookup::Refused { message, hint } => Err(fail(at, message, hint)),
        }
    }

    /// What `path` stands for at run time.
    fn bound(&mut self, path: &str, at: At, place: Place<'_>) -> Result<Value> {
        let Some(bind) = self.bind.as_mut() else {
            if path == "t" || path.starts_with("energy.") || path == "violation" {
                let message = format!("`{path}` is known at run time only");
                return Err(fail(at, message, Some("parameters and points may be used here".into())));
            }
            let hint = did_you_mean(path, place.scope.names());
            return Err(fail(at, format!("`{path}` is not known here"), hint));
        };
        let (parent, last) = split_component(path);
        let (bound, part) = match bind(path) {
            Ok(bound) => (bound, None),
            Err(message) => match last.map(|k| (k, bind(parent))) {
                Some((k, Ok(vector @ Bound::Vector(_)))) => (vector, Some(k)),
                _ => {
                    let hint = did_you_mean(path, place.scope.names());
                    return Err(fail(at, message, hint));
                }
            },
        };
        let value = match bound {
            Bound::Constant(x) => Value::Number(Term::constant(x)),
            Bound::Scalar(slot) => Value::Number(self.graph.slot(slot, || path.to_owned())),
            Bound::Vector(slots) => {
                let n = if self.planar { 2 } else { 3 };
                let name = if part.is_some() { parent } else { path };
                let mut v = [Term::constant(0.0); 3];
                for k in 0..n {
                    v[k] = self.graph.slot(slots[k], || format!("{name}.{}", ["x", "y", "z"][k]));
                }
                Value::Vector(v, n)
            }
        };
        match part {
            Some(k) => component(value, k, at, parent),
            None => Ok(value),
        }
    }
}

fn shorten<'a>(bind: &'a mut Bind<'_>) -> &'a mut Bind<'a> {
    bind
}

/// `crank.tip.x` as `crank.tip` and 0.
fn split_component(path: &str) -> (&str, Option<usize>) {
    match path.rsplit_once('.') {
        Some((parent, "x")) => (parent, Some(0)),
        Some((parent, "y")) => (parent, Some(1)),
        Some((parent, "z")) => (parent, Some(2)),
        _ => (path, None),
    }
}

fn component(value: Value, k: usize, at: At, name: &str) -> Result<Value> {
    match value {
        Value::Vector(v, n) if k < n => Ok(Value::Number(v[k])),
        Value::Vector(..) => Err(fail(at, format!("the planar vector `{name}` has no z"), None)),
        _ => {
            let letter = ["x", "y", "z"][k];
            Err(fail(at, format!("`{name}` is {}, it has no `{letter}`", value.kind()), None))
        }
    }
}
