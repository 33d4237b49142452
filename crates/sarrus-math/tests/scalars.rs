//! Every function of `Real`: its derivatives against closed forms, its Taylor series against its values, and the
//! scalars against each other.

use sarrus_math::{Dual, Jet, Real};

/// One function, in each scalar the tests use.
struct Function {
    name: &'static str,
    at: &'static [f64],
    /// Distance from the points in `at` to the nearest singularity in the complex plane, at least.
    radius: f64,
    plain: fn(f64) -> f64,
    dual: fn(Dual<2>) -> Dual<2>,
    dual3: fn(Dual3) -> Dual3,
    jet: fn(Jet<14>) -> Jet<14>,
    dual_jet: fn(Dual<2, Jet<4>>) -> Dual<2, Jet<4>>,
    /// First, second and third derivatives.
    closed: fn(f64) -> [f64; 3],
}

type Dual3 = Dual<1, Dual<1, Dual<1>>>;

macro_rules! function {
    ($name:literal, $at:expr, $radius:expr, |$x:ident| $f:expr, |$y:ident| $closed:expr) => {{
        fn f<R: Real>($x: R) -> R {
            $f
        }
        Function {
            name: $name,
            at: &$at,
            radius: $radius,
            plain: f,
            dual: f,
            dual3: f,
            jet: f,
            dual_jet: f,
            closed: |$y| $closed,
        }
    }};
}

fn constant<R: Real>(x: f64) -> R {
    R::from_f64(x)
}

fn functions() -> Vec<Function> {
    vec![
        function!("sin", [-7.0, 0.0, 0.3, 2.0], 9.0, |x| x.sin(), |x| [x.cos(), -x.sin(), -x.cos()]),
        function!("cos", [-7.0, 0.0, 0.3, 2.0], 9.0, |x| x.cos(), |x| [-x.sin(), -x.cos(), x.sin()]),
        function!("tan", [-1.0, 0.0, 0.7, 2.5], 0.5, |x| x.tan(), |x| {
            let t = x.tan();
            let g = 1.0 + t * t;
            [g, 2.0 * t * g, 2.0 * g * (1.0 + 3.0 * t * t)]
        }),
        function!("exp", [-3.0, 0.0, 1.5], 9.0, |x| x.exp(), |x| [x.exp(); 3]),
        function!("ln", [0.6, 1.0, 30.0], 0.6, |x| x.ln(), |x| {
            [1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x)]
        }),
        function!("sqrt", [0.6, 1.0, 30.0], 0.6, |x| x.sqrt(), |x| {
            let r = x.sqrt();
            [0.5 / r, -0.25 / (x * r), 0.375 / (x * x * r)]
        }),
        function!("square", [-2.0, 0.0, 3.0], 9.0, |x| x.powi(2), |x| [2.0 * x, 2.0, 0.0]),
        function!("fifth power", [-2.0, 0.0, 0.5], 9.0, |x| x.powi(5), |x| {
            [5.0 * x.powi(4), 20.0 * x.powi(3), 60.0 * x.powi(2)]
        }),
        function!("zeroth power", [-2.0, 0.0, 0.5], 9.0, |x| x.powi(0), |_x| [0.0; 3]),
        function!("first power", [-2.0, 0.0, 0.5], 9.0, |x| x.powi(1), |_x| [1.0, 0.0, 0.0]),
        function!("inverse", [-2.0, 0.8], 0.8, |x| x.powi(-1), |x| {
            [-1.0 / x.powi(2), 2.0 / x.powi(3), -6.0 / x.powi(4)]
        }),
        function!("inverse cube", [-2.0, 0.8], 0.8, |x| x.powi(-3), |x| {
            [-3.0 * x.powi(-4), 12.0 * x.powi(-5), -60.0 * x.powi(-6)]
        }),
        function!("power 2.5", [0.8, 3.0], 0.8, |x| x.powf(constant(2.5)), |x| {
            [2.5 * x.powf(1.5), 3.75 * x.powf(0.5), 1.875 * x.powf(-0.5)]
        }),
        function!("power 3 of any base", [-1.5, 0.0, 2.0], 9.0, |x| x.powf(constant(3.0)), |x| {
            [3.0 * x * x, 6.0 * x, 6.0]
        }),
        function!("power of 2", [-1.0, 0.0, 2.0], 9.0, |x| R::powf(constant(2.0), x), |x| {
            let l = 2f64.ln();
            let f = 2f64.powf(x);
            [l * f, l * l * f, l * l * l * f]
        }),
        function!("x to the x", [0.7, 2.0], 0.7, |x| x.powf(x), |x| {
            let g = 1.0 + x.ln();
            let f = x.powf(x);
            [f * g, f * (g * g + 1.0 / x), f * (g * g * g + 3.0 * g / x - 1.0 / (x * x))]
        }),
        function!("atan", [-2.0, 0.0, 0.4], 1.0, |x| x.atan(), |x| {
            let g = 1.0 / (1.0 + x * x);
            [g, -2.0 * x * g * g, (6.0 * x * x - 2.0) * g * g * g]
        }),
        function!("asin", [-0.5, 0.0, 0.3], 0.5, |x| x.asin(), |x| {
            let g = (1.0 - x * x).powf(-0.5);
            [g, x * g.powi(3), (1.0 + 2.0 * x * x) * g.powi(5)]
        }),
        function!("acos", [-0.5, 0.0, 0.3], 0.5, |x| x.acos(), |x| {
            let g = (1.0 - x * x).powf(-0.5);
            [-g, -x * g.powi(3), -(1.0 + 2.0 * x * x) * g.powi(5)]
        }),
        function!("sinh", [-2.0, 0.0, 0.4], 9.0, |x| x.sinh_cosh().0, |x| { [x.cosh(), x.sinh(), x.cosh()] }),
        function!("cosh", [-2.0, 0.0, 0.4], 9.0, |x| x.sinh_cosh().1, |x| { [x.sinh(), x.cosh(), x.sinh()] }),
        function!("tanh", [-2.0, 0.0, 0.4, 5.0], 1.5, |x| x.tanh(), |x| {
            let (y, g) = (x.tanh(), 1.0 / x.cosh().powi(2));
            [g, -2.0 * y * g, g * (4.0 * y * y - 2.0 * g)]
        }),
        function!("abs", [-2.0, 0.4], 0.4, |x| x.abs(), |x| [x.signum(), 0.0, 0.0]),
        function!("quotient", [-0.6, 0.0, 2.0], 0.7, |x| x * x / (x + 1.4), |x| {
            let u = x + 1.4;
            [1.0 - 1.96 / (u * u), 3.92 / u.powi(3), -11.76 / u.powi(4)]
        }),
        function!("cubic", [-0.6, 0.0, 2.0], 9.0, |x| (x - 1.0) * (x * 2.0 + 1.0) * -x / 4.0, |x| {
            [(-6.0 * x * x + 2.0 * x + 1.0) / 4.0, (-12.0 * x + 2.0) / 4.0, -3.0]
        }),
    ]
}

