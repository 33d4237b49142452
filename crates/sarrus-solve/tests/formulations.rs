//! Formulations on equations small enough to be solved by hand.

use sarrus_solve::formulations::{self, Formulation, KINDS, Needs};
use sarrus_solve::{
    Accel, Dynamics, Equations, HUB_DEGREE, Kkt, Ode, Options, Problem, SolveError, Stage, State, Structure,
    stabilizations,
};

/// One point of unit mass in the plane with the rows `J`, γ and forces as given.
fn point(J: &[[f64; 2]], gamma: &[f64], f: [f64; 2]) -> (Structure, Equations) {
    let mut b = Structure::builder();
    b.column(2);
    J.iter().for_each(|_| {
        b.row(1, 1, &[0]);
    });
    let s = b.build(2, 0).unwrap();
    let mut eq = Equations::zeros(&s);
    eq.mass = vec![1.0, 0.0, 0.0, 1.0];
    eq.minv = eq.mass.clone();
    eq.J = J.concat();
    eq.gamma = gamma.to_vec();
    eq.f = f.to_vec();
    (s, eq)
}

/// A formulation with its options as `name:option=word`.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    needs: Needs,
}

fn make(text: &str) -> Box<dyn Formulation> {
    let (name, option) = text.split_once(':').unwrap_or((text, ""));
    let mut options = Options::new();
    if let Some((option, word)) = option.split_once('=') {
        options.set(option, word);
    }
    formulations::make(name, &options).unwrap()
}

/// Every kind, and every basis of the null space.
fn variants() -> impl Iterator<Item = Variant> {
    let bases = ["null_space:basis=qr", "null_space:basis=svd"];
    let needs = formulations::find("null_space").unwrap().needs;
    let kinds = KINDS.iter().map(|k| Variant { name: k.name, needs: k.needs });
    kinds.chain(bases.map(|name| Variant { name, needs }))
}

fn solve(kind: Variant, s: &Structure, eq: &Equations) -> Result<Accel, SolveError> {
    solve_with(make(kind.name).as_mut(), s, eq)
}

fn solve_with(f: &mut dyn Formulation, s: &Structure, eq: &Equations) -> Result<Accel, SolveError> {
    let mut kkt = Kkt::new(s, eq, HUB_DEGREE)?;
    let mut out = Accel::zeros(s);
    f.accelerations(s, eq, &mut kkt, &mut out).map(|()| out)
}

fn exact() -> impl Iterator<Item = Variant> {
    variants().filter(|k| k.needs.exact)
}

fn close(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    let far = a.iter().zip(b).any(|(a, b)| (a - b).abs() > tolerance || a.is_nan());
    assert!(a.len() == b.len() && !far, "{what}: {a:?} instead of {b:?}");
}

/// A point of 2 kg on a line that rises by 3 in 4 under gravity g, with friction μN against its motion down the line:
/// v̇ = (0.6 - 0.8 μ) g along it. C acts along the line and, as a stiction that presses would, a little across it, which
/// changes λ alone.
#[test]
fn what_constraints_do_along_the_line_moves_the_point_and_across_it_only_loads_the_line() {
    let (g, mu, m) = (10.0, 0.25, 2.0);
    let (along, across) = ([-0.8, -0.6], [-0.6, 0.8]);
    let normal = 0.8 * m * g;
    let C = |press: f64| [0, 1].map(|i| -mu * normal * along[i] + press * across[i]);
    for kind in exact() {
        for press in [0.0, 3.0] {
            let c = C(press);
            let (s, mut eq) = point(&[across], &[0.0], [c[0], c[1] - m * g]);
            eq.mass = vec![m, 0.0, 0.0, m];
            eq.minv = vec![1.0 / m, 0.0, 0.0, 1.0 / m];
            let accel = solve(kind, &s, &eq).unwrap();
            let a = (0.6 - 0.8 * mu) * g;
            close(kind.name, &accel.vdot, &along.map(|x| a * x), 1e-14);
            // the line carries what is across it: -λ = N - press
            close(kind.name, &accel.lambda, &[press - normal], 1e-13);
        }
    }
}

