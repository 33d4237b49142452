//! Sampled controllers: when they look, what they see, what they hold, with every integrator.
//!
//! The oracles are closed forms: between samples the force is constant, so that the motion from sample to sample is known.

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use sarrus::solve::integrators::{StaggeredForm, StaggeredMethod};
use sarrus::solve::staggered::{Epsilon, MultiplierController};
use sarrus::solve::{
    Dynamics, Integrator, Options, Problem, State, StepControl, formulations, stabilizations,
};
use std::sync::Arc;

#[allow(dead_code)]
#[path = "../../examples/controller_between_modules.rs"]
mod between_modules;

/// A mass of 1 kg that moves along x, under the force `F` and what `text` adds.
fn mass(force: &str, text: &str) -> String {
    format!(
        "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n\
         bodies.b = {{ kind = 'point', at = [1, 0], mass = 1 }}\n\
         forces.F = {{ kind = 'force', body = 'b', force = ['{force}', 0] }}\n{text}\n"
    )
}

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{}", all.join("\n"))
    });
    (model, Arc::new(system))
}

fn run_with(text: &str, overrides: RunOverrides) -> Outcome {
    let (model, system) = load(text);
    let outcome = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(outcome.report.status, Status::Completed, "{}", outcome.report.reason);
    outcome
}

/// A run with the integrator, its step where it has a fixed one, and samples.
fn run(text: &str, integrator: &str, step: Option<f64>, t_end: f64, every: f64) -> Outcome {
    let MethodText(chosen) = integrator.parse().unwrap();
    run_with(
        text,
        RunOverrides {
            integrator: Some(chosen),
            step,
            rtol: step.is_none().then_some(1e-10),
            atol: step.is_none().then_some(1e-12),
            t_end: Some(t_end),
            every: Some(every),
            ..RunOverrides::default()
        },
    )
}

/// Every integrator that there is a reason to distinguish, with a step for those that need one.
const INTEGRATORS: [(&str, Option<f64>); 8] = [
    ("rk4", Some(0.01)),
    ("rk45", None),
    ("dop853", None),
    ("abm", None),
    ("staggered", Some(1e-3)),
    ("staggered:form=paper", Some(1e-3)),
    ("staggered:form=one_step", Some(1e-3)),
    ("park1987", Some(1e-3)),
];

/// `x[k]` of a column at the rows.
fn column(outcome: &Outcome, name: &str) -> Vec<f64> {
    outcome.trajectory.column(name).unwrap_or_else(|| panic!("no column {name}")).collect()
}

/// ẍ = u - 9 x over `h`, u constant: an oscillation about u/9.
fn swing([x, v]: [f64; 2], u: f64, h: f64) -> [f64; 2] {
    let (w, rest) = (3.0, u / 9.0);
    let (sin, cos) = (w * h).sin_cos();
    [rest + (x - rest) * cos + v / w * sin, v * cos - w * (x - rest) * sin]
}

/// Proportional, derivative and summed error on an oscillator, against the exact motion from sample to sample.
///
/// Errors that are due to 2 s: of rk4 ωt (ωh)⁴/120 = 4e-8, of the staggered ones ωt (ωh)²/24 = 2e-6 (park1987 has four times
/// that), of the adaptive ones a hundred tolerances.
#[test]
fn a_sampled_controller_follows_the_exact_discrete_solution_with_every_integrator() {
    let text = mass(
        "c.u - 9*b.x",
        "controllers.c = { kind = 'sampled', period = 0.1, states = { i = 0.2 }, \
         update = { i = 'i + 0.1*(0.3 - b.x) + 0*u' }, outputs = { u = '8*(0.3 - b.x) - 4*b.vx + 3*i' } }\n\
         initial.b.vx = 0.5",
    );
    for (integrator, step) in INTEGRATORS {
        let allowed = match integrator {
            "rk4" => 1e-7,
            "park1987" => 4e-5,
            name if name.starts_with("staggered") => 1e-5,
            _ => 1e-8,
        };
        let outcome = run(&text, integrator, step, 2.0, 0.05);
        let [x, v, u, i] = ["b.x", "b.vx", "c.u", "c.i"].map(|name| column(&outcome, name));
        assert_eq!(x.len(), 41);
        let (mut y, mut sum) = ([1.0, 0.5], 0.2);
        for k in 0..=20 {
            let held = 8.0 * (0.3 - y[0]) - 4.0 * y[1] + 3.0 * sum;
            sum += 0.1 * (0.3 - y[0]);
            let found = [x[2 * k], v[2 * k], u[2 * k], i[2 * k]];
            // u takes on the errors of x and v by its gains
            for ((found, due), gain) in found.iter().zip([y[0], y[1], held, sum]).zip([1.0, 3.0, 20.0, 1.0]) {
                assert!((found - due).abs() < gain * allowed, "{integrator} k = {k}: {found} {due}");
            }
            if k < 20 {
                let half = swing(y, held, 0.05);
                assert!((x[2 * k + 1] - half[0]).abs() < allowed, "{integrator} k = {k}, between");
                assert!((u[2 * k + 1] - u[2 * k]).abs() < 1e-13, "{integrator}: not held");
            }
            y = swing(y, held, 0.1);
        }
    }
}

