//! Rigid contacts: impacts by Newton's and Poisson's rules, places that stay closed, stick, slide and let go.

use sarrus::analysis::{EventReport, Status};
use sarrus::prelude::*;
use std::sync::Arc;

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("impact.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|e| panic!("{}", e[0].message));
    (model, Arc::new(system))
}

fn run_with(text: &str, overrides: RunOverrides) -> Outcome {
    let (model, system) = load(text);
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str) -> Outcome {
    let outcome = run_with(text, RunOverrides::default());
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    assert!(
        outcome.report.certificate.passed,
        "{:?}\n{:?}",
        outcome.report.certificate, outcome.report.notes
    );
    outcome
}

fn impacts(outcome: &Outcome) -> Vec<&EventReport> {
    outcome.report.events.iter().filter(|e| e.actions.iter().any(|a| a == "impact")).collect()
}

const BALL: &str = r#"
format = "sarrus/1"
gravity = [0, 0, -9.81]
ground.shape = { kind = "half_space" }
bodies.ball = { at = [0, 0, 1.1], mass = 2, shape = { kind = "sphere", radius = 0.1 } }
contacts.floor = { between = ["ball", "ground"], method = "impulsive", restitution = 0.8 }
run = { t_end = 5 }
"#;

/// con_bouncing_ball: first impact √(2h/g), the others at t₀(1 + 2Σ eᵏ), which end at 4.063_712_768_871_578 s; after that it rests.
#[test]
fn a_bouncing_ball_meets_its_impacts_and_survives_the_end_of_them_at_rest() {
    let outcome = run(BALL);
    let times: Vec<f64> = impacts(&outcome).iter().map(|e| e.t).collect();
    let first = 0.4515236409857309;
    let mut expected = first;
    for (n, t) in times.iter().enumerate() {
        assert!((t - expected).abs() < 1e-6, "impact {n}: {t} {expected}");
        expected += 2.0 * first * 0.8_f64.powi(n as i32 + 1);
    }
    assert!(times.len() > 40, "{}", times.len());
    assert!((times.last().unwrap() - 4.063_712_768_871_578).abs() < 1e-5, "{:?}", times.last());
    // at rest: nothing moves, and the floor bears its weight
    let last = |column: &str| outcome.trajectory.last(column).unwrap();
    assert!(
        (last("ball.z") - 0.1).abs() < 1e-9 && last("ball.vz").abs() < 1e-12,
        "{} {}",
        last("ball.z"),
        last("ball.vz")
    );
    assert!((last("floor.force") - 2.0 * 9.81).abs() < 1e-9, "{}", last("floor.force"));
    // all that it had is booked as dissipated
    assert!((last("energy.dissipated") - 2.0 * 9.81).abs() < 1e-7, "{}", last("energy.dissipated"));
    // the impulse of the first: m (1 + e) √(2 g h)
    let impulse = impacts(&outcome)[0].impulses[0].impulse[0];
    assert!((impulse - 2.0 * 1.8 * (2.0 * 9.81_f64).sqrt()).abs() < 1e-9, "{impulse}");
}

/// Five balls in a row with gaps, the first at 1 m/s.
fn cradle(e: f64, gap: f64) -> String {
    format!(
        r#"
format = "sarrus/1"
gravity = [0, 0, 0]
parameters = {{ r = 0.05, d = {} }}
[repeat.row]
for = "i = 1 to 5"
bodies."b{{i}}" = {{ at = ["i*d", 0, 0], mass = 0.3, shape = {{ kind = "sphere", radius = "r" }} }}
[contacts]
row = {{ between = ["*", "*"], method = "impulsive", restitution = {e} }}
[initial]
b1.velocity = [1, 0, 0]
[run]
t_end = 0.5
"#,
        0.1 + gap
    )
}

/// con_newton_cradle, with gaps: e = 1, the last leaves with v and the others rest; e < 1, v_n = v((1 + e)/2)^(n - 1).
#[test]
fn a_cradle_with_gaps_hands_the_velocity_on() {
    let outcome = run(&cradle(1.0, 0.01));
    for i in 1..=5 {
        let v = outcome.trajectory.last(&format!("b{i}.vx")).unwrap();
        let expected = if i == 5 { 1.0 } else { 0.0 };
        assert!((v - expected).abs() < 1e-9, "{i}: {v}");
    }
    assert_eq!(impacts(&outcome).len(), 4);
    let outcome = run(&cradle(0.7, 0.01));
    let v = outcome.trajectory.last("b5.vx").unwrap();
    assert!((v - 0.85_f64.powi(4)).abs() < 1e-9, "{v}");
}

