//! Contacts do what their laws say: impacts, friction, energy accounts, and what is read of them.

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use sarrus::solve::{Problem, Stage, State};
use std::sync::Arc;

fn built(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{}", all.join("\n"))
    });
    (model, Arc::new(system))
}

fn run_with(text: &str, overrides: RunOverrides) -> Outcome {
    let (model, system) = built(text);
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{e:?}"))
}

/// With tolerances that leave the energy accounts room to the limit of the certificate.
fn run(text: &str) -> Outcome {
    let tight = text.replace("run = { t_end", "run = { rtol = 1e-9, atol = 1e-11, t_end");
    run_with(if text.contains("rtol") { text } else { &tight }, RunOverrides::default())
}

fn with(integrator: &str, step: Option<f64>) -> RunOverrides {
    let MethodText(integrator) = integrator.parse().unwrap();
    RunOverrides { integrator: Some(integrator), step, ..RunOverrides::default() }
}

fn error(text: &str) -> String {
    let model = load_str("model.toml", text, &LoadOptions::default());
    let model = match model {
        Ok(model) => model,
        Err(error) => return error.render(),
    };
    match compile(&model) {
        Ok(_) => panic!("it was taken"),
        Err(errors) => errors.iter().map(|e| e.render(&model.sources)).collect(),
    }
}

fn last(outcome: &Outcome, column: &str) -> f64 {
    let index = outcome.trajectory.index(column).unwrap_or_else(|| panic!("no column {column}"));
    outcome.trajectory.rows().last().unwrap()[index]
}

fn column<'a>(outcome: &'a Outcome, column: &str) -> impl Iterator<Item = f64> + 'a {
    let index = outcome.trajectory.index(column).unwrap_or_else(|| panic!("no column {column}"));
    outcome.trajectory.rows().map(move |row| row[index])
}

fn contact<'a>(report: &'a Report, name: &str) -> &'a sarrus::analysis::ContactReport {
    report.contacts.iter().find(|c| c.name == name).unwrap()
}

/// A ball that flies at 1 m/s onto the ground, without gravity: R = 10 mm, E* = 1 GPa, m = 10 g.
fn impact(law: &str) -> String {
    format!(
        "format = 'sarrus/1'
        gravity = [0, 0, 0]
        ground.shape = {{ kind = 'half_space' }}
        materials.soft = {{ young = 0.75e9, poisson = 0.5 }}
        initial.ball.velocity = [0, 0, -1]
        run = {{ t_end = 2e-3, rtol = 1e-10, atol = 1e-12 }}
        output.every = 1e-5
        bodies.ball = {{ at = [0, 0, 0.011], mass = 0.01, material = 'soft', shape = {{ kind = 'sphere', radius = 0.01 }} }}
        contacts.floor = {{ between = ['ball', 'ground'], law = {{ {law} }} }}"
    )
}

/// Closed forms of Hertz's impact, to the digits of the table: δ = (5 m v²/4K)^(2/5), F = K δ^(3/2), T = 2.9432751843247 δ/v. The
/// depth and force are those of steps, which miss the top by a second-order term: no more than (h/T)² of a step.
#[test]
fn an_elastic_impact_is_hertz_s() {
    let outcome = run(&impact("kind = 'hertz'"));
    let report = contact(&outcome.report, "floor");
    assert_eq!(report.onsets, 1);
    assert!((last(&outcome, "ball.vz") - 1.0).abs() < 1e-8, "{}", last(&outcome, "ball.vz"));
    assert!((report.time_in_contact / 2.868_265_699_195_33e-4 - 1.0).abs() < 1e-6, "{report:?}");
    assert!((report.fastest_onset - 1.0).abs() < 1e-9);
    let dense = run_with(&impact("kind = 'hertz'"), with("rk4", Some(1e-7)));
    let report = contact(&dense.report, "floor");
    assert!((report.deepest_overlap / 9.745_149_602_290_47e-5 - 1.0).abs() < 1e-6, "{report:?}");
    assert!((report.largest_force / 128.268_939_012_101 - 1.0).abs() < 1e-6, "{report:?}");
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.energy);
}

