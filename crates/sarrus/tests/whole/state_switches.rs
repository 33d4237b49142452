//! Forces that switch or peak in positions and velocities, however narrow beside a step: their work and momentum are closed forms.

use crate::common::run_by;
use sarrus::analysis::MethodText;
use sarrus::model::functions::{Closure, Functions};
use sarrus::prelude::*;
use std::sync::Arc;

const INTEGRATORS: [&str; 4] = ["dop853", "rk45", "abm", "radau5"];
/// Where the force acts \[m\], on a way of 600 m.
const LIMIT: f64 = 317.3;

/// A body of 1 kg at 100 m/s along x for 6 s, under a force along it.
fn free(force: &str) -> String {
    format!(
        "format = 'sarrus/1'
        space = 'planar'
        gravity = [0, 0]
        run.t_end = 6
        output.every = 6
        tables.hill = {{ points = [[-1e9, 0], [-1, 0], [0, 1], [1, 0], [1e9, 0]] }}
        tables.stair = {{ points = [[-1, 0], [0, 1], [1, 0]], interpolation = 'step' }}
        bodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}
        initial.b.velocity = [100, 0]
        forces.f = {{ kind = 'force', body = 'b', force = ['{force}', 0] }}"
    )
}

fn last(outcome: &Outcome, column: &str) -> f64 {
    let index = outcome.trajectory.index(column).unwrap_or_else(|| panic!("no column {column}"));
    outcome.trajectory.rows().last().unwrap()[index]
}

/// Shapes of a force of height H around C, and their work over H W.
fn shapes() -> Vec<(&'static str, f64)> {
    let pi = std::f64::consts::PI;
    vec![
        ("if(b.x > C and b.x < C + W, H, 0)", 1.0),
        ("H*exp(-((b.x - C)/W)^2)", pi.sqrt()),
        ("H*(1 - tanh((b.x - C)/W)^2)", 2.0),
        ("H*max(0, 1 - abs(b.x - C)/W)", 1.0),
        ("H*max(0, 1 - ((b.x - C)/W)^2)", 4.0 / 3.0),
        ("H*(smoothstep(b.x, C - W, C) - smoothstep(b.x, C, C + W))", 1.0),
        ("H*pulse(b.x, C, W)", 1.0),
        ("H*(abs(b.x - C) < W)", 2.0),
        ("H*(tanh((b.x - C)/W + 1) - tanh((b.x - C)/W - 1))", 4.0),
        ("H*hill((b.x - C)/W)", 1.0),
        ("H*stair((b.x - C)/W)", 1.0),
        ("H*clamp(2 - abs(b.x - C)/W, 0, 1)", 3.0),
        ("H*(floor((b.x - C)/W) == 0)", 1.0),
    ]
}

#[test]
fn work_of_a_narrow_force_shows_in_the_speed() {
    let work = 200.0;
    for (shape, integral) in shapes() {
        for width in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
            let w = 600.0 * width;
            let numbers = [('H', work / w), ('W', w), ('C', LIMIT)];
            let force =
                numbers.iter().fold(shape.to_string(), |text, (c, x)| text.replace(*c, &format!("{x:?}")));
            let expected = (1e4 + 2.0 * work * integral).sqrt();
            for integrator in INTEGRATORS {
                let outcome = run_by(&free(&force), integrator, None);
                let error = (last(&outcome, "b.vx") - expected).abs();
                // kinks of a table are left to the error control
                let limit = if shape.contains("hill") { 5e-3 } else { 2e-4 };
                assert!(error < limit, "{force} by {integrator}: {error} off");
                assert!(outcome.report.counts.steps < 3000, "{force} by {integrator}: many steps");
            }
        }
    }
}

/// No note is about a force.
fn assert_silent(outcome: &Outcome, integrator: &str) {
    let notes = &outcome.report.notes;
    assert!(!notes.iter().any(|note| note.contains("force `f`")), "{integrator}: {notes:?}");
}

#[test]
fn a_force_that_switches_in_a_velocity_switches_there() {
    // 5 N up to 3 m/s, which is at 0.6 s, then 2 N
    let text = free("if(b.vx > 3, 2, 5)").replace("velocity = [100, 0]", "velocity = [0, 0]");
    for integrator in INTEGRATORS {
        let outcome = run_by(&text, integrator, None);
        let [v, x] = [last(&outcome, "b.vx"), last(&outcome, "b.x")];
        assert!((v - 13.8).abs() < 1e-7 && (x - 46.26).abs() < 1e-6, "{integrator}: {v} m/s at {x} m");
        assert!(!outcome.report.notes.iter().any(|note| note.contains("bounded")), "{integrator}");
    }
}