/// A block on a level rail, drawn along it at 30° by -κ times what the rail bears. A sample sees the force of the one
/// before: u_k = -κ (m g - u_{k-1} sin 30°), a geometric series, and between samples the acceleration is constant.
#[test]
fn a_controller_reads_the_reaction_that_holds_before_its_sample() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\n\
        bodies.block = { at = [0, 0], mass = 2, inertia = 0.1 }\n\
        joints.rail = { kind = 'prismatic', bodies = ['ground', 'block'], at = [0, 0] }\n\
        controllers.c = { kind = 'sampled', period = 0.02, outputs = { u = '-0.8*rail.fy' } }\n\
        forces.F = { kind = 'force', body = 'block', force = ['c.u*cos(30 deg)', 'c.u*sin(30 deg)'] }\n\
        forces.spin = { kind = 'torque', body = 'block', torque = 'c.u' }";
    for (integrator, step) in INTEGRATORS {
        // of staggered ones one step from sample to sample: the controller stands between the modules
        let step = step.map(|h| if integrator == "rk4" { h } else { 0.02 });
        let outcome = run(text, integrator, step, 0.4, 0.02);
        let [u, x, fy] = ["c.u", "rail.position", "rail.fy"].map(|name| column(&outcome, name));
        let (mut held, mut y) = (0.0, [0.0, 0.0]);
        for k in 0..=20 {
            held = -0.8 * (2.0 * 9.81 - 0.5 * held);
            assert!((u[k] - held).abs() < 1e-6, "{integrator} k = {k}: {} {held}", u[k]);
            // a row shows what holds from its time on
            assert!((fy[k] - (2.0 * 9.81 - 0.5 * held)).abs() < 1e-6, "{integrator} k = {k}: {}", fy[k]);
            assert!((x[k] - y[0]).abs() < 1e-8, "{integrator} k = {k}: {} {}", x[k], y[0]);
            let a = held * 30_f64.to_radians().cos() / 2.0;
            y = [y[0] + 0.02 * y[1] + 0.5 * 0.02 * 0.02 * a, y[1] + 0.02 * a];
        }
        // 21 terms of ratio 0.4: the sum of the series
        assert!((u[20] + 0.8 * 2.0 * 9.81 / 0.6).abs() < 1e-6);
    }
}

/// u = t says when the sample was taken.
#[test]
fn samples_fall_on_multiples_of_the_period_exactly() {
    // a switch of the force at a time that three periods miss by rounding, and an end that ten do
    let text = mass(
        "if(t < 0.3, 1, 2) + c.u",
        "controllers.c = { kind = 'sampled', period = 0.1, states = { n = 0 }, update = { n = 'n + 1' }, \
         outputs = { u = 't' } }",
    );
    for (integrator, step) in INTEGRATORS {
        for every in [0.1, 0.03] {
            let step = step.map(|_| 0.007);
            let outcome = run(&text, integrator, step, 0.7, every);
            // none of the 15 steps to a sample is one of rounding, at the switch and at the end neither
            assert!(step.is_none() || outcome.report.counts.steps == 105, "{:?}", outcome.report.counts);
            let [t, u, n] = ["t", "c.u", "c.n"].map(|name| column(&outcome, name));
            for ((t, u), n) in t.iter().zip(u).zip(n) {
                let k = (t / 0.1 + 1e-9).floor();
                // rounding of the time itself, and of dense output
                assert!((n - k - 1.0).abs() <= 1e-14, "{integrator} t = {t}: {n}");
                assert!((u - k * 0.1).abs() <= 4.0 * f64::EPSILON, "{integrator} t = {t}: {u}");
            }
        }
    }
    // far from the start nothing has accumulated
    let text = mass("0", "controllers.c = { kind = 'sampled', period = 0.01, outputs = { u = 't' } }");
    let outcome = run(&text, "dop853", None, 30.0, 0.01);
    for (k, u) in column(&outcome, "c.u").into_iter().enumerate() {
        assert!((u - k as f64 * 0.01).abs() <= f64::EPSILON * u.abs(), "{k}: {u}");
    }
}

