//! Each family of elements in a prescribed motion: efforts of drivers against closed forms and against a run.

use crate::common::{column, load, outcome, read};
use sarrus::analysis::{Prescribed, RunOverrides, SetupError, prescribed};
use sarrus::prelude::*;
use std::path::Path;

/// Holds what is due at a time.
type Due = fn(f64) -> f64;

fn inverse(text: &str) -> Prescribed {
    let (model, system) = load(text);
    let found =
        prescribed(&model, &system, &RunOverrides::default()).unwrap_or_else(|e| panic!("{text}\n{e}"));
    assert_eq!(found.report.status, Status::Completed, "{}\n{text}", found.report.reason);
    found
}

/// The column `name` of a prescribed motion is `due` of the time, and what a run says.
fn follows(text: &str, name: &str, due: impl Fn(f64) -> f64) -> Prescribed {
    let found = inverse(text);
    let run = outcome(&load(text)).trajectory;
    let (t, own) = (column(&found.trajectory, "t"), column(&found.trajectory, name));
    assert_eq!(own.len(), run.len());
    for ((t, own), run) in t.iter().zip(&own).zip(column(&run, name)) {
        let due = due(*t);
        assert!((own - due).abs() < 1e-7 * (1.0 + due.abs()), "{name} at {t}: {own}, not {due}\n{text}");
        assert!((own - run).abs() < 1e-6 * (1.0 + run.abs()), "{name} at {t}: {own}, {run} by run\n{text}");
    }
    found
}

fn refused(text: &str) -> SetupError {
    let (model, system) = load(text);
    let error = prescribed(&model, &system, &RunOverrides::default()).unwrap_err();
    assert!(error.diagnostics()[0].hint.is_some(), "{error}");
    error
}

/// A slider of 1 kg at x = t² with options of its joint, and `more`.
fn slider(option: &str, gravity: &str, more: &str) -> String {
    format!(
        "space = 'planar'\ngravity = {gravity}\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
         joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0]{option} }}\n\
         drivers.motor = {{ kind = 'joint', joint = 'J', position = 't^2' }}\n{more}\
         run = {{ t_end = 1, rtol = 1e-10, atol = 1e-12 }}\noutput.every = 0.1\n"
    )
}

#[test]
fn options_of_joints_load_their_drivers() {
    let still = "[0, 0]";
    let slip = |t: f64| f64::tanh(2.0 * t / 0.05);
    let rubbing = slider(", friction = { force = 3, slip_speed = 0.05 }", still, "");
    follows(&rubbing, "motor.force", |t| 2.0 + 3.0 * slip(t));
    // μ N of the weight across the guide
    let mu = slider(", friction = { mu = 0.3, slip_speed = 0.05 }", "[0, -10]", "");
    follows(&mu, "motor.force", |t| 2.0 + 3.0 * slip(t));
    follows(&slider(", armature = 4", still, ""), "motor.force", |_| 2.0 * 5.0);
    follows(&slider(", stiffness = 7, damping = 3", still, ""), "motor.force", |t| {
        2.0 + 7.0 * t * t + 6.0 * t
    });
    let stop = slider(", limits = [-1, 0.25], stop = { stiffness = 100, damping = 2 }", still, "");
    follows(&stop, "motor.force", |t| 2.0 + if t > 0.5 { 100.0 * (t * t - 0.25) + 4.0 * t } else { 0.0 });
}

/// ∫ F tanh(v/v_s) v dt over a motion that turns round, by Simpson's rule: energies follow the tolerances though drivers hide them from the motion.
#[test]
fn heat_of_friction_that_reverses_follows_the_tolerances() {
    for (position, v) in
        [("(t - 0.437)^2", (|t| 2.0 * (t - 0.437)) as Due), ("0.2*sin(25*t)", |t| 5.0 * f64::cos(25.0 * t))]
    {
        for slip_speed in [0.05, 1e-3] {
            let (n, power) = (400_000, |t: f64| 3.0 * f64::tanh(v(t) / slip_speed) * v(t));
            let weight = |i: u32| {
                if i % 2 == 1 {
                    4.0
                } else if i == 0 || i == n {
                    1.0
                } else {
                    2.0
                }
            };
            let sum: f64 = (0..=n).map(|i| weight(i) * power(f64::from(i) / f64::from(n))).sum();
            let due = sum / (3.0 * f64::from(n));
            let constant = format!(", friction = {{ force = 3, slip_speed = {slip_speed} }}");
            let of_weight = format!(", friction = {{ mu = 0.3, slip_speed = {slip_speed} }}");
            for text in [slider(&constant, "[0, 0]", ""), slider(&of_weight, "[0, -10]", "")] {
                let text = text.replace("position = 't^2'", &format!("position = '{position}'"));
                for (how, run) in
                    [("run", outcome(&load(&text)).trajectory), ("inverse", inverse(&text).trajectory)]
                {
                    let heat = *column(&run, "energy.dissipated").last().unwrap();
                    assert!((heat - due).abs() < 1e-7 * due, "{how} {text}: {heat}, not {due}");
                }
            }
        }
    }
}

