//! Describes where something happens on the way: `inverse` is a run with prescribed motion, and reactions are judged after events too.

use crate::common::{column, load, outcome};
use sarrus::analysis::{RunOverrides, prescribed};
use sarrus::prelude::*;

/// The prescribed motion of a text, and the run of it with tight tolerances.
fn both(text: &str) -> (Prescribed, Outcome) {
    let loaded = load(text);
    let inverse =
        prescribed(&loaded.0, &loaded.1, &RunOverrides::default()).unwrap_or_else(|e| panic!("{text}\n{e}"));
    assert_eq!(inverse.report.status, Status::Completed, "{}", inverse.report.reason);
    (inverse, outcome(&loaded))
}

use sarrus::analysis::Prescribed;

fn agree(text: &str, names: &[&str]) {
    let (inverse, run) = both(text);
    for name in names {
        let (a, b) = (column(&inverse.trajectory, name), column(&run.trajectory, name));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{name}: {a} by inverse, {b} by run\n{text}");
        }
    }
}

const SLIDER: &str = "space = 'planar'\ngravity = [0, 0]\nbodies.b = { at = [0, 0], mass = 1, inertia = 1 }\n\
    joints.J = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0] }\n\
    drivers.motor = { kind = 'joint', joint = 'J', position = 't^2' }\n\
    run = { t_end = 1, rtol = 1e-10, atol = 1e-12 }\noutput.every = 0.5\n";

#[test]
fn sampled_controllers_take_part_in_a_prescribed_motion() {
    let text = format!(
        "{SLIDER}controllers.ctl = {{ kind = 'sampled', period = 0.1, outputs = {{ u = '5' }} }}\n\
         controllers.lag = {{ kind = 'ode', states = {{ s = 0 }}, rates = {{ s = '1' }}, outputs = {{ u = '3*s' }} }}\n\
         controllers.pid = {{ kind = 'pid', input = '1', kp = 0, ki = 7 }}\n\
         forces.push = {{ kind = 'actuator', joint = 'J', force = 'ctl.u' }}\n\
         forces.push2 = {{ kind = 'actuator', joint = 'J', force = 'lag.u' }}\n\
         forces.push3 = {{ kind = 'actuator', joint = 'J', force = 'pid.out' }}\n"
    );
    let (inverse, _) = both(&text);
    // m a = 2 less what the actuators push
    let due = [2.0 - 5.0, 2.0 - 5.0 - 1.5 - 3.5, 2.0 - 5.0 - 3.0 - 7.0];
    for (got, due) in column(&inverse.trajectory, "motor.force").iter().zip(due) {
        assert!((got - due).abs() < 1e-8, "{got}, not {due}");
    }
    agree(&text, &["motor.force", "ctl.u", "push.force", "energy.work"]);
    // one that reads the motion, with a delay
    let text = format!(
        "{SLIDER}controllers.ctl = {{ kind = 'sampled', period = 0.07, delay = 0.03, outputs = {{ u = '4*b.x + b.vx' }} }}\n\
         forces.push = {{ kind = 'actuator', joint = 'J', force = 'ctl.u' }}\n"
    );
    agree(&text, &["motor.force", "ctl.u"]);
}

#[test]
fn events_take_part_in_a_prescribed_motion() {
    let text = format!(
        "{SLIDER}controllers.sw = {{ kind = 'input', values = {{ on = 0 }} }}\n\
         forces.push = {{ kind = 'actuator', joint = 'J', force = '5' }}\n\
         forces.push2 = {{ kind = 'actuator', joint = 'J', force = '3*sw.on' }}\n\
         events.e = {{ when = 't > 0.3', disable = ['push'], set = {{ sw.on = 1 }}, once = true }}\n"
    );
    let (inverse, _) = both(&text);
    for (got, due) in column(&inverse.trajectory, "motor.force").iter().zip([-3.0, -1.0, -1.0]) {
        assert!((got - due).abs() < 1e-9, "{got}, not {due}");
    }
    assert_eq!(inverse.report.events.len(), 1);
    // by the motion, in the plane and in space
    agree(&text.replace("t > 0.3", "b.x > 0.2"), &["motor.force", "push2.force", "energy.work"]);
    let spatial = "gravity = [0, 0, -9.81]\nbodies.b = { at = [0.5, 0, 0], mass = 1, inertia = [1, 1, 1] }\n\
        joints.J = { kind = 'revolute', bodies = ['ground', 'b'], at = [0, 0, 0], axis = [0, 1, 0] }\n\
        drivers.motor = { kind = 'joint', joint = 'J', angle = 't^2' }\n\
        forces.push = { kind = 'actuator', joint = 'J', torque = '5' }\n\
        events.e = { when = 'b.z < -0.1', disable = ['push'] }\n\
        run = { t_end = 1, rtol = 1e-10, atol = 1e-12 }\noutput.every = 0.25\n";
    agree(spatial, &["motor.torque", "J.fx", "J.fz"]);
}