#[track_caller]
fn near(what: &str, x: f64, a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what} at {x}: {a:e} instead of {b:e}");
}

#[test]
fn first_derivatives_are_the_closed_forms() {
    for f in functions() {
        for &x in f.at {
            let y = (f.dual)(Dual { v: x, d: [3.0, 0.0] });
            near(f.name, x, y.v, (f.plain)(x), 1e-15);
            near(f.name, x, y.d[0], 3.0 * (f.closed)(x)[0], 2e-15);
            assert_eq!(y.d[1], 0.0, "{}", f.name);
        }
    }
}

#[test]
fn third_derivatives_by_nested_duals_are_the_closed_forms() {
    for f in functions() {
        for &x in f.at {
            let inner = Dual::variable(Dual::variable(x, 0), 0);
            let y = (f.dual3)(Dual::variable(inner, 0));
            let expected = (f.closed)(x);
            near(f.name, x, y.d[0].v.v, expected[0], 1e-14);
            near(f.name, x, y.d[0].d[0].v, expected[1], 1e-14);
            near(f.name, x, y.d[0].d[0].d[0], expected[2], 1e-13);
        }
    }
}

#[test]
fn third_derivatives_of_jets_are_the_closed_forms() {
    for f in functions() {
        for &x in f.at {
            let y = (f.jet)(Jet::variable(x));
            let expected = (f.closed)(x);
            near(f.name, x, y.value(), (f.plain)(x), 1e-15);
            for k in 0..3 {
                near(f.name, x, y.derivative(k + 1), expected[k], 1e-14);
            }
        }
    }
}

/// The argument x + s/2 - s² is within `radius` of x for |s| < 0.59 radius (radius ≤ 2), so at s = 0.04 radius the first
/// coefficient left out, that of s¹⁴, counts for 0.07¹⁴ ≈ 1e-16 of the largest, times at most ~100 (third-order poles).
#[test]
fn jets_sum_to_the_function() {
    for f in functions() {
        for &x in f.at {
            let s = 0.04 * f.radius.min(2.0);
            let mut path = Jet::<14>::constant(x);
            path.c[1] = 0.5;
            path.c[2] = -1.0;
            let sum = (f.jet)(path).c.iter().rev().fold(0.0, |sum, c| sum * s + c);
            near(f.name, x, sum, (f.plain)(x + 0.5 * s - s * s), 3e-15);
        }
    }
}

