//! Describes what keeps a motion on its constraints, on a pendulum in Cartesian coordinates and on a skate.

use sarrus_solve::{
    Accel, Dynamics, Equations, Ode, Options, Problem, SolveError, Stage, State, StepError, Structure,
    formulations, stabilizations,
};

/// Unit mass at distance 1 from the origin under gravity, q = (x, y), with Φ = |q| - 1; `copies` of the same row, the
/// k-th with length 1 + k `mismatch`.
struct Pendulum {
    structure: Structure,
    mismatch: f64,
    accepted: u32,
}

impl Pendulum {
    fn new(copies: usize, mismatch: f64) -> Pendulum {
        let mut b = Structure::builder();
        b.column(2);
        (0..copies).for_each(|_| {
            b.row(1, 1, &[0]);
        });
        Pendulum { structure: b.build(2, 0).unwrap(), mismatch, accepted: 0 }
    }
}

impl Problem for Pendulum {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        minv.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        let r = s.q[0].hypot(s.q[1]);
        let n = [s.q[0] / r, s.q[1] / r];
        let speed = n[0] * s.v[0] + n[1] * s.v[1];
        for k in 0..self.structure.nc {
            eq.J[2 * k..][..2].copy_from_slice(&n);
            eq.phi[k] = r - 1.0 - k as f64 * self.mismatch;
            if stage.includes(Stage::VELOCITY) {
                eq.phidot[k] = speed;
                eq.phi_t[k] = 0.0;
            }
            if stage.includes(Stage::FORCE) {
                // Φ̈ = n·v̇ + (|v|² - (n·v)²) / r
                eq.gamma[k] = -(s.v[0].powi(2) + s.v[1].powi(2) - speed * speed) / r;
            }
        }
        if stage.includes(Stage::FORCE) {
            eq.f.copy_from_slice(&[0.0, -9.81]);
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
    fn accept(&mut self, _: &State) {
        self.accepted += 1;
    }
    fn name_of_row(&self, row: usize) -> String {
        format!("rod {row}")
    }
}

/// A skate, q = (x, y, angle), that cannot slip sideways (no position level) and stays on the line x = t/10 (one).
struct Skate(Structure);

impl Skate {
    fn new() -> Skate {
        let mut b = Structure::builder();
        b.column(3);
        b.row(1, 0, &[0]);
        b.row(1, 1, &[0]);
        Skate(b.build(3, 0).unwrap())
    }
}

impl Problem for Skate {
    fn structure(&self) -> &Structure {
        &self.0
    }
    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        let diagonal = [2.0, 2.0, 0.5];
        for i in 0..3 {
            mass[4 * i] = diagonal[i];
            minv[4 * i] = 1.0 / diagonal[i];
        }
    }
    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        let (sin, cos) = s.q[2].sin_cos();
        eq.J.copy_from_slice(&[-sin, cos, 0.0, 1.0, 0.0, 0.0]);
        eq.phi.copy_from_slice(&[f64::NAN, s.q[0] - 0.1 * s.t]);
        if stage.includes(Stage::VELOCITY) {
            eq.phi_t.copy_from_slice(&[0.0, -0.1]);
            eq.phidot.copy_from_slice(&[cos * s.v[1] - sin * s.v[0], s.v[0] - 0.1]);
        }
        if stage.includes(Stage::FORCE) {
            eq.gamma.copy_from_slice(&[s.v[2] * (cos * s.v[0] + sin * s.v[1]), 0.0]);
            eq.f.fill(0.0);
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
    fn name_of_row(&self, row: usize) -> String {
        format!("row {row}")
    }
}

fn dynamics<'a>(problem: &'a mut dyn Problem, formulation: &str, stabilization: &str) -> Dynamics<'a> {
    let formulation = formulations::make(formulation, &Options::new()).unwrap();
    let stabilization = stabilizations::make(stabilization, &Options::new()).unwrap();
    Dynamics::new(problem, formulation, stabilization).unwrap()
}

fn state(q: &[f64], v: &[f64]) -> State {
    State { t: 0.0, q: q.to_vec(), v: v.to_vec(), x: Vec::new() }
}

