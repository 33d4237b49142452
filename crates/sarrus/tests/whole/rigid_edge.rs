//! Rigid boxes whose corners pass the edges of other boxes: other corners and edges bear from there on.

use sarrus::analysis::Status;
use sarrus::prelude::*;
use std::sync::Arc;

fn run(text: &str) -> Outcome {
    let model =
        load_str("edge.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|e| panic!("{}", e[0].message)));
    let overrides = RunOverrides { every: Some(0.05), ..RunOverrides::default() };
    let outcome = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ());
    let outcome = outcome.unwrap_or_else(|e| panic!("{e}"));
    let report = &outcome.report;
    assert_eq!(report.status, Status::Completed, "{}\n{text}", report.reason);
    assert!(report.certificate.passed, "{:?}\n{:?}\n{text}", report.certificate, report.notes);
    outcome
}

fn last(outcome: &Outcome, column: &str) -> f64 {
    outcome.trajectory.last(column).unwrap()
}

/// Numbers of the plane, or with a third one between them.
fn vector(planar: bool, [x, z]: [f64; 2], y: f64) -> String {
    if planar { format!("[{x}, {z}]") } else { format!("[{x}, {y}, {z}]") }
}

fn head(planar: bool) -> String {
    format!("format = 'sarrus/1'\nspace = '{}'\n", if planar { "planar" } else { "spatial" })
}

/// A box on a table from -1 to 1 m, `width` wide in space, with its centre at `x` and the velocity `v`.
fn table(planar: bool, size: [f64; 2], width: f64, x: f64, v: [f64; 2], mu: f64, t_end: f64) -> String {
    let velocity =
        if planar { format!("b.vx = {}", v[0]) } else { format!("b.velocity = [{}, {}, 0]", v[0], v[1]) };
    format!(
        "{}ground.shape = {{ kind = 'box', size = {}, on = {} }}
        initial = {{ {velocity} }}
        bodies.b = {{ at = {}, mass = 1, shape = {{ kind = 'box', size = {} }} }}
        contacts.c = {{ between = ['b', 'ground'], method = 'impulsive', friction = {{ mu = {mu} }} }}
        run.t_end = {t_end}",
        head(planar),
        vector(planar, [2.0, 0.2], width),
        vector(planar, [0.0, -0.1], 0.0),
        vector(planar, [x, 0.5 * size[1]], 0.0),
        vector(planar, size, 0.3),
    )
}

/// It stops after v²/2μg with its centre of mass over the table, whether its corners are past the edge or not: also where it is as long as the table or longer,
/// or as wide, and where one corner passes after the other.
#[test]
fn a_box_that_slides_over_an_edge_stops_where_friction_says() {
    for (planar, size, width, x, v, mu) in [
        (true, [0.4, 0.1], 0.0, 0.5, [1.5, 0.0], 0.3),
        (true, [0.4, 0.1], 0.0, -0.5, [-1.5, 0.0], 0.3),
        (true, [0.4, 0.1], 0.0, 0.5, [2.2, 0.0], 0.6),
        (true, [2.0, 0.1], 0.0, 0.0, [0.5, 0.0], 0.3),
        (true, [3.0, 0.1], 0.0, 0.0, [0.5, 0.0], 0.3),
        (false, [0.4, 0.1], 1.0, 0.5, [1.5, 0.0], 0.3),
        (false, [0.4, 0.1], 0.3, 0.5, [1.5, 0.0], 0.3),
        (false, [0.4, 0.1], 0.5, 0.5, [1.5, 0.5], 0.3),
        (false, [2.0, 0.1], 0.3, 0.0, [0.5, 0.0], 0.3),
    ] {
        let text = table(planar, size, width, x, v, mu, 0.7);
        let outcome = run(&text);
        let speed = v[0].hypot(v[1]);
        let way = speed / (2.0 * mu * 9.81);
        let found = last(&outcome, "b.x");
        assert!((found - x - way * v[0]).abs() < 1e-7, "{found} {}\n{text}", x + way * v[0]);
        if !planar {
            let found = last(&outcome, "b.y");
            assert!((found - way * v[1]).abs() < 1e-7, "{found} {}\n{text}", way * v[1]);
        }
        assert!(last(&outcome, "b.vx").abs() < 1e-12);
        assert!(last(&outcome, "c.force") - 9.81 < 1e-7);
    }
}

