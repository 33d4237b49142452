//! A continuous pid whose integral slides along the limit of its output.

use crate::common::{column, load, outcome};

fn text(set: f64, own: &str, run: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 2, inertia = 1 }}\n\
         joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0], stiffness = 30, damping = 0.5 }}\n\
         controllers.c = {{ kind = 'pid', input = '{set} - J.position', {own} }}\n\
         forces.f = {{ kind = 'actuator', joint = 'J', force = 'c.out' }}\nrun = {{ t_end = 2, {run} }}\noutput.every = 0.1\n"
    )
}

/// The same by brute force: the law of the integral as it is written, in very small steps of Heun's rule.
fn brute(set: f64, [kp, ki, kd]: [f64; 3], [lo, hi]: [f64; 2]) -> Vec<[f64; 2]> {
    let n = 400_000;
    let h = 2.0 / n as f64;
    let rate = |y: [f64; 3]| {
        let e = set - y[0];
        let demand = kp * e + ki * y[2] - kd * y[1];
        let out = demand.clamp(lo, hi);
        let outward = ki * e;
        let held = (demand > hi && outward > 0.0) || (demand < lo && outward < 0.0);
        [y[1], (out - 30.0 * y[0] - 0.5 * y[1]) / 2.0, if held { 0.0 } else { e }]
    };
    let mut y = [0.0; 3];
    let mut rows = vec![[0.0, 0.0]];
    for k in 1..=n {
        let a = rate(y);
        let b = rate(std::array::from_fn(|i| y[i] + h * a[i]));
        y = std::array::from_fn(|i| y[i] + 0.5 * h * (a[i] + b[i]));
        if k % (n / 20) == 0 {
            rows.push([y[0], y[2]]);
        }
    }
    rows
}

#[test]
fn an_integral_on_the_limit_follows_it_in_few_steps() {
    let cases = [
        (0.6, [10.0, 20.0, 1.0], [-6.0, 6.0]),
        (0.7, [10.0, 20.0, 1.0], [-6.0, 6.0]),
        (0.5, [10.0, 20.0, 1.0], [-6.0, 6.0]),
        (-0.6, [10.0, 20.0, 1.0], [-6.0, 6.0]),
        (0.6, [10.0, 20.0, 0.0], [-6.0, 6.0]),
        (0.6, [-10.0, -20.0, -1.0], [-6.0, 6.0]),
        (0.3, [5.0, 60.0, 0.5], [-1.0, 3.0]),
    ];
    for (set, gains, limits) in cases {
        let [kp, ki, kd] = gains;
        let own = format!("kp = {kp}, ki = {ki}, kd = {kd}, limits = {limits:?}");
        let run = outcome(&load(&text(set, &own, "rtol = 1e-9, atol = 1e-11")));
        let what = format!("{set} {own}");
        let steps = run.report.counts.steps + run.report.counts.rejected;
        assert!(steps < 1500, "{what}: {steps} steps");
        let (x, integral) = (column(&run.trajectory, "b.x"), column(&run.trajectory, "c.integral"));
        for (k, due) in brute(set, gains, limits).iter().enumerate() {
            assert!((x[k] - due[0]).abs() < 2e-5, "{what} at {k}: {} and {}", x[k], due[0]);
            assert!(
                (integral[k] - due[1]).abs() < 2e-5,
                "{what} at {k}: ∫e = {} and {}",
                integral[k],
                due[1]
            );
        }
    }
}

#[test]
fn tighter_tolerances_and_other_methods_slide_too() {
    let own = "kp = 10, ki = 20, kd = 1, limits = [-6, 6]";
    let fine = outcome(&load(&text(0.6, own, "rtol = 1e-11, atol = 1e-12")));
    let x = column(&fine.trajectory, "b.x");
    for (run, most) in [
        ("rtol = 1e-6", 1e-5),
        ("rtol = 1e-9, integrator = 'radau5'", 1e-6),
        ("rtol = 1e-9, atol = 1e-11, integrator = 'dop853'", 1e-7),
        ("step = 0.001, integrator = 'rk4'", 1e-6),
        ("rtol = 1e-9, atol = 1e-11, coordinates = 'joint'", 1e-7),
    ] {
        let other = outcome(&load(&text(0.6, own, run)));
        let worst =
            column(&other.trajectory, "b.x").iter().zip(&x).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(worst < most, "{run}: {worst}");
        assert!(other.report.counts.steps < 4000, "{run}: {} steps", other.report.counts.steps);
    }
    // with a filter, and of a speed
    let filtered = outcome(&load(&text(0.6, &format!("{own}, filter = 0.02"), "rtol = 1e-9, atol = 1e-11")));
    assert!(filtered.report.counts.steps < 1500, "{}", filtered.report.counts.steps);
    let speed =
        text(0.6, own, "rtol = 1e-9, atol = 1e-11").replace("J.position", "J.speed").replace("kd = 1, ", "");
    let steps = outcome(&load(&speed)).report.counts.steps;
    assert!(steps < 1500, "{steps}");
}

#[test]
fn an_event_that_sets_the_integral_ends_the_slide() {
    let own = "kp = 10, ki = 20, kd = 1, limits = [-6, 6]";
    let event = "events.e = { when = 't > 0.3', set = { c.integral = 0 }, once = true }\n";
    let run = outcome(&load(&format!("{}{event}", text(0.6, own, "rtol = 1e-9, atol = 1e-11"))));
    assert!(run.report.counts.steps < 2000, "{}", run.report.counts.steps);
    let integral = column(&run.trajectory, "c.integral");
    assert!(integral[4] < 0.5 * 0.6 * 0.1 + 0.06, "{integral:?}");
}
