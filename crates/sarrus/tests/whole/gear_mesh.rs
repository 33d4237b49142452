//! Gears and racks whose mesh has stiffness, damping and play.

use sarrus::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

fn run(text: &str) -> Outcome {
    let text = format!("format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n{text}");
    let model =
        load_str("mesh.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| e.render(&model.sources)).collect::<String>())
    });
    let run = simulate(&model, &Arc::new(system), &Simulate { record: true, ..Simulate::default() }, &mut ())
        .unwrap();
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
    run
}

fn last(run: &Outcome, column: &str) -> f64 {
    run.trajectory.last(column).unwrap()
}

/// Tangential part of the tooth force.
fn cos20() -> f64 {
    20_f64.to_radians().cos()
}

/// Wheels of radii 0.1 and 0.05 m with the inertias 0.02 and 0.004 kg m², on the ground.
fn pair(mesh: &str) -> String {
    format!(
        "bodies.a = {{ at = [0, 0], mass = 2, inertia = 0.02 }}\nbodies.b = {{ at = [0.15, 0], mass = 1, inertia = 0.004 }}\n\
         joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }}\n\
         joints.B = {{ kind = 'revolute', bodies = ['ground', 'b'], at = [0.15, 0] }}\n\
         constraints.mesh = {{ kind = 'gear', bodies = ['a', 'b'], radii = [0.1, 0.05], {mesh} }}\n"
    )
}

/// Returns what the mesh feels of both: 1/m = r₁²/I₁ + r₂²/I₂.
fn mass() -> f64 {
    1.0 / (0.1 * 0.1 / 0.02 + 0.05 * 0.05 / 0.004)
}

/// x = r₁ a + r₂ b swings with ω² = k/m; r₂ I₁ ȧ - r₁ I₂ ḃ, which the mesh does not touch, stays.
#[test]
fn a_mesh_without_play_swings_with_its_own_frequency() {
    let k = 1e5;
    let run = run(&format!(
        "{}initial = {{ A.rate = 3, B.rate = -2 }}\nrun = {{ t_end = 0.05, rtol = 1e-10, atol = 1e-12 }}",
        pair(&format!("stiffness = {k}"))
    ));
    let omega = (k / mass()).sqrt();
    let v0 = 0.1 * 3.0 - 0.05 * 2.0;
    let x = v0 / omega * (omega * 0.05).sin();
    assert!((last(&run, "mesh.play") - x).abs() < 1e-8 * v0, "{} {x}", last(&run, "mesh.play"));
    // along the line of action
    assert!((last(&run, "mesh.force") * cos20() + k * x).abs() < 1e-6 * k * v0 / omega);
    let retained = |a: f64, b: f64| 0.05 * 0.02 * a - 0.1 * 0.004 * b;
    assert!((retained(last(&run, "A.rate"), last(&run, "B.rate")) - retained(3.0, -2.0)).abs() < 1e-12);
}

/// Between the flanks both wheels turn freely; at a flank x comes back after half a period, π/ω, with the opposite speed.
#[test]
fn play_is_crossed_freely_and_thrown_back() {
    let (k, play) = (1e6, 2e-3);
    let omega = (k / mass()).sqrt();
    let v0 = 0.1 * 3.0;
    // from the middle to the upper flank, back, and to the lower one
    let t = 0.5 * play / v0 + PI / omega + play / v0 + 0.25 * PI / omega;
    let run = run(&format!(
        "{}initial = {{ A.rate = 3, B.rate = 0 }}\nrun = {{ t_end = {t}, rtol = 1e-10, atol = 1e-13 }}",
        pair(&format!("stiffness = {k}, backlash = {play}"))
    ));
    let x = -0.5 * play - v0 / omega * (0.25 * PI).sin();
    assert!((last(&run, "mesh.play") - x).abs() < 1e-7 * play, "{} {x}", last(&run, "mesh.play"));
    let first: Vec<f64> = run.trajectory.column("energy.kinetic").unwrap().collect();
    let stored = 0.5 * k * (v0 / omega * (0.25 * PI).sin()).powi(2);
    assert!((last(&run, "energy.kinetic") + stored - first[0]).abs() < 1e-7 * first[0]);
}

/// Held on one side and rotated by a torque T on the other it winds up by b/2 + T/(r k), where its damping brings it to rest.
#[test]
fn a_torque_winds_the_mesh_up() {
    let run = run(&format!(
        "{}drivers.hold = {{ kind = 'joint', joint = 'B', angle = 0 }}\n\
         forces.T = {{ kind = 'torque', body = 'a', torque = 5 }}\nrun = {{ t_end = 1.0 }}",
        pair("stiffness = 1e5, damping = 400, backlash = 1e-3")
    ));
    let x = 0.5e-3 + 5.0 / (0.1 * 1e5);
    assert!((last(&run, "mesh.play") - x).abs() < 1e-7, "{} {x}", last(&run, "mesh.play"));
    assert!((last(&run, "A.angle") - x / 0.1).abs() < 1e-6);
    // the torque's work is stored or heat
    let work = 5.0 * x / 0.1;
    assert!((last(&run, "energy.work") - work).abs() < 1e-4 * work);
    let stored = 0.5 * 1e5 * (x - 0.5e-3) * (x - 0.5e-3);
    assert!((last(&run, "energy.dissipated") - (work - stored)).abs() < 1e-4 * work);
}

/// A rack against a held pinion: m ẍ = -k x.
#[test]
fn a_rack_swings_on_the_stiffness_of_its_pinion() {
    let (k, m) = (2e4_f64, 3.0_f64);
    let run = run(&format!(
        "bodies.rack = {{ at = [0, -0.1], mass = {m}, inertia = 1 }}\nbodies.p = {{ at = [0, 0], mass = 1, inertia = 0.01 }}\n\
         joints.R = {{ kind = 'prismatic', bodies = ['ground', 'rack'], at = [0, -0.1], axis = [1, 0] }}\n\
         joints.P = {{ kind = 'revolute', bodies = ['ground', 'p'], at = [0, 0] }}\n\
         drivers.hold = {{ kind = 'joint', joint = 'P', angle = 0 }}\n\
         constraints.mesh = {{ kind = 'rack', bodies = ['rack', 'p'], radius = 0.1, stiffness = {k} }}\n\
         initial.R.speed = 0.4\nrun = {{ t_end = 0.3, rtol = 1e-10, atol = 1e-12 }}"
    ));
    let omega = (k / m).sqrt();
    assert!((last(&run, "R.position") - 0.4 / omega * (omega * 0.3).sin()).abs() < 1e-8);
    // the driver that holds the pinion bears the mesh: x > 0 turns it on
    let force = last(&run, "mesh.force") * cos20();
    assert!((last(&run, "hold.torque") - 0.1 * force).abs() < 1e-6 * k * 0.4 / omega);
}

#[test]
fn an_ideal_mesh_has_no_play() {
    let says = |mesh: &str| {
        let text = format!("format = 'sarrus/1'\nspace = 'planar'\n{}", pair(mesh));
        let model = load_str("mesh.toml", &text, &LoadOptions::default()).unwrap();
        let errors = compile(&model).err().unwrap_or_else(|| panic!("{mesh}: compiles"));
        errors.iter().map(|e| e.render(&model.sources)).collect::<String>()
    };
    assert!(says("backlash = 1e-3").contains("has `backlash` but no `stiffness`"));
    assert!(says("stiffness = -1").contains("must be positive"));
}
