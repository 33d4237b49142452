//! Events are met when they happen, with every integrator; what happens at them is what mechanics says.

use sarrus::analysis::{EventReport, MethodText, Report};
use sarrus::prelude::*;
use sarrus_zoo::deployment::{LOCK_ANGLES, LOCK_LOSSES, LOCK_TIMES, RATES_AFTER, RATES_BEFORE};
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

fn method(integrator: &str) -> RunOverrides {
    let step = (integrator == "rk4").then_some(1e-3);
    let MethodText(integrator) = integrator.parse().unwrap();
    RunOverrides { integrator: Some(integrator), step, ..RunOverrides::default() }
}

fn times(report: &Report) -> Vec<f64> {
    report.events.iter().map(|e| e.t).collect()
}

fn names(report: &Report) -> Vec<&str> {
    report.events.iter().map(|e| e.name.as_str()).collect()
}

/// A column in the row nearest to a time.
fn at(outcome: &Outcome, t: f64, column: &str) -> f64 {
    let away = |row: &&[f64]| (row[0] - t).abs();
    let row = outcome.trajectory.rows().min_by(|a, b| away(a).total_cmp(&away(b))).unwrap();
    row[outcome.trajectory.index(column).unwrap()]
}

fn deployment() -> &'static str {
    sarrus_zoo::model("deployment").unwrap()
}

/// Locks as distances across the joints, which are dead the moment they begin to act.
fn with_distances() -> String {
    let distances = "[constraints]\n\
        D1 = { kind = 'distance', bodies = ['ground', 'link1'], ends = [[-1, 0], 'P1'], length = 2, enabled = false }\n\
        D2 = { kind = 'distance', bodies = ['link1', 'link2'], ends = ['P0', 'P2'], length = 2, enabled = false }\n\
        D3 = { kind = 'distance', bodies = ['link2', 'link3'], ends = ['P1', 'P3'], length = 2, enabled = false }\n\
        [events]\n\
        straight1 = { when = 'J1.angle < 0', once = true, enable = ['D1'] }\n\
        straight2 = { when = 'J2.angle > 0', once = true, enable = ['D2'] }\n\
        straight3 = { when = 'J3.angle < 0', once = true, enable = ['D3'] }\n\n";
    deployment().replace(", lock_at = 0", "").replace("[forces]", &format!("{distances}[forces]"))
}

/// Of a fixed step of 1e-3 s the error is that of the method, h⁴ times derivatives of some hundred; the others have tolerances
/// of 1e-9.
#[test]
fn the_deployment_locks_at_its_times_with_every_integrator_and_both_kinds_of_rows() {
    for text in [deployment().to_string(), with_distances()] {
        for integrator in ["auto", "rk45", "dop853", "abm", "rk23", "rk4"] {
            let outcome = run_with(&text, method(integrator));
            let report = &outcome.report;
            assert_eq!(report.status, Status::Completed, "{integrator}: {}", report.reason);
            assert_eq!(report.events.len(), 3, "{integrator}");
            for (i, event) in report.events.iter().enumerate() {
                assert!(
                    (event.t - LOCK_TIMES[i]).abs() < 1e-8,
                    "{integrator}: {} at {}",
                    event.name,
                    event.t
                );
                assert!((event.energy_lost - LOCK_LOSSES[i]).abs() < 1e-6, "{integrator}: {event:?}");
                assert!(event.actions.contains(&format!("lock J{}", 3 - i)), "{integrator}: {event:?}");
            }
            assert!(report.certificate.passed, "{integrator}: {:?}", report.certificate);
            for joint in ["J1", "J2", "J3"] {
                let angle = outcome.trajectory.last(&format!("{joint}.angle")).unwrap();
                let rate = outcome.trajectory.last(&format!("{joint}.rate")).unwrap();
                assert!(angle.abs() < 1e-9 && rate.abs() < 1e-9, "{integrator}: {joint} at {angle}, {rate}");
            }
        }
    }
}

/// A run with motion and multipliers in turn, in steps of `h` or, where that is none, at a tolerance of 1e-9.
fn in_turn(text: &str, integrator: &str, h: Option<f64>, t_end: f64) -> Outcome {
    let MethodText(integrator) = integrator.parse().unwrap();
    let overrides =
        RunOverrides { integrator: Some(integrator), step: h, t_end: Some(t_end), ..RunOverrides::default() };
    run_with(text, overrides)
}

