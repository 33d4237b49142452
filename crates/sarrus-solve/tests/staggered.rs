//! Motion and multipliers in turn, on small problems with known answers.

use sarrus_solve::integrators::{StaggeredForm, StaggeredMethod, find};
use sarrus_solve::staggered::{Epsilon, MultiplierController, MultiplierModule, SparseMultipliers};
use sarrus_solve::{
    Accel, Dynamics, Equations, GroupKind, Integrator, Options, Problem, SolveError, Stage, State,
    StepControl, StepError, Structure, formulations, stabilizations,
};

const G: f64 = 9.81;

/// A point mass in the plane, on a circle about the origin, or tied to it by a spring.
struct Point {
    structure: Structure,
    /// Spring stiffness over time \[N/m\]; none: the circle.
    spring: Option<fn(f64) -> f64>,
    /// Radius of the circle over time, with its derivatives \[m, m/s, m/s²\].
    radius: fn(f64) -> [f64; 3],
    mass: f64,
}

impl Point {
    fn new(spring: Option<fn(f64) -> f64>) -> Point {
        let mut b = Structure::builder();
        let body = b.column(2);
        if spring.is_none() {
            b.row(1, 1, &[body]);
        }
        b.group(GroupKind::Position, 0, 2);
        b.group(GroupKind::Velocity, 0, 2);
        Point { structure: b.build(2, 0).unwrap(), spring, radius: |_| [1.0, 0.0, 0.0], mass: 1.0 }
    }
}

impl Problem for Point {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        mass.copy_from_slice(&[self.mass, 0.0, 0.0, self.mass]);
        minv.copy_from_slice(&[1.0 / self.mass, 0.0, 0.0, 1.0 / self.mass]);
    }

    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        let ([x, y], [u, v]) = ([s.q[0], s.q[1]], [s.v[0], s.v[1]]);
        if let Some(spring) = self.spring {
            eq.f.copy_from_slice(&[-spring(s.t) * x, -spring(s.t) * y]);
            return;
        }
        let [r, rate, change] = (self.radius)(s.t);
        eq.phi[0] = 0.5 * (x * x + y * y - r * r);
        eq.J.copy_from_slice(&[x, y]);
        eq.phi_t[0] = -r * rate;
        eq.phidot[0] = x * u + y * v + eq.phi_t[0];
        if stage.includes(Stage::FORCE) {
            eq.f.copy_from_slice(&[0.0, -self.mass * G]);
            eq.gamma[0] = rate * rate + r * change - (u * u + v * v);
        }
    }

    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        qdot.copy_from_slice(&s.v);
    }

    fn xdot(&mut self, _: &State, _: &Equations, _: &Accel, _: &mut [f64]) {}

    fn retract(&self, q: &mut [f64], delta: &[f64]) {
        q.iter_mut().zip(delta).for_each(|(q, d)| *q += d);
    }

    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]) {
        delta.iter_mut().zip(a).zip(b).for_each(|((d, a), b)| *d = a - b);
    }

    fn normalize(&self, _: &mut [f64]) {}

    fn accept(&mut self, _: &State) {}

    fn name_of_row(&self, _: usize) -> String {
        "circle".into()
    }
}

/// On the circle, level with its centre, at rest.
fn level() -> State {
    State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.0, 0.0], x: vec![] }
}

