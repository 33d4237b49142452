//! Describes what every integrator must do, over the registry, on problems with known solutions.

mod toy;

use sarrus_solve::integrators::{
    Because, Change, Ended, IntegratorKind, KINDS, Observer, Proceed, Samples, TakenStep, find, integrate,
};
use sarrus_solve::{
    GroupKind, Integrator, MethodView, Ode, Options, SolveError, State, StepControl, StepError, StepInfo,
    Structure, error_norm,
};
use toy::{PLAIN, Rates, Toy, body, body_at, distance, first_order, product, rotate, state_x};

/// Tolerances so loose that an adaptive method takes its largest step always.
const LOOSE: f64 = 1e30;

fn make(kind: &IntegratorKind) -> Integrator {
    (kind.new)(&Options::new()).unwrap()
}

fn by_name(name: &str) -> Integrator {
    make(find(name).unwrap())
}

/// Those that need no more than right-hand sides.
fn ode_kinds() -> impl Iterator<Item = &'static IntegratorKind> {
    KINDS.iter().filter(|k| k.view == MethodView::Ode)
}

fn adaptive_kinds() -> impl Iterator<Item = &'static IntegratorKind> {
    ode_kinds().filter(|k| k.adaptive)
}

/// Those whose order can be seen from steps of a given size.
fn kinds_of_one_order() -> impl Iterator<Item = &'static IntegratorKind> {
    ode_kinds().filter(|k| k.least_order == k.order)
}

fn run<O: Ode>(
    ode: &mut O,
    method: &mut Integrator,
    control: &mut StepControl,
    s: &mut State,
    t_end: f64,
) -> Ended {
    integrate(ode, method, control, s, t_end, &mut Samples::none(), &mut ())
}

/// Remembers everything.
#[derive(Default)]
struct Log {
    samples: Vec<State>,
    steps: Vec<StepInfo>,
    stop_after: Option<usize>,
}

impl<O> Observer<O> for Log {
    fn sample(&mut self, _: &mut O, s: &State) {
        self.samples.push(s.clone());
    }

    fn step(&mut self, _: &mut O, s: &State, info: &StepInfo) -> Proceed {
        assert_eq!(s.t, info.t + info.h);
        self.steps.push(*info);
        if Some(self.steps.len()) == self.stop_after { Proceed::Stop } else { Proceed::Continue }
    }
}

/// The largest errors along a run: of the orbit and of the orientation.
#[derive(Default)]
struct Errors([f64; 2]);

impl<O> Observer<O> for Errors {
    fn step(&mut self, _: &mut O, s: &State, _: &StepInfo) -> Proceed {
        let exact = body_at(s.t, &PLAIN);
        let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |e: f64, (a, b)| e.max((a - b).abs()));
        let now = [worst(&s.q[..3], &exact.q), worst(&s.q[3..], &exact.q[3..])];
        self.0 = [0, 1].map(|i| self.0[i].max(now[i]));
        Proceed::Continue
    }
}

/// Errors of `steps` equal steps over eight seconds of the toy body.
fn errors_of_fixed_steps(kind: &IntegratorKind, steps: u32) -> [f64; 2] {
    let end = 8.0;
    let mut s = body_at(0.0, &PLAIN);
    let mut control = StepControl::new(LOOSE, LOOSE, Some(end / f64::from(steps))).unwrap();
    let (mut method, none, mut errors) = (make(kind), &mut Samples::none(), Errors::default());
    let ended = integrate(&mut body(), &mut method, &mut control, &mut s, end, none, &mut errors);
    assert_eq!((ended.because, ended.counts.steps), (Because::End, u64::from(steps)), "{}", kind.name);
    errors.0
}

/// Enough steps to be in the asymptotic range, few enough that rounding (1e-16 a step) does not show: the finer
/// error is kept above 1e-13.
#[test]
fn every_method_converges_at_its_declared_order() {
    for kind in kinds_of_one_order() {
        let steps = match kind.order {
            1 => 20_000,
            8 => 64,
            _ => 500,
        };
        assert_eq!(make(kind).order(), kind.order, "{}", kind.name);
        assert_eq!(make(kind).is_adaptive(), kind.adaptive, "{}", kind.name);
        let (coarse, fine) = (errors_of_fixed_steps(kind, steps), errors_of_fixed_steps(kind, 2 * steps));
        for (what, (coarse, fine)) in ["orbit", "orientation"].iter().zip(coarse.iter().zip(fine)) {
            let observed = (coarse / fine).log2();
            println!("{}, {what}: {coarse:.2e} {fine:.2e} order {observed:.3}", kind.name);
            assert!(fine > 1e-13, "{}, {what}: {fine:e} is rounding", kind.name);
            let declared = f64::from(kind.order);
            assert!((observed - declared).abs() < 0.2, "{}, {what}: order {observed:.2}", kind.name);
        }
    }
}

