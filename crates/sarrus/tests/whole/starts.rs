//! Starts: `[initial]` in every way of writing, for every kind of body and member, against momenta and energies by hand.

use crate::common::{PLANAR, SPATIAL, load, outcome, read};
use sarrus::prelude::*;
use std::path::Path;

/// The first sample of a short run, with its notes.
struct Start {
    run: Trajectory,
    report: Report,
}

fn start(text: &str) -> Start {
    let outcome = outcome(&load(&format!("run = {{ t_end = 1e-7 }}\n{text}")));
    Start { run: outcome.trajectory, report: outcome.report }
}

impl Start {
    fn at(&self, name: &str) -> f64 {
        self.run.column(name).unwrap_or_else(|| panic!("no column {name}")).next().unwrap()
    }

    fn near(&self, what: &str, values: &[(&str, f64)]) {
        for (name, value) in values {
            let found = self.at(name);
            assert!(
                (found - value).abs() < 2e-9 * (1.0 + value.abs()),
                "{what}: {name} = {found}, not {value}"
            );
        }
    }
}

/// Returns what is wrong with the start of a model.
fn refused(text: &str) -> String {
    let (model, system) = read(text, Path::new("")).unwrap();
    let error = sarrus::analysis::assemble(&model, &system, Default::default()).expect_err("it starts");
    error.diagnostics().iter().map(|d| d.render(&model.sources)).collect()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Length 1, mass 1.5, along x from x = 0.2: the centre of mass is at 0.7. Its inertia about that, by hand; elements with lumped mass have
/// 2/n² more of m l²/12.
const MASS: f64 = 1.5;
const CENTRE: [f64; 3] = [0.7, 0.0, 0.0];

/// Members in space: what they are, the inertia across about y and z that is added to m l²/12, and the first body.
fn members(planar: bool) -> Vec<(&'static str, String, f64, &'static str)> {
    let ends = if planar { "from = [0.2, 0], to = [1.2, 0]" } else { "from = [0.2, 0, 0], to = [1.2, 0, 0]" };
    let beam = |name: &str, more: &str| {
        format!("flexible.{name} = {{ kind = 'beam', {ends}, section = 's'{more} }}\n")
    };
    let rod = format!("flexible.b = {{ kind = 'segmented_rod', {ends}, section = 's', segments = 5 }}\n");
    let modal =
        "flexible.b = { kind = 'modal', members = ['mesh'], interface = ['mesh.start'], modes = 4 }\n";
    let two = "flexible.b = { kind = 'modal', members = ['mesh'], interface = ['mesh.start', 'mesh.end'], modes = 3 }\n";
    vec![
        ("beam", beam("b", ", elements = 5"), 0.0, "b.node0"),
        ("lumped beam", beam("b", ", elements = 4, mass_matrix = 'lumped'"), 2.0 / 16.0, "b.node0"),
        ("beam of order 3", beam("b", ", elements = 2, order = 3"), 0.0, "b.node0"),
        ("rod", rod, 0.0, "b.seg1"),
        ("modal", beam("mesh", ", elements = 5") + modal, 0.0, "b.node1"),
        ("modal of two nodes", beam("mesh", ", elements = 5") + two, 0.0, "b.node1"),
    ]
}

const MOMENTUM: &str = "measures.p = { kind = 'momentum', bodies = ['b'] }\n";

/// The rigid motion v at the centre of mass and ω has these momenta and this energy, and nothing is bent.
fn moves_rigidly(what: &str, start: &Start, extra: f64, planar: bool, v: [f64; 3], w: [f64; 3]) {
    let across = MASS / 12.0 * (1.0 + extra);
    let inertia = if planar { [0.0, 0.0, across + 0.1] } else { [0.15, across + 0.1, across + 0.05] };
    let p = v.map(|x| MASS * x);
    let orbit = cross(CENTRE, p);
    let l = [0, 1, 2].map(|i| orbit[i] + inertia[i] * w[i]);
    let kinetic = 0.5 * (0..3).map(|i| p[i] * v[i] + inertia[i] * w[i] * w[i]).sum::<f64>();
    start.near(
        what,
        &[("energy.kinetic", kinetic), ("energy.potential", 0.0), ("p.px", p[0]), ("p.py", p[1])],
    );
    start.near(what, &[("p.lz", l[2])]);
    if !planar {
        start.near(what, &[("p.pz", p[2]), ("p.lx", l[0]), ("p.ly", l[1])]);
    }
}

#[test]
fn free_members_in_space_start_with_the_rigid_motion_that_is_stated() {
    for (kind, text, extra, first) in members(false) {
        let table: [(String, [f64; 3], [f64; 3]); 9] = [
            ("b.velocity = [1, 2, 3]".into(), [1.0, 2.0, 3.0], [0.0; 3]),
            ("b.omega = [1, 2, 3]".into(), [0.0; 3], [1.0, 2.0, 3.0]),
            ("b.omega_on = [1, 2, 3]".into(), [0.0; 3], [1.0, 2.0, 3.0]),
            ("b.velocity = [1, 2, 3]\nb.omega = [3, 1, 2]".into(), [1.0, 2.0, 3.0], [3.0, 1.0, 2.0]),
            ("b.vy = 2".into(), [0.0, 2.0, 0.0], [0.0; 3]),
            ("b.vy = 2\nb.vz = -1\nb.omega = [0, 0, 5]".into(), [0.0, 2.0, -1.0], [0.0, 0.0, 5.0]),
            (format!("{first}.velocity = [0, 3, 0]"), [0.0, 3.0, 0.0], [0.0; 3]),
            (format!("{first}.wz = 4"), [0.0; 3], [0.0, 0.0, 4.0]),
            (format!("{first}.vz = 2\n{first}.omega = [1, 0, 0]"), [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]),
        ];
        for (initial, v, w) in table {
            let start = start(&format!("{SPATIAL}{text}{MOMENTUM}[initial]\n{initial}\n"));
            moves_rigidly(&format!("{kind}, {initial}"), &start, extra, false, v, w);
        }
    }
}

#[test]
fn free_members_in_the_plane_start_with_the_rigid_motion_that_is_stated() {
    for (kind, text, extra, first) in members(true) {
        let table: [(String, [f64; 3], f64); 6] = [
            ("b.velocity = [1, 2]".into(), [1.0, 2.0, 0.0], 0.0),
            ("b.rate = 3".into(), [0.0; 3], 3.0),
            ("b.velocity = [1, 2]\nb.rate = 3".into(), [1.0, 2.0, 0.0], 3.0),
            ("b.vx = -2".into(), [-2.0, 0.0, 0.0], 0.0),
            (format!("{first}.vy = 3"), [0.0, 3.0, 0.0], 0.0),
            (format!("{first}.rate = 4"), [0.0; 3], 4.0),
        ];
        for (initial, v, w) in table {
            let start = start(&format!("{PLANAR}{text}{MOMENTUM}[initial]\n{initial}\n"));
            moves_rigidly(&format!("{kind}, {initial}"), &start, extra, true, v, [0.0, 0.0, w]);
        }
    }
}

/// Hinged at its first end, x = 0.2, a member turns as a whole, wherever it stands.
#[test]
fn hinged_members_start_as_a_rotation_about_the_hinge() {
    for planar in [false, true] {
        let (head, at, rate) = if planar {
            (PLANAR, "[0.2, 0]", "b.rate = 4")
        } else {
            (SPATIAL, "[0.2, 0, 0]", "b.omega = [0, 0, 4]")
        };
        for (kind, text, extra, first) in members(planar) {
            let last = if kind.starts_with("modal") { first } else { "b.end" };
            // a segment's middle is half a segment away from its end
            let arm = match kind {
                "rod" => 0.9,
                "modal" | "modal of two nodes" => 0.0,
                _ => 1.0,
            };
            let joint =
                format!("joints.root = {{ kind = 'revolute', bodies = ['ground', 'b.start'], at = {at} }}\n");
            let own = if planar { 0.1 } else { 0.05 };
            let about = MASS / 12.0 * (1.0 + extra) + own + MASS / 4.0;
            let mut table = vec!["root.rate = 4".to_string(), rate.to_string()];
            table.push(format!("root.angle = 0.7\n{rate}"));
            table.push("root.angle = -2.5\nroot.rate = 4".into());
            table.push("root.angle = 3\nroot.rate = 4".into());
            if arm > 0.0 {
                table.push(format!("{last}.vy = {}", 4.0 * arm));
            } else {
                table.push(if planar { "b.frame.rate = 4" } else { "b.frame.omega = [0, 0, 4]" }.into());
                table.push("b.frame.vy = 2".into());
            }
            for initial in table {
                let what = format!("{kind}, {initial}");
                let start = start(&format!("{head}{text}{joint}{MOMENTUM}[initial]\n{initial}\n"));
                start.near(
                    &what,
                    &[("energy.kinetic", 0.5 * about * 16.0), ("energy.potential", 0.0), ("root.rate", 4.0)],
                );
                let angle = start.at("root.angle");
                start.near(&what, &[("p.px", -2.0 * MASS * angle.sin()), ("p.py", 2.0 * MASS * angle.cos())]);
                assert!(
                    start.report.notes.iter().all(|note| !note.contains("[initial]")),
                    "{:?}",
                    start.report.notes
                );
            }
            // a driver that starts with a rate sets all of it moving too
            let driver = "drivers.motor = { kind = 'joint', joint = 'root', rate = '4 + t' }\n";
            let driven = start(&format!("{head}{text}{joint}{driver}{MOMENTUM}"));
            driven.near(kind, &[("energy.kinetic", 0.5 * about * 16.0), ("p.py", 2.0 * MASS)]);
        }
    }
}

/// A member that its supports and values leave no rigid motion says so.
#[test]
fn a_member_that_has_to_bend_at_the_start_says_so() {
    let beam = "flexible.b = { kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 4 }\n";
    let joint = "joints.root = { kind = 'fixed', bodies = ['ground', 'b.start'], at = [0, 0] }\n";
    let moving = start(&format!("{PLANAR}{beam}{joint}initial.b.end.vy = 1\n"));
    moving.near("clamped", &[("b.node4.vy", 1.0), ("b.node0.vy", 0.0), ("b.node0.rate", 0.0)]);
    let notes = &moving.report.notes;
    assert!(notes.iter().any(|n| n.contains("`b` starts with different velocities along it")), "{notes:?}");
    let bent = start(&format!("{PLANAR}{beam}{joint}initial.b.end.y = 0.01\n"));
    bent.near("clamped", &[("b.node4.y", 0.01), ("b.node0.angle", 0.0)]);
    assert!(bent.report.notes.iter().any(|n| n.contains("`b` starts deformed")), "{:?}", bent.report.notes);
    // all of it cannot move beside a clamp
    let text = refused(&format!("{PLANAR}{beam}{joint}initial.b.velocity = [0, 1]\n"));
    assert!(text.contains("no velocities satisfy") && text.contains("`b.velocity`"), "{text}");
}

/// Amplitudes that are stated are kept, and the others stay zero.
#[test]
fn amplitudes_of_a_modal_body_start_as_stated() {
    let (_, text, ..) = members(false).swap_remove(4);
    // a node that is shown is as good as a body
    let shown = text.replace("modes = 4", "modes = 4, show = ['mesh.node1']");
    let moving = start(&format!("{SPATIAL}{shown}initial.b.mesh.node1.vy = 3\n"));
    moving.near("shown node", &[("b.frame.vy", 3.0), ("b.frame.wz", 0.0), ("energy.kinetic", 6.75)]);
    let bent = start(&format!("{SPATIAL}{text}initial.b.eta1 = 1e-3\n"));
    bent.near("modal", &[("b.eta1", 1e-3), ("b.eta2", 0.0), ("b.eta3", 0.0), ("b.eta1_rate", 0.0)]);
    let moving = start(&format!("{SPATIAL}{text}[initial]\nb.eta2_rate = 0.3\nb.omega = [0, 0, 2]\n"));
    moving.near("modal", &[("b.eta2_rate", 0.3), ("b.eta1_rate", 0.0), ("b.eta2", 0.0), ("b.frame.wz", 2.0)]);
}

/// A body whose centre of mass is beside its origin; the joints of a segmented rod.
#[test]
fn what_is_not_stated_of_a_body_stays_as_it_is() {
    let plane = "space = 'planar'\ngravity = [0, 0]\nbodies.p = { at = [1, 2], angle = 0.3, mass = 2, inertia = 0.1, com = [0.4, 0.5], markers = { tip = { on = [1, 0] } } }\n";
    let table: [(&str, &[(&str, f64)]); 7] = [
        ("p.velocity = [1, 0]", &[("p.vx", 1.0), ("p.vy", 0.0), ("p.rate", 0.0), ("energy.kinetic", 1.0)]),
        ("p.vy = 3", &[("p.vx", 0.0), ("p.vy", 3.0), ("p.rate", 0.0), ("energy.kinetic", 9.0)]),
        ("p.rate = 2", &[("p.vx", 0.0), ("p.vy", 0.0), ("energy.kinetic", 0.5 * (0.1 + 2.0 * 0.41) * 4.0)]),
        ("p.tip.velocity = [1, -1]", &[("p.vx", 1.0), ("p.vy", -1.0), ("p.rate", 0.0)]),
        ("p.velocity = [0, 0]\np.tip.vy = 1", &[("p.vx", 0.0), ("p.rate", 1.0 / 0.3_f64.cos())]),
        ("p.angle = 1.1", &[("p.x", 1.0), ("p.y", 2.0), ("p.angle", 1.1)]),
        ("p.tip.x = 5", &[("p.angle", 0.3), ("p.y", 2.0), ("p.tip.x", 5.0)]),
    ];
    for (initial, values) in table {
        start(&format!("{plane}[initial]\n{initial}\n")).near(initial, values);
    }
    let space = "gravity = [0, 0, 0]\nbodies.p = { at = [1, 2, 3], mass = 2, inertia = [0.1, 0.2, 0.25], com = [0.4, 0.5, -0.3] }\n\
        bodies.m = { kind = 'point', mass = 3, at = [0, 0, 1] }\n";
    let h = 0.5_f64.sqrt();
    let quarter = format!("p.q0 = {h}\np.q1 = 0\np.q2 = 0\np.q3 = {h}");
    let table: [(&str, &[(&str, f64)]); 7] = [
        (
            "p.velocity = [1, 2, 2]",
            &[("p.vx", 1.0), ("p.wx", 0.0), ("p.wy", 0.0), ("p.wz", 0.0), ("energy.kinetic", 9.0)],
        ),
        ("p.vz = 1", &[("p.vx", 0.0), ("p.wx", 0.0), ("p.wy", 0.0), ("energy.kinetic", 1.0)]),
        (
            "p.omega = [0, 0, 2]",
            &[("p.vx", 0.0), ("p.vy", 0.0), ("energy.kinetic", 0.5 * (0.25 + 2.0 * 0.41) * 4.0)],
        ),
        (
            "p.omega_on = [2, 0, 0]",
            &[("p.vx", 0.0), ("p.wx", 2.0), ("energy.kinetic", 0.5 * (0.1 + 2.0 * 0.34) * 4.0)],
        ),
        ("p.wy = 2\np.velocity = [0, 0, 1]", &[("p.wx", 0.0), ("p.wz", 0.0), ("p.vz", 1.0)]),
        (&quarter, &[("p.x", 1.0), ("p.y", 2.0), ("p.z", 3.0), ("p.q3", h)]),
        ("m.velocity = [1, 2, 3]", &[("m.vx", 1.0), ("m.vz", 3.0), ("p.vx", 0.0), ("energy.kinetic", 21.0)]),
    ];
    for (initial, values) in table {
        start(&format!("{space}[initial]\n{initial}\n")).near(initial, values);
    }
    let rod =
        "flexible.b = { kind = 'segmented_rod', from = [0, 0], to = [1, 0], section = 's', segments = 4 }\n";
    let moving = start(&format!("{PLANAR}{rod}[initial]\nb.joint2.rate = 1\n"));
    moving.near("rod", &[("b.joint2.rate", 1.0), ("b.joint1.rate", 0.0), ("b.joint3.rate", 0.0)]);
}

/// Coordinates of a joint beside one that is stated stay where they are, if the constraints let them.
#[test]
fn coordinates_beside_a_stated_one_stay_as_they_are() {
    let body = "gravity = [0, 0, 0]\nbodies.b = { at = [0.3, 0.2, 0.1], mass = 2, com = [0.5, 0.1, 0.2], inertia = [[0.5, 0.1, 0.05], [0.1, 0.6, -0.1], [0.05, -0.1, 0.7]] }\n";
    let joint =
        |kind: &str| format!("joints.J = {{ kind = '{kind}', bodies = ['ground', 'b'], at = [0, 0, 0] }}\n");
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, f64)]);
    let table: [Row; 7] = [
        ("planar", "J.rate = 2", &[("J.vx", 0.0), ("J.vy", 0.0), ("J.rate", 2.0)]),
        ("planar", "J.vx = 2", &[("J.vx", 2.0), ("J.vy", 0.0), ("J.rate", 0.0)]),
        ("planar", "J.angle = 1", &[("J.x", 0.0), ("J.y", 0.0), ("J.angle", 1.0)]),
        (
            "cylindrical",
            "J.position = 0.4\nJ.rate = 2",
            &[("J.angle", 0.0), ("J.speed", 0.0), ("J.position", 0.4)],
        ),
        ("spherical", "J.wz = 3", &[("J.wx", 0.0), ("J.wy", 0.0), ("J.wz", 3.0)]),
        ("spherical", "b.wz = 3", &[("J.wx", 0.0), ("J.wy", 0.0), ("J.wz", 3.0)]),
        (
            "universal",
            "J.rate1 = 3\nJ.angle2 = 0.4",
            &[("J.rate2", 0.0), ("J.angle1", 0.0), ("J.angle2", 0.4)],
        ),
    ];
    for (kind, initial, values) in table {
        let axes = if kind == "universal" { ", axis = [0, 0, 1], axis2 = [1, 0, 0] }" } else { " }" };
        let joint = joint(kind).replace(" }", axes);
        start(&format!("{body}{joint}[initial]\n{initial}\n")).near(initial, values);
    }
    // of two links in a row the second has a choice
    let loops = "space = 'planar'\ngravity = [0, 0]\nbodies.a = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        bodies.b = { from = [1, 0], to = [1, 1], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }\n\
        joints.B = { kind = 'revolute', bodies = ['a', 'b'], at = [1, 0] }\n";
    let open = start(&format!("{}initial.A.rate = 1\n", loops.replace("to = [1, 1]", "to = [2, 0.5]")));
    let note = open.report.notes.iter().find(|n| n.contains("leaves velocities open"));
    assert!(note.is_some_and(|n| n.contains("`b` by")), "{:?}", open.report.notes);
    assert_eq!(open.report.assembly.velocities.len(), 2);
    // a third link back to the ground, and nothing is open
    let more = "bodies.c = { from = [1, 1], to = [0, 1], mass = 1 }\n\
        joints.C = { kind = 'revolute', bodies = ['b', 'c'], at = [1, 1] }\n\
        joints.D = { kind = 'revolute', bodies = ['c', 'ground'], at = [0, 1] }\n";
    let closed = start(&format!("{loops}{more}initial.A.rate = 1\n"));
    assert!(
        closed.report.notes.iter().all(|n| !n.contains("leaves velocities open")),
        "{:?}",
        closed.report.notes
    );
    closed.near("loop", &[("b.rate", 0.0), ("c.rate", 1.0)]);
}

