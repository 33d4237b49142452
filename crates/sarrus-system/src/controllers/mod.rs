//! The controllers: signals with states of their own, integrated with the mechanism or sampled. One file each, one line each
//! in [`KINDS`].
//!
//! Outputs and states of all controllers lie in one array ([`At::outs`]), each controller's outputs first and its
//! states after them. Controllers read each other, so they are read in two passes: [`outputs`] says which names one has,
//! which the caller puts into the [`Directory`](crate::names::Directory); then [`ControllerKind::read`] binds its expressions, and
//! [`order`] finds the order in which outputs can be computed.

mod input;
mod ode;
mod pid;
mod pid_sampled;
mod sampled;
pub mod sampling;
mod shown;

pub use sampling::{SampledLaw, Sampling};

use crate::at::At;
use crate::context::Context;
use crate::formula::Formula;
use crate::names::Named;
use sarrus_math::{Dual, Enclosure, Jet};
use sarrus_model::suggest::did_you_mean;
use sarrus_model::{Element, Key, Model, Reader, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Describes what controller files use.
mod prelude {
    pub use super::{BuiltController, Controller, ControllerKind, CutOff, Declared, ExpressionRole, Limited};
    pub use crate::at::At;
    pub use crate::context::Context;
    pub use crate::formula::{Formula, ReadLevel};
    pub use crate::signal::Signal;
    pub use sarrus_math::{Dual, Enclosure, Jet, Pose, Real};
    pub use sarrus_model::{Key, KeyType, Reader, Result};
    pub use std::sync::Arc;
}

/// A controller that a system stores.
///
/// Where `at` is passed, [`At::outs`] holds the states of all controllers and the outputs of those earlier in their
/// [`order`]; in `rates` all outputs.
pub trait Controller: Send + Sync {
    /// Number of its states; those beyond its names cannot be read.
    fn states(&self) -> usize;

    /// Their values at the start of a run.
    fn start(&self) -> Vec<f64>;

    /// States whose start depends on where the mechanism starts; called once it is assembled.
    fn initialize(&self, _at: &At<f64>, _x: &mut [f64]) {}

    /// Names of its outputs.
    fn outputs(&self) -> &[String];

    /// The outputs, from the states `x`.
    fn output(&self, at: &At<f64>, x: &[f64], out: &mut [f64]);

    /// Rates of the states; `out` are its own outputs.
    fn rates(&self, at: &At<f64>, x: &[f64], out: &[f64], xdot: &mut [f64]);

    /// The outputs with derivatives, for tangent matrices.
    fn output_dual(&self, _at: &At<Dual<6>>, _x: &[Dual<6>], _out: &mut [Dual<6>]) {}

    /// The rates with derivatives; zero of what is held.
    fn rates_dual(&self, _at: &At<Dual<6>>, _x: &[Dual<6>], xdot: &mut [Dual<6>]) {
        xdot.fill(Dual::constant(0.0));
    }

    /// Returns how it is sampled, where it is: it then has no outputs but those held among its states, and no rates.
    fn sampling(&self) -> Option<&Sampling> {
        None
    }

    /// Returns whether its states are set from outside, by a program or an event, and held in between.
    fn is_input(&self) -> bool {
        false
    }

    /// Returns whether a state stays as it is but for samples and events.
    fn is_held(&self, _state: usize) -> bool {
        self.is_input() || self.sampling().is_some()
    }

    /// Bounds on the outputs over an interval of time, from those of the states `x`, where there are such: see
    /// [`is_bounded`](Controller::is_bounded).
    fn enclose(&self, _at: &At<Enclosure>, _x: &[Enclosure], _out: &mut [Enclosure]) {}

    /// Returns whether its outputs have bounds.
    fn is_bounded(&self) -> bool {
        self.outputs().is_empty()
    }

    /// Returns whether these bounds have second derivatives.
    fn has_bends(&self) -> bool {
        true
    }

    /// Calls `found` with each expression that its outputs, and the rates of its states, are made of.
    fn parts(&self, _found: &mut dyn FnMut(ExpressionRole, &Formula)) {}

    /// Returns how an output is cut off, where it is.
    fn cut_off(&self) -> Option<&dyn CutOff> {
        None
    }

    /// Returns how it slides along a limit of its output, where it may.
    fn limited(&self) -> Option<&dyn Limited> {
        None
    }

    /// The same controller with the index `discrete_index` among the discrete state, where it may slide: see [`Limited::discrete_index`].
    fn with_discrete_index(&self, _index: usize) -> Option<Arc<dyn Controller>> {
        None
    }
}

/// Holds what an expression of a controller is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExpressionRole {
    /// Outputs.
    Output,
    /// The rate of a state, which is the expression times a factor and what is linear in outputs and states.
    Rate(usize, f64),
}

