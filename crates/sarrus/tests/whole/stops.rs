//! Rigid limits of joints are one-sided: impacts of several at once, jumps of drivers and locks, redundant limits, and what the
//! certificate says of them.

use sarrus::prelude::*;
use std::sync::Arc;

fn system(text: &str) -> (Model, Arc<System>) {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model =
        load_str("stops.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| e.render(&model.sources)).collect::<String>())
    });
    (model, Arc::new(system))
}

fn outcome(text: &str) -> Outcome {
    let (model, system) = system(text);
    simulate(&model, &system, &Simulate { record: true, ..Simulate::default() }, &mut ()).unwrap()
}

fn run(text: &str) -> Outcome {
    let run = outcome(text);
    assert!(run.report.certificate.passed, "{:?} {}", run.report.certificate, run.report.reason);
    run
}

fn last(run: &Outcome, column: &str) -> f64 {
    run.trajectory.last(column).unwrap()
}

fn near(run: &Outcome, column: &str, value: f64) {
    let got = last(run, column);
    assert!((got - value).abs() < 1e-7 * value.abs().max(1.0), "{column} is {got}, not {value}");
}

/// Methods of different families.
const METHODS: [&str; 5] = [
    "",
    "coordinates = 'joint'",
    "formulation = 'null_space'",
    "integrator = 'rk4', step = 0.01",
    "integrator = 'radau5', rtol = 1e-9, atol = 1e-11",
];

/// A carriage `a` of 1 kg on a rail, and `b` of 2 kg that slides on it, both along x or about one axis; coordinates A and B.
fn pair(space: &str, kind: &str, options: [&str; 2], rest: &str) -> String {
    let rotates = kind == "revolute";
    let (at, axis, gravity) = match (space, rotates) {
        ("planar", true) => ("[0, 0]", "", "[0, 0]"),
        ("planar", false) => ("[0, 0]", "axis = [1, 0],", "[0, 0]"),
        (_, true) => ("[0, 0, 0]", "axis = [0, 0, 1],", "[0, 0, 0]"),
        (_, false) => ("[0, 0, 0]", "axis = [1, 0, 0],", "[0, 0, 0]"),
    };
    let body = |m: f64| match space {
        "planar" => format!("{{ at = {at}, mass = {m}, inertia = {m} }}"),
        _ => format!("{{ at = {at}, mass = {m}, inertia = [{m}, {m}, {m}] }}"),
    };
    format!(
        "space = '{space}'\ngravity = {gravity}\nbodies = {{ a = {}, b = {} }}\n\
         joints.A = {{ kind = '{kind}', bodies = ['ground', 'a'], at = {at}, {axis} {} }}\n\
         joints.B = {{ kind = '{kind}', bodies = ['a', 'b'], at = {at}, {axis} {} }}\n{rest}",
        body(1.0),
        body(2.0),
        options[0],
        options[1]
    )
}

/// `limits` of half a metre, or radian, with a restitution.
fn half(e: f64) -> String {
    format!("limits = [-0.5, 0.5], stop = {{ restitution = {e} }}")
}

fn names(kind: &str) -> [&'static str; 2] {
    if kind == "revolute" { ["angle", "rate"] } else { ["position", "speed"] }
}

/// b lies on the lower stop of B from 0.25 s on and continues at 1/6 m/s when a is stopped by the upper stop of A, at 1 s.
#[test]
fn a_stop_does_not_hold_back_what_rests_on_it() {
    for (space, kind) in
        [("planar", "prismatic"), ("spatial", "prismatic"), ("planar", "revolute"), ("spatial", "revolute")]
    {
        let [q, v] = names(kind);
        for method in METHODS {
            let rest = format!("initial = {{ A.{v} = 1.5, B.{v} = -2 }}\nrun = {{ t_end = 3, {method} }}");
            let run = run(&pair(space, kind, [&half(0.0), &half(0.0)], &rest));
            near(&run, &format!("B.{q}"), -0.5 + 2.0 / 6.0);
            near(&run, &format!("A.{q}"), 0.5);
            near(&run, "energy.kinetic", 1.0 / 36.0);
        }
    }
}