/// M with products of inertia, which has no symmetric root that is triangular: 4x + 2y + λ = 3, 2x + 2y + λ = -2 and
/// x + y = 1 give x = 5/2, y = -3/2, λ = -4; with the row written again at twice the length, λ = (-0.8, -1.6). A formula
/// that takes the root for symmetric is repaired by refinement, if at all, so that its passes tell.
#[test]
fn masses_with_products_of_inertia_are_solved_at_once() {
    for kind in exact() {
        let full = |J: &[[f64; 2]], gamma: &[f64]| {
            let (s, mut eq) = point(J, gamma, [3.0, -2.0]);
            eq.mass = vec![4.0, 2.0, 2.0, 2.0];
            eq.minv = vec![0.5, -0.5, -0.5, 1.0];
            solve(kind, &s, &eq).unwrap()
        };
        let accel = full(&[[1.0, 1.0]], &[1.0]);
        close(kind.name, &accel.vdot, &[2.5, -1.5], 1e-13);
        close(kind.name, &accel.lambda, &[-4.0], 1e-13);
        // an iteration takes its passes; the others are formulas
        let passes = if kind.name == "augmented_lagrangian" { 2 } else { 0 };
        assert!(accel.refinements <= passes, "{}: {} refinements", kind.name, accel.refinements);
        if !kind.needs.full_rank {
            let accel = full(&[[1.0, 1.0], [2.0, 2.0]], &[1.0, 2.0]);
            close(kind.name, &accel.vdot, &[2.5, -1.5], 1e-13);
            close(kind.name, &accel.lambda, &[-0.8, -1.6], 1e-12);
            assert!(accel.refinements <= passes, "{}: {} refinements", kind.name, accel.refinements);
        }
    }
}

/// The same row in three scales, 1, 2 and 2: λ of least norm is shared as the scales are.
#[test]
fn redundant_rows_share_the_load_with_least_norm() {
    let J = [[0.0, 1.0], [0.0, 2.0], [0.0, 2.0]];
    for kind in exact() {
        let (s, eq) = point(&J, &[3.0, 6.0, 6.0], [5.0, -6.0]);
        let solved = solve(kind, &s, &eq);
        if kind.needs.full_rank {
            assert!(matches!(solved, Err(SolveError::RankDeficient { .. })), "{}: {solved:?}", kind.name);
            continue;
        }
        let accel = solved.unwrap();
        close(kind.name, &accel.vdot, &[5.0, 3.0], 1e-13);
        // λ₁ + 2 λ₂ + 2 λ₃ = -6 - 3
        close(kind.name, &accel.lambda, &[-1.0, -2.0, -2.0], 1e-12);
        assert!(accel.residual < 1e-13, "{}: {}", kind.name, accel.residual);
    }
}

#[test]
fn constraints_that_contradict_each_other_are_an_error_with_a_row() {
    for kind in exact().filter(|k| !k.needs.full_rank) {
        let (s, eq) = point(&[[0.0, 1.0], [0.0, 1.0]], &[1.0, 2.0], [0.0, 0.0]);
        let error = solve(kind, &s, &eq).unwrap_err();
        assert!(matches!(error, SolveError::Inconsistent { row: 0..2, .. }), "{}: {error:?}", kind.name);
    }
}

#[test]
fn what_is_not_a_number_is_an_error() {
    type Spoil = fn(&mut Equations) -> &mut f64;
    let spoils: [(&str, Spoil); 3] =
        [("J", |eq| &mut eq.J[1]), ("f", |eq| &mut eq.f[1]), ("gamma", |eq| &mut eq.gamma[0])];
    for kind in variants() {
        for (quantity, spoil) in spoils {
            let (s, mut eq) = point(&[[0.6, 0.8]], &[1.0], [1.0, 2.0]);
            *spoil(&mut eq) = f64::NAN;
            let error = solve(kind, &s, &eq).unwrap_err();
            let named = matches!(error, SolveError::NotFinite { .. });
            assert!(named, "{}: {quantity} is {error:?}", kind.name);
        }
    }
}