/// Largest |Φ| and |Φ̇| along 20 s of swinging by classical Runge-Kutta with step 0.01.
fn drift(problem: &mut dyn Problem, stabilization: &str) -> (f64, f64) {
    let mut d = dynamics(problem, "proximal", stabilization);
    let mut s = state(&[1.0, 0.0], &[0.0, 0.0]);
    let (h, mut worst) = (0.01, (0.0_f64, 0.0_f64));
    d.begin_step(h);
    for _ in 0..2000 {
        let start = s.clone();
        let mut sum = [0.0; 4];
        let mut at = s.clone();
        for (weight, next) in [(1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)] {
            let (mut dq, mut dv) = ([0.0; 2], [0.0; 2]);
            d.rhs(&at, &mut dq, &mut dv, &mut []).unwrap();
            for i in 0..2 {
                sum[i] += weight * dq[i];
                sum[2 + i] += weight * dv[i];
                at.q[i] = start.q[i] + next * h * dq[i];
                at.v[i] = start.v[i] + next * h * dv[i];
            }
        }
        for i in 0..2 {
            s.q[i] = start.q[i] + h / 6.0 * sum[i];
            s.v[i] = start.v[i] + h / 6.0 * sum[2 + i];
        }
        s.t += h;
        d.finish_step(&mut s, h).unwrap();
        let r = s.q[0].hypot(s.q[1]);
        worst.0 = worst.0.max((r - 1.0).abs());
        worst.1 = worst.1.max(((s.q[0] * s.v[0] + s.q[1] * s.v[1]) / r).abs());
    }
    worst
}

#[test]
fn drift_is_stopped_by_baumgarte_and_removed_by_projection() {
    let none = drift(&mut Pendulum::new(1, 0.0), "none");
    let baumgarte = drift(&mut Pendulum::new(1, 0.0), "baumgarte");
    let projection = drift(&mut Pendulum::new(1, 0.0), "projection");
    assert!(none.0 > 1e-6, "{none:?}");
    assert!(baumgarte.0 < 0.1 * none.0, "{baumgarte:?} {none:?}");
    // eight roundings of Φ with slopes |n₁| + |n₂| ≤ √2
    assert!(projection.0 < 4e-15 && projection.1 < 1e-14, "{projection:?}");
    let redundant = drift(&mut Pendulum::new(3, 0.0), "projection");
    assert!(redundant.0 < 4e-15 && redundant.1 < 1e-14, "{redundant:?}");
}

/// 1e-2 off: the nearest point of the circle is along the radius, and only the radial velocity goes.
#[test]
fn projection_goes_to_the_nearest_point_in_a_few_iterations() {
    let mut pendulum = Pendulum::new(1, 0.0);
    let mut d = dynamics(&mut pendulum, "proximal", "projection");
    let mut s = state(&[0.606, 0.808], &[1.0, 2.0]);
    assert!(d.finish_step(&mut s, 0.01).unwrap());
    assert!((s.q[0] - 0.6).abs() < 1e-15 && (s.q[1] - 0.8).abs() < 1e-15, "{:?}", s.q);
    let radial = 0.6 * 1.0 + 0.8 * 2.0;
    assert!((s.v[0] - (1.0 - radial * 0.6)).abs() < 1e-14 && (s.v[1] - (2.0 - radial * 0.8)).abs() < 1e-14);
    assert!(d.counts().projection_iterations <= 3, "{:?}", d.counts());
}

#[test]
fn a_state_on_the_constraints_is_left_alone_and_nothing_is_factored() {
    let mut pendulum = Pendulum::new(1, 0.0);
    let mut d = dynamics(&mut pendulum, "proximal", "projection");
    let mut s = state(&[0.6, 0.8], &[-0.8, 0.6]);
    assert!(!d.finish_step(&mut s, 0.01).unwrap());
    assert_eq!(s, state(&[0.6, 0.8], &[-0.8, 0.6]));
    assert_eq!(d.counts().factorizations, 0);
    drop(d);
    assert_eq!(pendulum.accepted, 1);
}

/// Factors at the projected positions serve the velocities and the next accelerations.
#[test]
fn the_next_accelerations_share_the_factors_of_the_velocities() {
    let mut pendulum = Pendulum::new(1, 0.0);
    let mut d = dynamics(&mut pendulum, "direct", "projection");
    let mut s = state(&[0.6, 0.8 + 1e-6], &[1.0, 2.0]);
    d.finish_step(&mut s, 0.01).unwrap();
    let before = d.counts().factorizations;
    assert_eq!(before, 2, "one for positions, one for velocities");
    d.rhs(&s, &mut [0.0; 2], &mut [0.0; 2], &mut []).unwrap();
    assert_eq!(d.counts().factorizations, before);
}

