//! Rigid contacts whose impacts at several places of a body end in rest.

use sarrus::analysis::{SetupError, Status};
use sarrus::prelude::*;
use std::sync::Arc;

fn simulated(text: &str, overrides: RunOverrides) -> Result<Outcome, SetupError> {
    let model =
        load_str("rocks.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|e| panic!("{}", e[0].message)));
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
}

fn run_with(text: &str, overrides: RunOverrides) -> Outcome {
    let outcome = simulated(text, overrides).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let report = &outcome.report;
    assert_eq!(report.status, Status::Completed, "{}\n{text}", report.reason);
    assert!(report.certificate.passed, "{:?}\n{:?}\n{text}", report.certificate, report.notes);
    outcome
}

/// Housner's block of width w and height h, let continue one corner at half the angle α = atan(w/h). It rocks from corner to corner; each impact
/// leaves 1 - 1.5 sin²α of the rate. All of its potential energy is lost until it stands, half a width beside the corner that it began on.
#[test]
fn a_block_that_rocks_comes_to_rest_where_it_stands() {
    let g = 9.81;
    for (w, h, restitution) in [(0.2_f64, 0.5_f64, 0.0), (0.1, 0.5, 0.0), (0.2, 0.5, 0.3)] {
        let alpha = (w / h).atan();
        let (angle, size) = (0.5 * alpha, w.hypot(h));
        let top = 0.5 * size * (alpha - angle).cos();
        let text = format!(
            r#"
format = "sarrus/1"
space = "planar"
ground.shape = {{ kind = "half_space" }}
bodies.b = {{ at = [0, {top}], angle = {angle}, mass = 1, shape = {{ kind = "box", size = [{w}, {h}] }} }}
contacts.c = {{ between = ["b", "ground"], method = "impulsive", restitution = {restitution}, friction = {{ mu = 2 }} }}
run = {{ t_end = 8 }}
"#
        );
        let outcome = run_with(&text, RunOverrides::default());
        let last = |column: &str| outcome.trajectory.last(column).unwrap();
        assert!(last("b.angle").abs() < 1e-8, "{}", last("b.angle"));
        assert!((last("b.y") - 0.5 * h).abs() < 1e-8, "{}", last("b.y"));
        assert!(last("b.rate").abs() < 1e-9 && last("b.vy").abs() < 1e-9, "{text}");
        let lost = g * (top - 0.5 * h);
        assert!((last("energy.dissipated") - lost).abs() < 1e-8, "{} {lost}", last("energy.dissipated"));
        assert!((last("c.force") - g).abs() < 1e-6, "{}", last("c.force"));
        if restitution > 0.0 {
            continue;
        }
        // it sticks while it rocks; it tilts to the left, about its left corner
        let corner = -0.5 * size * (alpha - angle).sin();
        assert!((last("b.x") - corner - 0.5 * w).abs() < 1e-7, "{}", last("b.x"));
        // impacts of one corner each: losses are as the energies, r² apart
        let hits: Vec<f64> =
            outcome.report.events.iter().map(|e| e.energy_lost).filter(|l| *l > 1e-6).collect();
        let ratio = 1.0 - 1.5 * alpha.sin().powi(2);
        assert!(hits.len() > 3, "{hits:?}");
        for pair in hits.windows(2) {
            assert!((pair[1] / pair[0] - ratio * ratio).abs() < 1e-4, "{hits:?} {ratio}");
        }
    }
}

/// A tilted block on a slab that lies on the ground: impacts go through the slab, and both come to rest.
#[test]
fn a_block_that_rocks_on_another_body_comes_to_rest() {
    let text = r#"
format = "sarrus/1"
space = "planar"
ground.shape = { kind = "half_space" }
bodies.b = { at = [0, 0.06], mass = 1, shape = { kind = "box", size = [0.4, 0.1] } }
bodies.d = { at = [0, 0.32], angle = 0.2, mass = 1, shape = { kind = "box", size = [0.2, 0.3] } }
contacts.c = { between = ["b", "ground"], method = "impulsive", friction = { mu = 0.7 } }
contacts.e = { between = ["d", "b"], method = "impulsive", friction = { mu = 0.7 } }
run = { t_end = 2 }
"#;
    let outcome = run_with(text, RunOverrides::default());
    let last = |column: &str| outcome.trajectory.last(column).unwrap();
    assert!((last("d.y") - 0.25).abs() < 1e-8 && last("d.angle").abs() < 1e-8, "{}", last("d.y"));
    let lost = 9.81 * (0.06 - 0.05 + 0.32 - 0.25);
    assert!((last("energy.dissipated") - lost).abs() < 1e-8, "{} {lost}", last("energy.dissipated"));
    assert!((last("c.force") - 2.0 * 9.81).abs() < 1e-6, "{}", last("c.force"));
}

/// A box that is thrown ends flat on a face: its centre as high as half an edge, and all of its energy above that lost.
#[test]
fn a_box_that_tumbles_comes_to_rest_on_a_face() {
    let text = r#"
format = "sarrus/1"
ground.shape = { kind = "half_space" }
bodies.b = { at = [0, 0, 0.5], mass = 1, shape = { kind = "box", size = [0.2, 0.3, 0.1] }, orientation = { axis = [1, 2, 3], angle = "50 deg" } }
contacts.c = { between = ["b", "ground"], method = "impulsive", restitution = 0.3, friction = { mu = 0.5 } }
initial.b = { velocity = [1, 0.5, 0], omega = [3, -5, 2] }
run = { t_end = 3 }
"#;
    for rtol in [1e-6, 1e-8] {
        let outcome = run_with(text, RunOverrides { rtol: Some(rtol), ..RunOverrides::default() });
        let last = |column: &str| outcome.trajectory.last(column).unwrap();
        let flat =
            [0.05, 0.1, 0.15].into_iter().map(|half: f64| (last("b.z") - half).abs()).fold(1.0, f64::min);
        assert!(flat < 1e-8, "{}", last("b.z"));
        assert!(last("energy.kinetic") < 1e-15, "{}", last("energy.kinetic"));
    }
}

/// A ring with its centre of mass off its axis rolls without slip until its normal force is nearly zero. There its grip ends, by every integrator
/// at the same time.
#[test]
fn a_ring_that_hops_loses_its_grip_once_by_every_integrator() {
    let text = r#"
format = "sarrus/1"
space = "planar"
ground.shape = { kind = "half_space" }
bodies.b = { at = [0, 0.1], mass = 1, inertia = 0.002, com = [0.08, 0], angle = "-90 deg", shape = { kind = "sphere", radius = 0.1 } }
contacts.c = { between = ["b", "ground"], method = "impulsive", restitution = 0, friction = { mu = 50 } }
initial.b = { rate = -50.0, velocity = [5.0, 0] }
run = { t_end = 0.04 }
"#;
    let release_angle = |integrator: &str| {
        let text = text.replace("t_end", &format!("integrator = \"{integrator}\", t_end"));
        let outcome = run_with(&text, RunOverrides::default());
        let times: Vec<f64> = outcome.report.events.iter().map(|e| e.t).collect();
        assert_eq!(times.len(), 2, "{integrator}: {:?}", outcome.report.events);
        times[1]
    };
    let reference = release_angle("dop853");
    for integrator in ["rk45", "abm"] {
        let t = release_angle(integrator);
        assert!((t - reference).abs() < 1e-6, "{integrator}: {t} {reference}");
    }
}

/// A ball that lies on the ground for the whole run: closed once, at the start, for all of the time, with its weight.
#[test]
fn a_rigid_contact_that_is_closed_from_the_start_is_counted() {
    let text = r#"
format = "sarrus/1"
ground.shape = { kind = "half_space" }
bodies.b = { at = [0, 0, 0.1], mass = 2, shape = { kind = "sphere", radius = 0.1 } }
contacts.c = { between = ["b", "ground"], method = "impulsive", restitution = 0.5, friction = { mu = 0.3 } }
run = { t_end = 0.5 }
"#;
    let outcome = run_with(text, RunOverrides::default());
    let own = &outcome.report.contacts[0];
    assert_eq!((own.onsets, own.first_onset), (1, Some(0.0)));
    assert!((own.largest_force - 2.0 * 9.81).abs() < 1e-9, "{}", own.largest_force);
    assert!((own.time_in_contact - 0.5).abs() < 1e-12, "{}", own.time_in_contact);
    assert!(own.touches > 0);
}

/// Rigid bodies that are 0.1 mm in each other at the start: the error has the contact, how deep, and what to do.
#[test]
fn a_rigid_contact_that_overlaps_at_the_start_is_named_with_its_depth() {
    let text = r#"
format = "sarrus/1"
ground.shape = { kind = "half_space" }
bodies.b = { at = [0, 0, 0.0999], mass = 1, shape = { kind = "sphere", radius = 0.1 } }
contacts.lid = { between = ["b", "ground"], method = "impulsive" }
run = { t_end = 0.5 }
"#;
    let Err(error) = simulated(text, RunOverrides::default()) else { panic!("it runs") };
    let found = &error.diagnostics()[0];
    assert!(found.message.contains("contact `lid` overlaps by 1.0000e-4 m"), "{}", found.message);
    assert!(found.hint.as_ref().is_some_and(|hint| hint.contains("apart")), "{:?}", found.hint);
}
