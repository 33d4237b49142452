//! Options of joints: limits with springy and rigid stops, friction, clearance, armature.

use sarrus::prelude::*;
use std::sync::Arc;

fn outcome(text: &str) -> Outcome {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model =
        load_str("options.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| e.render(&model.sources)).collect::<String>())
    });
    simulate(&model, &Arc::new(system), &Simulate { record: true, ..Simulate::default() }, &mut ()).unwrap()
}

fn run(text: &str) -> Outcome {
    let run = outcome(text);
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
    run
}

fn last(run: &Outcome, column: &str) -> f64 {
    run.trajectory.last(column).unwrap()
}

fn balanced(run: &Outcome, scale: f64) {
    let balance: Vec<f64> = run.trajectory.column("energy.balance").unwrap().collect();
    let off = balance.iter().fold(0.0_f64, |m, e| m.max((e - balance[0]).abs()));
    assert!(off <= 1e-7 * scale, "balance is off by {off} of {scale}");
}

/// A ball on a vertical guide, 1 m above its stop, under g = 10 m/s².
fn falling(options: &str, run: &str) -> String {
    format!(
        "gravity = [0, 0, -10]\nbodies.ball = {{ at = [0, 0, 0], mass = 2, inertia = [1, 1, 1] }}\n\
         joints.guide = {{ kind = 'prismatic', bodies = ['ground', 'ball'], at = [0, 0, 0], axis = [0, 0, 1], reads = 1, {options} }}\n\
         run = {{ {run} }}"
    )
}

/// Falls for √(2h/g), then rebounds with e times its speed: h e² after the first bounce.
#[test]
fn a_rigid_stop_throws_back_by_its_restitution() {
    let e = 0.7_f64;
    let fall = 0.2_f64.sqrt();
    let t = fall + 2.0 * e * fall + e * e * fall;
    for coordinates in ["absolute", "joint"] {
        let run = run(&falling(
            &format!("limits = [0, inf], stop = {{ restitution = {e} }}"),
            &format!("t_end = {t}, coordinates = '{coordinates}'"),
        ));
        // the top of the second bounce
        assert!((last(&run, "guide.position") - e.powi(4)).abs() < 1e-8, "{}", last(&run, "guide.position"));
        assert!(last(&run, "guide.speed").abs() < 1e-7);
        let times: Vec<f64> = run.report.events.iter().map(|event| event.t).collect();
        assert_eq!(times.len(), 2, "{times:?}");
        assert!((times[0] - fall).abs() < 1e-9 && (times[1] - fall * (1.0 + 2.0 * e)).abs() < 1e-8);
        // the stop took up m v (1 + e), and what is lost is heat
        let impulse = run.report.events[0].impulses[0].impulse[0];
        assert!((impulse - 2.0 * 10.0 * fall * (1.0 + e)).abs() < 1e-7, "{impulse}");
        assert!((last(&run, "energy.dissipated") - 20.0 * (1.0 - e.powi(4))).abs() < 1e-7);
        balanced(&run, 20.0);
    }
}

/// Bounces e^n times as long each add up to fall (1 + e)/(1 - e): after that it rests, and the stop bears its weight.
#[test]
fn bounces_that_accumulate_end_in_rest() {
    let e = 0.5_f64;
    let fall = 0.2_f64.sqrt();
    let run = run(&falling(&format!("limits = [0, inf], stop = {{ restitution = {e} }}"), "t_end = 3"));
    assert!(last(&run, "guide.position").abs() < 1e-12);
    assert_eq!(last(&run, "guide.locked"), 1.0);
    assert!((last(&run, "guide.fz") - 20.0).abs() < 1e-9, "{}", last(&run, "guide.fz"));
    let events = &run.report.events;
    // it rests where e^n < 1e-3
    assert_eq!(events.len(), 10, "{events:?}");
    assert!(events.last().unwrap().actions[0].contains("rests"));
    let end = fall * (1.0 + 2.0 * (1..10).map(|n| e.powi(n)).sum::<f64>());
    assert!((events.last().unwrap().t - end).abs() < 1e-7);
    assert!((last(&run, "energy.dissipated") - 20.0).abs() < 1e-6);
}