/// A bar on a hinge at θ = t²: R = m (a - g) at its centre, and friction μ r |R|.
#[test]
fn friction_of_the_reaction_loads_the_driver_of_a_hinge() {
    let (m, d, mu, r) = (2.0, 0.5, 0.2, 0.1);
    let text = "space = 'planar'\ngravity = [0, -10]\nbodies.a = { at = [0.5, 0], mass = 2, inertia = 0.1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], reads = 0, armature = 0.3, \
        friction = { mu = 0.2, radius = 0.1, slip_speed = 0.05 } }\n\
        drivers.d = { kind = 'joint', joint = 'A', angle = 't^2' }\n\
        run = { t_end = 1, rtol = 1e-10, atol = 1e-12 }\noutput.every = 0.1\n";
    follows(text, "d.torque", |t| {
        let (angle, rate, alpha) = (t * t, 2.0 * t, 2.0);
        let (sin, cos) = f64::sin_cos(angle);
        let [ax, ay] = [-d * (alpha * sin + rate * rate * cos), d * (alpha * cos - rate * rate * sin)];
        let R = m * f64::hypot(ax, ay + 10.0);
        (0.1 + 0.3 + m * d * d) * alpha + m * 10.0 * d * cos + mu * r * R * f64::tanh(rate / 0.05)
    });
}

/// Friction of two hinges in one line depends on how they share the load, and the effort with it.
#[test]
fn friction_of_reactions_that_are_not_unique_is_named() {
    let text = "bodies.a = { at = [0.5, 0, 0], mass = 2, inertia = [0.1, 0.1, 0.1] }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 1, 0], friction = { mu = 0.2, radius = 0.05 } }\n\
        joints.B = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 1, 0], axis = [0, 1, 0], friction = { mu = 0.2, radius = 0.05 } }\n\
        drivers.d = { kind = 'joint', joint = 'A', angle = 't' }\nrun.t_end = 1\noutput.every = 0.5\n";
    let notes = inverse(text).report.notes;
    assert!(notes.iter().any(|n| n.contains("friction in `A`, `B` depends on reactions")), "{notes:?}");
    let one = inverse(&text.replace(
        "at = [0, 1, 0], axis = [0, 1, 0], friction = { mu = 0.2, radius = 0.05 }",
        "at = [0, 1, 0], axis = [0, 1, 0], enabled = false",
    ));
    assert!(one.report.notes.is_empty(), "{:?}", one.report.notes);
}

#[test]
fn every_kind_of_force_loads_a_driver() {
    let (still, fluid) = ("[0, 0]", "fluids.oil = { density = 800 }\n");
    for (more, due) in [
        ("forces.f = { kind = 'force', body = 'b', force = ['3*t', 5] }\n", (|t| 2.0 - 3.0 * t) as Due),
        ("forces.f = { kind = 'torque', body = 'b', torque = 5 }\n", |_| 2.0),
        ("forces.f = { kind = 'actuator', joint = 'J', force = '4*J.speed' }\n", |t| 2.0 - 8.0 * t),
        (
            "forces.f = { kind = 'spring', bodies = ['ground', 'b'], ends = [[-1, 0], [0, 0]], stiffness = 9, damping = 2 }\n",
            |t| 2.0 + 9.0 * t * t + 4.0 * t,
        ),
        ("forces.f = { kind = 'spring', joint = 'J', tension = '6*length^2' }\n", |t| 2.0 + 6.0 * t.powi(4)),
        (
            "forces.f = { kind = 'bushing', bodies = ['ground', 'b'], at = [0, 0], stiffness = [5, 1, 1], damping = [3, 0, 0] }\n",
            |t| 2.0 + 5.0 * t * t + 6.0 * t,
        ),
        ("forces.f = { kind = 'field', bodies = ['b'], force = ['-4*mass*x - vx', 0] }\n", |t| {
            2.0 + 4.0 * t * t + 2.0 * t
        }),
        (
            "forces.f = { kind = 'drag', bodies = ['b'], fluid = 'oil', axial = { coefficient = 0.5, area = 0.01 } }\n",
            // ½ ρ C A v², v = 2 t
            |t| 2.0 + 0.5 * 800.0 * 0.005 * 4.0 * t * t,
        ),
    ] {
        follows(&slider("", still, &format!("{fluid}{more}")), "motor.force", due);
    }
    // lifted along y: m (a + g) less the weight of the fluid
    let lift = slider(
        ", axis = [0, 1]",
        "[0, -10]",
        &format!("{fluid}forces.f = {{ kind = 'buoyancy', bodies = ['b'], fluid = 'oil', volume = 1e-4 }}\n"),
    );
    follows(&lift, "motor.force", |_| 2.0 + 10.0 - 800.0 * 10.0 * 1e-4);
}