/// A wheel of 1 kg m² at 100 rad/s for 10 s, under a torque.
fn wheel(torque: &str) -> String {
    format!(
        "format = 'sarrus/1'
        space = 'planar'
        gravity = [0, 0]
        run.t_end = 10
        output.every = 10
        bodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}
        joints.A = {{ kind = 'revolute', bodies = ['ground', 'b'], at = [0, 0] }}
        initial.A.rate = 100
        forces.f = {{ kind = 'torque', body = 'b', torque = '{torque}' }}"
    )
}

#[test]
fn a_torque_that_switches_in_an_angle_acts_once_a_turn() {
    // the work of 160 turns
    for (torque, way) in [
        ("if(sin(A.angle) > 0.9999, 5, 0)", 2.0 * 0.9999f64.acos()),
        ("if(A.angle % (2*pi) < 0.02, 5, 0)", 0.02),
    ] {
        for integrator in INTEGRATORS {
            let outcome = run_by(&wheel(torque), integrator, None);
            let rate = last(&outcome, "A.rate");
            let expected = (1e4 + 2.0 * 160.0 * 5.0 * way).sqrt();
            assert!((rate - expected).abs() < 1e-5, "{torque} by {integrator}: {rate} for {expected}");
        }
    }
}

#[test]
fn a_one_sided_spring_returns_what_it_has_taken() {
    let text = free("-1e4*max(0, b.x - 0.3)").replace("velocity = [100, 0]", "velocity = [1, 0]");
    let expected = 0.3 - (6.0 - 0.3 - std::f64::consts::PI / 100.0);
    for integrator in INTEGRATORS {
        let outcome = run_by(&text, integrator, None);
        let [v, x] = [last(&outcome, "b.vx"), last(&outcome, "b.x")];
        assert!((v + 1.0).abs() < 1e-6 && (x - expected).abs() < 1e-5, "{integrator}: {v} m/s at {x} m");
        assert_silent(&outcome, integrator);
    }
}

/// The same with a function given by a program added, which is not looked into.
fn run_unsearched(text: &str, integrator: &str) -> Outcome {
    let mut functions = Functions::default();
    functions.add("nothing", Closure::new(1, |_| 0.0));
    let options = LoadOptions { functions, ..LoadOptions::default() };
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|_| panic!("{text}")));
    let MethodText(integrator) = integrator.parse().unwrap();
    let overrides = RunOverrides { integrator: Some(integrator), ..RunOverrides::default() };
    simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap()
}

/// Searching needs the dense output, which takes `dop853` three evaluations a step and `rk45` none.
#[test]
fn a_smooth_force_costs_no_step_more() {
    for force in [
        "-4*tanh(b.x)",
        "-4*sin(b.x)*exp(-0.1*b.x^2)/(1 + b.vx^2)",
        "-3*b.x - 0.1*b.vx^3",
        "-0.1*hypot(b.vx, b.vy)*b.vx",
        "-0.1*sqrt(b.vx^2 + b.vy^2 + 0.01)*b.vx - 2*b.x",
        "-2*b.x - 0.3*b.vx/sqrt(1 + b.vx^2)",
    ] {
        let text = free(force).replace("velocity = [100, 0]", "velocity = [1, 0.5]");
        let other = text.replace(force, &format!("{force} + nothing(b.x)"));
        for integrator in INTEGRATORS {
            let searched = run_by(&text, integrator, None).report;
            let plain = run_unsearched(&other, integrator).report;
            assert_eq!(searched.counts.steps, plain.counts.steps, "{force} by {integrator}");
            let most = if integrator == "dop853" { 3 * plain.counts.steps } else { 0 };
            let more = searched.counts.rhs - plain.counts.rhs;
            assert!(more <= most + 4, "{force} by {integrator}: {more} evaluations more");
            assert!(!searched.notes.iter().any(|note| note.contains("bounded")), "{:?}", searched.notes);
        }
    }
}