/// d/da of f(a + b t + …) as a jet is the jet of f′; here against third derivatives:
/// ∂f/∂a = f′(a) + f″ b t + ½ f‴ b² t², and along b it is t times as much.
#[test]
fn gradients_of_jets_are_jets_of_gradients() {
    for f in functions() {
        for &x in f.at {
            let b = 0.7;
            let mut a = Dual::<2, Jet<4>>::constant(Jet::constant(x));
            a.v.c[1] = b;
            a.d = [Jet::constant(1.0), Jet::variable(0.0)];
            let y = (f.dual_jet)(a);
            let [d1, d2, d3] = (f.closed)(x);
            near(f.name, x, y.d[0].c[0], d1, 1e-14);
            near(f.name, x, y.d[0].c[1], d2 * b, 1e-14);
            near(f.name, x, y.d[0].c[2], d3 * b * b / 2.0, 1e-14);
            near(f.name, x, y.d[1].c[0], 0.0, 0.0);
            for k in 1..4 {
                near(f.name, x, y.d[1].c[k], y.d[0].c[k - 1], 1e-15);
            }
            near(f.name, x, y.v.c[3], d3 * b * b * b / 6.0, 1e-14);
        }
    }
}

/// The angle of (r cos φ, r sin φ) with φ = φ₀ + t, r = 2 + t/3 is φ in every quadrant and on the axes.
#[test]
fn atan2_follows_an_angle_around() {
    for i in -8..=8 {
        let phi0 = f64::from(i) * std::f64::consts::PI / 8.0;
        let phi = Jet::<5>::variable(phi0);
        let mut r = Jet::constant(2.0);
        r.c[1] = 1.0 / 3.0;
        let (s, c) = phi.sin_cos();
        let angle = (r * s).atan2(r * c);
        near("atan2", phi0, angle.c[0], phi0, 1e-15);
        near("atan2 rate", phi0, angle.c[1], 1.0, 1e-15);
        for k in 2..5 {
            near("atan2 higher", phi0, angle.c[k], 0.0, 1e-15);
        }

        let (y, x) = (Dual::<2>::variable(2.0 * phi0.sin(), 0), Dual::variable(2.0 * phi0.cos(), 1));
        let angle = y.atan2(x);
        near("atan2", phi0, angle.v, phi0, 1e-15);
        near("in y", phi0, angle.d[0], phi0.cos() / 2.0, 1e-15);
        near("in x", phi0, angle.d[1], -phi0.sin() / 2.0, 1e-15);
    }
}

#[test]
fn atan2_on_the_axes_is_exact() {
    use std::f64::consts::{FRAC_PI_2, PI};
    for (y, x, angle) in [(0.0, 1.0, 0.0), (2.0, 0.0, FRAC_PI_2), (0.0, -3.0, PI), (-1.0, 0.0, -FRAC_PI_2)] {
        let d = Dual::<2>::variable(y, 0).atan2(Dual::variable(x, 1));
        assert_eq!((d.v, d.d), (angle, [x / (x * x + y * y), -y / (x * x + y * y)]));
        let j = Jet::<3>::variable(y).atan2(Jet::constant(x));
        assert_eq!(j.c[..2], [angle, x / (x * x + y * y)]);
    }
    assert_eq!(Dual::<1>::from_f64(0.0).atan2(Dual::from_f64(0.0)), Dual::from_f64(0.0));
    assert_eq!(Jet::<3>::from_f64(0.0).atan2(Jet::from_f64(0.0)), Jet::from_f64(0.0));
}

/// A constant stays one where the slope is infinite or undefined.
#[test]
fn constants_have_no_derivative_at_singular_points() {
    fn constants<R: Real + PartialEq>() {
        let at = |f: fn(R) -> R, x: f64, y: f64| assert_eq!(f(R::from_f64(x)), R::from_f64(y), "at {x}");
        at(R::sqrt, 0.0, 0.0);
        at(R::ln, 0.0, f64::NEG_INFINITY);
        at(R::asin, 1.0, std::f64::consts::FRAC_PI_2);
        at(R::asin, -1.0, -std::f64::consts::FRAC_PI_2);
        at(R::acos, 1.0, 0.0);
        at(R::acos, -1.0, std::f64::consts::PI);
        at(R::abs, 0.0, 0.0);
        at(R::tanh, 800.0, 1.0);
        at(R::tanh, -800.0, -1.0);
        at(|x| x.powf(R::from_f64(0.5)), 0.0, 0.0);
        at(|x| x.powf(R::from_f64(2.5)), 0.0, 0.0);
        at(|x| x.powf(R::from_f64(0.0)), 0.0, 1.0);
        at(|x| x.powi(0), 0.0, 1.0);
    }
    constants::<f64>();
    constants::<Dual<2>>();
    constants::<Jet<4>>();
    constants::<Dual<2, Jet<4>>>();
}