/// The corner that is still on the table lifts off where the resultant of friction and weight meets the edge: with the centre of mass h high at x = 1 - μ h. Then the box
/// rotates about the edge, slides off it and falls.
#[test]
fn a_box_that_slides_too_far_tips_over_the_edge() {
    for (planar, v, mu) in
        [(true, 1.0, 0.0), (true, 2.5, 0.3), (true, 3.0, 0.6), (false, 1.0, 0.0), (false, 2.5, 0.3)]
    {
        let text = table(planar, [0.4, 0.1], 1.0, 0.5, [v, 0.0], mu, 1.2);
        let outcome = run(&text);
        let own = outcome.report.events.iter().filter(|e| e.actions.iter().any(|a| a == "parts"));
        let parts: Vec<f64> = own.map(|e| e.t).collect();
        let way = 0.5 - 0.05 * mu;
        let lifts = 2.0 * way / (v + (v * v - 2.0 * mu * 9.81 * way).sqrt());
        // the edge of the table and the lower side of the box part last
        assert!(parts.len() == 2 && (parts[0] - lifts).abs() < 1e-7, "{parts:?} {lifts}\n{text}");
        assert!(last(&outcome, if planar { "b.y" } else { "b.z" }) < -0.5);
    }
}

/// A box on one of its size: flush at first, and then past its edges.
#[test]
fn a_box_slides_on_a_box_of_its_size() {
    for (planar, mu) in [(true, 0.0), (true, 0.3), (true, 0.6), (false, 0.0), (false, 0.3), (false, 0.6)] {
        let velocity = if planar { "b.vx = 0.5" } else { "b.velocity = [0.5, 0, 0]" };
        let size = vector(planar, [0.4, 0.1], 0.3);
        let text = format!(
            "{}ground.shape = {{ kind = 'half_space' }}
            initial = {{ {velocity} }}
            bodies.a = {{ at = {}, mass = 1, shape = {{ kind = 'box', size = {size} }} }}
            bodies.b = {{ at = {}, mass = 1, shape = {{ kind = 'box', size = {size} }} }}
            contacts.floor = {{ between = ['a', 'ground'], method = 'impulsive', friction = {{ mu = 0.8 }} }}
            contacts.c = {{ between = ['b', 'a'], method = 'impulsive', friction = {{ mu = {mu} }} }}
            run.t_end = 0.3",
            head(planar),
            vector(planar, [0.0, 0.05], 0.0),
            vector(planar, [0.0, 0.15], 0.0),
        );
        let outcome = run(&text);
        let way = if mu > 0.0 { 0.25 / (2.0 * mu * 9.81) } else { 0.15 };
        let found = last(&outcome, "b.x");
        assert!((found - way).abs() < 1e-8, "{found} {way}\n{text}");
        assert!(last(&outcome, "a.x").abs() < 1e-12 && (last(&outcome, "c.force") - 9.81).abs() < 1e-7);
    }
}

/// Jaws as high as what they hold: with friction they lift it, without they slide along it and leave it.
#[test]
fn jaws_as_high_as_a_box_lift_it_or_slide_off() {
    for (planar, mu) in [(true, 0.0), (true, 0.3), (false, 0.0), (false, 0.6)] {
        let at = |x: f64, z: f64| vector(planar, [x, z], 0.0);
        let size = |x: f64, z: f64| vector(planar, [x, z], 0.1);
        let jaw = |x: f64| {
            format!(
                "{{ at = {}, mass = 0.3, shape = {{ kind = 'box', size = {} }} }}",
                at(x, 0.05),
                size(0.02, 0.1)
            )
        };
        let slide = |a: &str, b: &str, p: String, axis: String| {
            format!("{{ kind = 'prismatic', bodies = ['{a}', '{b}'], at = {p}, axis = {axis} }}")
        };
        let text = format!(
            "{}ground.shape = {{ kind = 'half_space' }}
            [bodies]
            box = {{ at = {}, mass = 1, shape = {{ kind = 'box', size = {} }} }}
            palm = {{ at = {}, mass = 2, inertia = {} }}
            left = {}
            right = {}
            [joints]
            lift = {}
            sl = {}
            sr = {}
            [forces]
            close_l = {{ kind = 'actuator', joint = 'sl', force = '30*smoothstep(t, 0.1, 0.3)' }}
            close_r = {{ kind = 'actuator', joint = 'sr', force = '30*smoothstep(t, 0.1, 0.3)' }}
            [drivers]
            hoist = {{ kind = 'joint', joint = 'lift', position = '0.06*smoothstep(t, 0.4, 0.8)' }}
            [contacts]
            floor = {{ between = ['box', 'ground'], method = 'impulsive', restitution = 0, friction = {{ mu = 0.5 }} }}
            grip = {{ between = ['box', ['left', 'right']], method = 'impulsive', restitution = 0, friction = {{ mu = {mu} }} }}
            [run]
            t_end = 0.9",
            head(planar),
            at(0.0, 0.05),
            size(0.1, 0.1),
            at(0.0, 0.25),
            if planar { "0.1" } else { "[0.1, 0.1, 0.1]" },
            jaw(-0.08),
            jaw(0.08),
            slide("ground", "palm", at(0.0, 0.25), at(0.0, 1.0)),
            slide("palm", "left", at(-0.08, 0.22), at(1.0, 0.0)),
            slide("palm", "right", at(0.08, 0.22), at(-1.0, 0.0)),
        );
        let outcome = run(&text);
        let height = last(&outcome, if planar { "box.y" } else { "box.z" });
        let expected = if mu > 0.0 { 0.11 } else { 0.05 };
        assert!((height - expected).abs() < 1e-7, "{height} {expected}\n{text}");
        assert!(
            (last(&outcome, "grip.force") - 60.0).abs() < 1e-6,
            "{}\n{text}",
            last(&outcome, "grip.force")
        );
    }
}