#[test]
fn outputs_act_a_delay_after_their_sample() {
    for (delay, most) in [(0.04, 1), (0.1, 2), (0.25, 3), (0.3, 4)] {
        let text = mass(
            "c.u",
            &format!(
                "controllers.c = {{ kind = 'sampled', period = 0.1, delay = {delay}, outputs = {{ u = '1 + t' }} }}\n\
                 initial.c.u = -5"
            ),
        );
        let (_, system) = load(&text);
        assert_eq!(system.controllers[0].controller.states(), 1 + most);
        for (integrator, step) in
            [("rk4", Some(0.01)), ("dop853", None), ("abm", None), ("staggered", Some(0.01))]
        {
            let outcome = run(&text, integrator, step, 1.0, 0.01);
            let (mut v, mut last) = (0.0, 0.0);
            for ((t, u), found) in
                column(&outcome, "t").iter().zip(column(&outcome, "c.u")).zip(column(&outcome, "b.vx"))
            {
                let k = ((t - delay) / 0.1 + 1e-9).floor();
                let due = if k < 0.0 { -5.0 } else { 1.0 + 0.1 * k };
                assert!((u - due).abs() < 1e-12, "{integrator} delay {delay} t = {t}: {u} {due}");
                // delays are multiples of the time between rows: the force is constant between them
                assert!((found - v).abs() < 1e-9, "{integrator} delay {delay} t = {t}: {found} {v}");
                (v, last) = (v + 0.01 * due, *t);
            }
            assert_eq!(last, 1.0);
        }
    }
}

/// I_k = I_{k-1} + T e_k unless the output is cut off, the derivative from the filtered error before.
#[test]
fn a_pid_in_samples_follows_its_difference_equations() {
    for filter in [0.0, 0.05] {
        let key = if filter > 0.0 { ", filter = 0.05" } else { "" };
        let text = mass(
            "p.out",
            &format!(
                "controllers.p = {{ kind = 'pid', input = '2 - b.x - 0.1*b.vx', kp = 6, ki = 5, kd = 3, \
                 limits = [-2, 4], period = 0.1{key} }}"
            ),
        );
        for (integrator, step) in [("rk4", Some(0.01)), ("dop853", None), ("staggered", Some(0.1))] {
            let outcome = run(&text, integrator, step, 3.0, 0.1);
            let [x, out, integral] = ["b.x", "p.out", "p.integral"].map(|name| column(&outcome, name));
            let (mut y, mut sum, mut z, mut cut) = ([1.0, 0.0], 0.0, f64::NAN, 0);
            for k in 0..x.len() {
                let e = 2.0 - y[0] - 0.1 * y[1];
                let before = if k == 0 { e } else { z };
                let rate = (e - before) / (filter + 0.1);
                z = (filter * before + 0.1 * e) / (filter + 0.1);
                let wanted = 6.0 * e + 5.0 * (sum + 0.1 * e) + 3.0 * rate;
                if (wanted <= 4.0 || e < 0.0) && (wanted >= -2.0 || e > 0.0) {
                    sum += 0.1 * e;
                } else {
                    cut += 1;
                }
                let u = (6.0 * e + 5.0 * sum + 3.0 * rate).clamp(-2.0, 4.0);
                assert!((x[k] - y[0]).abs() < 1e-8, "{integrator} k = {k}: {} {}", x[k], y[0]);
                assert!((out[k] - u).abs() < 1e-6, "{integrator} k = {k}: {} {u}", out[k]);
                assert!((integral[k] - sum).abs() < 1e-8, "{integrator} k = {k}: {} {sum}", integral[k]);
                y = [y[0] + 0.1 * y[1] + 0.005 * u, y[1] + 0.1 * u];
            }
            assert!((2..20).contains(&cut), "{cut}");
        }
    }
}

