//! Describes what expressions mean on loading.

use std::f64::consts::PI;

use super::{Names, evaluate, number, vector};
use sarrus_model::expr::{Expr, FileFunction, Lookup, Quantity};

#[test]
fn operators_bind_as_the_grammar_says() {
    let cases = [
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("8/4/2", 1.0),
        ("8/4*2", 4.0),
        ("1 - 2 - 3", -4.0),
        ("2 + 3*4", 14.0),
        ("-3*-3", 9.0),
        ("1 - -1", 2.0),
        ("10 % 4 * 2", 4.0),
        ("1e3 + .5 + 2.", 1002.5),
        ("1.5e-3*2E+3", 3.0),
        ("  ( 1 +2 )\t*\n3 ", 9.0),
        ("--2", 2.0),
    ];
    for (text, value) in cases {
        assert_eq!(number(text), value, "{text}");
    }
}

#[test]
fn the_remainder_has_the_sign_of_the_divisor() {
    let cases = [
        ("7 % 3", 1.0),
        ("-7 % 3", 2.0),
        ("7 % -3", -2.0),
        ("-7 % -3", -1.0),
        ("6 % 3", 0.0),
        ("-6 % 3", 0.0),
        ("5.5 % 2", 1.5),
        ("-0.1 % 1", 0.9),
        ("370 deg % 360 deg", 10.0f64.to_radians()),
    ];
    for (text, value) in cases {
        assert!((number(text) - value).abs() < 1e-15, "{text}: {}", number(text));
    }
}

#[test]
fn comparisons_and_logic_give_flags() {
    let cases = [
        ("1 < 2", true),
        ("2 <= 2", true),
        ("2 > 2", false),
        ("2 >= 3", false),
        ("2 == 2", true),
        ("2 != 2", false),
        ("not 1 < 2", false),
        ("not not 1", true),
        ("1 < 2 and 2 < 1 or 3 > 2", true),
        ("1 > 2 or 2 > 1 and 3 > 2", true),
        ("1 > 2 and (2 > 1 or 3 > 2)", false),
        ("1 and 2", true),
        ("0 or 0", false),
        ("true and not false", true),
        ("if(2 > 1, 1 < 2, 1 > 2)", true),
    ];
    for (text, value) in cases {
        assert_eq!(evaluate(text, &Names::default()), Ok(Quantity::Flag(value)), "{text}");
    }
    assert_eq!(number("(1 < 2) + (2 < 3)*3"), 4.0);
    assert_eq!(number("if(1 < 2, 5, 6)"), 5.0);
    assert_eq!(number("if(0, 5, 6)"), 6.0);
}

#[test]
fn units_are_the_nearest_doubles() {
    let cases = [
        ("9 mm", 0.009),
        ("12 mm", 0.012),
        ("60 deg", PI / 3.0),
        ("180 deg", PI),
        ("1 rev", 2.0 * PI),
        ("3000 rpm", 3000.0 * PI / 30.0),
        ("200 N/mm", 200_000.0),
        ("2 kg*m^2", 2.0),
        ("5 g*cm^2", 5e-7),
        ("3 m/s^2", 3.0),
        ("36 km/h", 10.0),
        ("1 kg*m/s^2", 1.0),
        ("2 mm^-1", 2000.0),
        ("5 Nmm/deg", 5e-3 * 180.0 / PI),
        ("2*3 mm", 0.006),
        ("-5 mm", -0.005),
        ("1/(2 mm)", 500.0),
        ("(1/2)*1 mm", 0.0005),
        ("4 s*2 s", 8.0),
        ("5 min", 300.0),
        ("2 m*min(3, 4)", 6.0),
        ("2 m*3", 6.0),
        ("10 mm^2*2", 2e-5),
        ("(2 mm)^2", 4e-6),
        ("1 in", 0.0254),
        ("1 lbf/in^2 - 1 psi", 0.0),
    ];
    for (text, value) in cases {
        let found = number(text);
        assert!((found - value).abs() <= f64::EPSILON * value.abs(), "{text}: {found:?} {value:?}");
    }
    assert_eq!(number("9 mm"), 0.009);
    assert_eq!(number("180 deg"), PI);
    assert_eq!(number("36 km/h"), 10.0);
}

#[test]
fn a_unit_does_not_hide_names_that_follow() {
    let names = Names::default().number("m", 3.0).number("load", 2.0);
    assert_eq!(evaluate("5 kg*load", &names), Ok(Quantity::Number(10.0)));
    assert_eq!(evaluate("2*m", &names), Ok(Quantity::Number(6.0)));
    assert_eq!(evaluate("2 m*load + m", &names), Ok(Quantity::Number(7.0)));
    assert_eq!(evaluate("(5 kg)*m", &names), Ok(Quantity::Number(15.0)));
    assert_eq!(evaluate("5 m", &names), Ok(Quantity::Number(5.0)));
}

