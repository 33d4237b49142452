//! Rest in front of forces that hold a mechanism over a short way: steps of statics are resolved along their paths. The oracle is the first balance
//! of the forces on the way, by bisection.

use sarrus::analysis::{Equilibrium, EquilibriumOptions, SetupError, equilibrium_with};
use sarrus::model::functions::{Closure, Functions};
use sarrus::prelude::*;
use std::sync::Arc;

fn rest_with(text: &str, load_steps: Option<u32>, functions: Functions) -> Result<Equilibrium, SetupError> {
    let options = LoadOptions { functions, ..LoadOptions::default() };
    let model = load_str("test.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    equilibrium_with(&model, &system, &EquilibriumOptions { load_steps }, &mut |_| {})
}

fn rest(text: &str, load_steps: Option<u32>) -> Result<Equilibrium, SetupError> {
    rest_with(text, load_steps, Functions::default())
}

/// `name` at rest, which must be stable where that is reported.
fn value(text: &str, load_steps: Option<u32>, name: &str) -> f64 {
    let found = rest(text, load_steps).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_ne!(found.report.stable, Some(false), "{text}");
    assert!(found.report.residual <= 1e-7, "{} left\n{text}", found.report.residual);
    found.report.values[name]
}

/// The first place where `force` vanishes on the way that it drives from `start`, seen in steps of `step`.
fn first_balance(start: f64, step: f64, force: impl Fn(f64) -> f64) -> f64 {
    let way = force(start).signum();
    let (mut a, mut b) = (start, start + way * step);
    while force(b) * way > 0.0 {
        (a, b) = (b, b + way * step);
    }
    for _ in 0..100 {
        let middle = 0.5 * (a + b);
        if force(middle) * way > 0.0 { a = middle } else { b = middle }
    }
    0.5 * (a + b)
}

/// A repulsive bump of the width w at x0 whose largest force is `most`.
#[derive(Clone, Copy)]
struct Bump {
    x0: f64,
    w: f64,
    most: f64,
}

impl Bump {
    fn factor(&self) -> f64 {
        self.most * self.w * 0.5_f64.exp()
    }

    fn at(&self, x: f64) -> f64 {
        let u = (x - self.x0) / self.w;
        self.factor() * u / self.w * (-0.5 * u * u).exp()
    }

    fn of(&self, x: &str) -> String {
        let Bump { x0, w, .. } = self;
        format!("{}*({x} - {x0})/{w}^2*exp(-(({x} - {x0})/{w})^2/2)", self.factor())
    }
}

/// A body of 1 kg on a slide along x from `start`, with what `joint` says of that and `more`.
fn slide(space: bool, start: f64, joint: &str, more: &str) -> String {
    let (head, zero, inertia) =
        if space { ("", ", 0", "[0.01, 0.01, 0.01]") } else { ("space = \"planar\"\n", "", "0.01") };
    format!(
        "format = \"sarrus/1\"\n{head}gravity = [0, 0{zero}]\nrun.t_end = 1\n\
         bodies.b = {{ at = [{start}, 0{zero}], mass = 1, inertia = {inertia} }}\n\
         joints.s = {{ kind = \"prismatic\", bodies = [\"ground\", \"b\"], at = [{start}, 0{zero}], axis = [1, 0{zero}], reads = {start}{joint} }}\n{more}"
    )
}

/// A force along x on it.
fn push(space: bool, name: &str, force: &str) -> String {
    let zero = if space { ", 0" } else { "" };
    format!("forces.{name} = {{ kind = \"force\", body = \"b\", force = [\"{force}\", 0{zero}] }}\n")
}

/// Stiffness of the spring of the slide \[N/m\].
const K: f64 = 50.0;

fn pulled(space: bool, start: f64, to: f64, more: &str) -> String {
    slide(space, start, &format!(", stiffness = {K}, rest = {to}"), more)
}

#[test]
fn a_mass_that_a_spring_pulls_rests_in_front_of_the_bump_that_holds_it() {
    for space in [false, true] {
        for w in [1e-3, 3e-3, 0.01, 0.02, 0.05] {
            for x0 in [0.2, 0.35, 0.5, 0.7, 0.9] {
                for (start, to) in [(0.0, 1.0), (1.2, 0.0)] {
                    let bump = Bump { x0, w, most: 1.5 * K * f64::abs(to - x0) + 5.0 };
                    let text = pulled(space, start, to, &push(space, "bump", &bump.of("b.x")));
                    let due = first_balance(start, 0.01 * w, |x| K * (to - x) + bump.at(x));
                    assert!((due - to).abs() > 0.01, "the oracle passes it");
                    let x = value(&text, None, "b.x");
                    assert!((x - due).abs() < 1e-9, "{x} instead of {due}\n{text}");
                }
            }
        }
    }
}

#[test]
fn bumps_of_any_strength_hold_or_let_pass_as_the_first_balance_says() {
    let (mut held, mut passed) = (0, 0);
    for k in 0..60 {
        let part = |by: f64| (by * f64::from(k) + 0.1).fract();
        let (start, to) = [(0.0, 1.0), (-1.0, 1.0), (1.0, -0.7), (0.1, 1.3)][k as usize % 4];
        let x0 = start + (to - start) * (0.2 + 0.7 * part(0.618));
        let w = 10f64.powf(-3.0 + 1.7 * part(0.414));
        let bump = Bump { x0, w, most: (0.3 + 2.5 * part(0.732)) * K * f64::abs(to - x0) };
        let due = first_balance(start, 0.01 * w, |x| K * (to - x) + bump.at(x));
        let space = k % 2 == 0;
        let text = pulled(space, start, to, &push(space, "bump", &bump.of("b.x")));
        let x = value(&text, None, "b.x");
        assert!((x - due).abs() < 1e-7, "{x} instead of {due}\n{text}");
        let count = if (due - to).abs() > 0.01 { &mut held } else { &mut passed };
        *count += 1;
    }
    assert!(held > 10 && passed > 10, "{held} {passed}");
}

#[test]
fn loads_that_grow_push_a_mass_no_farther_than_the_bump_of_a_spring() {
    for space in [false, true] {
        for w in [2e-3, 0.02, 0.05] {
            for x0 in [0.2, 0.4, 0.8] {
                let bump = Bump { x0, w, most: 80.0 };
                // the tension of a spring along the slide pulls back
                let law = format!(
                    "forces.bump = {{ kind = \"spring\", joint = \"s\", tension = \"-({})\" }}\n",
                    bump.of("length")
                );
                let text = slide(
                    space,
                    0.0,
                    &format!(", stiffness = {K}, rest = 0"),
                    &(law + &push(space, "pull", "50")),
                );
                let due = first_balance(0.0, 0.01 * w, |x| 50.0 - K * x + bump.at(x));
                for load_steps in [None, Some(1), Some(3), Some(10)] {
                    let x = value(&text, load_steps, "b.x");
                    assert!((x - due).abs() < 1e-8, "{x} instead of {due} in {load_steps:?}\n{text}");
                }
            }
        }
    }
}

#[test]
fn a_barrier_of_two_forces_that_rise_and_fall_alone_holds_too() {
    for space in [false, true] {
        for w in [1e-3, 5e-3] {
            let (x0, x1) = (0.4, 0.42);
            let [rise, fall] = [x0, x1].map(|x0| format!("40*(1 + tanh((b.x - {x0})/{w}))"));
            let more = push(space, "one", &format!("-({rise})")) + &push(space, "two", &fall);
            let both = |x: f64| 40.0 * (((x - x1) / w).tanh() - ((x - x0) / w).tanh());
            let due = first_balance(0.0, 0.01 * w, |x| K * (1.0 - x) + both(x));
            assert!(due < x1);
            let x = value(&pulled(space, 0.0, 1.0, &more), None, "b.x");
            assert!((x - due).abs() < 1e-9, "{x} instead of {due}");
        }
    }
}

#[test]
fn a_strong_pull_along_one_slide_does_not_hide_a_bump_across_it() {
    let bump = Bump { x0: 0.4, w: 0.02, most: 60.0 };
    let text = format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, 0]\nrun.t_end = 1\n\
         bodies.m = {{ at = [0, 0], mass = 1, inertia = 0.01 }}\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 0.01 }}\n\
         joints.p = {{ kind = \"prismatic\", bodies = [\"ground\", \"m\"], at = [0, 0], axis = [0, 1], stiffness = 5000, rest = 1, reads = 0 }}\n\
         joints.s = {{ kind = \"prismatic\", bodies = [\"m\", \"b\"], at = [0, 0], axis = [1, 0], stiffness = {K}, rest = 1, reads = 0 }}\n{}",
        push(false, "bump", &bump.of("b.x"))
    );
    let due = first_balance(0.0, 1e-4, |x| K * (1.0 - x) + bump.at(x));
    assert!((value(&text, None, "b.x") - due).abs() < 1e-9);
    assert!((value(&text, None, "b.y") - 1.0).abs() < 1e-9);
}