/// Drag in space, on a pendulum that spins: its speed comes near to zero and its velocity turns.
#[test]
fn drag_by_an_expression_is_bounded_without_a_note() {
    let speed = "sqrt(b.vx^2 + b.vy^2 + b.vz^2)";
    let text = format!(
        "format = 'sarrus/1'
        run.t_end = 10
        bodies.b = {{ from = [0, 0, 0], to = [1, 0, 0], mass = 1, shape = {{ kind = 'box', size = [1, 0.1, 0.1] }} }}
        joints.A = {{ kind = 'spherical', bodies = ['ground', 'b'], at = [0, 0, 0] }}
        initial.b.omega = [0, 0, 1]
        forces.f = {{ kind = 'force', body = 'b', force = ['-0.1*{speed}*b.vx', '-0.1*{speed}*b.vy', '-0.1*{speed}*b.vz'] }}"
    );
    let drag = text.replace("forces.f", "fluids.air = { density = 1 }\nforces.f");
    let (head, _) = drag.split_once("forces.f").unwrap();
    let own = format!(
        "{head}forces.f = {{ kind = 'drag', bodies = ['b'], fluid = 'air', isotropic = {{ coefficient = 0.2, area = 1 }} }}"
    );
    for integrator in INTEGRATORS {
        let outcome = run_by(&text, integrator, None);
        let report = &outcome.report;
        assert!(
            !report.notes.iter().any(|note| note.contains("bounded")),
            "{integrator}: {:?}",
            report.notes
        );
        let smooth = run_by(&own, integrator, None);
        assert_eq!(report.counts.steps, smooth.report.counts.steps, "{integrator}");
        for column in ["b.x", "b.y", "b.z"] {
            let apart = (last(&outcome, column) - last(&smooth, column)).abs();
            assert!(apart < 1e-9, "{column} by {integrator}: {apart}");
        }
    }
}

#[test]
fn a_fixed_step_that_passes_over_a_force_is_not_certified() {
    for (integrator, step) in [("rk4", 0.01), ("generalized_alpha", 0.01)] {
        for (force, met) in [
            ("if(b.x > 317.3 and b.x < 317.31, 1000, 0)", false),
            ("1e4*exp(-((b.x - 317.3)/1e-3)^2)", false),
            ("3*exp(-((b.x - 317.3)/60)^2)", true),
            ("-4*tanh(b.x - 300)", true),
        ] {
            let report = run_by(&free(force), integrator, Some(step)).report;
            let noted =
                report.notes.iter().any(|note| note.contains("force `f`") && note.contains("no stage"));
            assert_eq!(noted, !met, "{force} by {integrator}: {:?}", report.notes);
            assert!(met || !report.certificate.passed, "{force} by {integrator}");
        }
    }
}

/// A body of 1 kg at 1 m/s is braked by 3 N to rest at 1/3 s, and by 2 N at 1/2 s. There the force is either way.
#[test]
fn a_force_that_keeps_the_motion_at_its_switch_ends_the_run() {
    let input = "controllers.c = { kind = 'ode', outputs = { u = '-3*sign(b.vx)' } }";
    for (force, more, stop) in [
        ("-3*sign(b.vx)", "", 1.0 / 3.0),
        ("1 - 3*sign(b.vx)", "", 0.5),
        ("if(b.vx > 0, -3, if(b.vx < 0, 3, 0))", "", 1.0 / 3.0),
        ("-3*b.vx/abs(b.vx)", "", 1.0 / 3.0),
        ("c.u", input, 1.0 / 3.0),
    ] {
        let text = format!("{}\n{more}", free(force).replace("velocity = [100, 0]", "velocity = [1, 0]"));
        for integrator in ["dop853", "rk23", "rk45", "abm", "radau5", "bdf"] {
            let outcome = run_by(&text, integrator, None);
            let Report { status, reason, t_end, certificate, counts, .. } = &outcome.report;
            assert_eq!(*status, Status::Stopped, "{force} by {integrator}: {reason}");
            assert!(
                reason.contains("force `f`") && reason.contains("`coulomb`"),
                "{force} by {integrator}: {reason}"
            );
            assert!((t_end - stop).abs() < 1e-3 && !certificate.passed, "{force} by {integrator}: {t_end} s");
            assert!(counts.rhs < 200_000, "{force} by {integrator}: {} evaluations", counts.rhs);
        }
    }
}

#[test]
fn a_state_that_its_rate_keeps_at_a_switch_ends_the_run() {
    let more = "controllers.c = { kind = 'ode', states = { s = 1 }, rates = { s = '-3*sign(s)' } }";
    for integrator in ["dop853", "rk45", "abm", "radau5", "bdf"] {
        let report = run_by(&format!("{}\n{more}", free("0")), integrator, None).report;
        assert!(report.reason.contains("controller `c`") && !report.certificate.passed, "{integrator}");
        assert!(report.counts.rhs < 200_000, "{integrator}: {} evaluations", report.counts.rhs);
    }
}