/// Errors of the lock times, after a check of all else that a deployment must show.
///
/// Rates reach 11 rad/s, so that the energy of a method of second order is off by twice (11 h)² of itself. Joints are held to
/// what the method leaves of Φ: of `staggered` rounding, or the square of a correction; of the others a drift of some h².
fn lock_errors(text: &str, integrator: &str, h: Option<f64>) -> [f64; 3] {
    let outcome = in_turn(text, integrator, h, 1.3);
    let (report, what) = (&outcome.report, format!("{integrator}, {h:?}"));
    assert_eq!(report.status, Status::Completed, "{what}: {}", report.reason);
    assert_eq!(report.events.len(), 3, "{what}");
    let most = if integrator.starts_with("staggered") { 1e-8 } else { 10.0 * h.unwrap().powi(2) };
    for (i, event) in report.events.iter().enumerate() {
        let joint = format!("J{}", 3 - i);
        assert!(event.actions.contains(&format!("lock {joint}")), "{what}: {event:?}");
        if let Some(h) = h {
            let lost = 2.0 * (11.0 * h).powi(2) * LOCK_LOSSES[i];
            assert!((event.energy_lost - LOCK_LOSSES[i]).abs() < lost, "{what}: {event:?}");
        }
        let columns =
            ["angle", "rate"].map(|name| outcome.trajectory.index(&format!("{joint}.{name}")).unwrap());
        // a row at the event itself may show the instant before
        for row in outcome.trajectory.rows().filter(|row| row[0] > event.t + 1e-9) {
            let [angle, rate] = columns.map(|c| row[c].abs());
            assert!(angle < most && rate < 1e-8, "{what}: {joint} at {angle:e}, {rate:e} at {} s", row[0]);
        }
    }
    let t = times(report);
    std::array::from_fn(|i| t[i] - LOCK_TIMES[i])
}

/// At 10⁻³ s the symmetric form is off by 3e-6 s, and by a quarter of that with steps of half the size.
#[test]
fn the_deployment_locks_to_a_microsecond_with_motion_and_multipliers_in_turn() {
    for text in [deployment().to_string(), with_distances()] {
        let close = |integrator: &str, h: Option<f64>| {
            let errors = lock_errors(&text, integrator, h);
            assert!(errors.iter().all(|e| e.abs() < 1e-6), "{integrator}, {h:?}: {errors:?}");
            errors
        };
        let coarse = lock_errors(&text, "staggered", Some(1e-3));
        let fine = close("staggered", Some(5e-4));
        for (coarse, fine) in coarse.iter().zip(&fine) {
            assert!((coarse / fine - 4.0).abs() < 0.2, "{coarse:e} {fine:e}");
        }
        let finest = close("staggered", Some(1e-4));
        assert!(finest.iter().all(|e| e.abs() < 4e-8), "{finest:?}");
        close("staggered:adaptive=yes", None);
        close("staggered:form=one_step", Some(1e-4));
        close("park1987", Some(1e-4));
    }
}

/// At 10⁻³ s both have drifted by some 10⁻⁵ m off their joints when the first lock comes, which is no reason to refuse it; nor
/// that a distance across a joint, drifted likewise, does not find it quite straight. The last joint comes in at 0.4 rad/s.
#[test]
fn a_lock_comes_to_a_motion_that_has_drifted_off_its_joints() {
    let (angles, distances) = (deployment().to_string(), with_distances());
    for (integrator, text, late) in
        [("staggered:form=paper", &angles, 2e-5), ("park1987", &angles, 2e-5), ("park1987", &distances, 2e-4)]
    {
        let outcome = in_turn(text, integrator, Some(1e-3), 1.3);
        let report = &outcome.report;
        assert!(report.violation.position.max > 1e-6, "{integrator}: {:?}", report.violation);
        assert_eq!(report.status, Status::Completed, "{integrator}: {}", report.reason);
        for (t, expected) in times(report).iter().zip(LOCK_TIMES) {
            assert!((t - expected).abs() < late, "{integrator}: {t} for {expected}");
        }
        assert_eq!(report.events.len(), 3, "{integrator}");
    }
}

