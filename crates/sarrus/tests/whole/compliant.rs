//! Compliant contacts: flat on flat, triangulations, onsets. What comes out depends neither on the order of names nor on steps.

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use std::sync::Arc;

fn run_with(text: &str, overrides: RunOverrides) -> Outcome {
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{}", all.join("\n"))
    });
    simulate(&model, &Arc::new(system), &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{e:?}"))
}

fn run(text: &str) -> Outcome {
    run_with(text, RunOverrides::default())
}

fn with(integrator: &str, rtol: f64) -> RunOverrides {
    let MethodText(integrator) = integrator.parse().unwrap();
    RunOverrides { integrator: Some(integrator), rtol: Some(rtol), ..RunOverrides::default() }
}

fn last(outcome: &Outcome, column: &str) -> f64 {
    let index = outcome.trajectory.index(column).unwrap_or_else(|| panic!("no column {column}"));
    outcome.trajectory.rows().last().unwrap()[index]
}

/// A block without friction whose weight is beside its middle rests tilted by 1e-5 rad on a table that is a box. It stays where it is, in
/// either order of names, as on a half-space.
#[test]
fn a_block_at_rest_on_a_box_does_not_drift() {
    let model = |between: &str, ground: &str| {
        format!(
            "format = 'sarrus/1'\n\
             ground.shape = {ground}\n\
             bodies.b = {{ at = [0, 0, 0.052], mass = 1, com = [0.05, 0, 0], inertia = [0.01, 0.01, 0.01], shape = {{ kind = 'box', size = [0.2, 0.2, 0.1] }} }}\n\
             contacts.x = {{ between = {between}, law = {{ kind = 'linear', stiffness = 1e6, damping = 600 }} }}\n\
             run = {{ t_end = 2, rtol = 1e-8, atol = 1e-10, step = 0.002 }}\n"
        )
    };
    let table = "{ kind = 'box', size = [10, 1, 0.1], on = [0, 0, -0.05] }";
    let expected = run(&model("['b', 'ground']", "{ kind = 'half_space' }"));
    for between in ["['b', 'ground']", "['ground', 'b']"] {
        let outcome = run(&model(between, table));
        assert!(outcome.report.certificate.passed, "{:?}", outcome.report.certificate);
        // error control keeps x to 1e-10
        assert!(last(&outcome, "b.x").abs() < 1e-9 && last(&outcome, "b.vx").abs() < 1e-9);
        let settled = last(&outcome, "b.z") - last(&expected, "b.z");
        assert!(settled.abs() < 1e-9, "{settled}");
    }
}

/// A block slides with friction on a slab that is a box and stops after v²/(2 μ g); what it loses is booked.
#[test]
fn a_block_that_slides_on_a_box_balances_its_energy() {
    for (between, shape) in [
        ("['b', 'ground']", "{ kind = 'box', size = [0.2, 0.2, 0.1] }"),
        ("['ground', 'b']", "{ kind = 'box', size = [0.2, 0.2, 0.1] }"),
        ("['b', 'ground']", "{ kind = 'disc', radius = 0.1, thickness = 0.1 }"),
    ] {
        let outcome = run(&format!(
            "format = 'sarrus/1'\n\
             ground.shape = {{ kind = 'box', size = [10, 1, 0.1], on = [0, 0, -0.05] }}\n\
             bodies.b = {{ at = [0, 0, '0.05 - 9.81/4/1e5'], mass = 1, shape = {shape} }}\n\
             contacts.x = {{ between = {between}, law = {{ kind = 'linear', stiffness = 1e5, damping = 190 }}, friction = {{ kind = 'coulomb', mu = 0.3, slip_speed = 1e-3 }} }}\n\
             initial.b.velocity = [1.5, 0, 0]\n\
             run = {{ t_end = 0.6, rtol = 1e-9, atol = 1e-11 }}\n"
        ));
        assert!(outcome.report.certificate.passed, "{shape}: {:?}", outcome.report.certificate);
        let way = 1.5f64.powi(2) / (2.0 * 0.3 * 9.81);
        // the law creeps below its slip speed
        assert!((last(&outcome, "b.x") - way).abs() < 2e-4, "{shape}: {}", last(&outcome, "b.x"));
    }
}

