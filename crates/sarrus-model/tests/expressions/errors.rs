//! Mistakes: what is said, where, and what to write instead.

use super::{Names, compile, evaluate};
use sarrus_model::expr::{Expr, ExprError, Lookup, MAX_DEPTH};
use sarrus_model::tables::{Interpolation, Outside};

fn names() -> Names {
    Names::default()
        .number("length", 2.0)
        .number("m", 3.0)
        .vector("P", &[1.0, 2.0])
        .vector("S", &[1.0, 2.0, 3.0])
        .function("bump(x, w)", "exp(-(x/w)^2)")
        .function("loop_a(x)", "loop_b(x)")
        .function("loop_b(x)", "loop_a(x)")
        .function("root(x)", "sqrt(x) + 1")
        .function("deep(x)", "root(x)")
        .table("lift", &[[0.0, 0.0], [1.0, 2.0]], Interpolation::Linear, Outside::Error)
}

fn error(text: &str) -> ExprError {
    evaluate(text, &names()).expect_err(text)
}

/// Message, the text it points at, and a part of the hint.
#[test]
fn every_mistake_is_named_and_placed() {
    let cases: &[(&str, &str, &str, &str)] = &[
        // text, part of the message, place, part of the hint
        ("1/2 mm", "may not stand behind `/`", "2 mm", "write `0.5 mm` or `1/(2 mm)`"),
        ("length/2 mm", "may not stand behind `/`", "2 mm", "/(2 mm)"),
        ("1/-2 mm", "may not stand behind `/`", "-2 mm", "/(-2 mm)"),
        ("1 N/2 mm", "may not stand behind `/`", "2 mm", "/(2 mm)"),
        ("5 kg*m", "`m` is a unit here, but also", "m", "write `(5 kg)*m` for the value, `5 kg*1 m`"),
        ("5 N/m", "`m` is a unit here, but also", "m", "`(5 N)/m`"),
        ("5mm", "a space must stand", "5mm", "write `5 mm`"),
        ("5length", "an operator is missing", "5length", "write `5*length`"),
        ("5 length", "`length` is not a unit", "length", "`*length`"),
        ("5 mn", "`mn` is not a unit", "mn", "did you mean `"),
        ("5 mm^x", "the power of a unit", "mm^x", "brackets"),
        ("5 mm^0.5", "the power of a unit", "mm^0.5", "brackets"),
        ("2^3 mm", "an exponent has no unit", "3 mm", ""),
        ("5 min(1, 2)", "an operator is missing before `min`", "min", ""),
        ("lenght + 1", "`lenght` is not known here", "lenght", "did you mean `length`?"),
        ("t + 1", "known at run time only", "t", "parameters"),
        ("sine(1)", "there is no function `sine`", "sine", "did you mean `sin`?"),
        ("bumb(1, 2)", "there is no function `bumb`", "bumb", "did you mean `bump`?"),
        ("length(2)", "`length` is not a function", "length", "length*("),
        ("bump + 1", "`bump` is a function", "bump", "bump("),
        ("sin(1, 2)", "`sin` takes 1 argument, 2 given", "sin(1, 2)", "sin(x)"),
        ("sin()", "`sin` takes 1 argument, 0 given", "sin()", ""),
        ("clamp(1, 2)", "`clamp` takes 3 arguments, 2 given", "clamp(1, 2)", "clamp(x, lo, hi)"),
        ("min(1)", "2 arguments or more, 1 given", "min(1)", ""),
        ("hypot(1)", "2 to 3 arguments, 1 given", "hypot(1)", ""),
        ("bump(1)", "`bump` takes 2 arguments, 1 given", "bump(1)", "bump(x, w)"),
        ("lift(1, 2)", "table `lift` takes 1 argument", "lift(1, 2)", ""),
        ("lift(2)", "table `lift` goes from 0 to 1, not to 2", "lift(2)", ""),
        ("loop_a(1)", "calls itself", "loop_a(1)", ""),
        ("1 + root(-4)", "in function `root`: sqrt(-4) is not a number", "root(-4)", ""),
        ("1 + deep(-4)", "in function `root`: sqrt(-4) is not a number", "deep(-4)", ""),
        ("P + 1", "a number cannot be added to a vector", "1", ""),
        ("1 - P", "a vector cannot be subtracted from a number", "P", ""),
        ("P + S", "a vector of 3 components cannot be added to one of 2", "S", ""),
        ("P*P", "does not multiply two vectors", "P*P", "dot(a, b)"),
        ("1/P", "nothing can be divided by a vector", "P", "norm"),
        ("P % 2", "`%` is for numbers", "P % 2", ""),
        ("P^2", "a vector has no powers", "P", "dot(v, v)"),
        ("2^P", "an exponent must be a number", "P", ""),
        ("P < 2", "what is compared must be a number", "P", "norm"),
        ("not P", "must be a number, not a vector", "P", ""),
        ("sin(P)", "argument 1 of `sin` must be a number, not a vector", "P", ""),
        ("dot(P, 2)", "argument 2 of `dot` must be a vector, not a number", "2", ""),
        ("dot(P, S)", "vectors of 2 and 3 components in `dot`", "S", ""),
        ("if(1, P, 2)", "`if` must give the same either way", "2", ""),
        ("[P, 1]", "a component of a vector must be a number", "P", ""),
        ("[1, 2, 3, 4]", "a vector has 2 or 3 components, this one 4", "[1, 2, 3, 4]", ""),
        ("P.z", "has no z", "P.z", ""),
        ("length.x", "`length` is a number, it has no `x`", "length.x", ""),
        ("(P + P).w", "expected `x`, `y` or `z`", "w", ""),
        ("meet([0, 0], 1, [3, 0], 1)", "out of reach", "meet([0, 0], 1, [3, 0], 1)", ""),
        ("meet([0, 0], 5, [1, 0], 1)", "too unequal", "meet([0, 0], 5, [1, 0], 1)", ""),
        ("meet([0, 0], 1, [0, 0], 1)", "the same", "meet([0, 0], 1, [0, 0], 1)", ""),
        ("angle(S, S)", "planar only", "angle(S, S)", ""),
        ("rotate(P, S, 1)", "takes an axis in space", "rotate(P, S, 1)", "rotate(v, angle)"),
        ("unit([0, 0])", "length 0", "unit([0, 0])", ""),
        ("2 + 1/(length - 2)", "division by zero", "1/(length - 2", ""),
        ("sqrt(-1)", "sqrt(-1) is not a number", "sqrt(-1)", ""),
        ("asin(2)", "asin(2) is not a number", "asin(2)", ""),
        ("(-8)^(1/3)", "(-8)^0.333", "", ""),
        ("exp(1e4)", "exp(10000) is too large", "exp(1e4)", ""),
        ("inf - inf", "is not a number", "inf - inf", ""),
        ("clamp(1, 3, 2)", "the lower limit is above", "clamp(1, 3, 2)", ""),
        ("smoothstep(1, 3, 2)", "x0 must not be above x1", "smoothstep(1, 3, 2)", ""),
        ("pulse(1, 0, -1)", "the width is negative", "pulse(1, 0, -1)", ""),
        ("1 +", "a value is missing at the end", "", ""),
        ("", "a value is missing at the end", "", ""),
        ("(1 + 2", "`)` is missing at the end", "", ""),
        ("1 + 2)", "`)` closes nothing", ")", ""),
        ("[1, 2", "`,` or `]` is missing at the end", "", ""),
        ("1 2", "expected an operator, found `2`", "2", ""),
        ("+1", "expected a value, found `+`", "+", "leave out"),
        ("1 < 2 < 3", "comparisons do not chain", "1 < 2", "write `1 < 2 and 2 …`"),
        ("1 + not 2", "expected a value, found `not`", "not", "brackets"),
        ("2**3", "`**` has no meaning", "**", "`^`"),
        ("1 && 2", "`&&` has no meaning", "&&", "`and`"),
        ("!1", "`!` has no meaning", "!", "`not`"),
        ("1 = 2", "`=` has no meaning", "=", "`==`"),
        ("2 × 3", "`×` has no meaning", "×", "`*`"),
        ("90°", "`°` has no meaning", "°", "deg"),
        ("length.", "a name must follow the dot", ".", ""),
        ("link{1}", "`{` has no meaning", "{", "names"),
        ("1e999", "too large", "1e999", "inf"),
        ("1e308 km", "too large", "1e308 km", ""),
    ];
    for (text, message, location, hint) in cases {
        let error = error(text);
        assert!(error.message.contains(message), "{text}: {error:?}");
        if !location.is_empty() {
            assert_eq!(text.get(error.at.clone()), Some(*location), "{text}: {error:?}");
        }
        let found = error.hint.clone().unwrap_or_default();
        assert!(found.contains(hint), "{text}: {error:?}");
        assert!(error.at.start <= error.at.end && error.at.end <= text.len(), "{text}: {error:?}");
    }
}