/// Largest error inside one step of size `h` from a place that is in no way special.
fn error_inside_a_step(kind: &IntegratorKind, h: f64) -> f64 {
    let mut ode = body();
    let mut method = make(kind);
    let mut control = StepControl::new(LOOSE, LOOSE, Some(h)).unwrap();
    let start = 0.7;
    let mut s = body_at(start, &PLAIN);
    let mut between = s.clone();
    control.t_end = 10.0;
    method.prepare(ode.structure());
    method.step(&mut ode, &mut s, &mut control).unwrap();
    assert_eq!(s.t, start + h);
    (1..10)
        .map(|i| {
            let t = start + h * f64::from(i) / 10.0;
            method.dense(&mut ode, &mut control, t, &mut between).unwrap();
            let norm = between.q[3..].iter().map(|x| x * x).sum::<f64>();
            assert!((norm - 1.0).abs() < 1e-14, "{}: quaternion of length² {norm}", kind.name);
            distance(&between, &body_at(t, &PLAIN))
        })
        .fold(0.0, f64::max)
}

#[test]
fn dense_output_has_its_declared_order() {
    for kind in kinds_of_one_order() {
        let h = if kind.order == 8 { 0.15 } else { 0.02 };
        let (coarse, fine) = (error_inside_a_step(kind, h), error_inside_a_step(kind, 0.5 * h));
        let observed = (coarse / fine).log2() - 1.0;
        let declared = make(kind).dense_order();
        println!("{}: {coarse:.2e} {fine:.2e} order {observed:.3}", kind.name);
        assert!(fine > 1e-14, "{}: {fine:e} is rounding", kind.name);
        assert!((observed - f64::from(declared)).abs() < 0.2, "{}: order {observed:.2}", kind.name);
    }
}

/// A pendulum of length 1 in the plane as (x, y, vx, vy), brought back to |p| = 1 after each step.
fn pendulum() -> impl Ode {
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
    let project = |s: &mut State| {
        let r = s.q[0].hypot(s.q[1]);
        s.q.iter_mut().for_each(|q| *q /= r);
        let out = s.v[0] * s.q[0] + s.v[1] * s.q[1];
        (0..2).for_each(|i| s.v[i] -= out * s.q[i]);
        Ok(true)
    };
    Toy { structure: b.build(2, 0).unwrap(), rhs, finish: project, evaluations: 0 }
}

fn pendulum_at_start() -> State {
    State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.0, 0.0], x: vec![] }
}

/// Steps large enough that projection moves the state visibly; then the interpolant must still join the reported
/// states, and the slopes there.
#[test]
fn dense_output_joins_the_projected_states_smoothly() {
    for kind in ode_kinds() {
        let mut ode = pendulum();
        let mut method = make(kind);
        let mut control = StepControl::new(LOOSE, LOOSE, Some(0.1)).unwrap();
        control.t_end = 1.0;
        let mut s = pendulum_at_start();
        method.prepare(ode.structure());
        method.step(&mut ode, &mut s, &mut control).unwrap();
        let (mut before, mut after) = (s.clone(), s.clone());
        let tiny = 1e-7;
        method.dense(&mut ode, &mut control, s.t - tiny, &mut before).unwrap();
        let middle = s.clone();
        method.step(&mut ode, &mut s, &mut control).unwrap();
        method.dense(&mut ode, &mut control, middle.t + tiny, &mut after).unwrap();
        assert!((middle.q[0].hypot(middle.q[1]) - 1.0).abs() < 1e-15);
        for i in 0..2 {
            // second difference: a few times tiny² from curvature, but k tiny from a kink of k in the slope
            let kink = (after.q[i] - middle.q[i]) - (middle.q[i] - before.q[i]);
            assert!(kink.abs() < 100.0 * tiny * tiny, "{}: kink {kink:e}", kind.name);
        }
    }
}

fn error_at_tolerance(kind: &IntegratorKind, rtol: f64) -> f64 {
    let mut s = body_at(0.0, &PLAIN);
    let mut control = StepControl::new(rtol, rtol, None).unwrap();
    let ended = run(&mut body(), &mut make(kind), &mut control, &mut s, 2.0);
    assert_eq!(ended.because, Because::End);
    distance(&s, &body_at(2.0, &PLAIN))
}

/// Error per step is controlled, so the error at the end goes with tol^(p/(p+1)) or a little better.
#[test]
fn error_is_proportional_to_the_tolerance() {
    for kind in adaptive_kinds() {
        let tolerances: Vec<f64> = (4..=10).map(|k| 10_f64.powi(-k)).collect();
        let errors: Vec<f64> = tolerances.iter().map(|tol| error_at_tolerance(kind, *tol)).collect();
        println!("{}: {errors:?}", kind.name);
        for (tol, error) in tolerances.iter().zip(&errors) {
            assert!(*error < 50.0 * tol, "{}: error {error:e} at tolerance {tol:e}", kind.name);
        }
        for pair in errors.windows(3) {
            assert!(pair[2] < pair[0], "{}: {errors:?}", kind.name);
        }
        let slope = (errors[0] / errors[6]).log10() / 6.0;
        assert!((0.65..1.2).contains(&slope), "{}: error goes with tol^{slope:.2}", kind.name);
    }
}