#[test]
fn the_impulse_of_a_speed_that_jumps_is_work() {
    for (jump, by) in
        [("if(t<1.02,1,2)", 1.0), ("if(t<1.02,1,-1)", 0.0), ("if(t<0.5,0,if(t<1.5,3,1))", 1.0 / 3.0)]
    {
        let text = format!(
            "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 2 }}\n\
             joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }}\n\
             drivers.d = {{ kind = 'joint', joint = 'A', rate = '{jump}' }}\nrun.t_end = 2\noutput.every = 0.05\n"
        );
        let (inverse, _) = both(&text);
        let balance = column(&inverse.trajectory, "energy.balance");
        let spread = balance.iter().fold(0.0_f64, |m, b| m.max((b - balance[0]).abs()));
        assert!(spread < 1e-8, "{jump}: the balance moves by {spread}");
        // ½ I (ω₁² - ω₀²) with I = m l²/3 = 2/3, weight aside
        let kinetic = column(&inverse.trajectory, "energy.kinetic");
        let change = kinetic.last().unwrap() - kinetic[0];
        assert!((change - by).abs() < 1e-9, "{jump}: {change}");
    }
}

#[test]
fn drivers_that_an_event_switches_off_leave_a_note() {
    let text = format!("{SLIDER}events.e = {{ when = 't > 0.3', disable = ['motor'] }}\n");
    let (inverse, _) = both(&text);
    assert!(
        inverse.report.notes.iter().any(|n| n.contains("do not move every degree of freedom")),
        "{:?}",
        inverse.report.notes
    );
    agree(&text, &["b.x", "b.vx"]);
}

/// A pendulum on a pin, and what else an event brings.
fn shared(own: &str) -> (Vec<String>, Vec<String>) {
    let text = format!(
        "space = 'planar'\nbodies.arm = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
         joints.A = {{ kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }}\n{own}run.t_end = 0.3\noutput.every = 0.1\n"
    );
    let report = outcome(&load(&text)).report;
    (report.reactions.not_unique, report.notes)
}

#[test]
fn reactions_that_an_event_makes_redundant_are_not_unique() {
    let pin = "joints.B = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0], enabled = false }\n";
    let event = "events.on = { when = 't > 0.1', enable = ['B'], once = true }\n";
    let (columns, notes) = shared(&format!("{pin}{event}"));
    for name in ["A.fx", "A.fy", "B.fx", "B.fy"] {
        assert!(columns.iter().any(|c| c == name), "{name} is not in {columns:?}");
    }
    assert!(notes.iter().any(|n| n.contains("4 components of reactions are not unique")), "{notes:?}");
    // an event that changes no rows, and one that adds a row which is not redundant
    assert!(shared("events.e = { when = 't > 0.1', lock = ['A'] }\n").0.is_empty());
    assert!(shared(pin).0.is_empty());
    // two locks share a torque
    let two = "joints.C = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }\n";
    let (before, _) = shared(two);
    assert!(!before.iter().any(|c| c.ends_with(".tz")), "{before:?}");
    let (after, _) = shared(&format!("{two}events.e = {{ when = 't > 0.1', lock = ['A', 'C'] }}\n"));
    assert!(after.contains(&"A.tz".into()) && after.contains(&"C.tz".into()), "{after:?}");
    // a stop at which two coordinates of one degree of freedom rest
    let stops = "joints.C = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0], limits = [-0.2, 3] }\n\
        events.e = { when = 'A.angle < -0.1', lock = ['A'] }\n";
    let (locked, _) = shared(stops);
    assert!(!locked.contains(&"A.tz".into()), "only one of them holds: {locked:?}");
}

#[test]
fn reactions_of_space_are_judged_after_events_too() {
    let text = "gravity = [0, 0, -9.81]\nbodies.arm = { at = [0.5, 0, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0, 0], axis = [0, 1, 0] }\n\
        joints.B = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 1, 0], axis = [0, 1, 0], enabled = false }\n\
        events.on = { when = 't > 0.1', enable = ['B'] }\nrun.t_end = 0.2\noutput.every = 0.1\n";
    let columns = outcome(&load(text)).report.reactions.not_unique;
    // five of the rows of B repeat those of A
    for name in ["A.fy", "B.fy", "A.tx", "B.tz"] {
        assert!(columns.iter().any(|c| c == name), "{name} is not in {columns:?}");
    }
    let off = outcome(&load(&text.replace("t > 0.1", "t > 10"))).report.reactions.not_unique;
    assert!(off.is_empty(), "{off:?}");
}

/// A driver that goes through a rigid limit ends there, as in a run.
#[test]
fn rigid_limits_take_part_in_a_prescribed_motion() {
    let text = "space = 'planar'\ngravity = [0, 0]\nbodies.b = { at = [0, 0], mass = 1, inertia = 1 }\n\
                joints.J = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0], limits = [-1, 0.5] }\n\
                drivers.motor = { kind = 'joint', joint = 'J', position = 't' }\nrun.t_end = 1\n";
    let (model, system) = load(text);
    let inverse = prescribed(&model, &system, &RunOverrides::default()).unwrap();
    assert_eq!(inverse.report.status, Status::Failed);
    assert!(inverse.report.reason.contains("J.limits"), "{}", inverse.report.reason);
    // inside the limit nothing changes
    agree(&text.replace("'t'", "'0.4*t'"), &["motor.force", "J.position"]);
}
