//! Rest with limits, locks, contacts and controllers, snap-through, beams that are rolled up, and shares of redundant joints, against closed forms
//! and against damped runs.

use sarrus::analysis::{
    CheckOptions, Equilibrium, EquilibriumOptions, OperatingPoint, SetupError, Simulate, check_with,
    equilibrium_with, modes, simulate,
};
use sarrus::prelude::*;
use std::f64::consts::{FRAC_PI_6, PI, TAU};
use std::sync::Arc;

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn rest(text: &str, load_steps: Option<u32>) -> Result<Equilibrium, SetupError> {
    let (model, system) = load(text);
    equilibrium_with(&model, &system, &EquilibriumOptions { load_steps }, &mut |_| {})
}

fn value(found: &Equilibrium, name: &str) -> f64 {
    found.report.values[name]
}

/// `name` at rest, which must be close to `expected`, with nothing left of the forces.
fn rests_at(text: &str, name: &str, expected: f64, tolerance: f64) {
    let found = rest(text, None).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let value = value(&found, name);
    assert!((value - expected).abs() <= tolerance, "{value} instead of {expected}:\n{text}");
    assert!(found.report.residual <= 1e-7, "{} left", found.report.residual);
}

/// The last value of a column of a run.
fn ends_at(text: &str, name: &str) -> f64 {
    let (model, system) = load(text);
    let run = simulate(&model, &system, &Simulate { record: true, ..Simulate::default() }, &mut ()).unwrap();
    run.trajectory.column(name).unwrap().last().unwrap()
}

fn refused(text: &str, name: &str) {
    let error = rest(text, None).unwrap_err();
    assert!(matches!(error, SetupError::NotStatic { .. }), "{error}");
    assert!(error.to_string().contains(name), "{error}");
    assert!(error.diagnostics()[0].hint.is_some());
}

/// A rod of 1 m and 2 kg on a hinge, level at the start.
fn arm(space: bool, more: &str) -> String {
    let (head, zero, axis) =
        if space { ("", ", 0", ", axis = [0, 0, 1]") } else { ("space = \"planar\"\n", "", "") };
    format!(
        "format = \"sarrus/1\"\n{head}gravity = [0, -9.81{zero}]\nrun.t_end = 20\n\
         bodies.a = {{ from = [0, 0{zero}], to = [1, 0{zero}], mass = 2 }}\n\
         joints.j = {{ kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0{zero}]{axis}, damping = 5{more} }}\n"
    )
}

#[test]
fn an_arm_rests_at_its_limit_or_lock_and_hangs_beyond_neither() {
    for space in [false, true] {
        for angle in [-0.1, -FRAC_PI_6, -1.2] {
            rests_at(&arm(space, &format!(", limits = [{angle}, 0.5]")), "j.angle", angle, 1e-12);
            rests_at(&arm(space, &format!(", lock_at = {angle}")), "j.angle", angle, 1e-12);
        }
        rests_at(&arm(space, ", lock_at = 0"), "j.angle", 0.0, 1e-12);
        rests_at(&arm(space, ", limits = [-2, 2], lock_at = -1.8"), "j.angle", -0.5 * PI, 1e-8);
        // m g l/2 cos of the angle
        let found = rest(&arm(space, ", limits = [\"-30 deg\", 1]"), None).unwrap();
        let torque = value(&found, "j.tz");
        assert!((torque - 9.81 * FRAC_PI_6.cos()).abs() < 1e-9, "{torque}");
        assert!(found.report.notes.iter().any(|n| n.contains("`j` rests at its limit")));
    }
    // held at its limit it has no degree of freedom
    let (model, system) = load(&arm(false, ", limits = [\"-30 deg\", 1]"));
    assert!(modes(&model, &system, OperatingPoint::Equilibrium).unwrap().modes.is_empty());
}

#[test]
fn a_limit_that_would_pull_lets_go() {
    // the start is at the upper limit, from which the weight draws away
    rests_at(&arm(false, ", limits = [-1, 0]"), "j.angle", -1.0, 1e-12);
    rests_at(&arm(false, ", limits = [-2, 0]"), "j.angle", -0.5 * PI, 1e-8);
}