/// Position and speed at `end` of what starts at 0 with 1 m/s under -3 sign(x) - v/2, from one crossing of 0 to the next.
fn relay(end: f64) -> [f64; 2] {
    let (mut t, mut v, c) = (0.0, 1.0f64, 0.5);
    loop {
        let top = v + 3.0 * v.signum() / c;
        let speed = |s: f64| v - top * (1.0 - (-c * s).exp());
        let position_at = |s: f64| top * (1.0 - (-c * s).exp()) / c - 3.0 * v.signum() * s / c;
        // back at 0 after less than without drag
        let (mut low, mut high) = (1e-3 * v.abs(), 2.0 * v.abs() / 3.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if position_at(middle) * v.signum() > 0.0 { low = middle } else { high = middle }
        }
        if t + low > end {
            return [position_at(end - t), speed(end - t)];
        }
        (t, v) = (t + low, speed(low));
    }
}

#[test]
fn a_relay_that_comes_nearer_and_nearer_to_its_switch_goes_on() {
    let text = free("-3*sign(b.x) - 0.5*b.vx").replace("velocity = [100, 0]", "velocity = [1, 0]");
    let [x, v] = relay(6.0);
    for integrator in INTEGRATORS {
        let outcome = run_by(&text, integrator, None);
        assert_eq!(outcome.report.status, Status::Completed, "{integrator}: {}", outcome.report.reason);
        let off = [last(&outcome, "b.x") - x, last(&outcome, "b.vx") - v];
        // each of some sixty passages is off by what the tolerances leave; those of implicit methods are a hundred times larger
        let limit = if integrator == "radau5" { 1e-4 } else { 1e-5 };
        assert!(off.iter().all(|off| off.abs() < limit), "{integrator}: {off:?}");
    }
}

#[test]
fn an_event_that_holds_by_a_billionth_of_its_range_is_met() {
    let run = |when: &str| {
        let text = free("0")
            .replace("forces.f", &format!("events.e = {{ when = '{when}', disable = ['f'] }}\nforces.f"));
        run_by(&text, "dop853", None).report
    };
    for least in ["1 - 1e-9", "1 - 1e-11"] {
        let report = run(&format!("b.x < 3 and sin(b.x) > {least}"));
        assert_eq!(report.events.len(), 1, "{least}");
        assert!((100.0 * report.events[0].t - std::f64::consts::FRAC_PI_2).abs() < 1e-4, "{least}");
    }
    let report = run("b.x < 3 and sin(b.x) > 1 - 1e-15");
    let noted = report.notes.iter().any(|note| note.contains("event `e`") && note.contains("rounding"));
    assert!(noted || report.events.len() == 1, "{:?}", report.notes);
}

/// A spring turns a cam up to the foot of a tooth, and cannot lift the follower over it: the kink of the constraint holds the shaft.
#[test]
fn a_kink_of_a_constraint_that_holds_the_motion_ends_the_run_by_name() {
    for half in [0.05, 0.3] {
        let text = format!(
            "space = 'planar'
            tables.lift = {{ points = [[-10, 0], [{}, 0], [0.8, 0.05], [{}, 0], [10, 0]] }}
            bodies.s = {{ at = [0, 0], mass = 1, inertia = 0.01 }}
            bodies.f = {{ at = [0, 1], mass = 5, inertia = 1 }}
            joints.S = {{ kind = 'revolute', bodies = ['ground', 's'], at = [0, 0], stiffness = 0.5, rest = 2, damping = 0.05 }}
            joints.F = {{ kind = 'prismatic', bodies = ['ground', 'f'], at = [0, 1], axis = [0, 1] }}
            constraints.c = {{ kind = 'expression', zero = 'F.position - lift(S.angle)' }}
            run = {{ t_end = 3, certify = {{ level = 'basic' }} }}",
            0.8 - half,
            0.8 + half
        );
        let (model, system) = crate::common::load(&text);
        let found =
            simulate(&model, &system, &Simulate { record: true, ..Simulate::default() }, &mut ()).unwrap();
        assert_eq!(found.report.status, sarrus::analysis::Status::Stopped, "{}", found.report.reason);
        assert!(
            found.report.reason.contains("constraint `c` keeps the motion at a kink"),
            "{}",
            found.report.reason
        );
        assert!(!found.report.certificate.passed);
        assert!((last(&found, "S.angle") - (0.8 - half)).abs() < 0.05, "{}", last(&found, "S.angle"));
    }
}
