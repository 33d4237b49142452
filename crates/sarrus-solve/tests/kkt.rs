//! The block-sparse solver against dense elimination, closed forms and large patterns.

mod patterns;

use patterns::*;
use proptest::prelude::*;
use sarrus_solve::{ActiveRows, Equations, HUB_DEGREE, Kkt, RankDemand, SolveError, SolveReport, Structure};

fn solve(
    s: &Structure,
    eq: &Equations,
    hubs: usize,
    rank: RankDemand,
) -> Result<(Vec<f64>, Vec<f64>, SolveReport), SolveError> {
    let mut kkt = Kkt::new(s, eq, hubs)?;
    let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    kkt.factor(eq, ActiveRows::All, rank)?;
    let report = kkt.solve(eq, &eq.f, &eq.gamma, &mut x, &mut mu)?;
    report.check()?;
    kkt.least_norm(eq, &mut mu)?;
    Ok((x, mu, report))
}

/// Unit mass on the plane y = x under gravity: v̇ = -g/2 (1, 1), and the plane pushes with g/2, so λ = -g/2.
#[test]
fn bead_on_an_incline() {
    let g = 9.81;
    let s = structure(&[2], &[(1, vec![0])]);
    let eq = Equations {
        mass: vec![1.0, 0.0, 0.0, 1.0],
        minv: vec![1.0, 0.0, 0.0, 1.0],
        J: vec![-1.0, 1.0],
        f: vec![0.0, -g],
        ..Equations::zeros(&s)
    };
    for rank in [RankDemand::Full, RankDemand::Any] {
        let (vdot, lambda, _) = solve(&s, &eq, HUB_DEGREE, rank).unwrap();
        assert!(difference(&vdot, &[-g / 2.0, -g / 2.0]) < 1e-14);
        assert!((lambda[0] + g / 2.0).abs() < 1e-14);
    }
}

proptest! {
    /// With hubs at every degree: the answer must not depend on who is eliminated first.
    #[test]
    fn agrees_with_dense_elimination(
        cols in proptest::collection::vec(1usize..7, 1..8),
        rows in proptest::collection::vec((1usize..7, proptest::collection::vec(0usize..8, 0..4)), 1..10),
        hubs in 0usize..6,
        seed in any::<u64>(),
    ) {
        let rows: Vec<(usize, Vec<usize>)> = rows.into_iter().map(|(size, mut on)| {
            on.retain(|&c| c < cols.len());
            on.sort_unstable();
            on.dedup();
            (size, on)
        }).collect();
        let s = structure(&cols, &rows);
        let mut eq = random_equations(&s, seed);
        // γ that some v̇ satisfies, as more rows than velocities are allowed
        let any: Vec<f64> = eq.f.iter().map(|f| f.cos()).collect();
        eq.gamma.fill(0.0);
        let mut gamma = eq.gamma.clone();
        eq.add_J_mul(&s, &any, &mut gamma);
        eq.gamma = gamma;

        let (x, mu, report) = solve(&s, &eq, hubs, RankDemand::Any).unwrap();
        // these two make v̇ unique, whatever the rank; μ may be the difference of much larger numbers
        let size = mu.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        let (motion, _) = residual(&s, &eq, &x, &mu);
        prop_assert!(motion < 1e-9 * size, "{motion:e} {report:?}");
        // a pivot of 1e-10 is taken for rounding, so a row that is almost dependent may be missed by the root of that
        prop_assert!(report.residual < 1e-10 && report.contradiction < 1e-5, "{report:?}");
        if let Some((vdot, lambda)) = dense_solution(&s, &eq).filter(|(_, l)| l.iter().all(|l| l.abs() < 1e3)) {
            prop_assert!(difference(&x, &vdot) < 1e-8 * size, "v̇ off by {}", difference(&x, &vdot));
            let all_rows = report.contradiction == 0.0;
            prop_assert!(!all_rows || difference(&mu, &lambda) < 1e-6 * size, "λ off by {}", difference(&mu, &lambda));
        }
    }
}