/// Restitution by the phase-plane integral, to ten digits: it is delivered whatever the nominal one is, by elastic laws of either
/// power, and what is lost is booked.
#[test]
fn every_damping_delivers_its_own_restitution() {
    let cases = [
        ("hunt_crossley", 0.5, 0.6629622),
        ("lankarani_nikravesh", 0.5, 0.725241114),
        ("flores", 0.5, 0.4704447793),
        ("flores", 0.1, 0.06944422515),
        ("exact", 0.5, 0.5),
        ("exact", 0.05, 0.05),
    ];
    for (damping, nominal, delivered) in cases {
        for law in ["kind = 'hertz'", "kind = 'linear', stiffness = 1e6"] {
            let text = impact(&format!("{law}, damping = '{damping}', restitution = {nominal}"));
            let outcome = run(&text);
            let speed = last(&outcome, "ball.vz");
            assert!((speed - delivered).abs() < 1e-6, "{damping} {law}: {speed} for {delivered}");
            let report = contact(&outcome.report, "floor");
            assert!((report.restitution_delivered.unwrap() - delivered).abs() < 1e-9);
            let lost = 0.5 * 0.01 * (1.0 - delivered * delivered);
            assert!((report.dissipated_normal - lost).abs() < 1e-8, "{damping}: {report:?}");
            assert!(outcome.report.certificate.passed, "{damping}: {:?}", outcome.report.energy);
            let noted = outcome.report.notes.iter().any(|note| note.contains("asks for a restitution"));
            assert_eq!(noted, (delivered - nominal).abs() > 0.05 * nominal, "{damping}");
        }
    }
}

/// The force of a dashpot would pull at the end: it is cut, and energy still balances.
#[test]
fn a_contact_never_pulls() {
    let outcome = run(&impact("kind = 'linear', stiffness = 1e6, damping = 40"));
    assert!(column(&outcome, "floor.force").all(|force| force >= 0.0));
    let speed = last(&outcome, "ball.vz");
    assert!(speed > 0.3 && speed < 0.9, "{speed}");
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.energy);
}

/// With every integrator the rebound is the same, to what a step of a thousandth of the contact's period leaves or to the
/// tolerance; implicit methods have the tangent for it.
#[test]
fn every_integrator_resolves_an_impact() {
    let text = impact("kind = 'hertz', damping = 'hunt_crossley', restitution = 0.5");
    for (integrator, step) in [
        ("rk45", None),
        ("dop853", None),
        ("abm", None),
        ("rk4", Some(1e-6)),
        ("radau5", None),
        ("bdf", None),
        ("generalized_alpha", Some(1e-6)),
        ("staggered", Some(1e-6)),
    ] {
        let outcome = run_with(&text, with(integrator, step));
        assert_eq!(outcome.report.status, Status::Completed, "{integrator}: {}", outcome.report.reason);
        let speed = last(&outcome, "ball.vz");
        assert!((speed - 0.6629622).abs() < 1e-3, "{integrator}: {speed}");
    }
}

/// Falls of a ball that bounces are those of the restitution; the first touch is at √(2h/g).
#[test]
fn a_bouncing_ball_rises_to_what_is_left() {
    let text = "format = 'sarrus/1'
        ground.shape = { kind = 'half_space' }
        run = { t_end = 1.0 }
        output.every = 1e-3
        bodies.ball = { at = [0, 0, 1.05], mass = 1.0, shape = { kind = 'sphere', radius = 0.05 } }
        contacts.floor = { between = ['ball', 'ground'], law = { stiffness = 1e9, restitution = 0.8 } }";
    let outcome = run(text);
    let top = outcome.trajectory.rows().filter(|row| row[0] > 0.5).map(|row| row[3]).fold(0.0, f64::max);
    let z = outcome.trajectory.index("ball.z").unwrap();
    assert_eq!(z, 3);
    // h e², with the speed g T/2 of the impact's duration T and the millisecond of samples beside it
    assert!((top - 0.05 - 0.64).abs() < 2e-3, "{top}");
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.energy);
}