/// Two drivers on a slide that ask for speeds 10⁻³ m/s apart, beside a double pendulum whose joints may drift: how far they
/// have is no excuse for others. The pendulum's rates are of some 10 rad/s, which the contradiction is measured against.
#[test]
fn drivers_that_contradict_each_other_are_refused_however_far_other_joints_have_drifted() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\n\
        bodies.arm = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        bodies.arm2 = { from = [1, 0], to = [2, 0], mass = 1 }\n\
        bodies.free = { at = [5, 0], mass = 1, inertia = 0.1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }\n\
        joints.B = { kind = 'revolute', bodies = ['arm', 'arm2'], at = [1, 0] }\n\
        joints.R = { kind = 'prismatic', bodies = ['ground', 'free'], at = [5, 0] }\n\
        drivers.one = { kind = 'joint', joint = 'R', speed = 0 }\n\
        drivers.two = { kind = 'joint', joint = 'R', speed = 0.001, enabled = false }\n\
        events.join = { when = 't >= 2', enable = ['two'], once = true }\n";
    for (integrator, h, drifts) in [
        ("dop853", None, false),
        ("staggered", Some(2.5e-3), false),
        ("staggered:form=paper", Some(2.5e-3), true),
        ("staggered:form=one_step", Some(2.5e-3), false),
        ("park1987", Some(2.5e-3), true),
    ] {
        let outcome = in_turn(text, integrator, h, 2.5);
        let report = &outcome.report;
        assert_eq!((report.status, report.t_end), (Status::Failed, 2.0), "{integrator}: {}", report.reason);
        assert!(report.reason.contains("contradict each other"), "{integrator}: {}", report.reason);
        assert!(!drifts || report.violation.position.max > 1e-5, "{integrator}: {:?}", report.violation);
        // drivers that agree are welcome
        let outcome = in_turn(&text.replace("0.001", "0"), integrator, h, 2.5);
        assert_eq!(outcome.report.status, Status::Completed, "{integrator}: {}", outcome.report.reason);
    }
}

/// An error of the tolerance in an angle is one of that over the rate in time; the slowest lock comes at 0.4 rad/s.
#[test]
fn the_deployment_locks_at_every_accuracy() {
    for text in [deployment().to_string(), with_distances()] {
        for digits in 3..12 {
            let rtol = 10_f64.powi(-digits);
            let overrides =
                RunOverrides { rtol: Some(rtol), atol: Some(1e-2 * rtol), ..RunOverrides::default() };
            let report = run_with(&text, overrides).report;
            assert_eq!(report.status, Status::Completed, "rtol {rtol}: {}", report.reason);
            for (t, expected) in times(&report).into_iter().zip(LOCK_TIMES) {
                assert!((t - expected).abs() < 2.5 * rtol + 1e-9, "rtol {rtol}: {t} for {expected}");
            }
            assert_eq!(report.events.len(), 3);
        }
    }
}

/// Mass matrix of three bars of unit length and mass in a row, in their absolute angles: m (n + ½ ...) cos(θi - θj).
fn mass(theta: [f64; 3]) -> [[f64; 3]; 3] {
    let factor = [[7.0 / 3.0, 1.5, 0.5], [1.5, 4.0 / 3.0, 0.5], [0.5, 0.5, 1.0 / 3.0]];
    std::array::from_fn(|i| std::array::from_fn(|j| factor[i][j] * (theta[i] - theta[j]).cos()))
}

fn times_vector(a: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|j| a[i][j] * x[j]).sum())
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

