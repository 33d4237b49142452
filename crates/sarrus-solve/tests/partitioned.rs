//! Coordinate partitioning and direct correction, on a bead in the plane and on a skate.

use sarrus_solve::{
    Accel, Dynamics, Equations, MethodStatistics, Ode, Options, Problem, SolveError, Stage, State, StepError,
    Structure, formulations, stabilizations,
};

/// A row Φ(x, y) = 0 with its slopes and its second derivatives along v; `holonomic` or only as ∇Φ·v = 0.
#[derive(Clone, Copy)]
struct Row {
    phi: fn([f64; 2]) -> f64,
    slope: fn([f64; 2]) -> [f64; 2],
    curvature: fn([f64; 2], [f64; 2]) -> f64,
    holonomic: bool,
}

/// |q| = 1.
const CIRCLE: Row = Row {
    phi: |q| q[0].hypot(q[1]) - 1.0,
    slope: |q| {
        let r = q[0].hypot(q[1]);
        [q[0] / r, q[1] / r]
    },
    curvature: |q, v| {
        let r = q[0].hypot(q[1]);
        let across = (q[0] * v[1] - q[1] * v[0]) / r;
        across * across / r
    },
    holonomic: true,
};
/// y = 1 - x².
const PARABOLA: Row = Row {
    phi: |q| q[0] * q[0] + q[1] - 1.0,
    slope: |q| [2.0 * q[0], 1.0],
    curvature: |_, v| 2.0 * v[0] * v[0],
    holonomic: true,
};
/// x² = -1.
const NOWHERE: Row = Row { phi: |q| q[0] * q[0] + 1.0, slope: |q| [2.0 * q[0], 0.0], ..PARABOLA };
/// The circle a little larger.
const LARGER: Row = Row { phi: |q| q[0].hypot(q[1]) - 1.0 - 1e-6, ..CIRCLE };
/// The same slope, and a curvature that is not.
const LIAR: Row = Row { curvature: |_, _| -3.0, ..CIRCLE };

/// A bead under gravity whose inertia differs along x and y, on some curves.
struct Bead {
    structure: Structure,
    rows: Vec<Row>,
    mass: [f64; 2],
}

impl Bead {
    fn new(mass: [f64; 2], rows: &[Row]) -> Bead {
        let mut b = Structure::builder();
        b.column(2);
        for row in rows {
            b.row(1, usize::from(row.holonomic), &[0]);
        }
        Bead { structure: b.build(2, 0).unwrap(), rows: rows.to_vec(), mass }
    }
}

impl Problem for Bead {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        mass.copy_from_slice(&[self.mass[0], 0.0, 0.0, self.mass[1]]);
        minv.copy_from_slice(&[1.0 / self.mass[0], 0.0, 0.0, 1.0 / self.mass[1]]);
    }
    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        let (q, v) = ([s.q[0], s.q[1]], [s.v[0], s.v[1]]);
        for (k, row) in self.rows.iter().enumerate() {
            let n = (row.slope)(q);
            eq.J[2 * k..][..2].copy_from_slice(&n);
            eq.phi[k] = if row.holonomic { (row.phi)(q) } else { f64::NAN };
            if stage.includes(Stage::VELOCITY) {
                eq.phidot[k] = n[0] * v[0] + n[1] * v[1];
                eq.phi_t[k] = 0.0;
            }
            if stage.includes(Stage::FORCE) {
                eq.gamma[k] = -(row.curvature)(q, v);
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
    fn accept(&mut self, _: &State) {}
    fn name_of_row(&self, row: usize) -> String {
        format!("curve {row}")
    }
}

fn dynamics<'a>(bead: &'a mut Bead, formulation: &str, stabilization: &str) -> Dynamics<'a, Bead> {
    let formulation = formulations::make(formulation, &Options::new()).unwrap();
    let stabilization = stabilizations::make(stabilization, &Options::new()).unwrap();
    Dynamics::new(bead, formulation, stabilization).unwrap()
}

fn state(q: [f64; 2], v: [f64; 2]) -> State {
    State { t: 0.0, q: q.to_vec(), v: v.to_vec(), x: Vec::new() }
}