/// Kinetic energy is ½ v² = ½ t² under a force of 1 N; the sum of what was read is its own.
#[test]
fn a_controller_reads_energies_measures_other_controllers_and_its_own_states() {
    let text = mass(
        "1",
        "measures.twice = '2*energy.kinetic'\n\
         controllers.lag = { kind = 'ode', states = { z = 1 }, rates = { z = 0 }, outputs = { o = 'z + t' } }\n\
         controllers.c = { kind = 'ode', period = 0.25, states = { s = 3, w = 0 }, \
         update = { w = 's', s = 's + u' }, outputs = { u = 'twice + lag.o + c.u' } }",
    );
    let outcome = run(&text, "dop853", None, 1.0, 0.25);
    let (mut u, mut s) = (0.0, 3.0);
    for k in 0..5 {
        let t = 0.25 * k as f64;
        // `c.u` is what acts before the sample, `u` in `update` the new one
        u += t * t + 1.0 + t;
        let w = s;
        s += u;
        let found = ["c.u", "c.s", "c.w"].map(|name| column(&outcome, name)[k]);
        for (found, due) in found.iter().zip([u, s, w]) {
            assert!((found - due).abs() < 1e-8, "k = {k}: {found} {due}");
        }
    }
}

#[test]
fn events_see_what_was_sampled_and_set_what_is_sampled() {
    let text = mass(
        "0",
        "controllers.c = { kind = 'sampled', period = 0.1, states = { n = 0 }, update = { n = 'n + 1' }, \
         outputs = { u = 't' } }\n\
         events.high = { when = 'c.u > 0.35', set = { c.n = '100 + c.n' }, once = true }\n\
         events.later = { when = 't > 0.62', set = { c.u = -1 } }",
    );
    for (integrator, step) in INTEGRATORS {
        let outcome = run(&text, integrator, step.map(|_| 0.03), 1.0, 0.05);
        let times: Vec<f64> = outcome.report.events.iter().map(|e| e.t).collect();
        assert_eq!(times.len(), 2, "{integrator}: {times:?}");
        // at the sample itself, not behind it
        assert_eq!(times[0], 0.4, "{integrator}");
        assert_eq!(*column(&outcome, "c.n").last().unwrap(), 111.0, "{integrator}");
        let u = column(&outcome, "c.u");
        assert!(
            (u[12] - 0.6).abs() < 1e-15 && u[13] == -1.0 && (u[14] - 0.7).abs() < 1e-15,
            "{integrator}: {u:?}"
        );
    }
}

/// A force that switches and a lock, both at 0.3 s, which three periods miss by rounding: y of the sample there is what holds
/// behind them, under the output of the sample before.
#[test]
fn a_sample_reads_what_holds_behind_what_switches_or_happens_at_its_instant() {
    let slide = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n\
        bodies.b = { at = [0, 0], mass = 1, inertia = 1 }\n\
        joints.r = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0] }\ninitial.r.speed = 1\n";
    let switched = format!(
        "{slide}controllers.c = {{ kind = 'sampled', period = 0.1, outputs = {{ u = 'r.fy' }} }}\n\
         forces.F = {{ kind = 'force', body = 'b', force = [0, '2*c.u + if(t < 0.3, 1, 2)'] }}"
    );
    let locked = format!(
        "{slide}controllers.c = {{ kind = 'sampled', period = 0.1, outputs = {{ u = 'r.speed' }} }}\n\
         events.stop = {{ when = 't >= 0.3', lock = ['r'] }}"
    );
    for (integrator, step) in INTEGRATORS {
        let step = step.map(|_| 0.02);
        // the rail bears the force on the block: u_k = -(2 u_{k-1} + 1), and from 0.3 s on -(2 u_{k-1} + 2)
        let u = column(&run(&switched, integrator, step, 0.5, 0.1), "c.u");
        let mut due = 0.0;
        for (k, u) in u.iter().enumerate() {
            due = -(2.0 * due + if k < 3 { 1.0 } else { 2.0 });
            assert!((u - due).abs() < 1e-9, "{integrator} k = {k}: {u} {due}");
        }
        let u = column(&run(&locked, integrator, step, 0.5, 0.1), "c.u");
        for (k, u) in u.iter().enumerate() {
            let due = if k < 3 { 1.0 } else { 0.0 };
            assert!((u - due).abs() < 1e-12, "{integrator} k = {k}: {u} {due}");
        }
    }
}