/// A ball that slides off a table, and a bead that slides along a rod which rotates: what they bear is known up to the end of the face, and nothing
/// behind it. No row pulls, on either side of the instant.
#[test]
fn a_face_that_ends_bears_nothing_and_never_pulls() {
    for (planar, v) in [(true, 3.0), (true, 2.0), (true, 0.9), (true, 0.5), (false, 3.0)] {
        let velocity = if planar { format!("p.vx = {v}") } else { format!("p.velocity = [{v}, 0, 0]") };
        let text = format!(
            "{}ground.shape = {{ kind = 'box', size = {}, on = {} }}
            bodies.p = {{ at = {}, mass = 1, shape = {{ kind = 'sphere', radius = 0.05 }} }}
            contacts.d = {{ between = ['p', 'ground'], method = 'impulsive', restitution = 0 }}
            initial = {{ {velocity} }}
            run.t_end = 0.6",
            head(planar),
            vector(planar, [2.0, 0.2], 1.0),
            vector(planar, [0.0, -0.1], 0.0),
            vector(planar, [if v < 1.0 { 0.9 } else { 0.0 }, 0.05], 0.0),
        );
        let outcome = run(&text);
        let up = if planar { "p.ay" } else { "p.az" };
        pushes_only(&outcome, "d.force", -1e-7, 9.81 + 1e-7, &text);
        // slower ones roll over the edge
        if v * v > 0.05 * 9.81 {
            pushes_only(&outcome, up, -9.81 - 1e-7, 1e-7, &text);
        }
        let tally = outcome.report.contacts.iter().find(|c| c.name == "d").unwrap();
        assert!((tally.largest_force - 9.81).abs() < 1e-6, "{}\n{text}", tally.largest_force);
    }
}

/// At a constant rate the rod pushes the bead, at r, with 2 m ω ṙ.
#[test]
fn a_bead_that_leaves_a_rod_is_pushed_to_the_end() {
    let text = "format = 'sarrus/1'
        space = 'planar'
        gravity = [0, 0]
        bodies.rod = { at = [0.5, 0], mass = 1, shape = { kind = 'box', size = [1, 0.004] } }
        bodies.p = { at = [0.8, 0.003], mass = 1e-3, shape = { kind = 'sphere', radius = 1e-3 } }
        joints.R = { kind = 'revolute', bodies = ['ground', 'rod'], at = [0, 0] }
        drivers.turn = { kind = 'joint', joint = 'R', rate = 3 }
        contacts.d = { between = ['rod', 'p'], method = 'impulsive', restitution = 0 }
        initial = { R.rate = 3, p.vy = 2.4, p.vx = -0.009 }
        run.t_end = 0.4";
    let outcome = run(text);
    // r = 0.8 cosh ωt, as the bead starts at rest on the rod
    let most = 2.0 * 1e-3 * 3.0 * 3.0 * (1.0_f64 - 0.64).sqrt();
    pushes_only(&outcome, "d.force", -1e-9, most * (1.0 + 1e-2), text);
    assert!(
        !outcome.report.notes.iter().any(|n| n.contains("closed and opened")),
        "{:?}",
        outcome.report.notes
    );
}

/// Values of a column in rows, events and peaks lie between `least` and `most`.
fn pushes_only(outcome: &Outcome, name: &str, least: f64, most: f64, text: &str) {
    let column = outcome.trajectory.names().iter().position(|n| n == name).unwrap();
    let rows = outcome.trajectory.rows().chain(outcome.instants.rows.rows()).map(|row| row[column]);
    let peak = &outcome.report.peaks[name];
    for x in rows.chain([peak.min, peak.max]) {
        assert!(least <= x && x <= most, "{name} is {x}\n{text}");
    }
}