#[test]
fn planar_constructions_are_refused_in_space() {
    let spatial = |text: &str| Expr::parse(text).unwrap().evaluate(&names(), false);
    assert!(spatial("polar(1, 2)").unwrap_err().hint.unwrap().contains("cos"));
    assert!(spatial("rotate(S, 1)").unwrap_err().message.contains("axis"));
}

#[test]
fn points_are_refused_at_run_time_unless_an_element_has_their_name() {
    let point = super::vector(&[1.0, 2.0]);
    let names = Names::default().with("B", Lookup::Point(point)).with("p", Lookup::Point(point));
    for text in ["B.x", "dist(B, p)"] {
        let error = compile(text, &names, true).unwrap_err();
        assert!(error.message.contains("point `B` does not exist at run time"), "{error:?}");
        assert!(error.hint.unwrap().contains("marker"));
    }
    let read = |slot: u32| f64::from(slot);
    assert_eq!(compile("p.y", &names, true).unwrap()[0].eval(&read), 4.0);
}

#[test]
fn names_that_cannot_be_bound_say_why() {
    let error = compile("2*foo.x", &Names::default(), true).unwrap_err();
    assert_eq!((error.message.as_str(), error.at), ("nothing is called `foo.x`", 2..7));
    let names = Names::default().with("foo", Lookup::Runtime("left.foo".into()));
    let error = compile("2*foo.x", &names, true).unwrap_err();
    assert_eq!(error.message, "nothing is called `left.foo.x`");
    let refused = Lookup::Refused { message: "no".into(), hint: Some("yes".into()) };
    let error = compile("bar", &Names::default().with("bar", refused), true).unwrap_err();
    assert_eq!((error.message.as_str(), error.hint.as_deref()), ("no", Some("yes")));
}