#[test]
fn bodies_without_constraints_and_no_bodies_at_all_are_no_trouble() {
    for kind in variants() {
        let (s, eq) = point(&[], &[], [1.0, 2.0]);
        close(kind.name, &solve(kind, &s, &eq).unwrap().vdot, &[1.0, 2.0], 0.0);
        let s = Structure::builder().build(0, 0).unwrap();
        let eq = Equations::zeros(&s);
        assert_eq!(solve(kind, &s, &eq).unwrap(), Accel::zeros(&s), "{}", kind.name);
        // a row on nothing that moves
        let (s, eq) = point(&[[0.0, 0.0]], &[0.0], [1.0, 2.0]);
        if !kind.needs.full_rank {
            let accel = solve(kind, &s, &eq).unwrap();
            close(kind.name, &accel.vdot, &[1.0, 2.0], 0.0);
            close(kind.name, &accel.lambda, &[0.0], 0.0);
        }
    }
}

/// Nothing is left to move: v̇ follows from γ alone.
#[test]
fn a_point_held_both_ways_obeys_its_constraints() {
    for kind in exact() {
        let (s, eq) = point(&[[1.0, 0.0], [1.0, 1.0]], &[2.0, 5.0], [7.0, 7.0]);
        let accel = solve(kind, &s, &eq).unwrap();
        close(kind.name, &accel.vdot, &[2.0, 3.0], 1e-13);
        close(kind.name, &accel.lambda, &[1.0, 4.0], 1e-13);
    }
}

/// A row and its copy, found on the constraints; off them the copy differs by as much as the violation.
#[test]
fn a_violation_does_not_make_a_copy_independent() {
    for kind in exact().filter(|k| !k.needs.full_rank) {
        let mut formulation = make(kind.name);
        let (s, on) = point(&[[0.0, 1.0], [0.0, 1.0]], &[2.0, 2.0], [1.0, -1.0]);
        let mut kkt = Kkt::new(&s, &on, HUB_DEGREE).unwrap();
        let mut out = Accel::zeros(&s);
        formulation.accelerations(&s, &on, &mut kkt, &mut out).unwrap();
        close(kind.name, &out.vdot, &[1.0, 2.0], 1e-14);
        for violation in [1e-9, 1e-6, 1e-4] {
            let (_, mut off) = point(&[[0.0, 1.0], [violation, 1.0]], &[2.0, 2.0], [1.0, -1.0]);
            off.phi = vec![violation, -violation];
            let solved = formulation.accelerations(&s, &off, &mut kkt, &mut out);
            solved.unwrap_or_else(|e| panic!("{} at {violation}: {e}", kind.name));
            // were they independent, x would be held by λ of 1/violation
            close(kind.name, &out.vdot, &[1.0, 2.0], 3.0 * violation);
            // proximal steps see a copy that differs by 10⁻⁴ as a little less than one
            close(kind.name, &out.lambda, &[-1.5, -1.5], 0.15);
        }
        if let Some(rank) = formulation.statistics().rank {
            assert_eq!((rank.least, rank.most), (1, 1), "{}", kind.name);
        }
    }
}

/// y = 1 + 2e-6 and 2 y = 2 - 3e-6, as rows may say that are off their constraints a little: least squares has
/// y = (1 + 2e-6 + 2 (2 - 3e-6))/5. x is free.
#[test]
fn rows_that_contradict_each_other_a_little_are_solved_in_least_squares() {
    let (s, mut eq) = point(&[[0.0, 1.0], [0.0, 2.0]], &[1.0 + 2e-6, 2.0 - 3e-6], [5.0, -6.0]);
    eq.phi = vec![1e-6, -1e-6];
    let y = (1.0 + 2e-6 + 2.0 * (2.0 - 3e-6)) / 5.0;
    for kind in exact().filter(|k| !k.needs.full_rank) {
        let accel = solve(kind, &s, &eq).unwrap_or_else(|e| panic!("{}: {e}", kind.name));
        // proximal steps find it to ε = 1e-7 of the contradiction
        close(kind.name, &accel.vdot, &[5.0, y], 1e-12);
        let load = (-6.0 - y) / 5.0;
        close(kind.name, &accel.lambda, &[load, 2.0 * load], 1e-5);
    }
}

/// A row that nothing can move, called more than once.
#[test]
fn a_row_without_bodies_is_no_trouble_at_any_call() {
    let mut b = Structure::builder();
    b.row(1, 1, &[]);
    let s = b.build(0, 0).unwrap();
    let eq = Equations::zeros(&s);
    for kind in exact().filter(|k| !k.needs.full_rank) {
        let mut f = make(kind.name);
        for _ in 0..3 {
            assert_eq!(solve_with(f.as_mut(), &s, &eq).unwrap().lambda, [0.0], "{}", kind.name);
        }
    }
}