/// b is carried by the lower stop from 0.5 s on; when the driver stops the carriage at 1 s, or an event locks it, b flies on at 1 m/s.
#[test]
fn jumps_of_drivers_and_locks_let_go_what_rests_on_a_stop() {
    let initial = "initial.B.speed = -1\nrun.t_end = 1.8\n";
    let driver = "drivers.D = { kind = 'joint', joint = 'A', speed = 'if(t < 1, 1, 0)' }\n";
    let free = run(&pair("planar", "prismatic", ["", &half(0.0)], &format!("{initial}{driver}")));
    near(&free, "B.position", 0.3);
    assert_eq!(last(&free, "B.locked"), 0.0);
    let lock = "initial = { A.speed = 1, B.speed = -1 }\nrun.t_end = 1.8\nevents.e = { when = 't >= 1', lock = ['A'] }\n";
    let locked = run(&pair("spatial", "prismatic", ["", &half(0.0)], lock));
    // together at 1/3 m/s from 0.5 s on
    near(&locked, "B.position", -0.5 + 0.8 / 3.0);
    near(&locked, "A.speed", 0.0);
}

/// Both stops are hit at 0.5 s: each speed is turned round by its restitution, whatever the other does.
#[test]
fn limits_reached_at_one_instant_are_one_impact() {
    for (space, kind) in [("planar", "prismatic"), ("spatial", "revolute")] {
        let [q, v] = names(kind);
        for e in [0.0, 0.5, 1.0] {
            let rest = format!(
                "initial = {{ A.{v} = 1, B.{v} = 1 }}\nrun = {{ t_end = 1.5, rtol = 1e-10, atol = 1e-12 }}"
            );
            let run = run(&pair(space, kind, [&half(e), &half(e)], &rest));
            for joint in ["A", "B"] {
                let column: Vec<f64> = run.trajectory.column(&format!("{joint}.{q}")).unwrap().collect();
                assert!(column.iter().all(|x| x.abs() <= 0.5 + 1e-9), "{joint}: {column:?}");
                // for one second at e
                near(&run, &format!("{joint}.{q}"), 0.5 - e);
            }
            assert!(run.report.certificate.gap.is_some_and(|gap| gap.passed && gap.value < 1e-9));
        }
    }
}

/// Three in a row, all at their stops at once, and pressed on.
#[test]
fn three_limits_at_once_hold_each_other() {
    let text = "space = 'planar'\ngravity = [4, 0]\n\
        bodies = { a = { at = [0, 0], mass = 1, inertia = 1 }, b = { at = [0, 1], mass = 2, inertia = 1 }, c = { at = [0, 2], mass = 3, inertia = 1 } }\n\
        joints.A = { kind = 'prismatic', bodies = ['ground', 'a'], at = [0, 0], axis = [1, 0], limits = [-1, 0.5] }\n\
        joints.B = { kind = 'prismatic', bodies = ['a', 'b'], at = [0, 1], axis = [1, 0], limits = [-1, 0.5] }\n\
        joints.C = { kind = 'prismatic', bodies = ['b', 'c'], at = [0, 2], axis = [1, 0], limits = [-1, 0.5] }\n\
        initial = { A.speed = 1, B.speed = 1, C.speed = 1 }\nrun.t_end = 2\n";
    let run = run(text);
    for joint in ["A", "B", "C"] {
        near(&run, &format!("{joint}.position"), 0.5);
        assert_eq!(last(&run, &format!("{joint}.locked")), 1.0);
    }
    // the first stop bears all of them
    near(&run, "A.fx", -24.0);
}