/// The rate of a locked joint is zero to rounding, on either side: samples must not take that for a condition which ceases
/// and holds again, no more than steps do.
#[test]
fn a_sample_arms_no_event_whose_condition_fails_by_rounding_alone() {
    let arms = |torque: &str| {
        format!(
            "format = 'sarrus/1'\nspace = 'planar'\n\
             bodies.arm = {{ at = [0.5, 0], mass = 1, inertia = 0.1 }}\n\
             bodies.arm2 = {{ at = [1.5, 0], mass = 1, inertia = 0.1 }}\n\
             joints.A = {{ kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }}\n\
             joints.B = {{ kind = 'revolute', bodies = ['arm', 'arm2'], at = [1, 0] }}\n\
             controllers.c = {{ kind = 'sampled', period = 0.01, outputs = {{ u = 'sin(10*t)' }} }}\n\
             forces.f = {{ kind = 'actuator', joint = 'A', torque = '{torque}' }}\n\
             events.stop = {{ when = 'B.rate >= 0 and t > 0.2', lock = ['B'] }}\n\
             initial.A.rate = 2\ninitial.B.rate = -1"
        )
    };
    for torque in ["c.u", "sin(10*t)"] {
        for (integrator, step) in [("dop853", None), ("rk4", Some(0.01)), ("staggered", Some(1e-3))] {
            let report = run(&arms(torque), integrator, step, 3.0, 0.1).report;
            assert_eq!(report.events.len(), 1, "{integrator}, {torque}: {:?}", report.events);
        }
    }
}

/// 0, 1, 0, 1, …: with `u > 0` the condition is false at its bound, which is no matter of rounding where a sample has led there.
#[test]
fn an_event_fires_at_every_rise_of_a_switch_that_is_sampled() {
    let text = mass(
        "0",
        "controllers.c = { kind = 'sampled', period = 0.1, states = { n = 0 }, update = { n = '1 - n' }, \
         outputs = { u = 'n' } }\n\
         controllers.rises = { kind = 'ode', states = { n = 0 }, rates = { n = 0 } }\n\
         events.up = { when = 'c.u > 0', set = { rises.n = 'rises.n + 1' } }",
    );
    for (integrator, step) in INTEGRATORS {
        let outcome = run(&text, integrator, step.map(|_| 0.03), 1.05, 0.05);
        let times: Vec<f64> = outcome.report.events.iter().map(|e| e.t).collect();
        let due = [0.1, 0.3, 0.5, 0.7, 0.9];
        assert_eq!(times.len(), due.len(), "{integrator}: {times:?}");
        assert!(times.iter().zip(due).all(|(t, due)| (t - due).abs() < 1e-15), "{integrator}: {times:?}");
        assert_eq!(column(&outcome, "rises.n").last(), Some(&5.0), "{integrator}");
    }
}

/// Times about 1 s are distinguished from 32 units in the last place on.
#[test]
fn a_period_as_short_as_times_can_be_told_apart_goes_on() {
    let text = mass(
        "0",
        "controllers.c = { kind = 'sampled', period = 1e-14, states = { n = 0 }, update = { n = 'n + 1' } }\n\
         run = { t_start = 0.5, t_end = 1, max_steps = 100 }",
    );
    let (model, system) = load(&text);
    for integrator in ["dop853", "rk4", "abm"] {
        let MethodText(chosen) = integrator.parse().unwrap();
        let overrides = RunOverrides { integrator: Some(chosen), ..RunOverrides::default() };
        let outcome = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
        let report = &outcome.report;
        assert_eq!((report.status, report.counts.steps), (Status::Stopped, 100), "{}", report.reason);
        assert!((report.t_end - 0.5 - 100e-14).abs() < 1e-15, "{integrator}: {:e}", report.t_end - 0.5);
    }
}