#[test]
fn a_nut_starts_where_its_position_says() {
    let text = |more: &str| {
        format!(
            "gravity = [0, 0, 0]\nbodies.b = {{ at = [0.5, 0, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }}\n\
            joints.J = {{ kind = 'screw', bodies = ['ground', 'b'], at = [0, 0, 0], axis = [0, 0, 1], lead = 0.02{more}\n"
        )
    };
    let tau = std::f64::consts::TAU;
    for (position, revolutions) in [(0.01, 0.5), (-0.013, -0.65), (0.05, 2.5), (1.0, 50.0), (-7.005, -350.25)]
    {
        for path in ["J.position", "b.z"] {
            let start = start(&format!("{}[initial]\n{path} = {position}\n", text(" }")));
            start.near(path, &[("J.angle", revolutions * tau), ("J.position", position), ("b.z", position)]);
            start.near(
                path,
                &[("b.x", 0.5 * (revolutions * tau).cos()), ("b.y", 0.5 * (revolutions * tau).sin())],
            );
        }
    }
    let reads = start(
        &(text(", position = { reads = 0.1 }, angle = { reads = 1 } }") + "initial.J.position = 0.13\n"),
    );
    reads.near("reads", &[("J.angle", 1.0 + 1.5 * tau), ("J.position", 0.13)]);
    let error = refused(&(text(" }") + "[initial]\nJ.position = 0.01\nJ.angle = 3\n"));
    assert!(error.contains("cannot be assembled") && error.contains("`J.position`"), "{error}");
    // a coupler leads along its angle too, and counts its turns
    let coupled = "gravity = [0, 0, 0]\nbodies.a = { at = [0.5, 0, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }\n\
        bodies.b = { at = [0, 1, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0] }\n\
        joints.B = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 1, 0] }\n\
        constraints.c = { kind = 'coupler', coordinates = ['A.angle', 'B.position'], factors = [0.01, -1] }\n";
    for position in [0.05, -0.4, 2.0] {
        let start = start(&format!("{coupled}initial.B.position = {position}\n"));
        start.near("coupler", &[("A.angle", 100.0 * position), ("B.position", position)]);
    }
}