/// Fingers in mesh with mirrored limits: those of the second say nothing new.
#[test]
fn equivalent_limits_let_go_together() {
    let gripper = |own: &str, e: f64| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\n\
             bodies = {{ l = {{ from = [-0.1, 0], to = [-0.1, 0.5], mass = 1 }}, r = {{ from = [0.1, 0], to = [0.1, 0.5], mass = 1 }} }}\n\
             joints.L = {{ kind = 'revolute', bodies = ['ground', 'l'], at = [-0.1, 0], reads = 0, limits = [-0.5, 0.3], stop = {{ restitution = {e} }} }}\n\
             joints.R = {{ kind = 'revolute', bodies = ['ground', 'r'], at = [0.1, 0], reads = 0 {own} }}\n\
             constraints.g = {{ kind = 'gear', bodies = ['l', 'r'], teeth = [20, 20] }}\n\
             forces.m = {{ kind = 'actuator', joint = 'L', torque = '-0.5*cos(2*t)' }}\n\
             initial.L.rate = -1\nrun = {{ t_end = 4, rtol = 1e-9, atol = 1e-11 }}\n"
        )
    };
    for e in [0.0, 0.5] {
        let one = run(&gripper("", e));
        let both = run(&gripper(&format!(", limits = [-0.3, 0.5], stop = {{ restitution = {e} }}"), e));
        assert!((last(&one, "L.angle") - last(&both, "L.angle")).abs() < 1e-7, "e = {e}");
        near(&both, "R.angle", -last(&both, "L.angle"));
    }
    let both = run(&gripper(", limits = [-0.3, 0.5]", 0.0));
    assert!((last(&both, "L.angle") + 0.49961).abs() < 1e-5, "{}", last(&both, "L.angle"));
}

/// A ball of 1 kg at -2 m/s meets what a driver moves at 1 m/s: the driver does impulse times speed.
#[test]
fn drivers_do_work_in_impacts() {
    let paddle = |e: f64| {
        format!(
            "gravity = [0, 0, 0]\n\
             bodies.p = {{ at = [0, 0, -0.05], mass = 1, shape = {{ kind = 'box', size = [1, 1, 0.1] }} }}\n\
             bodies.b = {{ at = [0, 0, 1.1], mass = 1, shape = {{ kind = 'sphere', radius = 0.1 }} }}\n\
             joints.j = {{ kind = 'prismatic', bodies = ['ground', 'p'], at = [0, 0, 0], axis = [0, 0, 1] }}\n\
             drivers.d = {{ kind = 'joint', joint = 'j', position = 't' }}\n\
             contacts.x = {{ between = ['b', 'p'], method = 'impulsive', restitution = {e} }}\n\
             initial.b.velocity = [0, 0, -2]\nrun.t_end = 0.5\n"
        )
    };
    let gap = |e: f64| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 1], mass = 1, inertia = 1 }}\n\
             contacts.x = {{ gap = 'b.y - t', method = 'impulsive', restitution = {e} }}\n\
             initial.b.velocity = [0, -2]\nrun.t_end = 0.5\n"
        )
    };
    let stop = |e: f64| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\n\
             bodies = {{ p = {{ at = [0, 0], mass = 1, inertia = 1 }}, b = {{ at = [0, 1], mass = 1, inertia = 1 }} }}\n\
             joints.j = {{ kind = 'prismatic', bodies = ['ground', 'p'], at = [0, 0], axis = [0, 1] }}\n\
             joints.k = {{ kind = 'prismatic', bodies = ['p', 'b'], at = [0, 1], axis = [0, 1], limits = [-1, 5], stop = {{ restitution = {e} }} }}\n\
             drivers.d = {{ kind = 'joint', joint = 'j', position = 't' }}\n\
             initial.k.speed = -3\nrun.t_end = 0.5\n"
        )
    };
    for e in [0.0, 0.5, 1.0] {
        let impulse = 3.0 * (1.0 + e);
        for text in [paddle(e), gap(e), stop(e)] {
            let run = run(&text);
            near(&run, "energy.work", impulse);
            near(&run, "energy.dissipated", 4.5 * (1.0 - e * e));
        }
    }
}

/// A lock that closes while a driver continues: the driver does impulse times speed, half of which is lost.
#[test]
fn drivers_do_work_while_a_joint_locks() {
    let rest = "drivers.D = { kind = 'joint', joint = 'A', position = '2*t' }\n\
        initial.B.speed = -2\nevents.e = { when = 't >= 0.3', lock = ['B'] }\nrun.t_end = 0.6\n";
    let run = run(&pair("planar", "prismatic", ["", ""], rest));
    near(&run, "energy.work", 8.0);
    near(&run, "energy.dissipated", 4.0);
    near(&run, "energy.kinetic", 6.0);
}

