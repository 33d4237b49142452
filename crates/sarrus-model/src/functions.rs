//! Functions given by a program: what a library's user writes in Rust, or through a binding, and calls by name in any expression
//! of the model, `torque = "law(t, A.angle, A.rate)"`.
//!
//! Expressions run over scalars with derivatives ([`Real`](sarrus_math::Real)), a function given by a program knows numbers only.
//! It is therefore expanded about the numbers xᵢ of its arguments xᵢ + dᵢ, in what those carry beyond their value:
//!
//! f(x + d) = f + Σ fᵢ dᵢ + ½ Σ fᵢⱼ dᵢ dⱼ + ⅙ Σ fᵢⱼₖ dᵢ dⱼ dₖ,
//!
//! which is no approximation, since some power of d is zero: the second of dual numbers, the k-th of jets with k coefficients. Only
//! what is not zero is asked for, so a plain number costs one call of [`Function::value`].
//!
//! Derivatives that the function does not give are central differences of those that it gives. This is the one place where that
//! is right: there is nothing to differentiate. First ones are good to some ten digits and serve tangents and Newton's iterations,
//! whose results do not depend on them. Second ones would be good to some six, and are the acceleration that a driver asks for:
//! who prescribes positions gives first and second derivatives, or is refused when the model is compiled. Third ones are always differences.
//! Higher ones, which only the crossing of a singular position needs, do not exist: they are not numbers, and noted as a [`Fault`].
//!
//! Needs: a function without memory, the same for the same arguments. It may be called at any time of a run, in any order, for steps that are
//! thrown away. For what a program sets from step to step there is the controller `input`.

mod expand;
mod fault;

pub use fault::{Fault, fault, forget_fault};
pub(crate) use fault::{begin, confirm};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Most arguments of a function that is given by a program.
pub const MOST_ARGUMENTS: usize = 12;

/// A function of numbers.
///
/// Where it has no value, or cannot continue, it returns NaN. A run that needs the value then fails with a message that names the function,
/// and keeps its results so far. It must not panic.
pub trait Function: Send + Sync {
    /// Number of numbers it takes, at most [`MOST_ARGUMENTS`]; `None` for any number up to that.
    fn arguments(&self) -> Option<usize>;

    /// Its value.
    fn value(&self, x: &[f64]) -> f64;

    /// Up to which order it gives derivatives itself: 0 for none, 1 for [`gradient`](Function::gradient), 2 for
    /// [`second`](Function::second) as well.
    fn order(&self) -> usize {
        0
    }

    /// Writes ∂f/∂xᵢ to `out[i]`; called where [`order`](Function::order) is 1 or more.
    fn gradient(&self, _x: &[f64], out: &mut [f64]) {
        out.fill(f64::NAN);
    }

    /// Writes ∂²f/∂xᵢ∂xⱼ to `out[i*n + j]`, with n arguments; called where [`order`](Function::order) is 2.
    fn second(&self, _x: &[f64], out: &mut [f64]) {
        out.fill(f64::NAN);
    }
}

type FunctionValue = dyn Fn(&[f64]) -> f64 + Send + Sync;
type Derivatives = dyn Fn(&[f64], &mut [f64]) + Send + Sync;

/// A [`Function`] made of closures.
///
/// ```
/// use sarrus_model::functions::{Closure, Function};
///
/// let lift = Closure::new(1, |x| x[0].sin())
///     .with_gradient(|x, out| out[0] = x[0].cos())
///     .with_second(|x, out| out[0] = -x[0].sin());
/// assert_eq!(lift.order(), 2);
/// ```
pub struct Closure {
    arguments: usize,
    value: Box<FunctionValue>,
    gradient: Option<Box<Derivatives>>,
    second: Option<Box<Derivatives>>,
}

impl Closure {
    /// The function `value` of so many numbers.
    pub fn new(arguments: usize, value: impl Fn(&[f64]) -> f64 + Send + Sync + 'static) -> Closure {
        Closure { arguments, value: Box::new(value), gradient: None, second: None }
    }

    /// With first derivatives, as [`Function::gradient`] writes them.
    pub fn with_gradient(mut self, gradient: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Closure {
        self.gradient = Some(Box::new(gradient));
        self
    }

    /// With second derivatives, as [`Function::second`] writes them; of use with first ones only.
    pub fn with_second(mut self, second: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Closure {
        self.second = Some(Box::new(second));
        self
    }
}

impl Function for Closure {
    fn arguments(&self) -> Option<usize> {
        Some(self.arguments)
    }

    fn value(&self, x: &[f64]) -> f64 {
        (self.value)(x)
    }

    fn order(&self) -> usize {
        match (&self.gradient, &self.second) {
            (Some(_), Some(_)) => 2,
            (Some(_), None) => 1,
            (None, _) => 0,
        }
    }

    fn gradient(&self, x: &[f64], out: &mut [f64]) {
        if let Some(gradient) = &self.gradient {
            gradient(x, out);
        }
    }

    fn second(&self, x: &[f64], out: &mut [f64]) {
        if let Some(second) = &self.second {
            second(x, out);
        }
    }
}

/// A function with the name that expressions call it by.
#[derive(Clone)]
pub struct GivenFunction {
    name: Arc<str>,
    function: Arc<dyn Function>,
}

impl GivenFunction {
    /// `function`, called `name`.
    pub fn new(name: &str, function: Arc<dyn Function>) -> GivenFunction {
        GivenFunction { name: name.into(), function }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of numbers it takes, where that is fixed.
    pub fn arguments(&self) -> Option<usize> {
        self.function.arguments()
    }

    /// Up to which order it gives derivatives itself.
    pub fn order(&self) -> usize {
        self.function.order()
    }
}

impl fmt::Debug for GivenFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The functions that a program gives to a model, by name. Cloning is cheap.
///
/// ```
/// use sarrus_model::functions::{Closure, Functions};
///
/// let mut functions = Functions::default();
/// functions.add("law", Closure::new(2, |x| -3.0 * x[0] - 0.1 * x[1]));
/// assert!(functions.get("law").is_some());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Functions(Arc<BTreeMap<String, Arc<GivenFunction>>>);

impl Functions {
    /// Adds a function, in place of one of the same name. Whether the name can be used is reported when a model is loaded.
    pub fn add(&mut self, name: &str, function: impl Function + 'static) {
        self.add_shared(name, Arc::new(function));
    }

    /// The same for a function that others hold too.
    pub fn add_shared(&mut self, name: &str, function: Arc<dyn Function>) {
        Arc::make_mut(&mut self.0).insert(name.to_owned(), Arc::new(GivenFunction::new(name, function)));
    }

    /// The function called `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<GivenFunction>> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<GivenFunction>> {
        self.0.values()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
