//! Describes what is compiled for run time.

use super::{Names, bind, compile, number, program};
use sarrus_model::expr::{Expr, Program};
use sarrus_model::tables::{Interpolation, Outside};

/// Slot k reads as k + 1/2.
fn read(slot: u32) -> f64 {
    f64::from(slot) + 0.5
}

#[test]
fn names_are_read_from_their_slots() {
    assert_eq!(program("t + 10*x + 100*y").eval(&read), 0.5 + 15.0 + 250.0);
    assert_eq!(program("p.y*body.tip.x").eval(&read), 4.5 * 3.5);
    assert_eq!(program("fixed.value*t").eval(&read), 3.5);
    assert_eq!(program("norm(p)").eval(&read), 3.5f64.hypot(4.5));
    let programs = compile("p + [1, 2, 3]", &Names::default(), false).unwrap();
    let values: Vec<f64> = programs.iter().map(|p| p.eval(&read)).collect();
    assert_eq!(values, [4.5, 6.5, 8.5]);
}

#[test]
fn a_planar_vector_has_a_third_component_of_zero() {
    let programs = compile("2*p", &Names::default(), true).unwrap();
    assert_eq!(programs.len(), 3);
    assert_eq!(programs[1].eval(&read), 9.0);
    assert_eq!(programs[2].is_constant(), Some(0.0));
}

#[test]
fn constants_fold_and_shared_parts_are_computed_once() {
    let names = Names::default().number("k", 3.0).number("off", 0.0).vector("v", &[1.0, 2.0]);
    let one = |text: &str| compile(text, &names, true).unwrap().remove(0);
    assert_eq!(one("k*2 + sin(0)").is_constant(), Some(6.0));
    assert_eq!(one("off*t").is_constant(), Some(0.0));
    assert_eq!(one("if(k > 2, v.y, t)").is_constant(), Some(2.0));
    assert_eq!(one("if(k > 2, t, 1/off)").is_slot(), Some(0));
    assert_eq!(one("0 + t*1/1").is_slot(), Some(0));
    assert_eq!(one("k > 2 and t > 1").to_string(), "t > 1");
    assert_eq!(one("k > 2 or t > 1").is_constant(), Some(1.0));
    assert_eq!(one("t").is_constant(), None);
}

#[test]
fn slots_are_listed_once_and_only_where_needed() {
    let p = program("x*x + y + 0*t");
    assert_eq!(p.slots().collect::<Vec<_>>(), [1, 2]);
    assert!(p.depends_on(2) && !p.depends_on(0));
}

#[test]
fn switches_are_found() {
    for text in [
        "abs(x)",
        "if(x > 0, x, 1)",
        "min(x, 1)",
        "sign(x)",
        "x > 1",
        "x % 2",
        "step(x, 0, 0, 1, 1)",
        "floor(x)",
    ] {
        assert!(program(text).switches(), "{text}");
    }
    for text in ["sin(x)^2 + exp(-x)", "3", "atan2(x, y)", "if(1 > 0, x, abs(x))"] {
        assert!(!program(text).switches(), "{text}");
    }
}

#[test]
fn a_constant_fault_in_a_side_of_a_runtime_if_is_left_to_run_time() {
    let p = program("if(t > 1, sqrt(-1), t)");
    assert_eq!(p.eval(&|_| 0.5), 0.5);
    assert!(p.eval(&|_| 2.0).is_nan());
    assert!(compile("t*sqrt(-1)", &Names::default(), true).is_err());
    let p = program("if(t > 1, sqrt(-1), acos(2))");
    assert_eq!(p.to_string(), "if(t > 1, (inf - inf), (inf - inf))");
    assert!(program(&p.to_string()).eval(&|_| 2.0).is_nan());
}

#[test]
fn what_is_not_finite_says_why() {
    let names =
        Names::default().table("lift", &[[0.0, 0.0], [1.0, 2.0]], Interpolation::Linear, Outside::Error);
    let fault = |text: &str, t: f64| compile(text, &names, true).unwrap()[0].fault(&|_| t);
    assert_eq!(fault("1 + lift(t)", 1.5).as_deref(), Some("table `lift` goes from 0 to 1, not to 1.5"));
    assert_eq!(fault("1 + lift(t)", 0.5), None);
    assert_eq!(fault("1/(t - 2)", 2.0).as_deref(), Some("division by zero"));
    assert_eq!(fault("sqrt(t)", -2.0).as_deref(), Some("sqrt(-2) is not a number"));
    assert_eq!(fault("2*t", f64::NAN).as_deref(), Some("`t` is NaN"));
    assert_eq!(fault("if(t > 0, t, sqrt(t))", 3.0), None);
}