#[test]
fn a_driver_that_goes_through_a_limit_fails_there_and_one_that_grazes_it_does_not() {
    let drive = |by: f64| {
        let driver = format!(
            "drivers.D = {{ kind = 'joint', joint = 'A', position = '{by}*sin(t)' }}\nrun = {{ t_end = 4 }}\n"
        );
        outcome(&pair("planar", "prismatic", [&half(0.0), ""], &driver))
    };
    let through = drive(0.6).report;
    assert_eq!(through.status, Status::Failed);
    assert!(through.reason.contains("`A.limits` cannot hold"), "{}", through.reason);
    assert!((through.t_end - (0.5_f64 / 0.6).asin()).abs() < 1e-6, "{}", through.t_end);
    for by in [0.5, 0.4] {
        let report = drive(by).report;
        assert!(report.certificate.passed, "{by}: {}", report.reason);
    }
}

#[test]
fn a_run_that_chattering_cuts_off_is_not_certified() {
    let text = "space = 'planar'\ngravity = [0, 0]\nrun.t_end = 10\n\
        bodies.m = { at = [0, 0], mass = 1, inertia = 1 }\n\
        joints.A = { kind = 'prismatic', bodies = ['ground', 'm'], at = [0, 0] }\n\
        controllers.sw = { kind = 'input', values = { x = 0 } }\n\
        events.up = { when = 'sw.x < 0.5', set = { sw.x = 1 } }\n\
        events.down = { when = 'sw.x > 0.5', set = { sw.x = 0 } }\n";
    let report = outcome(text).report;
    assert_eq!(report.status, Status::Stopped);
    assert!(!report.certificate.passed && report.reason.contains("not certified"), "{}", report.reason);
}

/// A start beyond a limit that moves back: nothing holds it there, and the certificate tells.
#[test]
fn a_coordinate_beyond_its_limit_is_not_certified() {
    let rest = "initial = { A.position = 0.75, A.speed = -0.1 }\nrun.t_end = 0.5\n";
    let (model, system) = system(&pair("planar", "prismatic", [&half(0.0), ""], rest));
    // unless it is refused where it starts
    let Ok(run) = simulate(&model, &system, &Simulate::default(), &mut ()) else { return };
    let report = run.report;
    assert!(!report.certificate.passed, "{}", report.reason);
    let gap = report.certificate.gap.unwrap();
    assert!((gap.value - 0.25).abs() < 0.01, "{gap:?}");
    assert!(report.notes.iter().any(|note| note.contains("joint `A` is")), "{:?}", report.notes);
}

/// An event of the time alone that is due right at the end fires in the last row, and those of later times do not.
#[test]
fn an_event_at_the_end_of_a_run_fires() {
    for method in METHODS {
        for (when, n) in
            [("t >= 2", 1.0), ("t > 2", 0.0), ("t >= 2.5", 0.0), ("t == 2", 1.0), ("t >= 1.5", 1.0)]
        {
            let rest = format!(
                "controllers.s = {{ kind = 'input', values = {{ n = 0 }} }}\ninitial.A.speed = 1\n\
                 events.e = {{ when = '{when}', set = {{ s.n = 1 }} }}\nrun = {{ t_end = 2, {method} }}\n"
            );
            let run = run(&pair("planar", "prismatic", ["", ""], &rest));
            assert_eq!(last(&run, "s.n"), n, "{when}, {method}");
            assert_eq!(last(&run, "t"), 2.0);
            near(&run, "A.position", 2.0);
        }
    }
}