/// A disc that is pressed onto the floor: k δ + c δ̇, and for friction μ N against the slip.
#[test]
fn compliant_contacts_load_drivers() {
    let press = "space = 'planar'\ngravity = [0, -10]\nground.shape = { kind = 'half_space' }\n\
        bodies.b = { at = [0, 0.2], mass = 2, inertia = 0.1, shape = { kind = 'disc', radius = 0.1 } }\n\
        joints.J = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0.2], axis = [0, 1] }\n\
        drivers.motor = { kind = 'joint', joint = 'J', position = '-0.12*t' }\n\
        contacts.c = { between = ['b', 'ground'], law = { kind = 'linear', stiffness = 1e4, damping = 100 } }\n\
        run = { t_end = 1, rtol = 1e-10, atol = 1e-12 }\noutput.every = 0.1\n";
    let bears = |t: f64| if 0.12 * t > 0.1 { 1e4 * (0.12 * t - 0.1) + 100.0 * 0.12 } else { 0.0 };
    follows(press, "motor.force", |t| 20.0 - bears(t));
    let hertz =
        press.replace("kind = 'linear', stiffness = 1e4, damping = 100", "kind = 'hertz', stiffness = 1e6");
    follows(&hertz, "c.force", |t| 1e6 * (0.12 * t - 0.1).max(0.0).powf(1.5));
    // states of bristles carry the tolerance times their stiffness into the force
    for (friction, near) in [
        ("kind = 'coulomb', mu = 0.3, slip_speed = 1e-3", 1e-6),
        ("kind = 'bristle', mu = 0.3, stiffness = 1e6", 1e-6),
        ("kind = 'lugre', mu = 0.3", 1e-3),
    ] {
        let slides = format!(
            "space = 'planar'\ngravity = [0, -10]\nground.shape = {{ kind = 'half_space' }}\n\
             bodies.b = {{ at = [0, 0.0999], mass = 2, inertia = 0.1, shape = {{ kind = 'disc', radius = 0.1 }} }}\n\
             drivers.motor = {{ kind = 'point', body = 'b', at = [0, 0.0999], position = ['0.5*t + t^2', '0.0999'], angle = '0' }}\n\
             contacts.c = {{ between = ['b', 'ground'], law = {{ kind = 'linear', stiffness = 1e5 }}, friction = {{ {friction} }} }}\n\
             run = {{ t_end = 1, rtol = 1e-9, atol = 1e-11 }}\noutput.every = 0.25\n"
        );
        let found = inverse(&slides);
        // m a + μ N once it slips
        for force in &column(&found.trajectory, "motor.fx")[1..] {
            assert!((force - (2.0 * 2.0 + 0.3 * 10.0)).abs() < near, "{friction}: {force}");
        }
    }
}

#[test]
fn an_overlap_at_the_start_is_named_in_a_prescribed_motion() {
    let deep = "space = 'planar'\ngravity = [0, 0]\nground.shape = { kind = 'half_space' }\n\
        bodies.b = { at = [0, 0.08], mass = 2, inertia = 0.1, shape = { kind = 'disc', radius = 0.1 } }\n\
        joints.J = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0.08], axis = [0, 1] }\n\
        drivers.motor = { kind = 'joint', joint = 'J', position = '0.1*t' }\n\
        contacts.c = { between = ['b', 'ground'], law = { kind = 'linear', stiffness = 1e4 } }\nrun.t_end = 0.1\noutput.every = 0.1\n";
    let note_of = |notes: &[String]| notes.iter().find(|n| n.contains("overlap")).cloned();
    let run = note_of(&outcome(&load(deep)).report.notes);
    assert!(run.is_some());
    assert_eq!(note_of(&inverse(deep).report.notes), run);
    assert!(note_of(&inverse(&deep.replace("0.08", "0.2")).report.notes).is_none());
}