/// The side of an `if` that is not taken is not to blame for the other.
#[test]
fn a_fault_is_that_of_the_side_taken() {
    let fault = |text: &str, t: f64| program(text).fault(&|_| t);
    assert_eq!(fault("if(t < 0, sqrt(t - 1), log(t))", -1.0).as_deref(), Some("sqrt(-2) is not a number"));
    assert_eq!(
        fault("if(t > 0, sqrt(t), sqrt(-t - 9)) + sqrt(-t)", 4.0).as_deref(),
        Some("sqrt(-4) is not a number")
    );
}

/// Three-valued logic: NaN decides nothing, unless the rest decides alone.
#[test]
fn a_condition_of_what_is_no_number_is_undecided() {
    let at = |text: &str, t: f64| (program(text).decide(&|_| t), program(text).undecided(&|_| t));
    let nan = |text: &str| {
        let (value, why) = at(text, -2.0);
        assert!(value.is_nan(), "{text}: {value}");
        assert_eq!(why.as_deref(), Some("sqrt(-2) is not a number"), "{text}");
    };
    nan("sqrt(t) > 0.9");
    nan("not sqrt(t) == 1");
    nan("t < 0 and sqrt(t) > 1");
    nan("t > 0 or sqrt(t) > 1");
    nan("if(sqrt(t) > 1, t > 0, t < 0) and t < 0");
    for (text, value) in [("t > 0 and sqrt(t) > 1", 0.0), ("sqrt(t) > 1 or t < 0", 1.0), ("t < 3", 1.0)] {
        assert_eq!(at(text, -2.0), (value, None), "{text}");
    }
    for t in [-1.5, 0.0, 0.3, 7.0] {
        let text = "(t > 1 and not t > 5) or t*t < 0.1 or if(t < 0, t < -1, t > 6.5)";
        assert_eq!(at(text, t), (program(text).eval(&|_| t), None));
    }
}

#[test]
fn long_sums_need_few_registers_and_no_recursion() {
    let text = (0..20_000).map(|k| format!("sin({k}*t)*cos(x)")).collect::<Vec<_>>().join(" + ");
    let p = program(&text);
    let exact: f64 = (0..20_000).map(|k| (f64::from(k) * 0.5).sin() * 1.5f64.cos()).sum();
    assert!((p.eval(&read) - exact).abs() < 1e-9);
    assert_eq!(program(&p.to_string()).eval(&read), p.eval(&read));
}

/// Many values live at once: a right-nested sum keeps every term until the end.
#[test]
fn deep_expressions_use_many_registers() {
    let text = format!("{}t{}", "sin(t*2) + x*(".repeat(60), ")".repeat(60));
    let p = program(&text);
    let exact = (0..60).fold(0.5, |sum, _| 1f64.sin() + 1.5 * sum);
    assert!((p.eval(&read) - exact).abs() <= 1e-13 * exact.abs());
}

#[test]
fn loading_and_running_agree_to_the_bit() {
    let texts =
        ["sin(T)^2/3 - T^2.5", "T % 0.3 + log10(T)", "smoothstep(T, 0, 9)*hypot(T, 2)", "atan2(T, -T) + T^T"];
    for text in texts {
        let loaded = number(&text.replace('T', "1.7"));
        assert_eq!(program(&text.replace('T', "t")).eval(&|_| 1.7), loaded, "{text}");
    }
}

#[test]
fn programs_are_cheap_to_clone_and_may_cross_threads() {
    fn check<T: Clone + Send + Sync + 'static>(_: &T) {}
    check(&Program::constant(2.0));
    assert_eq!(Program::constant(2.0).eval(&read), 2.0);
    assert_eq!(Program::constant(-2.0).to_string(), "-2");
}

#[test]
fn full_paths_are_bound_and_printed() {
    use sarrus_model::expr::Lookup;
    let names = Names::default().with("tip", Lookup::Runtime("body.tip".into()));
    let p = Expr::parse("tip.x + dot(tip, tip)").unwrap().compile(&names, &mut bind, true).unwrap().remove(0);
    assert_eq!(p.to_string(), "body.tip.x + (body.tip.x*body.tip.x + body.tip.y*body.tip.y)");
}