/// A planar parallelogram, one hinge of which is enabled where it fits, at rest and on the way.
#[test]
fn a_joint_that_is_enabled_where_it_fits_locks_nothing() {
    let model = |event: &str| {
        format!(
            "space = 'spatial'\ngravity = [0, -9.81, 0]\n\
             bodies.c0 = {{ from = [0, 0, 0], to = [0.3, 0.2, 0], mass = 1 }}\n\
             bodies.cp = {{ from = [0.3, 0.2, 0], to = [0.8, 0.2, 0], mass = 2 }}\n\
             bodies.c1 = {{ from = [0.5, 0, 0], to = [0.8, 0.2, 0], mass = 1 }}\n\
             joints.A0 = {{ kind = 'revolute', bodies = ['ground', 'c0'], at = [0, 0, 0], axis = [0, 0, 1] }}\n\
             joints.B0 = {{ kind = 'revolute', bodies = ['c0', 'cp'], at = [0.3, 0.2, 0], axis = [0, 0, 1] {event}\n\
             joints.A1 = {{ kind = 'revolute', bodies = ['ground', 'c1'], at = [0.5, 0, 0], axis = [0, 0, 1] }}\n\
             joints.B1 = {{ kind = 'revolute', bodies = ['c1', 'cp'], at = [0.8, 0.2, 0], axis = [0, 0, 1] }}\n\
             run = {{ t_end = 0.3, rtol = 1e-10, atol = 1e-12 }}\n"
        )
    };
    let always = run(&model("}"));
    let enabled =
        run(&model(", enabled = false }\nevents.go = { when = 't >= 0', once = true, enable = ['B0'] }"));
    near(&enabled, "A0.angle", last(&always, "A0.angle"));
    assert_eq!(enabled.report.events[0].actions, ["enable B0"]);
}

/// A parallelogram in space that begins at rest, with more rows than it needs: γ is zero there, and accelerations leave a residual of rounding in the
/// rows that depend on others. One rotation: J θ̈ = Σ m g·(a × r), integrated on its own.
#[test]
fn rounding_is_no_dead_centre() {
    const MODEL: &str = r#"
gravity = [-9.44414272186883, -2.604599430896885, 0.5102254928397296]

[bodies]
cp = { at = [-0.42950903146133096, -0.2598152369309163, -0.23826958497578135], orientation = [0.4497245687587775, 0.7482833884737824, -0.48612358947588385, 0.038776778411936365], mass = 1.3250906915546858, inertia = [[0.07485404203105724, 0.04195391739522926, 0.002986413869416655], [0.04195391739522926, 0.1038403618669398, 0.011882784848206575], [0.002986413869416655, 0.011882784848206575, 0.11835006838408876]] }
c0 = { at = [-0.5721936618833061, -0.17907034876781475, 0.24720400326839853], orientation = [0.6799115146268269, -0.5129741221291337, -0.2244848444564862, 0.47348118960846364], mass = 2.9588147048040767, inertia = [[0.16134378350611644, -0.01782896351879576, 0.027063957694424382], [-0.01782896351879576, 0.10363446224776587, 0.011884181062860067], [0.027063957694424382, 0.011884181062860067, 0.23068652240653317]] }
c1 = { at = [-0.44373215068894817, -0.07656481491896394, 0.4808534174363953], orientation = [0.5574597719248436, -0.6378249672035008, -0.04726773657338701, -0.5293237902990791], mass = 2.770751445462242, inertia = [[0.31959271364471686, 0.00015930447300512365, 0.025313068380270365], [0.00015930447300512365, 0.2166705941389958, -0.060386737019503645], [0.025313068380270365, -0.060386737019503645, 0.1386032007158895]] }

[joints]
A0 = { kind = "revolute", bodies = ["ground", "c0"], at = [-0.5159231508553581, 0.06338097871308657, 0.33746376737551764], axis = [-0.5351391516020326, 0.690510613716096, -0.48664276504236303] }
B0 = { kind = "revolute", bodies = ["c0", "cp"], at = [-0.7645920009548011, -0.17086971053076178, 0.2785290584240291], axis = [-0.5351391516020326, 0.690510613716096, -0.48664276504236303]{ENABLED} }
A1 = { kind = "revolute", bodies = ["ground", "c1"], at = [-0.2597769577498024, 0.0008416308196277922, 0.49573785736447795], axis = [-0.5351391516020326, 0.690510613716096, -0.48664276504236303] }
B1 = { kind = "universal", bodies = ["c1", "cp"], at = [-0.5084458078492451, -0.2334090584242205, 0.4368031484129894], axis = [-0.5351391516020326, 0.690510613716096, -0.48664276504236303], axis2 = [-0.3982401866341485, -0.7142510580362279, -0.5755433778992917] }
[run]
t_end = 0.2651941279737521
rtol = 1e-10
atol = 1e-12
"#;
    let event = "[events]\ngo = { once = true, enable = [\"B0\"], when = \"t >= 0\" }\n";
    for (enabled, event) in [("", ""), (", enabled = false", event)] {
        let run = run(&format!("{}{event}", MODEL.replace("{ENABLED}", enabled)));
        near(&run, "A0.angle", 0.28647851406419);
        near(&run, "A0.rate", 1.96815470290968);
        assert!(run.report.events.iter().all(|event| event.actions == ["enable B0"]));
    }
}