fn with_dynamics<T>(problem: &mut Point, go: impl FnOnce(&mut Dynamics<'_, Point>) -> T) -> T {
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let mut dynamics =
        Dynamics::new(problem, formulation, stabilizations::make("none", &none).unwrap()).unwrap();
    go(&mut dynamics)
}

/// Steps of `h` from `s` to `t_end`; the method's λ there.
fn run(
    problem: &mut Point,
    method: StaggeredMethod,
    s: &mut State,
    h: f64,
    t_end: f64,
) -> Result<Vec<f64>, StepError> {
    let mut method = Integrator::Staggered(Box::new(method));
    let mut control = StepControl::new(1e-6, 1e-8, Some(h)).unwrap();
    control.t_end = t_end;
    with_dynamics(problem, |dynamics| {
        method.prepare(&dynamics.problem().structure.clone());
        while s.t < t_end {
            method.step(dynamics, s, &mut control)?;
        }
        Ok(method.multipliers().unwrap().to_vec())
    })
}

const FORMS: [StaggeredForm; 3] =
    [StaggeredForm::Symmetric, StaggeredForm::Paper, StaggeredForm::OneStep { points: 3 }];

/// Steps that end at each of `ends` in turn, shown to `see` with the method's λ.
fn run_to(
    problem: &mut Point,
    form: StaggeredForm,
    s: &mut State,
    h: f64,
    ends: impl Iterator<Item = f64>,
    mut see: impl FnMut(&State, f64),
) -> Result<(), StepError> {
    let mut method = Integrator::Staggered(Box::new(StaggeredMethod::new(form, Epsilon::Auto, 4, false)));
    let mut control = StepControl::new(1e-6, 1e-8, Some(h)).unwrap();
    with_dynamics(problem, |dynamics| {
        method.prepare(&dynamics.problem().structure.clone());
        for end in ends {
            control.t_end = end;
            while s.t < end {
                method.step(dynamics, s, &mut control)?;
                see(s, method.multipliers().unwrap()[0]);
            }
        }
        Ok(())
    })
}

fn symmetric() -> StaggeredMethod {
    StaggeredMethod::new(StaggeredForm::Symmetric, Epsilon::Auto, 4, false)
}

/// Dry friction: against the motion, μ times the force of the circle.
struct Friction(f64);

impl MultiplierController for Friction {
    fn act(&mut self, s: &State, lambda: &[f64], f: &mut [f64]) {
        // the force of the circle is -J λ with |J| = 1
        let along = [-s.q[1], s.q[0]];
        let speed = along[0] * s.v[0] + along[1] * s.v[1];
        let size = self.0 * lambda[0].abs() * speed.tanh_like();
        (0..2).for_each(|i| f[i] -= size * along[i]);
    }
}

/// Friction smoothed over a range of speeds, so that there is an order to see.
trait Smooth {
    fn tanh_like(self) -> f64;
}

impl Smooth for f64 {
    fn tanh_like(self) -> f64 {
        (self / 0.5).tanh()
    }
}

/// The angle from the level and its rate at `t`, by small steps of the classical Runge-Kutta method: with φ from the x axis,
/// φ̈ = -g cos φ - μ |λ| tanh(φ̇/0.5), λ = φ̇² - g sin φ.
fn reference(mu: f64, t: f64) -> [f64; 3] {
    reference_from([0.0, 0.0], mu, t)
}

/// The same from an angle and its rate.
fn reference_from(start: [f64; 2], mu: f64, t: f64) -> [f64; 3] {
    let lambda = |y: [f64; 2]| y[1] * y[1] - G * y[0].sin();
    let rate = |y: [f64; 2]| [y[1], -G * y[0].cos() - mu * lambda(y).abs() * y[1].tanh_like()];
    let (n, mut y) = (20_000, start);
    let h = t / f64::from(n);
    let ahead = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
    for _ in 0..n {
        let k1 = rate(y);
        let k2 = rate(ahead(y, k1, 0.5 * h));
        let k3 = rate(ahead(y, k2, 0.5 * h));
        let k4 = rate(ahead(y, k3, h));
        y = [0, 1].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
    }
    [y[0], y[1], lambda(y)]
}

#[test]
fn a_controller_between_the_modules_acts_on_the_multipliers_at_second_order() {
    let [angle, rate, lambda] = reference(0.3, 0.5);
    for form in [StaggeredForm::Symmetric, StaggeredForm::Paper, StaggeredForm::OneStep { points: 3 }] {
        let error = |h: f64| {
            let mut s = level();
            let method =
                StaggeredMethod::new(form, Epsilon::Auto, 4, false).with_controller(Box::new(Friction(0.3)));
            let found = run(&mut Point::new(None), method, &mut s, h, 0.5).unwrap();
            let x = (s.q[0] - angle.cos()).abs().max((s.q[1] - angle.sin()).abs());
            let v = (s.v[0] + rate * angle.sin()).abs().max((s.v[1] - rate * angle.cos()).abs());
            [x, v, (found[0] - lambda).abs()]
        };
        // small: that of λ in `one_step` changes its sign at 0.01
        let (coarse, fine) = (error(0.00125), error(0.000625));
        for (what, (coarse, fine)) in ["q", "v", "λ"].iter().zip(coarse.iter().zip(&fine)) {
            let order = (coarse / fine).log2();
            assert!((1.8..2.3).contains(&order), "{form:?} {what}: {coarse:e} {fine:e}");
        }
        // and it does act
        let [free, ..] = reference(0.0, 0.5);
        assert!((free - angle).abs() > 0.05);
    }
}

/// On the circle at an angle of 0.3, turning at 2 rad/s.
fn rotating() -> State {
    let (sin, cos) = 0.3_f64.sin_cos();
    State { t: 0.0, q: vec![cos, sin], v: vec![-2.0 * sin, 2.0 * cos], x: vec![] }
}

/// Steps of 10 ms with one of 10 ns after each, where nothing changes: λ is that of the motion, and neither Φ nor Φ̇ knows of the
/// short ones. Errors are of h² times the rates of the pendulum, some 10⁻³; so are Φ̇ of `one_step` and the drift of `paper`.
#[test]
fn short_steps_between_long_ones_do_no_harm() {
    for form in FORMS {
        let short = 1e-8;
        let ends = (1..=100).flat_map(|k| [0.01 * f64::from(k) - short, 0.01 * f64::from(k)]);
        let mut s = rotating();
        run_to(&mut Point::new(None), form, &mut s, 0.01, ends, |s, lambda| {
            let phi = 0.5 * (s.q[0] * s.q[0] + s.q[1] * s.q[1] - 1.0);
            let phidot = s.q[0] * s.v[0] + s.q[1] * s.v[1];
            let expected = s.v[0] * s.v[0] + s.v[1] * s.v[1] - G * s.q[1];
            assert!(phi.abs() < 1e-3 && phidot.abs() < 2e-3, "{form:?} {}: {phi:e} {phidot:e}", s.t);
            assert!(
                (lambda - expected).abs() < 5e-3 * (1.0 + expected.abs()),
                "{form:?} {}: {lambda} {expected}",
                s.t
            );
        })
        .unwrap();
        let [angle, rate, _] = reference_from([0.3, 2.0], 0.0, 1.0);
        let error = (s.q[0] - angle.cos()).hypot(s.q[1] - angle.sin());
        let speed = (s.v[0].hypot(s.v[1]) - rate.abs()).abs();
        assert!(error < 3e-3 && speed < 6e-3, "{form:?}: {error:e} {speed:e}");
    }
}

/// Ten steps are short of the end by a ten-thousandth of one: what is left is made in two halves.
#[test]
fn what_whole_steps_leave_before_the_end_is_shared() {
    let h = 0.1 * (1.0 - 1e-5);
    let mut times = vec![0.0];
    run_to(
        &mut Point::new(None),
        StaggeredForm::Symmetric,
        &mut rotating(),
        h,
        std::iter::once(1.0),
        |s, _| {
            times.push(s.t);
        },
    )
    .unwrap();
    let sizes: Vec<f64> = times.windows(2).map(|t| t[1] - t[0]).collect();
    assert_eq!((sizes.len(), times.last()), (11, Some(&1.0)));
    assert!(sizes[..9].iter().all(|s| (s - h).abs() < 1e-12), "{sizes:?}");
    assert!(sizes[9..].iter().all(|s| (s - 0.5 * h).abs() < 1e-4 * h), "{sizes:?}");
}

/// A circle that exists up to 1 s only: r = 1 + t(1 - t)/4. The run ends there, whether whole steps do or not.
#[test]
fn nothing_is_evaluated_after_the_end() {
    fn until_one(t: f64) -> [f64; 3] {
        if t <= 1.0 { [1.0 + 0.25 * t * (1.0 - t), 0.25 * (1.0 - 2.0 * t), -0.5] } else { [f64::NAN; 3] }
    }
    for form in FORMS {
        for h in [0.01, 0.0099, 0.0095, 0.009_999_9] {
            let mut s = rotating();
            // on a circle that grows at 1/4 m/s
            (0..2).for_each(|i| s.v[i] += 0.25 * s.q[i]);
            let mut problem = Point { radius: until_one, ..Point::new(None) };
            run_to(&mut problem, form, &mut s, h, std::iter::once(1.0), |_, lambda| {
                assert!(lambda.is_finite());
            })
            .unwrap_or_else(|e| panic!("{form:?} {h}: {e}"));
            let [phi, phidot] =
                [0.5 * (s.q[0].hypot(s.q[1]) - 1.0), s.q[0] * s.v[0] + s.q[1] * s.v[1] + 0.25];
            // of order h³ and exact, but for positions of `paper`, which drift
            assert!(phi.abs() < 1e-4 && phidot.abs() < 1e-9, "{form:?} {h}: {phi:e} {phidot:e}");
        }
    }
}

/// Where a segment ends and nothing changes, the motion is that without the end, up to what corrections leave.
#[test]
fn an_end_where_nothing_changes_does_not_disturb_the_chain() {
    for form in FORMS {
        let (mut with, mut without) = (rotating(), rotating());
        let ends = (1..=100).map(|k| 0.01 * f64::from(k));
        run_to(&mut Point::new(None), form, &mut with, 0.01, ends, |_, _| ()).unwrap();
        run_to(&mut Point::new(None), form, &mut without, 0.01, std::iter::once(1.0), |_, _| ()).unwrap();
        let apart = (0..2).map(|i| (with.q[i] - without.q[i]).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-10, "{form:?}: {apart:e}");
    }
}

/// From the first step on: a start that is not that of the chain would show as a λ of order one in one step or two.
#[test]
fn multipliers_have_order_two_from_the_first_step_on() {
    for form in FORMS {
        let errors = |h: f64| {
            let mut s = rotating();
            let mut errors = Vec::new();
            // more steps follow: λ is that of the chain
            run_to(&mut Point::new(None), form, &mut s, h, std::iter::once(10.0 * h), |s, lambda| {
                errors.push((lambda - reference_from([0.3, 2.0], 0.0, s.t)[2]).abs());
            })
            .unwrap();
            errors
        };
        let (coarse, fine) = (errors(0.001), errors(0.0005));
        for k in 0..5 {
            // at the same step, that is, at half the time: a little more than two where the error grows with time
            let order = (coarse[k] / fine[k]).log2();
            assert!(order > 1.6, "{form:?}, step {}: {:e} {:e}", k + 1, coarse[k], fine[k]);
        }
    }
}

/// Masses and forces in other units: nothing changes.
#[test]
fn tiny_masses_are_solved_for_as_well_as_others() {
    for form in FORMS {
        let end = |mass: f64| {
            let mut s = rotating();
            let mut problem = Point { mass, ..Point::new(None) };
            run_to(&mut problem, form, &mut s, 0.01, std::iter::once(1.0), |_, _| ()).unwrap();
            s
        };
        // a power of two, so that all roundings are the same
        assert_eq!(end(1.0), end(2.0_f64.powi(-40)), "{form:?}");
    }
}

/// ẋ = q and q = t, so x = t²/2, which all formulas of second order find exactly; with a start in every step.
#[test]
fn first_order_states_have_order_two_where_every_step_is_a_start() {
    struct Ramp(Structure);
    impl Problem for Ramp {
        fn structure(&self) -> &Structure {
            &self.0
        }
        fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
            mass.fill(1.0);
            minv.fill(1.0);
        }
        fn update(&mut self, _: &State, _: Stage, eq: &mut Equations) {
            eq.f.fill(0.0);
        }
        fn qdot(&self, s: &State, qdot: &mut [f64]) {
            qdot.copy_from_slice(&s.v);
        }
        fn xdot(&mut self, s: &State, _: &Equations, _: &Accel, xdot: &mut [f64]) {
            xdot.copy_from_slice(&s.q);
        }
        fn retract(&self, q: &mut [f64], delta: &[f64]) {
            q[0] += delta[0];
        }
        fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]) {
            delta[0] = a[0] - b[0];
        }
        fn normalize(&self, _: &mut [f64]) {}
        fn accept(&mut self, _: &State) {}
        fn name_of_row(&self, _: usize) -> String {
            String::new()
        }
    }
    for form in FORMS {
        let mut b = Structure::builder();
        b.column(1);
        b.group(GroupKind::Position, 0, 1);
        b.group(GroupKind::Velocity, 0, 1);
        b.group(GroupKind::Auxiliary, 0, 1);
        let mut problem = Ramp(b.build(1, 1).unwrap());
        let none = Options::new();
        let formulation = formulations::make("proximal", &none).unwrap();
        let mut dynamics =
            Dynamics::new(&mut problem, formulation, stabilizations::make("none", &none).unwrap()).unwrap();
        let mut method = Integrator::Staggered(Box::new(StaggeredMethod::new(form, Epsilon::Auto, 4, false)));
        let mut control = StepControl::new(1e-6, 1e-8, Some(0.1)).unwrap();
        control.t_end = 1.0;
        method.prepare(dynamics.problem().structure());
        let mut s = State { t: 0.0, q: vec![0.0], v: vec![1.0], x: vec![0.0] };
        while s.t < 1.0 {
            method.step(&mut dynamics, &mut s, &mut control).unwrap();
            // another state: the chain cannot continue
            s.x[0] += 1e-12;
        }
        assert!((s.x[0] - 0.5).abs() < 1e-10, "{form:?}: {}", s.x[0]);
    }
}