/// A chain whose third joint is there twice: the motion is the same, and the two share the reaction.
#[test]
fn a_duplicated_joint_changes_no_motion_and_halves_its_multipliers() {
    let (single, eq1) = planar_chain(6, 0.4);
    let mut b = Structure::builder();
    (0..6).for_each(|_| {
        b.column(3);
    });
    for i in 0..6 {
        let on = if i == 0 { vec![0] } else { vec![i - 1, i] };
        for _ in 0..if i == 2 { 2 } else { 1 } {
            b.row(2, 2, &on);
        }
    }
    let s = b.build(0, 0).unwrap();
    let mut eq = Equations::zeros(&s);
    (eq.mass, eq.minv, eq.f) = (eq1.mass.clone(), eq1.minv.clone(), eq1.f.clone());
    eq.J = [&eq1.J[..30], &eq1.J[18..30], &eq1.J[30..]].concat();
    eq.gamma = [&eq1.gamma[..6], &eq1.gamma[4..6], &eq1.gamma[6..]].concat();

    let (vdot, lambda, _) = solve(&single, &eq1, HUB_DEGREE, RankDemand::Full).unwrap();
    let (x, mu, _) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(difference(&x, &vdot) < 1e-12, "v̇ off by {}", difference(&x, &vdot));
    let halved: Vec<f64> = (0..14)
        .map(|i| match i {
            4..8 => lambda[4 + i % 2] / 2.0,
            8.. => lambda[i - 2],
            _ => lambda[i],
        })
        .collect();
    // rounding reaches the null space of λ through 1/ε, with ε = 1e-7
    assert!(difference(&mu, &halved) < 1e-7, "λ off by {}", difference(&mu, &halved));
    match solve(&s, &eq, HUB_DEGREE, RankDemand::Full).unwrap_err() {
        SolveError::RankDeficient { row, .. } => assert!((4..8).contains(&row), "row {row}"),
        other => panic!("{other}"),
    }
}

/// Products of velocities that have died away are subnormal numbers, whose few digits no residual can be held to.
#[test]
fn a_chain_that_has_all_but_come_to_rest_is_solved() {
    let (s, mut eq) = planar_chain(6, 0.4);
    eq.f.fill(0.0);
    eq.gamma.iter_mut().for_each(|g| *g *= 3e-322);
    assert!(eq.gamma.iter().any(|g| *g != 0.0));
    for rank in [RankDemand::Full, RankDemand::Any] {
        let (vdot, lambda, _) = solve(&s, &eq, HUB_DEGREE, rank).unwrap();
        assert!(vdot.iter().chain(&lambda).all(|x| x.abs() < 1e-300), "{vdot:?} {lambda:?}");
    }
}

/// One unknown held by x = 1 and by 2x = 2: the least λ is along (1, 2), and λ₁ + 2 λ₂ = f - 1.
#[test]
fn multipliers_of_dependent_rows_have_the_least_norm() {
    let s = structure(&[1], &[(1, vec![0]), (1, vec![0])]);
    let mut eq = Equations::zeros(&s);
    (eq.mass, eq.minv) = (vec![1.0], vec![1.0]);
    (eq.J, eq.f, eq.gamma) = (vec![1.0, 2.0], vec![6.0], vec![1.0, 2.0]);
    let (x, mu, _) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-13);
    assert!(difference(&mu, &[1.0, 2.0]) < 1e-7, "{mu:?}");
}

/// The same with x = 1 and 2x = 5: no x does both.
#[test]
fn contradicting_rows_are_an_error_that_names_one() {
    let s = structure(&[1, 1], &[(1, vec![1]), (1, vec![0]), (1, vec![0])]);
    let mut eq = Equations::zeros(&s);
    (eq.mass, eq.minv) = (vec![1.0; 2], vec![1.0; 2]);
    (eq.J, eq.f, eq.gamma) = (vec![1.0, 1.0, 2.0], vec![6.0; 2], vec![0.0, 1.0, 5.0]);
    match solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap_err() {
        SolveError::Inconsistent { row, residual } => {
            assert!(row == 1 || row == 2);
            assert!(residual > 0.1);
        }
        other => panic!("{other}"),
    }
}

