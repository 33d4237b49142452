//! Rigid boxes that slide and turn: their motion depends on how their corners share the load.

use sarrus::analysis::{Status, check};
use sarrus::prelude::*;
use std::sync::Arc;

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("spin.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|e| panic!("{}", e[0].message));
    (model, Arc::new(system))
}

fn run(text: &str) -> Outcome {
    let (model, system) = load(text);
    let overrides = RunOverrides { every: Some(0.05), ..RunOverrides::default() };
    let outcome = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ());
    let outcome = outcome.unwrap_or_else(|e| panic!("{e}"));
    let report = &outcome.report;
    assert_eq!(report.status, Status::Completed, "{}\n{text}", report.reason);
    assert!(report.certificate.passed, "{:?}\n{:?}\n{text}", report.certificate, report.notes);
    outcome
}

/// A box of 1 kg.
#[derive(Clone, Copy)]
struct Case {
    size: [f64; 3],
    mu: f64,
    v: [f64; 2],
    w: f64,
    t_end: f64,
    formulation: &'static str,
}

const PLAIN: Case =
    Case { size: [0.4, 0.2, 0.1], mu: 0.3, v: [1.0, 0.0], w: 3.0, t_end: 0.2, formulation: "proximal" };

fn text(case: Case, more: &str) -> String {
    let Case { size: [a, b, c], mu, v: [vx, vy], w, t_end, formulation } = case;
    format!(
        "format = 'sarrus/1'\nground.shape = {{ kind = 'half_space' }}
        initial = {{ b.velocity = [{vx}, {vy}, 0], b.omega = [0, 0, {w}] }}
        bodies.b = {{ at = [0, 0, {}], mass = 1, shape = {{ kind = 'box', size = [{a}, {b}, {c}] }} }}
        contacts.floor = {{ between = ['b', 'ground'], method = 'impulsive', friction = {{ mu = {mu} }} }}
        run = {{ t_end = {t_end}, rtol = 1e-9, atol = 1e-11, formulation = '{formulation}' }}\n{more}",
        0.5 * c
    )
}

