//! The Adams methods: order, step and error, dense output, starts, rounding.

#[allow(dead_code)] // shared with the other tests
mod toy;

use sarrus_solve::integrators::{Because, Observer, Proceed, Samples, find, integrate};
use sarrus_solve::{
    GroupKind, Integrator, Ode, Options, State, StepControl, StepCounts, StepInfo, Structure, error_norm,
};
use toy::{PLAIN, Rates, Toy, body, body_at, distance, first_order, state_x};

/// Tolerances so loose that every step has the size asked for.
const LOOSE: f64 = 1e30;

fn abm(max_order: u32) -> Integrator {
    let mut options = Options::new();
    options.set("max_order", f64::from(max_order));
    (find("abm").unwrap().new)(&options).unwrap()
}

/// Error at the end of a run of the toy body, and what it cost.
fn orbit(method: &mut Integrator, tol: f64, end: f64) -> (f64, StepCounts) {
    let mut s = body_at(0.0, &PLAIN);
    let mut control = StepControl::new(tol, tol, None).unwrap();
    let ended = integrate(&mut body(), method, &mut control, &mut s, end, &mut Samples::none(), &mut ());
    assert_eq!(ended.because, Because::End);
    (distance(&s, &body_at(end, &PLAIN)), ended.counts)
}

/// Local extrapolation makes up for what errors of single steps add up to. Tens of tolerances are what e^{∫ 2 cos 2t} and two
/// rotations of an orbit make of them.
#[test]
fn the_error_follows_the_tolerance() {
    for k in 3..=13 {
        let tol = 10_f64.powi(-k);
        let (error, counts) = orbit(&mut abm(12), tol, 8.0);
        println!("{tol:.0e}: {error:.1e}, {counts:?}");
        assert!(error < 30.0 * tol, "error {error:e} at tolerance {tol:e}");
        assert!(error > 0.01 * tol, "error {error:e} at tolerance {tol:e}: steps too short");
    }
}

/// Error per step at order k: h^(k+1) goes with the tolerance. Four decades of it; steps come in sizes, hence the margin.
#[test]
fn steps_go_with_the_tolerance_as_the_highest_order_says() {
    for (order, loose, tight) in [(1, 1e-3, 1e-7), (2, 1e-4, 1e-8), (4, 1e-6, 1e-10), (6, 1e-8, 1e-12)] {
        let steps = |tol| orbit(&mut abm(order), tol, 16.0).1.steps as f64;
        let power = (steps(tight) / steps(loose)).log10() / 4.0;
        let expected = 1.0 / f64::from(order + 1);
        println!("order {order}: tol^-{power:.4}, expected {expected:.4}");
        assert!((power / expected - 1.0).abs() < 0.05, "order {order}: tol^-{power:.4}");
    }
}

#[test]
fn a_higher_order_takes_fewer_steps_where_the_solution_is_smooth() {
    let steps = [1, 2, 4, 8, 12].map(|order| orbit(&mut abm(order), 1e-9, 4.0).1.steps);
    assert!(steps.is_sorted_by(|a, b| 1.1 * *b as f64 <= *a as f64), "{steps:?}");
}

/// Two for each step, one for each trial given up, and a few for the start.
#[test]
fn right_sides_are_two_a_step_and_fewer_than_runge_kutta_methods_take() {
    let (_, c) = orbit(&mut abm(12), 1e-8, 8.0);
    assert!(c.rhs <= 2 * c.steps + c.rejected + 3, "{c:?}");
    let other = |name: &str| orbit(&mut (find(name).unwrap().new)(&Options::new()).unwrap(), 1e-8, 8.0).1.rhs;
    let (rk45, dop853) = (other("rk45"), other("dop853"));
    println!("abm {}, rk45 {rk45}, dop853 {dop853}", c.rhs);
    assert!(2 * c.rhs < rk45 && c.rhs < dop853, "abm {}, rk45 {rk45}, dop853 {dop853}", c.rhs);
}