/// An output that is a demand cut off at a lowest and a highest value.
pub trait CutOff {
    /// These values.
    fn limits(&self) -> [f64; 2];

    /// The demand; while the output follows a limit, that.
    fn demand(&self, at: &At<f64>, x: &[f64]) -> f64;

    /// Bounds on it over an interval of time.
    fn enclose_demand(&self, at: &At<Enclosure>, x: &[Enclosure]) -> Enclosure;
}

/// Modes of the integral of a controller with limits, constant over a step. Times -1 they are those of the lowest output.
pub mod mode {
    /// No one tells: it is held or not by the demand itself.
    pub const OWN: f64 = 0.0;
    /// It follows the highest output.
    pub const SLIDES: f64 = 1.0;
    /// It is held at the highest output.
    pub const HELD: f64 = 2.0;
    /// It grows with the error.
    pub const FREE: f64 = 3.0;
}

/// A controller whose integral is held where the demand is beyond a limit of the output, and grows below it. Where both lead
/// back to the limit the integral follows it, a sliding mode: the output is the limit, and the demand stays at it.
pub trait Limited {
    /// Index among the discrete state of its mode, one of [`mode`].
    fn discrete_index(&self) -> usize;

    /// Positive where the highest and the lowest output hold the integral, the demand being beyond them and the error driving it
    /// outwards; and the size of the demand's terms.
    fn beyond(&self, at: &At<f64>, x: &[f64]) -> ([f64; 2], f64);

    /// Along the motion, the rate of the demand while the integral is held, and what the integral adds to it where it is not.
    fn demand_rates(&self, at: &At<Jet<3>>, x: &[f64]) -> [f64; 2];

    /// The integral, the first of the states, with which the demand is the limit of a side.
    fn integral_at(&self, at: &At<f64>, x: &[f64], side: f64) -> f64;

    /// Bounds on it over an interval of time.
    fn enclose_integral(&self, at: &At<Enclosure>, x: &[Enclosure], side: f64) -> Enclosure;
}

/// The names of a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Its outputs.
    pub outputs: Vec<String>,
    /// Its states.
    pub states: Vec<String>,
}

impl Declared {
    /// Every name with its place, from the first.
    fn output_indices(&self, first: usize) -> Vec<(String, usize)> {
        self.outputs.iter().chain(&self.states).cloned().zip(first..).collect()
    }
}

/// A controller that was read.
#[derive(Clone)]
pub struct BuiltController {
    /// The bodies that its expressions read.
    pub ids: Vec<u32>,
    /// Holds what it does.
    pub controller: Arc<dyn Controller>,
    /// Names of its outputs, then of its states, with their places in [`At::outs`].
    pub outputs: Vec<(String, usize)>,
    /// Places that its outputs read directly, not through a state.
    pub reads: Vec<usize>,
}

/// A registered kind of controller.
pub struct ControllerKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Examples in a planar model with bodies `a`, `b` and the hinge `h` between them, for the conformance test.
    pub planar: &'static [&'static str],
    /// Examples in a spatial model, likewise.
    pub spatial: &'static [&'static str],
    /// Finds its names.
    pub declare: fn(&Reader) -> Result<Declared>,
    /// Reads one whose names the directory knows.
    pub read: fn(&mut Context) -> Result<BuiltController>,
}

/// Every kind of controller, in the order of `sarrus list controllers`.
pub static KINDS: &[ControllerKind] = &[pid::KIND, ode::KIND, sampled::KIND, input::KIND];

/// Kinds that the file format names and that are not available yet.
const LATER: &[&str] = &["transfer_function", "state_space"];

/// The kind of an element of `[controllers]`.
pub fn kind(model: &Model, element: &Element) -> Result<&'static ControllerKind> {
    let name = element.kind.as_str();
    if let Some(kind) = KINDS.iter().find(|kind| kind.name == name) {
        return Ok(kind);
    }
    let reader = Reader::open(model, element);
    let names = || KINDS.iter().map(|kind| kind.name);
    let known = || format!("one of: {}", names().collect::<Vec<_>>().join(" "));
    if name.is_empty() {
        return Err(reader.missing("kind").hint(known()));
    }
    if LATER.contains(&name) {
        let message = format!("{}: the controller `{name}` is not available yet", reader.title());
        return Err(reader
            .error("kind", message)
            .hint("an `ode` controller can say the same of a continuous one"));
    }
    let message = format!("{}: there is no controller of kind `{name}`", reader.title());
    Err(reader.error("kind", message).hint(did_you_mean(name, names()).unwrap_or_else(known)))
}

