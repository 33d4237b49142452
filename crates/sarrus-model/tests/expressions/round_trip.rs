//! Any text is parsed or refused; any program prints as text that means the same.

use proptest::prelude::*;
use sarrus_model::expr::Expr;
use sarrus_model::tables::{Interpolation, Outside};

use super::{Names, bind, compile};

fn names() -> Names {
    Names::default()
        .number("k", -1.5)
        .number("zero", 0.0)
        .vector("v", &[1.0, -2.0])
        .function("bump(x, w)", "exp(-(x/w)^2)")
        .table(
            "lift",
            &[[0.0, 0.0], [1.0, 2.0], [2.5, -1.0], [4.0, 0.0]],
            Interpolation::Cubic,
            Outside::Repeat,
        )
}

const OPERATORS: &[&str] =
    &["+", "-", "*", "/", " % ", "^", " < ", " <= ", " > ", " == ", " != ", " and ", " or "];
const FUNCTIONS: &[&str] =
    &["sin", "sqrt", "abs", "sign", "floor", "exp", "log10", "lift", "-", "not ", "tanh", "round", "acos"];
const PAIRS: &[&str] = &["atan2", "min", "max", "hypot", "bump"];
const TRIPLES: &[&str] = &["if", "clamp", "smoothstep", "pulse"];

/// Anything that the grammar allows, meaningful or not.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("t".to_owned()),
        Just("x".to_owned()),
        Just("p.x".to_owned()),
        Just("k".to_owned()),
        Just("zero".to_owned()),
        Just("inf".to_owned()),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| format!("{:?}", x.abs())),
        (0..9u8).prop_map(|n| n.to_string()),
        Just("30 deg".to_owned()),
    ];
    leaf.prop_recursive(6, 40, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            4 => (two.clone(), prop::sample::select(OPERATORS))
                .prop_map(|((a, b), o)| format!("({a}){o}({b})")),
            2 => (two.clone(), prop::sample::select(OPERATORS)).prop_map(|((a, b), o)| format!("{a}{o}{b}")),
            2 => (inner.clone(), prop::sample::select(FUNCTIONS)).prop_map(|(a, f)| format!("({f}({a}))")),
            1 => (two.clone(), prop::sample::select(PAIRS)).prop_map(|((a, b), f)| format!("{f}({a}, {b})")),
            1 => (two.clone(), inner.clone(), prop::sample::select(TRIPLES))
                .prop_map(|((a, b), c, f)| format!("{f}({a}, {b}, {c})")),
            1 => two.clone().prop_map(|(a, b)| format!("rotate([{a}, {b}], t).x")),
            1 => two.prop_map(|(a, b)| format!("dot([{a}, 1], unit([{b}, 2]))")),
        ]
    })
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a == b || (a.is_nan() && b.is_nan())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,60}") {
        check_text(&text);
    }

    #[test]
    fn text_of_the_right_characters_never_panics(
        text in "([0-9.]{1,4}| |mm|kg|m|x|t|p|\\.x|sin\\(|if\\(|lift\\(|meet\\(|\\(|\\)|\\[|\\]|,|[-+*/%^]|<|==|and|or|not|e9|inf){0,24}"
    ) {
        check_text(&text);
    }

    #[test]
    fn a_program_prints_as_text_with_the_same_values(text in expression(), t in -3.0..3.0f64, x in -3.0..3.0f64) {
        let Ok(programs) = compile(&text, &names(), true) else { return Ok(()) };
        let read = |slot: u32| [t, x, 0.3, -0.7][slot as usize % 4];
        for program in programs {
            let printed = program.to_string();
            let reparsed = compile(&printed, &names(), true);
            prop_assert!(reparsed.is_ok(), "{text} -> {printed}: {reparsed:?}");
            let again = &reparsed.unwrap()[0];
            let (a, b) = (program.eval(&read), again.eval(&read));
            prop_assert!(same(a, b), "{text} -> {printed}: {a:?} {b:?}");
            prop_assert_eq!(again.to_string(), printed);
        }
    }
}

/// Parses, evaluates and compiles; errors must point into the text.
fn check_text(text: &str) {
    let result = Expr::parse(text).and_then(|expr| {
        let _ = (expr.paths(), expr.calls());
        for planar in [true, false] {
            if let Err(error) = expr.evaluate(&names(), planar) {
                assert!(text.get(error.at.clone()).is_some(), "{text:?}: {error:?}");
            }
        }
        expr.compile(&names(), &mut bind, true)
    });
    match result {
        Ok(programs) => programs.iter().for_each(|p| {
            let _ = (p.eval(&|_| 0.5), p.to_string(), p.fault(&|_| 0.0));
        }),
        Err(error) => assert!(text.get(error.at.clone()).is_some(), "{text:?}: {error:?}"),
    }
}