/// ẋ = f(t), with steps of the given sizes in turn; what the last one adds, and what the interpolant adds from its start on.
fn last_step(
    method: &mut Integrator,
    f: impl Fn(f64) -> f64,
    sizes: &[f64],
) -> (f64, StepInfo, Vec<(f64, f64)>) {
    let mut ode = first_order(1, |s, (_, _, dx)| {
        dx[0] = f(s.t);
        Ok(())
    });
    let mut control = StepControl::new(LOOSE, LOOSE, None).unwrap();
    control.t_end = 1e3;
    let mut s = state_x(&[0.0]);
    method.prepare(ode.structure());
    let mut last = None;
    for h in sizes {
        control.step = Some(*h);
        let before = s.x[0];
        let info = method.step(&mut ode, &mut s, &mut control).unwrap();
        last = Some((s.x[0] - before, info, before));
    }
    let (added, info, before) = last.unwrap();
    let mut between = s.clone();
    let inside = [0.0, 0.15, 0.5, 0.8, 1.0].map(|x| {
        let t = info.t + x * info.h;
        method.dense(&mut ode, &mut control, t, &mut between).unwrap();
        (t, between.x[0] - before)
    });
    (added, info, inside.to_vec())
}

/// t^m over an uneven mesh, once the order is reached; also between the ends of the step.
#[test]
fn powers_of_time_are_integrated_exactly_up_to_the_order() {
    for order in 1..=12 {
        let sizes: Vec<f64> = (0..14).map(|i| 0.05 * [1.0, 0.8, 1.3, 0.7, 1.1][i % 5]).collect();
        let power = order as i32 + 1;
        let exact = |a: f64, b: f64| b.powi(power) - a.powi(power);
        let slope = |t: f64| f64::from(power) * t.powi(power - 1);
        let (added, info, inside) = last_step(&mut abm(order), slope, &sizes);
        assert!((added - exact(info.t, info.t + info.h)).abs() < 1e-14, "order {order}: {added}");
        for (t, found) in inside {
            assert!((found - exact(info.t, t)).abs() < 1e-14, "order {order} at {t}: {found}");
        }
    }
}

/// The errors of single steps, at their ends and inside, go with h^(k+2): one more than that of order k.
#[test]
fn dense_output_is_as_accurate_as_the_step() {
    for order in 1..=6 {
        let errors = |h: f64| {
            // the last of twelve steps begins at the same place
            let growth = |t: f64| (2.0 * (t - 11.0 * h)).exp();
            let (added, info, inside) = last_step(&mut abm(order), growth, &[h; 12]);
            let exact = |t: f64| 0.5 * (growth(t) - growth(info.t));
            let worst = inside.iter().fold(0.0, |e: f64, (t, x)| e.max((x - exact(*t)).abs()));
            [(added - exact(info.t + info.h)).abs(), worst]
        };
        let (coarse, fine) = (errors(0.1), errors(0.05));
        for (what, (coarse, fine)) in ["end", "inside"].iter().zip(coarse.iter().zip(fine)) {
            let observed = (coarse / fine).log2();
            println!("order {order}, {what}: {coarse:.1e} {fine:.1e} h^{observed:.2}");
            assert!((observed - f64::from(order + 2)).abs() < 0.5, "order {order}, {what}: h^{observed:.2}");
        }
    }
}

/// A pendulum of length 1 in the plane as (x, y, vx, vy); projected onto |p| = 1 after each step or not.
fn pendulum(projected: bool) -> impl Ode {
    let mut b = Structure::builder();
    b.column(2);
    b.group(GroupKind::Position, 0, 2);
    b.group(GroupKind::Velocity, 0, 2);
    let rhs = |s: &State, (dq, dv, _): Rates<'_>| {
        dq.copy_from_slice(&s.v);
        let pull = (s.v[0].powi(2) + s.v[1].powi(2) - 9.81 * s.q[1]) / (s.q[0].powi(2) + s.q[1].powi(2));
        dv[0] = -pull * s.q[0];
        dv[1] = -9.81 - pull * s.q[1];
        Ok(())
    };
    let project = move |s: &mut State| {
        if projected {
            let r = s.q[0].hypot(s.q[1]);
            s.q.iter_mut().for_each(|q| *q /= r);
            let out = s.v[0] * s.q[0] + s.v[1] * s.q[1];
            (0..2).for_each(|i| s.v[i] -= out * s.q[i]);
        }
        Ok(projected)
    };
    Toy { structure: b.build(2, 0).unwrap(), rhs, finish: project, evaluations: 0 }
}

fn swing(projected: bool, tol: f64) -> (State, StepCounts) {
    let mut s = State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.0, 0.0], x: vec![] };
    let mut control = StepControl::new(tol, tol, None).unwrap();
    let none = &mut Samples::none();
    let ended = integrate(&mut pendulum(projected), &mut abm(12), &mut control, &mut s, 5.0, none, &mut ());
    assert_eq!(ended.because, Because::End);
    (s, ended.counts)
}

