//! Describes what `check` does with each family, and which reactions are unique along a run that events, locks, limits and contacts change.

use crate::common::{load, outcome, read};
use sarrus::analysis::{CheckReport, RunOverrides, SetupError, check, prescribed};
use std::path::Path;

fn checked(text: &str) -> CheckReport {
    let (model, system) = load(text);
    check(&model, &system).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Columns that are not unique at the start, in alphabetical order.
fn shared_at_start(report: &CheckReport) -> Vec<String> {
    let columns =
        report.reactions.iter().flat_map(|r| r.not_unique.iter().map(move |c| format!("{}.{c}", r.name)));
    let mut columns: Vec<String> = columns.collect();
    columns.sort();
    columns
}

/// What is wrong with a text, at its compilation or its check, with words that it must have and a place in the file.
fn refused(text: &str, words: &[&str]) {
    let message = match read(text, Path::new("")) {
        Err(message) => message,
        Ok((model, system)) => {
            let error = check(&model, &system).unwrap_err();
            let diagnostic = error.diagnostics();
            assert!(diagnostic[0].hint.is_some(), "{error}");
            diagnostic.iter().map(|d| d.message.clone()).collect()
        }
    };
    words.iter().for_each(|word| assert!(message.contains(word), "`{word}` is not in: {message}"));
}

/// A rod on a hinge with options `own`, and `more`.
fn arm(own: &str, more: &str) -> String {
    format!(
        "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 1 }}\n\
         joints.j = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0]{own} }}\n{more}run.t_end = 0.5\noutput.every = 0.1\n"
    )
}

/// Elements without rows have nothing for `check` to count: it reads them, and refuses what is wrong with them by name.
#[test]
fn elements_without_rows_are_read_and_refused_by_name() {
    let good = checked(&arm(
        ", friction = { mu = 0.1, radius = 0.1 }, stiffness = 3, lock_at = -0.3, limits = [-1, 1]",
        "",
    ));
    assert_eq!((good.dof, good.counted_mobility), (Some(1), 1));
    assert_eq!(good.events, ["j.limits", "j.lock_at"]);
    for (own, words) in [
        (
            ", friction = { mu = -1, radius = 0.1 }",
            ["`mu` of `friction` of joint `j`", "must not be negative"],
        ),
        (", friction = { mu = 0.1 }", ["`friction` of joint `j`", "needs `radius`"]),
        (", armature = -2", ["`armature` of joint `j`", "must not be negative"]),
        (", limits = [1, -1]", ["`limits` of joint `j`", "is not below"]),
        (", limits = [0.5, 1]", ["`j.angle` starts at 0", "beyond its limit 0.5"]),
        (", lock_at = 'x'", ["`x` is not known", "lock_at"]),
    ] {
        refused(&arm(own, ""), &words);
    }
    for (more, words) in [
        (
            "forces.f = { kind = 'spring', bodies = ['ground', 'a'], ends = [[0, 1], [1, 0]], stiffness = -5 }",
            "`stiffness` of force `f`",
        ),
        ("forces.f = { kind = 'force', body = 'b', force = [1, 0] }", "body `b` does not exist"),
        ("forces.f = { kind = 'field', bodies = ['a'], force = ['y*q', 0] }", "`q` is not known"),
        (
            "forces.f = { kind = 'drag', bodies = ['a'], fluid = 'water', axial = { coefficient = 1, area = 1 } }",
            "fluid `water` does not exist",
        ),
        ("forces.f = { kind = 'actuator', joint = 'j', torque = 'c.out' }", "`c.out` is not known"),
        ("controllers.c = { kind = 'pid', input = 'j.angl', kp = 1 }", "`j` has no `angl`"),
        (
            "controllers.c = { kind = 'sampled', period = -1, outputs = { u = '1' } }",
            "`period` of controller `c`",
        ),
        (
            "controllers.c = { kind = 'ode', states = { x = 0 }, rates = { y = '1' }, outputs = { u = 'x' } }",
            "state `x` of controller `c` has no rate",
        ),
        ("events.e = { when = 'j.angle', lock = ['j'] }", "`when` of event `e` is no condition"),
        ("events.e = { when = 't > 1', disable = ['nobody'] }", "`nobody`"),
        ("contacts.c = { between = ['a', 'nothing'] }", "`nothing` does not exist"),
        (
            "ground.shape = { kind = 'half_space', on = [0, -9] }\ncontacts.c = { between = ['a', 'ground'], law = { kind = 'linear', stiffness = -1 } }",
            "`stiffness`",
        ),
        (
            "flexible.b = { kind = 'beam', from = [0, 0], to = [1, 0], section = 's' }",
            "section `s` does not exist",
        ),
        ("flexible.b = { kind = 'modal', members = ['m'], interface = ['m.start'], modes = 2 }", "`m`"),
        (
            "constraints.c = { kind = 'distance', bodies = ['ground', 'a'], ends = [[0, 0], [0, 0]] }",
            "the two points coincide",
        ),
        (
            "drivers.d = { kind = 'joint', joint = 'j', position = 't' }",
            "the coordinate of joint `j` is an angle",
        ),
    ] {
        refused(&arm("", &format!("{more}\n")), &[words]);
    }
}

/// Bodies of their own that armature, beams and modal bodies bring are counted, and do not count as mobility that is the mechanism's.
#[test]
fn members_and_rotors_are_counted() {
    let rotor = checked(&arm(", armature = 2", ""));
    assert_eq!(rotor.dof, Some(1));
    assert!(
        rotor.notes.iter().any(|n| n.contains("are of rotors, which are the armature of joints")),
        "{:?}",
        rotor.notes
    );
    let section = "space = 'planar'\nsections.s = { kind = 'given', EA = 1e3, GA = 1e3, EI = 10, rhoA = 1, rhoI = 0.01 }\n";
    let clamp = "joints.c = { kind = 'fixed', bodies = ['ground', 'b.start'], at = [0, 0] }\n";
    for elements in [1, 4, 7] {
        let beam = format!(
            "{section}flexible.b = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = {elements} }}\n{clamp}"
        );
        assert_eq!(checked(&beam).dof, Some(3 * elements));
    }
    let modal = format!(
        "{section}flexible.m = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 6 }}\n\
         flexible.b = {{ kind = 'modal', members = ['m'], interface = ['m.start'], modes = 4 }}\n{clamp}"
    );
    let modal = checked(&modal);
    assert_eq!(modal.dof, Some(4));
    assert!(modal.notes.iter().any(|n| n.contains("inside modal bodies")), "{:?}", modal.notes);
    let rod = format!(
        "{section}flexible.b = {{ kind = 'segmented_rod', from = [0, 0], to = [1, 0], section = 's', segments = 5 }}\njoints.c = {{ kind = 'fixed', bodies = ['ground', 'b.seg1'], at = [0, 0] }}\n"
    );
    assert_eq!(checked(&rod).dof, Some(4));
}

/// Rows of constraints and drivers are counted; what is said twice is shared, and what contradicts is an error that names it.
#[test]
fn constraints_and_drivers_are_rows_of_a_check() {
    for row in [
        "constraints.NAME = { kind = 'distance', bodies = ['ground', 'a'], ends = [[0, -1], [1, 0]] }\n",
        "constraints.NAME = { kind = 'point_on_line', bodies = ['ground', 'a'], at = [1, 0], axis = [1, 0] }\n",
        "constraints.NAME = { kind = 'expression', zero = 'a.y' }\n",
        "constraints.NAME = { kind = 'angle', bodies = ['ground', 'a'], axes = [[1, 0], [0, 1]] }\n",
        "constraints.NAME = { kind = 'coupler', coordinates = ['j.angle'], factors = [1] }\n",
        "drivers.NAME = { kind = 'joint', joint = 'j', angle = 't' }\n",
        "drivers.NAME = { kind = 'joint', joint = 'j', rate = '1 + t' }\n",
        "drivers.NAME = { kind = 'point', body = 'a', at = [1, 0], position = ['free', 't'] }\n",
    ] {
        let (once, more) = (row.replace("NAME", "c"), row.replace("NAME", "d"));
        let one = checked(&arm("", &once));
        assert_eq!((one.dof, shared_at_start(&one).len()), (Some(0), 0), "{row}");
        let two = checked(&arm("", &format!("{once}{more}")));
        assert_eq!((two.dof, two.counted_mobility), (Some(0), -1), "{row}");
        let shared = shared_at_start(&two);
        assert!(
            shared.iter().all(|c| c.starts_with("c.") || c.starts_with("d.")) && shared.len() == 2,
            "{row}: {shared:?}"
        );
    }
    let drivers = |a: &str, b: &str| {
        arm(
            "",
            &format!(
                "drivers.d = {{ kind = 'joint', joint = 'j', {a} }}\ndrivers.e = {{ kind = 'joint', joint = 'j', {b} }}\n"
            ),
        )
    };
    refused(&drivers("angle = '0.1'", "angle = '0.2'"), &["driver `e`"]);
    refused(&drivers("rate = '1'", "rate = '2'"), &["drivers `d` and `e` contradict each other"]);
    assert_eq!(checked(&drivers("angle = 't'", "angle = 't'")).dof, Some(0));
}

/// Limits and locks that bear at the start are rows where reactions are judged, as closed contacts are; events that fire there are named.
#[test]
fn what_holds_at_the_start_of_a_run_is_judged_by_a_check() {
    let two = |a: &str, b: &str, more: &str| {
        arm(
            a,
            &format!("joints.k = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0]{b} }}\n{more}"),
        )
    };
    let forces = ["j.fx", "j.fy", "k.fx", "k.fy"];
    let torques = ["j.fx", "j.fy", "j.tz", "k.fx", "k.fy", "k.tz"];
    assert_eq!(shared_at_start(&checked(&two("", "", ""))), forces);
    let limits = checked(&two(", limits = [0, 1]", ", limits = [0, 2]", ""));
    assert_eq!(shared_at_start(&limits), torques);
    assert_eq!((limits.dof, limits.closed_contacts.unwrap().points), (Some(1), 2));
    // the other limit does not bear, nor does one that is not reached
    assert_eq!(shared_at_start(&checked(&two(", limits = [0, 1]", ", limits = [-2, 0]", ""))), forces);
    assert_eq!(shared_at_start(&checked(&two(", limits = [0, 1]", ", limits = [-2, 1]", ""))), forces);
    let locks = checked(&two(", lock_at = 0", ", lock_at = 0", ""));
    assert_eq!(shared_at_start(&locks), torques);
    assert!(locks.notes.iter().any(|n| n.contains("`j.lock_at`, `k.lock_at`")), "{:?}", locks.notes);
    let event = checked(&two("", "", "events.e = { when = 't >= 0', disable = ['k'] }\n"));
    assert!(shared_at_start(&event).is_empty(), "{:?}", event.reactions);
    assert!(event.notes.iter().any(|n| n.contains("as soon as a run starts: `e`")), "{:?}", event.notes);
    let later = checked(&two("", "", "events.e = { when = 't > 0.1', disable = ['k'] }\n"));
    assert_eq!((shared_at_start(&later).len(), later.events), (4, vec!["e".to_string()]));
}

/// Columns that are not unique by the end of a run, in alphabetical order.
fn shared(text: &str) -> Vec<String> {
    let mut columns = outcome(&load(text)).report.reactions.not_unique;
    columns.sort();
    columns
}

/// Twin hinges in the plane: their forces are shared from the start on, and what they hold is where both do.
#[test]
fn verdicts_follow_locks_limits_and_events() {
    let twin = |a: &str, b: &str, more: &str| {
        arm(
            a,
            &format!("joints.k = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0]{b} }}\n{more}"),
        )
    };
    let torques =
        |columns: &[String]| columns.iter().filter(|c| c.ends_with(".tz")).cloned().collect::<Vec<_>>();
    let both = ["j.tz", "k.tz"];
    for (a, b, more, due) in [
        (", lock_at = -0.1", ", lock_at = -0.1", "", &both[..]),
        (", lock_at = -0.1", "", "", &[]),
        (", limits = [-0.1, 1]", ", limits = [-0.1, 1]", "", &both),
        (", limits = [-0.1, 1]", ", limits = [-0.2, 1]", "", &[]),
        ("", "", "events.e = { when = 't > 0.1', lock = ['j', 'k'] }\n", &both),
        // the same beside a limit, or a contact, that nothing comes near
        (", limits = [-3, 3]", "", "events.e = { when = 't > 0.1', lock = ['j', 'k'] }\n", &both),
        ("", ", limits = [-3, 3]", "events.e = { when = 'j.angle < -0.05', lock = ['j', 'k'] }\n", &both),
        // one after the other, and no more once one is let go again
        (
            "",
            "",
            "events.e = { when = 't > 0.1', lock = ['j'] }\nevents.f = { when = 't > 0.2', lock = ['k'] }\n",
            &both,
        ),
        (
            "",
            "",
            "events.e = { when = 't > 0.1', lock = ['j'] }\nevents.f = { when = 't > 0.2', release = ['j'] }\n",
            &[],
        ),
    ] {
        assert_eq!(torques(&shared(&twin(a, b, more))), due, "{a} {b} {more}");
    }
}

#[test]
fn rows_that_events_bring_are_judged_beside_limits_and_contacts() {
    let pin = "joints.k = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], enabled = false }\nevents.on = { when = 't > 0.1', enable = ['k'] }\n";
    let floor = "ground.shape = { kind = 'half_space', on = [0, -50] }\nbodies.ball = { at = [5, 0], mass = 1, inertia = 1, shape = { kind = 'disc', radius = 0.1 } }\n\
        contacts.c = { between = ['ball', 'ground'], method = 'impulsive' }\n";
    let forces = ["j.fx", "j.fy", "k.fx", "k.fy"];
    assert_eq!(shared(&arm("", pin)), forces);
    assert_eq!(shared(&arm(", limits = [-3, 3]", pin)), forces);
    assert_eq!(shared(&arm("", &format!("{pin}{floor}"))), forces);
    // while a ball rests on the floor
    let near = floor.replace("[0, -50]", "[0, -0.1]");
    assert_eq!(shared(&arm("", &format!("{pin}{near}"))), forces);
    assert!(shared(&arm(", limits = [-3, 3]", &pin.replace("t > 0.1", "t > 9"))).is_empty());
    // a bar that an event says twice, and a driver
    let bars = "constraints.c = { kind = 'distance', bodies = ['ground', 'a'], ends = [[0, -1], [1, 0]] }\n\
        constraints.d = { kind = 'distance', bodies = ['ground', 'a'], ends = [[0, -1], [1, 0]], enabled = false }\nevents.on = { when = 't > 0.1', enable = ['d'] }\n";
    assert_eq!(shared(&arm("", bars)), ["c.force", "d.force"]);
    let drivers = "drivers.c = { kind = 'joint', joint = 'j', rate = '1' }\ndrivers.d = { kind = 'joint', joint = 'j', rate = '1', enabled = false }\n\
        events.on = { when = 't > 0.1', enable = ['d'] }\n";
    assert_eq!(shared(&arm(", limits = [-3, 3]", drivers)), ["c.torque", "d.torque"]);
    // `inverse` says the same of its efforts
    let (model, system) = load(&arm("", drivers));
    let report = prescribed(&model, &system, &RunOverrides::default()).unwrap().report;
    assert!(report.drivers.iter().all(|d| !d.unique) && report.drivers.len() == 2, "{:?}", report.drivers);
}

/// A lock, a driver or a weld that holds what a limit or a contact touches: each may bear what the other does not.
#[test]
fn what_touches_beside_what_holds_shares() {
    let twin = |a: &str, b: &str, more: &str| {
        arm(
            a,
            &format!("joints.k = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0]{b} }}\n{more}"),
        )
    };
    let torques =
        |columns: &[String]| columns.iter().filter(|c| c.ends_with(".tz")).cloned().collect::<Vec<_>>();
    let (lock, limit, both) = (", lock_at = -0.1", ", limits = [-0.1, 1]", ["j.tz", "k.tz"]);
    assert_eq!(torques(&shared(&twin(lock, limit, ""))), both);
    assert_eq!(torques(&shared(&twin(limit, lock, ""))), both);
    // it rests at the limit before the lock comes
    let later = "events.e = { when = 't > 0.25', lock = ['j'] }\n";
    assert_eq!(torques(&shared(&twin("", limit, later))), both);
    // a limit and a lock of one coordinate are one reaction, and a limit elsewhere bears nothing
    assert!(torques(&shared(&twin(", lock_at = -0.1, limits = [-0.1, 1]", "", ""))).is_empty());
    assert!(torques(&shared(&twin(lock, ", limits = [-0.2, 1]", ""))).is_empty());
    // from the start on
    let start = checked(&twin(", lock_at = 0", ", limits = [0, 1]", ""));
    assert_eq!(torques(&shared_at_start(&start)), both);
    // a driver that comes to a limit and stays; one that turns round before it, or continues, does not
    let driven = |angle: &str| {
        let driver = format!("drivers.d = {{ kind = 'joint', joint = 'j', angle = '{angle}' }}\n");
        shared(&arm(", limits = [-0.1, 1]", &driver))
    };
    assert_eq!(driven("max(-t, -0.1)"), ["d.torque", "j.tz"]);
    assert!(driven("max(-t, -0.09)").is_empty());
    assert!(driven("max(-t, -0.1 + max(0, t - 0.1))").is_empty());
    // a floor that touches what is welded to the ground
    let box_on = |at: &str| {
        format!(
            "space = 'planar'\nground.shape = {{ kind = 'half_space', on = [0, {at}] }}\nbodies.b = {{ at = [0, 0.1], mass = 1, inertia = 1, shape = {{ kind = 'disc', radius = 0.1 }} }}\n\
             joints.w = {{ kind = 'fixed', bodies = ['ground', 'b'], at = [0, 0.1] }}\ncontacts.c = {{ between = ['b', 'ground'], method = 'impulsive' }}\n\
             run.t_end = 0.1\noutput.every = 0.1\n"
        )
    };
    assert_eq!(shared(&box_on("0")), ["c.force", "w.fy"]);
    assert!(shared(&box_on("-0.01")).is_empty());
}

/// A parallelogram whose cranks both lock, or both rest at limits, shares the load of its coupler; one of them alone does not.
#[test]
fn a_loop_that_locks_twice_shares_its_load() {
    let frame = |a: &str, d: &str| {
        format!(
            "space = 'planar'\nbodies.a = {{ from = [0, 0], to = [0, 1], mass = 1 }}\nbodies.b = {{ from = [0, 1], to = [1, 1], mass = 1 }}\nbodies.c = {{ from = [1, 0], to = [1, 1], mass = 1 }}\n\
             joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], reads = 0{a} }}\njoints.B = {{ kind = 'revolute', bodies = ['a', 'b'], at = [0, 1] }}\n\
             joints.C = {{ kind = 'revolute', bodies = ['b', 'c'], at = [1, 1] }}\njoints.D = {{ kind = 'revolute', bodies = ['ground', 'c'], at = [1, 0], reads = 0{d} }}\n\
             initial.A.rate = -1\nrun.t_end = 0.4\noutput.every = 0.1\n"
        )
    };
    let due = ["A.fx", "A.tz", "B.fx", "C.fx", "D.fx", "D.tz"];
    let (lock, limit) = (", lock_at = -0.2", ", limits = [-0.2, 1]");
    for (a, d, shares) in
        [(lock, "", false), (lock, lock, true), (limit, limit, true), (limit, "", false), ("", lock, false)]
    {
        let found = shared(&frame(a, d));
        assert_eq!(found, if shares { &due[..] } else { &[] }, "{a} {d}");
    }
}

/// An arm that comes onto a floor and its limit at one instant: neither is needed.
#[test]
fn a_contact_and_a_limit_that_close_together_share() {
    let text = "space = 'planar'\nground.shape = { kind = 'half_space', on = [0, -0.3] }\nbodies.a = { from = [0, 0], to = [1, 0], mass = 1, shape = { kind = 'ends', radius = 0.05 } }\n\
        joints.j = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], limits = ['-asin(0.25)', 1] }\n\
        contacts.c = { between = ['a', 'ground'], method = 'impulsive' }\nrun.t_end = 0.5\noutput.every = 0.1\n";
    assert_eq!(shared(text), ["c.force", "j.fy", "j.tz"]);
    assert!(shared(&text.replace("asin(0.25)", "asin(0.5)")).is_empty());
    // twins in space: 3 forces and the torques across the axis, and with locks about it too
    let space = "gravity = [0, 0, -9.81]\nbodies.a = { at = [0.5, 0, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }\n\
        joints.j = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 1, 0], limits = [-2, 2] }\n\
        joints.k = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 1, 0], axis = [0, 1, 0] }\nevents.e = { when = 't > 0.1', lock = ['j', 'k'] }\nrun.t_end = 0.2\noutput.every = 0.1\n";
    assert!(shared(space).iter().any(|c| c == "j.ty"));
    assert!(!shared(&space.replace("lock = ['j', 'k']", "lock = ['j']")).iter().any(|c| c == "j.ty"));
}

/// A check refuses what a run refuses: a modal field on a node, a start that cannot be put together.
#[test]
fn a_start_that_cannot_be_is_refused_by_a_check() {
    let text = arm(
        "",
        "constraints.c = { kind = 'distance', bodies = ['ground', 'a'], ends = [[0, -1], [1, 0]], length = 9 }\n",
    );
    let (model, system) = load(&text);
    let error = check(&model, &system).unwrap_err();
    assert!(matches!(error, SetupError::Assembly(_)) && error.to_string().contains("`c`"), "{error}");
}