#[test]
fn functions_give_their_values() {
    let cases = [
        ("atan2(1, -1)", 0.75 * PI),
        ("log(exp(2))", 2.0),
        ("log10(1000)", 3.0),
        ("hypot(3, 4)", 5.0),
        ("hypot(2, 3, 6)", 7.0),
        ("min(3, 1, 2)", 1.0),
        ("max(3, 1, 4, 2)", 4.0),
        ("sign(-3) + sign(0) + sign(2)*10", 9.0),
        ("floor(-1.5) + ceil(1.5)*10 + round(2.5)*100", 318.0),
        ("clamp(5, 0, 3) + clamp(-1, 0, 3) + clamp(2, 0, 3)", 5.0),
        ("step(0.5, 0, 2, 1, 4)", 3.0),
        ("step(-1, 0, 2, 1, 4) + step(2, 0, 2, 1, 4)", 6.0),
        ("smoothstep(0.5, 0, 1)", 0.5),
        ("smoothstep(1.25, 1, 2)", 0.103515625),
        ("pulse(1, 1, 2) + pulse(2.9, 1, 2) + pulse(3, 1, 2)", 2.0),
        ("abs(-2) + sqrt(16)", 6.0),
        ("sinh(1)^2 - cosh(1)^2", -1.0),
        ("(-8)^3", -512.0),
        ("0^0", 1.0),
        ("2*pi", 2.0 * PI),
    ];
    for (text, value) in cases {
        let found = number(text);
        assert!((found - value).abs() <= 1e-15 * value.abs().max(1.0), "{text}: {found:?} {value:?}");
    }
    assert_eq!(number("log10(1000)"), 3.0);
    assert_eq!(number("-inf"), f64::NEG_INFINITY);
}

#[test]
fn vectors_have_their_algebra() {
    let names = Names::default().vector("A", &[1.0, 2.0]).vector("B", &[4.0, 6.0]);
    let cases = [
        ("A + B", vector(&[5.0, 8.0])),
        ("B - A", vector(&[3.0, 4.0])),
        ("-A", vector(&[-1.0, -2.0])),
        ("2*A", vector(&[2.0, 4.0])),
        ("A*2", vector(&[2.0, 4.0])),
        ("A/2", vector(&[0.5, 1.0])),
        ("[A.x, B.y]", vector(&[1.0, 6.0])),
        ("mid(A, B)", vector(&[2.5, 4.0])),
        ("lerp(A, B, 2)", vector(&[7.0, 10.0])),
        ("unit(B - A)", vector(&[0.6, 0.8])),
        ("if(1 > 2, A, B)", vector(&[4.0, 6.0])),
        ("polar(2, 0)", vector(&[2.0, 0.0])),
        ("dist(A, B)", Quantity::Number(5.0)),
        ("norm(B - A)", Quantity::Number(5.0)),
        ("dot(A, B)", Quantity::Number(16.0)),
        ("cross(A, B)", Quantity::Number(-2.0)),
        ("angle(A, A + [0, 3])", Quantity::Number(PI / 2.0)),
        ("(A + B).y", Quantity::Number(8.0)),
        ("mid(A, B).x", Quantity::Number(2.5)),
        ("[3, 4].y", Quantity::Number(4.0)),
    ];
    for (text, value) in cases {
        assert_eq!(evaluate(text, &names), Ok(value), "{text}");
    }
    let Ok(Quantity::Vector { v, n: 2 }) = evaluate("rotate(A, 90 deg)", &names) else { panic!() };
    assert!((v[0] + 2.0).abs() < 1e-15 && (v[1] - 1.0).abs() < 1e-15);
}

#[test]
fn vectors_in_space_turn_about_an_axis_of_any_length() {
    let spatial = |text: &str| Expr::parse(text).unwrap().evaluate(&Names::default(), false).unwrap();
    assert_eq!(spatial("cross([1, 0, 0], [0, 1, 0])"), vector(&[0.0, 0.0, 1.0]));
    let Quantity::Vector { v, n: 3 } = spatial("rotate([1, 2, 3], [0, 0, 5], 90 deg)") else { panic!() };
    for (found, value) in v.iter().zip([-2.0, 1.0, 3.0]) {
        assert!((found - value).abs() < 1e-15);
    }
    let Quantity::Vector { v, .. } = spatial("rotate([1, 0, 0], [1, 1, 1], 120 deg)") else { panic!() };
    for (found, value) in v.iter().zip([0.0, 1.0, 0.0]) {
        assert!((found - value).abs() < 1e-15);
    }
}