/// With the links that are locked already as one, the torque impulse P of the new lock acts on both sides of its joint:
/// M (ω⁺ - ω⁻) = Bᵀ P, where B ω is the rate of a joint, with impulses in the locked ones too; the loss is ½ (ω⁻ᵀ M ω⁻ - ω⁺ᵀ M ω⁺).
#[test]
fn impulse_energy_and_momentum_of_a_lock_are_those_of_a_plastic_impact() {
    let outcome = run(deployment());
    let joint_rate = [[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];
    for (i, event) in outcome.report.events.iter().enumerate() {
        let M = mass(LOCK_ANGLES[i]);
        let (before, after) = (RATES_BEFORE[i], RATES_AFTER[i]);
        let change = times_vector(&M, std::array::from_fn(|k| after[k] - before[k]));
        // the impulse in joint k is the sum of the changes of all links beyond it
        let joint = 2 - i;
        let expected: f64 = change[joint..].iter().sum();
        let [impulse] = &event.impulses[..] else { panic!("{event:?}") };
        assert_eq!((impulse.joint.as_str(), impulse.unit), (["J3", "J2", "J1"][i], "N m s"));
        assert!((impulse.impulse[0] - expected).abs() < 1e-8, "{event:?}: {expected}");
        // joints that are free take no impulse
        let free: f64 = if joint > 0 { change.iter().sum() } else { 0.0 };
        assert!(free.abs() < 1e-8, "{free}");
        let loss = 0.5 * (dot(before, times_vector(&M, before)) - dot(after, times_vector(&M, after)));
        assert!((event.energy_lost - loss).abs() < 1e-7, "{event:?}: {loss}");
        assert!(dot(joint_rate[joint], after).abs() < 1e-12);
    }

    // angular momentum about the wall, from runs that end an instant before and after
    let text = deployment().replace(
        "[forces]",
        "[measures]\nL = { kind = 'momentum', bodies = ['link1', 'link2', 'link3'] }\n\n[forces]",
    );
    for (i, t) in LOCK_TIMES.into_iter().enumerate() {
        let momentum = |t: f64| {
            let overrides = RunOverrides { t_end: Some(t), ..RunOverrides::default() };
            run_with(&text, overrides).trajectory.last("L.lz").unwrap()
        };
        let jump = momentum(t + 1e-8) - momentum(t - 1e-8);
        let expected = if i == 2 { outcome.report.events[2].impulses[0].impulse[0] } else { 0.0 };
        // forces of some 50 N m act for 2e-8 s
        assert!((jump - expected).abs() < 2e-6, "lock {i}: {jump}, {expected}");
    }
}

#[test]
fn a_locked_joint_shows_it_and_carries_what_the_lock_carries() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 1\n\
        bodies.bar = { from = [0, 0], to = [1, 0], mass = 2 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
        events.brake = { when = 'A.angle > -1', lock = ['A'] }\n";
    let outcome = run(text);
    let [event] = &outcome.report.events[..] else { panic!("{:?}", outcome.report.events) };
    assert_eq!((event.t, event.energy_lost), (0.0, 0.0));
    for row in ["A.locked", "A.tz", "A.angle", "A.fy"] {
        let expected = match row {
            "A.locked" => 1.0,
            "A.tz" => 2.0 * 9.81 * 0.5,
            "A.fy" => 2.0 * 9.81,
            _ => 0.0,
        };
        assert!(outcome.trajectory.column(row).unwrap().all(|x| (x - expected).abs() < 1e-12), "{row}");
    }
    assert!(outcome.report.certificate.passed);
}

/// A bar of 1.5 m let go from the horizontal, stopped at 1.2 rad below it.
const FALLING: &str = "format = 'sarrus/1'\nspace = 'planar'\nrun = { t_end = 5, rtol = 1e-12, atol = 1e-14 }\n\
    bodies.bar = { from = [0, 0], to = [1.5, 0], mass = 1 }\n\
    joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
    events.there = { when = 'A.angle < -1.2', stop = 'it is there' }\n";

/// θ'' = -k cos θ from rest at 0, k = 9.81/s²: t(φ) = ∫ dθ / √(2 k sin θ) from 0 to φ; with θ = u² the integrand is smooth.
fn falls_for(phi: f64) -> f64 {
    let f = |u: f64| {
        if u == 0.0 { 2.0 / (2.0 * 9.81_f64).sqrt() } else { 2.0 * u / (2.0 * 9.81 * (u * u).sin()).sqrt() }
    };
    let n = 2000;
    let h = phi.sqrt() / f64::from(n);
    let weight = |i: i32| match i {
        i if i == 0 || i == n => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=n).map(|i| weight(i) * f(f64::from(i) * h)).sum::<f64>() * h / 3.0
}

#[test]
fn a_pendulum_is_stopped_at_an_angle_to_ten_digits() {
    let expected = falls_for(1.2);
    for integrator in ["dop853", "abm"] {
        let outcome = run_with(FALLING, method(integrator));
        let report = &outcome.report;
        assert_eq!((report.status, report.reason.as_str()), (Status::Stopped, "event `there`: it is there"));
        assert!((report.t_end - expected).abs() < 1e-10, "{integrator}: {} for {expected}", report.t_end);
        assert_eq!(outcome.trajectory.last("t"), Some(report.t_end));
        assert!((outcome.trajectory.last("A.angle").unwrap() + 1.2).abs() < 1e-12);
    }
}

/// The time of the event is off by the error of the motion, h². The event itself is found on the cubic between two steps: the
/// motion in steps of which the last ends there, whose error within a step is h³, is at the angle up to that.
#[test]
fn a_pendulum_is_stopped_at_an_angle_to_the_order_of_methods_in_turn() {
    for integrator in ["staggered", "staggered:form=paper", "staggered:form=one_step", "park1987"] {
        // the event is at two fifths of a step, as what lies between steps depends on where
        let [coarse, fine] = [25.4, 50.4].map(|steps| {
            let h = falls_for(1.2) / steps;
            let outcome = in_turn(FALLING, integrator, Some(h), 5.0);
            let t = outcome.report.t_end;
            assert_eq!(outcome.report.status, Status::Stopped, "{integrator}");
            let angle = outcome.trajectory.last("A.angle").unwrap();
            assert!((angle + 1.2).abs() < 1e-12, "{integrator}: {angle}");
            let cut = in_turn(&FALLING.replace("-1.2", "-1.5"), integrator, Some(h), t);
            [t - falls_for(1.2), cut.trajectory.last("A.angle").unwrap() + 1.2]
        });
        let order = |i: usize| (coarse[i] / fine[i]).abs().log2();
        assert!((order(0) - 2.0).abs() < 0.1, "{integrator}: {coarse:?} {fine:?}");
        assert!((order(1) - 3.0).abs() < 0.2, "{integrator}: {coarse:?} {fine:?}");
    }
}

/// A unit mass pushed by a unit force that turns round whenever the mass passes x = 1: it turns at √2, then every 2√2 s.
#[test]
fn a_switch_set_by_events_drives_a_mass_to_and_fro() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 12\n\
        bodies.m = { at = [0, 0], mass = 1, inertia = 1 }\n\
        joints.A = { kind = 'prismatic', bodies = ['ground', 'm'], at = [0, 0] }\n\
        controllers.sw = { kind = 'ode', states = { s = 1, n = 0 }, rates = { s = 0, n = 0 } }\n\
        forces.push = { kind = 'actuator', joint = 'A', force = 'sw.s' }\n\
        events.out = { when = 'A.position > 1', set = { sw.s = '-sw.s', sw.n = 'sw.n + 1' } }\n\
        events.back = { when = 'A.position < 1 and t > 0.1', set = { sw.s = '-sw.s', sw.n = 'sw.n + 1' } }\n";
    for integrator in ["rk45", "dop853", "abm", "rk4"] {
        let outcome = run_with(text, method(integrator));
        // the condition of `back` becomes true at 0.1 s, when the mass is on its way out
        let expected = [0.1, 2_f64.sqrt(), 2_f64.sqrt()];
        assert_eq!(names(&outcome.report)[0], "back", "{integrator}");
        assert!((times(&outcome.report)[0] - expected[0]).abs() < 1e-15, "{integrator}");
        let n = outcome.report.events.len() as f64;
        assert_eq!(outcome.trajectory.last("sw.n"), Some(n), "{integrator}");
        assert!(outcome.report.certificate.passed, "{integrator}");
    }
    // without that, the closed form
    let text = text.replace("A.position < 1 and t > 0.1", "A.position < 1 and A.speed < 0");
    for integrator in ["rk45", "dop853", "abm", "rk4"] {
        let outcome = run_with(&text, method(integrator));
        for (k, t) in times(&outcome.report).into_iter().enumerate() {
            let expected = (2 * k + 1) as f64 * 2_f64.sqrt();
            assert!((t - expected).abs() < 1e-9, "{integrator}: turn {k} at {t} for {expected}");
        }
        assert_eq!(names(&outcome.report), ["out", "back", "out", "back"], "{integrator}");
    }
}