#[test]
fn two_arms_with_limits_rest_where_a_damped_run_ends() {
    let text = "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 60\n\
        bodies.a = { from = [0, 0], to = [1, 0], mass = 2 }\n\
        bodies.b = { from = [1, 0], to = [2, 0], mass = 1 }\n\
        joints.j = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0], damping = 20, limits = [-0.7, 1] }\n\
        joints.k = { kind = \"revolute\", bodies = [\"a\", \"b\"], at = [1, 0], damping = 20, stiffness = 30, limits = [-0.1, 0.1] }\n";
    let found = rest(text, None).unwrap();
    for name in ["j.angle", "k.angle"] {
        let (rest, run) = (value(&found, name), ends_at(text, name));
        assert!((rest - run).abs() < 1e-8, "{name}: {rest} and {run}");
    }
}

/// A ball of radius 0.1 m and 2 kg above a floor.
fn ball(contact: &str) -> String {
    format!(
        "format = \"sarrus/1\"\nrun.t_end = 5\nground.shape = {{ kind = \"half_space\" }}\n\
         bodies.b = {{ at = [0, 0, 1], mass = 2, inertia = [0.01, 0.01, 0.01], shape = {{ kind = \"sphere\", radius = 0.1 }} }}\n\
         contacts.c = {{ between = [\"b\", \"ground\"], {contact} }}\n"
    )
}

#[test]
fn a_ball_rests_on_the_floor_that_it_falls_on() {
    rests_at(&ball("method = \"impulsive\", restitution = 0.5"), "b.z", 0.1, 1e-12);
    let soft = "law = { kind = \"linear\", stiffness = 1e4, damping = 100 }";
    rests_at(&ball(soft), "b.z", 0.1 - 2.0 * 9.81 / 1e4, 1e-12);
}