/// A coordinate that is lifted off its stop leaves it when the stop would have to pull: 30 t = 20.
#[test]
fn a_coordinate_leaves_its_stop_when_it_is_lifted() {
    let run = run(&format!(
        "{}\nforces.lift = {{ kind = 'force', body = 'ball', force = [0, 0, '30*t'] }}",
        falling("limits = [1, inf]", "t_end = 1, rtol = 1e-10, atol = 1e-12")
    ));
    let events = &run.report.events;
    assert_eq!(events.len(), 2, "{events:?}");
    assert!((events[1].t - 2.0 / 3.0).abs() < 1e-9 && events[1].actions[0].contains("leaves"));
    // from then on 2 z̈ = 30 (t - 2/3)
    let rest: f64 = 1.0 / 3.0;
    assert!((last(&run, "guide.position") - (1.0 + 15.0 * rest.powi(3) / 6.0)).abs() < 1e-9);
    balanced(&run, 20.0);
}

/// A hinged bar falls on its stop: the impulse is that of the whole bar, and the pin bears its share. Both ends of the range stop.
#[test]
fn a_pendulum_swings_between_its_stops() {
    let run = run("space = 'planar'\ngravity = [0, -10]\n\
         bodies.bar = { from = [0, 0], to = [1, 0], mass = 3 }\n\
         joints.pin = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0], limits = ['-120 deg', '-30 deg'], stop = { restitution = 1 } }\n\
         initial.pin = { angle = '-31 deg', rate = -2 }\nrun = { t_end = 4, rtol = 1e-10, atol = 1e-12 }");
    let angles: Vec<f64> = run.trajectory.column("pin.angle").unwrap().collect();
    let (lo, hi) = (-120_f64.to_radians(), -30_f64.to_radians());
    assert!(angles.iter().all(|a| (lo - 1e-9..=hi + 1e-9).contains(a)), "{angles:?}");
    assert!(run.report.events.len() > 4);
    assert!(last(&run, "energy.dissipated").abs() < 1e-9);
    balanced(&run, 15.0);
}

/// A springy stop without damping gives back what it took: ω = √(k/m), and the ball is at its height again.
#[test]
fn a_springy_stop_gives_back_what_it_took() {
    let (k, m, g) = (2e4_f64, 2.0_f64, 10.0_f64);
    let fall = 0.2_f64.sqrt();
    let omega = (k / m).sqrt();
    let v = g * fall;
    // in contact about its rest m g/k below: from the phase of touching to that of leaving
    let contact = 2.0 / omega * (std::f64::consts::PI - (v * omega / g).atan());
    let t = 2.0 * fall + contact;
    let run = run(&falling(
        &format!("limits = [0, inf], stop = {{ stiffness = {k} }}"),
        &format!("t_end = {t}, rtol = 1e-10, atol = 1e-12"),
    ));
    assert!((last(&run, "guide.position") - 1.0).abs() < 1e-6, "{}", last(&run, "guide.position"));
    balanced(&run, 20.0);
}

/// With damping it never pulls, and all that is lost is heat.
#[test]
fn a_damped_stop_never_pulls() {
    let run = run(&falling(
        "limits = [0, inf], stop = { stiffness = 2e4, damping = 300 }",
        "t_end = 1.2, rtol = 1e-9, atol = 1e-11",
    ));
    assert!(last(&run, "energy.dissipated") > 10.0);
    balanced(&run, 20.0);
    // between bounces it falls freely: nothing holds it back
    let (z, v): (Vec<f64>, Vec<f64>) = run
        .trajectory
        .column("guide.position")
        .unwrap()
        .zip(run.trajectory.column("guide.speed").unwrap())
        .unzip();
    let energy = |i: usize| 0.5 * v[i] * v[i] + 10.0 * z[i];
    for i in 1..z.len() {
        if z[i - 1] > 0.0 && z[i] > 0.0 && v[i - 1] * v[i] > 0.0 {
            assert!(energy(i) <= energy(i - 1) + 1e-7, "{i}");
        }
    }
}

#[test]
fn stops_that_make_no_sense_are_refused() {
    let says = |options: &str| {
        let text = format!("format = 'sarrus/1'\n{}", falling(options, "t_end = 1"));
        let model = load_str("options.toml", &text, &LoadOptions::default()).unwrap();
        let errors = compile(&model).err().unwrap_or_else(|| panic!("{options}: compiles"));
        errors.iter().map(|e| e.render(&model.sources)).collect::<String>()
    };
    assert!(says("stop = { restitution = 0.5 }").contains("has a `stop` but no `limits`"));
    assert!(says("limits = [0, 1], stop = { restitution = 1.5 }").contains("gives no energy"));
    assert!(says("limits = [1, 0]").contains("is not below"));
    assert!(says("limits = [0, 1], stop = { damping = 1 }").contains("no `stiffness`"));
}