/// A block, as a ball that does not roll, on an incline of 30° in the plane.
fn incline(friction: &str, t_end: f64) -> String {
    format!(
        "format = 'sarrus/1'
        space = 'planar'
        gravity = ['-9.81*sin(30 deg)', '-9.81*cos(30 deg)']
        ground.shape = {{ kind = 'half_space' }}
        run = {{ t_end = {t_end} }}
        output.every = 1e-4
        initial.block.vx = 2
        bodies.block = {{ kind = 'point', at = [0, 0.1], mass = 1, shape = {{ kind = 'disc', radius = 0.1 }} }}
        contacts.slope = {{ between = ['block', 'ground'], acts_at = 'centre', law = {{ kind = 'linear', stiffness = 1e6, damping = 2000 }}, friction = {{ {friction} }} }}"
    )
}

/// Stop time and distance of a textbook: v₀ = 2 m/s up, μ = 0.3: 0.268322655232618 s and m. The block settles into the slope by
/// mg cos α/k = 8.5e-6 m in the first milliseconds, and the bristle gives way by μN/k = 2.5e-6 m.
#[test]
fn a_block_on_an_incline_stops_and_slides_back() {
    for friction in [
        "kind = 'coulomb', mu = 0.3, slip_speed = 1e-5",
        "kind = 'bristle', mu = 0.3, stiffness = 1e6",
        "kind = 'lugre', mu = 0.3, stiffness = 1e6",
    ] {
        let outcome = run(&incline(friction, 0.5));
        let (x, v) =
            (outcome.trajectory.index("block.x").unwrap(), outcome.trajectory.index("block.vx").unwrap());
        let rows: Vec<&[f64]> = outcome.trajectory.rows().collect();
        let stop = rows.windows(2).find(|pair| pair[1][v] <= 0.0).unwrap();
        let share = stop[0][v] / (stop[0][v] - stop[1][v]);
        let t = stop[0][0] + share * (stop[1][0] - stop[0][0]);
        let far = rows.iter().map(|row| row[x]).fold(0.0, f64::max);
        assert!((t - 0.268_322_655_232_618).abs() < 1e-4, "{friction}: {t}");
        assert!((far - 0.268_322_655_232_618).abs() < 1e-4, "{friction}: {far}");
        assert!(rows.last().unwrap()[v] < -0.1, "{friction}");
        assert!(outcome.report.certificate.passed, "{friction}: {:?}", outcome.report.energy);
        let report = contact(&outcome.report, "slope");
        assert!(report.dissipated_friction > 0.5, "{report:?}");
    }
}

/// μ = 0.6 is more than tan 30°: it stays where it stops, at 0.19995150123000192 m, and a bristle does not creep.
#[test]
fn a_block_that_sticks_does_not_creep() {
    let outcome = run(&incline("kind = 'bristle', mu = 0.6, stiffness = 1e6", 1.0));
    assert!(last(&outcome, "block.vx").abs() < 1e-9, "{:e}", last(&outcome, "block.vx"));
    let x = last(&outcome, "block.x");
    assert!((x - 0.199_951_501_230_002).abs() < 1e-4, "{x}");
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.energy);
}

/// Two bodies that meet, one of them at rest: momentum stays, linear to rounding and angular to the tolerance.
#[test]
fn what_two_bodies_do_to_each_other_keeps_momentum() {
    let text = "format = 'sarrus/1'
        gravity = [0, 0, 0]
        run = { t_end = 1.0 }
        initial.a.velocity = [1, 0.1, 0]
        initial.a.omega = [0, 0, 5]
        bodies.a = { at = [-0.3, 0, 0], mass = 1, shape = { kind = 'sphere', radius = 0.1 } }
        bodies.b = { at = [0.1, 0.05, 0.02], mass = 2, shape = { kind = 'sphere', radius = 0.1 } }
        contacts.hit = { between = ['a', 'b'], law = { stiffness = 1e6, restitution = 0.7 }, friction = { mu = 0.3, slip_speed = 0.01 } }
        measures.p = { kind = 'momentum', bodies = ['a', 'b'] }";
    let outcome = run(text);
    assert_eq!(contact(&outcome.report, "hit").onsets, 1);
    assert!(last(&outcome, "b.vx") > 0.2);
    let names = ["p.px", "p.py", "p.pz", "p.lx", "p.ly", "p.lz"];
    let known: Vec<&str> =
        names.into_iter().filter(|name| outcome.trajectory.index(name).is_some()).collect();
    assert!(known.len() >= 3, "{:?}", outcome.trajectory.names());
    for name in known {
        let all: Vec<f64> = column(&outcome, name).collect();
        assert!((all[0] - all.last().unwrap()).abs() < 1e-8, "{name}: {} {:?}", all[0], all.last());
    }
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.energy);
}