/// Beams and modal bodies move as drivers say only where these have every degree of freedom: one element between driven ends, a modal body without modes of
/// its own. Otherwise the degrees of freedom that are left are counted and the motion refused.
#[test]
fn flexible_members_load_drivers_or_are_refused_with_their_freedoms() {
    let section = "space = 'planar'\ngravity = [0, 0]\nsections.s = { kind = 'given', EA = 1e3, GA = 1e3, EI = 10, rhoA = 1, rhoI = 0.01 }\n";
    let tip = |body: &str, way: &str| {
        format!(
            "joints.c = {{ kind = 'fixed', bodies = ['ground', '{body}.start'], at = [0, 0] }}\n\
             drivers.d = {{ kind = 'point', body = '{body}.end', at = [1, 0], position = {way} }}\n\
             run = {{ t_end = 1, integrator = 'radau5', rtol = 1e-9, atol = 1e-11, certify = {{ energy = 1e-3 }} }}\noutput.every = 0.25\n"
        )
    };
    let beam = |elements: u32| {
        format!(
            "{section}flexible.b = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = {elements} }}\n"
        )
    };
    // stretched: EA ε, and the mass of the moving half of its linear shape, ρA l/3, which moves at a constant speed
    follows(&format!("{}{}", beam(1), tip("b", "['1 + 0.1*t', '0'], angle = '0'")), "d.fx", |t| {
        1e3 * 0.1 * t
    });
    let rod = format!("{}{}", beam(1), tip("b", "['1 + 0.1*t^2', '0'], angle = '0'"));
    follows(&rod, "d.fx", |t| 1e3 * 0.1 * t * t + 0.2 / 3.0);
    assert!(matches!(
        refused(&format!("{}{}", beam(4), tip("b", "['1', '0.1*t'], angle = '0'"))),
        SetupError::NotDriven { free: 9 }
    ));
    let modal = |modes: u32| {
        format!(
            "{section}flexible.m = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 8 }}\n\
             flexible.b = {{ kind = 'modal', members = ['m'], interface = ['m.start', 'm.end'], modes = {modes} }}\n{}",
            tip("b", "['1 + 0.01*t', '0'], angle = '0'")
        )
    };
    follows(&modal(0), "d.fx", |t| 1e3 * 0.01 * t);
    assert!(matches!(refused(&modal(2)), SetupError::NotDriven { free: 2 }));
}

/// A field on a modal body whose interface nodes are driven: half of the weight is borne at either end, and the
/// moments of a clamped beam under forces at the nodes of n elements, q l²/12 (1 - 1/n²).
#[test]
fn a_field_on_a_modal_body_loads_its_driver() {
    let text = "space = 'planar'\ngravity = [0, 0]\nsections.s = { kind = 'given', EA = 1e5, GA = 1e5, EI = 100, rhoA = 1, rhoI = 0.01 }\n\
        flexible.m = { kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 8 }\n\
        flexible.b = { kind = 'modal', members = ['m'], interface = ['m.start', 'm.end'], modes = 0 }\n\
        joints.c = { kind = 'fixed', bodies = ['ground', 'b.start'], at = [0, 0] }\n\
        drivers.d = { kind = 'point', body = 'b.end', at = [1, 0], position = ['1', '0'], angle = '0' }\n\
        forces.f = { kind = 'field', bodies = ['b'], force = [0, '-2*t*mass'] }\n\
        run = { t_end = 1, integrator = 'radau5', rtol = 1e-9, atol = 1e-11 }\noutput.every = 0.25\n";
    follows(text, "d.fy", |t| t);
    let moment = follows(text, "c.fy", |t| t);
    let [mine, at_clamp] = ["d.tz", "c.tz"].map(|name| *column(&moment.trajectory, name).last().unwrap());
    assert!(
        (at_clamp - 2.0 / 12.0 * (1.0 - 1.0 / 64.0)).abs() < 1e-9 && (mine + at_clamp).abs() < 1e-9,
        "{mine} {at_clamp}"
    );
}