#[test]
fn a_unit_is_ambiguous_where_its_name_is_bound_at_run_time() {
    let mut bind = |path: &str| match path {
        "m" => Ok(sarrus_model::expr::Binding::Scalar(0)),
        _ => Err("unknown".into()),
    };
    let mut compiled = |text: &str| Expr::parse(text).unwrap().compile(&Names::default(), &mut bind, true);
    assert!(compiled("5 kg*m").unwrap_err().message.contains("is a unit here"));
    assert!(compiled("5 kg*s").is_ok());
}

/// On the small stack of a worker thread, unoptimised.
#[test]
fn nesting_is_limited_without_exhausting_the_stack() {
    let work = || {
        for (open, close) in
            [("(", ")"), ("sin(", ")"), ("-", ""), ("2^", ""), ("[1, [1, ", "]]"), ("not ", "")]
        {
            let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
            let error = Expr::parse(&text).unwrap_err();
            assert!(error.message.contains("nested"), "{open}: {error:?}");
        }
        let text = format!("{}t{}", "1+2*-sin(".repeat(MAX_DEPTH / 2 - 3), ")".repeat(MAX_DEPTH / 2 - 3));
        compile(&text, &Names::default(), true).unwrap();
        // a chain of functions, each nested itself
        let mut names = Names::default().function("f0(x)", "x");
        for k in 1..100 {
            let body = format!("{}f{}(x){}", "(1-".repeat(40), k - 1, ")".repeat(40));
            names = names.function(&format!("f{k}(x)"), &body);
        }
        assert!(compile("f99(t)", &names, true).unwrap_err().message.contains("too large"));
        assert!(compile("f1(t)", &names, true).is_ok());
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn functions_that_multiply_are_refused_in_time() {
    let mut names = Names::default().function("f0(x)", "x + x");
    for k in 1..60 {
        names = names.function(&format!("f{k}(x)"), &format!("f{0}(f{0}(x))", k - 1));
    }
    assert!(compile("f59(t)", &names, true).unwrap_err().message.contains("too large"));
    assert!(Expr::parse(&"1+".repeat(1 << 20)).unwrap_err().message.contains("longer"));
}