/// The four-bar of docs/model-file.md: C = (0.4958, 0.2309).
#[test]
fn meet_is_on_the_left() {
    let names = Names::default().vector("D", &[0.4, 0.0]);
    let meet = evaluate("meet(polar(0.2, 60 deg), 0.4, D, 0.25)", &names);
    let Ok(Quantity::Vector { v, .. }) = meet else { panic!("{meet:?}") };
    assert!((v[0] - 0.4958).abs() < 5e-5 && (v[1] - 0.2309).abs() < 5e-5, "{v:?}");
    assert_eq!(evaluate("meet([0, 0], 5, [6, 0], 5)", &names), Ok(vector(&[3.0, 4.0])));
    assert_eq!(evaluate("meet([6, 0], 5, [0, 0], 5)", &names), Ok(vector(&[3.0, -4.0])));
}

/// Lengths that just reach give the point in line, whatever rounding does to the distance.
#[test]
fn meet_allows_the_stretched_position() {
    for k in 1..200 {
        let (c, s) = (0.1 * f64::from(k)).sin_cos();
        let text = format!("meet([0, 0], 0.3, [{:?}, {:?}], 0.4)", 0.7 * s, 0.7 * c);
        let Ok(Quantity::Vector { v, .. }) = evaluate(&text, &Names::default()) else { panic!("{text}") };
        assert!((v[0] - 0.3 * s).hypot(v[1] - 0.3 * c) < 1e-7, "{text}");
    }
}

#[test]
fn names_lead_inside() {
    let names = Names::default()
        .vector("down", &[0.0, -1.0])
        .with("left.width", Lookup::Value(Quantity::Number(2.0)))
        .with("flag", Lookup::Value(Quantity::Flag(true)));
    assert_eq!(evaluate("down.y", &names), Ok(Quantity::Number(-1.0)));
    assert_eq!(evaluate("left.width*2", &names), Ok(Quantity::Number(4.0)));
    assert_eq!(evaluate("flag", &names), Ok(Quantity::Flag(true)));
    assert_eq!(evaluate("if(flag, 1, 2)", &names), Ok(Quantity::Number(1.0)));
}

#[test]
fn functions_of_the_file_take_numbers_and_vectors() {
    let names = Names::default()
        .number("T", 2.0)
        .function("ramp(x)", "if(x < T, x/T, 1)")
        .function("twice(t)", "2*t")
        .function("quad(x)", "twice(twice(x))")
        .function("flip(v)", "[v.y, -v.x]")
        .function("across(v, s)", "s*flip(v)");
    assert_eq!(evaluate("ramp(1) + ramp(5)", &names), Ok(Quantity::Number(1.5)));
    assert_eq!(evaluate("quad(3)", &names), Ok(Quantity::Number(12.0)));
    assert_eq!(evaluate("across([1, 2], 3)", &names), Ok(vector(&[6.0, -3.0])));
}

#[test]
fn a_side_of_if_that_is_not_taken_may_be_impossible() {
    let names = Names::default().number("n", 0.0).number("x", -1.0);
    assert_eq!(evaluate("if(n > 0, 1/n, 0)", &names), Ok(Quantity::Number(0.0)));
    assert_eq!(evaluate("n > 0 and 1/n > 2", &names), Ok(Quantity::Flag(false)));
    assert!(evaluate("if(n > 0, 0, sqrt(x))", &names).is_err());
}

#[test]
fn paths_and_calls_are_listed_with_their_places() {
    let expr = Expr::parse("f(a.b, (c)) + 2 kg*m - max(a.b, d.x).x").unwrap();
    let paths: Vec<_> = expr.paths().into_iter().map(|(p, at)| (p, at.start)).collect();
    let expected = [("a.b", 2), ("c", 8), ("a.b", 27), ("d.x", 32)].map(|(p, at)| (p.to_owned(), at));
    assert_eq!(paths, expected);
    let calls: Vec<_> = expr.calls().into_iter().map(|(p, _)| p).collect();
    assert_eq!(calls, ["f", "max"]);
}

#[test]
fn a_quantity_prints_as_an_expression_of_itself() {
    let values = [
        Quantity::Number(0.1 + 0.2),
        Quantity::Number(-1.5e-300),
        Quantity::Number(1e22),
        Quantity::Number(f64::NEG_INFINITY),
        Quantity::Flag(true),
        vector(&[1.0 / 3.0, -2.0]),
        vector(&[1.0 / 3.0, -2.0, 5e-324]),
    ];
    for value in values {
        assert_eq!(evaluate(&value.to_string(), &Names::default()), Ok(value), "{value}");
    }
}

#[test]
fn signatures_name_the_arguments() {
    let body = Expr::parse("1").unwrap();
    let function = FileFunction::new(" bump ( x , w ) ", body.clone()).unwrap();
    assert_eq!((function.name.as_str(), function.arguments.join(" ")), ("bump", "x w".into()));
    for wrong in
        ["bump", "bump()", "bump(x", "bump(x, x)", "bump(2)", "a.b(x)", "sin(x)", "f(pi)", "f(x) y", ""]
    {
        assert!(FileFunction::new(wrong, body.clone()).is_err(), "{wrong}");
    }
}