fn with(name: &str, options: &[(&str, f64)]) -> Box<dyn Formulation> {
    let mut o = Options::new();
    options.iter().for_each(|(name, value)| {
        o.set(*name, *value);
    });
    formulations::make(name, &o).unwrap()
}

#[test]
fn the_penalty_of_the_augmented_lagrangian_changes_its_passes_only() {
    let (s, eq) = point(&[[0.0, 1.0], [1.0, 1.0], [0.0, 2.0]], &[1.0, 4.0, 2.0], [2.0, 3.0]);
    let mut last = u64::MAX;
    for penalty in [1.0, 1e3, 1e7, 1e10] {
        let mut f = with("augmented_lagrangian", &[("penalty", penalty)]);
        let accel = solve_with(f.as_mut(), &s, &eq).unwrap();
        close("v̇", &accel.vdot, &[3.0, 1.0], 1e-13);
        // 1 λ₂ = -1, λ₁ + λ₂ + 2 λ₃ = 2, least: (λ₁, λ₃) along (1, 2)
        close("λ", &accel.lambda, &[0.6, -1.0, 1.2], 1e-12);
        let passes = f.statistics().iterations;
        assert!(passes <= last, "{passes} passes at {penalty}, {last} before");
        last = passes;
    }
    assert!(last <= 3, "{last}");
}

/// A call after others gives bit for bit what it would give alone.
#[test]
fn the_augmented_lagrangian_has_no_memory() {
    let (s, eq) = point(&[[0.3, 1.0], [0.6, 2.0]], &[1.0, 2.0], [2.0, 3.0]);
    let (_, other) = point(&[[0.3, 1.0], [0.6, 2.0]], &[-7.0, -14.0], [50.0, 1.0]);
    let mut f = with("augmented_lagrangian", &[]);
    let alone = solve_with(f.as_mut(), &s, &eq).unwrap();
    solve_with(f.as_mut(), &s, &other).unwrap();
    assert_eq!(solve_with(f.as_mut(), &s, &eq).unwrap(), alone);
}

#[test]
fn an_augmented_lagrangian_that_does_not_converge_says_so() {
    let (s, eq) = point(&[[0.0, 1.0], [1.0, 1.0]], &[1.0, 4.0], [2.0, 3.0]);
    let error = solve_with(with("augmented_lagrangian", &[("penalty", 0.03)]).as_mut(), &s, &eq).unwrap_err();
    match error {
        SolveError::NoConvergence { iterations, residual } => {
            assert!(iterations > 100 && residual > 1e-10, "{error}");
        }
        SolveError::Inconsistent { .. } => panic!("a slow iteration is no contradiction: {error}"),
        _ => panic!("{error}"),
    }
}

/// Two rows on a unit mass, the second without a position level, whose Φ must not be read.
#[test]
fn penalty_forces_are_those_of_springs_and_dampers() {
    let mut b = Structure::builder();
    b.column(2);
    b.row(2, 1, &[0]);
    let s = b.build(2, 0).unwrap();
    let mut eq = Equations::zeros(&s);
    eq.mass = vec![4.0, 0.0, 0.0, 4.0];
    eq.minv = vec![0.25, 0.0, 0.0, 0.25];
    eq.J = vec![2.0, 0.0, 0.0, 1.0];
    eq.f = vec![1.0, 2.0];
    eq.phi = vec![0.1, f64::NAN];
    eq.phidot = vec![0.01, 0.5];
    eq.gamma = vec![1e9, 1e9];
    let mut f = with("penalty", &[("frequency", 30.0), ("damping", 0.25)]);
    let accel = solve_with(f.as_mut(), &s, &eq).unwrap();
    // m = 1/(2² / 4) = 1 and 4
    let lambda = [900.0 * 0.1 + 15.0 * 0.01, 4.0 * 30.0 * 0.5];
    close("λ", &accel.lambda, &lambda, 1e-12);
    close("v̇", &accel.vdot, &[(1.0 - 2.0 * lambda[0]) / 4.0, (2.0 - lambda[1]) / 4.0], 1e-12);

    eq.phi[0] = f64::INFINITY;
    let error = solve_with(f.as_mut(), &s, &eq).unwrap_err();
    assert!(matches!(error, SolveError::NotFinite { quantity: "phi", index: 0 }), "{error:?}");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (name, option) in
        [("penalty", "frequency"), ("penalty", "damping"), ("augmented_lagrangian", "penalty")]
    {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(
                formulations::make(name, Options::new().set(option, bad)).is_err(),
                "{name} {option} {bad}"
            );
        }
    }
    assert!(formulations::make("penalty", Options::new().set("damping", 0.0)).is_ok());
    assert!(formulations::make("penalty", Options::new().set("frequency", 0.0)).is_err());
}