/// Three steps, or twelve, fall short of a period by 10⁻⁹ of it, or by 3·10⁻⁴: what is left over is no step like the others, and
/// must do no harm. With an output that never changes the motion is that of a constant force, and the error C h² as without
/// remnants; C may be that of steps twice as long, but not grow as h shrinks, as it would if remnants cost an order.
#[test]
fn steps_that_do_not_divide_the_period_leave_the_accuracy_of_the_method() {
    let text = |force: &str| {
        format!(
            "format = 'sarrus/1'\nspace = 'spatial'\n\
             bodies.block = {{ at = [0.5, 0, 0], mass = 2, shape = {{ kind = 'box', size = [1, 0.1, 0.1] }} }}\n\
             joints.hinge = {{ kind = 'spherical', bodies = ['ground', 'block'], at = [0, 0, 0] }}\n\
             controllers.c = {{ kind = 'sampled', period = 0.01, outputs = {{ u = 1 }} }}\n\
             forces.f = {{ kind = 'force', body = 'block', force = [0, '{force}', 0] }}"
        )
    };
    let rows =
        |outcome: &Outcome| ["block.y", "block.z", "block.vy", "block.vz"].map(|name| column(outcome, name));
    let exact = rows(&run(&text("1"), "dop853", None, 0.5, 0.01));
    let off = |text: &str, integrator: &str, h: f64| {
        let found = rows(&run(text, integrator, Some(h), 0.5, 0.01));
        let apart = exact.iter().zip(&found).flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| (a - b).abs());
        apart.fold(0.0, f64::max)
    };
    let rare = text("1").replace("period = 0.01", "period = 1");
    for integrator in ["staggered", "staggered:form=paper", "staggered:form=one_step", "park1987"] {
        for (missing, parts) in [(1e-9, 3.0), (1e-9, 12.0), (3e-4, 3.0), (3e-4, 12.0)] {
            let h = 0.01 / parts * (1.0 - missing);
            let (due, found) = (off(&rare, integrator, h), off(&text("c.u"), integrator, h));
            assert!(found < 4.0 * due, "{integrator}, {h}: {found:e}, {due:e} without");
        }
    }
}

/// The brake of the example: between the modules v = v₀ exp(-κ g t) to second order, sampled v_k = v₀ (1 - κ g h)^k.
#[test]
fn the_brake_of_the_example_is_of_second_order_in_rust_and_of_first_in_the_file() {
    let t_end = 1.0;
    let [x, v] = between_modules::exact(t_end);
    let error = |h: f64| {
        let last = *between_modules::run(h, t_end).unwrap().last().unwrap();
        assert!((last[3] - 2.0 * 9.81).abs() < 1e-9, "{last:?}");
        [(last[1] - x).abs(), (last[2] - v).abs()]
    };
    let (coarse, fine) = (error(0.02), error(0.01));
    assert!((1.9..2.1).contains(&(coarse[1] / fine[1]).log2()), "{coarse:?} {fine:?}");
    assert!(fine[0] < 1e-4 && fine[1] < 1e-4, "{fine:?}");

    let text = format!(
        "{}controllers.brake = {{ kind = 'sampled', period = 'run_step', outputs = {{ u = '-0.1*abs(rail.fy)*rail.speed' }} }}\n\
         forces.grip = {{ kind = 'actuator', joint = 'rail', force = 'brake.u' }}\n\
         parameters.run_step = 0.01\n",
        between_modules::MODEL
    );
    let outcome = run(&text, "staggered", Some(0.01), t_end, 0.01);
    for (k, speed) in column(&outcome, "rail.speed").into_iter().enumerate() {
        let due = 3.0 * (1.0 - 0.1 * 9.81 * 0.01_f64).powi(k as i32);
        assert!((speed - due).abs() < 1e-9, "k = {k}: {speed} {due}");
    }
    // half a step late: v κ g (h/2) (κ g t) in the exponent
    let apart = column(&outcome, "rail.speed").last().unwrap() - v;
    let due = -v * 0.981 * 0.981 * 0.01 / 2.0 * t_end;
    assert!((apart / due - 1.0).abs() < 0.02, "{apart:e} {due:e}");
}

/// Torque on the bar of a pendulum against its rate, by what the hinge bears.
struct Grip {
    rotation: usize,
    hinge: usize,
}

impl MultiplierController for Grip {
    fn act(&mut self, s: &State, lambda: &[f64], f: &mut [f64]) {
        f[self.rotation] -= 0.2 * lambda[self.hinge].hypot(lambda[self.hinge + 1]) * s.v[self.rotation];
    }
}

const PENDULUM: &str = "format = 'sarrus/1'\nspace = 'planar'\n\
    bodies.bar = { from = [0, 0], to = [1, 0], mass = 1 }\n\
    joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n";