/// Two rods of lengths 1 and 1 + 1e-6: one of them is obeyed, and the other is no error.
#[test]
fn rods_that_almost_agree_are_no_error() {
    let mut pendulum = Pendulum::new(2, 1e-6);
    let mut d = dynamics(&mut pendulum, "proximal", "projection");
    let mut s = state(&[0.6, 0.8 + 1e-4], &[0.1, 0.2]);
    d.finish_step(&mut s, 0.01).unwrap();
    let r = s.q[0].hypot(s.q[1]);
    assert!((r - 1.0).abs() < 1e-14 || (r - 1.0 - 1e-6).abs() < 1e-14, "{:e}", r - 1.0);

    // and is not tried again at every step
    let before = d.counts().factorizations;
    assert!(!d.finish_step(&mut s, 0.01).unwrap());
    assert_eq!(d.counts().factorizations, before);
}

#[test]
fn positions_of_velocity_level_rows_are_never_asked_for() {
    let mut skate = Skate::new();
    let mut d = dynamics(&mut skate, "proximal", "projection");
    let mut s = State { t: 0.5, ..state(&[0.06, 2.0, 0.7], &[1.0, 1.0, 1.0]) };
    d.finish_step(&mut s, 0.01).unwrap();
    assert!((s.q[0] - 0.05).abs() < 1e-16);
    assert_eq!((s.q[1], s.q[2]), (2.0, 0.7), "what Φ does not involve stays");
    let (sin, cos) = s.q[2].sin_cos();
    assert!((cos * s.v[1] - sin * s.v[0]).abs() < 1e-15 && (s.v[0] - 0.1).abs() < 1e-15);
    assert_eq!(s.v[2], 1.0);

    let mut skate = Skate::new();
    let mut d = dynamics(&mut skate, "proximal", "baumgarte");
    d.begin_step(0.01);
    let mut dv = [0.0; 3];
    d.rhs(&s, &mut [0.0; 3], &mut dv, &mut []).unwrap();
    assert!(dv.iter().all(|x| x.is_finite()));
}

/// At the origin the rod has no direction.
#[test]
fn a_projection_that_cannot_be_is_an_error_with_time_and_row() {
    let mut pendulum = Pendulum::new(1, 0.0);
    let mut d = dynamics(&mut pendulum, "proximal", "projection");
    let mut s = State { t: 2.5, ..state(&[0.0, 0.0], &[0.0, 0.0]) };
    let error = d.finish_step(&mut s, 0.01).unwrap_err();
    assert!(
        matches!(error, StepError::Project { t: 2.5, source: SolveError::NotFinite { .. } }),
        "{error:?}"
    );
    drop(d);
    assert_eq!(pendulum.accepted, 0, "a failed step is not noted");
}

#[test]
fn every_exact_formulation_gives_the_pendulum_its_acceleration() {
    for kind in formulations::KINDS.iter().filter(|k| k.needs.exact) {
        let mut pendulum = Pendulum::new(1, 0.0);
        let mut d = dynamics(&mut pendulum, kind.name, "none");
        let accel = d.evaluate(&state(&[0.6, 0.8], &[-1.6, 1.2])).unwrap();
        // gravity along the tangent (-0.8, 0.6), centripetal 4 along -n
        let tangent = -9.81 * 0.6;
        let expected = [-0.8 * tangent - 4.0 * 0.6, 0.6 * tangent - 4.0 * 0.8];
        for i in 0..2 {
            assert!((accel.vdot[i] - expected[i]).abs() < 1e-13, "{}: {:?}", kind.name, accel.vdot);
        }
        // M v̇ + n λ = f, along n: -4 + λ = -9.81 · 0.8
        assert!((accel.lambda[0] - (4.0 - 9.81 * 0.8)).abs() < 1e-13, "{}: {:?}", kind.name, accel.lambda);
    }
}

#[test]
fn an_unknown_method_or_option_is_refused_with_what_there_is() {
    let error = formulations::make("kkt", &Options::new()).err().unwrap();
    let known: Vec<&str> = formulations::KINDS.iter().map(|k| k.name).collect();
    assert_eq!(error.to_string(), format!("there is no formulation `kkt` (known: {})", known.join(", ")));
    assert!(error.to_string().contains("known: proximal, direct, "), "{error}");
    let error = stabilizations::make("projection", Options::new().set("alpha", 1.0)).err().unwrap();
    assert_eq!(error.to_string(), "`projection` has no option `alpha` (it has none)");
}
