//! States with rates of their own, and outputs made of them.
//!
//! ẋ = rates(x, outputs, mechanism, t), outputs = g(x, mechanism, t). Inside, own states are read by their bare names,
//! in the rates own outputs too; elsewhere both as `X.name`. With `period` it is [`sampled`](super::sampled), and has `update`
//! in place of `rates`.

use super::prelude::*;
use super::sampling::{DELAY, PERIOD, Times};
use super::{output_slots, sampled};
use sarrus_model::RuntimeExpr;
use sarrus_model::expr::is_name;

/// The controller.
#[derive(Clone, Debug)]
pub struct OdeController {
    start: Vec<f64>,
    rates: Vec<Formula>,
    formulas: Vec<Formula>,
    outputs: Vec<String>,
}

impl Controller for OdeController {
    fn states(&self) -> usize {
        self.start.len()
    }

    fn start(&self) -> Vec<f64> {
        self.start.clone()
    }

    fn outputs(&self) -> &[String] {
        &self.outputs
    }

    fn output(&self, at: &At<f64>, _x: &[f64], out: &mut [f64]) {
        eval(&self.formulas, at, out);
    }

    fn rates(&self, at: &At<f64>, _x: &[f64], _out: &[f64], xdot: &mut [f64]) {
        eval(&self.rates, at, xdot);
    }

    fn is_held(&self, state: usize) -> bool {
        self.rates.get(state).is_some_and(|rate| rate.constant() == Some(0.0))
    }

    fn enclose(&self, at: &At<Enclosure>, _x: &[Enclosure], out: &mut [Enclosure]) {
        out.iter_mut().zip(&self.formulas).for_each(|(out, formula)| *out = formula.enclose(at));
    }

    fn is_bounded(&self) -> bool {
        self.formulas.iter().all(Formula::is_bounded)
    }

    fn parts(&self, found: &mut dyn FnMut(ExpressionRole, &Formula)) {
        self.formulas.iter().for_each(|formula| found(ExpressionRole::Output, formula));
        self.rates.iter().enumerate().for_each(|(i, rate)| found(ExpressionRole::Rate(i, 1.0), rate));
    }

    fn output_dual(&self, at: &At<Dual<6>>, _x: &[Dual<6>], out: &mut [Dual<6>]) {
        eval(&self.formulas, at, out);
    }

    fn rates_dual(&self, at: &At<Dual<6>>, _x: &[Dual<6>], xdot: &mut [Dual<6>]) {
        eval(&self.rates, at, xdot);
    }
}

fn eval<R: Real>(formulas: &[Formula], at: &At<R>, to: &mut [R]) {
    to.iter_mut().zip(formulas).for_each(|(to, formula)| *to = formula.eval(at));
}

fn declare(reader: &Reader) -> Result<Declared> {
    let is_sampled = Times::read(reader)?.is_some();
    let (wrong, hint) = match is_sampled {
        true => ("rates", "with `period` states have an `update`: their next value, not their rate"),
        false => ("update", "give `period` too, or `rates` for a continuous controller"),
    };
    if reader.has(wrong) {
        let how = if is_sampled { "sampled" } else { "continuous" };
        let message = format!("{} is {how}: it takes no `{wrong}`", reader.title());
        return Err(reader.error(wrong, message).hint(hint));
    }
    names(reader)
}

/// The names of states and outputs.
pub(super) fn names(reader: &Reader) -> Result<Declared> {
    let states = reader.map_of_numbers("states")?;
    let outputs = reader.map_of_expressions("outputs")?;
    if states.is_empty() && outputs.is_empty() {
        return Err(reader.element_error(format!("{} needs `states` or `outputs`", reader.title())));
    }
    let spans = states.iter().map(|(name, span, _)| (name, *span));
    let mut seen: Vec<&str> = Vec::new();
    for (name, span) in spans.chain(outputs.iter().map(|(name, span, _)| (name, *span))) {
        if !is_name(name) {
            return Err(reader.at(span, format!("`{name}` in {} is not a name", reader.title())));
        }
        if seen.contains(&name.as_str()) {
            let message = format!("{} has both a state and an output `{name}`", reader.title());
            return Err(reader.at(span, message).hint("a state is read as it is: leave the output out"));
        }
        seen.push(name);
    }
    Ok(Declared {
        outputs: outputs.into_iter().map(|(name, ..)| name).collect(),
        states: states.into_iter().map(|(name, ..)| name).collect(),
    })
}