/// x, y, angle and their rates, by the law of equal springs as their stiffness grows: normal forces N = α + β x + γ y of the corners at (x, y). Runge-Kutta steps of
/// fourth order.
fn by_equal_springs(case: Case) -> [f64; 6] {
    let Case { size: [a, b, c], mu, .. } = case;
    let rate = |s: [f64; 6]| -> [f64; 6] {
        let (sin, cos) = s[2].sin_cos();
        let corners = [[-a, -b], [-a, b], [a, -b], [a, b]].map(|[x, y]| [0.5 * x, 0.5 * y]);
        let corners = corners.map(|[x, y]| [cos * x - sin * y, sin * x + cos * y]);
        let ways = corners.map(|[x, y]| {
            let u = [s[3] - s[5] * y, s[4] + s[5] * x];
            let speed = u[0].hypot(u[1]);
            [u[0] / speed, u[1] / speed]
        });
        // Σ N = m g, and no moment about the axes x and y through the centre of mass
        let mut A = [[0.0; 4]; 3];
        A[0][3] = 9.81;
        for ([x, y], [dx, dy]) in corners.iter().zip(&ways) {
            for (k, basis) in [1.0, *x, *y].iter().enumerate() {
                A[0][k] += basis;
                A[1][k] += basis * (y - 0.5 * c * mu * dy);
                A[2][k] += basis * (x - 0.5 * c * mu * dx);
            }
        }
        for k in 0..3 {
            for i in (0..3).filter(|i| *i != k) {
                let factor = A[i][k] / A[k][k];
                (0..4).for_each(|j| A[i][j] -= factor * A[k][j]);
            }
        }
        let [p, q, r] = [0, 1, 2].map(|k| A[k][3] / A[k][k]);
        let mut rates = [s[3], s[4], s[5], 0.0, 0.0, 0.0];
        for ([x, y], [dx, dy]) in corners.iter().zip(&ways) {
            let f = [-dx, -dy].map(|d| mu * (p + q * x + r * y) * d);
            rates[3] += f[0];
            rates[4] += f[1];
            rates[5] += (x * f[1] - y * f[0]) / ((a * a + b * b) / 12.0);
        }
        rates
    };
    let steps = 2000;
    let h = case.t_end / f64::from(steps);
    let mut s = [0.0, 0.0, 0.0, case.v[0], case.v[1], case.w];
    for _ in 0..steps {
        let add = |r: [f64; 6], h: f64| -> [f64; 6] { std::array::from_fn(|i| s[i] + h * r[i]) };
        let k1 = rate(s);
        let k2 = rate(add(k1, 0.5 * h));
        let k3 = rate(add(k2, 0.5 * h));
        let k4 = rate(add(k3, h));
        s = std::array::from_fn(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    s
}

#[test]
fn corners_share_the_load_as_equal_springs() {
    for case in [
        PLAIN,
        Case { formulation: "augmented_lagrangian", ..PLAIN },
        Case { size: [0.3, 0.3, 0.2], v: [0.6, -0.9], w: -8.0, mu: 0.5, t_end: 0.12, ..PLAIN },
        Case { size: [0.2, 0.6, 0.05], v: [0.1, 0.2], w: 6.0, mu: 0.1, ..PLAIN },
    ] {
        let outcome = run(&text(case, ""));
        let exact = by_equal_springs(case);
        for (column, exact) in ["x", "y", "vx", "vy", "wz"].into_iter().zip([0, 1, 3, 4, 5].map(|i| exact[i]))
        {
            let value = outcome.trajectory.last(&format!("b.{column}")).unwrap();
            assert!((value - exact).abs() < 1e-7, "{column}: {value} {exact}");
        }
        assert_eq!(outcome.report.reactions.motion_not_unique, ["b"]);
        let note = outcome.report.notes.iter().find(|n| n.starts_with("the motion of `b` is not unique"));
        assert!(note.is_some_and(|n| n.contains("`floor`")), "{:?}", outcome.report.notes);
    }
}

/// Rows along four normals have rank 3. Where the corners slide the same way their friction is that of their sum, and the motion is unique.
#[test]
fn the_motion_is_unique_unless_corners_slide_in_different_directions() {
    for (w, motion) in [(3.0, vec!["b".to_string()]), (0.0, vec![])] {
        let (model, system) = load(&text(Case { w, ..PLAIN }, ""));
        let report = check(&model, &system).unwrap();
        let closed = report.closed_contacts.unwrap();
        assert_eq!((closed.points, closed.rows, closed.rank), (4, 4, Some(3)));
        assert_eq!(report.motion_not_unique, motion);
        assert_eq!(
            report.notes.iter().any(|n| n.contains("motion of `b` is not unique")),
            !motion.is_empty()
        );
        let floor = report.reactions.iter().find(|r| r.name == "floor").unwrap();
        assert_eq!(
            (&floor.unique[..], &floor.not_unique[..]),
            (&["force".into()][..], &["distribution".into()][..])
        );
        assert_eq!(run(&text(Case { w, ..PLAIN }, "")).report.reactions.motion_not_unique, motion);
    }
}

/// Nothing happens to a contact where a torque begins to turn a box that slides.
#[test]
fn a_slide_that_begins_to_turn_is_noted() {
    let torque = "forces.turn = { kind = 'torque', body = 'b', torque = [0, 0, 'max(0, t - 0.1)'] }";
    let outcome = run(&text(Case { w: 0.0, ..PLAIN }, torque));
    assert_eq!(outcome.report.reactions.motion_not_unique, ["b"]);
}

/// Three points share the load in one way only: a plate on three balls.
#[test]
fn three_points_leave_nothing_open() {
    let text = &plate([1.0, 0.0], 3.0, 0.1);
    let (model, system) = load(text);
    let report = check(&model, &system).unwrap();
    assert!(report.motion_not_unique.is_empty() && report.closed_contacts.unwrap().rank == Some(3));
    let outcome = run(text);
    assert!(outcome.report.reactions.motion_not_unique.is_empty(), "{:?}", outcome.report.notes);
}

/// A plate of 1 kg on three balls.
fn plate([vx, vy]: [f64; 2], w: f64, t_end: f64) -> String {
    format!(
        "format = 'sarrus/1'\nground.shape = {{ kind = 'half_space' }}
        initial = {{ b.velocity = [{vx}, {vy}, 0], b.omega = [0, 0, {w}] }}
        run = {{ t_end = {t_end} }}
        contacts.floor = {{ between = ['b', 'ground'], method = 'impulsive', friction = {{ mu = 0.2 }} }}
        [bodies.b]
        at = [0, 0, 0.1]
        mass = 1
        inertia = [0.01, 0.01, 0.02]
        shape = [{{ kind = 'sphere', radius = 0.02, on = [0.2, 0, -0.08] }}, \
        {{ kind = 'sphere', radius = 0.02, on = [-0.1, 0.17, -0.08] }}, {{ kind = 'sphere', radius = 0.02, on = [-0.1, -0.17, -0.08] }}]"
    )
}

/// `slip` is the fastest, whatever direction it had when it began: at the corner at (x, y) it is |v + ω × r|.
#[test]
fn the_column_slip_is_the_speed_of_the_fastest_point() {
    let outcome = run(&text(Case { v: [0.3, 0.0], w: 12.0, mu: 0.05, t_end: 0.25, ..PLAIN }, ""));
    let at = |column: &str| outcome.trajectory.last(&format!("b.{column}")).unwrap();
    let angle = 2.0 * at("q3").atan2(at("q0"));
    let (sin, cos) = angle.sin_cos();
    let speed = |[x, y]: [f64; 2]| {
        let [x, y] = [cos * x - sin * y, sin * x + cos * y];
        (at("vx") - at("wz") * y).hypot(at("vy") + at("wz") * x)
    };
    let fastest =
        [[0.2, 0.1], [0.2, -0.1], [-0.2, 0.1], [-0.2, -0.1]].map(speed).into_iter().fold(0.0, f64::max);
    let slip = outcome.trajectory.last("floor.slip").unwrap();
    assert!((slip - fastest).abs() < 1e-9, "{slip} {fastest}");
}

/// Boxes on a shaken platform slide along one line: how their corners share the load does not matter, also where they slide at one place and stick at another.
#[test]
fn boxes_that_slide_along_one_line_have_one_motion() {
    for (mu, more) in [(0.3, 0.15), (0.15, 0.3), (0.1, 0.1)] {
        for masses in [[5.0, 2.0, 1.0], [5.0, 0.01, 20.0]] {
            let text = format!(
                "format = 'sarrus/1'
                space = 'planar'
                bodies.pl = {{ at = [0, 0], mass = {}, inertia = 1, shape = {{ kind = 'box', size = [4, 0.2] }} }}
                bodies.b1 = {{ at = [0, 0.15], mass = {}, shape = {{ kind = 'box', size = [1.0, 0.1] }} }}
                bodies.b2 = {{ at = [0, 0.25], mass = {}, shape = {{ kind = 'box', size = [0.6, 0.1] }} }}
                joints.P = {{ kind = 'prismatic', bodies = ['ground', 'pl'], at = [0, 0] }}
                drivers.d = {{ kind = 'joint', joint = 'P', position = '0.1*sin(8*t)' }}
                contacts.c1 = {{ between = ['pl', 'b1'], method = 'impulsive', friction = {{ mu = {mu} }} }}
                contacts.c2 = {{ between = ['b1', 'b2'], method = 'impulsive', friction = {{ mu = {more} }} }}
                run.t_end = 0.8",
                masses[0], masses[1], masses[2]
            );
            let report = run(&text).report;
            assert!(
                report.reactions.motion_not_unique.is_empty(),
                "{:?}\n{text}",
                report.reactions.motion_not_unique
            );
            assert!(
                !report.notes.iter().any(|n| n.contains("slide in different directions")),
                "{:?}",
                report.notes
            );
        }
    }
}

/// A ball slides down an incline across its slope until it rolls. With the slip s at the angle θ to the slope, ṡ = -A + g cos θ and s θ̇ = -g sin θ,
/// so that s = s₀ (tan θ/2 / tan θ₀/2)^(A/g) sin θ₀/sin θ: its end is an integral over θ. It does not depend on where the run ends.
#[test]
fn a_slip_that_turns_ends_when_its_hodograph_says() {
    let (tilt, mu, radius) = (10.0_f64.to_radians(), 0.2_f64, 5e-3_f64);
    let (down, press) = (9.81 * tilt.sin(), 9.81 * tilt.cos());
    let brake = 3.5 * mu * press;
    for (v, w) in
        [([0.3_f64, 0.5], [100.0_f64, 200.0]), ([0.5, 0.1], [0.0, 0.0]), ([-0.4, 0.6], [20.0, -30.0])]
    {
        let slip = [v[0] - radius * w[1], v[1] + radius * w[0]];
        let (speed, start) = (slip[0].hypot(slip[1]), slip[1].abs().atan2(slip[0]));
        let n = 200_000;
        let at = |angle: f64| {
            let grown = ((0.5 * angle).tan() / (0.5 * start).tan()).powf(brake / down);
            speed * grown * start.sin() / angle.sin() / (down * angle.sin())
        };
        let step = start / n as f64;
        let end: f64 = (0..n).map(|i| at((i as f64 + 0.5) * step)).sum::<f64>() * step;
        for t_end in [end + 0.005, end + 0.1, 1.0, 3.0] {
            let text = format!(
                "format = 'sarrus/1'
                gravity = [{down}, 0, {}]
                ground.shape = {{ kind = 'half_space' }}
                bodies.b = {{ at = [0, 0, {radius}], mass = 1e-3, inertia = [1e-8, 1e-8, 1e-8], shape = {{ kind = 'sphere', radius = {radius} }} }}
                contacts.c = {{ between = ['b', 'ground'], method = 'impulsive', restitution = 0.5, friction = {{ mu = {mu} }} }}
                initial = {{ b.velocity = [{}, {}, 0], b.omega = [{}, {}, 50] }}
                run.t_end = {t_end}",
                -press, v[0], v[1], w[0], w[1]
            );
            let outcome = run(&text);
            let sticks: Vec<f64> = outcome
                .report
                .events
                .iter()
                .filter(|e| e.actions.iter().any(|a| a == "sticks"))
                .map(|e| e.t)
                .collect();
            assert!(sticks.len() == 1 && (sticks[0] - end).abs() < 1e-6, "{sticks:?} {end}\n{text}");
        }
    }
}