/// The largest of ‖Φ‖ and ‖Φ̇‖ along 20 s on the circle from (1, 0), by classical Runge-Kutta with step 0.01, and
/// what the methods found.
fn drift(rows: &[Row], formulation: &str, stabilization: &str) -> ([f64; 2], [MethodStatistics; 2]) {
    let mut bead = Bead::new([1.0, 1.0], rows);
    let mut d = dynamics(&mut bead, formulation, stabilization);
    let mut s = state([1.0, 0.0], [0.0, 0.0]);
    let (h, mut worst) = (0.01, [0.0_f64; 2]);
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
        let (q, v) = ([s.q[0], s.q[1]], [s.v[0], s.v[1]]);
        let n = (CIRCLE.slope)(q);
        worst[0] = worst[0].max((CIRCLE.phi)(q).abs());
        worst[1] = worst[1].max((n[0] * v[0] + n[1] * v[1]).abs());
    }
    (worst, d.statistics())
}

/// Nothing said of an integrator's tolerance: 1e-11 remains. One correction of a step's error, here 1e-8, leaves its
/// square, which is rounding.
#[test]
fn drift_is_stopped_by_partitioning_and_by_direct_correction() {
    let (none, _) = drift(&[CIRCLE], "proximal", "none");
    assert!(none[0] > 1e-6, "{none:?}");
    for rows in [&[CIRCLE][..], &[CIRCLE; 3]] {
        for formulation in ["proximal", "partitioned"] {
            let (partitioned, _) = drift(rows, formulation, "partitioned");
            assert!(partitioned[0] <= 1e-11 && partitioned[1] < 1e-14, "{partitioned:?}");
            let (corrected, _) = drift(rows, formulation, "violation_correction");
            assert!(corrected[0] < 4e-15 && corrected[1] < 1e-14, "{corrected:?}");
        }
    }
}

/// The bead swings from (1, 0), where x depends on y, through (0, -1), where y must depend on x, and back.
#[test]
fn a_dead_point_of_an_independent_coordinate_is_noticed() {
    let (_, found) = drift(&[CIRCLE], "partitioned", "partitioned");
    for found in found {
        let partition = found.partition.unwrap();
        assert!(partition.choices > 10, "{partition:?}");
        // between two steps the bead moves by 0.05 at most, so that ten times worse is at most 20 times
        assert!(partition.condition > 1.0 && partition.condition < 20.0, "{partition:?}");
        assert_eq!(partition.independent.len(), 1);
        let rank = found.rank.unwrap();
        assert_eq!((rank.least, rank.most), (1, 1));
        assert!(rank.margin > 1e6, "{rank:?}");
    }
}

/// At (0.6, 0.8) y depends on x, which stays as it is.
#[test]
fn independent_coordinates_stay_as_integrated() {
    let mut bead = Bead::new([1.0, 1.0], &[CIRCLE]);
    let mut d = dynamics(&mut bead, "proximal", "partitioned");
    let mut s = state([0.606, 0.808], [1.0, 2.0]);
    assert!(d.finish_step(&mut s, 0.01).unwrap());
    assert_eq!((s.q[0], s.v[0]), (0.606, 1.0));
    let y = (1.0_f64 - 0.606 * 0.606).sqrt();
    assert!((s.q[1] - y).abs() < 1e-11 && (s.v[1] + 0.606 / y).abs() < 1e-10, "{s:?}");

    // heavy along y: what is lighter is moved
    let mut bead = Bead::new([1.0, 100.0], &[CIRCLE]);
    let mut d = dynamics(&mut bead, "proximal", "partitioned");
    let mut s = state([0.606, 0.808], [1.0, 2.0]);
    d.finish_step(&mut s, 0.01).unwrap();
    assert_eq!((s.q[1], s.v[1]), (0.808, 2.0));
}

/// Positions have one row, velocities two: no velocity is left, and one coordinate is.
#[test]
fn rows_at_velocity_level_take_part_in_the_velocities_alone() {
    let slope = Row { slope: |_| [1.0, 3.0], curvature: |_, _| 0.0, holonomic: false, ..CIRCLE };
    let mut bead = Bead::new([1.0, 1.0], &[slope, CIRCLE]);
    let mut d = dynamics(&mut bead, "proximal", "partitioned");
    let mut s = state([0.606, 0.808], [1.0, 2.0]);
    d.finish_step(&mut s, 0.01).unwrap();
    assert_eq!(s.q[0], 0.606);
    assert!((CIRCLE.phi)([s.q[0], s.q[1]]).abs() < 1e-11);
    assert!(s.v.iter().all(|v| v.abs() < 1e-14), "{:?}", s.v);
}