/// The expressions under `key`, one for each of the states and in their order; one without is `bare`.
pub(super) fn of_states(
    reader: &Reader,
    key: &str,
    states: &[String],
    bare: &str,
) -> Result<Vec<RuntimeExpr>> {
    let mut given = reader.map_of_expressions(key)?;
    let mut found = Vec::new();
    for name in states {
        let Some(at) = given.iter().position(|(own, ..)| own == name) else {
            let message = format!("state `{name}` of {} {bare}", reader.title());
            let hint = match key {
                "rates" => "a state that only events set has the rate 0".to_owned(),
                _ => format!("a state that only events set stays: `{name} = \"{name}\"`"),
            };
            return Err(reader.error(key, message).hint(hint));
        };
        found.push(given.swap_remove(at).2);
    }
    if let Some((name, span, _)) = given.first() {
        let hint = sarrus_model::suggest::did_you_mean(name, states.iter().map(String::as_str));
        return Err(reader.at(*span, format!("{} has no state `{name}`", reader.title())).maybe_hint(hint));
    }
    Ok(found)
}

fn read(ctx: &mut Context) -> Result<BuiltController> {
    let reader = &ctx.reader;
    let declared = declare(reader)?;
    if Times::read(reader)?.is_some() {
        return sampled::read(ctx);
    }
    let slots = output_slots(ctx)?;
    let (outputs, states) = slots.split_at(declared.outputs.len());
    let start: Vec<f64> = reader.map_of_numbers("states")?.into_iter().map(|(.., start)| start).collect();

    // outputs see the states, rates see both
    let mut binder = ctx.binder(ReadLevel::Force, Vec::new());
    for (name, index) in states {
        binder.local(name, Signal::Output(*index));
    }
    let mut formulas = Vec::new();
    let mut reads = Vec::new();
    for (_, _, expr) in reader.map_of_expressions("outputs")? {
        let formula = binder.scalar(&expr)?;
        formula.outputs(&mut reads);
        formulas.push(formula);
    }
    for (name, index) in outputs {
        binder.local(name, Signal::Output(*index));
    }
    let mut rates = Vec::new();
    for expr in of_states(reader, "rates", &declared.states, "has no rate")? {
        rates.push(binder.scalar(&expr)?);
    }
    let ids = binder.ids;
    let controller = OdeController { start, rates, formulas, outputs: declared.outputs };
    Ok(BuiltController { ids, controller: Arc::new(controller), outputs: slots, reads })
}

/// `kind = "ode"`
pub const KIND: ControllerKind = ControllerKind {
    name: "ode",
    doc: "states with rates, and outputs made of them; read as `X.name`",
    keys: &[
        Key::new("states", KeyType::Map(&KeyType::Number), "", "names of the states with their start values"),
        Key::new("rates", KeyType::Map(&KeyType::Expression), "", "rate of each state [1/s]"),
        Key::new(
            "outputs",
            KeyType::Map(&KeyType::Expression),
            "",
            "names of the outputs with their expressions",
        ),
        Key::new("update", KeyType::Map(&KeyType::Expression), "", "with `period`: next value of each state"),
        Key { default: "none", ..PERIOD },
        DELAY,
    ],
    planar: &[
        "states = { x = 1, y = 0 }, rates = { x = 'y', y = '-4*x - u' }, outputs = { u = '0.3*y + h.rate' }",
    ],
    spatial: &[
        "states = { x = 1, y = 0 }, rates = { x = 'y', y = '-4*x - u' }, outputs = { u = '0.3*y + h.rate' }",
    ],
    declare,
    read,
};
