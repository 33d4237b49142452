//! Names and calls: what they stand for, in which order it is searched for, and what to say where it is not found.

use super::ast::{ExprNode, TextRange};
use super::functions::{Call, FUNCTIONS};
use super::graph::Term;
use super::lower::{ExprContext, LowerResult, LoweredValue, Lowering};
use super::op::{MAX_ARGUMENTS, Op};
use super::parse::fail;
use super::{Binding, ExprError, FileFunction, LinearSum, Lookup};
use crate::functions::GivenFunction;
use crate::suggest::did_you_mean;
use std::sync::Arc;

impl Lowering<'_> {
    /// Refuses `5 kg*m` where something is called `m`.
    pub fn check_unit(
        &mut self,
        unit: TextRange,
        quantity: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<()> {
        let name = unit.of(context.text);
        let argument = context.arguments.iter().any(|(n, _)| *n == name);
        let mut at_run_time = |name: &str| self.bind.as_mut().is_some_and(|bind| bind(name).is_ok());
        let known = match context.scope.lookup(name) {
            Some(Lookup::Runtime(full)) => at_run_time(&full),
            Some(_) => true,
            None => at_run_time(name),
        };
        if !known && !argument {
            return Ok(());
        }
        let before = context.text.get(quantity.start as usize..unit.start as usize).unwrap_or("");
        let operator = if before.trim_end().ends_with('/') { '/' } else { '*' };
        let before = before.trim_end().trim_end_matches(['*', '/']).trim_end();
        let unit_hint =
            if operator == '*' { format!("{before}*1 {name}") } else { format!("{before}/(1 {name})") };
        let hint = format!("write `({before}){operator}{name}` for the value, `{unit_hint}` for the unit");
        Err(fail(unit, format!("`{name}` is a unit here, but also the name of a value"), Some(hint)))
    }

    /// Returns what a call stands for.
    pub fn call(
        &mut self,
        name: TextRange,
        arguments: &[ExprNode],
        at: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<LoweredValue> {
        let word = name.of(context.text);
        if let Some(builtin) = super::builtin(word) {
            let values = if word == "if" && arguments.len() == 3 {
                self.branches(arguments, context)?
            } else {
                self.values(arguments, context)?
            };
            return builtin.call(self, &Call { name: word, arguments: &values, at });
        }
        match context.scope.lookup(word) {
            Some(Lookup::Function(function)) => {
                let values = self.values(arguments, context)?;
                self.inline(&function, &values, at, context)
            }
            Some(Lookup::Table(table)) => {
                let [argument] = arguments else {
                    let message = format!("table `{word}` takes 1 argument, {} given", arguments.len());
                    return Err(fail(at, message, None));
                };
                let x = self.number(argument, context, "the argument of a table")?;
                let y = self.graph.table(&table, x);
                if let (Some(x), Some(y)) = (x.value(), y.value())
                    && y.is_nan()
                    && !x.is_nan()
                {
                    let [first, last] = table.range();
                    self.fault(at, format!("table `{word}` goes from {first} to {last}, not to {x}"));
                }
                Ok(LoweredValue::Number(y))
            }
            Some(Lookup::Given(function)) => {
                let values = self.values(arguments, context)?;
                self.given(&function, &Call { name: word, arguments: &values, at })
            }
            Some(Lookup::Refused { message, hint }) => Err(fail(name, message, hint)),
            Some(Lookup::Value(_) | Lookup::Point(_)) => {
                let hint = Some(format!("to multiply, write `{word}*(…)`"));
                Err(fail(name, format!("`{word}` is not a function"), hint))
            }
            Some(Lookup::Runtime(_)) | None => {
                let builtins = FUNCTIONS.iter().map(|f| f.name.to_owned());
                let near = did_you_mean(word, builtins.chain(context.scope.names()));
                let hint = near.unwrap_or_else(|| {
                    "define it in [functions]; one that a program gives must be given when the file is loaded".into()
                });
                Err(fail(name, format!("there is no function `{word}`"), Some(hint)))
            }
        }
    }

    /// The call of a function given by a program.
    fn given(&mut self, function: &Arc<GivenFunction>, call: &Call<'_>) -> LowerResult<LoweredValue> {
        let (name, given) = (call.name, call.arguments.len());
        let wanted = function.arguments().unwrap_or(given);
        if given != wanted || given > MAX_ARGUMENTS {
            let (wanted, most) = if given == wanted { (MAX_ARGUMENTS, " at most") } else { (wanted, "") };
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {wanted} argument{plural}{most}, {given} given");
            return Err(fail(call.at, message, Some(format!("`{name}` is a function given by a program"))));
        }
        let mut terms = [Term::constant(0.0); MAX_ARGUMENTS];
        for k in 0..given {
            terms[k] = call.number(k)?;
        }
        let (terms, on_loading) = (&terms[..given], self.bind.is_none());
        let term = self.graph.given(function, terms, on_loading);
        if let Some(value) = term.value()
            && !value.is_finite()
            && terms.iter().all(|x| x.value().is_some_and(f64::is_finite))
        {
            let arguments: Vec<String> =
                terms.iter().filter_map(|x| x.value()).map(|x| x.to_string()).collect();
            self.fault(call.at, format!("function `{name}` gave {value} for ({})", arguments.join(", ")));
        }
        Ok(LoweredValue::Number(term))
    }

    fn values(
        &mut self,
        arguments: &[ExprNode],
        context: ExprContext<'_>,
    ) -> LowerResult<Vec<(LoweredValue, TextRange)>> {
        arguments.iter().map(|node| Ok((self.value(node, context)?, node.at))).collect()
    }

    /// Condition and both sides of `if`. A side that is not taken, or not always, may hold constants
    /// that are no numbers: `if(n > 0, 1/n, 0)`.
    fn branches(
        &mut self,
        arguments: &[ExprNode],
        context: ExprContext<'_>,
    ) -> LowerResult<Vec<(LoweredValue, TextRange)>> {
        let condition = self.value(&arguments[0], context)?;
        let taken = condition.number().and_then(Term::value).map(|c| if c != 0.0 { 1 } else { 2 });
        let mut values = vec![(condition, arguments[0].at)];
        for k in 1..3 {
            let faults = self.faults.len();
            values.push((self.value(&arguments[k], context)?, arguments[k].at));
            if taken != Some(k) {
                self.faults.truncate(faults);
            }
        }
        Ok(values)
    }

    /// The body of a function with its arguments put in; errors inside it stand at the call.
    fn inline(
        &mut self,
        function: &FileFunction,
        values: &[(LoweredValue, TextRange)],
        at: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<LoweredValue> {
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
        let arguments: Vec<(&str, LoweredValue)> =
            function.arguments.iter().map(String::as_str).zip(values.iter().map(|(v, _)| *v)).collect();
        let scope = context.scope.of_function(name).unwrap_or(context.scope);
        let body = &function.body;
        self.active.push(name.clone());
        let faults = self.faults.len();
        let result = self.value(&body.root, ExprContext { text: &body.text, scope, arguments: &arguments });
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

    /// Returns what a name stands for.
    pub fn name(&mut self, at: TextRange, context: ExprContext<'_>) -> LowerResult<LoweredValue> {
        let path = at.of(context.text);
        let (parent, last) = split_component(path);

        // arguments of the function, then constants of the language
        for (name, value) in context.arguments {
            if *name == path {
                return Ok(*value);
            }
            if let (true, Some(k)) = (*name == parent, last) {
                return component(*value, k, at, parent);
            }
        }
        match path {
            "pi" => return Ok(LoweredValue::Number(Term::constant(std::f64::consts::PI))),
            "inf" => return Ok(LoweredValue::Number(Term::constant(f64::INFINITY))),
            _ => {}
        }

        // the whole path, then the vector whose component it is
        match (context.scope.lookup(path), path) {
            (None | Some(Lookup::Runtime(_)), "true") => return Ok(LoweredValue::Flag(Term::constant(1.0))),
            (None | Some(Lookup::Runtime(_)), "false") => return Ok(LoweredValue::Flag(Term::constant(0.0))),
            (Some(found), _) => return self.found(found, path, None, at, context),
            (None, _) => {}
        }
        if let Some(k) = last
            && let Some(found) = context.scope.lookup(parent)
        {
            return self.found(found, parent, Some(k), at, context);
        }
        self.bound(path, at, context)
    }

    /// Returns what a scope knows under `path`, or component `k` of it.
    fn found(
        &mut self,
        found: Lookup,
        path: &str,
        k: Option<usize>,
        at: TextRange,
        context: ExprContext<'_>,
    ) -> LowerResult<LoweredValue> {
        let part = |value: LoweredValue| match k {
            Some(k) => component(value, k, at, path),
            None => Ok(value),
        };
        match found {
            Lookup::Value(quantity) => part(quantity.into()),
            Lookup::Point(quantity) if self.bind.is_none() => part(quantity.into()),
            Lookup::Point(_) => self.bound(at.of(context.text), at, context).map_err(|_| {
                let message = format!("point `{path}` does not exist at run time");
                let hint = format!(
                    "give the body a marker there and use `body.{path}`, or make a parameter of what you need"
                );
                fail(at, message, Some(hint))
            }),
            Lookup::Runtime(full) => {
                let suffix = k.map_or("", |k| [".x", ".y", ".z"][k]);
                self.bound(&format!("{full}{suffix}"), at, context)
            }
            Lookup::Function(_) | Lookup::Table(_) | Lookup::Given(_) => {
                let message = format!("`{path}` is a function");
                Err(fail(at, message, Some(format!("call it: `{path}(…)`"))))
            }
            Lookup::Refused { message, hint } => Err(fail(at, message, hint)),
        }
    }

    /// Returns what `path` stands for at run time.
    fn bound(&mut self, path: &str, at: TextRange, context: ExprContext<'_>) -> LowerResult<LoweredValue> {
        let Some(bind) = self.bind.as_mut() else {
            if path == "t" || path.starts_with("energy.") || path == "violation" {
                let message = format!("`{path}` is known at run time only");
                return Err(fail(at, message, Some("parameters and points may be used here".into())));
            }
            let hint = did_you_mean(path, context.scope.names());
            return Err(fail(at, format!("`{path}` is not known here"), hint));
        };
        let (parent, last) = split_component(path);
        let (bound, part) = match bind(path) {
            Ok(bound) => (bound, None),
            Err(message) => match last.map(|k| (k, bind(parent))) {
                Some((k, Ok(vector @ (Binding::Vector(_) | Binding::Sums(_))))) => (vector, Some(k)),
                _ => {
                    let hint = did_you_mean(path, context.scope.names());
                    return Err(fail(at, message, hint));
                }
            },
        };
        let value = match bound {
            Binding::Constant(x) => LoweredValue::Number(Term::constant(x)),
            Binding::Scalar(slot) => LoweredValue::Number(self.graph.slot(slot, || path.to_owned())),
            Binding::Vector(slots) => {
                let n = if self.planar { 2 } else { 3 };
                let name = if part.is_some() { parent } else { path };
                let mut v = [Term::constant(0.0); 3];
                for k in 0..n {
                    v[k] = self.graph.slot(slots[k], || format!("{name}.{}", ["x", "y", "z"][k]));
                }
                LoweredValue::Vector(v, n)
            }
            Binding::Sums(sums) => {
                let n = if self.planar { 2 } else { 3 };
                let mut v = [Term::constant(0.0); 3];
                for (v, sum) in v.iter_mut().zip(&sums) {
                    *v = self.sum_of(sum, at);
                }
                if sums.len() == 1 { LoweredValue::Number(v[0]) } else { LoweredValue::Vector(v, n) }
            }
        };
        match part {
            Some(k) => component(value, k, at, parent),
            None => Ok(value),
        }
    }
}

impl Lowering<'_> {
    /// Σ factor·slot + offset, as a text of it reads.
    fn sum_of(&mut self, sum: &LinearSum, at: TextRange) -> Term {
        let mut total: Option<Term> = None;
        for (factor, slot, name) in &sum.terms {
            let slot = self.graph.slot(*slot, || name.clone());
            let term = if *factor == 1.0 {
                slot
            } else if *factor == -1.0 {
                self.op(Op::Negative, &[slot], at)
            } else {
                self.op(Op::Multiply, &[Term::constant(*factor), slot], at)
            };
            total = Some(match total {
                None => term,
                Some(before) => self.op(Op::Add, &[before, term], at),
            });
        }
        match total {
            None => Term::constant(sum.offset),
            Some(total) if sum.offset == 0.0 => total,
            Some(total) => self.op(Op::Add, &[total, Term::constant(sum.offset)], at),
        }
    }
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

/// Component `k` of the vector that is called `name`.
pub(super) fn component(
    value: LoweredValue,
    k: usize,
    at: TextRange,
    name: &str,
) -> LowerResult<LoweredValue> {
    match value {
        LoweredValue::Vector(v, n) if k < n => Ok(LoweredValue::Number(v[k])),
        LoweredValue::Vector(..) => Err(fail(at, format!("the planar vector `{name}` has no z"), None)),
        _ => {
            let letter = ["x", "y", "z"][k];
            Err(fail(at, format!("`{name}` is {}, it has no `{letter}`", value.kind()), None))
        }
    }
}