/// The states of a model with a controller between the modules, at the start and after each step to 1 s; λ at the end.
fn between(text: &str, controller: impl MultiplierController + 'static, h: f64) -> (Vec<State>, Vec<f64>) {
    let (model, system) = load(text);
    let mut s = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap().state;
    let method = StaggeredMethod::new(StaggeredForm::Symmetric, Epsilon::Auto, 4, false)
        .with_controller(Box::new(controller));
    let mut method = Integrator::Staggered(Box::new(method));
    let mut mechanism = system.mechanism();
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let stabilization = stabilizations::make("none", &none).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    let mut control = StepControl::new(1e-6, 1e-8, Some(h)).unwrap();
    control.t_end = 1.0;
    method.prepare(dynamics.problem().structure());
    let mut states = vec![s.clone()];
    while s.t < 1.0 {
        method.step(&mut dynamics, &mut s, &mut control).unwrap();
        states.push(s.clone());
    }
    (states, method.multipliers().unwrap().to_vec())
}

/// Draws a block along its rail, and presses it on, by a part of what the rail bears.
struct Pull;

impl MultiplierController for Pull {
    fn act(&mut self, _: &State, lambda: &[f64], f: &mut [f64]) {
        f[0] += 0.3 * lambda[0].abs();
        f[1] -= 0.3 * lambda[0].abs();
    }
}

/// N = m g + 0.3 N; the force is there from the first step on, and is no stiff spring.
#[test]
fn a_controller_that_loads_the_joint_it_reads_runs_from_the_start() {
    let (states, lambda) = between(between_modules::MODEL, Pull, 0.01);
    let bears = 2.0 * 9.81 / 0.7;
    assert!((lambda[0].abs() - bears).abs() < 1e-6, "{lambda:?} {bears}");
    // no more than the first half of the first step is made with the N there is without the controller, m g
    let speed = 3.0 + 0.3 * bears / 2.0;
    let most = 0.5 * 0.01 * 0.3 * (bears - 2.0 * 9.81) / 2.0;
    let apart = states.last().unwrap().v[0] - speed;
    assert!(apart.abs() < most + 1e-9, "{apart:e} {most:e}");
}