/// A box slides off the edge of a table of its own kind: places change from corners to crossings of edges, and the energy balances.
#[test]
fn a_box_slides_over_the_edge_of_a_table() {
    let outcome = run("format = 'sarrus/1'\n\
         ground.shape = { kind = 'box', size = [1, 1, 0.1], on = [0, 0, -0.05] }\n\
         bodies.b = { at = [0.35, 0, '0.05 - 9.81/4/1e5'], mass = 1, shape = { kind = 'box', size = [0.2, 0.2, 0.1] } }\n\
         contacts.x = { between = ['b', 'ground'], law = { kind = 'linear', stiffness = 1e5, factor = 0.5 } }\n\
         initial.b.velocity = [1, 0, 0]\n\
         run = { t_end = 0.3, rtol = 1e-9, atol = 1e-11 }\n");
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.certificate);
    // past the edge it tips
    assert!(last(&outcome, "b.x") > 0.64 && last(&outcome, "b.wy") > 0.1);
}

/// N = K δ (1 + χ δ̇/v), v the speed at which the overlap began, while the weight speeds the approach up. The speed of leaving is from an
/// integration of this law apart from this code.
#[test]
fn the_onset_speed_is_that_of_the_onset() {
    let model = "format = 'sarrus/1'\n\
         ground.shape = { kind = 'half_space' }\n\
         bodies.b = { at = [0, 0, 0.2], mass = 1, shape = { kind = 'sphere', radius = 0.1 } }\n\
         contacts.x = { between = ['b', 'ground'], law = { kind = 'linear', stiffness = 1000, restitution = 0.5 } }\n\
         measures.out = 'sqrt(max(0, b.vz^2 + 2*9.81*(b.z - 0.1)))'\n\
         run = { t_end = 0.3007, atol = 1e-12 }\n";
    for (integrator, rtol, off) in [
        ("dop853", 1e-6, 1e-5),
        ("dop853", 1e-10, 1e-8),
        ("rk45", 1e-8, 1e-6),
        ("radau5", 1e-8, 1e-6),
        ("abm", 1e-9, 1e-6),
    ] {
        let out = last(&run_with(model, with(integrator, rtol)), "out");
        assert!((out - 0.257_620_115_5).abs() < off, "{integrator} {rtol}: {out}");
    }
}

/// A number as damping makes the force jump where a corner meets the floor: the step ends there, and the next begins on the closed side.
#[test]
fn jumps_of_the_damping_are_met_at_any_tolerance() {
    for (angle, damping, integrator) in [
        (0.2, 100, "dop853"),
        (0.7, 1000, "dop853"),
        (1.0, 1000, "rk45"),
        (0.2, 1000, "radau5"),
        (0.3, 100, "radau5"),
    ] {
        let outcome = run_with(
            &format!(
                "format = 'sarrus/1'\nspace = 'planar'\n\
                 ground.shape = {{ kind = 'half_space' }}\n\
                 bodies.b = {{ at = [0, 0.3], mass = 1, angle = {angle}, shape = {{ kind = 'box', size = [0.4, 0.1] }} }}\n\
                 contacts.x = {{ between = ['b', 'ground'], law = {{ kind = 'linear', stiffness = 1e5, damping = {damping} }} }}\n\
                 run = {{ t_end = 0.4, step = 0.002, atol = 1e-14 }}\n"
            ),
            with(integrator, 1e-12),
        );
        assert!(outcome.report.certificate.passed, "{angle} {damping} {integrator}");
    }
}

/// Two balls displace what is under the surface of each: a cap of height h has π h² (3 r - h)/3.
#[test]
fn ends_at_a_surface_displace_as_two_balls() {
    let r: f64 = 0.1;
    for (degrees, z) in [(90.0_f64, -0.5), (25.0, 0.05), (0.0, 0.0), (0.0, -0.07), (40.0, -0.1), (-60.0, 0.2)]
    {
        let outcome = run(&format!(
            "format = 'sarrus/1'\n\
             fluids.w = {{ density = 1000, surface = 0 }}\n\
             bodies.b = {{ at = [0, 0, {z}], mass = 1, inertia = [1, 1, 1], orientation = {{ axis = [0, 1, 0], angle = '{degrees} deg' }}, shape = {{ kind = 'ends', length = 0.6, radius = {r} }} }}\n\
             joints.J = {{ kind = 'fixed', bodies = ['ground', 'b'], at = [0, 0, {z}] }}\n\
             forces.B = {{ kind = 'buoyancy', bodies = ['b'], fluid = 'w' }}\n\
             run.t_end = 0.01\n"
        ));
        let cap = |x: f64| {
            let h = (r - (z - x * degrees.to_radians().sin())).clamp(0.0, 2.0 * r);
            std::f64::consts::PI * h * h * (3.0 * r - h) / 3.0
        };
        let volume = cap(-0.3) + cap(0.3);
        assert!((last(&outcome, "B.volume") - volume).abs() < 1e-12, "{degrees} {z}");
        assert!((last(&outcome, "B.force") - 9810.0 * volume).abs() < 1e-8);
    }
}
