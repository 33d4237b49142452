//! Derivatives to third order, as drivers and constraints need them.

use proptest::prelude::*;
use sarrus_math::{Dual, Jet, Real};
use sarrus_model::tables::{Interpolation, Outside};

use super::{Names, compile, program};

/// Value and three derivatives by nesting.
type Nested = Dual<1, Dual<1, Dual<1>>>;

fn nested(x: f64) -> Nested {
    let inner = Dual { v: Dual { v: x, d: [1.0] }, d: [Dual::<1>::from_f64(1.0)] };
    Dual { v: inner, d: [Dual::from_f64(1.0)] }
}

fn derivatives(x: Nested) -> [f64; 4] {
    [x.v.v.v, x.d[0].v.v, x.d[0].d[0].v, x.d[0].d[0].d[0]]
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Value and derivatives of `text` in `x`, by jets, agreeing with nested duals.
fn expand(text: &str, names: &Names, at: f64) -> [f64; 4] {
    let programs = compile(text, names, true).unwrap();
    let [program] = &programs[..] else { panic!("{text}") };
    let jet = program.eval(&|_| Jet::<4>::variable(at));
    let dual = derivatives(program.eval(&|_| nested(at)));
    let value = program.eval(&|_| at);
    let found = [0, 1, 2, 3].map(|k| jet.derivative(k));
    assert!(close(value, found[0], 1e-14), "{text} at {at}: {value} {found:?}");
    for k in 0..4 {
        assert!(close(found[k], dual[k], 1e-11), "{text} at {at}: {found:?} {dual:?}");
    }
    found
}

#[test]
fn every_function_has_its_closed_form() {
    for x in [0.3_f64, 0.55, 0.8] {
        let (s, c) = x.sin_cos();
        let (sh, ch) = (x.sinh(), x.cosh());
        let (t, th, e, l) = (x.tan(), x.tanh(), x.exp(), x.ln());
        let (p, r) = (1.0 + t * t, 1.0 / (1.0 - x * x).sqrt());
        let (q, u) = (1.0 + x * x, 1.0 - th * th);
        let (h, w) = ((x * x + 9.0).sqrt(), x.powf(x));
        let k = std::f64::consts::LN_2;
        // of 2 and x as y and x of a point
        let v = x * x + 4.0;
        let cases: &[(&str, [f64; 4])] = &[
            ("x", [x, 1.0, 0.0, 0.0]),
            ("-x + 2", [2.0 - x, -1.0, 0.0, 0.0]),
            ("sin(x)", [s, c, -s, -c]),
            ("cos(x)", [c, -s, -c, s]),
            ("tan(x)", [t, p, 2.0 * t * p, 2.0 * p * (1.0 + 3.0 * t * t)]),
            ("asin(x)", [x.asin(), r, x * r.powi(3), r.powi(3) + 3.0 * x * x * r.powi(5)]),
            ("acos(x)", [x.acos(), -r, -x * r.powi(3), -r.powi(3) - 3.0 * x * x * r.powi(5)]),
            ("atan(x)", [x.atan(), 1.0 / q, -2.0 * x / (q * q), (6.0 * x * x - 2.0) / q.powi(3)]),
            (
                "atan2(2, x)",
                [2f64.atan2(x), -2.0 / v, 4.0 * x / (v * v), 4.0 / (v * v) - 16.0 * x * x / v.powi(3)],
            ),
            ("sinh(x)", [sh, ch, sh, ch]),
            ("cosh(x)", [ch, sh, ch, sh]),
            ("tanh(x)", [th, u, -2.0 * th * u, u * (6.0 * th * th - 2.0)]),
            ("exp(x)", [e, e, e, e]),
            ("log(x)", [l, 1.0 / x, -1.0 / (x * x), 2.0 / x.powi(3)]),
            ("log10(x)*log(10)", [l, 1.0 / x, -1.0 / (x * x), 2.0 / x.powi(3)]),
            ("sqrt(x)", [x.sqrt(), 0.5 * x.powf(-0.5), -0.25 * x.powf(-1.5), 0.375 * x.powf(-2.5)]),
            ("1/x", [1.0 / x, -1.0 / (x * x), 2.0 / x.powi(3), -6.0 / x.powi(4)]),
            ("x/4", [x / 4.0, 0.25, 0.0, 0.0]),
            ("x^3", [x.powi(3), 3.0 * x * x, 6.0 * x, 6.0]),
            ("x^-2", [x.powi(-2), -2.0 * x.powi(-3), 6.0 * x.powi(-4), -24.0 * x.powi(-5)]),
            ("x^2.5", [x.powf(2.5), 2.5 * x.powf(1.5), 3.75 * x.sqrt(), 1.875 / x.sqrt()]),
            ("2^x", [2f64.powf(x), k * 2f64.powf(x), k * k * 2f64.powf(x), k.powi(3) * 2f64.powf(x)]),
            (
                "x^x",
                [
                    w,
                    w * (l + 1.0),
                    w * ((l + 1.0).powi(2) + 1.0 / x),
                    w * ((l + 1.0).powi(3) + 3.0 * (l + 1.0) / x - 1.0 / (x * x)),
                ],
            ),
            ("hypot(x, 3)", [h, x / h, 9.0 / h.powi(3), -27.0 * x / h.powi(5)]),
            ("norm([x, 3])", [h, x / h, 9.0 / h.powi(3), -27.0 * x / h.powi(5)]),
            ("dist([0, 3], [x, 0])", [h, x / h, 9.0 / h.powi(3), -27.0 * x / h.powi(5)]),
            (
                "unit([x, 3]).y",
                [3.0 / h, -3.0 * x / h.powi(3), 9.0 * x * x / h.powi(5) - 3.0 / h.powi(3), {
                    27.0 * x / h.powi(5) - 45.0 * x.powi(3) / h.powi(7)
                }],
            ),
            ("polar(2, x).y", [2.0 * s, 2.0 * c, -2.0 * s, -2.0 * c]),
            ("rotate([1, 0], x).x", [c, -s, -c, s]),
            ("angle([0, 0], polar(3, x))", [x, 1.0, 0.0, 0.0]),
            ("cross([1, 2], [3, x])", [x - 6.0, 1.0, 0.0, 0.0]),
            ("dot([x, 2], [x, x])", [x * x + 2.0 * x, 2.0 * x + 2.0, 2.0, 0.0]),
            ("lerp([0, 1], [4, 1], x^2).x", [4.0 * x * x, 8.0 * x, 8.0, 0.0]),
            ("mid([x, 0], [3*x, 0]).x", [2.0 * x, 2.0, 0.0, 0.0]),
            ("meet([0, 0], 5, [6*x, 0], 5).x", [3.0 * x, 3.0, 0.0, 0.0]),
            ("abs(-x^2)", [x * x, 2.0 * x, 2.0, 0.0]),
            ("sign(x) + floor(x) + ceil(x) + round(x/9)", [2.0, 0.0, 0.0, 0.0]),
            ("3*x % 0.2", [(3.0 * x) % 0.2, 3.0, 0.0, 0.0]),
            ("min(x^2, x, 7)", [x * x, 2.0 * x, 2.0, 0.0]),
            ("max(x^2, x, -7)", [x, 1.0, 0.0, 0.0]),
            ("clamp(x^2, 0, 2) + clamp(x, 2, 3)", [2.0 + x * x, 2.0 * x, 2.0, 0.0]),
            ("if(x < 1, x^2, x^3)", [x * x, 2.0 * x, 2.0, 0.0]),
            ("(x < 1) + (x >= 1 or x == x and not x != x)", [2.0, 0.0, 0.0, 0.0]),
            ("pulse(x, 0, 1)*x", [x, 1.0, 0.0, 0.0]),
            (
                "step(x, 0, 1, 2, 3)",
                [1.0 + 1.5 * x * x - 0.5 * x.powi(3), 3.0 * x - 1.5 * x * x, 3.0 - 3.0 * x, -3.0],
            ),
            (
                "smoothstep(x, 0, 1)",
                [
                    x.powi(3) * (10.0 - 15.0 * x + 6.0 * x * x),
                    30.0 * x * x * (1.0 - x).powi(2),
                    60.0 * x * (1.0 - 3.0 * x + 2.0 * x * x),
                    60.0 * (1.0 - 6.0 * x + 6.0 * x * x),
                ],
            ),
            ("smoothstep(x, 1, 2) + step(x, -1, 4, 0, 5)", [5.0, 0.0, 0.0, 0.0]),
        ];
        for (text, exact) in cases {
            let found = expand(text, &Names::default(), x);
            for k in 0..4 {
                assert!(close(found[k], exact[k], 1e-12), "{text} at {x}, order {k}: {found:?} {exact:?}");
            }
        }
    }
}

#[test]
fn tables_and_functions_are_differentiated_through() {
    let points: Vec<[f64; 2]> = (0..9).map(|k| f64::from(k) / 4.0).map(|x| [x, x * x * x]).collect();
    let names = Names::default()
        .table("cube", &points, Interpolation::Cubic, Outside::Error)
        .function("bump(x, w)", "exp(-(x/w)^2)");
    let x = 0.7_f64;
    let found = expand("cube(2*x)", &names, x);
    for (k, exact) in [8.0 * x.powi(3), 24.0 * x * x, 48.0 * x, 48.0].into_iter().enumerate() {
        assert!(close(found[k], exact, 1e-11), "{found:?}");
    }
    let (found, y) = (expand("bump(x, 2)", &names, x), (-x * x / 4.0).exp());
    let exact = [y, -x / 2.0 * y, (x * x / 4.0 - 0.5) * y, (0.75 * x - x.powi(3) / 8.0) * y];
    for k in 0..4 {
        assert!(close(found[k], exact[k], 1e-13), "{found:?}");
    }
}

/// Rodrigues in space against the closed form about z, all three components.
#[test]
fn a_turning_vector_has_its_velocity_and_acceleration() {
    let programs = compile("rotate([1, 0, 2], [0, 0, 3], 2*t)", &Names::default(), false).unwrap();
    let t = 0.4_f64;
    let (s, c) = (2.0 * t).sin_cos();
    let exact = [[c, -2.0 * s, -4.0 * c, 8.0 * s], [s, 2.0 * c, -4.0 * s, -8.0 * c], [2.0, 0.0, 0.0, 0.0]];
    for (program, exact) in programs.iter().zip(exact) {
        let jet = program.eval(&|_| Jet::<4>::variable(t));
        for k in 0..4 {
            assert!(close(jet.derivative(k), exact[k], 1e-14), "{program}: {jet:?}");
        }
    }
}

/// A gradient with respect to several slots at once: of r = |(x, y)| it is (x, y)/r.
#[test]
fn duals_give_gradients() {
    let r = program("hypot(x, y)");
    let at = |slot: u32| Dual::<2>::variable([3.0, 4.0][slot as usize - 1], slot as usize - 1);
    let [x, y] = r.eval(&at).d;
    assert!(close(x, 0.6, 1e-15) && close(y, 0.8, 1e-15));
}

/// Smooth functions of `x`, bounded enough to compare derivatives.
fn smooth() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => Just("x".to_owned()),
        1 => (-2.0..2.0f64).prop_map(|c| format!("{c:?}")),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| format!("({a} + {b})")),
            two.clone().prop_map(|(a, b)| format!("({a} - {b})")),
            two.clone().prop_map(|(a, b)| format!("sin({a})*{b}")),
            two.clone().prop_map(|(a, b)| format!("{a}/(3 + sin({b}))")),
            two.clone().prop_map(|(a, b)| format!("atan2({a}, 2 + cos({b}))")),
            two.clone().prop_map(|(a, b)| format!("hypot({a}, 2 + tanh({b}))")),
            two.clone().prop_map(|(a, b)| format!("(2 + sin({a}))^tanh({b})")),
            two.prop_map(|(a, b)| format!("rotate([{a}, 1], {b}).y")),
            inner.clone().prop_map(|a| format!("cos({a})")),
            inner.clone().prop_map(|a| format!("exp(sin({a}))")),
            inner.clone().prop_map(|a| format!("log(2 + cos({a}))")),
            inner.clone().prop_map(|a| format!("sqrt(2 + sin({a}))")),
            inner.clone().prop_map(|a| format!("asin(tanh({a})/2)")),
            inner.clone().prop_map(|a| format!("acos(sin({a})/2)")),
            inner.clone().prop_map(|a| format!("tan(atan({a})/2)")),
            inner.clone().prop_map(|a| format!("sinh(sin({a})) + cosh(cos({a}))")),
            inner.clone().prop_map(|a| format!("tanh({a})^3")),
            inner.prop_map(|a| format!("(1.5 + sin({a}))^-1.7")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Taylor recurrences and nested chain rules share no code beyond the operations themselves; a central
    /// difference ties both to the values.
    #[test]
    fn jets_duals_and_differences_agree(text in smooth(), x in -1.0..1.0f64) {
        let p = program(&text);
        let jet = p.eval(&|_| Jet::<4>::variable(x));
        let dual = derivatives(p.eval(&|_| nested(x)));
        let size = (0..4).fold(1.0, |m: f64, k| m.max(dual[k].abs()));
        prop_assert!(jet.c[0] == p.eval(&|_| x) || close(jet.c[0], p.eval(&|_| x), 1e-13));
        for k in 0..4 {
            prop_assert!((jet.derivative(k) - dual[k]).abs() <= 1e-10 * size, "{jet:?} {dual:?}");
        }
        // error h²f‴/6 and roundoff ε|f|/h
        let h = 1e-5;
        let slope = (p.eval(&|_| x + h) - p.eval(&|_| x - h)) / (2.0 * h);
        prop_assert!((slope - dual[1]).abs() <= 1e-5 * size, "{slope} {dual:?}");
    }
}