#[test]
fn chattering_ends_the_run_and_names_the_event() {
    let head = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 10\n\
        bodies.m = { at = [0, 0], mass = 1, inertia = 1 }\n\
        joints.A = { kind = 'prismatic', bodies = ['ground', 'm'], at = [0, 0] }\n";
    // at one instant, without an end
    let ping_pong = format!(
        "{head}controllers.sw = {{ kind = 'ode', states = {{ x = 0 }}, rates = {{ x = 0 }} }}\n\
         events.up = {{ when = 'sw.x < 0.5', set = {{ sw.x = 1 }} }}\n\
         events.down = {{ when = 'sw.x > 0.5', set = {{ sw.x = 0 }} }}\n"
    );
    let report = run(&ping_pong).report;
    assert_eq!((report.status, report.t_end), (Status::Stopped, 0.0));
    assert!(report.reason.contains("`up` chatters"), "{}", report.reason);

    // on a switching surface that both sides run towards
    let sliding = format!(
        "{head}controllers.sw = {{ kind = 'ode', states = {{ s = 1, x = -1 }}, rates = {{ s = 0, x = 's' }} }}\n\
         events.over = {{ when = 'sw.x > 0', set = {{ sw.s = -1 }} }}\n\
         events.under = {{ when = 'sw.x < 0', set = {{ sw.s = 1 }} }}\n"
    );
    let report = run(&sliding).report;
    assert_eq!(report.status, Status::Stopped, "{}", report.reason);
    assert!(report.reason.contains("chatters"), "{}", report.reason);
    assert!((report.t_end - 1.0).abs() < 0.01, "{}", report.t_end);
}