/// A block on a slope of 30° slides with g (sin 30° - μ cos 30°); what friction takes is heat.
#[test]
fn a_block_slides_down_a_slope_with_friction() {
    let (mu, g, m) = (0.3, 10.0, 2.0);
    let (s, c) = 30_f64.to_radians().sin_cos();
    for formulation in ["auto", "udwadia_kalaba", "null_space"] {
        let run = run(&format!(
            "space = 'planar'\ngravity = [0, -{g}]\nbodies.block = {{ at = [0, 0], mass = {m}, inertia = 1 }}\n\
             joints.slope = {{ kind = 'prismatic', bodies = ['ground', 'block'], at = [0, 0], axis = ['cos(30 deg)', '-sin(30 deg)'], \
             friction = {{ mu = {mu}, slip_speed = 1e-3 }} }}\n\
             initial.slope.speed = 1\nrun = {{ t_end = 1, formulation = '{formulation}', rtol = 1e-10, atol = 1e-12 }}"
        ));
        let a = g * (s - mu * c);
        let way = 1.0 + 0.5 * a;
        assert!((last(&run, "slope.speed") - (1.0 + a)).abs() < 1e-9, "{formulation}");
        assert!((last(&run, "slope.position") - way).abs() < 1e-9);
        assert!((last(&run, "energy.dissipated") - mu * m * g * c * way).abs() < 1e-8);
        assert_eq!(last(&run, "energy.work"), 0.0);
        // the reaction is without its friction
        assert!((last(&run, "slope.fx").hypot(last(&run, "slope.fy")) - m * g * c).abs() < 1e-8);
    }
}

/// A flywheel in a journal: I ω̇ = -μ r m g, with constant friction of the same size too.
#[test]
fn a_flywheel_runs_down_in_its_journal() {
    for friction in ["mu = 0.1, radius = 0.02", "torque = '0.1*0.02*3*10'"] {
        for coordinates in ["absolute", "joint"] {
            let run = run(&format!(
                "gravity = [0, 0, -10]\nbodies.wheel = {{ mass = 3, inertia = [0.02, 0.02, 0.04] }}\n\
                 joints.axle = {{ kind = 'revolute', bodies = ['ground', 'wheel'], at = [0, 0, 0], axis = [0, 1, 0], friction = {{ {friction} }} }}\n\
                 initial.axle.rate = 10\nrun = {{ t_end = 2, coordinates = '{coordinates}' }}"
            ));
            let rate = 10.0 - 0.1 * 0.02 * 30.0 / 0.02 * 2.0;
            assert!((last(&run, "axle.rate") - rate).abs() < 1e-7, "{friction} {coordinates}");
            assert!((last(&run, "energy.dissipated") - 0.01 * (100.0 - rate * rate)).abs() < 1e-7);
        }
    }
}

/// The pin of a pendulum bears more the faster it swings, and rubs by what it bears: the heat is ∫ μ r |R| |ω| dt of the columns.
#[test]
fn friction_goes_with_the_reaction_of_a_swinging_pendulum() {
    let run = run(
        "space = 'planar'\ngravity = [0, -10]\nbodies.bar = { from = [0, 0], to = [1, 0], mass = 3 }\nbodies.end = { from = [1, 0], to = [1.5, 0], mass = 1 }\n\
         joints.pin = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0], friction = { mu = 0.2, radius = 0.05, slip_speed = 1e-3 } }\n\
         joints.knee = { kind = 'revolute', bodies = ['bar', 'end'], at = [1, 0], friction = { mu = 0.2, radius = 0.03, slip_speed = 1e-3 } }\n\
         run = { t_end = 0.5, rtol = 1e-10, atol = 1e-12 }\noutput = { every = 1e-3 }",
    );
    balanced(&run, 20.0);
    let column = |name: &str| run.trajectory.column(name).unwrap().collect::<Vec<f64>>();
    let mut rubbed = vec![0.0; column("t").len()];
    for (joint, radius) in [("pin", 0.05), ("knee", 0.03)] {
        let (fx, fy, w) = (
            column(&format!("{joint}.fx")),
            column(&format!("{joint}.fy")),
            column(&format!("{joint}.rate")),
        );
        for i in 0..w.len() {
            rubbed[i] += 0.2 * radius * fx[i].hypot(fy[i]) * w[i] * (w[i] / 1e-3).tanh();
        }
    }
    let heat: f64 = rubbed.windows(2).map(|w| 0.5 * (w[0] + w[1]) * 1e-3).sum();
    // the trapezoidal rule over steps of 1 ms: second order
    assert!(
        (last(&run, "energy.dissipated") - heat).abs() < 1e-4 * heat,
        "{} {heat}",
        last(&run, "energy.dissipated")
    );
    assert!(heat > 0.1);
}