/// Projection moves each end by about the error of the step: slopes at the moved ends serve the history as well.
#[test]
fn projection_costs_neither_order_nor_accuracy() {
    let exact = swing(true, 1e-14).0;
    for k in [4, 6, 8, 10, 12] {
        let tol = 10_f64.powi(-k);
        let ((moved, with), (_, without)) = (swing(true, tol), swing(false, tol));
        let error = distance(&moved, &exact);
        println!("{tol:.0e}: {error:.1e}, {with:?}, {without:?}");
        assert!(error < 300.0 * tol, "error {error:e} at tolerance {tol:e}");
        assert!(with.rhs as f64 <= 1.15 * without.rhs as f64, "{tol:e}: {with:?}, {without:?}");
    }
}

/// Steps of a run, with their ends.
#[derive(Default)]
struct Log(Vec<(StepInfo, State)>);

impl<O> Observer<O> for Log {
    fn step(&mut self, _: &mut O, s: &State, info: &StepInfo) -> Proceed {
        self.0.push((*info, s.clone()));
        Proceed::Continue
    }
}

#[test]
fn the_last_steps_share_what_is_left_and_none_fails_for_it() {
    let mut log = Log::default();
    let mut control = StepControl::new(1e-9, 1e-9, None).unwrap();
    let mut s = body_at(0.0, &PLAIN);
    let end = 2.0 * std::f64::consts::PI;
    integrate(&mut body(), &mut abm(12), &mut control, &mut s, end, &mut Samples::none(), &mut log);
    let steps: Vec<StepInfo> = log.0.iter().map(|(info, _)| *info).collect();
    let n = steps.len();
    assert_eq!(s.t, end);
    assert!((steps[n - 1].h / steps[n - 2].h - 1.0).abs() < 1e-9 && steps[n - 2].h >= 0.5 * steps[n - 3].h);
    assert!(steps[n - 2..].iter().all(|i| i.rejected == 0));
    // no step is more than twice the one before
    assert!(steps.windows(2).all(|i| i[1].h <= 2.0 * i[0].h * (1.0 + 1e-9)));
}

/// Returns what `method` does from `s`, for a few steps.
fn few_steps(method: &mut Integrator, s: &State, control: &mut StepControl) -> Vec<(f64, State)> {
    let mut s = s.clone();
    (0..5)
        .map(|_| {
            let info = method.step(&mut body(), &mut s, control).unwrap();
            (info.h, s.clone())
        })
        .collect()
}

#[test]
fn it_starts_anew_from_another_state_and_after_a_restart_only() {
    let control = || {
        let mut control = StepControl::new(1e-8, 1e-8, None).unwrap();
        control.t_end = 8.0;
        control
    };
    let warm = || {
        let (mut method, mut control, mut s) = (abm(12), control(), body_at(0.0, &PLAIN));
        method.prepare(body().structure());
        for _ in 0..40 {
            method.step(&mut body(), &mut s, &mut control).unwrap();
        }
        (method, control, s)
    };
    let fresh = |s: &State| {
        let mut method = abm(12);
        method.prepare(body().structure());
        few_steps(&mut method, s, &mut control())
    };

    // the state that it left: on it goes
    let (mut method, mut going, s) = warm();
    let on = few_steps(&mut method, &s, &mut going);
    assert!(on[0].0 > 10.0 * fresh(&s)[0].0);

    // another state, or other forces
    let (mut method, mut going, mut s) = warm();
    s.v[0] += 1e-3;
    assert_eq!(few_steps(&mut method, &s, &mut going), fresh(&s));
    let (mut method, mut going, s) = warm();
    going.restart();
    assert_eq!(few_steps(&mut method, &s, &mut going), fresh(&s));
}

