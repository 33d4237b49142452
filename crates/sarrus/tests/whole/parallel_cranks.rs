//! N cranks side by side that carry one coupler: N - 2 redundant rows in the plane, 4 N - 5 in space, a singular position
//! where the cranks lie along the coupler, and above sixteen cranks a hub. The coupler translates, so that the motion and the
//! reactions of least norm have closed forms.

use crate::common::{load, outcome};
use sarrus::prelude::*;
use std::fmt::Write;

const GRAVITY: f64 = 9.81;
const LENGTH: f64 = 0.5;
const CRANK: f64 = 1.0;
const COUPLER: f64 = 2.0;

/// `n` cranks at `angle` \[rad\], `apart` \[m\], that start at `rate` \[rad/s\]; masses in the middle of thin rods.
fn cranks(n: usize, is_planar: bool, apart: f64, angle: f64, rate: f64, keys: &str) -> String {
    let (sin, cos) = angle.sin_cos();
    let point = |x: f64, y: f64| {
        if is_planar { format!("[{x:?}, {y:?}]") } else { format!("[{x:?}, {y:?}, 0.0]") }
    };
    let inertia = |m: f64, l: f64| {
        let about = m * l * l / 12.0;
        if is_planar { format!("{about:?}") } else { format!("[{:?}, {about:?}, {about:?}]", 1e-3 * m) }
    };
    let (space, z, axis) =
        if is_planar { ("planar", "", "") } else { ("spatial", ", 0.0", ", axis = [0.0, 0.0, 1.0]") };
    let mut text = format!("space = '{space}'\ngravity = [0.0, -{GRAVITY}{z}]\ninitial.A0.rate = {rate:?}\n");
    let middle = 0.5 * (n - 1) as f64 * apart;
    let at = point(middle + LENGTH * cos, LENGTH * sin);
    writeln!(text, "bodies.cp = {{ at = {at}, mass = {COUPLER}, inertia = {} }}", inertia(COUPLER, 1.0))
        .unwrap();
    for i in 0..n {
        let x = i as f64 * apart;
        let at = point(x + 0.5 * LENGTH * cos, 0.5 * LENGTH * sin);
        let inertia = inertia(CRANK, LENGTH);
        writeln!(text, "bodies.c{i} = {{ at = {at}, mass = {CRANK}, inertia = {inertia} }}").unwrap();
        let (a, b) = (point(x, 0.0), point(x + LENGTH * cos, LENGTH * sin));
        writeln!(text, "joints.A{i} = {{ kind = 'revolute', bodies = ['ground', 'c{i}'], at = {a}{axis} }}")
            .unwrap();
        writeln!(text, "joints.B{i} = {{ kind = 'revolute', bodies = ['c{i}', 'cp'], at = {b}{axis} }}")
            .unwrap();
    }
    text + keys
}

/// α(θ): one pendulum with the inertia of all cranks about their pins and of the coupler's mass at their ends.
fn acceleration(n: usize, theta: f64) -> f64 {
    let (n, l) = (n as f64, LENGTH);
    let inertia = n * CRANK * l * l / 3.0 + COUPLER * l * l;
    -GRAVITY * l * theta.cos() * (0.5 * n * CRANK + COUPLER) / inertia
}

/// Ranks, accelerations and the certificate of reactions, from three cranks to well above the degree of a hub.
#[test]
fn any_number_of_cranks_has_its_rank_and_its_accelerations() {
    for (n, is_planar) in [
        (3, true),
        (16, true),
        (17, true),
        (40, true),
        (200, true),
        (3, false),
        (17, false),
        (20, false),
        (100, false),
    ] {
        let keys = "run.t_end = 0.1\noutput.every = 0.02\n";
        let out = outcome(&load(&cranks(n, is_planar, 0.3, 1.1, -2.0, keys)));
        let redundant = if is_planar { n - 2 } else { 4 * n - 5 };
        assert_eq!(out.report.constraints.redundant, Some(redundant), "{n} {is_planar}");
        assert_eq!(out.report.dof, Some(1));
        let column = |name: &str| out.trajectory.column(name).unwrap().collect::<Vec<f64>>();
        for (angle, accel) in column("A0.angle").into_iter().zip(column("A0.accel")) {
            let expected = acceleration(n, 1.1 + angle);
            assert!((accel - expected).abs() < 1e-10 * expected.abs().max(1.0), "{n}: {accel} {expected}");
        }
        let reactions = out.report.certificate.reactions.unwrap();
        assert!(out.report.certificate.passed && reactions.value < 1e-10, "{n} {is_planar}: {reactions:?}");
    }
}