/// A block that hangs by d under its guide of half length r tilts as it is braked: F = μ m g/(1 - μ d/r). From μ d = r on it locks itself.
fn hanging(d: f64) -> String {
    format!(
        "space = 'planar'\ngravity = [0, -10]\nbodies.block = {{ at = [0, -{d}], mass = 2, inertia = 0.5 }}\n\
         joints.guide = {{ kind = 'prismatic', bodies = ['ground', 'block'], at = [0, 0], axis = [1, 0], friction = {{ mu = 0.4, radius = 0.1 }} }}\n\
         initial.guide.speed = 20\nrun = {{ t_end = 0.3, rtol = 1e-10, atol = 1e-12 }}"
    )
}

#[test]
fn a_guide_jams_where_friction_grows_with_itself() {
    for d in [0.0, 0.125, 0.2] {
        let run = run(&hanging(d));
        let force = 0.4 * 20.0 / (1.0 - 0.4 * d / 0.1);
        let speed = 20.0 - 0.5 * force * 0.3;
        assert!((last(&run, "guide.speed") - speed).abs() < 1e-9, "{d}: {}", last(&run, "guide.speed"));
    }
    let run = outcome(&hanging(0.3));
    let why = format!("{:?} {:?}", run.report.reason, run.report.failure);
    assert!(
        run.report.status != Status::Completed && why.contains("friction in joints has no solution"),
        "{why}"
    );
}

/// Every integrator that finds the multipliers itself, and how near it comes in steps of 0.5 ms.
const OWN_MULTIPLIERS: &[(&str, f64)] = &[
    ("generalized_alpha", 1e-4),
    ("hht", 1e-4),
    ("newmark", 1e-2),
    ("bdf", 1e-4),
    ("radau5", 1e-6),
    ("linearly_implicit_euler", 1e-2),
    ("staggered", 1e-4),
    ("park1987", 1e-4),
];

/// The block on the slope and a pendulum whose pin rubs, with integrators that find λ themselves: implicit ones have friction in the
/// residual of Newton's iteration, staggered ones that of the λ before.
#[test]
fn friction_goes_with_implicit_and_staggered_integrators() {
    let pendulum = |run: &str| {
        format!(
            "space = 'planar'\ngravity = [0, -10]\nbodies.bar = {{ from = [0, 0], to = [1, 0], mass = 3 }}\nbodies.end = {{ from = [1, 0], to = [1.5, 0], mass = 1 }}\n\
             joints.pin = {{ kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0], friction = {{ mu = 0.2, radius = 0.05, slip_speed = 0.05 }} }}\n\
             joints.knee = {{ kind = 'revolute', bodies = ['bar', 'end'], at = [1, 0], friction = {{ mu = 0.2, radius = 0.03, slip_speed = 0.05 }} }}\n\
             run = {{ t_end = 0.5, {run} }}"
        )
    };
    let exact = run(&pendulum("rtol = 1e-11, atol = 1e-13"));
    let (angle, heat) = (last(&exact, "knee.angle"), last(&exact, "energy.dissipated"));
    assert!(heat > 0.1);
    for (integrator, tolerance) in OWN_MULTIPLIERS {
        let run = outcome(&pendulum(&format!("step = 5e-4, integrator = '{integrator}'")));
        assert_eq!(run.report.status, Status::Completed, "{integrator}: {:?}", run.report.reason);
        let off = (last(&run, "knee.angle") - angle).abs();
        let lost = (last(&run, "energy.dissipated") - heat).abs();
        assert!(off < *tolerance && lost < *tolerance, "{integrator}: {off:e} {lost:e}");
    }
}

/// A ball that spins in its socket: I ω̇ = -μ r m g about whatever axis it turns, and the same with a constant torque.
#[test]
fn a_ball_joint_rubs_against_every_turn() {
    let (mu, r, m, inertia) = (0.1, 0.02, 3.0, 0.02);
    for friction in ["mu = 0.1, radius = 0.02", "torque = '0.1*0.02*3*10'"] {
        for integrator in ["rk45", "generalized_alpha"] {
            let run = outcome(&format!(
                "gravity = [0, 0, -10]\nbodies.ball = {{ mass = {m}, inertia = [{inertia}, {inertia}, {inertia}] }}\n\
                 joints.socket = {{ kind = 'spherical', bodies = ['ground', 'ball'], at = [0, 0, 0], friction = {{ {friction} }} }}\n\
                 initial.ball.omega = [6, 0, 8]\nrun = {{ t_end = 2, step = 1e-2, integrator = '{integrator}' }}"
            ));
            let rate = 10.0 - mu * r * m * 10.0 / inertia * 2.0;
            let tolerance = 1e-6;
            assert!((last(&run, "ball.wx") - 0.6 * rate).abs() < tolerance, "{friction} {integrator}");
            assert!((last(&run, "ball.wz") - 0.8 * rate).abs() < tolerance, "{friction} {integrator}");
            let lost = 0.5 * inertia * (100.0 - rate * rate);
            assert!((last(&run, "energy.dissipated") - lost).abs() < 1e-3 * lost, "{friction} {integrator}");
        }
    }
    // and at rest it stays, without a number that is none
    let rest = run("gravity = [0, 0, -10]\nbodies.ball = { mass = 3, inertia = [1, 1, 1] }\n\
        joints.socket = { kind = 'spherical', bodies = ['ground', 'ball'], at = [0, 0, 0], friction = { mu = 0.1, radius = 1 } }\n\
        run = { t_end = 0.1, step = 1e-2, integrator = 'generalized_alpha' }");
    assert_eq!(last(&rest, "ball.wx"), 0.0);
}