/// ẍ = ±1, the sign changing at t = 1 without notice. No estimate knows where in its step the jump was; what is left of it goes with
/// the tolerance, some hundred times it with any method, and the step recovers.
#[test]
fn an_unannounced_jump_is_passed() {
    for tol in [1e-4, 1e-7, 1e-10] {
        let mut ode = first_order(2, |s, (_, _, dx)| {
            (dx[0], dx[1]) = (s.x[1] + (3.0 * s.t).cos(), if s.t < 1.0 { 1.0 } else { -1.0 });
            Ok(())
        });
        let mut s = state_x(&[0.0, 0.0]);
        let mut log = Log::default();
        let mut control = StepControl::new(tol, tol, None).unwrap();
        let none = &mut Samples::none();
        let ended = integrate(&mut ode, &mut abm(12), &mut control, &mut s, 3.0, none, &mut log);
        assert_eq!(ended.because, Because::End);
        // v = 1 at the jump, then 1 - (t - 1): x = 1/2 + 2 - 2 at t = 3
        let error = (s.x[0] - 0.5 - 9_f64.sin() / 3.0).abs().max((s.x[1] + 1.0).abs());
        println!("{tol:.0e}: {error:.1e}, {:?}", ended.counts);
        assert!(error < 500.0 * tol, "error {error:e} at tolerance {tol:e}");
        let largest = |range: std::ops::Range<f64>| {
            log.0.iter().filter(|(i, _)| range.contains(&i.t)).fold(0.0, |h: f64, (i, _)| h.max(i.h))
        };
        assert!(largest(1.0..3.0) > 0.3 * largest(0.0..1.0), "the step does not recover");
        assert!(ended.counts.rhs < 1200, "{:?}", ended.counts);
    }
}

/// A tolerance below rounding is one of a few units in the last place: it takes a bounded number of steps, and compensation keeps
/// the error there.
#[test]
fn tolerances_below_rounding_are_met_as_far_as_rounding_goes() {
    let steps = |tol| orbit(&mut abm(12), tol, 8.0);
    let (at_rounding, beyond) = (steps(1e-15), steps(1e-20));
    println!("{at_rounding:?} {beyond:?}");
    assert!(beyond.1.steps < 2 * at_rounding.1.steps && beyond.1.steps < 3000);
    // numbers of size 1 to 4: a few units in the last place, after a thousand steps
    assert!(beyond.0 < 1e-14 && at_rounding.0 < 1e-14);
}

#[test]
fn what_is_asked_of_the_order_is_checked() {
    for (value, fine) in
        [(1.0, true), (12.0, true), (0.0, false), (13.0, false), (2.5, false), (f64::NAN, false)]
    {
        let mut options = Options::new();
        options.set("max_order", value);
        let made = (find("abm").unwrap().new)(&options);
        assert_eq!(made.is_ok(), fine, "{value}");
        if let Ok(made) = made {
            assert_eq!((made.order(), made.dense_order()), (value as u32, value as u32));
        }
    }
    let mut options = Options::new();
    options.set("growth", 5.0);
    let error = (find("abm").unwrap().new)(&options).err().unwrap().to_string();
    assert_eq!(error, "option `growth` of `abm` is 5, must be between 1.1 and 2");
}

/// The error that a step reports is that of the group norm: nothing above the tolerance is accepted.
#[test]
fn no_step_above_the_tolerance_is_accepted() {
    let mut log = Log::default();
    let mut control = StepControl::new(1e-7, 1e-7, None).unwrap();
    let mut s = body_at(0.0, &PLAIN);
    let start = s.clone();
    integrate(&mut body(), &mut abm(12), &mut control, &mut s, 4.0, &mut Samples::none(), &mut log);
    assert!(log.0.iter().all(|(info, _)| info.error <= 1.0));
    // the true errors of steps, from the exact solution at both ends, are smaller than estimated: the better order is kept
    let structure = &body().structure;
    let mut before = start;
    for (info, s) in &log.0 {
        let mut gained = s.clone();
        let (exact0, exact1) = (body_at(info.t, &PLAIN), body_at(s.t, &PLAIN));
        let arrays = |s: &State| s.q.iter().chain(&s.v).chain(&s.x).copied().collect::<Vec<f64>>();
        let [a, b, c, d] = [&before, s, &exact0, &exact1].map(arrays);
        let errors: Vec<f64> = (0..a.len()).map(|i| (b[i] - a[i]) - (d[i] - c[i])).collect();
        let (q, rest) = errors.split_at(gained.q.len());
        let (v, x) = rest.split_at(gained.v.len());
        (gained.q, gained.v, gained.x) = (q.to_vec(), v.to_vec(), x.to_vec());
        let error = error_norm(structure, &control, &before, s, &gained);
        assert!(error < 3.0, "{error} at {}", info.t);
        before = s.clone();
    }
}