/// Paddle `p` at x = t, and a ball on the same line that a second driver holds until an event lets it go at t = 0.2.
fn paddle(contact: &str, ball: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\n\
         bodies.p = {{ at = [0, 0], mass = 1, inertia = 1, shape = {{ kind = 'disc', radius = 0.1 }} }}\n\
         bodies.b = {{ at = [0.5, 0], mass = 2, inertia = 1, shape = {{ kind = 'disc', radius = 0.1 }} }}\n\
         joints.P = {{ kind = 'prismatic', bodies = ['ground', 'p'], at = [0, 0] }}\n\
         joints.B = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0.5, 0]{ball} }}\n\
         drivers.motor = {{ kind = 'joint', joint = 'P', position = 't' }}\n\
         drivers.hold = {{ kind = 'joint', joint = 'B', position = '0' }}\n{contact}\
         events.go = {{ when = 't > 0.2', disable = ['hold'] }}\nrun.t_end = 0.8\noutput.every = 0.1\n"
    )
}

/// A paddle that a driver moves is met at 0.3 s: the ball leaves with 1 + e times its speed; with a limit it comes back.
#[test]
fn rigid_contacts_take_part_in_a_prescribed_motion() {
    for e in [0.0, 0.5, 1.0] {
        let text = paddle(
            &format!("contacts.c = {{ between = ['p', 'b'], method = 'impulsive', restitution = {e} }}\n"),
            "",
        );
        let found = follows(&text, "b.x", |t| 0.5 + (1.0 + e) * (t - 0.3).max(0.0));
        let hit = found.report.events.iter().find(|event| event.name == "c").unwrap();
        assert!((hit.t - 0.3).abs() < 1e-9, "{}", hit.t);
        assert!(found.report.notes.iter().any(|n| n.contains("do not move every degree of freedom")));
        // 2 kg come to 1 + e: the driver does the work of the impulse at its own speed
        let work = column(&found.trajectory, "energy.work");
        assert!((work.last().unwrap() - 2.0 * (1.0 + e)).abs() < 1e-7, "{e}: {work:?}");
    }
    // gone from the start, the driver has nothing to meet: a driven body in a rigid one is refused where it is met
    let held = paddle("contacts.c = { between = ['p', 'b'], method = 'impulsive' }\n", "")
        .replace("t > 0.2", "t > 0.7");
    let (model, system) = load(&held);
    let found = prescribed(&model, &system, &RunOverrides::default()).unwrap();
    assert_eq!(found.report.status, Status::Failed);
    assert!(found.report.reason.contains("`c` cannot hold"), "{}", found.report.reason);
}

/// Carriage `a` at x = t, and `b` on it, driven at 0.5 m/s until 0.4 s, and then free: it slides on at this speed.
fn carriage(own: &str, more: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\nbodies.a = {{ at = [0, 0], mass = 1, inertia = 1 }}\nbodies.b = {{ at = [0, 0], mass = 2, inertia = 1 }}\n\
         joints.A = {{ kind = 'prismatic', bodies = ['ground', 'a'], at = [0, 0] }}\n\
         joints.B = {{ kind = 'prismatic', bodies = ['a', 'b'], at = [0, 0]{own} }}\n\
         drivers.motor = {{ kind = 'joint', joint = 'A', position = 't' }}\n\
         drivers.feed = {{ kind = 'joint', joint = 'B', position = '0.5*t' }}\n{more}\
         run = {{ t_end = 1, rtol = 1e-10, atol = 1e-12 }}\noutput.every = 0.1\n"
    )
}

const FREE: &str = "events.free = { when = 't > 0.4', disable = ['feed'] }\n";