/// Two hinges on one axle share their load as they like.
#[test]
fn friction_on_a_reaction_that_is_not_unique_is_told() {
    let text = "bodies.door = { at = [0.5, 0, 0], mass = 3, inertia = [1, 1, 1] }\n\
                joints.low = { kind = 'revolute', bodies = ['ground', 'door'], at = [0, 0, -0.5], friction = { mu = 0.1, radius = 0.01 } }\n\
                joints.high = { kind = 'revolute', bodies = ['ground', 'door'], at = [0, 0, 0.5] }\n\
                run = { t_end = 0.01 }";
    let run = run(text);
    let reports =
        |notes: &[String]| notes.iter().any(|n| n.contains("friction in `low`") && n.contains("not unique"));
    assert!(reports(&run.report.notes), "{:?}", run.report.notes);
    let model =
        load_str("door.toml", &format!("format = 'sarrus/1'\n{text}"), &LoadOptions::default()).unwrap();
    let report = check(&model, &Arc::new(compile(&model).unwrap())).unwrap();
    assert!(reports(&report.notes), "{:?}", report.notes);
}

#[test]
fn friction_that_makes_no_sense_is_refused() {
    let says = |options: &str| {
        let text = format!("format = 'sarrus/1'\n{}", falling(options, "t_end = 1"));
        let model = load_str("options.toml", &text, &LoadOptions::default()).unwrap();
        let errors = compile(&model).err().unwrap_or_else(|| panic!("{options}: compiles"));
        errors.iter().map(|e| e.render(&model.sources)).collect::<String>()
    };
    assert!(says("friction = { torque = 1 }").contains("its coordinate has a `force`"));
    assert!(says("friction = { mu = 0.1, force = 1 }").contains("mu"));
    assert!(says("friction = { force = 1, radius = 1 }").contains("`radius` has no effect"));
}

/// A weight whose pin, hinge or ball has play falls to the end of it and rests there: gap + (W/K)^(2/3) off its centre, and the
/// reaction is its weight.
#[test]
fn a_journal_rests_at_the_bottom_of_its_bearing() {
    let (gap, K, W) = (1e-3, 1e9_f64, 20.0);
    let play = format!("clearance = {{ gap = {gap}, law = {{ stiffness = {K}, damping = 500 }} }}");
    let planar = format!(
        "space = 'planar'\ngravity = [0, -10]\nbodies.disc = {{ mass = 2, inertia = 1 }}\n\
         joints.pin = {{ kind = 'revolute', bodies = ['ground', 'disc'], at = [0, 0], {play} }}\n"
    );
    let spatial = |kind: &str| {
        format!(
            "gravity = [0, -10, 0]\nbodies.disc = {{ mass = 2, inertia = [1, 1, 1] }}\n\
             joints.pin = {{ kind = '{kind}', bodies = ['ground', 'disc'], at = [0, 0, 0], {play} }}\n"
        )
    };
    for text in [planar, spatial("revolute"), spatial("spherical")] {
        // steps of a fixed size do not close the energy accounts of an impact that is shorter than they are: they are to find the rest
        for (method, certified) in
            [("rtol = 1e-9, atol = 1e-12", true), ("integrator = 'generalized_alpha', step = 1e-4", false)]
        {
            let text = format!("{text}run = {{ t_end = 0.3, {method} }}");
            let run = if certified { run(&text) } else { outcome(&text) };
            let rest = gap + (W / K).powf(2.0 / 3.0);
            let eccentricity = last(&run, "pin.clearance.eccentricity");
            assert!(
                (eccentricity - rest).abs() < 1e-4 * (rest - gap),
                "{eccentricity} {rest} {method}\n{text}"
            );
            assert!((last(&run, "pin.fy") - W).abs() < 1e-4 * W, "{}", last(&run, "pin.fy"));
            // what it fell is heat, but for what the contact stores
            let heat = W * rest - 0.4 * K * (rest - gap).powf(2.5);
            let off = (last(&run, "energy.dissipated") - heat).abs();
            assert!(!certified || off < 1e-5 * heat, "{off} of {heat}");
        }
    }
}