/// Evaluations of forces and factorizations a step, from the counts after ten steps and after a hundred more.
#[test]
fn a_step_costs_as_many_evaluations_and_factorizations_as_its_form_says() {
    for (form, expected) in [
        (StaggeredForm::Symmetric, [1, 1]),
        (StaggeredForm::OneStep { points: 3 }, [1, 1]),
        (StaggeredForm::Paper, [2, 2]),
    ] {
        let method = StaggeredMethod::new(form, Epsilon::Auto, 4, false);
        let mut method = Integrator::Staggered(Box::new(method));
        let mut control = StepControl::new(1e-6, 1e-8, Some(0.01)).unwrap();
        control.t_end = 10.0;
        let mut s = level();
        with_dynamics(&mut Point::new(None), |dynamics| {
            method.prepare(&dynamics.problem().structure.clone());
            let mut counts = |steps: u32| {
                for _ in 0..steps {
                    method.step(dynamics, &mut s, &mut control).unwrap();
                }
                [dynamics.counts().rhs, dynamics.counts().factorizations]
            };
            let (before, after) = (counts(10), counts(100));
            let each = [0, 1].map(|i| (after[i] - before[i]) / 100);
            assert_eq!(each, expected, "{form:?}");
        });
    }
}

/// A free symmetric body: ω about its axis is constant, the rest rotates about it at Ω = (I₃ - I₁) ω₃/I₁. Orientation has no part in
/// that and is left out.
struct Spinning(Structure);

