//! Functions given by a program: values, derivatives that they give or that differences give, errors and faults.
//!
//! The oracle is the same function as an expression, whose derivatives are exact.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sarrus_math::{Dual, Jet, Real};
use sarrus_model::expr::{Lookup, Program, Quantity, TimeShape, TimeSlot};
use sarrus_model::functions::{Closure, Function, Functions, GivenFunction, fault, forget_fault};

use super::{Names, compile, evaluate, program};

/// x² y + sin(x y), its derivatives given up to an order.
struct Law(usize);

const LAW: &str = "x^2*y + sin(x*y)";

impl Function for Law {
    fn arguments(&self) -> Option<usize> {
        Some(2)
    }

    fn order(&self) -> usize {
        self.0
    }

    fn value(&self, x: &[f64]) -> f64 {
        x[0] * x[0] * x[1] + (x[0] * x[1]).sin()
    }

    fn gradient(&self, x: &[f64], out: &mut [f64]) {
        let c = (x[0] * x[1]).cos();
        out.copy_from_slice(&[2.0 * x[0] * x[1] + x[1] * c, x[0] * x[0] + x[0] * c]);
    }

    fn second(&self, x: &[f64], out: &mut [f64]) {
        let (s, c) = (x[0] * x[1]).sin_cos();
        let mixed = 2.0 * x[0] + c - x[0] * x[1] * s;
        out.copy_from_slice(&[2.0 * x[1] - x[1] * x[1] * s, mixed, mixed, -x[0] * x[0] * s]);
    }
}

impl Names {
    fn given(self, name: &str, function: impl Function + 'static) -> Self {
        self.with(name, Lookup::Given(Arc::new(GivenFunction::new(name, Arc::new(function)))))
    }
}

fn with_law(text: &str, order: usize) -> Program {
    compile(text, &Names::default().given("law", Law(order)), true).unwrap().remove(0)
}