#[test]
fn slopes_at_a_zero_base() {
    let x = Dual::<1>::variable(0.0, 0);
    assert_eq!(x.sqrt().d, [f64::INFINITY]);
    assert_eq!(x.powi(2).d, [0.0]);
    assert_eq!(x.powi(-1).v, f64::INFINITY);
    assert_eq!(x.powi(-1).d, [f64::NEG_INFINITY]);
    assert_eq!(x.powf(Dual::from_f64(1.0)).d, [1.0]);
    assert_eq!(x.powf(Dual::from_f64(1.5)).d, [0.0]);
    assert_eq!(Dual::<1>::from_f64(0.0).powf(Dual::variable(2.0, 0)).d, [0.0]);
    assert_eq!(x.powi(i32::MIN).v, f64::INFINITY);

    let t = Jet::<4>::variable(0.0);
    assert_eq!(t.sqrt().c, [0.0, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
    assert_eq!(t.powf(Jet::from_f64(1.5)).c, [0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!(t.powi(3).c, [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(t.powi(-1).c[0], f64::INFINITY);
    assert_eq!(t.powf(Jet::from_f64(-0.5)).c[0], f64::INFINITY);
}

/// √(9t² + 6t³) = 3t √(1 + ⅔t) = 3t + t² + …, and the next coefficient needs t⁴ of the radicand.
#[test]
fn roots_of_a_double_zero_expand_into_the_future() {
    let y = Jet::<4> { c: [0.0, 0.0, 9.0, 6.0] }.sqrt();
    assert_eq!(y.c[..3], [0.0, 3.0, 1.0]);
    assert!(y.c[3].is_nan());
    assert_eq!((-Jet::<3>::variable(0.0)).abs().c, [0.0, 1.0, 0.0]);
}

#[test]
fn exponential_of_the_sine() {
    let y = Jet::<8>::variable(0.0).sin().exp();
    let expected = [1.0, 1.0, 0.5, 0.0, -1.0 / 8.0, -1.0 / 15.0, -1.0 / 240.0, 1.0 / 90.0];
    for k in 0..8 {
        near("exp(sin t)", k as f64, y.c[k], expected[k], 1e-16);
    }
    assert_eq!(y.derivative(0), 1.0);
    near("fifth derivative", 0.0, y.derivative(5), -8.0, 1e-15);
}

#[test]
fn jets_come_from_derivatives_and_give_them_back() {
    let d = [2.0, -3.0, 5.0, 7.0, 11.0];
    let x = Jet::<5>::from_derivatives(&d);
    for k in 0..5 {
        near("derivative", k as f64, x.derivative(k), d[k], 1e-15);
    }
    assert_eq!(Jet::<2>::from_derivatives(&d).c, [2.0, -3.0]);
    assert_eq!(Jet::<4>::from_derivatives(&d[..1]), Jet::constant(2.0));
    assert_eq!(Jet::<1>::variable(4.0).c, [4.0]);
}

/// (1 + t)(1 - t) = 1 - t², also when a factor multiplies itself in place.
#[test]
fn products_are_cauchy_products() {
    let mut x = Jet::<3> { c: [1.0, 1.0, 0.0] };
    assert_eq!((x * Jet { c: [1.0, -1.0, 0.0] }).c, [1.0, 0.0, -1.0]);
    x *= x;
    assert_eq!(x.c, [1.0, 2.0, 1.0]);
    assert_eq!((x / Jet { c: [1.0, 1.0, 0.0] }).c, [1.0, 1.0, 0.0]);
    x -= Jet::variable(1.0);
    assert_eq!(x.c, [0.0, 1.0, 1.0]);
}

#[test]
fn only_exact_zeros_are_zero() {
    assert!(Dual::<2, Jet<2>>::from_f64(0.0).is_zero() && !Dual::<1>::variable(0.0, 0).is_zero());
    assert!(Jet::<2>::zero().is_zero() && !Jet::<2>::variable(0.0).is_zero() && !Jet::<2>::one().is_zero());
}

/// 1 - tanh² has no correct digit left here; sech² does.
#[test]
fn the_slope_of_tanh_keeps_its_digits_far_out() {
    let expected = 4.0 * (-40f64).exp();
    let slope = Dual::<1>::variable(20.0, 0).tanh().d[0];
    assert!((slope / expected - 1.0).abs() < 1e-14, "{slope:e}");
    let slope = Jet::<2>::variable(20.0).tanh().c[1];
    assert!((slope / expected - 1.0).abs() < 1e-14, "{slope:e}");
}