/// A cam that may let go: the follower is pushed while the gap is closed, and the energy that the cam gives is work.
#[test]
fn a_gap_pushes_along_its_gradient() {
    let text = "format = 'sarrus/1'
        space = 'planar'
        run = { t_end = 2.0 }
        bodies.follower = { at = [0, 0.1], mass = 1, inertia = 1 }
        joints.guide = { kind = 'prismatic', bodies = ['ground', 'follower'], at = [0, 0.1], axis = [0, 1] }
        contacts.cam = { gap = 'follower.y - 0.05*sin(8*t) - 0.05', law = { kind = 'linear', stiffness = 1e5, damping = 100 } }";
    let outcome = run(text);
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    assert!(column(&outcome, "cam.gap").all(|gap| gap > -0.01));
    assert!(column(&outcome, "cam.force").any(|force| force > 5.0));
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.energy);
    assert!(last(&outcome, "energy.work").abs() > 1e-3);
}

#[test]
fn an_event_takes_a_contact_away() {
    let text = "format = 'sarrus/1'
        ground.shape = { kind = 'half_space' }
        run = { t_end = 1.0 }
        bodies.ball = { at = [0, 0, 0.1], mass = 1, shape = { kind = 'sphere', radius = 0.1 } }
        contacts.floor = { between = ['ball', 'ground'], law = { stiffness = 1e6, restitution = 0.3 } }
        events.gone = { when = 't > 0.5', disable = ['floor'] }";
    let outcome = run(text);
    assert!(
        (last(&outcome, "ball.z") - 0.1 + 0.5 * 9.81 * 0.25).abs() < 1e-2,
        "{}",
        last(&outcome, "ball.z")
    );
    assert_eq!(last(&outcome, "floor.force"), 0.0);
}

/// K and D of all laws against central differences of the forces, whose error is of order ε^(2/3) times the stiffness.
#[test]
fn the_tangent_is_that_of_the_forces() {
    for (law, friction) in [
        ("stiffness = 1e4, restitution = 0.5", "mu = 0.3, slip_speed = 0.1"),
        ("kind = 'linear', stiffness = 1e3, damping = 20", "kind = 'bristle', mu = 0.5, stiffness = 500"),
        ("stiffness = 1e4, factor = 0.5", "kind = 'lugre', mu = 0.3, mu_static = 0.4, slip_speed = 0.1"),
    ] {
        let text = format!(
            "format = 'sarrus/1'
            ground.shape = {{ kind = 'half_space' }}
            bodies.a = {{ at = [0, 0, 0.09], mass = 1, shape = {{ kind = 'sphere', radius = 0.1 }} }}
            bodies.b = {{ at = [0.15, 0.05, 0.08], mass = 2, shape = {{ kind = 'sphere', radius = 0.1 }} }}
            contacts.all = {{ between = ['*', '*'], law = {{ {law} }}, friction = {{ {friction} }} }}
            contacts.wall = {{ gap = '0.2 - b.x - 0.3*a.z^2', law = {{ {law} }} }}"
        );
        let (_, system) = built(&text);
        let mut mechanism = system.mechanism();
        let mut s = system.start();
        for (i, v) in s.v.iter_mut().enumerate() {
            *v = 0.05 * ((i * 7 % 5) as f64 - 1.8);
        }
        s.t = 0.0;
        // what states of points hold
        s.x.iter_mut().enumerate().for_each(|(i, x)| *x = 1e-7 * (i % 5) as f64);
        mechanism.accept(&s);
        // away from where it was accepted, so that bristles stretch
        let n = system.structure.nv;
        let way: Vec<f64> = (0..n).map(|i| 1e-3 * ((i * 3 % 7) as f64 - 2.6)).collect();
        mechanism.retract(&mut s.q, &way);
        s.t = 1e-3;
        // slower than when they closed: at that speed the damping has a corner
        s.v.iter_mut().for_each(|v| *v *= 0.8);
        let mut eq = sarrus::solve::Equations::new(&mechanism);
        let mut forces = |mechanism: &mut sarrus::system::Mechanism, s: &State| {
            mechanism.update(s, Stage::FORCE, &mut eq);
            eq.f.clone()
        };
        let mut tangent = mechanism.new_tangent().unwrap();
        mechanism.fill_tangent(&s, &vec![0.0; n], &[], false, &mut tangent);
        let dense = |part: &[f64]| {
            let mut out = vec![0.0; n * n];
            for pair in &tangent.pairs {
                let [a, b] = pair.at.map(|i| system.structure.cols[i]);
                for i in 0..a.size {
                    for j in 0..b.size {
                        out[(a.start + i) * n + b.start + j] = part[pair.offset + i * b.size + j];
                    }
                }
            }
            out
        };
        for (part, velocities) in [(dense(&tangent.K), false), (dense(&tangent.D), true)] {
            let size = part.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
            for j in 0..n {
                let h = 1e-6;
                let moved = |sign: f64| {
                    let mut s = s.clone();
                    if velocities {
                        s.v[j] += sign * h;
                    } else {
                        let mut delta = vec![0.0; n];
                        delta[j] = sign * h;
                        mechanism_retract(&system, &mut s.q, &delta);
                    }
                    s
                };
                let (up, down) = (forces(&mut mechanism, &moved(1.0)), forces(&mut mechanism, &moved(-1.0)));
                for i in 0..n {
                    let difference = -(up[i] - down[i]) / (2.0 * h);
                    let found = part[i * n + j];
                    assert!(
                        (difference - found).abs() < 1e-6 * size,
                        "{law} {i} {j} {velocities}: {difference} {found}"
                    );
                }
            }
        }
    }
}