/// `==` of numbers that change continuously is reported by `check` and by a run; of switches and times it is not.
#[test]
fn equality_of_continuous_numbers_is_told() {
    let notes = |when: &str| {
        let rest = format!(
            "controllers.s = {{ kind = 'input', values = {{ n = 0 }} }}\n\
             controllers.w = {{ kind = 'ode', states = {{ x = 0, k = 0 }}, rates = {{ x = 1, k = 0 }} }}\n\
             initial.A.speed = 1\nevents.e = {{ when = '{when}', lock = ['A'] }}\nrun.t_end = 1\n"
        );
        let (model, system) = system(&pair("planar", "prismatic", ["", ""], &rest));
        let reports = |notes: &[String]| notes.iter().any(|n| n.contains("event `e`: `==`"));
        let report = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap().report;
        let checked = check(&model, &system).unwrap();
        assert_eq!(reports(&report.notes), reports(&checked.notes), "{when}");
        reports(&report.notes)
    };
    for when in [
        "A.position == 0.5",
        "A.speed == B.speed",
        "t > 0.2 and a.x == 0.3",
        "2*A.position - 1 == 0",
        "not (A.position != 0.5)",
        "energy.kinetic == 1",
        "A.fy == 0 or t > 2",
        "w.x == 0.5",
        "sin(t) == 0.5",
        "abs(A.position) == 0.25",
    ] {
        assert!(notes(when), "{when}");
    }
    for when in [
        "s.n == 1",
        "A.locked == 1",
        "t == 0.5",
        "w.k == 2",
        "sign(A.position - 0.5) == 1",
        "floor(A.position*10) == 5",
        "A.position >= 0.5",
        "if(A.position > 0.5, 1, 0) == 1",
        "2*t == 1",
        "s.n == 0 and A.position > 0.5",
    ] {
        assert!(!notes(when), "{when}");
    }
}

/// A slider or hinge that meets its stop at -d with the speed v, and rebounds with half of it: the motion up to T does not depend on where the run
/// ends.
#[test]
fn a_rebound_does_not_depend_on_the_length_of_the_run() {
    for kind in ["prismatic", "revolute"] {
        let [coordinate, rate] = if kind == "revolute" { ["angle", "rate"] } else { ["position", "speed"] };
        for (v, d, t_end) in [
            (1e-3, 0.0, 1e-3),
            (1e-3, 1e-7, 3e-4),
            (1e-3, 1e-7, 1.0),
            (1e-3, 1e-6, 2e-3),
            (1e-6, 1e-9, 2e-3),
            (1e-9, 1e-9, 2.0),
            (10.0, 1e-9, 3e-10),
        ] {
            let text = format!(
                "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 2, inertia = 3 }}\n\
                 joints.B = {{ kind = '{kind}', bodies = ['ground', 'b'], at = [0, 0], limits = [{}, inf], stop = {{ restitution = 0.5 }} }}\n\
                 initial.B.{rate} = {}\nrun.t_end = {t_end}\n",
                -d, -v
            );
            let run = run(&text);
            let expected = 0.5 * v * (t_end - d / v) - d;
            let found = [coordinate, rate].map(|name| last(&run, &format!("B.{name}")));
            assert!((found[0] - expected).abs() < 1e-6 * v * t_end, "{found:?} {expected}\n{text}");
            assert!((found[1] - 0.5 * v).abs() < 1e-9 * v, "{found:?}\n{text}");
            assert_eq!(run.report.events.len(), 1, "{text}");
        }
    }
}