/// A block on an incline of 20 degrees, which is the world's x axis.
fn block(contact: &str) -> String {
    format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 2\nground.shape = {{ kind = \"half_space\" }}\n\
         gravity = [\"-9.81*sin(20 deg)\", \"-9.81*cos(20 deg)\"]\n\
         bodies.b = {{ at = [0, 0.1], mass = 2, inertia = 0.05, shape = {{ kind = \"box\", size = [0.4, 0.2] }} }}\n\
         contacts.slope = {{ between = [\"b\", \"ground\"], {contact} }}\n"
    )
}

#[test]
fn friction_holds_where_it_sticks_and_is_refused_where_the_way_counts() {
    let rigid =
        |mu: f64| block(&format!("method = \"impulsive\", friction = {{ kind = \"coulomb\", mu = {mu} }}"));
    // tan 20° is 0.364
    rests_at(&rigid(0.6), "b.x", 0.0, 1e-9);
    refused(&rigid(0.3), "`slope` slides");
    let bristle = "law = { kind = \"linear\", stiffness = 1e6, damping = 1000 }, friction = { kind = \"bristle\", mu = 0.6 }";
    refused(&block(bristle), "friction of contact `slope`");
}

#[test]
fn events_that_fire_on_the_way_are_refused_and_others_are_not() {
    let event =
        |when: &str| format!("{}events.e = {{ when = \"{when}\", lock = [\"j\"] }}\n", arm(false, ""));
    refused(&event("j.angle < -1"), "event `e`");
    rests_at(&event("j.angle < -2"), "j.angle", -0.5 * PI, 1e-8);
    let timed = rest(&event("t > 1"), None).unwrap();
    assert!(timed.report.notes.iter().any(|n| n.contains("event `e` waits for a time")));
}

/// A slider of 1 kg on a spring of 100 N/m, pulled back by 3 N and pushed by the output of `c`.
fn slider(controller: &str) -> String {
    format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [-3, 0]\nrun.t_end = 30\n\
         bodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
         joints.J = {{ kind = \"prismatic\", bodies = [\"ground\", \"b\"], at = [0, 0], stiffness = 100, damping = 20 }}\n\
         controllers.c = {{ {controller} }}\n\
         forces.f = {{ kind = \"actuator\", joint = \"J\", force = \"c.out\" }}\n"
    )
}

#[test]
fn controllers_come_to_rest_with_the_mechanism() {
    let error = "kind = \"pid\", input = \"0.2 - J.position\"";
    let at = |controller: &str, position: f64| rests_at(&slider(controller), "J.position", position, 1e-7);
    // 100 q = u - 3
    at(&format!("{error}, kp = 50"), 7.0 / 150.0);
    at(&format!("{error}, kp = 500, kd = 10, filter = 0.1"), 97.0 / 600.0);
    at(&format!("{error}, kp = 50, ki = 100"), 0.2);
    at(&format!("{error}, kp = 500, ki = 200"), 0.2);
    at(&format!("{error}, kp = 50, ki = 100, limits = [-5, 5]"), 0.02);
    at(&format!("{error}, kp = 50, ki = 100, period = 0.01"), 0.2);
    at("kind = \"sampled\", period = 0.01, outputs = { out = \"10 - 50*J.position\" }", 7.0 / 150.0);
    at(
        "kind = \"ode\", states = { x = 0 }, rates = { x = \"3*(20*(0.2 - J.position) - x)\" }, outputs = { out = \"x\" }",
        1.0 / 120.0,
    );
    // a cart that nothing but its controller holds
    let free = |controller: &str, position: f64, tolerance: f64| {
        let text = slider(controller).replace("stiffness = 100, ", "");
        rests_at(&text, "J.position", position, tolerance);
    };
    free(&format!("{error}, kp = 50, ki = 100"), 0.2, 1e-7);
    free("kind = \"sampled\", period = 0.01, outputs = { out = \"10 - 50*J.position\" }", 0.14, 1e-6);
    // a state that nothing reads may grow
    at("kind = \"ode\", states = { x = 0 }, rates = { x = \"1\" }, outputs = { out = \"13\" }", 0.1);
    // at rest what is delayed is what is sampled
    at("kind = \"sampled\", period = 0.01, delay = 0.02, outputs = { out = \"1\" }", -0.02);
    at(&format!("{error}, kp = 50, period = 0.01, delay = 0.02"), 7.0 / 150.0);
    free(&format!("{error}, kp = 50, ki = 20, period = 0.01, delay = 0.02"), 0.2, 1e-7);
    refused(
        &slider("kind = \"ode\", states = { x = 0 }, rates = { x = \"1\" }, outputs = { out = \"x\" }"),
        "controller `c`",
    );
}

/// A cart on a free slide that lags, integrals and samples alone keep in place, 0 = u - 3, rests where a run ends; one that they drive away
/// does not.
#[test]
fn controllers_alone_hold_a_cart() {
    let error = "kind = \"pid\", input = \"0.2 - J.position\"";
    let free = |controller: &str| slider(controller).replace("stiffness = 100, ", "");
    let ode = |rates: &str, out: &str| {
        free(&format!(
            "kind = \"ode\", states = {{ x = 0 }}, rates = {{ x = \"{rates}\" }}, outputs = {{ out = \"{out}\" }}"
        ))
    };
    for (text, position) in [
        (free(&format!("{error}, kp = 50, ki = 100, period = 0.01")), 0.2),
        (free(&format!("{error}, kp = 50, ki = 100, kd = 5, filter = 0.02, period = 0.01")), 0.2),
        (free(&format!("{error}, kp = 50, ki = 100, limits = [-5, 5], period = 0.01")), 0.2),
        (free(&format!("{error}, kp = 50, limits = [-5, 5], period = 0.01")), 0.14),
        (free(&format!("{error}, kp = 50, limits = [-5, 5]")), 0.14),
        (free(&format!("{error}, kp = 50, period = 0.01, delay = 0.02")), 0.14),
        (slider(&format!("{error}, kp = 50, ki = 100, limits = [-5, 5], period = 0.01")), 0.02),
        (ode("3*(50*(0.2 - J.position) - x)", "x"), 0.14),
        (ode("0.2 - J.position", "20*x + 30*(0.2 - J.position)"), 0.2),
        (ode("10*(50*sin(0.2 - J.position) - x)", "x"), 0.2 - 0.06_f64.asin()),
    ] {
        rests_at(&text, "J.position", position, 1e-7);
    }
    // a lag that pushes away
    assert!(rest(&ode("3*(-50*(0.2 - J.position) - x)", "x"), None).is_err());
}

/// Two springs of 100 N/m from (±1, 0) m to a mass of 1 kg at a height of 0.2 m, under a gravity of `share` times what they bear.
fn truss(share: f64) -> (String, f64) {
    let length = 1.04_f64.sqrt();
    // the force is largest where l³ = l₀ b²
    let most = length.cbrt();
    let high = (most * most - 1.0).sqrt();
    let weight = share * 200.0 * (length - most) * high / most;
    let text = format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, -{weight}]\n\
         bodies.p = {{ at = [0, 0.2], mass = 1, kind = \"point\" }}\n\
         forces.s1 = {{ kind = \"spring\", bodies = [\"ground\", \"p\"], ends = [[-1, 0], [0, 0.2]], stiffness = 100 }}\n\
         forces.s2 = {{ kind = \"spring\", bodies = [\"ground\", \"p\"], ends = [[1, 0], [0, 0.2]], stiffness = 100 }}\n"
    );
    (text, weight)
}

#[test]
fn a_truss_snaps_through_above_its_limit_load_and_a_note_says_where() {
    for share in [0.9, 1.01, 1.1, 1.5, 3.0] {
        let (text, weight) = truss(share);
        for load_steps in [None, Some(10)] {
            let found = rest(&text, load_steps).unwrap();
            let y = value(&found, "p.y");
            let l = y.hypot(1.0);
            let pull = 200.0 * (l - 1.04_f64.sqrt()) * -y / l;
            assert!((pull - weight).abs() < 1e-9, "{share}: {pull} instead of {weight}");
            assert_eq!(y < -0.2, share > 1.0, "{share}: {y}");
            let note = found.report.notes.iter().find(|n| n.contains("branch of rests ends"));
            assert_eq!(note.is_some(), share > 1.0, "{share}: {:?}", found.report.notes);
            if let Some(note) = note {
                let at: f64 = note.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
                assert!((at * share - 1.0).abs() < 1e-3 * share, "{at} of {share}");
            }
        }
    }
    let (text, _) = truss(1.1);
    assert!((value(&rest(&text, None).unwrap(), "p.y") + 0.23430).abs() < 1e-5);
}

/// A cantilever of 1 m with EI = 100 N m² under a moment that rolls it up `turns` times.
fn rolled(elements: u32, order: u32, revolutions: f64) -> String {
    format!(
        "format = \"sarrus/1\"\ngravity = [0, 0, 0]\n\
         sections.s = {{ kind = \"given\", EA = 1e6, GA = 1e6, EI = 100.0, rhoA = 1, rhoI = 0.01, GJ = 100 }}\n\
         flexible.b = {{ kind = \"beam\", from = [0, 0, 0], to = [1, 0, 0], section = \"s\", elements = {elements}, order = {order} }}\n\
         joints.c = {{ kind = \"fixed\", bodies = [\"ground\", \"b.start\"], at = [0, 0, 0] }}\n\
         forces.f = {{ kind = \"torque\", body = \"b.end\", torque = [0, 0, {}] }}\n",
        TAU * 100.0 * revolutions
    )
}

#[test]
fn a_spatial_beam_is_rolled_up_by_elements_that_turn_by_more_than_half() {
    for (elements, order, revolutions) in [(4, 5, 2.0), (2, 8, 1.02), (2, 8, 1.5), (1, 8, 0.75)] {
        let found = rest(&rolled(elements, order, revolutions), Some(20)).unwrap();
        let tip = format!("b.node{}", elements * order);
        let radius = 1.0 / (TAU * revolutions);
        let (x, y) = (radius * (TAU * revolutions).sin(), radius * (1.0 - (TAU * revolutions).cos()));
        let off = (value(&found, &format!("{tip}.x")) - x).hypot(value(&found, &format!("{tip}.y")) - y);
        assert!(off < 1e-8, "{revolutions} turns: off by {off}");
        for k in 0..=order {
            let moment = value(&found, &format!("b.element1.Mz{k}")) / (TAU * 100.0 * revolutions);
            assert!((moment - 1.0).abs() < 1e-9, "{revolutions} turns: {moment}");
        }
        assert!(found.report.residual < 1e-9);
    }
    // a full revolution within an element
    for (elements, revolutions) in [(1, 1.2), (2, 2.05)] {
        let beyond = rest(&rolled(elements, 8, revolutions), Some(30));
        assert!(beyond.is_err(), "{revolutions} turns: {beyond:?}");
    }
}

#[test]
fn an_unloaded_free_beam_is_at_rest() {
    for elements in [1, 4, 12, 30] {
        let text = format!(
            "format = \"sarrus/1\"\ngravity = [0, 0, 0]\nsections.s = {{ kind = \"rectangle\", width = 0.03, height = 0.01 }}\n\
             flexible.b = {{ kind = \"beam\", from = [0, 0, 0], to = [1, 0, 0], section = \"s\", material = \"aluminium\", elements = {elements} }}\n"
        );
        let found = rest(&text, None).unwrap();
        assert_eq!((found.report.iterations, found.report.residual), (0, 0.0));
    }
}

/// A body of 10 kg on pins at `at` with compliances `c`: the shares of least energy, C⁻¹Aᵀ(A C⁻¹Aᵀ)⁻¹w.
#[test]
fn pins_share_a_weight_with_the_least_energy_whatever_their_compliances() {
    let at = [[0.1, -0.2], [-0.4, 0.4], [0.9, 0.9], [0.3, 0.7]];
    for c in [[2.4e-7, 9e-8, 4.2e-7, 6.4e-7], [1e-5, 3e-8, 1e-8, 4e-6], [1e-3, 1e-9, 2e-6, 5e-12]] {
        let mut text = "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, -10]\nrun.t_end = 1\n\
             bodies.b = { at = [0, 0], mass = 10, inertia = 1 }\n"
            .to_string();
        for (i, ([x, y], c)) in at.iter().zip(c).enumerate() {
            text += &format!(
                "joints.p{i} = {{ kind = \"revolute\", bodies = [\"ground\", \"b\"], at = [{x}, {y}], compliance = {{ force = {c}, torque = 1e-3 }} }}\n"
            );
        }
        let (model, system) = load(&text);
        let options = CheckOptions { distribute: true, along: false };
        let report = check_with(&model, &system, options, &mut ()).unwrap();
        let found = report.distribution.unwrap();
        let forces: Vec<[f64; 2]> =
            found.reactions.iter().map(|r| [r.distributed[0], r.distributed[1]]).collect();
        // in equilibrium, and the way that each pin gives is that of one rigid motion (u, v, φ)
        let sum = |of: fn(&[f64; 2], &[f64; 2]) -> f64| -> f64 {
            at.iter().zip(&forces).map(|(p, f)| of(p, f)).sum()
        };
        let off = [sum(|_, f| f[0]), sum(|_, f| f[1]) - 100.0, sum(|p, f| p[0] * f[1] - p[1] * f[0])];
        assert!(off.iter().all(|x| x.abs() < 1e-6), "{off:?}");
        let gives: Vec<[f64; 2]> = forces.iter().zip(c).map(|(f, c)| f.map(|f| c * f)).collect();
        let largest = gives.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
        for i in 0..4 {
            for j in 0..i {
                let (dx, dy) = (at[i][0] - at[j][0], at[i][1] - at[j][1]);
                let stretch = dx * (gives[i][0] - gives[j][0]) + dy * (gives[i][1] - gives[j][1]);
                assert!(stretch.abs() < 1e-6 * largest, "{c:?}: {stretch} of {largest}");
            }
        }
    }
}

/// A bar on a hinge spring of 1 N m/rad under a force [-1.5, 0.01] N at its end, which is a perturbed pitchfork: θ = s (1.5 sin θ + 0.01 cos θ).
const PITCHFORK: &str = "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, 0]\n\
    bodies.a = { from = [0, 0], to = [1, 0], mass = 1 }\n\
    joints.j = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0], stiffness = 1, rest = 0 }\n\
    forces.f = { kind = \"force\", body = \"a\", at = [1, 0], force = [-1.5, 0.01] }\n";

#[test]
fn load_steps_of_any_number_stay_on_the_stable_branch_of_a_perturbed_pitchfork() {
    // the root of θ = 1.5 sin θ + 0.01 cos θ that is connected with θ = 0 without loads
    let mut angle = 1.5_f64;
    for _ in 0..50 {
        angle -=
            (angle - 1.5 * angle.sin() - 0.01 * angle.cos()) / (1.0 - 1.5 * angle.cos() + 0.01 * angle.sin());
    }
    for parts in [None, Some(1), Some(2), Some(3), Some(4), Some(5), Some(7), Some(8), Some(16)] {
        let found = rest(PITCHFORK, parts).unwrap();
        let at = value(&found, "j.angle");
        assert!((at - angle).abs() < 1e-9, "{parts:?}: {at} instead of {angle}");
        assert_eq!(found.report.stable, Some(true));
        assert!(found.report.load_steps.iter().all(|step| step.stable == Some(true)));
        assert!(found.report.notes.is_empty(), "{:?}", found.report.notes);
    }
}

#[test]
fn a_leaning_column_falls_to_its_side_in_load_steps() {
    // 10 θ = m g l/2 sin(θ + 0.01), on the side to which it leans
    let text = "format = \"sarrus/1\"\nspace = \"planar\"\n\
        bodies.a = { from = [0, 0], to = [\"sin(0.01)\", \"cos(0.01)\"], mass = 4 }\n\
        joints.j = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0], stiffness = 10, reads = 0 }\n";
    for parts in [None, Some(1), Some(2), Some(4), Some(8)] {
        let found = rest(text, parts).unwrap();
        let angle = -value(&found, "j.angle");
        let left = 10.0 * angle - 4.0 * 9.81 * 0.5 * (angle + 0.01).sin();
        assert!(angle > 1.0 && left.abs() < 0.02, "{parts:?}: {angle}, {left}");
        assert_eq!(found.report.stable, Some(true));
    }
}

#[test]
fn a_rest_that_is_not_stable_is_called_so() {
    let upright = "format = \"sarrus/1\"\nspace = \"planar\"\n\
        bodies.a = { from = [0, 0], to = [0, 1], mass = 4 }\n\
        joints.j = { kind = \"revolute\", bodies = [\"ground\", \"a\"], at = [0, 0], stiffness = K }\n";
    // upright it is stable for a spring of more than m g l/2
    for (stiffness, stable) in [(0.0, false), (19.0, false), (20.0, true)] {
        let text = upright.replace('K', &stiffness.to_string());
        let parts: &[Option<u32>] = if stiffness > 0.0 { &[None, Some(1), Some(3)] } else { &[None] };
        for parts in parts {
            let report = rest(&text, *parts).unwrap().report;
            assert_eq!(report.stable, Some(stable), "{stiffness} {parts:?}");
            let noted = report.notes.iter().any(|note| note.contains("this rest is not stable"));
            assert_eq!(noted, !stable, "{:?}", report.notes);
        }
    }
    // what is free is neither
    let free = "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, 0]\nbodies.a = { at = [0, 0], mass = 1, inertia = 1 }\n";
    assert_eq!(rest(free, None).unwrap().report.stable, None);
}

/// A cantilever of 1 m and EI = 1 N m² under a force at its end.
fn cantilever(stiffness: f64, force: [f64; 2]) -> String {
    format!(
        "format = \"sarrus/1\"\nspace = \"planar\"\ngravity = [0, 0]\n\
         sections.s = {{ kind = \"given\", rhoA = 1, rhoI = 1e-6, EA = {stiffness}, GA = {stiffness}, EI = 1 }}\n\
         flexible.b = {{ kind = \"beam\", from = [0, 0], to = [1, 0], section = \"s\", elements = 6, order = 4 }}\n\
         joints.c = {{ kind = \"fixed\", bodies = [\"ground\", \"b.start\"], at = [0, 0] }}\n\
         forces.f = {{ kind = \"force\", body = \"b.end\", force = [{}, {}] }}\n",
        force[0], force[1]
    )
}

#[test]
fn a_strut_beyond_its_critical_load_bends_to_the_side_of_a_small_force() {
    // the elastica at 1.5 times the critical load, of p = sin(α/2) with K(p)² = 1.5 (π/2)²: y = 2 p/√(P/EI)
    let load = 1.5 * PI * PI / 4.0;
    let complete = |p: f64| {
        let (mut a, mut g) = (1.0, (1.0 - p * p).sqrt());
        for _ in 0..30 {
            (a, g) = (0.5 * (a + g), f64::sqrt(a * g));
        }
        0.5 * PI / a
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = 0.5 * (low + high);
        if complete(p) < load.sqrt() { low = p } else { high = p }
    }
    let expected = 2.0 * low / load.sqrt();
    for side in [1e-2, 5e-2, 0.1] {
        for parts in [None, Some(1), Some(2), Some(4), Some(8)] {
            let found = rest(&cantilever(1e7, [-load, side]), parts).unwrap();
            let (y, reaction) = (value(&found, "b.node24.y"), value(&found, "c.fy"));
            assert!((y - expected).abs() < 0.05 * side + 1e-5, "{side} {parts:?}: {y} for {expected}");
            // rounding of EA over the length of an element
            assert!((reaction + side).abs() < 1e-8, "{side} {parts:?}: {reaction}");
            assert_eq!(found.report.stable, Some(true));
            assert!(found.report.notes.is_empty(), "{side} {parts:?}: {:?}", found.report.notes);
        }
    }
}

#[test]
fn a_small_load_bends_a_stiff_cantilever_in_proportion() {
    for stiffness in [1e5, 1e7] {
        for force in [1e-4, 1e-6, 1e-9] {
            let found = rest(&cantilever(stiffness, [0.0, force]), None).unwrap();
            // H l³/3EI + H l/GA
            let expected = force * (1.0 / 3.0 + 1.0 / stiffness);
            let y = value(&found, "b.node24.y");
            assert!((y - expected).abs() < 1e-6 * expected, "{stiffness} {force}: {y} for {expected}");
        }
    }
}