#[test]
fn turning_the_world_axes_changes_no_step() {
    let axes = {
        let q = [0.3, -0.5, 0.7, 0.2_f64];
        let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        q.map(|x| x / norm)
    };
    for kind in adaptive_kinds() {
        let go = |axes: &[f64; 4]| {
            let mut s = body_at(0.0, axes);
            let mut log = Log::default();
            let mut control = StepControl::new(1e-6, 1e-8, None).unwrap();
            integrate(
                &mut body(),
                &mut make(kind),
                &mut control,
                &mut s,
                2.0,
                &mut Samples::none(),
                &mut log,
            );
            (s, log.steps)
        };
        let ((plain, a), (rotated, b)) = (go(&PLAIN), go(&axes));
        assert_eq!(a.len(), b.len(), "{}", kind.name);
        for (a, b) in a.iter().zip(&b) {
            assert!((a.h / b.h - 1.0).abs() < 1e-6, "{}: {a:?} {b:?}", kind.name);
        }
        let back = State {
            q: rotate(&axes, &plain.q).into_iter().chain(product(&axes, &plain.q[3..])).collect(),
            v: rotate(&axes, &plain.v).into_iter().chain(plain.v[3..].to_vec()).collect(),
            ..plain
        };
        assert!(distance(&back, &rotated) < 1e-10, "{}", kind.name);
    }
}

/// One oscillator among many numbers at rest, at any place: the same steps as alone.
#[test]
fn what_rests_and_what_order_it_comes_in_changes_no_step() {
    let go = |kind: &IntegratorKind, n: usize, at: usize| {
        let mut ode = first_order(2 * n, move |s, (_, _, dx)| {
            dx.fill(0.0);
            dx[2 * at] = s.x[2 * at + 1];
            dx[2 * at + 1] = -100.0 * s.x[2 * at];
            Ok(())
        });
        let mut s = state_x(&vec![0.0; 2 * n]);
        s.x[2 * at] = 1.0;
        let mut log = Log::default();
        let mut control = StepControl::new(1e-6, 1e-8, None).unwrap();
        integrate(&mut ode, &mut make(kind), &mut control, &mut s, 1.0, &mut Samples::none(), &mut log);
        log.steps
    };
    for kind in adaptive_kinds() {
        let alone = go(kind, 1, 0);
        assert_eq!(alone, go(kind, 1000, 0), "{}", kind.name);
        assert_eq!(alone, go(kind, 1000, 999), "{}", kind.name);
    }
}

/// A structure of `count` groups of `len` numbers of one kind, and nothing else.
fn structure(kind: GroupKind, len: usize, count: usize) -> Structure {
    let mut builder = Structure::builder();
    (0..count).for_each(|i| builder.group(kind, i * len, len));
    let of = |own: bool| if own { count * len } else { 0 };
    builder.build(of(kind != GroupKind::Auxiliary), of(kind == GroupKind::Auxiliary)).unwrap()
}

#[test]
fn many_turns_do_not_loosen_an_angle() {
    let control = StepControl::new(1e-6, 1e-9, None).unwrap();
    let angle = |theta: f64| State { q: vec![theta], ..State::default() };
    let angles = structure(GroupKind::Angle, 1, 1);
    let norm = |theta: f64| error_norm(&angles, &control, &angle(theta), &angle(theta), &angle(1e-6));
    assert_eq!(norm(0.0), norm(1e6));
    assert!((norm(0.0) - 1e-6 / (1e-6 + 1e-9)).abs() < 1e-12);
}

/// A small planar turn measured as an angle and as a quaternion.
#[test]
fn a_planar_body_is_measured_as_a_spatial_one() {
    let control = StepControl::new(1e-6, 1e-9, None).unwrap();
    let small = 1e-7;
    let at = |q: &[f64]| State { q: q.to_vec(), ..State::default() };
    let angle = structure(GroupKind::Angle, 1, 1);
    let planar = error_norm(&angle, &control, &at(&[0.0]), &at(&[0.0]), &at(&[small]));
    let rotation = structure(GroupKind::Rotation, 4, 1);
    let spatial =
        error_norm(&rotation, &control, &at(&PLAIN), &at(&PLAIN), &at(&[0.0, 0.0, 0.0, 0.5 * small]));
    assert!((planar / spatial - 1.0).abs() < 1e-14);
}

#[test]
fn an_estimate_that_is_not_a_number_is_never_hidden_by_others() {
    let control = StepControl::new(1e-6, 1e-9, None).unwrap();
    let x = |x: &[f64]| state_x(x);
    let both = structure(GroupKind::Auxiliary, 1, 2);
    let norm = |d: &[f64]| error_norm(&both, &control, &x(&[1.0, 1.0]), &x(&[1.0, 1.0]), &x(d));
    assert!(norm(&[f64::NAN, 1.0]).is_nan());
    assert!(norm(&[1.0, f64::NAN]).is_nan());
    assert!(norm(&[1.0, 0.0]).is_finite());
}

