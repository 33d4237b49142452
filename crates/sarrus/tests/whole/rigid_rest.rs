//! Rigid contacts at rest and where they begin to slip: all points of a body, and of bodies on each other, as one problem.

use sarrus::analysis::Status;
use sarrus::prelude::*;
use std::sync::Arc;

fn run(text: &str) -> Outcome {
    let model =
        load_str("rest.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|e| panic!("{}", e[0].message)));
    let overrides = RunOverrides { every: Some(0.1), ..RunOverrides::default() };
    let request = Simulate { overrides, record: true };
    let outcome = simulate(&model, &system, &request, &mut ()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let report = &outcome.report;
    assert_eq!(report.status, Status::Completed, "{}\n{text}", report.reason);
    assert!(report.certificate.passed, "{:?}\n{:?}\n{text}", report.certificate, report.notes);
    outcome
}

/// A box of these sizes on an incline of `tilt`, downhill along `way`, rotated by `yaw`, with μ = `ratio`·tan(tilt), at a speed `up`.
fn incline(size: [f64; 3], tilt: f64, way: f64, yaw: f64, ratio: f64, up: f64) -> String {
    let (g, mu) = (9.81, ratio * tilt.tan());
    let [x, y] = [way.cos(), way.sin()];
    format!(
        r#"
format = "sarrus/1"
gravity = [{}, {}, {}]
ground.shape = {{ kind = "half_space" }}
bodies.b = {{ at = [0, 0, {}], mass = 1, orientation = {{ axis = [0, 0, 1], angle = {yaw} }}, shape = {{ kind = "box", size = {size:?} }} }}
contacts.x = {{ between = ["b", "ground"], method = "impulsive", friction = {{ mu = {mu} }} }}
initial.b.velocity = [{}, {}, 0]
run = {{ t_end = 1, rtol = 1e-8, atol = 1e-10 }}
"#,
        g * tilt.sin() * x,
        g * tilt.sin() * y,
        -g * tilt.cos(),
        0.5 * size[2],
        -up * x,
        -up * y,
    )
}

/// Goes up for v²/2a, a = g (sin φ + μ cos φ), then rests where μ ≥ tan φ, or slides down with g (sin φ - μ cos φ). Four corners that share
/// their forces in many ways make no difference, however near the threshold.
#[test]
fn a_box_on_an_incline_rests_or_slides_by_its_friction() {
    // low enough not to tip: μ below width over height
    let sizes = [[0.3, 0.3, 0.1], [0.16, 0.431, 0.2], [0.5, 0.2, 0.3]];
    let ratios = [0.5, 0.94, 0.961, 0.97, 0.99, 0.999, 1.0001, 1.01, 1.05, 1.1, 1.5];
    for (k, ratio) in ratios.into_iter().enumerate() {
        for up in [0.0, 0.4] {
            let angle = k as f64 + up;
            let (tilt, way) = (0.15 + 0.02 * angle, 1.3 * angle);
            let outcome = run(&incline(sizes[k % 3], tilt, way, 0.7 * angle, ratio, up));
            let (pull, hold) = (9.81 * tilt.sin(), ratio * 9.81 * tilt.sin());
            let t_top = up / (pull + hold);
            let down = 0.5 * (pull - hold).max(0.0) * (1.0 - t_top).powi(2) - 0.5 * up * t_top;
            let last = |column: &str| outcome.trajectory.last(column).unwrap();
            let (x, y) = (last("b.x"), last("b.y"));
            let [along, aside] = [x * way.cos() + y * way.sin(), y * way.cos() - x * way.sin()];
            assert!((along - down).abs() < 1e-8, "ratio {ratio}, up {up}: {along} {down}");
            assert!(aside.abs() < 1e-8 && last("b.wz").abs() < 1e-8, "ratio {ratio}, up {up}: {aside}");
            assert!(outcome.report.events.len() < 6, "{:?}", outcome.report.events);
        }
    }
}

fn stack(n: usize, mu: f64, planar: bool, offset: f64, push: f64) -> String {
    let (space, size) = if planar { ("planar", "[0.2, 0.1]") } else { ("spatial", "[0.2, 0.2, 0.1]") };
    let mut text = format!(
        "format = 'sarrus/1'\nspace = '{space}'\nground.shape = {{ kind = 'half_space' }}\nrun = {{ t_end = 0.1, rtol = 1e-6 }}\n"
    );
    for i in 0..n {
        let (x, z) = (offset * (i * 7 % 5) as f64, 0.05 + 0.1 * i as f64);
        let at = if planar { format!("[{x}, {z}]") } else { format!("[{x}, {}, {z}]", -0.5 * x) };
        let below = if i == 0 { "ground".to_string() } else { format!("b{}", i - 1) };
        text +=
            &format!("bodies.b{i} = {{ at = {at}, mass = 1, shape = {{ kind = 'box', size = {size} }} }}\n");
        text += &format!(
            "contacts.c{i} = {{ between = ['b{i}', '{below}'], method = 'impulsive', friction = {{ mu = {mu} }} }}\n"
        );
    }
    if push != 0.0 {
        let force = if planar { format!("[{push}, 0]") } else { format!("[{push}, 0, 0]") };
        text += &format!("forces.p = {{ kind = 'force', body = 'b1', force = {force} }}\n");
    }
    text
}

/// Each bears what is above it, also where all corners coincide and rounding decides whether boxes are apart.
#[test]
fn stacked_boxes_rest_on_each_other() {
    for (n, mu, planar, offset) in [
        (3, 0.0, false, 0.0),
        (3, 0.5, false, 0.0),
        (3, 0.5, false, 0.01),
        (10, 0.0, false, 0.0),
        (3, 0.5, true, 0.0),
        (10, 0.5, true, 0.0),
        (10, 0.0, true, 0.01),
    ] {
        let outcome = run(&stack(n, mu, planar, offset, 0.0));
        for i in 0..n {
            let force = outcome.trajectory.last(&format!("c{i}.force")).unwrap();
            let weight = 9.81 * (n - i) as f64;
            assert!((force - weight).abs() < 1e-7, "{n} {mu} {planar} {offset}: {force} {weight}");
            let v = outcome.trajectory.last(&format!("b{i}.vx")).unwrap();
            assert!(v.abs() < 1e-12, "{n} {mu} {planar} {offset}: {v}");
        }
    }
}

/// A force that grows by 10 N/s moves a box of 2 kg from t = μ m g/10 on: x = 10 (t - t₀)³/6m.
#[test]
fn a_box_that_is_pushed_ever_harder_sets_off_at_the_limit() {
    for (planar, mu) in [(true, 0.1), (true, 0.3), (false, 0.1), (false, 0.3)] {
        let t_slip = mu * 2.0 * 9.81 / 10.0;
        let (space, at, size, force) = if planar {
            ("planar", "[0, 0.05]", "[0.2, 0.1]", "['10*t', 0]")
        } else {
            ("spatial", "[0, 0, 0.05]", "[0.2, 0.15, 0.1]", "['10*t', 0, 0]")
        };
        let text = format!(
            "format = 'sarrus/1'\nspace = '{space}'\nground.shape = {{ kind = 'half_space' }}
            bodies.b = {{ at = {at}, mass = 2, shape = {{ kind = 'box', size = {size} }} }}
            contacts.x = {{ between = ['b', 'ground'], method = 'impulsive', friction = {{ mu = {mu} }} }}
            forces.p = {{ kind = 'force', body = 'b', force = {force} }}
            run = {{ t_end = {}, rtol = 1e-8, atol = 1e-10 }}",
            t_slip + 0.3
        );
        let outcome = run(&text);
        let slides = outcome.report.events.iter().find(|e| e.actions.iter().any(|a| a == "slides"));
        let t = slides.map_or(f64::NAN, |e| e.t);
        assert!((t - t_slip).abs() < 1e-5, "{planar} {mu}: {t} {t_slip}");
        let x = outcome.trajectory.last("b.x").unwrap();
        assert!((x - 10.0 * 0.3_f64.powi(3) / 12.0).abs() < 1e-6, "{planar} {mu}: {x}");
    }
}

/// Just below the limit a box slides with the small rest of its weight, x = ½ g sin φ (1 - μ/tan φ) t², and not aside; just above it rests.
#[test]
fn a_box_slides_just_below_the_limit_of_friction() {
    let angle = 20.0_f64.to_radians();
    for planar in [true, false] {
        for ratio in [0.99, 0.9999, 0.999_999, 1.0001] {
            let (space, gravity, at, size) = if planar {
                ("planar", "['-9.81*sin(20 deg)', '-9.81*cos(20 deg)']", "[0, 0.05]", "[0.2, 0.1]")
            } else {
                let gravity = "['-9.81*sin(20 deg)', 0, '-9.81*cos(20 deg)']";
                ("spatial", gravity, "[0, 0, 0.05]", "[0.2, 0.15, 0.1]")
            };
            let outcome = run(&format!(
                "format = 'sarrus/1'\nspace = '{space}'\ngravity = {gravity}\nground.shape = {{ kind = 'half_space' }}
                bodies.b = {{ at = {at}, mass = 1, shape = {{ kind = 'box', size = {size} }} }}
                contacts.x = {{ between = ['b', 'ground'], method = 'impulsive', friction = {{ mu = {} }} }}
                run.t_end = 1",
                ratio * angle.tan()
            ));
            let way = 0.5 * 9.81 * angle.sin() * (1.0 - ratio).max(0.0);
            let x = outcome.trajectory.last("b.x").unwrap();
            assert!((x + way).abs() < 1e-8 * way + 1e-14, "{planar} {ratio}: {x} {way}");
        }
    }
}

/// A tall box that slides tips where μ h exceeds half its length, and is on its side in the end.
#[test]
fn a_tall_box_that_slides_tips_over() {
    for (planar, mu, v) in [(true, 0.5, 1.0), (true, 0.6, 2.0), (false, 0.5, 1.0), (false, 0.6, 2.0)] {
        let (space, velocity, at, size) = if planar {
            ("planar", format!("b.vx = {v}"), "[0, 0.3]", "[0.2, 0.6]")
        } else {
            ("spatial", format!("b.velocity = [{v}, 0, 0]"), "[0, 0, 0.3]", "[0.2, 0.15, 0.6]")
        };
        let outcome = run(&format!(
            "format = 'sarrus/1'\nspace = '{space}'\nground.shape = {{ kind = 'half_space' }}
            initial = {{ {velocity} }}
            bodies.b = {{ at = {at}, mass = 1, shape = {{ kind = 'box', size = {size} }} }}
            contacts.x = {{ between = ['b', 'ground'], method = 'impulsive', friction = {{ mu = {mu} }} }}
            run.t_end = 1.5"
        ));
        let height = outcome.trajectory.last(if planar { "b.y" } else { "b.z" }).unwrap();
        assert!((height - 0.1).abs() < 1e-9, "{planar} {mu}: {height}");
    }
}
