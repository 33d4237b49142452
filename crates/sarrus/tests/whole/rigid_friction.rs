//! Rigid contacts with friction: where they lift off, stick and slip, also where their forces are not unique.

use sarrus::analysis::{Status, check};
use sarrus::prelude::*;
use std::sync::Arc;

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("rigid.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|e| panic!("{}", e[0].message));
    (model, Arc::new(system))
}

fn run(text: &str) -> Outcome {
    let (model, system) = load(text);
    // few samples: what is checked is at the end, and the events
    let overrides = RunOverrides { every: Some(0.05), ..RunOverrides::default() };
    let request = Simulate { overrides, record: true };
    let outcome = simulate(&model, &system, &request, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let report = &outcome.report;
    assert_eq!(report.status, Status::Completed, "{}\n{text}", report.reason);
    assert!(report.certificate.passed, "{:?}\n{:?}\n{text}", report.certificate, report.notes);
    outcome
}

/// Times at which a contact did something.
fn times(outcome: &Outcome, contact: &str, what: &str) -> Vec<f64> {
    let own = outcome.report.events.iter().filter(|e| e.name == contact);
    own.filter(|e| e.actions.iter().any(|a| a == what)).map(|e| e.t).collect()
}

/// A cart on a rail trails (`side` = -1) or pushes a bar whose tip slides on the floor, at a speed `v` to the right; a torque of
/// slope `k` lifts the tip.
fn cart(mu: f64, k: f64, v: f64, side: f64, t_end: f64) -> String {
    format!(
        r#"
format = "sarrus/1"
space = "planar"
ground.shape = {{ kind = "half_space" }}
initial = {{ cart.vx = {v}, pin.rate = 0 }}
run = {{ t_end = {t_end}, rtol = 1e-9, atol = 1e-11 }}
points = {{ P = [0, 1], T = [{side}, 0.02] }}
[bodies]
cart = {{ at = "P", mass = 5, inertia = 0.1 }}
bar = {{ from = "P", to = "T", mass = 1, shape = {{ kind = "sphere", radius = 0.02, on = ["norm(T - P)/2", 0], role = "contact" }} }}
[joints]
rail = {{ kind = "prismatic", bodies = ["ground", "cart"], at = "P" }}
pin = {{ kind = "revolute", bodies = ["cart", "bar"], at = "P" }}
[forces]
lift = {{ kind = "actuator", joint = "pin", torque = "{}*t" }}
[contacts]
c = {{ between = ["bar", "ground"], method = "impulsive", friction = {{ mu = {mu} }} }}
"#,
        side * k
    )
}

/// The bar does not turn while its tip slides. Moments about the pin, with a = ∓μN/6: N (1 ± μ (1 - 0.49/6)) = 0.5·9.81 - k t, + where the
/// tip is behind. So it lifts off at 4.905/k, whatever μ is, and friction has taken ∫μN dt of the momentum, or all of it.
#[test]
fn a_tip_that_slides_lifts_off_where_its_normal_force_passes_zero() {
    let steps = |n: u32| (0..=20 / n).map(move |i| 0.05 * f64::from(i * n));
    let mut runs: Vec<(f64, f64, f64, f64)> = steps(1).map(|mu| (mu, 10.0, 20.0, -1.0)).collect();
    for (k, v, side) in [(25.0, 20.0, -1.0), (10.0, -20.0, 1.0), (10.0, 20.0, 1.0), (10.0, 0.05, -1.0)] {
        runs.extend(steps(5).map(|mu| (mu, k, v, side)));
    }
    for (mu, k, v, side) in runs {
        let t_off = 4.905 / k;
        let outcome = run(&cart(mu, k, v, side, t_off + 0.2));
        let parts = times(&outcome, "c", "parts");
        assert_eq!(parts.len(), 1, "μ = {mu}: {:?}", outcome.report.events);
        assert!((parts[0] - t_off).abs() < 1e-7, "μ = {mu}, k = {k}, v = {v}: {} {t_off}", parts[0]);
        let behind = -side * v.signum();
        let impulse = mu * 4.905 * 4.905 / (2.0 * k) / (1.0 + behind * mu * (1.0 - 0.49 / 6.0));
        let expected = v.signum() * (6.0 * v.abs() - impulse).max(0.0);
        let last = |column: &str| outcome.trajectory.last(column).unwrap();
        let momentum = 5.0 * last("cart.vx") + last("bar.vx");
        assert!((momentum - expected).abs() < 1e-7, "μ = {mu}, k = {k}, v = {v}: {momentum} {expected}");
        assert!(last("c.gap") > 1e-4, "it stays away");
    }
}

const GRIPPER: &str = r#"
format = "sarrus/1"
space = "planar"
ground.shape = { kind = "half_space" }
[bodies]
box = { at = [0, 0.05], mass = 1, shape = { kind = "box", size = [0.1, 0.1] } }
palm = { at = [0, 0.25], mass = 2, shape = { kind = "box", size = [0.3, 0.04] } }
left = { at = [-0.08, 0.12], mass = 0.3, shape = { kind = "box", size = [0.02, 0.18] } }
right = { at = [0.08, 0.12], mass = 0.3, shape = { kind = "box", size = [0.02, 0.18] } }
[joints]
lift = { kind = "prismatic", bodies = ["ground", "palm"], at = [0, 0.25], axis = [0, 1] }
sl = { kind = "prismatic", bodies = ["palm", "left"], at = [-0.08, 0.22], axis = [1, 0] }
sr = { kind = "prismatic", bodies = ["palm", "right"], at = [0.08, 0.22], axis = [-1, 0] }
[forces]
close_l = { kind = "actuator", joint = "sl", force = "30*smoothstep(t, 0.1, 0.3)" }
close_r = { kind = "actuator", joint = "sr", force = "30*smoothstep(t, 0.1, 0.3)" }
[drivers]
hoist = { kind = "joint", joint = "lift", position = "HOIST" }
[contacts]
floor = { between = ["box", "ground"], method = "impulsive", restitution = 0, friction = { mu = 0.5 } }
grip = { between = ["box", ["left", "right"]], method = "impulsive", restitution = 0, friction = { mu = MU } }
[run]
t_end = 2.5
"#;

fn gripper(mu: f64, hoist: &str) -> Outcome {
    run(&GRIPPER.replace("MU", &mu.to_string()).replace("HOIST", hoist))
}

/// 2 μ F = 30 N holds 9.81 N, and the acceleration of at most 1.8 m/s². That of the hoist grows from zero: the rows of floor, jaws and
/// hoist begin to contradict each other without a jump.
#[test]
fn a_gripper_lifts_what_its_friction_can_hold() {
    let outcome = gripper(0.5, "0.3*smoothstep(t, 1, 2)");
    let last = |column: &str| outcome.trajectory.last(column).unwrap();
    assert!((last("box.y") - 0.35).abs() < 1e-6, "{}", last("box.y"));
    assert!((last("grip.force") - 60.0).abs() < 1e-6, "{}", last("grip.force"));
    let parts = times(&outcome, "floor", "parts");
    assert!(parts.len() == 1 && (parts[0] - 1.0).abs() < 1e-4, "{parts:?}");
}

/// The acceleration of the hoist jumps from 0 to 1.48 m/s².
#[test]
fn a_gripper_that_sets_off_with_a_jerk_lifts_too() {
    let outcome = gripper(0.5, "if(t < 1, 0, 0.15*(1 - cos(pi*(t - 1))))");
    let y = outcome.trajectory.last("box.y").unwrap();
    assert!((y - 0.05 - 0.15).abs() < 1e-6, "{y}");
    let parts = times(&outcome, "floor", "parts");
    assert!(parts.len() == 1 && (parts[0] - 1.0).abs() < 1e-9, "{parts:?}");
}

/// 2 μ F = 6 N does not hold 9.81 N: the jaws slip, and the box stays.
#[test]
fn a_gripper_with_too_little_friction_slips() {
    let outcome = gripper(0.1, "0.06*smoothstep(t, 1, 2)");
    let last = |column: &str| outcome.trajectory.last(column).unwrap();
    assert!((last("box.y") - 0.05).abs() < 1e-9, "{}", last("box.y"));
    assert!(!times(&outcome, "grip", "slides").is_empty());
    assert!(times(&outcome, "floor", "parts").is_empty());
}

/// The woodpecker toy of Glocker and Pfeiffer: a sleeve with clearance on a pole, a woodpecker on a spring, whose beak knocks.
const WOODPECKER: &str = r#"
format = "sarrus/1"
space = "planar"
[parameters]
r0 = 0.0025
rM = 0.0031
hM = 0.0058
lM = 0.010
lG = 0.015
hS = 0.02
lS = 0.0201
rho = 0.0001
tilt = -0.3
[ground]
shape = { kind = "half_space", on = ["r0", 0], axis_on = [1, 0], role = "contact" }
[bodies]
sleeve = { at = [0, 0], mass = 0.0003, inertia = 5e-9, shape = [{ kind = "sphere", radius = "rho", on = ["rM + rho", "-hM"] }, { kind = "sphere", radius = "rho", on = ["rM + rho", "hM"] }] }
bird = { at = "[lM, 0] + polar(lG, tilt)", angle = "tilt", mass = 0.0045, inertia = 7e-7, shape = { kind = "sphere", radius = "rho", on = ["rho - lS", "hS"] } }
[constraints]
pole = { kind = "point_on_line", bodies = ["ground", "sleeve"], at = [0, 0], axis = [0, 1] }
[joints]
spring = { kind = "revolute", bodies = ["sleeve", "bird"], at = ["lM", 0], stiffness = 0.0056, rest = 0 }
[contacts]
beak = { between = ["bird", "ground"], method = "impulsive", restitution = 0.5, friction = { mu = 0.3 } }
rub = { between = ["sleeve", "ground"], method = "impulsive", restitution = 0, friction = { mu = 0.3 } }
[run]
t_end = 1.9
rtol = 1e-8
atol = 1e-10
"#;

/// Against Moreau's time stepping of the same three degrees of freedom at steps of 0.25 µs: knocks at 0.10916, 0.4824, 0.7725 and 0.9564 s, which
/// the steps shift by 10⁻³ s; then a limit cycle of 0.131350 s. Sleeve and beak both slide and stick on the way.
#[test]
fn a_woodpecker_toy_comes_to_its_limit_cycle() {
    let outcome = run(WOODPECKER);
    let knocks = times(&outcome, "beak", "impact");
    for (knock, moreau) in knocks.iter().zip([0.10916, 0.4824, 0.7725, 0.9564]) {
        assert!((knock - moreau).abs() < 1e-3, "{knocks:?}");
    }
    let last: Vec<f64> = knocks.windows(2).rev().take(3).map(|t| t[1] - t[0]).collect();
    assert!(knocks.len() >= 9 && last.iter().all(|period| (period - 0.131_350).abs() < 3e-6), "{knocks:?}");
    assert!(!times(&outcome, "rub", "sticks").is_empty() && !times(&outcome, "rub", "slides").is_empty());
}

/// A box between two jaws that press on it, on a floor: two points at each jaw and two on the floor, which all stick.
#[test]
fn closed_contacts_are_rows_where_reactions_are_judged() {
    let text = |mu: f64| {
        format!(
            r#"
format = "sarrus/1"
space = "planar"
ground.shape = {{ kind = "half_space" }}
[bodies]
box = {{ at = [0, 0.05], mass = 1, shape = {{ kind = "box", size = [0.1, 0.1] }} }}
left = {{ at = [-0.06, 0.06], mass = 0.3, shape = {{ kind = "box", size = [0.02, 0.06] }} }}
right = {{ at = [0.06, 0.06], mass = 0.3, shape = {{ kind = "box", size = [0.02, 0.06] }} }}
[joints]
sl = {{ kind = "prismatic", bodies = ["ground", "left"], at = [-0.06, 0.06], axis = [1, 0] }}
sr = {{ kind = "prismatic", bodies = ["ground", "right"], at = [0.06, 0.06], axis = [-1, 0] }}
[forces]
close_l = {{ kind = "actuator", joint = "sl", force = 30 }}
close_r = {{ kind = "actuator", joint = "sr", force = 30 }}
[contacts]
floor = {{ between = ["box", "ground"], method = "impulsive", friction = {{ mu = {mu} }} }}
grip = {{ between = ["box", ["left", "right"]], method = "impulsive", friction = {{ mu = {mu} }} }}
[run]
t_end = 0.1
"#
        )
    };
    let of = |text: &str| {
        let (model, system) = load(text);
        check(&model, &system).unwrap()
    };
    let part = |report: &sarrus::analysis::CheckReport, name: &str| {
        let found = report.reactions.iter().find(|r| r.name == name).unwrap();
        (found.unique.clone(), found.not_unique.clone())
    };
    // with friction: 4 rows of slides and 12 of contacts on 9 velocities
    let report = of(&text(0.5));
    let closed = report.closed_contacts.unwrap();
    assert_eq!((closed.points, closed.rows, closed.rank), (6, 16, Some(9)), "{:?}", report.reactions);
    assert_eq!((report.constraints.rows, report.constraints.rank), (4, Some(4)));
    // what the jaws press with is known, how their points share it and what friction lifts is not
    assert_eq!(part(&report, "grip").0, ["force"]);
    assert_eq!(part(&report, "grip").1, ["distribution", "friction"]);
    assert_eq!(part(&report, "floor").0, Vec::<String>::new());
    // the slides bear across, not along: fy and tz against the friction of the jaws
    assert_eq!(part(&report, "sl").1, ["fy", "tz"]);
    // without friction: 6 rows of contacts; the box can move sideways with both jaws, and three things keep it from turning
    let report = of(&text(0.0));
    let closed = report.closed_contacts.unwrap();
    assert_eq!((closed.points, closed.rows, closed.rank), (6, 10, Some(8)), "{:?}", report.reactions);
    assert_eq!(part(&report, "grip").0, ["force"]);
    assert_eq!(part(&report, "floor").0, ["force"]);
    assert_eq!(part(&report, "floor").1, ["distribution"]);
    // and the run says so too
    let outcome = run(&text(0.5));
    let columns = &outcome.report.reactions.not_unique;
    assert!(
        columns.contains(&"floor.force".to_string()) && columns.contains(&"sl.fy".to_string()),
        "{columns:?}"
    );
    assert!(!columns.contains(&"grip.force".to_string()), "{columns:?}");
}