/// Impacts in the play take energy by their restitution and nothing else does; without damping they take none.
#[test]
fn play_keeps_its_books() {
    for (law, loses) in [("restitution = 0.6", true), ("kind = 'linear'", false)] {
        let run = run(&format!(
            "space = 'planar'\ngravity = [0, -10]\nbodies.bar = {{ from = [0, 0], to = [1, 0], mass = 2 }}\n\
             joints.pin = {{ kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0], clearance = {{ gap = 1e-3, law = {{ stiffness = 1e7, {law} }} }} }}\n\
             run = {{ t_end = 0.5, rtol = 1e-9, atol = 1e-12 }}"
        ));
        balanced(&run, 10.0);
        let lost = last(&run, "energy.dissipated");
        assert!(if loses { lost > 1e-4 } else { lost == 0.0 }, "{lost}");
        // a pendulum all the same: its pin never left the bearing by more than the contact gives way under six times its weight, or,
        // where impacts continue for ever, by a tenth of the play
        let most = if loses { (120.0 / 1e7_f64).powf(2.0 / 3.0) } else { 1e-4 };
        let off = run.trajectory.column("pin.clearance.eccentricity").unwrap().fold(0.0, f64::max);
        assert!(off > 1e-3 && off < 1e-3 + most, "{off}");
    }
}

/// A slider-crank whose wrist pin has play follows the ideal one by no more than the play.
#[test]
fn a_slider_crank_with_play_follows_the_ideal_one() {
    let (r, l, gap, omega) = (0.1_f64, 0.3_f64, 2e-4, 20.0);
    let run = run(&format!(
        "space = 'planar'\ngravity = [0, 0]\n\
         bodies.crank = {{ from = [0, 0], to = [{r}, 0], mass = 1 }}\nbodies.rod = {{ from = [{r}, 0], to = [{}, 0], mass = 0.5 }}\n\
         bodies.slider = {{ at = [{}, 0], mass = 0.5, inertia = 0.01 }}\n\
         joints.main = {{ kind = 'revolute', bodies = ['ground', 'crank'], at = [0, 0] }}\n\
         joints.crankpin = {{ kind = 'revolute', bodies = ['crank', 'rod'], at = [{r}, 0] }}\n\
         joints.wrist = {{ kind = 'revolute', bodies = ['rod', 'slider'], at = [{}, 0], clearance = {{ gap = {gap}, law = {{ stiffness = 1e9, restitution = 0.5 }} }} }}\n\
         joints.guide = {{ kind = 'prismatic', bodies = ['ground', 'slider'], at = [{}, 0], axis = [1, 0] }}\n\
         drivers.motor = {{ kind = 'joint', joint = 'main', angle = '{omega}*t' }}\n\
         run = {{ t_end = 0.5, rtol = 1e-7, atol = 1e-10 }}\noutput = {{ every = 1e-3 }}",
        r + l,
        r + l,
        r + l,
        r + l
    ));
    let column = |name: &str| run.trajectory.column(name).unwrap().collect::<Vec<f64>>();
    let (mut most, mut late) = (0.0_f64, 0.0_f64);
    for ((t, x), e) in column("t").iter().zip(column("slider.x")).zip(column("wrist.clearance.eccentricity"))
    {
        let (s, c) = (omega * t).sin_cos();
        let long = (l * l - r * r * s * s).sqrt();
        // play along the rod shows as play/cos along the guide; what is left out is of second order, and rows hold to 1e-8
        let off = (x - r * c - long).abs();
        assert!(off <= e * l / long + e * e / l + 1e-8, "{t}: {off} {e}");
        most = most.max(off);
        late = late.max(if *t > 0.1 { e } else { 0.0 });
    }
    // and once the first impacts are over the contact gives way by what it bears
    assert!(most > 0.9 * gap && late > gap && late < 1.2 * gap, "{most} {late}");
    // and is pressed along: the contact bears what accelerates the slider, m r ω² about
    let force = column("wrist.fx").iter().fold(0.0_f64, |m, f| m.max(f.abs()));
    assert!(force > 0.5 * r * omega * omega, "{force}");
    balanced(&run, 10.0);
}