const INERTIA: [f64; 3] = [1.0, 1.0, 3.0];

impl Spinning {
    fn new() -> Spinning {
        let mut b = Structure::builder();
        b.column(3);
        b.group(GroupKind::AngularVelocity, 0, 3);
        Spinning(b.build(0, 0).unwrap())
    }
}

impl Problem for Spinning {
    fn structure(&self) -> &Structure {
        &self.0
    }

    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        mass.fill(0.0);
        minv.fill(0.0);
        (0..3).for_each(|i| (mass[4 * i], minv[4 * i]) = (INERTIA[i], 1.0 / INERTIA[i]));
    }

    fn update(&mut self, s: &State, _: Stage, eq: &mut Equations) {
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            eq.f[i] = -(INERTIA[k] - INERTIA[j]) * s.v[j] * s.v[k];
        }
    }

    fn qdot(&self, _: &State, _: &mut [f64]) {}

    fn xdot(&mut self, _: &State, _: &Equations, _: &Accel, _: &mut [f64]) {}

    fn retract(&self, _: &mut [f64], _: &[f64]) {}

    fn difference(&self, _: &[f64], _: &[f64], _: &mut [f64]) {}

    fn normalize(&self, _: &mut [f64]) {}

    fn accept(&mut self, _: &State) {}

    fn name_of_row(&self, _: usize) -> String {
        String::new()
    }
}