#[test]
fn a_falling_pendulum_rests_in_front_of_a_torque_over_a_short_angle() {
    for space in [false, true] {
        let (head, zero, axis) =
            if space { ("", ", 0", ", axis = [0, 0, 1]") } else { ("space = \"planar\"\n", "", "") };
        for x0 in [-0.3, -0.7, -1.2] {
            for w in [2e-3, 0.02] {
                let bump = Bump { x0, w, most: 15.0 };
                let text = format!(
                    "format = \"sarrus/1\"\n{head}gravity = [0, -9.81{zero}]\nrun.t_end = 1\n\
                     bodies.a = {{ from = [0, 0{zero}], to = [1, 0{zero}], mass = 2 }}\n\
                     joints.j = {{ kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0{zero}]{axis} }}\n\
                     forces.bump = {{ kind = \"actuator\", joint = \"j\", torque = \"{}\" }}\n",
                    bump.of("j.angle")
                );
                let due = first_balance(0.0, 0.01 * w, |x| -9.81 * x.cos() + bump.at(x));
                let x = value(&text, None, "j.angle");
                assert!((x - due).abs() < 1e-8, "{x} instead of {due}\n{text}");
            }
        }
    }
}

#[test]
fn a_mass_stops_in_the_first_valley_of_a_rippled_force_that_holds_it() {
    for (amplitude, wave) in [(20.0, 200.0), (5.0, 80.0), (30.0, 700.0)] {
        let text = pulled(false, 0.0, 1.0, &push(false, "ripple", &format!("{amplitude}*sin({wave}*b.x)")));
        let due = first_balance(0.0, 1e-3 / wave, |x| K * (1.0 - x) + amplitude * (wave * x).sin());
        let x = value(&text, None, "b.x");
        assert!((x - due).abs() < 1e-7, "{x} instead of {due}\n{text}");
    }
}