/// On the parabola: M v̇ + Jᵀλ = f and J v̇ = γ by hand, λ shared equally by rows that say the same.
#[test]
fn accelerations_and_least_multipliers_are_those_of_the_curve() {
    let (q, v, m) = ([0.7, 0.51], [0.3, -0.42], [1.0, 4.0]);
    let n = [1.4, 1.0];
    let gamma = -2.0 * v[0] * v[0];
    // J M⁻¹Jᵀ λ = J M⁻¹f - γ
    let lambda = (-9.81 / m[1] - gamma) / (n[0] * n[0] / m[0] + n[1] * n[1] / m[1]);
    let vdot = [-n[0] * lambda / m[0], (-9.81 - n[1] * lambda) / m[1]];
    for copies in [1, 2, 5] {
        let mut bead = Bead::new(m, &vec![PARABOLA; copies]);
        let mut d = dynamics(&mut bead, "partitioned", "none");
        let accel = d.evaluate(&state(q, v)).unwrap();
        assert!((0..2).all(|i| (accel.vdot[i] - vdot[i]).abs() < 1e-14), "{:?} {vdot:?}", accel.vdot);
        for share in &accel.lambda {
            assert!((share - lambda / copies as f64).abs() < 1e-14, "{copies}: {:?}", accel.lambda);
        }
        assert!(accel.residual < 4e-15);
    }
}

/// Rows of unequal length: λ is the shortest, not the one that is shortest when rows have unit length.
#[test]
fn multipliers_are_of_least_norm_whatever_the_scale_of_a_row() {
    let twice = Row { slope: |q| [4.0 * q[0], 2.0], curvature: |_, v| 4.0 * v[0] * v[0], ..PARABOLA };
    let mut bead = Bead::new([1.0, 4.0], &[PARABOLA, twice]);
    let mut d = dynamics(&mut bead, "partitioned", "none");
    let lambda = d.evaluate(&state([0.7, 0.51], [0.3, -0.42])).unwrap().lambda.clone();
    // of all with λ₁ + 2 λ₂ given, that along (1, 2)
    assert!((lambda[1] - 2.0 * lambda[0]).abs() < 1e-14 && lambda[0].abs() > 0.1, "{lambda:?}");
}

#[test]
fn rows_that_contradict_each_other_are_an_error() {
    let mut bead = Bead::new([1.0, 1.0], &[CIRCLE, LIAR]);
    let mut d = dynamics(&mut bead, "partitioned", "none");
    let error = d.evaluate(&state([0.6, 0.8], [-0.8, 0.6])).unwrap_err();
    assert!(matches!(error, SolveError::Inconsistent { .. }), "{error:?}");
}

/// Circles of radius 1 and 1 + 1e-6 have no common point: the middle between them is as good as it gets.
#[test]
fn curves_that_almost_agree_are_no_error() {
    let mut bead = Bead::new([1.0, 1.0], &[CIRCLE, LARGER]);
    let mut d = dynamics(&mut bead, "proximal", "partitioned");
    let mut s = state([0.6, 0.8 + 1e-4], [0.1, 0.2]);
    d.finish_step(&mut s, 0.01).unwrap();
    assert!((s.q[0].hypot(s.q[1]) - 1.0 - 0.5e-6).abs() < 1e-10, "{:?}", s.q);
}

#[test]
fn newton_without_an_answer_is_an_error_with_its_row() {
    let mut bead = Bead::new([1.0, 1.0], &[NOWHERE]);
    let mut d = dynamics(&mut bead, "proximal", "partitioned");
    let error = d.finish_step(&mut state([0.3, 0.0], [0.0, 0.0]), 0.01).unwrap_err();
    let StepError::Project { source: SolveError::Projection { row: 0, violation, iterations }, .. } = error
    else {
        panic!("{error:?}");
    };
    assert!(violation >= 1.0 && iterations > 0, "{violation} {iterations}");
    // the circle has no direction at its centre
    let mut bead = Bead::new([1.0, 1.0], &[CIRCLE]);
    let mut d = dynamics(&mut bead, "proximal", "partitioned");
    let error = d.finish_step(&mut state([0.0, 0.0], [0.0, 0.0]), 0.01).unwrap_err();
    assert!(matches!(error, StepError::Project { source: SolveError::NotFinite { .. }, .. }), "{error:?}");
}