/// Balls that touch meet at once, by the rule for all places together: 0 ≤ κ ⊥ u⁺ + e u⁻ ≥ 0 with u⁻ = 0 at the others. What a cradle
/// does then depends on the law; momentum and energy do not, and no ball overtakes the next.
#[test]
fn a_cradle_that_touches_keeps_momentum_and_energy() {
    for rule in ["newton", "poisson"] {
        let text =
            cradle(1.0, 0.0).replace("restitution = 1", &format!("rule = \"{rule}\", restitution = 1"));
        let outcome = run(&text);
        let v: Vec<f64> = (1..=5).map(|i| outcome.trajectory.last(&format!("b{i}.vx")).unwrap()).collect();
        assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{rule}: {v:?}");
        assert!((v.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-9, "{rule}: {v:?}");
        assert!(v.windows(2).all(|v| v[0] <= v[1] + 1e-9), "{rule}: {v:?}");
    }
}

/// con_block_incline: 30°, up at 2 m/s. The world's x axis runs up the incline.
fn incline(mu: f64) -> String {
    format!(
        r#"
format = "sarrus/1"
space = "planar"
gravity = ["-9.81*sin(30 deg)", "-9.81*cos(30 deg)"]
ground.shape = {{ kind = "half_space" }}
bodies.block = {{ at = [0, 0.05], mass = 1, shape = {{ kind = "box", size = [0.2, 0.1] }} }}
contacts.slope = {{ between = ["block", "ground"], method = "impulsive", friction = {{ mu = {mu} }} }}
initial.block.vx = 2
run = {{ t_end = 0.6, rtol = 1e-9, atol = 1e-11 }}
"#
    )
}

fn event<'a>(outcome: &'a Outcome, word: &str) -> &'a EventReport {
    let found = outcome.report.events.iter().find(|e| e.t > 0.0 && e.actions.iter().any(|a| a == word));
    found.unwrap_or_else(|| panic!("nothing {word}: {:?}", outcome.report.events))
}

#[test]
fn a_block_on_an_incline_stops_and_sticks() {
    let outcome = run(&incline(0.6));
    let stops = event(&outcome, "sticks");
    assert!((stops.t - 0.199_951_501_230_002).abs() < 1e-9, "{}", stops.t);
    let last = |column: &str| outcome.trajectory.last(column).unwrap();
    assert!((last("block.x") - 0.199_951_501_230_002).abs() < 1e-8, "{}", last("block.x"));
    assert!(last("block.vx").abs() < 1e-12, "{}", last("block.vx"));
    assert!((last("slope.force") - 9.81 * 0.75_f64.sqrt()).abs() < 1e-9, "{}", last("slope.force"));
    // what friction took is what the block had, less what it has in height
    let expected = 0.5 * 4.0 - 9.81 * 0.5 * 0.199_951_501_230_002;
    assert!((last("energy.dissipated") - expected).abs() < 1e-7, "{}", last("energy.dissipated"));
}

#[test]
fn a_block_with_too_little_friction_slides_back() {
    let outcome = run(&incline(0.3));
    let rotations = event(&outcome, "slides back");
    assert!((rotations.t - 0.268322655232618).abs() < 1e-9, "{}", rotations.t);
    let top = outcome.trajectory.column("block.x").unwrap().fold(0.0_f64, f64::max);
    assert!((top - 0.268322655232618).abs() < 1e-4, "{top}");
    // v = g (sin 30° - μ cos 30°) t
    let expected = -9.81 * (0.5 - 0.3 * 0.75_f64.sqrt()) * (0.6 - rotations.t);
    let v = outcome.trajectory.last("block.vx").unwrap();
    assert!((v - expected).abs() < 1e-8, "{v} {expected}");
}

/// con_painleve: a slender rod that slides with its end ahead, θ above the floor: N (1 + 3cos²θ - 3μ sinθ cosθ) = m g, which has no
/// N ≥ 0 between the two roots of tan²θ - 3μ tanθ + 4 = 0. The end's radius is 1e-9 of its length.
fn painleve(mu: f64, theta: f64) -> String {
    format!(
        r#"
format = "sarrus/1"
space = "planar"
gravity = [0, -9.81]
parameters = {{ theta = {theta} }}
ground.shape = {{ kind = "half_space" }}
bodies.rod = {{ at = ["0.5*cos(theta)", "0.5*sin(theta) + 1e-9"], angle = "theta", mass = 1, inertia = {}, shape = {{ kind = "ends", length = 1, radius = 1e-9, role = "contact" }} }}
contacts.floor = {{ between = ["rod", "ground"], method = "impulsive", friction = {{ mu = {mu} }} }}
initial.rod.vx = -1
run = {{ t_end = 1e-9 }}
"#,
        1.0 / 12.0
    )
}