/// Outputs and states of a controller with their indices from `first` on, before any expression is bound.
pub fn outputs(model: &Model, element: &Element, first: usize) -> Result<Vec<(String, usize)>> {
    let kind = kind(model, element)?;
    let reader = Reader::new(model, element, kind.keys)?;
    Ok((kind.declare)(&reader)?.output_indices(first))
}

/// The places that [`outputs`] gave to the controller that `ctx` has open: of its outputs and states.
fn output_slots(ctx: &Context) -> Result<Vec<(String, usize)>> {
    match ctx.directory.get(&ctx.reader.element().name) {
        Some(Named::Controller(outputs)) => Ok(outputs.clone()),
        _ => Err(ctx.reader.element_error(format!("{} has no outputs", ctx.reader.title()))),
    }
}

/// An order in which each controller's outputs read only those of earlier ones; the controllers along a cycle where
/// there is none.
pub fn order(controllers: &[&BuiltController]) -> std::result::Result<Vec<usize>, Vec<usize>> {
    let mut owner = HashMap::new();
    for (i, built) in controllers.iter().enumerate() {
        for (_, slot) in &built.outputs[..built.controller.outputs().len()] {
            owner.insert(*slot, i);
        }
    }
    let needs = |i: usize| controllers[i].reads.iter().filter_map(|slot| owner.get(slot).copied());

    // depth first: a controller is evaluated after those that it reads
    #[derive(Clone, Copy, PartialEq)]
    enum VisitMark {
        New,
        Open,
        Visited,
    }
    let mut marks = vec![VisitMark::New; controllers.len()];
    let mut ordered = Vec::with_capacity(controllers.len());
    for root in 0..controllers.len() {
        if marks[root] != VisitMark::New {
            continue;
        }
        marks[root] = VisitMark::Open;
        let mut path = vec![(root, needs(root))];
        while let Some((i, rest)) = path.last_mut() {
            match rest.next() {
                None => {
                    marks[*i] = VisitMark::Visited;
                    ordered.push(*i);
                    path.pop();
                }
                Some(next) if marks[next] == VisitMark::Open => {
                    let start = path.iter().position(|(i, _)| *i == next).unwrap_or(0);
                    return Err(path[start..].iter().map(|(i, _)| *i).collect());
                }
                Some(next) if marks[next] == VisitMark::New => {
                    marks[next] = VisitMark::Open;
                    path.push((next, needs(next)));
                }
                Some(_) => {}
            }
        }
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Gain(Vec<String>);

    impl Controller for Gain {
        fn states(&self) -> usize {
            0
        }
        fn start(&self) -> Vec<f64> {
            Vec::new()
        }
        fn outputs(&self) -> &[String] {
            &self.0
        }
        fn output(&self, _: &At<f64>, _: &[f64], _: &mut [f64]) {}
        fn rates(&self, _: &At<f64>, _: &[f64], _: &[f64], _: &mut [f64]) {}
    }

    fn built(slot: usize, reads: &[usize]) -> BuiltController {
        BuiltController {
            ids: vec![],
            controller: Arc::new(Gain(vec!["out".into()])),
            outputs: vec![("out".into(), slot)],
            reads: reads.to_vec(),
        }
    }

    #[test]
    fn a_controller_comes_after_those_it_reads() {
        let (a, b, c) = (built(0, &[1, 2]), built(1, &[2]), built(2, &[]));
        assert_eq!(order(&[&a, &b, &c]), Ok(vec![2, 1, 0]));
    }

    #[test]
    fn controllers_that_read_each_other_directly_are_found() {
        let (a, b, c) = (built(0, &[]), built(1, &[2, 0]), built(2, &[1]));
        assert_eq!(order(&[&a, &b, &c]), Err(vec![1, 2]));
        assert_eq!(order(&[&built(0, &[0])]), Err(vec![0]));
    }

    #[test]
    fn a_state_that_is_read_is_no_cycle() {
        // slot 1 is the state of a, which b reads, and a reads b
        let (mut a, b) = (built(0, &[2]), built(2, &[1]));
        a.outputs.push(("x".into(), 1));
        assert_eq!(order(&[&a, &b]), Ok(vec![1, 0]));
    }
}