#[test]
fn clearance_that_makes_no_sense_is_refused() {
    let says = |joint: &str| {
        let text = format!(
            "format = 'sarrus/1'\nbodies.a = {{ mass = 1, inertia = [1, 1, 1] }}\njoints.k = {{ bodies = ['ground', 'a'], at = [0, 0, 0], {joint} }}"
        );
        let model = load_str("options.toml", &text, &LoadOptions::default()).unwrap();
        let errors = compile(&model).err().unwrap_or_else(|| panic!("{joint}: compiles"));
        errors.iter().map(|e| e.render(&model.sources)).collect::<String>()
    };
    let play = "clearance = { gap = 1e-3, law = { stiffness = 1e6 } }";
    assert!(says(&format!("kind = 'prismatic', {play}")).contains("takes no `clearance`"));
    assert!(says("kind = 'revolute', clearance = { gap = 1e-3 }").contains("`stiffness`"));
    assert!(says("kind = 'revolute', clearance = { law = { stiffness = 1 } }").contains("gap"));
    assert!(says("kind = 'revolute', clearance = { gap = 0, law = { stiffness = 1 } }").contains("gap"));
}

/// (I + A) α = τ of a pendulum that falls: its energy is with I + A, and the pin bears the bar alone.
#[test]
fn armature_adds_to_the_inertia_of_a_pendulum() {
    let (m, l, A, g) = (3.0, 1.0, 0.7, 10.0);
    let I = m * l * l / 3.0;
    for (method, tolerance) in [
        ("rtol = 1e-11, atol = 1e-13", 1e-9),
        ("rtol = 1e-11, atol = 1e-13, coordinates = 'joint'", 1e-9),
        ("integrator = 'generalized_alpha', step = 1e-4", 1e-4),
        ("integrator = 'staggered', step = 1e-4", 1e-4),
    ] {
        let run = run(&format!(
            "space = 'planar'\ngravity = [0, -{g}]\nbodies.bar = {{ from = [0, 0], to = [{l}, 0], mass = {m} }}\n\
             joints.pin = {{ kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0], armature = {A} }}\n\
             run = {{ t_end = 0.4, {method} }}"
        ));
        let (angle, rate) = (last(&run, "pin.angle"), last(&run, "pin.rate"));
        assert!(angle < -0.5);
        let fallen = -m * g * 0.5 * l * angle.sin();
        assert!((0.5 * (I + A) * rate * rate - fallen).abs() < tolerance * 10.0, "{method}");
        assert!((last(&run, "energy.kinetic") - fallen).abs() < tolerance * 10.0, "{method}");
        // m a of the centre along the bar is -ω² l/2, across α l/2
        let alpha = -m * g * 0.5 * l * angle.cos() / (I + A);
        let along = last(&run, "pin.fx") * angle.cos() + last(&run, "pin.fy") * angle.sin();
        let across = last(&run, "pin.fy") * angle.cos() - last(&run, "pin.fx") * angle.sin();
        assert!(
            (along - m * (g * angle.sin() - 0.5 * l * rate * rate)).abs() < tolerance * 100.0,
            "{method}"
        );
        assert!((across - m * (g * angle.cos() + 0.5 * l * alpha)).abs() < tolerance * 100.0, "{method}");
    }
}

/// Between two free bodies: a = τ/(A + I₁I₂/(I₁ + I₂)) of the coordinate, and no torque from outside.
#[test]
fn armature_couples_two_free_bodies() {
    let (a, b, A, torque) = (2.0, 3.0, 0.5, 4.0);
    let run = run(&format!(
        "bodies.a = {{ mass = 1, inertia = [{a}, {a}, {a}] }}\nbodies.b = {{ mass = 1, inertia = [{b}, {b}, {b}] }}\n\
         joints.axle = {{ kind = 'revolute', bodies = ['a', 'b'], at = [0, 0, 0], armature = {A} }}\n\
         forces.motor = {{ kind = 'actuator', joint = 'axle', torque = {torque} }}\n\
         measures.l = {{ kind = 'momentum', bodies = ['a', 'b'] }}\ngravity = [0, 0, 0]\nrun = {{ t_end = 1 }}"
    ));
    let rate = torque / (A + a * b / (a + b));
    assert!((last(&run, "axle.rate") - rate).abs() < 1e-8, "{} {rate}", last(&run, "axle.rate"));
    assert!((a * last(&run, "a.wz") + b * last(&run, "b.wz")).abs() < 1e-8);
    assert!(last(&run, "l.lz").abs() < 1e-8);
}