/// x = 1 and 2x = 2 + 1e-7, as an integrator's drift would have it: the multipliers must not see the difference.
#[test]
fn a_slight_contradiction_does_not_reach_the_multipliers() {
    let s = structure(&[1], &[(1, vec![0]), (1, vec![0])]);
    let mut eq = Equations::zeros(&s);
    (eq.mass, eq.minv) = (vec![1.0], vec![1.0]);
    (eq.J, eq.f, eq.gamma) = (vec![1.0, 2.0], vec![6.0], vec![1.0, 2.0 + 1e-7]);
    let (x, mu, report) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(report.contradiction > 1e-10 && report.contradiction < 1e-6, "{report:?}");
    assert!((x[0] - 1.0).abs() < 1e-7);
    assert!(difference(&mu, &[1.0, 2.0]) < 1e-6, "{mu:?}");
}

/// Masses from a gram to a ton along a chain whose first joint is duplicated: no ε would suit all rows. The lightest
/// body's acceleration is the difference of terms of 1e6.
#[test]
fn very_unequal_masses_with_a_redundancy_are_solved() {
    let n = 13;
    let mut rows: Vec<_> = (0..n).map(|i| (1, if i == 0 { vec![0] } else { vec![i - 1, i] })).collect();
    rows.push((1, vec![0]));
    let s = structure(&vec![1; n], &rows);
    let mut eq = Equations::zeros(&s);
    for i in 0..n {
        eq.mass[i] = 10f64.powf(0.5 * i as f64 - 3.0);
        eq.minv[i] = 1.0 / eq.mass[i];
        eq.f[i] = eq.mass[i];
    }
    for row in &s.rows {
        let entries = &s.entries[row.entries.clone()];
        for (k, e) in entries.iter().enumerate() {
            eq.J[e.offset] = if k + 1 == entries.len() { 1.0 } else { -1.0 };
        }
    }
    let (x, _, report) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(report.residual < 1e-13, "{report:?}");
    assert!(x.iter().all(|x| x.abs() < 1e-9), "{x:?}");
}

/// A hub with 10 000 spokes: eliminating the hub first would join all joints, 50 million blocks.
#[test]
fn a_hub_with_ten_thousand_spokes_stays_linear() {
    let n = 10_000;
    let rows: Vec<_> = (1..=n).map(|i| (2, vec![0, i])).chain([(2, vec![0])]).collect();
    let s = structure(&vec![3; n + 1], &rows);
    let eq = random_equations(&s, 5);
    let kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    assert!(kkt.blocks() <= 3 * n, "{} blocks", kkt.blocks());
    let (x, mu, report) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    let (motion, rows) = residual(&s, &eq, &x, &mu);
    assert!(motion < 1e-9 && rows < 1e-9, "{motion:e} {rows:e} {report:?}");
}

/// A wheel welded to the ground through an axle: without the wheel the axle's joints look dependent.
#[test]
fn a_hub_held_through_another_body_is_no_redundancy() {
    let spokes = 30;
    let axle = spokes + 1;
    let mut rows: Vec<_> = (1..=spokes).map(|i| (2, vec![0, i])).collect();
    rows.push((3, vec![axle]));
    rows.push((2, vec![0, axle]));
    let s = structure(&vec![3; spokes + 2], &rows);
    let eq = random_equations(&s, 11);
    let (vdot, lambda) = dense_solution(&s, &eq).unwrap();
    let (x, mu, _) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(difference(&x, &vdot) < 1e-9, "v̇ off by {}", difference(&x, &vdot));
    assert!(difference(&mu, &lambda) < 1e-8, "λ off by {}", difference(&mu, &lambda));
    let (x, _, _) = solve(&s, &eq, HUB_DEGREE, RankDemand::Full).unwrap();
    assert!(difference(&x, &vdot) < 1e-9, "v̇ off by {}", difference(&x, &vdot));
}