/// δq = -JᵀΦ/|J|² whatever the masses: of the parabola's Φ it leaves δx².
#[test]
fn direct_correction_is_the_shortest_in_the_coordinates_and_made_once() {
    for mass in [[1.0, 1.0], [1.0, 100.0]] {
        let mut bead = Bead::new(mass, &[PARABOLA]);
        let mut d = dynamics(&mut bead, "proximal", "violation_correction");
        let mut s = state([0.7, 0.54], [1.0, 2.0]);
        d.finish_step(&mut s, 0.01).unwrap();
        let (phi, n) = (0.03, [1.4, 1.0]);
        let delta = n.map(|n| -n * phi / (1.4 * 1.4 + 1.0));
        assert!((s.q[0] - 0.7 - delta[0]).abs() < 1e-15 && (s.q[1] - 0.54 - delta[1]).abs() < 1e-15);
        assert!(((PARABOLA.phi)([s.q[0], s.q[1]]) - delta[0] * delta[0]).abs() < 1e-15);
        // velocities are exact, and what is along the curve stays
        let n = (PARABOLA.slope)([s.q[0], s.q[1]]);
        assert!((n[0] * s.v[0] + n[1] * s.v[1]).abs() < 1e-14);
        let along = |v: [f64; 2]| v[0] * n[1] - v[1] * n[0];
        assert!((along([s.v[0], s.v[1]]) - along([1.0, 2.0])).abs() < 1e-14);
        assert_eq!(d.counts().projection_iterations, 1);
    }
    let mut bead = Bead::new([1.0, 1.0], &[PARABOLA]);
    let formulation = formulations::make("proximal", &Options::new()).unwrap();
    let thrice = stabilizations::make("violation_correction", Options::new().set("iterations", 3.0)).unwrap();
    let mut d = Dynamics::new(&mut bead, formulation, thrice).unwrap();
    let mut s = state([0.7, 0.54], [1.0, 2.0]);
    d.finish_step(&mut s, 0.01).unwrap();
    assert!((PARABOLA.phi)([s.q[0], s.q[1]]).abs() < 1e-15);
}

#[test]
fn a_tolerance_asked_for_is_kept_and_no_more() {
    let violation = |tolerance: f64| {
        let mut bead = Bead::new([1.0, 1.0], &[PARABOLA]);
        let formulation = formulations::make("proximal", &Options::new()).unwrap();
        let made = stabilizations::make("partitioned", Options::new().set("tolerance", tolerance)).unwrap();
        let mut d = Dynamics::new(&mut bead, formulation, made).unwrap();
        let mut s = state([0.9, 0.3], [0.0, 0.0]);
        d.finish_step(&mut s, 0.01).unwrap();
        ((PARABOLA.phi)([s.q[0], s.q[1]]).abs(), d.counts().projection_iterations)
    };
    let (loose, few) = violation(1e-2);
    let (tight, many) = violation(1e-14);
    assert!(loose <= 1e-2 && loose > 1e-6 && tight <= 1e-14, "{loose:e} {tight:e}");
    assert!(few < many);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (kind, option, bad) in [
        ("partitioned", "tolerance", 0.0),
        ("partitioned", "tolerance", f64::NAN),
        ("violation_correction", "iterations", 0.0),
        ("violation_correction", "iterations", 1.5),
    ] {
        assert!(
            stabilizations::make(kind, Options::new().set(option, bad)).is_err(),
            "{kind} {option} {bad}"
        );
    }
}

/// At the top of the circle "stays on it" and "does not rise" say the same; elsewhere they leave no motion at all.
#[test]
fn a_rank_that_rises_on_the_way_is_noticed() {
    let level = Row { slope: |_| [0.0, 1.0], curvature: |_, _| 0.0, holonomic: false, ..CIRCLE };
    let mut bead = Bead::new([1.0, 1.0], &[CIRCLE, level]);
    let mut d = dynamics(&mut bead, "partitioned", "none");
    let top = d.evaluate(&state([0.0, 1.0], [0.0, 0.0])).unwrap();
    assert!(top.vdot.iter().all(|x| x.abs() < 1e-14));
    assert!((top.lambda[0] - top.lambda[1]).abs() < 1e-14, "{:?}", top.lambda);
    let aside = d.evaluate(&state([0.6, 0.8], [0.0, 0.0])).unwrap();
    assert!(aside.vdot.iter().all(|x| x.abs() < 1e-14), "{:?}", aside.vdot);
    assert!(aside.lambda[0].abs() < 1e-14 && (aside.lambda[1] + 9.81).abs() < 1e-13, "{:?}", aside.lambda);
    let found = &d.statistics()[0];
    assert_eq!(found.rank.map(|r| (r.least, r.most)), Some((1, 2)));
    assert_eq!(found.partition.as_ref().map(|p| (p.choices, p.independent.len())), Some((2, 0)));
}