/// Two equal pendulums and one that comes later.
#[test]
fn simultaneous_events_act_in_the_order_of_the_file() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun = { t_end = 2, rtol = 1e-9 }\n\
        [bodies]\n\
        a = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        b = { from = [3, 0], to = [4, 0], mass = 1 }\n\
        [joints]\n\
        A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }\n\
        B = { kind = 'revolute', bodies = ['ground', 'b'], at = [3, 0], lock_at = '-60 deg' }\n\
        [events]\n\
        second = { when = 'A.angle < -60 deg', lock = ['A'], once = true }\n\
        third = { when = 'A.locked > 0.5', stop = 'both stand' }\n";
    let outcome = run(text);
    assert_eq!(names(&outcome.report), ["B.lock_at", "second", "third"]);
    let t = times(&outcome.report);
    assert!(t.iter().all(|x| (x - t[0]).abs() < 1e-12), "{t:?}");
    for column in ["A.angle", "B.angle"] {
        let angle = outcome.trajectory.last(column).unwrap();
        assert!((angle + std::f64::consts::FRAC_PI_3).abs() < 1e-9, "{column}: {angle}");
    }
    let lost: Vec<f64> = outcome.report.events.iter().map(|e: &EventReport| e.energy_lost).collect();
    assert!((lost[0] - lost[1]).abs() < 1e-8 && lost[0] > 1.0, "{lost:?}");
}

/// A ball thrown up at 5 m/s is within 1e-8 m of its top for 2 √(2e-8/g) = 9e-5 s; steps are three thousand times as long.
#[test]
fn an_event_much_shorter_than_a_step_is_met() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 1\n\
        parameters.top = '25/(2*9.81) - 1e-8'\n\
        bodies.ball = { kind = 'point', at = [0, 0], mass = 1 }\n\
        initial.ball.vy = 5\n\
        events.up = { when = 'ball.y > top', stop = 'up' }\n";
    let expected = 5.0 / 9.81 - (2e-8_f64 / 9.81).sqrt();
    for integrator in ["rk45", "dop853"] {
        let report = run_with(text, method(integrator)).report;
        assert_eq!(report.status, Status::Stopped, "{integrator}");
        assert!((report.t_end - expected).abs() < 1e-10, "{integrator}: {} for {expected}", report.t_end);
        assert!(report.counts.steps < 12, "{integrator}: {} steps", report.counts.steps);
    }
}

/// The hinge lets go when the bar hangs at 60°: from then on the centre flies as a stone and the bar spins on.
#[test]
fn a_joint_that_is_disabled_lets_go_and_one_that_is_enabled_catches() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun = { t_end = 1, rtol = 1e-10, atol = 1e-12 }\n\
        bodies.bar = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
        events.go = { when = 'A.angle < -60 deg', disable = ['A'], once = true }\n";
    let outcome = run(text);
    let report = &outcome.report;
    let [go] = &report.events[..] else { panic!("{:?}", report.events) };
    assert_eq!(go.energy_lost, 0.0);
    let left = 1.0 - go.t;
    // rate² = 3 g sin φ / l, and the centre goes square to the bar
    let (rate, phi) = (-(3.0 * 9.81 * (60_f64.to_radians()).sin()).sqrt(), -60_f64.to_radians());
    let (vx, vy) = (-0.5 * rate * phi.sin(), 0.5 * rate * phi.cos());
    let x = 0.5 * phi.cos() + vx * left;
    let y = 0.5 * phi.sin() + vy * left - 0.5 * 9.81 * left * left;
    for (column, expected) in
        [("bar.x", x), ("bar.y", y), ("bar.angle", phi + rate * left), ("A.fx", 0.0), ("A.fy", 0.0)]
    {
        let found = outcome.trajectory.last(column).unwrap();
        assert!((found - expected).abs() < 1e-8, "{column}: {found} for {expected}");
    }
    assert!(report.certificate.passed);

    // a stone falls, and a rod across its way catches it when it comes level: 1 kg at 1 m from the pivot
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun = { t_end = 1, rtol = 1e-10, atol = 1e-12 }\n\
        bodies.stone = { kind = 'point', at = [1, 1], mass = 1 }\n\
        constraints.rod = { kind = 'distance', bodies = ['ground', 'stone'], on = [[0, 0], [0, 0]], length = 1, enabled = false }\n\
        initial.stone.vx = 0.5\n\
        events.level = { when = 'hypot(stone.x, stone.y) < 1 or stone.y < 0', enable = ['rod'], once = true }\n";
    let outcome = run(text);
    // level at the height 0, where x is not 1: the rod does not fit, and the run says so
    assert_eq!(outcome.report.status, Status::Failed);
    assert!(outcome.report.reason.contains("constraint `rod`"), "{}", outcome.report.reason);
    let outcome = run(&text.replace("initial.stone.vx = 0.5\n", ""));
    let [level] = &outcome.report.events[..] else { panic!("{:?}", outcome.report.events) };
    // it falls √(2/g), straight across the end of the rod, and loses nothing
    assert!((level.t - (2.0_f64 / 9.81).sqrt()).abs() < 1e-9 && level.energy_lost.abs() < 1e-8, "{level:?}");
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report);
}