#[test]
fn a_chain_of_ten_thousand_fills_nothing_and_is_solved_to_rounding() {
    let n = 10_000;
    let (s, eq) = planar_chain(n, 0.3);
    let kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    assert_eq!(kkt.blocks(), 2 * n - 1);
    let (_, _, report) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(report.residual < 1e-13 && report.refinements <= 3, "{report:?}");
}

/// Hinges that all rotate about z make a cantilever in z: eliminated from its free end, the last pivot would be 1/n³ and
/// look like a redundancy.
#[test]
fn a_cantilever_of_three_thousand_hinges_has_no_dependent_rows() {
    let n = 3000;
    let (s, eq) = spatial_chain(n, true);
    let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    assert_eq!(kkt.blocks(), 2 * n - 1);
    kkt.factor(&eq, ActiveRows::All, RankDemand::Any).unwrap();
    assert!(kkt.dependent_rows().is_empty());
    let (_, _, report) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(report.residual < 1e-13 && report.refinements <= 3, "{report:?}");
}

/// A joint written twice, then J, γ off by 1e-5 as at the stages of an integrator: exact solution of all rows would
/// answer with accelerations of any size.
#[test]
fn rows_settled_as_dependent_stay_so_off_the_constraints() {
    let n = 6;
    let mut rows: Vec<_> = (0..n).map(|i| (2, if i == 0 { vec![0] } else { vec![i - 1, i] })).collect();
    rows.push(rows[3].clone());
    let s = structure(&vec![3; n], &rows);
    let (_, chain) = planar_chain(n, 0.4);
    let mut eq = Equations::zeros(&s);
    (eq.mass, eq.minv, eq.f) = (chain.mass.clone(), chain.minv.clone(), chain.f.clone());
    let first = s.entries[s.rows[3].entries.start].offset;
    eq.J = [&chain.J[..], &chain.J[first..first + 12]].concat();
    eq.gamma = [&chain.gamma[..], &chain.gamma[6..8]].concat();
    let (exact, multipliers, _) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();

    let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    kkt.factor(&eq, ActiveRows::All, RankDemand::ResolveRank).unwrap();
    assert_eq!(kkt.dependent_rows().len(), 2);
    let mut random = Random::new(1);
    eq.J.iter_mut().chain(&mut eq.gamma).for_each(|x| *x += 1e-5 * random.next());
    kkt.factor(&eq, ActiveRows::All, RankDemand::Any).unwrap();
    let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    let report = kkt.solve(&eq, &eq.f, &eq.gamma, &mut x, &mut mu).unwrap();
    report.check().unwrap();
    kkt.least_norm(&eq, &mut mu).unwrap();
    assert!(difference(&x, &exact) < 0.01, "v̇ moved by {}", difference(&x, &exact));
    assert!(difference(&mu, &multipliers) < 0.1, "λ moved by {}", difference(&mu, &multipliers));
}

/// A ladder, the plainest mechanism of many loops: bars on two rails, each bar with two neighbours on each.
#[test]
fn a_ladder_of_loops_fills_linearly() {
    let n = 3000;
    let mut rows = Vec::new();
    for i in 0..n {
        let (left, right, bar) = (3 * i, 3 * i + 1, 3 * i + 2);
        rows.push((2, vec![left, bar]));
        rows.push((2, vec![right, bar]));
        if i > 0 {
            rows.push((2, vec![left - 3, left]));
            rows.push((2, vec![right - 3, right]));
        }
    }
    let s = structure(&vec![3; 3 * n], &rows);
    let eq = random_equations(&s, 3);
    let kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    assert!(kkt.blocks() < 8 * rows.len(), "{} blocks for {} rows", kkt.blocks(), rows.len());
    let (x, mu, _) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    let (motion, constraint) = residual(&s, &eq, &x, &mu);
    assert!(motion < 1e-8 && constraint < 1e-8, "{motion:e} {constraint:e}");
}