fn mechanism_retract(system: &Arc<System>, q: &mut [f64], delta: &[f64]) {
    system.mechanism().retract(q, delta);
}

/// In joint coordinates the motion is the same.
#[test]
fn joint_coordinates_make_no_difference() {
    let text = "format = 'sarrus/1'
        space = 'planar'
        ground.shape = { kind = 'half_space' }
        run = { t_end = 1.0 }
        bodies.arm = { from = [0, 0.5], to = [0.6, 0.5], mass = 1, shape = { kind = 'disc', radius = 0.05, on = [0.3, 0] } }
        joints.pin = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0.5] }
        contacts.floor = { between = ['arm', 'ground'], law = { stiffness = 1e6, restitution = 0.5 }, friction = { mu = 0.2, slip_speed = 0.01 } }";
    let [a, b] = ["", "coordinates = 'joint', "].map(|key| {
        let text = text.replace("run = { ", &format!("run = {{ rtol = 1e-9, atol = 1e-11, {key}"));
        let outcome = run(&text);
        assert!(contact(&outcome.report, "floor").onsets > 0);
        assert!(outcome.report.certificate.passed, "{:?}", outcome.report.energy);
        last(&outcome, "arm.angle")
    });
    assert!((a - b).abs() < 1e-5, "{a} {b}");
}

