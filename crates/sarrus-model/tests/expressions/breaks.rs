//! Times at which programs switch.

use super::*;
use sarrus_model::expr::{TimeShape, TimeSlot};

fn names() -> Names {
    Names::default()
        .table("ramp", &[[1.0, 0.0], [2.0, 1.0], [4.0, 0.0]], Interpolation::Linear, Outside::Hold)
        .table("wave", &[[0.0, 0.0], [0.5, 1.0], [2.0, 0.0]], Interpolation::Linear, Outside::Repeat)
}

/// Breaks of `text` from 0 to 10, where `t` is the time and `x` is not.
fn breaks(text: &str) -> (Vec<f64>, TimeShape) {
    let mut bind = |path: &str| Ok(Binding::Scalar(u32::from(path != "t")));
    let program = Expr::parse(text).unwrap().compile(&names(), &mut bind, true).unwrap().remove(0);
    let slot = |s: u32| if s == 0 { TimeSlot::Time } else { TimeSlot::Other };
    let mut breaks = Vec::new();
    let shape = program.breakpoints(&slot, 0.0, 10.0, &mut breaks);
    (breaks, shape)
}

/// Where the breaks should be, to a few units in the last place; what follows at once counts once.
fn check(text: &str, expected: &[f64]) {
    let (mut found, _) = breaks(text);
    found.dedup_by(|b, a| *b - *a < 1e-14 * *b);
    assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 4e-15 * expected, "{text}: {found} for {expected}");
    }
}

#[test]
fn affine_arguments_switch_at_exact_times() {
    check("smoothstep(t, 5, 5.2) - smoothstep(t, 5.5, 5.7)", &[5.0, 5.2, 5.5, 5.7]);
    check("step(t, 1, 0, 2, x)", &[1.0, 2.0]);
    check("x*pulse(t, 5, 1e-6)", &[5.0, 5.0 + 1e-6]);
    check("if(t < 1, x, 0)", &[1.0]);
    check("if(t >= 1 and 3 - t > 0, x, 0)", &[1.0, 3.0]);
    check("if(not (t == 1), x, 0)", &[1.0]);
    check("abs(2*t - 3)", &[1.5]);
    check("sign(1 - t/4)", &[4.0]);
    check("max(t - 2, 0) + min(t, 7, 9 - t)", &[2.0, 4.5, 7.0]);
    check("clamp(t, 1, 4)", &[1.0, 4.0]);
    check("ramp(t - 1)", &[2.0, 3.0, 5.0]);
    check("wave(t)", &[0.5, 2.0, 2.5, 4.0, 4.5, 6.0, 6.5, 8.0, 8.5]);
    check("floor(t/3)", &[3.0, 6.0, 9.0]);
    check("round(t/4)", &[2.0, 6.0]);
    check("t % 4", &[4.0, 8.0]);
}

#[test]
fn a_break_is_the_first_number_on_the_new_side() {
    assert_eq!(breaks("if(t < 1, 1, 0)").0, [1.0]);
    assert_eq!(breaks("if(t <= 1, 1, 0)").0, [1.0_f64.next_up()]);
    assert_eq!(breaks("sign(t - 1)").0, [1.0, 1.0_f64.next_up()]);
    assert_eq!(breaks("smoothstep(t, 0, 1)").0, [1.0]);
}

/// A short pulse in every period is found although no sample would meet it.
#[test]
fn switches_of_switches_are_exact_too() {
    let expected: Vec<f64> =
        (0..5).flat_map(|k| [0.0, 0.5, 0.5 + 1e-5].map(|x| 2.0 * k as f64 + x)).skip(1).collect();
    check("x*pulse(t % 2, 0.5, 1e-5)", &expected);
    check("max(abs(t - 5), 4)", &[1.0, 5.0, 9.0]);
}

#[test]
fn other_functions_of_time_are_sampled() {
    let pi = std::f64::consts::PI;
    check("abs(sin(t))", &[pi, 2.0 * pi, 3.0 * pi]);
    check("if(t^2 > 2, 1, 0)", &[2.0_f64.sqrt()]);
}

#[test]
fn only_time_breaks() {
    check("abs(x) + if(x < t, 1, 2) + smoothstep(t, x, 3) + sin(t)", &[]);
    check("3", &[]);
    assert_eq!(breaks("floor(1e9*t)").0.len(), 10_000);
    assert_eq!(breaks("2*t - floor(t)*t").1, TimeShape::Affine);
    assert_eq!(breaks("t^2").1, TimeShape::Smooth);
    assert_eq!(breaks("t*x").1, TimeShape::Other);
}