#[test]
fn a_lock_is_released_and_the_motion_begins_anew() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun = { t_end = 2, rtol = 1e-10, atol = 1e-12 }\n\
        bodies.bar = { from = [0, 0], to = [1.5, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
        events.hold = { when = 'A.angle < -0.5 and t < 1', lock = ['A'] }\n\
        events.go = { when = 't >= 1', release = ['A'] }\n";
    let outcome = run(text);
    assert_eq!(names(&outcome.report), ["hold", "go"]);
    assert_eq!(times(&outcome.report)[1], 1.0);
    let held = at(&outcome, 1.0, "A.angle");
    assert!((held + 0.5).abs() < 1e-12, "{held}");
    // from rest at -0.5, energy: rate² = 2 k (sin 0.5 - sin ...)
    let (angle, rate) =
        (outcome.trajectory.last("A.angle").unwrap(), outcome.trajectory.last("A.rate").unwrap());
    let expected = 2.0 * 9.81 * ((-0.5_f64).sin() - angle.sin());
    assert!((rate * rate - expected).abs() < 1e-7, "{rate} at {angle}");
    assert!(outcome.report.certificate.passed);
}

#[test]
fn forces_and_drivers_are_switched_at_their_time() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 2\n\
        bodies.m = { at = [0, 0], mass = 1, inertia = 1 }\n\
        joints.A = { kind = 'prismatic', bodies = ['ground', 'm'], at = [0, 0] }\n\
        forces.push = { kind = 'actuator', joint = 'A', force = 3, enabled = false }\n\
        drivers.pull = { kind = 'joint', joint = 'A', speed = 5, enabled = false }\n\
        events.on = { when = 't > 0.5', enable = ['push'] }\n\
        events.over = { when = 't >= 1', disable = ['push'], enable = ['pull'] }\n";
    let outcome = run(text);
    let t = &outcome.trajectory;
    // 3 N for 0.5 s, then 5 m/s at once
    let before = at(&outcome, 0.996, "A.speed");
    assert!((before - 3.0 * 0.496).abs() < 1e-9, "{before}");
    assert!((t.last("A.position").unwrap() - (0.5 * 3.0 * 0.25 + 5.0)).abs() < 1e-9);
    assert_eq!(
        (at(&outcome, 0.2, "push.force"), at(&outcome, 0.8, "push.force"), at(&outcome, 1.5, "push.force")),
        (0.0, 3.0, 0.0)
    );
    assert_eq!(at(&outcome, 0.8, "pull.force"), 0.0);
    let over = &outcome.report.events[1];
    assert!((over.energy_lost - 0.5 * (1.5 * 1.5 - 25.0)).abs() < 1e-9, "{over:?}");
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.certificate);
}

/// In a swing from the horizontal the pin of a bar carries m g (5 sin φ)/2 along and m g cos φ / 4 across.
#[test]
fn a_condition_may_read_reactions_and_measures_of_them() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun = { t_end = 2, rtol = 1e-10, atol = 1e-12 }\n\
        bodies.bar = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
        measures.load = 'hypot(A.fx, A.fy)'\n\
        events.overload = { when = 'load > 15', stop = 'overloaded' }\n";
    let outcome = run(text);
    assert_eq!(outcome.report.status, Status::Stopped);
    let phi = -outcome.trajectory.last("A.angle").unwrap();
    let load = 9.81 * (2.5 * phi.sin()).hypot(0.25 * phi.cos());
    assert!((load - 15.0).abs() < 1e-7, "{load} at {phi}");
    assert!((outcome.trajectory.last("load").unwrap() - 15.0).abs() < 1e-7);
}