/// Element with one position-level and one velocity-level row: the latter is left out, whatever it holds.
#[test]
fn velocity_level_rows_stay_out_of_position_corrections() {
    let mut b = Structure::builder();
    b.column(3);
    b.row(2, 1, &[0]);
    let s = b.build(3, 0).unwrap();
    let mut eq = random_equations(&s, 2);
    eq.f.fill(0.0);
    eq.gamma = vec![1.0, f64::NAN];
    let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    kkt.factor(&eq, ActiveRows::Holonomic, RankDemand::Any).unwrap();
    let (mut x, mut mu) = (vec![0.0; 3], vec![0.0; 2]);
    kkt.solve(&eq, &eq.f, &eq.gamma, &mut x, &mut mu).unwrap();
    let Jx: f64 = eq.J[..3].iter().zip(&x).map(|(j, x)| j * x).sum();
    assert!((Jx - 1.0).abs() < 1e-14);
    assert_eq!(mu[1], 0.0);
}

#[test]
fn held_factors_are_used_for_the_same_jacobian_and_no_other() {
    let (s, mut eq) = planar_chain(5, 0.3);
    let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    kkt.factor(&eq, ActiveRows::All, RankDemand::Any).unwrap();
    kkt.hold(&eq);
    kkt.factor(&eq, ActiveRows::All, RankDemand::Full).unwrap();
    assert_eq!(kkt.factorizations(), 1);
    kkt.hold(&eq);
    eq.J[0] += 0.1;
    kkt.factor(&eq, ActiveRows::All, RankDemand::Any).unwrap();
    assert_eq!(kkt.factorizations(), 2);
    kkt.factor(&eq, ActiveRows::All, RankDemand::Any).unwrap();
    assert_eq!(kkt.factorizations(), 3);
}

#[test]
fn what_is_not_a_number_is_named() {
    let (s, good) = planar_chain(3, 0.3);
    let mut eq = good.clone();
    eq.f[4] = f64::NAN;
    assert_eq!(
        solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap_err(),
        SolveError::NotFinite { quantity: "f", index: 4 }
    );
    let mut eq = good.clone();
    eq.gamma[2] = f64::INFINITY;
    assert_eq!(
        solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap_err(),
        SolveError::NotFinite { quantity: "gamma", index: 2 }
    );
    let mut eq = good.clone();
    eq.J[7] = f64::NAN;
    assert_eq!(
        solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap_err(),
        SolveError::NotFinite { quantity: "J", index: 7 }
    );
}

#[test]
fn masses_that_are_not_positive_are_refused() {
    let (s, mut eq) = planar_chain(3, 0.3);
    eq.mass[9 + 4] = 0.0;
    assert!(matches!(Kkt::new(&s, &eq, HUB_DEGREE), Err(SolveError::Mass { velocity: 4 })));
}

#[test]
fn no_constraints_and_no_bodies_are_no_special_cases() {
    let s = structure(&[2], &[]);
    let mut eq = random_equations(&s, 1);
    eq.f = vec![1.0, 2.0];
    let (x, _, _) = solve(&s, &eq, HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(residual(&s, &eq, &x, &[]).0 < 1e-14);
    let s = structure(&[], &[(2, vec![])]);
    let (x, mu, _) = solve(&s, &Equations::zeros(&s), HUB_DEGREE, RankDemand::Any).unwrap();
    assert!(x.is_empty() && mu == [0.0, 0.0]);
    assert!(solve(&s, &Equations::zeros(&s), HUB_DEGREE, RankDemand::Full).is_err());
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    use sarrus_solve::StructureError;
    let mut b = Structure::builder();
    b.column(3);
    b.row(2, 3, &[0]);
    assert_eq!(b.build(3, 0).unwrap_err(), StructureError::HolonomicRows { row: 0, size: 2, holonomic: 3 });
    let mut b = Structure::builder();
    b.column(3);
    b.row(2, 2, &[0, 0]);
    assert_eq!(b.build(3, 0).unwrap_err(), StructureError::RepeatedColumn { row: 0, column: 0 });
    let mut b = Structure::builder();
    b.row(2, 2, &[1]);
    assert_eq!(b.build(3, 0).unwrap_err(), StructureError::NoSuchColumn { row: 0, column: 1 });
}