/// Unit mass at distance 1 from the origin under gravity, q = (x, y), Φ = |q| - 1.
struct Pendulum(Structure);

impl Problem for Pendulum {
    fn structure(&self) -> &Structure {
        &self.0
    }
    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        minv.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn update(&mut self, s: &State, _: Stage, eq: &mut Equations) {
        let r = s.q[0].hypot(s.q[1]);
        let n = [s.q[0] / r, s.q[1] / r];
        let speed = n[0] * s.v[0] + n[1] * s.v[1];
        eq.J.copy_from_slice(&n);
        eq.phi[0] = r - 1.0;
        eq.phidot[0] = speed;
        eq.gamma[0] = -(s.v[0].powi(2) + s.v[1].powi(2) - speed * speed) / r;
        eq.f.copy_from_slice(&[0.0, -9.81]);
    }
    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        qdot.copy_from_slice(&s.v);
    }
    fn xdot(&mut self, _: &State, _: &Equations, _: &Accel, _: &mut [f64]) {}
    fn retract(&self, _: &mut [f64], _: &[f64]) {}
    fn difference(&self, _: &[f64], _: &[f64], _: &mut [f64]) {}
    fn normalize(&self, _: &mut [f64]) {}
    fn accept(&mut self, _: &State) {}
    fn name_of_row(&self, _: usize) -> String {
        "rod".into()
    }
}

/// Returns where the pendulum is after half a second, from level and at rest, by classical Runge-Kutta in `steps` steps.
fn swing(formulation: Box<dyn Formulation>, steps: usize) -> [f64; 2] {
    let mut b = Structure::builder();
    b.column(2);
    b.row(1, 1, &[0]);
    let mut pendulum = Pendulum(b.build(2, 0).unwrap());
    let none = stabilizations::make("none", &Options::new()).unwrap();
    let mut d = Dynamics::new(&mut pendulum, formulation, none).unwrap();
    let h = 0.5 / steps as f64;
    let mut s = State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.0, 0.0], x: vec![] };
    for _ in 0..steps {
        let mut sum = [0.0; 4];
        let mut at = s.clone();
        for (weight, next) in [(1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)] {
            let (mut dq, mut dv) = ([0.0; 2], [0.0; 2]);
            d.rhs(&at, &mut dq, &mut dv, &mut []).unwrap();
            for i in 0..2 {
                sum[i] += weight * dq[i];
                sum[2 + i] += weight * dv[i];
                at.q[i] = s.q[i] + next * h * dq[i];
                at.v[i] = s.v[i] + next * h * dv[i];
            }
        }
        for i in 0..2 {
            s.q[i] += h / 6.0 * sum[i];
            s.v[i] += h / 6.0 * sum[2 + i];
        }
        s.t += h;
    }
    [s.q[0], s.q[1]]
}

/// With 1/ε = m ω² the error is ε times something: a quarter at twice the frequency.
#[test]
fn penalty_tends_to_the_constrained_motion_with_the_first_power_of_epsilon() {
    let exact = swing(with("direct", &[]), 20_000);
    let error = |omega: f64| {
        let at = swing(with("penalty", &[("frequency", omega)]), 20_000);
        (at[0] - exact[0]).hypot(at[1] - exact[1])
    };
    let errors = [100.0, 200.0, 400.0, 800.0].map(error);
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        // the next order is 1/ω smaller: 1/ω of the pendulum's own 3/s
        assert!((ratio - 4.0).abs() < 0.3, "{errors:?}");
    }
}