#[test]
fn a_start_beyond_a_rigid_limit_is_refused() {
    let text = |stop: &str, initial: &str| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
            joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0], limits = [-0.5, 0.25]{stop} }}\n{initial}\n"
        )
    };
    for (stop, initial) in [
        (", stop = { restitution = 0.5 }", "initial.J.position = 0.3"),
        ("", "initial.b.x = 0.3"),
        ("", "initial.J.position = 0.3\ninitial.J.speed = -1"),
    ] {
        let error = refused(&text(stop, initial));
        assert!(
            error.contains("`J.position` starts at 0.3") && error.contains("beyond its limit 0.25"),
            "{error}"
        );
        assert!(error.contains("limits = [-0.5, 0.25]"), "{error}");
    }
    assert!(refused(&text("", "initial.J.position = -0.6")).contains("beyond its limit -0.5"));
    // turns count: a quarter revolution beyond a whole one is no quarter
    let rotations = "gravity = [0, 0, 0]\nbodies.b = { mass = 1, inertia = [1, 1, 1] }\n\
        joints.J = { kind = 'revolute', bodies = ['ground', 'b'], at = [0, 0, 0], limits = [-2, 2] }\ninitial.J.angle = 7.8\n";
    assert!(refused(rotations).contains("`J.angle` starts at 7.8"));
    for initial in [
        "initial.J.position = 0.25",
        "initial.J.position = 0.25000000000000006",
        "initial.J.position = -0.5",
        "initial.J.position = 0.1",
    ] {
        start(&text("", initial));
    }
    start(&text(", stop = { stiffness = 100 }", "initial.J.position = 0.3"))
        .near("springy", &[("J.position", 0.3)]);
}