/// What is locked, stopped, handed over or switched on the way, each with its closed form of `B.position` and the work of drivers.
#[test]
fn locks_limits_and_events_take_part_in_a_prescribed_motion() {
    // what b loses of its speed, 2 kg times 0.5 m/s, pushes the carriage on: the motor takes that work out at 1 m/s
    let slow: Due = |t| 0.5 * t.min(0.6);
    let back: Due = |t| if t < 0.6 { 0.5 * t } else { 0.3 - 0.25 * (t - 0.6) };
    let cases: [(&str, &str, &str, Due, f64); 9] = [
        (", lock_at = 0.3", FREE, "B.lock_at", slow, -1.0),
        (", limits = [-1, 0.3]", FREE, "B.limits", slow, -1.0),
        (", limits = [-1, 0.3], stop = { restitution = 0.5 }", FREE, "B.limits", back, -1.5),
        ("", "events.e = { when = 't > 0.6', disable = ['feed'], lock = ['B'] }\n", "e", slow, -1.0),
        ("", "events.e = { when = 'B.position > 0.3', disable = ['feed'], lock = ['B'] }\n", "e", slow, -1.0),
        // released again it stays: nothing pushes it
        (
            "",
            "events.e = { when = 't > 0.6', disable = ['feed'], lock = ['B'] }\nevents.off = { when = 't > 0.8', release = ['B'] }\n",
            "off",
            slow,
            -1.0,
        ),
        // handed over to a driver of another speed: 0.8 N s at the 1 m/s of the motor; what engaging takes is dissipated
        (
            "",
            "drivers.next = { kind = 'joint', joint = 'B', speed = '0.1', enabled = false }\n\
             events.e = { when = 't > 0.5', disable = ['feed'], enable = ['next'] }\n",
            "e",
            |t| if t < 0.5 { 0.5 * t } else { 0.25 + 0.1 * (t - 0.5) },
            -0.8,
        ),
        // a force that an event brings while the feed holds changes no motion
        (
            "",
            "forces.f = { kind = 'actuator', joint = 'B', force = '3', enabled = false }\nevents.e = { when = 't > 0.5', enable = ['f'] }\n",
            "e",
            |t| 0.5 * t,
            // the actuator's work and the feed's cancel
            0.0,
        ),
        // a limiter stops the run
        ("", "events.e = { when = 'B.position > 0.9', stop = 'too far' }\n", "", |t| 0.5 * t, 0.0),
    ];
    for (own, more, fires, due, work) in cases {
        let text = carriage(own, more);
        let found = follows(&text, "B.position", due);
        if !fires.is_empty() {
            assert!(
                found.report.events.iter().any(|e| e.name == fires),
                "{fires}: {:?}",
                found.report.events
            );
        }
        let done = column(&found.trajectory, "energy.work");
        assert!((done.last().unwrap() - work).abs() < 1e-6, "{own}{more}: {done:?}, not {work}");
    }
}

/// A lock against a driver of the same coordinate is a contradiction, which names both the event and the driver.
#[test]
fn a_lock_against_a_driver_fails_by_name() {
    for (own, more) in [(", lock_at = 0.3", ""), ("", "events.e = { when = 't > 0.6', lock = ['B'] }\n")] {
        let (model, system) = load(&carriage(own, more));
        let found = prescribed(&model, &system, &RunOverrides::default()).unwrap();
        assert_eq!(found.report.status, Status::Failed);
        assert!((found.report.t_end - 0.6).abs() < 1e-9, "{}", found.report.t_end);
        assert!(found.report.reason.contains("driver `feed`"), "{}", found.report.reason);
        let name = if own.is_empty() { "`e`" } else { "`B.lock_at`" };
        assert!(found.report.notes.iter().any(|n| n.contains(name)), "{:?}", found.report.notes);
    }
}