/// The second number is as rough as can be, but in no group.
#[test]
fn numbers_in_no_group_do_not_control_the_step() {
    for kind in adaptive_kinds() {
        let go = |noise: f64| {
            let mut ode = first_order(1, move |s, (_, _, dx)| {
                dx[0] = -s.x[0];
                dx[1] = noise * (1e4 * s.t).sin();
                Ok(())
            });
            ode.structure.nx = 2;
            let mut control = StepControl::new(1e-6, 1e-8, None).unwrap();
            run(&mut ode, &mut make(kind), &mut control, &mut state_x(&[1.0, 0.0]), 3.0).counts
        };
        assert_eq!(go(0.0), go(1e3), "{}", kind.name);
    }
}

fn broken(row: usize) -> SolveError {
    SolveError::Inconsistent { row, residual: 1.0 }
}

#[test]
fn a_run_that_cannot_go_on_keeps_what_it_has() {
    for kind in ode_kinds() {
        let mut ode = first_order(1, |s, (_, _, dx)| {
            dx[0] = s.x[0];
            if s.t > 1.0 { Err(broken(7)) } else { Ok(()) }
        });
        let mut s = state_x(&[1.0]);
        let mut log = Log::default();
        let mut control = StepControl::new(1e-6, 1e-8, (!kind.adaptive).then_some(0.05)).unwrap();
        let mut samples = Samples::every(0.0, 0.1, 2.0);
        let ended = integrate(&mut ode, &mut make(kind), &mut control, &mut s, 2.0, &mut samples, &mut log);
        let Because::Failed(StepError::Solve { t, source }) = ended.because else {
            panic!("{}: {ended:?}", kind.name);
        };
        assert_eq!(source, broken(7));
        assert!(t > 1.0 && t < 1.1, "{}: t = {t}", kind.name);
        assert_eq!(ended.at, s.t);
        assert!((0.94..=1.06).contains(&s.t), "{}: at = {}", kind.name, s.t);
        assert!(log.samples.len() >= 10, "{}", kind.name);
        assert_eq!(log.samples[0].x, [1.0]);
        if kind.adaptive {
            assert!(
                (1.0 - 1e-12..1.0 + 1e-12).contains(&s.t) || kind.order == 8,
                "{}: at = {}",
                kind.name,
                s.t
            );
        }
    }
}

/// The right-hand side exists only within 0.05 of the last accepted state.
#[test]
fn a_failing_stage_shortens_an_adaptive_step() {
    for kind in adaptive_kinds() {
        let accepted = std::cell::Cell::new(0.0);
        let mut ode = first_order(1, |s, (_, _, dx)| {
            dx[0] = 1.0;
            if (s.x[0] - accepted.get()).abs() > 0.05 { Err(broken(0)) } else { Ok(()) }
        });
        let mut noting = Toy {
            structure: ode.structure.clone(),
            rhs: &mut ode.rhs,
            finish: |s: &mut State| {
                accepted.set(s.x[0]);
                Ok(false)
            },
            evaluations: 0,
        };
        let mut s = state_x(&[0.0]);
        let mut control = StepControl::new(1e-3, 1e-3, None).unwrap();
        let ended = run(&mut noting, &mut make(kind), &mut control, &mut s, 1.0);
        assert_eq!(ended.because, Because::End, "{}", kind.name);
        assert!(ended.counts.rejected > 0, "{}", kind.name);
        assert!((s.x[0] - 1.0).abs() < 1e-12, "{}", kind.name);
    }
}

/// The end of a step longer than 0.01 is refused, as a projection that does not converge would be.
#[test]
fn a_step_that_cannot_be_finished_is_shortened_or_reported() {
    for kind in ode_kinds() {
        let last = std::cell::Cell::new(0.0);
        let mut ode = Toy {
            structure: first_order(1, |_, _| Ok(())).structure,
            rhs: |s: &State, (_, _, dx): Rates<'_>| {
                dx[0] = s.t;
                Ok(())
            },
            finish: |s: &mut State| {
                if s.t - last.get() > 0.01 {
                    s.x[0] = f64::NAN;
                    return Err(StepError::Project { t: s.t, source: broken(3) });
                }
                last.set(s.t);
                Ok(false)
            },
            evaluations: 0,
        };
        let mut s = state_x(&[0.0]);
        let mut control = StepControl::new(1e-3, 1e-3, Some(0.1)).unwrap();
        let ended = run(&mut ode, &mut make(kind), &mut control, &mut s, 0.5);
        if kind.adaptive {
            assert_eq!(ended.because, Because::End, "{}", kind.name);
            assert!((s.x[0] - 0.125).abs() < 1e-12, "{}: {}", kind.name, s.x[0]);
        } else {
            assert_eq!(ended.because, Because::Failed(StepError::Project { t: 0.1, source: broken(3) }));
            assert_eq!(s, state_x(&[0.0]));
        }
    }
}