/// Rounding is that of the lengths that take part, however small the limit is.
#[test]
fn a_start_beyond_a_small_limit_is_refused_and_one_on_it_is_kept() {
    let text = |limit: f64, x: f64| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
            joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0], limits = [-inf, {limit}] }}\n\
            initial.J.position = {x}\n"
        )
    };
    for limit in [1e-9, 1e-6, 0.25, 40.0] {
        for part in [1e-9, 1e-3, 0.2, 100.0] {
            let x = limit * (1.0 + part);
            assert!(refused(&text(limit, x)).contains("beyond its limit"), "{limit} {x}");
        }
        for x in [limit, limit * (1.0 - 1e-9), 0.5 * limit] {
            let own = start(&text(limit, x));
            own.near("within", &[("J.position", x)]);
            assert!((own.at("J.position") - x).abs() <= 1e-15 * x, "{limit} {x}");
        }
    }
    let hinge = |angle: f64| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
            joints.J = {{ kind = 'revolute', bodies = ['ground', 'b'], at = [0, 0], limits = [-inf, 1e-8] }}\n\
            initial.J.angle = {angle}\n"
        )
    };
    assert!(refused(&hinge(2e-8)).contains("`J.angle` starts at 0.00000002"));
    start(&hinge(1e-8)).near("on the limit", &[("J.angle", 1e-8)]);
}