/// `x` and `y` in slots 1 and 2 along a curve, so that all powers of a jet are used.
fn moving<const K: usize>(slot: u32) -> Jet<K> {
    Jet::from_derivatives(&[[0.0; 3], [0.7, 1.3, -0.4], [-0.6, 0.5, 2.0]][slot as usize])
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn a_call_has_the_value_of_the_function() {
    let names = Names::default().given("law", Law(0));
    let expected = Law(0).value(&[0.7, -0.6]);
    assert_eq!(evaluate("2*law(0.7, -0.6)", &names), Ok(Quantity::Number(2.0 * expected)));
    let called = with_law("2*law(x, y - 1)", 0);
    assert_eq!(called.eval(&|slot| [0.0, 0.7, 0.4][slot as usize]), 2.0 * expected);
}

#[test]
fn derivatives_that_are_given_are_exact_over_every_scalar() {
    let (called, written) = (with_law("law(x, y)*x", 2), program(&format!("({LAW})*x")));
    let (a, b) = (called.eval(&moving::<3>), written.eval(&moving::<3>));
    for k in 0..3 {
        near(a.derivative(k), b.derivative(k), 1e-14);
    }
    type Second = Dual<2, Dual<2>>;
    let seeded = |slot: u32| {
        let i = slot as usize - 1;
        Second::variable(Dual::variable([0.7, -0.6][i], i), i)
    };
    let (a, b) = (called.eval(&seeded), written.eval(&seeded));
    for i in 0..2 {
        near(a.d[i].v, b.d[i].v, 1e-14);
        for j in 0..2 {
            near(a.d[i].d[j], b.d[i].d[j], 1e-14);
        }
    }
}

#[test]
fn derivatives_that_are_not_given_are_differences() {
    let exact = program(LAW).eval(&moving::<4>);
    // rounding over the step, (2⁻⁵²)^(2/3) and (2⁻⁵²)^(1/2), with room for the size of the terms
    for (order, first, second) in [(0, 1e-9, 1e-6), (1, 1e-14, 1e-9), (2, 1e-14, 1e-14)] {
        let found = with_law("law(x, y)", order).eval(&moving::<3>);
        assert_eq!(found.value(), exact.value());
        near(found.derivative(1), exact.derivative(1), first);
        near(found.derivative(2), exact.derivative(2), second);
    }
    let found = with_law("law(x, y)", 2).eval(&moving::<4>);
    near(found.derivative(3), exact.derivative(3), 1e-8);
}

#[test]
fn derivatives_of_fourth_order_are_no_numbers_and_noted() {
    forget_fault();
    assert!(with_law("law(x, y)", 2).eval(&moving::<5>).value().is_nan());
    let what = fault().unwrap().what();
    assert!(what.contains("`law`") && what.contains("order 4"), "{what}");
}

#[test]
fn a_number_costs_one_call_and_the_same_call_is_made_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let count = Closure::new(1, move |x| {
        counter.fetch_add(1, Ordering::Relaxed);
        x[0]
    });
    let names = Names::default().given("f", count);
    let twice = compile("f(x) + f(x)^2", &names, true).unwrap().remove(0);
    assert_eq!(twice.eval(&|_| 3.0), 12.0);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    // a constant argument is no reason to call it once and for all
    let constant = compile("f(2)", &names, true).unwrap().remove(0);
    assert_eq!(constant.is_constant(), None);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn programs_with_calls_are_written_as_they_are_read() {
    let text = with_law("law(x + 1, 2*y)*3", 0).to_string();
    assert_eq!(text, "3*law(x + 1, 2*y)");
    let names = Names::default().given("now", Closure::new(0, |_| 4.0));
    let none = compile("now() + x", &names, true).unwrap().remove(0);
    assert_eq!((none.to_string().as_str(), none.eval(&|_| 1.0)), ("now() + x", 5.0));
}

#[test]
fn a_function_counts_as_smooth_in_time() {
    let names = Names::default().given("f", Closure::new(1, f64_abs));
    let called = compile("if(f(t - 1) > 0.5, 1, 0)*x", &names, true).unwrap().remove(0);
    let slot = |slot: u32| if slot == 0 { TimeSlot::Time } else { TimeSlot::Other };
    let mut breaks = Vec::new();
    called.breakpoints(&slot, 0.0, 2.0, &mut breaks);
    // where the comparison switches, not where the function has its kink
    assert_eq!(breaks.len(), 2);
    assert!((breaks[0] - 0.5).abs() < 1e-15 && (breaks[1] - 1.5).abs() < 1e-15, "{breaks:?}");
    let mut breaks = Vec::new();
    let shape = compile("f(t - 1)", &names, true).unwrap()[0].breakpoints(&slot, 0.0, 2.0, &mut breaks);
    assert_eq!((shape, breaks), (TimeShape::Smooth, vec![]));
}

fn f64_abs(x: &[f64]) -> f64 {
    x[0].abs()
}

#[test]
fn wrong_calls_are_refused_at_their_place() {
    let names = Names::default().given("law", Law(0));
    let cases = [
        ("1 + law(x)", "`law` takes 2 arguments, 1 given", "law(x)"),
        ("law(x, y, 1)", "`law` takes 2 arguments, 3 given", "law(x, y, 1)"),
        ("law(x, p)", "argument 2 of `law` must be a number, not a vector", "p"),
        ("law + 1", "`law` is a function", "law"),
        ("lav(x, y)", "there is no function `lav`", "lav"),
        ("torque(x, y)", "there is no function `torque`", "torque"),
    ];
    for (text, message, location) in cases {
        let error = compile(text, &names, true).unwrap_err();
        assert_eq!((error.message.as_str(), &text[error.at.clone()]), (message, location));
        let hint = error.hint.unwrap_or_default();
        match location {
            "lav" => assert_eq!(hint, "did you mean `law`?"),
            "torque" => assert!(hint.contains("[functions]") && hint.contains("a program gives"), "{hint}"),
            _ => {}
        }
    }
    let many = Names::default().given("sum", Any);
    let list = |n: usize| format!("sum({})", vec!["x"; n].join(", "));
    assert_eq!(compile(&list(12), &many, true).unwrap()[0].eval(&|_| 1.0), 12.0);
    let error = compile(&list(13), &many, true).unwrap_err();
    assert_eq!(error.message, "`sum` takes 12 arguments at most, 13 given");
}

/// The sum of any number of numbers.
struct Any;

impl Function for Any {
    fn arguments(&self) -> Option<usize> {
        None
    }

    fn value(&self, x: &[f64]) -> f64 {
        x.iter().sum()
    }
}

#[test]
fn a_value_that_is_no_number_is_an_error_on_loading() {
    let names = Names::default().given("root", Closure::new(1, |x| x[0].sqrt()));
    let error = evaluate("1 + root(-4)", &names).unwrap_err();
    assert_eq!(error.message, "function `root` gave NaN for (-4)");
    assert_eq!(error.at, 4..12);
    assert_eq!(evaluate("if(2 > 1, 3, root(-4))", &names), Ok(Quantity::Number(3.0)));
}

#[test]
fn faults_are_those_that_the_result_depends_on() {
    let names = Names::default().given("root", Closure::new(1, |x| x[0].sqrt()));
    let chosen = compile("if(x > 0, root(x), 0)", &names, true).unwrap().remove(0);
    forget_fault();
    assert_eq!(chosen.eval(&|_| -1.0), 0.0);
    assert_eq!(fault(), None);
    let plain = compile("2*root(x) + 1", &names, true).unwrap().remove(0);
    assert!(plain.eval(&|_| -1.25).is_nan());
    assert_eq!(fault().unwrap().to_string(), "function `root` gave NaN for (-1.25)");
    forget_fault();
    // no one asked the function for this one
    assert!(plain.eval(&|_| f64::NAN).is_nan());
    assert_eq!(fault(), None);
    // nor is the side that was not taken before to blame for it
    assert_eq!(chosen.eval(&|_| -1.0), 0.0);
    assert!(plain.eval(&|_| f64::NAN).is_nan());
    assert_eq!(fault(), None);
    // the value is there, its slope is not
    assert_eq!(plain.eval(&|_| Jet::<2>::variable(0.0)).value(), 1.0);
    assert!(fault().is_some());
    forget_fault();
}

#[test]
fn functions_are_found_by_name() {
    let mut functions = Functions::default();
    assert!(functions.is_empty());
    functions.add("b", Law(1));
    functions.add("a", Law(0));
    functions.add("a", Law(2));
    let names: Vec<(&str, usize)> = functions.iter().map(|f| (f.name(), f.order())).collect();
    assert_eq!(names, [("a", 2), ("b", 1)]);
    assert!(functions.get("c").is_none());
}