/// A motor behind a gearbox of ratio N, as bodies and as armature N² J: the same motion. Of a coordinate among several, and of a
/// length: (m + A) a = m g.
#[test]
fn armature_is_a_geared_rotor() {
    let arm = "space = 'planar'\ngravity = [0, -10]\nbodies.arm = { from = [0, 0], to = [1, 0], mass = 3 }\n";
    let geared = run(&format!(
        "{arm}bodies.rotor = {{ at = [0, 1], mass = 1, inertia = 2e-4 }}\n\
         joints.pin = {{ kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }}\n\
         joints.shaft = {{ kind = 'revolute', bodies = ['ground', 'rotor'], at = [0, 1] }}\n\
         constraints.box = {{ kind = 'coupler', coordinates = ['pin.angle', 'shaft.angle'], factors = [50, -1] }}\n\
         run = {{ t_end = 1, rtol = 1e-10, atol = 1e-12 }}"
    ));
    let own = run(&format!(
        "{arm}joints.pin = {{ kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0], armature = '50^2*2e-4' }}\n\
         run = {{ t_end = 1, rtol = 1e-10, atol = 1e-12 }}"
    ));
    for column in ["pin.angle", "pin.rate", "pin.fx", "pin.fy"] {
        assert!((last(&geared, column) - last(&own, column)).abs() < 1e-6, "{column}");
    }
    let falls = run("gravity = [0, 0, -10]\nbodies.a = { mass = 2, inertia = [1, 1, 1] }\n\
        joints.bush = { kind = 'cylindrical', bodies = ['ground', 'a'], at = [0, 0, 0], position = { armature = 3 }, angle = { armature = 1 } }\n\
        run = { t_end = 1 }");
    assert!((last(&falls, "bush.speed") + 10.0 * 2.0 / 5.0).abs() < 1e-8, "{}", last(&falls, "bush.speed"));
    assert!(last(&falls, "bush.rate").abs() < 1e-12);
}

fn refusal(text: &str) -> String {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model =
        load_str("options.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let Err(errors) = compile(&model) else { panic!("it compiles") };
    errors.iter().map(|e| e.render(&model.sources)).collect()
}

/// A spring between a point mass and a bar would have no second end: the torque on the point is lost, and with it the angular momentum.
#[test]
fn a_joint_that_holds_a_point_mass_has_no_coordinate() {
    let pin = "space = 'planar'\nbodies.p = { kind = 'point', at = [1, 0], mass = 2 }\n\
               bodies.b = { from = [0, 0], to = [1, 0], mass = 1 }\n";
    for option in [
        "stiffness = 30",
        "damping = 1",
        "friction = { mu = 0.2 }",
        "limits = [-1, 1]",
        "lock_at = 0.3",
        "armature = 0.1",
    ] {
        let text =
            format!("{pin}joints.j = {{ kind = 'revolute', bodies = ['p', 'b'], at = [1, 0], {option} }}");
        let error = refusal(&text);
        assert!(error.contains("takes no torque"), "{option}: {error}");
    }
    let joint = "joints.j = { kind = 'revolute', bodies = ['p', 'b'], at = [1, 0] }\n";
    for user in [
        "drivers.d = { kind = 'joint', joint = 'j', position = 't' }",
        "forces.f = { kind = 'actuator', joint = 'j', torque = '1' }",
    ] {
        let error = refusal(&format!("{pin}{joint}{user}"));
        assert!(error.contains("no orientation"), "{user}: {error}");
    }
    let ball = "bodies.p = { kind = 'point', at = [1, 0, 0], mass = 2 }\n\
                bodies.b = { from = [0, 0, 0], to = [1, 0, 0], mass = 1, shape = { kind = 'capsule', radius = 0.1 } }\n\
                joints.j = { kind = 'spherical', bodies = ['p', 'b'], at = [1, 0, 0]";
    let error = refusal(&format!("{ball}, friction = {{ torque = 1 }} }}"));
    assert!(error.contains("takes no torque"), "{error}");
    // without such options it holds the point, and momentum about the centre is kept
    let run = run(&format!(
        "{pin}{joint}gravity = [0, 0]\ninitial.b.rate = 3\nrun.t_end = 1\nmeasures.l = {{ kind = 'momentum', bodies = ['p', 'b'] }}"
    ));
    assert!(run.trajectory.names().iter().all(|name| !name.starts_with("j.angle") && name != "j.rate"));
    let momentum: Vec<f64> = run.trajectory.column("l.lz").unwrap().collect();
    assert!(
        momentum[0].abs() > 0.1 && momentum.iter().all(|l| (l - momentum[0]).abs() < 1e-9),
        "{momentum:?}"
    );
}