/// The file's controller holds its torque from sample to sample and so acts half a step late: with `period` = `step` it
/// agrees with the one between the modules to first order in the step.
#[test]
fn a_sampled_controller_of_one_step_agrees_with_one_between_the_modules_to_first_order() {
    let apart = |h: f64| {
        let text = format!(
            "{PENDULUM}controllers.c = {{ kind = 'sampled', period = {h}, outputs = {{ u = '-0.2*hypot(A.fx, A.fy)*A.rate' }} }}\n\
             forces.grip = {{ kind = 'actuator', joint = 'A', torque = 'c.u' }}"
        );
        let outcome = run(&text, "staggered", Some(h), 1.0, h);
        let sampled = column(&outcome, "bar.angle");
        let (states, _) = between(PENDULUM, Grip { rotation: 2, hinge: 0 }, h);
        assert_eq!(sampled.len(), states.len());
        // and it does act: without it the bar is below -2 rad
        assert!((-1.6..-0.5).contains(sampled.last().unwrap()), "{sampled:?}");
        sampled.iter().zip(states).map(|(angle, s)| (angle - s.q[2]).abs()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (apart(0.02), apart(0.01));
    assert!((1.7..2.3).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
    assert!(fine < 0.02, "{fine}");
}

/// A force that changes at the start of a step must be evaluated there: two evaluations a step where there was one, and
/// nothing else is begun anew.
#[test]
fn a_sample_at_every_step_costs_the_staggered_procedure_one_evaluation_more() {
    let text = format!(
        "{PENDULUM}controllers.c = {{ kind = 'sampled', period = 0.01, outputs = {{ u = '-0.2*hypot(A.fx, A.fy)*A.rate' }} }}\n\
         forces.grip = {{ kind = 'actuator', joint = 'A', torque = 'c.u' }}"
    );
    let counts = |text: &str| run(text, "staggered", Some(0.01), 2.0, 1.0).report.counts;
    let (held, free) = (counts(&text), counts(PENDULUM));
    assert_eq!((held.steps, free.steps), (200, 200));
    // one for each sample within the run, none at its end
    assert!(held.rhs <= free.rhs + 200, "{} {}", held.rhs, free.rhs);
    assert!(free.rhs <= 200 + 20, "{}", free.rhs);
}

/// What is held has no error, and its size says nothing about that of states which are integrated.
#[test]
fn held_values_take_no_part_in_step_control() {
    let text = mass(
        "0",
        "controllers.a = { kind = 'sampled', period = 0.1, delay = 0.25, states = { x = 1e9 }, update = { x = 'x' }, \
         outputs = { u = '1e9', w = 't' } }\n\
         controllers.o = { kind = 'ode', states = { y = 1, z = 2 }, rates = { y = 'z', z = 0 } }\n\
         controllers.c = { kind = 'pid', input = '1', ki = 1 }",
    );
    let (_, system) = load(&text);
    let held = &system.controllers.iter().find(|c| c.name == "a").unwrap();
    assert_eq!(held.controller.states(), 3 + 3 * 2);
    let groups: Vec<_> =
        system.structure.groups.iter().filter(|g| g.kind == sarrus::solve::GroupKind::Auxiliary).collect();
    assert_eq!(groups.iter().map(|g| g.len).sum::<usize>(), 3);
    let inside = |g: &sarrus::solve::NormGroup| g.start < held.x + 9 && g.start + g.len > held.x;
    assert!(groups.iter().all(|g| !inside(g)), "{groups:?}");
}

#[test]
fn what_is_wrong_with_a_sampled_controller_is_said_with_a_hint() {
    let cases = [
        ("kind = 'sampled', outputs = { u = 1 }", "needs `period`", "time between samples"),
        ("kind = 'sampled', period = 0, outputs = { u = 1 }", "must be positive", ""),
        ("kind = 'pid', input = 1, kp = 1, period = -0.1", "must be positive", ""),
        (
            "kind = 'sampled', period = 1e-18, outputs = { u = 1 }",
            "too short to be distinguished from rounding",
            "7.1e-15 s",
        ),
        ("kind = 'sampled', period = 1, delay = -1, outputs = { u = 1 }", "must not be negative", ""),
        (
            "kind = 'sampled', period = 1e-3, delay = 2, outputs = { u = 1 }",
            "more than 1000 periods",
            "longer",
        ),
        ("kind = 'pid', input = 1, kp = 1, delay = 0.1", "needs `period`", "sampled"),
        ("kind = 'sampled', period = 1", "needs `states` or `outputs`", ""),
        ("kind = 'sampled', period = 1, states = { x = 1 }", "is not updated", "x = \"x\""),
        (
            "kind = 'sampled', period = 1, states = { x = 1 }, update = { x = 1, y = 2 }",
            "has no state `y`",
            "",
        ),
        ("kind = 'sampled', period = 1, states = { x = 1 }, rates = { x = 1 }", "has no key `rates`", ""),
        ("kind = 'sampled', period = 1, perod = 1, outputs = { u = 1 }", "has no key `perod`", "period"),
        ("kind = 'ode', states = { x = 1 }, update = { x = 1 }", "takes no `update`", "`period`"),
        ("kind = 'ode', period = 1, states = { x = 1 }, rates = { x = 1 }", "takes no `rates`", "`update`"),
        ("kind = 'sampled', period = 1, outputs = { u = 'b.fx' }", "`b` has no `fx`", "`b.x`"),
        ("kind = 'sampled', period = 1, outputs = { u = 'w', w = 1 }", "`w` is not known", ""),
        ("kind = 'transfer_function', input = 1", "not available yet", "`ode`"),
    ];
    for (text, message, hint) in cases {
        let text =
            mass("0", &format!("controllers.c = {{ {text} }}\nrun = {{ t_end = 1, max_steps = 1000 }}"));
        let model = load_str("model.toml", &text, &LoadOptions::default())
            .unwrap_or_else(|e| panic!("{}", e.render()));
        let error = match compile(&model) {
            Err(errors) => errors.iter().map(|e| e.render(&model.sources)).collect::<String>(),
            Ok(system) => {
                let system = Arc::new(system);
                let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
                // a check says the same
                let checked = check(&model, &system).unwrap_err();
                assert_eq!(error.to_string(), checked.to_string());
                error.diagnostics().iter().map(|e| e.render(&model.sources)).collect()
            }
        };
        assert!(error.contains(message) && error.contains(hint), "{text}\n{error}");
        assert!(error.contains("model.toml:"), "{error}");
    }
    // what acts in every evaluation of the forces still cannot read reactions
    let text = "format = 'sarrus/1'\nspace = 'planar'\nbodies.b = { at = [0, 0], mass = 2, inertia = 0.1 }\n\
        joints.r = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0] }\n\
        controllers.c = { kind = 'pid', input = 'r.fy', kp = 1 }";
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let errors = compile(&model).err().unwrap();
    assert!(errors[0].render(&model.sources).contains("known only after a step"));
}