#[test]
fn what_is_wrong_is_said() {
    let base = |contact: &str| {
        format!(
            "format = 'sarrus/1'
            ground.shape = {{ kind = 'half_space' }}
            bodies.ball = {{ mass = 1, shape = {{ kind = 'sphere', radius = 0.1 }} }}
            bodies.ghost = {{ mass = 1, inertia = [1, 1, 1] }}
            contacts.c = {{ {contact} }}"
        )
    };
    for (contact, words) in [
        ("between = ['ball', 'grund'], law = { stiffness = 1 }", "grund"),
        ("between = ['ghost', 'ground'], law = { stiffness = 1 }", "nothing that can touch"),
        ("between = ['ball', 'ball'], law = { stiffness = 1 }", "two different bodies"),
        ("between = ['ball', 'ground']", "Young's modulus"),
        ("between = ['ball', 'ground'], law = { kind = 'linear' }", "needs `stiffness`"),
        ("between = ['ball', 'ground'], law = { stiffness = 1, restitution = 1.5 }", "between 0 and 1"),
        ("between = ['ball', 'ground'], law = { stiffness = 1, damping = 'flores' }", "needs `restitution`"),
        ("between = ['ball', 'ground'], law = { stiffness = 1, restitution = 0 }", "cannot deliver"),
        ("between = ['ball', 'ground'], law = { stiffness = 1 }, friction = { mu = -0.1 }", "mu"),
        ("between = ['ball', 'ground'], law = { stiffness = 1 }, friction = { kind = 'coulomb' }", "mu"),
        (
            "between = ['ball', 'ground'], law = { stiffness = 1 }, friction = { kind = 'bristle', mu = 1 }",
            "stiffness",
        ),
        ("between = ['ball', 'ground'], method = 'impulsive', law = { stiffness = 1 }", "is impulsive"),
        ("gap = 'ball.z', law = { stiffness = 1 }, friction = { mu = 1 }", "takes no `friction`"),
        ("gap = '1', law = { stiffness = 1 }", "nothing can touch"),
        ("law = { stiffness = 1 }", "between"),
    ] {
        let message = error(&base(contact));
        assert!(message.contains(words), "{contact}: {message}");
    }
}

/// Numbers between 0 and 1, the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Random drops with every law: no energy from nothing. The sum of kinetic and potential never rises, and with what is dissipated it
/// stays, to the accuracy of the run.
#[test]
fn random_drops_gain_no_energy() {
    let laws = [
        "stiffness = 1e7",
        "stiffness = 1e7, damping = 'hunt_crossley', restitution = 0.3",
        "stiffness = 1e7, damping = 'lankarani_nikravesh', restitution = 0.6",
        "stiffness = 1e7, damping = 'flores', restitution = 0.4",
        "stiffness = 1e7, restitution = 0.7",
        "stiffness = 1e7, factor = 0.4",
        "stiffness = 1e7, damping = 30",
        "kind = 'linear', stiffness = 1e5, restitution = 0.5",
    ];
    let frictions = [
        "mu = 0.4, slip_speed = 0.02",
        "kind = 'bristle', mu = 0.4, stiffness = 1e5",
        "kind = 'lugre', mu = 0.4, mu_static = 0.5, stiffness = 1e4",
    ];
    let mut dice = Dice(7);
    for law in laws {
        for friction in frictions {
            let mut spread = |size: f64| size * (2.0 * dice.next() - 1.0);
            let text = format!(
                "format = 'sarrus/1'
                ground.shape = {{ kind = 'half_space' }}
                run = {{ t_end = 0.4 }}
                output.every = 2e-3
                initial.a.velocity = [{:?}, {:?}, {:?}]
                initial.a.omega = [{:?}, {:?}, {:?}]
                initial.b.velocity = [{:?}, {:?}, {:?}]
                bodies.a = {{ at = [0, 0, 0.4], mass = 1, shape = {{ kind = 'sphere', radius = 0.1 }} }}
                bodies.b = {{ at = [0.02, 0.03, 0.12], mass = 0.5, shape = {{ kind = 'sphere', radius = 0.1 }} }}
                contacts.all = {{ between = ['*', '*'], law = {{ {law} }}, friction = {{ {friction} }} }}",
                spread(1.0), spread(1.0), -1.0 + spread(1.0), spread(9.0), spread(9.0), spread(9.0), spread(1.0), spread(1.0), spread(1.0)
            );
            let outcome = run(&text);
            assert_eq!(
                outcome.report.status,
                Status::Completed,
                "{law} {friction}: {}",
                outcome.report.reason
            );
            assert!(outcome.report.contacts[0].onsets >= 2, "{law} {friction}");
            let energy: Vec<f64> = column(&outcome, "energy.kinetic")
                .zip(column(&outcome, "energy.potential"))
                .map(|(a, b)| a + b)
                .collect();
            for pair in energy.windows(2) {
                assert!(pair[1] < pair[0] + 1e-5 * energy[0], "{law} {friction}: {} to {}", pair[0], pair[1]);
            }
            assert!(outcome.report.certificate.passed, "{law} {friction}: {:?}", outcome.report.energy);
        }
    }
}