/// x = 1/(1 - t) leaves the numbers at t = 1.
#[test]
fn a_solution_that_ends_is_not_stepped_over() {
    for kind in adaptive_kinds() {
        let mut ode = first_order(1, |s, (_, _, dx)| {
            dx[0] = s.x[0] * s.x[0];
            Ok(())
        });
        let mut s = state_x(&[1.0]);
        let mut control = StepControl::new(1e-8, 1e-8, None).unwrap();
        let ended = run(&mut ode, &mut make(kind), &mut control, &mut s, 2.0);
        let Because::Failed(StepError::StepTooSmall { t, h_min }) = ended.because else {
            panic!("{}: {ended:?}", kind.name);
        };
        assert!((t - 1.0).abs() < 1e-5, "{}: t = {t}", kind.name);
        assert!(h_min > 0.0 && h_min < 1e-12);
        assert!(s.is_finite());
    }
}

#[test]
fn a_least_step_is_respected() {
    for kind in adaptive_kinds() {
        let mut options = Options::new();
        options.set("min_step", 1e-3);
        let mut method = (kind.new)(&options).unwrap();
        let mut ode = first_order(1, |s, (_, _, dx)| {
            dx[0] = s.x[0] * s.x[0];
            Ok(())
        });
        let mut control = StepControl::new(1e-8, 1e-8, None).unwrap();
        let ended = run(&mut ode, &mut method, &mut control, &mut state_x(&[1.0]), 2.0);
        let Because::Failed(StepError::StepTooSmall { h_min, .. }) = ended.because else {
            panic!("{}: {ended:?}", kind.name);
        };
        assert_eq!(h_min, 1e-3);
    }
}

#[test]
fn rates_that_are_not_numbers_end_the_run() {
    for kind in ode_kinds() {
        let mut ode = first_order(1, |s, (_, _, dx)| {
            dx[0] = if s.t > 0.5 { f64::NAN } else { 1.0 };
            Ok(())
        });
        let mut s = state_x(&[0.0]);
        let mut control = StepControl::new(1e-6, 1e-6, Some(0.1)).unwrap();
        let ended = run(&mut ode, &mut make(kind), &mut control, &mut s, 1.0);
        assert!(matches!(ended.because, Because::Failed(_)), "{}: {ended:?}", kind.name);
        assert!(s.is_finite() && s.t < 0.61, "{}", kind.name);
        assert!(ended.counts.rhs < 2000, "{}: {:?}", kind.name, ended.counts);
    }
}

#[test]
fn the_end_is_hit_exactly() {
    for kind in ode_kinds() {
        for (end, step) in [(1.0, 0.1), (0.7, 0.1), (1.0, 0.3), (std::f64::consts::PI, 0.01), (1e-3, 0.5)] {
            let mut ode = first_order(1, |s, (_, _, dx)| {
                dx[0] = -s.x[0];
                Ok(())
            });
            let mut s = state_x(&[1.0]);
            let mut log = Log::default();
            let mut control = StepControl::new(1e-4, 1e-6, Some(step)).unwrap();
            let none = &mut Samples::none();
            let ended = integrate(&mut ode, &mut make(kind), &mut control, &mut s, end, none, &mut log);
            assert_eq!((ended.at, s.t, ended.because), (end, end, Because::End), "{}", kind.name);
            assert!(log.steps.iter().all(|i| i.h <= step * (1.0 + 1e-12)), "{}", kind.name);
            if !kind.adaptive {
                let n = (end / step - 1e-6).ceil() as usize;
                assert_eq!(log.steps.len(), n, "{}", kind.name);
                for (i, info) in log.steps.iter().enumerate() {
                    assert_eq!(info.t, i as f64 * step, "{}", kind.name);
                }
            }
        }
    }
}

#[test]
fn no_sliver_is_left_before_the_end() {
    for kind in adaptive_kinds() {
        let mut ode = first_order(1, |_, (_, _, dx)| {
            dx[0] = 1.0;
            Ok(())
        });
        let mut log = Log::default();
        let mut control = StepControl::new(1e-4, 1e-6, Some(0.1)).unwrap();
        let mut s = state_x(&[0.0]);
        let none = &mut Samples::none();
        integrate(&mut ode, &mut make(kind), &mut control, &mut s, 1.0001, none, &mut log);
        assert!(log.steps.iter().all(|i| i.h > 0.049), "{}: {:?}", kind.name, log.steps);
    }
}

#[test]
fn the_step_asked_for_is_the_first_and_largest() {
    for kind in adaptive_kinds() {
        let mut ode = first_order(1, |s, (_, _, dx)| {
            dx[0] = -1e-3 * s.x[0];
            Ok(())
        });
        let mut log = Log::default();
        let mut control = StepControl::new(1e-4, 1e-6, Some(0.01)).unwrap();
        let mut s = state_x(&[1.0]);
        let none = &mut Samples::none();
        integrate(&mut ode, &mut make(kind), &mut control, &mut s, 1.0, none, &mut log);
        assert_eq!(log.steps[0].h, 0.01, "{}", kind.name);
        assert_eq!(log.steps.len(), 100, "{}", kind.name);
    }
}