/// The moduli that stand above the one-step form: to leading order in z = hΩ; the next term is of size z² of them.
#[test]
fn extrapolated_velocities_make_spin_grow_or_decay_as_derived() {
    let z = 0.1_f64;
    // Ω = 2 ω₃
    let growth = |form: StaggeredForm, steps: u32| {
        let none = Options::new();
        let mut problem = Spinning::new();
        let mut dynamics = Dynamics::new(
            &mut problem,
            formulations::make("proximal", &none).unwrap(),
            stabilizations::make("none", &none).unwrap(),
        )
        .unwrap();
        let method = StaggeredMethod::new(form, Epsilon::Auto, 4, false);
        let mut method = Integrator::Staggered(Box::new(method));
        let mut control = StepControl::new(1e-6, 1e-8, Some(z / 2.0)).unwrap();
        control.t_end = f64::from(steps) * z / 2.0;
        let mut s = State { t: 0.0, q: vec![], v: vec![1e-3, 0.0, 1.0], x: vec![] };
        method.prepare(dynamics.problem().structure());
        let mut across = || {
            method.step(&mut dynamics, &mut s, &mut control).unwrap();
            s.v[0].hypot(s.v[1])
        };
        // the first steps hold what the start has put there beside the wave
        let first = (0..20).map(|_| across()).last().unwrap();
        (20..steps).map(|_| across()).last().unwrap() / first
    };
    for (points, rate) in [(1, z * z / 2.0), (2, z.powi(4) / 4.0), (3, -5.0 / 16.0 * z.powi(4))] {
        let steps = if points == 1 { 120 } else { 4020 };
        let found = growth(StaggeredForm::OneStep { points }, steps).ln() / f64::from(steps - 20);
        assert!((found / rate - 1.0).abs() < 0.1, "{points}: {found:e} {rate:e}");
    }
    let symmetric = growth(StaggeredForm::Symmetric, 4020) - 1.0;
    assert!(symmetric.abs() < 1e-9, "{symmetric:e}");
}