#[test]
fn a_rate_that_a_lock_has_stopped_does_not_fire_again() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 5\n\
        bodies.bar = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
        events.catch = { when = 'A.rate > 0', lock = ['A'] }\n";
    let outcome = run(text);
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    let [catch] = &outcome.report.events[..] else { panic!("{:?}", outcome.report.events) };
    // at the far end of its swing it stands, and nothing is lost
    assert!(catch.energy_lost.abs() < 1e-12, "{catch:?}");
    assert!((outcome.trajectory.last("A.angle").unwrap() + std::f64::consts::PI).abs() < 1e-5);
}

/// In space: turns are counted past a half, a ball joint and a screw are locked as a whole.
#[test]
fn joints_in_space_lock_at_an_angle_counted_in_turns_and_as_a_whole() {
    let text = "format = 'sarrus/1'\ngravity = [0, 0, 0]\nrun = { t_end = 3, rtol = 1e-9 }\n\
        [bodies]\n\
        wheel = { at = [0, 0, 0], mass = 1, inertia = [1, 1, 1] }\n\
        top = { at = [3, 0, 0], mass = 1, inertia = [1, 2, 3] }\n\
        nut = { at = [6, 0, 0], mass = 1, inertia = [1, 1, 1] }\n\
        [joints]\n\
        A = { kind = 'revolute', bodies = ['ground', 'wheel'], at = [0, 0, 0], lock_at = '1.5 rev' }\n\
        B = { kind = 'spherical', bodies = ['ground', 'top'], at = [3, 0, 0] }\n\
        C = { kind = 'screw', bodies = ['ground', 'nut'], at = [6, 0, 0], lead = 0.1 }\n\
        [initial]\n\
        A.rate = 5\n\
        top.omega = [1, 2, 0.5]\n\
        C.rate = 2\n\
        [events]\n\
        stop_top = { when = 't > 1', lock = ['B', 'C'] }\n";
    let outcome = run(text);
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    let t = times(&outcome.report);
    assert!((t[1] - 3.0 * std::f64::consts::PI / 5.0).abs() < 1e-9, "{t:?}");
    assert!((outcome.trajectory.last("A.angle").unwrap() - 3.0 * std::f64::consts::PI).abs() < 1e-12);
    for column in ["A.rate", "B.wx", "B.wy", "B.wz", "C.rate", "C.speed"] {
        assert!(outcome.trajectory.last(column).unwrap().abs() < 1e-12, "{column}");
    }
    for k in 0..4 {
        let column = format!("top.q{k}");
        let [early, late] = [1.2, 3.0].map(|t| at(&outcome, t, &column));
        assert!((early - late).abs() < 1e-12, "{column}");
    }
    assert!((outcome.report.events[1].impulses[0].impulse[0] + 5.0).abs() < 1e-12);
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.certificate);
}

/// What happens to an event of a file holds for that file included twice, once mirrored.
#[test]
fn events_of_included_files_keep_to_their_file_and_survive_the_resolved_file() {
    let folder = std::env::temp_dir().join(format!("sarrus-events-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let part = "format = 'sarrus/1'\nspace = 'planar'\n\
        bodies.bar = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
        controllers.c = { kind = 'ode', states = { n = 0 }, rates = { n = 0 } }\n\
        events.low = { when = 'A.angle < -1', lock = ['A'], set = { c.n = 'c.n + 1' }, once = true }\n";
    std::fs::write(folder.join("part.toml"), part).unwrap();
    let outer = "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 1\n\
        include.left = { file = 'part.toml', at = [1, 0] }\n\
        include.right = { file = 'part.toml', at = [-1, 0], mirror = 'x' }\n";
    let file = folder.join("outer.toml");
    std::fs::write(&file, outer).unwrap();
    let options = LoadOptions { record: true, ..LoadOptions::default() };
    let model = load(&file, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let first = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap();
    let resolved = sarrus::io::write_resolved(&model, &[]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(names(&first.report).len(), 2, "{:?}", first.report.events);
    assert_eq!(
        (first.trajectory.last("left.c.n"), first.trajectory.last("right.c.n")),
        (Some(1.0), Some(1.0))
    );
    let again = run(&resolved);
    assert_eq!(times(&again.report), times(&first.report), "{resolved}");
}