/// Speeds that jump, of one of two drivers in a chain, of a cylinder between two points and of a point in space.
#[test]
fn speeds_of_several_drivers_jump() {
    let chain = carriage("", "").replace("position = '0.5*t' }", "speed = 'if(t < 0.5, 0.5, -1)' }");
    let found = follows(&chain, "B.position", |t| if t < 0.5 { 0.5 * t } else { 0.25 - (t - 0.5) });
    // ½ m v² of b from 1.5 to 0 m/s
    let work = column(&found.trajectory, "energy.work");
    assert!((work.last().unwrap() + 0.5 * 2.0 * 1.5 * 1.5).abs() < 1e-7, "{work:?}");
    let ram = "space = 'planar'\ngravity = [0, 0]\nbodies.b = { at = [1, 0], mass = 3, inertia = 1 }\n\
        joints.J = { kind = 'prismatic', bodies = ['ground', 'b'], at = [1, 0] }\n\
        drivers.d = { kind = 'distance', bodies = ['ground', 'b'], ends = [[0, 0], [1, 0]], length = 'LENGTH' }\n\
        run.t_end = 1\noutput.every = 0.1\n";
    // however it is written, the kink is a jump of the speed from 0 to 2 m/s at 0.5 s, and 6 J
    for length in [
        "1 + max(0, 2*(t - 0.5))",
        "1 + max(2*(t - 0.5), 0)",
        "1 - min(0, 1 - 2*t)",
        "0.5 + t + abs(0.5 - t)",
        "0.5 + t + abs(t - 0.5)",
        "1 + clamp(2*t - 1, 0, 9)",
    ] {
        let found = follows(&ram.replace("LENGTH", length), "b.x", |t| 1.0 + (2.0 * (t - 0.5)).max(0.0));
        let work = column(&found.trajectory, "energy.work");
        assert!((work.last().unwrap() - 6.0).abs() < 1e-7, "{length}: {work:?}");
    }
    // and back to rest at the other end of a clamp
    let found = inverse(&ram.replace("LENGTH", "1 + clamp(2*t - 0.5, 0, 1)"));
    let work = column(&found.trajectory, "energy.work");
    assert!((work[5] - 6.0).abs() < 1e-7 && work[10].abs() < 1e-7, "{work:?}");
    let point = "gravity = [0, 0, 0]\nbodies.b = { at = [0, 0, 0], mass = 3, inertia = [1, 2, 3] }\n\
        drivers.d = { kind = 'point', body = 'b', at = [0, 0, 0], velocity = ['if(t < 0.5, 1, 2)', '0', '1'], omega = ['0', '0', 'if(t < 0.5, 2, 0)'] }\n\
        run.t_end = 1\noutput.every = 0.1\n";
    let found = follows(point, "b.x", |t| t + (t - 0.5).max(0.0));
    let work = column(&found.trajectory, "energy.work");
    assert!((work.last().unwrap() - (0.5 * 3.0 * 3.0 - 0.5 * 3.0 * 4.0)).abs() < 1e-7, "{work:?}");
}

/// What controllers hold and integrate in a prescribed motion: u of the sample before, with saturation, and ki e t of a constant error.
#[test]
fn controllers_push_in_a_prescribed_motion() {
    let push = |controller: &str| {
        slider(
            "",
            "[0, 0]",
            &format!(
                "controllers.c = {{ {controller} }}\nforces.f = {{ kind = 'actuator', joint = 'J', force = 'c.out' }}\n"
            ),
        )
    };
    let sampled = push("kind = 'pid', input = 't', kp = 10, period = 0.25");
    // at the samples of the controller itself the new value is held from there on: compare between them
    let found = inverse(&sampled);
    let (t, force) = (column(&found.trajectory, "t"), column(&found.trajectory, "motor.force"));
    for (t, force) in t.iter().zip(force).filter(|(t, _)| ((*t / 0.25).round() * 0.25 - *t).abs() > 1e-6) {
        let due = 2.0 - 10.0 * 0.25 * (t / 0.25).floor();
        assert!((force - due).abs() < 1e-9, "{t}: {force}, not {due}");
    }
    follows(&push("kind = 'pid', input = '2', kp = 0, ki = 3"), "motor.force", |t| 2.0 - 6.0 * t);
    follows(&push("kind = 'pid', input = '2', kp = 0, ki = 3, limits = [-1, 4]"), "motor.force", |t| {
        2.0 - (6.0 * t).min(4.0)
    });
    follows(&push("kind = 'pid', input = 't', kp = 0, kd = 5"), "motor.force", |_| 2.0 - 5.0);
    let lag = "kind = 'ode', states = { x = 0 }, rates = { x = '4*(1 - x)' }, outputs = { out = 'x' }";
    follows(&push(lag), "motor.force", |t| 2.0 - (1.0 - f64::exp(-4.0 * t)));
    // however fast its states are
    follows(&push(&lag.replace("4*(", "4e4*(")), "motor.force", |t| 2.0 - (1.0 - f64::exp(-4e4 * t)));
}

/// What holds a joint only by a spring or a contact is not driven, and degrees of freedom are counted.
#[test]
fn freedoms_that_no_driver_has_are_counted() {
    let text = paddle("", "")
        .replace("drivers.hold = { kind = 'joint', joint = 'B', position = '0' }\n", "")
        .replace("disable = ['hold']", "stop = 'x'");
    assert!(matches!(refused(&text), SetupError::NotDriven { free: 1 }));
    assert!(read(&text.replace("joint = 'P', position", "joint = 'P', angle"), Path::new("")).is_err());
}
