//! Forces of constraints and accelerations as columns, in measures and in conditions, against closed forms.

use sarrus::prelude::*;
use std::sync::Arc;

const G: f64 = 9.81;

fn compiled(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{}", all.join("\n"))
    });
    (model, Arc::new(system))
}

fn run(text: &str) -> Outcome {
    let (model, system) = compiled(text);
    simulate(&model, &system, &Simulate { overrides: RunOverrides::default(), record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{e:?}"))
}

/// Calls `judge` with every row, as a function of the names of columns.
fn each_row(outcome: &Outcome, mut judge: impl FnMut(&dyn Fn(&str) -> f64)) {
    let trajectory = &outcome.trajectory;
    assert!(trajectory.len() > 10);
    for row in trajectory.rows() {
        judge(&|name| row[trajectory.index(name).unwrap_or_else(|| panic!("no column `{name}`"))]);
    }
}

#[track_caller]
fn near(value: f64, expected: f64, error: f64) {
    assert!((value - expected).abs() <= error, "{value} instead of {expected}: off by {}", value - expected);
}

/// From rest at the level of its pivot: v² = 2 g h, tension m v²/l + m g h/l = 3 m g h/l.
const BOB: &str = "
    format = 'sarrus/1'
    SPACE
    bodies.bob = { kind = 'point', at = [1.5, 0], mass = 2.0 }
    ROW
    run = { t_end = 2.0, rtol = 1e-12, atol = 1e-13 }
";

fn bob(space: &str, row: &str) -> String {
    let text = BOB.replace("SPACE", space).replace("ROW", row);
    if space.is_empty() { text.replace("[1.5, 0], mass", "[1.5, 0, 0], mass") } else { text }
}

#[test]
fn a_bar_shows_its_tension() {
    for (space, up) in [("space = 'planar'", "y"), ("", "z")] {
        let zero = if space.is_empty() { "[0, 0, 0], [1.5, 0, 0]" } else { "[0, 0], [1.5, 0]" };
        let row = format!(
            "constraints.rod = {{ kind = 'distance', bodies = ['ground', 'bob'], ends = [{zero}] }}
            measures.most = 'max(abs(bob.ax), abs(bob.a{up}))'
            measures.twice = '2*rod.force'"
        );
        let outcome = run(&bob(space, &row));
        each_row(&outcome, |at| {
            let (height, force) = (-at(&format!("bob.{up}")) / 1.5, at("rod.force"));
            near(force, 3.0 * 2.0 * G * height, 1e-9 * 2.0 * G);
            let square: f64 = ["x", up].iter().map(|axis| at(&format!("bob.v{axis}")).powi(2)).sum();
            near(force, 2.0 * (square / 1.5 + G * height), 1e-9 * 2.0 * G);
            near(at("twice"), 2.0 * force, 0.0);
            // m a = weight and tension
            let (ax, a_up) = (at("bob.ax"), at(&format!("bob.a{up}")));
            near(ax, -force * at("bob.x") / 1.5 / 2.0, 1e-10);
            near(a_up, force * height / 2.0 - G, 1e-10);
            near(at("most"), ax.abs().max(a_up.abs()), 0.0);
        });
        assert_eq!(unit(&outcome, "rod.force"), "N");
        assert_eq!((unit(&outcome, "bob.ax"), unit(&outcome, "most")), ("m/s^2", ""));
    }
}

fn unit(outcome: &Outcome, column: &str) -> &'static str {
    outcome.trajectory.units()[outcome.trajectory.index(column).unwrap()]
}

/// Whatever multiple of f is zero on the curve, the force is that of the curve; f grows outwards, the curve pulls inwards.
#[test]
fn a_cam_shows_its_force_whatever_the_scale_of_its_expression() {
    for f in ["x^2 + y^2 - 2.25", "-0.01*(x^2 + y^2 - 2.25)", "sqrt(x^2 + y^2) - 1.5"] {
        let row = format!("constraints.cam = {{ kind = 'point_on_curve', body = 'bob', implicit = '{f}' }}");
        let sign = if f.starts_with('-') { 1.0 } else { -1.0 };
        each_row(&run(&bob("space = 'planar'", &row)), |at| {
            near(at("cam.force"), sign * 3.0 * 2.0 * G * -at("bob.y") / 1.5, 1e-8);
        });
    }
    // a path runs counter-clockwise: its left is inwards
    let path =
        "constraints.cam = { kind = 'point_on_curve', body = 'bob', path = ['1.5*cos(s)', '1.5*sin(s)'] }";
    each_row(&run(&bob("space = 'planar'", path)), |at| {
        near(at("cam.force"), 3.0 * 2.0 * G * -at("bob.y") / 1.5, 1e-8);
    });
}

/// A beam on rows of many kinds at rest under its weight: forces and torques on the second body.
#[test]
fn constraints_at_rest_show_what_they_bear() {
    let planar =
        "format = 'sarrus/1'\nspace = 'planar'\nbodies.b = { at = [0.4, 0], mass = 3, inertia = 0.1 }\n";
    let spatial =
        "format = 'sarrus/1'\nbodies.b = { at = [0.4, 0, 0], mass = 3, inertia = [0.1, 0.2, 0.3] }\n";
    let weight = 3.0 * G;
    type Case<'a> = (&'a str, &'a str, &'a [(&'a str, f64)]);
    let table: [Case; 6] = [
        (
            planar,
            "P = { kind = 'point_on_plane', bodies = ['ground', 'b'], at = [0, 0] }
            Q = { kind = 'angle', bodies = ['ground', 'b'], axis_on = [[1, 0], [1, 0]] }",
            &[("P.force", weight), ("Q.force", 0.4 * weight)],
        ),
        (
            planar,
            "P = { kind = 'point', bodies = ['ground', 'b'], at = [0, 0] }
            Q = { kind = 'perpendicular', bodies = ['ground', 'b'], axis_on = [[1, 0], [0, 1]] }",
            &[("P.lambda1", 0.0), ("P.lambda2", -weight), ("Q.force", 0.4 * weight)],
        ),
        // the torque that holds the body up turns its x towards z: it closes that angle
        (
            spatial,
            "P = { kind = 'point', bodies = ['ground', 'b'], at = [0, 0, 0] }
            Q = { kind = 'perpendicular', bodies = ['ground', 'b'], axis_on = [[0, 0, 1], [1, 0, 0]] }",
            &[("P.lambda1", 0.0), ("P.lambda3", -weight), ("Q.force", -0.4 * weight)],
        ),
        (
            spatial,
            "P = { kind = 'point', bodies = ['ground', 'b'], at = [0, 0, 0] }
            Q = { kind = 'angle', bodies = ['ground', 'b'], axis_on = [[0, 0, 1], [3, 0, 4]] }",
            &[("Q.force", -0.4 * weight)],
        ),
        (
            spatial,
            "P = { kind = 'rolling_ball', body = 'b', radius = 0.1, plane = { at = [0, 0, -0.1] } }",
            &[("P.lambda1", -weight), ("P.lambda2", 0.0), ("P.lambda3", 0.0)],
        ),
        (planar, "P = { kind = 'expression', zero = '2*b.y' }", &[("P.force", 0.5 * weight)]),
    ];
    for (bodies, rows, expected) in table {
        let text = format!("{bodies}[constraints]\n{rows}\n[run]\nt_end = 0.1\nrtol = 1e-10\n");
        let outcome = run(&text);
        for (column, value) in expected {
            let found = outcome.trajectory.last(column).unwrap_or_else(|| panic!("no column `{column}`"));
            near(found, *value, 1e-9);
        }
    }
}

/// A crank that follows θ = 0.3 + t + t²: a = α × r + ω × (ω × r) of its origin, which is not its centre of mass.
#[test]
fn a_driven_crank_accelerates_as_its_circle_says() {
    let planar = "
        format = 'sarrus/1'
        space = 'planar'
        bodies.crank = { at = [0.4, 0.1], mass = 1, com = [0.1, 0.05], inertia = 0.1, markers = { tip = { on = [0.6, 0] } } }
        joints.A = { kind = 'revolute', bodies = ['ground', 'crank'], at = [0, 0] }
        drivers.motor = { kind = 'joint', joint = 'A', angle = 't + t^2' }
        run = { t_end = 1.0, rtol = 1e-12 }
        output.every = 0.02
    ";
    each_row(&run(planar), |at| {
        let (w, alpha) = (1.0 + 2.0 * at("t"), 2.0);
        for point in ["crank", "crank.tip"] {
            let [x, y] = ["x", "y"].map(|axis| at(&format!("{point}.{axis}")));
            near(at(&format!("{point}.ax")), -alpha * y - w * w * x, 1e-10);
            near(at(&format!("{point}.ay")), alpha * x - w * w * y, 1e-10);
        }
        near(at("crank.alpha"), alpha, 1e-11);
        near(at("A.accel"), alpha, 1e-11);
    });

    // about an axis of any direction, with axes of the body that are turned against it
    let spatial = "
        format = 'sarrus/1'
        bodies.crank = { at = [0.4, 0.1, 0.2], orientation = { axis = [1, 2, -1], angle = 0.7 }, mass = 1, com = [0.1, 0.05, -0.1], inertia = [0.1, 0.2, 0.25] }
        joints.A = { kind = 'revolute', bodies = ['ground', 'crank'], at = [0, 0, 0], axis = [0, 3, 4] }
        drivers.motor = { kind = 'joint', joint = 'A', angle = 't + t^2' }
        run = { t_end = 1.0, rtol = 1e-12 }
        output.every = 0.02
    ";
    each_row(&run(spatial), |at| {
        let (rate, alpha, n) = (1.0 + 2.0 * at("t"), 2.0, [0.0, 0.6, 0.8]);
        let r = ["x", "y", "z"].map(|axis| at(&format!("crank.{axis}")));
        let along = n[1] * r[1] + n[2] * r[2];
        let across = [n[1] * r[2] - n[2] * r[1], n[2] * r[0] - n[0] * r[2], n[0] * r[1] - n[1] * r[0]];
        for i in 0..3 {
            let axis = ["x", "y", "z"][i];
            let expected = alpha * across[i] - rate * rate * (r[i] - along * n[i]);
            near(at(&format!("crank.a{axis}")), expected, 1e-10);
            // ω of the body's axes has a fixed direction in them
            near(at(&format!("crank.alpha{axis}")), at(&format!("crank.w{axis}")) * alpha / rate, 1e-10);
        }
        near(at("A.accel"), alpha, 1e-11);
    });
}

#[test]
fn joints_accelerate_by_torque_over_inertia_and_force_over_mass() {
    for coordinates in ["absolute", "joint"] {
        let text = format!(
            "
            format = 'sarrus/1'
            gravity = [0, 0, 0]
            bodies.wheel = {{ mass = 2, inertia = [0.5, 0.5, 0.5] }}
            bodies.sledge = {{ at = [0, 5, 0], mass = 4, inertia = [1, 1, 1] }}
            bodies.nut = {{ at = [0, 9, 0], mass = 5, inertia = [1, 1, 0.25] }}
            joints.turn = {{ kind = 'revolute', bodies = ['ground', 'wheel'], at = [0, 0, 0], axis = [0, 0, 1] }}
            joints.slide = {{ kind = 'prismatic', bodies = ['ground', 'sledge'], at = [0, 5, 0], axis = [1, 0, 0] }}
            joints.both = {{ kind = 'cylindrical', bodies = ['ground', 'nut'], at = [0, 9, 0], axis = [0, 0, 1] }}
            forces.a = {{ kind = 'actuator', joint = 'turn', torque = '3*t' }}
            forces.b = {{ kind = 'actuator', joint = 'slide', force = '8*cos(t)' }}
            forces.c = {{ kind = 'actuator', joint = 'both.position', force = 10 }}
            forces.d = {{ kind = 'actuator', joint = 'both.angle', torque = '1 + t' }}
            run = {{ t_end = 1, coordinates = '{coordinates}' }}
            output.every = 0.05
            "
        );
        let outcome = run(&text);
        each_row(&outcome, |at| {
            let t = at("t");
            near(at("turn.accel"), 6.0 * t, 1e-12);
            near(at("wheel.alphaz"), 6.0 * t, 1e-12);
            near(at("slide.accel"), 2.0 * t.cos(), 1e-12);
            near(at("sledge.ax"), 2.0 * t.cos(), 1e-12);
            near(at("both.accel"), 2.0, 1e-12);
            near(at("both.alpha"), 4.0 * (1.0 + t), 1e-12);
        });
        assert_eq!((unit(&outcome, "turn.accel"), unit(&outcome, "slide.accel")), ("rad/s^2", "m/s^2"));
    }
}

/// Euler's equations: Ix ω̇x = (Iy - Iz) ωy ωz.
#[test]
fn a_free_top_accelerates_by_eulers_equations() {
    let text = "
        format = 'sarrus/1'
        gravity = [0, 0, 0]
        bodies.top = { mass = 1, inertia = [2, 3, 4] }
        joints.ball = { kind = 'spherical', bodies = ['ground', 'top'], at = [0, 0, 0] }
        initial.top.omega = [0.5, 3, 0.4]
        run = { t_end = 2, rtol = 1e-10 }
        output.every = 0.05
    ";
    each_row(&run(text), |at| {
        let w = ["wx", "wy", "wz"].map(|w| at(&format!("top.{w}")));
        let expected = [-0.5 * w[1] * w[2], 2.0 / 3.0 * w[2] * w[0], -0.25 * w[0] * w[1]];
        for (i, axis) in ["x", "y", "z"].iter().enumerate() {
            near(at(&format!("top.alpha{axis}")), expected[i], 1e-11);
            near(at(&format!("ball.alpha{axis}")), expected[i], 1e-11);
        }
    });
}

/// Every acceleration against the velocity around it: joints with one and with several coordinates, loops, frames of every kind.
#[test]
fn accelerations_are_derivatives_of_the_velocities_beside_them() {
    let loops = sarrus_zoo::model("four_bar")
        .unwrap()
        .replace("rtol = 1e-8", "rtol = 1e-11")
        .replace("[run]", "[output]\nevery = 1e-3\n[run]");
    let chain = "
        format = 'sarrus/1'
        bodies.a = { at = [0.5, 0, 0], mass = 1, inertia = [0.1, 0.2, 0.3] }
        bodies.b = { at = [1.5, 0.2, 0], mass = 1, com = [0.1, 0, 0.2], inertia = [0.3, 0.2, 0.3] }
        bodies.c = { at = [2.5, 0, 0.3], mass = 1, inertia = [0.1, 0.1, 0.15] }
        bodies.d = { at = [3.5, 0, 0], mass = 1, inertia = [0.2, 0.2, 0.3] }
        joints.U = { kind = 'universal', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 1, 0], axis2 = [0, 0, 1] }
        joints.C = { kind = 'cylindrical', bodies = ['a', 'b'], at = [1, 0, 0], axis = [0, 1, 1], position = { stiffness = 50 } }
        joints.B = { kind = 'spherical', bodies = ['b', 'c'], at = [2, 0, 0] }
        joints.P = { kind = 'planar', bodies = ['c', 'd'], at = [3, 0, 0], axis = [0, 1, 0] }
        initial.a.omega = [0, 0.6, 0.9]
        output.every = 1e-3
        run = { t_end = 0.2, rtol = 1e-11, atol = 1e-11 }
    ";
    let pairs = [
        ("vx", "ax"),
        ("vy", "ay"),
        ("vz", "az"),
        ("wx", "alphax"),
        ("wy", "alphay"),
        ("wz", "alphaz"),
        ("rate", "alpha"),
        ("speed", "accel"),
        ("rate", "accel"),
        ("rate1", "accel1"),
        ("rate2", "accel2"),
    ];
    for (text, expected) in [(loops.as_str(), 13), (chain, 34)] {
        let outcome = run(text);
        let trajectory = &outcome.trajectory;
        let rows: Vec<&[f64]> = trajectory.rows().collect();
        let mut found = 0;
        for (i, name) in trajectory.names().iter().enumerate() {
            let Some((element, field)) = name.rsplit_once('.') else { continue };
            let of = pairs.iter().filter(|(_, a)| *a == field);
            let Some(j) = of.filter_map(|(v, _)| trajectory.index(&format!("{element}.{v}"))).next() else {
                continue;
            };
            found += 1;
            let size = rows.iter().fold(1.0_f64, |m, row| m.max(row[i].abs()));
            for w in rows[..200].windows(5).filter(|w| ((w[4][0] - w[0][0]) - 4e-3).abs() < 1e-9) {
                let slope = (w[0][j] - 8.0 * w[1][j] + 8.0 * w[3][j] - w[4][j]) / 12e-3;
                assert!(
                    (slope - w[2][i]).abs() < 1e-6 * size,
                    "{name} at {}: {} is not {slope}",
                    w[2][0],
                    w[2][i]
                );
            }
        }
        assert_eq!(found, expected, "{:?}", trajectory.names());
    }
}

#[test]
fn conditions_of_accelerations_and_constraint_forces_are_met_in_time() {
    for (space, at) in [("planar", "[0, 0]"), ("spatial", "[0, 0, 0]")] {
        let inertia = if space == "planar" { "1" } else { "[1, 1, 1]" };
        let axis = if space == "planar" { "[1, 0]" } else { "[1, 0, 0]" };
        let text = format!(
            "
            format = 'sarrus/1'
            space = '{space}'
            bodies.sledge = {{ at = {at}, mass = 4, inertia = {inertia} }}
            joints.slide = {{ kind = 'prismatic', bodies = ['ground', 'sledge'], at = {at}, axis = {axis} }}
            drivers.push = {{ kind = 'joint', joint = 'slide', position = 't^3' }}
            measures.double = '2*sledge.ax'
            [events]
            joint = {{ when = 'slide.accel > 3', once = true, enable = ['push'] }}
            body = {{ when = 'sledge.ax > 1.5', once = true, enable = ['push'] }}
            through = {{ when = 'double > 9', stop = 'fast' }}
            [run]
            t_end = 2
            "
        );
        let report = run(&text).report;
        let found: Vec<(&str, f64)> = report.events.iter().map(|e| (e.name.as_str(), e.t)).collect();
        assert_eq!(found.iter().map(|e| e.0).collect::<Vec<_>>(), ["body", "joint", "through"]);
        for ((_, t), expected) in found.iter().zip([0.25, 0.5, 0.75]) {
            near(*t, expected, 1e-9);
        }
    }
    // 3 m g h/l passes 2 m g where h = 2/3 l
    let row = "constraints.rod = { kind = 'distance', bodies = ['ground', 'bob'], ends = [[0, 0], [1.5, 0]] }
        events.taut = { when = 'rod.force > 4*9.81', stop = 'taut' }";
    let outcome = run(&bob("space = 'planar'", row));
    near(outcome.trajectory.last("bob.y").unwrap(), -1.0, 1e-9);
}

/// Where a force is switched off, the row of that instant shows what holds from then on.
#[test]
fn the_row_of_an_event_shows_the_acceleration_after_it() {
    let text = "
        format = 'sarrus/1'
        space = 'planar'
        gravity = [0, 0]
        bodies.p = { kind = 'point', at = [0, 0], mass = 2 }
        forces.push = { kind = 'force', body = 'p', force = [6, 0] }
        constraints.line = { kind = 'point_on_plane', bodies = ['ground', 'p'], at = [0, 0] }
        events.off = { when = 't >= 0.5', disable = ['push', 'line'] }
        run = { t_end = 1 }
        output.every = 0.125
    ";
    let outcome = run(text);
    let trajectory = &outcome.trajectory;
    let ax: Vec<f64> = trajectory.column("p.ax").unwrap().collect();
    let times: Vec<f64> = trajectory.column("t").unwrap().collect();
    for (t, ax) in times.iter().zip(ax) {
        near(ax, if *t < 0.5 { 3.0 } else { 0.0 }, 1e-12);
    }
    assert!(times.contains(&0.5));
}

#[test]
fn forces_that_are_not_unique_are_listed_by_their_columns() {
    let row = "constraints.one = { kind = 'distance', bodies = ['ground', 'bob'], ends = [[0, 0], [1.5, 0]] }
        constraints.two = { kind = 'distance', bodies = ['ground', 'bob'], ends = [[0, 0], [1.5, 0]] }";
    let outcome = run(&bob("space = 'planar'", row));
    assert_eq!(outcome.report.reactions.not_unique, ["one.force", "two.force"]);
    each_row(&outcome, |at| {
        near(at("one.force") + at("two.force"), 6.0 * G * -at("bob.y") / 1.5, 1e-7);
    });
}

#[test]
fn forces_cannot_read_what_follows_from_them() {
    let base = "
        format = 'sarrus/1'
        space = 'planar'
        bodies.a = { from = [0, 0], to = [1, 0], mass = 1, markers = { tip = { on = [0.5, 0] } } }
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }
        constraints.rod = { kind = 'distance', bodies = ['ground', 'a'], ends = [[0, 1], [1, 0]], enabled = false }
    ";
    for (name, what) in [
        ("a.ax", "is an acceleration"),
        ("a.tip.ay", "is an acceleration"),
        ("a.alpha", "is an acceleration"),
        ("A.accel", "is an acceleration"),
        ("rod.force", "is a constraint"),
        ("A.fx", "is a reaction"),
    ] {
        let text = format!("{base}forces.f = {{ kind = 'actuator', joint = 'A', torque = '2*{name}' }}");
        let model = load_str("model.toml", &text, &LoadOptions::default()).unwrap();
        let errors = compile(&model).err().unwrap_or_else(|| panic!("{name} is not refused"));
        let said = errors[0].render(&model.sources);
        assert!(said.contains(what) && said.contains("can read") && said.contains("this cannot"), "{said}");
    }
}

#[test]
fn what_does_not_act_has_no_force() {
    let row = "constraints.rod = { kind = 'distance', bodies = ['ground', 'bob'], ends = [[0, 0], [1.5, 0]], enabled = false }";
    each_row(&run(&bob("space = 'planar'", row)), |at| {
        near(at("rod.force"), 0.0, 0.0);
        near(at("bob.ay"), -G, 1e-12);
    });
}