/// Masses m₁ on the ground and m₂ on m₁, on a line: S = [1/m₁, -1/m₁; -1/m₁, 1/m₁ + 1/m₂].
fn two_masses(m: [f64; 2]) -> (Structure, Equations) {
    let mut b = Structure::builder();
    let (one, two) = (b.column(1), b.column(1));
    b.row(1, 1, &[one]);
    b.row(1, 1, &[one, two]);
    b.group(GroupKind::Velocity, 0, 2);
    let s = b.build(2, 0).unwrap();
    let mut eq = Equations::zeros(&s);
    eq.mass.copy_from_slice(&m);
    eq.minv.copy_from_slice(&m.map(|m| 1.0 / m));
    eq.J.copy_from_slice(&[1.0, -1.0, 1.0]);
    (s, eq)
}

/// ε is 10⁻⁶ of the smallest eigenvalue of S over its diagonal, 10⁻⁹ at most: λ keeps six digits at any ratio of masses, and is not
/// regularized less than it may be.
#[test]
fn epsilon_follows_the_conditioning_and_multipliers_keep_their_accuracy() {
    let solve = |m: [f64; 2]| {
        let (s, eq) = two_masses(m);
        let mut module = SparseMultipliers::new(Epsilon::Auto);
        module.prepare(&s, &eq).unwrap();
        module.load_jacobian(&s, &eq).unwrap();
        let (r, mut eta) = ([0.3, 0.7], [0.0; 2]);
        module.solve(&r, &mut eta).unwrap();
        // Jᵀη = M v with J v = r
        let v = [r[0], r[1] + r[0]];
        let exact = [m[0] * v[0] + m[1] * v[1], m[1] * v[1]];
        let error = (0..2).map(|i| ((eta[i] - exact[i]) / exact[i]).abs()).fold(0.0, f64::max);
        (module.epsilon().unwrap(), error)
    };
    let (good, good_error) = solve([1.0, 1.0]);
    let (bad, bad_error) = solve([1.0, 1e6]);
    assert!((good - 1e-9).abs() < 1e-12, "{good:e}");
    // 1 - 1/√(1 + 10⁻⁶) = 5·10⁻⁷
    assert!((bad / 5e-13 - 1.0).abs() < 0.1, "{bad:e}");
    // what ε takes from λ is ε/σ of it, in the norm of the diagonal
    assert!(good_error < 2.0 * good / 0.29 && bad_error < 2e-6, "{good_error:e} {bad_error:e}");
}