#[test]
fn a_fixed_step_method_without_a_step_takes_a_thousand() {
    let mut ode = first_order(1, |_, (_, _, dx)| {
        dx[0] = 1.0;
        Ok(())
    });
    let mut control = StepControl::new(1e-6, 1e-8, None).unwrap();
    let ended = run(&mut ode, &mut by_name("rk4"), &mut control, &mut state_x(&[0.0]), 2.0);
    assert_eq!((ended.counts.steps, control.step), (1000, Some(0.002)));
}

#[test]
fn the_slope_at_the_end_is_used_again_unless_the_step_was_corrected() {
    // evaluations in 100 steps: without and with a correction, before which `dop853` searches for stiffness every 20 steps
    let expected = [
        ("euler", 100, 100),
        ("rk4", 400, 400),
        ("rk23", 301, 400),
        ("rk45", 601, 700),
        ("dop853", 1200, 1204),
    ];
    for (name, untouched, corrected) in expected {
        for (changed, evaluations) in [(false, untouched), (true, corrected)] {
            let toy = first_order(1, |s, (_, _, dx)| {
                dx[0] = s.t.cos();
                Ok(())
            });
            let mut ode = Toy {
                structure: toy.structure,
                rhs: toy.rhs,
                finish: move |_: &mut State| Ok(changed),
                evaluations: 0,
            };
            let mut control = StepControl::new(LOOSE, LOOSE, Some(0.1)).unwrap();
            let ended = run(&mut ode, &mut by_name(name), &mut control, &mut state_x(&[0.0]), 10.0);
            assert_eq!(ended.counts.steps, 100);
            assert_eq!(ended.counts.rhs, evaluations, "{name}, changed: {changed}");
            assert_eq!(ended.counts.rhs, ode.evaluations);
        }
    }
}

#[test]
fn samples_come_in_order_at_their_times_and_agree_with_the_solution() {
    for kind in adaptive_kinds() {
        let mut s = body_at(0.0, &PLAIN);
        let mut log = Log::default();
        let mut control = StepControl::new(1e-9, 1e-9, None).unwrap();
        let mut samples = Samples::every(0.0, 0.003, 2.0);
        integrate(&mut body(), &mut make(kind), &mut control, &mut s, 2.0, &mut samples, &mut log);
        assert_eq!(log.samples.len(), 668, "{}", kind.name);
        for (i, sample) in log.samples.iter().enumerate() {
            let t = if i == 667 { 2.0 } else { i as f64 * 0.003 };
            assert_eq!(sample.t, t, "{}", kind.name);
            let error = distance(sample, &body_at(t, &PLAIN));
            assert!(error < 1e-7, "{}: error {error:e} at {t}", kind.name);
        }
        assert_eq!(log.samples[667], s);
    }
}

#[test]
fn samples_beyond_one_call_are_kept_for_the_next() {
    let mut ode = first_order(1, |_, (_, _, dx)| {
        dx[0] = 1.0;
        Ok(())
    });
    let mut s = state_x(&[0.0]);
    let mut log = Log::default();
    let mut control = StepControl::new(1e-6, 1e-6, None).unwrap();
    let mut method = by_name("rk45");
    let mut samples = Samples::new([-1.0, 0.0, 0.2, 0.5, 0.9, 1.5].into_iter());
    for end in [0.4, 0.5, 1.0, 0.7] {
        integrate(&mut ode, &mut method, &mut control, &mut s, end, &mut samples, &mut log);
    }
    let times: Vec<f64> = log.samples.iter().map(|s| s.t).collect();
    assert_eq!(times, [0.0, 0.2, 0.5, 0.9]);
    assert_eq!(s.t, 1.0, "time does not run backwards");
}

/// Cuts the step in which π/3 lies.
#[derive(Default)]
struct Cutter(Log);

impl<O: Ode> Observer<O> for Cutter {
    fn sample(&mut self, ode: &mut O, s: &State) {
        self.0.sample(ode, s);
    }

    fn cut(&mut self, step: &mut TakenStep<'_, O>) -> Result<Option<f64>, StepError> {
        let t = std::f64::consts::FRAC_PI_3;
        let inside = step.info.t < t && t <= step.end.t;
        if inside {
            assert_eq!(step.at(t)?.1.t, t);
        }
        Ok(inside.then_some(t))
    }

    fn step(&mut self, ode: &mut O, s: &State, info: &StepInfo) -> Proceed {
        self.0.step(ode, s, info)
    }
}