fn starts(text: &str) -> std::result::Result<(), String> {
    let (model, system) = load(text);
    match simulate(&model, &system, &Simulate::default(), &mut ()) {
        Ok(outcome) if outcome.report.status == Status::Failed => Err(outcome.report.reason),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn where_no_contact_force_obeys_coulomb_the_run_says_so() {
    for mu in [1.4_f64, 1.6] {
        let root = (9.0 * mu * mu - 16.0).sqrt();
        for (tan, inwards) in [((3.0 * mu - root) / 2.0, 1.0), ((3.0 * mu + root) / 2.0, -1.0)] {
            let onset = tan.atan();
            let inside = starts(&painleve(mu, onset + inwards * 1e-6));
            let why = inside.expect_err("no force will do here");
            assert!(why.contains("Painlevé"), "{why}");
            assert_eq!(starts(&painleve(mu, onset - inwards * 1e-6)), Ok(()), "μ = {mu}, tan θ = {tan}");
        }
    }
    for k in 1..30 {
        let theta = 0.05 * f64::from(k);
        assert_eq!(starts(&painleve(1.33, theta)), Ok(()), "{theta}");
    }
}

/// A box dropped flat on the floor in space, four corners at once: it rebounds without turning, and the impulses are shared alike.
#[test]
fn a_box_that_falls_flat_on_four_corners_rebounds_flat() {
    let text = r#"
format = "sarrus/1"
gravity = [0, 0, -10]
ground.shape = { kind = "half_space" }
bodies.box = { at = [0, 0, 0.25], mass = 4, shape = { kind = "box", size = [0.4, 0.3, 0.1] } }
contacts.floor = { between = ["box", "ground"], method = "impulsive", restitution = 0.5 }
run = { t_end = 1.5 }
"#;
    let outcome = run(text);
    let hits = impacts(&outcome);
    assert!((hits[0].t - 0.2).abs() < 1e-9, "{}", hits[0].t);
    let all: Vec<f64> = hits[0].impulses.iter().map(|i| i.impulse[0]).collect();
    assert_eq!(all.len(), 4, "{all:?}");
    // m v (1 + e)/4 = 4·2·1.5/4
    assert!(all.iter().all(|k| (k - 3.0).abs() < 1e-9), "{all:?}");
    assert!(hits[0].actions.iter().any(|a| a.contains("not unique")), "{:?}", hits[0].actions);
    let last = |column: &str| outcome.trajectory.last(column).unwrap();
    assert!(
        (last("box.z") - 0.05).abs() < 1e-9 && (last("floor.force") - 40.0).abs() < 1e-8,
        "{}",
        last("floor.force")
    );
}

/// A sphere thrown flat over a rough floor slides, then rolls: v → 5v/7, at t = 2v/(7μg).
#[test]
fn a_sphere_that_slides_ends_rolling() {
    let text = r#"
format = "sarrus/1"
gravity = [0, 0, -10]
ground.shape = { kind = "half_space" }
bodies.ball = { at = [0, 0, 0.1], mass = 1, shape = { kind = "sphere", radius = 0.1 } }
contacts.floor = { between = ["ball", "ground"], method = "impulsive", friction = { mu = 0.2 } }
initial.ball.velocity = [3, 4, 0]
run = { t_end = 2, rtol = 1e-9, atol = 1e-11 }
"#;
    let outcome = run(text);
    let rolls = event(&outcome, "sticks");
    assert!((rolls.t - 2.0 * 5.0 / (7.0 * 0.2 * 10.0)).abs() < 1e-7, "{}", rolls.t);
    let last = |column: &str| outcome.trajectory.last(column).unwrap();
    assert!((last("ball.vx") - 15.0 / 7.0).abs() < 1e-7, "{}", last("ball.vx"));
    assert!((last("ball.vy") - 20.0 / 7.0).abs() < 1e-7, "{}", last("ball.vy"));
}

/// A bead on a hump: a gap given by an expression lets go where the floor would have to pull, at v² = g R cos φ.
#[test]
fn what_slides_down_a_dome_leaves_it_where_it_would_have_to_be_pulled() {
    let text = r#"
format = "sarrus/1"
space = "planar"
gravity = [0, -10]
bodies.bead = { at = ["sin(0.1)", "cos(0.1)"], mass = 1, kind = "point" }
contacts.dome = { gap = "hypot(bead.x, bead.y) - 1", method = "impulsive" }
run = { t_end = 1.2, rtol = 1e-10, atol = 1e-12 }
"#;
    let outcome = run(text);
    let leaves = event(&outcome, "parts");
    // cos φ = ⅔ cos φ₀
    let expected = 2.0 / 3.0 * 0.1_f64.cos();
    let t: Vec<f64> = outcome.trajectory.column("t").unwrap().collect();
    let k = t.iter().position(|t| *t >= leaves.t).unwrap();
    let y: Vec<f64> = outcome.trajectory.column("bead.y").unwrap().collect();
    let w = (leaves.t - t[k - 1]) / (t[k] - t[k - 1]);
    let at = y[k - 1] + w * (y[k] - y[k - 1]);
    assert!((at - expected).abs() < 1e-5, "{at} {expected}");
}

#[test]
fn every_explicit_integrator_meets_the_first_impacts() {
    for kind in ["rk4", "rk23", "rk45", "dop853", "abm"] {
        let integrator =
            Some(sarrus::model::settings::MethodChoice { kind: kind.into(), ..Default::default() });
        let outcome = run_with(
            &BALL.replace("t_end = 5", "t_end = 2"),
            RunOverrides { integrator, ..RunOverrides::default() },
        );
        assert_eq!(outcome.report.status, Status::Completed, "{kind}: {}", outcome.report.reason);
        let times: Vec<f64> = impacts(&outcome).iter().map(|e| e.t).collect();
        let first = 0.4515236409857309;
        assert!(
            (times[0] - first).abs() < 1e-6 && (times[1] - 2.6 * first).abs() < 1e-6,
            "{kind}: {times:?}"
        );
    }
}

/// Restitution of 0.97 from 0.1 mm: more than a hundred impacts in a thousandth of the run. None is cut short: they end after
/// √(2h/g) (1 + e)/(1 - e), and what is lost is m g h.
#[test]
fn frequent_impacts_are_not_cut_short() {
    let text = BALL
        .replace("restitution = 0.8", "restitution = 0.97")
        .replace("1.1]", "0.1001]")
        .replace("t_end = 5", "t_end = 40");
    let outcome = run(&text);
    let impacts = impacts(&outcome);
    let end = (2e-4 / 9.81_f64).sqrt() * 1.97 / 0.03;
    assert!(impacts.len() > 250, "{}", impacts.len());
    let last = impacts.last().unwrap().t;
    assert!((last - end).abs() < 1e-4 * end, "{last} for {end}");
    let dissipated = outcome.report.contacts[0].dissipated_normal;
    assert!((dissipated / (2.0 * 9.81 * 1e-4) - 1.0).abs() < 1e-6, "{dissipated}");
    assert!(outcome.trajectory.last("ball.vz").unwrap().abs() < 1e-12);
    assert!(outcome.report.certificate.passed);
}

/// A puck between two walls without loss keeps its speed, whatever the length of the run.
#[test]
fn impacts_without_loss_go_on() {
    let outcome = run(r#"
format = "sarrus/1"
space = "planar"
gravity = [0, 0]
bodies.left = { at = [0, 0], mass = 1, inertia = 1, shape = { kind = "half_space", on = [0, 0], axis_on = [1, 0] } }
bodies.puck = { at = [0.1, 0], mass = 1, inertia = 1, shape = { kind = "sphere", radius = 0.099 } }
joints.held = { kind = "fixed", bodies = ["ground", "left"], at = [0, 0] }
ground.shape = { kind = "half_space", on = [0.202, 0], axis_on = [-1, 0] }
contacts.a = { between = ["puck", "left"], method = "impulsive", restitution = 1 }
contacts.b = { between = ["puck", "ground"], method = "impulsive", restitution = 1 }
initial.puck.velocity = [10, 0]
run = { t_end = 1 }
"#);
    assert!(outcome.trajectory.column("puck.vx").unwrap().all(|v| (v.abs() - 10.0).abs() < 1e-6));
    assert!(outcome.report.contacts[0].onsets > 1000, "{}", outcome.report.contacts[0].onsets);
}

/// A bar that hangs from a pin and swings against a wall: the impulse goes through the pin. ω⁺ = -e ω⁻, the loss is ½ J_O ω² (1 - e²).
#[test]
fn an_impact_goes_through_joints() {
    let text = r#"
format = "sarrus/1"
space = "planar"
gravity = [0, 0]
points = { O = [0, 0], P = [0, -1] }
ground.shape = { kind = "half_space", on = [-0.5, 0], axis_on = [1, 0] }
bodies.bar = { from = "O", to = "P", mass = 3, inertia = 0.25, shape = { kind = "ends", length = 1, radius = 0.01, role = "contact" } }
joints.O = { kind = "revolute", bodies = ["ground", "bar"], at = "O" }
contacts.wall = { between = ["bar", "ground"], method = "impulsive", restitution = 0.5 }
initial.O.rate = -2
run = { t_end = 1, rtol = 1e-10, atol = 1e-12 }
"#;
    let outcome = run(text);
    let hit = impacts(&outcome)[0];
    // sin φ = 0.49 at the end's centre
    assert!((hit.t - 0.49_f64.asin() / 2.0).abs() < 1e-8, "{}", hit.t);
    let rate = outcome.trajectory.last("O.rate").unwrap();
    assert!((rate - 1.0).abs() < 1e-9, "{rate}");
    // J_O = 0.25 + 3/4
    assert!((hit.energy_lost - 0.5 * 4.0 * 0.75).abs() < 1e-9, "{}", hit.energy_lost);
}

/// Boxes thrown at a rough floor, both rules: no impact makes energy, and nothing is lost that is not booked.
#[test]
fn no_impact_makes_energy() {
    let mut seed = 12345_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / (1_u64 << 31) as f64
    };
    for k in 0..24 {
        let (e, mu) = (random(), 1.5 * random());
        let rule = ["newton", "poisson"][k % 2];
        let text = format!(
            r#"
format = "sarrus/1"
space = "planar"
gravity = [0, -10]
ground.shape = {{ kind = "half_space" }}
bodies.box = {{ at = [0, 0.4], angle = {}, mass = 1, shape = {{ kind = "box", size = [0.5, 0.2] }} }}
contacts.floor = {{ between = ["box", "ground"], method = "impulsive", rule = "{rule}", restitution = {e}, friction = {{ mu = {mu} }} }}
initial.box = {{ vx = {}, vy = {}, rate = {} }}
run = {{ t_end = 1, rtol = 1e-8, atol = 1e-10 }}
"#,
            3.0 * random(),
            6.0 * random() - 3.0,
            -4.0 * random(),
            20.0 * random() - 10.0
        );
        let outcome = run_with(&text, RunOverrides::default());
        let report = &outcome.report;
        if report.status == Status::Failed {
            // Painlevé's paradox is an answer
            assert!(report.reason.contains("Coulomb"), "{k}: {}", report.reason);
            continue;
        }
        assert!(!impacts(&outcome).is_empty());
        for hit in impacts(&outcome) {
            assert!(hit.energy_lost >= -1e-9, "{k}: {hit:?}");
        }
        assert_eq!(report.status, Status::Completed, "{k}: {}", report.reason);
        assert!(report.certificate.passed, "{k}: {:?} {:?}", report.certificate, report.notes);
    }
}

/// Places that stick on an edge and on four corners are redundant: no least-norm force need obey Coulomb's law there, while others do.
#[test]
fn a_box_that_tumbles_comes_to_rest_on_its_corners() {
    let text = "format = 'sarrus/1'
        ground.shape = { kind = 'half_space' }
        bodies.box = { at = [0, 0, 0.5], mass = 1, shape = { kind = 'box', size = [0.2, 0.1, 0.1] } }
        contacts.c = { between = ['box', 'ground'], method = 'impulsive', restitution = 0.3, friction = { mu = 0.4 } }
        initial.box.omega = [3, 1, 0.5]
        initial.box.velocity = [1, 0, 0]
        run = { t_end = 1.5 }";
    let model =
        load_str("box.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = std::sync::Arc::new(compile(&model).unwrap());
    let run = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap();
    assert_eq!(run.report.status, Status::Completed, "{}", run.report.reason);
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
    for column in ["box.vx", "box.vy", "box.vz", "box.wx", "box.wy", "box.wz"] {
        let v = run.trajectory.last(column).unwrap();
        assert!(v.abs() < 1e-8, "{column}: {v}");
    }
    // on one of its sides
    let z = run.trajectory.last("box.z").unwrap();
    assert!([0.05, 0.1].iter().any(|half| (z - half).abs() < 1e-7), "{z}");
}