/// One row: S is a number.
#[derive(Default)]
struct OneRow {
    S: f64,
    asked: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

impl MultiplierModule for OneRow {
    fn prepare(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        self.load_jacobian(s, eq)
    }

    fn load_jacobian(&mut self, _: &Structure, eq: &Equations) -> Result<(), SolveError> {
        self.S = eq.J.iter().map(|j| j * j).sum();
        Ok(())
    }

    fn solve(&mut self, r: &[f64], eta: &mut [f64]) -> Result<(), SolveError> {
        self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        eta[0] = r[0] / self.S;
        Ok(())
    }
}

#[test]
fn a_module_can_be_replaced() {
    let asked = std::sync::Arc::default();
    let own = OneRow { S: 0.0, asked: std::sync::Arc::clone(&asked) };
    let (mut a, mut b) = (level(), level());
    run(&mut Point::new(None), symmetric(), &mut a, 0.01, 1.0).unwrap();
    run(&mut Point::new(None), symmetric().with_multipliers(Box::new(own)), &mut b, 0.01, 1.0).unwrap();
    assert!(asked.load(std::sync::atomic::Ordering::Relaxed) >= 300);
    // ε apart
    assert!((a.q[0] - b.q[0]).abs() < 1e-9 && (a.v[1] - b.v[1]).abs() < 1e-8);
}

#[test]
fn a_step_beyond_the_stability_limit_is_refused_at_the_start_with_the_frequency() {
    for form in [StaggeredForm::Symmetric, StaggeredForm::Paper, StaggeredForm::OneStep { points: 3 }] {
        let method = || StaggeredMethod::new(form, Epsilon::Auto, 4, false);
        let mut s = level();
        let error = run(&mut Point::new(Some(|_| 1e4)), method(), &mut s, 0.0201, 1.0).unwrap_err();
        let StepError::StepTooLarge { t, omega, .. } = error else { panic!("{error}") };
        assert_eq!(t, 0.0);
        assert!((omega - 100.0).abs() < 0.1, "{omega}");
        assert_eq!(s, level());
        // and just below the limit it runs
        run(&mut Point::new(Some(|_| 1e4)), method(), &mut s, 0.0199, 1.0).unwrap();
        assert!(s.q[0].abs() < 20.0);
    }
}

#[test]
fn a_step_that_becomes_too_large_on_the_way_is_noticed() {
    fn stiffens(t: f64) -> f64 {
        if t < 1.0 { 1.0 } else { 1e4 }
    }
    let mut s = level();
    let error = run(&mut Point::new(Some(stiffens)), symmetric(), &mut s, 0.03, 10.0).unwrap_err();
    let StepError::StepTooLarge { t, omega, .. } = error else { panic!("{error}") };
    assert!(t > 1.0 && t < 1.5, "{t}");
    assert!((omega - 100.0).abs() < 5.0, "{omega}");
}

/// A jump of the force is no instability.
#[test]
fn a_jump_is_not_taken_for_instability() {
    fn jumps(t: f64) -> f64 {
        if ((10.0 * t) as u64).is_multiple_of(2) { 0.0 } else { 400.0 }
    }
    let mut s = level();
    run(&mut Point::new(Some(jumps)), symmetric(), &mut s, 0.05, 5.0).unwrap();
}

/// Frequency errors of a leapfrog: the period of x'' = -x is short by h²/24.
#[test]
fn a_free_oscillator_is_a_leapfrog() {
    let h = 0.1;
    let mut s = level();
    run(&mut Point::new(Some(|_| 1.0)), symmetric(), &mut s, h, 10.0).unwrap();
    let omega = 2.0 / h * (0.5 * h).asin();
    assert!((s.q[0] - (omega * 10.0).cos()).abs() < 1e-12, "{}", s.q[0]);
}

#[test]
fn dense_output_passes_through_the_ends_and_is_as_accurate_between() {
    let mut method = Integrator::Staggered(Box::new(symmetric()));
    let mut control = StepControl::new(1e-6, 1e-8, Some(0.1)).unwrap();
    control.t_end = 1.0;
    let mut s = level();
    let mut problem = Point::new(Some(|_| 1.0));
    with_dynamics(&mut problem, |dynamics| {
        method.prepare(&dynamics.problem().structure.clone());
        let omega = 2.0 / 0.1 * 0.05_f64.asin();
        while s.t < 1.0 {
            let info = method.step(dynamics, &mut s, &mut control).unwrap();
            let mut out = s.clone();
            method.dense(dynamics, &mut control, s.t, &mut out).unwrap();
            assert_eq!(out, s);
            method.dense(dynamics, &mut control, info.t + 0.5 * info.h, &mut out).unwrap();
            // the cubic errs by h⁴/384 of the fourth derivative, and its slopes by h² of the leapfrog's
            assert!((out.q[0] - (omega * out.t).cos()).abs() < 2e-4, "{out:?}");
            assert_eq!(out.t, info.t + 0.5 * info.h);
        }
    });
}

#[test]
fn steps_follow_the_tolerance_where_asked() {
    let error = |rtol: f64| {
        let mut options = Options::new();
        options.set("adaptive", "yes");
        let mut method = (find("staggered").unwrap().new)(&options).unwrap();
        assert!(method.is_adaptive());
        let mut control = StepControl::new(rtol, 1e-2 * rtol, None).unwrap();
        control.t_end = 2.0;
        let mut s = level();
        let mut problem = Point::new(None);
        with_dynamics(&mut problem, |dynamics| {
            method.prepare(&dynamics.problem().structure.clone());
            while s.t < 2.0 {
                method.step(dynamics, &mut s, &mut control).unwrap();
            }
        });
        let [angle, ..] = reference(0.0, 2.0);
        ((s.q[0] - angle.cos()).hypot(s.q[1] - angle.sin()), control.counts.steps)
    };
    let ((loose, few), (tight, many)) = (error(1e-4), error(1e-7));
    // error per step of size h³: errors go with the power ⅔ of the tolerance, steps with ⅓
    assert!(loose < 2e-2 && tight < loose / 30.0, "{loose:e} {tight:e}");
    assert!((4..=25).contains(&(many / few)), "{few} {many}");
}

#[test]
fn options_are_checked() {
    let make = |name: &str, option: &str, value: &str| {
        let mut options = Options::new();
        match value.parse::<f64>() {
            Ok(x) => options.set(option, x),
            Err(_) => options.set(option, value),
        };
        (find(name).unwrap().new)(&options).err().map(|e| e.to_string())
    };
    for (option, value) in [
        ("form", "paper"),
        ("form", "one_step"),
        ("points", "2"),
        ("epsilon", "auto"),
        ("epsilon", "1e-6"),
        ("iterations", "3"),
    ] {
        assert_eq!(make("staggered", option, value), None, "{option} = {value}");
    }
    for (option, value) in [
        ("form", "c"),
        ("epsilon", "small"),
        ("epsilon", "-1"),
        ("iterations", "0"),
        ("points", "4"),
        ("points", "2.5"),
        ("adaptive", "1"),
        ("h", "1"),
    ] {
        assert!(make("staggered", option, value).unwrap().contains(option), "{option} = {value}");
    }
    assert_eq!(make("park1987", "iterations", "1"), None);
    assert!(make("park1987", "iterations", "1.5").is_some());
    let mut both = Options::new();
    both.set("form", "paper").set("adaptive", "yes");
    assert!((find("staggered").unwrap().new)(&both).is_err());
}

#[test]
fn a_right_side_without_constraints_to_show_is_refused() {
    struct Bare(Structure);
    impl sarrus_solve::Ode for Bare {
        fn structure(&self) -> &Structure {
            &self.0
        }
        fn rhs(&mut self, _: &State, _: &mut [f64], _: &mut [f64], _: &mut [f64]) -> Result<(), SolveError> {
            Ok(())
        }
        fn normalize(&self, _: &mut [f64]) {}
        fn finish_step(&mut self, _: &mut State, _: f64) -> Result<bool, StepError> {
            Ok(false)
        }
    }
    let mut ode = Bare(Structure::default());
    let mut method = Integrator::Staggered(Box::new(symmetric()));
    let mut control = StepControl::new(1e-6, 1e-8, Some(0.1)).unwrap();
    let error = method.step(&mut ode, &mut State::default(), &mut control).unwrap_err();
    assert_eq!(error, StepError::View { t: 0.0 });
}