/// The largest part of the reactions of a planar run that no load makes, relative to them. Cranks may carry axial forces s along themselves with Σ s = 0 and
/// Σ s x = 0 for no load; reactions of least norm have no part along these, so that the axial forces of both ends, added, are linear
/// in x: of cranks evenly apart their second differences vanish.
fn without_load(out: &Outcome, n: usize, angle: f64) -> f64 {
    let column = |name: String| out.trajectory.column(&name).unwrap().collect::<Vec<f64>>();
    let force = |joint: String| [column(format!("{joint}.fx")), column(format!("{joint}.fy"))];
    let pairs: Vec<_> = (0..n).map(|i| [force(format!("A{i}")), force(format!("B{i}"))]).collect();
    let mut worst = 0.0_f64;
    for (k, rotation) in column("A0.angle".into()).into_iter().enumerate() {
        let (sin, cos) = (angle + rotation).sin_cos();
        let axial: Vec<f64> =
            pairs.iter().map(|ends| ends.iter().map(|[x, y]| cos * x[k] + sin * y[k]).sum()).collect();
        let size = pairs.iter().flatten().map(|[x, y]| x[k] * x[k] + y[k] * y[k]).sum::<f64>().sqrt();
        for d in axial.windows(3) {
            worst = worst.max((d[0] - 2.0 * d[1] + d[2]).abs() / size);
        }
    }
    worst
}

/// Through the position where all cranks lie along the coupler: in its window too, and at its very instant.
#[test]
fn reactions_are_of_least_norm_in_windows_of_singular_positions() {
    for (n, apart, formulation) in [
        (3, 1.0, "proximal"),
        (3, 1.0, "pseudo_inverse"),
        (3, 0.3, "null_space"),
        (5, 0.4, "proximal"),
        (16, 0.2, "proximal"),
        (20, 0.25, "proximal"),
    ] {
        let angle = 1.0;
        let text = |keys: &str| {
            let keys = format!("run.formulation = '{formulation}'\nrun.rtol = 1e-9\n{keys}");
            load(&cranks(n, true, apart, angle, -3.0, &keys))
        };
        let out = outcome(&text("run.t_end = 0.3\noutput.every = 0.001\n"));
        let [passed] = &out.report.singular[..] else {
            panic!("{n} {formulation}: {:?}", out.report.singular)
        };
        let there = outcome(&text(&format!(
            "run.t_end = {:?}\noutput.every = {:?}\n",
            1.1 * passed.t,
            0.05 * passed.t
        )));
        for out in [&out, &there] {
            let worst = without_load(out, n, angle);
            assert!(worst < 1e-8, "{n} {apart} {formulation}: {worst:e}");
            let reactions = out.report.certificate.reactions.unwrap();
            assert!(reactions.passed && out.report.certificate.passed, "{n} {formulation}: {reactions:?}");
        }
    }
}

/// Hubs do not change which reactions are given.
#[test]
fn reactions_at_a_hub_are_of_least_norm() {
    for n in [17, 33, 120] {
        let keys = "run.t_end = 0.1\noutput.every = 0.02\n";
        let out = outcome(&load(&cranks(n, true, 0.2, 1.1, -2.0, keys)));
        let worst = without_load(&out, n, 1.1);
        assert!(worst < 1e-10, "{n}: {worst:e}");
    }
}

/// Bennett's linkage at its own tolerance: stages of long steps are off the constraints, where rows that are redundant on them contradict
/// each other. Which rows are left out must not show in the energy.
#[test]
fn redundant_rows_do_not_cost_energy() {
    let text = sarrus_zoo::model("bennett").unwrap();
    let drift = |formulation: &str| {
        let model = load_str("bennett.toml", text, &LoadOptions::default()).unwrap();
        let system = std::sync::Arc::new(compile(&model).unwrap());
        let choice = sarrus::model::settings::MethodChoice { kind: formulation.into(), ..Default::default() };
        let overrides = sarrus::analysis::RunOverrides { formulation: Some(choice), ..Default::default() };
        simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
            .unwrap()
            .report
            .energy
            .max_drift
    };
    let (own, other) = (drift("proximal"), drift("pseudo_inverse"));
    assert!(own < 3.0 * other, "{own:e} {other:e}");
}
