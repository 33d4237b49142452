//! Each family of elements at rest and in small motions about rest: closed forms, and what a run ends in.

use crate::common::{column, load, outcome};
use sarrus::analysis::{
    EquilibriumReport, ModeKind, ModesReport, OperatingPoint, SetupError, equilibrium, modes,
};
use std::f64::consts::PI;

fn found(text: &str) -> Result<EquilibriumReport, SetupError> {
    let (model, system) = load(text);
    equilibrium(&model, &system).map(|found| found.report)
}

/// Values at rest.
fn rests(text: &str, values: &[(&str, f64)]) -> EquilibriumReport {
    let report = found(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(report.residual < 1e-7, "{}", report.residual);
    for (name, due) in values {
        let value = report.values[*name];
        assert!((value - due).abs() < 1e-7 * (1.0 + due.abs()), "{name} is {value}, not {due}\n{text}");
    }
    report
}

fn says(notes: &[String], words: &str) {
    assert!(notes.iter().any(|n| n.contains(words)), "`{words}` is not said: {notes:?}");
}

fn small(text: &str, about: OperatingPoint) -> ModesReport {
    let (model, system) = load(text);
    modes(&model, &system, about).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Every oscillation's eigenvalue, slowest first, is among these.
fn swings(report: &ModesReport, due: &[[f64; 2]]) {
    let found: Vec<[f64; 2]> =
        report.modes.iter().filter(|m| m.kind == ModeKind::Oscillation).map(|m| m.eigenvalue).collect();
    assert_eq!(found.len(), due.len(), "{:?}", report.modes);
    for (found, due) in found.iter().zip(due) {
        let off = f64::hypot(found[0] - due[0], found[1] - due[1]);
        assert!(off < 1e-6 * f64::hypot(due[0], due[1]), "{found:?}, not {due:?}");
    }
}

/// A rod of 1 m and 2 kg on a hinge, level at the start.
fn arm(own: &str, more: &str) -> String {
    format!(
        "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 2 }}\n\
         joints.j = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0]{own} }}\n{more}run.t_end = 20\n"
    )
}

#[test]
fn drivers_hold_at_rest_and_a_note_says_so() {
    for (driver, angle, effort) in [
        ("kind = 'joint', joint = 'j', rate = '0'", 0.0, ("d.torque", 9.81)),
        ("kind = 'joint', joint = 'j', rate = '2'", 0.0, ("d.torque", 9.81)),
        ("kind = 'joint', joint = 'j', angle = '0.3 + t'", 0.3, ("d.torque", 9.81 * f64::cos(0.3))),
        // an equilateral triangle: the bar at -30°, the cylinder upright
        (
            "kind = 'distance', bodies = ['ground', 'a'], ends = [[0, -1], [1, 0]], length = '1 + t'",
            -PI / 6.0,
            ("d.force", 9.81),
        ),
        ("kind = 'point', body = 'a', at = [1, 0], position = ['free', '0.5 + t']", PI / 6.0, ("d.fy", 9.81)),
    ] {
        let report = rests(&arm("", &format!("drivers.d = {{ {driver} }}\n")), &[("j.angle", angle), effort]);
        says(&report.notes, "drivers, and what reads the time, stand still at t = 0");
    }
    assert!(rests(&arm("", ""), &[("j.angle", -0.5 * PI)]).notes.is_empty());
}

/// Friction of joints and Coulomb's of contacts is smooth: a run creeps on, and a note names it. Armature has no weight.
#[test]
fn friction_holds_nothing_at_rest_and_is_named() {
    for own in [", friction = { torque = 3 }", ", friction = { mu = 0.9, radius = 0.1 }"] {
        let report = rests(&arm(own, ""), &[("j.angle", -0.5 * PI), ("j.fy", 19.62)]);
        says(&report.notes, "friction of `j` is smooth and vanishes at rest");
    }
    // the creep of a run towards this rest: 3 N m tanh(w/v_s) bear what the weight is short of 3 N m
    let run = outcome(&load(&arm(", friction = { torque = 30, slip_speed = 0.1 }", "")));
    let [angle, rate] = ["j.angle", "j.rate"].map(|name| *column(&run.trajectory, name).last().unwrap());
    assert!(
        rate < 0.0 && (rate + 0.1 * f64::atanh(9.81 * f64::cos(angle) / 30.0)).abs() < 1e-3,
        "{angle} {rate}"
    );
    let report = rests(&arm(", armature = 5", ""), &[("j.angle", -0.5 * PI), ("j.fy", 19.62)]);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    let disc = "space = 'planar'\nground.shape = { kind = 'half_space' }\n\
        bodies.d = { at = [0, 0.5], mass = 2, inertia = 0.25, shape = { kind = 'disc', radius = 0.5 } }\n\
        contacts.c = { between = ['d', 'ground'], law = { kind = 'linear', stiffness = 1e4, damping = 40 }, friction = { kind = 'coulomb', mu = 0.5 } }\n";
    says(&rests(disc, &[("d.y", 0.5 - 19.62 / 1e4)]).notes, "friction of `c` is smooth and vanishes at rest");
}

#[test]
fn every_kind_of_constraint_holds_at_rest() {
    let point = |own: &str| {
        format!(
            "space = 'planar'\ngravity = [0, -10]\nbodies.p = {{ at = [0.8, 0.6], kind = 'point', mass = 2 }}\nforces.f = {{ kind = 'force', body = 'p', force = [15, 0] }}\n{own}"
        )
    };
    // 15 N aside, 20 N down: the bar points along (3, -4)/5 and pulls 25 N
    let bar = point(
        "constraints.c = { kind = 'distance', bodies = ['ground', 'p'], ends = [[0, 0], [0.8, 0.6]] }\n",
    );
    rests(&bar, &[("p.x", 0.6), ("p.y", -0.8), ("c.force", 25.0)]);
    // a bead on y = x² - 0.04 under (15, -20): 2 x = 15/20
    let bead = point(
        "constraints.c = { kind = 'point_on_curve', body = 'p', at = [0.8, 0.6], implicit = 'y - x^2 + 0.04' }\n",
    );
    rests(&bead, &[("p.x", 0.375), ("p.y", 0.375 * 0.375 - 0.04)]);
    let bead = point("constraints.c = { kind = 'expression', zero = 'p.y - p.x^2 + 0.04' }\n");
    rests(&bead, &[("p.x", 0.375)]);
    // on a line of 45° a spring of 100 N/m holds it: (15 - 20)/√2 along it
    let line = point(
        "constraints.c = { kind = 'point_on_line', bodies = ['ground', 'p'], at = [0.8, 0.6], axis = [1, 1] }\n\
         forces.k = { kind = 'bushing', bodies = ['ground', 'p'], at = [0.8, 0.6], stiffness = [100, 100, 0] }\n",
    );
    let line = line.replace("kind = 'point', mass = 2", "mass = 2, inertia = 1");
    rests(&line, &[("p.x", 0.8 - 0.025), ("p.y", 0.6 - 0.025)]);
    // gears of 1 and 2 m: 4 N m bear 4 N along the pitch line and tan 20° of it apart
    let gears = "space = 'planar'\ngravity = [0, 0]\nbodies.p = { at = [0, 0], mass = 1, inertia = 0.1 }\nbodies.q = { at = [3, 0], mass = 1, inertia = 0.1 }\n\
        joints.P = { kind = 'revolute', bodies = ['ground', 'p'], at = [0, 0] }\njoints.Q = { kind = 'revolute', bodies = ['ground', 'q'], at = [3, 0], stiffness = 10 }\n\
        constraints.g = { kind = 'gear', bodies = ['p', 'q'], radii = [1, 2] }\nforces.m = { kind = 'torque', body = 'p', torque = 4 }\n";
    let apart = 4.0 * f64::tan(20.0_f64.to_radians());
    rests(gears, &[("P.angle", 1.6), ("Q.angle", -0.8), ("P.fx", apart), ("P.fy", 4.0), ("Q.fx", -apart)]);
    // 2 kg on the end of a rack on a pinion of 0.1 m with a spring of 50 N m/rad
    let rack = "space = 'planar'\ngravity = [-10, 0]\nbodies.r = { at = [0, 0], mass = 2, inertia = 1 }\nbodies.w = { at = [0, 0.1], mass = 1, inertia = 1 }\n\
        joints.S = { kind = 'prismatic', bodies = ['ground', 'r'], at = [0, 0] }\njoints.W = { kind = 'revolute', bodies = ['ground', 'w'], at = [0, 0.1], stiffness = 50 }\n\
        constraints.g = { kind = 'rack', bodies = ['r', 'w'], radius = 0.1, axis = [1, 0] }\n";
    rests(rack, &[("W.angle", -20.0 * 0.1 / 50.0), ("r.x", -20.0 * 0.01 / 50.0)]);
    // a disc of 2 kg that rolls down against a spring: no friction is left where the spring holds at its centre
    let disc = "space = 'planar'\ngravity = [-3, -9]\nbodies.d = { at = [0, 0.5], mass = 2, inertia = 0.25 }\nconstraints.r = { kind = 'rolling_disc', body = 'd', radius = 0.5 }\n\
        forces.k = { kind = 'bushing', bodies = ['ground', 'd'], at = [0, 0.5], stiffness = [50, 0, 0] }\n";
    rests(disc, &[("d.x", -0.12), ("d.angle", 0.24)]);
    let ball = "gravity = [-3, 0, -9]\nbodies.d = { at = [0, 0, 0.5], mass = 2, inertia = [0.2, 0.2, 0.2] }\nconstraints.r = { kind = 'rolling_ball', body = 'd', radius = 0.5 }\n\
        forces.k = { kind = 'spring', bodies = ['ground', 'd'], ends = [[1, 0, 0.5], [0, 0, 0.5]], stiffness = 50 }\n";
    rests(ball, &[("d.x", -0.12), ("d.y", 0.0)]);
    // two levers at one ratio: what a damped run ends in
    let levers = "space = 'planar'\nbodies.a = { from = [0, 0], to = [1, 0], mass = 2 }\nbodies.b = { from = [3, 0], to = [4, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], damping = 3 }\njoints.B = { kind = 'revolute', bodies = ['ground', 'b'], at = [3, 0], damping = 3 }\n\
        constraints.c = { kind = 'coupler', coordinates = ['A.angle', 'B.angle'], factors = [1, -2] }\nrun.t_end = 40\noutput.every = 40\n";
    let run = outcome(&load(levers)).trajectory;
    let end = |name: &str| *column(&run, name).last().unwrap();
    rests(levers, &[("A.angle", end("A.angle")), ("c.force", end("c.force"))]);
}

/// Reactions of redundant joints, limits and welds at rest are of least norm, as a run shows them.
#[test]
fn redundant_reactions_at_rest_are_those_of_a_run() {
    let pins = arm(
        ", limits = [-0.2, 1]",
        "joints.k = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }\n",
    );
    rests(&pins, &[("j.fy", 9.81), ("k.fy", 9.81), ("j.tz", 9.81 * f64::cos(0.2)), ("k.tz", 0.0)]);
    let stops = arm(
        ", limits = [-0.2, 1]",
        "joints.k = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], limits = [-0.2, 2] }\n",
    );
    rests(&stops, &[("j.tz", 0.5 * 9.81 * f64::cos(0.2)), ("k.tz", 0.5 * 9.81 * f64::cos(0.2))]);
    for more in [
        "'fixed', bodies = ['ground', 'a'], at = [0, 0]",
        "'fixed', bodies = ['ground', 'a'], at = [1, 0]",
        "'prismatic', bodies = ['ground', 'a'], at = [1, 0], axis = [1, 2]",
    ] {
        let text = format!("{}output.every = 0.1\n", arm("", &format!("joints.w = {{ kind = 'fixed', bodies = ['ground', 'a'], at = [0.3, 0] }}\njoints.k = {{ kind = {more} }}\n")).replace("t_end = 20", "t_end = 0.2"));
        let run = outcome(&load(&text)).trajectory;
        let names = ["j.fx", "j.fy", "k.fx", "k.fy", "k.tz", "w.fy", "w.tz"];
        rests(&text, &names.map(|name| (name, *column(&run, name).last().unwrap())));
    }
}

/// An event that fires at once is refused; one that waits for a time takes no part, and is named.
#[test]
fn events_that_fire_at_the_start_are_refused_at_rest() {
    for when in ["t >= 0", "t < 5", "j.angle > -10", "a.x > 0 and t >= 0"] {
        let text = arm("", &format!("events.e = {{ when = '{when}', lock = ['j'] }}\n"));
        let error = found(&text).unwrap_err();
        assert!(
            matches!(error, SetupError::NotStatic { .. }) && error.to_string().contains("event `e`"),
            "{error}"
        );
        assert!(error.diagnostics()[0].hint.is_some());
    }
    let report = rests(&arm("", "events.e = { when = 't > 5', lock = ['j'] }\n"), &[("j.angle", -0.5 * PI)]);
    says(&report.notes, "event `e` waits for a time");
}

/// Two rods; the first locks at -0.5 rad, so that the second swings alone: ω² = 3 g/2 l, and 2 δ = c/I.
#[test]
fn locks_take_part_in_modes() {
    let rods = |own: &str, k: &str| {
        format!(
            "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 2 }}\nbodies.b = {{ from = [1, 0], to = [2, 0], mass = 1 }}\n\
             joints.j = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], damping = 1{own} }}\n\
             joints.k = {{ kind = 'revolute', bodies = ['a', 'b'], at = [1, 0], damping = {k} }}\nrun.t_end = 60\n"
        )
    };
    let due = |c: f64| [-1.5 * c, f64::sqrt(1.5 * 9.81 - 2.25 * c * c)];
    for own in [", lock_at = -0.5", ", lock_at = 0", ", limits = [-0.5, 1]"] {
        let report = small(&rods(own, "1"), OperatingPoint::Equilibrium);
        swings(&report, &[due(1.0)]);
        assert_eq!((report.equilibrium, report.stable), (true, Some(true)));
        let name = if own.contains("lock") { "j.lock_at" } else { "j.limits" };
        says(&report.notes, name);
        // and with all that acts in a run at a time, at rest there
        swings(&small(&rods(own, "1"), OperatingPoint::Time(60.0)), &[due(1.0)]);
    }
    // at the start a lock holds that is reached there: one degree of freedom, not two
    assert_eq!(small(&rods(", lock_at = 0", "1"), OperatingPoint::Start).positions, 1);
    assert_eq!(small(&rods(", limits = [0, 1]", "1"), OperatingPoint::Start).positions, 1);
    assert_eq!(small(&rods(", lock_at = -0.5", "1"), OperatingPoint::Start).positions, 2);
    // what an event has locked or taken away acts no less
    let event = format!("{}events.e = {{ when = 't > 1', lock = ['j'] }}\n", rods("", "1"));
    assert_eq!(small(&event, OperatingPoint::Time(2.0)).positions, 1);
    let gone = format!("{}events.e = {{ when = 't >= 0', disable = ['j'] }}\n", rods("", "1"));
    assert_eq!(small(&gone, OperatingPoint::Start).positions, 4);
    says(&small(&event, OperatingPoint::Start).notes, "neither close nor open in them: e");
}

/// A disc of 2 kg on a rigid floor at a spring of 50 N/m: √(k/m) where it slides freely, √(2k/3m) where it rolls. Nothing opens or closes in modes.
#[test]
fn rigid_contacts_that_are_closed_take_part_in_modes() {
    let disc = |friction: &str, height: f64| {
        format!(
            "space = 'planar'\nground.shape = {{ kind = 'half_space' }}\n\
             bodies.d = {{ at = [0, {height}], mass = 2, inertia = 0.25, shape = {{ kind = 'disc', radius = 0.5 }} }}\n\
             contacts.c = {{ between = ['d', 'ground'], method = 'impulsive'{friction} }}\n\
             forces.k = {{ kind = 'bushing', bodies = ['ground', 'd'], at = [0, {height}], stiffness = [50, 0, 0] }}\nrun.t_end = 1\n"
        )
    };
    let sticks = ", friction = { kind = 'coulomb', mu = 0.8 }";
    for about in [OperatingPoint::Equilibrium, OperatingPoint::Start, OperatingPoint::Time(0.5)] {
        for (friction, square) in [("", 25.0), (sticks, 50.0 / 3.0)] {
            let report = small(&disc(friction, 0.5), about);
            swings(&report, &[[0.0, f64::sqrt(square)]]);
            assert_eq!(
                (report.equilibrium, report.stable),
                (true, Some(true)),
                "{about:?} {:?}",
                report.notes
            );
            says(&report.notes, "neither close nor open in them: c");
        }
    }
    // one that slides rubs, which modes leave out by name
    let slides = format!("{}initial.d.vx = 2\n", disc(", friction = { kind = 'coulomb', mu = 0.1 }", 0.5));
    let report = small(&slides, OperatingPoint::Time(0.1));
    assert_eq!(report.stable, None);
    says(&report.notes, "friction of rigid contacts that slide has no part: c");
    // from above it falls on the floor first: there it rests, and at the start it is in the air
    swings(&small(&disc("", 0.7), OperatingPoint::Equilibrium), &[[0.0, 5.0]]);
    let falls = small(&disc("", 0.7), OperatingPoint::Start);
    assert_eq!((falls.equilibrium, falls.stable, falls.positions), (false, None, 3));
}

/// A disc of 2 kg on an elastic floor: √(k/m) and c/2m along its normal; across it bristles are springs, and what lugre's do is left out by name.
#[test]
fn compliant_contacts_take_part_in_modes() {
    let disc = |friction: &str| {
        format!(
            "space = 'planar'\nground.shape = {{ kind = 'half_space' }}\n\
             bodies.d = {{ at = [0, 0.5], mass = 2, inertia = 0.25, shape = {{ kind = 'disc', radius = 0.5 }} }}\n\
             constraints.p = {{ kind = 'angle', bodies = ['ground', 'd'], axes = [[1, 0], [1, 0]], value = 0 }}\n\
             contacts.c = {{ between = ['d', 'ground'], law = {{ kind = 'linear', stiffness = 1e4, damping = 40 }}{friction} }}\n"
        )
    };
    let normal = [-10.0, f64::sqrt(5000.0 - 100.0)];
    swings(&small(&disc(""), OperatingPoint::Equilibrium), &[normal]);
    // μ N/v_s is a damper
    let rubbing = small(
        &disc(", friction = { kind = 'coulomb', mu = 0.5, slip_speed = 0.1 }"),
        OperatingPoint::Equilibrium,
    );
    let decays = rubbing.modes.iter().find(|m| m.kind == ModeKind::Decay).unwrap();
    assert!((decays.eigenvalue[0] + 0.5 * 9.81 / 0.1).abs() < 1e-6, "{:?}", decays.eigenvalue);
    let holds = small(
        &disc(", friction = { kind = 'bristle', mu = 0.5, stiffness = 1000, damping = 2 }"),
        OperatingPoint::Equilibrium,
    );
    swings(&holds, &[[-0.5, f64::sqrt(500.0 - 0.25)], normal]);
    let lugre = small(&disc(", friction = { kind = 'lugre', mu = 0.5 }"), OperatingPoint::Equilibrium);
    assert_eq!(lugre.stable, None);
    says(&lugre.notes, "bristles of `lugre` friction");
}

/// Forces of every kind as springs or dampers of a mass on a line: m s² + c s + k.
#[test]
fn every_kind_of_force_takes_part_in_modes_and_at_rest() {
    let line = |force: &str| {
        format!(
            "space = 'planar'\ngravity = [-3, 0]\nfluids.oil = {{ density = 800, velocity = [2, 0] }}\nbodies.b = {{ at = [0, 0], mass = 2, inertia = 1 }}\n\
             joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0] }}\nforces.f = {{ {force} }}\n"
        )
    };
    for (force, x, k, c) in [
        (
            "kind = 'spring', bodies = ['ground', 'b'], ends = [[-1, 0], [0, 0]], stiffness = 60, damping = 4",
            -0.1,
            60.0,
            4.0,
        ),
        ("kind = 'spring', joint = 'J', tension = '60*length + 4*speed'", -0.1, 60.0, 4.0),
        (
            "kind = 'bushing', bodies = ['ground', 'b'], at = [0, 0], stiffness = [60, 1, 1], damping = [4, 0, 0]",
            -0.1,
            60.0,
            4.0,
        ),
        ("kind = 'force', body = 'b', force = ['-60*b.x - 4*b.vx', 0]", -0.1, 60.0, 4.0),
        ("kind = 'actuator', joint = 'J', force = '-60*J.position - 4*J.speed'", -0.1, 60.0, 4.0),
        ("kind = 'field', bodies = ['b'], force = ['mass*(-30*x - 2*vx)', 0]", -0.1, 60.0, 4.0),
    ] {
        rests(&line(force), &[("b.x", x)]);
        swings(
            &small(&line(force), OperatingPoint::Equilibrium),
            &[[-c / 4.0, f64::sqrt(k / 2.0 - c * c / 16.0)]],
        );
    }
    // a stream of 2 m/s, ½ ρ C A v² = 16 N: with 60 N/m it bears 10 N more; about rest ρ C A v damps
    let drag = line("kind = 'drag', bodies = ['b'], fluid = 'oil', axial = { coefficient = 1, area = 0.01 }")
        .replace("at = [0, 0] }\nforces", "at = [0, 0], stiffness = 60 }\nforces");
    rests(&drag, &[("b.x", (16.0 - 6.0) / 60.0)]);
    swings(&small(&drag, OperatingPoint::Equilibrium), &[[-4.0, f64::sqrt(30.0 - 16.0)]]);
}
