//! Curves through points.

use sarrus_math::{Jet, Real};
use sarrus_model::tables::{Curve, CurveError, Interpolation, Outside};

fn curve(points: &[[f64; 2]], how: Interpolation, outside: Outside) -> Curve {
    let (x, y) = points.iter().map(|p| (p[0], p[1])).unzip();
    Curve::new("f", x, y, how, outside).unwrap()
}

fn sampled(f: impl Fn(f64) -> f64, x: &[f64], outside: Outside) -> Curve {
    Curve::new("f", x.to_vec(), x.iter().map(|x| f(*x)).collect(), Interpolation::Cubic, outside).unwrap()
}

#[test]
fn linear_tables_join_points_by_lines() {
    let f = curve(&[[0.0, 1.0], [1.0, 3.0], [3.0, -1.0]], Interpolation::Linear, Outside::Hold);
    for (x, y) in [(0.0, 1.0), (0.5, 2.0), (1.0, 3.0), (2.0, 1.0), (3.0, -1.0), (-1.0, 1.0), (9.0, -1.0)] {
        assert_eq!(f.eval(x), y, "{x}");
    }
    assert_eq!(f.eval(Jet::<4>::variable(2.0)).c, [1.0, -2.0, 0.0, 0.0]);
    assert_eq!(f.eval(Jet::<4>::variable(5.0)).c, [-1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn step_tables_keep_the_last_value_passed() {
    for outside in [Outside::Hold, Outside::Extend] {
        let f = curve(&[[0.0, 1.0], [1.0, 3.0], [3.0, -1.0]], Interpolation::Step, outside);
        for (x, y) in [(-1.0, 1.0), (0.0, 1.0), (0.9, 1.0), (1.0, 3.0), (2.9, 3.0), (3.0, -1.0), (7.0, -1.0)]
        {
            assert_eq!(f.eval(x), y, "{x}");
        }
        assert_eq!(f.eval(Jet::<3>::variable(2.0)).c, [3.0, 0.0, 0.0]);
    }
}

/// The not-a-knot spline is exact for cubics, on any spacing and from four points on.
#[test]
fn cubic_tables_reproduce_cubics_with_all_derivatives() {
    let f = |x: f64| 2.0 - x + 0.5 * x * x - 0.25 * x * x * x;
    for x in [&[0.0, 0.1, 0.5, 2.0][..], &[-1.0, 0.0, 0.3, 0.4, 1.0, 1.5, 4.0][..]] {
        let spline = sampled(f, x, Outside::Extend);
        for k in 0..=40 {
            let at = x[0] + (x[x.len() - 1] - x[0]) * f64::from(k) / 40.0;
            let jet = spline.eval(Jet::<4>::variable(at));
            let exact = [f(at), -1.0 + at - 0.75 * at * at, 1.0 - 1.5 * at, -1.5];
            for order in 0..4 {
                assert!((jet.derivative(order) - exact[order]).abs() < 1e-11, "{at} {order}");
            }
        }
    }
}

#[test]
fn cubic_tables_of_few_points_are_the_parabola_and_the_line() {
    let parabola = sampled(|x| 1.0 + x * x, &[0.0, 1.0, 3.0], Outside::Extend);
    for x in [0.0, 0.5, 2.0, 3.0] {
        assert!((parabola.eval(x) - (1.0 + x * x)).abs() < 1e-14, "{x}");
    }
    let line = sampled(|x| 3.0 * x - 1.0, &[1.0, 2.0], Outside::Extend);
    for x in [-3.0, 1.0, 1.7, 5.0] {
        assert!((line.eval(x) - (3.0 * x - 1.0)).abs() < 1e-14, "{x}");
    }
}

/// Value, slope and curvature agree from both sides of every knot.
#[test]
fn cubic_tables_are_twice_continuously_differentiable() {
    let x: Vec<f64> = (0..12).map(|k| f64::from(k) + 0.3 * f64::from(k * k % 5)).collect();
    let mut y: Vec<f64> = (0..12).map(|k| f64::from(k * 7 % 11)).collect();
    y[11] = y[0];
    for outside in [Outside::Hold, Outside::Repeat] {
        let spline = Curve::new("f", x.clone(), y.clone(), Interpolation::Cubic, outside).unwrap();
        for k in 1..11 {
            let h = 1e-9;
            let before = spline.eval(Jet::<4>::variable(x[k] - h));
            let after = spline.eval(Jet::<4>::variable(x[k]));
            assert!((after.value() - y[k]).abs() < 1e-12);
            for order in 0..3 {
                // what the next derivative makes of the distance h
                let slack = 2.0 * h * before.derivative(order + 1).abs() + 1e-9;
                let jump = (before.derivative(order) - after.derivative(order)).abs();
                assert!(jump < slack, "{outside:?} {k} {order}: {jump}");
            }
            let third = [before.derivative(3), after.derivative(3)];
            let smooth = (third[0] - third[1]).abs() < 1e-6 * third[0].abs();
            assert_eq!(smooth, outside == Outside::Hold && (k == 1 || k == 10), "{outside:?} {k}: {third:?}");
        }
    }
}

/// A periodic spline through n points of a sine errs by h⁴·5/384 at most, and closes with its curvature.
#[test]
fn periodic_tables_repeat_smoothly() {
    let n = 24;
    let h = std::f64::consts::TAU / f64::from(n);
    let x: Vec<f64> = (0..=n).map(|k| 0.5 + h * f64::from(k)).collect();
    let spline = sampled(f64::sin, &x, Outside::Repeat);
    for k in -100..200 {
        let at = 0.1 * f64::from(k);
        assert!((spline.eval(at) - at.sin()).abs() < h.powi(4) * 5.0 / 384.0, "{at}");
    }
    for rotation in [-2.0, 0.0, 1.0] {
        let at = 0.5 + rotation * std::f64::consts::TAU;
        let (before, after) =
            (spline.eval(Jet::<3>::variable(at - 1e-9)), spline.eval(Jet::<3>::variable(at + 1e-9)));
        for order in 0..3 {
            assert!((before.derivative(order) - after.derivative(order)).abs() < 1e-7, "{order}");
        }
    }
    let two = curve(&[[0.0, 1.0], [0.4, 3.0], [1.0, 1.0]], Interpolation::Cubic, Outside::Repeat);
    for at in [0.0, 0.4] {
        let (before, after) =
            (two.eval(Jet::<3>::variable(at - 1e-9)), two.eval(Jet::<3>::variable(at + 1e-9)));
        for order in 0..3 {
            assert!((before.derivative(order) - after.derivative(order)).abs() < 1e-5, "{at} {order}");
        }
    }
    let saw = curve(&[[0.0, 0.0], [1.0, 2.0], [4.0, 0.0]], Interpolation::Linear, Outside::Repeat);
    assert_eq!((saw.eval(4.5), saw.eval(-3.0), saw.eval(8.0)), (1.0, 2.0, 0.0));
}

#[test]
fn outside_is_what_was_asked_for() {
    let points = [[0.0, 0.0], [1.0, 1.0], [2.0, 8.0], [3.0, 27.0]];
    let how = Interpolation::Cubic;
    assert_eq!(curve(&points, how, Outside::Hold).eval(5.0), 27.0);
    assert!((curve(&points, how, Outside::Extend).eval(5.0) - (27.0 + 2.0 * 27.0)).abs() < 1e-10);
    assert!(curve(&points, how, Outside::Extend).eval(-1.0).abs() < 1e-12);
    assert!(curve(&points, how, Outside::Error).eval(3.0 + 1e-9).is_nan());
    assert!((curve(&points, how, Outside::Error).eval(3.0) - 27.0).abs() < 1e-12);
    for outside in [Outside::Hold, Outside::Extend, Outside::Error] {
        assert!(curve(&points, how, outside).eval(f64::NAN).is_nan());
    }
}

#[test]
fn points_that_make_no_curve_are_refused() {
    let new = |x: &[f64], y: &[f64], outside| {
        Curve::new("f", x.to_vec(), y.to_vec(), Interpolation::Cubic, outside).map(|_| ())
    };
    let hold = Outside::Hold;
    assert_eq!(new(&[0.0, 1.0], &[0.0], hold), Err(CurveError::Lengths { x: 2, y: 1 }));
    assert_eq!(new(&[0.0], &[0.0], hold), Err(CurveError::TooFew { count: 1 }));
    assert_eq!(new(&[0.0, f64::NAN], &[0.0, 1.0], hold), Err(CurveError::NotFinite { point: 2 }));
    assert_eq!(new(&[0.0, 1e-320, 1.0], &[0.0, 1e300, 0.0], hold), Err(CurveError::NotFinite { point: 1 }));
    let back = CurveError::NotIncreasing { point: 3, x: 1.0, before: 1.0 };
    assert_eq!(new(&[0.0, 1.0, 1.0], &[0.0, 1.0, 2.0], hold), Err(back));
    let open = CurveError::NotClosed { first: 0.0, last: 1.0 };
    assert_eq!(new(&[0.0, 1.0], &[0.0, 1.0], Outside::Repeat), Err(open));
}