#[test]
fn a_step_that_is_cut_ends_there_and_the_run_can_go_on() {
    for kind in KINDS.iter().filter(|k| k.view == MethodView::Ode && k.order > 1) {
        let mut s = body_at(0.0, &PLAIN);
        let mut log = Cutter::default();
        let mut control = StepControl::new(1e-9, 1e-9, (!kind.adaptive).then_some(1e-3)).unwrap();
        let (mut ode, mut method) = (body(), make(kind));
        let mut samples = Samples::every(0.0, 0.1, 2.0);
        let ended = integrate(&mut ode, &mut method, &mut control, &mut s, 2.0, &mut samples, &mut log);
        let t = std::f64::consts::FRAC_PI_3;
        assert_eq!((ended.because, ended.at, s.t), (Because::Cut, t, t), "{}", kind.name);
        assert_eq!(log.0.samples.len(), 11, "{}: samples up to the cut only", kind.name);
        let error = distance(&s, &body_at(t, &PLAIN));
        assert!(error < 1e-7, "{}: error {error:e} at the cut", kind.name);
        let ended = integrate(&mut ode, &mut method, &mut control, &mut s, 2.0, &mut samples, &mut log);
        assert_eq!((ended.because, log.0.samples.len()), (Because::End, 21), "{}", kind.name);
        let error = distance(&s, &body_at(2.0, &PLAIN));
        assert!(error < 1e-7, "{}: error {error:e} at the end", kind.name);
    }
}

#[test]
fn even_samples_end_at_the_end() {
    let times = |start, every, end| {
        let mut ode = first_order(0, |_, _| Ok(()));
        let mut log = Log::default();
        let mut s = State { t: start, ..state_x(&[]) };
        let mut control = StepControl::new(1e-6, 1e-6, None).unwrap();
        let mut samples = Samples::every(start, every, end);
        integrate(&mut ode, &mut by_name("rk4"), &mut control, &mut s, end, &mut samples, &mut log);
        log.samples.iter().map(|s| s.t).collect::<Vec<_>>()
    };
    assert_eq!(times(0.0, 0.1, 0.3), [0.0, 0.1, 0.2, 0.3]);
    assert_eq!(times(0.0, 0.2, 0.5), [0.0, 0.2, 0.4, 0.5]);
    assert_eq!(times(1.0, 5.0, 2.0), [1.0, 2.0]);
    assert_eq!(times(1.0, 0.0, 2.0), [1.0, 2.0]);
    assert_eq!(times(1.0, f64::NAN, 2.0), [1.0, 2.0]);
    assert_eq!(times(1.0, 0.5, 1.0), [1.0]);
}

#[test]
fn the_observer_can_stop_a_run() {
    let mut ode = first_order(1, |_, (_, _, dx)| {
        dx[0] = 1.0;
        Ok(())
    });
    let mut s = state_x(&[0.0]);
    let mut log = Log { stop_after: Some(3), ..Log::default() };
    let mut control = StepControl::new(1e-6, 1e-6, Some(0.25)).unwrap();
    let mut samples = Samples::every(0.0, 0.25, 2.0);
    let ended = integrate(&mut ode, &mut by_name("rk4"), &mut control, &mut s, 2.0, &mut samples, &mut log);
    assert_eq!((ended.because, ended.at, ended.counts.steps), (Because::Stopped, 0.75, 3));
    assert_eq!(log.samples.len(), 4);
}

#[test]
fn options_are_checked() {
    let with = |name: &str, option: &str, value: f64| {
        let mut options = Options::new();
        options.set(option, value);
        (find(name).unwrap().new)(&options).err().map(|e| e.to_string())
    };
    assert_eq!(with("rk45", "safety", 0.8), None);
    assert_eq!(
        with("rk45", "safety", 2.0).unwrap(),
        "option `safety` of `rk45` is 2, must be between 0.1 and 1"
    );
    assert_eq!(
        with("rk45", "savety", 0.8).unwrap(),
        "`rk45` has no option `savety` (known: safety, growth, min_step)"
    );
    assert_eq!(with("rk4", "safety", 0.8).unwrap(), "`rk4` has no option `safety` (it has none)");
    assert_eq!(
        find("rk5").unwrap_err().to_string(),
        "there is no integrator `rk5` (known: euler, rk4, rk23, rk45, dop853, abm, staggered, park1987, trapezoidal, \
         generalized_alpha, hht, newmark, bdf, radau5, linearly_implicit_euler)"
    );
    for (rtol, atol, step) in
        [(-1.0, 1.0, None), (f64::NAN, 1.0, None), (0.0, 0.0, None), (0.1, 0.1, Some(0.0))]
    {
        assert!(StepControl::new(rtol, atol, step).is_err(), "{rtol} {atol} {step:?}");
    }
}

/// An integrator used again on a problem of another size starts afresh.
#[test]
fn an_integrator_can_be_used_for_another_problem() {
    for kind in ode_kinds() {
        let mut method = make(kind);
        let control = || StepControl::new(1e-6, 1e-8, Some(0.01)).unwrap();
        let mut first = first_order(3, |_, (_, _, dx)| {
            dx.fill(1.0);
            Ok(())
        });
        run(&mut first, &mut method, &mut control(), &mut state_x(&[0.0; 3]), 0.1);
        let mut s = body_at(0.0, &PLAIN);
        run(&mut body(), &mut method, &mut control(), &mut s, 0.1);
        let mut alone = body_at(0.0, &PLAIN);
        run(&mut body(), &mut make(kind), &mut control(), &mut alone, 0.1);
        assert_eq!(s, alone, "{}", kind.name);
    }
}