#[test]
fn a_force_that_jumps_where_it_stops_the_motion_is_refused_by_name() {
    for space in [false, true] {
        for law in [
            "if(b.x > 0.3 and b.x < 0.31, -100, 0)",
            "if(b.x > 0.3 and b.x < 0.3001, -100, 0)",
            "-100*pulse(b.x, 0.3, 0.02)",
        ] {
            let error = rest(&pulled(space, 0.0, 1.0, &push(space, "bump", law)), None).unwrap_err();
            assert!(matches!(error, SetupError::NotStatic { .. }), "{error}");
            assert!(error.to_string().contains("`bump` jumps"), "{error}");
        }
        // one that it can pass is no obstacle
        let passed = value(
            &pulled(space, 0.0, 1.0, &push(space, "bump", "if(b.x > 0.3 and b.x < 0.31, -10, 0)")),
            None,
            "b.x",
        );
        assert!((passed - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_function_of_a_program_is_sampled_on_the_way_and_named() {
    let bump = Bump { x0: 0.5, w: 0.03, most: 60.0 };
    let mut functions = Functions::default();
    functions.add("bump", Closure::new(1, move |x| bump.at(x[0])));
    let text = pulled(false, 0.0, 1.0, &push(false, "held", "bump(b.x)"));
    let found = rest_with(&text, None, functions).unwrap();
    let due = first_balance(0.0, 1e-4, |x| K * (1.0 - x) + bump.at(x));
    assert!((found.report.values["b.x"] - due).abs() < 1e-6);
    assert!(
        found.report.notes.iter().any(|n| n.contains("`held` could not be bounded")),
        "{:?}",
        found.report.notes
    );
}

/// A force by position.
type Law = Box<dyn Fn(f64) -> f64>;

/// A number between 0 and 1 that `k` gives.
fn share(k: u32) -> f64 {
    f64::from(k.wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24)
}

#[test]
fn sums_of_bumps_steps_and_ripples_hold_mechanisms_of_any_size_at_the_first_balance() {
    let mut held = 0;
    for case in 0..80_u32 {
        let number = |i: u32| share(97 * case + i + 1);
        let size = [1e-3, 0.1, 1.0, 10.0, 100.0][case as usize % 5];
        let k = 10f64.powf(4.0 * number(0));
        let start = size * [0.0, 1.0, -1.0, 0.3][case as usize % 4];
        let to = start + size * (0.2 + 1.8 * number(1)) * if case % 3 == 0 { -1.0 } else { 1.0 };
        let pull = k * f64::abs(to - start);
        let mut laws: Vec<(String, Law)> = Vec::new();
        let narrow = 10f64.powf(-3.0);
        for j in 0..1 + case % 4 {
            let number = |i: u32| number(10 * j + 10 + i);
            let x0 = start + (to - start) * (0.1 + number(0));
            let w = size * narrow * 10f64.powf(2.0 * number(1));
            let most = pull * (3.0 * number(2) - 1.5);
            let u = format!("(b.x - ({x0}))/{w}");
            laws.push(match (case + j) % 4 {
                0 | 1 => {
                    let bump = Bump { x0, w, most };
                    (
                        bump.of("b.x").replace(&format!("b.x - {x0}"), &format!("b.x - ({x0})")),
                        Box::new(move |x| bump.at(x)),
                    )
                }
                2 => (format!("{most}*tanh({u})"), Box::new(move |x| most * ((x - x0) / w).tanh())),
                _ => {
                    let (most, wave) = (0.2 * most, 5.0 * w);
                    (
                        format!("{most}*sin((b.x - ({x0}))/{wave})"),
                        Box::new(move |x| most * ((x - x0) / wave).sin()),
                    )
                }
            });
        }
        let force = |x: f64| k * (to - x) + laws.iter().map(|(_, law)| law(x)).sum::<f64>();
        let due = first_balance(start, 0.05 * size * narrow, force);
        // as one force, or each by itself
        let more = if case % 2 == 0 {
            let sum: Vec<String> = laws.iter().map(|(text, _)| format!("({text})")).collect();
            push(false, "all", &sum.join(" + "))
        } else {
            laws.iter().enumerate().map(|(i, (text, _))| push(false, &format!("f{i}"), text)).collect()
        };
        let text = slide(false, start, &format!(", stiffness = {k}, rest = {to}"), &more);
        let x = value(&text, None, "b.x");
        assert!((x - due).abs() < 1e-6 * size, "{case}: {x} instead of {due}\n{text}");
        held += u32::from((due - to).abs() > 0.1 * (to - start).abs());
    }
    assert!(held > 20, "{held}");
}