/// Adds 1 to x every quarter of a second; with the fifth something happens.
#[derive(Default)]
struct Kicks {
    made: u32,
    log: Log,
}

impl<O> Observer<O> for Kicks {
    fn sample(&mut self, ode: &mut O, s: &State) {
        self.log.sample(ode, s);
    }

    fn step(&mut self, ode: &mut O, s: &State, info: &StepInfo) -> Proceed {
        self.log.step(ode, s, info)
    }

    fn instant(&self) -> Option<f64> {
        Some(0.25 * f64::from(self.made))
    }

    fn change(&mut self, _: &mut O, s: &mut State) -> Result<Change, StepError> {
        assert_eq!(s.t, 0.25 * f64::from(self.made));
        s.x[0] += 1.0;
        self.made += 1;
        Ok(if self.made == 5 { Change::Cut } else { Change::Made })
    }
}

/// ẋ = -x: from kick to kick x falls by exp(-1/4). Samples at a kick see it, those between lie on the way.
#[test]
fn a_state_that_is_changed_between_steps_goes_on_from_there() {
    for kind in KINDS.iter().filter(|k| k.view == MethodView::Ode && k.order > 1) {
        let mut ode = first_order(1, |s, (_, _, dx)| {
            dx[0] = -s.x[0];
            Ok(())
        });
        let mut control = StepControl::new(1e-10, 1e-12, (!kind.adaptive).then_some(0.01)).unwrap();
        let (mut method, mut s) = (make(kind), state_x(&[1.0]));
        let (mut kicks, mut samples) = (Kicks::default(), Samples::every(0.0, 0.125, 2.0));
        let mut go = |s: &mut State, kicks: &mut Kicks| {
            integrate(&mut ode, &mut method, &mut control, s, 2.0, &mut samples, kicks)
        };
        let ended = go(&mut s, &mut kicks);
        assert_eq!((ended.because, ended.at), (Because::Cut, 1.0), "{}", kind.name);
        assert_eq!(kicks.log.samples.len(), 9, "{}", kind.name);
        let ended = go(&mut s, &mut kicks);
        assert_eq!((ended.because, kicks.made), (Because::End, 9), "{}", kind.name);
        let mut x = 1.0;
        for (i, sample) in kicks.log.samples.iter().enumerate() {
            assert_eq!(sample.t, 0.125 * i as f64);
            if i % 2 == 0 {
                x += 1.0;
            }
            assert!((sample.x[0] - x).abs() < 1e-8, "{} t = {}: {}", kind.name, sample.t, sample.x[0] - x);
            x *= (-0.125_f64).exp();
        }
        assert_eq!(kicks.log.samples.len(), 17, "{}", kind.name);
    }
}

/// Steps of 0.2 s turn the body by some 0.3 rad each: far from exact, but unit.
#[test]
fn quaternions_are_unit_at_the_end_of_every_step() {
    struct Unit;
    impl<O> Observer<O> for Unit {
        fn step(&mut self, _: &mut O, s: &State, _: &StepInfo) -> Proceed {
            let norm = s.q[3..].iter().map(|x| x * x).sum::<f64>();
            assert!((norm - 1.0).abs() < 1e-15 * 4.0, "{norm}");
            Proceed::Continue
        }
    }
    for kind in ode_kinds() {
        let mut s = body_at(0.0, &PLAIN);
        let mut control = StepControl::new(LOOSE, LOOSE, Some(0.2)).unwrap();
        let none = &mut Samples::none();
        integrate(&mut body(), &mut make(kind), &mut control, &mut s, 2.0, none, &mut Unit);
    }
}

/// Some stabilizations depend on the step: every right-hand side must know the one it belongs to.
#[test]
fn the_size_of_every_trial_is_announced() {
    struct Announced {
        structure: Structure,
        h: f64,
    }
    impl Ode for Announced {
        fn structure(&self) -> &Structure {
            &self.structure
        }
        fn begin_step(&mut self, h: f64) {
            self.h = h;
        }
        fn rhs(&mut self, s: &State, _: &mut [f64], _: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
            assert!(self.h > 0.0 && self.h <= 2.0, "{}", self.h);
            dx[0] = (20.0 * s.t).sin();
            Ok(())
        }
        fn normalize(&self, _: &mut [f64]) {}
        fn finish_step(&mut self, _: &mut State, h: f64) -> Result<bool, StepError> {
            assert_eq!(h, self.h);
            Ok(true)
        }
    }
    for kind in ode_kinds() {
        let structure = first_order(1, |_, _| Ok(())).structure;
        let mut ode = Announced { structure, h: f64::NAN };
        let mut control = StepControl::new(1e-6, 1e-6, None).unwrap();
        let ended = run(&mut ode, &mut make(kind), &mut control, &mut state_x(&[0.0]), 2.0);
        assert_eq!(ended.because, Because::End, "{}", kind.name);
    }
}
